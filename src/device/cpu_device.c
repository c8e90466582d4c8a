/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPU as a device: memory of the host, streams that do their work at once, events that read
 * the monotonic clock. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#endif
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "device/device_internal.h"

#define CPU_L2_BYTES ((size_t)32 << 20) /* where the last cache level is not known */

struct cpu_event {
    ridge_event base;
    struct timespec at;
    bool has_happened;
};

struct cpu_mapping {
    ridge_mapping base;
    void *begin;
    size_t size_bytes; /* of everything mapped or reserved */
};

/* -- memory ------------------------------------------------------------------------------------ */

static ridge_status out_of_memory(const ridge_device *device, size_t size_bytes, ridge_error *err)
{
    return ridge_fail(
        err, RIDGE_ERR_OUT_OF_MEMORY,
        "out of memory: %.3g MiB wanted; the machine has %.3g GiB, a limit (ulimit -v, a "
        "container's) may allow less",
        (double)size_bytes / 0x1p20, (double)device->info.memory_bytes / 0x1p30);
}

/* The address that was allocated lies directly before the one that is handed out. */
static ridge_status cpu_alloc(ridge_device *device, size_t size_bytes, void **out, ridge_error *err)
{
    const size_t head = DEVICE_ALIGNMENT + sizeof(void *);
    unsigned char *block, *data;

    if (device->info.memory_bytes > 0 && size_bytes > device->info.memory_bytes)
        return out_of_memory(device, size_bytes, err);
    block = size_bytes <= SIZE_MAX - head ? ridge_calloc(1, size_bytes + head) : NULL;
    if (block == NULL)
        return out_of_memory(device, size_bytes, err);
    data = block + head;
    data -= (uintptr_t)data % DEVICE_ALIGNMENT;
    memcpy(data - sizeof(block), &block, sizeof(block));
    *out = data;
    return RIDGE_OK;
}

static void cpu_release(ridge_device *device, void *data)
{
    void *block;

    (void)device;
    memcpy(&block, (unsigned char *)data - sizeof(block), sizeof(block));
    ridge_free(block);
}

/* A number of kB of /proc/meminfo in bytes; 0: there is none. */
static uint64_t read_meminfo(const char *format)
{
    FILE *const file = fopen("/proc/meminfo", "r");
    char line[128];
    unsigned long long value = 0;

    if (file == NULL)
        return 0;
    while (value == 0 && fgets(line, sizeof(line), file) != NULL) {
        const size_t length = strlen(format);

        if (strncmp(line, format, length) == 0 && sscanf(line + length, "%18llu", &value) != 1)
            break;
    }
    fclose(file);
    return (uint64_t)value * 1024;
}

static ridge_status cpu_free_bytes(ridge_device *device, size_t *out, ridge_error *err)
{
    const uint64_t available = read_meminfo("MemAvailable:");

    (void)err;
    *out = (size_t)(available > 0 ? available : device->info.memory_bytes);
    return RIDGE_OK;
}

static ridge_status cpu_move(ridge_device *device, void *to, const void *from, size_t size_bytes,
                             ridge_error *err)
{
    (void)device;
    (void)err;
    memmove(to, from, size_bytes);
    return RIDGE_OK;
}

static ridge_status cpu_copy(ridge_device *device, ridge_stream *stream, void *to, const void *from,
                             size_t size_bytes, ridge_error *err)
{
    (void)stream;
    return cpu_move(device, to, from, size_bytes, err);
}

static ridge_status cpu_alloc_shared(ridge_device *device, size_t size_bytes, void **host,
                                     void **device_address, ridge_error *err)
{
    const ridge_status status = cpu_alloc(device, size_bytes, host, err);

    *device_address = *host;
    return status;
}

/* -- mappings ---------------------------------------------------------------------------------- */

/* Maps one file of granule bytes over [begin, begin + size_bytes) again and again. */
static bool map_alias(unsigned char *begin, size_t size_bytes, size_t granule)
{
    FILE *const file = tmpfile();
    bool is_mapped = file != NULL && ftruncate(fileno(file), (off_t)granule) == 0;
    size_t at;

    for (at = 0; is_mapped && at < size_bytes; at += granule) {
        const size_t size = size_bytes - at < granule ? size_bytes - at : granule;

        is_mapped = mmap(begin + at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                         fileno(file), 0) != MAP_FAILED;
    }
    if (file != NULL)
        fclose(file);
    return is_mapped;
}

/* Reserves the whole range without access, then opens all of it but the page behind the end. */
static ridge_status cpu_map(ridge_device *device, size_t size_bytes, bool fence, size_t alias_bytes,
                            ridge_mapping **out, void **data, ridge_error *err)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t padded =
        (size_bytes + DEVICE_FENCE_ALIGNMENT - 1) / DEVICE_FENCE_ALIGNMENT * DEVICE_FENCE_ALIGNMENT;
    const size_t open_bytes = (padded + page - 1) / page * page;
    const size_t granule = (alias_bytes + page - 1) / page * page;
    struct cpu_mapping *mapping;
    unsigned char *begin;

    if (size_bytes > SIZE_MAX / 2 || (alias_bytes == 0 && device->info.memory_bytes > 0 &&
                                      size_bytes > device->info.memory_bytes))
        return out_of_memory(device, size_bytes, err);
    mapping = ridge_calloc(1, sizeof(*mapping));
    if (mapping == NULL)
        return out_of_memory(device, sizeof(*mapping), err);
    mapping->size_bytes = open_bytes + page;
    begin = mmap(NULL, mapping->size_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (begin == MAP_FAILED) {
        ridge_free(mapping);
        return out_of_memory(device, size_bytes, err);
    }
    mapping->begin = begin;
    if (alias_bytes > 0 ? !map_alias(begin, open_bytes, granule)
                        : mprotect(begin, open_bytes, PROT_READ | PROT_WRITE) != 0) {
        munmap(begin, mapping->size_bytes);
        ridge_free(mapping);
        return out_of_memory(device, alias_bytes > 0 ? granule : size_bytes, err);
    }
    *out = &mapping->base;
    *data = fence ? begin + open_bytes - padded : begin;
    return RIDGE_OK;
}

static void cpu_mapping_free(ridge_mapping *mapping)
{
    struct cpu_mapping *const own = (struct cpu_mapping *)mapping;

    munmap(own->begin, own->size_bytes);
    ridge_free(own);
}

/* -- streams and events ------------------------------------------------------------------------ */

static ridge_status cpu_stream_create(ridge_device *device, ridge_stream **out, ridge_error *err)
{
    *out = ridge_calloc(1, sizeof(**out));
    return *out != NULL ? RIDGE_OK : out_of_memory(device, sizeof(**out), err);
}

static void cpu_stream_free(ridge_stream *stream)
{
    ridge_free(stream);
}

static ridge_status cpu_event_create(ridge_device *device, ridge_event **out, ridge_error *err)
{
    struct cpu_event *const event = ridge_calloc(1, sizeof(*event));

    if (event == NULL)
        return out_of_memory(device, sizeof(*event), err);
    *out = &event->base;
    return RIDGE_OK;
}

static void cpu_event_free(ridge_event *event)
{
    ridge_free(event);
}

static ridge_status cpu_event_record(ridge_event *event, ridge_stream *stream, ridge_error *err)
{
    struct cpu_event *const own = (struct cpu_event *)event;

    (void)stream;
    if (clock_gettime(CLOCK_MONOTONIC, &own->at) != 0)
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED, "this machine has no monotonic clock");
    own->has_happened = true;
    return RIDGE_OK;
}

static ridge_status has_happened(const ridge_event *event, ridge_error *err)
{
    return ((const struct cpu_event *)event)->has_happened
               ? RIDGE_OK
               : ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "the event was never recorded");
}

static ridge_status cpu_event_synchronize(ridge_event *event, ridge_error *err)
{
    return has_happened(event, err);
}

static ridge_status cpu_event_elapsed_ns(const ridge_event *from, const ridge_event *to,
                                         double *out, ridge_error *err)
{
    const struct timespec *const begin = &((const struct cpu_event *)from)->at;
    const struct timespec *const end = &((const struct cpu_event *)to)->at;
    ridge_status status = has_happened(from, err);

    if (status == RIDGE_OK)
        status = has_happened(to, err);
    if (status == RIDGE_OK)
        *out =
            (double)(end->tv_sec - begin->tv_sec) * 1e9 + (double)(end->tv_nsec - begin->tv_nsec);
    return status;
}

/* -- the device -------------------------------------------------------------------------------- */

static void cpu_free(ridge_device *device)
{
    ridge_free(device);
}

static const struct device_ops CPU_OPS = {.free = cpu_free,
                                          .alloc = cpu_alloc,
                                          .release = cpu_release,
                                          .free_bytes = cpu_free_bytes,
                                          .upload = cpu_move,
                                          .download = cpu_move,
                                          .copy = cpu_copy,
                                          .alloc_shared = cpu_alloc_shared,
                                          .release_shared = cpu_release,
                                          .map = cpu_map,
                                          .mapping_free = cpu_mapping_free,
                                          .stream_create = cpu_stream_create,
                                          .stream_free = cpu_stream_free,
                                          .event_create = cpu_event_create,
                                          .event_free = cpu_event_free,
                                          .event_record = cpu_event_record,
                                          .event_synchronize = cpu_event_synchronize,
                                          .event_elapsed_ns = cpu_event_elapsed_ns};

/* What the kernel calls the processor; "CPU" where it does not say. */
static void read_name(char *name, size_t size)
{
    FILE *const file = fopen("/proc/cpuinfo", "r");
    char line[256];

    snprintf(name, size, "CPU");
    if (file == NULL)
        return;
    while (fgets(line, sizeof(line), file) != NULL) {
        const char *const colon = strchr(line, ':');

        if (strncmp(line, "model name", 10) != 0 || colon == NULL)
            continue;
        line[strcspn(line, "\n")] = '\0';
        if (colon[1] == ' ' && colon[2] != '\0')
            snprintf(name, size, "%.*s", (int)(size - 1), colon + 2);
        break;
    }
    fclose(file);
}

/* As the system has it: sysconf() adds up the slices of some processors, which no core sees whole. */
static size_t system_cache_bytes(void)
{
    static const char *const paths[] = {"/sys/devices/system/cpu/cpu0/cache/index3/size",
                                        "/sys/devices/system/cpu/cpu0/cache/index2/size"};
    unsigned long long kib = 0;
    size_t i;

    for (i = 0; i < sizeof(paths) / sizeof(paths[0]) && kib == 0; i++) {
        FILE *const file = fopen(paths[i], "r");

        if (file != NULL && fscanf(file, "%18lluK", &kib) != 1)
            kib = 0;
        if (file != NULL)
            fclose(file);
    }
    return (size_t)kib * 1024;
}

static size_t last_cache_bytes(void)
{
    const size_t known = system_cache_bytes();

    if (known > 0)
        return known;
#if defined(_SC_LEVEL3_CACHE_SIZE) && defined(_SC_LEVEL2_CACHE_SIZE)
    const long level3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
    const long level2 = sysconf(_SC_LEVEL2_CACHE_SIZE);

    if (level3 > 0 || level2 > 0)
        return (size_t)(level3 > 0 ? level3 : level2);
#endif
    return CPU_L2_BYTES;
}

ridge_status cpu_device_open(ridge_device **out, ridge_error *err)
{
    const long threads = sysconf(_SC_NPROCESSORS_ONLN);
    ridge_device *const device = ridge_calloc(1, sizeof(*device));

    if (device == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for the CPU device");
    device->ops = &CPU_OPS;
    device->info = (ridge_device_info){.kind = RIDGE_DEVICE_CPU,
                                       .sm_count = threads > 0 ? (int)threads : 1,
                                       .l2_bytes = last_cache_bytes(),
                                       .memory_bytes = read_meminfo("MemTotal:"),
                                       .clock_hz = (double)NAN,
                                       .memory_bytes_per_s = (double)NAN,
                                       .power_limit_w = (double)NAN,
                                       .has_virtual_memory = true};
    read_name(device->info.name, sizeof(device->info.name));
    *out = device;
    return RIDGE_OK;
}
