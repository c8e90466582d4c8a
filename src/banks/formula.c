/* SPDX-License-Identifier: Apache-2.0
 *
 * A layout as text: how people call it, how a tile is written, and the address as an expression of
 * C. */
#include <stdio.h>
#include <string.h>

#include "ridge/banks.h"

enum { BLOCK = 8, FORMULA_BYTES = 400 };

/* A swizzle of TMA and wgmma; panels may have others. */
static bool is_mode(const ridge_bank_tile *tile)
{
    return tile->order == RIDGE_BANK_PANELS && tile->swizzle_first_bit == 4 &&
           tile->swizzle_distance == 3 && 16 << tile->swizzle_bits == tile->panel_bytes;
}

char *ridge_bank_tile_layout(const ridge_bank_tile *tile, char *buffer, size_t size)
{
    const int stride = tile->stride_bytes / tile->element_bytes;
    char swizzle[40] = "";
    char base[24] = "";

    if (tile->swizzle_bits > 0)
        snprintf(swizzle, sizeof(swizzle), ", Swizzle<%d,%d,%d>", tile->swizzle_bits,
                 tile->swizzle_first_bit, tile->swizzle_distance);
    if (tile->base_bytes > 0)
        snprintf(base, sizeof(base), ", base %d", tile->base_bytes);
    if (is_mode(tile))
        snprintf(buffer, size, "%dB swizzle (TMA, wgmma)%s", tile->panel_bytes, base);
    else if (tile->order == RIDGE_BANK_BLOCKS)
        snprintf(buffer, size, "8x8 blocks%s%s", swizzle, base);
    else if (tile->order == RIDGE_BANK_PANELS)
        snprintf(buffer, size, "panels of %d B%s%s", tile->panel_bytes, swizzle, base);
    else
        snprintf(buffer, size, "stride %d (%d B)%s%.40s%s%s", stride, tile->stride_bytes,
                 tile->xor_text[0] != '\0' ? ", xor " : "", tile->xor_text, swizzle, base);
    return buffer;
}

char *ridge_bank_tile_write(const ridge_bank_tile *tile, char *buffer, size_t size)
{
    char element[16], order[24] = "", swizzle[40] = "", base[24] = "";

    snprintf(element, sizeof(element), "%dB", tile->element_bytes);
    if (tile->order == RIDGE_BANK_BLOCKS)
        snprintf(order, sizeof(order), ":8x8");
    else if (tile->order == RIDGE_BANK_PANELS)
        snprintf(order, sizeof(order), ":swizzle=%dB", tile->panel_bytes);
    else if (tile->stride_bytes != tile->columns * tile->element_bytes)
        snprintf(order, sizeof(order), ":%d", tile->stride_bytes / tile->element_bytes);
    if (tile->swizzle_bits > 0 && tile->order != RIDGE_BANK_PANELS)
        snprintf(swizzle, sizeof(swizzle), ":swizzle=%d,%d,%d", tile->swizzle_bits,
                 tile->swizzle_first_bit, tile->swizzle_distance);
    if (tile->base_bytes > 0)
        snprintf(base, sizeof(base), ":base=%d", tile->base_bytes);
    snprintf(buffer, size, "%dx%d:%s%s%s%s%s%s", tile->rows, tile->columns,
             tile->element_name != NULL ? tile->element_name : element, order, swizzle, base,
             tile->xor_text[0] != '\0' ? ":xor=" : "", tile->xor_text);
    return buffer;
}

/* -- the address ------------------------------------------------------------------------------- */

/* "col * 2", or "col" of bytes. */
static void column_text(const ridge_bank_tile *tile, char *text, size_t size)
{
    if (tile->element_bytes == 1)
        snprintf(text, size, "col");
    else
        snprintf(text, size, "col * %d", tile->element_bytes);
}

static void offset_text(const ridge_bank_tile *tile, char *text, size_t size)
{
    const int element = tile->element_bytes;
    char column[32];

    column_text(tile, column, sizeof(column));
    if (tile->order == RIDGE_BANK_BLOCKS)
        snprintf(text, size, "row / 8 * %d + col / 8 * %d + row %% 8 * %d + col %% 8 * %d",
                 tile->columns * BLOCK * element, BLOCK * BLOCK * element, BLOCK * element,
                 element);
    else if (tile->order == RIDGE_BANK_PANELS)
        snprintf(text, size, "col / %d * %d + row * %d + %s %% %d", tile->panel_bytes / element,
                 tile->panel_bytes * tile->rows, tile->panel_bytes, column, tile->panel_bytes);
    else
        snprintf(text, size, "row * %d + %s", tile->stride_bytes, column);
}

static int log2_of(int value)
{
    int bits = 0;

    while (1 << bits < value)
        bits++;
    return 1 << bits == value ? bits : -1;
}

/* Where the swizzle moves the columns by bits of the row alone: "row * 128 + ((col * 2) ^ ((row &
 * 7) * 16))". False where that is not so. */
static bool row_swizzle_text(const ridge_bank_tile *tile, char *text, size_t size)
{
    const bool panels = tile->order == RIDGE_BANK_PANELS;
    const int row_bytes = panels ? tile->panel_bytes : tile->stride_bytes;
    const bool is_one = !panels || tile->columns * tile->element_bytes == row_bytes;
    const int row_bits = log2_of(row_bytes);
    const int from = tile->swizzle_first_bit + tile->swizzle_distance; /* lowest bit that is read */
    char column[32], panel[64] = "", in_panel[48], row[32] = "row";

    if (tile->order == RIDGE_BANK_BLOCKS || tile->xor_text[0] != '\0' || row_bits < 0 ||
        row_bits > from || tile->swizzle_first_bit + tile->swizzle_bits > row_bits)
        return false;
    /* Bits of the panel's number must not be read. */
    if (!is_one && tile->rows % (1 << (from + tile->swizzle_bits - row_bits)) != 0)
        return false;
    column_text(tile, column, sizeof(column));
    snprintf(in_panel, sizeof(in_panel), "%s", column);
    if (!is_one) {
        snprintf(panel, sizeof(panel), "col / %d * %d + ", row_bytes / tile->element_bytes,
                 row_bytes * tile->rows);
        snprintf(in_panel, sizeof(in_panel), "%s & %d", column, row_bytes - 1);
    }
    if (from > row_bits)
        snprintf(row, sizeof(row), "row / %d", 1 << (from - row_bits));
    snprintf(text, size, "%srow * %d + ((%s) ^ ((%s & %d) * %d))", panel, row_bytes, in_panel, row,
             (1 << tile->swizzle_bits) - 1, 1 << tile->swizzle_first_bit);
    return true;
}

char *ridge_bank_tile_formula(const ridge_bank_tile *tile, char *buffer, size_t size)
{
    char text[2 * FORMULA_BYTES + 40], offset[FORMULA_BYTES], column[32];
    char base[24] = "";

    offset_text(tile, offset, sizeof(offset));
    column_text(tile, column, sizeof(column));
    if (tile->base_bytes > 0)
        snprintf(base, sizeof(base), "%d + ", tile->base_bytes);
    if (tile->xor_text[0] != '\0')
        snprintf(offset, sizeof(offset), "row * %d + ((%s) ^ (%.*s))", tile->stride_bytes, column,
                 RIDGE_BANKS_MOST_TEXT, tile->xor_text);
    if (tile->swizzle_bits == 0)
        snprintf(text, sizeof(text), "%s", offset);
    else if (!row_swizzle_text(tile, text, sizeof(text)))
        snprintf(text, sizeof(text), "((%s) ^ ((%s) >> %d & 0x%x))", offset, offset,
                 tile->swizzle_distance,
                 ((1u << tile->swizzle_bits) - 1) << tile->swizzle_first_bit);
    snprintf(buffer, size, "%s%s", base, text);
    return buffer;
}
