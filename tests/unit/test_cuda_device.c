/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA device over a driver and an NVML of host memory (fake_cuda.h): what it does, and what
 * happens when each call of the driver fails. */
#include "cases.h"

#include <dlfcn.h>
#include <math.h>
#include <unistd.h>

#include "base/memory.h"
#include "device/cuda_internal.h"
#include "fake_cuda.h"

static fake_control *cuda, *old_cuda, *nvml_control;

static fake_control *load(const char *path)
{
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    fake_control *(*get)(void);
    void *address;

    assert_non_null(library);
    address = dlsym(library, "fake_control_get");
    assert_non_null(address);
    memcpy(&get, &address, sizeof(get));
    return get();
}

static void reset(fake_control *control, int version)
{
    memset(control, 0, sizeof(*control));
    control->version = version;
    control->device_count = 2;
    control->major = 9;
    control->memory_limit_bytes = (size_t)1 << 30;
    control->fail_result = CU_INVALID_VALUE;
    control->lists_self = 1;
    control->processes = 1;
}

static void use(bool old)
{
    setenv("RIDGE_CUDA_LIBRARY", old ? FAKE_CUDA_OLD : FAKE_CUDA, 1);
    setenv("RIDGE_NVML_LIBRARY", FAKE_NVML, 1);
    reset(cuda, 13000);
    reset(old_cuda, 11040);
    reset(nvml_control, 0);
}

static void nothing_left(const fake_control *control)
{
    assert_int_equal(control->contexts, 0);
    assert_int_equal(control->allocations, 0);
    assert_int_equal(control->reservations, 0);
    assert_int_equal(control->memories, 0);
    assert_int_equal(control->mappings, 0);
    assert_int_equal(control->streams, 0);
    assert_int_equal(control->events, 0);
    assert_int_equal(control->modules, 0);
    assert_int_equal(control->graphs, 0);
    assert_int_equal(control->execs, 0);
}

static ridge_device *opened(void)
{
    ridge_device *device;
    ridge_error err = {0};

    if (ridge_device_open("cuda", &device, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    return device;
}

#define FAILS(call, wanted_status, words)                                                          \
    do {                                                                                           \
        ridge_error err = {0};                                                                     \
        assert_int_equal(call, wanted_status);                                                     \
        if (strstr(err.text, words) == NULL)                                                       \
            fail_msg("'%s' lacks '%s'", err.text, words);                                          \
    } while (0)
#define WORKS(call)                                                                                \
    do {                                                                                           \
        ridge_error err = {0};                                                                     \
        if ((call) != RIDGE_OK)                                                                    \
            fail_msg("%s", err.text);                                                              \
    } while (0)

/* -- opening ----------------------------------------------------------------------------------- */

static void says_what_it_is(void **state)
{
    const ridge_device_info *info;
    ridge_device *device;
    ridge_clock_reading clocks;

    (void)state;
    use(false);
    nvml_control->reasons = 0x4 | 0x2;
    device = opened();
    info = ridge_device_get_info(device);
    assert_string_equal(info->name, "Fake GPU 0");
    assert_string_equal(info->uuid, "GPU-fake");
    assert_string_equal(info->driver, "999.1");
    assert_string_equal(info->virtualization, "passthrough");
    assert_int_equal(info->cuda_driver_version, 13000);
    assert_int_equal(info->sm_version, 90);
    assert_int_equal(info->sm_count, 132);
    assert_true(info->is_ecc && !info->is_mig && info->has_clocks && info->has_virtual_memory);
    assert_true(info->clock_hz == 1.98e9 && info->power_limit_w == 700);
    assert_true(info->memory_bytes_per_s == 2 * 3201e6 * 768);
    ridge_device_read_clocks(device, &clocks);
    assert_true(clocks.sm_hz == 1.5e9 && clocks.memory_hz == 3e9 && clocks.temperature_c == 41);
    assert_true(fabs(clocks.power_w - 123.456) < 1e-9);
    assert_int_equal(clocks.reasons, RIDGE_CLOCK_POWER_CAP | RIDGE_CLOCK_LOCKED);
    assert_true(ridge_device_reset_persisting_l2(device));
    assert_true(ridge_device_persisting_l2_limit(device) == 0);
    ridge_device_free(device);
    nothing_left(cuda);
    nothing_left(nvml_control);
}

/* This process may be listed under another number, and then is one of those listed. */
static struct listed {
    const char *name;
    unsigned processes;
    int lists_self, expected;
} listed_rows[] = {
    {"only this process", 1, 1, 0},          {"two others", 3, 1, 2},
    {"this one by another number", 1, 0, 0}, {"that and one more", 2, 0, 1},
    {"a list that shows nobody", 0, 0, -1},
};

static struct reasons {
    const char *name;
    unsigned long long bits;
    unsigned reasons;
} reasons_rows[] = {
    {"no reason", 0, 0},
    {"idle and locked", 0x3, RIDGE_CLOCK_IDLE | RIDGE_CLOCK_LOCKED},
    {"a slowdown by heat", 0x48, RIDGE_CLOCK_THERMAL},
    {"a slowdown by the brake", 0x88, RIDGE_CLOCK_POWER_CAP},
    {"a slowdown", 0x8, RIDGE_CLOCK_OTHER},
    {"unknown ones", 0xf000, 0},
};

static void knows_reasons(void **state)
{
    const struct reasons *const row = *state;
    ridge_device *device;
    ridge_clock_reading clocks;

    use(false);
    nvml_control->reasons = row->bits;
    device = opened();
    ridge_device_read_clocks(device, &clocks);
    assert_int_equal(clocks.reasons, row->reasons);
    ridge_device_free(device);
}

static void counts_others(void **state)
{
    const struct listed *const row = *state;
    ridge_device *device;

    use(false);
    nvml_control->processes = row->processes;
    nvml_control->lists_self = row->lists_self;
    device = opened();
    assert_int_equal(ridge_device_other_processes(device), row->expected);
    ridge_device_free(device);
}

static void lives_without_nvml(void **state)
{
    ridge_device *device;
    ridge_clock_reading clocks;

    (void)state;
    use(false);
    setenv("RIDGE_NVML_LIBRARY", "/nonexistent/libnvidia-ml.so.1", 1);
    device = opened();
    assert_string_equal(ridge_device_get_info(device)->uuid,
                        "GPU-f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff");
    assert_string_equal(ridge_device_get_info(device)->driver, "");
    assert_false(ridge_device_get_info(device)->has_clocks);
    assert_true(ridge_device_get_info(device)->memory_bytes_per_s == 2 * 3201e6 * 768);
    assert_true(isnan(ridge_device_get_info(device)->power_limit_w));
    ridge_device_read_clocks(device, &clocks);
    assert_true(isnan(clocks.sm_hz) && isnan(clocks.power_w) && clocks.reasons == 0);
    assert_int_equal(ridge_device_other_processes(device), -1);
    ridge_device_free(device);
}

static struct no_start {
    const char *name;
    const char *library; /* NULL: the fake one */
    const char *fail_call;
    unsigned result;
    int device_count, version;
    const char *why;
} no_starts[] = {
    {"no driver", "/nonexistent/libcuda.so.1", NULL, 0, 1, 13000, "libcuda.so.1 is not there"},
    {"no GPU", NULL, NULL, 0, 0, 13000, "sees no GPU"},
    {"a stub", NULL, "cuInit", CU_STUB_LIBRARY, 1, 13000, "stub"},
    {"versions differ", NULL, "cuInit", CU_DRIVER_MISMATCH, 1, 13000, "different versions"},
    {"another reason", NULL, "cuInit", 999, 1, 13000, "cuInit fails"},
    {"too old", NULL, NULL, 0, 1, 11020, "too old"},
    {"no version", NULL, "cuDriverGetVersion", CU_INVALID_VALUE, 1, 13000, "too old"},
    {"a library of something else", FAKE_NVML, NULL, 0, 1, 13000, "too old"},
};

static void says_why_not(void **state)
{
    const struct no_start *const row = *state;
    ridge_device *device = (void *)state;
    const char *why;

    use(false);
    if (row->library != NULL)
        setenv("RIDGE_CUDA_LIBRARY", row->library, 1);
    cuda->fail_call = row->fail_call;
    cuda->fail_result = row->result;
    cuda->device_count = row->device_count;
    cuda->version = row->version;
    assert_int_equal(ridge_device_gpu_count(&why), 0);
    assert_non_null(strstr(why, row->why));
    FAILS(ridge_device_open("cuda", &device, &err), RIDGE_ERR_NO_DEVICE, row->why);
    assert_null(device);
    WORKS(ridge_device_open("auto", &device, &err));
    assert_int_equal(ridge_device_get_info(device)->kind, RIDGE_DEVICE_CPU);
    ridge_device_free(device);
    nothing_left(cuda);
}

static void knows_how_many(void **state)
{
    ridge_device *device;
    ridge_device_info info;
    ridge_clock_reading clocks;
    const char *why;
    int processes;

    (void)state;
    use(false);
    assert_int_equal(ridge_device_gpu_count(&why), 2);
    FAILS(ridge_device_open("cuda:2", &device, &err), RIDGE_ERR_NO_DEVICE,
          "there are cuda:0 to cuda:1");
    WORKS(ridge_device_look(1, &info, &clocks, &processes, &err));
    assert_string_equal(info.name, "Fake GPU 1");
    assert_int_equal(processes, -1); /* NVML does not know this one */
    WORKS(ridge_device_look(0, &info, &clocks, &processes, &err));
    assert_int_equal(processes, 0);
    nothing_left(cuda); /* and no context was made */
    cuda->fail_call = "cuDeviceGetCount";
    assert_int_equal(ridge_device_gpu_count(&why), 0);
    assert_non_null(strstr(why, "cuDeviceGetCount"));
}

/* -- memory ------------------------------------------------------------------------------------ */

static void moves_memory(void **state)
{
    ridge_device *device;
    void *data, *other, *host, *shared;
    uint32_t word = 7, back = 0;
    size_t free_bytes;

    (void)state;
    use(false);
    device = opened();
    WORKS(ridge_device_alloc(device, 4, &data, &err));
    WORKS(ridge_device_alloc(device, 0, &other, &err));
    assert_non_null(other);
    WORKS(ridge_device_upload(device, data, &word, 4, &err));
    WORKS(ridge_device_copy(device, NULL, other, data, 4, &err));
    WORKS(ridge_device_download(device, &back, other, 4, &err));
    assert_int_equal(back, 7);
    WORKS(ridge_device_free_bytes(device, &free_bytes, &err));
    assert_int_equal(free_bytes, cuda->memory_limit_bytes);
    WORKS(device->ops->alloc_shared(device, 64, &host, &shared, &err));
    assert_int_equal(*(unsigned char *)host, 0);
    device->ops->release_shared(device, host);
    ridge_device_release(device, other);
    ridge_device_release(device, NULL);
    FAILS(ridge_device_alloc(device, (size_t)3 << 30, &other, &err), RIDGE_ERR_OUT_OF_MEMORY,
          "3.000 GiB wanted on cuda:0, 1.000 GiB of 1.000 GiB are free");
    assert_null(other);
    ridge_device_release(device, data);
    ridge_device_free(device);
    nothing_left(cuda);
}

static struct mapped {
    const char *name;
    size_t size_bytes;
    bool fence;
    size_t alias_bytes;
    int mappings;
} mapped_rows[] = {
    {"one granule", 100, false, 0, 1},
    {"fenced", 100, true, 0, 1},
    {"fenced, several granules", ((size_t)5 << 20) + 4, true, 0, 1},
    {"an alias", ((size_t)9 << 20) + 1, false, 1000, 5},
    {"a fenced alias of two granules", (size_t)9 << 20, true, (size_t)3 << 20, 3},
};

static void maps(void **state)
{
    const struct mapped *const row = *state;
    const size_t granule = (size_t)2 << 20;
    ridge_device *device;
    ridge_mapping *mapping;
    void *data;

    use(false);
    device = opened();
    WORKS(ridge_device_map(device, row->size_bytes, row->fence, row->alias_bytes, &mapping, &data,
                           &err));
    assert_int_equal(cuda->mappings, row->mappings);
    assert_int_equal(cuda->memories, 0); /* released: the mapping keeps it */
    if (row->fence) {
        const size_t end = (uintptr_t)data % granule + row->size_bytes;

        assert_true((granule - end % granule) % granule < DEVICE_FENCE_ALIGNMENT);
        assert_int_equal((uintptr_t)data % DEVICE_FENCE_ALIGNMENT, 0);
    }
    memset(data, 1, row->alias_bytes > 0 ? 1 : row->size_bytes);
    ridge_mapping_free(mapping);
    ridge_device_free(device);
    nothing_left(cuda);
}

/* -- streams, modules, launches ---------------------------------------------------------------- */

static const char ptx[] = ".version 8.0\n.target sm_90\n";

static void times_events(void **state)
{
    ridge_device *device;
    ridge_stream *stream, *other;
    ridge_event *from, *to;
    double ns = 0;

    (void)state;
    use(false);
    device = opened();
    WORKS(ridge_stream_create(device, &stream, &err));
    WORKS(ridge_stream_create(device, &other, &err));
    WORKS(ridge_event_create(device, &from, &err));
    WORKS(ridge_event_create(device, &to, &err));
    WORKS(ridge_event_record(from, stream, &err));
    WORKS(ridge_event_record(to, stream, &err));
    WORKS(ridge_stream_wait(other, to, &err));
    WORKS(ridge_event_synchronize(to, &err));
    WORKS(ridge_event_elapsed_ns(from, to, &ns, &err));
    assert_true(fabs(ns - 1000) < 0.1);
    WORKS(ridge_stream_synchronize(stream, &err));
    ridge_event_free(from);
    ridge_event_free(to);
    ridge_stream_free(other);
    ridge_stream_free(stream);
    ridge_device_free(device);
    nothing_left(cuda);
}

static ridge_gpu_module *loaded(ridge_device *device)
{
    ridge_gpu_module *module;

    /* Without its NUL, as it is read from a file. */
    WORKS(ridge_gpu_module_load(device, ptx, strlen(ptx), NULL, 0, &module, &err));
    return module;
}

static void launches(void **state)
{
    ridge_device *device;
    ridge_gpu_module *module;
    ridge_gpu_function *function, *again;
    ridge_gpu_function_info info;
    void *data;
    uint32_t value = 99, back = 0;
    void *const parameters[] = {&data, &value};
    ridge_gpu_launch launch = {.grid = {1, 2, 3}, .block = {64, 2, 1}};
    char log[64];
    int blocks;

    (void)state;
    use(false);
    device = opened();
    module = loaded(device);
    WORKS(ridge_device_alloc(device, 4, &data, &err));
    WORKS(ridge_gpu_module_function(module, "mark", &function, &err));
    WORKS(ridge_gpu_module_function(module, "mark", &again, &err));
    assert_ptr_equal(function, again);
    FAILS(ridge_gpu_module_function(module, "nark", &again, &err), RIDGE_ERR_INVALID_ARGUMENT,
          "no kernel 'nark' in the module; it has mark, other_kernel");
    assert_null(again);
    WORKS(ridge_gpu_function_get_info(function, &info, &err));
    assert_int_equal(info.registers_per_thread, 40);
    assert_int_equal(info.static_shared_bytes, 1024);
    assert_int_equal(info.parameter_count, 2);
    assert_int_equal(info.parameter_offset[1], 8);
    assert_int_equal(info.parameter_bytes[1], 4);

    WORKS(ridge_gpu_function_launch(function, &launch, parameters, NULL, &err));
    WORKS(ridge_device_download(device, &back, data, 4, &err));
    assert_int_equal(back, 99);
    assert_memory_equal(cuda->grid, launch.grid, sizeof(launch.grid));
    assert_memory_equal(cuda->block, launch.block, sizeof(launch.block));

    launch.dynamic_shared_bytes = 100000;
    launch.programmatic_dependent_launch = true;
    memcpy(launch.cluster, (unsigned[]){16, 1, 1}, sizeof(launch.cluster));
    launch.grid[0] = 16;
    WORKS(ridge_gpu_function_launch(function, &launch, parameters, NULL, &err));
    assert_int_equal(cuda->shared_bytes, 100000);
    assert_int_equal(cuda->programmatic, 1);
    assert_memory_equal(cuda->cluster, launch.cluster, sizeof(launch.cluster));
    launch.dynamic_shared_bytes = 232448;
    FAILS(ridge_gpu_function_launch(function, &launch, parameters, NULL, &err),
          RIDGE_ERR_INVALID_ARGUMENT, "mark: 232448 bytes of dynamic and 1024 of static");
    launch = (ridge_gpu_launch){.grid = {1, 1, 1}, .block = {2048, 1, 1}};
    FAILS(ridge_gpu_function_launch(function, &launch, parameters, NULL, &err), RIDGE_ERR_CUDA,
          "cuLaunchKernel of mark, grid 1x1x1, block 2048x1x1, 0 bytes of dynamic shared memory: "
          "CUDA_ERROR_INVALID_VALUE (1): invalid argument");

    WORKS(ridge_gpu_function_occupancy(function, 256, 0, &blocks, &err));
    assert_int_equal(blocks, 8);
    WORKS(ridge_gpu_function_occupancy(function, 256, 150000, &blocks, &err));
    assert_int_equal(blocks, 8);
    WORKS(ridge_gpu_function_occupancy(function, 256, 400000, &blocks, &err));
    assert_int_equal(blocks, 0);
    ridge_gpu_module_free(module);
    WORKS(ridge_gpu_module_load(device, ptx, sizeof(ptx), log, sizeof(log), &module, &err));
    assert_string_equal(log, "log");
    ridge_gpu_module_free(module);
    ridge_device_release(device, data);
    ridge_device_free(device);
    nothing_left(cuda);
}

static const unsigned char elf_cut[] = "\177ELF\2\1\1";
static const unsigned char fatbin_cut[] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 9,
                                           0,    0,    0,    0,    0, 0, 0,  1};
static const unsigned char fatbin_whole[] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 1,
                                             0,    0,    0,    0,    0, 0, 0,  1, 0};

static struct refused_image {
    const char *name;
    const void *image;
    size_t size_bytes;
    unsigned result; /* of the driver; 0: it is not asked */
    ridge_status status;
    const char *words;
} refused_images[] = {
    {"empty", "", 0, 0, RIDGE_ERR_FORMAT, "neither a cubin"},
    {"nothing but a NUL", "", 1, 0, RIDGE_ERR_FORMAT, "neither a cubin"},
    {"bytes", "ab\0cd", 5, 0, RIDGE_ERR_FORMAT, "neither a cubin"},
    {"a cubin cut short", elf_cut, sizeof(elf_cut), 0, RIDGE_ERR_FORMAT, "cubin is cut short"},
    {"a fat binary cut short", fatbin_cut, sizeof(fatbin_cut), 0, RIDGE_ERR_FORMAT,
     "fat binary is cut short"},
    {"other chip", fatbin_whole, sizeof(fatbin_whole), CU_NO_BINARY, RIDGE_ERR_ARCH,
     "no code for Fake GPU 0 (sm_90)"},
    {"newer PTX", ptx, sizeof(ptx), CU_UNSUPPORTED_PTX, RIDGE_ERR_ARCH, "CUDA 13.0"},
    {"wrong PTX", ptx, sizeof(ptx), CU_INVALID_PTX, RIDGE_ERR_FORMAT,
     "compile the PTX: ptxas line 3; unexpected 'wgmma'"},
    {"an image of nothing", ptx, sizeof(ptx), CU_INVALID_IMAGE, RIDGE_ERR_FORMAT, "neither cubin"},
    {"another failure", ptx, sizeof(ptx), 999, RIDGE_ERR_CUDA, "cuModuleLoadDataEx"},
};

static void refuses_images(void **state)
{
    const struct refused_image *const row = *state;
    ridge_device *device;
    ridge_gpu_module *module;
    char log[64] = "";

    use(false);
    device = opened();
    cuda->fail_call = row->result != 0 ? "cuModuleLoadDataEx" : NULL;
    cuda->fail_result = row->result;
    FAILS(
        ridge_gpu_module_load(device, row->image, row->size_bytes, log, sizeof(log), &module, &err),
        row->status, row->words);
    assert_null(module);
    if (row->result != 0)
        assert_non_null(strstr(log, "wgmma"));
    ridge_device_free(device);
    nothing_left(cuda);
}

/* What nvcc made is taken, but not with its last byte missing. */
static void takes_whole_images(void **state)
{
    static const char *const names[] = {"empty.cubin", "empty.fatbin"};
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        static unsigned char bytes[8192];
        char path[512];
        FILE *file;
        size_t size;
        bool text;

        snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/gpu_image/%s", RIDGE_SOURCE_DIR,
                 names[i]);
        file = fopen(path, "rb");
        assert_non_null(file);
        size = fread(bytes, 1, sizeof(bytes), file);
        fclose(file);
        assert_in_range(size, 1000, sizeof(bytes) - 1);
        WORKS(cuda_image_check(bytes, size, &text, &err));
        assert_false(text);
        FAILS(cuda_image_check(bytes, size - 1, &text, &err), RIDGE_ERR_FORMAT, "cut short");
    }
}

/* -- tensor maps ------------------------------------------------------------------------------- */

static ridge_tensor_map good_map(void)
{
    return (ridge_tensor_map){.dtype = RIDGE_DTYPE_BF16,
                              .rank = 2,
                              .extent = {4096, 128},
                              .stride_bytes = {8192},
                              .box = {64, 128},
                              .element_stride = {1, 1},
                              .swizzle_bytes = 128,
                              .l2_promotion_bytes = 256};
}

static struct bad_map {
    const char *name;
    size_t offset; /* of the member that is wrong */
    size_t size_bytes;
    uint64_t value;
    ridge_status status;
    const char *words;
} bad_maps[] = {
#define MAP_ROW(name, member, value, status, words)                                                \
    {                                                                                              \
        name, offsetof(ridge_tensor_map, member), sizeof(((ridge_tensor_map *)NULL)->member),      \
            value, status, words                                                                   \
    }
    MAP_ROW("address", data, 8, RIDGE_ERR_MISALIGNED, "address is not a multiple of 16"),
    MAP_ROW("rank", rank, 6, RIDGE_ERR_INVALID_ARGUMENT, "6 dimensions"),
    MAP_ROW("type", dtype, RIDGE_DTYPE_COUNT, RIDGE_ERR_INVALID_ARGUMENT, "known one"),
    MAP_ROW("extent", extent[1], 0, RIDGE_ERR_INVALID_ARGUMENT, "extent 1 is 0"),
    MAP_ROW("stride", stride_bytes[0], 8200, RIDGE_ERR_MISALIGNED, "dimension 1 is 8200 bytes"),
    MAP_ROW("box", box[1], 257, RIDGE_ERR_INVALID_ARGUMENT, "box 1 is 257"),
    MAP_ROW("box row", box[0], 60, RIDGE_ERR_MISALIGNED, "120 bytes"),
    MAP_ROW("box and swizzle", box[0], 128, RIDGE_ERR_INVALID_ARGUMENT, "swizzle of 128"),
    MAP_ROW("element stride", element_stride[0], 9, RIDGE_ERR_INVALID_ARGUMENT, "stride 0 is 9"),
    MAP_ROW("swizzle", swizzle_bytes, 48, RIDGE_ERR_INVALID_ARGUMENT, "swizzle 48"),
    MAP_ROW("interleave", interleave_bytes, 32, RIDGE_ERR_INVALID_ARGUMENT, "3 dimensions"),
    MAP_ROW("promotion", l2_promotion_bytes, 32, RIDGE_ERR_INVALID_ARGUMENT, "promotion 32"),
};

static void refuses_map(void **state)
{
    const struct bad_map *const row = *state;
    ridge_tensor_map map = good_map();
    ridge_device *device;
    unsigned char encoded[128];

    use(false);
    device = opened();
    memcpy((char *)&map + row->offset, &row->value, row->size_bytes);
    FAILS(ridge_tensor_map_encode(device, &map, encoded, &err), row->status, row->words);
    ridge_device_free(device);
}

static void encodes_map(void **state)
{
    const ridge_tensor_map map = good_map();
    ridge_device *device;
    unsigned char encoded[129] = {0};

    (void)state;
    use(false);
    device = opened();
    WORKS(ridge_tensor_map_encode(device, &map, encoded + 1, &err)); /* any alignment */
    assert_int_equal(encoded[1], 2);
    assert_int_equal(cuda->tensor_type, CU_TENSOR_BF16);
    assert_int_equal(cuda->tensor_swizzle, CU_TENSOR_SWIZZLE_128);
    ridge_device_free(device);
    cuda->major = 8;
    device = opened();
    FAILS(ridge_tensor_map_encode(device, &map, encoded, &err), RIDGE_ERR_UNSUPPORTED,
          "tensor maps need sm_90");
    ridge_device_free(device);
}

/* -- graphs ------------------------------------------------------------------------------------ */

static void captures(void **state)
{
    ridge_device *device;
    ridge_gpu_module *module;
    ridge_gpu_function *mark, *other;
    ridge_stream *stream;
    ridge_graph *graph, *adopted, *outer;
    ridge_graph_node node;
    void *data, *native;
    uint32_t value = 1;
    void *const parameters[] = {&data, &value};
    const ridge_gpu_launch launch = {
        .grid = {5, 1, 1}, .block = {32, 1, 1}, .dynamic_shared_bytes = 16};

    (void)state;
    use(false);
    device = opened();
    module = loaded(device);
    WORKS(ridge_gpu_module_function(module, "mark", &mark, &err));
    WORKS(ridge_gpu_module_function(module, "other_kernel", &other, &err));
    WORKS(ridge_device_alloc(device, 4, &data, &err));
    WORKS(ridge_stream_create(device, &stream, &err));
    WORKS(ridge_capture_begin(stream, true, &err));
    WORKS(ridge_gpu_function_launch(mark, &launch, parameters, ridge_stream_native(stream), &err));
    WORKS(ridge_gpu_function_launch(other, &launch, parameters, ridge_stream_native(stream), &err));
    WORKS(ridge_device_copy(device, stream, data, data, 4, &err));
    WORKS(ridge_capture_end(stream, &graph, &err));
    assert_int_equal(ridge_graph_node_count(graph), 3);
    assert_true(ridge_graph_node_at(graph, 0, &node));
    assert_string_equal(node.kind, "kernel");
    assert_string_equal(node.name, "mark");
    assert_int_equal(node.grid[0], 5);
    assert_int_equal(node.block[0], 32);
    assert_int_equal(node.dynamic_shared_bytes, 16);
    assert_true(ridge_graph_node_at(graph, 1, &node));
    assert_string_equal(node.name, "other_kernel");
    assert_true(ridge_graph_node_at(graph, 2, &node));
    assert_string_equal(node.kind, "copy");
    assert_false(ridge_graph_node_at(graph, 3, &node));
    WORKS(ridge_graph_launch(graph, stream, &err));
    WORKS(ridge_graph_of_native(device, graph, &adopted, &err));
    assert_int_equal(ridge_graph_node_count(adopted), 0);
    ridge_graph_free(adopted);
    /* With its graph: nodes are listed, and it can be put into another. */
    native = cuda->captured;
    WORKS(ridge_graph_of_natives(device, native, graph, &adopted, &err));
    assert_int_equal(ridge_graph_node_count(adopted), 3);
    WORKS(ridge_capture_begin(stream, true, &err));
    WORKS(ridge_gpu_function_launch(mark, &launch, parameters, ridge_stream_native(stream), &err));
    WORKS(ridge_graph_launch(adopted, stream, &err));
    WORKS(ridge_graph_launch_native(adopted, ridge_stream_native(stream), &err));
    WORKS(ridge_device_copy(device, stream, data, data, 4, &err));
    WORKS(ridge_capture_end(stream, &outer, &err));
    assert_int_equal(ridge_graph_node_count(outer), 8);
    assert_true(ridge_graph_node_at(outer, 5, &node));
    assert_string_equal(node.name, "other_kernel");
    assert_true(ridge_graph_node_at(outer, 7, &node));
    assert_string_equal(node.kind, "copy");
    ridge_graph_free(outer);
    ridge_graph_free(adopted);
    WORKS(ridge_graph_of_natives(device, native, NULL, &adopted, &err));
    WORKS(ridge_graph_launch(adopted, stream, &err));
    ridge_graph_free(adopted);
    FAILS(ridge_graph_of_natives(device, NULL, NULL, &adopted, &err), RIDGE_ERR_INVALID_ARGUMENT,
          "neither a graph");
    ridge_graph_free(graph);
    ridge_stream_free(stream);
    ridge_device_release(device, data);
    ridge_gpu_module_free(module);
    ridge_device_free(device);
    nothing_left(cuda);
}

/* An aborted capture says what broke it, and the stream captures again. */
static struct broken_capture {
    const char *name;
    bool allocates;      /* in the capture */
    unsigned end_result; /* of ending it */
    const char *words;
} broken_captures[] = {
    {"a call of ridge", true, 0, "the capture is broken by cuMemAlloc: an earlier call broke"},
    {"an unjoined stream", false, CU_CAPTURE_UNJOINED, "forked to another stream and not joined"},
    {"the legacy stream", false, CU_CAPTURE_IMPLICIT, "the legacy default stream was used"},
    {"another thread", false, CU_CAPTURE_WRONG_THREAD, "ended by another thread"},
    {"no rule", false, 999, "cuStreamEndCapture"},
};

static void survives_broken_capture(void **state)
{
    const struct broken_capture *const row = *state;
    ridge_device *device;
    ridge_stream *stream;
    ridge_graph *graph;
    void *data;

    use(false);
    device = opened();
    WORKS(ridge_stream_create(device, &stream, &err));
    WORKS(ridge_capture_begin(stream, true, &err));
    if (row->allocates)
        FAILS(ridge_device_alloc(device, 4, &data, &err), RIDGE_ERR_CUDA, "cuMemAlloc");
    cuda->fail_call = row->end_result != 0 ? "cuStreamEndCapture" : NULL;
    cuda->fail_result = row->end_result;
    FAILS(ridge_capture_end(stream, &graph, &err), RIDGE_ERR_CUDA, row->words);
    assert_null(graph);
    cuda->fail_call = NULL;
    WORKS(ridge_capture_begin(stream, true, &err));
    WORKS(ridge_capture_end(stream, &graph, &err));
    assert_int_equal(ridge_graph_node_count(graph), 0);
    ridge_graph_free(graph);
    ridge_stream_free(stream);
    ridge_device_free(device);
    nothing_left(cuda);
}

/* -- an old driver ----------------------------------------------------------------------------- */

static void lives_with_old_driver(void **state)
{
    const ridge_tensor_map map = good_map();
    ridge_device *device;
    ridge_gpu_module *module;
    ridge_gpu_function *function;
    ridge_gpu_function_info info;
    ridge_stream *stream;
    ridge_graph *graph;
    ridge_graph_node node;
    ridge_gpu_launch launch = {.grid = {2, 1, 1}, .block = {32, 1, 1}, .cluster = {2, 1, 1}};
    void *data;
    uint32_t value = 1;
    void *const parameters[] = {&data, &value};
    unsigned char encoded[128];

    (void)state;
    use(true);
    device = opened();
    module = loaded(device);
    FAILS(ridge_gpu_module_function(module, "nark", &function, &err), RIDGE_ERR_INVALID_ARGUMENT,
          "no kernel 'nark' in the module");
    WORKS(ridge_gpu_module_function(module, "mark", &function, &err));
    WORKS(ridge_gpu_function_get_info(function, &info, &err));
    assert_int_equal(info.parameter_count, -1);
    WORKS(ridge_device_alloc(device, 4, &data, &err));
    WORKS(ridge_stream_create(device, &stream, &err));
    FAILS(ridge_gpu_function_launch(function, &launch, parameters, NULL, &err),
          RIDGE_ERR_UNSUPPORTED,
          "cuLaunchKernelEx needs a driver for CUDA 11.8 or later, this one is for CUDA 11.4");
    FAILS(ridge_tensor_map_encode(device, &map, encoded, &err), RIDGE_ERR_UNSUPPORTED,
          "cuTensorMapEncodeTiled needs a driver for CUDA 12.0");
    launch.cluster[0] = 0;
    WORKS(ridge_capture_begin(stream, false, &err));
    WORKS(ridge_gpu_function_launch(function, &launch, parameters, ridge_stream_native(stream),
                                    &err));
    WORKS(ridge_capture_end(stream, &graph, &err));
    assert_true(ridge_graph_node_at(graph, 0, &node));
    assert_string_equal(node.name, "");
    assert_int_equal(node.grid[0], 2);
    ridge_graph_free(graph);
    ridge_stream_free(stream);
    ridge_device_release(device, data);
    ridge_gpu_module_free(module);
    ridge_device_free(device);
    nothing_left(old_cuda);
}

/* -- every call fails once --------------------------------------------------------------------- */

#define TRY(call)                                                                                  \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != RIDGE_OK)                                                                    \
            goto out;                                                                              \
    } while (0)

/* Does everything; stops at the first failure and frees what there is. */
static ridge_status everything(ridge_error *err)
{
    const ridge_tensor_map map = good_map();
    const ridge_gpu_launch plain = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    const ridge_gpu_launch large = {.grid = {16, 1, 1},
                                    .block = {32, 1, 1},
                                    .cluster = {16, 1, 1},
                                    .dynamic_shared_bytes = 60000};
    ridge_device *device = NULL;
    ridge_gpu_module *module = NULL;
    ridge_gpu_function *function;
    ridge_gpu_function_info info;
    ridge_stream *stream = NULL;
    ridge_event *from = NULL, *to = NULL;
    ridge_graph *graph = NULL;
    ridge_mapping *mapping = NULL;
    unsigned char encoded[128];
    void *data = NULL, *mapped, *host = NULL, *shared;
    uint32_t value = 1;
    void *const parameters[] = {&data, &value};
    size_t free_bytes;
    double ns;
    int blocks;
    ridge_status status;

    TRY(ridge_device_open("cuda:0", &device, err));
    TRY(ridge_device_alloc(device, 4, &data, err));
    TRY(ridge_device_free_bytes(device, &free_bytes, err));
    TRY(ridge_device_upload(device, data, &value, 4, err));
    TRY(ridge_device_copy(device, NULL, data, data, 4, err));
    TRY(ridge_device_download(device, &value, data, 4, err));
    TRY(device->ops->alloc_shared(device, 64, &host, &shared, err));
    TRY(ridge_device_map(device, 9 << 20, true, 1, &mapping, &mapped, err));
    TRY(ridge_stream_create(device, &stream, err));
    TRY(ridge_event_create(device, &from, err));
    TRY(ridge_event_create(device, &to, err));
    TRY(ridge_gpu_module_load(device, ptx, sizeof(ptx), NULL, 0, &module, err));
    TRY(ridge_gpu_module_function(module, "mark", &function, err));
    TRY(ridge_gpu_function_get_info(function, &info, err));
    TRY(ridge_gpu_function_occupancy(function, 64, 70000, &blocks, err));
    TRY(ridge_event_record(from, stream, err));
    TRY(ridge_gpu_function_launch(function, &plain, parameters, ridge_stream_native(stream), err));
    TRY(ridge_gpu_function_launch(function, &large, parameters, ridge_stream_native(stream), err));
    TRY(ridge_event_record(to, stream, err));
    TRY(ridge_stream_wait(stream, to, err));
    TRY(ridge_event_synchronize(to, err));
    TRY(ridge_event_elapsed_ns(from, to, &ns, err));
    TRY(ridge_tensor_map_encode(device, &map, encoded, err));
    TRY(ridge_capture_begin(stream, true, err));
    TRY(ridge_gpu_function_launch(function, &plain, parameters, ridge_stream_native(stream), err));
    TRY(ridge_capture_end(stream, &graph, err));
    TRY(ridge_graph_launch(graph, stream, err));
    TRY(ridge_stream_synchronize(stream, err));
    TRY(ridge_device_synchronize(device, err));
out:
    if (cuda->failed[0] == '\0')
        cuda->fail_at = 0; /* freeing reports nothing */
    if (device == NULL)
        return status;
    if (host != NULL)
        device->ops->release_shared(device, host);
    ridge_graph_free(graph);
    ridge_event_free(from);
    ridge_event_free(to);
    ridge_stream_free(stream);
    ridge_gpu_module_free(module);
    ridge_mapping_free(mapping);
    ridge_device_release(device, data);
    ridge_device_free(device);
    return status;
}

/* Failures that only leave something unknown. */
static bool is_tolerated(const char *call)
{
    static const char *const calls[] = {
        "cuDeviceGetName",     "cuDeviceGetUuid_v2",   "cuDeviceGetPCIBusId",
        "cuDeviceTotalMem_v2", "cuDeviceGetAttribute", "cuFuncGetParamInfo",
        "cuGraphNodeGetType",  "cuFuncGetName",        "cuGraphKernelNodeGetParams_v2",
        "cuKernelGetName",
    };
    size_t i;

    for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (strcmp(calls[i], call) == 0)
            return true;
    return false;
}

static void each_call_fails(void **state)
{
    size_t nth;

    (void)state;
    for (nth = 1;; nth++) {
        ridge_error err = {0};
        char call[64];
        ridge_status status;

        use(false);
        cuda->fail_at = nth;
        cuda->fail_result = 719;
        status = everything(&err);
        if (cuda->failed[0] == '\0')
            break;
        nothing_left(cuda);
        nothing_left(nvml_control);
        snprintf(call, sizeof(call), "%.*s", (int)strcspn(cuda->failed, "_"), cuda->failed);
        if (status == RIDGE_OK && !is_tolerated(cuda->failed))
            fail_msg("call %zu, %s, failed unseen", nth, call);
        if (status != RIDGE_OK && strstr(err.text, call) == NULL &&
            strcmp(call, "cuDriverGetVersion") != 0 && strcmp(call, "cuDeviceGetAttribute") != 0)
            fail_msg("call %zu, %s: %s", nth, call, err.text);
    }
    assert_true(nth > 70);
}

static void each_nvml_call_fails(void **state)
{
    size_t nth;

    (void)state;
    for (nth = 1;; nth++) {
        ridge_device *device;
        ridge_clock_reading clocks;

        use(false);
        nvml_control->fail_at = nth;
        nvml_control->fail_result = 3;
        device = opened();
        ridge_device_read_clocks(device, &clocks);
        ridge_device_other_processes(device);
        ridge_device_free(device);
        nothing_left(nvml_control);
        if (nvml_control->failed[0] == '\0')
            break;
    }
    assert_true(nth > 15);
}

static void each_allocation_fails(void **state)
{
    size_t nth;
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;

    (void)state;
    for (nth = 1; status != RIDGE_OK; nth++) {
        ridge_error err = {0};

        use(false);
        ridge_memory_fail_at(nth);
        status = everything(&err);
        ridge_memory_fail_at(0);
        nothing_left(cuda);
        if (status != RIDGE_OK)
            assert_int_equal(status, RIDGE_ERR_OUT_OF_MEMORY);
    }
    assert_true(nth > 8);
}

int main(void)
{
    static cases list;

    cuda = load(FAKE_CUDA);
    old_cuda = load(FAKE_CUDA_OLD);
    nvml_control = load(FAKE_NVML);
    cases_add(&list, "says what it is", says_what_it_is, NULL);
    CASES_ADD_ROWS(&list, counts_others, listed_rows);
    CASES_ADD_ROWS(&list, knows_reasons, reasons_rows);
    cases_add(&list, "lives without NVML", lives_without_nvml, NULL);
    CASES_ADD_ROWS(&list, says_why_not, no_starts);
    cases_add(&list, "knows how many GPUs there are", knows_how_many, NULL);
    cases_add(&list, "moves memory", moves_memory, NULL);
    CASES_ADD_ROWS(&list, maps, mapped_rows);
    cases_add(&list, "times events", times_events, NULL);
    cases_add(&list, "launches", launches, NULL);
    CASES_ADD_ROWS(&list, refuses_images, refused_images);
    cases_add(&list, "takes whole images", takes_whole_images, NULL);
    CASES_ADD_ROWS(&list, refuses_map, bad_maps);
    cases_add(&list, "encodes a tensor map", encodes_map, NULL);
    cases_add(&list, "captures", captures, NULL);
    CASES_ADD_ROWS(&list, survives_broken_capture, broken_captures);
    cases_add(&list, "lives with an old driver", lives_with_old_driver, NULL);
    cases_add(&list, "each call of the driver fails", each_call_fails, NULL);
    cases_add(&list, "each call of NVML fails", each_nvml_call_fails, NULL);
    cases_add(&list, "each allocation fails", each_allocation_fails, NULL);
    return cases_run(&list, "cuda_device");
}
