/* SPDX-License-Identifier: Apache-2.0
 *
 * Expressions for names, from a user or a file. */
#include "timeline/sums/sums_internal.h"

#include "base/text.h"
#include "ridge/regex_guard.h"

ridge_status sum_compile(const char *what, const char *pattern, regex_t *out, ridge_error *err)
{
    ridge_error inner = {0};
    ridge_text text;
    int failure;

    if (ridge_regex_check(pattern, &inner) != RIDGE_OK)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "%s '%.100s': %s", what, pattern,
                          inner.text);
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
