/* SPDX-License-Identifier: Apache-2.0
 *
 * The measuring loop: check, floors, rotation sets, warm-up, then placements of blocks of slots in
 * the order ABBA or BAAB (docs/decisions/0005-measuring-loop.md). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "bench_internal.h"

static const double EVENT_LEAST_NS = 20e3; /* shorter launches are amortised */
static const double SLOT_NS = 1e6, SLOT_MOST_NS = 20e6, GRAPH_NS = 200e3;
enum { SLOT_LAUNCHES = 8, GRAPHS_LEAST = 5, NODES_MOST = 512, BATCH_MOST = 100000 };
static const size_t CPU_SETS_BYTES = (size_t)256 << 20;
enum { TREND_SLOTS = 8, ESTIMATE_LAUNCHES = 3 };

const char *ridge_phase_name(ridge_phase phase)
{
    static const char *const names[] = {
        "preparing", "checking",  "measuring floors", "warming up",         "null control",
        "pilot",     "measuring", "sustained load",   "looking at outputs",
    };

    return (unsigned)phase < sizeof(names) / sizeof(names[0]) ? names[phase] : "unknown";
}

/* -- what everything uses ---------------------------------------------------------------------- */

void bench_progress(bench_run *run, ridge_phase phase, int done, int total)
{
    const double each = done > 0 ? (bench_now_s() - run->placements_begin_s) / done : NAN;

    if (run->sink->progress != NULL)
        run->sink->progress(run->sink->context, phase, done, total, each * (total - done));
}

bool bench_should_stop(bench_run *run)
{
    if (!run->is_interrupted && run->sink->should_stop != NULL)
        run->is_interrupted = run->sink->should_stop(run->sink->context);
    return run->is_interrupted;
}

void bench_arm_title(const bench_run *run, int arm, char *out, size_t size)
{
    const bench_arm_state *const state = &run->arms[arm];

    snprintf(out, size, "%s%s%.100s", state->role, state->role[0] != '\0' ? " " : "",
             state->given->name);
}

ridge_status bench_arm_failed(const bench_run *run, int arm, const char *what, ridge_status status,
                              const ridge_error *cause, ridge_error *err)
{
    char title[160];

    bench_arm_title(run, arm, title, sizeof(title));
    if (ridge_status_is_refusal(status))
        return ridge_fail(err, status, "%s does not take the case: %s", title, cause->text);
    return ridge_fail(err, status, "%s: %s failed: %s", title, what, cause->text);
}

ridge_status bench_wait(bench_run *run, int arm, ridge_error *err)
{
    ridge_error cause = {0};
    const ridge_status status = ridge_stream_synchronize(run->stream, &cause);

    return status == RIDGE_OK ? status : bench_arm_failed(run, arm, "run", status, &cause, err);
}

/* -- life of a run ----------------------------------------------------------------------------- */

static int within(int value, int fallback, int least, int most)
{
    if (value <= 0)
        value = fallback;
    return value < least ? least : value > most ? most : value;
}

static void resolve(const ridge_bench_options *given, ridge_bench_options *out)
{
    *out = given != NULL ? *given : (ridge_bench_options){0};
    if (!(out->budget_s > 0))
        out->budget_s = 60;
    out->pilot = within(out->pilot, 6, 2, BENCH_PLACEMENTS);
    out->most = within(out->most, 24, out->pilot, BENCH_PLACEMENTS);
    out->blocks = within(out->blocks, 4, 1, BENCH_BLOCKS);
    if (out->seed == 0)
        out->seed = 1;
}

ridge_status bench_run_open(bench_run *run, ridge_device *device, const ridge_bench_arm *a,
                            const ridge_bench_arm *b, const ridge_case *at,
                            const ridge_bench_options *options, const ridge_bench_sink *sink,
                            ridge_error *err)
{
    static const ridge_bench_sink NO_SINK = {.context = NULL};
    const ridge_bench_arm *const arms[BENCH_ARMS] = {a, b};
    ridge_status status;
    int i, k;

    memset(run, 0, sizeof(*run));
    run->device = device;
    run->info = ridge_device_get_info(device);
    run->is_gpu = run->info->kind == RIDGE_DEVICE_CUDA;
    run->sink = sink != NULL ? sink : &NO_SINK;
    run->started_s = run->placements_begin_s = bench_now_s();
    run->power_most_frac = NAN;
    resolve(options, &run->options);
    run->chance.state = run->options.seed;
    if (at != NULL)
        run->at = *at;
    for (i = 0; i < BENCH_ARMS && arms[i] != NULL; i++) {
        run->arms[i].given = arms[i];
        run->arms[i].kernel = arms[i]->kernel;
        run->arms[i].role = b == NULL ? "" : i == 0 ? "baseline" : "candidate";
        run->arms[i].time_ns = run->arms[i].least_ns = NAN;
        for (k = 0; k < BENCH_SETS; k++)
            run->arms[i].set_least_ns[k] = NAN;
        run->arm_count++;
    }
    status = ridge_device_make_current(device, err);
    if (status == RIDGE_OK)
        status = ridge_stream_create(device, &run->stream, err);
    for (i = 0; i < BENCH_EVENTS && status == RIDGE_OK; i++)
        status = ridge_event_create(device, &run->events[i], err);
    return status;
}

void bench_run_release(bench_run *run)
{
    int i;

    bench_placement_release(run, &run->placement);
    bench_shelf_release(run);
    for (i = 0; i < run->arm_count; i++) {
        bench_arm_state *const arm = &run->arms[i];
        bench_series *const series[] = {&arm->medians, &arm->singles,  &arm->p10,    &arm->p90,
                                        &arm->iqr,     &arm->clocks,   &arm->powers, &arm->idles,
                                        &arm->skews,   &arm->set_skews};
        size_t k;

        for (k = 0; k < sizeof(series) / sizeof(series[0]); k++)
            bench_series_release(series[k]);
    }
    bench_series_release(&run->times);
    ridge_free(run->samples);
    for (i = 0; i < BENCH_EVENTS; i++)
        ridge_event_free(run->events[i]);
    ridge_stream_free(run->stream);
}

/* -- before the first slot --------------------------------------------------------------------- */

static ridge_status describe(bench_run *run, ridge_error *err)
{
    const ridge_kernel *kernels[BENCH_ARMS] = {run->arms[0].kernel, run->arms[1].kernel};
    size_t free_bytes = 0, most;
    ridge_status status;
    double bytes;
    int i;

    status =
        bench_buffers_describe(kernels, run->arm_count, &run->at,
                               bench_guarded(run, RIDGE_GUARD_SHARE_BUFFERS), &run->buffers, err);
    for (i = 0; i < run->arm_count && status == RIDGE_OK; i++)
        status = ridge_kernel_work_of(kernels[i], &run->at, &run->arms[i].work, err);
    if (status == RIDGE_OK)
        status = ridge_device_free_bytes(run->device, &free_bytes, err);
    if (status != RIDGE_OK)
        return status;
    bytes = run->arms[0].work.footprint_bytes;
    if (!(bytes > 0))
        bytes = run->arms[1].work.footprint_bytes;
    run->footprint_bytes = bytes > 0 ? bytes : (double)run->buffers.span_bytes;
    /* Two placements live at once, and the shelf beside them. The CPU fills slowly, and a cache of
     * hundreds of MiB is shared with others: rotation_l2 says when sets fit it. */
    most = free_bytes / 3;
    if (!run->is_gpu && most > CPU_SETS_BYTES)
        most = CPU_SETS_BYTES;
    run->rotation = run->options.cache == RIDGE_CACHE_HOT
                        ? 1
                        : bench_rotation_sets(run->footprint_bytes, (double)run->info->l2_bytes,
                                              run->buffers.set_bytes, most);
    return bench_shelf_open(run, free_bytes / 16, err);
}

/* A launch of each arm on some sets that nobody times: code is loaded, pages are mapped. */
static ridge_status touch(bench_run *run, ridge_error *err)
{
    const int sets = run->rotation < 16 ? run->rotation : 16;
    ridge_status status = RIDGE_OK;
    int arm, set;

    for (arm = 0; arm < run->arm_count && status == RIDGE_OK; arm++) {
        for (set = 0; set < sets && status == RIDGE_OK; set++)
            status = bench_launch(run, arm, set, err);
        if (status == RIDGE_OK)
            status = bench_wait(run, arm, err);
    }
    return status;
}

/* What waits for the device in launch() would wait for the gate: it is timed without one. */
static ridge_status estimate(bench_run *run, bool can_capture, ridge_error *err)
{
    const ridge_mode mode = run->is_gpu && !can_capture ? RIDGE_MODE_BATCH : RIDGE_MODE_EVENT;
    ridge_status status = RIDGE_OK;
    int arm;

    for (arm = 0; arm < run->arm_count && status == RIDGE_OK; arm++) {
        ridge_slot slot = {0};

        status = bench_slot_time(run, arm, mode, ESTIMATE_LAUNCHES, 0, &slot, err);
        run->arms[arm].time_ns = fmax(slot.median_ns, 1);
    }
    return status;
}

static int round_up(double count, int multiple, double most)
{
    const double rounded = ceil(count / multiple) * multiple;

    return (int)(rounded <= most ? rounded : count);
}

/* Of a single launch in a graph: without what events add. */
static double queued_time_ns(const bench_run *run, double single_ns)
{
    return run->is_gpu ? single_ns - run->floors.kernel_ns + run->floors.graph_ns : single_ns;
}

/* Mode and launches of a slot: about 1 ms, at most 20 ms, whole rounds of the sets if they fit. */
static void choose_slots(bench_run *run, bool can_capture)
{
    const double least_ns = run->arm_count > 1 ? fmin(run->arms[0].time_ns, run->arms[1].time_ns)
                                               : run->arms[0].time_ns;
    const double most_ns = run->arm_count > 1 ? fmax(run->arms[0].time_ns, run->arms[1].time_ns)
                                              : run->arms[0].time_ns;
    const double queued_ns = fmax(queued_time_ns(run, least_ns), 500);
    double most = floor(SLOT_MOST_NS / most_ns), wanted;

    run->mode = run->options.mode;
    if (run->mode == RIDGE_MODE_AUTO)
        run->mode = least_ns >= EVENT_LEAST_NS ? RIDGE_MODE_EVENT
                    : run->is_gpu              ? RIDGE_MODE_GRAPH
                                               : RIDGE_MODE_BATCH;
    if (run->mode == RIDGE_MODE_GRAPH && !can_capture)
        run->mode = RIDGE_MODE_BATCH;
    if (run->is_gpu && run->mode == RIDGE_MODE_EVENT && !can_capture)
        run->mode = RIDGE_MODE_BATCH;
    most = most < 1 ? 1 : most > BATCH_MOST ? BATCH_MOST : most;
    if (run->mode == RIDGE_MODE_GRAPH) {
        run->graph_launches =
            round_up(fmin(ceil(GRAPH_NS / queued_ns), NODES_MOST), run->rotation, NODES_MOST);
        run->launches =
            (int)fmax(GRAPHS_LEAST, fmin(ceil(SLOT_NS / queued_ns / run->graph_launches),
                                         floor(most / run->graph_launches)));
        return;
    }
    wanted = fmin(fmax(SLOT_LAUNCHES, ceil(SLOT_NS / least_ns)), most);
    /* Sets that are in the cache all together are so after part of a round as well. */
    if (run->is_gpu && !bench_is_cold(run))
        most = fmin(most, 4 * wanted);
    run->launches = round_up(wanted, run->rotation, most);
    if (run->mode == RIDGE_MODE_BATCH && run->launches > BENCH_BATCHES)
        run->launches -= run->launches % BENCH_BATCHES;
}

/* The last slots of every arm show no trend: Theil and Sen's slope over them is below 0.2 %. */
static bool has_settled(double recent[BENCH_ARMS][TREND_SLOTS], int arm_count, int rounds)
{
    double ordered[TREND_SLOTS];
    int arm, i;

    if (rounds < TREND_SLOTS)
        return false;
    for (arm = 0; arm < arm_count; arm++) {
        for (i = 0; i < TREND_SLOTS; i++)
            ordered[i] = recent[arm][(rounds + i) % TREND_SLOTS];
        if (!(fabs(bench_trend(ordered, TREND_SLOTS)) * TREND_SLOTS <
              0.002 * ridge_stat_median(ordered, TREND_SLOTS)))
            return false;
    }
    return true;
}

static ridge_status warm_up(bench_run *run, ridge_error *err)
{
    const double begin_s = bench_now_s(), share_s = run->options.budget_s / 4;
    double least_s = fmin(run->is_gpu ? 0.3 : 0.05, share_s);
    const double most_s = fmin(run->is_gpu ? 5 : 0.1, share_s);
    double recent[BENCH_ARMS][TREND_SLOTS] = {{0}};
    ridge_status status = RIDGE_OK;
    int rounds, arm;

    for (arm = 0; arm < run->arm_count && status == RIDGE_OK; arm++)
        if (bench_guarded(run, RIDGE_GUARD_SHARED))
            status = bench_sample_scrambled(run, arm, ESTIMATE_LAUNCHES - 1, err);
    for (rounds = 0; status == RIDGE_OK && !bench_should_stop(run); rounds++) {
        const double spent_s = bench_now_s() - begin_s;

        if ((run->clock_reasons & RIDGE_CLOCK_POWER_CAP) != 0)
            least_s = fmin(3, share_s); /* power settles in seconds */
        if (spent_s >= most_s ||
            (spent_s >= least_s && has_settled(recent, run->arm_count, rounds)))
            break;
        bench_progress(run, RIDGE_PHASE_WARM_UP, (int)(spent_s * 10), (int)(most_s * 10));
        for (arm = 0; arm < run->arm_count && status == RIDGE_OK && !bench_should_stop(run);
             arm++) {
            ridge_slot slot;

            status = bench_slot(run, arm, -1, 0, 0, &slot, err);
            recent[arm][rounds % TREND_SLOTS] = slot.median_ns;
        }
    }
    run->clock_reasons = 0; /* of the measured slots only */
    return status;
}

static ridge_status ask_agreement(bench_run *run, ridge_error *err)
{
    char cause[sizeof(run->invalid_cause)] = "";
    ridge_status status = RIDGE_OK;

    if (run->sink->agree != NULL && run->arm_count > 1)
        status = run->sink->agree(run->sink->context, cause, sizeof(cause), err);
    if (status == RIDGE_OK && cause[0] != '\0')
        bench_invalidate(run, RIDGE_GUARD_CHECK, "%s", cause);
    return status;
}

ridge_status bench_run_start(bench_run *run, ridge_error *err)
{
    ridge_status status;
    bool can_capture = true;
    double baseline_ns;
    int arm;

    bench_progress(run, RIDGE_PHASE_PREPARE, 0, 0);
    run->is_busy = ridge_device_other_processes(run->device) > 0;
    ridge_device_reset_persisting_l2(run->device);
    status = describe(run, err);
    if (status != RIDGE_OK)
        return status;
    bench_progress(run, RIDGE_PHASE_CHECK, 0, 0);
    status = bench_guards_before(run, err);
    if (status == RIDGE_OK && !run->is_invalid)
        status = ask_agreement(run, err);
    if (status != RIDGE_OK || run->is_invalid)
        return status;
    bench_progress(run, RIDGE_PHASE_FLOORS, 0, 0);
    status = bench_floors(run, err);
    if (status == RIDGE_OK && run->options.roofs != NULL) {
        run->roofs = *run->options.roofs;
        run->has_roofs = true;
        run->roofs_bind = run->is_gpu || !run->roofs.is_measured; /* of a CPU: one thread's */
    } else if (status == RIDGE_OK && run->options.measure_roofs) {
        status = ridge_bench_roofs(run->device, &run->roofs, err);
        run->has_roofs = status == RIDGE_OK;
        run->roofs_bind = run->has_roofs && run->is_gpu;
        if (run->has_roofs && run->sink->roofs != NULL)
            run->sink->roofs(run->sink->context, &run->roofs);
    }
    /* Floors and roofs are of the session, the budget is of the case. */
    run->deadline_s = bench_now_s() + run->options.budget_s;
    if (status == RIDGE_OK)
        status = bench_placement_renew(run, err);
    if (status == RIDGE_OK)
        status = bench_arms_agree(run, err);
    if (status != RIDGE_OK || run->is_invalid)
        return status;
    status = touch(run, err);
    for (arm = 0; arm < run->arm_count && status == RIDGE_OK && run->is_gpu; arm++)
        can_capture = bench_path_of(run, arm) && can_capture;
    if (status == RIDGE_OK)
        status = estimate(run, can_capture, err);
    if (status != RIDGE_OK)
        return status;
    choose_slots(run, can_capture);
    baseline_ns = run->arms[0].time_ns;
    if (run->options.delta <= 0)
        run->options.delta = bench_is_launch_bound(run, run->mode == RIDGE_MODE_GRAPH
                                                            ? queued_time_ns(run, baseline_ns)
                                                            : baseline_ns)
                                 ? 0.02
                                 : 0.01;
    status = bench_graphs_capture(run, err);
    return status == RIDGE_OK ? warm_up(run, err) : status;
}

/* -- placements -------------------------------------------------------------------------------- */

/* ABBA or BAAB on the same sets in the same order; its value. One arm: two slots. */
static ridge_status run_block(bench_run *run, int block, unsigned order, double *value,
                              ridge_error *err)
{
    static const int orders[2][4] = {{0, 1, 1, 0}, {1, 0, 0, 1}};
    const int slots = run->arm_count > 1 ? 4 : 2;
    const int start = (int)bench_chance_below(&run->chance, (unsigned)run->rotation);
    double sum[BENCH_ARMS] = {0}, logs[BENCH_ARMS] = {0};
    ridge_status status = RIDGE_OK;
    int position;

    *value = NAN;
    for (position = 0; position < slots && status == RIDGE_OK; position++) {
        const int arm = run->arm_count > 1 ? orders[order][position] : 0;
        ridge_slot slot;

        status = bench_slot(run, arm, block, position, start, &slot, err);
        logs[arm] += log(slot.median_ns);
        sum[arm] += slot.median_ns;
        if (bench_should_stop(run) && position + 1 < slots)
            return status;
    }
    if (status == RIDGE_OK) {
        *value = run->arm_count > 1 ? (logs[1] - logs[0]) / 2 : sum[0] / 2;
        run->block_count++;
    }
    return status;
}

/* Single launches beside amortised ones, to compare with what others measure. */
static ridge_status run_singles(bench_run *run, ridge_error *err)
{
    ridge_status status = RIDGE_OK;
    int arm;

    for (arm = 0; arm < run->arm_count && run->mode == RIDGE_MODE_GRAPH && status == RIDGE_OK;
         arm++) {
        ridge_slot slot = {0};

        status = bench_slot_time(run, arm, RIDGE_MODE_EVENT, 50, 0, &slot, err);
        if (status == RIDGE_OK)
            status = bench_series_add(&run->arms[arm].singles, slot.median_ns, err);
    }
    return status;
}

static ridge_status run_placement(bench_run *run, ridge_error *err)
{
    double values[BENCH_BLOCKS], value;
    ridge_status status = RIDGE_OK;
    unsigned order = 0;
    int blocks;

    /* The unsafe trap keeps each arm's own buffers for the whole run, as most harnesses do. */
    if (run->placement_count > 0 && bench_guarded(run, RIDGE_GUARD_SHARE_BUFFERS)) {
        status = bench_placement_renew(run, err);
        if (status == RIDGE_OK)
            status = bench_graphs_capture(run, err);
        if (status == RIDGE_OK)
            status = touch(run, err);
    }
    for (blocks = 0; blocks < run->options.blocks && status == RIDGE_OK; blocks++) {
        /* Drawn by pairs: what only the first slot of a block has is in both orders. */
        order = blocks % 2 == 0 ? bench_chance_below(&run->chance, 2) : 1 - order;
        if (blocks > 0 && bench_guarded(run, RIDGE_GUARD_SHARE_BUFFERS))
            status = bench_graphs_capture(run, err);
        if (status == RIDGE_OK)
            status = run_block(run, blocks, order, &values[blocks], err);
        if (status != RIDGE_OK || isnan(values[blocks]))
            break;
        if (bench_should_stop(run) || run->is_invalid) {
            blocks++;
            break;
        }
    }
    if (status == RIDGE_OK && !run->is_interrupted)
        status = run_singles(run, err);
    if (status == RIDGE_OK)
        status = bench_sets_sum_up(run, err);
    if (status != RIDGE_OK || blocks == 0)
        return status;
    value = run->arm_count > 1 ? ridge_stat_centre(values, (size_t)blocks)
                               : ridge_stat_median(values, (size_t)blocks);
    if (run->sink->placement != NULL)
        run->sink->placement(run->sink->context, run->placement_count, run->placement.address_hash,
                             value);
    run->placements[run->placement_count++] = value;
    return status;
}

/* Placements in all, from the pilot's spread and the time that is left. */
static int plan(const bench_run *run)
{
    const int pilot = run->placement_count;
    const double now_s = bench_now_s();
    const double each_s = (now_s - run->placements_begin_s) / pilot;
    const double affordable = floor((run->deadline_s - now_s) / each_s);
    const double half_width = fmax(run->options.delta / 2, BENCH_LEAST_HALF_WIDTH);
    int most = run->options.most;

    if (run->arm_count < 2)
        return pilot;
    if (affordable < most - pilot)
        most = affordable > 0 ? pilot + (int)affordable : pilot;
    return ridge_plan_placements(ridge_stat_sd(run->placements, (size_t)pilot), pilot, half_width,
                                 most);
}

ridge_status bench_run_placements(bench_run *run, ridge_error *err)
{
    ridge_phase phase = run->options.null_control ? RIDGE_PHASE_NULL : RIDGE_PHASE_PILOT;
    ridge_status status = RIDGE_OK;
    int planned = run->options.pilot;

    run->placements_begin_s = bench_now_s();
    while (run->placement_count < planned && status == RIDGE_OK && !bench_should_stop(run) &&
           !run->is_invalid) {
        bench_progress(run, phase, run->placement_count, planned);
        status = run_placement(run, err);
        if (run->placement_count >= 2 && bench_now_s() > run->deadline_s)
            break; /* a budget that ends in the pilot: what there is is the pilot */
        if (run->placement_count == run->options.pilot && phase != RIDGE_PHASE_MEASURE) {
            planned = plan(run);
            phase = RIDGE_PHASE_MEASURE;
        }
    }
    if (run->placement_count > 0)
        run->each_s = (bench_now_s() - run->placements_begin_s) / run->placement_count;
    run->setup_s = run->placements_begin_s - (run->deadline_s - run->options.budget_s);
    return status;
}
