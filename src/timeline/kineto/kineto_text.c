/* SPDX-License-Identifier: Apache-2.0
 *
 * What texts of an event mean, for rows and for what is written anew: escapes, shapes, chips. */
#include "base/text.h"
#include "timeline/kineto/kineto_internal.h"

/* -- escapes ----------------------------------------------------------------------------------- */

static unsigned hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a') + 10;
    return c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10 : 16;
}

static bool read_unit(const char *at, const char *end, unsigned *unit)
{
    *unit = 0;
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u')
        return false;
    for (int i = 2; i < 6; i++) {
        const unsigned digit = hex_digit(at[i]);

        if (digit > 15)
            return false;
        *unit = *unit * 16 + digit;
    }
    return true;
}

static void add_code_point(ridge_text *text, unsigned code)
{
    char bytes[4];
    size_t size = 0;

    if (code < 0x80) {
        bytes[size++] = (char)code;
    } else if (code < 0x800) {
        bytes[size++] = (char)(0xC0 | code >> 6);
    } else if (code < 0x10000) {
        bytes[size++] = (char)(0xE0 | code >> 12);
        bytes[size++] = (char)(0x80 | (code >> 6 & 0x3F));
    } else {
        bytes[size++] = (char)(0xF0 | code >> 18);
        bytes[size++] = (char)(0x80 | (code >> 12 & 0x3F));
        bytes[size++] = (char)(0x80 | (code >> 6 & 0x3F));
    }
    if (code >= 0x80)
        bytes[size++] = (char)(0x80 | (code & 0x3F));
    ridge_text_add_bytes(text, bytes, size);
}

/* Past an escape. What is none, as of a path of Windows, stays as it is. */
static const char *add_escape(ridge_text *text, const char *at, const char *end)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *const known = end - at >= 2 && at[1] != '\0' ? strchr(from, at[1]) : NULL;
    unsigned unit, low;

    if (known != NULL) {
        ridge_text_add_bytes(text, &to[known - from], 1);
        return at + 2;
    }
    if (!read_unit(at, end, &unit)) {
        ridge_text_add_bytes(text, at, 1);
        return at + 1;
    }
    at += 6;
    if (unit >= 0xD800 && unit < 0xDC00 && read_unit(at, end, &low) && low >= 0xDC00 &&
        low < 0xE000) {
        unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
        at += 6;
    } else if (unit >= 0xD800 && unit < 0xE000) {
        unit = 0xFFFD;
    }
    add_code_point(text, unit);
    return at;
}

void kineto_add_unescaped(ridge_text *out, kineto_slice text)
{
    const char *at = text.data, *const end = kineto_end(text);

    while (at < end) {
        const char *const escape = memchr(at, '\\', (size_t)(end - at));
        const char *const stop = escape != NULL ? escape : end;

        ridge_text_add_bytes(out, at, (size_t)(stop - at));
        at = escape != NULL ? add_escape(out, escape, end) : end;
    }
}

/* -- shapes ------------------------------------------------------------------------------------ */

static const char *type_name(kineto_slice type)
{
    static const struct {
        const char *type, *name;
    } table[] = {
        {"c10::BFloat16", "bf16"},
        {"float", "f32"},
        {"c10::Half", "f16"},
        {"long", "i64"},
        {"long int", "i64"},
        {"int", "i32"},
        {"bool", "bool"},
        {"double", "f64"},
        {"unsigned char", "u8"},
        {"signed char", "i8"},
        {"short", "i16"},
        {"short int", "i16"},
        {"unsigned int", "u32"},
        {"c10::Float8_e4m3fn", "e4m3"},
        {"c10::Float8_e4m3fnuz", "e4m3"},
        {"c10::Float8_e5m2", "e5m2"},
        {"c10::Float8_e5m2fnuz", "e5m2"},
        {"c10::complex<float>", "c64"},
        {"c10::complex<double>", "c128"},
    };

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (kineto_is(type, table[i].type))
            return table[i].name;
    /* What is short already, as ridge_trace_redact() writes it. */
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (kineto_is(type, table[i].name))
            return table[i].name;
    return NULL;
}

/* One extent: what is not of a number is left out. */
static void add_extent(ridge_text *text, kineto_slice extent, bool is_expanded)
{
    for (size_t i = 0; i < extent.size; i++)
        if (strchr("0123456789,-[]", extent.data[i]) != NULL && extent.data[i] != '\0')
            ridge_text_add_bytes(text, &extent.data[i], 1);
    if (is_expanded && !kineto_is(extent, "1") && !kineto_is(extent, "0"))
        ridge_text_add(text, "*");
}

/* One tensor: "bf16[8192,4096*]". */
static void add_shape(ridge_text *text, kineto_slice type, kineto_slice dims, kineto_slice strides)
{
    const char *const name = type_name(type);
    const char *at = dims.data + 1, *const end = dims.data + dims.size;
    const bool has_strides = strides.size > 2 && strides.data[0] == '[';
    const char *stride_at = has_strides ? strides.data + 1 : NULL;
    const char *const stride_end = has_strides ? strides.data + strides.size : NULL;
    kineto_slice extent, stride;

    ridge_text_format(text, "%s%s[", text->length > 0 ? " " : "", name != NULL ? name : "?");
    for (bool is_first = true; kineto_member(&at, end, NULL, &extent); is_first = false) {
        const bool is_expanded = stride_at != NULL &&
                                 kineto_member(&stride_at, stride_end, NULL, &stride) &&
                                 kineto_is(stride, "0");

        ridge_text_add(text, is_first ? "" : ",");
        add_extent(text, extent, is_expanded);
    }
    ridge_text_add(text, "]");
}

/* The next element of a list that may be absent or shorter. */
static kineto_slice next_of(const char **at, const char *end)
{
    kineto_slice value = {"", 0};

    if (*at != NULL && !kineto_member(at, end, NULL, &value))
        value = (kineto_slice){"", 0};
    return value;
}

/* Asked of every operation: two letters first that few names have. */
bool kineto_needs_values(const kineto_event *event)
{
    static const char *const words[] = {"tention", "tn_", "volution"};
    const char *const name = event->name.data, *const end = name + event->name.size;

    if (event->values.data == NULL)
        return false;
    if (event->name.size > 7 && memcmp(name, "triton_", 7) == 0)
        return true;
    for (const char *at = name; at + 1 < end; at++) {
        if (!(at[0] == 't' && at[1] == 't') && !(at[0] == 'n' && at[1] == 'v'))
            continue;
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
            if ((size_t)(end - at) > strlen(words[i]) &&
                memcmp(at + 1, words[i], strlen(words[i])) == 0)
                return true;
    }
    return false;
}

enum { MOST_VALUE = 64 };

/* "=[2,2]": a number, whole or not, a truth, or a list of them; false: something else, or nothing. */
static bool read_value(kineto_slice value, char text[MOST_VALUE + 2])
{
    size_t length = 0;

    if (value.size == 0 || value.size > MOST_VALUE)
        return false;
    text[length++] = '=';
    for (size_t i = 0; i < value.size; i++) {
        if (value.data[i] == '\0' || strchr("0123456789.,-[] TrueFals", value.data[i]) == NULL)
            return false;
        if (value.data[i] != ' ')
            text[length++] = value.data[i];
    }
    text[length] = '\0';
    return length > 1;
}

static void add_absent(ridge_text *out, size_t *count)
{
    for (; *count > 0; --*count)
        ridge_text_add(out, out->length > 0 ? " -" : "-");
}

/* The inputs that have dimensions, in order; of a list of tensors each. */
void kineto_add_shapes(ridge_text *out, const kineto_event *event)
{
    const char *values_at = kineto_needs_values(event) ? event->values.data : NULL;
    const char *const values_end = values_at != NULL ? values_at + event->values.size : NULL;
    const char *dims_at = event->dims.data, *types_at = event->types.data;
    const char *strides_at = event->strides.data;
    const char *const dims_end = dims_at + event->dims.size;
    const char *const types_end = types_at != NULL ? types_at + event->types.size : NULL;
    const char *const strides_end = strides_at != NULL ? strides_at + event->strides.size : NULL;
    const kineto_slice list = {"", 0};
    kineto_slice dims, inner;
    size_t absent = 0; /* inputs that say nothing since the last one that does */
    char text[MOST_VALUE + 2];

    while (kineto_member(&dims_at, dims_end, NULL, &dims)) {
        const char *at = dims.data + 1, *const end = dims.data + dims.size;
        const kineto_slice type = next_of(&types_at, types_end);
        const kineto_slice strides = next_of(&strides_at, strides_end);
        const kineto_slice value = next_of(&values_at, values_end);
        const bool has_lists = strides.size > 2 && strides.data[0] == '[';
        const char *inner_at = has_lists ? strides.data + 1 : NULL;

        if (dims.size <= 2 || dims.data[0] != '[') {
            if (!read_value(value, text)) {
                absent++;
                continue;
            }
            add_absent(out, &absent);
            ridge_text_format(out, "%s%s", out->length > 0 ? " " : "", text);
            continue;
        }
        add_absent(out, &absent);
        if (*kineto_space(at, end) != '[') {
            add_shape(out, type, dims, strides);
            continue;
        }
        while (kineto_member(&at, end, NULL, &inner)) {
            const kineto_slice inner_strides = next_of(&inner_at, strides.data + strides.size);

            if (inner.size > 2 && inner.data[0] == '[')
                add_shape(out, list, inner, inner_strides);
        }
    }
}

/* -- chips ------------------------------------------------------------------------------------- */

uint32_t kineto_u32(int64_t value)
{
    if (value < 0)
        return 0;
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

bool kineto_read_chip(kineto_slice object, size_t number, kineto_chip *out)
{
    const char *at = object.data + 1, *const end = object.data + object.size;
    kineto_slice key, value;

    *out = (kineto_chip){.id = (int64_t)number, .name = {"", 0}};
    if (object.size == 0 || object.data[0] != '{')
        return false;
    while (kineto_member(&at, end, &key, &value)) {
        int64_t value_number = 0;

        kineto_integer(value, &value_number);
        if (kineto_is(key, "id"))
            out->id = value_number;
        else if (kineto_is(key, "name"))
            out->name = value;
        else if (kineto_is(key, "numSms"))
            out->sm_count = kineto_u32(value_number);
        else if (kineto_is(key, "computeMajor"))
            out->major = kineto_u32(value_number);
        else if (kineto_is(key, "computeMinor"))
            out->minor = kineto_u32(value_number);
    }
    return true;
}
