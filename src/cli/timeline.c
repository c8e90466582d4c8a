/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge timeline: is the time between the kernels or inside them, why, and what to do next. One
 * trace is one screen; files of several ranks are a table of ranks, two files a comparison. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commands.h"
#include "progress.h"
#include "timeline_cli.h"

static const char usage[] = "ridge timeline [options] FILE...";

enum { MOST_FILES = 4096, LONG_READ_BYTES = 32 << 20 };

static int out_of_memory(const char *path)
{
    cli_message(path, "out of memory");
    return ridge_status_exit(RIDGE_ERR_OUT_OF_MEMORY);
}

/* -- files ------------------------------------------------------------------------------------- */

static void close_file(struct timeline_file *file)
{
    ridge_timeline_free(file->timeline);
    ridge_trace_free(file->trace);
    memset(file, 0, sizeof(*file));
}

static int choose_device(const struct timeline_request *request, struct timeline_file *file)
{
    char known[96] = "";
    size_t used = 0, i;

    file->main = ridge_timeline_main_device(file->timeline);
    if (request->device == OPTION_UNSET) {
        if (file->main == NULL && file->device_count > 0)
            file->main = &file->devices[0];
        return CLI_DONE;
    }
    for (i = 0; i < file->device_count; i++) {
        const int64_t id = timeline_device_id(file->trace, &file->devices[i]);

        if (id >= 0 && (uint64_t)id == request->device) {
            file->main = &file->devices[i];
            return CLI_DONE;
        }
        if (used < sizeof(known) - 24)
            used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%lld",
                                     used > 0 ? ", " : "", (long long)id);
    }
    cli_message(file->path, "no work on device %zu; there is some on %s", request->device,
                used > 0 ? known : "none");
    return CLI_NO;
}

static void show_reading(struct progress *progress, const char *path, size_t index, size_t count)
{
    char text[96];
    struct stat about;

    if (stat(path, &about) != 0 || about.st_size < LONG_READ_BYTES)
        return;
    snprintf(text, sizeof(text), "reading %.60s", cli_base_name(path));
    progress->drawn_s = 0;
    progress_show(progress, index, count, text, NAN);
}

/* Returns 0, or an exit status after a message; a partial trace is open and gives 3. */
static int open_file(const char *path, const struct timeline_request *request,
                     struct timeline_file *file)
{
    struct stat about;
    ridge_error err;
    int status;

    file->path = path;
    if (strcmp(path, "-") == 0 || (stat(path, &about) == 0 && S_ISFIFO(about.st_mode))) {
        cli_message(path, "a trace is not read from a pipe: save it to a file first");
        return ridge_status_exit(RIDGE_ERR_IO);
    }
    if (ridge_trace_open(path, NULL, &file->trace, &err) != RIDGE_OK)
        return cli_fail(path, &err);
    file->info = ridge_trace_get_info(file->trace);
    status = timeline_choose_part(request, file);
    if (status == CLI_DONE &&
        ridge_timeline_create(file->trace, &file->window, &file->timeline, &err) != RIDGE_OK)
        status = cli_fail(path, &err);
    if (status == CLI_DONE) {
        file->devices = ridge_timeline_devices(file->timeline, &file->device_count);
        status = choose_device(request, file);
    }
    if (status != CLI_DONE) {
        close_file(file);
        return status;
    }
    if (!file->info->is_partial)
        return CLI_DONE;
    cli_message(path, "%s; what is there was read", file->info->partial);
    return ridge_status_exit(RIDGE_ERR_FORMAT);
}

/* Lines of --bounds that are of no use here: a slip in a name would pass unseen. */
static void say_unused(const struct timeline_request *request, const struct timeline_file *files,
                       size_t count)
{
    const char *first;
    size_t unused, i;
    char more[48] = "";
    ridge_error err;

    for (i = 0; i < count && request->given != NULL; i++) {
        if (ridge_given_bounds_unused(request->given, files[i].trace, &unused, &first, &err) !=
                RIDGE_OK ||
            unused == 0)
            continue;
        if (unused > 1)
            snprintf(more, sizeof(more), " (and %zu more)", unused - 1);
        cli_message(request->bounds, "no kernel of %.100s fits '%s'%s",
                    cli_base_name(files[i].path), first, more);
    }
}

/* -- modes ------------------------------------------------------------------------------------- */

/* Of one run are ranks of as many, on GPUs of one name. */
static bool may_be_one_run(const struct timeline_file *a, const struct timeline_file *b)
{
    const int size = a->info->world_size, other = b->info->world_size;

    return (size < 0 || other < 0 || size == other) &&
           (a->main == NULL || b->main == NULL ||
            strcmp(timeline_device_name(a->trace, a->main),
                   timeline_device_name(b->trace, b->main)) == 0);
}

/* Two files of one rank, or of two runs, are before and after; files of different ranks are one
 * run. */
static bool is_comparison(const struct timeline_request *request, const struct timeline_file *files,
                          size_t count)
{
    if (request->compare || request->ranks)
        return request->compare;
    return count == 2 && (files[0].info->rank < 0 || files[0].info->rank == files[1].info->rank ||
                          !may_be_one_run(&files[0], &files[1]));
}

static void write_svg(ridge_output *output, const void *context)
{
    const struct timeline_file *const file = context;

    ridge_timeline_write_svg(file->trace, file->main, cli_base_name(file->path), output);
}

static ridge_status write_json(const struct timeline_file *files, size_t count, bool compares,
                               const struct timeline_request *request, ridge_output *output,
                               ridge_error *err)
{
    ridge_json *const json = ridge_json_create(output);
    ridge_status status = RIDGE_OK;
    size_t i;

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "schema", compares ? "ridge-timeline-compare/1" : "ridge-timeline/1");
    if (compares) {
        status = timeline_write_compare(&files[0], &files[1], request, NULL, json, err);
    } else if (count == 1) {
        status = timeline_write_json(&files[0], request, json, err);
    } else {
        timeline_write_ranks(files, count, request, NULL, json);
        ridge_json_begin_array(json, "files");
        for (i = 0; i < count && status == RIDGE_OK; i++) {
            ridge_json_begin_object(json, NULL);
            status = timeline_write_json(&files[i], request, json, err);
            ridge_json_end_object(json);
        }
        ridge_json_end_array(json);
    }
    ridge_json_end_object(json);
    ridge_json_free(json);
    return status;
}

static ridge_status write_text(const struct timeline_file *files, size_t count, bool compares,
                               const struct timeline_request *request, ridge_output *output,
                               ridge_error *err)
{
    size_t i;

    if (compares)
        return timeline_write_compare(&files[0], &files[1], request, output, NULL, err);
    if (count > 1) {
        timeline_write_ranks(files, count, request, output, NULL);
        for (i = 0; i < count && files[i].part.note[0] == '\0'; i++)
            ;
        if (i < count) { /* once: ranks have done the same */
            ridge_output_text(output, "\n");
            timeline_print_part(&files[i], output);
        }
        return RIDGE_OK;
    }
    if (request->kernels || request->api || request->nvtx || request->streams ||
        request->gaps != OPTION_UNSET)
        return timeline_print_tables(files, request, output, err);
    return timeline_print_screen(files, request, output, err);
}

/* A trace that was cut has had its line. */
static int say_nothing(const struct timeline_file *file, const char *so)
{
    if (!file->info->is_partial)
        cli_message(file->path, "no work of a GPU was %s: %s",
                    file->info->begin_count > 0 ? "read (begin and end events)" : "recorded", so);
    return CLI_NO;
}

static int write_results(const struct timeline_file *files, size_t count, bool compares,
                         const struct timeline_request *request)
{
    const bool whole = request->whole_names;
    ridge_output *output;
    ridge_status status;
    ridge_error err;
    int written = CLI_DONE;

    if (compares && (files[0].main == NULL || files[1].main == NULL))
        return say_nothing(&files[files[0].main == NULL ? 0 : 1], "nothing to compare");
    if (request->svg != NULL && files[0].main == NULL)
        return say_nothing(&files[0], "nothing to draw");
    if (request->svg != NULL)
        written = cli_write_output(request->svg, write_svg, files, request->force);
    if (written != CLI_DONE)
        return written;
    output = whole ? cli_open_whole(&request->out) : cli_open(&request->out);
    if (request->csv != NULL)
        status = timeline_write_csv(files, request, output, &err);
    else if (request->out.format == RIDGE_FORMAT_JSON)
        status = write_json(files, count, compares, request, output, &err);
    else
        status = write_text(files, count, compares, request, output, &err);
    return cli_close(output, status == RIDGE_OK ? CLI_DONE : cli_fail(files[0].path, &err));
}

/* The line of --fail-idle for a file whose GPU is idle too much. */
static bool is_too_idle(const struct timeline_request *request, const struct timeline_file *file)
{
    double idle;

    if (file->main == NULL) {
        say_nothing(file, "--fail-idle is not decided");
        return true;
    }
    idle = 100 * timeline_frac((double)file->main->idle_ns, (double)timeline_span(file->main));
    if (!(idle > request->fail_idle))
        return false;
    cli_message(file->path, "idle %.1f %% of the span, above the %g %% of --fail-idle", idle,
                request->fail_idle);
    return true;
}

static int run(char **paths, size_t count, const struct timeline_request *request)
{
    struct timeline_file *const files = calloc(count, sizeof(*files));
    struct progress progress;
    size_t opened = 0, i;
    int worst = CLI_DONE, status = CLI_DONE;
    bool failed = false, compares;

    if (files == NULL)
        return out_of_memory(NULL);
    progress_begin(&progress);
    for (i = 0; i < count; i++) {
        show_reading(&progress, paths[i], i, count);
        status = open_file(paths[i], request, &files[opened]);
        progress_clear(&progress);
        worst = status > worst ? status : worst;
        opened += files[opened].timeline != NULL ? 1 : 0;
        if (status == CLI_USAGE)
            break;
    }
    compares = is_comparison(request, files, opened);
    if (compares)
        timeline_match_devices(&files[0], &files[1]);
    if (opened == count || (opened > 0 && worst != CLI_USAGE && !request->compare))
        status = write_results(files, opened, compares, request);
    say_unused(request, files, opened);
    /* Of a comparison AFTER counts: an improvement must be able to pass. */
    for (i = compares ? 1 : 0; i < opened && !isnan(request->fail_idle); i++)
        failed = is_too_idle(request, &files[i]) || failed;
    for (i = 0; i < opened; i++)
        close_file(&files[i]);
    free(files);
    if (worst == CLI_DONE)
        worst = status;
    return worst == CLI_DONE && failed ? CLI_NO : worst;
}

/* -- the command ------------------------------------------------------------------------------- */

/* Roofs of --gpu and --measured, what was not measured as sold. */
static int read_roofs(struct timeline_request *request)
{
    ridge_roofs *const roofs = &request->roof_storage;
    ridge_roofs measured;
    ridge_error err;
    size_t i;

    if (cli_has_chip(&request->gpu)) {
        const int status = cli_find_chip(&request->gpu);

        if (status != CLI_DONE)
            return status;
        ridge_roofs_of_chip(request->gpu.chip, roofs);
        request->roofs = roofs;
    }
    if (request->measured == NULL)
        return CLI_DONE;
    if (ridge_roofs_read(request->measured, &measured, &err) != RIDGE_OK)
        return cli_fail(request->measured, &err);
    if (request->roofs == NULL && ridge_chip_find(measured.name) != NULL)
        ridge_roofs_of_chip(ridge_chip_find(measured.name), roofs);
    else if (request->roofs == NULL)
        ridge_roofs_init(roofs);
    if (isnan(measured.dram_bytes_per_s))
        measured.dram_bytes_per_s = roofs->dram_bytes_per_s;
    for (i = 0; i < RIDGE_PEAK_COUNT; i++)
        if (isnan(measured.flop_per_s[i]))
            measured.flop_per_s[i] = roofs->flop_per_s[i];
    *roofs = measured;
    request->roofs = roofs;
    return CLI_DONE;
}

static int read_inputs(struct timeline_request *request)
{
    ridge_error err;
    const int status = read_roofs(request);

    if (status != CLI_DONE || request->bounds == NULL)
        return status;
    if (ridge_given_bounds_read(request->bounds, &request->given_storage, &err) != RIDGE_OK)
        return cli_fail(request->bounds, &err);
    request->given = request->given_storage;
    return CLI_DONE;
}

static int check_csv(const char *report)
{
    char list[256] = "";
    size_t used = 0, i;

    for (i = 0; timeline_csv_reports[i] != NULL; i++) {
        if (strcmp(report, timeline_csv_reports[i]) == 0)
            return CLI_DONE;
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i > 0 ? ", " : "",
                                 timeline_csv_reports[i]);
    }
    return cli_usage_error("--csv: no report '%.40s'; there are %s", report, list);
}

/* path: the first file; NULL: none. */
static int check(const struct timeline_request *request, const char *path, size_t count)
{
    const int parts =
        (request->range != NULL) + (request->window != NULL) + (request->steps != NULL);

    if (count == 0)
        return cli_usage_error("expected one FILE or more");
    if (count > MOST_FILES)
        return cli_usage_error("%zu files, at most %d", count, MOST_FILES);
    if (parts > 1)
        return cli_usage_error("--range, --window and --steps exclude each other");
    if (request->instance != NULL && request->range == NULL)
        return cli_usage_error("--instance needs --range");
    if (request->compare && request->ranks)
        return cli_usage_error("--compare and --ranks exclude each other");
    if (request->compare && count != 2)
        return cli_usage_error("--compare needs two files, got %zu", count);
    if (request->csv != NULL && request->out.format != RIDGE_FORMAT_TEXT)
        return cli_usage_error("--csv and --json exclude each other");
    if (count > 1 && request->csv != NULL)
        return cli_usage_error("--csv takes one file, got %zu", count);
    if (count > 1 && request->svg != NULL)
        return cli_usage_error("--svg takes one file, got %zu", count);
    if (request->force && request->svg == NULL)
        return cli_usage_error("--force needs --svg");
    if (!isnan(request->fail_idle) && !(request->fail_idle >= 0 && request->fail_idle <= 100))
        return cli_usage_error("--fail-idle needs per cent from 0 to 100");
    if (request->csv != NULL && check_csv(request->csv) != CLI_DONE)
        return CLI_USAGE;
    return request->svg != NULL ? cli_check_target(request->svg, path, request->force) : CLI_DONE;
}

int cmd_timeline(int argc, char **argv)
{
    struct timeline_request request = {
        .device = OPTION_UNSET, .gaps = OPTION_UNSET, .fail_idle = NAN};
    const struct option options[] = {
        OPT_STRING(0, "range", &request.range, "REGEX",
                   "only the time from the first to the last range of this name"),
        OPT_STRING(0, "instance", &request.instance, "A..B",
                   "with --range: only its instances A to B, from 0"),
        OPT_STRING(0, "window", &request.window, "START..END",
                   "only this time, in ms from the first work: 12..30, 1.5s..2s"),
        OPT_STRING(0, "steps", &request.steps, "A..B",
                   "only the steps A to B, by ranges such as ProfilerStep#3"),
        OPT_COUNT(0, "device", &request.device, "N", "the device to explain"),
        OPT_FLAG(0, "kernels", &request.kernels, "every kernel"),
        OPT_FLAG(0, "api", &request.api, "every call of the runtime and driver"),
        OPT_FLAG(0, "nvtx", &request.nvtx, "every range and annotation"),
        OPT_COUNT(0, "gaps", &request.gaps, "N", "the N largest gaps"),
        OPT_FLAG(0, "streams", &request.streams, "every stream"),
        OPT_STRING(0, "bounds", &request.bounds, "FILE",
                   "what kernels must move and compute, a line each"),
        OPT_GPU(&request.gpu),
        OPT_STRING(0, "measured", &request.measured, "FILE",
                   "bounds against roofs measured on the machine (JSON)"),
        OPT_FLAG(0, "ranks", &request.ranks, "files are the ranks of one run"),
        OPT_FLAG(0, "compare", &request.compare, "two files are before and after"),
        OPT_NUMBER(0, "fail-idle", &request.fail_idle, "PCT",
                   "exit with 1 when the GPU is idle for more of the span"),
        OPT_FLAG(0, "show-command", &request.show_command,
                 "the recorded command in the line for ncu"),
        OPT_FLAG(0, "whole-names", &request.whole_names, "kernels as recorded, never shortened"),
        OPT_STRING(0, "svg", &request.svg, "FILE", "draw the timeline into a new file"),
        OPT_FLAG('f', "force", &request.force, "replace FILE of --svg when it exists"),
        OPT_WORDS(0, "csv", &request.csv, "REPORT", timeline_csv_reports,
                  "print one table as nsys stats does: cuda_gpu_kern_sum, ..."),
        OPT_JSON(&request.out),
        OPT_COMMON(&request.out),
        OPT_END,
    };
    int status;

    if (!options_parse(&argc, argv, usage, options, &status))
        return status;
    status = check(&request, argv[1], (size_t)argc - 1);
    if (status == CLI_DONE)
        status = read_inputs(&request);
    if (status == CLI_DONE)
        status = run(argv + 1, (size_t)argc - 1, &request);
    ridge_given_bounds_free(request.given_storage);
    cli_release_chip(&request.gpu);
    return status;
}
