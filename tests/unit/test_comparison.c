/* SPDX-License-Identifier: Apache-2.0 */
#include "diagnose_support.h"

#include <math.h>

#include "base/memory.h"
#include "ridge/diff.h"

enum { KERNELS = 4 };

/* Two reports and what came of comparing them. */
typedef struct compared {
    sample_report before, after;
    ridge_diff *diff;
} compared;

static size_t kernel_count(const sample_kernel *kernels, size_t most)
{
    size_t count = 0;

    while (count < most && kernels[count].name != NULL)
        count++;
    return count;
}

static void check_diff(const ridge_diff *diff)
{
    size_t i, k;

    for (i = 0; i < diff->pair_count; i++) {
        const ridge_diff_pair *const pair = &diff->pairs[i];

        assert_non_null(pair->name_before);
        assert_non_null(pair->name_after);
        assert_true(strlen(pair->verdict_before.sentence) > 0);
        assert_true(strlen(pair->verdict_after.sentence) > 0);
        if (pair->verdict_before.cls != RIDGE_CLASS_UNKNOWN &&
            pair->verdict_after.cls != RIDGE_CLASS_UNKNOWN)
            assert_int_equal(pair->wall_moved,
                             pair->verdict_before.wall != pair->verdict_after.wall);
        assert_true(pair->metric_count <= RIDGE_DIFF_METRICS);
        assert_true(pair->opcode_count <= RIDGE_DIFF_OPCODES);
        assert_true(pair->resource_count <= COUNT_OF(pair->resources));
        assert_true(pair->note_count <= COUNT_OF(pair->notes));
        for (k = 0; k < pair->note_count; k++)
            assert_true(strlen(pair->notes[k]) > 0 && strstr(pair->notes[k], "nan") == NULL);
        if (i > 0 && !isnan(pair->before_ns))
            assert_true(pair->before_ns <= diff->pairs[i - 1].before_ns);
    }
}

static compared compare(const sample_kernel *before, size_t before_count,
                        const sample_kernel *after, size_t after_count)
{
    compared it;
    ridge_error err;

    it.before = sample_report_of(before, before_count);
    it.after = sample_report_of(after, after_count);
    if (ridge_diff_create(it.before.report, it.after.report, &it.diff, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    check_diff(it.diff);
    return it;
}

static void close_compared(compared *it)
{
    ridge_diff_free(it->diff);
    sample_report_release(&it->before);
    sample_report_release(&it->after);
}

static bool holds(const char *const *ids, size_t count, const char *id)
{
    size_t i;

    for (i = 0; i < count; i++)
        if (strcmp(ids[i], id) == 0)
            return true;
    return false;
}

static const ridge_change *change_of(const ridge_change *changes, size_t count, const char *metric)
{
    size_t i;

    for (i = 0; i < count; i++)
        if (strcmp(changes[i].metric, metric) == 0)
            return &changes[i];
    return NULL;
}

/* -- pairing ----------------------------------------------------------------------------------- */

/* Times make the order of the pairs that of launches: pairs come longest first. */
#define K(short_name, full_name, time)                                                             \
    {                                                                                              \
        .name = short_name, .mangled = full_name, .numbers = { {DURATION, time} }                  \
    }

static struct pairing_case {
    const char *name;
    sample_kernel before[KERNELS], after[KERNELS];
    const char *pairs; /* "before launch>after launch" in the order of pairs */
    const char *only_before, *only_after;
} pairing_cases[] = {
    {"the same two",
     {K("a", "_Z1a", 9e6), K("b", "_Z1b", 8e6)},
     {K("a", "_Z1a", 9e6), K("b", "_Z1b", 8e6)},
     "0>0 1>1",
     "",
     ""},
    {"another order",
     {K("a", "_Z1a", 9e6), K("b", "_Z1b", 8e6)},
     {K("b", "_Z1b", 8e6), K("a", "_Z1a", 9e6)},
     "0>1 1>0",
     "",
     ""},
    {"longest first",
     {K("a", "_Z1a", 1e6), K("b", "_Z1b", 8e6)},
     {K("a", "_Z1a", 9e6), K("b", "_Z1b", 1e6)},
     "1>1 0>0",
     "",
     ""},
    {"repeated launches in their order",
     {K("a", "_Z1a", 9e6), K("a", "_Z1a", 8e6), K("a", "_Z1a", 7e6)},
     {K("a", "_Z1a", 9e6), K("a", "_Z1a", 8e6)},
     "0>0 1>1",
     "a",
     ""},
    {"other template arguments",
     {K("gemm<4>", "_Z4gemmILi4", 9e6), K("b", "_Z1b", 8e6)},
     {K("b", "_Z1b", 8e6), K("gemm<8>", "_Z4gemmILi8", 9e6)},
     "0>1 1>0",
     "",
     ""},
    {"the same arguments before others",
     {K("gemm<4>", "_Z4gemmILi4", 9e6), K("gemm<8>", "_Z4gemmILi8", 8e6)},
     {K("gemm<8>", "_Z4gemmILi8", 8e6), K("gemm<4>", "_Z4gemmILi4", 9e6)},
     "0>1 1>0",
     "",
     ""},
    {"the start of a name is another name",
     {K("gemm", "_Z4gemm", 9e6), K("x", "_Z1x", 8e6)},
     {K("gemm2", "_Z5gemm2", 9e6), K("x", "_Z1x", 8e6)},
     "1>1",
     "gemm",
     "gemm2"},
    {"one on each side, whatever its name",
     {K("old", "_Z3old", 9e6)},
     {K("new", "_Z3new", 8e6)},
     "0>0",
     "",
     ""},
    {"one against two of other names",
     {K("old", "_Z3old", 9e6)},
     {K("x", "_Z1x", 8e6), K("y", "_Z1y", 7e6)},
     "",
     "old",
     "x y"},
    {"a kernel gone and one added",
     {K("a", "_Z1a", 9e6), K("gone", "_Z4gone", 8e6), K("b", "_Z1b", 7e6)},
     {K("a", "_Z1a", 9e6), K("b", "_Z1b", 7e6), K("added", "_Z5added", 6e6)},
     "0>0 2>1",
     "gone",
     "added"},
};

static void pairs_kernels(void **state)
{
    const struct pairing_case *const test = *state;
    compared it = compare(test->before, kernel_count(test->before, KERNELS), test->after,
                          kernel_count(test->after, KERNELS));
    char pairs[64] = "", only_before[64] = "", only_after[64] = "";
    size_t i;

    for (i = 0; i < it.diff->pair_count; i++)
        snprintf(pairs + strlen(pairs), sizeof(pairs) - strlen(pairs), "%s%zu>%zu",
                 i > 0 ? " " : "", it.diff->pairs[i].launch_before, it.diff->pairs[i].launch_after);
    for (i = 0; i < it.diff->only_before_count; i++)
        snprintf(only_before + strlen(only_before), sizeof(only_before) - strlen(only_before),
                 "%s%s", i > 0 ? " " : "", it.diff->only_before[i]);
    for (i = 0; i < it.diff->only_after_count; i++)
        snprintf(only_after + strlen(only_after), sizeof(only_after) - strlen(only_after), "%s%s",
                 i > 0 ? " " : "", it.diff->only_after[i]);
    assert_string_equal(pairs, test->pairs);
    assert_string_equal(only_before, test->only_before);
    assert_string_equal(only_after, test->only_after);
    close_compared(&it);
}

/* -- one pair ---------------------------------------------------------------------------------- */

static const sample_kernel with_conflicts = {
    .name = "k",
    .numbers = {{DURATION, 2e6}, {L1, 97}, {ELAPSED, 4e6}, {SHARED, 16384}},
    .code = {{"LDG", 1000, 5}, {"LDS", 10000, 50, 80000, 10000}, {"BAR", 100}, {"EXIT", 100}}};
static const sample_kernel without_conflicts = {
    .name = "k",
    .numbers = {{DURATION, 0.5e6}, {ISSUE, 85}, {L1, 50}, {ELAPSED, 1e6}, {SHARED, 16896}},
    .code = {{"LDG.128", 250, 5}, {"LDS", 10000, 50, 10000, 10000}, {"BAR", 100}, {"EXIT", 100}}};

static void the_wall_moves(void **state)
{
    compared it = compare(&with_conflicts, 1, &without_conflicts, 1);
    const ridge_diff_pair *const pair = &it.diff->pairs[0];
    const ridge_change *change;

    assert_int_equal(it.diff->pair_count, 1);
    assert_true(pair->before_ns == 2e6);
    assert_true(pair->after_ns == 0.5e6);
    assert_true(pair->speedup == 4);
    assert_true(pair->cycles_speedup == 4);
    assert_true(pair->wall_moved);
    assert_int_equal(pair->verdict_before.wall, RIDGE_WALL_L1);
    assert_int_equal(pair->verdict_after.wall, RIDGE_WALL_ISSUE);
    assert_false(pair->clocks_differ);
    assert_false(pair->same_code);
    assert_true(holds(pair->gone, pair->gone_count, "shared_bank_conflict"));
    assert_true(holds(pair->added, pair->added_count, "issue_bound"));
    assert_false(holds(pair->left, pair->left_count, "shared_bank_conflict"));

    change = change_of(pair->metrics, pair->metric_count, L1);
    assert_non_null(change);
    assert_true(change->before == 97 && change->after == 50);
    change = change_of(pair->metrics, pair->metric_count, "ridge:shared_waste_frac");
    assert_non_null(change);
    assert_true(change->before == 0.875);
    change = change_of(pair->opcodes, pair->opcode_count, "LDG");
    assert_non_null(change);
    assert_true(change->before == 1000 && change->after == 0);
    change = change_of(pair->opcodes, pair->opcode_count, "LDG.128");
    assert_non_null(change);
    assert_true(change->before == 0 && change->after == 250);
    assert_null(change_of(pair->opcodes, pair->opcode_count, "LDS"));
    assert_int_equal(pair->resource_count, 1);
    assert_string_equal(pair->resources[0].metric, "ridge:shared_bytes_per_block");
    assert_true(pair->resources[0].before == 16384 && pair->resources[0].after == 16896);
    close_compared(&it);
    (void)state;
}

static void nothing_changes(void **state)
{
    compared it = compare(&with_conflicts, 1, &with_conflicts, 1);
    const ridge_diff_pair *const pair = &it.diff->pairs[0];

    assert_true(pair->speedup == 1);
    assert_false(pair->wall_moved);
    assert_true(pair->same_code);
    assert_int_equal(pair->gone_count, 0);
    assert_int_equal(pair->added_count, 0);
    assert_true(holds(pair->left, pair->left_count, "shared_bank_conflict"));
    assert_int_equal(pair->metric_count, 0);
    assert_int_equal(pair->opcode_count, 0);
    assert_int_equal(pair->resource_count, 0);
    assert_int_equal(pair->note_count, 1); /* a stale build? */
    close_compared(&it);
    (void)state;
}

static struct clock_case {
    const char *name;
    double before_hz, after_hz;
    bool differ;
} clock_cases[] = {
    {"the same clock", 1.98e9, 1.98e9, false},
    {"a clock 2.9 % lower", 1.98e9, 1.98e9 * 0.971, false},
    {"a clock 3.1 % lower", 1.98e9, 1.98e9 * 0.969, true},
    {"a clock 3.1 % higher", 1.98e9, 1.98e9 * 1.031, true},
    {"base and boost", 1.2e9, 1.98e9, true},
    {"a clock not recorded", 1.98e9, ABSENT, false},
};

static void compares_clocks(void **state)
{
    const struct clock_case *const test = *state;
    const sample_kernel before = {.name = "k",
                                  .numbers = {{CLOCK, test->before_hz}, {ELAPSED, 3e6}}};
    const sample_kernel after = {.name = "k", .numbers = {{CLOCK, test->after_hz}, {ELAPSED, 2e6}}};
    compared it = compare(&before, 1, &after, 1);
    const ridge_diff_pair *const pair = &it.diff->pairs[0];

    assert_int_equal(pair->clocks_differ, test->differ);
    assert_true(pair->cycles_speedup == 1.5);
    assert_int_equal(pair->note_count, test->differ);
    if (test->differ)
        assert_non_null(strstr(pair->notes[0], "1.50"));
    close_compared(&it);
}

/* A kernel that no longer uses shared memory has no instances of its counters, but their zeros. */
static void nothing_left_to_count(void **state)
{
    static const sample_kernel plain = {
        .name = "k",
        .numbers = {{DURATION, 0.5e6}, {ISSUE, 85}, {L1, 5}, {"memory_l1_wavefronts_shared", 0}},
        .code = {{"LDG.128", 250, 5}, {"EXIT", 100}}};
    compared it = compare(&with_conflicts, 1, &plain, 1);
    const ridge_diff_pair *const pair = &it.diff->pairs[0];
    size_t i;

    assert_true(pair->gone_count > 0);
    assert_string_equal(pair->gone[0], "shared_bank_conflict");
    for (i = 0; i < pair->note_count; i++)
        assert_null(strstr(pair->notes[i], "less data"));
    close_compared(&it);
    (void)state;
}

static void without_times(void **state)
{
    static const sample_kernel bare = {.name = "k", .bare = true};
    compared it = compare(&bare, 1, &with_conflicts, 1);
    const ridge_diff_pair *pair = &it.diff->pairs[0];

    assert_true(isnan(pair->before_ns));
    assert_true(isnan(pair->speedup));
    assert_true(isnan(pair->cycles_speedup));
    assert_int_equal(pair->verdict_before.cls, RIDGE_CLASS_UNKNOWN);
    assert_false(pair->wall_moved);
    assert_int_equal(pair->added_count, 0);
    assert_int_equal(pair->opcode_count, 0);
    close_compared(&it);
    it = compare(&with_conflicts, 1, &bare, 1);
    pair = &it.diff->pairs[0];
    assert_int_equal(pair->gone_count, 0); /* not shown is not gone */
    assert_int_equal(pair->note_count, 1);
    assert_non_null(strstr(pair->notes[0], "AFTER holds less data"));
    assert_true(isnan(pair->after_ns));
    assert_true(isnan(pair->speedup));
    assert_false(pair->same_code);
    close_compared(&it);
    (void)state;
}

/* Fewer instructions that wait longer each: the same latency over fewer of them. */
static void latency_over_fewer_instructions(void **state)
{
#define LATENCY "smsp__average_warp_latency_per_inst_issued.ratio"
#define INSTRUCTIONS "smsp__inst_executed.sum"
    static const sample_kernel before = {.name = "k",
                                         .numbers = {{INSTRUCTIONS, 1000}, {LATENCY, 10}}};
    static const sample_kernel after = {.name = "k",
                                        .numbers = {{INSTRUCTIONS, 500}, {LATENCY, 18}}};
    compared it = compare(&before, 1, &after, 1);

    assert_int_equal(it.diff->pairs[0].note_count, 1);
    assert_non_null(strstr(it.diff->pairs[0].notes[0], "50 %"));
    close_compared(&it);
    it = compare(&after, 1, &before, 1);
    assert_int_equal(it.diff->pairs[0].note_count, 0);
    close_compared(&it);
    (void)state;
}

/* A function that has a name and no bytes is not the same code as another such. */
static void functions_without_code(void **state)
{
    static const sample_header header = {.sm = 90};
    static const sample_section text = {.name = ".text.k", .type = 8, .size = 64};
    file_bytes cubin = sample_cubin(&header, &text, 1);
    const build_source source = {.reference = 1,
                                 .binary = cubin.data,
                                 .binary_bytes = cubin.size,
                                 .function = "k",
                                 .address = 4096};
    const build_result result = {.name = "k", .mangled = "k", .module = 1};
    const build_block block = {
        .sources = &source, .source_count = 1, .results = &result, .result_count = 1};
    file_bytes file = build_report(&block, 1);
    ridge_report *const report = build_open(&file);
    ridge_diff *diff;

    assert_int_equal(ridge_diff_create(report, report, &diff, NULL), RIDGE_OK);
    check_diff(diff);
    assert_int_equal(diff->pair_count, 1);
    assert_false(diff->pairs[0].same_code);
    ridge_diff_free(diff);
    ridge_report_free(report);
    support_release(&file);
    support_release(&cubin);
    (void)state;
}

/* -- life -------------------------------------------------------------------------------------- */

static void outlives_the_reports(void **state)
{
    compared it = compare(&with_conflicts, 1, &without_conflicts, 1);
    size_t i;

    sample_report_release(&it.before);
    sample_report_release(&it.after);
    check_diff(it.diff);
    for (i = 0; i < it.diff->pairs[0].metric_count; i++) {
        assert_true(strlen(it.diff->pairs[0].metrics[i].metric) > 0);
        assert_true(strlen(it.diff->pairs[0].metrics[i].label) > 0);
        assert_non_null(it.diff->pairs[0].metrics[i].unit);
    }
    for (i = 0; i < it.diff->pairs[0].gone_count; i++)
        assert_true(strlen(it.diff->pairs[0].gone[i]) > 0);
    ridge_diff_free(it.diff);
    ridge_diff_free(NULL);
    (void)state;
}

static void survives_failing_allocations(void **state)
{
    const sample_kernel before[] = {with_conflicts, K("gone", "_Z4gone", 1e5)};
    const sample_kernel after[] = {without_conflicts, K("added", "_Z5added", 1e5)};
    sample_report reports[2];
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    ridge_error err;
    size_t nth;

    reports[0] = sample_report_of(before, 2);
    reports[1] = sample_report_of(after, 2);
    for (nth = 1; status != RIDGE_OK; nth++) {
        ridge_diff *diff = (ridge_diff *)(void *)reports;

        ridge_memory_fail_at(nth);
        status = ridge_diff_create(reports[0].report, reports[1].report, &diff, &err);
        ridge_memory_fail_at(0);
        if (status == RIDGE_OK) {
            check_diff(diff);
            assert_int_equal(diff->pair_count, 1);
            ridge_diff_free(diff);
            break;
        }
        assert_int_equal(status, RIDGE_ERR_OUT_OF_MEMORY);
        assert_int_equal(err.status, RIDGE_ERR_OUT_OF_MEMORY);
        assert_null(diff);
        assert_true(nth < 1000);
    }
    assert_true(nth > 10);
    sample_report_release(&reports[0]);
    sample_report_release(&reports[1]);
    (void)state;
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, pairs_kernels, pairing_cases);
    cases_add(&list, "the wall moves", the_wall_moves, NULL);
    cases_add(&list, "nothing changes", nothing_changes, NULL);
    CASES_ADD_ROWS(&list, compares_clocks, clock_cases);
    cases_add(&list, "functions without code", functions_without_code, NULL);
    cases_add(&list, "nothing left to count", nothing_left_to_count, NULL);
    cases_add(&list, "without times", without_times, NULL);
    cases_add(&list, "fewer instructions", latency_over_fewer_instructions, NULL);
    cases_add(&list, "a comparison outlives the reports", outlives_the_reports, NULL);
    cases_add(&list, "failing allocations", survives_failing_allocations, NULL);
    return cases_run(&list, "comparison");
}
