/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge occupancy for programs. */
#include <limits.h>
#include <stdio.h>

#include "occupancy_answer.h"

static void json_limit(ridge_json *json, const char *key, int blocks)
{
    if (blocks == INT_MAX)
        ridge_json_null(json, key);
    else
        ridge_json_integer(json, key, blocks);
}

/* 0: not known, or none. */
static void json_known(ridge_json *json, const char *key, int value)
{
    if (value == 0)
        ridge_json_null(json, key);
    else
        ridge_json_integer(json, key, value);
}

static void json_limiters(ridge_json *json, const char *key, unsigned limiters)
{
    unsigned bit;

    ridge_json_begin_array(json, key);
    for (bit = 1; bit <= RIDGE_LIMIT_CLUSTER; bit <<= 1)
        if ((limiters & bit) != 0)
            ridge_json_text(json, NULL, ridge_limiter_words((ridge_limiter)bit));
    ridge_json_end_array(json);
}

static void json_launch(ridge_json *json, const struct occupancy_answer *answer)
{
    const ridge_launch *const launch = &answer->launch;
    const ridge_arch *const arch = answer->chip.arch;
    char capability[16];

    snprintf(capability, sizeof(capability), "%d.%d", arch->major, arch->minor);
    ridge_json_text(json, "gpu", answer->chip.name);
    ridge_json_text(json, "gpu_id", answer->chip.id);
    ridge_json_text(json, "compute_capability", capability);
    ridge_json_begin_object(json, "launch");
    ridge_json_integer(json, "threads_per_block", launch->threads_per_block);
    json_known(json, "registers_per_thread", launch->registers_per_thread);
    ridge_json_integer(json, "shared_bytes", launch->shared_bytes);
    json_known(json, "barriers", launch->barriers);
    json_known(json, "shared_per_sm_bytes", launch->shared_per_sm_bytes);
    json_known(json, "launch_bound", launch->launch_bound);
    json_known(json, "cluster_blocks", launch->cluster_blocks);
    ridge_json_end_object(json);
}

static void json_occupancy(ridge_json *json, const ridge_occupancy *occupancy)
{
    ridge_json_integer(json, "blocks_per_sm", occupancy->blocks_per_sm);
    ridge_json_integer(json, "warps_per_block", occupancy->warps_per_block);
    ridge_json_integer(json, "warps_per_sm", occupancy->warps_per_sm);
    ridge_json_number(json, "occupancy_frac", occupancy->occupancy_frac);
    json_limiters(json, "limiters", occupancy->limiters);
    json_limit(json, "limit_warps", occupancy->limit_warps);
    json_limit(json, "limit_blocks", occupancy->limit_blocks);
    json_limit(json, "limit_registers", occupancy->limit_registers);
    json_limit(json, "limit_shared", occupancy->limit_shared);
    json_limit(json, "limit_barriers", occupancy->limit_barriers);
    json_limit(json, "limit_launch_bound", occupancy->limit_launch_bound);
    json_limit(json, "limit_cluster", occupancy->limit_cluster);
}

static void json_moves(ridge_json *json, const struct occupancy_answer *answer)
{
    ridge_occupancy_move moves[OCCUPANCY_MOVES];
    ridge_block_sizes sizes;
    size_t i;

    occupancy_moves(answer, moves);
    ridge_json_begin_array(json, "moves");
    for (i = 0; i < OCCUPANCY_MOVES; i++) {
        const ridge_occupancy_move *const move = &moves[i];

        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "resource", ridge_resource_words(move->resource));
        ridge_json_integer(json, "used", move->used);
        json_limit(json, "limit_blocks", move->limit_blocks);
        ridge_json_bool(json, "limits", move->limits);
        json_limit(json, "cut", move->cut < 0 ? INT_MAX : move->cut);
        ridge_json_integer(json, "cut_blocks", move->cut_blocks);
        ridge_json_integer(json, "cut_warps", move->cut_warps);
        json_limiters(json, "others", move->others);
        json_limit(json, "keep", move->keep < 0 ? INT_MAX : move->keep);
        ridge_json_integer(json, "beyond_blocks", move->beyond_blocks);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
    (void)ridge_block_sizes_of(answer->chip.arch, &answer->launch, &sizes, NULL);
    ridge_json_begin_object(json, "block_sizes");
    json_known(json, "smaller_threads", sizes.smaller_threads);
    ridge_json_integer(json, "smaller_warps_per_sm", sizes.smaller_warps_per_sm);
    json_known(json, "larger_threads", sizes.larger_threads);
    ridge_json_integer(json, "larger_warps_per_sm", sizes.larger_warps_per_sm);
    json_known(json, "best_threads", sizes.best_threads);
    ridge_json_integer(json, "best_warps_per_sm", sizes.best_warps_per_sm);
    ridge_json_end_object(json);
}

static void json_grid(ridge_json *json, const struct occupancy_answer *answer)
{
    const ridge_grid *const grid = &answer->grid;

    if (grid->wave_blocks == 0) {
        ridge_json_null(json, "grid");
        return;
    }
    ridge_json_begin_object(json, "grid");
    ridge_json_count(json, "blocks", grid->blocks);
    ridge_json_count(json, "wave_blocks", grid->wave_blocks);
    ridge_json_number(json, "waves", grid->waves);
    ridge_json_count(json, "full_waves", grid->full_waves);
    ridge_json_count(json, "last_blocks", grid->last_blocks);
    ridge_json_number(json, "tail_frac", grid->tail_frac);
    ridge_json_count(json, "fewer_blocks", grid->fewer_blocks);
    ridge_json_count(json, "more_blocks", grid->more_blocks);
    ridge_json_count(json, "idle_sms", grid->idle_sms);
    ridge_json_end_object(json);
}

static void json_in_flight(ridge_json *json, const struct occupancy_answer *answer)
{
    const ridge_in_flight *const flight = &answer->in_flight;

    ridge_json_begin_object(json, "in_flight");
    ridge_json_number(json, "needed_low_bytes", flight->needed_low_bytes);
    ridge_json_number(json, "needed_high_bytes", flight->needed_high_bytes);
    json_known(json, "loads", answer->loads);
    ridge_json_integer(json, "width_bytes", answer->width);
    ridge_json_number(json, "available_bytes", flight->available_bytes);
    ridge_json_number(json, "loads_needed", flight->loads_needed);
    ridge_json_number(json, "warps_needed", flight->warps_needed);
    ridge_json_end_object(json);
}

void occupancy_write_json(ridge_output *output, const struct occupancy_answer *answer,
                          ridge_resource resource)
{
    ridge_json *const json = ridge_json_create(output);
    ridge_table *table;

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "schema", "ridge-occupancy/1");
    json_launch(json, answer);
    json_occupancy(json, &answer->occupancy);
    json_moves(json, answer);
    json_grid(json, answer);
    json_in_flight(json, answer);
    table = occupancy_steps_table(answer, 0, OCCUPANCY_STEPS);
    ridge_table_write(table, RIDGE_FORMAT_JSON, output, json, "steps");
    ridge_table_free(table);
    if (answer->has_tiles) {
        table = occupancy_tiles_table(answer);
        ridge_table_write(table, RIDGE_FORMAT_JSON, output, json, "tiles");
        ridge_table_free(table);
    }
    if (resource != RIDGE_RESOURCE_COUNT) {
        ridge_json_text(json, "table", ridge_resource_words(resource));
        table = occupancy_rows_table(answer, resource);
        ridge_table_write(table, RIDGE_FORMAT_JSON, output, json, "rows");
        ridge_table_free(table);
    }
    ridge_json_end_object(json);
    ridge_json_free(json);
}
