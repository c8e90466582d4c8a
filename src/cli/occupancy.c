/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge occupancy: how many blocks of a launch fit an SM, what keeps the next one out, how the grid
 * divides, and whether enough bytes are in flight. Reads the command line and asks the library;
 * nothing about the hardware is decided here. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "occupancy_answer.h"
#include "options.h"

static const char usage[] = "ridge occupancy [options] --gpu NAME --threads N";

enum {
    LARGEST_COUNT = 1 << 30,
    LARGEST_TILE = 1 << 20,
    LARGEST_LOADS = 1 << 16,
    LARGEST_WIDTH = 1 << 20, /* a bulk copy brings whole tiles */
    LARGEST_MHZ = 100000,
    NAMED_BARRIERS = 16,
    DEFAULT_WIDTH = 16,
};

/* As given. */
struct request {
    struct gpu_choice gpu;
    const char *threads;
    size_t registers, barriers, cluster, launch_bound, loads, width;
    uint64_t shared_bytes, carveout_bytes;
    const char *grid, *problem, *tile;
    double clock_mhz; /* NAN: the chip's */
    int table;        /* index into table_choices; -1: none */
};

static const char *const table_choices[] = {"shared", "registers", "barriers", "threads", NULL};

static const ridge_resource table_resources[] = {RIDGE_RESOURCE_SHARED, RIDGE_RESOURCE_REGISTERS,
                                                 RIDGE_RESOURCE_BARRIERS, RIDGE_RESOURCE_THREADS};

/* -- the command line -------------------------------------------------------------------------- */

/* A count that was given, as an int; absent is 0. */
static bool take_count(const char *option, size_t given, size_t lowest, size_t highest, int *out)
{
    *out = 0;
    if (given == OPTION_UNSET)
        return true;
    if (given < lowest || given > highest) {
        cli_usage_error("--%s %zu, expected %zu to %zu", option, given, lowest, highest);
        return false;
    }
    *out = (int)given;
    return true;
}

static bool take_bytes(const char *option, uint64_t given, int *out)
{
    if (given > LARGEST_COUNT) {
        cli_usage_error("--%s %" PRIu64 " bytes, expected at most 1GiB", option, given);
        return false;
    }
    *out = (int)given;
    return true;
}

/* "8192x6144x16": up to three whole numbers from 1; those that are not given are 1. examples says
 * what is expected, of least numbers. */
static bool take_extent(const char *option, const char *text, size_t least, const char *examples,
                        uint64_t extent[3])
{
    const char *at = text;
    size_t count = 0;

    extent[0] = extent[1] = extent[2] = 1;
    for (;;) {
        uint64_t value = 0;
        const size_t digits = strspn(at, "0123456789");

        if (digits < 1 || digits > 10 || count == 3)
            break;
        for (const char *const end = at + digits; at < end; at++)
            value = value * 10 + (uint64_t)(*at - '0');
        if (value < 1)
            break;
        extent[count++] = value;
        if (*at == '\0' && count >= least)
            return true;
        if (*at++ != 'x')
            break;
    }
    cli_usage_error("--%s '%s', expected %s", option, text, examples);
    return false;
}

/* A block's threads, as a number or as the extents of a block. */
static bool take_threads(const char *text, int *out)
{
    uint64_t extent[3];
    double threads;

    if (text == NULL) {
        cli_usage_error("how many threads a block? --threads N");
        return false;
    }
    if (!take_extent("threads", text, 1, "whole numbers from 1 such as 256, 32x8 or 8x8x4", extent))
        return false;
    threads = (double)extent[0] * (double)extent[1] * (double)extent[2];
    if (threads > LARGEST_COUNT) {
        cli_usage_error("--threads %s, expected 1 to %d", text, LARGEST_COUNT);
        return false;
    }
    *out = (int)threads;
    return true;
}

/* The smallest configuration that holds the carve-out, which is what the driver takes. The carve-out
 * is a hint: a block that needs more gets the smallest that holds the block. */
static bool take_carveout(const ridge_arch *arch, uint64_t given, int shared_bytes, int *out)
{
    const uint64_t block = (uint64_t)shared_bytes + (uint64_t)arch->shared_reserved_bytes;
    const bool is_raised = block > given && shared_bytes <= arch->shared_per_block_bytes;
    const uint64_t least = is_raised ? block : given;
    size_t i;

    *out = 0;
    if (given == 0)
        return true;
    for (i = 0; i < arch->carveout_count; i++)
        if ((uint64_t)arch->carveouts_bytes[i] >= least &&
            arch->carveouts_bytes[i] <= arch->shared_per_sm_bytes) {
            *out = arch->carveouts_bytes[i];
            return true;
        }
    cli_usage_error("--carveout %" PRIu64 " bytes, an SM has %d", given, arch->shared_per_sm_bytes);
    return false;
}

static bool take_launch(const struct request *request, const ridge_arch *arch, ridge_launch *launch)
{
    return take_threads(request->threads, &launch->threads_per_block) &&
           take_count("regs", request->registers, 1, LARGEST_COUNT,
                      &launch->registers_per_thread) &&
           take_bytes("smem", request->shared_bytes, &launch->shared_bytes) &&
           take_count("barriers", request->barriers, 0, NAMED_BARRIERS, &launch->barriers) &&
           take_count("cluster", request->cluster, 1, LARGEST_COUNT, &launch->cluster_blocks) &&
           take_count("launch-bound", request->launch_bound, 1, LARGEST_COUNT,
                      &launch->launch_bound) &&
           take_carveout(arch, request->carveout_bytes, launch->shared_bytes,
                         &launch->shared_per_sm_bytes);
}

/* -- what is asked of the library -------------------------------------------------------------- */

static bool divide_up(uint64_t a, uint64_t b, uint64_t *product)
{
    const uint64_t quotient = a / b + (a % b != 0 ? 1 : 0);

    if (quotient != 0 && *product > UINT64_MAX / quotient)
        return false;
    *product *= quotient;
    return true;
}

/* The grid as given, or the tiles of a problem. */
static bool take_grid(const struct request *request, struct occupancy_answer *answer)
{
    uint64_t extent[3] = {1, 1, 1}, tile[3] = {1, 1, 1};
    size_t i;

    if ((request->problem != NULL) != (request->tile != NULL)) {
        cli_usage_error("--problem and --tile go together");
        return false;
    }
    if (request->grid != NULL && request->problem != NULL) {
        cli_usage_error("--grid and --problem exclude each other: the tiles are the grid");
        return false;
    }
    if (request->grid == NULL && request->problem == NULL)
        return true;
    if (request->grid != NULL &&
        !take_extent("grid", request->grid, 1, "whole numbers such as 528, 64x48 or 64x48x16",
                     extent))
        return false;
    if (request->problem != NULL &&
        (!take_extent("problem", request->problem, 2,
                      "MxN or MxNxBATCH such as 8192x6144 or 8192x6144x16", extent) ||
         !take_extent("tile", request->tile, 2, "MxN such as 128x128", tile)))
        return false;
    if (tile[2] != 1 || tile[0] > LARGEST_TILE || tile[1] > LARGEST_TILE) {
        cli_usage_error("--tile '%s', expected MxN, each at most %d", request->tile, LARGEST_TILE);
        return false;
    }
    answer->grid_blocks = 1;
    for (i = 0; i < 3; i++)
        if (!divide_up(extent[i], tile[i], &answer->grid_blocks)) {
            cli_usage_error("--%s: more blocks than a number can say",
                            request->grid != NULL ? "grid" : "problem");
            return false;
        }
    answer->has_tiles = request->tile != NULL;
    answer->tiling = (ridge_tiling){.rows = extent[0],
                                    .columns = extent[1],
                                    .batch = extent[2],
                                    .tile_rows = (int)tile[0],
                                    .tile_columns = (int)tile[1]};
    return true;
}

/* Returns 0, or an exit status after a message. */
static int ask(const struct request *request, struct occupancy_answer *answer)
{
    ridge_error err;

    answer->chip = *request->gpu.chip;
    if (!isnan(request->clock_mhz) &&
        !(request->clock_mhz >= 1 && request->clock_mhz <= LARGEST_MHZ))
        return cli_usage_error("--clock %g, expected 1 to %d MHz", request->clock_mhz, LARGEST_MHZ);
    if (!isnan(request->clock_mhz))
        answer->chip.sm_clock_hz = request->clock_mhz * 1e6;
    if (!take_launch(request, answer->chip.arch, &answer->launch) || !take_grid(request, answer) ||
        !take_count("loads", request->loads, 1, LARGEST_LOADS, &answer->loads) ||
        !take_count("width", request->width, 1, LARGEST_WIDTH, &answer->width))
        return CLI_USAGE;
    answer->width_given = answer->width != 0;
    if (!answer->width_given)
        answer->width = DEFAULT_WIDTH;
    if (ridge_occupancy_of(answer->chip.arch, &answer->launch, &answer->occupancy, &err) !=
        RIDGE_OK)
        return cli_fail(NULL, &err);
    ridge_in_flight_of(&answer->chip, answer->occupancy.warps_per_sm, answer->loads, answer->width,
                       &answer->in_flight);
    if (answer->grid_blocks == 0 || answer->chip.sm_count == 0 ||
        answer->occupancy.blocks_per_sm == 0) {
        answer->has_tiles = false;
        return CLI_DONE;
    }
    if (ridge_grid_of(answer->grid_blocks, answer->chip.sm_count, answer->occupancy.blocks_per_sm,
                      answer->launch.cluster_blocks, &answer->grid, &err) != RIDGE_OK)
        return cli_usage_error("%s", err.text);
    answer->tiling.wave_blocks = (int)answer->grid.wave_blocks;
    return CLI_DONE;
}

/* -- the command ------------------------------------------------------------------------------- */

static int print(const struct request *request, const struct occupancy_answer *answer,
                 const struct cli_output *out)
{
    const ridge_resource resource =
        request->table < 0 ? RIDGE_RESOURCE_COUNT : table_resources[request->table];
    const int status = answer->occupancy.blocks_per_sm > 0 ? CLI_DONE : CLI_NO;
    ridge_output *const output = cli_open(out);
    ridge_table *table;

    if (out->format == RIDGE_FORMAT_JSON) {
        occupancy_write_json(output, answer, resource);
        return cli_close(output, status);
    }
    if (out->format == RIDGE_FORMAT_TEXT && resource == RIDGE_RESOURCE_COUNT) {
        occupancy_write_text(output, answer);
        return cli_close(output, status);
    }
    table = resource == RIDGE_RESOURCE_COUNT ? occupancy_steps_table(answer, 0, OCCUPANCY_STEPS)
                                             : occupancy_rows_table(answer, resource);
    ridge_table_write(table, out->format, output, NULL, NULL);
    ridge_table_free(table);
    return cli_close(output, status);
}

int cmd_occupancy(int argc, char **argv)
{
    struct cli_output out = {0};
    struct request request = {.registers = OPTION_UNSET,
                              .barriers = OPTION_UNSET,
                              .cluster = OPTION_UNSET,
                              .launch_bound = OPTION_UNSET,
                              .loads = OPTION_UNSET,
                              .width = OPTION_UNSET,
                              .clock_mhz = NAN,
                              .table = -1};
    struct occupancy_answer answer = {0};
    const struct option options[] = {
        OPT_GPU(&request.gpu),
        OPT_STRING('t', "threads", &request.threads, "N[xN[xN]]",
                   "threads of a block: 256, or its extents 32x8"),
        OPT_COUNT('r', "regs", &request.registers, "N", "registers of a thread"),
        OPT_SIZE('s', "smem", &request.shared_bytes,
                 "shared memory of a block, static and dynamic: 70KB is 70000, 64KiB 65536"),
        OPT_COUNT(0, "barriers", &request.barriers, "N", "named barriers of a block, 0 to 16"),
        OPT_COUNT(0, "cluster", &request.cluster, "N", "blocks of a cluster"),
        OPT_COUNT(0, "launch-bound", &request.launch_bound, "N",
                  "most threads the kernel was compiled for (__launch_bounds__)"),
        OPT_SIZE(0, "carveout", &request.carveout_bytes,
                 "shared memory of an SM in force, instead of the largest configuration"),
        OPT_STRING('g', "grid", &request.grid, "N[xN[xN]]", "blocks of the grid: waves and tail"),
        OPT_STRING(0, "problem", &request.problem, "MxN[xBATCH]",
                   "the output that tiles cut: the grid, and tiles that fill the waves better"),
        OPT_STRING(0, "tile", &request.tile, "MxN", "the tile of a block, with --problem"),
        OPT_COUNT(0, "loads", &request.loads, "N",
                  "independent loads of a warp before it waits: bytes in flight"),
        OPT_COUNT(0, "width", &request.width, "BYTES", "bytes a lane loads at once (16)"),
        OPT_NUMBER(0, "clock", &request.clock_mhz, "MHZ",
                   "SM clock for bytes in flight, instead of the chip's boost"),
        OPT_CHOICE(0, "table", &request.table, "shared|registers|barriers|threads", table_choices,
                   "print the whole staircase over one resource"),
        OPT_TABLE(&out),
        OPT_COMMON(&out),
        OPT_END,
    };
    int status;

    if (!options_parse(&argc, argv, usage, options, &status))
        return status;
    if (argc != 1)
        return cli_usage_error("expected no argument, got '%s'", argv[1]);
    status = cli_find_chip(&request.gpu);
    if (status == CLI_DONE)
        status = ask(&request, &answer);
    answer.for_programs = out.format == RIDGE_FORMAT_JSON || out.format == RIDGE_FORMAT_CSV;
    if (status == CLI_DONE)
        status = print(&request, &answer, &out);
    cli_release_chip(&request.gpu);
    return status;
}
