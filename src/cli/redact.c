/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge redact: a report or trace without host names, users, addresses, command line and paths. */
#include <inttypes.h>
#include <stdbool.h>

#include "commands.h"
#include "options.h"
#include "ridge/redact.h"
#include "ridge/trace_redact.h"

static const char usage[] = "ridge redact [options] IN OUT";

struct request {
    const char *in, *out;
    bool force, drop_sources, drop_headers;
};

/* -- saying what was done ---------------------------------------------------------------------- */

static void print_json(const struct request *request, const ridge_redaction *summary,
                       ridge_output *output)
{
    ridge_json *const json = ridge_json_create(output);

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "schema", "ridge-redact/1");
    ridge_json_text(json, "file", request->out);
    ridge_json_count(json, "host_count", summary->host_count);
    ridge_json_count(json, "user_count", summary->user_count);
    ridge_json_count(json, "address_count", summary->address_count);
    ridge_json_count(json, "command_line_count", summary->command_line_count);
    ridge_json_count(json, "build_count", summary->build_count);
    ridge_json_count(json, "setting_count", summary->setting_count);
    ridge_json_count(json, "path_count", summary->path_count);
    ridge_json_count(json, "mention_count", summary->mention_count);
    ridge_json_count(json, "source_count", summary->source_count);
    ridge_json_count(json, "kept_source_count", summary->kept_source_count);
    ridge_json_count(json, "remaining_count", summary->remaining_count);
    ridge_json_end_object(json);
    ridge_json_free(json);
}

static void add_row(ridge_table *table, const char *what, uint64_t count, const char *instead)
{
    ridge_table_text(table, what);
    ridge_table_count(table, count);
    ridge_table_text(table, instead);
}

static const ridge_column columns[] = {
    {"removed", "Removed", RIDGE_UNIT_NONE, true, 8, 0},
    {"count", "Count", RIDGE_UNIT_COUNT, false, 0, 0},
    {"instead", "Instead", RIDGE_UNIT_NONE, true, 8, 0},
};

/* The exit status for names that could not go. */
static int say_remaining(const struct request *request, const char *name, uint64_t count,
                         const char *where)
{
    cli_message(request->out, "'%s' and the like still stand at %" PRIu64 " places, in names of %s",
                name, count, where);
    return CLI_NO;
}

static void print_text(const struct request *request, const ridge_redaction *summary,
                       ridge_output *output)
{
    ridge_table *const table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));

    add_row(table, "host names", summary->host_count, "localhost");
    add_row(table, "user names", summary->user_count, "underscores");
    add_row(table, "addresses", summary->address_count, "nothing, or 127.0.0.1");
    add_row(table, "command lines", summary->command_line_count, "ncu");
    add_row(table, "system builds", summary->build_count, "nothing");
    add_row(table, "settings", summary->setting_count, "nothing");
    add_row(table, "paths", summary->path_count, "directories of the same length");
    add_row(table, "mentions of names", summary->mention_count, "underscores");
    if (request->drop_sources || request->drop_headers)
        add_row(table, "source texts", summary->source_count, "nothing");
    ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
    ridge_table_free(table);
    ridge_output_text(output, "\nKept: metrics, rules, code, names of kernels and files");
    if (summary->kept_source_count > 0)
        ridge_output_format(output, ", source text (%zu; see --drop-sources)",
                            summary->kept_source_count);
    ridge_output_text(output, "\n");
}

/* -- traces ------------------------------------------------------------------------------------ */

static void print_trace_json(const struct request *request, const ridge_trace_redaction *summary,
                             ridge_output *output)
{
    ridge_json *const json = ridge_json_create(output);

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "schema", "ridge-redact-trace/1");
    ridge_json_text(json, "file", request->out);
    ridge_json_text(json, "format", ridge_trace_format_name(summary->format));
    ridge_json_count(json, "environment_count", summary->environment_count);
    ridge_json_count(json, "host_count", summary->host_count);
    ridge_json_count(json, "user_count", summary->user_count);
    ridge_json_count(json, "address_count", summary->address_count);
    ridge_json_count(json, "argument_count", summary->argument_count);
    ridge_json_count(json, "part_count", summary->part_count);
    ridge_json_count(json, "row_count", summary->row_count);
    ridge_json_count(json, "path_count", summary->path_count);
    ridge_json_count(json, "mention_count", summary->mention_count);
    ridge_json_count(json, "remaining_count", summary->remaining_count);
    ridge_json_end_object(json);
    ridge_json_free(json);
}

static void print_trace_text(const ridge_trace_redaction *summary, ridge_output *output)
{
    const bool is_json = summary->format == RIDGE_TRACE_KINETO;
    ridge_table *const table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));

    add_row(table, "variables of the environment", summary->environment_count, "nothing");
    add_row(table, "host names", summary->host_count, "underscores");
    add_row(table, "user names", summary->user_count, "underscores");
    add_row(table, "addresses", summary->address_count, "underscores");
    add_row(table, "arguments", summary->argument_count, "nothing");
    add_row(table, is_json ? "members" : "tables", summary->part_count, "nothing");
    add_row(table, is_json ? "events" : "rows", summary->row_count, "nothing");
    add_row(table, "paths", summary->path_count, "directories of the same length");
    add_row(table, "mentions of names", summary->mention_count, "underscores");
    ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
    ridge_table_free(table);
    ridge_output_text(output, "\nKept: times, names of kernels, calls and ranges, threads, GPUs\n");
}

struct trace_target {
    const struct request *request;
    ridge_trace_redaction *summary;
};

static int write_trace(const char *temporary, void *context)
{
    const struct trace_target *const target = context;
    ridge_error err;

    if (ridge_trace_redact(target->request->in, temporary, target->summary, &err) != RIDGE_OK)
        return cli_fail(target->request->in, &err);
    return CLI_DONE;
}

static int redact_trace(const struct request *request, const struct cli_output *out)
{
    ridge_trace_redaction summary;
    struct trace_target target = {request, &summary};
    ridge_output *output;
    int status = cli_write_through(request->out, write_trace, &target, request->force);

    if (status != CLI_DONE)
        return status;
    output = cli_open(out);
    if (out->format == RIDGE_FORMAT_JSON)
        print_trace_json(request, &summary, output);
    else
        print_trace_text(&summary, output);
    status = cli_close(output, CLI_DONE);
    if (status == CLI_DONE && summary.remaining_count > 0)
        status =
            say_remaining(request, summary.remaining, summary.remaining_count, "kernels or calls");
    return status;
}

/* -- the command ------------------------------------------------------------------------------- */

static int redact(const struct request *request, const struct cli_output *out)
{
    ridge_redaction summary;
    ridge_output *output;
    ridge_error err;
    uint8_t *bytes;
    size_t size_bytes;
    const unsigned flags = (request->drop_sources ? (unsigned)RIDGE_REDACT_DROP_SOURCES : 0) |
                           (request->drop_headers ? (unsigned)RIDGE_REDACT_DROP_HEADERS : 0);
    int status = cli_check_target(request->out, request->in, request->force);

    if (status != CLI_DONE)
        return status;
    if (ridge_trace_is_trace(request->in))
        return redact_trace(request, out);
    if (ridge_report_redact_file(request->in, flags, &bytes, &size_bytes, &summary, &err) !=
        RIDGE_OK)
        return cli_fail(request->in, &err);
    status = cli_write_file(request->out, bytes, size_bytes, request->force);
    ridge_redact_free(bytes);
    if (status != CLI_DONE)
        return status;
    output = cli_open(out);
    if (out->format == RIDGE_FORMAT_JSON)
        print_json(request, &summary, output);
    else
        print_text(request, &summary, output);
    status = cli_close(output, CLI_DONE);
    if (status == CLI_DONE && summary.remaining_count > 0)
        status = say_remaining(request, summary.remaining, summary.remaining_count,
                               "kernels or metrics");
    return status;
}

int cmd_redact(int argc, char **argv)
{
    struct cli_output out = {0};
    struct request request = {0};
    const struct option options[] = {
        OPT_FLAG('f', "force", &request.force, "replace OUT when it exists"),
        OPT_FLAG(0, "drop-sources", &request.drop_sources, "leave out imported source text too"),
        OPT_FLAG(0, "drop-headers", &request.drop_headers,
                 "leave out the source text of files below a directory include"),
        OPT_JSON(&out),
        OPT_COMMON(&out),
        OPT_END,
    };
    int status;

    if (!options_parse(&argc, argv, usage, options, &status))
        return status;
    if (argc != 3)
        return cli_usage_error("expected IN and OUT, got %d", argc - 1);
    request.in = argv[1];
    request.out = argv[2];
    return redact(&request, &out);
}
