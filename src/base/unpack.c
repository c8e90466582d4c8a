/* SPDX-License-Identifier: Apache-2.0
 *
 * Unpacking in a stream into a buffer that doubles: a size that a file announces is never
 * believed. Who trusts it somewhat gives the sink a buffer of that size at the start, and zstd then
 * unpacks in one pass. */
#include "base/unpack.h"

#include <zstd.h>

#include "base/memory.h"

enum { FIRST_UNPACKED_BYTES = 1 << 16 };

static ridge_status out_of_memory(ridge_error *err)
{
    return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory while unpacking");
}

ridge_status ridge_sink_too_large(const ridge_sink *to, ridge_error *err)
{
    return ridge_fail(err, RIDGE_ERR_FORMAT, "unpacks to more than %zu bytes", to->largest);
}

ridge_status ridge_sink_reserve(ridge_sink *to, size_t capacity, ridge_error *err)
{
    uint8_t *data;

    if (capacity <= to->capacity)
        return RIDGE_OK;
    data = ridge_realloc_array(to->data, capacity, 1);
    if (data == NULL)
        return out_of_memory(err);
    to->data = data;
    to->capacity = capacity;
    return RIDGE_OK;
}

ridge_status ridge_sink_grow(ridge_sink *to, ridge_error *err)
{
    size_t capacity = to->capacity > 0 ? to->capacity : FIRST_UNPACKED_BYTES / 2;

    if (to->size < to->capacity)
        return RIDGE_OK;
    if (to->size > to->largest)
        return ridge_sink_too_large(to, err);
    /* One byte more than allowed, to see whether something comes. */
    capacity = capacity > to->largest / 2 ? to->largest + 1 : capacity * 2;
    return ridge_sink_reserve(to, capacity, err);
}

ridge_status ridge_unpack_zstd(ridge_slice packed, ridge_sink *to, ridge_error *err)
{
    ZSTD_DStream *const stream = ZSTD_createDStream();
    ZSTD_inBuffer in = {packed.data, packed.size, 0};
    ridge_status status = RIDGE_OK;
    size_t left = 1; /* of the frame: 0 at its end */

    if (stream == NULL)
        return out_of_memory(err);
    /* A full buffer may hide output that the decoder still keeps: then it is called again
     * although it has all input. */
    while (in.pos < in.size || left != 0) {
        const size_t in_before = in.pos;
        ZSTD_outBuffer out;

        status = ridge_sink_grow(to, err);
        if (status != RIDGE_OK)
            break;
        out.dst = to->data + to->size;
        out.size = to->capacity - to->size;
        out.pos = 0;
        left = ZSTD_decompressStream(stream, &out, &in);
        to->size += out.pos;
        if (ZSTD_isError(left)) {
            status = ridge_fail(err, RIDGE_ERR_FORMAT, "zstd data damaged near byte %zu: %s",
                                in.pos, ZSTD_getErrorName(left));
            break;
        }
        if (left != 0 && in.pos == in_before && out.pos == 0) {
            status = ridge_fail(err, RIDGE_ERR_FORMAT,
                                "zstd data cut: %zu bytes end inside a frame", packed.size);
            break;
        }
    }
    ZSTD_freeDStream(stream);
    return status;
}
