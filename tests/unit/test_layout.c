/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include "ridge/banks.h"

static ridge_bank_tile tile_of(const char *text)
{
    ridge_bank_tile tile;
    ridge_error err;

    if (ridge_bank_tile_read(text, &tile, &err) != RIDGE_OK)
        fail_msg("%s: %s", text, err.text);
    return tile;
}

static uint32_t address_of(const ridge_bank_tile *tile, int row, int column)
{
    uint32_t address;

    assert_int_equal(ridge_bank_tile_address(tile, row, column, &address, NULL), RIDGE_OK);
    return address;
}

/* Each formula is written out here, from its specification. */
static uint32_t at_stride_136(int r, int c)
{
    return (uint32_t)(r * 272 + c * 2);
}
static uint32_t at_base(int r, int c)
{
    return (uint32_t)(1024 + r * 64 * 4 + c * 4);
}
/* The 8x8 tiles of element (r, c) in R x D. */
static uint32_t in_blocks(int r, int c)
{
    return 2 * (uint32_t)((r / 8 * (128 / 8) + c / 8) * 64 + r % 8 * 8 + c % 8);
}
/* 128-byte rows, the 16-byte chunk exclusive-ored with the row modulo 8. */
static uint32_t in_chunks(int r, int c)
{
    return (uint32_t)(r * 128 + ((c / 8 ^ r % 8) * 16) + c % 8 * 2);
}
static uint32_t in_float_chunks(int r, int c)
{
    return (uint32_t)(r * 128 + ((c / 4 ^ r % 8) * 16) + c % 4 * 4);
}
/* 64 rows of 256 bytes in the 128-byte mode: two panels. */
static uint32_t in_panels(int r, int c)
{
    return (uint32_t)(c / 64 * 64 * 128) + in_chunks(r, c % 64);
}
/* 64-byte mode: the chunk of 4 with bits 1 and 2 of the row. */
static uint32_t in_64_bytes(int r, int c)
{
    return (uint32_t)(r * 64 + ((c / 8 ^ r / 2 % 4) * 16) + c % 8 * 2);
}

static struct place {
    const char *name; /* the tile */
    uint32_t (*address)(int row, int column);
    size_t bytes;
    int piece;
} places[] = {
    {"64x128:bf16:136", at_stride_136, 63 * 272 + 256, 16},
    {"64x128:bf16:stride=272B", at_stride_136, 63 * 272 + 256, 16},
    {"64x128:2B:+8", at_stride_136, 63 * 272 + 256, 16},
    {"8x64:fp32:base=1024", at_base, 2048, 16},
    {"64x128:bf16:8x8", in_blocks, 16384, 16},
    {"64x64:bf16:swizzle=3,4,3", in_chunks, 8192, 16},
    {"64x64:bf16:cute=3,3,3", in_chunks, 8192, 16},
    {"64x64:bf16:xor=(row&7)*16", in_chunks, 8192, 16},
    {"64x64:bf16:swizzle=128B", in_chunks, 8192, 16},
    {"64x32:fp32:cute=3,2,3", in_float_chunks, 8192, 16},
    {"64x128:bf16:swizzle=128B", in_panels, 16384, 16},
    {"64x32:bf16:swizzle=64B", in_64_bytes, 4096, 16},
};

static void is_at(void **state)
{
    const struct place *const test = *state;
    const ridge_bank_tile tile = tile_of(test->name);

    for (int row = 0; row < tile.rows; row++)
        for (int column = 0; column < tile.columns; column++)
            assert_int_equal(address_of(&tile, row, column), test->address(row, column));
    assert_int_equal(ridge_bank_tile_bytes(&tile), test->bytes);
    assert_int_equal(ridge_bank_tile_piece_bytes(&tile), test->piece);
}

/* No two elements share a byte, none lies outside the bytes that the tile says it has. */
static const char *const permutations[] = {
    "24x40:fp32:+1",          "16x48:bf16:swizzle=2,4,3", "32x24:int8:swizzle=1,3,4",
    "16x64:bf16:8x8",         "40x64:bf16:swizzle=64B",   "16x64:bf16:swizzle=5,1,6",
    "9x64:bf16:xor=row%8*16",
};

static void is_permutation(void **state)
{
    const char *const text = *state;
    const ridge_bank_tile tile = tile_of(text);
    const size_t bytes = ridge_bank_tile_bytes(&tile);
    unsigned char *const used = calloc(bytes, 1);

    assert_non_null(used);
    for (int row = 0; row < tile.rows; row++)
        for (int column = 0; column < tile.columns; column++) {
            const uint32_t address = address_of(&tile, row, column);

            for (int byte = 0; byte < tile.element_bytes; byte++) {
                assert_true(address + (uint32_t)byte < bytes);
                assert_false(used[address + (uint32_t)byte]++);
            }
        }
    free(used);
}

static void says_layout(void **state)
{
    static const char *const texts[][2] = {
        {"64x128:bf16:136", "stride 136 (272 B)"},
        {"64x128:bf16:8x8", "8x8 blocks"},
        {"64x128:bf16:swizzle=128B", "128B swizzle (TMA, wgmma)"},
        {"64x64:bf16:cute=3,3,3:base=128", "stride 64 (128 B), Swizzle<3,4,3>, base 128"},
        {"64x64:bf16:xor=row%8*16", "stride 64 (128 B), xor row%8*16"},
    };
    char buffer[128];

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const ridge_bank_tile tile = tile_of(texts[i][0]);

        assert_string_equal(ridge_bank_tile_layout(&tile, buffer, sizeof(buffer)), texts[i][1]);
    }
}

/* The text reads back as the same tile, and the formula gives the address of each element. */
static const char *const written[][2] = {
    {"64x128:bf16", "row * 256 + col * 2"},
    {"64x128:bf16:136", "row * 272 + col * 2"},
    {"64x128:int8", "row * 128 + col"},
    {"8x64:fp32:base=1024", "1024 + row * 256 + col * 4"},
    {"64x128:bf16:8x8", "row / 8 * 2048 + col / 8 * 128 + row % 8 * 16 + col % 8 * 2"},
    {"16x128:bf16:8x8:swizzle=2,4,3", NULL},
    {"64x64:bf16:swizzle=128B", "row * 128 + ((col * 2) ^ ((row & 7) * 16))"},
    {"64x128:bf16:swizzle=128B",
     "col / 64 * 8192 + row * 128 + ((col * 2 & 127) ^ ((row & 7) * 16))"},
    {"64x32:bf16:swizzle=64B", "row * 64 + ((col * 2) ^ ((row / 2 & 3) * 16))"},
    {"24x32:2B:swizzle=32B:base=256",
     "256 + col / 16 * 768 + row * 32 + ((col * 2 & 31) ^ ((row / 4 & 1) * 16))"},
    {"64x64:bf16:swizzle=3,4,3", "row * 128 + ((col * 2) ^ ((row & 7) * 16))"},
    {"64x64:bf16:swizzle=2,5,2", "row * 128 + ((col * 2) ^ ((row & 3) * 32))"},
    {"16x48:bf16:swizzle=2,4,3", "((row * 96 + col * 2) ^ ((row * 96 + col * 2) >> 3 & 0x30))"},
    {"16x64:bf16:swizzle=5,1,6", NULL},
    {"9x64:bf16:72:swizzle=1,4,4:base=4", NULL},
    {"9x64:bf16:base=128:xor=row%8*16", "128 + row * 128 + ((col * 2) ^ (row%8*16))"},
};

static void writes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++) {
        const ridge_bank_tile tile = tile_of(written[i][0]);
        char text[384], formula[1024];

        assert_string_equal(ridge_bank_tile_write(&tile, text, sizeof(text)), written[i][0]);
        ridge_bank_tile_formula(&tile, formula, sizeof(formula));
        if (written[i][1] != NULL)
            assert_string_equal(formula, written[i][1]);
        for (int row = 0; row < tile.rows; row++)
            for (int column = 0; column < tile.columns; column++) {
                const ridge_bank_variable variables[] = {{"row", row}, {"col", column}};
                int64_t value;

                assert_int_equal(ridge_bank_evaluate(formula, variables, 2, &value, 1, NULL),
                                 RIDGE_OK);
                assert_int_equal(value, address_of(&tile, row, column));
            }
    }
}

static struct bad {
    const char *name, *message;
} bads[] = {
    {"", "tile '', expected ROWSxCOLUMNS:ELEMENT as in 64x128:bf16"},
    {"64", "tile '64', expected ROWSx"},
    {"64x128", "a tile without an element type, expected 64x128:bf16"},
    {"0x128:bf16", "rows '0', expected a number of 1 to 65536"},
    {"64x:bf16", "columns ''"},
    {"64x99999999999:bf16", "columns '99999999999'"},
    {"64x128:bf17", "element 'bf17', expected bf16"},
    {"64x128:bf16:100", "a row stride of 200 bytes, but a row has 256: 128 elements of 2 bytes"},
    {"64x128:bf16:stride=257B", "257 bytes is no multiple of the element's 2 bytes"},
    {"64x128:bf16:pad", "tile part 'pad', expected a row stride"},
    {"64x128:bf16:swizzle=3,4", "swizzle '3,4', expected B,M,S"},
    {"64x128:bf16:swizzle=96B", "swizzle '96B', expected B,M,S as in 3,4,3, or 128B"},
    {"64x128:bf16:swizzle=3,4,2", "S is less than B"},
    {"64x128:fp32:swizzle=3,1,3",
     "tears elements of 4 bytes apart; of element indices write cute="},
    {"64x128:bf16:swizzle=9,4,9", "expected B of 0 to 8"},
    {"64x128:bf16:swizzle=8,16,16", "B + M + S is more than the 32 bits of an address"},
    {"64x64:bf16:72:8x8", "a row stride or padding, which 8x8 blocks"},
    {"64x64:bf16:swizzle=128B:+8", "a row stride or padding, which 8x8 blocks"},
    {"64x48:bf16:swizzle=128B", "needs rows of a multiple of 128 bytes, not 96"},
    {"64x64:bf16:swizzle=128B:base=512", "needs a base aligned to 1024 bytes"},
    {"60x64:bf16:8x8", "8x8 blocks need rows and columns in eights, not 60 x 64"},
    {"64x64:bf16:8x8x8", "blocks of '8x8x8', expected 8x8"},
    {"64x64:bf16:xor=row/0", "column 4: division by zero"},
    {"64x64:bf16:8x8:xor=row", "xor= needs rows"},
    {"64x64:bf16:base=-1", "base '-1'"},
    {"65536x65536:fp64", "expected at most 268435456 bytes in all"},
    {"65536x1:bf16:65536", "expected at most 268435456 bytes in all"},
};

static void rejects(void **state)
{
    const struct bad *const test = *state;
    ridge_bank_tile tile;
    ridge_error err;

    assert_int_equal(ridge_bank_tile_read(test->name, &tile, &err), RIDGE_ERR_INVALID_ARGUMENT);
    if (strstr(err.text, test->message) == NULL)
        fail_msg("%s", err.text);
    assert_int_equal(tile.rows, 0);
}

static void xor_stays_in_its_row(void **state)
{
    const ridge_bank_tile tile = tile_of("64x64:bf16:xor=row*16");
    uint32_t address;
    ridge_error err;

    (void)state;
    assert_int_equal(ridge_bank_tile_address(&tile, 7, 0, &address, &err), RIDGE_OK);
    assert_int_equal(ridge_bank_tile_address(&tile, 8, 0, &address, &err),
                     RIDGE_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "moves element (8, 0) to byte 128 of its row, which has bytes "
                                     "0 to 127"));
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, is_at, places);
    for (size_t i = 0; i < sizeof(permutations) / sizeof(permutations[0]); i++) {
        union {
            const char *text;
            void *state;
        } row = {permutations[i]};

        cases_add(&list, permutations[i], is_permutation, row.state);
    }
    CASES_ADD_ROWS(&list, rejects, bads);
    cases_add(&list, "says its layout", says_layout, NULL);
    cases_add(&list, "writes a tile and its address", writes, NULL);
    cases_add(&list, "xor stays in its row", xor_stays_in_its_row, NULL);
    return cases_run(&list, "layout");
}
