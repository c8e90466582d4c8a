/* SPDX-License-Identifier: Apache-2.0
 *
 * The staircase: where a little more or less of a resource changes how many blocks fit. Blocks an
 * SM never grow with more of a resource, so every edge is found by bisection over
 * ridge_occupancy_of() itself: an edge can not disagree with the occupancy on either side of it. */
#include "ridge/occupancy.h"

#include <assert.h>
#include <limits.h>

enum { WARP_THREADS = 32, NAMED_BARRIERS = 16 };

/* -- resources --------------------------------------------------------------------------------- */

static const struct resource {
    const char *words;
    unsigned limiter;
    int least;
} resources[RIDGE_RESOURCE_COUNT] = {
    [RIDGE_RESOURCE_SHARED] = {"shared memory", RIDGE_LIMIT_SHARED, 0},
    [RIDGE_RESOURCE_REGISTERS] = {"registers", RIDGE_LIMIT_REGISTERS, 1},
    [RIDGE_RESOURCE_BARRIERS] = {"barriers", RIDGE_LIMIT_BARRIERS, 0},
    [RIDGE_RESOURCE_THREADS] = {"threads", RIDGE_LIMIT_WARPS, 1},
};

const char *ridge_resource_words(ridge_resource resource)
{
    return resources[resource].words;
}

const char *ridge_limiter_words(ridge_limiter limiter)
{
    switch (limiter) {
    case RIDGE_LIMIT_WARPS:
        return "warps";
    case RIDGE_LIMIT_BLOCKS:
        return "block slots";
    case RIDGE_LIMIT_REGISTERS:
        return "registers";
    case RIDGE_LIMIT_SHARED:
        return "shared memory";
    case RIDGE_LIMIT_BARRIERS:
        return "barriers";
    case RIDGE_LIMIT_LAUNCH_BOUND:
        return "launch bound";
    case RIDGE_LIMIT_CLUSTER:
        return "cluster size";
    }
    return "n/a";
}

static int *field(ridge_launch *launch, ridge_resource resource)
{
    switch (resource) {
    case RIDGE_RESOURCE_SHARED:
        return &launch->shared_bytes;
    case RIDGE_RESOURCE_REGISTERS:
        return &launch->registers_per_thread;
    case RIDGE_RESOURCE_BARRIERS:
        return &launch->barriers;
    case RIDGE_RESOURCE_THREADS:
    case RIDGE_RESOURCE_COUNT:
        break;
    }
    return &launch->threads_per_block;
}

/* How much of a resource a launch uses, 0 when that is not known. */
static int launch_uses(const ridge_launch *launch, ridge_resource resource)
{
    ridge_launch copy = *launch;

    return *field(&copy, resource);
}

/* The most of a resource that any launch may ask for on the chip. */
static int most_of(const ridge_arch *arch, ridge_resource resource)
{
    switch (resource) {
    case RIDGE_RESOURCE_SHARED:
        return arch->shared_per_block_bytes;
    case RIDGE_RESOURCE_REGISTERS:
        return arch->registers_per_thread;
    case RIDGE_RESOURCE_BARRIERS:
        return NAMED_BARRIERS;
    case RIDGE_RESOURCE_THREADS:
    case RIDGE_RESOURCE_COUNT:
        break;
    }
    return arch->threads_per_block;
}

/* -- edges ------------------------------------------------------------------------------------- */

/* Occupancy with another amount of one resource. */
static ridge_occupancy with(const ridge_arch *arch, const ridge_launch *launch,
                            ridge_resource resource, int amount)
{
    ridge_launch changed = *launch;
    ridge_occupancy occupancy;

    *field(&changed, resource) = amount;
    (void)ridge_occupancy_of(arch, &changed, &occupancy, NULL);
    return occupancy;
}

/* Blocks an SM by one resource alone. */
static int alone(const ridge_occupancy *occupancy, ridge_resource resource)
{
    switch (resource) {
    case RIDGE_RESOURCE_SHARED:
        return occupancy->limit_shared;
    case RIDGE_RESOURCE_REGISTERS:
        return occupancy->limit_registers;
    case RIDGE_RESOURCE_BARRIERS:
        return occupancy->limit_barriers;
    case RIDGE_RESOURCE_THREADS:
    case RIDGE_RESOURCE_COUNT:
        break;
    }
    return occupancy->limit_warps;
}

/* The most from low to high at which the resource alone allows at least so many blocks; low - 1:
 * not even low does. */
static int most_for(const ridge_arch *arch, const ridge_launch *launch, ridge_resource resource,
                    int blocks, int low, int high)
{
    int below = low - 1;

    while (below < high) {
        const int middle = high - (high - below) / 2;
        const ridge_occupancy there = with(arch, launch, resource, middle);

        if (alone(&there, resource) >= blocks)
            below = middle;
        else
            high = middle - 1;
    }
    return below;
}

ridge_status ridge_occupancy_move_of(const ridge_arch *arch, const ridge_launch *launch,
                                     ridge_resource resource, ridge_occupancy_move *out,
                                     ridge_error *err)
{
    const int least = resources[resource].least;
    const int most = most_of(arch, resource);
    ridge_occupancy now;
    ridge_status status;

    assert(resource < RIDGE_RESOURCE_THREADS);
    *out = (ridge_occupancy_move){.resource = resource, .cut = -1, .keep = -1};
    status = ridge_occupancy_of(arch, launch, &now, err);
    if (status != RIDGE_OK)
        return status;
    out->used = launch_uses(launch, resource);
    out->limit_blocks = alone(&now, resource);
    out->limits = (now.limiters & resources[resource].limiter) != 0;
    out->others = out->limits ? now.limiters & ~resources[resource].limiter : 0;
    out->cut_blocks = now.blocks_per_sm;
    out->cut_warps = now.warps_per_sm;
    if (out->limits) {
        out->cut = most_for(arch, launch, resource, now.blocks_per_sm + 1, least,
                            out->used < most ? out->used : most);
        if (out->cut < least)
            out->cut = -1;
    }
    if (out->cut >= 0) {
        const ridge_occupancy then = with(arch, launch, resource, out->cut);

        out->cut_blocks = then.blocks_per_sm;
        out->cut_warps = then.warps_per_sm;
    }
    if (now.blocks_per_sm > 0) {
        out->keep = most_for(arch, launch, resource, now.blocks_per_sm, out->used, most);
        out->beyond_blocks = with(arch, launch, resource, out->keep + 1).blocks_per_sm;
    }
    return RIDGE_OK;
}

ridge_status ridge_block_sizes_of(const ridge_arch *arch, const ridge_launch *launch,
                                  ridge_block_sizes *out, ridge_error *err)
{
    ridge_occupancy now;
    ridge_status status;
    int warps;

    *out = (ridge_block_sizes){0};
    status = ridge_occupancy_of(arch, launch, &now, err);
    if (status != RIDGE_OK)
        return status;
    for (warps = 1; warps <= arch->threads_per_block / WARP_THREADS; warps++) {
        const int threads = warps * WARP_THREADS;
        const int resident = with(arch, launch, RIDGE_RESOURCE_THREADS, threads).warps_per_sm;

        if (resident <= now.warps_per_sm)
            continue;
        if (warps < now.warps_per_block) {
            out->smaller_threads = threads;
            out->smaller_warps_per_sm = resident;
        } else if (out->larger_threads == 0) {
            out->larger_threads = threads;
            out->larger_warps_per_sm = resident;
        }
        if (resident > out->best_warps_per_sm ||
            (resident == out->best_warps_per_sm && warps <= now.warps_per_block)) {
            out->best_threads = threads;
            out->best_warps_per_sm = resident;
        }
    }
    return RIDGE_OK;
}

/* -- rows -------------------------------------------------------------------------------------- */

static bool same_row(const ridge_occupancy *a, const ridge_occupancy *b)
{
    return a->blocks_per_sm == b->blocks_per_sm &&
           (a->blocks_per_sm == 0 || a->warps_per_block == b->warps_per_block);
}

/* The most of a resource, from low on, with the same blocks and warps as at low. */
static int end_of_row(const ridge_arch *arch, const ridge_launch *launch, ridge_resource resource,
                      int low, int high)
{
    const ridge_occupancy first = with(arch, launch, resource, low);

    while (low < high) {
        const int middle = high - (high - low) / 2;
        const ridge_occupancy there = with(arch, launch, resource, middle);

        if (same_row(&first, &there))
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

size_t ridge_occupancy_rows(const ridge_arch *arch, const ridge_launch *launch,
                            ridge_resource resource, ridge_occupancy_row *rows, size_t capacity)
{
    const int most = most_of(arch, resource);
    const int used = launch_uses(launch, resource);
    ridge_occupancy occupancy;
    size_t count = 0;
    int least, end;

    if (ridge_occupancy_of(arch, launch, &occupancy, NULL) != RIDGE_OK)
        return 0;
    for (least = resources[resource].least; least <= most; least = end + 1) {
        end = end_of_row(arch, launch, resource, least, most);
        occupancy = with(arch, launch, resource, end);
        if (count < capacity)
            rows[count] = (ridge_occupancy_row){
                .least = least,
                .most = end,
                .blocks_per_sm = occupancy.blocks_per_sm,
                .warps_per_sm = occupancy.warps_per_sm,
                .occupancy_frac = occupancy.occupancy_frac,
                .limiters = occupancy.limiters,
                .is_current = least <= used && used <= end,
            };
        count++;
    }
    return count;
}
