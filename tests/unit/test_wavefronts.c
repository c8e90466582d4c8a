/* SPDX-License-Identifier: Apache-2.0 */
#include "ridge/banks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static struct rows_case {
    const char *name;
    ridge_bank_rows rows; /* stride, column, element, width */
    int wavefronts, ideal, degree;
} rows_cases[] = {
    {"bf16, 128", {128, 0, 2, 0}, 32, 1, 32},
    {"bf16, 136", {136, 0, 2, 0}, 4, 1, 4},
    {"bf16, 130", {130, 0, 2, 0}, 1, 1, 1},
    {"bf16, 129: two lanes a bank", {129, 0, 2, 0}, 2, 1, 2},
    {"float, 32", {32, 0, 4, 0}, 32, 1, 32},
    {"float, 33", {33, 0, 4, 0}, 1, 1, 1},
    {"float, 33, another column", {33, 17, 4, 0}, 1, 1, 1},
    {"float, 40", {40, 0, 4, 0}, 8, 1, 8},
    {"a row", {1, 0, 4, 0}, 1, 1, 1},
    {"one word", {0, 5, 4, 0}, 1, 1, 1},
    {"bytes of a row", {1, 0, 1, 0}, 1, 1, 1},
    {"doubles of a row", {1, 0, 8, 0}, 2, 2, 1},
    {"doubles, 16", {16, 0, 8, 0}, 32, 2, 16},
    {"doubles, 17", {17, 0, 8, 0}, 2, 2, 1},
    {"float4 of a row", {1, 0, 16, 0}, 4, 4, 1},
    {"ldmatrix, bf16 rows of 128 bytes", {64, 0, 2, 16}, 32, 4, 8},
    {"ldmatrix, bf16 rows of 144 bytes", {72, 0, 2, 16}, 4, 4, 1},
    {"ldmatrix, bf16 rows of 64 bytes", {32, 0, 2, 16}, 16, 4, 4},
};

static void counts_rows(void **state)
{
    const struct rows_case *const test = *state;
    ridge_bank_count got;

    assert_int_equal(ridge_banks_rows(&test->rows, &got, NULL), RIDGE_OK);
    assert_int_equal(got.wavefronts, test->wavefronts);
    assert_int_equal(got.ideal, test->ideal);
    assert_int_equal(got.degree, test->degree);
}

static void inactive_lanes(void **state)
{
    uint32_t address[RIDGE_BANKS_LANES];
    ridge_bank_count got;

    for (uint32_t lane = 0; lane < RIDGE_BANKS_LANES; lane++)
        address[lane] = lane * 128 + 4; /* all in bank 1 */
    assert_int_equal(ridge_banks_count(address, 0, 4, &got, NULL), RIDGE_OK);
    assert_int_equal(got.wavefronts, 0);
    assert_int_equal(got.ideal, 0);
    assert_int_equal(got.worst_bank, -1);
    assert_int_equal(ridge_banks_count(address, 0xff00, 4, &got, NULL), RIDGE_OK);
    assert_int_equal(got.wavefronts, 8);
    assert_int_equal(got.ideal, 1);
    assert_int_equal(got.worst_bank, 1);
    address[0] = 3; /* misaligned, but inactive */
    assert_int_equal(ridge_banks_count(address, 0x2, 4, &got, NULL), RIDGE_OK);
    assert_int_equal(got.wavefronts, 1);
    /* 8-byte accesses of one half-warp are one phase, not two */
    for (uint32_t lane = 0; lane < RIDGE_BANKS_LANES; lane++)
        address[lane] = lane * 8;
    assert_int_equal(ridge_banks_count(address, 0xffff, 8, &got, NULL), RIDGE_OK);
    assert_int_equal(got.wavefronts, 1);
    assert_int_equal(got.ideal, 1);
    (void)state;
}

static void the_end_of_the_address_space(void **state)
{
    uint32_t address[RIDGE_BANKS_LANES];
    ridge_bank_count got;

    for (uint32_t lane = 0; lane < RIDGE_BANKS_LANES; lane++)
        address[lane] = UINT32_MAX - 15;
    assert_int_equal(ridge_banks_count(address, RIDGE_BANKS_ALL_LANES, 16, &got, NULL), RIDGE_OK);
    assert_int_equal(got.wavefronts, 4);
    assert_int_equal(got.worst_bank, 28);
    (void)state;
}

static void swizzle_frees_ldmatrix(void **state)
{
    uint32_t address[RIDGE_BANKS_LANES];
    ridge_bank_count got;

    for (uint32_t chunk = 0; chunk < 8; chunk++) {
        for (uint32_t row = 0; row < RIDGE_BANKS_LANES; row++) {
            address[row] = ridge_banks_swizzle(row * 128 + chunk * 16, 3, 4, 3);
            assert_int_equal(address[row], row * 128 + (chunk ^ row % 8) * 16);
        }
        assert_int_equal(ridge_banks_count(address, RIDGE_BANKS_ALL_LANES, 16, &got, NULL),
                         RIDGE_OK);
        assert_int_equal(got.wavefronts, 4);
        assert_int_equal(got.degree, 1);
    }
    assert_int_equal(ridge_banks_swizzle(0x12345, 0, 0, 0), 0x12345);
    assert_int_equal(ridge_banks_swizzle(0x12345, 32, 0, 0), 0);
    assert_int_equal(ridge_banks_swizzle(0x80000000, 1, 0, 31), 0x80000001);
    (void)state;
}

static void pads(void **state)
{
    const ridge_bank_rows floats = {.stride_elements = 32, .element_bytes = 4};
    const ridge_bank_rows halves = {.stride_elements = 128, .element_bytes = 2};
    const ridge_bank_rows matrix = {.stride_elements = 64, .element_bytes = 2, .width_bytes = 16};
    ridge_bank_padding got[RIDGE_BANKS_LARGEST_PADDING];
    size_t count;
    bool seen_130 = false, seen_136 = false;

    /* 33 to 96 but for 64 and 96, which are as bad as 32 */
    assert_int_equal(ridge_banks_pad(&floats, got, COUNT(got), &count, NULL), RIDGE_OK);
    assert_int_equal(count, 62);
    assert_int_equal(got[0].stride_elements, 33);
    assert_int_equal(got[0].added_elements, 1);
    assert_int_equal(got[0].count.degree, 1);
    assert_false(got[0].rows_16_aligned);
    assert_int_equal(got[3].stride_elements, 36);
    assert_int_equal(got[3].count.degree, 4);
    assert_true(got[3].rows_16_aligned);

    assert_int_equal(ridge_banks_pad(&halves, got, COUNT(got), &count, NULL), RIDGE_OK);
    for (size_t i = 0; i < count; i++) {
        if (got[i].stride_elements == 130)
            seen_130 = got[i].count.degree == 1 && !got[i].rows_16_aligned;
        if (got[i].stride_elements == 136)
            seen_136 = got[i].count.degree == 4 && got[i].rows_16_aligned;
    }
    assert_true(seen_130 && seen_136);

    /* ldmatrix: every eighth element only, the rest would trap */
    assert_int_equal(ridge_banks_pad(&matrix, got, COUNT(got), &count, NULL), RIDGE_OK);
    assert_int_equal(count, 7);
    assert_int_equal(got[0].stride_elements, 72);
    assert_int_equal(got[0].count.degree, 1);

    /* the count without room, and nothing to gain */
    assert_int_equal(ridge_banks_pad(&matrix, NULL, 0, &count, NULL), RIDGE_OK);
    assert_int_equal(count, 7);
    assert_int_equal(ridge_banks_pad(&(ridge_bank_rows){.stride_elements = 33, .element_bytes = 4},
                                     got, COUNT(got), &count, NULL),
                     RIDGE_OK);
    assert_int_equal(count, 0);
    (void)state;
}

static struct bad_rows {
    const char *name;
    ridge_bank_rows rows;
    ridge_status status;
    const char *message;
} bad_rows[] = {
    {"3-byte elements", {32, 0, 3, 0}, RIDGE_ERR_INVALID_ARGUMENT, "elements of 3 bytes"},
    {"no elements", {32, 0, 0, 0}, RIDGE_ERR_INVALID_ARGUMENT, "elements of 0 bytes"},
    {"32-byte accesses", {32, 0, 4, 32}, RIDGE_ERR_INVALID_ARGUMENT, "access of 32 bytes a lane"},
    {"negative accesses", {32, 0, 4, -4}, RIDGE_ERR_INVALID_ARGUMENT, "access of -4 bytes a lane"},
    {"odd rows", {33, 0, 4, 16}, RIDGE_ERR_MISALIGNED, "lane 1: address 132 is no multiple of"},
    {"odd column", {64, 1, 2, 4}, RIDGE_ERR_MISALIGNED, "lane 0: address 2"},
    {"endless rows", {SIZE_MAX, 0, 4, 0}, RIDGE_ERR_OVERFLOW, "elements, expected at most"},
    {"endless column", {1, SIZE_MAX, 4, 0}, RIDGE_ERR_OVERFLOW, "column"},
};

static void rejects(void **state)
{
    const struct bad_rows *const bad = *state;
    ridge_bank_padding padding;
    ridge_bank_count got;
    ridge_error err;
    size_t count = 1;

    assert_int_equal(ridge_banks_rows(&bad->rows, &got, &err), bad->status);
    assert_non_null(strstr(err.text, bad->message));
    assert_int_equal(got.wavefronts, 0);
    assert_int_equal(ridge_banks_pad(&bad->rows, &padding, 1, &count, NULL), bad->status);
    assert_int_equal(count, 0);
}

int main(void)
{
    static struct CMUnitTest tests[COUNT(rows_cases) + COUNT(bad_rows) + 4] = {
        cmocka_unit_test(inactive_lanes),
        cmocka_unit_test(the_end_of_the_address_space),
        cmocka_unit_test(swizzle_frees_ldmatrix),
        cmocka_unit_test(pads),
    };
    size_t count = 4;

    for (size_t i = 0; i < COUNT(rows_cases); i++)
        tests[count++] =
            (struct CMUnitTest){rows_cases[i].name, counts_rows, NULL, NULL, &rows_cases[i]};
    for (size_t i = 0; i < COUNT(bad_rows); i++)
        tests[count++] = (struct CMUnitTest){bad_rows[i].name, rejects, NULL, NULL, &bad_rows[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
