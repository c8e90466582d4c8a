/* SPDX-License-Identifier: Apache-2.0
 *
 * Where an element of a tile lies: the order of rows, blocks or panels gives a byte offset, a
 * swizzle permutes it. The text form is a list of parts, one row of a table each. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banks/banks_internal.h"
#include "ridge/banks.h"

enum {
    BLOCK = 8,
    CHUNK_BYTES = 16,
    MOST_EXTENT = 65536,
    MOST_TILE_BYTES = 1 << 28,
    ADDRESS_BITS = 32
};

uint32_t ridge_banks_swizzle(uint32_t offset_bytes, int bit_count, int first_bit, int distance)
{
    const uint64_t mask = ((UINT64_C(1) << bit_count) - 1) << first_bit;

    assert(bit_count >= 0 && first_bit >= 0 && distance >= 0);
    assert(bit_count + first_bit + distance <= ADDRESS_BITS);
    return offset_bytes ^ (uint32_t)((uint64_t)offset_bytes >> distance & mask);
}

/* -- addresses --------------------------------------------------------------------------------- */

static uint32_t plain_offset(const ridge_bank_tile *tile, int row, int column)
{
    const uint32_t element = (uint32_t)tile->element_bytes;
    const uint32_t r = (uint32_t)row, c = (uint32_t)column;
    uint32_t in_row, width;

    switch (tile->order) {
    case RIDGE_BANK_BLOCKS:
        return ((r / BLOCK * ((uint32_t)tile->columns / BLOCK) + c / BLOCK) * (BLOCK * BLOCK) +
                r % BLOCK * BLOCK + c % BLOCK) *
               element;
    case RIDGE_BANK_PANELS:
        width = (uint32_t)tile->panel_bytes;
        in_row = c * element;
        return (in_row / width * (uint32_t)tile->rows + r) * width + in_row % width;
    default:
        return r * (uint32_t)tile->stride_bytes + c * element;
    }
}

static ridge_status xor_offset(const ridge_bank_tile *tile, int row, int column, uint32_t *offset,
                               ridge_error *err)
{
    const ridge_bank_variable variables[] = {{"row", row}, {"col", column}};
    const uint32_t start = (uint32_t)row * (uint32_t)tile->stride_bytes;
    int64_t value;
    const ridge_status status = ridge_bank_evaluate(tile->xor_text, variables, 2, &value, 1, err);

    if (status != RIDGE_OK)
        return status;
    value ^= *offset - start;
    if (value < 0 || value > tile->stride_bytes - tile->element_bytes)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "xor=%s moves element (%d, %d) to byte %" PRId64
                          " of its row, which has bytes 0 to %d",
                          tile->xor_text, row, column, value, tile->stride_bytes - 1);
    *offset = start + (uint32_t)value;
    return RIDGE_OK;
}

ridge_status ridge_bank_tile_address(const ridge_bank_tile *tile, int row, int column,
                                     uint32_t *address_bytes, ridge_error *err)
{
    uint32_t offset = plain_offset(tile, row, column);

    assert(row >= 0 && row < tile->rows && column >= 0 && column < tile->columns);
    *address_bytes = 0;
    if (tile->xor_text[0] != '\0') {
        const ridge_status status = xor_offset(tile, row, column, &offset, err);

        if (status != RIDGE_OK)
            return status;
    }
    if (tile->swizzle_bits > 0)
        offset = ridge_banks_swizzle(offset, tile->swizzle_bits, tile->swizzle_first_bit,
                                     tile->swizzle_distance);
    *address_bytes = (uint32_t)tile->base_bytes + offset;
    return RIDGE_OK;
}

size_t ridge_bank_tile_bytes(const ridge_bank_tile *tile)
{
    const size_t row_bytes = (size_t)tile->columns * (size_t)tile->element_bytes;
    size_t bytes = (size_t)tile->rows * row_bytes;

    if (tile->order == RIDGE_BANK_ROWS)
        bytes = (size_t)(tile->rows - 1) * (size_t)tile->stride_bytes +
                (tile->xor_text[0] != '\0' ? (size_t)tile->stride_bytes : row_bytes);
    /* A swizzle permutes aligned pieces of as many bytes as its bits span in the lower field. */
    if (tile->swizzle_bits > 0) {
        const size_t span = (size_t)1 << (tile->swizzle_bits + tile->swizzle_first_bit);

        bytes = (bytes + span - 1) / span * span;
    }
    return bytes;
}

int ridge_bank_tile_piece_bytes(const ridge_bank_tile *tile)
{
    int bits = tile->base_bytes | CHUNK_BYTES;

    if (tile->order == RIDGE_BANK_ROWS)
        bits |= tile->stride_bytes;
    if (tile->order == RIDGE_BANK_BLOCKS)
        bits |= BLOCK * tile->element_bytes;
    if (tile->swizzle_bits > 0)
        bits |= 1 << tile->swizzle_first_bit;
    return bits & -bits;
}

/* -- checks ------------------------------------------------------------------------------------ */

static ridge_status check_swizzle(const ridge_bank_tile *tile, ridge_error *err)
{
    const int bits = tile->swizzle_bits, first = tile->swizzle_first_bit;
    const int distance = tile->swizzle_distance;

    if (bits < 0 || bits > 8 || first < 0 || first > 16 || distance < 0 || distance > 16)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "Swizzle<%d,%d,%d>: expected B of 0 to 8, M and S of 0 to 16", bits,
                          first, distance);
    if (bits + first + distance > ADDRESS_BITS)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "Swizzle<%d,%d,%d>: B + M + S is more than the %d bits of an address",
                          bits, first, distance, ADDRESS_BITS);
    if (distance < bits)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "Swizzle<%d,%d,%d>: S is less than B, so that two elements would share "
                          "an address",
                          bits, first, distance);
    if (bits > 0 && 1 << first < tile->element_bytes)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "Swizzle<%d,%d,%d> of bytes tears elements of %d bytes apart; of "
                          "element indices write cute=%d,%d,%d",
                          bits, first, distance, tile->element_bytes, bits, first, distance);
    return RIDGE_OK;
}

static ridge_status check_rows(const ridge_bank_tile *tile, ridge_error *err)
{
    const int row_bytes = tile->columns * tile->element_bytes;

    if (tile->stride_bytes < row_bytes)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "a row stride of %d bytes, but a row has %d: %d elements of %d bytes",
                          tile->stride_bytes, row_bytes, tile->columns, tile->element_bytes);
    if (tile->stride_bytes % tile->element_bytes != 0)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "a row stride of %d bytes is no multiple of the element's %d bytes",
                          tile->stride_bytes, tile->element_bytes);
    if (tile->stride_bytes > MOST_TILE_BYTES / tile->rows)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "a tile of %d rows of %d bytes, expected at most %d bytes in all",
                          tile->rows, tile->stride_bytes, MOST_TILE_BYTES);
    return RIDGE_OK;
}

static ridge_status check_order(const ridge_bank_tile *tile, ridge_error *err)
{
    const int row_bytes = tile->columns * tile->element_bytes;
    const int atom_bytes = 8 * tile->panel_bytes;

    if (tile->order == RIDGE_BANK_ROWS)
        return check_rows(tile, err);
    if (tile->xor_text[0] != '\0')
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "xor= needs rows, not blocks or the modes of TMA");
    if (tile->order == RIDGE_BANK_BLOCKS && (tile->rows % BLOCK != 0 || tile->columns % BLOCK != 0))
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "8x8 blocks need rows and columns in eights, not %d x %d", tile->rows,
                          tile->columns);
    if (tile->order == RIDGE_BANK_BLOCKS)
        return RIDGE_OK;
    if (tile->panel_bytes != 32 && tile->panel_bytes != 64 && tile->panel_bytes != 128)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "panels of %d bytes, expected 32, 64 or 128", tile->panel_bytes);
    if (row_bytes % tile->panel_bytes != 0)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "swizzle=%dB needs rows of a multiple of %d bytes, not %d",
                          tile->panel_bytes, tile->panel_bytes, row_bytes);
    if (tile->base_bytes % atom_bytes != 0 || tile->rows % 8 != 0)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "swizzle=%dB needs a base aligned to %d bytes and rows in eights, not "
                          "base %d and %d rows",
                          tile->panel_bytes, atom_bytes, tile->base_bytes, tile->rows);
    return RIDGE_OK;
}

ridge_status ridge_bank_tile_check(const ridge_bank_tile *tile, ridge_error *err)
{
    const int element = tile->element_bytes;
    ridge_status status;

    if (tile->rows < 1 || tile->rows > MOST_EXTENT || tile->columns < 1 ||
        tile->columns > MOST_EXTENT)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "a tile of %d x %d, expected 1 to %d rows and columns", tile->rows,
                          tile->columns, MOST_EXTENT);
    if (element != 1 && element != 2 && element != 4 && element != 8 && element != 16)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "elements of %d bytes, expected 1, 2, 4, 8 or 16", element);
    if (tile->columns * element > MOST_TILE_BYTES / tile->rows)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "a tile of %d rows of %d bytes, expected at most %d bytes in all",
                          tile->rows, tile->columns * element, MOST_TILE_BYTES);
    if (tile->base_bytes < 0 || tile->base_bytes > MOST_TILE_BYTES)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "base %d, expected 0 to %d bytes",
                          tile->base_bytes, MOST_TILE_BYTES);
    status = check_order(tile, err);
    if (status != RIDGE_OK)
        return status;
    return check_swizzle(tile, err);
}

/* -- text -------------------------------------------------------------------------------------- */

static const struct element_type {
    const char *name;
    int bytes;
} element_types[] = {
    {"bf16", 2},  {"fp16", 2},   {"half", 2},  {"fp32", 4},  {"float", 4},   {"tf32", 4},
    {"fp64", 8},  {"double", 8}, {"fp8", 1},   {"e4m3", 1},  {"e5m2", 1},    {"int8", 1},
    {"uint8", 1}, {"int16", 2},  {"int32", 4}, {"int64", 8}, {"float4", 16}, {"1B", 1},
    {"2B", 2},    {"4B", 4},     {"8B", 8},    {"16B", 16},
};

/* One part of the text and what it does to the tile. rest is what follows the prefix. */
struct part {
    const char *prefix;
    ridge_status (*set)(ridge_bank_tile *tile, const char *rest, ridge_error *err);
};

ridge_status banks_number(const char *text, const char *what, int least, int most, int *out,
                          ridge_error *err)
{
    const size_t digits = strspn(text, "0123456789");
    const long value = digits > 0 && digits < 10 ? strtol(text, NULL, 10) : -1;

    *out = 0;
    if (digits == 0 || text[digits] != '\0' || value < least || value > most)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "%s '%s', expected a number of %d to %d",
                          what, text, least, most);
    *out = (int)value;
    return RIDGE_OK;
}

static ridge_status set_stride(ridge_bank_tile *tile, const char *rest, ridge_error *err)
{
    const size_t length = strlen(rest);
    const bool bytes = length > 1 && length < 12 && rest[length - 1] == 'B';
    char digits[16];
    ridge_status status;

    snprintf(digits, sizeof(digits), "%.*s",
             (int)(bytes         ? length - 1
                   : length < 15 ? length
                                 : 15),
             rest);
    status = banks_number(digits, "row stride", 1, MOST_TILE_BYTES / 16, &tile->stride_bytes, err);
    if (status == RIDGE_OK && !bytes)
        tile->stride_bytes *= tile->element_bytes;
    return status;
}

static ridge_status add_padding(ridge_bank_tile *tile, const char *rest, ridge_error *err)
{
    const ridge_status status = set_stride(tile, rest, err);

    tile->stride_bytes += tile->columns * tile->element_bytes;
    return status;
}

static ridge_status set_triple(ridge_bank_tile *tile, const char *rest, int more, ridge_error *err)
{
    int *const fields[] = {&tile->swizzle_bits, &tile->swizzle_first_bit, &tile->swizzle_distance};
    const char *p = rest;

    for (int i = 0; i < 3; i++) {
        const size_t digits = strspn(p, "0123456789");

        if (digits < 1 || digits > 2 || p[digits] != (i < 2 ? ',' : '\0'))
            return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                              "swizzle '%s', expected B,M,S as in 3,4,3, or 128B, 64B or 32B",
                              rest);
        *fields[i] = atoi(p);
        p += digits + 1;
    }
    tile->swizzle_first_bit += more;
    return RIDGE_OK;
}

/* The modes of TMA: 16-byte chunks, panels as wide as the mode. */
static ridge_status set_swizzle(ridge_bank_tile *tile, const char *rest, ridge_error *err)
{
    static const struct mode {
        const char *name;
        int bytes, bits;
    } modes[] = {{"128B", 128, 3}, {"64B", 64, 2}, {"32B", 32, 1}};

    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
        if (strcmp(rest, modes[i].name) == 0) {
            tile->order = RIDGE_BANK_PANELS;
            tile->panel_bytes = modes[i].bytes;
            tile->swizzle_bits = modes[i].bits;
            tile->swizzle_first_bit = 4;
            tile->swizzle_distance = 3;
            return RIDGE_OK;
        }
    return set_triple(tile, rest, 0, err);
}

static ridge_status set_cute(ridge_bank_tile *tile, const char *rest, ridge_error *err)
{
    int more = 0;

    while (1 << more < tile->element_bytes)
        more++;
    return set_triple(tile, rest, more, err);
}

static ridge_status set_blocks(ridge_bank_tile *tile, const char *rest, ridge_error *err)
{
    if (rest[0] != '\0')
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "blocks of '8x8%s', expected 8x8", rest);
    tile->order = RIDGE_BANK_BLOCKS;
    return RIDGE_OK;
}

static ridge_status set_base(ridge_bank_tile *tile, const char *rest, ridge_error *err)
{
    return banks_number(rest, "base", 0, MOST_TILE_BYTES, &tile->base_bytes, err);
}

static ridge_status set_xor(ridge_bank_tile *tile, const char *rest, ridge_error *err)
{
    const ridge_bank_variable variables[] = {{"row", 0}, {"col", 0}};
    int64_t value;
    const ridge_status status = ridge_bank_evaluate(rest, variables, 2, &value, 1, err);

    if (status == RIDGE_OK)
        snprintf(tile->xor_text, sizeof(tile->xor_text), "%s", rest);
    return status;
}

/* xor= takes what follows to the end, ':' of ?: included. */
static const struct part parts[] = {
    {"stride=", set_stride}, {"swizzle=", set_swizzle}, {"cute=", set_cute}, {"base=", set_base},
    {"8x8", set_blocks},     {"xor=", set_xor},         {"+", add_padding},  {"", set_stride},
};

static ridge_status read_part(ridge_bank_tile *tile, const char *text, ridge_error *err)
{
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        const size_t length = strlen(parts[i].prefix);

        if (length == 0 && strspn(text, "0123456789") == 0)
            break;
        if (strncmp(text, parts[i].prefix, length) == 0)
            return parts[i].set(tile, text + length, err);
    }
    return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                      "tile part '%s', expected a row stride (136, 272B after stride=, +8), "
                      "swizzle=, cute=, 8x8, base= or xor=",
                      text);
}

/* Copies the text up to the next ':'; *text moves behind it, to NULL at the end. */
static bool take_part(const char **text, char *buffer, size_t size)
{
    const bool whole = strncmp(*text, "xor=", 4) == 0;
    const size_t length = whole ? strlen(*text) : strcspn(*text, ":");

    if (length >= size)
        return false;
    memcpy(buffer, *text, length);
    buffer[length] = '\0';
    *text = (*text)[length] == ':' ? *text + length + 1 : NULL;
    return true;
}

static ridge_status read_shape(ridge_bank_tile *tile, char *shape, ridge_error *err)
{
    char *const times = strchr(shape, 'x');
    ridge_status status;

    if (times == NULL)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "tile '%s', expected ROWSxCOLUMNS:ELEMENT as in 64x128:bf16", shape);
    *times = '\0';
    status = banks_number(shape, "rows", 1, MOST_EXTENT, &tile->rows, err);
    if (status != RIDGE_OK)
        return status;
    return banks_number(times + 1, "columns", 1, MOST_EXTENT, &tile->columns, err);
}

static ridge_status read_element(ridge_bank_tile *tile, const char *name, ridge_error *err)
{
    for (size_t i = 0; i < sizeof(element_types) / sizeof(element_types[0]); i++)
        if (strcmp(name, element_types[i].name) == 0) {
            tile->element_name = element_types[i].name;
            tile->element_bytes = element_types[i].bytes;
            return RIDGE_OK;
        }
    return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                      "element '%s', expected bf16, fp16, fp32, fp8, int8, ... or bytes as in 2B",
                      name);
}

static ridge_status read_tile(const char *text, ridge_bank_tile *tile, ridge_error *err)
{
    char part[RIDGE_BANKS_MOST_TEXT + 8];
    ridge_status status = RIDGE_OK;

    for (int i = 0; text != NULL && status == RIDGE_OK; i++) {
        if (!take_part(&text, part, sizeof(part)))
            return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                              "a tile part of more than %zu characters", sizeof(part) - 1);
        status = i == 0   ? read_shape(tile, part, err)
                 : i == 1 ? read_element(tile, part, err)
                          : read_part(tile, part, err);
    }
    if (status == RIDGE_OK && tile->element_bytes == 0)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "a tile without an element type, expected %dx%d:bf16, :fp32, :int8, ...",
                          tile->rows, tile->columns);
    if (status == RIDGE_OK && tile->order != RIDGE_BANK_ROWS && tile->stride_bytes > 0)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "a row stride or padding, which 8x8 blocks and the modes of TMA do not "
                          "have");
    if (status == RIDGE_OK && tile->stride_bytes == 0)
        tile->stride_bytes = tile->columns * tile->element_bytes;
    return status == RIDGE_OK ? ridge_bank_tile_check(tile, err) : status;
}

ridge_status ridge_bank_tile_read(const char *text, ridge_bank_tile *out, ridge_error *err)
{
    ridge_bank_tile tile = {.order = RIDGE_BANK_ROWS};
    const ridge_status status = read_tile(text, &tile, err);

    *out = status == RIDGE_OK ? tile : (ridge_bank_tile){.order = RIDGE_BANK_ROWS};
    return status;
}
