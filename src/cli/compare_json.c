/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge compare for programs. */
#include <math.h>
#include <stdio.h>

#include "compare_print.h"
#include "measure_cli.h"

static void write_interval(ridge_json *json, const char *key, const ridge_interval *interval)
{
    if (isnan(interval->centre)) {
        ridge_json_null(json, key);
        return;
    }
    ridge_json_begin_object(json, key);
    ridge_json_number(json, "centre", interval->centre);
    ridge_json_number(json, "low", interval->low);
    ridge_json_number(json, "high", interval->high);
    ridge_json_number(json, "half_width", interval->half_width);
    ridge_json_number(json, "detectable", interval->detectable);
    ridge_json_integer(json, "count", interval->count);
    ridge_json_integer(json, "pilot", interval->pilot);
    ridge_json_number(json, "pilot_sd", interval->pilot_sd);
    ridge_json_number(json, "ratio", exp(interval->centre));
    ridge_json_end_object(json);
}

static void write_comparison(ridge_json *json, const char *key, const ridge_comparison *comparison)
{
    ridge_json_begin_object(json, key);
    ridge_json_text(json, "verdict", ridge_bench_verdict_name(comparison->verdict));
    write_interval(json, "interval", &comparison->interval);
    write_interval(json, "sustained", &comparison->sustained);
    ridge_json_number(json, "delta", comparison->delta);
    ridge_json_number(json, "p", comparison->p);
    ridge_json_bool(json, "by_sustained", comparison->by_sustained);
    ridge_json_bool(json, "regimes_disagree", comparison->regimes_disagree);
    ridge_json_integer(json, "placements_needed", comparison->placements_needed);
    ridge_json_text(json, "mode", measure_modes[comparison->mode]);
    ridge_json_text(json, "cache", comparison->cache == RIDGE_CACHE_HOT ? "hot" : "cold");
    ridge_json_integer(json, "rotation", comparison->rotation);
    ridge_json_number(json, "rotation_l2", comparison->rotation_l2);
    ridge_json_number(json, "footprint_bytes", comparison->footprint_bytes);
    ridge_json_number(json, "shared_frac", comparison->shared_frac);
    ridge_json_integer(json, "placements", comparison->placements);
    ridge_json_integer(json, "blocks", comparison->blocks);
    ridge_json_integer(json, "slots", comparison->slots);
    ridge_json_integer(json, "outputs_checked", comparison->outputs_checked);
    ridge_json_begin_object(json, "floors");
    ridge_json_number(json, "event_ns", comparison->floors.event_ns);
    ridge_json_number(json, "kernel_ns", comparison->floors.kernel_ns);
    ridge_json_number(json, "graph_ns", comparison->floors.graph_ns);
    ridge_json_end_object(json);
    ridge_json_number(json, "floor_frac", comparison->floor_frac);
    ridge_json_number(json, "null_centre", comparison->null_centre);
    ridge_json_number(json, "null_half_width", comparison->null_half_width);
    ridge_json_number(json, "duration_s", comparison->duration_s);
    ridge_json_bool(json, "is_interrupted", comparison->is_interrupted);
    ridge_json_bool(json, "is_busy", comparison->is_busy);
    ridge_json_count(json, "clock_reasons", comparison->clock_reasons);
    ridge_json_text(json, "invalid_guard",
                    comparison->invalid_guard[0] != '\0' ? comparison->invalid_guard : NULL);
    ridge_json_text(json, "invalid_cause",
                    comparison->invalid_cause[0] != '\0' ? comparison->invalid_cause : NULL);
    measure_write_arm(json, "a", &comparison->arms[0]);
    measure_write_arm(json, "b", &comparison->arms[1]);
    ridge_json_text(json, "a_path", comparison->path[0][0] != '\0' ? comparison->path[0] : NULL);
    ridge_json_text(json, "b_path", comparison->path[1][0] != '\0' ? comparison->path[1] : NULL);
    ridge_json_end_object(json);
}

void compare_write_json(ridge_output *output, const struct compare_summary *summary)
{
    ridge_json *const json = ridge_json_create(output);
    size_t i;
    int verdict, guard;

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "schema", "ridge-compare/1");
    ridge_json_bool(json, "is_interrupted", summary->is_interrupted);
    ridge_json_bool(json, "is_null", summary->is_null);
    ridge_json_begin_array(json, "without");
    for (guard = 0; guard < RIDGE_GUARD_COUNT; guard++)
        if ((summary->without >> guard & 1) != 0)
            ridge_json_text(json, NULL, ridge_guard_name((ridge_guard)guard));
    ridge_json_end_array(json);
    ridge_json_count(json, "case_count", summary->wanted_count);
    ridge_json_begin_object(json, "counts");
    for (verdict = 0; verdict < RIDGE_VERDICT_COUNT; verdict++)
        ridge_json_count(json, ridge_bench_verdict_name((ridge_bench_verdict)verdict),
                         summary->counts[verdict]);
    ridge_json_end_object(json);
    ridge_json_number(json, "geomean", summary->geomean);
    if (summary->row_count > 0)
        measure_write_device(json, &summary->rows[0].first.device);
    ridge_json_begin_array(json, "cases");
    for (i = 0; i < summary->row_count; i++) {
        const struct compare_row *const row = &summary->rows[i];

        ridge_json_begin_object(json, NULL);
        measure_write_case(json, &row->first.at);
        ridge_json_text(json, "verdict", ridge_bench_verdict_name(row->verdict));
        ridge_json_number(json, "p", row->p);
        ridge_json_number(json, "holm_p", row->holm_p);
        write_comparison(json, "first", &row->first);
        if (row->has_second)
            write_comparison(json, "second", &row->second);
        else
            ridge_json_null(json, "second");
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
    ridge_json_end_object(json);
    ridge_json_free(json);
}
