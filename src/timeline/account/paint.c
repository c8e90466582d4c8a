/* SPDX-License-Identifier: Apache-2.0
 *
 * Why a device was idle. A gap [a,b) ends with work n, which a call L = [s,e) of thread t launched.
 * Every nanosecond gets one cause, from left to right:
 *
 *     a ............ s ............ e ..... e + latency ............ b
 *       t was late:    launch                           queued
 *       its calls, its waits, its own code
 *
 * and the profiler's own work is laid over all of it. Gaps of a device follow each other in time, so
 * each thread needs one cursor into its calls, waits and ranges, and of what it passed only how long
 * each kind of it lasts: nothing is searched backwards, however deep calls and ranges nest. */
#include "timeline/account/account.h"

#include <assert.h>

/* Calls in the order in which they are painted where they nest. */
enum { LEVEL_ALLOC, LEVEL_MODULE, LEVEL_GRAPH_BUILD, LEVEL_SYNC, LEVEL_OTHER, LEVELS };

static const ridge_idle cause_of_level[LEVELS] = {
    [LEVEL_ALLOC] = RIDGE_IDLE_ALLOC,
    [LEVEL_MODULE] = RIDGE_IDLE_MODULE,
    [LEVEL_GRAPH_BUILD] = RIDGE_IDLE_GRAPH_BUILD,
    [LEVEL_SYNC] = RIDGE_IDLE_SYNC,
    [LEVEL_OTHER] = RIDGE_IDLE_OTHER_API,
};

/* Until when something that was met lasts. Zeroed means: nothing was met. */
typedef struct lasting {
    int64_t until_ns;
    uint32_t row; /* of calls, or NONE */
    bool is_met;
} lasting;

typedef struct thread_cursor {
    size_t pass; /* the device it stands for, counted from 1 */
    size_t next_api, next_code, next_wait, next_range;
    lasting calls[LEVELS];
    lasting wait, range;
} thread_cursor;

struct account_painter {
    const account_view *view;
    host_ranges *host;
    thread_cursor *threads;
    size_t *first_code; /* of each thread in view->code */
    size_t pass;
    size_t next_process_code; /* of no thread in particular */
    lasting process_code;
    size_t next_profiler;
    size_t steps_left; /* bounds the work on a trace of many devices, each idle for ever */

    account_device *device;
    const ridge_idle_gap *gap;
    bool failed;
};

/* -- what lasts -------------------------------------------------------------------------------- */

static void meet(lasting *it, int64_t end_ns, uint32_t row)
{
    if (!it->is_met || end_ns > it->until_ns) {
        it->until_ns = end_ns;
        it->row = row;
    }
    it->is_met = true;
}

static bool lasts(const lasting *it, int64_t at_ns)
{
    return it->is_met && it->until_ns > at_ns;
}

static int level_of(const account_view *view, size_t api)
{
    if (account_is_wait(view, (uint32_t)api))
        return LEVEL_SYNC;
    switch (account_call_class(view, (uint32_t)api)) {
    case CALL_ALLOC:
        return LEVEL_ALLOC;
    case CALL_MODULE:
        return LEVEL_MODULE;
    case CALL_GRAPH_BUILD:
    case CALL_CAPTURE_BEGIN:
    case CALL_CAPTURE_END:
        return LEVEL_GRAPH_BUILD;
    default:
        return LEVEL_OTHER;
    }
}

/* A capture lasts from its first call to its last: what the host does in between builds the graph. */
static int64_t end_of_call(const account_view *view, size_t api)
{
    return view->capture_end_ns != NULL &&
                   account_call_class(view, (uint32_t)api) == CALL_CAPTURE_BEGIN
               ? view->capture_end_ns[api]
               : view->apis[api].end_ns;
}

static thread_cursor *cursor_of(account_painter *painter, uint32_t thread)
{
    thread_cursor *const cursor = &painter->threads[thread];
    const ridge_trace_thread *const rows = &painter->view->threads[thread];

    if (cursor->pass != painter->pass)
        *cursor = (thread_cursor){.pass = painter->pass,
                                  .next_api = rows->first_api,
                                  .next_code = painter->first_code[thread],
                                  .next_wait = rows->first_wait,
                                  .next_range = rows->first_range};
    return cursor;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static size_t step(account_painter *painter, size_t next)
{
    painter->steps_left -= painter->steps_left > 0;
    return next + 1;
}

/* Passes what began by at_ns; returns when the next one begins. */
static int64_t pass_code(account_painter *painter, size_t *next, uint32_t thread, int64_t at_ns,
                         lasting *it)
{
    const account_view *const view = painter->view;

    for (; *next < view->code_count && view->code[*next].thread == thread;
         *next = step(painter, *next)) {
        if (view->code[*next].start_ns > at_ns)
            return view->code[*next].start_ns;
        meet(it, view->code[*next].end_ns, RIDGE_TRACE_NONE);
    }
    return INT64_MAX;
}

static int64_t pass_all_code(account_painter *painter, thread_cursor *cursor, uint32_t thread,
                             int64_t at_ns)
{
    const int64_t own =
        pass_code(painter, &cursor->next_code, thread, at_ns, &cursor->calls[LEVEL_MODULE]);
    const int64_t process = pass_code(painter, &painter->next_process_code, RIDGE_TRACE_NONE, at_ns,
                                      &painter->process_code);

    return least(own, process);
}

static int64_t pass_calls(account_painter *painter, thread_cursor *cursor, uint32_t thread,
                          int64_t at_ns)
{
    const account_view *const view = painter->view;
    const size_t end = view->threads[thread].first_api + view->threads[thread].api_count;

    for (; cursor->next_api < end; cursor->next_api = step(painter, cursor->next_api)) {
        const ridge_trace_api *const api = &view->apis[cursor->next_api];

        if (api->start_ns > at_ns)
            return api->start_ns;
        meet(&cursor->calls[level_of(view, cursor->next_api)], end_of_call(view, cursor->next_api),
             (uint32_t)cursor->next_api);
    }
    return INT64_MAX;
}

static int64_t pass_waits(account_painter *painter, thread_cursor *cursor, uint32_t thread,
                          int64_t at_ns)
{
    const account_view *const view = painter->view;
    const size_t end = view->threads[thread].first_wait + view->threads[thread].wait_count;

    for (; cursor->next_wait < end; cursor->next_wait = step(painter, cursor->next_wait)) {
        const ridge_trace_wait *const wait = &view->waits[cursor->next_wait];

        if (wait->start_ns > at_ns)
            return wait->start_ns;
        meet(&cursor->wait, wait->end_ns, RIDGE_TRACE_NONE);
    }
    return INT64_MAX;
}

/* Annotations ("ProfilerStep#3") are left out: they say what a time is called, not that the host
 * worked in it. */
static int64_t pass_ranges(account_painter *painter, thread_cursor *cursor, uint32_t thread,
                           int64_t at_ns)
{
    const account_view *const view = painter->view;
    const size_t end = view->threads[thread].first_range + view->threads[thread].range_count;

    for (; cursor->next_range < end; cursor->next_range = step(painter, cursor->next_range)) {
        const ridge_trace_range *const range = &view->ranges[cursor->next_range];

        if (range->kind == RIDGE_RANGE_ANNOTATION)
            continue;
        if (range->start_ns > at_ns)
            return range->start_ns;
        meet(&cursor->range, range->end_ns, RIDGE_TRACE_NONE);
    }
    return INT64_MAX;
}

/* -- pieces ------------------------------------------------------------------------------------ */

/* Adds what the window leaves of a piece. */
static void push(account_painter *painter, int64_t start_ns, int64_t end_ns, ridge_idle cause,
                 uint32_t api)
{
    account_device *const device = painter->device;
    ridge_idle_piece *piece = NULL;

    if (start_ns < device->account.start_ns)
        start_ns = device->account.start_ns;
    end_ns = least(end_ns, device->account.end_ns);
    if (start_ns >= end_ns || painter->failed)
        return;
    if (device->pieces.count > painter->gap->first_piece)
        piece = (ridge_idle_piece *)device->pieces.rows + device->pieces.count - 1;
    if (piece != NULL && piece->cause == cause && piece->api == api && piece->end_ns == start_ns) {
        piece->end_ns = end_ns;
        return;
    }
    piece = account_grow(&device->pieces, sizeof(*piece));
    if (piece == NULL) {
        painter->failed = true;
        return;
    }
    *piece = (ridge_idle_piece){start_ns, end_ns, api, (uint8_t)cause};
}

/* A piece, less what the profiler took of it. Pieces come in order of time. */
static void paint(account_painter *painter, int64_t start_ns, int64_t end_ns, ridge_idle cause,
                  uint32_t api)
{
    const account_view *const view = painter->view;

    while (start_ns < end_ns) {
        const account_interval *profiler;

        while (painter->next_profiler < view->profiler_count &&
               view->profiler[painter->next_profiler].end_ns <= start_ns)
            painter->next_profiler++;
        if (painter->next_profiler == view->profiler_count) {
            push(painter, start_ns, end_ns, cause, api);
            return;
        }
        profiler = &view->profiler[painter->next_profiler];
        if (profiler->start_ns > start_ns) {
            const int64_t cut_ns = least(profiler->start_ns, end_ns);

            push(painter, start_ns, cut_ns, cause, api);
            start_ns = cut_ns;
        } else {
            const int64_t cut_ns = least(profiler->end_ns, end_ns);

            push(painter, start_ns, cut_ns, RIDGE_IDLE_PROFILER, RIDGE_TRACE_NONE);
            start_ns = cut_ns;
        }
    }
}

/* -- the host was late ------------------------------------------------------------------------- */

static void paint_nothing(account_painter *painter, int64_t start_ns, int64_t end_ns)
{
    paint(painter, start_ns, end_ns,
          end_ns - start_ns >= ACCOUNT_NO_WORK_NS ? RIDGE_IDLE_NO_WORK : RIDGE_IDLE_DISPATCH,
          RIDGE_TRACE_NONE);
}

/* A stretch without a call: did the thread sleep, was it in some operation, or is nothing known? */
static void paint_own_code(account_painter *painter, uint32_t thread, int64_t start_ns,
                           int64_t end_ns)
{
    thread_cursor *const cursor = cursor_of(painter, thread);
    int64_t at_ns = start_ns, nothing_ns = start_ns; /* nothing in [nothing_ns, at_ns) */

    while (at_ns < end_ns) {
        const int64_t next_wait_ns = pass_waits(painter, cursor, thread, at_ns);
        const int64_t next_range_ns = pass_ranges(painter, cursor, thread, at_ns);
        const bool is_waiting = lasts(&cursor->wait, at_ns);
        int64_t next_ns = least(least(next_wait_ns, next_range_ns), end_ns);

        if (is_waiting || lasts(&cursor->range, at_ns)) {
            const lasting *const it = is_waiting ? &cursor->wait : &cursor->range;

            next_ns = least(is_waiting ? end_ns : next_ns, it->until_ns);
            paint_nothing(painter, nothing_ns, at_ns);
            paint(painter, at_ns, next_ns,
                  is_waiting ? RIDGE_IDLE_HOST_BLOCKED : RIDGE_IDLE_DISPATCH, RIDGE_TRACE_NONE);
            nothing_ns = next_ns;
        }
        at_ns = next_ns;
    }
    paint_nothing(painter, nothing_ns, at_ns);
}

/* The wait that lasted until the device ran dry, and exposed what the host did next; NONE. The host
 * sees the end of the work a little later or, by the skew of the clocks, earlier. */
static uint32_t exposing_wait(const account_painter *painter, const thread_cursor *cursor,
                              int64_t dry_ns)
{
    const lasting *const sync = &cursor->calls[LEVEL_SYNC];
    const int64_t resolution_ns = painter->view->info->resolution_ns;
    const int64_t skew_ns =
        resolution_ns > ACCOUNT_SYNC_SKEW_NS ? resolution_ns : ACCOUNT_SYNC_SKEW_NS;

    return sync->is_met && sync->until_ns >= dry_ns - skew_ns ? sync->row : RIDGE_TRACE_NONE;
}

static void paint_free(account_painter *painter, uint32_t thread, uint32_t wait, int64_t start_ns,
                       int64_t end_ns)
{
    if (start_ns >= end_ns)
        return;
    if (wait != RIDGE_TRACE_NONE && end_ns - start_ns <= ACCOUNT_NO_WORK_NS)
        paint(painter, start_ns, end_ns, RIDGE_IDLE_SYNC_REFILL, wait);
    else
        paint_own_code(painter, thread, start_ns, end_ns);
}

/* Which kind of call lasts at an instant; LEVELS: none. */
static int level_at(const account_painter *painter, const thread_cursor *cursor, int64_t at_ns)
{
    for (int level = 0; level < LEVELS; level++)
        if (lasts(&cursor->calls[level], at_ns) ||
            (level == LEVEL_MODULE && lasts(&painter->process_code, at_ns)))
            return level;
    return LEVELS;
}

/* A call around the launch, as the runtime's around the driver's, is a part of it. */
static ridge_idle cause_of_call(const account_view *view, int level, uint32_t row, uint32_t launch)
{
    return level == LEVEL_OTHER && view->apis[row].end_ns >= view->apis[launch].end_ns &&
                   account_call_class(view, row) != CALL_OTHER
               ? RIDGE_IDLE_LAUNCH
               : cause_of_level[level];
}

/* From the device's running dry to the launch. */
static void paint_host(account_painter *painter, int64_t start_ns, int64_t end_ns, uint32_t launch)
{
    const account_view *const view = painter->view;
    const uint32_t thread = view->apis[launch].thread;
    thread_cursor *const cursor = cursor_of(painter, thread);
    uint32_t wait = RIDGE_TRACE_NONE;
    int64_t at_ns = start_ns, free_ns = start_ns; /* no call in [free_ns, at_ns) */

    while (at_ns < end_ns) {
        const int64_t next_call_ns = pass_calls(painter, cursor, thread, at_ns);
        const int64_t next_code_ns = pass_all_code(painter, cursor, thread, at_ns);
        const int level = level_at(painter, cursor, at_ns);
        int64_t next_ns = least(least(next_call_ns, next_code_ns), end_ns);

        if (at_ns == start_ns)
            wait = exposing_wait(painter, cursor, start_ns);
        if (level < LEVELS) {
            const lasting *const it = lasts(&cursor->calls[level], at_ns) ? &cursor->calls[level]
                                                                          : &painter->process_code;

            next_ns = least(next_ns, it->until_ns);
            paint_free(painter, thread, wait, free_ns, at_ns);
            paint(painter, at_ns, next_ns, cause_of_call(view, level, it->row, launch), it->row);
            free_ns = next_ns;
        }
        at_ns = next_ns;
        if (painter->steps_left == 0) {
            paint_free(painter, thread, wait, free_ns, at_ns);
            paint(painter, at_ns, end_ns, RIDGE_IDLE_UNKNOWN, RIDGE_TRACE_NONE);
            return;
        }
    }
    paint_free(painter, thread, wait, free_ns, at_ns);
}

/* -- the launch -------------------------------------------------------------------------------- */

/* A short call in which code was loaded. */
static void paint_quick_launch(account_painter *painter, int64_t start_ns, int64_t end_ns,
                               uint32_t launch)
{
    const uint32_t thread = painter->view->apis[launch].thread;
    thread_cursor *const cursor = cursor_of(painter, thread);
    int64_t at_ns = start_ns;

    while (at_ns < end_ns) {
        const int64_t next_code_ns = pass_all_code(painter, cursor, thread, at_ns);
        const lasting *const own = &cursor->calls[LEVEL_MODULE];
        const lasting *const it = lasts(own, at_ns) ? own : &painter->process_code;
        const bool is_loading = lasts(it, at_ns);
        const int64_t next_ns =
            least(least(next_code_ns, is_loading ? it->until_ns : INT64_MAX), end_ns);

        paint(painter, at_ns, next_ns, is_loading ? RIDGE_IDLE_MODULE : RIDGE_IDLE_LAUNCH, launch);
        at_ns = next_ns;
    }
}

static void paint_launch(account_painter *painter, int64_t start_ns, int64_t end_ns,
                         uint32_t launch)
{
    const ridge_trace_api *const api = &painter->view->apis[launch];
    const int64_t launched_ns =
        least(api->end_ns + painter->device->account.launch_latency_ns, end_ns);
    const int64_t call_ns = least(api->end_ns, painter->gap->end_ns) - api->start_ns;

    if (call_ns > ACCOUNT_SLOW_LAUNCH_NS)
        paint(painter, start_ns, launched_ns, RIDGE_IDLE_SLOW_LAUNCH, launch);
    else
        paint_quick_launch(painter, start_ns, launched_ns, launch);
    paint(painter, launched_ns, end_ns, RIDGE_IDLE_QUEUED, RIDGE_TRACE_NONE);
}

/* -- a gap ------------------------------------------------------------------------------------- */

/* In front of work that no call is known for. Managed memory moves to the host when code of the host
 * touches it, which is no launch. */
static ridge_idle cause_without_call(const ridge_trace_op *after, bool is_short)
{
    if (is_short)
        return RIDGE_IDLE_HARDWARE;
    return after->kind == RIDGE_OP_MEMCPY && after->copy == RIDGE_COPY_UNIFIED_DTOH
               ? RIDGE_IDLE_NO_WORK
               : RIDGE_IDLE_UNKNOWN;
}

static void paint_gap(account_painter *painter, const ridge_idle_gap *gap)
{
    const account_view *const view = painter->view;
    const ridge_trace_op *const before = &view->ops[gap->before];
    const ridge_trace_op *const after = &view->ops[gap->after];
    const int64_t start_ns = gap->start_ns, end_ns = gap->end_ns;
    const bool is_short = end_ns - start_ns <= painter->device->account.hardware_gap_ns;
    const ridge_trace_api *api;
    int64_t late_ns;

    if (after->api == RIDGE_TRACE_NONE) {
        paint(painter, start_ns, end_ns, cause_without_call(after, is_short), RIDGE_TRACE_NONE);
        return;
    }
    if (after->api == before->api && account_is_graph(view, after)) {
        paint(painter, start_ns, end_ns, RIDGE_IDLE_GRAPH, RIDGE_TRACE_NONE);
        return;
    }
    api = &view->apis[after->api];
    if (api->end_ns <= start_ns) {
        paint(painter, start_ns, end_ns, is_short ? RIDGE_IDLE_HARDWARE : RIDGE_IDLE_QUEUED,
              RIDGE_TRACE_NONE);
        return;
    }
    late_ns = least(api->start_ns, end_ns);
    if (late_ns > start_ns)
        paint_host(painter, start_ns, late_ns, after->api);
    paint_launch(painter, late_ns > start_ns ? late_ns : start_ns, end_ns, after->api);
}

/* Where the host was in a gap, of which the window may leave a part. */
static uint32_t host_range_of(const account_painter *painter, const ridge_idle_gap *gap)
{
    const account_view *const view = painter->view;
    const uint32_t launch = view->ops[gap->after].api;
    int64_t start_ns = gap->start_ns, end_ns;
    uint32_t found;

    if (launch == RIDGE_TRACE_NONE)
        return RIDGE_TRACE_NONE;
    if (start_ns < painter->device->account.start_ns)
        start_ns = painter->device->account.start_ns;
    end_ns = least(least(view->apis[launch].end_ns, gap->end_ns), painter->device->account.end_ns);
    for (int in_python = 0; in_python < 2; in_python++) {
        found = host_ranges_find(painter->host, &view->threads[view->apis[launch].thread], start_ns,
                                 end_ns, in_python != 0);
        if (found != RIDGE_TRACE_NONE)
            return found;
    }
    return gap->range;
}

/* Time in which the thread that launches next called nothing. */
static bool is_own_code(uint8_t cause)
{
    return cause == RIDGE_IDLE_NO_WORK || cause == RIDGE_IDLE_DISPATCH ||
           cause == RIDGE_IDLE_HOST_BLOCKED;
}

/* Pieces first..last - 1, one behind the other. */
static void sum_stretch(account_device *device, const ridge_idle_piece *pieces, size_t first,
                        size_t last)
{
    ridge_device_account *const account = &device->account;
    const int64_t length_ns = last > first ? pieces[last - 1].end_ns - pieces[first].start_ns : 0;

    if (length_ns < ACCOUNT_NO_WORK_NS)
        return;
    account->stall_ns += length_ns;
    if (length_ns > account->stall_most_ns)
        account->stall_most_ns = length_ns;
    for (size_t i = first; i < last; i++)
        account->causes[pieces[i].cause].stall_ns += pieces[i].end_ns - pieces[i].start_ns;
}

/* The sums of a gap that was painted, and its main cause. */
static void sum_gap(account_device *device, ridge_idle_gap *gap, uint32_t row)
{
    const ridge_idle_piece *const pieces = device->pieces.rows;
    int64_t by_cause[RIDGE_IDLE_COUNT] = {0};
    const size_t end = gap->first_piece + gap->piece_count;
    size_t stretch = gap->first_piece; /* where the host last called something */
    int64_t sum_ns = 0;

    for (size_t i = gap->first_piece; i < end; i++) {
        const int64_t length_ns = pieces[i].end_ns - pieces[i].start_ns;
        ridge_idle_sum *const sum = &device->account.causes[pieces[i].cause];

        sum_ns += length_ns;
        sum->total_ns += length_ns;
        sum->gap_count += by_cause[pieces[i].cause] == 0;
        by_cause[pieces[i].cause] += length_ns;
        if (!is_own_code(pieces[i].cause)) {
            sum_stretch(device, pieces, stretch, i);
            stretch = i + 1;
        }
        if (length_ns > sum->largest_ns) {
            sum->largest_ns = length_ns;
            sum->largest_gap = row;
        }
    }
    sum_stretch(device, pieces, stretch, end);
    assert(sum_ns == gap->end_ns - gap->start_ns); /* each nanosecond has one cause */
    for (int cause = 0; cause < RIDGE_IDLE_COUNT; cause++)
        if (by_cause[cause] > by_cause[gap->cause])
            gap->cause = (uint8_t)cause;
    device->account.idle_ns += sum_ns;
}

bool account_paint(account_painter *painter, account_device *device)
{
    ridge_idle_gap *const gaps = device->gaps.rows;
    const int64_t start_ns = device->account.start_ns, end_ns = device->account.end_ns;
    size_t kept = 0;

    painter->device = device;
    painter->pass++;
    painter->next_process_code = painter->first_code[painter->view->thread_count];
    painter->process_code = (lasting){0};
    painter->next_profiler = 0;
    for (size_t i = 0; i < RIDGE_IDLE_COUNT; i++)
        device->account.causes[i].largest_gap = RIDGE_TRACE_NONE;
    for (size_t i = 0; i < device->gaps.count; i++) {
        ridge_idle_gap gap = gaps[i];

        if (gap.end_ns <= start_ns || gap.start_ns >= end_ns)
            continue;
        painter->gap = &gap;
        gap.first_piece = (uint32_t)device->pieces.count;
        paint_gap(painter, &gap);
        if (painter->failed)
            return false;
        gap.piece_count = (uint32_t)device->pieces.count - gap.first_piece;
        gap.host_range = host_range_of(painter, &gap);
        if (gap.start_ns < start_ns) {
            gap.start_ns = start_ns;
            gap.before = RIDGE_TRACE_NONE;
        }
        if (gap.end_ns > end_ns) {
            gap.end_ns = end_ns;
            gap.after = gap.range = RIDGE_TRACE_NONE;
        }
        gaps[kept] = gap;
        sum_gap(device, &gaps[kept], (uint32_t)kept);
        kept++;
    }
    device->gaps.count = kept;
    return true;
}

/* -- life -------------------------------------------------------------------------------------- */

account_painter *account_painter_create(const account_view *view)
{
    account_painter *const painter = ridge_calloc(1, sizeof(*painter));

    if (painter == NULL)
        return NULL;
    painter->view = view;
    painter->host = host_ranges_create(view->trace);
    painter->threads = ridge_calloc(view->thread_count + 1, sizeof(*painter->threads));
    painter->first_code = ridge_calloc(view->thread_count + 1, sizeof(*painter->first_code));
    if (painter->host == NULL || painter->threads == NULL || painter->first_code == NULL) {
        account_painter_free(painter);
        return NULL;
    }
    for (size_t thread = 0, at = 0; thread <= view->thread_count; thread++) {
        while (at < view->code_count && view->code[at].thread < thread)
            at++;
        painter->first_code[thread] = at;
    }
    painter->steps_left = (size_t)1 << 20;
    painter->steps_left +=
        64 * (view->api_count + view->wait_count + view->range_count + view->code_count);
    return painter;
}

void account_painter_free(account_painter *painter)
{
    if (painter == NULL)
        return;
    host_ranges_free(painter->host);
    ridge_free(painter->first_code);
    ridge_free(painter->threads);
    ridge_free(painter);
}
