/* SPDX-License-Identifier: Apache-2.0
 *
 * How long the parts of `ridge timeline` take: opening (read, sort, join), accounts, sums of kernels
 * and ranges, the plan. Each run in a process of its own, so that the peak of memory is that of one
 * trace. The whole command is measured from outside: bench/results/timeline_speed.md.
 *
 *     timeline_speed [RUNS] FILE...      rows; fastest and median of RUNS (5), processor time, peak
 *                                        memory; the parts of the fastest run
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

#include "ridge/timeline.h"
#include "ridge/trace_sums.h"

enum { MOST_RUNS = 101 };

typedef enum part { OPEN, ACCOUNTS, KERNELS, RANGES, PLAN, PARTS } part;
static const char *const part_names[] = {"open", "accounts", "kernels", "ranges", "plan"};

typedef struct run_result {
    double wall_s, processor_s;
    double part_s[PARTS], part_processor_s[PARTS];
    long peak_kib;
    size_t op_count, api_count, range_count;
} run_result;

typedef struct moment {
    double wall_s, processor_s; /* of all threads */
} moment;

static double read_clock(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static moment now(void)
{
    return (moment){read_clock(CLOCK_MONOTONIC), read_clock(CLOCK_PROCESS_CPUTIME_ID)};
}

/* The part that ends now. */
static void lap(run_result *result, part of, moment *since)
{
    const moment time = now();

    result->part_s[of] = time.wall_s - since->wall_s;
    result->part_processor_s[of] = time.processor_s - since->processor_s;
    result->wall_s += result->part_s[of];
    *since = time;
}

/* What the screen of a trace needs. */
static ridge_status take_account(const ridge_trace *trace, run_result *result, ridge_error *err)
{
    const unsigned kinds = 1u << RIDGE_RANGE_NVTX | 1u << RIDGE_RANGE_ANNOTATION;
    ridge_timeline *timeline = NULL;
    ridge_trace_sums kernels = {0};
    ridge_range_sums ranges = {0};
    ridge_timeline_next next = {0};
    const ridge_device_account *device = NULL;
    moment since = now();
    ridge_status status = ridge_timeline_create(trace, NULL, &timeline, err);

    lap(result, ACCOUNTS, &since);
    if (status == RIDGE_OK)
        device = ridge_timeline_main_device(timeline);
    if (device != NULL)
        status = ridge_trace_sum_kernels(trace, RIDGE_KERNEL_BY_NAME, device->device, NULL,
                                         &kernels, err);
    lap(result, KERNELS, &since);
    if (status == RIDGE_OK)
        status = ridge_trace_sum_ranges(trace, kinds, NULL, &ranges, err);
    lap(result, RANGES, &since);
    if (status == RIDGE_OK && device != NULL)
        status = ridge_timeline_plan(timeline, device, NULL, NULL, false, &next, err);
    lap(result, PLAN, &since);
    ridge_timeline_next_free(&next);
    ridge_range_sums_free(&ranges);
    ridge_trace_sums_free(&kernels);
    ridge_timeline_free(timeline);
    return status;
}

static int read_trace(const char *file, int output)
{
    run_result result = {0};
    ridge_trace *trace = NULL;
    ridge_error err;
    moment since = now();
    ridge_status status = ridge_trace_open(file, NULL, &trace, &err);

    lap(&result, OPEN, &since);
    if (status == RIDGE_OK)
        status = take_account(trace, &result, &err);
    if (status != RIDGE_OK)
        return fprintf(stderr, "timeline_speed: %s: %s\n", file, err.text), 1;
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
    result->processor_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
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
    printf("%s: %.1f MB, %zu pieces of work, %zu calls, %zu ranges\n", file,
           (double)status.st_size * 1e-6, median->op_count, median->api_count, median->range_count);
    printf("  all       fastest %.2f s, median %.2f s; processor %.2f s, peak %.0f MiB\n",
           results[0].wall_s, median->wall_s, results[0].processor_s,
           (double)results[0].peak_kib / 1024);
    for (int i = 0; i < PARTS; i++)
        printf("  %-9s %.2f s, processor %.2f s\n", part_names[i], results[0].part_s[i],
               results[0].part_processor_s[i]);
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
