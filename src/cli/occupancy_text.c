/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge occupancy as people read it: the answer, what stands in the way, and what it costs. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "occupancy_answer.h"

enum {
    LABEL_COLUMNS = 17,
    STEPS_SHOWN = 5,
    /* More is dynamic, and asked for (CUDA C++ Programming Guide, compute capabilities). */
    UNASKED_SHARED_BYTES = 48 * 1024
};

static const char *plural(double count)
{
    return count == 1 ? "" : "s";
}

/* A number with its unit; each call of an expression needs a buffer of its own. */
struct number {
    char text[32];
};

static const char *count_text(double value, struct number *number)
{
    return ridge_number_text(value, RIDGE_UNIT_COUNT, number->text, sizeof(number->text));
}

static const char *frac_text(double value, struct number *number)
{
    return ridge_number_text(value, RIDGE_UNIT_FRAC, number->text, sizeof(number->text));
}

static void write_answer(ridge_output *output, const struct occupancy_answer *answer)
{
    const ridge_occupancy *const now = &answer->occupancy;
    const int threads = answer->launch.threads_per_block;
    char text[200], limiters[100];
    struct number number;

    snprintf(
        text, sizeof(text), "%d block%s of %d thread%s an SM: %d of %d warps (%s), limited by %s",
        now->blocks_per_sm, plural(now->blocks_per_sm), threads, plural(threads), now->warps_per_sm,
        answer->chip.arch->warps_per_sm, frac_text(now->occupancy_frac, &number),
        ridge_limiters_text(now->limiters, limiters, sizeof(limiters)));
    ridge_output_styled(output, RIDGE_STYLE_STRONG, text);
    ridge_output_text(output, "\n");
}

static void write_failure(ridge_output *output, const struct occupancy_answer *answer)
{
    char reasons[400];

    ridge_output_styled(output, RIDGE_STYLE_STRONG, "No block fits: the launch fails");
    ridge_output_text(output, "\n");
    cli_labelled(
        output, LABEL_COLUMNS, "why",
        ridge_occupancy_failure_text(answer->chip.arch, &answer->launch, reasons, sizeof(reasons)));
}

/* What was asked: the chip and the block. */
static void write_launch(ridge_output *output, const struct occupancy_answer *answer)
{
    const ridge_launch *const launch = &answer->launch;
    const ridge_arch *const arch = answer->chip.arch;
    char registers[48] = "registers unknown", rest[160] = "", text[400];
    struct number number;

    if (launch->registers_per_thread > 0)
        snprintf(registers, sizeof(registers), "%d registers a thread",
                 launch->registers_per_thread);
    if (launch->barriers > 0)
        snprintf(rest, sizeof(rest), ", %d barrier%s", launch->barriers, plural(launch->barriers));
    if (launch->shared_per_sm_bytes > 0)
        snprintf(rest + strlen(rest), sizeof(rest) - strlen(rest), ", carve-out %d KiB",
                 launch->shared_per_sm_bytes / 1024);
    if (launch->cluster_blocks > 1)
        snprintf(rest + strlen(rest), sizeof(rest) - strlen(rest), ", clusters of %d",
                 launch->cluster_blocks);
    snprintf(text, sizeof(text), "%s (%d.%d): %s, %s bytes of shared memory%s", answer->chip.name,
             arch->major, arch->minor, registers, count_text(launch->shared_bytes, &number), rest);
    cli_labelled(output, LABEL_COLUMNS, "launch", text);
    if (launch->shared_bytes > UNASKED_SHARED_BYTES && answer->occupancy.blocks_per_sm > 0)
        cli_labelled(
            output, LABEL_COLUMNS, "opt-in",
            "above 48 KiB a launch needs cudaFuncAttributeMaxDynamicSharedMemorySize (dynamic)");
}

/* "shared memory 1, registers 2, ...": blocks that each limit alone would allow. */
static void write_limits(ridge_output *output, const struct occupancy_answer *answer)
{
    const ridge_occupancy *const now = &answer->occupancy;
    const struct limit {
        ridge_limiter limiter;
        int blocks;
    } limits[] = {
        {RIDGE_LIMIT_SHARED, now->limit_shared},     {RIDGE_LIMIT_REGISTERS, now->limit_registers},
        {RIDGE_LIMIT_WARPS, now->limit_warps},       {RIDGE_LIMIT_BLOCKS, now->limit_blocks},
        {RIDGE_LIMIT_BARRIERS, now->limit_barriers},
    };
    char text[200] = "";
    size_t i;

    for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        if (limits[i].blocks != INT_MAX)
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s %d",
                     text[0] != '\0' ? ", " : "", ridge_limiter_words(limits[i].limiter),
                     limits[i].blocks);
    cli_labelled(output, LABEL_COLUMNS, "blocks allowed", text);
}

static void write_moves(ridge_output *output, const struct occupancy_answer *answer)
{
    const int blocks = answer->occupancy.blocks_per_sm;
    ridge_occupancy_move moves[OCCUPANCY_MOVES];
    size_t i;

    occupancy_moves(answer, moves);
    for (i = 0; i < OCCUPANCY_MOVES; i++) {
        char text[400], keep[160];

        if (moves[i].limit_blocks == INT_MAX && moves[i].resource != RIDGE_RESOURCE_SHARED)
            continue; /* unknown, or no limit */
        ridge_occupancy_move_text(&moves[i], blocks, text, sizeof(text));
        ridge_occupancy_keep_text(&moves[i], blocks, keep, sizeof(keep));
        if (text[0] != '\0' && keep[0] != '\0')
            snprintf(text + strlen(text), sizeof(text) - strlen(text), ". %s", keep);
        cli_labelled(output, LABEL_COLUMNS, ridge_resource_words(moves[i].resource),
                     text[0] != '\0' ? text : keep);
    }
}

static void add_size(char *text, size_t size, int threads, int warps, const char *rest)
{
    const size_t length = strlen(text);

    snprintf(text + length, size - length, "%sblocks of %d give %d warps%s", length > 0 ? "; " : "",
             threads, warps, rest);
}

/* With the same registers a thread and the same bytes a block. */
static void write_block_sizes(ridge_output *output, const struct occupancy_answer *answer)
{
    ridge_block_sizes sizes;
    char text[200] = "";

    (void)ridge_block_sizes_of(answer->chip.arch, &answer->launch, &sizes, NULL);
    if (sizes.smaller_threads > 0 && sizes.smaller_threads != sizes.best_threads)
        add_size(text, sizeof(text), sizes.smaller_threads, sizes.smaller_warps_per_sm, "");
    if (sizes.larger_threads > 0 && sizes.larger_threads != sizes.best_threads)
        add_size(text, sizeof(text), sizes.larger_threads, sizes.larger_warps_per_sm, "");
    if (sizes.best_threads > 0)
        add_size(text, sizeof(text), sizes.best_threads, sizes.best_warps_per_sm, ", the most");
    cli_labelled(output, LABEL_COLUMNS, "threads", text);
}

static void write_grid(ridge_output *output, const struct occupancy_answer *answer)
{
    const ridge_grid *const grid = &answer->grid;
    const int cluster = answer->launch.cluster_blocks;
    struct number a, b, c, d;
    char text[400];

    if (answer->grid_blocks == 0 || answer->occupancy.blocks_per_sm == 0)
        return;
    if (answer->chip.sm_count == 0) {
        cli_labelled(output, LABEL_COLUMNS, "grid", "n/a: how many SMs the chip has is not known");
        return;
    }
    snprintf(text, sizeof(text), "%s block%s, %s wave%s of %s",
             count_text((double)grid->blocks, &a), plural((double)grid->blocks),
             ridge_number_text(grid->waves, RIDGE_UNIT_NONE, b.text, sizeof(b.text)),
             plural(grid->waves), count_text((double)grid->wave_blocks, &c));
    if (grid->idle_sms > 0)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), ": %s of %d SMs get no block",
                 count_text((double)grid->idle_sms, &d), answer->chip.sm_count);
    else if (grid->full_waves == 0)
        snprintf(text + strlen(text), sizeof(text) - strlen(text),
                 ": all at once, more blocks would fit");
    else if (grid->last_blocks == 0)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), ": whole, no tail");
    else
        snprintf(text + strlen(text), sizeof(text) - strlen(text),
                 ": the last holds %s, up to %s of the SM time is lost. Whole: %s or %s blocks",
                 count_text((double)grid->last_blocks, &a), frac_text(grid->tail_frac, &b),
                 count_text((double)grid->fewer_blocks, &c),
                 count_text((double)grid->more_blocks, &d));
    cli_labelled(output, LABEL_COLUMNS, "grid", text);
    if (cluster > 1) {
        snprintf(
            text, sizeof(text),
            "at most %s clusters of %d at a time, fewer where the SMs of a GPC are no multiple%s",
            count_text((double)grid->wave_blocks / cluster, &a), cluster,
            cluster > answer->chip.arch->portable_cluster
                ? ". More than 8 blocks need the attribute for non-portable sizes"
                : "");
        cli_labelled(output, LABEL_COLUMNS, "clusters", text);
    }
}

static void write_in_flight(ridge_output *output, const struct occupancy_answer *answer)
{
    const ridge_in_flight *const flight = &answer->in_flight;
    const bool asked = answer->loads > 0 || answer->width_given;
    struct number low, high, loads, warps, available, share;
    char text[400];

    if (answer->occupancy.blocks_per_sm == 0)
        return;
    if (isnan(flight->needed_high_bytes)) {
        if (asked)
            cli_labelled(output, LABEL_COLUMNS, "in flight",
                         "n/a: the chip's bandwidth, clock or number of SMs is not known; --clock "
                         "sets the clock, a --gpu-file all");
        return;
    }
    snprintf(text, sizeof(text), "%s to %s bytes an SM keep device memory busy (600 to 800 cycles)",
             count_text(round(flight->needed_low_bytes), &low),
             count_text(round(flight->needed_high_bytes), &high));
    if (answer->loads > 0)
        snprintf(text + strlen(text), sizeof(text) - strlen(text),
                 "; %d warps x %d load%s x 32 x %d give %s, %s. ", answer->occupancy.warps_per_sm,
                 answer->loads, plural(answer->loads), answer->width,
                 count_text(flight->available_bytes, &available),
                 flight->available_bytes >= flight->needed_high_bytes
                     ? "enough"
                     : frac_text(flight->available_bytes / flight->needed_high_bytes, &share));
    else
        snprintf(text + strlen(text), sizeof(text) - strlen(text), ": ");
    snprintf(text + strlen(text), sizeof(text) - strlen(text),
             "%s load%s of %d bytes a lane %s enough", count_text(flight->loads_needed, &loads),
             plural(flight->loads_needed), answer->width, flight->loads_needed == 1 ? "is" : "are");
    if (answer->loads > 0 && flight->warps_needed <= answer->chip.arch->warps_per_sm)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), ", or %s warps an SM with %d",
                 count_text(flight->warps_needed, &warps), answer->loads);
    else if (answer->loads > 0)
        snprintf(text + strlen(text), sizeof(text) - strlen(text),
                 "; with %d no occupancy is enough", answer->loads);
    cli_labelled(output, LABEL_COLUMNS, "in flight", text);
}

void occupancy_write_text(ridge_output *output, const struct occupancy_answer *answer)
{
    const unsigned fixable = RIDGE_LIMIT_SHARED | RIDGE_LIMIT_REGISTERS;
    const size_t blocks = (size_t)answer->occupancy.blocks_per_sm;
    ridge_table *table;

    if (blocks > 0)
        write_answer(output, answer);
    else
        write_failure(output, answer);
    write_launch(output, answer);
    if (blocks > 0)
        write_limits(output, answer);
    write_moves(output, answer);
    write_block_sizes(output, answer);
    write_grid(output, answer);
    write_in_flight(output, answer);
    if (blocks > 0 || (answer->occupancy.limiters & ~fixable) == 0) {
        table = occupancy_steps_table(answer, blocks > 1 ? blocks - 2 : 0, STEPS_SHOWN);
        ridge_output_text(output, "\nThe most that a block may use, and what has to go:\n");
        ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
        ridge_table_free(table);
    }
    if (answer->has_tiles) {
        ridge_output_text(
            output, "\nTiles of half to twice the size, if a block needs what it needs now:\n");
        table = occupancy_tiles_table(answer);
        ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
        ridge_table_free(table);
    }
}
