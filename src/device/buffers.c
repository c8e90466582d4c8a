/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the elements of a tensor lie. */
#include <inttypes.h>
#include <string.h>

#include "ridge/family.h"

enum { PAD_ELEMENTS = 8 };

/* a * b of numbers that are not negative, or false. */
static bool multiply(int64_t a, int64_t b, int64_t *out)
{
    if (b != 0 && a > INT64_MAX / b)
        return false;
    *out = a * b;
    return true;
}

static bool has_strides(const ridge_buffer_desc *buffer)
{
    int i;

    for (i = 0; i < buffer->ndim; i++)
        if (buffer->stride[i] != 0)
            return true;
    return false;
}

/* Strides of the shape in order, rows of the last axis row_stride elements apart. */
static bool set_strides(ridge_buffer_desc *buffer, const int axes[RIDGE_BUFFER_DIMS],
                        int64_t row_stride)
{
    int64_t stride = 1;
    int i;

    for (i = buffer->ndim - 1; i >= 0; i--) {
        const int64_t extent = buffer->shape[axes[i]];

        buffer->stride[axes[i]] = stride;
        if (i == buffer->ndim - 1)
            stride = row_stride > 0 ? row_stride : 1;
        else if (!multiply(stride, extent > 0 ? extent : 1, &stride))
            return false;
    }
    return true;
}

/* Whether some output shares the memory of buffer number index. */
static bool is_shared(const ridge_case *at, const ridge_buffer_desc *buffers, size_t count,
                      size_t index)
{
    size_t i;

    for (i = 0; at->in_place && i < count; i++)
        if (buffers[i].alias_of == (int)index + 1)
            return true;
    return false;
}

static bool same_shape(const ridge_buffer_desc *a, const ridge_buffer_desc *b)
{
    return a->ndim == b->ndim &&
           memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof(a->shape[0])) == 0;
}

/* The layout as far as it makes sense for this buffer. */
static ridge_layout layout_of(const ridge_case *at, const ridge_buffer_desc *buffers, size_t count,
                              size_t index)
{
    const ridge_buffer_desc *const buffer = &buffers[index];

    if (buffer->keeps_layout || buffer->role == RIDGE_ROLE_WORKSPACE || buffer->ndim < 2)
        return RIDGE_LAYOUT_CONTIGUOUS;
    if (at->layout == RIDGE_LAYOUT_BROADCAST &&
        (buffer->role != RIDGE_ROLE_IN || is_shared(at, buffers, count, index)))
        return RIDGE_LAYOUT_CONTIGUOUS;
    return at->layout;
}

static bool apply_layout(ridge_layout layout, ridge_buffer_desc *buffer)
{
    int axes[RIDGE_BUFFER_DIMS] = {0, 1, 2, 3, 4};
    const int last = buffer->ndim - 1;
    int64_t row = buffer->ndim > 0 ? buffer->shape[last] : 1;

    if (layout == RIDGE_LAYOUT_TRANSPOSED) {
        axes[last] = last - 1;
        axes[last - 1] = last;
        row = buffer->shape[last - 1];
    }
    if (layout == RIDGE_LAYOUT_PADDED) {
        if (row > INT64_MAX - PAD_ELEMENTS)
            return false;
        row += PAD_ELEMENTS;
    }
    if (layout == RIDGE_LAYOUT_SLICED && !multiply(row, 2, &row))
        return false;
    if (!set_strides(buffer, axes, row))
        return false;
    if (layout == RIDGE_LAYOUT_BROADCAST)
        buffer->stride[0] = 0;
    if (layout == RIDGE_LAYOUT_REVERSED)
        buffer->stride[last - 1] = -buffer->stride[last - 1];
    return true;
}

/* Elements from the least to behind the greatest address; false when they or their bytes do not
 * fit 63 bits. */
static bool span_of(const ridge_buffer_desc *buffer, int64_t *out)
{
    int64_t elements = 1, span = 1, bytes;
    int i;

    *out = 0;
    for (i = 0; i < buffer->ndim; i++)
        if (buffer->shape[i] == 0)
            return true;
    for (i = 0; i < buffer->ndim; i++) {
        const int64_t stride = buffer->stride[i];
        int64_t reach;

        if (stride == INT64_MIN || !multiply(elements, buffer->shape[i], &elements) ||
            !multiply(buffer->shape[i] - 1, stride < 0 ? -stride : stride, &reach) ||
            reach > INT64_MAX - span)
            return false;
        span += reach;
    }
    *out = span;
    return multiply(elements, (int64_t)ridge_dtype_bytes(buffer->dtype), &bytes) &&
           multiply(span, (int64_t)ridge_dtype_bytes(buffer->dtype), &bytes);
}

ridge_status ridge_buffers_lay_out(const ridge_case *at, ridge_buffer_desc *buffers, size_t count,
                                   ridge_error *err)
{
    size_t i;

    for (i = 0; i < count; i++) {
        ridge_buffer_desc *const buffer = &buffers[i];
        const ridge_buffer_desc *const shared =
            at->in_place && buffer->alias_of > 0 && (size_t)buffer->alias_of <= i
                ? &buffers[buffer->alias_of - 1]
                : NULL;
        bool fits = true;
        int64_t span;

        if (buffer->ndim < 0 || buffer->ndim > RIDGE_BUFFER_DIMS)
            return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                              "buffer %s: %d dimensions, expected 0 to %d", buffer->name,
                              buffer->ndim, RIDGE_BUFFER_DIMS);
        if (shared != NULL && same_shape(shared, buffer) && !has_strides(buffer))
            memcpy(buffer->stride, shared->stride, sizeof(buffer->stride));
        else if (!has_strides(buffer))
            fits = apply_layout(layout_of(at, buffers, count, i), buffer);
        if (!fits || !span_of(buffer, &span))
            return ridge_fail(err, RIDGE_ERR_OVERFLOW,
                              "buffer %s: its size in bytes does not fit 63 bits", buffer->name);
    }
    return RIDGE_OK;
}

int64_t ridge_buffer_elements(const ridge_buffer_desc *buffer)
{
    int64_t elements = 1;
    int i;

    for (i = 0; i < buffer->ndim; i++)
        elements *= buffer->shape[i];
    return elements;
}

int64_t ridge_buffer_span_bytes(const ridge_buffer_desc *buffer)
{
    int64_t span;

    return span_of(buffer, &span) ? span * (int64_t)ridge_dtype_bytes(buffer->dtype) : 0;
}

int64_t ridge_buffer_offset(const ridge_buffer_desc *buffer, int64_t index)
{
    int64_t offset = 0;
    int i;

    for (i = buffer->ndim - 1; i > 0; i--) {
        offset += index % buffer->shape[i] * buffer->stride[i];
        index /= buffer->shape[i];
    }
    return buffer->ndim > 0 ? offset + index * buffer->stride[0] : 0;
}

int64_t ridge_buffer_origin(const ridge_buffer_desc *buffer)
{
    int64_t origin = 0;
    int i;

    for (i = 0; i < buffer->ndim; i++)
        if (buffer->stride[i] < 0 && buffer->shape[i] > 0)
            origin += (buffer->shape[i] - 1) * -buffer->stride[i];
    return origin;
}
