/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <stdio.h>
#include <xxhash.h>

char *ridge_hash_text(const void *bytes, size_t size_bytes, char out[RIDGE_HASH_TEXT])
{
    const XXH128_hash_t hash = XXH3_128bits(bytes, size_bytes);

    snprintf(out, RIDGE_HASH_TEXT, "%016llx%016llx", (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
    return out;
}

uint64_t ridge_hash64(const void *bytes, size_t size_bytes)
{
    return XXH3_64bits(bytes, size_bytes);
}
