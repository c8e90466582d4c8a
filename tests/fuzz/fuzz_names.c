/* SPDX-License-Identifier: Apache-2.0
 *
 * A mangled name in a line of text. */
#include "ridge/names.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *const name = malloc(size + 1); /* exactly, so that a sanitizer sees a read too far */
    char text[300];

    if (name == NULL)
        return 0;
    if (size > 0)
        memcpy(name, data, size);
    name[size] = '\0';
    name[strcspn(name, "\n")] = '\0';
    if (!ridge_name_short(name, text, sizeof(text)) && strncmp(text, name, sizeof(text) - 1) != 0)
        abort(); /* what is not read is copied */
    free(name);
    return 0;
}
