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
    assert_int_equal(got.wavefronts, 2); /* pairs of lanes agree */
    assert_int_equal(got.worst_bank, 28);
    (void)state;
}

/* Cases of bench/banks as an H200 counted them: lanes are given by what they take, in units of the
 * width; sources by their distance. */
static struct measured {
    const char *name;
    const char *access;
    uint32_t lanes;
    int divisor, modulus; /* unit = lane / divisor % modulus */
    uint32_t step, source_step;
    int wavefronts, reported;
} measured[] = {
    {"ld.8, pairs are one phase", "ld.8", RIDGE_BANKS_ALL_LANES, 2, 32, 8, 0, 1, 1},
    {"ld.8, lanes of 16 apart are not", "ld.8", RIDGE_BANKS_ALL_LANES, 1, 16, 8, 0, 2, 2},
    {"ld.8, three vectors", "ld.8", RIDGE_BANKS_ALL_LANES, 1, 3, 8, 0, 2, 2},
    {"ld.8, a lane off agrees", "ld.8", 0xfffffffe, 2, 32, 8, 0, 1, 1},
    {"ld.16, pairs are half-warps", "ld.16", RIDGE_BANKS_ALL_LANES, 2, 32, 16, 0, 2, 2},
    {"ld.16, all the same", "ld.16", RIDGE_BANKS_ALL_LANES, 32, 1, 16, 0, 2, 2},
    {"ld.16, the profiler goes astray", "ld.16", 0xfffffffe, 2, 32, 16, 0, 2, 3},
    {"st.8, pairs are not", "st.8", RIDGE_BANKS_ALL_LANES, 2, 32, 8, 0, 2, 2},
    {"st.16, all the same", "st.16", RIDGE_BANKS_ALL_LANES, 32, 1, 16, 0, 4, 4},
    {"cp.async.4", "cp.async.4", RIDGE_BANKS_ALL_LANES, 1, 32, 4, 4, 1, 1},
    {"cp.async.4, stride 132", "cp.async.4", RIDGE_BANKS_ALL_LANES, 1, 32, 132, 4, 1, 1},
    {"cp.async.4, stride 128", "cp.async.4", RIDGE_BANKS_ALL_LANES, 1, 32, 128, 4, 32, 32},
    {"cp.async.4, equal words are written", "cp.async.4", RIDGE_BANKS_ALL_LANES, 32, 1, 4, 4, 32,
     32},
    {"cp.async.4, sources meet", "cp.async.4", RIDGE_BANKS_ALL_LANES, 1, 32, 4, 32, 8, 8},
    {"cp.async.8, stride 16", "cp.async.8", RIDGE_BANKS_ALL_LANES, 1, 32, 16, 8, 4, 4},
    {"cp.async.16, whole lines", "cp.async.16", RIDGE_BANKS_ALL_LANES, 1, 32, 16, 16, 4, 4},
    {"cp.async.16, each its line", "cp.async.16", RIDGE_BANKS_ALL_LANES, 1, 32, 128, 16, 32, 32},
    {"cp.async.16, stride 32", "cp.async.16", RIDGE_BANKS_ALL_LANES, 1, 32, 32, 16, 32, 32},
    {"cp.async.16, stride 48", "cp.async.16", RIDGE_BANKS_ALL_LANES, 1, 32, 48, 16, 24, 24},
    {"cp.async.16, stride 48 from 48", "cp.async.16", RIDGE_BANKS_ALL_LANES, 1, 32, 48, 48, 24, 24},
    {"cp.async.16, stride 80", "cp.async.16", RIDGE_BANKS_ALL_LANES, 1, 32, 80, 16, 32, 32},
    {"cp.async.16, stride 48 from 32", "cp.async.16", RIDGE_BANKS_ALL_LANES, 1, 32, 48, 32, 32, 32},
    {"cp.async.16, the same target", "cp.async.16", RIDGE_BANKS_ALL_LANES, 32, 1, 16, 16, 1, 1},
    {"cp.async.16, pairs of lanes", "cp.async.16", RIDGE_BANKS_ALL_LANES, 2, 16, 16, 16, 16, 16},
    {"cp.async.16, the same source", "cp.async.16", RIDGE_BANKS_ALL_LANES, 1, 32, 16, 0, 32, 32},
    {"cp.async.16, some lanes", "cp.async.16", 0x0f0f0f0f, 1, 32, 16, 16, 4, 4},
};

static void is_as_measured(void **state)
{
    const struct measured *const test = *state;
    uint32_t address[RIDGE_BANKS_LANES], source[RIDGE_BANKS_LANES];
    ridge_bank_access access;
    ridge_bank_count got;
    ridge_bank_map map;
    uint32_t served = 0;

    assert_int_equal(ridge_bank_access_read(test->access, &access, NULL), RIDGE_OK);
    for (uint32_t lane = 0; lane < RIDGE_BANKS_LANES; lane++) {
        address[lane] = lane / (uint32_t)test->divisor % (uint32_t)test->modulus * test->step;
        source[lane] = lane * test->source_step;
    }
    assert_int_equal(ridge_banks_simulate(&access, address, source, test->lanes, &got, &map, NULL),
                     RIDGE_OK);
    assert_int_equal(got.wavefronts, test->wavefronts);
    assert_int_equal(got.reported, test->reported);
    assert_int_equal(map.wavefront_count, got.wavefronts);
    for (int row = 0; row < map.wavefront_count; row++)
        for (int bank = 0; bank < RIDGE_BANKS_COUNT; bank++)
            served |= map.lanes[row][bank];
    assert_int_equal(served, test->lanes);
}

/* The rule of the programming guide, written from the banks' side: for each phase, each bank, each
 * lane a word that no earlier lane of the phase has. */
static int by_the_book(const uint32_t address[RIDGE_BANKS_LANES], uint32_t lanes, uint32_t width)
{
    const uint32_t group = width <= 4 ? 32 : 128 / width;
    int sum = 0;

    for (uint32_t first = 0; first < 32; first += group) {
        int fullest = 0;

        for (uint32_t bank = 0; bank < 32; bank++) {
            uint32_t seen[32];
            int count = 0;

            for (uint32_t lane = first; lane < first + group; lane++)
                for (uint32_t word = address[lane] / 4; word <= (address[lane] + width - 1) / 4;
                     word++) {
                    bool is_new = (lanes >> lane & 1) != 0 && word % 32 == bank;

                    for (int i = 0; i < count && is_new; i++)
                        is_new = seen[i] != word;
                    if (is_new)
                        seen[count++] = word;
                }
            fullest = count > fullest ? count : fullest;
        }
        sum += fullest;
    }
    return sum;
}

static void random_addresses(void **state)
{
    uint32_t seed = 1;

    (void)state;
    for (int turn = 0; turn < 2000; turn++) {
        const uint32_t width = 1u << turn % 5;
        const ridge_bank_access store = {.op = RIDGE_BANK_STORE, .width_bytes = (int)width};
        const ridge_bank_access load = {.op = RIDGE_BANK_LOAD, .width_bytes = (int)width};
        uint32_t address[RIDGE_BANKS_LANES], lanes = RIDGE_BANKS_ALL_LANES;
        ridge_bank_count got;

        for (int lane = 0; lane < RIDGE_BANKS_LANES; lane++) {
            seed = seed * 1664525 + 1013904223;
            address[lane] = (seed >> 8) % (turn % 3 == 0 ? 64u : 3000u) * width;
        }
        if (turn % 2 == 1)
            lanes = seed | 1;
        assert_int_equal(ridge_banks_simulate(&store, address, NULL, lanes, &got, NULL, NULL),
                         RIDGE_OK);
        assert_int_equal(got.wavefronts, by_the_book(address, lanes, width));
        assert_int_equal(ridge_banks_simulate(&load, address, NULL, lanes, &got, NULL, NULL),
                         RIDGE_OK);
        if (width <= 4)
            assert_int_equal(got.wavefronts, by_the_book(address, lanes, width));
        else
            assert_true(got.wavefronts <= by_the_book(address, lanes, width));
    }
}

/* 8 lanes a row of 144 bytes, from rows of whole lines: 1 + 3 + 2 + 4 wavefronts. */
static void padded_rows_cut_copies(void **state)
{
    const ridge_bank_access copy = {.op = RIDGE_BANK_CP_ASYNC, .width_bytes = 16};
    uint32_t address[RIDGE_BANKS_LANES], source[RIDGE_BANKS_LANES];
    ridge_bank_count got;

    (void)state;
    for (uint32_t lane = 0; lane < RIDGE_BANKS_LANES; lane++) {
        address[lane] = lane / 8 * 144 + lane % 8 * 16;
        source[lane] = lane / 8 * 1024 + lane % 8 * 16;
    }
    assert_int_equal(
        ridge_banks_simulate(&copy, address, source, RIDGE_BANKS_ALL_LANES, &got, NULL, NULL),
        RIDGE_OK);
    assert_int_equal(got.wavefronts, 10);
    assert_int_equal(got.ideal, 4);
    for (uint32_t lane = 0; lane < RIDGE_BANKS_LANES; lane++)
        address[lane] = lane / 8 * 128 + (lane % 8 ^ lane / 8) * 16;
    assert_int_equal(
        ridge_banks_simulate(&copy, address, source, RIDGE_BANKS_ALL_LANES, &got, NULL, NULL),
        RIDGE_OK);
    assert_int_equal(got.wavefronts, 4);
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
    static struct CMUnitTest tests[COUNT(rows_cases) + COUNT(bad_rows) + COUNT(measured) + 6] = {
        cmocka_unit_test(random_addresses),       cmocka_unit_test(padded_rows_cut_copies),
        cmocka_unit_test(inactive_lanes),         cmocka_unit_test(the_end_of_the_address_space),
        cmocka_unit_test(swizzle_frees_ldmatrix), cmocka_unit_test(pads),
    };
    size_t count = 6;

    for (size_t i = 0; i < COUNT(rows_cases); i++)
        tests[count++] =
            (struct CMUnitTest){rows_cases[i].name, counts_rows, NULL, NULL, &rows_cases[i]};
    for (size_t i = 0; i < COUNT(measured); i++)
        tests[count++] =
            (struct CMUnitTest){measured[i].name, is_as_measured, NULL, NULL, &measured[i]};
    for (size_t i = 0; i < COUNT(bad_rows); i++)
        tests[count++] = (struct CMUnitTest){bad_rows[i].name, rejects, NULL, NULL, &bad_rows[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
