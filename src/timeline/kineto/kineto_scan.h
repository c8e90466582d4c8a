/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON as it is found: where texts, numbers and containers end, with 16 bytes a step where the
 * processor has SSE2. Nothing is copied, nothing is believed: a quote inside a text that nobody
 * escaped is told from the closing one by what follows, trailing commas pass, control characters
 * and backslashes before anything pass.
 *
 * All functions may read up to KINETO_GUARD_BYTES behind the end, which the caller provides. */
#ifndef RIDGE_KINETO_SCAN_H
#define RIDGE_KINETO_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum {
    KINETO_GUARD_BYTES = 64,
    KINETO_DEPTH = 32 /* of containers in an event; bounds what a damaged one costs */
};

/* A part of the text; data NULL: absent. */
typedef struct kineto_slice {
    const char *data;
    size_t size;
} kineto_slice;

/* Behind its last byte: what is not there has no address to count from. */
static inline const char *kineto_end(kineto_slice text)
{
    return text.size > 0 ? text.data + text.size : text.data;
}

static inline bool kineto_is(kineto_slice slice, const char *text)
{
    const size_t length = strlen(text);

    return slice.size == length && memcmp(slice.data, text, length) == 0;
}

/* Where scanning stopped: at the end of the text with more wanted, or at what cannot be. */
extern const char kineto_cut[], kineto_bad[];

static inline bool kineto_failed(const char *at)
{
    return at == kineto_cut || at == kineto_bad;
}

static inline const char *kineto_space(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
        at++;
    return at;
}

/* The next quote or backslash, or the end. */
static inline const char *kineto_find_quote(const char *at, const char *end)
{
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');

    for (; at < end; at += 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        const __m128i hits =
            _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash));
        const unsigned mask = (unsigned)_mm_movemask_epi8(hits);

        if (mask != 0) {
            at += __builtin_ctz(mask);
            return at < end ? at : end;
        }
    }
    return end;
#else
    while (at < end && *at != '"' && *at != '\\')
        at++;
    return at;
#endif
}

/* The next quote or bracket of either kind, or the end. */
static inline const char *kineto_find_bracket(const char *at, const char *end)
{
#if defined(__SSE2__)
    /* With bit 5 set, '[' is '{' and ']' is '}'. */
    const __m128i quote = _mm_set1_epi8('"'), open = _mm_set1_epi8('{');
    const __m128i close = _mm_set1_epi8('}'), bit = _mm_set1_epi8(0x20);

    for (; at < end; at += 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        const __m128i lower = _mm_or_si128(bytes, bit);
        const __m128i hits =
            _mm_or_si128(_mm_cmpeq_epi8(bytes, quote),
                         _mm_or_si128(_mm_cmpeq_epi8(lower, open), _mm_cmpeq_epi8(lower, close)));
        const unsigned mask = (unsigned)_mm_movemask_epi8(hits);

        if (mask != 0) {
            at += __builtin_ctz(mask);
            return at < end ? at : end;
        }
    }
    return end;
#else
    while (at < end && *at != '"' && *at != '{' && *at != '[' && *at != '}' && *at != ']')
        at++;
    return at;
#endif
}

/* From behind the opening quote to behind the closing one: the first quote after which something
 * comes that can follow a text. */
static inline const char *kineto_text(const char *at, const char *end, kineto_slice *text,
                                      bool *has_escape)
{
    const char *const begin = at;

    for (;;) {
        const char *next;

        at = kineto_find_quote(at, end);
        if (at == end)
            return kineto_cut;
        if (*at == '\\') {
            *has_escape = true;
            if (end - at < 2)
                return kineto_cut;
            at += 2;
            continue;
        }
        next = kineto_space(++at, end);
        if (next == end)
            return kineto_cut;
        if (*next == ',' || *next == ':' || *next == '}' || *next == ']') {
            *text = (kineto_slice){begin, (size_t)(at - 1 - begin)};
            return at;
        }
    }
}

/* The same of a key and its colon: no key has quotes in it, so that the first one closes it and an
 * event that is broken there does not swallow the next. */
static inline const char *kineto_key(const char *at, const char *end, kineto_slice *key)
{
    const char *const begin = at;

    while ((at = kineto_find_quote(at, end)) < end && *at == '\\')
        at += end - at < 2 ? 1 : 2;
    if (at >= end)
        return kineto_cut;
    *key = (kineto_slice){begin, (size_t)(at - begin)};
    at = kineto_space(at + 1, end);
    if (at == end)
        return kineto_cut;
    return *at == ':' ? kineto_space(at + 1, end) : kineto_bad;
}

/* Past the container that opens here. */
const char *kineto_container(const char *at, const char *end);
/* Past a value of any kind; *value gets it, of a text what is between the quotes. */
const char *kineto_value(const char *at, const char *end, kineto_slice *value, bool *is_text,
                         bool *has_escape);

/* A decimal times 10^places, rounded half to even; false: no number, or beyond 2^62.
 * *has_fraction becomes true when a digit behind the point is not 0. */
bool kineto_decimal(kineto_slice text, int places, int64_t *out, bool *has_fraction);
/* A whole number (of whose decimals nothing is left); false leaves *out. */
bool kineto_integer(kineto_slice text, int64_t *out);

/* Walks the members of an object or the elements of an array:
 *
 *     for (at = begin; kineto_member(&at, end, &key, &value);) ...
 *
 * begin is behind the opening bracket. key may be NULL (of an array). False at the closing bracket
 * and at what cannot be. */
bool kineto_member(const char **at, const char *end, kineto_slice *key, kineto_slice *value);

#endif
