/* SPDX-License-Identifier: Apache-2.0
 *
 * What ridge bench measured, and how it is printed. */
#ifndef RIDGE_CLI_BENCH_PRINT_H
#define RIDGE_CLI_BENCH_PRINT_H

#include <stdbool.h>
#include <stddef.h>

#include "ridge/bench.h"
#include "ridge/session.h"
#include "ridge/table.h"

/* A slot, of which a line of Go benchmark text is made. */
struct bench_slot {
    size_t case_index;
    int launches;
    double median_ns;
};

struct bench_summary {
    const char *kernel; /* as named on the command line */
    /* Of the command that decides: the kernel as a shell takes it, " --sweep '...' --device cpu". */
    const char *word, *options;
    ridge_measurement *rows;
    size_t row_count, row_room, wanted_count;
    struct bench_slot *slots;
    size_t slot_count, slot_room;
    const ridge_saved *saved; /* NULL: nothing to compare with */
    const char *saved_path;
    double threshold_frac;
    bool is_interrupted;
};

/* False: out of memory. */
bool bench_summary_add(struct bench_summary *summary, const ridge_measurement *measurement);
bool bench_summary_add_slot(struct bench_summary *summary, size_t case_index,
                            const ridge_slot *slot);
/* 0; 1: slower than the saved times by more than the threshold; 4: a case is invalid, or interrupted. */
int bench_summary_exit(const struct bench_summary *summary);
void bench_summary_release(struct bench_summary *summary);
/* Cases slower than what was saved. */
size_t bench_summary_slower(const struct bench_summary *summary);
/* Time of a measurement that decides: amortised where it is. */
double bench_time_ns(const ridge_measurement *measurement);
/* What bounds it: "memory", "compute", "launch", "n/a". */
const char *bench_bound_by(const ridge_measurement *measurement);

void bench_write_text(ridge_output *output, const struct bench_summary *summary);
void bench_write_csv(ridge_output *output, const struct bench_summary *summary);
/* Lines that Go's benchstat reads: one a slot. */
void bench_write_go(ridge_output *output, const struct bench_summary *summary);
/* schema "ridge-bench-result/1" for --json, "ridge-bench-save/1" for --save: the same document. */
void bench_write_json(ridge_output *output, const struct bench_summary *summary,
                      const char *schema);

#endif
