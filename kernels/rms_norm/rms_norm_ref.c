/* SPDX-License-Identifier: Apache-2.0
 *
 * The right answer: plain loops in double over what is stored. `ref` is the same as a kernel, so
 * that the harness itself can be tried on something that cannot be wrong; it shares no index
 * arithmetic with the other back ends. */
#include <math.h>

#include "common/gpu_code.h"
#include "rms_norm_internal.h"

ridge_status rms_norm_reference(const ridge_kernel *self, const ridge_case *at,
                                const ridge_reference_view *view, ridge_error *err)
{
    const int64_t m = view->buffers[RMS_NORM_X].shape[0], n = view->buffers[RMS_NORM_X].shape[1];
    const double *const weight = view->in[RMS_NORM_WEIGHT];
    int64_t row, i;

    (void)self;
    (void)at;
    (void)err;
    for (row = 0; row < m; row++) {
        const double *const x = view->in[RMS_NORM_X] + row * n;
        double *const out = view->out[RMS_NORM_OUT] + row * n;
        double sum = 0, scale;

        for (i = 0; i < n; i++)
            sum += x[i] * x[i];
        scale = 1 / sqrt(sum / (double)n + (double)RMS_NORM_EPS);
        for (i = 0; i < n; i++)
            out[i] = x[i] * scale * weight[i];
    }
    return RIDGE_OK;
}

/* As LlamaRMSNorm writes it: float sums one after the other, and the normalised row rounded to the
 * type of the tensors before the weight is applied. */
ridge_status rms_norm_plain(const ridge_kernel *self, const ridge_case *at,
                            const ridge_reference_view *view, ridge_error *err)
{
    const int64_t m = view->buffers[RMS_NORM_X].shape[0], n = view->buffers[RMS_NORM_X].shape[1];
    const double *const weight = view->in[RMS_NORM_WEIGHT];
    const ridge_dtype dtype = view->buffers[RMS_NORM_X].dtype;
    int64_t row, i;

    (void)self;
    (void)at;
    (void)err;
    for (row = 0; row < m; row++) {
        const double *const x = view->in[RMS_NORM_X] + row * n;
        double *const out = view->out[RMS_NORM_OUT] + row * n;
        float sum = 0, scale;

        for (i = 0; i < n; i++)
            sum += (float)x[i] * (float)x[i];
        scale = 1 / sqrtf(sum / (float)n + RMS_NORM_EPS);
        for (i = 0; i < n; i++) {
            const double normal = ridge_dtype_round(dtype, (double)((float)x[i] * scale));

            out[i] = ridge_dtype_round(dtype, (double)((float)normal * (float)weight[i]));
        }
    }
    return RIDGE_OK;
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
    int64_t row, i;
    ridge_status status = prepare(self, at, view, &state, stream, err);

    if (status == RIDGE_OK)
        status = rms_norm_problem_of(view, &problem, err);
    if (status != RIDGE_OK)
        return status;

    for (row = 0; row < problem.rows; row++) {
        double sum = 0, scale;

        for (i = 0; i < problem.n; i++) {
            const double x = ridge_dtype_load(problem.dtype, problem.x,
                                              row * problem.x_row + i * problem.x_column);
            sum += x * x;
        }
        scale = 1 / sqrt(sum / (double)problem.n + (double)problem.eps);
        for (i = 0; i < problem.n; i++) {
            const double x = ridge_dtype_load(problem.dtype, problem.x,
                                              row * problem.x_row + i * problem.x_column);
            const double weight =
                ridge_dtype_load(problem.dtype, problem.weight, i * problem.weight_column);

            ridge_dtype_store(problem.dtype, problem.out,
                              row * problem.out_row + i * problem.out_column, x * scale * weight);
        }
    }
    return RIDGE_OK;
}

const ridge_kernel rms_norm_ref = RMS_NORM_KERNEL(ref, prepare, launch);
