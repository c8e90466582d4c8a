/* SPDX-License-Identifier: Apache-2.0
 *
 * Idle time of a device by the ranges in which the host was meanwhile, whether they launched
 * anything or not: a loader of data launches nothing. Instances of one name nest and stand on several
 * threads: they are gone through by start, over all threads, and what an earlier one has covered
 * counts no more. */
#include "timeline/account/account.h"

#include "timeline/sums/sums_internal.h"

typedef struct idle_sums {
    const ridge_idle_gap *gaps;
    size_t count;
    int64_t *before_ns; /* sum of the gaps in front of each */
} idle_sums;

/* Idle time until then. near: how many gaps may have started by then; how many have is written
 * there. */
static int64_t idle_until(const idle_sums *of, int64_t time_ns, size_t *near)
{
    const ridge_idle_gap *gap;

    *near = sum_count_until(of->gaps, sizeof(*of->gaps), of->count, *near, time_ns);
    if (*near == 0)
        return 0;
    gap = &of->gaps[*near - 1];
    return of->before_ns[*near - 1] +
           sum_span_ns(gap->start_ns, time_ns < gap->end_ns ? time_ns : gap->end_ns);
}

static int64_t idle_in(const idle_sums *of, int64_t start_ns, int64_t end_ns, size_t *near)
{
    const int64_t before_ns = idle_until(of, start_ns, near);
    size_t near_end = *near;

    return idle_until(of, end_ns, &near_end) - before_ns;
}

/* -- ranges by start, over all threads --------------------------------------------------------- */

/* Where a thread stands; its ranges are in order. */
typedef struct cursor {
    int64_t start_ns;
    size_t at, end;
} cursor;

/* A heap: the earliest first, ties by row. */
typedef struct merge {
    const ridge_trace_range *ranges;
    cursor *heap;
    size_t count;
} merge;

static bool is_earlier(const cursor *a, const cursor *b)
{
    return a->start_ns != b->start_ns ? a->start_ns < b->start_ns : a->at < b->at;
}

static void sink(merge *of, size_t at)
{
    const cursor moved = of->heap[at];
    size_t child;

    for (; (child = 2 * at + 1) < of->count; at = child) {
        if (child + 1 < of->count && is_earlier(&of->heap[child + 1], &of->heap[child]))
            child++;
        if (!is_earlier(&of->heap[child], &moved))
            break;
        of->heap[at] = of->heap[child];
    }
    of->heap[at] = moved;
}

static bool merge_begin(merge *of, const ridge_trace *trace)
{
    size_t count;
    const ridge_trace_thread *const threads = ridge_trace_threads(trace, &count);

    of->count = 0;
    of->heap = ridge_calloc(count + 1, sizeof(*of->heap));
    if (of->heap == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        if (threads[i].range_count > 0)
            of->heap[of->count++] =
                (cursor){of->ranges[threads[i].first_range].start_ns, threads[i].first_range,
                         threads[i].first_range + threads[i].range_count};
    for (size_t i = of->count / 2; i-- > 0;)
        sink(of, i);
    return true;
}

/* NULL: that was the last. */
static const ridge_trace_range *merge_next(merge *of)
{
    cursor *const first = of->heap;
    const ridge_trace_range *range;

    if (of->count == 0)
        return NULL;
    range = &of->ranges[first->at++];
    if (first->at < first->end)
        first->start_ns = of->ranges[first->at].start_ns;
    else
        *first = of->heap[--of->count];
    if (of->count > 0)
        sink(of, 0);
    return range;
}

/* -- the sums ---------------------------------------------------------------------------------- */

/* The number of each row's name and kind is its place. */
static bool number_rows(const ridge_range_sums *sums, sum_groups *groups, unsigned *kinds)
{
    for (size_t i = 0; i < sums->count; i++) {
        const ridge_range_sum *const sum = &sums->rows[i];

        *kinds |= 1U << sum->kind;
        if (sum_group_of(groups, (uint64_t)sum->kind << 32 | sum->name_id) != i)
            return false;
    }
    return true;
}

/* What of it no instance of its name has covered so far. */
static void add_range(ridge_range_sum *sum, int64_t *covered_ns, const idle_sums *idle,
                      const ridge_trace_range *range, size_t *near)
{
    const int64_t from_ns = range->start_ns > *covered_ns ? range->start_ns : *covered_ns;

    if (range->end_ns <= from_ns)
        return;
    sum->host_idle_ns = sum_add_ns(sum->host_idle_ns, idle_in(idle, from_ns, range->end_ns, near));
    *covered_ns = range->end_ns;
}

ridge_status ridge_timeline_range_idle(const ridge_timeline *timeline,
                                       const ridge_device_account *device, ridge_range_sums *sums,
                                       ridge_error *err)
{
    ridge_trace_window window;
    const ridge_trace *const trace = account_trace(timeline, &window);
    idle_sums idle = {device->gaps, device->gap_count, NULL};
    sum_groups groups = {0};
    unsigned kinds = 0;
    size_t count, near = 0;
    merge by_start = {.ranges = ridge_trace_ranges(trace, &count)};
    int64_t *const covered_ns = ridge_calloc(sums->count + 1, sizeof(*covered_ns));
    bool done = number_rows(sums, &groups, &kinds) && covered_ns != NULL;
    const ridge_trace_range *range;

    idle.before_ns = ridge_calloc(idle.count + 1, sizeof(*idle.before_ns));
    done = done && idle.before_ns != NULL && merge_begin(&by_start, trace);
    for (size_t i = 0; done && i < idle.count; i++)
        idle.before_ns[i + 1] =
            sum_add_ns(idle.before_ns[i], sum_span_ns(idle.gaps[i].start_ns, idle.gaps[i].end_ns));
    for (size_t i = 0; done && i < sums->count; i++) {
        sums->rows[i].host_idle_ns = 0;
        covered_ns[i] = INT64_MIN;
    }
    while (done && (range = merge_next(&by_start)) != NULL) {
        uint32_t row;

        if ((kinds >> range->kind & 1) == 0 || !sum_in_window(&window, range->start_ns))
            continue;
        row = sum_group_of(&groups, (uint64_t)range->kind << 32 | range->name);
        done = row != UINT32_MAX;
        if (done && row < sums->count)
            add_range(&sums->rows[row], &covered_ns[row], &idle, range, &near);
    }
    ridge_free(by_start.heap);
    ridge_free(idle.before_ns);
    ridge_free(covered_ns);
    sum_groups_release(&groups);
    return done ? RIDGE_OK : ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
}
