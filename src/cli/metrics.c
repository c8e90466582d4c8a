/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge metrics: every metric of a report as it is stored. People see four digits, JSON and CSV
 * have the exact values. What the report does not hold, what the profiler marked as not available
 * (NaN) and zero stay three different things. */
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "options.h"

static const char usage[] = "ridge metrics [options] FILE [PATTERN]";

struct request {
    const char *path;
    const char *pattern; /* NULL: all */
    bool instances;
    ridge_format format;
};

/* A pattern with *, ? or [ is for the whole name, another one for a part of it. */
static bool is_wanted(const struct request *request, const char *name)
{
    if (request->pattern == NULL)
        return true;
    if (strpbrk(request->pattern, "*?[") != NULL)
        return fnmatch(request->pattern, name, 0) == 0;
    return strstr(name, request->pattern) != NULL;
}

static size_t count_wanted(const struct request *request, const ridge_report_kernel *kernel)
{
    ridge_metric metric;
    size_t count = 0;
    size_t i;

    for (i = 0; ridge_report_kernel_metric_at(kernel, i, &metric); i++)
        if (is_wanted(request, metric.name))
            count++;
    return count;
}

/* -- tables: text, Markdown, CSV --------------------------------------------------------------- */

static void add_value(ridge_table *table, const ridge_value *value, bool csv)
{
    char text[32];

    switch (value->kind) {
    case RIDGE_VALUE_ABSENT:
        ridge_table_text(table, csv ? "" : "-");
        break;
    case RIDGE_VALUE_NUMBER:
        if (csv && isnan(value->number))
            ridge_table_text(table, "nan");
        else if (csv)
            ridge_table_number(table, value->number);
        else
            ridge_table_text(
                table, ridge_number_text(value->number, RIDGE_UNIT_COUNT, text, sizeof(text)));
        break;
    case RIDGE_VALUE_COUNT:
        ridge_table_count(table, value->count);
        break;
    case RIDGE_VALUE_TEXT:
        ridge_table_text_n(table, value->text, value->text_length);
        break;
    }
}

/* Program counters are hexadecimal everywhere, as in disassembly. */
static void add_instance_id(ridge_table *table, const ridge_value *id, size_t index)
{
    char text[32];

    if (id->kind == RIDGE_VALUE_TEXT) {
        ridge_table_text_n(table, id->text, id->text_length);
        return;
    }
    if (id->kind == RIDGE_VALUE_COUNT)
        snprintf(text, sizeof(text), "0x%llx", (unsigned long long)id->count);
    else
        snprintf(text, sizeof(text), "#%zu", index);
    ridge_table_text(table, text);
}

/* Names differ in their middle and in their end as often as in their beginning, so on a terminal
 * they give way last. */
static const ridge_column text_columns[] = {
    {"name", "Metric", RIDGE_UNIT_NONE, true, 64, 0},
    {"value", "Value", RIDGE_UNIT_COUNT, true, 18, 0},
    {"unit", "Unit", RIDGE_UNIT_NONE, true, 8, 1},
    {"instance_count", "Instances", RIDGE_UNIT_COUNT, false, 0, 2},
};

static const ridge_column instance_columns[] = {
    {"name", "Metric", RIDGE_UNIT_NONE, true, 64, 0},
    {"instance_id", "Instance", RIDGE_UNIT_NONE, true, 12, 0},
    {"value", "Value", RIDGE_UNIT_COUNT, true, 18, 0},
    {"unit", "Unit", RIDGE_UNIT_NONE, true, 8, 1},
};

static const ridge_column csv_columns[] = {
    {"launch", "", RIDGE_UNIT_NONE, false, 0, 0},
    {"kernel", "", RIDGE_UNIT_NONE, true, 8, 0},
    {"name", "", RIDGE_UNIT_NONE, true, 8, 0},
    {"unit", "", RIDGE_UNIT_NONE, true, 8, 0},
    {"value", "", RIDGE_UNIT_NONE, false, 0, 0},
    {"instance_count", "", RIDGE_UNIT_NONE, false, 0, 0},
};

static const ridge_column csv_instance_columns[] = {
    {"launch", "", RIDGE_UNIT_NONE, false, 0, 0},     {"kernel", "", RIDGE_UNIT_NONE, true, 8, 0},
    {"name", "", RIDGE_UNIT_NONE, true, 8, 0},        {"unit", "", RIDGE_UNIT_NONE, true, 8, 0},
    {"instance_id", "", RIDGE_UNIT_NONE, true, 8, 0}, {"value", "", RIDGE_UNIT_NONE, false, 0, 0},
};

/* Cells in front of a CSV row. */
static void add_origin(ridge_table *table, const ridge_report_kernel_info *info,
                       const ridge_metric *metric)
{
    ridge_table_count(table, info->index);
    ridge_table_text(table, cli_kernel_name(info));
    ridge_table_text(table, metric->name);
    ridge_table_text(table, metric->unit);
}

/* One row a metric. */
static void add_metric(ridge_table *table, const ridge_report_kernel_info *info,
                       const ridge_metric *metric, bool csv, bool with_counts)
{
    if (csv) {
        add_origin(table, info, metric);
        add_value(table, &metric->value, true);
        ridge_table_count(table, metric->instance_count);
        return;
    }
    ridge_table_text(table, metric->name);
    add_value(table, &metric->value, false);
    ridge_table_text(table, metric->unit);
    if (!with_counts)
        return;
    if (metric->instance_count > 0)
        ridge_table_count(table, metric->instance_count);
    else
        ridge_table_text(table, "");
}

/* One row for the aggregate, where there is one, and one for each instance. */
static void add_instances(ridge_table *table, const ridge_report_kernel_info *info,
                          const ridge_metric *metric, bool csv)
{
    ridge_instances instances = ridge_instances_of(metric);
    ridge_instance instance = {.value = metric->value};
    bool more =
        metric->value.kind != RIDGE_VALUE_ABSENT || ridge_instances_next(&instances, &instance);
    bool is_aggregate = metric->value.kind != RIDGE_VALUE_ABSENT;
    size_t index = 0;

    while (more) {
        if (csv)
            add_origin(table, info, metric);
        else
            ridge_table_text(table, metric->name);
        if (is_aggregate)
            ridge_table_text(table, "");
        else
            add_instance_id(table, &instance.id, index++);
        add_value(table, &instance.value, csv);
        if (!csv)
            ridge_table_text(table, metric->unit);
        is_aggregate = false;
        more = ridge_instances_next(&instances, &instance);
    }
}

static void add_rows(ridge_table *table, const struct request *request,
                     const ridge_report_kernel *kernel, bool with_counts)
{
    const ridge_report_kernel_info *const info = ridge_report_kernel_get_info(kernel);
    const bool csv = request->format == RIDGE_FORMAT_CSV;
    ridge_metric metric;
    size_t i;

    for (i = 0; ridge_report_kernel_metric_at(kernel, i, &metric); i++) {
        if (!is_wanted(request, metric.name))
            continue;
        if (request->instances)
            add_instances(table, info, &metric, csv);
        else
            add_metric(table, info, &metric, csv, with_counts);
    }
}

static bool has_instances(const struct request *request, const ridge_report_kernel *kernel)
{
    ridge_metric metric;
    size_t i;

    for (i = 0; ridge_report_kernel_metric_at(kernel, i, &metric); i++)
        if (metric.instance_count > 0 && is_wanted(request, metric.name))
            return true;
    return false;
}

/* The count of instances is a column where there are some. */
static ridge_table *create_table(const struct request *request, bool with_counts)
{
    if (request->format == RIDGE_FORMAT_CSV)
        return request->instances ? ridge_table_create(csv_instance_columns, 6)
                                  : ridge_table_create(csv_columns, 6);
    return request->instances ? ridge_table_create(instance_columns, 4)
                              : ridge_table_create(text_columns, with_counts ? 4 : 3);
}

/* One table in CSV, else one a kernel under its name. */
static void print_tables(const struct request *request, const ridge_report_kernel **kernels,
                         size_t count, ridge_output *output)
{
    const bool csv = request->format == RIDGE_FORMAT_CSV;
    ridge_table *table = csv ? create_table(request, true) : NULL;
    size_t i;

    for (i = 0; i < count; i++) {
        const ridge_report_kernel_info *const info = ridge_report_kernel_get_info(kernels[i]);
        const bool with_counts = has_instances(request, kernels[i]);

        if (csv) {
            add_rows(table, request, kernels[i], true);
            continue;
        }
        if (count_wanted(request, kernels[i]) == 0)
            continue;
        if (i > 0)
            ridge_output_text(output, "\n");
        cli_print_name(output, info);
        ridge_output_format(output, "launch %zu\n\n", info->index);
        table = create_table(request, with_counts);
        add_rows(table, request, kernels[i], with_counts);
        ridge_table_write(table, request->format, output, NULL, NULL);
        ridge_table_free(table);
    }
    if (csv) {
        ridge_table_write(table, request->format, output, NULL, NULL);
        ridge_table_free(table);
    }
}

/* -- JSON -------------------------------------------------------------------------------------- */

/* Nothing where the report has no value, null where the value is NaN. */
static void write_value(ridge_json *json, const char *key, const ridge_value *value)
{
    switch (value->kind) {
    case RIDGE_VALUE_ABSENT:
        break;
    case RIDGE_VALUE_NUMBER:
        ridge_json_number(json, key, value->number);
        break;
    case RIDGE_VALUE_COUNT:
        ridge_json_count(json, key, value->count);
        break;
    case RIDGE_VALUE_TEXT:
        ridge_json_text_n(json, key, value->text, value->text_length);
        break;
    }
}

static void write_metric(ridge_json *json, const struct request *request,
                         const ridge_metric *metric)
{
    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "name", metric->name);
    ridge_json_text(json, "unit", metric->unit);
    write_value(json, "value", &metric->value);
    ridge_json_count(json, "instance_count", metric->instance_count);
    if (request->instances && metric->instance_count > 0) {
        ridge_instances instances = ridge_instances_of(metric);
        ridge_instance instance;

        ridge_json_begin_array(json, "instances");
        while (ridge_instances_next(&instances, &instance)) {
            ridge_json_begin_object(json, NULL);
            write_value(json, "id", &instance.id);
            write_value(json, "value", &instance.value);
            ridge_json_end_object(json);
        }
        ridge_json_end_array(json);
    }
    ridge_json_end_object(json);
}

static void print_json(const struct request *request, const ridge_report_kernel **kernels,
                       size_t count, ridge_output *output)
{
    ridge_json *const json = ridge_json_create(output);
    size_t i;
    size_t k;

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "schema", "ridge-metrics/1");
    ridge_json_text(json, "file", request->path);
    ridge_json_begin_array(json, "kernels");
    for (i = 0; i < count; i++) {
        const ridge_report_kernel_info *const info = ridge_report_kernel_get_info(kernels[i]);
        ridge_metric metric;

        ridge_json_begin_object(json, NULL);
        ridge_json_count(json, "launch", info->index);
        ridge_json_text(json, "name", cli_kernel_name(info));
        ridge_json_begin_array(json, "metrics");
        for (k = 0; ridge_report_kernel_metric_at(kernels[i], k, &metric); k++)
            if (is_wanted(request, metric.name))
                write_metric(json, request, &metric);
        ridge_json_end_array(json);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
    ridge_json_end_object(json);
    ridge_json_free(json);
}

/* -- the command ------------------------------------------------------------------------------- */

static int print_metrics(const struct request *request, const ridge_report *report,
                         const struct kernel_filter *filter, const struct cli_output *out)
{
    const ridge_report_kernel **kernels;
    ridge_output *output;
    size_t count;
    size_t wanted = 0;
    size_t i;
    int status = cli_select_kernels(report, request->path, filter, &kernels, &count);

    if (status != CLI_DONE)
        return status;
    for (i = 0; i < count; i++)
        wanted += count_wanted(request, kernels[i]);
    if (wanted == 0) {
        free(kernels);
        if (ridge_report_warning_count(report) == 0) /* else a line says already what is wrong */
            cli_message(request->path, "no metric matches '%s'",
                        request->pattern != NULL ? request->pattern : "*");
        return cli_status(CLI_NO);
    }
    output = cli_open_whole(out);
    if (out->format == RIDGE_FORMAT_JSON)
        print_json(request, kernels, count, output);
    else
        print_tables(request, kernels, count, output);
    free(kernels);
    return cli_close(output, CLI_DONE);
}

int cmd_metrics(int argc, char **argv)
{
    struct cli_output out = {0};
    struct kernel_filter filter = KERNEL_FILTER_ALL;
    struct request request = {0};
    ridge_report *report;
    const struct option options[] = {
        OPT_KERNELS(&filter),
        OPT_FLAG('i', "instances", &request.instances,
                 "also the value of each instance: of an instruction, an opcode, a unit"),
        OPT_TABLE(&out),
        OPT_COMMON(&out),
        OPT_END,
    };
    int status;

    if (!options_parse(&argc, argv, usage, options, &status))
        return status;
    if (argc != 2 && argc != 3)
        return cli_usage_error("expected FILE [PATTERN], got %d arguments", argc - 1);
    request.path = argv[1];
    request.pattern = argc == 3 ? argv[2] : NULL;
    request.format = out.format;
    status = cli_open_report(argv[1], &report);
    if (status != CLI_DONE)
        return status;
    status = print_metrics(&request, report, &filter, &out);
    ridge_report_free(report);
    return status;
}
