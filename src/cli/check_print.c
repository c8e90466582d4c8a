/* SPDX-License-Identifier: Apache-2.0
 *
 * The verdict of ridge check in one line, then where the first wrong case is wrong. */
#include "check_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "measure_cli.h"

enum { LABEL_COLUMNS = 14, FAILURES_SHOWN = 8, REASONS_SHOWN = 6 };

/* -- collecting -------------------------------------------------------------------------------- */

/* A reason without what differs from case to case: numbers, and the case's own type and layout. */
static void mask(const char *text, const ridge_case *at, char *out, size_t size)
{
    const char *const words[] = {ridge_layout_name(at->layout), ridge_dtype_name(at->dtype)};
    size_t used = 0, i;

    while (*text != '\0' && used + 1 < size) {
        size_t length = strspn(text, "0123456789");

        for (i = 0; i < 2 && length == 0; i++)
            if (strncmp(text, words[i], strlen(words[i])) == 0)
                length = strlen(words[i]);
        out[used++] = length > 0 ? '#' : *text;
        text += length > 0 ? length : 1;
    }
    out[used] = '\0';
}

static void add_reason(struct check_summary *summary, const ridge_test_result *test,
                       const ridge_case *at)
{
    char masked[sizeof(summary->reasons[0].masked)];
    size_t i;

    mask(test->text, at, masked, sizeof(masked));
    for (i = 0; i < summary->reason_count; i++) {
        struct check_reason *const reason = &summary->reasons[i];

        if (reason->outcome == test->outcome && strcmp(reason->masked, masked) == 0 &&
            (test->outcome == RIDGE_OUTCOME_REFUSED || reason->test == test->test)) {
            reason->count++;
            reason->varies = reason->varies || strcmp(reason->text, test->text) != 0;
            return;
        }
    }
    if (summary->reason_count == CHECK_REASONS)
        return;
    summary->reasons[summary->reason_count] =
        (struct check_reason){.test = test->test, .outcome = test->outcome, .count = 1};
    snprintf(summary->reasons[summary->reason_count].text,
             sizeof(summary->reasons[summary->reason_count].text), "%s", test->text);
    memcpy(summary->reasons[summary->reason_count].masked, masked, sizeof(masked));
    ridge_case_text(at, summary->reasons[summary->reason_count].case_text,
                    sizeof(summary->reasons[summary->reason_count].case_text));
    summary->reason_count++;
}

static const ridge_test_result *first_of(const ridge_check_result *result, ridge_outcome outcome)
{
    size_t i;

    for (i = 0; i < result->test_count; i++)
        if (result->tests[i].outcome == outcome)
            return &result->tests[i];
    return NULL;
}

static void add_failure(struct check_summary *summary, const ridge_check_result *result)
{
    const ridge_test_result *const test = first_of(result, result->outcome);
    const bool is_worse = summary->has_first && summary->first.outcome != RIDGE_OUTCOME_FAIL &&
                          result->outcome == RIDGE_OUTCOME_FAIL;
    struct check_failure *failure;

    if (!summary->has_first || is_worse)
        summary->first = *result;
    summary->has_first = true;
    if (summary->failure_count == CHECK_FAILURES)
        return;
    failure = &summary->failures[summary->failure_count++];
    ridge_case_text(&result->at, failure->case_text, sizeof(failure->case_text));
    failure->outcome = result->outcome;
    failure->test = test != NULL ? test->test : result->mismatch_test;
    snprintf(failure->text, sizeof(failure->text), "%s", test != NULL ? test->text : "");
}

void check_summary_add(struct check_summary *summary, const ridge_check_result *result)
{
    size_t i;

    summary->case_count++;
    summary->has_axes = summary->has_axes || result->at.axis_count > 0;
    summary->duration_s += result->duration_s;
    for (i = 0; i < result->test_count; i++) {
        const ridge_test_result *const test = &result->tests[i];

        if (test->outcome == RIDGE_OUTCOME_PASS || test->outcome == RIDGE_OUTCOME_SUSPICIOUS)
            summary->tests_passed[test->test]++;
        else if (test->outcome == RIDGE_OUTCOME_FAIL)
            summary->tests_failed[test->test]++;
        else if (test->outcome == RIDGE_OUTCOME_SKIPPED || result->outcome == test->outcome)
            add_reason(summary, test, &result->at);
    }
    check_extents_add(summary, result);
    switch (result->outcome) {
    case RIDGE_OUTCOME_PASS:
        summary->passed++;
        summary->layouts_passed[result->at.layout]++;
        break;
    case RIDGE_OUTCOME_SUSPICIOUS:
        summary->suspicious++;
        add_failure(summary, result);
        break;
    case RIDGE_OUTCOME_FAIL:
        summary->failed++;
        summary->layouts_failed[result->at.layout]++;
        add_failure(summary, result);
        break;
    case RIDGE_OUTCOME_REFUSED:
        summary->refused++;
        return;
    case RIDGE_OUTCOME_SKIPPED:
        summary->skipped++;
        return;
    }
    if (!result->is_verified)
        summary->unverified++;
    if (isfinite(result->worst_scaled_error)) {
        if (!summary->has_bound || result->worst_scaled_error > summary->worst_scaled_error)
            summary->worst_scaled_error = result->worst_scaled_error;
        summary->has_bound = true;
    }
}

void check_summary_shrunk(struct check_summary *summary, const ridge_check_result *result)
{
    summary->shrunk = *result;
    summary->has_shrunk = true;
}

int check_summary_exit(const struct check_summary *summary)
{
    if (summary->stop_exit != CLI_DONE)
        return summary->stop_exit;
    if (summary->failed > 0 || summary->sanitizer_failed)
        return CLI_NO;
    if (summary->is_interrupted)
        return ridge_status_exit(RIDGE_ERR_CUDA);
    return summary->passed + summary->suspicious == 0 ? CLI_NO : CLI_DONE;
}

/* -- the verdict ------------------------------------------------------------------------------- */

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* ", integers exact": a test that passed wherever it was made, and was made. */
static void add_test_words(const struct check_summary *summary, ridge_test test, const char *words,
                           char *text, size_t size)
{
    const size_t used = strlen(text);

    if (summary->tests_passed[test] > 0 && summary->tests_failed[test] == 0)
        snprintf(text + used, size - used, ", %s", words);
}

/* Not all cases were looked at: what was is no verdict on the kernel. */
static bool is_cut_short(const struct check_summary *summary)
{
    return summary->is_interrupted || summary->stop_exit != CLI_DONE;
}

static const char *cut_text(const struct check_summary *summary)
{
    return summary->is_interrupted ? "interrupted" : "stopped by an error";
}

static void write_right(const struct check_summary *summary, char *text, size_t size)
{
    const size_t done = summary->passed + summary->suspicious;
    const bool is_verified = summary->unverified < done;
    size_t used = (size_t)snprintf(text, size, "%s: ", summary->kernel);

    if (is_cut_short(summary))
        used += (size_t)snprintf(text + used, size - used, "%s, %s so far: ", cut_text(summary),
                                 is_verified ? "right" : "unverified, no reference");
    else
        used += (size_t)snprintf(text + used, size - used,
                                 "%s: ", is_verified ? "right" : "unverified, no reference");

    if (summary->unverified > 0 && summary->unverified < done)
        used += (size_t)snprintf(text + used, size - used, "%zu of ", done - summary->unverified);
    used += (size_t)snprintf(text + used, size - used, "%zu case%s", done, plural(done));
    if (summary->has_bound && used < size)
        snprintf(text + used, size - used, ", worst error %.2g of the bound",
                 summary->worst_scaled_error);
    add_test_words(summary, RIDGE_TEST_INTEGERS, "integers exact", text, size);
    add_test_words(summary, RIDGE_TEST_REPEAT, "repeatable", text, size);
    add_test_words(summary, RIDGE_TEST_GUARDS, "guards intact", text, size);
}

static void write_verdict(ridge_output *output, const struct check_summary *summary)
{
    const size_t tried = summary->passed + summary->suspicious + summary->failed;
    ridge_style style = RIDGE_STYLE_BAD;
    bool is_told = false;
    char text[400];

    if (summary->failed > 0) {
        snprintf(text, sizeof(text), "%s: wrong in %zu of %zu case%s", summary->kernel,
                 summary->failed, tried, plural(tried));
    } else if (tried == 0 && summary->case_count == 0) {
        snprintf(text, sizeof(text), "%s: not checked: no case was run", summary->kernel);
    } else if (tried == 0 && summary->refused == 0 && summary->reason_count == 1) {
        snprintf(text, sizeof(text), "%s: not checked: %s", summary->kernel,
                 summary->reasons[0].text);
    } else if (tried == 0) {
        snprintf(text, sizeof(text), "%s: not checked: %s %s%zu case%s", summary->kernel,
                 summary->refused > 0 ? "refuses" : "skipped",
                 summary->case_count == 1 ? "the " : "all ", summary->case_count,
                 plural(summary->case_count));
    } else if (summary->sanitizer_failed) {
        snprintf(text, sizeof(text),
                 "%s: compute-sanitizer does not pass it, values are right in %zu case%s",
                 summary->kernel, tried, plural(tried));
    } else if (summary->suspicious > 0) {
        style = RIDGE_STYLE_WARN;
        snprintf(text, sizeof(text),
                 "%s: suspicious in %zu of %zu case%s: more error than rounding explains, but "
                 "within the bound",
                 summary->kernel, summary->suspicious, tried, plural(tried));
    } else {
        style = is_cut_short(summary) ? RIDGE_STYLE_WARN : RIDGE_STYLE_GOOD;
        is_told = true;
        write_right(summary, text, sizeof(text));
    }
    ridge_output_styled(output, style, text);
    if (summary->no_axes != NULL && !summary->has_axes && tried > 0)
        ridge_output_format(output, "; one shape only: %s", summary->no_axes);
    if (is_cut_short(summary) && !is_told)
        ridge_output_format(output, " (%s)", cut_text(summary));
    ridge_output_text(output, "\n");
}

/* -- where it is wrong ------------------------------------------------------------------------- */

static void add_index(char *text, size_t size, const ridge_mismatch *mismatch, int64_t index)
{
    int64_t at[RIDGE_BUFFER_DIMS] = {0};
    size_t used = strlen(text);
    int axis;

    for (axis = mismatch->ndim - 1; axis >= 0; axis--) {
        const int64_t extent = mismatch->shape[axis] > 0 ? mismatch->shape[axis] : 1;

        at[axis] = index % extent;
        index /= extent;
    }
    used += (size_t)snprintf(text + used, size - used, "[");
    for (axis = 0; axis < mismatch->ndim && used < size; axis++)
        used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, axis > 0 ? ", " : "",
                                 at[axis]);
    if (used < size)
        snprintf(text + used, size - used, "]");
}

static void write_extent(ridge_output *output, const ridge_mismatch *mismatch)
{
    char text[400], number[2][32];
    int axis;

    snprintf(text, sizeof(text), "%s of %s element%s of %s",
             ridge_number_text((double)mismatch->wrong_count, RIDGE_UNIT_COUNT, number[0], 32),
             ridge_number_text((double)mismatch->element_count, RIDGE_UNIT_COUNT, number[1], 32),
             mismatch->element_count == 1 ? "" : "s", mismatch->name);
    if (mismatch->ndim > 0 && mismatch->first_index >= 0) {
        snprintf(text + strlen(text), sizeof(text) - strlen(text), ", first ");
        add_index(text, sizeof(text), mismatch, mismatch->first_index);
        snprintf(text + strlen(text), sizeof(text) - strlen(text), ", last ");
        add_index(text, sizeof(text), mismatch, mismatch->last_index);
        snprintf(text + strlen(text), sizeof(text) - strlen(text), ", within ");
        for (axis = 0; axis < mismatch->ndim; axis++)
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%" PRId64 "-%" PRId64,
                     axis > 0 ? " x " : "", mismatch->box_first[axis], mismatch->box_last[axis]);
    }
    cli_labelled(output, LABEL_COLUMNS, "wrong", text);
}

static void write_worst(ridge_output *output, const ridge_mismatch *mismatch)
{
    const int digits = 2 * (int)ridge_dtype_bytes(mismatch->dtype);
    char text[300] = "";

    if (mismatch->worst_index < 0)
        return;
    add_index(text, sizeof(text), mismatch, mismatch->worst_index);
    snprintf(text + strlen(text), sizeof(text) - strlen(text),
             " is %.9g (0x%0*" PRIx64 "), expected %.9g (0x%0*" PRIx64 ")", mismatch->worst_out,
             digits, mismatch->worst_out_bits, mismatch->worst_ref, digits,
             mismatch->worst_ref_bits);
    if (isfinite(mismatch->worst_scaled_error))
        snprintf(text + strlen(text), sizeof(text) - strlen(text), ": %.3g x the bound",
                 mismatch->worst_scaled_error);
    cli_labelled(output, LABEL_COLUMNS, "worst", text);
}

static void write_regions(ridge_output *output, const ridge_mismatch *mismatch)
{
    static const char *const names[] = {"axis 0", "axis 1", "axis 2", "axis 3", "axis 4"};
    const ridge_mismatch_period *const period = &mismatch->period;
    char text[600] = "", share[32];
    size_t used = 0, i;

    for (i = 0; i < mismatch->region_count && used < sizeof(text); i++) {
        const ridge_mismatch_region *const region = &mismatch->regions[i];

        if (region->share_frac <= 0 || region->axis < 0 || region->axis >= RIDGE_BUFFER_DIMS)
            continue;
        used += (size_t)snprintf(
            text + used, sizeof(text) - used, "%s%s %" PRId64 "-%" PRId64 ": %s",
            used > 0 ? "; " : "", names[region->axis], region->first, region->last,
            ridge_number_text(region->share_frac, RIDGE_UNIT_FRAC, share, sizeof(share)));
    }
    cli_labelled(output, LABEL_COLUMNS, "where", text);
    if (period->axis < 0 || period->axis >= RIDGE_BUFFER_DIMS || period->modulus <= 0)
        return;
    snprintf(text, sizeof(text),
             "%s mod %" PRId64 " in %" PRId64 "-%" PRId64 ": %s of the wrong ones, %.3gx chance",
             names[period->axis], period->modulus, period->residue_first, period->residue_last,
             ridge_number_text(period->share_frac, RIDGE_UNIT_FRAC, share, sizeof(share)),
             period->lift);
    cli_labelled(output, LABEL_COLUMNS, "period", text);
}

static void write_relations(ridge_output *output, const ridge_mismatch *mismatch)
{
    char text[600] = "", share[32];
    size_t used = 0, i;

    for (i = 0; i < mismatch->relation_count && used < sizeof(text); i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s: %s", used > 0 ? "; " : "",
                                 mismatch->relations[i].text,
                                 ridge_number_text(mismatch->relations[i].share_frac,
                                                   RIDGE_UNIT_FRAC, share, sizeof(share)));
    cli_labelled(output, LABEL_COLUMNS, "values", text);
}

static void write_opinion(ridge_output *output, const ridge_mismatch *mismatch)
{
    char text[200];

    if (!isfinite(mismatch->plain_ratio))
        return;
    snprintf(text, sizeof(text),
             "greatest error %.3g, of plain evaluation %.3g: %.3gx over quantiles and rows",
             mismatch->error_quantiles[3], mismatch->plain_quantiles[3], mismatch->plain_ratio);
    cli_labelled(output, LABEL_COLUMNS, "plain", text);
}

static bool is_blank(const ridge_mismatch *mismatch, int row)
{
    int column;

    for (column = 0; column < mismatch->picture_columns; column++)
        if (mismatch->picture[row][column] != ' ')
            return false;
    return true;
}

static void write_row(ridge_output *output, const ridge_mismatch *mismatch, int row)
{
    ridge_output_format(output, "  |%.*s|\n", RIDGE_MISMATCH_PICTURE, mismatch->picture[row]);
}

/* Lines without a failure are counted, not drawn. A picture says something when failures are neither everywhere nor in a few cells, which are told
 * by their places. */
static void write_picture(ridge_output *output, const ridge_mismatch *mismatch)
{
    int marked = 0, blank = 0, row, column;

    if (mismatch->picture_rows < 2 || mismatch->picture_columns < 2)
        return;
    for (row = 0; row < mismatch->picture_rows; row++)
        for (column = 0; column < mismatch->picture_columns; column++)
            marked += mismatch->picture[row][column] != ' ';
    if (marked < 2 || marked * 100 < mismatch->picture_rows * mismatch->picture_columns ||
        marked == mismatch->picture_rows * mismatch->picture_columns)
        return;
    ridge_output_format(output, "\n  failing share, axis %d down, axis %d across\n",
                        mismatch->picture_axis[0], mismatch->picture_axis[1]);
    for (row = 0; row <= mismatch->picture_rows; row++) {
        if (row < mismatch->picture_rows && is_blank(mismatch, row)) {
            blank++;
            continue;
        }
        if (blank == 1)
            write_row(output, mismatch, row - 1);
        else if (blank > 1)
            ridge_output_format(output, "  %d blank lines\n", blank);
        blank = 0;
        if (row < mismatch->picture_rows)
            write_row(output, mismatch, row);
    }
}

static void write_reproduction(ridge_output *output, const struct check_summary *summary,
                               const ridge_check_result *result, ridge_test test)
{
    char text[RIDGE_CASE_TEXT];

    ridge_case_text(&result->at, text, sizeof(text));
    ridge_output_format(output, "\n  ridge check %s --case '%s' --only %s%s\n", summary->word, text,
                        ridge_test_name(test), summary->options);
}

static void write_first(ridge_output *output, const struct check_summary *summary)
{
    const ridge_check_result *const result =
        summary->has_shrunk ? &summary->shrunk : &summary->first;
    const ridge_mismatch *const mismatch = &result->mismatch;
    const ridge_test_result *const test = first_of(result, result->outcome);
    char text[RIDGE_CASE_TEXT + 80], first[RIDGE_CASE_TEXT];
    size_t used;

    ridge_output_text(output, "\n");
    switch (check_summary_cause(summary, text, sizeof(text))) {
    case CHECK_CAUSE_LAYOUTS:
        cli_labelled(output, LABEL_COLUMNS, "likely", text);
        break;
    case CHECK_CAUSE_EXTENTS:
        cli_labelled(output, LABEL_COLUMNS, "likely", text);
        cli_labelled(output, LABEL_COLUMNS, "looks like", mismatch->cause);
        break;
    case CHECK_CAUSE_NONE:
        cli_labelled(output, LABEL_COLUMNS, "likely", mismatch->cause);
        break;
    }
    measure_case_text(&result->at, text, sizeof(text));
    measure_case_text(&summary->first.at, first, sizeof(first));
    used = strlen(text);
    if (summary->has_shrunk && strcmp(text, first) != 0)
        snprintf(text + used, sizeof(text) - used, ", shrunk from %s", first);
    cli_labelled(output, LABEL_COLUMNS, "case", text);
    if (test != NULL) {
        const bool is_said = test->text[0] == '\0' || mismatch->cause[0] != '\0';

        snprintf(text, sizeof(text), "%s%s%s", ridge_test_name(test->test), is_said ? "" : ": ",
                 is_said ? "" : test->text);
        cli_labelled(output, LABEL_COLUMNS, "test", text);
    }
    if (mismatch->wrong_count > 0 || mismatch->match == RIDGE_MATCH_SUSPICIOUS) {
        write_extent(output, mismatch);
        write_worst(output, mismatch);
        write_regions(output, mismatch);
        write_relations(output, mismatch);
        write_opinion(output, mismatch);
        write_picture(output, mismatch);
    }
    write_reproduction(output, summary, result, test != NULL ? test->test : result->mismatch_test);
}

/* -- the rest ---------------------------------------------------------------------------------- */

static void write_others(ridge_output *output, const struct check_summary *summary)
{
    const size_t count = summary->failed + summary->suspicious;
    size_t shown = 0, i;

    if (count < 2)
        return;
    ridge_output_text(output, "\n");
    for (i = 0; i < summary->failure_count && shown < FAILURES_SHOWN; i++) {
        const struct check_failure *const failure = &summary->failures[i];

        ridge_output_format(output, "  %-10s %-10s %s\n",
                            failure->outcome == RIDGE_OUTCOME_FAIL ? "wrong" : "suspicious",
                            ridge_test_name(failure->test), failure->case_text);
        shown++;
    }
    if (count > shown)
        ridge_output_format(output, "  and %zu more: --json lists them\n", count - shown);
}

/* Refusals are the kernel's and are said with their reasons; tests that were not possible are named,
 * and --json has why. */
static void write_reasons(ridge_output *output, const struct check_summary *summary)
{
    bool is_named[RIDGE_TEST_COUNT] = {false}, is_named_case;
    char text[RIDGE_CASE_TEXT + 300] = "";
    size_t used = 0, shown = 0, i;

    for (i = 0; i < summary->reason_count; i++) {
        const struct check_reason *const reason = &summary->reasons[i];

        if (reason->outcome != RIDGE_OUTCOME_REFUSED) {
            is_named[reason->test] =
                summary->tests_passed[reason->test] + summary->tests_failed[reason->test] == 0;
            continue;
        }
        if (shown++ >= REASONS_SHOWN)
            continue;
        is_named_case = reason->varies && reason->case_text[0] != '\0';
        snprintf(text, sizeof(text), "%zu case%s: %s%s%s%s", reason->count, plural(reason->count),
                 reason->text, is_named_case ? " (the first: " : "",
                 is_named_case ? reason->case_text : "", is_named_case ? ")" : "");
        cli_labelled(output, LABEL_COLUMNS, "refused", text);
    }
    if (shown > REASONS_SHOWN)
        ridge_output_format(output, "  %-*sand for %zu more reasons: --json lists them\n",
                            LABEL_COLUMNS - 2, "", shown - REASONS_SHOWN);
    for (i = 0; i < RIDGE_TEST_COUNT && used < sizeof(text); i++)
        if (is_named[i])
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", used > 0 ? ", " : "",
                                     ridge_test_name((ridge_test)i));
    if (used > 0 && used < sizeof(text)) {
        snprintf(text + used, sizeof(text) - used, " (--json says why)");
        cli_labelled(output, LABEL_COLUMNS, "not tested", text);
    }
}

void check_write_text(ridge_output *output, const struct check_summary *summary)
{
    write_verdict(output, summary);
    if (summary->has_first)
        write_first(output, summary);
    write_others(output, summary);
    if (summary->has_first && summary->reason_count > 0)
        ridge_output_text(output, "\n");
    write_reasons(output, summary);
    cli_labelled(output, LABEL_COLUMNS, "sanitizer", summary->sanitizer);
}
