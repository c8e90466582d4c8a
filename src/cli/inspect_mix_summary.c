/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge inspect --mix of a library: a line a kernel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect.h"

enum { ROWS_OF_A_SCREEN = 40 };

struct inspect_mix_row {
    char *short_name;
    char arch[INSPECT_ARCH_BYTES];
    size_t index; /* of the order in which they were met */
    size_t instruction_count, loop_count;
    size_t classes[RIDGE_SASS_CLASS_COUNT];
};

/* Columns that are shares of the instructions, and the classes of each. */
static const struct share {
    ridge_column column;
    unsigned classes;
} shares[] = {
    {{"tensor", "Tensor", RIDGE_UNIT_NONE, false, 0, 0}, 1u << RIDGE_SASS_TENSOR},
    {{"fp", "FP", RIDGE_UNIT_NONE, false, 0, 0},
     1u << RIDGE_SASS_FP16 | 1u << RIDGE_SASS_FP32 | 1u << RIDGE_SASS_FP64},
    {{"int", "Int", RIDGE_UNIT_NONE, false, 0, 2}, 1u << RIDGE_SASS_INT},
    {{"global", "Global", RIDGE_UNIT_NONE, false, 0, 0},
     1u << RIDGE_SASS_GLOBAL | 1u << RIDGE_SASS_ASYNC},
    {{"shared", "Shared", RIDGE_UNIT_NONE, false, 0, 0}, 1u << RIDGE_SASS_SHARED},
    {{"local", "Local", RIDGE_UNIT_NONE, false, 0, 1}, 1u << RIDGE_SASS_LOCAL},
    {{"sync", "Sync", RIDGE_UNIT_NONE, false, 0, 3}, 1u << RIDGE_SASS_SYNC},
};

enum { SHARE_COUNT = sizeof(shares) / sizeof(shares[0]), FIXED_COUNT = 4 };

ridge_status inspect_add_mix(struct inspect_mix_summary *summary, const struct inspect_function *at,
                             ridge_error *err)
{
    char name[INSPECT_NAME_BYTES];
    struct inspect_mix_row *row;
    ridge_mix mix;
    size_t i;
    ridge_status status;

    if (summary->count == summary->capacity) {
        const size_t capacity = summary->capacity == 0 ? 64 : 2 * summary->capacity;
        struct inspect_mix_row *const grown = realloc(summary->rows, capacity * sizeof(*grown));

        if (grown == NULL)
            return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
        summary->rows = grown;
        summary->capacity = capacity;
    }
    status = ridge_mix_count(at->function->code, at->function->code_bytes, at->sm, &at->loops,
                             RIDGE_MIX_WHOLE, &mix, err);
    if (status != RIDGE_OK)
        return status;
    row = &summary->rows[summary->count];
    *row = (struct inspect_mix_row){.index = summary->count,
                                    .instruction_count = at->instruction_count};
    memcpy(row->arch, at->entry->arch, sizeof(row->arch));
    memcpy(row->classes, mix.classes, sizeof(row->classes));
    ridge_mix_release(&mix);
    for (i = 0; i < at->loops.instruction_count; i++)
        row->loop_count += at->loops.of[i] >= 0;
    row->short_name = strdup(inspect_short_name(at->function->name, name, sizeof(name)));
    if (row->short_name == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    summary->count++;
    return RIDGE_OK;
}

static int by_size(const void *left, const void *right)
{
    const struct inspect_mix_row *const a = left;
    const struct inspect_mix_row *const b = right;

    if (a->instruction_count != b->instruction_count)
        return a->instruction_count < b->instruction_count ? 1 : -1;
    return (a->index > b->index) - (a->index < b->index);
}

static void add_shares(ridge_table *table, const struct inspect_mix_row *row)
{
    size_t i, cls;

    for (i = 0; i < SHARE_COUNT; i++) {
        size_t count = 0;
        char text[32];

        for (cls = 0; cls < RIDGE_SASS_CLASS_COUNT; cls++)
            count += (shares[i].classes >> cls & 1) != 0 ? row->classes[cls] : 0;
        if (count > 0)
            snprintf(text, sizeof(text), "%.1f%%",
                     100 * (double)count / (double)row->instruction_count);
        ridge_table_text(table, count > 0 ? text : "-");
    }
}

void inspect_print_mix_summary(ridge_output *output, struct inspect_mix_summary *summary)
{
    ridge_column columns[FIXED_COUNT + SHARE_COUNT] = {
        {"short_name", "Kernel", RIDGE_UNIT_NONE, true, 40, 0},
        {"arch", "Arch", RIDGE_UNIT_NONE, true, 0, 0},
        {"instruction_count", "Instr", RIDGE_UNIT_COUNT, false, 0, 0},
        {"loop_count", "In loops", RIDGE_UNIT_COUNT, false, 0, 0},
    };
    const size_t shown = summary->count < ROWS_OF_A_SCREEN ? summary->count : ROWS_OF_A_SCREEN;
    ridge_table *table;
    size_t i;

    for (i = 0; i < SHARE_COUNT; i++)
        columns[FIXED_COUNT + i] = shares[i].column;
    qsort(summary->rows, summary->count, sizeof(*summary->rows), by_size);
    table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    for (i = 0; i < shown; i++) {
        const struct inspect_mix_row *const row = &summary->rows[i];

        ridge_table_text(table, row->short_name);
        ridge_table_text(table, row->arch);
        ridge_table_count(table, row->instruction_count);
        ridge_table_count(table, row->loop_count);
        add_shares(table, row);
    }
    ridge_output_format(output, "%zu kernels, the longest first; -k REGEX or --all: in full\n\n",
                        summary->count);
    ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
    ridge_table_free(table);
    if (shown < summary->count)
        ridge_output_format(output, "%zu more\n", summary->count - shown);
}

void inspect_mix_summary_release(struct inspect_mix_summary *summary)
{
    size_t i;

    for (i = 0; i < summary->count; i++)
        free(summary->rows[i].short_name);
    free(summary->rows);
    *summary = (struct inspect_mix_summary){0};
}
