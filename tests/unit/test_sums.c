/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of kernels, calls and copies. */
#include "cases.h"
#include "trace_support.h"

#include <math.h>

#include "base/memory.h"
#include "ridge/trace_sums.h"
#include "timeline/sums/sums_internal.h"

static const ridge_trace_config small = {{4, 1, 1}, {128, 1, 1}, 32, 0, 0};
static const ridge_trace_config small_again = {{4, 1, 1}, {128, 1, 1}, 40, 1024, 0};
static const ridge_trace_config large = {{4, 2, 1}, {128, 1, 1}, 32, 0, 0};

static const trace_row rows[] = {
    {ROW_CALL, "cudaLaunchKernel_v7000", 0, 10, .key = 1},
    {ROW_CALL, "cudaLaunchKernel_v7000", 10, 30, .key = 2},
    {ROW_CALL, "cudaLaunchKernel", 40, 47, .key = 3},
    {ROW_CALL, "cudaLaunchKernelExC_v11060", 50, 55, .key = 4},
    {ROW_CALL, "cudaMemcpyAsync_v3020", 60, 65, .key = 5},
    {ROW_KERNEL, "gemm", 100, 200, .key = 1, .config = &small},
    {ROW_KERNEL, "gemm", 200, 310, .key = 2, .config = &large},
    {ROW_KERNEL, "gemm", 310, 440, .key = 3, .config = &small_again},
    {ROW_KERNEL, "gemm", 450, 570, .device = 1},
    {ROW_KERNEL, "relu", 600, 740, .key = 4},
    {ROW_GRAPH, "graph", 800, 900},
    {ROW_COPY, "[CUDA memcpy HtoD]", 900, 910, .key = 5, .bytes = 4096, .detail = RIDGE_COPY_HTOD},
    {ROW_COPY, "[CUDA memcpy HtoD]", 910, 930, .bytes = 100, .detail = RIDGE_COPY_HTOD},
    {ROW_COPY, "[CUDA memcpy DtoH]", 940, 960, .detail = RIDGE_COPY_DTOH},
    {ROW_MEMSET, "[CUDA memset]", 970, 975, .bytes = 8},
};

typedef enum table { BY_NAME, BY_CONFIG, ON_DEVICE_1, IN_WINDOW, CALLS, COPIES } table;

static struct sum_case {
    const char *name;
    table of;
    size_t row;
    const char *text;
    uint64_t count;
    int64_t total_ns, min_ns, max_ns;
    double average_ns, median_ns, deviation_ns, share_frac;
    uint64_t bytes;
    uint32_t first_op;
} sum_cases[] = {
    {"by name: even count", BY_NAME, 0, "gemm", 4, 460, 100, 130, 115, 115, 12.90994, 460 / 600.0,
     0, 1},
    {"by name: one", BY_NAME, 1, "relu", 1, 140, 140, 140, 140, 140, 0, 140 / 600.0, 0, 4},
    {"by grid and block: registers do not split", BY_CONFIG, 0, "gemm", 2, 230, 100, 130, 115, 115,
     21.21320, 230 / 600.0, 0, 0},
    {"by grid and block: nothing recorded", BY_CONFIG, 1, "relu", 1, 140, 140, 140, 140, 140, 0,
     140 / 600.0, 0, 4},
    {"by grid and block: second of equal names", BY_CONFIG, 2, "gemm", 1, 120, 120, 120, 120, 120,
     0, 120 / 600.0, 0, 3},
    {"one device", ON_DEVICE_1, 0, "gemm", 1, 120, 120, 120, 120, 120, 0, 1, 0, 3},
    {"window: launched in it", IN_WINDOW, 0, "gemm", 2, 240, 110, 130, 120, 120, 14.14214, 1, 0, 1},
    {"calls: four digits go", CALLS, 0, "cudaLaunchKernel", 2, 30, 10, 20, 15, 15, 7.07107,
     30 / 47.0, 0, RIDGE_TRACE_NONE},
    {"calls: another version is another row", CALLS, 1, "cudaLaunchKernel", 1, 7, 7, 7, 7, 7, 0,
     7 / 47.0, 0, RIDGE_TRACE_NONE},
    {"calls: ties by name, five digits stay", CALLS, 2, "cudaLaunchKernelExC_v11060", 1, 5, 5, 5, 5,
     5, 0, 5 / 47.0, 0, RIDGE_TRACE_NONE},
    {"calls: last", CALLS, 3, "cudaMemcpyAsync", 1, 5, 5, 5, 5, 5, 0, 5 / 47.0, 0,
     RIDGE_TRACE_NONE},
    {"copies: bytes", COPIES, 0, "[CUDA memcpy HtoD]", 2, 30, 10, 20, 15, 15, 7.07107, 30 / 55.0,
     4196, 6},
    {"copies: bytes unknown", COPIES, 1, "[CUDA memcpy DtoH]", 1, 20, 20, 20, 20, 20, 0, 20 / 55.0,
     RIDGE_TRACE_BYTES_UNKNOWN, 8},
    {"copies: memset", COPIES, 2, "[CUDA memset]", 1, 5, 5, 5, 5, 5, 0, 5 / 55.0, 8, 9},
};

static ridge_status sum(const ridge_trace *trace, table of, ridge_trace_sums *out)
{
    const ridge_trace_window window = {true, 10, 50, false};

    switch (of) {
    case BY_NAME:
        return ridge_trace_sum_kernels(trace, RIDGE_KERNEL_BY_NAME, RIDGE_TRACE_NONE, NULL, out,
                                       NULL);
    case BY_CONFIG:
        return ridge_trace_sum_kernels(trace, RIDGE_KERNEL_BY_CONFIG, RIDGE_TRACE_NONE, NULL, out,
                                       NULL);
    case ON_DEVICE_1:
        return ridge_trace_sum_kernels(trace, RIDGE_KERNEL_BY_BASE, 1, NULL, out, NULL);
    case IN_WINDOW:
        return ridge_trace_sum_kernels(trace, RIDGE_KERNEL_BY_NAME, RIDGE_TRACE_NONE, &window, out,
                                       NULL);
    case CALLS:
        return ridge_trace_sum_api(trace, NULL, out, NULL);
    case COPIES:
        break;
    }
    return ridge_trace_sum_copies(trace, RIDGE_TRACE_NONE, NULL, out, NULL);
}

static void sums_up(void **state)
{
    const struct sum_case *const expected = *state;
    ridge_trace *const trace = TRACE_OF(rows);
    const ridge_trace_sum *row;
    ridge_trace_sums sums;

    assert_int_equal(sum(trace, expected->of, &sums), RIDGE_OK);
    assert_true(expected->row < sums.count);
    row = &sums.rows[expected->row];
    assert_string_equal(row->name, expected->text);
    assert_int_equal(row->count, expected->count);
    assert_int_equal(row->total_ns, expected->total_ns);
    assert_int_equal(row->min_ns, expected->min_ns);
    assert_int_equal(row->max_ns, expected->max_ns);
    assert_true(row->average_ns == expected->average_ns);
    assert_true(row->median_ns == expected->median_ns);
    assert_true(fabs(row->deviation_ns - expected->deviation_ns) < 1e-4);
    assert_true(fabs(row->share_frac - expected->share_frac) < 1e-12);
    assert_int_equal(row->bytes, expected->bytes);
    assert_int_equal(row->first_op, expected->first_op);
    ridge_trace_sums_free(&sums);
    ridge_trace_free(trace);
}

static void shows_the_configuration(void **state)
{
    ridge_trace *const trace = TRACE_OF(rows);
    const ridge_trace_config *configs;
    ridge_trace_sums sums;
    size_t count;

    (void)state;
    configs = ridge_trace_configs(trace, &count);
    assert_int_equal(sum(trace, BY_CONFIG, &sums), RIDGE_OK);
    assert_int_equal(sums.count, 4);
    assert_int_equal(configs[sums.rows[0].config].grid[1], 1);
    assert_int_equal(sums.rows[1].config, RIDGE_TRACE_NONE);
    assert_int_equal(configs[sums.rows[3].config].grid[1], 2);
    ridge_trace_sums_free(&sums);
    ridge_trace_free(trace);
}

#define MOST_LAUNCHES 12

/* Times in microseconds, in the order of the launches; 0 ends them. */
static struct size_case {
    const char *name;
    int64_t times_us[MOST_LAUNCHES + 1];
    size_t size_count;
    uint64_t counts[2];
    double medians_us[2];
    int64_t typical_us;
    uint32_t typical_op;
} size_cases[] = {
    {"one", {7}, 0, {0}, {0}, 7, 0},
    {"two that are far apart are no sizes", {7, 70}, 0, {0}, {0}, 70, 1},
    {"about the same: half of the time is in shorter ones", {5, 6, 7, 8, 9}, 0, {0}, {0}, 7, 2},
    {"in turn: that with most time, not the median",
     {71, 18, 71, 18, 71, 18, 70, 17},
     2,
     {4, 4},
     {71, 18},
     71,
     0},
    {"many short ones that take most", {2, 2, 2, 2, 2, 2, 2, 2, 5, 5}, 2, {8, 2}, {2, 5}, 2, 0},
    {"few long ones that take most",
     {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 90, 90},
     2,
     {2, 10},
     {90, 1},
     90,
     10},
    {"the first is cold: no size, and not looked at",
     {900, 10, 11, 10, 12, 11},
     0,
     {0},
     {0},
     11,
     2},
    {"three: the two with most time", {5, 5, 20, 20, 80, 80}, 3, {2, 2}, {80, 20}, 80, 4},
    {"less than 1.5 times", {10, 10, 14, 14}, 0, {0}, {0}, 14, 2},
    {"less than 2 us", {1, 1, 2, 2}, 0, {0}, {0}, 2, 2},
};

static void finds_sizes(void **state)
{
    const struct size_case *const expected = *state;
    trace_row launches[MOST_LAUNCHES];
    int64_t time_ns = 0;
    size_t count, op_count;
    ridge_trace *trace;
    ridge_trace_sums sums;
    const ridge_trace_sum *row;
    const ridge_trace_op *op;

    for (count = 0; expected->times_us[count] > 0; count++) {
        const int64_t end_ns = time_ns + 1000 * expected->times_us[count];

        launches[count] = (trace_row){ROW_KERNEL, "gemm", time_ns, end_ns};
        time_ns = end_ns;
    }
    trace = trace_support_make(launches, count);
    assert_int_equal(sum(trace, BY_NAME, &sums), RIDGE_OK);
    assert_int_equal(sums.count, 1);
    row = &sums.rows[0];
    assert_int_equal(row->size_count, expected->size_count);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(row->sizes[i].count, expected->counts[i]);
        assert_true(row->sizes[i].median_ns == 1000 * expected->medians_us[i]);
    }
    op = &ridge_trace_ops(trace, &op_count)[row->typical_op];
    assert_int_equal(op->end_ns - op->start_ns, 1000 * expected->typical_us);
    assert_int_equal(row->typical_op, expected->typical_op);
    ridge_trace_sums_free(&sums);
    ridge_trace_free(trace);
}

/* A thousand years are no int64. */
static void cuts_a_total(void **state)
{
    enum { COUNT = 1000 };
    const int64_t year_ns = INT64_C(31536000) * 1000000000;
    ridge_trace *const trace = trace_create();
    ridge_trace_sums sums;

    (void)state;
    assert_non_null(trace);
    for (int64_t i = 0; i < COUNT; i++) {
        const trace_row row = {ROW_KERNEL, "long", i, i + year_ns + (i % 2 == 0 ? 1000 : -1000)};

        trace_support_add(trace, &row, 1);
    }
    assert_int_equal(trace_finish(trace, NULL), RIDGE_OK);
    assert_int_equal(sum(trace, BY_NAME, &sums), RIDGE_OK);
    assert_int_equal(sums.rows[0].total_ns, INT64_MAX);
    ridge_trace_sums_free(&sums);
    ridge_trace_free(trace);
}

static void deviation_is_stable(void **state)
{
    enum { COUNT = 1000 };
    const int64_t day_ns = INT64_C(86400) * 1000000000;
    ridge_trace *const trace = trace_create();
    ridge_trace_sums sums;

    (void)state;
    assert_non_null(trace);
    for (int64_t i = 0; i < COUNT; i++) {
        const trace_row row = {ROW_KERNEL, "long", i, i + day_ns + (i % 2 == 0 ? 10 : -10)};

        trace_support_add(trace, &row, 1);
    }
    assert_int_equal(trace_finish(trace, NULL), RIDGE_OK);
    assert_int_equal(sum(trace, BY_NAME, &sums), RIDGE_OK);
    assert_true(fabs(sums.rows[0].deviation_ns - 10 * sqrt(1000.0 / 999)) < 1e-6);
    assert_true(sums.rows[0].median_ns == (double)day_ns);
    ridge_trace_sums_free(&sums);
    ridge_trace_free(trace);
}

/* The widest times that a trace takes: two spans of them are no int64. */
#define MOST_NS ((INT64_C(1) << 62) - 1)
#define LEAST_NS (-MOST_NS)

static void times_at_the_ends_of_their_type(void **state)
{
    static const trace_row far[] = {
        {ROW_KERNEL, "k", LEAST_NS, MOST_NS},
        {ROW_KERNEL, "k", LEAST_NS, MOST_NS, .on = 1},
        {ROW_KERNEL, "k", LEAST_NS, LEAST_NS, .on = 2},
        {ROW_KERNEL, "k", MOST_NS, MOST_NS, .on = 3},
    };
    ridge_trace *const trace = TRACE_OF(far);
    ridge_trace_sums sums;

    (void)state;
    assert_int_equal(sum(trace, BY_NAME, &sums), RIDGE_OK);
    assert_int_equal(sums.rows[0].count, 4);
    assert_int_equal(sums.total_ns, INT64_MAX);
    ridge_trace_sums_free(&sums);
    ridge_trace_free(trace);
}

static void nothing_to_sum(void **state)
{
    ridge_trace *const trace = trace_support_make(NULL, 0);
    ridge_trace_sums sums;

    (void)state;
    for (table of = BY_NAME; of <= COPIES; of++) {
        assert_int_equal(sum(trace, of, &sums), RIDGE_OK);
        assert_int_equal(sums.count, 0);
        assert_int_equal(sums.total_ns, 0);
        ridge_trace_sums_free(&sums);
    }
    ridge_trace_free(trace);
}

/* -- the search among times -------------------------------------------------------------------- */

typedef struct timed_row {
    int64_t time_ns;
    int32_t other;
} timed_row;

/* Whatever the place where it begins to look. */
static void counts_until(void **state)
{
    timed_row many[40];

    (void)state;
    for (size_t count = 0; count <= 40; count++) {
        for (size_t i = 0; i < count; i++)
            many[i] = (timed_row){(int64_t)(i / 3) * 2, -1}; /* 0 0 0 2 2 2 4 ... */
        for (int64_t time_ns = -1; time_ns < 30; time_ns++) {
            size_t expected = 0;

            while (expected < count && many[expected].time_ns <= time_ns)
                expected++;
            for (size_t near = 0; near < 50; near++)
                assert_int_equal(sum_count_until(many, sizeof(many[0]), count, near, time_ns),
                                 expected);
        }
    }
    assert_int_equal(sum_count_until(NULL, 8, 0, 3, INT64_MAX), 0);
}

static void survives_without_memory(void **state)
{
    ridge_trace *const trace = TRACE_OF(rows);

    (void)state;
    for (table of = BY_NAME; of <= COPIES; of++) {
        ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;

        for (size_t nth = 1; status != RIDGE_OK; nth++) {
            ridge_trace_sums sums;

            ridge_memory_fail_at(nth);
            status = sum(trace, of, &sums);
            ridge_memory_fail_at(0);
            assert_true(status == RIDGE_OK || status == RIDGE_ERR_OUT_OF_MEMORY);
            assert_true((status == RIDGE_OK) == (sums.rows != NULL));
            ridge_trace_sums_free(&sums);
        }
    }
    ridge_trace_free(trace);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, sums_up, sum_cases);
    CASES_ADD_ROWS(&list, finds_sizes, size_cases);
    cases_add(&list, "configuration", shows_the_configuration, NULL);
    cases_add(&list, "total cut at its type", cuts_a_total, NULL);
    cases_add(&list, "stable deviation", deviation_is_stable, NULL);
    cases_add(&list, "times at the ends of their type", times_at_the_ends_of_their_type, NULL);
    cases_add(&list, "nothing", nothing_to_sum, NULL);
    cases_add(&list, "counting until a time", counts_until, NULL);
    cases_add(&list, "without memory", survives_without_memory, NULL);
    return cases_run(&list, "sums");
}
