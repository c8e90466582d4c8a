/* SPDX-License-Identifier: Apache-2.0
 *
 * A streaming JSON writer. For each open object or array it keeps whether a value stands in it
 * already, which is all that commas and line breaks need. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/base_internal.h"
#include "base/memory.h"

enum { DEEPEST = 64 };

struct ridge_json {
    ridge_output *output;
    ridge_text text; /* one value, until it goes to output */
    size_t depth;
    bool has_value[DEEPEST + 1]; /* in the object or array at this depth */
};

ridge_json *ridge_json_create(ridge_output *output)
{
    ridge_json *const json = ridge_calloc(1, sizeof(*json));

    if (json == NULL) {
        base_output_fail(output, RIDGE_ERR_OUT_OF_MEMORY, "out of memory while writing JSON");
        return NULL;
    }
    json->output = output;
    ridge_text_init(&json->text);
    return json;
}

ridge_output *base_json_output(const ridge_json *json)
{
    return json != NULL ? json->output : NULL;
}

static void send(ridge_json *json)
{
    if (json->text.failed)
        base_output_fail(json->output, RIDGE_ERR_OUT_OF_MEMORY, "out of memory while writing JSON");
    base_output_raw(json->output, json->text.data, json->text.length);
    ridge_text_clear(&json->text);
}

void ridge_json_free(ridge_json *json)
{
    if (json == NULL)
        return;
    ridge_text_add(&json->text, "\n");
    send(json);
    ridge_text_release(&json->text);
    ridge_free(json);
}

static void add_quoted(ridge_text *out, const char *text, size_t length)
{
    size_t at = 0;

    ridge_text_add(out, "\"");
    while (at < length) {
        const size_t size = base_utf8_size(text + at, length - at);
        const unsigned char byte = (unsigned char)text[at];

        if (size == 0) {
            ridge_text_add(out, "\xef\xbf\xbd"); /* U+FFFD */
            at++;
            continue;
        }
        if (byte == '"' || byte == '\\')
            ridge_text_format(out, "\\%c", byte);
        else if (byte == '\n')
            ridge_text_add(out, "\\n");
        else if (byte == '\t')
            ridge_text_add(out, "\\t");
        else if (byte == '\r')
            ridge_text_add(out, "\\r");
        else if (byte < 0x20 || byte == 0x7f)
            ridge_text_format(out, "\\u%04x", byte);
        else if (size == 2 && byte == 0xc2 && (unsigned char)text[at + 1] < 0xa0)
            ridge_text_format(out, "\\u%04x", (unsigned char)text[at + 1]); /* C1 */
        else
            ridge_text_add_bytes(out, text + at, size);
        at += size;
    }
    ridge_text_add(out, "\"");
}

/* What stands before a value: comma, line break, indentation and key. */
static void begin_value(ridge_json *json, const char *key)
{
    if (json->has_value[json->depth])
        ridge_text_add(&json->text, ",");
    if (json->depth > 0) {
        ridge_text_add(&json->text, "\n");
        ridge_text_add_repeat(&json->text, "  ", json->depth);
    }
    json->has_value[json->depth] = true;
    if (key != NULL) {
        add_quoted(&json->text, key, strlen(key));
        ridge_text_add(&json->text, ": ");
    }
}

static void begin_group(ridge_json *json, const char *key, const char *bracket)
{
    if (json == NULL)
        return;
    if (json->depth == DEEPEST) {
        base_output_fail(json->output, RIDGE_ERR_INTERNAL, "JSON is nested too deeply");
        return;
    }
    begin_value(json, key);
    ridge_text_add(&json->text, bracket);
    json->has_value[++json->depth] = false;
    send(json);
}

static void end_group(ridge_json *json, const char *bracket)
{
    if (json == NULL || json->depth == 0)
        return;
    if (json->has_value[json->depth--]) {
        ridge_text_add(&json->text, "\n");
        ridge_text_add_repeat(&json->text, "  ", json->depth);
    }
    ridge_text_add(&json->text, bracket);
    send(json);
}

void ridge_json_begin_object(ridge_json *json, const char *key)
{
    begin_group(json, key, "{");
}

void ridge_json_end_object(ridge_json *json)
{
    end_group(json, "}");
}

void ridge_json_begin_array(ridge_json *json, const char *key)
{
    begin_group(json, key, "[");
}

void ridge_json_end_array(ridge_json *json)
{
    end_group(json, "]");
}

/* A value whose text needs no quotes. */
static void write_literal(ridge_json *json, const char *key, const char *text)
{
    if (json == NULL)
        return;
    begin_value(json, key);
    ridge_text_add(&json->text, text);
    send(json);
}

void ridge_json_text(ridge_json *json, const char *key, const char *text)
{
    ridge_json_text_n(json, key, text, text != NULL ? strlen(text) : 0);
}

void ridge_json_text_n(ridge_json *json, const char *key, const char *text, size_t length)
{
    if (json == NULL)
        return;
    if (text == NULL) {
        ridge_json_null(json, key);
        return;
    }
    begin_value(json, key);
    add_quoted(&json->text, text, length);
    send(json);
}

void ridge_json_number(ridge_json *json, const char *key, double value)
{
    char text[BASE_NUMBER_BYTES];

    write_literal(json, key,
                  isnan(value) || isinf(value) ? "null" : base_number_exact(value, text));
}

void ridge_json_count(ridge_json *json, const char *key, uint64_t value)
{
    char text[BASE_NUMBER_BYTES];

    snprintf(text, sizeof(text), "%" PRIu64, value);
    write_literal(json, key, text);
}

void ridge_json_integer(ridge_json *json, const char *key, int64_t value)
{
    char text[BASE_NUMBER_BYTES];

    snprintf(text, sizeof(text), "%" PRId64, value);
    write_literal(json, key, text);
}

void ridge_json_bool(ridge_json *json, const char *key, bool value)
{
    write_literal(json, key, value ? "true" : "false");
}

void ridge_json_null(ridge_json *json, const char *key)
{
    write_literal(json, key, "null");
}
