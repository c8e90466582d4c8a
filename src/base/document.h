/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON documents that people and other programs write: a model's config.json, a chip of one's own,
 * a baseline. Reading is strict (RFC 8259, UTF-8, no member twice); messages name the line, or the
 * member, what was found and what was expected.
 *
 * Life: ridge_document_open() or _parse(), the getters, ridge_document_release(). Values are
 * borrowed until then. A getter for an absent member leaves *out as it was, which is the default;
 * a member that is null counts as absent. */
#ifndef RIDGE_BASE_DOCUMENT_H
#define RIDGE_BASE_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ridge/status.h"

/* One value of a document: an object, an array, a text, ... jansson's, private to document.c. */
typedef struct json_t ridge_node;

typedef struct ridge_document {
    ridge_node *root; /* an object */
} ridge_document;

/* Reads a file (gzip and zstd are unpacked) whose top value is an object. RIDGE_ERR_IO;
 * RIDGE_ERR_FORMAT for what is no such document or larger than 16 MiB. */
ridge_status ridge_document_open(const char *path, ridge_document *out, ridge_error *err);
ridge_status ridge_document_parse(const void *text, size_t size_bytes, ridge_document *out,
                                  ridge_error *err);
/* The same with a limit of one's own: of a line that holds a file. */
ridge_status ridge_document_parse_at_most(const void *text, size_t size_bytes, size_t largest_bytes,
                                          ridge_document *out, ridge_error *err);
void ridge_document_release(ridge_document *document);

typedef enum ridge_node_kind {
    RIDGE_NODE_NULL, /* also an absent one */
    RIDGE_NODE_BOOL,
    RIDGE_NODE_NUMBER,
    RIDGE_NODE_TEXT,
    RIDGE_NODE_ARRAY,
    RIDGE_NODE_OBJECT
} ridge_node_kind;

/* All of these take NULL, the absent value. */
ridge_node_kind ridge_node_kind_of(const ridge_node *value);
const char *ridge_node_text(const ridge_node *value); /* NULL when no text */
double ridge_node_number(const ridge_node *value);    /* NAN when no number */
/* A whole number that fits; false leaves *out. */
bool ridge_node_integer(const ridge_node *value, int64_t *out);
bool ridge_node_bool(const ridge_node *value, bool *out); /* false when it is none */
/* Elements of an array or members of an object; else 0. */
size_t ridge_node_count(const ridge_node *value);
const ridge_node *ridge_node_at(const ridge_node *array, size_t index);
const ridge_node *ridge_node_member(const ridge_node *object, const char *key);

/* The members of an object in the order of the file:
 *     const void *at = NULL;
 *     while ((value = ridge_node_next(object, &at, &key)) != NULL) */
const ridge_node *ridge_node_next(const ridge_node *object, const void **at, const char **key);

/* Members of an object that must have a type and a range when they are there: RIDGE_ERR_FORMAT
 * says "hidden_size is \"wide\", expected a whole number from 1 to 1048576". */
ridge_status ridge_node_get_integer(const ridge_node *object, const char *key, int64_t lowest,
                                    int64_t highest, int64_t *out, ridge_error *err);
ridge_status ridge_node_get_number(const ridge_node *object, const char *key, double lowest,
                                   double highest, double *out, ridge_error *err);
ridge_status ridge_node_get_bool(const ridge_node *object, const char *key, bool *out,
                                 ridge_error *err);
ridge_status ridge_node_get_text(const ridge_node *object, const char *key, const char **out,
                                 ridge_error *err);

#endif
