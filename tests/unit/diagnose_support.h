/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels to diagnose, as literals: numbers by metric name over those of a healthy kernel on an
 * H200, and instructions by name with their counters. They become a native report, so that a case
 * goes the way of a file. */
#ifndef RIDGE_TESTS_DIAGNOSE_SUPPORT_H
#define RIDGE_TESTS_DIAGNOSE_SUPPORT_H

#include "report_builder.h"

#include "ridge/diagnose.h"

/* Units that the breakdown of the speeds of light lists. */
#define PCT ".avg.pct_of_peak_sustained_elapsed"
#define DRAM "dram__cycles_active" PCT
#define L2 "lts__t_sectors" PCT
#define L2_ATOMICS "lts__d_atomic_input_cycles_active" PCT
#define L1 "l1tex__data_pipe_lsu_wavefronts" PCT
#define L1_REQUESTS "l1tex__lsuin_requests" PCT
#define ISSUE "sm__issue_active" PCT
#define ALU "sm__pipe_alu_cycles_active" PCT
#define FMA "sm__pipe_fma_cycles_active" PCT
#define FP64 "sm__pipe_fp64_cycles_active" PCT
#define TENSOR "sm__pipe_tensor_cycles_active" PCT
#define SHARED_PIPE "sm__pipe_shared_cycles_active" PCT
#define XU "sm__inst_executed_pipe_xu" PCT
#define ADU "sm__inst_executed_pipe_adu" PCT
#define LSU "sm__inst_executed_pipe_lsu" PCT
#define CONSTANTS "idc__request_cycles_active" PCT

#define DURATION "gpu__time_duration.sum"
#define CLOCK "smsp__cycles_elapsed.avg.per_second"
#define ELAPSED "sm__cycles_elapsed.max"
#define ACTIVE_AVG "sm__cycles_active.avg"
#define ACTIVE_MAX "sm__cycles_active.max"
#define WAVES "launch__waves_per_multiprocessor"
#define REGISTERS "launch__registers_per_thread"
#define SHARED "launch__shared_mem_per_block_dynamic"
#define THEORETICAL "sm__maximum_warps_per_active_cycle_pct"
#define ACHIEVED "sm__warps_active.avg.pct_of_peak_sustained_active"
#define THREADS "smsp__thread_inst_executed_per_inst_executed.ratio"
#define SMS "device__attribute_multiprocessor_count"
#define GLOBAL_LOADS "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
#define LOCAL_LOADS "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"
#define STALL(reason) "smsp__average_warps_issue_stalled_" reason "_per_issue_active.ratio"

/* Takes a number of the healthy kernel away. */
#define ABSENT (-1.0)

typedef struct sample_number {
    const char *name;
    double value;
} sample_number;

/* One instruction; opcode is one of those in diagnose_support.c. */
typedef struct sample_row {
    const char *opcode;
    uint64_t executed, samples; /* samples wait for long_scoreboard */
    uint64_t wavefronts, wavefronts_ideal;
    uint64_t sectors, sectors_ideal;
    int back; /* of a BRA: how many instructions behind it its target stands */
} sample_row;

typedef struct sample_kernel {
    const char *name;       /* short, "k" when NULL */
    const char *mangled;    /* "k" when NULL */
    uint64_t grid, threads; /* 10 560 and 256 when 0 */
    bool bare;              /* only the numbers given here */
    bool no_breakdown;
    int clocks; /* 0 not recorded, 1 locked, 2 not locked */
    sample_number numbers[16];
    sample_row code[16];
} sample_kernel;

/* A report of some kernels. */
typedef struct sample_report {
    ridge_report *report;
    file_bytes file;
} sample_report;

sample_report sample_report_of(const sample_kernel *kernels, size_t count);
void sample_report_release(sample_report *sample);

/* Diagnoses the first kernel; fails the test when that fails. */
ridge_diagnosis *sample_diagnosis(const sample_report *sample,
                                  const ridge_diagnose_options *options);

/* What holds for every diagnosis: ranks in order, bounds ordered and from 1, a topic for each
 * finding, texts, nothing first that a saturated memory wall explains. */
void check_diagnosis(const ridge_diagnosis *diagnosis);

/* NULL when there is none. */
const ridge_finding *finding_of(const ridge_diagnosis *diagnosis, const char *id);
const ridge_not_now *not_now_of(const ridge_diagnosis *diagnosis, const char *id);

#endif
