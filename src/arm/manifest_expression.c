/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole-number expressions of manifests and call signatures: recursive descent, read and evaluated
 * in one pass with the values of names that the caller looks up. Text, nesting and every value are
 * bounded, so any input ends quickly; what does not fit 64 bits is an error, never a wrong extent.
 *
 *     comparison := sum [('<' | '<=' | '>' | '>=' | '==' | '!=') sum]         1 or 0
 *     sum        := product (('+' | '-') product)*
 *     product    := operand (('*' | '/' | '%') operand)*                      as C: towards zero
 *     operand    := '-' operand | '(' comparison ')' | number | name | function '(' comparison,... ')'
 *     function   := ceil_div(a, b) | round_up(a, b) | min(a, b, ...) | max(a, b, ...) | log2(a)
 *     name       := letter or '_', then letters, digits, '_' and '.'
 *
 * (The expressions of ridge banks are another language: C's operators, wrapping as on the GPU.) */
#include <string.h>

#include "arm/arm_internal.h"

enum { MOST_DEPTH = 64, MOST_ARGUMENTS = 8 };

typedef struct reader {
    const char *text;
    size_t at;
    ridge_lookup lookup;
    void *context;
    const char *known; /* names, for a message; NULL */
    int depth;
    ridge_error *err;
    ridge_status status; /* the first failure ends everything */
} reader;

/* What was found where; columns count from 1. */
static int64_t fail_at(reader *in, size_t at, const char *expected)
{
    char found[16] = "the end";

    if (in->status != RIDGE_OK)
        return 0;
    if (in->text[at] != '\0') {
        found[0] = '\'';
        found[1] = in->text[at];
        found[2] = '\'';
        found[3] = '\0';
    }
    in->status = ridge_fail(in->err, RIDGE_ERR_INVALID_ARGUMENT,
                            "'%.200s', column %zu: expected %s, found %s", in->text, at + 1,
                            expected, found);
    return 0;
}

static int64_t fail_value(reader *in, size_t at, ridge_status status, const char *what)
{
    if (in->status == RIDGE_OK)
        in->status =
            ridge_fail(in->err, status, "'%.200s', column %zu: %s", in->text, at + 1, what);
    return 0;
}

static int64_t overflow(reader *in, size_t at)
{
    return fail_value(in, at, RIDGE_ERR_OVERFLOW, "the value does not fit 64 bits");
}

static char peek(reader *in)
{
    in->at += strspn(in->text + in->at, " \t");
    return in->text[in->at];
}

/* -- arithmetic, at: the column to blame -------------------------------------------------------- */

static int64_t add(reader *in, size_t at, int64_t a, int64_t b)
{
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b)
        return overflow(in, at);
    return a + b;
}

static int64_t negate(reader *in, size_t at, int64_t a)
{
    return a == INT64_MIN ? overflow(in, at) : -a;
}

static int64_t subtract(reader *in, size_t at, int64_t a, int64_t b)
{
    if (b > 0 ? a < INT64_MIN + b : a > INT64_MAX + b)
        return overflow(in, at);
    return a - b;
}

static int64_t multiply(reader *in, size_t at, int64_t a, int64_t b)
{
    bool fits = true;

    if (a > 0)
        fits = b > 0 ? a <= INT64_MAX / b : b >= INT64_MIN / a;
    else if (a < 0)
        fits = b > 0 ? a >= INT64_MIN / b : b == 0 || a >= INT64_MAX / b;
    return fits ? a * b : overflow(in, at);
}

static int64_t divide(reader *in, size_t at, bool remainder, int64_t a, int64_t b)
{
    if (b == 0)
        return fail_value(in, at, RIDGE_ERR_INVALID_ARGUMENT, "division by zero");
    if (b == -1)
        return remainder ? 0 : negate(in, at, a);
    return remainder ? a % b : a / b;
}

static int64_t ceil_div(reader *in, size_t at, int64_t a, int64_t b)
{
    if (b <= 0)
        return fail_value(in, at, RIDGE_ERR_INVALID_ARGUMENT,
                          b == 0 ? "division by zero" : "division by a negative number");
    return a / b + (a % b > 0);
}

/* -- functions --------------------------------------------------------------------------------- */

static int64_t f_ceil_div(reader *in, size_t at, const int64_t *a, size_t count)
{
    (void)count;
    return ceil_div(in, at, a[0], a[1]);
}

static int64_t f_round_up(reader *in, size_t at, const int64_t *a, size_t count)
{
    (void)count;
    return multiply(in, at, ceil_div(in, at, a[0], a[1]), a[1]);
}

static int64_t f_min(reader *in, size_t at, const int64_t *a, size_t count)
{
    int64_t least = a[0];

    (void)in;
    (void)at;
    for (size_t i = 1; i < count; i++)
        least = a[i] < least ? a[i] : least;
    return least;
}

static int64_t f_max(reader *in, size_t at, const int64_t *a, size_t count)
{
    int64_t most = a[0];

    (void)in;
    (void)at;
    for (size_t i = 1; i < count; i++)
        most = a[i] > most ? a[i] : most;
    return most;
}

static int64_t f_log2(reader *in, size_t at, const int64_t *a, size_t count)
{
    int64_t bits = 0;

    (void)count;
    if (a[0] <= 0)
        return fail_value(in, at, RIDGE_ERR_INVALID_ARGUMENT, "log2 of a number below 1");
    for (int64_t left = a[0]; left > 1; left /= 2)
        bits++;
    return bits;
}

static const struct function_row {
    const char *name;
    size_t fewest, most; /* arguments */
    int64_t (*call)(reader *in, size_t at, const int64_t *arguments, size_t count);
} functions[] = {
    {"ceil_div", 2, 2, f_ceil_div},
    {"round_up", 2, 2, f_round_up},
    {"min", 2, MOST_ARGUMENTS, f_min},
    {"max", 2, MOST_ARGUMENTS, f_max},
    {"log2", 1, 1, f_log2},
};

/* -- operands ---------------------------------------------------------------------------------- */

static int64_t read_comparison(reader *in);

static int64_t read_number(reader *in)
{
    const size_t at = in->at;
    int64_t value = 0;

    for (; in->text[in->at] >= '0' && in->text[in->at] <= '9'; in->at++) {
        const int digit = in->text[in->at] - '0';

        if (value > (INT64_MAX - digit) / 10)
            return overflow(in, at);
        value = value * 10 + digit;
    }
    return value;
}

static int64_t read_call(reader *in, size_t at, const struct function_row *function)
{
    int64_t arguments[MOST_ARGUMENTS] = {0};
    size_t count = 0;

    in->at++; /* the parenthesis */
    while (in->status == RIDGE_OK) {
        if (count == function->most)
            return fail_value(in, at, RIDGE_ERR_INVALID_ARGUMENT, "too many arguments");
        arguments[count++] = read_comparison(in);
        if (peek(in) != ',')
            break;
        in->at++;
    }
    if (in->status != RIDGE_OK)
        return 0;
    if (peek(in) != ')')
        return fail_at(in, in->at, "',' or ')'");
    in->at++;
    if (count < function->fewest)
        return fail_value(in, at, RIDGE_ERR_INVALID_ARGUMENT, "too few arguments");
    return function->call(in, at, arguments, count);
}

static int64_t fail_name(reader *in, size_t at, size_t length)
{
    const int shown = (int)(length < 40 ? length : 40);

    if (in->status != RIDGE_OK)
        return 0;
    if (in->known != NULL && in->known[0] != '\0')
        in->status = ridge_fail(in->err, RIDGE_ERR_INVALID_ARGUMENT,
                                "'%.160s', column %zu: unknown name '%.*s', there are %.160s",
                                in->text, at + 1, shown, in->text + at, in->known);
    else
        in->status = ridge_fail(in->err, RIDGE_ERR_INVALID_ARGUMENT,
                                "'%.200s', column %zu: unknown name '%.*s'", in->text, at + 1,
                                shown, in->text + at);
    return 0;
}

static int64_t read_name(reader *in)
{
    const size_t at = in->at;
    const char *const name = in->text + at;
    const size_t length = arm_name_length(name);
    int64_t value = 0;

    in->at += length;
    if (peek(in) == '(') {
        for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
            if (strlen(functions[i].name) == length &&
                strncmp(functions[i].name, name, length) == 0)
                return read_call(in, at, &functions[i]);
        return fail_value(in, at, RIDGE_ERR_INVALID_ARGUMENT,
                          "unknown function, there are ceil_div, round_up, min, max, log2");
    }
    if (in->lookup == NULL || !in->lookup(in->context, name, length, &value))
        return fail_name(in, at, length);
    return value;
}

static int64_t read_operand(reader *in)
{
    const char c = peek(in);
    const size_t at = in->at;
    int64_t value;

    if (in->depth >= MOST_DEPTH)
        return fail_at(in, at, "fewer nested parts");
    in->depth++;
    if (c == '-') {
        in->at++;
        value = read_operand(in);
        value = negate(in, at, value);
    } else if (c == '(') {
        in->at++;
        value = read_comparison(in);
        if (peek(in) != ')')
            return fail_at(in, in->at, "an operator or ')'");
        in->at++;
    } else if (c >= '0' && c <= '9') {
        value = read_number(in);
    } else if (arm_name_length(in->text + at) > 0) {
        value = read_name(in);
    } else {
        return fail_at(in, at, "a number, a name or '('");
    }
    in->depth--;
    return value;
}

/* -- operators --------------------------------------------------------------------------------- */

static int64_t read_product(reader *in)
{
    int64_t left = read_operand(in);

    while (in->status == RIDGE_OK) {
        const char c = peek(in);
        const size_t at = in->at;
        int64_t right;

        if (c != '*' && c != '/' && c != '%')
            break;
        in->at++;
        right = read_operand(in);
        if (in->status == RIDGE_OK)
            left = c == '*' ? multiply(in, at, left, right) : divide(in, at, c == '%', left, right);
    }
    return left;
}

static int64_t read_sum(reader *in)
{
    int64_t left = read_product(in);

    while (in->status == RIDGE_OK) {
        const char c = peek(in);
        const size_t at = in->at;
        int64_t right;

        if (c != '+' && c != '-')
            break;
        in->at++;
        right = read_product(in);
        if (in->status == RIDGE_OK)
            left = c == '+' ? add(in, at, left, right) : subtract(in, at, left, right);
    }
    return left;
}

static int64_t read_comparison(reader *in)
{
    static const char *const operators[] = {"<=", ">=", "==", "!=", "<", ">"};
    const int64_t left = read_sum(in);
    int64_t right;
    size_t i;

    (void)peek(in);
    for (i = 0; i < 6; i++)
        if (strncmp(in->text + in->at, operators[i], strlen(operators[i])) == 0)
            break;
    if (i == 6 || in->status != RIDGE_OK)
        return left;
    in->at += strlen(operators[i]);
    right = read_sum(in);
    switch (i) {
    case 0:
        return left <= right;
    case 1:
        return left >= right;
    case 2:
        return left == right;
    case 3:
        return left != right;
    case 4:
        return left < right;
    default:
        return left > right;
    }
}

/* -- whole expressions ------------------------------------------------------------------------- */

size_t arm_name_length(const char *text)
{
    size_t length = 0;

    for (;; length++) {
        const char c = text[length];
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';

        if (!is_letter && (length == 0 || ((c < '0' || c > '9') && c != '.')))
            return length;
    }
}

ridge_status arm_expression_value(const char *text, ridge_lookup lookup, void *context,
                                  const char *known, int64_t *out, ridge_error *err)
{
    reader in = {.text = text,
                 .lookup = lookup,
                 .context = context,
                 .known = known,
                 .err = err,
                 .status = RIDGE_OK};

    *out = 0;
    if (strlen(text) > ARM_MOST_EXPRESSION)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "an expression of %zu characters, expected at most %d", strlen(text),
                          ARM_MOST_EXPRESSION);
    const int64_t value = read_comparison(&in);
    if (in.status == RIDGE_OK && peek(&in) != '\0')
        fail_at(&in, in.at, "an operator or the end");
    if (in.status == RIDGE_OK)
        *out = value;
    return in.status;
}

ridge_status ridge_expression_value(const char *text, ridge_lookup lookup, void *context,
                                    int64_t *out, ridge_error *err)
{
    return arm_expression_value(text, lookup, context, NULL, out, err);
}
