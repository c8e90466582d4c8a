/* SPDX-License-Identifier: Apache-2.0
 *
 * What a recorded program does to the fake CUPTI, see fake_cupti.c. */
#ifndef FAKE_CUPTI_H
#define FAKE_CUPTI_H

#include <stddef.h>
#include <stdint.h>

#include "collect/cupti_records.h"

#define FAKE_CUPTI_DECLARE(name, is_needed, parameters) unsigned name parameters;
CUPTI_FUNCTIONS(FAKE_CUPTI_DECLARE)
#undef FAKE_CUPTI_DECLARE
int InitializeInjectionNvtx2(void *get_export_table);

/* A device and a context. */
void fake_cupti_start(void);
/* A launch of 10 us, its kernel 7 us after the call began, and a call that does no work; the clock
 * goes 20 us on. */
void fake_cupti_launch(unsigned thread, const char *name, unsigned graph);
/* One of each other record, a kernel without times, and one of a kind that is not known. */
void fake_cupti_rest(unsigned thread);
/* Until --delay is over (1), or --duration (0). */
void fake_cupti_wait(int on);
/* flags: 1 mark, 2 start, 4 end. */
void fake_cupti_marker(unsigned thread, unsigned id, unsigned flags, unsigned long long at_ns,
                       const char *name, const char *domain);

#endif
