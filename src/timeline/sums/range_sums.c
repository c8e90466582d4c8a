/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of ranges. What a range launched are the calls on its thread that begin and end in it:
 * points (start, end) in a quarter plane, whether ranges nest or not. The ranges of a thread are
 * gone through from the last start to the first, calls are added to a Fenwick tree over their ends
 * as they come into sight, and each range asks once: O((ranges + calls) log calls), however deep
 * they nest. A leaf of the tree is a block of calls: those of one that come into sight one after the
 * other, as nearly all do, go into the tree together. */
#include "timeline/sums/sums_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "timeline/beside.h"

enum { BLOCK = 16 };

/* Work of one or several calls. */
typedef struct launched {
    int64_t kernel_ns;
    int64_t first_ns, last_ns;
    uint32_t op_count, kernel_count;
    uint32_t device_least, device_most;
} launched;

static const launched nothing = {0, INT64_MAX, INT64_MIN, 0, 0, UINT32_MAX, 0};

static void join(launched *a, const launched *b)
{
    a->kernel_ns = sum_add_ns(a->kernel_ns, b->kernel_ns);
    a->first_ns = b->first_ns < a->first_ns ? b->first_ns : a->first_ns;
    a->last_ns = b->last_ns > a->last_ns ? b->last_ns : a->last_ns;
    a->op_count += b->op_count;
    a->kernel_count += b->kernel_count;
    a->device_least = b->device_least < a->device_least ? b->device_least : a->device_least;
    a->device_most = b->device_most > a->device_most ? b->device_most : a->device_most;
}

/* A launch: a call with work in the window. Most launched one piece of work, which is a row of the
 * trace already; what others did is summed once. */
typedef struct launch {
    uint32_t api;
    uint32_t at; /* of ops where the call launched one, else of sums of several */
} launch;

/* Until when the instances of a name that came so far reach on a thread. */
typedef struct union_end {
    int64_t end_ns;
    uint32_t thread; /* number + 1; 0: none came */
} union_end;

typedef struct range_work {
    const ridge_trace *trace;
    const ridge_trace_op *ops;
    const ridge_trace_api *apis;
    const ridge_trace_range *ranges;
    const ridge_trace_stream *streams;
    const ridge_trace_window *window;
    size_t op_count, api_count, range_count;
    unsigned kinds;

    sum_busy *busy;
    launch *launches;    /* in the order of their calls */
    launched *several;   /* what those with several pieces of work did */
    uint32_t *innermost; /* range of each call */
    size_t launch_count, several_count;
    size_t launch_most;     /* of a thread */
    bool is_across_devices; /* a thread launched on several */

    /* Of the thread at hand. */
    uint32_t *chosen;    /* rows of its ranges that count */
    uint32_t *groups_of; /* rows of sums, beside chosen */
    uint32_t *by_end;    /* its launches by end */
    uint32_t *places;    /* of its launches in by_end */
    int64_t *ends_ns;    /* beside by_end */
    launched *tree; /* Fenwick, over blocks of by_end; without the block that is being filled */
    size_t block_count, block; /* which it is */
    launched filling;

    sum_groups groups;
    ridge_range_sum *rows;
    union_end *ends; /* beside rows */
    size_t row_capacity;
    ridge_projected_ranges *projected; /* NULL: not asked for */
    uint64_t outside_count;
    int64_t outside_ns;
} range_work;

/* -- launches ---------------------------------------------------------------------------------- */

static launched work_of_op(const range_work *work, const ridge_trace_op *op)
{
    const uint32_t device = work->streams[op->stream].device;
    const bool is_kernel = op->kind == RIDGE_OP_KERNEL;

    return (launched){is_kernel ? sum_span_ns(op->start_ns, op->end_ns) : 0,
                      op->start_ns,
                      op->end_ns,
                      1,
                      is_kernel,
                      device,
                      device};
}

static launched work_of(const range_work *work, const launch *of)
{
    return work->apis[of->api].op_count == 1 ? work_of_op(work, &work->ops[of->at])
                                             : work->several[of->at];
}

/* The calls that launched; of_api gets their numbers + 1. */
static bool list_launches(range_work *work, uint32_t *of_api)
{
    size_t on_thread = 0;

    for (size_t i = 0; i < work->api_count; i++)
        if (work->apis[i].op_count > 0 && sum_in_window(work->window, work->apis[i].start_ns)) {
            of_api[i] = (uint32_t)++work->launch_count;
            work->several_count += work->apis[i].op_count > 1;
        }
    work->launches = ridge_calloc(work->launch_count + 1, sizeof(*work->launches));
    work->several = ridge_calloc(work->several_count + 1, sizeof(*work->several));
    if (work->launches == NULL || work->several == NULL)
        return false;
    work->several_count = 0;
    for (size_t i = 0; i < work->api_count; i++) {
        on_thread = i > 0 && work->apis[i].thread == work->apis[i - 1].thread ? on_thread : 0;
        if (of_api[i] == 0)
            continue;
        on_thread++;
        work->launch_most = on_thread > work->launch_most ? on_thread : work->launch_most;
        work->launches[of_api[i] - 1].api = (uint32_t)i;
        if (work->apis[i].op_count == 1)
            continue;
        work->several[work->several_count] = nothing;
        work->launches[of_api[i] - 1].at = (uint32_t)work->several_count++;
    }
    return true;
}

/* Gives the work to the launches; of_thread: room for a number a thread, zeroed. */
static void deal_work(range_work *work, const uint32_t *of_api, uint32_t *of_thread)
{
    for (size_t i = 0; i < work->op_count; i++) {
        const ridge_trace_op *const op = &work->ops[i];
        const launched one = work_of_op(work, op);
        const ridge_trace_api *api;
        launch *of;

        if (op->api == RIDGE_TRACE_NONE) {
            if (one.kernel_count > 0 && sum_in_window(work->window, op->start_ns)) {
                work->outside_count++;
                work->outside_ns = sum_add_ns(work->outside_ns, one.kernel_ns);
            }
            continue;
        }
        if (of_api[op->api] == 0)
            continue;
        api = &work->apis[op->api];
        of = &work->launches[of_api[op->api] - 1];
        if (api->op_count == 1)
            of->at = (uint32_t)i;
        else
            join(&work->several[of->at], &one);
        if (of_thread[api->thread] == 0)
            of_thread[api->thread] = one.device_least + 1;
        else if (of_thread[api->thread] != one.device_least + 1)
            work->is_across_devices = true;
    }
}

static bool find_launches(range_work *work)
{
    size_t thread_count;
    uint32_t *const of_api = ridge_calloc(work->api_count + 1, sizeof(*of_api));
    uint32_t *of_thread;
    bool done;

    ridge_trace_threads(work->trace, &thread_count);
    of_thread = ridge_calloc(thread_count + 1, sizeof(*of_thread));
    done = of_api != NULL && of_thread != NULL && list_launches(work, of_api);
    if (done)
        deal_work(work, of_api, of_thread);
    ridge_free(of_api);
    ridge_free(of_thread);
    return done;
}

/* -- a thread ---------------------------------------------------------------------------------- */

static bool grow_rows(range_work *work)
{
    const size_t old = work->row_capacity, capacity = old < 64 ? 64 : old * 2;
    ridge_range_sum *const rows = ridge_realloc_array(work->rows, capacity, sizeof(*rows));
    union_end *ends;

    if (rows == NULL)
        return false;
    work->rows = rows;
    ends = ridge_realloc_array(work->ends, capacity, sizeof(*ends));
    if (ends == NULL)
        return false;
    work->ends = ends;
    memset(rows + old, 0, (capacity - old) * sizeof(*rows));
    memset(ends + old, 0, (capacity - old) * sizeof(*ends));
    work->row_capacity = capacity;
    return true;
}

/* UINT32_MAX: out of memory. */
static uint32_t group_of(range_work *work, const ridge_trace_range *range)
{
    const uint32_t group = sum_group_of(&work->groups, (uint64_t)range->kind << 32 | range->name);
    ridge_range_sum *row;

    if (group == UINT32_MAX || (group >= work->row_capacity && !grow_rows(work)))
        return UINT32_MAX;
    row = &work->rows[group];
    row->name_id = range->name;
    row->name = ridge_trace_name(work->trace, range->name, NULL);
    row->kind = range->kind;
    return group;
}

typedef struct end_key {
    int64_t end_ns;
    uint32_t launch;
} end_key;

static int order_ends(const void *left, const void *right)
{
    const end_key *const a = left, *const b = right;

    if (a->end_ns != b->end_ns)
        return a->end_ns < b->end_ns ? -1 : 1;
    return (a->launch > b->launch) - (a->launch < b->launch);
}

/* Mostly they are in order already: calls of one thread follow each other. */
static bool sort_ends(range_work *work, const launch *launches, size_t count)
{
    bool in_order = true;
    end_key *keys;

    for (size_t i = 0; i < count; i++) {
        work->by_end[i] = work->places[i] = (uint32_t)i;
        work->ends_ns[i] = work->apis[launches[i].api].end_ns;
        in_order = in_order && (i == 0 || work->ends_ns[i - 1] <= work->ends_ns[i]);
    }
    if (in_order)
        return true;
    keys = ridge_calloc(count, sizeof(*keys));
    if (keys == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        keys[i] = (end_key){work->ends_ns[i], (uint32_t)i};
    qsort(keys, count, sizeof(*keys), order_ends);
    for (size_t i = 0; i < count; i++) {
        work->by_end[i] = keys[i].launch;
        work->ends_ns[i] = keys[i].end_ns;
        work->places[keys[i].launch] = (uint32_t)i;
    }
    ridge_free(keys);
    return true;
}

static void keep(range_work *work, const launched *of, uint32_t range, int64_t idle_ns)
{
    ridge_projected_ranges *const into = work->projected;

    if (into != NULL)
        into->rows[into->count++] = (ridge_projected_range){.start_ns = of->first_ns,
                                                            .end_ns = of->last_ns,
                                                            .kernel_ns = of->kernel_ns,
                                                            .idle_ns = idle_ns,
                                                            .range = range,
                                                            .op_count = of->op_count};
}

static void begin_tree(range_work *work, size_t count)
{
    work->block_count = count / BLOCK + 1;
    work->block = 0;
    work->filling = nothing;
    for (size_t i = 0; i <= work->block_count; i++)
        work->tree[i] = nothing;
}

/* A launch comes into sight. */
static void see(range_work *work, const launch *launches, size_t number)
{
    const size_t block = work->places[number] / BLOCK;
    launched seen;

    if (block != work->block) {
        for (size_t at = work->block + 1; at <= work->block_count; at += at & (~at + 1))
            join(&work->tree[at], &work->filling);
        work->block = block;
        work->filling = nothing;
    }
    seen = work_of(work, &launches[number]);
    join(&work->filling, &seen);
}

/* What those in sight, from number `first` on, launched that end by then. */
static launched launched_by(const range_work *work, const launch *launches, size_t count,
                            size_t first, int64_t time_ns)
{
    const size_t ended =
        sum_count_until(work->ends_ns, sizeof(*work->ends_ns), count, first, time_ns);
    launched of = nothing;

    if (work->block < ended / BLOCK)
        join(&of, &work->filling);
    for (size_t at = ended / BLOCK; at > 0; at &= at - 1)
        join(&of, &work->tree[at]);
    for (size_t i = ended / BLOCK * BLOCK; i < ended; i++)
        if (work->by_end[i] >= first) {
            const launched seen = work_of(work, &launches[work->by_end[i]]);

            join(&of, &seen);
        }
    return of;
}

/* Each chosen range, by start: how long the host was in one of its name. */
static bool sum_host(range_work *work, uint32_t thread, size_t chosen_count)
{
    for (size_t i = 0; i < chosen_count; i++) {
        const ridge_trace_range *const range = &work->ranges[work->chosen[i]];
        const uint32_t group = group_of(work, range);
        ridge_range_sum *row;
        union_end *end;
        int64_t from_ns;

        if (group == UINT32_MAX)
            return false;
        work->groups_of[i] = group;
        row = &work->rows[group];
        end = &work->ends[group];
        if (end->thread != thread + 1)
            *end = (union_end){range->start_ns, thread + 1};
        from_ns = range->start_ns > end->end_ns ? range->start_ns : end->end_ns;
        row->count++;
        row->host_ns = sum_add_ns(row->host_ns, sum_span_ns(range->start_ns, range->end_ns));
        if (range->end_ns <= from_ns)
            continue;
        row->host_union_ns = sum_add_ns(row->host_union_ns, sum_span_ns(from_ns, range->end_ns));
        end->end_ns = range->end_ns;
    }
    return true;
}

/* Each chosen range: what it launched. */
static void sum_thread(range_work *work, const launch *launches, size_t count, size_t chosen_count)
{
    size_t next = count; /* launches from here on are in sight */

    begin_tree(work, count);
    for (size_t i = chosen_count; i-- > 0;) {
        const ridge_trace_range *const range = &work->ranges[work->chosen[i]];
        ridge_range_sum *const row = &work->rows[work->groups_of[i]];
        int64_t idle_ns;
        launched of;

        for (; next > 0 && work->apis[launches[next - 1].api].start_ns >= range->start_ns; next--)
            see(work, launches, next - 1);
        if ((range->flags & RIDGE_RANGE_OTHER_THREAD) != 0)
            continue;
        of = launched_by(work, launches, count, next, range->end_ns);
        if (of.op_count == 0)
            continue;
        row->launching_count++;
        row->launching_ns =
            sum_add_ns(row->launching_ns, sum_span_ns(range->start_ns, range->end_ns));
        row->projected_ns = sum_add_ns(row->projected_ns, sum_span_ns(of.first_ns, of.last_ns));
        row->kernel_ns = sum_add_ns(row->kernel_ns, of.kernel_ns);
        row->kernel_count += of.kernel_count;
        row->op_count += of.op_count;
        idle_ns = sum_idle_in(
            work->busy, of.device_least == of.device_most ? of.device_least : RIDGE_TRACE_NONE,
            of.first_ns, of.last_ns);
        row->idle_ns = sum_add_ns(row->idle_ns, idle_ns);
        keep(work, &of, work->chosen[i], idle_ns);
    }
}

/* Each launch: its innermost range. */
static void add_innermost(range_work *work, const launch *launches, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const launched of = work_of(work, &launches[i]);
        const uint32_t range = work->innermost[launches[i].api];
        ridge_range_sum *row;
        uint32_t group;

        if (of.kernel_count == 0)
            continue;
        if (range == RIDGE_TRACE_NONE) {
            work->outside_count += of.kernel_count;
            work->outside_ns = sum_add_ns(work->outside_ns, of.kernel_ns);
            continue;
        }
        group = group_of(work, &work->ranges[range]);
        if (group == UINT32_MAX) /* never: sum_host() made it */
            continue;
        row = &work->rows[group];
        row->innermost_count += of.kernel_count;
        row->innermost_ns = sum_add_ns(row->innermost_ns, of.kernel_ns);
    }
}

static size_t choose(range_work *work, const ridge_trace_thread *thread)
{
    size_t count = 0;

    for (size_t i = thread->first_range; i < thread->first_range + thread->range_count; i++)
        if ((work->kinds >> work->ranges[i].kind & 1) != 0 &&
            sum_in_window(work->window, work->ranges[i].start_ns))
            work->chosen[count++] = (uint32_t)i;
    return count;
}

static bool sum_threads(range_work *work)
{
    size_t thread_count;
    const ridge_trace_thread *const threads = ridge_trace_threads(work->trace, &thread_count);
    size_t *const firsts = ridge_calloc(thread_count + 1, sizeof(*firsts));
    bool done = firsts != NULL;

    for (size_t i = 0; done && i < work->launch_count; i++)
        firsts[work->apis[work->launches[i].api].thread + 1]++;
    for (size_t i = 0; done && i < thread_count; i++) {
        const launch *const launches = work->launches + firsts[i];
        const size_t count = firsts[i + 1];
        const size_t chosen_count = choose(work, &threads[i]);

        firsts[i + 1] += firsts[i];
        done = sort_ends(work, launches, count) && sum_host(work, (uint32_t)i, chosen_count);
        if (!done)
            break;
        sum_thread(work, launches, count, chosen_count);
        add_innermost(work, launches, count);
    }
    ridge_free(firsts);
    return done;
}

/* -- the whole --------------------------------------------------------------------------------- */

static bool has_ranges(const range_work *work)
{
    for (size_t i = 0; i < work->range_count; i++)
        if ((work->kinds >> work->ranges[i].kind & 1) != 0)
            return true;
    return false;
}

/* Without a range all kernels are outside. */
static void count_outside(range_work *work)
{
    for (size_t i = 0; i < work->op_count; i++) {
        const ridge_trace_op *const op = &work->ops[i];

        if (op->kind != RIDGE_OP_KERNEL ||
            !sum_in_window(work->window, sum_launch_ns(op, work->apis)))
            continue;
        work->outside_count++;
        work->outside_ns = sum_add_ns(work->outside_ns, sum_span_ns(op->start_ns, op->end_ns));
    }
}

static int order_rows(const void *left, const void *right)
{
    const ridge_range_sum *const a = left, *const b = right;
    int order;

    if (a->kernel_ns != b->kernel_ns)
        return a->kernel_ns > b->kernel_ns ? -1 : 1;
    if (a->host_ns != b->host_ns)
        return a->host_ns > b->host_ns ? -1 : 1;
    order = strcmp(a->name, b->name);
    return order != 0 ? order : (int)a->kind - (int)b->kind;
}

static bool find_innermost(void *context)
{
    range_work *const work = context;

    work->innermost = sum_innermost(work->trace, work->kinds, work->window);
    return work->innermost != NULL;
}

static bool allocate(range_work *work)
{
    work->chosen = ridge_calloc(work->range_count + 1, sizeof(*work->chosen));
    work->groups_of = ridge_calloc(work->range_count + 1, sizeof(*work->groups_of));
    work->by_end = ridge_calloc(work->launch_most + 1, sizeof(*work->by_end));
    work->places = ridge_calloc(work->launch_most + 1, sizeof(*work->places));
    work->ends_ns = ridge_calloc(work->launch_most + 1, sizeof(*work->ends_ns));
    work->tree = ridge_calloc(work->launch_most / BLOCK + 2, sizeof(*work->tree));
    return work->chosen != NULL && work->groups_of != NULL && work->by_end != NULL &&
           work->places != NULL && work->ends_ns != NULL && work->tree != NULL;
}

/* What sum_threads() needs. */
static bool prepare(range_work *work)
{
    beside innermost;
    bool done;

    beside_begin(&innermost, find_innermost, work, work->api_count);
    done = find_launches(work) && allocate(work);
    if (done)
        work->busy = sum_busy_create(work->trace, work->is_across_devices);
    done = done && work->busy != NULL;
    return beside_end(&innermost) && done;
}

ridge_status sum_ranges(const ridge_trace *trace, unsigned kinds, const ridge_trace_window *window,
                        ridge_range_sums *out, ridge_projected_ranges *projected, ridge_error *err)
{
    range_work work = {.trace = trace, .kinds = kinds, .window = window, .projected = projected};
    ridge_status status = RIDGE_OK;
    size_t stream_count;

    *out = (ridge_range_sums){0};
    work.ops = ridge_trace_ops(trace, &work.op_count);
    work.apis = ridge_trace_apis(trace, &work.api_count);
    work.ranges = ridge_trace_ranges(trace, &work.range_count);
    work.streams = ridge_trace_streams(trace, &stream_count);
    if (!has_ranges(&work)) {
        count_outside(&work);
        *out = (ridge_range_sums){0, NULL, work.outside_count, work.outside_ns};
        return RIDGE_OK;
    }
    if (!prepare(&work) || !sum_threads(&work)) {
        status = ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
        goto out;
    }
    *out = (ridge_range_sums){work.groups.count, work.rows, work.outside_count, work.outside_ns};
    work.rows = NULL;
    if (out->count > 1)
        qsort(out->rows, out->count, sizeof(*out->rows), order_rows);
out:
    sum_busy_free(work.busy);
    ridge_free(work.launches);
    ridge_free(work.several);
    ridge_free(work.chosen);
    ridge_free(work.groups_of);
    ridge_free(work.by_end);
    ridge_free(work.places);
    ridge_free(work.ends_ns);
    ridge_free(work.tree);
    ridge_free(work.innermost);
    sum_groups_release(&work.groups);
    ridge_free(work.rows);
    ridge_free(work.ends);
    return status;
}

ridge_status ridge_trace_sum_ranges(const ridge_trace *trace, unsigned kinds,
                                    const ridge_trace_window *window, ridge_range_sums *out,
                                    ridge_error *err)
{
    return sum_ranges(trace, kinds, window, out, NULL, err);
}

void ridge_range_sums_free(ridge_range_sums *sums)
{
    ridge_free(sums->rows);
    *sums = (ridge_range_sums){0};
}
