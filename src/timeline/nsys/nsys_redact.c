/* SPDX-License-Identifier: Apache-2.0
 *
 * SQLite exports without what tells who made them: a new database with the tables and columns of
 * nsys_redact_tables.c, so that nothing can stay in free pages, and of the strings only those that
 * a row names.
 *
 * First come the tables of numbers, which tell which strings are used; then names are learned from
 * settings, environment and those strings, and only then is text written. */
#include <stdlib.h>
#include <string.h>

#include "base/redact_names.h"
#include "base/text.h"
#include "timeline/nsys/nsys_redact.h"
#include "timeline/trace_redact_internal.h"

enum { MARK_USED = 1, MARK_KERNEL = 2, MARK_CALL = 4 };

struct redactor {
    nsys_reader reader; /* first: rows come with it */
    redact_names names;
    sqlite3 *out;
    int code; /* of its first failure */
    sqlite3_stmt *insert;
    const nsys_copied *table; /* that is copied */
    uint8_t *marks;           /* of each string */
    ridge_text text;          /* scratch */
    ridge_trace_redaction *summary;
};

static ridge_slice slice_of(const char *text, size_t length)
{
    return (ridge_slice){(const uint8_t *)text, length};
}

/* -- learning ---------------------------------------------------------------------------------- */

/* Variables whose values are names. */
static const struct {
    const char *variable;
    redact_kind kind;
} variables[] = {
    {"USER", REDACT_USER},           {"LOGNAME", REDACT_USER},
    {"USERNAME", REDACT_USER},       {"SUDO_USER", REDACT_USER},
    {"HOSTNAME", REDACT_HOST},       {"HOST", REDACT_HOST},
    {"COMPUTERNAME", REDACT_HOST},   {"SLURMD_NODENAME", REDACT_HOST},
    {"SSH_CLIENT", REDACT_ADDRESS},  {"SSH_CONNECTION", REDACT_ADDRESS},
    {"SLURM_JOB_USER", REDACT_USER}, {"SLURM_SUBMIT_HOST", REDACT_HOST},
};

/* Of one line, "NAME=value". */
static void learn_variable(struct redactor *redactor, const char *line, size_t length)
{
    const char *const equals = memchr(line, '=', length);
    const size_t name = equals != NULL ? (size_t)(equals - line) : length;
    ridge_slice value = slice_of(line + name + 1, 0);

    if (equals == NULL)
        return;
    redactor->summary->environment_count++;
    /* The first word: an address comes with its ports. */
    while (name + 1 + value.size < length && line[name + 1 + value.size] > ' ')
        value.size++;
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
        if (ridge_slice_is(slice_of(line, name), variables[i].variable))
            redact_learn_name(&redactor->names, variables[i].kind, value);
}

static void learn_environment(struct redactor *redactor, const char *text, size_t length)
{
    size_t at = 0;

    while (at < length) {
        size_t end = at;

        while (end < length && text[end] != '\n' && text[end] != '\0')
            end++;
        learn_variable(redactor, text + at, end - at);
        at = end + 1;
    }
}

static bool has_word(const char *text, const char *word)
{
    return strstr(text, word) != NULL;
}

/* A row of META_DATA_CAPTURE or TARGET_INFO_SYSTEM_ENV. */
static void learn_setting(nsys_reader *reader, const nsys_row *row)
{
    struct redactor *const redactor = (struct redactor *)reader;
    size_t key_length, length;
    const char *const key = nsys_row_text(reader, row, 0, &key_length);
    const char *const value = nsys_row_text(reader, row, 1, &length);

    if (has_word(key, "ENVIRONMENT") || has_word(key, "DeviceEnvironment"))
        learn_environment(redactor, value, length);
    else if (has_word(key, "USER_NAME"))
        redact_learn_name(&redactor->names, REDACT_USER, slice_of(value, length));
    else if ((has_word(key, "Hostname") || has_word(key, "HOST_NAME") ||
              has_word(key, "DEVICE_DISPLAY_NAME")) &&
             memchr(value, ' ', length) == NULL)
        redact_learn_name(&redactor->names, REDACT_HOST, slice_of(value, length));
    else if (has_word(key, ":ARGUMENT_"))
        redactor->summary->argument_count++;
    redact_paths_in(&redactor->names, slice_of(value, length), NULL);
}

/* The text of a row that is going to be written. */
static void learn_text(nsys_reader *reader, const nsys_row *row)
{
    struct redactor *const redactor = (struct redactor *)reader;
    size_t length;
    const char *const text = nsys_row_text(reader, row, 0, &length);

    redact_paths_in(&redactor->names, slice_of(text, length), NULL);
}

static void learn_settings(struct redactor *redactor)
{
    static const nsys_table tables[] = {
        {"META_DATA_CAPTURE", {"name", "value"}, 0, 3, learn_setting},
        {"TARGET_INFO_SYSTEM_ENV", {"name", "value"}, 0, 3, learn_setting},
        {"NVTX_EVENTS", {"text"}, 0, 1, learn_text},
        {"DIAGNOSTIC_EVENT", {"text"}, 0, 1, learn_text},
    };

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        nsys_scan(&redactor->reader, &tables[i]);
}

/* Calls what for each string that a row named. */
static void each_string(struct redactor *redactor,
                        void (*what)(struct redactor *redactor, uint8_t mark, int64_t id,
                                     const char *text, size_t length))
{
    nsys_reader *const reader = &redactor->reader;

    reader->database.text_left += (int64_t)reader->database.size_bytes * 2;
    for (size_t i = 0; i < reader->string_count && !reader->trace->failed; i++) {
        const int64_t rowid = reader->string_rows[i].rowid;
        const char *text;
        size_t length;

        if (redactor->marks[i] != 0 && reader->string_text != NULL &&
            nsys_text_at(reader, reader->string_text, rowid, &text, &length))
            what(redactor, redactor->marks[i], reader->string_rows[i].id, text, length);
    }
}

static void learn_string(struct redactor *redactor, uint8_t mark, int64_t id, const char *text,
                         size_t length)
{
    (void)id;
    if ((mark & (MARK_KERNEL | MARK_CALL)) == 0)
        redact_paths_in(&redactor->names, slice_of(text, length), NULL);
}

/* Words of CUDA's own calls are no names. */
static void learn_common(struct redactor *redactor, uint8_t mark, int64_t id, const char *text,
                         size_t length)
{
    (void)id;
    if ((mark & MARK_CALL) != 0)
        redact_learn_common(&redactor->names, slice_of(text, length));
}

/* -- writing ----------------------------------------------------------------------------------- */

/* The first failure of the new database is the one to tell. */
static void check(struct redactor *redactor, int code)
{
    if (code == SQLITE_OK || code == SQLITE_DONE || redactor->code != SQLITE_OK)
        return;
    redactor->code = code;
    redactor->reader.trace->failed = true; /* ends all scans */
}

static void execute(struct redactor *redactor, const char *sql)
{
    check(redactor, sqlite3_exec(redactor->out, sql, NULL, NULL, NULL));
}

static void step(struct redactor *redactor)
{
    check(redactor, sqlite3_step(redactor->insert));
    sqlite3_reset(redactor->insert); /* says the same again */
}

/* The text as it may be shown, in the redactor's scratch. */
static ridge_slice scrub(struct redactor *redactor, const char *text, size_t length)
{
    ridge_text *const out = &redactor->text;

    ridge_text_clear(out);
    ridge_text_add_bytes(out, text, length);
    if (out->failed || length == 0) {
        redactor->reader.trace->failed |= out->failed;
        return slice_of("", 0);
    }
    redact_paths_in(&redactor->names, slice_of(text, length), (uint8_t *)out->data);
    redactor->names.mention_count +=
        redact_mentions(&redactor->names, slice_of(out->data, length), (uint8_t *)out->data);
    return slice_of(out->data, length);
}

static void bind_text(struct redactor *redactor, int index, ridge_slice text)
{
    check(redactor,
          sqlite3_bind_text64(redactor->insert, index, text.size > 0 ? (const char *)text.data : "",
                              text.size, SQLITE_TRANSIENT, SQLITE_UTF8));
}

static void mark_string(struct redactor *redactor, int64_t id, uint8_t mark)
{
    const uint32_t *const index = nsys_map_find(&redactor->reader.strings, (nsys_key){{id}});

    if (index != NULL)
        redactor->marks[*index] |= mark;
}

static void know_thread(nsys_reader *reader, int64_t global_tid)
{
    const nsys_key key = {{nsys_pid_of(global_tid), nsys_tid_of(global_tid)}};

    if (!nsys_map_add(&reader->threads, key, 0))
        reader->trace->failed = true;
}

/* Ranges are written last, but their threads and strings have to be known before. */
static void mark_range(nsys_reader *reader, const nsys_row *row)
{
    know_thread(reader, row->values[0]);
    if (nsys_has(row, 1))
        mark_string((struct redactor *)reader, row->values[1], MARK_USED);
}

static bool is_kept(nsys_reader *reader, const nsys_copied *table, const nsys_row *row)
{
    const unsigned column = table->thread;

    if (table->threads == NSYS_THREADS_ANY)
        return true;
    if (!nsys_has(row, column))
        return false;
    if (table->threads == NSYS_THREADS_KNOWN)
        return nsys_known_thread(reader, row->values[column]) != RIDGE_TRACE_NONE;
    know_thread(reader, row->values[column]);
    return true;
}

static void copy_row(nsys_reader *reader, const nsys_row *row)
{
    struct redactor *const redactor = (struct redactor *)reader;
    const nsys_copied *const table = redactor->table;
    int index = 0;

    if (!is_kept(reader, table, row)) {
        redactor->summary->row_count++;
        return;
    }
    sqlite3_clear_bindings(redactor->insert);
    for (unsigned i = 0; i < NSYS_COLUMNS && table->columns[i] != NULL; i++) {
        if (row->result_index[i] < 0)
            continue;
        index++;
        if (!nsys_has(row, i))
            continue;
        if ((table->text >> i & 1) != 0) {
            size_t length;
            const char *const text = nsys_row_text(reader, row, i, &length);

            bind_text(redactor, index, scrub(redactor, text, length));
            continue;
        }
        check(redactor, sqlite3_bind_int64(redactor->insert, index, row->values[i]));
        if ((table->strings >> i & 1) != 0)
            mark_string(redactor, row->values[i], MARK_USED);
        if ((table->kernels >> i & 1) != 0)
            mark_string(redactor, row->values[i], MARK_KERNEL);
        if ((table->calls >> i & 1) != 0)
            mark_string(redactor, row->values[i], MARK_CALL);
    }
    step(redactor);
}

/* CREATE and INSERT with the columns that exist; false: none does. */
static bool prepare_copy(struct redactor *redactor, const nsys_copied *table)
{
    ridge_text create, insert;
    unsigned count = 0;

    ridge_text_init(&create);
    ridge_text_init(&insert);
    ridge_text_format(&create, "CREATE TABLE \"%s\" (", table->name);
    ridge_text_format(&insert, "INSERT INTO \"%s\" VALUES (", table->name);
    for (unsigned i = 0; i < NSYS_COLUMNS && table->columns[i] != NULL; i++)
        if (nsys_has_column(&redactor->reader.database, table->name, table->columns[i])) {
            ridge_text_format(&create, "%s\"%s\" %s", count > 0 ? ", " : "", table->columns[i],
                              (table->text >> i & 1) != 0 ? "TEXT" : "INTEGER");
            ridge_text_add(&insert, count++ > 0 ? ", ?" : "?");
        }
    ridge_text_add(&create, ")");
    ridge_text_add(&insert, ")");
    if (create.failed || insert.failed)
        redactor->reader.trace->failed = true;
    else if (count > 0) {
        execute(redactor, create.data);
        check(redactor,
              sqlite3_prepare_v2(redactor->out, insert.data, -1, &redactor->insert, NULL));
    }
    ridge_text_release(&create);
    ridge_text_release(&insert);
    return redactor->insert != NULL;
}

static void copy_table(struct redactor *redactor, const nsys_copied *copied)
{
    nsys_table table = {.name = copied->name, .text = copied->text, .row = copy_row};

    memcpy(table.columns, copied->columns, sizeof(table.columns));
    redactor->table = copied;
    if (nsys_has_table(&redactor->reader.database, copied->name) && prepare_copy(redactor, copied))
        nsys_scan(&redactor->reader, &table);
    sqlite3_finalize(redactor->insert);
    redactor->insert = NULL;
}

/* Settings: those that say how the trace was made, and the program without its arguments. */
static void copy_setting(nsys_reader *reader, const nsys_row *row)
{
    struct redactor *const redactor = (struct redactor *)reader;
    size_t key_length, length;
    const char *const key = nsys_row_text(reader, row, 0, &key_length);
    const char *value;

    if (!nsys_is_copied_setting(key)) {
        redactor->summary->row_count++;
        return;
    }
    value = nsys_row_text(reader, row, 1, &length);
    if (has_word(key, "EXPORT_PRODUCT_NAME") && ridge_slice_is(slice_of(value, length), "ridge"))
        redactor->summary->format = RIDGE_TRACE_RECORD;
    if (has_word(key, ":COMMAND"))
        for (size_t i = 0; i < length; i++)
            if (value[i] == '/' || value[i] == '\\') {
                value += i + 1;
                length -= i + 1;
                i = (size_t)-1;
            }
    bind_text(redactor, 1, slice_of(key, key_length));
    bind_text(redactor, 2, scrub(redactor, value, length));
    step(redactor);
}

static void copy_settings(struct redactor *redactor, const char *name)
{
    const nsys_copied copied = {.name = name, .columns = {"name", "value"}, .text = 3};
    const nsys_table table = {name, {"name", "value"}, 3, 3, copy_setting};

    if (nsys_has_table(&redactor->reader.database, name) && prepare_copy(redactor, &copied))
        nsys_scan(&redactor->reader, &table);
    sqlite3_finalize(redactor->insert);
    redactor->insert = NULL;
}

static void copy_string(struct redactor *redactor, uint8_t mark, int64_t id, const char *text,
                        size_t length)
{
    ridge_slice written = slice_of(text, length);

    if ((mark & (MARK_KERNEL | MARK_CALL)) == 0) {
        written = scrub(redactor, text, length);
    } else {
        const size_t count = redact_mentions(&redactor->names, written, NULL);
        const redact_name *const found = redactor->names.found;

        if (count > 0 && found != NULL && redactor->summary->remaining_count == 0) {
            const size_t size = found->text.size < sizeof(redactor->summary->remaining)
                                    ? found->text.size
                                    : sizeof(redactor->summary->remaining) - 1;

            memcpy(redactor->summary->remaining, found->text.data, size);
        }
        redactor->summary->remaining_count += count;
    }
    check(redactor, sqlite3_bind_int64(redactor->insert, 1, id));
    bind_text(redactor, 2, written);
    step(redactor);
}

static void copy_strings(struct redactor *redactor)
{
    static const nsys_copied copied = {
        .name = "StringIds", .columns = {"id", "value"}, .text = 1u << 1};

    if (nsys_has_table(&redactor->reader.database, copied.name) && prepare_copy(redactor, &copied))
        each_string(redactor, copy_string);
    sqlite3_finalize(redactor->insert);
    redactor->insert = NULL;
}

/* -- the whole --------------------------------------------------------------------------------- */

static void copy_all(struct redactor *redactor)
{
    static const char *const settings[] = {"META_DATA_EXPORT", "EXPORT_META_DATA",
                                           "META_DATA_CAPTURE"};
    static const nsys_table ranges = {"NVTX_EVENTS", {"globalTid", "textId"}, 1, 0, mark_range};
    size_t count;
    const nsys_copied *const tables = nsys_copied_tables(&count);

    execute(redactor, "PRAGMA journal_mode = OFF");
    execute(redactor, "PRAGMA synchronous = OFF");
    execute(redactor, "BEGIN");
    learn_settings(redactor);
    nsys_scan(&redactor->reader, &ranges);
    for (size_t i = 0; i < count; i++)
        if (tables[i].text == 0)
            copy_table(redactor, &tables[i]);
    each_string(redactor, learn_string);
    each_string(redactor, learn_common);
    for (size_t i = 0; i < count; i++)
        if (tables[i].text != 0)
            copy_table(redactor, &tables[i]);
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        copy_settings(redactor, settings[i]);
    copy_strings(redactor);
    execute(redactor, "COMMIT");
}

static bool is_copied(const char *name)
{
    static const char *const others[] = {"StringIds", "META_DATA_EXPORT", "EXPORT_META_DATA",
                                         "META_DATA_CAPTURE"};
    size_t count;
    const nsys_copied *const tables = nsys_copied_tables(&count);

    for (size_t i = 0; i < count; i++)
        if (sqlite3_stricmp(tables[i].name, name) == 0)
            return true;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (sqlite3_stricmp(others[i], name) == 0)
            return true;
    return false;
}

static uint64_t count_left_out(const struct redactor *redactor)
{
    sqlite3_stmt *statement = NULL;
    uint64_t count = 0;

    if (sqlite3_prepare_v2(redactor->reader.database.handle, "SELECT type, name FROM sqlite_schema",
                           -1, &statement, NULL) == SQLITE_OK)
        while (sqlite3_step(statement) == SQLITE_ROW) {
            const char *const type = (const char *)sqlite3_column_text(statement, 0);
            const char *const name = (const char *)sqlite3_column_text(statement, 1);

            count += type != NULL && name != NULL && strcmp(type, "index") != 0 &&
                     (strcmp(type, "table") != 0 || !is_copied(name));
        }
    sqlite3_finalize(statement);
    return count;
}

static void summarise(struct redactor *redactor)
{
    ridge_trace_redaction *const summary = redactor->summary;
    const redact_names *const names = &redactor->names;

    summary->host_count = names->kind_count[REDACT_HOST];
    summary->user_count = names->kind_count[REDACT_USER];
    summary->address_count = names->kind_count[REDACT_ADDRESS];
    summary->path_count = names->path_count;
    summary->mention_count = names->mention_count;
    summary->part_count = count_left_out(redactor);
    summary->row_count += redactor->reader.trace->info.skipped_count;
}

static ridge_status redact(struct redactor *redactor, const char *path, const char *out_path,
                           ridge_error *err)
{
    nsys_reader *const reader = &redactor->reader;
    const ridge_trace_info *const info = &reader->trace->info;
    ridge_status status = nsys_open_file(&reader->database, path, err);

    if (status == RIDGE_OK)
        status = nsys_check_export(&reader->database, err);
    if (status != RIDGE_OK)
        return status;
    if (!nsys_look_beside(reader->trace, path))
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    if (info->is_partial)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "%s", info->partial);
    if (reader->database.is_cut || reader->database.is_damaged)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "cut or damaged: what is lost cannot be vouched for");
    nsys_read_strings(reader);
    redactor->marks = ridge_calloc(reader->string_count + 1, 1);
    if (redactor->marks == NULL || reader->trace->failed)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    redactor->code = sqlite3_open_v2(out_path, &redactor->out,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (redactor->code == SQLITE_OK)
        copy_all(redactor);
    if (redactor->code != SQLITE_OK && redactor->code != SQLITE_NOMEM)
        return ridge_fail(err, RIDGE_ERR_IO, "%s cannot be written: %s", out_path,
                          sqlite3_errstr(redactor->code));
    if (reader->trace->failed || redactor->names.out_of_memory)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    if (info->is_partial)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "%s: what is lost cannot be vouched for",
                          info->partial);
    if (redactor->names.too_many)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "more than %d names of users, hosts and places",
                          REDACT_NAMES);
    summarise(redactor);
    return RIDGE_OK;
}

ridge_status nsys_redact(const char *path, const char *out_path, ridge_trace_redaction *summary,
                         ridge_error *err)
{
    struct redactor *const redactor = ridge_calloc(1, sizeof(*redactor));
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;

    if (redactor == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    redactor->summary = summary;
    redactor->reader.trace = trace_create();
    ridge_text_init(&redactor->text);
    if (redactor->reader.trace == NULL || !redact_names_init(&redactor->names)) {
        status = ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    } else {
        redactor->names.copies_text = true;
        status = redact(redactor, path, out_path, err);
        redact_names_release(&redactor->names);
    }
    sqlite3_close(redactor->out);
    ridge_free(redactor->marks);
    ridge_text_release(&redactor->text);
    nsys_release(&redactor->reader);
    ridge_trace_free(redactor->reader.trace);
    ridge_free(redactor);
    return status;
}
