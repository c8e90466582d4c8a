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

/* The diagnoses of one file, the longest kernel first. */
struct file_result {
    const char *path;
    ridge_diagnosis **diagnoses;
    size_t count;
    size_t report_kernel_count;
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

static bool has_failed(const struct request *request, const struct file_result *result)
{
    size_t i;

    for (i = 0; i < result->count; i++)
        if (!each_id(request->fail_on, is_not_found, result->diagnoses[i]))
            return true;
    return false;
}

/* -- work -------------------------------------------------------------------------------------- */

static int compare_time(const void *left, const void *right)
{
    const ridge_diagnosis *const a = *(const ridge_diagnosis *const *)left;
    const ridge_diagnosis *const b = *(const ridge_diagnosis *const *)right;
    const double a_ns = isnan(a->duration_ns) ? -1 : a->duration_ns;
    const double b_ns = isnan(b->duration_ns) ? -1 : b->duration_ns;

    if (a_ns != b_ns)
        return a_ns < b_ns ? 1 : -1;
    return a->launch_index < b->launch_index ? -1 : a->launch_index > b->launch_index;
}

static void release(struct file_result *result)
{
    size_t i;

    for (i = 0; i < result->count; i++)
        ridge_diagnosis_free(result->diagnoses[i]);
    free(result->diagnoses);
    result->diagnoses = NULL;
    result->count = 0;
}

/* Fills *result; returns an exit status after printing what went wrong. */
static int diagnose_file(const char *path, const struct request *request,
                         struct file_result *result)
{
    ridge_report *report = NULL;
    const ridge_kernel **kernels = NULL;
    ridge_error err;
    size_t count = 0, i;
    int status;

    memset(result, 0, sizeof(*result));
    result->path = path;
    status = cli_open_report(path, &report);
    if (report == NULL)
        return status;
    status = cli_select_kernels(report, path, &request->filter, &kernels, &count);
    if (status != CLI_DONE)
        goto out;
    result->report_kernel_count = ridge_report_kernel_count(report);
    result->diagnoses = calloc(count, sizeof(result->diagnoses[0]));
    if (result->diagnoses == NULL) {
        ridge_fail(&err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
        status = cli_fail(path, &err);
        goto out;
    }
    for (i = 0; i < count && status == CLI_DONE; i++) {
        if (ridge_diagnose(report, ridge_kernel_get_info(kernels[i])->index, &request->model,
                           &result->diagnoses[i], &err) == RIDGE_OK)
            result->count++;
        else
            status = cli_fail(path, &err);
    }
    qsort(result->diagnoses, result->count, sizeof(result->diagnoses[0]), compare_time);
out:
    if (status != CLI_DONE)
        release(result);
    free(kernels);
    ridge_report_free(report);
    return status;
}

/* -- output ------------------------------------------------------------------------------------ */

static const ridge_column columns[] = {
    {"launch", "ID", RIDGE_UNIT_NONE, false},
    {"name", "Kernel", RIDGE_UNIT_NONE, true},
    {"duration_ns", "Time", RIDGE_UNIT_NS, false},
    {"share", "Share", RIDGE_UNIT_FRAC, false},
    {"class", "Class", RIDGE_UNIT_NONE, true},
    {"wall", "Wall", RIDGE_UNIT_NONE, true},
    {"busy", "Busy", RIDGE_UNIT_FRAC, false},
    {"first", "First finding", RIDGE_UNIT_NONE, true},
    {"gain", "Gain to", RIDGE_UNIT_RATIO, false},
};

static void write_table(const struct file_result *result, ridge_format format, ridge_output *output)
{
    ridge_table *const table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    double total_ns = 0;
    size_t i;

    for (i = 0; i < result->count; i++)
        total_ns +=
            isnan(result->diagnoses[i]->duration_ns) ? 0 : result->diagnoses[i]->duration_ns;
    for (i = 0; i < result->count; i++) {
        const ridge_diagnosis *const diagnosis = result->diagnoses[i];
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
    ridge_table_write(table, format, output, NULL, NULL);
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

static void write_text(const struct file_result *result, const struct request *request,
                       ridge_output *output)
{
    const bool chosen = request->filter.pattern != NULL || request->filter.launch != OPTION_UNSET ||
                        request->top != OPTION_UNSET;
    const bool markdown = request->out.format == RIDGE_FORMAT_MARKDOWN;
    size_t shown = result->count == 1 || chosen ? result->count : 0;
    size_t i;

    if (request->top != OPTION_UNSET && request->top < shown)
        shown = request->top;
    if (request->file_count > 1)
        ridge_output_format(output, markdown ? "# %s\n\n" : "%s\n\n", result->path);
    if (result->count > 1) {
        write_table(result, request->out.format, output);
        if (shown == 0 && !markdown)
            write_hint(result->path, output);
    }
    for (i = 0; i < shown; i++) {
        if (i > 0 || result->count > 1)
            ridge_output_text(output, "\n");
        if (markdown)
            ridge_diagnosis_write_markdown(result->diagnoses[i], request->all, output);
        else
            ridge_diagnosis_write_text(result->diagnoses[i], request->all, output);
    }
}

static void write_json_file(const struct file_result *result, const struct request *request,
                            ridge_json *json)
{
    size_t i;

    ridge_json_text(json, "file", result->path);
    ridge_json_begin_array(json, "kernels");
    for (i = 0; i < result->count && i < request->top; i++)
        ridge_diagnosis_write_json(result->diagnoses[i], json);
    ridge_json_end_array(json);
}

/* One file: {"schema", "file", "kernels"}; several: {"schema", "files": [{"file", "kernels"}]}. */
static void write_json(const struct file_result *results, const struct request *request,
                       ridge_output *output)
{
    ridge_json *const json = ridge_json_create(output);
    size_t i;

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "schema", "ridge-diagnosis/1");
    if (request->file_count == 1) {
        write_json_file(&results[0], request, json);
    } else {
        ridge_json_begin_array(json, "files");
        for (i = 0; i < request->file_count; i++) {
            ridge_json_begin_object(json, NULL);
            write_json_file(&results[i], request, json);
            ridge_json_end_object(json);
        }
        ridge_json_end_array(json);
    }
    ridge_json_end_object(json);
    ridge_json_free(json);
}

static int write_results(const struct file_result *results, const struct request *request,
                         int status)
{
    ridge_output *const output = cli_open(&request->out);
    size_t i, written = 0;

    if (request->out.format == RIDGE_FORMAT_JSON) {
        write_json(results, request, output);
        return cli_close(output, status);
    }
    for (i = 0; i < request->file_count; i++) {
        if (results[i].count == 0)
            continue;
        if (written++ > 0)
            ridge_output_text(output, "\n");
        write_text(&results[i], request, output);
    }
    return cli_close(output, status);
}

static int run(char **paths, const struct request *request)
{
    struct file_result *const results = calloc(request->file_count, sizeof(*results));
    ridge_error err;
    int status = CLI_DONE;
    bool failed = false, any = false;
    size_t i;

    if (results == NULL) {
        ridge_fail(&err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
        return cli_fail(NULL, &err);
    }
    for (i = 0; i < request->file_count; i++) {
        const int file_status = diagnose_file(paths[i], request, &results[i]);

        if (file_status > status)
            status = file_status; /* the worst one is the command's */
        any = any || results[i].count > 0;
        failed = failed || has_failed(request, &results[i]);
    }
    if (any)
        status = write_results(results, request, status);
    for (i = 0; i < request->file_count; i++)
        release(&results[i]);
    free(results);
    return status == CLI_DONE && failed ? CLI_NO : status;
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
        OPT_STRING(0, "workload", &workload, "OP:SHAPE:DTYPE",
                   "take bytes and operations from rms_norm:8192x4096:bf16 and the like"),
        OPT_FLAG('a', "all", &request.all, "every finding, every gate and the staircase"),
        OPT_STRING(0, "fail-on", &request.fail_on, "ID,...",
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
    if (argc < 2)
        return cli_usage_error("expected one FILE or more");
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
