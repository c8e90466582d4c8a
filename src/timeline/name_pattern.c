/* SPDX-License-Identifier: Apache-2.0
 *
 * Expressions for names, from a user or a file. */
#include "timeline/sums_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { MOST_REPETITIONS = 1000, MOST_LENGTH = 4096 };

/* What the counts of "{n,m}" multiply to: regcomp() writes repetitions out, and a short expression
 * could take all memory. */
static double repetitions(const char *pattern)
{
    double product = 1;

    for (const char *at = strchr(pattern, '{'); at != NULL; at = strchr(at + 1, '{')) {
        const double least = strtod(at + 1, NULL);
        const char *const comma = at + 1 + strspn(at + 1, "0123456789");
        const double most = *comma == ',' ? strtod(comma + 1, NULL) : least;
        const double count = most > least ? most : least;

        product *= count > 1 ? count : 1;
    }
    return product;
}

ridge_status sum_compile(const char *what, const char *pattern, regex_t *out, ridge_error *err)
{
    ridge_text text;
    int failure;

    if (strlen(pattern) > MOST_LENGTH || repetitions(pattern) > MOST_REPETITIONS)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "%s '%.100s': too long, or its repetitions multiply to more than %d",
                          what, pattern, MOST_REPETITIONS);
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
