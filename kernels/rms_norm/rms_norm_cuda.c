/* SPDX-License-Identifier: Apache-2.0
 *
 * Launchers of the GPU variants. A plan is a pure function of the problem: it says how the variant
 * is launched or why it does not take the problem. */
#include <stdio.h>

#include "common/gpu_code.h"
#include "rms_norm_image.h"
#include "rms_norm_internal.h"

void rms_norm_gpu_code(const void **bytes, size_t *size_bytes)
{
    *bytes = rms_norm_image;
    *size_bytes = rms_norm_image_bytes;
}

enum { BLOCK_THREADS = 256, WARP_ROWS = 4, WARP_THREADS = 32, VECTOR_BYTES = 16 };

/* Blocks of grid.x on every GPU since sm_30 (CUDA C++ Programming Guide, compute capabilities). */
#define GRID_MOST INT64_C(0x7FFFFFFF)

ridge_status rms_norm_plan_row_per_block(const rms_norm_problem *problem, rms_norm_plan *out,
                                         ridge_error *err)
{
    *out = (rms_norm_plan){0};
    if (problem->rows > GRID_MOST)
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "row_per_block: %lld rows, a grid has at most %lld blocks",
                          (long long)problem->rows, (long long)GRID_MOST);
    *out = (rms_norm_plan){.grid = (unsigned)problem->rows, .block = BLOCK_THREADS};
    return RIDGE_OK;
}

static bool is_vector_stride(int64_t elements, size_t element_bytes)
{
    return elements * (int64_t)element_bytes % VECTOR_BYTES == 0;
}

ridge_status rms_norm_plan_row_per_warp(const rms_norm_problem *problem, rms_norm_plan *out,
                                        ridge_error *err)
{
    const size_t bytes = ridge_dtype_bytes(problem->dtype);
    const uintptr_t addresses =
        (uintptr_t)problem->x | (uintptr_t)problem->weight | (uintptr_t)problem->out;
    const int64_t blocks = problem->rows / WARP_ROWS + (problem->rows % WARP_ROWS != 0);

    *out = (rms_norm_plan){0};
    if (problem->n > 1 &&
        (problem->x_column != 1 || problem->out_column != 1 || problem->weight_column != 1))
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "row_per_warp: elements of a row are %lld and %lld apart, not 1",
                          (long long)problem->x_column, (long long)problem->out_column);
    if (!is_vector_stride(problem->n, bytes) ||
        (problem->rows > 1 &&
         (!is_vector_stride(problem->x_row, bytes) || !is_vector_stride(problem->out_row, bytes))))
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "row_per_warp: rows of %lld elements, %lld and %lld apart, are not whole "
                          "vectors of %d bytes",
                          (long long)problem->n, (long long)problem->x_row,
                          (long long)problem->out_row, VECTOR_BYTES);
    if (addresses % VECTOR_BYTES != 0)
        return ridge_fail(err, RIDGE_ERR_MISALIGNED,
                          "row_per_warp: a tensor does not begin at a multiple of %d bytes",
                          VECTOR_BYTES);
    if (blocks > GRID_MOST)
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "row_per_warp: %lld rows, a grid takes at most %lld",
                          (long long)problem->rows, (long long)(GRID_MOST * WARP_ROWS));
    *out = (rms_norm_plan){.grid = (unsigned)blocks, .block = WARP_ROWS * WARP_THREADS};
    return RIDGE_OK;
}

typedef ridge_status (*plan_function)(const rms_norm_problem *problem, rms_norm_plan *out,
                                      ridge_error *err);

static ridge_status plan_of(const ridge_kernel *self, const ridge_view *view, plan_function plan,
                            rms_norm_problem *problem, rms_norm_plan *out, ridge_error *err)
{
    ridge_status status = gpu_code_expect(view, RIDGE_DEVICE_CUDA, self->name, err);

    if (status == RIDGE_OK)
        status = rms_norm_problem_of(view, problem, err);
    if (status == RIDGE_OK)
        status = plan(problem, out, err);
    return status;
}

/* The state is the function, borrowed from the device. */
static ridge_status prepare(const ridge_kernel *self, const ridge_view *view, plan_function plan,
                            void **state, ridge_error *err)
{
    const gpu_code code = {rms_norm_image, rms_norm_image_bytes};
    rms_norm_problem problem;
    rms_norm_plan planned;
    ridge_gpu_function *function = NULL;
    char name[80];
    ridge_status status = plan_of(self, view, plan, &problem, &planned, err);

    *state = NULL;
    if (status != RIDGE_OK)
        return status;
    snprintf(name, sizeof(name), "rms_norm_%s_%s", self->name, ridge_dtype_name(problem.dtype));
    status = gpu_code_function(view, &code, name, &function, err);
    *state = function;
    return status;
}

static ridge_status launch(ridge_gpu_function *function, const rms_norm_problem *problem,
                           const rms_norm_plan *plan, void *const *parameters,
                           struct CUstream_st *stream, ridge_error *err)
{
    const ridge_gpu_launch shape = {.grid = {plan->grid, 1, 1}, .block = {plan->block, 1, 1}};

    if (problem->rows == 0 || problem->n == 0)
        return RIDGE_OK;
    return ridge_gpu_function_launch(function, &shape, parameters, stream, err);
}

static ridge_status prepare_row_per_block(const ridge_kernel *self, const ridge_case *at,
                                          const ridge_view *view, void **state,
                                          struct CUstream_st *stream, ridge_error *err)
{
    (void)at;
    (void)stream;
    return prepare(self, view, rms_norm_plan_row_per_block, state, err);
}

static ridge_status launch_row_per_block(const ridge_kernel *self, const ridge_case *at,
                                         const ridge_view *view, void *state,
                                         struct CUstream_st *stream, ridge_error *err)
{
    rms_norm_problem p;
    rms_norm_plan plan;
    void *const parameters[] = {&p.x,        &p.weight,        &p.out,     &p.n,          &p.x_row,
                                &p.x_column, &p.weight_column, &p.out_row, &p.out_column, &p.eps};
    const ridge_status status = plan_of(self, view, rms_norm_plan_row_per_block, &p, &plan, err);

    (void)at;
    return status == RIDGE_OK ? launch(state, &p, &plan, parameters, stream, err) : status;
}

const ridge_kernel rms_norm_row_per_block =
    RMS_NORM_KERNEL(row_per_block, prepare_row_per_block, launch_row_per_block);

static ridge_status prepare_row_per_warp(const ridge_kernel *self, const ridge_case *at,
                                         const ridge_view *view, void **state,
                                         struct CUstream_st *stream, ridge_error *err)
{
    (void)at;
    (void)stream;
    return prepare(self, view, rms_norm_plan_row_per_warp, state, err);
}

static ridge_status launch_row_per_warp(const ridge_kernel *self, const ridge_case *at,
                                        const ridge_view *view, void *state,
                                        struct CUstream_st *stream, ridge_error *err)
{
    rms_norm_problem p;
    rms_norm_plan plan;
    void *const parameters[] = {&p.x, &p.weight, &p.out,     &p.rows,
                                &p.n, &p.x_row,  &p.out_row, &p.eps};
    const ridge_status status = plan_of(self, view, rms_norm_plan_row_per_warp, &p, &plan, err);

    (void)at;
    return status == RIDGE_OK ? launch(state, &p, &plan, parameters, stream, err) : status;
}

const ridge_kernel rms_norm_row_per_warp =
    RMS_NORM_KERNEL(row_per_warp, prepare_row_per_warp, launch_row_per_warp);
