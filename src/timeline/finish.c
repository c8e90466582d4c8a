/* SPDX-License-Identifier: Apache-2.0
 *
 * From rows in any order to a trace: sorted, each piece of work joined with the call that launched
 * it, open ranges closed, kernels that communicate marked. */
#include "timeline/trace_build.h"

#include <stddef.h>
#include <string.h>

#include "base/hash.h"

/* -- order ------------------------------------------------------------------------------------- */

static int order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* By thread, start, the outer first; ties keep the order of names, so that no order of the file
 * shows. */
#define BY_THREAD(type)                                                                            \
    static int order_##type(const void *left, const void *right, const void *context)              \
    {                                                                                              \
        const ridge_trace_##type *const a = left, *const b = right;                                \
                                                                                                   \
        (void)context;                                                                             \
        if (a->thread != b->thread)                                                                \
            return a->thread < b->thread ? -1 : 1;                                                 \
        if (a->start_ns != b->start_ns)                                                            \
            return order(a->start_ns, b->start_ns);                                                \
        if (a->end_ns != b->end_ns)                                                                \
            return order(b->end_ns, a->end_ns);                                                    \
        return order(a->name, b->name);                                                            \
    }
BY_THREAD(api)
BY_THREAD(range)
BY_THREAD(wait)

static int order_overhead(const void *left, const void *right, const void *context)
{
    const ridge_trace_overhead *const a = left, *const b = right;

    (void)context;
    return a->start_ns != b->start_ns ? order(a->start_ns, b->start_ns)
                                      : order(a->end_ns, b->end_ns);
}

/* Until they are joined, rows of work and of synchronisation hold the number of their key where
 * the call will be. */
static int order_op(const void *left, const void *right, const void *context)
{
    const ridge_trace_op *const a = left, *const b = right;
    const trace_key *const keys = context;

    if (a->start_ns != b->start_ns)
        return order(a->start_ns, b->start_ns);
    if (a->end_ns != b->end_ns)
        return order(a->end_ns, b->end_ns);
    if (a->stream != b->stream)
        return order(a->stream, b->stream);
    return (keys[a->api].correlation > keys[b->api].correlation) -
           (keys[a->api].correlation < keys[b->api].correlation);
}

static int order_sync(const void *left, const void *right, const void *context)
{
    const ridge_trace_sync *const a = left, *const b = right;

    (void)context;
    if (a->start_ns != b->start_ns)
        return order(a->start_ns, b->start_ns);
    return order(a->end_ns, b->end_ns);
}

/* -- join -------------------------------------------------------------------------------------- */

/* Does the call launch work by its name? Only chooses between calls that share a key. */
static bool is_launch(const ridge_trace *trace, const ridge_trace_api *api)
{
    static const char *const words[] = {"Launch", "Memcpy", "Memset"};
    const char *const name = ridge_trace_name(trace, api->name, NULL);

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strstr(name, words[i]) != NULL)
            return true;
    return false;
}

enum { NEIGHBOURS = 16 };

typedef struct join_table {
    uint32_t *slots; /* row of a call + 1 */
    size_t mask;
} join_table;

static uint32_t process_of(const ridge_trace *trace, const ridge_trace_api *api)
{
    return ((const ridge_trace_thread *)trace->threads.rows)[api->thread].process;
}

static size_t slot_of(const ridge_trace *trace, const join_table *table, trace_key key)
{
    /* Numbers that follow each other lie side by side, as they are asked for. */
    const uint64_t mixed[2] = {key.correlation / NEIGHBOURS, key.process};
    const ridge_trace_api *const apis = trace->apis.rows;
    size_t at = (ridge_hash64(mixed, sizeof(mixed)) * NEIGHBOURS + key.correlation % NEIGHBOURS) &
                table->mask;

    while (table->slots[at] != 0) {
        const ridge_trace_api *const api = &apis[table->slots[at] - 1];

        if (api->correlation == key.correlation && process_of(trace, api) == key.process)
            break;
        at = (at + 1) & table->mask;
    }
    return at;
}

/* Does b own the work of a key rather than a? */
static bool is_better(const ridge_trace *trace, const ridge_trace_api *a, const ridge_trace_api *b)
{
    const bool launch_a = is_launch(trace, a), launch_b = is_launch(trace, b);

    if (launch_a != launch_b)
        return launch_b;
    return b->end_ns - b->start_ns > a->end_ns - a->start_ns;
}

static bool fill_table(ridge_trace *trace, join_table *table)
{
    const ridge_trace_api *const apis = trace->apis.rows;
    size_t size = 256;

    while (size < trace->apis.count * 2)
        size *= 2;
    table->slots = ridge_calloc(size, sizeof(*table->slots));
    table->mask = size - 1;
    if (table->slots == NULL)
        return false;
    for (size_t i = 0; i < trace->apis.count; i++) {
        size_t at;

        if (apis[i].correlation == 0)
            continue;
        at = slot_of(trace, table, (trace_key){apis[i].correlation, process_of(trace, &apis[i])});
        if (table->slots[at] == 0 || is_better(trace, &apis[table->slots[at] - 1], &apis[i]))
            table->slots[at] = (uint32_t)i + 1;
    }
    return true;
}

static uint32_t call_of(const ridge_trace *trace, const join_table *table, trace_key key)
{
    size_t at;

    if (key.correlation == 0)
        return RIDGE_TRACE_NONE;
    at = slot_of(trace, table, key);
    return table->slots[at] != 0 ? table->slots[at] - 1 : RIDGE_TRACE_NONE;
}

/* "cudaGraphLaunch_v10000", "cuGraphLaunch", "hipGraphLaunch" */
static bool is_graph_launch(const ridge_trace *trace, uint32_t api)
{
    const ridge_trace_api *const apis = trace->apis.rows;

    return strstr(ridge_trace_name(trace, apis[api].name, NULL), "GraphLaunch") != NULL;
}

/* A kernel that communicates with other ranks, by its base name: a library's, or the all-reduce of
 * an inference server. Kernels that a compiler named after the operations around them do not. */
static bool is_collective(const char *name)
{
    static const char *const beginnings[] = {"nccl", "rccl", "mscclKernel", "nvshmem"};
    static const char *const parts[] = {"cross_device_reduce", "one_shot_all_reduce",
                                        "two_shot_all_reduce", "multimem_all_reduce",
                                        "ShotAllReduceKernel", "allreduce_fusion_kernel"};

    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (strstr(name, parts[i]) != NULL && strncmp(name, "triton_", 7) != 0)
            return true;
    return false;
}

/* Each name is looked at once. What a reader knows better stays. */
static bool mark_collectives(ridge_trace *trace)
{
    enum { UNSEEN, OTHER, COLLECTIVE };
    ridge_trace_op *const ops = trace->ops.rows;
    uint8_t *const states = ridge_calloc(ridge_trace_name_count(trace) + 1, 1);

    if (states == NULL)
        return false;
    for (size_t i = 0; i < trace->ops.count; i++) {
        const uint32_t name = ops[i].short_name != 0 ? ops[i].short_name : ops[i].name;

        if (ops[i].kind != RIDGE_OP_KERNEL)
            continue;
        if (states[name] == UNSEEN)
            states[name] = is_collective(ridge_trace_name(trace, name, NULL)) ? COLLECTIVE : OTHER;
        if (states[name] == COLLECTIVE)
            ops[i].flags |= RIDGE_OP_COLLECTIVE;
    }
    ridge_free(states);
    return true;
}

/* Sorts the work and joins it. The keys go. */
static bool finish_ops(ridge_trace *trace, const join_table *table)
{
    ridge_trace_op *ops = trace->ops.rows;
    ridge_trace_api *const apis = trace->apis.rows;
    const trace_key *const keys = trace->op_keys.rows;

    for (size_t i = 0; i < trace->ops.count; i++)
        ops[i].api = (uint32_t)i;
    if (!trace_sort_array(&trace->ops, sizeof(*ops), order_op, keys))
        return false;
    ops = trace->ops.rows;
    for (size_t i = 0; i < trace->ops.count; i++) {
        ops[i].api = call_of(trace, table, keys[ops[i].api]);
        if (ops[i].api == RIDGE_TRACE_NONE)
            continue;
        apis[ops[i].api].op_count++;
        if (is_graph_launch(trace, ops[i].api))
            ops[i].flags |= RIDGE_OP_IN_GRAPH;
    }
    ridge_free(trace->op_keys.rows);
    trace->op_keys = (trace_array){0};
    return true;
}

static bool finish_syncs(ridge_trace *trace, const join_table *table)
{
    ridge_trace_sync *syncs = trace->syncs.rows;
    const trace_key *const keys = trace->sync_keys.rows;

    for (size_t i = 0; i < trace->syncs.count; i++)
        syncs[i].api = (uint32_t)i;
    if (!trace_sort_array(&trace->syncs, sizeof(*syncs), order_sync, NULL))
        return false;
    syncs = trace->syncs.rows;
    for (size_t i = 0; i < trace->syncs.count; i++)
        syncs[i].api = call_of(trace, table, keys[syncs[i].api]);
    ridge_free(trace->sync_keys.rows);
    trace->sync_keys = (trace_array){0};
    return true;
}

/* -- the whole --------------------------------------------------------------------------------- */

static int64_t last_time(const ridge_trace *trace)
{
    const ridge_trace_op *const ops = trace->ops.rows;
    const ridge_trace_api *const apis = trace->apis.rows;
    const ridge_trace_range *const ranges = trace->ranges.rows;
    int64_t last = INT64_MIN;

    for (size_t i = 0; i < trace->ops.count; i++)
        last = ops[i].end_ns > last ? ops[i].end_ns : last;
    for (size_t i = 0; i < trace->apis.count; i++)
        last = apis[i].end_ns > last ? apis[i].end_ns : last;
    for (size_t i = 0; i < trace->ranges.count; i++)
        if ((ranges[i].flags & RIDGE_RANGE_OPEN) == 0 && ranges[i].end_ns > last)
            last = ranges[i].end_ns;
    return last;
}

static void close_ranges(ridge_trace *trace)
{
    const int64_t last = last_time(trace);
    ridge_trace_range *const ranges = trace->ranges.rows;

    for (size_t i = 0; i < trace->ranges.count; i++)
        if ((ranges[i].flags & RIDGE_RANGE_OPEN) != 0)
            ranges[i].end_ns = last > ranges[i].start_ns ? last : ranges[i].start_ns;
}

/* Where the rows of each thread lie. */
static void find_rows(ridge_trace *trace)
{
    ridge_trace_thread *const threads = trace->threads.rows;
    const ridge_trace_api *const apis = trace->apis.rows;
    const ridge_trace_range *const ranges = trace->ranges.rows;
    const ridge_trace_wait *const waits = trace->waits.rows;

    for (size_t i = trace->apis.count; i-- > 0;) {
        threads[apis[i].thread].first_api = i;
        threads[apis[i].thread].api_count++;
    }
    for (size_t i = trace->ranges.count; i-- > 0;) {
        threads[ranges[i].thread].first_range = i;
        threads[ranges[i].thread].range_count++;
    }
    for (size_t i = trace->waits.count; i-- > 0;) {
        threads[waits[i].thread].first_wait = i;
        threads[waits[i].thread].wait_count++;
    }
}

/* Rows of threads, which follow each other. */
#define SORT_BY_THREAD(trace, array, type)                                                         \
    (trace_group_array(&(trace)->array, sizeof(ridge_trace_##type),                                \
                       offsetof(ridge_trace_##type, thread), (trace)->threads.count) &&            \
     trace_sort_array(&(trace)->array, sizeof(ridge_trace_##type), order_##type, NULL))

static bool sort_host(ridge_trace *trace)
{
    return SORT_BY_THREAD(trace, apis, api) && SORT_BY_THREAD(trace, ranges, range) &&
           SORT_BY_THREAD(trace, waits, wait) &&
           trace_sort_array(&trace->overheads, sizeof(ridge_trace_overhead), order_overhead, NULL);
}

ridge_status trace_finish(ridge_trace *trace, ridge_error *err)
{
    join_table table = {0};
    bool done;

    if (trace->failed)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    if (trace->apis.count == 0) { /* second rows without a first one */
        const trace_array none = trace->apis;

        trace->apis = trace->repeats;
        trace->repeats = none;
        trace->info.repeated_count = 0;
    }
    close_ranges(trace);
    done = sort_host(trace);
    if (done)
        find_rows(trace);
    trace->info.has_api = trace->apis.count > 0;
    done = done && fill_table(trace, &table) && finish_ops(trace, &table) &&
           finish_syncs(trace, &table) && mark_collectives(trace);
    ridge_free(table.slots);
    return done ? RIDGE_OK : ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
}
