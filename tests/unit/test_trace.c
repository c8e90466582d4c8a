/* SPDX-License-Identifier: Apache-2.0
 *
 * The trace object: rows in any order come out sorted and joined. */
#include "cases.h"

#include "base/memory.h"
#include "timeline/trace_build.h"

static uint32_t name(ridge_trace *trace, const char *text)
{
    return trace_intern(trace, text, strlen(text));
}

static void add_call(ridge_trace *trace, uint32_t thread, const char *text, int64_t start,
                     int64_t end, uint64_t correlation)
{
    const ridge_trace_api api = {
        .start_ns = start, .end_ns = end, .name = name(trace, text), .thread = thread};

    trace_add_api(trace, &api, correlation);
}

static void add_work(ridge_trace *trace, uint32_t stream, int64_t start, int64_t end, trace_key key)
{
    const ridge_trace_op op = {.start_ns = start,
                               .end_ns = end,
                               .bytes = RIDGE_TRACE_BYTES_UNKNOWN,
                               .name = name(trace, "k"),
                               .stream = stream,
                               .api = RIDGE_TRACE_NONE,
                               .config = RIDGE_TRACE_NONE,
                               .graph = RIDGE_TRACE_NONE};

    trace_add_op(trace, &op, key);
}

static void interns(void **state)
{
    ridge_trace *const trace = trace_create();
    char text[32];
    size_t length;

    (void)state;
    assert_non_null(trace);
    assert_int_equal(trace_intern(trace, "", 0), 0);
    for (unsigned i = 0; i < 2000; i++) {
        const size_t size = (size_t)snprintf(text, sizeof(text), "name %u", i % 1000);

        assert_int_equal(trace_intern(trace, text, size), i % 1000 + 1);
    }
    assert_int_equal(trace_intern(trace, "a\0b", 3), 1001);
    assert_int_equal(trace_intern(trace, "a\0c", 3), 1002);
    assert_string_equal(ridge_trace_name(trace, 7, &length), "name 6");
    assert_int_equal(length, 6);
    assert_string_equal(ridge_trace_name(trace, 0, NULL), "");
    assert_string_equal(ridge_trace_name(trace, 1003, &length), "");
    assert_int_equal(length, 0);
    ridge_trace_free(trace);
}

/* One number of correlation in two processes; two calls with one key, of which the launch owns the
 * work; of two that launch nothing by name the outer one. */
static void joins(void **state)
{
    ridge_trace *const trace = trace_create();
    const ridge_trace_api *apis;
    const ridge_trace_op *ops;
    uint32_t threads[2], streams[2];
    size_t count;

    (void)state;
    for (uint32_t p = 0; p < 2; p++) {
        threads[p] = trace_thread(trace, trace_process(trace, 10 + p), 1, 0);
        streams[p] = trace_stream(trace, trace_device(trace, 0), p, 1, 7);
    }
    add_work(trace, streams[1], 500, 600, (trace_key){4, 1});
    add_work(trace, streams[0], 500, 600, (trace_key){4, 0});
    add_work(trace, streams[0], 700, 701, (trace_key){5, 0});
    add_work(trace, streams[0], 800, 801, (trace_key){6, 0});
    add_work(trace, streams[0], 900, 901, (trace_key){99, 0});
    add_work(trace, streams[0], 950, 951, (trace_key){0, 0});
    add_call(trace, threads[1], "cudaLaunchKernel", 100, 110, 4);
    add_call(trace, threads[0], "wrapper", 90, 130, 4);
    add_call(trace, threads[0], "cuLaunchKernelEx", 100, 110, 4);
    add_call(trace, threads[0], "inner", 201, 205, 5);
    add_call(trace, threads[0], "outer", 200, 210, 5);
    add_call(trace, threads[0], "cudaGraphLaunch_v10000", 300, 310, 6);
    assert_int_equal(trace_finish(trace, NULL), RIDGE_OK);
    apis = ridge_trace_apis(trace, &count);
    ops = ridge_trace_ops(trace, &count);
    assert_int_equal(count, 6);
    assert_string_equal(ridge_trace_name(trace, apis[ops[0].api].name, NULL), "cuLaunchKernelEx");
    assert_string_equal(ridge_trace_name(trace, apis[ops[1].api].name, NULL), "cudaLaunchKernel");
    assert_string_equal(ridge_trace_name(trace, apis[ops[2].api].name, NULL), "outer");
    assert_int_equal(ops[2].flags, 0);
    assert_int_equal(ops[3].flags, RIDGE_OP_IN_GRAPH);
    assert_int_equal(apis[ops[3].api].op_count, 1);
    assert_int_equal(ops[4].api, RIDGE_TRACE_NONE);
    assert_int_equal(ops[5].api, RIDGE_TRACE_NONE);
    ridge_trace_free(trace);
}

/* Numbers of correlation that are dense have a place each; others are found by hash. */
typedef struct number_case {
    const char *name;
    uint64_t first, step;
    uint32_t process; /* row of the second process; beyond those that are known too */
} number_case;

static number_case numbers[] = {
    {"joins numbers from 1", 1, 1, 1},
    {"joins numbers from 2^40", (uint64_t)1 << 40, 1, 1},
    {"joins even numbers", 2, 2, 1},
    {"joins numbers 2^40 apart", 7, (uint64_t)1 << 40, 1},
    {"joins numbers up to the largest", UINT64_MAX - 299, 1, 1},
    {"joins numbers from end to end", 1, UINT64_MAX / 300, 1},
    {"joins calls of an unknown process", 1, 1, 9},
};

static void joins_numbers(void **state)
{
    enum { COUNT = 300 };
    const number_case *const row = *state;
    ridge_trace *const trace = trace_create();
    const uint32_t of[2] = {trace_process(trace, 1), row->process};
    const ridge_trace_api *apis;
    const ridge_trace_op *ops;
    size_t count;

    trace_process(trace, 2);
    for (unsigned i = 0; i < COUNT; i++) {
        const uint32_t process = of[i % 3 == 0];
        const uint64_t number = row->first + i * row->step - (i % 3 == 0) * row->first / 2;
        const uint32_t stream = trace_stream(trace, trace_device(trace, 0), 0, 1, 7);
        const uint32_t thread = trace_thread(trace, process, 1, 0);
        const int64_t at = (int64_t)i * 10;

        add_call(trace, thread, "cudaLaunchKernel", at, at + 5, number);
        add_work(trace, stream, at + 7, at + 9, (trace_key){number, process});
        add_work(trace, stream, at + 8, at + 9, (trace_key){number, 5}); /* no process */
        add_work(trace, stream, at + 9, at + 9, (trace_key){number + row->step * COUNT, process});
    }
    assert_int_equal(trace_finish(trace, NULL), RIDGE_OK);
    apis = ridge_trace_apis(trace, &count);
    ops = ridge_trace_ops(trace, &count);
    assert_int_equal(count, 3 * COUNT);
    for (size_t i = 0; i < count; i += 3) {
        assert_true(ops[i].api != RIDGE_TRACE_NONE);
        assert_int_equal(apis[ops[i].api].start_ns, ops[i].start_ns - 7);
        assert_int_equal(ops[i + 1].api, RIDGE_TRACE_NONE);
        assert_int_equal(apis[ops[i].api].op_count, 1);
    }
    ridge_trace_free(trace);
}

/* Sorted by thread, start, the outer first, and each thread knows its rows. */
static void sorts_the_host(void **state)
{
    ridge_trace *const trace = trace_create();
    const uint32_t a = trace_thread(trace, trace_process(trace, 1), 1, 0);
    const uint32_t b = trace_thread(trace, trace_process(trace, 1), 2, 0);
    const int64_t rows[][3] = {{b, 5, 9}, {a, 7, 8}, {a, 5, 6}, {a, 5, 9},
                               {b, 1, 2}, {a, 9, 0}, {b, 5, 7}};
    const ridge_trace_range *ranges;
    const ridge_trace_thread *threads;
    size_t count;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const ridge_trace_range range = {.start_ns = rows[i][1],
                                         .end_ns = rows[i][2],
                                         .thread = (uint32_t)rows[i][0],
                                         .flags = rows[i][2] == 0 ? RIDGE_RANGE_OPEN : 0};

        trace_add_range(trace, &range);
    }
    add_call(trace, b, "x", 20, 30, 0);
    assert_int_equal(trace_finish(trace, NULL), RIDGE_OK);
    ranges = ridge_trace_ranges(trace, &count);
    threads = ridge_trace_threads(trace, &count);
    assert_int_equal(threads[a].first_range, 0);
    assert_int_equal(threads[a].range_count, 4);
    assert_int_equal(threads[b].first_range, 4);
    assert_int_equal(threads[b].range_count, 3);
    assert_int_equal(threads[b].api_count, 1);
    assert_int_equal(ranges[0].end_ns, 9);
    assert_int_equal(ranges[1].end_ns, 6);
    assert_int_equal(ranges[2].start_ns, 7);
    assert_int_equal(ranges[3].end_ns, 30); /* open: to the end of the trace */
    assert_int_equal(ranges[5].end_ns, 9);
    assert_int_equal(ranges[6].end_ns, 7);
    ridge_trace_free(trace);
}

/* So many that looking through them for each row would take minutes. */
static void finds_again(void **state)
{
    enum { COUNT = 200000 };
    ridge_trace *const trace = trace_create();

    (void)state;
    assert_non_null(trace);
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < COUNT; i++) {
            assert_int_equal(trace_process(trace, (int64_t)i * -7), i);
            assert_int_equal(trace_device(trace, (int64_t)i << 24),
                             i < TRACE_DEVICES_MOST ? i : TRACE_DEVICES_MOST - 1);
        }
    assert_non_null(strstr(ridge_trace_get_info(trace)->partial, "more than 1024 devices"));
    ridge_trace_free(trace);
}

static void counts_work_without_times(void **state)
{
    ridge_trace *const trace = trace_create();
    const uint32_t stream = trace_stream(trace, trace_device(trace, 0), 0, 0, 7);
    size_t count;

    (void)state;
    trace_process(trace, 1);
    add_work(trace, stream, 5, 4, (trace_key){0, 0});
    add_work(trace, stream, 0, 0, (trace_key){0, 0});
    add_work(trace, stream, 3, 3, (trace_key){0, 0});
    add_work(trace, stream, -9, -2, (trace_key){0, 0});
    assert_int_equal(trace_finish(trace, NULL), RIDGE_OK);
    assert_int_equal(ridge_trace_ops(trace, &count)[0].start_ns, -9);
    assert_int_equal(count, 2);
    assert_int_equal(ridge_trace_get_info(trace)->inverted_count, 2);
    assert_int_equal(ridge_trace_get_info(trace)->instant_count, 1);
    ridge_trace_free(trace);
}

/* -- sorting ----------------------------------------------------------------------------------- */

typedef struct pair {
    uint32_t key, number;
} pair;

static int order_pair(const void *left, const void *right, const void *context)
{
    const pair *const a = left, *const b = right;

    (void)context;
    return (a->key > b->key) - (a->key < b->key);
}

static uint32_t scatter(uint32_t i)
{
    return (i * 2654435761u) >> 7;
}

static uint32_t ascending(uint32_t i)
{
    return i;
}

static uint32_t descending(uint32_t i)
{
    return 100000 - i;
}

static uint32_t equal(uint32_t i)
{
    return i & 0;
}

static uint32_t runs(uint32_t i)
{
    return i % 1000 * 10 + i / 1000;
}

static uint32_t few(uint32_t i)
{
    return scatter(i) % 3;
}

static struct shape {
    const char *name;
    uint32_t (*key)(uint32_t i);
} shapes[] = {
    {"sort: scattered", scatter}, {"sort: in order", ascending}, {"sort: backwards", descending},
    {"sort: all equal", equal},   {"sort: runs", runs},          {"sort: three values", few},
};

static void sorts_stably(void **state)
{
    const struct shape *const shape = *state;
    static const size_t counts[] = {0, 1, 2, 3, 17, 1000, 20000};
    static pair rows[20000];

    for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
        for (uint32_t i = 0; i < counts[c]; i++)
            rows[i] = (pair){shape->key(i), i};
        assert_true(trace_sort(rows, counts[c], sizeof(pair), order_pair, NULL));
        for (size_t i = 1; i < counts[c]; i++) {
            assert_true(rows[i - 1].key <= rows[i].key);
            assert_true(rows[i - 1].key != rows[i].key || rows[i - 1].number < rows[i].number);
        }
    }
}

/* -- work by device ---------------------------------------------------------------------------- */

/* What is done for each device is done with its own work: for all of them with each row once. */
static void work_of_a_device_is_its_own(void **state)
{
    enum { DEVICES = 5, EACH = 40 };
    ridge_trace *const trace = trace_create();
    const ridge_trace_stream *streams;
    const ridge_trace_op *ops;
    size_t count, listed = 0;

    (void)state;
    assert_non_null(trace);
    for (int64_t i = 0; i < (int64_t)DEVICES * EACH; i++) /* the last has none */
        add_work(trace,
                 trace_stream(trace, trace_device(trace, i % (DEVICES - 1)), 0, 1, 7 + i % 3),
                 1000 - i, 2000, (trace_key){0, 0});
    trace_device(trace, DEVICES - 1);
    assert_int_equal(trace_finish(trace, NULL), RIDGE_OK);
    ops = ridge_trace_ops(trace, &count);
    streams = ridge_trace_streams(trace, &count);
    for (uint32_t device = 0; device < DEVICES; device++) {
        const trace_op_list own = trace_ops_of(trace, device);

        for (size_t i = 0; i < own.count; i++) {
            assert_int_equal(streams[ops[trace_op_at(&own, i)].stream].device, device);
            assert_true(i == 0 || trace_op_at(&own, i - 1) < trace_op_at(&own, i));
        }
        listed += own.count;
    }
    assert_int_equal(listed, DEVICES * EACH);
    assert_int_equal(trace_ops_of(trace, RIDGE_TRACE_NONE).count, DEVICES * EACH);
    ridge_trace_free(trace);
}

static void work_of_one_device_is_all(void **state)
{
    ridge_trace *const trace = trace_create();
    trace_op_list own;

    (void)state;
    assert_non_null(trace);
    trace_device(trace, 0);
    for (int64_t i = 0; i < 9; i++)
        add_work(trace, trace_stream(trace, trace_device(trace, 1), 0, 1, 7), i, i + 1,
                 (trace_key){0, 0});
    assert_int_equal(trace_finish(trace, NULL), RIDGE_OK);
    own = trace_ops_of(trace, 1);
    assert_null(own.rows);
    assert_int_equal(own.count, 9);
    assert_int_equal(trace_op_at(&own, 8), 8);
    ridge_trace_free(trace);
}

/* -- memory ------------------------------------------------------------------------------------ */

static ridge_status build(ridge_trace **out)
{
    ridge_trace *const trace = trace_create();
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;

    if (trace != NULL) {
        const uint32_t thread =
            trace_thread(trace, trace_process(trace, 1), 1, name(trace, "main"));
        const uint32_t stream = trace_stream(trace, trace_device(trace, 0), 0, 1, 7);
        const ridge_trace_config config = {.grid = {1, 1, 1}};
        const ridge_trace_sync sync = {.stream = RIDGE_TRACE_NONE};

        trace_config(trace, &config);
        for (int64_t i = 200; i > 0; i--) {
            add_call(trace, thread, "cudaLaunchKernel", i * 10, i * 10 + 5, (uint64_t)i);
            add_work(trace, stream, i * 10 + 7, i * 10 + 9, (trace_key){(uint64_t)i, 0});
        }
        trace_add_sync(trace, &sync, (trace_key){1, 0});
        trace_add_diagnostic(trace, 2, "text", 4);
        trace_partial(trace, "%s", "why");
        status = trace_finish(trace, NULL);
    }
    if (status == RIDGE_OK)
        *out = trace;
    else
        ridge_trace_free(trace);
    return status;
}

typedef struct collective_case {
    const char *name, *kernel, *short_kernel;
    uint8_t kind, flags;
} collective_case;

static collective_case collectives[] = {
    {"of NCCL", "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
     "ncclDevKernel_SendRecv", RIDGE_OP_KERNEL, RIDGE_OP_COLLECTIVE},
    {"without a short name", "rcclGenericKernel", "", RIDGE_OP_KERNEL, RIDGE_OP_COLLECTIVE},
    {"of an inference server", "void vllm::cross_device_reduce_1stage<half, 8>(vllm::RankData*)",
     "cross_device_reduce_1stage", RIDGE_OP_KERNEL, RIDGE_OP_COLLECTIVE},
    {"fused around one", "triton_poi_fused_one_shot_all_reduce_add_0",
     "triton_poi_fused_one_shot_all_reduce_add_0", RIDGE_OP_KERNEL, 0},
    {"of another meaning",
     "void cutlass::device_kernel<cutlass::gemm::collective::CollectiveMma<ncclX>>()",
     "device_kernel", RIDGE_OP_KERNEL, 0},
    {"no kernel", "nccl", "nccl", RIDGE_OP_MEMCPY, 0},
};

static void marks_collectives(void **state)
{
    const collective_case *const row = *state;
    ridge_trace *const trace = trace_create();
    const uint32_t stream =
        trace_stream(trace, trace_device(trace, 0), trace_process(trace, 1), 1, 7);
    const ridge_trace_op op = {.start_ns = 1,
                               .end_ns = 2,
                               .name = name(trace, row->kernel),
                               .short_name = name(trace, row->short_kernel),
                               .stream = stream,
                               .kind = row->kind,
                               .api = RIDGE_TRACE_NONE};
    size_t count;

    trace_add_op(trace, &op, (trace_key){0, 0});
    assert_int_equal(trace_finish(trace, NULL), RIDGE_OK);
    assert_int_equal(ridge_trace_ops(trace, &count)->flags, row->flags);
    ridge_trace_free(trace);
}

static void survives_without_memory(void **state)
{
    ridge_trace *trace = NULL;
    size_t count;

    (void)state;
    ridge_memory_fail_at(0);
    assert_int_equal(build(&trace), RIDGE_OK);
    count = ridge_memory_fail_at(0);
    ridge_trace_free(trace);
    for (size_t nth = 1; nth <= count; nth++) {
        ridge_memory_fail_at(nth);
        assert_int_equal(build(&trace), RIDGE_ERR_OUT_OF_MEMORY);
        ridge_memory_fail_at(0);
    }
}

static void knows_launches(void **state)
{
    static const char *const launches[] = {"cudaLaunchKernel_v7000", "cuGraphLaunch",
                                           "hipMemcpyAsync", "cuMemsetD8Async"};
    static const char *const others[] = {"cudaStreamSynchronize", "cudaMalloc", ""};

    (void)state;
    for (size_t i = 0; i < sizeof(launches) / sizeof(launches[0]); i++)
        assert_true(ridge_trace_call_is_launch(launches[i]));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(ridge_trace_call_is_launch(others[i]));
}

int main(void)
{
    static cases list;

    cases_add(&list, "interns", interns, NULL);
    cases_add(&list, "joins", joins, NULL);
    cases_add(&list, "knows launches", knows_launches, NULL);
    CASES_ADD_ROWS(&list, joins_numbers, numbers);
    cases_add(&list, "sorts the host", sorts_the_host, NULL);
    cases_add(&list, "finds devices and processes again", finds_again, NULL);
    cases_add(&list, "counts work without times", counts_work_without_times, NULL);
    CASES_ADD_ROWS(&list, sorts_stably, shapes);
    CASES_ADD_ROWS(&list, marks_collectives, collectives);
    cases_add(&list, "work of a device is its own", work_of_a_device_is_its_own, NULL);
    cases_add(&list, "work of one device is all", work_of_one_device_is_all, NULL);
    cases_add(&list, "survives without memory", survives_without_memory, NULL);
    return cases_run(&list, "trace");
}
