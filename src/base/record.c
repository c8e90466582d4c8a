/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows are jansson objects until they are a line; its sorted, compact dump with 17 digits is the
 * canonical text. */
#include "base/record.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

static void set(ridge_record *record, const char *key, json_t *value)
{
    if (record->status != RIDGE_OK)
        json_decref(value);
    else if (value == NULL || json_object_set_new(record->object, key, value) != 0)
        record->status = RIDGE_ERR_OUT_OF_MEMORY;
}

void ridge_record_begin(ridge_record *record, const char *table)
{
    record->object = json_object();
    record->status = record->object != NULL ? RIDGE_OK : RIDGE_ERR_OUT_OF_MEMORY;
    ridge_record_text(record, "t", table);
}

/* Text from anywhere: what is not UTF-8 is replaced, so that the line stays a line of JSON. */
static json_t *any_text(const char *text)
{
    json_t *value = json_string(text);
    char *copy;
    size_t i;

    if (value != NULL)
        return value;
    copy = ridge_calloc(strlen(text) + 1, 1);
    if (copy == NULL)
        return NULL;
    for (i = 0; text[i] != '\0'; i++)
        copy[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
    value = json_string(copy);
    ridge_free(copy);
    return value;
}

void ridge_record_text(ridge_record *record, const char *key, const char *text)
{
    if (text != NULL)
        set(record, key, any_text(text));
}

void ridge_record_number(ridge_record *record, const char *key, double value)
{
    if (isfinite(value))
        set(record, key, json_real(value));
}

void ridge_record_integer(ridge_record *record, const char *key, int64_t value)
{
    set(record, key, json_integer(value));
}

void ridge_record_bool(ridge_record *record, const char *key, bool value)
{
    set(record, key, json_boolean(value));
}

void ridge_record_bytes(ridge_record *record, const char *key, const void *bytes, size_t size_bytes)
{
    ridge_text text;

    ridge_text_init(&text);
    ridge_base64_add(&text, bytes, size_bytes);
    set(record, key, text.failed ? NULL : json_stringn(text.data, text.length));
    ridge_text_release(&text);
}

void ridge_record_value(ridge_record *record, const char *key, const ridge_node *value)
{
    set(record, key, json_deep_copy(value));
}

ridge_status ridge_record_line_of(const ridge_node *object, ridge_text *out, ridge_error *err)
{
    char *const line = json_dumps(object, JSON_SORT_KEYS | JSON_COMPACT | JSON_REAL_PRECISION(17));

    if (line != NULL)
        ridge_text_add(out, line);
    free(line);
    if (line == NULL || out->failed)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for a record");
    return RIDGE_OK;
}

ridge_status ridge_record_id_of(const ridge_node *object, char id[RIDGE_HASH_TEXT],
                                ridge_error *err)
{
    json_t *const copy = json_deep_copy(object);
    ridge_status status;
    ridge_text text;

    id[0] = '\0';
    if (copy == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for a record");
    json_object_del(copy, "id");
    ridge_text_init(&text);
    status = ridge_record_line_of(copy, &text, err);
    if (status == RIDGE_OK)
        ridge_hash_text(text.data, text.length, id);
    ridge_text_release(&text);
    json_decref(copy);
    return status;
}

static ridge_status end(ridge_record *record, const char *known_id, ridge_text *out,
                        char id[RIDGE_HASH_TEXT], ridge_error *err)
{
    ridge_status status = record->status;

    id[0] = '\0';
    if (status != RIDGE_OK)
        ridge_fail(err, status, "out of memory for a record");
    if (status == RIDGE_OK && known_id != NULL)
        snprintf(id, RIDGE_HASH_TEXT, "%s", known_id);
    else if (status == RIDGE_OK)
        status = ridge_record_id_of(record->object, id, err);
    if (status == RIDGE_OK) {
        ridge_record_text(record, "id", id);
        status = record->status;
    }
    if (status == RIDGE_OK && out != NULL)
        status = ridge_record_line_of(record->object, out, err);
    json_decref(record->object);
    record->object = NULL;
    return status;
}

ridge_status ridge_record_end(ridge_record *record, ridge_text *out, char id[RIDGE_HASH_TEXT],
                              ridge_error *err)
{
    return end(record, NULL, out, id, err);
}

ridge_status ridge_record_end_as(ridge_record *record, const char *id, ridge_text *out,
                                 ridge_error *err)
{
    char ignored[RIDGE_HASH_TEXT];

    return end(record, id, out, ignored, err);
}

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void ridge_base64_add(ridge_text *out, const void *bytes, size_t size_bytes)
{
    const unsigned char *const in = bytes;
    size_t i;

    for (i = 0; i < size_bytes && !out->failed; i += 3) {
        const size_t left = size_bytes - i;
        const unsigned word = (unsigned)in[i] << 16 | (left > 1 ? (unsigned)in[i + 1] << 8 : 0) |
                              (left > 2 ? in[i + 2] : 0u);
        const char four[4] = {digits[word >> 18], digits[word >> 12 & 63],
                              left > 1 ? digits[word >> 6 & 63] : '=',
                              left > 2 ? digits[word & 63] : '='};

        ridge_text_add_bytes(out, four, sizeof(four));
    }
}

bool ridge_base64_read(const char *text, void **out, size_t *size_bytes)
{
    const size_t length = strlen(text);
    size_t padding = 0, i, size = 0;
    unsigned char *bytes;

    *out = NULL;
    *size_bytes = 0;
    if (length % 4 != 0)
        return false;
    while (padding < 2 && padding < length && text[length - 1 - padding] == '=')
        padding++;
    bytes = ridge_calloc(length / 4 * 3 + 1, 1);
    if (bytes == NULL) {
        *size_bytes = length / 4 * 3 + 1;
        return false;
    }
    for (i = 0; i < length; i += 4) {
        unsigned word = 0;
        size_t k;

        for (k = 0; k < 4; k++) {
            const char *const at = i + k >= length - padding ? digits : strchr(digits, text[i + k]);

            if (at == NULL || text[i + k] == '\0') {
                ridge_free(bytes);
                return false;
            }
            word = word << 6 | (unsigned)(at - digits);
        }
        bytes[size++] = (unsigned char)(word >> 16);
        bytes[size++] = (unsigned char)(word >> 8);
        bytes[size++] = (unsigned char)word;
    }
    *out = bytes;
    *size_bytes = size - padding;
    return true;
}
