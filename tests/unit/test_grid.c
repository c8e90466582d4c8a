/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include <math.h>

#include "ridge/occupancy.h"

static struct grid_case {
    const char *name;
    uint64_t blocks;
    int sm_count, blocks_per_sm, cluster;
    uint64_t wave, full, last, fewer, more, idle;
    double tail;
} grids[] = {
    {"four whole waves", 528, 132, 1, 0, 132, 4, 0, 528, 528, 0, 0},
    {"one block too many", 529, 132, 1, 0, 132, 4, 1, 528, 660, 0, 131 / 660.0},
    {"one and a bit", 148, 132, 1, 0, 132, 1, 16, 132, 264, 0, 116 / 264.0},
    {"less than a wave", 100, 132, 2, 0, 264, 0, 100, 0, 264, 32, NAN},
    {"clusters of four", 1024, 132, 1, 4, 132, 7, 100, 924, 1056, 0, 32 / 1056.0},
    {"clusters that leave SMs over", 130, 13, 1, 2, 12, 10, 10, 120, 132, 0, 2 / 132.0},
    {"a huge grid", UINT64_MAX, 1, 1, 0, 1, UINT64_MAX, 0, UINT64_MAX, UINT64_MAX, 0, 0},
};

static void divides(void **state)
{
    const struct grid_case *const row = *state;
    ridge_grid grid;

    assert_int_equal(
        ridge_grid_of(row->blocks, row->sm_count, row->blocks_per_sm, row->cluster, &grid, NULL),
        RIDGE_OK);
    assert_int_equal(grid.wave_blocks, row->wave);
    assert_int_equal(grid.full_waves, row->full);
    assert_int_equal(grid.last_blocks, row->last);
    assert_int_equal(grid.fewer_blocks, row->fewer);
    assert_int_equal(grid.more_blocks, row->more);
    assert_int_equal(grid.idle_sms, row->idle);
    assert_true(isnan(row->tail) ? isnan(grid.tail_frac)
                                 : fabs(grid.tail_frac - row->tail) < 1e-12);
}

static struct bad_grid {
    const char *name;
    uint64_t blocks;
    int sm_count, blocks_per_sm, cluster;
    const char *message;
} bad_grids[] = {
    {"no blocks", 0, 132, 1, 0, "0 blocks on 132 SMs"},
    {"no SMs", 1, 0, 1, 0, "on 0 SMs"},
    {"a launch that fails", 1, 132, 0, 0, "with 0 each"},
    {"part of a cluster", 130, 132, 1, 4, "a grid of 130 blocks is not whole clusters of 4"},
    {"a cluster larger than the chip", 16, 3, 4, 16, "does not fit 3 SMs"},
};

static void rejects(void **state)
{
    const struct bad_grid *const row = *state;
    ridge_grid grid;
    ridge_error err;

    assert_int_equal(
        ridge_grid_of(row->blocks, row->sm_count, row->blocks_per_sm, row->cluster, &grid, &err),
        RIDGE_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, row->message));
    assert_int_equal(grid.wave_blocks, 0);
}

static void tail_of_waves(void **state)
{
    assert_true(isnan(ridge_tail_frac(NAN)));
    assert_true(isnan(ridge_tail_frac(0.99)));
    assert_true(ridge_tail_frac(1) == 0);
    assert_true(fabs(ridge_tail_frac(1.12) - 0.44) < 1e-12);
    assert_true(fabs(ridge_tail_frac(1.95) - 0.025) < 1e-12);
    (void)state;
}

/* -- tiles ------------------------------------------------------------------------------------- */

static void tiles_best_first(void **state)
{
    /* 8192 x 6144 in 128 x 128 on 132 SMs: 3072 blocks, 23.27 waves. */
    const ridge_tiling tiling = {.rows = 8192,
                                 .columns = 6144,
                                 .batch = 1,
                                 .tile_rows = 128,
                                 .tile_columns = 128,
                                 .wave_blocks = 132};
    ridge_tile tiles[100];
    const size_t count = ridge_tiles_of(&tiling, tiles, 100);
    bool has_present = false;

    assert_in_range(count, 3, 12);
    for (size_t i = 0; i < count; i++) {
        const ridge_tile *const tile = &tiles[i];
        const uint64_t down = (8192 + (uint64_t)tile->rows - 1) / (uint64_t)tile->rows;
        const uint64_t across = (6144 + (uint64_t)tile->columns - 1) / (uint64_t)tile->columns;

        assert_int_equal(tile->blocks, down * across);
        assert_true(tile->useful_frac > 0 && tile->useful_frac <= 1);
        assert_in_range(tile->rows * tile->columns, 8192, 32768);
        for (size_t k = 0; k < count; k++) /* no other is better in both */
            assert_true(k == i || tile->is_current || tiles[k].useful_frac < tile->useful_frac ||
                        tiles[k].reuse < tile->reuse);
        if (i > 0)
            assert_true(tile->useful_frac <= tiles[i - 1].useful_frac);
        if (tile->is_current) {
            has_present = true;
            assert_int_equal(tile->blocks, 3072);
            assert_true(fabs(tile->waves - 3072 / 132.0) < 1e-12);
            assert_true(fabs(tile->useful_frac - 3072 / (24 * 132.0)) < 1e-12);
            assert_true(tile->reuse == 128);
        }
    }
    assert_true(has_present);
    /* Where there is room for few, the present one is among them. */
    assert_int_equal(ridge_tiles_of(&tiling, tiles, 3), 3);
    assert_true(tiles[0].is_current || tiles[1].is_current || tiles[2].is_current);
    assert_int_equal(ridge_tiles_of(&tiling, tiles, 0), 0);
    (void)state;
}

static void no_tiles_of_nonsense(void **state)
{
    const ridge_tiling good = {8192, 6144, 1, 128, 128, 132};
    ridge_tiling bad[6];
    ridge_tile tile;

    for (size_t i = 0; i < 6; i++)
        bad[i] = good;
    bad[0].rows = 0;
    bad[1].columns = 0;
    bad[2].batch = 0;
    bad[3].tile_rows = -1;
    bad[4].wave_blocks = 0;
    bad[5].rows = bad[5].batch = UINT64_MAX;
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(ridge_tiles_of(&bad[i], &tile, 1), 0);
    (void)state;
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, divides, grids);
    CASES_ADD_ROWS(&list, rejects, bad_grids);
    cases_add(&list, "tail of waves", tail_of_waves, NULL);
    cases_add(&list, "tiles, best first", tiles_best_first, NULL);
    cases_add(&list, "no tiles of nonsense", no_tiles_of_nonsense, NULL);
    return cases_run(&list, "grid");
}
