/* SPDX-License-Identifier: Apache-2.0
 *
 * What `ridge record` collects. libridge_collect.so, inside each recorded process, appends records
 * of CUPTI to a spool file; ridge_collect_merge() turns a folder of them into one SQLite file with
 * the tables and columns of Nsight Systems, which ridge_trace_open() and tools for its exports
 * read. See docs/formats/record.md. */
#ifndef RIDGE_COLLECT_H
#define RIDGE_COLLECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ridge/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ridge_collect_options {
    /* The program and its arguments, written into the file. No environment, no names of users or
     * hosts are. */
    size_t command_count;
    const char *const *command;
    bool skips_cheap_calls; /* calls that do no work were left out */
    /* The C++ runtime's demangler, with whole names; NULL: names without parameters. As
     * __cxa_demangle: returns a text for free(), or NULL. */
    char *(*demangle)(const char *mangled, char *buffer, size_t *size, int *status);
} ridge_collect_options;

typedef struct ridge_collect_totals {
    size_t process_count; /* that used CUDA or NVTX */
    size_t silent_count;  /* of them: left no record of work, call or range */
    size_t unended_count; /* of the others: killed, or crashed: what was not written is lost */
    size_t damaged_count; /* of them: a spool file that is cut or damaged */
    uint64_t kernel_count;
    uint64_t copy_count; /* and sets of memory */
    uint64_t call_count;
    uint64_t range_count;   /* of NVTX */
    uint64_t dropped_count; /* records that CUPTI dropped for want of memory */
    uint64_t untimed_count; /* kernels and copies without times, which are in the file */
    int64_t span_ns;        /* from the first to the last work on a GPU; 0: none */
    int64_t handle_ns;      /* spent inside the processes on handling records */
    uint32_t cupti_version; /* of cuptiGetVersion(); 0: none was loaded */
    char fault[320];        /* the first thing that kept records away; "" */
} ridge_collect_totals;

/* Reads every spool file of folder and fills path, an empty file or none, with the database. What is
 * cut or damaged is read as far as it goes, and counted. A folder without spool files gives
 * RIDGE_OK, process_count 0 and no file. RIDGE_ERR_IO, RIDGE_ERR_OUT_OF_MEMORY: what was written of
 * path is for the caller to remove. */
ridge_status ridge_collect_merge(const char *folder, const char *path,
                                 const ridge_collect_options *options, ridge_collect_totals *out,
                                 ridge_error *err);

#ifdef __cplusplus
}
#endif
#endif
