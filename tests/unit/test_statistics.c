/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "cases.h"
#include "ridge/bench.h"

static void assert_near(double found, double expected, double relative)
{
    if (isnan(expected) ? isnan(found) : found == expected)
        return;
    if (!(fabs(found - expected) <= relative * fabs(expected)))
        fail_msg("%.17g, expected %.17g", found, expected);
}

/* -- order ------------------------------------------------------------------------------------- */

#define UNKNOWN (double)NAN

static struct order_case {
    const char *name;
    size_t count;
    double values[8];
    double median, p10, p90, centre, mean, sd;
} order_cases[] = {
    {"none", 0, {0}, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN},
    {"one", 1, {3}, 3, 3, 3, 3, 3, UNKNOWN},
    {"two", 2, {4, 2}, 3, 2.2, 3.8, 3, 3, 1.4142135623730951},
    {"signs", 3, {-1, 2, -8}, -1, -6.6, 1.4, -2.0, -7.0 / 3, 5.1316014394468838},
    {"ties", 4, {5, 5, 5, 5}, 5, 5, 5, 5, 5, 0},
    {"zeros of both signs", 3, {0.0, -0.0, 0.0}, 0, 0, 0, 0, 0, 0},
    /* One wild block of four does not move the centre far; it moves the mean by 25. */
    {"one wild of four", 4, {1, 2, 3, 104}, 2.5, 1.3, 73.7, 2.75, 27.5, 51.0065355289561},
    {"nan", 3, {1, UNKNOWN, 3}, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN},
};

static void order(void **state)
{
    const struct order_case *const test = *state;

    assert_near(ridge_stat_median(test->values, test->count), test->median, 1e-15);
    assert_near(ridge_stat_quantile(test->values, test->count, 0.1), test->p10, 1e-15);
    assert_near(ridge_stat_quantile(test->values, test->count, 0.9), test->p90, 1e-15);
    assert_near(ridge_stat_centre(test->values, test->count), test->centre, 1e-15);
    assert_near(ridge_stat_mean(test->values, test->count), test->mean, 1e-15);
    assert_near(ridge_stat_sd(test->values, test->count), test->sd, 1e-13);
}

static void quantiles_of_many(void **state)
{
    static double values[1001];
    size_t i;

    for (i = 0; i < 1001; i++)
        values[i] = (double)((i * 379) % 1001) - 500; /* each of -500 ... 500 once */
    assert_near(ridge_stat_quantile(values, 1001, 0), -500, 0);
    assert_near(ridge_stat_quantile(values, 1001, 1), 500, 0);
    assert_near(ridge_stat_quantile(values, 1001, 0.25), -250, 0);
    assert_near(ridge_stat_median(values, 1001), 0, 0);
    assert_near(ridge_stat_quantile(values, 1001, 1.5), NAN, 0);
    assert_near(ridge_stat_quantile(values, 1001, NAN), NAN, 0);
    assert_true(isfinite(ridge_stat_centre(values, 64)) != 0); /* the most there may be */
    assert_near(ridge_stat_centre(values, 65), NAN, 0);
    (void)state;
}

/* -- Student's t ------------------------------------------------------------------------------- */

/* Computed with 30 digits (mpmath, regularised incomplete beta function). */
static const struct {
    double probability, degrees, t;
} quantiles[] = {
    {0.6, 1, 0.324919696232906},      {0.8, 1, 1.37638192047117},
    {0.95, 1, 6.31375151467504},      {0.975, 1, 12.7062047361747},
    {0.999, 1, 318.30883898555},      {0.6, 2, 0.288675134594813},
    {0.8, 2, 1.06066017177982},       {0.95, 2, 2.91998558035373},
    {0.975, 2, 4.30265272974946},     {0.999, 2, 22.3271247701199},
    {0.6, 3, 0.27667066233269},       {0.8, 3, 0.978472312363304},
    {0.95, 3, 2.35336343480182},      {0.975, 3, 3.18244630528371},
    {0.999, 3, 10.2145318524074},     {0.6, 5, 0.267180865704145},
    {0.8, 5, 0.919543780240826},      {0.95, 5, 2.01504837333302},
    {0.975, 5, 2.57058183563632},     {0.999, 5, 5.89342953135601},
    {0.6, 7.5, 0.262501898804295},    {0.8, 7.5, 0.892209346939674},
    {0.95, 7.5, 1.87574747921129},    {0.975, 7.5, 2.33303962686497},
    {0.999, 7.5, 4.6303190940341},    {0.6, 23, 0.256297059914685},
    {0.8, 23, 0.857529553688035},     {0.95, 23, 1.71387152774705},
    {0.975, 23, 2.06865761041905},    {0.999, 23, 3.48496437493981},
    {0.6, 100, 0.254022182458228},    {0.8, 100, 0.845230424491016},
    {0.95, 100, 1.66023432608534},    {0.975, 100, 1.98397151852355},
    {0.999, 100, 3.17373949373878},   {0.6, 1e+06, 0.253347170537842},
    {0.8, 1e+06, 0.841621593013984},  {0.95, 1e+06, 1.64485515072204},
    {0.975, 1e+06, 1.95996635681411}, {0.999, 1e+06, 3.09024045631652},
};

static void t_quantiles(void **state)
{
    size_t i;

    for (i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
        const double t = ridge_stat_t_quantile(quantiles[i].probability, quantiles[i].degrees);

        assert_near(t, quantiles[i].t, 1e-10);
        assert_near(ridge_stat_t_quantile(1 - quantiles[i].probability, quantiles[i].degrees), -t,
                    1e-10);
        assert_near(ridge_stat_t_tail(t, quantiles[i].degrees), 1 - quantiles[i].probability,
                    1e-10);
    }
    assert_near(ridge_stat_t_quantile(0.5, 5), 0, 1e-12);
    assert_near(ridge_stat_t_quantile(1, 5), INFINITY, 0);
    assert_near(ridge_stat_t_quantile(0, 5), -INFINITY, 0);
    (void)state;
}

static const struct {
    double t, degrees, tail;
} tails[] = {
    {0, 5, 0.5},
    {1, 5, 0.181608733824561},
    {-1, 5, 0.818391266175439},
    {10, 5, 8.54737878714818e-5},
    {40, 23, 4.56440372652797e-23},
    {3, 1.5, 0.0667738771274566},
    {0.001, 4, 0.499625000078125},
    {INFINITY, 5, 0},
    {-INFINITY, 5, 1},
};

static void t_tails(void **state)
{
    size_t i;

    for (i = 0; i < sizeof(tails) / sizeof(tails[0]); i++)
        assert_near(ridge_stat_t_tail(tails[i].t, tails[i].degrees), tails[i].tail, 1e-10);
    (void)state;
}

static void outside_the_domain(void **state)
{
    assert_near(ridge_stat_t_tail(NAN, 5), NAN, 0);
    assert_near(ridge_stat_t_tail(1, 0), NAN, 0);
    assert_near(ridge_stat_t_tail(1, NAN), NAN, 0);
    assert_near(ridge_stat_t_quantile(1.5, 5), NAN, 0);
    assert_near(ridge_stat_t_quantile(NAN, 5), NAN, 0);
    assert_near(ridge_stat_t_quantile(0.9, -1), NAN, 0);
    (void)state;
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, order, order_cases);
    cases_add(&list, "quantiles of many", quantiles_of_many, NULL);
    cases_add(&list, "t quantiles", t_quantiles, NULL);
    cases_add(&list, "t tails", t_tails, NULL);
    cases_add(&list, "outside the domain", outside_the_domain, NULL);
    return cases_run(&list, "statistics");
}
