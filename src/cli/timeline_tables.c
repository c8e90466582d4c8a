/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of ridge timeline: short in the screen, whole when an option asks for one. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline_cli.h"

enum { WORD = 32 };

static void add_time(ridge_table *table, double ns)
{
    char text[WORD];

    ridge_table_text(table, timeline_time(ns, text, sizeof(text)));
}

static void add_percent(ridge_table *table, double part, double whole)
{
    char text[WORD];

    ridge_table_text(table, timeline_percent(part, whole, text, sizeof(text)));
}

/* Nothing recorded is a blank, not n/a in every line. */
static void add_ratio(ridge_table *table, double ratio)
{
    char text[WORD];

    snprintf(text, sizeof(text), "%.*fx", ratio < 10 ? 2 : ratio < 100 ? 1 : 0, ratio);
    ridge_table_text(table, isnan(ratio) ? "-" : text);
}

/* A column of numbers that are written here: to the right, as numbers are. */
#define NUMBER(key, title, order)                                                                  \
    {                                                                                              \
        key, title, RIDGE_UNIT_NONE, false, 0, order                                               \
    }
#define TEXT(key, title, narrowest)                                                                \
    {                                                                                              \
        key, title, RIDGE_UNIT_NONE, true, narrowest, 0                                            \
    }

static void finish(ridge_table *table, ridge_output *output)
{
    ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
    ridge_table_free(table);
}

static void say_more(ridge_output *output, size_t shown, size_t count, const char *what,
                     const char *option)
{
    char text[128];

    if (shown >= count)
        return;
    snprintf(text, sizeof(text), "%zu more %s: %s\n", count - shown, what, option);
    ridge_output_styled(output, RIDGE_STYLE_DIM, text);
}

/* -- idle time --------------------------------------------------------------------------------- */

/* The causes, the largest first. */
static size_t sort_causes(const ridge_device_account *account, size_t causes[RIDGE_IDLE_COUNT])
{
    size_t count = 0, i, k;

    for (i = 0; i < RIDGE_IDLE_COUNT; i++) {
        if (account->causes[i].total_ns == 0)
            continue;
        for (k = count++;
             k > 0 && account->causes[causes[k - 1]].total_ns < account->causes[i].total_ns; k--)
            causes[k] = causes[k - 1];
        causes[k] = i;
    }
    return count;
}

/* "before gemm in step 3" */
static const char *where(const struct timeline_view *view, uint32_t gap_row, char *buffer,
                         size_t size)
{
    const struct timeline_file *const file = view->file;
    const ridge_idle_gap *gap;
    const ridge_trace_range *ranges;
    char name[TIMELINE_NAME];
    size_t count;

    if (gap_row >= view->account->gap_count)
        return "";
    gap = &view->account->gaps[gap_row];
    ranges = ridge_trace_ranges(file->trace, &count);
    timeline_op_name(file->trace, gap->after, name, sizeof(name));
    if (gap->range < count)
        snprintf(buffer, size, "before %s in %s", name,
                 timeline_range_name(ridge_trace_name(file->trace, ranges[gap->range].name, NULL)));
    else
        snprintf(buffer, size, "before %s", name);
    return buffer;
}

void timeline_table_idle(const struct timeline_view *view, size_t most, ridge_output *output)
{
    static const ridge_column columns[] = {
        TEXT("cause", "Idle by cause", 0),  NUMBER("total_ns", "Time", 0),
        NUMBER("share", "Of span", 0),      NUMBER("gaps", "Gaps", 3),
        NUMBER("largest_ns", "Largest", 2), TEXT("where", "Where", 16),
    };
    const ridge_device_account *const account = view->account;
    const double span_ns = (double)timeline_span(account);
    size_t causes[RIDGE_IDLE_COUNT];
    const size_t count = sort_causes(account, causes);
    ridge_table *const table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    char text[2 * TIMELINE_NAME];
    int64_t rest_ns = 0;
    size_t i;

    /* What is left out is summed, so that the column still adds up; never one line for one cause. */
    const size_t shown = count > most && most > 1 ? most - 1 : count;

    for (i = 0; i < shown; i++) {
        const ridge_idle_sum *const sum = &account->causes[causes[i]];

        ridge_table_text(table, ridge_idle_name((ridge_idle)causes[i]));
        add_time(table, (double)sum->total_ns);
        add_percent(table, (double)sum->total_ns, span_ns);
        ridge_table_count(table, sum->gap_count);
        add_time(table, (double)sum->largest_ns);
        ridge_table_text(table, where(view, sum->largest_gap, text, sizeof(text)));
    }
    for (i = shown; i < count; i++)
        rest_ns += account->causes[causes[i]].total_ns;
    if (shown < count) {
        snprintf(text, sizeof(text), "%zu others", count - shown);
        ridge_table_text(table, text);
        add_time(table, (double)rest_ns);
        add_percent(table, (double)rest_ns, span_ns);
        for (i = 0; i < 3; i++)
            ridge_table_text(table, "");
    }
    finish(table, output);
}

/* The call in which most of a gap passed; "" when none is known. */
static const char *call_of_gap(const struct timeline_view *view, const ridge_idle_gap *gap,
                               char *buffer, size_t size)
{
    const ridge_device_account *const account = view->account;
    size_t count, i;
    const ridge_trace_api *const calls = ridge_trace_apis(view->file->trace, &count);
    const ridge_idle_piece *longest = NULL;

    for (i = gap->first_piece; i < gap->first_piece + gap->piece_count; i++) {
        const ridge_idle_piece *const piece = &account->pieces[i];

        if (piece->api < count && (longest == NULL || piece->end_ns - piece->start_ns >
                                                          longest->end_ns - longest->start_ns))
            longest = piece;
    }
    if (longest == NULL)
        return "";
    return timeline_api_name(ridge_trace_name(view->file->trace, calls[longest->api].name, NULL),
                             buffer, size);
}

void timeline_table_gaps(const struct timeline_view *view, size_t most, ridge_output *output)
{
    static const ridge_column columns[] = {
        NUMBER("time_ns", "Largest gaps", 0),
        NUMBER("start_ns", "At", 0),
        TEXT("cause", "Cause", 0),
        TEXT("call", "Host in", 10),
        TEXT("where", "Where", 16),
    };
    const ridge_device_account *const account = view->account;
    ridge_table *const table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    const size_t count = account->gap_count < most ? account->gap_count : most;
    char text[2 * TIMELINE_NAME];
    size_t i;

    for (i = 0; i < count; i++) {
        const uint32_t row = account->gaps_by_size[i];
        const ridge_idle_gap *const gap = &account->gaps[row];
        const double at_ms = (double)(gap->start_ns - view->file->origin_ns) / 1e6;

        add_time(table, (double)(gap->end_ns - gap->start_ns));
        snprintf(text, sizeof(text), "%.3f ms", at_ms);
        ridge_table_text(table, text);
        ridge_table_text(table, ridge_idle_name((ridge_idle)gap->cause));
        ridge_table_text(table, call_of_gap(view, gap, text, sizeof(text)));
        ridge_table_text(table, where(view, row, text, sizeof(text)));
    }
    finish(table, output);
}

/* -- kernels ----------------------------------------------------------------------------------- */

static void add_kernel(ridge_table *table, const struct timeline_view *view,
                       const ridge_trace_sum *sum, bool whole)
{
    const ridge_kernel_rank *const rank = timeline_rank_of(view, sum->name_id);
    const bool has_bound = rank != NULL && rank->bound_count > 0 && !isnan(rank->bound_ns);
    char name[TIMELINE_NAME];

    add_percent(table, sum->share_frac, 1);
    add_time(table, (double)sum->total_ns);
    ridge_table_count(table, sum->count);
    add_time(table, sum->median_ns);
    if (has_bound)
        add_time(table, rank->bound_ns / (double)rank->bound_count);
    else
        ridge_table_text(table, "-");
    add_ratio(table, has_bound ? rank->ratio : (double)NAN);
    ridge_table_text(table, timeline_kernel_name(sum->name, whole, name, sizeof(name)));
}

void timeline_table_kernels(const struct timeline_view *view, size_t most, bool whole,
                            ridge_output *output)
{
    static const ridge_column columns[] = {
        NUMBER("share_frac", "Kernels", 0), NUMBER("total_ns", "Total", 0),
        NUMBER("count", "Calls", 0),        NUMBER("median_ns", "Median", 0),
        NUMBER("bound_ns", "Least", 2),     NUMBER("ratio", "Ratio", 1),
        TEXT("name", "Name", 16),
    };
    const size_t count = view->kernels.count < most ? view->kernels.count : most;
    ridge_table *table;
    size_t i;

    if (count == 0)
        return;
    table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    for (i = 0; i < count; i++)
        add_kernel(table, view, &view->kernels.rows[i], whole);
    finish(table, output);
    say_more(output, count, view->kernels.count, "kernels", "--kernels");
}

/* -- copies, calls ------------------------------------------------------------------------------- */

void timeline_table_copies(const struct timeline_view *view, size_t most, ridge_output *output)
{
    static const ridge_column columns[] = {
        NUMBER("share_frac", "Copies", 0),
        NUMBER("total_ns", "Total", 0),
        NUMBER("count", "Calls", 0),
        NUMBER("median_ns", "Median", 0),
        {"bytes", "Bytes", RIDGE_UNIT_BYTES, false, 0, 0},
        {"bytes_per_s", "Rate", RIDGE_UNIT_BYTES_PER_S, false, 0, 1},
        TEXT("name", "Operation", 16),
    };
    const size_t count = view->copies.count < most ? view->copies.count : most;
    ridge_table *table;
    size_t i;

    if (count == 0)
        return;
    table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    for (i = 0; i < count; i++) {
        const ridge_trace_sum *const sum = &view->copies.rows[i];

        add_percent(table, sum->share_frac, 1);
        add_time(table, (double)sum->total_ns);
        ridge_table_count(table, sum->count);
        add_time(table, sum->median_ns);
        ridge_table_number(table, (double)sum->bytes);
        ridge_table_number(table, 1e9 * timeline_frac((double)sum->bytes, (double)sum->total_ns));
        ridge_table_text(table, sum->name);
    }
    finish(table, output);
}

void timeline_table_api(const struct timeline_view *view, ridge_output *output)
{
    static const ridge_column columns[] = {
        NUMBER("share_frac", "Calls", 0), NUMBER("total_ns", "Total", 0),
        NUMBER("count", "Count", 0),      NUMBER("median_ns", "Median", 0),
        NUMBER("min_ns", "Least", 2),     NUMBER("max_ns", "Most", 1),
        TEXT("name", "Name", 16),
    };
    ridge_table *const table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    char name[TIMELINE_NAME];
    size_t i;

    for (i = 0; i < view->api.count; i++) {
        const ridge_trace_sum *const sum = &view->api.rows[i];

        add_percent(table, sum->share_frac, 1);
        add_time(table, (double)sum->total_ns);
        ridge_table_count(table, sum->count);
        add_time(table, sum->median_ns);
        add_time(table, (double)sum->min_ns);
        add_time(table, (double)sum->max_ns);
        ridge_table_text(table, timeline_api_name(sum->name, name, sizeof(name)));
    }
    finish(table, output);
}

/* -- ranges, streams, processes ----------------------------------------------------------------- */

void timeline_table_ranges(const struct timeline_view *view, size_t most, ridge_output *output)
{
    static const ridge_column columns[] = {
        TEXT("name", "Ranges", 16),        NUMBER("count", "Calls", 0),
        NUMBER("host_ns", "Host", 0),      NUMBER("projected_ns", "On the GPU", 0),
        NUMBER("kernel_ns", "Kernels", 0), NUMBER("idle_ns", "Idle inside", 0),
    };
    const size_t count = view->ranges.count < most ? view->ranges.count : most;
    ridge_table *table;
    size_t i;

    if (count == 0)
        return;
    table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    for (i = 0; i < count; i++) {
        const ridge_range_sum *const sum = &view->ranges.rows[i];

        ridge_table_text(table, timeline_range_name(sum->name));
        ridge_table_count(table, sum->count);
        add_time(table, (double)sum->host_ns);
        add_time(table, (double)sum->projected_ns);
        add_time(table, (double)sum->kernel_ns);
        add_time(table, (double)sum->idle_ns);
    }
    finish(table, output);
    say_more(output, count, view->ranges.count, "ranges", "--nvtx");
}

static int by_busy(const void *left, const void *right)
{
    const ridge_stream_account *const a = *(const ridge_stream_account *const *)left;
    const ridge_stream_account *const b = *(const ridge_stream_account *const *)right;

    if (a->busy_ns != b->busy_ns)
        return a->busy_ns < b->busy_ns ? 1 : -1;
    return a->stream < b->stream ? -1 : a->stream > b->stream;
}

void timeline_table_streams(const struct timeline_view *view, size_t most, ridge_output *output)
{
    static const ridge_column columns[] = {
        TEXT("id", "Streams", 0),
        NUMBER("busy_ns", "Busy", 0),
        NUMBER("share", "Of span", 0),
        NUMBER("op_count", "Work", 0),
        NUMBER("kernels", "Kernels", 3),
        NUMBER("overlap_count", "Overlaps", 2),
        NUMBER("queue_depth_most", "Most queued", 1),
    };
    const ridge_device_account *const account = view->account;
    const size_t count = account->stream_count < most ? account->stream_count : most;
    const ridge_stream_account **order = calloc(account->stream_count + 1, sizeof(*order));
    ridge_table *const table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    size_t stream_count, i;
    const ridge_trace_stream *const streams = ridge_trace_streams(view->file->trace, &stream_count);

    for (i = 0; order != NULL && i < account->stream_count; i++)
        order[i] = &account->streams[i];
    if (order != NULL)
        qsort(order, account->stream_count, sizeof(*order), by_busy);
    for (i = 0; order != NULL && i < count; i++) {
        const ridge_stream_account *const stream = order[i];
        const bool known = stream->stream < stream_count;
        char id[WORD];

        snprintf(id, sizeof(id), "%" PRId64 "%s", known ? streams[stream->stream].id : -1,
                 known && streams[stream->stream].is_null ? " (default)" : "");
        ridge_table_text(table, id);
        add_time(table, (double)stream->busy_ns);
        add_percent(table, (double)stream->busy_ns, (double)timeline_span(account));
        ridge_table_count(table, stream->op_count);
        ridge_table_count(table, stream->kernel_count);
        ridge_table_count(table, stream->overlap_count);
        ridge_table_count(table, stream->queue_depth_most);
    }
    free(order);
    finish(table, output);
    say_more(output, count, account->stream_count, "streams", "--streams");
}

/* Who works on the device, where there are several. */
struct worker {
    size_t streams, works;
    int64_t sum_ns;
};

void timeline_table_processes(const struct timeline_view *view, size_t most, ridge_output *output)
{
    static const ridge_column columns[] = {
        NUMBER("id", "Process", 0),
        NUMBER("streams", "Streams", 0),
        NUMBER("op_count", "Work", 0),
        NUMBER("sum_ns", "Sum of times", 0),
    };
    size_t count, stream_count, shown = 0, i;
    const ridge_trace_process *const processes = ridge_trace_processes(view->file->trace, &count);
    const ridge_trace_stream *const streams = ridge_trace_streams(view->file->trace, &stream_count);
    const ridge_device_account *const account = view->account;
    struct worker *const workers = calloc(count + 1, sizeof(*workers));
    ridge_table *const table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));

    for (i = 0; workers != NULL && i < account->stream_count; i++) {
        const ridge_stream_account *const stream = &account->streams[i];
        const uint32_t process =
            stream->stream < stream_count ? streams[stream->stream].process : RIDGE_TRACE_NONE;

        if (process >= count)
            continue;
        workers[process].streams++;
        workers[process].works += stream->op_count;
        workers[process].sum_ns += stream->sum_ns;
    }
    for (i = 0; workers != NULL && i < count && shown < most; i++) {
        if (workers[i].works == 0)
            continue;
        shown++;
        ridge_table_number(table, (double)processes[i].id);
        ridge_table_count(table, workers[i].streams);
        ridge_table_count(table, workers[i].works);
        add_time(table, (double)workers[i].sum_ns);
    }
    free(workers);
    if (shown > 1)
        ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
    ridge_table_free(table);
}
