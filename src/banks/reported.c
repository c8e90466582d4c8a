/* SPDX-License-Identifier: Apache-2.0
 *
 * What Nsight Compute's counter of an instruction (memory_l1_wavefronts_shared) says of a load of 8
 * or 16 bytes. It is not read from the hardware but computed by code that the profiler patches in,
 * with a rule of its own: phases are one only when together they are free of conflicts, and quarter-
 * warps pair up in each half of the warp alone. Of 16-byte loads with lanes off it goes astray in the
 * lower half: it takes lane 31 for a lane that is off, and the pairs for agreeing when lane 31 is.
 * Measured with ncu 2025.3 on an H200: 533 of 533 loads, 45 of which differ from the data pipe's. */
#include "banks/banks_internal.h"

enum { LANES = RIDGE_BANKS_LANES, HALF = LANES / 2 };

/* Bits of the lanes first to first + count - 1. */
static uint32_t lanes_of(int first, int count)
{
    return (uint32_t)(((UINT64_C(1) << count) - 1) << first);
}

/* The pairs in the lower half of 16-byte loads, as the profiler takes them. */
static bool lower_pairs_agree(const uint32_t address_bytes[LANES], uint32_t lanes, int bit)
{
    uint32_t taken[LANES];

    if ((lanes >> (LANES - 1) & 1) == 0)
        return true;
    for (int lane = 0; lane < HALF; lane++)
        taken[lane] = address_bytes[(lanes >> lane & 1) != 0 ? lane : LANES - 1];
    for (int lane = 0; lane < HALF; lane++)
        if (taken[lane] != taken[lane ^ bit])
            return false;
    return true;
}

static bool are_one(int width_bytes, int first, const uint32_t address_bytes[LANES], uint32_t lanes,
                    int bit)
{
    if (width_bytes == 16 && first == 0)
        return lower_pairs_agree(address_bytes, lanes, bit);
    return banks_pairs_agree(address_bytes,
                             width_bytes == 16 ? lanes & lanes_of(first, HALF) : lanes, bit);
}

int banks_reported(int width_bytes, const uint32_t address_bytes[LANES], uint32_t lanes)
{
    const int part = 128 / width_bytes; /* lanes of a phase; two of them may be one */
    int wavefronts = 0;

    for (int first = 0; first < LANES; first += 2 * part) {
        const int together =
            banks_phase_wavefronts(width_bytes, address_bytes, lanes & lanes_of(first, 2 * part));

        if (together == 1 && (are_one(width_bytes, first, address_bytes, lanes, 1) ||
                              are_one(width_bytes, first, address_bytes, lanes, 2)))
            wavefronts += 1;
        else
            wavefronts +=
                banks_phase_wavefronts(width_bytes, address_bytes, lanes & lanes_of(first, part)) +
                banks_phase_wavefronts(width_bytes, address_bytes,
                                       lanes & lanes_of(first + part, part));
    }
    return wavefronts;
}
