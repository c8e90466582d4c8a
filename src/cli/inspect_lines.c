/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge inspect --lines: the instructions that each source line became. A line that was inlined at
 * several places is one row for each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect.h"

enum { ROWS_OF_A_SCREEN = 30, CLASSES_SHOWN = 4 };

struct spot {
    const ridge_line *line; /* NULL: none */
    char *place;            /* "k.cu:33 < 40" */
    size_t count, loop_count;
    uint32_t first_offset;
    uint32_t classes[RIDGE_SASS_CLASS_COUNT];
};

static int by_place(const void *left, const void *right)
{
    const struct spot *const a = left;
    const struct spot *const b = right;
    const int order = strcmp(a->place, b->place);

    return order != 0 ? order
                      : (a->first_offset > b->first_offset) - (a->first_offset < b->first_offset);
}

static int by_count(const void *left, const void *right)
{
    const struct spot *const a = left;
    const struct spot *const b = right;

    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return (a->first_offset > b->first_offset) - (a->first_offset < b->first_offset);
}

static void add_instruction(struct spot *spot, const struct inspect_function *at, size_t index)
{
    ridge_sass sass;

    ridge_sass_decode(at->function->code + index * 16, (uint32_t)index * 16, at->sm, &sass);
    spot->count++;
    spot->loop_count += at->loops.of[index] >= 0;
    spot->classes[sass.cls]++;
}

/* Fills a spot for each row of the line table that has code, places and all. */
static ridge_status collect(const struct inspect_function *at, struct spot *spots, size_t *count,
                            ridge_error *err)
{
    const ridge_line *last = NULL;
    size_t i;

    for (i = 0; i < at->instruction_count; i++) {
        const ridge_line *const line = ridge_line_find(at->lines, at->line_count, (uint32_t)i * 16);
        char place[300];

        if (*count == 0 || line != last) {
            struct spot *const spot = &spots[(*count)++];

            spot->line = last = line;
            spot->first_offset = (uint32_t)i * 16;
            inspect_place(at, line, place, sizeof(place));
            spot->place = strdup(place);
            if (spot->place == NULL)
                return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
        }
        add_instruction(&spots[*count - 1], at, i);
    }
    return RIDGE_OK;
}

/* Joins neighbours of one place; returns how many are left. */
static size_t join(struct spot *spots, size_t count)
{
    size_t kept = 0;
    size_t i, k;

    qsort(spots, count, sizeof(*spots), by_place);
    for (i = 0; i < count; i++) {
        struct spot *const last = kept > 0 ? &spots[kept - 1] : NULL;

        if (last == NULL || strcmp(last->place, spots[i].place) != 0) {
            spots[kept++] = spots[i];
            continue;
        }
        last->count += spots[i].count;
        last->loop_count += spots[i].loop_count;
        for (k = 0; k < RIDGE_SASS_CLASS_COUNT; k++)
            last->classes[k] += spots[i].classes[k];
        free(spots[i].place);
    }
    qsort(spots, kept, sizeof(*spots), by_count);
    return kept;
}

/* "fp32 12, global 4, int 3": the classes with most, as many as fit. */
static void class_text(const struct spot *spot, char *text, size_t size)
{
    bool is_taken[RIDGE_SASS_CLASS_COUNT] = {false};
    int shown;

    text[0] = '\0';
    for (shown = 0; shown < CLASSES_SHOWN; shown++) {
        const size_t used = strlen(text);
        size_t best = RIDGE_SASS_CLASS_COUNT;
        size_t i;

        for (i = 0; i < RIDGE_SASS_CLASS_COUNT; i++)
            if (!is_taken[i] && spot->classes[i] > 0 &&
                (best == RIDGE_SASS_CLASS_COUNT || spot->classes[i] > spot->classes[best]))
                best = i;
        if (best == RIDGE_SASS_CLASS_COUNT)
            return;
        is_taken[best] = true;
        snprintf(text + used, size - used, "%s%s %u", used > 0 ? ", " : "",
                 ridge_sass_class_name((ridge_sass_class)best), spot->classes[best]);
    }
}

static void print_spots(ridge_output *output, const struct inspect_function *at,
                        const struct spot *spots, size_t count)
{
    static const ridge_column columns[] = {
        {"count", "Instr", RIDGE_UNIT_COUNT, false, 0, 0},
        {"loop_count", "In loops", RIDGE_UNIT_COUNT, false, 0, 0},
        {"line", "Line", RIDGE_UNIT_NONE, true, 16, 0},
        {"classes", "What", RIDGE_UNIT_NONE, true, 20, 0},
    };
    const size_t most = at->request->all || count <= ROWS_OF_A_SCREEN ? count : ROWS_OF_A_SCREEN;
    ridge_table *table;
    size_t i;

    ridge_output_text(output, "\n");
    if (at->lines == NULL) {
        ridge_output_text(output, "no line numbers in the code: compile with nvcc -lineinfo\n");
        return;
    }
    table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    for (i = 0; i < most; i++) {
        char text[200];

        class_text(&spots[i], text, sizeof(text));
        ridge_table_count(table, spots[i].count);
        ridge_table_count(table, spots[i].loop_count);
        ridge_table_text(table, spots[i].place[0] != '\0' ? spots[i].place : "(no line)");
        ridge_table_text(table, text);
    }
    ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
    ridge_table_free(table);
    if (most < count)
        ridge_output_format(output, "%zu more lines: --all\n", count - most);
}

static void write_spots(ridge_json *json, const struct inspect_function *at,
                        const struct spot *spots, size_t count)
{
    size_t i, k;

    ridge_json_begin_array(json, "lines");
    for (i = 0; i < count && at->lines != NULL; i++) {
        const ridge_line *const line = spots[i].line;

        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "file", line != NULL ? line->file : NULL);
        if (line != NULL && line->line > 0)
            ridge_json_count(json, "line", line->line);
        else
            ridge_json_null(json, "line");
        ridge_json_text(json, "function", line != NULL ? line->function : NULL);
        ridge_json_text(json, "place", spots[i].place);
        ridge_json_count(json, "count", spots[i].count);
        ridge_json_count(json, "loop_count", spots[i].loop_count);
        ridge_json_begin_object(json, "classes");
        for (k = 0; k < RIDGE_SASS_CLASS_COUNT; k++)
            if (spots[i].classes[k] > 0)
                ridge_json_count(json, ridge_sass_class_name((ridge_sass_class)k),
                                 spots[i].classes[k]);
        ridge_json_end_object(json);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
}

ridge_status inspect_print_lines(ridge_output *output, ridge_json *json,
                                 const struct inspect_function *at, ridge_error *err)
{
    struct spot *const spots = calloc(at->instruction_count + 1, sizeof(*spots));
    ridge_status status;
    size_t count = 0;
    size_t i;

    if (spots == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    status = collect(at, spots, &count, err);
    if (status == RIDGE_OK) {
        count = join(spots, count);
        if (json != NULL)
            write_spots(json, at, spots, count);
        else
            print_spots(output, at, spots, count);
    }
    for (i = 0; i < count; i++)
        free(spots[i].place);
    free(spots);
    return status;
}
