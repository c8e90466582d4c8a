/* SPDX-License-Identifier: Apache-2.0
 *
 * What the back ends of rms_norm share. */
#ifndef RMS_NORM_INTERNAL_H
#define RMS_NORM_INTERNAL_H

#include "ridge/family.h"

#define RMS_NORM_EPS 1e-5F

enum { RMS_NORM_X, RMS_NORM_WEIGHT, RMS_NORM_OUT, RMS_NORM_BUFFERS };

/* One call after its arguments were checked. Strides in elements, any sign; out's are not 0 where
 * its extent is above 1. out may be x. */
typedef struct rms_norm_problem {
    const void *x, *weight;
    void *out;
    int64_t rows, n;
    int64_t x_row, x_column, weight_column, out_row, out_column;
    ridge_dtype dtype;
    float eps;
} rms_norm_problem;

/* How a GPU variant is launched: what plan functions fill in. */
typedef struct rms_norm_plan {
    unsigned grid, block;
} rms_norm_plan;

/* rms_norm.c */
void rms_norm_gpu_code(const void **bytes, size_t *size_bytes);
ridge_status rms_norm_describe(const ridge_kernel *self, const ridge_case *at,
                               ridge_buffer_desc *buffers, size_t *count, ridge_error *err);
ridge_status rms_norm_problem_of(const ridge_view *view, rms_norm_problem *out, ridge_error *err);

/* rms_norm_model.c */
ridge_status rms_norm_work(const ridge_kernel *self, const ridge_case *at, ridge_kernel_work *out,
                           ridge_error *err);

/* rms_norm_ref.c */
ridge_status rms_norm_reference(const ridge_kernel *self, const ridge_case *at,
                                const ridge_reference_view *view, ridge_error *err);
ridge_status rms_norm_plain(const ridge_kernel *self, const ridge_case *at,
                            const ridge_reference_view *view, ridge_error *err);
extern const ridge_kernel rms_norm_ref;

/* rms_norm_cpu.c */
extern const ridge_kernel rms_norm_cpu;

/* rms_norm_cuda.c */
extern const ridge_kernel rms_norm_row_per_warp, rms_norm_row_per_block;
/* Pure: RIDGE_ERR_UNSUPPORTED or _MISALIGNED says why the variant does not take the problem. */
ridge_status rms_norm_plan_row_per_warp(const rms_norm_problem *problem, rms_norm_plan *out,
                                        ridge_error *err);
ridge_status rms_norm_plan_row_per_block(const rms_norm_problem *problem, rms_norm_plan *out,
                                         ridge_error *err);

/* rms_norm_cases.c */
extern const ridge_dtype rms_norm_dtypes[];
enum { RMS_NORM_DTYPES = 3 };

/* What every variant has. */
#define RMS_NORM_KERNEL(variant, prepare_function, launch_function)                                \
    {                                                                                              \
        .struct_size = sizeof(ridge_kernel), .name = #variant, .describe = rms_norm_describe,      \
        .work = rms_norm_work, .prepare = (prepare_function), .launch = (launch_function),         \
        .reference = rms_norm_reference, .plain = rms_norm_plain, .row_axis = "m",                 \
    }

#endif
