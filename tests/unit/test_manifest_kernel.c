/* SPDX-License-Identifier: Apache-2.0
 *
 * Manifests launched through a CUDA driver of host memory (fake_cuda.h), whose kernel "mark" stores
 * its second parameter where the first points. */
#include "cases.h"

#include <dlfcn.h>
#include <unistd.h>

#include "arm/arm_internal.h"
#include "fake_cuda.h"

#define PTX                                                                                        \
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry mark(\n  .param .u64 p,\n  "   \
    ".param .u32 v)\n{\n  ret;\n}\n"

static fake_control *driver(void)
{
    void *const library = dlopen(FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
    fake_control *(*get)(void);
    void *address;
    fake_control *control;

    assert_non_null(library);
    address = dlsym(library, "fake_control_get");
    assert_non_null(address);
    memcpy(&get, &address, sizeof(get));
    control = get();
    memset(control, 0, sizeof(*control));
    control->version = 13000;
    control->device_count = 1;
    control->major = 9;
    control->memory_limit_bytes = (size_t)1 << 30;
    setenv("RIDGE_CUDA_LIBRARY", FAKE_CUDA, 1);
    setenv("RIDGE_NVML_LIBRARY", FAKE_NVML, 1);
    return control;
}

/* An opened manifest of mark. */
static ridge_status open_manifest(ridge_device *device, const char *members, ridge_arm **out,
                                  ridge_error *err)
{
    char folder[] = "/tmp/ridge-test-XXXXXX", image[64], manifest[64];
    ridge_status status;
    FILE *file;

    assert_non_null(mkdtemp(folder));
    snprintf(image, sizeof(image), "%s/mark.ptx", folder);
    snprintf(manifest, sizeof(manifest), "%s/mark.json", folder);
    file = fopen(image, "w");
    assert_non_null(file);
    fputs(PTX, file);
    fclose(file);
    file = fopen(manifest, "w");
    assert_non_null(file);
    fprintf(file,
            "{\"schema\": \"ridge-kernel/1\", \"image\": \"mark.ptx\", \"entry\": \"mark\", "
            "\"axes\": {\"n\": 6}, \"args\": [{\"name\": \"y\", \"role\": \"out\", \"dtype\": "
            "\"u32\", \"shape\": [\"n\"]}, {\"name\": \"v\", \"role\": \"scalar\", \"dtype\": "
            "\"u32\", \"value\": \"n*7\"}], %s}\n",
            members);
    fclose(file);
    status = ridge_arm_open(device, manifest, NULL, out, err);
    unlink(image);
    unlink(manifest);
    rmdir(folder);
    return status;
}

/* Describes, prepares and launches with n; what stands in the buffer then. */
static ridge_status launch(ridge_device *device, ridge_arm *arm, int64_t n, uint32_t *found,
                           ridge_error *err)
{
    const ridge_kernel *const kernel = ridge_arm_kernel(arm);
    ridge_buffer_desc buffers[RIDGE_KERNEL_BUFFERS];
    void *data[1] = {NULL}, *prepared = NULL;
    ridge_view view = {data, buffers, 0, device};
    ridge_status status;
    ridge_case at;

    ridge_arm_case(arm, &at);
    assert_int_equal(ridge_case_set(&at, "n", n, err), RIDGE_OK);
    assert_int_equal(ridge_kernel_describe(kernel, &at, buffers, &view.count, err), RIDGE_OK);
    assert_int_equal(ridge_device_alloc(device, 64, &data[0], err), RIDGE_OK);
    *found = 0;
    assert_int_equal(ridge_device_upload(device, data[0], found, 4, err), RIDGE_OK);
    status = ridge_kernel_prepare(kernel, &at, &view, &prepared, NULL, err);
    for (int i = 0; i < 2 && status == RIDGE_OK; i++)
        status = kernel->launch(kernel, &at, &view, prepared, NULL, err);
    if (status == RIDGE_OK)
        assert_int_equal(ridge_device_download(device, found, data[0], 4, err), RIDGE_OK);
    ridge_kernel_finish(kernel, prepared);
    ridge_device_release(device, data[0]);
    return status;
}

static void launches(void **state)
{
    fake_control *const control = driver();
    ridge_device *device;
    ridge_arm *arm;
    ridge_error err = {RIDGE_OK, ""};
    uint32_t found;

    (void)state;
    assert_int_equal(ridge_device_open("cuda:0", &device, &err), RIDGE_OK);
    if (open_manifest(device,
                      "\"grid\": [\"ceil_div(n, 2)*2\", 2], \"block\": [64], \"smem_bytes\": "
                      "\"n*16384\", \"cluster\": [2], \"pdl\": true",
                      &arm, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(control->modules, 0); /* loaded when it is first prepared */
    assert_int_equal(launch(device, arm, 5, &found, &err), RIDGE_OK);
    assert_int_equal(control->modules, 1);
    assert_int_equal(found, 35);
    assert_int_equal(control->grid[0], 6);
    assert_int_equal(control->grid[1], 2);
    assert_int_equal(control->block[0], 64);
    assert_int_equal(control->cluster[0], 2);
    assert_int_equal(control->shared_bytes, 5 * 16384);
    assert_int_equal(control->programmatic, 1);

    /* Nothing is launched for nothing; limits are told by what they are. */
    assert_int_equal(launch(device, arm, 0, &found, &err), RIDGE_OK);
    assert_int_equal(found, 0);
    assert_int_equal(launch(device, arm, 20, &found, &err), RIDGE_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "smem_bytes is 327680 with 1024 static bytes, a block of "));
    assert_int_equal(control->modules, 1);
    ridge_arm_free(arm);
    assert_int_equal(control->modules, 0);
    assert_int_equal(control->allocations, 0);
    ridge_device_free(device);
}

static void every_call_may_fail(void **state)
{
    fake_control *const control = driver();
    ridge_device *device;
    ridge_arm *arm;
    ridge_error err = {RIDGE_OK, ""};
    uint32_t found;

    (void)state;
    assert_int_equal(ridge_device_open("cuda:0", &device, &err), RIDGE_OK);
    assert_int_equal(open_manifest(device, "\"grid\": [1], \"block\": [64]", &arm, &err), RIDGE_OK);
    control->fail_result = 1;
    control->fail_call = "cuFuncGetAttribute";
    assert_int_not_equal(launch(device, arm, 5, &found, &err), RIDGE_OK);
    assert_int_equal(control->modules, 0); /* tried anew the next time */
    control->fail_call = NULL;
    assert_int_equal(launch(device, arm, 5, &found, &err), RIDGE_OK);
    assert_int_equal(found, 35);
    ridge_arm_free(arm);
    ridge_device_free(device);
}

int main(void)
{
    static cases list;

    cases_add(&list, "launches", launches, NULL);
    cases_add(&list, "a driver that fails", every_call_may_fail, NULL);
    return cases_run(&list, "manifest_kernel");
}
