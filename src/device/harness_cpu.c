/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "device/fill_arithmetic.h"
#include "device/harness.h"

/* Bytes of the 8-byte word at, which may be cut. */
static size_t left_in_word(size_t at, size_t size_bytes)
{
    return size_bytes - at < sizeof(uint64_t) ? size_bytes - at : sizeof(uint64_t);
}

static ridge_status cpu_fill(ridge_device *device, ridge_stream *stream,
                             const ridge_buffer_desc *buffer, ridge_values values, void *data,
                             uint64_t seed, ridge_error *err)
{
    const int last = buffer->ndim - 1;
    const int64_t columns = last >= 0 ? buffer->shape[last] : 1;
    const int64_t step = last >= 0 ? buffer->stride[last] : 0;
    const int64_t rows = ridge_buffer_elements(buffer) / columns;
    int64_t row, column;

    (void)device;
    (void)stream;
    (void)err;
    for (row = 0; row < rows; row++) {
        const int64_t offset = ridge_buffer_offset(buffer, row * columns);

        for (column = 0; column < columns; column++)
            ridge_dtype_store(
                buffer->dtype, data, offset + column * step,
                fill_element(values, buffer->dtype, row, rows, column, columns, seed));
    }
    return RIDGE_OK;
}

static ridge_status cpu_set_words(ridge_device *device, ridge_stream *stream, void *data,
                                  size_t size_bytes, uint32_t value, ridge_error *err)
{
    unsigned char *const bytes = data;
    size_t at;

    (void)device;
    (void)stream;
    (void)err;
    for (at = 0; at < size_bytes; at += sizeof(value))
        memcpy(bytes + at, &value,
               size_bytes - at < sizeof(value) ? size_bytes - at : sizeof(value));
    return RIDGE_OK;
}

static ridge_status cpu_pattern(ridge_device *device, ridge_stream *stream, void *data,
                                size_t size_bytes, uint64_t seed, ridge_error *err)
{
    unsigned char *const bytes = data;
    size_t at;

    (void)device;
    (void)stream;
    (void)err;
    for (at = 0; at < size_bytes; at += sizeof(uint64_t)) {
        const uint64_t word = fill_hash(seed, at / sizeof(word));

        memcpy(bytes + at, &word, left_in_word(at, size_bytes));
    }
    return RIDGE_OK;
}

static ridge_status cpu_pattern_check(ridge_device *device, ridge_stream *stream, const void *data,
                                      size_t size_bytes, uint64_t seed, uint64_t *wrong_bytes,
                                      uint64_t *first_offset, ridge_error *err)
{
    const unsigned char *const bytes = data;
    size_t at;

    (void)device;
    (void)stream;
    (void)err;
    for (at = 0; at < size_bytes; at++) {
        const uint64_t word = fill_hash(seed, at / sizeof(word));

        if (at % sizeof(word) == 0 && size_bytes - at >= sizeof(word) &&
            memcmp(bytes + at, &word, sizeof(word)) == 0) {
            at += sizeof(word) - 1;
            continue;
        }
        if (bytes[at] == fill_pattern_byte(seed, at))
            continue;
        if (*wrong_bytes == 0)
            *first_offset = at;
        ++*wrong_bytes;
    }
    return RIDGE_OK;
}

static ridge_status cpu_hash(ridge_device *device, ridge_stream *stream, const void *data,
                             size_t size_bytes, uint64_t *out, ridge_error *err)
{
    const unsigned char *const bytes = data;
    uint64_t sum = 0;
    size_t at;

    (void)device;
    (void)stream;
    (void)err;
    for (at = 0; at < size_bytes; at += sizeof(uint64_t)) {
        uint64_t word = 0;

        memcpy(&word, bytes + at, left_in_word(at, size_bytes));
        sum += fill_hash_word(word, at / sizeof(word));
    }
    *out = sum;
    return RIDGE_OK;
}

const harness_ops HARNESS_CPU = {.fill = cpu_fill,
                                 .set_words = cpu_set_words,
                                 .pattern = cpu_pattern,
                                 .pattern_check = cpu_pattern_check,
                                 .hash = cpu_hash};
