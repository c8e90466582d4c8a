/* SPDX-License-Identifier: Apache-2.0
 *
 * Modules. Kernels are loaded when they are asked for, at
 * once: with the driver's lazy loading the first launch would pay, and might not be captured. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "device/cuda_internal.h"

typedef struct cuda_module {
    ridge_gpu_module base;
    cuda_device *device;
    cu_module native;
    cuda_function *functions;
} cuda_module;

/* PTX gets the NUL that the driver needs: *copy is new, NULL for what is no text. */
static ridge_status prepare_image(const void *image, size_t size_bytes, char **copy,
                                  ridge_error *err)
{
    bool is_text;
    const ridge_status status = cuda_image_check(image, size_bytes, &is_text, err);

    *copy = NULL;
    if (status != RIDGE_OK || !is_text)
        return status;
    *copy = ridge_calloc(1, size_bytes + 1);
    if (*copy == NULL)
        return cuda_no_host_memory(err);
    memcpy(*copy, image, size_bytes);
    return RIDGE_OK;
}

/* -- loading ----------------------------------------------------------------------------------- */

/* The first line of a log that says something. */
static int first_line(const char *log, const char **line)
{
    *line = log + strspn(log, " \t\r\n");
    return (int)strcspn(*line, "\r\n");
}

static ridge_status load_failed(cuda_device *device, cu_result result, const char *log,
                                ridge_error *err)
{
    const ridge_device_info *const info = &device->base.info;
    const int version = device->driver.version;
    const char *line;
    const int length = first_line(log, &line);

    switch (result) {
    case CU_NO_BINARY:
        return ridge_fail(err, RIDGE_ERR_ARCH,
                          "no code for %s (sm_%d) in the image: see ridge inspect, compile with "
                          "-arch=sm_%d",
                          info->name, info->sm_version, info->sm_version);
    case CU_UNSUPPORTED_PTX:
        return ridge_fail(err, RIDGE_ERR_ARCH,
                          "the PTX is of a newer version than the driver compiles (CUDA %d.%d): "
                          "lower its .version, or ship a cubin for sm_%d",
                          version / 1000, version % 1000 / 10, info->sm_version);
    case CU_INVALID_PTX:
        return ridge_fail(err, RIDGE_ERR_FORMAT, "the driver does not compile the PTX: %.*s",
                          length > 0 ? length : (int)strlen("no log"),
                          length > 0 ? line : "no log");
    case CU_INVALID_IMAGE:
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "the driver takes the image for neither cubin, fat binary nor PTX");
    default:
        return cuda_check(device, result, "cuModuleLoadDataEx", err);
    }
}

/* An option value is an integer in a pointer's place. */
static void *option_number(size_t number)
{
    void *value;

    memcpy(&value, &number, sizeof(value));
    return value;
}

static ridge_status load(cuda_module *module, const void *image, char *log, size_t log_size,
                         ridge_error *err)
{
    cuda_device *const device = module->device;
    char errors[2048] = "", own_log[8];
    unsigned options[] = {CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BYTES, CU_JIT_INFO_LOG,
                          CU_JIT_INFO_LOG_BYTES};
    const bool wants_log = log != NULL && log_size > 0;
    void *values[] = {errors, option_number(sizeof(errors) - 1), wants_log ? log : own_log,
                      option_number(wants_log ? log_size - 1 : sizeof(own_log) - 1)};
    cu_result result;

    own_log[0] = '\0';
    if (wants_log)
        memset(log, 0, log_size);
    result = device->driver.cuModuleLoadDataEx(&module->native, image, 4, options, values);
    if (result == CU_SUCCESS)
        return RIDGE_OK;
    if (wants_log && errors[0] != '\0')
        snprintf(log, log_size, "%s", errors);
    return load_failed(device, result, errors, err);
}

ridge_status cuda_module_load(ridge_device *base, const void *image, size_t size_bytes, char *log,
                              size_t log_size, ridge_gpu_module **out, ridge_error *err)
{
    cuda_device *const device = cuda_of(base);
    cuda_module *module = NULL;
    char *copy = NULL;
    ridge_status status = prepare_image(image, size_bytes, &copy, err);

    if (status == RIDGE_OK)
        status = cuda_enter(device, err);
    if (status != RIDGE_OK)
        goto out;
    module = ridge_calloc(1, sizeof(*module));
    if (module == NULL) {
        status = cuda_no_host_memory(err);
        goto out;
    }
    module->base.device = base;
    module->device = device;
    status = load(module, copy != NULL ? copy : image, log, log_size, err);
    if (status != RIDGE_OK)
        goto out;
    *out = &module->base;
    module = NULL;
out:
    ridge_free(copy);
    ridge_free(module);
    return status;
}

static void function_free(cuda_function *function)
{
    if (function != NULL)
        ridge_free(function->name);
    ridge_free(function);
}

void cuda_module_free(ridge_gpu_module *base)
{
    cuda_module *const module = (cuda_module *)base;

    if (module == NULL)
        return;
    if (cuda_enter(module->device, NULL) == RIDGE_OK)
        module->device->driver.cuModuleUnload(module->native);
    while (module->functions != NULL) {
        cuda_function *const next = module->functions->next;

        function_free(module->functions);
        module->functions = next;
    }
    ridge_free(module);
}

/* -- functions by name ------------------------------------------------------------------------- */

enum { LISTED_MOST = 4096, LISTED_TEXT = 260 };

static const char *function_name(const cuda_driver *driver, cu_function function)
{
    const char *name = NULL;

    return driver->cuFuncGetName(&name, function) == CU_SUCCESS ? name : NULL;
}

/* "; it has a, b and 3 more", appended; nothing where the driver does not say. */
static void list_names(const cuda_module *module, ridge_text *out)
{
    const cuda_driver *const driver = &module->device->driver;
    cu_function *functions;
    unsigned count = 0, i;

    if (driver->cuModuleEnumerateFunctions == NULL || driver->cuFuncGetName == NULL ||
        driver->cuModuleGetFunctionCount == NULL ||
        driver->cuModuleGetFunctionCount(&count, module->native) != CU_SUCCESS)
        return;
    if (count == 0) {
        ridge_text_add(out, "; it has none");
        return;
    }
    count = count < LISTED_MOST ? count : LISTED_MOST;
    functions = ridge_calloc(count, sizeof(cu_function));
    if (functions != NULL &&
        driver->cuModuleEnumerateFunctions(functions, count, module->native) == CU_SUCCESS) {
        for (i = 0; i < count && out->length < LISTED_TEXT; i++) {
            const char *const name = function_name(driver, functions[i]);

            ridge_text_format(out, "%s%s", i == 0 ? "; it has " : ", ", name != NULL ? name : "?");
        }
        if (i < count)
            ridge_text_format(out, " and %u more", count - i);
    }
    ridge_free(functions);
}

static ridge_status no_such_function(const cuda_module *module, const char *name, ridge_error *err)
{
    ridge_text names;
    ridge_status status;

    ridge_text_init(&names);
    list_names(module, &names);
    status = ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "no kernel '%.120s' in the module%.280s",
                        name, names.failed ? "" : names.data);
    ridge_text_release(&names);
    return status;
}

static ridge_status find(cuda_module *module, const char *name, cuda_function *function,
                         ridge_error *err)
{
    cuda_device *const device = module->device;
    const cuda_driver *const driver = &device->driver;
    const cu_result result = driver->cuModuleGetFunction(&function->native, module->native, name);
    ridge_status status;

    if (result == CU_NOT_FOUND)
        return no_such_function(module, name, err);
    status = cuda_check(device, result, "cuModuleGetFunction", err);
    if (status == RIDGE_OK && driver->cuFuncLoad != NULL)
        status = cuda_check(device, driver->cuFuncLoad(function->native), "cuFuncLoad", err);
    return status != RIDGE_OK ? status : cuda_function_init(function, err);
}

ridge_status cuda_module_function(ridge_gpu_module *base, const char *name,
                                  ridge_gpu_function **out, ridge_error *err)
{
    cuda_module *const module = (cuda_module *)base;
    cuda_function *function;
    ridge_status status = cuda_enter(module->device, err);

    if (status != RIDGE_OK)
        return status;
    for (function = module->functions; function != NULL; function = function->next)
        if (strcmp(function->name, name) == 0) {
            *out = &function->base;
            return RIDGE_OK;
        }
    function = ridge_calloc(1, sizeof(*function));
    if (function != NULL)
        function->name = ridge_calloc(1, strlen(name) + 1);
    if (function == NULL || function->name == NULL) {
        function_free(function);
        return cuda_no_host_memory(err);
    }
    memcpy(function->name, name, strlen(name));
    function->base.module = base;
    function->base.device = &module->device->base;
    status = find(module, name, function, err);
    if (status != RIDGE_OK) {
        function_free(function);
        return status;
    }
    function->next = module->functions;
    module->functions = function;
    *out = &function->base;
    return RIDGE_OK;
}
