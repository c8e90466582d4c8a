/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of `ncu --csv`: rows, numbers and scaled units. */
#ifndef RIDGE_REPORT_CSV_INTERNAL_H
#define RIDGE_REPORT_CSV_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Borrowed from the file, without the quotes around it. */
typedef struct csv_field {
    const char *text;
    size_t length;
    bool has_quotes; /* quotes inside, still doubled */
} csv_field;

enum { CSV_MOST_FIELDS = 1 << 16 }; /* of a row; a profile has 2,300 metrics */

/* The rows of a text. init, then next until CSV_END, then release. */
typedef struct csv_rows {
    const char *position, *end;
    size_t line;       /* of position, from 1 */
    csv_field *fields; /* of the row */
    size_t field_count, field_capacity;
    size_t row_line;
    const char *problem; /* of a damaged row */
} csv_rows;

typedef enum csv_result {
    CSV_END,
    CSV_ROW,
    CSV_DAMAGED, /* the line is passed over */
    CSV_OUT_OF_MEMORY
} csv_result;

void csv_rows_init(csv_rows *rows, const char *text, size_t length);
void csv_rows_release(csv_rows *rows);
csv_result csv_rows_next(csv_rows *rows);

bool csv_is(const csv_field *field, const char *text);

/* A number as printed: mantissa times 10 to the exponent. */
typedef struct csv_number {
    uint64_t mantissa; /* 19 digits at most, the rest is cut */
    int exponent;
    bool negative;
    bool is_count; /* digits and separators of thousands only, and it fits 64 bits */
} csv_number;

/* Reads all of text, but for a list of instances in brackets behind the number. decimal is '.' or
 * ',', the other one separates thousands. False when it is no number. */
bool csv_read_number(const char *text, size_t length, char decimal, csv_number *out);
/* The value times 10 to the scale, rounded once. */
double csv_number_value(const csv_number *number, int scale);

/* What to multiply a value of this unit with, as a power of ten, to have it in base units: 6 for
 * "Mbyte", 3 for "us", 9 for "sector/ns", 3 for "Kbyte/block"; 0 for all others. */
int csv_unit_scale(const char *unit, size_t length);

#endif
