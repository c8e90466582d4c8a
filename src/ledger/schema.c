/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of tables as SQL. */
#include "ledger_internal.h"

static const char *const type_names[] = {"text", "number", "integer", "bool", "bytes"};
static const char *const sql_types[] = {"TEXT", "REAL", "INTEGER", "INTEGER", "BLOB"};

const char *ridge_ledger_type_name(ridge_ledger_type type)
{
    return type_names[type];
}

/* CHECK (state IN ('open', 'kept')) of "open|kept". */
static void add_choices(ridge_text *sql, const ridge_ledger_column *column)
{
    const char *at = column->choices;

    ridge_text_format(sql, " CHECK (\"%s\" IN (", column->name);
    while (*at != '\0') {
        const size_t length = strcspn(at, "|");

        ridge_text_format(sql, "%s'%.*s'", at == column->choices ? "" : ", ", (int)length, at);
        at += length + (at[length] == '|' ? 1 : 0);
    }
    ridge_text_add(sql, "))");
}

static void add_column(ridge_text *sql, const ridge_ledger_column *column)
{
    ridge_text_format(sql, ", \"%s\" %s", column->name, sql_types[column->type]);
    if (column->is_needed)
        ridge_text_add(sql, " NOT NULL");
    if (column->choices != NULL)
        add_choices(sql, column);
    /* Deferred: lines of a file may come in any order, the commit counts. */
    if (column->references != NULL)
        ridge_text_format(sql, " REFERENCES \"%s\" (id) DEFERRABLE INITIALLY DEFERRED",
                          column->references);
}

static void add_table(ridge_text *sql, const ridge_ledger_table *table)
{
    size_t i;

    ridge_text_format(sql, "CREATE TABLE \"%s\" (id TEXT PRIMARY KEY NOT NULL", table->name);
    for (i = 0; i < table->column_count; i++)
        add_column(sql, &table->columns[i]);
    ridge_text_add(sql, ", extra TEXT);\n");
    for (i = 0; i < table->column_count; i++)
        if (table->columns[i].references != NULL)
            ridge_text_format(sql, "CREATE INDEX \"%s_%s\" ON \"%s\" (\"%s\");\n", table->name,
                              table->columns[i].name, table->name, table->columns[i].name);
}

static void add_views(ridge_text *sql, const char *where)
{
    size_t i;

    for (i = 0; ridge_ledger_view_at(i) != NULL; i++)
        ridge_text_format(sql, "CREATE %sVIEW \"%s\" AS %s;\n", where,
                          ridge_ledger_view_at(i)->name, ridge_ledger_view_at(i)->sql);
}

ridge_status ledger_shadow_views(ridge_ledger *ledger, ridge_error *err)
{
    ridge_status status;
    ridge_text sql;

    ridge_text_init(&sql);
    add_views(&sql, "TEMP ");
    status = sql.failed ? ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for a ledger")
                        : ledger_run(ledger, sql.data, "open the ledger", err);
    ridge_text_release(&sql);
    return status;
}

ridge_status ledger_create_schema(ridge_ledger *ledger, ridge_error *err)
{
    enum { MODE_PAUSE_MS = 10 };
    ridge_text sql;
    ridge_status status;
    int code, waited_ms = 0;
    size_t i;

    /* Outside a transaction; it stays with the file. When two change the mode at once, SQLite says
     * busy without asking the busy handler. */
    for (;;) {
        code = sqlite3_exec(ledger->database, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
        if ((code & 0xff) != SQLITE_BUSY || waited_ms >= ledger->wait_ms)
            break;
        waited_ms += sqlite3_sleep(MODE_PAUSE_MS);
    }
    if (code != SQLITE_OK)
        return ledger_fail(ledger, "make a ledger", err);
    ridge_text_init(&sql);
    ridge_text_add(&sql, "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);\n"
                         "INSERT INTO meta VALUES ('schema', 'ridge-ledger/1');\n");
    for (i = 0; i < ridge_ledger_table_count(); i++)
        add_table(&sql, ridge_ledger_table_at(i));
    add_views(&sql, "");
    ridge_text_format(&sql, "PRAGMA application_id = %d; PRAGMA user_version = %d;",
                      LEDGER_APPLICATION, LEDGER_SCHEMA_VERSION);
    status = sql.failed ? ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for a ledger")
                        : ridge_ledger_begin(ledger, err);
    if (status == RIDGE_OK) {
        char version[8];
        bool found;

        /* Another process may have made it while this one waited. */
        status = ledger_text_of(ledger,
                                "SELECT value FROM pragma_user_version, (SELECT 1 AS value) "
                                "WHERE user_version > 0",
                                NULL, 0, version, sizeof(version), &found, err);
        if (status == RIDGE_OK && !found)
            status = ledger_run(ledger, sql.data, "make a ledger", err);
        status = ledger_end_own(ledger, true, status, err);
    }
    ridge_text_release(&sql);
    return status;
}
