/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of two traces side by side. */
#include "cases.h"
#include "trace_support.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "ridge/timeline.h"

static const trace_row before_rows[] = {
    {ROW_KERNEL, "gemm", 0, 1000},     {ROW_KERNEL, "gemm", 1000, 2000},
    {ROW_KERNEL, "relu", 2000, 2100},  {ROW_KERNEL, "bias", 2100, 2200},
    {ROW_KERNEL, "same", 2200, 3200},  {ROW_KERNEL, "fewer", 3200, 3210},
    {ROW_KERNEL, "fewer", 3210, 3220},
};
static const trace_row after_rows[] = {
    {ROW_KERNEL, "gemm", 0, 700},      {ROW_KERNEL, "gemm", 1000, 1700},
    {ROW_KERNEL, "fused", 2000, 2150}, {ROW_KERNEL, "same", 2200, 3210},
    {ROW_KERNEL, "fewer", 3210, 3220},
};

static struct change_case {
    const char *name;
    size_t row;
    const char *kernel;
    ridge_kernel_change_kind kind;
    uint64_t count_before, count_after;
    int64_t total_before_ns, total_after_ns;
    double median_before_ns, median_after_ns;
} change_cases[] = {
    {"largest change first", 0, "gemm", RIDGE_KERNEL_CHANGED, 2, 2, 2000, 1400, 1000, 700},
    {"appeared", 1, "fused", RIDGE_KERNEL_APPEARED, 0, 1, 0, 150, NAN, 150},
    {"vanished", 2, "bias", RIDGE_KERNEL_VANISHED, 1, 0, 100, 0, 100, NAN},
    {"vanished, by name", 3, "relu", RIDGE_KERNEL_VANISHED, 1, 0, 100, 0, 100, NAN},
    {"another count", 4, "fewer", RIDGE_KERNEL_CHANGED, 2, 1, 20, 10, 10, 10},
    {"1 % is none", 5, "same", RIDGE_KERNEL_SAME, 1, 1, 1000, 1010, 1000, 1010},
};

static bool is_equal(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b;
}

static void compares(void **state)
{
    const struct change_case *const row = *state;
    ridge_trace *const before = TRACE_OF(before_rows);
    ridge_trace *const after = TRACE_OF(after_rows);
    ridge_kernel_change *changes;
    const ridge_kernel_change *change;
    size_t count;

    assert_int_equal(ridge_timeline_compare(before, after, RIDGE_TRACE_NONE, RIDGE_TRACE_NONE, NULL,
                                            NULL, &changes, &count, NULL),
                     RIDGE_OK);
    assert_int_equal(count, sizeof(change_cases) / sizeof(change_cases[0]));
    change = &changes[row->row];
    assert_string_equal(change->name, row->kernel);
    assert_int_equal(change->kind, row->kind);
    assert_int_equal(change->count_before, row->count_before);
    assert_int_equal(change->count_after, row->count_after);
    assert_int_equal(change->total_before_ns, row->total_before_ns);
    assert_int_equal(change->total_after_ns, row->total_after_ns);
    assert_true(is_equal(change->median_before_ns, row->median_before_ns));
    assert_true(is_equal(change->median_after_ns, row->median_after_ns));
    ridge_kernel_changes_free(changes);
    ridge_trace_free(before);
    ridge_trace_free(after);
}

/* Calls of a kernel each in both, with its length; "nccl" is communication. */
typedef struct calls {
    const char *name;
    uint64_t before, after;
    int64_t before_ns, after_ns; /* of a call */
} calls;

static struct pace_case {
    const char *name;
    calls kernels[4];
    const char *main;
    double ratio; /* NAN: not together */
} pace_cases[] = {
    {"fewer of all",
     {{"flash", 34, 30, 4000, 4000}, {"gemm", 119, 106, 100, 100}, {"add", 646, 570, 5, 5}},
     "flash",
     30.0 / 34},
    {"as many", {{"flash", 34, 34, 4000, 2000}, {"gemm", 119, 119, 100, 100}}, "flash", 1},
    {"longer ones follow too", {{"flash", 10, 5, 4000, 8000}, {"gemm", 20, 10, 9, 9}}, "flash", .5},
    {"one alone",
     {{"flash", 10, 20, 50, 50}, {"gemm", 20, 20, 9, 9}, {"add", 7, 7, 9, 9}},
     "flash",
     NAN},
    {"most of the time stays",
     {{"flash", 10, 20, 9, 9}, {"a", 30, 30, 5, 5}, {"b", 9, 9, 30, 30}},
     "b",
     1},
    {"to one call", {{"flash", 10, 5, 100, 100}, {"once", 3, 2, 90, 90}}, "flash", .5},
    {"communication does not lead",
     {{"nccl", 33, 31, 9000, 9000}, {"flash", 34, 17, 40, 40}},
     "flash",
     .5},
    {"a small part is in both",
     {{"gone", 9, 0, 4000, 0}, {"new", 0, 9, 0, 4000}, {"flash", 34, 17, 40, 40}},
     "flash",
     NAN},
    {"nothing in both", {{"gone", 9, 0, 4000, 0}, {"new", 0, 9, 0, 4000}}, NULL, NAN},
};

static ridge_kernel_change change_of(const calls *of)
{
    return (ridge_kernel_change){.kind = of->before == 0  ? RIDGE_KERNEL_APPEARED
                                         : of->after == 0 ? RIDGE_KERNEL_VANISHED
                                                          : RIDGE_KERNEL_SAME,
                                 .name = of->name,
                                 .count_before = of->before,
                                 .count_after = of->after,
                                 .total_before_ns = (int64_t)of->before * of->before_ns,
                                 .total_after_ns = (int64_t)of->after * of->after_ns,
                                 .median_before_ns = of->before > 0 ? (double)of->before_ns : NAN,
                                 .median_after_ns = of->after > 0 ? (double)of->after_ns : NAN,
                                 .is_collective = strcmp(of->name, "nccl") == 0};
}

static void finds_the_pace(void **state)
{
    const struct pace_case *const row = *state;
    ridge_kernel_change changes[4];
    ridge_call_pace pace;
    size_t count = 0;

    for (size_t i = 0; i < 4 && row->kernels[i].name != NULL; i++)
        changes[count++] = change_of(&row->kernels[i]);
    pace = ridge_kernel_changes_pace(changes, count);
    if (row->main == NULL)
        assert_null(pace.name);
    else
        assert_string_equal(pace.name, row->main);
    assert_true(is_equal(pace.ratio, row->ratio));
}

/* At as many calls only the kernel whose calls take longer has changed. */
static void scales_changes(void **state)
{
    static const calls kernels[] = {{"flash", 34, 30, 4000, 4000}, {"gemm", 119, 106, 100, 150}};
    ridge_kernel_change changes[2];

    (void)state;
    for (size_t i = 0; i < 2; i++)
        changes[i] = change_of(&kernels[i]);
    ridge_kernel_changes_scale(changes, 2, 1);
    assert_string_equal(changes[0].name, "flash");
    assert_int_equal(changes[0].kind, RIDGE_KERNEL_CHANGED);
    assert_true(changes[0].change_ns == -16000);
    ridge_kernel_changes_scale(changes, 2, 30.0 / 34);
    assert_string_equal(changes[0].name, "gemm");
    assert_int_equal(changes[0].kind, RIDGE_KERNEL_CHANGED);
    assert_true(fabs(changes[0].change_ns - 6120) < 1e-6);
    assert_int_equal(changes[1].kind, RIDGE_KERNEL_SAME);
    assert_true(fabs(changes[1].change_ns) < 1e-6);
}

static void keeps_to_windows(void **state)
{
    ridge_trace *const before = TRACE_OF(before_rows);
    const ridge_trace_window early = {true, 0, 1000, false}, late = {true, 1000, 2000};
    ridge_kernel_change *changes;
    size_t count;

    (void)state;
    assert_int_equal(ridge_timeline_compare(before, before, RIDGE_TRACE_NONE, RIDGE_TRACE_NONE,
                                            &early, &late, &changes, &count, NULL),
                     RIDGE_OK);
    assert_int_equal(count, 1);
    assert_int_equal(changes[0].kind, RIDGE_KERNEL_SAME);
    ridge_kernel_changes_free(changes);
    ridge_trace_free(before);
}

/* Of a device that is not there nothing is left. */
static void keeps_to_devices(void **state)
{
    ridge_trace *const before = TRACE_OF(before_rows);
    ridge_trace *const after = TRACE_OF(after_rows);
    ridge_kernel_change *changes;
    size_t count, i;

    (void)state;
    assert_int_equal(
        ridge_timeline_compare(before, after, 7, 0, NULL, NULL, &changes, &count, NULL), RIDGE_OK);
    assert_true(count > 0);
    for (i = 0; i < count; i++)
        assert_int_equal(changes[i].kind, RIDGE_KERNEL_APPEARED);
    ridge_kernel_changes_free(changes);
    ridge_trace_free(before);
    ridge_trace_free(after);
}

static void survives_without_memory(void **state)
{
    ridge_trace *const before = TRACE_OF(before_rows);
    ridge_trace *const after = TRACE_OF(after_rows);
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;

    (void)state;
    for (size_t nth = 1; status != RIDGE_OK; nth++) {
        ridge_kernel_change *changes;
        size_t count;

        ridge_memory_fail_at(nth);
        status = ridge_timeline_compare(before, after, RIDGE_TRACE_NONE, RIDGE_TRACE_NONE, NULL,
                                        NULL, &changes, &count, NULL);
        ridge_memory_fail_at(0);
        assert_true((status == RIDGE_OK) == (changes != NULL));
        ridge_kernel_changes_free(changes);
    }
    ridge_trace_free(before);
    ridge_trace_free(after);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, compares, change_cases);
    CASES_ADD_ROWS(&list, finds_the_pace, pace_cases);
    cases_add(&list, "as many calls", scales_changes, NULL);
    cases_add(&list, "windows", keeps_to_windows, NULL);
    cases_add(&list, "devices", keeps_to_devices, NULL);
    cases_add(&list, "without memory", survives_without_memory, NULL);
    return cases_run(&list, "trace_compare");
}
