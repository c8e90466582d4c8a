/* SPDX-License-Identifier: Apache-2.0
 *
 * The most likely cause: a table of rules, the first that holds is it. What values are comes before
 * where they are when it explains nearly all of them, since it is the stronger evidence; a partial
 * tile comes before both but poison and NaN, because what a missing predicate leaves in the last
 * rows can be anything. Values from elsewhere in the array come last of these: a lane, a vector or a
 * tile that holds its neighbour's is first of all that lane, vector or tile. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "check/check_internal.h"

#define NEARLY_ALL 0.9
#define BEYOND_ROUNDING 50

static double share_of(const check_facts *facts, ridge_relation_kind kind)
{
    return check_relation_share(facts->out, kind, NULL);
}

static double wrong_share(const check_facts *facts)
{
    return (double)facts->wrong_count / (double)facts->out->element_count;
}

/* "rows 4096-4099", in coordinates of the whole array. */
static const char *span_text(const check_facts *facts, int axis, char *buffer, size_t size)
{
    const ridge_mismatch *const out = facts->out;
    const int behind = out->ndim - 1 - axis;
    const bool is_one = out->box_first[axis] == out->box_last[axis];
    char word[24];

    if (out->ndim >= 2 && behind < 2)
        snprintf(word, sizeof(word), "%s", behind == 0 ? "column" : "row");
    else
        snprintf(word, sizeof(word), out->ndim == 1 ? "element" : "index");
    if (is_one)
        snprintf(buffer, size, "%s %" PRId64, word, out->box_first[axis]);
    else
        snprintf(buffer, size, "%s%s %" PRId64 "-%" PRId64,
                 out->ndim >= 2 && behind >= 2 ? "indice" : word, "s", out->box_first[axis],
                 out->box_last[axis]);
    return buffer;
}

/* -- where ------------------------------------------------------------------------------------- */

static bool covers(const check_axis *axis)
{
    return axis->first_index == 0 && axis->last_index == axis->extent - 1;
}

/* The axis whose last indices alone fail; -1. needs_part: only a part of the last tile. */
static int tail_axis(const check_facts *facts, bool needs_part)
{
    for (int i = facts->pair->ndim - 1; i >= 0; i--) {
        const check_axis *const axis = &facts->axes[i];
        const int64_t length = axis->last_index - axis->first_index + 1;
        const int64_t tile = facts->pair->tile[i];
        const int64_t extent = check_real_extent(facts->pair, i);

        if (axis->extent < 2 || axis->first_index == 0 || axis->last_index != axis->extent - 1 ||
            axis->run_share < 0.25 * wrong_share(facts))
            continue;
        if (!needs_part) {
            return i;
        } else if (tile > 0 && facts->pair->rows == NULL) {
            /* Any part of the last tile, if that is cut. */
            if (extent % tile != 0 && length <= extent % tile)
                return i;
        } else if (length * 4 <= extent && axis->failing_count * 2 >= length) {
            return i;
        }
    }
    return -1;
}

/* A block of a grid: along every axis all, or inside one tile (of the kernel, or of a guess: edges at
 * multiples of 8, a power of two wide). */
static bool is_tile(const check_facts *facts, bool *is_first)
{
    bool is_part = false;

    *is_first = true;
    if (facts->box_share < 0.5)
        return false;
    for (int i = 0; i < facts->pair->ndim; i++) {
        const check_axis *const axis = &facts->axes[i];
        const int64_t first = facts->out->box_first[i], last = facts->out->box_last[i];
        const int64_t width = last - first + 1, tile = facts->pair->tile[i];

        if (covers(axis))
            continue;
        if (tile > 1
                ? first / tile != last / tile
                : first % 8 != 0 || width < 8 || (width & (width - 1)) != 0 || first % width != 0)
            return false;
        is_part = true;
        *is_first = *is_first && first / (tile > 1 ? tile : width) == 0;
    }
    return is_part;
}

/* Whole rows of the last axis fail, others not at all. */
static bool are_whole_rows(const check_facts *facts)
{
    return facts->pair->ndim >= 1 && facts->rows_touched < facts->row_count &&
           (double)facts->rows_full >= NEARLY_ALL * (double)facts->rows_touched;
}

/* -- rules ------------------------------------------------------------------------------------- */

static bool beyond_32_bits(const check_facts *facts, char *text, size_t size)
{
    const int64_t first = check_real_linear(facts->pair, facts->out->first_index);
    const int64_t bytes = (int64_t)ridge_dtype_bytes(facts->pair->dtype);
    const int64_t limits[] = {INT64_C(1) << 31, INT64_C(1) << 32, (INT64_C(1) << 31) / bytes,
                              (INT64_C(1) << 32) / bytes};
    const int64_t row =
        facts->pair->ndim > 1 ? facts->pair->shape[facts->pair->ndim - 1] : INT64_C(1) << 16;

    /* What wraps is usually the start of a row or tile: all elements from near the limit on. */
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        if (limits[i] >= INT64_C(1) << 28 && first > limits[i] - 256 * row &&
            first < limits[i] + 256 * row) {
            snprintf(text, size,
                     "wrong from element %" PRId64 " on (2^%d%s): a 32-bit index or byte offset",
                     first, i % 2 == 0 ? 31 : 32, i < 2 ? " elements" : " bytes");
            return true;
        }
    return false;
}

static bool not_written(const check_facts *facts, char *text, size_t size)
{
    char span[64];
    const int tail = tail_axis(facts, false);

    if (share_of(facts, RIDGE_RELATION_UNWRITTEN) < NEARLY_ALL)
        return false;
    if (facts->wrong_count == facts->out->element_count)
        snprintf(text, size, "nothing is written: not launched, an early exit, or another buffer");
    else if (tail >= 0)
        snprintf(text, size, "%s %s not written: the grid is too small, or a loop ends early",
                 span_text(facts, tail, span, sizeof(span)),
                 facts->out->box_first[tail] == facts->out->box_last[tail] ? "is" : "are");
    else
        snprintf(text, size, "%.3g %% is not written: early exit, or a predicate too narrow",
                 100 * wrong_share(facts));
    return true;
}

static bool nan_rows(const check_facts *facts, char *text, size_t size)
{
    if (share_of(facts, RIDGE_RELATION_NAN) < NEARLY_ALL)
        return false;
    if (are_whole_rows(facts))
        snprintf(text, size,
                 "%" PRId64
                 " whole rows are NaN: all masked (0/0), inf - inf, or 0 x inf by a mask",
                 facts->rows_full);
    else
        snprintf(text, size,
                 "NaN: inf - inf, 0 x inf, an overflow before a division, or memory "
                 "that was never written");
    return true;
}

/* What overflowed, and what was divided by it. */
static bool overflow(const check_facts *facts, char *text, size_t size)
{
    const double nans = share_of(facts, RIDGE_RELATION_NAN);

    if (nans == 0 || nans + share_of(facts, RIDGE_RELATION_ZERO) < NEARLY_ALL)
        return false;
    snprintf(text, size,
             "NaN and 0: an overflow before a division, as of exp without the maximum subtracted");
    return true;
}

static bool partial_tile(const check_facts *facts, char *text, size_t size)
{
    const int axis = tail_axis(facts, true);
    char span[64];

    if (axis < 0)
        return false;
    span_text(facts, axis, span, sizeof(span));
    if (facts->pair->tile[axis] > 0)
        snprintf(text, size,
                 "only %s, the partial tile (%" PRId64 " mod %" PRId64
                 "): its predicate is missing or wrong",
                 span, check_real_extent(facts->pair, axis), facts->pair->tile[axis]);
    else
        snprintf(text, size, "only the last %s: the predicate of the partial tile", span);
    return true;
}

static bool stale(const check_facts *facts, char *text, size_t size)
{
    if (share_of(facts, RIDGE_RELATION_STALE) < NEARLY_ALL)
        return false;
    snprintf(text, size, "the output of the launch before: cached, or not launched");
    return true;
}

static bool ratio(const check_facts *facts, char *text, size_t size)
{
    for (size_t i = 0; i < facts->out->relation_count; i++) {
        const ridge_relation *const relation = &facts->out->relations[i];

        if (relation->kind != RIDGE_RELATION_RATIO || relation->share_frac < NEARLY_ALL)
            continue;
        snprintf(text, size, "%s: a scale is missing or applied twice, or exp for exp2",
                 relation->text);
        return true;
    }
    return false;
}

static bool offset(const check_facts *facts, char *text, size_t size)
{
    double value;

    if (check_relation_share(facts->out, RIDGE_RELATION_OFFSET, &value) < NEARLY_ALL)
        return false;
    snprintf(text, size, "out = ref %c %.6g: a bias or epsilon is missing or added twice",
             value < 0 ? '-' : '+', fabs(value));
    return true;
}

static bool sign(const check_facts *facts, char *text, size_t size)
{
    if (share_of(facts, RIDGE_RELATION_SIGN) < NEARLY_ALL)
        return false;
    snprintf(text, size, "out = -ref: a sign is wrong");
    return true;
}

static bool input_copied(const check_facts *facts, char *text, size_t size)
{
    double number;

    if (check_relation_share(facts->out, RIDGE_RELATION_INPUT, &number) < NEARLY_ALL)
        return false;
    snprintf(text, size, "holds values of input %.0f: a copy, or the wrong pointer", number);
    return true;
}

static bool transposed(const check_facts *facts, char *text, size_t size)
{
    if (share_of(facts, RIDGE_RELATION_TRANSPOSED) < NEARLY_ALL)
        return false;
    snprintf(text, size, "transposed: rows and columns, or the two strides, are exchanged");
    return true;
}

static bool shifted(const check_facts *facts, char *text, size_t size)
{
    double distance;

    if (check_relation_share(facts->out, RIDGE_RELATION_SHIFTED, &distance) < NEARLY_ALL)
        return false;
    snprintf(text, size, "out[i] = ref[i %c %.0f]: an index is off by %.0f",
             distance < 0 ? '-' : '+', fabs(distance), fabs(distance));
    return true;
}

static const char *period_text(const check_facts *facts, char *buffer, size_t size)
{
    const ridge_mismatch_period *const period = &facts->out->period;
    const int behind = facts->out->ndim - 1 - period->axis;
    const char *const word = facts->out->ndim < 2 || behind > 1 ? "index"
                             : behind == 0                      ? "column"
                                                                : "row";

    if (period->residue_first == period->residue_last)
        snprintf(buffer, size, "%s mod %" PRId64 " = %" PRId64, word, period->modulus,
                 period->residue_first);
    else
        snprintf(buffer, size, "%s mod %" PRId64 " in %" PRId64 "-%" PRId64, word, period->modulus,
                 period->residue_first, period->residue_last);
    return buffer;
}

/* Blocks of a whole tile, every k-th. Without a known tile: blocks of 16 or more. */
static bool every_stage(const check_facts *facts, char *text, size_t size)
{
    const ridge_mismatch_period *const period = &facts->out->period;
    const int64_t width = period->residue_last - period->residue_first + 1;
    int64_t tile;
    char where[64];

    if (period->axis < 0)
        return false;
    tile = facts->pair->tile[period->axis];
    if (tile > 1 ? period->modulus <= tile || period->modulus % tile != 0 || width * 2 < tile
                 : width < 16 || period->modulus < 64 || period->modulus % width != 0)
        return false;
    snprintf(text, size, "%s, every %" PRId64 ". stage: a fence, wait or phase bit is missing",
             period_text(facts, where, sizeof(where)), period->modulus / (tile > 1 ? tile : width));
    return true;
}

/* Rows of a contiguous array that do not begin at a multiple of 16 bytes, and no others. */
static bool are_misaligned_rows(const check_facts *facts)
{
    const ridge_mismatch_period *const period = &facts->out->period;
    const int64_t vector = 16 / (int64_t)ridge_dtype_bytes(facts->pair->dtype);
    int64_t aligned = 1; /* every so many rows */

    if (facts->pair->ndim < 2 || period->axis != facts->pair->ndim - 2)
        return false;
    while (aligned * facts->pair->shape[facts->pair->ndim - 1] % vector != 0)
        aligned++;
    return aligned > 1 && period->modulus == aligned && period->residue_first == 1 &&
           period->residue_last == aligned - 1;
}

static bool vector(const check_facts *facts, char *text, size_t size)
{
    const ridge_mismatch_period *const period = &facts->out->period;
    const bool are_rows = are_misaligned_rows(facts);
    char where[64];

    if (!are_rows && (period->axis != facts->pair->ndim - 1 || period->axis < 0 ||
                      period->modulus * (int64_t)ridge_dtype_bytes(facts->pair->dtype) != 16))
        return false;
    snprintf(text, size, "%s, %s: a misaligned vector access, or a row stride that is not padded",
             period_text(facts, where, sizeof(where)), are_rows ? "rows off 16 bytes" : "16 bytes");
    return true;
}

static bool lanes(const check_facts *facts, char *text, size_t size)
{
    char where[64];

    if (facts->out->period.axis < 0)
        return false;
    snprintf(text, size, "%s: mapping of lanes, shuffle mask, fragment layout or vector width",
             period_text(facts, where, sizeof(where)));
    return true;
}

static bool prologue(const check_facts *facts, char *text, size_t size)
{
    bool is_first;

    if (!is_tile(facts, &is_first) || !is_first)
        return false;
    snprintf(text, size, "only the first tile: the prologue, or an accumulator not initialised");
    return true;
}

static bool one_tile(const check_facts *facts, char *text, size_t size)
{
    const int ndim = facts->pair->ndim;
    char rows[64], columns[64];
    bool is_first;

    if (!is_tile(facts, &is_first))
        return false;
    span_text(facts, ndim - 1, columns, sizeof(columns));
    if (ndim > 1)
        span_text(facts, ndim - 2, rows, sizeof(rows));
    snprintf(text, size,
             "one tile (%s%s%s): a barrier or stage reused early, or its place in the "
             "grid",
             ndim > 1 ? rows : "", ndim > 1 ? ", " : "", columns);
    return true;
}

static bool some_tiles(const check_facts *facts, char *text, size_t size)
{
    check_tiles tiles;

    if (!check_whole_tiles(facts, &tiles))
        return false;
    snprintf(text, size,
             "%" PRId64 " of %" PRId64 " tiles of %" PRId64 " x %" PRId64
             ", whole: a stage read before it arrived (fence, wait); see the repeat test",
             tiles.failing, tiles.count, tiles.rows, tiles.columns);
    return true;
}

static bool terms(const check_facts *facts, char *text, size_t size)
{
    for (size_t i = 0; i < facts->out->relation_count; i++) {
        const ridge_relation *const relation = &facts->out->relations[i];

        if ((relation->kind != RIDGE_RELATION_TERM &&
             relation->kind != RIDGE_RELATION_TERM_ADDED) ||
            relation->share_frac < NEARLY_ALL)
            continue;
        snprintf(text, size, "%s: %s", relation->text,
                 relation->kind == RIDGE_RELATION_TERM
                     ? "the sum lacks it: the loop ends early or begins late"
                     : "summed twice: parts of the loop overlap");
        return true;
    }
    return false;
}

/* Whether a type of fewer bits explains the errors: they are near the bound, or the values are those
 * of such a type, or off by no more than inputs rounded to bf16 make them: 2^-9 of each term, which
 * sums of c terms feel by 1/sqrt(c) of the magnitude. A term too few is 1/c of it. */
static bool is_rounding(const check_facts *facts)
{
    const ridge_comparand *const pair = facts->pair;
    const double length = fmax(1, (double)pair->accumulate_length);
    double square = 0, size_square = 0;
    size_t bf16 = 0, f16 = 0, near = 0;

    for (size_t i = 0; i < facts->sample_count; i++) {
        const int64_t at = facts->samples[i];
        const double out = pair->out[at], error = out - pair->ref[at];
        const double size = pair->magnitude != NULL && !isnan(pair->magnitude[at])
                                ? pair->magnitude[at]
                                : fabs(pair->ref[at]);

        bf16 += ridge_dtype_round(RIDGE_DTYPE_BF16, out) == out;
        f16 += ridge_dtype_round(RIDGE_DTYPE_F16, out) == out;
        near += fabs(error) < BEYOND_ROUNDING * check_tolerance(facts->bounds, pair->ref[at], size);
        square += isfinite(error) ? error * error : 0;
        size_square += isfinite(size) ? size * size : 0;
    }
    if (near * 2 > facts->sample_count) /* not the worst: where ref is near 0 the bound is too */
        return true;
    if (pair->dtype == RIDGE_DTYPE_F32 || pair->dtype == RIDGE_DTYPE_F64)
        if ((double)(bf16 > f16 ? bf16 : f16) >= NEARLY_ALL * (double)facts->sample_count)
            return true;
    return sqrt(square) <= 0x1p-8 / sqrt(length) * sqrt(size_square);
}

static bool far_beyond(const check_facts *facts, char *text, size_t size)
{
    if (facts->small_share < NEARLY_ALL || wrong_share(facts) < 0.01 || is_rounding(facts))
        return false;
    snprintf(
        text, size,
        "%.2g x the bound, far beyond rounding: a term is missing or added, another formula, or "
        "sums of few bits",
        facts->out->worst_scaled_error);
    return true;
}

/* A sum or a softmax whose work() says nothing is taken for elementwise, and looks like this. */
static bool held_to_ulp(const check_facts *facts, char *text, size_t size)
{
    enum { MOST = 1000 }; /* times the bound: what sums of single precision reach */

    if (!facts->bounds->is_elementwise || facts->bounds->is_exact || facts->bounds->is_integer ||
        facts->small_share < NEARLY_ALL || wrong_share(facts) < 0.01 ||
        facts->out->worst_scaled_error > MOST)
        return false;
    snprintf(text, size,
             "more than the %g ulp of an elementwise function: a coarse approximation; of sums "
             "work() has to say accumulate_length",
             facts->bounds->ulp_most);
    return true;
}

static bool low_precision(const check_facts *facts, char *text, size_t size)
{
    double larger;

    if (facts->small_share < NEARLY_ALL || wrong_share(facts) < 0.01)
        return false;
    if (check_relation_share(facts->out, RIDGE_RELATION_LARGER, &larger) > 0.5)
        snprintf(text, size,
                 "all slightly too %s: sums kept in low precision, or rounded twice; grows with "
                 "the length",
                 larger > 0.5 ? "large" : "small");
    else
        snprintf(text, size,
                 "everywhere and small: sums in low precision, inputs rounded (TF32), "
                 "or a coarse approximation");
    return true;
}

static bool zeros(const check_facts *facts, char *text, size_t size)
{
    if (share_of(facts, RIDGE_RELATION_ZERO) < NEARLY_ALL)
        return false;
    snprintf(text, size, "%s zero: the result is not stored, or a mask excludes it",
             wrong_share(facts) > NEARLY_ALL ? "all" : "what is wrong is");
    return true;
}

static bool constant(const check_facts *facts, char *text, size_t size)
{
    const double first = facts->pair->out[facts->samples[0]];

    for (size_t i = 1; i < facts->sample_count; i++)
        if (facts->pair->out[facts->samples[i]] != first)
            return false;
    if (facts->sample_count < 16 || facts->small_share >= NEARLY_ALL)
        return false;
    snprintf(text, size, "%s %.6g: a constant, an initial value, or a clamp",
             wrong_share(facts) > NEARLY_ALL ? "everything is" : "what is wrong is", first);
    return true;
}

static bool whole_rows(const check_facts *facts, char *text, size_t size)
{
    if (!are_whole_rows(facts) || facts->pair->shape[facts->pair->ndim - 1] < 2)
        return false;
    snprintf(text, size,
             "%" PRId64 " whole rows: a value of the row (maximum, sum, length, offset)",
             facts->rows_full);
    return true;
}

static bool scattered(const check_facts *facts, char *text, size_t size)
{
    if (wrong_share(facts) > 0.05)
        return false;
    snprintf(text, size,
             "few, scattered: a race, an uninitialised read, or a rare value; see the repeat test");
    return true;
}

static bool unrelated(const check_facts *facts, char *text, size_t size)
{
    if (wrong_share(facts) < 0.5)
        return false;
    snprintf(text, size, "unrelated to the reference: wrong operand, stride, layout or formula");
    return true;
}

static bool unknown(const check_facts *facts, char *text, size_t size)
{
    snprintf(text, size, "%.3g %% of the elements, no pattern found", 100 * wrong_share(facts));
    return true;
}

static const struct rule {
    const char *id;
    bool (*holds)(const check_facts *facts, char *text, size_t size);
} rules[] = {
    {"index_32bit", beyond_32_bits},
    {"unwritten", not_written},
    {"row_length", check_rows_of_length},
    {"nan", nan_rows},
    {"nan", overflow},
    {"partial_tile", partial_tile},
    {"stale", stale},
    {"zeros", zeros},
    {"constant", constant},
    {"scale", ratio},
    {"sign", sign},
    {"offset", offset},
    {"transposed", transposed},
    {"pipeline_stage", every_stage},
    {"vector_alignment", vector},
    {"lane_mapping", lanes},
    {"prologue", prologue},
    {"one_tile", one_tile},
    {"pipeline_stage", some_tiles},
    {"missing_term", terms},
    {"shifted", shifted},
    {"input_copied", input_copied},
    {"beyond_ulp", held_to_ulp},
    {"beyond_rounding", far_beyond},
    {"low_precision", low_precision},
    {"whole_rows", whole_rows},
    {"scattered", scattered},
    {"unrelated", unrelated},
    {"unknown", unknown},
};

void check_cause(check_facts *facts)
{
    ridge_mismatch *const out = facts->out;

    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (rules[i].holds(facts, out->cause, sizeof(out->cause))) {
            snprintf(out->cause_id, sizeof(out->cause_id), "%s", rules[i].id);
            return;
        }
}
