/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_support.h"

#include "cases.h"

static uint32_t name_of(ridge_trace *trace, const char *text)
{
    return text == NULL ? 0 : trace_intern(trace, text, strlen(text));
}

static uint32_t stream_of(ridge_trace *trace, const trace_row *row)
{
    return trace_stream(trace, trace_device(trace, row->device), trace_process(trace, row->process),
                        1, row->on);
}

static trace_key key_of(ridge_trace *trace, const trace_row *row)
{
    return (trace_key){row->key, trace_process(trace, row->process)};
}

static uint32_t thread_of(ridge_trace *trace, const trace_row *row)
{
    return trace_thread(trace, trace_process(trace, row->process), row->on, 0);
}

static void add_op(ridge_trace *trace, const trace_row *row)
{
    static const uint8_t kinds[] = {[ROW_KERNEL] = RIDGE_OP_KERNEL,
                                    [ROW_COPY] = RIDGE_OP_MEMCPY,
                                    [ROW_MEMSET] = RIDGE_OP_MEMSET,
                                    [ROW_GRAPH] = RIDGE_OP_GRAPH,
                                    [ROW_NODE] = RIDGE_OP_KERNEL};
    const bool is_graph = row->kind == ROW_GRAPH || row->kind == ROW_NODE;
    ridge_trace_op op = {.start_ns = row->start_ns,
                         .end_ns = row->end_ns,
                         .bytes = row->bytes != 0 ? row->bytes : RIDGE_TRACE_BYTES_UNKNOWN,
                         .config = RIDGE_TRACE_NONE,
                         .graph = is_graph ? (uint32_t)row->detail : 0,
                         .kind = kinds[row->kind],
                         .flags = (uint8_t)row->flags,
                         .copy = row->kind == ROW_COPY ? (uint8_t)row->detail : 0};

    op.name = op.short_name = name_of(trace, row->name);
    op.stream = stream_of(trace, row);
    if (is_graph)
        op.flags |= RIDGE_OP_IN_GRAPH;
    if (row->config != NULL)
        op.config = trace_config(trace, row->config);
    trace_add_op(trace, &op, key_of(trace, row));
}

static void add_range(ridge_trace *trace, const trace_row *row)
{
    const ridge_trace_range range = {.start_ns = row->start_ns,
                                     .end_ns = row->end_ns,
                                     .name = name_of(trace, row->name),
                                     .thread = thread_of(trace, row),
                                     .shapes = name_of(trace, row->shapes),
                                     .kind = row->kind == ROW_OP           ? RIDGE_RANGE_OP
                                             : row->kind == ROW_NVTX       ? RIDGE_RANGE_NVTX
                                             : row->kind == ROW_ANNOTATION ? RIDGE_RANGE_ANNOTATION
                                                                           : RIDGE_RANGE_PYTHON,
                                     .flags = (uint8_t)row->detail};

    trace_add_range(trace, &range);
}

static void add(ridge_trace *trace, const trace_row *row)
{
    switch (row->kind) {
    case ROW_KERNEL:
    case ROW_COPY:
    case ROW_MEMSET:
    case ROW_GRAPH:
    case ROW_NODE:
        add_op(trace, row);
        break;
    case ROW_CALL: {
        const ridge_trace_api api = {.start_ns = row->start_ns,
                                     .end_ns = row->end_ns,
                                     .name = name_of(trace, row->name),
                                     .thread = thread_of(trace, row)};

        trace_add_api(trace, &api, row->key);
        break;
    }
    case ROW_OP:
    case ROW_NVTX:
    case ROW_ANNOTATION:
    case ROW_PYTHON:
        add_range(trace, row);
        break;
    case ROW_WAIT: {
        const ridge_trace_wait wait = {row->start_ns, row->end_ns, name_of(trace, row->name),
                                       thread_of(trace, row)};

        trace_add_wait(trace, &wait);
        break;
    }
    case ROW_OVERHEAD: {
        const ridge_trace_overhead overhead = {
            row->start_ns, row->end_ns, name_of(trace, row->name),
            row->on == -1 ? RIDGE_TRACE_NONE : thread_of(trace, row), (uint8_t)row->detail};

        trace_add_overhead(trace, &overhead);
        break;
    }
    case ROW_SYNC: {
        const ridge_trace_sync sync = {.start_ns = row->start_ns,
                                       .end_ns = row->end_ns,
                                       .stream = stream_of(trace, row),
                                       .kind = (uint8_t)row->detail};

        trace_add_sync(trace, &sync, key_of(trace, row));
        break;
    }
    }
}

void trace_support_add(ridge_trace *trace, const trace_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add(trace, &rows[i]);
}

ridge_trace *trace_support_try(const trace_row *rows, size_t count)
{
    ridge_trace *trace = trace_create();

    if (trace == NULL)
        return NULL;
    trace_support_add(trace, rows, count);
    if (trace_finish(trace, NULL) != RIDGE_OK) {
        ridge_trace_free(trace);
        return NULL;
    }
    return trace;
}

ridge_trace *trace_support_make(const trace_row *rows, size_t count)
{
    ridge_trace *const trace = trace_support_try(rows, count);

    if (trace == NULL)
        fail_msg("out of memory");
    return trace;
}
