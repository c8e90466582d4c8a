/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include "ridge/occupancy.h"

static struct sentence {
    const char *name;
    ridge_launch launch;
    ridge_resource resource;
    const char *move, *keep;
} sentences[] = {
    {"the next step",
     {256, 32, 127468},
     RIDGE_RESOURCE_SHARED,
     "free 11,756 bytes (127,468 -> 115,712) and a second block fits; 11,755 less buys nothing",
     "104,980 bytes more are free: 1 block up to 232,448"},
    {"a single byte",
     {256, 32, 115713},
     RIDGE_RESOURCE_SHARED,
     "free 1 byte (115,713 -> 115,712) and a second block fits",
     "116,735 bytes more are free: 1 block up to 232,448"},
    {"an eighth block",
     {256, 32, 32256},
     RIDGE_RESOURCE_SHARED,
     "free 4,096 bytes (32,256 -> 28,160) and an eighth block fits; 4,095 less buys nothing",
     ""},
    {"a tie",
     {256, 255, 124480},
     RIDGE_RESOURCE_REGISTERS,
     "free 127 (255 -> 128): buys a block only together with shared memory",
     ""},
    {"several blocks at once",
     {32, 168},
     RIDGE_RESOURCE_REGISTERS,
     "free 40 (168 -> 128) and 16 blocks fit; 39 less buys nothing",
     ""},
    {"what cannot be cut",
     {1024, 32},
     RIDGE_RESOURCE_REGISTERS,
     "no cut buys a block: as many by warps",
     ""},
    {"a launch that fails",
     {512, 200},
     RIDGE_RESOURCE_REGISTERS,
     "free 72 (200 -> 128) and a block fits; 71 less buys nothing",
     ""},
    {"no limit",
     {256, 128, 124480},
     RIDGE_RESOURCE_REGISTERS,
     "",
     "127 more are free: 1 block up to 255"},
};

static void says(void **state)
{
    const struct sentence *const row = *state;
    const ridge_arch *const arch = ridge_arch_find(9, 0);
    ridge_occupancy occupancy;
    ridge_occupancy_move move;
    char text[160];

    assert_int_equal(ridge_occupancy_of(arch, &row->launch, &occupancy, NULL), RIDGE_OK);
    assert_int_equal(ridge_occupancy_move_of(arch, &row->launch, row->resource, &move, NULL),
                     RIDGE_OK);
    assert_string_equal(
        ridge_occupancy_move_text(&move, occupancy.blocks_per_sm, text, sizeof(text)), row->move);
    assert_string_equal(
        ridge_occupancy_keep_text(&move, occupancy.blocks_per_sm, text, sizeof(text)), row->keep);
}

static struct failure {
    const char *name;
    int major, minor;
    ridge_launch launch;
    const char *text;
} failures[] = {
    {"none", 9, 0, {256, 32}, ""},
    {"threads", 9, 0, {1025, 32}, "1,025 threads a block, the most is 1,024"},
    {"registers of a thread", 9, 0, {32, 256}, "256 registers a thread, the most is 255"},
    {"registers of a block",
     9,
     0,
     {1024, 96},
     "1024 threads with 96 registers each, an SM has 65,536 registers"},
    {"shared memory",
     9,
     0,
     {256, 32, 232449},
     "232,449 bytes of shared memory a block, the most is 232,448"},
    {"carve-out",
     9,
     0,
     {256, 32, 70000, 0, 65536},
     "70,000 bytes of shared memory a block, an SM has 65,536"},
    {"barriers", 12, 0, {256, 32, 0, 30}, "30 named barriers a block, an SM has 24"},
    {"launch bound", 9, 0, {288, 32, 0, 0, 0, 256}, "288 threads a block, the launch bound is 256"},
    {"no clusters",
     8,
     9,
     {256, 32, 0, 0, 0, 0, 2},
     "clusters need compute capability 9.0, this is 8.9"},
    {"a large cluster", 9, 0, {256, 32, 0, 0, 0, 0, 32}, "32 blocks a cluster, the most is 16"},
    {"two reasons",
     9,
     0,
     {1025, 256},
     "1,025 threads a block, the most is 1,024; 256 registers a thread, the most is 255"},
    {"no launch", 9, 0, {0}, ""},
};

static void says_why(void **state)
{
    const struct failure *const row = *state;
    char text[400];

    assert_string_equal(ridge_occupancy_failure_text(ridge_arch_find(row->major, row->minor),
                                                     &row->launch, text, sizeof(text)),
                        row->text);
}

static void lists_limiters(void **state)
{
    char text[100];

    assert_string_equal(ridge_limiters_text(0, text, sizeof(text)), "nothing");
    assert_string_equal(ridge_limiters_text(RIDGE_LIMIT_SHARED, text, sizeof(text)),
                        "shared memory");
    assert_string_equal(
        ridge_limiters_text(RIDGE_LIMIT_SHARED | RIDGE_LIMIT_WARPS, text, sizeof(text)),
        "warps and shared memory");
    assert_string_equal(ridge_limiters_text(127, text, sizeof(text)),
                        "warps, block slots, registers, shared memory, barriers, launch bound and "
                        "cluster size");
    (void)state;
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, says, sentences);
    CASES_ADD_ROWS(&list, says_why, failures);
    cases_add(&list, "lists limiters", lists_limiters, NULL);
    return cases_run(&list, "move_text");
}
