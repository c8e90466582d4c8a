/* SPDX-License-Identifier: Apache-2.0
 *
 * Right kernels pass; each mistake or cheat fails the tests meant for it, with its words, and passes
 * as soon as those are switched off. */
#include "cases.h"
#include "check_kernels.h"

#include <math.h>

#include "base/memory.h"
#include "ridge/check.h"

#define BIT(test) (UINT64_C(1) << RIDGE_TEST_##test)

static ridge_device *cpu;

static void run_case(const char *operation, const mistake *what, const char *text,
                     const ridge_check_options *options, ridge_check_result *out)
{
    ridge_kernel kernel;
    ridge_case at;
    ridge_error err;

    make_kernel(&kernel, operation, what);
    ridge_case_init(&at);
    if (ridge_case_parse(text, &at, &err) != RIDGE_OK ||
        ridge_check_kernel(cpu, &kernel, &at, options, out, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
}

static const ridge_test_result *result_of(const ridge_check_result *of, ridge_test test)
{
    for (size_t i = 0; i < of->test_count; i++)
        if (of->tests[i].test == test)
            return &of->tests[i];
    return NULL;
}

static uint64_t failing_tests(const ridge_check_result *of)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < of->test_count; i++)
        if (of->tests[i].outcome == RIDGE_OUTCOME_FAIL)
            bits |= UINT64_C(1) << of->tests[i].test;
    return bits;
}

static void say(const ridge_check_result *of)
{
    for (size_t i = 0; i < of->test_count; i++)
        if (of->tests[i].outcome != RIDGE_OUTCOME_PASS)
            print_error("  %-10s %d %s\n", ridge_test_name(of->tests[i].test),
                        (int)of->tests[i].outcome, of->tests[i].text);
}

/* -- right ------------------------------------------------------------------------------------- */

static struct right_case {
    const char *name, *operation, *at;
} right_cases[] = {
    {"copy bf16", "copy", "m=37,n=65,dtype=bf16"},
    {"copy f32, right aligned rows", "copy", "m=5,n=769,dtype=f32"},
    {"copy i32", "copy", "m=5,n=33,dtype=i32"},
    {"copy i8", "copy", "m=5,n=33,dtype=i8"},
    {"copy e4m3", "copy", "m=5,n=33,dtype=e4m3"},
    {"copy f64", "copy", "m=5,n=33,dtype=f64"},
    {"copy, padded", "copy", "m=9,n=33,dtype=f16,layout=pad8"},
    {"copy, transposed", "copy", "m=9,n=33,dtype=f16,layout=transposed"},
    {"copy, sliced", "copy", "m=9,n=33,dtype=f32,layout=sliced"},
    {"copy, one element off", "copy", "m=9,n=33,dtype=bf16,layout=offset1"},
    {"copy, broadcast", "copy", "m=9,n=33,dtype=f32,layout=broadcast"},
    {"copy, reversed", "copy", "m=9,n=33,dtype=f32,layout=reversed"},
    {"copy in place", "copy", "m=9,n=33,dtype=f32,inplace=1"},
    {"copy of NaN and infinities", "copy", "m=9,n=33,dtype=f16,values=nonfinite"},
    {"copy of subnormals", "copy", "m=9,n=33,dtype=f16,values=subnormal"},
    {"no rows", "copy", "m=0,n=33,dtype=f32"},
    {"no columns", "copy", "m=4,n=0,dtype=f32"},
    {"sum of nothing", "sum", "m=4,n=0,dtype=f32"},
    {"sum bf16", "sum", "m=5,n=600,dtype=bf16"},
    {"sum f32", "sum", "m=5,n=600,dtype=f32"},
    {"sum f32 of one sign", "sum", "m=5,n=600,dtype=f32,values=positive"},
    {"sum f32 of outliers", "sum", "m=5,n=600,dtype=f32,values=outlier"},
    {"gemm bf16", "gemm", "m=7,n=9,k=130,dtype=bf16"},
    {"gemm f32", "gemm", "m=7,n=9,k=130,dtype=f32"},
    {"gemm f16 of one sign", "gemm", "m=7,n=9,k=130,dtype=f16,values=positive"},
    {"norm bf16", "norm", "m=3,n=64,dtype=bf16"},
    {"norm f32", "norm", "m=3,n=64,dtype=f32"},
};

static void passes(void **state)
{
    static const mistake none = NO_MISTAKE;
    const struct right_case *const row = *state;
    static ridge_check_result got;
    ridge_check_options options = {.repeats = 4};

    run_case(row->operation, &none, row->at, &options, &got);
    if (got.outcome != RIDGE_OUTCOME_PASS || got.test_count != RIDGE_TEST_COUNT) {
        say(&got);
        fail_msg("outcome %d: %s, worst %g", (int)got.outcome, got.mismatch.cause,
                 got.worst_scaled_error);
    }
    assert_true(got.is_verified);
    assert_true(got.mismatch.match <= RIDGE_MATCH_WITHIN);
}

/* -- wrong ------------------------------------------------------------------------------------- */

static struct wrong_case {
    const char *name, *operation, *at;
    mistake what;
    uint64_t tests; /* exactly these fail */
    ridge_test shown;
    const char *words;
} wrong_cases[] = {
    {"writes nothing", "copy", "m=37,n=65,dtype=bf16", WRITES_NOTHING,
     BIT(VALUES) | BIT(INTEGERS) | BIT(POSITION) | BIT(ONE_HOT) | BIT(SCALING) | BIT(WRITTEN) |
         BIT(DIFFERENT),
     RIDGE_TEST_WRITTEN, "2405 of 2405 elements of out are not written"},
    {"writes nothing, in words", "copy", "m=37,n=65,dtype=bf16", WRITES_NOTHING,
     BIT(VALUES) | BIT(INTEGERS) | BIT(POSITION) | BIT(ONE_HOT) | BIT(SCALING) | BIT(WRITTEN) |
         BIT(DIFFERENT),
     RIDGE_TEST_VALUES, "nothing is written"},
    {"writes part", "copy", "m=37,n=65,dtype=f32", WRITES_PART,
     BIT(VALUES) | BIT(INTEGERS) | BIT(POSITION) | BIT(ONE_HOT) | BIT(PRECISION) | BIT(SCALING) |
         BIT(WRITTEN) | BIT(DIFFERENT),
     RIDGE_TEST_VALUES, "rows 32-36 are not written: the grid is too small"},
    {"writes before", "copy", "m=37,n=65,dtype=f32", WRITES_BEFORE, BIT(GUARDS), RIDGE_TEST_GUARDS,
     "before the start of out, the first at byte -12"},
    {"writes behind", "copy", "m=37,n=65,dtype=f32", WRITES_BEHIND, BIT(GUARDS), RIDGE_TEST_GUARDS,
     "behind the end of out, the first at byte +"},
    {"writes between rows", "copy", "m=9,n=33,dtype=f32,layout=sliced", WRITES_BETWEEN, BIT(GUARDS),
     RIDGE_TEST_GUARDS, "between the rows of out"},
    {"reads the band", "copy", "m=9,n=33,dtype=f32", READS_BAND, BIT(BANDS_READ),
     RIDGE_TEST_BANDS_READ,
     "reads beside its inputs: 1 of 297 elements of out differ, first [0,0]"},
    {"changes an input", "copy", "m=9,n=33,dtype=f32", CHANGES_INPUT, BIT(INPUTS),
     RIDGE_TEST_INPUTS, "input x is not what it was"},
    {"a constant", "copy", "m=9,n=33,dtype=bf16,values=one", IS_CONSTANT,
     BIT(INTEGERS) | BIT(POSITION) | BIT(ONE_HOT) | BIT(SCALING) | BIT(DIFFERENT),
     RIDGE_TEST_DIFFERENT, "other inputs change 0 of 297 elements: a constant"},
    {"stale by pointer", "copy", "m=9,n=33,dtype=f32", IS_STALE,
     BIT(VALUES) | BIT(INTEGERS) | BIT(POSITION) | BIT(ONE_HOT) | BIT(PRECISION) | BIT(SCALING) |
         BIT(DIFFERENT),
     RIDGE_TEST_VALUES, "the output of the launch before"},
    {"another output each time", "norm", "m=3,n=64,dtype=f32", RARE_RACE, BIT(REPEAT),
     RIDGE_TEST_REPEAT, "of the same inputs: 1 of 192 elements of out differ, first [0,5]"},
    {"reads the workspace", "copy", "m=9,n=33,dtype=f32", READS_WORKSPACE, BIT(WORKSPACE),
     RIDGE_TEST_WORKSPACE, "depends on what the workspace held"},
    {"reads its output", "copy", "m=9,n=33,dtype=f32", READS_OUTPUT, BIT(WRITTEN),
     RIDGE_TEST_WRITTEN, "depends on what outputs held before the launch: 1 of 297"},
    {"wrong last rows", "copy", "m=37,n=65,dtype=f32", WRONG_LAST_ROW,
     BIT(VALUES) | BIT(INTEGERS) | BIT(POSITION) | BIT(ONE_HOT) | BIT(PRECISION) | BIT(SCALING),
     RIDGE_TEST_VALUES, "out: 325 of 2405 wrong; only rows 32-36, the partial tile (37 mod 16)"},
    {"wrong stride", "copy", "m=9,n=33,dtype=f32,layout=pad8", WRONG_STRIDE,
     BIT(VALUES) | BIT(INTEGERS) | BIT(POSITION) | BIT(ONE_HOT) | BIT(PRECISION) | BIT(SCALING) |
         BIT(WRITTEN) | BIT(GUARDS) | BIT(DIFFERENT) | BIT(NEIGHBOUR),
     RIDGE_TEST_GUARDS, "between the rows"},
    {"scaled twice", "copy", "m=37,n=65,dtype=bf16", SCALES_TWICE,
     BIT(VALUES) | BIT(INTEGERS) | BIT(POSITION) | BIT(ONE_HOT) | BIT(SCALING), RIDGE_TEST_VALUES,
     "out = 2 x ref: a scale"},
    {"sums in bf16", "sum", "m=24,n=2000,dtype=bf16", SUMS_IN_BF16, BIT(VALUES) | BIT(SCALING),
     RIDGE_TEST_VALUES, "low precision"},
    {"product summed in bf16", "gemm", "m=7,n=9,k=130,dtype=bf16", SUMS_IN_BF16,
     BIT(VALUES) | BIT(SCALING), RIDGE_TEST_VALUES, "low precision"},
    {"bf16 inside f32", "gemm", "m=2,n=3,k=4000,dtype=f32", ROUNDS_INPUTS,
     BIT(ONE_HOT) | BIT(PRECISION), RIDGE_TEST_PRECISION, "wrong"},
    {"clamps", "copy", "m=9,n=33,dtype=bf16", CLAMPS, BIT(POSITION) | BIT(SCALING),
     RIDGE_TEST_SCALING, "wrong"},
    {"rows leak", "norm", "m=37,n=64,dtype=f32", LEAKS_ROWS, BIT(NEIGHBOUR), RIDGE_TEST_NEIGHBOUR,
     "row 18 of the inputs changes "},
};

static const int64_t tile[RIDGE_BUFFER_DIMS] = {16};

static void fails(void **state)
{
    const struct wrong_case *const row = *state;
    static ridge_check_result got;
    ridge_check_options options = {.tile = tile, .repeats = row->what == RARE_RACE ? 20 : 3};
    const ridge_test_result *shown;

    run_case(row->operation, &row->what, row->at, &options, &got);
    shown = result_of(&got, row->shown);
    if (failing_tests(&got) != row->tests || strstr(shown->text, row->words) == NULL) {
        for (int test = 0; test < RIDGE_TEST_COUNT; test++)
            if (((failing_tests(&got) ^ row->tests) >> test) & 1)
                print_error("  unexpected: %s\n", ridge_test_name((ridge_test)test));
        say(&got);
        fail_msg("%s", shown->text);
    }
    assert_int_equal(got.outcome, RIDGE_OUTCOME_FAIL);
    /* Without its guards it passes: they are what finds it. */
    options.without = row->tests;
    run_case(row->operation, &row->what, row->at, &options, &got);
    if (got.outcome != RIDGE_OUTCOME_PASS && got.outcome != RIDGE_OUTCOME_SUSPICIOUS) {
        say(&got);
        fail_msg("outcome %d", (int)got.outcome);
    }
}

/* -- refused, skipped, unverified -------------------------------------------------------------- */

static void refusals(void **state)
{
    static const mistake all = REFUSES_ALL, strides = REFUSES_STRIDES;
    static ridge_check_result got;
    ridge_check_options options = {.must_take = true};

    (void)state;
    run_case("copy", &strides, "m=4,n=4,layout=pad8", NULL, &got);
    assert_int_equal(got.outcome, RIDGE_OUTCOME_REFUSED);
    assert_string_equal(got.tests[0].text, "rows must be contiguous");
    run_case("copy", &all, "m=4,n=4", NULL, &got);
    assert_int_equal(got.outcome, RIDGE_OUTCOME_REFUSED);
    run_case("copy", &all, "m=4,n=4", &options, &got);
    assert_int_equal(got.outcome, RIDGE_OUTCOME_FAIL);
    assert_string_equal(got.tests[0].text, "refuses the plain case: not today");
}

/* An answer that is no refusal is a mistake of the kernel, and no reason to end the check. */
static void launch_fails(void **state)
{
    static const mistake what = LAUNCH_FAILS;
    static ridge_check_result got;

    (void)state;
    run_case("copy", &what, "m=4,n=4", NULL, &got);
    assert_int_equal(got.outcome, RIDGE_OUTCOME_FAIL);
    assert_int_equal(got.test_count, 1);
    assert_string_equal(got.tests[0].text, "answers an error: invalid configuration");
}

static void without_reference(void **state)
{
    static const mistake none = NO_REFERENCE;
    static ridge_check_result got;

    (void)state;
    run_case("copy", &none, "m=9,n=33,dtype=f32", NULL, &got);
    assert_int_equal(got.outcome, RIDGE_OUTCOME_PASS);
    assert_false(got.is_verified);
    assert_int_equal(result_of(&got, RIDGE_TEST_VALUES)->outcome, RIDGE_OUTCOME_SKIPPED);
    assert_string_equal(result_of(&got, RIDGE_TEST_VALUES)->text, "the kernel brings no reference");
    assert_int_equal(result_of(&got, RIDGE_TEST_WRITTEN)->outcome, RIDGE_OUTCOME_PASS);
    assert_int_equal(result_of(&got, RIDGE_TEST_DIFFERENT)->outcome, RIDGE_OUTCOME_PASS);
}

/* A sum of nothing is 0 whatever the inputs: no answer that was kept. */
static void nothing_to_differ(void **state)
{
    static const mistake none = NO_REFERENCE;
    static ridge_check_result got;

    (void)state;
    run_case("sum", &none, "m=1,n=0,dtype=f32", NULL, &got);
    if (got.outcome != RIDGE_OUTCOME_PASS)
        say(&got);
    assert_int_equal(got.outcome, RIDGE_OUTCOME_PASS);
    assert_int_equal(result_of(&got, RIDGE_TEST_DIFFERENT)->outcome, RIDGE_OUTCOME_SKIPPED);
}

/* Where the right outputs of two launches are the same, so are wrong ones: nothing was kept. */
static void same_answer_is_not_stale(void **state)
{
    static const mistake twice = SCALES_TWICE;
    static ridge_check_result got;
    const ridge_check_options options = {.tests = BIT(VALUES)};

    (void)state;
    run_case("copy", &twice, "m=9,n=33,dtype=f32,values=one", &options, &got);
    assert_int_equal(got.outcome, RIDGE_OUTCOME_FAIL);
    assert_string_equal(got.mismatch.cause_id, "constant");
}

/* What was not written is NaN here, and no input holds that. */
static void poison_is_no_input(void **state)
{
    static const mistake part = WRITES_PART;
    static ridge_check_result got;

    (void)state;
    run_case("norm", &part, "m=37,n=64,dtype=f32", NULL, &got);
    assert_true(got.mismatch.relation_count > 0);
    for (size_t i = 0; i < got.mismatch.relation_count; i++)
        assert_int_not_equal(got.mismatch.relations[i].kind, RIDGE_RELATION_INPUT);
}

static void skips_what_a_device_cannot(void **state)
{
    static const ridge_test tests[] = {RIDGE_TEST_STREAM, RIDGE_TEST_CAPTURE,
                                       RIDGE_TEST_ERROR_STATE, RIDGE_TEST_FENCE,
                                       RIDGE_TEST_WORKSPACE};
    static const mistake none = NO_MISTAKE;
    static ridge_check_result got;

    (void)state;
    run_case("copy", &none, "m=9,n=33,dtype=f32", NULL, &got);
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        assert_int_equal(result_of(&got, tests[i])->outcome, RIDGE_OUTCOME_SKIPPED);
        assert_true(result_of(&got, tests[i])->text[0] != '\0');
    }
}

static void fence_by_name(void **state)
{
    static const mistake none = NO_MISTAKE;
    static ridge_check_result got;
    const ridge_check_options options = {.tests = BIT(FENCE)};

    (void)state;
    run_case("copy", &none, "m=9,n=33,dtype=f32", &options, &got);
    assert_int_equal(got.test_count, 1);
    assert_int_equal(got.outcome, RIDGE_OUTCOME_PASS);
}

static void too_large(void **state)
{
    static const mistake none = NO_MISTAKE;
    static ridge_check_result got;
    const ridge_check_options options = {.memory_bytes = 1 << 20};

    (void)state;
    run_case("copy", &none, "m=4096,n=4096,dtype=f32", &options, &got);
    assert_int_equal(got.outcome, RIDGE_OUTCOME_SKIPPED);
    assert_string_equal(got.tests[0].text,
                        "needs 0.125 GiB of device memory, 0.000977 GiB may be taken");
}

/* A case too large to verify whole: rows are chosen, and speak of the whole. */
static void samples_rows(void **state)
{
    static const mistake none = NO_MISTAKE, last = WRONG_LAST_ROW;
    static ridge_check_result got;
    const ridge_check_options options = {.verify_elements = 2000, .tile = tile, .repeats = 2};

    (void)state;
    run_case("copy", &none, "m=1003,n=33,dtype=f32", &options, &got);
    if (got.outcome != RIDGE_OUTCOME_PASS)
        say(&got);
    assert_int_equal(got.outcome, RIDGE_OUTCOME_PASS);
    assert_true(got.is_verified);
    assert_int_equal(got.mismatch.shape[0], 1003);
    assert_true(got.mismatch.element_count < 4000);
    run_case("copy", &last, "m=1003,n=33,dtype=f32", &options, &got);
    assert_int_equal(got.outcome, RIDGE_OUTCOME_FAIL);
    assert_int_equal(got.mismatch.last_index, 1003 * 33 - 1);
    assert_int_equal(got.mismatch.box_last[0], 1002);
}

static void survives_no_memory(void **state)
{
    static const mistake what = SCALES_TWICE;
    static ridge_check_result got;
    const ridge_check_options options = {.repeats = 2};
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    ridge_kernel kernel;
    ridge_error err;
    ridge_case at;

    (void)state;
    make_kernel(&kernel, "copy", &what);
    ridge_case_init(&at);
    assert_int_equal(ridge_case_parse("m=3,n=5,layout=pad8", &at, &err), RIDGE_OK);
    for (size_t nth = 1; status != RIDGE_OK; nth++) {
        ridge_memory_fail_at(nth);
        status = ridge_check_kernel(cpu, &kernel, &at, &options, &got, &err);
        ridge_memory_fail_at(0);
        if (status != RIDGE_OK) {
            assert_int_equal(status, RIDGE_ERR_OUT_OF_MEMORY);
            assert_int_equal(got.test_count, 0);
        }
    }
    assert_int_equal(got.outcome, RIDGE_OUTCOME_FAIL);
}

int main(void)
{
    static cases list;
    int failed;

    if (ridge_device_open("cpu", &cpu, NULL) != RIDGE_OK)
        return 1;
    CASES_ADD_ROWS(&list, passes, right_cases);
    CASES_ADD_ROWS(&list, fails, wrong_cases);
    cases_add(&list, "refusals", refusals, NULL);
    cases_add(&list, "launch fails", launch_fails, NULL);
    cases_add(&list, "no reference", without_reference, NULL);
    cases_add(&list, "nothing to differ", nothing_to_differ, NULL);
    cases_add(&list, "the same answer is not stale", same_answer_is_not_stale, NULL);
    cases_add(&list, "poison is no input", poison_is_no_input, NULL);
    cases_add(&list, "what a device cannot", skips_what_a_device_cannot, NULL);
    cases_add(&list, "fence by name", fence_by_name, NULL);
    cases_add(&list, "too large for the memory", too_large, NULL);
    cases_add(&list, "rows of a large case", samples_rows, NULL);
    cases_add(&list, "out of memory", survives_no_memory, NULL);
    failed = cases_run(&list, "check_kernel");
    ridge_device_free(cpu);
    return failed;
}
