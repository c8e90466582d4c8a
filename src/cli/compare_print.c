/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge compare as people read it: the verdict, then what it rests on. */
#include "compare_print.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "measure_cli.h"

static const ridge_style styles[RIDGE_VERDICT_COUNT] = {
    [RIDGE_VERDICT_IMPROVED] = RIDGE_STYLE_GOOD,
    [RIDGE_VERDICT_REGRESSED] = RIDGE_STYLE_BAD,
    [RIDGE_VERDICT_CANNOT_TELL] = RIDGE_STYLE_WARN,
    [RIDGE_VERDICT_IDENTICAL_CODE] = RIDGE_STYLE_WARN,
    [RIDGE_VERDICT_INVALID] = RIDGE_STYLE_BAD,
};

enum { LINE_COLUMNS = 100, NAME_COLUMNS = CLI_ARM_COLUMNS };

struct number {
    char text[32];
};

static const char *shown(double value, ridge_unit unit, struct number *number)
{
    return ridge_number_text(value, unit, number->text, sizeof(number->text));
}

static const ridge_interval *interval_of(const ridge_comparison *comparison)
{
    return comparison->by_sustained ? &comparison->sustained : &comparison->interval;
}

/* "4.1 %" of a ln ratio, without its sign; from twice on "2.31x". */
static const char *percent(double ln_ratio, struct number *number)
{
    const double value = 100 * fabs(expm1(ln_ratio));

    if (isnan(value))
        snprintf(number->text, sizeof(number->text), "n/a");
    else if (fabs(ln_ratio) >= log(2))
        snprintf(number->text, sizeof(number->text), "%.2fx", exp(fabs(ln_ratio)));
    else
        snprintf(number->text, sizeof(number->text), value < 0.095 ? "%.2f %%" : "%.1f %%", value);
    return number->text;
}

/* A ln ratio that is small: what matters, what can be told. */
static const char *small_percent(double ln_ratio, struct number *number)
{
    if (isnan(ln_ratio))
        snprintf(number->text, sizeof(number->text), "n/a");
    else
        snprintf(number->text, sizeof(number->text), "%.2g %%", 100 * expm1(ln_ratio));
    return number->text;
}

/* " (unsafe, without: roof, idle)"; "" when all guards were there. */
static void write_without(ridge_output *output, const struct compare_summary *summary)
{
    const char *before = " (unsafe, without: ";
    int guard;

    for (guard = 0; guard < RIDGE_GUARD_COUNT; guard++) {
        if ((summary->without >> guard & 1) == 0)
            continue;
        ridge_output_text(output, before);
        ridge_output_text(output, ridge_guard_name((ridge_guard)guard));
        before = ", ";
    }
    if (summary->without != 0)
        ridge_output_text(output, ")");
}

static void add(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void add(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

/* -- one case ---------------------------------------------------------------------------------- */

/* What has to be asked for, so that the verdict is one: more placements, more time, or both. */
static void would_decide(const struct compare_summary *summary, const ridge_comparison *comparison,
                         const char *delta, char *text, size_t size)
{
    const int needed = comparison->placements_needed;
    const bool needs_placements = needed > summary->placements_most;
    const double budget_s = ceil(comparison->budget_needed_s);
    const bool needs_time = comparison->budget_needed_s > summary->budget_s;

    text[0] = '\0';
    if (needed <= 0) {
        add(text, size, ": what is seen reaches beyond %s", delta);
    } else if (needed > COMPARE_PLACEMENTS || budget_s > COMPARE_BUDGET_S) {
        add(text, size, ": %d placements would decide %s: too noisy a machine or a kernel", needed,
            delta);
    } else if (!needs_placements && !needs_time) {
        add(text, size,
            ": %d placements would decide %s, the time was enough for %d: raise --budget", needed,
            delta, comparison->placements);
    } else {
        add(text, size, ":");
        if (needs_placements)
            add(text, size, " --placements %d", needed);
        if (needs_time)
            add(text, size, " --budget %.0f", budget_s);
        add(text, size, " would decide %s", delta);
        if (needs_time && comparison->placements < summary->placements_most)
            add(text, size, "; the time was enough for %d", comparison->placements);
    }
}

static void write_verdict(ridge_output *output, const struct compare_summary *summary,
                          const ridge_comparison *comparison, ridge_bench_verdict verdict)
{
    const ridge_interval *const interval = interval_of(comparison);
    struct number effect, delta, detectable;
    char text[300];

    ridge_output_styled(output, styles[verdict], ridge_bench_verdict_name(verdict));
    write_without(output, summary);
    percent(interval->centre, &effect);
    small_percent(comparison->delta, &delta);
    small_percent(interval->detectable, &detectable);
    switch (verdict) {
    case RIDGE_VERDICT_IMPROVED:
    case RIDGE_VERDICT_FASTER_SMALL:
        snprintf(text, sizeof(text), ": B is %s faster (delta %s, detectable here %s)", effect.text,
                 delta.text, detectable.text);
        break;
    case RIDGE_VERDICT_REGRESSED:
    case RIDGE_VERDICT_SLOWER_SMALL:
        snprintf(text, sizeof(text), ": B is %s slower (delta %s, detectable here %s)", effect.text,
                 delta.text, detectable.text);
        break;
    case RIDGE_VERDICT_SAME:
        snprintf(text, sizeof(text), ": within %s (detectable here %s)", delta.text,
                 detectable.text);
        break;
    case RIDGE_VERDICT_CANNOT_TELL:
        would_decide(summary, comparison, delta.text, text, sizeof(text));
        break;
    case RIDGE_VERDICT_IDENTICAL_CODE:
        snprintf(text, sizeof(text),
                 ": both arms are the same machine code; rebuilt? --null measures it all the "
                 "same");
        break;
    default:
        snprintf(text, sizeof(text), "%s%s",
                 comparison->invalid_guard[0] != '\0' ? " by the guard " : ": no result",
                 comparison->invalid_guard);
        break;
    }
    ridge_output_text(output, text);
    ridge_output_text(output, comparison->is_interrupted ? " (interrupted)\n" : "\n");
    if (verdict == RIDGE_VERDICT_INVALID && comparison->invalid_cause[0] != '\0')
        ridge_output_wrap(output, 2, "  ", comparison->invalid_cause);
}

/* A rotation that fits the L2 leaves inputs there, whatever was asked for. */
static bool is_in_cache(const ridge_comparison *comparison)
{
    return comparison->rotation > 0 && comparison->rotation_l2 < RIDGE_COLD_L2;
}

static void write_case(ridge_output *output, const ridge_comparison *comparison)
{
    char text[RIDGE_CASE_TEXT + 80], machine[300] = "", clocks[96];
    struct number hz;

    measure_case_text(&comparison->at, text, sizeof(text));
    add(text, sizeof(text), "   %s",
        ridge_bench_cache_text(comparison->cache, comparison->rotation_l2));
    if (comparison->cache == RIDGE_CACHE_COLD && comparison->rotation > 0)
        add(text, sizeof(text),
            comparison->rotation_l2 < 1 ? " (rotation %d, %.2gx L2)" : " (rotation %d, %.1fx L2)",
            comparison->rotation, comparison->rotation_l2);
    add(machine, sizeof(machine), "%s", comparison->device.name);
    if (isfinite(comparison->arms[0].sm_hz))
        add(machine, sizeof(machine), ", %s", shown(comparison->arms[0].sm_hz, RIDGE_UNIT_HZ, &hz));
    if (isfinite(comparison->arms[0].power_w))
        add(machine, sizeof(machine), ", %.0f of %.0f W", comparison->arms[0].power_w,
            comparison->device.power_limit_w);
    measure_clock_text(comparison->clock_reasons, clocks, sizeof(clocks));
    if (clocks[0] != '\0')
        add(machine, sizeof(machine), ", %s", clocks);
    ridge_output_format(output, "\n%s%s%s\n", text,
                        strlen(text) + strlen(machine) + 3 <= LINE_COLUMNS ? "   " : "\n  ",
                        machine);
}

/* As they were given. What tells a plug-in's kernels apart is, in a long name, behind the last slash,
 * else at the end. */
static void arm_names(const ridge_comparison *comparison, const char *names[2])
{
    int arm;

    for (arm = 0; arm < 2; arm++)
        names[arm] = cli_arm_name(comparison->arms[arm].name);
    if (strcmp(names[0], names[1]) != 0 ||
        strcmp(comparison->arms[0].name, comparison->arms[1].name) == 0)
        return;
    for (arm = 0; arm < 2; arm++) {
        const char *const name = comparison->arms[arm].name;

        names[arm] = name;
        if (strlen(name) > NAME_COLUMNS) {
            names[arm] += strlen(name) - NAME_COLUMNS;
            names[arm] = strchr(names[arm], '/') != NULL ? strchr(names[arm], '/') + 1 : names[arm];
        }
    }
}

/* The rate of what bounds A, of both. */
static void write_arm(ridge_output *output, const ridge_comparison *comparison, int which,
                      const char *name, int name_columns)
{
    const ridge_arm_summary *const arm = &comparison->arms[which];
    const ridge_arm_summary *const first = &comparison->arms[0];
    const bool is_compute = first->bound_by == RIDGE_BOUND_BY_COMPUTE || !(first->bytes_per_s > 0);
    const double rate = is_compute ? arm->flop_per_s : arm->bytes_per_s;
    struct number time, text;

    ridge_output_format(output, "  %c  %-*.*s  %10s", which == 0 ? 'A' : 'B', name_columns,
                        name_columns, name,
                        shown(measure_time_ns(arm, comparison->mode), RIDGE_UNIT_NS, &time));
    if (isfinite(rate) && rate > 0)
        ridge_output_format(
            output, "  %s",
            shown(rate, is_compute ? RIDGE_UNIT_FLOP_PER_S : RIDGE_UNIT_BYTES_PER_S, &text));
    /* A roof of memory is none for what is in the cache. */
    if (isfinite(arm->roof_frac) && (is_compute || !is_in_cache(comparison)))
        ridge_output_format(output, "  %.0f %% of measured roof", 100 * arm->roof_frac);
    if (isfinite(arm->nominal_frac) && (is_compute || !is_in_cache(comparison)))
        ridge_output_format(
            output, isfinite(arm->roof_frac) ? " (%.0f %% nominal)" : "  %.0f %% of nominal",
            100 * arm->nominal_frac);
    if (arm->is_launch_bound)
        ridge_output_text(output, "  launch-bound");
    ridge_output_text(output, "\n");
}

static void write_ratio(ridge_output *output, const char *label, const ridge_interval *interval)
{
    if (isfinite(interval->centre))
        ridge_output_format(output, "  B/A %.4f  [%.4f, %.4f]%s\n", exp(interval->centre),
                            exp(interval->low), exp(interval->high), label);
}

/* Parts of a line, which breaks between them and not between a number and its unit. */
static void write_part(ridge_output *output, size_t *column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void write_part(ridge_output *output, size_t *column, const char *format, ...)
{
    char text[120];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (*column > 0)
        ridge_output_text(output, ",");
    if (*column == 0 || *column + 3 + strlen(text) > LINE_COLUMNS) {
        ridge_output_text(output, *column == 0 ? "  " : "\n  ");
        *column = 2;
    } else {
        ridge_output_text(output, " ");
        *column += 2;
    }
    ridge_output_text(output, text);
    *column += strlen(text);
}

static void write_basis(ridge_output *output, const ridge_comparison *comparison, bool is_null)
{
    struct number floor, share = {""};
    size_t column = 0;

    write_part(output, &column, "%d placement%s, %d block%s", comparison->placements,
               comparison->placements == 1 ? "" : "s", comparison->blocks,
               comparison->blocks == 1 ? "" : "s");
    if (comparison->mode == RIDGE_MODE_GRAPH)
        write_part(output, &column, "back to back in a graph");
    if (comparison->mode == RIDGE_MODE_BATCH)
        write_part(output, &column, "in batches");
    if (isfinite(comparison->null_centre) && !is_null) /* else it is what B/A says */
        write_part(output, &column, "null control %+.2f %%", 100 * comparison->null_centre);
    write_part(output, &column, "outputs of %d timed launch%s checked", comparison->outputs_checked,
               comparison->outputs_checked == 1 ? "" : "es");
    if (comparison->floor_frac >= 0.005)
        snprintf(share.text, sizeof(share.text), " (%.0f %%)", 100 * comparison->floor_frac);
    if (comparison->floors.kernel_ns > 0)
        write_part(output, &column, "floor %s%s",
                   shown(comparison->floors.kernel_ns, RIDGE_UNIT_NS, &floor), share.text);
    if (isfinite(comparison->shared_frac) && comparison->shared_frac < 1)
        write_part(output, &column, "%.0f %% of the bytes shared", 100 * comparison->shared_frac);
    if (comparison->is_busy)
        write_part(output, &column, "other processes were on the GPU");
    ridge_output_text(output, "\n");
}

static void write_paths(ridge_output *output, const ridge_comparison *comparison)
{
    char text[400];

    if (comparison->path[0][0] == '\0' || strcmp(comparison->path[0], comparison->path[1]) == 0)
        return;
    cli_labelled(output, 14, "A launches",
                 measure_path_text(comparison->path[0], text, sizeof(text)));
    cli_labelled(output, 14, "B launches",
                 measure_path_text(comparison->path[1], text, sizeof(text)));
}

static void write_one(ridge_output *output, const struct compare_summary *summary)
{
    const struct compare_row *const row = &summary->rows[0];
    const ridge_comparison *const comparison = &row->first;
    const char *names[2];
    size_t columns;
    const bool has_sustained = isfinite(comparison->sustained.centre);

    write_verdict(output, summary, comparison, row->verdict);
    write_case(output, comparison);
    if (comparison->placements == 0)
        return;
    arm_names(comparison, names);
    columns = strlen(names[strlen(names[1]) > strlen(names[0])]);
    columns = columns < NAME_COLUMNS ? columns : NAME_COLUMNS;
    write_arm(output, comparison, 0, names[0], (int)columns);
    write_arm(output, comparison, 1, names[1], (int)columns);
    write_ratio(output, has_sustained ? " equal clock" : "", &comparison->interval);
    write_ratio(output, " sustained", &comparison->sustained);
    if (comparison->regimes_disagree)
        ridge_output_text(output, "  equal clock and sustained disagree: one arm draws more power; "
                                  "the verdict is about sustained\n");
    write_basis(output, comparison, summary->is_null);
    write_paths(output, comparison);
}

/* -- a sweep ----------------------------------------------------------------------------------- */

static const ridge_column columns[] = {
    {"case", "Case", RIDGE_UNIT_NONE, true, 16, 0},
    {"a_ns", "A", RIDGE_UNIT_NS, false, 0, 0},
    {"b_ns", "B", RIDGE_UNIT_NS, false, 0, 0},
    {"ratio", "B/A", RIDGE_UNIT_NONE, false, 0, 0},
    {"interval", "95 %", RIDGE_UNIT_NONE, true, 0, 0},
    {"second", "Again", RIDGE_UNIT_NONE, true, 0, 2},
    {"roof_frac", "B of roof", RIDGE_UNIT_FRAC, false, 0, 1},
    {"verdict", "Verdict", RIDGE_UNIT_NONE, true, 0, 0},
};

static void add_row(ridge_table *table, const struct measure_span *span,
                    const struct compare_row *row)
{
    const ridge_comparison *const comparison = &row->first;
    const ridge_interval *const interval = interval_of(comparison);
    char text[RIDGE_CASE_TEXT], range[48] = "", again[24] = "";

    if (isfinite(interval->low))
        snprintf(range, sizeof(range), "%.4f-%.4f", exp(interval->low), exp(interval->high));
    if (row->has_second && isfinite(interval_of(&row->second)->centre))
        snprintf(again, sizeof(again), "%.4f", exp(interval_of(&row->second)->centre));
    ridge_table_text(table, measure_span_rest(span, &comparison->at, text, sizeof(text)));
    ridge_table_number(table, measure_time_ns(&comparison->arms[0], comparison->mode));
    ridge_table_number(table, measure_time_ns(&comparison->arms[1], comparison->mode));
    snprintf(text, sizeof(text), "%.4f", exp(interval->centre));
    ridge_table_text(table, isfinite(interval->centre) ? text : NULL);
    ridge_table_text(table, range);
    ridge_table_text(table, again);
    ridge_table_number(table, comparison->arms[1].roof_frac);
    ridge_table_text(table, ridge_bench_verdict_name(row->verdict));
}

static void write_counts(ridge_output *output, const struct compare_summary *summary)
{
    bool is_first = true;
    int verdict;

    for (verdict = 0; verdict < RIDGE_VERDICT_COUNT; verdict++) {
        char text[64];

        if (summary->counts[verdict] == 0)
            continue;
        snprintf(text, sizeof(text), "%s%zu %s", is_first ? "" : ", ", summary->counts[verdict],
                 ridge_bench_verdict_name((ridge_bench_verdict)verdict));
        ridge_output_styled(output, styles[verdict], text);
        is_first = false;
    }
    ridge_output_format(output, " of %zu case%s%s", summary->wanted_count,
                        summary->wanted_count == 1 ? "" : "s",
                        summary->is_interrupted ? " (interrupted)" : "");
    write_without(output, summary);
    ridge_output_text(output, "\n\n");
}

static const char *cache_text(const struct compare_summary *summary)
{
    const ridge_comparison *const one = &summary->rows[0].first;
    const char *const text = ridge_bench_cache_text(one->cache, one->rotation_l2);
    size_t i;

    for (i = 1; i < summary->row_count; i++)
        if (strcmp(text, ridge_bench_cache_text(one->cache, summary->rows[i].first.rotation_l2)) !=
            0)
            return "cold where sets are larger than L2";
    return text;
}

/* Regressed cases first, then the rest in the order of the sweep: none is folded away. */
static void write_sweep(ridge_output *output, const struct compare_summary *summary)
{
    ridge_table *const table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    const ridge_comparison *const one = &summary->rows[0].first;
    struct measure_span span = {.has_first = false};
    char common[RIDGE_CASE_TEXT];
    const char *names[2];
    size_t i;

    for (i = 0; i < summary->row_count; i++)
        measure_span_add(&span, &summary->rows[i].first.at);
    write_counts(output, summary);
    arm_names(one, names);
    ridge_output_format(output, "A %s, B %s on %s, %s  %s\n", names[0], names[1], one->device.name,
                        cache_text(summary), measure_span_common(&span, common, sizeof(common)));
    for (i = 0; i < summary->row_count; i++)
        if (summary->rows[i].verdict == RIDGE_VERDICT_REGRESSED)
            add_row(table, &span, &summary->rows[i]);
    for (i = 0; i < summary->row_count; i++)
        if (summary->rows[i].verdict != RIDGE_VERDICT_REGRESSED)
            add_row(table, &span, &summary->rows[i]);
    ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
    ridge_table_free(table);
    for (i = 0; i < summary->row_count; i++)
        if (summary->rows[i].verdict == RIDGE_VERDICT_INVALID) {
            char text[RIDGE_CASE_TEXT], cause[RIDGE_CASE_TEXT + 260];
            const ridge_comparison *const comparison =
                summary->rows[i].first.verdict == RIDGE_VERDICT_INVALID ? &summary->rows[i].first
                                                                        : &summary->rows[i].second;

            snprintf(cause, sizeof(cause), "%s: %s",
                     measure_case_text(&comparison->at, text, sizeof(text)),
                     comparison->invalid_cause);
            cli_labelled(output, 11, "invalid", cause);
        }
    if (summary->geomean_count > 1)
        ridge_output_format(output, "\ngeomean B/A %.4f over %zu cases\n", summary->geomean,
                            summary->geomean_count);
}

void compare_write_text(ridge_output *output, const struct compare_summary *summary)
{
    if (summary->row_count == 0) {
        ridge_output_styled(output, RIDGE_STYLE_BAD, "INVALID");
        ridge_output_format(output, ": %s before a case was measured\n",
                            summary->is_interrupted ? "interrupted" : "ended");
        return;
    }
    if (summary->wanted_count == 1)
        write_one(output, summary);
    else
        write_sweep(output, summary);
}
