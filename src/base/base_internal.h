/* SPDX-License-Identifier: Apache-2.0
 *
 * What the writers of base share. */
#ifndef RIDGE_BASE_INTERNAL_H
#define RIDGE_BASE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "ridge/table.h"

/* Size of the valid UTF-8 sequence at text, of which left bytes can be read; 0: there is none. */
size_t base_utf8_size(const char *text, size_t left);

/* What base_clean() lets through besides printable text. */
typedef enum base_clean_flags {
    BASE_CLEAN_ALL = 0,
    BASE_KEEP_NEWLINE = 1 << 0,
    BASE_KEEP_TAB = 1 << 1,
} base_clean_flags;

/* Appends text that may come from a hostile file such that it cannot steer a terminal: control
 * characters, direction overrides and invalid UTF-8 become '?'. */
void base_clean(ridge_text *out, const char *text, size_t length, base_clean_flags keep);
/* The same where nothing may be allocated; nothing is kept. */
void base_clean_in_place(char *text);

/* Appends clean text in at most columns columns, the middle replaced by "..." where it is longer.
 * Fewer than 5 columns: cut at the end. */
void base_shorten(ridge_text *out, const char *text, size_t length, size_t columns);

/* Bytes as they are: for text that is clean already. */
void base_output_raw(ridge_output *output, const char *bytes, size_t size);
/* True when cells of tables are written whole. */
bool base_output_is_whole(const ridge_output *output);
/* Lets an output fail; a first failure stays. */
void base_output_fail(ridge_output *output, ridge_status status, const char *message);
/* Where a JSON document goes; NULL for NULL. */
ridge_output *base_json_output(const ridge_json *json);

enum { BASE_NUMBER_BYTES = 32 }; /* enough for every number below and ridge_number_text() */

/* The shortest decimal that reads back as the same double; "nan", "inf", "-inf". */
char *base_number_exact(double value, char buffer[BASE_NUMBER_BYTES]);
/* 1,234,567 */
char *base_count_grouped(uint64_t value, char buffer[BASE_NUMBER_BYTES]);

#endif
