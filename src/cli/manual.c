/* SPDX-License-Identifier: Apache-2.0
 *
 * Printing manual pages: one pass that cuts a page into blocks, and two writers of blocks. */
#include "manual.h"

#include <stdio.h>
#include <string.h>

#include "options.h"

enum { BLOCK_BYTES = 4096, NAME_BYTES = 64 };

enum block_kind { BLOCK_TITLE, BLOCK_HEADING, BLOCK_PARAGRAPH, BLOCK_ITEM, BLOCK_CODE };

/* Where a writer is in a page. */
struct place {
    bool in_code;
    bool in_synopsis; /* the code that follows the title */
};

/* Prints a block. text is a paragraph without line breaks, or one line of code; NULL ends code. */
typedef void block_writer(ridge_output *output, struct place *place, enum block_kind kind,
                          const char *text);

const struct manual_page *manual_find(const char *name)
{
    const struct manual_page *page;

    for (page = manual_pages; page->name != NULL; page++)
        if (strcmp(page->name, name) == 0)
            return page;
    return NULL;
}

/* -- blocks ------------------------------------------------------------------------------------ */

struct block {
    enum block_kind kind;
    char text[BLOCK_BYTES];
    size_t length;
};

static void flush(struct block *block, ridge_output *output, struct place *place,
                  block_writer *write)
{
    if (block->length > 0)
        write(output, place, block->kind, block->text);
    block->length = 0;
    block->text[0] = '\0';
}

/* Adds a line to a block, with a space between two. */
static void add_line(struct block *block, const char *line, size_t length)
{
    if (block->length > 0 && block->length < BLOCK_BYTES - 1)
        block->text[block->length++] = ' ';
    if (length > BLOCK_BYTES - 1 - block->length)
        length = BLOCK_BYTES - 1 - block->length;
    memcpy(block->text + block->length, line, length);
    block->length += length;
    block->text[block->length] = '\0';
}

static bool begins_with(const char *line, size_t length, const char *prefix)
{
    return length >= strlen(prefix) && strncmp(line, prefix, strlen(prefix)) == 0;
}

/* Begins or continues a block with what stands behind the prefix. */
static void begin(struct block *block, enum block_kind kind, const char *prefix, const char *line,
                  size_t length)
{
    block->kind = kind;
    add_line(block, line + strlen(prefix), length - strlen(prefix));
}

#define INDENT "    " /* of code between paragraphs */

/* -- tables ------------------------------------------------------------------------------------ */

enum { TABLE_COLUMNS = 8, CELL_BYTES = 400, ROW_BYTES = 4000, TABLE_WIDTH = 94 };

struct row {
    char cells[TABLE_COLUMNS][CELL_BYTES];
    size_t count;
};

/* Cells of "| a | b |", without the marks of code; returns the line behind it. */
static const char *read_row(const char *at, const char *end, struct row *row)
{
    size_t used = 0;

    row->count = 0;
    for (at++; at < end && *at != '\n'; at++) {
        char *const cell = row->cells[row->count];

        if (*at == '|') {
            while (used > 0 && cell[used - 1] == ' ')
                used--;
            cell[used] = '\0';
            used = 0;
            row->count += row->count + 1 < TABLE_COLUMNS;
        } else if (*at != '`' && (used > 0 || *at != ' ') && used < CELL_BYTES - 1) {
            cell[used++] = *at;
        }
    }
    return at < end ? at + 1 : end;
}

/* The rule below the titles. */
static bool is_rule(const struct row *row)
{
    return row->count > 0 && row->cells[0][0] != '\0' &&
           strspn(row->cells[0], "-: ") == strlen(row->cells[0]);
}

/* The last cell of a row behind the others, as many lines as it takes. */
static void write_last(ridge_output *output, struct place *place, char *text, size_t used,
                       const char *cell, block_writer *write)
{
    const size_t room = used + 20 < TABLE_WIDTH ? TABLE_WIDTH - used : 20;

    while (*cell != '\0') {
        size_t length = strlen(cell), cut = room;

        if (length > room) {
            while (cut > 0 && cell[cut] != ' ')
                cut--;
            length = cut > 0 ? cut : room;
        }
        snprintf(text + used, ROW_BYTES - used, "%.*s", (int)length, cell);
        write(output, place, BLOCK_CODE, text);
        memset(text, ' ', used);
        cell += length;
        cell += strspn(cell, " ");
    }
}

/* A table as lines of code in aligned columns; returns what follows it. */
static const char *print_table(ridge_output *output, struct place *place, const char *at,
                               const char *end, block_writer *write)
{
    size_t widths[TABLE_COLUMNS] = {0}, i;
    const char *line = at;
    struct row row;

    while (line < end && *line == '|') {
        line = read_row(line, end, &row);
        for (i = 0; i < row.count && !is_rule(&row); i++)
            if (strlen(row.cells[i]) > widths[i])
                widths[i] = strlen(row.cells[i]);
    }
    while (at < line) {
        char text[ROW_BYTES] = "";
        size_t used = 0;

        at = read_row(at, end, &row);
        if (is_rule(&row))
            continue;
        for (i = 0; i + 1 < row.count && used < sizeof(text) - 1; i++)
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%-*s  ", (int)widths[i],
                                     row.cells[i]);
        if (row.count > 0 && used < sizeof(text) - 1)
            write_last(output, place, text, used, row.cells[row.count - 1], write);
    }
    write(output, place, BLOCK_CODE, NULL);
    return at;
}

/* Lines indented by four are code, a line each; returns what follows them. */
static const char *print_indented(ridge_output *output, struct place *place, const char *at,
                                  const char *end, block_writer *write)
{
    while (at < end && begins_with(at, (size_t)(end - at), INDENT)) {
        const char *const newline = memchr(at, '\n', (size_t)(end - at));
        const char *const stop = newline != NULL ? newline : end;
        char line[256];

        at += strlen(INDENT);
        snprintf(line, sizeof(line), "%.*s", (int)(stop - at < 255 ? stop - at : 255), at);
        write(output, place, BLOCK_CODE, line);
        at = newline != NULL ? newline + 1 : end;
    }
    write(output, place, BLOCK_CODE, NULL);
    return at;
}

static void print_blocks(ridge_output *output, const struct manual_page *page, block_writer *write)
{
    const char *at = (const char *)page->text;
    const char *const end = at + page->size_bytes;
    struct block block = {0};
    struct place place = {0};
    bool is_code = false;

    while (at < end) {
        const char *const newline = memchr(at, '\n', (size_t)(end - at));
        const size_t length = (size_t)((newline != NULL ? newline : end) - at);

        if (begins_with(at, length, "```")) {
            flush(&block, output, &place, write);
            if (is_code)
                write(output, &place, BLOCK_CODE, NULL);
            is_code = !is_code;
        } else if (is_code) {
            char line[256];

            snprintf(line, sizeof(line), "%.*s", (int)(length < 255 ? length : 255), at);
            write(output, &place, BLOCK_CODE, line);
        } else if (at[0] == '|') {
            flush(&block, output, &place, write);
            at = print_table(output, &place, at, end, write);
            continue;
        } else if (block.length == 0 && begins_with(at, length, INDENT)) {
            at = print_indented(output, &place, at, end, write);
            continue;
        } else if (length == 0) {
            flush(&block, output, &place, write);
        } else if (begins_with(at, length, "# ")) {
            flush(&block, output, &place, write);
            begin(&block, BLOCK_TITLE, "# ", at, length);
        } else if (begins_with(at, length, "## ")) {
            flush(&block, output, &place, write);
            begin(&block, BLOCK_HEADING, "## ", at, length);
        } else if (begins_with(at, length, "- ")) {
            flush(&block, output, &place, write);
            begin(&block, BLOCK_ITEM, "- ", at, length);
        } else {
            if (block.length == 0)
                block.kind = BLOCK_PARAGRAPH;
            begin(&block, block.kind, begins_with(at, length, "  ") ? "  " : "", at, length);
        }
        at = newline != NULL ? newline + 1 : end;
    }
    flush(&block, output, &place, write);
}

/* An item "`--top N`: text" defines its beginning: where the text begins, else NULL. */
static const char *definition(const char *item)
{
    const char *const colon = strstr(item, "`: ");

    return item[0] == '`' && colon != NULL ? colon + 3 : NULL;
}

/* -- for reading ------------------------------------------------------------------------------- */

/* Copies text without the marks of code and strong. */
static const char *without_marks(const char *text, size_t length, char *buffer)
{
    size_t to = 0;
    size_t i;

    for (i = 0; i < length && to < BLOCK_BYTES - 1; i++) {
        if (text[i] == '`')
            continue;
        if (text[i] == '*' && i + 1 < length && text[i + 1] == '*') {
            i++;
            continue;
        }
        buffer[to++] = text[i];
    }
    buffer[to] = '\0';
    return buffer;
}

static void write_text(ridge_output *output, struct place *place, enum block_kind kind,
                       const char *text)
{
    char plain[BLOCK_BYTES];
    const char *defined;

    (void)place;
    switch (kind) {
    case BLOCK_TITLE:
        ridge_output_styled(output, RIDGE_STYLE_STRONG, without_marks(text, strlen(text), plain));
        ridge_output_text(output, "\n\n");
        break;
    case BLOCK_HEADING:
        ridge_output_styled(output, RIDGE_STYLE_STRONG, without_marks(text, strlen(text), plain));
        ridge_output_text(output, "\n");
        break;
    case BLOCK_PARAGRAPH:
        ridge_output_wrap(output, 0, "", without_marks(text, strlen(text), plain));
        ridge_output_text(output, "\n");
        break;
    case BLOCK_ITEM:
        defined = definition(text);
        if (defined == NULL) {
            ridge_output_wrap(output, 4, "  - ", without_marks(text, strlen(text), plain));
        } else {
            char term[16] = "        ";

            without_marks(text, (size_t)(defined - 2 - text), plain);
            if (strlen(plain) <= 4)
                snprintf(term, sizeof(term), "  %-6.6s", plain);
            else
                ridge_output_format(output, "  %s\n", plain);
            ridge_output_wrap(output, 8, term, without_marks(defined, strlen(defined), plain));
        }
        ridge_output_text(output, "\n");
        break;
    case BLOCK_CODE:
        if (text == NULL)
            ridge_output_text(output, "\n");
        else
            ridge_output_format(output, "%s%s\n", text[0] != '\0' ? "    " : "", text);
        break;
    }
}

void manual_print(ridge_output *output, const struct manual_page *page)
{
    print_blocks(output, page, write_text);
}

/* -- for man(1) -------------------------------------------------------------------------------- */

/* One character as roff takes it literally. */
static void put_roff(ridge_output *output, char c)
{
    const char text[2] = {c, '\0'};

    if (c == '\\')
        ridge_output_text(output, "\\e");
    else if (c == '-')
        ridge_output_text(output, "\\-");
    else
        ridge_output_text(output, text);
}

/* Text with code and strong in bold. A point or quote at a line's start would be a request. */
static void put_marked(ridge_output *output, const char *text, size_t length)
{
    bool bold = false;
    bool code = false;
    size_t i;

    if (length > 0 && (text[0] == '.' || text[0] == '\''))
        ridge_output_text(output, "\\&");
    for (i = 0; i < length; i++) {
        const bool strong = !code && text[i] == '*' && i + 1 < length && text[i + 1] == '*';

        if (text[i] != '`' && !strong) {
            put_roff(output, text[i]);
            continue;
        }
        bold = !bold;
        if (strong)
            i++;
        else
            code = !code;
        ridge_output_text(output, bold ? "\\fB" : "\\fR");
    }
}

static void put_line(ridge_output *output, const char *text, size_t length)
{
    put_marked(output, text, length);
    ridge_output_text(output, "\n");
}

/* "ridge kernels: what it does" -> header and NAME section; names have '-' for the space. */
static void put_title(ridge_output *output, const char *text)
{
    const size_t length = strcspn(text, ":");
    const char *const summary = text[length] == ':' ? text + length + 2 : "";
    char name[NAME_BYTES];
    char upper[NAME_BYTES];
    size_t i;

    snprintf(name, sizeof(name), "%.*s", (int)(length < NAME_BYTES ? length : NAME_BYTES - 1),
             text);
    for (i = 0; name[i] != '\0'; i++)
        if (name[i] == ' ')
            name[i] = '-';
    for (i = 0; name[i] != '\0'; i++)
        upper[i] = name[i] >= 'a' && name[i] <= 'z' ? (char)(name[i] - 'a' + 'A') : name[i];
    upper[i] = '\0';
    ridge_output_format(output, ".TH %s 1 \"\" \"ridge %s\" \"Manual of ridge\"\n.SH NAME\n", upper,
                        ridge_version());
    put_marked(output, name, strlen(name));
    ridge_output_text(output, " \\- ");
    put_line(output, summary, strlen(summary));
    ridge_output_text(output, ".SH SYNOPSIS\n");
}

static void write_man(ridge_output *output, struct place *place, enum block_kind kind,
                      const char *text)
{
    const char *defined;
    const char *c;

    switch (kind) {
    case BLOCK_TITLE:
        put_title(output, text);
        place->in_synopsis = true;
        break;
    case BLOCK_HEADING:
        ridge_output_text(output, ".SH ");
        for (c = text; *c != '\0'; c++)
            put_roff(output, *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c);
        ridge_output_text(output, "\n");
        break;
    case BLOCK_PARAGRAPH:
        ridge_output_text(output, ".PP\n");
        put_line(output, text, strlen(text));
        break;
    case BLOCK_ITEM:
        defined = definition(text);
        if (defined == NULL) {
            ridge_output_text(output, ".IP \\(bu 2\n");
            put_line(output, text, strlen(text));
        } else {
            ridge_output_text(output, ".TP\n");
            put_line(output, text, (size_t)(defined - 2 - text));
            put_line(output, defined, strlen(defined));
        }
        break;
    case BLOCK_CODE:
        if (!place->in_code && text != NULL)
            ridge_output_text(output, place->in_synopsis ? ".nf\n" : ".PP\n.RS 4\n.nf\n");
        place->in_code = text != NULL;
        if (text == NULL) {
            ridge_output_text(output, place->in_synopsis ? ".fi\n.SH DESCRIPTION\n" : ".fi\n.RE\n");
            place->in_synopsis = false;
            break;
        }
        if (text[0] == '.' || text[0] == '\'')
            ridge_output_text(output, "\\&");
        for (c = text; *c != '\0'; c++)
            put_roff(output, *c);
        ridge_output_text(output, "\n");
        break;
    }
}

void manual_print_man(ridge_output *output, const struct manual_page *page)
{
    print_blocks(output, page, write_man);
}
