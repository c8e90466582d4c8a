/* SPDX-License-Identifier: Apache-2.0
 *
 * A plug-in: a shared library whose kernels ridge checks and measures as it does its own.
 *
 *     cc -O3 -shared -fPIC -I include -o rms_norm_plugin.so examples/plugin/rms_norm_plugin.c -lm
 *     ridge check ./rms_norm_plugin.so:rms_norm --device cpu
 *     ridge check ./rms_norm_plugin.so:rms_norm --device cpu --case m=64,n=769
 *     ridge bench ./rms_norm_plugin.so:rms_norm --device cpu --sweep m=1024,n=5120
 *
 * It includes ridge/family.h and links nothing of ridge. To write one:
 *
 *  1. describe() says which buffers the kernel wants for a case; ridge allocates, fills, guards and
 *     rotates them. Strides that are left 0 are the case's layout: what the harness filled in is in
 *     the view.
 *  2. launch() does the work: here at once, since the CPU has no stream. A plug-in for the GPU
 *     launches its kernel on the stream (a cudaStream_t) and returns; it neither allocates nor
 *     synchronises.
 *  3. reference() is the right answer in double, as plainly as it can be written, and for each output
 *     the sum of the magnitudes that were added: from that comes the bound of the rounding error.
 *  4. work() is what has to be moved and computed at least.
 *  5. default_case names the axes, dtypes the types, and tile the extent around which edges lie: from
 *     those ridge draws the cases that it checks.
 *
 * A case that the kernel does not take is refused with RIDGE_ERR_UNSUPPORTED.
 *
 *     out[i][j] = x[i][j] / sqrt(mean over j of x[i][j]^2 + eps) * w[j] */
#include <math.h>
#include <string.h>

#include "ridge/family.h"

static const double eps = 1e-6;

enum { OUT, X, W, BUFFER_COUNT };

static ridge_buffer_desc buffer(const char *name, ridge_role role, int ndim, int64_t rows,
                                int64_t columns)
{
    ridge_buffer_desc out = {.role = role, .dtype = RIDGE_DTYPE_F32, .ndim = ndim};

    memcpy(out.name, name, strlen(name) + 1);
    out.shape[0] = ndim == 2 ? rows : columns;
    out.shape[1] = ndim == 2 ? columns : 0;
    return out;
}

static ridge_status describe(const ridge_kernel *self, const ridge_case *at,
                             ridge_buffer_desc *buffers, size_t *count, ridge_error *err)
{
    const int64_t m = ridge_case_axis(at, "m", 64), n = ridge_case_axis(at, "n", 1024);

    (void)self;
    if (at->dtype != RIDGE_DTYPE_F32) {
        if (err != NULL) {
            err->status = RIDGE_ERR_UNSUPPORTED;
            strcpy(err->text, "this plug-in takes f32 only");
        }
        return RIDGE_ERR_UNSUPPORTED;
    }
    buffers[OUT] = buffer("out", RIDGE_ROLE_OUT, 2, m, n);
    buffers[X] = buffer("x", RIDGE_ROLE_IN, 2, m, n);
    buffers[W] = buffer("w", RIDGE_ROLE_IN, 1, 0, n);
    buffers[W].keeps_layout = true;
    *count = BUFFER_COUNT;
    return RIDGE_OK;
}

static ridge_status work(const ridge_kernel *self, const ridge_case *at, ridge_kernel_work *out,
                         ridge_error *err)
{
    const double m = (double)ridge_case_axis(at, "m", 64);
    const double n = (double)ridge_case_axis(at, "n", 1024);

    (void)self;
    (void)err;
    out->flop_count = 4 * m * n;
    out->read_bytes = 4 * (m * n + n);
    out->written_bytes = 4 * m * n;
    out->accumulate_length = (int64_t)n + 4; /* and the mean, eps, root and two products behind */
    return RIDGE_OK;
}

static ridge_status launch(const ridge_kernel *self, const ridge_case *at, const ridge_view *view,
                           void *state, struct CUstream_st *stream, ridge_error *err)
{
    const int64_t *const to = view->buffers[OUT].stride, *const from = view->buffers[X].stride;
    const int64_t m = view->buffers[X].shape[0], n = view->buffers[X].shape[1];
    const float *const w = view->data[W];

    (void)self;
    (void)at;
    (void)state;
    (void)stream;
    (void)err;
    for (int64_t i = 0; i < m; i++) {
        const float *const x = (const float *)view->data[X] + i * from[0];
        float *const out = (float *)view->data[OUT] + i * to[0];
        float sum = 0, scale;

        for (int64_t j = 0; j < n; j++)
            sum += x[j * from[1]] * x[j * from[1]];
        scale = 1 / sqrtf(sum / (float)n + (float)eps);
        for (int64_t j = 0; j < n; j++)
            out[j * to[1]] = x[j * from[1]] * scale * w[j];
    }
    return RIDGE_OK;
}

static ridge_status reference(const ridge_kernel *self, const ridge_case *at,
                              const ridge_reference_view *view, ridge_error *err)
{
    const int64_t m = view->buffers[X].shape[0], n = view->buffers[X].shape[1];

    (void)self;
    (void)at;
    (void)err;
    for (int64_t i = 0; i < m; i++) {
        const double *const x = view->in[X] + i * n;
        double sum = 0, scale;

        for (int64_t j = 0; j < n; j++)
            sum += x[j] * x[j];
        scale = 1 / sqrt(sum / (double)n + eps);
        for (int64_t j = 0; j < n; j++) {
            view->out[OUT][i * n + j] = x[j] * scale * view->in[W][j];
            /* All that is added has one sign, so the magnitude of the result is its own. */
            if (view->magnitude != NULL && view->magnitude[OUT] != NULL)
                view->magnitude[OUT][i * n + j] = fabs(view->out[OUT][i * n + j]);
        }
    }
    return RIDGE_OK;
}

static const ridge_dtype dtypes[] = {RIDGE_DTYPE_F32};

static const ridge_case default_case = {
    .struct_size = sizeof(ridge_case),
    .axes = {{"m", 64}, {"n", 1024}},
    .axis_count = 2,
    .dtype = RIDGE_DTYPE_F32,
    .seed = 1,
};

static const ridge_kernel rms_norm = {
    .struct_size = sizeof(ridge_kernel),
    .name = "rms_norm",
    .describe = describe,
    .work = work,
    .launch = launch,
    .reference = reference,
    .row_axis = "m",
    .default_case = &default_case,
    .dtypes = dtypes,
    .dtype_count = sizeof(dtypes) / sizeof(dtypes[0]),
};

const ridge_kernel *ridge_plugin(int abi, size_t index)
{
    return abi == RIDGE_PLUGIN_ABI && index == 0 ? &rms_norm : NULL;
}
