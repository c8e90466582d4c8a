/* SPDX-License-Identifier: Apache-2.0
 *
 * Idle time of a device by the ranges in which the host was meanwhile, whether they launched
 * anything or not: a loader of data launches nothing. */
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

static int64_t idle_in(const idle_sums *of, const ridge_trace_range *range, size_t *near)
{
    const int64_t before_ns = idle_until(of, range->start_ns, near); /* ranges come by start */
    size_t near_end = *near;

    return idle_until(of, range->end_ns, &near_end) - before_ns;
}

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
    const ridge_trace_range *const ranges = ridge_trace_ranges(trace, &count);
    bool done = number_rows(sums, &groups, &kinds);

    idle.before_ns = ridge_calloc(idle.count + 1, sizeof(*idle.before_ns));
    done = done && idle.before_ns != NULL;
    for (size_t i = 0; done && i < idle.count; i++)
        idle.before_ns[i + 1] =
            sum_add_ns(idle.before_ns[i], sum_span_ns(idle.gaps[i].start_ns, idle.gaps[i].end_ns));
    for (size_t i = 0; done && i < sums->count; i++)
        sums->rows[i].host_idle_ns = 0;
    for (size_t i = 0; done && i < count; i++) {
        uint32_t row;

        if ((kinds >> ranges[i].kind & 1) == 0 || !sum_in_window(&window, ranges[i].start_ns))
            continue;
        row = sum_group_of(&groups, (uint64_t)ranges[i].kind << 32 | ranges[i].name);
        done = row != UINT32_MAX;
        if (done && row < sums->count)
            sums->rows[row].host_idle_ns =
                sum_add_ns(sums->rows[row].host_idle_ns, idle_in(&idle, &ranges[i], &near));
    }
    ridge_free(idle.before_ns);
    sum_groups_release(&groups);
    return done ? RIDGE_OK : ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
}
