/* SPDX-License-Identifier: Apache-2.0
 *
 * One line of the exchange format ridge-bench/1: a row of a table of the ledger as a JSON object,
 *
 *     {"id":"<hash>","k":20,...,"t":"slot"}
 *
 * with its members sorted and nothing between them. The id is the hash of that text without the
 * member id, so a row has the same id wherever it is written, and a change of it is seen.
 *
 * Members that change later (the end of a session, docs/formats/ledger.md marks them) are not hashed:
 * such a row is first written without them, then with them by ridge_record_end_as().
 *
 * Life: ridge_record_begin(), the members, ridge_record_end(). Members that are NAN or NULL are left
 * out: absent and unknown are the same. The first failure is remembered and returned by _end(). */
#ifndef RIDGE_BASE_RECORD_H
#define RIDGE_BASE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/document.h"
#include "base/hash.h"
#include "base/text.h"
#include "ridge/status.h"

typedef struct ridge_record {
    ridge_node *object; /* NULL after a failure */
    ridge_status status;
} ridge_record;

void ridge_record_begin(ridge_record *record, const char *table);
void ridge_record_text(ridge_record *record, const char *key, const char *text);
void ridge_record_number(ridge_record *record, const char *key, double value);
void ridge_record_integer(ridge_record *record, const char *key, int64_t value);
void ridge_record_bool(ridge_record *record, const char *key, bool value);
/* Bytes in base64. */
void ridge_record_bytes(ridge_record *record, const char *key, const void *bytes,
                        size_t size_bytes);
/* A value of a document, copied. */
void ridge_record_value(ridge_record *record, const char *key, const ridge_node *value);
/* Appends the line (no newline) to out (may be NULL) and writes the id. */
ridge_status ridge_record_end(ridge_record *record, ridge_text *out, char id[RIDGE_HASH_TEXT],
                              ridge_error *err);

/* The same under an id that is known: of a row whose state has changed since (members that are not
 * part of its id, docs/formats/ledger.md). */
ridge_status ridge_record_end_as(ridge_record *record, const char *id, ridge_text *out,
                                 ridge_error *err);

/* The id that an object read from a line must have; its member "id" is passed over. */
ridge_status ridge_record_id_of(const ridge_node *object, char id[RIDGE_HASH_TEXT],
                                ridge_error *err);
/* The canonical line of an object, appended to out. */
ridge_status ridge_record_line_of(const ridge_node *object, ridge_text *out, ridge_error *err);

/* Base64 without line breaks, appended; reading: false for what is none, and when
 * out of memory, then *size_bytes is not 0. *out is new (ridge_free()). */
void ridge_base64_add(ridge_text *out, const void *bytes, size_t size_bytes);
bool ridge_base64_read(const char *text, void **out, size_t *size_bytes);

#endif
