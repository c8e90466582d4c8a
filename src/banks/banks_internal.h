/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared in src/banks. */
#ifndef RIDGE_BANKS_INTERNAL_H
#define RIDGE_BANKS_INTERNAL_H

#include "ridge/banks.h"

/* Which lanes are served together: sets the phase of each lane of lanes and returns how many phases
 * there may be, some of them without an active lane. Depends on which addresses are equal only, not
 * on where they lie. */
int banks_phases(const ridge_bank_access *access, const uint32_t address_bytes[RIDGE_BANKS_LANES],
                 uint32_t lanes, int phase_of[RIDGE_BANKS_LANES]);
/* cp.async of 16 bytes, one after the other: sets the wavefront of each active lane, from 0, and
 * returns how many there are. */
int banks_copies(const uint32_t address_bytes[RIDGE_BANKS_LANES],
                 const uint32_t source_bytes[RIDGE_BANKS_LANES], uint32_t lanes,
                 int wavefront_of[RIDGE_BANKS_LANES]);
/* Do all pairs of active lanes that differ in this bit have the same address? */
bool banks_pairs_agree(const uint32_t address_bytes[RIDGE_BANKS_LANES], uint32_t lanes, int bit);
/* Wavefronts when these lanes are one phase, without a map. */
int banks_phase_wavefronts(int width_bytes, const uint32_t address_bytes[RIDGE_BANKS_LANES],
                           uint32_t lanes);
/* What the profiler's counter of an instruction says of a load of 8 or 16 bytes. */
int banks_reported(int width_bytes, const uint32_t address_bytes[RIDGE_BANKS_LANES],
                   uint32_t lanes);
/* Of the lanes that write the same 16 bytes the first. */
uint32_t banks_writers(const uint32_t address_bytes[RIDGE_BANKS_LANES], uint32_t lanes);
/* The lanes that give addresses. */
uint32_t banks_lanes(const ridge_bank_access *access, uint32_t lanes);

/* One step of a pattern, with its addresses. */
ridge_status banks_step(const ridge_bank_access *access, const ridge_bank_tile *tile,
                        const ridge_bank_elements *elements,
                        const uint32_t address_bytes[RIDGE_BANKS_LANES], ridge_bank_count *out,
                        ridge_error *err);
/* Adds a step to a result; *most starts at -1 and keeps the excess of the worst step. */
void banks_add_step(ridge_bank_result *result, int step, const ridge_bank_count *count, int *most);
/* The elements of all steps of a pattern. */
typedef struct banks_steps {
    ridge_bank_elements *elements;
    int count;
} banks_steps;

/* Runs patterns on layouts of tiles of one shape; NULL: out of memory. */
typedef struct banks_runner banks_runner;
banks_runner *banks_runner_create(const ridge_bank_tile *tile);
void banks_runner_free(banks_runner *runner);
/* All steps of a pattern; ends early when the wavefronts pass the limit. */
ridge_status banks_run_steps(banks_runner *runner, const ridge_bank_tile *tile,
                             const ridge_bank_pattern *pattern, const banks_steps *steps,
                             int64_t limit, ridge_bank_result *out, ridge_error *err);
/* Fails for a pattern of which no step has an active lane: that it is free of conflicts is no
 * answer. */
ridge_status banks_fail_idle(const ridge_bank_pattern *pattern, ridge_error *err);

/* A whole number of least to most; what names it in the message. */
ridge_status banks_number(const char *text, const char *what, int least, int most, int *out,
                          ridge_error *err);

#endif
