/* SPDX-License-Identifier: Apache-2.0 */
#include "report_builder.h"

#include <math.h>

#include "base/memory.h"
#include "ridge/measured.h"

#define ADDRESS UINT64_C(0x7f0000001000)
#define THREADS "smsp__sass_thread_inst_executed_op_"
#define TENSOR "sm__ops_path_tensor_src_"
#define UNKNOWN (double)NAN

enum { INSTRUCTION = 16, HELD = 8, MOST_WORDS = 8 };

/* -- from counters ----------------------------------------------------------------------------- */

static struct counter_case {
    const char *name;
    build_metric held[HELD];
    ridge_peak peak;
    bool is_complete;
    double fp32, bf16, fp64; /* NAN: unknown */
} counter_cases[] = {
    {"nothing", {{NULL}}, RIDGE_PEAK_NONE, false, UNKNOWN, UNKNOWN, UNKNOWN},
    {"sums",
     {{.name = THREADS "fadd_pred_on.sum", .value = V_COUNT(10)},
      {.name = THREADS "fmul_pred_on.sum", .value = V_COUNT(20)},
      {.name = THREADS "ffma_pred_on.sum", .value = V_COUNT(30)},
      {.name = THREADS "dfma_pred_on.sum", .value = V_COUNT(5)},
      {.name = TENSOR "bf16_dst_fp32.sum", .value = V_COUNT(0)}},
     RIDGE_PEAK_FP32,
     true,
     90,
     0,
     10},
    {"per cycle",
     {{.name = "smsp__cycles_elapsed.avg", .value = V_NUMBER(1000)},
      {.name = THREADS "ffma_pred_on.sum.per_cycle_elapsed", .value = V_NUMBER(2.5)},
      {.name = TENSOR "bf16_dst_fp32.sum", .value = V_COUNT(0)}},
     RIDGE_PEAK_FP32,
     true,
     5000,
     0,
     UNKNOWN},
    {"tensor",
     {{.name = THREADS "ffma_pred_on.sum", .value = V_COUNT(30)},
      {.name = TENSOR "bf16_dst_fp32.sum", .value = V_NUMBER(4096)}},
     RIDGE_PEAK_TENSOR_BF16,
     true,
     60,
     4096,
     UNKNOWN},
    {"a tensor pipe that is idle needs no counter",
     {{.name = THREADS "ffma_pred_on.sum", .value = V_COUNT(30)},
      {.name = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
       .value = V_NUMBER(0)}},
     RIDGE_PEAK_FP32,
     true,
     60,
     UNKNOWN,
     UNKNOWN},
    {"a tensor pipe that works without a counter",
     {{.name = THREADS "ffma_pred_on.sum", .value = V_COUNT(30)},
      {.name = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
       .value = V_NUMBER(50)}},
     RIDGE_PEAK_NONE,
     false,
     60,
     UNKNOWN,
     UNKNOWN},
    {"no operation at all",
     {{.name = THREADS "ffma_pred_on.sum", .value = V_COUNT(0)},
      {.name = TENSOR "fp16.sum", .value = V_COUNT(0)}},
     RIDGE_PEAK_NONE,
     true,
     0,
     UNKNOWN,
     UNKNOWN},
    {"not a number",
     {{.name = THREADS "ffma_pred_on.sum", .value = V_NUMBER(NAN)}},
     RIDGE_PEAK_NONE,
     false,
     UNKNOWN,
     UNKNOWN,
     UNKNOWN},
};

static void assert_same(double found, double expected)
{
    if (!(found == expected || (isnan(found) && isnan(expected))))
        fail_msg("%g, expected %g", found, expected);
}

static void counts(void **state)
{
    const struct counter_case *const test = *state;
    size_t count = 0;
    ridge_measured_work work;
    ridge_error err;

    while (count < HELD && test->held[count].name != NULL)
        count++;
    const build_result result = {.name = "k", .metrics = test->held, .metric_count = count};
    const build_block block = {.results = &result, .result_count = 1};
    file_bytes file = build_report(&block, 1);
    ridge_report *const report = build_open(&file);

    if (ridge_measured_work_of(ridge_report_kernel_at(report, 0), &work, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(work.peak, test->peak);
    assert_int_equal(work.is_complete, test->is_complete);
    assert_same(work.flop_count[RIDGE_PEAK_FP32], test->fp32);
    assert_same(work.flop_count[RIDGE_PEAK_TENSOR_BF16], test->bf16);
    assert_same(work.flop_count[RIDGE_PEAK_FP64], test->fp64);
    assert_same(work.dram_read_bytes, NAN);
    build_close(report, &file);
}

/* -- from instructions ------------------------------------------------------------------------- */

#define FFMA                                                                                       \
    {                                                                                              \
        0x0000000007007223, 0x000fc80000000104                                                     \
    }
#define FADD                                                                                       \
    {                                                                                              \
        0x0000000202057221, 0x004fca0000000000                                                     \
    }
#define DFMA                                                                                       \
    {                                                                                              \
        0x000000020204722b, 0x004fd00000000002                                                     \
    }
#define HFMA2                                                                                      \
    {                                                                                              \
        0x0000000e100f7231, 0x004fca000000000f                                                     \
    }
#define HFMA2_CONSTANT                                                                             \
    {                                                                                              \
        0x3c80f082ff087435, 0x000fe200000001ff                                                     \
    }
#define HMMA_BF16                                                                                  \
    {                                                                                              \
        0x000000060808723c, 0x004fde000004180c                                                     \
    }
#define HMMA_FP16                                                                                  \
    {                                                                                              \
        0x000000060806723c, 0x004fde000000080c                                                     \
    }
#define HMMA_TF32                                                                                  \
    {                                                                                              \
        0x000000060808723c, 0x004fde000008100c                                                     \
    }
#define DMMA                                                                                       \
    {                                                                                              \
        0x000000040604723f, 0x004e280000000008                                                     \
    }
#define HGMMA                                                                                      \
    {                                                                                              \
        0x00000000041879f0, 0x000fe2000c0008ff                                                     \
    }
#define EXIT                                                                                       \
    {                                                                                              \
        0x000000000000794d, 0x000fea0003800000                                                     \
    }

/* Each instruction runs in 10 warps, in 300 threads. */
static struct instruction_case {
    const char *name;
    uint64_t words[MOST_WORDS][2];
    size_t count;
    ridge_peak peak;
    bool is_complete;
    double flop_count; /* of that unit */
} instruction_cases[] = {
    {"float", {FFMA, FADD, EXIT}, 3, RIDGE_PEAK_FP32, true, 900},
    {"double", {DFMA, EXIT}, 2, RIDGE_PEAK_FP64, true, 600},
    {"packed half", {HFMA2, HFMA2_CONSTANT, EXIT}, 3, RIDGE_PEAK_FP32, true, 1200},
    {"a constant alone", {HFMA2_CONSTANT, EXIT}, 2, RIDGE_PEAK_NONE, true, UNKNOWN},
    {"bf16 product", {HMMA_BF16, FFMA, EXIT}, 3, RIDGE_PEAK_TENSOR_BF16, true, 40960},
    {"fp16 product", {HMMA_FP16, EXIT}, 2, RIDGE_PEAK_TENSOR_FP16, true, 40960},
    {"tf32 product", {HMMA_TF32, EXIT}, 2, RIDGE_PEAK_TENSOR_TF32, true, 20480},
    {"fp64 product", {DMMA, EXIT}, 2, RIDGE_PEAK_TENSOR_FP64, true, 5120},
    {"a product that is not known", {HGMMA, FFMA, EXIT}, 3, RIDGE_PEAK_NONE, false, UNKNOWN},
};

static void counts_instructions(void **state)
{
    static const sample_header header = {.sm = 90};
    const struct instruction_case *const test = *state;
    uint8_t code[MOST_WORDS * INSTRUCTION];
    build_instance warps[MOST_WORDS], threads[MOST_WORDS];
    ridge_measured_work work;
    size_t i;

    for (i = 0; i < test->count; i++) {
        const build_value pc = V_COUNT(ADDRESS + i * INSTRUCTION);
        const build_value warp_count = V_COUNT(10), thread_count = V_COUNT(300);

        store_u64(code + i * INSTRUCTION, test->words[i][0]);
        store_u64(code + i * INSTRUCTION + 8, test->words[i][1]);
        warps[i] = (build_instance){pc, warp_count};
        threads[i] = (build_instance){pc, thread_count};
    }
    const sample_section text = {
        .name = ".text._Z1kv", .type = 1, .data = code, .size = test->count * INSTRUCTION};
    file_bytes cubin = sample_cubin(&header, &text, 1);
    const build_source source = {.reference = 1,
                                 .address = ADDRESS,
                                 .binary = cubin.data,
                                 .binary_bytes = cubin.size,
                                 .function = "_Z1kv"};
    const build_metric metrics[] = {
        {"inst_executed", V_NONE, warps, test->count, 0},
        {"thread_inst_executed", V_NONE, threads, test->count, 0},
        {"thread_inst_executed_true", V_NONE, threads, test->count, 0},
        {.name = "dram__bytes_read.sum", .value = V_NUMBER(640)},
        {.name = "dram__bytes_write.sum", .value = V_NUMBER(320)},
        {.name = "gpu__time_duration.sum", .value = V_NUMBER(5000)},
    };
    const build_result result = {.name = "k",
                                 .mangled = "_Z1kv",
                                 .module = 1,
                                 .metrics = metrics,
                                 .metric_count = COUNT_OF(metrics)};
    const build_block block = {
        .sources = &source, .source_count = 1, .results = &result, .result_count = 1};
    file_bytes file = build_report(&block, 1);
    ridge_report *const report = build_open(&file);
    const ridge_report_kernel *const kernel = ridge_report_kernel_at(report, 0);

    assert_int_equal(ridge_measured_work_of(kernel, &work, NULL), RIDGE_OK);
    assert_int_equal(work.peak, test->peak);
    assert_int_equal(work.is_complete, test->is_complete);
    assert_same(work.flop_count[work.peak], test->flop_count);
    assert_same(work.dram_read_bytes, 640);
    assert_same(work.dram_written_bytes, 320);
    assert_same(work.duration_s, 5e-6);

    /* Out of memory, wherever it happens. */
    for (i = 1;; i++) {
        ridge_status status;

        ridge_memory_fail_at(i);
        status = ridge_measured_work_of(kernel, &work, NULL);
        ridge_memory_fail_at(0);
        if (status == RIDGE_OK)
            break;
        assert_int_equal(status, RIDGE_ERR_OUT_OF_MEMORY);
    }
    assert_int_equal(work.peak, test->peak);
    build_close(report, &file);
    support_release(&cubin);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, counts, counter_cases);
    CASES_ADD_ROWS(&list, counts_instructions, instruction_cases);
    return cases_run(&list, "measured_work");
}
