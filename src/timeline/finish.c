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

/* -- what names tell --------------------------------------------------------------------------- */

enum { NAME_SEEN = 1, NAME_LAUNCH = 2, NAME_GRAPH = 4, NAME_COLLECTIVE = 8 };

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

bool ridge_trace_call_is_launch(const char *name)
{
    static const char *const words[] = {"Launch", "Memcpy", "Memset"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strstr(name, words[i]) != NULL)
            return true;
    return false;
}

/* "cudaGraphLaunch_v10000", "cuGraphLaunch", "hipGraphLaunch" */
static bool is_graph_launch(const char *name)
{
    return strstr(name, "GraphLaunch") != NULL;
}

/* What joining needs beside the trace. */
typedef struct join_table {
    uint8_t *names;          /* NAME_*, 0 until a row has the name */
    uint32_t *slots;         /* row of a call + 1; 0: none */
    size_t mask;             /* of slots by hash */
    struct join_span *spans; /* of each process, when slots are by number; else NULL */
} join_table;

/* Each name is looked at once. */
static uint8_t name_of(const ridge_trace *trace, const join_table *table, uint32_t name)
{
    uint8_t *const known = &table->names[name];

    if (*known == 0) {
        const char *const text = ridge_trace_name(trace, name, NULL);

        *known = (uint8_t)(NAME_SEEN | (ridge_trace_call_is_launch(text) ? NAME_LAUNCH : 0) |
                           (is_graph_launch(text) ? NAME_GRAPH : 0) |
                           (is_collective(text) ? NAME_COLLECTIVE : 0));
    }
    return *known;
}

/* -- join -------------------------------------------------------------------------------------- */

/* Tools number the calls of a process one after the other, so that a row of numbers from its least
 * to its largest has about as many places as there are calls. Numbers that are spread wider are
 * found by hash. */
typedef struct join_span {
    uint64_t least, largest;
    size_t first; /* slot of the least */
    bool is_used;
} join_span;

enum { NEIGHBOURS = 16, SPREAD = 4 };

static uint32_t process_of(const ridge_trace *trace, const trace_call *call)
{
    return ((const ridge_trace_thread *)trace->threads.rows)[call->row.thread].process;
}

static size_t slot_by_hash(const ridge_trace *trace, const join_table *table, trace_key key)
{
    /* Numbers that follow each other lie side by side, as they are asked for. */
    const uint64_t mixed[2] = {key.correlation / NEIGHBOURS, key.process};
    const trace_call *const calls = trace->apis.rows;
    size_t at = (ridge_hash64(mixed, sizeof(mixed)) * NEIGHBOURS + key.correlation % NEIGHBOURS) &
                table->mask;

    while (table->slots[at] != 0) {
        const trace_call *const call = &calls[table->slots[at] - 1];

        if (call->correlation == key.correlation && process_of(trace, call) == key.process)
            break;
        at = (at + 1) & table->mask;
    }
    return at;
}

/* The place of a key; NULL: no call can have it. */
static uint32_t *slot_of(const ridge_trace *trace, const join_table *table, trace_key key)
{
    const join_span *span;

    if (key.correlation == 0)
        return NULL;
    if (table->spans == NULL)
        return &table->slots[slot_by_hash(trace, table, key)];
    if (key.process >= trace->processes.count)
        return NULL;
    span = &table->spans[key.process];
    return span->is_used && key.correlation >= span->least && key.correlation <= span->largest
               ? &table->slots[span->first + (size_t)(key.correlation - span->least)]
               : NULL;
}

/* Does b own the work of a key rather than a? */
static bool is_better(const ridge_trace *trace, const join_table *table, const ridge_trace_api *a,
                      const ridge_trace_api *b)
{
    const uint8_t launch_a = name_of(trace, table, a->name) & NAME_LAUNCH;
    const uint8_t launch_b = name_of(trace, table, b->name) & NAME_LAUNCH;

    if (launch_a != launch_b)
        return launch_b != 0;
    return b->end_ns - b->start_ns > a->end_ns - a->start_ns;
}

static void widen(join_span *span, uint64_t number)
{
    span->least = !span->is_used || number < span->least ? number : span->least;
    span->largest = !span->is_used || number > span->largest ? number : span->largest;
    span->is_used = true;
}

/* The places of all processes, one behind the other; 0: so many that a hash is better. */
static size_t place_spans(const ridge_trace *trace, join_span *spans)
{
    const trace_call *const calls = trace->apis.rows;
    const size_t most = trace->apis.count * SPREAD;
    size_t places = 0;

    for (size_t i = 0; i < trace->apis.count; i++) {
        const uint32_t process = process_of(trace, &calls[i]);

        if (process >= trace->processes.count)
            return 0;
        if (calls[i].correlation != 0)
            widen(&spans[process], calls[i].correlation);
    }
    for (size_t i = 0; i < trace->processes.count; i++) {
        if (!spans[i].is_used)
            continue;
        if (spans[i].largest - spans[i].least >= most - places)
            return 0;
        spans[i].first = places;
        places += (size_t)(spans[i].largest - spans[i].least) + 1;
    }
    return places;
}

/* Slots by number where numbers are dense, else by hash. */
static bool make_slots(ridge_trace *trace, join_table *table)
{
    size_t size;

    table->spans = ridge_calloc(trace->processes.count + 1, sizeof(*table->spans));
    if (table->spans == NULL)
        return false;
    size = place_spans(trace, table->spans);
    if (size == 0) {
        ridge_free(table->spans);
        table->spans = NULL;
        for (size = 256; size < trace->apis.count * 2;)
            size *= 2;
    }
    table->mask = size - 1;
    table->slots = ridge_calloc(size, sizeof(*table->slots));
    return table->slots != NULL;
}

static bool fill_table(ridge_trace *trace, join_table *table)
{
    const trace_call *const calls = trace->apis.rows;

    table->names = ridge_calloc(ridge_trace_name_count(trace) + 1, 1);
    if (table->names == NULL || !make_slots(trace, table))
        return false;
    for (size_t i = 0; i < trace->apis.count; i++) {
        const trace_key key = {calls[i].correlation, process_of(trace, &calls[i])};
        uint32_t *const slot = slot_of(trace, table, key);

        if (slot != NULL &&
            (*slot == 0 || is_better(trace, table, &calls[*slot - 1].row, &calls[i].row)))
            *slot = (uint32_t)i + 1;
    }
    return true;
}

static uint32_t call_of(const ridge_trace *trace, const join_table *table, trace_key key)
{
    const uint32_t *const slot = slot_of(trace, table, key);

    return slot != NULL && *slot != 0 ? *slot - 1 : RIDGE_TRACE_NONE;
}

/* What a reader knows better stays. */
static void mark_collectives(ridge_trace *trace, const join_table *table)
{
    ridge_trace_op *const ops = trace->ops.rows;

    for (size_t i = 0; i < trace->ops.count; i++)
        if (ops[i].kind == RIDGE_OP_KERNEL &&
            (name_of(trace, table, ops[i].short_name != 0 ? ops[i].short_name : ops[i].name) &
             NAME_COLLECTIVE) != 0)
            ops[i].flags |= RIDGE_OP_COLLECTIVE;
}

/* Sorts the work and joins it. The keys go. */
static bool finish_ops(ridge_trace *trace, const join_table *table)
{
    ridge_trace_op *ops = trace->ops.rows;
    trace_call *const calls = trace->apis.rows;
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
        calls[ops[i].api].row.op_count++;
        if ((name_of(trace, table, calls[ops[i].api].row.name) & NAME_GRAPH) != 0)
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
    const trace_call *const calls = trace->apis.rows;
    const ridge_trace_range *const ranges = trace->ranges.rows;
    int64_t last = INT64_MIN;

    for (size_t i = 0; i < trace->ops.count; i++)
        last = ops[i].end_ns > last ? ops[i].end_ns : last;
    for (size_t i = 0; i < trace->apis.count; i++)
        last = calls[i].row.end_ns > last ? calls[i].row.end_ns : last;
    for (size_t i = 0; i < trace->ranges.count; i++)
        if ((ranges[i].flags & RIDGE_RANGE_OPEN) == 0 && ranges[i].end_ns > last)
            last = ranges[i].end_ns;
    return last;
}

static void close_ranges(ridge_trace *trace)
{
    ridge_trace_range *const ranges = trace->ranges.rows;
    int64_t last;
    size_t open = 0;

    while (open < trace->ranges.count && (ranges[open].flags & RIDGE_RANGE_OPEN) == 0)
        open++;
    if (open == trace->ranges.count)
        return;
    last = last_time(trace);
    for (size_t i = open; i < trace->ranges.count; i++)
        if ((ranges[i].flags & RIDGE_RANGE_OPEN) != 0)
            ranges[i].end_ns = last > ranges[i].start_ns ? last : ranges[i].start_ns;
}

/* Of calls that are joined. False: out of memory. */
static bool leave_rows(trace_array *calls)
{
    char *const rows = calls->rows;
    void *shorter;

    for (size_t i = 0; i < calls->count; i++)
        memmove(rows + i * sizeof(ridge_trace_api), rows + i * sizeof(trace_call),
                sizeof(ridge_trace_api));
    shorter = ridge_realloc_array(rows, calls->count, sizeof(ridge_trace_api));
    if (shorter == NULL)
        return false;
    calls->rows = shorter;
    calls->capacity = calls->count;
    return true;
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

/* Rows of threads, which follow each other; or larger ones that begin with such a row. */
#define SORT_BY_THREAD(trace, array, size, type, order)                                            \
    (trace_group_array(&(trace)->array, size, offsetof(ridge_trace_##type, thread),                \
                       (trace)->threads.count) &&                                                  \
     trace_sort_array(&(trace)->array, size, order, NULL))

/* Without names, whose numbers change when they move into another trace: sorted again there, equal
 * rows are in the order in which they were read. */
static int order_times(const void *left, const void *right, const void *context)
{
    const ridge_trace_api *const a = left, *const b = right;

    (void)context;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return a->start_ns != b->start_ns ? order(a->start_ns, b->start_ns)
                                      : order(b->end_ns, a->end_ns);
}

bool trace_sort_calls(ridge_trace *trace)
{
    return SORT_BY_THREAD(trace, apis, sizeof(trace_call), api, order_times);
}

static bool sort_host(ridge_trace *trace)
{
    return SORT_BY_THREAD(trace, apis, sizeof(trace_call), api, order_api) &&
           SORT_BY_THREAD(trace, ranges, sizeof(ridge_trace_range), range, order_range) &&
           SORT_BY_THREAD(trace, waits, sizeof(ridge_trace_wait), wait, order_wait) &&
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
    trace->info.has_api = trace->apis.count > 0;
    done = done && fill_table(trace, &table) && finish_ops(trace, &table) &&
           finish_syncs(trace, &table) && leave_rows(&trace->apis) && leave_rows(&trace->repeats);
    if (done) {
        find_rows(trace);
        mark_collectives(trace, &table);
    }
    ridge_free(table.slots);
    ridge_free(table.spans);
    ridge_free(table.names);
    done = done && trace_index_devices(trace);
    return done ? RIDGE_OK : ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
}
