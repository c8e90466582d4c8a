/* SPDX-License-Identifier: Apache-2.0
 *
 * All steps of a pattern on one layout. A search does this for hundreds of layouts, so that the
 * addresses of rows and columns are kept, which add up before a swizzle, and so are counts: an
 * access that is moved by a multiple of 128 bytes meets the same banks. */
#include <string.h>

#include "banks/banks_internal.h"
#include "base/memory.h"

enum {
    LANES = RIDGE_BANKS_LANES,
    TURN_BYTES = RIDGE_BANKS_COUNT * RIDGE_BANKS_WORD_BYTES,
    MEMO_COUNT = 512, /* a power of two */
};

/* The count of an access whose first lane lies in the first turn of the banks. */
struct memo {
    unsigned run; /* in which it was made */
    uint32_t lanes;
    uint32_t address[LANES];
    ridge_bank_count count;
};

struct banks_runner {
    ridge_bank_order order; /* of the offsets; rows 0: none yet */
    int stride_bytes, panel_bytes, rows, columns;
    uint32_t *of_row, *of_column;
    unsigned run;
    struct memo memos[MEMO_COUNT];
};

banks_runner *banks_runner_create(const ridge_bank_tile *tile)
{
    banks_runner *const runner = ridge_calloc(1, sizeof(*runner));

    if (runner == NULL)
        return NULL;
    runner->of_row = ridge_calloc((size_t)tile->rows, sizeof(*runner->of_row));
    runner->of_column = ridge_calloc((size_t)tile->columns, sizeof(*runner->of_column));
    if (runner->of_row != NULL && runner->of_column != NULL)
        return runner;
    banks_runner_free(runner);
    return NULL;
}

void banks_runner_free(banks_runner *runner)
{
    if (runner == NULL)
        return;
    ridge_free(runner->of_row);
    ridge_free(runner->of_column);
    ridge_free(runner);
}

/* -- addresses --------------------------------------------------------------------------------- */

static void find_offsets(banks_runner *runner, const ridge_bank_tile *tile)
{
    ridge_bank_tile plain = *tile;

    if (runner->rows == tile->rows && runner->columns == tile->columns &&
        runner->order == tile->order && runner->stride_bytes == tile->stride_bytes &&
        runner->panel_bytes == tile->panel_bytes)
        return;
    plain.base_bytes = plain.swizzle_bits = 0;
    for (int row = 0; row < tile->rows; row++)
        (void)ridge_bank_tile_address(&plain, row, 0, &runner->of_row[row], NULL);
    for (int column = 0; column < tile->columns; column++)
        (void)ridge_bank_tile_address(&plain, 0, column, &runner->of_column[column], NULL);
    runner->rows = tile->rows;
    runner->columns = tile->columns;
    runner->order = tile->order;
    runner->stride_bytes = tile->stride_bytes;
    runner->panel_bytes = tile->panel_bytes;
}

/* As ridge_bank_tile_addresses() where a lane's elements are contiguous. */
static void add_offsets(const banks_runner *runner, const ridge_bank_tile *tile,
                        const ridge_bank_elements *elements, uint32_t address_bytes[LANES])
{
    const uint32_t mask = ((UINT32_C(1) << tile->swizzle_bits) - 1) << tile->swizzle_first_bit;

    const uint32_t base = (uint32_t)tile->base_bytes;
    const int distance = tile->swizzle_distance;
    const bool all = elements->lanes == RIDGE_BANKS_ALL_LANES;

    for (int lane = 0; lane < LANES; lane++) {
        const bool is_active = all || (elements->lanes >> lane & 1) != 0;
        const int row = is_active ? elements->row[lane] : 0;
        const int column = is_active ? elements->column[lane] : 0;
        const uint32_t offset = runner->of_row[row] + runner->of_column[column];

        address_bytes[lane] = is_active ? base + (offset ^ (offset >> distance & mask)) : 0;
    }
}

/* Whole pieces are contiguous, and so are rows; an expression may do anything. */
static bool is_simple(const ridge_bank_tile *tile, const ridge_bank_pattern *pattern)
{
    return tile->xor_text[0] == '\0' &&
           ((tile->order == RIDGE_BANK_ROWS && tile->swizzle_bits == 0) ||
            ridge_bank_tile_piece_bytes(tile) >= pattern->access.width_bytes);
}

/* -- counts ------------------------------------------------------------------------------------ */

static struct memo *find_memo(banks_runner *runner, uint32_t lanes,
                              const uint32_t address_bytes[LANES], bool *is_known)
{
    static const int hashed[] = {0, 1, 2, 4, 8, 16, 31}; /* tell most apart */
    uint32_t moved[LANES];
    uint32_t turns = 0;
    uint64_t hash = lanes;
    struct memo *memo;

    for (int lane = LANES - 1; lane >= 0; lane--)
        if ((lanes >> lane & 1) != 0)
            turns = address_bytes[lane] / TURN_BYTES * TURN_BYTES;
    for (int lane = 0; lane < LANES; lane++)
        moved[lane] = (lanes >> lane & 1) != 0 ? address_bytes[lane] - turns : 0;
    for (size_t i = 0; i < sizeof(hashed) / sizeof(hashed[0]); i++)
        hash = (hash ^ moved[hashed[i]]) * UINT64_C(0x9e3779b97f4a7c15);
    memo = &runner->memos[hash >> 32 & (MEMO_COUNT - 1)];
    *is_known = memo->run == runner->run && memo->lanes == lanes &&
                memcmp(memo->address, moved, sizeof(moved)) == 0;
    if (*is_known)
        return memo;
    memo->run = 0; /* until its count is there */
    memo->lanes = lanes;
    memcpy(memo->address, moved, sizeof(moved));
    return memo;
}

static ridge_status count_step(banks_runner *runner, const ridge_bank_tile *tile,
                               const ridge_bank_access *access, const ridge_bank_elements *elements,
                               const uint32_t address_bytes[LANES], ridge_bank_count *out,
                               ridge_error *err)
{
    bool is_known;
    struct memo *memo;
    ridge_status status;

    if (access->op == RIDGE_BANK_CP_ASYNC) /* depends on its sources as well */
        return banks_step(access, tile, elements, address_bytes, out, err);
    memo = find_memo(runner, elements->lanes, address_bytes, &is_known);
    if (is_known) {
        *out = memo->count;
        return RIDGE_OK;
    }
    status = banks_step(access, tile, elements, address_bytes, out, err);
    if (status == RIDGE_OK) {
        memo->count = *out;
        memo->run = runner->run;
    }
    return status;
}

ridge_status banks_run_steps(banks_runner *runner, const ridge_bank_tile *tile,
                             const ridge_bank_pattern *pattern, const banks_steps *steps,
                             int64_t limit, ridge_bank_result *out, ridge_error *err)
{
    const bool simple = is_simple(tile, pattern);
    int most = -1;

    *out = (ridge_bank_result){.steps = steps->count};
    runner->run++;
    if (simple)
        find_offsets(runner, tile);
    for (int step = 0; step < steps->count && out->wavefronts <= limit; step++) {
        const ridge_bank_elements *const elements = &steps->elements[step];
        uint32_t address_bytes[LANES];
        ridge_bank_count count;
        ridge_status status = RIDGE_OK;

        if (simple)
            add_offsets(runner, tile, elements, address_bytes);
        else
            status = ridge_bank_tile_addresses(tile, pattern, elements, address_bytes, err);
        if (status == RIDGE_OK)
            status =
                count_step(runner, tile, &pattern->access, elements, address_bytes, &count, err);
        if (status != RIDGE_OK)
            return status;
        banks_add_step(out, step, &count, &most);
    }
    return RIDGE_OK;
}
