/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan for the main device of a trace, on a chip of round numbers. */
#ifndef RIDGE_TESTS_NEXT_SUPPORT_H
#define RIDGE_TESTS_NEXT_SUPPORT_H

#include <math.h>

#include "cases.h"
#include "ridge/timeline.h"
#include "trace_support.h"

/* Two members of a row of a table. */
#define ROWS(array) array, sizeof(array) / sizeof((array)[0])

/* A chip that moves 1 byte a nanosecond, so that bounds are bytes. */
static inline ridge_roofs slow_roofs(void)
{
    ridge_roofs roofs;

    ridge_roofs_init(&roofs);
    roofs.dram_bytes_per_s = 1e9;
    roofs.flop_per_s[RIDGE_PEAK_TENSOR_BF16] = 1e15;
    return roofs;
}

static inline void plan(const ridge_trace *trace, const ridge_given_bounds *given,
                        bool with_command, ridge_timeline_next *out)
{
    const ridge_roofs roofs = slow_roofs();
    ridge_timeline *timeline;

    assert_int_equal(ridge_timeline_create(trace, NULL, &timeline, NULL), RIDGE_OK);
    assert_int_equal(ridge_timeline_plan(timeline, ridge_timeline_main_device(timeline), &roofs,
                                         given, with_command, out, NULL),
                     RIDGE_OK);
    ridge_timeline_free(timeline);
}

static inline void is_gain(double found, double expected)
{
    if (isnan(expected))
        assert_true(isnan(found));
    else if (!(fabs(found - expected) < 1e-9))
        fail_msg("%.12g, not %.12g", found, expected);
}

#endif
