/* SPDX-License-Identifier: Apache-2.0
 *
 * PTX, read as the text of an image whose target is known. */
#include "binary/image_internal.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const ridge_slice text = {data, size};
    ptx_module module;
    ridge_error err;
    size_t i;

    ptx_is_text(text);
    if (ptx_read(text, &module, &err) != RIDGE_OK)
        abort();
    if (module.sm < 0 || module.sm > 9999 || module.kernel_count > size)
        abort();
    for (i = 0; i < module.kernel_count; i++)
        if (module.kernels[i].name == NULL || module.kernels[i].name[0] == '\0' ||
            module.kernels[i].parameter_bytes < 0)
            abort();
    ptx_release(&module);
    return 0;
}
