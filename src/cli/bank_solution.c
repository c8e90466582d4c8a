/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge banks --solve: the layouts, best first, what stands against better ones, and what would
 * break that. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bank_views.h"

enum { MOST_CANDIDATES = RIDGE_BANK_KIND_COUNT * RIDGE_BANKS_KIND_MOST };

struct answer {
    ridge_bank_question question;
    ridge_bank_candidate candidates[MOST_CANDIDATES];
    size_t count, shown;
    ridge_bank_solution solution;
    int align_bytes;
    int64_t ideal; /* wavefronts of all accesses */
};

static bool has_occupancy(const struct answer *answer)
{
    return answer->question.arch != NULL;
}

/* -- text -------------------------------------------------------------------------------------- */

/* "ld.2 token-strided" */
static const char *access_text(const ridge_bank_pattern *pattern, char *buffer, size_t size)
{
    char name[32];

    snprintf(buffer, size, "%s %s", ridge_bank_access_name(&pattern->access, name, sizeof(name)),
             pattern->where);
    return buffer;
}

static void print_given(ridge_output *output, const struct answer *answer)
{
    const ridge_bank_candidate *const given = &answer->solution.given;
    char layout[128];

    ridge_output_format(
        output, "as given, %s: ", ridge_bank_tile_layout(&given->tile, layout, sizeof(layout)));
    if (given->piece_bytes == 0)
        ridge_output_format(output, "traps: %s\n", answer->solution.given_error.text);
    else if (given->excess == 0)
        ridge_output_text(output, "no conflict either\n");
    else
        ridge_output_format(output, "%" PRId64 " of %" PRId64 " wavefronts are conflicts\n",
                            given->excess, given->excess + answer->ideal);
}

static void print_verdict(ridge_output *output, const struct bank_request *request,
                          const struct answer *answer)
{
    const ridge_bank_candidate *const best = &answer->candidates[0];
    char layout[128], text[200];

    ridge_output_format(output, "%dx%d %s: ", request->tile.rows, request->tile.columns,
                        request->tile.element_name);
    if (answer->count == 0) {
        ridge_output_styled(output, RIDGE_STYLE_BAD, "no layout allows these accesses");
        ridge_output_text(output, "\n");
        return;
    }
    if (best->excess == 0)
        ridge_output_styled(output, RIDGE_STYLE_GOOD, "no conflict");
    else
        ridge_output_styled(output, RIDGE_STYLE_WARN, "conflicts remain");
    snprintf(text, sizeof(text), " in %s",
             ridge_bank_tile_layout(&best->tile, layout, sizeof(layout)));
    ridge_output_styled(output, RIDGE_STYLE_STRONG, text);
    if (best->excess > 0)
        ridge_output_format(output, ": %" PRId64 " wavefronts where %" PRId64 " would do",
                            best->excess + answer->ideal, answer->ideal);
    ridge_output_text(output, "\n");
}

/* One letter an access: the columns of the table. */
static void print_legend(ridge_output *output, const struct answer *answer)
{
    for (size_t i = 0; i < answer->question.pattern_count; i++) {
        const ridge_bank_floor *const floor = &answer->solution.floors[i];
        char text[320];

        ridge_output_format(output, "  %c  %s, ideal %" PRId64 "\n", (char)('A' + i),
                            access_text(&answer->question.patterns[i], text, sizeof(text)),
                            floor->ideal);
    }
}

static void print_table(ridge_output *output, const struct answer *answer)
{
    static const char *const letters[] = {"A", "B", "C", "D", "E", "F", "G", "H"};
    ridge_column columns[RIDGE_BANKS_MOST_PATTERNS + 6];
    const size_t pattern_count = answer->question.pattern_count;
    size_t column_count = 0;
    ridge_table *table;

    columns[column_count++] = (ridge_column){"layout", "Layout", RIDGE_UNIT_NONE, true, 0, 0};
    columns[column_count++] = (ridge_column){"excess", "Conflicts", RIDGE_UNIT_COUNT, false, 0, 0};
    for (size_t i = 0; i < pattern_count; i++)
        columns[column_count++] = (ridge_column){letters[i], letters[i], RIDGE_UNIT_COUNT,
                                                 false,      0,          (unsigned char)(i + 1)};
    columns[column_count++] =
        (ridge_column){"lost_bytes", "Lost bytes", RIDGE_UNIT_COUNT, false, 0, 9};
    if (has_occupancy(answer))
        columns[column_count++] =
            (ridge_column){"blocks_per_sm", "Blocks/SM", RIDGE_UNIT_COUNT, false, 0, 0};
    columns[column_count++] =
        (ridge_column){"piece_bytes", "Pieces", RIDGE_UNIT_COUNT, false, 0, 11};
    columns[column_count++] =
        (ridge_column){"address_ops", "Address", RIDGE_UNIT_NONE, true, 0, 10};
    table = ridge_table_create(columns, column_count);
    for (size_t i = 0; i < answer->shown; i++) {
        const ridge_bank_candidate *const row = &answer->candidates[i];
        char text[128];

        ridge_table_text(table, ridge_bank_tile_layout(&row->tile, text, sizeof(text)));
        ridge_table_count(table, (uint64_t)row->excess);
        for (size_t j = 0; j < pattern_count; j++)
            ridge_table_count(table, (uint64_t)row->results[j].wavefronts);
        ridge_table_count(table, (uint64_t)row->lost_bytes);
        if (has_occupancy(answer))
            ridge_table_count(table, (uint64_t)row->blocks_per_sm);
        ridge_table_count(table, (uint64_t)row->piece_bytes);
        snprintf(text, sizeof(text), "%s",
                 row->address_ops == 0   ? "constant"
                 : row->address_ops == 1 ? "+1 op"
                                         : "+2 ops");
        ridge_table_text(table, text);
    }
    ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
    ridge_table_free(table);
}

/* What the numbers of the table are, and how to use its first row. */
static void print_use(ridge_output *output, const struct answer *answer)
{
    const ridge_bank_tile *const tile = &answer->candidates[0].tile;
    bool has_copy = false, has_other = false;
    char text[1100], part[1024];

    for (size_t i = 0; i < answer->question.pattern_count; i++) {
        const ridge_bank_access *const access = &answer->question.patterns[i].access;
        const bool is_copy = access->op == RIDGE_BANK_CP_ASYNC && access->width_bytes == 16;

        has_copy = has_copy || is_copy;
        has_other = has_other || !is_copy;
    }
    ridge_output_format(output, "\nThe first as a tile: %s\n",
                        ridge_bank_tile_write(tile, part, sizeof(part)));
    snprintf(text, sizeof(text), "byte = %s", ridge_bank_tile_formula(tile, part, sizeof(part)));
    ridge_output_wrap(output, 4, "Its addresses: ", text);
    ridge_output_text(output, "\n");
    ridge_output_wrap(output, 4, "",
                      "Pieces: bytes that stay together and aligned. Address: integer instructions "
                      "an access needs beyond those of plain rows.");
    if (has_copy && has_other)
        ridge_output_wrap(output, 4, "",
                          "Order: a wavefront of cp.async.16 counts as a quarter of one, as it was "
                          "measured.");
    ridge_output_text(output, "\n");
}

static void print_floor(ridge_output *output, const struct answer *answer, size_t index)
{
    const ridge_bank_floor *const floor = &answer->solution.floors[index];
    const int element = answer->question.tile->element_bytes;
    char access[320], text[800];
    size_t used;

    if (floor->degree <= 1)
        return;
    access_text(&answer->question.patterns[index], access, sizeof(access));
    used = (size_t)snprintf(text, sizeof(text),
                            "Floor: %s is %d-way at best in any layout of whole %d-byte pieces, "
                            "which leaves each word one of %d banks",
                            access, floor->degree, floor->piece_bytes, 128 / floor->piece_bytes);
    if (floor->reached_stride_bytes > 0)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "; row stride %d reaches it",
                                 floor->reached_stride_bytes / element);
    snprintf(text + used, sizeof(text) - used, ".");
    ridge_output_wrap(output, 4, "", text);
    if (floor->free_stride_bytes > 0) {
        snprintf(text, sizeof(text),
                 "- %d-byte pieces break it: row stride %d, no conflict, but %d-byte copies are %d "
                 "times as many instructions.",
                 floor->free_piece_bytes, floor->free_stride_bytes / element,
                 floor->free_piece_bytes, floor->piece_bytes / floor->free_piece_bytes);
        ridge_output_wrap(output, 4, "  ", text);
    }
    if (floor->quarter_stride_bytes > 0) {
        snprintf(text, sizeof(text),
                 "- Other lanes break it: ld.%d quarter-rows, row stride %d, no conflict.",
                 floor->piece_bytes, floor->quarter_stride_bytes / element);
        ridge_output_wrap(output, 4, "  ", text);
    }
}

/* Plain and transposed matrix reads from one copy: the layout that serves both has a name. */
static void print_both_directions(ridge_output *output, const struct answer *answer)
{
    bool plain = false, transposed = false;
    char layout[128];

    for (size_t i = 0; i < answer->question.pattern_count; i++) {
        const ridge_bank_access *const access = &answer->question.patterns[i].access;

        plain = plain || (access->matrix_count > 0 && !access->transposed);
        transposed = transposed || (access->matrix_count > 0 && access->transposed);
    }
    if (plain && transposed && answer->count > 0 && answer->candidates[0].excess == 0)
        ridge_output_format(
            output, "One copy serves plain and transposed reads: %s.\n",
            ridge_bank_tile_layout(&answer->candidates[0].tile, layout, sizeof(layout)));
}

static void print_excluded(ridge_output *output, const struct answer *answer)
{
    const ridge_bank_solution *const solution = &answer->solution;
    char text[240];
    size_t used =
        (size_t)snprintf(text, sizeof(text), "%zu layouts tried", solution->candidate_count);

    if (solution->excluded_align > 0)
        used += (size_t)snprintf(
            text + used, sizeof(text) - used,
            "; %zu left out, whose rows are not of whole %d-byte pieces%s",
            solution->excluded_align, answer->align_bytes,
            answer->question.align_bytes < answer->align_bytes ? ": an access would trap" : "");
    if (solution->excluded_trap > 0)
        snprintf(text + used, sizeof(text) - used, "; %zu tear an access apart",
                 solution->excluded_trap);
    ridge_output_wrap(output, 0, "", text);
}

static void print_blocks(ridge_output *output, const struct answer *answer)
{
    const ridge_bank_candidate *const given = &answer->solution.given;

    if (!has_occupancy(answer) || answer->count == 0 || given->piece_bytes == 0)
        return;
    if (answer->candidates[0].blocks_per_sm < given->blocks_per_sm)
        ridge_output_format(output, "The best costs occupancy: %d blocks per SM, %d as given.\n",
                            answer->candidates[0].blocks_per_sm, given->blocks_per_sm);
    else
        ridge_output_format(output, "No occupancy step lost: %d blocks per SM.\n",
                            answer->candidates[0].blocks_per_sm);
}

static void print_answer(ridge_output *output, const struct bank_request *request,
                         const struct answer *answer)
{
    print_verdict(output, request, answer);
    print_given(output, answer);
    ridge_output_text(output, "\n");
    print_legend(output, answer);
    ridge_output_text(output, "\n");
    if (answer->count > 0) {
        print_table(output, answer);
        print_use(output, answer);
    }
    print_both_directions(output, answer);
    print_blocks(output, answer);
    for (size_t i = 0; i < answer->question.pattern_count; i++)
        print_floor(output, answer, i);
    print_excluded(output, answer);
}

/* -- JSON -------------------------------------------------------------------------------------- */

static void write_candidate(ridge_json *json, const char *key, const struct answer *answer,
                            const ridge_bank_candidate *candidate)
{
    static const char *const kinds[] = {
        [RIDGE_BANK_GIVEN] = "given",       [RIDGE_BANK_PADDED] = "padded",
        [RIDGE_BANK_BLOCKED] = "blocked",   [RIDGE_BANK_PANELED] = "paneled",
        [RIDGE_BANK_SWIZZLED] = "swizzled",
    };

    ridge_json_begin_object(json, key);
    ridge_json_text(json, "kind", kinds[candidate->kind]);
    bank_tile_json(json, "tile", &candidate->tile);
    ridge_json_integer(json, "wavefronts", candidate->wavefronts);
    ridge_json_integer(json, "excess", candidate->excess);
    ridge_json_integer(json, "lost_bytes", candidate->lost_bytes);
    ridge_json_integer(json, "piece_bytes", candidate->piece_bytes);
    ridge_json_integer(json, "address_ops", candidate->address_ops);
    if (has_occupancy(answer))
        ridge_json_integer(json, "blocks_per_sm", candidate->blocks_per_sm);
    ridge_json_begin_array(json, "results");
    for (size_t i = 0; i < answer->question.pattern_count; i++) {
        ridge_json_begin_object(json, NULL);
        bank_result_json(json, &answer->question.patterns[i], &candidate->results[i]);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
    ridge_json_end_object(json);
}

/* 0 stands for "none" in the structure. */
static void write_optional(ridge_json *json, const char *key, int value)
{
    if (value > 0)
        ridge_json_integer(json, key, value);
    else
        ridge_json_null(json, key);
}

static void write_floor(ridge_json *json, const ridge_bank_floor *floor)
{
    ridge_json_begin_object(json, NULL);
    ridge_json_integer(json, "piece_bytes", floor->piece_bytes);
    ridge_json_integer(json, "wavefronts", floor->wavefronts);
    ridge_json_integer(json, "ideal", floor->ideal);
    ridge_json_integer(json, "degree", floor->degree);
    write_optional(json, "reached_stride_bytes", floor->reached_stride_bytes);
    write_optional(json, "free_piece_bytes", floor->free_piece_bytes);
    write_optional(json, "free_stride_bytes", floor->free_stride_bytes);
    write_optional(json, "quarter_stride_bytes", floor->quarter_stride_bytes);
    ridge_json_end_object(json);
}

static void write_answer(ridge_output *output, const struct answer *answer)
{
    const ridge_bank_solution *const solution = &answer->solution;
    ridge_json *const json = ridge_json_create(output);

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "schema", "ridge-banks/1");
    if (solution->given.piece_bytes > 0) {
        write_candidate(json, "given", answer, &solution->given);
    } else {
        ridge_json_null(json, "given");
        ridge_json_text(json, "given_error", solution->given_error.text);
    }
    ridge_json_begin_array(json, "candidates");
    for (size_t i = 0; i < answer->shown; i++)
        write_candidate(json, NULL, answer, &answer->candidates[i]);
    ridge_json_end_array(json);
    ridge_json_begin_array(json, "floors");
    for (size_t i = 0; i < answer->question.pattern_count; i++)
        write_floor(json, &solution->floors[i]);
    ridge_json_end_array(json);
    ridge_json_count(json, "candidate_count", solution->candidate_count);
    ridge_json_count(json, "excluded_align", solution->excluded_align);
    ridge_json_count(json, "excluded_trap", solution->excluded_trap);
    ridge_json_end_object(json);
    ridge_json_free(json);
}

/* -- the answer -------------------------------------------------------------------------------- */

static void ask(const struct bank_request *request, struct answer *answer)
{
    answer->question = (ridge_bank_question){
        .tile = &request->tile,
        .patterns = request->patterns,
        .pattern_count = request->pattern_count,
        .align_bytes = (int)request->align_bytes,
        .arch = request->gpu.chip != NULL ? request->gpu.chip->arch : NULL,
        .launch = {.threads_per_block = (int)request->threads,
                   .registers_per_thread = (int)request->registers,
                   .shared_bytes = (int)request->other_bytes},
        .tile_copies = (int)request->copies,
    };
    answer->align_bytes = (int)request->align_bytes;
    for (size_t i = 0; i < request->pattern_count; i++)
        if (request->patterns[i].access.width_bytes > answer->align_bytes)
            answer->align_bytes = request->patterns[i].access.width_bytes;
}

int bank_show_solution(const struct bank_request *request, const struct cli_output *out)
{
    struct answer *answer;
    ridge_output *output;
    ridge_error err;
    int status;

    if (request->pattern_count == 0)
        return cli_usage_error("--solve needs the accesses, as in cp.async.16 row ldmatrix.x4");
    if (request->align_bytes > 16)
        return cli_usage_error("--align needs 1, 2, 4, 8 or 16, not %zu", request->align_bytes);
    answer = calloc(1, sizeof(*answer));
    if (answer == NULL) {
        cli_message(NULL, "out of memory");
        return ridge_status_exit(RIDGE_ERR_OUT_OF_MEMORY);
    }
    ask(request, answer);
    if (ridge_banks_solve(&answer->question, answer->candidates, MOST_CANDIDATES, &answer->count,
                          &answer->solution, &err) != RIDGE_OK) {
        free(answer);
        return err.status == RIDGE_ERR_INVALID_ARGUMENT ? cli_usage_error("%s", err.text)
                                                        : cli_fail(NULL, &err);
    }
    answer->shown = answer->count < request->top ? answer->count : request->top;
    for (size_t i = 0; i < request->pattern_count; i++)
        answer->ideal += answer->solution.floors[i].ideal;
    /* No layout without a conflict: the answer to the question is no. */
    status = answer->count > 0 && answer->candidates[0].excess == 0 ? CLI_DONE : CLI_NO;
    output = cli_open(out);
    if (out->format == RIDGE_FORMAT_JSON)
        write_answer(output, answer);
    else
        print_answer(output, request, answer);
    free(answer);
    return cli_close(output, status);
}
