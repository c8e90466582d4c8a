/* SPDX-License-Identifier: Apache-2.0
 *
 * Plug-ins for the tests, one by each VARIANT: a right one, and what is wrong with others. */
#include <string.h>

#include "ridge/family.h"

#define RIGHT 0
#define OTHER_ABI 1
#define NO_ENTRY 2
#define NOTHING 3
#define SHORT 4
#define NO_LAUNCH 5
#define NO_NAME 6
#define CHANGED 7 /* as RIGHT, but for one number */
#define OLD 8     /* built when a kernel ended with its context */
#define BAD_AXIS 9

#if VARIANT == CHANGED
#define FACTOR 3
#else
#define FACTOR 2
#endif

static ridge_status describe(const ridge_kernel *self, const ridge_case *at,
                             ridge_buffer_desc *buffers, size_t *count, ridge_error *err)
{
    (void)self;
    (void)err;
    memset(buffers, 0, 2 * sizeof(*buffers));
    for (int i = 0; i < 2; i++) {
        strcpy(buffers[i].name, i == 0 ? "y" : "x");
        buffers[i].role = i == 0 ? RIDGE_ROLE_OUT : RIDGE_ROLE_IN;
        buffers[i].dtype = RIDGE_DTYPE_F32;
        buffers[i].ndim = 1;
        buffers[i].shape[0] = ridge_case_axis(at, "n", 8);
    }
    *count = 2;
    return RIDGE_OK;
}

static ridge_status launch(const ridge_kernel *self, const ridge_case *at, const ridge_view *view,
                           void *state, struct CUstream_st *stream, ridge_error *err)
{
    float *const y = view->data[0];
    const float *const x = view->data[1];

    (void)self;
    (void)at;
    (void)state;
    (void)stream;
    (void)err;
    for (int64_t i = 0; i < view->buffers[0].shape[0]; i++)
        y[i] = FACTOR * x[i];
    return RIDGE_OK;
}

#if VARIANT == OLD || VARIANT == BAD_AXIS
static const ridge_case base = {
    .struct_size = sizeof(ridge_case), .axes = {{"n", 8}, {"no good", 1}}, .axis_count = 2};
#define BASE .default_case = &base,
#else
#define BASE
#endif

static const ridge_kernel kernels[] = {
    {BASE.struct_size = VARIANT == SHORT ? 72
                        : VARIANT == OLD ? offsetof(ridge_kernel, default_case)
                                         : sizeof(ridge_kernel),
     .name = VARIANT == NO_NAME ? NULL : "twice", .describe = describe,
     .launch = VARIANT == NO_LAUNCH ? NULL : launch},
    {.struct_size = sizeof(ridge_kernel), .name = "double", .describe = describe, .launch = launch},
};

#if VARIANT == NO_ENTRY
const ridge_kernel *ridge_plug(int abi, size_t index);
const ridge_kernel *ridge_plug(int abi, size_t index)
#else
const ridge_kernel *ridge_plugin(int abi, size_t index)
#endif
{
    if (abi != (VARIANT == OTHER_ABI ? RIDGE_PLUGIN_ABI + 1 : RIDGE_PLUGIN_ABI) ||
        VARIANT == NOTHING || index >= sizeof(kernels) / sizeof(kernels[0]))
        return NULL;
    return &kernels[index];
}
