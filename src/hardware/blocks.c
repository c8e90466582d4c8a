/* SPDX-License-Identifier: Apache-2.0
 *
 * How many blocks of a launch fit one SM. Warps, blocks, registers, shared memory and named
 * barriers each allow a number of blocks of their own; the smallest wins. The granularities are
 * those of cuda_occupancy.h:
 *
 * - registers go to a warp in units of 256, out of the quarter of the register file that belongs
 *   to the warp's scheduler;
 * - shared memory goes to a block in units of 128 bytes (256 on 7.x), with 1 KiB on top for the
 *   driver from 8.0 on.
 *
 * Launch bounds of the kernel (__launch_bounds__) and the size of a cluster are no part of the
 * driver's answer: a block or cluster larger than they allow fails at launch whatever fits. */
#include "ridge/hardware.h"

#include <assert.h>
#include <limits.h>

enum { WARP_THREADS = 32 };

static int64_t round_up(int64_t value, int64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static int64_t round_down(int64_t value, int64_t unit)
{
    return value / unit * unit;
}

static int smallest(int a, int b)
{
    return a < b ? a : b;
}

static int warps_of(int threads)
{
    return (int)(((int64_t)threads + WARP_THREADS - 1) / WARP_THREADS);
}

static int limit_by_warps(const ridge_arch *arch, const ridge_launch *launch)
{
    if (launch->threads_per_block > arch->threads_per_block)
        return 0;
    return arch->warps_per_sm / warps_of(launch->threads_per_block);
}

static int limit_by_registers(const ridge_arch *arch, const ridge_launch *launch)
{
    const int64_t warps = warps_of(launch->threads_per_block);
    const int64_t per_scheduler = arch->registers_per_sm / arch->schedulers_per_sm;
    int64_t per_warp;

    if (launch->registers_per_thread == 0)
        return INT_MAX;
    if (launch->registers_per_thread > arch->registers_per_thread)
        return 0;
    per_warp = round_up((int64_t)launch->registers_per_thread * WARP_THREADS, arch->register_unit);
    /* The launch fails when the schedulers, evenly loaded, cannot hold one block. */
    if (per_warp * round_up(warps, arch->schedulers_per_sm) > arch->registers_per_sm)
        return 0;
    return (int)(arch->schedulers_per_sm * (per_scheduler / per_warp) / warps);
}

static int64_t shared_in_force(const ridge_arch *arch, const ridge_launch *launch)
{
    return launch->shared_per_sm_bytes > 0 ? launch->shared_per_sm_bytes
                                           : arch->shared_per_sm_bytes;
}

static int limit_by_shared(const ridge_arch *arch, const ridge_launch *launch)
{
    const int64_t per_block = round_up((int64_t)launch->shared_bytes + arch->shared_reserved_bytes,
                                       arch->shared_unit_bytes);

    if (launch->shared_bytes > arch->shared_per_block_bytes)
        return 0;
    if (per_block == 0)
        return INT_MAX;
    return (int)(shared_in_force(arch, launch) / per_block);
}

static int limit_by_barriers(const ridge_arch *arch, const ridge_launch *launch)
{
    if (arch->barriers_per_sm == 0 || launch->barriers == 0)
        return INT_MAX;
    return arch->barriers_per_sm / launch->barriers;
}

static int limit_by_launch_bound(const ridge_launch *launch)
{
    return launch->launch_bound > 0 && launch->threads_per_block > launch->launch_bound ? 0
                                                                                        : INT_MAX;
}

static int limit_by_cluster(const ridge_arch *arch, const ridge_launch *launch)
{
    return launch->cluster_blocks > 1 && launch->cluster_blocks > arch->cluster_blocks ? 0
                                                                                       : INT_MAX;
}

static ridge_status check_launch(const ridge_launch *launch, ridge_error *err)
{
    if (launch->threads_per_block < 1)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "%d threads a block, expected 1 or more",
                          launch->threads_per_block);
    if (launch->registers_per_thread < 0)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "%d registers a thread, expected 0 or more",
                          launch->registers_per_thread);
    if (launch->shared_bytes < 0)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "%d bytes of shared memory a block, expected 0 or more",
                          launch->shared_bytes);
    if (launch->barriers < 0)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "%d barriers a block, expected 0 or more", launch->barriers);
    if (launch->shared_per_sm_bytes < 0)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "%d bytes of shared memory an SM, expected 0 or more",
                          launch->shared_per_sm_bytes);
    if (launch->launch_bound < 0)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "a launch bound of %d threads, expected 0 or more", launch->launch_bound);
    if (launch->cluster_blocks < 0)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "%d blocks a cluster, expected 0 or more", launch->cluster_blocks);
    return RIDGE_OK;
}

ridge_status ridge_occupancy_of(const ridge_arch *arch, const ridge_launch *launch,
                                ridge_occupancy *out, ridge_error *err)
{
    ridge_status status;
    int blocks;

    *out = (ridge_occupancy){0};
    status = check_launch(launch, err);
    if (status != RIDGE_OK)
        return status;

    out->warps_per_block = warps_of(launch->threads_per_block);
    out->limit_warps = limit_by_warps(arch, launch);
    out->limit_blocks = arch->blocks_per_sm;
    out->limit_registers = limit_by_registers(arch, launch);
    out->limit_shared = limit_by_shared(arch, launch);
    out->limit_barriers = limit_by_barriers(arch, launch);
    out->limit_launch_bound = limit_by_launch_bound(launch);
    out->limit_cluster = limit_by_cluster(arch, launch);

    blocks = smallest(out->limit_warps, out->limit_blocks);
    blocks = smallest(blocks, out->limit_registers);
    blocks = smallest(blocks, out->limit_shared);
    blocks = smallest(blocks, out->limit_barriers);
    blocks = smallest(blocks, smallest(out->limit_launch_bound, out->limit_cluster));
    assert(blocks >= 0);

    out->blocks_per_sm = blocks;
    out->warps_per_sm = blocks * out->warps_per_block;
    out->occupancy_frac = (double)out->warps_per_sm / arch->warps_per_sm;
    out->limiters = (out->limit_warps == blocks ? RIDGE_LIMIT_WARPS : 0u) |
                    (out->limit_blocks == blocks ? RIDGE_LIMIT_BLOCKS : 0u) |
                    (out->limit_registers == blocks ? RIDGE_LIMIT_REGISTERS : 0u) |
                    (out->limit_shared == blocks ? RIDGE_LIMIT_SHARED : 0u) |
                    (out->limit_barriers == blocks ? RIDGE_LIMIT_BARRIERS : 0u) |
                    (out->limit_launch_bound == blocks ? RIDGE_LIMIT_LAUNCH_BOUND : 0u) |
                    (out->limit_cluster == blocks ? RIDGE_LIMIT_CLUSTER : 0u);
    return RIDGE_OK;
}

/* Most bytes a block may use when blocks of them share the SM; -1: none. */
static int largest_shared(const ridge_arch *arch, const ridge_launch *launch, int blocks)
{
    const int64_t share =
        round_down(shared_in_force(arch, launch) / blocks, arch->shared_unit_bytes);
    const int64_t usable = share - arch->shared_reserved_bytes;

    if (usable < 0)
        return -1;
    return usable < arch->shared_per_block_bytes ? (int)usable : arch->shared_per_block_bytes;
}

/* Most registers a thread may use when so many warps share the SM; 0: none. */
static int largest_registers(const ridge_arch *arch, int warps)
{
    const int64_t per_scheduler = arch->registers_per_sm / arch->schedulers_per_sm;
    const int64_t scheduler_warps =
        round_up(warps, arch->schedulers_per_sm) / arch->schedulers_per_sm;
    const int64_t per_warp = round_down(per_scheduler / scheduler_warps, arch->register_unit);

    return smallest((int)(per_warp / WARP_THREADS), arch->registers_per_thread);
}

size_t ridge_occupancy_staircase(const ridge_arch *arch, const ridge_launch *launch,
                                 ridge_occupancy_step *steps, size_t capacity)
{
    int most, warps;

    if (check_launch(launch, NULL) != RIDGE_OK)
        return 0;
    warps = warps_of(launch->threads_per_block);
    most = smallest(limit_by_warps(arch, launch), arch->blocks_per_sm);
    most = smallest(most, limit_by_barriers(arch, launch));
    for (int blocks = 1; blocks <= most && (size_t)blocks <= capacity; blocks++)
        steps[blocks - 1] = (ridge_occupancy_step){
            .blocks_per_sm = blocks,
            .warps_per_sm = blocks * warps,
            .largest_shared_bytes = largest_shared(arch, launch, blocks),
            .largest_registers_per_thread = largest_registers(arch, blocks * warps),
        };
    return (size_t)most;
}
