/* SPDX-License-Identifier: Apache-2.0
 *
 * One slot: launches of one arm and events, and nothing else. On a GPU the launches are queued
 * behind a gate, so that the host paces nothing: an empty kernel takes 3.2 us between events when
 * queued and 5.1 us with a synchronisation each, measured on an H200
 * (docs/decisions/0005-measuring-loop.md). Launches below 20 us are mostly that floor, so they are
 * timed by graphs of many. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "bench_internal.h"

/* What waits behind one gate: a stream's queue takes about 1,000 entries, and a launch that does not
 * fit waits for the gate, which waits for it. Each launch has an event behind it. */
enum { CHUNK = BENCH_EVENTS - 1, NODES_QUEUED = 500 };

/* -- graphs ------------------------------------------------------------------------------------ */

static ridge_status capture(bench_run *run, int arm, int launches, bool strict, ridge_graph **out,
                            ridge_error *err)
{
    ridge_status status = ridge_capture_begin(run->stream, strict, err), ended;
    ridge_error end_err = {0};
    int i;

    *out = NULL;
    if (status != RIDGE_OK)
        return status;
    for (i = 0; i < launches && status == RIDGE_OK; i++)
        status = bench_launch(run, arm, i % run->rotation, err);
    ended = ridge_capture_end(run->stream, out, &end_err);
    if (status == RIDGE_OK && ended != RIDGE_OK) {
        status = ended;
        if (err != NULL)
            *err = end_err;
    }
    if (status != RIDGE_OK) {
        ridge_graph_free(*out);
        *out = NULL;
    }
    return status;
}

/* Where a graph's nodes lie in memory and code differs between two graphs of the same launches, by
 * 0.1 % of a 5 us kernel on an H200. The old graphs are freed behind the new ones, and the arm whose
 * graph is made first is drawn: otherwise the allocator gives each arm the same place every time, and
 * the difference would not average away. */
ridge_status bench_graphs_capture(bench_run *run, ridge_error *err)
{
    ridge_graph *before[BENCH_ARMS];
    ridge_status status = RIDGE_OK;
    int first, i;

    if (run->mode != RIDGE_MODE_GRAPH)
        return RIDGE_OK;
    first = (int)bench_chance_below(&run->chance, (unsigned)run->arm_count);
    memcpy(before, run->placement.graphs, sizeof(before));
    memset(run->placement.graphs, 0, sizeof(before));
    for (i = 0; i < run->arm_count && status == RIDGE_OK; i++) {
        const int arm = (first + i) % run->arm_count;

        status = capture(run, arm, run->graph_launches, false, &run->placement.graphs[arm], err);
        /* The first launch of a graph brings it to the device. */
        if (status == RIDGE_OK)
            status = ridge_graph_launch(run->placement.graphs[arm], run->stream, err);
        if (status == RIDGE_OK)
            status = bench_wait(run, arm, err);
    }
    for (i = 0; i < run->arm_count; i++)
        ridge_graph_free(before[(first + i) % run->arm_count]);
    return status;
}

bool bench_path_of(bench_run *run, int arm)
{
    char *const path = run->arms[arm].path;
    const size_t size = sizeof(run->arms[arm].path);
    ridge_graph *graph = NULL;
    ridge_graph_node node;
    size_t used = 0, i;

    path[0] = '\0';
    if (!run->info->has_graphs || capture(run, arm, 1, true, &graph, NULL) != RIDGE_OK)
        return false;
    for (i = 0; ridge_graph_node_at(graph, i, &node) && used < size; i++) {
        const int length =
            strcmp(node.kind, "kernel") == 0
                ? snprintf(path + used, size - used, "%s%s grid(%u,%u,%u) x block(%u,%u,%u)",
                           used > 0 ? "; " : "", node.name[0] != '\0' ? node.name : "kernel",
                           node.grid[0], node.grid[1], node.grid[2], node.block[0], node.block[1],
                           node.block[2])
                : snprintf(path + used, size - used, "%s%s", used > 0 ? "; " : "", node.kind);

        used += length > 0 ? (size_t)length : 0;
    }
    ridge_graph_free(graph);
    return true;
}

/* -- time -------------------------------------------------------------------------------------- */

/* Adds what lies between events of a chunk, over the launches of each. */
static ridge_status read_events(bench_run *run, int count, int launches, ridge_error *err)
{
    ridge_status status = RIDGE_OK;
    int i;

    for (i = 0; i < count && status == RIDGE_OK; i++) {
        double ns = 0;

        status = ridge_event_elapsed_ns(run->events[i], run->events[i + 1], &ns, err);
        if (status == RIDGE_OK)
            status = bench_series_add(&run->times, ns / launches, err);
    }
    return status;
}

/* What is between two events: a launch, a graph of launches, or all launches of a batch. */
static ridge_status issue(bench_run *run, int arm, ridge_mode mode, int launches, int *set,
                          ridge_error *err)
{
    ridge_status status = RIDGE_OK;
    int i;

    if (mode == RIDGE_MODE_GRAPH)
        return ridge_graph_launch(run->placement.graphs[arm], run->stream, err);
    for (i = 0; i < launches && status == RIDGE_OK; i++) {
        status = bench_launch(run, arm, *set, err);
        *set = *set + 1 == run->rotation ? 0 : *set + 1;
    }
    return status;
}

/* count intervals between events behind one gate. */
static ridge_status run_chunk(bench_run *run, int arm, ridge_mode mode, int count, int launches,
                              int *set, unsigned clock_bits, ridge_error *err)
{
    const bool is_gated = run->is_gpu && mode != RIDGE_MODE_BATCH;
    ridge_status status = RIDGE_OK, waited;
    int i;

    if (is_gated)
        status = ridge_device_gate_close(run->device, run->stream, err);
    if (status == RIDGE_OK && run->is_gpu && (clock_bits & 1) != 0)
        status = ridge_device_clock_begin(run->device, run->stream, err);
    if (status == RIDGE_OK)
        status = ridge_event_record(run->events[0], run->stream, err);
    for (i = 0; i < count && status == RIDGE_OK; i++) {
        status = issue(run, arm, mode, launches, set, err);
        if (status == RIDGE_OK)
            status = ridge_event_record(run->events[i + 1], run->stream, err);
    }
    if (status == RIDGE_OK && run->is_gpu && (clock_bits & 2) != 0)
        status = ridge_device_clock_end(run->device, run->stream, err);
    if (is_gated)
        ridge_device_gate_open(run->device);
    waited = bench_wait(run, arm, status == RIDGE_OK ? err : NULL);
    return status == RIDGE_OK ? waited : status;
}

static ridge_status keep_samples(bench_run *run, ridge_slot *slot, ridge_error *err)
{
    const size_t count = run->times.count;
    size_t i;

    if (count > run->sample_capacity) {
        float *const grown = ridge_realloc_array(run->samples, count, sizeof(*grown));

        if (grown == NULL)
            return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for %zu times", count);
        run->samples = grown;
        run->sample_capacity = count;
    }
    for (i = 0; i < count; i++)
        run->samples[i] = (float)run->times.values[i];
    slot->samples_ns = run->samples;
    slot->sample_count = count;
    return RIDGE_OK;
}

ridge_status bench_slot_time(bench_run *run, int arm, ridge_mode mode, int launches, int start,
                             ridge_slot *slot, ridge_error *err)
{
    /* The median of eighths: a batch that was preempted does not count. */
    const int batches = launches % BENCH_BATCHES == 0 ? BENCH_BATCHES : 1;
    const int per_event = mode == RIDGE_MODE_BATCH   ? launches / batches
                          : mode == RIDGE_MODE_GRAPH ? run->graph_launches
                                                     : 1;
    const int intervals = mode == RIDGE_MODE_BATCH ? batches : launches;
    const int graphs = NODES_QUEUED > per_event ? NODES_QUEUED / per_event : 1;
    const int chunk = mode == RIDGE_MODE_GRAPH && graphs < CHUNK ? graphs : CHUNK;
    const bench_series *const times = &run->times;
    ridge_status status = RIDGE_OK;
    int set = start, done;

    run->times.count = 0;
    for (done = 0; done < intervals && status == RIDGE_OK; done += chunk) {
        const int count = intervals - done < chunk ? intervals - done : chunk;
        const unsigned clock_bits = (done == 0) | (unsigned)(done + count == intervals) << 1;

        status = run_chunk(run, arm, mode, count, per_event, &set, clock_bits, err);
        if (status == RIDGE_OK)
            status = read_events(run, count, per_event, err);
    }
    if (status != RIDGE_OK)
        return status;
    slot->arm = arm;
    slot->launches = intervals * per_event;
    slot->median_ns = bench_series_median(times);
    slot->p10_ns = ridge_stat_quantile(times->values, times->count, 0.1);
    slot->p90_ns = ridge_stat_quantile(times->values, times->count, 0.9);
    slot->least_ns = ridge_stat_quantile(times->values, times->count, 0);
    return mode == RIDGE_MODE_BATCH ? RIDGE_OK : keep_samples(run, slot, err);
}

/* -- a slot with what belongs to it ------------------------------------------------------------ */

/* Last set that was launched on. */
static int last_set(const bench_run *run, ridge_mode mode, int launches, int start)
{
    const int per_slot = mode == RIDGE_MODE_GRAPH ? run->graph_launches : launches;
    const int first = mode == RIDGE_MODE_GRAPH ? 0 : start;

    return (first + per_slot - 1) % run->rotation;
}

/* Launches on a set in a slot. */
static int times_on(const bench_run *run, ridge_mode mode, int launches, int start, int set)
{
    const int per_pass = mode == RIDGE_MODE_GRAPH ? run->graph_launches : launches;
    const int first = mode == RIDGE_MODE_GRAPH ? 0 : start;
    const int distance = (set - first + run->rotation) % run->rotation;
    const int times = distance < per_pass ? (per_pass - 1 - distance) / run->rotation + 1 : 0;

    return mode == RIDGE_MODE_GRAPH ? times * launches : times;
}

static void read_clocks(bench_run *run, ridge_slot *slot)
{
    ridge_clock_reading reading;

    ridge_device_read_clocks(run->device, &reading);
    slot->sm_hz = run->is_gpu ? ridge_device_clock_read(run->device, run->stream) : reading.sm_hz;
    slot->power_w = reading.power_w;
    slot->temperature_c = reading.temperature_c;
    slot->clock_reasons = reading.reasons;
    run->clock_reasons |= reading.reasons;
}

static ridge_status note_slot(bench_run *run, bench_arm_state *arm, const ridge_slot *slot,
                              ridge_error *err)
{
    const struct {
        bench_series *series;
        double value;
    } notes[] = {
        {&arm->medians, slot->median_ns},
        {&arm->p10, slot->p10_ns},
        {&arm->p90, slot->p90_ns},
        {&arm->iqr, ridge_stat_quantile(run->times.values, run->times.count, 0.75) -
                        ridge_stat_quantile(run->times.values, run->times.count, 0.25)},
        {&arm->skews, ridge_stat_mean(run->times.values, run->times.count) / slot->median_ns},
        {&arm->clocks, slot->sm_hz},
        {&arm->powers, slot->power_w},
    };
    ridge_status status = RIDGE_OK;
    size_t i;

    for (i = 0; i < sizeof(notes) / sizeof(notes[0]) && status == RIDGE_OK; i++)
        if (notes[i].value == notes[i].value) /* no NAN */
            status = bench_series_add(notes[i].series, notes[i].value, err);
    if (!(arm->least_ns <= slot->least_ns))
        arm->least_ns = slot->least_ns;
    arm->slots++;
    arm->launches += slot->launches;
    return status;
}

ridge_status bench_slot(bench_run *run, int arm, int block, int position, int start,
                        ridge_slot *slot, ridge_error *err)
{
    const int last = last_set(run, run->mode, run->launches, start);
    bench_sample sample;
    ridge_status status = RIDGE_OK;

    *slot = (ridge_slot){.placement = run->placement_count, .block = block, .position = position};
    if (run->options.cache == RIDGE_CACHE_HOT)
        status = bench_launch(run, arm, start, err);
    if (status == RIDGE_OK)
        status =
            bench_sample_before(run, arm, run->mode == RIDGE_MODE_GRAPH ? 0 : start, &sample, err);
    if (status == RIDGE_OK)
        status = bench_sets_restore(run, err);
    /* So that a late write to the set that the guard looks at changes something. */
    if (status == RIDGE_OK && !run->is_gpu && bench_guarded(run, RIDGE_GUARD_IDLE))
        status = bench_set_poison(run, arm, last, err);
    if (status == RIDGE_OK)
        status = ridge_stream_synchronize(run->stream, err);
    slot->start_s = bench_now_s() - run->started_s;
    if (status == RIDGE_OK)
        status = bench_slot_time(run, arm, run->mode, run->launches, start, slot, err);
    if (status == RIDGE_OK)
        status = bench_guards_slot(run, arm, last, err);
    if (status == RIDGE_OK && sample.set >= 0) {
        sample.times = times_on(run, run->mode, run->launches, start, sample.set);
        status = bench_sample_after(run, &sample, err);
    }
    if (status != RIDGE_OK)
        return status;
    read_clocks(run, slot);
    if (block >= 0) {
        status = note_slot(run, &run->arms[arm], slot, err);
        bench_sets_note(run, arm, start);
    }
    run->slot_count++;
    if (status == RIDGE_OK && run->sink->slot != NULL)
        run->sink->slot(run->sink->context, slot);
    if (status == RIDGE_OK && run->sink->behind != NULL)
        status = run->sink->behind(run->sink->context, arm, run->options.without, err);
    slot->samples_ns = NULL;
    return status;
}
