/* SPDX-License-Identifier: Apache-2.0
 *
 * Parameters as people type them: "m=8192", "m=1,16,64", "m=1:8192:x2", "n=1024:4096:+1024". */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bound/bound_internal.h"

/* What is shown of a text that is refused. */
enum { SHOWN_CHARACTERS = 60 };

static int shown(size_t length)
{
    return (int)(length < SHOWN_CHARACTERS ? length : SHOWN_CHARACTERS);
}

/* A whole number with an optional k, M, G (1000) or Ki, Mi, Gi (1024). Moves *at behind it; NAN and
 * *at unmoved when there is none. */
static double take_number(const char **at, const char *end)
{
    static const char letters[] = "kMG";
    const char *p = *at;
    double value = 0;
    int power = 0;

    /* Beyond the largest size every digit makes it only larger. */
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        value = fmin(value * 10 + (*p - '0'), 1e18);
    if (p == *at)
        return NAN;
    while (p < end && power < 3 && (*p != letters[power] && !(power == 0 && *p == 'K')))
        power++;
    if (p == end || power == 3) {
        *at = p;
        return value;
    }
    p++;
    if (p < end && *p == 'i') {
        p++;
        value *= pow(1024, power + 1);
    } else {
        value *= pow(1000, power + 1);
    }
    *at = p;
    return value;
}

static ridge_status add(ridge_sweep *sweep, double value, const char *name, ridge_error *err)
{
    if (sweep->count == RIDGE_SWEEP_VALUES)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "%s has more than %d values, the most of one command", name,
                          RIDGE_SWEEP_VALUES);
    sweep->values[sweep->count++] = value;
    return RIDGE_OK;
}

static ridge_status malformed(const char *name, const char *text, size_t length, ridge_error *err)
{
    return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                      "%s=%.*s is no whole number, list 1,16,64 or range 1:8192:x2, 1:64:+8", name,
                      shown(length), text);
}

/* "1:8192:x2" from behind its first number, which is from. */
static ridge_status take_range(ridge_sweep *sweep, double from, const char **at, const char *end,
                               const char *name, ridge_error *err)
{
    ridge_status status = RIDGE_OK;
    double to, step, value;
    bool is_factor;

    (*at)++;
    to = take_number(at, end);
    if (isnan(to) || end - *at < 2 || **at != ':' || ((*at)[1] != 'x' && (*at)[1] != '+'))
        return RIDGE_ERR_FORMAT;
    is_factor = (*at)[1] == 'x';
    *at += 2;
    step = take_number(at, end);
    if (isnan(step))
        return RIDGE_ERR_FORMAT;
    if (step < (is_factor ? 2 : 1) || (is_factor && from == 0) || to < from)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "the range of %s does not grow from its first to its last value", name);
    value = from;
    while (value <= to && status == RIDGE_OK) {
        status = add(sweep, value, name, err);
        value = is_factor ? value * step : value + step;
    }
    return status;
}

/* Names may be typed in either case: "M=8192". */
static bool is_name(const char *name, const char *text, size_t length)
{
    size_t i;

    if (strlen(name) != length)
        return false;
    for (i = 0; i < length; i++) {
        const char lower = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] - 'A' + 'a') : text[i];

        if (text[i] != name[i] && lower != name[i])
            return false;
    }
    return true;
}

static ridge_status no_parameter(const ridge_operation *operation, const char *text, size_t length,
                                 ridge_error *err)
{
    char names[300] = "";
    size_t used = 0, i;

    for (i = 0; i < operation->parameter_count && used < sizeof(names); i++)
        used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i > 0 ? ", " : "",
                                 operation->parameters[i].name);
    return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "%s has no parameter '%.*s', it takes %s",
                      operation->name, shown(length), text, names);
}

ridge_status ridge_sweep_parse(const ridge_operation *operation, const char *text, size_t length,
                               ridge_sweep *out, ridge_error *err)
{
    const char *const end = text + length;
    const char *const equals = memchr(text, '=', length);
    const char *at = equals != NULL ? equals + 1 : end;
    const char *name = NULL;
    ridge_status status = RIDGE_OK;
    size_t i;

    memset(out, 0, sizeof(*out));
    if (equals == NULL)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "'%.*s' is not NAME=VALUE",
                          shown(length), text);
    for (i = 0; i < operation->parameter_count && name == NULL; i++) {
        const char *const candidate = operation->parameters[i].name;

        if (is_name(candidate, text, (size_t)(equals - text))) {
            name = candidate;
            out->parameter = i;
        }
    }
    if (name == NULL)
        return no_parameter(operation, text, (size_t)(equals - text), err);
    for (;;) {
        const double value = take_number(&at, end);

        if (isnan(value))
            status = RIDGE_ERR_FORMAT;
        else if (at < end && *at == ':')
            status = take_range(out, value, &at, end, name, err);
        else
            status = add(out, value, name, err);
        if (status == RIDGE_OK && at < end && *at != ',')
            status = RIDGE_ERR_FORMAT;
        if (status != RIDGE_OK || at == end)
            break;
        at++;
    }
    if (status == RIDGE_OK)
        return RIDGE_OK;
    memset(out, 0, sizeof(*out));
    if (status == RIDGE_ERR_FORMAT)
        return malformed(name, equals + 1, (size_t)(end - equals - 1), err);
    return status;
}
