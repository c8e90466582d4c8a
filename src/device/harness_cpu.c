/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "device/fill_arithmetic.h"
#include "device/harness.h"

/* Bytes of the 8-byte word at, which may be cut. */
static size_t left_in_word(size_t at, size_t size_bytes)
{
    return size_bytes - at < sizeof(uint64_t) ? size_bytes - at : sizeof(uint64_t);
}

/* A row of one type: its conversion is compiled into the loop. */
typedef void (*fill_row)(ridge_values values, unsigned char *first, int64_t step, int64_t row,
                         int64_t rows, int64_t columns, uint64_t seed);

#define FILL_ROW(name, unsigned_type)                                                              \
    static void fill_row_##name(ridge_values values, unsigned char *first, int64_t step,           \
                                int64_t row, int64_t rows, int64_t columns, uint64_t seed)         \
    {                                                                                              \
        const bool is_normal = values == RIDGE_VALUES_NORMAL;                                      \
                                                                                                   \
        for (int64_t column = 0; column < columns; column++) {                                     \
            const double value = is_normal ? fill_element(RIDGE_VALUES_NORMAL, RIDGE_DTYPE_##name, \
                                                          row, rows, column, columns, seed)        \
                                           : fill_element(values, RIDGE_DTYPE_##name, row, rows,   \
                                                          column, columns, seed);                  \
            const unsigned_type code = (unsigned_type)dtype_encode(RIDGE_DTYPE_##name, value);     \
                                                                                                   \
            memcpy(first + column * step * (int64_t)sizeof(code), &code, sizeof(code));            \
        }                                                                                          \
    }
FILL_ROW(F64, uint64_t)
FILL_ROW(F32, uint32_t)
FILL_ROW(F16, uint16_t)
FILL_ROW(BF16, uint16_t)
FILL_ROW(E4M3, uint8_t)
FILL_ROW(E5M2, uint8_t)
FILL_ROW(I64, uint64_t)
FILL_ROW(I32, uint32_t)
FILL_ROW(U32, uint32_t)
FILL_ROW(I16, uint16_t)
FILL_ROW(I8, uint8_t)
FILL_ROW(U8, uint8_t)
#undef FILL_ROW

static const fill_row fill_rows[RIDGE_DTYPE_COUNT] = {
#define FILL_ROW_OF(name, text, bytes, bits) [RIDGE_DTYPE_##name] = fill_row_##name,
    RIDGE_DTYPE_LIST(FILL_ROW_OF)
#undef FILL_ROW_OF
};

static ridge_status cpu_fill(ridge_device *device, ridge_stream *stream,
                             const ridge_buffer_desc *buffer, ridge_values values, void *data,
                             uint64_t seed, ridge_error *err)
{
    const int last = buffer->ndim - 1;
    const int64_t columns = last >= 0 ? buffer->shape[last] : 1;
    const int64_t step = last >= 0 ? buffer->stride[last] : 0;
    const int64_t bytes = (int64_t)ridge_dtype_bytes(buffer->dtype);
    const int64_t rows = ridge_buffer_elements(buffer) / columns;

    (void)device;
    (void)stream;
    (void)err;
    for (int64_t row = 0; row < rows; row++)
        fill_rows[buffer->dtype](
            values, (unsigned char *)data + ridge_buffer_offset(buffer, row * columns) * bytes,
            step, row, rows, columns, seed);
    return RIDGE_OK;
}

static ridge_status cpu_set_words(ridge_device *device, ridge_stream *stream, void *data,
                                  size_t size_bytes, uint32_t value, ridge_error *err)
{
    const size_t whole_bytes = size_bytes - size_bytes % sizeof(value);
    unsigned char *const bytes = data;
    size_t at;

    (void)device;
    (void)stream;
    (void)err;
    for (at = 0; at < whole_bytes; at += sizeof(value))
        memcpy(bytes + at, &value, sizeof(value));
    memcpy(bytes + whole_bytes, &value, size_bytes - whole_bytes);
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
    const size_t whole_bytes = size_bytes - size_bytes % sizeof(uint64_t);
    uint64_t sum = 0, word;
    size_t at;

    (void)device;
    (void)stream;
    (void)err;
    for (at = 0; at < whole_bytes; at += sizeof(word)) {
        memcpy(&word, bytes + at, sizeof(word));
        sum += fill_hash_word(word, at / sizeof(word));
    }
    if (whole_bytes < size_bytes) {
        word = 0;
        memcpy(&word, bytes + whole_bytes, size_bytes - whole_bytes);
        sum += fill_hash_word(word, whole_bytes / sizeof(word));
    }
    *out = sum;
    return RIDGE_OK;
}

const harness_ops HARNESS_CPU = {.fill = cpu_fill,
                                 .set_words = cpu_set_words,
                                 .pattern = cpu_pattern,
                                 .pattern_check = cpu_pattern_check,
                                 .hash = cpu_hash};
