/* SPDX-License-Identifier: Apache-2.0
 *
 * From placements to a verdict: pure functions of ln ratios. */
#include <math.h>

#include "bench_internal.h"

void ridge_interval_of(const double *placements, int count, int pilot, ridge_interval *out)
{
    const int first = pilot < count ? pilot : count;
    double t;

    *out = (ridge_interval){.centre = NAN,
                            .low = NAN,
                            .high = NAN,
                            .half_width = NAN,
                            .detectable = NAN,
                            .pilot_sd = NAN};
    out->count = count > 0 ? count : 0;
    out->pilot = first > 0 ? first : 0;
    if (count < 1)
        return;
    out->centre = ridge_stat_mean(placements, (size_t)count);
    if (first < 2)
        return;
    out->pilot_sd = ridge_stat_sd(placements, (size_t)first);
    t = ridge_stat_t_quantile(0.975, first - 1);
    out->half_width = t * out->pilot_sd / sqrt(count);
    out->low = out->centre - out->half_width;
    out->high = out->centre + out->half_width;
    out->detectable = out->half_width * (1 + ridge_stat_t_quantile(0.8, first - 1) / t);
}

void bench_interval_widen(ridge_interval *interval)
{
    const double own = interval->half_width;

    if (isnan(own))
        return;
    interval->half_width = hypot(own, BENCH_LEAST_HALF_WIDTH);
    interval->detectable = hypot(interval->detectable, 1.36 * BENCH_LEAST_HALF_WIDTH);
    interval->low = interval->centre - interval->half_width;
    interval->high = interval->centre + interval->half_width;
}

const char *ridge_bench_verdict_name(ridge_bench_verdict verdict)
{
    static const char *const names[] = {
#define VERDICT_TEXT(name) #name,
        RIDGE_VERDICT_LIST(VERDICT_TEXT)
#undef VERDICT_TEXT
    };

    return (unsigned)verdict < RIDGE_VERDICT_COUNT ? names[verdict] : "unknown";
}

ridge_bench_verdict ridge_bench_verdict_of(const ridge_interval *interval, double delta)
{
    const double low = interval->low, high = interval->high;

    if (isnan(low) || isnan(high) || isnan(delta))
        return RIDGE_VERDICT_CANNOT_TELL;
    if (high < -delta)
        return RIDGE_VERDICT_IMPROVED;
    if (low > delta)
        return RIDGE_VERDICT_REGRESSED;
    if (low >= -delta && high <= delta)
        return RIDGE_VERDICT_SAME;
    if (high < 0)
        return RIDGE_VERDICT_FASTER_SMALL;
    if (low > 0)
        return RIDGE_VERDICT_SLOWER_SMALL;
    return RIDGE_VERDICT_CANNOT_TELL;
}

double ridge_bench_verdict_p(const ridge_interval *interval, double delta)
{
    const double beyond = fabs(interval->centre) - delta;
    const double degrees = interval->pilot - 1;
    double standard_error;

    if (isnan(beyond) || isnan(interval->half_width))
        return NAN;
    standard_error = interval->half_width / ridge_stat_t_quantile(0.975, degrees);
    if (standard_error == 0)
        return beyond > 0 ? 0 : beyond < 0 ? 1 : 0.5;
    return ridge_stat_t_tail(beyond / standard_error, degrees);
}

double ridge_bench_confirmed_p(double first, double second)
{
    const double greater = first > second ? first : second;

    return isnan(first) || isnan(second) ? NAN : greater * greater;
}

/* The next in the order of (p, index) behind (*p, *index). */
static bool holm_next(const double *p, size_t count, double *value, size_t *index)
{
    size_t best = count, i;

    for (i = 0; i < count; i++) {
        if (isnan(p[i]) || p[i] < *value || (p[i] == *value && *index != count && i <= *index))
            continue;
        if (best == count || p[i] < p[best])
            best = i;
    }
    if (best == count)
        return false;
    *value = p[best];
    *index = best;
    return true;
}

void ridge_holm(const double *p, size_t count, double *out)
{
    double value = -INFINITY, greatest = 0;
    size_t index = count, known = 0, rank, i;

    for (i = 0; i < count; i++) {
        out[i] = NAN;
        known += isnan(p[i]) ? 0 : 1;
    }
    for (rank = 0; holm_next(p, count, &value, &index); rank++) {
        greatest = fmax(greatest, fmin(1, (double)(known - rank) * value));
        out[index] = greatest;
    }
}
