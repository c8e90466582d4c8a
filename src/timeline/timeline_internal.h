/* SPDX-License-Identifier: Apache-2.0
 *
 * The readers behind ridge_trace_open(). Each fills an empty trace and leaves trace_finish() to the
 * caller; data that is cut or damaged further on ends in trace_partial() and RIDGE_OK. */
#ifndef RIDGE_TIMELINE_INTERNAL_H
#define RIDGE_TIMELINE_INTERNAL_H

#include "timeline/trace_build.h"

/* What the first bytes say: SQLite, or for the other reader; else an error with what to do. name is
 * a path, or what to call the bytes. */
ridge_status trace_recognise(const uint8_t *bytes, size_t size, const char *name, bool *is_sqlite,
                             ridge_error *err);
/* RIDGE_OK when the path is no directory. */
ridge_status trace_recognise_folder(const char *path, ridge_error *err);

/* SQLite. Opened immutable: nothing is written beside the file. */
ridge_status nsys_read_file(ridge_trace *trace, const char *path,
                            const ridge_trace_options *options, ridge_error *err);
ridge_status nsys_read_bytes(ridge_trace *trace, const void *data, size_t size_bytes,
                             const ridge_trace_options *options, ridge_error *err);

/* JSON, plain or packed with gzip or zstd; read as a stream, never held as a whole. */
ridge_status kineto_read_file(ridge_trace *trace, const char *path,
                              const ridge_trace_options *options, ridge_error *err);
ridge_status kineto_read_bytes(ridge_trace *trace, const void *data, size_t size_bytes,
                               const ridge_trace_options *options, ridge_error *err);

#endif
