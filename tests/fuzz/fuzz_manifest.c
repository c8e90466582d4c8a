/* SPDX-License-Identifier: Apache-2.0
 *
 * Manifests: what is read can be described, launched and packed for its base case and for one with
 * other extents. */
#include "arm/arm_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    static arm_manifest manifest;
    ridge_document document;
    ridge_error err;
    ridge_arena arena;
    ridge_case at;

    if (ridge_document_parse(data, size_bytes, &document, &err) != RIDGE_OK)
        return 0;
    ridge_arena_init(&arena);
    if (arm_manifest_read(document.root, &arena, &manifest, &err) == RIDGE_OK) {
        arm_signature_case(&manifest.signature, &at);
        for (size_t i = 0; i < at.axis_count; i++)
            at.axes[i].value = at.axes[i].value / 2 + 1;
        (void)arm_manifest_try(&manifest, &at, &err);
    }
    ridge_arena_release(&arena);
    ridge_document_release(&document);
    return 0;
}
