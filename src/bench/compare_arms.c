/* SPDX-License-Identifier: Apache-2.0
 *
 * Two arms against each other. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench_internal.h"

/* On an H200 a comparison of 40 us took 4.3 s in all, most of it the check and the roofs, whatever
 * the budget of 60 s: the pilot is enough. Sustained slots take what they may. */
double ridge_bench_estimate_s(const ridge_bench_options *options, bool is_comparison)
{
    const double budget_s = options != NULL && options->budget_s > 0 ? options->budget_s : 60;
    const double typical_s = is_comparison ? 2 : 1, before_s = is_comparison ? 2.5 : 2;
    const bool is_long = is_comparison && options != NULL && options->regime == RIDGE_REGIME_BOTH;

    /* Three blocks of four slots of 1 s are run whatever the budget. */
    return before_s + fmin(typical_s, budget_s) + (is_long ? fmax(12, fmin(budget_s, 36)) : 0);
}

static const ridge_interval NO_INTERVAL = {
    .centre = NAN, .low = NAN, .high = NAN, .half_width = NAN, .detectable = NAN, .pilot_sd = NAN};

static void init(const bench_run *run, ridge_comparison *out)
{
    int i;

    memset(out, 0, sizeof(*out));
    out->at = run->at;
    out->device = *run->info;
    out->interval = out->sustained = NO_INTERVAL;
    out->p = out->null_centre = out->null_half_width = out->floor_frac = NAN;
    out->budget_needed_s = NAN;
    out->rotation_l2 = out->footprint_bytes = out->shared_frac = NAN;
    out->floors = (ridge_floors){NAN, NAN, NAN};
    out->delta = run->options.delta;
    out->verdict = RIDGE_VERDICT_CANNOT_TELL;
    for (i = 0; i < BENCH_ARMS; i++)
        bench_arm_sum_up(run, i, &out->arms[i]);
}

static bool is_identical(const bench_run *run)
{
    const char *const a = run->arms[0].given->code_hash, *const b = run->arms[1].given->code_hash;

    return bench_guarded(run, RIDGE_GUARD_IDENTITY) && !run->options.null_control && a[0] != '\0' &&
           strcmp(a, b) == 0;
}

static void note_null(bench_run *run, ridge_comparison *out)
{
    if (!run->options.null_control)
        return;
    out->null_centre = out->interval.centre;
    out->null_half_width = out->interval.half_width;
    if (bench_guarded(run, RIDGE_GUARD_NULL_CONTROL) &&
        fabs(out->null_centre) > 3 * out->null_half_width)
        bench_invalidate(run, RIDGE_GUARD_NULL_CONTROL,
                         "two copies of one kernel differ by %.3g %%, more than three times the "
                         "half-width of %.3g %%",
                         100 * expm1(out->null_centre), 100 * out->null_half_width);
}

/* The verdict is about the sustained ratio when there is one. */
static void decide(const bench_run *run, ridge_comparison *out)
{
    const ridge_interval *const equal = &out->interval, *const sustained = &out->sustained;
    const ridge_interval *deciding = equal;

    if (!isnan(sustained->half_width)) {
        deciding = sustained;
        out->by_sustained = true;
        out->regimes_disagree = fabs(equal->centre - sustained->centre) > out->delta ||
                                (equal->low > 0 && sustained->high < 0) ||
                                (equal->high < 0 && sustained->low > 0);
    }
    out->verdict = ridge_bench_verdict_of(deciding, out->delta);
    out->p = ridge_bench_verdict_p(deciding, out->delta);
    if (out->verdict == RIDGE_VERDICT_CANNOT_TELL && deciding == equal)
        out->placements_needed = bench_plan_needed(equal, run->options.pilot, out->delta);
    out->budget_needed_s = ridge_plan_budget_s(run->setup_s, run->each_s, out->placements_needed);
    if (run->is_invalid)
        out->verdict = RIDGE_VERDICT_INVALID;
}

static void sum_up(bench_run *run, ridge_comparison *out)
{
    int i;

    for (i = 0; i < BENCH_ARMS; i++) {
        bench_arm_sum_up(run, i, &out->arms[i]);
        snprintf(out->path[i], sizeof(out->path[i]), "%s", run->arms[i].path);
    }
    out->delta = run->options.delta;
    out->mode = run->mode;
    out->cache = run->options.cache;
    out->rotation = run->rotation;
    out->footprint_bytes = run->footprint_bytes;
    out->rotation_l2 = run->footprint_bytes * run->rotation / (double)run->info->l2_bytes;
    out->shared_frac = run->buffers.span_bytes > 0
                           ? (double)run->buffers.shared_bytes / (double)run->buffers.span_bytes
                           : 1;
    out->placements = run->placement_count;
    out->blocks = run->block_count;
    out->slots = run->slot_count;
    out->outputs_checked = run->outputs_checked;
    out->floors = run->floors;
    out->floor_frac = run->floors.kernel_ns / out->arms[0].median_ns;
    out->is_interrupted = run->is_interrupted;
    out->is_busy = run->is_busy;
    out->clock_reasons = run->clock_reasons;
    memcpy(out->invalid_guard, run->invalid_guard, sizeof(out->invalid_guard));
    memcpy(out->invalid_cause, run->invalid_cause, sizeof(out->invalid_cause));
    out->duration_s = bench_now_s() - run->started_s;
}

static ridge_status measure(bench_run *run, ridge_comparison *out, ridge_error *err)
{
    ridge_status status = bench_run_start(run, err);

    if (status == RIDGE_OK && !run->is_invalid)
        status = bench_run_placements(run, err);
    if (status != RIDGE_OK)
        return status;
    ridge_interval_of(run->placements, run->placement_count, run->options.pilot, &out->interval);
    bench_interval_widen(&out->interval);
    if (!run->is_invalid && !run->is_interrupted && bench_wants_sustained(run))
        status = bench_sustained(run, &out->sustained, err);
    bench_progress(run, RIDGE_PHASE_AFTER, 0, 0);
    if (status == RIDGE_OK && !run->is_invalid && run->slot_count > 0)
        status = bench_guards_after(run, err);
    if (status != RIDGE_OK)
        return status;
    note_null(run, out);
    sum_up(run, out);
    decide(run, out);
    return RIDGE_OK;
}

ridge_status ridge_bench_compare(ridge_device *device, const ridge_bench_arm *a,
                                 const ridge_bench_arm *b, const ridge_case *at,
                                 const ridge_bench_options *options, const ridge_bench_sink *sink,
                                 ridge_comparison *out, ridge_error *err)
{
    bench_run run;
    ridge_status status = bench_run_open(&run, device, a, b, at, options, sink, err);

    if (status == RIDGE_OK) {
        init(&run, out);
        if (is_identical(&run))
            out->verdict = RIDGE_VERDICT_IDENTICAL_CODE;
        else
            status = measure(&run, out, err);
    }
    if (status != RIDGE_OK)
        memset(out, 0, sizeof(*out));
    bench_run_release(&run);
    return status;
}
