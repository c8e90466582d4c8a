/* SPDX-License-Identifier: Apache-2.0
 *
 * Getting CUPTI into a recorded process: the one that is there already, as two in one process
 * disturb each other (PyTorch brings its own), else the one of those on offer that fits the
 * driver. */
#ifndef RIDGE_COLLECT_CUPTI_LOAD_H
#define RIDGE_COLLECT_CUPTI_LOAD_H

#include <stdbool.h>

#include "collect/cupti_records.h"

typedef struct cupti_calls {
    void *library;
    uint32_t version; /* of cuptiGetVersion() */
    char path[1024];  /* what was loaded; a bare name when it was there already */
#define CUPTI_MEMBER(name, is_needed, parameters) unsigned(*name) parameters;
    CUPTI_FUNCTIONS(CUPTI_MEMBER)
#undef CUPTI_MEMBER
} cupti_calls;

/* paths: libraries to try, one a line. False: *why, one line, says what is missing. */
bool cupti_load(cupti_calls *out, const char *paths, char *why, size_t why_size);

#endif
