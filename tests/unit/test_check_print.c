/* SPDX-License-Identifier: Apache-2.0
 *
 * What ridge check prints, from literal results. */
#include "cases.h"

#include <math.h>

#include "check_print.h"
#include "options.h"

/* Of main.c, which options.c asks. */
const struct command commands[] = {{NULL}};
const struct command *command_find(const char *name)
{
    (void)name;
    return NULL;
}

static void caught_has(caught *in, const char *part)
{
    assert_int_equal(caught_close(in, NULL), RIDGE_OK);
    if (strstr(in->text, part) == NULL)
        fail_msg("no \"%s\" in:\n%s", part, in->text);
    free(in->text);
}

static ridge_check_result refused(int64_t n, ridge_layout layout, const char *text)
{
    ridge_check_result out = {.outcome = RIDGE_OUTCOME_REFUSED, .test_count = 1};

    ridge_case_init(&out.at);
    ridge_case_set(&out.at, "n", n, NULL);
    out.at.layout = layout;
    out.tests[0].outcome = RIDGE_OUTCOME_REFUSED;
    snprintf(out.tests[0].text, sizeof(out.tests[0].text), "%s", text);
    return out;
}

/* Reasons that differ in numbers, or in the layout of the case, are one. */
static void groups_refusals(void **state)
{
    static struct check_summary summary;
    const ridge_check_result results[] = {
        refused(105, RIDGE_LAYOUT_CONTIGUOUS, "rows of 105 elements, 105 apart, are no vectors"),
        refused(1, RIDGE_LAYOUT_CONTIGUOUS, "rows of 1 elements, 9 apart, are no vectors"),
        refused(8, RIDGE_LAYOUT_PADDED, "layout pad8: no stride is told"),
        refused(8, RIDGE_LAYOUT_TRANSPOSED, "layout transposed: no stride is told"),
        refused(8, RIDGE_LAYOUT_CONTIGUOUS, "a tensor begins anywhere"),
    };
    caught out;
    size_t i;

    (void)state;
    summary = (struct check_summary){.kernel = "norm", .word = "norm", .options = ""};
    for (i = 0; i < sizeof(results) / sizeof(results[0]); i++)
        check_summary_add(&summary, &results[i]);
    caught_open(&out, 100, false);
    check_write_text(out.output, &summary);
    caught_is(&out, "norm: not checked: refuses all 5 cases\n"
                    "  refused     2 cases: rows of 105 elements, 105 apart, are no vectors (the "
                    "first: n=105)\n"
                    "  refused     2 cases: layout pad8: no stride is told (the first: "
                    "n=8,layout=pad8)\n"
                    "  refused     1 case: a tensor begins anywhere\n");
}

/* One is no plural. */
static void counts_one(void **state)
{
    static struct check_summary summary;
    ridge_check_result result = refused(8, RIDGE_LAYOUT_CONTIGUOUS, "a tensor begins anywhere");
    caught out;

    (void)state;
    summary = (struct check_summary){.kernel = "norm", .word = "norm", .options = ""};
    check_summary_add(&summary, &result);
    caught_open(&out, 100, false);
    check_write_text(out.output, &summary);
    caught_is(&out, "norm: not checked: refuses the 1 case\n"
                    "  refused     1 case: a tensor begins anywhere\n");
    summary = (struct check_summary){.kernel = "norm", .word = "norm", .options = ""};
    result.outcome = result.tests[0].outcome = RIDGE_OUTCOME_FAIL;
    result.mismatch.match = RIDGE_MATCH_WRONG;
    result.mismatch.wrong_count = result.mismatch.element_count = 1;
    snprintf(result.mismatch.name, sizeof(result.mismatch.name), "out");
    check_summary_add(&summary, &result);
    caught_open(&out, 100, false);
    check_write_text(out.output, &summary);
    assert_int_equal(caught_close(&out, NULL), RIDGE_OK);
    assert_non_null(strstr(out.text, "1 of 1 element of out"));
    free(out.text);
}

static ridge_check_result judged(ridge_layout layout, ridge_outcome outcome)
{
    ridge_check_result out = {.outcome = outcome, .test_count = 1, .is_verified = true};

    ridge_case_init(&out.at);
    out.at.layout = layout;
    out.tests[0].outcome = outcome;
    out.worst_scaled_error = NAN;
    return out;
}

/* Wrong in one layout only, and right in others: that is said, not what the wrong elements look like. */
static void names_the_layout(void **state)
{
    static struct check_summary summary;
    caught out;

    (void)state;
    summary = (struct check_summary){.kernel = "norm", .word = "norm", .options = ""};
    for (int i = 0; i < 2; i++) {
        ridge_check_result right = judged(RIDGE_LAYOUT_CONTIGUOUS, RIDGE_OUTCOME_PASS);
        ridge_check_result wrong = judged(RIDGE_LAYOUT_TRANSPOSED, RIDGE_OUTCOME_FAIL);

        snprintf(wrong.mismatch.cause, sizeof(wrong.mismatch.cause), "column 1 is not written");
        check_summary_add(&summary, &right);
        check_summary_add(&summary, &wrong);
    }
    caught_open(&out, 100, false);
    check_write_text(out.output, &summary);
    caught_is(&out, "norm: wrong in 2 of 4 cases\n\n"
                    "  likely      only layout=transposed fails: strides are ignored\n"
                    "  case        bf16 transposed\n"
                    "  test        values\n\n"
                    "  ridge check norm --case 'layout=transposed' --only values\n\n"
                    "  wrong      values     layout=transposed\n"
                    "  wrong      values     layout=transposed\n");
}

/* Several layouts, and the shrunk case is right in contiguous memory: strides. Where that is not said,
 * as of a fault of small cases which happen to be strided, it is not. */
static void names_the_strides(void **state)
{
    static struct check_summary summary;
    static ridge_check_result shrunk;
    char text[300];

    (void)state;
    summary = (struct check_summary){.kernel = "norm", .word = "norm", .options = ""};
    for (int i = 0; i < 2; i++) {
        ridge_check_result right = judged(RIDGE_LAYOUT_CONTIGUOUS, RIDGE_OUTCOME_PASS);
        ridge_check_result wrong =
            judged(i == 0 ? RIDGE_LAYOUT_PADDED : RIDGE_LAYOUT_SLICED, RIDGE_OUTCOME_FAIL);

        check_summary_add(&summary, &right);
        check_summary_add(&summary, &wrong);
    }
    assert_int_equal(check_summary_cause(&summary, text, sizeof(text)), CHECK_CAUSE_NONE);
    shrunk = judged(RIDGE_LAYOUT_CONTIGUOUS, RIDGE_OUTCOME_FAIL);
    check_summary_shrunk(&summary, &shrunk);
    assert_int_equal(check_summary_cause(&summary, text, sizeof(text)), CHECK_CAUSE_NONE);
    shrunk = judged(RIDGE_LAYOUT_PADDED, RIDGE_OUTCOME_FAIL);
    snprintf(shrunk.mismatch.cause_id, sizeof(shrunk.mismatch.cause_id), "layout");
    check_summary_shrunk(&summary, &shrunk);
    assert_int_equal(check_summary_cause(&summary, text, sizeof(text)), CHECK_CAUSE_LAYOUTS);
    assert_string_equal(text,
                        "only layout=pad8, sliced fail, contiguous passes: strides are ignored");
}

/* Cases of m and n by whether they failed: "n" when n, "-n" when not. */
static struct extents_row {
    const char *name, *cause; /* NULL: none */
    int64_t n[12];            /* negative: passes; 0 ends */
} extents_rows[] = {
    {"odd widths",
     "only where n is odd: the tail of a vector or of an unrolled loop",
     {7, 769, 5, -6, -10, -16, -32}},
    {"odd widths, others multiples of 8",
     "only where n is odd, all that pass are multiples of 8: the tail of a vector or of an "
     "unrolled "
     "loop",
     {7, 769, 5, -8, -1000, -16}},
    {"no multiples of 8",
     "only where n is no multiple of 8: the tail of a vector or of an unrolled loop",
     {7, 12, 20, 769, -8, -24, -1000}},
    {"a width that is odd passes", NULL, {7, 769, -5, -8, -1000, -16}},
    {"a width of 1 passes", "only where n is odd: ", {7, 769, -1, -10, -1000, -16}},
    {"a multiple fails too", NULL, {7, 12, 20, 64, -8, -24, -1000}},
    {"one width", NULL, {7, 7, -8, -16}},
    {"nothing right to compare with", NULL, {7, 9, -8, -8}},
};

static void tells_extents(void **state)
{
    static struct check_summary summary;
    const struct extents_row *const row = *state;
    char text[300];

    summary = (struct check_summary){.kernel = "norm", .word = "norm", .options = ""};
    for (int i = 0; row->n[i] != 0; i++) {
        ridge_check_result result = judged(RIDGE_LAYOUT_CONTIGUOUS,
                                           row->n[i] > 0 ? RIDGE_OUTCOME_FAIL : RIDGE_OUTCOME_PASS);

        ridge_case_set(&result.at, "m", 3 + i % 2, NULL);
        ridge_case_set(&result.at, "n", row->n[i] > 0 ? row->n[i] : -row->n[i], NULL);
        check_summary_add(&summary, &result);
    }
    if (row->cause == NULL) {
        assert_int_equal(check_summary_cause(&summary, text, sizeof(text)), CHECK_CAUSE_NONE);
        return;
    }
    assert_int_equal(check_summary_cause(&summary, text, sizeof(text)), CHECK_CAUSE_EXTENTS);
    if (strncmp(text, row->cause, strlen(row->cause)) != 0)
        fail_msg("%s", text);
}

/* What Ctrl-C cut short is no success, unless something was wrong before. */
static void is_not_right_when_interrupted(void **state)
{
    static struct check_summary summary;
    ridge_check_result result = judged(RIDGE_LAYOUT_CONTIGUOUS, RIDGE_OUTCOME_PASS);
    caught out;

    (void)state;
    summary = (struct check_summary){
        .kernel = "norm", .word = "norm", .options = "", .is_interrupted = true};
    check_summary_add(&summary, &result);
    assert_int_equal(check_summary_exit(&summary), 4);
    caught_open(&out, 100, false);
    check_write_text(out.output, &summary);
    caught_is(&out, "norm: interrupted, right so far: 1 case\n");
    result.outcome = RIDGE_OUTCOME_FAIL;
    check_summary_add(&summary, &result);
    assert_int_equal(check_summary_exit(&summary), 1);
}

/* An error of CUDA, of memory or of the device in the third case: what was right before is no
 * verdict, in the headline, in JSON and in the exit status. */
static void is_not_right_when_stopped(void **state)
{
    static struct check_summary summary;
    ridge_check_result result = judged(RIDGE_LAYOUT_CONTIGUOUS, RIDGE_OUTCOME_PASS);
    caught out;

    (void)state;
    summary =
        (struct check_summary){.kernel = "norm", .word = "norm", .options = "", .stop_exit = 5};
    check_summary_add(&summary, &result);
    check_summary_add(&summary, &result);
    assert_int_equal(check_summary_exit(&summary), 5);
    caught_open(&out, 100, false);
    check_write_text(out.output, &summary);
    caught_is(&out, "norm: stopped by an error, right so far: 2 cases\n");
    caught_open(&out, 100, false);
    check_write_json(out.output, &summary);
    caught_has(&out, "\"is_right\": false");
    result.outcome = RIDGE_OUTCOME_FAIL;
    check_summary_add(&summary, &result);
    assert_int_equal(check_summary_exit(&summary), 5);
    caught_open(&out, 100, false);
    check_write_text(out.output, &summary);
    caught_has(&out, "norm: wrong in 1 of 3 cases (stopped by an error)\n");
}

/* Of a picture of 49 lines with one bad row one is drawn. */
static void leaves_out_blank_lines(void **state)
{
    static struct check_summary summary;
    static ridge_check_result wrong;
    ridge_mismatch *const of = &wrong.mismatch;
    caught out;

    (void)state;
    wrong = judged(RIDGE_LAYOUT_CONTIGUOUS, RIDGE_OUTCOME_FAIL);
    of->match = RIDGE_MATCH_WRONG;
    of->wrong_count = 1;
    of->worst_index = of->first_index = -1;
    of->picture_axis[1] = 1;
    of->period.axis = -1;
    of->plain_ratio = NAN;
    of->picture_rows = 49;
    of->picture_columns = 4;
    for (int row = 0; row < 49; row++)
        memcpy(of->picture[row], row == 1 || row == 3 ? "####" : "    ", 5);
    summary = (struct check_summary){.kernel = "norm", .word = "norm", .options = ""};
    check_summary_add(&summary, &wrong);
    caught_open(&out, 100, false);
    check_write_text(out.output, &summary);
    caught_has(&out, "across\n  |    |\n  |####|\n  |    |\n  |####|\n  45 blank lines\n\n");
}

int main(void)
{
    static cases list;

    cases_add(&list, "groups refusals", groups_refusals, NULL);
    cases_add(&list, "counts one", counts_one, NULL);
    cases_add(&list, "names the layout", names_the_layout, NULL);
    cases_add(&list, "names the strides", names_the_strides, NULL);
    CASES_ADD_ROWS(&list, tells_extents, extents_rows);
    cases_add(&list, "interrupted", is_not_right_when_interrupted, NULL);
    cases_add(&list, "stopped by an error", is_not_right_when_stopped, NULL);
    cases_add(&list, "blank lines of the picture", leaves_out_blank_lines, NULL);
    return cases_run(&list, "check_print");
}
