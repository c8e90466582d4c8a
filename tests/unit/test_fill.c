/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include <math.h>

#include "device/fill_arithmetic.h"
#include "ridge/family.h"

enum { ROWS = 200, COLUMNS = 500, ELEMENTS = ROWS * COLUMNS };

typedef struct values_row {
    const char *name;
    ridge_values values;
    ridge_dtype dtype;
    double least, greatest; /* all lie between; both are about reached */
    double mean, deviation; /* NAN: not checked */
    bool has_seed;          /* another seed, other values */
} values_row;

#define ANY ((double)NAN)

static values_row kinds[] = {
    {"normal", RIDGE_VALUES_NORMAL, RIDGE_DTYPE_F32, -3.5, 3.5, 0, 1, true},
    {"int", RIDGE_VALUES_SMALL_INT, RIDGE_DTYPE_F32, -2, 2, 0, 1.414, true},
    {"unit", RIDGE_VALUES_UNIT_INT, RIDGE_DTYPE_F32, -1, 1, 0, 0.5, true},
    {"index f32", RIDGE_VALUES_INDEX, RIDGE_DTYPE_F32, 0, ELEMENTS - 1, ANY, ANY, false},
    {"index bf16", RIDGE_VALUES_INDEX, RIDGE_DTYPE_BF16, 0, 255, ANY, ANY, false},
    {"index e4m3", RIDGE_VALUES_INDEX, RIDGE_DTYPE_E4M3, 0, 15, ANY, ANY, false},
    {"index i8", RIDGE_VALUES_INDEX, RIDGE_DTYPE_I8, 0, 127, ANY, ANY, false},
    {"index u8", RIDGE_VALUES_INDEX, RIDGE_DTYPE_U8, 0, 255, ANY, ANY, false},
    {"onehot", RIDGE_VALUES_ONE_HOT, RIDGE_DTYPE_F32, 0, 1, 1.0 / COLUMNS, ANY, true},
    {"odd12", RIDGE_VALUES_ODD12, RIDGE_DTYPE_F32, -4095, 4095, 0, 3128, true},
    {"positive", RIDGE_VALUES_ONE_SIGN, RIDGE_DTYPE_F32, 0, 3.5, 0.81, 0.59, true},
    {"outlier", RIDGE_VALUES_OUTLIER, RIDGE_DTYPE_F32, -350, 350, 0, 10.05, true},
    {"subnormal f16", RIDGE_VALUES_SUBNORMAL, RIDGE_DTYPE_F16, -3.5 * 0x1p-14, 3.5 * 0x1p-14, ANY,
     0x1p-14, true},
    {"subnormal f64", RIDGE_VALUES_SUBNORMAL, RIDGE_DTYPE_F64, -3.5 * 0x1p-1022, 3.5 * 0x1p-1022,
     ANY, ANY, true},
    {"subnormal i32", RIDGE_VALUES_SUBNORMAL, RIDGE_DTYPE_I32, -2, 2, 0, 1.414, true},
    {"constant", RIDGE_VALUES_CONSTANT, RIDGE_DTYPE_F32, -3.5, 3.5, ANY, ANY, true},
    {"sorted", RIDGE_VALUES_SORTED, RIDGE_DTYPE_F32, -4, 5, ANY, ANY, true},
    {"zero", RIDGE_VALUES_ZERO, RIDGE_DTYPE_F32, 0, 0, 0, 0, false},
    {"one", RIDGE_VALUES_ONE, RIDGE_DTYPE_F32, 1, 1, 1, 0, false},
};

static ridge_buffer_desc matrix(ridge_dtype dtype)
{
    return (ridge_buffer_desc){
        .name = "x", .dtype = dtype, .ndim = 2, .shape = {ROWS, COLUMNS}, .stride = {COLUMNS, 1}};
}

static void values_of_a_kind(void **state)
{
    const values_row *const row = *state;
    const ridge_buffer_desc buffer = matrix(row->dtype);
    const double unit = row->values == RIDGE_VALUES_SUBNORMAL && row->dtype == RIDGE_DTYPE_F64
                            ? 0x1p-1022
                            : row->greatest;
    double least = (double)INFINITY, greatest = -(double)INFINITY, sum = 0, squares = 0;
    int64_t i, other = 0;

    for (i = 0; i < ELEMENTS; i++) {
        const double value = ridge_fill_value(row->values, &buffer, i, 3);

        assert_true(value >= row->least && value <= row->greatest);
        other += value != ridge_fill_value(row->values, &buffer, i, 4);
        least = fmin(least, value);
        greatest = fmax(greatest, value);
        sum += value;
        squares += value * value;
    }
    assert_true(greatest >= row->greatest - 0.4 * fabs(unit));
    assert_true(least <= row->least + 0.4 * fabs(unit));
    if (!isnan(row->mean))
        assert_true(fabs(sum / ELEMENTS - row->mean) <= 0.015 * row->greatest);
    if (!isnan(row->deviation)) {
        const double mean = sum / ELEMENTS;

        assert_true(fabs(sqrt(squares / ELEMENTS - mean * mean) - row->deviation) <=
                    0.03 * row->deviation);
    }
    if (row->has_seed)
        assert_true(other > (row->values == RIDGE_VALUES_ONE_HOT ? ROWS : ELEMENTS / 4));
    else
        assert_int_equal(other, 0);
}

/* What the kind promises of a row. */
static void rows(void **state)
{
    const ridge_buffer_desc buffer = matrix(RIDGE_DTYPE_F32);
    int64_t row, column;

    (void)state;
    for (row = 0; row < ROWS; row++) {
        const int64_t begin = row * COLUMNS;
        int64_t ones = 0;

        for (column = 0; column < COLUMNS; column++) {
            const double nonfinite =
                ridge_fill_value(RIDGE_VALUES_NONFINITE, &buffer, begin + column, 3);
            const double odd = ridge_fill_value(RIDGE_VALUES_ODD12, &buffer, begin + column, 3);

            ones += ridge_fill_value(RIDGE_VALUES_ONE_HOT, &buffer, begin + column, 3) == 1;
            assert_true(ridge_fill_value(RIDGE_VALUES_CONSTANT, &buffer, begin + column, 3) ==
                        ridge_fill_value(RIDGE_VALUES_CONSTANT, &buffer, begin, 3));
            if (column > 0)
                assert_true(ridge_fill_value(RIDGE_VALUES_SORTED, &buffer, begin + column, 3) >
                            ridge_fill_value(RIDGE_VALUES_SORTED, &buffer, begin + column - 1, 3));
            assert_int_equal(isfinite(nonfinite) != 0, row != 1 || column > 2);
            /* exact in f32, not with the 11 bits of TF32 and f16 */
            assert_true(ridge_dtype_round(RIDGE_DTYPE_F32, odd) == odd);
            assert_true(ridge_dtype_round(RIDGE_DTYPE_F16, odd) != odd);
        }
        assert_int_equal(ones, 1);
    }
    assert_true(isnan(ridge_fill_value(RIDGE_VALUES_NONFINITE, &buffer, COLUMNS, 3)));
    assert_true(ridge_fill_value(RIDGE_VALUES_NONFINITE, &buffer, COLUMNS + 1, 3) ==
                (double)INFINITY);
    assert_true(ridge_fill_value(RIDGE_VALUES_NONFINITE, &buffer, COLUMNS + 2, 3) ==
                -(double)INFINITY);
}

/* Different values: a tensor of one value would hide a wrong index. */
static void normal_is_not_degenerate(void **state)
{
    const ridge_buffer_desc buffer = matrix(RIDGE_DTYPE_BF16);
    static unsigned char seen[1 << 16];
    int64_t i, different = 0;

    (void)state;
    for (i = 0; i < ELEMENTS; i++) {
        const double value = ridge_fill_value(RIDGE_VALUES_NORMAL, &buffer, i, 3);
        uint16_t bits;

        ridge_dtype_store(RIDGE_DTYPE_BF16, &bits, 0, value);
        different += seen[bits] == 0;
        seen[bits] = 1;
    }
    assert_true(different > 2000);
}

/* These do not change: data of a seed is part of what a result means. */
static void stays_as_it_is(void **state)
{
    const ridge_buffer_desc scalar = {.dtype = RIDGE_DTYPE_F32};
    const ridge_buffer_desc empty = {.dtype = RIDGE_DTYPE_F32, .ndim = 1};

    (void)state;
    assert_true(fill_hash(1, 0) == UINT64_C(0x5E41AB087439611E));
    assert_true(fill_hash(0, 7) == UINT64_C(0x43DEC8BE6926A4DE));
    assert_true(ridge_fill_value(RIDGE_VALUES_NORMAL, &scalar, 0, 1) == -0x1.ce59c18p-3);
    assert_true(ridge_fill_value(RIDGE_VALUES_NORMAL, &empty, 0, 1) == 0);
}

/* Rows wider than 2^32 keep their order. */
static void sorted_in_a_wide_row(void **state)
{
    const int64_t columns = INT64_C(1) << 40;

    (void)state;
    assert_true(fill_sorted(0, 0, columns) == -4);
    assert_true(fill_sorted(0, columns / 2, columns) == 0);
    assert_true(fill_sorted(0, columns - 1, columns) < 4);
    assert_true(fill_sorted(0, columns - 1, columns) > 3.999);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, values_of_a_kind, kinds);
    cases_add(&list, "rows", rows, NULL);
    cases_add(&list, "normal is not degenerate", normal_is_not_degenerate, NULL);
    cases_add(&list, "stays as it is", stays_as_it_is, NULL);
    cases_add(&list, "sorted in a wide row", sorted_in_a_wide_row, NULL);
    return cases_run(&list, "fill");
}
