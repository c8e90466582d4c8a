/* SPDX-License-Identifier: Apache-2.0
 *
 * Loading the CUDA driver. Its symbols carry their version in the name, so dlsym() gets the one
 * that was meant; the library itself stays loaded, as its threads outlive dlclose(). */
#include "device/cuda_driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct symbol {
    const char *name;
    size_t offset; /* of the member */
    int since;     /* CUDA version; 0: any */
} symbols[] = {
#define SYMBOL_ROW(symbol, since, parameters) {#symbol, offsetof(cuda_driver, symbol), since},
    CUDA_SYMBOLS(SYMBOL_ROW)
#undef SYMBOL_ROW
};

enum { SYMBOL_COUNT = sizeof(symbols) / sizeof(symbols[0]) };

/* Why cuInit() may fail, and what to do. */
static const struct failed_start {
    cu_result result;
    const char *why;
} failed_starts[] = {
    {CU_NO_DEVICE, "the driver is there, but it sees no GPU (CUDA_VISIBLE_DEVICES, or a container "
                   "started without --gpus)"},
    {CU_STUB_LIBRARY, "libcuda.so.1 is the toolkit's stub: remove lib/stubs from LD_LIBRARY_PATH"},
    {CU_SYSTEM_NOT_READY, "the GPUs are not ready: is nvidia-fabricmanager running?"},
    {CU_DRIVER_MISMATCH, "libcuda.so.1 and the kernel's module are of different versions: reload "
                         "the module or restart"},
    {CU_COMPAT_UNSUPPORTED, "the compatibility libcuda.so.1 does not run on this GPU: take "
                            "cuda-compat out of LD_LIBRARY_PATH"},
};

static const char *why_no_start(cu_result result)
{
    size_t i;

    for (i = 0; i < sizeof(failed_starts) / sizeof(failed_starts[0]); i++)
        if (failed_starts[i].result == result)
            return failed_starts[i].why;
    return "the NVIDIA driver does not start (cuInit fails): see nvidia-smi and dmesg";
}

static bool load_symbols(cuda_driver *out)
{
    size_t i;

    for (i = 0; i < SYMBOL_COUNT; i++) {
        void *const address = dlsym(out->library, symbols[i].name);

        if (address == NULL && symbols[i].since == 0)
            return false;
        /* POSIX: a void * holds a function's address. */
        memcpy((char *)out + symbols[i].offset, &address, sizeof(address));
    }
    return true;
}

static const char *start(cuda_driver *out)
{
    cu_result result;

    if (!load_symbols(out))
        return "the NVIDIA driver is too old: ridge needs one for CUDA 11.4 or later";
    result = out->cuInit(0);
    if (result != CU_SUCCESS)
        return why_no_start(result);
    if (out->cuDriverGetVersion(&out->version) != CU_SUCCESS || out->version < CUDA_VERSION_LEAST)
        return "the NVIDIA driver is too old: ridge needs one for CUDA 11.4 or later";
    return NULL;
}

bool cuda_driver_open(cuda_driver *out, const char **why)
{
    const char *const named = getenv("RIDGE_CUDA_LIBRARY");

    memset(out, 0, sizeof(*out));
    out->library = dlopen(named != NULL ? named : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL
#ifdef RTLD_NODELETE
                                                                      | RTLD_NODELETE
#endif
    );
    if (out->library == NULL) {
        *why = "no NVIDIA driver (libcuda.so.1 is not there)";
        return false;
    }
    *why = start(out);
    if (*why == NULL)
        return true;
    cuda_driver_close(out);
    return false;
}

void cuda_driver_close(cuda_driver *driver)
{
    if (driver->library != NULL)
        dlclose(driver->library);
    memset(driver, 0, sizeof(*driver));
}

/* What a failure leaves behind, or means, beyond the driver's own words. */
static const struct remark {
    cu_result result;
    const char *text;
} remarks[] = {
    {CU_ILLEGAL_ADDRESS, "the context is lost; compute-sanitizer names the access"},
    {CU_LAUNCH_FAILED, "the context is lost; compute-sanitizer names the instruction"},
    {CU_ASSERT, "the context is lost"},
    {CU_HARDWARE_STACK, "the context is lost"},
    {CU_LAUNCH_TIMEOUT, "the context is lost: a display's watchdog stopped the kernel"},
    {CU_LAUNCH_RESOURCES, "too many registers or too much shared memory for such a block"},
};

const char *cuda_result_text(const cuda_driver *driver, cu_result result, char *buffer, size_t size)
{
    const char *name = NULL, *text = NULL, *remark = NULL;
    size_t i;

    if (driver->cuGetErrorName(result, &name) != CU_SUCCESS || name == NULL)
        name = "an error the driver has no name for";
    if (driver->cuGetErrorString(result, &text) != CU_SUCCESS || text == NULL)
        text = "";
    for (i = 0; i < sizeof(remarks) / sizeof(remarks[0]); i++)
        if (remarks[i].result == result)
            remark = remarks[i].text;
    snprintf(buffer, size, "%s (%u)%s%s%s%s", name, result, text[0] != '\0' ? ": " : "", text,
             remark != NULL ? "; " : "", remark != NULL ? remark : "");
    return buffer;
}

ridge_status cuda_driver_fail(const cuda_driver *driver, cu_result result, const char *call,
                              ridge_error *err)
{
    char text[320];

    return ridge_fail(err, RIDGE_ERR_CUDA, "%s: %s", call,
                      cuda_result_text(driver, result, text, sizeof(text)));
}

ridge_status cuda_lacks(const cuda_driver *driver, const char *symbol, ridge_error *err)
{
    int since = 0;
    size_t i;

    for (i = 0; i < SYMBOL_COUNT; i++)
        if (strcmp(symbols[i].name, symbol) == 0)
            since = symbols[i].since;
    return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                      "%s needs a driver for CUDA %d.%d or later, this one is for CUDA %d.%d",
                      symbol, since / 1000, since % 1000 / 10, driver->version / 1000,
                      driver->version % 1000 / 10);
}
