/* SPDX-License-Identifier: Apache-2.0
 *
 * Running sessions for commands. */
#include "measure_cli.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "commands.h"
#include "ledger_query.h"
#include "ridge/kernels/registry.h"
#include "source_revision.h"

enum { OUTPUT_LINES = 40, LARGEST_TIMEOUT_S = 86400 };

const char *const measure_devices[] = {"cpu", "cuda", NULL};
const char *const measure_modes[] = {"auto", "event", "graph", "batch", NULL};

/* -- interrupts -------------------------------------------------------------------------------- */

/* What a signal handler may write. */
static volatile sig_atomic_t interrupts;

static void count_interrupt(int number)
{
    (void)number;
    if (interrupts < 100)
        interrupts++;
}

bool measure_is_interrupted(void)
{
    return interrupts > 0;
}

static void catch_interrupts(struct sigaction old[3], bool is_on)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {0};
    size_t i;

    action.sa_handler = count_interrupt;
    sigemptyset(&action.sa_mask);
    for (i = 0; i < 3; i++)
        sigaction(signals[i], is_on ? &action : &old[i], is_on ? &old[i] : NULL);
}

static bool should_stop(void *context)
{
    (void)context;
    return interrupts > 0;
}

static bool should_kill(void *context)
{
    (void)context;
    return interrupts > 1;
}

/* -- opening ----------------------------------------------------------------------------------- */

static int add_cases(struct measure *m, const char *text)
{
    ridge_error err;
    char **more;
    char **grown;
    size_t count, i;

    if (ridge_sweep_cases(text, &more, &count, &err) != RIDGE_OK)
        return cli_usage_error("%s", err.text);
    grown = realloc(m->cases, (m->case_count + count) * sizeof(m->cases[0]));
    if (grown != NULL) {
        m->cases = grown;
        for (i = 0; i < count; i++) {
            m->cases[m->case_count] = strdup(more[i]);
            if (m->cases[m->case_count] == NULL)
                break;
            m->case_count++;
        }
    }
    ridge_sweep_cases_free(more);
    if (grown == NULL || i < count) {
        cli_message(NULL, "out of memory for %zu cases", count);
        return ridge_status_exit(RIDGE_ERR_OUT_OF_MEMORY);
    }
    return CLI_DONE;
}

static int expand_cases(struct measure *m, const char *text)
{
    char *const copy = strdup(text);
    int status = copy != NULL ? CLI_DONE : ridge_status_exit(RIDGE_ERR_OUT_OF_MEMORY);
    char *at = copy;

    while (status == CLI_DONE && at != NULL) {
        char *const end = strchr(at, ';');

        if (end != NULL)
            *end = '\0';
        status = add_cases(m, at);
        at = end != NULL ? end + 1 : NULL;
    }
    free(copy);
    return status;
}

/* A library holds many kernels: the one that a build was is behind its name in the ledger. */
static void add_kernel_name(struct measure *m, int arm, const char *id)
{
    const char *const values[] = {id};
    char file[sizeof(m->build_files[0])];
    ridge_ledger_rows *rows;
    bool has_row = false;

    memcpy(file, m->build_files[arm], sizeof(file));
    if (ridge_ledger_query(m->source, "SELECT kernel FROM build WHERE id = ?1", values, 1, &rows,
                           NULL) != RIDGE_OK)
        return;
    if (ridge_ledger_rows_next(rows, &has_row, NULL) == RIDGE_OK && has_row) {
        const char *const kernel = ridge_ledger_rows_text(rows, 0);
        const char *const item = kernel != NULL ? strrchr(kernel, ':') : NULL;

        snprintf(m->arm_texts[arm], sizeof(m->arm_texts[arm]), "%s%.100s", file,
                 item != NULL && strstr(file, ".so") != NULL ? item : "");
        m->arms[arm] = m->arm_texts[arm];
    }
    ridge_ledger_rows_free(rows);
}

/* A variant of a family is no file: ridge has it, and on_build() looks whether it is the same. */
static bool is_family_build(struct measure *m, int arm, const char *id)
{
    const char *const values[] = {id};
    ridge_arm_name name;
    ridge_ledger_rows *rows;
    bool has_row = false, is_family = false;

    if (ridge_ledger_query(m->source,
                           "SELECT kernel FROM build WHERE id = ?1 AND archive_artefact_id IS NULL",
                           values, 1, &rows, NULL) != RIDGE_OK)
        return false;
    if (ridge_ledger_rows_next(rows, &has_row, NULL) == RIDGE_OK && has_row &&
        ridge_ledger_rows_text(rows, 0) != NULL) {
        snprintf(m->arm_texts[arm], sizeof(m->arm_texts[arm]), "%s",
                 ridge_ledger_rows_text(rows, 0));
        is_family = ridge_arm_name_parse(m->arm_texts[arm], &name, NULL) == RIDGE_OK &&
                    name.kind == RIDGE_ARM_FAMILY;
    }
    ridge_ledger_rows_free(rows);
    if (is_family) {
        m->arms[arm] = m->arm_texts[arm];
        snprintf(m->family_builds[arm], sizeof(m->family_builds[arm]), "%s", id);
    }
    return is_family;
}

/* "build:3f21" becomes the file that the ledger archived. */
static int unpack_build(struct measure *m, int arm)
{
    static const char prefix[] = "build:";
    const char *const base = getenv("TMPDIR");
    char id[40];
    ridge_error err;
    int status;

    if (m->arms[arm] == NULL || strncmp(m->arms[arm], prefix, sizeof(prefix) - 1) != 0)
        return CLI_DONE;
    if (m->source == NULL && m->ledger != NULL)
        m->source = m->ledger;
    if (m->source == NULL) {
        status = cli_ledger_open(m->ledger_path, RIDGE_LEDGER_READ, &m->source);
        if (status != CLI_DONE)
            return status;
    }
    if (m->folder[0] == '\0') {
        snprintf(m->folder, sizeof(m->folder), "%s/ridge-builds.XXXXXX",
                 base != NULL && base[0] != '\0' && strlen(base) < 32 ? base : "/tmp");
        if (mkdtemp(m->folder) == NULL) {
            cli_message(m->folder, "no temporary folder: %s", strerror(errno));
            m->folder[0] = '\0';
            return ridge_status_exit(RIDGE_ERR_IO);
        }
    }
    if (ridge_ledger_find_build(m->source, m->arms[arm] + sizeof(prefix) - 1, id, &err) != RIDGE_OK)
        return cli_fail(m->arms[arm], &err);
    if (is_family_build(m, arm, id))
        return CLI_DONE;
    if (ridge_ledger_extract_build(m->source, id, m->folder, m->build_files[arm],
                                   sizeof(m->build_files[arm]), &err) != RIDGE_OK)
        return cli_fail(m->arms[arm], &err);
    m->arms[arm] = m->build_files[arm];
    add_kernel_name(m, arm, id);
    return CLI_DONE;
}

static int open_records(struct measure *m)
{
    if (m->records_path == NULL)
        return CLI_DONE;
    m->records = fopen(m->records_path, "ae");
    if (m->records != NULL)
        return CLI_DONE;
    cli_message(m->records_path, "cannot be written: %s", strerror(errno));
    return ridge_status_exit(RIDGE_ERR_IO);
}

static int open_ledger(struct measure *m)
{
    ridge_error err;

    m->ledger_name = cli_ledger_path(m->ledger_path);
    if (m->ledger_path != NULL || m->is_for_step)
        return cli_ledger_open(m->ledger_path, RIDGE_LEDGER_WRITE, &m->ledger);
    m->ledger_status = cli_ledger_try(NULL, RIDGE_LEDGER_WRITE, &m->ledger, &err);
    if (m->ledger_status != RIDGE_OK)
        ridge_fail(&m->ledger_error, m->ledger_status,
                   strstr(err.text, "--ledger") != NULL
                       ? "%.300s; the result is not filed"
                       : "%.300s: the result is not filed; --ledger FILE files it elsewhere",
                   err.text);
    return CLI_DONE;
}

int measure_open(struct measure *m, const char *const arms[2], const char *cases)
{
    int status = CLI_DONE;

    m->arms[0] = m->names[0] = arms[0];
    m->arms[1] = m->names[1] = arms[1];
    progress_begin(&m->progress);
    if (m->seed == OPTION_UNSET)
        m->seed = 1;
    if (!(m->timeout_s >= 1 && m->timeout_s <= LARGEST_TIMEOUT_S))
        return cli_usage_error("--timeout %g, expected 1 to %d seconds", m->timeout_s,
                               LARGEST_TIMEOUT_S);
    if (cases != NULL)
        status = expand_cases(m, cases);
    if (status == CLI_DONE && cli_ledger_is_wanted(m->ledger_path))
        status = open_ledger(m);
    if (status == CLI_DONE)
        status = unpack_build(m, 0);
    if (status == CLI_DONE)
        status = unpack_build(m, 1);
    if (status == CLI_DONE)
        status = open_records(m);
    return status;
}

/* -- what comes from a session ----------------------------------------------------------------- */

/* A command's sink behind the common one. */
struct relay {
    struct measure *m;
    const ridge_session_sink *sink;
};

static void keep_first(struct measure *m, ridge_status status, const ridge_error *err)
{
    if (status == RIDGE_OK || m->ledger_status != RIDGE_OK)
        return;
    m->ledger_status = status;
    m->ledger_error = *err;
}

static void put_row(struct measure *m, const char *line, size_t length)
{
    ridge_error err;

    m->record_count++;
    /* Flushed row by row: what a crash of this process leaves is whole. */
    if (m->records != NULL) {
        /* A long line is several writes; another ridge may be appending to the file. */
        flock(fileno(m->records), LOCK_EX);
        if (fwrite(line, 1, length, m->records) != length || putc('\n', m->records) == EOF ||
            fflush(m->records) != 0)
            m->records_failed = true;
        flock(fileno(m->records), LOCK_UN);
    }
    if (m->ledger == NULL)
        return;
    keep_first(m, filing_add(&m->filing, line, length, &err), &err);
    if (filing_is_due(&m->filing))
        filing_flush(&m->filing, m->ledger, NULL); /* the last one has to work */
}

static void on_record(void *context, const char *line, size_t length)
{
    struct measure *const m = ((struct relay *)context)->m;
    ridge_error err;

    put_row(m, line, length);
    if (m->keeps_comparisons && filing_line_has(line, length, "t", "comparison"))
        keep_first(m, filing_add(&m->comparisons, line, length, &err), &err);
}

void measure_amend(struct measure *m, size_t *cursor, const char *id, const char *member,
                   double value)
{
    ridge_error err;
    char *line;

    keep_first(m, filing_line_with(&m->comparisons, cursor, id, member, value, &line, &err), &err);
    if (line == NULL)
        return;
    put_row(m, line, strlen(line));
    free(line);
    if (m->ledger != NULL)
        keep_first(m, filing_flush(&m->filing, m->ledger, &err), &err);
}

/* After a case: what was measured is in the ledger, whatever becomes of this process. */
static void file_case(struct measure *m)
{
    m->result_count++;
    if (m->ledger != NULL)
        filing_flush(&m->filing, m->ledger, NULL);
}

/* NULL: not known, or a build that the ledger has already. */
static const char *revision_of(const struct measure *m, int arm, char revision[CLI_REVISION_BYTES])
{
    const char *const name = m->names[arm] != NULL ? m->names[arm] : m->names[0];

    if (m->ledger != NULL && name != NULL && strncmp(name, "build:", 6) != 0)
        cli_arm_revision(name, revision);
    return revision[0] != '\0' ? revision : NULL;
}

/* True when the build id, "" for any, is of other code. */
static bool is_other_build(const struct measure *m, const char *id, const char *code_hash)
{
    const char *const values[] = {id, code_hash};
    ridge_ledger_rows *rows;
    bool has_row = false;

    if (id[0] == '\0' ||
        ridge_ledger_query(m->source, "SELECT 1 FROM build WHERE id = ?1 AND code_hash = ?2",
                           values, 2, &rows, NULL) != RIDGE_OK)
        return id[0] != '\0';
    if (ridge_ledger_rows_next(rows, &has_row, NULL) != RIDGE_OK)
        has_row = false;
    ridge_ledger_rows_free(rows);
    return !has_row;
}

static void on_build(void *context, const ridge_session_build *build)
{
    const struct relay *const relay = context;
    struct measure *const m = relay->m;
    const int arm = build->arm & 1;
    char revision[CLI_REVISION_BYTES] = "";
    const ridge_build_row row = {
        .kernel = build->kernel[0] != '\0' ? build->kernel : NULL,
        .code_hash = build->code_hash,
        .arch = build->code.arch[0] != '\0' ? build->code.arch : NULL,
        .registers_per_thread = build->code.registers_per_thread,
        .spill_bytes = build->code.local_bytes,
        .shared_bytes = build->code.static_shared_bytes,
        .code_bytes = build->code.code_bytes,
        .compile_s = NAN,
        .source_rev = revision_of(m, arm, revision),
        .image = build->image,
        .image_bytes = build->image_bytes,
        .image_kind = strcmp(build->image_kind, "library") == 0 ? "so" : build->image_kind};
    ridge_error err;

    if (m->ledger != NULL && m->ledger_status == RIDGE_OK)
        keep_first(m, ridge_ledger_add_build(m->ledger, &row, m->build_ids[arm], &err), &err);
    if (is_other_build(m, m->family_builds[arm], build->code_hash)) {
        snprintf(err.text, sizeof(err.text),
                 "%.100s of this ridge is other code than build %.8s: the numbers are not filed",
                 m->arms[arm], m->family_builds[arm]);
        err.status = RIDGE_ERR_INVALID_ARGUMENT;
        if (m->ledger == NULL) /* what was measured comes before where it is not filed */
            m->ledger_status = RIDGE_OK;
        keep_first(m, err.status, &err);
    }
    if (relay->sink->build != NULL)
        relay->sink->build(relay->sink->context, build);
}

static void on_progress(void *context, const ridge_session_progress *progress)
{
    const struct relay *const relay = context;
    struct measure *const m = relay->m;
    const size_t total = m->shown_total > 0 ? m->shown_total : progress->case_count;
    char what[80];

    snprintf(what, sizeof(what), "%s %d/%d", ridge_phase_name(progress->phase), progress->done,
             progress->total);
    progress_show(&m->progress, m->shown_done + progress->case_index, total,
                  progress->phase == RIDGE_PHASE_CHECK && progress->total > 1
                      ? ridge_phase_name(progress->phase)
                      : what,
                  progress->remaining_s);
    if (relay->sink->progress != NULL)
        relay->sink->progress(relay->sink->context, progress);
}

/* What a kernel prints, marked as such, with control characters taken out. */
static void on_output(void *context, const char *line, size_t length)
{
    struct measure *const m = ((struct relay *)context)->m;

    m->output_lines++;
    if (m->output_lines > OUTPUT_LINES)
        return;
    progress_clear(&m->progress);
    if (m->output_lines == OUTPUT_LINES)
        cli_message("kernel", "prints more, which is not shown");
    else
        cli_message("kernel", "%.*s", (int)(length < 400 ? length : 400), line);
}

#define RELAY(name, member, type, ends_case)                                                       \
    static void name(void *context, const type *result)                                            \
    {                                                                                              \
        const struct relay *const relay = context;                                                 \
                                                                                                   \
        if (ends_case)                                                                             \
            file_case(relay->m);                                                                   \
        if (relay->sink->member != NULL)                                                           \
            relay->sink->member(relay->sink->context, result);                                     \
    }
RELAY(on_check, check, ridge_check_result, true)
RELAY(on_shrunk, shrunk, ridge_check_result, false)
RELAY(on_measurement, measurement, ridge_measurement, true)
RELAY(on_comparison, comparison, ridge_comparison, true)
#undef RELAY

static void on_slot(void *context, size_t case_index, const ridge_slot *slot)
{
    const struct relay *const relay = context;

    relay->sink->slot(relay->sink->context, case_index, slot);
}

static void on_base(void *context, const ridge_case *at, const char *code_hash, int arm)
{
    const struct relay *const relay = context;

    relay->sink->base_case(relay->sink->context, at, code_hash, arm);
}

char *measure_options_text(const struct measure *m, char *out, size_t size)
{
    out[0] = '\0';
    cli_add_option(out, size, "device", m->device);
    cli_add_option(out, size, "call", m->call);
    cli_add_option(out, size, "family", m->family);
    return out;
}

void measure_request(const struct measure *m, ridge_session_kind kind, ridge_session_request *out)
{
    const ridge_arm_options options = {
        .families = ridge_kernels_families(), .call = m->call, .family = m->family};

    *out = (ridge_session_request){.kind = kind,
                                   .device = m->device,
                                   .arms = {m->arms[0], m->arms[1]},
                                   .arm_names = {m->names[0], m->names[1]},
                                   .arm_options = {options, options},
                                   .case_texts = (const char *const *)m->cases,
                                   .case_count = m->case_count,
                                   .seed = m->seed,
                                   .timeout_s = m->timeout_s,
                                   .archive = m->ledger != NULL};
}

ridge_status measure_run(struct measure *m, const ridge_session_request *request,
                         const ridge_session_sink *sink, int *exit_status)
{
    struct relay relay = {m, sink};
    const ridge_session_sink common = {.record = m->ledger != NULL || m->records != NULL ? on_record
                                                                                         : NULL,
                                       .progress = on_progress,
                                       .slot = sink->slot != NULL ? on_slot : NULL,
                                       .base_case = sink->base_case != NULL ? on_base : NULL,
                                       .build = on_build,
                                       .check = on_check,
                                       .shrunk = on_shrunk,
                                       .measurement = on_measurement,
                                       .comparison = on_comparison,
                                       .output = on_output,
                                       .should_stop = should_stop,
                                       .should_kill = should_kill,
                                       .context = &relay};
    struct sigaction old[3];
    ridge_status status = RIDGE_OK;
    ridge_error err;

    *exit_status = CLI_DONE;
    catch_interrupts(old, true);
    status = ridge_session_run(request, &common, &err);
    catch_interrupts(old, false);
    progress_clear(&m->progress);
    if (status != RIDGE_OK)
        *exit_status = cli_fail(NULL, &err);
    if (m->ledger != NULL)
        keep_first(m, filing_flush(&m->filing, m->ledger, &err), &err);
    return status;
}

/* " of step 2" for the build of the candidate, which is the last arm, when the open step has it now;
 * why not, when that is worth saying; else "". */
static void give_to_step(struct measure *m, char *out, size_t size)
{
    const char *const build = m->build_ids[m->names[1] != NULL ? 1 : 0];
    char own[LEDGER_ID_BYTES];
    ridge_error err;
    ridge_status status;
    int number;

    out[0] = '\0';
    /* One transaction: the step that is looked at is the one that gets the build. */
    if (build[0] == '\0' || ridge_ledger_begin(m->ledger, NULL) != RIDGE_OK)
        return;
    status = cli_open_step(m->ledger, &number, own, &err);
    if (status == RIDGE_OK && number > 0 && own[0] == '\0')
        status = ridge_ledger_step_build(m->ledger, build, &err);
    if (status == RIDGE_OK)
        status = ridge_ledger_commit(m->ledger, &err);
    else
        ridge_ledger_rollback(m->ledger);
    if (number == 0)
        return;
    if (status != RIDGE_OK)
        snprintf(out, size, ", not of step %d: %.120s", number, err.text);
    else if (own[0] == '\0' || strcmp(own, build) == 0)
        snprintf(out, size, " of step %d", number);
    else
        snprintf(out, size, ", not of step %d, which has %.8s", number, own);
}

/* To standard error: what a ledger got, which later commands take by these digits. */
static void say_builds(struct measure *m)
{
    char step[200];

    if (m->ledger == NULL || m->is_for_step || m->ledger_status != RIDGE_OK ||
        (m->build_ids[0][0] == '\0' && m->build_ids[1][0] == '\0'))
        return;
    give_to_step(m, step, sizeof(step));
    if (m->build_ids[0][0] != '\0' && m->build_ids[1][0] != '\0' &&
        strcmp(m->build_ids[0], m->build_ids[1]) != 0)
        cli_message(NULL, "filed builds %.8s and %.8s%s", m->build_ids[0], m->build_ids[1], step);
    else
        cli_message(NULL, "filed build %.8s%s", m->build_ids[m->build_ids[1][0] != '\0' ? 1 : 0],
                    step);
}

int measure_close(struct measure *m, int status)
{
    size_t i;
    int arm;

    for (i = 0; i < m->case_count; i++)
        free(m->cases[i]);
    free(m->cases);
    for (arm = 0; arm < 2; arm++)
        if (m->build_files[arm][0] != '\0')
            unlink(m->build_files[arm]);
    if (m->folder[0] != '\0')
        rmdir(m->folder);
    if (m->ledger_status != RIDGE_OK && (m->ledger != NULL || m->result_count > 0)) {
        const int failed = cli_fail(m->ledger_name, &m->ledger_error);

        status = status == CLI_DONE ? failed : status;
    }
    say_builds(m);
    filing_release(&m->filing);
    filing_release(&m->comparisons);
    if (m->source != m->ledger)
        ridge_ledger_free(m->source);
    ridge_ledger_free(m->ledger);
    if (m->records != NULL && (fclose(m->records) != 0 || m->records_failed)) {
        cli_message(m->records_path, "not all %zu rows could be written", m->record_count);
        status = status == CLI_DONE ? ridge_status_exit(RIDGE_ERR_IO) : status;
    }
    return status;
}
