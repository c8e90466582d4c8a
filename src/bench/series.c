/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers that are collected while a run goes on, and the clock. */
#include <time.h>

#include "base/memory.h"
#include "bench_internal.h"

double bench_now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

ridge_status bench_series_reserve(bench_series *series, size_t capacity, ridge_error *err)
{
    double *values;

    if (capacity <= series->capacity)
        return RIDGE_OK;
    values = ridge_realloc_array(series->values, capacity, sizeof(*values));
    if (values == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for %zu times", capacity);
    series->values = values;
    series->capacity = capacity;
    return RIDGE_OK;
}

ridge_status bench_series_add(bench_series *series, double value, ridge_error *err)
{
    const ridge_status status =
        series->count < series->capacity
            ? RIDGE_OK
            : bench_series_reserve(series, series->capacity < 64 ? 64 : 2 * series->capacity, err);

    if (status == RIDGE_OK)
        series->values[series->count++] = value;
    return status;
}

double bench_series_median(const bench_series *series)
{
    return ridge_stat_median(series->values, series->count);
}

void bench_series_release(bench_series *series)
{
    ridge_free(series->values);
    *series = (bench_series){0};
}
