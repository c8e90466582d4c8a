/* SPDX-License-Identifier: Apache-2.0
 *
 * Sweeps over cases: a list of axes, each with its values, becomes every combination as a text that
 * ridge_case_parse() reads. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "ridge/session.h"

enum {
    AXES = RIDGE_CASE_AXES + 5, /* and dtype, layout, values, inplace, seed */
    NAME_CHARACTERS = 24,
    VALUE_CHARACTERS = 24,
    SHOWN_CHARACTERS = 60,
};

/* The values of an axis are the words first ... first + count - 1 of the sweep. */
typedef struct sweep_axis {
    char name[NAME_CHARACTERS];
    size_t first, count;
} sweep_axis;

typedef struct axis_list {
    sweep_axis axes[AXES];
    size_t axis_count;
    char (*values)[VALUE_CHARACTERS];
    size_t value_count, value_room;
} axis_list;

static ridge_status add_value(axis_list *sweep, const char *text, size_t length, ridge_error *err)
{
    sweep_axis *const axis = &sweep->axes[sweep->axis_count - 1];

    if (length == 0 || length >= VALUE_CHARACTERS)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "%s=%.*s: expected a value, or less of one", axis->name,
                          (int)(length < SHOWN_CHARACTERS ? length : SHOWN_CHARACTERS), text);
    if (axis->count == RIDGE_SWEEP_CASES)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "%s has more than %d values", axis->name,
                          RIDGE_SWEEP_CASES);
    if (sweep->value_count == sweep->value_room) {
        const size_t room = 2 * sweep->value_room + 16;
        void *const grown = ridge_realloc_array(sweep->values, room, sizeof(sweep->values[0]));

        if (grown == NULL)
            return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for a sweep");
        sweep->values = grown;
        sweep->value_room = room;
    }
    memcpy(sweep->values[sweep->value_count], text, length);
    sweep->values[sweep->value_count][length] = '\0';
    sweep->value_count++;
    axis->count++;
    return RIDGE_OK;
}

static ridge_status add_number(axis_list *sweep, int64_t value, ridge_error *err)
{
    char text[VALUE_CHARACTERS];

    snprintf(text, sizeof(text), "%" PRId64, value);
    return add_value(sweep, text, strlen(text), err);
}

/* A whole number with an optional k, M, G or Ki, Mi, Gi, up to 10^15. Moves *at behind it; false
 * when there is none. */
static bool take_number(const char **at, const char *end, int64_t *out)
{
    static const char letters[] = "kMG";
    const int64_t most = INT64_C(1000000000000000);
    const char *p = *at;
    int power = 0, i;

    *out = 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        *out = *out * 10 + (*p - '0');
        if (*out > most)
            return false;
    }
    if (p == *at)
        return false;
    if (p < end) {
        while (power < 3 && (*p != letters[power] && !(power == 0 && *p == 'K')))
            power++;
        if (power < 3) {
            const bool is_binary = p + 1 < end && p[1] == 'i';

            p += is_binary ? 2 : 1;
            for (i = 0; i <= power; i++) {
                *out *= is_binary ? 1024 : 1000;
                if (*out > most)
                    return false;
            }
        }
    }
    *at = p;
    return true;
}

/* FROM:TO:xFACTOR or FROM:TO:+STEP. */
static ridge_status add_range(axis_list *sweep, const char *text, size_t length, ridge_error *err)
{
    const char *const name = sweep->axes[sweep->axis_count - 1].name;
    const char *const end = text + length;
    const int shown = (int)(length < SHOWN_CHARACTERS ? length : SHOWN_CHARACTERS);
    const char *at = text;
    ridge_status status = RIDGE_OK;
    int64_t from, to, step, value;
    bool is_factor = false;
    bool is_good = take_number(&at, end, &from) && at < end && *at++ == ':' &&
                   take_number(&at, end, &to) && end - at >= 3 && *at++ == ':';

    if (is_good) {
        is_factor = *at == 'x';
        is_good = (is_factor || *at == '+') && (at++, take_number(&at, end, &step)) && at == end;
    }
    if (!is_good)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "%s=%.*s is no range such as 1:8192:x2 or 1:64:+8", name, shown, text);
    if (step < (is_factor ? 2 : 1) || (is_factor && from == 0) || to < from)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "the range %s=%.*s does not grow from its first to its last value", name,
                          shown, text);
    for (value = from; value <= to && status == RIDGE_OK;
         value = is_factor ? (value > to / step ? to + 1 : value * step) : value + step)
        status = add_number(sweep, value, err);
    return status;
}

static ridge_status add_values(axis_list *sweep, const char *text, size_t length, ridge_error *err)
{
    const char *at = text;
    int64_t value;

    if (memchr(text, ':', length) != NULL)
        return add_range(sweep, text, length, err);
    if (take_number(&at, text + length, &value) && at == text + length)
        return add_number(sweep, value, err);
    return add_value(sweep, text, length, err);
}

static ridge_status add_axis(axis_list *sweep, const char *text, size_t length, ridge_error *err)
{
    const int shown = (int)(length < SHOWN_CHARACTERS ? length : SHOWN_CHARACTERS);
    sweep_axis *axis = &sweep->axes[sweep->axis_count];
    size_t i;

    if (length == 0 || length >= NAME_CHARACTERS)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "'%.*s=' is no name of an axis", shown,
                          text);
    for (i = 0; i < sweep->axis_count; i++)
        if (strlen(sweep->axes[i].name) == length && memcmp(sweep->axes[i].name, text, length) == 0)
            return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "axis %.*s is given twice", shown,
                              text);
    if (sweep->axis_count == AXES)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "more than %d axes", AXES);
    memcpy(axis->name, text, length);
    axis->name[length] = '\0';
    axis->first = sweep->value_count;
    sweep->axis_count++;
    return RIDGE_OK;
}

static ridge_status read_sweep(axis_list *sweep, const char *text, ridge_error *err)
{
    ridge_status status = RIDGE_OK;
    const char *at = text;

    for (;;) {
        const size_t length = strcspn(at, ",");
        const char *const equals = memchr(at, '=', length);
        const char *const value = equals != NULL ? equals + 1 : at;

        if (equals != NULL)
            status = add_axis(sweep, at, (size_t)(equals - at), err);
        else if (sweep->axis_count == 0)
            status = ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "'%.*s' is not NAME=VALUE",
                                (int)(length < SHOWN_CHARACTERS ? length : SHOWN_CHARACTERS), at);
        if (status == RIDGE_OK)
            status = add_values(sweep, value, length - (size_t)(value - at), err);
        if (status != RIDGE_OK || at[length] == '\0')
            return status;
        at += length + 1;
    }
}

/* Combination number index, the last axis fastest. */
static bool write_case(const axis_list *sweep, size_t index, char *out)
{
    size_t stride = 1, used = 0, i;

    for (i = 0; i < sweep->axis_count; i++)
        stride *= sweep->axes[i].count;
    for (i = 0; i < sweep->axis_count; i++) {
        const sweep_axis *const axis = &sweep->axes[i];

        stride /= axis->count;
        used +=
            (size_t)snprintf(out + used, RIDGE_CASE_TEXT - used, "%s%s=%s", i > 0 ? "," : "",
                             axis->name, sweep->values[axis->first + index / stride % axis->count]);
        if (used >= RIDGE_CASE_TEXT)
            return false;
    }
    return true;
}

/* One block: the pointers, then the texts. */
static ridge_status write_cases(const axis_list *sweep, char ***out, size_t *count,
                                ridge_error *err)
{
    size_t total = 1, i;
    char **cases;
    char *texts;

    for (i = 0; i < sweep->axis_count; i++) {
        total *= sweep->axes[i].count;
        if (total > RIDGE_SWEEP_CASES)
            return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                              "the sweep has more than %d cases, the most of one command",
                              RIDGE_SWEEP_CASES);
    }
    cases = ridge_calloc(total, sizeof(char *) + RIDGE_CASE_TEXT);
    if (cases == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for a sweep");
    texts = (char *)(cases + total);
    for (i = 0; i < total; i++) {
        cases[i] = texts + i * RIDGE_CASE_TEXT;
        if (!write_case(sweep, i, cases[i])) {
            ridge_free(cases);
            return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                              "a case of the sweep is longer than %d characters",
                              RIDGE_CASE_TEXT - 1);
        }
    }
    *out = cases;
    *count = total;
    return RIDGE_OK;
}

ridge_status ridge_sweep_cases(const char *text, char ***out, size_t *count, ridge_error *err)
{
    axis_list sweep = {0};
    ridge_status status;

    *out = NULL;
    *count = 0;
    status = read_sweep(&sweep, text, err);
    if (status == RIDGE_OK)
        status = write_cases(&sweep, out, count, err);
    ridge_free(sweep.values);
    return status;
}

void ridge_sweep_cases_free(char **cases)
{
    ridge_free(cases);
}
