/* SPDX-License-Identifier: Apache-2.0 */
#include "device/harness.h"

#include <math.h>

#include "device/fill_arithmetic.h"

static const harness_ops *ops_of(const ridge_device *device)
{
    return device->info.kind == RIDGE_DEVICE_CPU ? &HARNESS_CPU : &HARNESS_CUDA;
}

void harness_free(ridge_device *device)
{
    if (device->harness != NULL)
        ops_of(device)->free(device);
    device->harness = NULL;
}

ridge_status ridge_device_fill(ridge_device *device, ridge_stream *stream,
                               const ridge_buffer_desc *buffer, ridge_values values, void *data,
                               uint64_t seed, ridge_error *err)
{
    ridge_buffer_desc own = *buffer;
    int i;

    if ((unsigned)values >= RIDGE_VALUES_COUNT || (unsigned)buffer->dtype >= RIDGE_DTYPE_COUNT)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "buffer %s: values %d, dtype %d",
                          buffer->name, (int)values, (int)buffer->dtype);
    if (ridge_buffer_elements(buffer) == 0)
        return RIDGE_OK;
    /* What is written once has one value, whatever the order. */
    for (i = 0; i < own.ndim; i++)
        if (own.stride[i] == 0)
            own.shape[i] = 1;
    return ops_of(device)->fill(device, stream, &own, values, data, seed, err);
}

ridge_status ridge_device_set_words(ridge_device *device, ridge_stream *stream, void *data,
                                    size_t size_bytes, uint32_t value, ridge_error *err)
{
    if (size_bytes == 0)
        return RIDGE_OK;
    return ops_of(device)->set_words(device, stream, data, size_bytes, value, err);
}

ridge_status ridge_device_pattern(ridge_device *device, ridge_stream *stream, void *data,
                                  size_t size_bytes, uint64_t seed, ridge_error *err)
{
    if (size_bytes == 0)
        return RIDGE_OK;
    return ops_of(device)->pattern(device, stream, data, size_bytes, seed, err);
}

ridge_status ridge_device_pattern_check(ridge_device *device, ridge_stream *stream,
                                        const void *data, size_t size_bytes, uint64_t seed,
                                        uint64_t *wrong_bytes, uint64_t *first_offset,
                                        ridge_error *err)
{
    *wrong_bytes = 0;
    *first_offset = 0;
    if (size_bytes == 0)
        return RIDGE_OK;
    return ops_of(device)->pattern_check(device, stream, data, size_bytes, seed, wrong_bytes,
                                         first_offset, err);
}

ridge_status ridge_device_hash(ridge_device *device, ridge_stream *stream, const void *data,
                               size_t size_bytes, uint64_t *out, ridge_error *err)
{
    ridge_status status = RIDGE_OK;

    *out = 0;
    if (size_bytes > 0)
        status = ops_of(device)->hash(device, stream, data, size_bytes, out, err);
    if (status == RIDGE_OK)
        *out += fill_hash_size(size_bytes);
    return status;
}

ridge_status ridge_device_gate_close(ridge_device *device, ridge_stream *stream, ridge_error *err)
{
    return ops_of(device)->gate_close != NULL ? ops_of(device)->gate_close(device, stream, err)
                                              : RIDGE_OK;
}

void ridge_device_gate_open(ridge_device *device)
{
    if (ops_of(device)->gate_open != NULL)
        ops_of(device)->gate_open(device);
}

ridge_status ridge_device_empty(ridge_device *device, ridge_stream *stream, unsigned grid,
                                unsigned block, ridge_error *err)
{
    return ops_of(device)->empty != NULL ? ops_of(device)->empty(device, stream, grid, block, err)
                                         : RIDGE_OK;
}

ridge_status ridge_device_scrub_shared(ridge_device *device, ridge_stream *stream, ridge_error *err)
{
    return ops_of(device)->scrub_shared != NULL ? ops_of(device)->scrub_shared(device, stream, err)
                                                : RIDGE_OK;
}

ridge_status ridge_device_clock_begin(ridge_device *device, ridge_stream *stream, ridge_error *err)
{
    return ops_of(device)->clock_note != NULL
               ? ops_of(device)->clock_note(device, stream, false, err)
               : RIDGE_OK;
}

ridge_status ridge_device_clock_end(ridge_device *device, ridge_stream *stream, ridge_error *err)
{
    return ops_of(device)->clock_note != NULL
               ? ops_of(device)->clock_note(device, stream, true, err)
               : RIDGE_OK;
}

double ridge_device_clock_read(ridge_device *device, ridge_stream *stream)
{
    return ops_of(device)->clock_read != NULL ? ops_of(device)->clock_read(device, stream)
                                              : (double)NAN;
}
