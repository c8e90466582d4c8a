/* SPDX-License-Identifier: Apache-2.0
 *
 * What is called right, suspicious and wrong; where wrong elements are said to be. */
#include "check_arrays.h"

#include "base/memory.h"

static float chop(double value)
{
    float near = (float)value;

    /* Towards zero, as tensor cores align. */
    if (fabs((double)near) > fabs(value))
        near = nextafterf(near, 0);
    return near;
}

/* A dot product of bf16 numbers accumulated in f32, rounded or truncated, in chunks of 16. */
static void dot(arrays *a, int64_t length, bool truncates, double sign)
{
    uint64_t state = 11;

    for (int64_t i = 0; i < a->count; i++) {
        double exact = 0, magnitude = 0;
        float sum = 0;

        for (int64_t k = 0; k < length; k += 16) {
            double chunk = 0;

            for (int lane = 0; lane < 16; lane++) {
                double x = ridge_dtype_round(RIDGE_DTYPE_BF16, draw_normal(&state));
                double y = ridge_dtype_round(RIDGE_DTYPE_BF16, draw_normal(&state));

                if (sign > 0) {
                    x = fabs(x);
                    y = fabs(y);
                }
                chunk += x * y;
                magnitude += fabs(x * y);
            }
            exact += chunk;
            sum = truncates ? chop((double)sum + chunk) : (float)((double)sum + chunk);
        }
        a->ref[i] = exact;
        a->magnitude[i] = magnitude;
        a->out[i] = ridge_dtype_round(a->pair.dtype, (double)sum);
    }
    a->pair.accumulate_length = length;
    a->pair.accumulate_unit = truncates ? 0x1p-22 : 0;
}

static void rounded_dot(arrays *a)
{
    dot(a, 4096, false, 0);
}

static void truncated_dot(arrays *a)
{
    dot(a, 4096, true, 0);
}

/* Truncation pulls every sum down: beyond the square root, inside the hard bound. */
static void truncated_positive_dot(arrays *a)
{
    dot(a, 4096, true, 1);
}

static void no_magnitude(arrays *a)
{
    dot(a, 4096, false, 0);
    a->pair.magnitude = NULL;
}

static void copied(arrays *a)
{
    (void)a;
}

static void off_by_ulps(arrays *a, int64_t ulps)
{
    for (int64_t i = 0; i < a->count; i += 3) {
        int exponent;

        frexp(a->out[i], &exponent);
        a->out[i] =
            ridge_dtype_round(a->pair.dtype, a->out[i] + (double)ulps * ldexp(1, exponent - 24));
    }
}

static void one_ulp(arrays *a)
{
    off_by_ulps(a, 1);
}

static void five_ulp(arrays *a)
{
    off_by_ulps(a, 5);
}

static void one_ulp_where_exact(arrays *a)
{
    off_by_ulps(a, 1);
    a->pair.is_exact = true;
}

/* Sums that are off by three of the spreads that rounding has, none by the whole chain. */
static void beyond_square_root(arrays *a)
{
    dot(a, 4096, false, 0);
    for (int64_t i = 0; i < a->count; i++)
        a->out[i] = a->ref[i] + 0x1p-24 * 2000 * a->magnitude[i];
}

static void beyond_hard_bound(arrays *a)
{
    dot(a, 4096, false, 0);
    a->out[5] = a->ref[5] + 0x1p-24 * 5000 * a->magnitude[5];
}

static void worse_than_plain(arrays *a)
{
    dot(a, 256, false, 0);
    for (int64_t i = 0; i < a->count; i++) {
        a->plain[i] = a->ref[i] + 0x1p-24 * 2 * a->magnitude[i];
        a->out[i] = a->ref[i] + 0x1p-24 * 60 * a->magnitude[i];
    }
    a->pair.plain = a->plain;
}

static void one_row_worse_than_plain(arrays *a)
{
    worse_than_plain(a);
    for (int64_t i = 0; i < a->count; i++)
        a->out[i] = i / a->pair.shape[1] == 3 ? a->out[i] : a->plain[i];
}

static void like_plain(arrays *a)
{
    worse_than_plain(a);
    for (int64_t i = 0; i < a->count; i++)
        a->out[i] = a->ref[i] - 0x1p-24 * 2.2 * a->magnitude[i];
}

static void same_non_finite(arrays *a)
{
    a->ref[1] = a->out[1] = NAN;
    a->ref[2] = a->out[2] = INFINITY;
    a->ref[3] = a->out[3] = -INFINITY;
}

static void other_infinity(arrays *a)
{
    a->ref[2] = INFINITY;
    a->out[2] = -INFINITY;
}

static void missing_nan(arrays *a)
{
    a->ref[2] = NAN;
}

static void overflow(arrays *a)
{
    a->ref[0] = 70000;
    a->out[0] = INFINITY;
    a->ref[1] = -1e6;
    a->out[1] = -65504; /* saturates */
}

static void flushed(arrays *a)
{
    a->ref[0] = 1e-40;
    a->out[0] = 0;
}

static void subnormal_rounded(arrays *a)
{
    a->ref[0] = 3.4e-8;
    a->out[0] = 0x1p-24;
}

static void all_zero(arrays *a)
{
    memset(a->out, 0, (size_t)a->count * sizeof(double));
}

/* Small errors everywhere that an absolute tolerance of 0.5 would pass. */
static void random_output(arrays *a)
{
    uint64_t state = 8;

    for (int64_t i = 0; i < a->count; i++) {
        a->ref[i] *= 0.1;
        a->out[i] = ridge_dtype_round(a->pair.dtype, 0.2 * draw(&state));
    }
}

static void constant_output(arrays *a)
{
    for (int64_t i = 0; i < a->count; i++) {
        a->ref[i] *= 0.1;
        a->out[i] = 0.125;
    }
}

static void edge_among_many(arrays *a)
{
    a->out[a->count - 1] = 1e4; /* disappears in a root mean square */
}

static void integer_equal(arrays *a)
{
    for (int64_t i = 0; i < a->count; i++)
        a->ref[i] = a->out[i] = (double)(i % 7 - 3);
}

static void integer_off(arrays *a)
{
    integer_equal(a);
    a->out[9] += 1;
}

static void integer_rounded(arrays *a)
{
    integer_equal(a);
    a->ref[9] += 0.5; /* half way: either neighbour */
    a->ref[8] += 0.3;
    a->ref[7] = 1000;
    a->out[7] = 127;
}

static struct match_case {
    const char *name;
    ridge_dtype dtype;
    int64_t rows, columns;
    void (*make)(arrays *a);
    ridge_match match;
    int64_t wrong;
} match_cases[] = {
    {"rounded only", RIDGE_DTYPE_BF16, 64, 64, copied, RIDGE_MATCH_EXACT, 0},
    {"bf16 dot product of 4096", RIDGE_DTYPE_BF16, 12, 12, rounded_dot, RIDGE_MATCH_EXACT, 0},
    {"f32 dot product of 4096", RIDGE_DTYPE_F32, 12, 12, rounded_dot, RIDGE_MATCH_WITHIN, 0},
    {"truncating accumulation", RIDGE_DTYPE_F32, 12, 12, truncated_dot, RIDGE_MATCH_WITHIN, 0},
    {"truncation of one sign", RIDGE_DTYPE_F32, 12, 12, truncated_positive_dot, RIDGE_MATCH_WITHIN,
     0},
    {"no magnitude", RIDGE_DTYPE_F32, 12, 12, no_magnitude, RIDGE_MATCH_WITHIN, 0},
    {"one ulp of a function", RIDGE_DTYPE_F32, 64, 64, one_ulp, RIDGE_MATCH_WITHIN, 0},
    {"five ulp of a function", RIDGE_DTYPE_F32, 64, 64, five_ulp, RIDGE_MATCH_WRONG, 1366},
    {"one ulp where exact", RIDGE_DTYPE_F32, 64, 64, one_ulp_where_exact, RIDGE_MATCH_WRONG, 1366},
    {"beyond the square root", RIDGE_DTYPE_F32, 8, 8, beyond_square_root, RIDGE_MATCH_SUSPICIOUS,
     0},
    {"beyond the hard bound", RIDGE_DTYPE_F32, 8, 8, beyond_hard_bound, RIDGE_MATCH_WRONG, 1},
    {"worse than plain", RIDGE_DTYPE_F32, 4, 64, worse_than_plain, RIDGE_MATCH_SUSPICIOUS, 0},
    {"one row worse than plain", RIDGE_DTYPE_F32, 8, 64, one_row_worse_than_plain,
     RIDGE_MATCH_SUSPICIOUS, 0},
    {"as good as plain", RIDGE_DTYPE_F32, 4, 64, like_plain, RIDGE_MATCH_WITHIN, 0},
    {"NaN and infinities in place", RIDGE_DTYPE_F16, 4, 4, same_non_finite, RIDGE_MATCH_EXACT, 0},
    {"the other infinity", RIDGE_DTYPE_F16, 4, 4, other_infinity, RIDGE_MATCH_WRONG, 1},
    {"a number for NaN", RIDGE_DTYPE_F16, 4, 4, missing_nan, RIDGE_MATCH_WRONG, 1},
    {"overflow of f16", RIDGE_DTYPE_F16, 4, 4, overflow, RIDGE_MATCH_EXACT, 0},
    {"flushed to zero", RIDGE_DTYPE_F32, 4, 4, flushed, RIDGE_MATCH_SUSPICIOUS, 0},
    {"subnormal of f16", RIDGE_DTYPE_F16, 4, 4, subnormal_rounded, RIDGE_MATCH_EXACT, 0},
    {"everything is zero", RIDGE_DTYPE_BF16, 64, 64, all_zero, RIDGE_MATCH_WRONG, 4096},
    {"random below atol 0.5", RIDGE_DTYPE_BF16, 64, 64, random_output, RIDGE_MATCH_WRONG, -1},
    {"constant below atol 0.5", RIDGE_DTYPE_BF16, 64, 64, constant_output, RIDGE_MATCH_WRONG, -1},
    {"one edge element of many", RIDGE_DTYPE_BF16, 64, 64, edge_among_many, RIDGE_MATCH_WRONG, 1},
    {"equal integers", RIDGE_DTYPE_I32, 4, 4, integer_equal, RIDGE_MATCH_EXACT, 0},
    {"an integer off by one", RIDGE_DTYPE_I32, 4, 4, integer_off, RIDGE_MATCH_WRONG, 1},
    {"integers rounded and saturated", RIDGE_DTYPE_I8, 4, 4, integer_rounded, RIDGE_MATCH_WITHIN,
     0},
};

static void matches(void **state)
{
    const struct match_case *const row = *state;
    static ridge_mismatch got;
    int64_t seen = 0;
    arrays a;

    arrays_make(&a, row->dtype, 2, (const int64_t[]){row->rows, row->columns}, 0);
    a.pair.magnitude = a.magnitude;
    for (int64_t i = 0; i < a.count; i++)
        a.magnitude[i] = NAN;
    row->make(&a);
    arrays_compare(&a, &got);
    arrays_release(&a);
    if (got.match != row->match)
        fail_msg("match %d, worst %g, %lld wrong, %lld suspicious, plain %g", got.match,
                 got.worst_scaled_error, (long long)got.wrong_count,
                 (long long)got.suspicious_count, got.plain_ratio);
    if (row->wrong >= 0)
        assert_int_equal(got.wrong_count, row->wrong);
    else
        assert_true(got.wrong_count * 10 > got.element_count * 8);
    for (int i = 0; i < 16; i++)
        seen += got.ulp_histogram[i];
    assert_int_equal(seen, got.element_count);
}

static void locates(void **state)
{
    static ridge_mismatch got;
    arrays a;

    (void)state;
    arrays_make(&a, RIDGE_DTYPE_BF16, 3, (const int64_t[]){2, 130, 200}, 0);
    for (int64_t i = 128; i < 130; i++)
        for (int64_t j = 0; j < 200; j++)
            a.out[(130 + i) * 200 + j] += 8;
    a.out[(130 + 129) * 200 + 7] = 0x1p60;
    arrays_compare(&a, &got);
    assert_int_equal(got.wrong_count, 400);
    assert_int_equal(got.first_index, (130 + 128) * 200);
    assert_int_equal(got.last_index, 2 * 130 * 200 - 1);
    assert_int_equal(got.worst_index, (130 + 129) * 200 + 7);
    assert_int_equal(got.worst_out_bits, 0x5d80);
    assert_int_equal(got.box_first[0], 1);
    assert_int_equal(got.box_last[0], 1);
    assert_int_equal(got.box_first[1], 128);
    assert_int_equal(got.box_last[2], 199);
    assert_int_equal(got.region_count, 3);
    assert_int_equal(got.regions[1].axis, 1);
    assert_int_equal(got.regions[1].first, 128);
    assert_int_equal(got.regions[1].last, 129);
    assert_float_equal(got.regions[1].share_frac, 0.5, 1e-9);
    assert_int_equal(got.period.axis, -1);
    assert_int_equal(got.picture_axis[0], 1);
    assert_int_equal(got.picture_axis[1], 2);
    assert_int_equal(got.picture_rows, 64);
    assert_string_equal(got.picture[0], "                                                       "
                                        "         ");
    /* Rows 128 and 129 of 130 share the last cell; half of the depth. */
    assert_string_equal(got.picture[63], "++++++++++++++++++++++++++++++++++++++++++++++++++++++++"
                                         "++++++++");
    arrays_release(&a);
}

static void lists_runs(void **state)
{
    static ridge_mismatch got;
    arrays a;

    (void)state;
    arrays_make(&a, RIDGE_DTYPE_F32, 1, (const int64_t[]){300000}, 0);
    for (int64_t i = 1001; i <= 1003; i++)
        a.out[i] += 1;
    for (int64_t i = 200000; i <= 299999; i++)
        a.out[i] += 1;
    arrays_compare(&a, &got);
    /* Longer than the counters: edges are exact all the same. */
    assert_int_equal(got.region_count, 2);
    assert_int_equal(got.regions[0].first, 1001);
    assert_int_equal(got.regions[0].last, 1003);
    assert_int_equal(got.regions[1].first, 200000);
    assert_int_equal(got.regions[1].last, 299999);
    assert_float_equal(got.regions[1].share_frac, 1, 1e-9);
    arrays_release(&a);
}

/* Damage without a period must not be given one. */
static void no_period_by_chance(void **state)
{
    static ridge_mismatch got;
    int found = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint64_t random = seed * 7919;
        arrays a;

        arrays_make(&a, RIDGE_DTYPE_F32, 2, (const int64_t[]){256, 128}, 0);
        a.pair.tile[0] = 24;
        for (uint64_t i = 0; i < 4 + seed * 8; i++)
            a.out[(int64_t)(fabs(draw(&random)) * (double)a.count)] += 4;
        arrays_compare(&a, &got);
        found += got.period.axis >= 0;
        arrays_release(&a);
    }
    assert_int_equal(found, 0);
}

static void names_rows_of_a_larger_array(void **state)
{
    static const int64_t rows[] = {0, 5, 99};
    static ridge_mismatch got;
    arrays a;

    (void)state;
    arrays_make(&a, RIDGE_DTYPE_F32, 2, (const int64_t[]){3, 8}, 0);
    a.pair.rows = rows;
    a.pair.rows_extent = 100;
    a.out[2 * 8 + 3] += 1;
    arrays_compare(&a, &got);
    assert_int_equal(got.shape[0], 100);
    assert_int_equal(got.worst_index, 99 * 8 + 3);
    assert_int_equal(got.box_first[0], 99);
    assert_int_equal(got.regions[0].first, 99);
    arrays_release(&a);
}

static void takes_scalars_and_nothing(void **state)
{
    static ridge_mismatch got;
    const double one = 1, two = 2;
    ridge_comparand pair = {.dtype = RIDGE_DTYPE_F32, .out = &one, .ref = &two};

    (void)state;
    assert_int_equal(ridge_compare_arrays(&pair, &got, NULL), RIDGE_OK);
    assert_int_equal(got.match, RIDGE_MATCH_WRONG);
    assert_int_equal(got.wrong_count, 1);
    pair.ndim = 2;
    pair.out = pair.ref = NULL;
    pair.shape[0] = 4;
    assert_int_equal(ridge_compare_arrays(&pair, &got, NULL), RIDGE_OK);
    assert_int_equal(got.match, RIDGE_MATCH_EXACT);
    assert_true(isnan(got.worst_scaled_error));
}

static void refuses(void **state)
{
    static ridge_mismatch got;
    ridge_comparand pair = {.ndim = 6};
    ridge_error err;

    (void)state;
    assert_int_equal(ridge_compare_arrays(&pair, &got, &err), RIDGE_ERR_INVALID_ARGUMENT);
    pair.ndim = 1;
    pair.shape[0] = -1;
    assert_int_equal(ridge_compare_arrays(&pair, &got, &err), RIDGE_ERR_INVALID_ARGUMENT);
    pair.shape[0] = 3;
    assert_int_equal(ridge_compare_arrays(&pair, &got, &err), RIDGE_ERR_INVALID_ARGUMENT);
    assert_string_equal(err.text, "no array to compare");
}

static void survives_no_memory(void **state)
{
    static ridge_mismatch got;
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    ridge_error err;
    arrays a;
    size_t nth = 0;

    (void)state;
    arrays_make(&a, RIDGE_DTYPE_BF16, 2, (const int64_t[]){70000, 2}, 0);
    const double *const inputs[] = {a.previous};
    const int64_t counts[] = {1000};

    a.pair.plain = a.plain;
    a.pair.inputs = inputs;
    a.pair.input_counts = counts;
    a.pair.input_count = 1;
    for (int64_t i = 0; i < a.count; i++)
        a.out[i] = a.ref[i] * 3;
    while (status != RIDGE_OK) {
        ridge_memory_fail_at(++nth);
        status = ridge_compare_arrays(&a.pair, &got, &err);
        ridge_memory_fail_at(0);
        if (status != RIDGE_OK) {
            assert_int_equal(status, RIDGE_ERR_OUT_OF_MEMORY);
            assert_int_equal(got.element_count, 0);
        }
    }
    assert_true(nth > 10);
    assert_string_equal(got.cause_id, "scale");
    arrays_release(&a);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, matches, match_cases);
    cases_add(&list, "box, runs, picture", locates, NULL);
    cases_add(&list, "runs of a long axis", lists_runs, NULL);
    cases_add(&list, "no period by chance", no_period_by_chance, NULL);
    cases_add(&list, "rows of a larger array", names_rows_of_a_larger_array, NULL);
    cases_add(&list, "scalars and empty arrays", takes_scalars_and_nothing, NULL);
    cases_add(&list, "bad arguments", refuses, NULL);
    cases_add(&list, "out of memory", survives_no_memory, NULL);
    return cases_run(&list, "compare");
}
