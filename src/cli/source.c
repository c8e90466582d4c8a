/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge source: where in the code a kernel's time goes. The instructions of a kernel are weighed
 * by one measure and shown one by one, or summed up by the source line that they come from.
 *
 * Samples stand on the instruction that waits. What it waits for is another one, earlier: the
 * producer, named beside it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "options.h"
#include "ridge/profile.h"

static const char usage[] = "ridge source [options] FILE";

static const char *const measure_names[] = {"stall", "conflict", "sectors", "samples", NULL};

enum measure_id { BY_STALL, BY_CONFLICT, BY_SECTORS, BY_SAMPLES, MEASURE_COUNT };

static const struct measure {
    unsigned column;     /* of the profile that it needs */
    const char *title;   /* of the weight */
    const char *what;    /* "4,812 ..." */
    const char *none;    /* when all weights are zero */
    const char *section; /* that collects it */
} measures[MEASURE_COUNT] = {
    [BY_STALL] = {RIDGE_PROFILE_STALLS, "Stalled", "samples of stalled warps",
                  "no warp was seen stalled", "SourceCounters"},
    [BY_CONFLICT] = {RIDGE_PROFILE_SHARED, "Extra", "shared-memory wavefronts beyond the ideal",
                     "shared memory is accessed without conflicts", "SourceCounters"},
    [BY_SECTORS] = {RIDGE_PROFILE_SECTORS, "Extra",
                    "L2 sectors of global accesses beyond the ideal",
                    "global memory is accessed without extra sectors", "SourceCounters"},
    [BY_SAMPLES] = {RIDGE_PROFILE_SAMPLES, "Samples", "samples", "no warp was sampled",
                    "SourceCounters"},
};

struct request {
    const char *path;
    int by;
    size_t top;
    bool lines; /* show source lines */
    bool sass;  /* show instructions */
    bool all;   /* every one of them, in order of code */
};

/* An instruction, or all instructions of a line: sums over rows. */
struct spot {
    ridge_instruction sum;
    uint64_t weight;
    size_t first_row;
    const ridge_line
        *caller;       /* where the kernel itself calls what was inlined; NULL: not inlined */
    bool many_callers; /* and other places do */
};

/* The line of the kernel itself that an inlined line was reached from; NULL: not inlined. */
static const ridge_line *caller_of(const ridge_instruction *row)
{
    const ridge_line *line = row->line;
    const ridge_line *caller = NULL;
    size_t steps = 0; /* a damaged table may go round */

    while (line != NULL && line->inlined_at >= 0 && (size_t)line->inlined_at < row->line_count &&
           steps++ < row->line_count) {
        caller = &row->lines[line->inlined_at];
        line = caller;
    }
    return caller;
}

static bool is_same_line(const ridge_line *a, const ridge_line *b)
{
    if (a == NULL || b == NULL || a->file == NULL || b->file == NULL)
        return a == b;
    return a->line == b->line && strcmp(a->file, b->file) == 0;
}

/* -- weights ----------------------------------------------------------------------------------- */

/* A warp that issues, or could but another one was taken, is not stalled. */
static bool is_stall(size_t reason)
{
    return reason != RIDGE_STALL_SELECTED && reason != RIDGE_STALL_NOT_SELECTED;
}

static uint64_t excess(uint64_t actual, uint64_t ideal)
{
    return actual > ideal ? actual - ideal : 0;
}

static uint64_t weight_of(const ridge_instruction *row, int by)
{
    uint64_t sum = 0;
    size_t i;

    switch (by) {
    case BY_CONFLICT:
        return excess(row->wavefronts, row->wavefronts_ideal);
    case BY_SECTORS:
        return excess(row->sectors, row->sectors_ideal);
    case BY_SAMPLES:
        return row->samples;
    default:
        for (i = 0; i < RIDGE_STALL_COUNT; i++)
            sum += is_stall(i) ? row->stalls[i] : 0;
        return sum;
    }
}

static void add_row(struct spot *spot, const ridge_instruction *row, uint64_t weight)
{
    size_t i;

    spot->weight += weight;
    spot->sum.executed += row->executed;
    spot->sum.threads += row->threads;
    spot->sum.threads_on += row->threads_on;
    spot->sum.samples += row->samples;
    spot->sum.samples_not_issued += row->samples_not_issued;
    for (i = 0; i < RIDGE_STALL_COUNT; i++) {
        spot->sum.stalls[i] += row->stalls[i];
        spot->sum.stalls_not_issued[i] += row->stalls_not_issued[i];
    }
    spot->sum.wavefronts += row->wavefronts;
    spot->sum.wavefronts_ideal += row->wavefronts_ideal;
    spot->sum.sectors += row->sectors;
    spot->sum.sectors_ideal += row->sectors_ideal;
    spot->sum.tag_requests += row->tag_requests;
}

/* The heaviest first, then in order of code. */
static int by_weight(const void *left, const void *right)
{
    const struct spot *const a = left;
    const struct spot *const b = right;

    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return a->first_row < b->first_row ? -1 : a->first_row > b->first_row;
}

static int by_line(const void *left, const void *right)
{
    const struct spot *const a = left;
    const struct spot *const b = right;
    const int order = strcmp(a->sum.line->file, b->sum.line->file);

    if (order != 0)
        return order;
    if (a->sum.line->line != b->sum.line->line)
        return a->sum.line->line < b->sum.line->line ? -1 : 1;
    return a->first_row < b->first_row ? -1 : a->first_row > b->first_row;
}

/* Fills spots (as many as rows) with the instructions that weigh anything, heaviest first; or with
 * all of them, in order. */
static size_t weigh_instructions(const ridge_profile *profile, const struct request *request,
                                 struct spot *spots)
{
    const int by = request->by;
    size_t count = 0;
    size_t i;

    for (i = 0; i < profile->row_count; i++) {
        struct spot *const spot = &spots[count];

        if (weight_of(&profile->rows[i], by) == 0 && !request->all)
            continue;
        *spot = (struct spot){
            .sum = profile->rows[i], .first_row = i, .caller = caller_of(&profile->rows[i])};
        spot->weight = weight_of(&spot->sum, by);
        count++;
    }
    if (!request->all)
        qsort(spots, count, sizeof(*spots), by_weight);
    return count;
}

/* The same with source lines. Instructions without a line are one spot without. */
static size_t weigh_lines(const ridge_profile *profile, int by, struct spot *spots)
{
    struct spot unknown = {.first_row = profile->row_count};
    size_t row_count = 0;
    size_t count = 0;
    size_t i;

    for (i = 0; i < profile->row_count; i++) {
        const ridge_instruction *const row = &profile->rows[i];

        if (weight_of(row, by) == 0)
            continue;
        if (row->line == NULL || row->line->file == NULL) {
            add_row(&unknown, row, weight_of(row, by));
            continue;
        }
        spots[row_count++] = (struct spot){
            .sum = *row, .weight = weight_of(row, by), .first_row = i, .caller = caller_of(row)};
    }
    qsort(spots, row_count, sizeof(*spots), by_line);
    for (i = 0; i < row_count; i++) {
        if (count > 0 && is_same_line(spots[count - 1].sum.line, spots[i].sum.line)) {
            add_row(&spots[count - 1], &spots[i].sum, spots[i].weight);
            if (!is_same_line(spots[count - 1].caller, spots[i].caller))
                spots[count - 1].many_callers = true;
        } else {
            spots[count++] = spots[i];
        }
    }
    if (unknown.weight > 0)
        spots[count++] = unknown;
    qsort(spots, count, sizeof(*spots), by_weight);
    return count;
}

/* -- what a cell says -------------------------------------------------------------------------- */

/* "walls.cu:120"; false: no line. */
static bool line_text(const ridge_line *line, char *buffer, size_t size)
{
    if (line == NULL || line->file == NULL)
        return false;
    snprintf(buffer, size, "%s:%" PRIu32, cli_base_name(line->file), line->line);
    return true;
}

/* "walls.cu:120", and where it was inlined: "cuda_bf16.hpp:585 < walls.cu:26", "walls.cu:12 < 26".
 */
static const char *place_text(const struct spot *spot, char *buffer, size_t size)
{
    const char *const more = spot->many_callers ? ", ..." : "";
    char line[128];
    char caller[128];

    if (!line_text(spot->sum.line, line, sizeof(line)))
        return NULL;
    if (!line_text(spot->caller, caller, sizeof(caller)))
        snprintf(buffer, size, "%s", line);
    else if (strcmp(spot->sum.line->file, spot->caller->file) == 0)
        snprintf(buffer, size, "%s < %" PRIu32 "%s", line, spot->caller->line, more);
    else
        snprintf(buffer, size, "%s < %s%s", line, caller, more);
    return buffer;
}

/* The source line without the blanks around it; NULL: not in the report. */
static const char *source_text(const ridge_report_kernel *kernel, const ridge_line *line,
                               char *buffer, size_t size)
{
    const ridge_module *const module = ridge_report_kernel_module(kernel);
    const ridge_source_file *file;
    const char *text;
    size_t length;
    size_t i;

    if (module == NULL || line == NULL || line->file == NULL)
        return NULL;
    file = ridge_module_file(module, line->file);
    if (file == NULL)
        return NULL;
    text = ridge_source_line(file, line->line, &length);
    if (text == NULL)
        return NULL;
    while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL)
        length--;
    while (length > 0 && strchr(" \t", *text) != NULL) {
        text++;
        length--;
    }
    if (length > size - 1)
        length = size - 1;
    for (i = 0; i < length; i++)
        buffer[i] = text[i] == '\t' || text[i] == '\0' ? ' ' : text[i];
    buffer[length] = '\0';
    return buffer;
}

/* The commonest reason: "long_scoreboard 80 %". */
static const char *stall_text(const ridge_instruction *sum, char *buffer, size_t size)
{
    const uint64_t all = weight_of(sum, BY_STALL);
    size_t best = RIDGE_STALL_COUNT;
    size_t i;

    for (i = 0; i < RIDGE_STALL_COUNT; i++)
        if (is_stall(i) && sum->stalls[i] > 0 &&
            (best == RIDGE_STALL_COUNT || sum->stalls[i] > sum->stalls[best]))
            best = i;
    if (best == RIDGE_STALL_COUNT)
        return NULL;
    if (sum->stalls[best] >= all - all / 20) /* 95 %: as good as all */
        snprintf(buffer, size, "%s", ridge_stall_name((ridge_stall)best));
    else
        snprintf(buffer, size, "%s %.0f %%", ridge_stall_name((ridge_stall)best),
                 (double)sum->stalls[best] * 100 / (double)all);
    return buffer;
}

/* "LDG.U16 walls.cu:118": what the instruction waits for, with its line where that is another one,
 * else with its offset; NULL: not known. */
static const char *producer_text(const ridge_profile *profile, size_t row, char *buffer,
                                 size_t size)
{
    const size_t producer = ridge_profile_producer(profile, row);
    const ridge_instruction *feeding;
    char line[128];
    char own_line[128];

    if (producer >= profile->row_count)
        return NULL;
    feeding = &profile->rows[producer];
    if (!line_text(feeding->line, line, sizeof(line)) ||
        (line_text(profile->rows[row].line, own_line, sizeof(own_line)) &&
         strcmp(line, own_line) == 0))
        line[0] = '\0';
    if (line[0] != '\0')
        snprintf(buffer, size, "%s %s", feeding->sass.name != NULL ? feeding->sass.text : "?",
                 line);
    else
        snprintf(buffer, size, "%s 0x%04" PRIx32,
                 feeding->sass.name != NULL ? feeding->sass.text : "?", feeding->offset);
    return buffer;
}

/* -- text -------------------------------------------------------------------------------------- */

enum { MOST_COLUMNS = 8 };

/* Columns of the weight: what all tables begin with. */
static size_t weight_columns(int by, ridge_column *columns)
{
    size_t count = 0;

    columns[count++] = (ridge_column){"share_frac", "Share", RIDGE_UNIT_FRAC, false, 0, 0};
    columns[count++] = (ridge_column){"weight", measures[by].title, RIDGE_UNIT_COUNT, false, 0, 4};
    if (by == BY_CONFLICT || by == BY_SECTORS)
        columns[count++] = (ridge_column){"ideal", "Ideal", RIDGE_UNIT_COUNT, false, 0, 3};
    else
        columns[count++] = (ridge_column){"stalls", "Waits on", RIDGE_UNIT_NONE, true, 16, 2};
    return count;
}

static void add_weight(ridge_table *table, const struct spot *spot, int by, uint64_t total)
{
    char text[128];

    ridge_table_number(table, (double)spot->weight / (double)total);
    ridge_table_count(table, spot->weight);
    if (by == BY_CONFLICT)
        ridge_table_count(table, spot->sum.wavefronts_ideal);
    else if (by == BY_SECTORS)
        ridge_table_count(table, spot->sum.sectors_ideal);
    else
        ridge_table_text(table, stall_text(&spot->sum, text, sizeof(text)));
}

static void print_lines(ridge_output *output, const struct request *request,
                        const ridge_report_kernel *kernel, const struct spot *spots, size_t count,
                        uint64_t total)
{
    ridge_column columns[MOST_COLUMNS];
    size_t column_count = weight_columns(request->by, columns);
    ridge_table *table;
    size_t i;

    columns[column_count++] = (ridge_column){"line", "Line", RIDGE_UNIT_NONE, true, 16, 0};
    columns[column_count++] = (ridge_column){"text", "Source", RIDGE_UNIT_NONE, true, 20, 1};
    table = ridge_table_create(columns, column_count);
    for (i = 0; i < count && i < request->top; i++) {
        char text[400];
        const char *place;
        const char *source;

        add_weight(table, &spots[i], request->by, total);
        place = place_text(&spots[i], text, sizeof(text));
        ridge_table_text(table, place != NULL ? place : "(no line)");
        source = source_text(kernel, spots[i].sum.line, text, sizeof(text));
        if (source == NULL) /* of a header that was not imported */
            source = source_text(kernel, spots[i].caller, text, sizeof(text));
        ridge_table_text(table, source);
    }
    ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
    ridge_table_free(table);
}

static void print_instructions(ridge_output *output, const struct request *request,
                               const ridge_profile *profile, const struct spot *spots, size_t count,
                               uint64_t total)
{
    const bool opcodes = (profile->columns & RIDGE_PROFILE_OPCODES) != 0;
    const bool lines = (profile->columns & RIDGE_PROFILE_LINES) != 0;
    const bool producers = opcodes && (request->by == BY_STALL || request->by == BY_SAMPLES);
    ridge_column columns[MOST_COLUMNS];
    size_t column_count = weight_columns(request->by, columns);
    ridge_table *table;
    size_t i;

    columns[column_count++] = (ridge_column){"offset", "Offset", RIDGE_UNIT_NONE, true, 0, 0};
    if (opcodes)
        columns[column_count++] =
            (ridge_column){"opcode", "Instruction", RIDGE_UNIT_NONE, true, 16, 0};
    if (lines)
        columns[column_count++] = (ridge_column){"line", "Line", RIDGE_UNIT_NONE, true, 16, 3};
    if (producers)
        columns[column_count++] =
            (ridge_column){"producer", "Fed by", RIDGE_UNIT_NONE, true, 12, 1};
    table = ridge_table_create(columns, column_count);
    for (i = 0; i < count && i < request->top; i++) {
        const ridge_instruction *const row = &spots[i].sum;
        char text[400];

        add_weight(table, &spots[i], request->by, total);
        snprintf(text, sizeof(text), "0x%04" PRIx32, row->offset);
        ridge_table_text(table, text);
        if (opcodes)
            ridge_table_text(table, row->sass.name != NULL ? row->sass.text : NULL);
        if (lines)
            ridge_table_text(table, line_text(row->line, text, sizeof(text)) ? text : NULL);
        if (producers) {
            const char *const fed_by =
                producer_text(profile, spots[i].first_row, text, sizeof(text));

            ridge_table_text(table, fed_by != NULL ? fed_by : "-");
        }
    }
    ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
    ridge_table_free(table);
}

static void print_rest(ridge_output *output, const struct request *request, const char *what,
                       const struct spot *spots, size_t count, uint64_t total)
{
    uint64_t rest = 0;
    char share[32];
    size_t i;

    for (i = request->top; i < count; i++)
        rest += spots[i].weight;
    if (count > request->top)
        ridge_output_format(
            output, "%zu more %s with %s: --top %zu\n", count - request->top, what,
            ridge_number_text((double)rest / (double)total, RIDGE_UNIT_FRAC, share, sizeof(share)),
            count);
}

static void print_heading(ridge_output *output, const ridge_report_kernel_info *info)
{
    char time[32];
    char grid[80];
    char block[80];

    cli_print_name(output, info);
    ridge_output_format(
        output, "launch %zu, grid %s, block %s, %s%s%s\n", info->index,
        cli_extent(info->grid, grid, sizeof(grid)), cli_extent(info->block, block, sizeof(block)),
        ridge_number_text(info->duration_ns, RIDGE_UNIT_NS, time, sizeof(time)),
        info->gpu_name != NULL ? ", " : "", info->gpu_name != NULL ? info->gpu_name : "");
}

static size_t count_weighed(const struct spot *spots, size_t count)
{
    size_t weighed = 0, i;

    for (i = 0; i < count; i++)
        weighed += spots[i].weight > 0;
    return weighed;
}

static void print_profile(ridge_output *output, const struct request *request,
                          const ridge_report_kernel *kernel, const ridge_profile *profile,
                          struct spot *spots)
{
    const uint64_t total = weight_of(&profile->total, request->by);
    const bool has_lines = (profile->columns & RIDGE_PROFILE_LINES) != 0;
    char number[32];
    size_t count;

    print_heading(output, ridge_report_kernel_get_info(kernel));
    if (total == 0) {
        ridge_output_format(output, "%s\n", measures[request->by].none);
        return;
    }
    count = weigh_instructions(profile, request, spots);
    ridge_output_format(output, "%s %s, in %zu of %zu instructions\n",
                        ridge_number_text((double)total, RIDGE_UNIT_COUNT, number, sizeof(number)),
                        measures[request->by].what, count_weighed(spots, count),
                        profile->row_count);
    if ((profile->columns & RIDGE_PROFILE_OPCODES) == 0)
        ridge_output_text(output, "no machine code in the report: instructions have no names\n");
    if (!has_lines && request->lines)
        ridge_output_text(output, "no line numbers in the report: compile with nvcc -lineinfo\n");
    if (request->sass || !has_lines) {
        ridge_output_text(output, "\n");
        print_instructions(output, request, profile, spots, count, total);
        print_rest(output, request, "instructions", spots, count, total);
    }
    if (request->lines && has_lines) {
        count = weigh_lines(profile, request->by, spots);
        ridge_output_text(output, "\n");
        print_lines(output, request, kernel, spots, count, total);
        print_rest(output, request, "lines", spots, count, total);
    }
}

/* -- JSON -------------------------------------------------------------------------------------- */

static void write_stalls(ridge_json *json, const char *key,
                         const uint32_t stalls[RIDGE_STALL_COUNT])
{
    size_t i;

    ridge_json_begin_object(json, key);
    for (i = 0; i < RIDGE_STALL_COUNT; i++)
        if (stalls[i] > 0)
            ridge_json_count(json, ridge_stall_name((ridge_stall)i), stalls[i]);
    ridge_json_end_object(json);
}

static void write_counters(ridge_json *json, const struct request *request, unsigned columns,
                           const struct spot *spot, uint64_t total)
{
    const ridge_instruction *const sum = &spot->sum;

    ridge_json_number(json, "share_frac", total > 0 ? (double)spot->weight / (double)total : NAN);
    ridge_json_count(json, measure_names[request->by], spot->weight);
    if ((columns & RIDGE_PROFILE_EXECUTED) != 0)
        ridge_json_count(json, "executed", sum->executed);
    if ((columns & RIDGE_PROFILE_THREADS) != 0) {
        ridge_json_count(json, "threads", sum->threads);
        ridge_json_count(json, "threads_on", sum->threads_on);
    }
    if ((columns & RIDGE_PROFILE_SHARED) != 0) {
        ridge_json_count(json, "wavefronts", sum->wavefronts);
        ridge_json_count(json, "wavefronts_ideal", sum->wavefronts_ideal);
    }
    if ((columns & RIDGE_PROFILE_SECTORS) != 0) {
        ridge_json_count(json, "l2_sectors", sum->sectors);
        ridge_json_count(json, "l2_sectors_ideal", sum->sectors_ideal);
        ridge_json_count(json, "l1_tag_requests", sum->tag_requests);
    }
    if ((columns & RIDGE_PROFILE_SAMPLES) != 0 && request->by != BY_SAMPLES)
        ridge_json_count(json, "samples", sum->samples);
    if ((columns & RIDGE_PROFILE_STALLS) != 0) {
        write_stalls(json, "stalls", sum->stalls);
        ridge_json_count(json, "samples_not_issued", sum->samples_not_issued);
        write_stalls(json, "stalls_not_issued", sum->stalls_not_issued);
    }
}

static void write_line(ridge_json *json, const ridge_line *line)
{
    if (line == NULL || line->file == NULL)
        return;
    ridge_json_text(json, "file", line->file);
    ridge_json_count(json, "line", line->line);
}

static void write_caller(ridge_json *json, const struct spot *spot)
{
    if (spot->caller == NULL)
        return;
    ridge_json_begin_object(json, "inlined_at");
    write_line(json, spot->caller);
    ridge_json_end_object(json);
}

static void write_lines(ridge_json *json, const struct request *request,
                        const ridge_report_kernel *kernel, const ridge_profile *profile,
                        struct spot *spots)
{
    const uint64_t total = weight_of(&profile->total, request->by);
    const size_t count = weigh_lines(profile, request->by, spots);
    size_t i;

    ridge_json_begin_array(json, "lines");
    for (i = 0; i < count && i < request->top; i++) {
        char text[400];

        ridge_json_begin_object(json, NULL);
        write_line(json, spots[i].sum.line);
        write_caller(json, &spots[i]);
        ridge_json_text(json, "text", source_text(kernel, spots[i].sum.line, text, sizeof(text)));
        write_counters(json, request, profile->columns, &spots[i], total);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
}

static void write_instructions(ridge_json *json, const struct request *request,
                               const ridge_profile *profile, struct spot *spots)
{
    const uint64_t total = weight_of(&profile->total, request->by);
    const size_t count = weigh_instructions(profile, request, spots);
    size_t i;

    ridge_json_begin_array(json, "instructions");
    for (i = 0; i < count && i < request->top; i++) {
        const ridge_instruction *const row = &spots[i].sum;
        const size_t producer = ridge_profile_producer(profile, spots[i].first_row);

        ridge_json_begin_object(json, NULL);
        ridge_json_count(json, "pc", row->pc);
        ridge_json_count(json, "offset", row->offset);
        ridge_json_text(json, "opcode", row->sass.name != NULL ? row->sass.text : NULL);
        write_line(json, row->line);
        write_caller(json, &spots[i]);
        write_counters(json, request, profile->columns, &spots[i], total);
        if (producer < profile->row_count) {
            const ridge_instruction *const feeding = &profile->rows[producer];

            ridge_json_begin_object(json, "producer");
            ridge_json_count(json, "offset", feeding->offset);
            ridge_json_text(json, "opcode", feeding->sass.name != NULL ? feeding->sass.text : NULL);
            write_line(json, feeding->line);
            ridge_json_end_object(json);
        }
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
}

static void write_profile(ridge_json *json, const struct request *request,
                          const ridge_report_kernel *kernel, const ridge_profile *profile,
                          struct spot *spots)
{
    const ridge_report_kernel_info *const info = ridge_report_kernel_get_info(kernel);
    const bool has = (profile->columns & measures[request->by].column) != 0;

    ridge_json_begin_object(json, NULL);
    ridge_json_count(json, "launch", info->index);
    ridge_json_text(json, "name", cli_kernel_name(info));
    ridge_json_number(json, "duration_ns", info->duration_ns);
    ridge_json_count(json, "instruction_count", profile->row_count);
    if (has)
        ridge_json_count(json, "total", weight_of(&profile->total, request->by));
    else
        ridge_json_null(json, "total");
    if (has && request->lines && (profile->columns & RIDGE_PROFILE_LINES) != 0)
        write_lines(json, request, kernel, profile, spots);
    if (has && (request->sass || (profile->columns & RIDGE_PROFILE_LINES) == 0))
        write_instructions(json, request, profile, spots);
    ridge_json_end_object(json);
}

/* -- the command ------------------------------------------------------------------------------- */

/* One kernel, to the document or, when json is NULL, to the output. *shown_count grows when the
 * report holds the measure; text leaves other kernels out. */
static ridge_status show_kernel(ridge_output *output, ridge_json *json,
                                const struct request *request, const ridge_report_kernel *kernel,
                                size_t *shown_count, ridge_error *err)
{
    ridge_profile *profile;
    struct spot *spots;
    bool has_measure;
    const ridge_status status = ridge_profile_create(kernel, &profile, err);

    if (status != RIDGE_OK)
        return status;
    spots = calloc(profile->row_count + 1, sizeof(*spots));
    if (spots == NULL) {
        ridge_profile_free(profile);
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    }
    has_measure = (profile->columns & measures[request->by].column) != 0;
    if (json != NULL)
        write_profile(json, request, kernel, profile, spots);
    if (json == NULL && has_measure && *shown_count > 0)
        ridge_output_text(output, "\n");
    if (json == NULL && has_measure)
        print_profile(output, request, kernel, profile, spots);
    if (has_measure)
        (*shown_count)++;
    free(spots);
    ridge_profile_free(profile);
    return RIDGE_OK;
}

/* What some kernels lack, and how to get it. */
static void print_missing(ridge_output *output, const struct request *request,
                          const ridge_report_kernel **kernels, size_t shown_count, size_t count)
{
    const struct measure *const measure = &measures[request->by];

    if (shown_count > 0)
        ridge_output_format(output, "\n%zu of %zu launches have no %s", count - shown_count, count,
                            measure->what);
    else if (count > 1)
        ridge_output_format(output, "%zu launches, and the report holds no %s", count,
                            measure->what);
    else
        ridge_output_format(output, "launch %zu has no %s in the report",
                            ridge_report_kernel_get_info(kernels[0])->index, measure->what);
    ridge_output_format(output,
                        "; collect them with:\n  ncu --section %s --import-source yes ...\n",
                        measure->section);
}

static int show_kernels(const struct request *request, const ridge_report_kernel **kernels,
                        size_t count, const struct cli_output *out)
{
    ridge_output *const output = cli_open(out);
    ridge_json *const json = out->format == RIDGE_FORMAT_JSON ? ridge_json_create(output) : NULL;
    ridge_error err;
    size_t shown_count = 0;
    int status = CLI_DONE;
    size_t i;

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "schema", "ridge-source/1");
    ridge_json_text(json, "file", request->path);
    ridge_json_text(json, "by", measure_names[request->by]);
    ridge_json_begin_array(json, "kernels");
    for (i = 0; i < count && status == CLI_DONE; i++) {
        if (show_kernel(output, json, request, kernels[i], &shown_count, &err) != RIDGE_OK)
            status = cli_fail(request->path, &err);
    }
    ridge_json_end_array(json);
    ridge_json_end_object(json);
    ridge_json_free(json);
    if (status == CLI_DONE && shown_count < count && json == NULL)
        print_missing(output, request, kernels, shown_count, count);
    if (status == CLI_DONE && shown_count == 0)
        status = CLI_NO;
    return cli_close(output, status);
}

int cmd_source(int argc, char **argv)
{
    struct cli_output out = {0};
    struct kernel_filter filter = KERNEL_FILTER_ALL;
    struct request request = {.by = BY_STALL, .top = 10};
    ridge_report *report;
    const ridge_report_kernel **kernels;
    size_t count;
    const struct option options[] = {
        OPT_CHOICE('b', "by", &request.by, "stall|conflict|sectors|samples", measure_names,
                   "what to weigh by: samples of stalled warps, wavefronts of shared memory or "
                   "sectors of global memory beyond the ideal, all samples"),
        OPT_KERNELS(&filter),
        OPT_COUNT('n', "top", &request.top, "N", "the N heaviest instead of 10"),
        OPT_FLAG('s', "sass", &request.sass, "instructions, each with what it waits for"),
        OPT_FLAG(0, "lines", &request.lines, "source lines; with --sass both"),
        OPT_FLAG('a', "all", &request.all, "every instruction, in order of code"),
        OPT_JSON(&out),
        OPT_COMMON(&out),
        OPT_END,
    };
    int status;

    if (!options_parse(&argc, argv, usage, options, &status))
        return status;
    if (request.top == 0)
        return cli_usage_error("--top needs 1 or more, not 0");
    if (argc != 2)
        return cli_usage_error("expected one FILE, got %d", argc - 1);
    request.path = argv[1];
    request.sass = request.sass || request.all;
    request.lines = request.lines || !request.sass;
    if (request.all)
        request.top = SIZE_MAX;
    status = cli_open_report(argv[1], &report);
    if (status != CLI_DONE)
        return status;
    status = cli_select_kernels(report, argv[1], &filter, &kernels, &count);
    if (status == CLI_DONE) {
        status = show_kernels(&request, kernels, count, &out);
        free(kernels);
    }
    ridge_report_free(report);
    return status;
}
