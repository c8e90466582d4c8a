/* SPDX-License-Identifier: Apache-2.0
 *
 * Plug-ins for tests of the harness, one source for both devices: as C it makes the form for the
 * CPU device, through nvcc (-x cu) the form for a GPU, where each output element has a thread. Both
 * do the same arithmetic in the same order, so the harness has to say the same about both.
 *
 * All operations are on f32 tensors of two axes, m and n, with any strides:
 *     MATMUL   out = a x b          a: m, k   b: k, n
 *     COPY     out = 2 a            a: m, n
 *     SOFTMAX  out = softmax of the first lengths[row] elements of a row, 0 behind them and 0 in a
 *              row of length 0      a: m, n   lengths: m */
#ifndef RIDGE_TESTS_PLUGIN_H
#define RIDGE_TESTS_PLUGIN_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ridge/family.h"

#ifdef __CUDACC__
#define PLUGIN_BOTH static inline __host__ __device__
#else
#define PLUGIN_BOTH static inline
#endif

enum { PLUGIN_KERNELS = 64 };

typedef enum plugin_op { PLUGIN_MATMUL, PLUGIN_COPY, PLUGIN_SOFTMAX } plugin_op;

/* One launch. */
typedef struct plugin_problem {
    plugin_op op;
    int variant; /* of the plug-in: which mistake */
    int64_t m, n, k;
    const float *a, *b;
    const int32_t *lengths;
    float *out;
    int64_t a_row, a_column, b_row, b_column, out_row, out_column;
    unsigned call; /* launches before this one */
} plugin_problem;

PLUGIN_BOTH float plugin_a(const plugin_problem *p, int64_t row, int64_t column)
{
    return p->a[row * p->a_row + column * p->a_column];
}

PLUGIN_BOTH float plugin_b(const plugin_problem *p, int64_t row, int64_t column)
{
    return p->b[row * p->b_row + column * p->b_column];
}

/* Sum over k of [first, last). */
PLUGIN_BOTH float plugin_dot(const plugin_problem *p, int64_t row, int64_t column, int64_t first,
                             int64_t last)
{
    float sum = 0;
    int64_t i;

    for (i = first; i < last; i++)
        sum += plugin_a(p, row, i) * plugin_b(p, i, column);
    return sum;
}

PLUGIN_BOTH float plugin_softmax(const plugin_problem *p, int64_t row, int64_t column,
                                 int64_t length)
{
    float most = -INFINITY, sum = 0;
    int64_t i;

    if (column >= length)
        return 0;
    for (i = 0; i < length; i++)
        most = fmaxf(most, plugin_a(p, row, i));
    for (i = 0; i < length; i++)
        sum += expf(plugin_a(p, row, i) - most);
    return expf(plugin_a(p, row, column) - most) / sum;
}

/* The right value of an element. */
PLUGIN_BOTH float plugin_right(const plugin_problem *p, int64_t row, int64_t column)
{
    if (p->op == PLUGIN_COPY)
        return 2 * plugin_a(p, row, column);
    if (p->op == PLUGIN_SOFTMAX)
        return plugin_softmax(p, row, column, p->lengths[row]);
    return plugin_dot(p, row, column, 0, p->k);
}

/* To nearest even, to a significand of so many bits. A GPU would fuse the product into the outer
 * difference, which then is exact: nothing would be rounded. */
PLUGIN_BOTH float plugin_round(float value, int bits)
{
#ifdef __CUDA_ARCH__
    const float big = __fmul_rn(value, (float)((1 << (24 - bits)) + 1));
#else
    const float big = value * (float)((1 << (24 - bits)) + 1);
#endif

    return big - (big - value);
}

/* The plug-in's: true, and the value that it writes to an element; false: it does not write. */
PLUGIN_BOTH bool plugin_element(const plugin_problem *p, int64_t row, int64_t column, float *out);

PLUGIN_BOTH void plugin_write(const plugin_problem *p, int64_t index)
{
    const int64_t row = index / p->n, column = index % p->n;
    float value;

    if (plugin_element(p, row, column, &value))
        p->out[row * p->out_row + column * p->out_column] = value;
}

#ifdef __CUDACC__
static __global__ void plugin_kernel(plugin_problem p)
{
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;

    if (index < p.m * p.n)
        plugin_write(&p, index);
}

static __global__ void plugin_copy_kernel(float *to, const float *from, int64_t count)
{
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;

    if (index < count)
        to[index] = from[index];
}
#endif

/* -- host -------------------------------------------------------------------------------------- */

/* A plug-in links nothing of ridge, so it writes its own errors. */
static inline ridge_status plugin_fail(ridge_error *err, ridge_status status, const char *text)
{
    if (err != NULL) {
        err->status = status;
        snprintf(err->text, sizeof(err->text), "%s", text);
    }
    return status;
}

#ifdef __CUDACC__
static inline ridge_status plugin_launched(ridge_error *err)
{
    const cudaError_t error = cudaPeekAtLastError();

    return error == cudaSuccess ? RIDGE_OK
                                : plugin_fail(err, RIDGE_ERR_CUDA, cudaGetErrorString(error));
}
#endif

static inline ridge_status plugin_run(const plugin_problem *p, struct CUstream_st *stream,
                                      ridge_error *err)
{
    const int64_t count = p->m * p->n;
#ifdef __CUDACC__
    if (count == 0)
        return RIDGE_OK;
    plugin_kernel<<<static_cast<unsigned>((count + 127) / 128), 128, 0, stream>>>(*p);
    return plugin_launched(err);
#else
    int64_t index;

    (void)stream;
    (void)err;
    for (index = 0; index < count; index++)
        plugin_write(p, index);
    return RIDGE_OK;
#endif
}

static inline ridge_status plugin_copy(float *to, const float *from, int64_t count,
                                       struct CUstream_st *stream, ridge_error *err)
{
#ifdef __CUDACC__
    plugin_copy_kernel<<<static_cast<unsigned>((count + 127) / 128), 128, 0, stream>>>(to, from,
                                                                                       count);
    return plugin_launched(err);
#else
    (void)stream;
    (void)err;
    memcpy(to, from, (size_t)count * sizeof(*to));
    return RIDGE_OK;
#endif
}

/* What context points to: the operation of a kernel and its mistake. */
typedef struct plugin_row {
    const char *name;
    plugin_op op;
    int variant;
} plugin_row;

static inline const plugin_row *plugin_row_of(const ridge_kernel *self)
{
    return (const plugin_row *)self->context;
}

static inline void plugin_tensor(ridge_buffer_desc *out, const char *name, ridge_role role,
                                 int64_t rows, int64_t columns)
{
    memset(out, 0, sizeof(*out));
    snprintf(out->name, sizeof(out->name), "%s", name);
    out->role = role;
    out->dtype = RIDGE_DTYPE_F32;
    out->ndim = 2;
    out->shape[0] = rows;
    out->shape[1] = columns;
}

static inline ridge_status plugin_describe(const ridge_kernel *self, const ridge_case *at,
                                           ridge_buffer_desc *buffers, size_t *count,
                                           ridge_error *err)
{
    const plugin_op op = plugin_row_of(self)->op;
    const int64_t m = ridge_case_axis(at, "m", 100), n = ridge_case_axis(at, "n", 300);
    const int64_t k = ridge_case_axis(at, "k", 64);

    *count = 0;
    if (at->dtype != RIDGE_DTYPE_F32)
        return plugin_fail(err, RIDGE_ERR_UNSUPPORTED, "only f32 (dtype=f32)");
    plugin_tensor(&buffers[0], "a", RIDGE_ROLE_IN, m, op == PLUGIN_MATMUL ? k : n);
    plugin_tensor(&buffers[1], op == PLUGIN_SOFTMAX ? "lengths" : "b", RIDGE_ROLE_IN, k, n);
    if (op == PLUGIN_COPY)
        buffers[1].shape[0] = buffers[1].shape[1] = 1; /* not read */
    if (op == PLUGIN_SOFTMAX) {
        buffers[1].dtype = RIDGE_DTYPE_I32;
        buffers[1].ndim = 1;
        buffers[1].shape[0] = m;
        buffers[1].shape[1] = 0;
        buffers[1].keeps_layout = true;
    }
    plugin_tensor(&buffers[2], "out", RIDGE_ROLE_OUT, m, n);
    *count = 3;
    return RIDGE_OK;
}

static inline ridge_status plugin_work(const ridge_kernel *self, const ridge_case *at,
                                       ridge_kernel_work *out, ridge_error *err)
{
    const plugin_op op = plugin_row_of(self)->op;
    const double m = (double)ridge_case_axis(at, "m", 100),
                 n = (double)ridge_case_axis(at, "n", 300);
    const double k = (double)ridge_case_axis(at, "k", 64);

    (void)err;
    memset(out, 0, sizeof(*out));
    out->flop_count = op == PLUGIN_MATMUL ? 2 * m * n * k : op == PLUGIN_COPY ? m * n : 5 * m * n;
    out->read_bytes = 4 * (op == PLUGIN_MATMUL ? m * k + k * n : m * n);
    out->written_bytes = 4 * m * n;
    out->peak = 2; /* RIDGE_PEAK_FP32 of ridge/bound.h */
    out->accumulate_length = op == PLUGIN_MATMUL ? (int64_t)k : op == PLUGIN_COPY ? 0 : (int64_t)n;
    return RIDGE_OK;
}

static inline ridge_status plugin_reference(const ridge_kernel *self, const ridge_case *at,
                                            const ridge_reference_view *view, ridge_error *err)
{
    const plugin_op op = plugin_row_of(self)->op;
    const int64_t m = view->buffers[2].shape[0], n = view->buffers[2].shape[1];
    const int64_t k = view->buffers[0].shape[1];
    const double *const a = view->in[0], *const b = view->in[1];
    double *const magnitude = view->magnitude != NULL ? view->magnitude[2] : NULL;
    double *const out = view->out[2];
    int64_t row, column, i;

    (void)at;
    (void)err;
    for (row = 0; row < m; row++)
        for (column = 0; column < n; column++) {
            double *const to = &out[row * n + column];
            double sum = 0, absolute = 0, most = -INFINITY;

            if (op == PLUGIN_MATMUL) {
                for (i = 0; i < k; i++) {
                    sum += a[row * k + i] * b[i * n + column];
                    absolute += fabs(a[row * k + i] * b[i * n + column]);
                }
                *to = sum;
                if (magnitude != NULL)
                    magnitude[row * n + column] = absolute;
            } else if (op == PLUGIN_COPY) {
                *to = 2 * a[row * n + column];
            } else if ((double)column >= b[row]) {
                *to = 0;
            } else {
                for (i = 0; (double)i < b[row]; i++)
                    most = fmax(most, a[row * n + i]);
                for (i = 0; (double)i < b[row]; i++)
                    sum += exp(a[row * n + i] - most);
                *to = exp(a[row * n + column] - most) / sum;
            }
        }
    return RIDGE_OK;
}

/* Lengths of SOFTMAX: whole, empty and everything between, multiples of 16 among them. */
static inline ridge_status plugin_fill(const ridge_kernel *self, const ridge_case *at,
                                       size_t buffer_index, double *elements, uint64_t seed,
                                       ridge_error *err)
{
    const int64_t m = ridge_case_axis(at, "m", 100), n = ridge_case_axis(at, "n", 300);
    int64_t row;

    if (plugin_row_of(self)->op != PLUGIN_SOFTMAX || buffer_index != 1)
        return plugin_fail(err, RIDGE_ERR_UNSUPPORTED, "filled by the harness");
    for (row = 0; row < m; row++) {
        const int64_t pick = (row * 7 + (int64_t)(seed % 11)) % 13;

        elements[row] = (double)(pick == 0   ? 0
                                 : pick == 1 ? n
                                 : pick < 6  ? (row * 16) % (n + 1) / 16 * 16
                                             : (row * 37 + 5) % (n + 1));
    }
    return RIDGE_OK;
}

static inline plugin_problem plugin_problem_of(const ridge_kernel *self, const ridge_view *view)
{
    const ridge_buffer_desc *const buffers = view->buffers;
    plugin_problem p;

    memset(&p, 0, sizeof(p));
    p.op = plugin_row_of(self)->op;
    p.variant = plugin_row_of(self)->variant;
    p.m = buffers[2].shape[0];
    p.n = buffers[2].shape[1];
    p.k = buffers[0].shape[1];
    p.a = (const float *)view->data[0];
    p.b = (const float *)view->data[1];
    p.lengths = (const int32_t *)view->data[1];
    p.out = (float *)view->data[2];
    p.a_row = buffers[0].stride[0];
    p.a_column = buffers[0].stride[1];
    p.b_row = buffers[1].stride[0];
    p.b_column = buffers[1].stride[1];
    p.out_row = buffers[2].stride[0];
    p.out_column = buffers[2].stride[1];
    return p;
}

typedef ridge_status (*plugin_launch_function)(const ridge_kernel *self, const ridge_case *at,
                                               const ridge_view *view, void *state,
                                               struct CUstream_st *stream, ridge_error *err);
typedef ridge_status (*plugin_prepare_function)(const ridge_kernel *self, const ridge_case *at,
                                                const ridge_view *view, void **state,
                                                struct CUstream_st *stream, ridge_error *err);

/* Kernel index of a table of rows; launch, prepare and finish are the plug-in's. Made when it is
 * asked for: C++ before C++20 cannot name the members of a table. */
static inline const ridge_kernel *plugin_kernel_at(int abi, size_t index, plugin_row *rows,
                                                   size_t count, plugin_launch_function launch,
                                                   plugin_prepare_function prepare,
                                                   void (*finish)(const ridge_kernel *, void *))
{
    static ridge_kernel kernels[PLUGIN_KERNELS];
    ridge_kernel *const kernel = &kernels[index < PLUGIN_KERNELS ? index : 0];

    if (abi != RIDGE_PLUGIN_ABI || index >= count || index >= PLUGIN_KERNELS)
        return NULL;
    kernel->struct_size = sizeof(*kernel);
    kernel->name = rows[index].name;
    kernel->describe = plugin_describe;
    kernel->work = plugin_work;
    kernel->prepare = prepare;
    kernel->launch = launch;
    kernel->finish = finish;
    kernel->reference = plugin_reference;
    kernel->fill = plugin_fill;
    kernel->row_axis = "m";
    kernel->context = &rows[index];
    return kernel;
}

#ifdef __CUDACC__
extern "C" __attribute__((visibility("default")))
#endif
const ridge_kernel *
ridge_plugin(int abi, size_t index);

#endif
