/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include "base/memory.h"
#include "base/text.h"

static void grows(void **state)
{
    ridge_text text;
    size_t i;

    (void)state;
    ridge_text_init(&text);
    assert_string_equal(text.data, "");
    ridge_text_clear(&text); /* an empty one */
    for (i = 0; i < 1000; i++)
        ridge_text_format(&text, "%zu,", i);
    ridge_text_add(&text, "end");
    ridge_text_add_bytes(&text, NULL, 0);
    ridge_text_add_repeat(&text, "ab", 2);
    assert_false(text.failed);
    assert_int_equal(text.length, strlen(text.data));
    assert_int_equal(text.length, 10 * 2 + 90 * 3 + 900 * 4 + 3 + 4);
    assert_string_equal(text.data + text.length - 11, "999,endabab");
    ridge_text_clear(&text);
    assert_string_equal(text.data, "");
    ridge_text_release(&text);
    assert_string_equal(text.data, "");
}

static void remembers_its_failure(void **state)
{
    ridge_text text;

    (void)state;
    ridge_text_init(&text);
    ridge_text_add(&text, "kept");
    ridge_memory_fail_at(1);
    ridge_text_add_repeat(&text, "0123456789", 100);
    ridge_memory_fail_at(0);
    assert_true(text.failed);
    ridge_text_add(&text, "ignored");
    assert_memory_equal(text.data, "kept0123", 8);
    assert_null(strstr(text.data, "ignored"));
    ridge_text_add_bytes(&text, "x", SIZE_MAX);
    assert_true(text.failed);
    ridge_text_release(&text);
    assert_false(text.failed);
}

static void refuses_sizes_that_overflow(void **state)
{
    ridge_text text;

    (void)state;
    ridge_text_init(&text);
    ridge_text_add_bytes(&text, "x", SIZE_MAX);
    assert_true(text.failed);
    ridge_text_release(&text);
}

static struct width {
    const char *name;
    const char *text;
    size_t columns;
} widths[] = {
    {"columns: empty", "", 0},
    {"columns: ASCII", "abc", 3},
    {"columns: accents", "\xc3\xa9", 1},
    {"columns: Chinese", "\xe4\xb8\xad\xe6\x96\x87", 4},
    {"columns: emoji", "\xf0\x9f\x98\x80", 2},
    {"columns: box drawing", "\xe2\x94\x80\xe2\x96\x88", 2},
};

static void counts_columns(void **state)
{
    const struct width *const row = *state;

    assert_int_equal(ridge_text_columns(row->text, strlen(row->text)), row->columns);
}

static struct end {
    const char *name, *text, *expected;
} ends[] = {
    {"end: short", "a/b.so", "a/b.so"},
    {"end: fits", "a/b/c.so:xy", "a/b/c.so:xy"},
    {"end: longer", "a/b/c.so:xyz", "...c.so:xyz"},
    {"end: not within a character",
     "aaaaaaa\xc3\xa9"
     "1234567",
     "...1234567"},
    {"end: empty", "", ""},
};

static void keeps_the_end(void **state)
{
    const struct end *const row = *state;
    char out[12];

    assert_string_equal(ridge_text_end(out, sizeof(out), row->text), row->expected);
}

int main(void)
{
    static cases list;

    cases_add(&list, "grows", grows, NULL);
    cases_add(&list, "remembers its failure", remembers_its_failure, NULL);
    cases_add(&list, "sizes that overflow", refuses_sizes_that_overflow, NULL);
    CASES_ADD_ROWS(&list, counts_columns, widths);
    CASES_ADD_ROWS(&list, keeps_the_end, ends);
    return cases_run(&list, "text");
}
