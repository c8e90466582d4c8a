/* SPDX-License-Identifier: Apache-2.0
 *
 * Each range that launched work, its place among the others: a stack of those that may hold the
 * next one. What ends before a later range does holds nothing that this one does not hold, and
 * leaves the stack for good: linear, whether ranges nest or cross. */
#include "timeline/sums/sums_internal.h"

#include "base/memory.h"

static void reverse(ridge_projected_range *rows, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        const ridge_projected_range other = rows[i];

        rows[i] = rows[count - 1 - i];
        rows[count - 1 - i] = other;
    }
}

/* Of one thread, by start. */
static void find_levels(const ridge_trace_range *ranges, ridge_projected_range *rows, size_t count,
                        uint32_t *stack)
{
    size_t depth = 0;

    for (size_t i = 0; i < count; i++) {
        const int64_t end_ns = ranges[rows[i].range].end_ns;

        while (depth > 0 && ranges[rows[stack[depth - 1]].range].end_ns < end_ns)
            depth--;
        if (depth > 0) {
            ridge_projected_range *const parent = &rows[stack[depth - 1]];

            parent->child_count++;
            rows[i].level = parent->level + 1;
        }
        stack[depth++] = (uint32_t)i;
    }
}

/* Threads one after the other: each comes with its last range first. */
static bool put_in_order(const ridge_trace *trace, ridge_projected_ranges *out)
{
    size_t range_count, next;
    const ridge_trace_range *const ranges = ridge_trace_ranges(trace, &range_count);
    uint32_t *const stack = ridge_calloc(out->count + 1, sizeof(*stack));

    if (stack == NULL)
        return false;
    for (size_t i = 0; i < out->count; i = next) {
        const uint32_t thread = ranges[out->rows[i].range].thread;

        for (next = i + 1; next < out->count; next++)
            if (ranges[out->rows[next].range].thread != thread)
                break;
        reverse(&out->rows[i], next - i);
        find_levels(ranges, &out->rows[i], next - i, stack);
    }
    ridge_free(stack);
    return true;
}

ridge_status ridge_trace_project_ranges(const ridge_trace *trace, unsigned kinds,
                                        const ridge_trace_window *window,
                                        ridge_projected_ranges *out, ridge_error *err)
{
    ridge_range_sums sums;
    ridge_status status;
    size_t range_count;

    *out = (ridge_projected_ranges){0};
    ridge_trace_ranges(trace, &range_count);
    out->rows = ridge_calloc(range_count + 1, sizeof(*out->rows));
    if (out->rows == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    status = sum_ranges(trace, kinds, window, &sums, out, err);
    ridge_range_sums_free(&sums);
    if (status == RIDGE_OK && !put_in_order(trace, out))
        status = ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    if (status != RIDGE_OK)
        ridge_projected_ranges_free(out);
    return status;
}

void ridge_projected_ranges_free(ridge_projected_ranges *ranges)
{
    ridge_free(ranges->rows);
    *ranges = (ridge_projected_ranges){0};
}
