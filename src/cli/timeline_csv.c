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

#include "timeline_csv.h"

enum { NUMBER = 48 };

void csv_add_decimal(ridge_table *table, double value, int decimals)
{
    char text[NUMBER];

    snprintf(text, sizeof(text), "%.*f", decimals, value);
    ridge_table_text(table, isnan(value) ? "" : text);
}

void csv_add_whole(ridge_table *table, int64_t value)
{
    char text[NUMBER];

    snprintf(text, sizeof(text), "%" PRId64, value);
    ridge_table_text(table, text);
}

/* Time (%), Total Time (ns), count, Avg, Med, Min, Max, StdDev */
static void add_statistics(ridge_table *table, const ridge_trace_sum *sum)
{
    csv_add_decimal(table, 100 * sum->share_frac, 1);
    csv_add_whole(table, sum->total_ns);
    ridge_table_count(table, sum->count);
    csv_add_decimal(table, sum->average_ns, 1);
    csv_add_decimal(table, sum->median_ns, 1);
    csv_add_whole(table, sum->min_ns);
    csv_add_whole(table, sum->max_ns);
    csv_add_decimal(table, sum->deviation_ns, 1);
}

ridge_status csv_finish(const struct csv *csv, ridge_table *table)
{
    ridge_table_write(table, RIDGE_FORMAT_CSV, csv->output, NULL, NULL);
    ridge_table_free(table);
    return RIDGE_OK;
}

/* -- reports of nsys --------------------------------------------------------------------------- */

/* Statistics and a name a row; frees the sums. */
static ridge_status finish_sums(const struct csv *csv, ridge_table *table, ridge_trace_sums *sums)
{
    for (size_t i = 0; i < sums->count; i++) {
        add_statistics(table, &sums->rows[i]);
        ridge_table_text(table, sums->rows[i].name);
    }
    ridge_trace_sums_free(sums);
    return csv_finish(csv, table);
}

static ridge_status kernels_by(const struct csv *csv, ridge_kernel_key key)
{
    static const ridge_column columns[] = {CSV_STATISTICS("Instances"), CSV_COLUMN("Name")};
    ridge_trace_sums sums;
    const ridge_status status = ridge_trace_sum_kernels(csv->file->trace, key, csv->device,
                                                        &csv->file->window, &sums, csv->err);

    if (status != RIDGE_OK)
        return status;
    return finish_sums(csv, CSV_CREATE(columns), &sums);
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
    static const ridge_column columns[] = {CSV_STATISTICS("Instances"), CSV_COLUMN("GridXYZ"),
                                           CSV_COLUMN("BlockXYZ"), CSV_COLUMN("Name")};
    static const uint32_t none[3];
    size_t config_count, i;
    const ridge_trace_config *const configs = ridge_trace_configs(csv->file->trace, &config_count);
    ridge_trace_sums sums;
    const ridge_status status = ridge_trace_sum_kernels(
        csv->file->trace, RIDGE_KERNEL_BY_CONFIG, csv->device, &csv->file->window, &sums, csv->err);
    ridge_table *table;

    if (status != RIDGE_OK)
        return status;
    table = CSV_CREATE(columns);
    for (i = 0; i < sums.count; i++) {
        const ridge_trace_sum *const sum = &sums.rows[i];
        const bool known = sum->config < config_count;

        add_statistics(table, sum);
        add_extent(table, known ? configs[sum->config].grid : none);
        add_extent(table, known ? configs[sum->config].block : none);
        ridge_table_text(table, sum->name);
    }
    ridge_trace_sums_free(&sums);
    return csv_finish(csv, table);
}

/* With the second rows of calls, as rows of their own: nsys counts them as further calls. */
static ridge_status write_calls(const struct csv *csv)
{
    static const ridge_column columns[] = {CSV_STATISTICS("Num Calls"), CSV_COLUMN("Name")};
    ridge_trace_sums sums, repeats;
    ridge_table *table;
    size_t i = 0, k = 0;
    ridge_status status =
        ridge_trace_sum_api(csv->file->trace, &csv->file->window, &sums, csv->err);

    if (status != RIDGE_OK)
        return status;
    status = ridge_trace_sum_repeats(csv->file->trace, &csv->file->window, &repeats, csv->err);
    if (status != RIDGE_OK) {
        ridge_trace_sums_free(&sums);
        return status;
    }
    table = CSV_CREATE(columns);
    while (i < sums.count || k < repeats.count) {
        const bool is_repeat = i == sums.count || (k < repeats.count && repeats.rows[k].total_ns >
                                                                            sums.rows[i].total_ns);
        ridge_trace_sum row = is_repeat ? repeats.rows[k++] : sums.rows[i++];
        const double whole = (double)sums.total_ns + (double)repeats.total_ns;

        row.share_frac = whole > 0 ? (double)row.total_ns / whole : row.share_frac;
        add_statistics(table, &row);
        ridge_table_text(table, row.name);
    }
    ridge_trace_sums_free(&sums);
    ridge_trace_sums_free(&repeats);
    return csv_finish(csv, table);
}

static ridge_status write_copy_times(const struct csv *csv)
{
    static const ridge_column columns[] = {CSV_STATISTICS("Count"), CSV_COLUMN("Operation")};
    ridge_trace_sums sums;
    const ridge_status status =
        ridge_trace_sum_copies(csv->file->trace, csv->device, &csv->file->window, &sums, csv->err);

    if (status != RIDGE_OK)
        return status;
    return finish_sums(csv, CSV_CREATE(columns), &sums);
}

/* -- reports of ridge -------------------------------------------------------------------------- */

static ridge_status write_causes(const struct csv *csv)
{
    static const ridge_column columns[] = {
        CSV_COLUMN("Device"),   CSV_COLUMN("Cause"), CSV_COLUMN("Total Time (ns)"),
        CSV_COLUMN("Span (%)"), CSV_COLUMN("Gaps"),  CSV_COLUMN("Max (ns)")};
    ridge_table *const table = CSV_CREATE(columns);
    size_t i, cause;

    for (i = 0; i < csv->file->device_count; i++) {
        const ridge_device_account *const account = &csv->file->devices[i];

        if (csv->device != RIDGE_TRACE_NONE && csv->device != account->device)
            continue;
        for (cause = 0; cause < RIDGE_IDLE_COUNT; cause++) {
            const ridge_idle_sum *const sum = &account->causes[cause];

            csv_add_whole(table, timeline_device_id(csv->file->trace, account));
            ridge_table_text(table, ridge_idle_name((ridge_idle)cause));
            csv_add_whole(table, sum->total_ns);
            csv_add_decimal(
                table, 100 * timeline_frac((double)sum->total_ns, (double)timeline_span(account)),
                1);
            ridge_table_count(table, sum->gap_count);
            csv_add_whole(table, sum->largest_ns);
        }
    }
    return csv_finish(csv, table);
}

static void add_gap(const struct csv *csv, ridge_table *table, const ridge_device_account *account,
                    const ridge_idle_gap *gap)
{
    const ridge_trace *const trace = csv->file->trace;
    size_t op_count, range_count;
    const ridge_trace_op *const ops = ridge_trace_ops(trace, &op_count);
    const ridge_trace_range *const ranges = ridge_trace_ranges(trace, &range_count);

    csv_add_whole(table, timeline_device_id(trace, account));
    csv_add_whole(table, gap->start_ns);
    csv_add_whole(table, gap->end_ns - gap->start_ns);
    ridge_table_text(table, ridge_idle_name((ridge_idle)gap->cause));
    ridge_table_text(
        table, gap->before < op_count ? ridge_trace_name(trace, ops[gap->before].name, NULL) : "");
    ridge_table_text(
        table, gap->after < op_count ? ridge_trace_name(trace, ops[gap->after].name, NULL) : "");
    ridge_table_text(table, gap->range < range_count
                                ? ridge_trace_name(trace, ranges[gap->range].name, NULL)
                                : "");
    ridge_table_text(table, gap->host_range < range_count
                                ? ridge_trace_name(trace, ranges[gap->host_range].name, NULL)
                                : "");
    csv_add_whole(table, timeline_at_ns(csv->file, gap->start_ns));
}

static ridge_status write_gaps(const struct csv *csv)
{
    static const ridge_column columns[] = {
        CSV_COLUMN("Device"), CSV_COLUMN("Start (ns)"), CSV_COLUMN("Duration (ns)"),
        CSV_COLUMN("Cause"),  CSV_COLUMN("After"),      CSV_COLUMN("Before"),
        CSV_COLUMN("Range"),  CSV_COLUMN("Host Range"), CSV_COLUMN("At (ns)")};
    ridge_table *const table = CSV_CREATE(columns);
    size_t i, k;

    for (i = 0; i < csv->file->device_count; i++) {
        const ridge_device_account *const account = &csv->file->devices[i];

        if (csv->device != RIDGE_TRACE_NONE && csv->device != account->device)
            continue;
        for (k = 0; k < account->gap_count; k++)
            add_gap(csv, table, account, &account->gaps[k]);
    }
    return csv_finish(csv, table);
}

static ridge_status write_streams(const struct csv *csv)
{
    static const ridge_column columns[] = {
        CSV_COLUMN("Device"),   CSV_COLUMN("Stream"),     CSV_COLUMN("Context"),
        CSV_COLUMN("Process"),  CSV_COLUMN("Busy (ns)"),  CSV_COLUMN("Span (%)"),
        CSV_COLUMN("Sum (ns)"), CSV_COLUMN("Ops"),        CSV_COLUMN("Kernels"),
        CSV_COLUMN("Overlaps"), CSV_COLUMN("Most Queued")};
    const ridge_trace *const trace = csv->file->trace;
    size_t stream_count, process_count, i, k;
    const ridge_trace_stream *const streams = ridge_trace_streams(trace, &stream_count);
    const ridge_trace_process *const processes = ridge_trace_processes(trace, &process_count);
    ridge_table *const table = CSV_CREATE(columns);

    for (i = 0; i < csv->file->device_count; i++) {
        const ridge_device_account *const account = &csv->file->devices[i];

        if (csv->device != RIDGE_TRACE_NONE && csv->device != account->device)
            continue;
        for (k = 0; k < account->stream_count; k++) {
            const ridge_stream_account *const sum = &account->streams[k];
            const ridge_trace_stream *const stream = &streams[sum->stream];

            csv_add_whole(table, timeline_device_id(trace, account));
            csv_add_whole(table, stream->id);
            ridge_table_count(table, stream->context);
            csv_add_whole(table,
                          stream->process < process_count ? processes[stream->process].id : -1);
            csv_add_whole(table, sum->busy_ns);
            csv_add_decimal(
                table, 100 * timeline_frac((double)sum->busy_ns, (double)timeline_span(account)),
                1);
            csv_add_whole(table, sum->sum_ns);
            ridge_table_count(table, sum->op_count);
            ridge_table_count(table, sum->kernel_count);
            ridge_table_count(table, sum->overlap_count);
            ridge_table_count(table, sum->queue_depth_most);
        }
    }
    return csv_finish(csv, table);
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
    {"cuda_gpu_mem_size_sum", csv_write_copy_sizes},
    {"nvtx_sum", csv_write_nvtx},
    {"nvtx_kern_sum", csv_write_nvtx_kernels},
    {"nvtx_gpu_proj_sum", csv_write_projected},
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
                                            "nvtx_kern_sum",
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
