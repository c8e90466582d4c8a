/* SPDX-License-Identifier: Apache-2.0
 *
 * One thread, a row at a time in blocks of floats: conversion and arithmetic are separate loops
 * over a block, which compilers vectorise, and only conversion knows the type. The squares of a
 * block have 16 partial sums in a fixed order, so the result does not depend on the width of the
 * machine's vectors; blocks are added in double, since in one long float chain equal values err to
 * the same side (60588 of them: 120 units of 2^-24). */
#include <math.h>

#include "common/gpu_code.h"
#include "common/half.h"
#include "rms_norm_internal.h"

enum { BLOCK = 512, LANES = 16 };

#define LOAD_LOOP(type, convert)                                                                   \
    do {                                                                                           \
        const type *const from = (const type *)base + offset;                                      \
        int64_t at;                                                                                \
                                                                                                   \
        for (at = 0; at < count; at++)                                                             \
            to[at] = convert(from[at * stride]);                                                   \
    } while (0)

#define STORE_LOOP(type, convert)                                                                  \
    do {                                                                                           \
        type *const to = (type *)base + offset;                                                    \
        int64_t at;                                                                                \
                                                                                                   \
        for (at = 0; at < count; at++)                                                             \
            to[at * stride] = convert(from[at]);                                                   \
    } while (0)

/* Elements offset, offset + stride, ... of an array as floats. */
static void load(ridge_dtype dtype, const void *base, int64_t offset, int64_t stride, int64_t count,
                 float *to)
{
    if (dtype == RIDGE_DTYPE_BF16)
        LOAD_LOOP(uint16_t, half_from_bf16);
    else if (dtype == RIDGE_DTYPE_F16)
        LOAD_LOOP(uint16_t, half_from_f16);
    else
        LOAD_LOOP(float, (float));
}

static void store(ridge_dtype dtype, void *base, int64_t offset, int64_t stride, int64_t count,
                  const float *from)
{
    if (dtype == RIDGE_DTYPE_BF16)
        STORE_LOOP(uint16_t, half_to_bf16);
    else if (dtype == RIDGE_DTYPE_F16)
        STORE_LOOP(uint16_t, half_to_f16);
    else
        STORE_LOOP(float, (float));
}

static int64_t block_at(int64_t first, int64_t n)
{
    return n - first < BLOCK ? n - first : BLOCK;
}

static float sum_of_squares(const float *block, int64_t count)
{
    float sums[LANES] = {0}, sum = 0;
    int64_t i;
    int lane;

    for (i = 0; i + LANES <= count; i += LANES)
        for (lane = 0; lane < LANES; lane++)
            sums[lane] += block[i + lane] * block[i + lane];
    for (; i < count; i++)
        sums[i % LANES] += block[i] * block[i];
    for (lane = 0; lane < LANES; lane++)
        sum += sums[lane];
    return sum;
}

static float scale_of_row(const rms_norm_problem *problem, int64_t row)
{
    float block[BLOCK];
    double sum = 0;
    int64_t first;

    for (first = 0; first < problem->n; first += BLOCK) {
        const int64_t count = block_at(first, problem->n);

        load(problem->dtype, problem->x, row * problem->x_row + first * problem->x_column,
             problem->x_column, count, block);
        sum += (double)sum_of_squares(block, count);
    }
    return (float)(1 / sqrt(sum / (double)problem->n + (double)problem->eps));
}

/* Each block of x is read before the same block of out is written: in place is safe. */
static void normalize_row(const rms_norm_problem *problem, int64_t row)
{
    const float scale = scale_of_row(problem, row);
    float block[BLOCK], weight[BLOCK];
    int64_t first, i;

    for (first = 0; first < problem->n; first += BLOCK) {
        const int64_t count = block_at(first, problem->n);

        load(problem->dtype, problem->x, row * problem->x_row + first * problem->x_column,
             problem->x_column, count, block);
        load(problem->dtype, problem->weight, first * problem->weight_column,
             problem->weight_column, count, weight);
        for (i = 0; i < count; i++)
            block[i] = block[i] * scale * weight[i];
        store(problem->dtype, problem->out, row * problem->out_row + first * problem->out_column,
              problem->out_column, count, block);
    }
}

static ridge_status prepare(const ridge_kernel *self, const ridge_case *at, const ridge_view *view,
                            void **state, struct CUstream_st *stream, ridge_error *err)
{
    (void)at;
    (void)stream;
    *state = NULL;
    return gpu_code_expect(view, RIDGE_DEVICE_CPU, self->name, err);
}

static ridge_status launch(const ridge_kernel *self, const ridge_case *at, const ridge_view *view,
                           void *state, struct CUstream_st *stream, ridge_error *err)
{
    rms_norm_problem problem;
    int64_t row;
    ridge_status status = prepare(self, at, view, &state, stream, err);

    if (status == RIDGE_OK)
        status = rms_norm_problem_of(view, &problem, err);
    if (status != RIDGE_OK)
        return status;
    for (row = 0; row < problem.rows; row++)
        normalize_row(&problem, row);
    return RIDGE_OK;
}

const ridge_kernel rms_norm_cpu = RMS_NORM_KERNEL(cpu, prepare, launch);
