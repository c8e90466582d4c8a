/* SPDX-License-Identifier: Apache-2.0
 *
 * Compulsory work: x is read and out is written once, the weight is read once by all rows together.
 * Four operations an element: square and add, scale by 1/rms, scale by the weight. */
#include "ridge/bound.h"
#include "rms_norm_internal.h"

/* Relative error allowed beyond the rounding of the output, in units of 2^-24. A chain of c additions
 * of squares is off by c units at most, its root by half of that; eps, the reciprocal root (2 ulp)
 * and two products add 8. Nobody needs one long chain: 120 units hold for every n, which is 2^-17
 * in all for f32. */
static int64_t error_units(int64_t n)
{
    const int64_t serial = n / 2 + 8;

    return serial < 120 ? serial : 120;
}

ridge_status rms_norm_work(const ridge_kernel *self, const ridge_case *at, ridge_kernel_work *out,
                           ridge_error *err)
{
    const int64_t m = ridge_case_axis(at, "m", 4096), n = ridge_case_axis(at, "n", 5120);
    const double elements = (double)m * (double)n;
    const double element_bytes = (double)ridge_dtype_bytes(at->dtype);

    (void)self;
    (void)err;
    *out = (ridge_kernel_work){
        .flop_count = 4 * elements,
        .read_bytes = elements > 0 ? (elements + (double)n) * element_bytes : 0,
        .written_bytes = elements * element_bytes,
        .peak = RIDGE_PEAK_FP32,
        .accumulate_length = error_units(n),
    };
    return RIDGE_OK;
}
