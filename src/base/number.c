/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers as text, the same in every locale. printf() takes the decimal point of the process's
 * locale, and that may be changed by the program that links the library; so each number is
 * printed and its point, the only part that is neither a digit, sign nor letter, replaced. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base_internal.h"

/* Makes the decimal point of a number that printf() wrote a '.'; some locales have a point of
 * several bytes. */
static void fix_point(char *text)
{
    char *to = text;
    const char *from = text;

    while (*from != '\0') {
        if (strchr("0123456789+-eEinfa", *from) != NULL) {
            *to++ = *from++;
            continue;
        }
        *to++ = '.';
        while (*from != '\0' && strchr("0123456789+-eEinfa", *from) == NULL)
            from++;
    }
    *to = '\0';
}

char *base_number_exact(double value, char buffer[BASE_NUMBER_BYTES])
{
    int digits;

    if (isnan(value) || isinf(value)) {
        snprintf(buffer, BASE_NUMBER_BYTES, "%s",
                 isnan(value) ? "nan"
                 : value > 0  ? "inf"
                              : "-inf");
        return buffer;
    }
    for (digits = 15; digits <= 17; digits++) {
        snprintf(buffer, BASE_NUMBER_BYTES, "%.*g", digits, value);
        /* strtod() reads with the same locale's point. */
        if (digits == 17 || strtod(buffer, NULL) == value)
            break;
    }
    fix_point(buffer);
    return buffer;
}

/* Puts a ',' between groups of three of the digits at the end of text. */
static void group_digits(char *text, size_t size)
{
    const size_t sign = text[0] == '-' ? 1 : 0;
    const size_t length = strlen(text);
    const size_t comma_count = length > sign ? (length - sign - 1) / 3 : 0;
    size_t left = length;
    size_t to = length + comma_count;

    if (to >= size)
        return;
    text[to] = '\0';
    while (to > left) {
        size_t i;

        for (i = 0; i < 3; i++)
            text[--to] = text[--left];
        text[--to] = ',';
    }
}

char *base_count_grouped(uint64_t value, char buffer[BASE_NUMBER_BYTES])
{
    snprintf(buffer, BASE_NUMBER_BYTES, "%" PRIu64, value);
    group_digits(buffer, BASE_NUMBER_BYTES);
    return buffer;
}

/* Decimals that show four significant digits, at most most; -1: an exponent is needed. */
static int decimals_of(double value, int most)
{
    char text[BASE_NUMBER_BYTES];
    int exponent;

    if (value == 0)
        return 0;
    if (isinf(value)) /* a percentage may get there */
        return -1;
    snprintf(text, sizeof(text), "%.3e", value);
    exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
    if (exponent >= 15 || (exponent < -5 && most > 5))
        return -1;
    if (exponent >= 3)
        return 0;
    return 3 - exponent < most ? 3 - exponent : most;
}

/* Four significant digits. */
static void four_digits(double value, int most_decimals, char text[BASE_NUMBER_BYTES])
{
    const int decimals = decimals_of(value, most_decimals);

    if (decimals < 0)
        snprintf(text, BASE_NUMBER_BYTES, "%.3e", value);
    else
        snprintf(text, BASE_NUMBER_BYTES, "%.*f", decimals, value);
    fix_point(text);
}

/* How a unit scales: value is divided by step until it is below step. */
static const struct scale {
    double step;
    const char *names[6]; /* NULL: the one before is the last */
} scales[] = {
    [RIDGE_UNIT_NS] = {1000, {"ns", "us", "ms", "s"}},
    [RIDGE_UNIT_BYTES] = {1024, {"B", "KiB", "MiB", "GiB", "TiB", "PiB"}},
    [RIDGE_UNIT_BYTES_PER_S] = {1000, {"B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s"}},
    [RIDGE_UNIT_FLOP_PER_S] = {1000,
                               {"FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s"}},
    [RIDGE_UNIT_OP_PER_S] = {1000, {"OP/s", "kOP/s", "MOP/s", "GOP/s", "TOP/s", "POP/s"}},
    [RIDGE_UNIT_HZ] = {1000, {"Hz", "kHz", "MHz", "GHz", "THz"}},
    [RIDGE_UNIT_FLOP] = {1000, {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"}},
};

static void scaled_text(double value, const struct scale *scale, char *buffer, size_t size)
{
    /* What four digits round up to the next step is shown as that step: 1.000 us. */
    const double limit = scale->step == 1024 ? 1023.5 : 999.95;
    const size_t last = sizeof(scale->names) / sizeof(scale->names[0]) - 1;
    char text[BASE_NUMBER_BYTES];
    size_t at = 0;

    while (fabs(value) >= limit && at < last && scale->names[at + 1] != NULL) {
        value /= scale->step;
        at++;
    }
    if (at == 0 && scale->step == 1024 && value == floor(value))
        snprintf(text, sizeof(text), "%.0f", value); /* bytes are whole */
    else
        four_digits(value, 9, text);
    snprintf(buffer, size, "%s %s", text, scale->names[at]);
}

static void plain_text(double value, char *buffer, size_t size)
{
    char text[BASE_NUMBER_BYTES];

    if (value == floor(value) && fabs(value) < 1e15)
        snprintf(text, sizeof(text), "%.0f", value);
    else
        four_digits(value, 9, text);
    snprintf(buffer, size, "%s", text);
}

static void count_text(double value, char *buffer, size_t size)
{
    char text[BASE_NUMBER_BYTES];

    if (fabs(value) >= 1e19 || (fabs(value) < 999.5 && value != floor(value))) {
        four_digits(value, 9, text);
    } else {
        snprintf(text, sizeof(text), "%.0f", value);
        group_digits(text, sizeof(text));
    }
    snprintf(buffer, size, "%s", text);
}

/* Two decimals at most: what they cannot show is too small to matter. */
static void percent_text(double value, char *buffer, size_t size)
{
    char text[BASE_NUMBER_BYTES];

    if (value != 0 && fabs(value) < 0.5e-4) {
        snprintf(buffer, size, value > 0 ? "<0.01 %%" : ">-0.01 %%");
        return;
    }
    four_digits(value * 100, 2, text);
    snprintf(buffer, size, "%s %%", text);
}

char *ridge_number_text(double value, ridge_unit unit, char *buffer, size_t size)
{
    char text[BASE_NUMBER_BYTES];

    if (size == 0)
        return buffer;
    if (isnan(value)) {
        snprintf(buffer, size, "n/a");
        return buffer;
    }
    if (isinf(value)) {
        snprintf(buffer, size, value > 0 ? "inf" : "-inf");
        return buffer;
    }
    if (value == 0)
        value = 0; /* no sign */
    switch (unit) {
    case RIDGE_UNIT_NONE:
        plain_text(value, buffer, size);
        break;
    case RIDGE_UNIT_COUNT:
        count_text(value, buffer, size);
        break;
    case RIDGE_UNIT_FRAC:
        percent_text(value, buffer, size);
        break;
    case RIDGE_UNIT_RATIO:
        four_digits(value, 9, text);
        snprintf(buffer, size, "%sx", text);
        break;
    case RIDGE_UNIT_NS:
    case RIDGE_UNIT_BYTES:
    case RIDGE_UNIT_BYTES_PER_S:
    case RIDGE_UNIT_FLOP_PER_S:
    case RIDGE_UNIT_OP_PER_S:
    case RIDGE_UNIT_HZ:
    case RIDGE_UNIT_FLOP:
        scaled_text(value, &scales[unit], buffer, size);
        break;
    }
    return buffer;
}

char *ridge_quantity_text(double value, const char *unit, char *buffer, size_t size)
{
    static const struct {
        const char *name;
        ridge_unit unit;
        double factor;
    } units[] = {
        {"frac", RIDGE_UNIT_FRAC, 1},   {"%", RIDGE_UNIT_FRAC, 0.01},
        {"byte", RIDGE_UNIT_BYTES, 1},  {"byte/block", RIDGE_UNIT_BYTES, 1},
        {"ns", RIDGE_UNIT_NS, 1},       {"byte/s", RIDGE_UNIT_BYTES_PER_S, 1},
        {"ratio", RIDGE_UNIT_RATIO, 1},
    };
    size_t i;

    for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(units[i].name, unit) == 0)
            return ridge_number_text(value * units[i].factor, units[i].unit, buffer, size);
    return ridge_number_text(value, floor(value) == value ? RIDGE_UNIT_COUNT : RIDGE_UNIT_NONE,
                             buffer, size);
}
