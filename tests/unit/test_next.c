/* SPDX-License-Identifier: Apache-2.0
 *
 * What to look at next: ranks, the line for ncu, the advice. */
#include "cases.h"
#include "trace_support.h"

#include <math.h>

#include "base/memory.h"
#include "ridge/timeline.h"

/* A chip that moves 1 byte a nanosecond, so that bounds are bytes. */
static ridge_roofs slow_roofs(void)
{
    ridge_roofs roofs;

    ridge_roofs_init(&roofs);
    roofs.dram_bytes_per_s = 1e9;
    roofs.flop_per_s[RIDGE_PEAK_TENSOR_BF16] = 1e15;
    return roofs;
}

static void plan(const ridge_trace *trace, const ridge_given_bounds *given, bool with_command,
                 ridge_timeline_next *out)
{
    const ridge_roofs roofs = slow_roofs();
    ridge_timeline *timeline;

    assert_int_equal(ridge_timeline_create(trace, NULL, &timeline, NULL), RIDGE_OK);
    assert_int_equal(ridge_timeline_plan(timeline, ridge_timeline_main_device(timeline), &roofs,
                                         given, with_command, out, NULL),
                     RIDGE_OK);
    ridge_timeline_free(timeline);
}

/* -- ranks ------------------------------------------------------------------------------------- */

/* add: 3 x 10000 elements of 2 bytes; mm: 32 x 64 by 64 x 128. */
#define ADD_SHAPES "bf16[100,100] bf16[100,100]"
#define MM_SHAPES "bf16[32,64] bf16[64,128]"
enum {
    ADD_BYTES = 60000,
    MM_BYTES = 2 * (32 * 64 + 64 * 128 + 32 * 128),
    MM_READ = 2 * (32 * 64 + 64 * 128)
};

static const trace_row ranked[] = {
    /* One kernel an operation. */
    {ROW_OP, "aten::add", 0, 100, .shapes = ADD_SHAPES},
    {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
    {ROW_KERNEL, "add", 1000, 1000 + 2 * ADD_BYTES, .key = 1},
    {ROW_OP, "aten::add", 100, 200, .shapes = ADD_SHAPES},
    {ROW_CALL, "cudaLaunchKernel", 110, 120, .key = 2},
    {ROW_KERNEL, "add", 200000, 200000 + 4 * ADD_BYTES, .key = 2},
    {ROW_CALL, "cudaLaunchKernel", 210, 220, .key = 3}, /* in no operation: left out */
    {ROW_KERNEL, "add", 500000, 500000 + 9 * ADD_BYTES, .key = 3},
    /* Two kernels of one name, which do it together. */
    {ROW_OP, "aten::add", 300, 400, .shapes = ADD_SHAPES},
    {ROW_CALL, "cudaLaunchKernel", 310, 320, .key = 4},
    {ROW_CALL, "cudaLaunchKernel", 330, 340, .key = 5},
    {ROW_KERNEL, "half", 1100000, 1200000, .key = 4},
    {ROW_KERNEL, "half", 1200000, 1300000, .key = 5},
    /* A product in pieces: the main kernel and what adds them up. */
    {ROW_OP, "aten::mm", 400, 500, .shapes = MM_SHAPES},
    {ROW_CALL, "cudaLaunchKernel", 410, 420, .key = 6},
    {ROW_CALL, "cudaLaunchKernel", 430, 440, .key = 7},
    {ROW_KERNEL, "gemm_splitK", 1300000, 1300000 + 2 * MM_READ, .key = 6},
    {ROW_KERNEL, "splitKreduce_kernel", 1400000, 1401000, .key = 7},
    /* Large, without a bound; small, with the worst one. */
    {ROW_CALL, "cudaLaunchKernel", 510, 520, .key = 8},
    {ROW_KERNEL, "large", 2000000, 6000000, .key = 8},
    {ROW_OP, "aten::fill_", 600, 700, .shapes = "u8[10]"},
    {ROW_CALL, "cudaLaunchKernel", 610, 620, .key = 9},
    {ROW_KERNEL, "fill", 7000000, 7005000, .key = 9},
    {ROW_KERNEL, "ncclDevKernel_AllReduce", 8000000, 14000000, .flags = RIDGE_OP_COLLECTIVE},
    /* Two kernels, of which neither is the work. */
    {ROW_OP, "aten::add", 800, 900, .shapes = ADD_SHAPES},
    {ROW_CALL, "cudaLaunchKernel", 810, 820, .key = 10},
    {ROW_CALL, "cudaLaunchKernel", 830, 840, .key = 11},
    {ROW_KERNEL, "some", 14000000, 14000950, .key = 10},
    {ROW_KERNEL, "rest", 14001000, 14001900, .key = 11},
    /* Two of a norm, of which each has work of its own. */
    {ROW_OP, "aten::native_group_norm", 910, 1000, .shapes = "u8[1000]"},
    {ROW_CALL, "cudaLaunchKernel", 920, 930, .key = 12},
    {ROW_CALL, "cudaLaunchKernel", 940, 950, .key = 13},
    {ROW_KERNEL, "RowwiseMoments", 14002000, 14002850, .key = 12},
    {ROW_KERNEL, "FusedParams", 14003000, 14003820, .key = 13},
};

static struct rank_case {
    const char *name;
    const char *kernel;
    size_t rank;
    double bound_ns, ratio;
    size_t bound_count;
    const char *source;
} rank_cases[] = {
    {"worst ratio first; calls without a bound left out", "add", 0, 2 * ADD_BYTES, 3, 2,
     "shapes of aten::add"},
    {"no bound: by time", "ncclDevKernel_AllReduce", 1, NAN, NAN, 0, ""},
    {"no bound: by time, next", "large", 2, NAN, NAN, 0, ""},
    {"below 2 %: by time alone; one name, work that is shared", "half", 3, ADD_BYTES,
     200000. / ADD_BYTES, 2, "shapes of aten::add"},
    {"product in pieces: the result is the helper's", "gemm_splitK", 4, MM_READ, 2, 1,
     "shapes of aten::mm"},
    {"small, though far from its bound", "fill", 5, 800, 6.25, 1, "shapes of aten::fill_"},
    {"helper", "splitKreduce_kernel", 6, NAN, NAN, 0, ""},
    {"two names: neither is the work", "some", 7, NAN, NAN, 0, ""},
    {"two names: the other", "rest", 8, NAN, NAN, 0, ""},
    {"work of its own", "RowwiseMoments", 9, 1000, .85, 1, "shapes of aten::native_group_norm"},
    {"beside it, none", "FusedParams", 10, NAN, NAN, 0, ""},
};

static bool is_equal(double a, double b)
{
    return isnan(a) ? isnan(b) : fabs(a - b) < 1e-6 * fabs(b);
}

static void ranks(void **state)
{
    const struct rank_case *const row = *state;
    ridge_trace *const trace = TRACE_OF(ranked);
    const ridge_kernel_rank *rank;
    ridge_timeline_next next;

    plan(trace, NULL, false, &next);
    assert_int_equal(next.rank_count, sizeof(rank_cases) / sizeof(rank_cases[0]));
    rank = &next.ranks[row->rank];
    assert_string_equal(rank->sum.name, row->kernel);
    assert_true(is_equal(rank->bound_ns, row->bound_ns));
    assert_true(is_equal(rank->ratio, row->ratio));
    assert_int_equal(rank->bound_count, row->bound_count);
    assert_string_equal(rank->source, row->source);
    ridge_timeline_next_free(&next);
    ridge_trace_free(trace);
}

static void lines_of_the_user_come_first(void **state)
{
    static const char text[] = "large bytes=2000000\nadd bytes=10000\nnccl.* bytes=1\n";
    ridge_trace *const trace = TRACE_OF(ranked);
    ridge_given_bounds *given;
    ridge_timeline_next next;

    (void)state;
    assert_int_equal(ridge_given_bounds_parse(text, sizeof(text) - 1, &given, NULL), RIDGE_OK);
    plan(trace, given, false, &next);
    assert_string_equal(next.ranks[0].sum.name, "add");
    assert_int_equal(next.ranks[0].bound_count, 3);
    assert_string_equal(next.ranks[0].source, "given");
    assert_string_equal(next.ranks[1].sum.name, "large");
    assert_true(is_equal(next.ranks[1].ratio, 2));
    ridge_timeline_next_free(&next);
    ridge_given_bounds_free(given);
    ridge_trace_free(trace);
}

/* The worst ratio of all, but there is nothing to do in it. */
static void tiny_kernels_are_not_first(void **state)
{
    static const trace_row rows[] = {
        {ROW_OP, "aten::fill_", 0, 100, .shapes = "u8[10]"},
        {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
        {ROW_KERNEL, "fill", 1000, 101000, .key = 1},
        {ROW_OP, "aten::add", 100, 200, .shapes = ADD_SHAPES},
        {ROW_CALL, "cudaLaunchKernel", 110, 120, .key = 2},
        {ROW_KERNEL, "add", 200000, 200000 + 2 * ADD_BYTES, .key = 2},
    };
    ridge_trace *const trace = TRACE_OF(rows);
    ridge_timeline_next next;

    (void)state;
    plan(trace, NULL, false, &next);
    assert_string_equal(next.ranks[0].sum.name, "add");
    assert_false(next.ranks[0].is_tiny);
    assert_true(next.ranks[1].is_tiny);
    assert_true(next.ranks[1].ratio > next.ranks[0].ratio);
    assert_true(next.floor_ns == 800);
    ridge_timeline_next_free(&next);
    ridge_trace_free(trace);
}

/* Faster than main memory: not the worst, whatever its share. */
static void below_the_bound_is_not_the_worst(void **state)
{
    static const trace_row rows[] = {
        {ROW_OP, "aten::add", 0, 100, .shapes = ADD_SHAPES},
        {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
        {ROW_KERNEL, "add", 1000, 1000 + ADD_BYTES / 2, .key = 1},
        {ROW_CALL, "cudaLaunchKernel", 110, 120, .key = 2},
        {ROW_KERNEL, "other", 200000, 201000, .key = 2},
    };
    ridge_trace *const trace = TRACE_OF(rows);
    ridge_timeline_next next;

    (void)state;
    plan(trace, NULL, false, &next);
    assert_string_equal(next.ranks[0].sum.name, "add");
    assert_true(next.ranks[0].ratio < 1);
    assert_non_null(next.worst);
    assert_string_equal(next.worst->sum.name, "other");
    ridge_timeline_next_free(&next);
    ridge_trace_free(trace);
}

/* Sizes that no tensor has give no least time, and so no gain of which nothing is known. */
static void sizes_beyond_all_time_give_no_bound(void **state)
{
    static char endless[400];
    const char *const shapes[] = {endless, "u8[9223372036854775807,9223372036854775807]"};

    (void)state;
    memset(endless, '9', sizeof(endless) - 1);
    memcpy(endless, "u8[", 3);
    endless[sizeof(endless) - 2] = ']';
    for (size_t i = 0; i < 2; i++) {
        const trace_row rows[] = {
            {ROW_OP, "aten::fill_", 0, 100, .shapes = shapes[i]},
            {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
            {ROW_KERNEL, "fill", 1000, 101000, .key = 1},
        };
        ridge_trace *const trace = TRACE_OF(rows);
        ridge_timeline_next next;

        plan(trace, NULL, false, &next);
        assert_int_equal(next.ranks[0].bound_count, 0);
        assert_true(isnan(next.ranks[0].bound_ns));
        assert_true(isnan(next.kernels_gain));
        ridge_timeline_next_free(&next);
        ridge_trace_free(trace);
    }
}

/* A kernel that waits for another rank would wait for ever under a profiler. */
static void never_profiles_communication(void **state)
{
    static const trace_row rows[] = {
        {ROW_CALL, "cuInit", 0, 5},
        {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
        {ROW_KERNEL, "gemm", 100, 200, .key = 1},
        {ROW_KERNEL, "ncclDevKernel_AllReduce", 1000, 9000, .flags = RIDGE_OP_COLLECTIVE},
    };
    ridge_trace *const trace = TRACE_OF(rows);
    ridge_timeline_next next;

    (void)state;
    plan(trace, NULL, false, &next);
    assert_true(isnan(next.floor_ns));
    assert_string_equal(next.ranks[0].sum.name, "ncclDevKernel_AllReduce");
    assert_string_equal(next.worst->sum.name, "gemm");
    ridge_timeline_next_free(&next);
    ridge_trace_free(trace);
}

/* Farthest from its least time, but there is less than half a percent to gain. */
static void gains_of_nothing_are_not_first(void **state)
{
    static const trace_row rows[] = {
        {ROW_CALL, "cuInit", 0, 5},
        {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
        {ROW_KERNEL, "large", 100, 90100, .key = 1},
        {ROW_CALL, "cudaLaunchKernel", 20, 30, .key = 2},
        {ROW_KERNEL, "small", 90100, 92100, .key = 2},
    };
    static const char text[] = "large bytes=80000\nsmall bytes=1600\n";
    ridge_trace *const trace = TRACE_OF(rows);
    ridge_given_bounds *given;
    ridge_timeline_next next;

    (void)state;
    assert_int_equal(ridge_given_bounds_parse(text, sizeof(text) - 1, &given, NULL), RIDGE_OK);
    plan(trace, given, false, &next);
    assert_string_equal(next.ranks[0].sum.name, "small");
    assert_string_equal(next.worst->sum.name, "large");
    ridge_timeline_next_free(&next);
    ridge_given_bounds_free(given);
    ridge_trace_free(trace);
}

/* -- the line ---------------------------------------------------------------------------------- */

static const trace_row first_calls[] = {
    {ROW_CALL, "cuInit", 0, 5},
    {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
    {ROW_CALL, "cudaLaunchKernel", 20, 30, .key = 2},
    {ROW_CALL, "cudaLaunchKernel", 30, 40, .key = 3},
    {ROW_KERNEL, "gemm", 100, 200, .key = 1},
    {ROW_KERNEL, "gemm", 210, 330, .key = 2}, /* the middle one by time */
    {ROW_KERNEL, "gemm", 340, 500, .key = 3},
};
/* The median, 45 us, is a time that none took; launches 0 and 2 take most of it. */
static const trace_row two_sizes[] = {
    {ROW_CALL, "cuInit", 0, 5},
    {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
    {ROW_CALL, "cudaLaunchKernel", 20, 30, .key = 2},
    {ROW_CALL, "cudaLaunchKernel", 30, 40, .key = 3},
    {ROW_CALL, "cudaLaunchKernel", 40, 50, .key = 4},
    {ROW_KERNEL, "cat", 1000, 19000, .key = 1},
    {ROW_KERNEL, "cat", 20000, 91000, .key = 2},
    {ROW_KERNEL, "cat", 100000, 118000, .key = 3},
    {ROW_KERNEL, "cat", 120000, 192000, .key = 4},
};
static const trace_row two_sizes_in_a_range[] = {
    {ROW_NVTX, ":step", 0, 90},
    {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
    {ROW_CALL, "cudaLaunchKernel", 20, 30, .key = 2},
    {ROW_CALL, "cudaLaunchKernel", 30, 40, .key = 3},
    {ROW_CALL, "cudaLaunchKernel", 40, 50, .key = 4},
    {ROW_KERNEL, "cat", 1000, 19000, .key = 1},
    {ROW_KERNEL, "cat", 20000, 91000, .key = 2},
    {ROW_KERNEL, "cat", 100000, 118000, .key = 3},
    {ROW_KERNEL, "cat", 120000, 192000, .key = 4},
};
/* Work of stream 1 runs before what was launched earlier. */
static const trace_row out_of_order[] = {
    {ROW_CALL, "cudaSetDevice", 0, 5},
    {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
    {ROW_CALL, "cudaLaunchKernel", 20, 30, .key = 2},
    {ROW_KERNEL, "k", 300, 400, .key = 1, .on = 1},
    {ROW_KERNEL, "k", 100, 200, .key = 2, .on = 2},
};
static const trace_row long_first_call[] = {
    {ROW_CALL, "cudaMalloc", 0, 200000000},
    {ROW_KERNEL, "k", 200000100, 200000200},
};
static const trace_row begun_late[] = {
    {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
    {ROW_KERNEL, "k", 100, 200, .key = 1},
};
static const trace_row switched_on[] = {
    {ROW_CALL, "cuInit", 0, 5},
    {ROW_CALL, "cudaProfilerStart", 5, 8},
    {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
    {ROW_KERNEL, "k", 100, 200, .key = 1},
};
static const trace_row switched_on_late[] = {
    {ROW_CALL, "cuInit", 0, 5},
    {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
    {ROW_CALL, "cudaProfilerStart", 30, 40},
    {ROW_CALL, "cudaLaunchKernel", 50, 60, .key = 2},
    {ROW_CALL, "cudaLaunchKernel", 70, 80, .key = 3},
    {ROW_KERNEL, "k", 100, 200, .key = 1},
    {ROW_KERNEL, "k", 200, 350, .key = 2},
    {ROW_KERNEL, "k", 400, 600, .key = 3},
};
static const trace_row in_a_range[] = {
    {ROW_NVTX, ":train step", 0, 90},
    {ROW_NVTX, ":aten::mm, seq = 7", 5, 50},
    {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
    {ROW_KERNEL, "k", 100, 200, .key = 1},
};
static const trace_row in_a_domain[] = {
    {ROW_NVTX, "lib:fwd/bwd", 0, 90},
    {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
    {ROW_KERNEL, "k", 100, 200, .key = 1},
};
static const trace_row two_processes[] = {
    {ROW_CALL, "cuInit", 0, 5},
    {ROW_CALL, "cuInit", 0, 5, .process = 1},
    {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
    {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1, .process = 1},
    {ROW_KERNEL, "k", 100, 200, .key = 1},
    {ROW_KERNEL, "k", 300, 400, .key = 1, .process = 1},
};
static const trace_row two_devices[] = {
    {ROW_CALL, "cuInit", 0, 5},
    {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
    {ROW_CALL, "cudaLaunchKernel", 20, 30, .key = 2},
    {ROW_KERNEL, "k", 100, 110, .key = 1, .device = 1},
    {ROW_KERNEL, "k", 120, 200, .key = 2},
};
static const trace_row odd_name[] = {
    {ROW_CALL, "cuInit", 0, 5},
    {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
    {ROW_KERNEL, "-k.1'$x+", 100, 200, .key = 1},
};
static const trace_row of_amd[] = {
    {ROW_CALL, "hipLaunchKernel", 10, 20, .key = 1},
    {ROW_KERNEL, "Cijk", 100, 200, .key = 1},
};
static const trace_row no_kernels[] = {
    {ROW_CALL, "cuInit", 0, 5},
    {ROW_CALL, "cudaGraphLaunch", 10, 20, .key = 1},
    {ROW_GRAPH, "graph", 100, 200, .key = 1, .detail = 5},
};

#define ROWS(array) array, sizeof(array) / sizeof((array)[0])

static struct line_case {
    const char *name;
    const trace_row *rows;
    size_t count;
    ridge_trace_format format;
    bool with_command;
    const char *line, *note; /* note: a part, "" none */
    bool is_delayed;
} line_cases[] = {
    {"half of the time in shorter ones", ROWS(first_calls), RIDGE_TRACE_NSYS, false,
     "ncu --set full -k 'regex:^gemm$' -s 1 -c 1 -o gemm COMMAND", ""},
    {"of the size with most time", ROWS(two_sizes), RIDGE_TRACE_NSYS, false,
     "ncu --set full -k 'regex:^cat$' -s 3 -c 1 -o cat COMMAND",
     "launches: 2 of 71.5 us, 2 of 18.0 us: this is one of 71.5 us"},
    {"two sizes, the first in a range may be either", ROWS(two_sizes_in_a_range), RIDGE_TRACE_NSYS,
     false, "ncu --set full --nvtx --nvtx-include step/ -k 'regex:^cat$' -c 1 -o cat COMMAND",
     "2 of 18.0 us: see which it is"},
    {"with the command", ROWS(first_calls), RIDGE_TRACE_NSYS, true,
     "ncu --set full -k 'regex:^gemm$' -s 1 -c 1 -o gemm python3 'my train.py' '--name=it'\\''s' "
     "''",
     ""},
    {"in the order of launches", ROWS(out_of_order), RIDGE_TRACE_RECORD, false,
     "ncu --set full -k 'regex:^k$' -s 1 -c 1 -o k COMMAND", ""},
    {"a first call that creates a context", ROWS(long_first_call), RIDGE_TRACE_NSYS, false,
     "ncu --set full -k 'regex:^k$' -s 0 -c 1 -o k COMMAND", ""},
    {"Kineto begins when it is told", ROWS(first_calls), RIDGE_TRACE_KINETO, false,
     "ncu --set full --profile-from-start off -k 'regex:^gemm$' -s 1 -c 1 -o gemm COMMAND",
     "call torch.cuda.profiler.start() there"},
    {"begun in the middle", ROWS(begun_late), RIDGE_TRACE_NSYS, false,
     "ncu --set full --profile-from-start off -k 'regex:^k$' -s 0 -c 1 -o k COMMAND",
     "call cudaProfilerStart() there"},
    {"recorded from a delay on", ROWS(first_calls), RIDGE_TRACE_RECORD, false,
     "ncu --set full --profile-from-start off -k 'regex:^gemm$' -s 1 -c 1 -o gemm COMMAND",
     "call cudaProfilerStart() there", true},
    {"recorded from a delay on, in a range", ROWS(in_a_range), RIDGE_TRACE_RECORD, false,
     "ncu --set full --nvtx --nvtx-include 'train step/' -k 'regex:^k$' -c 1 -o k COMMAND", "no -s",
     true},
    {"switched on by the program", ROWS(switched_on), RIDGE_TRACE_NSYS, false,
     "ncu --set full --profile-from-start off -k 'regex:^k$' -s 0 -c 1 -o k COMMAND",
     "-s counts from where the trace begins"},
    {"a whole process that switches the profiler on later", ROWS(switched_on_late),
     RIDGE_TRACE_RECORD, false, "ncu --set full -k 'regex:^k$' -s 1 -c 1 -o k COMMAND", ""},
    {"a range holds it; numbers of one run do not count", ROWS(in_a_range), RIDGE_TRACE_NSYS, false,
     "ncu --set full --nvtx --nvtx-include 'train step/' -k 'regex:^k$' -c 1 -o k COMMAND",
     "no -s"},
    {"a range of a domain, escaped", ROWS(in_a_domain), RIDGE_TRACE_NSYS, false,
     "ncu --set full --nvtx --nvtx-include 'lib@fwd\\/bwd/' -k 'regex:^k$' -c 1 -o k COMMAND",
     "no -s"},
    {"several processes", ROWS(two_processes), RIDGE_TRACE_NSYS, false,
     "ncu --set full --target-processes all -k 'regex:^k$' -s 0 -c 1 -o k COMMAND",
     "several processes"},
    {"several devices: counted on one", ROWS(two_devices), RIDGE_TRACE_NSYS, false, NULL, ""},
    {"what a shell and an expression would eat", ROWS(odd_name), RIDGE_TRACE_NSYS, false,
     "ncu --set full -k 'regex:^-k\\.1'\\''\\$x\\+$' -s 0 -c 1 -o _k.1__x_ COMMAND", ""},
    {"another maker's GPU", ROWS(of_amd), RIDGE_TRACE_KINETO, false, "",
     "no line for ncu: this is no GPU of NVIDIA"},
    {"graphs as rows", ROWS(no_kernels), RIDGE_TRACE_NSYS, false, "", "--cuda-graph-trace=node"},
};

static void writes_a_line(void **state)
{
    static const char *const command[] = {"python3", "my train.py", "--name=it's", ""};
    const struct line_case *const row = *state;
    ridge_trace *const trace = trace_support_make(row->rows, row->count);
    ridge_timeline_next next;

    trace->info.format = row->format;
    trace->info.is_delayed = row->is_delayed;
    trace->info.command = command;
    trace->info.command_count = 4;
    plan(trace, NULL, row->with_command, &next);
    if (row->line != NULL)
        assert_string_equal(next.ncu, row->line);
    else
        assert_non_null(strstr(next.ncu, " --devices "));
    if (row->note[0] == '\0')
        assert_string_equal(next.note, "");
    else if (strstr(next.note, row->note) == NULL)
        fail_msg("%s", next.note);
    ridge_timeline_next_free(&next);
    ridge_trace_free(trace);
}

/* -- the advice -------------------------------------------------------------------------------- */

static struct advice_case {
    const char *name;
    ridge_timeline_verdict verdict;
    bool is_torch;
    const char *part; /* "" none */
    bool is_inside;
} advice_cases[] = {
    {"GPU-bound: inside", RIDGE_TIMELINE_GPU_BOUND, true, "", true},
    {"graph replay: inside", RIDGE_TIMELINE_GRAPH_REPLAY, true, "", true},
    {"launches, PyTorch", RIDGE_TIMELINE_LAUNCH_BOUND, true,
     "torch.compile(mode=\"reduce-overhead\")", false},
    {"launches", RIDGE_TIMELINE_LAUNCH_BOUND, false, "CUDA graph", false},
    {"waiting, PyTorch", RIDGE_TIMELINE_SYNC_BOUND, true, ".item()", false},
    {"waiting", RIDGE_TIMELINE_SYNC_BOUND, false, "cudaMemcpyAsync on pinned memory", false},
    {"allocation, PyTorch", RIDGE_TIMELINE_ALLOC_BOUND, true, "expandable_segments:True", false},
    {"allocation", RIDGE_TIMELINE_ALLOC_BOUND, false, "cudaMallocAsync", false},
    {"loading", RIDGE_TIMELINE_MODULE_BOUND, false, "CUDA_MODULE_LOADING=EAGER", false},
    {"copies, PyTorch", RIDGE_TIMELINE_COPY_BOUND, true, "non_blocking=True", false},
    {"no work", RIDGE_TIMELINE_NO_WORK, true, "move it out of the loop", false},
    {"mixed: what helps against the largest", RIDGE_TIMELINE_MIXED, false, "fuse them", false},
    {"incomplete", RIDGE_TIMELINE_INCOMPLETE, false, "record again", false},
};

/* -- what the roads give ----------------------------------------------------------------------- */

/* 60 us of a, 30 us of b in a span of 100 us; bytes take a nanosecond each. */
static const trace_row two_kernels[] = {
    {ROW_CALL, "cuInit", 0, 5},
    {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
    {ROW_KERNEL, "a", 0, 60000, .key = 1},
    {ROW_CALL, "cudaLaunchKernel", 62000, 69000, .key = 2},
    {ROW_KERNEL, "b", 70000, 100000, .key = 2},
};

static struct gain_case {
    const char *name, *bounds;
    ridge_timeline_verdict verdict;
    int64_t idle_ns;
    bool is_inside, has_fix;
    double idle_gain, worst_gain, worst_half_gain, kernels_gain, bounded_frac;
    const char *worst, *richest; /* NULL: none */
} gain_cases[] = {
    {"no least times: half of the worst", "", RIDGE_TIMELINE_MIXED, 10000, true, true, 10 / 9.0,
     NAN, 10 / 7.0, NAN, 0, "a", NULL},
    {"all at their least time", "a bytes=30000\nb bytes=20000", RIDGE_TIMELINE_GPU_BOUND, 10000,
     true, true, 10 / 9.0, 10 / 7.0, 10 / 7.0, 10 / 6.0, 1, "a", NULL},
    {"more to gain elsewhere", "a bytes=40000\nb bytes=15000", RIDGE_TIMELINE_GPU_BOUND, 10000,
     true, true, 10 / 9.0, 100 / 85.0, 100 / 85.0, 100 / 65.0, 1, "b", NULL},
    {"clearly more to gain elsewhere", "a bytes=40000\nb bytes=14000\nb bytes=1",
     RIDGE_TIMELINE_GPU_BOUND, 4900, true, false, 1000 / 951.0, 100 / 84.0, 100 / 85.0, 100 / 64.0,
     1, "b", NULL},
    {"1.5 times", "a bytes=36000\nb bytes=14001", RIDGE_TIMELINE_MIXED, 20000, true, true, 10 / 8.0,
     100000 / 84001.0, 100 / 85.0, 100000 / 60001.0, 1, "b", "a"},
    {"half of the time has a least time", "b bytes=14000", RIDGE_TIMELINE_GPU_BOUND, 4900, true,
     false, 1000 / 951.0, NAN, 10 / 7.0, 100 / 84.0, 1 / 3.0, "a", "b"},
    {"the host gives more", "a bytes=59000\nb bytes=29000", RIDGE_TIMELINE_MIXED, 10000, false,
     true, 10 / 9.0, 100 / 99.0, 10 / 7.0, 100 / 98.0, 1, "a", NULL},
    {"above 20 % the verdict decides", "", RIDGE_TIMELINE_SYNC_BOUND, 21000, false, true,
     100 / 79.0, NAN, 10 / 7.0, NAN, 0, "a", NULL},
    {"a graph stays inside", "a bytes=59000\nb bytes=29000", RIDGE_TIMELINE_GRAPH_REPLAY, 10000,
     true, true, 10 / 9.0, 100 / 99.0, 10 / 7.0, 100 / 98.0, 1, "a", NULL},
    {"faster than main memory gains nothing", "a bytes=70000\nb bytes=29000",
     RIDGE_TIMELINE_GPU_BOUND, 0, true, false, 1, 100 / 99.0, 100 / 85.0, 100 / 99.0, 1, "b", NULL},
};

static void is_gain(double found, double expected)
{
    if (isnan(expected))
        assert_true(isnan(found));
    else if (!(fabs(found - expected) < 1e-9))
        fail_msg("%.12g, not %.12g", found, expected);
}

static void tells_gains(void **state)
{
    const struct gain_case *const row = *state;
    ridge_trace *const trace = TRACE_OF(two_kernels);
    const ridge_roofs roofs = slow_roofs();
    ridge_given_bounds *given;
    ridge_device_account account;
    ridge_timeline_next next;
    ridge_timeline *timeline;

    assert_int_equal(ridge_given_bounds_parse(row->bounds, strlen(row->bounds), &given, NULL),
                     RIDGE_OK);
    assert_int_equal(ridge_timeline_create(trace, NULL, &timeline, NULL), RIDGE_OK);
    account = *ridge_timeline_main_device(timeline);
    account.verdict = row->verdict;
    account.idle_ns = row->idle_ns;
    assert_int_equal(ridge_timeline_plan(timeline, &account, &roofs, given, false, &next, NULL),
                     RIDGE_OK);
    is_gain(next.idle_gain, row->idle_gain);
    is_gain(next.worst_gain, row->worst_gain);
    is_gain(next.worst_half_gain, row->worst_half_gain);
    is_gain(next.kernels_gain, row->kernels_gain);
    is_gain(next.bounded_frac, row->bounded_frac);
    assert_string_equal(next.worst->sum.name, row->worst);
    if (row->richest == NULL) {
        assert_null(next.richest);
        assert_string_equal(next.richest_ncu, "");
    } else {
        assert_string_equal(next.richest->sum.name, row->richest);
        assert_non_null(strstr(next.richest_ncu, row->richest));
    }
    assert_int_equal(next.is_inside, row->is_inside);
    assert_int_equal(next.fix[0] != '\0', row->has_fix);
    ridge_timeline_next_free(&next);
    ridge_given_bounds_free(given);
    ridge_timeline_free(timeline);
    ridge_trace_free(trace);
}

/* 20 us of a kernel, copies in a span of 100 us. */
static struct copy_case {
    const char *name;
    int64_t copy_only_ns, copy_busiest_ns, idle_ns;
    double gain;
} copy_cases[] = {
    {"none", 0, 0, 10000, 1},
    {"under kernels they are gone", 40000, 40000, 0, 10 / 6.0},
    {"they outlast the kernels", 75000, 95000, 5000, 100 / 95.0},
    {"two directions at once", 75000, 50000, 5000, 2},
    {"idle time stays", 30000, 10000, 50000, 10 / 7.0},
    {"nothing would be left", 100000, 0, 0, NAN},
};

static void copies_take_their_time(void **state)
{
    const struct copy_case *const row = *state;
    ridge_trace *const trace = TRACE_OF(two_kernels);
    ridge_device_account account;
    ridge_timeline_next next;
    ridge_timeline *timeline;

    assert_int_equal(ridge_timeline_create(trace, NULL, &timeline, NULL), RIDGE_OK);
    account = *ridge_timeline_main_device(timeline);
    account.copy_only_ns = row->copy_only_ns;
    account.copy_busiest_ns = row->copy_busiest_ns;
    account.idle_ns = row->idle_ns;
    assert_int_equal(ridge_timeline_plan(timeline, &account, NULL, NULL, false, &next, NULL),
                     RIDGE_OK);
    is_gain(next.copy_gain, row->gain);
    ridge_timeline_next_free(&next);
    ridge_timeline_free(timeline);
    ridge_trace_free(trace);
}

/* Of a span of 100 us with 10 us idle. */
static struct exposed_case {
    const char *name;
    ridge_timeline_verdict verdict;
    int64_t exposed_ns, copy_only_ns;
    double gain;
    bool is_first;
} exposed_cases[] = {
    {"none", RIDGE_TIMELINE_MIXED, 0, 0, 1, false},
    {"the kernel gives more", RIDGE_TIMELINE_GPU_BOUND, 29000, 0, 100 / 71.0, false},
    {"more than the kernel", RIDGE_TIMELINE_GPU_BOUND, 31000, 0, 100 / 69.0, true},
    {"nothing would be left", RIDGE_TIMELINE_MIXED, 100000, 0, NAN, true},
    {"copies give more", RIDGE_TIMELINE_COPY_BOUND, 31000, 40000, 100 / 69.0, false},
    {"an incomplete trace", RIDGE_TIMELINE_INCOMPLETE, 50000, 0, 2, false},
};

/* GPU-BOUND, 31 us of a span of 100 us in communication or copies. */
static void copies_may_give_most(void **state)
{
    ridge_trace *const trace = TRACE_OF(two_kernels);
    ridge_device_account account;
    ridge_timeline_next next;
    ridge_timeline *timeline;

    (void)state;
    assert_int_equal(ridge_timeline_create(trace, NULL, &timeline, NULL), RIDGE_OK);
    account = *ridge_timeline_main_device(timeline);
    account.verdict = RIDGE_TIMELINE_GPU_BOUND;
    account.idle_ns = 1000;
    account.collective_ns = 32000;
    for (int64_t copy_ns = 31000; copy_ns <= 33000; copy_ns += 2000) {
        account.copy_only_ns = account.copy_busiest_ns = copy_ns;
        assert_int_equal(ridge_timeline_plan(timeline, &account, NULL, NULL, false, &next, NULL),
                         RIDGE_OK);
        assert_int_equal(strstr(next.fix, "copy less") != NULL, copy_ns == 33000);
        assert_int_equal(next.exposed[0] != '\0', copy_ns == 31000);
        assert_int_equal(next.is_inside, copy_ns == 31000);
        ridge_timeline_next_free(&next);
    }
    ridge_timeline_free(timeline);
    ridge_trace_free(trace);
}

static void tells_exposed_communication(void **state)
{
    const struct exposed_case *const row = *state;
    ridge_trace *const trace = TRACE_OF(two_kernels); /* a takes 60 us: twice as fast, 30 us less */
    ridge_device_account account;
    ridge_timeline_next next;
    ridge_timeline *timeline;

    assert_int_equal(ridge_timeline_create(trace, NULL, &timeline, NULL), RIDGE_OK);
    account = *ridge_timeline_main_device(timeline);
    account.verdict = row->verdict;
    account.collective_ns = row->exposed_ns + 5000;
    account.collective_hidden_ns = 5000;
    account.copy_only_ns = row->copy_only_ns;
    assert_int_equal(ridge_timeline_plan(timeline, &account, NULL, NULL, false, &next, NULL),
                     RIDGE_OK);
    is_gain(next.collective_gain, row->gain);
    assert_int_equal(next.exposed[0] != '\0', row->is_first);
    if (row->is_first)
        assert_non_null(strstr(next.exposed, "compare the ranks"));
    ridge_timeline_next_free(&next);
    ridge_timeline_free(timeline);
    ridge_trace_free(trace);
}

static void advises(void **state)
{
    const struct advice_case *const row = *state;
    ridge_trace *const trace = TRACE_OF(first_calls);
    const ridge_roofs roofs = slow_roofs();
    ridge_timeline *timeline;
    ridge_device_account account;
    ridge_timeline_next next;

    trace->info.format = row->is_torch ? RIDGE_TRACE_KINETO : RIDGE_TRACE_NSYS;
    assert_int_equal(ridge_timeline_create(trace, NULL, &timeline, NULL), RIDGE_OK);
    account = *ridge_timeline_main_device(timeline);
    account.verdict = row->verdict;
    /* Not among those with two roads. */
    account.idle_ns = (account.end_ns - account.start_ns) * (row->is_inside ? 4 : 30) / 100;
    assert_int_equal(ridge_timeline_plan(timeline, &account, &roofs, NULL, false, &next, NULL),
                     RIDGE_OK);
    assert_int_equal(next.is_inside, row->is_inside);
    if (row->part[0] == '\0')
        assert_string_equal(next.fix, "");
    else if (strstr(next.fix, row->part) == NULL)
        fail_msg("%s", next.fix);
    assert_true(strlen(next.fix) < sizeof(next.fix) - 1); /* not cut */
    ridge_timeline_next_free(&next);
    ridge_timeline_free(timeline);
    ridge_trace_free(trace);
}

/* What an advice says beyond its verdict, from the trace. */
static const trace_row loader_rows[] = {
    {ROW_ANNOTATION, "ProfilerStep#1", 0, 60000000},
    {ROW_CALL, "cudaLaunchKernel", 0, 5000, .key = 1},
    {ROW_KERNEL, "k", 6000, 7000, .key = 1},
    {ROW_ANNOTATION, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 10000,
     50000000},
    {ROW_PYTHON, "scipy/ndimage/_interpolation.py(739): zoom", 11000, 49000000},
    {ROW_PYTHON, "<built-in function zoom>", 12000, 48000000},
    {ROW_CALL, "cudaLaunchKernel", 50001000, 50006000, .key = 2},
    {ROW_KERNEL, "k", 50007000, 50008000, .key = 2},
};
static const trace_row busy_rows[] = {
    {ROW_CALL, "cudaLaunchKernel", 0, 5000, .key = 1},
    {ROW_KERNEL, "k", 6000, 7000, .key = 1},
    {ROW_NVTX, ":tokenize", 10000, 50000000},
    {ROW_CALL, "cudaLaunchKernel", 50001000, 50006000, .key = 2},
    {ROW_KERNEL, "k", 50007000, 50008000, .key = 2},
};
/* The range of the wait, not that of the launch behind it. */
static const trace_row wait_rows[] = {
    {ROW_CALL, "cudaLaunchKernel", 0, 5000, .key = 1},
    {ROW_KERNEL, "k", 6000, 7000, .key = 1},
    {ROW_NVTX, ":item", 7000, 400000},
    {ROW_CALL, "cudaStreamSynchronize_v3020", 8000, 390000},
    {ROW_NVTX, ":linear", 410000, 500000},
    {ROW_CALL, "cudaLaunchKernel", 411000, 415000, .key = 2},
    {ROW_KERNEL, "k", 416000, 417000, .key = 2},
};
/* A start of 30 ms, then steps with next to no idle time. */
static const trace_row start_rows[] = {
    {ROW_CALL, "cuInit", 0, 5},
    {ROW_CALL, "cudaLaunchKernel", 10, 1000, .key = 1},
    {ROW_KERNEL, "k", 2000, 3000, .key = 1},
    {ROW_CALL, "cuLibraryLoadData", 4000, 30000000},
    {ROW_NVTX, ":decode step 10", 30000000, 30100000},
    {ROW_CALL, "cudaLaunchKernel", 30000100, 30001000, .key = 2},
    {ROW_KERNEL, "k", 30002000, 30100000, .key = 2},
    {ROW_NVTX, ":decode step 11", 30100000, 30200000},
    {ROW_CALL, "cudaLaunchKernel", 30100100, 30101000, .key = 3},
    {ROW_KERNEL, "k", 30102000, 30200000, .key = 3},
    {ROW_NVTX, ":decode step 12", 30200000, 30300000},
    {ROW_CALL, "cudaLaunchKernel", 30200100, 30201000, .key = 4},
    {ROW_KERNEL, "k", 30202000, 30300000, .key = 4},
};
/* One gap of 30 ms in front of a few kernels, which need not be many; behind it, less is idle. */
static const trace_row one_gap_rows[] = {
    {ROW_COPY, "c", 0, 1000, .detail = RIDGE_COPY_HTOD},
    {ROW_CALL, "cudaLaunchKernel", 30000000, 30001000, .key = 2},
    {ROW_KERNEL, "k", 30002000, 30500000, .key = 2},
    {ROW_CALL, "cudaLaunchKernel", 30600000, 30601000, .key = 3},
    {ROW_KERNEL, "k", 30602000, 31000000, .key = 3},
};
/* Gaps of 10 ms, but kernels behind each. */
static const trace_row loop_rows[] = {
    {ROW_CALL, "cudaLaunchKernel", 0, 1000, .key = 1},
    {ROW_KERNEL, "k", 2000, 300000, .key = 1},
    {ROW_CALL, "cudaLaunchKernel", 10000000, 10001000, .key = 2},
    {ROW_KERNEL, "k", 10002000, 10300000, .key = 2},
    {ROW_CALL, "cudaLaunchKernel", 20000000, 20001000, .key = 3},
    {ROW_KERNEL, "k", 20002000, 20300000, .key = 3},
    {ROW_CALL, "cudaLaunchKernel", 30000000, 30001000, .key = 4},
    {ROW_KERNEL, "k", 30002000, 30300000, .key = 4},
};
static const trace_row pinned_rows[] = {
    {ROW_CALL, "cudaLaunchKernel", 0, 5, .key = 1},
    {ROW_KERNEL, "k", 10, 20, .key = 1},
    {ROW_COPY, "c", 20, 1000, .detail = RIDGE_COPY_DTOD},
};
static const trace_row other_rows[] = {
    {ROW_CALL, "predictor.cpp:1573", 0, 5, .key = 1},
    {ROW_KERNEL, "pe_exe", 10, 20, .key = 1},
};

static struct words_case {
    const char *name;
    const trace_row *rows;
    size_t count;
    ridge_timeline_verdict verdict;
    bool is_kineto;
    const char *part, *absent;
} words_cases[] = {
    {"a loader of data, and the line of Python", ROWS(loader_rows), RIDGE_TIMELINE_NO_WORK, true,
     "num_workers=..., pin_memory=True); raise prefetch_factor, decode and augment less on the "
     "host "
     "or on the GPU instead. Most: in scipy/ndimage/_interpolation.py(739): zoom",
     "start"},
    {"what the host did", ROWS(busy_rows), RIDGE_TIMELINE_NO_WORK, false, "Most: in tokenize",
     "num_workers"},
    {"the range of the wait", ROWS(wait_rows), RIDGE_TIMELINE_SYNC_BOUND, false,
     "Most: cudaStreamSynchronize in item", "linear"},
    {"the steps behind the start", ROWS(start_rows), RIDGE_TIMELINE_MODULE_BOUND, false,
     "see the steps with --range 'decode step .*'; ", "10"},
    {"a start of one gap", ROWS(one_gap_rows), RIDGE_TIMELINE_NO_WORK, false,
     "99 % of it is the start: see the rest with --window 30.1..31.0; or record that part alone",
     "loop"},
    {"a loop with long gaps", ROWS(loop_rows), RIDGE_TIMELINE_NO_WORK, false,
     "move it out of the loop", "start"},
    {"copies within the GPU", ROWS(pinned_rows), RIDGE_TIMELINE_COPY_BOUND, false, "views",
     "pinned"},
    {"no GPU of NVIDIA, by its calls", ROWS(other_rows), RIDGE_TIMELINE_LAUNCH_BOUND, true, "",
     "?"},
};

static void tells_more(void **state)
{
    const struct words_case *const row = *state;
    ridge_trace *const trace = trace_support_make(row->rows, row->count);
    const ridge_roofs roofs = slow_roofs();
    ridge_timeline *timeline;
    ridge_device_account account;
    ridge_timeline_next next;

    trace->info.format = row->is_kineto ? RIDGE_TRACE_KINETO : RIDGE_TRACE_NSYS;
    assert_int_equal(ridge_timeline_create(trace, NULL, &timeline, NULL), RIDGE_OK);
    account = *ridge_timeline_main_device(timeline);
    account.verdict = row->verdict;
    assert_int_equal(ridge_timeline_plan(timeline, &account, &roofs, NULL, false, &next, NULL),
                     RIDGE_OK);
    if (strstr(next.fix, row->part) == NULL || strstr(next.fix, row->absent) != NULL)
        fail_msg("%s", next.fix);
    assert_true((strstr(next.note, "no GPU of NVIDIA") != NULL) == (row->rows == other_rows));
    assert_true((next.ncu[0] == '\0') == (row->rows == other_rows));
    ridge_timeline_next_free(&next);
    ridge_timeline_free(timeline);
    ridge_trace_free(trace);
}

/* 30 ms in front of the kernels, 100 us between them. */
static void tells_the_gain_behind_the_start(void **state)
{
    ridge_trace *const trace = TRACE_OF(one_gap_rows);
    ridge_trace *const loop = TRACE_OF(loop_rows);
    const double idle_ns = 30001000 + 102000, rest_ns = 31000000 - 30002000;
    ridge_timeline_next next;

    (void)state;
    plan(trace, NULL, false, &next);
    is_gain(next.idle_gain, 31000000 / (31000000 - idle_ns));
    is_gain(next.start_frac, 30001000 / idle_ns);
    is_gain(next.steady_gain, rest_ns / (rest_ns - 102000));
    ridge_timeline_next_free(&next);
    plan(loop, NULL, false, &next);
    assert_true(isnan(next.start_frac) && isnan(next.steady_gain));
    ridge_timeline_next_free(&next);
    ridge_trace_free(trace);
    ridge_trace_free(loop);
}

/* Within a gap nothing says that there is a loop. */
static void tells_a_window_in_a_gap(void **state)
{
    const ridge_trace_window window = {true, 11000000, 19000000, false};
    ridge_trace *const trace = TRACE_OF(loop_rows);
    ridge_timeline *timeline;
    ridge_timeline_next next;
    size_t count;

    (void)state;
    assert_int_equal(ridge_timeline_create(trace, &window, &timeline, NULL), RIDGE_OK);
    assert_null(ridge_timeline_main_device(timeline)); /* one with kernels */
    assert_int_equal(ridge_timeline_plan(timeline, ridge_timeline_devices(timeline, &count), NULL,
                                         NULL, false, &next, NULL),
                     RIDGE_OK);
    assert_non_null(strstr(next.fix, "no kernel runs in this part"));
    ridge_timeline_next_free(&next);
    ridge_timeline_free(timeline);
    ridge_trace_free(trace);
}

/* Most of the idle time lies in front of what an operation launches. */
static void names_the_place(void **state)
{
    static const trace_row rows[] = {
        {ROW_NVTX, ":step", 0, 900000},
        {ROW_CALL, "cudaLaunchKernel_v7000", 0, 5000, .key = 1},
        {ROW_KERNEL, "k", 6000, 7000, .key = 1},
        {ROW_CALL, "cudaDeviceSynchronize_v3020", 5000, 500000},
        {ROW_CALL, "cudaLaunchKernel_v7000", 500100, 505000, .key = 2},
        {ROW_KERNEL, "k", 506000, 507000, .key = 2},
    };
    ridge_trace *const trace = TRACE_OF(rows);
    ridge_timeline_next next;

    (void)state;
    plan(trace, NULL, false, &next);
    if (strstr(next.fix, "Most: cudaDeviceSynchronize in step") == NULL)
        fail_msg("%s", next.fix);
    ridge_timeline_next_free(&next);
    ridge_trace_free(trace);
}

/* -- roofs ------------------------------------------------------------------------------------- */

static void takes_roofs_from_the_device(void **state)
{
    ridge_trace *const trace = TRACE_OF(ranked);
    ridge_timeline *timeline;
    ridge_timeline_next next;

    (void)state;
    trace_device_at(trace, 0)->name = "A chip that nobody knows";
    trace_device_at(trace, 0)->dram_bytes_per_s = 2e9;
    assert_int_equal(ridge_timeline_create(trace, NULL, &timeline, NULL), RIDGE_OK);
    assert_int_equal(ridge_timeline_plan(timeline, ridge_timeline_main_device(timeline), NULL, NULL,
                                         false, &next, NULL),
                     RIDGE_OK);
    assert_true(is_equal(next.ranks[0].bound_ns, ADD_BYTES));
    ridge_timeline_next_free(&next);

    trace_device_at(trace, 0)->dram_bytes_per_s = NAN; /* nothing is known: nothing is invented */
    assert_int_equal(ridge_timeline_plan(timeline, ridge_timeline_main_device(timeline), NULL, NULL,
                                         false, &next, NULL),
                     RIDGE_OK);
    for (size_t i = 0; i < next.rank_count; i++)
        assert_true(isnan(next.ranks[i].ratio));
    ridge_timeline_next_free(&next);
    ridge_timeline_free(timeline);
    ridge_trace_free(trace);
}

static void survives_without_memory(void **state)
{
    ridge_trace *const trace = TRACE_OF(ranked);
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    ridge_timeline *timeline;

    (void)state;
    assert_int_equal(ridge_timeline_create(trace, NULL, &timeline, NULL), RIDGE_OK);
    for (size_t nth = 1; status != RIDGE_OK || nth < 60; nth++) {
        ridge_timeline_next next;

        ridge_memory_fail_at(nth);
        status = ridge_timeline_plan(timeline, ridge_timeline_main_device(timeline), NULL, NULL,
                                     false, &next, NULL);
        ridge_memory_fail_at(0);
        assert_true(status == RIDGE_OK || status == RIDGE_ERR_OUT_OF_MEMORY);
        assert_true((status == RIDGE_OK) == (next.ranks != NULL));
        ridge_timeline_next_free(&next);
    }
    ridge_timeline_free(timeline);
    ridge_trace_free(trace);
}

/* -- several devices --------------------------------------------------------------------------- */

/* The work above on three devices, each launched by a thread of its own. */
static ridge_trace *make_several(void)
{
    enum { COUNT = sizeof(ranked) / sizeof(ranked[0]), DEVICES = 3 };
    trace_row rows[DEVICES * COUNT];

    for (size_t i = 0; i < DEVICES * COUNT; i++) {
        trace_row *const row = &rows[i];
        const int64_t device = (int64_t)(i / COUNT);

        *row = ranked[i % COUNT];
        row->key += row->key > 0 ? (uint64_t)device * 100 : 0;
        if (row->kind == ROW_KERNEL) {
            row->device = device;
            row->end_ns += device * 1000;
        } else {
            row->on = device;
        }
    }
    return TRACE_OF(rows);
}

static void is_same(const ridge_timeline_next *a, const ridge_timeline_next *b)
{
    assert_int_equal(a->rank_count, b->rank_count);
    for (size_t i = 0; i < a->rank_count; i++) {
        assert_string_equal(a->ranks[i].sum.name, b->ranks[i].sum.name);
        assert_int_equal(a->ranks[i].sum.total_ns, b->ranks[i].sum.total_ns);
        assert_int_equal(a->ranks[i].bound_count, b->ranks[i].bound_count);
        assert_true(is_equal(a->ranks[i].bound_ns, b->ranks[i].bound_ns));
        assert_true(is_equal(a->ranks[i].ratio, b->ranks[i].ratio));
        assert_string_equal(a->ranks[i].source, b->ranks[i].source);
    }
    assert_string_equal(a->ncu, b->ncu);
    assert_string_equal(a->fix, b->fix);
    assert_string_equal(a->note, b->note);
}

static struct order_case {
    const char *name;
    const char *given; /* NULL: shapes alone */
    bool has_roofs;    /* else those of each device */
} order_cases[] = {
    {"by shapes", NULL, true},
    {"by lines of the user", "large bytes=1000000\nadd bytes=5000", true},
    {"by lines alone, without roofs", "large bytes=1000000", false},
};

/* What one plan leaves behind for the next says nothing of its device. */
static void plans_in_any_order(void **state)
{
    enum { PLANS = 6 };
    static const size_t order[PLANS] = {0, 1, 2, 1, 0, 2};
    const struct order_case *const test = *state;
    ridge_roofs slow = slow_roofs();
    const ridge_roofs *const roofs = test->has_roofs ? &slow : NULL;
    ridge_trace *const trace = make_several();
    ridge_given_bounds *given = NULL;
    ridge_timeline *together;

    if (test->given != NULL)
        assert_int_equal(ridge_given_bounds_parse(test->given, strlen(test->given), &given, NULL),
                         RIDGE_OK);
    assert_int_equal(ridge_timeline_create(trace, NULL, &together, NULL), RIDGE_OK);
    for (size_t i = 0; i < PLANS; i++) {
        size_t count;
        ridge_timeline *alone;
        ridge_timeline_next one, other;

        slow.dram_bytes_per_s = 1e9 * (double)(1 + order[i]);
        assert_int_equal(ridge_timeline_create(trace, NULL, &alone, NULL), RIDGE_OK);
        assert_int_equal(ridge_timeline_plan(alone,
                                             &ridge_timeline_devices(alone, &count)[order[i]],
                                             roofs, given, false, &one, NULL),
                         RIDGE_OK);
        assert_int_equal(ridge_timeline_plan(together,
                                             &ridge_timeline_devices(together, &count)[order[i]],
                                             roofs, given, false, &other, NULL),
                         RIDGE_OK);
        assert_int_equal(count, 3);
        assert_int_equal(one.rank_count, 11);
        assert_non_null(strstr(one.ncu, " --devices "));
        is_same(&one, &other);
        ridge_timeline_next_free(&other);
        ridge_timeline_next_free(&one);
        ridge_timeline_free(alone);
    }
    ridge_timeline_free(together);
    ridge_given_bounds_free(given);
    ridge_trace_free(trace);
}

static void several_survive_without_memory(void **state)
{
    ridge_trace *const trace = make_several();
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;

    (void)state;
    for (size_t nth = 1; status != RIDGE_OK || nth < 60; nth++) {
        ridge_timeline_next next = {0};
        ridge_timeline *timeline = NULL;

        ridge_memory_fail_at(nth);
        status = ridge_timeline_create(trace, NULL, &timeline, NULL);
        for (size_t i = 0; i < 3 && status == RIDGE_OK; i++) {
            size_t count;

            ridge_timeline_next_free(&next);
            status = ridge_timeline_plan(timeline, &ridge_timeline_devices(timeline, &count)[i],
                                         NULL, NULL, false, &next, NULL);
        }
        ridge_memory_fail_at(0);
        assert_true(status == RIDGE_OK || status == RIDGE_ERR_OUT_OF_MEMORY);
        assert_true((status == RIDGE_OK) == (next.ranks != NULL));
        ridge_timeline_next_free(&next);
        ridge_timeline_free(timeline);
    }
    ridge_trace_free(trace);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, ranks, rank_cases);
    cases_add(&list, "lines of the user come first", lines_of_the_user_come_first, NULL);
    cases_add(&list, "below its least time", below_the_bound_is_not_the_worst, NULL);
    cases_add(&list, "sizes beyond all time", sizes_beyond_all_time_give_no_bound, NULL);
    cases_add(&list, "tiny kernels", tiny_kernels_are_not_first, NULL);
    cases_add(&list, "nothing to gain", gains_of_nothing_are_not_first, NULL);
    cases_add(&list, "communication is not profiled", never_profiles_communication, NULL);
    CASES_ADD_ROWS(&list, writes_a_line, line_cases);
    CASES_ADD_ROWS(&list, tells_gains, gain_cases);
    CASES_ADD_ROWS(&list, copies_take_their_time, copy_cases);
    CASES_ADD_ROWS(&list, tells_exposed_communication, exposed_cases);
    cases_add(&list, "copies may give most", copies_may_give_most, NULL);
    CASES_ADD_ROWS(&list, advises, advice_cases);
    CASES_ADD_ROWS(&list, tells_more, words_cases);
    cases_add(&list, "the gain behind a start", tells_the_gain_behind_the_start, NULL);
    cases_add(&list, "a window in a gap", tells_a_window_in_a_gap, NULL);
    cases_add(&list, "the place of most of the time", names_the_place, NULL);
    cases_add(&list, "roofs of the device", takes_roofs_from_the_device, NULL);
    cases_add(&list, "without memory", survives_without_memory, NULL);
    CASES_ADD_ROWS(&list, plans_in_any_order, order_cases);
    cases_add(&list, "several devices without memory", several_survive_without_memory, NULL);
    return cases_run(&list, "next");
}
