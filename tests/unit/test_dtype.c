/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include <float.h>
#include <math.h>

#include "ridge/dtype.h"

typedef struct bits_row {
    const char *name;
    ridge_dtype dtype;
} bits_row;

static bits_row small_types[] = {{"all f16", RIDGE_DTYPE_F16},   {"all bf16", RIDGE_DTYPE_BF16},
                                 {"all e4m3", RIDGE_DTYPE_E4M3}, {"all e5m2", RIDGE_DTYPE_E5M2},
                                 {"all i16", RIDGE_DTYPE_I16},   {"all i8", RIDGE_DTYPE_I8},
                                 {"all u8", RIDGE_DTYPE_U8}};

static double value_of(ridge_dtype dtype, uint64_t bits)
{
    const uint8_t bytes[8] = {(uint8_t)bits, (uint8_t)(bits >> 8)};

    return ridge_dtype_load(dtype, bytes, 0);
}

static uint64_t bits_of(ridge_dtype dtype, double value)
{
    uint8_t bytes[8] = {0};

    ridge_dtype_store(dtype, bytes, 0, value);
    return ridge_dtype_bits(dtype, bytes, 0);
}

/* Every code of a type comes back, and between two neighbours the nearer one, or the even one, is
 * chosen; each step along the type is one ulp. */
static void every_code(void **state)
{
    const ridge_dtype dtype = ((const bits_row *)*state)->dtype;
    const uint64_t count = UINT64_C(1) << (8 * ridge_dtype_bytes(dtype));
    const uint64_t half = count / 2;
    uint64_t bits;

    for (bits = 0; bits < count; bits++) {
        const double value = value_of(dtype, bits);
        const double next = value_of(dtype, bits + 1);
        double middle;

        if (isnan(value)) {
            assert_true(isnan(value_of(dtype, bits_of(dtype, value))));
            continue;
        }
        assert_int_equal(bits_of(dtype, value), bits);
        assert_true(ridge_dtype_round(dtype, value) == value);
        if (bits + 1 == count || (ridge_dtype_is_float(dtype) && bits + 1 == half) ||
            !isfinite(value) || !isfinite(next) || fabs(next - value) > 1e9)
            continue;
        if (!ridge_dtype_is_float(dtype) && next < value)
            continue; /* from the greatest to the least integer */
        middle = (value + next) / 2;
        assert_int_equal(bits_of(dtype, middle), (bits & 1) != 0 ? bits + 1 : bits);
        assert_int_equal(bits_of(dtype, nextafter(middle, value)), bits);
        assert_int_equal(bits_of(dtype, nextafter(middle, next)), bits + 1);
        assert_int_equal(ridge_dtype_ulp_distance(dtype, value, next), 1);
    }
}

/* f32 against the compiler's own conversion. */
static void single_as_the_machine_rounds(void **state)
{
    uint64_t random = 1;
    size_t i;

    (void)state;
    for (i = 0; i < 200000; i++) {
        double value;
        float rounded;
        uint32_t bits;

        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        value = ldexp((double)(int64_t)random, (int)(random >> 20 & 0x1FF) - 63 - 310);
        if (fabs(value) > FLT_MAX)
            continue;
        rounded = (float)value;
        memcpy(&bits, &rounded, sizeof(bits));
        assert_int_equal(bits_of(RIDGE_DTYPE_F32, value), bits);
        assert_true(ridge_dtype_round(RIDGE_DTYPE_F32, value) == (double)rounded);
    }
}

typedef struct store_row {
    const char *name;
    ridge_dtype dtype;
    double value;
    uint64_t bits;
} store_row;

static store_row stores[] = {
    {"f64 is kept", RIDGE_DTYPE_F64, 0.1, 0x3FB999999999999A},
    {"f64 subnormal", RIDGE_DTYPE_F64, 5e-324, 1},
    {"f64 quiet NaN", RIDGE_DTYPE_F64, (double)NAN, 0x7FF8000000000000},
    {"f32 overflow", RIDGE_DTYPE_F32, 3.5e38, 0x7F800000},
    {"f32 greatest", RIDGE_DTYPE_F32, 3.4028235e38, 0x7F7FFFFF},
    {"f32 half of the least is 0", RIDGE_DTYPE_F32, 0x1p-150, 0},
    {"f32 above half of the least", RIDGE_DTYPE_F32, 0x1.000002p-150, 1},
    {"f32 far below", RIDGE_DTYPE_F32, -1e-300, 0x80000000},
    {"f16 65519 is 65504", RIDGE_DTYPE_F16, 65519, 0x7BFF},
    {"f16 65520 is inf", RIDGE_DTYPE_F16, 65520, 0x7C00},
    {"f16 -inf", RIDGE_DTYPE_F16, -(double)INFINITY, 0xFC00},
    {"f16 NaN", RIDGE_DTYPE_F16, (double)NAN, 0x7E00},
    {"bf16 NaN", RIDGE_DTYPE_BF16, (double)NAN, 0x7FC0},
    {"bf16 tie to even below", RIDGE_DTYPE_BF16, 1 + 0x1p-8, 0x3F80},
    {"bf16 tie to even above", RIDGE_DTYPE_BF16, 1 + 0x3p-8, 0x3F82},
    {"bf16 carry into the exponent", RIDGE_DTYPE_BF16, 1.999, 0x4000},
    {"e4m3 448", RIDGE_DTYPE_E4M3, 448, 0x7E},
    {"e4m3 464 ties to 448", RIDGE_DTYPE_E4M3, 464, 0x7E},
    {"e4m3 465 is NaN", RIDGE_DTYPE_E4M3, 465, 0x7F},
    {"e4m3 inf is NaN", RIDGE_DTYPE_E4M3, -(double)INFINITY, 0xFF},
    {"e4m3 least", RIDGE_DTYPE_E4M3, 0x1p-9, 1},
    {"e5m2 57344", RIDGE_DTYPE_E5M2, 57344, 0x7B},
    {"e5m2 61440 is inf", RIDGE_DTYPE_E5M2, 61440, 0x7C},
    {"e5m2 NaN", RIDGE_DTYPE_E5M2, (double)NAN, 0x7E},
    {"i64 saturates", RIDGE_DTYPE_I64, 1e19, 0x7FFFFFFFFFFFFFFF},
    {"i64 least", RIDGE_DTYPE_I64, -0x1p63, 0x8000000000000000},
    {"i64 2^62", RIDGE_DTYPE_I64, 0x1p62, 0x4000000000000000},
    {"i32 tie to even", RIDGE_DTYPE_I32, 2.5, 2},
    {"i32 negative tie", RIDGE_DTYPE_I32, -3.5, 0xFFFFFFFC},
    {"i32 half is 0", RIDGE_DTYPE_I32, 0.5, 0},
    {"i32 above half", RIDGE_DTYPE_I32, 0.5000001, 1},
    {"i32 quarter", RIDGE_DTYPE_I32, 0.25, 0},
    {"i32 NaN is 0", RIDGE_DTYPE_I32, (double)NAN, 0},
    {"i32 inf", RIDGE_DTYPE_I32, (double)INFINITY, 0x7FFFFFFF},
    {"u32 negative", RIDGE_DTYPE_U32, -7, 0},
    {"u32 greatest", RIDGE_DTYPE_U32, 1e10, 0xFFFFFFFF},
    {"i8 saturates", RIDGE_DTYPE_I8, -1000, 0x80},
    {"u8 saturates", RIDGE_DTYPE_U8, 255.5, 0xFF},
};

static void stores_these_bits(void **state)
{
    const store_row *const row = *state;

    assert_int_equal(bits_of(row->dtype, row->value), row->bits);
}

typedef struct number_row {
    const char *name;
    ridge_dtype dtype;
    size_t bytes;
    double unit_roundoff, greatest, least_normal, least_subnormal;
} number_row;

static number_row numbers[] = {
    {"f64", RIDGE_DTYPE_F64, 8, 0x1p-53, DBL_MAX, DBL_MIN, 0x1p-1074},
    {"f32", RIDGE_DTYPE_F32, 4, 0x1p-24, FLT_MAX, FLT_MIN, 0x1p-149},
    {"f16", RIDGE_DTYPE_F16, 2, 0x1p-11, 65504, 0x1p-14, 0x1p-24},
    {"bf16", RIDGE_DTYPE_BF16, 2, 0x1p-8, 0x1.FEp127, 0x1p-126, 0x1p-133},
    {"e4m3", RIDGE_DTYPE_E4M3, 1, 0x1p-4, 448, 0x1p-6, 0x1p-9},
    {"e5m2", RIDGE_DTYPE_E5M2, 1, 0x1p-3, 57344, 0x1p-14, 0x1p-16},
    {"i64", RIDGE_DTYPE_I64, 8, 0, 0x1p63, 0, 1},
    {"i32", RIDGE_DTYPE_I32, 4, 0, INT32_MAX, 0, 1},
    {"u32", RIDGE_DTYPE_U32, 4, 0, UINT32_MAX, 0, 1},
    {"i16", RIDGE_DTYPE_I16, 2, 0, INT16_MAX, 0, 1},
    {"i8", RIDGE_DTYPE_I8, 1, 0, 127, 0, 1},
    {"u8", RIDGE_DTYPE_U8, 1, 0, 255, 0, 1},
};

static void numbers_of_the_format(void **state)
{
    const number_row *const row = *state;
    ridge_dtype found;

    assert_string_equal(ridge_dtype_name(row->dtype), row->name);
    assert_true(ridge_dtype_find(row->name, &found));
    assert_int_equal(found, row->dtype);
    assert_int_equal(ridge_dtype_bytes(row->dtype), row->bytes);
    assert_true(ridge_dtype_unit_roundoff(row->dtype) == row->unit_roundoff);
    assert_true(ridge_dtype_greatest(row->dtype) == row->greatest);
    assert_true(ridge_dtype_least_normal(row->dtype) == row->least_normal);
    assert_true(ridge_dtype_least_subnormal(row->dtype) == row->least_subnormal);
}

static void names_of_frameworks(void **state)
{
    ridge_dtype found = RIDGE_DTYPE_U8;

    (void)state;
    assert_true(ridge_dtype_find("torch.bfloat16", &found));
    assert_int_equal(found, RIDGE_DTYPE_BF16);
    assert_true(ridge_dtype_find("half", &found));
    assert_int_equal(found, RIDGE_DTYPE_F16);
    assert_true(ridge_dtype_find("float8_e4m3fn", &found));
    assert_int_equal(found, RIDGE_DTYPE_E4M3);
    assert_false(ridge_dtype_find("", &found));
    assert_false(ridge_dtype_find("bf17", &found));
    assert_int_equal(found, RIDGE_DTYPE_E4M3);
    assert_string_equal(ridge_dtype_name(RIDGE_DTYPE_COUNT), "unknown");
    assert_int_equal(ridge_dtype_bytes(RIDGE_DTYPE_COUNT), 0);
}

typedef struct distance_row {
    const char *name;
    ridge_dtype dtype;
    double a, b;
    uint64_t distance;
} distance_row;

static distance_row distances[] = {
    {"zeros", RIDGE_DTYPE_F32, 0.0, -0.0, 0},
    {"across zero", RIDGE_DTYPE_F32, -0x1p-149, 0x1p-149, 2},
    {"greatest and inf", RIDGE_DTYPE_F16, 65504, (double)INFINITY, 1},
    {"powers of two", RIDGE_DTYPE_BF16, 1, 2, 128},
    {"f64 ends", RIDGE_DTYPE_F64, -DBL_MAX, DBL_MAX, 0xFFDFFFFFFFFFFFFE},
    {"NaN twice", RIDGE_DTYPE_F32, (double)NAN, (double)NAN, 0},
    {"NaN once", RIDGE_DTYPE_F32, (double)NAN, 1, UINT64_MAX},
    {"integers", RIDGE_DTYPE_I32, -5, 7, 12},
    {"i64 ends", RIDGE_DTYPE_I64, -0x1p63, 0x1p63, UINT64_MAX},
};

static void distance_in_ulp(void **state)
{
    const distance_row *const row = *state;

    assert_int_equal(ridge_dtype_ulp_distance(row->dtype, row->a, row->b), row->distance);
    assert_int_equal(ridge_dtype_ulp_distance(row->dtype, row->b, row->a), row->distance);
}

static void unaligned_elements(void **state)
{
    unsigned char bytes[1 + 3 * 8] = {0};

    (void)state;
    ridge_dtype_store(RIDGE_DTYPE_F64, bytes + 1, 2, -1.5);
    assert_true(ridge_dtype_load(RIDGE_DTYPE_F64, bytes + 1, 2) == -1.5);
    assert_true(ridge_dtype_load(RIDGE_DTYPE_F64, bytes + 1, 1) == 0);
    ridge_dtype_store(RIDGE_DTYPE_F32, bytes + 1, 1, 3);
    assert_int_equal(ridge_dtype_bits(RIDGE_DTYPE_F32, bytes + 1, 1), 0x40400000);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, every_code, small_types);
    cases_add(&list, "f32 as the machine rounds", single_as_the_machine_rounds, NULL);
    CASES_ADD_ROWS(&list, stores_these_bits, stores);
    CASES_ADD_ROWS(&list, numbers_of_the_format, numbers);
    cases_add(&list, "names of frameworks", names_of_frameworks, NULL);
    CASES_ADD_ROWS(&list, distance_in_ulp, distances);
    cases_add(&list, "unaligned elements", unaligned_elements, NULL);
    return cases_run(&list, "dtype");
}
