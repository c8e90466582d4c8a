/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps of the staircase in words. */
#include "ridge/occupancy.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ridge/table.h"

enum { NUMBER_SIZE = 32 };

static RIDGE_PRINTF(3, 4) void add(char *buffer, size_t size, const char *format, ...)
{
    const size_t length = strlen(buffer);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(buffer + length, size - length, format, arguments);
    va_end(arguments);
}

static const char *count_text(int64_t value, char buffer[NUMBER_SIZE])
{
    return ridge_number_text((double)value, RIDGE_UNIT_COUNT, buffer, NUMBER_SIZE);
}

char *ridge_limiters_text(unsigned limiters, char *buffer, size_t size)
{
    unsigned left = limiters;

    buffer[0] = '\0';
    if (limiters == 0)
        add(buffer, size, "nothing");
    for (unsigned bit = 1; left != 0; bit <<= 1) {
        if ((left & bit) == 0)
            continue;
        left &= ~bit;
        add(buffer, size, "%s%s",
            buffer[0] == '\0' ? ""
            : left == 0       ? " and "
                              : ", ",
            ridge_limiter_words((ridge_limiter)bit));
    }
    return buffer;
}

/* "a second block fits", "the launch works", "5 blocks fit". */
static void add_gain(char *buffer, size_t size, int before, int after)
{
    static const char *const ordinals[] = {"second",  "third",  "fourth", "fifth", "sixth",
                                           "seventh", "eighth", "ninth",  "tenth"};

    if (before == 0)
        add(buffer, size, "a block fits");
    else if (after == before + 1 && after <= 10)
        add(buffer, size, "a%s %s block fits", after == 8 ? "n" : "", ordinals[after - 2]);
    else
        add(buffer, size, "%d blocks fit", after);
}

char *ridge_occupancy_move_text(const ridge_occupancy_move *move, int blocks_per_sm, char *buffer,
                                size_t size)
{
    const bool is_bytes = move->resource == RIDGE_RESOURCE_SHARED;
    const unsigned fixed = move->others & ~(unsigned)(RIDGE_LIMIT_REGISTERS | RIDGE_LIMIT_SHARED |
                                                      RIDGE_LIMIT_BARRIERS);
    const int less = move->used - move->cut;
    char used[NUMBER_SIZE], cut[NUMBER_SIZE], step[NUMBER_SIZE], others[100];

    buffer[0] = '\0';
    if (!move->limits)
        return buffer;
    if (move->cut < 0 || fixed != 0) {
        add(buffer, size, "no cut buys a block%s%s", fixed != 0 ? ": as many by " : "",
            fixed != 0 ? ridge_limiters_text(fixed, others, sizeof(others)) : "");
        return buffer;
    }
    add(buffer, size, "free %s%s (%s -> %s)", count_text(less, step),
        is_bytes ? less == 1 ? " byte" : " bytes" : "", count_text(move->used, used),
        count_text(move->cut, cut));
    if (move->others != 0) {
        add(buffer, size, ": buys a block only together with %s",
            ridge_limiters_text(move->others, others, sizeof(others)));
        return buffer;
    }
    add(buffer, size, " and ");
    add_gain(buffer, size, blocks_per_sm, move->cut_blocks);
    if (less > 1)
        add(buffer, size, "; %s less buys nothing", count_text(less - 1, step));
    return buffer;
}

char *ridge_occupancy_keep_text(const ridge_occupancy_move *move, int blocks_per_sm, char *buffer,
                                size_t size)
{
    char more[NUMBER_SIZE], keep[NUMBER_SIZE];

    buffer[0] = '\0';
    if (move->keep <= move->used)
        return buffer;
    add(buffer, size, "%s%s more %s free: %d block%s up to %s",
        count_text((int64_t)move->keep - move->used, more),
        move->resource == RIDGE_RESOURCE_SHARED ? " bytes" : "",
        move->keep - move->used == 1 ? "is" : "are", blocks_per_sm, blocks_per_sm == 1 ? "" : "s",
        count_text(move->keep, keep));
    return buffer;
}

/* -- failures ---------------------------------------------------------------------------------- */

static void add_reason(const ridge_arch *arch, const ridge_launch *launch, ridge_limiter limiter,
                       char *buffer, size_t size)
{
    char a[NUMBER_SIZE], b[NUMBER_SIZE];

    switch (limiter) {
    case RIDGE_LIMIT_WARPS:
        if (launch->threads_per_block > arch->threads_per_block)
            add(buffer, size, "%s threads a block, the most is %s",
                count_text(launch->threads_per_block, a), count_text(arch->threads_per_block, b));
        else
            add(buffer, size, "%d threads a block, an SM holds %d warps", launch->threads_per_block,
                arch->warps_per_sm);
        break;
    case RIDGE_LIMIT_BLOCKS:
        add(buffer, size, "the SM holds no block");
        break;
    case RIDGE_LIMIT_REGISTERS:
        if (launch->registers_per_thread > arch->registers_per_thread)
            add(buffer, size, "%d registers a thread, the most is %d", launch->registers_per_thread,
                arch->registers_per_thread);
        else
            add(buffer, size, "%d threads with %d registers each, an SM has %s registers",
                launch->threads_per_block, launch->registers_per_thread,
                count_text(arch->registers_per_sm, a));
        break;
    case RIDGE_LIMIT_SHARED:
        add(buffer, size, "%s bytes of shared memory a block, ",
            count_text(launch->shared_bytes, a));
        if (launch->shared_bytes > arch->shared_per_block_bytes)
            add(buffer, size, "the most is %s", count_text(arch->shared_per_block_bytes, b));
        else
            add(buffer, size, "an SM has %s",
                count_text(launch->shared_per_sm_bytes > 0 ? launch->shared_per_sm_bytes
                                                           : arch->shared_per_sm_bytes,
                           b));
        break;
    case RIDGE_LIMIT_BARRIERS:
        add(buffer, size, "%d named barriers a block, an SM has %d", launch->barriers,
            arch->barriers_per_sm);
        break;
    case RIDGE_LIMIT_LAUNCH_BOUND:
        add(buffer, size, "%d threads a block, the launch bound is %d", launch->threads_per_block,
            launch->launch_bound);
        break;
    case RIDGE_LIMIT_CLUSTER:
        if (arch->cluster_blocks == 0)
            add(buffer, size, "clusters need compute capability 9.0, this is %d.%d", arch->major,
                arch->minor);
        else
            add(buffer, size, "%d blocks a cluster, the most is %d", launch->cluster_blocks,
                arch->cluster_blocks);
        break;
    }
}

char *ridge_occupancy_failure_text(const ridge_arch *arch, const ridge_launch *launch, char *buffer,
                                   size_t size)
{
    ridge_occupancy occupancy;

    buffer[0] = '\0';
    if (ridge_occupancy_of(arch, launch, &occupancy, NULL) != RIDGE_OK ||
        occupancy.blocks_per_sm > 0)
        return buffer;
    for (unsigned bit = 1; bit <= RIDGE_LIMIT_CLUSTER; bit <<= 1) {
        if ((occupancy.limiters & bit) == 0)
            continue;
        if (buffer[0] != '\0')
            add(buffer, size, "; ");
        add_reason(arch, launch, (ridge_limiter)bit, buffer, size);
    }
    return buffer;
}
