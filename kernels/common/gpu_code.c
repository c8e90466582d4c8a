/* SPDX-License-Identifier: Apache-2.0 */
#include "common/gpu_code.h"

ridge_status gpu_code_expect(const ridge_view *view, ridge_device_kind kind, const char *name,
                             ridge_error *err)
{
    static const char *const kinds[] = {
        [RIDGE_DEVICE_CPU] = "the CPU", [RIDGE_DEVICE_CUDA] = "a CUDA GPU"};
    /* Without a device the pointers are the host's. */
    const ridge_device_kind found =
        view->device == NULL ? RIDGE_DEVICE_CPU : ridge_device_get_info(view->device)->kind;

    if (found == kind)
        return RIDGE_OK;
    return ridge_fail(err, RIDGE_ERR_UNSUPPORTED, "%s runs on %s, not on %s", name, kinds[kind],
                      kinds[found]);
}

ridge_status gpu_code_function(const ridge_view *view, const gpu_code *code, const char *name,
                               ridge_gpu_function **out, ridge_error *err)
{
    ridge_gpu_module *module;
    ridge_status status;

    *out = NULL;
    if (code->size_bytes == 0)
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "%s: built without nvcc, there is no code for GPUs", name);
    status = ridge_gpu_module_shared(view->device, code->bytes, code->size_bytes, &module, err);
    if (status != RIDGE_OK)
        return status;
    return ridge_gpu_module_function(module, name, out, err);
}
