/* SPDX-License-Identifier: Apache-2.0
 *
 * The columns of the table of ridge inspect, and who sees them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "inspect.h"

bool inspect_is_for_programs(const struct inspect_request *request)
{
    return request->out.format == RIDGE_FORMAT_JSON || request->out.format == RIDGE_FORMAT_CSV;
}

/* -- columns ----------------------------------------------------------------------------------- */

void inspect_add_integer(ridge_table *table, int64_t value)
{
    if (value < 0)
        ridge_table_number(table, NAN);
    else
        ridge_table_count(table, (uint64_t)value);
}

static void add_name(ridge_table *table, const struct inspect_listing *listing,
                     const struct inspect_row *row)
{
    (void)listing;
    ridge_table_text(table, row->name);
}

static void add_short_name(ridge_table *table, const struct inspect_listing *listing,
                           const struct inspect_row *row)
{
    (void)listing;
    ridge_table_text(table, row->short_name);
}

static void add_arch(ridge_table *table, const struct inspect_listing *listing,
                     const struct inspect_row *row)
{
    (void)listing;
    ridge_table_text(table, row->arch);
}

static void add_file(ridge_table *table, const struct inspect_listing *listing,
                     const struct inspect_row *row)
{
    ridge_table_text(table, listing->request->paths[row->path_index]);
}

static void add_kind(ridge_table *table, const struct inspect_listing *listing,
                     const struct inspect_row *row)
{
    (void)listing;
    ridge_table_text(table, row->is_ptx ? "ptx" : row->is_kernel ? "kernel" : "function");
}

/* A column that is one number of a row. */
#define NUMBER_COLUMN(function, expression)                                                        \
    static void function(ridge_table *table, const struct inspect_listing *listing,                \
                         const struct inspect_row *row)                                            \
    {                                                                                              \
        (void)listing;                                                                             \
        inspect_add_integer(table, expression);                                                    \
    }
NUMBER_COLUMN(add_registers, row->numbers.registers_per_thread)
NUMBER_COLUMN(add_shared, row->numbers.static_shared_bytes)
NUMBER_COLUMN(add_spill_stores, row->numbers.spill_store_bytes)
NUMBER_COLUMN(add_spill_loads, row->numbers.spill_load_bytes)
NUMBER_COLUMN(add_barriers, row->numbers.barriers)
NUMBER_COLUMN(add_code, row->numbers.code_bytes)
NUMBER_COLUMN(add_parameters, row->parameter_bytes)
NUMBER_COLUMN(add_min_blocks, row->min_blocks)
NUMBER_COLUMN(add_max_registers, row->max_registers)
NUMBER_COLUMN(add_max_cluster, row->max_cluster > 0 ? row->max_cluster : -1)
NUMBER_COLUMN(add_max_threads, row->max_threads[0] > 0 ? inspect_product(row->max_threads) : -1)
NUMBER_COLUMN(add_threads, row->threads > 0 ? row->threads : -1)
NUMBER_COLUMN(add_blocks_per_sm, row->threads > 0 ? row->fit.blocks_per_sm : -1)
NUMBER_COLUMN(add_warps_per_sm, row->threads > 0 ? row->fit.warps_per_sm : -1)

static void add_relocatable(ridge_table *table, const struct inspect_listing *listing,
                            const struct inspect_row *row)
{
    (void)listing;
    ridge_table_bool(table, row->is_relocatable);
}

static void add_recursive(ridge_table *table, const struct inspect_listing *listing,
                          const struct inspect_row *row)
{
    (void)listing;
    ridge_table_bool(table, row->is_recursive);
}

/* Of a recursive kernel the frames of all levels are not known. */
static void add_local(ridge_table *table, const struct inspect_listing *listing,
                      const struct inspect_row *row)
{
    if (row->is_recursive && !inspect_is_for_programs(listing->request))
        ridge_table_text(table, "recursive");
    else
        inspect_add_integer(table, row->numbers.local_bytes);
}

/* "1496+1724": bytes stored and loaded. */
static void add_spills(ridge_table *table, const struct inspect_listing *listing,
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
static void add_bounds(ridge_table *table, const struct inspect_listing *listing,
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
static void add_cluster(ridge_table *table, const struct inspect_listing *listing,
                        const struct inspect_row *row)
{
    char text[80];

    if (row->cluster[0] > 0) {
        ridge_table_extent(table, row->cluster, extent_text(row->cluster, text, sizeof(text)));
    } else if (row->max_cluster > 0 && listing->request->out.format != RIDGE_FORMAT_JSON) {
        snprintf(text, sizeof(text), "<=%d", row->max_cluster);
        ridge_table_text(table, text);
    } else {
        ridge_table_text(table, inspect_is_for_programs(listing->request) ? NULL : "-");
    }
}

static void add_required_block(ridge_table *table, const struct inspect_listing *listing,
                               const struct inspect_row *row)
{
    char text[80];

    (void)listing;
    if (row->is_required)
        ridge_table_extent(table, row->max_threads,
                           extent_text(row->max_threads, text, sizeof(text)));
    else
        ridge_table_text(table, NULL);
}

static void add_occupancy(ridge_table *table, const struct inspect_listing *listing,
                          const struct inspect_row *row)
{
    (void)listing;
    ridge_table_number(table, row->threads > 0 ? row->fit.occupancy_frac : NAN);
}

static void add_limiters(ridge_table *table, const struct inspect_listing *listing,
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
    void (*add)(ridge_table *table, const struct inspect_listing *listing,
                const struct inspect_row *row);
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

_Static_assert((int)COLUMN_COUNT <= (int)INSPECT_COLUMNS_MAX, "room for all columns");

static unsigned audience_of(const struct inspect_listing *listing)
{
    const bool occupancy = listing->request->occupancy;
    unsigned audience = 1u << EVERYBODY;

    audience |= occupancy ? 1u << WITH_OCCUPANCY : 0;
    if (inspect_is_for_programs(listing->request))
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

ridge_table *inspect_make_table(const struct inspect_listing *listing, ridge_column *columns)
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
