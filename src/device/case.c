/* SPDX-License-Identifier: Apache-2.0
 *
 * A case as text and back. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ridge/family.h"

enum { WORD_BYTES = 32 };

static const char *const VALUES[] = {
#define CASE_VALUES(name, text) text,
    RIDGE_VALUES_LIST(CASE_VALUES)
#undef CASE_VALUES
};

static const char *const LAYOUTS[] = {
#define CASE_LAYOUT(name, text) text,
    RIDGE_LAYOUT_LIST(CASE_LAYOUT)
#undef CASE_LAYOUT
};

#define CASE_WORD(name, text) " " text

/* Index of name among count texts; count when it is none of them. */
static size_t find_text(const char *const *texts, size_t count, const char *name)
{
    size_t i;

    for (i = 0; i < count && strcmp(texts[i], name) != 0; i++)
        ;
    return i;
}

const char *ridge_values_name(ridge_values values)
{
    return (unsigned)values < RIDGE_VALUES_COUNT ? VALUES[values] : "unknown";
}

bool ridge_values_find(const char *name, ridge_values *out)
{
    const size_t index = find_text(VALUES, RIDGE_VALUES_COUNT, name);

    if (index == RIDGE_VALUES_COUNT)
        return false;
    *out = (ridge_values)index;
    return true;
}

const char *ridge_layout_name(ridge_layout layout)
{
    return (unsigned)layout < RIDGE_LAYOUT_COUNT ? LAYOUTS[layout] : "unknown";
}

bool ridge_layout_find(const char *name, ridge_layout *out)
{
    const size_t index = find_text(LAYOUTS, RIDGE_LAYOUT_COUNT, name);

    if (index == RIDGE_LAYOUT_COUNT)
        return false;
    *out = (ridge_layout)index;
    return true;
}

void ridge_case_init(ridge_case *out)
{
    *out = (ridge_case){.struct_size = sizeof(*out),
                        .dtype = RIDGE_DTYPE_BF16,
                        .layout = RIDGE_LAYOUT_CONTIGUOUS,
                        .values = RIDGE_VALUES_NORMAL,
                        .seed = 1};
}

/* -- the keys that are no axes ----------------------------------------------------------------- */

static ridge_status read_count(const char *key, const char *text, uint64_t most, uint64_t *out,
                               ridge_error *err)
{
    const char *at;
    uint64_t value = 0;

    for (at = text; isdigit((unsigned char)*at); at++) {
        const uint64_t digit = (uint64_t)(*at - '0');

        if (digit > most || value > (most - digit) / 10)
            return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "%s=%s is above %" PRIu64, key, text,
                              most);
        value = value * 10 + digit;
    }
    if (at == text || *at != '\0')
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "%s=%s: expected a whole number that is not negative", key, text);
    *out = value;
    return RIDGE_OK;
}

static ridge_status set_dtype(ridge_case *at, const char *text, ridge_error *err)
{
    if (ridge_dtype_find(text, &at->dtype))
        return RIDGE_OK;
    return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "dtype=%s is none of%s", text,
                      RIDGE_DTYPE_NAMES);
}

static ridge_status set_layout(ridge_case *at, const char *text, ridge_error *err)
{
    if (ridge_layout_find(text, &at->layout))
        return RIDGE_OK;
    return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "layout=%s is none of%s", text,
                      RIDGE_LAYOUT_LIST(CASE_WORD));
}

static ridge_status set_values(ridge_case *at, const char *text, ridge_error *err)
{
    if (ridge_values_find(text, &at->values))
        return RIDGE_OK;
    return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "values=%s is none of%s", text,
                      RIDGE_VALUES_LIST(CASE_WORD));
}

static ridge_status set_in_place(ridge_case *at, const char *text, ridge_error *err)
{
    uint64_t value;
    const ridge_status status = read_count("in_place", text, 1, &value, err);

    if (status == RIDGE_OK)
        at->in_place = value != 0;
    return status;
}

static ridge_status set_seed(ridge_case *at, const char *text, ridge_error *err)
{
    return read_count("seed", text, UINT64_MAX, &at->seed, err);
}

typedef struct case_key {
    const char *name;
    ridge_status (*set)(ridge_case *at, const char *text, ridge_error *err);
} case_key;

static const case_key KEYS[] = {{"dtype", set_dtype},
                                {"layout", set_layout},
                                {"values", set_values},
                                {"in_place", set_in_place},
                                {"seed", set_seed}};

static const case_key *find_key(const char *name)
{
    size_t i;

    for (i = 0; i < sizeof(KEYS) / sizeof(KEYS[0]); i++)
        if (strcmp(KEYS[i].name, name) == 0)
            return &KEYS[i];
    return NULL;
}

/* -- axes -------------------------------------------------------------------------------------- */

static bool is_axis_name(const char *name)
{
    const size_t length = strlen(name);
    size_t i;

    if (length == 0 || length >= sizeof(((ridge_axis *)NULL)->name) ||
        isdigit((unsigned char)name[0]) || find_key(name) != NULL)
        return false;
    for (i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && name[i] != '_')
            return false;
    return true;
}

static ridge_axis *find_axis(ridge_case *at, const char *name)
{
    size_t i;

    for (i = 0; i < at->axis_count; i++)
        if (strcmp(at->axes[i].name, name) == 0)
            return &at->axes[i];
    return NULL;
}

ridge_status ridge_case_set(ridge_case *at, const char *name, int64_t value, ridge_error *err)
{
    ridge_axis *axis = find_axis(at, name);

    if (value < 0)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "axis %s=%" PRId64 " is negative", name,
                          value);
    if (axis == NULL) {
        if (!is_axis_name(name))
            return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                              "\"%.40s\" cannot name an axis: expected 1 to %zu letters, digits "
                              "and _, and none of dtype layout values in_place seed",
                              name, sizeof(axis->name) - 1);
        if (at->axis_count == RIDGE_CASE_AXES)
            return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "axis %s: a case has at most %d",
                              name, RIDGE_CASE_AXES);
        axis = &at->axes[at->axis_count++];
        snprintf(axis->name, sizeof(axis->name), "%s", name);
    }
    axis->value = value;
    return RIDGE_OK;
}

static ridge_status unknown_axis(const ridge_case *at, const char *name, ridge_error *err)
{
    char known[RIDGE_CASE_AXES * (sizeof(at->axes[0].name) + 1) + 1] = "";
    size_t used = 0, i;

    for (i = 0; i < at->axis_count; i++)
        used += (size_t)snprintf(known + used, sizeof(known) - used, " %s", at->axes[i].name);
    return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                      "no axis %s; there are%s, dtype layout values in_place seed", name, known);
}

/* -- text -------------------------------------------------------------------------------------- */

/* Copies [from, to) into word; false when it does not fit. */
static bool copy_word(const char *from, const char *to, char word[WORD_BYTES])
{
    const size_t length = (size_t)(to - from);

    if (length >= WORD_BYTES)
        return false;
    memcpy(word, from, length);
    word[length] = '\0';
    return true;
}

/* One "key=value" of text; may_add: an axis that is not there is added. */
static ridge_status parse_item(const char *from, const char *to, bool may_add, ridge_case *at,
                               ridge_error *err)
{
    const char *const equals = memchr(from, '=', (size_t)(to - from));
    char name[WORD_BYTES], text[WORD_BYTES];
    const case_key *key;
    uint64_t value;
    ridge_status status;

    if (equals == NULL || !copy_word(from, equals, name) || !copy_word(equals + 1, to, text))
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "case \"%.*s\": expected name=value, as in m=3,dtype=f16",
                          to - from < 60 ? (int)(to - from) : 60, from);
    key = find_key(name);
    if (key != NULL)
        return key->set(at, text, err);
    if (!may_add && find_axis(at, name) == NULL)
        return unknown_axis(at, name, err);
    status = read_count(name, text, INT64_MAX, &value, err);
    return status == RIDGE_OK ? ridge_case_set(at, name, (int64_t)value, err) : status;
}

ridge_status ridge_case_parse(const char *text, ridge_case *at, ridge_error *err)
{
    const bool may_add = at->axis_count == 0;
    ridge_case parsed = *at;
    const char *from = text;
    ridge_status status = RIDGE_OK;

    while (*from != '\0' && status == RIDGE_OK) {
        const char *const to = from + strcspn(from, ",");

        status = parse_item(from, to, may_add, &parsed, err);
        from = to;
        if (*from == ',' && *++from == '\0' && status == RIDGE_OK)
            status = ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                                "case \"%.60s\": nothing behind the last comma", text);
    }
    if (status == RIDGE_OK)
        *at = parsed;
    return status;
}

char *ridge_case_text(const ridge_case *at, char *buffer, size_t size)
{
    ridge_case usual;
    char text[RIDGE_CASE_TEXT] = "";
    size_t used = 0, i;

    ridge_case_init(&usual);
    for (i = 0; i < at->axis_count; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, ",%s=%" PRId64, at->axes[i].name,
                                 at->axes[i].value);
    if (at->dtype != usual.dtype && at->dtype < RIDGE_DTYPE_COUNT)
        used += (size_t)snprintf(text + used, sizeof(text) - used, ",dtype=%s",
                                 ridge_dtype_name(at->dtype));
    if (at->layout != usual.layout)
        used += (size_t)snprintf(text + used, sizeof(text) - used, ",layout=%s",
                                 ridge_layout_name(at->layout));
    if (at->values != usual.values)
        used += (size_t)snprintf(text + used, sizeof(text) - used, ",values=%s",
                                 ridge_values_name(at->values));
    if (at->in_place)
        used += (size_t)snprintf(text + used, sizeof(text) - used, ",in_place=1");
    if (at->seed != usual.seed)
        used += (size_t)snprintf(text + used, sizeof(text) - used, ",seed=%" PRIu64, at->seed);
    snprintf(buffer, size, "%s", used > 0 ? text + 1 : text);
    return buffer;
}
