/* SPDX-License-Identifier: Apache-2.0
 *
 * Little's law: bytes under way are latency times bandwidth. */
#include "ridge/occupancy.h"

#include <math.h>

enum { WARP_THREADS = 32 };

double ridge_bytes_in_flight_per_sm(double dram_bytes_per_s, double sm_clock_hz, int sm_count,
                                    double latency_cycles)
{
    if (sm_count < 1 || !(sm_clock_hz > 0))
        return NAN;
    return dram_bytes_per_s / sm_count * (latency_cycles / sm_clock_hz);
}

void ridge_in_flight_of(const ridge_chip *chip, int warps_per_sm, int loads, int width,
                        ridge_in_flight *out)
{
    const double per_load = (double)width * WARP_THREADS;

    out->needed_low_bytes = ridge_bytes_in_flight_per_sm(chip->dram_bytes_per_s, chip->sm_clock_hz,
                                                         chip->sm_count, RIDGE_LATENCY_CYCLES_LOW);
    out->needed_high_bytes = ridge_bytes_in_flight_per_sm(
        chip->dram_bytes_per_s, chip->sm_clock_hz, chip->sm_count, RIDGE_LATENCY_CYCLES_HIGH);
    out->bytes_per_load = width > 0 ? per_load : (double)NAN;
    out->available_bytes = out->loads_needed = out->warps_needed = NAN;
    if (width < 1)
        return;
    if (warps_per_sm > 0)
        out->loads_needed = ceil(out->needed_high_bytes / (warps_per_sm * per_load));
    if (loads > 0)
        out->warps_needed = ceil(out->needed_high_bytes / (loads * per_load));
    if (warps_per_sm > 0 && loads > 0)
        out->available_bytes = (double)warps_per_sm * loads * per_load;
}
