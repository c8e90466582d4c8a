/* SPDX-License-Identifier: Apache-2.0
 *
 * Two traces, before and after: did the time between the kernels go, or the time inside them, and
 * in which kernels. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline_cli.h"

enum { WORD = 32, MOST_CHANGES = 20, SIDE = 9 /* columns of a label */ };

void timeline_match_devices(const struct timeline_file *before, struct timeline_file *after)
{
    const int64_t id = timeline_device_id(before->trace, before->main);
    size_t i;

    for (i = 0; i < after->device_count; i++)
        if (before->main != NULL && timeline_device_id(after->trace, &after->devices[i]) == id)
            after->main = &after->devices[i];
}

static const char *change_name(ridge_kernel_change_kind kind)
{
    static const char *const names[] = {"appeared", "vanished", "changed", "same"};

    return names[kind];
}

/* -- text -------------------------------------------------------------------------------------- */

static void print_side(const char *label, const struct timeline_file *file, bool with_device,
                       ridge_output *output)
{
    const ridge_device_account *const account = file->main;
    const double span_ns = (double)timeline_span(account);
    char span[WORD], kernels[WORD], copies[WORD], idle[WORD], device[WORD + 8] = "", first[WORD];
    char text[512];

    if (with_device)
        snprintf(device, sizeof(device), "device %" PRId64 ", ",
                 timeline_device_id(file->trace, account));
    snprintf(first, sizeof(first), "%-*s", SIDE, label);
    snprintf(text, sizeof(text), "%sspan %s = kernels %s + copies only %s + idle %s, %.200s",
             device, timeline_time(span_ns, span, WORD),
             timeline_percent((double)account->kernel_ns, span_ns, kernels, WORD),
             timeline_percent((double)account->copy_only_ns, span_ns, copies, WORD),
             timeline_percent((double)account->idle_ns, span_ns, idle, WORD),
             cli_base_name(file->path));
    ridge_output_wrap(output, SIDE, first, text);
}

/* The part of the span that changed most: kernels, copies, a cause of idle time. */
static const char *most_changed(const ridge_device_account *before,
                                const ridge_device_account *after, double *change_ns)
{
    const char *most = "kernels";
    int cause;

    *change_ns = (double)(after->kernel_ns - before->kernel_ns);
    for (cause = -1; cause < RIDGE_IDLE_COUNT; cause++) {
        const double change =
            cause < 0 ? (double)(after->copy_only_ns - before->copy_only_ns)
                      : (double)(after->causes[cause].total_ns - before->causes[cause].total_ns);

        if (fabs(change) > fabs(*change_ns)) {
            most = cause < 0 ? "copies" : ridge_idle_name((ridge_idle)cause);
            *change_ns = change;
        }
    }
    return most;
}

static void print_verdicts(const struct timeline_file *before, const struct timeline_file *after,
                           ridge_output *output)
{
    const double from_ns = (double)timeline_span(before->main);
    const double to_ns = (double)timeline_span(after->main);
    const char *most;
    double change_ns;
    char text[160], verdicts[96], change[WORD];

    snprintf(verdicts, sizeof(verdicts), "%s -> %s",
             ridge_timeline_verdict_name(before->main->verdict),
             ridge_timeline_verdict_name(after->main->verdict));
    ridge_output_text(output, "verdict  ");
    ridge_output_styled(output, RIDGE_STYLE_STRONG, verdicts);
    if (from_ns <= 0 || to_ns <= 0)
        text[0] = '\0';
    else if (fmax(from_ns, to_ns) < 1.005 * fmin(from_ns, to_ns))
        snprintf(text, sizeof(text), ": the span is as long as before");
    else
        snprintf(text, sizeof(text), ": the span is %.3g times %s",
                 fmax(from_ns, to_ns) / fmin(from_ns, to_ns),
                 to_ns <= from_ns ? "shorter" : "longer");
    most = most_changed(before->main, after->main, &change_ns);
    if (change_ns != 0)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "; most in %s, %c%s", most,
                 change_ns < 0 ? '-' : '+', timeline_time(fabs(change_ns), change, WORD));
    ridge_output_wrap_on(output, SIDE, SIDE + strlen(verdicts), text);
}

static void add_change(ridge_table *table, double before_ns, double after_ns)
{
    const double change_ns = after_ns - before_ns;
    char time[WORD], text[WORD + 2];

    timeline_time(fabs(change_ns), time, sizeof(time));
    snprintf(text, sizeof(text), "%s%s", change_ns < 0 ? "-" : change_ns > 0 ? "+" : "", time);
    ridge_table_text(table, text);
}

static void print_idle(const ridge_device_account *before, const ridge_device_account *after,
                       ridge_output *output)
{
    static const ridge_column columns[] = {
        {"cause", "Idle by cause", RIDGE_UNIT_NONE, true, 0, 0},
        {"before_ns", "Before", RIDGE_UNIT_NONE, false, 0, 0},
        {"after_ns", "After", RIDGE_UNIT_NONE, false, 0, 0},
        {"change_ns", "Change", RIDGE_UNIT_NONE, false, 0, 0},
    };
    ridge_table *const table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    size_t i;

    for (i = 0; i < RIDGE_IDLE_COUNT; i++) {
        const int64_t from_ns = before->causes[i].total_ns, to_ns = after->causes[i].total_ns;

        if (from_ns == 0 && to_ns == 0)
            continue;
        ridge_table_text(table, ridge_idle_name((ridge_idle)i));
        timeline_add_time(table, (double)from_ns);
        timeline_add_time(table, (double)to_ns);
        add_change(table, (double)from_ns, (double)to_ns);
    }
    ridge_table_text(table, "sum");
    timeline_add_time(table, (double)before->idle_ns);
    timeline_add_time(table, (double)after->idle_ns);
    add_change(table, (double)before->idle_ns, (double)after->idle_ns);
    ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
    ridge_table_free(table);
}

/* "12 -> 24", or the one number that both have. */
static void add_counts(ridge_table *table, uint64_t before, uint64_t after)
{
    char text[64];

    if (before == after)
        snprintf(text, sizeof(text), "%" PRIu64, before);
    else
        snprintf(text, sizeof(text), "%" PRIu64 " -> %" PRIu64, before, after);
    ridge_table_text(table, text);
}

/* "12.0 us -> 24.0 us", or the one that both or one alone has. */
static void add_medians(ridge_table *table, double before_ns, double after_ns)
{
    char before[WORD], after[WORD], text[2 * WORD + 4];

    timeline_time(before_ns, before, WORD);
    timeline_time(after_ns, after, WORD);
    if (isnan(before_ns) || isnan(after_ns) || strcmp(before, after) == 0)
        snprintf(text, sizeof(text), "%s", isnan(before_ns) ? after : before);
    else
        snprintf(text, sizeof(text), "%s -> %s", before, after);
    ridge_table_text(table, text);
}

static void add_kernel_change(ridge_table *table, const ridge_kernel_change *change,
                              const char *name)
{
    ridge_table_text(table, change_name(change->kind));
    add_change(table, (double)change->total_before_ns, (double)change->total_after_ns);
    timeline_add_time(table, (double)change->total_before_ns);
    timeline_add_time(table, (double)change->total_after_ns);
    add_counts(table, change->count_before, change->count_after);
    add_medians(table, change->median_before_ns, change->median_after_ns);
    ridge_table_text(table, name);
}

/* Of all kernels, also of those that are the same. */
static void add_kernel_sum(ridge_table *table, const ridge_kernel_change *changes, size_t count)
{
    double before_ns = 0, after_ns = 0;
    uint64_t before = 0, after = 0;
    size_t i;

    for (i = 0; i < count; i++) {
        before_ns += (double)changes[i].total_before_ns;
        after_ns += (double)changes[i].total_after_ns;
        before += changes[i].count_before;
        after += changes[i].count_after;
    }
    ridge_table_text(table, "sum");
    add_change(table, before_ns, after_ns);
    timeline_add_time(table, before_ns);
    timeline_add_time(table, after_ns);
    add_counts(table, before, after);
    ridge_table_text(table, "-");
    ridge_table_text(table, "all kernels");
}

static void print_kernels(const ridge_kernel_change *changes, size_t count, size_t most, bool whole,
                          ridge_output *output)
{
    static const ridge_column columns[] = {
        {"kind", "Kernels", RIDGE_UNIT_NONE, true, 0, 0},
        {"change_ns", "Change", RIDGE_UNIT_NONE, false, 0, 0},
        {"before_ns", "Before", RIDGE_UNIT_NONE, false, 0, 3},
        {"after_ns", "After", RIDGE_UNIT_NONE, false, 0, 2},
        {"calls", "Calls", RIDGE_UNIT_NONE, false, 0, 1},
        {"median_ns", "Median", RIDGE_UNIT_NONE, false, 0, 4},
        {"name", "Name", RIDGE_UNIT_NONE, true, 16, 0},
    };
    ridge_table *const table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    const char **const recorded = calloc(count + 1, sizeof(*recorded));
    char **names;
    size_t shown = 0, different = 0, i;

    for (i = 0; recorded != NULL && i < count; i++)
        if (changes[i].kind != RIDGE_KERNEL_SAME && different++ < most)
            recorded[shown++] = changes[i].name;
    names = recorded != NULL ? timeline_row_names(recorded, shown, whole) : NULL;
    for (i = 0, shown = 0; names != NULL && i < count && names[shown] != NULL; i++)
        if (changes[i].kind != RIDGE_KERNEL_SAME)
            add_kernel_change(table, &changes[i], names[shown++]);
    timeline_free_names(names);
    free(recorded);
    if (shown > 0) {
        add_kernel_sum(table, changes, count);
        ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
    }
    ridge_table_free(table);
    if (different > shown)
        ridge_output_format(output, "%zu more: --kernels\n", different - shown);
    ridge_output_format(output, "%zu of %zu kernels are the same\n", count - different, count);
}

/* -- JSON -------------------------------------------------------------------------------------- */

static void write_side(const char *key, const struct timeline_file *file, ridge_json *json)
{
    const ridge_device_account *const account = file->main;
    size_t i;

    ridge_json_begin_object(json, key);
    ridge_json_text(json, "file", file->path);
    ridge_json_integer(json, "device", timeline_device_id(file->trace, account));
    ridge_json_text(json, "verdict", ridge_timeline_verdict_name(account->verdict));
    ridge_json_text(json, "reason", account->reason);
    ridge_json_integer(json, "start_ns", account->start_ns);
    ridge_json_integer(json, "end_ns", account->end_ns);
    ridge_json_integer(json, "kernel_ns", account->kernel_ns);
    ridge_json_integer(json, "copy_only_ns", account->copy_only_ns);
    ridge_json_integer(json, "idle_ns", account->idle_ns);
    ridge_json_begin_object(json, "causes");
    for (i = 0; i < RIDGE_IDLE_COUNT; i++)
        ridge_json_integer(json, ridge_idle_name((ridge_idle)i), account->causes[i].total_ns);
    ridge_json_end_object(json);
    ridge_json_end_object(json);
}

static void write_changes(const ridge_kernel_change *changes, size_t count, ridge_json *json)
{
    size_t i;

    ridge_json_begin_array(json, "kernels");
    for (i = 0; i < count; i++) {
        const ridge_kernel_change *const change = &changes[i];

        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "kind", change_name(change->kind));
        ridge_json_text(json, "name", change->name);
        ridge_json_count(json, "count_before", change->count_before);
        ridge_json_count(json, "count_after", change->count_after);
        ridge_json_integer(json, "total_before_ns", change->total_before_ns);
        ridge_json_integer(json, "total_after_ns", change->total_after_ns);
        ridge_json_number(json, "median_before_ns", change->median_before_ns);
        ridge_json_number(json, "median_after_ns", change->median_after_ns);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
}

ridge_status timeline_write_compare(const struct timeline_file *before,
                                    const struct timeline_file *after,
                                    const struct timeline_request *request, ridge_output *output,
                                    ridge_json *json, ridge_error *err)
{
    const bool with_device = before->device_count > 1 || after->device_count > 1 ||
                             timeline_device_id(before->trace, before->main) !=
                                 timeline_device_id(after->trace, after->main);
    ridge_kernel_change *changes = NULL;
    size_t count = 0;
    const ridge_status status = ridge_timeline_compare(
        before->trace, after->trace, before->main->device, after->main->device, &before->window,
        &after->window, &changes, &count, err);

    if (status != RIDGE_OK)
        return status;
    if (json != NULL) {
        write_side("before", before, json);
        write_side("after", after, json);
        write_changes(changes, count, json);
    } else {
        print_side("before", before, with_device, output);
        print_side("after", after, with_device, output);
        print_verdicts(before, after, output);
        ridge_output_text(output, "\n");
        print_idle(before->main, after->main, output);
        ridge_output_text(output, "\n");
        print_kernels(changes, count, request->kernels ? SIZE_MAX : MOST_CHANGES,
                      request->whole_names, output);
    }
    ridge_kernel_changes_free(changes);
    return RIDGE_OK;
}
