/* SPDX-License-Identifier: Apache-2.0
 *
 * arm_smoke [FOLDER]: launches the manifests of FOLDER once on cuda:0 and compares what they write.
 * Prints a line for each. Exit status: 0 all is well, 1 something failed, 77 there is no GPU. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ridge/arm.h"

#ifndef ARMS_FOLDER
#define ARMS_FOLDER "arms"
#endif

enum { MOST_ELEMENTS = 128 };

static uint32_t seven(int64_t i)
{
    (void)i;
    return 7;
}

static uint32_t thirty_six(int64_t i)
{
    (void)i;
    return 36;
}

static uint32_t two(int64_t i)
{
    (void)i;
    return 2;
}

/* Row 8 + i / 16, column 16 + i % 16 of 64 x 64 numbers that are their own index. */
static uint32_t of_box(int64_t i)
{
    return (uint32_t)((8 + i / 16) * 64 + 16 + i % 16);
}

static const struct row {
    const char *name;
    uint32_t (*expected)(int64_t index);
    int64_t count; /* elements of out */
    int least_sm;
} rows[] = {
    {"mark", seven, 1, 80},
    {"last_shared_word", thirty_six, 4, 80},
    {"cluster_size", two, 4, 90},
    {"copy_box", of_box, 128, 90},
};

/* Buffers on the device, inputs their own index; launches; *out is what the output holds. */
static ridge_status run(ridge_device *device, const ridge_arm *arm, uint32_t *out, ridge_error *err)
{
    const ridge_kernel *const kernel = ridge_arm_kernel(arm);
    ridge_buffer_desc buffers[RIDGE_KERNEL_BUFFERS];
    void *data[RIDGE_KERNEL_BUFFERS] = {NULL}, *state = NULL;
    ridge_view view = {data, buffers, 0, device};
    ridge_stream *stream = NULL;
    ridge_case at;
    ridge_status status;

    ridge_arm_case(arm, &at);
    status = ridge_kernel_describe(kernel, &at, buffers, &view.count, err);
    if (status == RIDGE_OK)
        status = ridge_stream_create(device, &stream, err);
    for (size_t i = 0; i < view.count && status == RIDGE_OK; i++) {
        const size_t size_bytes = (size_t)ridge_buffer_span_bytes(&buffers[i]);

        status = ridge_device_alloc(device, size_bytes, &data[i], err);
        if (status == RIDGE_OK)
            status =
                ridge_device_fill(device, stream, &buffers[i], RIDGE_VALUES_INDEX, data[i], 1, err);
    }
    if (status == RIDGE_OK)
        status = ridge_kernel_prepare(kernel, &at, &view, &state, ridge_stream_native(stream), err);
    if (status == RIDGE_OK)
        status = kernel->launch(kernel, &at, &view, state, ridge_stream_native(stream), err);
    if (status == RIDGE_OK)
        status = ridge_stream_synchronize(stream, err);
    for (size_t i = 0; i < view.count && status == RIDGE_OK; i++)
        if (buffers[i].role == RIDGE_ROLE_OUT)
            status = ridge_device_download(device, out, data[i],
                                           (size_t)ridge_buffer_span_bytes(&buffers[i]), err);
    ridge_kernel_finish(kernel, state);
    for (size_t i = 0; i < view.count; i++)
        ridge_device_release(device, data[i]);
    ridge_stream_free(stream);
    return status;
}

/* True when it wrote what it should. */
static bool try_row(ridge_device *device, const char *folder, const struct row *row)
{
    uint32_t out[MOST_ELEMENTS] = {0};
    ridge_error err = {RIDGE_OK, ""};
    ridge_arm *arm = NULL;
    char path[512];
    bool right = true;

    if (ridge_device_get_info(device)->sm_version < row->least_sm) {
        printf("skip  %s: needs sm_%d\n", row->name, row->least_sm);
        return true;
    }
    snprintf(path, sizeof(path), "%s/%s.json", folder, row->name);
    if (ridge_arm_open(device, path, NULL, &arm, &err) != RIDGE_OK ||
        run(device, arm, out, &err) != RIDGE_OK) {
        printf("FAIL  %s: %s\n", row->name, err.text);
        right = false;
    }
    for (int64_t i = 0; i < row->count && right; i++)
        if (out[i] != row->expected(i)) {
            printf("FAIL  %s: element %" PRId64 " is %u, expected %u\n", row->name, i,
                   (unsigned)out[i], (unsigned)row->expected(i));
            right = false;
        }
    if (right)
        printf("ok    %s, code %s\n", row->name, ridge_arm_code_hash(arm));
    ridge_arm_free(arm);
    return right;
}

int main(int argc, char **argv)
{
    const char *const folder = argc > 1 ? argv[1] : ARMS_FOLDER;
    ridge_device *device;
    ridge_error err;
    int failed = 0;

    if (ridge_device_open("cuda:0", &device, &err) != RIDGE_OK) {
        printf("skipped: %s\n", err.text);
        return 77;
    }
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        failed += !try_row(device, folder, &rows[i]);
    ridge_device_free(device);
    return failed > 0;
}
