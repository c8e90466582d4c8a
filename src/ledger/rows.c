/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows as lines of ridge-bench/1 and as rows of the database, both ways, by the table of tables. A
 * line that was read is taken apart into columns and put together again before its id is compared:
 * what is stored is what an export will print. */
#include "ledger_internal.h"

#include <math.h>
#include <stdio.h>

static bool is_bookkeeping(const char *key)
{
    return strcmp(key, "t") == 0 || strcmp(key, "id") == 0;
}

static const ridge_ledger_column *column_of(const ridge_ledger_table *table, const char *name)
{
    size_t i;

    for (i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].name, name) == 0)
            return &table->columns[i];
    return NULL;
}

/* -- from a line ------------------------------------------------------------------------------- */

static ridge_status wrong_type(const ridge_ledger_table *table, const ridge_ledger_column *column,
                               ridge_error *err)
{
    static const char *const expected[] = {"a text", "a number", "a whole number of 64 bits",
                                           "true or false", "bytes in base64"};

    return ridge_fail(err, RIDGE_ERR_FORMAT, "%s.%s is something else than %s", table->name,
                      column->name, expected[column->type]);
}

static bool is_choice(const char *choices, const char *text)
{
    const size_t length = strlen(text);
    const char *at;

    for (at = choices; at != NULL; at = strchr(at, '|') != NULL ? strchr(at, '|') + 1 : NULL)
        if (strcspn(at, "|") == length && memcmp(at, text, length) == 0)
            return true;
    return false;
}

/* Adds a column's value to the record that is hashed (NULL: it is no part of the id) and binds it. */
static ridge_status take(const ridge_ledger_table *table, const ridge_ledger_column *column,
                         const ridge_node *value, ridge_record *record, sqlite3_stmt *insert,
                         int at, ridge_error *err)
{
    const ridge_node_kind kind = ridge_node_kind_of(value);
    const char *const text = ridge_node_text(value);
    int64_t integer = 0;
    bool flag = false;
    size_t size;
    void *bytes;

    if (kind == RIDGE_NODE_NULL) {
        if (column->is_needed)
            return ridge_fail(err, RIDGE_ERR_FORMAT, "%s without %s", table->name, column->name);
        sqlite3_bind_null(insert, at);
        return RIDGE_OK;
    }
    switch (column->type) {
    case RIDGE_LEDGER_TEXT:
        if (text == NULL)
            return wrong_type(table, column, err);
        if (column->choices != NULL && !is_choice(column->choices, text))
            return ridge_fail(err, RIDGE_ERR_FORMAT, "%s.%s is \"%.40s\", expected one of %s",
                              table->name, column->name, text, column->choices);
        ridge_record_text(record, column->name, text);
        sqlite3_bind_text(insert, at, text, -1, SQLITE_TRANSIENT);
        return RIDGE_OK;
    case RIDGE_LEDGER_NUMBER:
        if (kind != RIDGE_NODE_NUMBER)
            return wrong_type(table, column, err);
        ridge_record_number(record, column->name, ridge_node_number(value));
        sqlite3_bind_double(insert, at, ridge_node_number(value));
        return RIDGE_OK;
    case RIDGE_LEDGER_INTEGER:
        if (!ridge_node_integer(value, &integer))
            return wrong_type(table, column, err);
        ridge_record_integer(record, column->name, integer);
        sqlite3_bind_int64(insert, at, integer);
        return RIDGE_OK;
    case RIDGE_LEDGER_BOOL:
        if (!ridge_node_bool(value, &flag))
            return wrong_type(table, column, err);
        ridge_record_bool(record, column->name, flag);
        sqlite3_bind_int(insert, at, flag);
        return RIDGE_OK;
    case RIDGE_LEDGER_BYTES:
        if (text == NULL)
            return wrong_type(table, column, err);
        if (!ridge_base64_read(text, &bytes, &size))
            return size > 0 ? ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for a row")
                            : wrong_type(table, column, err);
        ridge_record_bytes(record, column->name, bytes, size);
        sqlite3_bind_blob64(insert, at, bytes, size, SQLITE_TRANSIENT);
        ridge_free(bytes);
        return RIDGE_OK;
    }
    return RIDGE_OK;
}

/* Members that are no column: one JSON object. */
static ridge_status take_extra(const ridge_ledger_table *table, const ridge_node *object,
                               ridge_record *record, sqlite3_stmt *insert, int at, ridge_error *err)
{
    const ridge_node *value;
    const void *position = NULL;
    const char *key;
    ridge_record extra;
    ridge_text text;
    char ignored[RIDGE_HASH_TEXT];
    bool any = false;
    ridge_status status;

    ridge_record_begin(&extra, table->name);
    while ((value = ridge_node_next(object, &position, &key)) != NULL) {
        if (is_bookkeeping(key) || column_of(table, key) != NULL ||
            ridge_node_kind_of(value) == RIDGE_NODE_NULL)
            continue;
        any = true;
        ridge_record_value(record, key, value);
        ridge_record_value(&extra, key, value);
    }
    ridge_text_init(&text);
    status = ridge_record_end(&extra, &text, ignored, err);
    sqlite3_bind_null(insert, at);
    if (status == RIDGE_OK && any)
        sqlite3_bind_text(insert, at, text.data, (int)text.length, SQLITE_TRANSIENT);
    ridge_text_release(&text);
    return status;
}

/* -- inserting --------------------------------------------------------------------------------- */

static ridge_status insert_statement(ridge_ledger *ledger, const ridge_ledger_table *table,
                                     sqlite3_stmt **out, ridge_error *err)
{
    sqlite3_stmt **const slot = &ledger->inserts[table - ridge_ledger_table_at(0)];
    ridge_status status = RIDGE_OK;
    ridge_text sql;
    size_t i;

    if (*slot == NULL) {
        ridge_text_init(&sql);
        ridge_text_format(&sql, "INSERT INTO \"%s\" VALUES (?", table->name);
        for (i = 0; i < table->column_count + 1; i++)
            ridge_text_add(&sql, ", ?");
        ridge_text_add(&sql, ") ON CONFLICT (id) DO NOTHING");
        status = sql.failed ? ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for a row")
                            : ledger_prepare(ledger, sql.data, slot, err);
        ridge_text_release(&sql);
    }
    *out = *slot;
    return status;
}

/* Order of two values, the same in every ledger: unknown, numbers, texts, bytes. */
static int compare_values(sqlite3_value *a, sqlite3_value *b)
{
    static const int rank[] = {0, 1, 1, 2, 3, 0}; /* by SQLITE_INTEGER ... SQLITE_NULL */
    const int rank_a = rank[sqlite3_value_type(a)], rank_b = rank[sqlite3_value_type(b)];
    const int size_a = sqlite3_value_bytes(a), size_b = sqlite3_value_bytes(b);
    int order;

    if (rank_a != rank_b)
        return rank_a < rank_b ? -1 : 1;
    if (rank_a == 0)
        return 0;
    if (rank_a == 1) {
        const double x = sqlite3_value_double(a), y = sqlite3_value_double(b);

        return x < y ? -1 : x > y;
    }
    order = memcmp(sqlite3_value_blob(a), sqlite3_value_blob(b),
                   (size_t)(size_a < size_b ? size_a : size_b));
    return order != 0 ? order : (size_a > size_b) - (size_a < size_b);
}

/* Sets columns first ... last of a row to values of `from`, an open statement with the same columns
 * at from_first. */
static ridge_status overwrite(ridge_ledger *ledger, const ridge_ledger_table *table, size_t first,
                              size_t last, const char *id, sqlite3_stmt *from, int from_first,
                              ridge_error *err)
{
    sqlite3_stmt *update = NULL;
    ridge_status status;
    ridge_text sql;
    size_t i;

    ridge_text_init(&sql);
    ridge_text_format(&sql, "UPDATE \"%s\" SET ", table->name);
    for (i = first; i <= last; i++)
        ridge_text_format(&sql, "%s\"%s\" = ?", i > first ? ", " : "", table->columns[i].name);
    ridge_text_add(&sql, " WHERE id = ?");
    status = sql.failed ? ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for a row")
                        : ledger_prepare(ledger, sql.data, &update, err);
    for (i = first; status == RIDGE_OK && i <= last; i++)
        sqlite3_bind_value(update, (int)(i - first) + 1,
                           sqlite3_column_value(from, from_first + (int)i));
    if (status == RIDGE_OK) {
        sqlite3_bind_text(update, (int)(last - first) + 2, id, -1, SQLITE_TRANSIENT);
        if (sqlite3_step(update) != SQLITE_DONE)
            status = ledger_fail(ledger, "write to the ledger", err);
    }
    sqlite3_finalize(update);
    ridge_text_release(&sql);
    return status;
}

/* The row is there: columns that may have changed take the greater value, so that ledgers merge in
 * any order. The new values are given to SQLite and come back beside the stored ones. */
static ridge_status join_state(ridge_ledger *ledger, const ridge_ledger_table *table,
                               const ridge_node *object, const char *id, ridge_error *err)
{
    const int count = (int)table->column_count;
    sqlite3_stmt *both = NULL;
    ridge_status status = RIDGE_OK;
    ridge_record ignored = {NULL, RIDGE_ERR_INTERNAL}; /* takes nothing */
    ridge_text sql;
    size_t i, first;
    int code;

    ridge_text_init(&sql);
    ridge_text_add(&sql, "SELECT ");
    for (i = 0; i < table->column_count; i++)
        ridge_text_format(&sql, "\"%s\", ", table->columns[i].name);
    for (i = 0; i < table->column_count; i++)
        ridge_text_format(&sql, "%s?%zu", i > 0 ? ", " : "", i + 1);
    ridge_text_format(&sql, " FROM \"%s\" WHERE id = ?%zu", table->name, i + 1);
    status = sql.failed ? ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for a row")
                        : ledger_prepare(ledger, sql.data, &both, err);
    for (i = 0; status == RIDGE_OK && i < table->column_count; i++)
        status = take(table, &table->columns[i], ridge_node_member(object, table->columns[i].name),
                      &ignored, both, (int)i + 1, err);
    if (status == RIDGE_OK) {
        sqlite3_bind_text(both, count + 1, id, -1, SQLITE_TRANSIENT);
        code = sqlite3_step(both);
        if (code != SQLITE_ROW)
            status = ledger_fail(ledger, "read the ledger", err);
    }
    for (first = 0; status == RIDGE_OK && first < table->column_count; first = i) {
        int order = 0;

        for (i = first;
             i < table->column_count && (i == first || table->columns[i].is_with_previous); i++)
            if (order == 0)
                order = compare_values(sqlite3_column_value(both, (int)i),
                                       sqlite3_column_value(both, count + (int)i));
        if (table->columns[first].is_state && order < 0)
            status = overwrite(ledger, table, first, i - 1, id, both, count, err);
    }
    sqlite3_finalize(both);
    ridge_text_release(&sql);
    return status;
}

static bool has_state(const ridge_ledger_table *table)
{
    size_t i;

    for (i = 0; i < table->column_count; i++)
        if (table->columns[i].is_state)
            return true;
    return false;
}

static ridge_status table_of(const ridge_node *object, const ridge_ledger_table **out,
                             ridge_error *err)
{
    const char *const name = ridge_node_text(ridge_node_member(object, "t"));

    *out = NULL;
    if (name == NULL)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "no member \"t\" that names a table, as ridge-bench/1 has it");
    *out = ridge_ledger_table_find(name);
    if (*out == NULL)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "t is \"%.40s\", which is no table: ridge ledger schema lists them",
                          name);
    return RIDGE_OK;
}

ridge_status ledger_add_object(ridge_ledger *ledger, const ridge_node *object, char *id,
                               bool *added, ridge_error *err)
{
    static const ridge_record nothing = {NULL, RIDGE_ERR_INTERNAL};
    const ridge_node *const given = ridge_node_member(object, "id");
    const ridge_ledger_table *table;
    ridge_record record, ignored = nothing;
    sqlite3_stmt *insert = NULL;
    ridge_status status = table_of(object, &table, err);
    size_t i;

    *added = false;
    if (status == RIDGE_OK)
        status = insert_statement(ledger, table, &insert, err);
    if (status != RIDGE_OK)
        return status;
    ridge_record_begin(&record, table->name);
    for (i = 0; status == RIDGE_OK && i < table->column_count; i++)
        status = take(table, &table->columns[i], ridge_node_member(object, table->columns[i].name),
                      table->columns[i].is_state ? &ignored : &record, insert, (int)i + 2, err);
    if (status == RIDGE_OK)
        status = take_extra(table, object, &record, insert, (int)i + 2, err);
    {
        const ridge_status ended =
            ridge_record_end(&record, NULL, id, status == RIDGE_OK ? err : NULL);

        status = status == RIDGE_OK ? ended : status;
    }
    /* A line without an id, or with an empty one, gets it here. */
    if (status == RIDGE_OK && ridge_node_kind_of(given) != RIDGE_NODE_NULL &&
        (ridge_node_text(given) == NULL ||
         (ridge_node_text(given)[0] != '\0' && strcmp(ridge_node_text(given), id) != 0)))
        status = ridge_fail(err, RIDGE_ERR_FORMAT,
                            "%s \"%.32s\" has been changed: its content has the id %s", table->name,
                            ridge_node_text(given) != NULL ? ridge_node_text(given) : "?", id);
    if (status == RIDGE_OK) {
        sqlite3_bind_text(insert, 1, id, -1, SQLITE_TRANSIENT);
        if (sqlite3_step(insert) != SQLITE_DONE)
            status = ledger_fail(ledger, "write to the ledger", err);
        else
            *added = sqlite3_changes(ledger->database) > 0;
    }
    sqlite3_reset(insert);
    sqlite3_clear_bindings(insert);
    if (status == RIDGE_OK && !*added && has_state(table))
        status = join_state(ledger, table, object, id, err);
    return status;
}

static ridge_status check_header(const ridge_node *object, ridge_error *err)
{
    const char *const schema = ridge_node_text(ridge_node_member(object, "schema"));

    if (schema == NULL || strcmp(schema, "ridge-bench/1") != 0)
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED, "schema is %.40s, expected ridge-bench/1",
                          schema != NULL ? schema : "not given");
    return RIDGE_OK;
}

ridge_status ridge_ledger_import_line(ridge_ledger *ledger, const char *line, size_t length,
                                      ridge_error *err)
{
    char id[RIDGE_HASH_TEXT];
    ridge_document document;
    ridge_status status;
    const char *table;
    bool added, is_own;

    while (length > 0 && strchr(" \t\r\n", line[length - 1]) != NULL)
        length--;
    if (length == 0)
        return RIDGE_OK;
    status = ridge_document_parse_at_most(line, length, LEDGER_LINE_BYTES, &document, err);
    if (status != RIDGE_OK)
        return status;
    table = ridge_node_text(ridge_node_member(document.root, "t"));
    if (table != NULL && strcmp(table, "header") == 0) {
        status = check_header(document.root, err);
    } else {
        status = ledger_begin_own(ledger, &is_own, err);
        if (status == RIDGE_OK)
            status = ledger_end_own(ledger, is_own,
                                    ledger_add_object(ledger, document.root, id, &added, err), err);
    }
    ridge_document_release(&document);
    return status;
}

/* -- to a line --------------------------------------------------------------------------------- */

ridge_status ledger_select_all(ridge_ledger *ledger, const ridge_ledger_table *table,
                               sqlite3_stmt **out, ridge_error *err)
{
    ridge_status status;
    ridge_text sql;
    size_t i;

    *out = NULL;
    ridge_text_init(&sql);
    ridge_text_add(&sql, "SELECT id, ");
    for (i = 0; i < table->column_count; i++)
        ridge_text_format(&sql, "\"%s\", ", table->columns[i].name);
    ridge_text_format(&sql, "extra FROM \"%s\" ORDER BY id", table->name);
    status = sql.failed ? ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for a query")
                        : ledger_prepare(ledger, sql.data, out, err);
    ridge_text_release(&sql);
    return status;
}

static void give(const ridge_ledger_column *column, sqlite3_stmt *row, int at, ridge_record *record)
{
    if (sqlite3_column_type(row, at) == SQLITE_NULL)
        return;
    switch (column->type) {
    case RIDGE_LEDGER_TEXT:
        ridge_record_text(record, column->name, (const char *)sqlite3_column_text(row, at));
        break;
    case RIDGE_LEDGER_NUMBER:
        ridge_record_number(record, column->name, sqlite3_column_double(row, at));
        break;
    case RIDGE_LEDGER_INTEGER:
        ridge_record_integer(record, column->name, sqlite3_column_int64(row, at));
        break;
    case RIDGE_LEDGER_BOOL:
        ridge_record_bool(record, column->name, sqlite3_column_int(row, at) != 0);
        break;
    case RIDGE_LEDGER_BYTES:
        ridge_record_bytes(record, column->name, sqlite3_column_blob(row, at),
                           (size_t)sqlite3_column_bytes(row, at));
        break;
    }
}

static ridge_status give_extra(const char *text, size_t length, ridge_record *record,
                               ridge_error *err)
{
    const ridge_node *value;
    const void *position = NULL;
    const char *key;
    ridge_document document;
    const ridge_status status = ridge_document_parse(text, length, &document, err);

    if (status != RIDGE_OK)
        return status;
    while ((value = ridge_node_next(document.root, &position, &key)) != NULL)
        if (!is_bookkeeping(key))
            ridge_record_value(record, key, value);
    ridge_document_release(&document);
    return RIDGE_OK;
}

ridge_status ledger_row_line(const ridge_ledger_table *table, sqlite3_stmt *row, bool with_bytes,
                             ridge_text *out, ridge_error *err)
{
    const int extra = (int)table->column_count + 1;
    const char *const id = (const char *)sqlite3_column_text(row, 0);
    ridge_status status = RIDGE_OK;
    ridge_record record;
    ridge_error later;
    size_t i;

    ridge_record_begin(&record, table->name);
    for (i = 0; i < table->column_count; i++)
        if (with_bytes || !table->columns[i].is_state ||
            table->columns[i].type != RIDGE_LEDGER_BYTES)
            give(&table->columns[i], row, (int)i + 1, &record);
    if (sqlite3_column_type(row, extra) == SQLITE_TEXT)
        status = give_extra((const char *)sqlite3_column_text(row, extra),
                            (size_t)sqlite3_column_bytes(row, extra), &record, err);
    if (status != RIDGE_OK) {
        ridge_record_end_as(&record, "", NULL, &later);
        return status;
    }
    return ridge_record_end_as(&record, id != NULL ? id : "", out, err);
}

ridge_status ridge_ledger_export(ridge_ledger *ledger, FILE *stream, bool with_artefacts,
                                 ridge_error *err)
{
    const bool is_own = sqlite3_get_autocommit(ledger->database) != 0;
    ridge_status status;
    ridge_text line;
    size_t i;

    /* One state, or rows could refer to some that were written behind this. */
    status = is_own ? ledger_run(ledger, "BEGIN", "read the ledger", err) : RIDGE_OK;
    if (status != RIDGE_OK)
        return status;
    ridge_text_init(&line);
    fputs("{\"schema\":\"ridge-bench/1\",\"t\":\"header\"}\n", stream);
    for (i = 0; status == RIDGE_OK && i < ridge_ledger_table_count(); i++) {
        const ridge_ledger_table *const table = ridge_ledger_table_at(i);
        sqlite3_stmt *row = NULL;
        int code = SQLITE_DONE;

        status = ledger_select_all(ledger, table, &row, err);
        while (status == RIDGE_OK && (code = sqlite3_step(row)) == SQLITE_ROW) {
            ridge_text_clear(&line);
            status = ledger_row_line(table, row, with_artefacts, &line, err);
            if (status == RIDGE_OK && (fwrite(line.data, 1, line.length, stream) != line.length ||
                                       fputc('\n', stream) == EOF))
                status = ridge_fail(err, RIDGE_ERR_IO, "the export cannot be written");
        }
        if (status == RIDGE_OK && code != SQLITE_DONE)
            status = ledger_fail(ledger, "read the ledger", err);
        sqlite3_finalize(row);
    }
    if (is_own)
        ridge_ledger_rollback(ledger); /* nothing was written */
    ridge_text_release(&line);
    return status;
}
