/* SPDX-License-Identifier: Apache-2.0
 *
 * What `ncu --csv` prints, in its two forms:
 *
 * - the raw page (--page raw): a header, a row of units with an empty ID, then a row a kernel with
 *   a column a metric;
 * - the details page (the default): a row a value, with the columns "Metric Name", "Metric Unit"
 *   and "Metric Value". Values with the name of a metric are taken (those of --metrics), not those
 *   with a label such as "Duration", which says too little of what was measured.
 *
 * The profiler writes to the terminal of the profiled program, so that the lines of both mix:
 * lines that are no row are passed over. Numbers come with separators (1,234.5; 1.234,5 under
 * other locales) and in scaled units (Mbyte, us, sector/ns), and are taken back to the base units
 * of a native report. They have the digits that were printed, six decimals at most. */
#include <math.h>
#include <string.h>

#include "report/csv/csv_internal.h"
#include "report/report_internal.h"
#include "report/units.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum column_kind {
    COLUMN_IGNORED,
    COLUMN_ID,
    COLUMN_PROCESS_ID,
    COLUMN_PROCESS_NAME,
    COLUMN_HOST_NAME,
    COLUMN_KERNEL_NAME,
    COLUMN_CONTEXT,
    COLUMN_STREAM,
    COLUMN_BLOCK,
    COLUMN_GRID,
    COLUMN_DEVICE,
    COLUMN_CC,
    COLUMN_METRIC_NAME,
    COLUMN_METRIC_UNIT,
    COLUMN_METRIC_VALUE,
    COLUMN_KINDS,
    COLUMN_METRIC /* of the raw page: the column is the metric */
};

static const struct known_column {
    const char *name;
    enum column_kind kind;
} known_columns[] = {
    {"ID", COLUMN_ID},
    {"Process ID", COLUMN_PROCESS_ID},
    {"Process Name", COLUMN_PROCESS_NAME},
    {"Host Name", COLUMN_HOST_NAME},
    {"Kernel Name", COLUMN_KERNEL_NAME},
    {"Kernel Time", COLUMN_IGNORED},
    {"Context", COLUMN_CONTEXT},
    {"Stream", COLUMN_STREAM},
    {"Block Size", COLUMN_BLOCK},
    {"Grid Size", COLUMN_GRID},
    {"Device", COLUMN_DEVICE},
    {"CC", COLUMN_CC},
    {"Section Name", COLUMN_IGNORED},
    {"Metric Name", COLUMN_METRIC_NAME},
    {"Metric Unit", COLUMN_METRIC_UNIT},
    {"Metric Value", COLUMN_METRIC_VALUE},
    {"Rule Name", COLUMN_IGNORED},
    {"Rule Type", COLUMN_IGNORED},
    {"Rule Description", COLUMN_IGNORED},
    {"Estimated Speedup Type", COLUMN_IGNORED},
    {"Estimated Speedup", COLUMN_IGNORED},
    {"", COLUMN_IGNORED},
};

struct column {
    enum column_kind kind;
    uint32_t name_index; /* COLUMN_METRIC */
    int scale;           /* of the row of units */
};

struct csv_reader {
    ridge_report *report;
    csv_rows rows;
    char decimal;
    struct column *columns; /* of the last header */
    size_t column_count;
    size_t at[COLUMN_KINDS]; /* where a column of a kind is; SIZE_MAX: nowhere */
    bool is_details;
    ridge_report_kernel *kernel;     /* the one that is being filled; NULL: none */
    csv_field kernel_id, process_id; /* details page: what its rows start with */
    size_t label_count;
};

static const csv_field empty = {"", 0, false};

/* The field of the row in the column of a kind. */
static const csv_field *field_of(const struct csv_reader *reader, enum column_kind kind)
{
    const size_t at = reader->at[kind];

    return at < reader->rows.field_count ? &reader->rows.fields[at] : &empty;
}

/* The text of a field with single quotes inside; length is set. NULL: out of memory. */
static const char *text_of(ridge_report *report, const csv_field *field, size_t *length)
{
    char *copy;

    *length = field->length;
    if (!field->has_quotes)
        return field->text;
    copy = ridge_alloc_text(&report->arena, field->text, field->length);
    if (copy == NULL)
        return NULL;
    *length = 0;
    for (size_t i = 0; i < field->length; i++) {
        if (field->text[i] == '"')
            i++; /* the second of a pair follows */
        copy[(*length)++] = field->text[i];
    }
    copy[*length] = '\0';
    return copy;
}

/* As text_of(), NUL-terminated; NULL for an empty field too. */
static bool copy_text(ridge_report *report, const csv_field *field, const char **out)
{
    size_t length;
    const char *const text = text_of(report, field, &length);

    *out = NULL;
    if (text == NULL)
        return false;
    if (length == 0)
        return true;
    *out = ridge_alloc_text(&report->arena, text, length);
    return *out != NULL;
}

static bool count_of(const csv_field *field, char decimal, uint64_t *out)
{
    csv_number number;

    if (!csv_read_number(field->text, field->length, decimal, &number) || !number.is_count)
        return false;
    *out = number.mantissa;
    return true;
}

/* -- kernels ----------------------------------------------------------------------------------- */

/* "(128, 1, 1)" */
static void read_extent(const csv_field *field, uint64_t extent[3])
{
    uint64_t sizes[3] = {0, 0, 0};
    int size_count = 0;

    for (size_t i = 0; i < field->length; i++) {
        const char c = field->text[i];
        const bool follows = i > 0 && field->text[i - 1] >= '0' && field->text[i - 1] <= '9';

        if (c < '0' || c > '9')
            continue;
        if (!follows && ++size_count > 3)
            return;
        if (sizes[size_count - 1] > UINT32_MAX)
            return;
        sizes[size_count - 1] = sizes[size_count - 1] * 10 + (uint64_t)(c - '0');
    }
    if (size_count == 3)
        memcpy(extent, sizes, sizeof(sizes));
}

static bool is_identifier(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$';
}

/* The start of the brackets that end at end, <> or (); end when there are none. What stands in
 * round brackets does not count for the others: "f<(a > b)>". */
static size_t before_brackets(const char *text, size_t end, char open, char close)
{
    size_t depth = 0, round_depth = 0, at = end;

    if (end == 0 || text[end - 1] != close)
        return end;
    while (at > 0) {
        at--;
        if (round_depth == 0 && text[at] == close)
            depth++;
        else if (round_depth == 0 && text[at] == open && --depth == 0)
            return at;
        else if (text[at] == ')')
            round_depth++;
        else if (text[at] == '(' && round_depth > 0)
            round_depth--;
    }
    return end;
}

/* "copy" of "void tools::copy<float, (int)4>(float *, int)"; all of it when it has no such form. */
static ridge_slice base_name(const char *name, size_t length)
{
    const size_t end = before_brackets(name, before_brackets(name, length, '(', ')'), '<', '>');
    size_t start = end;

    while (start > 0 && is_identifier(name[start - 1]))
        start--;
    if (start == end)
        return (ridge_slice){(const uint8_t *)name, length};
    return (ridge_slice){(const uint8_t *)name + start, end - start};
}

static bool read_names(struct csv_reader *reader, ridge_report_kernel_info *info)
{
    ridge_report *const report = reader->report;

    if (!copy_text(report, field_of(reader, COLUMN_KERNEL_NAME), &info->demangled_name))
        return false;
    if (info->demangled_name != NULL) {
        info->name =
            report_copy(report, base_name(info->demangled_name, strlen(info->demangled_name)));
        if (info->name == NULL)
            return false;
    }
    return report->session.process_name != NULL ||
           (copy_text(report, field_of(reader, COLUMN_PROCESS_NAME),
                      &report->session.process_name) &&
            copy_text(report, field_of(reader, COLUMN_HOST_NAME), &report->session.host_name));
}

static bool is_text(const csv_field *field, const char *text)
{
    return field->length == strlen(text) && memcmp(field->text, text, field->length) == 0;
}

/* The page has no column of the kind. Names of kernels have brackets, and a range has no stream. */
static ridge_result_kind kind_of(const struct csv_reader *reader)
{
    const csv_field *const name = field_of(reader, COLUMN_KERNEL_NAME);

    if (is_text(name, "range") && is_text(field_of(reader, COLUMN_STREAM), "n/a"))
        return RIDGE_RESULT_RANGE;
    return is_text(name, "graph") ? RIDGE_RESULT_GRAPH : RIDGE_RESULT_KERNEL;
}

static void finish_kernel(struct csv_reader *reader)
{
    if (reader->kernel != NULL)
        report_finish_kernel(reader->kernel);
    reader->kernel = NULL;
}

/* Starts a kernel with what the row says of it. */
static bool start_kernel(struct csv_reader *reader)
{
    const csv_field *const cc = field_of(reader, COLUMN_CC);
    ridge_report_kernel_info *info;
    uint64_t number;

    finish_kernel(reader);
    if (!report_add_kernel(reader->report, &reader->kernel))
        return false;
    info = &reader->kernel->info;
    info->kind = kind_of(reader);
    if (!read_names(reader, info))
        return false;
    if (info->kind == RIDGE_RESULT_KERNEL) { /* else the sums over launches */
        read_extent(field_of(reader, COLUMN_BLOCK), info->block);
        read_extent(field_of(reader, COLUMN_GRID), info->grid);
    }
    if (count_of(field_of(reader, COLUMN_CONTEXT), reader->decimal, &number))
        info->context_id = number;
    if (count_of(field_of(reader, COLUMN_STREAM), reader->decimal, &number))
        info->stream_id = number;
    if (cc->length >= 3 && cc->length <= 4 && cc->text[cc->length - 2] == '.') {
        for (size_t i = 0; i + 2 < cc->length; i++)
            info->cc_major = info->cc_major * 10 + (cc->text[i] - '0');
        info->cc_minor = cc->text[cc->length - 1] - '0';
    }
    /* A number is the device's index; old versions print its name. */
    return count_of(field_of(reader, COLUMN_DEVICE), reader->decimal, &number) ||
           copy_text(reader->report, field_of(reader, COLUMN_DEVICE), &info->gpu_name);
}

/* -- values ------------------------------------------------------------------------------------ */

static bool read_value(struct csv_reader *reader, const csv_field *field, int scale,
                       ridge_value *out)
{
    static const struct {
        const char *text;
        double number;
    } words[] = {{"nan", NAN}, {"-nan", NAN}, {"n/a", NAN}, {"inf", INFINITY}, {"-inf", -INFINITY}};
    csv_number number;

    *out = (ridge_value){.kind = RIDGE_VALUE_ABSENT};
    if (field->length == 0 || csv_is(field, "no data"))
        return true;
    for (size_t i = 0; i < COUNT(words); i++)
        if (csv_is(field, words[i].text)) {
            *out = (ridge_value){.kind = RIDGE_VALUE_NUMBER, .number = words[i].number};
            return true;
        }
    if (csv_read_number(field->text, field->length, reader->decimal, &number)) {
        out->number = csv_number_value(&number, scale);
        out->kind = RIDGE_VALUE_NUMBER;
        if (number.is_count && scale == 0) {
            out->kind = RIDGE_VALUE_COUNT;
            out->count = number.mantissa;
        }
        return true;
    }
    out->kind = RIDGE_VALUE_TEXT;
    out->text = text_of(reader->report, field, &out->text_length);
    return out->text != NULL;
}

static bool add_value(struct csv_reader *reader, uint32_t name_index, const csv_field *field,
                      int scale)
{
    struct report_metric *metric;

    return report_add_metric(reader->kernel, name_index, &metric) &&
           read_value(reader, field, scale, &metric->value);
}

/* A row of the raw page. */
static bool read_raw_row(struct csv_reader *reader)
{
    if (!start_kernel(reader))
        return false;
    for (size_t i = 0; i < reader->column_count; i++)
        if (reader->columns[i].kind == COLUMN_METRIC &&
            !add_value(reader, reader->columns[i].name_index, &reader->rows.fields[i],
                       reader->columns[i].scale))
            return false;
    return true;
}

static bool same_text(const csv_field *a, const csv_field *b)
{
    return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

/* A row of the details page. */
static bool read_details_row(struct csv_reader *reader)
{
    const csv_field *const id = field_of(reader, COLUMN_ID);
    const csv_field *const process_id = field_of(reader, COLUMN_PROCESS_ID);
    const csv_field *const unit = field_of(reader, COLUMN_METRIC_UNIT);
    const csv_field *const name = field_of(reader, COLUMN_METRIC_NAME);
    const char *copy;
    uint32_t index;

    if (reader->kernel == NULL || !same_text(id, &reader->kernel_id) ||
        !same_text(process_id, &reader->process_id)) {
        if (!start_kernel(reader))
            return false;
        reader->kernel_id = *id;
        reader->process_id = *process_id;
    }
    if (!copy_text(reader->report, name, &copy))
        return false;
    if (copy == NULL) /* the message of a rule */
        return true;
    if (strstr(copy, "__") == NULL && strcmp(ridge_metric_unit(copy), "?") == 0) {
        reader->label_count++;
        return true;
    }
    return report_intern_name(reader->report, copy, strlen(copy), &index) &&
           add_value(reader, index, field_of(reader, COLUMN_METRIC_VALUE),
                     csv_unit_scale(unit->text, unit->length));
}

/* -- headers ----------------------------------------------------------------------------------- */

/* Ranges of NVTX have a column each, "thread Domain:Push/Pop_Range:PL_Type:...". */
static bool is_range(const csv_field *field)
{
    static const char domain[] = "Domain:";

    for (size_t i = 0; i + sizeof(domain) - 1 <= field->length; i++)
        if (memcmp(field->text + i, domain, sizeof(domain) - 1) == 0)
            return true;
    return false;
}

static bool read_column(struct csv_reader *reader, size_t index, struct column *column)
{
    const csv_field *const field = &reader->rows.fields[index];
    const char *name;

    *column = (struct column){.kind = COLUMN_IGNORED};
    for (size_t i = 0; i < COUNT(known_columns); i++)
        if (csv_is(field, known_columns[i].name)) {
            column->kind = known_columns[i].kind;
            if (column->kind != COLUMN_IGNORED && reader->at[column->kind] == SIZE_MAX)
                reader->at[column->kind] = index;
            return true;
        }
    if (is_range(field))
        return true;
    column->kind = COLUMN_METRIC;
    return copy_text(reader->report, field, &name) &&
           report_intern_name(reader->report, name, strlen(name), &column->name_index);
}

static bool read_header(struct csv_reader *reader)
{
    struct column *columns;

    finish_kernel(reader);
    for (size_t i = 0; i < COUNT(reader->at); i++)
        reader->at[i] = SIZE_MAX;
    reader->column_count = 0;
    columns = ridge_realloc_array(reader->columns, reader->rows.field_count, sizeof(*columns));
    if (columns == NULL)
        return false;
    reader->columns = columns;
    for (size_t i = 0; i < reader->rows.field_count; i++)
        if (!read_column(reader, i, &columns[i]))
            return false;
    reader->column_count = reader->rows.field_count;
    reader->is_details =
        reader->at[COLUMN_METRIC_NAME] != SIZE_MAX && reader->at[COLUMN_METRIC_VALUE] != SIZE_MAX;
    return true;
}

static void read_units(struct csv_reader *reader)
{
    for (size_t i = 0; i < reader->column_count; i++)
        reader->columns[i].scale =
            csv_unit_scale(reader->rows.fields[i].text, reader->rows.fields[i].length);
}

/* -- the file ---------------------------------------------------------------------------------- */

static bool starts_with(const char *text, const char *end, const char *start)
{
    const size_t length = strlen(start);

    return (size_t)(end - text) >= length && memcmp(text, start, length) == 0;
}

static bool is_header(const char *line, const char *end)
{
    return starts_with(line, end, "\"ID\",\"") || starts_with(line, end, "ID,Process ID,");
}

/* A line that can be a row; the rest is what the profiler and the program print. */
static bool is_row(const char *line, const char *end)
{
    return line < end && (*line == '"' || *line == ',' || (*line >= '0' && *line <= '9'));
}

static const char *next_line(const char *line, const char *end)
{
    const char *const newline = memchr(line, '\n', (size_t)(end - line));

    return newline != NULL ? newline + 1 : end;
}

/* The first header and its line; NULL: none. */
static const char *find_header(const char *text, const char *end, size_t *line)
{
    static const char mark[] = "\xEF\xBB\xBF"; /* of UTF-8, as some editors write it */

    if (starts_with(text, end, mark))
        text += sizeof(mark) - 1;
    for (*line = 1; text < end; text = next_line(text, end), (*line)++)
        if (is_header(text, end))
            return text;
    return NULL;
}

bool csv_report_recognise(ridge_slice bytes)
{
    const char *const text = (const char *)bytes.data;
    const size_t head = bytes.size < 512 ? bytes.size : 512;
    size_t line;

    /* A native report starts with binary numbers. */
    return bytes.size > 0 && memchr(text, '\0', head) == NULL &&
           find_header(text, text + bytes.size, &line) != NULL;
}

/* Reads on to the next row that is one of the profiler's. */
static csv_result next_row(csv_rows *rows)
{
    while (rows->position < rows->end && !is_header(rows->position, rows->end) &&
           !is_row(rows->position, rows->end)) {
        rows->position = next_line(rows->position, rows->end);
        rows->line++;
    }
    return csv_rows_next(rows);
}

/* ',' when the file's numbers can only be read with decimal commas: the profiler follows the
 * locale, and "117.344" alone does not tell. */
static ridge_status find_decimal(struct csv_reader *reader, ridge_error *err)
{
    const csv_rows start = reader->rows;
    size_t points = 0, commas = 0;
    csv_result result;

    while ((result = next_row(&reader->rows)) != CSV_END) {
        if (result == CSV_OUT_OF_MEMORY)
            return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
        for (size_t i = 0; i < reader->rows.field_count; i++) {
            const csv_field *const field = &reader->rows.fields[i];
            csv_number number;
            const bool point = csv_read_number(field->text, field->length, '.', &number);
            const bool comma = csv_read_number(field->text, field->length, ',', &number);

            /* "9.0" is also the compute capability, whatever the locale. */
            points += point && !comma && field->length > 4;
            commas += comma && !point;
        }
    }
    reader->decimal = commas > points ? ',' : '.';
    reader->rows.position = start.position;
    reader->rows.line = start.line;
    return RIDGE_OK;
}

/* A row after a header; false when out of memory. */
static bool read_row(struct csv_reader *reader)
{
    const csv_field *const id = field_of(reader, COLUMN_ID);
    uint64_t number;

    if (reader->rows.field_count > 1 && csv_is(&reader->rows.fields[0], "ID"))
        return read_header(reader);
    if (id->length > 0 && !count_of(id, reader->decimal, &number))
        return true; /* of the program */
    /* On the details page the columns of rules are missing behind a metric. */
    if (reader->rows.field_count != reader->column_count &&
        !(reader->is_details && reader->rows.field_count > reader->at[COLUMN_METRIC_VALUE] &&
          reader->rows.field_count < reader->column_count)) {
        if (reader->rows.field_count > 1)
            report_warn(reader->report, "line %zu: %zu fields, expected the %zu of the header",
                        reader->rows.row_line, reader->rows.field_count, reader->column_count);
        return true;
    }
    if (id->length == 0) {
        read_units(reader);
        return true;
    }
    return reader->is_details ? read_details_row(reader) : read_raw_row(reader);
}

static ridge_status read_rows(struct csv_reader *reader, ridge_error *err)
{
    csv_result result;

    while ((result = next_row(&reader->rows)) != CSV_END) {
        if (result == CSV_DAMAGED)
            report_damage(reader->report, "line %zu: %s", reader->rows.row_line,
                          reader->rows.problem);
        else if (result == CSV_OUT_OF_MEMORY || !read_row(reader))
            return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    }
    finish_kernel(reader);
    if (reader->label_count > 0)
        report_warn(reader->report,
                    "%zu values have a label instead of the name of their metric and were left "
                    "out; ncu --csv --page raw prints names",
                    reader->label_count);
    return RIDGE_OK;
}

ridge_status csv_report_read(ridge_report *report, ridge_slice bytes, ridge_error *err)
{
    const char *const text = (const char *)bytes.data;
    const char *const end = text + bytes.size;
    size_t line = 1;
    const char *const header = bytes.size > 0 ? find_header(text, end, &line) : NULL;
    struct csv_reader reader = {.report = report};
    ridge_status status;

    if (header == NULL)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "no header of ncu --csv found, expected a line that starts with \"ID\"");
    csv_rows_init(&reader.rows, header, (size_t)(end - header));
    reader.rows.line = line;
    status = find_decimal(&reader, err);
    if (status == RIDGE_OK)
        status = read_rows(&reader, err);
    csv_rows_release(&reader.rows);
    ridge_free(reader.columns);
    return status;
}
