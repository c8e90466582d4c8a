/* SPDX-License-Identifier: Apache-2.0
 *
 * A growing string, doubling its capacity. */
#include "base/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

/* What an empty text points to: never written, since capacity 0 forces a growth first. */
static char empty_text[1];

void ridge_text_init(ridge_text *text)
{
    text->data = empty_text;
    text->length = 0;
    text->capacity = 0;
    text->failed = false;
}

void ridge_text_release(ridge_text *text)
{
    if (text->capacity > 0)
        ridge_free(text->data);
    ridge_text_init(text);
}

void ridge_text_clear(ridge_text *text)
{
    if (text->capacity > 0)
        text->data[0] = '\0';
    text->length = 0;
}

/* Makes room for size more bytes and the NUL. */
static bool grow(ridge_text *text, size_t size)
{
    size_t capacity = text->capacity > 0 ? text->capacity : 64;
    char *data;

    if (text->failed)
        return false;
    if (size > SIZE_MAX / 2 - 1 - text->length) {
        text->failed = true;
        return false;
    }
    while (capacity < text->length + size + 1)
        capacity *= 2;
    if (capacity == text->capacity)
        return true;
    data = ridge_realloc_array(text->capacity > 0 ? text->data : NULL, capacity, 1);
    if (data == NULL) {
        text->failed = true;
        return false;
    }
    data[text->length] = '\0';
    text->data = data;
    text->capacity = capacity;
    return true;
}

void ridge_text_add_bytes(ridge_text *text, const void *bytes, size_t size)
{
    if (size == 0 || !grow(text, size))
        return;
    memcpy(text->data + text->length, bytes, size);
    text->length += size;
    text->data[text->length] = '\0';
}

void ridge_text_add(ridge_text *text, const char *string)
{
    ridge_text_add_bytes(text, string, strlen(string));
}

void ridge_text_add_repeat(ridge_text *text, const char *string, size_t count)
{
    while (count-- > 0)
        ridge_text_add(text, string);
}

void ridge_text_format(ridge_text *text, const char *format, ...)
{
    va_list arguments;
    int size;

    va_start(arguments, format);
    size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (size < 0) {
        text->failed = true;
        return;
    }
    if (!grow(text, (size_t)size))
        return;
    va_start(arguments, format);
    vsnprintf(text->data + text->length, (size_t)size + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)size;
}

char *ridge_text_end(char *out, size_t size, const char *text)
{
    const size_t length = strlen(text);
    const char *from = text;

    if (length >= size) {
        from += length - (size - sizeof("..."));
        while (((unsigned char)*from & 0xc0) == 0x80) /* not within a character */
            from++;
    }
    snprintf(out, size, "%s%s", from > text ? "..." : "", from);
    return out;
}

size_t ridge_text_columns(const char *utf8, size_t length)
{
    size_t columns = 0;
    size_t i;

    for (i = 0; i < length; i++) {
        const unsigned char byte = (unsigned char)utf8[i];

        if ((byte & 0xc0) == 0x80)
            continue; /* continuation */
        /* Three-byte sequences from U+2E80 on (E2 BA ..) are CJK and full width, near enough;
         * box drawing and blocks (U+2500..U+259F) are E2 94..96 and stay single. */
        columns += (byte >= 0xe3 && byte <= 0xed) || byte >= 0xf0 ? 2 : 1;
    }
    return columns;
}
