/* SPDX-License-Identifier: Apache-2.0
 *
 * What the host does for the kernels of the harness on a GPU, with a GPU made of host memory: its
 * launches are noted, and those that the host reads from are answered. */
#include "cases.h"

#include <math.h>

#include "base/memory.h"
#include "device/fill_arithmetic.h"
#include "device/harness.h"

typedef struct fake_module {
    ridge_gpu_module base;
    ridge_gpu_function functions[HARNESS_FUNCTION_COUNT];
    const char *names[HARNESS_FUNCTION_COUNT];
    size_t count;
} fake_module;

/* The last launch. */
static struct {
    const char *name;
    ridge_gpu_launch how;
    size_t launches, modules;
    uint32_t gate_wanted;
    const uint32_t *gate;
    const char *missing; /* a function that the module lacks */
} fake;

static ridge_status fake_module_load(ridge_device *device, const void *image, size_t size_bytes,
                                     char *log, size_t log_size, ridge_gpu_module **out,
                                     ridge_error *err)
{
    const char *const text = image;
    fake_module *const module = ridge_calloc(1, sizeof(*module));

    (void)device;
    (void)log;
    (void)log_size;
    if (module == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "no module");
    assert_int_equal(strncmp(text, ".version ", 9), 0);
    assert_int_equal(strlen(text) + 1, size_bytes);
    fake.modules++;
    *out = &module->base;
    return RIDGE_OK;
}

static void fake_module_free(ridge_gpu_module *module)
{
    fake.modules--;
    ridge_free(module);
}

static ridge_status fake_module_function(ridge_gpu_module *base, const char *name,
                                         ridge_gpu_function **out, ridge_error *err)
{
    fake_module *const module = (fake_module *)base;

    if (fake.missing != NULL && strcmp(fake.missing, name) == 0)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "no function %s", name);
    module->names[module->count] = name;
    *out = &module->functions[module->count++];
    (*out)->module = base;
    (*out)->device = base->device;
    return RIDGE_OK;
}

/* Every SM runs at 1.5 GHz; the end is 2000 ns behind the begin. */
static void answer_clock(clock_slot *slots, uint32_t count, uint64_t epoch)
{
    static uint64_t now_ns = 1000;
    uint32_t sm;

    assert_true(count >= 132);
    for (sm = 0; sm < 132; sm += 3) /* not on all of them */
        slots[sm] = (clock_slot){epoch, UINT64_C(77) * sm + now_ns * 3 / 2, now_ns};
    now_ns += 2000;
}

static ridge_status fake_function_launch(ridge_gpu_function *function,
                                         const ridge_gpu_launch *launch, void *const *parameters,
                                         struct CUstream_st *native, ridge_error *err)
{
    const fake_module *const module = (const fake_module *)function->module;
    const char *const name = module->names[function - module->functions];

    (void)native;
    (void)err;
    fake.name = name;
    fake.how = *launch;
    fake.launches++;
    if (strcmp(name, "harness_clock") == 0)
        answer_clock(*(clock_slot **)parameters[0], *(uint32_t *)parameters[1],
                     *(uint64_t *)parameters[2]);
    if (strcmp(name, "harness_gate") == 0) {
        fake.gate = *(const uint32_t *const *)parameters[0];
        fake.gate_wanted = *(uint32_t *)parameters[1];
        assert_int_equal(*(uint64_t *)parameters[2], 2000000000);
    }
    if (strcmp(name, "harness_pattern_check") == 0) {
        uint64_t *const result = *(uint64_t **)parameters[3];

        assert_true(result[0] == 0 && result[1] == UINT64_MAX);
        result[0] = 3;
        result[1] = 41;
    }
    if (strcmp(name, "harness_hash") == 0) {
        assert_int_equal(**(uint64_t **)parameters[2], 0);
        **(uint64_t **)parameters[2] = 1000;
    }
    return RIDGE_OK;
}

static struct device_ops ops;

static ridge_device *open_fake(int sm_version)
{
    ridge_device *device;

    assert_int_equal(ridge_device_open("cpu", &device, NULL), RIDGE_OK);
    memset(&fake, 0, sizeof(fake));
    ops = *device->ops;
    ops.module_load = fake_module_load;
    ops.module_free = fake_module_free;
    ops.module_function = fake_module_function;
    ops.function_launch = fake_function_launch;
    device->ops = &ops;
    device->info = (ridge_device_info){.kind = RIDGE_DEVICE_CUDA,
                                       .name = "Fake",
                                       .sm_version = sm_version,
                                       .sm_count = 132,
                                       .shared_per_block_bytes = 232448};
    return device;
}

static void loads_once(void **state)
{
    ridge_device *const device = open_fake(90);
    unsigned char bytes[64] = {0};

    (void)state;
    assert_int_equal(fake.modules, 0); /* nothing before it is needed */
    assert_int_equal(ridge_device_set_words(device, NULL, bytes, sizeof(bytes), 1, NULL), RIDGE_OK);
    assert_string_equal(fake.name, "harness_set_words");
    assert_int_equal(fake.modules, 2);
    assert_int_equal(ridge_device_pattern(device, NULL, bytes, sizeof(bytes), 1, NULL), RIDGE_OK);
    assert_int_equal(fake.modules, 2);
    assert_int_equal(ridge_device_pattern(device, NULL, bytes, 0, 1, NULL), RIDGE_OK);
    assert_int_equal(fake.launches, 2); /* none for no bytes */
    ridge_device_free(device);
    assert_int_equal(fake.modules, 0);
}

static void grids(void **state)
{
    ridge_device *const device = open_fake(90);
    const ridge_buffer_desc large = {
        .dtype = RIDGE_DTYPE_F32, .ndim = 1, .shape = {INT64_C(1) << 40}, .stride = {1}};
    unsigned char bytes[64];

    (void)state;
    assert_int_equal(ridge_device_fill(device, NULL, &large, RIDGE_VALUES_NORMAL, bytes, 1, NULL),
                     RIDGE_OK);
    assert_int_equal(fake.how.grid[0] * fake.how.block[0], 132 * 4096);
    assert_int_equal(ridge_device_pattern(device, NULL, bytes, 1, 1, NULL), RIDGE_OK);
    assert_int_equal(fake.how.grid[0], 1);
    assert_int_equal(harness_launch(device, NULL, HARNESS_tiny0, UINT64_MAX, 256, NULL, NULL),
                     RIDGE_OK);
    assert_int_equal(fake.how.grid[0], INT32_MAX);
    assert_int_equal(ridge_device_empty(device, NULL, 7, 96, NULL), RIDGE_OK);
    assert_int_equal(fake.how.grid[0], 7);
    assert_int_equal(fake.how.block[0], 96);
    assert_int_equal(ridge_device_scrub_shared(device, NULL, NULL), RIDGE_OK);
    assert_int_equal(fake.how.dynamic_shared_bytes, 232448);
    assert_true(fake.how.grid[0] >= 132);
    ridge_device_free(device);
}

static void results(void **state)
{
    ridge_device *const device = open_fake(90);
    unsigned char bytes[64];
    uint64_t wrong, first, hash;
    int i;

    (void)state;
    for (i = 0; i < 2; i++) { /* the second begins from zero again */
        assert_int_equal(
            ridge_device_pattern_check(device, NULL, bytes, 64, 1, &wrong, &first, NULL), RIDGE_OK);
        assert_int_equal(wrong, 3);
        assert_int_equal(first, 41);
        assert_int_equal(ridge_device_hash(device, NULL, bytes, 64, &hash, NULL), RIDGE_OK);
        assert_true(hash == 1000 + fill_hash_size(64));
    }
    ridge_device_free(device);
}

/* A gate that was closed is shut, whatever was opened before, and open after one call. */
static void gates(void **state)
{
    ridge_device *const device = open_fake(90);
    int i;

    (void)state;
    ridge_device_gate_open(device); /* none was closed */
    for (i = 0; i < 3; i++) {
        assert_int_equal(ridge_device_gate_close(device, NULL, NULL), RIDGE_OK);
        assert_true((int32_t)(*fake.gate - fake.gate_wanted) < 0);
        ridge_device_gate_open(device);
        assert_false((int32_t)(*fake.gate - fake.gate_wanted) < 0);
    }
    ridge_device_free(device);
}

static void clock_between_notes(void **state)
{
    ridge_device *const device = open_fake(90);

    (void)state;
    assert_true(isnan(ridge_device_clock_read(device, NULL)));
    assert_int_equal(ridge_device_clock_begin(device, NULL, NULL), RIDGE_OK);
    assert_true(isnan(ridge_device_clock_read(device, NULL))); /* no end yet */
    assert_int_equal(ridge_device_clock_end(device, NULL, NULL), RIDGE_OK);
    assert_true(fabs(ridge_device_clock_read(device, NULL) - 1.5e9) < 1);
    assert_int_equal(ridge_device_clock_begin(device, NULL, NULL), RIDGE_OK);
    assert_true(isnan(ridge_device_clock_read(device, NULL))); /* the end is that of before */
    ridge_device_free(device);
}

static void what_a_gpu_lacks(void **state)
{
    ridge_device *const device = open_fake(75);
    unsigned char bytes[64];
    ridge_error err;

    (void)state;
    assert_int_equal(ridge_device_pattern(device, NULL, bytes, 64, 1, NULL), RIDGE_OK);
    assert_int_equal(fake.modules, 1);
    assert_int_equal(harness_launch(device, NULL, HARNESS_mma0, 32, 32, NULL, &err),
                     RIDGE_ERR_UNSUPPORTED);
    assert_string_equal(err.text, "Fake (sm_75) has not what this kernel needs: sm_80");
    ridge_device_free(device);
}

static void failures(void **state)
{
    ridge_device *const device = open_fake(90);
    unsigned char bytes[64];
    ridge_error err;
    ridge_status status = RIDGE_ERR_INTERNAL;
    size_t nth;

    (void)state;
    fake.missing = "harness_gate";
    assert_int_equal(ridge_device_pattern(device, NULL, bytes, 64, 1, &err),
                     RIDGE_ERR_INVALID_ARGUMENT);
    assert_string_equal(err.text, "no function harness_gate");
    assert_int_equal(fake.modules, 0);
    fake.missing = NULL;
    for (nth = 1; status != RIDGE_OK; nth++) {
        assert_true(nth < 100);
        ridge_memory_fail_at(nth);
        status = ridge_device_pattern(device, NULL, bytes, 64, 1, NULL);
        ridge_memory_fail_at(0);
        assert_true(status == RIDGE_OK || status == RIDGE_ERR_OUT_OF_MEMORY);
        assert_int_equal(fake.modules, status == RIDGE_OK ? 2 : 0);
    }
    assert_int_equal(ridge_device_clock_begin(device, NULL, NULL), RIDGE_OK);
    assert_int_equal(ridge_device_clock_end(device, NULL, NULL), RIDGE_OK);
    ridge_memory_fail_at(1);
    assert_true(isnan(ridge_device_clock_read(device, NULL)));
    ridge_memory_fail_at(0);
    ridge_device_free(device);
}

int main(void)
{
    static cases list;

    cases_add(&list, "loads once", loads_once, NULL);
    cases_add(&list, "grids", grids, NULL);
    cases_add(&list, "results", results, NULL);
    cases_add(&list, "gates", gates, NULL);
    cases_add(&list, "clock between notes", clock_between_notes, NULL);
    cases_add(&list, "what a GPU lacks", what_a_gpu_lacks, NULL);
    cases_add(&list, "failures", failures, NULL);
    return cases_run(&list, "harness");
}
