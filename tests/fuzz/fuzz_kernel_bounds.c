/* SPDX-License-Identifier: Apache-2.0
 *
 * Names and shapes that come from traces, and bounds that come from a user's file. The first byte
 * chooses; shapes follow an operation and a newline. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/next/next_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_bounds(const char *text, size_t size)
{
    ridge_given_bounds *bounds;
    ridge_error err;

    if (ridge_given_bounds_parse(text, size, &bounds, &err) != RIDGE_OK)
        return;
    given_bounds_find(bounds, "void gemm<float>(int)", "gemm");
    ridge_given_bounds_free(bounds);
}

static void read_shapes(char *text)
{
    char *const shapes = strchr(text, '\n');
    ridge_work work;

    if (shapes == NULL)
        return;
    *shapes = '\0';
    kernel_work_of(text, shapes + 1, "sgemm", &work);
    kernel_work_of(text, shapes + 1, text, &work); /* as kernels of Triton are named */
    kernel_work_of(text, shapes + 1,
                   "CatArrayBatchedCopy<float, multi_tensor_apply_kernel<AFunctor<float, 2, 1, 1>",
                   &work);
    kernel_scope_of(text, text);
}

static void read_name(const char *text)
{
    char buffer[64], small[2];

    ridge_kernel_base_name(text, buffer, sizeof(buffer));
    ridge_kernel_base_name(text, small, sizeof(small));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text;

    if (size == 0)
        return 0;
    text = malloc(size);
    if (text == NULL)
        return 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    if (data[0] == 'B')
        read_bounds(text, size - 1);
    else if (data[0] == 'S')
        read_shapes(text);
    else
        read_name(text);
    free(text);
    return 0;
}
