/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the bound. A family of operations is a table: of each operation the parameters, a check of
 * what one parameter alone cannot say, and the count of its work. The public list is the families
 * one after the other. */
#ifndef RIDGE_BOUND_INTERNAL_H
#define RIDGE_BOUND_INTERNAL_H

#include "ridge/bound.h"

#define BOUND_LARGEST_SIZE 1e15 /* of a parameter: products of four stay exact enough and finite */

/* One call: values are complete and checked, works are zero. */
struct bound_call {
    const double *values;
    ridge_element element;
    double size; /* bytes of an element */
    ridge_work *works;
    size_t work_count;
};

typedef ridge_status bound_check(const double *values, ridge_element element, ridge_error *err);
typedef void bound_count(struct bound_call *call);

struct bound_operation {
    ridge_operation operation;
    bound_check *check; /* NULL: none */
    bound_count *count;
};

struct bound_family {
    const struct bound_operation *operations;
    size_t count;
};

extern const struct bound_family bound_rows, bound_matrix, bound_kda, bound_transformer;

/* "rows of x" and the like: a size that must be given, one with a default, a switch. */
#define BOUND_SIZE(name, help)                                                                     \
    {                                                                                              \
        name, help, NAN, 1, BOUND_LARGEST_SIZE                                                     \
    }
#define BOUND_OPTIONAL(name, help, value)                                                          \
    {                                                                                              \
        name, help, value, 0, BOUND_LARGEST_SIZE                                                   \
    }
#define BOUND_SWITCH(name, help, value)                                                            \
    {                                                                                              \
        name, help, value, 0, 1                                                                    \
    }
#define BOUND_PARAMETERS(list) list, sizeof(list) / sizeof((list)[0])

/* The next kernel of a call. */
ridge_work *bound_add(struct bound_call *call, const char *name);
/* Elementwise work in float (double for f64): the FP32 unit, whatever the elements are. */
ridge_peak bound_scalar_peak(ridge_element element);
/* Refuses types whose matrices no unit multiplies: bytes would be right, the roof a guess. */
ridge_status bound_check_product(ridge_element element, ridge_error *err);
/* A value, or what stands for its default of 0. */
double bound_or(double value, double otherwise);
/* Experts that at least one token takes, in expectation, when each takes top_k of them at random. */
double bound_touched_experts(double tokens, double experts, double top_k);

#endif
