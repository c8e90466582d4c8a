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

/* What comes behind a gap and the range that launches it: two cells, the second where ranges are
 * known at all. */
static void add_where(ridge_table *table, const struct timeline_view *view, uint32_t gap_row,
                      bool with_ranges)
{
    const struct timeline_file *const file = view->file;
    const bool known = gap_row < view->account->gap_count;
    const ridge_idle_gap *const gap = known ? &view->account->gaps[gap_row] : NULL;
    char name[TIMELINE_NAME];
    size_t count;
    const ridge_trace_range *const ranges = ridge_trace_ranges(file->trace, &count);

    ridge_table_text(table,
                     known ? timeline_op_name(file->trace, gap->after, name, sizeof(name)) : "");
    if (!with_ranges)
        return;
    ridge_table_text(table, known && gap->range < count
                                ? timeline_range_name(
                                      ridge_trace_name(file->trace, ranges[gap->range].name, NULL),
                                      name, sizeof(name))
                                : "");
}

/* Whether any of the first rows stands in a range. */
static bool any_in_range(const struct timeline_view *view, const uint32_t *gaps, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        if (gaps[i] < view->account->gap_count &&
            view->account->gaps[gaps[i]].range != RIDGE_TRACE_NONE)
            return true;
    return false;
}

void timeline_table_idle(const struct timeline_view *view, size_t most, ridge_output *output)
{
    static const ridge_column columns[] = {
        TEXT("cause", "Idle by cause", 0),
        NUMBER("total_ns", "Time", 0),
        NUMBER("share", "Of span", 0),
        NUMBER("gaps", "Gaps", 3),
        NUMBER("largest_ns", "Largest", 2),
        TEXT("after", "Before", 14),
        TEXT("range", "In", 12),
    };
    const ridge_device_account *const account = view->account;
    const double span_ns = (double)timeline_span(account);
    size_t causes[RIDGE_IDLE_COUNT];
    const size_t count = sort_causes(account, causes);
    uint32_t gaps[RIDGE_IDLE_COUNT];
    ridge_table *table;
    bool with_ranges;
    char text[48];
    int64_t rest_ns = 0;
    size_t i;

    /* What is left out is summed, so that the column still adds up; never one line for one cause. */
    const size_t shown = count > most && most > 1 ? most - 1 : count;

    for (i = 0; i < shown; i++)
        gaps[i] = account->causes[causes[i]].largest_gap;
    with_ranges = any_in_range(view, gaps, shown);
    table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]) - !with_ranges);
    for (i = 0; i < shown; i++) {
        const ridge_idle_sum *const sum = &account->causes[causes[i]];

        ridge_table_text(table, ridge_idle_name((ridge_idle)causes[i]));
        add_time(table, (double)sum->total_ns);
        add_percent(table, (double)sum->total_ns, span_ns);
        ridge_table_count(table, sum->gap_count);
        add_time(table, (double)sum->largest_ns);
        add_where(table, view, sum->largest_gap, with_ranges);
    }
    for (i = shown; i < count; i++)
        rest_ns += account->causes[causes[i]].total_ns;
    if (shown < count) {
        snprintf(text, sizeof(text), "%zu others", count - shown);
        ridge_table_text(table, text);
        add_time(table, (double)rest_ns);
        add_percent(table, (double)rest_ns, span_ns);
        for (i = 0; i < (with_ranges ? 4 : 3); i++)
            ridge_table_text(table, "");
    }
    finish(table, output);
}

/* The call in the longest piece of a gap's cause; "" when none was. */
static const char *call_of_gap(const struct timeline_view *view, const ridge_idle_gap *gap,
                               char *buffer, size_t size)
{
    const ridge_device_account *const account = view->account;
    size_t count, i;
    const ridge_trace_api *const calls = ridge_trace_apis(view->file->trace, &count);
    const ridge_idle_piece *longest = NULL;

    for (i = gap->first_piece; i < gap->first_piece + gap->piece_count; i++) {
        const ridge_idle_piece *const piece = &account->pieces[i];

        if (piece->cause == gap->cause &&
            (longest == NULL ||
             piece->end_ns - piece->start_ns > longest->end_ns - longest->start_ns))
            longest = piece;
    }
    if (longest == NULL || longest->api >= count)
        return "";
    return timeline_api_name(ridge_trace_name(view->file->trace, calls[longest->api].name, NULL),
                             buffer, size);
}

static void add_at(ridge_table *table, const struct timeline_view *view, const ridge_idle_gap *gap)
{
    char text[WORD];

    snprintf(text, sizeof(text), "%.3f ms",
             ((double)gap->start_ns - (double)view->file->origin_ns) / 1e6);
    ridge_table_text(table, text);
}

void timeline_table_gaps(const struct timeline_view *view, size_t most, ridge_output *output)
{
    static const ridge_column columns[] = {
        NUMBER("time_ns", "Largest gaps", 0),
        NUMBER("start_ns", "At", 0),
        TEXT("cause", "Cause", 0),
        TEXT("call", "Host in", 10),
        TEXT("after", "Before", 14),
        TEXT("range", "In", 12),
    };
    const ridge_device_account *const account = view->account;
    const size_t count = account->gap_count < most ? account->gap_count : most;
    const bool with_ranges = any_in_range(view, account->gaps_by_size, count);
    ridge_table *const table =
        ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]) - !with_ranges);
    char text[TIMELINE_NAME];
    size_t i;

    for (i = 0; i < count; i++) {
        const uint32_t row = account->gaps_by_size[i];
        const ridge_idle_gap *const gap = &account->gaps[row];

        add_time(table, (double)(gap->end_ns - gap->start_ns));
        add_at(table, view, gap);
        ridge_table_text(table, ridge_idle_name((ridge_idle)gap->cause));
        ridge_table_text(table, call_of_gap(view, gap, text, sizeof(text)));
        add_where(table, view, row, with_ranges);
    }
    finish(table, output);
}

/* Gaps of one cause in front of one kernel, in ranges of one name: a place of the program. */
enum { MOST_PLACES = 16, PLACES_AMONG = 20000 };
struct place {
    uint32_t largest; /* row of gaps */
    uint32_t after, range;
    uint8_t cause;
    size_t count;
    int64_t total_ns;
};

static struct place place_of(const struct timeline_view *view, uint32_t row)
{
    size_t op_count, range_count;
    const ridge_trace_op *const ops = ridge_trace_ops(view->file->trace, &op_count);
    const ridge_trace_range *const ranges = ridge_trace_ranges(view->file->trace, &range_count);
    const ridge_idle_gap *const gap = &view->account->gaps[row];
    const struct place place = {.largest = row,
                                .after = gap->after < op_count ? ops[gap->after].name : 0,
                                .range = gap->range < range_count ? ranges[gap->range].name : 0,
                                .cause = gap->cause};

    return place;
}

static size_t find_place(const struct place *places, size_t count, const struct place *place)
{
    size_t i;

    for (i = 0; i < count; i++)
        if (places[i].after == place->after && places[i].range == place->range &&
            places[i].cause == place->cause)
            break;
    return i;
}

/* The places with the largest gaps, one row each. */
static size_t find_places(const struct timeline_view *view, size_t most, struct place *places)
{
    const ridge_device_account *const account = view->account;
    size_t count = 0, i;

    for (i = 0; i < account->gap_count && i < PLACES_AMONG && count < most; i++) {
        const struct place place = place_of(view, account->gaps_by_size[i]);

        if (find_place(places, count, &place) == count)
            places[count++] = place;
    }
    for (i = 0; i < account->gap_count; i++) {
        const struct place place = place_of(view, (uint32_t)i);
        const size_t at = find_place(places, count, &place);

        if (at == count)
            continue;
        places[at].count++;
        places[at].total_ns += account->gaps[i].end_ns - account->gaps[i].start_ns;
    }
    return count;
}

static bool any_has_call(const struct timeline_view *view, const uint32_t *gaps, size_t count)
{
    char text[TIMELINE_NAME];
    size_t i;

    for (i = 0; i < count; i++)
        if (call_of_gap(view, &view->account->gaps[gaps[i]], text, sizeof(text))[0] != '\0')
            return true;
    return false;
}

void timeline_table_places(const struct timeline_view *view, size_t most, ridge_output *output)
{
    static const ridge_column all[] = {
        NUMBER("time_ns", "Largest gaps", 0),
        NUMBER("start_ns", "At", 2),
        NUMBER("count", "Times", 0),
        NUMBER("total_ns", "Sum", 0),
        TEXT("cause", "Cause", 0),
        TEXT("call", "Host in", 10),
        TEXT("after", "Before", 14),
        TEXT("range", "In", 12),
    };
    enum { CALL = 5, RANGE = 7, ALL = sizeof(all) / sizeof(all[0]) };
    const ridge_device_account *const account = view->account;
    struct place places[MOST_PLACES];
    uint32_t rows[MOST_PLACES];
    const size_t count = find_places(view, most < MOST_PLACES ? most : MOST_PLACES, places);
    ridge_column columns[ALL];
    char text[TIMELINE_NAME];
    bool with_ranges, with_calls;
    size_t column_count = 0, i;
    ridge_table *table;

    for (i = 0; i < count; i++)
        rows[i] = places[i].largest;
    with_ranges = any_in_range(view, rows, count);
    with_calls = any_has_call(view, rows, count);
    for (i = 0; i < ALL; i++)
        if ((i != CALL || with_calls) && (i != RANGE || with_ranges))
            columns[column_count++] = all[i];
    table = ridge_table_create(columns, column_count);
    for (i = 0; i < count; i++) {
        const ridge_idle_gap *const gap = &account->gaps[rows[i]];

        add_time(table, (double)(gap->end_ns - gap->start_ns));
        add_at(table, view, gap);
        ridge_table_count(table, places[i].count);
        add_time(table, (double)places[i].total_ns);
        ridge_table_text(table, ridge_idle_name((ridge_idle)gap->cause));
        if (with_calls)
            ridge_table_text(table, call_of_gap(view, gap, text, sizeof(text)));
        add_where(table, view, rows[i], with_ranges);
    }
    finish(table, output);
}

/* -- kernels ----------------------------------------------------------------------------------- */

static bool has_bounds(const struct timeline_view *view)
{
    size_t i;

    for (i = 0; i < view->next.rank_count; i++)
        if (!isnan(view->next.ranks[i].ratio))
            return true;
    return false;
}

static void add_kernel(ridge_table *table, const struct timeline_view *view,
                       const ridge_trace_sum *sum, bool with_bounds, bool whole)
{
    const ridge_kernel_rank *const rank = timeline_rank_of(view, sum->name_id);
    const bool has_bound = rank != NULL && rank->bound_count > 0 && !isnan(rank->bound_ns);
    char name[TIMELINE_NAME];

    add_percent(table, sum->share_frac, 1);
    add_time(table, (double)sum->total_ns);
    ridge_table_count(table, sum->count);
    add_time(table, sum->median_ns);
    if (with_bounds && has_bound)
        add_time(table, rank->bound_ns / (double)rank->bound_count);
    else if (with_bounds)
        ridge_table_text(table, "-");
    if (with_bounds)
        add_ratio(table, has_bound ? rank->ratio : (double)NAN);
    ridge_table_text(table, timeline_kernel_name(sum->name, whole, name, sizeof(name)));
}

void timeline_table_kernels(const struct timeline_view *view, size_t most, bool whole,
                            ridge_output *output)
{
    static const ridge_column bounded[] = {
        NUMBER("share_frac", "Kernels", 0), NUMBER("total_ns", "Total", 0),
        NUMBER("count", "Calls", 0),        NUMBER("median_ns", "Median", 0),
        NUMBER("bound_ns", "Least", 2),     NUMBER("ratio", "Ratio", 1),
        TEXT("name", "Name", 16),
    };
    static const ridge_column plain[] = {
        NUMBER("share_frac", "Kernels", 0), NUMBER("total_ns", "Total", 0),
        NUMBER("count", "Calls", 0),        NUMBER("median_ns", "Median", 0),
        TEXT("name", "Name", 16),
    };
    const size_t count = view->kernels.count < most ? view->kernels.count : most;
    const bool with_bounds = has_bounds(view);
    ridge_table *table;
    size_t i;

    if (count == 0)
        return;
    table = with_bounds ? ridge_table_create(bounded, sizeof(bounded) / sizeof(bounded[0]))
                        : ridge_table_create(plain, sizeof(plain) / sizeof(plain[0]));
    for (i = 0; i < count; i++)
        add_kernel(table, view, &view->kernels.rows[i], with_bounds, whole);
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

void timeline_table_api(const struct timeline_view *view, size_t most, ridge_output *output)
{
    static const ridge_column columns[] = {
        NUMBER("share_frac", "Calls", 0), NUMBER("total_ns", "Total", 0),
        NUMBER("count", "Count", 0),      NUMBER("median_ns", "Median", 0),
        NUMBER("min_ns", "Least", 2),     NUMBER("max_ns", "Most", 1),
        TEXT("name", "Name", 16),
    };
    const size_t count = view->api.count < most ? view->api.count : most;
    char name[TIMELINE_NAME];
    ridge_table *table;
    size_t i;

    if (count == 0)
        return;
    table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    for (i = 0; i < count; i++) {
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
    say_more(output, count, view->api.count, "calls", "--api");
}

/* -- ranges, streams, processes ----------------------------------------------------------------- */

static void add_range(ridge_table *table, const char *name, const ridge_range_sum *sum)
{
    ridge_table_text(table, name);
    ridge_table_count(table, sum->count);
    add_time(table, (double)sum->host_ns);
    add_time(table, (double)sum->projected_ns);
    add_time(table, (double)sum->kernel_ns);
    add_time(table, (double)sum->idle_ns);
}

/* The sum of ranges that differ in a number at their end. */
struct merged {
    char name[TIMELINE_NAME];
    ridge_range_sum sum;
};

static int by_merged_name(const void *left, const void *right)
{
    return strcmp(((const struct merged *)left)->name, ((const struct merged *)right)->name);
}

static int by_merged_time(const void *left, const void *right)
{
    const struct merged *const a = left, *const b = right;

    if (a->sum.kernel_ns != b->sum.kernel_ns)
        return a->sum.kernel_ns < b->sum.kernel_ns ? 1 : -1;
    if (a->sum.host_ns != b->sum.host_ns)
        return a->sum.host_ns < b->sum.host_ns ? 1 : -1;
    return strcmp(a->name, b->name);
}

enum { MOST_MERGED = 50000 };

/* New, freed with free(); NULL when there is nothing to merge or too much. */
static struct merged *merge_ranges(const ridge_range_sums *sums, size_t *count)
{
    struct merged *const rows =
        sums->count <= MOST_MERGED ? calloc(sums->count + 1, sizeof(*rows)) : NULL;
    size_t i, last = 0;

    for (i = 0; rows != NULL && i < sums->count; i++) {
        timeline_range_name(sums->rows[i].name, rows[i].name, sizeof(rows[i].name));
        rows[i].sum = sums->rows[i];
    }
    if (rows == NULL || sums->count == 0) {
        free(rows);
        return NULL;
    }
    qsort(rows, sums->count, sizeof(*rows), by_merged_name);
    for (i = 1; i < sums->count; i++) {
        ridge_range_sum *const into = &rows[last].sum;

        if (strcmp(rows[last].name, rows[i].name) != 0) {
            rows[++last] = rows[i];
            continue;
        }
        into->count += rows[i].sum.count;
        into->host_ns += rows[i].sum.host_ns;
        into->projected_ns += rows[i].sum.projected_ns;
        into->kernel_ns += rows[i].sum.kernel_ns;
        into->idle_ns += rows[i].sum.idle_ns;
    }
    *count = last + 1;
    qsort(rows, *count, sizeof(*rows), by_merged_time);
    return rows;
}

void timeline_table_ranges(const struct timeline_view *view, size_t most, ridge_output *output)
{
    static const ridge_column columns[] = {
        TEXT("name", "Ranges", 16),        NUMBER("count", "Calls", 0),
        NUMBER("host_ns", "Host", 0),      NUMBER("projected_ns", "On the GPU", 0),
        NUMBER("kernel_ns", "Kernels", 0), NUMBER("idle_ns", "Idle inside", 0),
    };
    size_t count = view->ranges.count, i;
    struct merged *const merged = most < count ? merge_ranges(&view->ranges, &count) : NULL;
    const size_t shown = count < most ? count : most;
    ridge_table *table;

    if (count == 0)
        return;
    table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    for (i = 0; i < shown; i++)
        if (merged != NULL)
            add_range(table, merged[i].name, &merged[i].sum);
        else
            add_range(table, view->ranges.rows[i].name, &view->ranges.rows[i]);
    free(merged);
    finish(table, output);
    say_more(output, shown, count, "ranges", "--nvtx");
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
