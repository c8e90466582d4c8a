/* SPDX-License-Identifier: Apache-2.0
 *
 * What is found wrong with a trace: each fault at its limit and just before it. */
#include "cases.h"

#include "ridge/timeline.h"
#include "trace_support.h"

enum { ROWS_MOST = 48 };

typedef struct fault_case {
    const char *name;
    trace_row rows[ROWS_MOST];
    const char *faults; /* "kind!" where percentages cannot be trusted */
    ridge_trace_info info;
    const char *complaint;
    int severity;
    const char *text; /* a part of the first */
} fault_case;

#define CALL(key_, start, end)                                                                     \
    {                                                                                              \
        ROW_CALL, "cudaLaunchKernel", start, end, .key = key_                                      \
    }
#define KERNEL(key_, start, end)                                                                   \
    {                                                                                              \
        ROW_KERNEL, "k", start, end, .key = key_                                                   \
    }
#define GRAPH(key_, start, end)                                                                    \
    {                                                                                              \
        ROW_CALL, "cudaGraphLaunch", start, end, .key = key_                                       \
    }
#define NODE(key_, start, end)                                                                     \
    {                                                                                              \
        ROW_NODE, "n", start, end, .key = key_, .detail = 1                                        \
    }
/* Twenty kernels of one call, with no time between. */
#define TWENTY                                                                                     \
    CALL(1, 1, 2), KERNEL(1, 10, 20), KERNEL(1, 20, 30), KERNEL(1, 30, 40), KERNEL(1, 40, 50),     \
        KERNEL(1, 50, 60), KERNEL(1, 60, 70), KERNEL(1, 70, 80), KERNEL(1, 80, 90),                \
        KERNEL(1, 90, 100), KERNEL(1, 100, 110), KERNEL(1, 110, 120), KERNEL(1, 120, 130),         \
        KERNEL(1, 130, 140), KERNEL(1, 140, 150), KERNEL(1, 150, 160), KERNEL(1, 160, 170),        \
        KERNEL(1, 170, 180), KERNEL(1, 180, 190), KERNEL(1, 190, 200)

/* clang-format off */
static fault_case cases_of_faults[] = {
    {"a good trace", {TWENTY}, ""},
    {"orphans: 1 of 20", {TWENTY, KERNEL(0, 200, 201)}, ""},
    {"orphans: 2 of 22", {TWENTY, KERNEL(0, 200, 201), KERNEL(9, 201, 202)}, "orphans!", .text = "none of the idle time is unknown"},
    {"orphans: what of the idle time they hide", {TWENTY, KERNEL(0, 200, 201), KERNEL(9, 8000, 8001)}, "orphans!", .text = "7.80 us of the idle time is unknown"},
    {"no calls", {KERNEL(1, 10, 20)}, "no-host-data"},
    {"no work, no calls", {{ROW_NVTX, "a", 1, 2}}, ""},
    {"inverted: 1 of 21", {TWENTY, KERNEL(1, 300, 200)}, "no-times!"},
    {"graph: two kernels beside a hole above 1 ms", {GRAPH(1, 1, 2), NODE(1, 10, 20), NODE(1, 1000021, 1000030)}, "lost-graph!"},
    {"graph: a hole of 1 ms", {GRAPH(1, 1, 2), NODE(1, 10, 20), NODE(1, 1000020, 1000030)}, ""},
    {"graph: three kernels", {GRAPH(1, 1, 2), NODE(1, 10, 20), NODE(1, 1000021, 1000030), NODE(1, 1000030, 1000040)}, ""},
    {"graph: a small one that the host launched late", {GRAPH(1, 1, 2), NODE(1, 10, 20), GRAPH(2, 3000000, 3000100), NODE(2, 3000200, 3000300)}, ""},
    {"graph: launches without work", {TWENTY, GRAPH(7, 300, 400)}, "lost-graph!"},
    {"graph: the driver's call in the runtime's", {GRAPH(0, 1, 9), {ROW_CALL, "cuGraphLaunch", 2, 8, .key = 1}, NODE(1, 10, 20), NODE(1, 20, 30), NODE(1, 30, 40)}, ""},
    {"graph rows", {GRAPH(1, 1, 2), {ROW_GRAPH, "g", 10, 20, .key = 1, .detail = 3}}, "graph-rows"},
    {"cut: hardware gaps are not", {CALL(1, 1, 2), CALL(2, 3, 4), KERNEL(1, 10, 20), KERNEL(2, 5020, 5030)}, ""},
    {"cut: 10 % of the span", {CALL(1, 1, 2), CALL(2, 3, 4), KERNEL(1, 100000, 190000), KERNEL(2, 200000, 200000)}, ""},
    {"cut: above 10 % of the span", {CALL(1, 1, 2), CALL(2, 3, 4), KERNEL(1, 100000, 189999), KERNEL(2, 200000, 200000)}, "cut!"},
    {"overlaps", {CALL(1, 1, 2), KERNEL(1, 10, 20), KERNEL(1, 19, 30)}, "overlaps"},
    {"partial", {TWENTY}, "partial!", .info = {.is_partial = true, .partial = "cut at byte 9"}},
    {"coarse clock", {TWENTY}, "coarse-clock", .info = {.resolution_ns = 1000}},
    {"stacks, and the GPU is busy", {TWENTY}, "stacks", .info = {.has_stacks = true}},
    {"stacks, and the GPU waits", {CALL(1, 1, 2), KERNEL(1, 10, 20), CALL(2, 100, 200), KERNEL(2, 210, 220)}, "stacks!", .info = {.has_stacks = true}},
    {"skipped calls", {TWENTY}, "skipped-calls", .info = {.skips_cheap_calls = true}},
    {"complaint: severity 1", {TWENTY}, "", .complaint = "Not all CUDA events might have been collected", .severity = 1},
    {"complaint: severity 2, work is missing", {TWENTY}, "diagnostic!", .complaint = "Not all CUDA events might have been collected.", .severity = 2},
    {"complaint: severity 2, ranges are", {TWENTY}, "diagnostic", .complaint = "Not all NVTX events might have been collected.", .severity = 2},
    {"complaint: severity 2, an unknown driver, but work", {TWENTY}, "diagnostic", .complaint = "CUDA driver version (13.2) is not supported by this build", .severity = 2},
    {"complaint: an unknown driver, and no work", {CALL(1, 1, 2)}, "diagnostic!", .complaint = "CUDA driver version (13.2) is not\nsupported by this build", .severity = 2},
    {"coarse clock: nothing without a length", {TWENTY}, "coarse-clock", .info = {.resolution_ns = 1000}, .text = "microseconds: gaps"},
    {"overlaps: one", {CALL(1, 1, 2), KERNEL(1, 10, 20), KERNEL(1, 19, 30)}, "overlaps", .text = "(once)"},
    {"a long complaint ends at a word", {TWENTY}, "diagnostic", .complaint = "CUDA device 0: Unified Memory cannot be traced on devices that don't support peer-to-peer transfers. Please verify that SLI/NVLink is functioning properly, and then some more", .severity = 2, .text = " properly, and..."},
    {"several, in the order of the list", {CALL(1, 1, 2), KERNEL(1, 10, 20), KERNEL(9, 19, 30)}, "orphans! stacks overlaps", .info = {.has_stacks = true}},
};
/* clang-format on */

static size_t count_rows(const trace_row *rows)
{
    size_t count = 0;

    while (count < ROWS_MOST && rows[count].end_ns != 0)
        count++;
    return count;
}

static ridge_trace *make(const fault_case *row)
{
    ridge_trace *const trace = trace_create();

    trace_support_add(trace, row->rows, count_rows(row->rows));
    trace->info.is_partial = row->info.is_partial;
    trace->info.partial = row->info.partial != NULL ? row->info.partial : "";
    trace->info.has_stacks = row->info.has_stacks;
    trace->info.skips_cheap_calls = row->info.skips_cheap_calls;
    if (row->info.resolution_ns != 0)
        trace->info.resolution_ns = row->info.resolution_ns;
    if (row->complaint != NULL)
        trace_add_diagnostic(trace, row->severity, row->complaint, strlen(row->complaint));
    assert_int_equal(trace_finish(trace, NULL), RIDGE_OK);
    return trace;
}

static void found(void **state)
{
    const fault_case *const row = *state;
    ridge_trace *const trace = make(row);
    const ridge_trace_fault *faults;
    ridge_timeline *timeline;
    char text[400] = "";
    size_t count;

    assert_int_equal(ridge_timeline_create(trace, NULL, &timeline, NULL), RIDGE_OK);
    faults = ridge_timeline_faults(timeline, &count);
    for (size_t i = 0; i < count; i++) {
        strcat(text, i > 0 ? " " : "");
        strcat(text, ridge_trace_fault_name(faults[i].kind));
        strcat(text, faults[i].is_unreliable ? "!" : "");
        assert_true(strlen(faults[i].text) > 20);
        assert_null(strchr(faults[i].text, '\n'));
    }
    assert_string_equal(text, row->faults);
    if (row->text != NULL && strstr(faults[0].text, row->text) == NULL)
        fail_msg("%s", faults[0].text);
    ridge_timeline_free(timeline);
    ridge_trace_free(trace);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, found, cases_of_faults);
    return cases_run(&list, "trace_faults");
}
