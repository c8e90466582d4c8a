/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of a module: what they take, and launches. */
#include <stdio.h>
#include <string.h>

#include "device/cuda_internal.h"

/* Clusters of up to so many blocks need no permission. */
enum { PORTABLE_CLUSTER = 8 };

static const cuda_function *function_of(const ridge_gpu_function *function)
{
    return (const cuda_function *)function;
}

static ridge_status get(const cuda_function *function, unsigned attribute, int *out,
                        ridge_error *err)
{
    cuda_device *const device = cuda_of(function->base.device);

    return cuda_check(device, device->driver.cuFuncGetAttribute(out, attribute, function->native),
                      "cuFuncGetAttribute", err);
}

ridge_status cuda_function_init(cuda_function *function, ridge_error *err)
{
    int limit = 0;
    const ridge_status status = get(function, CU_FUNCTION_DYNAMIC_LIMIT, &limit, err);

    if (status == RIDGE_OK && limit > 0)
        function->dynamic_limit_bytes = (size_t)limit;
    return status;
}

/* -- what it takes ----------------------------------------------------------------------------- */

/* The driver counts by refusing the first index that is none. More than fit the table are as
 * unknown as with a driver that does not say. */
static void read_parameters(const cuda_function *function, ridge_gpu_function_info *out)
{
    const cuda_driver *const driver = &cuda_of(function->base.device)->driver;
    const size_t most = sizeof(out->parameter_bytes) / sizeof(out->parameter_bytes[0]);
    size_t i;

    out->parameter_count = -1;
    if (driver->cuFuncGetParamInfo == NULL)
        return;
    for (i = 0; i <= most; i++) {
        size_t offset = 0, size_bytes = 0;
        const cu_result result =
            driver->cuFuncGetParamInfo(function->native, i, &offset, &size_bytes);

        if (result == CU_INVALID_VALUE)
            break;
        if (result != CU_SUCCESS || i == most)
            return;
        out->parameter_offset[i] = (uint32_t)offset;
        out->parameter_bytes[i] = (uint32_t)size_bytes;
    }
    out->parameter_count = (int)i;
}

ridge_status cuda_function_get_info(const ridge_gpu_function *base, ridge_gpu_function_info *out,
                                    ridge_error *err)
{
    const cuda_function *const function = function_of(base);
    int shared = 0, local = 0;
    const struct {
        unsigned attribute;
        int *to;
    } rows[] = {
        {CU_FUNCTION_REGISTERS, &out->registers_per_thread},
        {CU_FUNCTION_THREADS, &out->threads_per_block_most},
        {CU_FUNCTION_BINARY, &out->binary_version},
        {CU_FUNCTION_SHARED, &shared},
        {CU_FUNCTION_LOCAL, &local},
    };
    size_t i;
    ridge_status status = cuda_enter(cuda_of(base->device), err);

    memset(out, 0, sizeof(*out));
    for (i = 0; status == RIDGE_OK && i < sizeof(rows) / sizeof(rows[0]); i++)
        status = get(function, rows[i].attribute, rows[i].to, err);
    if (status != RIDGE_OK) {
        memset(out, 0, sizeof(*out));
        return status;
    }
    out->static_shared_bytes = (size_t)shared;
    out->local_bytes = (size_t)local;
    read_parameters(function, out);
    return RIDGE_OK;
}

static ridge_status allow_shared(const cuda_function *function, size_t size_bytes, ridge_error *err)
{
    cuda_device *const device = cuda_of(function->base.device);
    const size_t most = device->base.info.shared_per_block_bytes;
    int static_bytes = 0;
    ridge_status status = get(function, CU_FUNCTION_SHARED, &static_bytes, err);

    if (status != RIDGE_OK)
        return status;
    if ((size_t)static_bytes > most || size_bytes > most - (size_t)static_bytes)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "%s: %zu bytes of dynamic and %d of static shared memory, a block of "
                          "cuda:%d has %zu",
                          function->name, size_bytes, static_bytes, device->base.info.index, most);
    return cuda_check(device,
                      device->driver.cuFuncSetAttribute(function->native, CU_FUNCTION_DYNAMIC_LIMIT,
                                                        (int)size_bytes),
                      "cuFuncSetAttribute", err);
}

/* What does not fit a block at all is no failure: 0 blocks. */
ridge_status cuda_function_occupancy(const ridge_gpu_function *base, int threads,
                                     size_t dynamic_shared_bytes, int *out, ridge_error *err)
{
    const cuda_function *const function = function_of(base);
    cuda_device *const device = cuda_of(base->device);
    ridge_status status = cuda_enter(device, err);

    if (status == RIDGE_OK && dynamic_shared_bytes > function->dynamic_limit_bytes)
        status = allow_shared(function, dynamic_shared_bytes, err);
    if (status == RIDGE_ERR_INVALID_ARGUMENT) {
        *out = 0;
        return RIDGE_OK;
    }
    if (status != RIDGE_OK)
        return status;
    return cuda_check(device,
                      device->driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                          out, function->native, threads, dynamic_shared_bytes),
                      "cuOccupancyMaxActiveBlocksPerMultiprocessor", err);
}

/* -- launches ---------------------------------------------------------------------------------- */

static ridge_status launch_failed(cuda_function *function, const ridge_gpu_launch *launch,
                                  cu_result result, const char *call, ridge_error *err)
{
    char text[400], cluster[48] = "";

    if (launch->cluster[0] != 0)
        snprintf(cluster, sizeof(cluster), ", clusters of %ux%ux%u", launch->cluster[0],
                 launch->cluster[1], launch->cluster[2]);
    snprintf(text, sizeof(text),
             "%s of %.120s, grid %ux%ux%u, block %ux%ux%u%s, %zu bytes of dynamic shared memory",
             call, function->name, launch->grid[0], launch->grid[1], launch->grid[2],
             launch->block[0], launch->block[1], launch->block[2], cluster,
             launch->dynamic_shared_bytes);
    return cuda_check(cuda_of(function->base.device), result, text, err);
}

/* Raises the limits that a launch needs; they stay. */
static ridge_status raise_limits(cuda_function *function, const ridge_gpu_launch *launch,
                                 ridge_error *err)
{
    cuda_device *const device = cuda_of(function->base.device);
    ridge_status status;

    if (launch->dynamic_shared_bytes > function->dynamic_limit_bytes) {
        status = allow_shared(function, launch->dynamic_shared_bytes, err);
        if (status != RIDGE_OK)
            return status;
        function->dynamic_limit_bytes = launch->dynamic_shared_bytes;
    }
    if ((uint64_t)launch->cluster[0] * launch->cluster[1] * launch->cluster[2] > PORTABLE_CLUSTER &&
        !function->large_clusters) {
        status = cuda_check(
            device,
            device->driver.cuFuncSetAttribute(function->native, CU_FUNCTION_LARGE_CLUSTER, 1),
            "cuFuncSetAttribute", err);
        if (status != RIDGE_OK)
            return status;
        function->large_clusters = true;
    }
    return RIDGE_OK;
}

static ridge_status launch_with_attributes(cuda_function *function, const ridge_gpu_launch *launch,
                                           void **parameters, cu_stream stream, ridge_error *err)
{
    cuda_device *const device = cuda_of(function->base.device);
    cu_launch_attribute attributes[2] = {{0}};
    cu_launch_config config = {.grid_x = launch->grid[0],
                               .grid_y = launch->grid[1],
                               .grid_z = launch->grid[2],
                               .block_x = launch->block[0],
                               .block_y = launch->block[1],
                               .block_z = launch->block[2],
                               .shared_bytes = (unsigned)launch->dynamic_shared_bytes,
                               .stream = stream,
                               .attributes = attributes};
    const ridge_status status = CUDA_NEED(&device->driver, cuLaunchKernelEx, err);
    cu_result result;

    if (status != RIDGE_OK)
        return status;
    if (launch->cluster[0] != 0) {
        cu_launch_attribute *const attribute = &attributes[config.attribute_count++];

        attribute->id = CU_LAUNCH_CLUSTER;
        attribute->value.cluster.x = launch->cluster[0];
        attribute->value.cluster.y = launch->cluster[1] != 0 ? launch->cluster[1] : 1;
        attribute->value.cluster.z = launch->cluster[2] != 0 ? launch->cluster[2] : 1;
    }
    if (launch->programmatic_dependent_launch) {
        cu_launch_attribute *const attribute = &attributes[config.attribute_count++];

        attribute->id = CU_LAUNCH_PROGRAMMATIC;
        attribute->value.programmatic_stream_serialization = 1;
    }
    result = device->driver.cuLaunchKernelEx(&config, function->native, parameters, NULL);
    return result == CU_SUCCESS ? RIDGE_OK
                                : launch_failed(function, launch, result, "cuLaunchKernelEx", err);
}

/* The driver's declarations lack const: it only reads the pointers. */
static void **writable(void *const *parameters)
{
    void **out;

    memcpy(&out, &parameters, sizeof(out));
    return out;
}

ridge_status cuda_function_launch(ridge_gpu_function *base, const ridge_gpu_launch *launch,
                                  void *const *parameters, struct CUstream_st *native,
                                  ridge_error *err)
{
    cuda_function *const function = (cuda_function *)base;
    cuda_device *const device = cuda_of(base->device);
    const ridge_status status = raise_limits(function, launch, err);
    cu_result result;

    if (status != RIDGE_OK)
        return status;
    if (launch->cluster[0] != 0 || launch->programmatic_dependent_launch)
        return launch_with_attributes(function, launch, writable(parameters), native, err);
    result = device->driver.cuLaunchKernel(function->native, launch->grid[0], launch->grid[1],
                                           launch->grid[2], launch->block[0], launch->block[1],
                                           launch->block[2], (unsigned)launch->dynamic_shared_bytes,
                                           native, writable(parameters), NULL);
    return result == CU_SUCCESS ? RIDGE_OK
                                : launch_failed(function, launch, result, "cuLaunchKernel", err);
}
