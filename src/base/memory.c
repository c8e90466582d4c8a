/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocation and arenas. An arena is a list of chunks, each twice the size of the one before up to
 * a limit, so that a small object costs little and a large one few calls. */
#include "base/memory.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CHUNK_BYTES = 4096, LARGEST_CHUNK_BYTES = 1 << 20 };

struct arena_chunk {
    struct arena_chunk *next;
    size_t size_bytes; /* of data */
    alignas(max_align_t) unsigned char data[];
};

/* Test hooks, of a thread each, so that reports may be read in several; see
 * ridge_memory_fail_at(). */
static _Thread_local size_t allocation_count;
static _Thread_local size_t first_failing;

static bool may_allocate(void)
{
    allocation_count++;
    return first_failing == 0 || allocation_count < first_failing;
}

size_t ridge_memory_fail_at(size_t nth)
{
    const size_t count = allocation_count;

    allocation_count = 0;
    first_failing = nth;
    return count;
}

void *ridge_calloc(size_t count, size_t size)
{
    if (!may_allocate())
        return NULL;
    /* One byte rather than none: NULL always means failure. */
    return calloc(count == 0 ? 1 : count, size == 0 ? 1 : size);
}

void *ridge_realloc_array(void *block, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size)
        return NULL;
    if (!may_allocate())
        return NULL;
    return realloc(block, count * size == 0 ? 1 : count * size);
}

void ridge_free(void *block)
{
    free(block);
}

void ridge_arena_init(ridge_arena *arena)
{
    arena->chunks = NULL;
    arena->free_bytes = 0;
}

void ridge_arena_release(ridge_arena *arena)
{
    while (arena->chunks != NULL) {
        struct arena_chunk *const next = arena->chunks->next;

        ridge_free(arena->chunks);
        arena->chunks = next;
    }
    arena->free_bytes = 0;
}

static bool add_chunk(ridge_arena *arena, size_t at_least_bytes)
{
    size_t size_bytes = FIRST_CHUNK_BYTES;
    struct arena_chunk *chunk;

    if (arena->chunks != NULL && arena->chunks->size_bytes >= FIRST_CHUNK_BYTES)
        size_bytes = arena->chunks->size_bytes < LARGEST_CHUNK_BYTES / 2
                         ? arena->chunks->size_bytes * 2
                         : LARGEST_CHUNK_BYTES;
    if (size_bytes < at_least_bytes)
        size_bytes = at_least_bytes;
    if (size_bytes > SIZE_MAX - sizeof(*chunk))
        return false;
    chunk = ridge_calloc(1, sizeof(*chunk) + size_bytes);
    if (chunk == NULL)
        return false;
    chunk->size_bytes = size_bytes;
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    arena->free_bytes = size_bytes;
    return true;
}

void *ridge_alloc(ridge_arena *arena, size_t size_bytes)
{
    const size_t unit = alignof(max_align_t);
    size_t rounded_bytes;
    struct arena_chunk *chunk;
    void *block;

    if (size_bytes > SIZE_MAX - unit)
        return NULL;
    rounded_bytes = size_bytes == 0 ? unit : (size_bytes + unit - 1) / unit * unit;
    if (rounded_bytes > arena->free_bytes && !add_chunk(arena, rounded_bytes))
        return NULL;
    chunk = arena->chunks;
    block = chunk->data + (chunk->size_bytes - arena->free_bytes);
    arena->free_bytes -= rounded_bytes;
    return block;
}

void *ridge_alloc_array(ridge_arena *arena, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size)
        return NULL;
    return ridge_alloc(arena, count * size);
}

char *ridge_alloc_text(ridge_arena *arena, const char *text, size_t length)
{
    char *copy;

    if (length == SIZE_MAX)
        return NULL;
    copy = ridge_alloc(arena, length + 1);
    if (copy != NULL && length > 0)
        memcpy(copy, text, length);
    return copy;
}
