/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a kernel's time goes: the per-instruction counters of a report joined with the
 * instructions of its cubin and with the line table.
 *
 * ridge_profile_create() builds the table from one kernel of a report, which must outlive it;
 * ridge_profile_free() ends it. Works as far as the data goes: without a cubin the opcodes are
 * missing, without -lineinfo the lines, without source counters there are no rows. */
#ifndef RIDGE_PROFILE_H
#define RIDGE_PROFILE_H

#include "ridge/binary.h"
#include "ridge/report.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reasons a warp waits. X(name, suffix in metric names, one line) */
#define RIDGE_STALL_LIST(X)                                                                        \
    X(LONG_SCOREBOARD, "long_scoreboard", "a load from global or local memory")                    \
    X(SHORT_SCOREBOARD, "short_scoreboard", "shared memory, MUFU or a dynamic branch")             \
    X(MIO_THROTTLE, "mio_throttle", "the queue to shared memory and special functions")            \
    X(LG_THROTTLE, "lg_throttle", "the queue of global and local accesses")                        \
    X(TEX_THROTTLE, "tex_throttle", "the queue of the texture unit")                               \
    X(BARRIER, "barrier", "other warps of the block at a barrier")                                 \
    X(MEMBAR, "membar", "a memory fence")                                                          \
    X(WAIT, "wait", "a fixed latency of the instruction before")                                   \
    X(MATH_PIPE_THROTTLE, "math_pipe_throttle", "a busy arithmetic pipe")                          \
    X(DISPATCH_STALL, "dispatch_stall", "the dispatcher")                                          \
    X(NO_INSTRUCTION, "no_instruction", "the next instruction (instruction cache)")                \
    X(IMC_MISS, "imc_miss", "a miss in the immediate-constant cache")                              \
    X(BRANCH_RESOLVING, "branch_resolving", "the target of a branch")                              \
    X(DRAIN, "drain", "stores to leave before exit")                                               \
    X(SLEEPING, "sleeping", "nanosleep")                                                           \
    X(GMMA, "gmma", "an asynchronous matrix product (wgmma)")                                      \
    X(MISC, "misc", "another reason")                                                              \
    X(NOT_SELECTED, "not_selected", "ready, another warp was taken (good news)")                   \
    X(SELECTED, "selected", "issuing")

typedef enum ridge_stall {
#define RIDGE_STALL_ENUM(name, suffix, meaning) RIDGE_STALL_##name,
    RIDGE_STALL_LIST(RIDGE_STALL_ENUM)
#undef RIDGE_STALL_ENUM
        RIDGE_STALL_COUNT
} ridge_stall;

const char *ridge_stall_name(ridge_stall stall);    /* "long_scoreboard" */
const char *ridge_stall_meaning(ridge_stall stall); /* "a load from global or local memory" */

/* Which columns the report holds; a column it does not hold is 0 in every row. */
typedef enum ridge_profile_columns {
    RIDGE_PROFILE_EXECUTED = 1 << 0,
    RIDGE_PROFILE_SAMPLES = 1 << 1,
    RIDGE_PROFILE_STALLS = 1 << 2,
    RIDGE_PROFILE_SHARED = 1 << 3,  /* wavefronts and ideal */
    RIDGE_PROFILE_SECTORS = 1 << 4, /* L2 sectors of global accesses and ideal */
    RIDGE_PROFILE_OPCODES = 1 << 5, /* a cubin was joined */
    RIDGE_PROFILE_LINES = 1 << 6,   /* a line table was joined */
    RIDGE_PROFILE_THREADS = 1 << 7
} ridge_profile_columns;

typedef struct ridge_instruction {
    uint64_t pc;
    const ridge_function *function; /* that the code belongs to; NULL: no cubin */
    uint32_t offset;                /* in the function's code; else from the first row */
    ridge_sass sass;                /* zero, name NULL without a cubin */
    const ridge_line *line;         /* innermost; NULL: none */
    const ridge_line *lines;        /* of the function: what line and its inlined_at point into */
    size_t line_count;
    uint64_t executed;            /* by warps */
    uint64_t threads, threads_on; /* executed by threads; predicated on */
    uint64_t samples, samples_not_issued;
    uint32_t stalls[RIDGE_STALL_COUNT];            /* samples by reason */
    uint32_t stalls_not_issued[RIDGE_STALL_COUNT]; /* of cycles in which nothing was issued */
    uint64_t wavefronts, wavefronts_ideal;         /* shared memory */
    uint64_t sectors, sectors_ideal;               /* L2, global */
    uint64_t local_sectors;
    uint64_t tag_requests;                          /* L1, global */
    uint64_t memory_type, access_type, access_bits; /* as stored: 4 global, 8 local, 16 shared */
} ridge_instruction;

typedef struct ridge_profile {
    unsigned columns;              /* of ridge_profile_columns */
    const ridge_instruction *rows; /* in order of pc */
    size_t row_count;
    const ridge_function *function; /* the kernel; NULL: no cubin, or a range of several */
    int sm;                         /* 90; 0: no cubin */
    ridge_instruction total;        /* sums over the rows */
} ridge_profile;

ridge_status ridge_profile_create(const ridge_report_kernel *kernel, ridge_profile **out,
                                  ridge_error *err);
void ridge_profile_free(ridge_profile *profile);

/* The row that feeds the one at index (see ridge_sass_producer); row_count: none found. */
size_t ridge_profile_producer(const ridge_profile *profile, size_t index);

#ifdef __cplusplus
}
#endif
#endif
