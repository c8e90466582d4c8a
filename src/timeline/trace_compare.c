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

/* Whether after is ratio times before, to a share of it. At another ratio than 1 also to one call:
 * where a cut falls decides that. */
static bool follows(const ridge_kernel_change *change, double ratio, double share)
{
    const double expected = ratio * (double)change->count_before;
    const double off = fabs((double)change->count_after - expected);

    return off < share * fmax(expected, (double)change->count_after) || off == 0 ||
           (ratio != 1 && off <= 1);
}

/* Kind and size of a change for ratio times the work. */
static void judge(ridge_kernel_change *change, double ratio)
{
    change->change_ns = (double)change->total_after_ns / ratio - (double)change->total_before_ns;
    if (change->kind != RIDGE_KERNEL_APPEARED && change->kind != RIDGE_KERNEL_VANISHED)
        change->kind = !follows(change, ratio, change_least) ||
                               differs(change->median_before_ns, change->median_after_ns)
                           ? RIDGE_KERNEL_CHANGED
                           : RIDGE_KERNEL_SAME;
}

static bool is_collective(const ridge_trace *trace, const ridge_trace_sum *sum)
{
    size_t count;
    const ridge_trace_op *const ops = ridge_trace_ops(trace, &count);

    return sum->first_op < count && (ops[sum->first_op].flags & RIDGE_OP_COLLECTIVE) != 0;
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
                               : RIDGE_KERNEL_SAME;
    judge(&out, 1);
    return out;
}

static int order_changes(const void *left, const void *right)
{
    const ridge_kernel_change *const a = left, *const b = right;

    if (fabs(a->change_ns) != fabs(b->change_ns))
        return fabs(a->change_ns) > fabs(b->change_ns) ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void sort_changes(ridge_kernel_change *changes, size_t count)
{
    if (count > 1)
        qsort(changes, count, sizeof(*changes), order_changes);
}

/* What is merged: the kernels of a trace, sorted by name. */
typedef struct side {
    const ridge_trace *trace;
    ridge_trace_sums sums;
} side;

static size_t merge(const side *from, const side *to, ridge_kernel_change *out)
{
    const ridge_trace_sums *const before = &from->sums, *const after = &to->sums;
    size_t at = 0, other = 0, count = 0;

    while (at < before->count || other < after->count) {
        const int order = at == before->count ? 1
                          : other == after->count
                              ? -1
                              : strcmp(before->rows[at].name, after->rows[other].name);
        const ridge_trace_sum *const a = order <= 0 ? &before->rows[at] : NULL;
        const ridge_trace_sum *const b = order >= 0 ? &after->rows[other] : NULL;

        out[count] = change_of(a, b);
        out[count++].is_collective =
            order <= 0 ? is_collective(from->trace, a) : is_collective(to->trace, b);
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
    side from = {before, {0}}, to = {after, {0}};
    ridge_status status;

    *out = NULL;
    *count = 0;
    status = ridge_trace_sum_kernels(before, RIDGE_KERNEL_BY_NAME, device_before, window_before,
                                     &from.sums, err);
    if (status == RIDGE_OK)
        status = ridge_trace_sum_kernels(after, RIDGE_KERNEL_BY_NAME, device_after, window_after,
                                         &to.sums, err);
    if (status != RIDGE_OK)
        goto out;
    *out = ridge_calloc(from.sums.count + to.sums.count + 1, sizeof(**out));
    if (*out == NULL) {
        status = ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
        goto out;
    }
    sort_by_name(&from.sums);
    sort_by_name(&to.sums);
    *count = merge(&from, &to, *out);
    sort_changes(*out, *count);
out:
    ridge_trace_sums_free(&from.sums);
    ridge_trace_sums_free(&to.sums);
    return status;
}

/* -- how much work ----------------------------------------------------------------------------- */

static const double pace_least = 0.05, common_least = 0.25;

static bool is_in_both(const ridge_kernel_change *change)
{
    return change->count_before > 0 && change->count_after > 0 && !change->is_collective;
}

static double time_of(const ridge_kernel_change *change)
{
    return (double)change->total_before_ns + (double)change->total_after_ns;
}

/* Sums over the kernels that are in both, and over all but communication. */
typedef struct common_sums {
    double before_ns, after_ns, following_ns;
    double all_before_ns, all_after_ns;
    size_t count, following;
} common_sums;

static common_sums sum_common(const ridge_kernel_change *changes, size_t count, double ratio)
{
    common_sums sums = {0};

    for (size_t i = 0; i < count; i++) {
        if (changes[i].is_collective)
            continue;
        sums.all_before_ns += (double)changes[i].total_before_ns;
        sums.all_after_ns += (double)changes[i].total_after_ns;
        if (!is_in_both(&changes[i]))
            continue;
        sums.before_ns += (double)changes[i].total_before_ns;
        sums.after_ns += (double)changes[i].total_after_ns;
        sums.count++;
        if (follows(&changes[i], ratio, pace_least)) {
            sums.following_ns += time_of(&changes[i]);
            sums.following++;
        }
    }
    return sums;
}

/* Of the kernels in both that which takes most time; NULL: none is. */
static const ridge_kernel_change *find_main(const ridge_kernel_change *changes, size_t count)
{
    const ridge_kernel_change *found = NULL;

    for (size_t i = 0; i < count; i++)
        if (is_in_both(&changes[i]) &&
            (found == NULL || time_of(&changes[i]) > time_of(found) ||
             (time_of(&changes[i]) == time_of(found) && strcmp(changes[i].name, found->name) < 0)))
            found = &changes[i];
    return found;
}

ridge_call_pace ridge_kernel_changes_pace(const ridge_kernel_change *changes, size_t count)
{
    const ridge_kernel_change *const most = find_main(changes, count);
    ridge_call_pace pace = {.ratio = NAN};
    common_sums sums;
    double ratio;

    if (most == NULL)
        return pace;
    pace.name = most->name;
    pace.count_before = most->count_before;
    pace.count_after = most->count_after;
    ratio = (double)most->count_after / (double)most->count_before;
    sums = sum_common(changes, count, ratio);
    if (sums.before_ns >= common_least * sums.all_before_ns &&
        sums.after_ns >= common_least * sums.all_after_ns &&
        2 * sums.following_ns >= sums.before_ns + sums.after_ns && 2 * sums.following >= sums.count)
        pace.ratio = ratio;
    return pace;
}

void ridge_kernel_changes_scale(ridge_kernel_change *changes, size_t count, double ratio)
{
    for (size_t i = 0; i < count; i++)
        judge(&changes[i], ratio);
    sort_changes(changes, count);
}

void ridge_kernel_changes_free(ridge_kernel_change *changes)
{
    ridge_free(changes);
}
