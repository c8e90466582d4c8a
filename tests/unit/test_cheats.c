/* SPDX-License-Identifier: Apache-2.0
 *
 * Ways to look fast, each caught by its guard and by nothing else: without the guard the cheat
 * gets its verdict. */
#include <pthread.h>

#include "bench_support.h"

static ridge_device *device;

/* -- the ways ---------------------------------------------------------------------------------- */

/* Remembers what a pair of addresses came to, for as long as it is used. */
typedef struct memory {
    const float *in[SPIN_SETS];
    float out[SPIN_SETS][SPIN_ELEMENTS];
    int count;
} memory;

static ridge_status caches_by_address(spin *self, int index, const float *in, float *out,
                                      ridge_error *err)
{
    memory *const known = self->data;
    int i;

    (void)index;
    (void)err;
    if (self->set_count > 0 && self->sets[0].in != known->in[SPIN_SETS - 1]) {
        known->count = 0; /* a new placement */
        known->in[SPIN_SETS - 1] = self->sets[0].in;
    }
    for (i = 0; i < known->count && known->in[i] != in; i++)
        ;
    if (i == known->count) {
        known->in[known->count] = in;
        spin_double(in, known->out[known->count++]);
    }
    memcpy(out, known->out[i], sizeof(known->out[i]));
    return RIDGE_OK;
}

static ridge_status right_until_timed(spin *self, int index, const float *in, float *out,
                                      ridge_error *err)
{
    (void)index;
    (void)err;
    if (self->launched < 300)
        spin_double(in, out);
    return RIDGE_OK;
}

/* The first set's launch does the work of all; the others return at once. */
static ridge_status all_at_once(spin *self, int index, const float *in, float *out,
                                ridge_error *err)
{
    int i;

    (void)in;
    (void)out;
    (void)err;
    self->spin_ns = index == 0 ? 20e3 * self->set_count : 0;
    for (i = 0; i < self->set_count && index == 0; i++)
        spin_double(self->sets[i].in, self->sets[i].out);
    return RIDGE_OK;
}

/* Right only when sets come in the order they were prepared in. */
static ridge_status carries_over(spin *self, int index, const float *in, float *out,
                                 ridge_error *err)
{
    const bool is_next = index == (self->last + 1) % self->set_count;

    (void)err;
    self->last = index;
    spin_double(in, out);
    if (!is_next)
        memcpy(out, in, SPIN_ELEMENTS * sizeof(*out));
    return RIDGE_OK;
}

/* Another thread does the work after launch() returned. */
static struct worker {
    pthread_t thread;
    pthread_mutex_t lock;
    const float *in;
    float *out;
    bool is_over;
} worker = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *work_late(void *context)
{
    const struct timespec pause = {.tv_nsec = 300000};

    for (;;) {
        bool is_over;

        nanosleep(&pause, NULL);
        pthread_mutex_lock(&worker.lock);
        if (worker.out != NULL)
            spin_double(worker.in, worker.out);
        worker.out = NULL;
        is_over = worker.is_over;
        pthread_mutex_unlock(&worker.lock);
        if (is_over)
            return context;
    }
}

static ridge_status works_elsewhere(spin *self, int index, const float *in, float *out,
                                    ridge_error *err)
{
    (void)self;
    (void)index;
    (void)err;
    pthread_mutex_lock(&worker.lock);
    worker.in = in;
    worker.out = out;
    pthread_mutex_unlock(&worker.lock);
    return RIDGE_OK;
}

/* Before its buffers go. */
static void forget_work(const ridge_kernel *self, void *state)
{
    pthread_mutex_lock(&worker.lock);
    worker.out = NULL;
    pthread_mutex_unlock(&worker.lock);
    spin_finish(self, state);
}

/* -- the table --------------------------------------------------------------------------------- */

#define OFF(guard) ((uint64_t)1 << RIDGE_GUARD_##guard)

static ridge_status writes_a_part(spin *self, int index, const float *in, float *out,
                                  ridge_error *err)
{
    int i;

    (void)self;
    (void)index;
    (void)err;
    for (i = 0; i < SPIN_ELEMENTS - 1; i++)
        out[i] = 2 * in[i];
    return RIDGE_OK;
}

static struct cheat_case {
    const char *name;
    ridge_status (*compute)(spin *self, int index, const float *in, float *out, ridge_error *err);
    double spin_us; /* of the cheat; the baseline takes 60 */
    ridge_guard guard;
    uint64_t without; /* guards that would see it too */
    ridge_mode mode;
    double footprint_bytes; /* 0: the buffers' */
    double flop_count;      /* that the cheat says it does; a rate of 1e12 a second is known */
    const char *cause;
} cheat_cases[] = {
    {"leaves an element out", writes_a_part, 30, RIDGE_GUARD_CHECK, OFF(OUTPUTS) | OFF(SHARED),
     RIDGE_MODE_EVENT, 0, 0, "candidate cheat fails the "},
    {"caches by address", caches_by_address, 30, RIDGE_GUARD_REFILL, OFF(CHECK) | OFF(SHARED),
     RIDGE_MODE_EVENT, 0, 0,
     "candidate cheat: a timed launch left in out the result of inputs that were there before"},
    {"right in the check only", right_until_timed, 30, RIDGE_GUARD_OUTPUTS, OFF(SHARED),
     RIDGE_MODE_EVENT, 0, 0, "of out is wrong after a timed launch"},
    {"works in another thread", works_elsewhere, 30, RIDGE_GUARD_IDLE,
     OFF(CHECK) | OFF(OUTPUTS) | OFF(SHARED), RIDGE_MODE_EVENT, 0, 0,
     "outputs changed after the end of a slot"},
    {"faster than arithmetic allows", NULL, 30, RIDGE_GUARD_ROOF, 0, RIDGE_MODE_EVENT, 0, 1e9,
     "its bytes or operations take 1000 us"},
    {"does all sets at once", all_at_once, 0, RIDGE_GUARD_BIMODAL, OFF(CHECK) | OFF(SHARED),
     RIDGE_MODE_EVENT, 0, 0, "launches take two times"},
    {"carries over from launch to launch", carries_over, 30, RIDGE_GUARD_SHARED, OFF(CHECK),
     RIDGE_MODE_EVENT, 1e12, 0, "when order and shared memory were disturbed"},
};

static void run(const struct cheat_case *test, uint64_t without, ridge_comparison *result)
{
    ridge_bench_options options = spin_options();
    ridge_roofs roofs;
    ridge_bench_arm arms[2];
    ridge_error err = {0};
    ridge_case at;
    spin a, b;
    memory *const known = calloc(1, sizeof(*known));

    assert_non_null(known);
    ridge_case_init(&at);
    ridge_roofs_init(&roofs);
    roofs.flop_per_s[RIDGE_PEAK_FP32] = 1e12;
    options.roofs = &roofs;
    options.mode = test->mode;
    options.without = without;
    options.pilot = 2;
    options.most = 2;
    spin_init(&a, "honest", 60);
    spin_init(&b, "cheat", test->spin_us);
    a.kernel.work = b.kernel.work = spin_work;
    a.work.footprint_bytes = b.work.footprint_bytes = test->footprint_bytes;
    b.work.flop_count = test->flop_count;
    b.work.peak = RIDGE_PEAK_FP32;
    b.compute = test->compute;
    b.data = known;
    if (test->compute == works_elsewhere)
        b.kernel.finish = forget_work;
    arms[0] = spin_arm(&a);
    arms[1] = spin_arm(&b);
    if (ridge_bench_compare(device, &arms[0], &arms[1], &at, &options, NULL, result, &err) !=
        RIDGE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(b.prepared, b.finished);
    free(known);
}

static void is_caught(void **state)
{
    const struct cheat_case *const test = *state;
    ridge_comparison result;
    int tries = test->compute == works_elsewhere ? 6 : 1;

    /* The guard waits 2 ms for a late write: on a busy machine the other thread may get no core in
     * that time, nor in any other slot of a short run. */
    do
        run(test, test->without, &result);
    while (result.verdict != RIDGE_VERDICT_INVALID && --tries > 0);
    if (result.verdict != RIDGE_VERDICT_INVALID ||
        strcmp(result.invalid_guard, ridge_guard_name(test->guard)) != 0 ||
        strstr(result.invalid_cause, test->cause) == NULL)
        fail_msg("with: %s by %s: %s", ridge_bench_verdict_name(result.verdict),
                 result.invalid_guard, result.invalid_cause);

    run(test, test->without | (uint64_t)1 << test->guard, &result);
    if (result.verdict == RIDGE_VERDICT_INVALID || !(result.interval.centre < -0.3))
        fail_msg("without: %s by %s: %s", ridge_bench_verdict_name(result.verdict),
                 result.invalid_guard, result.invalid_cause);
}

/* Alone there is no honest arm to compare with: the reference is. */
static void is_caught_alone(void **state)
{
    ridge_bench_options options = spin_options();
    ridge_measurement result;
    ridge_bench_arm arm;
    ridge_case at;
    spin a;

    ridge_case_init(&at);
    spin_init(&a, "cheat", 30);
    a.compute = right_until_timed;
    a.kernel.reference = spin_reference;
    arm = spin_arm(&a);
    assert_int_equal(ridge_bench_measure(device, &arm, &at, &options, NULL, &result, NULL),
                     RIDGE_OK);
    assert_true(result.is_invalid);
    assert_string_equal(result.invalid_guard, "outputs");

    a.launched = 0;
    options.without = OFF(OUTPUTS) | OFF(SHARED);
    assert_int_equal(ridge_bench_measure(device, &arm, &at, &options, NULL, &result, NULL),
                     RIDGE_OK);
    assert_false(result.is_invalid);
    (void)state;
}

static void guards_have_names(void **state)
{
    assert_string_equal(ridge_guard_name(RIDGE_GUARD_SHARE_BUFFERS), "placement");
    assert_string_equal(ridge_guard_name(RIDGE_GUARD_COUNT), "unknown");
    (void)state;
}

int main(void)
{
    static cases list;
    int failed;

    if (ridge_device_open("cpu", &device, NULL) != RIDGE_OK ||
        pthread_create(&worker.thread, NULL, work_late, NULL) != 0)
        return 1;
    CASES_ADD_ROWS(&list, is_caught, cheat_cases);
    cases_add(&list, "is caught alone", is_caught_alone, NULL);
    cases_add(&list, "guards have names", guards_have_names, NULL);
    failed = cases_run(&list, "cheats");
    pthread_mutex_lock(&worker.lock);
    worker.is_over = true;
    pthread_mutex_unlock(&worker.lock);
    pthread_join(worker.thread, NULL);
    ridge_device_free(device);
    return failed;
}
