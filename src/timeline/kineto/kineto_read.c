/* SPDX-License-Identifier: Apache-2.0
 *
 * Kineto traces: Chrome trace events as JSON. */
#include "timeline/timeline_internal.h"

ridge_status kineto_read_file(ridge_trace *trace, const char *path,
                              const ridge_trace_options *options, ridge_error *err)
{
    (void)trace, (void)path, (void)options;
    return ridge_fail(err, RIDGE_ERR_UNSUPPORTED, "not read yet");
}

ridge_status kineto_read_bytes(ridge_trace *trace, const void *data, size_t size_bytes,
                               const ridge_trace_options *options, ridge_error *err)
{
    (void)trace, (void)data, (void)size_bytes, (void)options;
    return ridge_fail(err, RIDGE_ERR_UNSUPPORTED, "not read yet");
}
