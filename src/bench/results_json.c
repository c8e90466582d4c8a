/* SPDX-License-Identifier: Apache-2.0
 *
 * Results of the measuring loop for programs: keys are the names of the C fields, base units. */
#include <math.h>

#include "ridge/bench.h"

const char *ridge_mode_name(ridge_mode mode)
{
    static const char *const names[] = {"auto", "event", "graph", "batch"};

    return (unsigned)mode < sizeof(names) / sizeof(names[0]) ? names[mode] : "unknown";
}

/* "" is null. */
static void known_text(ridge_json *json, const char *key, const char *text)
{
    ridge_json_text(json, key, text[0] != '\0' ? text : NULL);
}

void ridge_interval_write_json(ridge_json *json, const char *key, const ridge_interval *interval)
{
    if (isnan(interval->centre)) {
        ridge_json_null(json, key);
        return;
    }
    ridge_json_begin_object(json, key);
    ridge_json_number(json, "ln_centre", interval->centre);
    ridge_json_number(json, "ln_low", interval->low);
    ridge_json_number(json, "ln_high", interval->high);
    ridge_json_number(json, "ln_half_width", interval->half_width);
    ridge_json_number(json, "ln_detectable", interval->detectable);
    ridge_json_integer(json, "count", interval->count);
    ridge_json_integer(json, "pilot", interval->pilot);
    ridge_json_number(json, "ln_pilot_sd", interval->pilot_sd);
    ridge_json_number(json, "ratio", exp(interval->centre));
    ridge_json_end_object(json);
}

void ridge_arm_summary_write_json(ridge_json *json, const char *key, const ridge_arm_summary *arm)
{
    ridge_json_begin_object(json, key);
    ridge_json_text(json, "name", arm->name);
    known_text(json, "code_hash", arm->code_hash);
    ridge_json_number(json, "median_ns", arm->median_ns);
    ridge_json_number(json, "p10_ns", arm->p10_ns);
    ridge_json_number(json, "p90_ns", arm->p90_ns);
    ridge_json_number(json, "least_ns", arm->least_ns);
    ridge_json_number(json, "iqr_ns", arm->iqr_ns);
    ridge_json_number(json, "amortized_ns", arm->amortized_ns);
    ridge_json_integer(json, "slots", arm->slots);
    ridge_json_integer(json, "launches", arm->launches);
    ridge_json_number(json, "sm_hz", arm->sm_hz);
    ridge_json_number(json, "power_w", arm->power_w);
    ridge_json_number(json, "prepare_ns", arm->prepare_ns);
    ridge_json_number(json, "bytes_per_s", arm->bytes_per_s);
    ridge_json_number(json, "flop_per_s", arm->flop_per_s);
    ridge_json_number(json, "roof_frac", arm->roof_frac);
    ridge_json_number(json, "nominal_frac", arm->nominal_frac);
    ridge_json_number(json, "bound_ns", arm->bound_ns);
    ridge_json_bool(json, "is_launch_bound", arm->is_launch_bound);
    ridge_json_text(json, "bound_by",
                    arm->bound_by != RIDGE_BOUND_BY_NOTHING ? ridge_bench_bound_text(arm->bound_by)
                                                            : NULL);
    ridge_json_text(json, "peak", arm->peak != RIDGE_PEAK_NONE ? ridge_peak_name(arm->peak) : NULL);
    ridge_json_end_object(json);
}

static void write_floors(ridge_json *json, const ridge_floors *floors)
{
    ridge_json_begin_object(json, "floors");
    ridge_json_number(json, "event_ns", floors->event_ns);
    ridge_json_number(json, "kernel_ns", floors->kernel_ns);
    ridge_json_number(json, "graph_ns", floors->graph_ns);
    ridge_json_end_object(json);
}

void ridge_comparison_write_json(ridge_json *json, const char *key,
                                 const ridge_comparison *comparison)
{
    ridge_json_begin_object(json, key);
    ridge_json_text(json, "verdict", ridge_bench_verdict_name(comparison->verdict));
    ridge_interval_write_json(json, "interval", &comparison->interval);
    ridge_interval_write_json(json, "sustained", &comparison->sustained);
    ridge_json_number(json, "ln_delta", comparison->delta);
    ridge_json_number(json, "p", comparison->p);
    ridge_json_bool(json, "by_sustained", comparison->by_sustained);
    ridge_json_bool(json, "regimes_disagree", comparison->regimes_disagree);
    ridge_json_integer(json, "placements_needed", comparison->placements_needed);
    ridge_json_number(json, "budget_needed_s", comparison->budget_needed_s);
    ridge_json_text(json, "mode", ridge_mode_name(comparison->mode));
    ridge_json_text(json, "cache",
                    ridge_bench_cache_text(comparison->cache, comparison->rotation_l2));
    ridge_json_integer(json, "rotation", comparison->rotation);
    ridge_json_number(json, "rotation_l2", comparison->rotation_l2);
    ridge_json_number(json, "footprint_bytes", comparison->footprint_bytes);
    ridge_json_number(json, "shared_frac", comparison->shared_frac);
    ridge_json_integer(json, "placements", comparison->placements);
    ridge_json_integer(json, "blocks", comparison->blocks);
    ridge_json_integer(json, "slots", comparison->slots);
    ridge_json_integer(json, "outputs_checked", comparison->outputs_checked);
    write_floors(json, &comparison->floors);
    ridge_json_number(json, "floor_frac", comparison->floor_frac);
    ridge_json_number(json, "ln_null_centre", comparison->null_centre);
    ridge_json_number(json, "ln_null_half_width", comparison->null_half_width);
    ridge_json_number(json, "duration_s", comparison->duration_s);
    ridge_json_bool(json, "is_interrupted", comparison->is_interrupted);
    ridge_json_bool(json, "is_busy", comparison->is_busy);
    ridge_json_count(json, "clock_reasons", comparison->clock_reasons);
    known_text(json, "invalid_guard", comparison->invalid_guard);
    known_text(json, "invalid_cause", comparison->invalid_cause);
    ridge_arm_summary_write_json(json, "a", &comparison->arms[0]);
    ridge_arm_summary_write_json(json, "b", &comparison->arms[1]);
    known_text(json, "a_path", comparison->path[0]);
    known_text(json, "b_path", comparison->path[1]);
    ridge_json_end_object(json);
}

void ridge_measurement_write_json(ridge_json *json, const char *key,
                                  const ridge_measurement *measurement)
{
    ridge_json_begin_object(json, key);
    ridge_arm_summary_write_json(json, "arm", &measurement->arm);
    ridge_json_text(json, "mode", ridge_mode_name(measurement->mode));
    ridge_json_text(json, "cache",
                    ridge_bench_cache_text(measurement->cache, measurement->rotation_l2));
    ridge_json_integer(json, "rotation", measurement->rotation);
    ridge_json_number(json, "rotation_l2", measurement->rotation_l2);
    ridge_json_number(json, "footprint_bytes", measurement->footprint_bytes);
    write_floors(json, &measurement->floors);
    ridge_json_number(json, "floor_frac", measurement->floor_frac);
    ridge_json_number(json, "spread_frac", measurement->spread_frac);
    ridge_json_integer(json, "placements", measurement->placements);
    ridge_json_integer(json, "outputs_checked", measurement->outputs_checked);
    ridge_json_number(json, "duration_s", measurement->duration_s);
    ridge_json_bool(json, "is_interrupted", measurement->is_interrupted);
    ridge_json_bool(json, "is_busy", measurement->is_busy);
    ridge_json_bool(json, "is_invalid", measurement->is_invalid);
    ridge_json_count(json, "clock_reasons", measurement->clock_reasons);
    known_text(json, "invalid_guard", measurement->invalid_guard);
    known_text(json, "invalid_cause", measurement->invalid_cause);
    known_text(json, "path", measurement->path);
    ridge_json_end_object(json);
}
