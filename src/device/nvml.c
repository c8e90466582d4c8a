/* SPDX-License-Identifier: Apache-2.0
 *
 * NVML: numbers from nvml.h, which is stable since version 11. A call that is missing or fails
 * leaves what it would have filled. */
#include "device/nvml.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

enum {
    CLOCK_SM = 1,
    CLOCK_MEMORY = 2,
    SENSOR_GPU = 0,
    TOO_SMALL = 7, /* NVML_ERROR_INSUFFICIENT_SIZE */
    PROCESSES_MOST = 4096,
    HW_SLOWDOWN = 0x8,
    HW_THERMAL = 0x40,
    HW_BRAKE = 0x80
};

/* nvmlClocksEventReason...; of several the meaning of ridge/device.h is one. */
static const struct reason {
    unsigned long long bit;
    unsigned reason;
} reason_rows[] = {
    {0x1, RIDGE_CLOCK_IDLE},           /* GpuIdle */
    {0x2, RIDGE_CLOCK_LOCKED},         /* ApplicationsClocksSetting, also locked clocks */
    {0x4, RIDGE_CLOCK_POWER_CAP},      /* SwPowerCap */
    {HW_SLOWDOWN, RIDGE_CLOCK_OTHER},  /* HwSlowdown */
    {0x10, RIDGE_CLOCK_OTHER},         /* SyncBoost */
    {0x20, RIDGE_CLOCK_THERMAL},       /* SwThermalSlowdown */
    {HW_THERMAL, RIDGE_CLOCK_THERMAL}, /* HwThermalSlowdown */
    {HW_BRAKE, RIDGE_CLOCK_POWER_CAP}, /* HwPowerBrakeSlowdown */
    {0x100, RIDGE_CLOCK_OTHER},        /* DisplayClockSetting */
};

static const struct symbol {
    const char *name, *older;
    size_t offset;
} symbols[] = {
#define SYMBOL_ROW(member, symbol, older, parameters) {symbol, older, offsetof(nvml, member)},
    NVML_SYMBOLS(SYMBOL_ROW)
#undef SYMBOL_ROW
};

void nvml_open(nvml *out)
{
    const char *const named = getenv("RIDGE_NVML_LIBRARY");
    size_t i;

    memset(out, 0, sizeof(*out));
    out->library = dlopen(named != NULL ? named : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (out->library == NULL)
        return;
    for (i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        void *address = dlsym(out->library, symbols[i].name);

        if (address == NULL && symbols[i].older != NULL)
            address = dlsym(out->library, symbols[i].older);
        memcpy((char *)out + symbols[i].offset, &address, sizeof(address));
    }
    if (out->init == NULL || out->shut_down == NULL || out->init() != 0) {
        dlclose(out->library);
        memset(out, 0, sizeof(*out));
    }
}

void nvml_close(nvml *library)
{
    if (library->library == NULL)
        return;
    library->shut_down();
    dlclose(library->library);
    memset(library, 0, sizeof(*library));
}

nvml_handle nvml_find(const nvml *library, const char *bus_id)
{
    nvml_handle device = NULL;

    if (library->by_bus_id == NULL || library->by_bus_id(bus_id, &device) != 0)
        return NULL;
    return device;
}

void nvml_fill_info(const nvml *library, nvml_handle device, ridge_device_info *info)
{
    static const char *const modes[] = {"", "passthrough", "vgpu", "host vgpu", "host vsga"};
    unsigned value = 0, bits = 0, pending;

    if (library->driver_version != NULL &&
        library->driver_version(info->driver, sizeof(info->driver)) != 0)
        info->driver[0] = '\0';
    if (device == NULL)
        return;
    info->has_clocks = library->clock != NULL && library->clock(device, CLOCK_SM, &value) == 0;
    /* With MIG the driver's identifier is the instance's, NVML's that of the whole GPU. */
    if (library->mig != NULL && library->mig(device, &value, &pending) == 0)
        info->is_mig = value == 1;
    if (!info->is_mig && library->uuid != NULL) {
        char uuid[sizeof(info->uuid)];

        if (library->uuid(device, uuid, sizeof(uuid)) == 0)
            memcpy(info->uuid, uuid, sizeof(uuid));
    }
    if (library->greatest_clock != NULL && library->greatest_clock(device, CLOCK_SM, &value) == 0 &&
        value > 0)
        info->clock_hz = value * 1e6;
    if (library->bus_width != NULL && library->greatest_clock != NULL &&
        library->bus_width(device, &bits) == 0 &&
        library->greatest_clock(device, CLOCK_MEMORY, &value) == 0 && value > 0 && bits > 0)
        info->memory_bytes_per_s = 2.0 * value * 1e6 * bits / 8; /* two transfers a cycle */
    if (library->power_limit != NULL && library->power_limit(device, &value) == 0)
        info->power_limit_w = value / 1e3;
    if (library->ecc != NULL && library->ecc(device, &value, &pending) == 0)
        info->is_ecc = value == 1;
    if (library->virtualization != NULL && library->virtualization(device, &value) == 0)
        snprintf(info->virtualization, sizeof(info->virtualization), "%s",
                 value < sizeof(modes) / sizeof(modes[0]) ? modes[value] : "other");
}

void nvml_read_clocks(const nvml *library, nvml_handle device, ridge_clock_reading *out)
{
    unsigned value = 0;
    unsigned long long bits = 0;
    size_t i;

    *out = (ridge_clock_reading){NAN, NAN, NAN, NAN, 0};
    if (device == NULL)
        return;
    if (library->clock != NULL && library->clock(device, CLOCK_SM, &value) == 0)
        out->sm_hz = value * 1e6;
    if (library->clock != NULL && library->clock(device, CLOCK_MEMORY, &value) == 0)
        out->memory_hz = value * 1e6;
    if (library->power != NULL && library->power(device, &value) == 0)
        out->power_w = value / 1e3;
    if (library->temperature != NULL && library->temperature(device, SENSOR_GPU, &value) == 0)
        out->temperature_c = value;
    if (library->reasons == NULL || library->reasons(device, &bits) != 0)
        return;
    /* A hardware slowdown whose own reason is known is that. */
    if ((bits & (HW_THERMAL | HW_BRAKE)) != 0)
        bits &= ~(unsigned long long)HW_SLOWDOWN;
    for (i = 0; i < sizeof(reason_rows) / sizeof(reason_rows[0]); i++)
        if ((bits & reason_rows[i].bit) != 0)
            out->reasons |= reason_rows[i].reason;
}

int nvml_other_processes(const nvml *library, nvml_handle device, bool own_context)
{
    unsigned count = 0, others = 0, i, status;
    nvml_process *list;
    bool found_self = false;

    if (device == NULL || library->processes == NULL)
        return -1;
    status = library->processes(device, &count, NULL);
    if (status != 0 && status != TOO_SMALL)
        return -1;
    /* The context of this process is not shown: neither are others'. */
    if (count == 0)
        return own_context ? -1 : 0;
    if (count > PROCESSES_MOST)
        return PROCESSES_MOST;
    count += 16; /* some may have come meanwhile */
    list = ridge_calloc(count, sizeof(*list));
    if (list == NULL)
        return -1;
    status = library->processes(device, &count, list);
    for (i = 0; status == 0 && i < count; i++)
        if (list[i].pid == (unsigned)getpid())
            found_self = true;
        else
            others++;
    ridge_free(list);
    if (status != 0)
        return -1;
    if (own_context && !found_self && others > 0)
        others--;
    return (int)others;
}
