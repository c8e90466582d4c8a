/* SPDX-License-Identifier: Apache-2.0 */
#include "check_kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = 16 };

typedef struct place {
    const ridge_buffer_desc *desc;
    unsigned char *data;
} place;

static place place_of(const ridge_view *view, size_t index)
{
    return (place){&view->buffers[index], view->data[index]};
}

static double at2(place of, int64_t i, int64_t j)
{
    return ridge_dtype_load(of.desc->dtype, of.data,
                            i * of.desc->stride[0] + j * of.desc->stride[1]);
}

static void put(place to, int64_t offset, double value)
{
    ridge_dtype_store(to.desc->dtype, to.data, offset, value);
}

static mistake mistake_of(const ridge_kernel *self)
{
    return *(const mistake *)self->context;
}

static int64_t axis(const ridge_case *at, const char *name)
{
    return ridge_case_axis(at, name, 0);
}

static void describe_buffer(ridge_buffer_desc *to, const char *name, ridge_role role,
                            ridge_dtype dtype, int64_t rows, int64_t columns)
{
    memset(to, 0, sizeof(*to));
    memcpy(to->name, name, strlen(name));
    to->role = role;
    to->dtype = dtype;
    to->ndim = columns < 0 ? 1 : 2;
    to->shape[0] = rows;
    to->shape[1] = columns < 0 ? 0 : columns;
}

/* -- one input --------------------------------------------------------------------------------- */

static ridge_status describe_rows(const ridge_kernel *self, const ridge_case *at,
                                  ridge_buffer_desc *buffers, size_t *count, ridge_error *err)
{
    const bool is_sum = strcmp(self->name, "sum") == 0;

    if (mistake_of(self) == REFUSES_ALL)
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED, "not today");
    if (mistake_of(self) == REFUSES_STRIDES && at->layout != RIDGE_LAYOUT_CONTIGUOUS)
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED, "rows must be contiguous");
    describe_buffer(&buffers[0], "x", RIDGE_ROLE_IN, at->dtype, axis(at, "m"), axis(at, "n"));
    describe_buffer(&buffers[1], "out", RIDGE_ROLE_OUT, at->dtype, axis(at, "m"),
                    is_sum ? -1 : axis(at, "n"));
    buffers[1].alias_of = is_sum ? 0 : 1;
    *count = 2;
    if (mistake_of(self) == READS_WORKSPACE) {
        describe_buffer(&buffers[2], "workspace", RIDGE_ROLE_WORKSPACE, RIDGE_DTYPE_F32, 64, -1);
        *count = 3;
    }
    return RIDGE_OK;
}

static ridge_status work_rows(const ridge_kernel *self, const ridge_case *at,
                              ridge_kernel_work *out, ridge_error *err)
{
    (void)err;
    memset(out, 0, sizeof(*out));
    if (strcmp(self->name, "copy") != 0)
        out->accumulate_length = axis(at, "n");
    return RIDGE_OK;
}

/* What the last launch to this address wrote, by a kernel that thinks this is an optimisation. */
static struct {
    const void *at;
    unsigned char bytes[1 << 16];
} kept;

static bool replay(place out, size_t bytes)
{
    if (bytes > sizeof(kept.bytes) || kept.at != out.data)
        return false;
    memcpy(out.data, kept.bytes, bytes);
    return true;
}

static void keep(place out, size_t bytes)
{
    if (bytes > sizeof(kept.bytes))
        return;
    kept.at = out.data;
    memcpy(kept.bytes, out.data, bytes);
}

/* The value of one row, or element, by mistake or not. */
static double row_scale(const ridge_kernel *self, place x, int64_t i, int64_t columns)
{
    double sum = 0;

    if (strcmp(self->name, "norm") != 0)
        return 1;
    for (int64_t j = 0; j < columns; j++)
        sum += at2(x, i, j) * at2(x, i, j);
    return 1 / sqrt(sum / (double)columns + 1e-6);
}

static double row_sum(const ridge_kernel *self, place x, int64_t i, int64_t columns)
{
    float sum = 0;

    for (int64_t j = 0; j < columns; j++) {
        double term = at2(x, i, j);

        if (mistake_of(self) == ROUNDS_INPUTS)
            term = ridge_dtype_round(RIDGE_DTYPE_BF16, term);
        sum += (float)term;
        if (mistake_of(self) == SUMS_IN_BF16)
            sum = (float)ridge_dtype_round(RIDGE_DTYPE_BF16, (double)sum);
    }
    return (double)sum;
}

static void write_rows(const ridge_kernel *self, place x, place out, int64_t rows, int64_t columns)
{
    const mistake what = mistake_of(self);

    for (int64_t i = 0; i < rows; i++) {
        const double scale = row_scale(self, x, i, columns);

        if (out.desc->ndim == 1) {
            put(out, i * out.desc->stride[0], row_sum(self, x, i, columns));
            continue;
        }
        for (int64_t j = 0; j < columns; j++) {
            double value = at2(x, i, j) * scale;

            if (what == SCALES_TWICE)
                value *= 2;
            if (what == WRONG_LAST_ROW && rows % TILE != 0 && i >= rows / TILE * TILE)
                value += 3;
            if (what == IS_CONSTANT)
                value = 1;
            if (what == LEAKS_ROWS && i > 0) /* less than a sum rounds */
                value *= 1 + copysign(0x1p-21, at2(x, i - 1, j));
            if (what == CLAMPS && fabs(value) > 64)
                value = value < 0 ? -64 : 64;
            put(out, i * out.desc->stride[0] + j * out.desc->stride[1], value);
        }
    }
}

static ridge_status launch_rows(const ridge_kernel *self, const ridge_case *at,
                                const ridge_view *view, void *state, struct CUstream_st *stream,
                                ridge_error *err)
{
    static int calls;
    const mistake what = mistake_of(self);
    const place x = place_of(view, 0);
    place out = place_of(view, 1);
    const int64_t rows = axis(at, "m"), columns = axis(at, "n");
    const size_t element = ridge_dtype_bytes(at->dtype);
    const size_t bytes = (size_t)ridge_buffer_elements(out.desc) * element;
    ridge_buffer_desc packed = *out.desc;
    double before = 0;

    (void)state;
    (void)stream;
    if (what == LAUNCH_FAILS)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "invalid configuration");
    if (what == WRITES_NOTHING || (what == IS_STALE && replay(out, bytes)))
        return RIDGE_OK;
    if (what == READS_OUTPUT)
        before = ridge_dtype_load(at->dtype, out.data, 0);
    if (what == WRONG_STRIDE) {
        packed.stride[0] = columns;
        packed.stride[1] = 1;
        out.desc = &packed;
    }
    write_rows(self, x, out, what == WRITES_PART ? rows / TILE * TILE : rows, columns);
    calls++;
    switch (what) {
    case WRITES_BEFORE:
        put(out, -3, 1);
        break;
    case WRITES_BEHIND:
        put(out, rows * out.desc->stride[0], 1);
        break;
    case WRITES_BETWEEN:
        for (int64_t i = 0; i + 1 < rows; i++)
            for (int64_t j = columns; j < out.desc->stride[0]; j++)
                put(out, i * out.desc->stride[0] + j, 0);
        break;
    case READS_BAND: /* the row behind the last, times nothing */
        put(out, 0, at2(x, 0, 0) + 0 * at2(x, rows, 0));
        break;
    case CHANGES_INPUT:
        ridge_dtype_store(at->dtype, x.data, 1, 0.5);
        break;
    case IS_STALE:
        keep(out, bytes);
        break;
    case RARE_RACE:
        if (calls % 11 == 0)
            put(out, 5, at2(out, 0, 5) * (1 + 0x1p-22));
        break;
    case READS_WORKSPACE: {
        const double ones = ridge_dtype_load(RIDGE_DTYPE_F32, view->data[2], 0);

        put(out, 0, at2(x, 0, 0) * (ones == 0 ? 1 : 2));
        if (isnan(ones))
            put(out, 0, at2(x, 0, 0));
        break;
    }
    case READS_OUTPUT:
        put(out, 0, isnan(before) ? at2(x, 0, 0) : before);
        break;
    default:
        break;
    }
    return RIDGE_OK;
}

static ridge_status reference_rows(const ridge_kernel *self, const ridge_case *at,
                                   const ridge_reference_view *view, ridge_error *err)
{
    const int64_t rows = axis(at, "m"), columns = axis(at, "n");
    const double *const x = view->in[0];

    (void)err;
    for (int64_t i = 0; i < rows; i++) {
        double sum = 0, magnitude = 0, square = 0;

        for (int64_t j = 0; j < columns; j++) {
            sum += x[i * columns + j];
            magnitude += fabs(x[i * columns + j]);
            square += x[i * columns + j] * x[i * columns + j];
        }
        if (strcmp(self->name, "sum") == 0) {
            view->out[1][i] = sum;
            if (view->magnitude != NULL)
                view->magnitude[1][i] = magnitude;
            continue;
        }
        for (int64_t j = 0; j < columns; j++)
            view->out[1][i * columns + j] =
                x[i * columns + j] *
                (strcmp(self->name, "norm") == 0 ? 1 / sqrt(square / (double)columns + 1e-6) : 1);
    }
    return RIDGE_OK;
}

/* -- a product --------------------------------------------------------------------------------- */

static ridge_status describe_gemm(const ridge_kernel *self, const ridge_case *at,
                                  ridge_buffer_desc *buffers, size_t *count, ridge_error *err)
{
    (void)self;
    (void)err;
    describe_buffer(&buffers[0], "a", RIDGE_ROLE_IN, at->dtype, axis(at, "m"), axis(at, "k"));
    describe_buffer(&buffers[1], "b", RIDGE_ROLE_IN, at->dtype, axis(at, "k"), axis(at, "n"));
    describe_buffer(&buffers[2], "out", RIDGE_ROLE_OUT, at->dtype, axis(at, "m"), axis(at, "n"));
    *count = 3;
    return RIDGE_OK;
}

static ridge_status work_gemm(const ridge_kernel *self, const ridge_case *at,
                              ridge_kernel_work *out, ridge_error *err)
{
    (void)self;
    (void)err;
    memset(out, 0, sizeof(*out));
    out->accumulate_length = axis(at, "k");
    return RIDGE_OK;
}

static ridge_status launch_gemm(const ridge_kernel *self, const ridge_case *at,
                                const ridge_view *view, void *state, struct CUstream_st *stream,
                                ridge_error *err)
{
    const place a = place_of(view, 0), b = place_of(view, 1), out = place_of(view, 2);

    (void)state;
    (void)stream;
    (void)err;
    for (int64_t i = 0; i < axis(at, "m"); i++)
        for (int64_t j = 0; j < axis(at, "n"); j++) {
            float sum = 0;

            for (int64_t k = 0; k < axis(at, "k"); k++) {
                double left = at2(a, i, k), right = at2(b, k, j);

                if (mistake_of(self) == ROUNDS_INPUTS) {
                    left = ridge_dtype_round(RIDGE_DTYPE_BF16, left);
                    right = ridge_dtype_round(RIDGE_DTYPE_BF16, right);
                }
                sum += (float)left * (float)right;
                if (mistake_of(self) == SUMS_IN_BF16)
                    sum = (float)ridge_dtype_round(RIDGE_DTYPE_BF16, (double)sum);
            }
            put(out, i * out.desc->stride[0] + j * out.desc->stride[1], (double)sum);
        }
    return RIDGE_OK;
}

static void multiply(const ridge_case *at, const ridge_reference_view *view, bool is_plain)
{
    const int64_t rows = axis(at, "m"), columns = axis(at, "n"), depth = axis(at, "k");

    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            double sum = 0, magnitude = 0;
            float rough = 0;

            for (int64_t k = 0; k < depth; k++) {
                const double term = view->in[0][i * depth + k] * view->in[1][k * columns + j];

                sum += term;
                magnitude += fabs(term);
                rough += (float)term;
            }
            view->out[2][i * columns + j] =
                is_plain ? ridge_dtype_round(at->dtype, (double)rough) : sum;
            if (view->magnitude != NULL && !is_plain)
                view->magnitude[2][i * columns + j] = magnitude;
        }
}

static ridge_status reference_gemm(const ridge_kernel *self, const ridge_case *at,
                                   const ridge_reference_view *view, ridge_error *err)
{
    (void)self;
    (void)err;
    multiply(at, view, false);
    return RIDGE_OK;
}

static ridge_status plain_gemm(const ridge_kernel *self, const ridge_case *at,
                               const ridge_reference_view *view, ridge_error *err)
{
    (void)self;
    (void)err;
    multiply(at, view, true);
    return RIDGE_OK;
}

void make_kernel(ridge_kernel *to, const char *operation, const mistake *what)
{
    const bool is_gemm = strcmp(operation, "gemm") == 0;

    memset(to, 0, sizeof(*to));
    kept.at = NULL;
    to->struct_size = sizeof(*to);
    to->name = operation;
    to->describe = is_gemm ? describe_gemm : describe_rows;
    to->work = is_gemm ? work_gemm : work_rows;
    to->launch = is_gemm ? launch_gemm : launch_rows;
    to->reference = is_gemm ? reference_gemm : reference_rows;
    to->plain = is_gemm ? plain_gemm : NULL;
    to->row_axis = "m";
    memcpy(&to->context, &what, sizeof(what));
    if (*what == NO_REFERENCE)
        to->reference = NULL;
}
