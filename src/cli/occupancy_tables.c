/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of ridge occupancy: steps, tiles and staircases over one resource. */
#include <math.h>
#include <stdio.h>

#include "occupancy_answer.h"

enum { TILES_SHOWN = 8 };

void occupancy_moves(const struct occupancy_answer *answer,
                     ridge_occupancy_move moves[OCCUPANCY_MOVES])
{
    static const ridge_resource resources[OCCUPANCY_MOVES] = {
        RIDGE_RESOURCE_SHARED, RIDGE_RESOURCE_REGISTERS, RIDGE_RESOURCE_BARRIERS};
    size_t i;

    for (i = 0; i < OCCUPANCY_MOVES; i++)
        (void)ridge_occupancy_move_of(answer->chip.arch, &answer->launch, resources[i], &moves[i],
                                      NULL);
}

/* The row that the launch is in: "now" for people. */
static void add_mark(ridge_table *table, const struct occupancy_answer *answer, bool is_current)
{
    if (answer->for_programs)
        ridge_table_bool(table, is_current);
    else
        ridge_table_text(table, is_current ? "now" : "");
}

/* For 1, 2, ... blocks: the most that a block may use, and what has to go for it. */
ridge_table *occupancy_steps_table(const struct occupancy_answer *answer, size_t first, size_t most)
{
    static const ridge_column columns[] = {
        {"blocks_per_sm", "Blocks", RIDGE_UNIT_COUNT, false, 0, 0},
        {"warps_per_sm", "Warps", RIDGE_UNIT_COUNT, false, 0, 3},
        {"occupancy_frac", "Occupancy", RIDGE_UNIT_FRAC, false, 0, 4},
        {"largest_shared_bytes", "Shared memory", RIDGE_UNIT_COUNT, false, 0, 0},
        {"shared_cut_bytes", "Cut", RIDGE_UNIT_COUNT, false, 0, 1},
        {"largest_registers_per_thread", "Registers", RIDGE_UNIT_COUNT, false, 0, 0},
        {"registers_cut", "Cut", RIDGE_UNIT_COUNT, false, 0, 2},
        {"is_current", "", RIDGE_UNIT_NONE, true, 0, 0},
    };
    const ridge_launch *const launch = &answer->launch;
    ridge_occupancy_step steps[OCCUPANCY_STEPS];
    const size_t count =
        ridge_occupancy_staircase(answer->chip.arch, launch, steps, OCCUPANCY_STEPS);
    ridge_table *const table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    size_t i;

    for (i = first; i < count && i < first + most && i < OCCUPANCY_STEPS; i++) {
        const int shared = steps[i].largest_shared_bytes;
        const int registers = steps[i].largest_registers_per_thread;

        ridge_table_count(table, (uint64_t)steps[i].blocks_per_sm);
        ridge_table_count(table, (uint64_t)steps[i].warps_per_sm);
        ridge_table_number(table, (double)steps[i].warps_per_sm / answer->chip.arch->warps_per_sm);
        ridge_table_number(table, shared >= 0 ? shared : (double)NAN);
        ridge_table_number(table,
                           shared < 0 ? (double)NAN : fmax(0, launch->shared_bytes - shared));
        ridge_table_number(table, registers > 0 ? registers : (double)NAN);
        ridge_table_number(table, registers <= 0 || launch->registers_per_thread == 0
                                      ? (double)NAN
                                      : fmax(0, launch->registers_per_thread - registers));
        add_mark(table, answer, steps[i].blocks_per_sm == answer->occupancy.blocks_per_sm);
    }
    return table;
}

ridge_table *occupancy_tiles_table(const struct occupancy_answer *answer)
{
    static const ridge_column columns[] = {
        {"tile", "Tile", RIDGE_UNIT_NONE, true, 0, 0},
        {"blocks", "Blocks", RIDGE_UNIT_COUNT, false, 0, 0},
        {"waves", "Waves", RIDGE_UNIT_NONE, false, 0, 0},
        {"useful_frac", "Useful", RIDGE_UNIT_FRAC, false, 0, 0},
        {"reuse", "FLOP/element", RIDGE_UNIT_NONE, false, 0, 1},
        {"is_current", "", RIDGE_UNIT_NONE, true, 0, 0},
    };
    ridge_table *const table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    ridge_tile tiles[TILES_SHOWN];
    const size_t count = ridge_tiles_of(&answer->tiling, tiles, TILES_SHOWN);
    size_t i;

    for (i = 0; i < count; i++) {
        char extent[32];

        snprintf(extent, sizeof(extent), "%dx%d", tiles[i].rows, tiles[i].columns);
        ridge_table_text(table, extent);
        ridge_table_count(table, tiles[i].blocks);
        ridge_table_number(table, tiles[i].waves);
        ridge_table_number(table, tiles[i].useful_frac);
        ridge_table_number(table, tiles[i].reuse);
        add_mark(table, answer, tiles[i].is_current);
    }
    return table;
}

enum { ROW_COLUMNS = 7 };

/* A table borrows its columns, so there is one set for each resource. */
#define COLUMNS_OF(least)                                                                          \
    {                                                                                              \
        {"least", least, RIDGE_UNIT_COUNT, false, 0, 0},                                           \
            {"most", "to", RIDGE_UNIT_COUNT, false, 0, 0},                                         \
            {"blocks_per_sm", "Blocks", RIDGE_UNIT_COUNT, false, 0, 0},                            \
            {"warps_per_sm", "Warps", RIDGE_UNIT_COUNT, false, 0, 3},                              \
            {"occupancy_frac", "Occupancy", RIDGE_UNIT_FRAC, false, 0, 4},                         \
            {"limiters", "Limited by", RIDGE_UNIT_NONE, true, 16, 1},                              \
            {"is_current", "", RIDGE_UNIT_NONE, true, 0, 0},                                       \
    }

static const ridge_column row_columns[RIDGE_RESOURCE_COUNT][ROW_COLUMNS] = {
    [RIDGE_RESOURCE_SHARED] = COLUMNS_OF("Bytes from"),
    [RIDGE_RESOURCE_REGISTERS] = COLUMNS_OF("Registers from"),
    [RIDGE_RESOURCE_BARRIERS] = COLUMNS_OF("Barriers from"),
    [RIDGE_RESOURCE_THREADS] = COLUMNS_OF("Threads from"),
};

/* Every row of the staircase over one resource. */
ridge_table *occupancy_rows_table(const struct occupancy_answer *answer, ridge_resource resource)
{
    const ridge_column *const columns = row_columns[resource];
    ridge_table *const table = ridge_table_create(columns, ROW_COLUMNS);
    ridge_occupancy_row rows[RIDGE_OCCUPANCY_ROWS];
    const size_t count = ridge_occupancy_rows(answer->chip.arch, &answer->launch, resource, rows,
                                              RIDGE_OCCUPANCY_ROWS);
    size_t i;

    for (i = 0; i < count && i < RIDGE_OCCUPANCY_ROWS; i++) {
        char limiters[100];

        ridge_table_count(table, (uint64_t)rows[i].least);
        ridge_table_count(table, (uint64_t)rows[i].most);
        ridge_table_count(table, (uint64_t)rows[i].blocks_per_sm);
        ridge_table_count(table, (uint64_t)rows[i].warps_per_sm);
        ridge_table_number(table, rows[i].occupancy_frac);
        ridge_table_text(table, ridge_limiters_text(rows[i].limiters, limiters, sizeof(limiters)));
        add_mark(table, answer, rows[i].is_current);
    }
    return table;
}
