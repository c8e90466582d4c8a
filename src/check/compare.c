/* SPDX-License-Identifier: Apache-2.0
 *
 * Two arrays, element by element, in one pass that costs a few nanoseconds each.
 *
 * Hard bound of a sum of c terms (Higham, Accuracy and Stability, 3.1), its rounding to the output
 * apart:
 *
 *     |out - ref| <= u_out |ref| + c u_acc sum |a||b|
 *
 * Suspicion: c becomes lambda sqrt(c), which N outputs exceed with probability alpha only when
 * rounding errors are as good as random (Higham and Mary 2019; Ipsen and Zhou 2020). Terms of one
 * sign and accumulators that truncate have errors that are not: where the magnitude is |ref| itself
 * the hard bound alone holds.
 *
 * Where the reference says how far inputs a rounding away would move it, two such moves are allowed
 * beside (condition.c): one for what is rounded before the formula, one for its first difference.
 *
 * Elementwise functions are held to units in the last place of the type instead. */
#include <math.h>
#include <string.h>

#include "base/dtype_bits.h"
#include "base/memory.h"
#include "check/check_internal.h"
#include "check/second.h"

static const double ALPHA = 1e-3;

/* -- bounds ------------------------------------------------------------------------------------ */

static double root_mean_square(const double *values, int64_t count)
{
    double sum = 0;
    int64_t finite = 0;

    for (int64_t i = 0; i < count; i++)
        if (isfinite(values[i])) {
            sum += values[i] * values[i];
            finite++;
        }
    return finite == 0 ? 0 : sqrt(sum / (double)finite);
}

static void float_bounds(check_bounds *out)
{
    const double unit = out->unit_out;
    const int significand = 1 - (int)lround(log2(2 * unit)); /* bits, with the hidden one */

    out->greatest = ridge_dtype_greatest(out->dtype);
    out->least_normal = ridge_dtype_least_normal(out->dtype);
    out->least_subnormal = ridge_dtype_least_subnormal(out->dtype);
    out->shift = 53 - significand;
    out->normal_ordinal = dtype_double_bits(out->least_normal) >> out->shift;
    /* Half an ulp of the last binade; where the greatest is not all ones (e4m3) the same half. */
    out->overflow = out->greatest + ldexp(unit, ilogb(out->greatest));
    out->flushes = out->dtype == RIDGE_DTYPE_F32 || out->dtype == RIDGE_DTYPE_F64 ||
                   out->dtype == RIDGE_DTYPE_BF16;
}

void check_bounds_init(const ridge_comparand *pair, int64_t element_count, check_bounds *out)
{
    const double length = (double)pair->accumulate_length;
    const double most = element_count > 0 ? (double)element_count : 1;
    const double lambda = sqrt(2 * log(2 * most / ALPHA));

    memset(out, 0, sizeof(*out));
    out->dtype = pair->dtype;
    out->is_integer = !ridge_dtype_is_float(pair->dtype);
    out->is_exact = pair->is_exact;
    out->is_elementwise = pair->accumulate_length <= 0;
    out->unit_out = ridge_dtype_unit_roundoff(pair->dtype);
    out->unit_sum = pair->accumulate_unit > 0        ? pair->accumulate_unit
                    : pair->dtype == RIDGE_DTYPE_F64 ? 0x1p-53
                                                     : 0x1p-24;
    if (out->is_integer) {
        out->greatest = ridge_dtype_greatest(pair->dtype);
        out->integer_least = pair->dtype == RIDGE_DTYPE_U8 || pair->dtype == RIDGE_DTYPE_U32
                                 ? 0
                                 : -out->greatest - 1;
        out->ulp_most = pair->ulp_most;
    } else {
        float_bounds(out);
        out->ulp_most = pair->ulp_most > 0 ? pair->ulp_most : 2;
        out->ulp_reach = 1 + 2 * out->unit_out * out->ulp_most; /* into the next binade */
    }
    if (out->is_elementwise) {
        out->hard = out->suspicion = 4 * out->unit_sum; /* a few operations on known terms */
        return;
    }
    out->hard = (1 + out->unit_out) * length * out->unit_sum;
    out->suspicion = (1 + out->unit_out) * fmin(length, lambda * sqrt(length)) * out->unit_sum;
    if (pair->magnitude == NULL || (element_count > 0 && isnan(pair->magnitude[0])))
        out->magnitude_least = root_mean_square(pair->ref, element_count);
}

/* Position of |value|, rounded to nearest even, among the values of the type. */
static inline uint64_t ordinal_of(const check_bounds *bounds, double value)
{
    const double size = fabs(value);
    uint64_t bits, half;

    if (bounds->shift == 0)
        return dtype_double_bits(size);
    if (size < bounds->least_normal)
        return (uint64_t)nearbyint(size / bounds->least_subnormal);
    bits = dtype_double_bits(size);
    half = (UINT64_C(1) << (bounds->shift - 1)) - 1;
    return ((bits + half + ((bits >> bounds->shift) & 1)) >> bounds->shift) -
           bounds->normal_ordinal + (UINT64_C(1) << (52 - bounds->shift));
}

static inline uint64_t ulp_distance(const check_bounds *bounds, double a, double b)
{
    const uint64_t left = ordinal_of(bounds, a), right = ordinal_of(bounds, b);

    if (signbit(a) != signbit(b))
        return left + right;
    return left > right ? left - right : right - left;
}

double check_rounded(const check_bounds *bounds, double ref)
{
    return ridge_dtype_round(bounds->dtype, ref);
}

/* One unit in the last place of values of this size. */
static inline double ulp_of(const check_bounds *bounds, double size)
{
    const double binade = dtype_bits_double(dtype_double_bits(size) & UINT64_C(0x7ff0000000000000));
    const double ulp = 2 * bounds->unit_out * binade;

    return ulp > bounds->least_subnormal ? ulp : bounds->least_subnormal;
}

static inline double magnitude_of(const check_bounds *bounds, double ref, double magnitude)
{
    if (!isnan(magnitude))
        return magnitude;
    return bounds->is_elementwise ? 0 : fmax(fabs(ref), bounds->magnitude_least);
}

/* *suspicion is the narrower one, equal to the hard one where that alone holds. */
static inline double hard_bound(const check_bounds *bounds, double ref, double magnitude,
                                double *suspicion)
{
    const double size = fabs(ref);
    const double terms = magnitude_of(bounds, ref, magnitude);
    double own;

    if (bounds->is_exact) {
        *suspicion = 0;
        return 0;
    }
    if (bounds->is_integer)
        own = bounds->ulp_most + (ref == rint(ref) ? 0 : 0.5);
    else if (bounds->is_elementwise)
        own = bounds->ulp_most * ulp_of(bounds, size * bounds->ulp_reach);
    else
        own = fmax(bounds->unit_out * size, bounds->least_subnormal);
    *suspicion = own + (terms * (1 - 1e-6) <= size ? bounds->hard : bounds->suspicion) * terms;
    return own + bounds->hard * terms;
}

double check_tolerance(const check_bounds *bounds, double ref, double magnitude)
{
    double suspicion;

    return hard_bound(bounds, ref, magnitude, &suspicion);
}

/* -- an element -------------------------------------------------------------------------------- */

static check_judgement structure(const check_bounds *bounds, double out, double ref,
                                 double magnitude)
{
    const check_judgement fine = {CHECK_EQUAL, 0, 0, 0};
    const check_judgement wrong = {CHECK_STRUCTURE, INFINITY, INFINITY, UINT64_MAX};
    const bool same_side = signbit(out) == signbit(ref);
    const bool no_infinity = bounds->dtype == RIDGE_DTYPE_E4M3;

    if (isnan(ref))
        return isnan(out) ? fine : wrong;
    if (fabs(ref) + check_tolerance(bounds, isinf(ref) ? 0 : ref, magnitude) >= bounds->overflow) {
        /* Saturation is a choice of conversion (cvt.satfinite), not an error. */
        const bool is_out = isinf(out) || (fabs(out) == bounds->greatest && !isinf(ref));

        if ((is_out && same_side) ||
            (no_infinity && (isnan(out) || (same_side && fabs(out) == bounds->greatest))))
            return fine;
    }
    return wrong;
}

static check_judgement judge_integer(const check_bounds *bounds, double out, double ref,
                                     double magnitude)
{
    const double wanted = isnan(ref) ? 0 : fmax(bounds->integer_least, fmin(bounds->greatest, ref));
    const double error = fabs(out - wanted);
    double suspicion;
    const double hard = hard_bound(bounds, wanted, magnitude, &suspicion);
    const double off = fabs(out - rint(wanted));
    check_judgement got = {CHECK_EQUAL, error, 0, off < 0x1p62 ? (uint64_t)off : UINT64_MAX};

    if (isnan(error))
        return (check_judgement){CHECK_STRUCTURE, INFINITY, INFINITY, UINT64_MAX};
    if (off == 0)
        return got;
    got.scaled = hard > 0 ? error / hard : INFINITY;
    got.verdict = got.scaled <= 1 ? CHECK_WITHIN : CHECK_WRONG;
    return got;
}

/* What is not equal and finite. moved: what inputs a rounding away explain. */
static check_judgement judge_other(const check_bounds *bounds, double out, double ref,
                                   double magnitude, double moved)
{
    double suspicion;
    double hard;
    check_judgement got;

    if (bounds->is_integer)
        return judge_integer(bounds, out, ref, magnitude);
    if (!isfinite(out) || !isfinite(ref) || fabs(ref) >= bounds->overflow) {
        got = structure(bounds, out, ref, magnitude);
        if (got.verdict == CHECK_EQUAL || !isfinite(out) || !isfinite(ref))
            return got;
    }
    hard = hard_bound(bounds, ref, magnitude, &suspicion) + moved;
    suspicion += moved;
    got.error = fabs(out - ref);
    got.ulp = ulp_distance(bounds, out, ref);
    if (got.ulp == 0 && (!bounds->is_exact || check_rounded(bounds, ref) == out)) {
        got.verdict = CHECK_EQUAL;
        got.scaled = hard > 0 ? got.error / hard : 0;
        return got;
    }
    got.scaled = hard > 0 ? got.error / hard : INFINITY;
    got.verdict = got.error > hard        ? CHECK_WRONG
                  : got.error > suspicion ? CHECK_SUSPICIOUS
                                          : CHECK_WITHIN;
    if (got.verdict == CHECK_WRONG && bounds->flushes && !bounds->is_exact && out == 0 &&
        fabs(ref) < bounds->least_normal)
        got.verdict = CHECK_SUSPICIOUS;
    return got;
}

/* -- all of them ------------------------------------------------------------------------------- */

static int ulp_bin(uint64_t ulp)
{
    int bin = 0;

    while (bin < 15 && ulp > (bin == 0 ? 0 : UINT64_C(1) << (bin - 1)))
        bin++;
    return bin;
}

static uint64_t bits_in_type(ridge_dtype dtype, double value)
{
    unsigned char bytes[8] = {0};

    ridge_dtype_store(dtype, bytes, 0, value);
    return ridge_dtype_bits(dtype, bytes, 0);
}

static ridge_status check_shape(const ridge_comparand *pair, int64_t *count, ridge_error *err)
{
    *count = 1;
    if (pair->ndim < 0 || pair->ndim > RIDGE_BUFFER_DIMS)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "an array of %d axes, at most %d",
                          pair->ndim, RIDGE_BUFFER_DIMS);
    if (pair->dtype < 0 || pair->dtype >= RIDGE_DTYPE_COUNT)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "no such element type");
    for (int axis = 0; axis < pair->ndim; axis++) {
        const int64_t extent = pair->shape[axis];

        if (extent < 0 || (extent > 0 && *count > INT64_MAX / 64 / extent))
            return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "an extent of %lld in axis %d",
                              (long long)extent, axis);
        *count *= extent;
    }
    if (pair->rows != NULL && (pair->rows_axis < 0 || pair->rows_axis >= pair->ndim))
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "rows of axis %d of %d", pair->rows_axis,
                          pair->ndim);
    if (*count > 0 && (pair->out == NULL || pair->ref == NULL))
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "no array to compare");
    return RIDGE_OK;
}

static void start(const ridge_comparand *pair, int64_t count, ridge_mismatch *out)
{
    const size_t most = sizeof(out->name) - 1;
    size_t length = 0;

    memset(out, 0, sizeof(*out));
    while (pair->name != NULL && length < most && pair->name[length] != '\0')
        length++;
    if (length > 0)
        memcpy(out->name, pair->name, length);
    out->dtype = pair->dtype;
    out->ndim = pair->ndim;
    for (int axis = 0; axis < pair->ndim; axis++)
        out->shape[axis] = check_real_extent(pair, axis);
    out->element_count = count;
    out->worst_scaled_error = count == 0 ? NAN : 0;
    out->worst_index = out->first_index = out->last_index = -1;
    out->worst_out = out->worst_ref = NAN;
    out->period.axis = -1;
    out->plain_ratio = NAN;
    out->plain_worst_row = -1;
    out->picture_axis[0] = out->picture_axis[1] = -1;
    for (int i = 0; i < 4; i++)
        out->error_quantiles[i] = out->plain_quantiles[i] = NAN;
}

typedef struct pass {
    uint64_t *failing; /* NULL until one does */
    int64_t equal_count;
    double worst_error;
} pass;

static ridge_status note_wrong(pass *state, int64_t index, int64_t count, ridge_mismatch *out,
                               ridge_error *err)
{
    if (state->failing == NULL) {
        state->failing = ridge_calloc((size_t)(count / 64 + 1), sizeof(*state->failing));
        if (state->failing == NULL)
            return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "no memory for a map of %lld elements",
                              (long long)count);
        out->first_index = index;
    }
    state->failing[index / 64] |= UINT64_C(1) << (index % 64);
    out->last_index = index;
    out->wrong_count++;
    return RIDGE_OK;
}

static ridge_status judge_all(const ridge_comparand *pair, const check_bounds *bounds,
                              int64_t count, pass *state, ridge_mismatch *out, ridge_error *err)
{
    ridge_status status = RIDGE_OK;

    for (int64_t i = 0; i < count && status == RIDGE_OK; i++) {
        const double ref = pair->ref[i];
        check_judgement got;

        if (pair->out[i] == ref && fabs(ref) <= bounds->greatest) {
            state->equal_count++;
            out->ulp_histogram[0]++;
            continue;
        }
        got = judge_other(bounds, pair->out[i], ref,
                          pair->magnitude == NULL ? NAN : pair->magnitude[i],
                          pair->condition == NULL || bounds->is_exact
                              ? 0
                              : 2 * bounds->unit_sum * pair->condition[i]);
        state->equal_count += got.verdict == CHECK_EQUAL;
        out->ulp_histogram[got.ulp == 0 ? 0 : ulp_bin(got.ulp)]++;
        if (got.verdict != CHECK_STRUCTURE && (double)got.ulp > out->ulp_most)
            out->ulp_most = (double)got.ulp;
        if (got.scaled > out->worst_scaled_error || out->worst_index < 0 ||
            (got.scaled == out->worst_scaled_error && got.error > state->worst_error)) {
            out->worst_scaled_error = got.scaled;
            out->worst_index = i;
            state->worst_error = got.error;
        }
        out->suspicious_count += got.verdict == CHECK_SUSPICIOUS;
        out->structure_count += got.verdict == CHECK_STRUCTURE;
        if (got.verdict >= CHECK_WRONG)
            status = note_wrong(state, i, count, out, err);
    }
    return status;
}

static ridge_status explain(const ridge_comparand *pair, const check_bounds *bounds,
                            const uint64_t *failing, ridge_mismatch *out, ridge_error *err)
{
    check_facts facts = {.pair = pair, .bounds = bounds, .out = out, .failing = failing};
    ridge_status status;

    facts.wrong_count = out->wrong_count;
    status = check_locate(&facts, err);
    if (status == RIDGE_OK)
        status = check_relations(&facts, err);
    if (status == RIDGE_OK)
        check_cause(&facts);
    check_facts_release(&facts);
    return status;
}

ridge_status ridge_compare_arrays(const ridge_comparand *pair, ridge_mismatch *out,
                                  ridge_error *err)
{
    pass state = {.worst_error = 0};
    check_bounds bounds;
    ridge_status status;
    int64_t count;

    memset(out, 0, sizeof(*out));
    status = check_shape(pair, &count, err);
    if (status != RIDGE_OK)
        return status;
    start(pair, count, out);
    check_bounds_init(pair, count, &bounds);
    status = judge_all(pair, &bounds, count, &state, out, err);
    if (status == RIDGE_OK && pair->plain != NULL && !pair->is_exact && count > 0)
        status = check_second_opinion(pair, &bounds, count, out, err);
    if (status == RIDGE_OK && out->wrong_count > 0)
        status = explain(pair, &bounds, state.failing, out, err);
    if (status != RIDGE_OK)
        goto out;

    if (out->wrong_count == 0 && state.equal_count == count)
        out->match = RIDGE_MATCH_EXACT;
    else if (out->wrong_count > 0)
        out->match = RIDGE_MATCH_WRONG;
    else if (out->suspicious_count > 0 || out->plain_ratio > CHECK_PLAIN_RATIO)
        out->match = RIDGE_MATCH_SUSPICIOUS;
    else
        out->match = RIDGE_MATCH_WITHIN;
    if (out->worst_index >= 0) {
        out->worst_out = pair->out[out->worst_index];
        out->worst_ref = pair->ref[out->worst_index];
        out->worst_out_bits = bits_in_type(pair->dtype, out->worst_out);
        out->worst_ref_bits = bits_in_type(pair->dtype, out->worst_ref);
        out->worst_index = check_real_linear(pair, out->worst_index);
    }
    if (out->first_index >= 0) {
        out->first_index = check_real_linear(pair, out->first_index);
        out->last_index = check_real_linear(pair, out->last_index);
    }
out:
    ridge_free(state.failing);
    if (status != RIDGE_OK)
        memset(out, 0, sizeof(*out));
    return status;
}
