/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include "ridge/banks.h"

static ridge_bank_pattern pattern_of(const char *text)
{
    ridge_bank_pattern pattern;
    ridge_error err;

    if (ridge_bank_pattern_read(text, &pattern, &err) != RIDGE_OK)
        fail_msg("%s: %s", text, err.text);
    return pattern;
}

static ridge_bank_tile tile_of(const char *text)
{
    ridge_bank_tile tile;
    ridge_error err;

    if (ridge_bank_tile_read(text, &tile, &err) != RIDGE_OK)
        fail_msg("%s: %s", text, err.text);
    return tile;
}

/* Elements of some lanes of a step, as the PTX manual and the manual page have them. */
static struct element {
    const char *name; /* the pattern */
    const char *tile;
    int steps;       /* to walk it */
    int step, lane;  /* where to look */
    int row, column; /* -1: the lane is off */
} elements[] = {
    {"ld.2 row", "64x128:bf16", 256, 0, 31, 0, 31},
    {"ld.2 row", "64x128:bf16", 256, 5, 3, 1, 35},
    {"cp.async.16", "64x128:bf16", 32, 0, 17, 1, 8},
    {"ld.4 row", "3x20:fp32", 2, 1, 27, 2, 19},
    {"ld.4 row", "3x20:fp32", 2, 1, 28, -1, -1},
    {"ld.2 token-strided", "64x128:bf16", 256, 0, 31, 31, 0},
    {"ld.2 token-strided", "64x128:bf16", 256, 130, 5, 37, 2},
    {"ld.4 token-strided", "16x128:bf16", 64, 7, 15, 15, 14},
    {"ld.4 token-strided", "16x128:bf16", 64, 7, 16, -1, -1},
    {"ld.4 transposed", "16x32:fp32", 16, 1, 17, 1, 3},
    {"ld.16 quarter-rows", "16x128:bf16", 8, 0, 11, 3, 8},
    {"ld.16 quarter-rows", "16x128:bf16", 8, 5, 31, 15, 56},
    {"ld.4 mma-a", "16x16:bf16", 4, 0, 7, 1, 6},
    {"ld.4 mma-a", "16x16:bf16", 4, 1, 7, 9, 6},
    {"ld.4 mma-a", "16x16:bf16", 4, 2, 7, 1, 14},
    {"ld.4 mma-a", "16x16:bf16", 4, 3, 7, 9, 14},
    {"ld.4 mma-a", "16x8:tf32", 4, 2, 7, 1, 7},
    {"ld.4 mma-a", "16x32:int8", 4, 3, 7, 9, 28},
    {"ld.4 mma-b", "8x16:bf16", 2, 1, 30, 7, 12},
    {"ld.2 mma-b-trans", "16x8:bf16", 4, 0, 30, 4, 7},
    {"ld.2 mma-b-trans", "16x8:bf16", 4, 1, 30, 5, 7},
    {"ld.2 mma-b-trans", "16x8:bf16", 4, 3, 30, 13, 7},
    {"st.8 mma-c", "16x8:fp32", 2, 0, 30, 7, 4},
    {"st.4 mma-c", "16x8:bf16", 2, 1, 30, 15, 4},
    {"ldmatrix.x4", "16x16:bf16", 1, 0, 9, 9, 0},
    {"ldmatrix.x4", "16x16:bf16", 1, 0, 25, 9, 8},
    {"ldmatrix.x4 ldmatrix-b", "16x16:bf16", 1, 0, 9, 1, 8},
    {"ldmatrix.x4 ldmatrix-b", "16x16:bf16", 1, 0, 25, 9, 8},
    {"ldmatrix.x4.trans ldmatrix-b", "32x32:bf16", 4, 3, 17, 25, 16},
    {"ldmatrix.x2", "16x16:bf16", 2, 1, 15, 15, 8},
    {"ldmatrix.x2", "16x16:bf16", 2, 1, 16, -1, -1},
    {"ldmatrix.x2 ldmatrix-b", "8x16:bf16", 1, 0, 15, 7, 8},
    {"ldmatrix.x1", "8x16:bf16", 2, 1, 7, 7, 8},
    {"ld.4 lane / 4, lane % 4 * 2 + i i=3 @1,2", "16x32:bf16", 3, 2, 30, 8, 8},
    {"ld.4 warp * 16 + lane / 2, 0 warp=1", "32x2:bf16", 1, 0, 31, 31, 0},
    {"ld.4 lane, 0 lanes=0xf0", "32x2:bf16", 1, 0, 4, 4, 0},
    {"ld.4 lane, 0 lanes=0xf0", "32x2:bf16", 1, 0, 8, -1, -1},
    {"ld.2 token-strided @2,5", "64x128:bf16", 1, 0, 3, 5, 5},
    {"ld.2 row i=2", "64x128:bf16", 2, 1, 0, 0, 32},
};

static void is_there(void **state)
{
    const struct element *const test = *state;
    const ridge_bank_pattern pattern = pattern_of(test->name);
    const ridge_bank_tile tile = tile_of(test->tile);
    ridge_bank_elements got;
    int steps;

    assert_int_equal(ridge_bank_pattern_steps(&pattern, &tile, &steps, NULL), RIDGE_OK);
    assert_int_equal(steps, test->steps);
    assert_int_equal(ridge_bank_pattern_elements(&pattern, &tile, test->step, &got, NULL),
                     RIDGE_OK);
    assert_int_equal(got.lanes >> test->lane & 1, test->row >= 0);
    if (test->row >= 0) {
        assert_int_equal(got.row[test->lane], test->row);
        assert_int_equal(got.column[test->lane], test->column);
    }
}

/* A named pattern walks its tile: each element is taken once. */
static const struct walk {
    const char *name;
    const char *tile;
} walks[] = {
    {"ld.2 row", "13x40:bf16"},           {"ld.8 transposed", "24x40:bf16"},
    {"ld.4 token-strided", "40x12:bf16"}, {"ld.16 quarter-rows", "20x72:bf16"},
    {"ld.4 mma-a", "48x32:bf16"},         {"ld.4 mma-b", "24x64:int8"},
    {"ld.2 mma-b-trans", "32x24:fp16"},   {"st.8 mma-c", "32x24:fp32"},
    {"ldmatrix.x4", "48x32:bf16"},        {"ldmatrix.x2 ldmatrix-b", "24x32:bf16"},
    {"ldmatrix.x1", "24x24:bf16"},        {"stmatrix.x4 ldmatrix-b", "32x48:bf16"},
};

static void walks_the_tile(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(walks) / sizeof(walks[0]); i++) {
        const ridge_bank_pattern pattern = pattern_of(walks[i].name);
        const ridge_bank_tile tile = tile_of(walks[i].tile);
        const int vector = pattern.access.width_bytes / tile.element_bytes;
        unsigned char *const taken = calloc((size_t)tile.rows, (size_t)tile.columns);
        int steps;

        assert_non_null(taken);
        assert_int_equal(ridge_bank_pattern_steps(&pattern, &tile, &steps, NULL), RIDGE_OK);
        for (int step = 0; step < steps; step++) {
            ridge_bank_elements got;

            assert_int_equal(ridge_bank_pattern_elements(&pattern, &tile, step, &got, NULL),
                             RIDGE_OK);
            assert_int_not_equal(got.lanes, 0);
            for (int lane = 0; lane < RIDGE_BANKS_LANES; lane++)
                for (int k = 0; (got.lanes >> lane & 1) != 0 && k < vector; k++)
                    assert_int_equal(taken[got.row[lane] * tile.columns + got.column[lane] + k]++,
                                     0);
        }
        for (int at = 0; at < tile.rows * tile.columns; at++)
            if (taken[at] != 1)
                fail_msg("%s on %s: element %d", walks[i].name, walks[i].tile, at);
        free(taken);
    }
}

static struct bad {
    const char *name; /* the pattern */
    const char *tile; /* NULL: cannot even be read */
    const char *message;
} bads[] = {
    {"", NULL, "'' is no shared-memory access"},
    {"ld.4 tokenstrided", NULL,
     "unknown pattern 'tokenstrided', expected row, token-strided, transposed, quarter-rows"},
    {"ld.4 lane", NULL, "unknown pattern 'lane'"},
    {"ld.4 lane+1", NULL, "column 7: expected an operator or ',', found the end"},
    {"ld.4 lane, col", NULL, "unknown name 'col', expected one of lane, warp, i"},
    {"ld.4 row lanes=0", NULL, "lanes='0', expected a mask of 1 to 0xffffffff"},
    {"ld.4 row lanes=0x1ffffffff", NULL, "expected a mask"},
    {"ld.4 row i=0", NULL, "steps i '0', expected a number of 1 to 65536"},
    {"ld.4 row warp=32", NULL, "warp '32', expected a number of 0 to 31"},
    {"ld.4 row @1", NULL, "origin '@1', expected @ROW,COLUMN"},
    {"ld.1 row", "64x128:bf16", "ld.1 takes less than an element of 2 bytes"},
    {"ld.16 row", "64x12:bf16", "ld.16 takes 8 elements, rows of 12 columns are no multiple"},
    {"ld.4 ldmatrix-a", "16x16:bf16", "pattern ldmatrix-a is for ldmatrix and stmatrix, not ld.4"},
    {"ldmatrix.x4 mma-a", "16x16:bf16", "for ldmatrix.x4 use ldmatrix-a or ldmatrix-b"},
    {"ld.2 mma-a", "16x16:bf16", "pattern mma-a takes registers of 4 bytes, not ld.2"},
    {"ld.4 mma-c", "16x16:fp32", "pattern mma-c takes 2 elements of 4 bytes a lane, not ld.4"},
    {"st.16 mma-c", "16x16:fp64", "pattern mma-c is for elements of up to 4 bytes, not 8"},
    {"ld.4 lane, 0", "16x2:bf16", "lane 16: 2 elements from row 16, column 0 on lie outside"},
    {"ld.4 lane, 1", "32x2:bf16", "lane 0: 2 elements from row 0, column 1 on lie outside"},
    {"ld.4 0, lane - 1", "32x64:fp32", "lane 0: 1 element from row 0, column -1 on lie outside"},
    {"ld.4 9223372036854775807, 0 @5,0", "8x8:fp32", "1 element from row -9223372036854775804,"},
    {"ld.2 row", "64x64:bf16:xor=col*2",
     "xor=col*2 puts elements (0, 0) and (0, 1) at one address"},
    {"ld.4 row @8,0", "8x8:fp32", "ld.4 row: no lane takes part"},
    {"ldmatrix.x1 lanes=0xff00", "8x8:bf16", "ldmatrix.x1 ldmatrix-a: no lane takes part"},
    {"ld.4 32 / (8 - lane), 0", "64x2:bf16", "column 4: division by zero"},
    {"ld.4 row", "32x64:bf16:65", "lane 0: address 130 is no multiple of the 4 bytes"},
    {"ld.16 row", "16x64:bf16:swizzle=1,3,4", "are not contiguous, so that no access of 16 bytes"},
    {"ld.1 row", "65536x4096:int8", "8388608 instructions to walk a tile of 65536 x 4096"},
};

static void rejects(void **state)
{
    const struct bad *const test = *state;
    ridge_bank_pattern pattern;
    ridge_bank_result result;
    ridge_error err = {.text = ""};
    const ridge_status status = ridge_bank_pattern_read(test->name, &pattern, &err);

    if (test->tile != NULL) {
        const ridge_bank_tile tile = tile_of(test->tile);

        assert_int_equal(status, RIDGE_OK);
        assert_int_not_equal(ridge_bank_pattern_run(&pattern, &tile, &result, &err), RIDGE_OK);
        assert_int_equal(result.steps, 0);
    } else {
        assert_int_not_equal(status, RIDGE_OK);
        assert_int_equal(pattern.lanes, 0);
    }
    if (strstr(err.text, test->message) == NULL)
        fail_msg("%s", err.text);
}

/* The ladder of the corpus kernels w05, w06 and w07, and the rows of Kimi Delta Attention. */
static struct run {
    const char *name; /* the tile */
    const char *pattern;
    int wavefronts, ideal; /* of the worst instruction */
} runs[] = {
    {"64x128:bf16", "ld.2 token-strided", 32, 1},
    {"64x128:bf16:136", "ld.2 token-strided", 4, 1},
    {"64x128:bf16:130", "ld.2 token-strided", 1, 1},
    {"16x128:bf16:136", "ld.16 quarter-rows", 4, 4},
    {"16x128:fp32:132", "ld.16 quarter-rows", 4, 4},
    {"16x128:bf16", "ld.16 quarter-rows", 32, 4},
    {"16x128:bf16:8x8", "st.16 quarter-rows", 4, 4},
    {"128x128:bf16:8x8", "ldmatrix.x4", 4, 4},
    {"128x128:bf16:8x8", "ldmatrix.x4.trans ldmatrix-b", 4, 4},
    {"128x128:bf16:8x8", "st.4 mma-c", 1, 1},
    {"64x64:bf16", "ldmatrix.x4", 32, 4},
    {"64x64:bf16:swizzle=128B", "ldmatrix.x4", 4, 4},
    {"64x64:bf16:72", "ldmatrix.x4", 4, 4},
    {"32x32:fp32", "ld.4 transposed", 32, 1},
    {"32x32:fp32:33", "ld.4 transposed", 1, 1},
};

static void runs_well(void **state)
{
    const struct run *const test = *state;
    const ridge_bank_tile tile = tile_of(test->name);
    const ridge_bank_pattern pattern = pattern_of(test->pattern);
    ridge_bank_result result;

    assert_int_equal(ridge_bank_pattern_run(&pattern, &tile, &result, NULL), RIDGE_OK);
    assert_int_equal(result.worst.wavefronts, test->wavefronts);
    assert_int_equal(result.worst.ideal, test->ideal);
    assert_true(result.wavefronts >= result.ideal);
}

static void has_names(void **state)
{
    size_t count = 0;

    (void)state;
    while (ridge_bank_pattern_name(count) != NULL)
        assert_non_null(ridge_bank_pattern_meaning(count++));
    assert_int_equal(count, 10);
    assert_null(ridge_bank_pattern_meaning(count));
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, is_there, elements);
    CASES_ADD_ROWS(&list, rejects, bads);
    CASES_ADD_ROWS(&list, runs_well, runs);
    cases_add(&list, "named patterns walk the tile", walks_the_tile, NULL);
    cases_add(&list, "names", has_names, NULL);
    return cases_run(&list, "pattern");
}
