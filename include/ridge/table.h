/* SPDX-License-Identifier: Apache-2.0
 *
 * Output. A command computes rows; these writers print them. One ridge_table is printed as
 * aligned text, as Markdown, as CSV or as JSON; nested documents use ridge_json.
 *
 * All writers go to a ridge_output, which remembers its first failure (out of memory, a full
 * disk), so that a command prints everything and checks once with ridge_output_close(). */
#ifndef RIDGE_TABLE_H
#define RIDGE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ridge/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -- where output goes ------------------------------------------------------------------------- */

typedef struct ridge_output ridge_output;

/* Collects text for a stream. columns: width to fit, 0: 100, RIDGE_COLUMNS_WHOLE: 100 as well, but
 * a table's cells are never shortened: one that is too long makes its line longer. The stream is
 * borrowed. */
#define RIDGE_COLUMNS_WHOLE (-1)
ridge_output *ridge_output_create(FILE *stream, int columns, bool colour);
/* Writes what is left, frees, and reports the first failure. NULL output: out of memory. */
ridge_status ridge_output_close(ridge_output *output, ridge_error *err);
int ridge_output_columns(const ridge_output *output);
void ridge_output_text(ridge_output *output, const char *text);
void ridge_output_format(ridge_output *output, const char *format, ...) RIDGE_PRINTF(2, 3);
/* Prints text filled to the output's width: the first line after first_indent, the others after
 * indent columns; breaks at spaces only. The cursor must stand at a line's start. */
void ridge_output_wrap(ridge_output *output, int indent, const char *first_indent,
                       const char *text);
/* The same on a line of which so many columns are written. */
void ridge_output_wrap_on(ridge_output *output, int indent, size_t column, const char *text);

typedef enum ridge_style {
    RIDGE_STYLE_PLAIN,
    RIDGE_STYLE_STRONG, /* headings, the verdict */
    RIDGE_STYLE_DIM,    /* asides */
    RIDGE_STYLE_BAD,
    RIDGE_STYLE_WARN,
    RIDGE_STYLE_GOOD
} ridge_style;
/* text in a style; plain where the output has no colour. */
void ridge_output_styled(ridge_output *output, ridge_style style, const char *text);

/* Width of a terminal behind a stream, or 100 where there is none; $COLUMNS overrides. */
int ridge_terminal_columns(FILE *stream);
/* True for a terminal, unless NO_COLOR is set (to anything but "") or TERM is dumb. */
bool ridge_terminal_colour(FILE *stream);

/* -- numbers as people read them --------------------------------------------------------------- */

typedef enum ridge_unit {
    RIDGE_UNIT_NONE,        /* four significant digits; whole numbers in full */
    RIDGE_UNIT_COUNT,       /* 1,234,567 */
    RIDGE_UNIT_NS,          /* 93.81 us */
    RIDGE_UNIT_BYTES,       /* 73.00 KiB */
    RIDGE_UNIT_BYTES_PER_S, /* 4.812 TB/s */
    RIDGE_UNIT_FLOP_PER_S,  /* 989.5 TFLOP/s */
    RIDGE_UNIT_OP_PER_S,    /* 624.0 TOP/s: integers */
    RIDGE_UNIT_HZ,          /* 1.980 GHz */
    RIDGE_UNIT_FLOP,        /* 412.3 GFLOP */
    RIDGE_UNIT_FRAC,        /* 0.7415 as 74.15 % */
    RIDGE_UNIT_RATIO        /* 2.300x */
} ridge_unit;

/* Writes a number with its unit into buffer (at least 32 bytes) and returns buffer; NAN is
 * "n/a". Always the C locale. */
char *ridge_number_text(double value, ridge_unit unit, char *buffer, size_t size);

/* The same by the name of a metric's unit: "byte", "byte/s", "%", "ns", "frac" (a fraction of 1),
 * "ratio"; any other is a plain number. */
char *ridge_quantity_text(double value, const char *unit, char *buffer, size_t size);

/* -- JSON -------------------------------------------------------------------------------------- */

/* A streaming writer: commas, quotes, indentation and escapes are its business. NAN and
 * infinities are written as null, invalid UTF-8 as U+FFFD. Numbers read back bit for bit. */
typedef struct ridge_json ridge_json;

/* NULL when out of memory: then the output has failed and all other calls do nothing. */
ridge_json *ridge_json_create(ridge_output *output);
void ridge_json_free(ridge_json *json); /* ends the document with a newline */
/* key is NULL inside arrays and for the top value. */
void ridge_json_begin_object(ridge_json *json, const char *key);
void ridge_json_end_object(ridge_json *json);
void ridge_json_begin_array(ridge_json *json, const char *key);
void ridge_json_end_array(ridge_json *json);
void ridge_json_text(ridge_json *json, const char *key, const char *text); /* NULL: null */
void ridge_json_text_n(ridge_json *json, const char *key, const char *text, size_t length);
void ridge_json_number(ridge_json *json, const char *key, double value);
void ridge_json_count(ridge_json *json, const char *key, uint64_t value);
void ridge_json_integer(ridge_json *json, const char *key, int64_t value);
void ridge_json_bool(ridge_json *json, const char *key, bool value);
void ridge_json_null(ridge_json *json, const char *key);

/* -- tables ------------------------------------------------------------------------------------ */

typedef enum ridge_format {
    RIDGE_FORMAT_TEXT,
    RIDGE_FORMAT_MARKDOWN,
    RIDGE_FORMAT_CSV,
    RIDGE_FORMAT_JSON
} ridge_format;

typedef struct ridge_column {
    const char *key;   /* JSON key and CSV heading: the C field's name */
    const char *title; /* text and Markdown heading */
    ridge_unit unit;   /* how numbers are shown in text and Markdown */
    bool is_text;      /* left-aligned */
    /* How a text table fits a line. Text is shortened in the middle, but to no less than this many
     * columns; 0: never, as for identifiers and numbers. */
    unsigned char narrowest;
    /* When that is not enough, columns are left out whole, the highest number first; 0: never. */
    unsigned char leave_out;
} ridge_column;

typedef struct ridge_table ridge_table;

/* columns is borrowed. NULL when out of memory; all other calls accept NULL and do nothing, but
 * writing NULL or an incomplete table lets the output fail, so one check at its end is enough. */
ridge_table *ridge_table_create(const ridge_column *columns, size_t column_count);
void ridge_table_free(ridge_table *table);
/* Cells are added in order; a row is complete after column_count cells. Text is copied. */
void ridge_table_text(ridge_table *table, const char *text); /* NULL: n/a */
void ridge_table_text_n(ridge_table *table, const char *text, size_t length);
void ridge_table_number(ridge_table *table, double value); /* NAN: n/a */
void ridge_table_count(ridge_table *table, uint64_t value);
void ridge_table_bool(ridge_table *table, bool value); /* yes or no; in CSV 1 or 0 */
/* An array of three numbers in JSON, the text elsewhere. */
void ridge_table_extent(ridge_table *table, const int extent[3], const char *text);
size_t ridge_table_row_count(const ridge_table *table);
/* Prints the table. In JSON it is an array of objects under key in json, which must be open
 * inside an object (then output is unused); otherwise json is unused. */
void ridge_table_write(const ridge_table *table, ridge_format format, ridge_output *output,
                       ridge_json *json, const char *key);

#ifdef __cplusplus
}
#endif
#endif
