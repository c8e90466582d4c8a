/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of two traces side by side, by demangled name. */
#include "timeline/sums/sums_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "ridge/timeline.h"

static const double change_least = 0.02; /* of a count or a median */

static int order_names(const void *left, const void *right)
{
    const ridge_trace_sum *const a = left, *const b = right;

    return strcmp(a->name, b->name);
}

static void sort_by_name(ridge_trace_sums *sums)
{
    if (sums->count > 1)
        qsort(sums->rows, sums->count, sizeof(*sums->rows), order_names);
}

static bool differs(double before, double after)
{
    return fabs(after - before) >= change_least * (before > after ? before : after) &&
           after != before;
}

static ridge_kernel_change change_of(const ridge_trace_sum *before, const ridge_trace_sum *after)
{
    ridge_kernel_change out = {.median_before_ns = NAN, .median_after_ns = NAN};

    if (before != NULL) {
        out.name = before->name;
        out.count_before = before->count;
        out.total_before_ns = before->total_ns;
        out.median_before_ns = before->median_ns;
    }
    if (after != NULL) {
        out.name = after->name;
        out.count_after = after->count;
        out.total_after_ns = after->total_ns;
        out.median_after_ns = after->median_ns;
    }
    out.kind = before == NULL  ? RIDGE_KERNEL_APPEARED
               : after == NULL ? RIDGE_KERNEL_VANISHED
               : differs((double)before->count, (double)after->count) ||
                       differs(before->median_ns, after->median_ns)
                   ? RIDGE_KERNEL_CHANGED
                   : RIDGE_KERNEL_SAME;
    return out;
}

/* Totals are not negative, so that their difference fits. */
static int64_t size_of(const ridge_kernel_change *change)
{
    const int64_t difference = change->total_after_ns - change->total_before_ns;

    return difference < 0 ? -difference : difference;
}

static int order_changes(const void *left, const void *right)
{
    const ridge_kernel_change *const a = left, *const b = right;

    if (size_of(a) != size_of(b))
        return size_of(a) > size_of(b) ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Both are sorted by name. */
static size_t merge(const ridge_trace_sums *before, const ridge_trace_sums *after,
                    ridge_kernel_change *out)
{
    size_t at = 0, other = 0, count = 0;

    while (at < before->count || other < after->count) {
        const ridge_trace_sum *const a = at < before->count ? &before->rows[at] : NULL;
        const ridge_trace_sum *const b = other < after->count ? &after->rows[other] : NULL;
        const int order = a == NULL ? 1 : b == NULL ? -1 : strcmp(a->name, b->name);

        out[count++] = change_of(order <= 0 ? a : NULL, order >= 0 ? b : NULL);
        at += order <= 0;
        other += order >= 0;
    }
    return count;
}

ridge_status ridge_timeline_compare(const ridge_trace *before, const ridge_trace *after,
                                    uint32_t device_before, uint32_t device_after,
                                    const ridge_trace_window *window_before,
                                    const ridge_trace_window *window_after,
                                    ridge_kernel_change **out, size_t *count, ridge_error *err)
{
    ridge_trace_sums sums_before = {0}, sums_after = {0};
    ridge_status status;

    *out = NULL;
    *count = 0;
    status = ridge_trace_sum_kernels(before, RIDGE_KERNEL_BY_NAME, device_before, window_before,
                                     &sums_before, err);
    if (status == RIDGE_OK)
        status = ridge_trace_sum_kernels(after, RIDGE_KERNEL_BY_NAME, device_after, window_after,
                                         &sums_after, err);
    if (status != RIDGE_OK)
        goto out;
    *out = ridge_calloc(sums_before.count + sums_after.count + 1, sizeof(**out));
    if (*out == NULL) {
        status = ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
        goto out;
    }
    sort_by_name(&sums_before);
    sort_by_name(&sums_after);
    *count = merge(&sums_before, &sums_after, *out);
    if (*count > 1)
        qsort(*out, *count, sizeof(**out), order_changes);
out:
    ridge_trace_sums_free(&sums_before);
    ridge_trace_sums_free(&sums_after);
    return status;
}

void ridge_kernel_changes_free(ridge_kernel_change *changes)
{
    ridge_free(changes);
}
