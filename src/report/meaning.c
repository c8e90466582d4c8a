/* SPDX-License-Identifier: Apache-2.0
 *
 * The one table from meanings to metric names. A row lists candidates, best first; the first that
 * the report holds with a number counts. A candidate may be the sum of two metrics, and may carry
 * a factor that brings it to the meaning's unit.
 *
 * Sources: the names in reports of ncu 2020.2 to 2026.2 on compute capability 7.0 to 12.0;
 * docs/formats/ncu-rep.md lists which version and chip has which. */
#include "ridge/meaning.h"

#include <math.h>

#define PCT ".avg.pct_of_peak_sustained_elapsed"

struct candidate {
    const char *name;
    const char *plus; /* added when present; NULL: nothing */
    double factor;    /* 0: 1 */
    bool needs_both;
};

enum { CANDIDATES = 7, SECTOR_BYTES = 32 };

static const struct row {
    struct candidate candidates[CANDIDATES];
} rows[RIDGE_MEANING_COUNT] = {
#define ROW(meaning, ...) [RIDGE_MEANING_##meaning] = {{__VA_ARGS__}}
    ROW(DURATION_NS, {"gpu__time_duration.sum"}, {"gpu__time_duration.avg"},
        {"gpu__time_active.sum"}),
    ROW(SM_CLOCK_HZ, {"smsp__cycles_elapsed.avg.per_second"}, {"sm__cycles_elapsed.avg.per_second"},
        {"gpc__cycles_elapsed.avg.per_second"}),
    ROW(SM_CYCLES_ACTIVE_AVG, {"sm__cycles_active.avg"}, {"smsp__cycles_active.avg"}),
    ROW(SM_CYCLES_ACTIVE_MAX, {"sm__cycles_active.max"}, {"smsp__cycles_active.max"}),
    ROW(SM_CYCLES_ELAPSED, {"sm__cycles_elapsed.max"}, {"smsp__cycles_elapsed.max"},
        {"gpc__cycles_elapsed.max"}),
    ROW(MEMORY_SOL_PCT, {"gpu__compute_memory_throughput" PCT},
        {"gpu__compute_memory_sol_throughput" PCT}),
    ROW(COMPUTE_SOL_PCT, {"sm__throughput" PCT}),
    /* The cycles in which the memory was active count refresh and turn-around, sectors do not;
     * the profiler's own "DRAM throughput" is the larger of its parts. */
    ROW(DRAM_PCT, {"gpu__dram_throughput" PCT}, {"dram__throughput" PCT},
        {"dram__cycles_active" PCT}, {"fbpa__dram_sectors" PCT},
        {"dram__bytes_read.sum.pct_of_peak_sustained_elapsed",
         "dram__bytes_write.sum.pct_of_peak_sustained_elapsed"}),
    ROW(L2_PCT, {"lts__throughput" PCT}, {"lts__t_sectors" PCT}),
    ROW(L1_DATA_PIPE_PCT, {"l1tex__data_pipe_lsu_wavefronts" PCT}),
    ROW(LSU_REQUEST_PCT, {"l1tex__lsuin_requests" PCT}),
    ROW(LSU_INSTRUCTION_PCT, {"sm__inst_executed_pipe_lsu" PCT},
        {"sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active"}),
    ROW(TENSOR_PCT, {"sm__pipe_tensor_cycles_active" PCT}, {"sm__pipe_tensor_cycles_active_v2" PCT},
        {"sm__pipe_tc_cycles_active" PCT}, {"sm__pipe_tensor_op_hmma_cycles_active" PCT},
        {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"},
        {"sm__inst_executed_pipe_tensor" PCT}, {"sm__inst_executed_pipe_tensor_op_hmma" PCT}),
    ROW(FMA_PCT, {"sm__pipe_fma_cycles_active" PCT}, {"sm__pipe_fmaheavy_cycles_active" PCT},
        {"sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active"}),
    ROW(ALU_PCT, {"sm__pipe_alu_cycles_active" PCT},
        {"sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active"}),
    ROW(FP64_PCT, {"sm__pipe_fp64_cycles_active" PCT}, {"sm__pipe_fp64_op_fp64_cycles_active" PCT},
        {"sm__inst_executed_pipe_fp64" PCT}, {"sm__inst_executed_pipe_fp64_op_fp64" PCT},
        {"sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active"}),
    ROW(XU_PCT, {"sm__inst_executed_pipe_xu" PCT},
        {"sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active"}),
    ROW(ADU_PCT, {"sm__inst_executed_pipe_adu" PCT},
        {"sm__inst_executed_pipe_adu.avg.pct_of_peak_sustained_active"}),
    ROW(ISSUE_PCT, {"sm__issue_active" PCT}, {"sm__inst_executed" PCT}, {"sm__inst_issued" PCT}),
    ROW(ISSUE_ACTIVE_PCT, {"smsp__issue_active.avg.pct_of_peak_sustained_active"},
        {"smsp__issue_active.avg.per_cycle_active", NULL, 100},
        {"sm__inst_issued.avg.pct_of_peak_sustained_active"}),
    ROW(L2_ATOMIC_PCT, {"lts__d_atomic_input_cycles_active" PCT},
        {"syslts__d_atomic_input_cycles_active" PCT}),
    ROW(DRAM_READ_BYTES, {"dram__bytes_read.sum"}, {"dram__bytes_op_read.sum"},
        {"dram__sectors_read.sum", NULL, SECTOR_BYTES}),
    ROW(DRAM_WRITE_BYTES, {"dram__bytes_write.sum"}, {"dram__bytes_op_write.sum"},
        {"dram__sectors_write.sum", NULL, SECTOR_BYTES}),
    ROW(DRAM_BYTES_PER_S, {"dram__bytes.sum.per_second"},
        {"dram__bytes_read.sum.per_second", "dram__bytes_write.sum.per_second", 1, true},
        {"dram__bytes_op_read.sum.per_second", "dram__bytes_op_write.sum.per_second", 1, true}),
    ROW(DRAM_PEAK_BYTES_PER_CYCLE, {"dram__bytes.sum.peak_sustained"}),
    ROW(DRAM_CLOCK_HZ, {"dram__cycles_elapsed.avg.per_second"}),
    ROW(L1_HIT_PCT, {"l1tex__t_sector_hit_rate.pct"}),
    ROW(L2_HIT_PCT, {"lts__t_sector_hit_rate.pct"}),
    ROW(OCCUPANCY_THEORETICAL_PCT, {"sm__maximum_warps_per_active_cycle_pct"}),
    ROW(OCCUPANCY_ACHIEVED_PCT, {"sm__warps_active.avg.pct_of_peak_sustained_active"}),
    ROW(WARPS_ACTIVE, {"smsp__warps_active.avg.per_cycle_active"},
        {"sm__warps_active.avg.per_cycle_active", NULL, 0.25}),
    ROW(WARPS_ELIGIBLE, {"smsp__warps_eligible.avg.per_cycle_active"}),
    ROW(WAVES, {"launch__waves_per_multiprocessor"}),
    ROW(GRID_BLOCKS, {"launch__grid_size"}),
    ROW(BLOCK_THREADS, {"launch__block_size"}),
    ROW(REGISTERS, {"launch__registers_per_thread"}),
    ROW(SHARED_STATIC_BYTES, {"launch__shared_mem_per_block_static"}),
    ROW(SHARED_DYNAMIC_BYTES, {"launch__shared_mem_per_block_dynamic"}),
    ROW(SHARED_CONFIG_BYTES, {"launch__shared_mem_config_size"}),
    ROW(BARRIERS, {"launch__barrier_count"}),
    ROW(CLUSTER_SIZE, {"launch__cluster_size"}),
    ROW(LIMIT_REGISTERS, {"launch__occupancy_limit_registers"}),
    ROW(LIMIT_SHARED, {"launch__occupancy_limit_shared_mem"}),
    ROW(LIMIT_WARPS, {"launch__occupancy_limit_warps"}),
    ROW(LIMIT_BLOCKS, {"launch__occupancy_limit_blocks"}),
    ROW(LIMIT_BARRIERS, {"launch__occupancy_limit_barriers"}),
    ROW(THREADS_PER_INSTRUCTION, {"smsp__thread_inst_executed_per_inst_executed.ratio"}),
    ROW(THREADS_ON_PER_INSTRUCTION, {"smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"}),
    ROW(INSTRUCTIONS, {"smsp__inst_executed.sum"}, {"sm__inst_executed.sum"}, {"inst_executed"}),
    ROW(GLOBAL_LOAD_SECTORS, {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"}),
    ROW(GLOBAL_LOAD_REQUESTS, {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"}),
    ROW(GLOBAL_STORE_SECTORS, {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"}),
    ROW(GLOBAL_STORE_REQUESTS, {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"}),
    ROW(LOCAL_LOAD_SECTORS, {"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"}),
    ROW(LOCAL_STORE_SECTORS, {"l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"}),
    ROW(ATOMIC_REQUESTS, {"l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum"}),
    ROW(REDUCTION_REQUESTS, {"l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"},
        {"smsp__inst_executed_op_global_red.sum"}),
    ROW(SHARED_CONFLICTS, {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"}),
    ROW(SHARED_CONFLICTS_LOAD, {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"}),
    ROW(SHARED_CONFLICTS_STORE, {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"},
        {"smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"}),
    ROW(SHARED_CONFLICTS_ATOMIC, {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum"}),
    ROW(SHARED_CONFLICTS_ASYNC_COPY,
        {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum"},
        {"smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum"}),
    ROW(SHARED_WAVEFRONTS, {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"}),
    ROW(PROGRAM_WAVEFRONTS, {"memory_l1_wavefronts_shared"}, {"memory_l1_sectors_shared"},
        {"memory_shared_transactions"}),
    ROW(PROGRAM_WAVEFRONTS_IDEAL, {"memory_l1_wavefronts_shared_ideal"},
        {"memory_l1_sectors_shared_ideal"}, {"memory_ideal_shared_transactions"}),
    ROW(PROGRAM_SECTORS, {"memory_l2_theoretical_sectors_global"}, {"memory_l2_sectors_global"},
        {"memory_l2_transactions_global"}),
    ROW(PROGRAM_SECTORS_IDEAL, {"memory_l2_theoretical_sectors_global_ideal"},
        {"memory_l2_sectors_global_ideal"}, {"memory_ideal_l2_transactions_global"}),
    ROW(GLOBAL_INSTRUCTIONS,
        {"sass__inst_executed_global_loads", "sass__inst_executed_global_stores", 1, true}),
    ROW(SHARED_INSTRUCTIONS,
        {"sass__inst_executed_shared_loads", "sass__inst_executed_shared_stores", 1, true}),
    ROW(LOCAL_INSTRUCTIONS,
        {"sass__inst_executed_local_loads", "sass__inst_executed_local_stores", 1, true}),
    ROW(SYSTEM_MISS_SECTORS, {"lts__t_sectors_srcunit_tex_aperture_sysmem_lookup_miss.sum"},
        {"syslts__t_sectors_srcunit_tex_aperture_sysmem_lookup_miss.sum"}),
    ROW(PEER_MISS_SECTORS, {"lts__t_sectors_srcunit_tex_aperture_peer_lookup_miss.sum"},
        {"syslts__t_sectors_srcunit_tex_aperture_peer_lookup_miss.sum"}),
    ROW(SPILL_REQUESTS, {"sass__inst_executed_register_spilling"}),
    ROW(REPLAY_PASSES, {"profiler__replayer_passes"}),
    ROW(SAMPLES, {"smsp__pcsamp_sample_count"}),
#undef ROW
};

static const char *const lines[RIDGE_MEANING_COUNT] = {
#define LINE(name, line) [RIDGE_MEANING_##name] = line,
    RIDGE_MEANING_LIST(LINE)
#undef LINE
};

const char *ridge_meaning_line(ridge_meaning meaning)
{
    return (unsigned)meaning < RIDGE_MEANING_COUNT ? lines[meaning] : "?";
}

bool ridge_report_kernel_meaning(const ridge_report_kernel *kernel, ridge_meaning meaning,
                                 double *value, const char **metric)
{
    size_t i;

    if ((unsigned)meaning >= RIDGE_MEANING_COUNT)
        return false;
    for (i = 0; i < CANDIDATES && rows[meaning].candidates[i].name != NULL; i++) {
        const struct candidate *const candidate = &rows[meaning].candidates[i];
        double number, second;

        if (!ridge_report_kernel_number(kernel, candidate->name, &number) || isnan(number))
            continue;
        if (candidate->plus != NULL) {
            if (ridge_report_kernel_number(kernel, candidate->plus, &second) && !isnan(second))
                number += second;
            else if (candidate->needs_both)
                continue;
        }
        *value = candidate->factor != 0 ? number * candidate->factor : number;
        if (metric != NULL)
            *metric = candidate->name;
        return true;
    }
    return false;
}

bool ridge_report_kernel_stall(const ridge_report_kernel *kernel, ridge_stall stall, double *ratio,
                               const char **metric)
{
    static const char *const names[RIDGE_STALL_COUNT] = {
#define NAME(name, suffix, meaning)                                                                \
    [RIDGE_STALL_##name] = "smsp__average_warps_issue_stalled_" suffix "_per_issue_active.ratio",
        RIDGE_STALL_LIST(NAME)
#undef NAME
    };

    double number;

    if ((unsigned)stall >= RIDGE_STALL_COUNT ||
        !ridge_report_kernel_number(kernel, names[stall], &number) || isnan(number))
        return false;
    *ratio = number;
    if (metric != NULL)
        *metric = names[stall];
    return true;
}
