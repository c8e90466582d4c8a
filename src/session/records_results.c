/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of what came of a case: comparisons, measurements, checks. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "session/records_rows.h"

static void put_policy(session_records *records, ridge_cache cache, ridge_mode mode, int rotation,
                       int placements, ridge_regime regime, double delta, char *id)
{
    static const char *const modes[] = {"event", "event", "graph", "batch"};
    ridge_record record;

    ridge_record_begin(&record, "policy");
    ridge_record_text(&record, "l2", cache == RIDGE_CACHE_HOT ? "hot" : "cold");
    ridge_record_integer(&record, "rotation", rotation);
    ridge_record_text(&record, "mode", modes[mode]);
    records_known_integer(&record, "k", records->launches);
    records_known_integer(&record, "m", records->blocks);
    ridge_record_integer(&record, "placements", placements);
    ridge_record_text(&record, "regime", regime == RIDGE_REGIME_BOTH ? "both" : "short");
    ridge_record_text(&record, "order_scheme", "abba");
    ridge_record_number(&record, "delta", delta);
    records_put(records, &record, id);
}

/* What was measured without its guards is no evidence, whatever it says. */
static void put_unsafe(ridge_record *record, uint64_t without)
{
    char cause[200] = "guards switched off:";
    size_t used = strlen(cause);
    int guard;

    for (guard = 0; guard < RIDGE_GUARD_COUNT && used < sizeof(cause); guard++)
        if ((without >> guard & 1) != 0)
            used += (size_t)snprintf(cause + used, sizeof(cause) - used, " %s",
                                     ridge_guard_name((ridge_guard)guard));
    ridge_record_text(record, "verdict", ridge_bench_verdict_name(RIDGE_VERDICT_INVALID));
    ridge_record_text(record, "invalid_guard", "without");
    ridge_record_text(record, "invalid_cause", cause);
}

static void put_sides(ridge_record *record, const ridge_arm_summary *arms)
{
    ridge_record_number(record, "a_ns", arms[0].median_ns);
    ridge_record_number(record, "b_ns", arms[1].median_ns);
    ridge_record_number(record, "a_p90_ns", arms[0].p90_ns);
    ridge_record_number(record, "b_p90_ns", arms[1].p90_ns);
    ridge_record_number(record, "a_roof_frac", arms[0].roof_frac);
    ridge_record_number(record, "b_roof_frac", arms[1].roof_frac);
    ridge_record_number(record, "a_clock_hz", arms[0].sm_hz);
    ridge_record_number(record, "b_clock_hz", arms[1].sm_hz);
}

static void put_interval(ridge_record *record, const ridge_comparison *comparison)
{
    const ridge_interval *const interval =
        comparison->by_sustained ? &comparison->sustained : &comparison->interval;

    ridge_record_number(record, "ln_ratio", interval->centre);
    ridge_record_number(record, "lo", interval->low);
    ridge_record_number(record, "hi", interval->high);
    records_known_integer(record, "dof", interval->pilot > 1 ? interval->pilot - 1 : 0);
    ridge_record_integer(record, "placements", comparison->placements);
    ridge_record_number(record, "s_pilot", interval->pilot_sd);
    ridge_record_number(record, "mdc", interval->detectable);
    ridge_record_text(record, "regime", comparison->by_sustained ? "sustained" : "short");
    ridge_record_number(record, "sustained_ln_ratio", comparison->sustained.centre);
    if (isfinite(comparison->sustained.centre)) {
        ridge_record_number(record, "sustained_lo", comparison->sustained.low);
        ridge_record_number(record, "sustained_hi", comparison->sustained.high);
    }
}

/* What of a comparison is the session's, and what its arms launch. */
static void note_comparison(session_records *records, const ridge_comparison *comparison,
                            const ridge_bench_options *options)
{
    int arm;

    records->is_busy = records->is_busy || comparison->is_busy;
    if (isfinite(comparison->null_centre)) {
        records->null_centre = comparison->null_centre;
        records->null_half_width = comparison->null_half_width;
    }
    for (arm = 0; arm < 2; arm++)
        if (comparison->path[arm][0] != '\0')
            session_records_arm(records, arm,
                                arm == 0                ? "self"
                                : options->null_control ? "null"
                                                        : "candidate",
                                comparison->arms[arm].name, comparison->path[arm]);
}

void session_records_comparison(session_records *records, ridge_comparison *comparison,
                                const ridge_bench_options *options, const char *confirm_of)
{
    const ridge_arm_summary *const arms = comparison->arms;
    char policy_id[RIDGE_HASH_TEXT] = "", id[RIDGE_HASH_TEXT] = "";
    ridge_record record;

    note_comparison(records, comparison, options);
    put_policy(records, comparison->cache, comparison->mode, comparison->rotation,
               comparison->placements, options->regime, comparison->delta, policy_id);
    ridge_record_begin(&record, "comparison");
    ridge_record_text(&record, "session_id", records->session_id);
    ridge_record_text(&record, "kase_id", records->kase_id);
    ridge_record_text(&record, "arm_a", records->arm_ids[0]);
    ridge_record_text(&record, "arm_b", records->arm_ids[1]);
    ridge_record_text(&record, "policy_id", policy_id);
    put_interval(&record, comparison);
    ridge_record_number(&record, "p", comparison->p);
    if (options->without != 0 && comparison->verdict != RIDGE_VERDICT_INVALID) {
        put_unsafe(&record, options->without);
    } else {
        ridge_record_text(&record, "verdict", ridge_bench_verdict_name(comparison->verdict));
        records_known_text(&record, "invalid_guard", comparison->invalid_guard);
        records_known_text(&record, "invalid_cause", comparison->invalid_cause);
    }
    put_sides(&record, arms);
    ridge_record_integer(&record, "outputs_checked", comparison->outputs_checked);
    /* No column: the ledger keeps it among what is extra. */
    ridge_record_number(&record, "rotation_l2", comparison->rotation_l2);
    records_known_text(&record, "confirm_of", confirm_of);
    records_put(records, &record, id);
    snprintf(comparison->record_id, sizeof(comparison->record_id), "%s", id);
}

void session_records_measurement(session_records *records, const ridge_measurement *measurement,
                                 const ridge_bench_options *options)
{
    const ridge_arm_summary *const arm = &measurement->arm;
    char policy_id[RIDGE_HASH_TEXT] = "";
    ridge_record record;

    records->is_busy = records->is_busy || measurement->is_busy;
    if (measurement->path[0] != '\0')
        session_records_arm(records, 0, "candidate", arm->name, measurement->path);
    put_policy(records, measurement->cache, measurement->mode, measurement->rotation,
               measurement->placements, options->regime, NAN, policy_id);
    ridge_record_begin(&record, "measurement");
    ridge_record_text(&record, "arm_id", records->arm_ids[0]);
    ridge_record_text(&record, "policy_id", policy_id);
    ridge_record_number(&record, "median_ns", arm->median_ns);
    ridge_record_number(&record, "p10_ns", arm->p10_ns);
    ridge_record_number(&record, "p90_ns", arm->p90_ns);
    ridge_record_number(&record, "least_ns", arm->least_ns);
    ridge_record_number(&record, "spread_frac", measurement->spread_frac);
    ridge_record_number(&record, "bytes_per_s", arm->bytes_per_s);
    ridge_record_number(&record, "flop_per_s", arm->flop_per_s);
    ridge_record_number(&record, "roof_frac", arm->roof_frac);
    ridge_record_number(&record, "nominal_frac", arm->nominal_frac);
    ridge_record_number(&record, "bound_ns", arm->bound_ns);
    ridge_record_number(&record, "floor_frac", measurement->floor_frac);
    ridge_record_number(&record, "clock_hz", arm->sm_hz);
    ridge_record_number(&record, "power_w", arm->power_w);
    records_known_text(&record, "invalid_guard", measurement->invalid_guard);
    records_known_text(&record, "invalid_cause", measurement->invalid_cause);
    records_put_row(records, &record);
}

/* Whether a test passed; left out when it was not made. */
static void put_test(ridge_record *record, const char *key, const ridge_check_result *result,
                     ridge_test test)
{
    size_t i;

    for (i = 0; i < result->test_count; i++)
        if (result->tests[i].test == test && result->tests[i].outcome <= RIDGE_OUTCOME_FAIL)
            ridge_record_bool(record, key, result->tests[i].outcome != RIDGE_OUTCOME_FAIL);
}

static void put_regions(session_records *records, const ridge_mismatch *mismatch,
                        const char *check_run_id)
{
    ridge_record record;
    size_t i;

    for (i = 0; i < mismatch->region_count && i < RIDGE_MISMATCH_REGIONS; i++) {
        ridge_record_begin(&record, "check_region");
        ridge_record_text(&record, "check_run_id", check_run_id);
        ridge_record_integer(&record, "axis", mismatch->regions[i].axis);
        ridge_record_integer(&record, "lo", mismatch->regions[i].first);
        ridge_record_integer(&record, "hi", mismatch->regions[i].last);
        ridge_record_number(&record, "share", mismatch->regions[i].share_frac);
        records_known_text(&record, "explanation", mismatch->cause);
        records_put_row(records, &record);
    }
    if (mismatch->period.axis < 0)
        return;
    ridge_record_begin(&record, "check_region");
    ridge_record_text(&record, "check_run_id", check_run_id);
    ridge_record_integer(&record, "axis", mismatch->period.axis);
    ridge_record_integer(&record, "lo", mismatch->period.residue_first);
    ridge_record_integer(&record, "hi", mismatch->period.residue_last);
    ridge_record_integer(&record, "modulo", mismatch->period.modulus);
    ridge_record_number(&record, "share", mismatch->period.share_frac);
    records_known_text(&record, "explanation", mismatch->cause);
    records_put_row(records, &record);
}

void session_records_check(session_records *records, const ridge_check_result *result,
                           const char *launcher)
{
    static const char *const outcomes[] = {"pass", "suspicious", "fail", "refused", "skipped"};
    const ridge_mismatch *const mismatch = &result->mismatch;
    char id[RIDGE_HASH_TEXT] = "";
    ridge_record record;

    ridge_record_begin(&record, "check_run");
    records_known_text(&record, "build_id", records->build_ids[0]);
    ridge_record_text(&record, "kase_id", records->kase_id);
    ridge_record_text(&record, "session_id", records->session_id);
    ridge_record_text(&record, "launcher", launcher);
    ridge_record_integer(&record, "seed", (int64_t)result->at.seed);
    ridge_record_text(&record, "env_id", records->env_id);
    ridge_record_text(&record, "status", outcomes[result->outcome]);
    ridge_record_number(&record, "worst_scaled_err", result->worst_scaled_error);
    if (mismatch->match == RIDGE_MATCH_WRONG)
        ridge_record_integer(&record, "worst_index", mismatch->worst_index);
    ridge_record_integer(&record, "n_fail", mismatch->wrong_count);
    ridge_record_integer(&record, "n_suspicious", mismatch->suspicious_count);
    ridge_record_integer(&record, "nan_mismatch", mismatch->structure_count);
    put_test(&record, "exact_test", result, RIDGE_TEST_INTEGERS);
    put_test(&record, "repeat_bits", result, RIDGE_TEST_REPEAT);
    put_test(&record, "guard_ok", result, RIDGE_TEST_GUARDS);
    put_test(&record, "poison_ok", result, RIDGE_TEST_WRITTEN);
    records_put(records, &record, id);
    if (mismatch->match == RIDGE_MATCH_WRONG)
        put_regions(records, mismatch, id);
}
