/* SPDX-License-Identifier: Apache-2.0
 *
 * Traces of Kineto, plain and packed: every row of whatever opens is read. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ridge/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static volatile int64_t sink; /* so that the reads happen */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    ridge_trace *trace = NULL;
    size_t count, api_count, stream_count;

    /* The other reader has a target of its own. */
    if (size_bytes >= 6 && memcmp(data, "SQLite", 6) == 0)
        return 0;
    if (ridge_trace_read(data, size_bytes, "fuzz", NULL, &trace, NULL) != RIDGE_OK)
        return 0;
    const ridge_trace_op *const ops = ridge_trace_ops(trace, &count);
    const ridge_trace_api *const apis = ridge_trace_apis(trace, &api_count);
    const ridge_trace_stream *const streams = ridge_trace_streams(trace, &stream_count);

    for (size_t i = 0; i < count; i++) {
        sink = ops[i].end_ns - ops[i].start_ns + streams[ops[i].stream].id;
        if (ops[i].api != RIDGE_TRACE_NONE)
            sink = apis[ops[i].api].start_ns;
    }
    for (uint32_t name = 0; name <= ridge_trace_name_count(trace); name++)
        sink = (unsigned char)ridge_trace_name(trace, name, NULL)[0];
    ridge_trace_free(trace);
    return 0;
}
