/* SPDX-License-Identifier: Apache-2.0
 *
 * Expressions that are refused before regcomp() sees them, and what is not. */
#include "cases.h"

#include <regex.h>

#include "ridge/regex_guard.h"

static struct pattern {
    const char *name, *text;
    bool is_taken;
} patterns[] = {
    {"plain", "gemm", true},
    {"empty", "", true},
    {"repetitions", "a+b*c?d{2,5}", true},
    {"of groups", "((ab)+c)*", true},
    {"escaped", "\\*+", true},
    {"an escape at the end", "a\\", true},
    {"in brackets", "[*+?{]+", true},
    {"a bracket in brackets", "[]+*]+[^]+*]+", true},
    {"classes in brackets", "[[:alpha:]+*]+", true},
    {"a bracket that does not end", "[+++", true},
    {"at the beginning", "*a|+b", true},
    {"doubled", "g*++++++++", false},
    {"doubled twice", "a++", false},
    {"behind bounds", "a{2}{2}", false},
    {"bounds behind a repetition", "a+{2}", false},
    {"of groups, nested", "(((((((a+)+)+)+)+)+)+)+", false},
    {"bounds, nested", "((((a{1,255}){1,255}){1,255}){1,255})", false},
    {"open bounds, nested", "((((a{255,}){255,}){255,}){255,})", false},
};

static void is_taken(void **state)
{
    const struct pattern *const row = *state;
    ridge_error err = {0};
    const ridge_status status = ridge_regex_check(row->text, &err);
    regex_t expression;

    assert_int_equal(status, row->is_taken ? RIDGE_OK : RIDGE_ERR_INVALID_ARGUMENT);
    if (!row->is_taken)
        assert_true(err.text[0] != '\0');
    else if (regcomp(&expression, row->text, REG_EXTENDED | REG_NOSUB) == 0) /* in moments */
        regfree(&expression);
}

/* 50,000 groups in each other overflow the stack of regcomp(). */
static void depth_is_bounded(void **state)
{
    static char pattern[50000 + 1];
    ridge_error err = {0};

    (void)state;
    memset(pattern, '(', sizeof(pattern) - 1);
    assert_int_equal(ridge_regex_check(pattern, &err), RIDGE_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "deeper"));
    pattern[RIDGE_REGEX_DEPTH] = '\0';
    assert_int_equal(ridge_regex_check(pattern, &err), RIDGE_OK);
}

int main(void)
{
    static cases list;

    cases_add(&list, "depth", depth_is_bounded, NULL);
    CASES_ADD_ROWS(&list, is_taken, patterns);
    return cases_run(&list, "regex_guard");
}
