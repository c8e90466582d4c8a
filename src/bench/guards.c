/* SPDX-License-Identifier: Apache-2.0
 *
 * Guards against ways to look fast (docs/decisions/0005-measuring-loop.md). Each is a row with what
 * it does before, at the end of each slot, and after the run; any may say that the result is
 * invalid, and the first that does is kept. REFILL, OUTPUTS and SHARED look at the samples of
 * outputs.c; IDENTITY and SHARE_BUFFERS act where arms are opened and buffers are made;
 * NULL_CONTROL where the interval is known. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bench_internal.h"
#include "ridge/check.h"

const char *ridge_guard_name(ridge_guard guard)
{
    static const char *const names[] = {
#define GUARD_TEXT(name, text) text,
        RIDGE_GUARD_LIST(GUARD_TEXT)
#undef GUARD_TEXT
    };

    return (unsigned)guard < RIDGE_GUARD_COUNT ? names[guard] : "unknown";
}

bool bench_guarded(const bench_run *run, ridge_guard guard)
{
    return (run->options.without & (uint64_t)1 << guard) == 0;
}

void bench_invalidate(bench_run *run, ridge_guard guard, const char *format, ...)
{
    va_list arguments;

    if (run->is_invalid)
        return;
    run->is_invalid = true;
    snprintf(run->invalid_guard, sizeof(run->invalid_guard), "%s", ridge_guard_name(guard));
    va_start(arguments, format);
    vsnprintf(run->invalid_cause, sizeof(run->invalid_cause), format, arguments);
    va_end(arguments);
}

/* -- check ------------------------------------------------------------------------------------- */

/* What decides in little time: right on the case's own values and on integers, every element
 * written, nothing else touched, and no constant. */
#define QUICK_TESTS                                                                                \
    (1u << RIDGE_TEST_VALUES | 1u << RIDGE_TEST_INTEGERS | 1u << RIDGE_TEST_WRITTEN |              \
     1u << RIDGE_TEST_GUARDS | 1u << RIDGE_TEST_INPUTS | 1u << RIDGE_TEST_DIFFERENT)

static ridge_status check_before(bench_run *run, int arm, ridge_error *err)
{
    const ridge_check_options options = {
        .tests = QUICK_TESTS, .repeats = 2, .verify_elements = 1 << 20};
    ridge_check_result result;
    ridge_error cause = {0};
    char title[160];
    ridge_status status;
    size_t i;

    status =
        ridge_check_kernel(run->device, run->arms[arm].kernel, &run->at, &options, &result, &cause);
    if (status != RIDGE_OK)
        return bench_arm_failed(run, arm, "check", status, &cause, err);
    bench_arm_title(run, arm, title, sizeof(title));
    for (i = 0; i < result.test_count; i++) {
        const ridge_test_result *const test = &result.tests[i];

        if (result.outcome == RIDGE_OUTCOME_REFUSED && test->outcome == RIDGE_OUTCOME_REFUSED)
            return ridge_fail(err, RIDGE_ERR_UNSUPPORTED, "%s does not take the case: %s", title,
                              test->text);
        if (test->outcome == RIDGE_OUTCOME_FAIL)
            bench_invalidate(run, RIDGE_GUARD_CHECK, "%s fails the %s test: %s", title,
                             ridge_test_name(test->test), test->text);
    }
    return RIDGE_OK;
}

/* -- idle -------------------------------------------------------------------------------------- */

/* What waiting for the whole context may add to waiting for the stream, in the median slot: an
 * honest kernel's host took up to 6.3 us for it on an H200 in a virtual machine, an expression of
 * torch in batches likewise; what is worth hiding is a share of a slot of 1 ms or more. Not the
 * least slot: a patient cheat leaves the first ones alone. */
static const double IDLE_MOST_NS = 10000, IDLE_MOST_BATCH_NS = 20000;

/* On a GPU: waiting for everything in the context must add nothing to waiting for the stream. On
 * the CPU: what was written stays as it is. */
static ridge_status idle_slot(bench_run *run, int arm, int set, ridge_error *err)
{
    const struct timespec wait = {.tv_nsec = 2000000};
    const double begin_s = bench_now_s();
    uint64_t before = 0, after = 0;
    char title[160];
    ridge_status status;

    if (run->is_gpu) {
        status = ridge_device_synchronize(run->device, err);
        if (status == RIDGE_OK)
            status = bench_series_add(&run->arms[arm].idles, (bench_now_s() - begin_s) * 1e9, err);
        return status;
    }
    status = bench_outputs_hash(run, arm, set, &before, err);
    if (status != RIDGE_OK)
        return status;
    nanosleep(&wait, NULL);
    status = bench_outputs_hash(run, arm, set, &after, err);
    if (status == RIDGE_OK && before != after) {
        bench_arm_title(run, arm, title, sizeof(title));
        bench_invalidate(run, RIDGE_GUARD_IDLE,
                         "%s: outputs changed after the end of a slot: work goes on elsewhere",
                         title);
    }
    return status;
}

/* Beyond the floor and, of two arms, beyond the one that has less: what both have is the host's. */
static ridge_status idle_after(bench_run *run, int arm, ridge_error *err)
{
    const double most_ns = run->mode == RIDGE_MODE_BATCH ? IDLE_MOST_BATCH_NS : IDLE_MOST_NS;
    const double mine_ns = bench_series_median(&run->arms[arm].idles);
    const double other_ns =
        run->arm_count > 1 ? bench_series_median(&run->arms[1 - arm].idles) : NAN;
    const double excess_ns =
        mine_ns - fmax(run->idle_floor_ns, isnan(other_ns) ? 0 : fmin(mine_ns, other_ns));
    char title[160];

    (void)err;
    if (!(excess_ns > most_ns))
        return RIDGE_OK;
    bench_arm_title(run, arm, title, sizeof(title));
    bench_invalidate(run, RIDGE_GUARD_IDLE,
                     "%s: the device was busy for %.1f us after the end of a slot, expected below "
                     "%.0f: work on another stream?",
                     title, excess_ns / 1e3, most_ns / 1e3);
    return RIDGE_OK;
}

/* -- roof, bimodal, persisting ----------------------------------------------------------------- */

/* Where an arm that has something to write must launch at least that; NAN elsewhere. */
static double empty_kernel_ns(const bench_run *run, int arm)
{
    if (!run->is_gpu || !(run->arms[arm].work.written_bytes > 0))
        return NAN;
    return run->mode == RIDGE_MODE_EVENT   ? run->floors.kernel_ns
           : run->mode == RIDGE_MODE_GRAPH ? run->floors.graph_ns
                                           : NAN;
}

static ridge_status roof_after(bench_run *run, int arm, ridge_error *err)
{
    const double bound_ns = bench_bound_ns(run, arm), time_ns = bench_arm_time_ns(run, arm);
    char title[160];

    const double empty_ns = empty_kernel_ns(run, arm);

    (void)err;
    if (time_ns < 0.5 * empty_ns) {
        bench_arm_title(run, arm, title, sizeof(title));
        bench_invalidate(run, RIDGE_GUARD_ROOF,
                         "%s: %.4g us a launch, an empty kernel takes %.4g us: most launches do "
                         "nothing",
                         title, time_ns / 1e3, empty_ns / 1e3);
        return RIDGE_OK;
    }
    if (!(time_ns < 0.98 * bound_ns))
        return RIDGE_OK;
    bench_arm_title(run, arm, title, sizeof(title));
    bench_invalidate(run, RIDGE_GUARD_ROOF,
                     "%s: %.4g us a launch, but its bytes or operations take %.4g us at the "
                     "measured rates: it cannot do all of its work",
                     title, time_ns / 1e3, bound_ns / 1e3);
    return RIDGE_OK;
}

/* Times of a launch are two, not one. On the CPU, where honest launches are preempted, only
 * much counts: the others do next to nothing. The median over placements and slots, not the least: a
 * cheat may be patient. */
static const double SKEW_MOST = 1.5, SET_SKEW_MOST_CPU = 3, SLOT_SKEW_MOST_CPU = 8;
/* A set's least time of fewer launches may be that of one that was preempted. */
enum { SET_LAUNCHES = 4 };

void bench_sets_note(bench_run *run, int arm, int start)
{
    double *const least = run->arms[arm].set_least_ns;
    size_t i;

    for (i = 0; i < run->times.count && run->mode == RIDGE_MODE_EVENT; i++) {
        const size_t index = ((size_t)start + i) % (size_t)run->rotation;
        double *const set = &least[index];

        run->arms[arm].set_launches[index]++;
        if (!(*set <= run->times.values[i]))
            *set = run->times.values[i];
    }
}

ridge_status bench_sets_sum_up(bench_run *run, ridge_error *err)
{
    ridge_status status = RIDGE_OK;
    int arm, set;

    for (arm = 0; arm < run->arm_count && status == RIDGE_OK; arm++) {
        bench_arm_state *const state = &run->arms[arm];
        double known[BENCH_SETS];
        size_t count = 0;

        for (set = 0; set < run->rotation; set++)
            if (state->set_launches[set] >= SET_LAUNCHES)
                known[count++] = state->set_least_ns[set];
        if (count >= 2)
            status = bench_series_add(
                &state->set_skews, ridge_stat_mean(known, count) / ridge_stat_median(known, count),
                err);
        for (set = 0; set < BENCH_SETS; set++) {
            state->set_least_ns[set] = NAN;
            state->set_launches[set] = 0;
        }
    }
    return status;
}

/* One set takes longer in most placements, or some launch of most slots. */
static ridge_status bimodal_after(bench_run *run, int arm, ridge_error *err)
{
    const double by_set = bench_series_median(&run->arms[arm].set_skews);
    const double by_slot = bench_series_median(&run->arms[arm].skews);
    const bool is_two = by_set > (run->is_gpu ? SKEW_MOST : SET_SKEW_MOST_CPU) ||
                        by_slot > (run->is_gpu ? SKEW_MOST : SLOT_SKEW_MOST_CPU);
    const double skew = fmax(by_set, by_slot);
    char title[160];

    (void)err;
    if (run->mode != RIDGE_MODE_EVENT || !is_two)
        return RIDGE_OK;
    bench_arm_title(run, arm, title, sizeof(title));
    bench_invalidate(run, RIDGE_GUARD_BIMODAL,
                     "%s: launches take two times, their mean is %.3g of the median: does one do "
                     "the work of many?",
                     title, skew);
    return RIDGE_OK;
}

/* The limit was set to 0 when the run began. */
static ridge_status persisting_slot(bench_run *run, int arm, int set, ridge_error *err)
{
    const size_t limit = ridge_device_persisting_l2_limit(run->device);
    char title[160];

    (void)set;
    (void)err;
    if (limit == 0)
        return RIDGE_OK;
    bench_arm_title(run, arm, title, sizeof(title));
    bench_invalidate(
        run, RIDGE_GUARD_PERSISTING,
        "%s: the persisting-L2 limit is %zu bytes after a slot, it was 0: data is kept "
        "in the cache",
        title, limit);
    return RIDGE_OK;
}

/* -- the table --------------------------------------------------------------------------------- */

typedef struct guard_row {
    ridge_guard guard;
    ridge_status (*before)(bench_run *run, int arm, ridge_error *err);
    ridge_status (*slot)(bench_run *run, int arm, int set, ridge_error *err);
    ridge_status (*after)(bench_run *run, int arm, ridge_error *err);
} guard_row;

static const guard_row GUARDS[] = {
    {RIDGE_GUARD_CHECK, check_before, NULL, NULL},
    {RIDGE_GUARD_IDLE, NULL, idle_slot, idle_after}, /* its slot() is timed: first */
    {RIDGE_GUARD_PERSISTING, NULL, persisting_slot, NULL},
    {RIDGE_GUARD_BIMODAL, NULL, NULL, bimodal_after},
    {RIDGE_GUARD_ROOF, NULL, NULL, roof_after},
};
enum { GUARD_ROWS = sizeof(GUARDS) / sizeof(GUARDS[0]) };

ridge_status bench_guards_before(bench_run *run, ridge_error *err)
{
    ridge_status status = RIDGE_OK;
    int row, arm;

    for (row = 0; row < GUARD_ROWS; row++)
        for (arm = 0; arm < run->arm_count && status == RIDGE_OK; arm++)
            if (GUARDS[row].before != NULL && bench_guarded(run, GUARDS[row].guard))
                status = GUARDS[row].before(run, arm, err);
    return status;
}

ridge_status bench_guards_slot(bench_run *run, int arm, int set, ridge_error *err)
{
    ridge_status status = RIDGE_OK;
    int row;

    for (row = 0; row < GUARD_ROWS && status == RIDGE_OK; row++)
        if (GUARDS[row].slot != NULL && bench_guarded(run, GUARDS[row].guard))
            status = GUARDS[row].slot(run, arm, set, err);
    return status;
}

/* Of arms whose buffers are their own. */
static ridge_status ask_after(bench_run *run, ridge_error *err)
{
    char cause[sizeof(run->invalid_cause)] = "";
    ridge_guard guard = RIDGE_GUARD_OUTPUTS;
    ridge_status status = RIDGE_OK;

    if (run->sink->after != NULL)
        status = run->sink->after(run->sink->context, &guard, cause, sizeof(cause), err);
    if (status == RIDGE_OK && cause[0] != '\0')
        bench_invalidate(run, guard, "%s", cause);
    return status;
}

ridge_status bench_guards_after(bench_run *run, ridge_error *err)
{
    ridge_status status = RIDGE_OK;
    int row, arm;

    for (row = 0; row < GUARD_ROWS; row++)
        for (arm = 0; arm < run->arm_count && status == RIDGE_OK; arm++)
            if (GUARDS[row].after != NULL && bench_guarded(run, GUARDS[row].guard))
                status = GUARDS[row].after(run, arm, err);
    if (status == RIDGE_OK && !run->is_invalid)
        status = bench_samples_check(run, err);
    return status == RIDGE_OK && !run->is_invalid ? ask_after(run, err) : status;
}
