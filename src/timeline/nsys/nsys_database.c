/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening a database that may be hostile, and reading a table of it once from its first row to its
 * last. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "timeline/nsys/nsys_internal.h"

enum {
    HEADER_BYTES = 100,
    OPERATIONS_STEP = 4096,
    LEAST_OPERATIONS = 1 << 22,
    OPERATIONS_PER_BYTE = 8, /* a row takes five bytes at least, and some forty to be read */
    ROW_BYTES = 1 << 20,     /* of a table of numbers, with what others have added */
};

/* -- opening ----------------------------------------------------------------------------------- */

/* The function that is called with each row of a scan. */
#define ROW_FUNCTION "ridge_row"

/* What reading needs: SELECT, columns of tables, the list of columns, the function of scans. Other
 * functions, recursion, attaching and every writing are refused. */
static int allow_reading(void *context, int action, const char *first, const char *second,
                         const char *schema, const char *trigger)
{
    (void)context, (void)schema, (void)trigger;
    if (action == SQLITE_SELECT || action == SQLITE_READ)
        return SQLITE_OK;
    if (action == SQLITE_FUNCTION)
        return strcmp(second, ROW_FUNCTION) == 0 ? SQLITE_OK : SQLITE_DENY;
    return action == SQLITE_PRAGMA && strcmp(first, "table_info") == 0 ? SQLITE_OK : SQLITE_DENY;
}

static int count_operations(void *context)
{
    nsys_database *const database = context;

    database->operations_left -= OPERATIONS_STEP;
    return database->operations_left <= 0;
}

/* The header's own count of pages; 0 when it does not tell. */
static uint64_t pages_in_header(const uint8_t *header, uint64_t size_bytes, uint64_t *present)
{
    const uint32_t half = (uint32_t)header[16] << 8 | header[17];
    const uint32_t page_bytes = half == 1 ? 65536 : half;
    const uint64_t count = (uint64_t)header[28] << 24 | (uint64_t)header[29] << 16 |
                           (uint64_t)header[30] << 8 | header[31];
    const bool is_current = memcmp(header + 24, header + 92, 4) == 0;

    *present = page_bytes >= 512 ? size_bytes / page_bytes : 0;
    return is_current && page_bytes >= 512 ? count : 0;
}

static ridge_status look_at_header(nsys_database *database, const uint8_t *header,
                                   uint64_t size_bytes, ridge_error *err)
{
    if (size_bytes < HEADER_BYTES)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "cut in the header of an SQLite database: %" PRIu64 " bytes", size_bytes);
    database->size_bytes = size_bytes;
    database->expected_page_count = pages_in_header(header, size_bytes, &database->page_count);
    database->application = (uint32_t)header[68] << 24 | (uint32_t)header[69] << 16 |
                            (uint32_t)header[70] << 8 | header[71];
    database->is_cut = database->expected_page_count > database->page_count;
    return RIDGE_OK;
}

/* A database without its last pages, or with a damaged entry in its schema, opens only when the
 * schema may be repaired, which the defence against writing forbids. There is no writing here. */
static void tolerate(nsys_database *database)
{
    const int is_damaged = database->is_cut || database->is_damaged;

    sqlite3_db_config(database->handle, SQLITE_DBCONFIG_DEFENSIVE, !is_damaged, NULL);
    sqlite3_db_config(database->handle, SQLITE_DBCONFIG_WRITABLE_SCHEMA, is_damaged, NULL);
}

static void harden(nsys_database *database)
{
    static const int off[] = {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER,
                              SQLITE_DBCONFIG_ENABLE_VIEW,    SQLITE_DBCONFIG_DQS_DDL,
                              SQLITE_DBCONFIG_DQS_DML,        SQLITE_DBCONFIG_ENABLE_FKEY};
    const uint64_t most = INT64_MAX / OPERATIONS_PER_BYTE;
    const uint64_t bytes = database->size_bytes < most ? database->size_bytes : most;

    for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++)
        sqlite3_db_config(database->handle, off[i], 0, NULL);
    tolerate(database);
    sqlite3_limit(database->handle, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(database->handle, SQLITE_LIMIT_WORKER_THREADS, 0);
    database->operations_left = LEAST_OPERATIONS + (int64_t)bytes * OPERATIONS_PER_BYTE;
    database->text_left = 4096 + 4 * (int64_t)bytes; /* twice, and UTF-16 may double */
    sqlite3_progress_handler(database->handle, OPERATIONS_STEP, count_operations, database);
}

static ridge_status describe(const nsys_database *database, ridge_error *err)
{
    const int code = sqlite3_errcode(database->handle) & 0xff;

    if (code == SQLITE_NOMEM)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    if (code == SQLITE_IOERR || code == SQLITE_CANTOPEN)
        return ridge_fail(err, RIDGE_ERR_IO, "cannot be read: %s",
                          sqlite3_errmsg(database->handle));
    return ridge_fail(err, RIDGE_ERR_FORMAT, "a damaged SQLite database: %s",
                      sqlite3_errmsg(database->handle));
}

/* Reads the schema; what is wrong with the database as a whole shows here. */
static bool has_schema(nsys_database *database)
{
    sqlite3_stmt *statement = NULL;
    const int code = sqlite3_prepare_v2(database->handle, "SELECT rootpage FROM sqlite_schema", -1,
                                        &statement, NULL);

    sqlite3_finalize(statement);
    return code == SQLITE_OK;
}

static void step_row(sqlite3_context *context, int count, sqlite3_value **cells);

static void end_rows(sqlite3_context *context)
{
    sqlite3_result_null(context);
}

static ridge_status finish_open(nsys_database *database, ridge_error *err)
{
    harden(database);
    sqlite3_exec(database->handle, "PRAGMA query_only = 1", NULL, NULL, NULL);
    /* Each page is read once: a map of the file is no faster, and counts as memory. */
    sqlite3_exec(database->handle, "PRAGMA mmap_size = 0", NULL, NULL, NULL);
    if (sqlite3_create_function_v2(database->handle, ROW_FUNCTION, -1,
                                   SQLITE_UTF8 | SQLITE_DIRECTONLY, database, NULL, step_row,
                                   end_rows, NULL) != SQLITE_OK)
        return describe(database, err);
    sqlite3_set_authorizer(database->handle, allow_reading, NULL);
    if (has_schema(database))
        return RIDGE_OK;
    if ((sqlite3_errcode(database->handle) & 0xff) == SQLITE_CORRUPT && !database->is_damaged) {
        database->is_damaged = true;
        tolerate(database);
        if (has_schema(database))
            return RIDGE_OK;
    }
    return describe(database, err);
}

static bool append_escaped(ridge_text *uri, const char *path)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-";

    ridge_text_add(uri, path[0] == '/' ? "file://" : "file:");
    for (; *path != '\0'; path++) {
        if (strchr(plain, *path) != NULL)
            ridge_text_add_bytes(uri, path, 1);
        else
            ridge_text_format(uri, "%%%02x", (unsigned)(unsigned char)*path);
    }
    ridge_text_add(uri, "?mode=ro&immutable=1");
    return !uri->failed;
}

ridge_status nsys_open_file(nsys_database *database, const char *path, ridge_error *err)
{
    const int flags =
        SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    ridge_file file = {0};
    ridge_text uri;
    ridge_status status = ridge_file_open(path, &file, err);

    *database = (nsys_database){0};
    ridge_text_init(&uri);
    if (status == RIDGE_OK)
        status = look_at_header(database, file.bytes.data, file.bytes.size, err);
    ridge_file_release(&file);
    if (status == RIDGE_OK && !append_escaped(&uri, path))
        status = ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    if (status == RIDGE_OK &&
        sqlite3_open_v2(uri.data, &database->handle, flags, NULL) != SQLITE_OK)
        status = describe(database, err);
    if (status == RIDGE_OK)
        status = finish_open(database, err);
    ridge_text_release(&uri);
    if (status != RIDGE_OK)
        nsys_close(database);
    return status;
}

/* A database that was written with a log says so in its header, and one in memory cannot have a
 * log: a copy says otherwise. The engine frees it. */
static unsigned char *without_log(const uint8_t *data, size_t size_bytes)
{
    unsigned char *const copy = sqlite3_malloc64(size_bytes);

    if (copy != NULL) {
        memcpy(copy, data, size_bytes);
        copy[18] = copy[19] = 1;
    }
    return copy;
}

ridge_status nsys_open_bytes(nsys_database *database, const void *data, size_t size_bytes,
                             ridge_error *err)
{
    const uint8_t *const bytes = data;
    unsigned char *used;
    unsigned flags = SQLITE_DESERIALIZE_READONLY;
    ridge_status status;

    *database = (nsys_database){0};
    status = look_at_header(database, bytes, size_bytes, err);
    if (status != RIDGE_OK)
        return status;
    if (sqlite3_open_v2(":memory:", &database->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK) {
        status = describe(database, err);
        nsys_close(database);
        return status;
    }
    memcpy(&used, &data, sizeof(used)); /* read only, as the flag says */
    if (bytes[18] == 2 || bytes[19] == 2) {
        used = without_log(bytes, size_bytes);
        flags |= SQLITE_DESERIALIZE_FREEONCLOSE;
    }
    if (used == NULL)
        status = ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    else if (sqlite3_deserialize(database->handle, "main", used, (sqlite3_int64)size_bytes,
                                 (sqlite3_int64)size_bytes, flags) != SQLITE_OK)
        status = describe(database, err);
    if (status == RIDGE_OK)
        status = finish_open(database, err);
    if (status != RIDGE_OK)
        nsys_close(database);
    return status;
}

void nsys_close(nsys_database *database)
{
    sqlite3_close(database->handle);
    *database = (nsys_database){0};
}

/* -- the schema -------------------------------------------------------------------------------- */

bool nsys_has_table(nsys_database *database, const char *name)
{
    sqlite3_stmt *statement = NULL;
    bool found = false;

    /* No condition in SQL: comparing here costs nothing and runs nothing. A virtual table has no
     * page of its own. */
    if (sqlite3_prepare_v2(database->handle, "SELECT type, name, rootpage FROM sqlite_schema", -1,
                           &statement, NULL) == SQLITE_OK)
        while (!found && sqlite3_step(statement) == SQLITE_ROW) {
            const char *const type = (const char *)sqlite3_column_text(statement, 0);
            const char *const other = (const char *)sqlite3_column_text(statement, 1);

            found = type != NULL && other != NULL && strcmp(type, "table") == 0 &&
                    sqlite3_stricmp(other, name) == 0 && sqlite3_column_int(statement, 2) > 0;
        }
    sqlite3_finalize(statement);
    return found;
}

/* Its place in a row; -1: there is none. */
static int number_of_column(nsys_database *database, const char *table, const char *column)
{
    sqlite3_stmt *statement = NULL;
    char pragma[128];
    int number = -1;

    snprintf(pragma, sizeof(pragma), "PRAGMA table_info(\"%s\")", table);
    if (sqlite3_prepare_v2(database->handle, pragma, -1, &statement, NULL) == SQLITE_OK)
        while (number < 0 && sqlite3_step(statement) == SQLITE_ROW) {
            const char *const name = (const char *)sqlite3_column_text(statement, 1);

            if (name != NULL && sqlite3_stricmp(name, column) == 0)
                number = sqlite3_column_int(statement, 0);
        }
    sqlite3_finalize(statement);
    return number;
}

bool nsys_has_column(nsys_database *database, const char *table, const char *column)
{
    return number_of_column(database, table, column) >= 0;
}

bool nsys_first_is_number(nsys_database *database, const char *table, const char *column)
{
    sqlite3_stmt *statement = NULL;
    char query[128];
    bool is_number = true;

    if (!nsys_has_column(database, table, column))
        return false;
    snprintf(query, sizeof(query), "SELECT \"%s\" FROM \"%s\" LIMIT 1", column, table);
    if (sqlite3_prepare_v2(database->handle, query, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        is_number = sqlite3_column_type(statement, 0) == SQLITE_INTEGER;
    sqlite3_finalize(statement);
    return is_number;
}

/* -- scanning ---------------------------------------------------------------------------------- */

/* A statement that hands out rows and values one by one spends as long on handing out as on reading.
 * One aggregate over the table takes each row in a call of ours instead. */
typedef struct nsys_scanning {
    nsys_reader *reader;
    const nsys_table *table;
    nsys_row row;
    int result_index[NSYS_COLUMNS];
    uint8_t columns[NSYS_COLUMNS]; /* that exist, in the order of cells after the first */
    unsigned column_count;
    uint64_t count; /* rows met */
    bool is_stopped;
} nsys_scanning;

/* The columns that exist. False: one that every version has is missing. */
static bool choose_columns(nsys_scanning *scanning)
{
    nsys_reader *const reader = scanning->reader;
    const nsys_table *const table = scanning->table;
    int last = -1;

    for (unsigned i = 0; i < NSYS_COLUMNS && table->columns[i] != NULL; i++) {
        const int number = number_of_column(&reader->database, table->name, table->columns[i]);
        unsigned *const count = &scanning->column_count;

        if (number < 0 && (table->required >> i & 1) != 0) {
            trace_partial(reader->trace, "table %s has no column %s", table->name,
                          table->columns[i]);
            return false;
        }
        if (number < 0)
            continue;
        scanning->columns[(*count)++] = (uint8_t)i;
        if (number <= last)
            continue;
        /* The engine finds its way to a column past all before it, and remembers them: the last one
         * first, and it goes there once instead of step by step. */
        last = number;
        scanning->columns[*count - 1] = scanning->columns[0];
        scanning->columns[0] = (uint8_t)i;
    }
    return true;
}

static void write_query(nsys_scanning *scanning, ridge_text *sql)
{
    const nsys_table *const table = scanning->table;

    for (unsigned i = 0; i < NSYS_COLUMNS; i++)
        scanning->result_index[i] = -1;
    ridge_text_add(sql, "SELECT " ROW_FUNCTION "(rowid");
    for (unsigned i = 0; i < scanning->column_count; i++) {
        scanning->result_index[scanning->columns[i]] = (int)i + 1;
        ridge_text_format(sql, ", \"%s\"", table->columns[scanning->columns[i]]);
    }
    /* In order of rows, whatever index would do. */
    ridge_text_format(sql, ") FROM \"%s\" NOT INDEXED", table->name);
}

/* False: a column holds what it must not. */
static bool fill(nsys_scanning *scanning, sqlite3_value **cells)
{
    const uint8_t *const columns = scanning->columns;
    const unsigned count = scanning->column_count;
    const uint32_t texts = scanning->table->text;
    nsys_row *const row = &scanning->row;
    uint32_t has = 0;

    for (unsigned i = 0; i < count; i++) {
        const unsigned column = columns[i];
        const bool is_text = (texts >> column & 1) != 0;
        const int type = sqlite3_value_type(cells[i + 1]);

        if (type == SQLITE_NULL)
            continue;
        if (type != (is_text ? SQLITE_TEXT : SQLITE_INTEGER))
            return false;
        if (!is_text)
            row->values[column] = sqlite3_value_int64(cells[i + 1]);
        has |= 1u << column;
    }
    row->cells = cells;
    row->has = has;
    return (has & scanning->table->required) == scanning->table->required;
}

static void step_row(sqlite3_context *context, int count, sqlite3_value **cells)
{
    const nsys_database *const database = sqlite3_user_data(context);
    nsys_scanning *const scanning = database->scanning;
    const int64_t rowid = sqlite3_value_int64(cells[0]);

    /* A page that stands in the tree twice would be read as often as its maker likes. */
    if (scanning == NULL || count != (int)scanning->column_count + 1 ||
        scanning->reader->trace->failed || database->text_left < 0 ||
        (scanning->count > 0 && rowid <= scanning->row.rowid)) {
        if (scanning != NULL)
            scanning->is_stopped = true;
        sqlite3_result_error_code(context, SQLITE_ABORT);
        return;
    }
    scanning->row.rowid = rowid;
    scanning->count++;
    if (fill(scanning, cells))
        scanning->table->row(scanning->reader, &scanning->row);
    else
        scanning->reader->trace->info.skipped_count++;
}

/* Why a scan ended that did not come to the last row. */
static void end_early(const nsys_scanning *scanning, int code)
{
    nsys_reader *const reader = scanning->reader;
    const char *why = sqlite3_errstr(code);

    if (code == SQLITE_NOMEM) {
        reader->trace->failed = true;
        return;
    }
    if (scanning->is_stopped)
        why = reader->database.text_left < 0 ? "more text than the file has bytes"
                                             : "rows out of order";
    trace_partial(reader->trace, "table %s: %s after %" PRIu64 " rows", scanning->table->name, why,
                  scanning->count);
}

static int run_query(nsys_database *database, nsys_scanning *scanning, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(database->handle, sql, -1, &statement, NULL);

    if (code == SQLITE_OK) {
        database->scanning = scanning;
        code = sqlite3_step(statement);
        database->scanning = NULL;
    }
    sqlite3_finalize(statement);
    return code & 0xff;
}

void nsys_scan(nsys_reader *reader, const nsys_table *table)
{
    nsys_database *const database = &reader->database;
    const uint64_t size = database->size_bytes;
    const uint64_t largest = table->text == 0 && size > ROW_BYTES ? ROW_BYTES : size;
    nsys_scanning scanning = {.reader = reader, .table = table};
    ridge_text sql;

    scanning.row.result_index = scanning.result_index;
    if (reader->trace->failed || !nsys_has_table(database, table->name) ||
        !choose_columns(&scanning))
        return;
    ridge_text_init(&sql);
    write_query(&scanning, &sql);
    reader->trace->failed = sql.failed;
    if (!sql.failed) {
        const int before = sqlite3_limit(database->handle, SQLITE_LIMIT_LENGTH, -1);
        int code;

        if (largest < (uint64_t)before)
            sqlite3_limit(database->handle, SQLITE_LIMIT_LENGTH, (int)largest);
        code = run_query(database, &scanning, sql.data);
        if (code != SQLITE_ROW && !reader->trace->failed)
            end_early(&scanning, code);
        sqlite3_limit(database->handle, SQLITE_LIMIT_LENGTH, before);
    }
    ridge_text_release(&sql);
}

const char *nsys_row_text(nsys_reader *reader, const nsys_row *row, unsigned column, size_t *length)
{
    const char *text;

    *length = 0;
    if (!nsys_has(row, column))
        return "";
    text = (const char *)sqlite3_value_text(row->cells[row->result_index[column]]);
    if (text == NULL)
        return "";
    *length = (size_t)sqlite3_value_bytes(row->cells[row->result_index[column]]);
    reader->database.text_left -= (int64_t)*length;
    return text;
}

bool nsys_text_at(nsys_reader *reader, sqlite3_stmt *statement, int64_t rowid, const char **text,
                  size_t *length)
{
    int code;

    sqlite3_reset(statement);
    sqlite3_bind_int64(statement, 1, rowid);
    code = reader->database.text_left < 0 ? SQLITE_CORRUPT : sqlite3_step(statement) & 0xff;
    if (code == SQLITE_NOMEM)
        reader->trace->failed = true;
    if (code != SQLITE_ROW) {
        if (code != SQLITE_DONE)
            trace_partial(reader->trace, "strings: %s", sqlite3_errstr(code));
        return false;
    }
    if (sqlite3_column_type(statement, 0) != SQLITE_TEXT)
        return false;
    *text = (const char *)sqlite3_column_text(statement, 0);
    *length = (size_t)sqlite3_column_bytes(statement, 0);
    reader->database.text_left -= (int64_t)*length;
    return *text != NULL;
}
