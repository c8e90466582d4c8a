/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON documents, read with jansson, which is used nowhere else. It allocates by itself; its depth
 * of nesting is bounded (2,048) and so is the size of a document, since a tree takes up to fifty
 * times the text. */
#include "base/document.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"

enum { LARGEST_BYTES = 16 << 20, SHOWN_BYTES = 60 };

ridge_status ridge_document_parse(const void *text, size_t size_bytes, ridge_document *out,
                                  ridge_error *err)
{
    return ridge_document_parse_at_most(text, size_bytes, LARGEST_BYTES, out, err);
}

ridge_status ridge_document_parse_at_most(const void *text, size_t size_bytes, size_t largest_bytes,
                                          ridge_document *out, ridge_error *err)
{
    json_error_t error;
    json_t *root;

    out->root = NULL;
    if (size_bytes > largest_bytes)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "%zu bytes are too many for a JSON document, at most %zu are read",
                          size_bytes, largest_bytes);
    root = json_loadb(size_bytes > 0 ? text : "", size_bytes, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL && json_error_code(&error) == json_error_out_of_memory)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for a JSON document");
    if (root == NULL)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "not a JSON document: line %d, column %d: %s",
                          error.line, error.column, error.text);
    if (!json_is_object(root)) {
        json_decref(root);
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "the JSON document is an array, expected an object: { ... }");
    }
    out->root = root;
    return RIDGE_OK;
}

ridge_status ridge_document_open(const char *path, ridge_document *out, ridge_error *err)
{
    ridge_file file;
    ridge_status status;

    out->root = NULL;
    status = ridge_file_open(path, &file, err);
    if (status != RIDGE_OK)
        return status;
    status = ridge_file_unpack(&file, path, LARGEST_BYTES, err);
    if (status == RIDGE_OK)
        status = ridge_document_parse(file.bytes.data, file.bytes.size, out, err);
    ridge_file_release(&file);
    return status;
}

void ridge_document_release(ridge_document *document)
{
    json_decref(document->root);
    document->root = NULL;
}

ridge_node_kind ridge_node_kind_of(const ridge_node *value)
{
    switch (value == NULL ? JSON_NULL : json_typeof(value)) {
    case JSON_OBJECT:
        return RIDGE_NODE_OBJECT;
    case JSON_ARRAY:
        return RIDGE_NODE_ARRAY;
    case JSON_STRING:
        return RIDGE_NODE_TEXT;
    case JSON_INTEGER:
    case JSON_REAL:
        return RIDGE_NODE_NUMBER;
    case JSON_TRUE:
    case JSON_FALSE:
        return RIDGE_NODE_BOOL;
    case JSON_NULL:
        break;
    }
    return RIDGE_NODE_NULL;
}

const char *ridge_node_text(const ridge_node *value)
{
    return value != NULL ? json_string_value(value) : NULL;
}

double ridge_node_number(const ridge_node *value)
{
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

bool ridge_node_bool(const ridge_node *value, bool *out)
{
    if (ridge_node_kind_of(value) != RIDGE_NODE_BOOL)
        return false;
    *out = json_is_true(value);
    return true;
}

bool ridge_node_integer(const ridge_node *value, int64_t *out)
{
    const double number = ridge_node_number(value);

    if (json_is_integer(value)) {
        *out = json_integer_value(value);
        return true;
    }
    /* 4096.0 is whole; beyond 2^53 a double no longer says which number was meant. */
    if (!(fabs(number) <= 9007199254740992.0) || number != floor(number))
        return false;
    *out = (int64_t)number;
    return true;
}

size_t ridge_node_count(const ridge_node *value)
{
    return json_is_array(value) ? json_array_size(value) : json_object_size(value);
}

const ridge_node *ridge_node_at(const ridge_node *array, size_t index)
{
    return json_array_get(array, index);
}

const ridge_node *ridge_node_member(const ridge_node *object, const char *key)
{
    return json_object_get(object, key);
}

const ridge_node *ridge_node_next(const ridge_node *object, const void **at, const char **key)
{
    /* jansson's iterators take an object that may be changed; nothing is. */
    union {
        const json_t *constant;
        json_t *plain;
    } of = {object};
    union {
        const void *constant;
        void *plain;
    } iterator = {*at};

    if (!json_is_object(object))
        return NULL;
    iterator.plain =
        *at == NULL ? json_object_iter(of.plain) : json_object_iter_next(of.plain, iterator.plain);
    *at = iterator.constant;
    if (iterator.plain == NULL)
        return NULL;
    *key = json_object_iter_key(iterator.plain);
    return json_object_iter_value(iterator.plain);
}

struct shown {
    char text[SHOWN_BYTES];
    size_t length;
};

/* Ends the dump once the text is full. */
static int show_more(const char *piece, size_t size, void *context)
{
    struct shown *const shown = context;
    const size_t left = SHOWN_BYTES - sizeof("...") - shown->length;
    const size_t taken = size < left ? size : left;

    memcpy(shown->text + shown->length, piece, taken);
    shown->length += taken;
    strcpy(shown->text + shown->length, size > left ? "..." : "");
    return size > left ? -1 : 0;
}

static ridge_status wrong(const ridge_node *value, const char *key, const char *expected,
                          ridge_error *err)
{
    struct shown shown = {"", 0};

    json_dump_callback(value, show_more, &shown, JSON_ENCODE_ANY | JSON_COMPACT);
    return ridge_fail(err, RIDGE_ERR_FORMAT, "%s is %s, expected %s", key, shown.text, expected);
}

/* The member, unless it is absent or null. */
static const ridge_node *present(const ridge_node *object, const char *key)
{
    const ridge_node *const value = ridge_node_member(object, key);

    return ridge_node_kind_of(value) == RIDGE_NODE_NULL ? NULL : value;
}

ridge_status ridge_node_get_integer(const ridge_node *object, const char *key, int64_t lowest,
                                    int64_t highest, int64_t *out, ridge_error *err)
{
    const ridge_node *const value = present(object, key);
    char expected[96];
    int64_t number;

    if (value == NULL)
        return RIDGE_OK;
    if (ridge_node_integer(value, &number) && number >= lowest && number <= highest) {
        *out = number;
        return RIDGE_OK;
    }
    snprintf(expected, sizeof(expected), "a whole number from %lld to %lld", (long long)lowest,
             (long long)highest);
    return wrong(value, key, expected, err);
}

ridge_status ridge_node_get_number(const ridge_node *object, const char *key, double lowest,
                                   double highest, double *out, ridge_error *err)
{
    const ridge_node *const value = present(object, key);
    const double number = ridge_node_number(value);
    char expected[96];

    if (value == NULL)
        return RIDGE_OK;
    if (number >= lowest && number <= highest) {
        *out = number;
        return RIDGE_OK;
    }
    snprintf(expected, sizeof(expected), "a number from %g to %g", lowest, highest);
    return wrong(value, key, expected, err);
}

ridge_status ridge_node_get_bool(const ridge_node *object, const char *key, bool *out,
                                 ridge_error *err)
{
    const ridge_node *const value = present(object, key);

    if (value == NULL)
        return RIDGE_OK;
    if (!json_is_boolean(value))
        return wrong(value, key, "true or false", err);
    *out = json_is_true(value);
    return RIDGE_OK;
}

ridge_status ridge_node_get_text(const ridge_node *object, const char *key, const char **out,
                                 ridge_error *err)
{
    const ridge_node *const value = present(object, key);

    if (value == NULL)
        return RIDGE_OK;
    if (ridge_node_text(value) == NULL)
        return wrong(value, key, "a text", err);
    *out = ridge_node_text(value);
    return RIDGE_OK;
}
