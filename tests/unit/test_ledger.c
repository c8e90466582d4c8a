/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* nftw */
#include "cases.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/record.h"
#include "ledger/ledger_internal.h"
#include "ledger_support.h"

/* -- help -------------------------------------------------------------------------------------- */

static ridge_ledger *open_memory(void)
{
    ridge_ledger *ledger;
    ridge_error err;

    if (ridge_ledger_open(":memory:", RIDGE_LEDGER_CREATE, &ledger, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    return ledger;
}

static ridge_status import(ridge_ledger *ledger, const char *text, ridge_error *err)
{
    ridge_status status = ridge_ledger_begin(ledger, err);
    const char *at = text;

    while (status == RIDGE_OK && *at != '\0') {
        const size_t length = strcspn(at, "\n");

        status = ridge_ledger_import_line(ledger, at, length, err);
        at += length + (at[length] == '\n' ? 1 : 0);
    }
    if (status == RIDGE_OK)
        return ridge_ledger_commit(ledger, err);
    ridge_ledger_rollback(ledger);
    return status;
}

static void import_campaign(ridge_ledger *ledger, ledger_ids *ids)
{
    ridge_text text;
    ridge_error err;

    ridge_text_init(&text);
    ledger_support_campaign(&text, ids);
    if (import(ledger, text.data, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    ridge_text_release(&text);
}

/* *out is freed with free(). */
static char *export(ridge_ledger *ledger, bool with_artefacts)
{
    ridge_error err;
    char *text = NULL;
    size_t size = 0;
    FILE *const stream = open_memstream(&text, &size);

    assert_non_null(stream);
    if (ridge_ledger_export(ledger, stream, with_artefacts, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    fclose(stream);
    return text;
}

static void exported_is(ridge_ledger *ledger, const char *expected)
{
    char *const text = export(ledger, true);

    assert_string_equal(text, expected);
    free(text);
}

/* -- lines ------------------------------------------------------------------------------------- */

static void round_trip(void **state)
{
    ridge_ledger *const first = open_memory(), *const second = open_memory();
    ledger_ids ids;
    ridge_error err;
    char *text;

    import_campaign(first, &ids);
    text = export(first, true);
    import_campaign(first, &ids);
    exported_is(first, text);
    if (import(second, text, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    exported_is(second, text);
    free(text);
    ridge_ledger_free(first);
    ridge_ledger_free(second);
    (void)state;
}

static struct bad_line {
    const char *name, *line, *message;
} bad_lines[] = {
    {"no JSON", "note", "not a JSON document"},
    {"an array", "[1]", "array"},
    {"no table", "{\"at\":\"x\"}", "no member \"t\""},
    {"an unknown table", "{\"t\":\"nots\"}", "t is \"nots\", which is no table"},
    {"meta is no table", "{\"t\":\"meta\",\"key\":\"schema\"}", "which is no table"},
    {"a needed column", "{\"t\":\"note\",\"subject_id\":\"ab\",\"at\":\"x\"}", "note without text"},
    {"a number for a text", "{\"t\":\"note\",\"subject_id\":\"ab\",\"at\":3,\"text\":\"x\"}",
     "note.at is something else than a text"},
    {"a text for a number",
     "{\"t\":\"roof\",\"session_id\":\"ab\",\"kind\":\"fma\",\"value\":\"3\"}",
     "roof.value is something else than a number"},
    {"half a launch", "{\"t\":\"policy\",\"k\":1.5}", "policy.k is something else than a whole"},
    {"a number for a bool", "{\"t\":\"env\",\"gpu_id\":\"ab\",\"ecc\":1}", "than true or false"},
    {"bytes that are none", "{\"t\":\"sample\",\"slot_id\":\"ab\",\"blob\":\"$$$$\"}",
     "than bytes in base64"},
    {"none of the choices", "{\"t\":\"policy\",\"l2\":\"warm\"}",
     "policy.l2 is \"warm\", expected one of cold|hot|flush"},
    {"a changed row",
     "{\"id\":\"00000000000000000000000000000000\",\"t\":\"note\",\"subject_id\":\"ab\",\"at\":"
     "\"x\","
     "\"text\":\"y\"}",
     "has been changed: its content has the id"},
    {"an id that is a number",
     "{\"id\":3,\"t\":\"note\",\"subject_id\":\"a\",\"at\":\"x\",\"text\":\"y\"}",
     "has been changed"},
    {"a row of a session that is not there",
     "{\"t\":\"floor\",\"session_id\":\"00000000000000000000000000000000\",\"kind\":\"event\"}",
     "refers to a row of session that is neither here nor in the ledger"},
    {"a member twice", "{\"t\":\"note\",\"t\":\"note\"}", "not a JSON document"},
    {"another schema", "{\"t\":\"header\",\"schema\":\"ridge-bench/2\"}", "expected ridge-bench/1"},
};

static void rejects(void **state)
{
    const struct bad_line *const bad = *state;
    ridge_ledger *const ledger = open_memory();
    char *const before = export(ledger, true);
    ridge_error err;

    assert_int_not_equal(import(ledger, bad->line, &err), RIDGE_OK);
    if (strstr(err.text, bad->message) == NULL)
        fail_msg("%s", err.text);
    exported_is(ledger, before);
    free(before);
    ridge_ledger_free(ledger);
}

/* What is no column comes back, and is part of the id. */
static void unknown_members(void **state)
{
    static const char line[] =
        "{\"t\":\"note\",\"subject_id\":\"abcd\",\"at\":\"x\",\"text\":\"y\","
        "\"mood\":{\"b\":[1,2.5,null],\"a\":\"c\"},\"gone\":null}";
    ridge_ledger *const ledger = open_memory(), *const other = open_memory();
    ridge_error err;
    char *text;

    assert_int_equal(import(ledger, line, &err), RIDGE_OK);
    text = export(ledger, true);
    assert_non_null(strstr(text, "\"mood\":{\"a\":\"c\",\"b\":[1,2.5,null]}"));
    assert_null(strstr(text, "gone"));
    assert_int_equal(import(other, text, &err), RIDGE_OK);
    exported_is(other, text);
    free(text);
    ridge_ledger_free(ledger);
    ridge_ledger_free(other);
    (void)state;
}

/* -- files ------------------------------------------------------------------------------------- */

static char folder[64];

static const char *path_of(const char *name)
{
    static char paths[4][128];
    static int next;

    next = (next + 1) % 4;
    snprintf(paths[next], sizeof(paths[next]), "%s/%s", folder, name);
    return paths[next];
}

static ridge_ledger *open_file(const char *name, ridge_ledger_mode mode)
{
    ridge_ledger *ledger;
    ridge_error err;

    if (ridge_ledger_open(path_of(name), mode, &ledger, &err) != RIDGE_OK)
        fail_msg("%s: %s", name, err.text);
    return ledger;
}

static void write_bytes(const char *name, const char *bytes, size_t size)
{
    FILE *const stream = fopen(path_of(name), "wb");

    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    fclose(stream);
}

static void run_sql(const char *name, const char *sql)
{
    sqlite3 *database;

    assert_int_equal(sqlite3_open(path_of(name), &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

static void make_nothing(const char *name)
{
    (void)name;
}

static void make_folder(const char *name)
{
    mkdir(path_of(name), 0777);
}

static void make_empty(const char *name)
{
    write_bytes(name, "", 0);
}

static void make_text(const char *name)
{
    char text[2000];

    memset(text, 'a', sizeof(text));
    write_bytes(name, text, sizeof(text));
}

static void make_other_database(const char *name)
{
    run_sql(name, "CREATE TABLE kernels (name TEXT)");
}

static void make_newer(const char *name)
{
    ridge_ledger_free(open_file(name, RIDGE_LEDGER_CREATE));
    run_sql(name, "PRAGMA user_version = 2");
}

/* The first pages stand, the rest is noise. */
static void make_damaged(const char *name)
{
    ridge_ledger *const ledger = open_file(name, RIDGE_LEDGER_CREATE);
    ledger_ids ids;
    char noise[4096];
    FILE *stream;
    long at;

    import_campaign(ledger, &ids);
    ridge_ledger_free(ledger);
    memset(noise, 0x5a, sizeof(noise));
    stream = fopen(path_of(name), "r+b");
    assert_non_null(stream);
    for (at = 4096; at < 800L << 10; at += 4096) {
        fseek(stream, at, SEEK_SET);
        fwrite(noise, 1, sizeof(noise), stream);
    }
    fclose(stream);
}

/* The format of the tables, which SQLite calls an error like any other. */
static void make_bad_header(const char *name)
{
    FILE *stream;

    ridge_ledger_free(open_file(name, RIDGE_LEDGER_CREATE));
    stream = fopen(path_of(name), "r+b");
    assert_non_null(stream);
    fseek(stream, 47, SEEK_SET);
    putc(0xff, stream);
    fclose(stream);
}

static struct bad_ledger {
    const char *name;
    void (*make)(const char *name);
    ridge_ledger_mode mode;
    ridge_status status;
    const char *message;
} bad_ledgers[] = {
    {"none there, to read", make_nothing, RIDGE_LEDGER_READ, RIDGE_ERR_IO, "No such file"},
    {"none there, to write", make_nothing, RIDGE_LEDGER_WRITE, RIDGE_ERR_IO, "No such file"},
    {"a folder", make_folder, RIDGE_LEDGER_WRITE, RIDGE_ERR_IO, "a folder, expected a file"},
    {"a folder to read", make_folder, RIDGE_LEDGER_READ, RIDGE_ERR_IO, "a folder, expected a file"},
    {"a damaged header", make_bad_header, RIDGE_LEDGER_READ, RIDGE_ERR_FORMAT, "damaged, or its"},
    {"an empty file", make_empty, RIDGE_LEDGER_READ, RIDGE_ERR_FORMAT, "no ledger: an empty file"},
    {"a text", make_text, RIDGE_LEDGER_CREATE, RIDGE_ERR_FORMAT, "not an SQLite database"},
    {"another database", make_other_database, RIDGE_LEDGER_CREATE, RIDGE_ERR_FORMAT,
     "an SQLite database of something else"},
    {"a newer schema", make_newer, RIDGE_LEDGER_READ, RIDGE_ERR_UNSUPPORTED,
     "of schema 2, this ridge knows up to 1"},
};

static void refuses(void **state)
{
    const struct bad_ledger *const bad = *state;
    ridge_ledger *ledger;
    ridge_error err;

    bad->make(bad->name);
    assert_int_equal(ridge_ledger_open(path_of(bad->name), bad->mode, &ledger, &err), bad->status);
    assert_null(ledger);
    if (strstr(err.text, bad->message) == NULL)
        fail_msg("%s", err.text);
}

static void damaged(void **state)
{
    ridge_ledger *ledger = NULL;
    ridge_error err;
    FILE *const nowhere = fopen("/dev/null", "w");
    ridge_status status;

    make_damaged("damaged");
    status = ridge_ledger_open(path_of("damaged"), RIDGE_LEDGER_READ, &ledger, &err);
    if (status == RIDGE_OK)
        status = ridge_ledger_export(ledger, nowhere, true, &err);
    assert_int_equal(status, RIDGE_ERR_FORMAT);
    assert_non_null(strstr(err.text, "damaged"));
    fclose(nowhere);
    ridge_ledger_free(ledger);
    (void)state;
}

static void empty_file_becomes_one(void **state)
{
    make_empty("becomes");
    ridge_ledger_free(open_file("becomes", RIDGE_LEDGER_CREATE));
    ridge_ledger_free(open_file("becomes", RIDGE_LEDGER_READ));
    assert_int_not_equal(access(path_of("becomes-wal"), F_OK), 0);
    (void)state;
}

static void reading_does_not_write(void **state)
{
    ridge_ledger *ledger = open_file("reading", RIDGE_LEDGER_CREATE);
    const ridge_ledger_member note[] = {
        {"subject_id", "a", NAN}, {"at", "b", NAN}, {"text", "c", NAN}};
    ridge_error err;

    ridge_ledger_free(ledger);
    ledger = open_file("reading", RIDGE_LEDGER_READ);
    assert_int_equal(ridge_ledger_add(ledger, "note", note, 3, NULL, &err), RIDGE_ERR_IO);
    assert_non_null(strstr(err.text, "may not be written"));
    ridge_ledger_free(ledger);
    (void)state;
}

/* -- processes --------------------------------------------------------------------------------- */

enum { WRITERS = 3, NOTES = 40 };

/* opened, go: ends to close when it is open, and to wait for the end of. */
static int write_notes(const char *path, int writer, int opened, int go)
{
    enum { PATIENCE_MS = 600000 };
    ridge_ledger *ledger;
    ridge_error err;
    char text[32];
    int i, failed = 0;

    if (ridge_ledger_open(path, RIDGE_LEDGER_CREATE, &ledger, &err) != RIDGE_OK) {
        fprintf(stderr, "writer %d: %s\n", writer, err.text);
        return 1;
    }
    /* Who writes one thing after the other hardly lets go of the lock: on a slow disk the others wait for
     * all of it. */
    ledger_set_wait(ledger, PATIENCE_MS);
    close(opened);
    failed = read(go, text, 1) != 0;
    for (i = 0; i < NOTES && failed == 0; i++) {
        const ridge_ledger_member note[] = {
            {"subject_id", "abcd", NAN}, {"at", "now", NAN}, {"text", text, NAN}};

        snprintf(text, sizeof(text), "%d of writer %d", i, writer);
        failed = ridge_ledger_add(ledger, "note", note, 3, NULL, &err) != RIDGE_OK;
        if (failed != 0)
            fprintf(stderr, "writer %d, note %d: %s\n", writer, i, err.text);
    }
    ridge_ledger_free(ledger);
    return failed;
}

static int count_of(ridge_ledger *ledger, const char *sql)
{
    ridge_ledger_rows *rows;
    ridge_error err;
    bool has_row = false;
    int count;

    if (ridge_ledger_query(ledger, sql, NULL, 0, &rows, &err) != RIDGE_OK ||
        ridge_ledger_rows_next(rows, &has_row, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    count = has_row ? (int)ridge_ledger_rows_integer(rows, 0) : -1;
    ridge_ledger_rows_free(rows);
    return count;
}

/* Three at once, who also make the ledger at once. */
static void several_writers(void **state)
{
    pid_t children[WRITERS];
    ridge_ledger *ledger;
    int i, status, opened[2], go[2];
    char none;

    assert_int_equal(pipe(opened), 0);
    assert_int_equal(pipe(go), 0);
    for (i = 0; i < WRITERS; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            close(go[1]);
            _exit(write_notes(path_of("several"), i, opened[1], go[0]));
        }
    }
    close(opened[1]);
    assert_int_equal(read(opened[0], &none, 1), 0); /* all have it */
    close(go[1]);
    close(opened[0]);
    close(go[0]);
    for (i = 0; i < WRITERS; i++) {
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    ledger = open_file("several", RIDGE_LEDGER_READ);
    assert_int_equal(count_of(ledger, "SELECT count(*) FROM note"), WRITERS * NOTES);
    ridge_ledger_free(ledger);
    (void)state;
}

static void locked(void **state)
{
    ridge_ledger *const holder = open_file("locked", RIDGE_LEDGER_CREATE);
    ridge_ledger *const other = open_file("locked", RIDGE_LEDGER_WRITE);
    ridge_error err;

    assert_int_equal(ridge_ledger_begin(holder, &err), RIDGE_OK);
    ledger_set_wait(other, 200);
    assert_int_equal(ridge_ledger_begin(other, &err), RIDGE_ERR_IO);
    assert_non_null(strstr(err.text, "locked by another process, tried for 0.2 s"));
    assert_int_equal(ridge_ledger_commit(holder, &err), RIDGE_OK);
    assert_int_equal(ridge_ledger_begin(other, &err), RIDGE_OK);
    ridge_ledger_rollback(other);
    ridge_ledger_free(holder);
    ridge_ledger_free(other);
    (void)state;
}

/* The database may not grow: nothing of the import stays, what was there does. */
static void disk_full(void **state)
{
    ridge_ledger *const ledger = open_file("full", RIDGE_LEDGER_CREATE);
    char *const before = export(ledger, true);
    ridge_text text;
    ledger_ids ids;
    ridge_error err;

    ridge_text_init(&text);
    ledger_support_campaign(&text, &ids);
    assert_int_equal(sqlite3_exec(ledger->database, "PRAGMA max_page_count = 1", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(import(ledger, text.data, &err), RIDGE_ERR_IO);
    assert_non_null(strstr(err.text, "the disk is full: nothing of this was written"));
    exported_is(ledger, before);
    free(before);
    ridge_text_release(&text);
    ridge_ledger_free(ledger);
    (void)state;
}

static int refused_for; /* errno of all that is written */

static ssize_t refuse_at(int file, const void *bytes, size_t size, off_t at)
{
    (void)file;
    (void)bytes;
    (void)size;
    (void)at;
    errno = refused_for;
    return -1;
}

static ssize_t refuse(int file, const void *bytes, size_t size)
{
    return refuse_at(file, bytes, size, 0);
}

/* The system refuses what SQLite writes: already the file beside the ledger that readers share. */
static void refused_writes(void **state)
{
    static const struct {
        int number;
        const char *words;
    } rows[] = {{ENOSPC, "cannot read the ledger: the disk is full: nothing of this was written"},
                {EDQUOT, "the quota of the disk is used up"},
                {EIO, "the system refused to write"}};
    static const struct {
        const char *name;
        sqlite3_syscall_ptr call;
    } calls[] = {{"write", (sqlite3_syscall_ptr)refuse},
                 {"pwrite", (sqlite3_syscall_ptr)refuse_at},
                 {"pwrite64", (sqlite3_syscall_ptr)refuse_at}};
    sqlite3_vfs *const vfs = sqlite3_vfs_find(NULL);
    ridge_ledger *ledger;
    ridge_error err;
    size_t i, k;

    ridge_ledger_free(open_file("refused", RIDGE_LEDGER_CREATE));
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ridge_status status;

        refused_for = rows[i].number;
        for (k = 0; k < sizeof(calls) / sizeof(calls[0]); k++)
            vfs->xSetSystemCall(vfs, calls[k].name, calls[k].call);
        status = ridge_ledger_open(path_of("refused"), RIDGE_LEDGER_WRITE, &ledger, &err);
        for (k = 0; k < sizeof(calls) / sizeof(calls[0]); k++)
            vfs->xSetSystemCall(vfs, calls[k].name, NULL);
        assert_int_equal(status, RIDGE_ERR_IO);
        if (strstr(err.text, rows[i].words) == NULL)
            fail_msg("found \"%s\", expected \"%s\"", err.text, rows[i].words);
    }
    ridge_ledger_free(open_file("refused", RIDGE_LEDGER_WRITE));
    (void)state;
}

/* A limit of the size of files, as a quota is one. */
static int import_within_limit(const char *path)
{
    const struct rlimit limit = {600 << 10, 600 << 10};
    ridge_ledger *ledger;
    ridge_error err;
    char text[4096];
    ridge_status status = RIDGE_OK;
    int i;

    signal(SIGXFSZ, SIG_IGN);
    if (ridge_ledger_open(path, RIDGE_LEDGER_CREATE, &ledger, &err) != RIDGE_OK ||
        setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 2;
    memset(text, 'a', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    for (i = 0; i < 400 && status == RIDGE_OK; i++) {
        const ridge_ledger_member note[] = {
            {"subject_id", "abcd", NAN}, {"at", "now", NAN}, {"text", text, NAN}};

        text[i] = 'b';
        status = ridge_ledger_add(ledger, "note", note, 3, NULL, &err);
    }
    ridge_ledger_free(ledger);
    return status == RIDGE_ERR_IO && strstr(err.text, "intact") != NULL ? 0 : 1;
}

static void file_limit(void **state)
{
    const pid_t child = fork();
    ridge_ledger *ledger;
    int status;

    if (child == 0)
        _exit(import_within_limit(path_of("limit")));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    ledger = open_file("limit", RIDGE_LEDGER_READ);
    assert_true(count_of(ledger, "SELECT count(*) FROM note") > 10);
    ridge_ledger_free(ledger);
    (void)state;
}

/* -- merging ----------------------------------------------------------------------------------- */

static void merge(const char *into, const char *from)
{
    ridge_ledger *const ledger = open_file(into, RIDGE_LEDGER_CREATE);
    size_t added, present;
    ridge_error err;

    if (ridge_ledger_merge(ledger, path_of(from), &added, &present, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    ridge_ledger_free(ledger);
}

/* Two people go on from one open step: the later decision holds, in whichever order they meet. */
static void merge_in_any_order(void **state)
{
    static const char *const orders[3][3] = {
        {"mine", "theirs", "base"}, {"theirs", "base", "mine"}, {"base", "theirs", "mine"}};
    static const char *const names[] = {"order0", "order1", "order2"};
    const ridge_step_start step = {
        .campaign = "c", .change = "x", .predicted_ratio = NAN, .now_s = 1000};
    ridge_ledger *ledger = open_file("base", RIDGE_LEDGER_CREATE);
    char id[RIDGE_HASH_TEXT], *texts[3];
    ridge_error err;
    int number, i, k;

    assert_int_equal(ridge_ledger_step_start(ledger, &step, &number, id, &err), RIDGE_OK);
    ridge_ledger_free(ledger);
    merge("mine", "base");
    merge("theirs", "base");
    ledger = open_file("mine", RIDGE_LEDGER_WRITE);
    assert_int_equal(ridge_ledger_step_close(ledger, true, "z", true, 2000, &number, &err),
                     RIDGE_OK);
    ridge_ledger_free(ledger);
    ledger = open_file("theirs", RIDGE_LEDGER_WRITE);
    assert_int_equal(ridge_ledger_step_close(ledger, false, "a", false, 3000, &number, &err),
                     RIDGE_OK);
    ridge_ledger_free(ledger);
    for (i = 0; i < 3; i++) {
        for (k = 0; k < 3; k++)
            merge(names[i], orders[i][k]);
        ledger = open_file(names[i], RIDGE_LEDGER_READ);
        texts[i] = export(ledger, true);
        assert_int_equal(count_of(ledger, "SELECT count(*) FROM step WHERE state = 'rejected' AND "
                                          "reason = 'a' AND basis IS NULL"),
                         1);
        ridge_ledger_free(ledger);
    }
    assert_string_equal(texts[0], texts[1]);
    assert_string_equal(texts[0], texts[2]);
    for (i = 0; i < 3; i++)
        free(texts[i]);
    (void)state;
}

/* -- builds ------------------------------------------------------------------------------------ */

static void add_build(ridge_ledger *ledger, const char *code, char *id)
{
    const ridge_build_row row = {.kernel = "k",
                                 .code = code,
                                 .code_size_bytes = strlen(code),
                                 .arch = "sm_90",
                                 .registers_per_thread = 32,
                                 .spill_bytes = -1,
                                 .shared_bytes = 0,
                                 .code_bytes = (int64_t)strlen(code),
                                 .compile_s = NAN,
                                 .image = code,
                                 .image_bytes = strlen(code),
                                 .image_kind = "cubin"};
    ridge_error err;

    if (ridge_ledger_add_build(ledger, &row, id, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
}

static void builds(void **state)
{
    ridge_ledger *const ledger = open_file("builds", RIDGE_LEDGER_CREATE);
    char first[RIDGE_HASH_TEXT], again[RIDGE_HASH_TEXT], found[RIDGE_HASH_TEXT], path[256];
    char prefix[8], text[64] = "";
    ridge_error err;
    FILE *stream;

    add_build(ledger, "some machine code", first);
    add_build(ledger, "some machine code", again);
    assert_string_equal(first, again);
    add_build(ledger, "other machine code", again);
    assert_string_not_equal(first, again);
    assert_int_equal(count_of(ledger, "SELECT count(*) FROM artefact"), 2);
    snprintf(prefix, sizeof(prefix), "%.6s", first);
    assert_int_equal(ridge_ledger_find_build(ledger, prefix, found, &err), RIDGE_OK);
    assert_string_equal(found, first);
    assert_int_equal(ridge_ledger_find_build(ledger, "zz", found, &err),
                     RIDGE_ERR_INVALID_ARGUMENT);
    assert_string_equal(found, "");
    assert_int_equal(
        ridge_ledger_find_build(ledger, "ffffffffffffffffffffffffffffffff", found, &err),
        RIDGE_ERR_INVALID_ARGUMENT);
    assert_int_equal(ridge_ledger_extract_build(ledger, first, folder, path, sizeof(path), &err),
                     RIDGE_OK);
    stream = fopen(path, "r");
    assert_non_null(stream);
    assert_non_null(fgets(text, sizeof(text), stream));
    fclose(stream);
    assert_string_equal(text, "some machine code");
    assert_int_equal(
        ridge_ledger_extract_build(ledger, first, "/nowhere/at/all", path, sizeof(path), &err),
        RIDGE_ERR_IO);
    assert_string_equal(path, "");
    ridge_ledger_free(ledger);
    (void)state;
}

/* An export without artefacts knows the build, not its binary. */
static void binary_elsewhere(void **state)
{
    ridge_ledger *const ledger = open_memory(), *const other = open_memory();
    char id[RIDGE_HASH_TEXT], path[256], *text;
    ridge_error err;

    add_build(ledger, "some machine code", id);
    text = export(ledger, false);
    assert_int_equal(import(other, text, &err), RIDGE_OK);
    assert_int_equal(ridge_ledger_extract_build(other, id, folder, path, sizeof(path), &err),
                     RIDGE_ERR_IO);
    assert_non_null(strstr(err.text, "its binary is not in this ledger"));
    free(text);
    text = export(ledger, true);
    assert_int_equal(import(other, text, &err), RIDGE_OK);
    assert_int_equal(ridge_ledger_extract_build(other, id, folder, path, sizeof(path), &err),
                     RIDGE_OK);
    exported_is(other, text);
    free(text);
    ridge_ledger_free(ledger);
    ridge_ledger_free(other);
    (void)state;
}

/* -- steps ------------------------------------------------------------------------------------- */

static void start(ridge_ledger *ledger, const char *change, double predicted, int64_t now_s)
{
    const ridge_step_start step = {
        .campaign = "c", .change = change, .predicted_ratio = predicted, .now_s = now_s};
    char id[RIDGE_HASH_TEXT];
    ridge_error err;
    int number;

    if (ridge_ledger_step_start(ledger, &step, &number, id, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
}

static void close_is(ridge_ledger *ledger, bool is_kept, bool force, ridge_status status,
                     const char *message)
{
    ridge_error err = {RIDGE_OK, ""};
    int number;

    assert_int_equal(ridge_ledger_step_close(ledger, is_kept, "r", force, 9000, &number, &err),
                     status);
    if (strstr(err.text, message) == NULL)
        fail_msg("%s", err.text);
}

static void steps(void **state)
{
    ridge_ledger *const ledger = open_memory();
    const ridge_step_start another = {.campaign = "c", .change = "y", .predicted_ratio = NAN};
    const ridge_step_start late = {.campaign = "c", .change = "y", .predicted_ratio = -1};
    const ridge_step_start nothing = {.change = "y", .predicted_ratio = NAN};
    char build[2][RIDGE_HASH_TEXT], id[RIDGE_HASH_TEXT];
    ridge_error err;
    int number;

    assert_int_equal(ridge_ledger_step_start(ledger, &nothing, &number, id, &err),
                     RIDGE_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "no campaign yet"));
    close_is(ledger, true, false, RIDGE_ERR_INVALID_ARGUMENT, "no step is open");
    start(ledger, "baseline", NAN, 1000);
    assert_int_equal(ridge_ledger_step_start(ledger, &another, &number, id, &err),
                     RIDGE_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "step 1 (baseline) is open"));
    add_build(ledger, "one", build[0]);
    add_build(ledger, "two", build[1]);
    assert_int_equal(ridge_ledger_step_build(ledger, build[0], &err), RIDGE_OK);
    close_is(ledger, true, false, RIDGE_OK, "");
    assert_int_equal(ridge_ledger_step_start(ledger, &late, &number, id, &err),
                     RIDGE_ERR_INVALID_ARGUMENT);
    start(ledger, "change", 0.5, 2000);
    close_is(ledger, true, false, RIDGE_ERR_INVALID_ARGUMENT, "step 2 has no build");
    assert_int_equal(ridge_ledger_step_build(ledger, build[0], &err), RIDGE_ERR_INVALID_ARGUMENT);
    assert_string_equal(err.text, "same code as step 1: was it rebuilt?");
    assert_int_equal(ridge_ledger_step_build(ledger, build[1], &err), RIDGE_OK);
    close_is(ledger, true, false, RIDGE_ERR_INVALID_ARGUMENT,
             "step 2 has not been measured: ridge compare");
    close_is(ledger, true, true, RIDGE_OK, "");
    assert_int_equal(count_of(ledger, "SELECT count(*) FROM step WHERE basis = 'none'"), 1);
    start(ledger, "nothing came of it", NAN, 3000);
    close_is(ledger, false, false, RIDGE_OK, "");
    assert_int_equal(count_of(ledger, "SELECT count(*) FROM step WHERE parent_step_id IS NOT NULL"),
                     2);
    ridge_ledger_free(ledger);
    (void)state;
}

/* Builds of the made-up campaign, with a comparison of 10:30. */
static void predicted_too_late(void **state)
{
    ridge_ledger *const ledger = open_memory();
    ledger_ids ids;
    ridge_error err;

    import_campaign(ledger, &ids);
    assert_int_equal(count_of(ledger, "SELECT count(*) FROM build"), LEDGER_BUILDS);
    start(ledger, "seen before", 0.5, 1772900000); /* 7 March 2026 */
    assert_int_equal(ridge_ledger_step_build(ledger, ids.build[1], &err),
                     RIDGE_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "was compared before step 1 predicted its ratio"));
    close_is(ledger, false, false, RIDGE_OK, "");
    start(ledger, "without a prediction", NAN, 1772900001);
    assert_int_equal(ridge_ledger_step_build(ledger, ids.build[1], &err), RIDGE_OK);
    ridge_ledger_free(ledger);
    (void)state;
}

/* Steps begin at whole seconds, sessions do not: what follows within the second is no prediction that
 * came too late. */
static void predicted_within_the_second(void **state)
{
    static const struct {
        const char *started;
        ridge_status status;
    } rows[] = {{"2026-03-07T16:13:19.999999Z", RIDGE_ERR_INVALID_ARGUMENT},
                {"2026-03-07T16:13:20Z", RIDGE_OK},
                {"2026-03-07T16:13:20.000001Z", RIDGE_OK},
                {"2026-03-07T16:13:20.436877Z", RIDGE_OK}};
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const ledger_comparison comparison = {.a = 0,
                                              .b = 1,
                                              .started = rows[i].started,
                                              .seed = 1,
                                              .ratio = {0.5, 0.5, 0.5},
                                              .half_width = 0.002,
                                              .verdict = {"IMPROVED", "IMPROVED", "IMPROVED"}};
        ridge_ledger *const ledger = open_memory();
        ridge_error err = {RIDGE_OK, ""};
        ridge_text text;
        ledger_ids ids;

        ridge_text_init(&text);
        ledger_support_common(&text, &ids);
        ledger_support_comparison(&text, &ids, &comparison);
        start(ledger, "predicted", 0.5, 1772900000);
        assert_int_equal(import(ledger, text.data, &err), RIDGE_OK);
        if (ridge_ledger_step_build(ledger, ids.build[1], &err) != rows[i].status)
            fail_msg("%s: %s", rows[i].started, err.text);
        ridge_text_release(&text);
        ridge_ledger_free(ledger);
    }
    (void)state;
}

/* -- views ------------------------------------------------------------------------------------- */

static struct view_case {
    const char *name, *sql;
    int count;
} view_cases[] = {
    {"kept chain", "SELECT count(*) FROM v_chain", 3},
    {"chain passes over the rejected step", "SELECT count(*) FROM v_chain WHERE seq = 3", 0},
    {"product of the chain", "SELECT abs(product - 0.5983) < 0.0005 FROM v_chain WHERE depth = 0",
     1},
    {"end to end on every case", "SELECT count(*) FROM v_end_to_end WHERE ln_ratio IS NOT NULL", 3},
    {"one row of v_step a step", "SELECT count(*) FROM v_step", 4},
    {"an INVALID run gives way to a later one",
     "SELECT count(*) FROM v_step_case WHERE seq = 4 AND verdict = 'INVALID'", 0},
    {"verdicts, the bad ones first",
     "SELECT verdicts = '2 REGRESSED, 1 SAME' FROM v_step WHERE seq = 3", 1},
    {"rejected steps do not count as regressions", "SELECT count(*) FROM v_regressed", 0},
    {"confirmed by another session", "SELECT count(*) FROM v_unconfirmed WHERE seq = 4", 0},
    {"not confirmed", "SELECT count(*) FROM v_unconfirmed WHERE seq = 2", 1},
    {"a rejected step moved the flat case", "SELECT count(*) FROM v_flat", 0},
    {"a case in words",
     "SELECT text = 'rms_norm m=1,n=5120 bf16' FROM v_case ORDER BY text LIMIT 1", 1},
};

static void views_answer(void **state)
{
    const struct view_case *const wanted = *state;
    ridge_ledger *const ledger = open_memory();
    ledger_ids ids;

    import_campaign(ledger, &ids);
    assert_int_equal(count_of(ledger, wanted->sql), wanted->count);
    ridge_ledger_free(ledger);
}

static struct bad_query {
    const char *name, *sql, *message;
} bad_queries[] = {
    {"deletes", "DELETE FROM note", "may only read"},
    {"updates", "UPDATE step SET reason = 'x'", "may only read"},
    {"attaches", "ATTACH ':memory:' AS a", "may only read"},
    {"pragma", "PRAGMA journal_mode = DELETE", "may only read"},
    {"commits", "COMMIT", "may only read"},
    {"two", "SELECT 1; SELECT 2", "several statements"},
    {"none", "  ", "an empty query"},
    {"no SQL", "SELEKT", "no query"},
    {"no table", "SELECT * FROM nowhere", "no such table"},
};

static void query_refuses(void **state)
{
    const struct bad_query *const bad = *state;
    ridge_ledger *const ledger = open_memory();
    ridge_ledger_rows *rows;
    ridge_error err;

    assert_int_equal(ridge_ledger_query(ledger, bad->sql, NULL, 0, &rows, &err),
                     RIDGE_ERR_INVALID_ARGUMENT);
    assert_null(rows);
    if (strstr(err.text, bad->message) == NULL)
        fail_msg("%s", err.text);
    ridge_ledger_free(ledger);
}

/* -- documents --------------------------------------------------------------------------------- */

static char *read_text(const char *path)
{
    FILE *const stream = fopen(path, "rb");
    char *text;
    long size;

    if (stream == NULL)
        fail_msg("%s is not there", path);
    fseek(stream, 0, SEEK_END);
    size = ftell(stream);
    fseek(stream, 0, SEEK_SET);
    text = calloc((size_t)size + 1, 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, stream), size);
    fclose(stream);
    return text;
}

/* tests/data/ledger/campaign.jsonl is test_ledger --rows > ... */
static void recorded_rows(void **state)
{
    char *const recorded = read_text(RIDGE_SOURCE_DIR "/tests/data/ledger/campaign.jsonl");
    ledger_ids ids;
    ridge_text text;

    ridge_text_init(&text);
    ledger_support_campaign(&text, &ids);
    assert_string_equal(recorded, text.data);
    ridge_text_release(&text);
    free(recorded);
    (void)state;
}

static void page_has_every_column(void **state)
{
    char *const page = read_text(RIDGE_SOURCE_DIR "/docs/formats/ledger.md");
    const ridge_ledger_table *table;
    size_t i, k;

    for (i = 0; (table = ridge_ledger_table_at(i)) != NULL; i++) {
        char heading[64];
        const char *at;

        snprintf(heading, sizeof(heading), "\n### %s\n", table->name);
        at = strstr(page, heading);
        if (at == NULL)
            fail_msg("docs/formats/ledger.md lacks %s: ridge ledger schema", table->name);
        for (k = 0; k < table->column_count; k++) {
            snprintf(heading, sizeof(heading), "\n| `%s` |", table->columns[k].name);
            at = at != NULL ? strstr(at + 1, heading) : NULL;
            if (at == NULL)
                fail_msg("docs/formats/ledger.md lacks %s.%s: ridge ledger schema", table->name,
                         table->columns[k].name);
        }
    }
    for (i = 0; ridge_ledger_view_at(i) != NULL; i++)
        if (strstr(page, ridge_ledger_view_at(i)->name) == NULL)
            fail_msg("docs/formats/ledger.md lacks %s", ridge_ledger_view_at(i)->name);
    free(page);
    (void)state;
}

/* -- memory ------------------------------------------------------------------------------------ */

static ridge_status use_ledger(ridge_error *err)
{
    const ridge_build_row row = {.kernel = "k",
                                 .code = "code",
                                 .code_size_bytes = 4,
                                 .registers_per_thread = -1,
                                 .spill_bytes = -1,
                                 .shared_bytes = -1,
                                 .code_bytes = -1,
                                 .compile_s = NAN,
                                 .image = "image",
                                 .image_bytes = 5};
    static const char line[] =
        "{\"t\":\"note\",\"subject_id\":\"a\",\"at\":\"b\",\"text\":\"c\",\"d\":1}";
    char id[RIDGE_HASH_TEXT], *text = NULL;
    ridge_ledger_rows *rows = NULL;
    ridge_ledger *ledger;
    size_t size;
    FILE *const stream = open_memstream(&text, &size);
    ridge_status status = ridge_ledger_open(":memory:", RIDGE_LEDGER_CREATE, &ledger, err);

    if (status == RIDGE_OK)
        status = ridge_ledger_import_line(ledger, line, strlen(line), err);
    if (status == RIDGE_OK)
        status = ridge_ledger_add_build(ledger, &row, id, err);
    if (status == RIDGE_OK)
        status = ridge_ledger_export(ledger, stream, true, err);
    if (status == RIDGE_OK)
        status = ridge_ledger_query(ledger, "SELECT 1", NULL, 0, &rows, err);
    ridge_ledger_rows_free(rows);
    ridge_ledger_free(ledger);
    fclose(stream);
    free(text);
    return status;
}

static void out_of_memory(void **state)
{
    size_t nth = 0;
    ridge_status status;
    ridge_error err;

    do {
        ridge_memory_fail_at(++nth);
        status = use_ledger(&err);
        ridge_memory_fail_at(0);
        if (status != RIDGE_OK)
            assert_int_equal(status, RIDGE_ERR_OUT_OF_MEMORY);
    } while (status != RIDGE_OK);
    assert_true(nth > 10);
    (void)state;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about, (void)kind, (void)where;
    return remove(path);
}

int main(int argc, char **argv)
{
    static cases list;
    int failed;

    if (argc == 2 && strcmp(argv[1], "--rows") == 0) {
        ledger_ids ids;
        ridge_text text;

        ridge_text_init(&text);
        ledger_support_campaign(&text, &ids);
        fputs(text.data, stdout);
        ridge_text_release(&text);
        return 0;
    }
    snprintf(folder, sizeof(folder), "/tmp/ridge-ledger-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return 1;
    cases_add(&list, "export imports to the same export", round_trip, NULL);
    CASES_ADD_ROWS(&list, rejects, bad_lines);
    cases_add(&list, "unknown members are kept", unknown_members, NULL);
    CASES_ADD_ROWS(&list, refuses, bad_ledgers);
    cases_add(&list, "a damaged file", damaged, NULL);
    cases_add(&list, "an empty file becomes a ledger", empty_file_becomes_one, NULL);
    cases_add(&list, "reading does not write", reading_does_not_write, NULL);
    cases_add(&list, "several writers", several_writers, NULL);
    cases_add(&list, "a locked ledger", locked, NULL);
    cases_add(&list, "a full disk", disk_full, NULL);
    cases_add(&list, "writes that the system refuses", refused_writes, NULL);
    cases_add(&list, "a limit of the file size", file_limit, NULL);
    cases_add(&list, "merge in any order", merge_in_any_order, NULL);
    cases_add(&list, "builds", builds, NULL);
    cases_add(&list, "a binary that is elsewhere", binary_elsewhere, NULL);
    cases_add(&list, "steps", steps, NULL);
    cases_add(&list, "a prediction that came too late", predicted_too_late, NULL);
    cases_add(&list, "a comparison within the second of its prediction",
              predicted_within_the_second, NULL);
    CASES_ADD_ROWS(&list, views_answer, view_cases);
    CASES_ADD_ROWS(&list, query_refuses, bad_queries);
    cases_add(&list, "recorded rows", recorded_rows, NULL);
    cases_add(&list, "the page has every column", page_has_every_column, NULL);
    cases_add(&list, "out of memory", out_of_memory, NULL);
    failed = cases_run(&list, "ledger");
    if (nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
        return 1;
    return failed;
}
