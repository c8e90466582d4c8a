/* SPDX-License-Identifier: Apache-2.0
 *
 * POSIX extended regular expressions from outside: which of them may be given to regcomp(). It
 * writes out what "{n,m}" repeats and takes ever longer for each repetition of a repetition:
 * "g*++++++++" is not done within a minute, and no limit of its own stops it. */
#ifndef RIDGE_REGEX_GUARD_H
#define RIDGE_REGEX_GUARD_H

#include "ridge/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    RIDGE_REGEX_BYTES = 100000, /* with its repetitions written out, at most */
    RIDGE_REGEX_DEPTH = 200     /* of groups in each other, at most */
};

/* RIDGE_ERR_INVALID_ARGUMENT when compiling the pattern could take more than moments: a repetition
 * directly behind another, groups deeper than RIDGE_REGEX_DEPTH, or more than RIDGE_REGEX_BYTES.
 * Whether it is an expression at all is left to regcomp(). */
ridge_status ridge_regex_check(const char *pattern, ridge_error *err);

#ifdef __cplusplus
}
#endif
#endif
