/* SPDX-License-Identifier: Apache-2.0
 *
 * Small kernels of the CPU device that are right, and the same with one mistake each. */
#ifndef RIDGE_TESTS_CHECK_KERNELS_H
#define RIDGE_TESTS_CHECK_KERNELS_H

#include "ridge/device.h"

typedef enum mistake {
    NO_MISTAKE,
    WRITES_NOTHING,
    WRITES_PART,
    WRITES_BEFORE,
    WRITES_BEHIND,
    WRITES_BETWEEN,
    READS_BAND,
    CHANGES_INPUT,
    IS_CONSTANT,
    IS_STALE,
    READS_WORKSPACE,
    READS_OUTPUT,
    WRONG_LAST_ROW,
    WRONG_STRIDE,
    SCALES_TWICE,
    SUMS_IN_BF16,
    ROUNDS_INPUTS,
    CLAMPS,
    RARE_RACE,
    REFUSES_STRIDES,
    REFUSES_ALL,
    NO_REFERENCE,
    LEAKS_ROWS,
    LAUNCH_FAILS,
} mistake;

/* copy: out[m, n] = x[m, n]; sum: out[m] = sum over n of x[m, n]; gemm: out[m, n] = a[m, k] b[k, n];
 * norm: out[m, n] = x / sqrt(mean x^2 + 1e-6). *to needs its own life; what must outlive it. */
void make_kernel(ridge_kernel *to, const char *operation, const mistake *what);

#endif
