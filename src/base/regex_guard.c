/* SPDX-License-Identifier: Apache-2.0
 *
 * The size of an expression before it is compiled, from above. */
#include "ridge/regex_guard.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef enum token { TOKEN_ATOM, TOKEN_GROUP, TOKEN_REPETITION } token;

/* Past "[...]", where nothing repeats. */
static const char *skip_bracket(const char *at)
{
    at++;
    at += *at == '^';
    at += *at == ']';
    while (*at != '\0' && *at != ']') {
        const char kind = at[0] == '[' && strchr(":.=", at[1]) != NULL ? at[1] : '\0';

        at++;
        if (kind == '\0')
            continue;
        at++;
        while (*at != '\0' && !(at[0] == kind && at[1] == ']'))
            at++;
        at += *at != '\0' ? 2 : 0;
    }
    return *at == ']' ? at + 1 : at;
}

/* The larger bound of "{n,m}". */
static double bound_of(const char *at)
{
    const double least = strtod(at + 1, NULL);
    const char *const comma = at + 1 + strspn(at + 1, "0123456789");
    const double most = *comma == ',' ? strtod(comma + 1, NULL) : least;
    const double count = most > least ? most : least;

    return count > 1 ? count : 1;
}

/* How deep groups stand in each other: the compiler goes down with them. */
static size_t depth_of(const char *pattern)
{
    size_t depth = 0, most = 0;

    for (const char *at = pattern; *at != '\0';) {
        if (*at == '\\' && at[1] != '\0') {
            at += 2;
        } else if (*at == '[') {
            at = skip_bracket(at);
        } else {
            if (*at == '(')
                depth++;
            else if (*at == ')' && depth > 0)
                depth--;
            most = depth > most ? depth : most;
            at++;
        }
    }
    return most;
}

/* How often the innermost part may be written out; a repetition of a group may hold others and
 * doubles what it repeats (a+ is aa*), so that three on each other are taken. */
static double repetitions(const char *pattern, bool *is_doubled)
{
    double product = 1;
    token last = TOKEN_ATOM;

    for (const char *at = pattern; *at != '\0';) {
        const bool is_first = at == pattern || at[-1] == '(' || at[-1] == '|';

        if (*at == '\\' && at[1] != '\0') {
            last = TOKEN_ATOM;
            at += 2;
        } else if (*at == '[') {
            last = TOKEN_ATOM;
            at = skip_bracket(at);
        } else if (strchr("+*?{", *at) != NULL && !is_first) {
            *is_doubled |= last == TOKEN_REPETITION;
            if (*at == '{')
                product *= bound_of(at);
            else if (last == TOKEN_GROUP)
                product *= 8;
            last = TOKEN_REPETITION;
            at += *at == '{' ? 1 + strspn(at + 1, "0123456789,") : 1;
            at += *at == '}';
        } else {
            last = *at == ')' ? TOKEN_GROUP : TOKEN_ATOM;
            at++;
        }
    }
    return product;
}

ridge_status ridge_regex_check(const char *pattern, ridge_error *err)
{
    bool is_doubled = false;
    const double size = (double)strlen(pattern) * repetitions(pattern, &is_doubled);

    if (is_doubled)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "a repetition directly behind another: one of + * ? {n,m} is enough");
    if (depth_of(pattern) > RIDGE_REGEX_DEPTH)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "groups nest deeper than %d",
                          RIDGE_REGEX_DEPTH);
    if (!(size <= RIDGE_REGEX_BYTES))
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "with its repetitions written out it is longer than %d",
                          RIDGE_REGEX_BYTES);
    return RIDGE_OK;
}
