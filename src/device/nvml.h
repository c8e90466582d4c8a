/* SPDX-License-Identifier: Apache-2.0
 *
 * The management library of the driver, loaded at run time (libnvidia-ml.so.1): clocks, power,
 * and who else is on a GPU. Everything is optional: what it does not answer is unknown.
 *
 * Life: nvml_open() (never fails; a closed one answers nothing), nvml_find(), questions,
 * nvml_close(). */
#ifndef RIDGE_DEVICE_NVML_H
#define RIDGE_DEVICE_NVML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ridge/device.h"

typedef struct nvmlDevice_st *nvml_handle;

/* nvmlProcessInfo_v2_t, which nvmlDeviceGetComputeRunningProcesses_v3 fills. */
typedef struct nvml_process {
    unsigned pid;
    unsigned long long used_bytes;
    unsigned gpu_instance, compute_instance;
} nvml_process;

/* X(member, symbol, older name of the same or NULL, parameters) */
/* clang-format off */
#define NVML_SYMBOLS(X)                                                                            \
    X(init, "nvmlInit_v2", NULL, (void))                                                           \
    X(shut_down, "nvmlShutdown", NULL, (void))                                                     \
    X(driver_version, "nvmlSystemGetDriverVersion", NULL, (char *text, unsigned size))             \
    X(by_bus_id, "nvmlDeviceGetHandleByPciBusId_v2", NULL, (const char *id, nvml_handle *out))     \
    X(uuid, "nvmlDeviceGetUUID", NULL, (nvml_handle device, char *text, unsigned size))            \
    X(clock, "nvmlDeviceGetClockInfo", NULL, (nvml_handle device, unsigned type, unsigned *mhz))   \
    X(greatest_clock, "nvmlDeviceGetMaxClockInfo", NULL,                                           \
      (nvml_handle device, unsigned type, unsigned *mhz))                                          \
    X(reasons, "nvmlDeviceGetCurrentClocksEventReasons",                                           \
      "nvmlDeviceGetCurrentClocksThrottleReasons",                                                 \
      (nvml_handle device, unsigned long long *reasons))                                           \
    X(power, "nvmlDeviceGetPowerUsage", NULL, (nvml_handle device, unsigned *milliwatts))          \
    X(power_limit, "nvmlDeviceGetEnforcedPowerLimit", NULL,                                        \
      (nvml_handle device, unsigned *milliwatts))                                                  \
    X(temperature, "nvmlDeviceGetTemperature", NULL,                                               \
      (nvml_handle device, unsigned sensor, unsigned *celsius))                                    \
    X(processes, "nvmlDeviceGetComputeRunningProcesses_v3", NULL,                                  \
      (nvml_handle device, unsigned *count, nvml_process *out))                                    \
    X(ecc, "nvmlDeviceGetEccMode", NULL, (nvml_handle device, unsigned *now, unsigned *pending))   \
    X(mig, "nvmlDeviceGetMigMode", NULL, (nvml_handle device, unsigned *now, unsigned *pending))   \
    X(bus_width, "nvmlDeviceGetMemoryBusWidth", NULL, (nvml_handle device, unsigned *bits))        \
    X(virtualization, "nvmlDeviceGetVirtualizationMode", NULL,                                     \
      (nvml_handle device, unsigned *mode))
/* clang-format on */

typedef struct nvml {
    void *library; /* NULL: not there */
#define NVML_MEMBER(member, symbol, older, parameters) unsigned(*member) parameters;
    NVML_SYMBOLS(NVML_MEMBER)
#undef NVML_MEMBER
} nvml;

/* RIDGE_NVML_LIBRARY names another library. */
void nvml_open(nvml *out);
void nvml_close(nvml *library);

/* The GPU at a PCI address ("0000:1b:00.0"); NULL: not known, and then every answer is unknown. */
nvml_handle nvml_find(const nvml *library, const char *bus_id);

/* Fills what it knows of driver, uuid, greatest clocks, power limit, ECC, MIG and virtualisation. */
void nvml_fill_info(const nvml *library, nvml_handle device, ridge_device_info *info);
/* Every member is set. */
void nvml_read_clocks(const nvml *library, nvml_handle device, ridge_clock_reading *out);
/* Other processes that compute on the GPU, -1: not known. own_context: this process is one of
 * those that the driver lists, perhaps under another number than its own (a container). */
int nvml_other_processes(const nvml *library, nvml_handle device, bool own_context);

#endif
