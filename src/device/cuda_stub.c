/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for the CUDA device where it is not built. */
#include "device/device_internal.h"

static const char NO_CUDA[] = "this build of ridge has no CUDA device";

int cuda_gpu_count(const char **why)
{
    *why = NO_CUDA;
    return 0;
}

ridge_status cuda_device_open(int index, ridge_device **out, ridge_error *err)
{
    *out = NULL;
    return ridge_fail(err, RIDGE_ERR_NO_DEVICE, "no GPU cuda:%d: %s", index, NO_CUDA);
}
