/* SPDX-License-Identifier: Apache-2.0
 *
 * What occupancy means for a launch: which cut of a resource lets one more block fit, how the grid
 * divides into waves, and whether enough bytes are under way to keep device memory busy. All of it
 * follows from ridge_occupancy_of(), which is asked at every change point: nothing here is sampled
 * and nothing allocates. */
#ifndef RIDGE_OCCUPANCY_H
#define RIDGE_OCCUPANCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ridge/hardware.h"
#include "ridge/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -- steps ------------------------------------------------------------------------------------- */

/* A resource of a launch that a programmer can change. */
typedef enum ridge_resource {
    RIDGE_RESOURCE_SHARED,    /* bytes a block, static + dynamic */
    RIDGE_RESOURCE_REGISTERS, /* a thread */
    RIDGE_RESOURCE_BARRIERS,  /* named barriers a block */
    RIDGE_RESOURCE_THREADS,   /* a block */
    RIDGE_RESOURCE_COUNT
} ridge_resource;

/* "shared memory", "registers", "barriers", "threads". */
const char *ridge_resource_words(ridge_resource resource);
/* "shared memory", "block slots", ...: one bit of ridge_occupancy.limiters. */
const char *ridge_limiter_words(ridge_limiter limiter);

/* How one resource stands between a launch and more blocks, all others as they are. */
typedef struct ridge_occupancy_move {
    ridge_resource resource;
    int used;
    int limit_blocks; /* blocks an SM that it alone would allow; INT_MAX: any number */
    bool limits;      /* it is (one of) the smallest */
    /* When it limits: the most of it at which it allows more blocks than now. More than this, and a
     * cut buys nothing: used - cut is the least that must go. -1: no cut is enough. */
    int cut;
    /* What an SM holds after the cut. The same as now when others, the limiters that are as
     * small, stay: then these must be cut too. */
    int cut_blocks, cut_warps;
    unsigned others;
    /* The most of it that may be used without losing a block; -1 for a launch that fails. */
    int keep;
    int beyond_blocks; /* blocks an SM with one more than that; 0: the launch fails */
} ridge_occupancy_move;

/* The move of a resource, except RIDGE_RESOURCE_THREADS, for which see ridge_block_sizes_of().
 * A resource whose use is unknown (0 registers) does not limit and has no cut. Fails as
 * ridge_occupancy_of() does. */
ridge_status ridge_occupancy_move_of(const ridge_arch *arch, const ridge_launch *launch,
                                     ridge_resource resource, ridge_occupancy_move *out,
                                     ridge_error *err);

/* The move as a sentence without its subject and full stop, for a launch that has blocks_per_sm:
 * "free 8,768 bytes (124,480 -> 115,712) and a second block fits; 8,767 less buys nothing".
 * "" when the resource does not limit. Returns buffer; 160 bytes hold every sentence. */
char *ridge_occupancy_move_text(const ridge_occupancy_move *move, int blocks_per_sm, char *buffer,
                                size_t size);
/* What is free to use: "107,968 bytes more are free: 1 block up to 232,448"; "" when nothing is. */
char *ridge_occupancy_keep_text(const ridge_occupancy_move *move, int blocks_per_sm, char *buffer,
                                size_t size);
/* Why a launch with 0 blocks an SM fails: "288 threads a block, the launch bound is 256"; every
 * reason. 400 bytes hold all. */
char *ridge_occupancy_failure_text(const ridge_arch *arch, const ridge_launch *launch, char *buffer,
                                   size_t size);
/* "shared memory and registers": the bits of limiters; "nothing" for 0. 100 bytes hold all. */
char *ridge_limiters_text(unsigned limiters, char *buffer, size_t size);

/* Block sizes, in whole warps, with which more warps are resident: the nearest ones and, of those
 * with the most warps, the one nearest to the present; 0: there is none. Registers a thread and
 * bytes a block stay as they are. */
typedef struct ridge_block_sizes {
    int smaller_threads, smaller_warps_per_sm;
    int larger_threads, larger_warps_per_sm;
    int best_threads, best_warps_per_sm;
} ridge_block_sizes;

ridge_status ridge_block_sizes_of(const ridge_arch *arch, const ridge_launch *launch,
                                  ridge_block_sizes *out, ridge_error *err);

/* One row of the staircase over a resource: from and up to so much of it, the SM holds the same. */
typedef struct ridge_occupancy_row {
    int least, most;
    int blocks_per_sm; /* 0: the launch fails */
    int warps_per_sm;
    double occupancy_frac;
    unsigned limiters; /* at most of the row */
    bool is_current;   /* the launch is in this row */
} ridge_occupancy_row;

/* Every row of the staircase over one resource, in ascending order and without gaps, from the
 * least of it (0 bytes, 1 register, 0 barriers, 1 thread) to the most that the chip takes. Block
 * sizes that fit are a row for each number of warps. Fills at most capacity rows and returns how many there
 * are in all, at most RIDGE_OCCUPANCY_ROWS; 0 for a launch that ridge_occupancy_of() refuses. */
enum { RIDGE_OCCUPANCY_ROWS = 128 };
size_t ridge_occupancy_rows(const ridge_arch *arch, const ridge_launch *launch,
                            ridge_resource resource, ridge_occupancy_row *rows, size_t capacity);

/* -- the grid ---------------------------------------------------------------------------------- */

/* Share of the SM time that the last wave leaves idle, at most: blocks that are alone on their SM
 * run faster than those in a full wave. NAN below one wave and for NAN. */
double ridge_tail_frac(double waves);

/* A grid of equal blocks on a chip. */
typedef struct ridge_grid {
    uint64_t blocks;
    uint64_t wave_blocks; /* resident on all SMs together, at most; whole clusters */
    double waves;
    uint64_t full_waves;
    uint64_t last_blocks; /* in the last wave, when it is not full; 0: every wave is full */
    double tail_frac;     /* ridge_tail_frac() */
    uint64_t fewer_blocks, more_blocks; /* nearest grids of whole waves; 0: none is smaller */
    uint64_t idle_sms; /* without a block even in the first wave; blocks go to empty SMs first */
} ridge_grid;

/* cluster_blocks 0 or 1: no clusters. RIDGE_ERR_INVALID_ARGUMENT for an empty grid, sm_count or
 * blocks_per_sm below 1, or a grid that is not whole clusters. */
ridge_status ridge_grid_of(uint64_t blocks, int sm_count, int blocks_per_sm, int cluster_blocks,
                           ridge_grid *out, ridge_error *err);

/* A way to cut a problem of rows x columns into tiles, one a block. */
typedef struct ridge_tile {
    int rows, columns;
    uint64_t blocks;
    double waves;
    /* Useful part of what the waves could do: edges of the problem and the tail taken off. */
    double useful_frac;
    /* FLOP for each element loaded in a matrix product, 2 r c / (r + c): what a small tile costs. */
    double reuse;
    bool is_current;
} ridge_tile;

typedef struct ridge_tiling {
    uint64_t rows, columns, batch; /* the problem; batch problems of the same size */
    int tile_rows, tile_columns;   /* the tile now; the others have at least half and at most
                                      twice its elements */
    int wave_blocks;               /* as of ridge_grid: what a block needs is taken as unchanged */
} ridge_tiling;

/* The usual tiles with their waves, the most useful first: those that no other beats in both
 * useful_frac and reuse, and the present one. Fills at most capacity tiles, always with the present
 * one, and returns how many; 0 when a number is below 1. */
size_t ridge_tiles_of(const ridge_tiling *tiling, ridge_tile *tiles, size_t capacity);

/* -- bytes in flight --------------------------------------------------------------------------- */

/* Latency of device memory in SM cycles, as measured on Ampere and Hopper. */
#define RIDGE_LATENCY_CYCLES_LOW 600.0
#define RIDGE_LATENCY_CYCLES_HIGH 800.0

/* Little's law for one SM: what must be under way to keep device memory busy, and what is. */
typedef struct ridge_in_flight {
    double needed_low_bytes, needed_high_bytes; /* at 600 and at 800 cycles */
    double available_bytes;                     /* warps x loads x 32 lanes x width */
    double bytes_per_load;                      /* of a warp */
    /* To reach needed_high_bytes: */
    double loads_needed; /* of each warp, with the warps that are resident */
    double warps_needed; /* an SM, with the loads of each warp */
} ridge_in_flight;

/* loads are independent loads of a warp before it waits, width the bytes of a lane. All NAN where
 * the chip's bandwidth, clock or SM count is unknown; the last three, and available_bytes, also
 * where loads or warps_per_sm is 0. */
void ridge_in_flight_of(const ridge_chip *chip, int warps_per_sm, int loads, int width,
                        ridge_in_flight *out);

#ifdef __cplusplus
}
#endif
#endif
