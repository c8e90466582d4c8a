/* SPDX-License-Identifier: Apache-2.0
 *
 * The texts that stand for processes and threads, without names of machines and people. */
#ifndef RIDGE_TIMELINE_KINETO_REDACT_ID_H
#define RIDGE_TIMELINE_KINETO_REDACT_ID_H

#include "base/redact_names.h"
#include "base/text.h"
#include "timeline/sums/sums_internal.h"

/* Adds the id, unescaped, with "name1", "name2", ... for its words that may be names: words numbers
 * them over the file. Counts what it changed. False when out of memory. */
bool kineto_add_redacted_id(ridge_text *out, sum_groups *words, ridge_slice id, size_t *changed);

/* Learns those of its words that look like names of machines, so that they go from texts too. */
void kineto_learn_id(redact_names *names, ridge_slice id);

#endif
