/* SPDX-License-Identifier: Apache-2.0
 *
 * The chips and how many blocks of a kernel fit one of their multiprocessors (SM).
 *
 * Chip rows are constant tables; nothing here allocates. A number that is not known is 0 in an
 * integer field and NAN in a double field: print it as n/a, never as a number. */
#ifndef RIDGE_HARDWARE_H
#define RIDGE_HARDWARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ridge/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What every chip of one compute capability has in common. */
typedef struct ridge_arch {
    int major, minor;   /* compute capability, 9 and 0 */
    const char *family; /* "Hopper" */
    const char *sm;     /* "sm_90" */
    int warps_per_sm;
    int blocks_per_sm;
    int threads_per_block;    /* most threads of a block: 1024 */
    int schedulers_per_sm;    /* sub-partitions: 4 */
    int registers_per_sm;     /* 65536 */
    int register_unit;        /* registers are given to a warp in units of this many: 256 */
    int registers_per_thread; /* most: 255 */
    int shared_per_sm_bytes;
    int shared_per_block_bytes; /* most, with opt-in, without the reserve */
    int shared_unit_bytes;
    int shared_reserved_bytes;  /* taken from each block by the driver */
    int barriers_per_sm;        /* named barriers; 0: no such limit known */
    int cluster_blocks;         /* most of a cluster, with the attribute; 0: no clusters */
    int portable_cluster;       /* most of a cluster without it: 8 */
    int l1_wavefront_bytes;     /* shared memory moves 128 bytes a cycle and SM */
    const int *carveouts_bytes; /* shared-memory configurations, ascending */
    size_t carveout_count;
} ridge_arch;

/* The numbers of a chip, in the order of ridge_chip. */
typedef enum ridge_chip_field {
    RIDGE_CHIP_SM_COUNT,
    RIDGE_CHIP_SM_CLOCK,
    RIDGE_CHIP_L2,
    RIDGE_CHIP_DRAM,
    RIDGE_CHIP_BANDWIDTH,
    RIDGE_CHIP_FP64,
    RIDGE_CHIP_FP32,
    RIDGE_CHIP_FP64_TENSOR,
    RIDGE_CHIP_TF32,
    RIDGE_CHIP_FP16,
    RIDGE_CHIP_BF16,
    RIDGE_CHIP_FP8,
    RIDGE_CHIP_INT8,
    RIDGE_CHIP_FP4,
    RIDGE_CHIP_BASE_CLOCK,
    RIDGE_CHIP_TENSOR_CLOCK,
    RIDGE_CHIP_BUS,
    RIDGE_CHIP_FIELD_COUNT
} ridge_chip_field;

/* Where some numbers come from, or why they are unknown. */
typedef struct ridge_chip_source {
    unsigned fields; /* 1 << ridge_chip_field; 0 ends a list */
    const char *text;
} ridge_chip_source;

enum { RIDGE_CHIP_SOURCES = 5, RIDGE_CHIP_UNKNOWNS = 3 };

typedef struct ridge_chip {
    const char *id;   /* "h200": what --gpu takes */
    const char *name; /* "NVIDIA H200" as the driver reports it */
    const ridge_arch *arch;
    int sm_count;
    double sm_clock_hz; /* boost */
    double l2_bytes;
    double dram_bytes; /* capacity */
    double dram_bytes_per_s;
    /* Dense peaks, FLOP/s or op/s; NAN when unknown. */
    double fp64_flop_per_s, fp32_flop_per_s;
    double fp64_tensor_flop_per_s, tf32_flop_per_s, fp16_flop_per_s, bf16_flop_per_s;
    double fp8_flop_per_s, int8_op_per_s, fp4_flop_per_s;
    double base_clock_hz;
    double tensor_clock_hz; /* at which the tensor peaks are quoted, where that is not the boost */
    const char *dram_type;  /* "HBM3e"; NULL when unknown */
    double dram_bus_bits;
    /* See ridge_chip_source_of() and ridge_chip_unknown_of(). */
    ridge_chip_source sources[RIDGE_CHIP_SOURCES];
    ridge_chip_source unknowns[RIDGE_CHIP_UNKNOWNS];
    const char *remark; /* what to know before using the numbers; NULL: nothing */
} ridge_chip;

size_t ridge_arch_count(void);
const ridge_arch *ridge_arch_at(size_t index);
/* The row of a compute capability; NULL when unknown. */
const ridge_arch *ridge_arch_find(int major, int minor);
/* Reads "9.0", "sm_90", "sm_90a" or "compute_90"; false for anything else. */
bool ridge_arch_parse(const char *text, int *major, int *minor);

/* The limits of a compute capability as a list, and the range in which one may be set: within these
 * every function here is defined. */
typedef struct ridge_arch_limit_info {
    const char *key; /* the name in ridge_arch, and in JSON */
    int lowest, highest;
} ridge_arch_limit_info;

size_t ridge_arch_limit_count(void);
/* index is below the count, here and in the next two. */
const ridge_arch_limit_info *ridge_arch_limit_at(size_t index);
int ridge_arch_limit(const ridge_arch *arch, size_t index);
void ridge_arch_set_limit(ridge_arch *arch, size_t index, int value);

size_t ridge_chip_count(void);
const ridge_chip *ridge_chip_at(size_t index);
/* By id, name or alias, ignoring case, spaces, '-' and an "NVIDIA " in front; NULL when unknown. */
const ridge_chip *ridge_chip_find(const char *name);
/* The chips whose id begins with a name, in the order of the table. Fills at most capacity and
 * returns how many there are in all. */
size_t ridge_chips_beginning(const char *name, const ridge_chip **chips, size_t capacity);

/* What a field is called and how its number is shown. */
typedef struct ridge_chip_field_info {
    const char *key;   /* the name in ridge_chip, and in JSON */
    const char *title; /* "Memory bandwidth" */
    int unit;          /* a ridge_unit of ridge/table.h */
} ridge_chip_field_info;

const ridge_chip_field_info *ridge_chip_field_at(ridge_chip_field field);
/* NAN when unknown, for every field. */
double ridge_chip_value(const ridge_chip *chip, ridge_chip_field field);
void ridge_chip_set(ridge_chip *chip, ridge_chip_field field, double value);
/* Where a known number comes from; NULL when it is unknown or that is not said. */
const char *ridge_chip_source_of(const ridge_chip *chip, ridge_chip_field field);
/* Why a number is unknown: "sources disagree: 48 or 96 MB"; NULL when it is known, "no source" when
 * there is no other reason. */
const char *ridge_chip_unknown_of(const ridge_chip *chip, ridge_chip_field field);

/* What follows from the numbers; NAN where one of them is unknown. */
/* FLOP for each byte of device memory above which a peak is the bound: the ridge point. field is one
 * of the peaks. */
double ridge_chip_flop_per_byte(const ridge_chip *chip, ridge_chip_field field);
/* Bytes of device memory an SM gets each cycle at the boost clock, all SMs loading. */
double ridge_chip_dram_bytes_per_cycle(const ridge_chip *chip);
/* Shared memory of all SMs: a wavefront of 128 bytes each cycle and SM at the boost clock. */
double ridge_chip_shared_bytes_per_s(const ridge_chip *chip);

/* A chip of which only the compute capability is known: its id is the arch's sm. */
void ridge_chip_init(ridge_chip *chip, const ridge_arch *arch);

/* Another name of a chip, as people shorten it or as drivers print variants of it. */
typedef struct ridge_chip_alias {
    const char *name; /* "a100"; a '*' at its end: anything may follow */
    const char *id;   /* "a100-sxm-80" */
} ridge_chip_alias;

size_t ridge_chip_alias_count(void);
const ridge_chip_alias *ridge_chip_alias_at(size_t index);

/* A chip of one's own, from a JSON file: its members are described in docs/formats/chip.md. What
 * the file does not say is unknown, or that of the chip it names as "like". */
typedef struct ridge_chip_file ridge_chip_file;

/* *out is new, freed with ridge_chip_file_free(). RIDGE_ERR_IO; RIDGE_ERR_FORMAT with the member,
 * what was found and what was expected. */
ridge_status ridge_chip_file_read(const char *path, ridge_chip_file **out, ridge_error *err);
/* The same of text in memory. */
ridge_status ridge_chip_file_parse(const void *text, size_t size_bytes, ridge_chip_file **out,
                                   ridge_error *err);
/* Borrowed until the file is freed. */
const ridge_chip *ridge_chip_file_chip(const ridge_chip_file *file);
void ridge_chip_file_free(ridge_chip_file *file); /* NULL is allowed */

/* What one launch asks for. */
typedef struct ridge_launch {
    int threads_per_block;
    int registers_per_thread;
    int shared_bytes;        /* static + dynamic, without the driver's reserve */
    int barriers;            /* named barriers a block uses; 0 when unknown */
    int shared_per_sm_bytes; /* carve-out in force; 0: the largest of the chip */
    int launch_bound;        /* most threads the kernel was compiled for; 0: no bound known */
    int cluster_blocks;      /* blocks of a cluster; 0 and 1: none */
} ridge_launch;

typedef enum ridge_limiter {
    RIDGE_LIMIT_WARPS = 1 << 0,
    RIDGE_LIMIT_BLOCKS = 1 << 1,
    RIDGE_LIMIT_REGISTERS = 1 << 2,
    RIDGE_LIMIT_SHARED = 1 << 3,
    RIDGE_LIMIT_BARRIERS = 1 << 4,
    /* These two allow every block or none. */
    RIDGE_LIMIT_LAUNCH_BOUND = 1 << 5,
    RIDGE_LIMIT_CLUSTER = 1 << 6,
} ridge_limiter;

typedef struct ridge_occupancy {
    int blocks_per_sm; /* resident; 0: the launch fails */
    int warps_per_block;
    int warps_per_sm;      /* resident */
    double occupancy_frac; /* warps_per_sm / the chip's */
    unsigned limiters;     /* every ridge_limiter equal to the minimum */
    /* Blocks an SM each resource alone would allow; INT_MAX: no limit. */
    int limit_warps, limit_blocks, limit_registers, limit_shared, limit_barriers;
    int limit_launch_bound, limit_cluster; /* 0 or INT_MAX */
} ridge_occupancy;

/* Blocks per SM by all limiters, as the driver computes it (specification: cuda_occupancy.h and
 * cuOccupancyMaxActiveBlocksPerMultiprocessor, 53,932 of 53,932 answers of an H200 equal), with two
 * reasons that its answer leaves out and a launch fails for: more threads than the kernel's launch
 * bound, and a cluster of more than 16 blocks or on a chip before 9.0.
 * RIDGE_ERR_INVALID_ARGUMENT for threads_per_block < 1 or negative numbers. A launch the chip
 * cannot run is no error: blocks_per_sm is 0 and limiters names the reason. */
ridge_status ridge_occupancy_of(const ridge_arch *arch, const ridge_launch *launch,
                                ridge_occupancy *out, ridge_error *err);

/* One step of the staircase: the most a block may use for so many blocks an SM. */
typedef struct ridge_occupancy_step {
    int blocks_per_sm;
    int warps_per_sm;
    int largest_shared_bytes;         /* static + dynamic a block may use; -1: not even 0 */
    int largest_registers_per_thread; /* a thread may use; 0: not even the smallest */
} ridge_occupancy_step;

/* The staircase of a launch for 1, 2, ... blocks an SM, until warps, blocks or barriers end it.
 * Fills at most capacity steps and returns how many there are in all. */
size_t ridge_occupancy_staircase(const ridge_arch *arch, const ridge_launch *launch,
                                 ridge_occupancy_step *steps, size_t capacity);

/* Bytes that must be in flight per SM to keep device memory busy (Little's law): latency times
 * the SM's share of the bandwidth. latency_cycles is in SM cycles (600 to 800 measured). */
double ridge_bytes_in_flight_per_sm(double dram_bytes_per_s, double sm_clock_hz, int sm_count,
                                    double latency_cycles);

#ifdef __cplusplus
}
#endif
#endif
