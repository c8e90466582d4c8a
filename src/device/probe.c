/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels to measure a machine with; what they compute stands in ridge/device.h. */
#include <math.h>
#include <string.h>

#include "device/harness.h"
#include "ridge/bound.h"

enum {
    PROBE_BYTES = 16 << 20, /* of a case that does not say */
    PROBE_ITERATIONS = 256,
    PROBE_BLOCKS = 132,
    PROBE_THREADS = 256,
    PROBE_READ_COLUMNS = 1024,
    PROBE_MMA_WARPS = 8,
    PROBE_MMA_CHAINS = 4,
    PROBE_INDICES = 1 << 24, /* what f32 holds exactly */
    PROBE_COPY_CHUNKS = 4,   /* of 16 bytes, by a thread */
};

/* No axis beyond this, so that products of two of them and 10^4 fit. */
#define PROBE_AXIS_MOST (INT64_C(1) << 40)

typedef struct probe_axes {
    int64_t bytes, iterations, blocks, extra, variant;
} probe_axes;

static ridge_status read_axes(const ridge_case *at, probe_axes *out, ridge_error *err)
{
    *out = (probe_axes){.bytes = ridge_case_axis(at, "bytes", PROBE_BYTES),
                        .iterations = ridge_case_axis(at, "iterations", PROBE_ITERATIONS),
                        .blocks = ridge_case_axis(at, "blocks", PROBE_BLOCKS),
                        .extra = ridge_case_axis(at, "extra", 0),
                        .variant = ridge_case_axis(at, "variant", 0)};
    if (out->bytes < 0 || out->bytes > PROBE_AXIS_MOST || out->iterations < 0 ||
        out->iterations > 1 << 30 || out->blocks < 0 || out->blocks > 1 << 22)
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "probe: bytes is at most 2^40, iterations 2^30, blocks 2^22");
    if (out->extra < 0 || out->extra > 100000 || out->variant < 0 || out->variant > 1)
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "probe: extra is 0 to 100000 hundredths of a percent, variant 0 or 1");
    return RIDGE_OK;
}

/* How much of amount is done once more. */
static int64_t extra_of(const probe_axes *axes, int64_t amount)
{
    return amount / 10000 * axes->extra + amount % 10000 * axes->extra / 10000;
}

static void describe_buffer(ridge_buffer_desc *buffer, const char *name, ridge_role role,
                            ridge_dtype dtype, int ndim, const int64_t *shape)
{
    *buffer = (ridge_buffer_desc){.role = role, .dtype = dtype, .ndim = ndim};
    memcpy(buffer->name, name, strlen(name) + 1);
    memcpy(buffer->shape, shape, (size_t)ndim * sizeof(shape[0]));
}

static bool is_cpu(const ridge_view *view)
{
    return ridge_device_get_info(view->device)->kind == RIDGE_DEVICE_CPU;
}

/* The function of the variant on the GPU. */
static ridge_status launch_gpu(const ridge_view *view, const probe_axes *axes,
                               harness_function function, uint64_t threads, void *const *parameters,
                               struct CUstream_st *stream, ridge_error *err)
{
    if (threads == 0)
        return RIDGE_OK;
    return harness_launch(view->device, stream, function + (harness_function)axes->variant, threads,
                          PROBE_THREADS, parameters, err);
}

/* Modules are not loaded while a stream is captured. */
static ridge_status probe_prepare(const ridge_kernel *self, const ridge_case *at,
                                  const ridge_view *view, void **state, struct CUstream_st *stream,
                                  ridge_error *err)
{
    (void)self;
    (void)at;
    (void)state;
    (void)stream;
    return is_cpu(view) ? RIDGE_OK : harness_prepare(view->device, err);
}

/* -- copy -------------------------------------------------------------------------------------- */

static ridge_status copy_describe(const ridge_kernel *self, const ridge_case *at,
                                  ridge_buffer_desc *buffers, size_t *count, ridge_error *err)
{
    probe_axes axes;
    const ridge_status status = read_axes(at, &axes, err);
    int64_t elements;

    (void)self;
    if (status != RIDGE_OK)
        return status;
    elements = axes.bytes / (int64_t)ridge_dtype_bytes(at->dtype);
    describe_buffer(&buffers[0], "in", RIDGE_ROLE_IN, at->dtype, 1, &elements);
    describe_buffer(&buffers[1], "out", RIDGE_ROLE_OUT, at->dtype, 1, &elements);
    *count = 2;
    return RIDGE_OK;
}

static ridge_status copy_work(const ridge_kernel *self, const ridge_case *at,
                              ridge_kernel_work *out, ridge_error *err)
{
    ridge_buffer_desc buffers[2];
    size_t count;
    const ridge_status status = copy_describe(self, at, buffers, &count, err);

    if (status != RIDGE_OK)
        return status;
    out->read_bytes = out->written_bytes =
        (double)(buffers[0].shape[0] * (int64_t)ridge_dtype_bytes(at->dtype));
    return RIDGE_OK;
}

/* Extra tiles of each of the first three quarters of the tiles, times 2^32; rounded up, so that all
 * of them come to what is wanted. */
static uint64_t copy_rate(uint64_t size_bytes, uint64_t extra_bytes)
{
    const uint64_t tile_bytes = UINT64_C(16) * PROBE_COPY_CHUNKS * PROBE_THREADS;
    const uint64_t tiles = size_bytes / tile_bytes, early = tiles - tiles / 4;
    const uint64_t extra = (extra_bytes + tile_bytes / 2) / tile_bytes;

    return early > 0 ? ((extra << 32) + early - 1) / early : 0;
}

static ridge_status copy_launch(const ridge_kernel *self, const ridge_case *at,
                                const ridge_view *view, void *state, struct CUstream_st *stream,
                                ridge_error *err)
{
    uint64_t size = (uint64_t)ridge_buffer_elements(&view->buffers[0]) *
                    ridge_dtype_bytes(view->buffers[0].dtype);
    uint64_t extra, rate, left;
    void *in = view->data[0], *out = view->data[1];
    void *const parameters[] = {(void *)&in, (void *)&out, &size, &extra, &rate};
    probe_axes axes;
    const ridge_status status = read_axes(at, &axes, err);

    (void)self;
    (void)state;
    if (status != RIDGE_OK)
        return status;
    extra = (uint64_t)extra_of(&axes, (int64_t)size);
    if (is_cpu(view)) {
        for (left = size + extra; left > size; left -= size)
            memmove(out, in, size);
        memmove(out, in, left);
        return RIDGE_OK;
    }
    rate = copy_rate(size, extra);
    return launch_gpu(view, &axes, HARNESS_copy0, size / 16 / PROBE_COPY_CHUNKS + PROBE_THREADS,
                      parameters, stream, err);
}

static ridge_status copy_reference(const ridge_kernel *self, const ridge_case *at,
                                   const ridge_reference_view *view, ridge_error *err)
{
    const size_t elements = (size_t)ridge_buffer_elements(&view->buffers[0]);

    (void)self;
    (void)at;
    (void)err;
    memcpy(view->out[1], view->in[0], elements * sizeof(double));
    return RIDGE_OK;
}

/* -- read -------------------------------------------------------------------------------------- */

static ridge_status read_describe(const ridge_kernel *self, const ridge_case *at,
                                  ridge_buffer_desc *buffers, size_t *count, ridge_error *err)
{
    probe_axes axes;
    const ridge_status status = read_axes(at, &axes, err);
    int64_t shape[2];

    (void)self;
    if (status != RIDGE_OK)
        return status;
    shape[1] = axes.bytes / 4 < PROBE_READ_COLUMNS ? axes.bytes / 4 : PROBE_READ_COLUMNS;
    shape[0] = shape[1] > 0 ? axes.bytes / 4 / shape[1] : 0;
    describe_buffer(&buffers[0], "in", RIDGE_ROLE_IN, RIDGE_DTYPE_F32, 2, shape);
    describe_buffer(&buffers[1], "out", RIDGE_ROLE_OUT, RIDGE_DTYPE_F32, 1, shape);
    *count = 2;
    return RIDGE_OK;
}

static ridge_status read_work(const ridge_kernel *self, const ridge_case *at,
                              ridge_kernel_work *out, ridge_error *err)
{
    ridge_buffer_desc buffers[2];
    size_t count;
    const ridge_status status = read_describe(self, at, buffers, &count, err);

    if (status != RIDGE_OK)
        return status;
    out->read_bytes = 4 * (double)ridge_buffer_elements(&buffers[0]);
    out->written_bytes = 4 * (double)buffers[1].shape[0];
    out->flop_count = (double)ridge_buffer_elements(&buffers[0]);
    out->peak = RIDGE_PEAK_FP32;
    out->accumulate_length = buffers[0].shape[1];
    return RIDGE_OK;
}

static float read_row(const ridge_buffer_desc *in, const float *data, int64_t row)
{
    float sum = 0;
    int64_t column;

    for (column = 0; column < in->shape[1]; column++)
        sum += data[row * in->stride[0] + column * in->stride[1]];
    return sum;
}

static ridge_status read_launch(const ridge_kernel *self, const ridge_case *at,
                                const ridge_view *view, void *state, struct CUstream_st *stream,
                                ridge_error *err)
{
    const ridge_buffer_desc *const in = &view->buffers[0];
    int64_t rows = in->shape[0], columns = in->shape[1], total, row;
    int64_t row_stride = in->stride[0], column_stride = in->stride[1];
    float *data = view->data[0], *out = view->data[1];
    void *const parameters[] = {(void *)&data, (void *)&out, &rows,         &columns,
                                &total,        &row_stride,  &column_stride};
    probe_axes axes;
    const ridge_status status = read_axes(at, &axes, err);

    (void)self;
    (void)state;
    if (status != RIDGE_OK)
        return status;
    total = rows + extra_of(&axes, rows);
    if (!is_cpu(view))
        return launch_gpu(view, &axes, HARNESS_read0, (uint64_t)total * 32, parameters, stream,
                          err);
    for (row = 0; row < total; row++)
        out[row % rows] = read_row(in, data, row % rows);
    return RIDGE_OK;
}

static ridge_status read_reference(const ridge_kernel *self, const ridge_case *at,
                                   const ridge_reference_view *view, ridge_error *err)
{
    const int64_t rows = view->buffers[0].shape[0], columns = view->buffers[0].shape[1];
    int64_t row, column;

    (void)self;
    (void)at;
    (void)err;
    for (row = 0; row < rows; row++) {
        double sum = 0, magnitude = 0;

        for (column = 0; column < columns; column++) {
            sum += view->in[0][row * columns + column];
            magnitude += fabs(view->in[0][row * columns + column]);
        }
        view->out[1][row] = sum;
        if (view->magnitude != NULL && view->magnitude[1] != NULL)
            view->magnitude[1][row] = magnitude;
    }
    return RIDGE_OK;
}

static ridge_status read_plain(const ridge_kernel *self, const ridge_case *at,
                               const ridge_reference_view *view, ridge_error *err)
{
    const int64_t rows = view->buffers[0].shape[0], columns = view->buffers[0].shape[1];
    int64_t row, column;

    (void)self;
    (void)at;
    (void)err;
    for (row = 0; row < rows; row++) {
        float sum = 0;

        for (column = 0; column < columns; column++)
            sum += (float)view->in[0][row * columns + column];
        view->out[1][row] = (double)sum;
    }
    return RIDGE_OK;
}

/* -- fma --------------------------------------------------------------------------------------- */

static ridge_status fma_describe(const ridge_kernel *self, const ridge_case *at,
                                 ridge_buffer_desc *buffers, size_t *count, ridge_error *err)
{
    probe_axes axes;
    const ridge_status status = read_axes(at, &axes, err);
    int64_t elements;

    (void)self;
    if (status != RIDGE_OK)
        return status;
    elements = axes.blocks * PROBE_THREADS;
    describe_buffer(&buffers[0], "in", RIDGE_ROLE_IN, RIDGE_DTYPE_F32, 1, &elements);
    describe_buffer(&buffers[1], "out", RIDGE_ROLE_OUT, RIDGE_DTYPE_F32, 1, &elements);
    *count = 2;
    return RIDGE_OK;
}

static ridge_status fma_work(const ridge_kernel *self, const ridge_case *at, ridge_kernel_work *out,
                             ridge_error *err)
{
    probe_axes axes;
    const ridge_status status = read_axes(at, &axes, err);
    const double elements = (double)(axes.blocks * PROBE_THREADS);

    (void)self;
    if (status != RIDGE_OK)
        return status;
    out->flop_count = 2 * (double)axes.iterations * elements;
    out->peak = RIDGE_PEAK_FP32;
    out->read_bytes = out->written_bytes = 4 * elements;
    /* Each step halves the error of those before: together less than two roundings of 2 |in|. */
    out->accumulate_length = 2;
    return RIDGE_OK;
}

static float fma_chain(float in, int64_t steps)
{
    float x = 0;

    while (steps-- > 0)
        x = fmaf(0.5F, x, in);
    return x;
}

static ridge_status fma_launch(const ridge_kernel *self, const ridge_case *at,
                               const ridge_view *view, void *state, struct CUstream_st *stream,
                               ridge_error *err)
{
    int64_t elements = view->buffers[0].shape[0], steps, i;
    float *in = view->data[0], *out = view->data[1];
    void *const parameters[] = {(void *)&in, (void *)&out, &elements, &steps};
    probe_axes axes;
    const ridge_status status = read_axes(at, &axes, err);

    (void)self;
    (void)state;
    if (status != RIDGE_OK)
        return status;
    steps = axes.iterations + extra_of(&axes, axes.iterations);
    if (!is_cpu(view))
        return launch_gpu(view, &axes, HARNESS_fma0, (uint64_t)elements, parameters, stream, err);
    for (i = 0; i < elements; i++)
        out[i] = fma_chain(in[i], steps);
    return RIDGE_OK;
}

/* x of step n is 2 in (1 - 2^-n). */
static ridge_status fma_reference(const ridge_kernel *self, const ridge_case *at,
                                  const ridge_reference_view *view, ridge_error *err)
{
    const int64_t elements = view->buffers[0].shape[0];
    probe_axes axes;
    const ridge_status status = read_axes(at, &axes, err);
    int64_t i;

    (void)self;
    if (status != RIDGE_OK)
        return status;
    for (i = 0; i < elements; i++) {
        const double steps = (double)(axes.iterations + extra_of(&axes, axes.iterations));

        view->out[1][i] = axes.iterations > 0 ? 2 * view->in[0][i] * (1 - exp2(-steps)) : 0;
    }
    return RIDGE_OK;
}

static ridge_status fma_plain(const ridge_kernel *self, const ridge_case *at,
                              const ridge_reference_view *view, ridge_error *err)
{
    const int64_t elements = view->buffers[0].shape[0];
    probe_axes axes;
    const ridge_status status = read_axes(at, &axes, err);
    int64_t i;

    (void)self;
    if (status != RIDGE_OK)
        return status;
    for (i = 0; i < elements; i++)
        view->out[1][i] = (double)fma_chain((float)view->in[0][i], axes.iterations);
    return RIDGE_OK;
}

/* -- mma --------------------------------------------------------------------------------------- */

static ridge_status mma_describe(const ridge_kernel *self, const ridge_case *at,
                                 ridge_buffer_desc *buffers, size_t *count, ridge_error *err)
{
    probe_axes axes;
    const ridge_status status = read_axes(at, &axes, err);
    const int64_t a[] = {16, 16}, b[] = {8, 16}, out[] = {axes.blocks * PROBE_MMA_WARPS, 16, 8};

    (void)self;
    if (status != RIDGE_OK)
        return status;
    describe_buffer(&buffers[0], "a", RIDGE_ROLE_IN, RIDGE_DTYPE_BF16, 2, a);
    describe_buffer(&buffers[1], "b", RIDGE_ROLE_IN, RIDGE_DTYPE_BF16, 2, b);
    describe_buffer(&buffers[2], "out", RIDGE_ROLE_OUT, RIDGE_DTYPE_F32, 3, out);
    buffers[0].keeps_layout = buffers[1].keeps_layout = buffers[2].keeps_layout = true;
    *count = 3;
    return RIDGE_OK;
}

static ridge_status mma_work(const ridge_kernel *self, const ridge_case *at, ridge_kernel_work *out,
                             ridge_error *err)
{
    probe_axes axes;
    const ridge_status status = read_axes(at, &axes, err);
    const double warps = (double)(axes.blocks * PROBE_MMA_WARPS);

    (void)self;
    if (status != RIDGE_OK)
        return status;
    out->flop_count = warps * PROBE_MMA_CHAINS * (double)axes.iterations * (2 * 16 * 8 * 16);
    out->peak = RIDGE_PEAK_TENSOR_BF16;
    out->read_bytes = (16 + 8) * 16 * 2;
    out->written_bytes = warps * 16 * 8 * 4;
    out->accumulate_length = INT64_C(16) * PROBE_MMA_CHAINS * axes.iterations;
    return RIDGE_OK;
}

static ridge_status mma_launch(const ridge_kernel *self, const ridge_case *at,
                               const ridge_view *view, void *state, struct CUstream_st *stream,
                               ridge_error *err)
{
    int64_t warps = view->buffers[2].shape[0], steps, extra;
    void *a = view->data[0], *b = view->data[1], *out = view->data[2];
    void *const parameters[] = {(void *)&a, (void *)&b, (void *)&out, &warps, &steps, &extra};
    probe_axes axes;
    const ridge_status status = read_axes(at, &axes, err);

    (void)self;
    (void)state;
    if (status != RIDGE_OK)
        return status;
    if (is_cpu(view))
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED, "probe:mma needs a GPU");
    steps = axes.iterations;
    extra = extra_of(&axes, axes.iterations);
    return launch_gpu(view, &axes, HARNESS_mma0, (uint64_t)warps * 32, parameters, stream, err);
}

static ridge_status mma_reference(const ridge_kernel *self, const ridge_case *at,
                                  const ridge_reference_view *view, ridge_error *err)
{
    const int64_t elements = ridge_buffer_elements(&view->buffers[2]);
    const double *const a = view->in[0], *const b = view->in[1];
    probe_axes axes;
    const ridge_status status = read_axes(at, &axes, err);
    const double times = PROBE_MMA_CHAINS * (double)axes.iterations;
    int64_t i, k;

    (void)self;
    if (status != RIDGE_OK)
        return status;
    for (i = 0; i < elements; i++) {
        const double *const row = a + i / 8 % 16 * 16, *const column = b + i % 8 * 16;
        double sum = 0, magnitude = 0;

        for (k = 0; k < 16; k++) {
            sum += row[k] * column[k];
            magnitude += fabs(row[k] * column[k]);
        }
        view->out[2][i] = times * sum;
        if (view->magnitude != NULL && view->magnitude[2] != NULL)
            view->magnitude[2][i] = times * magnitude;
    }
    return RIDGE_OK;
}

/* -- tiny -------------------------------------------------------------------------------------- */

static ridge_status tiny_describe(const ridge_kernel *self, const ridge_case *at,
                                  ridge_buffer_desc *buffers, size_t *count, ridge_error *err)
{
    probe_axes axes;
    const ridge_status status = read_axes(at, &axes, err);
    int64_t elements;

    (void)self;
    if (status != RIDGE_OK)
        return status;
    elements = axes.blocks * PROBE_THREADS;
    describe_buffer(&buffers[0], "out", RIDGE_ROLE_OUT, RIDGE_DTYPE_F32, 1, &elements);
    *count = 1;
    return RIDGE_OK;
}

static ridge_status tiny_work(const ridge_kernel *self, const ridge_case *at,
                              ridge_kernel_work *out, ridge_error *err)
{
    probe_axes axes;
    const ridge_status status = read_axes(at, &axes, err);

    (void)self;
    if (status == RIDGE_OK)
        out->written_bytes = 4 * (double)(axes.blocks * PROBE_THREADS);
    return status;
}

static ridge_status tiny_launch(const ridge_kernel *self, const ridge_case *at,
                                const ridge_view *view, void *state, struct CUstream_st *stream,
                                ridge_error *err)
{
    int64_t elements = view->buffers[0].shape[0], total, i;
    float *out = view->data[0];
    void *const parameters[] = {(void *)&out, &elements, &total};
    probe_axes axes;
    const ridge_status status = read_axes(at, &axes, err);

    (void)self;
    (void)state;
    if (status != RIDGE_OK)
        return status;
    total = elements + extra_of(&axes, elements);
    if (!is_cpu(view))
        return launch_gpu(view, &axes, HARNESS_tiny0, (uint64_t)total, parameters, stream, err);
    for (i = 0; i < total; i++)
        out[i % elements] = (float)(i % elements % PROBE_INDICES);
    return RIDGE_OK;
}

static ridge_status tiny_reference(const ridge_kernel *self, const ridge_case *at,
                                   const ridge_reference_view *view, ridge_error *err)
{
    int64_t i;

    (void)self;
    (void)at;
    (void)err;
    for (i = 0; i < view->buffers[0].shape[0]; i++)
        view->out[0][i] = (double)(i % PROBE_INDICES);
    return RIDGE_OK;
}

/* -- the family -------------------------------------------------------------------------------- */

#define PROBE_KERNEL(id, second_opinion)                                                           \
    static const ridge_kernel PROBE_##id = {.struct_size = sizeof(ridge_kernel),                   \
                                            .name = "probe:" #id,                                  \
                                            .describe = id##_describe,                             \
                                            .work = id##_work,                                     \
                                            .prepare = probe_prepare,                              \
                                            .launch = id##_launch,                                 \
                                            .reference = id##_reference,                           \
                                            .plain = second_opinion}

PROBE_KERNEL(copy, NULL);
PROBE_KERNEL(read, read_plain);
PROBE_KERNEL(fma, fma_plain);
PROBE_KERNEL(mma, NULL);
PROBE_KERNEL(tiny, NULL);

const ridge_family *ridge_probe_family(void)
{
    static const ridge_kernel *const VARIANTS[] = {&PROBE_copy, &PROBE_read, &PROBE_fma, &PROBE_mma,
                                                   &PROBE_tiny};
    static const ridge_dtype DTYPES[] = {RIDGE_DTYPE_F32};
    static const ridge_family FAMILY = {
        .name = "probe",
        .summary = "kernels to measure a machine with: copy, read, fma, mma, tiny",
        .variants = VARIANTS,
        .variant_count = sizeof(VARIANTS) / sizeof(VARIANTS[0]),
        .default_case = {.struct_size = sizeof(ridge_case),
                         .axes = {{"bytes", PROBE_BYTES},
                                  {"iterations", PROBE_ITERATIONS},
                                  {"blocks", PROBE_BLOCKS},
                                  {"extra", 0},
                                  {"variant", 0}},
                         .axis_count = 5,
                         .dtype = RIDGE_DTYPE_F32,
                         .seed = 1},
        .dtypes = DTYPES,
        .dtype_count = 1};

    return &FAMILY;
}
