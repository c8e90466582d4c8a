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
/* The lanes that give addresses. */
uint32_t banks_lanes(const ridge_bank_access *access, uint32_t lanes);

/* Adds a step to a result; *most starts at -1 and keeps the excess of the worst step. */
void banks_add_step(ridge_bank_result *result, int step, const ridge_bank_count *count, int *most);

/* A whole number of least to most; what names it in the message. */
ridge_status banks_number(const char *text, const char *what, int least, int most, int *out,
                          ridge_error *err);

#endif
