/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge inspect --sass: the machine code, as far as it is decoded, with the control codes that
 * nvdisasm does not print. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect.h"

enum { INSTRUCTION_BYTES = 16, SCOREBOARDS = 6, NONE = 7 };

/* "B01----:R-:W2:Y:S04": waits for scoreboards 0 and 1, sets 2 with its result, yields, then stalls
 * 4 cycles. The notation of maxas and its followers. */
static void control_text(const ridge_sass *sass, char *text, size_t size)
{
    char waits[SCOREBOARDS + 1] = "------";
    char read = '-';
    char write = '-';
    int i;

    for (i = 0; i < SCOREBOARDS; i++)
        if ((sass->wait_mask >> i & 1) != 0)
            waits[i] = (char)('0' + i);
    if (sass->read_barrier != NONE)
        read = (char)('0' + sass->read_barrier);
    if (sass->write_barrier != NONE)
        write = (char)('0' + sass->write_barrier);
    snprintf(text, size, "B%s:R%c:W%c:%c:S%02u", waits, read, write, sass->yields ? 'Y' : '-',
             (unsigned)sass->stall_cycles);
}

/* -- labels ------------------------------------------------------------------------------------ */

/* Marks targets of branches with 1, then numbers them from 1 in order; NULL: out of memory. */
static uint32_t *number_labels(const struct inspect_function *at)
{
    uint32_t *const labels = calloc(at->instruction_count + 1, sizeof(*labels));
    uint32_t label_count = 0;
    size_t i;

    for (i = 0; labels != NULL && i < at->instruction_count; i++) {
        const size_t offset = i * INSTRUCTION_BYTES;
        ridge_sass sass;

        ridge_sass_decode(at->function->code + offset, (uint32_t)offset, at->sm, &sass);
        if (sass.is_branch && sass.branch_target >= 0 &&
            (uint64_t)sass.branch_target / INSTRUCTION_BYTES < at->instruction_count)
            labels[sass.branch_target / INSTRUCTION_BYTES] = 1;
    }
    for (i = 0; labels != NULL && i < at->instruction_count; i++)
        if (labels[i] != 0)
            labels[i] = ++label_count;
    return labels;
}

static const ridge_loop *loop_at(const struct inspect_function *at, size_t index)
{
    const int32_t loop = at->loops.of[index];

    return loop >= 0 && at->loops.rows[loop].head == index * INSTRUCTION_BYTES
               ? &at->loops.rows[loop]
               : NULL;
}

/* Lines in front of an instruction: names of functions, labels, loops. */
static void print_marks(ridge_output *output, const struct inspect_function *at, size_t index,
                        const uint32_t *labels, size_t *helper)
{
    const ridge_loop *const loop = loop_at(at, index);

    while (*helper < at->helper_count && at->helpers[*helper].offset <= index * INSTRUCTION_BYTES)
        ridge_output_format(output, "%s:\n", at->helpers[(*helper)++].name);
    if (labels[index] == 0)
        return;
    ridge_output_format(output, "L%u:", labels[index]);
    if (loop != NULL)
        ridge_output_format(output, " loop of %zu instructions, depth %d", loop->instruction_count,
                            loop->depth);
    ridge_output_text(output, "\n");
}

/* -- text -------------------------------------------------------------------------------------- */

static int depth_of(const struct inspect_function *at, size_t index)
{
    const int32_t loop = at->loops.of[index];

    return loop >= 0 ? at->loops.rows[loop].depth : 0;
}

static void append_target(char *text, size_t size, const struct inspect_function *at,
                          const ridge_sass *sass, const uint32_t *labels)
{
    const size_t used = strlen(text);

    if (!sass->is_branch)
        return;
    if (sass->branch_target >= 0 &&
        (uint64_t)sass->branch_target / INSTRUCTION_BYTES < at->instruction_count)
        snprintf(text + used, size - used, " -> L%u",
                 labels[sass->branch_target / INSTRUCTION_BYTES]);
    else
        snprintf(text + used, size - used, " -> outside, %+" PRId64, sass->branch_target);
}

static void print_instruction(ridge_output *output, const struct inspect_function *at, size_t index,
                              const uint32_t *labels, char *last_place)
{
    static const char *const all_bars[] = {"    ", "|   ", "||  ", "||| ", "||||"};
    const size_t offset = index * INSTRUCTION_BYTES;
    const ridge_line *const line = ridge_line_find(at->lines, at->line_count, (uint32_t)offset);
    const int depth = depth_of(at, index);
    const char *const bars = at->loops.count > 0 ? all_bars[depth < 4 ? depth : 4] : "";
    char control[32], text[240], place[300];
    ridge_sass sass;

    ridge_sass_decode(at->function->code + offset, (uint32_t)offset, at->sm, &sass);
    control_text(&sass, control, sizeof(control));
    ridge_sass_line(at->function->code + offset, (uint32_t)offset, at->sm, text, sizeof(text));
    append_target(text, sizeof(text), at, &sass, labels);
    if (at->spills.is_spill[index])
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "  spill");
    inspect_place(at, line, place, sizeof(place));
    if (place[0] == '\0' || strcmp(place, last_place) == 0)
        ridge_output_format(output, "%s%05zx  %s  %s\n", bars, offset, control, text);
    else
        ridge_output_format(output, "%s%05zx  %s  %-40s  %s\n", bars, offset, control, text, place);
    snprintf(last_place, sizeof(place), "%s", place);
}

/* -- JSON -------------------------------------------------------------------------------------- */

static void write_barrier(ridge_json *json, const char *key, unsigned barrier)
{
    if (barrier == NONE)
        ridge_json_null(json, key);
    else
        ridge_json_count(json, key, barrier);
}

static void write_instruction(ridge_json *json, const struct inspect_function *at, size_t index)
{
    const size_t offset = index * INSTRUCTION_BYTES;
    char text[300];
    ridge_sass sass;

    ridge_sass_decode(at->function->code + offset, (uint32_t)offset, at->sm, &sass);
    ridge_json_begin_object(json, NULL);
    ridge_json_count(json, "offset", offset);
    ridge_json_text(json, "text", sass.text);
    ridge_json_text(json, "class", ridge_sass_class_name(sass.cls));
    ridge_json_text(
        json, "instruction",
        ridge_sass_line(at->function->code + offset, (uint32_t)offset, at->sm, text, sizeof(text)));
    ridge_json_count(json, "width_bytes", sass.width_bytes);
    ridge_json_bool(json, "is_spill", at->spills.is_spill[index]);
    ridge_json_count(json, "stall_cycles", sass.stall_cycles);
    ridge_json_bool(json, "yields", sass.yields);
    write_barrier(json, "write_barrier", sass.write_barrier);
    write_barrier(json, "read_barrier", sass.read_barrier);
    ridge_json_count(json, "wait_mask", sass.wait_mask);
    ridge_json_count(json, "reuse", sass.reuse);
    if (sass.is_branch)
        ridge_json_integer(json, "branch_target", sass.branch_target);
    ridge_json_integer(json, "loop_depth", depth_of(at, index));
    inspect_place(at, ridge_line_find(at->lines, at->line_count, (uint32_t)offset), text,
                  sizeof(text));
    ridge_json_text(json, "line", text[0] != '\0' ? text : NULL);
    ridge_json_end_object(json);
}

/* -- both -------------------------------------------------------------------------------------- */

ridge_status inspect_print_sass(ridge_output *output, ridge_json *json,
                                const struct inspect_function *at, ridge_error *err)
{
    char last_place[300] = "";
    uint32_t *labels;
    size_t helper = 0;
    size_t i;

    if (json != NULL) {
        ridge_json_begin_array(json, "instructions");
        for (i = 0; i < at->instruction_count; i++)
            write_instruction(json, at, i);
        ridge_json_end_array(json);
        return RIDGE_OK;
    }
    labels = number_labels(at);
    if (labels == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    for (i = 0; i < at->instruction_count; i++) {
        print_marks(output, at, i, labels, &helper);
        print_instruction(output, at, i, labels, last_place);
    }
    if (at->padding_count > 0)
        ridge_output_format(output, "%zu instructions of padding\n", at->padding_count);
    free(labels);
    return RIDGE_OK;
}
