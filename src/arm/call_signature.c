/* SPDX-License-Identifier: Apache-2.0
 *
 * How a plain function of a shared library is called, as text:
 *
 *     call  := NAME '(' [param {',' param}] ')' ['->' ('void' | 'i32')]
 *              ['with' AXIS '=' NUMBER {',' AXIS '=' NUMBER}]
 *     param := 'stream'                                   cudaStream_t
 *            | 'ptr' ':' 'null'
 *            | 'ptr' ':' BUFFER                           one of the family's, or named before
 *            | 'ptr' ':' BUFFER ':' ROLE ':' DTYPE '[' [expr {',' expr}] ']' ['=' VALUES]
 *            | DTYPE ':' NAME ['=' value]                 a scalar
 *     ROLE  := 'in' | 'out' | 'inout' | 'workspace'
 *
 * as in
 *
 *     mine(ptr:out:out:bf16[m,n], ptr:x:in:bf16[m,n], ptr:w:in:bf16[n], f32:eps=1e-6, i32:rows=m,
 *          i32:n, stream) -> i32 with m=4096, n=5120
 *
 * The value of a whole number is an expression of manifest_expression.c, by default its own name;
 * that of a floating-point number a decimal. Names in expressions are the axes of a case. "-> i32"
 * is a function that returns 0 when all is well; without it nothing is expected. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arm/arm_internal.h"

enum { MOST_TEXT = 4096 };

typedef struct reader {
    const char *text;
    size_t at;
    ridge_arena *arena;
    arm_call *call;
    ridge_error *err;
} reader;

static ridge_status fail_at(const reader *in, size_t at, const char *expected)
{
    char found[16] = "the end";

    if (in->text[at] != '\0')
        snprintf(found, sizeof(found), "'%c'", in->text[at]);
    return ridge_fail(in->err, RIDGE_ERR_INVALID_ARGUMENT,
                      "--call, column %zu: expected %s, found %s", at + 1, expected, found);
}

static ridge_status fail_word(const reader *in, size_t at, const char *expected, const char *word)
{
    return ridge_fail(in->err, RIDGE_ERR_INVALID_ARGUMENT,
                      "--call, column %zu: expected %s, found '%.60s'", at + 1, expected, word);
}

static char peek(reader *in)
{
    in->at += strspn(in->text + in->at, " \t\n");
    return in->text[in->at];
}

static bool take(reader *in, char c)
{
    if (peek(in) != c)
        return false;
    in->at++;
    return true;
}

/* A name without dots; *at is where it stands. NULL: none, or out of memory (then *status). */
static ridge_status read_name(reader *in, const char *expected, const char **out, size_t *at)
{
    size_t length;

    (void)peek(in);
    *at = in->at;
    length = arm_name_length(in->text + in->at);
    if (length == 0 || memchr(in->text + in->at, '.', length) != NULL)
        return fail_at(in, in->at, expected);
    *out = ridge_alloc_text(in->arena, in->text + in->at, length);
    in->at += length;
    return *out != NULL ? RIDGE_OK : arm_out_of_memory(in->err);
}

static const char *column_text(const reader *in, size_t at)
{
    char text[48];

    snprintf(text, sizeof(text), "--call, column %zu", at + 1);
    return ridge_alloc_text(in->arena, text, strlen(text));
}

/* -- expressions ------------------------------------------------------------------------------- */

/* Each name that an expression speaks of is an axis, but functions and NAME.stride0. */
static ridge_status add_axes(reader *in, const arm_expression *expression)
{
    static const char *const known[] = {"ceil_div", "round_up", "min", "max", "log2"};
    const int64_t unset = -1;
    const char *at = expression->text;
    ridge_status status = RIDGE_OK;

    while (at != NULL && *at != '\0' && status == RIDGE_OK) {
        const size_t length = arm_name_length(at);
        bool is_axis = length > 0 && memchr(at, '.', length) == NULL;

        for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
            is_axis =
                is_axis && !(strlen(known[i]) == length && strncmp(known[i], at, length) == 0);
        if (is_axis && arm_find_axis(&in->call->signature, at, length) < 0) {
            const char *const name = ridge_alloc_text(in->arena, at, length);

            status = name == NULL ? arm_out_of_memory(in->err)
                                  : arm_add_axis(&in->call->signature, in->arena, name,
                                                 expression->path, &unset, 1, in->err);
        }
        at += length > 0 ? length : 1;
    }
    return status;
}

/* The text up to a comma or a closing bracket outside of parentheses. */
static ridge_status read_expression(reader *in, arm_expression *out)
{
    size_t depth = 0, begin, end;

    (void)peek(in);
    begin = in->at;
    for (end = begin; in->text[end] != '\0'; end++) {
        const char c = in->text[end];

        if (depth == 0 && (c == ',' || c == ')' || c == ']'))
            break;
        depth += c == '(';
        depth -= c == ')';
    }
    if (end == begin)
        return fail_at(in, begin, "an expression");
    out->path = column_text(in, begin);
    out->text = ridge_alloc_text(in->arena, in->text + begin, end - begin);
    in->at = end;
    if (out->path == NULL || out->text == NULL)
        return arm_out_of_memory(in->err);
    return add_axes(in, out);
}

/* -- parameters -------------------------------------------------------------------------------- */

static ridge_status read_role(reader *in, ridge_role *out)
{
    static const char *const names[] = {"in", "out", "inout", "workspace"};
    static const char expected[] = "in, out, inout or workspace";
    const char *name = NULL;
    size_t at;
    ridge_status status = read_name(in, expected, &name, &at);

    if (status != RIDGE_OK)
        return status;
    for (size_t i = 0; i < 4; i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (ridge_role)i;
            return RIDGE_OK;
        }
    return fail_word(in, at, expected, name);
}

static ridge_status read_dtype(reader *in, ridge_dtype *out)
{
    const char *name = NULL;
    size_t at;
    ridge_status status = read_name(in, "one of" RIDGE_DTYPE_NAMES, &name, &at);

    if (status == RIDGE_OK && !ridge_dtype_find(name, out))
        return fail_word(in, at, "one of" RIDGE_DTYPE_NAMES, name);
    return status;
}

/* ":ROLE:DTYPE[shape]=VALUES" behind the name of a new buffer. */
static ridge_status read_description(reader *in, arm_buffer *buffer)
{
    const char *values = NULL;
    size_t at;
    ridge_status status = read_role(in, &buffer->role);

    if (status == RIDGE_OK && !take(in, ':'))
        return fail_at(in, in->at, "':' and a type");
    if (status == RIDGE_OK)
        status = read_dtype(in, &buffer->dtype);
    if (status == RIDGE_OK && !take(in, '['))
        return fail_at(in, in->at, "'[' and the extents, such as [m,n]");
    while (status == RIDGE_OK && peek(in) != ']') {
        if (buffer->ndim == RIDGE_BUFFER_DIMS)
            return fail_at(in, in->at, "']', a buffer has at most 5 extents");
        status = read_expression(in, &buffer->shape[buffer->ndim]);
        if (status != RIDGE_OK)
            return status;
        buffer->ndim++;
        if (!take(in, ',') && peek(in) != ']')
            return fail_at(in, in->at, "',' or ']'");
    }
    if (status != RIDGE_OK || !take(in, ']') || !take(in, '='))
        return status;
    status = read_name(in, "the name of values, such as normal or sorted", &values, &at);
    buffer->has_values = true;
    if (status == RIDGE_OK && !ridge_values_find(values, &buffer->values))
        return fail_word(in, at,
                         "normal, int, unit, index, onehot, odd12, positive, outlier, subnormal, "
                         "nonfinite, constant, sorted, zero or one",
                         values);
    return status;
}

/* For an example in a message only. */
static bool looks_written(const char *name)
{
    return strncmp(name, "out", 3) == 0 || strncmp(name, "dst", 3) == 0 || strcmp(name, "y") == 0;
}

static ridge_status read_pointer(reader *in, size_t from)
{
    arm_signature *const signature = &in->call->signature;
    const char *const path = column_text(in, from);
    const char *name = "";
    arm_parameter *parameter;
    arm_buffer *buffer;
    arm_piece *piece;
    size_t at = 0;
    ridge_status status = read_name(in, "the name of a buffer, or null", &name, &at);

    if (status != RIDGE_OK)
        return status;
    if (path == NULL)
        return arm_out_of_memory(in->err);
    parameter = arm_add_parameter(signature, name, path, in->err);
    piece = parameter != NULL ? arm_add_piece(signature, path, in->err) : NULL;
    if (piece == NULL)
        return RIDGE_ERR_INVALID_ARGUMENT;
    piece->kind = ARM_PIECE_POINTER;
    piece->size_bytes = parameter->size_bytes = ARM_POINTER_BYTES;
    if (strcmp(name, "null") == 0)
        return RIDGE_OK;
    piece->buffer = arm_find_buffer(signature, name, strlen(name));
    if (piece->buffer >= 0 && peek(in) != ':')
        return RIDGE_OK;
    buffer = arm_add_buffer(signature, name, path, in->err);
    if (buffer == NULL)
        return RIDGE_ERR_INVALID_ARGUMENT;
    piece->buffer = (int)signature->buffer_count - 1;
    if (take(in, ':'))
        return read_description(in, buffer);
    buffer->is_of_family = true;
    if (in->call->family != NULL)
        return RIDGE_OK;
    return ridge_fail(in->err, RIDGE_ERR_INVALID_ARGUMENT,
                      "--call, column %zu: nothing says what '%.40s' is, expected "
                      "ptr:%.40s:%s:bf16[m,n], or a family that has it by --family",
                      at + 1, name, name, looks_written(name) ? "out" : "in");
}

static ridge_status read_decimal(reader *in, double *out)
{
    char *end;

    (void)peek(in);
    *out = strtod(in->text + in->at, &end);
    if (end == in->text + in->at)
        return fail_at(in, in->at, "a decimal number such as 1e-6");
    in->at = (size_t)(end - in->text);
    return RIDGE_OK;
}

static ridge_status read_scalar(reader *in, ridge_dtype dtype, size_t from)
{
    arm_signature *const signature = &in->call->signature;
    const char *const path = column_text(in, from);
    const char *name = NULL;
    arm_parameter *parameter;
    arm_piece *piece;
    size_t at;
    ridge_status status = read_name(in, "a name", &name, &at);

    if (status != RIDGE_OK)
        return status;
    if (path == NULL)
        return arm_out_of_memory(in->err);
    parameter = arm_add_parameter(signature, name, path, in->err);
    piece = parameter != NULL ? arm_add_piece(signature, path, in->err) : NULL;
    if (piece == NULL)
        return RIDGE_ERR_INVALID_ARGUMENT;
    piece->kind = ARM_PIECE_SCALAR;
    piece->dtype = dtype;
    piece->size_bytes = parameter->size_bytes = (uint32_t)ridge_dtype_bytes(dtype);
    if (take(in, '='))
        return ridge_dtype_is_float(dtype) ? read_decimal(in, &piece->number)
                                           : read_expression(in, &piece->value);
    if (ridge_dtype_is_float(dtype))
        return fail_at(in, in->at, "'=' and the value");
    piece->value = (arm_expression){name, path};
    return add_axes(in, &piece->value);
}

static ridge_status read_stream(reader *in, size_t from)
{
    arm_call *const call = in->call;
    const char *const path = column_text(in, from);
    arm_parameter *parameter;

    if (path == NULL)
        return arm_out_of_memory(in->err);
    if (call->stream_at >= 0)
        return ridge_fail(in->err, RIDGE_ERR_INVALID_ARGUMENT, "%s: a second stream", path);
    parameter = arm_add_parameter(&call->signature, "stream", path, in->err);
    if (parameter == NULL)
        return RIDGE_ERR_INVALID_ARGUMENT;
    parameter->size_bytes = ARM_POINTER_BYTES;
    call->stream_at = (int)call->signature.parameter_count - 1;
    return RIDGE_OK;
}

static ridge_status read_parameter(reader *in)
{
    static const char expected[] = "stream, ptr:NAME, or a scalar such as i32:NAME";
    const char *word = "";
    ridge_dtype dtype = RIDGE_DTYPE_F32;
    size_t at = 0;
    ridge_status status = read_name(in, expected, &word, &at);

    if (status != RIDGE_OK)
        return status;
    if (strcmp(word, "stream") == 0)
        return read_stream(in, at);
    if (strcmp(word, "ptr") != 0 && !ridge_dtype_find(word, &dtype))
        return fail_word(in, at, expected, word);
    if (!take(in, ':'))
        return fail_at(in, in->at, "':' and a name");
    return strcmp(word, "ptr") == 0 ? read_pointer(in, at) : read_scalar(in, dtype, at);
}

/* -- the whole --------------------------------------------------------------------------------- */

static ridge_status read_parameters(reader *in)
{
    ridge_status status = RIDGE_OK;

    if (!take(in, '('))
        return fail_at(in, in->at, "'('");
    if (take(in, ')'))
        return RIDGE_OK;
    while (status == RIDGE_OK) {
        status = read_parameter(in);
        if (status == RIDGE_OK && take(in, ')'))
            return RIDGE_OK;
        if (status == RIDGE_OK && !take(in, ','))
            return fail_at(in, in->at, "',' or ')'");
    }
    return status;
}

static ridge_status read_return(reader *in)
{
    const char *name = NULL;
    size_t at;
    ridge_status status;

    if (peek(in) != '-')
        return RIDGE_OK;
    if (in->text[in->at + 1] != '>')
        return fail_at(in, in->at, "'->'");
    in->at += 2;
    status = read_name(in, "void or i32", &name, &at);
    if (status == RIDGE_OK && strcmp(name, "i32") == 0)
        in->call->returns = ARM_RETURN_I32;
    else if (status == RIDGE_OK && strcmp(name, "void") != 0)
        return fail_word(in, at, "void or i32", name);
    return status;
}

static ridge_status read_axis_value(reader *in)
{
    const char *name = NULL;
    size_t at, digits;
    int axis;
    ridge_status status = read_name(in, "an axis", &name, &at);

    if (status != RIDGE_OK)
        return status;
    axis = arm_find_axis(&in->call->signature, name, strlen(name));
    if (axis < 0)
        return fail_word(in, at, "an axis that a parameter speaks of", name);
    if (!take(in, '='))
        return fail_at(in, in->at, "'=' and a whole number");
    (void)peek(in);
    digits = strspn(in->text + in->at, "0123456789");
    if (digits == 0 || digits > 18)
        return fail_at(in, in->at, "a whole number");
    in->call->signature.axes[axis].values[0] = strtoll(in->text + in->at, NULL, 10);
    in->at += digits;
    return RIDGE_OK;
}

static ridge_status read_with(reader *in)
{
    const char *word = NULL;
    size_t at;
    ridge_status status;

    if (peek(in) == '\0')
        return RIDGE_OK;
    status = read_name(in, "'->', with or the end", &word, &at);
    if (status == RIDGE_OK && strcmp(word, "with") != 0)
        return fail_word(in, at, "'->', with or the end", word);
    while (status == RIDGE_OK) {
        status = read_axis_value(in);
        if (status == RIDGE_OK && peek(in) == '\0')
            return RIDGE_OK;
        if (status == RIDGE_OK && !take(in, ','))
            return fail_at(in, in->at, "',' or the end");
    }
    return status;
}

/* The axes of the family, with their values; before the parameters, so that they stand first. */
static ridge_status add_family_axes(reader *in)
{
    const ridge_case *const base =
        in->call->family != NULL ? &in->call->family->default_case : NULL;
    ridge_status status = RIDGE_OK;

    for (size_t i = 0; base != NULL && i < base->axis_count && status == RIDGE_OK; i++) {
        const char *const name =
            ridge_alloc_text(in->arena, base->axes[i].name, strlen(base->axes[i].name));

        status = name == NULL ? arm_out_of_memory(in->err)
                              : arm_add_axis(&in->call->signature, in->arena, name, "--family",
                                             &base->axes[i].value, 1, in->err);
    }
    return status;
}

ridge_status arm_call_read(const char *text, const ridge_family *family, ridge_arena *arena,
                           arm_call *out, ridge_error *err)
{
    reader in = {.text = text, .arena = arena, .call = out, .err = err};
    size_t at;
    ridge_status status;

    memset(out, 0, sizeof(*out));
    out->stream_at = -1;
    out->family = family;
    if (strlen(text) > MOST_TEXT)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "--call has %zu characters, expected at most %d", strlen(text),
                          MOST_TEXT);
    status = add_family_axes(&in);
    if (status == RIDGE_OK)
        status = read_name(&in, "the name of a function", &out->function, &at);
    if (status == RIDGE_OK)
        status = read_parameters(&in);
    if (status == RIDGE_OK)
        status = read_return(&in);
    if (status == RIDGE_OK)
        status = read_with(&in);
    if (status == RIDGE_OK)
        status = arm_call_check(out, err);
    if (status != RIDGE_OK)
        return status == RIDGE_ERR_FORMAT ? RIDGE_ERR_INVALID_ARGUMENT : status;
    if (family != NULL)
        out->signature.dtype = family->default_case.dtype;
    arm_signature_finish(&out->signature, family != NULL);
    return RIDGE_OK;
}
