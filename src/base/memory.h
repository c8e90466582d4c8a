/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocation. Everything libridge allocates goes through here, so that a test can let the nth
 * allocation fail. An arena holds everything that lives as long as one opened object: it only
 * grows, and goes with one call. */
#ifndef RIDGE_BASE_MEMORY_H
#define RIDGE_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed memory, NULL when there is none or count * size overflows. Freed with ridge_free(). */
void *ridge_calloc(size_t count, size_t size);
/* As realloc; on NULL the old block is still valid. The added bytes are not initialised. */
void *ridge_realloc_array(void *block, size_t count, size_t size);
void ridge_free(void *block);

/* For tests: the nth allocation from now (1 = the next) and all later ones fail; 0 ends this.
 * Returns the number of allocations that were asked for since the last call. */
size_t ridge_memory_fail_at(size_t nth);

typedef struct ridge_arena {
    struct arena_chunk *chunks; /* newest first */
    size_t free_bytes;          /* left in the newest chunk */
} ridge_arena;

void ridge_arena_init(ridge_arena *arena);
void ridge_arena_release(ridge_arena *arena);
/* Zeroed, aligned for any type. NULL when out of memory or the product overflows. */
void *ridge_alloc(ridge_arena *arena, size_t size_bytes);
void *ridge_alloc_array(ridge_arena *arena, size_t count, size_t size);
/* A NUL-terminated copy of length bytes; embedded NULs are kept. */
char *ridge_alloc_text(ridge_arena *arena, const char *text, size_t length);

#endif
