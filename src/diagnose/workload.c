/* SPDX-License-Identifier: Apache-2.0
 *
 * The least work of an operation from "OP:SHAPE:DTYPE". The counts are those of ridge bound; here
 * is the short form of its parameters: sizes in a fixed order, "8192x4096", for the operations that
 * have one, and "rows=8192,columns=4096" for all. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ridge/bound.h"
#include "ridge/diagnose.h"

enum { DIMENSIONS = 4 };

/* SHAPE in short; other parameters keep their default, or have the value in `fixed`. */
static const struct short_form {
    const char *name, *shape;
    const char *parameters[DIMENSIONS];
    const char *fixed;
} short_forms[] = {
    {"rms_norm", "ROWSxCOLUMNS", {"rows", "columns"}, NULL},
    {"add_rms_norm", "ROWSxCOLUMNS", {"rows", "columns"}, NULL},
    {"silu_and_mul", "ROWSxCOLUMNS", {"rows", "columns"}, NULL},
    {"rotary", "TOKENSxHEADSxDIMENSIONS", {"tokens", "heads", "head_dim"}, NULL},
    {"softmax", "ROWSxCOLUMNS", {"rows", "columns"}, NULL},
    {"transpose", "ROWSxCOLUMNS", {"rows", "columns"}, NULL},
    {"copy", "ELEMENTS", {"elements"}, NULL},
    {"reduce", "ELEMENTS", {"elements"}, NULL},
    {"gemm", "MxNxK", {"m", "n", "k"}, NULL},
    {"attention",
     "BATCHxTOKENSxHEADSxDIMENSIONS",
     {"batch", "queries", "heads", "head_dim"},
     "causal=0"},
};

static const struct short_form *find_short_form(const char *name)
{
    size_t i;

    for (i = 0; i < sizeof(short_forms) / sizeof(short_forms[0]); i++)
        if (strcmp(short_forms[i].name, name) == 0)
            return &short_forms[i];
    return NULL;
}

static int shown(size_t length)
{
    return (int)(length > 60 ? 60 : length);
}

static ridge_status set(const ridge_operation *operation, const char *text, size_t length,
                        double *values, ridge_error *err)
{
    ridge_sweep sweep;
    const ridge_status status = ridge_sweep_parse(operation, text, length, &sweep, err);

    if (status != RIDGE_OK)
        return status;
    if (sweep.count != 1)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "'%.*s' has several values, expected 1",
                          shown(length), text);
    values[sweep.parameter] = sweep.values[0];
    return RIDGE_OK;
}

/* "rows=8192,columns=4096" */
static ridge_status parse_named(const char *text, size_t length, const ridge_operation *operation,
                                double *values, ridge_error *err)
{
    const char *const end = text + length;
    ridge_status status = RIDGE_OK;

    while (status == RIDGE_OK) {
        const char *const comma = memchr(text, ',', (size_t)(end - text));

        status = set(operation, text, (size_t)((comma != NULL ? comma : end) - text), values, err);
        if (comma == NULL)
            break;
        text = comma + 1;
    }
    return status;
}

/* "8192x4096" */
static ridge_status parse_short(const char *text, size_t length, const ridge_operation *operation,
                                double *values, ridge_error *err)
{
    const struct short_form *const form = find_short_form(operation->name);
    const char *const end = text + length;
    const char *p = text;
    size_t i;

    if (form == NULL)
        return ridge_fail(
            err, RIDGE_ERR_INVALID_ARGUMENT,
            "the shape '%.*s' of %s is not of the form NAME=VALUE,...: ridge bound %s "
            "lists its parameters",
            shown(length), text, operation->name, operation->name);
    for (i = 0; i < DIMENSIONS && form->parameters[i] != NULL; i++) {
        const char *const start = p;
        double size = 0;
        size_t index;

        if (i > 0 && (p == end || (*p++ | 0x20) != 'x'))
            break;
        while (p < end && *p >= '0' && *p <= '9' && size < 1e15)
            size = size * 10 + (*p++ - '0');
        if (p == start + (i > 0) || size < 1 || size >= 1e15 ||
            !ridge_operation_parameter(operation, form->parameters[i], &index))
            break;
        values[index] = size;
    }
    if ((i < DIMENSIONS && form->parameters[i] != NULL) || p != end)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "the shape '%.*s' of %s is not of the form %s, with whole numbers from 1",
                          shown(length), text, operation->name, form->shape);
    if (form->fixed != NULL)
        return set(operation, form->fixed, strlen(form->fixed), values, err);
    return RIDGE_OK;
}

const char *ridge_workload_operation(size_t index)
{
    const ridge_operation *const operation = ridge_operation_at(index);

    return operation != NULL ? operation->name : NULL;
}

static ridge_status unknown_operation(const char *name, size_t length, ridge_error *err)
{
    return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                      "unknown operation '%.*s'; ridge bound lists the %zu there are",
                      (int)(length > 40 ? 40 : length), name, ridge_operation_count());
}

/* The operation and, of "kda_backward/A", the one kernel that is meant. */
static ridge_status find_operation(const char *text, size_t length, const ridge_operation **out,
                                   char *kernel, size_t size, ridge_error *err)
{
    const char *const slash = memchr(text, '/', length);
    const size_t name_length = slash != NULL ? (size_t)(slash - text) : length;
    char name[48] = "";

    if (name_length < sizeof(name)) {
        memcpy(name, text, name_length);
        name[name_length] = '\0';
    }
    snprintf(kernel, size, "%.*s",
             slash != NULL
                 ? (int)(length - name_length - 1 < size ? length - name_length - 1 : size)
                 : 0,
             slash != NULL ? slash + 1 : "");
    *out = ridge_operation_find(name);
    return *out != NULL ? RIDGE_OK : unknown_operation(text, name_length, err);
}

static ridge_status sum_works(const ridge_operation *operation, const double *values,
                              ridge_element element, const char *kernel, double *bytes,
                              double *flop_count, ridge_error *err)
{
    ridge_work works[RIDGE_OPERATION_WORKS];
    size_t count, i, taken = 0;
    const ridge_status status =
        ridge_operation_work(operation, values, element, works, &count, err);

    if (status != RIDGE_OK)
        return status;
    for (i = 0; i < count; i++) {
        if (kernel[0] != '\0' && strcmp(kernel, works[i].name) != 0)
            continue;
        *bytes += works[i].read_bytes + works[i].written_bytes;
        *flop_count += works[i].flop_count;
        taken++;
    }
    if (taken == 0)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "%s has no kernel '%s'; the first is %s",
                          operation->name, kernel, works[0].name);
    return RIDGE_OK;
}

ridge_status ridge_workload_parse(const char *text, double *bytes, double *flop_count,
                                  ridge_error *err)
{
    const char *const shape = strchr(text, ':');
    const char *const dtype = shape != NULL ? strchr(shape + 1, ':') : NULL;
    double values[RIDGE_OPERATION_PARAMETERS];
    const ridge_operation *operation;
    ridge_element element;
    ridge_status status;
    size_t length, i;
    char kernel[48];

    *bytes = *flop_count = 0;
    for (i = 0; i < RIDGE_OPERATION_PARAMETERS; i++)
        values[i] = NAN;
    if (dtype == NULL)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "'%.60s' is not OP:SHAPE:DTYPE, such as rms_norm:8192x4096:bf16", text);
    status = find_operation(text, (size_t)(shape - text), &operation, kernel, sizeof(kernel), err);
    if (status != RIDGE_OK)
        return status;
    length = (size_t)(dtype - shape - 1);
    status = memchr(shape + 1, '=', length) != NULL
                 ? parse_named(shape + 1, length, operation, values, err)
                 : parse_short(shape + 1, length, operation, values, err);
    if (status != RIDGE_OK)
        return status;
    if (!ridge_element_find(dtype + 1, &element))
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "unknown type '%.40s'; there are" RIDGE_ELEMENT_NAMES, dtype + 1);
    return sum_works(operation, values, element, kernel, bytes, flop_count, err);
}
