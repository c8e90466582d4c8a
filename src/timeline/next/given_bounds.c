/* SPDX-License-Identifier: Apache-2.0
 *
 * Bounds by hand, a line a kernel:
 *
 *     # comment
 *     REGEX bytes=N flops=N peak=NAME
 *
 * REGEX is an extended regular expression for the whole demangled or base name; "in quotes" where
 * it has spaces. bytes and flops are of one call; either may be missing. peak goes to the end of the
 * line ("bf16 tensor", the names of ridge/bound.h) and is needed for flops. The first line that
 * fits a kernel counts. */
#include "timeline/next/next_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"

enum { MOST_LINES = 10000, LINE_BYTES = 8192 };

typedef struct given_line {
    regex_t expression;
    char pattern[64]; /* as far as it fits, for messages */
    ridge_work work;
} given_line;

struct ridge_given_bounds {
    given_line *lines;
    size_t count, capacity;
};

void ridge_given_bounds_free(ridge_given_bounds *bounds)
{
    if (bounds == NULL)
        return;
    for (size_t i = 0; i < bounds->count; i++)
        regfree(&bounds->lines[i].expression);
    ridge_free(bounds->lines);
    ridge_free(bounds);
}

static char *skip_space(char *at)
{
    return at + strspn(at, " \t\r");
}

/* Cuts the first word off; *rest is behind it. NULL: quotes that do not end. */
static char *take_word(char *at, char **rest)
{
    if (*at == '"') {
        char *const end = strchr(at + 1, '"');

        if (end == NULL)
            return NULL;
        *end = '\0';
        *rest = skip_space(end + 1);
        return at + 1;
    }
    *rest = at + strcspn(at, " \t\r");
    if (**rest != '\0')
        *(*rest)++ = '\0';
    *rest = skip_space(*rest);
    return at;
}

/* A number of a thousand digits is none; nor is a negative one. */
static bool read_amount(const char *text, double *out)
{
    char *end;

    if (*text < '0' || *text > '9' || strspn(text, "0123456789.eE+") != strlen(text))
        return false;
    *out = strtod(text, &end);
    return *end == '\0' && isfinite(*out);
}

static ridge_status read_members(char *at, size_t number, ridge_work *work, ridge_error *err)
{
    while (*at != '\0') {
        char *word, *rest;

        if (strncmp(at, "peak=", 5) == 0) { /* names have spaces: to the end */
            size_t length = strlen(at);

            while (length > 5 && strchr(" \t\r", at[length - 1]) != NULL)
                at[--length] = '\0';
            if (!ridge_peak_find(at + 5, &work->peak))
                return ridge_fail(err, RIDGE_ERR_FORMAT,
                                  "line %zu: no peak '%.60s', expected one such as bf16 tensor",
                                  number, at + 5);
            break;
        }
        word = take_word(at, &rest);
        if (word == NULL || (strncmp(word, "bytes=", 6) != 0 && strncmp(word, "flops=", 6) != 0))
            return ridge_fail(err, RIDGE_ERR_FORMAT,
                              "line %zu: '%.60s', expected bytes=N, flops=N or peak=NAME", number,
                              word != NULL ? word : at);
        if (!read_amount(word + 6, word[0] == 'b' ? &work->read_bytes : &work->flop_count))
            return ridge_fail(err, RIDGE_ERR_FORMAT, "line %zu: '%.60s', expected a number", number,
                              word);
        at = rest;
    }
    if (work->flop_count > 0 && work->peak == RIDGE_PEAK_NONE)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "line %zu: flops without a peak, expected one such as peak=bf16 tensor",
                          number);
    if (work->flop_count == 0)
        work->peak = RIDGE_PEAK_NONE;
    if (!(work->read_bytes + work->flop_count > 0))
        return ridge_fail(err, RIDGE_ERR_FORMAT, "line %zu: neither bytes=N nor flops=N", number);
    return RIDGE_OK;
}

static ridge_status add_line(ridge_given_bounds *bounds, char *line, size_t number,
                             ridge_error *err)
{
    ridge_work work = {.peak = RIDGE_PEAK_NONE};
    ridge_error inner = {0};
    char *rest;
    char *const pattern = take_word(skip_space(line), &rest);
    ridge_status status;

    if (pattern == NULL)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "line %zu: quotes that do not end", number);
    status = read_members(rest, number, &work, err);
    if (status != RIDGE_OK)
        return status;
    if (bounds->count == bounds->capacity) {
        const size_t capacity = bounds->capacity == 0 ? 16 : bounds->capacity * 2;
        given_line *const lines = ridge_realloc_array(bounds->lines, capacity, sizeof(*lines));

        if (lines == NULL)
            return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
        bounds->lines = lines;
        bounds->capacity = capacity;
    }
    status = sum_compile("expression", pattern, &bounds->lines[bounds->count].expression, &inner);
    if (status == RIDGE_ERR_OUT_OF_MEMORY)
        return ridge_fail(err, status, "out of memory");
    if (status != RIDGE_OK)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "line %zu: %s", number, inner.text);
    snprintf(bounds->lines[bounds->count].pattern, sizeof(bounds->lines->pattern), "%s", pattern);
    bounds->lines[bounds->count++].work = work;
    return RIDGE_OK;
}

ridge_status ridge_given_bounds_parse(const char *text, size_t length, ridge_given_bounds **out,
                                      ridge_error *err)
{
    ridge_given_bounds *bounds = ridge_calloc(1, sizeof(*bounds));
    char *const line = ridge_calloc(LINE_BYTES, 1);
    ridge_status status = RIDGE_OK;
    size_t number = 0;

    *out = NULL;
    if (bounds == NULL || line == NULL)
        status = ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    while (status == RIDGE_OK && length > 0) {
        const char *const newline = memchr(text, '\n', length);
        const size_t line_length = newline != NULL ? (size_t)(newline - text) : length;

        number++;
        if (line_length >= LINE_BYTES || memchr(text, '\0', line_length) != NULL ||
            bounds->count == MOST_LINES) {
            status = ridge_fail(err, RIDGE_ERR_FORMAT,
                                "line %zu: expected text, at most %d bytes a line and %d lines",
                                number, LINE_BYTES, MOST_LINES);
            break;
        }
        memcpy(line, text, line_length);
        line[line_length] = '\0';
        if (*skip_space(line) != '\0' && *skip_space(line) != '#')
            status = add_line(bounds, line, number, err);
        text += newline != NULL ? line_length + 1 : line_length;
        length -= newline != NULL ? line_length + 1 : line_length;
    }
    ridge_free(line);
    if (status == RIDGE_OK) {
        *out = bounds;
        bounds = NULL;
    }
    ridge_given_bounds_free(bounds);
    return status;
}

ridge_status ridge_given_bounds_read(const char *path, ridge_given_bounds **out, ridge_error *err)
{
    ridge_file file;
    ridge_status status;

    *out = NULL;
    status = ridge_file_open(path, &file, err);
    if (status != RIDGE_OK)
        return status;
    status = ridge_given_bounds_parse((const char *)file.bytes.data, file.bytes.size, out, err);
    ridge_file_release(&file);
    return status;
}

static bool fits(const given_line *line, const char *demangled, const char *base)
{
    return regexec(&line->expression, base, 0, NULL, 0) == 0 ||
           regexec(&line->expression, demangled, 0, NULL, 0) == 0;
}

const ridge_work *given_bounds_find(const ridge_given_bounds *given, const char *demangled,
                                    const char *base)
{
    for (size_t i = 0; given != NULL && i < given->count; i++)
        if (fits(&given->lines[i], demangled, base))
            return &given->lines[i].work;
    return NULL;
}

/* A line is asked until it fits, a name only while some do not. */
ridge_status ridge_given_bounds_unused(const ridge_given_bounds *bounds, const ridge_trace *trace,
                                       size_t *count, const char **first, ridge_error *err)
{
    ridge_trace_sums sums = {0};
    bool *used = NULL;
    ridge_status status;
    char base[1024];

    *count = 0;
    *first = NULL;
    status =
        ridge_trace_sum_kernels(trace, RIDGE_KERNEL_BY_NAME, RIDGE_TRACE_NONE, NULL, &sums, err);
    if (status == RIDGE_OK) {
        used = ridge_calloc(bounds->count + 1, sizeof(*used));
        if (used == NULL)
            status = ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    }
    for (size_t i = 0; status == RIDGE_OK && i < sums.count; i++) {
        const char *const name = sums.rows[i].name;

        ridge_kernel_base_name(name, base, sizeof(base));
        for (size_t line = 0; line < bounds->count; line++)
            used[line] = used[line] || fits(&bounds->lines[line], name, base);
    }
    for (size_t line = bounds->count; status == RIDGE_OK && line-- > 0;)
        if (!used[line]) {
            ++*count;
            *first = bounds->lines[line].pattern;
        }
    ridge_free(used);
    ridge_trace_sums_free(&sums);
    return status;
}
