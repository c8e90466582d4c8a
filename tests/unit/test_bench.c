/* SPDX-License-Identifier: Apache-2.0
 *
 * The measuring loop on the CPU device, with kernels of known time. */
#include "base/memory.h"
#include "bench/bench_internal.h"
#include "bench_support.h"

static ridge_device *device;

static ridge_status compare(const spin *a, const spin *b, const ridge_bench_options *options,
                            const ridge_bench_sink *sink, ridge_comparison *out, ridge_error *err)
{
    const ridge_bench_arm arms[2] = {spin_arm(a), spin_arm(b)};
    ridge_case at;

    ridge_case_init(&at);
    return ridge_bench_compare(device, &arms[0], &arms[1], &at, options, sink, out, err);
}

static void assert_balanced(const spin *arm)
{
    assert_int_equal(arm->prepared, arm->finished);
}

/* -- verdicts of real time --------------------------------------------------------------------- */

static struct timed_case {
    const char *name;
    double a_us, b_us;
    ridge_mode mode;
    ridge_cache cache;
    unsigned verdicts; /* bits 1 << verdict that are right */
} timed_cases[] = {
    {"10 % slower", 50, 55, RIDGE_MODE_AUTO, RIDGE_CACHE_COLD, 1u << RIDGE_VERDICT_REGRESSED},
    {"10 % faster", 55, 50, RIDGE_MODE_AUTO, RIDGE_CACHE_COLD, 1u << RIDGE_VERDICT_IMPROVED},
    {"the same", 50, 50, RIDGE_MODE_AUTO, RIDGE_CACHE_COLD,
     1u << RIDGE_VERDICT_SAME | 1u << RIDGE_VERDICT_CANNOT_TELL | 1u << RIDGE_VERDICT_FASTER_SMALL |
         1u << RIDGE_VERDICT_SLOWER_SMALL},
    {"twice as long, hot", 30, 60, RIDGE_MODE_EVENT, RIDGE_CACHE_HOT,
     1u << RIDGE_VERDICT_REGRESSED},
    {"short launches, in batches", 2, 6, RIDGE_MODE_AUTO, RIDGE_CACHE_COLD,
     1u << RIDGE_VERDICT_REGRESSED | 1u << RIDGE_VERDICT_SLOWER_SMALL |
         1u << RIDGE_VERDICT_CANNOT_TELL},
};

/* A busy machine may hide a difference, and never turns it round. */
static bool is_undecided(ridge_bench_verdict verdict)
{
    return verdict == RIDGE_VERDICT_CANNOT_TELL || verdict == RIDGE_VERDICT_FASTER_SMALL ||
           verdict == RIDGE_VERDICT_SLOWER_SMALL;
}

static void timed(void **state)
{
    const struct timed_case *const test = *state;
    ridge_bench_options options = spin_options();
    ridge_comparison result;
    ridge_error err = {0};
    spin a, b;
    int tries = 0;

    options.mode = test->mode;
    options.cache = test->cache;
    do {
        spin_init(&a, "a", test->a_us);
        spin_init(&b, "b", test->b_us);
        if (compare(&a, &b, &options, NULL, &result, &err) != RIDGE_OK)
            fail_msg("%s", err.text);
    } while (is_undecided(result.verdict) && (test->verdicts & 1u << result.verdict) == 0 &&
             ++tries < 5);
    if ((test->verdicts & 1u << result.verdict) == 0)
        fail_msg("%s: %+.3f [%+.3f, %+.3f] %s", ridge_bench_verdict_name(result.verdict),
                 result.interval.centre, result.interval.low, result.interval.high,
                 result.invalid_cause);
    assert_true(result.arms[0].slots == result.arms[1].slots && result.arms[0].slots > 0);
    assert_true(result.outputs_checked >= 2);
    assert_true(isfinite(result.budget_needed_s) == (result.placements_needed > 0));
    assert_int_equal(result.rotation, test->cache == RIDGE_CACHE_HOT ? 1 : 64);
    assert_int_equal(result.mode, test->a_us < 20 ? RIDGE_MODE_BATCH : RIDGE_MODE_EVENT);
    assert_true(result.arms[0].median_ns >= test->a_us * 1e3);
    assert_balanced(&a);
    assert_balanced(&b);
}

/* -- what is done with buffers ----------------------------------------------------------------- */

static void arms_share_their_buffers(void **state)
{
    ridge_bench_options options = spin_options();
    ridge_comparison result;
    spin a, b;

    spin_init(&a, "a", 0);
    spin_init(&b, "b", 0);
    assert_int_equal(compare(&a, &b, &options, NULL, &result, NULL), RIDGE_OK);
    assert_true(result.shared_frac == 1);
    options.without = 1u << RIDGE_GUARD_SHARE_BUFFERS;
    assert_int_equal(compare(&a, &b, &options, NULL, &result, NULL), RIDGE_OK);
    assert_true(result.shared_frac == 0);
    assert_true(result.verdict != RIDGE_VERDICT_INVALID); /* the same values in both */
    (void)state;
}

/* A letter a buffer: its name; capitals are outputs; of 8 elements, from "m" on of 16. */
static ridge_status describe_letters(const ridge_kernel *self, const ridge_case *at,
                                     ridge_buffer_desc *buffers, size_t *count, ridge_error *err)
{
    const char *const letters = self->context;
    size_t i;

    (void)at;
    (void)err;
    for (i = 0; letters[i] != '\0'; i++)
        buffers[i] = (ridge_buffer_desc){.name = {letters[i]},
                                         .role = letters[i] < 'a' ? RIDGE_ROLE_OUT : RIDGE_ROLE_IN,
                                         .dtype = RIDGE_DTYPE_F32,
                                         .ndim = 1,
                                         .shape = {letters[i] >= 'm' ? 16 : 8}};
    *count = i;
    return RIDGE_OK;
}

static struct pairing {
    const char *name, *a, *b;
    const char *slabs; /* those of b, a digit each */
} pairings[] = {
    {"by name", "xwO", "Oxw", "201"},
    {"by place", "xaO", "xbP", "012"},
    {"another name in another place", "xaO", "Oxb", "201"}, /* rms_norm and the example plug-in */
    {"no name is taken from its owner", "aOb", "Oca", "120"},
    {"in their order", "abO", "Ocd", "201"},
    {"of another extent", "aO", "Ox", "12"},
    {"one more", "abO", "Oxdc", "2310"},
};

static void pairs_buffers(void **state)
{
    const struct pairing *const test = *state;
    char a[8], b[8];
    spin plain;
    ridge_kernel kernels[2];
    const ridge_kernel *const both[] = {&kernels[0], &kernels[1]};
    ridge_error err;
    bench_buffers buffers;
    ridge_case at;
    size_t i;

    spin_init(&plain, "letters", 0);
    kernels[0] = kernels[1] = plain.kernel;
    kernels[0].describe = kernels[1].describe = describe_letters;
    kernels[0].context = a;
    kernels[1].context = b;
    snprintf(a, sizeof(a), "%s", test->a);
    snprintf(b, sizeof(b), "%s", test->b);
    ridge_case_init(&at);
    if (bench_buffers_describe(both, 2, &at, true, &buffers, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    for (i = 0; test->slabs[i] != '\0'; i++)
        assert_int_equal(buffers.arms[1].slab[i], test->slabs[i] - '0');
}

static struct rotation_case {
    const char *name;
    double footprint, l2;
    size_t set_bytes, most_bytes;
    int sets;
} rotation_cases[] = {
    {"16 MiB of 60", 16, 60, 16, 10000, 13},
    {"twice the cache", 120, 60, 120, 10000, 3},
    {"one set is over three times the cache", 200, 60, 200, 10000, 2},
    {"tiny", 1e-3, 60, 1, 10000, 64},
    {"as memory allows", 16, 60, 16, 100, 6},
    {"two whatever memory allows", 16, 60, 16, 1, 2},
    {"nothing touched", 0, 60, 0, 100, 64},
};

static void rotations(void **state)
{
    const struct rotation_case *const test = *state;

    assert_int_equal(
        bench_rotation_sets(test->footprint, test->l2, test->set_bytes, test->most_bytes),
        test->sets);
}

static void inout_buffers_are_restored(void **state)
{
    ridge_bench_options options = spin_options();
    ridge_comparison result;
    spin a, b;

    spin_init(&a, "a", 20);
    spin_init(&b, "b", 20);
    a.out_role = b.out_role = RIDGE_ROLE_INOUT;
    assert_int_equal(compare(&a, &b, &options, NULL, &result, NULL), RIDGE_OK);
    assert_true(result.verdict != RIDGE_VERDICT_INVALID);
    assert_true(result.outputs_checked >= 2);
    (void)state;
}

/* -- arms that differ, without a reference ----------------------------------------------------- */

static ridge_status doubles_but(spin *self, int index, const float *in, float *out,
                                ridge_error *err)
{
    const float *const change = self->data; /* of element 77, of all */
    int i;

    (void)index;
    (void)err;
    for (i = 0; i < SPIN_ELEMENTS; i++)
        out[i] = 2 * in[i] + change[1];
    out[77] += change[0];
    return RIDGE_OK;
}

static struct agreement_case {
    const char *name;
    float change[2];
    bool has_reference;
    const char *cause; /* NULL: they agree */
} agreement_cases[] = {
    {"the same", {0, 0}, false, NULL},
    {"rounding", {0, 1e-6f}, false, NULL},
    {"one element", {5, 0}, false, "1 of 256 elements differ; no reference to tell who is right"},
    {"one element, of a baseline that is right", {5, 0}, true, "A's are right"},
    {"one element is NaN", {NAN, 0}, false, "B's out differs from A's at element 77: nan"},
    {"all, by little", {0, 1e-2f}, false, "256 of 256 elements differ"},
};

static void arms_agree(void **state)
{
    const struct agreement_case *const test = *state;
    ridge_bench_options options = spin_options();
    float change[2] = {test->change[0], test->change[1]};
    ridge_comparison result;
    spin a, b;

    spin_init(&a, "a", 20);
    spin_init(&b, "b", 20);
    if (test->has_reference)
        a.kernel.reference = spin_reference;
    b.compute = doubles_but;
    b.data = change;
    assert_int_equal(compare(&a, &b, &options, NULL, &result, NULL), RIDGE_OK);
    assert_int_equal(result.verdict == RIDGE_VERDICT_INVALID, test->cause != NULL);
    if (test->cause != NULL) {
        assert_string_equal(result.invalid_guard, "check");
        assert_non_null(strstr(result.invalid_cause, test->cause));
        assert_int_equal(result.slots, 0);
    }
    assert_balanced(&b);
}

/* -- identity and null control ----------------------------------------------------------------- */

static void identical_code_is_not_measured(void **state)
{
    spin a, b;
    ridge_bench_arm arms[2];
    ridge_bench_options options = spin_options();
    ridge_comparison result;
    ridge_case at;

    ridge_case_init(&at);
    spin_init(&a, "a", 20);
    spin_init(&b, "b", 40);
    arms[0] = spin_arm(&a);
    arms[1] = spin_arm(&b);
    arms[0].code_hash = arms[1].code_hash = "0123456789abcdef0123456789abcdef";
    assert_int_equal(
        ridge_bench_compare(device, &arms[0], &arms[1], &at, &options, NULL, &result, NULL),
        RIDGE_OK);
    assert_int_equal(result.verdict, RIDGE_VERDICT_IDENTICAL_CODE);
    assert_int_equal(a.launched, 0);
    assert_string_equal(result.arms[1].code_hash, arms[1].code_hash);

    options.without = 1u << RIDGE_GUARD_IDENTITY;
    assert_int_equal(
        ridge_bench_compare(device, &arms[0], &arms[1], &at, &options, NULL, &result, NULL),
        RIDGE_OK);
    assert_int_equal(result.verdict, RIDGE_VERDICT_REGRESSED);
    (void)state;
}

static void null_control(void **state)
{
    ridge_bench_options options = spin_options();
    ridge_comparison result;
    spin a, b;

    options.null_control = true;
    spin_init(&a, "a", 20);
    spin_init(&b, "a", 40);
    assert_int_equal(compare(&a, &b, &options, NULL, &result, NULL), RIDGE_OK);
    assert_int_equal(result.verdict, RIDGE_VERDICT_INVALID);
    assert_string_equal(result.invalid_guard, "null");
    assert_true(result.null_centre > 0.3);

    options.without = 1u << RIDGE_GUARD_NULL_CONTROL;
    assert_int_equal(compare(&a, &b, &options, NULL, &result, NULL), RIDGE_OK);
    assert_int_equal(result.verdict, RIDGE_VERDICT_REGRESSED);
    (void)state;
}

/* -- ends -------------------------------------------------------------------------------------- */

typedef struct counts {
    int slots, stop_after, placements, phases;
    bool samples_are_whole;
} counts;

static void count_slot(void *context, const ridge_slot *slot)
{
    counts *const own = context;

    own->slots++;
    if (slot->samples_ns != NULL && (int)slot->sample_count != slot->launches)
        own->samples_are_whole = false;
}

static void count_placement(void *context, int placement, uint64_t address_hash, double value)
{
    counts *const own = context;

    assert_int_equal(placement, own->placements);
    assert_true(address_hash != 0 && !isnan(value));
    own->placements++;
}

static void note_phase(void *context, ridge_phase phase, int done, int total, double remaining_s)
{
    counts *const own = context;

    (void)done;
    (void)total;
    (void)remaining_s;
    own->phases |= 1 << phase;
}

static bool stop_after(void *context)
{
    const counts *const own = context;

    return own->stop_after > 0 && own->slots >= own->stop_after;
}

static ridge_bench_sink sink_of(counts *context)
{
    return (ridge_bench_sink){.slot = count_slot,
                              .placement = count_placement,
                              .progress = note_phase,
                              .should_stop = stop_after,
                              .context = context};
}

static void everything_is_reported(void **state)
{
    counts seen = {.samples_are_whole = true};
    const ridge_bench_sink sink = sink_of(&seen);
    ridge_bench_options options = spin_options();
    ridge_comparison result;
    spin a, b;

    spin_init(&a, "a", 25);
    spin_init(&b, "b", 30);
    assert_int_equal(compare(&a, &b, &options, &sink, &result, NULL), RIDGE_OK);
    assert_int_equal(seen.slots, result.slots);
    assert_int_equal(seen.placements, result.placements);
    assert_int_equal(result.blocks, result.placements * 2);
    assert_true(seen.samples_are_whole);
    assert_int_equal(seen.phases, 1 << RIDGE_PHASE_PREPARE | 1 << RIDGE_PHASE_CHECK |
                                      1 << RIDGE_PHASE_FLOORS | 1 << RIDGE_PHASE_WARM_UP |
                                      1 << RIDGE_PHASE_PILOT | 1 << RIDGE_PHASE_AFTER |
                                      (seen.phases & 1 << RIDGE_PHASE_MEASURE));
    assert_true(result.duration_s > 0 && result.floors.event_ns >= 0);
    (void)state;
}

/* In the warm-up, the first block, the second placement. */
static const int stops[] = {1, 62, 65, 80};

static void an_interruption_keeps_what_there_is(void **state)
{
    size_t i;

    for (i = 0; i < sizeof(stops) / sizeof(stops[0]); i++) {
        counts seen = {.stop_after = stops[i], .samples_are_whole = true};
        const ridge_bench_sink sink = sink_of(&seen);
        ridge_bench_options options = spin_options();
        ridge_comparison result;
        spin a, b;

        options.most = 3;
        spin_init(&a, "a", 5);
        spin_init(&b, "b", 10);
        assert_int_equal(compare(&a, &b, &options, &sink, &result, NULL), RIDGE_OK);
        assert_true(result.is_interrupted ? seen.slots == stops[i] : seen.slots <= stops[i]);
        assert_int_equal(result.placements, seen.placements);
        assert_true(result.verdict == RIDGE_VERDICT_CANNOT_TELL || result.placements > 1);
        assert_true(result.placements == 0 || result.interval.centre > 0);
        assert_balanced(&a);
        assert_balanced(&b);
    }
    (void)state;
}

static void the_budget_ends_it(void **state)
{
    ridge_bench_options options = spin_options();
    ridge_comparison result;
    spin a, b;

    options.pilot = 6;
    options.blocks = 4;
    options.most = 24;
    options.budget_s = 0.1;
    spin_init(&a, "a", 50);
    spin_init(&b, "b", 50);
    assert_int_equal(compare(&a, &b, &options, NULL, &result, NULL), RIDGE_OK);
    assert_false(result.is_interrupted);
    assert_in_range(result.placements, 2, 5);
    assert_true(ridge_bench_estimate_s(&options, true) < ridge_bench_estimate_s(NULL, true));
    assert_true(ridge_bench_estimate_s(NULL, true) == 4.5);
    assert_true(ridge_bench_estimate_s(NULL, false) == 3);
    options.regime = RIDGE_REGIME_BOTH;
    assert_true(ridge_bench_estimate_s(&options, true) > 12);
    (void)state;
}

static void sustained_slots(void **state)
{
    ridge_bench_options options = spin_options();
    ridge_comparison result;
    spin a, b;

    options.regime = RIDGE_REGIME_BOTH;
    options.budget_s = 0.5;
    options.pilot = 2;
    spin_init(&a, "a", 50);
    spin_init(&b, "b", 75);
    assert_int_equal(compare(&a, &b, &options, NULL, &result, NULL), RIDGE_OK);
    assert_true(result.by_sustained);
    assert_true(result.verdict == RIDGE_VERDICT_REGRESSED || is_undecided(result.verdict));
    assert_true(result.sustained.centre > 0);
    (void)state;
}

/* -- failures ---------------------------------------------------------------------------------- */

static ridge_status fails_later(spin *self, int index, const float *in, float *out,
                                ridge_error *err)
{
    (void)index;
    spin_double(in, out);
    return self->launched > self->last
               ? ridge_fail(err, RIDGE_ERR_CUDA, "CUDA_ERROR_ILLEGAL_ADDRESS")
               : RIDGE_OK;
}

static ridge_status refuses(spin *self, int index, const float *in, float *out, ridge_error *err)
{
    (void)self;
    (void)index;
    (void)in;
    (void)out;
    return ridge_fail(err, RIDGE_ERR_MISALIGNED, "rows are no multiple of 16 bytes");
}

static void a_launch_that_fails(void **state)
{
    static const int after[] = {0, 1, 20, 500, 1000};
    ridge_bench_options options = spin_options();
    ridge_comparison result;
    size_t i;

    for (i = 0; i < sizeof(after) / sizeof(after[0]); i++) {
        ridge_error err = {0};
        spin a, b;

        spin_init(&a, "a", 20);
        spin_init(&b, "b", 20);
        b.compute = fails_later;
        b.last = after[i];
        assert_int_equal(compare(&a, &b, &options, NULL, &result, &err), RIDGE_ERR_CUDA);
        assert_int_equal(strncmp(err.text, "candidate b: ", 13), 0);
        assert_non_null(strstr(err.text, "CUDA_ERROR_ILLEGAL_ADDRESS"));
        assert_int_equal(result.slots, 0);
        assert_balanced(&a);
        assert_balanced(&b);
    }
    (void)state;
}

static void a_refusal(void **state)
{
    ridge_bench_options options = spin_options();
    ridge_comparison result;
    ridge_error err = {0};
    spin a, b;

    spin_init(&a, "a", 20);
    spin_init(&b, "b", 20);
    b.compute = refuses;
    assert_true(ridge_status_is_refusal(compare(&a, &b, &options, NULL, &result, &err)));
    assert_int_equal(strncmp(err.text, "candidate b does not take the case: ", 36), 0);
    assert_non_null(strstr(err.text, "rows are no multiple of 16 bytes"));
    assert_balanced(&b);
    (void)state;
}

static void out_of_memory(void **state)
{
    ridge_bench_options options = spin_options();
    ridge_comparison result;
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    size_t nth;

    options.pilot = 2;
    options.blocks = 1;
    options.most = 2;
    options.budget_s = 0.002;
    options.without = 1u << RIDGE_GUARD_IDLE;
    for (nth = 1; status == RIDGE_ERR_OUT_OF_MEMORY; nth += nth < 250 ? 25 : 1) {
        ridge_error err = {0};
        spin a, b;

        spin_init(&a, "a", 0);
        spin_init(&b, "b", 0);
        ridge_memory_fail_at(nth);
        status = compare(&a, &b, &options, NULL, &result, &err);
        ridge_memory_fail_at(0);
        assert_true(status == RIDGE_OK || status == RIDGE_ERR_OUT_OF_MEMORY);
        assert_balanced(&a);
        assert_balanced(&b);
    }
    assert_true(nth > 260);
    (void)state;
}

/* -- one arm, floors, roofs -------------------------------------------------------------------- */

static void one_arm(void **state)
{
    ridge_bench_options options = spin_options();
    ridge_measurement result;
    ridge_bench_arm arm;
    ridge_case at;
    spin a;

    ridge_case_init(&at);
    spin_init(&a, "a", 40);
    a.has_work = true;
    a.kernel.work = spin_work;
    a.work = (ridge_kernel_work){.read_bytes = 1024, .written_bytes = 1024};
    arm = spin_arm(&a);
    assert_int_equal(ridge_bench_measure(device, &arm, &at, &options, NULL, &result, NULL),
                     RIDGE_OK);
    assert_false(result.is_invalid);
    assert_int_equal(result.placements, 3);
    assert_true(result.arm.median_ns >= 40e3 && result.arm.median_ns < 80e3);
    assert_true(fabs(result.arm.bytes_per_s * result.arm.median_ns / 2048e9 - 1) < 1e-9);
    assert_true(result.spread_frac >= 0 && result.outputs_checked >= 1);
    assert_balanced(&a);
    (void)state;
}

/* A slot of one launch has no spread of its own: that of the slots is meant. */
static void spread_of_long_launches(void **state)
{
    ridge_bench_options options = spin_options();
    ridge_measurement result;
    ridge_bench_arm arm;
    ridge_case at;
    spin a;

    ridge_case_init(&at);
    spin_init(&a, "a", 12000); /* two do not fit into the 20 ms of a slot */
    arm = spin_arm(&a);
    options.mode = RIDGE_MODE_EVENT;
    assert_int_equal(ridge_bench_measure(device, &arm, &at, &options, NULL, &result, NULL),
                     RIDGE_OK);
    assert_int_equal(result.arm.launches, result.arm.slots);
    assert_true(result.arm.least_ns <= result.arm.p10_ns);
    assert_true(result.arm.p10_ns < result.arm.p90_ns);
    assert_true(result.arm.iqr_ns > 0);
    (void)state;
}

static void floors(void **state)
{
    ridge_floors found;

    assert_int_equal(ridge_bench_floors(device, &found, NULL), RIDGE_OK);
    assert_true(found.event_ns >= 0 && found.event_ns < 1e6);
    assert_true(found.kernel_ns >= 0 && found.kernel_ns < 1e6);
    assert_true(isnan(found.graph_ns));
    (void)state;
}

static void roofs(void **state)
{
    ridge_roofs found;

    assert_int_equal(ridge_bench_roofs(device, &found, NULL), RIDGE_OK);
    assert_true(found.is_measured);
    assert_true(found.dram_bytes_per_s > 1e8 && found.dram_bytes_per_s < 1e13);
    assert_true(isnan(found.flop_per_s[RIDGE_PEAK_FP32]));
    assert_non_null(strstr(found.name, ", one thread"));
    (void)state;
}

static void phases_have_names(void **state)
{
    assert_string_equal(ridge_phase_name(RIDGE_PHASE_WARM_UP), "warming up");
    assert_string_equal(ridge_phase_name((ridge_phase)99), "unknown");
    (void)state;
}

int main(void)
{
    static cases list;
    int failed;

    if (ridge_device_open("cpu", &device, NULL) != RIDGE_OK)
        return 1;
    CASES_ADD_ROWS(&list, timed, timed_cases);
    cases_add(&list, "arms share their buffers", arms_share_their_buffers, NULL);
    CASES_ADD_ROWS(&list, pairs_buffers, pairings);
    CASES_ADD_ROWS(&list, rotations, rotation_cases);
    CASES_ADD_ROWS(&list, arms_agree, agreement_cases);
    cases_add(&list, "inout buffers are restored", inout_buffers_are_restored, NULL);
    cases_add(&list, "identical code is not measured", identical_code_is_not_measured, NULL);
    cases_add(&list, "null control", null_control, NULL);
    cases_add(&list, "everything is reported", everything_is_reported, NULL);
    cases_add(&list, "an interruption keeps what there is", an_interruption_keeps_what_there_is,
              NULL);
    cases_add(&list, "the budget ends it", the_budget_ends_it, NULL);
    cases_add(&list, "sustained slots", sustained_slots, NULL);
    cases_add(&list, "a launch that fails", a_launch_that_fails, NULL);
    cases_add(&list, "a refusal", a_refusal, NULL);
    cases_add(&list, "out of memory", out_of_memory, NULL);
    cases_add(&list, "one arm", one_arm, NULL);
    cases_add(&list, "spread of long launches", spread_of_long_launches, NULL);
    cases_add(&list, "floors", floors, NULL);
    cases_add(&list, "roofs", roofs, NULL);
    cases_add(&list, "phases have names", phases_have_names, NULL);
    failed = cases_run(&list, "bench");
    ridge_device_free(device);
    return failed;
}
