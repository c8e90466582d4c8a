/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge diagnose: which wall a kernel hits, why, where, what to change first and what to leave
 * alone. One kernel is one screen; several are a table, with a screen for those that --kernel,
 * --launch or --top name. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "options.h"
#include "ridge/diagnose.h"

static const char usage[] = "ridge diagnose [options] FILE...";

struct request {
    struct cli_output out;
    struct kernel_filter filter;
    size_t top;
    bool all;
    ridge_diagnose_options model;
    const char *fail_on; /* comma-separated ids; NULL: none */
    size_t file_count;
};

/* A file that is open, and its kernels that were asked for, the longest first. They are diagnosed
 * one at a time, so that memory does not grow with their number. */
struct file_result {
    const char *path;
    ridge_report *report;
    const ridge_report_kernel **kernels;
    size_t count;
    double total_ns;
};

/* What the run has come to. */
struct outcome {
    int status;
    bool failed; /* a finding of --fail-on was made */
};

/* -- --fail-on --------------------------------------------------------------------------------- */

/* Calls for each id of a comma-separated list; false ends the walk and is returned. */
static bool each_id(const char *ids, bool (*visit)(const char *id, size_t length, void *context),
                    void *context)
{
    const char *id = ids;

    while (id != NULL && *id != '\0') {
        const char *const comma = strchr(id, ',');
        const size_t length = comma != NULL ? (size_t)(comma - id) : strlen(id);

        if (length > 0 && !visit(id, length, context))
            return false;
        id = comma != NULL ? comma + 1 : NULL;
    }
    return true;
}

static bool is_known_id(const char *id, size_t length, void *context)
{
    char name[64];

    (void)context;
    if (length < sizeof(name)) {
        memcpy(name, id, length);
        name[length] = '\0';
        if (ridge_topic_find(name) != NULL)
            return true;
    }
    cli_usage_error("--fail-on: unknown finding '%.*s', see ridge explain",
                    (int)(length > 60 ? 60 : length), id);
    return false;
}

static bool is_id(const char *name, const char *id, size_t length)
{
    return strlen(name) == length && memcmp(name, id, length) == 0;
}

static bool is_not_found(const char *id, size_t length, void *context)
{
    const ridge_diagnosis *const diagnosis = context;
    size_t i;

    if (is_id("missing_data", id, length))
        return diagnosis->missing_count == 0;
    if (is_id("clock_control", id, length))
        return !diagnosis->clocks_locked;
    for (i = 0; i < diagnosis->finding_count; i++)
        if (!diagnosis->findings[i].is_minor && is_id(diagnosis->findings[i].id, id, length))
            return false;
    return true;
}

/* -- work -------------------------------------------------------------------------------------- */

static int compare_time(const void *left, const void *right)
{
    const ridge_report_kernel_info *const a =
        ridge_report_kernel_get_info(*(const ridge_report_kernel *const *)left);
    const ridge_report_kernel_info *const b =
        ridge_report_kernel_get_info(*(const ridge_report_kernel *const *)right);
    const double a_ns = isnan(a->duration_ns) ? -1 : a->duration_ns;
    const double b_ns = isnan(b->duration_ns) ? -1 : b->duration_ns;

    if (a_ns != b_ns)
        return a_ns < b_ns ? 1 : -1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static void release(struct file_result *result)
{
    free(result->kernels);
    ridge_report_free(result->report);
    memset(result, 0, sizeof(*result));
}

/* Opens a file and chooses its kernels; returns an exit status after printing what went wrong. */
static int open_file(const char *path, const struct request *request, struct file_result *result)
{
    size_t i;
    int status;

    memset(result, 0, sizeof(*result));
    result->path = path;
    status = cli_open_metrics(path, &result->report);
    if (result->report != NULL)
        status = cli_select_kernels(result->report, path, &request->filter, &result->kernels,
                                    &result->count);
    if (status != CLI_DONE) {
        release(result);
        return status;
    }
    qsort(result->kernels, result->count, sizeof(result->kernels[0]), compare_time);
    for (i = 0; i < result->count; i++) {
        const double duration_ns = ridge_report_kernel_get_info(result->kernels[i])->duration_ns;

        result->total_ns += isnan(duration_ns) ? 0 : duration_ns;
    }
    return CLI_DONE;
}

/* The diagnosis of one kernel, or NULL after printing why not. */
static ridge_diagnosis *diagnose(const struct file_result *result, size_t index,
                                 const struct request *request, struct outcome *outcome)
{
    ridge_diagnosis *diagnosis;
    ridge_error err;

    if (ridge_diagnose(result->report, ridge_report_kernel_get_info(result->kernels[index])->index,
                       &request->model, &diagnosis, &err) != RIDGE_OK) {
        outcome->status = cli_fail(result->path, &err);
        return NULL;
    }
    /* Where nothing can be decided, no finding is no proof. */
    if (request->fail_on != NULL && diagnosis->verdict.cls == RIDGE_CLASS_UNKNOWN &&
        !outcome->failed)
        cli_message(result->path, "--fail-on: not decided for %s: the report lacks data",
                    diagnosis->name);
    outcome->failed = outcome->failed || !each_id(request->fail_on, is_not_found, diagnosis) ||
                      (request->fail_on != NULL && diagnosis->verdict.cls == RIDGE_CLASS_UNKNOWN);
    return diagnosis;
}

/* -- output ------------------------------------------------------------------------------------ */

static const ridge_column columns[] = {
    {"launch", "ID", RIDGE_UNIT_NONE, false, 0, 0},
    {"name", "Kernel", RIDGE_UNIT_NONE, true, 16, 0},
    {"duration_ns", "Time", RIDGE_UNIT_NS, false, 0, 1},
    {"share", "Share", RIDGE_UNIT_FRAC, false, 0, 6},
    {"class", "Class", RIDGE_UNIT_NONE, true, 0, 4},
    {"wall", "Wall", RIDGE_UNIT_NONE, true, 0, 2},
    {"busy", "Busy", RIDGE_UNIT_FRAC, false, 0, 5},
    {"first", "First finding", RIDGE_UNIT_NONE, true, 0, 0},
    {"gain", "Gain to", RIDGE_UNIT_RATIO, false, 0, 3},
};

static void add_row(ridge_table *table, const ridge_diagnosis *diagnosis, double total_ns)
{
    const ridge_finding *const first =
        diagnosis->finding_count > 0 ? &diagnosis->findings[0] : NULL;

    ridge_table_count(table, diagnosis->launch_index);
    ridge_table_text(table, diagnosis->name);
    ridge_table_number(table, diagnosis->duration_ns);
    ridge_table_number(table, total_ns > 0 ? diagnosis->duration_ns / total_ns : NAN);
    ridge_table_text(table, ridge_class_name(diagnosis->verdict.cls));
    ridge_table_text(table, ridge_wall_name(diagnosis->verdict.wall));
    ridge_table_number(table, diagnosis->verdict.saturation_frac);
    ridge_table_text(table, first != NULL ? first->id : NULL);
    ridge_table_number(table, first != NULL ? first->speedup_bound[1] : NAN);
}

static void write_table(const struct file_result *result, const struct request *request,
                        ridge_output *output, struct outcome *outcome)
{
    ridge_table *const table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    size_t i;

    for (i = 0; i < result->count && outcome->status == CLI_DONE; i++) {
        ridge_diagnosis *const diagnosis = diagnose(result, i, request, outcome);

        if (diagnosis != NULL)
            add_row(table, diagnosis, result->total_ns);
        ridge_diagnosis_free(diagnosis);
    }
    ridge_table_write(table, request->out.format, output, NULL, NULL);
    ridge_table_free(table);
}

static void write_hint(const char *path, ridge_output *output)
{
    char text[512];

    snprintf(text, sizeof(text),
             "ridge diagnose --top 1 %.300s explains the first, --launch ID or --kernel REGEX any "
             "other.",
             path);
    ridge_output_text(output, "\n");
    ridge_output_wrap(output, 0, "", text);
}

static void write_screen(const struct file_result *result, size_t index,
                         const struct request *request, ridge_output *output,
                         struct outcome *outcome)
{
    ridge_diagnosis *const diagnosis = diagnose(result, index, request, outcome);

    if (diagnosis == NULL)
        return;
    if (request->out.format == RIDGE_FORMAT_MARKDOWN)
        ridge_diagnosis_write_markdown(diagnosis, request->all, output);
    else
        ridge_diagnosis_write_text(diagnosis, request->all, output);
    ridge_diagnosis_free(diagnosis);
}

static void write_text(const struct file_result *result, const struct request *request,
                       ridge_output *output, struct outcome *outcome)
{
    const bool chosen = request->filter.pattern != NULL || request->filter.launch != OPTION_UNSET ||
                        request->top != OPTION_UNSET;
    const bool markdown = request->out.format == RIDGE_FORMAT_MARKDOWN;
    size_t shown = result->count == 1 || chosen ? result->count : 0;
    size_t i;

    if (request->top < shown)
        shown = request->top;
    if (request->file_count > 1)
        ridge_output_format(output, markdown ? "# %s\n\n" : "%s\n\n", result->path);
    if (result->count > 1) {
        write_table(result, request, output, outcome);
        if (shown == 0 && !markdown)
            write_hint(result->path, output);
    }
    for (i = 0; i < shown && outcome->status == CLI_DONE; i++) {
        if (i > 0 || result->count > 1)
            ridge_output_text(output, "\n");
        write_screen(result, i, request, output, outcome);
    }
}

static void write_json_file(const struct file_result *result, const struct request *request,
                            ridge_json *json, struct outcome *outcome)
{
    size_t i;

    ridge_json_text(json, "file", result->path);
    ridge_json_begin_array(json, "kernels");
    for (i = 0; i < result->count && outcome->status == CLI_DONE; i++) {
        ridge_diagnosis *const diagnosis = diagnose(result, i, request, outcome);

        if (diagnosis != NULL && i < request->top)
            ridge_diagnosis_write_json(diagnosis, json);
        ridge_diagnosis_free(diagnosis);
    }
    ridge_json_end_array(json);
}

/* One file: {"schema", "file", "kernels"}; several: {"schema", "files": [{"file", "kernels"}]}. */
static void write_json(const struct file_result *results, const struct request *request,
                       ridge_output *output, struct outcome *outcome)
{
    ridge_json *const json = ridge_json_create(output);
    size_t i;

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "schema", "ridge-diagnosis/1");
    if (request->file_count == 1) {
        write_json_file(&results[0], request, json, outcome);
    } else {
        ridge_json_begin_array(json, "files");
        for (i = 0; i < request->file_count; i++) {
            if (results[i].count == 0)
                continue;
            ridge_json_begin_object(json, NULL);
            write_json_file(&results[i], request, json, outcome);
            ridge_json_end_object(json);
        }
        ridge_json_end_array(json);
    }
    ridge_json_end_object(json);
    ridge_json_free(json);
}

static void write_results(const struct file_result *results, const struct request *request,
                          struct outcome *outcome)
{
    ridge_output *const output = cli_open(&request->out);
    size_t i, written = 0;

    if (request->out.format == RIDGE_FORMAT_JSON)
        write_json(results, request, output, outcome);
    else
        for (i = 0; i < request->file_count; i++) {
            if (results[i].count == 0)
                continue;
            if (written++ > 0)
                ridge_output_text(output, "\n");
            write_text(&results[i], request, output, outcome);
        }
    outcome->status = cli_close(output, outcome->status);
}

static int run(char **paths, const struct request *request)
{
    struct file_result *const results = calloc(request->file_count, sizeof(*results));
    struct outcome outcome = {CLI_DONE, false};
    int worst = CLI_DONE; /* of the files that could not be opened */
    ridge_error err;
    bool any = false;
    size_t i;

    if (results == NULL) {
        ridge_fail(&err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
        return cli_fail(NULL, &err);
    }
    for (i = 0; i < request->file_count; i++) {
        const int status = open_file(paths[i], request, &results[i]);

        if (status > worst)
            worst = status;
        any = any || results[i].count > 0;
    }
    if (any)
        write_results(results, request, &outcome);
    for (i = 0; i < request->file_count; i++)
        release(&results[i]);
    free(results);
    if (worst == CLI_DONE)
        worst = outcome.status;
    return worst == CLI_DONE && outcome.failed ? CLI_NO : worst;
}

/* The operations of --workload with the colon that follows, for completion. */
static const char *const *operation_words(void)
{
    static char texts[32][32];
    static const char *words[32 + 1];
    size_t i;

    for (i = 0; i < 32 && ridge_workload_operation(i) != NULL; i++) {
        snprintf(texts[i], sizeof(texts[i]), "%s:", ridge_workload_operation(i));
        words[i] = texts[i];
    }
    words[i] = NULL;
    return words;
}

int cmd_diagnose(int argc, char **argv)
{
    struct request request = {.filter = KERNEL_FILTER_ALL, .top = OPTION_UNSET};
    const char *workload = NULL;
    uint64_t bytes = 0;
    double flop_count = 0;
    const struct option options[] = {
        OPT_KERNELS(&request.filter),
        OPT_COUNT('n', "top", &request.top, "N", "explain the N longest kernels"),
        OPT_SIZE(0, "bytes", &bytes, "bytes that the work needs to move, for repeated reads"),
        OPT_NUMBER(0, "flop", &flop_count, "N", "floating-point operations of the work"),
        OPT_WORDS(0, "workload", &workload, "OP:SHAPE:DTYPE", operation_words(),
                  "take bytes and operations from rms_norm:8192x4096:bf16 and the like"),
        OPT_FLAG('a', "all", &request.all, "every finding, every gate and the staircase"),
        OPT_WORDS(0, "fail-on", &request.fail_on, "ID,...", cli_topic_ids(),
                  "exit with 1 when one of these findings is made"),
        OPT_JSON(&request.out),
        OPT_MARKDOWN(&request.out),
        OPT_COMMON(&request.out),
        OPT_END,
    };
    ridge_error err;
    int status;

    if (!options_parse(&argc, argv, usage, options, &status))
        return status;
    if (request.top == 0)
        return cli_usage_error("--top needs 1 or more, not 0");
    if (argc < 2)
        return cli_usage_error("expected one FILE or more");
    if (request.fail_on != NULL && strspn(request.fail_on, ",") == strlen(request.fail_on))
        return cli_usage_error("--fail-on needs the id of a finding, see ridge explain");
    if (!each_id(request.fail_on, is_known_id, NULL))
        return CLI_USAGE;
    if (workload != NULL && ridge_workload_parse(workload, &request.model.compulsory_bytes,
                                                 &request.model.flop_count, &err) != RIDGE_OK)
        return cli_usage_error("--workload: %s", err.text);
    if (bytes > 0)
        request.model.compulsory_bytes = (double)bytes;
    if (flop_count > 0)
        request.model.flop_count = flop_count;
    request.file_count = (size_t)argc - 1;
    return run(argv + 1, &request);
}
