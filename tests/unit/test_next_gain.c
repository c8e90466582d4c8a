/* SPDX-License-Identifier: Apache-2.0
 *
 * What each road can give: idle time, copies, communication, the kernels. */
#include "next_support.h"

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

/* Three kernels of 100 us. After each of the first two the host waits, then needs 384 and 84 us of its
 * own: [12, 118) and [512, 618) are waits in the span, 800 us. */
static const trace_row refill_rows[] = {
    {ROW_CALL, "cudaLaunchKernel", 0, 10000, .key = 1},
    {ROW_KERNEL, "k", 12000, 112000, .key = 1},
    {ROW_CALL, "cudaDeviceSynchronize", 10000, 118000},
    {ROW_CALL, "cudaLaunchKernel", 502000, 512000, .key = 2},
    {ROW_KERNEL, "k", 512000, 612000, .key = 2},
    {ROW_CALL, "cudaDeviceSynchronize", 512000, 618000},
    {ROW_CALL, "cudaLaunchKernel", 702000, 712000, .key = 3},
    {ROW_KERNEL, "k", 712000, 812000, .key = 3},
};
/* The same host, its last wait behind all launches. */
static const trace_row end_rows[] = {
    {ROW_CALL, "cudaLaunchKernel", 0, 10000, .key = 1},
    {ROW_KERNEL, "k", 10000, 110000, .key = 1},
    {ROW_CALL, "cudaLaunchKernel", 150000, 160000, .key = 2},
    {ROW_KERNEL, "k", 160000, 260000, .key = 2},
    {ROW_CALL, "cudaDeviceSynchronize", 160000, 262000},
};
/* Two threads launch; their waits are [0, 100) and [50, 150), [300, 400) us. A third one waits and
 * launches nothing. */
static const trace_row thread_rows[] = {
    {ROW_CALL, "cudaLaunchKernel", 0, 0, .key = 1, .on = 1},
    {ROW_KERNEL, "k", 0, 100000, .key = 1},
    {ROW_CALL, "cudaStreamSynchronize", 0, 100000, .on = 1},
    {ROW_CALL, "cudaEventSynchronize", 50000, 150000, .on = 2},
    {ROW_CALL, "cudaLaunchKernel", 290000, 300000, .key = 2, .on = 2},
    {ROW_KERNEL, "k", 300000, 400000, .key = 2},
    {ROW_CALL, "cudaEventSynchronize", 300000, 400000, .on = 2},
    {ROW_CALL, "cudaEventSynchronize", 500000, 600000, .on = 3},
    {ROW_CALL, "cudaLaunchKernel", 690000, 700000, .key = 3, .on = 1},
    {ROW_KERNEL, "k", 700000, 800000, .key = 3},
};
/* The driver's call within the runtime's. */
static const trace_row nested_rows[] = {
    {ROW_CALL, "cudaLaunchKernel", 0, 0, .key = 1},
    {ROW_KERNEL, "k", 0, 100000, .key = 1},
    {ROW_CALL, "cudaStreamSynchronize", 0, 100000},
    {ROW_CALL, "cuStreamSynchronize", 5000, 95000},
    {ROW_CALL, "cudaLaunchKernel", 490000, 500000, .key = 2},
    {ROW_KERNEL, "k", 500000, 600000, .key = 2},
};
static const trace_row no_call_rows[] = {
    {ROW_KERNEL, "k", 0, 100000},
    {ROW_KERNEL, "k", 200000, 300000},
};
/* The call of the copy is a wait of 120 us, and a launch. */
static const trace_row copy_wait_rows[] = {
    {ROW_CALL, "cudaLaunchKernel", 0, 10000, .key = 1},
    {ROW_KERNEL, "k", 0, 100000, .key = 1},
    {ROW_CALL, "cudaMemcpy", 10000, 130000, .key = 2},
    {ROW_COPY, "c", 110000, 120000, .key = 2, .detail = RIDGE_COPY_DTOH},
    {ROW_CALL, "cudaLaunchKernel", 320000, 330000, .key = 3},
    {ROW_KERNEL, "k", 330000, 430000, .key = 3},
};
/* A lock, a stream that waits, an allocation: not the host for the GPU. */
static const trace_row other_wait_rows[] = {
    {ROW_CALL, "cudaLaunchKernel", 0, 10000, .key = 1},
    {ROW_KERNEL, "k", 0, 100000, .key = 1},
    {ROW_WAIT, "pthread_mutex_lock", 10000, 100000},
    {ROW_CALL, "cudaStreamWaitEvent", 100000, 150000},
    {ROW_CALL, "cudaFree", 150000, 200000},
    {ROW_CALL, "cudaLaunchKernel", 320000, 330000, .key = 3},
    {ROW_KERNEL, "k", 330000, 430000, .key = 3},
};
/* Launched far ahead: what is left without waits is the device's own work. */
static const trace_row ahead_rows[] = {
    {ROW_CALL, "cudaLaunchKernel", 0, 1000, .key = 1},
    {ROW_KERNEL, "k", 0, 400000, .key = 1},
    {ROW_CALL, "cudaDeviceSynchronize", 1000, 410000},
    {ROW_CALL, "cudaLaunchKernel", 490000, 500000, .key = 2},
    {ROW_KERNEL, "k", 500000, 600000, .key = 2},
};

static struct sync_case {
    const char *name;
    const trace_row *rows;
    size_t count;
    ridge_trace_window window; /* in nanoseconds */
    double sync_gain, idle_gain;
} sync_cases[] = {
    {"the host refills twice", ROWS(refill_rows), {false, 0, 0, false}, 800 / 588.0, 800 / 300.0},
    {"waits at the end alone", ROWS(end_rows), {false, 0, 0, false}, 1, 250 / 200.0},
    {"several threads", ROWS(thread_rows), {false, 0, 0, false}, 800 / 550.0, 800 / 300.0},
    {"a window: 56 us of a wait, one launch before the last",
     ROWS(refill_rows),
     {true, 62000, 712000, false},
     650 / 594.0,
     650 / 150.0},
    {"a window behind all waits", ROWS(refill_rows), {true, 620000, 812000, false}, 1, 192 / 100.0},
    {"calls within calls", ROWS(nested_rows), {false, 0, 0, false}, 600 / 500.0, 600 / 200.0},
    {"no calls", ROWS(no_call_rows), {false, 0, 0, false}, NAN, 3 / 2.0},
    {"a copy that blocks", ROWS(copy_wait_rows), {false, 0, 0, false}, 430 / 310.0, 430 / 210.0},
    {"a copy that blocks comes last", copy_wait_rows, 4, {false, 0, 0, false}, 1, 120 / 110.0},
    {"other waits", ROWS(other_wait_rows), {false, 0, 0, false}, 1, 430 / 200.0},
    {"no less than the device's work",
     ROWS(ahead_rows),
     {false, 0, 0, false},
     600 / 500.0,
     600 / 500.0},
};

static void tells_what_waits_cost(void **state)
{
    const struct sync_case *const row = *state;
    ridge_trace *const trace = trace_support_make(row->rows, row->count);
    ridge_timeline_next next;
    ridge_timeline *timeline;
    size_t count;

    assert_int_equal(ridge_timeline_create(trace, &row->window, &timeline, NULL), RIDGE_OK);
    assert_int_equal(ridge_timeline_plan(timeline, ridge_timeline_devices(timeline, &count), NULL,
                                         NULL, false, &next, NULL),
                     RIDGE_OK);
    is_gain(next.sync_gain, row->sync_gain);
    is_gain(next.idle_gain, row->idle_gain);
    ridge_timeline_next_free(&next);
    ridge_timeline_free(timeline);
    ridge_trace_free(trace);
}

/* The road that is advised counts: without waits, of which there are none, the kernel gives more. */
static void compares_what_is_advised(void **state)
{
    ridge_trace *const trace = TRACE_OF(two_kernels);
    const ridge_roofs roofs = slow_roofs();
    ridge_device_account account;
    ridge_timeline_next next;
    ridge_timeline *timeline;

    (void)state;
    assert_int_equal(ridge_timeline_create(trace, NULL, &timeline, NULL), RIDGE_OK);
    account = *ridge_timeline_main_device(timeline);
    account.verdict = RIDGE_TIMELINE_SYNC_BOUND;
    account.idle_ns = 20000;
    for (account.waited_ns = 15000; account.waited_ns <= 16000; account.waited_ns += 1000) {
        ridge_given_bounds *given;
        const char bounds[] = "a bytes=44500\nb bytes=30000";

        assert_int_equal(ridge_given_bounds_parse(bounds, sizeof(bounds) - 1, &given, NULL),
                         RIDGE_OK);
        assert_int_equal(ridge_timeline_plan(timeline, &account, &roofs, given, false, &next, NULL),
                         RIDGE_OK);
        assert_true(next.is_sync);
        is_gain(next.kernels_gain, 100000 / 84500.0);
        assert_int_equal(next.is_inside, account.waited_ns == 15000);
        ridge_timeline_next_free(&next);
        ridge_given_bounds_free(given);
    }
    ridge_timeline_free(timeline);
    ridge_trace_free(trace);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, tells_gains, gain_cases);
    CASES_ADD_ROWS(&list, copies_take_their_time, copy_cases);
    CASES_ADD_ROWS(&list, tells_exposed_communication, exposed_cases);
    CASES_ADD_ROWS(&list, tells_what_waits_cost, sync_cases);
    cases_add(&list, "the road that is advised counts", compares_what_is_advised, NULL);
    cases_add(&list, "copies may give most", copies_may_give_most, NULL);
    return cases_run(&list, "next_gain");
}
