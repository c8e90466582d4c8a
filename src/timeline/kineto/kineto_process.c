/* SPDX-License-Identifier: Apache-2.0
 *
 * Whose the work is. Kineto gives it the number of a device where a process would be; in a file of
 * one process it belongs to that. In a file of several (merged ranks, workers that use the GPU)
 * correlation numbers repeat: of the calls with the number of a piece of work the nearest in time is
 * its own. */
#include "timeline/kineto/kineto_internal.h"

/* A call that work may refer to. */
typedef struct launch {
    uint64_t correlation;
    int64_t start_ns;
    uint32_t process;
} launch;

typedef struct assignment {
    ridge_trace *trace;
    launch *launches; /* sorted by correlation and start */
    size_t launch_count;
    uint32_t *owners; /* of the streams that were read: RIDGE_TRACE_NONE, or the first process */
    uint32_t first;   /* of the first call: of what refers to none */
} assignment;

static int order_launch(const void *left, const void *right, const void *context)
{
    const launch *const a = left, *const b = right;

    (void)context;
    if (a->correlation != b->correlation)
        return a->correlation < b->correlation ? -1 : 1;
    return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* The first one that is not before the key. */
static size_t find_launch(const assignment *of, launch key)
{
    size_t low = 0, high = of->launch_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (order_launch(&of->launches[middle], &key, NULL) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t process_of(const assignment *of, uint64_t correlation, int64_t start_ns)
{
    const size_t after = find_launch(of, (launch){correlation, start_ns, 0});
    const launch *const next =
        after < of->launch_count && of->launches[after].correlation == correlation
            ? &of->launches[after]
            : NULL;
    const launch *const last = after > 0 && of->launches[after - 1].correlation == correlation
                                   ? &of->launches[after - 1]
                                   : NULL;

    if (correlation == 0 || (next == NULL && last == NULL))
        return of->first;
    if (next == NULL || last == NULL)
        return next != NULL ? next->process : last->process;
    return next->start_ns - start_ns < start_ns - last->start_ns ? next->process : last->process;
}

/* The row of the stream as this process has it. */
static uint32_t stream_for(const assignment *of, uint32_t row, uint32_t process)
{
    const ridge_trace_stream stream = *trace_stream_at(of->trace, row);
    uint32_t own;

    if (of->owners[row] == RIDGE_TRACE_NONE) {
        of->owners[row] = process;
        trace_stream_at(of->trace, row)->process = process;
    }
    if (of->owners[row] == process)
        return row;
    own = trace_stream(of->trace, stream.device, process, stream.context, stream.id);
    if (!of->trace->failed)
        trace_stream_at(of->trace, own)->is_null = stream.is_null;
    return own;
}

static void assign_several(assignment *of)
{
    ridge_trace *const trace = of->trace;
    ridge_trace_op *const ops = trace->ops.rows;
    ridge_trace_sync *const syncs = trace->syncs.rows;
    trace_key *const op_keys = trace->op_keys.rows, *const sync_keys = trace->sync_keys.rows;

    for (size_t i = 0; i < trace->op_keys.count && !trace->failed; i++) {
        op_keys[i].process = process_of(of, op_keys[i].correlation, ops[i].start_ns);
        ops[i].stream = stream_for(of, ops[i].stream, op_keys[i].process);
    }
    for (size_t i = 0; i < trace->sync_keys.count && !trace->failed; i++) {
        sync_keys[i].process = process_of(of, sync_keys[i].correlation, syncs[i].start_ns);
        if (syncs[i].stream != RIDGE_TRACE_NONE)
            syncs[i].stream = stream_for(of, syncs[i].stream, sync_keys[i].process);
    }
}

static void assign_one(ridge_trace *trace, uint32_t process)
{
    ridge_trace_stream *const streams = trace->streams.rows;
    trace_key *const ops = trace->op_keys.rows, *const syncs = trace->sync_keys.rows;

    for (size_t i = 0; i < trace->streams.count; i++)
        streams[i].process = process;
    for (size_t i = 0; i < trace->op_keys.count; i++)
        ops[i].process = process;
    for (size_t i = 0; i < trace->sync_keys.count; i++)
        syncs[i].process = process;
}

void kineto_assign_processes(ridge_trace *trace)
{
    const ridge_trace_api *const apis = trace->apis.rows;
    const ridge_trace_thread *const threads = trace->threads.rows;
    assignment of = {.trace = trace};
    bool is_one = true;

    if (trace->processes.count == 0)
        trace_process(trace, -1);
    if (trace->failed)
        return;
    if (trace->apis.count > 0)
        of.first = threads[apis[0].thread].process;
    for (size_t i = 1; i < trace->apis.count && is_one; i++)
        is_one = threads[apis[i].thread].process == of.first;
    if (is_one) {
        assign_one(trace, of.first);
        return;
    }
    of.launches = ridge_calloc(trace->apis.count, sizeof(*of.launches));
    of.owners = ridge_calloc(trace->streams.count + 1, sizeof(*of.owners));
    trace->failed |= of.launches == NULL || of.owners == NULL;
    for (size_t i = 0; i < trace->apis.count && !trace->failed; i++)
        if (apis[i].correlation != 0)
            of.launches[of.launch_count++] =
                (launch){apis[i].correlation, apis[i].start_ns, threads[apis[i].thread].process};
    for (size_t i = 0; i < trace->streams.count && !trace->failed; i++)
        of.owners[i] = RIDGE_TRACE_NONE;
    trace->failed = trace->failed || !trace_sort(of.launches, of.launch_count, sizeof(*of.launches),
                                                 order_launch, NULL);
    if (!trace->failed)
        assign_several(&of);
    ridge_free(of.launches);
    ridge_free(of.owners);
}
