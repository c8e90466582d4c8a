/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge banks: what shared memory makes of an access. The arguments are a tile and accesses to it;
 * the answer is the wavefronts of each, layouts that take fewer (--solve), or what can be said of a
 * conflict that a profile shows (--from-report). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bank_views.h"
#include "commands.h"
#include "options.h"

static const char usage[] = "ridge banks [options] TILE [ACCESS [WHERE]]...\n"
                            "       ridge banks --solve [options] TILE ACCESS [WHERE]...\n"
                            "       ridge banks --from-report FILE [--pc N | --line FILE:LINE]";

/* -- words ------------------------------------------------------------------------------------- */

char *bank_tile_text(const ridge_bank_tile *tile, char *buffer, size_t size)
{
    char layout[128];

    snprintf(buffer, size, "%dx%d %s, %s", tile->rows, tile->columns, tile->element_name,
             ridge_bank_tile_layout(tile, layout, sizeof(layout)));
    return buffer;
}

/* "4-way"; "none" without a conflict. */
static char *degree_text(int degree, char *buffer, size_t size)
{
    if (degree > 1)
        snprintf(buffer, size, "%d-way", degree);
    else
        snprintf(buffer, size, "none");
    return buffer;
}

void bank_tile_json(ridge_json *json, const char *key, const ridge_bank_tile *tile)
{
    static const char *const orders[] = {
        [RIDGE_BANK_ROWS] = "rows", [RIDGE_BANK_BLOCKS] = "blocks", [RIDGE_BANK_PANELS] = "panels"};
    const bool rows = tile->order == RIDGE_BANK_ROWS;
    char layout[128], text[1024];

    ridge_json_begin_object(json, key);
    ridge_json_text(json, "layout", ridge_bank_tile_layout(tile, layout, sizeof(layout)));
    ridge_json_text(json, "text", ridge_bank_tile_write(tile, text, sizeof(text)));
    ridge_json_text(json, "address", ridge_bank_tile_formula(tile, text, sizeof(text)));
    ridge_json_integer(json, "rows", tile->rows);
    ridge_json_integer(json, "columns", tile->columns);
    ridge_json_text(json, "element_name", tile->element_name);
    ridge_json_integer(json, "element_bytes", tile->element_bytes);
    ridge_json_text(json, "order", orders[tile->order]);
    if (rows)
        ridge_json_integer(json, "stride_bytes", tile->stride_bytes);
    if (tile->order == RIDGE_BANK_PANELS)
        ridge_json_integer(json, "panel_bytes", tile->panel_bytes);
    ridge_json_integer(json, "base_bytes", tile->base_bytes);
    ridge_json_integer(json, "swizzle_bits", tile->swizzle_bits);
    if (tile->swizzle_bits > 0) {
        ridge_json_integer(json, "swizzle_first_bit", tile->swizzle_first_bit);
        ridge_json_integer(json, "swizzle_distance", tile->swizzle_distance);
    }
    if (tile->xor_text[0] != '\0')
        ridge_json_text(json, "xor_text", tile->xor_text);
    ridge_json_count(json, "bytes", ridge_bank_tile_bytes(tile));
    ridge_json_integer(json, "piece_bytes", ridge_bank_tile_piece_bytes(tile));
    ridge_json_end_object(json);
}

void bank_result_json(ridge_json *json, const ridge_bank_pattern *pattern,
                      const ridge_bank_result *result)
{
    char name[32];

    ridge_json_text(json, "access", ridge_bank_access_name(&pattern->access, name, sizeof(name)));
    ridge_json_text(json, "where", pattern->where);
    ridge_json_integer(json, "steps", result->steps);
    ridge_json_integer(json, "wavefronts", result->wavefronts);
    ridge_json_integer(json, "ideal", result->ideal);
    ridge_json_begin_object(json, "worst");
    ridge_json_integer(json, "step", result->worst_step);
    ridge_json_integer(json, "wavefronts", result->worst.wavefronts);
    ridge_json_integer(json, "reported", result->worst.reported);
    ridge_json_integer(json, "ideal", result->worst.ideal);
    ridge_json_integer(json, "degree", result->worst.degree);
    ridge_json_integer(json, "worst_bank", result->worst.worst_bank);
    ridge_json_begin_array(json, "phase_wavefronts");
    for (int i = 0; i < result->worst.phase_count; i++)
        ridge_json_integer(json, NULL, result->worst.phase_wavefronts[i]);
    ridge_json_end_array(json);
    ridge_json_end_object(json);
}

/* -- accesses ---------------------------------------------------------------------------------- */

struct row {
    ridge_bank_pattern pattern;
    ridge_bank_result result;
    bool is_legal;
    ridge_error err; /* why not */
};

/* What people do with a tile, when they do not say what; E is an element's bytes. */
static const char *const usual[] = {
    "cp.async.16 row", "ld.E row",   "ld.E token-strided",           "ld.16 quarter-rows",
    "ldmatrix.x4",     "ld.4 mma-a", "ldmatrix.x4.trans ldmatrix-b",
};

enum { USUAL_COUNT = sizeof(usual) / sizeof(usual[0]) };

static size_t usual_rows(const ridge_bank_tile *tile, struct row *rows)
{
    size_t count = 0;

    for (size_t i = 0; i < USUAL_COUNT; i++) {
        const char *const e = strchr(usual[i], 'E');
        char text[64];
        int steps;

        if (e != NULL)
            snprintf(text, sizeof(text), "%.*s%d%s", (int)(e - usual[i]), usual[i],
                     tile->element_bytes, e + 1);
        else
            snprintf(text, sizeof(text), "%s", usual[i]);
        if (ridge_bank_pattern_read(text, &rows[count].pattern, NULL) == RIDGE_OK &&
            ridge_bank_pattern_steps(&rows[count].pattern, tile, &steps, NULL) == RIDGE_OK)
            count++;
    }
    return count;
}

static size_t gather_rows(const struct bank_request *request, struct row *rows)
{
    size_t count = request->pattern_count;

    if (count == 0)
        count = usual_rows(&request->tile, rows);
    else
        for (size_t i = 0; i < count; i++)
            rows[i].pattern = request->patterns[i];
    for (size_t i = 0; i < count; i++)
        rows[i].is_legal = ridge_bank_pattern_run(&rows[i].pattern, &request->tile, &rows[i].result,
                                                  &rows[i].err) == RIDGE_OK;
    return count;
}

static int64_t excess_of(const struct row *row)
{
    return row->result.wavefronts - row->result.ideal;
}

/* "ld.2 token-strided: 4-way conflict, 4 wavefronts where 1 would do" */
static void print_verdict(ridge_output *output, const struct row *row)
{
    const ridge_bank_count *const worst = &row->result.worst;
    char name[32];

    ridge_bank_access_name(&row->pattern.access, name, sizeof(name));
    ridge_output_format(output, "%s %s: ", name, row->pattern.where);
    if (!row->is_legal) {
        ridge_output_styled(output, RIDGE_STYLE_BAD, "traps");
    } else if (worst->degree <= 1) {
        ridge_output_styled(output, RIDGE_STYLE_GOOD, "no conflict");
        ridge_output_format(output, ", %d wavefront%s", worst->wavefronts,
                            worst->wavefronts == 1 ? "" : "s");
    } else {
        char degree[32];

        snprintf(degree, sizeof(degree), "%d-way conflict", worst->degree);
        ridge_output_styled(output, RIDGE_STYLE_BAD, degree);
        ridge_output_format(output, ", %d wavefronts where %d would do", worst->wavefronts,
                            worst->ideal);
    }
    ridge_output_text(output, "\n");
}

static void print_headline(ridge_output *output, const struct bank_request *request,
                           const struct row *rows, size_t count)
{
    const size_t bytes = ridge_bank_tile_bytes(&request->tile);
    const size_t lost = bytes - (size_t)request->tile.rows * (size_t)request->tile.columns *
                                    (size_t)request->tile.element_bytes;
    size_t conflicts = 0, traps = 0;
    char tile[256], size[32];

    for (size_t i = 0; i < count; i++) {
        conflicts += rows[i].is_legal && rows[i].result.worst.degree > 1;
        traps += !rows[i].is_legal;
    }
    ridge_output_styled(output, RIDGE_STYLE_STRONG,
                        bank_tile_text(&request->tile, tile, sizeof(tile)));
    ridge_output_format(output, ", %s",
                        ridge_number_text((double)bytes, RIDGE_UNIT_BYTES, size, sizeof(size)));
    if (lost > 0)
        ridge_output_format(output, " with %zu B of padding", lost);
    ridge_output_text(output, "\n");
    if (count == 1) {
        print_verdict(output, &rows[0]);
        return;
    }
    ridge_output_format(output, "%zu of %zu accesses conflict", conflicts, count);
    if (traps > 0)
        ridge_output_format(output, ", %zu cannot be done", traps);
    ridge_output_text(output, "\n");
}

static const ridge_column access_columns[] = {
    {"access", "Access", RIDGE_UNIT_NONE, true, 0, 0},
    {"where", "Where", RIDGE_UNIT_NONE, true, 12, 0},
    {"degree", "Conflict", RIDGE_UNIT_NONE, true, 0, 0},
    {"wavefronts", "Wavefronts", RIDGE_UNIT_COUNT, false, 0, 0},
    {"ideal", "Ideal", RIDGE_UNIT_COUNT, false, 0, 0},
    {"steps", "Tile: instructions", RIDGE_UNIT_COUNT, false, 0, 1},
    {"total", "wavefronts", RIDGE_UNIT_COUNT, false, 0, 2},
    {"excess", "lost", RIDGE_UNIT_COUNT, false, 0, 3},
};

static void add_row(ridge_table *table, const struct row *row)
{
    const ridge_bank_result *const result = &row->result;
    char text[32];

    ridge_table_text(table, ridge_bank_access_name(&row->pattern.access, text, sizeof(text)));
    ridge_table_text(table, row->pattern.where);
    if (!row->is_legal) {
        ridge_table_text(table, "traps");
        for (int i = 0; i < 5; i++)
            ridge_table_text(table, NULL);
        return;
    }
    ridge_table_text(table, degree_text(result->worst.degree, text, sizeof(text)));
    ridge_table_count(table, (uint64_t)result->worst.wavefronts);
    ridge_table_count(table, (uint64_t)result->worst.ideal);
    ridge_table_count(table, (uint64_t)result->steps);
    ridge_table_count(table, (uint64_t)result->wavefronts);
    ridge_table_count(table, (uint64_t)excess_of(row));
}

static void print_table(ridge_output *output, const struct row *rows, size_t count)
{
    ridge_table *const table =
        ridge_table_create(access_columns, sizeof(access_columns) / sizeof(access_columns[0]));

    for (size_t i = 0; i < count; i++)
        add_row(table, &rows[i]);
    ridge_output_text(output, "\n");
    ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
    ridge_table_free(table);
    for (size_t i = 0; i < count; i++)
        if (!rows[i].is_legal) {
            char text[sizeof(rows[i].pattern.where) + sizeof(rows[i].err.text) + 40], name[32];

            snprintf(text, sizeof(text), "%s %s: %s",
                     ridge_bank_access_name(&rows[i].pattern.access, name, sizeof(name)),
                     rows[i].pattern.where, rows[i].err.text);
            ridge_output_wrap(output, 4, "", text);
        }
}

enum { SMALL_PICTURE = 8 };

static ridge_status print_pictures(ridge_output *output, const struct bank_request *request,
                                   const struct row *rows, size_t count, ridge_error *err)
{
    ridge_status status = RIDGE_OK;

    for (size_t i = 0; i < count && status == RIDGE_OK; i++)
        if (rows[i].is_legal && (request->picture || request->whole_picture || count == 1)) {
            ridge_output_text(output, "\n");
            status = bank_print_picture(output, &request->tile, &rows[i].pattern, &rows[i].result,
                                        request->whole_picture, err);
        }
    return status;
}

static void write_json(ridge_output *output, const struct bank_request *request,
                       const struct row *rows, size_t count)
{
    ridge_json *const json = ridge_json_create(output);

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "schema", "ridge-banks/1");
    bank_tile_json(json, "tile", &request->tile);
    ridge_json_begin_array(json, "accesses");
    for (size_t i = 0; i < count; i++) {
        ridge_json_begin_object(json, NULL);
        bank_result_json(json, &rows[i].pattern, &rows[i].result);
        ridge_json_text(json, "error", rows[i].is_legal ? NULL : rows[i].err.text);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
    ridge_json_end_object(json);
    ridge_json_free(json);
}

static int show_accesses(const struct bank_request *request, const struct cli_output *out)
{
    struct row rows[RIDGE_BANKS_MOST_PATTERNS] = {{.is_legal = false}};
    const size_t count = gather_rows(request, rows);
    ridge_output *output;
    ridge_error err;
    int status = CLI_DONE;

    /* One access that cannot be done is an error like any other; one of several is a result. */
    if (count == 1 && !rows[0].is_legal)
        return cli_usage_error("%s", rows[0].err.text);
    output = cli_open(out);
    if (out->format == RIDGE_FORMAT_JSON) {
        write_json(output, request, rows, count);
    } else {
        print_headline(output, request, rows, count);
        print_table(output, rows, count);
    }
    if (out->format != RIDGE_FORMAT_JSON &&
        print_pictures(output, request, rows, count, &err) != RIDGE_OK)
        status = cli_fail(NULL, &err);
    status = cli_close(output, status);
    if (status == CLI_DONE && request->svg != NULL)
        status = bank_draw_svg(request, &rows[0].pattern, &rows[0].result);
    return status;
}

/* -- arguments --------------------------------------------------------------------------------- */

/* Where the name of an instruction begins an access; what follows belongs to it. */
static bool starts_access(const char *word)
{
    static const char *const names[] = {"ld.",       "st.",  "cp.", "ldmatrix.",
                                        "stmatrix.", "atom", "red."};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strncmp(word, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static int read_accesses(struct bank_request *request, int argc, char **argv)
{
    for (int i = 2; i < argc;) {
        char text[2 * RIDGE_BANKS_MOST_TEXT];
        size_t length = 0;
        ridge_error err;
        const int first = i;

        do {
            const size_t more = strlen(argv[i]);

            if (length + more + 2 > sizeof(text))
                return cli_usage_error("an access of more than %d characters",
                                       RIDGE_BANKS_MOST_TEXT);
            length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s",
                                       i > first ? " " : "", argv[i]);
            i++;
        } while (i < argc && !starts_access(argv[i]));
        if (request->pattern_count == RIDGE_BANKS_MOST_PATTERNS)
            return cli_usage_error("more than %d accesses", RIDGE_BANKS_MOST_PATTERNS);
        if (ridge_bank_pattern_read(text, &request->patterns[request->pattern_count++], &err) !=
            RIDGE_OK)
            return cli_usage_error("%s", err.text);
    }
    return CLI_DONE;
}

static int read_request(struct bank_request *request, int argc, char **argv)
{
    ridge_error err;

    if (argc < 2)
        return cli_usage_error("expected a TILE, ROWSxCOLUMNS:ELEMENT[:STRIDE] as in 64x128:bf16");
    if (ridge_bank_tile_read(argv[1], &request->tile, &err) != RIDGE_OK)
        return cli_usage_error("%s", err.text);
    return read_accesses(request, argc, argv);
}

static int check_numbers(struct bank_request *request)
{
    if (request->threads < 1 || request->threads > 1024)
        return cli_usage_error("--threads needs 1 to 1024, not %zu", request->threads);
    if (request->registers > 255)
        return cli_usage_error("--regs needs 0 to 255, not %zu", request->registers);
    if (request->copies < 1 || request->copies > 64)
        return cli_usage_error("--copies needs 1 to 64, not %zu", request->copies);
    if (request->other_bytes > 1 << 20)
        return cli_usage_error("--smem-other needs at most 1MiB");
    if (request->force && request->svg == NULL)
        return cli_usage_error("--force needs --svg");
    if (request->top == 0)
        return cli_usage_error("--top needs 1 or more, not 0");
    return cli_has_chip(&request->gpu) ? cli_find_chip(&request->gpu) : CLI_DONE;
}

int cmd_banks(int argc, char **argv)
{
    struct cli_output out = {0};
    struct bank_request request = {
        .top = 8, .threads = 128, .copies = 1, .filter = KERNEL_FILTER_ALL};
    bool solve = false;
    int status;
    const struct option options[] = {
        OPT_FLAG('s', "solve", &solve,
                 "find paddings, swizzles and blocks that serve all accesses"),
        OPT_COUNT('n', "top", &request.top, "N", "the N best layouts instead of 8"),
        OPT_COUNT('a', "align", &request.align_bytes, "BYTES",
                  "pieces that a layout must keep whole, instead of the widest access"),
        OPT_FLAG('p', "picture", &request.picture, "lanes over the banks, for every access"),
        OPT_FLAG(0, "all", &request.whole_picture, "every wavefront of the pictures"),
        OPT_STRING(0, "svg", &request.svg, "FILE", "draw the only access into a new file"),
        OPT_FLAG('f', "force", &request.force, "replace FILE of --svg when it exists"),
        OPT_GPU(&request.gpu),
        OPT_COUNT('t', "threads", &request.threads, "N", "with --gpu: threads of a block, 128"),
        OPT_COUNT('r', "regs", &request.registers, "N", "with --gpu: registers of a thread"),
        OPT_SIZE(0, "smem-other", &request.other_bytes,
                 "with --gpu: shared memory of a block besides the tile"),
        OPT_COUNT(0, "copies", &request.copies, "N",
                  "with --gpu: tiles of that layout in a block (stages), 1"),
        OPT_STRING(0, "from-report", &request.report, "FILE",
                   "start from a conflicting instruction of a profile"),
        OPT_STRING(0, "pc", &request.pc, "N",
                   "the instruction at that offset, as ridge source --sass prints it"),
        OPT_STRING(0, "line", &request.line, "FILE:LINE",
                   "the worst instruction of that source line"),
        OPT_KERNELS(&request.filter),
        OPT_JSON(&out),
        OPT_COMMON(&out),
        OPT_END,
    };

    if (!options_parse(&argc, argv, usage, options, &status))
        return status;
    status = check_numbers(&request);
    if (status == CLI_DONE && request.report != NULL)
        status = argc > 1 ? cli_usage_error("--from-report takes no tile, got '%s'", argv[1])
                 : solve  ? cli_usage_error("--solve needs a tile and its accesses: a report does "
                                             "not hold them")
                          : bank_show_report(&request, &out);
    else if (status == CLI_DONE && (request.pc != NULL || request.line != NULL))
        status = cli_usage_error("--pc and --line need --from-report FILE");
    else if (status == CLI_DONE) {
        status = read_request(&request, argc, argv);
        if (status == CLI_DONE && request.svg != NULL)
            status = solve || request.pattern_count != 1
                         ? cli_usage_error("--svg draws one access, without --solve")
                         : cli_check_target(request.svg, NULL, request.force);
        if (status == CLI_DONE)
            status = solve ? bank_show_solution(&request, &out) : show_accesses(&request, &out);
    }
    cli_release_chip(&request.gpu);
    return status;
}
