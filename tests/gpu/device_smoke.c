/* SPDX-License-Identifier: Apache-2.0
 *
 * device_smoke [FOLDER]: does everything of ridge/device.h once on cuda:0 and prints what it found,
 * one line each; goes on after a failure. FOLDER holds smoke_kernels*.ptx. Exit status: 0 all is
 * well, 1 something failed, 77 there is no GPU. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ridge/device.h"
#include "ridge/table.h"

#ifndef SMOKE_FOLDER
#define SMOKE_FOLDER "."
#endif

static const char *folder = SMOKE_FOLDER;

/* -- one item ---------------------------------------------------------------------------------- */

struct smoke {
    ridge_device *gpu, *cpu;
    ridge_stream *stream;
    ridge_gpu_module *module; /* sm_80 or later; NULL: not loaded */
    char detail[1024];        /* what it found */
    bool is_skipped;
};

static void note(struct smoke *smoke, const char *format, ...) RIDGE_PRINTF(2, 3);
static void note(struct smoke *smoke, const char *format, ...)
{
    const size_t length = strlen(smoke->detail);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(smoke->detail + length, sizeof(smoke->detail) - length, format, arguments);
    va_end(arguments);
}

static bool skip(struct smoke *smoke, const char *why)
{
    note(smoke, "%s", why);
    smoke->is_skipped = true;
    return true;
}

/* In a function that returns bool: the first failure ends the item, after what is to be freed. */
#define TRY(smoke, call)                                                                           \
    do {                                                                                           \
        ridge_error err = {0};                                                                     \
        if ((call) != RIDGE_OK) {                                                                  \
            note(smoke, "; line %d: %s", __LINE__, err.text);                                      \
            goto out;                                                                              \
        }                                                                                          \
    } while (0)
#define EXPECT(smoke, condition, ...)                                                              \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            note(smoke, "; line %d: ", __LINE__);                                                  \
            note(smoke, __VA_ARGS__);                                                              \
            goto out;                                                                              \
        }                                                                                          \
    } while (0)

static double now_ms(void)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec * 1e3 + (double)at.tv_nsec * 1e-6;
}

static const char *bytes_text(double value, char buffer[32])
{
    return ridge_number_text(value, RIDGE_UNIT_BYTES, buffer, 32);
}

static char *read_text(const char *name, size_t *size)
{
    char path[1024];
    char *text = calloc(1, 1 << 16);
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "r");
    *size = file != NULL && text != NULL ? fread(text, 1, (1 << 16) - 1, file) : 0;
    if (file != NULL)
        fclose(file);
    return text;
}

static ridge_status load_kernels(ridge_device *device, const char *name, ridge_gpu_module **out,
                                 ridge_error *err)
{
    size_t size;
    char *const text = read_text(name, &size);
    ridge_status status;

    *out = NULL;
    status = size == 0 ? ridge_fail(err, RIDGE_ERR_IO, "no %s in %s", name, folder)
                       : ridge_gpu_module_load(device, text, size, NULL, 0, out, err);
    free(text);
    return status;
}

/* -- the device -------------------------------------------------------------------------------- */

static bool look(struct smoke *smoke)
{
    const ridge_device_info *const info = ridge_device_get_info(smoke->gpu);
    ridge_device_info seen;
    ridge_clock_reading clocks;
    char a[32], b[32], c[32], d[32];
    int processes;
    const double begin = now_ms();

    TRY(smoke, ridge_device_look(0, &seen, &clocks, &processes, &err));
    note(
        smoke,
        "%s, sm_%d, %d SMs, driver %s, CUDA %d; memory %s at %s, L2 %s, persisting %s; shared %zu "
        "a block, %zu an SM; %d threads, %d registers an SM; clock %.0f MHz, limit %.0f W; ECC %d, "
        "MIG %d, virtual memory %d, virtualization '%s'; uuid %s; looked in %.1f ms",
        info->name, info->sm_version, info->sm_count, info->driver, info->cuda_driver_version,
        bytes_text((double)info->memory_bytes, a),
        ridge_number_text(info->memory_bytes_per_s, RIDGE_UNIT_BYTES_PER_S, b, sizeof(b)),
        bytes_text((double)info->l2_bytes, c), bytes_text((double)info->persisting_l2_bytes, d),
        info->shared_per_block_bytes, info->shared_per_sm_bytes, info->threads_per_sm,
        info->registers_per_sm, info->clock_hz / 1e6, info->power_limit_w, info->is_ecc,
        info->is_mig, info->has_virtual_memory, info->virtualization,
        info->uuid[0] != '\0' ? "known" : "unknown", now_ms() - begin);
    EXPECT(smoke, strcmp(seen.name, info->name) == 0 && strcmp(seen.uuid, info->uuid) == 0,
           "a look differs");
    return true;
out:
    return false;
}

static bool clocks(struct smoke *smoke)
{
    ridge_clock_reading at;

    ridge_device_read_clocks(smoke->gpu, &at);
    note(smoke, "SM %.0f MHz, memory %.0f MHz, %.1f W, %.0f C, reasons 0x%x; others computing: %d",
         at.sm_hz / 1e6, at.memory_hz / 1e6, at.power_w, at.temperature_c, at.reasons,
         ridge_device_other_processes(smoke->gpu));
    return !ridge_device_get_info(smoke->gpu)->has_clocks || at.sm_hz > 1e8;
}

static bool persisting(struct smoke *smoke)
{
    return ridge_device_reset_persisting_l2(smoke->gpu);
}

/* -- memory ------------------------------------------------------------------------------------ */

static bool memory(struct smoke *smoke)
{
    const size_t size = (size_t)64 << 20;
    void *data = NULL, *copy = NULL, *empty = NULL, *huge = NULL;
    unsigned char *from = malloc(size), *back = calloc(1, size);
    size_t free_bytes, i;
    ridge_error refused = {0};
    bool ok = false;
    double begin;

    for (i = 0; i < size; i++)
        from[i] = (unsigned char)(i * 2654435761u >> 13);
    TRY(smoke, ridge_device_alloc(smoke->gpu, size, &data, &err));
    TRY(smoke, ridge_device_alloc(smoke->gpu, size, &copy, &err));
    TRY(smoke, ridge_device_alloc(smoke->gpu, 0, &empty, &err));
    EXPECT(smoke, empty != NULL && (uintptr_t)data % 256 == 0, "addresses %p %p", data, empty);
    begin = now_ms();
    TRY(smoke, ridge_device_upload(smoke->gpu, data, from, size, &err));
    note(smoke, "upload %.1f GB/s", (double)size / (now_ms() - begin) / 1e6);
    TRY(smoke, ridge_device_copy(smoke->gpu, smoke->stream, copy, data, size, &err));
    begin = now_ms();
    TRY(smoke, ridge_device_download(smoke->gpu, back, copy, size, &err));
    note(smoke, ", download %.1f GB/s", (double)size / (now_ms() - begin) / 1e6);
    EXPECT(smoke, memcmp(from, back, size) == 0, "copies differ");
    TRY(smoke, ridge_device_free_bytes(smoke->gpu, &free_bytes, &err));
    EXPECT(smoke,
           ridge_device_alloc(smoke->gpu, (size_t)1 << 46, &huge, &refused) ==
               RIDGE_ERR_OUT_OF_MEMORY,
           "64 TiB: status %d", refused.status);
    note(smoke, "; %s", refused.text);
    ok = true;
out:
    ridge_device_release(smoke->gpu, data);
    ridge_device_release(smoke->gpu, copy);
    ridge_device_release(smoke->gpu, empty);
    free(from);
    free(back);
    return ok;
}

static bool fence_mapping(struct smoke *smoke)
{
    static const size_t sizes[] = {1, 1000, (2 << 20) - 16, (2 << 20) + 4};
    unsigned char bytes[1000], back[1000];
    size_t i;

    memset(bytes, 0xa5, sizeof(bytes));
    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const size_t part = sizes[i] < sizeof(bytes) ? sizes[i] : sizeof(bytes);
        ridge_mapping *mapping = NULL;
        void *data;
        ridge_error err = {0};
        bool ok =
            ridge_device_map(smoke->gpu, sizes[i], true, 0, &mapping, &data, &err) == RIDGE_OK;

        ok = ok && ridge_device_upload(smoke->gpu, (char *)data + sizes[i] - part, bytes, part,
                                       &err) == RIDGE_OK;
        memset(back, 0, sizeof(back));
        ok = ok && ridge_device_download(smoke->gpu, back, (char *)data + sizes[i] - part, part,
                                         &err) == RIDGE_OK;
        ok = ok && memcmp(bytes, back, part) == 0;
        if (ok)
            note(smoke, "%s%zu at ...%05" PRIxPTR, i > 0 ? ", " : "", sizes[i],
                 (uintptr_t)data & 0x1fffff);
        else
            note(smoke, "%zu bytes: %s", sizes[i], err.text);
        ridge_mapping_free(mapping);
        if (!ok)
            return false;
    }
    return true;
}

/* A write behind the fence is a fault, which is fatal to a context: in a process of its own, that
 * was made before this one touched the driver. */
static void fault_child(int to)
{
    struct smoke smoke = {0};
    ridge_gpu_function *function;
    ridge_mapping *mapping;
    void *data;
    uint32_t value = 1;
    void *const parameters[] = {&data, &value};
    const ridge_gpu_launch launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};

    TRY(&smoke, ridge_device_open("cuda", &smoke.gpu, &err));
    TRY(&smoke, load_kernels(smoke.gpu, "smoke_kernels.ptx", &smoke.module, &err));
    TRY(&smoke, ridge_gpu_module_function(smoke.module, "mark", &function, &err));
    TRY(&smoke, ridge_device_map(smoke.gpu, 4096, true, 0, &mapping, &data, &err));
    data = (char *)data + 4092;
    TRY(&smoke, ridge_gpu_function_launch(function, &launch, parameters, NULL, &err));
    TRY(&smoke, ridge_device_synchronize(smoke.gpu, &err));
    note(&smoke, "last word ok; behind it: ");
    data = (char *)data + 4;
    TRY(&smoke, ridge_gpu_function_launch(function, &launch, parameters, NULL, &err));
    TRY(&smoke, ridge_device_synchronize(smoke.gpu, &err));
    note(&smoke, "no fault");
out:
    if (write(to, smoke.detail, strlen(smoke.detail)) < 0)
        _exit(1);
    _exit(0);
}

static char fault_text[1024];

static void run_fault_child(void)
{
    int ends[2];
    pid_t child;
    size_t length = 0;
    ssize_t part;

    if (pipe(ends) != 0 || (child = fork()) < 0)
        return;
    if (child == 0) {
        close(ends[0]);
        fault_child(ends[1]);
    }
    close(ends[1]);
    while ((part = read(ends[0], fault_text + length, sizeof(fault_text) - 1 - length)) > 0)
        length += (size_t)part;
    close(ends[0]);
    waitpid(child, NULL, 0);
}

static bool fence_fault(struct smoke *smoke)
{
    note(smoke, "%s", fault_text);
    return strstr(fault_text, "last word ok") != NULL &&
           strstr(fault_text, "ILLEGAL_ADDRESS") != NULL;
}

static bool alias_mapping(struct smoke *smoke)
{
    const size_t size = ((size_t)1 << 33) + 4096, granule = (size_t)64 << 20;
    ridge_mapping *mapping = NULL;
    size_t before, after;
    uint32_t value = 0x12345678, back = 0;
    void *data;
    char a[32], b[32];
    double begin = now_ms();
    bool ok = false;

    TRY(smoke, ridge_device_free_bytes(smoke->gpu, &before, &err));
    TRY(smoke, ridge_device_map(smoke->gpu, size, false, granule, &mapping, &data, &err));
    TRY(smoke, ridge_device_free_bytes(smoke->gpu, &after, &err));
    note(smoke, "%s of addresses in %.1f ms take %s", bytes_text((double)size, a), now_ms() - begin,
         bytes_text((double)before - (double)after, b));
    TRY(smoke, ridge_device_upload(smoke->gpu, (char *)data + 12, &value, 4, &err));
    TRY(smoke,
        ridge_device_download(smoke->gpu, &back, (char *)data + 100 * granule + 12, 4, &err));
    EXPECT(smoke, back == value, "the alias holds %" PRIx32, back);
    EXPECT(smoke, before - after <= 2 * granule, "too much");
    begin = now_ms();
    ridge_mapping_free(mapping);
    mapping = NULL;
    TRY(smoke, ridge_device_free_bytes(smoke->gpu, &after, &err));
    note(smoke, ", freed in %.1f ms", now_ms() - begin);
    EXPECT(smoke, after + granule / 2 >= before, "%s lost",
           bytes_text((double)before - (double)after, b));
    ok = true;
out:
    ridge_mapping_free(mapping);
    return ok;
}

/* -- streams and events ------------------------------------------------------------------------ */

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static bool events(struct smoke *smoke)
{
    enum { SAMPLES = 501 };
    static double ns[SAMPLES];
    ridge_event *from = NULL, *to = NULL;
    bool ok = false;
    size_t i;

    TRY(smoke, ridge_event_create(smoke->gpu, &from, &err));
    TRY(smoke, ridge_event_create(smoke->gpu, &to, &err));
    for (i = 0; i < SAMPLES; i++) {
        TRY(smoke, ridge_event_record(from, smoke->stream, &err));
        TRY(smoke, ridge_event_record(to, smoke->stream, &err));
        TRY(smoke, ridge_event_synchronize(to, &err));
        TRY(smoke, ridge_event_elapsed_ns(from, to, &ns[i], &err));
    }
    qsort(ns, SAMPLES, sizeof(ns[0]), compare_doubles);
    note(smoke, "between two records: median %.0f ns, least %.0f, p99 %.0f", ns[SAMPLES / 2], ns[0],
         ns[SAMPLES * 99 / 100]);
    EXPECT(smoke, ns[SAMPLES / 2] > 0 && ns[SAMPLES / 2] < 1e5, "implausible");
    ok = true;
out:
    ridge_event_free(from);
    ridge_event_free(to);
    return ok;
}

/* -- modules and launches ---------------------------------------------------------------------- */

static bool modules(struct smoke *smoke)
{
    static const char wrong[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                                ".visible .entry broken()\n{\n    no.such.instruction;\n}\n";
    ridge_gpu_function *function;
    ridge_gpu_function_info info;
    ridge_gpu_module *module;
    ridge_error refused = {0};
    char log[1024] = "";
    int blocks;

    if (smoke->module == NULL)
        return skip(smoke, "no smoke_kernels.ptx");
    TRY(smoke, ridge_gpu_module_function(smoke->module, "mark", &function, &err));
    TRY(smoke, ridge_gpu_function_get_info(function, &info, &err));
    note(smoke, "mark: %d registers, code for sm_%d, %d parameters (offsets %u, %u; bytes %u, %u)",
         info.registers_per_thread, info.binary_version, info.parameter_count,
         info.parameter_offset[0], info.parameter_offset[1], info.parameter_bytes[0],
         info.parameter_bytes[1]);
    EXPECT(smoke, info.parameter_count == 2 || info.parameter_count == -1, "parameters");
    TRY(smoke, ridge_gpu_function_occupancy(function, 256, 100 << 10, &blocks, &err));
    note(smoke, "; with 100 KiB %d blocks an SM", blocks);
    EXPECT(smoke,
           ridge_gpu_module_function(smoke->module, "nark", &function, &refused) ==
               RIDGE_ERR_INVALID_ARGUMENT,
           "nark is there");
    note(smoke, "; %s", refused.text);
    EXPECT(smoke,
           ridge_gpu_module_load(smoke->gpu, wrong, sizeof(wrong), log, sizeof(log), &module,
                                 &refused) == RIDGE_ERR_FORMAT,
           "wrong PTX: %s", refused.text);
    note(smoke, "; %s", refused.text);
    EXPECT(smoke, strstr(log, "no.such") != NULL || log[0] != '\0', "no log");
    return true;
out:
    return false;
}

static bool launches(struct smoke *smoke)
{
    ridge_gpu_function *mark, *last;
    struct CUstream_st *const native = ridge_stream_native(smoke->stream);
    ridge_gpu_launch launch = {.grid = {1, 1, 1}, .block = {64, 1, 1}};
    void *data = NULL;
    uint32_t value = 0xcafe, words = 200 * 256, back = 0;
    void *const mark_parameters[] = {&data, &value};
    void *const last_parameters[] = {&data, &words, &value};
    ridge_error refused = {0};
    bool ok = false;

    if (smoke->module == NULL)
        return skip(smoke, "no smoke_kernels.ptx");
    TRY(smoke, ridge_device_alloc(smoke->gpu, 4, &data, &err));
    TRY(smoke, ridge_gpu_module_function(smoke->module, "mark", &mark, &err));
    TRY(smoke, ridge_gpu_module_function(smoke->module, "last_shared_word", &last, &err));
    TRY(smoke, ridge_gpu_function_launch(mark, &launch, mark_parameters, native, &err));
    TRY(smoke, ridge_device_download(smoke->gpu, &back, data, 4, &err));
    EXPECT(smoke, back == value, "mark wrote %" PRIx32, back);
    value = 0xbeef;
    launch.dynamic_shared_bytes = (size_t)words * 4;
    TRY(smoke, ridge_gpu_function_launch(last, &launch, last_parameters, native, &err));
    TRY(smoke, ridge_device_download(smoke->gpu, &back, data, 4, &err));
    EXPECT(smoke, back == value, "last_shared_word wrote %" PRIx32, back);
    note(smoke, "plain and with 200 KiB of shared memory; ");
    launch.dynamic_shared_bytes = 0;
    launch.block[0] = 2048;
    EXPECT(smoke,
           ridge_gpu_function_launch(mark, &launch, mark_parameters, native, &refused) ==
               RIDGE_ERR_CUDA,
           "2048 threads: no failure");
    note(smoke, "%s", refused.text);
    ok = true;
out:
    ridge_device_release(smoke->gpu, data);
    return ok;
}

/* Clusters (of 2, and of 16 with permission) and programmatic dependent launches. */
static bool attributes(struct smoke *smoke)
{
    struct CUstream_st *const native = ridge_stream_native(smoke->stream);
    ridge_gpu_module *module = NULL;
    ridge_gpu_function *cluster, *add;
    ridge_gpu_launch launch = {.grid = {16, 1, 1}, .block = {32, 1, 1}, .cluster = {2, 1, 1}};
    void *data = NULL;
    uint32_t value = 5, back[16] = {0};
    void *const cluster_parameters[] = {&data};
    void *const add_parameters[] = {&data, &value};
    bool ok = false;
    int i;

    if (ridge_device_get_info(smoke->gpu)->sm_version < 90)
        return skip(smoke, "sm_90 or later");
    TRY(smoke, load_kernels(smoke->gpu, "smoke_kernels_sm90.ptx", &module, &err));
    TRY(smoke, ridge_device_alloc(smoke->gpu, sizeof(back), &data, &err));
    TRY(smoke, ridge_gpu_module_function(module, "cluster_size", &cluster, &err));
    TRY(smoke, ridge_gpu_module_function(module, "dependent_add", &add, &err));
    for (i = 2; i <= 16; i *= 8) {
        launch.cluster[0] = (unsigned)i;
        TRY(smoke, ridge_gpu_function_launch(cluster, &launch, cluster_parameters, native, &err));
        TRY(smoke, ridge_device_download(smoke->gpu, back, data, sizeof(back), &err));
        EXPECT(smoke, back[0] == (uint32_t)i && back[15] == (uint32_t)i,
               "clusters of %d: %" PRIu32 ", %" PRIu32, i, back[0], back[15]);
        note(smoke, "clusters of %d, ", i);
    }
    TRY(smoke, ridge_device_set_words(smoke->gpu, smoke->stream, data, 4, 0, &err));
    launch = (ridge_gpu_launch){
        .grid = {1, 1, 1}, .block = {32, 1, 1}, .programmatic_dependent_launch = true};
    for (i = 0; i < 100; i++)
        TRY(smoke, ridge_gpu_function_launch(add, &launch, add_parameters, native, &err));
    TRY(smoke, ridge_device_download(smoke->gpu, back, data, 4, &err));
    EXPECT(smoke, back[0] == 500, "100 dependent additions of 5: %" PRIu32, back[0]);
    note(smoke, "100 dependent launches");
    ok = true;
out:
    ridge_device_release(smoke->gpu, data);
    ridge_gpu_module_free(module);
    return ok;
}

static bool tensor_map(struct smoke *smoke)
{
    enum { ROWS = 64, COLUMNS = 256, BOX_ROWS = 8, BOX_COLUMNS = 16 };
    static uint32_t matrix[ROWS * COLUMNS], back[BOX_ROWS * BOX_COLUMNS];
    struct CUstream_st *const native = ridge_stream_native(smoke->stream);
    const ridge_gpu_launch launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    ridge_gpu_module *module = NULL;
    ridge_gpu_function *function;
    _Alignas(64) unsigned char encoded[128];
    void *data = NULL, *out = NULL;
    int x = 48, y = 60, i; /* the last rows lie outside: zeros */
    void *const parameters[] = {encoded, &out, &x, &y};
    ridge_tensor_map map = {.dtype = RIDGE_DTYPE_U32,
                            .rank = 2,
                            .extent = {COLUMNS, ROWS},
                            .stride_bytes = {(uint64_t)COLUMNS * 4},
                            .box = {BOX_COLUMNS, BOX_ROWS},
                            .element_stride = {1, 1}};
    ridge_error refused = {0};
    bool ok = false;

    if (ridge_device_get_info(smoke->gpu)->sm_version < 90)
        return skip(smoke, "sm_90 or later");
    for (i = 0; i < ROWS * COLUMNS; i++)
        matrix[i] = (uint32_t)i;
    TRY(smoke, load_kernels(smoke->gpu, "smoke_kernels_sm90.ptx", &module, &err));
    TRY(smoke, ridge_gpu_module_function(module, "copy_box", &function, &err));
    TRY(smoke, ridge_device_alloc(smoke->gpu, sizeof(matrix), &data, &err));
    TRY(smoke, ridge_device_alloc(smoke->gpu, sizeof(back), &out, &err));
    TRY(smoke, ridge_device_upload(smoke->gpu, data, matrix, sizeof(matrix), &err));
    map.data = data;
    TRY(smoke, ridge_tensor_map_encode(smoke->gpu, &map, encoded, &err));
    TRY(smoke, ridge_gpu_function_launch(function, &launch, parameters, native, &err));
    TRY(smoke, ridge_device_download(smoke->gpu, back, out, sizeof(back), &err));
    for (i = 0; i < BOX_ROWS * BOX_COLUMNS; i++) {
        const int row = y + i / BOX_COLUMNS, column = x + i % BOX_COLUMNS;
        const uint32_t expected = row < ROWS ? matrix[row * COLUMNS + column] : 0;

        EXPECT(smoke, back[i] == expected, "element %d: %" PRIu32 ", expected %" PRIu32, i, back[i],
               expected);
    }
    note(smoke, "a box half outside is copied; ");
    /* What the driver itself says of each swizzle and type. */
    for (i = 0; i < RIDGE_DTYPE_COUNT; i++) {
        map = (ridge_tensor_map){.data = data,
                                 .dtype = (ridge_dtype)i,
                                 .rank = 3,
                                 .extent = {64, 16, 4},
                                 .stride_bytes = {512, 8192},
                                 .element_stride = {1, 1, 1},
                                 .l2_promotion_bytes = i % 2 == 0 ? 256 : 128};
        map.swizzle_bytes = i % 4 == 0 ? 0 : 16 << i % 4;
        map.box[0] = (uint32_t)((map.swizzle_bytes > 0 ? (size_t)map.swizzle_bytes : 64) /
                                ridge_dtype_bytes(map.dtype));
        map.box[1] = 4;
        map.box[2] = 2;
        TRY(smoke, ridge_tensor_map_encode(smoke->gpu, &map, encoded, &err));
    }
    note(smoke, "%d types encoded; ", (int)RIDGE_DTYPE_COUNT);
    map.stride_bytes[0] = 520;
    EXPECT(smoke,
           ridge_tensor_map_encode(smoke->gpu, &map, encoded, &refused) == RIDGE_ERR_MISALIGNED,
           "a wrong stride is taken");
    note(smoke, "%s", refused.text);
    ok = true;
out:
    ridge_device_release(smoke->gpu, data);
    ridge_device_release(smoke->gpu, out);
    ridge_gpu_module_free(module);
    return ok;
}

/* -- graphs ------------------------------------------------------------------------------------ */

static bool graphs(struct smoke *smoke)
{
    struct CUstream_st *const native = ridge_stream_native(smoke->stream);
    const ridge_gpu_launch launch = {.grid = {3, 1, 1}, .block = {96, 1, 1}};
    ridge_gpu_function *mark;
    ridge_graph *graph = NULL;
    void *data = NULL;
    uint32_t value = 77, back[2] = {0};
    void *const parameters[] = {&data, &value};
    ridge_graph_node node;
    bool ok = false;
    double begin;
    size_t i;

    if (smoke->module == NULL)
        return skip(smoke, "no smoke_kernels.ptx");
    TRY(smoke, ridge_gpu_module_function(smoke->module, "mark", &mark, &err));
    TRY(smoke, ridge_device_alloc(smoke->gpu, 8, &data, &err));
    TRY(smoke, ridge_device_upload(smoke->gpu, data, back, 8, &err));
    TRY(smoke, ridge_capture_begin(smoke->stream, true, &err));
    TRY(smoke, ridge_gpu_function_launch(mark, &launch, parameters, native, &err));
    TRY(smoke, ridge_device_copy(smoke->gpu, smoke->stream, (char *)data + 4, data, 4, &err));
    TRY(smoke, ridge_device_set_words(smoke->gpu, smoke->stream, data, 4, 5, &err));
    begin = now_ms();
    TRY(smoke, ridge_capture_end(smoke->stream, &graph, &err));
    note(smoke, "made in %.2f ms:", now_ms() - begin);
    for (i = 0; ridge_graph_node_at(graph, i, &node); i++)
        note(smoke, " %s%s%s %ux%u", node.kind, node.name[0] != '\0' ? " " : "", node.name,
             node.grid[0], node.block[0]);
    TRY(smoke, ridge_device_download(smoke->gpu, back, data, 8, &err));
    EXPECT(smoke, back[0] == 0 && back[1] == 0, "the capture ran");
    TRY(smoke, ridge_graph_launch(graph, smoke->stream, &err));
    TRY(smoke, ridge_device_download(smoke->gpu, back, data, 8, &err));
    EXPECT(smoke, back[0] == 5 && back[1] == 77, "results %" PRIu32 " %" PRIu32, back[0], back[1]);
    TRY(smoke, (ridge_graph_node_at(graph, 0, &node), RIDGE_OK));
    EXPECT(smoke, strcmp(node.name, "mark") == 0 && node.grid[0] == 3 && node.block[0] == 96,
           "the first node");
    ok = true;
out:
    ridge_graph_free(graph);
    ridge_device_release(smoke->gpu, data);
    return ok;
}

/* Two captures that break a rule: each is named, and the stream captures again. */
static bool broken_capture(struct smoke *smoke)
{
    ridge_stream *other = NULL;
    ridge_event *event = NULL;
    ridge_graph *graph = NULL;
    ridge_error refused = {0};
    void *data;
    bool ok = false;

    TRY(smoke, ridge_capture_begin(smoke->stream, true, &err));
    EXPECT(smoke, ridge_device_alloc(smoke->gpu, 4, &data, &refused) != RIDGE_OK,
           "allocated in a strict capture");
    EXPECT(smoke, ridge_capture_end(smoke->stream, &graph, &refused) == RIDGE_ERR_CUDA,
           "the broken capture ends well");
    note(smoke, "%s", refused.text);
    TRY(smoke, ridge_stream_create(smoke->gpu, &other, &err));
    TRY(smoke, ridge_event_create(smoke->gpu, &event, &err));
    TRY(smoke, ridge_capture_begin(smoke->stream, true, &err));
    TRY(smoke, ridge_event_record(event, smoke->stream, &err));
    TRY(smoke, ridge_stream_wait(other, event, &err));
    TRY(smoke, ridge_device_empty(smoke->gpu, other, 1, 32, &err));
    EXPECT(smoke, ridge_capture_end(smoke->stream, &graph, &refused) == RIDGE_ERR_CUDA,
           "an unjoined stream ends well");
    note(smoke, "; %s", refused.text);
    TRY(smoke, ridge_capture_begin(smoke->stream, false, &err));
    TRY(smoke, ridge_device_empty(smoke->gpu, smoke->stream, 1, 32, &err));
    TRY(smoke, ridge_capture_end(smoke->stream, &graph, &err));
    TRY(smoke, ridge_device_empty(smoke->gpu, other, 1, 32, &err));
    TRY(smoke, ridge_stream_synchronize(other, &err));
    TRY(smoke, ridge_graph_launch(graph, smoke->stream, &err));
    TRY(smoke, ridge_stream_synchronize(smoke->stream, &err));
    ok = true;
out:
    ridge_graph_free(graph);
    ridge_event_free(event);
    ridge_stream_free(other);
    return ok;
}

/* -- kernels of the harness -------------------------------------------------------------------- */

/* One tensor filled on both devices over the same pattern; false after noting the difference. */
static bool same_fill(struct smoke *smoke, ridge_dtype dtype, ridge_values values,
                      ridge_layout layout, uint64_t seed)
{
    ridge_case at;
    ridge_buffer_desc buffer = {
        .name = "x", .role = RIDGE_ROLE_IN, .dtype = dtype, .ndim = 3, .shape = {3, 37, 129}};
    const size_t size_of = ridge_dtype_bytes(dtype);
    void *on_gpu = NULL, *on_cpu = NULL;
    unsigned char *back = NULL;
    size_t span, origin, i;
    bool ok = false;

    ridge_case_init(&at);
    at.layout = layout;
    at.values = values;
    at.dtype = dtype;
    TRY(smoke, ridge_buffers_lay_out(&at, &buffer, 1, &err));
    span = (size_t)ridge_buffer_span_bytes(&buffer);
    origin = (size_t)ridge_buffer_origin(&buffer) * size_of;
    back = malloc(span);
    TRY(smoke, ridge_device_alloc(smoke->gpu, span, &on_gpu, &err));
    TRY(smoke, ridge_device_alloc(smoke->cpu, span, &on_cpu, &err));
    TRY(smoke, ridge_device_pattern(smoke->gpu, smoke->stream, on_gpu, span, 9, &err));
    TRY(smoke, ridge_device_pattern(smoke->cpu, NULL, on_cpu, span, 9, &err));
    TRY(smoke, ridge_device_fill(smoke->gpu, smoke->stream, &buffer, values,
                                 (char *)on_gpu + origin, seed, &err));
    TRY(smoke,
        ridge_device_fill(smoke->cpu, NULL, &buffer, values, (char *)on_cpu + origin, seed, &err));
    TRY(smoke, ridge_device_download(smoke->gpu, back, on_gpu, span, &err));
    for (i = 0; i < span && back[i] == ((unsigned char *)on_cpu)[i]; i++)
        ;
    EXPECT(smoke, i == span, "%s %s %s: byte %zu of %zu is %02x on the GPU, %02x on the CPU; ",
           ridge_dtype_name(dtype), ridge_values_name(values), ridge_layout_name(layout), i, span,
           back[i < span ? i : 0], ((unsigned char *)on_cpu)[i < span ? i : 0]);
    ok = true;
out:
    ridge_device_release(smoke->gpu, on_gpu);
    ridge_device_release(smoke->cpu, on_cpu);
    free(back);
    return ok;
}

static bool fills(struct smoke *smoke)
{
    unsigned same = 0, different = 0, d, v, l;

    for (d = 0; d < RIDGE_DTYPE_COUNT; d++)
        for (v = 0; v < RIDGE_VALUES_COUNT; v++)
            for (l = 0; l < RIDGE_LAYOUT_COUNT; l++)
                if (same_fill(smoke, (ridge_dtype)d, (ridge_values)v, (ridge_layout)l, 3 + d))
                    same++;
                else if (++different == 4)
                    goto out; /* one reason is enough */
out:
    note(smoke, "%u of %u the same, bit for bit (types x values x layouts)", same,
         RIDGE_DTYPE_COUNT * RIDGE_VALUES_COUNT * RIDGE_LAYOUT_COUNT);
    return different == 0;
}

static bool ranges(struct smoke *smoke)
{
    static const size_t sizes[] = {1, 3, 4, 4097, (1 << 20) + 5};
    void *on_gpu = NULL, *on_cpu = NULL;
    unsigned char *back = malloc((1 << 20) + 8), wrong;
    bool ok = false;
    size_t i;

    TRY(smoke, ridge_device_alloc(smoke->gpu, (1 << 20) + 8, &on_gpu, &err));
    TRY(smoke, ridge_device_alloc(smoke->cpu, (1 << 20) + 8, &on_cpu, &err));
    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        const size_t size = sizes[i], at = size / 2;
        uint64_t gpu_hash, cpu_hash, wrong_bytes, first;

        TRY(smoke,
            ridge_device_set_words(smoke->gpu, smoke->stream, on_gpu, size, 0xa1b2c3d4, &err));
        TRY(smoke, ridge_device_set_words(smoke->cpu, NULL, on_cpu, size, 0xa1b2c3d4, &err));
        TRY(smoke, ridge_device_download(smoke->gpu, back, on_gpu, size, &err));
        EXPECT(smoke, memcmp(back, on_cpu, size) == 0, "set_words of %zu", size);
        TRY(smoke, ridge_device_pattern(smoke->gpu, smoke->stream, on_gpu, size, 11, &err));
        TRY(smoke, ridge_device_pattern(smoke->cpu, NULL, on_cpu, size, 11, &err));
        TRY(smoke, ridge_device_download(smoke->gpu, back, on_gpu, size, &err));
        EXPECT(smoke, memcmp(back, on_cpu, size) == 0, "pattern of %zu", size);
        TRY(smoke, ridge_device_hash(smoke->gpu, smoke->stream, on_gpu, size, &gpu_hash, &err));
        TRY(smoke, ridge_device_hash(smoke->cpu, NULL, on_cpu, size, &cpu_hash, &err));
        EXPECT(smoke, gpu_hash == cpu_hash, "hash of %zu", size);
        TRY(smoke, ridge_device_pattern_check(smoke->gpu, smoke->stream, on_gpu, size, 11,
                                              &wrong_bytes, &first, &err));
        EXPECT(smoke, wrong_bytes == 0, "pattern_check of %zu: %" PRIu64, size, wrong_bytes);
        wrong = (unsigned char)~back[at];
        TRY(smoke, ridge_device_upload(smoke->gpu, (char *)on_gpu + at, &wrong, 1, &err));
        TRY(smoke, ridge_device_pattern_check(smoke->gpu, smoke->stream, on_gpu, size, 11,
                                              &wrong_bytes, &first, &err));
        EXPECT(smoke, wrong_bytes == 1 && first == at,
               "one wrong byte at %zu of %zu: %" PRIu64 " at %" PRIu64, at, size, wrong_bytes,
               first);
    }
    note(smoke, "words, pattern, its check and hash, to %zu bytes", sizes[i - 1]);
    ok = true;
out:
    ridge_device_release(smoke->gpu, on_gpu);
    ridge_device_release(smoke->cpu, on_cpu);
    free(back);
    return ok;
}

/* Twenty empty kernels behind the gate, a pair of events around each: what is queued runs back to
 * back. Then the gate that nobody opens. */
static bool gate(struct smoke *smoke)
{
    enum { LAUNCHES = 20 };
    ridge_event *at[LAUNCHES + 1] = {NULL};
    double ns[LAUNCHES], begin, opened;
    bool ok = false;
    int i;

    for (i = 0; i <= LAUNCHES; i++)
        TRY(smoke, ridge_event_create(smoke->gpu, &at[i], &err));
    TRY(smoke, ridge_device_gate_close(smoke->gpu, smoke->stream, &err));
    TRY(smoke, ridge_event_record(at[0], smoke->stream, &err));
    for (i = 0; i < LAUNCHES; i++) {
        TRY(smoke, ridge_device_empty(smoke->gpu, smoke->stream, 1, 32, &err));
        TRY(smoke, ridge_event_record(at[i + 1], smoke->stream, &err));
    }
    begin = now_ms();
    ridge_device_gate_open(smoke->gpu);
    TRY(smoke, ridge_stream_synchronize(smoke->stream, &err));
    opened = now_ms() - begin;
    for (i = 0; i < LAUNCHES; i++)
        TRY(smoke, ridge_event_elapsed_ns(at[i], at[i + 1], &ns[i], &err));
    qsort(ns, LAUNCHES, sizeof(ns[0]), compare_doubles);
    note(smoke,
         "empty kernel between events, queued: median %.0f ns, range %.0f to %.0f; %.2f ms "
         "after opening all is done; ",
         ns[LAUNCHES / 2], ns[0], ns[LAUNCHES - 1], opened);
    EXPECT(smoke, ns[LAUNCHES / 2] < 2e4 && opened < 500, "the gate does not hold together");
    TRY(smoke, ridge_device_gate_close(smoke->gpu, smoke->stream, &err));
    begin = now_ms();
    TRY(smoke, ridge_stream_synchronize(smoke->stream, &err));
    opened = now_ms() - begin;
    note(smoke, "opens itself after %.2f s", opened / 1e3);
    EXPECT(smoke, opened > 500 && opened < 10000, ": expected 2");
    ok = true;
out:
    ridge_device_gate_open(smoke->gpu);
    for (i = 0; i <= LAUNCHES; i++)
        ridge_event_free(at[i]);
    return ok;
}

static bool clock_pair(struct smoke *smoke)
{
    double hz;
    int i;

    TRY(smoke, ridge_device_clock_begin(smoke->gpu, smoke->stream, &err));
    for (i = 0; i < 2000; i++)
        TRY(smoke, ridge_device_empty(smoke->gpu, smoke->stream, 132, 1024, &err));
    TRY(smoke, ridge_device_scrub_shared(smoke->gpu, smoke->stream, &err));
    TRY(smoke, ridge_device_clock_end(smoke->gpu, smoke->stream, &err));
    hz = ridge_device_clock_read(smoke->gpu, smoke->stream);
    note(smoke, "mean SM clock of 2000 empty kernels and a scrub: %.1f MHz", hz / 1e6);
    EXPECT(smoke, hz > 1e8 && hz < 4e9, "implausible");
    return true;
out:
    return false;
}

/* -- all --------------------------------------------------------------------------------------- */

static const struct item {
    const char *name;
    bool (*run)(struct smoke *smoke);
} items[] = {
    {"device", look},
    {"clocks", clocks},
    {"persisting L2", persisting},
    {"memory", memory},
    {"fence mapping", fence_mapping},
    {"fence fault", fence_fault},
    {"alias mapping", alias_mapping},
    {"events", events},
    {"module", modules},
    {"launch", launches},
    {"cluster, PDL", attributes},
    {"tensor map", tensor_map},
    {"graph", graphs},
    {"broken capture", broken_capture},
    {"fill", fills},
    {"ranges", ranges},
    {"gate", gate},
    {"clock pair", clock_pair},
};

/* A failure may have left the stream in a capture. */
static void renew_stream(struct smoke *smoke)
{
    ridge_graph *graph;
    ridge_stream *other;

    if (ridge_capture_end(smoke->stream, &graph, NULL) == RIDGE_OK)
        ridge_graph_free(graph);
    if (ridge_stream_create(smoke->gpu, &other, NULL) != RIDGE_OK)
        return;
    ridge_stream_free(smoke->stream);
    smoke->stream = other;
}

static int run_all(struct smoke *smoke)
{
    unsigned ok = 0, failed = 0, skipped = 0;
    size_t i;

    for (i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
        bool passed;

        smoke->detail[0] = '\0';
        smoke->is_skipped = false;
        passed = items[i].run(smoke);
        if (!passed)
            renew_stream(smoke);
        printf("%-4s %-15s %s\n",
               smoke->is_skipped ? "skip"
               : passed          ? "ok"
                                 : "FAIL",
               items[i].name, smoke->detail);
        fflush(stdout);
        if (smoke->is_skipped)
            skipped++;
        else if (passed)
            ok++;
        else
            failed++;
    }
    printf("%u ok, %u failed, %u skipped\n", ok, failed, skipped);
    return failed > 0 ? 1 : 0;
}

int main(int argc, char **argv)
{
    struct smoke smoke = {0};
    ridge_error err = {0};
    int status = 1;

    if (argc > 1)
        folder = argv[1];
    run_fault_child();
    if (ridge_device_open("cuda", &smoke.gpu, &err) != RIDGE_OK) {
        printf("SKIPPED: %s\n", err.text);
        return err.status == RIDGE_ERR_NO_DEVICE ? 77 : 1;
    }
    if (ridge_device_open("cpu", &smoke.cpu, &err) != RIDGE_OK ||
        ridge_stream_create(smoke.gpu, &smoke.stream, &err) != RIDGE_OK) {
        printf("FAIL %s\n", err.text);
        goto out;
    }
    if (load_kernels(smoke.gpu, "smoke_kernels.ptx", &smoke.module, &err) != RIDGE_OK)
        printf("FAIL kernels         %s\n", err.text);
    /* Loads the kernels of the harness: not in a capture. */
    if (ridge_device_empty(smoke.gpu, smoke.stream, 1, 32, &err) != RIDGE_OK)
        printf("FAIL harness         %s\n", err.text);
    status = run_all(&smoke);
out:
    ridge_gpu_module_free(smoke.module);
    ridge_stream_free(smoke.stream);
    ridge_device_free(smoke.cpu);
    ridge_device_free(smoke.gpu);
    return status;
}
