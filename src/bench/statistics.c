/* SPDX-License-Identifier: Apache-2.0
 *
 * Order statistics, the Hodges-Lehmann centre and Student's t. Nothing allocates and nothing is
 * sorted in place, so that all of it is pure.
 *
 * Order statistics of arrays are found by bisection over the bits of a double, whose order is that
 * of integers once the negative ones are mirrored: 64 passes, exact. Student's t is the regularised
 * incomplete beta function by its continued fraction (DLMF 8.17.22, modified Lentz). */
#include <math.h>
#include <string.h>

#include "bench_internal.h"

enum { CENTRE_MOST = 64, WALSH_MOST = CENTRE_MOST * (CENTRE_MOST + 1) / 2 };

static const double PI = 3.14159265358979323846;

/* -- order ------------------------------------------------------------------------------------- */

/* Integers in the order of the doubles. */
static uint64_t key_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits >> 63 != 0 ? ~bits : bits | (uint64_t)1 << 63;
}

static double value_of(uint64_t key)
{
    const uint64_t bits = key >> 63 != 0 ? key & ~((uint64_t)1 << 63) : ~key;
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* The rank-th smallest, from 0. */
static double order_statistic(const double *values, size_t count, size_t rank)
{
    uint64_t low = 0, high = UINT64_MAX;

    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        size_t at_most = 0, i;

        for (i = 0; i < count; i++)
            at_most += key_of(values[i]) <= middle;
        if (at_most > rank)
            high = middle;
        else
            low = middle + 1;
    }
    return value_of(low);
}

static bool has_nan(const double *values, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        if (isnan(values[i]))
            return true;
    return false;
}

double ridge_stat_quantile(const double *values, size_t count, double frac)
{
    double position, below, lower, upper;
    size_t rank;

    if (count == 0 || !(frac >= 0 && frac <= 1) || has_nan(values, count))
        return NAN;
    position = frac * (double)(count - 1);
    below = floor(position);
    rank = (size_t)below;
    lower = order_statistic(values, count, rank);
    if (position == below)
        return lower;
    upper = order_statistic(values, count, rank + 1);
    return lower + (position - below) * (upper - lower);
}

double ridge_stat_median(const double *values, size_t count)
{
    return ridge_stat_quantile(values, count, 0.5);
}

/* Shell's, gaps of Ciura: 2080 averages at most, 10 as a rule. */
static void sort(double *values, size_t count)
{
    static const size_t gaps[] = {701, 301, 132, 57, 23, 10, 4, 1};
    size_t g, i, k;

    for (g = 0; g < sizeof(gaps) / sizeof(gaps[0]); g++) {
        const size_t gap = gaps[g];

        for (i = gap; i < count; i++) {
            const double value = values[i];

            for (k = i; k >= gap && values[k - gap] > value; k -= gap)
                values[k] = values[k - gap];
            values[k] = value;
        }
    }
}

double ridge_stat_centre(const double *values, size_t count)
{
    double walsh[WALSH_MOST];
    size_t used = 0, i, k;

    if (count == 0 || count > CENTRE_MOST || has_nan(values, count))
        return NAN;
    for (i = 0; i < count; i++)
        for (k = i; k < count; k++)
            walsh[used++] = 0.5 * (values[i] + values[k]);
    sort(walsh, used);
    return 0.5 * (walsh[(used - 1) / 2] + walsh[used / 2]);
}

double ridge_stat_mean(const double *values, size_t count)
{
    double sum = 0;
    size_t i;

    for (i = 0; i < count; i++)
        sum += values[i];
    return count == 0 ? NAN : sum / (double)count;
}

double ridge_stat_sd(const double *values, size_t count)
{
    const double mean = ridge_stat_mean(values, count);
    double sum = 0;
    size_t i;

    if (count < 2)
        return NAN;
    for (i = 0; i < count; i++)
        sum += (values[i] - mean) * (values[i] - mean);
    return sqrt(sum / (double)(count - 1));
}

/* -- Student's t ------------------------------------------------------------------------------- */

/* ln(Gamma(a + 1/2) / Gamma(a)), a > 0, by the difference of Stirling's series (DLMF 5.11.1) from
 * a >= 16 on, where the first term left out is below 1e-15 and nothing cancels. */
static double log_gamma_step(double a)
{
    double shift = 0, series[2];
    int i;

    while (a < 16) {
        shift += log(a / (a + 0.5));
        a += 1;
    }
    for (i = 0; i < 2; i++) {
        const double inverse = 1 / (a + 0.5 * i), square = inverse * inverse;

        series[i] =
            inverse *
            (1.0 / 12 -
             square * (1.0 / 360 - square * (1.0 / 1260 - square * (1.0 / 1680 - square / 1188))));
    }
    return shift + (a - 0.5) * log1p(0.5 / a) + 0.5 * log(a + 0.5) - 0.5 + series[1] - series[0];
}

/* The continued fraction; x below (a + 1) / (a + b + 2), where it converges fast. */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1), value;
    int m;

    d = 1 / (fabs(d) < tiny ? tiny : d);
    value = d;
    for (m = 1; m < 20000; m++) {
        double factor = 1;
        int half;

        for (half = 0; half < 2; half++) {
            const double term = half == 0
                                    ? m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
                                    : -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));

            d = 1 + term * d;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = 1 + term / c;
            if (fabs(c) < tiny)
                c = tiny;
            factor = c * d;
            value *= factor;
        }
        if (fabs(factor - 1) < 1e-15)
            break;
    }
    return value;
}

/* Half of I_x(degrees / 2, 1 / 2) with x = degrees / (degrees + t^2). */
double ridge_stat_t_tail(double t, double degrees)
{
    const double a = degrees / 2, square = t * t;
    const double x = degrees / (degrees + square), rest = square / (degrees + square);
    double front, half;

    if (isnan(t) || !(degrees > 0))
        return NAN;
    if (t == 0)
        return 0.5;
    if (isinf(square))
        return t > 0 ? 0 : 1;
    front = exp(log_gamma_step(a) - 0.5 * log(PI) - a * log1p(square / degrees) + 0.5 * log(rest));
    if (x < (a + 1) / (a + 2.5))
        half = 0.5 * front * beta_fraction(a, 0.5, x) / a;
    else
        half = 0.5 - front * beta_fraction(0.5, a, rest);
    return t > 0 ? half : 1 - half;
}

static double t_density(double t, double degrees)
{
    return exp(log_gamma_step(degrees / 2) - 0.5 * log(PI * degrees) -
               (degrees + 1) / 2 * log1p(t * t / degrees));
}

/* Newton from 0: for t > 0 the tail is convex and falls, so that every step is too short and the
 * steps end where rounding does. */
double ridge_stat_t_quantile(double probability, double degrees)
{
    const double tail = probability > 0.5 ? 1 - probability : probability;
    double t = 0;
    int i;

    if (!(probability >= 0 && probability <= 1) || !(degrees > 0))
        return NAN;
    if (tail == 0)
        return probability > 0.5 ? INFINITY : -INFINITY;
    for (i = 0; i < 2000; i++) {
        const double next = t + (ridge_stat_t_tail(t, degrees) - tail) / t_density(t, degrees);

        if (!(next > t * (1 + 1e-15)))
            break;
        t = next;
    }
    return probability > 0.5 ? t : -t;
}

/* -- for the loop ------------------------------------------------------------------------------ */

double bench_trend(const double *values, size_t count)
{
    double slopes[CENTRE_MOST * (CENTRE_MOST - 1) / 2];
    size_t used = 0, i, k;

    if (count < 2 || count > CENTRE_MOST)
        return NAN;
    for (i = 0; i < count; i++)
        for (k = i + 1; k < count; k++)
            slopes[used++] = (values[k] - values[i]) / (double)(k - i);
    sort(slopes, used);
    return 0.5 * (slopes[(used - 1) / 2] + slopes[used / 2]);
}
