/* SPDX-License-Identifier: Apache-2.0
 *
 * The accounts of a device: sums, windows, streams, queue, overlap; and for random traces that all
 * of it adds up. */
#include "cases.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "timeline/account/account.h"
#include "trace_support.h"

typedef struct accounts {
    ridge_trace *trace;
    ridge_timeline *timeline;
    const ridge_device_account *devices;
    size_t count;
} accounts;

static accounts make_window(const trace_row *rows, size_t count, const ridge_trace_window *window)
{
    accounts made = {.trace = trace_support_make(rows, count)};

    assert_int_equal(ridge_timeline_create(made.trace, window, &made.timeline, NULL), RIDGE_OK);
    made.devices = ridge_timeline_devices(made.timeline, &made.count);
    return made;
}

#define MAKE(rows) make_window(rows, sizeof(rows) / sizeof((rows)[0]), NULL)

static void unmake(accounts *made)
{
    ridge_timeline_free(made->timeline);
    ridge_trace_free(made->trace);
}

/* -- sums -------------------------------------------------------------------------------------- */

static void unions(void **state)
{
    static const trace_row rows[] = {
        {ROW_KERNEL, "a", 1000, 2000, .on = 1},
        {ROW_KERNEL, "b", 1500, 2500, .on = 2},
        {ROW_COPY, "c", 2400, 3000, .on = 3},
        {ROW_MEMSET, "d", 3500, 3600, .on = 3},
        {ROW_KERNEL, "ncclDevKernel_AllReduce", 4000, 5000, .on = 4, .flags = RIDGE_OP_COLLECTIVE},
        {ROW_KERNEL, "e", 4200, 4500, .on = 1},
        {ROW_GRAPH, "graph", 6000, 6500, .on = 1, .detail = 9},
    };
    accounts made = MAKE(rows);
    const ridge_device_account *const account = made.devices;

    (void)state;
    assert_int_equal(made.count, 1);
    assert_int_equal(account->start_ns, 1000);
    assert_int_equal(account->end_ns, 6500);
    assert_int_equal(account->kernel_ns, 1500 + 1000 + 500);
    assert_int_equal(account->copy_only_ns, 500 + 100);
    assert_int_equal(account->idle_ns, 500 + 400 + 1000);
    assert_int_equal(account->busy_ns, 3600);
    assert_int_equal(account->kernel_sum_ns, 1000 + 1000 + 1000 + 300 + 500);
    assert_int_equal(account->copy_ns, 700);
    assert_int_equal(account->copy_hidden_ns, 100);
    assert_int_equal(account->copy_busiest_ns, 100); /* the memset: of the copy no way is known */
    assert_int_equal(account->collective_ns, 1000);
    assert_int_equal(account->collective_hidden_ns, 300);
    assert_int_equal(account->concurrent_ns, 500 + 100 + 300);
    assert_int_equal(account->concurrent_most, 2);
    assert_int_equal(account->op_count, 7);
    assert_int_equal(account->kernel_count, 4);
    assert_int_equal(account->copy_count, 2);
    assert_int_equal(account->graph_row_count, 1);
    assert_int_equal(account->graph_kernel_count, 1);
    assert_int_equal(account->graph_launch_count, 1);
    assert_true(account->median_kernel_ns == 1000);
    assert_true(isnan(account->median_launch_period_ns));
    assert_true(isnan(account->queue_depth_median));
    assert_true(isnan(account->queue_empty_frac));
    assert_int_equal(account->gap_count, 3);
    assert_int_equal(account->gaps_by_size[0], 2);
    assert_int_equal(account->gaps_by_size[2], 1);
    assert_int_equal(account->stream_count, 4);
    assert_int_equal(account->streams[0].op_count, 3);
    assert_int_equal(account->streams[0].busy_ns, 1000 + 300 + 500);
    unmake(&made);
}

static void stream_overlaps(void **state)
{
    static const trace_row rows[] = {
        {ROW_KERNEL, "a", 100, 200, .on = 1}, {ROW_KERNEL, "b", 199, 300, .on = 1},
        {ROW_KERNEL, "c", 300, 400, .on = 1}, {ROW_KERNEL, "inside", 310, 320, .on = 1},
        {ROW_KERNEL, "d", 350, 360, .on = 2},
    };
    accounts made = MAKE(rows);
    size_t count;
    const ridge_trace_fault *const faults = ridge_timeline_faults(made.timeline, &count);

    (void)state;
    assert_int_equal(made.devices->overlap_count, 2);
    assert_int_equal(made.devices->streams[0].overlap_count, 2);
    assert_int_equal(made.devices->streams[0].busy_ns, 300);
    assert_int_equal(made.devices->streams[0].sum_ns, 100 + 101 + 100 + 10);
    assert_int_equal(count, 2);
    assert_int_equal(faults[0].kind, RIDGE_TRACE_FAULT_NO_API);
    assert_int_equal(faults[1].kind, RIDGE_TRACE_FAULT_OVERLAPS);
    assert_int_equal(faults[1].device, 0);
    unmake(&made);
}

static void devices_are_apart(void **state)
{
    static const trace_row rows[] = {
        {ROW_KERNEL, "a", 100, 200, .device = 3},
        {ROW_KERNEL, "b", 150, 300, .device = 1},
        {ROW_KERNEL, "b", 500, 600, .device = 1, .process = 4},
        {ROW_KERNEL, "a", 900, 1000, .device = 3},
    };
    accounts made = MAKE(rows);

    (void)state;
    assert_int_equal(made.count, 2);
    assert_int_equal(made.devices[0].idle_ns, 700);
    assert_int_equal(made.devices[1].idle_ns, 200);
    assert_int_equal(made.devices[1].stream_count, 2);
    assert_ptr_equal(ridge_timeline_main_device(made.timeline), &made.devices[0]);
    unmake(&made);
}

static void nothing_at_all(void **state)
{
    accounts made = make_window(NULL, 0, NULL);
    size_t count;

    (void)state;
    assert_int_equal(made.count, 0);
    assert_null(ridge_timeline_main_device(made.timeline));
    ridge_timeline_faults(made.timeline, &count);
    assert_int_equal(count, 0);
    unmake(&made);
    ridge_timeline_free(NULL);
}

/* -- windows ----------------------------------------------------------------------------------- */

static const trace_row windowed[] = {
    {ROW_CALL, "cudaLaunchKernel", 1000, 2000, .key = 1},
    {ROW_KERNEL, "a", 2000, 10000, .key = 1},
    {ROW_CALL, "cudaMalloc", 11000, 20000},
    {ROW_CALL, "cudaLaunchKernel", 30000, 31000, .key = 2},
    {ROW_KERNEL, "b", 32000, 40000, .key = 2},
    {ROW_KERNEL, "instant", 50000, 50000, .key = 3},
};

static void a_window_cuts(void **state)
{
    const ridge_trace_window window = {true, 15000, 35000, false};
    accounts made = make_window(windowed, 6, &window);
    const ridge_device_account *const account = made.devices;

    (void)state;
    assert_int_equal(made.count, 1);
    assert_int_equal(account->start_ns, 15000);
    assert_int_equal(account->end_ns, 35000);
    assert_int_equal(account->kernel_ns, 3000);
    assert_int_equal(account->idle_ns, 17000);
    assert_int_equal(account->causes[RIDGE_IDLE_ALLOC].total_ns, 5000);
    assert_int_equal(account->causes[RIDGE_IDLE_DISPATCH].total_ns, 10000);
    assert_int_equal(account->causes[RIDGE_IDLE_LAUNCH].total_ns, 2000);
    assert_int_equal(account->gap_count, 1);
    assert_int_equal(account->gaps[0].before, RIDGE_TRACE_NONE);
    assert_int_equal(account->gaps[0].after, 1);
    assert_int_equal(account->gaps[0].cause, RIDGE_IDLE_DISPATCH);
    assert_int_equal(account->op_count, 1);
    unmake(&made);
}

static void a_window_ends_in_a_gap(void **state)
{
    const ridge_trace_window window = {true, 5000, 15000, false};
    accounts made = make_window(windowed, 6, &window);

    (void)state;
    assert_int_equal(made.devices->end_ns, 15000);
    assert_int_equal(made.devices->gaps[0].before, 0);
    assert_int_equal(made.devices->gaps[0].after, RIDGE_TRACE_NONE);
    assert_int_equal(made.devices->causes[RIDGE_IDLE_ALLOC].total_ns, 4000);
    unmake(&made);
}

/* The host is through with its step long before the GPU is. */
static void a_window_follows_launches(void **state)
{
    static const trace_row rows[] = {
        {ROW_CALL, "cudaLaunchKernel", 0, 100, .key = 1},
        {ROW_CALL, "cudaLaunchKernel", 1000, 1100, .key = 2},
        {ROW_CALL, "cudaLaunchKernel", 1200, 1300, .key = 3},
        {ROW_CALL, "cudaLaunchKernel", 2000, 2100, .key = 4},
        {ROW_KERNEL, "before", 2000, 9000, .key = 1},
        {ROW_KERNEL, "a", 9500, 12000, .key = 2},
        {ROW_KERNEL, "b", 13000, 14000, .key = 3},
        {ROW_KERNEL, "behind", 14500, 20000, .key = 4},
    };
    const ridge_trace_window window = {true, 1000, 2000, true}, none = {true, 1300, 2000, true};
    accounts made = make_window(rows, 8, &window);

    (void)state;
    assert_int_equal(made.count, 1);
    assert_int_equal(made.devices->start_ns, 9500);
    assert_int_equal(made.devices->end_ns, 14000);
    assert_int_equal(made.devices->kernel_count, 2);
    assert_int_equal(made.devices->idle_ns, 1000);
    unmake(&made);
    made = make_window(rows, 8, &none);
    assert_int_equal(made.count, 0);
    unmake(&made);
}

static void a_window_without_work(void **state)
{
    const ridge_trace_window windows[] = {{true, 50001, INT64_MAX, false},
                                          {true, INT64_MIN, 2000, false},
                                          {true, 60000, 50000, false}};

    (void)state;
    for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
        accounts made = make_window(windowed, 6, &windows[i]);

        assert_int_equal(made.count, 0);
        unmake(&made);
    }
}

/* Whoever looks into a gap wants to know what it is. */
static void a_window_within_a_gap(void **state)
{
    const ridge_trace_window window = {true, 12000, 15000, false};
    accounts made = make_window(windowed, 6, &window);

    (void)state;
    assert_int_equal(made.count, 1);
    assert_int_equal(made.devices->start_ns, 12000);
    assert_int_equal(made.devices->end_ns, 15000);
    assert_int_equal(made.devices->op_count, 0);
    assert_int_equal(made.devices->idle_ns, 3000);
    assert_int_equal(made.devices->causes[RIDGE_IDLE_ALLOC].total_ns, 3000);
    assert_int_equal(made.devices->verdict, RIDGE_TIMELINE_ALLOC_BOUND);
    unmake(&made);
}

static void windows_add_up(void **state)
{
    int64_t idle_ns = 0, dispatch_ns = 0;
    accounts whole = make_window(windowed, 6, NULL);

    (void)state;
    for (int64_t at_ns = 0; at_ns < 60000; at_ns += 7000) {
        const ridge_trace_window window = {true, at_ns, at_ns + 7000, false};
        accounts part = make_window(windowed, 6, &window);

        assert_int_equal(part.count, at_ns < 50000);
        if (part.count > 0) {
            idle_ns += part.devices->idle_ns;
            dispatch_ns += part.devices->causes[RIDGE_IDLE_DISPATCH].total_ns;
        }
        unmake(&part);
    }
    assert_int_equal(idle_ns, whole.devices->idle_ns);
    assert_int_equal(dispatch_ns, whole.devices->causes[RIDGE_IDLE_DISPATCH].total_ns);
    unmake(&whole);
}

/* The way with most: to the device 300 and 200 that lie over each other by 100, from it 350. */
static void busiest_way_of_copies(void **state)
{
    static const trace_row rows[] = {
        {ROW_COPY, "c", 1000, 1300, .on = 1, .detail = RIDGE_COPY_HTOD},
        {ROW_COPY, "c", 1200, 1400, .on = 2, .detail = RIDGE_COPY_UNIFIED_HTOD},
        {ROW_COPY, "c", 1000, 1350, .on = 3, .detail = RIDGE_COPY_DTOH},
        {ROW_MEMSET, "m", 1400, 1600, .on = 1},
        {ROW_COPY, "c", 1600, 1700, .on = 1, .detail = RIDGE_COPY_DTOD},
        {ROW_COPY, "c", 1600, 1900, .on = 2, .detail = RIDGE_COPY_PTOP},
        {ROW_COPY, "c", 2000, 9000, .on = 2, .detail = RIDGE_COPY_UNKNOWN},
        {ROW_KERNEL, "k", 9000, 9100, .on = 1},
    };
    accounts made = MAKE(rows);

    (void)state;
    assert_int_equal(made.devices->copy_busiest_ns, 400);
    unmake(&made);
}

/* -- limits and queue -------------------------------------------------------------------------- */

/* Work in front of an idle device starts so long after its call. */
static int64_t latency_of(int64_t late_ns)
{
    const trace_row rows[] = {
        {ROW_CALL, "cudaLaunchKernel", 1000, 2000, .key = 1},
        {ROW_KERNEL, "a", 2000, 3000, .key = 1},
        {ROW_CALL, "cudaLaunchKernel", 100000, 101000, .key = 2},
        {ROW_KERNEL, "a", 101000 + late_ns, 500000, .key = 2},
    };
    accounts made = MAKE(rows);
    const int64_t limit_ns = made.devices->launch_latency_ns;

    unmake(&made);
    return limit_ns;
}

static void latency(void **state)
{
    (void)state;
    assert_int_equal(latency_of(0), 10000);
    assert_int_equal(latency_of(3333), 10000);
    assert_int_equal(latency_of(3334), 10002);
    assert_int_equal(latency_of(16666), 49998);
    assert_int_equal(latency_of(16667), 50000);
    assert_int_equal(latency_of(90000), 50000);
}

/* The same whether nearly all calls launch the device's work or few do. */
static void queue_among(size_t other_count)
{
    enum { MOST = 256 };
    static const trace_row launching[] = {
        {ROW_CALL, "cudaLaunchKernel", 1000, 2000, .key = 1},
        {ROW_CALL, "cudaLaunchKernel", 3000, 4000, .key = 2},
        {ROW_CALL, "cudaLaunchKernel", 5000, 6000, .key = 3},
        {ROW_CALL, "cudaGraphLaunch", 9000, 9900, .key = 4},
        {ROW_KERNEL, "a", 7000, 8000, .key = 1, .on = 1},
        {ROW_KERNEL, "b", 8000, 8500, .key = 2, .on = 1},
        {ROW_KERNEL, "c", 5500, 8600, .key = 3, .on = 2}, /* starts within its call */
        {ROW_NODE, "d", 20000, 21000, .key = 4, .on = 1, .detail = 1},
        {ROW_NODE, "e", 21400, 22000, .key = 4, .on = 1, .detail = 1},
        {ROW_NODE, "f", 22600, 23000, .key = 4, .on = 1, .detail = 1},
    };
    enum { LAUNCHING = sizeof(launching) / sizeof(launching[0]) };
    trace_row rows[LAUNCHING + MOST];
    const ridge_device_account *account;
    accounts made;

    memcpy(rows, launching, sizeof(launching));
    for (size_t i = 0; i < MOST; i++) { /* on the thread, between the others and behind them */
        const int64_t at_ns = i < 100 ? 2000 + (int64_t)i * 10 : 9900 + (int64_t)i * 10;

        rows[LAUNCHING + i] = (trace_row){ROW_CALL, "cudaGetDevice", at_ns, at_ns + 5};
    }
    made = make_window(rows, LAUNCHING + other_count, NULL);
    account = made.devices;
    assert_true(account->median_launch_period_ns == 2000);
    /* In front of each 0, 1, 0 and 0: an empty queue has nobody in front. */
    assert_true(account->queue_depth_median == 0);
    assert_int_equal(account->queue_depth_most, 1);
    assert_int_equal(account->streams[0].queue_depth_most, 1);
    assert_int_equal(account->streams[1].queue_depth_most, 0);
    assert_true(account->queue_empty_frac == 0.5); /* the first and the graph */
    assert_int_equal(account->graph_launch_count, 1);
    assert_int_equal(account->graph_kernel_count, 3);
    assert_true(account->median_graph_gap_ns == 500);
    assert_int_equal(account->queue_full_ns, 0);
    unmake(&made);
}

static void queue(void **state)
{
    (void)state;
    queue_among(0);
    queue_among(256);
}

static void hardware_gaps(void **state)
{
    static const trace_row rows[] = {
        {ROW_CALL, "cudaLaunchKernel", 1000, 2000, .key = 1},
        {ROW_CALL, "cudaLaunchKernel", 2000, 3000, .key = 2},
        {ROW_CALL, "cudaLaunchKernel", 3000, 4000, .key = 3},
        {ROW_KERNEL, "a", 7000, 8000, .key = 1},
        {ROW_KERNEL, "b", 9000, 9500, .key = 2},
        {ROW_KERNEL, "c", 11500, 12000, .key = 3},
    };
    accounts made = MAKE(rows);

    (void)state;
    assert_true(made.devices->median_hardware_gap_ns == 1500);
    assert_int_equal(made.devices->hardware_gap_ns, 5000);
    assert_true(isnan(made.devices->median_graph_gap_ns));
    unmake(&made);
}

static void queue_full_as_recorded(void **state)
{
    static const trace_row rows[] = {
        {ROW_CALL, "cudaLaunchKernel", 1000, 2000, .key = 1, .on = 5},
        {ROW_KERNEL, "a", 7000, 8000, .key = 1},
        {ROW_CALL, "cudaLaunchKernel", 1000, 2000, .key = 2, .on = 6},
        {ROW_KERNEL, "b", 7000, 8000, .key = 2, .device = 1},
        {ROW_OVERHEAD, "", 1200, 1500, .on = 5, .detail = RIDGE_OVERHEAD_QUEUE_FULL},
        {ROW_OVERHEAD, "", 1400, 1600, .on = 5, .detail = RIDGE_OVERHEAD_QUEUE_FULL},
        {ROW_OVERHEAD, "", 1000, 1100, .on = -1, .detail = RIDGE_OVERHEAD_QUEUE_FULL},
        {ROW_OVERHEAD, "", 1000, 9000, .on = 9, .detail = RIDGE_OVERHEAD_QUEUE_FULL},
    };
    accounts made = MAKE(rows);

    (void)state;
    assert_int_equal(made.devices[0].queue_full_ns, 400 + 100);
    assert_int_equal(made.devices[1].queue_full_ns, 100);
    unmake(&made);
}

/* Launches that all wait: the one that meets depth 1000 in a call of 101 us waited for room. */
static void queue_full_by_depth(void **state)
{
    enum { COUNT = 1001 };
    static trace_row rows[2 * COUNT];
    accounts made;

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        const int64_t at_ns = 1000 + (int64_t)i * 200000;
        const int64_t start_ns = 1000000000 + (int64_t)i * 1000;

        rows[2 * i] = (trace_row){ROW_CALL, "cudaLaunchKernel", at_ns,
                                  at_ns + (i == COUNT - 1 ? 100000 : 100001), .key = i + 1};
        rows[2 * i + 1] = (trace_row){ROW_KERNEL, "a", start_ns, start_ns + 900, .key = i + 1};
    }
    made = MAKE(rows);
    assert_int_equal(made.devices->queue_depth_most, COUNT - 1);
    assert_int_equal(made.devices->queue_full_ns, 100001);
    unmake(&made);
}

static void serial_pairs(void **state)
{
    enum { COUNT = 15 };
    trace_row rows[COUNT];
    ridge_trace *trace = trace_create();
    ridge_timeline *timeline;
    const ridge_device_account *account;
    size_t count;

    (void)state;
    /* Stream 13, the default one, stream 14, the default one, ... */
    for (int i = 0; i < COUNT; i++)
        rows[i] = (trace_row){ROW_KERNEL, "k", 1000 + i * 100, 1090 + i * 100,
                              .on = i % 2 == 1   ? 7
                                    : i % 4 == 0 ? 13
                                                 : 14};
    trace_support_add(trace, rows, COUNT);
    for (uint32_t i = 0; i < 3; i++)
        trace_stream_at(trace, i)->is_null = trace_stream_at(trace, i)->id == 7;
    assert_int_equal(trace_finish(trace, NULL), RIDGE_OK);
    assert_int_equal(ridge_timeline_create(trace, NULL, &timeline, NULL), RIDGE_OK);
    account = ridge_timeline_devices(timeline, &count);
    assert_int_equal(account->serial_count, 7);
    assert_int_equal(ridge_trace_streams(trace, &count)[account->serial_streams[0]].id, 13);
    assert_int_equal(ridge_trace_streams(trace, &count)[account->serial_streams[1]].id, 14);
    ridge_timeline_free(timeline);
    ridge_trace_free(trace);
}

static void no_serial_pairs(void **state)
{
    static const trace_row rows[] = {
        {ROW_KERNEL, "a", 100, 200, .on = 13},
        {ROW_KERNEL, "b", 300, 400, .on = 7},
        {ROW_KERNEL, "c", 500, 600, .on = 14},
        {ROW_KERNEL, "d", 550, 700, .on = 13}, /* they do overlap */
    };
    accounts made = MAKE(rows);

    (void)state;
    assert_int_equal(made.devices->serial_count, 0);
    assert_int_equal(made.devices->serial_streams[0], RIDGE_TRACE_NONE);
    unmake(&made);
}

/* -- where a gap is ---------------------------------------------------------------------------- */

static void innermost_range(void **state)
{
    static const trace_row rows[] = {
        {ROW_KERNEL, "a", 100, 200},
        {ROW_ANNOTATION, "step", 0, 100000},
        {ROW_OP, "aten::linear", 250, 900},
        {ROW_OP, "aten::mm", 300, 800},
        {ROW_OP, "ended", 310, 350},
        {ROW_OP, "other thread", 300, 800, .on = 2},
        {ROW_CALL, "cudaLaunchKernel", 400, 500, .key = 2},
        {ROW_KERNEL, "b", 1000, 2000, .key = 2},
        {ROW_CALL, "cudaLaunchKernel", 2900, 2950, .key = 3},
        {ROW_KERNEL, "c", 3000, 4000, .key = 3},
        {ROW_KERNEL, "d", 5000, 6000},
    };
    accounts made = MAKE(rows);
    size_t count;
    const ridge_trace_range *const ranges = ridge_trace_ranges(made.trace, &count);

    (void)state;
    assert_int_equal(made.devices->gap_count, 3);
    assert_string_equal(
        ridge_trace_name(made.trace, ranges[made.devices->gaps[0].range].name, NULL), "aten::mm");
    assert_string_equal(
        ridge_trace_name(made.trace, ranges[made.devices->gaps[1].range].name, NULL), "step");
    assert_int_equal(made.devices->gaps[2].range, RIDGE_TRACE_NONE);
    unmake(&made);
}

/* What the host called in between ends a stretch; waits in the system and operations do not. */
static void stretches_without_a_call(void **state)
{
    static const trace_row rows[] = {
        {ROW_KERNEL, "a", 0, 1000000},
        {ROW_OP, "load", 1500000, 4000000}, /* dispatch, with half a millisecond in front */
        {ROW_CALL, "cudaEventQuery", 4000000, 4100000},
        {ROW_OP, "short", 4100000, 6000000}, /* below 2 ms */
        {ROW_CALL, "cudaEventQuery", 6000000, 6100000},
        {ROW_CALL, "cudaLaunchKernel", 8200000, 8250000, .key = 1}, /* 2.1 ms of nothing */
        {ROW_KERNEL, "b", 8260000, 9000000, .key = 1},
    };
    accounts made = MAKE(rows);
    const ridge_device_account *const account = made.devices;

    (void)state;
    assert_int_equal(account->causes[RIDGE_IDLE_DISPATCH].stall_ns, 3000000);
    assert_int_equal(account->causes[RIDGE_IDLE_DISPATCH].total_ns, 4900000);
    assert_int_equal(account->causes[RIDGE_IDLE_NO_WORK].stall_ns, 2100000);
    assert_int_equal(account->causes[RIDGE_IDLE_OTHER_API].stall_ns, 0);
    assert_int_equal(account->stall_ns, 5100000);
    assert_int_equal(account->stall_most_ns, 3000000);
    unmake(&made);
}

/* -- random traces ----------------------------------------------------------------------------- */

static uint64_t random_state;

static int64_t below(int64_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((random_state >> 33) % (uint64_t)limit);
}

static void random_row(trace_row *row, int64_t base_ns, int64_t span_ns)
{
    static const char *const calls[] = {
        "cudaLaunchKernel", "cudaMalloc",       "cudaStreamSynchronize", "cudaGraphLaunch",
        "cudaMemcpy",       "cuModuleLoadData", "cudaEventRecord",       "cudaGraphInstantiate"};
    const int64_t start_ns = base_ns + below(span_ns);
    const int64_t length_ns = below(4) == 0 ? 0 : below(4) == 0 ? below(span_ns) : below(9000);

    *row = (trace_row){.kind = below(3) == 0   ? ROW_KERNEL
                               : below(2) == 0 ? ROW_CALL
                                               : (trace_row_kind)below(ROW_SYNC + 1),
                       .name = calls[below(8)],
                       .start_ns = start_ns,
                       .end_ns = start_ns + length_ns,
                       .key = (uint64_t)below(12),
                       .on = below(3),
                       .device = below(8) == 0,
                       .process = below(16) == 0};
    if (row->kind == ROW_OVERHEAD) {
        row->detail = (uint64_t)below(9);
        row->on = below(3) - 1;
    } else if (row->kind == ROW_NVTX) {
        row->detail = below(4) == 0 ? RIDGE_RANGE_OPEN : 0;
    } else if (row->kind == ROW_NODE || row->kind == ROW_GRAPH) {
        row->detail = (uint64_t)below(3);
    }
    if (below(6) == 0) /* equal times */
        row->start_ns = row->start_ns / 5000 * 5000;
    if (row->end_ns < row->start_ns)
        row->end_ns = row->start_ns;
}

static void adds_up(const ridge_device_account *account)
{
    const int64_t span_ns = account->end_ns - account->start_ns;
    int64_t idle_ns = 0, causes_ns = 0, stall_ns = 0, stream_ops = 0;
    size_t piece = 0;

    assert_true(account->kernel_ns + account->copy_only_ns + account->idle_ns == span_ns);
    assert_true(account->busy_ns + account->idle_ns == span_ns);
    assert_true(account->copy_hidden_ns >= 0 && account->copy_hidden_ns <= account->copy_ns);
    assert_true(account->collective_hidden_ns >= 0);
    assert_true(account->concurrent_ns <= account->busy_ns);
    for (size_t i = 0; i < account->gap_count; i++) {
        const ridge_idle_gap *const gap = &account->gaps[i];
        int64_t at_ns = gap->start_ns;

        assert_true(gap->end_ns > gap->start_ns);
        assert_true(gap->start_ns >= (i > 0 ? account->gaps[i - 1].end_ns : account->start_ns));
        assert_int_equal(gap->first_piece, piece);
        for (; piece < gap->first_piece + gap->piece_count; piece++) {
            assert_true(account->pieces[piece].start_ns == at_ns);
            assert_true(account->pieces[piece].end_ns > at_ns);
            assert_true(account->pieces[piece].cause < RIDGE_IDLE_COUNT);
            at_ns = account->pieces[piece].end_ns;
        }
        assert_true(at_ns == gap->end_ns);
        idle_ns += gap->end_ns - gap->start_ns;
    }
    assert_int_equal(piece, account->piece_count);
    for (int i = 0; i < RIDGE_IDLE_COUNT; i++) {
        causes_ns += account->causes[i].total_ns;
        stall_ns += account->causes[i].stall_ns;
        assert_true(account->causes[i].stall_ns <= account->causes[i].total_ns);
    }
    assert_true(stall_ns == account->stall_ns);
    assert_true(idle_ns == account->idle_ns);
    assert_true(causes_ns == account->idle_ns);
    for (size_t i = 0; i < account->stream_count; i++)
        stream_ops += (int64_t)account->streams[i].op_count;
    assert_int_equal(stream_ops, account->op_count);
    assert_true(account->reason[0] != '\0');
}

static void random_trace(int64_t base_ns, int64_t span_ns)
{
    enum { MOST = 60 };
    trace_row rows[MOST];
    const size_t count = 1 + (size_t)below(MOST);
    const ridge_trace_window window = {below(2) == 0, base_ns + below(span_ns),
                                       base_ns + below(span_ns)};
    accounts made;

    for (size_t i = 0; i < count; i++)
        random_row(&rows[i], base_ns, span_ns);
    made = make_window(rows, count, &window);
    for (size_t i = 0; i < made.count; i++)
        adds_up(&made.devices[i]);
    unmake(&made);
}

static void random_traces_add_up(void **state)
{
    (void)state;
    random_state = 5;
    for (int i = 0; i < 3000; i++) {
        random_trace(1, 50000);
        random_trace(1700000000000000000, 20000000);
        random_trace(-100000, 200000);
    }
}

/* Rows anywhere, also where no clock goes: left out, nothing overflows. */
static void random_extreme_times(void **state)
{
    static const int64_t bases[] = {INT64_MIN,
                                    -((int64_t)1 << 62) - 50000,
                                    -((int64_t)1 << 62) + 1,
                                    ((int64_t)1 << 62) - 90000,
                                    INT64_MAX - 200000,
                                    0};
    enum { ROWS = 40 };
    trace_row rows[ROWS];

    (void)state;
    random_state = 6;
    for (int i = 0; i < 2000; i++) {
        accounts made;

        for (size_t row = 0; row < ROWS; row++)
            random_row(&rows[row], bases[below(6)], 90000);
        made = make_window(rows, ROWS, NULL);
        for (size_t device = 0; device < made.count; device++)
            adds_up(&made.devices[device]);
        unmake(&made);
    }
}

/* -- size -------------------------------------------------------------------------------------- */

/* A hundred thousand ranges and calls in each other, and gaps all along: one pass, not one a gap. */
static void deep_nesting(void **state)
{
    enum { COUNT = 100000, ROWS = 4 * COUNT, FIRST = 10 * COUNT };
    trace_row *const rows = calloc(ROWS, sizeof(*rows));
    accounts made;

    (void)state;
    assert_non_null(rows);
    for (int64_t i = 0; i < COUNT; i++) {
        const int64_t at_ns = FIRST + i * 10000;

        rows[4 * i] = (trace_row){ROW_NVTX, ":deep", i, (int64_t)COUNT * 40000 - i};
        rows[4 * i + 1] =
            (trace_row){ROW_CALL, "cudaMalloc", i, (int64_t)COUNT * 40000 - i, .on = 1};
        rows[4 * i + 2] = (trace_row){ROW_CALL,    "cudaLaunchKernel",     at_ns,
                                      at_ns + 100, .key = (uint64_t)i + 1, .on = i % 2};
        rows[4 * i + 3] =
            (trace_row){ROW_KERNEL, "k", at_ns + 200, at_ns + 4000, .key = (uint64_t)i + 1};
    }
    made = make_window(rows, ROWS, NULL);
    adds_up(made.devices);
    assert_int_equal(made.devices->gap_count, COUNT - 1);
    unmake(&made);
    free(rows);
}

/* Very many devices, each idle for ever beside very many calls: bounded, and it still adds up. */
/* So many rows that busy and idle time are found in two threads. */
static void busy_and_idle_at_once(void **state)
{
    enum { LAUNCHES = 60000 };
    trace_row *const rows = calloc((size_t)2 * LAUNCHES, sizeof(*rows));
    accounts made;

    (void)state;
    assert_non_null(rows);
    for (size_t i = 0; i < LAUNCHES; i++) {
        const int64_t at_ns = (int64_t)i * 100000;

        rows[2 * i] = (trace_row){ROW_CALL, "cudaLaunchKernel", at_ns, at_ns + 5000, .key = i + 1};
        rows[2 * i + 1] = (trace_row){ROW_KERNEL,    "k",          at_ns + 10000,
                                      at_ns + 70000, .key = i + 1, .on = (int64_t)(i % 3)};
    }
    made = make_window(rows, (size_t)2 * LAUNCHES, NULL);
    adds_up(&made.devices[0]);
    assert_int_equal(made.devices[0].op_count, LAUNCHES);
    assert_int_equal(made.devices[0].stream_count, 3);
    assert_int_equal(made.devices[0].kernel_ns, (int64_t)LAUNCHES * 60000);
    assert_int_equal(made.devices[0].idle_ns, (int64_t)(LAUNCHES - 1) * 40000);
    assert_int_equal(made.devices[0].gap_count, LAUNCHES - 1);
    assert_int_equal(made.devices[0].gaps_by_size[LAUNCHES - 2], LAUNCHES - 2);
    assert_true(made.devices[0].median_launch_period_ns == 100000);
    assert_true(made.devices[0].queue_empty_frac == 1);
    assert_int_equal(made.devices[0].queue_depth_most, 0);
    unmake(&made);
    free(rows);
}

static void many_devices(void **state)
{
    enum { DEVICES = TRACE_DEVICES_MOST, CALLS = 2000 };
    trace_row *const rows = calloc(3 * DEVICES + CALLS, sizeof(*rows));
    size_t count = 0;
    accounts made;

    (void)state;
    assert_non_null(rows);
    for (int64_t i = 0; i < DEVICES; i++) {
        rows[count++] = (trace_row){ROW_KERNEL, "a", 1, 10 + i, .device = i};
        rows[count++] = (trace_row){ROW_CALL, "cudaLaunchKernel", 90000000 + i, 90000000 + i + 1,
                                    .key = (uint64_t)i + 1};
        rows[count++] =
            (trace_row){ROW_KERNEL, "b", 91000000, 92000000, .key = (uint64_t)i + 1, .device = i};
    }
    for (int64_t i = 0; i < CALLS; i++)
        rows[count++] = (trace_row){ROW_CALL, "cudaEventRecord", 5000 + i * 100, 5050 + i * 100};
    made = make_window(rows, count, NULL);
    assert_int_equal(made.count, DEVICES);
    for (size_t i = 0; i < made.count; i++)
        adds_up(&made.devices[i]);
    assert_true(made.devices[0].causes[RIDGE_IDLE_UNKNOWN].total_ns == 0);
    assert_true(made.devices[DEVICES - 1].causes[RIDGE_IDLE_UNKNOWN].total_ns > 0);
    unmake(&made);
    free(rows);
}

/* -- memory ------------------------------------------------------------------------------------ */

static void out_of_memory(void **state)
{
    static const trace_row rows[] = {
        {ROW_CALL, "cudaLaunchKernel", 1000, 2000, .key = 1},
        {ROW_KERNEL, "a", 2000, 10000, .key = 1},
        {ROW_OVERHEAD, "", 10500, 10600, .detail = RIDGE_OVERHEAD_LAZY},
        {ROW_OVERHEAD, "", 10600, 10700, .detail = RIDGE_OVERHEAD_FLUSH},
        {ROW_CALL, "cudaMemcpy", 11000, 20000},
        {ROW_NVTX, ":step", 1, 100000},
        {ROW_KERNEL, "b", 42000, 50000, .on = 7},
        {ROW_KERNEL, "c", 52000, 60000, .on = 8},
        {ROW_KERNEL, "d", 58000, 70000, .on = 8},
    };
    ridge_trace *const trace = TRACE_OF(rows);
    ridge_timeline *timeline = NULL;
    ridge_error err;
    size_t count, failed = 0;

    (void)state;
    ridge_memory_fail_at(0);
    assert_int_equal(ridge_timeline_create(trace, NULL, &timeline, &err), RIDGE_OK);
    count = ridge_memory_fail_at(0);
    for (size_t nth = 1; nth <= count; nth++) {
        ridge_status status;

        ridge_timeline_free(timeline);
        ridge_memory_fail_at(nth);
        status = ridge_timeline_create(trace, NULL, &timeline, &err);
        ridge_memory_fail_at(0);
        if (status == RIDGE_OK) /* sorting does without */
            continue;
        failed++;
        assert_int_equal(status, RIDGE_ERR_OUT_OF_MEMORY);
        assert_null(timeline);
    }
    assert_true(failed > 20);
    ridge_timeline_free(timeline);
    ridge_trace_free(trace);
}

static int64_t random_value(uint64_t *seed, int kind)
{
    *seed = *seed * 6364136223846793005U + 1442695040888963407U;
    switch (kind) {
    case 0:
        return (int64_t)*seed;
    case 1:
        return (int64_t)(*seed >> 62);
    case 2:
        return (int64_t)(*seed >> 44) - (1 << 19);
    default:
        return (*seed >> 60) == 0 ? INT64_MIN : INT64_MAX - (int64_t)(*seed >> 50);
    }
}

/* As sorting would find it. */
static void medians(void **state)
{
    uint64_t seed = 7;

    (void)state;
    assert_true(isnan(account_median(NULL, 0)));
    for (int kind = 0; kind < 4; kind++)
        for (size_t count = 1; count < 300; count += count < 12 ? 1 : 41) {
            const size_t lower = (count - 1) / 2, upper = count / 2;
            int64_t values[300], sorted[300];

            for (size_t i = 0; i < count; i++)
                values[i] = sorted[i] = random_value(&seed, kind);
            qsort(sorted, count, sizeof(*sorted), account_order);
            assert_true(account_median(values, count) ==
                        ((double)sorted[lower] + (double)sorted[upper]) / 2);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unions),
        cmocka_unit_test(stream_overlaps),
        cmocka_unit_test(devices_are_apart),
        cmocka_unit_test(nothing_at_all),
        cmocka_unit_test(a_window_cuts),
        cmocka_unit_test(a_window_ends_in_a_gap),
        cmocka_unit_test(a_window_follows_launches),
        cmocka_unit_test(a_window_without_work),
        cmocka_unit_test(a_window_within_a_gap),
        cmocka_unit_test(windows_add_up),
        cmocka_unit_test(latency),
        cmocka_unit_test(busiest_way_of_copies),
        cmocka_unit_test(queue),
        cmocka_unit_test(hardware_gaps),
        cmocka_unit_test(queue_full_as_recorded),
        cmocka_unit_test(queue_full_by_depth),
        cmocka_unit_test(serial_pairs),
        cmocka_unit_test(no_serial_pairs),
        cmocka_unit_test(innermost_range),
        cmocka_unit_test(stretches_without_a_call),
        cmocka_unit_test(random_traces_add_up),
        cmocka_unit_test(random_extreme_times),
        cmocka_unit_test(deep_nesting),
        cmocka_unit_test(busy_and_idle_at_once),
        cmocka_unit_test(many_devices),
        cmocka_unit_test(out_of_memory),
        cmocka_unit_test(medians),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
