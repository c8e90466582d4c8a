/* SPDX-License-Identifier: Apache-2.0
 *
 * What binds and the shares of roofs, with the numbers of an H200. */
#include <math.h>

#include "bench/bench_internal.h"
#include "cases.h"
#include "ridge/hardware.h"

static struct bounds_case {
    const char *name;
    double bytes, flop_count;
    ridge_peak peak;
    double time_ns;
    bool is_cold, is_launch_bound;
    double measured_bytes_per_s, measured_fp32; /* 0: not measured */
    ridge_bound_by by;
    double nominal, roof; /* NAN */
} bounds_cases[] = {
    /* rms_norm of 4096 x 5120 bf16: two reads and writes of 41.9 MB; 2.166 TB/s. */
    {"a norm", 83.896e6, 83.89e6, RIDGE_PEAK_FP32, 38740, true, false, 4.025e12, 60e12,
     RIDGE_BOUND_BY_MEMORY, 0.4512, 0.5380},
    {"a norm, nothing measured", 83.896e6, 83.89e6, RIDGE_PEAK_FP32, 38740, true, false, 0, 0,
     RIDGE_BOUND_BY_MEMORY, 0.4512, NAN},
    {"a norm in L2", 83.896e6, 83.89e6, RIDGE_PEAK_FP32, 38740, false, false, 4.025e12, 60e12,
     RIDGE_BOUND_BY_NOTHING, NAN, NAN},
    {"below the floor", 83.896e3, 83.89e3, RIDGE_PEAK_FP32, 7166, true, true, 4.025e12, 60e12,
     RIDGE_BOUND_BY_LAUNCH, 0.00244, 0.00291},
    {"bytes alone", 33.55e6, 0, RIDGE_PEAK_NONE, 10310, true, false, 4.025e12, 60e12,
     RIDGE_BOUND_BY_MEMORY, 0.6780, 0.8085},
    /* 132 blocks of 8 warps, four chains of 2048: 35.43 GFLOP; 576.5 of 989.5 TFLOP/s. */
    {"mma", 541440, 35.433e9, RIDGE_PEAK_TENSOR_BF16, 61472, false, false, 4.025e12, 60e12,
     RIDGE_BOUND_BY_COMPUTE, 0.5825, NAN},
    {"fma, cold or not", 270336, 17.72e9, RIDGE_PEAK_FP32, 632480, false, false, 4.025e12, 60e12,
     RIDGE_BOUND_BY_COMPUTE, 0.4182, 0.4669},
    {"a unit that is not known", 0, 1e9, RIDGE_PEAK_NONE, 1000, true, false, 4.025e12, 60e12,
     RIDGE_BOUND_BY_NOTHING, NAN, NAN},
};

static void assert_share(double got, double wanted)
{
    if (isnan(wanted) ? !isnan(got) : !(fabs(got - wanted) < 2e-3 * wanted))
        fail_msg("%g, expected %g", got, wanted);
}

static void bounds(void **state)
{
    const struct bounds_case *const test = *state;
    const ridge_kernel_work work = {
        .read_bytes = test->bytes, .flop_count = test->flop_count, .peak = (int)test->peak};
    const ridge_chip *const chip = ridge_chip_find("NVIDIA H200");
    ridge_arm_summary out = {.is_launch_bound = test->is_launch_bound};
    ridge_roofs nominal, measured;

    ridge_roofs_of_chip(chip, &nominal);
    ridge_roofs_init(&measured);
    if (test->measured_bytes_per_s > 0)
        measured.dram_bytes_per_s = test->measured_bytes_per_s;
    if (test->measured_fp32 > 0)
        measured.flop_per_s[RIDGE_PEAK_FP32] = test->measured_fp32;
    bench_bounds_of(&work, &nominal, &measured, test->is_cold, test->time_ns, &out);
    assert_int_equal(out.bound_by, test->by);
    assert_share(out.nominal_frac, test->nominal);
    assert_share(out.roof_frac, test->roof);
}

static void caches_have_names(void **state)
{
    assert_string_equal(ridge_bench_cache_text(RIDGE_CACHE_HOT, 9), "hot");
    assert_string_equal(ridge_bench_cache_text(RIDGE_CACHE_COLD, 3.1), "cold");
    assert_string_equal(ridge_bench_cache_text(RIDGE_CACHE_COLD, 1.1), "partly in L2, not cold");
    assert_string_equal(ridge_bench_cache_text(RIDGE_CACHE_COLD, 0.2), "in L2, not cold");
    (void)state;
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, bounds, bounds_cases);
    cases_add(&list, "caches have names", caches_have_names, NULL);
    return cases_run(&list, "bounds");
}
