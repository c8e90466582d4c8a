/* SPDX-License-Identifier: Apache-2.0
 *
 * The slower half of scanning: containers, values, numbers. */
#include "timeline/kineto/kineto_scan.h"

const char kineto_cut[1], kineto_bad[1];

const char *kineto_container(const char *at, const char *end)
{
    unsigned depth = 0;

    for (;;) {
        kineto_slice text;
        bool has_escape;

        at = kineto_find_bracket(at, end);
        if (at == end)
            return kineto_cut;
        switch (*at++) {
        case '"':
            at = kineto_text(at, end, &text, &has_escape);
            if (kineto_failed(at))
                return at;
            break;
        case '{':
        case '[':
            if (++depth > KINETO_DEPTH)
                return kineto_bad;
            break;
        default:
            if (--depth == 0)
                return at;
        }
    }
}

/* What a number or a word goes on over, ends at, and cannot hold. */
enum { GOES_ON, ENDS, BAD };

static const uint8_t in_word[256] = {
    [','] = ENDS,  ['}'] = ENDS, [']'] = ENDS, [' '] = ENDS, ['\n'] = ENDS, ['\r'] = ENDS,
    ['\t'] = ENDS, ['"'] = BAD,  ['{'] = BAD,  ['['] = BAD,  [':'] = BAD,   ['\0'] = BAD,
};

const char *kineto_value(const char *at, const char *end, kineto_slice *value, bool *is_text,
                         bool *has_escape)
{
    const char *const begin = at;

    *is_text = false;
    if (at == end)
        return kineto_cut;
    if (*at == '"') {
        *is_text = true;
        return kineto_text(at + 1, end, value, has_escape);
    }
    if (*at == '{' || *at == '[') {
        at = kineto_container(at, end);
        if (!kineto_failed(at))
            *value = (kineto_slice){begin, (size_t)(at - begin)};
        return at;
    }
    while (at < end && in_word[(uint8_t)*at] == GOES_ON)
        at++;
    if (at == end)
        return kineto_cut;
    if (at == begin || in_word[(uint8_t)*at] == BAD)
        return kineto_bad;
    *value = (kineto_slice){begin, (size_t)(at - begin)};
    return at;
}

bool kineto_member(const char **at, const char *end, kineto_slice *key, kineto_slice *value)
{
    bool is_text, has_escape;
    const char *here = *at;

    here = kineto_space(here, end);
    while (here < end && *here == ',')
        here = kineto_space(here + 1, end);
    if (here == end || *here == '}' || *here == ']')
        return false;
    if (key != NULL) {
        if (*here != '"')
            return false;
        here = kineto_key(here + 1, end, key);
        if (kineto_failed(here))
            return false;
    }
    here = kineto_value(here, end, value, &is_text, &has_escape);
    if (kineto_failed(here))
        return false;
    *at = here;
    return true;
}

/* -- numbers ----------------------------------------------------------------------------------- */

enum { LARGEST_DIGITS = 19 }; /* what always fits 64 bits */

static uint64_t power_of_ten(int exponent)
{
    uint64_t power = 1;

    while (exponent-- > 0)
        power *= 10;
    return power;
}

/* The digits of a number and where its point is. Digits beyond what 64 bits hold are remembered as
 * zero or not zero, which is enough to round. */
typedef struct digits {
    uint64_t value;
    int exponent; /* of ten */
    bool is_negative, has_rest, has_fraction;
} digits;

static bool read_exponent(const char *at, const char *end, int *exponent)
{
    const bool is_negative = at < end && *at == '-';
    int value = 0;

    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (at == end)
        return false;
    for (; at < end; at++) {
        if (*at < '0' || *at > '9')
            return false;
        value = value < 10000 ? value * 10 + (*at - '0') : value;
    }
    *exponent += is_negative ? -value : value;
    return true;
}

static bool read_digits(kineto_slice text, digits *out)
{
    const char *at = text.data, *const end = kineto_end(text);
    bool seen_point = false, seen_digit = false;
    int kept = 0;

    *out = (digits){0};
    if (text.size > 400) /* keeps the exponent small */
        return false;
    if (at < end && (*at == '-' || *at == '+'))
        out->is_negative = *at++ == '-';
    for (; at < end; at++) {
        if (*at == '.') {
            if (seen_point)
                return false;
            seen_point = true;
            continue;
        }
        if (*at < '0' || *at > '9')
            break;
        seen_digit = true;
        out->has_fraction |= seen_point && *at != '0';
        if (kept < LARGEST_DIGITS) {
            out->value = out->value * 10 + (uint64_t)(*at - '0');
            kept += out->value != 0;
            out->exponent -= seen_point;
        } else {
            out->has_rest |= *at != '0';
            out->exponent += !seen_point;
        }
    }
    if (!seen_digit)
        return false;
    return at == end || ((*at == 'e' || *at == 'E') && read_exponent(at + 1, end, &out->exponent));
}

bool kineto_decimal(kineto_slice text, int places, int64_t *out, bool *has_fraction)
{
    const uint64_t limit = UINT64_C(1) << 62;
    digits number;
    uint64_t value;
    int shift;

    if (!read_digits(text, &number))
        return false;
    value = number.value;
    shift = value != 0 ? number.exponent + places : 0;
    if (shift > 0) {
        if (shift > LARGEST_DIGITS || value > limit / power_of_ten(shift) || number.has_rest)
            return false;
        value *= power_of_ten(shift);
    } else if (shift < -LARGEST_DIGITS) {
        value = 0;
    } else if (shift < 0) {
        const uint64_t power = power_of_ten(-shift), rest = value % power;

        value /= power;
        if (rest > power / 2 || (rest == power / 2 && (number.has_rest || (value & 1) != 0)))
            value++;
    }
    if (value >= limit)
        return false;
    *out = number.is_negative ? -(int64_t)value : (int64_t)value;
    *has_fraction |= number.has_fraction;
    return true;
}

bool kineto_integer(kineto_slice text, int64_t *out)
{
    bool has_fraction = false;

    return kineto_decimal(text, 0, out, &has_fraction);
}
