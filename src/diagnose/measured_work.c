/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes and operations that a profile counted. The profiler counts thread instructions by kind
 * (a multiply-add is two operations) and operations of the tensor pipe by source type; reports
 * without these counters may hold how often each instruction ran. */
#include "ridge/measured.h"

#include <math.h>
#include <string.h>

#include "ridge/meaning.h"
#include "ridge/profile.h"

#define THREADS "smsp__sass_thread_inst_executed_op_"
#define TENSOR "sm__ops_path_tensor_src_"

/* Operations of a unit: each metric as ".sum", or as ".sum.per_cycle_elapsed" times cycles. */
static const struct counter {
    ridge_peak peak;
    double flop;
    const char *sum, *per_cycle;
} counters[] = {
    {RIDGE_PEAK_FP32, 1, THREADS "fadd_pred_on.sum", THREADS "fadd_pred_on.sum.per_cycle_elapsed"},
    {RIDGE_PEAK_FP32, 1, THREADS "fmul_pred_on.sum", THREADS "fmul_pred_on.sum.per_cycle_elapsed"},
    {RIDGE_PEAK_FP32, 2, THREADS "ffma_pred_on.sum", THREADS "ffma_pred_on.sum.per_cycle_elapsed"},
    {RIDGE_PEAK_FP64, 1, THREADS "dadd_pred_on.sum", THREADS "dadd_pred_on.sum.per_cycle_elapsed"},
    {RIDGE_PEAK_FP64, 1, THREADS "dmul_pred_on.sum", THREADS "dmul_pred_on.sum.per_cycle_elapsed"},
    {RIDGE_PEAK_FP64, 2, THREADS "dfma_pred_on.sum", THREADS "dfma_pred_on.sum.per_cycle_elapsed"},
    {RIDGE_PEAK_TENSOR_FP64, 1, TENSOR "fp64.sum", NULL},
    {RIDGE_PEAK_TENSOR_TF32, 1, TENSOR "tf32_dst_fp32.sum", NULL},
    {RIDGE_PEAK_TENSOR_FP16, 1, TENSOR "fp16.sum", NULL},
    {RIDGE_PEAK_TENSOR_BF16, 1, TENSOR "bf16_dst_fp32.sum", NULL},
    {RIDGE_PEAK_TENSOR_FP8, 1, TENSOR "fp8_sparsity_off.sum", NULL},
    {RIDGE_PEAK_TENSOR_INT8, 1, TENSOR "int8.sum", NULL},
};

/* Operations that a thread does in one instruction. */
static const struct {
    const char *name;
    ridge_peak peak;
    double flop;
} instructions[] = {
    {"FADD", RIDGE_PEAK_FP32, 1},  {"FMUL", RIDGE_PEAK_FP32, 1},  {"FFMA", RIDGE_PEAK_FP32, 2},
    {"HADD2", RIDGE_PEAK_FP32, 2}, {"HMUL2", RIDGE_PEAK_FP32, 2}, {"HFMA2", RIDGE_PEAK_FP32, 4},
    {"DADD", RIDGE_PEAK_FP64, 1},  {"DMUL", RIDGE_PEAK_FP64, 1},  {"DFMA", RIDGE_PEAK_FP64, 2},
};

/* Operations that a warp does: HMMA.16816 multiplies 16 x 8 x 16. */
static const struct {
    const char *start, *type; /* type: a modifier that must be there; NULL: any */
    ridge_peak peak;
    double flop;
} matrix_instructions[] = {
    {"HMMA.16816.", ".BF16", RIDGE_PEAK_TENSOR_BF16, 4096},
    {"HMMA.1688.", ".TF32", RIDGE_PEAK_TENSOR_TF32, 2048},
    {"HMMA.1684.", ".TF32", RIDGE_PEAK_TENSOR_TF32, 1024},
    {"HMMA.1688.", ".BF16", RIDGE_PEAK_TENSOR_BF16, 2048},
    {"HMMA.16816.", NULL, RIDGE_PEAK_TENSOR_FP16, 4096},
    {"HMMA.1688.", NULL, RIDGE_PEAK_TENSOR_FP16, 2048},
    {"DMMA.884", NULL, RIDGE_PEAK_TENSOR_FP64, 512},
    {"DMMA.8x8x4", NULL, RIDGE_PEAK_TENSOR_FP64, 512},
};

static void add(ridge_measured_work *out, ridge_peak peak, double flop_count)
{
    out->flop_count[peak] =
        isnan(out->flop_count[peak]) ? flop_count : out->flop_count[peak] + flop_count;
}

static bool is_tensor(ridge_peak peak)
{
    return peak >= RIDGE_PEAK_TENSOR_FP64;
}

/* Which counters there are: of scalar units, of tensor units. */
static void read_counters(const ridge_report_kernel *kernel, ridge_measured_work *out,
                          bool *has_scalar, bool *has_tensor)
{
    double cycles = NAN;
    size_t i;

    if (!ridge_report_kernel_number(kernel, "smsp__cycles_elapsed.avg", &cycles))
        ridge_report_kernel_meaning(kernel, RIDGE_MEANING_SM_CYCLES_ELAPSED, &cycles, NULL);
    for (i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
        const struct counter *const counter = &counters[i];
        double number = NAN;

        if (!ridge_report_kernel_number(kernel, counter->sum, &number) &&
            counter->per_cycle != NULL &&
            ridge_report_kernel_number(kernel, counter->per_cycle, &number))
            number *= cycles;
        if (isnan(number))
            continue;
        add(out, counter->peak, number * counter->flop);
        if (is_tensor(counter->peak))
            *has_tensor = true;
        else
            *has_scalar = true;
    }
}

/* False for a product of matrices that has no row. */
static bool count_matrix(const ridge_instruction *row, ridge_measured_work *out)
{
    size_t i;

    for (i = 0; i < sizeof(matrix_instructions) / sizeof(matrix_instructions[0]); i++) {
        const char *const start = matrix_instructions[i].start;
        const char *const type = matrix_instructions[i].type;

        if (strncmp(row->sass.text, start, strlen(start)) != 0 ||
            (type != NULL && strstr(row->sass.text, type) == NULL))
            continue;
        add(out, matrix_instructions[i].peak, (double)row->executed * matrix_instructions[i].flop);
        return true;
    }
    return false;
}

/* Packed instructions that only move: HFMA2 of RZ loads a constant, HADD2.F32 widens a half. */
static bool only_moves(const ridge_sass *sass)
{
    size_t i;

    if (sass->name[0] != 'H')
        return false;
    for (i = 0; i < RIDGE_SASS_SOURCES; i++)
        if (sass->source[i].count > 0)
            return strncmp(sass->text, "HADD2.F32", 9) == 0;
    return true;
}

static void count_scalar(const ridge_instruction *row, ridge_measured_work *out)
{
    size_t i;

    if (only_moves(&row->sass))
        return;
    for (i = 0; i < sizeof(instructions) / sizeof(instructions[0]); i++)
        if (strcmp(row->sass.name, instructions[i].name) == 0)
            add(out, instructions[i].peak, (double)row->threads_on * instructions[i].flop);
}

/* From the instructions, what the counters left open. */
static ridge_status count_instructions(const ridge_report_kernel *kernel, ridge_measured_work *out,
                                       bool *has_scalar, bool *has_tensor, ridge_error *err)
{
    const bool wants_scalar = !*has_scalar, wants_tensor = !*has_tensor;
    ridge_profile *profile;
    bool knows_all = true;
    size_t i;
    const ridge_status status = ridge_profile_create(kernel, &profile, err);

    if (status != RIDGE_OK)
        return status;
    if ((profile->columns & RIDGE_PROFILE_OPCODES) != 0 &&
        (profile->columns & RIDGE_PROFILE_EXECUTED) != 0) {
        for (i = 0; i < profile->row_count; i++) {
            const ridge_instruction *const row = &profile->rows[i];

            if (row->executed == 0 || row->sass.name == NULL)
                continue;
            if (row->sass.cls == RIDGE_SASS_TENSOR && wants_tensor)
                knows_all = count_matrix(row, out) && knows_all;
            else if (wants_scalar && (profile->columns & RIDGE_PROFILE_THREADS) != 0)
                count_scalar(row, out);
        }
        *has_tensor = *has_tensor || knows_all;
        *has_scalar = *has_scalar || (profile->columns & RIDGE_PROFILE_THREADS) != 0;
    }
    ridge_profile_free(profile);
    return RIDGE_OK;
}

static double meaning(const ridge_report_kernel *kernel, ridge_meaning what)
{
    double value;

    return ridge_report_kernel_meaning(kernel, what, &value, NULL) ? value : (double)NAN;
}

ridge_status ridge_measured_work_of(const ridge_report_kernel *kernel, ridge_measured_work *out,
                                    ridge_error *err)
{
    bool has_scalar = false, has_tensor = false;
    ridge_status status = RIDGE_OK;
    double most = 0;
    size_t i;

    memset(out, 0, sizeof(*out));
    for (i = 0; i < RIDGE_PEAK_COUNT; i++)
        out->flop_count[i] = NAN;
    out->duration_s = ridge_report_kernel_get_info(kernel)->duration_ns / 1e9;
    out->dram_read_bytes = meaning(kernel, RIDGE_MEANING_DRAM_READ_BYTES);
    out->dram_written_bytes = meaning(kernel, RIDGE_MEANING_DRAM_WRITE_BYTES);
    read_counters(kernel, out, &has_scalar, &has_tensor);
    /* A tensor pipe that did nothing needs no counter of its operations. */
    if (!has_tensor && meaning(kernel, RIDGE_MEANING_TENSOR_PCT) == 0)
        has_tensor = true;
    if (!has_scalar || !has_tensor)
        status = count_instructions(kernel, out, &has_scalar, &has_tensor, err);
    out->is_complete = has_scalar && has_tensor;
    for (i = 0; i < RIDGE_PEAK_COUNT; i++) {
        if (out->flop_count[i] > most) {
            most = out->flop_count[i];
            out->peak = (ridge_peak)i;
        }
    }
    if (!out->is_complete)
        out->peak = RIDGE_PEAK_NONE;
    return status;
}
