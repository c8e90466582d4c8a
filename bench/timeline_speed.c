/* SPDX-License-Identifier: Apache-2.0
 *
 * How long a trace takes to read, sort and join: ridge_trace_open() in a process of its own for
 * each run, so that the peak of memory is that of one trace.
 *
 *     timeline_speed [RUNS] FILE...      rows, median and fastest of RUNS (5), user time, peak memory
 *
 * Large traces are made by bench/timeline/make_trace.py. */
#define _DEFAULT_SOURCE 1 /* wait4 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ridge/trace.h"

enum { MOST_RUNS = 101 };

typedef struct run_result {
    double wall_s, user_s;
    long peak_kib;
    size_t op_count, api_count, range_count;
} run_result;

static double now_s(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int read_trace(const char *file, int output)
{
    run_result result = {0};
    ridge_trace *trace = NULL;
    ridge_error err;
    const double start_s = now_s();

    if (ridge_trace_open(file, NULL, &trace, &err) != RIDGE_OK)
        return fprintf(stderr, "timeline_speed: %s: %s\n", file, err.text), 1;
    result.wall_s = now_s() - start_s;
    ridge_trace_ops(trace, &result.op_count);
    ridge_trace_apis(trace, &result.api_count);
    ridge_trace_ranges(trace, &result.range_count);
    ridge_trace_free(trace);
    return write(output, &result, sizeof(result)) != (ssize_t)sizeof(result);
}

static int run_once(const char *file, run_result *result)
{
    struct rusage usage;
    int ends[2], status = 0;
    pid_t child;

    if (pipe(ends) != 0)
        return 1;
    child = fork();
    if (child == 0)
        _exit(read_trace(file, ends[1]));
    close(ends[1]);
    if (child < 0 || read(ends[0], result, sizeof(*result)) != (ssize_t)sizeof(*result))
        status = 1;
    close(ends[0]);
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0)
        return 1;
    result->user_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                     (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
    result->peak_kib = usage.ru_maxrss;
    return 0;
}

static int compare_runs(const void *left, const void *right)
{
    const double a = ((const run_result *)left)->wall_s, b = ((const run_result *)right)->wall_s;

    return (a > b) - (a < b);
}

static int measure(const char *file, int runs)
{
    run_result results[MOST_RUNS];
    const run_result *const median = &results[runs / 2];
    struct stat status;

    for (int i = 0; i < runs; i++)
        if (run_once(file, &results[i]) != 0)
            return fprintf(stderr, "timeline_speed: %s was not read\n", file), 1;
    if (stat(file, &status) != 0)
        return 1;
    qsort(results, (size_t)runs, sizeof(results[0]), compare_runs);
    printf("%9.1f MB  ops %zu calls %zu ranges %zu  median %.2f s (%.0f MB/s)  fastest %.2f  "
           "processor %.2f s  peak %.0f MiB  %s\n",
           (double)status.st_size * 1e-6, median->op_count, median->api_count, median->range_count,
           median->wall_s, (double)status.st_size * 1e-6 / median->wall_s, results[0].wall_s,
           median->user_s, (double)median->peak_kib / 1024, file);
    return 0;
}

int main(int argc, char **argv)
{
    int first = 1, runs = 5, result = 0;

    if (argc > 2 && strspn(argv[1], "0123456789") == strlen(argv[1])) {
        runs = atoi(argv[1]);
        first = 2;
    }
    if (argc <= first || runs < 1 || runs > MOST_RUNS)
        return fprintf(stderr, "usage: timeline_speed [RUNS] FILE...\n"), 2;
    for (int i = first; i < argc; i++)
        result |= measure(argv[i], runs);
    return result;
}
