/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge_trace_open(): which reader, by the first bytes. */
#include "timeline/kineto/kineto_internal.h"
#include "timeline/timeline_internal.h"

#include <string.h>

#include "base/file.h"

/* SQLite reads no packed file, and a trace of Kineto is none. */
static ridge_status refuse_packed_export(const void *bytes, size_t size, ridge_error *err)
{
    static const char sqlite[] = "SQLite format 3";
    char first[sizeof(sqlite)] = "";
    kineto_input *input;
    bool is_export;

    if (kineto_input_open(NULL, bytes, size, &input, err) != RIDGE_OK)
        return err != NULL ? err->status : RIDGE_ERR_OUT_OF_MEMORY;
    is_export = kineto_input_read(input, first, sizeof(first)) == sizeof(first) &&
                memcmp(first, sqlite, sizeof(sqlite)) == 0;
    kineto_input_free(input);
    return is_export ? ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                                  "a packed SQLite export: unpack it first (gunzip, unzstd)")
                     : RIDGE_OK;
}

/* Finishes what a reader filled, and gives it to the caller; or frees it. */
static ridge_status give(ridge_trace *trace, ridge_status status, ridge_trace **out,
                         ridge_error *err)
{
    if (status == RIDGE_OK)
        status = trace_finish(trace, err);
    if (status == RIDGE_OK)
        *out = trace;
    else
        ridge_trace_free(trace);
    return status;
}

ridge_status ridge_trace_read(const void *data, size_t size_bytes, const char *name,
                              const ridge_trace_options *options, ridge_trace **out,
                              ridge_error *err)
{
    const ridge_trace_options none = {0};
    ridge_trace *trace = NULL;
    ridge_status status;
    bool is_sqlite;

    *out = NULL;
    options = options != NULL ? options : &none;
    status = trace_recognise(data, size_bytes, name != NULL ? name : "", &is_sqlite, err);
    if (status == RIDGE_OK && !is_sqlite)
        status = refuse_packed_export(data, size_bytes, err);
    if (status != RIDGE_OK)
        return status;
    trace = trace_create();
    if (trace == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    status = is_sqlite ? nsys_read_bytes(trace, data, size_bytes, options, err)
                       : kineto_read_bytes(trace, data, size_bytes, options, err);
    return give(trace, status, out, err);
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
    status = trace_recognise_folder(path, err);
    if (status == RIDGE_OK)
        status = ridge_file_open(path, &file, err);
    if (status == RIDGE_OK)
        status = trace_recognise(file.bytes.data, file.bytes.size, path, &is_sqlite, err);
    if (status == RIDGE_OK && !is_sqlite)
        status = refuse_packed_export(file.bytes.data, file.bytes.size, err);
    ridge_file_release(&file);
    if (status != RIDGE_OK)
        return status;
    trace = trace_create();
    if (trace == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    status = is_sqlite ? nsys_read_file(trace, path, options, err)
                       : kineto_read_file(trace, path, options, err);
    return give(trace, status, out, err);
}
