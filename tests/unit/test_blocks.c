/* SPDX-License-Identifier: Apache-2.0
 *
 * Literal cases, and every answer an H200's driver gave to
 * cuOccupancyMaxActiveBlocksPerMultiprocessor where that recording is at hand. */
#include "ridge/occupancy.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

enum {
    W = RIDGE_LIMIT_WARPS,
    B = RIDGE_LIMIT_BLOCKS,
    R = RIDGE_LIMIT_REGISTERS,
    S = RIDGE_LIMIT_SHARED,
    N = RIDGE_LIMIT_BARRIERS
};

static struct occupancy_case {
    const char *name;
    int major, minor;
    ridge_launch launch; /* threads, registers, shared, barriers, carve-out */
    int blocks, warps;
    unsigned limiters;
} cases[] = {
    {"warps alone", 9, 0, {1024, 32, 0, 0, 0}, 2, 64, W | R},
    {"warps", 9, 0, {1024, 16, 0, 0, 0}, 2, 64, W},
    {"blocks", 9, 0, {32, 16, 0, 0, 0}, 32, 32, B},
    {"blocks and shared", 9, 0, {32, 16, 6144, 0, 0}, 32, 32, B | S},
    {"registers", 9, 0, {256, 64, 0, 0, 0}, 4, 32, R},
    {"largest register count", 9, 0, {256, 255, 0, 0, 0}, 1, 8, R},
    {"a warp more than registers hold", 9, 0, {288, 255, 0, 0, 0}, 0, 0, R},
    {"256 registers", 9, 0, {32, 256, 0, 0, 0}, 0, 0, R},
    {"shared, one block", 9, 0, {256, 32, 127468, 0, 0}, 1, 8, S},
    {"shared, just two blocks", 9, 0, {256, 32, 115712, 0, 0}, 2, 16, S},
    {"shared, a byte too many", 9, 0, {256, 32, 115713, 0, 0}, 1, 8, S},
    {"124.48 KB on Hopper", 9, 0, {256, 32, 124480, 0, 0}, 1, 8, S},
    {"50.75 KB on Hopper", 9, 0, {128, 32, 50750, 0, 0}, 4, 16, S},
    {"70 KB on Hopper", 9, 0, {128, 32, 70000, 0, 0}, 3, 12, S},
    {"the largest opt-in", 9, 0, {128, 32, 232448, 0, 0}, 1, 4, S},
    {"above the largest opt-in", 9, 0, {128, 32, 232449, 0, 0}, 0, 0, S},
    {"a small carve-out", 9, 0, {128, 32, 30000, 0, 65536}, 2, 8, S},
    {"a block above the carve-out", 9, 0, {128, 32, 70000, 0, 65536}, 0, 0, S},
    {"no shared memory, carve-out 8 KiB", 9, 0, {32, 16, 0, 0, 8192}, 8, 8, S},
    {"barriers", 9, 0, {32, 16, 0, 16, 0}, 4, 4, N},
    {"barriers and warps", 9, 0, {512, 16, 0, 16, 0}, 4, 64, W | N},
    {"no barrier limit before 9.0", 8, 0, {32, 16, 0, 16, 0}, 32, 32, B},
    {"24 barriers on 12.0", 12, 0, {64, 16, 0, 2, 0}, 12, 24, N},
    {"1,025 threads", 9, 0, {1025, 16, 0, 0, 0}, 0, 0, W},
    {"a thread is a warp", 9, 0, {1, 16, 0, 0, 0}, 32, 32, B},
    {"33 threads are two warps", 9, 0, {33, 16, 0, 0, 0}, 32, 64, W | B},
    {"7.5 has no reserve", 7, 5, {128, 32, 65536, 0, 0}, 1, 4, S},
    {"7.5 rounds to 256", 7, 5, {128, 32, 21761, 0, 0}, 2, 8, S},
    {"7.5, nothing shared", 7, 5, {64, 16, 0, 0, 0}, 16, 32, W | B},
    {"8.6 holds 48 warps", 8, 6, {512, 32, 0, 0, 0}, 3, 48, W},
    {"within the launch bound", 9, 0, {256, 16, 0, 0, 0, 256}, 8, 64, W},
    {"above the launch bound", 9, 0, {288, 16, 0, 0, 0, 256}, 0, 0, RIDGE_LIMIT_LAUNCH_BOUND},
    {"a cluster of 16", 9, 0, {256, 16, 0, 0, 0, 0, 16}, 8, 64, W},
    {"a cluster of 17", 9, 0, {256, 16, 0, 0, 0, 0, 17}, 0, 0, RIDGE_LIMIT_CLUSTER},
    {"no clusters before 9.0", 8, 9, {256, 16, 0, 0, 0, 0, 2}, 0, 0, RIDGE_LIMIT_CLUSTER},
    {"a cluster of one is none", 8, 9, {256, 16, 0, 0, 0, 0, 1}, 6, 48, W},
    {"everything unknown but threads", 9, 0, {128, 0, 0, 0, 0}, 16, 64, W},
    {"numbers at the end of int",
     9,
     0,
     {INT_MAX, INT_MAX, INT_MAX, INT_MAX, INT_MAX},
     0,
     0,
     W | R | S | N},
};

static void occupancy(void **state)
{
    const struct occupancy_case *const test = *state;
    const ridge_arch *const arch = ridge_arch_find(test->major, test->minor);
    ridge_occupancy got;

    assert_int_equal(ridge_occupancy_of(arch, &test->launch, &got, NULL), RIDGE_OK);
    assert_int_equal(got.blocks_per_sm, test->blocks);
    assert_int_equal(got.warps_per_sm, test->warps);
    assert_int_equal(got.limiters, test->limiters);
    assert_true(got.occupancy_frac == (double)test->warps / arch->warps_per_sm);
}

static struct bad_launch {
    const char *name;
    ridge_launch launch;
    const char *message;
} bad_launches[] = {
    {"no threads", {0, 32, 0, 0, 0}, "0 threads a block, expected 1 or more"},
    {"negative threads", {-1, 32, 0, 0, 0}, "-1 threads a block"},
    {"negative registers", {128, -1, 0, 0, 0}, "-1 registers a thread"},
    {"negative shared", {128, 32, -4, 0, 0}, "-4 bytes of shared memory a block"},
    {"negative barriers", {128, 32, 0, INT_MIN, 0}, "barriers a block"},
    {"negative launch bound", {128, 32, 0, 0, 0, -1}, "a launch bound of -1 threads"},
    {"negative cluster", {128, 32, 0, 0, 0, 0, -2}, "-2 blocks a cluster"},
    {"negative carve-out", {128, 32, 0, 0, -1}, "-1 bytes of shared memory an SM"},
};

static void rejects(void **state)
{
    const struct bad_launch *const bad = *state;
    const ridge_arch *const arch = ridge_arch_find(9, 0);
    ridge_occupancy_step step;
    ridge_occupancy got;
    ridge_error err;

    assert_int_equal(ridge_occupancy_of(arch, &bad->launch, &got, &err),
                     RIDGE_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, bad->message));
    assert_int_equal(got.blocks_per_sm, 0);
    assert_int_equal(ridge_occupancy_staircase(arch, &bad->launch, &step, 1), 0);
}

/* Most bytes of a block for 1 to 8 blocks an SM, as cuda_occupancy.h has them. */
static struct stair {
    const char *name;
    int major, minor;
    int shared_bytes[8];
} stairs[] = {
    {"staircase of 7.5", 7, 5, {65536, 32768, 21760, 16384, 13056, 10752, 9216, 8192}},
    {"staircase of 8.0", 8, 0, {166912, 82944, 54912, 40960, 32512, 26880, 22912, 19968}},
    {"staircase of 8.6", 8, 6, {101376, 50176, 33024, 24576, 19456, 16000, 13568, 11776}},
    {"staircase of 8.9", 8, 9, {101376, 50176, 33024, 24576, 19456, 16000, 13568, 11776}},
    {"staircase of 12.0", 12, 0, {101376, 50176, 33024, 24576, 19456, 16000, 13568, 11776}},
    {"staircase of 9.0", 9, 0, {232448, 115712, 76800, 57344, 45568, 37888, 32256, 28160}},
    {"staircase of 10.0", 10, 0, {232448, 115712, 76800, 57344, 45568, 37888, 32256, 28160}},
};

static void staircase(void **state)
{
    const struct stair *const test = *state;
    const ridge_arch *const arch = ridge_arch_find(test->major, test->minor);
    const ridge_launch launch = {.threads_per_block = 128};
    ridge_occupancy_step steps[8];

    assert_int_equal(ridge_occupancy_staircase(arch, &launch, steps, 8), arch->warps_per_sm / 4);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(steps[i].blocks_per_sm, i + 1);
        assert_int_equal(steps[i].warps_per_sm, 4 * (i + 1));
        assert_int_equal(steps[i].largest_shared_bytes, test->shared_bytes[i]);
    }
}

static void registers_of_the_staircase(void **state)
{
    static const struct {
        int warps, registers;
    } expected[] = {{8, 255}, {12, 168}, {16, 128}, {20, 96}, {24, 80},
                    {32, 64}, {40, 48},  {48, 40},  {64, 32}};
    const ridge_arch *const arch = ridge_arch_find(9, 0);
    const ridge_launch launch = {.threads_per_block = 128};
    ridge_occupancy_step steps[16];

    assert_int_equal(ridge_occupancy_staircase(arch, &launch, steps, 16), 16);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_int_equal(steps[expected[i].warps / 4 - 1].largest_registers_per_thread,
                         expected[i].registers);
    (void)state;
}

/* On every chip and for every block size: a step's numbers give its blocks, one more does not. */
static void staircase_agrees_with_occupancy(void **state)
{
    for (size_t i = 0; i < ridge_arch_count(); i++)
        for (int threads = 1; threads <= 1024; threads += 31) {
            const ridge_arch *const arch = ridge_arch_at(i);
            const ridge_launch launch = {.threads_per_block = threads, .barriers = 3};
            ridge_occupancy_step steps[64];
            const size_t count = ridge_occupancy_staircase(arch, &launch, steps, 64);

            assert_in_range(count, 1, 64);
            for (size_t k = 0; k < count; k++) {
                ridge_launch most = launch;
                ridge_occupancy got;

                most.shared_bytes = steps[k].largest_shared_bytes;
                most.registers_per_thread = steps[k].largest_registers_per_thread;
                assert_int_equal(ridge_occupancy_of(arch, &most, &got, NULL), RIDGE_OK);
                assert_true(got.blocks_per_sm >= steps[k].blocks_per_sm);
                most.shared_bytes++;
                assert_int_equal(ridge_occupancy_of(arch, &most, &got, NULL), RIDGE_OK);
                assert_true(got.limit_shared < steps[k].blocks_per_sm);
                most.registers_per_thread++;
                assert_int_equal(ridge_occupancy_of(arch, &most, &got, NULL), RIDGE_OK);
                assert_true(got.limit_registers < steps[k].blocks_per_sm);
            }
        }
    (void)state;
}

static void staircase_ends(void **state)
{
    const ridge_arch *const arch = ridge_arch_find(9, 0);
    const ridge_launch barriers = {.threads_per_block = 32, .barriers = 16};
    const ridge_launch small = {.threads_per_block = 32, .shared_per_sm_bytes = 8192};
    const ridge_launch large = {.threads_per_block = 1025};
    ridge_occupancy_step steps[32];

    assert_int_equal(ridge_occupancy_staircase(arch, &barriers, NULL, 0), 4);
    assert_int_equal(ridge_occupancy_staircase(arch, &large, steps, 32), 0);
    assert_int_equal(ridge_occupancy_staircase(arch, &small, steps, 32), 32);
    assert_int_equal(steps[7].largest_shared_bytes, 0);
    assert_int_equal(steps[8].largest_shared_bytes, -1);
    (void)state;
}

/* -- the recording ----------------------------------------------------------------------------- */

/* Named barriers of the recorded kernels (ptxas -v): kbN uses N, the rest none. */
static int barriers_of(const char *kernel)
{
    static const struct {
        const char *kernel;
        int barriers;
    } known[] = {{"k_reduce", 1}, {"k_dyn", 1},  {"k_bars", 6},
                 {"k_grid", 1},   {"k_ldsm", 1}, {"k_mbar", 1}};

    if (strncmp(kernel, "kb", 2) == 0)
        return atoi(kernel + 2);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].kernel, kernel) == 0)
            return known[i].barriers;
    return 0;
}

struct recorded_kernel {
    char key[96];
    int static_bytes, registers;
};

static gzFile open_recording(void)
{
    const char *const shared = getenv("RIDGE_SHARED");
    char path[1024];

    snprintf(path, sizeof path, "%s/binary_fixtures/truth/h200_driver.txt.gz",
             shared != NULL ? shared : RIDGE_SOURCE_DIR "/../shared");
    return gzopen(path, "rb");
}

static void equals_the_driver(void **state)
{
    static struct recorded_kernel kernels[128];
    const ridge_arch *const arch = ridge_arch_find(9, 0);
    const gzFile recording = open_recording();
    size_t kernel_count = 0, answer_count = 0;
    char line[512], file[64], kernel[32], key[96];
    int static_bytes, registers, threads, dynamic_bytes, blocks;

    if (recording == NULL)
        skip();
    while (gzgets(recording, line, sizeof line) != NULL) {
        if (sscanf(line, "FUNC %63s %31s 1=%d 3=%*d 4=%d", file, kernel, &static_bytes,
                   &registers) == 4) {
            struct recorded_kernel *const new_kernel = &kernels[kernel_count++];

            assert_true(kernel_count <= sizeof kernels / sizeof *kernels);
            snprintf(new_kernel->key, sizeof new_kernel->key, "%s %s", file, kernel);
            new_kernel->static_bytes = static_bytes;
            new_kernel->registers = registers;
        } else if (sscanf(line, "OCC %63s %31s %d %d %d", file, kernel, &threads, &dynamic_bytes,
                          &blocks) == 5) {
            ridge_launch launch = {.threads_per_block = threads, .barriers = barriers_of(kernel)};
            ridge_occupancy got;
            size_t at = 0;

            snprintf(key, sizeof key, "%s %s", file, kernel);
            while (at < kernel_count && strcmp(kernels[at].key, key) != 0)
                at++;
            assert_true(at < kernel_count);
            launch.registers_per_thread = kernels[at].registers;
            launch.shared_bytes = kernels[at].static_bytes + dynamic_bytes;
            assert_int_equal(ridge_occupancy_of(arch, &launch, &got, NULL), RIDGE_OK);
            if (got.blocks_per_sm != blocks)
                fail_msg("%s: got %d", line, got.blocks_per_sm);
            answer_count++;
        }
    }
    gzclose(recording);
    assert_int_equal(answer_count, 53932);
    (void)state;
}

/* How many clusters a chip takes at a time depends on how many SMs each GPC has: the grid's wave is
 * an upper bound, exact without clusters, and no size that was taken is refused. The recording
 * holds 8 blocks an SM. */
static void bounds_the_clusters(void **state)
{
    const ridge_arch *const arch = ridge_arch_find(9, 0);
    const ridge_chip *const chip = ridge_chip_find("h200");
    const gzFile recording = open_recording();
    size_t answer_count = 0;
    char line[512];
    int size, clusters;

    if (recording == NULL)
        skip();
    while (gzgets(recording, line, sizeof line) != NULL) {
        ridge_launch launch = {.threads_per_block = 256};
        ridge_occupancy occupancy;
        ridge_grid grid;

        if (sscanf(line, "CLU %*s %*s %d %d", &size, &clusters) != 2 || clusters < 0)
            continue; /* -1: a size that the kernel itself does not allow */
        launch.cluster_blocks = size;
        assert_int_equal(ridge_occupancy_of(arch, &launch, &occupancy, NULL), RIDGE_OK);
        assert_int_equal(occupancy.blocks_per_sm, 8);
        assert_int_equal(ridge_grid_of((uint64_t)size, chip->sm_count, occupancy.blocks_per_sm,
                                       size, &grid, NULL),
                         RIDGE_OK);
        assert_in_range(clusters, 1, grid.wave_blocks / (uint64_t)size);
        if (size <= 2)
            assert_int_equal((uint64_t)clusters * (uint64_t)size, grid.wave_blocks);
        answer_count++;
    }
    gzclose(recording);
    assert_int_equal(answer_count, 160);
    (void)state;
}

#define CASES (sizeof cases / sizeof *cases)
#define BAD (sizeof bad_launches / sizeof *bad_launches)
#define STAIRS (sizeof stairs / sizeof *stairs)

int main(void)
{
    static struct CMUnitTest tests[CASES + BAD + STAIRS + 5] = {
        cmocka_unit_test(registers_of_the_staircase),
        cmocka_unit_test(staircase_agrees_with_occupancy),
        cmocka_unit_test(staircase_ends),
        cmocka_unit_test(equals_the_driver),
        cmocka_unit_test(bounds_the_clusters),
    };
    size_t count = 5;

    for (size_t i = 0; i < CASES; i++)
        tests[count++] = (struct CMUnitTest){cases[i].name, occupancy, NULL, NULL, &cases[i]};
    for (size_t i = 0; i < BAD; i++)
        tests[count++] =
            (struct CMUnitTest){bad_launches[i].name, rejects, NULL, NULL, &bad_launches[i]};
    for (size_t i = 0; i < STAIRS; i++)
        tests[count++] = (struct CMUnitTest){stairs[i].name, staircase, NULL, NULL, &stairs[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
