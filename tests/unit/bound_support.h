/* SPDX-License-Identifier: Apache-2.0
 *
 * What tests of the bound share: an operation called by text. */
#ifndef RIDGE_TESTS_BOUND_SUPPORT_H
#define RIDGE_TESTS_BOUND_SUPPORT_H

#include <math.h>

#include "cases.h"
#include "ridge/bound.h"

/* "gemm m=1 n=2 k=3 bf16": the operation, its parameters, the type. */
static inline ridge_status work_of(const char *text, ridge_work works[RIDGE_OPERATION_WORKS],
                                   size_t *count, ridge_error *err)
{
    double values[RIDGE_OPERATION_PARAMETERS];
    const ridge_operation *operation = NULL;
    ridge_element element = RIDGE_ELEMENT_COUNT;
    char copy[240];
    char *word, *rest = copy;
    size_t i;

    for (i = 0; i < RIDGE_OPERATION_PARAMETERS; i++)
        values[i] = NAN;
    snprintf(copy, sizeof(copy), "%s", text);
    while ((word = strtok_r(rest, " ", &rest)) != NULL) {
        ridge_sweep sweep;
        ridge_status status;

        if (operation == NULL) {
            operation = ridge_operation_find(word);
            assert_non_null(operation);
            continue;
        }
        if (ridge_element_find(word, &element))
            continue;
        status = ridge_sweep_parse(operation, word, strlen(word), &sweep, err);
        if (status != RIDGE_OK)
            return status;
        values[sweep.parameter] = sweep.values[0];
    }
    return ridge_operation_work(operation, values, element, works, count, err);
}

static inline void assert_near(double found, double expected, double relative)
{
    if (!(fabs(found - expected) <= relative * fabs(expected)))
        fail_msg("%.9g, expected %.9g", found, expected);
}

#endif
