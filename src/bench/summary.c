/* SPDX-License-Identifier: Apache-2.0
 *
 * What the slots of an arm come to, and what they are held against. */
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "bench_internal.h"
#include "ridge/hardware.h"

double bench_arm_time_ns(const bench_run *run, int arm)
{
    return bench_series_median(&run->arms[arm].medians);
}

bool bench_is_launch_bound(const bench_run *run, double time_ns)
{
    return time_ns <
           3 * (run->mode == RIDGE_MODE_GRAPH ? run->floors.graph_ns : run->floors.kernel_ns);
}

const char *ridge_bench_cache_text(ridge_cache cache, double rotation_l2)
{
    if (cache == RIDGE_CACHE_HOT)
        return "hot";
    return rotation_l2 < 1               ? "in L2, not cold"
           : rotation_l2 < RIDGE_COLD_L2 ? "partly in L2, not cold"
                                         : "cold";
}

const char *ridge_bench_bound_text(ridge_bound_by by)
{
    static const char *const names[] = {
        [RIDGE_BOUND_BY_NOTHING] = "n/a",
        [RIDGE_BOUND_BY_MEMORY] = "memory",
        [RIDGE_BOUND_BY_COMPUTE] = "compute",
        [RIDGE_BOUND_BY_LAUNCH] = "launch",
    };

    return (unsigned)by < sizeof(names) / sizeof(names[0]) ? names[by] : "n/a";
}

/* Least times of the work; NAN: not known. */
typedef struct least_times {
    double memory_ns, compute_ns, ns;
    ridge_bound_by by;
} least_times;

static void least_times_of(const ridge_kernel_work *work, const ridge_roofs *roofs,
                           least_times *out)
{
    const bool has_peak = work->peak > RIDGE_PEAK_NONE && work->peak < RIDGE_PEAK_COUNT;

    out->by = RIDGE_BOUND_BY_NOTHING;
    out->memory_ns = (work->read_bytes + work->written_bytes) / roofs->dram_bytes_per_s * 1e9;
    out->compute_ns =
        has_peak ? work->flop_count / roofs->flop_per_s[work->peak] * 1e9 : (double)NAN;
    out->ns = fmax(out->memory_ns, out->compute_ns);
    if (out->ns > 0)
        out->by = out->ns == out->memory_ns ? RIDGE_BOUND_BY_MEMORY : RIDGE_BOUND_BY_COMPUTE;
    else
        out->ns = NAN; /* no work is known */
}

/* By the data sheet; else by the driver's clock and bus width. */
static void nominal_roofs(const bench_run *run, ridge_roofs *out)
{
    const ridge_chip *const chip = run->is_gpu ? ridge_chip_find(run->info->name) : NULL;

    ridge_roofs_init(out);
    if (chip != NULL)
        ridge_roofs_of_chip(chip, out);
    else
        out->dram_bytes_per_s = run->info->memory_bytes_per_s;
}

static void measured_roofs(const bench_run *run, ridge_roofs *out)
{
    ridge_roofs_init(out);
    if (run->has_roofs)
        *out = run->roofs;
}

bool bench_is_cold(const bench_run *run)
{
    return run->options.cache == RIDGE_CACHE_COLD &&
           run->footprint_bytes * run->rotation > RIDGE_COLD_L2 * (double)run->info->l2_bytes;
}

double bench_bound_ns(const bench_run *run, int arm)
{
    least_times least;
    ridge_roofs roofs;

    if (!run->roofs_bind)
        return NAN;
    measured_roofs(run, &roofs);
    if (!bench_is_cold(run))
        roofs.dram_bytes_per_s = NAN;
    least_times_of(&run->arms[arm].work, &roofs, &least);
    return least.ns;
}

/* What binds by measured roofs, nominal where one was not measured, and the shares of both. Bytes
 * that come from the cache are faster than any roof known here: where they bind, nothing is. */
void bench_bounds_of(const ridge_kernel_work *work, const ridge_roofs *nominal,
                     const ridge_roofs *measured, bool is_cold_case, double time_ns,
                     ridge_arm_summary *out)
{
    ridge_roofs known = *nominal;
    least_times sold, best;
    bool is_measured;
    int i;

    if (!isnan(measured->dram_bytes_per_s))
        known.dram_bytes_per_s = measured->dram_bytes_per_s;
    for (i = 0; i < RIDGE_PEAK_COUNT; i++)
        if (!isnan(measured->flop_per_s[i]))
            known.flop_per_s[i] = measured->flop_per_s[i];
    least_times_of(work, nominal, &sold);
    least_times_of(work, &known, &best);
    if (!is_cold_case && sold.by == RIDGE_BOUND_BY_MEMORY)
        sold.ns = NAN;
    if (!is_cold_case && best.by == RIDGE_BOUND_BY_MEMORY)
        best = (least_times){.ns = NAN, .by = RIDGE_BOUND_BY_NOTHING};
    is_measured = best.by == RIDGE_BOUND_BY_MEMORY ? !isnan(measured->dram_bytes_per_s)
                                                   : best.by == RIDGE_BOUND_BY_COMPUTE &&
                                                         !isnan(measured->flop_per_s[work->peak]);
    out->peak = (ridge_peak)work->peak;
    out->bound_by = out->is_launch_bound ? RIDGE_BOUND_BY_LAUNCH : best.by;
    out->bound_ns = best.ns;
    out->nominal_frac = sold.ns / time_ns;
    out->roof_frac = is_measured ? best.ns / time_ns : NAN;
}

/* The spread of launches: as the typical slot has it. Of slots of a few launches it is that of their
 * medians: a single launch has none of its own. */
static void spread_of(const bench_run *run, const bench_arm_state *state, ridge_arm_summary *out)
{
    enum { FEW = 8 };
    const bench_series *const medians = &state->medians;
    const bool are_few = run->mode == RIDGE_MODE_EVENT && state->launches < FEW * state->slots;

    if (!are_few) {
        out->p10_ns = bench_series_median(&state->p10);
        out->p90_ns = bench_series_median(&state->p90);
        out->iqr_ns = bench_series_median(&state->iqr);
        return;
    }
    out->p10_ns = ridge_stat_quantile(medians->values, medians->count, 0.1);
    out->p90_ns = ridge_stat_quantile(medians->values, medians->count, 0.9);
    out->iqr_ns = ridge_stat_quantile(medians->values, medians->count, 0.75) -
                  ridge_stat_quantile(medians->values, medians->count, 0.25);
}

void bench_arm_sum_up(const bench_run *run, int arm, ridge_arm_summary *out)
{
    const bench_arm_state *const state = &run->arms[arm];
    const double time_ns = bench_arm_time_ns(run, arm);
    ridge_roofs nominal, measured;
    const bool is_amortised = run->mode == RIDGE_MODE_GRAPH || run->mode == RIDGE_MODE_BATCH;

    *out = (ridge_arm_summary){
        .median_ns = is_amortised && run->mode == RIDGE_MODE_GRAPH
                         ? bench_series_median(&state->singles)
                         : time_ns,
        .least_ns = state->least_ns,
        .amortized_ns = is_amortised ? time_ns : NAN,
        .slots = state->slots,
        .launches = state->launches,
        .sm_hz = ridge_stat_mean(state->clocks.values, state->clocks.count),
        .power_w = ridge_stat_mean(state->powers.values, state->powers.count),
        .prepare_ns = state->prepare_ns,
        .bytes_per_s = (state->work.read_bytes + state->work.written_bytes) / time_ns * 1e9,
        .flop_per_s = state->work.flop_count / time_ns * 1e9,
        .is_launch_bound = bench_is_launch_bound(run, time_ns)};
    spread_of(run, state, out);
    nominal_roofs(run, &nominal);
    measured_roofs(run, &measured);
    bench_bounds_of(&state->work, &nominal, &measured, bench_is_cold(run), time_ns, out);
    ridge_text_end(out->name, sizeof(out->name), state->given->name);
    snprintf(out->code_hash, sizeof(out->code_hash), "%s", state->given->code_hash);
}
