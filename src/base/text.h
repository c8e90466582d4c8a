/* SPDX-License-Identifier: Apache-2.0
 *
 * A growing string. It remembers its first failure (out of memory) and ignores later calls, so
 * that a caller appends ten times and checks its failed once. */
#ifndef RIDGE_BASE_TEXT_H
#define RIDGE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "ridge/status.h"

typedef struct ridge_text {
    char *data; /* NUL-terminated; "" (static) while empty */
    size_t length;
    size_t capacity;
    bool failed;
} ridge_text;

void ridge_text_init(ridge_text *text);
void ridge_text_release(ridge_text *text);
void ridge_text_clear(ridge_text *text);
void ridge_text_add(ridge_text *text, const char *string);
void ridge_text_add_bytes(ridge_text *text, const void *bytes, size_t size);
void ridge_text_add_repeat(ridge_text *text, const char *string, size_t count);
void ridge_text_format(ridge_text *text, const char *format, ...) RIDGE_PRINTF(2, 3);
/* Columns the UTF-8 text takes on a terminal: one a code point, two for East Asian wide ones. */
size_t ridge_text_columns(const char *utf8, size_t length);
/* Copies text into size bytes, 8 or more; of a longer one "..." and its end: of a path the end tells
 * what it is. Returns out. */
char *ridge_text_end(char *out, size_t size, const char *text);

#endif
