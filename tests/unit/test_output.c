/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include "base/base_internal.h"
#include "base/memory.h"

static struct cleaned {
    const char *name;
    const char *text;
    const char *expected;
} cleaned[] = {
    {"plain", "a b\tc\n", "a b\tc\n"},
    {"escape sequence", "\x1b[2J", "?[2J"},
    {"carriage return", "good\rbad", "good?bad"},
    {"bell, backspace, delete", "\a\b\x7f", "???"},
    {"UTF-8", "\xc3\xa9 \xe4\xb8\xad", "\xc3\xa9 \xe4\xb8\xad"},
    {"C1 as UTF-8",
     "\xc2\x9b"
     "31m",
     "?31m"},
    {"C1 as a byte",
     "\x9b"
     "31m",
     "?31m"},
    {"direction override",
     "a\xe2\x80\xae"
     "b",
     "a?b"},
    {"direction isolate",
     "a\xe2\x81\xa6"
     "b",
     "a?b"},
    {"box drawing stays", "\xe2\x94\x80", "\xe2\x94\x80"},
    {"cut sequence", "a\xe4\xb8", "a??"},
};

static void cleans(void **state)
{
    const struct cleaned *const row = *state;
    caught in;

    caught_open(&in, 0, false);
    ridge_output_text(in.output, row->text);
    caught_is(&in, row->expected);

    caught_open(&in, 0, false);
    ridge_output_format(in.output, "%s", row->text);
    caught_is(&in, row->expected);
}

static struct wrapped {
    const char *name;
    int indent;
    const char *first;
    const char *text;
    const char *expected; /* at 40 columns */
} wrapped[] = {
    {"short", 2, "- ", "a short one", "- a short one\n"},
    {"empty", 2, "- ", "", "- \n"},
    {"exactly the width", 0, "", "1234567890 234567890 234567890 234567890",
     "1234567890 234567890 234567890 234567890\n"},
    {"one more", 0, "", "1234567890 234567890 234567890 2345678901",
     "1234567890 234567890 234567890\n2345678901\n"},
    {"indented", 4, "1.  ", "one two three four five six seven eight nine ten",
     "1.  one two three four five six seven\n    eight nine ten\n"},
    {"line breaks are spaces", 0, "", "one\n\ttwo  three", "one two three\n"},
    {"a word wider than the line", 2, "- ", "a xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx b",
     "- a\n  xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n  b\n"},
    {"a number stays with its unit", 0, "", "123456789012345678901234567890123 13.81 % of",
     "123456789012345678901234567890123\n13.81 % of\n"},
    {"a number is no unit's", 0, "", "123456789012345678901234567890123 13.81 usual",
     "123456789012345678901234567890123 13.81\nusual\n"},
    {"hostile", 0, "", "\x1b[31m red", "?[31m red\n"},
};

static void wraps(void **state)
{
    const struct wrapped *const row = *state;
    caught in;

    caught_open(&in, 40, false);
    ridge_output_wrap(in.output, row->indent, row->first, row->text);
    caught_is(&in, row->expected);
}

static struct shortened {
    const char *name;
    const char *text;
    size_t columns;
    const char *expected;
} shortened[] = {
    {"shorten: fits", "abcdef", 6, "abcdef"},
    {"shorten: middle", "abcdefghij", 7, "ab...ij"},
    {"shorten: odd", "abcdefghij", 8, "abc...ij"},
    {"shorten: too narrow for dots", "abcdefghij", 4, "abcd"},
    {"shorten: nothing", "abcdefghij", 0, ""},
    {"shorten: wide characters", "\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad", 7,
     "\xe4\xb8\xad...\xe4\xb8\xad"},
};

static void shortens(void **state)
{
    const struct shortened *const row = *state;
    ridge_text out;

    ridge_text_init(&out);
    base_shorten(&out, row->text, strlen(row->text), row->columns);
    assert_string_equal(out.data, row->expected);
    ridge_text_release(&out);
}

static void styles_only_with_colour(void **state)
{
    caught in;

    (void)state;
    caught_open(&in, 0, false);
    ridge_output_styled(in.output, RIDGE_STYLE_BAD, "bad");
    caught_is(&in, "bad");
    caught_open(&in, 0, true);
    ridge_output_styled(in.output, RIDGE_STYLE_STRONG, "x\x1b");
    ridge_output_styled(in.output, RIDGE_STYLE_PLAIN, "y");
    caught_is(&in, "\x1b[1mx?\x1b[0my");
}

static void formats_long_text(void **state)
{
    char text[2000];
    caught in;

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    caught_open(&in, 0, false);
    ridge_output_format(in.output, "%s", text);
    caught_is(&in, text);
}

/* More than the buffer holds arrives complete and in order. */
static void writes_megabytes(void **state)
{
    caught in;
    size_t i;

    (void)state;
    caught_open(&in, 0, false);
    for (i = 0; i < 100000; i++)
        ridge_output_format(in.output, "%09zu\n", i);
    assert_int_equal(caught_close(&in, NULL), RIDGE_OK);
    assert_int_equal(in.size, 1000000);
    for (i = 0; i < 100000; i += 9999)
        assert_int_equal(strtoul(in.text + 10 * i, NULL, 10), i);
    free(in.text);
}

static void reports_a_full_disk(void **state)
{
    FILE *const full = fopen("/dev/full", "w");
    ridge_output *output;
    ridge_error err;

    (void)state;
    if (full == NULL)
        skip();
    output = ridge_output_create(full, 0, false);
    ridge_output_text(output, "x\n");
    assert_int_equal(ridge_output_close(output, &err), RIDGE_ERR_IO);
    assert_non_null(strstr(err.text, "cannot write output: "));
    fclose(full);
}

static void fails_without_memory(void **state)
{
    ridge_error err;
    caught in;

    (void)state;
    ridge_memory_fail_at(1);
    assert_null(ridge_output_create(stdout, 0, false));
    assert_int_equal(ridge_output_close(NULL, &err), RIDGE_ERR_OUT_OF_MEMORY);
    ridge_memory_fail_at(0);

    caught_open(&in, 0, false);
    ridge_memory_fail_at(1);
    ridge_output_text(in.output, "text");
    ridge_memory_fail_at(0);
    assert_int_equal(caught_close(&in, &err), RIDGE_ERR_OUT_OF_MEMORY);
    free(in.text);
}

static void obeys_the_environment(void **state)
{
    (void)state;
    setenv("COLUMNS", "77", 1);
    assert_int_equal(ridge_terminal_columns(stdout), 77);
    setenv("COLUMNS", "1", 1);
    assert_int_equal(ridge_terminal_columns(stdout), 40);
    setenv("COLUMNS", "wide", 1);
    assert_true(ridge_terminal_columns(stdout) >= 40);
    unsetenv("COLUMNS");
    setenv("NO_COLOR", "1", 1);
    assert_false(ridge_terminal_colour(stdout));
    unsetenv("NO_COLOR");
    setenv("TERM", "dumb", 1);
    assert_false(ridge_terminal_colour(stdout));
}

static void colour_needs_a_terminal(void **state)
{
    FILE *const file = tmpfile();

    (void)state;
    assert_non_null(file);
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    assert_false(ridge_terminal_colour(file));
    assert_int_equal(ridge_terminal_columns(file), 100);
    fclose(file);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, cleans, cleaned);
    CASES_ADD_ROWS(&list, wraps, wrapped);
    CASES_ADD_ROWS(&list, shortens, shortened);
    cases_add(&list, "styles only with colour", styles_only_with_colour, NULL);
    cases_add(&list, "long formatted text", formats_long_text, NULL);
    cases_add(&list, "megabytes", writes_megabytes, NULL);
    cases_add(&list, "full disk", reports_a_full_disk, NULL);
    cases_add(&list, "without memory", fails_without_memory, NULL);
    cases_add(&list, "environment", obeys_the_environment, NULL);
    cases_add(&list, "colour needs a terminal", colour_needs_a_terminal, NULL);
    return cases_run(&list, "output");
}
