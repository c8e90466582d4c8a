/* SPDX-License-Identifier: Apache-2.0
 *
 * What the slots of an arm come to, and what they are held against. */
#include <math.h>
#include <stdio.h>

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

/* The larger of what is known; NAN: nothing is. */
static double bound_by(const ridge_kernel_work *work, double bytes_per_s, const double *flop_per_s)
{
    const double memory_ns = (work->read_bytes + work->written_bytes) / bytes_per_s * 1e9;
    const double compute_ns = flop_per_s != NULL && work->peak > 0 && work->peak < RIDGE_PEAK_COUNT
                                  ? work->flop_count / flop_per_s[work->peak] * 1e9
                                  : NAN;

    return fmax(memory_ns, compute_ns);
}

/* Launches find their data in the cache when the sets fit it. */
static bool is_cold(const bench_run *run)
{
    return run->options.cache == RIDGE_CACHE_COLD &&
           run->footprint_bytes * run->rotation > 2.5 * (double)run->info->l2_bytes;
}

double bench_bound_ns(const bench_run *run, int arm)
{
    if (!run->roofs_bind)
        return NAN;
    return bound_by(&run->arms[arm].work, is_cold(run) ? run->roofs.dram_bytes_per_s : NAN,
                    run->roofs.flop_per_s);
}

/* By the data sheet; else by the driver's clock and bus width. */
static double nominal_bound_ns(const bench_run *run, int arm)
{
    const ridge_chip *const chip = run->is_gpu ? ridge_chip_find(run->info->name) : NULL;
    ridge_roofs roofs;

    if (chip == NULL)
        return bound_by(&run->arms[arm].work, run->info->memory_bytes_per_s, NULL);
    ridge_roofs_of_chip(chip, &roofs);
    return bound_by(&run->arms[arm].work, roofs.dram_bytes_per_s, roofs.flop_per_s);
}

void bench_arm_sum_up(const bench_run *run, int arm, ridge_arm_summary *out)
{
    const bench_arm_state *const state = &run->arms[arm];
    const double time_ns = bench_arm_time_ns(run, arm);
    const double nominal_ns = nominal_bound_ns(run, arm);
    const double measured_ns =
        run->has_roofs ? bound_by(&state->work, run->roofs.dram_bytes_per_s, run->roofs.flop_per_s)
                       : NAN;
    const bool is_amortised = run->mode == RIDGE_MODE_GRAPH || run->mode == RIDGE_MODE_BATCH;

    *out = (ridge_arm_summary){
        .median_ns = is_amortised && run->mode == RIDGE_MODE_GRAPH
                         ? bench_series_median(&state->singles)
                         : time_ns,
        .p10_ns = bench_series_median(&state->p10),
        .p90_ns = bench_series_median(&state->p90),
        .least_ns = state->least_ns,
        .iqr_ns = bench_series_median(&state->iqr),
        .amortized_ns = is_amortised ? time_ns : NAN,
        .slots = state->slots,
        .launches = state->launches,
        .sm_hz = ridge_stat_mean(state->clocks.values, state->clocks.count),
        .power_w = ridge_stat_mean(state->powers.values, state->powers.count),
        .prepare_ns = state->prepare_ns,
        .bytes_per_s = (state->work.read_bytes + state->work.written_bytes) / time_ns * 1e9,
        .flop_per_s = state->work.flop_count / time_ns * 1e9,
        .roof_frac = measured_ns / time_ns,
        .nominal_frac = nominal_ns / time_ns,
        .bound_ns = isnan(measured_ns) ? nominal_ns : measured_ns,
        .is_launch_bound = bench_is_launch_bound(run, time_ns)};
    snprintf(out->name, sizeof(out->name), "%s", state->given->name);
    snprintf(out->code_hash, sizeof(out->code_hash), "%s", state->given->code_hash);
}
