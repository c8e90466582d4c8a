/* SPDX-License-Identifier: Apache-2.0
 *
 * Unpacking into a buffer that grows with what comes, not with what was announced. */
#ifndef RIDGE_BASE_UNPACK_H
#define RIDGE_BASE_UNPACK_H

#include "base/cursor.h"
#include "ridge/status.h"

/* What unpacked bytes go to. Starts as {.largest = N}; data is the caller's to ridge_free(), after
 * a failure too. */
typedef struct ridge_sink {
    uint8_t *data;
    size_t size;
    size_t capacity;
    size_t largest; /* below SIZE_MAX */
} ridge_sink;

/* Makes room for capacity bytes in all. */
ridge_status ridge_sink_reserve(ridge_sink *to, size_t capacity, ridge_error *err);
/* Makes room for at least one more byte; one more than largest, to see whether it comes. */
ridge_status ridge_sink_grow(ridge_sink *to, ridge_error *err);
ridge_status ridge_sink_too_large(const ridge_sink *to, ridge_error *err);

/* Appends what the frames of zstd unpack to. The caller compares size with largest at the end. */
ridge_status ridge_unpack_zstd(ridge_slice packed, ridge_sink *to, ridge_error *err);

#endif
