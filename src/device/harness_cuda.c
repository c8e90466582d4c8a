/* SPDX-License-Identifier: Apache-2.0 */
#include "device/harness.h"

#include "base/memory.h"

const harness_ops HARNESS_CUDA = {0};

ridge_status harness_launch(ridge_device *device, struct CUstream_st *stream,
                            harness_function function, uint64_t threads, unsigned block,
                            void *const *parameters, ridge_error *err)
{
    (void)stream;
    (void)function;
    (void)threads;
    (void)block;
    (void)parameters;
    return ridge_fail(err, RIDGE_ERR_UNSUPPORTED, "no kernels for %s", device->info.name);
}
