/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays for tests of the comparison: a right output of given shape and type, then damaged. */
#ifndef RIDGE_TESTS_CHECK_ARRAYS_H
#define RIDGE_TESTS_CHECK_ARRAYS_H

#include "cases.h"

#include <math.h>

#include "ridge/check.h"

typedef struct arrays {
    ridge_comparand pair;
    int64_t count;
    double *out, *ref, *magnitude, *plain, *previous;
} arrays;

/* Uniform in (-1, 1). */
static inline double draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)((int64_t)(*state >> 11) - (INT64_C(1) << 52)) / (double)(INT64_C(1) << 52);
}

/* About normal, as the sum of products that a kernel with this length has. */
static inline double draw_normal(uint64_t *state)
{
    return draw(state) + draw(state) + draw(state);
}

/* Values of a dot product of c terms: ref about sqrt(c), magnitude about 0.64 c. */
static inline void arrays_make(arrays *to, ridge_dtype dtype, int ndim, const int64_t *shape,
                               int64_t length)
{
    const double c = length > 0 ? (double)length : 1;
    uint64_t state = 7;

    memset(to, 0, sizeof(*to));
    to->count = 1;
    for (int i = 0; i < ndim; i++) {
        to->pair.shape[i] = shape[i];
        to->count *= shape[i];
    }
    to->out = calloc((size_t)to->count + 1, sizeof(double));
    to->ref = calloc((size_t)to->count + 1, sizeof(double));
    to->magnitude = calloc((size_t)to->count + 1, sizeof(double));
    to->plain = calloc((size_t)to->count + 1, sizeof(double));
    to->previous = calloc((size_t)to->count + 1, sizeof(double));
    for (int64_t i = 0; i < to->count; i++) {
        to->ref[i] = draw_normal(&state) * sqrt(c);
        to->magnitude[i] = 0.64 * c + fabs(to->ref[i]);
        to->out[i] = ridge_dtype_round(dtype, to->ref[i]);
        to->plain[i] = ridge_dtype_round(dtype, to->ref[i] * (1 + 0x1p-20 * draw(&state)));
        to->previous[i] = ridge_dtype_round(dtype, draw_normal(&state) * sqrt(c));
    }
    to->pair.name = "out";
    to->pair.dtype = dtype;
    to->pair.ndim = ndim;
    to->pair.out = to->out;
    to->pair.ref = to->ref;
    to->pair.magnitude = length > 0 ? to->magnitude : NULL;
    to->pair.accumulate_length = length;
}

static inline void arrays_release(arrays *of)
{
    free(of->out);
    free(of->ref);
    free(of->magnitude);
    free(of->plain);
    free(of->previous);
}

static inline void arrays_compare(arrays *of, ridge_mismatch *out)
{
    ridge_error err;

    if (ridge_compare_arrays(&of->pair, out, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
}

#endif
