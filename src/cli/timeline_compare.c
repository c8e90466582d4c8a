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
    if (file->part.note[0] != '\0')
        ridge_output_wrap(output, SIDE, "note     ", file->part.note);
}

/* -- how much work ----------------------------------------------------------------------------- */

/* What two traces have done: traces are often cuts of different lengths of one loop. */
struct work {
    const char *unit; /* "step", "call"; NULL: nothing tells */
    double ratio;     /* after over before; 1 unless differs */
    bool differs;
    size_t steps_before, steps_after;
    ridge_call_pace calls;
};

static const double calls_differ = 1.05, overlap_least = 0.01;

static struct work find_work(const struct timeline_file *before, const struct timeline_file *after,
                             const ridge_kernel_change *changes, size_t count)
{
    struct work work = {.ratio = 1,
                        .steps_before = timeline_count_steps(before),
                        .steps_after = timeline_count_steps(after),
                        .calls = ridge_kernel_changes_pace(changes, count)};
    const double calls = work.calls.ratio;

    if (work.steps_before > 0 && work.steps_after > 0) {
        work.unit = "step";
        work.differs = work.steps_before != work.steps_after;
        work.ratio = (double)work.steps_after / (double)work.steps_before;
    } else if (!isnan(calls)) {
        work.unit = "call";
        work.differs = fmax(calls, 1 / calls) >= calls_differ;
        work.ratio = work.differs ? calls : 1;
    }
    return work;
}

/* The parts of a span, which sum to it. */
struct part {
    const char *name;
    double ns;
};

enum { PARTS = RIDGE_IDLE_COUNT + 3 };

static int64_t exposed_ns(const ridge_device_account *account)
{
    return account->collective_ns - account->collective_hidden_ns;
}

static bool communicates(const ridge_device_account *before, const ridge_device_account *after)
{
    return before->collective_ns > 0 || after->collective_ns > 0;
}

static void find_parts(const ridge_device_account *account, struct part parts[PARTS])
{
    size_t i;

    parts[0] = (struct part){"kernels", (double)(account->kernel_ns - exposed_ns(account))};
    parts[1] = (struct part){"communication", (double)exposed_ns(account)};
    parts[2] = (struct part){"copies", (double)account->copy_only_ns};
    for (i = 0; i < RIDGE_IDLE_COUNT; i++)
        parts[3 + i] =
            (struct part){ridge_idle_name((ridge_idle)i), (double)account->causes[i].total_ns};
}

/* The one that changed most, at ratio times the work; ns is by how much. */
static struct part most_changed(const ridge_device_account *before,
                                const ridge_device_account *after, double ratio)
{
    struct part from[PARTS], to[PARTS], most = {NULL, 0};
    size_t i;

    find_parts(before, from);
    find_parts(after, to);
    for (i = 0; i < PARTS; i++) {
        const double change_ns = to[i].ns / ratio - from[i].ns;

        if (most.name == NULL || fabs(change_ns) > fabs(most.ns))
            most = (struct part){from[i].name, change_ns};
    }
    return most;
}

/* The span of after over that of before; NAN: one has none. */
static double span_factor(const struct timeline_file *before, const struct timeline_file *after)
{
    const double from_ns = (double)timeline_span(before->main);
    const double to_ns = (double)timeline_span(after->main);

    return from_ns > 0 && to_ns > 0 ? to_ns / from_ns : (double)NAN;
}

/* "as long as before", "1.13 times longer". */
static char *describe_factor(double factor, char *buffer, size_t size)
{
    if (fmax(factor, 1 / factor) < 1.005)
        snprintf(buffer, size, "as long as before");
    else
        snprintf(buffer, size, "%.3g times %s", fmax(factor, 1 / factor),
                 factor <= 1 ? "shorter" : "longer");
    return buffer;
}

/* "12 % fewer calls", "2.5 times the steps". */
static char *describe_work(const struct work *work, char *buffer, size_t size)
{
    if (work->ratio >= 2)
        snprintf(buffer, size, "%.3g times the %ss", work->ratio, work->unit);
    else
        snprintf(buffer, size, "%.2g %% %s %ss", 100 * fabs(work->ratio - 1),
                 work->ratio < 1 ? "fewer" : "more", work->unit);
    return buffer;
}

static void print_verdicts(const struct timeline_file *before, const struct timeline_file *after,
                           const struct work *work, ridge_output *output)
{
    const double factor = span_factor(before, after);
    const struct part most = most_changed(before->main, after->main, work->ratio);
    const bool with_communication = communicates(before->main, after->main);
    char text[256] = "", verdicts[96], amount[48], length[48], change[WORD];

    snprintf(verdicts, sizeof(verdicts), "%s -> %s",
             ridge_timeline_verdict_name(before->main->verdict),
             ridge_timeline_verdict_name(after->main->verdict));
    ridge_output_text(output, "verdict  ");
    ridge_output_styled(output, RIDGE_STYLE_STRONG, verdicts);
    if (!isnan(factor) && work->differs)
        snprintf(text, sizeof(text), ": after ran %s; per %s the span is %s",
                 describe_work(work, amount, sizeof(amount)), work->unit,
                 describe_factor(factor / work->ratio, length, sizeof(length)));
    else if (!isnan(factor))
        snprintf(text, sizeof(text), ": the span is %s",
                 describe_factor(factor, length, sizeof(length)));
    if (fabs(most.ns) >= 1)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "; most in %s, %c%s%s%s%s",
                 with_communication && strcmp(most.name, "kernels") == 0 ? "kernels that compute"
                                                                         : most.name,
                 most.ns < 0 ? '-' : '+', timeline_time(fabs(most.ns), change, WORD),
                 work->differs ? " at as many " : "", work->differs ? work->unit : "",
                 work->differs ? "s" : "");
    ridge_output_wrap_on(output, SIDE, SIDE + strlen(verdicts), text);
}

/* Steps tell how much work there is, and calls that moved together another amount. */
static bool calls_disagree(const struct work *work)
{
    const double off = work->calls.ratio / work->ratio;

    return work->unit != NULL && strcmp(work->unit, "step") == 0 &&
           fmax(off, 1 / off) >= calls_differ;
}

/* What the verdict's factor is of; nothing where both did the same work. */
static void print_work(const struct timeline_file *before, const struct timeline_file *after,
                       const struct work *work, ridge_output *output)
{
    const bool by_step = work->unit != NULL && strcmp(work->unit, "step") == 0;
    const uint64_t from = by_step ? work->steps_before : work->calls.count_before;
    const uint64_t to = by_step ? work->steps_after : work->calls.count_after;
    char name[TIMELINE_NAME] = "", text[TIMELINE_NAME + 256], from_time[WORD], to_time[WORD];

    if (work->unit == NULL)
        return;
    if (work->calls.name != NULL)
        ridge_kernel_base_name(work->calls.name, name, sizeof(name));
    snprintf(text, sizeof(text),
             "%" PRIu64 " -> %" PRIu64 " %s%s, %s -> %s of the span each; kernels %zu -> %zu. "
             "Changes are for as many %ss as before",
             from, to, by_step ? "steps" : "calls of ", by_step ? "" : name,
             timeline_time((double)timeline_span(before->main) / (double)from, from_time, WORD),
             timeline_time((double)timeline_span(after->main) / (double)to, to_time, WORD),
             before->main->kernel_count, after->main->kernel_count, work->unit);
    if (work->differs)
        ridge_output_wrap(output, SIDE, "work     ", text);
    snprintf(text, sizeof(text),
             "%" PRIu64 " -> %" PRIu64 " steps, but %" PRIu64 " -> %" PRIu64 " calls of %s, and of "
             "others likewise: a step holds other work, or there is some outside of steps "
             "(--steps leaves it out)",
             from, to, work->calls.count_before, work->calls.count_after, name);
    if (calls_disagree(work))
        ridge_output_wrap(output, SIDE, "warning  ", text);
}

/* -- tables ------------------------------------------------------------------------------------ */

static void add_change(ridge_table *table, double change_ns)
{
    char time[WORD], text[WORD + 2];

    timeline_time(fabs(change_ns), time, sizeof(time));
    snprintf(text, sizeof(text), "%s%s",
             change_ns <= -0.5  ? "-"
             : change_ns >= 0.5 ? "+"
                                : "",
             time);
    ridge_table_text(table, text);
}

static void print_idle(const ridge_device_account *before, const ridge_device_account *after,
                       double ratio, ridge_output *output)
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
        add_change(table, (double)to_ns / ratio - (double)from_ns);
    }
    ridge_table_text(table, "sum");
    timeline_add_time(table, (double)before->idle_ns);
    timeline_add_time(table, (double)after->idle_ns);
    add_change(table, (double)after->idle_ns / ratio - (double)before->idle_ns);
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
    add_change(table, change->change_ns);
    timeline_add_time(table, (double)change->total_before_ns);
    timeline_add_time(table, (double)change->total_after_ns);
    add_counts(table, change->count_before, change->count_after);
    add_medians(table, change->median_before_ns, change->median_after_ns);
    ridge_table_text(table, name);
}

/* Of all kernels, also of those that are the same. */
static void add_kernel_sum(ridge_table *table, const ridge_kernel_change *changes, size_t count,
                           double ratio)
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
    add_change(table, after_ns / ratio - before_ns);
    timeline_add_time(table, before_ns);
    timeline_add_time(table, after_ns);
    add_counts(table, before, after);
    ridge_table_text(table, "-");
    ridge_table_text(table, "all kernels, summed");
}

static void print_kernels(const ridge_kernel_change *changes, size_t count, double ratio,
                          size_t most, bool whole, ridge_output *output)
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
        add_kernel_sum(table, changes, count, ratio);
        ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
    }
    ridge_table_free(table);
    if (different > shown)
        ridge_output_format(output, "%zu more: --kernels\n", different - shown);
    ridge_output_format(output, "%zu of %zu kernels are the same\n", count - different, count);
}

/* Where kernels overlap their sum is another number than what the span holds of them. */
static void print_union(const ridge_device_account *before, const ridge_device_account *after,
                        ridge_output *output)
{
    char from[WORD], to[WORD], most_from[WORD], most_to[WORD];

    if (fabs((double)(before->kernel_sum_ns - before->kernel_ns)) >=
            overlap_least * (double)before->kernel_sum_ns ||
        fabs((double)(after->kernel_sum_ns - after->kernel_ns)) >=
            overlap_least * (double)after->kernel_sum_ns)
        ridge_output_format(output,
                            "summed: overlaps count twice; the span holds %s -> %s of kernels\n",
                            timeline_time((double)before->kernel_ns, from, WORD),
                            timeline_time((double)after->kernel_ns, to, WORD));
    if (communicates(before, after))
        ridge_output_format(output, "communication: %s -> %s, no other kernel hides %s -> %s\n",
                            timeline_time((double)before->collective_ns, from, WORD),
                            timeline_time((double)after->collective_ns, to, WORD),
                            timeline_time((double)exposed_ns(before), most_from, WORD),
                            timeline_time((double)exposed_ns(after), most_to, WORD));
}

/* -- JSON -------------------------------------------------------------------------------------- */

static void write_side(const char *key, const struct timeline_file *file, ridge_json *json)
{
    const ridge_device_account *const account = file->main;
    size_t i;

    ridge_json_begin_object(json, key);
    ridge_json_text(json, "file", file->path);
    timeline_write_part(file, json);
    ridge_json_integer(json, "device", timeline_device_id(file->trace, account));
    ridge_json_text(json, "verdict", ridge_timeline_verdict_name(account->verdict));
    ridge_json_text(json, "reason", account->reason);
    ridge_json_integer(json, "start_ns", account->start_ns);
    ridge_json_integer(json, "end_ns", account->end_ns);
    ridge_json_count(json, "kernel_count", account->kernel_count);
    ridge_json_integer(json, "kernel_ns", account->kernel_ns);
    ridge_json_integer(json, "kernel_sum_ns", account->kernel_sum_ns);
    ridge_json_integer(json, "collective_ns", account->collective_ns);
    ridge_json_integer(json, "collective_exposed_ns", exposed_ns(account));
    ridge_json_integer(json, "copy_only_ns", account->copy_only_ns);
    ridge_json_integer(json, "idle_ns", account->idle_ns);
    ridge_json_begin_object(json, "causes");
    for (i = 0; i < RIDGE_IDLE_COUNT; i++)
        ridge_json_integer(json, ridge_idle_name((ridge_idle)i), account->causes[i].total_ns);
    ridge_json_end_object(json);
    ridge_json_end_object(json);
}

static void write_work(const struct timeline_file *before, const struct timeline_file *after,
                       const struct work *work, ridge_json *json)
{
    const struct part most = most_changed(before->main, after->main, work->ratio);
    const double factor = span_factor(before, after);

    ridge_json_number(json, "span_factor", factor);
    ridge_json_begin_object(json, "work");
    ridge_json_text(json, "unit", work->unit);
    ridge_json_bool(json, "differs", work->differs);
    ridge_json_number(json, "ratio", work->unit != NULL ? work->ratio : (double)NAN);
    ridge_json_number(json, "span_factor", work->unit != NULL ? factor / work->ratio : (double)NAN);
    ridge_json_count(json, "steps_before", work->steps_before);
    ridge_json_count(json, "steps_after", work->steps_after);
    ridge_json_number(json, "calls_ratio", work->calls.ratio);
    ridge_json_bool(json, "calls_disagree", calls_disagree(work));
    ridge_json_text(json, "kernel", work->calls.name);
    ridge_json_count(json, "count_before", work->calls.count_before);
    ridge_json_count(json, "count_after", work->calls.count_after);
    ridge_json_end_object(json);
    ridge_json_begin_object(json, "most");
    ridge_json_text(json, "part", most.name);
    ridge_json_number(json, "change_ns", most.ns);
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
        ridge_json_number(json, "change_ns", change->change_ns);
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
    struct work work;

    if (status != RIDGE_OK)
        return status;
    work = find_work(before, after, changes, count);
    if (work.differs)
        ridge_kernel_changes_scale(changes, count, work.ratio);
    if (json != NULL) {
        write_side("before", before, json);
        write_side("after", after, json);
        write_work(before, after, &work, json);
        write_changes(changes, count, json);
    } else {
        print_side("before", before, with_device, output);
        print_side("after", after, with_device, output);
        print_verdicts(before, after, &work, output);
        print_work(before, after, &work, output);
        ridge_output_text(output, "\n");
        print_idle(before->main, after->main, work.ratio, output);
        ridge_output_text(output, "\n");
        print_kernels(changes, count, work.ratio, request->kernels ? SIZE_MAX : MOST_CHANGES,
                      request->whole_names, output);
        print_union(before->main, after->main, output);
    }
    ridge_kernel_changes_free(changes);
    return RIDGE_OK;
}
