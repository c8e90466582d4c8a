/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel's profile as numbers. Everything later works on these; what the report does not hold
 * is NAN or false here, and stays so. */
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/diagnose_internal.h"

const char *facts_text(struct facts *facts, const char *format, ...)
{
    va_list arguments;
    int length;
    char *text;

    va_start(arguments, format);
    length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    text = length >= 0 ? ridge_alloc(facts->arena, (size_t)length + 1) : NULL;
    if (text == NULL) {
        facts->out_of_memory = true;
        return "";
    }
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}

/* -- constituents of the speeds of light ------------------------------------------------------- */

/* By the start of the name, longest match first where one starts another. The wall is what a
 * kernel bound by it is bound by, the side the class. */
static const struct {
    const char *prefix;
    const char *label;
    ridge_wall wall;
    bool is_memory, is_symptom;
} units[] = {
    {"dram__", "DRAM", RIDGE_WALL_DRAM, true, false},
    {"fbpa__", "DRAM sectors", RIDGE_WALL_DRAM, true, false},
    {"gpu__dram", "DRAM", RIDGE_WALL_DRAM, true, false},
    {"lts__d_atomic", "L2 atomics", RIDGE_WALL_ATOMICS, true, false},
    {"syslts__d_atomic", "L2 atomics (system)", RIDGE_WALL_ATOMICS, true, false},
    {"lts__t_tag_requests", "L2 tags", RIDGE_WALL_L2, true, false},
    {"lts__t_sectors", "L2 sectors", RIDGE_WALL_L2, true, false},
    {"lts__d_", "L2 data", RIDGE_WALL_L2, true, false},
    {"lts__xbar2lts", "path to L2", RIDGE_WALL_L2, true, false},
    {"lts__lts2xbar", "path from L2", RIDGE_WALL_L2, true, false},
    {"lts__", "L2", RIDGE_WALL_L2, true, false},
    {"syslts__", "L2 (system)", RIDGE_WALL_L2, true, false},
    {"l1tex__m_", "L1 to L2", RIDGE_WALL_L2, true, false},
    {"l1tex__data_pipe_lsu", "L1 data pipe", RIDGE_WALL_L1, true, false},
    {"l1tex__data_bank", "L1 data banks", RIDGE_WALL_L1, true, false},
    {"l1tex__lsuin", "L1 requests", RIDGE_WALL_L1, true, false},
    {"l1tex__lsu_writeback", "L1 write-back", RIDGE_WALL_L1, true, false},
    {"l1tex__", "L1/texture", RIDGE_WALL_L1, true, false},
    {"sm__pipe_tensor", "tensor pipe", RIDGE_WALL_TENSOR, false, false},
    {"sm__pipe_tc_", "tensor pipe", RIDGE_WALL_TENSOR, false, false},
    {"sm__mem_tensor", "tensor memory", RIDGE_WALL_TENSOR, false, false},
    {"sm__inst_executed_pipe_tensor", "tensor pipe", RIDGE_WALL_TENSOR, false, false},
    {"sm__inst_executed_pipe_tma", "TMA", RIDGE_WALL_L1, true, false},
    {"sm__pipe_fp64", "FP64 pipe", RIDGE_WALL_FP64, false, false},
    {"sm__inst_executed_pipe_fp64", "FP64 pipe", RIDGE_WALL_FP64, false, false},
    {"sm__pipe_fmaheavy", "FMA heavy pipe", RIDGE_WALL_FMA, false, false},
    {"sm__pipe_fma", "FMA pipe", RIDGE_WALL_FMA, false, false},
    {"sm__inst_executed_pipe_fma", "FMA pipe", RIDGE_WALL_FMA, false, false},
    {"sm__pipe_fp16", "FP16 pipe", RIDGE_WALL_FMA, false, false},
    {"sm__inst_executed_pipe_fp16", "FP16 pipe", RIDGE_WALL_FMA, false, false},
    {"sm__pipe_alu", "ALU pipe", RIDGE_WALL_ALU, false, false},
    {"sm__inst_executed_pipe_alu", "ALU pipe", RIDGE_WALL_ALU, false, false},
    {"sm__inst_executed_pipe_xu", "special functions", RIDGE_WALL_XU, false, false},
    {"sm__inst_executed_pipe_lsu", "load/store instr.", RIDGE_WALL_L1, true, false},
    {"sm__inst_executed_pipe_tex", "texture instr.", RIDGE_WALL_L1, true, false},
    {"sm__inst_executed_pipe_ipa", "interpolation", RIDGE_WALL_L1, true, false},
    {"sm__mio", "MIO queue", RIDGE_WALL_L1, true, false},
    {"sm__issue_active", "issue slots", RIDGE_WALL_ISSUE, false, false},
    {"sm__inst_executed_pipe_uniform", "uniform pipe", RIDGE_WALL_ISSUE, false, false},
    /* FP64 and tensor work shows here too: the named pipe is preferred when it ties. */
    {"sm__pipe_shared", "shared math pipe", RIDGE_WALL_TENSOR, false, true},
    /* Branches, barriers and address divergence pass these; what sends them there is the wall. */
    {"sm__inst_executed_pipe_adu", "ADU", RIDGE_WALL_STALL, false, true},
    {"sm__inst_executed_pipe_cbu", "branch unit", RIDGE_WALL_STALL, false, true},
    {"idc__", "constant cache", RIDGE_WALL_STALL, false, true},
    /* A copy of issue_active, but for instructions that are issued twice. */
    {"sm__inst_executed", "instructions", RIDGE_WALL_ISSUE, false, false},
};

static bool starts_with(const char *text, size_t length, const char *prefix)
{
    const size_t prefix_length = strlen(prefix);

    return length >= prefix_length && memcmp(text, prefix, prefix_length) == 0;
}

static bool contains(const char *text, size_t length, const char *part)
{
    const size_t part_length = strlen(part);
    size_t i;

    for (i = 0; i + part_length <= length; i++)
        if (memcmp(text + i, part, part_length) == 0)
            return true;
    return false;
}

static int compare_constituents(const void *left, const void *right)
{
    const struct constituent *const a = left;
    const struct constituent *const b = right;

    if (a->pct != b->pct)
        return a->pct < b->pct ? 1 : -1;
    if (a->is_symptom != b->is_symptom)
        return a->is_symptom ? 1 : -1;
    return strcmp(a->metric, b->metric);
}

static void add_constituent(struct facts *facts, const char *name, size_t length,
                            struct constituent *list, size_t *count)
{
    char metric[192];
    double pct;
    size_t i;

    if (*count == CONSTITUENTS || length >= sizeof(metric) ||
        contains(name, length, "_internal_activity"))
        return;
    memcpy(metric, name, length);
    metric[length] = '\0';
    if (!ridge_report_kernel_number(facts->kernel, metric, &pct) || isnan(pct))
        return;
    for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (starts_with(name, length, units[i].prefix)) {
            list[*count].metric = facts_text(facts, "%s", metric);
            list[*count].label = units[i].label;
            list[*count].wall = units[i].wall;
            list[*count].is_memory = units[i].is_memory;
            list[*count].is_symptom = units[i].is_symptom;
            list[*count].pct = pct;
            ++*count;
            return;
        }
}

/* Splits the list of names that a breakdown metric holds. */
static void read_breakdown(struct facts *facts, const char *speed_of_light,
                           struct constituent *list, size_t *count)
{
    ridge_metric metric;
    const char *name, *end;
    char breakdown[96];

    snprintf(breakdown, sizeof(breakdown), "breakdown:%s", speed_of_light);
    if (!ridge_report_kernel_metric(facts->kernel, breakdown, &metric) ||
        metric.value.kind != RIDGE_VALUE_TEXT)
        return;
    name = metric.value.text;
    end = name + metric.value.text_length;
    while (name < end) {
        const char *comma = memchr(name, ',', (size_t)(end - name));

        if (comma == NULL)
            comma = end;
        add_constituent(facts, name, (size_t)(comma - name), list, count);
        name = comma + 1;
    }
    qsort(list, *count, sizeof(list[0]), compare_constituents);
}

/* Without a breakdown (the raw page as CSV): the constituents there are, by name. The throughputs
 * of whole units, such as lts__throughput, are no substitute: they count by rules of their own. */
static void add_named_units(struct facts *facts)
{
    static const char *const memory[] = {"dram__cycles_active",
                                         "fbpa__dram_sectors",
                                         "gpu__dram_throughput",
                                         "l1tex__data_bank_reads",
                                         "l1tex__data_bank_writes",
                                         "l1tex__data_pipe_lsu_wavefronts",
                                         "l1tex__lsu_writeback_active",
                                         "l1tex__lsuin_requests",
                                         "l1tex__m_l1tex2xbar_req_cycles_active",
                                         "l1tex__m_xbar2l1tex_read_sectors",
                                         "lts__d_atomic_input_cycles_active",
                                         "lts__d_sectors",
                                         "lts__lts2xbar_cycles_active",
                                         "lts__t_sectors",
                                         "lts__t_tag_requests",
                                         "lts__xbar2lts_cycles_active"};
    static const char *const compute[] = {"sm__issue_active",
                                          "sm__inst_executed",
                                          "sm__pipe_alu_cycles_active",
                                          "sm__pipe_fma_cycles_active",
                                          "sm__pipe_fmaheavy_cycles_active",
                                          "sm__pipe_fp64_cycles_active",
                                          "sm__pipe_tensor_cycles_active",
                                          "sm__inst_executed_pipe_adu",
                                          "sm__inst_executed_pipe_lsu",
                                          "sm__inst_executed_pipe_tex",
                                          "sm__inst_executed_pipe_xu",
                                          "idc__request_cycles_active"};
    char name[128];
    size_t i;

    for (i = 0; i < sizeof(memory) / sizeof(memory[0]); i++) {
        snprintf(name, sizeof(name), "%s.avg.pct_of_peak_sustained_elapsed", memory[i]);
        add_constituent(facts, name, strlen(name), facts->memory, &facts->memory_count);
    }
    for (i = 0; i < sizeof(compute) / sizeof(compute[0]); i++) {
        snprintf(name, sizeof(name), "%s.avg.pct_of_peak_sustained_elapsed", compute[i]);
        add_constituent(facts, name, strlen(name), facts->compute, &facts->compute_count);
    }
    qsort(facts->memory, facts->memory_count, sizeof(facts->memory[0]), compare_constituents);
    qsort(facts->compute, facts->compute_count, sizeof(facts->compute[0]), compare_constituents);
}

static void collect_speeds_of_light(struct facts *facts)
{
    read_breakdown(facts, "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
                   facts->memory, &facts->memory_count);
    read_breakdown(facts, "sm__throughput.avg.pct_of_peak_sustained_elapsed", facts->compute,
                   &facts->compute_count);
    facts->has_breakdown = facts->memory_count > 0 && facts->compute_count > 0;
    if (!facts->has_breakdown) {
        facts->memory_count = facts->compute_count = 0;
        add_named_units(facts);
    }
    facts->has_sol = HAS(facts, MEMORY_SOL_PCT) && HAS(facts, COMPUTE_SOL_PCT);
}

const struct constituent *facts_top(const struct facts *facts, bool memory, bool compute)
{
    const struct constituent *top = NULL;
    size_t i;

    for (i = 0; memory && i < facts->memory_count; i++)
        if (!facts->memory[i].is_symptom && (top == NULL || facts->memory[i].pct > top->pct))
            top = &facts->memory[i];
    for (i = 0; compute && i < facts->compute_count; i++)
        if (!facts->compute[i].is_symptom && (top == NULL || facts->compute[i].pct > top->pct))
            top = &facts->compute[i];
    return top;
}

static double wall_pct(const struct constituent *list, size_t count, ridge_wall wall)
{
    double pct = 0;
    size_t i;

    for (i = 0; i < count; i++)
        if (!list[i].is_symptom && list[i].wall == wall && list[i].pct > pct)
            pct = list[i].pct;
    return pct;
}

double facts_wall_pct(const struct facts *facts, ridge_wall wall)
{
    return fmax(wall_pct(facts->memory, facts->memory_count, wall),
                wall_pct(facts->compute, facts->compute_count, wall));
}

double facts_next_wall(const struct facts *facts, unsigned without, ridge_wall *next)
{
    static const ridge_wall walls[] = {RIDGE_WALL_DRAM,   RIDGE_WALL_L2,   RIDGE_WALL_L1,
                                       RIDGE_WALL_TENSOR, RIDGE_WALL_FP64, RIDGE_WALL_XU,
                                       RIDGE_WALL_FMA,    RIDGE_WALL_ALU,  RIDGE_WALL_ISSUE};
    double most = 0;
    size_t i;

    *next = RIDGE_WALL_UNKNOWN;
    for (i = 0; i < sizeof(walls) / sizeof(walls[0]); i++) {
        const double pct =
            (without & WALL_BIT(walls[i])) != 0 ? 0 : facts_wall_pct(facts, walls[i]);

        if (pct > most) {
            most = pct;
            *next = walls[i];
        }
    }
    return most / 100;
}

/* -- stalls ------------------------------------------------------------------------------------ */

/* A warp that issues, or could and another was taken, does not wait. */
static bool is_waiting(ridge_stall stall)
{
    return stall != RIDGE_STALL_SELECTED && stall != RIDGE_STALL_NOT_SELECTED;
}

static void collect_stalls(struct facts *facts)
{
    double ratio[RIDGE_STALL_COUNT] = {0};
    double total = 0;
    size_t i;

    for (i = 0; i < RIDGE_STALL_COUNT; i++)
        if (ridge_report_kernel_stall(facts->kernel, (ridge_stall)i, &ratio[i], NULL) &&
            is_waiting((ridge_stall)i)) {
            facts->has_stalls = true;
            total += ratio[i];
        }
    if (!facts->has_stalls && facts->profile != NULL &&
        (facts->profile->columns & RIDGE_PROFILE_STALLS) != 0 &&
        facts->profile->total.samples >= (uint64_t)FEW_SAMPLES) {
        /* The ratios can be rebuilt from where samples stand: both count waiting warps. */
        for (i = 0; i < RIDGE_STALL_COUNT; i++) {
            ratio[i] = facts->profile->total.stalls[i];
            if (is_waiting((ridge_stall)i))
                total += ratio[i];
        }
        facts->has_stalls = facts->stalls_from_samples = total > 0;
    }
    facts->top_stall = RIDGE_STALL_MISC;
    for (i = 0; i < RIDGE_STALL_COUNT; i++) {
        facts->stall_share[i] =
            facts->has_stalls && total > 0 && is_waiting((ridge_stall)i) ? ratio[i] / total : 0;
        if (facts->stall_share[i] > facts->stall_share[facts->top_stall])
            facts->top_stall = (ridge_stall)i;
    }
}

double facts_stall(const struct facts *facts, ridge_stall stall)
{
    return facts->stall_share[stall];
}

/* -- launch and occupancy ---------------------------------------------------------------------- */

static uint64_t as_count(double value)
{
    return value > 0 && value < 1e18 ? (uint64_t)value : 0;
}

static int as_int(double value)
{
    return isnan(value) || value < 0 || value > 1e9 ? 0 : (int)value;
}

static void collect_launch(struct facts *facts)
{
    const ridge_report_kernel_info *const info = facts->info;
    const double threads = (double)info->block[0] * (double)info->block[1] * (double)info->block[2];

    facts->sm_count = info->sm_count > 0 ? (double)info->sm_count : (double)NAN;
    facts->grid_blocks = (double)info->grid[0] * (double)info->grid[1] * (double)info->grid[2];
    if (facts->grid_blocks == 0)
        facts->grid_blocks = VALUE(facts, GRID_BLOCKS);
    facts->block_threads = threads > 0 ? threads : VALUE(facts, BLOCK_THREADS);
    facts->warps_per_block = ceil(facts->block_threads / 32);
    facts->shared_bytes = NAN;
    if (HAS(facts, SHARED_STATIC_BYTES) || HAS(facts, SHARED_DYNAMIC_BYTES))
        facts->shared_bytes =
            (HAS(facts, SHARED_STATIC_BYTES) ? VALUE(facts, SHARED_STATIC_BYTES) : 0) +
            (HAS(facts, SHARED_DYNAMIC_BYTES) ? VALUE(facts, SHARED_DYNAMIC_BYTES) : 0);
    facts->arch = ridge_arch_find(info->cc_major, info->cc_minor);
    facts->chip = info->gpu_name != NULL ? ridge_chip_find(info->gpu_name) : NULL;
}

/* A range or graph: what its launches have is one value a launch, not one of the whole. */
static void forget_launch(struct facts *facts)
{
    static const ridge_meaning of_launch[] = {RIDGE_MEANING_WAVES,
                                              RIDGE_MEANING_GRID_BLOCKS,
                                              RIDGE_MEANING_BLOCK_THREADS,
                                              RIDGE_MEANING_REGISTERS,
                                              RIDGE_MEANING_SHARED_STATIC_BYTES,
                                              RIDGE_MEANING_SHARED_DYNAMIC_BYTES,
                                              RIDGE_MEANING_SHARED_CONFIG_BYTES,
                                              RIDGE_MEANING_BARRIERS,
                                              RIDGE_MEANING_CLUSTER_SIZE,
                                              RIDGE_MEANING_LIMIT_REGISTERS,
                                              RIDGE_MEANING_LIMIT_SHARED,
                                              RIDGE_MEANING_LIMIT_WARPS,
                                              RIDGE_MEANING_LIMIT_BLOCKS,
                                              RIDGE_MEANING_LIMIT_BARRIERS,
                                              RIDGE_MEANING_OCCUPANCY_THEORETICAL_PCT};
    size_t i;

    for (i = 0; i < sizeof(of_launch) / sizeof(of_launch[0]); i++) {
        facts->value[of_launch[i]] = NAN;
        facts->metric[of_launch[i]] = NULL;
    }
}

static void collect_occupancy(struct facts *facts)
{
    facts->theoretical_pct = VALUE(facts, OCCUPANCY_THEORETICAL_PCT);
    facts->achieved_pct = VALUE(facts, OCCUPANCY_ACHIEVED_PCT);
    facts->launch.threads_per_block = as_int(facts->block_threads);
    facts->launch.registers_per_thread = as_int(VALUE(facts, REGISTERS));
    facts->launch.shared_bytes = as_int(facts->shared_bytes);
    facts->launch.barriers = as_int(VALUE(facts, BARRIERS));
    /* The carve-out that the driver chose is a choice, not the limit: the staircase is that of
     * the largest one. */
    facts->launch.shared_per_sm_bytes = 0;
    if (facts->arch != NULL && facts->launch.threads_per_block > 0 && HAS(facts, REGISTERS))
        (void)ridge_occupancy_of(facts->arch, &facts->launch, &facts->occupancy, NULL);
    if (isnan(facts->theoretical_pct) && facts->occupancy.blocks_per_sm > 0)
        facts->theoretical_pct = facts->occupancy.occupancy_frac * 100;
    facts->waves = VALUE(facts, WAVES);
    if (isnan(facts->waves) && facts->occupancy.blocks_per_sm > 0 && !isnan(facts->sm_count))
        facts->waves = facts->grid_blocks / (facts->sm_count * facts->occupancy.blocks_per_sm);
    facts->tail_frac = ridge_tail_frac(facts->waves);
    facts->busy_sm_frac = facts->active_frac = NAN;
    if (HAS(facts, SM_CYCLES_ACTIVE_AVG) && VALUE(facts, SM_CYCLES_ELAPSED) > 0)
        facts->active_frac = VALUE(facts, SM_CYCLES_ACTIVE_AVG) / VALUE(facts, SM_CYCLES_ELAPSED);
    if (HAS(facts, SM_CYCLES_ACTIVE_AVG) && VALUE(facts, SM_CYCLES_ACTIVE_MAX) > 0)
        facts->busy_sm_frac =
            VALUE(facts, SM_CYCLES_ACTIVE_AVG) / VALUE(facts, SM_CYCLES_ACTIVE_MAX);
}

/* -- memory ------------------------------------------------------------------------------------ */

static double sum_of(const struct facts *facts, ridge_meaning first, ridge_meaning second)
{
    if (isnan(facts->value[first]) && isnan(facts->value[second]))
        return NAN;
    return (isnan(facts->value[first]) ? 0 : facts->value[first]) +
           (isnan(facts->value[second]) ? 0 : facts->value[second]);
}

static double fraction(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

/* The part of a number that is above its ideal; NAN: unknown. */
static double waste(double measured, double ideal)
{
    if (isnan(measured) || isnan(ideal) || measured <= 0)
        return NAN;
    return measured > ideal ? (measured - ideal) / measured : 0;
}

/* What instructions did to the memories: summed over the rows, or as totals where the report holds
 * no rows (the raw page as CSV). */
static void collect_counted(struct facts *facts)
{
    const ridge_profile *const profile = facts->profile;
    struct code_facts *const code = &facts->code;

    facts->wavefronts = VALUE(facts, PROGRAM_WAVEFRONTS);
    facts->wavefronts_ideal = VALUE(facts, PROGRAM_WAVEFRONTS_IDEAL);
    facts->sectors = VALUE(facts, PROGRAM_SECTORS);
    facts->sectors_ideal = VALUE(facts, PROGRAM_SECTORS_IDEAL);
    if ((profile->columns & RIDGE_PROFILE_SHARED) != 0) {
        facts->wavefronts = (double)profile->total.wavefronts;
        facts->wavefronts_ideal = (double)profile->total.wavefronts_ideal;
    }
    if ((profile->columns & RIDGE_PROFILE_SECTORS) != 0) {
        facts->sectors = (double)profile->total.sectors;
        facts->sectors_ideal = (double)profile->total.sectors_ideal;
    }
    if (code->executed == 0 && HAS(facts, GLOBAL_INSTRUCTIONS)) {
        code->executed = as_count(VALUE(facts, INSTRUCTIONS));
        code->global_accesses = as_count(VALUE(facts, GLOBAL_INSTRUCTIONS));
        code->shared_accesses = as_count(VALUE(facts, SHARED_INSTRUCTIONS));
        code->local_accesses = as_count(VALUE(facts, LOCAL_INSTRUCTIONS));
    }
    facts->shared_waste_frac = waste(facts->wavefronts, facts->wavefronts_ideal);
    facts->sector_waste_frac = waste(facts->sectors, facts->sectors_ideal);
    facts->has_shared_counters = !isnan(facts->shared_waste_frac);
    facts->has_sector_counters = !isnan(facts->sector_waste_frac);
}

static void collect_memory(struct facts *facts)
{
    const struct code_facts *const code = &facts->code;
    const double global =
        sum_of(facts, RIDGE_MEANING_GLOBAL_LOAD_SECTORS, RIDGE_MEANING_GLOBAL_STORE_SECTORS);
    const double local =
        sum_of(facts, RIDGE_MEANING_LOCAL_LOAD_SECTORS, RIDGE_MEANING_LOCAL_STORE_SECTORS);

    facts->dram_bytes =
        sum_of(facts, RIDGE_MEANING_DRAM_READ_BYTES, RIDGE_MEANING_DRAM_WRITE_BYTES);
    facts->local_frac = isnan(global) || isnan(local) ? NAN : fraction(local, global + local);
    collect_counted(facts);
    facts->narrow_frac = facts->conversion_frac = facts->atomic_frac = NAN;
    if ((facts->profile->columns & RIDGE_PROFILE_EXECUTED) == 0)
        return; /* totals do not say what the instructions were */
    facts->narrow_frac = fraction((double)code->narrow_accesses, (double)code->global_accesses);
    facts->conversion_frac = fraction((double)code->conversions, (double)code->executed);
    facts->atomic_frac = fraction((double)code->global_atomics,
                                  (double)(code->global_accesses + code->global_atomics));
}

/* Little's law: bytes that must be under way in an SM, and those that are. */
static void collect_in_flight(struct facts *facts)
{
    double bytes_per_s = NAN;
    const double warps = isnan(facts->achieved_pct) || facts->arch == NULL
                             ? NAN
                             : facts->achieved_pct / 100 * facts->arch->warps_per_sm;

    if (HAS(facts, DRAM_PEAK_BYTES_PER_CYCLE) && HAS(facts, DRAM_CLOCK_HZ))
        bytes_per_s = VALUE(facts, DRAM_PEAK_BYTES_PER_CYCLE) * VALUE(facts, DRAM_CLOCK_HZ);
    else if (facts->chip != NULL)
        bytes_per_s = facts->chip->dram_bytes_per_s;
    facts->bytes_needed_per_sm = facts->bytes_available_per_sm = NAN;
    if (isnan(bytes_per_s) || isnan(facts->sm_count) || !HAS(facts, SM_CLOCK_HZ))
        return;
    facts->bytes_needed_per_sm = ridge_bytes_in_flight_per_sm(
        bytes_per_s, VALUE(facts, SM_CLOCK_HZ), (int)facts->sm_count, LATENCY_CYCLES);
    /* What L1 holds already does not wait for device memory. */
    facts->bytes_available_per_sm =
        warps * facts->code.bytes_in_flight_per_warp *
        (HAS(facts, L1_HIT_PCT) ? 1 - fmin(100, VALUE(facts, L1_HIT_PCT)) / 100 : 1);
}

bool facts_has_bytes_in_flight(const struct facts *facts)
{
    return facts->bytes_available_per_sm >= IN_FLIGHT_FRAC * facts->bytes_needed_per_sm;
}

bool facts_is_matrix_kernel(const struct facts *facts)
{
    const struct constituent *const top = facts_top(facts, false, true);

    return top != NULL && VALUE(facts, TENSOR_PCT) >= TENSOR_KERNEL_PCT &&
           VALUE(facts, TENSOR_PCT) >= top->pct - TENSOR_TIE_PCT;
}

/* How much room is left until the busiest unit would be full. Measured kernels went past 0.9 of
 * the peak after the fix (h03 -> h04: L1 at 0.93), so the bound does not stop at a target below
 * it, but for device memory, where 0.92 is what a good copy reaches. */
double facts_headroom(const struct facts *facts, ridge_wall *next)
{
    const struct constituent *const top = facts_top(facts, true, true);

    *next = RIDGE_WALL_UNKNOWN;
    if (top == NULL || top->pct <= 0)
        return NAN;
    *next = top->wall;
    return (top->wall == RIDGE_WALL_DRAM ? DRAM_TARGET_PCT : 100) / top->pct;
}

ridge_status facts_collect(struct facts *facts, const ridge_report *report, size_t kernel_index,
                           const ridge_diagnose_options *options, ridge_arena *arena,
                           ridge_error *err)
{
    ridge_status status;
    size_t i;

    memset(facts, 0, sizeof(*facts));
    facts->arena = arena;
    facts->report = report;
    if (options != NULL)
        facts->options = *options;
    facts->kernel = ridge_report_kernel_at(report, kernel_index);
    if (facts->kernel == NULL)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "there is no launch %zu: the report has %zu", kernel_index,
                          ridge_report_kernel_count(report));
    facts->info = ridge_report_kernel_get_info(facts->kernel);
    status = ridge_profile_create(facts->kernel, &facts->profile, err);
    if (status != RIDGE_OK)
        return status;
    for (i = 0; i < RIDGE_MEANING_COUNT; i++)
        if (!ridge_report_kernel_meaning(facts->kernel, (ridge_meaning)i, &facts->value[i],
                                         &facts->metric[i])) {
            facts->value[i] = NAN;
            facts->metric[i] = NULL;
        }
    facts->is_range = facts->info->kind != RIDGE_RESULT_KERNEL;
    if (facts->is_range)
        forget_launch(facts);
    collect_speeds_of_light(facts);
    code_facts_collect(facts);
    collect_stalls(facts);
    facts->sample_count = HAS(facts, SAMPLES) ? VALUE(facts, SAMPLES)
                          : (facts->profile->columns & RIDGE_PROFILE_SAMPLES) != 0
                              ? (double)facts->profile->total.samples
                              : NAN;
    collect_launch(facts);
    collect_occupancy(facts);
    collect_memory(facts);
    collect_in_flight(facts);
    if (facts->out_of_memory)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    return RIDGE_OK;
}

void facts_release(struct facts *facts)
{
    ridge_profile_free(facts->profile);
    facts->profile = NULL;
}
