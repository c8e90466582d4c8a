/* SPDX-License-Identifier: Apache-2.0 */
#include "report_builder.h"

#include <math.h>

#include "ridge/meaning.h"

#define PCT ".avg.pct_of_peak_sustained_elapsed"

enum { HELD = 3 };

/* What a report holds, and what the meaning makes of it. */
static struct meaning_case {
    const char *name;
    ridge_meaning meaning;
    build_metric held[HELD];
    bool found;
    double value;
    const char *metric; /* that was used */
} meaning_cases[] = {
    {"nothing", RIDGE_MEANING_DRAM_PCT, {{NULL}}, false, 0, NULL},
    {"the best name",
     RIDGE_MEANING_DRAM_PCT,
     {{.name = "dram__throughput" PCT, .value = V_NUMBER(2)},
      {.name = "gpu__dram_throughput" PCT, .value = V_NUMBER(1)}},
     true,
     1,
     "gpu__dram_throughput" PCT},
    {"an older name",
     RIDGE_MEANING_DRAM_PCT,
     {{.name = "fbpa__dram_sectors" PCT, .value = V_NUMBER(4)}},
     true,
     4,
     "fbpa__dram_sectors" PCT},
    {"zero is a value",
     RIDGE_MEANING_DRAM_PCT,
     {{.name = "gpu__dram_throughput" PCT, .value = V_NUMBER(0)},
      {.name = "dram__throughput" PCT, .value = V_NUMBER(2)}},
     true,
     0,
     "gpu__dram_throughput" PCT},
    {"not a number is passed over",
     RIDGE_MEANING_DRAM_PCT,
     {{.name = "gpu__dram_throughput" PCT, .value = V_NUMBER(NAN)},
      {.name = "dram__throughput" PCT, .value = V_NUMBER(2)}},
     true,
     2,
     "dram__throughput" PCT},
    {"only not a number",
     RIDGE_MEANING_DRAM_PCT,
     {{.name = "gpu__dram_throughput" PCT, .value = V_NUMBER(NAN)}},
     false,
     0,
     NULL},
    {"a text is no number",
     RIDGE_MEANING_DURATION_NS,
     {{.name = "gpu__time_duration.sum", .value = V_TEXT("12")},
      {.name = "gpu__time_duration.avg", .value = V_NUMBER(7)}},
     true,
     7,
     "gpu__time_duration.avg"},
    {"without an aggregate",
     RIDGE_MEANING_INSTRUCTIONS,
     {{.name = "smsp__inst_executed.sum", .value = V_NONE},
      {.name = "inst_executed", .value = V_COUNT(9)}},
     true,
     9,
     "inst_executed"},
    {"a count",
     RIDGE_MEANING_REGISTERS,
     {{.name = "launch__registers_per_thread", .value = V_COUNT(168)}},
     true,
     168,
     "launch__registers_per_thread"},
    {"a sum",
     RIDGE_MEANING_DRAM_BYTES_PER_S,
     {{.name = "dram__bytes_read.sum.per_second", .value = V_NUMBER(3e9)},
      {.name = "dram__bytes_write.sum.per_second", .value = V_NUMBER(1e9)}},
     true,
     4e9,
     "dram__bytes_read.sum.per_second"},
    {"a sum that needs both",
     RIDGE_MEANING_DRAM_BYTES_PER_S,
     {{.name = "dram__bytes_read.sum.per_second", .value = V_NUMBER(3e9)},
      {.name = "dram__bytes_write.sum.per_second", .value = V_NUMBER(NAN)}},
     false,
     0,
     NULL},
    {"the whole before the sum",
     RIDGE_MEANING_DRAM_BYTES_PER_S,
     {{.name = "dram__bytes.sum.per_second", .value = V_NUMBER(5e9)},
      {.name = "dram__bytes_read.sum.per_second", .value = V_NUMBER(3e9)},
      {.name = "dram__bytes_write.sum.per_second", .value = V_NUMBER(1e9)}},
     true,
     5e9,
     "dram__bytes.sum.per_second"},
    {"the names of 12.0",
     RIDGE_MEANING_DRAM_BYTES_PER_S,
     {{.name = "dram__bytes_op_read.sum.per_second", .value = V_NUMBER(3)},
      {.name = "dram__bytes_op_write.sum.per_second", .value = V_NUMBER(2)}},
     true,
     5,
     "dram__bytes_op_read.sum.per_second"},
    {"sectors as bytes",
     RIDGE_MEANING_DRAM_READ_BYTES,
     {{.name = "dram__sectors_read.sum", .value = V_COUNT(10)}},
     true,
     320,
     "dram__sectors_read.sum"},
    {"warps of an SM as those of a scheduler",
     RIDGE_MEANING_WARPS_ACTIVE,
     {{.name = "sm__warps_active.avg.per_cycle_active", .value = V_NUMBER(32)}},
     true,
     8,
     "sm__warps_active.avg.per_cycle_active"},
    {"a ratio as per cent",
     RIDGE_MEANING_ISSUE_ACTIVE_PCT,
     {{.name = "smsp__issue_active.avg.per_cycle_active", .value = V_NUMBER(0.5)}},
     true,
     50,
     "smsp__issue_active.avg.per_cycle_active"},
    {"the tensor pipe of 8.9",
     RIDGE_MEANING_TENSOR_PCT,
     {{.name = "sm__pipe_tensor_cycles_active_v2" PCT, .value = V_NUMBER(6)}},
     true,
     6,
     "sm__pipe_tensor_cycles_active_v2" PCT},
    {"the tensor pipe of 7.0",
     RIDGE_MEANING_TENSOR_PCT,
     {{.name = "sm__pipe_tensor_op_hmma_cycles_active" PCT, .value = V_NUMBER(6)}},
     true,
     6,
     "sm__pipe_tensor_op_hmma_cycles_active" PCT},
    {"system memory of 10.0",
     RIDGE_MEANING_SYSTEM_MISS_SECTORS,
     {{.name = "syslts__t_sectors_srcunit_tex_aperture_sysmem_lookup_miss.sum",
       .value = V_COUNT(6)}},
     true,
     6,
     "syslts__t_sectors_srcunit_tex_aperture_sysmem_lookup_miss.sum"},
    {"no such meaning", RIDGE_MEANING_COUNT, {{NULL}}, false, 0, NULL},
    {"no such meaning either", (ridge_meaning)-1, {{NULL}}, false, 0, NULL},
};

/* A kernel with some metrics. */
typedef struct held_report {
    file_bytes file;
    ridge_report *report;
    const ridge_report_kernel *kernel;
} held_report;

static held_report open_held(const build_metric *metrics, size_t most)
{
    build_result result = {.name = "k", .metrics = metrics};
    const build_block block = {.results = &result, .result_count = 1};
    held_report held;

    while (result.metric_count < most && metrics[result.metric_count].name != NULL)
        result.metric_count++;
    held.file = build_report(&block, 1);
    held.report = build_open(&held.file);
    held.kernel = ridge_report_kernel_at(held.report, 0);
    return held;
}

static void close_held(held_report *held)
{
    ridge_report_free(held->report);
    support_release(&held->file);
}

static void finds_a_meaning(void **state)
{
    const struct meaning_case *const test = *state;
    held_report held = open_held(test->held, HELD);
    const char *metric = "untouched";
    double value = 77;

    assert_int_equal(ridge_report_kernel_meaning(held.kernel, test->meaning, &value, &metric),
                     test->found);
    if (test->found) {
        assert_true(value == test->value);
        assert_string_equal(metric, test->metric);
        value = 77;
        assert_true(ridge_report_kernel_meaning(held.kernel, test->meaning, &value, NULL));
        assert_true(value == test->value);
    } else {
        assert_true(value == 77);
        assert_string_equal(metric, "untouched");
    }
    close_held(&held);
}

/* Every meaning has a line, its own, and no name that a report can hold twice for it. */
static void every_meaning_has_a_line(void **state)
{
    size_t i;

    for (i = 0; i < RIDGE_MEANING_COUNT; i++)
        assert_true(strlen(ridge_meaning_line((ridge_meaning)i)) > 2);
    assert_string_equal(ridge_meaning_line(RIDGE_MEANING_COUNT), "?");
    assert_string_equal(ridge_meaning_line((ridge_meaning)-1), "?");
    (void)state;
}

static void finds_stalls(void **state)
{
    static const build_metric metrics[] = {
        {.name = "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
         .value = V_NUMBER(0.25)},
        {.name = "smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio",
         .value = V_NUMBER(NAN)},
    };
    held_report held = open_held(metrics, 2);
    const char *metric = NULL;
    double ratio = 77;

    assert_true(ridge_report_kernel_stall(held.kernel, RIDGE_STALL_BARRIER, &ratio, &metric));
    assert_true(ratio == 0.25);
    assert_string_equal(metric, metrics[0].name);
    assert_true(ridge_report_kernel_stall(held.kernel, RIDGE_STALL_BARRIER, &ratio, NULL));
    ratio = 77;
    assert_false(ridge_report_kernel_stall(held.kernel, RIDGE_STALL_GMMA, &ratio, &metric));
    assert_false(ridge_report_kernel_stall(held.kernel, RIDGE_STALL_WAIT, &ratio, &metric));
    assert_false(ridge_report_kernel_stall(held.kernel, RIDGE_STALL_COUNT, &ratio, &metric));
    assert_true(ratio == 77);
    close_held(&held);
    (void)state;
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, finds_a_meaning, meaning_cases);
    cases_add(&list, "lines", every_meaning_has_a_line, NULL);
    cases_add(&list, "stalls", finds_stalls, NULL);
    return cases_run(&list, "meaning");
}
