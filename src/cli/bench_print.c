/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge bench: a line for each case, against what bounds it. */
#include "bench_print.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure_cli.h"

/* -- collecting -------------------------------------------------------------------------------- */

/* Room for one more of size bytes; false when out of memory. */
static bool grow(void **rows, size_t *room, size_t count, size_t size)
{
    const size_t wanted = 2 * *room + 16;
    void *grown;

    if (count < *room)
        return true;
    grown = realloc(*rows, wanted * size);
    if (grown == NULL)
        return false;
    *rows = grown;
    *room = wanted;
    return true;
}

bool bench_summary_add(struct bench_summary *summary, const ridge_measurement *measurement)
{
    void *rows = summary->rows;
    const bool has_room =
        grow(&rows, &summary->row_room, summary->row_count, sizeof(*summary->rows));

    summary->rows = rows;
    if (has_room)
        summary->rows[summary->row_count++] = *measurement;
    return has_room;
}

bool bench_summary_add_slot(struct bench_summary *summary, size_t case_index,
                            const ridge_slot *slot)
{
    void *slots = summary->slots;
    bool has_room;

    if (slot->placement < 0)
        return true; /* warm-up */
    has_room = grow(&slots, &summary->slot_room, summary->slot_count, sizeof(*summary->slots));
    summary->slots = slots;
    if (has_room)
        summary->slots[summary->slot_count++] =
            (struct bench_slot){case_index, slot->launches, slot->median_ns};
    return has_room;
}

void bench_summary_release(struct bench_summary *summary)
{
    free(summary->rows);
    free(summary->slots);
    summary->rows = NULL;
    summary->slots = NULL;
}

double bench_time_ns(const ridge_measurement *measurement)
{
    return measure_time_ns(&measurement->arm, measurement->mode);
}

const char *bench_bound_by(const ridge_measurement *measurement)
{
    return ridge_bench_bound_text(measurement->arm.bound_by);
}

/* New over saved time of a case; NAN when it was not saved. */
static double saved_ratio(const struct bench_summary *summary, const ridge_measurement *measurement)
{
    char text[RIDGE_CASE_TEXT];
    const ridge_saved_case *saved;

    if (summary->saved == NULL)
        return NAN;
    saved = ridge_saved_find(summary->saved, ridge_case_text(&measurement->at, text, sizeof(text)));
    return saved != NULL ? bench_time_ns(measurement) / saved->median_ns : NAN;
}

size_t bench_summary_slower(const struct bench_summary *summary)
{
    size_t slower = 0, i;

    for (i = 0; i < summary->row_count; i++)
        slower += saved_ratio(summary, &summary->rows[i]) > 1 + summary->threshold_frac;
    return slower;
}

/* Cases that FILE holds. */
static size_t saved_count(const struct bench_summary *summary)
{
    size_t found = 0, i;

    for (i = 0; i < summary->row_count; i++)
        if (!isnan(saved_ratio(summary, &summary->rows[i])))
            found++;
    return found;
}

int bench_summary_exit(const struct bench_summary *summary)
{
    bool is_invalid = summary->row_count == 0;
    size_t i;

    for (i = 0; i < summary->row_count; i++)
        is_invalid = is_invalid || summary->rows[i].is_invalid;
    if (bench_summary_slower(summary) > 0)
        return CLI_NO;
    /* A gate that held nothing against anything is not passed. */
    if (summary->saved != NULL && saved_count(summary) == 0)
        is_invalid = true;
    return is_invalid || summary->is_interrupted ? ridge_status_exit(RIDGE_ERR_CUDA) : CLI_DONE;
}

/* -- tables ------------------------------------------------------------------------------------ */

static const ridge_column columns[] = {
    {"case", "Case", RIDGE_UNIT_NONE, true, 16, 0},
    {"time_ns", "Time", RIDGE_UNIT_NS, false, 0, 0},
    {"spread", "p10-p90", RIDGE_UNIT_NONE, true, 0, 4},
    {"rate", "Rate", RIDGE_UNIT_NONE, true, 0, 0},
    {"nominal_frac", "Of nominal", RIDGE_UNIT_FRAC, false, 0, 0},
    {"roof_frac", "Of roof", RIDGE_UNIT_FRAC, false, 0, 3},
    {"floor_frac", "Floor", RIDGE_UNIT_FRAC, false, 0, 2},
    {"bound_by", "Bound by", RIDGE_UNIT_NONE, true, 0, 0},
    {"saved", "Was", RIDGE_UNIT_NONE, true, 0, 0},
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

/* The rate of what bounds it. */
static const char *rate_text(const ridge_measurement *measurement, char *buffer, size_t size)
{
    const ridge_arm_summary *const arm = &measurement->arm;
    const bool is_compute = arm->bound_by == RIDGE_BOUND_BY_COMPUTE || !(arm->bytes_per_s > 0);

    return is_compute ? ridge_number_text(arm->flop_per_s, RIDGE_UNIT_FLOP_PER_S, buffer, size)
                      : ridge_number_text(arm->bytes_per_s, RIDGE_UNIT_BYTES_PER_S, buffer, size);
}

/* "20.8-21.1 us", as the launches were. */
static const char *spread_text(const ridge_arm_summary *arm, char *buffer, size_t size)
{
    char low[32], high[32];
    char *unit;

    if (isnan(arm->p10_ns) || isnan(arm->p90_ns))
        return "n/a";
    ridge_number_text(arm->p10_ns, RIDGE_UNIT_NS, low, sizeof(low));
    ridge_number_text(arm->p90_ns, RIDGE_UNIT_NS, high, sizeof(high));
    unit = strchr(low, ' ');
    if (unit != NULL && strchr(high, ' ') != NULL && strcmp(unit, strchr(high, ' ')) == 0)
        *unit = '\0';
    snprintf(buffer, size, "%s-%s", low, high);
    return buffer;
}

static void add_row(ridge_table *table, const struct bench_summary *summary,
                    const struct measure_span *span, const ridge_measurement *measurement)
{
    const ridge_arm_summary *const arm = &measurement->arm;
    const double ratio = saved_ratio(summary, measurement);
    char text[RIDGE_CASE_TEXT], buffer[80];

    if (summary->row_count > 1)
        ridge_table_text(table, measure_span_rest(span, &measurement->at, text, sizeof(text)));
    ridge_table_number(table, bench_time_ns(measurement));
    ridge_table_text(table, spread_text(arm, buffer, sizeof(buffer)));
    ridge_table_text(table, rate_text(measurement, buffer, sizeof(buffer)));
    ridge_table_number(table, arm->nominal_frac);
    ridge_table_number(table, arm->roof_frac);
    ridge_table_number(table, measurement->floor_frac);
    ridge_table_text(table, measurement->is_invalid ? "INVALID" : bench_bound_by(measurement));
    if (summary->saved == NULL)
        return;
    if (isnan(ratio))
        snprintf(buffer, sizeof(buffer), "not saved");
    else
        snprintf(buffer, sizeof(buffer), "%+.1f %%%s", 100 * (ratio - 1),
                 ratio > 1 + summary->threshold_frac ? " slower" : "");
    ridge_table_text(table, buffer);
}

static void write_against_saved(ridge_output *output, const struct bench_summary *summary)
{
    const size_t slower = bench_summary_slower(summary);
    char text[600];

    if (summary->saved == NULL)
        return;
    if (strcmp(summary->saved->gpu, summary->rows[0].device.name) != 0)
        cli_message(summary->saved_path, "was measured on %s, this is %s: times do not compare",
                    summary->saved->gpu, summary->rows[0].device.name);
    if (saved_count(summary) == 0) {
        snprintf(text, sizeof(text),
                 "nothing was compared: %s holds none of the %zu case%s measured",
                 summary->saved_path, summary->row_count, summary->row_count == 1 ? "" : "s");
        ridge_output_text(output, "\n");
        ridge_output_wrap(output, 0, "", text);
        return;
    }
    snprintf(text, sizeof(text),
             "%zu of %zu case%s slower than %s by more than %.3g %%. A saved time nominates, it "
             "proves nothing: levels differ by 1 to 5 %% between processes%s",
             slower, summary->row_count, summary->row_count == 1 ? "" : "s", summary->saved_path,
             100 * summary->threshold_frac,
             slower > 0 ? "; to decide, OLD being the old binary:" : "");
    ridge_output_text(output, "\n");
    ridge_output_wrap(output, 0, "", text);
    if (slower > 0)
        ridge_output_format(output, "\n  ridge compare OLD %s%s\n", summary->word,
                            summary->options);
}

static const char *cache_text(const struct bench_summary *summary)
{
    const ridge_measurement *const one = summary->rows;
    const char *const text = ridge_bench_cache_text(one->cache, one->rotation_l2);
    size_t i;

    for (i = 1; i < summary->row_count; i++)
        if (strcmp(text, ridge_bench_cache_text(one->cache, summary->rows[i].rotation_l2)) != 0)
            return "cold where sets are larger than L2";
    return text;
}

static void write_invalid(ridge_output *output, const struct bench_summary *summary)
{
    char at[RIDGE_CASE_TEXT], text[RIDGE_CASE_TEXT + 260];
    size_t i;

    for (i = 0; i < summary->row_count; i++) {
        const ridge_measurement *const row = &summary->rows[i];

        if (!row->is_invalid)
            continue;
        snprintf(text, sizeof(text), "%s: %s", measure_case_text(&row->at, at, sizeof(at)),
                 row->invalid_cause);
        cli_labelled(output, 11, row->invalid_guard, text);
    }
}

void bench_write_text(ridge_output *output, const struct bench_summary *summary)
{
    const ridge_measurement *const one = summary->rows;
    const size_t skipped = summary->row_count == 1 ? 1 : 0;
    struct measure_span span = {.has_first = false};
    ridge_table *table;
    char text[RIDGE_CASE_TEXT + 300], common[RIDGE_CASE_TEXT], clocks[96];
    unsigned reasons = 0;
    size_t invalid = 0, i;

    if (summary->row_count == 0) {
        ridge_output_styled(output, RIDGE_STYLE_BAD, "INVALID");
        ridge_output_format(output, ": %s before a case was measured\n",
                            summary->is_interrupted ? "interrupted" : "ended");
        return;
    }
    for (i = 0; i < summary->row_count; i++) {
        measure_span_add(&span, &summary->rows[i].at);
        invalid += summary->rows[i].is_invalid;
    }
    if (invalid > 0) {
        snprintf(text, sizeof(text), "INVALID: %zu of %zu case%s", invalid, summary->row_count,
                 summary->row_count == 1 ? "" : "s");
        ridge_output_styled(output, RIDGE_STYLE_BAD, text);
        ridge_output_text(output, "\n");
        write_invalid(output, summary);
        ridge_output_text(output, "\n");
    }
    measure_span_common(&span, common, sizeof(common));
    snprintf(text, sizeof(text), "%s  %s%son %s, %s%s", summary->kernel, common,
             common[0] != '\0' ? "  " : "", one->device.name, cache_text(summary),
             summary->is_interrupted ? " (interrupted)" : "");
    ridge_output_styled(output, RIDGE_STYLE_STRONG, text);
    ridge_output_text(output, "\n");
    if (invalid == summary->row_count)
        return;
    table = ridge_table_create(columns + skipped,
                               (summary->saved != NULL ? COLUMNS : COLUMNS - 1) - skipped);
    for (i = 0; i < summary->row_count; i++) {
        if (!summary->rows[i].is_invalid || !isnan(bench_time_ns(&summary->rows[i])))
            add_row(table, summary, &span, &summary->rows[i]);
        reasons |= summary->rows[i].clock_reasons;
    }
    ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
    ridge_table_free(table);
    measure_clock_text(reasons, clocks, sizeof(clocks));
    if (clocks[0] != '\0')
        ridge_output_format(output, "clocks: %s\n", clocks);
    write_against_saved(output, summary);
}

/* -- for programs ------------------------------------------------------------------------------ */

void bench_write_csv(ridge_output *output, const struct bench_summary *summary)
{
    static const ridge_column numbers[] = {
        {"kernel", "kernel", RIDGE_UNIT_NONE, true, 0, 0},
        {"case", "case", RIDGE_UNIT_NONE, true, 0, 0},
        {"median_ns", "", RIDGE_UNIT_NONE, false, 0, 0},
        {"p10_ns", "", RIDGE_UNIT_NONE, false, 0, 0},
        {"p90_ns", "", RIDGE_UNIT_NONE, false, 0, 0},
        {"amortized_ns", "", RIDGE_UNIT_NONE, false, 0, 0},
        {"bytes_per_s", "", RIDGE_UNIT_NONE, false, 0, 0},
        {"flop_per_s", "", RIDGE_UNIT_NONE, false, 0, 0},
        {"bound_ns", "", RIDGE_UNIT_NONE, false, 0, 0},
        {"roof_frac", "", RIDGE_UNIT_NONE, false, 0, 0},
        {"nominal_frac", "", RIDGE_UNIT_NONE, false, 0, 0},
        {"floor_frac", "", RIDGE_UNIT_NONE, false, 0, 0},
        {"bound_by", "", RIDGE_UNIT_NONE, true, 0, 0},
        {"is_invalid", "", RIDGE_UNIT_NONE, true, 0, 0},
    };
    ridge_table *const table = ridge_table_create(numbers, sizeof(numbers) / sizeof(numbers[0]));
    char text[RIDGE_CASE_TEXT];
    size_t i;

    for (i = 0; i < summary->row_count; i++) {
        const ridge_measurement *const row = &summary->rows[i];

        ridge_table_text(table, summary->kernel);
        ridge_table_text(table, ridge_case_text(&row->at, text, sizeof(text)));
        ridge_table_number(table, row->arm.median_ns);
        ridge_table_number(table, row->arm.p10_ns);
        ridge_table_number(table, row->arm.p90_ns);
        ridge_table_number(table, row->arm.amortized_ns);
        ridge_table_number(table, row->arm.bytes_per_s);
        ridge_table_number(table, row->arm.flop_per_s);
        ridge_table_number(table, row->arm.bound_ns);
        ridge_table_number(table, row->arm.roof_frac);
        ridge_table_number(table, row->arm.nominal_frac);
        ridge_table_number(table, row->floor_frac);
        ridge_table_text(table, bench_bound_by(row));
        ridge_table_bool(table, row->is_invalid);
    }
    ridge_table_write(table, RIDGE_FORMAT_CSV, output, NULL, NULL);
    ridge_table_free(table);
}

/* "BenchmarkRmsNorm" of "rms_norm:naive": letters and digits, words begun with a capital. */
static void go_name(const char *kernel, char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "Benchmark");
    bool is_start = true;
    const char *at;

    for (at = kernel; *at != '\0' && *at != ':' && used + 1 < size; at++) {
        if (isalnum((unsigned char)*at) == 0) {
            is_start = true;
            continue;
        }
        out[used++] = (char)(is_start ? toupper((unsigned char)*at) : *at);
        is_start = false;
    }
    out[used] = '\0';
}

void bench_write_go(ridge_output *output, const struct bench_summary *summary)
{
    char name[128], text[RIDGE_CASE_TEXT];
    const char *const variant = strchr(summary->kernel, ':');
    size_t i, k;

    go_name(cli_base_name(summary->kernel), name, sizeof(name));
    for (i = 0; i < summary->slot_count; i++) {
        const struct bench_slot *const slot = &summary->slots[i];
        const ridge_measurement *row;
        double bytes;

        if (slot->case_index >= summary->row_count)
            continue; /* of a case that was cut short */
        row = &summary->rows[slot->case_index];
        bytes = row->arm.bytes_per_s * bench_time_ns(row);
        ridge_case_text(&row->at, text, sizeof(text));
        for (k = 0; text[k] != '\0'; k++)
            if (text[k] == ',')
                text[k] = '/';
        ridge_output_format(output, "%s/%s%s%s %d %.6g ns/op", name, text,
                            variant != NULL ? "/arm=" : "", variant != NULL ? variant + 1 : "",
                            slot->launches, slot->median_ns);
        if (isfinite(bytes))
            ridge_output_format(output, " %.6g B/s", bytes / slot->median_ns);
        ridge_output_text(output, "\n");
    }
}

void bench_write_json(ridge_output *output, const struct bench_summary *summary, const char *schema)
{
    ridge_json *const json = ridge_json_create(output);
    const ridge_measurement *const one = summary->rows;
    size_t i;

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "schema", schema);
    ridge_json_text(json, "kernel", summary->kernel);
    ridge_json_bool(json, "is_interrupted", summary->is_interrupted);
    if (summary->row_count > 0) {
        ridge_json_text(json, "gpu", one->device.name);
        ridge_json_text(json, "cache", cache_text(summary));
        ridge_json_text(json, "mode", measure_modes[one->mode]);
        measure_write_device(json, &one->device);
    }
    ridge_json_begin_array(json, "cases");
    for (i = 0; i < summary->row_count; i++) {
        const ridge_measurement *const row = &summary->rows[i];

        ridge_json_begin_object(json, NULL);
        measure_write_case(json, &row->at);
        ridge_json_number(json, "median_ns", bench_time_ns(row));
        ridge_json_number(json, "p10_ns", row->arm.p10_ns);
        ridge_json_number(json, "p90_ns", row->arm.p90_ns);
        ridge_json_text(json, "mode", measure_modes[row->mode]);
        ridge_json_text(json, "bound_by", bench_bound_by(row));
        ridge_json_text(json, "cache", ridge_bench_cache_text(row->cache, row->rotation_l2));
        ridge_json_integer(json, "rotation", row->rotation);
        ridge_json_number(json, "rotation_l2", row->rotation_l2);
        ridge_json_number(json, "footprint_bytes", row->footprint_bytes);
        ridge_json_number(json, "floor_frac", row->floor_frac);
        ridge_json_number(json, "spread_frac", row->spread_frac);
        ridge_json_integer(json, "placements", row->placements);
        ridge_json_integer(json, "outputs_checked", row->outputs_checked);
        ridge_json_number(json, "duration_s", row->duration_s);
        ridge_json_bool(json, "is_busy", row->is_busy);
        ridge_json_bool(json, "is_invalid", row->is_invalid);
        ridge_json_text(json, "invalid_guard",
                        row->invalid_guard[0] != '\0' ? row->invalid_guard : NULL);
        ridge_json_text(json, "invalid_cause",
                        row->invalid_cause[0] != '\0' ? row->invalid_cause : NULL);
        ridge_json_text(json, "path", row->path[0] != '\0' ? row->path : NULL);
        ridge_arm_summary_write_json(json, "arm", &row->arm);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
    ridge_json_end_object(json);
    ridge_json_free(json);
}
