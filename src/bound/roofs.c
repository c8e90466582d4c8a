/* SPDX-License-Identifier: Apache-2.0
 *
 * The roofs of a chip, and one kernel's work held against them: time is bytes over bandwidth or
 * operations over the peak of their unit, whichever is longer (Williams, Waterman, Patterson:
 * "Roofline", CACM 2009). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ridge/bound.h"

void ridge_roofs_init(ridge_roofs *out)
{
    size_t i;

    memset(out, 0, sizeof(*out));
    out->dram_bytes_per_s = out->launch_s = NAN;
    for (i = 0; i < RIDGE_PEAK_COUNT; i++)
        out->flop_per_s[i] = NAN;
}

/* Tensor cores multiply doubles from Ampere on, and only those of data-centre chips at a rate of
 * their own; elsewhere a double product runs on the FP64 unit. */
static bool has_fp64_tensor(const ridge_arch *arch)
{
    return arch->major >= 8 && arch->major <= 10 && (arch->major != 8 || arch->minor == 0);
}

void ridge_roofs_of_chip(const ridge_chip *chip, ridge_roofs *out)
{
    ridge_roofs_init(out);
    snprintf(out->name, sizeof(out->name), "%s", chip->name);
    out->dram_bytes_per_s = chip->dram_bytes_per_s;
    out->flop_per_s[RIDGE_PEAK_FP64] = chip->fp64_flop_per_s;
    out->flop_per_s[RIDGE_PEAK_FP32] = chip->fp32_flop_per_s;
    out->flop_per_s[RIDGE_PEAK_TENSOR_FP64] =
        has_fp64_tensor(chip->arch) ? chip->fp64_tensor_flop_per_s : chip->fp64_flop_per_s;
    out->flop_per_s[RIDGE_PEAK_TENSOR_TF32] = chip->tf32_flop_per_s;
    out->flop_per_s[RIDGE_PEAK_TENSOR_FP16] = chip->fp16_flop_per_s;
    out->flop_per_s[RIDGE_PEAK_TENSOR_BF16] = chip->bf16_flop_per_s;
    out->flop_per_s[RIDGE_PEAK_TENSOR_FP8] = chip->fp8_flop_per_s;
    out->flop_per_s[RIDGE_PEAK_TENSOR_INT8] = chip->int8_op_per_s;
    out->flop_per_s[RIDGE_PEAK_TENSOR_FP4] = chip->fp4_flop_per_s;
}

/* Nothing takes no time, even on a chip of unknown rate. */
static double time_of(double amount, double per_s)
{
    if (amount == 0)
        return 0;
    return per_s > 0 ? amount / per_s : (double)NAN;
}

void ridge_bound_of(const ridge_work *work, const ridge_roofs *roofs, ridge_bound *out)
{
    const double bytes = work->read_bytes + work->written_bytes;
    const double peak = roofs->flop_per_s[work->peak];
    double known_s;

    out->memory_s = time_of(bytes, roofs->dram_bytes_per_s);
    out->compute_s = time_of(work->flop_count, peak);
    out->flop_per_byte = bytes > 0              ? work->flop_count / bytes
                         : work->flop_count > 0 ? (double)INFINITY
                                                : (double)NAN;
    out->ridge_flop_per_byte = peak / roofs->dram_bytes_per_s;
    out->by = RIDGE_BOUND_BY_NOTHING;
    out->time_s = NAN;
    /* fmax() leaves out what is unknown: what is known still bounds, unless it is nothing. */
    known_s = fmax(out->memory_s, out->compute_s);
    if (!(known_s > 0) && (isnan(out->memory_s) || isnan(out->compute_s)))
        return;
    out->time_s = known_s;
    if (out->time_s > 0)
        out->by = out->compute_s == out->time_s ? RIDGE_BOUND_BY_COMPUTE : RIDGE_BOUND_BY_MEMORY;
    if (roofs->launch_s > out->time_s) {
        out->time_s = roofs->launch_s;
        out->by = RIDGE_BOUND_BY_LAUNCH;
    }
}
