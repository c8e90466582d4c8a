/* SPDX-License-Identifier: Apache-2.0
 *
 * --ledger: the one place where a command learns which ledger it is about. FILE of --ledger, else
 * $RIDGE_LEDGER, else ridge.ledger in the current folder. A ledger is made by `ridge step start` and
 * by `ridge ledger import|merge --create`; every other command uses one that is there. */
#ifndef RIDGE_CLI_LEDGER_OPTION_H
#define RIDGE_CLI_LEDGER_OPTION_H

#include <stdbool.h>

#include "options.h"
#include "ridge/ledger.h"

/* given: const char *, NULL when the option was not. */
#define OPT_LEDGER(given)                                                                          \
    OPT_STRING(0, "ledger", given, "FILE", "the ledger, else $RIDGE_LEDGER, else ridge.ledger")

/* The path by the rule above; borrowed. */
const char *cli_ledger_path(const char *given);
/* True when results are to be filed: --ledger or $RIDGE_LEDGER was given, or ridge.ledger is there. */
bool cli_ledger_is_wanted(const char *given);
/* Opens it. Returns 0, or an exit status after saying what is wrong and what to do; *out is new,
 * ridge_ledger_free(). */
int cli_ledger_open(const char *given, ridge_ledger_mode mode, ridge_ledger **out);
/* The same, said by the caller. */
ridge_status cli_ledger_try(const char *given, ridge_ledger_mode mode, ridge_ledger **out,
                            ridge_error *err);
/* Seconds since 1970 for rows that carry a time: now, or $SOURCE_DATE_EPOCH, so that what is made
 * twice is the same twice. */
int64_t cli_ledger_now_s(void);

#endif
