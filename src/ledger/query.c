/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading: queries that cannot write, rows by identifier; and rows from members. */
#include "ledger_internal.h"

#include <math.h>
#include <stdio.h>

struct ridge_ledger_rows {
    ridge_ledger *ledger;
    sqlite3_stmt *statement;
    int progress; /* times QUERY_OPERATIONS that it has taken */
};

/* What a query may take. */
enum { QUERY_OPERATIONS = 1000000, QUERY_PROGRESS = 500, QUERY_BYTES = 1 << 28 };

/* What a query may do: read. */
static int allow_reading(void *context, int action, const char *a, const char *b, const char *c,
                         const char *d)
{
    (void)context, (void)b, (void)c, (void)d;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        return b != NULL && strcmp(b, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA:
        return a != NULL && (strcmp(a, "table_info") == 0 || strcmp(a, "user_version") == 0)
                   ? SQLITE_OK
                   : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

static ridge_status prepare_query(ridge_ledger *ledger, const char *sql, sqlite3_stmt **out,
                                  ridge_error *err)
{
    const char *rest = "";
    int code;

    sqlite3_set_authorizer(ledger->database, allow_reading, NULL);
    code = sqlite3_prepare_v2(ledger->database, sql, -1, out, &rest);
    sqlite3_set_authorizer(ledger->database, NULL, NULL);
    if (code == SQLITE_AUTH || (code == SQLITE_ERROR &&
                                strstr(sqlite3_errmsg(ledger->database), "not authorized") != NULL))
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "a query may only read: SELECT ...");
    if (code == SQLITE_ERROR)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "no query: %s",
                          sqlite3_errmsg(ledger->database));
    if (code != SQLITE_OK)
        return ledger_fail(ledger, "read the ledger", err);
    /* VACUUM INTO asks no authorizer, and writes. */
    if (*out != NULL && (!sqlite3_stmt_readonly(*out) || sqlite3_column_count(*out) == 0))
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "a query may only read: SELECT ...");
    if (*out == NULL || rest[strspn(rest, " \t\r\n;")] != '\0')
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "%s, expected one SELECT",
                          *out == NULL ? "an empty query" : "several statements");
    return RIDGE_OK;
}

ridge_status ridge_ledger_query(ridge_ledger *ledger, const char *sql, const char *const *values,
                                size_t value_count, ridge_ledger_rows **out, ridge_error *err)
{
    ridge_ledger_rows *rows;
    ridge_status status;
    size_t i;

    *out = NULL;
    rows = ridge_calloc(1, sizeof(*rows));
    if (rows == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for a query");
    rows->ledger = ledger;
    status = prepare_query(ledger, sql, &rows->statement, err);
    for (i = 0; status == RIDGE_OK && i < value_count; i++)
        if (sqlite3_bind_text(rows->statement, (int)i + 1, values[i], -1, SQLITE_TRANSIENT) !=
            SQLITE_OK)
            status = ledger_fail(ledger, "read the ledger", err);
    if (status != RIDGE_OK) {
        ridge_ledger_rows_free(rows);
        return status;
    }
    *out = rows;
    return RIDGE_OK;
}

void ridge_ledger_rows_free(ridge_ledger_rows *rows)
{
    if (rows == NULL)
        return;
    sqlite3_finalize(rows->statement);
    ridge_free(rows);
}

static int count_operations(void *context)
{
    ridge_ledger_rows *const rows = context;

    return ++rows->progress > QUERY_PROGRESS;
}

/* A query can loop for ever and make values of any size: operations and bytes are counted, so that
 * the same query always ends in the same way. */
static int bounded_step(ridge_ledger_rows *rows)
{
    sqlite3 *const database = rows->ledger->database;
    const int before = sqlite3_limit(database, SQLITE_LIMIT_LENGTH, QUERY_BYTES);
    int code;

    sqlite3_progress_handler(database, QUERY_OPERATIONS, count_operations, rows);
    code = sqlite3_step(rows->statement);
    sqlite3_progress_handler(database, 0, NULL, NULL);
    sqlite3_limit(database, SQLITE_LIMIT_LENGTH, before);
    return code;
}

ridge_status ridge_ledger_rows_next(ridge_ledger_rows *rows, bool *has_row, ridge_error *err)
{
    const int code = bounded_step(rows);

    *has_row = code == SQLITE_ROW;
    if (code == SQLITE_ROW || code == SQLITE_DONE)
        return RIDGE_OK;
    if (code == SQLITE_INTERRUPT)
        return ridge_fail(err, RIDGE_ERR_OVERFLOW,
                          "the query does not end: stopped after 500 million operations");
    if ((code & 0xff) == SQLITE_TOOBIG)
        return ridge_fail(err, RIDGE_ERR_OVERFLOW, "the query makes a value of more than 256 MiB");
    if (code == SQLITE_ERROR)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "the query failed: %s",
                          sqlite3_errmsg(rows->ledger->database));
    return ledger_fail(rows->ledger, "read the ledger", err);
}

size_t ridge_ledger_rows_column_count(const ridge_ledger_rows *rows)
{
    return (size_t)sqlite3_column_count(rows->statement);
}

const char *ridge_ledger_rows_column_name(const ridge_ledger_rows *rows, size_t column)
{
    const char *const name = sqlite3_column_name(rows->statement, (int)column);

    return name != NULL ? name : "";
}

ridge_ledger_value ridge_ledger_rows_kind(const ridge_ledger_rows *rows, size_t column)
{
    switch (sqlite3_column_type(rows->statement, (int)column)) {
    case SQLITE_INTEGER:
        return RIDGE_LEDGER_IS_INTEGER;
    case SQLITE_FLOAT:
        return RIDGE_LEDGER_IS_NUMBER;
    case SQLITE_TEXT:
        return RIDGE_LEDGER_IS_TEXT;
    case SQLITE_BLOB:
        return RIDGE_LEDGER_IS_BYTES;
    default:
        return RIDGE_LEDGER_IS_NULL;
    }
}

const char *ridge_ledger_rows_text(ridge_ledger_rows *rows, size_t column)
{
    return (const char *)sqlite3_column_text(rows->statement, (int)column);
}

double ridge_ledger_rows_number(ridge_ledger_rows *rows, size_t column)
{
    const int type = sqlite3_column_type(rows->statement, (int)column);

    return type == SQLITE_INTEGER || type == SQLITE_FLOAT
               ? sqlite3_column_double(rows->statement, (int)column)
               : (double)NAN;
}

int64_t ridge_ledger_rows_integer(ridge_ledger_rows *rows, size_t column)
{
    return sqlite3_column_int64(rows->statement, (int)column);
}

size_t ridge_ledger_rows_bytes(ridge_ledger_rows *rows, size_t column)
{
    return (size_t)sqlite3_column_bytes(rows->statement, (int)column);
}

/* -- by identifier ----------------------------------------------------------------------------- */

ridge_status ridge_ledger_find(ridge_ledger *ledger, const char *table, const char *prefix,
                               char *id, ridge_error *err)
{
    char sql[160], pattern[40], other[RIDGE_HASH_TEXT];
    const char *const values[] = {pattern};
    bool found, more;
    ridge_status status;

    id[0] = '\0';
    if (strlen(prefix) < 4 || strlen(prefix) > 32 ||
        strspn(prefix, "0123456789abcdef") != strlen(prefix))
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "'%.60s' is no id: 4 to 32 of its leading hexadecimal digits are",
                          prefix);
    snprintf(pattern, sizeof(pattern), "%s*", prefix);
    snprintf(sql, sizeof(sql), "SELECT min(id) FROM \"%.40s\" WHERE id GLOB ?1", table);
    status = ledger_text_of(ledger, sql, values, 1, id, RIDGE_HASH_TEXT, &found, err);
    if (status != RIDGE_OK)
        return status;
    snprintf(sql, sizeof(sql), "SELECT max(id) FROM \"%.40s\" WHERE id GLOB ?1", table);
    status = ledger_text_of(ledger, sql, values, 1, other, sizeof(other), &more, err);
    if (status != RIDGE_OK)
        return status;
    if (found && strcmp(id, other) == 0)
        return RIDGE_OK;
    if (found)
        ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "%s is the beginning of several: %.12s, %.12s",
                   prefix, id, other);
    else
        ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "no %s %s in the ledger", table, prefix);
    id[0] = '\0';
    return RIDGE_ERR_INVALID_ARGUMENT;
}

/* -- from members ------------------------------------------------------------------------------ */

static ridge_status add_member(ridge_record *record, const ridge_ledger_table *table,
                               const ridge_ledger_member *member, ridge_error *err)
{
    size_t i;

    for (i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].name, member->name) == 0)
            break;
    if (i == table->column_count)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "%s has no column %s", table->name,
                          member->name);
    switch (table->columns[i].type) {
    case RIDGE_LEDGER_TEXT:
    case RIDGE_LEDGER_BYTES: /* base64 */
        ridge_record_text(record, member->name, member->text);
        break;
    case RIDGE_LEDGER_NUMBER:
        ridge_record_number(record, member->name, member->number);
        break;
    case RIDGE_LEDGER_INTEGER:
        if (isfinite(member->number))
            ridge_record_integer(record, member->name, (int64_t)member->number);
        break;
    case RIDGE_LEDGER_BOOL:
        if (isfinite(member->number))
            ridge_record_bool(record, member->name, member->number != 0);
        break;
    }
    return RIDGE_OK;
}

ridge_status ridge_ledger_add(ridge_ledger *ledger, const char *table,
                              const ridge_ledger_member *members, size_t count, char *id,
                              ridge_error *err)
{
    const ridge_ledger_table *const found = ridge_ledger_table_find(table);
    char own_id[RIDGE_HASH_TEXT];
    ridge_status status = RIDGE_OK, ended;
    ridge_document document = {NULL};
    ridge_record record;
    ridge_text line;
    bool added, is_own;
    size_t i;

    if (id != NULL)
        id[0] = '\0';
    if (found == NULL)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "%s is no table", table);
    ridge_text_init(&line);
    ridge_record_begin(&record, table);
    for (i = 0; status == RIDGE_OK && i < count; i++)
        status = add_member(&record, found, &members[i], err);
    ended = ridge_record_end_as(&record, "", &line, status == RIDGE_OK ? err : NULL);
    status = status == RIDGE_OK ? ended : status;
    if (status == RIDGE_OK)
        status =
            ridge_document_parse_at_most(line.data, line.length, LEDGER_LINE_BYTES, &document, err);
    ridge_text_release(&line);
    if (status == RIDGE_OK)
        status = ledger_begin_own(ledger, &is_own, err);
    if (status == RIDGE_OK)
        status = ledger_end_own(ledger, is_own,
                                ledger_add_object(ledger, document.root, own_id, &added, err), err);
    ridge_document_release(&document);
    if (status == RIDGE_OK && id != NULL)
        memcpy(id, own_id, sizeof(own_id));
    return status;
}
