/* SPDX-License-Identifier: Apache-2.0
 *
 * What is looked at before an image goes to the driver. Seeds: empty.cubin and empty.fatbin, an
 * empty kernel for sm_90 by nvcc 13.0.88 (-cubin, -fatbin -compress-mode=none); text.ptx, a line. */
#include <stdint.h>
#include <stdlib.h>

#include "device/cuda_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ridge_error err = {0};
    bool text;
    const ridge_status status = cuda_image_check(data, size, &text, &err);

    if (status != RIDGE_OK && (status != RIDGE_ERR_FORMAT || err.text[0] == '\0' || text))
        abort();
    return 0;
}
