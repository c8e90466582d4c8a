/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge inspect --mix: how many instructions of which kind, in all and inside loops. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect.h"

enum { LOOPS_OF_A_SCREEN = 10, CLASS_COLUMNS = 28 };

static const char *const space_names[RIDGE_MIX_SPACES] = {
    [RIDGE_MIX_GLOBAL] = "global", [RIDGE_MIX_SHARED] = "shared", [RIDGE_MIX_LOCAL] = "local"};

/* -- text -------------------------------------------------------------------------------------- */

/* "LDG.128 8, STG 4": the commonest of a class first, on as many lines as they need; a name and its
 * number stay together. */
static void print_instructions(ridge_output *output, const ridge_mix *mix, ridge_sass_class cls)
{
    size_t column = 0;
    size_t i;

    for (i = 0; i < mix->row_count; i++) {
        char text[64];

        if (mix->rows[i].cls != cls)
            continue;
        snprintf(text, sizeof(text), "%s %zu", mix->rows[i].text, mix->rows[i].count);
        inspect_add_item(output, &column, CLASS_COLUMNS, text);
    }
    ridge_output_text(output, "\n");
}

static void print_classes(ridge_output *output, const ridge_mix *whole, const ridge_mix *in_loops)
{
    size_t cls;

    ridge_output_format(output, "%-8s  %6s  %8s  %s\n", "Class", "All", "In loops", "Instructions");
    for (cls = 0; cls < RIDGE_SASS_CLASS_COUNT; cls++) {
        if (whole->classes[cls] == 0)
            continue;
        ridge_output_format(output, "%-8s  %6zu  %8zu  ",
                            ridge_sass_class_name((ridge_sass_class)cls), whole->classes[cls],
                            in_loops->classes[cls]);
        print_instructions(output, whole, (ridge_sass_class)cls);
    }
}

/* "8 (6 in loops)" for each width, where there are accesses at all. */
static void print_widths(ridge_output *output, const ridge_mix *whole, const ridge_mix *in_loops)
{
    static const ridge_column columns[] = {
        {"access", "Bytes a lane", RIDGE_UNIT_NONE, true, 0, 0},
        {"w1", "1", RIDGE_UNIT_NONE, false, 0, 0},
        {"w2", "2", RIDGE_UNIT_NONE, false, 0, 0},
        {"w4", "4", RIDGE_UNIT_NONE, false, 0, 0},
        {"w8", "8", RIDGE_UNIT_NONE, false, 0, 0},
        {"w16", "16", RIDGE_UNIT_NONE, false, 0, 0},
        {"w32", "32", RIDGE_UNIT_NONE, false, 0, 0},
    };
    ridge_table *const table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    size_t space, store, width;
    bool has_loops = false;

    for (space = 0; space < RIDGE_MIX_SPACES; space++)
        for (store = 0; store < 2; store++) {
            const size_t *const counts = whole->widths[space][store];
            const size_t *const loop_counts = in_loops->widths[space][store];
            char text[64];
            size_t sum = 0;

            for (width = 0; width < RIDGE_MIX_WIDTHS; width++)
                sum += counts[width];
            if (sum == 0)
                continue;
            snprintf(text, sizeof(text), "%s %s", space_names[space], store ? "store" : "load");
            ridge_table_text(table, text);
            for (width = 0; width < RIDGE_MIX_WIDTHS; width++) {
                has_loops = has_loops || loop_counts[width] > 0;
                if (loop_counts[width] > 0)
                    snprintf(text, sizeof(text), "%zu (%zu)", counts[width], loop_counts[width]);
                else
                    snprintf(text, sizeof(text), "%zu", counts[width]);
                ridge_table_text(table, counts[width] > 0 ? text : "");
            }
        }
    if (ridge_table_row_count(table) > 0) {
        ridge_output_text(output, "\n");
        ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
        if (has_loops)
            ridge_output_styled(output, RIDGE_STYLE_DIM, "8 (6): 8 in all, 6 in loops\n");
    }
    ridge_table_free(table);
}

/* The line of the source that a loop begins with. */
static char *loop_place(const struct inspect_function *at, const ridge_loop *loop, char *buffer,
                        size_t size)
{
    const ridge_line *const line = ridge_line_find(at->lines, at->line_count, loop->head);

    return inspect_place(at, line, buffer, size);
}

static void add_loop(ridge_table *table, const struct inspect_function *at, size_t index,
                     const ridge_loop_work *work)
{
    const ridge_loop *const loop = &at->loops.rows[index];
    char text[300];

    snprintf(text, sizeof(text), "0x%04x..0x%04x", loop->head, loop->end - 16);
    ridge_table_text(table, text);
    ridge_table_count(table, (uint64_t)loop->depth);
    ridge_table_count(table, loop->instruction_count);
    ridge_table_number(table, work->flop);
    if (work->unknown_tensor_count > 0)
        ridge_table_number(table, NAN);
    else
        ridge_table_number(table, work->tensor_flop);
    ridge_table_number(table, work->global_bytes);
    ridge_table_number(table, work->shared_bytes);
    ridge_table_number(table, work->local_bytes);
    ridge_table_text(table, loop_place(at, loop, text, sizeof(text)));
}

static ridge_status print_loops(ridge_output *output, const struct inspect_function *at,
                                ridge_error *err)
{
    static const ridge_column columns[] = {
        {"loop", "Loop", RIDGE_UNIT_NONE, true, 0, 0},
        {"depth", "Depth", RIDGE_UNIT_COUNT, false, 0, 0},
        {"instruction_count", "Instr", RIDGE_UNIT_COUNT, false, 0, 0},
        {"flop", "FLOP", RIDGE_UNIT_COUNT, false, 0, 0},
        {"tensor_flop", "Tensor FLOP", RIDGE_UNIT_COUNT, false, 0, 0},
        {"global_bytes", "Global B", RIDGE_UNIT_COUNT, false, 0, 0},
        {"shared_bytes", "Shared B", RIDGE_UNIT_COUNT, false, 0, 0},
        {"local_bytes", "Local B", RIDGE_UNIT_COUNT, false, 0, 0},
        {"line", "Line", RIDGE_UNIT_NONE, true, 10, 1},
    };
    const size_t most = at->request->all || at->loops.count <= LOOPS_OF_A_SCREEN
                            ? at->loops.count
                            : LOOPS_OF_A_SCREEN;
    ridge_table *table;
    ridge_loop_work *work;
    ridge_status status;
    size_t i;

    if (at->loops.count == 0)
        return RIDGE_OK;
    status = ridge_loop_work_count(at->function->code, at->function->code_bytes, at->sm, &at->loops,
                                   &work, err);
    if (status != RIDGE_OK)
        return status;
    table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    for (i = 0; i < most; i++)
        add_loop(table, at, i, &work[i]);
    ridge_loop_work_free(work);
    ridge_output_text(output, "\nOne pass of a loop with the loops in it, by one full warp:\n\n");
    ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
    ridge_table_free(table);
    if (most < at->loops.count)
        ridge_output_format(output, "%zu more: --all\n", at->loops.count - most);
    return RIDGE_OK;
}

static void print_helpers(ridge_output *output, const struct inspect_function *at)
{
    size_t i;

    if (at->helper_count > 0)
        ridge_output_text(output, "\nFunctions in its code:\n");
    for (i = 0; i < at->helper_count; i++)
        ridge_output_format(output, "  0x%04x %s, %u instructions\n", at->helpers[i].offset,
                            at->helpers[i].name, at->helpers[i].code_bytes / 16);
}

static size_t spills_in_loops(const struct inspect_function *at)
{
    size_t count = 0;
    size_t i;

    for (i = 0; i < at->spills.instruction_count; i++)
        count += at->spills.is_spill[i] && at->loops.of[i] >= 0;
    return count;
}

static void print_spills(ridge_output *output, const struct inspect_function *at)
{
    const ridge_function *const function = at->function;
    const size_t in_loops = spills_in_loops(at);
    char text[32] = "none";

    if (in_loops > 0)
        snprintf(text, sizeof(text), "%zu", in_loops);
    if (function->spill_store_bytes > 0 || function->spill_load_bytes > 0)
        ridge_output_format(
            output,
            "\nSpills of a thread: %d bytes stored, %d loaded, by %zu instructions, %s in loops\n",
            function->spill_store_bytes, function->spill_load_bytes, at->spills.count, text);
    else if (function->spill_store_bytes < 0 && function->local_bytes > 0)
        ridge_output_format(output,
                            "\nLocal memory of a thread: %d bytes; whether of spills or of "
                            "arrays, this toolkit did not record\n",
                            function->local_bytes);
}

/* -- JSON -------------------------------------------------------------------------------------- */

static void write_work(ridge_json *json, const ridge_loop_work *work)
{
    ridge_json_number(json, "flop", work->flop);
    ridge_json_number(json, "tensor_flop", work->tensor_flop);
    ridge_json_count(json, "unknown_tensor_count", work->unknown_tensor_count);
    ridge_json_number(json, "global_bytes", work->global_bytes);
    ridge_json_number(json, "shared_bytes", work->shared_bytes);
    ridge_json_number(json, "local_bytes", work->local_bytes);
}

static void write_mix(ridge_json *json, const char *key, const ridge_mix *mix)
{
    size_t i, space, store, width;

    ridge_json_begin_object(json, key);
    ridge_json_count(json, "instruction_count", mix->instruction_count);
    ridge_json_count(json, "padding_count", mix->padding_count);
    write_work(json, &(ridge_loop_work){mix->flop, mix->tensor_flop, mix->unknown_tensor_count,
                                        mix->global_bytes, mix->shared_bytes, mix->local_bytes});
    ridge_json_begin_object(json, "classes");
    for (i = 0; i < RIDGE_SASS_CLASS_COUNT; i++)
        if (mix->classes[i] > 0)
            ridge_json_count(json, ridge_sass_class_name((ridge_sass_class)i), mix->classes[i]);
    ridge_json_end_object(json);
    ridge_json_begin_object(json, "instructions");
    for (i = 0; i < mix->row_count; i++)
        ridge_json_count(json, mix->rows[i].text, mix->rows[i].count);
    ridge_json_end_object(json);
    ridge_json_begin_array(json, "widths");
    for (space = 0; space < RIDGE_MIX_SPACES; space++)
        for (store = 0; store < 2; store++)
            for (width = 0; width < RIDGE_MIX_WIDTHS; width++) {
                if (mix->widths[space][store][width] == 0)
                    continue;
                ridge_json_begin_object(json, NULL);
                ridge_json_text(json, "space", space_names[space]);
                ridge_json_text(json, "access", store ? "store" : "load");
                ridge_json_count(json, "width_bytes", UINT64_C(1) << width);
                ridge_json_count(json, "count", mix->widths[space][store][width]);
                ridge_json_end_object(json);
            }
    ridge_json_end_array(json);
    ridge_json_end_object(json);
}

static ridge_status write_loops(ridge_json *json, const struct inspect_function *at,
                                ridge_error *err)
{
    ridge_loop_work *work;
    const ridge_status status = ridge_loop_work_count(at->function->code, at->function->code_bytes,
                                                      at->sm, &at->loops, &work, err);
    size_t i;

    ridge_json_begin_array(json, "loops");
    for (i = 0; i < at->loops.count && status == RIDGE_OK; i++) {
        const ridge_loop *const loop = &at->loops.rows[i];
        char text[300];

        ridge_json_begin_object(json, NULL);
        ridge_json_count(json, "head", loop->head);
        ridge_json_count(json, "end", loop->end);
        ridge_json_integer(json, "depth", loop->depth);
        ridge_json_integer(json, "parent", loop->parent);
        ridge_json_count(json, "instruction_count", loop->instruction_count);
        ridge_json_text(json, "line",
                        loop_place(at, loop, text, sizeof(text))[0] != '\0' ? text : NULL);
        write_work(json, &work[i]);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
    ridge_loop_work_free(work);
    return status;
}

static void write_helpers(ridge_json *json, const struct inspect_function *at)
{
    size_t i;

    ridge_json_begin_array(json, "helpers");
    for (i = 0; i < at->helper_count; i++) {
        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "name", at->helpers[i].name);
        ridge_json_count(json, "offset", at->helpers[i].offset);
        ridge_json_count(json, "code_bytes", at->helpers[i].code_bytes);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
}

/* Null where the toolkit did not record which accesses are spills. */
static void write_spills(ridge_json *json, const struct inspect_function *at)
{
    if (at->function->spill_store_bytes < 0) {
        ridge_json_null(json, "spill_count");
        ridge_json_null(json, "spill_loop_count");
    } else {
        ridge_json_count(json, "spill_count", at->spills.count);
        ridge_json_count(json, "spill_loop_count", spills_in_loops(at));
    }
}

/* -- both -------------------------------------------------------------------------------------- */

ridge_status inspect_print_mix(ridge_output *output, ridge_json *json,
                               const struct inspect_function *at, ridge_error *err)
{
    const ridge_function *const function = at->function;
    ridge_mix whole;
    ridge_mix in_loops = {0};
    ridge_status status = ridge_mix_count(function->code, function->code_bytes, at->sm, &at->loops,
                                          RIDGE_MIX_WHOLE, &whole, err);

    if (status == RIDGE_OK)
        status = ridge_mix_count(function->code, function->code_bytes, at->sm, &at->loops,
                                 RIDGE_MIX_LOOPS, &in_loops, err);
    if (status == RIDGE_OK && json != NULL) {
        write_mix(json, "whole", &whole);
        write_mix(json, "in_loops", &in_loops);
        status = write_loops(json, at, err);
        write_spills(json, at);
        write_helpers(json, at);
    } else if (status == RIDGE_OK) {
        ridge_output_text(output, "\n");
        print_classes(output, &whole, &in_loops);
        print_widths(output, &whole, &in_loops);
        status = print_loops(output, at, err);
        print_spills(output, at);
        print_helpers(output, at);
    }
    ridge_mix_release(&whole);
    ridge_mix_release(&in_loops);
    return status;
}
