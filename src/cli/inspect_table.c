/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge inspect: the table of kernels. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect.h"

enum {
    ROWS_OF_A_SCREEN = 40, /* more are summed up, unless --all */
    ROWS_BELOW_A_SUMMARY = 20,
};

/* -- which rows -------------------------------------------------------------------------------- */

static int compare_descending(int64_t a, int64_t b)
{
    return (a < b) - (a > b);
}

static int by_cost(const void *left, const void *right)
{
    const struct inspect_row *const a = *(const struct inspect_row *const *)left;
    const struct inspect_row *const b = *(const struct inspect_row *const *)right;
    int order = compare_descending(inspect_spill_bytes(a), inspect_spill_bytes(b));

    if (order == 0)
        order = compare_descending(a->numbers.local_bytes, b->numbers.local_bytes);
    if (order == 0)
        order =
            compare_descending(a->numbers.registers_per_thread, b->numbers.registers_per_thread);
    if (order == 0)
        order = compare_descending(a->numbers.static_shared_bytes, b->numbers.static_shared_bytes);
    /* The rest as they are stored, by name: rows are of one array. */
    return order != 0 ? order : (a > b) - (a < b);
}

/* PTX has no registers: its kernels are shown where there is nothing else, and to programs. */
static void choose_rows(struct inspect_listing *listing)
{
    const struct inspect_rows *const rows = listing->rows;
    bool has_code = false;
    size_t i;

    for (i = 0; i < rows->count; i++)
        has_code = has_code || !rows->rows[i].is_ptx;
    for (i = 0; i < rows->count; i++) {
        const struct inspect_row *const row = &rows->rows[i];

        if (has_code && row->is_ptx && !inspect_is_for_programs(listing->request))
            continue;
        if (row->is_elsewhere && !inspect_is_for_programs(listing->request)) {
            listing->elsewhere_count++;
            continue;
        }
        listing->shown[listing->shown_count++] = row;
        listing->spills = listing->spills || inspect_spill_bytes(row) > 0;
        listing->local = listing->local || row->numbers.local_bytes > 0 || row->is_recursive;
        listing->shared = listing->shared || row->numbers.static_shared_bytes > 0;
        listing->clusters = listing->clusters || row->cluster[0] > 0 || row->max_cluster > 0;
        listing->unbound_count +=
            listing->request->occupancy && listing->request->block == 0 && row->max_threads[0] <= 0;
        listing->bounds = listing->bounds || row->max_threads[0] > 0;
        listing->barriers = listing->barriers || row->numbers.barriers > 0;
    }
    listing->files = listing->request->path_count > 1;
    listing->all_count = listing->shown_count;
    if (inspect_is_for_programs(listing->request))
        return;
    if (listing->request->sort == 1 ||
        (listing->shown_count > ROWS_OF_A_SCREEN && !listing->request->all))
        qsort(listing->shown, listing->shown_count, sizeof(*listing->shown), by_cost);
    if (listing->shown_count > ROWS_OF_A_SCREEN && !listing->request->all)
        listing->shown_count = ROWS_BELOW_A_SUMMARY;
}

static size_t count_names(const struct inspect_rows *rows)
{
    size_t count = 0;
    size_t i;

    for (i = 0; i < rows->count; i++)
        count += i == 0 || strcmp(rows->rows[i - 1].name, rows->rows[i].name) != 0;
    return count;
}

/* -- what the inputs are ----------------------------------------------------------------------- */

static const char *kind_word(const struct inspect_census *census)
{
    switch (census->kind) {
    case RIDGE_ENTRY_CUBIN:
        return "machine code";
    case RIDGE_ENTRY_PTX:
        return "PTX";
    case RIDGE_ENTRY_LTO:
        return "LTO IR";
    default:
        return "unknown";
    }
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* "machine code: sm_80 (6 kernels), sm_90 (6)", and a line for PTX and for LTO IR. */
static void print_architectures(ridge_output *output, const struct inspect_rows *rows)
{
    struct inspect_census sum;
    ridge_entry_kind kind = RIDGE_ENTRY_UNKNOWN;
    size_t column = 0;
    size_t at = 0;

    while (inspect_next_census(rows, &at, &sum)) {
        char text[80];

        if (column == 0 || sum.kind != kind) {
            ridge_output_format(output, "%s%-14s", column > 0 ? "\n" : "", kind_word(&sum));
            column = 0;
            kind = sum.kind;
        }
        if (sum.kind == RIDGE_ENTRY_LTO)
            snprintf(text, sizeof(text), "%s", sum.arch);
        else
            snprintf(text, sizeof(text), "%s (%zu)", sum.arch, sum.kernel_count);
        inspect_add_item(output, &column, 14, text);
    }
    ridge_output_text(output, column > 0 ? "\n" : "");
}

static void print_provenance(ridge_output *output, const struct inspect_rows *rows)
{
    size_t rest = rows->other_provenance_count;
    char line[600];
    size_t best = 0;
    size_t i;

    if (rows->provenance_count == 0)
        return;
    for (i = 1; i < rows->provenance_count; i++)
        if (rows->provenance[i].entry_count > rows->provenance[best].entry_count)
            best = i;
    for (i = 0; i < rows->provenance_count; i++)
        rest += i == best ? 0 : rows->provenance[i].entry_count;
    if (rest == 0)
        snprintf(line, sizeof(line), "built by %s", rows->provenance[best].text);
    else
        snprintf(line, sizeof(line), "built by %s (%zu of %zu cubins)", rows->provenance[best].text,
                 rows->provenance[best].entry_count, rows->provenance[best].entry_count + rest);
    ridge_output_wrap(output, 2, "", line);
}

static void print_notes(ridge_output *output, const struct inspect_rows *rows)
{
    char line[300];

    if (rows->zstd_count > 0) {
        snprintf(line, sizeof(line), "%zu entr%s packed with zstd: needs a driver of %s or newer",
                 rows->zstd_count, rows->zstd_count == 1 ? "y is" : "ies are",
                 rows->is_cuda12 ? "550.54.14 (580 for entries of CUDA 13)" : "580");
        ridge_output_wrap(output, 2, "", line);
    }
    if (rows->lto_count > 0) {
        snprintf(line, sizeof(line),
                 "%zu entr%s LTO IR, whose kernels cannot be read before the link", rows->lto_count,
                 rows->lto_count == 1 ? "y is" : "ies are");
        ridge_output_wrap(output, 2, "", line);
    }
    if (rows->debug_count > 0)
        ridge_output_format(output, "%zu entr%s built with -G: nothing is optimised there\n",
                            rows->debug_count, rows->debug_count == 1 ? "y was" : "ies were");
}

static void print_heading(ridge_output *output, const struct inspect_listing *listing)
{
    const struct inspect_rows *const rows = listing->rows;
    const struct inspect_request *const request = listing->request;
    const size_t kernel_count = count_names(rows);
    char line[1024];

    if (request->path_count == 1)
        snprintf(line, sizeof(line), "%s: %s, ", request->paths[0],
                 rows->kinds[0] != NULL ? rows->kinds[0] : "not read");
    else
        snprintf(line, sizeof(line), "%zu files, ", request->path_count);
    snprintf(line + strlen(line), sizeof(line) - strlen(line), "%zu %s%s", kernel_count,
             request->functions ? "function" : "kernel", plural(kernel_count));
    if (rows->census_count == 1 && rows->entry_count == 1) {
        snprintf(line + strlen(line), sizeof(line) - strlen(line), "%s for %s",
                 rows->lto_count > 0 ? ", LTO IR" : "", rows->census[0].arch);
        ridge_output_wrap(output, 2, "", line);
    } else {
        snprintf(line + strlen(line), sizeof(line) - strlen(line), " in %zu entries",
                 rows->entry_count);
        ridge_output_wrap(output, 2, "", line);
        if (listing->shown_count == listing->all_count) /* else a table has them */
            print_architectures(output, rows);
    }
    print_provenance(output, rows);
    print_notes(output, rows);
    if (request->occupancy && request->gpu.chip != NULL)
        ridge_output_format(output, "occupancy on %s%s\n", request->gpu.chip->name,
                            listing->shown_count == 0      ? ": no machine code for it"
                            : listing->elsewhere_count > 0 ? ", of what runs there natively"
                                                           : "");
    if (listing->unbound_count > 0)
        ridge_output_format(output, "%zu without a launch bound: give --occupancy BLOCK[,SMEM]\n",
                            listing->unbound_count);
}

/* What an architecture's kernels take, for inputs with too many to list. */
static void print_summary(ridge_output *output, const struct inspect_listing *listing)
{
    static const ridge_column columns[] = {
        {"arch", "Arch", RIDGE_UNIT_NONE, true, 0, 0},
        {"kernel_count", "Kernels", RIDGE_UNIT_COUNT, false, 0, 0},
        {"entry_count", "Entries", RIDGE_UNIT_COUNT, false, 0, 0},
        {"max_registers", "Most regs", RIDGE_UNIT_COUNT, false, 0, 0},
        {"spilling", "Spilling", RIDGE_UNIT_COUNT, false, 0, 0},
        {"max_spill", "Most spilled", RIDGE_UNIT_COUNT, false, 0, 0},
        {"local", "With local", RIDGE_UNIT_COUNT, false, 0, 0},
        {"shared", "Most shared", RIDGE_UNIT_COUNT, false, 0, 0},
        {"code_bytes", "Code", RIDGE_UNIT_BYTES, false, 0, 0},
    };
    const struct inspect_rows *const rows = listing->rows;
    ridge_table *const table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    struct inspect_census sum;
    size_t at = 0;

    while (inspect_next_census(rows, &at, &sum)) {
        const bool is_code = sum.kind == RIDGE_ENTRY_CUBIN;

        if (sum.kind == RIDGE_ENTRY_LTO)
            continue;
        ridge_table_text(table, sum.arch);
        ridge_table_count(table, sum.kernel_count);
        ridge_table_count(table, sum.entry_count);
        inspect_add_integer(table, sum.most_registers);
        inspect_add_integer(table, is_code ? (int64_t)sum.spilling_count : -1);
        inspect_add_integer(table, sum.most_spill_bytes);
        inspect_add_integer(table, is_code ? (int64_t)sum.local_count : -1);
        inspect_add_integer(table, sum.most_shared_bytes);
        ridge_table_number(table, is_code ? (double)sum.code_bytes : NAN);
    }
    ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
    ridge_table_free(table);
}

/* -- printing ---------------------------------------------------------------------------------- */

static void write_files(ridge_json *json, const struct inspect_listing *listing)
{
    const struct inspect_rows *const rows = listing->rows;
    size_t i;

    ridge_json_begin_array(json, "files");
    for (i = 0; i < listing->request->path_count; i++) {
        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "path", listing->request->paths[i]);
        ridge_json_text(json, "kind", rows->kinds[i]);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
    ridge_json_begin_array(json, "architectures");
    for (i = 0; i < rows->census_count; i++) {
        const struct inspect_census *const at = &rows->census[i];

        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "file", listing->request->paths[at->path_index]);
        ridge_json_text(json, "kind", kind_word(at));
        ridge_json_text(json, "arch", at->arch);
        ridge_json_count(json, "entry_count", at->entry_count);
        ridge_json_count(json, "kernel_count", at->kernel_count);
        ridge_json_count(json, "code_bytes", at->code_bytes);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
    ridge_json_begin_array(json, "built_by");
    for (i = 0; i < rows->provenance_count; i++)
        ridge_json_text(json, NULL, rows->provenance[i].text);
    ridge_json_end_array(json);
    ridge_json_count(json, "zstd_count", rows->zstd_count);
    ridge_json_count(json, "lto_count", rows->lto_count);
    ridge_json_count(json, "debug_count", rows->debug_count);
}

static void print_json(ridge_output *output, const struct inspect_listing *listing,
                       const ridge_table *table)
{
    ridge_json *const json = ridge_json_create(output);

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "schema", "ridge-inspect/1");
    write_files(json, listing);
    if (listing->request->occupancy && listing->request->gpu.chip != NULL)
        ridge_json_text(json, "gpu", listing->request->gpu.chip->id);
    ridge_table_write(table, RIDGE_FORMAT_JSON, output, json, "kernels");
    ridge_json_end_object(json);
    ridge_json_free(json);
}

static int print_listing(const struct inspect_listing *listing, int status)
{
    ridge_output *const output = cli_open(&listing->request->out);
    ridge_column columns[INSPECT_COLUMNS_MAX];
    ridge_table *const table = inspect_make_table(listing, columns);
    const bool is_text = listing->request->out.format == RIDGE_FORMAT_TEXT;

    if (is_text) {
        print_heading(output, listing);
        ridge_output_text(output, listing->shown_count > 0 ? "\n" : "");
        if (listing->shown_count < listing->all_count) {
            print_summary(output, listing);
            ridge_output_format(output,
                                "\nThe %zu that cost most, by spills, local memory, registers:\n\n",
                                listing->shown_count);
        }
    }
    if (listing->request->out.format == RIDGE_FORMAT_JSON)
        print_json(output, listing, table);
    else if (!is_text || listing->shown_count > 0)
        ridge_table_write(table, listing->request->out.format, output, NULL, NULL);
    if (is_text && listing->shown_count < listing->all_count)
        ridge_output_format(output, "%zu more: --all, or -k REGEX\n",
                            listing->all_count - listing->shown_count);
    ridge_table_free(table);
    return cli_close(output, status);
}

/* The architectures of all rows, "sm_80, sm_90a"; "" for none. */
static void list_archs(const struct inspect_request *request, char *list, size_t size)
{
    struct inspect_rows rows;
    struct inspect_census sum;
    size_t at = 0;

    list[0] = '\0';
    if (inspect_collect(request, &rows) == CLI_DONE)
        while (inspect_next_census(&rows, &at, &sum)) {
            const size_t used = strlen(list);

            if (sum.kernel_count > 0)
                snprintf(list + used, size - used, "%s%s", used > 0 ? ", " : "", sum.arch);
        }
    inspect_rows_release(&rows);
}

/* No kernel of that name or for that architecture: what there is instead. */
static void say_none(const struct inspect_request *request)
{
    struct inspect_request any = *request;
    char list[300] = "";

    any.arch = NULL;
    if (request->arch != NULL)
        list_archs(&any, list, sizeof(list));
    cli_message(
        request->paths[0], "no kernel%s%s%s%s%s%s", request->pattern != NULL ? " matches " : "",
        request->pattern != NULL ? request->pattern : "", request->arch != NULL ? " for " : "",
        request->arch != NULL ? request->arch : "", list[0] != '\0' ? ", only for " : "", list);
}

int inspect_table(const struct inspect_request *request)
{
    struct inspect_rows rows;
    struct inspect_listing listing = {.request = request, .rows = &rows};
    int status = inspect_collect(request, &rows);
    size_t i;

    if (rows.count == 0) {
        if (status == CLI_DONE && (request->pattern != NULL || request->arch != NULL)) {
            say_none(request);
            status = CLI_NO;
        }
        if (status != CLI_DONE || request->pattern != NULL)
            goto out;
    }
    listing.shown = calloc(rows.count + 1, sizeof(*listing.shown));
    if (listing.shown == NULL) {
        cli_message(NULL, "out of memory");
        status = ridge_status_exit(RIDGE_ERR_OUT_OF_MEMORY);
        goto out;
    }
    for (i = 0; request->occupancy && i < rows.count; i++)
        inspect_fit(request, &rows.rows[i]);
    choose_rows(&listing);
    status = print_listing(&listing, status);
out:
    free(listing.shown);
    inspect_rows_release(&rows);
    return status;
}
