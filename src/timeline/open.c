/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge_trace_open(): which reader, by the first bytes. */
#include "timeline/timeline_internal.h"

#include <string.h>

#include "base/file.h"

/* What the bytes are not, and what to do instead. */
static ridge_status recognise(const uint8_t *bytes, size_t size, bool *is_sqlite, ridge_error *err)
{
    static const char sqlite[] = "SQLite format 3";
    static const char pointer[] = "version https://git-lfs";

    *is_sqlite = size >= sizeof(sqlite) && memcmp(bytes, sqlite, sizeof(sqlite)) == 0;
    if (size == 0)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "the file is empty");
    if (size >= sizeof(pointer) && memcmp(bytes, pointer, sizeof(pointer) - 1) == 0)
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "a Git LFS pointer, not the trace itself: git lfs pull");
    return RIDGE_OK;
}

ridge_status ridge_trace_read(const void *data, size_t size_bytes, const char *name,
                              const ridge_trace_options *options, ridge_trace **out,
                              ridge_error *err)
{
    const ridge_trace_options none = {0};
    ridge_trace *trace = NULL;
    ridge_status status;
    bool is_sqlite;

    (void)name;
    *out = NULL;
    options = options != NULL ? options : &none;
    status = recognise(data, size_bytes, &is_sqlite, err);
    if (status != RIDGE_OK)
        return status;
    trace = trace_create();
    if (trace == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    status = is_sqlite ? nsys_read_bytes(trace, data, size_bytes, options, err)
                       : kineto_read_bytes(trace, data, size_bytes, options, err);
    if (status == RIDGE_OK)
        status = trace_finish(trace, err);
    if (status == RIDGE_OK) {
        *out = trace;
        trace = NULL;
    }
    ridge_trace_free(trace);
    return status;
}

ridge_status ridge_trace_open(const char *path, const ridge_trace_options *options,
                              ridge_trace **out, ridge_error *err)
{
    const ridge_trace_options none = {0};
    ridge_trace *trace = NULL;
    ridge_file file = {0};
    ridge_status status;
    bool is_sqlite;

    *out = NULL;
    options = options != NULL ? options : &none;
    status = ridge_file_open(path, &file, err);
    if (status == RIDGE_OK)
        status = recognise(file.bytes.data, file.bytes.size, &is_sqlite, err);
    ridge_file_release(&file);
    if (status != RIDGE_OK)
        return status;
    trace = trace_create();
    if (trace == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    status = is_sqlite ? nsys_read_file(trace, path, options, err)
                       : kineto_read_file(trace, path, options, err);
    if (status == RIDGE_OK)
        status = trace_finish(trace, err);
    if (status == RIDGE_OK) {
        *out = trace;
        trace = NULL;
    }
    ridge_trace_free(trace);
    return status;
}
