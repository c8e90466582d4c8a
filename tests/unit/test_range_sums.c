/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of ranges: by hand, and against a slow count over random traces. */
#include "cases.h"
#include "trace_support.h"

#include "base/memory.h"
#include "ridge/timeline.h"

enum { ALL_KINDS = 15, NVTX = 1 << RIDGE_RANGE_NVTX, OPS = 1 << RIDGE_RANGE_OP };

static const ridge_range_sum *row_of(const ridge_range_sums *sums, const char *name)
{
    for (size_t i = 0; i < sums->count; i++)
        if (strcmp(sums->rows[i].name, name) == 0)
            return &sums->rows[i];
    fail_msg("no row %s", name);
    return NULL;
}

/* A step that holds two operations, one of which holds the other; an interval that crosses the
 * step's end; a range on another thread; one that ended on another thread. */
static const trace_row nested[] = {
    {ROW_NVTX, ":step", 0, 1000},
    {ROW_OP, "aten::linear", 100, 500},
    {ROW_OP, "aten::mm", 150, 400},
    {ROW_NVTX, ":crossing", 450, 2000, .detail = RIDGE_RANGE_START_END},
    {ROW_NVTX, ":elsewhere", 0, 5000, .on = 7},
    {ROW_NVTX, ":handed over", 0, 5000, .detail = RIDGE_RANGE_OTHER_THREAD},
    {ROW_CALL, "cudaLaunchKernel", 200, 300, .key = 1},   /* step, linear, mm */
    {ROW_CALL, "cudaLaunchKernel", 420, 480, .key = 2},   /* step, linear: begins before crossing */
    {ROW_CALL, "cudaLaunchKernel", 600, 700, .key = 3},   /* step, crossing */
    {ROW_CALL, "cudaMemcpyAsync", 900, 1100, .key = 4},   /* crossing: ends after the step */
    {ROW_CALL, "cudaLaunchKernel", 3000, 3100, .key = 5}, /* nothing */
    {ROW_KERNEL, "gemm", 300, 400, .key = 1},
    {ROW_KERNEL, "bias", 450, 500, .key = 2},
    {ROW_KERNEL, "relu", 700, 900, .key = 3, .on = 1},
    {ROW_KERNEL, "busy", 420, 430, .on = 2}, /* its call was not recorded */
    {ROW_COPY, "[CUDA memcpy DtoH]", 1200, 1300, .key = 4, .detail = RIDGE_COPY_DTOH},
    {ROW_KERNEL, "late", 3200, 3300, .key = 5},
};

static struct range_case {
    const char *name;
    const char *range;
    unsigned kinds;
    uint64_t count, kernels, ops, innermost;
    int64_t host_ns, projected_ns, kernel_ns, idle_ns, innermost_ns;
} range_cases[] = {
    {"outer range", ":step", NVTX, 1, 3, 3, 2, 1000, 600, 350, 240, 150},
    {"outer range among operations", ":step", NVTX | OPS, 1, 3, 3, 0, 1000, 600, 350, 240, 0},
    {"operation", "aten::linear", NVTX | OPS, 1, 2, 2, 1, 400, 200, 150, 40, 50},
    {"inner operation", "aten::mm", NVTX | OPS, 1, 1, 1, 1, 250, 100, 100, 0, 100},
    {"crossing", ":crossing", NVTX, 1, 1, 2, 1, 1550, 600, 200, 300, 200},
    {"other thread", ":elsewhere", NVTX, 1, 0, 0, 0, 5000, 0, 0, 0, 0},
    {"ended on another thread", ":handed over", NVTX, 1, 0, 0, 0, 5000, 0, 0, 0, 0},
};

static void sums_a_range(void **state)
{
    const struct range_case *const row = *state;
    ridge_trace *const trace = TRACE_OF(nested);
    const ridge_range_sum *sum;
    ridge_range_sums sums;

    assert_int_equal(ridge_trace_sum_ranges(trace, row->kinds, NULL, &sums, NULL), RIDGE_OK);
    sum = row_of(&sums, row->range);
    assert_int_equal(sum->count, row->count);
    assert_int_equal(sum->kernel_count, row->kernels);
    assert_int_equal(sum->op_count, row->ops);
    assert_int_equal(sum->host_ns, row->host_ns);
    assert_int_equal(sum->projected_ns, row->projected_ns);
    assert_int_equal(sum->kernel_ns, row->kernel_ns);
    assert_int_equal(sum->idle_ns, row->idle_ns);
    assert_int_equal(sum->innermost_count, row->innermost);
    assert_int_equal(sum->innermost_ns, row->innermost_ns);
    assert_int_equal(sums.outside_count, 2); /* "busy" and "late" */
    assert_int_equal(sums.outside_ns, 110);
    ridge_range_sums_free(&sums);
    ridge_trace_free(trace);
}

static void keeps_to_a_window(void **state)
{
    ridge_trace *const trace = TRACE_OF(nested);
    const ridge_trace_window window = {true, 100, 420, false};
    ridge_range_sums sums;

    (void)state;
    assert_int_equal(ridge_trace_sum_ranges(trace, ALL_KINDS, &window, &sums, NULL), RIDGE_OK);
    assert_int_equal(sums.count, 2);
    assert_int_equal(row_of(&sums, "aten::linear")->kernel_count, 1);
    assert_int_equal(sums.outside_count, 0);
    ridge_range_sums_free(&sums);
    ridge_trace_free(trace);
}

/* Where a range stands among the others. */
static struct place_case {
    const char *name;
    const char *range;
    unsigned kinds;
    ridge_trace_window window;
    uint32_t level, children, ops;
    int64_t start_ns, end_ns;
} place_cases[] = {
    {"the outermost", ":step", NVTX, {0}, 0, 0, 3, 300, 900},
    {"its operations", ":step", NVTX | OPS, {0}, 0, 1, 3, 300, 900},
    {"between two", "aten::linear", NVTX | OPS, {0}, 1, 1, 2, 300, 500},
    {"the innermost", "aten::mm", NVTX | OPS, {0}, 2, 0, 1, 300, 400},
    {"one that crosses", ":crossing", NVTX | OPS, {0}, 0, 0, 2, 700, 1300},
    {"outer ones before the window",
     "aten::linear",
     NVTX | OPS,
     {true, 100, 420, false},
     0,
     1,
     1,
     300,
     400},
};

static void places_a_range(void **state)
{
    const struct place_case *const row = *state;
    ridge_trace *const trace = TRACE_OF(nested);
    const ridge_projected_range *found = NULL;
    ridge_projected_ranges projected;
    size_t count;
    const ridge_trace_range *const ranges = ridge_trace_ranges(trace, &count);

    assert_int_equal(ridge_trace_project_ranges(trace, row->kinds, &row->window, &projected, NULL),
                     RIDGE_OK);
    for (size_t i = 0; i < projected.count; i++)
        if (strcmp(ridge_trace_name(trace, ranges[projected.rows[i].range].name, NULL),
                   row->range) == 0)
            found = &projected.rows[i];
    assert_non_null(found);
    assert_int_equal(found->level, row->level);
    assert_int_equal(found->child_count, row->children);
    assert_int_equal(found->op_count, row->ops);
    assert_int_equal(found->start_ns, row->start_ns);
    assert_int_equal(found->end_ns, row->end_ns);
    ridge_projected_ranges_free(&projected);
    ridge_trace_free(trace);
}

/* -- against a slow count ---------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005U + 1442695040888963407U;
    return *seed >> 33;
}

static bool holds(const ridge_trace_range *range, const ridge_trace_api *api)
{
    return range->thread == api->thread && range->start_ns <= api->start_ns &&
           range->end_ns >= api->end_ns && (range->flags & RIDGE_RANGE_OTHER_THREAD) == 0;
}

/* Idle time by looking at every nanosecond: the traces are short. */
static int64_t idle_by_looking(const ridge_trace *trace, int64_t first, int64_t last,
                               uint32_t device)
{
    size_t count, stream_count;
    const ridge_trace_op *const ops = ridge_trace_ops(trace, &count);
    const ridge_trace_stream *const streams = ridge_trace_streams(trace, &stream_count);
    int64_t idle = 0;

    for (int64_t time = first; time < last; time++) {
        bool is_busy = false;

        for (size_t i = 0; i < count; i++)
            is_busy = is_busy ||
                      ((device == RIDGE_TRACE_NONE || streams[ops[i].stream].device == device) &&
                       ops[i].start_ns <= time && ops[i].end_ns > time);
        idle += !is_busy;
    }
    return idle;
}

static void add_slowly(const ridge_trace *trace, const ridge_trace_range *range,
                       ridge_range_sum *sum)
{
    size_t count, other;
    const ridge_trace_op *const ops = ridge_trace_ops(trace, &count);
    const ridge_trace_api *const apis = ridge_trace_apis(trace, &other);
    const ridge_trace_stream *const streams = ridge_trace_streams(trace, &other);
    int64_t first = INT64_MAX, last = INT64_MIN;
    uint32_t device = 0;
    bool is_one = true;

    sum->count++;
    sum->host_ns += range->end_ns - range->start_ns;
    for (size_t i = 0; i < count; i++) {
        const uint32_t on = streams[ops[i].stream].device;

        if (ops[i].api == RIDGE_TRACE_NONE || !holds(range, &apis[ops[i].api]))
            continue;
        is_one = is_one && (first == INT64_MAX || on == device);
        device = on;
        first = ops[i].start_ns < first ? ops[i].start_ns : first;
        last = ops[i].end_ns > last ? ops[i].end_ns : last;
        sum->op_count++;
        if (ops[i].kind == RIDGE_OP_KERNEL) {
            sum->kernel_count++;
            sum->kernel_ns += ops[i].end_ns - ops[i].start_ns;
        }
    }
    if (first == INT64_MAX)
        return;
    sum->launching_count++;
    sum->launching_ns += range->end_ns - range->start_ns;
    sum->projected_ns += last - first;
    sum->idle_ns += idle_by_looking(trace, first, last, is_one ? device : RIDGE_TRACE_NONE);
}

static void add_innermost(const ridge_trace *trace, uint32_t name, ridge_range_sum *sum,
                          uint64_t *outside)
{
    size_t count, other, range_count;
    const ridge_trace_op *const ops = ridge_trace_ops(trace, &count);
    const ridge_trace_api *const apis = ridge_trace_apis(trace, &other);
    const ridge_trace_range *const ranges = ridge_trace_ranges(trace, &range_count);

    for (size_t i = 0; i < count; i++) {
        const ridge_trace_range *inner = NULL;

        for (size_t k = 0; k < range_count && ops[i].api != RIDGE_TRACE_NONE; k++)
            if (holds(&ranges[k], &apis[ops[i].api]))
                inner = &ranges[k];
        if (ops[i].kind != RIDGE_OP_KERNEL)
            continue;
        *outside += inner == NULL;
        if (inner != NULL && inner->name == name) {
            sum->innermost_count++;
            sum->innermost_ns += ops[i].end_ns - ops[i].start_ns;
        }
    }
}

/* Whether an instance of the name, on this thread (all: NONE), holds the time. */
static bool any_holds(const ridge_trace *trace, uint32_t name, size_t thread, int64_t time)
{
    size_t count, thread_count;
    const ridge_trace_range *const ranges = ridge_trace_ranges(trace, &count);
    const ridge_trace_thread *const threads = ridge_trace_threads(trace, &thread_count);
    const size_t from = thread < thread_count ? threads[thread].first_range : 0;
    const size_t to = thread < thread_count ? from + threads[thread].range_count : count;

    for (size_t i = from; i < to; i++)
        if (ranges[i].name == name && time >= ranges[i].start_ns && time < ranges[i].end_ns)
            return true;
    return false;
}

enum { LATEST_NS = 400 };

static int64_t union_by_looking(const ridge_trace *trace, uint32_t name)
{
    int64_t sum = 0;
    size_t count;

    ridge_trace_threads(trace, &count);
    for (size_t i = 0; i < count; i++)
        for (int64_t time = 0; time < LATEST_NS; time++)
            sum += any_holds(trace, name, i, time);
    return sum;
}

static bool is_in_gap(const ridge_device_account *device, int64_t time)
{
    for (size_t i = 0; i < device->gap_count; i++)
        if (time >= device->gaps[i].start_ns && time < device->gaps[i].end_ns)
            return true;
    return false;
}

/* Of each device: the idle time over ranges, each nanosecond once. */
static void check_idle_over(const ridge_trace *trace, ridge_range_sums *sums)
{
    ridge_timeline *timeline;
    const ridge_device_account *devices;
    size_t count;

    assert_int_equal(ridge_timeline_create(trace, NULL, &timeline, NULL), RIDGE_OK);
    devices = ridge_timeline_devices(timeline, &count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(ridge_timeline_range_idle(timeline, &devices[i], sums, NULL), RIDGE_OK);
        for (size_t k = 0; k < sums->count; k++) {
            int64_t expected = 0;

            for (int64_t time = 0; time < LATEST_NS; time++)
                expected += is_in_gap(&devices[i], time) &&
                            any_holds(trace, sums->rows[k].name_id, SIZE_MAX, time);
            assert_int_equal(sums->rows[k].host_idle_ns, expected);
            assert_true(expected <= devices[i].idle_ns);
        }
    }
    ridge_timeline_free(timeline);
}

enum { FEW_CALLS = 12, MANY_CALLS = 200, ROWS_MOST = 512 };

/* Ranges of three threads that nest, cross and repeat; calls that overlap; two devices. */
static ridge_trace *random_trace(uint64_t *seed, trace_row *rows, size_t *row_count)
{
    static const char *const names[] = {":a", ":b", ":c", ":d"};
    const uint64_t calls = next_random(seed) % 8 == 0 ? MANY_CALLS : FEW_CALLS;
    size_t count = 0;

    for (size_t i = next_random(seed) % 12; i > 0; i--) {
        const int64_t start = (int64_t)(next_random(seed) % 100);

        rows[count++] =
            (trace_row){.kind = ROW_NVTX,
                        .name = names[next_random(seed) % 4],
                        .start_ns = start,
                        .end_ns = start + (int64_t)(next_random(seed) % 80),
                        .on = (int64_t)(next_random(seed) % 3),
                        .detail = next_random(seed) % 6 == 0 ? RIDGE_RANGE_OTHER_THREAD : 0};
    }
    for (size_t i = 1 + next_random(seed) % calls; i > 0; i--) {
        const int64_t start = (int64_t)(next_random(seed) % 150);

        rows[count++] = (trace_row){.kind = ROW_CALL,
                                    .name = "launch",
                                    .start_ns = start,
                                    .end_ns = start + (int64_t)(next_random(seed) % 20),
                                    .key = i,
                                    .on = (int64_t)(next_random(seed) % 3)};
    }
    for (size_t i = next_random(seed) % (calls + 8); i > 0; i--) {
        const int64_t start = (int64_t)(next_random(seed) % 200);

        rows[count++] = (trace_row){.kind = next_random(seed) % 4 == 0 ? ROW_MEMSET : ROW_KERNEL,
                                    .name = "k",
                                    .start_ns = start,
                                    .end_ns = start + (int64_t)(next_random(seed) % 30),
                                    .key = next_random(seed) % (calls + 2),
                                    .on = (int64_t)(next_random(seed) % 2),
                                    .device = (int64_t)(next_random(seed) % 2)};
    }
    *row_count = count;
    return trace_support_make(rows, count);
}

/* Of the ranges that launched something, those in front in the order of rows that hold a range. */
static void check_projection(const ridge_trace *trace, const ridge_trace_range *ranges,
                             size_t range_count)
{
    uint32_t levels[ROWS_MOST], children[ROWS_MOST] = {0};
    bool launched[ROWS_MOST];
    ridge_projected_ranges projected;
    size_t at = 0;

    assert_int_equal(ridge_trace_project_ranges(trace, NVTX, NULL, &projected, NULL), RIDGE_OK);
    for (size_t i = 0; i < range_count; i++) {
        ridge_range_sum sum = {0};
        size_t parent = SIZE_MAX;

        add_slowly(trace, &ranges[i], &sum);
        launched[i] = sum.launching_count > 0;
        for (size_t k = 0; k < i; k++)
            if (launched[k] && ranges[k].thread == ranges[i].thread &&
                ranges[k].end_ns >= ranges[i].end_ns)
                parent = k;
        levels[i] = parent == SIZE_MAX ? 0 : levels[parent] + 1;
        if (launched[i] && parent != SIZE_MAX)
            children[parent]++;
    }
    for (size_t i = 0; i < range_count; i++) {
        const ridge_projected_range *const row = &projected.rows[at];
        ridge_range_sum sum = {0};

        if (!launched[i])
            continue;
        add_slowly(trace, &ranges[i], &sum);
        assert_true(at++ < projected.count);
        assert_int_equal(row->range, i);
        assert_int_equal(row->end_ns - row->start_ns, sum.projected_ns);
        assert_int_equal(row->kernel_ns, sum.kernel_ns);
        assert_int_equal(row->idle_ns, sum.idle_ns);
        assert_int_equal(row->op_count, sum.op_count);
        assert_int_equal(row->level, levels[i]);
        assert_int_equal(row->child_count, children[i]);
    }
    assert_int_equal(at, projected.count);
    ridge_projected_ranges_free(&projected);
}

static void equals_a_slow_count(void **state)
{
    uint64_t seed = 20240611;

    (void)state;
    for (int round = 0; round < 1500; round++) {
        trace_row rows[ROWS_MOST];
        size_t row_count, range_count;
        ridge_trace *const trace = random_trace(&seed, rows, &row_count);
        const ridge_trace_range *const ranges = ridge_trace_ranges(trace, &range_count);
        ridge_range_sums sums;

        assert_int_equal(ridge_trace_sum_ranges(trace, NVTX, NULL, &sums, NULL), RIDGE_OK);
        for (size_t i = 0; i < sums.count; i++) {
            ridge_range_sum expected = {.name = sums.rows[i].name,
                                        .name_id = sums.rows[i].name_id,
                                        .kind = RIDGE_RANGE_NVTX};
            uint64_t outside = 0;

            for (size_t k = 0; k < range_count; k++)
                if (ranges[k].name == expected.name_id)
                    add_slowly(trace, &ranges[k], &expected);
            add_innermost(trace, expected.name_id, &expected, &outside);
            expected.host_union_ns = union_by_looking(trace, expected.name_id);
            assert_memory_equal(&sums.rows[i].count, &expected.count,
                                sizeof(expected) - offsetof(ridge_range_sum, count));
            assert_int_equal(sums.outside_count, outside);
        }
        check_projection(trace, ranges, range_count);
        if (round % 10 == 0)
            check_idle_over(trace, &sums);
        ridge_range_sums_free(&sums);
        ridge_trace_free(trace);
    }
}

/* -- hostile ----------------------------------------------------------------------------------- */

/* Each range holds the next one and a launch: from every launch to all its ranges would be 2e10
 * steps. */
static void deep_nesting_is_fast(void **state)
{
    enum { DEPTH = 200000 };
    ridge_trace *const trace = trace_create();
    const ridge_trace_op *ops;
    ridge_projected_ranges projected;
    ridge_range_sums sums;
    size_t count;

    (void)state;
    assert_non_null(trace);
    for (int64_t i = 0; i < DEPTH; i++) {
        const trace_row rows[] = {
            {ROW_NVTX, ":deep", i * 2, INT64_C(4000000) - i},
            {ROW_CALL, "launch", i * 2 + 1, i * 2 + 1, .key = (uint64_t)i + 1},
            {ROW_KERNEL, "k", i * 2 + 1, i * 2 + 2, .key = (uint64_t)i + 1},
        };
        trace_support_add(trace, rows, 3);
    }
    assert_int_equal(trace_finish(trace, NULL), RIDGE_OK);
    ops = ridge_trace_ops(trace, &count);
    assert_non_null(ops);
    assert_int_equal(ridge_trace_sum_ranges(trace, NVTX, NULL, &sums, NULL), RIDGE_OK);
    assert_int_equal(sums.rows[0].count, DEPTH);
    assert_int_equal(sums.rows[0].kernel_count, (uint64_t)DEPTH * (DEPTH + 1) / 2);
    assert_int_equal(sums.rows[0].innermost_count, DEPTH);
    assert_int_equal(ridge_trace_project_ranges(trace, NVTX, NULL, &projected, NULL), RIDGE_OK);
    assert_int_equal(projected.count, DEPTH);
    assert_int_equal(projected.rows[DEPTH - 1].level, DEPTH - 1);
    assert_int_equal(projected.rows[0].child_count, 1);
    ridge_projected_ranges_free(&projected);
    ridge_range_sums_free(&sums);
    ridge_trace_free(trace);
}

/* The widest times that a trace takes: two spans of them are no int64. */
#define MOST_NS ((INT64_C(1) << 62) - 1)
#define LEAST_NS (-MOST_NS)

static void times_at_the_ends_of_their_type(void **state)
{
    static const trace_row rows[] = {
        {ROW_NVTX, ":all", LEAST_NS, MOST_NS},
        {ROW_NVTX, ":none", LEAST_NS, LEAST_NS},
        {ROW_CALL, "launch", LEAST_NS, MOST_NS, .key = 1},
        {ROW_CALL, "launch", LEAST_NS, LEAST_NS, .key = 2},
        {ROW_KERNEL, "k", LEAST_NS, MOST_NS, .key = 1},
        {ROW_KERNEL, "k", LEAST_NS, MOST_NS, .key = 1, .on = 1},
        {ROW_KERNEL, "k", LEAST_NS, LEAST_NS, .key = 2, .device = 1},
        {ROW_KERNEL, "k", MOST_NS, MOST_NS, .key = 2, .device = 1},
    };
    ridge_trace *const trace = TRACE_OF(rows);
    ridge_range_sums sums;

    (void)state;
    assert_int_equal(ridge_trace_sum_ranges(trace, ALL_KINDS, NULL, &sums, NULL), RIDGE_OK);
    assert_int_equal(row_of(&sums, ":all")->kernel_ns, INT64_MAX);
    assert_int_equal(row_of(&sums, ":all")->kernel_count, 4);
    assert_int_equal(row_of(&sums, ":none")->host_ns, 0);
    ridge_range_sums_free(&sums);
    ridge_trace_free(trace);
}

static void survives_without_memory(void **state)
{
    ridge_trace *const trace = TRACE_OF(nested);
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;

    (void)state;
    for (size_t nth = 1; status != RIDGE_OK; nth++) {
        ridge_range_sums sums;

        ridge_memory_fail_at(nth);
        status = ridge_trace_sum_ranges(trace, ALL_KINDS, NULL, &sums, NULL);
        ridge_memory_fail_at(0);
        if (status == RIDGE_OK) {
            assert_true(nth > 5);
            ridge_range_sums_free(&sums);
        } else {
            assert_int_equal(status, RIDGE_ERR_OUT_OF_MEMORY);
            assert_null(sums.rows);
        }
    }
    ridge_trace_free(trace);
}

static void projection_survives_without_memory(void **state)
{
    ridge_trace *const trace = TRACE_OF(nested);
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    size_t nth = 1;

    (void)state;
    for (; status != RIDGE_OK; nth++) {
        ridge_projected_ranges projected;

        ridge_memory_fail_at(nth);
        status = ridge_trace_project_ranges(trace, ALL_KINDS, NULL, &projected, NULL);
        ridge_memory_fail_at(0);
        assert_true(status == RIDGE_OK || status == RIDGE_ERR_OUT_OF_MEMORY);
        assert_true((projected.rows != NULL) == (status == RIDGE_OK));
        ridge_projected_ranges_free(&projected);
    }
    assert_true(nth > 7);
    ridge_trace_free(trace);
}

/* -- the window of a range --------------------------------------------------------------------- */

static const trace_row steps[] = {
    {ROW_ANNOTATION, "ProfilerStep#3", 300, 390}, {ROW_ANNOTATION, "ProfilerStep#1", 100, 190},
    {ROW_ANNOTATION, "ProfilerStep#2", 200, 290}, {ROW_NVTX, ":forward", 110, 150},
    {ROW_NVTX, "lib:backward", 150, 180},         {ROW_OP, "aten::mm", 115, 120},
    {ROW_NVTX, ":forward", 410, 450, .on = 1},
};

static struct window_case {
    const char *name;
    const char *range;
    size_t first, last;
    int64_t start_ns, end_ns;
    size_t there;        /* instances */
    const char *message; /* a part; NULL: found */
} window_cases[] = {
    {"one", "ProfilerStep#2", 0, SIZE_MAX, 200, 290, 1, NULL},
    {"expression", "ProfilerStep.*", 0, SIZE_MAX, 100, 390, 3, NULL},
    {"alternatives are whole names", "x|ProfilerStep#1|y", 0, SIZE_MAX, 100, 190, 1, NULL},
    {"second instance, in the order of time", "ProfilerStep#[0-9]", 1, 1, 200, 290, 3, NULL},
    {"second and later", "ProfilerStep#[0-9]", 1, 9, 200, 390, 3, NULL},
    {"default domain without its colon", "forward", 0, SIZE_MAX, 110, 450, 2, NULL},
    {"default domain with it", ":forward", 0, 0, 110, 150, 2, NULL},
    {"other domain", "lib:backward", 0, SIZE_MAX, 150, 180, 1, NULL},
    {"part of a name", "ProfilerStep", 0, SIZE_MAX, 0, 0, 0,
     "the nearest names are 'ProfilerStep#1', 'ProfilerStep#2', 'ProfilerStep#3'"},
    {"mistyped", "forwrad", 0, SIZE_MAX, 0, 0, 0, "the nearest names are 'forward'"},
    {"a part of the name", "forw", 0, SIZE_MAX, 0, 0, 0, "it must be the whole name: 'forw.*'"},
    {"a part within the name", "rward", 0, SIZE_MAX, 0, 0, 0, "the whole name: '.*rward.*'"},
    {"operations are no ranges of the user", "aten::mm", 0, SIZE_MAX, 0, 0, 0, "the nearest names"},
    {"too few instances", "ProfilerStep.*", 3, 3, 0, 0, 3, "instances 3 to 3 of 3"},
    {"last before first", "ProfilerStep.*", 2, 1, 0, 0, 3, "instances 2 to 1 of 3"},
    {"bad expression", "forward(", 0, SIZE_MAX, 0, 0, 0, "range 'forward('"},
    {"expression that takes all memory", "((((a{99}){99}){99}){99})", 0, SIZE_MAX, 0, 0, 0,
     "repetitions"},
};

static void finds_a_window(void **state)
{
    const struct window_case *const row = *state;
    ridge_trace *const trace = TRACE_OF(steps);
    ridge_trace_window window;
    ridge_error err = {0};
    size_t count;
    const ridge_status status =
        ridge_trace_range_window(trace, row->range, row->first, row->last, &window, &count, &err);

    if (row->message == NULL) {
        assert_int_equal(status, RIDGE_OK);
        assert_true(window.is_set);
    } else {
        assert_int_equal(status, RIDGE_ERR_INVALID_ARGUMENT);
        assert_false(window.is_set);
        if (strstr(err.text, row->message) == NULL)
            fail_msg("%s", err.text);
    }
    assert_int_equal(window.start_ns, row->start_ns);
    assert_int_equal(window.end_ns, row->end_ns);
    assert_int_equal(count, row->there);
    ridge_trace_free(trace);
}

static void says_that_there_are_no_ranges(void **state)
{
    static const trace_row rows[] = {{ROW_OP, "aten::mm", 1, 2}};
    ridge_trace *const trace = TRACE_OF(rows);
    ridge_trace_window window;
    ridge_error err = {0};

    (void)state;
    assert_int_equal(ridge_trace_range_window(trace, "step", 0, SIZE_MAX, &window, NULL, &err),
                     RIDGE_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "holds no NVTX ranges and no annotations"));
    ridge_trace_free(trace);
}

static void window_survives_without_memory(void **state)
{
    ridge_trace *const trace = TRACE_OF(steps);

    (void)state;
    for (size_t nth = 1; nth < 8; nth++) {
        ridge_trace_window window;
        ridge_status status;

        ridge_memory_fail_at(nth);
        status = ridge_trace_range_window(trace, "nothing", 0, SIZE_MAX, &window, NULL, NULL);
        ridge_memory_fail_at(0);
        assert_true(status == RIDGE_ERR_OUT_OF_MEMORY || status == RIDGE_ERR_INVALID_ARGUMENT);
    }
    ridge_trace_free(trace);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, sums_a_range, range_cases);
    CASES_ADD_ROWS(&list, places_a_range, place_cases);
    cases_add(&list, "window", keeps_to_a_window, NULL);
    cases_add(&list, "random traces equal a slow count", equals_a_slow_count, NULL);
    cases_add(&list, "deep nesting is fast", deep_nesting_is_fast, NULL);
    cases_add(&list, "times at the ends of their type", times_at_the_ends_of_their_type, NULL);
    cases_add(&list, "without memory", survives_without_memory, NULL);
    cases_add(&list, "projection without memory", projection_survives_without_memory, NULL);
    CASES_ADD_ROWS(&list, finds_a_window, window_cases);
    cases_add(&list, "no ranges", says_that_there_are_no_ranges, NULL);
    cases_add(&list, "window without memory", window_survives_without_memory, NULL);
    return cases_run(&list, "range_sums");
}
