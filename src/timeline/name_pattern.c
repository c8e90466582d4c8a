/* SPDX-License-Identifier: Apache-2.0
 *
 * Expressions for names, from a user or a file. */
#include "timeline/sums_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { MOST_LENGTH = 100000 }; /* of an expression with its repetitions written out */

/* How often the innermost part may be written out: regcomp() copies what "{n,m}" repeats, and what
 * '+' does (a+ is aa*), and takes ever longer for each repetition of a repetition: "g*++++++++" is
 * not done within a minute. Repetitions on each other are refused, of groups three are taken. */
static double repetitions(const char *pattern)
{
    double product = 1;

    for (const char *at = pattern; *at != '\0'; at++) {
        if (strchr("+*?", *at) != NULL && at > pattern && strchr(")}+*?", at[-1]) != NULL) {
            product *= at[-1] == ')' ? 8 : INFINITY;
        } else if (*at == '{') {
            const double least = strtod(at + 1, NULL);
            const char *const comma = at + 1 + strspn(at + 1, "0123456789");
            const double most = *comma == ',' ? strtod(comma + 1, NULL) : least;
            const double count = most > least ? most : least;

            product *= count > 1 ? count : 1;
        }
    }
    return product;
}

ridge_status sum_compile(const char *what, const char *pattern, regex_t *out, ridge_error *err)
{
    ridge_text text;
    int failure;

    if (!((double)strlen(pattern) * repetitions(pattern) <= MOST_LENGTH))
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "%s '%.100s': with its repetitions written out it is longer than %d",
                          what, pattern, MOST_LENGTH);
    ridge_text_init(&text);
    ridge_text_format(&text, "^(%s)$", pattern);
    if (text.failed) {
        ridge_text_release(&text);
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    }
    failure = regcomp(out, text.data, REG_EXTENDED | REG_NOSUB);
    ridge_text_release(&text);
    if (failure != 0) {
        char reason[120];

        regerror(failure, NULL, reason, sizeof(reason));
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "%s '%.100s': %s", what, pattern,
                          reason);
    }
    return RIDGE_OK;
}
