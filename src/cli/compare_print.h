/* SPDX-License-Identifier: Apache-2.0
 *
 * What ridge compare found, and how it is printed. */
#ifndef RIDGE_CLI_COMPARE_PRINT_H
#define RIDGE_CLI_COMPARE_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ridge/bench.h"
#include "ridge/table.h"

enum { COMPARE_PLACEMENTS = 240, COMPARE_BUDGET_S = 86400 }; /* the most that options take */

/* A case: its first run and, where that one claimed a change, a second with another seed. */
struct compare_row {
    ridge_comparison first, second;
    bool has_second;
    double p, holm_p;            /* over both runs; over the sweep. NAN: none */
    ridge_bench_verdict verdict; /* after both */
};

struct compare_summary {
    struct compare_row *rows;
    size_t row_count, room;
    size_t wanted_count; /* cases that were asked for */
    size_t counts[RIDGE_VERDICT_COUNT];
    double geomean; /* of candidate / baseline over the cases that were measured; NAN */
    size_t geomean_count;
    bool is_interrupted, is_null;
    bool require_decision, require_change;
    int placements_most; /* that were allowed */
    double budget_s;     /* of a case, that was allowed */
    uint64_t without;    /* bits 1 << ridge_guard that were switched off */
};

/* False: out of memory. */
bool compare_summary_add(struct compare_summary *summary, const ridge_comparison *comparison);
/* Verdicts over both runs, counts, geometric mean. */
void compare_summary_decide(struct compare_summary *summary);
/* True when a case's first run claims a change that a sweep has to confirm. */
bool compare_row_needs_second(const struct compare_row *row);
/* 0; 1: regressed, or a requirement is not met; 4: invalid or interrupted. */
int compare_summary_exit(const struct compare_summary *summary);
void compare_summary_release(struct compare_summary *summary);

void compare_write_text(ridge_output *output, const struct compare_summary *summary);
void compare_write_json(ridge_output *output, const struct compare_summary *summary);

#endif
