/* SPDX-License-Identifier: Apache-2.0
 *
 * What ridge compare prints and answers, from literal results. */
#include "cases.h"

#include <math.h>

#include "compare_print.h"
#include "options.h"

/* Of main.c, which options.c asks. */
const struct command commands[] = {{NULL}};
const struct command *command_find(const char *name)
{
    (void)name;
    return NULL;
}

static ridge_comparison comparison(ridge_bench_verdict verdict, double centre, double half_width,
                                   int64_t m)
{
    ridge_comparison out = {0};

    ridge_case_init(&out.at);
    ridge_case_set(&out.at, "m", m, NULL);
    ridge_case_set(&out.at, "n", 5120, NULL);
    snprintf(out.device.name, sizeof(out.device.name), "NVIDIA H200");
    snprintf(out.arms[0].name, sizeof(out.arms[0].name), "rms_norm:row_per_block");
    snprintf(out.arms[1].name, sizeof(out.arms[1].name), "rms_norm:row_per_warp");
    out.arms[0].median_ns = 20920;
    out.arms[1].median_ns = 20920 * exp(centre);
    out.arms[0].bytes_per_s = 4.01e12;
    out.arms[1].bytes_per_s = 4.18e12;
    out.arms[0].roof_frac = 0.93;
    out.arms[1].roof_frac = 0.97;
    out.arms[0].nominal_frac = 0.84;
    out.arms[1].nominal_frac = 0.87;
    out.arms[0].sm_hz = 1.98e9;
    out.arms[0].power_w = 412;
    out.device.power_limit_w = 700;
    out.interval = (ridge_interval){.centre = centre,
                                    .low = centre - half_width,
                                    .high = centre + half_width,
                                    .half_width = half_width,
                                    .detectable = 1.36 * half_width,
                                    .count = 6,
                                    .pilot = 6};
    out.sustained.centre = NAN;
    out.delta = 0.00995;
    out.verdict = verdict;
    out.p = verdict <= RIDGE_VERDICT_REGRESSED ? 0.001 : 0.4;
    out.rotation = 4;
    out.rotation_l2 = 5.3;
    out.placements = 6;
    out.blocks = 24;
    out.outputs_checked = 24;
    out.floors.kernel_ns = 3200;
    out.floor_frac = 0.15;
    out.null_centre = 0.0004;
    out.shared_frac = 1;
    return out;
}

static void prints_one_case(void **state)
{
    struct compare_summary summary = {.wanted_count = 1};
    const ridge_comparison one = comparison(RIDGE_VERDICT_IMPROVED, -0.042, 0.0022, 4096);
    caught out;

    (void)state;
    assert_true(compare_summary_add(&summary, &one));
    compare_summary_decide(&summary);
    assert_int_equal(compare_summary_exit(&summary), 0);
    caught_open(&out, 100, false);
    compare_write_text(out.output, &summary);
    caught_is(
        &out,
        "IMPROVED: B is 4.1 % faster (delta 1 %, detectable here 0.3 %)\n"
        "\n"
        "m=4096 n=5120 bf16   cold (rotation 4, 5.3x L2)   NVIDIA H200, 1.980 GHz, 412 of 700 "
        "W\n"
        "  A  rms_norm:row_per_block    20.92 us  4.010 TB/s  93 % of measured roof (84 % "
        "nominal)\n"
        "  B  rms_norm:row_per_warp     20.06 us  4.180 TB/s  97 % of measured roof (87 % "
        "nominal)\n"
        "  B/A 0.9589  [0.9568, 0.9610]\n"
        "  6 placements, 24 blocks, null control +0.04 %, outputs of 24 timed launches checked,\n"
        "  floor 3.200 us (15 %)\n");
    compare_summary_release(&summary);
}

/* What would decide: more placements, more time, or both. */
static void says_what_would_decide(void **state)
{
    static const struct {
        int needed, placements, most;
        double budget_needed_s; /* 20 was allowed */
        const char *first_line;
    } rows[] = {
        {9, 6, 6, 18, "CANNOT_TELL: --placements 9 would decide 1 %\n"},
        {9, 6, 24, 29.2, "CANNOT_TELL: --budget 30 would decide 1 %; the time was enough for 6\n"},
        {25, 16, 24, 39.1,
         "CANNOT_TELL: --placements 25 --budget 40 would decide 1 %; the time was enough for 16\n"},
        {30, 24, 24, 23.2, "CANNOT_TELL: --placements 30 --budget 24 would decide 1 %\n"},
        {9, 6, 24, NAN,
         "CANNOT_TELL: 9 placements would decide 1 %, the time was enough for 6: raise --budget\n"},
        {300, 24, 24, 100,
         "CANNOT_TELL: 300 placements would decide 1 %: too noisy a machine or a kernel\n"},
        {30, 6, 24, 90000,
         "CANNOT_TELL: 30 placements would decide 1 %: too noisy a machine or a kernel\n"},
        {0, 6, 24, NAN, "CANNOT_TELL: what is seen reaches beyond 1 %\n"},
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct compare_summary summary = {
            .wanted_count = 1, .placements_most = rows[i].most, .budget_s = 20};
        ridge_comparison one = comparison(RIDGE_VERDICT_CANNOT_TELL, 0.009, 0.0022, 4096);
        caught out;

        one.placements_needed = rows[i].needed;
        one.placements = rows[i].placements;
        one.budget_needed_s = rows[i].budget_needed_s;
        assert_true(compare_summary_add(&summary, &one));
        compare_summary_decide(&summary);
        caught_open(&out, 100, false);
        compare_write_text(out.output, &summary);
        assert_int_equal(caught_close(&out, NULL), RIDGE_OK);
        assert_memory_equal(out.text, rows[i].first_line, strlen(rows[i].first_line));
        free(out.text);
        compare_summary_release(&summary);
    }
}

/* A guard spoke, of an arm whose name is a path; and what the arms launch. */
static void prints_an_invalid_case(void **state)
{
    struct compare_summary summary = {.wanted_count = 1,
                                      .without = 1u << RIDGE_GUARD_ROOF | 1u << RIDGE_GUARD_IDLE};
    ridge_comparison one = comparison(RIDGE_VERDICT_INVALID, -0.042, 0.0022, 4096);
    caught out;

    (void)state;
    snprintf(one.arms[0].name, sizeof(one.arms[0].name),
             "/home/somebody/build/old/libnorm.so:norm");
    snprintf(one.arms[1].name, sizeof(one.arms[1].name),
             "/home/somebody/build/new/libnorm.so:norm");
    snprintf(one.invalid_guard, sizeof(one.invalid_guard), "refill");
    snprintf(one.invalid_cause, sizeof(one.invalid_cause), "the result of other inputs");
    snprintf(one.path[0], sizeof(one.path[0]),
             "_Z11norm_kernelI13__nv_bfloat16Li4EEvPKT_ grid(1056,1,1) x block(256,1,1)");
    snprintf(one.path[1], sizeof(one.path[1]), "memset; norm grid(16,8,1) x block(32,8,2)");
    assert_true(compare_summary_add(&summary, &one));
    compare_summary_decide(&summary);
    caught_open(&out, 100, false);
    compare_write_text(out.output, &summary);
    caught_is(&out,
              "INVALID (unsafe, without: idle, roof) by the guard refill\n"
              "  the result of other inputs\n"
              "\n"
              "m=4096 n=5120 bf16   cold (rotation 4, 5.3x L2)   NVIDIA H200, 1.980 GHz, 412 of "
              "700 W\n"
              "  A  build/old/libnorm.so:norm    20.92 us  4.010 TB/s  93 % of "
              "measured roof (84 % nominal)\n"
              "  B  build/new/libnorm.so:norm    20.06 us  4.180 TB/s  97 % of "
              "measured roof (87 % nominal)\n"
              "  B/A 0.9589  [0.9568, 0.9610]\n"
              "  6 placements, 24 blocks, null control +0.04 %, outputs of 24 timed launches "
              "checked,\n"
              "  floor 3.200 us (15 %)\n"
              "  A launches  norm_kernel<__nv_bfloat16, 4>: 1056 blocks of 256 threads\n"
              "  B launches  memset; norm: 16x8 blocks of 32x8x2 threads\n");
    compare_summary_release(&summary);
}

/* As they were given, where that is not long. */
static void names_a_plug_in_as_given(void **state)
{
    static const struct {
        const char *a, *b, *a_shown, *b_shown;
    } rows[] = {
        {"./soft.so:right", "./soft.so:slow5", "  A  ./soft.so:right ", "  B  ./soft.so:slow5 "},
        {"old/soft.so:right", "new/soft.so:right", "  A  old/soft.so:right ",
         "  B  new/soft.so:right "},
        {"rms_norm:ref", "/home/somebody/build/release/soft.so:right", "  A  rms_norm:ref ",
         "  B  soft.so:right "},
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct compare_summary summary = {.wanted_count = 1};
        ridge_comparison one = comparison(RIDGE_VERDICT_SAME, 0.001, 0.002, 4096);
        caught out;

        snprintf(one.arms[0].name, sizeof(one.arms[0].name), "%s", rows[i].a);
        snprintf(one.arms[1].name, sizeof(one.arms[1].name), "%s", rows[i].b);
        assert_true(compare_summary_add(&summary, &one));
        compare_summary_decide(&summary);
        caught_open(&out, 100, false);
        compare_write_text(out.output, &summary);
        assert_int_equal(caught_close(&out, NULL), RIDGE_OK);
        if (strstr(out.text, rows[i].a_shown) == NULL || strstr(out.text, rows[i].b_shown) == NULL)
            fail_msg("row %zu: %s", i, out.text);
        free(out.text);
        compare_summary_release(&summary);
    }
}

/* Four cases: one regresses in both runs, one claim is not confirmed, two claim nothing. */
static void decides_a_sweep(void **state)
{
    struct compare_summary summary = {.wanted_count = 4};
    const ridge_comparison rows[] = {
        comparison(RIDGE_VERDICT_SAME, 0.001, 0.002, 1),
        comparison(RIDGE_VERDICT_IMPROVED, -0.03, 0.002, 16),
        comparison(RIDGE_VERDICT_REGRESSED, 0.05, 0.003, 256),
        comparison(RIDGE_VERDICT_SAME, 0.0, 0.002, 4096),
    };
    size_t i;

    (void)state;
    for (i = 0; i < 4; i++) {
        assert_true(compare_summary_add(&summary, &rows[i]));
        assert_int_equal(compare_row_needs_second(&summary.rows[i]), i == 1 || i == 2);
    }
    summary.rows[1].second = comparison(RIDGE_VERDICT_CANNOT_TELL, -0.001, 0.02, 16);
    summary.rows[2].second = comparison(RIDGE_VERDICT_REGRESSED, 0.048, 0.003, 256);
    summary.rows[1].has_second = summary.rows[2].has_second = true;
    compare_summary_decide(&summary);
    assert_int_equal(summary.rows[1].verdict, RIDGE_VERDICT_CANNOT_TELL);
    assert_int_equal(summary.rows[2].verdict, RIDGE_VERDICT_REGRESSED);
    assert_true(summary.rows[2].holm_p <= 0.05);
    assert_int_equal(summary.counts[RIDGE_VERDICT_SAME], 2);
    assert_int_equal(summary.geomean_count, 4);
    assert_int_equal(compare_summary_exit(&summary), 1);
    compare_summary_release(&summary);
}

static struct exit_case {
    const char *name;
    ridge_bench_verdict verdict;
    bool is_interrupted, require_decision, require_change;
    int exit_status;
} exit_cases[] = {
    {"improved", RIDGE_VERDICT_IMPROVED, false, false, false, 0},
    {"regressed", RIDGE_VERDICT_REGRESSED, false, false, false, 1},
    {"regressed and interrupted", RIDGE_VERDICT_REGRESSED, true, false, false, 1},
    {"same", RIDGE_VERDICT_SAME, false, true, true, 0},
    {"slower, small", RIDGE_VERDICT_SLOWER_SMALL, false, true, true, 0},
    {"cannot tell", RIDGE_VERDICT_CANNOT_TELL, false, false, false, 0},
    {"cannot tell, must", RIDGE_VERDICT_CANNOT_TELL, false, true, false, 1},
    {"identical", RIDGE_VERDICT_IDENTICAL_CODE, false, false, false, 0},
    {"identical, must change", RIDGE_VERDICT_IDENTICAL_CODE, false, false, true, 1},
    {"invalid", RIDGE_VERDICT_INVALID, false, false, false, 4},
    {"interrupted", RIDGE_VERDICT_SAME, true, false, false, 4},
};

static void exits(void **state)
{
    const struct exit_case *const test = *state;
    struct compare_summary summary = {.wanted_count = 1,
                                      .is_interrupted = test->is_interrupted,
                                      .require_decision = test->require_decision,
                                      .require_change = test->require_change};
    const ridge_comparison one = comparison(test->verdict, 0.0, 0.01, 1);

    assert_true(compare_summary_add(&summary, &one));
    compare_summary_decide(&summary);
    assert_int_equal(compare_summary_exit(&summary), test->exit_status);
    compare_summary_release(&summary);
}

int main(void)
{
    static cases list;

    cases_add(&list, "one case", prints_one_case, NULL);
    cases_add(&list, "what would decide", says_what_would_decide, NULL);
    cases_add(&list, "invalid case", prints_an_invalid_case, NULL);
    cases_add(&list, "plug-ins by name", names_a_plug_in_as_given, NULL);
    cases_add(&list, "sweep", decides_a_sweep, NULL);
    CASES_ADD_ROWS(&list, exits, exit_cases);
    return cases_run(&list, "compare_print");
}
