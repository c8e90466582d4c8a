/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge kernels: what ran, by time. Launches of the same kernel with the same grid and block on
 * the same GPU are one row with median and spread; --all gives each launch its own. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "options.h"

static const char usage[] = "ridge kernels [options] FILE";

/* A row: the launches launches[0] to launches[count - 1]. */
struct group {
    const ridge_report_kernel_info **launches; /* in order of duration, those without one last */
    size_t count;
    size_t timed_count;  /* launches with a duration */
    double duration_ns;  /* of all together; NAN: none is timed */
    double share_frac;   /* of the total; NAN: not known */
    size_t first_launch; /* index of the first in the report */
};

/* -- sorting ----------------------------------------------------------------------------------- */

static int compare_text(const char *a, const char *b)
{
    return strcmp(a != NULL ? a : "", b != NULL ? b : "");
}

static int compare_u64(const uint64_t *a, const uint64_t *b, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* 0: launches that belong to one row. */
static int compare_kind(const ridge_report_kernel_info *a, const ridge_report_kernel_info *b)
{
    int order = compare_text(cli_kernel_name(a), cli_kernel_name(b));

    if (order == 0)
        order = compare_u64(a->grid, b->grid, 3);
    if (order == 0)
        order = compare_u64(a->block, b->block, 3);
    if (order == 0)
        order = compare_text(a->gpu_name, b->gpu_name);
    if (order == 0)
        order = a->cc_major != b->cc_major ? a->cc_major - b->cc_major : a->cc_minor - b->cc_minor;
    return order != 0 ? order : (int)a->kind - (int)b->kind;
}

static int compare_index(size_t a, size_t b)
{
    return a < b ? -1 : a > b;
}

/* Short first; what has no duration last. */
static int compare_duration(double a, double b)
{
    if (isnan(a) || isnan(b))
        return (isnan(a) ? 1 : 0) - (isnan(b) ? 1 : 0);
    return a < b ? -1 : a > b;
}

static int by_kind_and_duration(const void *left, const void *right)
{
    const ridge_report_kernel_info *const a = *(const ridge_report_kernel_info *const *)left;
    const ridge_report_kernel_info *const b = *(const ridge_report_kernel_info *const *)right;
    int order = compare_kind(a, b);

    if (order == 0)
        order = compare_duration(a->duration_ns, b->duration_ns);
    return order != 0 ? order : compare_index(a->index, b->index);
}

static int by_time(const void *left, const void *right)
{
    const struct group *const a = left;
    const struct group *const b = right;

    if (isnan(a->duration_ns) || isnan(b->duration_ns)) {
        const int order = compare_duration(a->duration_ns, b->duration_ns);

        return order != 0 ? order : compare_index(a->first_launch, b->first_launch);
    }
    if (a->duration_ns != b->duration_ns)
        return a->duration_ns > b->duration_ns ? -1 : 1;
    return compare_index(a->first_launch, b->first_launch);
}

/* -- grouping ---------------------------------------------------------------------------------- */

static void fill_group(struct group *group, const ridge_report_kernel_info **launches, size_t count)
{
    size_t i;

    *group = (struct group){.launches = launches, .count = count, .share_frac = NAN};
    group->first_launch = launches[0]->index;
    group->duration_ns = 0;
    for (i = 0; i < count; i++) {
        if (launches[i]->index < group->first_launch)
            group->first_launch = launches[i]->index;
        if (isnan(launches[i]->duration_ns))
            continue;
        group->duration_ns += launches[i]->duration_ns;
        group->timed_count++;
    }
    if (group->timed_count == 0)
        group->duration_ns = NAN;
}

/* Makes groups of sorted launches and returns how many; *total_ns is their time, NAN: none. */
static size_t make_groups(const ridge_report_kernel_info **launches, size_t count, bool all,
                          struct group *groups, double *total_ns)
{
    size_t group_count = 0;
    size_t begin = 0;
    size_t i;

    *total_ns = NAN;
    while (begin < count) {
        size_t end = begin + 1;

        while (!all && end < count && compare_kind(launches[begin], launches[end]) == 0)
            end++;
        fill_group(&groups[group_count], launches + begin, end - begin);
        if (!isnan(groups[group_count].duration_ns))
            *total_ns = (isnan(*total_ns) ? 0 : *total_ns) + groups[group_count].duration_ns;
        group_count++;
        begin = end;
    }
    for (i = 0; i < group_count; i++)
        if (*total_ns > 0)
            groups[i].share_frac = groups[i].duration_ns / *total_ns;
    qsort(groups, group_count, sizeof(groups[0]), by_time);
    return group_count;
}

static double median_ns(const struct group *group)
{
    const size_t middle = group->timed_count / 2;

    if (group->timed_count == 0)
        return NAN;
    if (group->timed_count % 2 == 1)
        return group->launches[middle]->duration_ns;
    return (group->launches[middle - 1]->duration_ns + group->launches[middle]->duration_ns) / 2;
}

/* -- rows -------------------------------------------------------------------------------------- */

/* What a listing needs to know of all rows to choose its columns. */
struct listing {
    const char *path;
    ridge_format format;
    struct group *groups;
    size_t group_count;
    size_t launch_count;
    double total_ns;
    bool repeated;  /* some row stands for several launches */
    bool many_gpus; /* rows differ in GPU */
};

static void add_name(ridge_table *table, const struct group *group)
{
    ridge_table_text(table, cli_kernel_name(group->launches[0]));
}

static void add_short_name(ridge_table *table, const struct group *group)
{
    char name[512];

    ridge_table_text(table, cli_short_name(group->launches[0], name, sizeof(name)));
}

static void add_launch(ridge_table *table, const struct group *group)
{
    ridge_table_count(table, group->first_launch);
}

static void add_count(ridge_table *table, const struct group *group)
{
    ridge_table_count(table, group->count);
}

static void add_duration(ridge_table *table, const struct group *group)
{
    ridge_table_number(table, group->duration_ns);
}

static void add_share(ridge_table *table, const struct group *group)
{
    ridge_table_number(table, group->share_frac);
}

static void add_median(ridge_table *table, const struct group *group)
{
    ridge_table_number(table, median_ns(group));
}

static void add_min(ridge_table *table, const struct group *group)
{
    ridge_table_number(table, group->launches[0]->duration_ns);
}

/* The distance from the shortest to the longest as a part of the median; nothing for one launch. */
static void add_spread(ridge_table *table, const struct group *group)
{
    if (group->timed_count < 2)
        ridge_table_text(table, "");
    else
        ridge_table_number(table, (group->launches[group->timed_count - 1]->duration_ns -
                                   group->launches[0]->duration_ns) /
                                      median_ns(group));
}

static void add_max(ridge_table *table, const struct group *group)
{
    ridge_table_number(table, group->timed_count == 0
                                  ? NAN
                                  : group->launches[group->timed_count - 1]->duration_ns);
}

static void add_extent(ridge_table *table, const uint64_t extent[3])
{
    char text[80];

    ridge_table_text(table, extent[0] == 0 ? NULL : cli_extent(extent, text, sizeof(text)));
}

static void add_result_kind(ridge_table *table, const struct group *group)
{
    static const char *const names[] = {"kernel", "range", "command_list", "graph"};

    ridge_table_text(table, names[group->launches[0]->kind]);
}

static void add_grid(ridge_table *table, const struct group *group)
{
    add_extent(table, group->launches[0]->grid);
}

static void add_block(ridge_table *table, const struct group *group)
{
    add_extent(table, group->launches[0]->block);
}

static void add_gpu(ridge_table *table, const struct group *group)
{
    ridge_table_text(table, group->launches[0]->gpu_name);
}

static void add_capability(ridge_table *table, const struct group *group)
{
    const ridge_report_kernel_info *const info = group->launches[0];
    char text[32];

    snprintf(text, sizeof(text), "%d.%d", info->cc_major, info->cc_minor);
    ridge_table_text(table, info->cc_major > 0 ? text : NULL);
}

/* Who sees a column. Programs get full names and exact values, people what fits a line. */
enum audience { EVERYBODY, PROGRAMS, PEOPLE, PEOPLE_WHEN_REPEATED, PEOPLE_WHEN_MANY_GPUS };

static const struct {
    ridge_column column;
    unsigned audience; /* bits 1 << audience */
    void (*add)(ridge_table *table, const struct group *group);
} all_columns[] = {
    {{"launch", "ID", RIDGE_UNIT_NONE, false, 0, 0}, 1 << EVERYBODY, add_launch},
    {{"name", "Kernel", RIDGE_UNIT_NONE, true, 16, 0}, 1 << PROGRAMS, add_name},
    {{"name", "Kernel", RIDGE_UNIT_NONE, true, 16, 0}, 1 << PEOPLE, add_short_name},
    {{"kind", "Kind", RIDGE_UNIT_NONE, true, 0, 0}, 1 << PROGRAMS, add_result_kind},
    {{"grid", "Grid", RIDGE_UNIT_NONE, true, 0, 4}, 1 << EVERYBODY, add_grid},
    {{"block", "Block", RIDGE_UNIT_NONE, true, 0, 3}, 1 << EVERYBODY, add_block},
    {{"gpu_name", "GPU", RIDGE_UNIT_NONE, true, 8, 5},
     1 << PROGRAMS | 1 << PEOPLE_WHEN_MANY_GPUS,
     add_gpu},
    {{"compute_capability", "CC", RIDGE_UNIT_NONE, true, 0, 5},
     1 << PROGRAMS | 1 << PEOPLE_WHEN_MANY_GPUS,
     add_capability},
    {{"launch_count", "Count", RIDGE_UNIT_COUNT, false, 0, 2},
     1 << PROGRAMS | 1 << PEOPLE_WHEN_REPEATED,
     add_count},
    {{"median_ns", "Median", RIDGE_UNIT_NS, false, 0, 0},
     1 << PROGRAMS | 1 << PEOPLE_WHEN_REPEATED,
     add_median},
    {{"spread_frac", "Spread", RIDGE_UNIT_FRAC, false, 0, 6},
     1 << PEOPLE_WHEN_REPEATED,
     add_spread},
    {{"min_ns", "Min", RIDGE_UNIT_NS, false, 0, 0}, 1 << PROGRAMS, add_min},
    {{"max_ns", "Max", RIDGE_UNIT_NS, false, 0, 0}, 1 << PROGRAMS, add_max},
    {{"duration_ns", "Time", RIDGE_UNIT_NS, false, 0, 0}, 1 << EVERYBODY, add_duration},
    {{"share_frac", "Share", RIDGE_UNIT_FRAC, false, 0, 1}, 1 << EVERYBODY, add_share},
};

enum { COLUMN_COUNT = sizeof(all_columns) / sizeof(all_columns[0]) };

static bool is_shown(size_t column, const struct listing *listing)
{
    unsigned audience = 1 << EVERYBODY;

    if (listing->format == RIDGE_FORMAT_JSON || listing->format == RIDGE_FORMAT_CSV)
        audience |= 1 << PROGRAMS;
    else
        audience |= 1u << PEOPLE | (listing->repeated ? 1u << PEOPLE_WHEN_REPEATED : 0) |
                    (listing->many_gpus ? 1u << PEOPLE_WHEN_MANY_GPUS : 0);
    return (all_columns[column].audience & audience) != 0;
}

static void print_heading(ridge_output *output, const struct listing *listing)
{
    const ridge_report_kernel_info *const info = listing->groups[0].launches[0];
    char time[32];

    ridge_output_format(output, "%zu kernel%s", listing->group_count,
                        listing->group_count == 1 ? "" : "s");
    if (listing->repeated)
        ridge_output_format(output, " in %zu launches", listing->launch_count);
    if (!isnan(listing->total_ns))
        ridge_output_format(
            output, ", %s in all",
            ridge_number_text(listing->total_ns, RIDGE_UNIT_NS, time, sizeof(time)));
    if (!listing->many_gpus && info->gpu_name != NULL)
        ridge_output_format(output, ", %s", info->gpu_name);
    if (!listing->many_gpus && info->cc_major > 0)
        ridge_output_format(output, " (compute capability %d.%d)", info->cc_major, info->cc_minor);
    ridge_output_text(output, "\n\n");
}

static int print_listing(const struct listing *listing, const struct cli_output *out)
{
    ridge_output *const output = cli_open(out);
    ridge_column columns[COLUMN_COUNT];
    size_t column_count = 0;
    ridge_json *json = NULL;
    ridge_table *table;
    size_t row;
    size_t i;

    for (i = 0; i < COLUMN_COUNT; i++)
        if (is_shown(i, listing))
            columns[column_count++] = all_columns[i].column;
    table = ridge_table_create(columns, column_count);
    for (row = 0; row < listing->group_count; row++)
        for (i = 0; i < COLUMN_COUNT; i++)
            if (is_shown(i, listing))
                all_columns[i].add(table, &listing->groups[row]);
    if (out->format == RIDGE_FORMAT_TEXT)
        print_heading(output, listing);
    if (out->format == RIDGE_FORMAT_JSON) {
        json = ridge_json_create(output);
        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "schema", "ridge-kernels/1");
        ridge_json_text(json, "file", listing->path);
        ridge_json_count(json, "launch_count", listing->launch_count);
        ridge_json_number(json, "duration_ns", listing->total_ns);
    }
    ridge_table_write(table, out->format, output, json, "kernels");
    ridge_json_end_object(json);
    ridge_json_free(json);
    ridge_table_free(table);
    return cli_close(output, CLI_DONE);
}

/* -- the command ------------------------------------------------------------------------------- */

static int list_kernels(const char *path, const ridge_report *report,
                        const struct kernel_filter *filter, bool all, const struct cli_output *out)
{
    struct listing listing = {.path = path, .format = out->format};
    const ridge_report_kernel_info **launches = NULL;
    const ridge_report_kernel **kernels;
    size_t i;
    int status = cli_select_kernels(report, path, filter, &kernels, &listing.launch_count);

    if (status != CLI_DONE)
        return status;
    launches = calloc(listing.launch_count, sizeof(*launches));
    listing.groups = calloc(listing.launch_count, sizeof(*listing.groups));
    if (launches == NULL || listing.groups == NULL) {
        cli_message(path, "out of memory");
        status = ridge_status_exit(RIDGE_ERR_OUT_OF_MEMORY);
        goto out;
    }
    for (i = 0; i < listing.launch_count; i++)
        launches[i] = ridge_report_kernel_get_info(kernels[i]);
    qsort(launches, listing.launch_count, sizeof(*launches), by_kind_and_duration);
    listing.group_count =
        make_groups(launches, listing.launch_count, all, listing.groups, &listing.total_ns);
    listing.repeated = listing.group_count < listing.launch_count;
    for (i = 1; i < listing.launch_count; i++)
        if (compare_text(launches[0]->gpu_name, launches[i]->gpu_name) != 0)
            listing.many_gpus = true;
    status = print_listing(&listing, out);
out:
    free(listing.groups);
    free(launches);
    free(kernels);
    return status;
}

int cmd_kernels(int argc, char **argv)
{
    struct cli_output out = {0};
    struct kernel_filter filter = KERNEL_FILTER_ALL;
    bool all = false;
    ridge_report *report;
    const struct option options[] = {
        OPT_FLAG('a', "all", &all, "one row for each launch instead of one for each kernel"),
        OPT_KERNELS(&filter),
        OPT_TABLE(&out),
        OPT_COMMON(&out),
        OPT_END,
    };
    int status;

    if (!options_parse(&argc, argv, usage, options, &status))
        return status;
    if (argc != 2)
        return cli_usage_error("expected one FILE, got %d", argc - 1);
    status = cli_open_report(argv[1], &report);
    if (status != CLI_DONE)
        return status;
    status = list_kernels(argv[1], report, &filter, all, &out);
    ridge_report_free(report);
    return status;
}
