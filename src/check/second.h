/* SPDX-License-Identifier: Apache-2.0
 *
 * The second opinion: errors beside those of the plain evaluation at the same precision. */
#ifndef RIDGE_CHECK_SECOND_H
#define RIDGE_CHECK_SECOND_H

#include "check/check_internal.h"

/* Beyond this the plain evaluation is better: flash-attention's rule, on quantiles and rows. */
#define CHECK_PLAIN_RATIO 2.0

ridge_status check_second_opinion(const ridge_comparand *pair, const check_bounds *bounds,
                                  int64_t count, ridge_mismatch *out, ridge_error *err);

#endif
