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
    char back[RIDGE_CASE_TEXT];
    ridge_case at, before, again;
    ridge_error err;

    if (text == NULL)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    ridge_case_init(&at);
    if (size > 0 && data[0] % 2 == 0)
        ridge_case_set(&at, "m", 3, NULL);
    before = at;
    if (ridge_case_parse(text, &at, &err) == RIDGE_OK) {
        ridge_case_init(&again);
        if (ridge_case_parse(ridge_case_text(&at, back, sizeof(back)), &again, &err) != RIDGE_OK ||
            memcmp(&again, &at, sizeof(at)) != 0)
            abort();
    } else if (memcmp(&before, &at, sizeof(at)) != 0) {
        abort(); /* a failure leaves the case as it was */
    }
    free(text);
    return 0;
}
