/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of operations and what is common to them: parameters are found, completed and checked
 * here, before a family counts. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bound/bound_internal.h"

static const struct bound_family *const families[] = {&bound_matrix, &bound_rows, &bound_kda,
                                                      &bound_transformer};

static const struct bound_operation *row_at(size_t index)
{
    size_t i;

    for (i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        if (index < families[i]->count)
            return &families[i]->operations[index];
        index -= families[i]->count;
    }
    return NULL;
}

size_t ridge_operation_count(void)
{
    size_t count = 0;

    while (row_at(count) != NULL)
        count++;
    return count;
}

const ridge_operation *ridge_operation_at(size_t index)
{
    const struct bound_operation *const row = row_at(index);

    return row != NULL ? &row->operation : NULL;
}

static const struct bound_operation *find_row(const char *name)
{
    const struct bound_operation *row;
    size_t i;

    for (i = 0; (row = row_at(i)) != NULL; i++)
        if (strcmp(row->operation.name, name) == 0)
            return row;
    return NULL;
}

const ridge_operation *ridge_operation_find(const char *name)
{
    const struct bound_operation *const row = find_row(name);

    return row != NULL ? &row->operation : NULL;
}

bool ridge_operation_parameter(const ridge_operation *operation, const char *name, size_t *index)
{
    size_t i;

    for (i = 0; i < operation->parameter_count; i++) {
        if (strcmp(operation->parameters[i].name, name) == 0) {
            *index = i;
            return true;
        }
    }
    return false;
}

/* -- what families use ------------------------------------------------------------------------- */

ridge_work *bound_add(struct bound_call *call, const char *name)
{
    ridge_work *const work = &call->works[call->work_count++];

    snprintf(work->name, sizeof(work->name), "%s", name);
    return work;
}

ridge_peak bound_scalar_peak(ridge_element element)
{
    return element == RIDGE_ELEMENT_F64 ? RIDGE_PEAK_FP64 : RIDGE_PEAK_FP32;
}

double bound_or(double value, double otherwise)
{
    return value != 0 ? value : otherwise;
}

ridge_status bound_check_product(ridge_element element, ridge_error *err)
{
    if (element == RIDGE_ELEMENT_INT4)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "dtype=int4 is a type of storage: weights of 4 bits are int4_gemm");
    if (element == RIDGE_ELEMENT_INT32)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "dtype=int32: no unit multiplies matrices of it");
    return RIDGE_OK;
}

/* -- work -------------------------------------------------------------------------------------- */

/* "m: rows of a and d, n: columns of b": what must be given. */
static void list_needed(const ridge_operation *operation, char *text, size_t size)
{
    size_t used = 0;
    size_t i;

    text[0] = '\0';
    for (i = 0; i < operation->parameter_count; i++)
        if (isnan(operation->parameters[i].default_value) && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s: %s", used > 0 ? ", " : "",
                                     operation->parameters[i].name, operation->parameters[i].help);
}

static ridge_status complete(const ridge_operation *operation, const double *given, double *values,
                             ridge_error *err)
{
    char needed[300];
    size_t i;

    for (i = 0; i < operation->parameter_count; i++) {
        const ridge_parameter *const parameter = &operation->parameters[i];

        values[i] = isnan(given[i]) ? parameter->default_value : given[i];
        if (isnan(values[i])) {
            list_needed(operation, needed, sizeof(needed));
            return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "%s needs %s (it takes %s)",
                              operation->name, parameter->name, needed);
        }
        if (!(values[i] >= parameter->least && values[i] <= parameter->most))
            return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                              "%s=%.15g, expected %.15g to %.15g: %s", parameter->name, values[i],
                              parameter->least, parameter->most, parameter->help);
        if (values[i] != floor(values[i]))
            return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "%s=%.15g is no whole number: %s",
                              parameter->name, values[i], parameter->help);
    }
    return RIDGE_OK;
}

ridge_status ridge_operation_work(const ridge_operation *operation,
                                  const double values[RIDGE_OPERATION_PARAMETERS],
                                  ridge_element element, ridge_work works[RIDGE_OPERATION_WORKS],
                                  size_t *work_count, ridge_error *err)
{
    const struct bound_operation *const row = find_row(operation->name);
    double complete_values[RIDGE_OPERATION_PARAMETERS];
    struct bound_call call = {complete_values, element, ridge_element_bytes(element), works, 0};
    ridge_status status;

    *work_count = 0;
    memset(works, 0, RIDGE_OPERATION_WORKS * sizeof(*works));
    if (row == NULL)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "unknown operation '%s'",
                          operation->name);
    status = complete(operation, values, complete_values, err);
    if (status == RIDGE_OK && row->check != NULL)
        status = row->check(complete_values, element, err);
    if (status != RIDGE_OK)
        return status;
    row->count(&call);
    *work_count = call.work_count;
    return RIDGE_OK;
}
