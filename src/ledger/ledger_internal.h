/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the ledger share. */
#ifndef RIDGE_LEDGER_INTERNAL_H
#define RIDGE_LEDGER_INTERNAL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/record.h"
#include "base/text.h"
#include "ridge/ledger.h"

enum {
    LEDGER_SCHEMA_VERSION = 1,       /* PRAGMA user_version */
    LEDGER_APPLICATION = 0x52644C67, /* PRAGMA application_id: "RdLg" */
    LEDGER_WAIT_MS = 10000,          /* for another process */
    LEDGER_TABLES = 32,              /* at least ridge_ledger_table_count() */
    LEDGER_LINE_BYTES = 1 << 30,     /* longest line */
    LEDGER_CONTENT_BYTES = 1 << 30   /* largest archived file */
};

struct ridge_ledger {
    sqlite3 *database;
    sqlite3_stmt *inserts[LEDGER_TABLES]; /* made when first used */
    int wait_ms;                          /* for another process; LEDGER_WAIT_MS, less in tests */
    bool in_transaction;
};

/* How long to wait for another process, from now on. */
void ledger_set_wait(ridge_ledger *ledger, int wait_ms);

/* Says what SQLite refused, in words of what to do, with the status for it. doing: "write a row". */
ridge_status ledger_fail(ridge_ledger *ledger, const char *doing, ridge_error *err);
ridge_status ledger_run(ridge_ledger *ledger, const char *sql, const char *doing, ridge_error *err);
ridge_status ledger_prepare(ridge_ledger *ledger, const char *sql, sqlite3_stmt **out,
                            ridge_error *err);
/* Binds text values to ?1, ?2, ... and prepares; NULL: null. */
ridge_status ledger_prepare_with(ridge_ledger *ledger, const char *sql, const char *const *values,
                                 size_t count, sqlite3_stmt **out, ridge_error *err);
/* The first column of the first row as text, in out; *found false when there is none or null. */
ridge_status ledger_text_of(ridge_ledger *ledger, const char *sql, const char *const *values,
                            size_t count, char *out, size_t size, bool *found, ridge_error *err);
/* A transaction of its own, unless one is open. */
ridge_status ledger_begin_own(ridge_ledger *ledger, bool *is_own, ridge_error *err);
ridge_status ledger_end_own(ridge_ledger *ledger, bool is_own, ridge_status status,
                            ridge_error *err);

/* Creates tables and views. */
ridge_status ledger_create_schema(ridge_ledger *ledger, ridge_error *err);
/* The views of this ridge for this connection, over those that an older one left in the file. */
ridge_status ledger_shadow_views(ridge_ledger *ledger, ridge_error *err);

/* Adds the row of an object; id: RIDGE_HASH_TEXT bytes; *added: it was new. */
ridge_status ledger_add_object(ridge_ledger *ledger, const ridge_node *object, char *id,
                               bool *added, ridge_error *err);
/* Appends the line of the row that a statement of ledger_select_all() stands at. */
ridge_status ledger_row_line(const ridge_ledger_table *table, sqlite3_stmt *row, bool with_bytes,
                             ridge_text *out, ridge_error *err);
ridge_status ledger_select_all(ridge_ledger *ledger, const ridge_ledger_table *table,
                               sqlite3_stmt **out, ridge_error *err);

#endif
