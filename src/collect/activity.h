/* SPDX-License-Identifier: Apache-2.0
 *
 * The kinds of records that are recorded, and their way into the spool file. */
#ifndef RIDGE_COLLECT_ACTIVITY_H
#define RIDGE_COLLECT_ACTIVITY_H

#include "collect/cupti_load.h"

typedef struct activity_kind {
    unsigned kind;
    void (*add)(const void *record);
    bool is_early; /* enabled before --delay: what others refer to */
    bool is_api;
} activity_kind;

enum { ACTIVITY_KIND_COUNT = 13 };
extern const activity_kind activity_kinds[ACTIVITY_KIND_COUNT];

/* cupti is borrowed for good. */
void activity_init(const cupti_calls *cupti, bool keeps_all_calls);
/* Writes one record; those of other kinds are passed over. Under the lock of the spool file. */
void activity_add(const void *record);
/* Tells CUPTI not to record calls that only read a value, after their kinds were enabled. Returns
 * how many there are; 0 when all calls are kept, or CUPTI cannot be told. */
size_t activity_mute_cheap_calls(void);

#endif
