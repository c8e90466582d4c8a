/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps of the staircase: literal ones, and on every chip for random launches that what is reported
 * is exact: with the cut more blocks fit, with one unit less of it they do not. */
#include "cases.h"

#include <limits.h>

#include "ridge/occupancy.h"

#define SHARED RIDGE_RESOURCE_SHARED
#define REGS RIDGE_RESOURCE_REGISTERS

static struct move_case {
    const char *name;
    int major, minor;
    int threads, registers, shared, barriers;
    ridge_resource resource;
    int cut, cut_blocks, keep, beyond_blocks;
    unsigned others;
} moves[] = {
    {"124.48 KB on Hopper", 9, 0, 256, 32, 124480, 0, SHARED, 115712, 2, 232448, 0, 0},
    {"11,756 bytes are the step from 127,468", 9, 0, 256, 32, 127468, 0, SHARED, 115712, 2, 232448,
     0, 0},
    {"70 KB on Hopper", 9, 0, 256, 32, 70000, 0, SHARED, 57344, 4, 76800, 2, 0},
    {"50.75 KB on Hopper", 9, 0, 256, 32, 50752, 0, SHARED, 45568, 5, 57344, 3, 0},
    {"registers tie with shared memory", 9, 0, 256, 255, 124480, 0, SHARED, 115712, 1, 232448, 0,
     RIDGE_LIMIT_REGISTERS},
    {"registers, two warps a scheduler", 9, 0, 256, 255, 0, 0, REGS, 128, 2, 255, 0, 0},
    {"registers that do not limit", 9, 0, 256, 32, 124480, 0, REGS, -1, 1, 255, 0, 0},
    {"registers unknown", 9, 0, 256, 0, 124480, 0, REGS, -1, 1, 255, 0, 0},
    {"a launch that fails by registers", 9, 0, 512, 200, 0, 0, REGS, 128, 1, -1, 0, 0},
    {"a launch that fails by shared memory", 9, 0, 256, 32, 300000, 0, SHARED, 232448, 1, -1, 0, 0},
    {"no cut of shared memory adds warps", 9, 0, 1024, 32, 0, 0, SHARED, -1, 2, 115712, 1, 0},
    {"barriers", 9, 0, 32, 16, 0, 16, RIDGE_RESOURCE_BARRIERS, 12, 5, 16, 3, 0},
};

static void move_of(void **state)
{
    const struct move_case *const row = *state;
    const ridge_launch launch = {.threads_per_block = row->threads,
                                 .registers_per_thread = row->registers,
                                 .shared_bytes = row->shared,
                                 .barriers = row->barriers};
    ridge_occupancy_move move;

    assert_int_equal(ridge_occupancy_move_of(ridge_arch_find(row->major, row->minor), &launch,
                                             row->resource, &move, NULL),
                     RIDGE_OK);
    assert_int_equal(move.cut, row->cut);
    assert_int_equal(move.cut_blocks, row->cut_blocks);
    assert_int_equal(move.keep, row->keep);
    if (move.keep >= 0 && row->resource != RIDGE_RESOURCE_BARRIERS)
        assert_int_equal(move.beyond_blocks, row->beyond_blocks);
    assert_int_equal(move.others, row->others);
}

/* -- random launches --------------------------------------------------------------------------- */

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static ridge_launch random_launch(uint32_t *seed, const ridge_arch *arch)
{
    return (ridge_launch){
        .threads_per_block = 1 + (int)(next_random(seed) % 1100),
        .registers_per_thread = (int)(next_random(seed) % 260),
        .shared_bytes = next_random(seed) % 3 == 0
                            ? 0
                            : (int)(next_random(seed) % (unsigned)(arch->shared_per_sm_bytes + 1)),
        .barriers = (int)(next_random(seed) % 17),
        .shared_per_sm_bytes =
            next_random(seed) % 4 == 0
                ? arch->carveouts_bytes[next_random(seed) % (unsigned)arch->carveout_count]
                : 0,
        .launch_bound = next_random(seed) % 4 == 0 ? 512 : 0,
    };
}

static ridge_launch with(ridge_launch launch, ridge_resource resource, int amount)
{
    *(resource == RIDGE_RESOURCE_SHARED      ? &launch.shared_bytes
      : resource == RIDGE_RESOURCE_REGISTERS ? &launch.registers_per_thread
      : resource == RIDGE_RESOURCE_BARRIERS  ? &launch.barriers
                                             : &launch.threads_per_block) = amount;
    return launch;
}

static ridge_occupancy occupancy(const ridge_arch *arch, ridge_launch launch)
{
    ridge_occupancy out;

    assert_int_equal(ridge_occupancy_of(arch, &launch, &out, NULL), RIDGE_OK);
    return out;
}

static int alone(const ridge_occupancy *of, ridge_resource resource)
{
    return resource == RIDGE_RESOURCE_SHARED      ? of->limit_shared
           : resource == RIDGE_RESOURCE_REGISTERS ? of->limit_registers
                                                  : of->limit_barriers;
}

static void check_move(const ridge_arch *arch, const ridge_launch *launch, ridge_resource resource)
{
    const ridge_occupancy now = occupancy(arch, *launch);
    const int least = resource == RIDGE_RESOURCE_REGISTERS ? 1 : 0;
    ridge_occupancy_move move;

    assert_int_equal(ridge_occupancy_move_of(arch, launch, resource, &move, NULL), RIDGE_OK);
    assert_int_equal(move.limit_blocks, alone(&now, resource));
    if (move.cut >= 0) {
        const ridge_occupancy then = occupancy(arch, with(*launch, resource, move.cut));
        const ridge_occupancy less = occupancy(arch, with(*launch, resource, move.cut + 1));

        assert_true(move.limits && move.cut >= least && move.cut < move.used);
        assert_true(alone(&then, resource) > now.blocks_per_sm);
        assert_int_equal(then.blocks_per_sm, move.cut_blocks);
        assert_int_equal(then.warps_per_sm, move.cut_warps);
        assert_int_equal(less.blocks_per_sm, now.blocks_per_sm);
        /* Alone it is enough exactly when nothing else is as small. */
        assert_int_equal(then.blocks_per_sm > now.blocks_per_sm, move.others == 0);
    } else if (move.limits && move.used > least) {
        const ridge_occupancy none = occupancy(arch, with(*launch, resource, least));

        assert_int_equal(alone(&none, resource), now.blocks_per_sm);
    }
    if (now.blocks_per_sm == 0) {
        assert_int_equal(move.keep, -1);
        return;
    }
    assert_true(move.keep >= move.used);
    assert_int_equal(occupancy(arch, with(*launch, resource, move.keep)).blocks_per_sm,
                     now.blocks_per_sm);
    assert_int_equal(occupancy(arch, with(*launch, resource, move.keep + 1)).blocks_per_sm,
                     move.beyond_blocks);
    if (resource != RIDGE_RESOURCE_BARRIERS) /* of which a block may name 16, whatever fits */
        assert_true(move.beyond_blocks < now.blocks_per_sm);
}

static void moves_are_exact(void **state)
{
    uint32_t seed = 7;

    for (size_t i = 0; i < ridge_arch_count(); i++)
        for (int n = 0; n < 2000; n++) {
            const ridge_launch launch = random_launch(&seed, ridge_arch_at(i));

            check_move(ridge_arch_at(i), &launch, RIDGE_RESOURCE_SHARED);
            check_move(ridge_arch_at(i), &launch, RIDGE_RESOURCE_REGISTERS);
            check_move(ridge_arch_at(i), &launch, RIDGE_RESOURCE_BARRIERS);
        }
    (void)state;
}

static void block_sizes_are_exact(void **state)
{
    uint32_t seed = 3;

    for (size_t i = 0; i < ridge_arch_count(); i++)
        for (int n = 0; n < 300; n++) {
            const ridge_arch *const arch = ridge_arch_at(i);
            const ridge_launch launch = random_launch(&seed, arch);
            const ridge_occupancy now = occupancy(arch, launch);
            ridge_block_sizes sizes;
            int smaller = 0, larger = 0, best = 0, most = 0;

            for (int threads = 32; threads <= 1024; threads += 32) {
                const ridge_occupancy then =
                    occupancy(arch, with(launch, RIDGE_RESOURCE_THREADS, threads));

                if (then.warps_per_sm <= now.warps_per_sm)
                    continue;
                if (then.warps_per_block < now.warps_per_block)
                    smaller = threads;
                if (then.warps_per_block > now.warps_per_block && larger == 0)
                    larger = threads;
                if (then.warps_per_sm > most ||
                    (then.warps_per_sm == most && then.warps_per_block <= now.warps_per_block)) {
                    best = threads;
                    most = then.warps_per_sm;
                }
            }
            assert_int_equal(ridge_block_sizes_of(arch, &launch, &sizes, NULL), RIDGE_OK);
            assert_int_equal(sizes.smaller_threads, smaller);
            assert_int_equal(sizes.larger_threads, larger);
            assert_int_equal(sizes.best_threads, best);
            assert_int_equal(sizes.best_warps_per_sm, most);
        }
    (void)state;
}

/* The rows cover everything once, and each end is a change. */
static void check_rows(const ridge_arch *arch, const ridge_launch *launch, ridge_resource resource)
{
    ridge_occupancy_row rows[RIDGE_OCCUPANCY_ROWS];
    const size_t count = ridge_occupancy_rows(arch, launch, resource, rows, RIDGE_OCCUPANCY_ROWS);
    size_t current = 0;

    assert_in_range(count, 1, RIDGE_OCCUPANCY_ROWS);
    for (size_t i = 0; i < count; i++) {
        const ridge_occupancy first = occupancy(arch, with(*launch, resource, rows[i].least));
        const ridge_occupancy last = occupancy(arch, with(*launch, resource, rows[i].most));

        assert_int_equal(first.blocks_per_sm, rows[i].blocks_per_sm);
        assert_int_equal(last.blocks_per_sm, rows[i].blocks_per_sm);
        assert_int_equal(last.warps_per_sm, rows[i].warps_per_sm);
        assert_true(rows[i].least <= rows[i].most);
        current += rows[i].is_current ? 1 : 0;
        if (i == 0)
            continue;
        assert_int_equal(rows[i].least, rows[i - 1].most + 1);
        assert_true(rows[i].blocks_per_sm != rows[i - 1].blocks_per_sm ||
                    resource == RIDGE_RESOURCE_THREADS);
    }
    assert_true(current <= 1);
}

static void rows_are_exact(void **state)
{
    uint32_t seed = 11;

    for (size_t i = 0; i < ridge_arch_count(); i++)
        for (int n = 0; n < 200; n++) {
            const ridge_launch launch = random_launch(&seed, ridge_arch_at(i));

            for (int resource = 0; resource < RIDGE_RESOURCE_COUNT; resource++)
                check_rows(ridge_arch_at(i), &launch, (ridge_resource)resource);
        }
    (void)state;
}

static void rows_of_hopper(void **state)
{
    static const int expected[] = {232448, 115712, 76800, 57344, 45568, 37888, 32256, 28160};
    const ridge_launch launch = {.threads_per_block = 256, .shared_bytes = 50752};
    ridge_occupancy_row rows[RIDGE_OCCUPANCY_ROWS];
    const size_t count = ridge_occupancy_rows(ridge_arch_find(9, 0), &launch, RIDGE_RESOURCE_SHARED,
                                              rows, RIDGE_OCCUPANCY_ROWS);

    assert_int_equal(count, 8);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(rows[i].blocks_per_sm, 8 - (int)i);
        assert_int_equal(rows[i].most, expected[7 - i]);
        assert_int_equal(rows[i].is_current, i == 4);
    }
    (void)state;
}

static void refuses_bad_launches(void **state)
{
    const ridge_arch *const arch = ridge_arch_find(9, 0);
    const ridge_launch bad = {.threads_per_block = 0};
    ridge_occupancy_move move;
    ridge_block_sizes sizes;
    ridge_occupancy_row row;
    ridge_error err;

    assert_int_equal(ridge_occupancy_move_of(arch, &bad, RIDGE_RESOURCE_SHARED, &move, &err),
                     RIDGE_ERR_INVALID_ARGUMENT);
    assert_int_equal(move.cut, -1);
    assert_int_equal(ridge_block_sizes_of(arch, &bad, &sizes, &err), RIDGE_ERR_INVALID_ARGUMENT);
    assert_int_equal(ridge_occupancy_rows(arch, &bad, RIDGE_RESOURCE_SHARED, &row, 1), 0);
    (void)state;
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, move_of, moves);
    cases_add(&list, "every move is exact", moves_are_exact, NULL);
    cases_add(&list, "every block size is exact", block_sizes_are_exact, NULL);
    cases_add(&list, "every row is exact", rows_are_exact, NULL);
    cases_add(&list, "rows of Hopper", rows_of_hopper, NULL);
    cases_add(&list, "refuses bad launches", refuses_bad_launches, NULL);
    return cases_run(&list, "staircase");
}
