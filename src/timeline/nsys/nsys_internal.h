/* SPDX-License-Identifier: Apache-2.0
 *
 * An SQLite export of Nsight Systems. Columns come and go between versions (docs/formats/
 * nsys-sqlite.md), so each table is asked for its columns first and those that exist are named.
 *
 * The database is a stranger's: nothing of its schema runs (no views, triggers, virtual tables,
 * recursion), each table is one scan in order of its rows, and what cannot be in a file of this
 * size ends the scan: rows that go backwards (pages that stand in the tree twice), more text than
 * the file has bytes. */
#ifndef RIDGE_NSYS_INTERNAL_H
#define RIDGE_NSYS_INTERNAL_H

#include <sqlite3.h>

#include "timeline/timeline_internal.h"

/* -- the database ------------------------------------------------------------------------------ */

struct nsys_scanning;

typedef struct nsys_database {
    sqlite3 *handle;
    uint64_t size_bytes;
    int64_t text_left;       /* bytes of text that can still be in a file of this size */
    int64_t operations_left; /* of the engine */
    bool is_cut;             /* fewer pages than the header says */
    bool is_damaged;         /* in its schema */
    uint64_t page_count, expected_page_count;
    uint32_t application;           /* its PRAGMA application_id */
    struct nsys_scanning *scanning; /* the scan that runs */
} nsys_database;

/* RIDGE_ERR_IO; RIDGE_ERR_FORMAT: not a database that can be read at all. A database that lacks
 * pages opens. */
ridge_status nsys_open_file(nsys_database *database, const char *path, ridge_error *err);
/* Borrows the bytes until nsys_close(). */
ridge_status nsys_open_bytes(nsys_database *database, const void *data, size_t size_bytes,
                             ridge_error *err);
void nsys_close(nsys_database *database);

/* Any table that only an export has; else *err says what the database is not. */
ridge_status nsys_check_export(nsys_database *database, ridge_error *err);
/* What was written and not yet moved into the database lies beside it: partial. It is not read: the
 * file may not be touched. False: out of memory. */
bool nsys_look_beside(ridge_trace *trace, const char *path);
bool nsys_has_table(nsys_database *database, const char *name);
/* The column as the table spells it, in its own buffer; false: there is none. */
bool nsys_has_column(nsys_database *database, const char *table, const char *column);
/* Of a table that is there: whether its first row has a number in that column, or it has no row. */
bool nsys_first_is_number(nsys_database *database, const char *table, const char *column);

/* -- scanning ---------------------------------------------------------------------------------- */

enum { NSYS_COLUMNS = 24 };

typedef struct nsys_reader nsys_reader;

typedef struct nsys_row {
    int64_t rowid;
    int64_t values[NSYS_COLUMNS];
    uint32_t has;            /* bit i: column i holds a number, or text where it may */
    sqlite3_value **cells;   /* for nsys_row_text() */
    const int *result_index; /* of each column in cells; -1: the table has none */
} nsys_row;

typedef struct nsys_table {
    const char *name;
    const char *columns[NSYS_COLUMNS]; /* up to the first NULL */
    uint32_t required;                 /* bit i: a row without column i is malformed */
    uint32_t text;                     /* bit i: column i is text */
    void (*row)(nsys_reader *reader, const nsys_row *row);
} nsys_table;

/* Calls table->row for each row; malformed ones are counted in info.skipped_count. What ends the
 * scan early becomes trace_partial(). Nothing happens when there is no such table. */
void nsys_scan(nsys_reader *reader, const nsys_table *table);

static inline bool nsys_has(const nsys_row *row, unsigned column)
{
    return (row->has >> column & 1) != 0;
}

/* The number in a column, or what stands for none. */
static inline int64_t nsys_value(const nsys_row *row, unsigned column, int64_t otherwise)
{
    return nsys_has(row, column) ? row->values[column] : otherwise;
}

/* A number of 32 bits; 0 for what is none. */
static inline uint32_t nsys_small(const nsys_row *row, unsigned column)
{
    const int64_t value = nsys_value(row, column, 0);

    return value > 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
}

/* Borrowed until the next row; "" when there is none. */
const char *nsys_row_text(nsys_reader *reader, const nsys_row *row, unsigned column,
                          size_t *length);
/* One text, by the row; false when there is none. Borrowed until the next call. */
bool nsys_text_at(nsys_reader *reader, sqlite3_stmt *statement, int64_t rowid, const char **text,
                  size_t *length);

/* Times that cannot overflow when they are added or subtracted: 73 years. */
static inline bool nsys_is_time(int64_t ns)
{
    return ns > -(INT64_MAX / 4) && ns < INT64_MAX / 4;
}

/* -- looking up -------------------------------------------------------------------------------- */

typedef struct nsys_key {
    int64_t part[3];
} nsys_key;

typedef struct nsys_entry {
    nsys_key key;
    uint32_t value;
    bool is_used;
} nsys_entry;

typedef struct nsys_map {
    nsys_entry *entries;
    size_t slot_count, count; /* slots: a power of two */
} nsys_map;

const uint32_t *nsys_map_find(const nsys_map *map, nsys_key key);
/* A key that is there keeps its value. False: out of memory. */
bool nsys_map_add(nsys_map *map, nsys_key key, uint32_t value);
void nsys_map_release(nsys_map *map);

typedef struct nsys_string {
    int64_t id, rowid;
    uint32_t name; /* of the trace */
    bool is_read;
} nsys_string;

typedef struct nsys_recent {
    int64_t id;
    uint32_t name;
    bool is_used;
} nsys_recent;

enum { NSYS_RECENT = 1024, NSYS_RECENT_STREAMS = 64 };

/* Where work ran, as its row says and as the trace numbers it. */
typedef struct nsys_place {
    int64_t global, device, context, id;
    uint32_t process, stream; /* process: of the trace */
    bool is_used;
} nsys_place;

struct nsys_reader {
    ridge_trace *trace;
    nsys_database database;
    nsys_map strings; /* StringIds.id: index in string_rows */
    nsys_string *string_rows;
    size_t string_count, string_capacity;
    sqlite3_stmt *string_text;
    nsys_recent recent[NSYS_RECENT]; /* strings, by their last bits */
    nsys_place places[NSYS_RECENT_STREAMS];
    nsys_map processes, threads, streams, domains, gpus, complaints;
    bool devices_differ; /* a device number means different GPUs in different processes */
    bool knows_null_streams;
    int64_t caller;       /* of work that names no process: the last process seen that called */
    int caller_count;     /* 2: of several; 0: work names its process, or nobody called */
    trace_array switches; /* of threads, until they are pairs */
    trace_array keys;     /* of one table of keys and values */
    bool is_beside;       /* knows of strings their ids alone, see nsys_calls.c */
};

/* The name of a string; 0: none. */
uint32_t nsys_string_name(nsys_reader *reader, int64_t id);
/* The row of string_rows with that id, added where there is none. For a reader of calls alone. */
uint32_t nsys_string_number(nsys_reader *reader, int64_t id);
/* Reads which strings there are, not the strings. */
void nsys_read_strings(nsys_reader *reader);

/* Rows of the trace by globalTid or globalPid: process << 24 | thread, in 24 bits each below the
 * hardware and the machine. False: more of them than a trace has; the row is malformed. */
bool nsys_process(nsys_reader *reader, int64_t global, uint32_t *process);
bool nsys_thread(nsys_reader *reader, int64_t global_tid, uint32_t *thread);
/* Of a thread that did something of interest already; RIDGE_TRACE_NONE. */
uint32_t nsys_known_thread(const nsys_reader *reader, int64_t global_tid);

static inline int64_t nsys_pid_of(int64_t global)
{
    return (int64_t)((uint64_t)global >> 24 & 0xffffff);
}

static inline int64_t nsys_tid_of(int64_t global_tid)
{
    return global_tid & 0xffffff;
}

/* Frees everything but the trace. */
void nsys_release(nsys_reader *reader);

/* The globalPid of a row of work, in that column, or what stands for it. */
int64_t nsys_owner(const nsys_reader *reader, const nsys_row *row, unsigned column);

/* -- tables ------------------------------------------------------------------------------------ */

void nsys_read_versions(nsys_reader *reader); /* which tool, schema, how it captured */
void nsys_read_gpu_map(nsys_reader *reader);  /* before work: which device is which GPU */
void nsys_read_work(nsys_reader *reader);     /* kernels, copies, sets, graphs */
void nsys_read_calls(nsys_reader *reader);
void nsys_read_ranges(nsys_reader *reader);
void nsys_read_rest(nsys_reader *reader); /* of the threads and streams known by now */
void nsys_read_gpus(nsys_reader *reader); /* after work: numbers of the GPUs that were used */

/* nsys_read_calls() in a thread beside the next steps, where that is worth it: NULL where it is
 * not, and nsys_end_calls() then reads them. Between these two nobody touches calls. */
struct nsys_beside;
struct nsys_beside *nsys_begin_calls(const nsys_database *database, const char *path);
void nsys_end_calls(nsys_reader *reader, struct nsys_beside *beside);

/* The device row of a number in a process; false as nsys_process(). */
bool nsys_device(nsys_reader *reader, int64_t pid, int64_t device_id, uint32_t *device);
/* One that has work; false: there is none. */
bool nsys_known_device(const nsys_reader *reader, int64_t pid, int64_t device_id, uint32_t *device);
bool nsys_stream(nsys_reader *reader, uint32_t device, uint32_t process, int64_t context,
                 int64_t id, uint32_t *stream);
/* Process, device and stream at once: fills in process and stream. False as above. */
bool nsys_find_place(nsys_reader *reader, nsys_place *place);
uint32_t nsys_known_stream(const nsys_reader *reader, uint32_t device, uint32_t process,
                           int64_t context, int64_t id);

#endif
