/* SPDX-License-Identifier: Apache-2.0
 *
 * The least work of an operation: bytes that must move and floating-point operations, from
 * "OP:SHAPE:DTYPE". Every input is read once and every output written once; a multiply-add is
 * two operations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ridge/diagnose.h"

enum { DIMENSIONS = 4 };

struct shape {
    double size[DIMENSIONS];
    double element_bytes;
};

/* R rows of N: x is read and written, the weight read. */
static void rms_norm(const struct shape *s, double *bytes, double *flop_count)
{
    *bytes = 2 * s->size[0] * s->size[1] * s->element_bytes + s->size[1] * s->element_bytes;
    *flop_count = 4 * s->size[0] * s->size[1];
}

/* x and the residual are both read and written. */
static void add_rms_norm(const struct shape *s, double *bytes, double *flop_count)
{
    *bytes = 4 * s->size[0] * s->size[1] * s->element_bytes + s->size[1] * s->element_bytes;
    *flop_count = 5 * s->size[0] * s->size[1];
}

/* R rows of N outputs, from rows of 2 N. */
static void silu_and_mul(const struct shape *s, double *bytes, double *flop_count)
{
    *bytes = 3 * s->size[0] * s->size[1] * s->element_bytes;
    *flop_count = 10 * s->size[0] * s->size[1];
}

/* T tokens, H heads, R rotated dimensions, in place. */
static void rotary(const struct shape *s, double *bytes, double *flop_count)
{
    *bytes = 2 * s->size[0] * s->size[1] * s->size[2] * s->element_bytes;
    *flop_count = 3 * s->size[0] * s->size[1] * s->size[2];
}

static void copy(const struct shape *s, double *bytes, double *flop_count)
{
    *bytes = 2 * s->size[0] * s->element_bytes;
    *flop_count = 0;
}

static void reduce(const struct shape *s, double *bytes, double *flop_count)
{
    *bytes = s->size[0] * s->element_bytes;
    *flop_count = s->size[0];
}

/* R rows of N: read and written once; maximum, difference, exponential, sum, quotient. */
static void softmax(const struct shape *s, double *bytes, double *flop_count)
{
    *bytes = 2 * s->size[0] * s->size[1] * s->element_bytes;
    *flop_count = 5 * s->size[0] * s->size[1];
}

static void transpose(const struct shape *s, double *bytes, double *flop_count)
{
    *bytes = 2 * s->size[0] * s->size[1] * s->element_bytes;
    *flop_count = 0;
}

/* M x N x K */
static void gemm(const struct shape *s, double *bytes, double *flop_count)
{
    *bytes = (s->size[0] * s->size[2] + s->size[2] * s->size[1] + s->size[0] * s->size[1]) *
             s->element_bytes;
    *flop_count = 2 * s->size[0] * s->size[1] * s->size[2];
}

/* B sequences of S tokens, H heads of D, no mask: Q, K, V read and O written. */
static void attention(const struct shape *s, double *bytes, double *flop_count)
{
    *bytes = 4 * s->size[0] * s->size[1] * s->size[2] * s->size[3] * s->element_bytes;
    *flop_count = 4 * s->size[0] * s->size[1] * s->size[1] * s->size[2] * s->size[3];
}

static const struct operation {
    const char *name, *shape;
    size_t dimensions;
    void (*count)(const struct shape *shape, double *bytes, double *flop_count);
} operations[] = {
    {"rms_norm", "ROWSxCOLUMNS", 2, rms_norm},
    {"add_rms_norm", "ROWSxCOLUMNS", 2, add_rms_norm},
    {"silu_and_mul", "ROWSxCOLUMNS", 2, silu_and_mul},
    {"rotary", "TOKENSxHEADSxDIMENSIONS", 3, rotary},
    {"softmax", "ROWSxCOLUMNS", 2, softmax},
    {"transpose", "ROWSxCOLUMNS", 2, transpose},
    {"copy", "ELEMENTS", 1, copy},
    {"reduce", "ELEMENTS", 1, reduce},
    {"gemm", "MxNxK", 3, gemm},
    {"attention", "BATCHxTOKENSxHEADSxDIMENSIONS", 4, attention},
};

static const struct {
    const char *name;
    double bytes;
} dtypes[] = {
    {"f64", 8},  {"fp64", 8}, {"f32", 4},  {"fp32", 4}, {"float", 4}, {"tf32", 4}, {"i32", 4},
    {"bf16", 2}, {"f16", 2},  {"fp16", 2}, {"half", 2}, {"fp8", 1},   {"i8", 1},   {"int8", 1},
};

static bool same_name(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

static ridge_status parse_shape(const char *text, size_t length, const struct operation *operation,
                                struct shape *shape, ridge_error *err)
{
    const char *p = text;
    size_t i;

    for (i = 0; i < operation->dimensions; i++) {
        double size = 0;
        const char *const start = p;

        while (p < text + length && *p >= '0' && *p <= '9' && size < 1e15)
            size = size * 10 + (*p++ - '0');
        if (p == start || size < 1 || size >= 1e15)
            break;
        shape->size[i] = size;
        if (i + 1 < operation->dimensions) {
            if (p == text + length || (*p != 'x' && *p != 'X'))
                break;
            p++;
        }
    }
    if (i < operation->dimensions || p != text + length)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "the shape '%.*s' of %s is not of the form %s, with whole numbers from 1",
                          (int)(length > 60 ? 60 : length), text, operation->name,
                          operation->shape);
    return RIDGE_OK;
}

const char *ridge_workload_operation(size_t index)
{
    return index < sizeof(operations) / sizeof(operations[0]) ? operations[index].name : NULL;
}

ridge_status ridge_workload_parse(const char *text, double *bytes, double *flop_count,
                                  ridge_error *err)
{
    const char *const shape_text = strchr(text, ':');
    const char *const dtype = shape_text != NULL ? strchr(shape_text + 1, ':') : NULL;
    const struct operation *operation = NULL;
    struct shape shape = {{0}, 0};
    ridge_status status;
    size_t i;

    *bytes = *flop_count = 0;
    if (dtype == NULL)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "'%.60s' is not OP:SHAPE:DTYPE, such as rms_norm:8192x4096:bf16", text);
    for (i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
        if (same_name(operations[i].name, text, (size_t)(shape_text - text)))
            operation = &operations[i];
    if (operation == NULL)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "unknown operation '%.*s'; there are rms_norm, add_rms_norm, "
                          "silu_and_mul, rotary, softmax, transpose, copy, reduce, gemm, attention",
                          (int)(shape_text - text > 40 ? 40 : shape_text - text), text);
    status = parse_shape(shape_text + 1, (size_t)(dtype - shape_text - 1), operation, &shape, err);
    if (status != RIDGE_OK)
        return status;
    for (i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++)
        if (strcmp(dtypes[i].name, dtype + 1) == 0)
            shape.element_bytes = dtypes[i].bytes;
    if (shape.element_bytes == 0)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "unknown type '%.40s'; there are f64, f32, tf32, bf16, f16, fp8, i32, i8",
                          dtype + 1);
    operation->count(&shape, bytes, flop_count);
    return RIDGE_OK;
}
