/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole tiles that fail among others that do not: what a stage that is read too early leaves. The
 * failing elements of the last two axes are counted in cells of 8 x 8, from which tiles of every
 * power of two are put together. */
#include "base/memory.h"
#include "check/check_internal.h"

enum { CELL = 8, TILE_MOST = 256 };
/* Larger arrays are not looked at: their cells would take as long as the comparison. */
#define ELEMENTS_MOST (INT64_C(1) << 24)

typedef struct cells {
    int64_t rows, columns;           /* elements */
    int64_t row_count, column_count; /* cells */
    int32_t *failing;
} cells;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static bool count_cells(const check_facts *facts, cells *of)
{
    const int ndim = facts->pair->ndim;
    const int64_t count = facts->out->element_count;

    of->columns = facts->pair->shape[ndim - 1];
    of->rows = count / of->columns; /* axes further out lie below one another */
    of->row_count = (of->rows + CELL - 1) / CELL;
    of->column_count = (of->columns + CELL - 1) / CELL;
    of->failing = ridge_calloc((size_t)(of->row_count * of->column_count), sizeof(*of->failing));
    if (of->failing == NULL)
        return false;
    for (int64_t word = 0; word * 64 < count; word++)
        for (uint64_t bits = facts->failing[word]; bits != 0; bits &= bits - 1) {
            const int64_t index = word * 64 + __builtin_ctzll(bits);
            const int64_t row = index / of->columns, column = index % of->columns;

            of->failing[row / CELL * of->column_count + column / CELL]++;
        }
    return true;
}

/* Tiles of so many elements: those that fail as a whole, and all; 0 when failures lie in others. */
static int64_t whole_tiles(const cells *of, int64_t rows, int64_t columns, int64_t *all)
{
    int64_t whole = 0;

    *all = 0;
    for (int64_t row = 0; row < of->rows; row += rows)
        for (int64_t column = 0; column < of->columns; column += columns) {
            const int64_t elements =
                least(rows, of->rows - row) * least(columns, of->columns - column);
            const int64_t row_end = least((row + rows) / CELL, of->row_count);
            const int64_t column_end = least((column + columns) / CELL, of->column_count);
            int64_t failing = 0;

            for (int64_t r = row / CELL; r < row_end; r++)
                for (int64_t c = column / CELL; c < column_end; c++)
                    failing += of->failing[r * of->column_count + c];
            ++*all;
            if (failing * 10 >= elements * 8)
                whole++;
            else if (failing * 10 > elements)
                return 0;
        }
    return whole;
}

bool check_whole_tiles(const check_facts *facts, check_tiles *out)
{
    cells of = {.rows = 0};

    *out = (check_tiles){.failing = 0};
    if (facts->pair->ndim < 2 || facts->pair->rows != NULL ||
        facts->out->element_count > ELEMENTS_MOST || !count_cells(facts, &of))
        return false;
    for (int64_t rows = CELL; rows <= TILE_MOST; rows *= 2)
        for (int64_t columns = CELL; columns <= TILE_MOST; columns *= 2) {
            int64_t all;
            const int64_t whole = whole_tiles(&of, rows, columns, &all);

            /* A few, and not most, or it is another pattern. */
            if (whole >= 3 && whole * 2 <= all && rows * columns > out->rows * out->columns)
                *out = (check_tiles){rows, columns, whole, all};
        }
    ridge_free(of.failing);
    return out->failing > 0;
}
