/* SPDX-License-Identifier: Apache-2.0
 *
 * Each rule just at its limit and just before it. A device of 1000 us: what is not idle or copied is
 * kernels. */
#include "cases.h"

#include <math.h>

#include "timeline/account/account.h"

enum { SPAN = 1000000 };

typedef struct verdict_case {
    const char *name;
    int64_t copy_ns, idle_ns, stall_ns;
    int64_t causes[RIDGE_IDLE_COUNT]; /* the rest is other-api */
    double kernel_ns, period_ns, graph_gap_ns, depth, empty;
    size_t kernels, graph_kernels, graph_rows;
    size_t launches; /* 0: enough of them */
    ridge_timeline_verdict verdict;
    ridge_pace pace;
} verdict_case;

#define OF(cause, ns) [RIDGE_IDLE_##cause] = (ns)
#define IS(name) .verdict = RIDGE_TIMELINE_##name
#define PACE(name) .pace = RIDGE_PACE_##name

/* clang-format off */
static verdict_case verdicts[] = {
    {"no kernels", .copy_ns = SPAN, IS(NOTHING)},
    {"a window within a gap", .idle_ns = SPAN, .causes = {OF(ALLOC, SPAN)}, IS(ALLOC_BOUND)},
    {"a window within a wait of 2 ms", .idle_ns = SPAN, .causes = {OF(NO_WORK, SPAN)}, IS(NO_WORK)},
    {"graph rows are kernels", .graph_rows = 1, .graph_kernels = 1, .graph_gap_ns = NAN, IS(GRAPH_REPLAY)},
    {"copies 30 %", .copy_ns = 300000, .kernels = 1, IS(COPY_BOUND)},
    {"copies below 30 %", .copy_ns = 299999, .kernels = 1, IS(GPU_BOUND)},
    {"copies before what is missing", .copy_ns = 300000, .idle_ns = 500000, .causes = {OF(UNKNOWN, 500000)}, .kernels = 1, IS(COPY_BOUND)},
    {"missing above 10 %", .idle_ns = 100001, .causes = {OF(UNKNOWN, 50000), OF(QUEUED, 50001)}, .kernels = 1, IS(INCOMPLETE)},
    {"missing 10 %", .idle_ns = 100000, .causes = {OF(UNKNOWN, 50000), OF(QUEUED, 50000)}, .kernels = 1, IS(MIXED)},
    {"graphs: half of the kernels, 3 us", .kernels = 2, .graph_kernels = 1, .graph_gap_ns = 3000, IS(GRAPH_REPLAY)},
    {"graphs: less than half", .kernels = 3, .graph_kernels = 1, .graph_gap_ns = 3000, IS(GPU_BOUND)},
    {"graphs: gaps above 3 us", .kernels = 2, .graph_kernels = 2, .graph_gap_ns = 3001, IS(GPU_BOUND)},
    {"graphs: no gaps at all", .kernels = 2, .graph_kernels = 2, .graph_gap_ns = NAN, IS(GRAPH_REPLAY)},
    {"graphs: idle inside them alone", .idle_ns = 400000, .causes = {OF(GRAPH, 400000)}, .kernels = 2, .graph_kernels = 2, .graph_gap_ns = 1000, IS(GRAPH_REPLAY)},
    {"graphs: idle outside below 30 %", .idle_ns = 299999, .causes = {OF(SYNC, 299999)}, .kernels = 2, .graph_kernels = 2, .graph_gap_ns = 1000, IS(GRAPH_REPLAY)},
    {"graphs: idle outside 30 %", .idle_ns = 300000, .causes = {OF(SYNC, 300000)}, .kernels = 2, .graph_kernels = 2, .graph_gap_ns = 1000, IS(SYNC_BOUND)},
    {"idle below 10 %", .idle_ns = 99999, .causes = {OF(SYNC, 99999)}, .kernels = 1, IS(GPU_BOUND)},
    {"idle 10 %", .idle_ns = 100000, .causes = {OF(SYNC, 100000)}, .kernels = 1, IS(SYNC_BOUND)},
    {"sync 40 % of idle", .idle_ns = 500000, .causes = {OF(SYNC, 50000), OF(SYNC_REFILL, 150000)}, .kernels = 1, IS(SYNC_BOUND)},
    {"sync below 40 %", .idle_ns = 500000, .causes = {OF(SYNC, 50000), OF(SYNC_REFILL, 149999)}, .kernels = 1, IS(MIXED)},
    {"alloc 40 %", .idle_ns = 500000, .causes = {OF(ALLOC, 200000)}, .kernels = 1, IS(ALLOC_BOUND)},
    {"alloc below 40 %", .idle_ns = 500000, .causes = {OF(ALLOC, 199999)}, .kernels = 1, IS(MIXED)},
    {"sync before alloc", .idle_ns = 500000, .causes = {OF(ALLOC, 250000), OF(SYNC, 200000)}, .kernels = 1, IS(SYNC_BOUND)},
    {"module 40 %", .idle_ns = 500000, .causes = {OF(MODULE, 100000), OF(SLOW_LAUNCH, 100000)}, .kernels = 1, IS(MODULE_BOUND)},
    {"module below 40 %", .idle_ns = 500000, .causes = {OF(MODULE, 100000), OF(SLOW_LAUNCH, 99999)}, .kernels = 1, IS(MIXED)},
    {"launch: all three", .idle_ns = 300000, .causes = {OF(DISPATCH, 100000), OF(LAUNCH, 50000), OF(SYNC_REFILL, 30000)}, .kernel_ns = 4999, .period_ns = 10000, .empty = 0.5, .kernels = 1, IS(LAUNCH_BOUND), PACE(DECODE)},
    {"launch: idle below 30 %", .idle_ns = 299999, .causes = {OF(DISPATCH, 299999)}, .kernel_ns = 4999, .period_ns = 10000, .empty = 1, .kernels = 1, IS(MIXED), PACE(DECODE)},
    {"launch: causes below 60 %", .idle_ns = 300000, .causes = {OF(DISPATCH, 179999)}, .kernel_ns = 4999, .period_ns = 10000, .empty = 1, .kernels = 1, IS(MIXED), PACE(DECODE)},
    {"launch: kernels of half the period", .idle_ns = 300000, .causes = {OF(DISPATCH, 300000)}, .kernel_ns = 5000, .period_ns = 10000, .empty = 1, .kernels = 1, IS(MIXED)},
    {"launch: no period", .idle_ns = 300000, .causes = {OF(DISPATCH, 300000)}, .kernel_ns = 5000, .period_ns = NAN, .empty = NAN, .depth = NAN, .kernels = 1, IS(MIXED)},
    {"no work: half of idle", .idle_ns = 300000, .causes = {OF(NO_WORK, 150000)}, .kernels = 1, IS(NO_WORK)},
    {"no work: below half", .idle_ns = 300000, .causes = {OF(NO_WORK, 149999)}, .kernels = 1, IS(MIXED)},
    {"no work: an operation was open", .idle_ns = 300000, .causes = {OF(DISPATCH, 300000)}, .stall_ns = 150000, .kernel_ns = 4999, .period_ns = 10000, .empty = 1, .kernels = 1, IS(NO_WORK)},
    {"launch: stretches below half of idle", .idle_ns = 300000, .causes = {OF(DISPATCH, 300000)}, .stall_ns = 149999, .kernel_ns = 4999, .period_ns = 10000, .empty = 1, .kernels = 1, IS(LAUNCH_BOUND), PACE(DECODE)},
    {"launch: whatever the kernels are", .idle_ns = 500000, .causes = {OF(DISPATCH, 400000)}, .kernel_ns = 10000, .period_ns = 10000, .empty = 1, .kernels = 1, IS(LAUNCH_BOUND), PACE(PREFILL)},
    {"launch: less than 80 % of idle", .idle_ns = 500000, .causes = {OF(DISPATCH, 399999)}, .kernel_ns = 10000, .period_ns = 10000, .empty = 1, .kernels = 1, IS(MIXED), PACE(PREFILL)},
    {"pace: kernels as long as the period", .kernel_ns = 10000, .period_ns = 10000, .kernels = 1, IS(GPU_BOUND), PACE(PREFILL)},
    {"pace: one in front", .kernel_ns = 100, .period_ns = 10000, .depth = 1, .empty = 1, .kernels = 1, IS(GPU_BOUND), PACE(PREFILL)},
    {"pace: busy all the same", .kernel_ns = 100, .period_ns = 10000, .depth = 0.5, .empty = 1, .kernels = 1, IS(GPU_BOUND)},
    {"pace: the queue is seldom empty", .idle_ns = 500000, .kernel_ns = 100, .period_ns = 10000, .empty = 0.49, .kernels = 1, IS(MIXED)},
    {"pace: decode", .idle_ns = 500000, .kernel_ns = 100, .period_ns = 10000, .empty = 0.5, .kernels = 1, IS(MIXED), PACE(DECODE)},
    {"pace: 9 launches", .idle_ns = 500000, .kernel_ns = 100, .period_ns = 10000, .empty = 0.5, .kernels = 1, .launches = 9, IS(MIXED)},
    {"pace: one of 9 launches", .kernel_ns = 10000, .period_ns = 10000, .kernels = 1, .launches = 9, IS(GPU_BOUND)},
};
/* clang-format on */

static void judged(void **state)
{
    const verdict_case *const row = *state;
    ridge_device_account account = {
        .start_ns = 100,
        .end_ns = 100 + SPAN,
        .copy_only_ns = row->copy_ns,
        .idle_ns = row->idle_ns,
        .stall_ns = row->stall_ns,
        .kernel_ns = SPAN - row->copy_ns - row->idle_ns,
        .busy_ns = SPAN - row->idle_ns,
        .op_count = row->kernels + row->graph_rows + (row->copy_ns > 0),
        .kernel_count = row->kernels,
        .graph_kernel_count = row->graph_kernels,
        .graph_row_count = row->graph_rows,
        .median_kernel_ns = row->kernel_ns,
        .median_launch_period_ns = row->period_ns != 0 ? row->period_ns : 1e9,
        .median_graph_gap_ns = row->graph_gap_ns,
        .queue_depth_median = row->depth,
        .launch_count = row->launches != 0 ? row->launches : 10,
        .queue_empty_frac = row->empty,
    };
    int64_t rest_ns = row->idle_ns;

    for (int i = 0; i < RIDGE_IDLE_COUNT; i++) {
        account.causes[i].total_ns = row->causes[i];
        rest_ns -= row->causes[i];
    }
    account.causes[RIDGE_IDLE_OTHER_API].total_ns += rest_ns;
    account_judge(&account, row->causes[RIDGE_IDLE_UNKNOWN] + row->causes[RIDGE_IDLE_QUEUED]);
    assert_string_equal(ridge_timeline_verdict_name(account.verdict),
                        ridge_timeline_verdict_name(row->verdict));
    assert_string_equal(ridge_pace_name(account.pace), ridge_pace_name(row->pace));
    assert_true(strlen(account.reason) > 10);
    assert_null(strchr(account.reason, '\n'));
}

static void no_length(void **state)
{
    ridge_device_account account = {.kernel_count = 1,
                                    .median_kernel_ns = 0,
                                    .median_launch_period_ns = NAN,
                                    .queue_depth_median = NAN};

    (void)state;
    account_judge(&account, 0);
    assert_string_equal(ridge_timeline_verdict_name(account.verdict), "GPU-BOUND");
}

static void mixed_lists_causes(void **state)
{
    ridge_device_account account = {.end_ns = 1000, .idle_ns = 600, .kernel_count = 1};

    (void)state;
    account.causes[RIDGE_IDLE_DISPATCH].total_ns = 200;
    account.causes[RIDGE_IDLE_NO_WORK].total_ns = 210;
    account.causes[RIDGE_IDLE_ALLOC].total_ns = 100;
    account.causes[RIDGE_IDLE_SYNC].total_ns = 90;
    account_judge(&account, 0);
    assert_string_equal(account.reason,
                        "idle 60.0 % of the span: no-work 35.0 %, dispatch 33.3 %, alloc 16.7 %");
}

static void reasons_have_the_numbers(void **state)
{
    ridge_device_account account = {.end_ns = 1000000,
                                    .idle_ns = 863000,
                                    .kernel_ns = 137000,
                                    .kernel_count = 768,
                                    .median_kernel_ns = 6288.5,
                                    .median_launch_period_ns = 83574,
                                    .queue_depth_median = 1,
                                    .queue_empty_frac = 0.97};

    (void)state;
    account.causes[RIDGE_IDLE_DISPATCH].total_ns = 863000;
    account_judge(&account, 0);
    assert_string_equal(account.reason, "kernel median 6.29 us, host needs 83.6 us a launch, queue "
                                        "empty at 97.0 % of launches, idle 86.3 %");
}

/* From 5 % of the span, behind the reason of any verdict. */
static void reasons_have_exposed_communication(void **state)
{
    ridge_device_account account = {.end_ns = 100000,
                                    .idle_ns = 1000,
                                    .kernel_ns = 99000,
                                    .kernel_count = 7,
                                    .median_kernel_ns = 5000,
                                    .median_launch_period_ns = NAN,
                                    .collective_ns = 9000,
                                    .collective_hidden_ns = 4000};

    (void)state;
    account_judge(&account, 0);
    assert_string_equal(account.reason,
                        "idle 1.0 %, kernel median 5.00 us; 5.0 % exposed communication");
    account.collective_hidden_ns = 4001;
    account_judge(&account, 0);
    assert_string_equal(account.reason, "idle 1.0 %, kernel median 5.00 us");
}

/* An empty queue has nobody ahead. */
static void reasons_have_the_queue(void **state)
{
    ridge_device_account account = {.end_ns = 100000,
                                    .kernel_ns = 100000,
                                    .kernel_count = 30,
                                    .median_kernel_ns = 5000,
                                    .median_launch_period_ns = 5100,
                                    .queue_empty_frac = 1};

    (void)state;
    account_judge(&account, 0);
    assert_string_equal(account.reason,
                        "idle 0.0 %, kernel median 5.00 us, a launch every 5.10 us, "
                        "0 queued ahead of it (median)");
}

static void names(void **state)
{
    (void)state;
    assert_string_equal(ridge_idle_name(RIDGE_IDLE_GRAPH), "graph-internal");
    assert_string_equal(ridge_idle_name(RIDGE_IDLE_COUNT), "unknown");
    assert_string_equal(ridge_idle_meaning(RIDGE_IDLE_MODULE), "loading code");
    assert_string_equal(ridge_idle_meaning(RIDGE_IDLE_COUNT), "");
    assert_string_equal(ridge_timeline_verdict_name(RIDGE_TIMELINE_MIXED), "MIXED");
    assert_string_equal(ridge_timeline_verdict_meaning(RIDGE_TIMELINE_MIXED),
                        "no cause stands out");
    assert_string_equal(ridge_trace_fault_name(RIDGE_TRACE_FAULT_OVERLAPS), "overlaps");
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, judged, verdicts);
    cases_add(&list, "a span without length", no_length, NULL);
    cases_add(&list, "mixed lists the causes", mixed_lists_causes, NULL);
    cases_add(&list, "the reason has the numbers", reasons_have_the_numbers, NULL);
    cases_add(&list, "the reason has exposed communication", reasons_have_exposed_communication,
              NULL);
    cases_add(&list, "the reason has the queue", reasons_have_the_queue, NULL);
    cases_add(&list, "names", names, NULL);
    return cases_run(&list, "timeline_verdict");
}
