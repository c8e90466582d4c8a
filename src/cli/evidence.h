/* SPDX-License-Identifier: Apache-2.0
 *
 * The page for a pull request: which comparisons it is about, and its sections. */
#ifndef RIDGE_CLI_EVIDENCE_H
#define RIDGE_CLI_EVIDENCE_H

#include "ledger_query.h"
#include "ridge/bench.h"

enum { EVIDENCE_SCOPE_BYTES = 1 << 15 };

struct evidence {
    ridge_ledger *ledger;
    const char *path;
    char campaign[LEDGER_ID_BYTES], title[200]; /* "": comparisons were given */
    /* Lists of ids as VALUES: the comparisons, and the builds on both sides of them. */
    char scope[EVIDENCE_SCOPE_BYTES], before[EVIDENCE_SCOPE_BYTES], after[EVIDENCE_SCOPE_BYTES];
    size_t comparison_count;
    int house; /* index into cli_evidence_houses */
    ridge_output *output;
    int status; /* of the first query that failed; 0 */
};

/* A section writes its text, without a heading. */
typedef void evidence_section(struct evidence *evidence);

evidence_section evidence_purpose, evidence_claim, evidence_results, evidence_method,
    evidence_correctness, evidence_path, evidence_cost, evidence_not_measured, evidence_reproduce,
    evidence_rejected, evidence_assistance, evidence_checklist;

extern const char *const cli_evidence_houses[];
enum { HOUSE_NONE, HOUSE_VLLM, HOUSE_PYTORCH, HOUSE_FLASHINFER, HOUSE_SGLANG };

/* The queries of the sections, for JSON as well; ends with a NULL key. */
struct evidence_part {
    const char *key;
    const char *sql;
    int scope; /* 0 comparisons, 1 builds before, 2 builds after, 3 the campaign's id */
};
extern const struct evidence_part evidence_parts[];
enum { EVIDENCE_SQL_BYTES = 2 * EVIDENCE_SCOPE_BYTES + 4096 };
void evidence_text(const struct evidence *evidence, const struct evidence_part *part, char *sql,
                   size_t size);

/* The rows of a part: open, cli_query_next() until false, close. */
bool evidence_open(struct evidence *evidence, struct cli_query *query, const char *key);
void evidence_close(struct evidence *evidence, struct cli_query *query);

/* Where inputs were before a launch, in the words of ridge_bench_cache_text(), of policy p and of the
 * least and the most that rotation_l2 is; what was asked for where that is not known. SQL. */
#define EVIDENCE_DIGITS_OF(number) #number
#define EVIDENCE_DIGITS(number) EVIDENCE_DIGITS_OF(number)
#define EVIDENCE_CACHE(least, most)                                                                \
    "CASE WHEN p.l2 <> 'cold' THEN p.l2 WHEN " most " < 1 THEN 'in L2, not cold' WHEN " least      \
    " < " EVIDENCE_DIGITS(RIDGE_COLD_L2) " THEN 'partly in L2, not cold' ELSE p.l2 END"

#endif
