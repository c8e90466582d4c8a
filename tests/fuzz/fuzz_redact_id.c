/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of a process or thread: redacted again it is the same. */
#include "timeline/kineto/kineto_redact_id.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void redact(ridge_text *out, const void *id, size_t size, size_t *changed)
{
    sum_groups words = {0};
    uint8_t *const exactly = malloc(size + 1); /* so that a sanitizer sees a read too far */

    if (exactly == NULL)
        abort();
    if (size > 0)
        memcpy(exactly, id, size);
    ridge_text_init(out);
    *changed = 0;
    if (!kineto_add_redacted_id(out, &words, (ridge_slice){exactly, size}, changed))
        abort();
    sum_groups_release(&words);
    free(exactly);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static redact_names names;
    ridge_text once, again;
    size_t changed;

    if (redact_names_init(&names)) {
        kineto_learn_id(&names, (ridge_slice){data, size});
        redact_names_release(&names);
    }
    redact(&once, data, size, &changed);
    redact(&again, once.data, once.length, &changed);
    if (changed != 0 || once.length != again.length ||
        memcmp(once.data, again.data, once.length) != 0)
        abort();
    ridge_text_release(&once);
    ridge_text_release(&again);
    return 0;
}
