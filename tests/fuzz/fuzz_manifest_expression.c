/* SPDX-License-Identifier: Apache-2.0
 *
 * Expressions of manifests and signatures of --call: any text ends quickly, in a value or a
 * message. Undefined arithmetic is the sanitizer's to find. */
#include <string.h>

#include "arm/arm_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static bool look_up(void *context, const char *name, size_t length, int64_t *out)
{
    (void)context;
    /* Extremes come up by single letters. */
    *out = name[0] == 'a' ? INT64_MIN : name[0] == 'b' ? INT64_MAX : (int64_t)length;
    return name[0] != 'z';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    ridge_error err;
    ridge_arena arena;
    static arm_call call;
    int64_t value;
    char *text;

    ridge_arena_init(&arena);
    text = ridge_alloc_text(&arena, (const char *)data, size_bytes);
    if (text != NULL) {
        (void)ridge_expression_value(text, look_up, NULL, &value, &err);
        (void)arm_call_read(text, NULL, &arena, &call, &err);
    }
    ridge_arena_release(&arena);
    return 0;
}
