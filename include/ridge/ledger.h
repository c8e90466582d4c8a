/* SPDX-License-Identifier: Apache-2.0
 *
 * The ledger of a campaign: one SQLite file (schema ridge-ledger/1, docs/formats/ledger.md) with
 * what was tried, predicted, built, checked and measured, and why it was kept or not.
 *
 * Identifiers are content hashes (32 hexadecimal digits), so that ledgers merge in any order.
 * Times are in ns as numbers. Two processes may write at once (WAL, waits up to 10 s).
 *
 * The exchange format ridge-bench/1 is lines of JSON: {"t": "slot", "id": ..., ...}, one row of a
 * table each. A session writes them; import is idempotent. */
#ifndef RIDGE_LEDGER_H
#define RIDGE_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ridge/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ridge_ledger ridge_ledger;

typedef enum ridge_ledger_mode {
    RIDGE_LEDGER_READ,  /* one state, whoever writes meanwhile; opened again, a newer one */
    RIDGE_LEDGER_WRITE, /* must exist */
    RIDGE_LEDGER_CREATE /* made when it is not there */
} ridge_ledger_mode;

/* RIDGE_ERR_IO: not there, not writable, locked by another process (says for how long it was
 * tried), disk full; RIDGE_ERR_FORMAT: no ledger, or damaged; RIDGE_ERR_UNSUPPORTED: a newer
 * schema. */
ridge_status ridge_ledger_open(const char *path, ridge_ledger_mode mode, ridge_ledger **out,
                               ridge_error *err);
void ridge_ledger_free(ridge_ledger *ledger);

/* -- records ----------------------------------------------------------------------------------- */

/* One line of ridge-bench/1. A row that is there already is left as it is. Lines between begin and
 * commit are one transaction. RIDGE_ERR_FORMAT: no JSON, an unknown table, an id that is not the
 * hash of its content, a reference to a row that is not there (checked by commit). */
ridge_status ridge_ledger_begin(ridge_ledger *ledger, ridge_error *err);
ridge_status ridge_ledger_import_line(ridge_ledger *ledger, const char *line, size_t length,
                                      ridge_error *err);
ridge_status ridge_ledger_commit(ridge_ledger *ledger, ridge_error *err);
void ridge_ledger_rollback(ridge_ledger *ledger);
/* Times that another tool measured: the JSON of nvbench, a trace of FlashInfer-Bench (lines), a list of
 * triton's do_bench (an array, or a number a line, in ms). The session's tool_version ends in
 * "imported", its arms are rivals with a measurement each and no comparison: they can be shown, and
 * decide nothing. text ends in 0; name: of the file. out->tool NULL: it is none of these, nothing was
 * done. Idempotent; a transaction is the caller's. RIDGE_ERR_FORMAT. */
typedef struct ridge_foreign {
    const char *tool;
    size_t time_count, skipped_count; /* skipped: cases without a time */
} ridge_foreign;
ridge_status ridge_ledger_import_foreign(ridge_ledger *ledger, const char *text, size_t size_bytes,
                                         const char *name, ridge_foreign *out, ridge_error *err);
/* All rows, sorted by table and id; the first line is the header. */
ridge_status ridge_ledger_export(ridge_ledger *ledger, FILE *stream, bool with_artefacts,
                                 ridge_error *err);
/* Rows of another ledger; counts of rows that were new and that were there. */
ridge_status ridge_ledger_merge(ridge_ledger *ledger, const char *other_path, size_t *added,
                                size_t *present, ridge_error *err);

/* -- what there is to know ---------------------------------------------------------------------- */

typedef enum ridge_ledger_type {
    RIDGE_LEDGER_TEXT,
    RIDGE_LEDGER_NUMBER,  /* double; in JSON always with a fraction: 5.0 */
    RIDGE_LEDGER_INTEGER, /* 64 bits */
    RIDGE_LEDGER_BOOL,
    RIDGE_LEDGER_BYTES /* base64 in JSON */
} ridge_ledger_type;

typedef struct ridge_ledger_column {
    const char *name;
    ridge_ledger_type type;
    const char *meaning;
    const char *references; /* the table whose id it is; NULL: none */
    const char *choices;    /* "cold|hot|flush"; NULL: any */
    bool is_needed;
    /* Changes after the row was written, so it is no part of the id. Where two ledgers differ in it
     * the greater value holds; columns that are with the previous one are compared and taken as one,
     * the first of them counting most. */
    bool is_state, is_with_previous;
} ridge_ledger_column;

/* Besides its columns each table has id, its key, and extra: members of a line that are no column,
 * as a JSON object. */
typedef struct ridge_ledger_table {
    const char *name, *meaning;
    const ridge_ledger_column *columns;
    size_t column_count;
} ridge_ledger_table;

size_t ridge_ledger_table_count(void);
/* In the order of references; NULL beyond the last. */
const ridge_ledger_table *ridge_ledger_table_at(size_t index);
const ridge_ledger_table *ridge_ledger_table_find(const char *name); /* NULL: none */
const char *ridge_ledger_type_name(ridge_ledger_type type);          /* "integer" */

typedef struct ridge_ledger_view {
    const char *name, *meaning, *sql;
} ridge_ledger_view;
const ridge_ledger_view *ridge_ledger_view_at(size_t index); /* NULL beyond the last */

/* A query that only reads, over the tables and views of docs/formats/ledger.md; values stand for its
 * ?1, ?2, ... (NULL: null). RIDGE_ERR_INVALID_ARGUMENT with SQLite's words for one that is none, or
 * that would write. *out is new: ridge_ledger_rows_free(), before the ledger. */
typedef struct ridge_ledger_rows ridge_ledger_rows;
ridge_status ridge_ledger_query(ridge_ledger *ledger, const char *sql, const char *const *values,
                                size_t value_count, ridge_ledger_rows **out, ridge_error *err);
void ridge_ledger_rows_free(ridge_ledger_rows *rows);
/* Steps to the next row; *has_row false at the end. What getters return is borrowed until then. */
ridge_status ridge_ledger_rows_next(ridge_ledger_rows *rows, bool *has_row, ridge_error *err);
size_t ridge_ledger_rows_column_count(const ridge_ledger_rows *rows);
const char *ridge_ledger_rows_column_name(const ridge_ledger_rows *rows, size_t column);
typedef enum ridge_ledger_value {
    RIDGE_LEDGER_IS_NULL,
    RIDGE_LEDGER_IS_INTEGER,
    RIDGE_LEDGER_IS_NUMBER,
    RIDGE_LEDGER_IS_TEXT,
    RIDGE_LEDGER_IS_BYTES
} ridge_ledger_value;
ridge_ledger_value ridge_ledger_rows_kind(const ridge_ledger_rows *rows, size_t column);
const char *ridge_ledger_rows_text(ridge_ledger_rows *rows, size_t column); /* NULL: null */
double ridge_ledger_rows_number(ridge_ledger_rows *rows, size_t column);    /* NAN: null */
int64_t ridge_ledger_rows_integer(ridge_ledger_rows *rows, size_t column);  /* 0: null */
size_t ridge_ledger_rows_bytes(ridge_ledger_rows *rows, size_t column);     /* of bytes or text */

/* Members of a row to be written, by ridge_ledger_add(). */
typedef struct ridge_ledger_member {
    const char *name; /* a column of the table */
    const char *text; /* of a text column; NULL: unknown */
    double number;    /* of any other column; NAN: unknown */
} ridge_ledger_member;
/* Adds a row made of members, if it is not there; id: 33 bytes, may be NULL. */
ridge_status ridge_ledger_add(ridge_ledger *ledger, const char *table,
                              const ridge_ledger_member *members, size_t count, char *id,
                              ridge_error *err);
/* Archives a file: its row in artefact, with the bytes when content is true. */
ridge_status ridge_ledger_add_artefact(ridge_ledger *ledger, const char *kind, const char *path,
                                       const void *bytes, size_t size_bytes, bool content, char *id,
                                       ridge_error *err);
/* Full id of a row of a table from at least four leading digits. RIDGE_ERR_INVALID_ARGUMENT: none,
 * or several. */
ridge_status ridge_ledger_find(ridge_ledger *ledger, const char *table, const char *prefix,
                               char *id, ridge_error *err);
/* "2026-03-01T09:30:00Z" of seconds since 1970; text: 21 bytes. */
char *ridge_ledger_time_text(int64_t seconds, char *text);

/* -- builds ------------------------------------------------------------------------------------ */

typedef struct ridge_build_row {
    const char *kernel;    /* as named on the command line */
    const char *code_hash; /* of the machine code; NULL: of code below, else of the image */
    const void *code;      /* machine code to be hashed; NULL: none */
    size_t code_size_bytes;
    const char *arch;                                            /* "sm_90a" */
    const char *source_rev, *dirty_diff_hash, *compiler, *flags; /* NULL: not known */
    int registers_per_thread, spill_bytes, shared_bytes;         /* -1: not known */
    int64_t code_bytes;                                          /* -1: not known */
    double compile_s;                                            /* NAN: not known */
    const void *image;                                           /* archived, NULL: not */
    size_t image_bytes;
    const char *image_kind; /* "cubin", "so", "ptx", "manifest" */
} ridge_build_row;

/* id: 33 bytes. The same code is the same build. */
ridge_status ridge_ledger_add_build(ridge_ledger *ledger, const ridge_build_row *build, char *id,
                                    ridge_error *err);
/* Full id from at least four leading digits; RIDGE_ERR_INVALID_ARGUMENT: none, or several. */
ridge_status ridge_ledger_find_build(ridge_ledger *ledger, const char *prefix, char *id,
                                     ridge_error *err);
/* Writes the archived binary to a file of folder; path receives its name. */
ridge_status ridge_ledger_extract_build(ridge_ledger *ledger, const char *id, const char *folder,
                                        char *path, size_t path_size, ridge_error *err);

/* -- campaigns and steps ----------------------------------------------------------------------- */

typedef struct ridge_step_start {
    const char *campaign; /* title; made when it is not there; NULL: the latest */
    const char *goal;     /* of a new campaign */
    const char *change;   /* the one change */
    const char *hypothesis, *expected_metric; /* NULL: none */
    double predicted_ratio;                   /* new time / old time; NAN: none */
    const char *parent;                       /* step number or id; NULL: the last one kept */
    const char *author, *assisted_by;
    int64_t now_s; /* seconds since 1970; 0: the clock */
} ridge_step_start;

/* Opens a step; number (1, 2, ...) and id. RIDGE_ERR_INVALID_ARGUMENT: another is open. */
ridge_status ridge_ledger_step_start(ridge_ledger *ledger, const ridge_step_start *step,
                                     int *number, char *id, ridge_error *err);
/* Gives the open step its build. RIDGE_ERR_INVALID_ARGUMENT: "same code as step N: was it
 * rebuilt?" */
ridge_status ridge_ledger_step_build(ridge_ledger *ledger, const char *build_id, ridge_error *err);
/* Closes the open step as kept or rejected. A kept step wants a comparison of its build that is
 * not INVALID; force: takes it without one, and the log says so. */
ridge_status ridge_ledger_step_close(ridge_ledger *ledger, bool is_kept, const char *reason,
                                     bool force, int64_t now_s, int *number, ridge_error *err);

#ifdef __cplusplus
}
#endif
#endif
