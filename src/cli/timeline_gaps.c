/* SPDX-License-Identifier: Apache-2.0
 *
 * Idle time as tables: by cause, the largest gaps, and the places of the program that they come
 * from. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline_cli.h"

enum {
    WORD = 32,
    /* Calls differ in their middle, "cudaStreamSynchronize", and must be known to act on: the other
     * columns give way first. Longer names are rare. */
    WHOLE_CALL = 25
};

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

/* What comes behind a gap and the range in which the host was: two cells, the second where ranges are
 * known at all. */
static void add_where(ridge_table *table, const struct timeline_view *view, uint32_t gap_row,
                      bool is_family, bool with_ranges)
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
    ridge_table_text(table,
                     known && gap->host_range < count
                         ? (is_family ? ridge_range_family : timeline_range_name)(
                               ridge_trace_name(file->trace, ranges[gap->host_range].name, NULL),
                               name, sizeof(name))
                         : "");
}

/* Whether any of the first rows stands in a range. */
static bool any_in_range(const struct timeline_view *view, const uint32_t *gaps, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        if (gaps[i] < view->account->gap_count &&
            view->account->gaps[gaps[i]].host_range != RIDGE_TRACE_NONE)
            return true;
    return false;
}

/* What NO-WORK speaks of, where it lies in time that has another cause too: an operation may be open,
 * as a loader of data is. */
static void add_stall(ridge_table *table, const ridge_idle_sum *sum, double span_ns,
                      bool with_ranges)
{
    size_t i;

    ridge_table_text(table, "  of it >= 2 ms");
    timeline_add_time(table, (double)sum->stall_ns);
    timeline_add_percent(table, (double)sum->stall_ns, span_ns);
    for (i = 0; i < (with_ranges ? 4 : 3); i++)
        ridge_table_text(table, "");
}

void timeline_table_idle(const struct timeline_view *view, size_t most, ridge_output *output)
{
    static const ridge_column columns[] = {
        TIMELINE_TEXT("cause", "Idle by cause", 0),
        TIMELINE_NUMBER("total_ns", "Time", 0),
        TIMELINE_NUMBER("share", "Of span", 0),
        TIMELINE_NUMBER("gaps", "In gaps", 3),
        TIMELINE_NUMBER("largest_ns", "Longest piece", 2),
        TIMELINE_TEXT("after", "Before", 14),
        TIMELINE_TEXT("range", "In", 12),
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
        timeline_add_time(table, (double)sum->total_ns);
        timeline_add_percent(table, (double)sum->total_ns, span_ns);
        ridge_table_count(table, sum->gap_count);
        timeline_add_time(table, (double)sum->largest_ns);
        add_where(table, view, sum->largest_gap, false, with_ranges);
        if (account->verdict == RIDGE_TIMELINE_NO_WORK && causes[i] != RIDGE_IDLE_NO_WORK &&
            sum->stall_ns > 0)
            add_stall(table, sum, span_ns, with_ranges);
    }
    for (i = shown; i < count; i++)
        rest_ns += account->causes[causes[i]].total_ns;
    if (shown < count) {
        snprintf(text, sizeof(text), "%zu others", count - shown);
        ridge_table_text(table, text);
        timeline_add_time(table, (double)rest_ns);
        timeline_add_percent(table, (double)rest_ns, span_ns);
        for (i = 0; i < (with_ranges ? 4 : 3); i++)
            ridge_table_text(table, "");
    }
    timeline_finish_table(table, output);
}

/* "dispatch", "dispatch 72 %": the cause with most of a gap, and how much of it where the rest is of
 * others. */
static void add_cause(ridge_table *table, const ridge_device_account *account,
                      const ridge_idle_gap *gap)
{
    const double gap_ns = (double)(gap->end_ns - gap->start_ns);
    const char *const name = ridge_idle_name((ridge_idle)gap->cause);
    double share = 0;
    char text[48];
    size_t i;

    for (i = gap->first_piece; i < gap->first_piece + gap->piece_count; i++)
        if (account->pieces[i].cause == gap->cause)
            share += (double)(account->pieces[i].end_ns - account->pieces[i].start_ns) / gap_ns;
    if (share > 0.995)
        snprintf(text, sizeof(text), "%s", name);
    else
        snprintf(text, sizeof(text), "%s %.0f %%", name, 100 * share);
    ridge_table_text(table, text);
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
        TIMELINE_NUMBER("time_ns", "Largest gaps", 0), TIMELINE_NUMBER("start_ns", "At", 0),
        TIMELINE_TEXT("cause", "Most of it", 0),       TIMELINE_TEXT("call", "Host in", WHOLE_CALL),
        TIMELINE_TEXT("after", "Before", 14),          TIMELINE_TEXT("range", "In", 12),
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

        timeline_add_time(table, (double)(gap->end_ns - gap->start_ns));
        add_at(table, view, gap);
        add_cause(table, account, gap);
        ridge_table_text(table, call_of_gap(view, gap, text, sizeof(text)));
        add_where(table, view, row, false, with_ranges);
    }
    timeline_finish_table(table, output);
}

/* -- places ------------------------------------------------------------------------------------ */

enum { PLACES_AMONG = 20000 /* gaps, the largest */ };

static struct timeline_place place_of(const struct timeline_view *view, uint32_t row)
{
    size_t op_count, range_count;
    const ridge_trace_op *const ops = ridge_trace_ops(view->file->trace, &op_count);
    const ridge_trace_range *const ranges = ridge_trace_ranges(view->file->trace, &range_count);
    const ridge_idle_gap *const gap = &view->account->gaps[row];
    const struct timeline_place place = {
        .largest = row,
        .after = gap->after < op_count ? ops[gap->after].name : 0,
        .range = gap->host_range < range_count ? ranges[gap->host_range].name : 0,
        .cause = gap->cause};

    return place;
}

/* The range of the places whose name differs from this in a number alone, itself without one. Found
 * once a name: 0 in known is not looked at yet. */
static uint32_t find_family(const ridge_trace *trace, const struct timeline_place *places,
                            size_t count, uint32_t name, uint32_t *known)
{
    char wanted[TIMELINE_NAME], other[TIMELINE_NAME];
    size_t i;

    if (name == 0 || known == NULL || known[name] != 0)
        return known != NULL && name != 0 ? known[name] : name;
    known[name] = name;
    ridge_range_family(ridge_trace_name(trace, name, NULL), wanted, sizeof(wanted));
    for (i = 0; i < count && known[name] == name; i++)
        if (strcmp(wanted, ridge_range_family(ridge_trace_name(trace, places[i].range, NULL), other,
                                              sizeof(other))) == 0)
            known[name] = places[i].range;
    return known[name];
}

static size_t find_place(const struct timeline_place *places, size_t count,
                         const struct timeline_place *place)
{
    size_t i;

    for (i = 0; i < count; i++)
        if (places[i].after == place->after && places[i].range == place->range &&
            places[i].cause == place->cause)
            break;
    return i;
}

size_t timeline_find_places(const struct timeline_view *view,
                            struct timeline_place places[TIMELINE_PLACES])
{
    const ridge_device_account *const account = view->account;
    const ridge_trace *const trace = view->file->trace;
    uint32_t *const known = calloc(ridge_trace_name_count(trace) + 1, sizeof(*known));
    size_t count = 0, i;

    for (i = 0; i < account->gap_count && i < PLACES_AMONG && count < TIMELINE_PLACES; i++) {
        struct timeline_place place = place_of(view, account->gaps_by_size[i]);

        place.range = find_family(trace, places, count, place.range, known);
        if (find_place(places, count, &place) == count)
            places[count++] = place;
    }
    for (i = 0; i < account->gap_count; i++) {
        struct timeline_place place = place_of(view, (uint32_t)i);
        const uint32_t own = place.range;
        size_t at;

        place.range = find_family(trace, places, count, own, known);
        at = find_place(places, count, &place);
        if (at == count)
            continue;
        places[at].first = places[at].count == 0 ? own : places[at].first;
        places[at].is_family |= own != places[at].first;
        places[at].count++;
        places[at].total_ns += account->gaps[i].end_ns - account->gaps[i].start_ns;
    }
    free(known);
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
        TIMELINE_NUMBER("time_ns", "Largest gaps", 0), TIMELINE_NUMBER("start_ns", "At", 1),
        TIMELINE_NUMBER("count", "Times", 0),          TIMELINE_NUMBER("total_ns", "Sum", 2),
        TIMELINE_TEXT("cause", "Most of it", 0),       TIMELINE_TEXT("call", "Host in", WHOLE_CALL),
        TIMELINE_TEXT("after", "Before", 9),           TIMELINE_TEXT("range", "In", 8),
    };
    enum { CALL = 5, RANGE = 7, ALL = sizeof(all) / sizeof(all[0]) };
    const ridge_device_account *const account = view->account;
    const struct timeline_place *const places = view->places;
    const size_t count = view->place_count < most ? view->place_count : most;
    uint32_t rows[TIMELINE_PLACES];
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

        timeline_add_time(table, (double)(gap->end_ns - gap->start_ns));
        add_at(table, view, gap);
        ridge_table_count(table, places[i].count);
        timeline_add_time(table, (double)places[i].total_ns);
        add_cause(table, account, gap);
        if (with_calls)
            ridge_table_text(table, call_of_gap(view, gap, text, sizeof(text)));
        add_where(table, view, rows[i], places[i].is_family, with_ranges);
    }
    timeline_finish_table(table, output);
}
