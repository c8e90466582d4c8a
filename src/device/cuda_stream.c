/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams and events. Streams are non-blocking; events take times. */
#include "base/memory.h"
#include "device/cuda_internal.h"

typedef struct cuda_event {
    ridge_event base;
    cu_event native;
} cuda_event;

static cu_event event_of(const ridge_event *event)
{
    return ((const cuda_event *)event)->native;
}

ridge_status cuda_stream_create(ridge_device *base, ridge_stream **out, ridge_error *err)
{
    cuda_device *const device = cuda_of(base);
    ridge_stream *stream;
    ridge_status status = cuda_enter(device, err);

    if (status != RIDGE_OK)
        return status;
    stream = ridge_calloc(1, sizeof(*stream));
    if (stream == NULL)
        return cuda_no_host_memory(err);
    status = cuda_check(device, device->driver.cuStreamCreate(&stream->native, CU_STREAM_OTHER),
                        "cuStreamCreate", err);
    if (status != RIDGE_OK) {
        ridge_free(stream);
        return status;
    }
    stream->device = base;
    *out = stream;
    return RIDGE_OK;
}

void cuda_stream_free(ridge_stream *stream)
{
    cuda_device *device;

    if (stream == NULL)
        return;
    device = cuda_of(stream->device);
    if (cuda_enter(device, NULL) == RIDGE_OK)
        device->driver.cuStreamDestroy_v2(stream->native);
    ridge_free(stream);
}

ridge_status cuda_stream_synchronize(ridge_stream *stream, ridge_error *err)
{
    cuda_device *const device = cuda_of(stream->device);
    const ridge_status status = cuda_enter(device, err);

    return status != RIDGE_OK
               ? status
               : cuda_check(device, device->driver.cuStreamSynchronize(stream->native),
                            "cuStreamSynchronize", err);
}

ridge_status cuda_stream_wait(ridge_stream *stream, ridge_event *event, ridge_error *err)
{
    cuda_device *const device = cuda_of(stream->device);

    return cuda_check(device, device->driver.cuStreamWaitEvent(stream->native, event_of(event), 0),
                      "cuStreamWaitEvent", err);
}

ridge_status cuda_event_create(ridge_device *base, ridge_event **out, ridge_error *err)
{
    cuda_device *const device = cuda_of(base);
    cuda_event *event;
    ridge_status status = cuda_enter(device, err);

    if (status != RIDGE_OK)
        return status;
    event = ridge_calloc(1, sizeof(*event));
    if (event == NULL)
        return cuda_no_host_memory(err);
    status =
        cuda_check(device, device->driver.cuEventCreate(&event->native, 0), "cuEventCreate", err);
    if (status != RIDGE_OK) {
        ridge_free(event);
        return status;
    }
    event->base.device = base;
    *out = &event->base;
    return RIDGE_OK;
}

void cuda_event_free(ridge_event *event)
{
    cuda_device *device;

    if (event == NULL)
        return;
    device = cuda_of(event->device);
    if (cuda_enter(device, NULL) == RIDGE_OK)
        device->driver.cuEventDestroy_v2(event_of(event));
    ridge_free(event);
}

ridge_status cuda_event_record(ridge_event *event, ridge_stream *stream, ridge_error *err)
{
    cuda_device *const device = cuda_of(event->device);

    return cuda_check(device, device->driver.cuEventRecord(event_of(event), stream->native),
                      "cuEventRecord", err);
}

ridge_status cuda_event_synchronize(ridge_event *event, ridge_error *err)
{
    cuda_device *const device = cuda_of(event->device);

    return cuda_check(device, device->driver.cuEventSynchronize(event_of(event)),
                      "cuEventSynchronize", err);
}

/* A float of milliseconds: its 24 bits hold the driver's steps of 32 ns up to half a second. */
ridge_status cuda_event_elapsed_ns(const ridge_event *from, const ridge_event *to, double *out,
                                   ridge_error *err)
{
    cuda_device *const device = cuda_of(from->device);
    float milliseconds = 0;
    const ridge_status status = cuda_check(
        device, device->driver.cuEventElapsedTime(&milliseconds, event_of(from), event_of(to)),
        "cuEventElapsedTime", err);

    if (status == RIDGE_OK)
        *out = (double)milliseconds * 1e6;
    return status;
}
