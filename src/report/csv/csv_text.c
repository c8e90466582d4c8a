/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of `ncu --csv`: RFC 4180 rows, numbers with separators, and scaled units. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/csv/csv_internal.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* -- rows -------------------------------------------------------------------------------------- */

void csv_rows_init(csv_rows *rows, const char *text, size_t length)
{
    *rows = (csv_rows){.position = text, .end = text + length, .line = 1};
}

void csv_rows_release(csv_rows *rows)
{
    ridge_free(rows->fields);
    rows->fields = NULL;
}

static const char *end_of_line(const char *text, const char *end)
{
    const char *const newline = text < end ? memchr(text, '\n', (size_t)(end - text)) : NULL;

    return newline != NULL ? newline : end;
}

static bool add_field(csv_rows *rows, csv_field field)
{
    if (rows->field_count == rows->field_capacity) {
        const size_t capacity = rows->field_capacity == 0 ? 64 : rows->field_capacity * 2;
        csv_field *const fields = ridge_realloc_array(rows->fields, capacity, sizeof(*fields));

        if (fields == NULL)
            return false;
        rows->fields = fields;
        rows->field_capacity = capacity;
    }
    rows->fields[rows->field_count++] = field;
    return true;
}

/* The quote that closes the field whose text starts at start; NULL: there is none. */
static const char *closing_quote(const char *start, const char *end, bool *has_quotes)
{
    while (start < end) {
        const char *const quote = memchr(start, '"', (size_t)(end - start));

        if (quote == NULL)
            break;
        if (quote + 1 == end || quote[1] != '"')
            return quote;
        *has_quotes = true;
        start = quote + 2;
    }
    return NULL;
}

/* Reads the field at *at, which moves to the comma or the end of the line. */
static csv_result read_field(csv_rows *rows, const char **at, csv_field *field)
{
    const char *quote;

    *field = (csv_field){.text = *at};
    if (*at == rows->end || **at != '"') {
        while (*at < rows->end && **at != ',' && **at != '\n')
            (*at)++;
        field->length = (size_t)(*at - field->text);
        if (field->length > 0 && (*at)[-1] == '\r' && (*at == rows->end || **at == '\n'))
            field->length--;
        return CSV_ROW;
    }
    field->text++;
    quote = closing_quote(field->text, rows->end, &field->has_quotes);
    if (quote == NULL) {
        rows->problem = "a quoted field does not end";
        return CSV_DAMAGED;
    }
    field->length = (size_t)(quote - field->text);
    *at = quote + 1;
    if (*at < rows->end && **at == '\r')
        (*at)++;
    if (*at == rows->end || **at == ',' || **at == '\n')
        return CSV_ROW;
    rows->problem = "text behind a quoted field";
    return CSV_DAMAGED;
}

/* Moves behind the line that holds at. */
static void go_behind(csv_rows *rows, const char *at)
{
    const char *const end = end_of_line(at, rows->end);

    for (const char *line = rows->position; line < end; line = end_of_line(line, end) + 1)
        rows->line++;
    if (end == rows->position) /* an empty line */
        rows->line++;
    rows->position = end < rows->end ? end + 1 : rows->end;
}

csv_result csv_rows_next(csv_rows *rows)
{
    const char *at = rows->position;

    rows->field_count = 0;
    rows->row_line = rows->line;
    if (at == rows->end)
        return CSV_END;
    for (;;) {
        csv_field field;
        csv_result result = read_field(rows, &at, &field);

        if (result == CSV_ROW && rows->field_count == CSV_MOST_FIELDS) {
            rows->problem = "more fields than a profile has";
            result = CSV_DAMAGED;
        }
        if (result != CSV_ROW) {
            go_behind(rows, rows->position);
            return result;
        }
        if (!add_field(rows, field))
            return CSV_OUT_OF_MEMORY;
        if (at == rows->end || *at != ',')
            break;
        at++;
    }
    go_behind(rows, at);
    return CSV_ROW;
}

bool csv_is(const csv_field *field, const char *text)
{
    return field->length == strlen(text) && memcmp(field->text, text, field->length) == 0;
}

/* -- numbers ----------------------------------------------------------------------------------- */

static bool is_digit(const char *at, const char *end)
{
    return at < end && *at >= '0' && *at <= '9';
}

enum { MOST_DIGITS = 19, MOST_EXPONENT = 9999 };

/* Appends a digit; those beyond 64 bits only move the point. */
static void add_digit(csv_number *number, int *digits, char digit, bool in_fraction)
{
    if (*digits == MOST_DIGITS) {
        number->is_count = false;
        if (!in_fraction && number->exponent < MOST_EXPONENT)
            number->exponent++;
        return;
    }
    number->mantissa = number->mantissa * 10 + (uint64_t)(digit - '0');
    if (number->mantissa != 0)
        (*digits)++;
    if (in_fraction && number->exponent > -MOST_EXPONENT)
        number->exponent--;
}

/* Digits, in groups of three where separators stand. */
static bool read_whole(const char **at, const char *end, char separator, csv_number *out,
                       int *digits)
{
    int group = 0; /* digits since the last separator */
    bool separated = false;

    for (;; (*at)++) {
        if (is_digit(*at, end)) {
            add_digit(out, digits, **at, false);
            if (group < 4)
                group++;
        } else if (*at < end && **at == separator) {
            if (group == 0 || group > 3 || (separated && group != 3))
                return false;
            separated = true;
            group = 0;
        } else {
            return separated ? group == 3 : group > 0;
        }
    }
}

static bool read_exponent(const char **at, const char *end, csv_number *out)
{
    int exponent = 0;
    bool negative = false;

    if (*at < end && (**at == '+' || **at == '-'))
        negative = *(*at)++ == '-';
    if (!is_digit(*at, end))
        return false;
    for (; is_digit(*at, end); (*at)++)
        if (exponent < MOST_EXPONENT)
            exponent = exponent * 10 + (**at - '0');
    out->exponent += negative ? -exponent : exponent;
    return true;
}

bool csv_read_number(const char *text, size_t length, char decimal, csv_number *out)
{
    const char *at = text;
    const char *const end = text + length;
    int digits = 0;

    *out = (csv_number){.is_count = true};
    if (at < end && (*at == '-' || *at == '+')) {
        out->negative = *at++ == '-';
        out->is_count = false;
    }
    if (!read_whole(&at, end, decimal == '.' ? ',' : '.', out, &digits))
        return false;
    if (at < end && *at == decimal) {
        out->is_count = false;
        at++;
        if (!is_digit(at, end))
            return false;
        for (; is_digit(at, end); at++)
            add_digit(out, &digits, *at, true);
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        out->is_count = false;
        at++;
        if (!read_exponent(&at, end, out))
            return false;
    }
    /* "5 (2; 3)" under --print-metric-instances values */
    if (end - at >= 3 && at[0] == ' ' && at[1] == '(' && end[-1] == ')')
        return true;
    return at == end;
}

double csv_number_value(const csv_number *number, int scale)
{
    /* Powers that a double holds exactly: one operation is one rounding. */
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    uint64_t mantissa = number->mantissa;
    int exponent = number->exponent + scale;
    double value;

    for (; exponent < 0 && mantissa != 0 && mantissa % 10 == 0; exponent++)
        mantissa /= 10;
    if (mantissa >> 53 == 0 && exponent >= 0 && exponent < (int)COUNT(powers)) {
        value = (double)mantissa * powers[exponent];
    } else if (mantissa >> 53 == 0 && exponent < 0 && -exponent < (int)COUNT(powers)) {
        value = (double)mantissa / powers[-exponent];
    } else {
        char text[48]; /* without a point, so that the locale does not matter */

        snprintf(text, sizeof(text), "%llue%d", (unsigned long long)mantissa, exponent);
        value = strtod(text, NULL);
    }
    return number->negative ? -value : value;
}

/* -- units ------------------------------------------------------------------------------------- */

/* The scale of "Mbyte", "us" or "Ghz"; *is_time for units of time, in nanoseconds. Spellings of
 * ncu before 2023 ("usecond") included. */
static int word_scale(const char *word, size_t length, bool *is_time)
{
    static const struct {
        const char *text;
        int scale;
    } times[] = {{"ns", 0},      {"us", 3},      {"ms", 6},      {"s", 9},
                 {"nsecond", 0}, {"usecond", 3}, {"msecond", 6}, {"second", 9}};
    static const char prefixes[] = "KMGTP";

    *is_time = false;
    for (size_t i = 0; i < COUNT(times); i++)
        if (strlen(times[i].text) == length && memcmp(times[i].text, word, length) == 0) {
            *is_time = true;
            return times[i].scale;
        }
    /* "SM" is none: what is scaled is spelt in small letters. */
    if (length >= 2 && word[1] >= 'a' && word[1] <= 'z')
        for (int i = 0; prefixes[i] != '\0'; i++)
            if (word[0] == prefixes[i])
                return 3 * (i + 1);
    return 0;
}

int csv_unit_scale(const char *unit, size_t length)
{
    const char *const slash = length > 0 ? memchr(unit, '/', length) : NULL;
    const size_t above = slash != NULL ? (size_t)(slash - unit) : length;
    bool is_time;
    int scale = word_scale(unit, above, &is_time);

    if (slash != NULL) {
        const int below = word_scale(slash + 1, length - above - 1, &is_time);

        /* Rates are per second. "8.297 %/Kbyte" is 8297 %/byte: so does the profiler. */
        scale += is_time ? 9 - below : below;
    }
    return scale;
}
