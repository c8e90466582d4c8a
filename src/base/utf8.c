/* SPDX-License-Identifier: Apache-2.0
 *
 * UTF-8 that may be hostile: validation (Unicode 15, table 3-7: no overlong forms, no surrogates,
 * nothing beyond U+10FFFF), cleaning for a terminal, and shortening to a width. */
#include <string.h>

#include "base/base_internal.h"

static bool is_continuation(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

size_t base_utf8_size(const char *text, size_t left)
{
    const unsigned char *const p = (const unsigned char *)text;

    if (left == 0)
        return 0;
    if (p[0] < 0x80)
        return 1;
    if (p[0] >= 0xc2 && p[0] <= 0xdf)
        return left >= 2 && is_continuation(p[1]) ? 2 : 0;
    if (p[0] >= 0xe0 && p[0] <= 0xef) {
        if (left < 3 || !is_continuation(p[1]) || !is_continuation(p[2]))
            return 0;
        if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f))
            return 0;
        return 3;
    }
    if (p[0] >= 0xf0 && p[0] <= 0xf4) {
        if (left < 4 || !is_continuation(p[1]) || !is_continuation(p[2]) || !is_continuation(p[3]))
            return 0;
        if ((p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
            return 0;
        return 4;
    }
    return 0;
}

/* True for characters that act on a terminal instead of showing: C0, DEL, C1 (U+0080..U+009F,
 * where some terminals find escape sequences) and the direction overrides and isolates
 * (U+202A..U+202E, U+2066..U+2069), which make text read differently from what it is. */
static bool is_control(const char *text, size_t size)
{
    const unsigned char *const p = (const unsigned char *)text;

    if (size == 1)
        return p[0] < 0x20 || p[0] == 0x7f;
    if (size == 2)
        return p[0] == 0xc2 && p[1] < 0xa0;
    if (size == 3 && p[0] == 0xe2)
        return (p[1] == 0x80 && p[2] >= 0xaa && p[2] <= 0xae) ||
               (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9);
    return false;
}

void base_clean(ridge_text *out, const char *text, size_t length, base_clean_flags keep)
{
    size_t begin = 0; /* of what is clean and not yet appended */
    size_t at = 0;

    while (at < length) {
        const size_t size = base_utf8_size(text + at, length - at);
        const bool kept = ((keep & BASE_KEEP_NEWLINE) != 0 && text[at] == '\n') ||
                          ((keep & BASE_KEEP_TAB) != 0 && text[at] == '\t');

        if (size > 0 && (kept || !is_control(text + at, size))) {
            at += size;
            continue;
        }
        ridge_text_add_bytes(out, text + begin, at - begin);
        ridge_text_add(out, "?");
        at += size > 0 ? size : 1;
        begin = at;
    }
    ridge_text_add_bytes(out, text + begin, at - begin);
}

void base_clean_in_place(char *text)
{
    const size_t length = strlen(text);
    size_t at = 0, to = 0;

    while (at < length) {
        const size_t size = base_utf8_size(text + at, length - at);

        if (size > 0 && !is_control(text + at, size)) {
            memmove(text + to, text + at, size);
            to += size;
            at += size;
        } else {
            text[to++] = '?';
            at += size > 0 ? size : 1;
        }
    }
    text[to] = '\0';
}

/* Size of the longest beginning of text that takes at most columns columns. */
static size_t head_size(const char *text, size_t length, size_t columns)
{
    size_t at = 0;
    size_t taken = 0;

    while (at < length) {
        const size_t size = base_utf8_size(text + at, length - at);
        const size_t step = size > 0 ? size : 1;
        const size_t width = ridge_text_columns(text + at, step);

        if (taken + width > columns)
            break;
        taken += width;
        at += step;
    }
    return at;
}

/* Where the longest end of text that takes at most columns columns begins. */
static size_t tail_begin(const char *text, size_t length, size_t columns)
{
    size_t at = length;

    while (at > 0) {
        size_t before = at - 1;

        while (before > 0 && is_continuation((unsigned char)text[before]))
            before--;
        if (ridge_text_columns(text + before, length - before) > columns)
            break;
        at = before;
    }
    return at;
}

void base_shorten(ridge_text *out, const char *text, size_t length, size_t columns)
{
    const char *const dots = "...";
    const size_t dot_count = strlen(dots);
    size_t head_columns;
    size_t tail;

    if (ridge_text_columns(text, length) <= columns) {
        ridge_text_add_bytes(out, text, length);
        return;
    }
    if (columns < dot_count + 2) {
        ridge_text_add_bytes(out, text, head_size(text, length, columns));
        return;
    }
    /* The end of a name says as much as its beginning: equal shares. */
    head_columns = (columns - dot_count + 1) / 2;
    tail = tail_begin(text, length, columns - dot_count - head_columns);
    ridge_text_add_bytes(out, text, head_size(text, length, head_columns));
    ridge_text_add(out, dots);
    ridge_text_add_bytes(out, text + tail, length - tail);
}
