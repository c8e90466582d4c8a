/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge banks --from-report: a conflicting instruction of a profile. The report tells the access and
 * its wavefronts, not the addresses. The row strides that would cost exactly as much, were each lane
 * at its own row, are found with the model, and with them what padding would save. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bank_views.h"
#include "ridge/profile.h"

enum { TURN_BYTES = 128, MOST_STRIDES = TURN_BYTES };

/* The instruction, as the report tells it. */
struct found {
    const ridge_report_kernel_info *info;
    ridge_instruction row;
    ridge_bank_access access;
    double wavefronts, ideal; /* an execution */
};

/* A row stride, modulo 128 bytes, that explains the count. */
struct guess {
    int stride_bytes;
    int aligned_bytes; /* padding that gives the fewest wavefronts with 16-byte rows */
    int aligned_wavefronts;
    int free_bytes; /* the smallest padding without a conflict; 0: none */
};

/* -- the instruction --------------------------------------------------------------------------- */

static bool access_of(const ridge_sass *sass, ridge_bank_access *out)
{
    static const struct opcode {
        const char *name;
        ridge_bank_op op;
    } opcodes[] = {
        {"LDS", RIDGE_BANK_LOAD},        {"STS", RIDGE_BANK_STORE},
        {"LDSM", RIDGE_BANK_LDMATRIX},   {"STSM", RIDGE_BANK_STMATRIX},
        {"LDGSTS", RIDGE_BANK_CP_ASYNC},
    };

    for (size_t i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++) {
        const bool is_matrix =
            opcodes[i].op == RIDGE_BANK_LDMATRIX || opcodes[i].op == RIDGE_BANK_STMATRIX;

        if (sass->name == NULL || strcmp(sass->name, opcodes[i].name) != 0)
            continue;
        *out = (ridge_bank_access){.op = opcodes[i].op,
                                   .width_bytes = is_matrix ? 16 : sass->width_bytes,
                                   .matrix_count = is_matrix ? sass->width_bytes / 4 : 0,
                                   .transposed = is_matrix && strstr(sass->text, ".T") != NULL};
        return out->width_bytes > 0;
    }
    return false;
}

static bool is_line(const ridge_line *line, const char *wanted)
{
    const char *const colon = strrchr(wanted, ':');
    const char *file;
    size_t length, wanted_length;

    if (line == NULL || line->file == NULL || colon == NULL ||
        strtoul(colon + 1, NULL, 10) != line->line)
        return false;
    file = line->file;
    length = strlen(file);
    wanted_length = (size_t)(colon - wanted);
    return length >= wanted_length &&
           strncmp(file + length - wanted_length, wanted, wanted_length) == 0 &&
           (length == wanted_length || file[length - wanted_length - 1] == '/' ||
            file[length - wanted_length - 1] == '\\');
}

/* An offset, as listings print them: 0x0370 and 00370 are the same. */
static unsigned long long read_offset(const char *text, char **end)
{
    return strtoull(text, end, text[0] == '0' ? 16 : 10);
}

static bool is_wanted(const struct bank_request *request, const ridge_instruction *row)
{
    if (request->pc != NULL) {
        const unsigned long long pc = read_offset(request->pc, NULL);

        return row->offset == pc || row->pc == pc;
    }
    return request->line == NULL || is_line(row->line, request->line);
}

/* The worst of the wanted instructions of a kernel, if it is worse than *found. */
static void search_profile(const struct bank_request *request, const ridge_profile *profile,
                           const ridge_report_kernel_info *info, struct found *found)
{
    double most =
        found->info != NULL ? (found->wavefronts - found->ideal) * (double)found->row.executed : -1;

    for (size_t i = 0; i < profile->row_count; i++) {
        const ridge_instruction *const row = &profile->rows[i];
        const double excess = (double)row->wavefronts - (double)row->wavefronts_ideal;
        ridge_bank_access access;

        if (row->executed == 0 || row->wavefronts == 0 || !access_of(&row->sass, &access) ||
            !is_wanted(request, row) || excess <= most)
            continue;
        most = excess;
        *found = (struct found){.info = info,
                                .row = *row,
                                .access = access,
                                .wavefronts = (double)row->wavefronts / (double)row->executed,
                                .ideal = (double)row->wavefronts_ideal / (double)row->executed};
    }
}

/* -- guesses ----------------------------------------------------------------------------------- */

/* Wavefronts when each lane, or each row of a matrix, is stride_bytes further; 0: it traps. */
static int walk_wavefronts(const ridge_bank_access *access, int stride_bytes)
{
    uint32_t address_bytes[RIDGE_BANKS_LANES];
    ridge_bank_count count;

    for (int lane = 0; lane < RIDGE_BANKS_LANES; lane++)
        address_bytes[lane] =
            access->matrix_count > 0
                ? (uint32_t)(lane % 16 * stride_bytes + lane / 16 * access->width_bytes)
                : (uint32_t)(lane * stride_bytes);
    return ridge_banks_simulate(access, address_bytes, NULL, RIDGE_BANKS_ALL_LANES, &count, NULL,
                                NULL) == RIDGE_OK
               ? count.wavefronts
               : 0;
}

static void find_paddings(const ridge_bank_access *access, int least, struct guess *guess)
{
    int fewest = walk_wavefronts(access, guess->stride_bytes);

    for (int padding = access->width_bytes; padding < TURN_BYTES; padding += access->width_bytes) {
        const int stride = guess->stride_bytes + padding;
        const int wavefronts = walk_wavefronts(access, stride);

        if (wavefronts == 0)
            continue;
        if (stride % 16 == 0 && wavefronts < fewest) {
            fewest = wavefronts;
            guess->aligned_bytes = padding;
            guess->aligned_wavefronts = wavefronts;
        }
        if (wavefronts == least && guess->free_bytes == 0)
            guess->free_bytes = padding;
    }
}

/* The strides through a turn of the banks that cost what was measured. */
static size_t find_guesses(const struct found *found, struct guess guesses[MOST_STRIDES])
{
    const ridge_bank_access *const access = &found->access;
    const int step = access->width_bytes;
    /* Strides that keep the lanes apart: a whole turn more changes nothing. */
    const int first = TURN_BYTES * 2;
    int least = INT32_MAX;
    size_t count = 0;

    for (int more = 0; more < TURN_BYTES; more += step) {
        const int wavefronts = walk_wavefronts(access, first + more);

        least = wavefronts > 0 && wavefronts < least ? wavefronts : least;
    }
    for (int more = 0; more < TURN_BYTES; more += step) {
        struct guess guess = {.stride_bytes = first + more};

        if (fabs(walk_wavefronts(access, guess.stride_bytes) - found->wavefronts) > 0.05)
            continue;
        find_paddings(access, least, &guess);
        guesses[count++] = guess;
    }
    return count;
}

/* -- output ------------------------------------------------------------------------------------ */

static const ridge_column guess_columns[] = {
    {"stride_bytes", "Row bytes modulo 128", RIDGE_UNIT_COUNT, false, 0, 0},
    {"aligned_bytes", "Pad bytes, rows 16-aligned", RIDGE_UNIT_COUNT, false, 0, 0},
    {"aligned_wavefronts", "wavefronts then", RIDGE_UNIT_COUNT, false, 0, 0},
    {"free_bytes", "Pad bytes, no conflict", RIDGE_UNIT_COUNT, false, 0, 0},
};

static void add_optional(ridge_table *table, int value)
{
    if (value > 0)
        ridge_table_count(table, (uint64_t)value);
    else
        ridge_table_text(table, NULL);
}

static ridge_table *guess_table(const struct guess *guesses, size_t count, size_t top)
{
    ridge_table *const table =
        ridge_table_create(guess_columns, sizeof(guess_columns) / sizeof(guess_columns[0]));

    for (size_t i = 0; i < count && i < top; i++) {
        ridge_table_count(table, (uint64_t)(guesses[i].stride_bytes % TURN_BYTES));
        add_optional(table, guesses[i].aligned_bytes);
        add_optional(table, guesses[i].aligned_wavefronts);
        add_optional(table, guesses[i].free_bytes);
    }
    return table;
}

static const char *base_name(const char *path)
{
    const char *const slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static void print_heading(ridge_output *output, const struct found *found)
{
    const ridge_instruction *const row = &found->row;
    char text[128], actual[32], ideal[32], access[32];

    cli_print_name(output, found->info);
    ridge_output_format(output, "launch %zu, %s at 0x%04" PRIx32, found->info->index,
                        row->sass.text, row->offset);
    if (row->line != NULL && row->line->file != NULL)
        ridge_output_format(output, ", %s:%" PRIu32, base_name(row->line->file), row->line->line);
    ridge_output_text(output, "\n");
    snprintf(text, sizeof(text), "%s wavefront%s an execution, ideal %s",
             ridge_number_text(found->wavefronts, RIDGE_UNIT_NONE, actual, sizeof(actual)),
             found->wavefronts == 1 ? "" : "s",
             ridge_number_text(found->ideal, RIDGE_UNIT_NONE, ideal, sizeof(ideal)));
    ridge_output_styled(
        output, found->wavefronts > found->ideal ? RIDGE_STYLE_BAD : RIDGE_STYLE_GOOD, text);
    ridge_output_format(output, " (%s, executed %" PRIu64 " times)\n",
                        ridge_bank_access_name(&found->access, access, sizeof(access)),
                        row->executed);
}

static void print_next(ridge_output *output, const struct found *found)
{
    const int element = found->access.width_bytes <= 8 ? found->access.width_bytes : 2;
    char access[32];

    ridge_output_format(output,
                        "Next, with your tile: ridge banks ROWSxCOLUMNS:%dB %s %s --solve\n",
                        element, ridge_bank_access_name(&found->access, access, sizeof(access)),
                        found->access.matrix_count > 0 ? "ldmatrix-a" : "token-strided");
}

static void print_found(ridge_output *output, const struct bank_request *request,
                        const struct found *found, const struct guess *guesses, size_t count)
{
    print_heading(output, found);
    if (found->wavefronts <= found->ideal) {
        ridge_output_text(output, "There is no conflict to solve.\n");
        return;
    }
    ridge_output_text(output, "\n");
    ridge_output_wrap(output, 0, "",
                      "The report does not hold the addresses. Were each lane (of a matrix: each "
                      "row) one row further at the same column:");
    if (count > 0) {
        ridge_table *const table = guess_table(guesses, count, request->top);

        ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
        ridge_table_free(table);
        if (count > request->top)
            ridge_output_format(output, "%zu more strides: --top %zu\n", count - request->top,
                                count);
    } else {
        ridge_output_text(output, "no row stride costs that: the lanes take another pattern, or "
                                  "differ between executions\n");
    }
    if (found->access.width_bytes == 16)
        ridge_output_wrap(output, 0, "",
                          "A swizzle works without padding: exclusive-or the 16-byte chunk of a "
                          "128-byte row with the row modulo 8, Swizzle<3,4,3> of bytes.");
    print_next(output, found);
}

static void write_found(ridge_output *output, const struct bank_request *request,
                        const struct found *found, const struct guess *guesses, size_t count)
{
    ridge_json *const json = ridge_json_create(output);
    ridge_table *const table = guess_table(guesses, count, SIZE_MAX);
    char access[32];

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "schema", "ridge-banks/1");
    ridge_json_text(json, "file", request->report);
    ridge_json_count(json, "launch", found->info->index);
    ridge_json_text(json, "name", cli_kernel_name(found->info));
    ridge_json_count(json, "pc", found->row.pc);
    ridge_json_count(json, "offset", found->row.offset);
    ridge_json_text(json, "opcode", found->row.sass.text);
    if (found->row.line != NULL && found->row.line->file != NULL) {
        ridge_json_text(json, "source_file", found->row.line->file);
        ridge_json_count(json, "line", found->row.line->line);
    }
    ridge_json_text(json, "access", ridge_bank_access_name(&found->access, access, sizeof(access)));
    ridge_json_count(json, "executed", found->row.executed);
    ridge_json_number(json, "wavefronts", found->wavefronts);
    ridge_json_number(json, "ideal", found->ideal);
    ridge_table_write(table, RIDGE_FORMAT_JSON, output, json, "strides");
    ridge_json_end_object(json);
    ridge_table_free(table);
    ridge_json_free(json);
}

/* -- the report -------------------------------------------------------------------------------- */

static int show_found(const struct bank_request *request, const struct found *found,
                      const struct cli_output *out)
{
    struct guess guesses[MOST_STRIDES];
    const size_t count = find_guesses(found, guesses);
    ridge_output *const output = cli_open(out);

    if (out->format == RIDGE_FORMAT_JSON)
        write_found(output, request, found, guesses, count);
    else
        print_found(output, request, found, guesses, count);
    return cli_close(output, CLI_DONE);
}

static int say_missing(const struct bank_request *request, bool has_counters)
{
    if (!has_counters)
        cli_message(request->report, "no wavefronts of instructions in the report; collect them "
                                     "with: ncu --section SourceCounters --import-source yes ...");
    else if (request->pc != NULL)
        cli_message(request->report,
                    "no shared-memory access at %s, see ridge source --by conflict --sass",
                    request->pc);
    else if (request->line != NULL)
        cli_message(request->report,
                    "no shared-memory access on line %s, see ridge source --by conflict",
                    request->line);
    else
        cli_message(request->report, "no access to shared memory was executed");
    return cli_status(CLI_NO);
}

static int show_kernels(const struct bank_request *request, const ridge_report_kernel **kernels,
                        size_t count, const struct cli_output *out)
{
    struct found found = {.info = NULL};
    /* The row of an instruction points into its profile: that of the worst stays. */
    ridge_profile *worst = NULL;
    bool has_counters = false;
    int status;

    for (size_t i = 0; i < count; i++) {
        const struct found before = found;
        ridge_profile *profile;
        ridge_error err;

        if (ridge_profile_create(kernels[i], &profile, &err) != RIDGE_OK) {
            ridge_profile_free(worst);
            return cli_fail(request->report, &err);
        }
        has_counters = has_counters || (profile->columns & RIDGE_PROFILE_SHARED) != 0;
        search_profile(request, profile, ridge_report_kernel_get_info(kernels[i]), &found);
        if (found.info != before.info || found.row.pc != before.row.pc) {
            ridge_profile_free(worst);
            worst = profile;
        } else {
            ridge_profile_free(profile);
        }
    }
    status =
        found.info != NULL ? show_found(request, &found, out) : say_missing(request, has_counters);
    ridge_profile_free(worst);
    return status;
}

static int check_place(const struct bank_request *request)
{
    char *end;

    if (request->pc != NULL && request->line != NULL)
        return cli_usage_error("--pc and --line exclude each other");
    if (request->pc != NULL) {
        read_offset(request->pc, &end);
        if (request->pc[0] < '0' || request->pc[0] > '9' || *end != '\0')
            return cli_usage_error("--pc '%s', expected an offset as in 0x0210", request->pc);
    }
    if (request->line != NULL) {
        const char *const colon = strrchr(request->line, ':');

        if (colon == NULL || colon == request->line || colon[1] == '\0' ||
            colon[1 + strspn(colon + 1, "0123456789")] != '\0')
            return cli_usage_error("--line '%s', expected FILE:LINE as in walls.cu:51",
                                   request->line);
    }
    return CLI_DONE;
}

int bank_show_report(const struct bank_request *request, const struct cli_output *out)
{
    const ridge_report_kernel **kernels;
    ridge_report *report;
    size_t count;
    int status = check_place(request);

    if (status != CLI_DONE)
        return status;
    status = cli_open_report(request->report, &report);
    if (status != CLI_DONE)
        return status;
    status = cli_select_kernels(report, request->report, &request->filter, &kernels, &count);
    if (status == CLI_DONE) {
        status = show_kernels(request, kernels, count, out);
        free(kernels);
    }
    ridge_report_free(report);
    return status;
}
