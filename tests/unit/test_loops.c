/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops of small pieces of code, written as a line for each instruction. */
#include "binary_support.h"

#include "base/memory.h"
#include "ridge/mix.h"

enum { MOST = 64 };

/* Code from a text: a word for each instruction, "." plain, "x" EXIT, "r" RET, "b5" a branch to
 * instruction 5, "c5" the same with a guard, "u5" on a uniform predicate, "d5" when the warp
 * diverges. */
static size_t assemble(const char *text, uint8_t *code)
{
    size_t count = 0;

    while (*text != '\0') {
        uint8_t *const word = code + 16 * count;
        const char kind = *text++;
        uint64_t low = 0x7918; /* NOP */
        uint64_t high = 0x000fc00000000000;

        if (kind == ' ')
            continue;
        assert_true(count < MOST);
        if (kind == 'x')
            low = 0x794d;
        else if (kind == 'r')
            low = 0x7950;
        else if (kind != '.') {
            char *end;
            const int64_t jump = (strtoll(text, &end, 10) - (int64_t)count - 1) * 4;

            text = end;
            low = kind == 'u' ? 0x7547 : kind == 'c' ? 0x0947 : 0x7947;
            low |= kind == 'd' ? UINT64_C(2) << 32 : 0;
            low |= (uint64_t)(jump & 0xff) << 16 | (uint64_t)(jump >> 8 & 0x3fffffff) << 34;
            high |= 0x3800000 | (uint64_t)(jump >> 38 & 0x3ffff);
        }
        store_u64(word, low);
        store_u64(word + 8, high);
        count++;
    }
    return count;
}

static struct loop_case {
    const char *name;
    const char *code;
    const char *loops; /* "head-end depth instructions" in instructions, '*' innermost */
    const char *of;    /* the loop of each instruction */
} loop_cases[] = {
    {"no code", "", "", ""},
    {"straight", "... x b4", "", "-----"},
    {"one loop", ".. .. c2 x", "2-5 1 3*;", "--000-"},
    {"loop of one instruction", ". c1 x", "1-2 1 1*;", "-0-"},
    {"branch to itself behind the end", ". x b2 .", "", "----"},
    {"two back edges to one head", ". . c1 . c1 x", "1-5 1 4*;", "-0000-"},
    {"nested", ". . . c2 c1 x", "1-5 1 4;2-4 2 2*;", "-0110-"},
    {"side by side", ". c0 . c2 x", "0-2 1 2*;2-4 1 2*;", "0011-"},
    {"a test at the bottom", "b3 . . c1 x", "3-4 1 3*;", "-000-"},
    {"a slow path behind the exit", ". c4 c0 x . b1", "0-6 1 5;1-6 2 3*;", "010-11"},
    {"forward branch around the rest of a pass", ". c3 . . c0 x", "0-5 1 5*;", "00000-"},
    {"a helper that loops is a root of its own", ". x . c2 r", "2-4 1 2*;", "--00-"},
    {"uniform predicate falls through", ". u3 . u0 x", "0-4 1 4*;", "0000-"},
    {"divergence falls through", ". d3 . c0 x", "0-4 1 4*;", "0000-"},
    {"two entries", ". c4 . . . . c2 x", "2-7 1 5*;", "--00000-"},
    {"target outside the code", ". c60 c0 x", "0-3 1 3*;", "000-"},
    {"exit in the middle", ". c3 x . c0 x", "0-5 1 4*;", "00-00-"},
};

static void finds_loops(void **state)
{
    const struct loop_case *const row = *state;
    uint8_t code[16 * MOST];
    const size_t count = assemble(row->code, code);
    char text[400] = "";
    char of[MOST + 1] = "";
    ridge_loops loops;
    size_t i;

    assert_int_equal(ridge_loops_find(code, 16 * count, 90, &loops, NULL), RIDGE_OK);
    assert_int_equal(loops.instruction_count, count);
    for (i = 0; i < loops.count; i++) {
        const ridge_loop *const loop = &loops.rows[i];

        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%u-%u %d %zu%s;",
                 loop->head / 16, loop->end / 16, loop->depth, loop->instruction_count,
                 loop->is_innermost ? "*" : "");
        assert_int_equal(loop->depth, loop->parent < 0 ? 1 : loops.rows[loop->parent].depth + 1);
    }
    for (i = 0; i < count; i++)
        of[i] = loops.of[i] < 0 ? '-' : (char)('0' + loops.of[i]);
    assert_string_equal(text, row->loops);
    assert_string_equal(of, row->of);
    ridge_loops_release(&loops);
    assert_null(loops.rows);
}

static void knows_what_is_inside(void **state)
{
    uint8_t code[16 * MOST];
    const size_t count = assemble(". . . c2 c1 x", code);
    ridge_loops loops;

    (void)state;
    assert_int_equal(ridge_loops_find(code, 16 * count, 90, &loops, NULL), RIDGE_OK);
    assert_true(ridge_loops_contain(&loops, 0, 1));
    assert_true(ridge_loops_contain(&loops, 0, 2));
    assert_true(ridge_loops_contain(&loops, 1, 2));
    assert_false(ridge_loops_contain(&loops, 1, 1));
    assert_false(ridge_loops_contain(&loops, 0, 5));
    assert_false(ridge_loops_contain(&loops, 0, 99));
    ridge_loops_release(&loops);
}

/* Whatever the branches: every instruction has a loop that exists, counts add up, and a deep nest
 * or many heads cost no more than the rest. */
static void survives_any_branches(void **state)
{
    enum { COUNT = 20000 };
    uint8_t *const code = malloc((size_t)16 * COUNT);
    uint64_t random = 7;
    int round;

    (void)state;
    assert_non_null(code);
    for (round = 0; round < 4; round++) {
        ridge_loops loops;
        size_t i, in_loops = 0, outermost = 0;

        for (i = 0; i < COUNT; i++) {
            int64_t jump;

            random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
            jump = round == 0   ? -2 * (int64_t)i /* a nest: the last goes back to the first */
                   : round == 1 ? -(int64_t)i
                   : round == 2 ? (int64_t)(random >> 33) % COUNT - (int64_t)i
                                : (int64_t)(random >> 33) % 64 - 32;
            if (round == 0)
                jump = i < COUNT / 2 ? 0 : (int64_t)COUNT - 1 - 2 * (int64_t)i;
            jump = (jump - 1) * 4;
            store_u64(code + 16 * i, 0x0947 | (uint64_t)(jump & 0xff) << 16 |
                                         (uint64_t)(jump >> 8 & 0x3fffffff) << 34);
            store_u64(code + 16 * i + 8, 0x3800000 | (uint64_t)(jump >> 38 & 0x3ffff));
        }
        assert_int_equal(ridge_loops_find(code, (size_t)16 * COUNT, 90, &loops, NULL), RIDGE_OK);
        for (i = 0; i < COUNT; i++) {
            assert_true(loops.of[i] >= -1 && loops.of[i] < (int32_t)loops.count);
            in_loops += loops.of[i] >= 0;
        }
        for (i = 0; i < loops.count; i++) {
            assert_true(loops.rows[i].parent < (int32_t)loops.count);
            outermost += loops.rows[i].depth == 1 ? loops.rows[i].instruction_count : 0;
        }
        assert_true(loops.count > 0);
        assert_int_equal(in_loops, outermost);
        ridge_loops_release(&loops);
    }
    free(code);
}

static void survives_lack_of_memory(void **state)
{
    uint8_t code[16 * MOST];
    const size_t count = assemble(". . . c2 c1 x", code);
    size_t nth = 0;
    ridge_status status;

    (void)state;
    do {
        ridge_loops loops;

        ridge_memory_fail_at(++nth);
        status = ridge_loops_find(code, 16 * count, 90, &loops, NULL);
        ridge_memory_fail_at(0);
        if (status != RIDGE_OK) {
            assert_int_equal(status, RIDGE_ERR_OUT_OF_MEMORY);
            assert_null(loops.rows);
        }
        ridge_loops_release(&loops);
    } while (status != RIDGE_OK);
    assert_true(nth > 3);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, finds_loops, loop_cases);
    cases_add(&list, "inside", knows_what_is_inside, NULL);
    cases_add(&list, "any branches", survives_any_branches, NULL);
    cases_add(&list, "lack of memory", survives_lack_of_memory, NULL);
    return cases_run(&list, "loops");
}
