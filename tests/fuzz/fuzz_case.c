/* SPDX-License-Identifier: Apache-2.0
 *
 * A case as text: what is read is written such that it reads back the same. The first byte says
 * whether the case has axes already. */
#include "ridge/family.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *const text = malloc(size + 1); /* exactly, so that a sanitizer sees a read too far */
    char first[RIDGE_CASE_TEXT], second[RIDGE_CASE_TEXT];
    ridge_case at, again;
    ridge_error err;

    if (text == NULL)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    ridge_case_init(&at);
    if (size > 0 && data[0] % 2 == 0)
        ridge_case_set(&at, "m", 3, NULL);
    ridge_case_text(&at, first, sizeof(first));
    if (ridge_case_parse(text, &at, &err) == RIDGE_OK) {
        ridge_case_init(&again);
        if (ridge_case_parse(ridge_case_text(&at, first, sizeof(first)), &again, &err) != RIDGE_OK)
            abort();
        at = again;
    }
    /* A failure leaves the case as it was. */
    if (strcmp(ridge_case_text(&at, second, sizeof(second)), first) != 0)
        abort();
    free(text);
    return 0;
}
