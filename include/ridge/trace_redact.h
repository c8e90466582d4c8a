/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace (an SQLite export of Nsight Systems, Kineto JSON) without what tells who made it and
 * where. What it gives ridge_trace_open() is the same: times, names of kernels, calls and ranges,
 * threads, devices.
 *
 * Only what is known is written: tables, columns, events and members that ridge does not know, and
 * those that it need not read, are left out, for nobody can vouch for what they say.
 *
 * - Environment, host and user names, the working directory, what the program printed, processes
 *   beside the profiled ones, settings of the session: left out.
 * - The command line: the base name of the program stays, arguments go.
 * - Directories in every path, and names that were found (a user of /home/NAME, a host): replaced
 *   where they stand by others of the same length, as ridge_report_redact() does. Names of kernels
 *   stay: when a found name is part of one, ridge_trace_redaction says so.
 * - Processes and threads that are text in JSON ("host1: 4711"): words that are not known to be
 *   harmless ("rank0", "stream 7") become name1, name2, ..., the same word the same everywhere.
 *
 * Process and thread numbers, times since the start, the GPU and versions stay. */
#ifndef RIDGE_TRACE_REDACT_H
#define RIDGE_TRACE_REDACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ridge/status.h"
#include "ridge/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How many were removed of each kind. */
typedef struct ridge_trace_redaction {
    ridge_trace_format format;
    uint64_t environment_count; /* variables */
    uint64_t host_count;        /* different host names */
    uint64_t user_count;        /* different user names */
    uint64_t address_count;     /* different network addresses */
    uint64_t argument_count;    /* of the command line */
    uint64_t part_count;        /* tables, or members of the document, left out */
    uint64_t row_count;         /* rows or events left out: of no use to ridge_trace_open() */
    uint64_t path_count;        /* places where a path stood */
    uint64_t mention_count;     /* other places where a name stood */
    uint64_t remaining_count;   /* places where a name stands still: in names of kernels */
    char remaining[64];         /* the first of them, perhaps cut; "" when there is none */
} ridge_trace_redaction;

/* True when the file begins as a trace does: SQLite, or JSON that may be packed with gzip or zstd.
 * False also for what cannot be read. */
bool ridge_trace_is_trace(const char *path);

/* Writes the trace at path to a new file at out_path, which must not exist; on failure it is
 * removed. JSON is written packed with gzip when out_path ends in .gz. summary may be NULL.
 * RIDGE_ERR_IO; RIDGE_ERR_FORMAT: not a trace, or cut or damaged anywhere, for what is not
 * understood cannot be vouched for. */
ridge_status ridge_trace_redact(const char *path, const char *out_path,
                                ridge_trace_redaction *summary, ridge_error *err);

#ifdef __cplusplus
}
#endif
#endif
