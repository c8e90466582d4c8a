/* SPDX-License-Identifier: Apache-2.0
 *
 * SQLite exports of Nsight Systems: what is read stays within itself. The databases of the corpus
 * were made by hand, one for each era of the schema, with pages of 512 bytes to be small. */
#include <stdlib.h>

#include "ridge/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void check(const ridge_trace *trace)
{
    size_t op_count, api_count, range_count, stream_count, thread_count;
    const ridge_trace_op *const ops = ridge_trace_ops(trace, &op_count);
    const ridge_trace_api *const calls = ridge_trace_apis(trace, &api_count);
    const ridge_trace_range *const ranges = ridge_trace_ranges(trace, &range_count);

    ridge_trace_streams(trace, &stream_count);
    ridge_trace_threads(trace, &thread_count);
    for (size_t i = 0; i < op_count; i++)
        if (ops[i].end_ns < ops[i].start_ns || ops[i].stream >= stream_count ||
            (ops[i].api != RIDGE_TRACE_NONE && ops[i].api >= api_count) ||
            (i > 0 && ops[i].start_ns < ops[i - 1].start_ns))
            abort();
    for (size_t i = 0; i < api_count; i++)
        if (calls[i].end_ns < calls[i].start_ns || calls[i].thread >= thread_count)
            abort();
    for (size_t i = 0; i < range_count; i++)
        if (ranges[i].end_ns < ranges[i].start_ns || ranges[i].thread >= thread_count)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    ridge_trace *trace;

    if (ridge_trace_read(data, size_bytes, "fuzz", NULL, &trace, NULL) == RIDGE_OK)
        check(trace);
    ridge_trace_free(trace);
    return 0;
}
