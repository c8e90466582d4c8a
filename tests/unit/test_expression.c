/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include "ridge/banks.h"

enum { LANE = 21, ROW = 1000 };

static const ridge_bank_variable variables[] = {{"lane", LANE}, {"row", ROW}};

/* As C has it. */
static struct value {
    const char *name, *text;
    int64_t value;
} constants[] = {
    {"1 + 2 * 3", "1 + 2 * 3", 7},
    {"(1 + 2) * 3", "(1 + 2) * 3", 9},
    {"7 - 4 - 2", "7 - 4 - 2", 1},
    {"100 / 7 / 2", "100 / 7 / 2", 7},
    {"-7 / 2", "-7 / 2", -3},
    {"-7 % 4", "-7 % 4", -3},
    {"1 << 3 + 1", "1 << 3 + 1", 16},
    {"0xff & 0x3c | 1", "0xff & 0x3c | 1", 61},
    {"6 ^ 3 & 5", "6 ^ 3 & 5", 7},
    {"1 == 2 != 3", "1 == 2 != 3", 1},
    {"3 < 4 == 1", "3 < 4 == 1", 1},
    {"~5 + !0 + !7", "~5 + !0 + !7", -5},
    {"- - 3", "- - 3", 3},
    {"1 ? 2 : 3 ? 4 : 5", "1 ? 2 : 3 ? 4 : 5", 2},
    {"0 ? 2 : 0 ? 4 : 5", "0 ? 2 : 0 ? 4 : 5", 5},
    {"0 || 2 && 0", "0 || 2 && 0", 0},
    {"2 || 0 && 0", "2 || 0 && 0", 1},
    {"256 >> 2 >> 1", "256 >> 2 >> 1", 32},
    {"0x7fffffff + 1", "0x7fffffff + 1", 2147483648},
    {"rounds down when it shifts", "-5 >> 1", -3},
    {"wraps round", "9223372036854775807 + 1", INT64_MIN},
    {"blanks", "  1+\t2 ", 3},
    {"no division that C would not do", "0 ? 1 / 0 : 7", 7},
    {"nor after ||", "1 || 1 / 0", 1},
    {"nor after &&", "0 && 1 % 0", 0},
    {"as many digits as fit", "9223372036854775807", INT64_MAX},
};

static void is_value(void **state)
{
    const struct value *const test = *state;
    int64_t got;

    assert_int_equal(ridge_bank_evaluate(test->text, NULL, 0, &got, 1, NULL), RIDGE_OK);
    assert_true(got == test->value);
}

static void variables_have_values(void **state)
{
    int64_t got[2];

    (void)state;
    assert_int_equal(
        ridge_bank_evaluate("lane % 8 * 4 ^ row, row / lane", variables, 2, got, 2, NULL),
        RIDGE_OK);
    assert_true(got[0] == ((LANE % 8 * 4) ^ ROW));
    assert_true(got[1] == ROW / LANE);
}

static struct bad {
    const char *name, *text, *message;
} bads[] = {
    {"empty", "", "column 1: expected a number, a name or '(', found the end"},
    {"no operand", "1 +", "column 4: expected a number, a name or '(', found the end"},
    {"no operator", "1 2", "column 3: expected an operator or the end, found '2'"},
    {"open", "(1", "column 3: expected an operator or ')', found the end"},
    {"closed", "1)", "column 2: expected an operator or the end, found ')'"},
    {"half a condition", "1 ? 2", "column 6: expected an operator or ':', found the end"},
    {"unknown name", "lane + lan", "column 8: unknown name 'lan', expected one of lane, row"},
    {"division", "4 / (lane - 21)", "column 3: division by zero"},
    {"remainder", "4 % 0", "column 3: division by zero"},
    {"quotient", "(-9223372036854775807 - 1) / -1", "column 28: the quotient does not fit"},
    {"shift", "1 << 64", "column 3: a shift by less than 0 or more than 63"},
    {"negative shift", "1 >> -1", "column 3: a shift"},
    {"number", "9223372036854775808", "column 1: the number does not fit"},
    {"number in a dead branch", "0 && 99999999999999999999", "column 6: the number"},
    {"assignment", "lane = 3", "column 6: expected an operator or the end, found '='"},
    {"too many", "1, 2", "column 2: expected an operator or the end, found ','"},
};

static void rejects(void **state)
{
    const struct bad *const test = *state;
    ridge_error err;
    int64_t got = 1;

    assert_int_equal(ridge_bank_evaluate(test->text, variables, 2, &got, 1, &err),
                     RIDGE_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, test->message));
    assert_true(got == 0);
}

static void is_bounded(void **state)
{
    char text[400];
    ridge_error err;
    int64_t got;

    (void)state;
    memset(text, '(', sizeof(text));
    text[200] = '\0';
    assert_int_equal(ridge_bank_evaluate(text, NULL, 0, &got, 1, &err), RIDGE_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "fewer nested parts"));
    memset(text, '-', sizeof(text));
    text[200] = '\0';
    assert_int_equal(ridge_bank_evaluate(text, NULL, 0, &got, 1, &err), RIDGE_ERR_INVALID_ARGUMENT);
    memset(text, '1', sizeof(text));
    text[300] = '\0';
    assert_int_equal(ridge_bank_evaluate(text, NULL, 0, &got, 1, &err), RIDGE_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "300 characters, expected at most 255"));
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, is_value, constants);
    CASES_ADD_ROWS(&list, rejects, bads);
    cases_add(&list, "variables", variables_have_values, NULL);
    cases_add(&list, "long and deep", is_bounded, NULL);
    return cases_run(&list, "expression");
}
