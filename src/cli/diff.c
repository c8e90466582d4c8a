/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge diff: two reports compared, kernel by kernel. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "options.h"
#include "ridge/diff.h"

static const char usage[] = "ridge diff [options] BEFORE AFTER";

enum { LABEL_COLUMNS = 11 };

/* Runs of the same kernel differ by as much. */
#define SAME_TIME 0.01

/* "1.849 ms -> 485.0 us, 3.81 times as fast". */
static void write_heading(const ridge_diff_pair *pair, ridge_format format, ridge_output *output)
{
    enum { TIME_COLUMNS = 60 }; /* at most */
    const bool is_renamed = strcmp(pair->name_before, pair->name_after) != 0;
    const size_t columns =
        strlen(pair->name_before) + (is_renamed ? strlen(pair->name_after) + 4 : 0) + TIME_COLUMNS;
    const bool is_long =
        format == RIDGE_FORMAT_TEXT && columns > (size_t)ridge_output_columns(output);
    const double times = pair->speedup >= 1 ? pair->speedup : 1 / pair->speedup;
    char before[32], after[32];

    ridge_output_styled(output, RIDGE_STYLE_STRONG, pair->name_before);
    if (is_renamed) {
        ridge_output_text(output, is_long ? " ->\n" : " -> ");
        ridge_output_styled(output, RIDGE_STYLE_STRONG, pair->name_after);
    }
    ridge_output_format(output, "%s%s -> %s", is_long ? "\n  " : "  ",
                        ridge_number_text(pair->before_ns, RIDGE_UNIT_NS, before, sizeof(before)),
                        ridge_number_text(pair->after_ns, RIDGE_UNIT_NS, after, sizeof(after)));
    if (fabs(pair->speedup - 1) < SAME_TIME)
        ridge_output_text(output, ", the same time");
    else if (!isnan(pair->speedup))
        ridge_output_format(output, times < 1000 ? ", %.3g times as %s%s" : ", %.0f times as %s%s",
                            times, pair->speedup >= 1 ? "fast" : "slow",
                            pair->clocks_differ ? " (clocks differ)" : "");
    ridge_output_text(output, "\n");
}

static void write_ids(ridge_output *output, const char *label, const char *const *ids, size_t count)
{
    char text[1024] = "";
    size_t length = 0, i;

    for (i = 0; i < count && length < sizeof(text); i++)
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s", i > 0 ? ", " : "",
                                   ids[i]);
    if (count > 0)
        cli_labelled(output, LABEL_COLUMNS, label, text);
}

static void write_changes(const ridge_change *changes, size_t count, const char *title,
                          ridge_format format, ridge_output *output)
{
    const ridge_column columns[] = {
        {"label", title, RIDGE_UNIT_NONE, true, 24, 0},
        {"before", "Before", RIDGE_UNIT_NONE, false, 0, 0},
        {"after", "After", RIDGE_UNIT_NONE, false, 0, 0},
        {"ratio", "Ratio", RIDGE_UNIT_RATIO, false, 0, 1},
    };
    ridge_table *table;
    size_t i;

    if (count == 0)
        return;
    table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    for (i = 0; i < count; i++) {
        char before[48], after[48];

        ridge_table_text(table, changes[i].label);
        ridge_table_text(
            table, ridge_quantity_text(changes[i].before, changes[i].unit, before, sizeof(before)));
        ridge_table_text(
            table, ridge_quantity_text(changes[i].after, changes[i].unit, after, sizeof(after)));
        if (changes[i].before > 0 && changes[i].after > 0)
            ridge_table_number(table, changes[i].after / changes[i].before);
        else
            ridge_table_text(table, "");
    }
    ridge_output_text(output, "\n");
    ridge_table_write(table, format, output, NULL, NULL);
    ridge_table_free(table);
}

/* Neither time nor findings moved: the numbers are not worth a screen. */
static bool is_unchanged(const ridge_diff_pair *pair)
{
    return !pair->wall_moved && fabs(pair->speedup - 1) < SAME_TIME && pair->gone_count == 0 &&
           pair->added_count == 0 && pair->resource_count == 0;
}

static void write_pair(const ridge_diff_pair *pair, ridge_format format, ridge_output *output)
{
    size_t i;

    if (format == RIDGE_FORMAT_MARKDOWN)
        ridge_output_text(output, "## ");
    write_heading(pair, format, output);
    if (format == RIDGE_FORMAT_MARKDOWN)
        ridge_output_text(output, "\n");
    if (pair->wall_moved)
        ridge_output_format(output, "  wall moved: %s -> %s\n",
                            ridge_wall_name(pair->verdict_before.wall),
                            ridge_wall_name(pair->verdict_after.wall));
    else if (pair->verdict_before.cls != RIDGE_CLASS_UNKNOWN &&
             pair->verdict_after.cls != RIDGE_CLASS_UNKNOWN)
        ridge_output_format(output, "  the wall stays: %s\n",
                            ridge_wall_name(pair->verdict_after.wall));
    if (is_unchanged(pair)) {
        for (i = 0; i < pair->note_count; i++)
            cli_labelled(output, LABEL_COLUMNS, i == 0 ? "note" : "", pair->notes[i]);
        return;
    }
    cli_labelled(output, LABEL_COLUMNS, "before", pair->verdict_before.sentence);
    cli_labelled(output, LABEL_COLUMNS, "after", pair->verdict_after.sentence);
    write_ids(output, "gone", pair->gone, pair->gone_count);
    write_ids(output, "new", pair->added, pair->added_count);
    write_ids(output, "left", pair->left, pair->left_count);
    for (i = 0; i < pair->note_count; i++)
        cli_labelled(output, LABEL_COLUMNS, i == 0 ? "note" : "", pair->notes[i]);
    write_changes(pair->metrics, pair->metric_count, "What the findings rest on", format, output);
    write_changes(pair->opcodes, pair->opcode_count, "Warp instructions", format, output);
    write_changes(pair->resources, pair->resource_count, "Resources", format, output);
}

static void write_text(const ridge_diff *diff, ridge_format format, ridge_output *output)
{
    size_t i;

    for (i = 0; i < diff->pair_count; i++) {
        if (i > 0)
            ridge_output_text(output, "\n");
        write_pair(&diff->pairs[i], format, output);
    }
    if (diff->pair_count > 0 && diff->only_before_count + diff->only_after_count > 0)
        ridge_output_text(output, "\n");
    for (i = 0; i < diff->only_before_count; i++)
        ridge_output_format(output, "only before: %s\n", diff->only_before[i]);
    for (i = 0; i < diff->only_after_count; i++)
        ridge_output_format(output, "only after: %s\n", diff->only_after[i]);
}

/* -- JSON -------------------------------------------------------------------------------------- */

static void write_texts(ridge_json *json, const char *key, const char *const *texts, size_t count)
{
    size_t i;

    ridge_json_begin_array(json, key);
    for (i = 0; i < count; i++)
        ridge_json_text(json, NULL, texts[i]);
    ridge_json_end_array(json);
}

static void write_json_changes(ridge_json *json, const char *key, const ridge_change *changes,
                               size_t count)
{
    size_t i;

    ridge_json_begin_array(json, key);
    for (i = 0; i < count; i++) {
        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "metric", changes[i].metric);
        ridge_json_text(json, "label", changes[i].label);
        ridge_json_text(json, "unit", changes[i].unit);
        ridge_json_number(json, "before", changes[i].before);
        ridge_json_number(json, "after", changes[i].after);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
}

static void write_json_pair(ridge_json *json, const ridge_diff_pair *pair)
{
    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "name_before", pair->name_before);
    ridge_json_text(json, "name_after", pair->name_after);
    ridge_json_count(json, "launch_before", pair->launch_before);
    ridge_json_count(json, "launch_after", pair->launch_after);
    ridge_json_number(json, "before_ns", pair->before_ns);
    ridge_json_number(json, "after_ns", pair->after_ns);
    ridge_json_number(json, "speedup", pair->speedup);
    ridge_json_number(json, "cycles_speedup", pair->cycles_speedup);
    ridge_json_bool(json, "clocks_differ", pair->clocks_differ);
    ridge_json_bool(json, "wall_moved", pair->wall_moved);
    ridge_json_bool(json, "same_code", pair->same_code);
    ridge_verdict_write_json(json, "verdict_before", &pair->verdict_before);
    ridge_verdict_write_json(json, "verdict_after", &pair->verdict_after);
    write_texts(json, "gone", pair->gone, pair->gone_count);
    write_texts(json, "added", pair->added, pair->added_count);
    write_texts(json, "left", pair->left, pair->left_count);
    write_json_changes(json, "metrics", pair->metrics, pair->metric_count);
    write_json_changes(json, "opcodes", pair->opcodes, pair->opcode_count);
    write_json_changes(json, "resources", pair->resources, pair->resource_count);
    write_texts(json, "notes", pair->notes, pair->note_count);
    ridge_json_end_object(json);
}

static void write_json(const ridge_diff *diff, const char *before, const char *after,
                       ridge_output *output)
{
    ridge_json *const json = ridge_json_create(output);
    size_t i;

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "schema", "ridge-diff/1");
    ridge_json_text(json, "before", before);
    ridge_json_text(json, "after", after);
    ridge_json_begin_array(json, "pairs");
    for (i = 0; i < diff->pair_count; i++)
        write_json_pair(json, &diff->pairs[i]);
    ridge_json_end_array(json);
    write_texts(json, "only_before", diff->only_before, diff->only_before_count);
    write_texts(json, "only_after", diff->only_after, diff->only_after_count);
    ridge_json_end_object(json);
    ridge_json_free(json);
}

/* -- the command ------------------------------------------------------------------------------- */

/* Whether a pair takes at most per cent longer; by cycles where the clocks differ. A time that is
 * not recorded proves nothing. */
static bool is_fast_enough(const ridge_diff_pair *pair, double percent)
{
    const double speedup =
        pair->clocks_differ && !isnan(pair->cycles_speedup) ? pair->cycles_speedup : pair->speedup;

    return 1 / speedup <= 1 + percent / 100;
}

/* The gate of --fail-slower: every kernel of BEFORE was compared and is fast enough. */
static int gate(const ridge_diff *diff, const char *after_path, double percent)
{
    int status = CLI_DONE;
    size_t i;

    for (i = 0; i < diff->pair_count; i++) {
        if (is_fast_enough(&diff->pairs[i], percent))
            continue;
        if (isnan(diff->pairs[i].speedup) && status == CLI_DONE)
            cli_message(after_path, "--fail-slower: no time of %s to compare",
                        diff->pairs[i].name_after);
        status = CLI_NO;
    }
    if (diff->only_before_count > 0 && status == CLI_DONE)
        cli_message(after_path, "--fail-slower: no partner of %s to compare", diff->only_before[0]);
    return diff->only_before_count > 0 ? CLI_NO : status;
}

static int compare(const char *before_path, const char *after_path, const struct cli_output *out,
                   double fail_slower_percent)
{
    ridge_report *before = NULL, *after = NULL;
    ridge_diff *diff = NULL;
    ridge_output *output;
    ridge_error err;
    int status = cli_open_metrics(before_path, &before);

    if (before == NULL)
        return status;
    status = cli_open_metrics(after_path, &after);
    if (after == NULL)
        goto out;
    if (ridge_diff_create(before, after, &diff, &err) != RIDGE_OK) {
        status = cli_fail(after_path, &err);
        goto out;
    }
    output = cli_open(out);
    if (out->format == RIDGE_FORMAT_JSON)
        write_json(diff, before_path, after_path, output);
    else
        write_text(diff, out->format, output);
    status = cli_close(output, status);
    if (status == CLI_DONE && diff->pair_count == 0) {
        cli_message(after_path, "no kernel of it has a partner in %s", before_path);
        status = CLI_NO;
    }
    if (status == CLI_DONE && !isinf(fail_slower_percent))
        status = gate(diff, after_path, fail_slower_percent);
out:
    ridge_diff_free(diff);
    ridge_report_free(after);
    ridge_report_free(before);
    return status;
}

int cmd_diff(int argc, char **argv)
{
    struct cli_output out = {0};
    double fail_slower_percent = INFINITY;
    const struct option options[] = {
        OPT_NUMBER(0, "fail-slower", &fail_slower_percent, "PCT",
                   "exit with 1 when a kernel became more than PCT per cent slower"),
        OPT_JSON(&out),
        OPT_MARKDOWN(&out),
        OPT_COMMON(&out),
        OPT_END,
    };
    int status;

    if (!options_parse(&argc, argv, usage, options, &status))
        return status;
    if (argc != 3)
        return cli_usage_error("expected two files, BEFORE and AFTER, found %d", argc - 1);
    if (fail_slower_percent < 0)
        return cli_usage_error("--fail-slower takes per cent from 0 on");
    return compare(argv[1], argv[2], &out, fail_slower_percent);
}
