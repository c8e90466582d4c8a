/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of two traces side by side. */
#include "cases.h"
#include "trace_support.h"

#include <math.h>

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
    cases_add(&list, "windows", keeps_to_windows, NULL);
    cases_add(&list, "devices", keeps_to_devices, NULL);
    cases_add(&list, "without memory", survives_without_memory, NULL);
    return cases_run(&list, "trace_compare");
}
