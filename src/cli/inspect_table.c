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

/* What decides which rows and columns are shown. */
struct listing {
    const struct inspect_request *request;
    const struct inspect_rows *rows;
    const struct inspect_row **shown;
    size_t shown_count, all_count;
    size_t elsewhere_count; /* rows whose code does not run on the chip of --gpu */
    size_t unbound_count;   /* kernels of which no block is known */
    bool spills, local, shared, clusters, bounds, files, barriers;
};

static bool is_for_programs(const struct inspect_request *request)
{
    return request->out.format == RIDGE_FORMAT_JSON || request->out.format == RIDGE_FORMAT_CSV;
}

/* -- columns ----------------------------------------------------------------------------------- */

static void add_integer(ridge_table *table, int64_t value)
{
    if (value < 0)
        ridge_table_number(table, NAN);
    else
        ridge_table_count(table, (uint64_t)value);
}

static void add_name(ridge_table *table, const struct listing *listing,
                     const struct inspect_row *row)
{
    (void)listing;
    ridge_table_text(table, row->name);
}

static void add_short_name(ridge_table *table, const struct listing *listing,
                           const struct inspect_row *row)
{
    (void)listing;
    ridge_table_text(table, row->short_name);
}

static void add_arch(ridge_table *table, const struct listing *listing,
                     const struct inspect_row *row)
{
    (void)listing;
    ridge_table_text(table, row->arch);
}

static void add_file(ridge_table *table, const struct listing *listing,
                     const struct inspect_row *row)
{
    ridge_table_text(table, listing->request->paths[row->path_index]);
}

static void add_kind(ridge_table *table, const struct listing *listing,
                     const struct inspect_row *row)
{
    (void)listing;
    ridge_table_text(table, row->is_ptx ? "ptx" : row->is_kernel ? "kernel" : "function");
}

/* A column that is one number of a row. */
#define NUMBER_COLUMN(function, expression)                                                        \
    static void function(ridge_table *table, const struct listing *listing,                        \
                         const struct inspect_row *row)                                            \
    {                                                                                              \
        (void)listing;                                                                             \
        add_integer(table, expression);                                                            \
    }
NUMBER_COLUMN(add_registers, row->numbers.registers_per_thread)
NUMBER_COLUMN(add_shared, row->numbers.static_shared_bytes)
NUMBER_COLUMN(add_relocatable, row->is_relocatable)
NUMBER_COLUMN(add_recursive, row->is_recursive)
NUMBER_COLUMN(add_spill_stores, row->numbers.spill_store_bytes)
NUMBER_COLUMN(add_spill_loads, row->numbers.spill_load_bytes)
NUMBER_COLUMN(add_barriers, row->numbers.barriers)
NUMBER_COLUMN(add_code, row->numbers.code_bytes)
NUMBER_COLUMN(add_parameters, row->parameter_bytes)
NUMBER_COLUMN(add_min_blocks, row->min_blocks)
NUMBER_COLUMN(add_max_registers, row->max_registers)
NUMBER_COLUMN(add_max_cluster, row->max_cluster)
NUMBER_COLUMN(add_max_threads, inspect_product(row->max_threads))
NUMBER_COLUMN(add_threads, row->threads > 0 ? row->threads : -1)
NUMBER_COLUMN(add_blocks_per_sm, row->threads > 0 ? row->fit.blocks_per_sm : -1)
NUMBER_COLUMN(add_warps_per_sm, row->threads > 0 ? row->fit.warps_per_sm : -1)

/* Of a recursive kernel the frames of all levels are not known. */
static void add_local(ridge_table *table, const struct listing *listing,
                      const struct inspect_row *row)
{
    if (row->is_recursive && !is_for_programs(listing->request))
        ridge_table_text(table, "recursive");
    else
        add_integer(table, row->numbers.local_bytes);
}

/* "1496+1724": bytes stored and loaded. */
static void add_spills(ridge_table *table, const struct listing *listing,
                       const struct inspect_row *row)
{
    char text[48];

    (void)listing;
    if (inspect_spill_bytes(row) < 0) {
        ridge_table_text(table, NULL);
        return;
    }
    snprintf(text, sizeof(text), "%d+%d", row->numbers.spill_store_bytes,
             row->numbers.spill_load_bytes);
    ridge_table_text(table, inspect_spill_bytes(row) == 0 ? "0" : text);
}

static char *extent_text(const int extent[3], char *buffer, size_t size)
{
    const uint64_t wide[3] = {(uint64_t)extent[0], (uint64_t)extent[1], (uint64_t)extent[2]};

    return cli_extent(wide, buffer, size);
}

/* "1024,2" as __launch_bounds__ has them, "=128" where the block must be so. */
static void add_bounds(ridge_table *table, const struct listing *listing,
                       const struct inspect_row *row)
{
    char text[80];

    (void)listing;
    if (row->max_threads[0] <= 0)
        snprintf(text, sizeof(text), "-");
    else if (row->is_required)
        snprintf(text, sizeof(text), "=%d", inspect_product(row->max_threads));
    else if (row->min_blocks > 0)
        snprintf(text, sizeof(text), "%d,%d", inspect_product(row->max_threads), row->min_blocks);
    else
        snprintf(text, sizeof(text), "%d", inspect_product(row->max_threads));
    ridge_table_text(table, text);
}

/* "4", or "<=8" where the launch chooses. */
static void add_cluster(ridge_table *table, const struct listing *listing,
                        const struct inspect_row *row)
{
    char text[80];

    if (row->cluster[0] > 0)
        extent_text(row->cluster, text, sizeof(text));
    else if (row->max_cluster > 0)
        snprintf(text, sizeof(text), "<=%d", row->max_cluster);
    else
        snprintf(text, sizeof(text), "-");
    ridge_table_text(table, row->cluster[0] > 0 || row->max_cluster > 0 ||
                                    !is_for_programs(listing->request)
                                ? text
                                : NULL);
}

static void add_required_block(ridge_table *table, const struct listing *listing,
                               const struct inspect_row *row)
{
    char text[80];

    (void)listing;
    ridge_table_text(table,
                     row->is_required ? extent_text(row->max_threads, text, sizeof(text)) : NULL);
}

static void add_occupancy(ridge_table *table, const struct listing *listing,
                          const struct inspect_row *row)
{
    (void)listing;
    ridge_table_number(table, row->threads > 0 ? row->fit.occupancy_frac : NAN);
}

static void add_limiters(ridge_table *table, const struct listing *listing,
                         const struct inspect_row *row)
{
    char text[80];

    (void)listing;
    if (row->threads == 0)
        ridge_table_text(table, NULL);
    else if (row->is_over_bound)
        ridge_table_text(table, "launch bound");
    else
        ridge_table_text(table, inspect_limiters(row->fit.limiters, text, sizeof(text)));
}

/* Who sees a column: programs all of them, people those that say something. */
enum audience {
    EVERYBODY,
    PROGRAMS,
    PEOPLE,
    WITH_OCCUPANCY, /* programs and people, when it was asked for */
    WITHOUT_OCCUPANCY,
    PEOPLE_WITH_SPILLS,
    PEOPLE_WITH_LOCAL,
    PEOPLE_WITH_SHARED,
    PEOPLE_WITH_CLUSTERS,
    PEOPLE_WITH_BOUNDS,
    PEOPLE_WITH_FILES,
    PEOPLE_WITH_BARRIERS,
};

static const struct {
    ridge_column column;
    unsigned audience; /* bits 1 << audience */
    void (*add)(ridge_table *table, const struct listing *listing, const struct inspect_row *row);
} all_columns[] = {
    {{"name", "", RIDGE_UNIT_NONE, true, 0, 0}, 1 << PROGRAMS, add_name},
    {{"short_name", "Kernel", RIDGE_UNIT_NONE, true, 16, 0}, 1 << EVERYBODY, add_short_name},
    {{"kind", "", RIDGE_UNIT_NONE, true, 0, 0}, 1 << PROGRAMS, add_kind},
    {{"is_relocatable", "", RIDGE_UNIT_NONE, false, 0, 0}, 1 << PROGRAMS, add_relocatable},
    {{"arch", "Arch", RIDGE_UNIT_NONE, true, 0, 0}, 1 << EVERYBODY, add_arch},
    {{"registers_per_thread", "Regs", RIDGE_UNIT_COUNT, false, 0, 0},
     1 << EVERYBODY,
     add_registers},
    {{"spill_bytes", "Spill st+ld", RIDGE_UNIT_NONE, false, 0, 0},
     1 << PEOPLE_WITH_SPILLS,
     add_spills},
    {{"spill_store_bytes", "", RIDGE_UNIT_NONE, false, 0, 0}, 1 << PROGRAMS, add_spill_stores},
    {{"spill_load_bytes", "", RIDGE_UNIT_NONE, false, 0, 0}, 1 << PROGRAMS, add_spill_loads},
    {{"local_bytes", "Local", RIDGE_UNIT_COUNT, false, 0, 0},
     1 << PROGRAMS | 1 << PEOPLE_WITH_LOCAL,
     add_local},
    {{"is_recursive", "", RIDGE_UNIT_NONE, false, 0, 0}, 1 << PROGRAMS, add_recursive},
    {{"static_shared_bytes", "Shared", RIDGE_UNIT_COUNT, false, 0, 0},
     1 << PROGRAMS | 1 << PEOPLE_WITH_SHARED,
     add_shared},
    {{"barriers", "Bars", RIDGE_UNIT_COUNT, false, 0, 4},
     1 << PROGRAMS | 1 << PEOPLE_WITH_BARRIERS,
     add_barriers},
    {{"bounds", "Bounds", RIDGE_UNIT_NONE, true, 0, 3}, 1 << PEOPLE_WITH_BOUNDS, add_bounds},
    {{"max_threads", "", RIDGE_UNIT_NONE, false, 0, 0}, 1 << PROGRAMS, add_max_threads},
    {{"required_threads", "", RIDGE_UNIT_NONE, true, 0, 0}, 1 << PROGRAMS, add_required_block},
    {{"min_blocks", "", RIDGE_UNIT_NONE, false, 0, 0}, 1 << PROGRAMS, add_min_blocks},
    {{"max_registers", "", RIDGE_UNIT_NONE, false, 0, 0}, 1 << PROGRAMS, add_max_registers},
    {{"cluster", "Cluster", RIDGE_UNIT_NONE, true, 0, 5},
     1 << PROGRAMS | 1 << PEOPLE_WITH_CLUSTERS,
     add_cluster},
    {{"max_cluster", "", RIDGE_UNIT_NONE, false, 0, 0}, 1 << PROGRAMS, add_max_cluster},
    {{"parameter_bytes", "Params", RIDGE_UNIT_COUNT, false, 0, 6},
     1 << PROGRAMS | 1 << WITHOUT_OCCUPANCY,
     add_parameters},
    {{"code_bytes", "Code", RIDGE_UNIT_COUNT, false, 0, 7},
     1 << PROGRAMS | 1 << WITHOUT_OCCUPANCY,
     add_code},
    {{"threads_per_block", "Block", RIDGE_UNIT_COUNT, false, 0, 0},
     1 << WITH_OCCUPANCY,
     add_threads},
    {{"blocks_per_sm", "Blocks/SM", RIDGE_UNIT_COUNT, false, 0, 0},
     1 << WITH_OCCUPANCY,
     add_blocks_per_sm},
    {{"warps_per_sm", "Warps/SM", RIDGE_UNIT_COUNT, false, 0, 0},
     1 << WITH_OCCUPANCY,
     add_warps_per_sm},
    {{"occupancy_frac", "Occupancy", RIDGE_UNIT_FRAC, false, 0, 2},
     1 << WITH_OCCUPANCY,
     add_occupancy},
    {{"limiters", "Limited by", RIDGE_UNIT_NONE, true, 0, 0}, 1 << WITH_OCCUPANCY, add_limiters},
    {{"file", "File", RIDGE_UNIT_NONE, true, 12, 1},
     1 << PROGRAMS | 1 << PEOPLE_WITH_FILES,
     add_file},
};

enum { COLUMN_COUNT = sizeof(all_columns) / sizeof(all_columns[0]) };

static unsigned audience_of(const struct listing *listing)
{
    const bool occupancy = listing->request->occupancy;
    unsigned audience = 1u << EVERYBODY;

    audience |= occupancy ? 1u << WITH_OCCUPANCY : 0;
    if (is_for_programs(listing->request))
        return audience | 1u << PROGRAMS;
    audience |= 1u << PEOPLE;
    audience |= listing->shared ? 1u << PEOPLE_WITH_SHARED : 0;
    audience |= listing->files ? 1u << PEOPLE_WITH_FILES : 0;
    audience |= listing->barriers ? 1u << PEOPLE_WITH_BARRIERS : 0;
    if (occupancy) /* the rest decides nothing there, and the line is short */
        return audience;
    audience |= 1u << WITHOUT_OCCUPANCY;
    audience |= listing->spills ? 1u << PEOPLE_WITH_SPILLS : 0;
    audience |= listing->local ? 1u << PEOPLE_WITH_LOCAL : 0;
    audience |= listing->clusters ? 1u << PEOPLE_WITH_CLUSTERS : 0;
    audience |= listing->bounds ? 1u << PEOPLE_WITH_BOUNDS : 0;
    return audience;
}

static ridge_table *make_table(const struct listing *listing, ridge_column *columns)
{
    const unsigned audience = audience_of(listing);
    size_t column_count = 0;
    ridge_table *table;
    size_t i, k;

    for (k = 0; k < COLUMN_COUNT; k++)
        if ((all_columns[k].audience & audience) != 0)
            columns[column_count++] = all_columns[k].column;
    table = ridge_table_create(columns, column_count);
    for (i = 0; i < listing->shown_count; i++)
        for (k = 0; k < COLUMN_COUNT; k++)
            if ((all_columns[k].audience & audience) != 0)
                all_columns[k].add(table, listing, listing->shown[i]);
    return table;
}

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
static void choose_rows(struct listing *listing)
{
    const struct inspect_rows *const rows = listing->rows;
    bool has_code = false;
    size_t i;

    for (i = 0; i < rows->count; i++)
        has_code = has_code || !rows->rows[i].is_ptx;
    for (i = 0; i < rows->count; i++) {
        const struct inspect_row *const row = &rows->rows[i];

        if (has_code && row->is_ptx && !is_for_programs(listing->request))
            continue;
        if (row->is_elsewhere && !is_for_programs(listing->request)) {
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
    if (is_for_programs(listing->request))
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
    size_t column = 0;
    size_t i;

    for (i = 0; i < rows->census_count; i++) {
        const struct inspect_census *const at = &rows->census[i];
        char text[80];

        if (i == 0 || rows->census[i - 1].kind != at->kind) {
            ridge_output_format(output, "%s%-14s", i > 0 ? "\n" : "", kind_word(at));
            column = 0;
        }
        if (at->kind == RIDGE_ENTRY_LTO)
            snprintf(text, sizeof(text), "%s", at->arch);
        else
            snprintf(text, sizeof(text), "%s (%zu)", at->arch, at->kernel_count);
        inspect_add_item(output, &column, 14, text);
    }
    ridge_output_text(output, i > 0 ? "\n" : "");
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

static void print_heading(ridge_output *output, const struct listing *listing)
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
static void print_summary(ridge_output *output, const struct listing *listing)
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
    size_t i;

    for (i = 0; i < rows->census_count; i++) {
        const struct inspect_census *const at = &rows->census[i];
        const bool is_code = at->kind == RIDGE_ENTRY_CUBIN;

        if (at->kind == RIDGE_ENTRY_LTO)
            continue;
        ridge_table_text(table, at->arch);
        ridge_table_count(table, at->kernel_count);
        ridge_table_count(table, at->entry_count);
        add_integer(table, at->most_registers);
        add_integer(table, is_code ? (int64_t)at->spilling_count : -1);
        add_integer(table, at->most_spill_bytes);
        add_integer(table, is_code ? (int64_t)at->local_count : -1);
        add_integer(table, at->most_shared_bytes);
        ridge_table_number(table, is_code ? (double)at->code_bytes : NAN);
    }
    ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
    ridge_table_free(table);
}

/* -- printing ---------------------------------------------------------------------------------- */

static void write_files(ridge_json *json, const struct listing *listing)
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

static void print_json(ridge_output *output, const struct listing *listing,
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

static int print_listing(const struct listing *listing, int status)
{
    ridge_output *const output = cli_open(&listing->request->out);
    ridge_column columns[COLUMN_COUNT];
    ridge_table *const table = make_table(listing, columns);
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

int inspect_table(const struct inspect_request *request)
{
    struct inspect_rows rows;
    struct listing listing = {.request = request, .rows = &rows};
    int status = inspect_collect(request, &rows);
    size_t i;

    if (rows.count == 0) {
        if (status == CLI_DONE && (request->pattern != NULL || request->arch != NULL)) {
            cli_message(request->paths[0], "no kernel matches %s%s%s",
                        request->pattern != NULL ? request->pattern : "",
                        request->pattern != NULL && request->arch != NULL ? " for " : "",
                        request->arch != NULL ? request->arch : "");
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
