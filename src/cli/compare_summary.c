/* SPDX-License-Identifier: Apache-2.0
 *
 * From comparisons of cases to the answer of a sweep. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_print.h"
#include "measure_cli.h"

/* One-sided: a two-sided interval of 95 %. */
static const double confirm_p = 0.025;
/* Of both runs together, after Holm. */
static const double claim_p = 0.05;

bool compare_summary_add(struct compare_summary *summary, const ridge_comparison *comparison)
{
    struct compare_row *row;

    if (summary->row_count == summary->room) {
        const size_t room = 2 * summary->room + 8;
        struct compare_row *const grown = realloc(summary->rows, room * sizeof(*grown));

        if (grown == NULL)
            return false;
        summary->rows = grown;
        summary->room = room;
    }
    row = &summary->rows[summary->row_count++];
    memset(row, 0, sizeof(*row));
    row->first = *comparison;
    row->p = row->holm_p = NAN;
    row->verdict = comparison->verdict;
    return true;
}

void compare_summary_release(struct compare_summary *summary)
{
    free(summary->rows);
    summary->rows = NULL;
    summary->row_count = summary->room = 0;
}

static bool is_claim(ridge_bench_verdict verdict)
{
    return verdict == RIDGE_VERDICT_IMPROVED || verdict == RIDGE_VERDICT_REGRESSED;
}

bool compare_row_needs_second(const struct compare_row *row)
{
    return is_claim(row->first.verdict) ||
           (row->first.verdict < RIDGE_VERDICT_IDENTICAL_CODE && row->first.p <= confirm_p);
}

/* A claim of a sweep stands when both runs make it, in the same direction. */
static void decide_row(struct compare_row *row, bool is_sweep)
{
    const bool is_same_way =
        row->has_second && row->first.interval.centre * row->second.interval.centre > 0;

    row->verdict = row->first.verdict;
    row->p = row->first.p;
    if (!row->has_second)
        return;
    if (row->second.verdict == RIDGE_VERDICT_INVALID) {
        row->verdict = RIDGE_VERDICT_INVALID;
        row->p = NAN;
        return;
    }
    row->p = is_sweep && is_same_way ? ridge_bench_confirmed_p(row->first.p, row->second.p) : 1;
}

void compare_summary_decide(struct compare_summary *summary)
{
    const size_t count = summary->row_count;
    const bool is_sweep = summary->wanted_count > 1;
    double *const p = calloc(count > 0 ? 2 * count : 1, sizeof(*p));
    double sum = 0;
    size_t i;

    memset(summary->counts, 0, sizeof(summary->counts));
    summary->geomean_count = 0;
    for (i = 0; i < count; i++) {
        struct compare_row *const row = &summary->rows[i];

        decide_row(row, is_sweep);
        if (p != NULL)
            p[i] = row->verdict < RIDGE_VERDICT_IDENTICAL_CODE ? row->p : NAN;
    }
    if (p != NULL && is_sweep)
        ridge_holm(p, count, p + count);
    for (i = 0; i < count; i++) {
        struct compare_row *const row = &summary->rows[i];
        const ridge_interval *const interval =
            row->first.by_sustained ? &row->first.sustained : &row->first.interval;

        row->holm_p = p != NULL && is_sweep ? p[count + i] : NAN;
        /* An interruption leaves claims that were not confirmed. */
        if (is_sweep && is_claim(row->verdict) && !(row->has_second && row->holm_p <= claim_p))
            row->verdict = RIDGE_VERDICT_CANNOT_TELL;
        summary->counts[row->verdict]++;
        if (row->verdict < RIDGE_VERDICT_IDENTICAL_CODE && isfinite(interval->centre)) {
            sum += interval->centre;
            summary->geomean_count++;
        }
    }
    summary->geomean = summary->geomean_count > 0 ? exp(sum / (double)summary->geomean_count) : NAN;
    free(p);
}

int compare_summary_exit(const struct compare_summary *summary)
{
    const size_t *const counts = summary->counts;

    if (counts[RIDGE_VERDICT_REGRESSED] > 0)
        return CLI_NO;
    if (counts[RIDGE_VERDICT_INVALID] > 0 || summary->is_interrupted || summary->row_count == 0)
        return ridge_status_exit(RIDGE_ERR_CUDA);
    if ((summary->require_decision && counts[RIDGE_VERDICT_CANNOT_TELL] > 0) ||
        (summary->require_change && counts[RIDGE_VERDICT_IDENTICAL_CODE] > 0))
        return CLI_NO;
    return CLI_DONE;
}
