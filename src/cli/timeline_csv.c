/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge timeline --csv REPORT: the tables of `nsys stats --format csv`, under nsys's names, with its
 * headings, its order and its decimals, so that a script reads either; and three tables that nsys
 * does not have. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline_cli.h"

enum { NUMBER = 48 };

#define COLUMN(title)                                                                              \
    {                                                                                              \
        title, title, RIDGE_UNIT_NONE, true, 0, 0                                                  \
    }

static void add_decimal(ridge_table *table, double value, int decimals)
{
    char text[NUMBER];

    snprintf(text, sizeof(text), "%.*f", decimals, value);
    ridge_table_text(table, isnan(value) ? "" : text);
}

static void add_whole(ridge_table *table, int64_t value)
{
    char text[NUMBER];

    snprintf(text, sizeof(text), "%" PRId64, value);
    ridge_table_text(table, text);
}

/* Time (%), Total Time (ns), count, Avg, Med, Min, Max, StdDev */
static void add_statistics(ridge_table *table, const ridge_trace_sum *sum)
{
    add_decimal(table, 100 * sum->share_frac, 1);
    add_whole(table, sum->total_ns);
    ridge_table_count(table, sum->count);
    add_decimal(table, sum->average_ns, 1);
    add_decimal(table, sum->median_ns, 1);
    add_whole(table, sum->min_ns);
    add_whole(table, sum->max_ns);
    add_decimal(table, sum->deviation_ns, 1);
}

struct csv {
    const struct timeline_file *file;
    uint32_t device; /* row; RIDGE_TRACE_NONE: all */
    ridge_output *output;
    ridge_error *err;
};

static ridge_table *create(const ridge_column *columns, size_t count)
{
    return ridge_table_create(columns, count);
}
#define CREATE(columns) create(columns, sizeof(columns) / sizeof((columns)[0]))

static ridge_status finish(const struct csv *csv, ridge_table *table)
{
    ridge_table_write(table, RIDGE_FORMAT_CSV, csv->output, NULL, NULL);
    ridge_table_free(table);
    return RIDGE_OK;
}

/* -- reports of nsys --------------------------------------------------------------------------- */

#define STATISTICS(count)                                                                          \
    COLUMN("Time (%)"), COLUMN("Total Time (ns)"), COLUMN(count), COLUMN("Avg (ns)"),              \
        COLUMN("Med (ns)"), COLUMN("Min (ns)"), COLUMN("Max (ns)"), COLUMN("StdDev (ns)")

static ridge_status kernels_by(const struct csv *csv, ridge_kernel_key key)
{
    static const ridge_column columns[] = {STATISTICS("Instances"), COLUMN("Name")};
    ridge_trace_sums sums;
    const ridge_status status = ridge_trace_sum_kernels(csv->file->trace, key, csv->device,
                                                        &csv->file->window, &sums, csv->err);
    ridge_table *table;
    size_t i;

    if (status != RIDGE_OK)
        return status;
    table = CREATE(columns);
    for (i = 0; i < sums.count; i++) {
        add_statistics(table, &sums.rows[i]);
        ridge_table_text(table, sums.rows[i].name);
    }
    ridge_trace_sums_free(&sums);
    return finish(csv, table);
}

static ridge_status write_kernels(const struct csv *csv)
{
    return kernels_by(csv, RIDGE_KERNEL_BY_NAME);
}

static ridge_status write_base_kernels(const struct csv *csv)
{
    return kernels_by(csv, RIDGE_KERNEL_BY_BASE);
}

static void add_extent(ridge_table *table, const uint32_t extent[3])
{
    char text[NUMBER];

    snprintf(text, sizeof(text), "%4" PRIu32 " %4" PRIu32 " %4" PRIu32, extent[0], extent[1],
             extent[2]);
    ridge_table_text(table, text);
}

static ridge_status write_kernels_by_grid(const struct csv *csv)
{
    static const ridge_column columns[] = {STATISTICS("Instances"), COLUMN("GridXYZ"),
                                           COLUMN("BlockXYZ"), COLUMN("Name")};
    static const uint32_t none[3];
    size_t config_count, i;
    const ridge_trace_config *const configs = ridge_trace_configs(csv->file->trace, &config_count);
    ridge_trace_sums sums;
    const ridge_status status = ridge_trace_sum_kernels(
        csv->file->trace, RIDGE_KERNEL_BY_CONFIG, csv->device, &csv->file->window, &sums, csv->err);
    ridge_table *table;

    if (status != RIDGE_OK)
        return status;
    table = CREATE(columns);
    for (i = 0; i < sums.count; i++) {
        const ridge_trace_sum *const sum = &sums.rows[i];
        const bool known = sum->config < config_count;

        add_statistics(table, sum);
        add_extent(table, known ? configs[sum->config].grid : none);
        add_extent(table, known ? configs[sum->config].block : none);
        ridge_table_text(table, sum->name);
    }
    ridge_trace_sums_free(&sums);
    return finish(csv, table);
}

static ridge_status write_calls(const struct csv *csv)
{
    static const ridge_column columns[] = {STATISTICS("Num Calls"), COLUMN("Name")};
    ridge_trace_sums sums;
    const ridge_status status =
        ridge_trace_sum_api(csv->file->trace, &csv->file->window, &sums, csv->err);
    ridge_table *table;
    size_t i;

    if (status != RIDGE_OK)
        return status;
    table = CREATE(columns);
    for (i = 0; i < sums.count; i++) {
        add_statistics(table, &sums.rows[i]);
        ridge_table_text(table, sums.rows[i].name);
    }
    ridge_trace_sums_free(&sums);
    return finish(csv, table);
}

static ridge_status write_copy_times(const struct csv *csv)
{
    static const ridge_column columns[] = {STATISTICS("Count"), COLUMN("Operation")};
    ridge_trace_sums sums;
    const ridge_status status =
        ridge_trace_sum_copies(csv->file->trace, csv->device, &csv->file->window, &sums, csv->err);
    ridge_table *table;
    size_t i;

    if (status != RIDGE_OK)
        return status;
    table = CREATE(columns);
    for (i = 0; i < sums.count; i++) {
        add_statistics(table, &sums.rows[i]);
        ridge_table_text(table, sums.rows[i].name);
    }
    ridge_trace_sums_free(&sums);
    return finish(csv, table);
}

/* -- statistics of our own: sizes and ranges ---------------------------------------------------- */

/* A value that belongs to a name. */
struct value {
    uint32_t name;
    uint8_t style;
    double value;
};

static int by_name_and_value(const void *left, const void *right)
{
    const struct value *const a = left, *const b = right;

    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    if (a->style != b->style)
        return a->style < b->style ? -1 : 1;
    return a->value < b->value ? -1 : a->value > b->value;
}

struct group {
    const char *name;
    uint8_t style;
    size_t count;
    double total, average, median, least, most, deviation;
};

static void group_of(const struct value *values, size_t count, struct group *out)
{
    double squares = 0;
    size_t i;

    out->count = count;
    out->total = 0;
    for (i = 0; i < count; i++)
        out->total += values[i].value;
    out->average = out->total / (double)count;
    out->median = (values[(count - 1) / 2].value + values[count / 2].value) / 2;
    out->least = values[0].value;
    out->most = values[count - 1].value;
    for (i = 0; i < count; i++)
        squares += (values[i].value - out->average) * (values[i].value - out->average);
    out->deviation = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
}

/* As nsys orders: the largest total first, then the count, then the name. */
static int by_total(const void *left, const void *right)
{
    const struct group *const a = left, *const b = right;

    if (a->total != b->total)
        return a->total < b->total ? 1 : -1;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return strcmp(a->name, b->name);
}

/* Groups of values, new, freed with free(); NULL: out of memory. */
static struct group *make_groups(const ridge_trace *trace, struct value *values, size_t count,
                                 size_t *group_count)
{
    struct group *const groups = calloc(count + 1, sizeof(*groups));
    size_t i = 0, end;

    *group_count = 0;
    if (groups == NULL)
        return NULL;
    qsort(values, count, sizeof(*values), by_name_and_value);
    for (; i < count; i = end) {
        struct group *const group = &groups[(*group_count)++];

        for (end = i + 1; end < count && values[end].name == values[i].name &&
                          values[end].style == values[i].style;
             end++)
            ;
        group->name = ridge_trace_name(trace, values[i].name, NULL);
        group->style = values[i].style;
        group_of(values + i, end - i, group);
    }
    qsort(groups, *group_count, sizeof(*groups), by_total);
    return groups;
}

static bool is_in(const ridge_trace_window *window, int64_t start_ns)
{
    return !window->is_set || (window->start_ns <= start_ns && start_ns < window->end_ns);
}

static ridge_status out_of_memory(ridge_error *err)
{
    return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
}

/* The start that decides whether work lies in a window: its launch, else its own. */
static int64_t launch_ns(const ridge_trace *trace, const ridge_trace_op *op)
{
    size_t count;
    const ridge_trace_api *const calls = ridge_trace_apis(trace, &count);

    return op->api < count ? calls[op->api].start_ns : op->start_ns;
}

static struct value *copy_sizes(const struct csv *csv, size_t *count)
{
    const ridge_trace *const trace = csv->file->trace;
    size_t op_count, stream_count, i;
    const ridge_trace_op *const ops = ridge_trace_ops(trace, &op_count);
    const ridge_trace_stream *const streams = ridge_trace_streams(trace, &stream_count);
    struct value *const values = calloc(op_count + 1, sizeof(*values));

    *count = 0;
    for (i = 0; values != NULL && i < op_count; i++) {
        const ridge_trace_op *const op = &ops[i];

        if ((op->kind != RIDGE_OP_MEMCPY && op->kind != RIDGE_OP_MEMSET) ||
            op->bytes == RIDGE_TRACE_BYTES_UNKNOWN ||
            !is_in(&csv->file->window, launch_ns(trace, op)))
            continue;
        if (csv->device != RIDGE_TRACE_NONE &&
            (op->stream >= stream_count || streams[op->stream].device != csv->device))
            continue;
        values[*count].name = op->name;
        values[(*count)++].value = (double)op->bytes / 1e6;
    }
    return values;
}

static ridge_status write_copy_sizes(const struct csv *csv)
{
    static const ridge_column columns[] = {
        COLUMN("Total (MB)"), COLUMN("Count"),    COLUMN("Avg (MB)"),    COLUMN("Med (MB)"),
        COLUMN("Min (MB)"),   COLUMN("Max (MB)"), COLUMN("StdDev (MB)"), COLUMN("Operation")};
    size_t count, group_count = 0, i;
    struct value *const values = copy_sizes(csv, &count);
    struct group *const groups =
        values != NULL ? make_groups(csv->file->trace, values, count, &group_count) : NULL;
    ridge_table *table;

    free(values);
    if (groups == NULL)
        return out_of_memory(csv->err);
    table = CREATE(columns);
    for (i = 0; i < group_count; i++) {
        const struct group *const group = &groups[i];

        add_decimal(table, group->total, 3);
        ridge_table_count(table, group->count);
        add_decimal(table, group->average, 3);
        add_decimal(table, group->median, 3);
        add_decimal(table, group->least, 3);
        add_decimal(table, group->most, 3);
        add_decimal(table, group->deviation, 3);
        ridge_table_text(table, group->name);
    }
    free(groups);
    return finish(csv, table);
}

static const char *style_name(unsigned flags)
{
    return (flags & RIDGE_RANGE_START_END) != 0 ? "StartEnd" : "PushPop";
}

/* NVTX ranges, and annotations, which are ranges that the framework pushes. */
static bool is_range(const ridge_trace_range *range)
{
    return range->kind == RIDGE_RANGE_NVTX || range->kind == RIDGE_RANGE_ANNOTATION;
}

static ridge_status write_nvtx(const struct csv *csv)
{
    static const ridge_column columns[] = {STATISTICS("Instances"), COLUMN("Style"),
                                           COLUMN("Range")};
    const ridge_trace *const trace = csv->file->trace;
    size_t range_count, count = 0, group_count = 0, i;
    const ridge_trace_range *const ranges = ridge_trace_ranges(trace, &range_count);
    struct value *const values = calloc(range_count + 1, sizeof(*values));
    struct group *groups;
    ridge_table *table;
    double total = 0;

    for (i = 0; values != NULL && i < range_count; i++) {
        if (!is_range(&ranges[i]) || !is_in(&csv->file->window, ranges[i].start_ns))
            continue;
        values[count].name = ranges[i].name;
        values[count].style = ranges[i].flags & RIDGE_RANGE_START_END;
        values[count].value = (double)(ranges[i].end_ns - ranges[i].start_ns);
        total += values[count++].value;
    }
    groups = values != NULL ? make_groups(trace, values, count, &group_count) : NULL;
    free(values);
    if (groups == NULL)
        return out_of_memory(csv->err);
    table = CREATE(columns);
    for (i = 0; i < group_count; i++) {
        const struct group *const group = &groups[i];

        add_decimal(table, total > 0 ? 100 * group->total / total : 0, 1);
        add_decimal(table, group->total, 0);
        ridge_table_count(table, group->count);
        add_decimal(table, group->average, 1);
        add_decimal(table, group->median, 1);
        add_decimal(table, group->least, 0);
        add_decimal(table, group->most, 0);
        add_decimal(table, group->deviation, 1);
        ridge_table_text(table, style_name(group->style));
        ridge_table_text(table, group->name);
    }
    free(groups);
    return finish(csv, table);
}

/* The columns of nvtx_gpu_proj_sum that sums have. */
static ridge_status write_projected(const struct csv *csv)
{
    static const ridge_column columns[] = {
        COLUMN("Range"),           COLUMN("Total Proj Time (ns)"), COLUMN("Total Range Time (ns)"),
        COLUMN("Range Instances"), COLUMN("Proj Avg (ns)"),        COLUMN("Total GPU Ops"),
        COLUMN("Avg GPU Ops"),     COLUMN("Kernel Time (ns)"),     COLUMN("Idle Time (ns)")};
    ridge_range_sums sums;
    const ridge_status status = ridge_trace_sum_ranges(
        csv->file->trace, 1U << RIDGE_RANGE_NVTX | 1U << RIDGE_RANGE_ANNOTATION, &csv->file->window,
        &sums, csv->err);
    ridge_table *table;
    size_t i;

    if (status != RIDGE_OK)
        return status;
    table = CREATE(columns);
    for (i = 0; i < sums.count; i++) {
        const ridge_range_sum *const sum = &sums.rows[i];
        const double instances = (double)sum->launching_count;

        if (sum->launching_count == 0) /* nothing to project */
            continue;
        ridge_table_text(table, sum->name);
        add_whole(table, sum->projected_ns);
        add_whole(table, sum->launching_ns);
        ridge_table_count(table, sum->launching_count);
        add_decimal(table, timeline_frac((double)sum->projected_ns, instances), 1);
        ridge_table_count(table, sum->op_count);
        add_decimal(table, timeline_frac((double)sum->op_count, instances), 1);
        add_whole(table, sum->kernel_ns);
        add_whole(table, sum->idle_ns);
    }
    ridge_range_sums_free(&sums);
    return finish(csv, table);
}

/* -- reports of ridge -------------------------------------------------------------------------- */

static ridge_status write_causes(const struct csv *csv)
{
    static const ridge_column columns[] = {
        COLUMN("Device"),   COLUMN("Cause"), COLUMN("Total Time (ns)"),
        COLUMN("Span (%)"), COLUMN("Gaps"),  COLUMN("Max (ns)")};
    ridge_table *const table = CREATE(columns);
    size_t i, cause;

    for (i = 0; i < csv->file->device_count; i++) {
        const ridge_device_account *const account = &csv->file->devices[i];

        if (csv->device != RIDGE_TRACE_NONE && csv->device != account->device)
            continue;
        for (cause = 0; cause < RIDGE_IDLE_COUNT; cause++) {
            const ridge_idle_sum *const sum = &account->causes[cause];

            add_whole(table, timeline_device_id(csv->file->trace, account));
            ridge_table_text(table, ridge_idle_name((ridge_idle)cause));
            add_whole(table, sum->total_ns);
            add_decimal(table,
                        100 * timeline_frac((double)sum->total_ns, (double)timeline_span(account)),
                        1);
            ridge_table_count(table, sum->gap_count);
            add_whole(table, sum->largest_ns);
        }
    }
    return finish(csv, table);
}

static void add_gap(const struct csv *csv, ridge_table *table, const ridge_device_account *account,
                    const ridge_idle_gap *gap)
{
    const ridge_trace *const trace = csv->file->trace;
    size_t op_count, range_count;
    const ridge_trace_op *const ops = ridge_trace_ops(trace, &op_count);
    const ridge_trace_range *const ranges = ridge_trace_ranges(trace, &range_count);

    add_whole(table, timeline_device_id(trace, account));
    add_whole(table, gap->start_ns);
    add_whole(table, gap->end_ns - gap->start_ns);
    ridge_table_text(table, ridge_idle_name((ridge_idle)gap->cause));
    ridge_table_text(
        table, gap->before < op_count ? ridge_trace_name(trace, ops[gap->before].name, NULL) : "");
    ridge_table_text(
        table, gap->after < op_count ? ridge_trace_name(trace, ops[gap->after].name, NULL) : "");
    ridge_table_text(table, gap->range < range_count
                                ? ridge_trace_name(trace, ranges[gap->range].name, NULL)
                                : "");
}

static ridge_status write_gaps(const struct csv *csv)
{
    static const ridge_column columns[] = {
        COLUMN("Device"), COLUMN("Start (ns)"), COLUMN("Duration (ns)"), COLUMN("Cause"),
        COLUMN("After"),  COLUMN("Before"),     COLUMN("Range")};
    ridge_table *const table = CREATE(columns);
    size_t i, k;

    for (i = 0; i < csv->file->device_count; i++) {
        const ridge_device_account *const account = &csv->file->devices[i];

        if (csv->device != RIDGE_TRACE_NONE && csv->device != account->device)
            continue;
        for (k = 0; k < account->gap_count; k++)
            add_gap(csv, table, account, &account->gaps[k]);
    }
    return finish(csv, table);
}

static ridge_status write_streams(const struct csv *csv)
{
    static const ridge_column columns[] = {
        COLUMN("Device"),    COLUMN("Stream"),   COLUMN("Context"),    COLUMN("Process"),
        COLUMN("Busy (ns)"), COLUMN("Span (%)"), COLUMN("Sum (ns)"),   COLUMN("Ops"),
        COLUMN("Kernels"),   COLUMN("Overlaps"), COLUMN("Most Queued")};
    const ridge_trace *const trace = csv->file->trace;
    size_t stream_count, process_count, i, k;
    const ridge_trace_stream *const streams = ridge_trace_streams(trace, &stream_count);
    const ridge_trace_process *const processes = ridge_trace_processes(trace, &process_count);
    ridge_table *const table = CREATE(columns);

    for (i = 0; i < csv->file->device_count; i++) {
        const ridge_device_account *const account = &csv->file->devices[i];

        if (csv->device != RIDGE_TRACE_NONE && csv->device != account->device)
            continue;
        for (k = 0; k < account->stream_count; k++) {
            const ridge_stream_account *const sum = &account->streams[k];
            const ridge_trace_stream *const stream = &streams[sum->stream];

            add_whole(table, timeline_device_id(trace, account));
            add_whole(table, stream->id);
            ridge_table_count(table, stream->context);
            add_whole(table, stream->process < process_count ? processes[stream->process].id : -1);
            add_whole(table, sum->busy_ns);
            add_decimal(table,
                        100 * timeline_frac((double)sum->busy_ns, (double)timeline_span(account)),
                        1);
            add_whole(table, sum->sum_ns);
            ridge_table_count(table, sum->op_count);
            ridge_table_count(table, sum->kernel_count);
            ridge_table_count(table, sum->overlap_count);
            ridge_table_count(table, sum->queue_depth_most);
        }
    }
    return finish(csv, table);
}

/* -- which one --------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    ridge_status (*write)(const struct csv *csv);
} reports[] = {
    {"cuda_gpu_kern_sum", write_kernels},
    {"cuda_gpu_kern_sum:base", write_base_kernels},
    {"cuda_gpu_kern_gb_sum", write_kernels_by_grid},
    {"cuda_api_sum", write_calls},
    {"cuda_gpu_mem_time_sum", write_copy_times},
    {"cuda_gpu_mem_size_sum", write_copy_sizes},
    {"nvtx_sum", write_nvtx},
    {"nvtx_gpu_proj_sum", write_projected},
    {"causes", write_causes},
    {"gaps", write_gaps},
    {"streams", write_streams},
};

const char *const timeline_csv_reports[] = {"cuda_gpu_kern_sum",
                                            "cuda_gpu_kern_sum:base",
                                            "cuda_gpu_kern_gb_sum",
                                            "cuda_api_sum",
                                            "cuda_gpu_mem_time_sum",
                                            "cuda_gpu_mem_size_sum",
                                            "nvtx_sum",
                                            "nvtx_gpu_proj_sum",
                                            "causes",
                                            "gaps",
                                            "streams",
                                            NULL};

ridge_status timeline_write_csv(const struct timeline_file *file,
                                const struct timeline_request *request, ridge_output *output,
                                ridge_error *err)
{
    const struct csv csv = {file,
                            request->device == OPTION_UNSET || file->main == NULL
                                ? RIDGE_TRACE_NONE
                                : file->main->device,
                            output, err};
    size_t i;

    for (i = 0; i < sizeof(reports) / sizeof(reports[0]); i++)
        if (strcmp(reports[i].name, request->csv) == 0)
            return reports[i].write(&csv);
    return ridge_fail(err, RIDGE_ERR_INTERNAL, "no report %s", request->csv);
}
