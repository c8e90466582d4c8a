/* SPDX-License-Identifier: Apache-2.0
 *
 * Hashes of content: XXH3 with 128 bits, by xxhash. They tell a change, not a forgery. */
#ifndef RIDGE_BASE_HASH_H
#define RIDGE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

enum { RIDGE_HASH_TEXT = 33 }; /* 32 hexadecimal digits and the NUL */

/* Writes the digits into out and returns it. */
char *ridge_hash_text(const void *bytes, size_t size_bytes, char out[RIDGE_HASH_TEXT]);
uint64_t ridge_hash64(const void *bytes, size_t size_bytes);

#endif
