/* SPDX-License-Identifier: Apache-2.0
 *
 * The sustained regime: long slots of one arm, so that each runs at the clock that its own power
 * allows. Interleaving short slots hides such differences: a product on random data takes 15 %
 * longer than on zeros when each runs alone, and 0.7 % at slots of 15 ms, measured on an H200
 * (docs/decisions/0005-measuring-loop.md). */
#include <math.h>

#include "bench_internal.h"

enum { BLOCKS_MOST = 8, BLOCKS_LEAST = 3, CHUNK_MOST = 64 };

typedef struct lengths {
    double slot_s, discard_s;
} lengths;

static lengths lengths_of(const bench_run *run)
{
    return run->is_gpu ? (lengths){1, 0.3} : (lengths){0.05, 0.015};
}

bool bench_wants_sustained(const bench_run *run)
{
    const bench_series *const clocks[] = {&run->arms[0].clocks, &run->arms[1].clocks};
    const bench_series *const powers[] = {&run->arms[0].powers, &run->arms[1].powers};
    const double a = bench_series_median(clocks[0]), b = bench_series_median(clocks[1]);
    const double power_w = fmax(ridge_stat_mean(powers[0]->values, powers[0]->count),
                                ridge_stat_mean(powers[1]->values, powers[1]->count));

    if (run->options.regime != RIDGE_REGIME_AUTO)
        return run->options.regime == RIDGE_REGIME_BOTH;
    return (run->clock_reasons & (RIDGE_CLOCK_POWER_CAP | RIDGE_CLOCK_THERMAL)) != 0 ||
           power_w > 0.85 * run->info->power_limit_w || fabs(a / b - 1) > 0.01;
}

/* Launches in chunks, two of which are queued at any time, until the slot is over; the time is that
 * between the first event behind what is discarded and the last. */
static ridge_status run_slot(bench_run *run, int arm, double *ns, ridge_error *err)
{
    const lengths length = lengths_of(run);
    const double each_ns = run->arms[arm].time_ns;
    ridge_graph *const graph = run->mode == RIDGE_MODE_GRAPH ? run->placement.graphs[arm] : NULL;
    const int chunk =
        graph != NULL ? run->graph_launches : (int)fmax(1, fmin(CHUNK_MOST, ceil(2e6 / each_ns)));
    const double begin_s = bench_now_s();
    ridge_event *ring[3] = {run->events[1], run->events[2], run->events[3]};
    ridge_event *const first = run->events[0];
    ridge_status status = RIDGE_OK;
    double elapsed_s = 0;
    int set = 0, launches = 0, chunks, i;
    bool counts = false;

    for (chunks = 0; status == RIDGE_OK && elapsed_s < length.slot_s; chunks++) {
        if (chunks >= 2)
            status = ridge_event_synchronize(ring[(chunks - 2) % 3], err);
        elapsed_s = bench_now_s() - begin_s;
        if (status == RIDGE_OK && !counts && elapsed_s >= length.discard_s) {
            status = ridge_event_record(first, run->stream, err);
            counts = true;
        }
        if (graph != NULL && status == RIDGE_OK)
            status = ridge_graph_launch(graph, run->stream, err);
        for (i = 0; i < chunk && graph == NULL && status == RIDGE_OK; i++) {
            status = bench_launch(run, arm, set, err);
            set = set + 1 == run->rotation ? 0 : set + 1;
        }
        launches += counts ? chunk : 0;
        if (status == RIDGE_OK)
            status = ridge_event_record(ring[chunks % 3], run->stream, err);
    }
    if (status == RIDGE_OK)
        status = bench_wait(run, arm, err);
    if (status == RIDGE_OK && chunks > 0)
        status = ridge_event_elapsed_ns(first, ring[(chunks - 1) % 3], ns, err);
    if (status == RIDGE_OK)
        *ns /= launches;
    return status;
}

ridge_status bench_sustained(bench_run *run, ridge_interval *out, ridge_error *err)
{
    static const int orders[2][4] = {{0, 1, 1, 0}, {1, 0, 0, 1}};
    const double block_s = 4 * lengths_of(run).slot_s;
    const double affordable = floor((run->deadline_s - bench_now_s()) / block_s);
    int planned = affordable < BLOCKS_MOST ? (int)affordable : BLOCKS_MOST;
    double values[BLOCKS_MOST];
    ridge_status status = RIDGE_OK;
    int block, position;

    if (planned < BLOCKS_LEAST && run->options.regime == RIDGE_REGIME_BOTH)
        planned = BLOCKS_LEAST;
    if (planned < BLOCKS_LEAST)
        return RIDGE_OK; /* no time: not measured */
    run->placements_begin_s = bench_now_s();
    for (block = 0; block < planned && status == RIDGE_OK && !run->is_interrupted; block++) {
        const unsigned order = bench_chance_below(&run->chance, 2);
        double logs[BENCH_ARMS] = {0};

        bench_progress(run, RIDGE_PHASE_SUSTAINED, block, planned);
        for (position = 0; position < 4 && status == RIDGE_OK && !bench_should_stop(run);
             position++) {
            double ns = NAN;

            status = run_slot(run, orders[order][position], &ns, err);
            logs[orders[order][position]] += log(ns);
        }
        values[block] = (logs[1] - logs[0]) / 2;
    }
    block -= run->is_interrupted && block > 0; /* the last one has no four slots */
    if (status == RIDGE_OK && block >= 2) {
        ridge_interval_of(values, block, block, out);
        bench_interval_widen(out);
    }
    return status;
}
