/* SPDX-License-Identifier: Apache-2.0
 *
 * Each rule of the painting on a trace of a few rows, just below and just above its limit. The gap
 * begins at 1,000,000 unless a row says otherwise: K() before it ends there. */
#include "cases.h"

#include "base/text.h"
#include "ridge/timeline.h"
#include "trace_support.h"

enum { A = 1000000, ROWS_MOST = 12 };

#define MS(ms) ((ms)*INT64_C(1000000))
/* The work in front of the gap, launched long before. */
#define BEFORE                                                                                     \
    {ROW_CALL, "cudaLaunchKernel", 1000, 2000, .key = 1},                                          \
    {                                                                                              \
        ROW_KERNEL, "before", 500000, A, .key = 1                                                  \
    }
#define NEXT(call_start, call_end, start)                                                          \
    {ROW_CALL, "cudaLaunchKernel_v7000", A + (call_start), A + (call_end), .key = 2},              \
    {                                                                                              \
        ROW_KERNEL, "after", A + (start), A + (start) + 1000, .key = 2                             \
    }
#define CALL(name, start, end)                                                                     \
    {                                                                                              \
        ROW_CALL, name, A + (start), A + (end)                                                     \
    }

typedef struct paint_case {
    const char *name;
    trace_row rows[ROWS_MOST];
    const char *pieces; /* "cause start end", from A on */
} paint_case;

/* clang-format off */
static paint_case cases_of_rules[] = {
    {"nothing between work that touches", {BEFORE, NEXT(-5000, -4000, 0)}, ""},

    /* back to back, queued */
    {"hardware: 5 us, launched before", {BEFORE, NEXT(-9000, -8000, 5000)}, "hardware 0 5000"},
    {"queued: 5.001 us, launched before", {BEFORE, NEXT(-9000, -8000, 5001)}, "queued 0 5001"},
    {"queued: the call returned as the device ran dry", {BEFORE, NEXT(-9000, 0, 6000)}, "queued 0 6000"},

    /* nothing of the host */
    {"unknown: no calls", {{ROW_KERNEL, "a", 1, A}, {ROW_KERNEL, "b", A + 5001, A + 6000}}, "unknown 0 5001"},
    {"hardware: no calls, 5 us", {{ROW_KERNEL, "a", 1, A}, {ROW_KERNEL, "b", A + 5000, A + 6000}}, "hardware 0 5000"},
    {"unknown: calls, none for this", {BEFORE, {ROW_KERNEL, "b", A + 5001, A + 6000, .key = 9}}, "unknown 0 5001"},
    {"no-work: managed memory moves to the host", {BEFORE, {ROW_COPY, "c", A + 5001, A + 6000, .detail = RIDGE_COPY_UNIFIED_DTOH}}, "no-work 0 5001"},
    {"hardware: managed memory moves on", {BEFORE, {ROW_COPY, "c", A + 5000, A + 6000, .detail = RIDGE_COPY_UNIFIED_DTOH}}, "hardware 0 5000"},
    {"unknown: managed memory moves to the device", {BEFORE, {ROW_COPY, "c", A + 5001, A + 6000, .detail = RIDGE_COPY_UNIFIED_HTOD}}, "unknown 0 5001"},

    /* the launch */
    {"launch: across the start of the gap", {BEFORE, NEXT(-100, 1, 11)}, "launch 0 11"},
    {"launch: up to the latency", {BEFORE, NEXT(-100, 1000, 11000)}, "launch 0 11000"},
    {"queued: behind the latency", {BEFORE, NEXT(-100, 1000, 11001)}, "launch 0 11000, queued 11000 11001"},
    {"launch: 1 ms", {BEFORE, NEXT(1000, MS(1) + 1000, MS(1) + 2000)}, "dispatch 0 1000, launch 1000 1002000"},
    {"slow launch: above 1 ms", {BEFORE, NEXT(1000, MS(1) + 1001, MS(1) + 2000)}, "dispatch 0 1000, slow-launch 1000 1002000"},
    {"launch: a long call whose work starts early", {BEFORE,
        {ROW_CALL, "cudaMemcpy_v3020", A + 1000, A + MS(50), .key = 2}, {ROW_COPY, "[CUDA memcpy HtoD]", A + 9000, A + MS(50) - 10, .key = 2}},
        "dispatch 0 1000, launch 1000 9000"},
    {"module: code loaded in a quick launch", {BEFORE, NEXT(1000, 9000, 10000), {ROW_OVERHEAD, "", A + 2000, A + 8000, .detail = RIDGE_OVERHEAD_LAZY}},
        "dispatch 0 1000, launch 1000 2000, module 2000 8000, launch 8000 10000"},
    {"module: code loaded on another thread does not explain", {BEFORE, NEXT(1000, 9000, 10000), {ROW_OVERHEAD, "", A + 2000, A + 8000, .on = 5, .detail = RIDGE_OVERHEAD_LAZY}},
        "dispatch 0 1000, launch 1000 10000"},
    {"module: code loaded by the process", {BEFORE, NEXT(1000, 9000, 10000), {ROW_OVERHEAD, "", A + 500, A + 8000, .on = -1, .detail = RIDGE_OVERHEAD_JIT}},
        "dispatch 0 500, module 500 1000, module 1000 8000, launch 8000 10000"},
    {"launch: the runtime's call around the driver's", {BEFORE, {ROW_CALL, "cudaLaunchKernel", A + 1000, A + 9000}, {ROW_CALL, "cuLaunchKernel", A + 2000, A + 8000, .key = 2},
        {ROW_KERNEL, "after", A + 9000, A + 9500, .key = 2}}, "dispatch 0 1000, launch 1000 2000, launch 2000 9000"},

    /* calls before the launch */
    {"alloc", {BEFORE, CALL("cudaMalloc_v3020", 1000, 5000), NEXT(6000, 8000, 9000)}, "dispatch 0 1000, alloc 1000 5000, dispatch 5000 6000, launch 6000 9000"},
    {"module", {BEFORE, CALL("cuModuleLoadData", 0, 5000), NEXT(5000, 8000, 9000)}, "module 0 5000, launch 5000 9000"},
    {"graph-build", {BEFORE, CALL("cudaGraphInstantiate_v12000", 0, 5000), NEXT(5000, 8000, 9000)}, "graph-build 0 5000, launch 5000 9000"},
    {"capture: all between its calls", {BEFORE, CALL("cudaStreamBeginCapture_v10000", 1000, 1100), {ROW_OP, "aten::mm", A + 1200, A + 4000}, CALL("cudaStreamIsCapturing", 2000, 2100),
        CALL("cudaStreamEndCapture_v10000", 4000, 4100), NEXT(5000, 8000, 9000)}, "dispatch 0 1000, graph-build 1000 4100, dispatch 4100 5000, launch 5000 9000"},
    {"capture: began long before", {BEFORE, CALL("hipStreamBeginCapture", -9000, -8000), CALL("hipStreamEndCapture", 4000, 4100), NEXT(5000, 8000, 9000)},
        "graph-build 0 4100, dispatch 4100 5000, launch 5000 9000"},
    {"capture: code loaded and memory allocated in it", {BEFORE, CALL("cuStreamBeginCapture_v2", 0, 100), CALL("cuModuleLoadData", 200, 300), CALL("cudaMalloc", 300, 500),
        CALL("cuStreamEndCapture", 900, 1000), NEXT(1000, 2000, 3000)}, "graph-build 0 200, module 200 300, alloc 300 500, graph-build 500 1000, launch 1000 3000"},
    {"capture: nested", {BEFORE, CALL("cudaStreamBeginCapture", 0, 100), CALL("cuStreamBeginCapture", 10, 90), CALL("cudaStreamEndCapture", 900, 1000),
        CALL("cuStreamEndCapture", 910, 990), NEXT(1000, 2000, 3000)}, "graph-build 0 10, graph-build 10 1000, launch 1000 3000"},
    {"capture: of another thread", {BEFORE, {ROW_CALL, "cudaStreamBeginCapture", A, A + 100, .on = 4}, {ROW_CALL, "cudaStreamEndCapture", A + 900, A + 1000, .on = 4}, NEXT(1000, 2000, 3000)},
        "dispatch 0 1000, launch 1000 3000"},
    {"capture: never ended", {BEFORE, CALL("cudaStreamBeginCapture", 0, 100), NEXT(1000, 2000, 3000)}, "graph-build 0 100, dispatch 100 1000, launch 1000 3000"},
    {"capture: ended alone", {BEFORE, CALL("cudaStreamEndCapture", 0, 100), NEXT(1000, 2000, 3000)}, "graph-build 0 100, dispatch 100 1000, launch 1000 3000"},
    {"sync: began when all was done", {BEFORE, CALL("cudaDeviceSynchronize", 2000, 5000), NEXT(5500, 8000, 9000)},
        "dispatch 0 2000, sync 2000 5000, dispatch 5000 5500, launch 5500 9000"},
    {"other-api", {BEFORE, CALL("cudaEventRecord_v3020", 0, 5000), NEXT(5000, 8000, 9000)}, "other-api 0 5000, launch 5000 9000"},
    {"calls of another thread are not seen", {BEFORE, {ROW_CALL, "cudaMalloc", A, A + 5000, .on = 7}, NEXT(5000, 8000, 9000)}, "dispatch 0 5000, launch 5000 9000"},
    {"nested: alloc before sync", {BEFORE, CALL("cudaDeviceSynchronize", 0, 5000), CALL("cudaFree", 1000, 2000), NEXT(5000, 8000, 9000)},
        "sync 0 1000, alloc 1000 2000, sync 2000 5000, launch 5000 9000"},
    {"nested: alloc around sync", {BEFORE, CALL("cudaFree", 0, 5000), CALL("cuCtxSynchronize", 1000, 2000), NEXT(5000, 8000, 9000)}, "alloc 0 5000, launch 5000 9000"},
    {"a call that began long before", {BEFORE, CALL("cudaMalloc", -900000, 100), NEXT(5000, 8000, 9000)}, "alloc 0 100, dispatch 100 5000, launch 5000 9000"},
    {"a call beyond the launch is cut", {BEFORE, CALL("cudaMalloc", 100, 7000), NEXT(5000, 8000, 9000)}, "dispatch 0 100, alloc 100 5000, launch 5000 9000"},
    {"calls without a length change nothing", {BEFORE, CALL("cudaGetLastError", 100, 100), NEXT(5000, 8000, 9000)}, "dispatch 0 5000, launch 5000 9000"},

    /* waiting for the device, and what that exposes */
    {"refill: a wait until the device was dry", {BEFORE, CALL("cudaStreamSynchronize_v3020", -9000, 1500), NEXT(5000, 8000, 9000)},
        "sync 0 1500, sync-refill 1500 5000, launch 5000 9000"},
    {"refill: the wait ended 1 us earlier by its clock", {BEFORE, CALL("cudaStreamSynchronize", -9000, -1000), NEXT(5000, 8000, 9000)}, "sync-refill 0 5000, launch 5000 9000"},
    {"no refill: the wait ended before that", {BEFORE, CALL("cudaStreamSynchronize", -9000, -1001), NEXT(5000, 8000, 9000)}, "dispatch 0 5000, launch 5000 9000"},
    {"refill: pieces of 2 ms", {BEFORE, CALL("cudaDeviceSynchronize", -9000, 1000), NEXT(MS(2) + 1000, MS(2) + 2000, MS(2) + 3000)},
        "sync 0 1000, sync-refill 1000 2001000, launch 2001000 2003000"},
    {"no refill: a piece above 2 ms", {BEFORE, CALL("cudaDeviceSynchronize", -9000, 1000), NEXT(MS(2) + 1001, MS(2) + 2000, MS(2) + 3000)},
        "sync 0 1000, no-work 1000 2001001, launch 2001001 2003000"},
    {"refill: with calls in it", {BEFORE, CALL("cudaDeviceSynchronize", -9000, 1000), CALL("cudaMalloc", 2000, 3000), NEXT(4000, 5000, 6000)},
        "sync 0 1000, sync-refill 1000 2000, alloc 2000 3000, sync-refill 3000 4000, launch 4000 6000"},
    {"sync: a copy that waits", {{ROW_CALL, "cudaMemcpy_v3020", 1000, A + 2000, .key = 1}, {ROW_COPY, "[CUDA memcpy DtoH]", 5000, A, .key = 1, .detail = RIDGE_COPY_DTOH},
        NEXT(3000, 4000, 5000)}, "sync 0 2000, sync-refill 2000 3000, launch 3000 5000"},
    {"sync: an asynchronous copy that waited", {{ROW_CALL, "cudaMemcpyAsync_v3020", 1000, A + 2000, .key = 1}, {ROW_COPY, "[CUDA memcpy DtoH]", 5000, A, .key = 1},
        NEXT(3000, 4000, 5000)}, "sync 0 2000, sync-refill 2000 3000, launch 3000 5000"},
    {"no sync: a copy that did not wait", {{ROW_CALL, "cudaMemcpyAsync_v3020", 1000, 2000, .key = 1}, {ROW_COPY, "[CUDA memcpy DtoH]", 5000, A, .key = 1},
        NEXT(3000, 4000, 5000)}, "dispatch 0 3000, launch 3000 5000"},

    /* the thread's own code */
    {"host-blocked", {BEFORE, {ROW_WAIT, "pthread_cond_wait", A + 1000, A + 3000}, NEXT(5000, 8000, 9000)}, "dispatch 0 1000, host-blocked 1000 3000, dispatch 3000 5000, launch 5000 9000"},
    {"host-blocked in a range", {BEFORE, {ROW_NVTX, ":step", 0, MS(9)}, {ROW_WAIT, "poll", A - 1000, A + MS(3)}, NEXT(MS(4), MS(4) + 1, MS(4) + 2)},
        "host-blocked 0 3000000, dispatch 3000000 4000000, launch 4000000 4000002"},
    {"another thread's sleep is not seen", {BEFORE, {ROW_WAIT, "poll", A, A + 3000, .on = 3}, NEXT(5000, 8000, 9000)}, "dispatch 0 5000, launch 5000 9000"},
    {"dispatch: nothing for 2 ms less 1 ns", {BEFORE, NEXT(MS(2) - 1, MS(2), MS(2) + 1)}, "dispatch 0 1999999, launch 1999999 2000001"},
    {"no-work: nothing for 2 ms", {BEFORE, NEXT(MS(2), MS(2) + 1, MS(2) + 2)}, "no-work 0 2000000, launch 2000000 2000002"},
    {"dispatch: an operation lasts", {BEFORE, {ROW_OP, "aten::mm", A - 10, A + MS(3)}, NEXT(MS(2), MS(2) + 1, MS(2) + 2)}, "dispatch 0 2000000, launch 2000000 2000002"},
    {"dispatch: a frame lasts", {BEFORE, {ROW_PYTHON, "a.py(1): f", A - 10, A + MS(3)}, NEXT(MS(2), MS(2) + 1, MS(2) + 2)}, "dispatch 0 2000000, launch 2000000 2000002"},
    {"no-work: an annotation says nothing", {BEFORE, {ROW_ANNOTATION, "ProfilerStep#3", A - 10, A + MS(3)}, NEXT(MS(2), MS(2) + 1, MS(2) + 2)}, "no-work 0 2000000, launch 2000000 2000002"},
    {"no-work: between operations", {BEFORE, {ROW_OP, "a", A, A + 1000}, {ROW_OP, "b", A + MS(3), A + MS(4)}, NEXT(MS(4), MS(4) + 1, MS(4) + 2)},
        "dispatch 0 1000, no-work 1000 3000000, dispatch 3000000 4000000, launch 4000000 4000002"},

    /* graphs */
    {"graph-internal: of one launch", {{ROW_CALL, "cudaGraphLaunch_v10000", 1000, 2000, .key = 1}, {ROW_NODE, "a", 3000, A, .key = 1, .detail = 1},
        {ROW_NODE, "b", A + 900, A + 1000, .key = 1, .detail = 1}}, "graph-internal 0 900"},
    {"graph-internal: no number of the graph", {{ROW_CALL, "hipGraphLaunch", 1000, 2000, .key = 1}, {ROW_KERNEL, "a", 3000, A, .key = 1}, {ROW_KERNEL, "b", A + 900, A + 1000, .key = 1}},
        "graph-internal 0 900"},
    {"two launches of one graph", {{ROW_CALL, "cudaGraphLaunch", 1000, 2000, .key = 1}, {ROW_NODE, "a", 3000, A, .key = 1, .detail = 1},
        {ROW_CALL, "cudaGraphLaunch", A + 100, A + 600, .key = 2}, {ROW_NODE, "a", A + 900, A + 1000, .key = 2, .detail = 1}}, "dispatch 0 100, launch 100 900"},
    {"two pieces of work of one call, no graph", {{ROW_CALL, "cudaMemcpy2DAsync", 1000, 2000, .key = 1}, {ROW_COPY, "a", 3000, A, .key = 1}, {ROW_COPY, "b", A + 900, A + 1000, .key = 1}}, "hardware 0 900"},

    /* the profiler comes first */
    {"profiler over all", {BEFORE, NEXT(5000, 8000, 9000), {ROW_OVERHEAD, "", A - 5, A + 9999, .on = 4, .detail = RIDGE_OVERHEAD_FLUSH}}, "profiler 0 9000"},
    {"profiler in the middle", {BEFORE, NEXT(5000, 8000, 9000), {ROW_OVERHEAD, "", A + 1000, A + 2000, .detail = RIDGE_OVERHEAD_PROFILER},
        {ROW_OVERHEAD, "", A + 1500, A + 6000, .detail = RIDGE_OVERHEAD_RESOURCE}, {ROW_OVERHEAD, "", A + 7000, A + 7001, .on = -1, .detail = RIDGE_OVERHEAD_INSTRUMENTATION}},
        "dispatch 0 1000, profiler 1000 6000, launch 6000 7000, profiler 7000 7001, launch 7001 9000"},
    {"other overheads are not the profiler's", {BEFORE, NEXT(5000, 8000, 9000), {ROW_OVERHEAD, "", A, A + 6000, .detail = RIDGE_OVERHEAD_OTHER}, {ROW_OVERHEAD, "", A, A + 6000, .detail = RIDGE_OVERHEAD_QUEUE_FULL}},
        "dispatch 0 5000, launch 5000 9000"},

    /* several at once */
    {"the work launched last ends the gap", {BEFORE, NEXT(1000, 2000, 9000), {ROW_CALL, "cudaMalloc", A + 2000, A + 5000}, {ROW_CALL, "cudaLaunchKernel", A + 6000, A + 7000, .key = 3},
        {ROW_KERNEL, "last", A + 9000, A + 9999, .key = 3, .on = 4}},
        "dispatch 0 1000, other-api 1000 2000, alloc 2000 5000, dispatch 5000 6000, launch 6000 9000"},
    {"work on another stream covers", {BEFORE, NEXT(5000, 8000, 9000), {ROW_KERNEL, "other", 1, A + 20000, .on = 9}}, ""},
    {"an instant splits a gap", {BEFORE, {ROW_KERNEL, "instant", A + 3000, A + 3000, .on = 2}, NEXT(-5, -4, 7000)}, "hardware 0 3000, hardware 3000 7000"},
    {"work that starts within its call", {BEFORE, {ROW_CALL, "cudaLaunchKernel", A + 100, A + 9000, .key = 2}, {ROW_KERNEL, "after", A + 700, A + 900, .key = 2}}, "dispatch 0 100, launch 100 700"},
    {"work that starts before its call", {BEFORE, {ROW_CALL, "cudaLaunchKernel", A + 1000, A + 9000, .key = 2}, {ROW_KERNEL, "after", A + 700, A + 900, .key = 2}}, "dispatch 0 700"},
};
/* clang-format on */

static size_t count_rows(const trace_row *rows)
{
    size_t count = 0;

    while (count < ROWS_MOST && rows[count].end_ns != 0)
        count++;
    return count;
}

static void pieces_text(const ridge_device_account *account, ridge_text *text)
{
    for (size_t i = 0; i < account->piece_count; i++) {
        const ridge_idle_piece *const piece = &account->pieces[i];

        ridge_text_format(text, "%s%s %lld %lld", i > 0 ? ", " : "",
                          ridge_idle_name((ridge_idle)piece->cause),
                          (long long)(piece->start_ns - A), (long long)(piece->end_ns - A));
    }
}

static void painted(void **state)
{
    const paint_case *const row = *state;
    ridge_trace *const trace = trace_support_make(row->rows, count_rows(row->rows));
    const ridge_device_account *accounts;
    ridge_timeline *timeline;
    ridge_text text;
    size_t count;

    assert_int_equal(ridge_timeline_create(trace, NULL, &timeline, NULL), RIDGE_OK);
    accounts = ridge_timeline_devices(timeline, &count);
    assert_int_equal(count, 1);
    ridge_text_init(&text);
    pieces_text(accounts, &text);
    assert_string_equal(text.data, row->pieces);
    ridge_text_release(&text);
    ridge_timeline_free(timeline);
    ridge_trace_free(trace);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, painted, cases_of_rules);
    return cases_run(&list, "paint");
}
