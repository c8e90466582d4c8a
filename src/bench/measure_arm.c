/* SPDX-License-Identifier: Apache-2.0
 *
 * One arm alone: its time, and how far placements spread it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench_internal.h"

static double spread_of(const bench_run *run)
{
    const size_t count = (size_t)run->placement_count;

    return (ridge_stat_quantile(run->placements, count, 1) -
            ridge_stat_quantile(run->placements, count, 0)) /
           ridge_stat_median(run->placements, count);
}

static void sum_up(const bench_run *run, ridge_measurement *out)
{
    memset(out, 0, sizeof(*out));
    out->at = run->at;
    out->device = *run->info;
    bench_arm_sum_up(run, 0, &out->arm);
    out->mode = run->mode;
    out->cache = run->options.cache;
    out->rotation = run->rotation;
    out->footprint_bytes = run->footprint_bytes;
    out->rotation_l2 = run->footprint_bytes * run->rotation / (double)run->info->l2_bytes;
    out->floors = run->floors;
    out->floor_frac = run->floors.kernel_ns / out->arm.median_ns;
    out->spread_frac = spread_of(run);
    out->placements = run->placement_count;
    out->outputs_checked = run->outputs_checked;
    out->is_interrupted = run->is_interrupted;
    out->is_busy = run->is_busy;
    out->is_invalid = run->is_invalid;
    out->clock_reasons = run->clock_reasons;
    memcpy(out->invalid_guard, run->invalid_guard, sizeof(out->invalid_guard));
    memcpy(out->invalid_cause, run->invalid_cause, sizeof(out->invalid_cause));
    memcpy(out->path, run->arms[0].path, sizeof(out->path));
    out->duration_s = bench_now_s() - run->started_s;
}

ridge_status ridge_bench_measure(ridge_device *device, const ridge_bench_arm *arm,
                                 const ridge_case *at, const ridge_bench_options *options,
                                 const ridge_bench_sink *sink, ridge_measurement *out,
                                 ridge_error *err)
{
    bench_run run;
    ridge_status status = bench_run_open(&run, device, arm, NULL, at, options, sink, err);

    memset(out, 0, sizeof(*out));
    if (status == RIDGE_OK)
        status = bench_run_start(&run, err);
    if (status == RIDGE_OK && !run.is_invalid)
        status = bench_run_placements(&run, err);
    bench_progress(&run, RIDGE_PHASE_AFTER, 0, 0);
    if (status == RIDGE_OK && !run.is_invalid && run.slot_count > 0)
        status = bench_guards_after(&run, err);
    if (status == RIDGE_OK)
        sum_up(&run, out);
    bench_run_release(&run);
    return status;
}
