/* SPDX-License-Identifier: Apache-2.0
 *
 * What ridge ledger answers about a campaign. Each takes its id and returns the exit status. */
#ifndef RIDGE_CLI_LEDGER_VIEWS_H
#define RIDGE_CLI_LEDGER_VIEWS_H

#include "ledger_query.h"

typedef int cli_ledger_view(ridge_ledger *ledger, const char *path, const char *campaign,
                            const struct cli_output *out);

cli_ledger_view cli_ledger_log;       /* every step, a line each */
cli_ledger_view cli_ledger_chain;     /* the kept ones, product beside end to end */
cli_ledger_view cli_ledger_best;      /* fastest build of each case */
cli_ledger_view cli_ledger_flat;      /* cases that never moved */
cli_ledger_view cli_ledger_regressed; /* cases that got slower; 1 when there are some */

/* ridge ledger add-profile, ridge ledger show. */
struct cli_profile_request {
    const char *path;                  /* the report */
    const char *build, *kase, *kernel; /* NULL: not given */
    size_t launch;
    size_t step; /* whose build was profiled, in the campaign begun last; OPTION_UNSET: not given */
    bool is_aside; /* what was filed is one line on standard error */
    struct cli_output out;
};
int cli_ledger_add_profile(ridge_ledger *ledger, const char *path,
                           const struct cli_profile_request *request);
int cli_ledger_show(ridge_ledger *ledger, const char *path, const char *prefix,
                    const struct cli_output *out);

#endif
