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

void timeline_add_time(ridge_table *table, double ns)
{
    char text[WORD];

    ridge_table_text(table, timeline_time(ns, text, sizeof(text)));
}

void timeline_add_percent(ridge_table *table, double part, double whole)
{
    char text[WORD];

    ridge_table_text(table, timeline_percent(part, whole, text, sizeof(text)));
}

/* Nothing recorded is a blank, not n/a in every line; below 1 no part of a time is told; of an empty
 * kernel's time it is no rank. */
static void add_ratio(ridge_table *table, double ratio, bool is_tiny)
{
    char text[WORD];

    snprintf(text, sizeof(text), is_tiny ? "(%.*fx)" : "%.*fx",
             ratio < 10    ? 2
             : ratio < 100 ? 1
                           : 0,
             ratio);
    ridge_table_text(table, isnan(ratio) ? "-" : ratio < 1 ? "<1" : text);
}

void timeline_finish_table(ridge_table *table, ridge_output *output)
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

/* -- kernels ----------------------------------------------------------------------------------- */

static bool has_bounds(const struct timeline_view *view)
{
    size_t i;

    for (i = 0; i < view->next.rank_count; i++)
        if (!isnan(view->next.ranks[i].ratio))
            return true;
    return false;
}

static bool is_worst(const struct timeline_view *view, const ridge_trace_sum *sum)
{
    return view->next.worst != NULL && view->next.worst->sum.name_id == sum->name_id;
}

/* The kernel to profile is marked, and the one with most to gain where that is another. */
static const char *mark_of(const struct timeline_view *view, const ridge_trace_sum *sum)
{
    const ridge_kernel_rank *const richest = view->next.richest;

    if (is_worst(view, sum))
        return "> ";
    return richest != NULL && richest->sum.name_id == sum->name_id ? "+ " : "";
}

static void add_kernel(ridge_table *table, const struct timeline_view *view,
                       const ridge_trace_sum *sum, bool with_bounds, const char *name)
{
    const ridge_kernel_rank *const rank = timeline_rank_of(view, sum->name_id);
    const bool has_bound = rank != NULL && rank->bound_count > 0 && rank->ratio > 0;
    char share[WORD], text[WORD + 4];

    snprintf(text, sizeof(text), "%s%s", mark_of(view, sum),
             timeline_percent(sum->share_frac, 1, share, sizeof(share)));
    ridge_table_text(table, text);
    timeline_add_time(table, (double)sum->total_ns);
    /* Of all calls, where only some have a bound as if the others were like them. */
    if (with_bounds && has_bound && rank->ratio >= 1)
        timeline_add_time(table, (double)sum->total_ns / rank->ratio);
    else if (with_bounds)
        ridge_table_text(table, "-");
    if (with_bounds)
        add_ratio(table, has_bound ? rank->ratio : (double)NAN, has_bound && rank->is_tiny);
    ridge_table_count(table, sum->count);
    snprintf(text, sizeof(text), "%s%s", sum->size_count > 0 ? "~" : "",
             timeline_time(sum->median_ns, share, sizeof(share)));
    ridge_table_text(table, text);
    ridge_table_text(table, name);
}

/* The first rows, the last of them the kernel to profile where that comes later. New, freed with
 * free(); NULL: out of memory. */
static const ridge_trace_sum **choose_kernels(const struct timeline_view *view, size_t count)
{
    const ridge_trace_sum **const rows = calloc(count + 1, sizeof(*rows));
    size_t i;

    for (i = 0; rows != NULL && i < count; i++)
        rows[i] = &view->kernels.rows[i];
    for (i = count; rows != NULL && i < view->kernels.count; i++)
        if (is_worst(view, &view->kernels.rows[i]))
            rows[count - 1] = &view->kernels.rows[i];
    return rows;
}

static char **kernel_names(const ridge_trace_sum *const *rows, size_t count, bool whole)
{
    const char **const recorded = calloc(count + 1, sizeof(*recorded));
    char **names;
    size_t i;

    for (i = 0; recorded != NULL && i < count; i++)
        recorded[i] = rows[i]->name;
    names = recorded != NULL ? timeline_row_names(recorded, count, whole) : NULL;
    free(recorded);
    return names;
}

void timeline_table_kernels(const struct timeline_view *view, size_t most, bool whole,
                            ridge_output *output)
{
    static const ridge_column bounded[] = {
        TIMELINE_NUMBER("share_frac", "Kernels", 0), TIMELINE_NUMBER("total_ns", "Total", 0),
        TIMELINE_NUMBER("bound_ns", "Least", 0),     TIMELINE_NUMBER("ratio", "Ratio", 0),
        TIMELINE_NUMBER("count", "Calls", 1),        TIMELINE_NUMBER("median_ns", "Median", 2),
        TIMELINE_TEXT("name", "Name", 16),
    };
    static const ridge_column plain[] = {
        TIMELINE_NUMBER("share_frac", "Kernels", 0), TIMELINE_NUMBER("total_ns", "Total", 0),
        TIMELINE_NUMBER("count", "Calls", 0),        TIMELINE_NUMBER("median_ns", "Median", 0),
        TIMELINE_TEXT("name", "Name", 16),
    };
    const size_t count = view->kernels.count < most ? view->kernels.count : most;
    const bool with_bounds = has_bounds(view);
    const ridge_trace_sum **const rows = count > 0 ? choose_kernels(view, count) : NULL;
    char **const names = rows != NULL ? kernel_names(rows, count, whole) : NULL;
    bool has_below = false, has_sizes = false, has_tiny = false;
    char text[128], floor[WORD];
    ridge_table *table;
    size_t i;

    if (count == 0)
        return;
    table = with_bounds ? ridge_table_create(bounded, sizeof(bounded) / sizeof(bounded[0]))
                        : ridge_table_create(plain, sizeof(plain) / sizeof(plain[0]));
    for (i = 0; names != NULL && i < count; i++) {
        const ridge_kernel_rank *const rank = timeline_rank_of(view, rows[i]->name_id);

        has_below |= rank != NULL && rank->ratio < 1;
        has_tiny |= rank != NULL && rank->is_tiny && rank->ratio >= 1;
        has_sizes |= rows[i]->size_count > 0;
        add_kernel(table, view, rows[i], with_bounds, names[i]);
    }
    timeline_free_names(names);
    free(rows);
    timeline_finish_table(table, output);
    if (has_below)
        ridge_output_styled(output, RIDGE_STYLE_DIM,
                            "<1: less than its bytes take in main memory, they come from L2\n");
    if (has_tiny) {
        snprintf(text, sizeof(text),
                 "(x): of an empty kernel's time, %s: little to gain inside, so it has no rank\n",
                 timeline_time(view->next.floor_ns, floor, sizeof(floor)));
        ridge_output_styled(output, RIDGE_STYLE_DIM, text);
    }
    if (has_sizes)
        ridge_output_styled(output, RIDGE_STYLE_DIM,
                            "~: launches of two sizes or more, --json has them\n");
    say_more(output, count, view->kernels.count, "kernels", "--kernels");
}

/* -- copies, calls ------------------------------------------------------------------------------- */

void timeline_table_copies(const struct timeline_view *view, size_t most, ridge_output *output)
{
    static const ridge_column columns[] = {
        TIMELINE_NUMBER("share_frac", "Copies", 0),
        TIMELINE_NUMBER("total_ns", "Total", 0),
        TIMELINE_NUMBER("count", "Calls", 0),
        TIMELINE_NUMBER("median_ns", "Median", 0),
        {"bytes", "Bytes", RIDGE_UNIT_BYTES, false, 0, 0},
        {"bytes_per_s", "Rate", RIDGE_UNIT_BYTES_PER_S, false, 0, 1},
        TIMELINE_TEXT("name", "Operation", 16),
    };
    const size_t count = view->copies.count < most ? view->copies.count : most;
    ridge_table *table;
    size_t i;

    if (count == 0)
        return;
    table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    for (i = 0; i < count; i++) {
        const ridge_trace_sum *const sum = &view->copies.rows[i];
        const double bytes =
            sum->bytes != RIDGE_TRACE_BYTES_UNKNOWN ? (double)sum->bytes : (double)NAN;

        timeline_add_percent(table, sum->share_frac, 1);
        timeline_add_time(table, (double)sum->total_ns);
        ridge_table_count(table, sum->count);
        timeline_add_time(table, sum->median_ns);
        ridge_table_number(table, bytes);
        ridge_table_number(table, 1e9 * timeline_frac(bytes, (double)sum->total_ns));
        ridge_table_text(table, sum->name);
    }
    timeline_finish_table(table, output);
}

void timeline_table_api(const struct timeline_view *view, size_t most, ridge_output *output)
{
    static const ridge_column columns[] = {
        TIMELINE_NUMBER("share_frac", "Calls", 0), TIMELINE_NUMBER("total_ns", "Total", 0),
        TIMELINE_NUMBER("count", "Count", 0),      TIMELINE_NUMBER("median_ns", "Median", 0),
        TIMELINE_NUMBER("min_ns", "Least", 2),     TIMELINE_NUMBER("max_ns", "Most", 1),
        TIMELINE_TEXT("name", "Name", 16),
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

        timeline_add_percent(table, sum->share_frac, 1);
        timeline_add_time(table, (double)sum->total_ns);
        ridge_table_count(table, sum->count);
        timeline_add_time(table, sum->median_ns);
        timeline_add_time(table, (double)sum->min_ns);
        timeline_add_time(table, (double)sum->max_ns);
        ridge_table_text(table, timeline_api_name(sum->name, name, sizeof(name)));
    }
    timeline_finish_table(table, output);
    say_more(output, count, view->api.count, "calls", "--api");
}

/* -- ranges, streams, processes ----------------------------------------------------------------- */

static void add_range(ridge_table *table, const char *name, const ridge_range_sum *sum)
{
    ridge_table_text(table, name);
    ridge_table_count(table, sum->count);
    timeline_add_time(table, (double)sum->host_union_ns);
    timeline_add_time(table, (double)sum->projected_ns);
    timeline_add_time(table, (double)sum->kernel_ns);
    timeline_add_time(table, (double)sum->idle_ns);
    timeline_add_time(table, (double)sum->host_idle_ns);
}

/* The sum of ranges that differ in a number. */
struct merged {
    char name[TIMELINE_NAME]; /* of the family, while they are sorted by it */
    char own[TIMELINE_NAME];
    ridge_range_sum sum;
};

static int by_merged_name(const void *left, const void *right)
{
    const struct merged *const a = left, *const b = right;
    const int order = strcmp(a->name, b->name);

    return order != 0 ? order : strcmp(a->own, b->own);
}

/* What of the device's time it holds, at work or idle. */
static int64_t time_of(const ridge_range_sum *sum)
{
    return sum->kernel_ns > INT64_MAX - sum->host_idle_ns ? INT64_MAX
                                                          : sum->kernel_ns + sum->host_idle_ns;
}

static int by_merged_time(const void *left, const void *right)
{
    const struct merged *const a = left, *const b = right;

    if (time_of(&a->sum) != time_of(&b->sum))
        return time_of(&a->sum) < time_of(&b->sum) ? 1 : -1;
    if (a->sum.host_ns != b->sum.host_ns)
        return a->sum.host_ns < b->sum.host_ns ? 1 : -1;
    return strcmp(a->name, b->name);
}

/* Length of a name without the number at its end; the number: 0 without one. */
static size_t split_number(const char *name, unsigned long long *number)
{
    size_t length = strlen(name);

    while (length > 0 && name[length - 1] >= '0' && name[length - 1] <= '9')
        length--;
    *number = strtoull(name + length, NULL, 10);
    return length;
}

static int by_number(const void *left, const void *right)
{
    unsigned long long a, b;

    split_number(((const struct merged *)left)->name, &a);
    split_number(((const struct merged *)right)->name, &b);
    return a < b ? -1 : a > b;
}

/* Steps that follow each other in the table stand in their order: "step 0" before "step 1". */
static void order_steps(struct merged *rows, size_t count)
{
    size_t first = 0, i;

    for (i = 1; i <= count; i++) {
        unsigned long long number;
        const size_t length = split_number(rows[first].name, &number);

        if (i < count && rows[first].name[length] != '\0' &&
            split_number(rows[i].name, &number) == length && rows[i].name[length] != '\0' &&
            strncmp(rows[first].name, rows[i].name, length) == 0)
            continue;
        qsort(rows + first, i - first, sizeof(*rows), by_number);
        first = i;
    }
}

enum { MOST_MERGED = 20000 };

static size_t count_ranges(const struct timeline_view *view)
{
    return view->ranges.count + view->idle_operations.count;
}

static const ridge_range_sum *range_at(const struct timeline_view *view, size_t i)
{
    return i < view->ranges.count ? &view->ranges.rows[i]
                                  : &view->idle_operations.rows[i - view->ranges.count];
}

/* New, freed with free(); NULL when there is nothing to merge or too much. */
static struct merged *merge_ranges(const struct timeline_view *view, size_t *count)
{
    const size_t all = count_ranges(view);
    struct merged *const rows = all <= MOST_MERGED ? calloc(all + 1, sizeof(*rows)) : NULL;
    size_t i, last = 0;

    for (i = 0; rows != NULL && i < all; i++) {
        ridge_range_family(range_at(view, i)->name, rows[i].name, sizeof(rows[i].name));
        timeline_range_name(range_at(view, i)->name, rows[i].own, sizeof(rows[i].own));
        rows[i].sum = *range_at(view, i);
    }
    if (rows == NULL || all == 0) {
        free(rows);
        return NULL;
    }
    qsort(rows, all, sizeof(*rows), by_merged_name);
    for (i = 1; i < all; i++) {
        ridge_range_sum *const into = &rows[last].sum;

        if (strcmp(rows[last].name, rows[i].name) != 0) {
            rows[++last] = rows[i];
            continue;
        }
        if (strcmp(rows[last].own, rows[i].own) != 0)
            snprintf(rows[last].own, sizeof(rows[last].own), "%s", rows[last].name);
        into->count += rows[i].sum.count;
        into->host_ns += rows[i].sum.host_ns;
        into->projected_ns += rows[i].sum.projected_ns;
        into->kernel_ns += rows[i].sum.kernel_ns;
        into->idle_ns += rows[i].sum.idle_ns;
        into->host_union_ns += rows[i].sum.host_union_ns;
        into->host_idle_ns += rows[i].sum.host_idle_ns;
        /* "layer 1" may lie in "layer 0": both hold the same idle time. */
        if (view->account != NULL && into->host_idle_ns > view->account->idle_ns)
            into->host_idle_ns = view->account->idle_ns;
    }
    *count = last + 1;
    qsort(rows, *count, sizeof(*rows), by_merged_time);
    order_steps(rows, *count);
    return rows;
}

void timeline_table_ranges(const struct timeline_view *view, size_t most, ridge_output *output)
{
    static const ridge_column columns[] = {
        TIMELINE_TEXT("name", "Ranges", 16),
        TIMELINE_NUMBER("count", "Calls", 0),
        TIMELINE_NUMBER("host_union_ns", "Host", 0),
        TIMELINE_NUMBER("projected_ns", "On the GPU", 0),
        TIMELINE_NUMBER("kernel_ns", "Kernels", 0),
        TIMELINE_NUMBER("idle_ns", "Idle inside", 1),
        TIMELINE_NUMBER("host_idle_ns", "Idle over", 0),
    };
    size_t count = count_ranges(view), i;
    struct merged *const merged = most != SIZE_MAX ? merge_ranges(view, &count) : NULL;
    const size_t shown = count < most ? count : most;
    ridge_table *table;

    if (count == 0)
        return;
    table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    for (i = 0; i < shown; i++)
        if (merged != NULL)
            add_range(table, merged[i].own, &merged[i].sum);
        else
            add_range(table, range_at(view, i)->name, range_at(view, i));
    free(merged);
    timeline_finish_table(table, output);
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
        TIMELINE_TEXT("id", "Streams", 0),
        TIMELINE_NUMBER("busy_ns", "Busy", 0),
        TIMELINE_NUMBER("share", "Of span", 0),
        TIMELINE_NUMBER("op_count", "Work", 0),
        TIMELINE_NUMBER("kernels", "Kernels", 3),
        TIMELINE_NUMBER("overlap_count", "Overlaps", 2),
        TIMELINE_NUMBER("queue_depth_most", "Most queued", 1),
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
        timeline_add_time(table, (double)stream->busy_ns);
        timeline_add_percent(table, (double)stream->busy_ns, (double)timeline_span(account));
        ridge_table_count(table, stream->op_count);
        ridge_table_count(table, stream->kernel_count);
        ridge_table_count(table, stream->overlap_count);
        ridge_table_count(table, stream->queue_depth_most);
    }
    free(order);
    timeline_finish_table(table, output);
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
        TIMELINE_NUMBER("id", "Process", 0),
        TIMELINE_NUMBER("streams", "Streams", 0),
        TIMELINE_NUMBER("op_count", "Work", 0),
        TIMELINE_NUMBER("sum_ns", "Sum of times", 0),
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
        timeline_add_time(table, (double)workers[i].sum_ns);
    }
    free(workers);
    if (shown > 1)
        ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
    ridge_table_free(table);
}
