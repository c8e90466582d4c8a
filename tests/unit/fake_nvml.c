/* SPDX-License-Identifier: Apache-2.0
 *
 * An NVML of fixed numbers, see fake_cuda.h. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "device/nvml.h"
#include "fake_cuda.h"

fake_control fake_control_block = {.processes = 1, .lists_self = 1, .reasons = 0x1};
fake_control *fake_control_get(void);
fake_control *fake_control_get(void)
{
    return &fake_control_block;
}

static fake_control *const control = &fake_control_block;

enum { NOT_SUPPORTED = 3, INSUFFICIENT_SIZE = 7 };

#define CALL(name, parameters, ...)                                                                \
    unsigned name parameters;                                                                      \
    unsigned name parameters                                                                       \
    {                                                                                              \
        control->calls++;                                                                          \
        if (control->fail_call != NULL ? strcmp(control->fail_call, #name) == 0                    \
                                       : control->calls == control->fail_at) {                     \
            snprintf(control->failed, sizeof(control->failed), "%s", #name);                       \
            return control->fail_result;                                                           \
        }                                                                                          \
        __VA_ARGS__                                                                                \
    }
#define ONE_NUMBER(name, value)                                                                    \
    CALL(name, (nvml_handle device, unsigned *out), (void)device; *out = (value); return 0;)

CALL(nvmlInit_v2, (void), control->contexts++; return 0;)
CALL(nvmlSystemGetDriverVersion, (char *text, unsigned size), snprintf(text, size, "999.1");
     return 0;)
CALL(nvmlDeviceGetHandleByPciBusId_v2, (const char *id, nvml_handle *out),
     if (strcmp(id, "0000:01:00.0") != 0) return NOT_SUPPORTED;
     *out = (nvml_handle)(void *)control; return 0;)
CALL(nvmlDeviceGetUUID, (nvml_handle device, char *text, unsigned size), (void)device;
     snprintf(text, size, "GPU-fake"); return 0;)
CALL(nvmlDeviceGetClockInfo, (nvml_handle device, unsigned type, unsigned *out), (void)device;
     *out = type == 1 ? 1500 : 3000; return 0;)
CALL(nvmlDeviceGetMaxClockInfo, (nvml_handle device, unsigned type, unsigned *out), (void)device;
     *out = type == 1 ? 1980 : 3201; return 0;)
CALL(nvmlDeviceGetCurrentClocksThrottleReasons, (nvml_handle device, unsigned long long *out),
     (void)device;
     *out = control->reasons; return 0;)
ONE_NUMBER(nvmlDeviceGetPowerUsage, 123456)
ONE_NUMBER(nvmlDeviceGetEnforcedPowerLimit, 700000)
ONE_NUMBER(nvmlDeviceGetMemoryBusWidth, 6144)
ONE_NUMBER(nvmlDeviceGetVirtualizationMode, 1)
CALL(nvmlDeviceGetTemperature, (nvml_handle device, unsigned sensor, unsigned *out), (void)device;
     (void)sensor; *out = 41; return 0;)
CALL(nvmlDeviceGetEccMode, (nvml_handle device, unsigned *now, unsigned *pending), (void)device;
     *now = *pending = 1; return 0;)
CALL(nvmlDeviceGetMigMode, (nvml_handle device, unsigned *now, unsigned *pending), (void)device;
     *now = *pending = 0; return 0;)
CALL(
    nvmlDeviceGetComputeRunningProcesses_v3,
    (nvml_handle device, unsigned *count, nvml_process *out), unsigned i;
    (void)device; if (control->processes > *count || out == NULL) {
        *count = control->processes;
        return control->processes > 0 ? INSUFFICIENT_SIZE : 0;
    } *count = control->processes;
    for (i = 0; i < control->processes; i++) out[i].pid = i == 0 && control->lists_self
                                                              ? (unsigned)getpid()
                                                              : 900000000u + i;
    return 0;)

unsigned nvmlShutdown(void);
unsigned nvmlShutdown(void)
{
    control->contexts--;
    return 0;
}
