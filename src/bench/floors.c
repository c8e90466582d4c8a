/* SPDX-License-Identifier: Apache-2.0
 *
 * What a time consists of when nothing is done: two events, an empty kernel, an empty node of a
 * graph. On an H200: 1.3, 3.2 and 0.5 us (docs/decisions/0005-measuring-loop.md). */
#include <math.h>

#include "bench_internal.h"

enum { REPEATS = 64, GRAPH_NODES = 100, BLOCK = 128 };

/* Times REPEATS intervals behind one gate; empty: with an empty kernel in each. */
static ridge_status time_intervals(bench_run *run, bool empty, ridge_graph *graph, double *out,
                                   ridge_error *err)
{
    const unsigned grid = run->info->sm_count > 0 ? (unsigned)run->info->sm_count : 1;
    ridge_status status = RIDGE_OK, waited;
    int i;

    run->times.count = 0;
    if (run->is_gpu)
        status = ridge_device_gate_close(run->device, run->stream, err);
    if (status == RIDGE_OK)
        status = ridge_event_record(run->events[0], run->stream, err);
    for (i = 0; i < REPEATS && status == RIDGE_OK; i++) {
        if (empty)
            status = ridge_device_empty(run->device, run->stream, grid, BLOCK, err);
        else if (graph != NULL)
            status = ridge_graph_launch(graph, run->stream, err);
        if (status == RIDGE_OK)
            status = ridge_event_record(run->events[i + 1], run->stream, err);
    }
    if (run->is_gpu)
        ridge_device_gate_open(run->device);
    waited = ridge_stream_synchronize(run->stream, status == RIDGE_OK ? err : NULL);
    if (status == RIDGE_OK)
        status = waited;
    for (i = 0; i < REPEATS && status == RIDGE_OK; i++) {
        double ns = 0;

        status = ridge_event_elapsed_ns(run->events[i], run->events[i + 1], &ns, err);
        if (status == RIDGE_OK)
            status = bench_series_add(&run->times, ns, err);
    }
    if (status == RIDGE_OK)
        *out = bench_series_median(&run->times);
    return status;
}

static ridge_status graph_floor(bench_run *run, double *out, ridge_error *err)
{
    const unsigned grid = run->info->sm_count > 0 ? (unsigned)run->info->sm_count : 1;
    ridge_graph *graph = NULL;
    ridge_status status = ridge_capture_begin(run->stream, false, err), ended;
    double ns = NAN;
    int i;

    if (status != RIDGE_OK)
        return status;
    for (i = 0; i < GRAPH_NODES && status == RIDGE_OK; i++)
        status = ridge_device_empty(run->device, run->stream, grid, BLOCK, err);
    ended = ridge_capture_end(run->stream, &graph, status == RIDGE_OK ? err : NULL);
    if (status == RIDGE_OK)
        status = ended;
    if (status == RIDGE_OK)
        status = time_intervals(run, false, graph, &ns, err);
    ridge_graph_free(graph);
    *out = ns / GRAPH_NODES;
    return status;
}

/* What waiting for everything takes after a stream was waited for, when nothing is left: nine in ten
 * take less. */
static ridge_status idle_floor(bench_run *run, ridge_error *err)
{
    ridge_status status = RIDGE_OK;
    int i;

    run->times.count = 0;
    for (i = 0; i < REPEATS && status == RIDGE_OK; i++) {
        double begin_s;

        status = ridge_device_empty(run->device, run->stream, 1, BLOCK, err);
        if (status == RIDGE_OK)
            status = ridge_stream_synchronize(run->stream, err);
        begin_s = bench_now_s();
        if (status == RIDGE_OK)
            status = ridge_device_synchronize(run->device, err);
        if (status == RIDGE_OK)
            status = bench_series_add(&run->times, (bench_now_s() - begin_s) * 1e9, err);
    }
    run->idle_floor_ns = ridge_stat_quantile(run->times.values, run->times.count, 0.9);
    return status;
}

ridge_status bench_floors(bench_run *run, ridge_error *err)
{
    ridge_floors *const floors = &run->floors;
    ridge_status status;

    *floors = (ridge_floors){NAN, NAN, NAN};
    status = time_intervals(run, true, NULL, &floors->kernel_ns, err); /* the first one warms */
    if (status == RIDGE_OK)
        status = time_intervals(run, false, NULL, &floors->event_ns, err);
    if (status == RIDGE_OK)
        status = time_intervals(run, true, NULL, &floors->kernel_ns, err);
    if (status == RIDGE_OK && run->info->has_graphs)
        status = graph_floor(run, &floors->graph_ns, err);
    if (status == RIDGE_OK)
        status = idle_floor(run, err);
    if (status == RIDGE_OK && run->sink->floors != NULL)
        run->sink->floors(run->sink->context, floors);
    return status;
}

ridge_status ridge_bench_floors(ridge_device *device, ridge_floors *out, ridge_error *err)
{
    bench_run run;
    ridge_status status = bench_run_open(&run, device, NULL, NULL, NULL, NULL, NULL, err);

    *out = (ridge_floors){NAN, NAN, NAN};
    if (status == RIDGE_OK)
        status = bench_floors(&run, err);
    if (status == RIDGE_OK)
        *out = run.floors;
    bench_run_release(&run);
    return status;
}
