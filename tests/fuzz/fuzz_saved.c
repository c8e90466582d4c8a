/* SPDX-License-Identifier: Apache-2.0
 *
 * Times that ridge bench --save wrote, and the look for each case. */
#include "ridge/session.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ridge_error err = {RIDGE_OK, ""};
    ridge_saved saved;

    if (ridge_saved_parse(data, size, &saved, &err) != RIDGE_OK) {
        if (saved.cases != NULL || saved.case_count != 0 || err.text[0] == '\0')
            abort();
        return 0;
    }
    for (size_t i = 0; i < saved.case_count; i++)
        if (ridge_saved_find(&saved, saved.cases[i].text) == NULL)
            abort();
    ridge_saved_release(&saved);
    return 0;
}
