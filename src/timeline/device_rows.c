/* SPDX-License-Identifier: Apache-2.0
 *
 * The work of a device without a look at that of all others: what is done for each device costs its
 * own work, and for all of them the trace once. */
#include "timeline/trace_build.h"

bool trace_group_by_device(const ridge_trace *trace, uint32_t **rows, size_t **firsts)
{
    const ridge_trace_op *const ops = trace->ops.rows;
    const ridge_trace_stream *const streams = trace->streams.rows;
    size_t *next;

    *rows = ridge_calloc(trace->ops.count + 1, sizeof(**rows));
    *firsts = ridge_calloc(trace->devices.count + 2, sizeof(**firsts));
    if (*rows == NULL || *firsts == NULL)
        return false;
    next = *firsts + 1;
    for (size_t i = 0; i < trace->ops.count; i++)
        next[streams[ops[i].stream].device + 1]++;
    for (size_t i = 1; i <= trace->devices.count; i++)
        next[i] += next[i - 1];
    for (size_t i = 0; i < trace->ops.count; i++)
        (*rows)[next[streams[ops[i].stream].device]++] = (uint32_t)i;
    return true;
}

/* Work of two devices? Of one alone the rows are all rows. */
static bool has_several(const ridge_trace *trace)
{
    const ridge_trace_op *const ops = trace->ops.rows;
    const ridge_trace_stream *const streams = trace->streams.rows;

    if (trace->devices.count < 2)
        return false;
    for (size_t i = 1; i < trace->ops.count; i++)
        if (streams[ops[i].stream].device != streams[ops[0].stream].device)
            return true;
    return false;
}

bool trace_index_devices(ridge_trace *trace)
{
    return !has_several(trace) ||
           trace_group_by_device(trace, &trace->device_rows, &trace->device_firsts);
}

trace_op_list trace_ops_of(const ridge_trace *trace, uint32_t device)
{
    trace_op_list list = {NULL, trace->ops.count};

    if (trace->device_rows != NULL && trace->device_firsts != NULL &&
        device < trace->devices.count) {
        list.rows = trace->device_rows + trace->device_firsts[device];
        list.count = trace->device_firsts[device + 1] - trace->device_firsts[device];
    }
    return list;
}
