/* SPDX-License-Identifier: Apache-2.0
 *
 * What a metric means, whatever its name is. Metric names drift with architecture and version of
 * the profiler; ridge asks for a meaning, and one table (src/report/meaning.c) lists the names
 * that carry it, best first. */
#ifndef RIDGE_MEANING_H
#define RIDGE_MEANING_H

#include "ridge/profile.h"
#include "ridge/report.h"

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, one line). "pct" meanings are per cent of the peak sustained over elapsed cycles. */
#define RIDGE_MEANING_LIST(X)                                                                      \
    X(DURATION_NS, "time of the kernel")                                                           \
    X(SM_CLOCK_HZ, "clock of the SMs while the kernel ran")                                        \
    X(SM_CYCLES_ACTIVE_AVG, "cycles an SM had a warp, average over SMs")                           \
    X(SM_CYCLES_ACTIVE_MAX, "the same, busiest SM")                                                \
    X(SM_CYCLES_ELAPSED, "cycles the kernel took")                                                 \
    X(MEMORY_SOL_PCT, "memory speed of light")                                                     \
    X(COMPUTE_SOL_PCT, "compute speed of light")                                                   \
    X(DRAM_PCT, "device memory busy")                                                              \
    X(L2_PCT, "L2 busy")                                                                           \
    X(L1_DATA_PIPE_PCT, "L1/shared data pipe busy")                                                \
    X(LSU_REQUEST_PCT, "load/store requests into L1")                                              \
    X(LSU_INSTRUCTION_PCT, "load/store instructions")                                              \
    X(TENSOR_PCT, "tensor pipe busy")                                                              \
    X(FMA_PCT, "FMA pipe busy")                                                                    \
    X(ALU_PCT, "ALU pipe busy")                                                                    \
    X(FP64_PCT, "FP64 pipe busy")                                                                  \
    X(XU_PCT, "special function unit (XU) busy")                                                   \
    X(ADU_PCT, "address divergence unit (branches, barriers, constants) busy")                     \
    X(ISSUE_PCT, "issue slots used, of elapsed cycles")                                            \
    X(ISSUE_ACTIVE_PCT, "issue slots used, of active cycles")                                      \
    X(L2_ATOMIC_PCT, "L2 atomic unit busy")                                                        \
    X(DRAM_READ_BYTES, "bytes read from device memory")                                            \
    X(DRAM_WRITE_BYTES, "bytes written to device memory")                                          \
    X(DRAM_BYTES_PER_S, "bytes moved to and from device memory a second")                          \
    X(DRAM_PEAK_BYTES_PER_CYCLE, "peak of device memory, bytes a memory cycle")                    \
    X(DRAM_CLOCK_HZ, "clock of the device memory")                                                 \
    X(L1_HIT_PCT, "L1 hit rate")                                                                   \
    X(L2_HIT_PCT, "L2 hit rate")                                                                   \
    X(OCCUPANCY_THEORETICAL_PCT, "resident warps that fit, of the SM's")                           \
    X(OCCUPANCY_ACHIEVED_PCT, "resident warps, average over active cycles")                        \
    X(WARPS_ACTIVE, "resident warps of a scheduler")                                               \
    X(WARPS_ELIGIBLE, "warps of a scheduler that could issue")                                     \
    X(WAVES, "waves of blocks")                                                                    \
    X(GRID_BLOCKS, "blocks of the grid")                                                           \
    X(BLOCK_THREADS, "threads of a block")                                                         \
    X(REGISTERS, "registers of a thread")                                                          \
    X(SHARED_STATIC_BYTES, "static shared memory of a block")                                      \
    X(SHARED_DYNAMIC_BYTES, "dynamic shared memory of a block")                                    \
    X(SHARED_CONFIG_BYTES, "shared-memory carve-out of an SM")                                     \
    X(BARRIERS, "named barriers of a block")                                                       \
    X(CLUSTER_SIZE, "blocks of a cluster")                                                         \
    X(LIMIT_REGISTERS, "blocks an SM that registers allow")                                        \
    X(LIMIT_SHARED, "blocks an SM that shared memory allows")                                      \
    X(LIMIT_WARPS, "blocks an SM that warps allow")                                                \
    X(LIMIT_BLOCKS, "blocks an SM that the block limit allows")                                    \
    X(LIMIT_BARRIERS, "blocks an SM that barriers allow")                                          \
    X(THREADS_PER_INSTRUCTION, "threads active in an instruction, of 32")                          \
    X(THREADS_ON_PER_INSTRUCTION, "threads active and predicated on")                              \
    X(INSTRUCTIONS, "warp instructions executed")                                                  \
    X(GLOBAL_LOAD_SECTORS, "L1 sectors of global loads")                                           \
    X(GLOBAL_LOAD_REQUESTS, "L1 requests of global loads")                                         \
    X(GLOBAL_STORE_SECTORS, "L1 sectors of global stores")                                         \
    X(GLOBAL_STORE_REQUESTS, "L1 requests of global stores")                                       \
    X(LOCAL_LOAD_SECTORS, "L1 sectors of local loads")                                             \
    X(LOCAL_STORE_SECTORS, "L1 sectors of local stores")                                           \
    X(ATOMIC_REQUESTS, "L1 requests of global atomics that return a value")                        \
    X(REDUCTION_REQUESTS, "L1 requests of global reductions")                                      \
    X(SHARED_CONFLICTS, "shared-memory bank conflicts, arbitration included")                      \
    X(SHARED_CONFLICTS_LOAD, "of loads")                                                           \
    X(SHARED_CONFLICTS_STORE, "of stores")                                                         \
    X(SHARED_CONFLICTS_ATOMIC, "of atomics")                                                       \
    X(SHARED_CONFLICTS_ASYNC_COPY, "of cp.async (LDGSTS)")                                         \
    X(SHARED_WAVEFRONTS, "shared-memory wavefronts")                                               \
    X(PROGRAM_WAVEFRONTS, "shared-memory wavefronts, by instructions")                             \
    X(PROGRAM_WAVEFRONTS_IDEAL, "the same without conflicts")                                      \
    X(PROGRAM_SECTORS, "L2 sectors of global accesses, by instructions")                           \
    X(PROGRAM_SECTORS_IDEAL, "the same if fully coalesced")                                        \
    X(GLOBAL_INSTRUCTIONS, "global loads and stores, warp instructions")                           \
    X(SHARED_INSTRUCTIONS, "shared loads and stores, warp instructions")                           \
    X(LOCAL_INSTRUCTIONS, "local loads and stores, warp instructions")                             \
    X(SYSTEM_MISS_SECTORS, "L2 sectors served from system memory")                                 \
    X(PEER_MISS_SECTORS, "L2 sectors served from a peer GPU")                                      \
    X(SPILL_REQUESTS, "instructions that spill or refill registers")                               \
    X(REPLAY_PASSES, "passes of the profiler")                                                     \
    X(SAMPLES, "warp-state samples")

typedef enum ridge_meaning {
#define RIDGE_MEANING_ENUM(name, line) RIDGE_MEANING_##name,
    RIDGE_MEANING_LIST(RIDGE_MEANING_ENUM)
#undef RIDGE_MEANING_ENUM
        RIDGE_MEANING_COUNT
} ridge_meaning;

const char *ridge_meaning_line(ridge_meaning meaning);

/* The value of a meaning. False when the report holds none of its names, or only NAN. *metric,
 * when not NULL, receives the (first) name that was used: static, never NULL on success. */
bool ridge_report_kernel_meaning(const ridge_report_kernel *kernel, ridge_meaning meaning,
                                 double *value, const char **metric);

/* Warps that wait for a reason, on average, per instruction issued. */
bool ridge_report_kernel_stall(const ridge_report_kernel *kernel, ridge_stall stall, double *ratio,
                               const char **metric);

#ifdef __cplusplus
}
#endif
#endif
