/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "bench/bench_internal.h"
#include "cases.h"

static void assert_close(double found, double expected)
{
    if (isnan(expected) ? !isnan(found) : !(fabs(found - expected) <= 1e-9))
        fail_msg("%.12g, expected %.12g", found, expected);
}

/* -- interval ---------------------------------------------------------------------------------- */

static void interval_of_a_pilot(void **state)
{
    static const double values[] = {1, 2, 3, 4, 5, 6};
    const double sd = 1.8708286933869707, t = 2.5705818356363146;
    ridge_interval interval;

    ridge_interval_of(values, 6, 6, &interval);
    assert_close(interval.centre, 3.5);
    assert_close(interval.pilot_sd, sd);
    assert_close(interval.half_width, t * sd / sqrt(6));
    assert_close(interval.low, 3.5 - interval.half_width);
    assert_close(interval.high, 3.5 + interval.half_width);
    assert_close(interval.detectable / interval.half_width, 1.35771815061);
    (void)state;
}

/* Stein: what comes after the pilot moves the centre and narrows, the spread stays the pilot's. */
static void interval_keeps_the_pilots_spread(void **state)
{
    static const double values[] = {1, 2, 3, 4, 5, 6, 100, -100};
    ridge_interval interval;

    ridge_interval_of(values, 8, 6, &interval);
    assert_close(interval.centre, 21.0 / 8);
    assert_close(interval.pilot_sd, 1.8708286933869707);
    assert_close(interval.half_width, 2.5705818356363146 * 1.8708286933869707 / sqrt(8));
    assert_int_equal(interval.count, 8);
    assert_int_equal(interval.pilot, 6);
    (void)state;
}

static void interval_of_few(void **state)
{
    static const double values[] = {1, 2};
    ridge_interval interval;

    ridge_interval_of(values, 0, 6, &interval);
    assert_close(interval.centre, NAN);
    assert_int_equal(interval.count, 0);
    ridge_interval_of(values, 1, 6, &interval);
    assert_close(interval.centre, 1);
    assert_close(interval.half_width, NAN);
    ridge_interval_of(values, 2, 6, &interval); /* interrupted in the pilot */
    assert_int_equal(interval.pilot, 2);
    assert_close(interval.half_width, 12.706204736174707 * sqrt(0.5) / sqrt(2));
    (void)state;
}

static void no_interval_is_narrower_than_the_floor(void **state)
{
    static const double values[] = {0.0003, 0.0003, 0.0003};
    ridge_interval interval;

    ridge_interval_of(values, 3, 3, &interval);
    assert_close(interval.half_width, 0);
    bench_interval_widen(&interval);
    assert_close(interval.low, -0.0007);
    assert_close(interval.high, 0.0013);
    interval.half_width = 0.0024; /* 24, 10: 26 */
    bench_interval_widen(&interval);
    assert_close(interval.half_width, 0.0026);
    interval.half_width = NAN;
    bench_interval_widen(&interval);
    assert_close(interval.half_width, NAN);
    (void)state;
}

/* -- verdict ----------------------------------------------------------------------------------- */

static struct verdict_case {
    const char *name;
    double low, high, delta;
    ridge_bench_verdict verdict;
} verdict_cases[] = {
    {"improved", -0.03, -0.02, 0.01, RIDGE_VERDICT_IMPROVED},
    {"improved by just more than delta", -0.03, -0.0101, 0.01, RIDGE_VERDICT_IMPROVED},
    {"touches -delta from below", -0.03, -0.01, 0.01, RIDGE_VERDICT_FASTER_SMALL},
    {"regressed", 0.02, 0.03, 0.01, RIDGE_VERDICT_REGRESSED},
    {"touches +delta from above", 0.01, 0.03, 0.01, RIDGE_VERDICT_SLOWER_SMALL},
    {"same around 0", -0.004, 0.003, 0.01, RIDGE_VERDICT_SAME},
    {"same, all of delta", -0.01, 0.01, 0.01, RIDGE_VERDICT_SAME},
    {"same though not 0", 0.002, 0.009, 0.01, RIDGE_VERDICT_SAME},
    {"faster, straddles", -0.02, -0.001, 0.01, RIDGE_VERDICT_FASTER_SMALL},
    {"slower, straddles", 0.001, 0.02, 0.01, RIDGE_VERDICT_SLOWER_SMALL},
    {"0 inside, beyond +delta", -0.001, 0.02, 0.01, RIDGE_VERDICT_CANNOT_TELL},
    {"0 inside, beyond -delta", -0.02, 0.001, 0.01, RIDGE_VERDICT_CANNOT_TELL},
    {"0 inside, beyond both", -0.02, 0.02, 0.01, RIDGE_VERDICT_CANNOT_TELL},
    {"0 at the edge", 0, 0.02, 0.01, RIDGE_VERDICT_CANNOT_TELL},
    {"delta 0", 0.001, 0.002, 0, RIDGE_VERDICT_REGRESSED},
    {"no interval", (double)NAN, (double)NAN, 0.01, RIDGE_VERDICT_CANNOT_TELL},
    {"no delta", -0.03, -0.02, (double)NAN, RIDGE_VERDICT_CANNOT_TELL},
};

static void verdicts(void **state)
{
    const struct verdict_case *const test = *state;
    const ridge_interval interval = {.low = test->low, .high = test->high};

    assert_string_equal(ridge_bench_verdict_name(ridge_bench_verdict_of(&interval, test->delta)),
                        ridge_bench_verdict_name(test->verdict));
}

static void names(void **state)
{
    assert_string_equal(ridge_bench_verdict_name(RIDGE_VERDICT_IDENTICAL_CODE), "IDENTICAL_CODE");
    assert_string_equal(ridge_bench_verdict_name(RIDGE_VERDICT_COUNT), "unknown");
    (void)state;
}

/* -- p ----------------------------------------------------------------------------------------- */

static struct p_case {
    const char *name;
    double centre, half_width, delta, p;
} p_cases[] = {
    /* P(T > 1) with 5 degrees of freedom, at one standard error beyond delta. */
    {"one standard error beyond", 0.02, 0.025705818356363146, 0.01, 0.18160873382456129},
    {"the same, faster", -0.02, 0.025705818356363146, 0.01, 0.18160873382456129},
    {"within delta", 0.0, 0.025705818356363146, 0.01, 1 - 0.18160873382456129},
    {"the edge of an interval at delta", 0.03, 0.02, 0.01, 0.025},
    {"no spread, beyond", 0.03, 0, 0.01, 0},
    {"no spread, within", 0.001, 0, 0.01, 1},
    {"not known", (double)NAN, 0.01, 0.01, (double)NAN},
};

static void one_sided(void **state)
{
    const struct p_case *const test = *state;
    const ridge_interval interval = {
        .centre = test->centre, .half_width = test->half_width, .pilot = 6};

    assert_close(ridge_bench_verdict_p(&interval, test->delta), test->p);
}

static void confirmed(void **state)
{
    assert_close(ridge_bench_confirmed_p(0.02, 0.01), 0.0004);
    assert_close(ridge_bench_confirmed_p(0.01, 0.9), 0.81);
    assert_close(ridge_bench_confirmed_p(0.01, NAN), NAN);
    (void)state;
}

static struct holm_case {
    const char *name;
    size_t count;
    double p[5], adjusted[5];
} holm_cases[] = {
    {"none", 0, {0}, {0}},
    {"one", 1, {0.03}, {0.03}},
    {"steps", 4, {0.01, 0.04, 0.03, 0.005}, {0.03, 0.06, 0.06, 0.02}},
    {"monotone", 3, {0.02, 0.021, 0.022}, {0.06, 0.06, 0.06}},
    {"at most 1", 3, {0.5, 0.6, 0.7}, {1, 1, 1}},
    {"ties", 4, {0.01, 0.01, 0.01, 0.01}, {0.04, 0.04, 0.04, 0.04}},
    {"unknown ones do not count", 3, {0.01, (double)NAN, 0.02}, {0.02, (double)NAN, 0.02}},
};

static void holm(void **state)
{
    const struct holm_case *const test = *state;
    double adjusted[5];
    size_t i;

    ridge_holm(test->p, test->count, adjusted);
    for (i = 0; i < test->count; i++)
        assert_close(adjusted[i], test->adjusted[i]);
}

int main(void)
{
    static cases list;

    cases_add(&list, "interval of a pilot", interval_of_a_pilot, NULL);
    cases_add(&list, "interval keeps the pilot's spread", interval_keeps_the_pilots_spread, NULL);
    cases_add(&list, "interval of few", interval_of_few, NULL);
    cases_add(&list, "floor of the interval", no_interval_is_narrower_than_the_floor, NULL);
    CASES_ADD_ROWS(&list, verdicts, verdict_cases);
    cases_add(&list, "names", names, NULL);
    CASES_ADD_ROWS(&list, one_sided, p_cases);
    cases_add(&list, "confirmed", confirmed, NULL);
    CASES_ADD_ROWS(&list, holm, holm_cases);
    return cases_run(&list, "verdict");
}
