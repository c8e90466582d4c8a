/* SPDX-License-Identifier: Apache-2.0
 *
 * What launchers of all families share: which device a call is for, and the machine code that the
 * build embedded. */
#ifndef KERNELS_COMMON_GPU_CODE_H
#define KERNELS_COMMON_GPU_CODE_H

#include "ridge/device.h"

/* A fat binary of this build. size_bytes 0: nvcc was not there. */
typedef struct gpu_code {
    const unsigned char *bytes;
    size_t size_bytes;
} gpu_code;

/* RIDGE_ERR_UNSUPPORTED when the buffers are not on such a device. name: of the variant. */
ridge_status gpu_code_expect(const ridge_view *view, ridge_device_kind kind, const char *name,
                             ridge_error *err);
/* The entry of that name, from a module that the device keeps: loaded once, however many sets of
 * buffers are prepared, so that all of them run the same instructions from the same addresses. */
ridge_status gpu_code_function(const ridge_view *view, const gpu_code *code, const char *name,
                               ridge_gpu_function **out, ridge_error *err);

#endif
