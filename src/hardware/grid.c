/* SPDX-License-Identifier: Apache-2.0
 *
 * How a grid of equal blocks divides into waves. A wave is what all SMs hold together; the last
 * one is rarely full, and what it leaves idle is lost. */
#include "ridge/occupancy.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>

double ridge_tail_frac(double waves)
{
    return waves >= 1 ? (ceil(waves) - waves) / ceil(waves) : (double)NAN;
}

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0 ? 1 : 0);
}

ridge_status ridge_grid_of(uint64_t blocks, int sm_count, int blocks_per_sm, int cluster_blocks,
                           ridge_grid *out, ridge_error *err)
{
    const uint64_t cluster = cluster_blocks > 1 ? (uint64_t)cluster_blocks : 1;
    uint64_t wave;

    *out = (ridge_grid){0};
    if (blocks < 1 || sm_count < 1 || blocks_per_sm < 1)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "%" PRIu64 " blocks on %d SMs with %d each, expected 1 or more", blocks,
                          sm_count, blocks_per_sm);
    if (blocks % cluster != 0)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "a grid of %" PRIu64 " blocks is not whole clusters of %" PRIu64, blocks,
                          cluster);
    wave = (uint64_t)sm_count * (uint64_t)blocks_per_sm / cluster * cluster;
    if (wave == 0)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "a cluster of %" PRIu64 " blocks does not fit %d SMs with %d each",
                          cluster, sm_count, blocks_per_sm);
    out->blocks = blocks;
    out->wave_blocks = wave;
    out->waves = (double)blocks / (double)wave;
    out->full_waves = blocks / wave;
    out->last_blocks = blocks % wave;
    out->tail_frac = out->last_blocks == 0 ? 0 : ridge_tail_frac(out->waves);
    out->fewer_blocks = out->full_waves * wave;
    out->more_blocks = divide_up(blocks, wave) > UINT64_MAX / wave ? out->fewer_blocks
                                                                   : divide_up(blocks, wave) * wave;
    out->idle_sms = blocks < (uint64_t)sm_count ? (uint64_t)sm_count - blocks : 0;
    return RIDGE_OK;
}

/* -- tiles ------------------------------------------------------------------------------------- */

static const int usual[] = {16, 32, 64, 96, 128, 160, 192, 224, 256};

enum { USUAL_COUNT = sizeof(usual) / sizeof(usual[0]), MOST_EXTENT = 1 << 20 };

/* The problem cut into one kind of tile; false when there are more tiles than a number can say. */
static bool cut(const ridge_tiling *tiling, int rows, int columns, ridge_tile *out)
{
    const double waves_blocks = (double)tiling->wave_blocks;
    const uint64_t across = divide_up(tiling->columns, (uint64_t)columns);
    const uint64_t down = divide_up(tiling->rows, (uint64_t)rows);
    const double blocks = (double)down * (double)across * (double)tiling->batch;

    if (!(blocks < 0x1p53))
        return false;
    out->rows = rows;
    out->columns = columns;
    out->blocks = (uint64_t)blocks;
    out->waves = blocks / waves_blocks;
    out->useful_frac = (double)tiling->rows * (double)tiling->columns * (double)tiling->batch /
                       (ceil(out->waves) * waves_blocks * (double)rows * (double)columns);
    out->reuse = 2.0 * rows * columns / ((double)rows + columns);
    out->is_current = rows == tiling->tile_rows && columns == tiling->tile_columns;
    return true;
}

/* Whether a is the better choice. The order is total, so that the list does not depend on how it is
 * sorted. */
static bool is_better(const ridge_tile *a, const ridge_tile *b)
{
    if (a->useful_frac != b->useful_frac)
        return a->useful_frac > b->useful_frac;
    if (a->reuse != b->reuse)
        return a->reuse > b->reuse;
    return a->rows != b->rows ? a->rows > b->rows : a->columns > b->columns;
}

static void insert(ridge_tile *tiles, size_t *count, const ridge_tile *tile)
{
    size_t at = (*count)++;

    for (; at > 0 && is_better(tile, &tiles[at - 1]); at--)
        tiles[at] = tiles[at - 1];
    tiles[at] = *tile;
}

/* Of tiles in order: those with more reuse than all before them, which are the ones that none beats
 * in both, and the present one. */
static size_t take_best(const ridge_tile *all, size_t all_count, ridge_tile *tiles, size_t capacity)
{
    double most_reuse = 0;
    size_t count = 0;
    bool has_present = false;

    for (size_t i = 0; i < all_count; i++) {
        const bool is_best = all[i].reuse > most_reuse;

        if (!is_best && !all[i].is_current)
            continue;
        if (is_best)
            most_reuse = all[i].reuse;
        if (count + (has_present || all[i].is_current ? 0 : 1) >= capacity)
            continue; /* the last place is the present one's */
        tiles[count++] = all[i];
        has_present = has_present || all[i].is_current;
    }
    return count;
}

size_t ridge_tiles_of(const ridge_tiling *tiling, ridge_tile *tiles, size_t capacity)
{
    const int64_t area = (int64_t)tiling->tile_rows * tiling->tile_columns;
    ridge_tile all[USUAL_COUNT * USUAL_COUNT + 1];
    ridge_tile present, tile;
    size_t count = 0;

    if (tiling->rows < 1 || tiling->columns < 1 || tiling->batch < 1 || tiling->wave_blocks < 1 ||
        tiling->tile_rows < 1 || tiling->tile_columns < 1 || tiling->tile_rows > MOST_EXTENT ||
        tiling->tile_columns > MOST_EXTENT ||
        !cut(tiling, tiling->tile_rows, tiling->tile_columns, &present))
        return 0;
    insert(all, &count, &present);
    for (size_t r = 0; r < USUAL_COUNT; r++)
        for (size_t c = 0; c < USUAL_COUNT; c++) {
            const int64_t elements = (int64_t)usual[r] * usual[c];

            if (2 * elements >= area && elements <= 2 * area &&
                cut(tiling, usual[r], usual[c], &tile) && !tile.is_current)
                insert(all, &count, &tile);
        }
    return take_best(all, count, tiles, capacity);
}
