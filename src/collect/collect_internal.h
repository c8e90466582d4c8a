/* SPDX-License-Identifier: Apache-2.0
 *
 * From spool files to a database. The writer remembers its first failure and ignores later calls. */
#ifndef RIDGE_COLLECT_INTERNAL_H
#define RIDGE_COLLECT_INTERNAL_H

#include <sqlite3.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "collect/spool.h"
#include "ridge/collect.h"

/* -- the database ------------------------------------------------------------------------------ */

enum export_table {
    EXPORT_STRINGS,
    EXPORT_META_EXPORT,
    EXPORT_META_CAPTURE,
    EXPORT_START_TIME,
    EXPORT_PROCESSES,
    EXPORT_THREAD_NAMES,
    EXPORT_GPU,
    EXPORT_CONTEXT,
    EXPORT_DIAGNOSTIC,
    EXPORT_KERNEL,
    EXPORT_RUNTIME,
    EXPORT_MEMCPY,
    EXPORT_MEMSET,
    EXPORT_SYNC,
    EXPORT_OVERHEAD,
    EXPORT_NVTX,
    EXPORT_TABLE_COUNT
};

struct export_string;

typedef struct export_file {
    sqlite3 *database;
    sqlite3_stmt *insert[EXPORT_TABLE_COUNT]; /* NULL: the table is not there yet */
    sqlite3_stmt *row;                        /* being filled */
    int column;
    ridge_arena arena;            /* of strings */
    struct export_string **slots; /* of a table of hashes; NULL: free */
    size_t slot_count;
    uint32_t string_count;
    ridge_status status; /* the first failure */
    char message[200];
} export_file;

ridge_status export_open(export_file *file, const char *path, ridge_error *err);
/* Ends the transaction; then the first failure, if there was one. */
ridge_status export_close(export_file *file, ridge_error *err);

/* The number of a text in StringIds, from 1. */
uint32_t export_string(export_file *file, const char *bytes, size_t length);

/* A row, column after column. */
void export_begin(export_file *file, enum export_table table);
void export_int(export_file *file, int64_t value);
void export_null(export_file *file);
void export_text(export_file *file, const char *bytes, size_t length);
void export_end(export_file *file);

void export_out_of_memory(export_file *file);

/* -- the whole --------------------------------------------------------------------------------- */

/* ridge_collect_merge() of spool files in memory. */
ridge_status collect_merge_bytes(const ridge_slice *spools, size_t count, const char *path,
                                 const ridge_collect_options *options, ridge_collect_totals *totals,
                                 ridge_error *err);

/* -- a process --------------------------------------------------------------------------------- */

/* A text of the spool file; the numbers of strings are 0 until they are asked for. */
typedef struct spool_name_row {
    ridge_slice text;
    uint32_t string, demangled, short_name;
} spool_name_row;

typedef struct marker_row {
    spool_marker marker;
    uint64_t order; /* in the file */
} marker_row;

enum { CONTEXTS_MOST = 64 };

typedef struct spool_reader {
    export_file *file;
    const ridge_collect_options *options;
    ridge_collect_totals *totals;
    int64_t pid;
    int64_t origin_ns;         /* of all processes, on CUPTI's clock */
    int64_t first_ns, last_ns; /* of work on a GPU */
    spool_name_row *names;     /* of text id - 1 */
    size_t name_count, name_capacity;
    marker_row *markers;
    size_t marker_count, marker_capacity;
    spool_context contexts[CONTEXTS_MOST];
    size_t context_count;
    bool has_ended;
} spool_reader;

/* Reads a whole spool file. False: it is cut or damaged, and was read up to there. */
bool spool_read(spool_reader *reader, ridge_slice bytes);
/* NVTX ranges out of what was read. */
void spool_write_markers(spool_reader *reader);

/* For markers: the string of a text, 0 for none; and what nsys calls a thread. */
uint32_t spool_string(spool_reader *reader, uint32_t text);
int64_t spool_thread(const spool_reader *reader, uint32_t thread);
int64_t spool_time(const spool_reader *reader, uint64_t time_ns);

/* A kernel's name without namespaces, template arguments and parameters: what ncu -k takes. */
void collect_base_name(const char *name, char *buffer, size_t size);

#endif
