/* SPDX-License-Identifier: Apache-2.0
 *
 * A CUDA GPU: its primary context and what it is. Numbers come from the driver; what it does not
 * say (its version, clocks, power) from NVML, found by the PCI address, which is the same GPU
 * whatever CUDA_VISIBLE_DEVICES says. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "device/cuda_internal.h"
#include "ridge/table.h"

/* -- failures ---------------------------------------------------------------------------------- */

ridge_status cuda_check(cuda_device *device, cu_result result, const char *call, ridge_error *err)
{
    if (result == CU_SUCCESS)
        return RIDGE_OK;
    if (result >= CU_CAPTURE_UNSUPPORTED && result <= CU_CAPTURE_WRONG_THREAD &&
        device->capture_fault[0] == '\0')
        snprintf(device->capture_fault, sizeof(device->capture_fault), "%s", call);
    return cuda_driver_fail(&device->driver, result, call, err);
}

ridge_status cuda_check_memory(cuda_device *device, cu_result result, const char *call,
                               size_t size_bytes, ridge_error *err)
{
    size_t free_bytes = 0, total_bytes = 0;
    char wanted[32], left[32], all[32];

    if (result != CU_OUT_OF_MEMORY)
        return cuda_check(device, result, call, err);
    ridge_number_text((double)size_bytes, RIDGE_UNIT_BYTES, wanted, sizeof(wanted));
    if (device->driver.cuMemGetInfo_v2(&free_bytes, &total_bytes) != CU_SUCCESS)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY,
                          "%s: no %s of device memory are free on cuda:%d", call, wanted,
                          device->base.info.index);
    return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "%s: %s wanted on cuda:%d, %s of %s are free",
                      call, wanted, device->base.info.index,
                      ridge_number_text((double)free_bytes, RIDGE_UNIT_BYTES, left, sizeof(left)),
                      ridge_number_text((double)total_bytes, RIDGE_UNIT_BYTES, all, sizeof(all)));
}

ridge_status cuda_no_host_memory(ridge_error *err)
{
    return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
}

/* -- the context ------------------------------------------------------------------------------- */

ridge_status cuda_enter(cuda_device *device, ridge_error *err)
{
    cu_context current = NULL;

    if (device->driver.cuCtxGetCurrent(&current) == CU_SUCCESS && current == device->context)
        return RIDGE_OK;
    return cuda_check(device, device->driver.cuCtxSetCurrent(device->context), "cuCtxSetCurrent",
                      err);
}

static ridge_status make_current(ridge_device *base, ridge_error *err)
{
    return cuda_enter(cuda_of(base), err);
}

static ridge_status synchronize(ridge_device *base, ridge_error *err)
{
    cuda_device *const device = cuda_of(base);
    const ridge_status status = cuda_enter(device, err);

    return status != RIDGE_OK
               ? status
               : cuda_check(device, device->driver.cuCtxSynchronize(), "cuCtxSynchronize", err);
}

static bool reset_persisting_l2(ridge_device *base)
{
    cuda_device *const device = cuda_of(base);
    const cuda_driver *const driver = &device->driver;
    size_t limit = 1;

    /* A GPU without such lines refuses to hear of them. */
    if (base->info.persisting_l2_bytes == 0)
        return true;
    return cuda_enter(device, NULL) == RIDGE_OK &&
           driver->cuCtxSetLimit(CU_LIMIT_PERSISTING, 0) == CU_SUCCESS &&
           driver->cuCtxResetPersistingL2Cache() == CU_SUCCESS &&
           driver->cuCtxGetLimit(&limit, CU_LIMIT_PERSISTING) == CU_SUCCESS && limit == 0;
}

static size_t persisting_l2_limit(ridge_device *base)
{
    cuda_device *const device = cuda_of(base);
    size_t limit = 0;

    if (base->info.persisting_l2_bytes == 0 || cuda_enter(device, NULL) != RIDGE_OK ||
        device->driver.cuCtxGetLimit(&limit, CU_LIMIT_PERSISTING) != CU_SUCCESS)
        return 0;
    return limit;
}

static int other_processes(ridge_device *base)
{
    const cuda_device *const device = cuda_of(base);

    return nvml_other_processes(&device->management, device->handle, device->context != NULL);
}

static void read_clocks(ridge_device *base, ridge_clock_reading *out)
{
    const cuda_device *const device = cuda_of(base);

    nvml_read_clocks(&device->management, device->handle, out);
}

/* -- what it is -------------------------------------------------------------------------------- */

static int attribute(const cuda_device *device, unsigned which)
{
    int value = 0;

    return device->driver.cuDeviceGetAttribute(&value, which, device->ordinal) == CU_SUCCESS ? value
                                                                                             : 0;
}

static void write_uuid(const cu_uuid *uuid, bool is_mig, char *out, size_t size)
{
    size_t i, length = (size_t)snprintf(out, size, "%s", is_mig ? "MIG" : "GPU");

    for (i = 0; i < sizeof(uuid->bytes) && length + 4 < size; i++)
        length += (size_t)snprintf(out + length, size - length, "%s%02x",
                                   i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                                   (unsigned char)uuid->bytes[i]);
}

static void fill_numbers(const cuda_device *device, ridge_device_info *info)
{
    const double bus_bits = attribute(device, CU_DEVICE_BUS_WIDTH);
    const double memory_khz = attribute(device, CU_DEVICE_MEMORY_CLOCK_KHZ);

    info->sm_version =
        10 * attribute(device, CU_DEVICE_CC_MAJOR) + attribute(device, CU_DEVICE_CC_MINOR);
    info->sm_count = attribute(device, CU_DEVICE_SM_COUNT);
    info->warp_size = attribute(device, CU_DEVICE_WARP_SIZE);
    info->threads_per_sm = attribute(device, CU_DEVICE_THREADS_PER_SM);
    info->registers_per_sm = attribute(device, CU_DEVICE_REGISTERS_PER_SM);
    info->shared_per_block_bytes = (size_t)attribute(device, CU_DEVICE_SHARED_OPTIN);
    info->shared_per_sm_bytes = (size_t)attribute(device, CU_DEVICE_SHARED_PER_SM);
    info->l2_bytes = (size_t)attribute(device, CU_DEVICE_L2);
    info->persisting_l2_bytes = (size_t)attribute(device, CU_DEVICE_PERSISTING_L2);
    info->clock_hz = attribute(device, CU_DEVICE_CLOCK_KHZ) * 1e3;
    info->memory_bytes_per_s =
        bus_bits > 0 && memory_khz > 0 ? 2 * memory_khz * 1e3 * bus_bits / 8 : NAN;
    info->is_ecc = attribute(device, CU_DEVICE_ECC) != 0;
    info->has_virtual_memory = attribute(device, CU_DEVICE_VIRTUAL_MEMORY) != 0;
}

static void fill_info(cuda_device *device, int index)
{
    const cuda_driver *const driver = &device->driver;
    ridge_device_info *const info = &device->base.info;
    size_t memory_bytes = 0;
    cu_uuid uuid = {{0}};
    char bus_id[32] = "";

    *info = (ridge_device_info){.kind = RIDGE_DEVICE_CUDA,
                                .index = index,
                                .cuda_driver_version = driver->version,
                                .power_limit_w = NAN,
                                .has_graphs = true,
                                .has_modules = true};
    if (driver->cuDeviceGetName(info->name, sizeof(info->name), device->ordinal) != CU_SUCCESS)
        info->name[0] = '\0';
    info->name[sizeof(info->name) - 1] = '\0';
    fill_numbers(device, info);
    if (driver->cuDeviceTotalMem_v2(&memory_bytes, device->ordinal) == CU_SUCCESS)
        info->memory_bytes = memory_bytes;
    info->is_mig = strstr(info->name, " MIG ") != NULL;
    if (driver->cuDeviceGetUuid_v2 != NULL &&
        driver->cuDeviceGetUuid_v2(&uuid, device->ordinal) == CU_SUCCESS)
        write_uuid(&uuid, info->is_mig, info->uuid, sizeof(info->uuid));
    if (driver->cuDeviceGetPCIBusId(bus_id, sizeof(bus_id), device->ordinal) == CU_SUCCESS)
        device->handle = nvml_find(&device->management, bus_id);
    nvml_fill_info(&device->management, device->handle, info);
}

/* -- opening ----------------------------------------------------------------------------------- */

static void device_free(ridge_device *base)
{
    cuda_device *const device = cuda_of(base);

    if (device == NULL)
        return;
    if (device->context != NULL)
        device->driver.cuDevicePrimaryCtxRelease_v2(device->ordinal);
    nvml_close(&device->management);
    cuda_driver_close(&device->driver);
    ridge_free(device);
}

static const struct device_ops operations = {
    .free = device_free,
    .make_current = make_current,
    .synchronize = synchronize,
    .reset_persisting_l2 = reset_persisting_l2,
    .persisting_l2_limit = persisting_l2_limit,
    .other_processes = other_processes,
    .read_clocks = read_clocks,
    .alloc = cuda_alloc,
    .release = cuda_release,
    .free_bytes = cuda_free_bytes,
    .upload = cuda_upload,
    .download = cuda_download,
    .copy = cuda_copy,
    .alloc_shared = cuda_alloc_shared,
    .release_shared = cuda_release_shared,
    .map = cuda_map,
    .mapping_free = cuda_mapping_free,
    .stream_create = cuda_stream_create,
    .stream_free = cuda_stream_free,
    .stream_synchronize = cuda_stream_synchronize,
    .stream_wait = cuda_stream_wait,
    .event_create = cuda_event_create,
    .event_free = cuda_event_free,
    .event_record = cuda_event_record,
    .event_synchronize = cuda_event_synchronize,
    .event_elapsed_ns = cuda_event_elapsed_ns,
    .module_load = cuda_module_load,
    .module_free = cuda_module_free,
    .module_function = cuda_module_function,
    .function_get_info = cuda_function_get_info,
    .function_occupancy = cuda_function_occupancy,
    .function_launch = cuda_function_launch,
    .tensor_map_encode = cuda_tensor_map_encode,
    .capture_begin = cuda_capture_begin,
    .capture_end = cuda_capture_end,
    .graph_of_native = cuda_graph_of_native,
    .graph_free = cuda_graph_free,
    .graph_node_count = cuda_graph_node_count,
    .graph_node_at = cuda_graph_node_at,
    .graph_launch = cuda_graph_launch,
};

/* Driver, ordinal and facts, without a context, which takes memory on the GPU and time. */
static ridge_status look(int index, cuda_device **out, ridge_error *err)
{
    cuda_device *const device = ridge_calloc(1, sizeof(*device));
    ridge_status status = RIDGE_OK;
    const char *why;
    int count = 0;

    *out = NULL;
    if (device == NULL)
        return cuda_no_host_memory(err);
    device->base.ops = &operations;
    if (!cuda_driver_open(&device->driver, &why)) {
        status = ridge_fail(err, RIDGE_ERR_NO_DEVICE, "no GPU cuda:%d: %s", index, why);
        goto fail;
    }
    status = cuda_check(device, device->driver.cuDeviceGetCount(&count), "cuDeviceGetCount", err);
    if (status != RIDGE_OK)
        goto fail;
    if (index < 0 || index >= count) {
        status = count == 0
                     ? ridge_fail(err, RIDGE_ERR_NO_DEVICE, "no GPU cuda:%d: there is none", index)
                     : ridge_fail(err, RIDGE_ERR_NO_DEVICE,
                                  "no GPU cuda:%d: there are cuda:0 to cuda:%d", index, count - 1);
        goto fail;
    }
    status =
        cuda_check(device, device->driver.cuDeviceGet(&device->ordinal, index), "cuDeviceGet", err);
    if (status != RIDGE_OK)
        goto fail;
    nvml_open(&device->management);
    fill_info(device, index);
    *out = device;
    return RIDGE_OK;

fail:
    device_free(&device->base);
    return status;
}

ridge_status cuda_device_open(int index, ridge_device **out, ridge_error *err)
{
    cuda_device *device;
    ridge_status status = look(index, &device, err);
    cu_context context = NULL;

    *out = NULL;
    if (status != RIDGE_OK)
        return status;
    status = cuda_check(device, device->driver.cuDevicePrimaryCtxRetain(&context, device->ordinal),
                        "cuDevicePrimaryCtxRetain", err);
    if (status == RIDGE_OK) {
        device->context = context;
        status = cuda_enter(device, err);
    }
    if (status != RIDGE_OK) {
        device_free(&device->base);
        return status;
    }
    *out = &device->base;
    return RIDGE_OK;
}

ridge_status ridge_device_look(int index, ridge_device_info *info, ridge_clock_reading *clocks,
                               int *processes, ridge_error *err)
{
    cuda_device *device;
    const ridge_status status = look(index, &device, err);

    memset(info, 0, sizeof(*info));
    *clocks = (ridge_clock_reading){NAN, NAN, NAN, NAN, 0};
    *processes = -1;
    if (status != RIDGE_OK)
        return status;
    *info = device->base.info;
    read_clocks(&device->base, clocks);
    *processes = other_processes(&device->base);
    device_free(&device->base);
    return RIDGE_OK;
}

int cuda_gpu_count(const char **why)
{
    cuda_driver driver;
    cu_result result;
    int count = 0;

    if (!cuda_driver_open(&driver, why))
        return 0;
    result = driver.cuDeviceGetCount(&count);
    cuda_driver_close(&driver);
    if (result != CU_SUCCESS)
        *why = "the NVIDIA driver does not say how many GPUs there are (cuDeviceGetCount fails)";
    else if (count <= 0)
        *why = "the driver is there, but it sees no GPU (CUDA_VISIBLE_DEVICES, or a container "
               "started without --gpus)";
    return result == CU_SUCCESS && count > 0 ? count : 0;
}
