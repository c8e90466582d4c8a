/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of cells, printed in four formats. Cells keep their values; how a value looks is decided
 * when the table is written, since a number is rounded for people and exact for programs.
 *
 * Text tables are fitted to the width by shortening text cells in the middle: the column that has
 * most to give is narrowed first, down to the next, until the line fits. When all are as narrow as
 * is of use, columns are left out whole: a column less tells more than an identifier cut in two. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/base_internal.h"
#include "base/memory.h"

enum {
    GAP_COLUMNS = 2,    /* between two columns of text */
    NARROWEST_TEXT = 8, /* not even where the line is still too long */
    KEPT_HEAD = 7,      /* of a name whose beginning is that of its neighbours */
    SHORT_HEAD = 3,     /* of one that is too long even so */
    DOTS = 3,
    NARROWEST_OF_THREE = 16,
    TOLD = 6, /* letters of a difference that tell it */
    NEIGHBOURS = 20,
};

typedef enum cell_kind { CELL_TEXT, CELL_NUMBER, CELL_COUNT, CELL_BOOL } cell_kind;

typedef struct cell {
    cell_kind kind;
    const char *text; /* in the arena; NULL: n/a */
    double number;
    uint64_t count; /* of a CELL_BOOL 1 or 0 */
    bool is_extent; /* JSON has an array of three instead of the text */
    int extent[3];
} cell;

struct ridge_table {
    const ridge_column *columns;
    size_t column_count;
    cell *cells;
    size_t cell_count;
    size_t cell_capacity;
    ridge_arena arena;
    bool failed; /* out of memory: the table is not complete */
};

ridge_table *ridge_table_create(const ridge_column *columns, size_t column_count)
{
    ridge_table *const table = ridge_calloc(1, sizeof(*table));

    if (table == NULL)
        return NULL;
    table->columns = columns;
    table->column_count = column_count;
    ridge_arena_init(&table->arena);
    return table;
}

void ridge_table_free(ridge_table *table)
{
    if (table == NULL)
        return;
    ridge_arena_release(&table->arena);
    ridge_free(table->cells);
    ridge_free(table);
}

static void add_cell(ridge_table *table, const cell *added)
{
    if (table->failed)
        return;
    if (table->cell_count == table->cell_capacity) {
        const size_t capacity = table->cell_capacity > 0 ? table->cell_capacity * 2 : 64;
        cell *const cells = ridge_realloc_array(table->cells, capacity, sizeof(*cells));

        if (cells == NULL) {
            table->failed = true;
            return;
        }
        table->cells = cells;
        table->cell_capacity = capacity;
    }
    table->cells[table->cell_count++] = *added;
}

void ridge_table_text(ridge_table *table, const char *text)
{
    ridge_table_text_n(table, text, text != NULL ? strlen(text) : 0);
}

void ridge_table_text_n(ridge_table *table, const char *text, size_t length)
{
    cell added = {.kind = CELL_TEXT};

    if (table == NULL)
        return;
    if (text != NULL) {
        added.text = ridge_alloc_text(&table->arena, text, length);
        if (added.text == NULL)
            table->failed = true;
    }
    add_cell(table, &added);
}

void ridge_table_number(ridge_table *table, double value)
{
    const cell added = {.kind = CELL_NUMBER, .number = value};

    if (table != NULL)
        add_cell(table, &added);
}

void ridge_table_count(ridge_table *table, uint64_t value)
{
    const cell added = {.kind = CELL_COUNT, .count = value};

    if (table != NULL)
        add_cell(table, &added);
}

void ridge_table_bool(ridge_table *table, bool value)
{
    const cell added = {.kind = CELL_BOOL, .count = value ? 1 : 0};

    if (table != NULL)
        add_cell(table, &added);
}

void ridge_table_extent(ridge_table *table, const int extent[3], const char *text)
{
    const size_t last = table != NULL ? table->cell_count : 0;

    ridge_table_text(table, text);
    if (table == NULL || table->cell_count == last)
        return;
    table->cells[last].is_extent = true;
    memcpy(table->cells[last].extent, extent, sizeof(table->cells[last].extent));
}

size_t ridge_table_row_count(const ridge_table *table)
{
    return table != NULL && table->column_count > 0 ? table->cell_count / table->column_count : 0;
}

static const cell *cell_at(const ridge_table *table, size_t row, size_t column)
{
    return &table->cells[row * table->column_count + column];
}

/* A cell as people read it, clean, in one line. */
static void show_cell(const cell *shown, const ridge_column *column, ridge_text *out)
{
    char number[BASE_NUMBER_BYTES];

    switch (shown->kind) {
    case CELL_TEXT:
        if (shown->text == NULL)
            ridge_text_add(out, "n/a");
        else
            base_clean(out, shown->text, strlen(shown->text), BASE_CLEAN_ALL);
        break;
    case CELL_NUMBER:
        ridge_text_add(out, ridge_number_text(shown->number, column->unit, number, sizeof(number)));
        break;
    case CELL_COUNT:
        if (column->unit == RIDGE_UNIT_COUNT)
            ridge_text_add(out, base_count_grouped(shown->count, number));
        else if (column->unit == RIDGE_UNIT_NONE)
            ridge_text_format(out, "%" PRIu64, shown->count);
        else
            ridge_text_add(
                out, ridge_number_text((double)shown->count, column->unit, number, sizeof(number)));
        break;
    case CELL_BOOL:
        ridge_text_add(out, shown->count != 0 ? "yes" : "no");
        break;
    }
}

/* -- text -------------------------------------------------------------------------------------- */

/* A column in the lines of a text table. */
typedef struct layout {
    size_t full; /* columns of the widest cell, or of the title */
    size_t width;
    bool left_out;
} layout;

static size_t title_width(const ridge_column *column)
{
    return ridge_text_columns(column->title, strlen(column->title));
}

static void measure(const ridge_table *table, layout *layouts, ridge_text *scratch)
{
    const size_t row_count = ridge_table_row_count(table);
    size_t row;
    size_t column;

    for (column = 0; column < table->column_count; column++)
        layouts[column].full = title_width(&table->columns[column]);
    for (row = 0; row < row_count; row++) {
        for (column = 0; column < table->column_count; column++) {
            size_t width;

            ridge_text_clear(scratch);
            show_cell(cell_at(table, row, column), &table->columns[column], scratch);
            width = ridge_text_columns(scratch->data, scratch->length);
            if (width > layouts[column].full)
                layouts[column].full = width;
        }
    }
    for (column = 0; column < table->column_count; column++)
        layouts[column].width = layouts[column].full;
}

/* Columns by which the line is too long. */
static size_t excess(const ridge_table *table, const layout *layouts, size_t line_columns)
{
    size_t total = 0;
    size_t column;

    for (column = 0; column < table->column_count; column++)
        if (!layouts[column].left_out)
            total += layouts[column].width + (total > 0 ? GAP_COLUMNS : 0);
    return total > line_columns ? total - line_columns : 0;
}

/* Narrows text columns, the one with most to give first, by that many columns or as far as they
 * go; returns what is left. */
static size_t narrow(const ridge_table *table, layout *layouts, size_t too_many, bool desperate)
{
    for (; too_many > 0; too_many--) {
        size_t most = 0;
        size_t chosen = 0;
        size_t column;

        for (column = 0; column < table->column_count; column++) {
            const size_t narrowest = desperate ? NARROWEST_TEXT : table->columns[column].narrowest;
            const size_t width = layouts[column].width;

            if (layouts[column].left_out || table->columns[column].narrowest == 0 ||
                width <= narrowest || width - narrowest <= most)
                continue;
            most = width - narrowest;
            chosen = column;
        }
        if (most == 0)
            break;
        layouts[chosen].width--;
    }
    return too_many;
}

/* Leaves out the least important column; false: none may go. */
static bool leave_out(const ridge_table *table, layout *layouts)
{
    size_t chosen = table->column_count;
    size_t column;

    for (column = 0; column < table->column_count; column++)
        if (!layouts[column].left_out && table->columns[column].leave_out > 0 &&
            (chosen == table->column_count ||
             table->columns[column].leave_out > table->columns[chosen].leave_out))
            chosen = column;
    if (chosen == table->column_count)
        return false;
    layouts[chosen].left_out = true;
    for (column = 0; column < table->column_count; column++)
        layouts[column].width = layouts[column].full;
    return true;
}

static void fit(const ridge_table *table, layout *layouts, const ridge_output *output)
{
    const size_t line_columns = (size_t)ridge_output_columns(output);
    size_t left;

    do {
        left = narrow(table, layouts, excess(table, layouts, line_columns), false);
    } while (left > 0 && !base_output_is_whole(output) && leave_out(table, layouts));
    narrow(table, layouts, left, true);
}

/* True when two texts look the same once they are shortened in the middle. */
static bool is_alike(const char *a, const char *b, size_t width)
{
    const size_t a_length = strlen(a), b_length = strlen(b);
    const size_t head = (width - 2) / 2;
    const size_t tail = width - 3 - head;

    return a_length > width && b_length > width && strncmp(a, b, head) == 0 &&
           strcmp(a + a_length - tail, b + b_length - tail) == 0 && strcmp(a, b) != 0;
}

/* How many bytes a cell shares with those of its neighbours that it would look like; 0: none. */
static size_t shared_head(const ridge_table *table, size_t row, size_t column, size_t width)
{
    const size_t row_count = ridge_table_row_count(table);
    const char *const text = cell_at(table, row, column)->text;
    size_t most = 0;
    size_t other;

    if (text == NULL)
        return 0;
    for (other = row > NEIGHBOURS ? row - NEIGHBOURS : 0;
         other < row_count && other <= row + NEIGHBOURS; other++) {
        const char *const neighbour = cell_at(table, other, column)->text;
        size_t same = 0;

        if (neighbour == NULL || !is_alike(text, neighbour, width))
            continue;
        while (text[same] != '\0' && text[same] == neighbour[same])
            same++;
        most = same > most ? same : most;
    }
    return most;
}

static bool is_ascii(const ridge_text *text)
{
    size_t i;

    for (i = 0; i < text->length; i++)
        if (((unsigned char)text->data[i] & 0x80) != 0)
            return false;
    return true;
}

/* "nvj...128x8...z_TNT": the beginning, where the difference begins, and the end, where the column is
 * too narrow to show the difference else. */
static void keep_three(ridge_text *shown, size_t at, size_t width, ridge_text *scratch)
{
    const size_t kept = width - SHORT_HEAD - DOTS - DOTS;

    ridge_text_clear(scratch);
    ridge_text_add_bytes(scratch, shown->data, SHORT_HEAD);
    ridge_text_add(scratch, "...");
    ridge_text_add_bytes(scratch, shown->data + at, kept - kept / 2);
    ridge_text_add(scratch, "...");
    ridge_text_add_bytes(scratch, shown->data + shown->length - kept / 2, kept / 2);
    ridge_text_clear(shown);
    ridge_text_add_bytes(shown, scratch->data, scratch->length);
}

/* Cuts what a name shares with its neighbours, from the last word that is the same on: what is left
 * is shortened as ever. */
static void cut_shared_head(ridge_text *shown, size_t shared, size_t width, ridge_text *scratch)
{
    size_t at = shared < shown->length ? shared : shown->length;
    size_t head = KEPT_HEAD;

    if (shown->length <= KEPT_HEAD)
        return;
    while (at > 0 && strchr("_:<, ", shown->data[at - 1]) == NULL)
        at--;
    while (((unsigned char)shown->data[head] & 0xc0) == 0x80) /* inside a character */
        head--;
    if (at < KEPT_HEAD + 4)
        return;
    if (width >= NARROWEST_OF_THREE && (width - 2) / 2 < KEPT_HEAD + DOTS + TOLD &&
        KEPT_HEAD + DOTS + shown->length - at > width && is_ascii(shown)) {
        keep_three(shown, at, width, scratch);
        return;
    }
    ridge_text_clear(scratch);
    ridge_text_add_bytes(scratch, shown->data, head);
    ridge_text_add(scratch, "...");
    ridge_text_add_bytes(scratch, shown->data + at, shown->length - at);
    ridge_text_clear(shown);
    ridge_text_add_bytes(shown, scratch->data, scratch->length);
}

static void add_padded(ridge_text *line, const ridge_text *shown, size_t width, bool left,
                       bool whole)
{
    size_t taken = line->length;
    size_t padding;

    /* Shortened text may be a column narrower than asked for, where a wide character ends it. */
    if (left) {
        base_shorten(line, shown->data, shown->length, whole ? SIZE_MAX : width);
        taken = ridge_text_columns(line->data + taken, line->length - taken);
        padding = width > taken ? width - taken : 0;
        ridge_text_add_repeat(line, " ", padding);
    } else {
        taken = ridge_text_columns(shown->data, shown->length);
        padding = width > taken ? width - taken : 0;
        ridge_text_add_repeat(line, " ", padding);
        ridge_text_add_bytes(line, shown->data, shown->length);
    }
}

/* Writes a line without spaces at its end and not wider than the output, unless that is whole. */
static void send_line(ridge_output *output, const ridge_text *line, ridge_text *scratch)
{
    size_t length = line->length;

    while (length > 0 && line->data[length - 1] == ' ')
        length--;
    ridge_text_clear(scratch);
    base_shorten(scratch, line->data, length,
                 base_output_is_whole(output) ? SIZE_MAX : (size_t)ridge_output_columns(output));
    ridge_text_add(scratch, "\n");
    base_output_raw(output, scratch->data, scratch->length);
}

static bool write_text(const ridge_table *table, ridge_output *output)
{
    const size_t row_count = ridge_table_row_count(table);
    const bool whole = base_output_is_whole(output);
    layout *const layouts = ridge_calloc(table->column_count, sizeof(*layouts));
    ridge_text shown, line, scratch;
    size_t row;
    size_t column;
    bool ok;

    if (layouts == NULL)
        return false;
    ridge_text_init(&shown);
    ridge_text_init(&line);
    ridge_text_init(&scratch);
    measure(table, layouts, &shown);
    fit(table, layouts, output);
    for (row = 0; row <= row_count; row++) {
        ridge_text_clear(&line);
        for (column = 0; column < table->column_count; column++) {
            const ridge_column *const format = &table->columns[column];

            if (layouts[column].left_out)
                continue;
            ridge_text_clear(&shown);
            if (row == 0)
                ridge_text_add(&shown, format->title);
            else
                show_cell(cell_at(table, row - 1, column), format, &shown);
            if (row > 0 && !whole && format->is_text &&
                layouts[column].width < layouts[column].full)
                cut_shared_head(&shown, shared_head(table, row - 1, column, layouts[column].width),
                                layouts[column].width, &scratch);
            if (line.length > 0)
                ridge_text_add_repeat(&line, " ", GAP_COLUMNS);
            add_padded(&line, &shown, layouts[column].width, format->is_text, whole);
        }
        send_line(output, &line, &shown);
    }
    ok = !shown.failed && !line.failed && !scratch.failed;
    ridge_text_release(&scratch);
    ridge_text_release(&line);
    ridge_text_release(&shown);
    ridge_free(layouts);
    return ok;
}

/* -- Markdown ---------------------------------------------------------------------------------- */

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Text that must read as it is: what GitHub's Markdown would take for markup is escaped. An
 * underscore inside a word is none, and names keep their looks. */
static void add_markdown(ridge_text *out, const ridge_text *shown)
{
    size_t i;

    for (i = 0; i < shown->length; i++) {
        const char c = shown->data[i];
        const bool in_word = i > 0 && is_word(shown->data[i - 1]) && is_word(shown->data[i + 1]);

        if (strchr("\\`*<>|[]~&", c) != NULL || (c == '_' && !in_word))
            ridge_text_add(out, "\\");
        ridge_text_add_bytes(out, &c, 1);
    }
}

static bool write_markdown(const ridge_table *table, ridge_output *output)
{
    const size_t row_count = ridge_table_row_count(table);
    ridge_text shown;
    ridge_text line;
    size_t row;
    size_t column;
    bool ok;

    ridge_text_init(&shown);
    ridge_text_init(&line);
    for (column = 0; column < table->column_count; column++) {
        ridge_text_clear(&shown);
        ridge_text_add(&shown, table->columns[column].title);
        ridge_text_add(&line, column == 0 ? "| " : " | ");
        add_markdown(&line, &shown);
    }
    ridge_text_add(&line, " |\n");
    for (column = 0; column < table->column_count; column++)
        ridge_text_add(&line, table->columns[column].is_text ? "| :-- " : "| --: ");
    ridge_text_add(&line, "|\n");
    base_output_raw(output, line.data, line.length);
    for (row = 0; row < row_count; row++) {
        ridge_text_clear(&line);
        for (column = 0; column < table->column_count; column++) {
            ridge_text_clear(&shown);
            show_cell(cell_at(table, row, column), &table->columns[column], &shown);
            ridge_text_add(&line, column == 0 ? "| " : " | ");
            add_markdown(&line, &shown);
        }
        ridge_text_add(&line, " |\n");
        base_output_raw(output, line.data, line.length);
    }
    ok = !shown.failed && !line.failed;
    ridge_text_release(&line);
    ridge_text_release(&shown);
    return ok;
}

/* -- CSV --------------------------------------------------------------------------------------- */

/* RFC 4180 but for the line ends, which are Unix's. Line breaks inside a field are kept, other
 * control characters are not: CSV also goes to terminals. */
static void add_csv_text(ridge_text *out, const char *text)
{
    const bool quoted = strpbrk(text, ",\"\r\n") != NULL || text[0] == ' ' ||
                        (text[0] != '\0' && text[strlen(text) - 1] == ' ');
    const char *part = text;
    const char *quote;

    if (!quoted) {
        base_clean(out, text, strlen(text), BASE_KEEP_TAB);
        return;
    }
    ridge_text_add(out, "\"");
    while ((quote = strchr(part, '"')) != NULL) {
        base_clean(out, part, (size_t)(quote - part), BASE_KEEP_NEWLINE | BASE_KEEP_TAB);
        ridge_text_add(out, "\"\"");
        part = quote + 1;
    }
    base_clean(out, part, strlen(part), BASE_KEEP_NEWLINE | BASE_KEEP_TAB);
    ridge_text_add(out, "\"");
}

static void add_csv_cell(ridge_text *out, const cell *shown)
{
    char number[BASE_NUMBER_BYTES];

    switch (shown->kind) {
    case CELL_TEXT:
        if (shown->text != NULL)
            add_csv_text(out, shown->text);
        break;
    case CELL_NUMBER:
        if (!isnan(shown->number))
            ridge_text_add(out, base_number_exact(shown->number, number));
        break;
    case CELL_COUNT:
    case CELL_BOOL:
        ridge_text_format(out, "%" PRIu64, shown->count);
        break;
    }
}

static bool write_csv(const ridge_table *table, ridge_output *output)
{
    const size_t row_count = ridge_table_row_count(table);
    ridge_text line;
    size_t row;
    size_t column;
    bool ok;

    ridge_text_init(&line);
    for (row = 0; row <= row_count; row++) {
        ridge_text_clear(&line);
        for (column = 0; column < table->column_count; column++) {
            if (column > 0)
                ridge_text_add(&line, ",");
            if (row == 0)
                add_csv_text(&line, table->columns[column].key);
            else
                add_csv_cell(&line, cell_at(table, row - 1, column));
        }
        ridge_text_add(&line, "\n");
        base_output_raw(output, line.data, line.length);
    }
    ok = !line.failed;
    ridge_text_release(&line);
    return ok;
}

/* -- JSON -------------------------------------------------------------------------------------- */

static void write_extent(ridge_json *json, const char *key, const int extent[3])
{
    int i;

    ridge_json_begin_array(json, key);
    for (i = 0; i < 3; i++)
        ridge_json_integer(json, NULL, extent[i]);
    ridge_json_end_array(json);
}

static void write_json(const ridge_table *table, ridge_json *json, const char *key)
{
    const size_t row_count = ridge_table_row_count(table);
    size_t row;
    size_t column;

    ridge_json_begin_array(json, key);
    for (row = 0; row < row_count; row++) {
        ridge_json_begin_object(json, NULL);
        for (column = 0; column < table->column_count; column++) {
            const cell *const shown = cell_at(table, row, column);
            const char *const name = table->columns[column].key;

            if (shown->is_extent)
                write_extent(json, name, shown->extent);
            else if (shown->kind == CELL_TEXT)
                ridge_json_text(json, name, shown->text);
            else if (shown->kind == CELL_NUMBER)
                ridge_json_number(json, name, shown->number);
            else if (shown->kind == CELL_BOOL)
                ridge_json_bool(json, name, shown->count != 0);
            else
                ridge_json_count(json, name, shown->count);
        }
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
}

void ridge_table_write(const ridge_table *table, ridge_format format, ridge_output *output,
                       ridge_json *json, const char *key)
{
    bool ok = table != NULL && !table->failed;

    if (format == RIDGE_FORMAT_JSON)
        output = base_json_output(json);
    if (ok) {
        switch (format) {
        case RIDGE_FORMAT_TEXT:
            ok = write_text(table, output);
            break;
        case RIDGE_FORMAT_MARKDOWN:
            ok = write_markdown(table, output);
            break;
        case RIDGE_FORMAT_CSV:
            ok = write_csv(table, output);
            break;
        case RIDGE_FORMAT_JSON:
            write_json(table, json, key);
            break;
        }
    }
    if (!ok)
        base_output_fail(output, RIDGE_ERR_OUT_OF_MEMORY, "out of memory while writing a table");
}
