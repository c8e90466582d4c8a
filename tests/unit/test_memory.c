/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include <stdalign.h>

#include "base/memory.h"

static void arrays_check_the_product(void **state)
{
    ridge_arena arena;

    (void)state;
    ridge_arena_init(&arena);
    assert_null(ridge_alloc_array(&arena, SIZE_MAX / 2, 3));
    assert_null(ridge_realloc_array(NULL, SIZE_MAX / 2, 3));
    assert_null(ridge_alloc(&arena, SIZE_MAX));
    assert_null(ridge_alloc_text(&arena, "", SIZE_MAX));
    assert_non_null(ridge_alloc_array(&arena, 0, 8));
    assert_non_null(ridge_alloc_array(&arena, 8, 0));
    ridge_arena_release(&arena);
}

/* Blocks of all sizes are zeroed, aligned and apart from each other. */
static void blocks_are_apart(void **state)
{
    enum { COUNT = 400 };
    static unsigned char *blocks[COUNT];
    ridge_arena arena;
    size_t i;
    size_t k;

    (void)state;
    ridge_arena_init(&arena);
    for (i = 0; i < COUNT; i++) {
        const size_t size = i * i % 9000;

        blocks[i] = ridge_alloc(&arena, size);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % alignof(max_align_t), 0);
        for (k = 0; k < size; k++)
            assert_int_equal(blocks[i][k], 0);
        memset(blocks[i], (int)(i % 255) + 1, size);
    }
    for (i = 0; i < COUNT; i++)
        for (k = 0; k < i * i % 9000; k++)
            assert_int_equal(blocks[i][k], i % 255 + 1);
    ridge_arena_release(&arena);
    assert_null(arena.chunks);
    ridge_arena_release(&arena); /* twice is harmless */
}

static void large_blocks(void **state)
{
    ridge_arena arena;
    char *first;
    char *second;

    (void)state;
    ridge_arena_init(&arena);
    first = ridge_alloc(&arena, 5u << 20);
    second = ridge_alloc(&arena, 5u << 20);
    assert_non_null(first);
    assert_non_null(second);
    first[(5u << 20) - 1] = 1;
    second[(5u << 20) - 1] = 1;
    ridge_arena_release(&arena);
}

static void copies_text(void **state)
{
    ridge_arena arena;

    (void)state;
    ridge_arena_init(&arena);
    assert_string_equal(ridge_alloc_text(&arena, "abcdef", 3), "abc");
    assert_string_equal(ridge_alloc_text(&arena, NULL, 0), "");
    assert_memory_equal(ridge_alloc_text(&arena, "a\0b", 3), "a\0b", 4);
    ridge_arena_release(&arena);
}

static void fails_from_the_nth_on(void **state)
{
    void *block;

    (void)state;
    ridge_memory_fail_at(2);
    block = ridge_calloc(1, 1);
    assert_non_null(block);
    assert_null(ridge_calloc(1, 1));
    assert_null(ridge_realloc_array(block, 2, 1)); /* block stays valid */
    ridge_free(block);
    assert_int_equal(ridge_memory_fail_at(0), 3);
    block = ridge_calloc(0, 0);
    assert_non_null(block);
    ridge_free(block);
    ridge_free(NULL);
}

int main(void)
{
    static cases list;

    cases_add(&list, "arrays check the product", arrays_check_the_product, NULL);
    cases_add(&list, "blocks are apart", blocks_are_apart, NULL);
    cases_add(&list, "large blocks", large_blocks, NULL);
    cases_add(&list, "copies text", copies_text, NULL);
    cases_add(&list, "fails from the nth on", fails_from_the_nth_on, NULL);
    return cases_run(&list, "memory");
}
