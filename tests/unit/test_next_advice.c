/* SPDX-License-Identifier: Apache-2.0
 *
 * The advice in words, by the verdict and by what the trace tells beyond it. */
#include "next_support.h"

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
/* Twice .item(); a shorter wait of the device between. */
static const trace_row item_rows[] = {
    {ROW_CALL, "cudaLaunchKernel", 0, 5000, .key = 1},
    {ROW_KERNEL, "k", 6000, 7000, .key = 1},
    {ROW_OP, "aten::item", 7000, 400000},
    {ROW_OP, "aten::_local_scalar_dense", 7500, 399000},
    {ROW_CALL, "cudaStreamSynchronize", 8000, 390000},
    {ROW_CALL, "cudaLaunchKernel", 411000, 415000, .key = 2},
    {ROW_KERNEL, "k", 416000, 417000, .key = 2},
    {ROW_CALL, "cudaDeviceSynchronize", 420000, 430000},
    {ROW_CALL, "cudaLaunchKernel", 431000, 435000, .key = 3},
    {ROW_KERNEL, "k", 436000, 437000, .key = 3},
    {ROW_OP, "aten::item", 437000, 700000},
    {ROW_OP, "aten::_local_scalar_dense", 437500, 690000},
    {ROW_CALL, "cudaStreamSynchronize", 438000, 680000},
    {ROW_CALL, "cudaLaunchKernel", 711000, 715000, .key = 4},
    {ROW_KERNEL, "k", 716000, 717000, .key = 4},
};
/* A wait of 1 us, and 400 us of the host behind it. */
static const trace_row short_wait_rows[] = {
    {ROW_CALL, "cudaLaunchKernel", 0, 5000, .key = 1},
    {ROW_KERNEL, "k", 6000, 10000, .key = 1},
    {ROW_NVTX, ":aten::cudnn_convolution, seq = 7", 9500, 11100},
    {ROW_CALL, "cuEventSynchronize", 10000, 11000},
    {ROW_CALL, "cudaLaunchKernel", 411000, 415000, .key = 2},
    {ROW_KERNEL, "k", 416000, 417000, .key = 2},
};
/* Most of the wait for an event is hidden under a kernel: that of the copy leaves more idle. */
static const trace_row copy_wait_rows[] = {
    {ROW_CALL, "cudaLaunchKernel", 0, 5000, .key = 1},
    {ROW_KERNEL, "k", 6000, 500000, .key = 1},
    {ROW_CALL, "cudaEventSynchronize", 5000, 502000},
    {ROW_CALL, "cudaMemcpy", 503000, 700000, .key = 2},
    {ROW_COPY, "c", 510000, 600000, .key = 2, .detail = RIDGE_COPY_DTOH},
    {ROW_CALL, "cudaLaunchKernel", 701000, 705000, .key = 3},
    {ROW_KERNEL, "k", 706000, 707000, .key = 3},
};
static const trace_row pageable_rows[] = {
    {ROW_CALL, "cudaLaunchKernel", 0, 5000, .key = 1},
    {ROW_KERNEL, "k", 6000, 7000, .key = 1},
    {ROW_CALL, "cudaMemcpyAsync", 10000, 700000, .key = 2},
    {ROW_COPY, "c", 510000, 600000, .key = 2, .detail = RIDGE_COPY_HTOD},
    {ROW_CALL, "cudaLaunchKernel", 701000, 705000, .key = 3},
    {ROW_KERNEL, "k", 706000, 707000, .key = 3},
    {ROW_OP, "aten::copy_", 9000, 700500},
};
static const trace_row event_rows[] = {
    {ROW_CALL, "cudaLaunchKernel", 0, 5000, .key = 1},
    {ROW_KERNEL, "k", 6000, 7000, .key = 1},
    {ROW_CALL, "cuEventSynchronize", 8000, 390000},
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

/* Nothing beyond its verdict. */
static const trace_row plain_rows[] = {
    {ROW_CALL, "cudaLaunchKernel", 10, 20, .key = 1},
    {ROW_CALL, "cudaLaunchKernel", 20, 30, .key = 2},
    {ROW_KERNEL, "gemm", 100, 200, .key = 1},
    {ROW_KERNEL, "gemm", 210, 330, .key = 2},
};

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

static void advises(void **state)
{
    const struct advice_case *const row = *state;
    ridge_trace *const trace = TRACE_OF(plain_rows);
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
     "remove waits: cudaStreamSynchronize, 1 call; cudaStreamWaitEvent orders streams without the "
     "host; "
     "where the host reads a result, copy to pinned memory and wait for an event one step later. "
     "Most: in item",
     "linear"},
    {"a wait of PyTorch", ROWS(wait_rows), RIDGE_TIMELINE_SYNC_BOUND, true,
     "remove waits: cudaStreamSynchronize, 1 call; stream.synchronize(), or what reads",
     "cudaStreamWaitEvent"},
    {"torch.cuda.synchronize(), twice", ROWS(refill_rows), RIDGE_TIMELINE_SYNC_BOUND, true,
     "remove waits: cudaDeviceSynchronize, 2 calls; torch.cuda.synchronize(): work of a stream is "
     "in order without it; leave it out",
     ".item()"},
    {"the program waits for the device", ROWS(refill_rows), RIDGE_TIMELINE_SYNC_BOUND, false,
     "remove waits: cudaDeviceSynchronize, 2 calls; work of a stream is in order", "torch"},
    {"what .item() waits for", ROWS(item_rows), RIDGE_TIMELINE_SYNC_BOUND, true,
     "remove waits: .item() (cudaStreamSynchronize, 2 calls); float(), print and a branch on a "
     "tensor wait so too",
     "stream.synchronize"},
    {"code behind a short wait, in a mixed trace", ROWS(short_wait_rows), RIDGE_TIMELINE_MIXED,
     false, "torch.compile(mode=", "remove waits"},
    {"the same where waits were found to bind", ROWS(short_wait_rows), RIDGE_TIMELINE_SYNC_BOUND,
     true, "remove waits: cudnn.benchmark (cuEventSynchronize, 1 call); it tries", "graph"},
    {"the call with most time, a copy", ROWS(copy_wait_rows), RIDGE_TIMELINE_SYNC_BOUND, false,
     "remove waits: cudaMemcpy, 1 call; cudaMemcpyAsync on pinned memory instead", "cudaEvent"},
    {"a copy of pageable memory", ROWS(pageable_rows), RIDGE_TIMELINE_SYNC_BOUND, true,
     "remove waits: .cpu(), .to() (cudaMemcpyAsync, 1 call); pinned memory (pin_memory=True) and "
     "non_blocking=True",
     ".item()"},
    {"the same without a word of the operation", pageable_rows, 6, RIDGE_TIMELINE_SYNC_BOUND, false,
     "remove waits: cudaMemcpyAsync, 1 call; the memory on the host is pageable: pin it "
     "(cudaMallocHost, cudaHostRegister)",
     "non_blocking"},
    {"an event", ROWS(event_rows), RIDGE_TIMELINE_SYNC_BOUND, false,
     "remove waits: cuEventSynchronize, 1 call; it is waited for too early", "torch"},
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
    assert_int_equal(next.is_sync, strncmp(row->part, "remove waits", 12) == 0);
    if (strstr(next.fix, row->part) == NULL || strstr(next.fix, row->absent) != NULL)
        fail_msg("%s", next.fix);
    assert_true(strlen(next.fix) < sizeof(next.fix) - 1); /* not cut */
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
    if (strstr(next.fix, "remove waits: cudaDeviceSynchronize, 1 call; ") == NULL ||
        strstr(next.fix, ". Most: in step") == NULL)
        fail_msg("%s", next.fix);
    ridge_timeline_next_free(&next);
    ridge_trace_free(trace);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, advises, advice_cases);
    CASES_ADD_ROWS(&list, tells_more, words_cases);
    cases_add(&list, "the gain behind a start", tells_the_gain_behind_the_start, NULL);
    cases_add(&list, "a window in a gap", tells_a_window_in_a_gap, NULL);
    cases_add(&list, "the place of most of the time", names_the_place, NULL);
    return cases_run(&list, "next_advice");
}
