/* SPDX-License-Identifier: Apache-2.0
 *
 * What to look at next: the kernels by what they would gain. */
#include "next_support.h"

#include "base/memory.h"

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

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
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
    cases_add(&list, "roofs of the device", takes_roofs_from_the_device, NULL);
    cases_add(&list, "without memory", survives_without_memory, NULL);
    CASES_ADD_ROWS(&list, plans_in_any_order, order_cases);
    cases_add(&list, "several devices without memory", several_survive_without_memory, NULL);
    return cases_run(&list, "next");
}
