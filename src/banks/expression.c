/* SPDX-License-Identifier: Apache-2.0
 *
 * The small language of access patterns: integer expressions with C's operators and precedence,
 * read and evaluated in one pass of recursive descent, anew for each set of variables. Text and
 * nesting are bounded, so that any input ends quickly. What C does not evaluate (the other branch of
 * ?:, the right side of && and ||) is read but cannot fail. */
#include <inttypes.h>
#include <string.h>

#include "ridge/banks.h"

enum { MOST_DEPTH = 64 };

struct reader {
    const char *text;
    size_t at;
    const ridge_bank_variable *variables;
    size_t variable_count;
    int depth;
    int dead; /* inside so many parts that C would not evaluate */
    ridge_error *err;
    ridge_status status; /* the first failure ends everything */
};

/* What was wrong where; columns count from 1. */
static int64_t fail_at(struct reader *reader, size_t at, const char *expected)
{
    char found[16] = "the end";

    if (reader->status != RIDGE_OK)
        return 0;
    if (reader->text[at] != '\0') {
        found[0] = '\'';
        found[1] = reader->text[at];
        found[2] = '\'';
        found[3] = '\0';
    }
    reader->status = ridge_fail(reader->err, RIDGE_ERR_INVALID_ARGUMENT,
                                "'%s', column %zu: expected %s, found %s", reader->text, at + 1,
                                expected, found);
    return 0;
}

static int64_t fail_value(struct reader *reader, size_t at, const char *what)
{
    if (reader->status == RIDGE_OK && reader->dead == 0)
        reader->status = ridge_fail(reader->err, RIDGE_ERR_INVALID_ARGUMENT, "'%s', column %zu: %s",
                                    reader->text, at + 1, what);
    return 0;
}

static void skip_blanks(struct reader *reader)
{
    reader->at += strspn(reader->text + reader->at, " \t");
}

/* -- operators --------------------------------------------------------------------------------- */

enum operation {
    OR_ELSE,
    AND_THEN,
    BIT_OR,
    BIT_XOR,
    BIT_AND,
    EQUAL,
    NOT_EQUAL,
    LESS_EQUAL,
    GREATER_EQUAL,
    SHIFT_LEFT,
    SHIFT_RIGHT,
    LESS,
    GREATER,
    ADD,
    SUBTRACT,
    MULTIPLY,
    DIVIDE,
    REMAINDER,
};

/* Longer texts before their beginnings, so that "<<" is not "<". */
static const struct operator_row {
    const char *text;
    enum operation operation;
    int level; /* binds tighter the higher */
} operators[] = {
    {"||", OR_ELSE, 1},    {"&&", AND_THEN, 2},    {"==", EQUAL, 6},
    {"!=", NOT_EQUAL, 6},  {"<=", LESS_EQUAL, 7},  {">=", GREATER_EQUAL, 7},
    {"<<", SHIFT_LEFT, 8}, {">>", SHIFT_RIGHT, 8}, {"|", BIT_OR, 3},
    {"^", BIT_XOR, 4},     {"&", BIT_AND, 5},      {"<", LESS, 7},
    {">", GREATER, 7},     {"+", ADD, 9},          {"-", SUBTRACT, 9},
    {"*", MULTIPLY, 10},   {"/", DIVIDE, 10},      {"%", REMAINDER, 10},
};

/* The operator that stands here; NULL: none. */
static const struct operator_row *peek_operator(struct reader *reader)
{
    skip_blanks(reader);
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
        if (strncmp(reader->text + reader->at, operators[i].text, strlen(operators[i].text)) == 0)
            return &operators[i];
    return NULL;
}

static int64_t divide(struct reader *reader, size_t at, bool remainder, int64_t a, int64_t b)
{
    if (b == 0)
        return fail_value(reader, at, "division by zero");
    if (a == INT64_MIN && b == -1)
        return fail_value(reader, at, "the quotient does not fit 64 bits");
    return remainder ? a % b : a / b;
}

static int64_t shift(struct reader *reader, size_t at, bool left, int64_t a, int64_t b)
{
    if (b < 0 || b > 63)
        return fail_value(reader, at, "a shift by less than 0 or more than 63 bits");
    if (left)
        return (int64_t)((uint64_t)a << b);
    return a >= 0 ? a >> b : ~(~a >> b);
}

/* Sums and products wrap round, as on the GPU. at: of the operator. */
static int64_t apply(struct reader *reader, size_t at, enum operation operation, int64_t a,
                     int64_t b)
{
    const uint64_t x = (uint64_t)a, y = (uint64_t)b;

    switch (operation) {
    case OR_ELSE:
        return a != 0 || b != 0;
    case AND_THEN:
        return a != 0 && b != 0;
    case BIT_OR:
        return a | b;
    case BIT_XOR:
        return a ^ b;
    case BIT_AND:
        return a & b;
    case EQUAL:
        return a == b;
    case NOT_EQUAL:
        return a != b;
    case LESS_EQUAL:
        return a <= b;
    case GREATER_EQUAL:
        return a >= b;
    case LESS:
        return a < b;
    case GREATER:
        return a > b;
    case SHIFT_LEFT:
        return shift(reader, at, true, a, b);
    case SHIFT_RIGHT:
        return shift(reader, at, false, a, b);
    case ADD:
        return (int64_t)(x + y);
    case SUBTRACT:
        return (int64_t)(x - y);
    case MULTIPLY:
        return (int64_t)(x * y);
    case DIVIDE:
        return divide(reader, at, false, a, b);
    case REMAINDER:
        return divide(reader, at, true, a, b);
    }
    return 0;
}

/* -- operands ---------------------------------------------------------------------------------- */

static int64_t read_conditional(struct reader *reader);

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 99;
}

static int64_t read_number(struct reader *reader)
{
    const char *p = reader->text + reader->at;
    const bool hexadecimal = p[0] == '0' && (p[1] == 'x' || p[1] == 'X') && digit_of(p[2]) < 16;
    const int64_t base = hexadecimal ? 16 : 10;
    int64_t value = 0;

    p += hexadecimal ? 2 : 0;
    for (; digit_of(*p) < base; p++) {
        if (value > (INT64_MAX - digit_of(*p)) / base) {
            reader->dead = 0; /* wrong wherever it stands */
            return fail_value(reader, reader->at, "the number does not fit 63 bits");
        }
        value = value * base + digit_of(*p);
    }
    reader->at = (size_t)(p - reader->text);
    return value;
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int64_t read_variable(struct reader *reader)
{
    const char *const name = reader->text + reader->at;
    char known[120] = "";
    size_t length = 0;

    while (is_name(name[length]) || digit_of(name[length]) < 10)
        length++;
    for (size_t i = 0; i < reader->variable_count; i++) {
        const ridge_bank_variable *const variable = &reader->variables[i];

        if (strlen(variable->name) == length && strncmp(variable->name, name, length) == 0) {
            reader->at += length;
            return variable->value;
        }
        if (strlen(known) + strlen(variable->name) + 3 < sizeof(known)) {
            strcat(known, i > 0 ? ", " : "");
            strcat(known, variable->name);
        }
    }
    if (reader->status == RIDGE_OK)
        reader->status =
            ridge_fail(reader->err, RIDGE_ERR_INVALID_ARGUMENT,
                       "'%s', column %zu: unknown name '%.*s', expected one of %s", reader->text,
                       reader->at + 1, (int)(length < 40 ? length : 40), name, known);
    return 0;
}

static int64_t read_operand(struct reader *reader)
{
    int64_t value;
    char c;

    skip_blanks(reader);
    c = reader->text[reader->at];
    if (++reader->depth > MOST_DEPTH)
        return fail_at(reader, reader->at, "fewer nested parts");
    if (c == '-' || c == '~' || c == '!' || c == '+') {
        reader->at++;
        value = read_operand(reader);
        value = c == '-'   ? (int64_t)(0 - (uint64_t)value)
                : c == '~' ? ~value
                : c == '!' ? value == 0
                           : value;
    } else if (c == '(') {
        reader->at++;
        value = read_conditional(reader);
        skip_blanks(reader);
        if (reader->text[reader->at] != ')')
            return fail_at(reader, reader->at, "an operator or ')'");
        reader->at++;
    } else if (digit_of(c) < 10) {
        value = read_number(reader);
    } else if (is_name(c)) {
        value = read_variable(reader);
    } else {
        return fail_at(reader, reader->at, "a number, a name or '('");
    }
    reader->depth--;
    return value;
}

/* Operands joined by operators of at least this level. */
static int64_t read_binary(struct reader *reader, int level)
{
    int64_t left = read_operand(reader);
    const struct operator_row *row;

    while (reader->status == RIDGE_OK && (row = peek_operator(reader)) != NULL &&
           row->level >= level) {
        const size_t at = reader->at;
        const bool dead =
            (row->operation == OR_ELSE && left != 0) || (row->operation == AND_THEN && left == 0);
        int64_t right;

        reader->at += strlen(row->text);
        reader->dead += dead;
        right = read_binary(reader, row->level + 1);
        reader->dead -= dead;
        if (reader->status == RIDGE_OK)
            left = apply(reader, at, row->operation, left, right);
    }
    return left;
}

static int64_t read_conditional(struct reader *reader)
{
    const int64_t condition = read_binary(reader, 1);
    int64_t yes, no;

    skip_blanks(reader);
    if (reader->status != RIDGE_OK || reader->text[reader->at] != '?')
        return condition;
    if (++reader->depth > MOST_DEPTH)
        return fail_at(reader, reader->at, "fewer nested parts");
    reader->at++;
    reader->dead += condition == 0;
    yes = read_conditional(reader);
    reader->dead -= condition == 0;
    skip_blanks(reader);
    if (reader->text[reader->at] != ':')
        return fail_at(reader, reader->at, "an operator or ':'");
    reader->at++;
    reader->dead += condition != 0;
    no = read_conditional(reader);
    reader->dead -= condition != 0;
    reader->depth--;
    return condition != 0 ? yes : no;
}

ridge_status ridge_bank_evaluate(const char *text, const ridge_bank_variable *variables,
                                 size_t variable_count, int64_t *values, size_t value_count,
                                 ridge_error *err)
{
    struct reader reader = {.text = text,
                            .variables = variables,
                            .variable_count = variable_count,
                            .err = err,
                            .status = RIDGE_OK};

    for (size_t i = 0; i < value_count; i++)
        values[i] = 0;
    if (strlen(text) > RIDGE_BANKS_MOST_TEXT)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "an expression of %zu characters, expected at most %d", strlen(text),
                          RIDGE_BANKS_MOST_TEXT);
    for (size_t i = 0; i < value_count && reader.status == RIDGE_OK; i++) {
        values[i] = read_conditional(&reader);
        skip_blanks(&reader);
        if (i + 1 < value_count && text[reader.at] != ',')
            fail_at(&reader, reader.at, "an operator or ','");
        else if (i + 1 < value_count)
            reader.at++;
    }
    if (text[reader.at] != '\0')
        fail_at(&reader, reader.at, "an operator or the end");
    if (reader.status != RIDGE_OK)
        for (size_t i = 0; i < value_count; i++)
            values[i] = 0;
    return reader.status;
}
