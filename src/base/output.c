/* SPDX-License-Identifier: Apache-2.0
 *
 * Where output goes: a text that is handed to the stream in large pieces. The first failure is
 * kept for ridge_output_close(); after it nothing more is written. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/base_internal.h"
#include "base/memory.h"

enum {
    DEFAULT_COLUMNS = 100,
    FEWEST_COLUMNS = 40,
    MOST_COLUMNS = 1000,
    FLUSH_BYTES = 1 << 16,
};

struct ridge_output {
    FILE *stream;
    int columns;
    bool colour;
    bool whole;        /* cells of tables are not shortened */
    ridge_text text;   /* not yet given to the stream */
    ridge_error error; /* the first failure; RIDGE_OK: none */
};

static int clamp_columns(long columns)
{
    if (columns < FEWEST_COLUMNS)
        return FEWEST_COLUMNS;
    return columns > MOST_COLUMNS ? MOST_COLUMNS : (int)columns;
}

ridge_output *ridge_output_create(FILE *stream, int columns, bool colour)
{
    ridge_output *const output = ridge_calloc(1, sizeof(*output));

    if (output == NULL)
        return NULL;
    output->stream = stream;
    output->columns = columns > 0 ? clamp_columns(columns) : DEFAULT_COLUMNS;
    output->colour = colour;
    output->whole = columns == RIDGE_COLUMNS_WHOLE;
    ridge_text_init(&output->text);
    return output;
}

void base_output_fail(ridge_output *output, ridge_status status, const char *message)
{
    if (output != NULL && output->error.status == RIDGE_OK)
        ridge_fail(&output->error, status, "%s", message);
}

static void fail_with_errno(ridge_output *output)
{
    char reason[160];

    if (strerror_r(errno, reason, sizeof(reason)) != 0)
        strcpy(reason, "unknown reason");
    if (output->error.status == RIDGE_OK)
        ridge_fail(&output->error, RIDGE_ERR_IO, "cannot write output: %s", reason);
}

static void flush(ridge_output *output)
{
    if (output->text.failed)
        base_output_fail(output, RIDGE_ERR_OUT_OF_MEMORY, "out of memory while writing output");
    if (output->error.status == RIDGE_OK && output->text.length > 0) {
        errno = 0;
        if (fwrite(output->text.data, 1, output->text.length, output->stream) !=
            output->text.length)
            fail_with_errno(output);
    }
    ridge_text_clear(&output->text);
}

ridge_status ridge_output_close(ridge_output *output, ridge_error *err)
{
    ridge_status status;

    if (output == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for output");
    flush(output);
    errno = 0;
    if (output->error.status == RIDGE_OK && fflush(output->stream) != 0)
        fail_with_errno(output);
    status = output->error.status;
    if (status != RIDGE_OK && err != NULL)
        *err = output->error;
    ridge_text_release(&output->text);
    ridge_free(output);
    return status;
}

int ridge_output_columns(const ridge_output *output)
{
    return output != NULL ? output->columns : DEFAULT_COLUMNS;
}

bool base_output_is_whole(const ridge_output *output)
{
    return output != NULL && output->whole;
}

void base_output_raw(ridge_output *output, const char *bytes, size_t size)
{
    if (output == NULL)
        return;
    ridge_text_add_bytes(&output->text, bytes, size);
    if (output->text.length >= FLUSH_BYTES)
        flush(output);
}

void ridge_output_text(ridge_output *output, const char *text)
{
    if (output == NULL)
        return;
    base_clean(&output->text, text, strlen(text), BASE_KEEP_NEWLINE | BASE_KEEP_TAB);
    if (output->text.length >= FLUSH_BYTES)
        flush(output);
}

void ridge_output_format(ridge_output *output, const char *format, ...)
{
    va_list arguments;
    char small[512];
    char *large;
    int size;

    if (output == NULL)
        return;
    va_start(arguments, format);
    size = vsnprintf(small, sizeof(small), format, arguments);
    va_end(arguments);
    if (size >= 0 && (size_t)size < sizeof(small)) {
        ridge_output_text(output, small);
        return;
    }
    large = size < 0 ? NULL : ridge_calloc((size_t)size + 1, 1);
    if (large == NULL) {
        base_output_fail(output, RIDGE_ERR_OUT_OF_MEMORY, "out of memory while writing output");
        return;
    }
    va_start(arguments, format);
    vsnprintf(large, (size_t)size + 1, format, arguments);
    va_end(arguments);
    ridge_output_text(output, large);
    ridge_free(large);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* A number stays beside its unit: "13.8 %", "3.00 us". Length of both, or of the word alone. */
static size_t length_with_unit(const char *text, size_t length)
{
    static const char *const units[] = {"%", "ns", "us", "ms", "s", "B", "KB", "MB", "GB", "TB"};
    size_t i;

    if (length == 0 || text[length] != ' ' || text[length - 1] < '0' || text[length - 1] > '9')
        return length;
    for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        const size_t unit = strlen(units[i]);

        if (strncmp(text + length + 1, units[i], unit) == 0 &&
            strchr(" ,.;:)", text[length + 1 + unit]) != NULL)
            return length + 1 + strcspn(text + length + 1, " \n\t\r");
    }
    return length;
}

void ridge_output_wrap(ridge_output *output, int indent, const char *first_indent, const char *text)
{
    ridge_output_text(output, first_indent);
    ridge_output_wrap_on(output, indent, ridge_text_columns(first_indent, strlen(first_indent)),
                         text);
}

void ridge_output_wrap_on(ridge_output *output, int indent, size_t column, const char *text)
{
    bool at_start = true; /* of a line: no space goes before the next word */

    if (output == NULL)
        return;
    for (;;) {
        size_t length = 0;
        size_t width;

        while (is_space(*text))
            text++;
        while (text[length] != '\0' && !is_space(text[length]))
            length++;
        if (length == 0)
            break;
        length = length_with_unit(text, length);
        width = ridge_text_columns(text, length);
        if (!at_start && column + 1 + width > (size_t)output->columns) {
            ridge_text_add(&output->text, "\n");
            ridge_text_add_repeat(&output->text, " ", indent > 0 ? (size_t)indent : 0);
            column = indent > 0 ? (size_t)indent : 0;
            at_start = true;
        }
        if (!at_start) {
            ridge_text_add(&output->text, " ");
            column++;
        }
        base_clean(&output->text, text, length, BASE_CLEAN_ALL);
        column += width;
        at_start = false;
        text += length;
    }
    base_output_raw(output, "\n", 1);
}

void ridge_output_styled(ridge_output *output, ridge_style style, const char *text)
{
    static const char *const codes[] = {
        [RIDGE_STYLE_PLAIN] = "",        [RIDGE_STYLE_STRONG] = "\033[1m",
        [RIDGE_STYLE_DIM] = "\033[2m",   [RIDGE_STYLE_BAD] = "\033[1;31m",
        [RIDGE_STYLE_WARN] = "\033[33m", [RIDGE_STYLE_GOOD] = "\033[32m",
    };

    if (output == NULL)
        return;
    if (!output->colour || style == RIDGE_STYLE_PLAIN) {
        ridge_output_text(output, text);
        return;
    }
    ridge_text_add(&output->text, codes[style]);
    ridge_output_text(output, text);
    ridge_text_add(&output->text, "\033[0m");
}

int ridge_terminal_columns(FILE *stream)
{
    const char *const variable = getenv("COLUMNS");

    if (variable != NULL && *variable != '\0') {
        char *end;
        const long columns = strtol(variable, &end, 10);

        if (*end == '\0' && columns > 0)
            return clamp_columns(columns);
    }
#ifdef TIOCGWINSZ
    {
        const int descriptor = fileno(stream);
        struct winsize size;

        if (descriptor >= 0 && isatty(descriptor) && ioctl(descriptor, TIOCGWINSZ, &size) == 0 &&
            size.ws_col > 0)
            return clamp_columns(size.ws_col);
    }
#endif
    return DEFAULT_COLUMNS;
}

bool ridge_terminal_colour(FILE *stream)
{
    const char *const no_color = getenv("NO_COLOR");
    const char *const term = getenv("TERM");
    const int descriptor = fileno(stream);

    if (no_color != NULL && *no_color != '\0')
        return false;
    if (term == NULL || strcmp(term, "dumb") == 0)
        return false;
    return descriptor >= 0 && isatty(descriptor) == 1;
}
