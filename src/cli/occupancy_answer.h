/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge occupancy in four files: occupancy.c asks the library, the others print what it says. */
#ifndef RIDGE_CLI_OCCUPANCY_ANSWER_H
#define RIDGE_CLI_OCCUPANCY_ANSWER_H

#include "options.h"
#include "ridge/occupancy.h"

/* The command line, and what the library says to it. */
struct occupancy_answer {
    ridge_chip chip; /* with --clock */
    ridge_launch launch;
    ridge_occupancy occupancy;
    uint64_t grid_blocks; /* 0: none */
    ridge_grid grid;
    bool has_tiles;
    ridge_tiling tiling;
    int loads; /* of a warp before it waits; 0: not given */
    int width; /* bytes of a lane */
    bool width_given;
    ridge_in_flight in_flight;
    bool for_programs; /* JSON and CSV */
};

/* The resources with a move of their own, in the order they are printed. */
enum { OCCUPANCY_MOVES = 3, OCCUPANCY_STEPS = 64 };
void occupancy_moves(const struct occupancy_answer *answer,
                     ridge_occupancy_move moves[OCCUPANCY_MOVES]);

/* Rows first to first + most - 1 of the staircase: for 1, 2, ... blocks an SM, what one may use. */
ridge_table *occupancy_steps_table(const struct occupancy_answer *answer, size_t first,
                                   size_t most);
ridge_table *occupancy_tiles_table(const struct occupancy_answer *answer);
/* Every row of the staircase over one resource. */
ridge_table *occupancy_rows_table(const struct occupancy_answer *answer, ridge_resource resource);

void occupancy_write_text(ridge_output *output, const struct occupancy_answer *answer);
/* resource: whose rows are added; RIDGE_RESOURCE_COUNT: none. */
void occupancy_write_json(ridge_output *output, const struct occupancy_answer *answer,
                          ridge_resource resource);

#endif
