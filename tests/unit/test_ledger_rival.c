/* SPDX-License-Identifier: Apache-2.0
 *
 * A ledger that another process writes meanwhile, without luck: SQLite calls before each statement, and
 * there the rival acts, before the first statement of a run, then before the second of the next run, until
 * a run ends before it. */
#define _XOPEN_SOURCE 700 /* nftw */
#include "cases.h"

#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <sqlite3.h>
#include <unistd.h>

#include "commands.h"
#include "ledger_query.h"
#include "measure_cli.h"
#include "ridge/ledger.h"

/* -- what cmd_step calls to open a kernel, which no case here does ------------------------------ */

const char *const measure_devices[] = {NULL};

const struct command *command_find(const char *name)
{
    (void)name;
    return NULL;
}

int measure_open(struct measure *m, const char *const arms[2], const char *texts)
{
    (void)m, (void)arms, (void)texts;
    return CLI_USAGE;
}

void measure_request(const struct measure *m, ridge_session_kind kind, ridge_session_request *out)
{
    (void)m, (void)kind, (void)out;
}

ridge_status measure_run(struct measure *m, const ridge_session_request *request,
                         const ridge_session_sink *sink, int *exit_status)
{
    (void)m, (void)request, (void)sink, (void)exit_status;
    return RIDGE_ERR_INTERNAL;
}

int measure_close(struct measure *m, int status)
{
    (void)m;
    return status;
}

/* -- files ------------------------------------------------------------------------------------- */

static char folder[64], paths[3][80];
enum { OWN, OTHER, FIRST, MEMORY }; /* of paths; FIRST: what OTHER is a copy of */

static ridge_ledger *open_ledger(int which, ridge_ledger_mode mode)
{
    ridge_ledger *ledger;
    ridge_error err;

    if (ridge_ledger_open(which == MEMORY ? ":memory:" : paths[which], mode, &ledger, &err) !=
        RIDGE_OK)
        fail_msg("%s", err.text);
    return ledger;
}

static void start_step(int which, const char *campaign, const char *change)
{
    ridge_ledger *const ledger = open_ledger(which, RIDGE_LEDGER_CREATE);
    const ridge_step_start step = {.campaign = campaign,
                                   .goal = campaign,
                                   .change = change,
                                   .predicted_ratio = NAN,
                                   .now_s = 1772355600};
    char id[40];
    ridge_error err;
    int number;

    if (ridge_ledger_step_start(ledger, &step, &number, id, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    ridge_ledger_free(ledger);
}

static void remove_ledgers(void)
{
    remove(paths[OWN]);
    remove(paths[OTHER]);
}

/* -- the rival --------------------------------------------------------------------------------- */

static struct {
    void (*act)(void);
    bool acts_within; /* transactions too: not where it would wait for their end */
    int statement;    /* before which it acts */
    int statements_left;
    bool is_counting, has_acted;
} rival;

/* From now on its statements are counted. */
static void begin_race(void)
{
    rival.statements_left = rival.statement;
    rival.is_counting = true;
}

static int before_statement(unsigned kind, void *database, void *statement, void *text)
{
    (void)kind, (void)statement, (void)text;
    if (!rival.is_counting || (!rival.acts_within && sqlite3_get_autocommit(database) == 0) ||
        rival.statements_left-- > 0)
        return 0;
    rival.is_counting = false;
    rival.has_acted = true;
    rival.act();
    return 0;
}

static int watch_statements(sqlite3 *database, char **message, const void *routines)
{
    (void)message, (void)routines;
    return sqlite3_trace_v2(database, SQLITE_TRACE_STMT, before_statement, database);
}

struct race {
    const char *name;
    void (*prepare)(void), (*act)(void);
    /* What is done meanwhile; NULL, or what is wrong with it. */
    const char *(*run)(ridge_error *err);
    bool acts_within;
    int least; /* statements that it has */
};

static void meanwhile(void **state)
{
    const struct race *const race = *state;
    int i;

    rival.act = race->act;
    rival.acts_within = race->acts_within;
    rival.has_acted = true;
    for (i = 0; rival.has_acted; i++) {
        ridge_error err = {RIDGE_OK, ""};
        const char *wrong;

        remove_ledgers();
        race->prepare();
        rival.statement = i;
        rival.has_acted = false;
        sqlite3_auto_extension((void (*)(void))watch_statements);
        wrong = race->run(&err);
        sqlite3_cancel_auto_extension((void (*)(void))watch_statements);
        if (wrong != NULL)
            fail_msg("the rival before statement %d: %s %s", i, wrong, err.text);
        rival.is_counting = false;
    }
    assert_true(i > race->least);
}

/* -- races ------------------------------------------------------------------------------------- */

static void prepare_nothing(void)
{
}

static void make_ledger(void)
{
    ridge_ledger_free(open_ledger(OWN, RIDGE_LEDGER_CREATE));
}

/* Whenever another makes the ledger while this one opens it: both have it. */
static const char *make_it_too(ridge_error *err)
{
    ridge_ledger *ledger;

    begin_race();
    if (ridge_ledger_open(paths[OWN], RIDGE_LEDGER_CREATE, &ledger, err) != RIDGE_OK)
        return "refused:";
    ridge_ledger_free(ledger);
    return NULL;
}

/* Made once, then copied, which takes a hundredth of the time. */
static void prepare_other(void)
{
    static char bytes[1 << 20];
    FILE *stream;
    size_t size;

    if (access(paths[FIRST], F_OK) != 0)
        start_step(FIRST, "first", "one change");
    stream = fopen(paths[FIRST], "rb");
    assert_non_null(stream);
    size = fread(bytes, 1, sizeof(bytes), stream);
    fclose(stream);
    assert_in_range(size, 1, sizeof(bytes) - 1);
    stream = fopen(paths[OTHER], "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
}

static void add_to_other(void)
{
    start_step(OTHER, "second", "another change");
}

/* Rows of the other ledger come with all that they refer to. */
static const char *merge_other(ridge_error *err)
{
    ridge_ledger *const ledger = open_ledger(MEMORY, RIDGE_LEDGER_CREATE);
    size_t added, present;
    ridge_status status;

    begin_race();
    status = ridge_ledger_merge(ledger, paths[OTHER], &added, &present, err);
    ridge_ledger_free(ledger);
    return status != RIDGE_OK ? "refused:" : added != 2 && added != 4 ? "a part was merged" : NULL;
}

/* An export can be imported. */
static const char *export_other(ridge_error *err)
{
    ridge_ledger *ledger = open_ledger(OTHER, RIDGE_LEDGER_WRITE);
    char *text = NULL;
    size_t size = 0, length;
    FILE *const stream = open_memstream(&text, &size);
    ridge_status status;
    const char *at;

    begin_race();
    status = ridge_ledger_export(ledger, stream, false, err);
    rival.is_counting = false;
    fclose(stream);
    ridge_ledger_free(ledger);
    ledger = open_ledger(MEMORY, RIDGE_LEDGER_CREATE);
    if (status == RIDGE_OK)
        status = ridge_ledger_begin(ledger, err);
    for (at = text; status == RIDGE_OK && *at != '\0'; at += length + 1) {
        length = strcspn(at, "\n");
        status = ridge_ledger_import_line(ledger, at, length, err);
    }
    if (status == RIDGE_OK)
        status = ridge_ledger_commit(ledger, err);
    ridge_ledger_free(ledger);
    free(text);
    return status != RIDGE_OK ? "refused:" : NULL;
}

static int64_t count_of(ridge_ledger *ledger, const char *sql)
{
    ridge_ledger_rows *rows;
    int64_t count = -1;
    bool has_row;

    if (ridge_ledger_query(ledger, sql, NULL, 0, &rows, NULL) != RIDGE_OK)
        return -1;
    if (ridge_ledger_rows_next(rows, &has_row, NULL) == RIDGE_OK && has_row)
        count = ridge_ledger_rows_integer(rows, 0);
    ridge_ledger_rows_free(rows);
    return count;
}

/* Several queries see one state. */
static const char *read_other(ridge_error *err)
{
    ridge_ledger *const ledger = open_ledger(OTHER, RIDGE_LEDGER_READ);
    int64_t campaigns, steps;

    (void)err;
    begin_race();
    campaigns = count_of(ledger, "SELECT count(*) FROM campaign");
    steps = count_of(ledger, "SELECT count(*) FROM step");
    ridge_ledger_free(ledger);
    return campaigns < 1 || campaigns != steps ? "two states were read" : NULL;
}

/* -- of ridge step ----------------------------------------------------------------------------- */

static char build_id[40];

static void open_step(void)
{
    static const char code[] = "code";
    const ridge_build_row build = {.kernel = "vector_add",
                                   .arch = "sm_90",
                                   .code = code,
                                   .code_size_bytes = sizeof(code),
                                   .registers_per_thread = -1,
                                   .spill_bytes = -1,
                                   .shared_bytes = -1,
                                   .code_bytes = -1,
                                   .compile_s = NAN};
    ridge_ledger *ledger;
    ridge_error err;

    start_step(OWN, "first", "one change");
    ledger = open_ledger(OWN, RIDGE_LEDGER_WRITE);
    if (ridge_ledger_add_build(ledger, &build, build_id, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    ridge_ledger_free(ledger);
}

/* The step is gone, and another one is open. */
static void open_another(void)
{
    ridge_ledger *const ledger = open_ledger(OWN, RIDGE_LEDGER_WRITE);
    int number;

    /* It may be closed already. */
    ridge_ledger_step_close(ledger, false, "by the rival", false, 0, &number, NULL);
    ridge_ledger_free(ledger);
    start_step(OWN, "first", "another change");
}

/* ridge step ACTION WORD, with what it prints in text. */
static int run_step(const char *action, const char *word, char *text, size_t size)
{
    char program[] = "step", option[] = "--ledger", verb[16], argument[40];
    char *arguments[] = {program, verb, argument, option, paths[OWN], NULL};
    char name[96];
    const int out = dup(STDOUT_FILENO);
    int status, file;
    ssize_t length;

    snprintf(verb, sizeof(verb), "%s", action);
    snprintf(argument, sizeof(argument), "%s", word);
    snprintf(name, sizeof(name), "%s/printed", folder);
    fflush(stdout);
    file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    dup2(file, STDOUT_FILENO);
    begin_race();
    status = cmd_step(5, arguments);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    close(out);
    length = pread(file, text, size - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    close(file);
    return status;
}

/* What is printed is the step that was closed. */
static const char *reject_step(ridge_error *err)
{
    const int status = run_step("reject", "by this one", err->text, sizeof(err->text));

    return status != CLI_DONE || strstr(err->text, "by this one") == NULL ? "printed:" : NULL;
}

static const char *build_step(ridge_error *err)
{
    char shown[16];
    const int status = run_step("build", build_id, err->text, sizeof(err->text));

    snprintf(shown, sizeof(shown), "%.8s", build_id);
    return status != CLI_DONE || strstr(err->text, shown) == NULL ? "printed:" : NULL;
}

/* -- all --------------------------------------------------------------------------------------- */

static struct race races[] = {
    {"made while it is opened", prepare_nothing, make_ledger, make_it_too, false, 5},
    {"written while it is merged", prepare_other, add_to_other, merge_other, true, 30},
    {"written while it is exported", prepare_other, add_to_other, export_other, true, 15},
    {"written while it is read", prepare_other, add_to_other, read_other, true, 1},
    {"another step opened before this one is closed", open_step, open_another, reject_step, false,
     6},
    {"another step opened before this one gets a build", open_step, open_another, build_step, false,
     6},
};

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about, (void)kind, (void)where;
    return remove(path);
}

int main(void)
{
    static cases list;
    int failed;

    snprintf(folder, sizeof(folder), "/tmp/ridge-rival-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(paths[OWN], sizeof(paths[OWN]), "%s/own.ledger", folder);
    snprintf(paths[OTHER], sizeof(paths[OTHER]), "%s/other.ledger", folder);
    snprintf(paths[FIRST], sizeof(paths[FIRST]), "%s/first.ledger", folder);
    CASES_ADD_ROWS(&list, meanwhile, races);
    failed = cases_run(&list, "ledger_rival");
    if (nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
        return 1;
    return failed;
}
