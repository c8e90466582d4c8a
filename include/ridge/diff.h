/* SPDX-License-Identifier: Apache-2.0
 *
 * Two reports compared: did the change help, did the wall move, and what is different.
 *
 * ridge_diff_create() pairs the kernels of two reports and compares each pair; ridge_diff_free()
 * ends it. A diff owns its texts; the reports may go before it. */
#ifndef RIDGE_DIFF_H
#define RIDGE_DIFF_H

#include "ridge/diagnose.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RIDGE_DIFF_METRICS = 10, RIDGE_DIFF_OPCODES = 8, RIDGE_DIFF_FINDINGS = 32 };

/* A number on both sides; NAN where a report does not hold it. */
typedef struct ridge_change {
    const char *metric; /* name in the report, an opcode, or "ridge:<what>" */
    const char *label;
    const char *unit;
    double before, after;
} ridge_change;

typedef struct ridge_diff_pair {
    const char *name_before, *name_after;
    size_t launch_before, launch_after;
    double before_ns, after_ns; /* NAN: not recorded */
    double speedup;             /* before / after; NAN: not known */
    bool clocks_differ;         /* times are not comparable */
    double clock_before_hz, clock_after_hz;
    double cycles_speedup; /* by elapsed SM cycles; NAN: not known */
    ridge_verdict verdict_before, verdict_after;
    bool wall_moved; /* false where the wall of one side is not decided */
    bool same_code;  /* the machine code is identical: a stale build? */
    /* Where one side holds less data, what it does not show is neither gone nor added. */
    const char *gone[RIDGE_DIFF_FINDINGS], *added[RIDGE_DIFF_FINDINGS], *left[RIDGE_DIFF_FINDINGS];
    size_t gone_count, added_count, left_count;
    ridge_change metrics[RIDGE_DIFF_METRICS]; /* of the findings, largest change first */
    size_t metric_count;
    ridge_change opcodes[RIDGE_DIFF_OPCODES]; /* warp instructions, largest change first */
    size_t opcode_count;
    ridge_change resources[8]; /* registers, shared memory, spills, occupancy, grid */
    size_t resource_count;
    const char *notes[4];
    size_t note_count;
} ridge_diff_pair;

typedef struct ridge_diff {
    ridge_diff_pair *pairs; /* in order of the time before, longest first */
    size_t pair_count;
    const char **only_before, **only_after; /* names of kernels without a partner */
    size_t only_before_count, only_after_count;
} ridge_diff;

/* Pairs by mangled name and order of launch, then by name without template arguments; one kernel
 * on each side is a pair whatever its name. */
ridge_status ridge_diff_create(const ridge_report *before, const ridge_report *after,
                               ridge_diff **out, ridge_error *err);
void ridge_diff_free(ridge_diff *diff);

#ifdef __cplusplus
}
#endif
#endif
