/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a term of a sum is missing, or is there twice: out - ref is the same element of each
 * element's own row of an input, its square, a product of two inputs (a matrix product), or the sum
 * of the first or last few. Scaled by the length too: a mean.
 *
 * By chance one candidate fits an element with about 4 tolerances over |out - ref|, so a few
 * elements far beyond their bounds are evidence enough, and many just beyond them are none. */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "check/check_internal.h"

enum { LENGTH_MOST = 1 << 16, SAMPLES_MOST = 256, WORK_MOST = 1 << 21 };

/* Of output i a row begins at (i / over) * by + (i % of) * times. */
typedef struct row_of {
    const double *values;
    int64_t count, over, by, of, times, step;
} row_of;

typedef enum form { FORM_ONE, FORM_LAST, FORM_FIRST, FORM_COUNT } form;

/* The terms of each output: those of a, or a x b. */
typedef struct candidate {
    row_of a, b;
    bool has_b;
    int64_t length;
    size_t input;
} candidate;

typedef struct found {
    double share, evidence;
    form form;
    int64_t index;
    bool is_added;
} found;

typedef struct tally {
    int hits;
    double evidence; /* logarithm of how likely these hits are by chance */
} tally;

static double element(const row_of *row, int64_t i, int64_t k)
{
    const int64_t at = (i / row->over) * row->by + (i % row->of) * row->times + k * row->step;

    return at < row->count ? row->values[at] : NAN;
}

static double term(const candidate *from, int64_t i, int64_t k, double scale)
{
    const double a = element(&from->a, i, k);

    return scale * a * (from->has_b ? element(&from->b, i, k) : 1);
}

static void note(tally *to, double rest, double term_value, double tolerance)
{
    if (fabs(rest - term_value) > 2 * tolerance)
        return;
    to->hits++;
    to->evidence += log(fmin(1, 4 * tolerance / fabs(rest)));
}

/* Sums that begin at an end have their hits at the index where they stop. */
static void look_at(const check_facts *facts, const candidate *from, double scale, bool is_added,
                    int64_t i, tally *tallies)
{
    const double out = facts->pair->out[i], ref = facts->pair->ref[i];
    const double magnitude = facts->pair->magnitude == NULL ? NAN : facts->pair->magnitude[i];
    const double rest = is_added ? out - ref : ref - out;
    const double tolerance = check_tolerance(facts->bounds, ref, magnitude) +
                             facts->bounds->unit_out * fabs(out) + 1e-300;
    double first = 0, last = 0;

    if (!isfinite(rest))
        return;
    for (int64_t k = 0; k < from->length; k++) {
        const double value = term(from, i, k, scale);

        note(&tallies[FORM_ONE * from->length + k], rest, value, tolerance);
        first += value;
        note(&tallies[FORM_FIRST * from->length + k], rest, first, tolerance);
    }
    for (int64_t k = from->length; k-- > 0;) {
        last += term(from, i, k, scale);
        note(&tallies[FORM_LAST * from->length + k], rest, last, tolerance);
    }
}

static void try_candidate(const check_facts *facts, const candidate *from, double scale,
                          bool is_added, tally *tallies, found *best)
{
    const size_t most = (size_t)fmax(8, (double)WORK_MOST / (double)from->length);
    const size_t wanted = most < SAMPLES_MOST ? most : SAMPLES_MOST;
    const size_t stride = facts->sample_count / wanted + 1;
    int looked = 0;

    for (int64_t k = 0; k < FORM_COUNT * from->length; k++)
        tallies[k] = (tally){0, 0};
    for (size_t s = 0; s < facts->sample_count; s += stride) {
        look_at(facts, from, scale, is_added, facts->samples[s], tallies);
        looked++;
    }
    for (int64_t k = 0; k < FORM_COUNT * from->length; k++) {
        const double share = (double)tallies[k].hits / looked;

        /* One in a thousand, over all candidates. */
        if (share < 0.5 || tallies[k].evidence + log(100. * (double)from->length) > log(1e-3) ||
            share < best->share || (share == best->share && tallies[k].evidence >= best->evidence))
            continue;
        *best = (found){.share = share,
                        .evidence = tallies[k].evidence,
                        .form = (form)(k / from->length),
                        .index = k % from->length,
                        .is_added = is_added};
    }
}

static void add_found(check_facts *facts, const candidate *from, const found *best)
{
    char text[64];
    const char sign = best->is_added ? '+' : '-';

    if (best->form == FORM_ONE || (best->form == FORM_LAST && best->index == from->length - 1) ||
        (best->form == FORM_FIRST && best->index == 0))
        snprintf(text, sizeof(text), "out = ref %c term %lld of %lld", sign, (long long)best->index,
                 (long long)from->length);
    else
        snprintf(text, sizeof(text), "out = ref %c terms %lld-%lld of %lld", sign,
                 best->form == FORM_LAST ? (long long)best->index : 0LL,
                 best->form == FORM_LAST ? (long long)from->length - 1 : (long long)best->index,
                 (long long)from->length);
    check_relation_add(facts, best->is_added ? RIDGE_RELATION_TERM_ADDED : RIDGE_RELATION_TERM,
                       best->share, (double)best->index, text);
}

static ridge_status try_terms(check_facts *facts, const candidate *from, bool *is_found,
                              ridge_error *err)
{
    tally *tallies;
    found best = {.share = 0};

    if (*is_found || from->length < 2 || from->length > LENGTH_MOST)
        return RIDGE_OK;
    tallies = ridge_calloc((size_t)(FORM_COUNT * from->length), sizeof(*tallies));
    if (tallies == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "no memory for the terms of a sum");
    for (int i = 0; i < 4; i++)
        try_candidate(facts, from, i < 2 ? 1 : 1 / (double)from->length, i % 2 == 1, tallies,
                      &best);
    ridge_free(tallies);
    *is_found = best.share > 0;
    if (*is_found)
        add_found(facts, from, &best);
    return RIDGE_OK;
}

/* Sums over the last or the first axis of an input, of its elements or their squares. */
static ridge_status try_sums(check_facts *facts, size_t input, bool *is_found, ridge_error *err)
{
    const ridge_comparand *const pair = facts->pair;
    const int64_t outs = facts->out->element_count, count = pair->input_counts[input];
    const int64_t length = count / outs;
    const row_of rows = {pair->inputs[input], count, 1, length, 1, 0, 1};
    const row_of columns = {pair->inputs[input], count, outs, 0, outs, 1, outs};
    ridge_status status = RIDGE_OK;

    if (pair->inputs[input] == NULL || count % outs != 0)
        return RIDGE_OK;
    for (int i = 0; i < 4 && status == RIDGE_OK; i++) {
        const row_of *const row = i % 2 == 0 ? &rows : &columns;
        const candidate from = {*row, *row, i >= 2, length, input};

        status = try_terms(facts, &from, is_found, err);
    }
    return status;
}

/* out[m, n] of a[m, k] and b[k, n] or b[n, k]. */
static ridge_status try_product(check_facts *facts, size_t a, size_t b, bool *is_found,
                                ridge_error *err)
{
    const ridge_comparand *const pair = facts->pair;
    const int64_t count_a = pair->input_counts[a], count_b = pair->input_counts[b];
    const int64_t m = pair->ndim == 2 ? pair->shape[0] : 0;
    const int64_t n = pair->ndim == 2 ? pair->shape[1] : 0;
    const int64_t k = m > 0 ? count_a / m : 0;
    candidate from = {{pair->inputs[a], count_a, n, k, 1, 0, 1},
                      {pair->inputs[b], count_b, m * n, 0, n, 1, n},
                      true,
                      k,
                      a};
    ridge_status status;

    if (pair->inputs[a] == NULL || pair->inputs[b] == NULL || m <= 0 || n <= 0 ||
        count_a % m != 0 || count_b != k * n)
        return RIDGE_OK;
    status = try_terms(facts, &from, is_found, err);
    from.b.times = k;
    from.b.step = 1;
    return status == RIDGE_OK ? try_terms(facts, &from, is_found, err) : status;
}

ridge_status check_terms(check_facts *facts, ridge_error *err)
{
    const ridge_comparand *const pair = facts->pair;
    ridge_status status = RIDGE_OK;
    bool is_found = false;

    if (facts->bounds->is_integer || facts->out->element_count == 0)
        return RIDGE_OK;
    for (size_t a = 0; a < pair->input_count && status == RIDGE_OK; a++)
        status = try_sums(facts, a, &is_found, err);
    for (size_t a = 0; a < pair->input_count && a < 4 && status == RIDGE_OK; a++)
        for (size_t b = 0; b < pair->input_count && b < 4 && status == RIDGE_OK; b++)
            if (a != b)
                status = try_product(facts, a, b, &is_found, err);
    return status;
}
