/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include "ridge/arm.h"

static bool look_up(void *context, const char *name, size_t length, int64_t *out)
{
    (void)context;
    if (length == 1 && name[0] == 'm')
        *out = 4096;
    else if (length == 1 && name[0] == 'n')
        *out = 5120;
    else if (length == 3 && memcmp(name, "big", 3) == 0)
        *out = INT64_MAX;
    else if (length == 9 && memcmp(name, "x.stride0", 9) == 0)
        *out = 5128;
    else
        return false;
    return true;
}

static struct good {
    const char *name;
    int64_t value;
} goods[] = {
    {"7", 7},
    {"  7 \t", 7},
    {"9223372036854775807", INT64_MAX},
    {"-9223372036854775807 - 1", INT64_MIN},
    {"1 + 2 * 3", 7},
    {"(1 + 2) * 3", 9},
    {"10 - 4 - 3", 3},
    {"-7 / 2", -3},
    {"-7 % 2", -1},
    {"7 / -2", -3},
    {"--5", 5},
    {"2*m*n + 2*n", 41953280},
    {"x.stride0 * 2", 10256},
    {"ceil_div(n, 8)", 640},
    {"ceil_div(9, 8)", 2},
    {"ceil_div(0, 8)", 0},
    {"ceil_div(-9, 8)", -1},
    {"round_up(ceil_div(n, 8) + 1, 32)", 672},
    {"min(1024, round_up(ceil_div(n, 8), 32))", 640},
    {"min(3, 1, 2)", 1},
    {"max(3, 1, 4, 2)", 4},
    {"log2(1)", 0},
    {"log2(4097)", 12},
    {"log2(big)", 62},
    {"n % 8 == 0", 1},
    {"m < n", 1},
    {"m >= n", 0},
    {"m != n", 1},
    {"m <= 4096", 1},
    {"m > 4096", 0},
    {"(m > 64) * 2 + 1", 3},
    {"big - big", 0},
    {"big * -1", -INT64_MAX},
    {"big / -1", -INT64_MAX},
    {"(0 - big - 1) % -1", 0},
    {"0 * big", 0},
};

static void evaluates(void **state)
{
    const struct good *const good = *state;
    ridge_error err = {RIDGE_OK, ""};
    int64_t value = 0;

    if (ridge_expression_value(good->name, look_up, NULL, &value, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(value, good->value);
}

static struct bad {
    const char *name, *message;
    ridge_status status;
} bads[] = {
    {"", "column 1: expected a number, a name or '(', found the end", RIDGE_ERR_INVALID_ARGUMENT},
    {"n +", "column 4: expected a number, a name or '(', found the end",
     RIDGE_ERR_INVALID_ARGUMENT},
    {"n n", "column 3: expected an operator or the end, found 'n'", RIDGE_ERR_INVALID_ARGUMENT},
    {"(n", "column 3: expected an operator or ')'", RIDGE_ERR_INVALID_ARGUMENT},
    {"n)", "column 2: expected an operator or the end", RIDGE_ERR_INVALID_ARGUMENT},
    {"1 < 2 < 3", "column 7: expected an operator or the end", RIDGE_ERR_INVALID_ARGUMENT},
    {"n = 3", "column 3: expected an operator or the end, found '='", RIDGE_ERR_INVALID_ARGUMENT},
    {"n+pad", "column 3: unknown name 'pad'", RIDGE_ERR_INVALID_ARGUMENT},
    {"1.5", "column 2: expected an operator or the end, found '.'", RIDGE_ERR_INVALID_ARGUMENT},
    {"pow(2, 3)", "column 1: unknown function, there are ceil_div", RIDGE_ERR_INVALID_ARGUMENT},
    {"min(1)", "column 1: too few arguments", RIDGE_ERR_INVALID_ARGUMENT},
    {"min()", "column 5: expected a number", RIDGE_ERR_INVALID_ARGUMENT},
    {"min(1,2,3,4,5,6,7,8,9)", "column 1: too many arguments", RIDGE_ERR_INVALID_ARGUMENT},
    {"log2(1, 2)", "column 1: too many arguments", RIDGE_ERR_INVALID_ARGUMENT},
    {"max(1, 2", "column 9: expected ',' or ')'", RIDGE_ERR_INVALID_ARGUMENT},
    {"m / (n - n)", "column 3: division by zero", RIDGE_ERR_INVALID_ARGUMENT},
    {"m % 0", "column 3: division by zero", RIDGE_ERR_INVALID_ARGUMENT},
    {"ceil_div(m, 0)", "column 1: division by zero", RIDGE_ERR_INVALID_ARGUMENT},
    {"round_up(m, -8)", "column 1: division by a negative number", RIDGE_ERR_INVALID_ARGUMENT},
    {"log2(0)", "column 1: log2 of a number below 1", RIDGE_ERR_INVALID_ARGUMENT},
    {"9223372036854775808", "column 1: the value does not fit 64 bits", RIDGE_ERR_OVERFLOW},
    {"big + 1", "column 5: the value does not fit", RIDGE_ERR_OVERFLOW},
    {"0 - big - 2", "column 9: the value does not fit", RIDGE_ERR_OVERFLOW},
    {"1 - (0 - big - 1)", "column 3: the value does not fit", RIDGE_ERR_OVERFLOW},
    {"big * 2", "column 5: the value does not fit", RIDGE_ERR_OVERFLOW},
    {"big * -2", "column 5: the value does not fit", RIDGE_ERR_OVERFLOW},
    {"(0 - 2) * big", "column 9: the value does not fit", RIDGE_ERR_OVERFLOW},
    {"(0 - big) * (0 - 2)", "column 11: the value does not fit", RIDGE_ERR_OVERFLOW},
    {"(0 - big - 1) / -1", "column 15: the value does not fit", RIDGE_ERR_OVERFLOW},
    {"-(0 - big - 1)", "column 1: the value does not fit", RIDGE_ERR_OVERFLOW},
    {"round_up(big, 1024)", "column 1: the value does not fit", RIDGE_ERR_OVERFLOW},
};

static void rejects(void **state)
{
    const struct bad *const bad = *state;
    ridge_error err = {RIDGE_OK, ""};
    int64_t value = 1;

    assert_int_equal(ridge_expression_value(bad->name, look_up, NULL, &value, &err), bad->status);
    assert_int_equal(value, 0);
    if (strstr(err.text, bad->message) == NULL)
        fail_msg("%s", err.text);
}

static void depth_is_bounded(void **state)
{
    char text[400];
    ridge_error err;
    int64_t value;

    memset(text, '(', 200);
    snprintf(text + 200, sizeof(text) - 200, "1");
    memset(text + 201, ')', 198);
    text[399] = '\0';
    assert_int_equal(ridge_expression_value(text, NULL, NULL, &value, &err),
                     RIDGE_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "fewer nested parts"));
    memset(text, '-', 200);
    text[200] = '1';
    text[201] = '\0';
    assert_int_equal(ridge_expression_value(text, NULL, NULL, &value, NULL),
                     RIDGE_ERR_INVALID_ARGUMENT);
    (void)state;
}

static void length_is_bounded(void **state)
{
    char text[700];
    ridge_error err;
    int64_t value;

    memset(text, '1', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    assert_int_equal(ridge_expression_value(text, NULL, NULL, &value, &err),
                     RIDGE_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "699 characters, expected at most 512"));
    (void)state;
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, evaluates, goods);
    CASES_ADD_ROWS(&list, rejects, bads);
    cases_add(&list, "nesting is bounded", depth_is_bounded, NULL);
    cases_add(&list, "length is bounded", length_is_bounded, NULL);
    return cases_run(&list, "manifest_expression");
}
