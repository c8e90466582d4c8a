/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of a GPU. Blocking copies wait for the whole context before and after, so that they come
 * behind everything that was started, as on the CPU device: the driver alone orders them with
 * neither non-blocking streams nor, from pageable memory, with their own completion.
 *
 * Mappings are the driver's virtual memory: a range of addresses is reserved, physical memory is
 * made in granules of 2 MiB and mapped into it. A fence is a granule of reserved addresses behind
 * the range to which nothing is mapped: an access there is a fault. An alias maps one piece of
 * physical memory again and again. */
#include <string.h>

#include "base/memory.h"
#include "device/cuda_internal.h"

/* What an empty request gets, so that its address is one. */
enum { EMPTY_BYTES = 256 };

static cu_pointer address_of(const void *data)
{
    return (cu_pointer)(uintptr_t)data;
}

/* An address of the device as the void * that the interface has. */
static void *pointer_of(cu_pointer address)
{
    const uintptr_t number = (uintptr_t)address;
    void *data;

    memcpy(&data, &number, sizeof(data));
    return data;
}

ridge_status cuda_alloc(ridge_device *base, size_t size_bytes, void **out, ridge_error *err)
{
    cuda_device *const device = cuda_of(base);
    ridge_status status = cuda_enter(device, err);
    cu_pointer data = 0;

    if (status != RIDGE_OK)
        return status;
    status = cuda_check_memory(
        device, device->driver.cuMemAlloc_v2(&data, size_bytes > 0 ? size_bytes : EMPTY_BYTES),
        "cuMemAlloc", size_bytes, err);
    if (status == RIDGE_OK)
        *out = pointer_of(data);
    return status;
}

void cuda_release(ridge_device *base, void *data)
{
    cuda_device *const device = cuda_of(base);

    if (cuda_enter(device, NULL) == RIDGE_OK)
        device->driver.cuMemFree_v2(address_of(data));
}

ridge_status cuda_free_bytes(ridge_device *base, size_t *out, ridge_error *err)
{
    cuda_device *const device = cuda_of(base);
    ridge_status status = cuda_enter(device, err);
    size_t free_bytes = 0, total_bytes = 0;

    if (status != RIDGE_OK)
        return status;
    status = cuda_check(device, device->driver.cuMemGetInfo_v2(&free_bytes, &total_bytes),
                        "cuMemGetInfo", err);
    if (status == RIDGE_OK)
        *out = free_bytes;
    return status;
}

/* -- copies ------------------------------------------------------------------------------------ */

static ridge_status drain(cuda_device *device, ridge_error *err)
{
    const ridge_status status = cuda_enter(device, err);

    return status != RIDGE_OK
               ? status
               : cuda_check(device, device->driver.cuCtxSynchronize(), "cuCtxSynchronize", err);
}

ridge_status cuda_upload(ridge_device *base, void *to, const void *from, size_t size_bytes,
                         ridge_error *err)
{
    cuda_device *const device = cuda_of(base);
    ridge_status status = drain(device, err);

    if (status != RIDGE_OK)
        return status;
    status = cuda_check(device, device->driver.cuMemcpyHtoD_v2(address_of(to), from, size_bytes),
                        "cuMemcpyHtoD", err);
    return status != RIDGE_OK ? status : drain(device, err);
}

ridge_status cuda_download(ridge_device *base, void *to, const void *from, size_t size_bytes,
                           ridge_error *err)
{
    cuda_device *const device = cuda_of(base);
    const ridge_status status = drain(device, err);

    if (status != RIDGE_OK)
        return status;
    return cuda_check(device, device->driver.cuMemcpyDtoH_v2(to, address_of(from), size_bytes),
                      "cuMemcpyDtoH", err);
}

ridge_status cuda_copy(ridge_device *base, ridge_stream *stream, void *to, const void *from,
                       size_t size_bytes, ridge_error *err)
{
    cuda_device *const device = cuda_of(base);

    return cuda_check(device,
                      device->driver.cuMemcpyDtoDAsync_v2(address_of(to), address_of(from),
                                                          size_bytes,
                                                          stream != NULL ? stream->native : NULL),
                      "cuMemcpyDtoDAsync", err);
}

ridge_status cuda_alloc_shared(ridge_device *base, size_t size_bytes, void **host,
                               void **device_address, ridge_error *err)
{
    cuda_device *const device = cuda_of(base);
    ridge_status status = cuda_enter(device, err);
    cu_pointer address = 0;
    void *data = NULL;

    if (status != RIDGE_OK)
        return status;
    status = cuda_check_memory(
        device, device->driver.cuMemHostAlloc(&data, size_bytes, CU_HOST_PORTABLE | CU_HOST_MAPPED),
        "cuMemHostAlloc", size_bytes, err);
    if (status != RIDGE_OK)
        return status;
    status = cuda_check(device, device->driver.cuMemHostGetDevicePointer_v2(&address, data, 0),
                        "cuMemHostGetDevicePointer", err);
    if (status != RIDGE_OK) {
        device->driver.cuMemFreeHost(data);
        return status;
    }
    memset(data, 0, size_bytes);
    *host = data;
    *device_address = pointer_of(address);
    return RIDGE_OK;
}

void cuda_release_shared(ridge_device *base, void *host)
{
    cuda_device *const device = cuda_of(base);

    if (cuda_enter(device, NULL) == RIDGE_OK)
        device->driver.cuMemFreeHost(host);
}

/* -- mappings ---------------------------------------------------------------------------------- */

typedef struct cuda_mapping {
    ridge_mapping base;
    cuda_device *device;
    cu_pointer begin;
    size_t reserved_bytes; /* 0: nothing is reserved */
    size_t piece_bytes;    /* of physical memory, mapped mapped_count times */
    size_t mapped_count;
} cuda_mapping;

static cu_mem_prop memory_of(const cuda_device *device)
{
    return (cu_mem_prop){.type = CU_MEMORY_PINNED,
                         .location = {CU_MEMORY_OF_DEVICE, device->ordinal}};
}

static ridge_status find_granule(cuda_device *device, ridge_error *err)
{
    const cu_mem_prop prop = memory_of(device);
    size_t granule = 0;
    ridge_status status;

    if (device->granule_bytes != 0)
        return RIDGE_OK;
    status = cuda_check(
        device, device->driver.cuMemGetAllocationGranularity(&granule, &prop, CU_GRANULARITY_LEAST),
        "cuMemGetAllocationGranularity", err);
    if (status != RIDGE_OK)
        return status;
    if (granule == 0 || (granule & (granule - 1)) != 0)
        return ridge_fail(err, RIDGE_ERR_CUDA,
                          "cuMemGetAllocationGranularity: %zu bytes, expected a power of two",
                          granule);
    device->granule_bytes = granule;
    return RIDGE_OK;
}

static size_t round_up(size_t size, size_t unit)
{
    return size / unit * unit + (size % unit != 0 ? unit : 0);
}

/* Reserves, makes the memory, maps it count times and allows access to all of it. What was done is
 * noted in the mapping, also after a failure. */
static ridge_status fill_mapping(cuda_mapping *mapping, size_t count, size_t fence_bytes,
                                 ridge_error *err)
{
    cuda_device *const device = mapping->device;
    const cuda_driver *const driver = &device->driver;
    const cu_mem_prop prop = memory_of(device);
    const cu_mem_access access = {prop.location, CU_ACCESS_READ_WRITE};
    const size_t piece = mapping->piece_bytes, total = piece * count;
    cu_memory memory = 0;
    ridge_status status = cuda_check_memory(
        device, driver->cuMemAddressReserve(&mapping->begin, total + fence_bytes, 0, 0, 0),
        "cuMemAddressReserve", total + fence_bytes, err);

    if (status != RIDGE_OK)
        return status;
    mapping->reserved_bytes = total + fence_bytes;
    status = cuda_check_memory(device, driver->cuMemCreate(&memory, piece, &prop, 0), "cuMemCreate",
                               piece, err);
    if (status != RIDGE_OK)
        return status;
    while (status == RIDGE_OK && mapping->mapped_count < count) {
        status = cuda_check_memory(
            device,
            driver->cuMemMap(mapping->begin + mapping->mapped_count * piece, piece, 0, memory, 0),
            "cuMemMap", piece, err);
        if (status == RIDGE_OK)
            mapping->mapped_count++;
    }
    /* What is mapped keeps the memory. */
    driver->cuMemRelease(memory);
    return status != RIDGE_OK
               ? status
               : cuda_check_memory(device,
                                   driver->cuMemSetAccess(mapping->begin, total, &access, 1),
                                   "cuMemSetAccess", total, err);
}

void cuda_mapping_free(ridge_mapping *base)
{
    cuda_mapping *const mapping = (cuda_mapping *)base;
    cuda_device *device;
    size_t i;

    if (mapping == NULL)
        return;
    device = mapping->device;
    /* Nothing may be running on it; in a lost context nothing is. */
    drain(device, NULL);
    for (i = 0; i < mapping->mapped_count; i++)
        device->driver.cuMemUnmap(mapping->begin + i * mapping->piece_bytes, mapping->piece_bytes);
    if (mapping->reserved_bytes > 0)
        device->driver.cuMemAddressFree(mapping->begin, mapping->reserved_bytes);
    ridge_free(mapping);
}

ridge_status cuda_map(ridge_device *base, size_t size_bytes, bool fence, size_t alias_bytes,
                      ridge_mapping **out, void **data, ridge_error *err)
{
    cuda_device *const device = cuda_of(base);
    cuda_mapping *mapping;
    size_t piece, count, fence_bytes;
    ridge_status status = cuda_enter(device, err);

    if (status != RIDGE_OK)
        return status;
    if (!base->info.has_virtual_memory)
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "cuda:%d has no virtual memory management (vGPU, or an old driver)",
                          base->info.index);
    status = find_granule(device, err);
    if (status != RIDGE_OK)
        return status;
    if (size_bytes > SIZE_MAX / 4 || alias_bytes > SIZE_MAX / 4)
        return ridge_fail(err, RIDGE_ERR_OVERFLOW, "a mapping of %zu bytes", size_bytes);
    piece = round_up(alias_bytes > 0 ? alias_bytes : size_bytes, device->granule_bytes);
    count = size_bytes / piece + (size_bytes % piece != 0);
    fence_bytes = fence ? device->granule_bytes : 0;

    mapping = ridge_calloc(1, sizeof(*mapping));
    if (mapping == NULL)
        return cuda_no_host_memory(err);
    mapping->device = device;
    mapping->base.device = base;
    mapping->piece_bytes = piece;
    status = fill_mapping(mapping, count, fence_bytes, err);
    if (status != RIDGE_OK) {
        cuda_mapping_free(&mapping->base);
        return status;
    }
    *out = &mapping->base;
    *data = pointer_of(mapping->begin +
                       (fence ? piece * count - round_up(size_bytes, DEVICE_FENCE_ALIGNMENT) : 0));
    return RIDGE_OK;
}
