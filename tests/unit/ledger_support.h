/* SPDX-License-Identifier: Apache-2.0
 *
 * A made-up campaign as lines of ridge-bench/1: two cases, three builds, a session for each
 * comparison. tests/data/ledger/campaign.jsonl is what `test_ledger --rows` prints. */
#ifndef RIDGE_TESTS_LEDGER_SUPPORT_H
#define RIDGE_TESTS_LEDGER_SUPPORT_H

#include "base/hash.h"
#include "base/text.h"

enum { LEDGER_CASES = 3, LEDGER_BUILDS = 4 };

typedef struct ledger_ids {
    char env[RIDGE_HASH_TEXT], kase[LEDGER_CASES][RIDGE_HASH_TEXT], policy[RIDGE_HASH_TEXT];
    char build[LEDGER_BUILDS][RIDGE_HASH_TEXT], campaign[RIDGE_HASH_TEXT];
} ledger_ids;

/* One comparison of two builds on all cases. */
typedef struct ledger_comparison {
    int a, b; /* builds */
    const char *started;
    int seed;
    double ratio[LEDGER_CASES];
    double half_width; /* of ln ratio */
    const char *verdict[LEDGER_CASES];
    const char *cause; /* of INVALID ones */
} ledger_comparison;

/* GPU, environment, cases, policy and builds. */
void ledger_support_common(ridge_text *out, ledger_ids *ids);
void ledger_support_comparison(ridge_text *out, const ledger_ids *ids,
                               const ledger_comparison *comparison);
/* The whole campaign. */
void ledger_support_campaign(ridge_text *out, ledger_ids *ids);

#endif
