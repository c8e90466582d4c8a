/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests of the measuring loop on a real machine: does it see nothing where there is nothing, what
 * is there where there is something, and the bias that its rules are against when they are off?
 *
 *     self_test [--device cuda] [--seconds 600] [--sessions 40] [--seed 1] [--lines FILE]
 *
 * null         one kernel against a second copy of its code, in shared buffers: at most 4 intervals
 *              of 40 may exclude 0 (of fewer, what chance allows), and none is IMPROVED or REGRESSED
 *              at 1 %
 * sensitivity  a probe that does 0.5, 1, 2 or 5 % more: as many intervals hold the truth, at 2 % as
 *              many verdicts are REGRESSED. More arithmetic takes as much more time; what more bytes
 *              take is only near that, so for the copies the truth is the mean of all sessions,
 *              which must be within 15 % of the bytes
 * trap         each arm with buffers of its own: more than three in ten intervals exclude 0, else
 *              sharing has silently been lost, or this machine does not need it; and zeros
 *              against random values under sustained load: two different ratios
 *
 * Sessions go round the cells of the table, so that any budget gives all of them the same number;
 * the device is opened anew after every fifth. One line of JSON for each session goes to FILE, the
 * table to stdout. Exit 1: a rule was broken. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ridge/bench.h"

enum { SESSIONS_MOST = 200, REOPEN = 5 };

typedef enum part { NULL_TEST, SENSITIVITY, SEPARATE, ZEROS } part;
static const char *const PART_NAMES[] = {"null", "sensitivity", "separate", "zeros"};
enum { PARTS = sizeof(PART_NAMES) / sizeof(PART_NAMES[0]) };

/* A row of the table: two arms of one probe. */
typedef struct cell {
    part part;
    const char *name;
    const char *kernel;
    const char *gpu_case, *cpu_case; /* NULL: not there */
    int extra;                       /* of the candidate, hundredths of a percent */
    int share;                       /* sessions: one of so many; 0: one in all */
} cell;

#define COPY16 "bytes=8388608"
#define COPY256 "bytes=134217728"
/* Starting and ending take 3 to 4 us whatever the size: 1 % of this one, 6 % of 256 MiB. */
#define COPY1024 "bytes=536870912"
#define FMA "iterations=16384,blocks=132"
/* Whole rounds of the 64 multiply-adds of the loop, with 0.5 % more too. */
#define FMA_LONG "iterations=1024000,blocks=132"
#define MMA "iterations=2048,blocks=132"
#define MMA_LONG "iterations=8192,blocks=132"
#define CPU_COPY "bytes=65536"
#define CPU_FMA "iterations=64,blocks=1"

static const cell CELLS[] = {
    {NULL_TEST, "copy 16 MiB", "probe:copy", COPY16, CPU_COPY, 0, 1},
    {NULL_TEST, "copy 256 MiB", "probe:copy", COPY256, NULL, 0, 1},
    {NULL_TEST, "fma", "probe:fma", FMA, CPU_FMA, 0, 1},
    {NULL_TEST, "tiny", "probe:tiny", "blocks=132", "blocks=1", 0, 1},
    {NULL_TEST, "mma", "probe:mma", MMA, NULL, 0, 1},
    {SENSITIVITY, "copy 1 GiB +0.5 %", "probe:copy", COPY1024, NULL, 50, 2},
    {SENSITIVITY, "copy 1 GiB +1 %", "probe:copy", COPY1024, NULL, 100, 2},
    {SENSITIVITY, "copy 1 GiB +2 %", "probe:copy", COPY1024, NULL, 200, 2},
    {SENSITIVITY, "copy 1 GiB +5 %", "probe:copy", COPY1024, NULL, 500, 2},
    {SENSITIVITY, "fma +0.5 %", "probe:fma", FMA_LONG, NULL, 50, 2},
    {SENSITIVITY, "fma +1 %", "probe:fma", FMA_LONG, NULL, 100, 2},
    {SENSITIVITY, "fma +2 %", "probe:fma", FMA_LONG, NULL, 200, 2},
    {SENSITIVITY, "fma +5 %", "probe:fma", FMA_LONG, "iterations=2048,blocks=1", 500, 2},
    {SENSITIVITY, "mma +0.5 %", "probe:mma", MMA_LONG, NULL, 50, 2},
    {SENSITIVITY, "mma +2 %", "probe:mma", MMA_LONG, NULL, 200, 2},
    {SEPARATE, "copy 16 MiB, own buffers", "probe:copy", COPY16, CPU_COPY, 0, 2},
    {SEPARATE, "copy 256 MiB, own buffers", "probe:copy", COPY256, NULL, 0, 2},
    {ZEROS, "mma, zeros against random", "probe:mma", MMA_LONG, NULL, 0, 0},
};
enum { CELL_COUNT = sizeof(CELLS) / sizeof(CELLS[0]) };

typedef struct tally {
    int sessions, excludes_zero, moved, regressed, invalid;
    double centres[SESSIONS_MOST], half_widths[SESSIONS_MOST], lows[SESSIONS_MOST],
        highs[SESSIONS_MOST];
    double equal, sustained, seconds;
    bool is_absent;
} tally;

typedef struct settings {
    const char *device, *lines, *part; /* part NULL: all */
    double seconds;
    int sessions;
    uint64_t seed;
} settings;

/* -- arms: a probe with axes of its own -------------------------------------------------------- */

typedef struct changed {
    ridge_kernel kernel; /* its context is this */
    const ridge_kernel *probe;
    char changes[64];
    bool is_zero;
} changed;

static ridge_case change(const ridge_kernel *self, const ridge_case *at)
{
    ridge_case own = *at;

    /* The probes have these axes. */
    if (ridge_case_parse(((const changed *)self->context)->changes, &own, NULL) != RIDGE_OK)
        abort();
    return own;
}

static ridge_status changed_describe(const ridge_kernel *self, const ridge_case *at,
                                     ridge_buffer_desc *buffers, size_t *count, ridge_error *err)
{
    const changed *const own = self->context;
    const ridge_case case_own = change(self, at);
    const ridge_status status = own->probe->describe(own->probe, &case_own, buffers, count, err);
    size_t i;

    for (i = 0; i < *count && status == RIDGE_OK && own->is_zero; i++) {
        buffers[i].has_values = true;
        buffers[i].values = RIDGE_VALUES_ZERO;
    }
    return status;
}

static ridge_status changed_work(const ridge_kernel *self, const ridge_case *at,
                                 ridge_kernel_work *out, ridge_error *err)
{
    const ridge_kernel *const probe = ((const changed *)self->context)->probe;
    const ridge_case own = change(self, at);

    return probe->work(probe, &own, out, err);
}

static ridge_status changed_launch(const ridge_kernel *self, const ridge_case *at,
                                   const ridge_view *view, void *state, struct CUstream_st *stream,
                                   ridge_error *err)
{
    const ridge_kernel *const probe = ((const changed *)self->context)->probe;
    const ridge_case own = change(self, at);

    return probe->launch(probe, &own, view, state, stream, err);
}

static void changed_init(changed *out, const char *probe, int variant, int extra, bool is_zero)
{
    *out = (changed){.kernel = {.struct_size = sizeof(ridge_kernel),
                                .name = probe,
                                .describe = changed_describe,
                                .work = changed_work,
                                .launch = changed_launch},
                     .probe = ridge_family_variant(ridge_probe_family(), probe),
                     .is_zero = is_zero};
    out->kernel.context = out;
    snprintf(out->changes, sizeof(out->changes), "variant=%d,extra=%d", variant, extra);
}

/* -- sessions ---------------------------------------------------------------------------------- */

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static ridge_bench_options options_of(const cell *row, bool is_gpu, uint64_t seed)
{
    /* Both arms are the harness's own and right; a probe that repeats itself is not checked. */
    ridge_bench_options options = {.delta = 0.01,
                                   .budget_s = is_gpu ? 4 : 0.3,
                                   .pilot = is_gpu ? 6 : 3,
                                   .blocks = is_gpu ? 4 : 2,
                                   .regime = RIDGE_REGIME_SHORT,
                                   .seed = seed,
                                   .without = 1u << RIDGE_GUARD_CHECK};

    if (row->part == SEPARATE)
        options.without |= 1u << RIDGE_GUARD_SHARE_BUFFERS;
    if (row->part == ZEROS) {
        options.without |= 1u << RIDGE_GUARD_OUTPUTS | 1u << RIDGE_GUARD_SHARED;
        options.regime = RIDGE_REGIME_BOTH;
        options.budget_s = 36;
    }
    return options;
}

static bool is_copy(const cell *row)
{
    return strcmp(row->kernel, "probe:copy") == 0;
}

/* ln of the ratio that the cell has, as far as is known. */
static double truth_of(const cell *row, const tally *sum)
{
    return row->part == SENSITIVITY && is_copy(row)
               ? ridge_stat_mean(sum->centres, (size_t)sum->sessions)
               : log1p(row->extra * 1e-4);
}

static int covers(const cell *row, const tally *sum)
{
    const double truth = truth_of(row, sum);
    int count = 0, i;

    for (i = 0; i < sum->sessions; i++)
        count += sum->lows[i] <= truth && truth <= sum->highs[i];
    return count;
}

static void count(const ridge_comparison *result, tally *sum)
{
    const ridge_interval *const interval = &result->interval;

    if (sum->sessions == SESSIONS_MOST)
        return;
    sum->centres[sum->sessions] = interval->centre;
    sum->half_widths[sum->sessions] = interval->half_width;
    sum->lows[sum->sessions] = interval->low;
    sum->highs[sum->sessions] = interval->high;
    sum->sessions++;
    sum->excludes_zero += interval->low > 0 || interval->high < 0;
    sum->moved +=
        result->verdict == RIDGE_VERDICT_IMPROVED || result->verdict == RIDGE_VERDICT_REGRESSED;
    sum->regressed += result->verdict == RIDGE_VERDICT_REGRESSED;
    sum->invalid += result->verdict == RIDGE_VERDICT_INVALID;
    sum->equal = interval->centre;
    sum->sustained = result->sustained.centre;
    sum->seconds += result->duration_s;
}

static void print_number(FILE *lines, const char *key, double value)
{
    if (isnan(value))
        fprintf(lines, ", \"%s\": null", key);
    else
        fprintf(lines, ", \"%s\": %.9g", key, value);
}

static void print_line(FILE *lines, const cell *row, uint64_t seed, const ridge_comparison *result)
{
    const struct {
        const char *key;
        double value;
    } numbers[] = {
        {"centre", result->interval.centre},
        {"low", result->interval.low},
        {"high", result->interval.high},
        {"pilot_sd", result->interval.pilot_sd},
        {"sustained", result->sustained.centre},
        {"a_ns", result->arms[0].median_ns},
        {"b_ns", result->arms[1].median_ns},
        {"a_amortized_ns", result->arms[0].amortized_ns},
        {"b_amortized_ns", result->arms[1].amortized_ns},
        {"sm_hz", result->arms[0].sm_hz},
        {"power_w", result->arms[0].power_w},
        {"duration_s", result->duration_s},
    };
    size_t i;

    fprintf(lines,
            "{\"cell\": \"%s\", \"seed\": %llu, \"verdict\": \"%s\", \"placements\": %d, "
            "\"blocks\": %d, \"rotation\": %d, \"mode\": %d, \"outputs_checked\": %d, "
            "\"guard\": \"%s\"",
            row->name, (unsigned long long)seed, ridge_bench_verdict_name(result->verdict),
            result->placements, result->blocks, result->rotation, (int)result->mode,
            result->outputs_checked, result->invalid_guard);
    for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        print_number(lines, numbers[i].key, numbers[i].value);
    fprintf(lines, "}\n");
    fflush(lines);
}

static ridge_status session(ridge_device *device, const cell *row, uint64_t seed, FILE *lines,
                            tally *sum, ridge_error *err)
{
    const bool is_gpu = ridge_device_get_info(device)->kind == RIDGE_DEVICE_CUDA;
    const char *const text = is_gpu ? row->gpu_case : row->cpu_case;
    const ridge_bench_options options = options_of(row, is_gpu, seed);
    ridge_case at = ridge_probe_family()->default_case;
    ridge_comparison result;
    ridge_bench_arm arms[2];
    changed a, b;
    ridge_status status;

    sum->is_absent = text == NULL;
    if (sum->is_absent)
        return RIDGE_OK;
    changed_init(&a, row->kernel, 0, 0, false);
    changed_init(&b, row->kernel, row->extra > 0 || row->part == ZEROS ? 0 : 1, row->extra,
                 row->part == ZEROS);
    arms[0] = (ridge_bench_arm){&a.kernel, row->kernel, ""};
    arms[1] = (ridge_bench_arm){&b.kernel, row->kernel, ""};
    status = ridge_case_parse(text, &at, err);
    if (status == RIDGE_OK)
        status = ridge_bench_compare(device, &arms[0], &arms[1], &at, &options, NULL, &result, err);
    if (status != RIDGE_OK)
        return status;
    print_line(lines, row, seed, &result);
    if (result.verdict == RIDGE_VERDICT_INVALID)
        fprintf(stderr, "self_test: %s, seed %llu: %s: %s\n", row->name, (unsigned long long)seed,
                result.invalid_guard, result.invalid_cause);
    count(&result, sum);
    return RIDGE_OK;
}

/* A cell's turn in this round? */
static bool takes_part(const settings *how, const cell *row, int round)
{
    if (how->part != NULL && strcmp(how->part, PART_NAMES[row->part]) != 0)
        return false;
    return row->share == 0 ? round == 0 : round % row->share == 0;
}

static ridge_status run(const settings *how, FILE *lines, tally *sums, ridge_error *err)
{
    const double end_s = now_s() + how->seconds;
    ridge_device *device = NULL;
    ridge_status status = RIDGE_OK;
    uint64_t seed = how->seed * 1000003;
    int round, i;

    for (round = 0; round < how->sessions && status == RIDGE_OK; round++) {
        if (round % REOPEN == 0) {
            ridge_device_free(device);
            status = ridge_device_open(how->device, &device, err);
        }
        for (i = 0; i < CELL_COUNT && status == RIDGE_OK && now_s() < end_s; i++)
            if (takes_part(how, &CELLS[i], round))
                status = session(device, &CELLS[i], ++seed, lines, &sums[i], err);
    }
    ridge_device_free(device);
    return status;
}

/* -- the table --------------------------------------------------------------------------------- */

/* Intervals of 95 % that may miss in so many sessions: the least number that a right harness exceeds
 * in less than 1 % of runs, by the binomial distribution, but not above one in ten: 4 of 40. */
static int misses_allowed(int sessions)
{
    const int most = sessions > 40 ? sessions / 10 : 4;
    double chance = pow(0.95, sessions), sum = chance;
    int misses = 0;

    while (misses < most && sum < 0.99) {
        chance *= (double)(sessions - misses) / (misses + 1) * 0.05 / 0.95;
        sum += chance;
        misses++;
    }
    return misses;
}

/* Does the cell keep its rule? */
static bool is_kept(const cell *row, const tally *sum)
{
    const int allowed = misses_allowed(sum->sessions);

    if (sum->invalid > sum->sessions / 10)
        return false;
    switch (row->part) {
    case NULL_TEST:
        return sum->excludes_zero <= allowed && sum->moved == 0;
    case SENSITIVITY:
        return covers(row, sum) >= sum->sessions - allowed &&
               fabs(truth_of(row, sum) / log1p(row->extra * 1e-4) - 1) < 0.15 &&
               (row->extra < 200 || sum->regressed >= sum->sessions - allowed);
    case SEPARATE:
        return sum->excludes_zero * 10 >= sum->sessions * 3;
    case ZEROS:
        return fabs(sum->equal - sum->sustained) > 0.01;
    }
    return false;
}

static int print_table(const tally *sums)
{
    int broken = 0, i;

    printf("%-26s %8s %7s %7s %7s %9s %9s %7s  %s\n", "cell", "sessions", "not 0", "covers",
           "regr.", "centre %", "+- %", "s each", "rule");
    for (i = 0; i < CELL_COUNT; i++) {
        const tally *const sum = &sums[i];
        const size_t sessions = (size_t)sum->sessions;
        const bool kept = is_kept(&CELLS[i], sum);

        if (sum->is_absent || sum->sessions == 0) {
            printf("%-26s %8s\n", CELLS[i].name, sum->is_absent ? "not here" : "no time");
            continue;
        }
        printf("%-26s %8d %7d %7d %7d %+9.3f %9.3f %7.2f  %s\n", CELLS[i].name, sum->sessions,
               sum->excludes_zero, covers(&CELLS[i], sum), sum->regressed,
               100 * ridge_stat_median(sum->centres, sessions),
               100 * ridge_stat_median(sum->half_widths, sessions), sum->seconds / sum->sessions,
               kept ? "kept" : "BROKEN");
        if (CELLS[i].part == ZEROS)
            printf("%-26s equal clock %+.2f %%, sustained %+.2f %%\n", "", 100 * sum->equal,
                   100 * sum->sustained);
        broken += kept ? 0 : 1;
    }
    return broken;
}

static bool is_part(const char *name)
{
    for (int i = 0; name != NULL && i < PARTS; i++)
        if (strcmp(name, PART_NAMES[i]) == 0)
            return true;
    return name == NULL;
}

static bool parse(int argc, char **argv, settings *out)
{
    int i;

    *out = (settings){"auto", NULL, NULL, 600, 40, 1};
    for (i = 1; i + 1 < argc; i += 2) {
        static char none[] = "";
        char *end = none;

        if (strcmp(argv[i], "--device") == 0)
            out->device = argv[i + 1];
        else if (strcmp(argv[i], "--lines") == 0)
            out->lines = argv[i + 1];
        else if (strcmp(argv[i], "--part") == 0)
            out->part = argv[i + 1];
        else if (strcmp(argv[i], "--seconds") == 0)
            out->seconds = strtod(argv[i + 1], &end);
        else if (strcmp(argv[i], "--sessions") == 0)
            out->sessions = (int)strtol(argv[i + 1], &end, 10);
        else if (strcmp(argv[i], "--seed") == 0)
            out->seed = strtoull(argv[i + 1], &end, 10);
        else
            return false;
        if (*end != '\0')
            return false;
    }
    return i == argc && is_part(out->part) && out->seconds > 0 && out->sessions > 0 &&
           out->sessions <= SESSIONS_MOST;
}

int main(int argc, char **argv)
{
    static tally sums[CELL_COUNT];
    settings how;
    ridge_error err = {0};
    FILE *lines;
    int broken;

    if (!parse(argc, argv, &how)) {
        fprintf(stderr, "usage: self_test [--device cuda] [--part null|sensitivity|separate|zeros] "
                        "[--seconds 600] [--sessions 40] [--seed 1] [--lines FILE]\n");
        return 2;
    }
    lines = fopen(how.lines != NULL ? how.lines : "/dev/null", "w");
    if (lines == NULL) {
        fprintf(stderr, "self_test: %s cannot be written\n", how.lines);
        return 3;
    }
    if (run(&how, lines, sums, &err) != RIDGE_OK) {
        fprintf(stderr, "self_test: %s\n", err.text);
        fclose(lines);
        return 4;
    }
    fclose(lines);
    broken = print_table(sums);
    return broken > 0 ? 1 : 0;
}
