/* SPDX-License-Identifier: Apache-2.0
 *
 * In which range the host was while a device was idle, the idle time of ranges, and the name that
 * ranges share which differ in a number. */
#include "cases.h"

#include "base/memory.h"
#include "ridge/timeline.h"
#include "timeline/account/account.h"
#include "timeline/sums/sums_internal.h"
#include "trace_support.h"

/* -- gaps -------------------------------------------------------------------------------------- */

enum { ROWS_MOST = 12 };

/* Work until 1000, the next launch is [2000, 2100), its work begins at 2200. */
#define GAP                                                                                        \
    {ROW_CALL, "cudaLaunchKernel", 100, 200, .key = 1}, {ROW_KERNEL, "a", 300, 1000, .key = 1},    \
        {ROW_CALL, "cudaLaunchKernel", 2000, 2100, .key = 2},                                      \
    {                                                                                              \
        ROW_KERNEL, "b", 2200, 3000, .key = 2                                                      \
    }

/* clang-format off */
static struct gap_case {
    const char *name;
    trace_row rows[ROWS_MOST];
    const char *range, *host_range; /* NULL: none */
} gap_cases[] = {
    {"no range", {GAP}, NULL, NULL},
    {"a loader that launched nothing", {GAP, {ROW_OP, "loader", 1010, 1800}, {ROW_OP, "aten::copy_", 1900, 2150}}, "aten::copy_", "loader"},
    {"half is not most", {GAP, {ROW_OP, "loader", 1000, 1550}, {ROW_OP, "aten::copy_", 1900, 2150}}, "aten::copy_", "aten::copy_"},
    {"one more is", {GAP, {ROW_OP, "loader", 1000, 1551}, {ROW_OP, "aten::copy_", 1900, 2150}}, "aten::copy_", "loader"},
    {"began long before", {GAP, {ROW_OP, "loader", 10, 1800}, {ROW_OP, "aten::copy_", 1900, 2150}}, "aten::copy_", "loader"},
    {"the innermost of those", {GAP, {ROW_NVTX, ":step", 0, 5000}, {ROW_OP, "loader", 1010, 1800}, {ROW_OP, "read", 1020, 1700}, {ROW_OP, "short", 1030, 1100}}, ":step", "read"},
    {"across many small ones", {GAP, {ROW_NVTX, ":step", 0, 5000}, {ROW_OP, "s", 1010, 1020}, {ROW_OP, "s", 1110, 1120}, {ROW_OP, "s", 1510, 1520}}, ":step", ":step"},
    {"the launch counts", {GAP, {ROW_OP, "aten::mm", 1200, 2150}, {ROW_OP, "before", 900, 1200}}, "aten::mm", "aten::mm"},
    {"steps of the profiler say nothing", {GAP, {ROW_ANNOTATION, "ProfilerStep#3", 0, 5000}, {ROW_OP, "aten::copy_", 1900, 2150}}, "aten::copy_", "aten::copy_"},
    {"a frame where nothing else covers", {GAP, {ROW_PYTHON, "a.py(1): f", 0, 5000}, {ROW_PYTHON, "<built-in next>", 1000, 1900}, {ROW_OP, "aten::copy_", 1900, 2150}}, "aten::copy_", "a.py(1): f"},
    {"what the program says before a frame", {GAP, {ROW_NVTX, ":step", 0, 5000}, {ROW_PYTHON, "a.py(1): f", 10, 4000}}, "a.py(1): f", ":step"},
    {"another thread's is not seen", {GAP, {ROW_OP, "loader", 1010, 1800, .on = 4}, {ROW_OP, "aten::copy_", 1900, 2150}}, "aten::copy_", "aten::copy_"},
    {"handed over", {GAP, {ROW_NVTX, ":loader", 1010, 1800, .detail = RIDGE_RANGE_OTHER_THREAD}}, NULL, NULL},
    {"launched before", {{ROW_CALL, "cudaLaunchKernel", 100, 200, .key = 1}, {ROW_KERNEL, "a", 300, 1000, .key = 1}, {ROW_OP, "aten::mm", 210, 400},
        {ROW_CALL, "cudaLaunchKernel", 220, 300, .key = 2}, {ROW_KERNEL, "b", 2200, 3000, .key = 2}, {ROW_OP, "loader", 1000, 2200}}, "aten::mm", "aten::mm"},
};
/* clang-format on */

static size_t count_rows(const trace_row *rows)
{
    size_t count = 0;

    while (count < ROWS_MOST && rows[count].end_ns != 0)
        count++;
    return count;
}

static void is_range(const ridge_trace *trace, uint32_t range, const char *expected)
{
    size_t count;
    const ridge_trace_range *const ranges = ridge_trace_ranges(trace, &count);

    if (expected == NULL)
        assert_int_equal(range, RIDGE_TRACE_NONE);
    else
        assert_true(range < count);
    if (expected != NULL)
        assert_string_equal(ridge_trace_name(trace, ranges[range].name, NULL), expected);
}

static void where_the_host_was(void **state)
{
    const struct gap_case *const row = *state;
    ridge_trace *const trace = trace_support_make(row->rows, count_rows(row->rows));
    const ridge_device_account *account;
    ridge_timeline *timeline;
    size_t count;

    assert_int_equal(ridge_timeline_create(trace, NULL, &timeline, NULL), RIDGE_OK);
    account = ridge_timeline_devices(timeline, &count);
    assert_int_equal(account->gap_count, 1);
    is_range(trace, account->gaps[0].range, row->range);
    is_range(trace, account->gaps[0].host_range, row->host_range);
    ridge_timeline_free(timeline);
    ridge_trace_free(trace);
}

/* -- against a slow search --------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005U + 1442695040888963407U;
    return *seed >> 33;
}

static uint32_t slow_search(const ridge_trace *trace, const ridge_trace_thread *thread,
                            int64_t start_ns, int64_t end_ns)
{
    size_t count;
    const ridge_trace_range *const ranges = ridge_trace_ranges(trace, &count);
    uint32_t found = RIDGE_TRACE_NONE;

    for (size_t i = thread->first_range; i < thread->first_range + thread->range_count; i++) {
        const int64_t from = ranges[i].start_ns > start_ns ? ranges[i].start_ns : start_ns;
        const int64_t to = ranges[i].end_ns < end_ns ? ranges[i].end_ns : end_ns;

        if (to - from > (end_ns - start_ns) / 2)
            found = (uint32_t)i;
    }
    return found;
}

static void finds_what_a_slow_search_finds(void **state)
{
    enum { RANGES = 300, ASKED = 500 };
    uint64_t seed = 7;

    (void)state;
    for (int round = 0; round < 20; round++) {
        trace_row rows[RANGES];
        const ridge_trace_thread *threads;
        ridge_trace *trace;
        host_ranges *of;
        size_t count;

        for (size_t i = 0; i < RANGES; i++) {
            const int64_t start = (int64_t)(next_random(&seed) % 1000);

            rows[i] = (trace_row){ROW_NVTX, ":r", start,
                                  start + (int64_t)(next_random(&seed) % (round < 10 ? 30 : 500)),
                                  .on = (int64_t)(next_random(&seed) % 3)};
        }
        trace = trace_support_make(rows, RANGES);
        of = host_ranges_create(trace);
        assert_non_null(of);
        threads = ridge_trace_threads(trace, &count);
        for (size_t i = 0; i < ASKED; i++) {
            const ridge_trace_thread *const thread = &threads[next_random(&seed) % count];
            const int64_t start = (int64_t)(next_random(&seed) % 1000);
            const int64_t end = start + 1 + (int64_t)(next_random(&seed) % 100);

            assert_int_equal(host_ranges_find(of, thread, start, end, false),
                             slow_search(trace, thread, start, end));
        }
        host_ranges_free(of);
        ridge_trace_free(trace);
    }
}

#define MOST_NS ((INT64_C(1) << 62) - 1)
#define LEAST_NS (-MOST_NS)

static void keeps_times_at_the_ends(void **state)
{
    static const trace_row rows[] = {{ROW_NVTX, ":all", LEAST_NS, MOST_NS},
                                     {ROW_NVTX, ":late", MOST_NS - 2, MOST_NS}};
    ridge_trace *const trace = TRACE_OF(rows);
    host_ranges *const of = host_ranges_create(trace);
    size_t count;
    const ridge_trace_thread *const threads = ridge_trace_threads(trace, &count);

    (void)state;
    assert_int_equal(host_ranges_find(of, threads, LEAST_NS, MOST_NS, false), 0);
    assert_int_equal(host_ranges_find(of, threads, MOST_NS - 1, MOST_NS, false), 1);
    assert_int_equal(host_ranges_find(of, threads, 5, 5, false), RIDGE_TRACE_NONE);
    host_ranges_free(of);
    ridge_trace_free(trace);
}

/* -- idle time of ranges ----------------------------------------------------------------------- */

static const trace_row idle_rows[] = {
    GAP,
    {ROW_OP, "loader", 900, 1800},
    {ROW_OP, "outside", 5000, 9000},
    {ROW_OP, "twice", 1000, 1100},
    {ROW_OP, "twice", 2150, 2500},
    {ROW_OP, "all", 0, 4000},
    {ROW_OP, "recursion", 1000, 2000},
    {ROW_OP, "recursion", 1100, 1900},
    {ROW_OP, "recursion", 1900, 2100},
    {ROW_OP, "siblings", 1000, 1600},
    {ROW_OP, "siblings", 1500, 2200, .on = 4},
};

static struct idle_case {
    const char *name;
    int64_t idle_ns, host_ns, host_union_ns;
} idle_cases
    [] =
        {
            {"loader", 800, 900, 900},       {"outside", 0, 4000, 4000},
            {"twice", 150, 450, 450},        {"all", 1200, 4000, 4000},
            {"recursion", 1100, 2000, 1100}, /* an instance in another, one that crosses both */
            {"siblings", 1200, 1300, 1300},  /* on two threads at once: two hosts, one device */
};

static void counts_idle_time(void **state)
{
    const struct idle_case *const row = *state;
    ridge_trace *const trace = TRACE_OF(idle_rows);
    ridge_timeline *timeline;
    ridge_range_sums sums;
    bool is_found = false;
    size_t count;

    assert_int_equal(ridge_timeline_create(trace, NULL, &timeline, NULL), RIDGE_OK);
    assert_int_equal(ridge_trace_sum_ranges(trace, ~0U, NULL, &sums, NULL), RIDGE_OK);
    assert_int_equal(
        ridge_timeline_range_idle(timeline, ridge_timeline_devices(timeline, &count), &sums, NULL),
        RIDGE_OK);
    for (size_t i = 0; i < sums.count; i++)
        if (strcmp(sums.rows[i].name, row->name) == 0) {
            assert_int_equal(sums.rows[i].host_idle_ns, row->idle_ns);
            assert_int_equal(sums.rows[i].host_ns, row->host_ns);
            assert_int_equal(sums.rows[i].host_union_ns, row->host_union_ns);
            is_found = true;
        }
    assert_true(is_found);
    ridge_range_sums_free(&sums);
    ridge_timeline_free(timeline);
    ridge_trace_free(trace);
}

static void survives_without_memory(void **state)
{
    ridge_trace *const trace = TRACE_OF(idle_rows);
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    ridge_timeline *timeline;
    ridge_range_sums sums;
    host_ranges *of = NULL;
    size_t count;

    (void)state;
    assert_int_equal(ridge_timeline_create(trace, NULL, &timeline, NULL), RIDGE_OK);
    assert_int_equal(ridge_trace_sum_ranges(trace, ~0U, NULL, &sums, NULL), RIDGE_OK);
    for (size_t nth = 1; status != RIDGE_OK; nth++) {
        ridge_memory_fail_at(nth);
        status = ridge_timeline_range_idle(timeline, ridge_timeline_devices(timeline, &count),
                                           &sums, NULL);
        ridge_memory_fail_at(0);
        assert_true(status == RIDGE_OK ? nth > 1 : status == RIDGE_ERR_OUT_OF_MEMORY);
    }
    for (size_t nth = 1; of == NULL; nth++) {
        ridge_memory_fail_at(nth);
        of = host_ranges_create(trace);
        ridge_memory_fail_at(0);
        assert_true(of == NULL || nth == 4); /* itself, a tree of ends, one of lengths */
    }
    host_ranges_free(of);
    ridge_range_sums_free(&sums);
    ridge_timeline_free(timeline);
    ridge_trace_free(trace);
}

/* -- names ------------------------------------------------------------------------------------- */

static struct name_case {
    const char *name, *family;
} name_cases[] = {
    {"decode step 3", "decode step *"},
    {":decode step 12", "decode step *"},
    {"ProfilerStep#5", "ProfilerStep#*"},
    {"7", "*"},
    {"0.5 of it", "*.* of it"},
    {"aten::conv2d", "aten::conv2d"},
    {"layer1", "layer1"},
    {"2nd", "2nd"},
    {"layers.3.mlp", "layers.*.mlp"},
    {":aten::mm, seq = 7, op_id = 12", "aten::mm"},
    {"a, b", "a, b"},
    {"model.py(12): forward", "model.py(12): forward"},
    {"domain:step 4", "domain:step *"},
    {"", ""},
};

static void shares_a_name(void **state)
{
    const struct name_case *const row = *state;
    char family[64], cut[4];

    assert_string_equal(ridge_range_family(row->name, family, sizeof(family)), row->family);
    ridge_range_family(row->name, cut, sizeof(cut));
    assert_true(strlen(cut) < sizeof(cut) && strncmp(cut, row->family, strlen(cut)) == 0);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, where_the_host_was, gap_cases);
    cases_add(&list, "finds what a slow search finds", finds_what_a_slow_search_finds, NULL);
    cases_add(&list, "keeps times at the ends", keeps_times_at_the_ends, NULL);
    CASES_ADD_ROWS(&list, counts_idle_time, idle_cases);
    cases_add(&list, "survives without memory", survives_without_memory, NULL);
    CASES_ADD_ROWS(&list, shares_a_name, name_cases);
    return cases_run(&list, "host_ranges");
}
