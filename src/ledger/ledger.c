/* SPDX-License-Identifier: Apache-2.0
 *
 * A ledger as a file: opening it, transactions, and what SQLite refuses in words of what to do. */
#include "ledger_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* -- refusals ---------------------------------------------------------------------------------- */

static const struct refusal {
    int code; /* primary result code of SQLite */
    ridge_status status;
    const char *message;
} refusals[] = {
    {SQLITE_LOCKED, RIDGE_ERR_IO, "in use by another query of this process"},
    {SQLITE_FULL, RIDGE_ERR_IO,
     "the disk is full: nothing of this was written, what was there is intact"},
    {SQLITE_READONLY, RIDGE_ERR_IO, "may not be written: change its mode, or copy it"},
    {SQLITE_CANTOPEN, RIDGE_ERR_IO, "cannot be opened"},
    {SQLITE_PERM, RIDGE_ERR_IO, "may not be read"},
    {SQLITE_NOTADB, RIDGE_ERR_FORMAT, "no ledger: not an SQLite database"},
    {SQLITE_ERROR, RIDGE_ERR_FORMAT,
     "damaged, or its tables are not those of a ledger: take a copy or an export of it"},
    {SQLITE_CORRUPT, RIDGE_ERR_FORMAT,
     "damaged: take a copy or an export of it, or save what can be by "
     "sqlite3 FILE .recover | sqlite3 NEW"},
    {SQLITE_TOOBIG, RIDGE_ERR_OVERFLOW, "a value is too large for the ledger"},
    {SQLITE_NOMEM, RIDGE_ERR_OUT_OF_MEMORY, "out of memory"},
};

/* Why a write failed; NULL: it was none. SQLITE_FULL is what SQLite itself found out: readers too need
 * a file beside the ledger, and what its size is refused for only the system knows. */
static const char *write_refusal(ridge_ledger *ledger, int code)
{
    const int number = ledger->database != NULL ? sqlite3_system_errno(ledger->database) : 0;

    if ((code & 0xff) != SQLITE_IOERR)
        return NULL;
    if (number == ENOSPC)
        return "the disk is full";
    if (number == EDQUOT)
        return "the quota of the disk is used up";
    return code == SQLITE_IOERR_WRITE || code == SQLITE_IOERR_SHMSIZE || code == SQLITE_IOERR_FSYNC
               ? "the system refused to write"
               : NULL;
}

ridge_status ledger_fail(ridge_ledger *ledger, const char *doing, ridge_error *err)
{
    const int code = ledger->database != NULL ? sqlite3_extended_errcode(ledger->database) : 7;
    const char *const refusal = write_refusal(ledger, code);
    size_t i;

    if (refusal != NULL)
        return ridge_fail(err, RIDGE_ERR_IO,
                          "cannot %s: %s: nothing of this was written, what was there is intact",
                          doing, refusal);
    if ((code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_PROTOCOL)
        return ridge_fail(
            err, RIDGE_ERR_IO,
            "cannot %s: locked by another process, tried for %g s; try again when that "
            "has ended (fuser FILE names it)",
            doing, ledger->wait_ms / 1e3);
    for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
        if (refusals[i].code == (code & 0xff))
            return ridge_fail(err, refusals[i].status, "cannot %s: %s", doing, refusals[i].message);
    return ridge_fail(err,
                      (code & 0xff) == SQLITE_IOERR        ? RIDGE_ERR_IO
                      : (code & 0xff) == SQLITE_CONSTRAINT ? RIDGE_ERR_FORMAT
                                                           : RIDGE_ERR_INTERNAL,
                      "cannot %s: %s", doing, sqlite3_errmsg(ledger->database));
}

ridge_status ledger_run(ridge_ledger *ledger, const char *sql, const char *doing, ridge_error *err)
{
    if (sqlite3_exec(ledger->database, sql, NULL, NULL, NULL) != SQLITE_OK)
        return ledger_fail(ledger, doing, err);
    return RIDGE_OK;
}

ridge_status ledger_prepare(ridge_ledger *ledger, const char *sql, sqlite3_stmt **out,
                            ridge_error *err)
{
    if (sqlite3_prepare_v2(ledger->database, sql, -1, out, NULL) != SQLITE_OK)
        return ledger_fail(ledger, "read the ledger", err);
    return RIDGE_OK;
}

ridge_status ledger_prepare_with(ridge_ledger *ledger, const char *sql, const char *const *values,
                                 size_t count, sqlite3_stmt **out, ridge_error *err)
{
    ridge_status status = ledger_prepare(ledger, sql, out, err);
    size_t i;

    for (i = 0; status == RIDGE_OK && i < count; i++)
        if (sqlite3_bind_text(*out, (int)i + 1, values[i], -1, SQLITE_TRANSIENT) != SQLITE_OK)
            status = ledger_fail(ledger, "read the ledger", err);
    if (status != RIDGE_OK) {
        sqlite3_finalize(*out);
        *out = NULL;
    }
    return status;
}

ridge_status ledger_text_of(ridge_ledger *ledger, const char *sql, const char *const *values,
                            size_t count, char *out, size_t size, bool *found, ridge_error *err)
{
    sqlite3_stmt *statement = NULL;
    ridge_status status = ledger_prepare_with(ledger, sql, values, count, &statement, err);
    const char *text;
    int code;

    *found = false;
    out[0] = '\0';
    if (status != RIDGE_OK)
        return status;
    code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        text = (const char *)sqlite3_column_text(statement, 0);
        *found = text != NULL;
        snprintf(out, size, "%s", text != NULL ? text : "");
    } else if (code != SQLITE_DONE) {
        status = ledger_fail(ledger, "read the ledger", err);
    }
    sqlite3_finalize(statement);
    return status;
}

void ledger_set_wait(ridge_ledger *ledger, int wait_ms)
{
    ledger->wait_ms = wait_ms;
    sqlite3_busy_timeout(ledger->database, wait_ms);
}

/* -- opening ----------------------------------------------------------------------------------- */

/* SQLite says "cannot open" for everything: the system knows why. Also makes the file of a new
 * ledger, so that two processes that do so at once agree on one. */
static ridge_status try_file(const char *path, ridge_ledger_mode mode, ridge_error *err)
{
    const int flags = mode == RIDGE_LEDGER_READ     ? O_RDONLY
                      : mode == RIDGE_LEDGER_CREATE ? O_RDWR | O_CREAT
                                                    : O_RDWR;
    struct stat info;
    int descriptor;

    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return ridge_fail(err, RIDGE_ERR_IO, "no ledger: %s, expected a file",
                          S_ISDIR(info.st_mode) ? "a folder" : "a pipe, socket or device");
    descriptor = open(path, flags | O_CLOEXEC | O_NONBLOCK, 0666);
    if (descriptor < 0)
        return ridge_fail(err, RIDGE_ERR_IO, "cannot be %s: %s",
                          mode == RIDGE_LEDGER_READ ? "read" : "written", strerror(errno));
    close(descriptor);
    return RIDGE_OK;
}

static int number_of(sqlite3 *database, const char *pragma, int *out)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(database, pragma, -1, &statement, NULL);

    if (code == SQLITE_OK) {
        code = sqlite3_step(statement);
        if (code == SQLITE_ROW) {
            *out = sqlite3_column_int(statement, 0);
            code = SQLITE_OK;
        }
    }
    sqlite3_finalize(statement);
    return code;
}

/* That it is a ledger, of a schema that is known; an empty file becomes one. All of it is read in one
 * transaction: another process that makes the ledger meanwhile has made nothing or all of it. */
static ridge_status check_schema(ridge_ledger *ledger, ridge_ledger_mode mode, ridge_error *err)
{
    int application = 0, version = 0, objects = 0;

    if (sqlite3_exec(ledger->database, "BEGIN", NULL, NULL, NULL) != SQLITE_OK ||
        number_of(ledger->database, "PRAGMA application_id", &application) != SQLITE_OK ||
        number_of(ledger->database, "PRAGMA user_version", &version) != SQLITE_OK ||
        number_of(ledger->database, "SELECT count(*) FROM sqlite_schema", &objects) != SQLITE_OK ||
        sqlite3_exec(ledger->database, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        return ledger_fail(ledger, "read the ledger", err);
    if (application == 0 && objects == 0 && mode == RIDGE_LEDGER_CREATE)
        return ledger_create_schema(ledger, err);
    if (application == 0 && objects == 0)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "no ledger: an empty file");
    if (application != LEDGER_APPLICATION)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "no ledger: an SQLite database of something else");
    if (version > LEDGER_SCHEMA_VERSION)
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "of schema %d, this ridge knows up to %d: a newer ridge reads it",
                          version, LEDGER_SCHEMA_VERSION);
    return RIDGE_OK;
}

/* Readers open for writing where they may: only then the last one to leave tidies away the files
 * -wal and -shm. Where the folder may not be written, SQLite reads the file as one that does not
 * change. */
static int open_database(const char *path, ridge_ledger_mode mode, sqlite3 **out)
{
    char *uri;
    int code = sqlite3_open_v2(path, out, SQLITE_OPEN_READWRITE | SQLITE_OPEN_EXRESCODE, NULL);
    int objects;

    if (mode != RIDGE_LEDGER_READ ||
        (code == SQLITE_OK &&
         number_of(*out, "SELECT count(*) FROM sqlite_schema", &objects) == SQLITE_OK))
        return code;
    code = sqlite3_extended_errcode(*out) & 0xff;
    if (code != SQLITE_CANTOPEN && code != SQLITE_READONLY)
        return code == SQLITE_BUSY ? SQLITE_OK : code;
    sqlite3_close(*out);
    *out = NULL;
    uri = sqlite3_mprintf("file:%q?immutable=1", path);
    if (uri == NULL)
        return SQLITE_NOMEM;
    code = sqlite3_open_v2(uri, out, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_EXRESCODE,
                           NULL);
    sqlite3_free(uri);
    return code;
}

/* The functions that the views use: not every SQLite is built with them. */
static void exponential(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    if (sqlite3_value_type(values[0]) != SQLITE_NULL)
        sqlite3_result_double(context, exp(sqlite3_value_double(values[0])));
}

static void logarithm(sqlite3_context *context, int count, sqlite3_value **values)
{
    const double value = sqlite3_value_double(values[0]);

    (void)count;
    if (sqlite3_value_type(values[0]) != SQLITE_NULL && value > 0)
        sqlite3_result_double(context, log(value));
}

static void square_root(sqlite3_context *context, int count, sqlite3_value **values)
{
    const double value = sqlite3_value_double(values[0]);

    (void)count;
    if (sqlite3_value_type(values[0]) != SQLITE_NULL && value >= 0)
        sqlite3_result_double(context, sqrt(value));
}

static int add_functions(sqlite3 *database)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    int code = sqlite3_create_function(database, "exp", 1, flags, NULL, exponential, NULL, NULL);

    if (code == SQLITE_OK)
        code = sqlite3_create_function(database, "ln", 1, flags, NULL, logarithm, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_create_function(database, "sqrt", 1, flags, NULL, square_root, NULL, NULL);
    return code;
}

ridge_status ridge_ledger_open(const char *path, ridge_ledger_mode mode, ridge_ledger **out,
                               ridge_error *err)
{
    const bool in_memory = strcmp(path, ":memory:") == 0;
    ridge_ledger *ledger;
    ridge_status status;

    *out = NULL;
    status = in_memory ? RIDGE_OK : try_file(path, mode, err);
    if (status != RIDGE_OK)
        return status;
    ledger = ridge_calloc(1, sizeof(*ledger));
    if (ledger == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for a ledger");
    if (open_database(path, mode, &ledger->database) != SQLITE_OK ||
        add_functions(ledger->database) != SQLITE_OK)
        status = ledger_fail(ledger, "open the ledger", err);
    if (status == RIDGE_OK)
        ledger_set_wait(ledger, LEDGER_WAIT_MS);
    if (status == RIDGE_OK)
        status = check_schema(ledger, mode, err);
    if (status == RIDGE_OK)
        status = ledger_shadow_views(ledger, err);
    if (status == RIDGE_OK)
        status = ledger_run(ledger,
                            mode == RIDGE_LEDGER_READ
                                ? "PRAGMA foreign_keys = ON; PRAGMA query_only = ON; BEGIN"
                                : "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL",
                            "open the ledger", err);
    if (status != RIDGE_OK) {
        ridge_ledger_free(ledger);
        return status;
    }
    ledger->in_transaction = mode == RIDGE_LEDGER_READ;
    *out = ledger;
    return RIDGE_OK;
}

void ridge_ledger_free(ridge_ledger *ledger)
{
    size_t i;

    if (ledger == NULL)
        return;
    for (i = 0; i < LEDGER_TABLES; i++)
        sqlite3_finalize(ledger->inserts[i]);
    sqlite3_close(ledger->database);
    ridge_free(ledger);
}

/* -- transactions ------------------------------------------------------------------------------ */

ridge_status ridge_ledger_begin(ridge_ledger *ledger, ridge_error *err)
{
    /* IMMEDIATE: who would wait for the lock waits here, before anything was done. */
    const ridge_status status = ledger_run(ledger, "BEGIN IMMEDIATE", "write to the ledger", err);

    ledger->in_transaction = status == RIDGE_OK;
    return status;
}

/* Which row refers to one that is not there. */
static ridge_status say_missing(ridge_ledger *ledger, ridge_error *err)
{
    sqlite3_stmt *statement = NULL;
    ridge_status status = ledger_prepare(
        ledger, "SELECT \"table\", rowid, parent FROM pragma_foreign_key_check LIMIT 1", &statement,
        err);
    char sql[128], id[RIDGE_HASH_TEXT], table[64], parent[64];
    bool found;

    if (status != RIDGE_OK)
        return status;
    if (sqlite3_step(statement) != SQLITE_ROW) {
        sqlite3_finalize(statement);
        return ledger_fail(ledger, "write to the ledger", err);
    }
    snprintf(table, sizeof(table), "%s", (const char *)sqlite3_column_text(statement, 0));
    snprintf(parent, sizeof(parent), "%s", (const char *)sqlite3_column_text(statement, 2));
    snprintf(sql, sizeof(sql), "SELECT id FROM \"%s\" WHERE rowid = %" PRId64, table,
             (int64_t)sqlite3_column_int64(statement, 1));
    sqlite3_finalize(statement);
    status = ledger_text_of(ledger, sql, NULL, 0, id, sizeof(id), &found, err);
    if (status != RIDGE_OK)
        return status;
    return ridge_fail(err, RIDGE_ERR_FORMAT,
                      "%s %.12s refers to a row of %s that is neither here nor in the ledger: "
                      "nothing was written",
                      table, id, parent);
}

ridge_status ridge_ledger_commit(ridge_ledger *ledger, ridge_error *err)
{
    ridge_status status = RIDGE_OK;

    if (sqlite3_exec(ledger->database, "COMMIT", NULL, NULL, NULL) != SQLITE_OK) {
        if ((sqlite3_errcode(ledger->database) & 0xff) == SQLITE_CONSTRAINT)
            status = say_missing(ledger, err);
        else
            status = ledger_fail(ledger, "write to the ledger", err);
        ridge_ledger_rollback(ledger);
    }
    ledger->in_transaction = false;
    return status;
}

void ridge_ledger_rollback(ridge_ledger *ledger)
{
    if (sqlite3_get_autocommit(ledger->database) == 0)
        sqlite3_exec(ledger->database, "ROLLBACK", NULL, NULL, NULL);
    ledger->in_transaction = false;
}

ridge_status ledger_begin_own(ridge_ledger *ledger, bool *is_own, ridge_error *err)
{
    *is_own = !ledger->in_transaction;
    return *is_own ? ridge_ledger_begin(ledger, err) : RIDGE_OK;
}

ridge_status ledger_end_own(ridge_ledger *ledger, bool is_own, ridge_status status,
                            ridge_error *err)
{
    if (!is_own)
        return status;
    if (status == RIDGE_OK)
        return ridge_ledger_commit(ledger, err);
    ridge_ledger_rollback(ledger);
    return status;
}

char *ridge_ledger_time_text(int64_t seconds, char *text)
{
    const time_t clock = seconds > 0 ? (time_t)seconds : time(NULL);
    struct tm parts;

    text[0] = '\0';
    if (gmtime_r(&clock, &parts) != NULL)
        strftime(text, 21, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}
