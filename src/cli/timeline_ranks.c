/* SPDX-License-Identifier: Apache-2.0
 *
 * Several traces of one run: a line a rank, and what stands out. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline_cli.h"

enum { WORD = 32, MOST_BLOCKS = 8 };

static int by_rank(const void *left, const void *right)
{
    const struct timeline_file *const a = *(const struct timeline_file *const *)left;
    const struct timeline_file *const b = *(const struct timeline_file *const *)right;

    if (a->info->rank != b->info->rank)
        return a->info->rank < b->info->rank ? -1 : 1;
    return a < b ? -1 : a > b;
}

static int64_t exposed_ns(const ridge_device_account *account)
{
    return account->collective_ns - account->collective_hidden_ns;
}

/* Times as text in text, as numbers in JSON. */
static void add_time(ridge_table *table, int64_t ns, bool exact)
{
    if (exact)
        ridge_table_number(table, (double)ns);
    else
        timeline_add_time(table, (double)ns);
}

static void add_share(ridge_table *table, int64_t ns, const ridge_device_account *account,
                      bool exact)
{
    if (exact)
        ridge_table_number(table, (double)ns);
    else
        timeline_add_percent(table, (double)ns, (double)timeline_span(account));
}

static void add_row(ridge_table *table, const struct timeline_file *file, bool exact)
{
    const ridge_device_account *const account = file->main;

    ridge_table_number(table, file->info->rank >= 0 ? file->info->rank : (double)NAN);
    add_time(table, timeline_span(account), exact);
    add_share(table, account->kernel_ns, account, exact);
    add_share(table, account->copy_only_ns, account, exact);
    add_share(table, account->idle_ns, account, exact);
    ridge_table_count(table, account->kernel_count);
    add_time(table, account->collective_ns, exact);
    add_time(table, exposed_ns(account), exact);
    ridge_table_text(table, ridge_timeline_verdict_name(account->verdict));
    ridge_table_text(table, exact ? file->path : cli_base_name(file->path));
}

static void write_table(const struct timeline_file *const *order, size_t count,
                        ridge_output *output, ridge_json *json)
{
    static const ridge_column columns[] = {
        {"rank", "Rank", RIDGE_UNIT_NONE, false, 0, 0},
        {"span_ns", "Span", RIDGE_UNIT_NONE, false, 0, 0},
        {"kernel_ns", "Kernels", RIDGE_UNIT_NONE, false, 0, 0},
        {"copy_only_ns", "Copies", RIDGE_UNIT_NONE, false, 0, 3},
        {"idle_ns", "Idle", RIDGE_UNIT_NONE, false, 0, 0},
        {"kernel_count", "Launched", RIDGE_UNIT_NONE, false, 0, 4},
        {"collective_ns", "Comm", RIDGE_UNIT_NONE, false, 0, 0},
        {"collective_exposed_ns", "Exposed", RIDGE_UNIT_NONE, false, 0, 0},
        {"verdict", "Verdict", RIDGE_UNIT_NONE, true, 0, 0},
        {"file", "File", RIDGE_UNIT_NONE, true, 10, 1},
    };
    ridge_table *const table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    size_t i;

    for (i = 0; i < count; i++)
        add_row(table, order[i], json != NULL);
    ridge_table_write(table, json != NULL ? RIDGE_FORMAT_JSON : RIDGE_FORMAT_TEXT, output, json,
                      "ranks");
    ridge_table_free(table);
}

/* The rank that is waited for communicates least: the others spend the difference waiting. */
static const struct timeline_file *find_straggler(const struct timeline_file *const *order,
                                                  size_t count, int64_t *spread_ns)
{
    const struct timeline_file *least = order[0];
    int64_t most_ns = 0;
    size_t i;

    for (i = 0; i < count; i++) {
        if (order[i]->main->collective_ns < least->main->collective_ns)
            least = order[i];
        if (order[i]->main->collective_ns > most_ns)
            most_ns = order[i]->main->collective_ns;
    }
    *spread_ns = most_ns - least->main->collective_ns;
    return most_ns > 0 && *spread_ns > timeline_span(least->main) / 20 ? least : NULL;
}

static void rank_name(const struct timeline_file *file, char *buffer, size_t size)
{
    if (file->info->rank >= 0)
        snprintf(buffer, size, "rank %d", file->info->rank);
    else
        snprintf(buffer, size, "%s", cli_base_name(file->path));
}

static void write_words(const struct timeline_file *const *order, size_t count,
                        ridge_output *output)
{
    const struct timeline_file *idlest = order[0], *longest = order[0], *shortest = order[0];
    const struct timeline_file *straggler;
    char name[128], text[WORD], other[WORD], idle[WORD];
    int64_t spread_ns;
    size_t i;

    for (i = 0; i < count; i++) {
        const ridge_device_account *const account = order[i]->main;

        idlest = account->idle_ns > idlest->main->idle_ns ? order[i] : idlest;
        longest = timeline_span(account) > timeline_span(longest->main) ? order[i] : longest;
        shortest = timeline_span(account) < timeline_span(shortest->main) ? order[i] : shortest;
    }
    rank_name(idlest, name, sizeof(name));
    ridge_output_format(output, "%zu traces  spans %s to %s; %s is idle most, %s\n", count,
                        timeline_time((double)timeline_span(shortest->main), text, sizeof(text)),
                        timeline_time((double)timeline_span(longest->main), other, sizeof(other)),
                        name,
                        timeline_percent((double)idlest->main->idle_ns,
                                         (double)timeline_span(idlest->main), idle, sizeof(idle)));
    if (count == 2 && timeline_span(longest->main) / 5 > timeline_span(shortest->main) / 4)
        ridge_output_text(output, "two traces of one run, by their ranks; before and after of a "
                                  "change: --compare\n");
    straggler = find_straggler(order, count, &spread_ns);
    if (straggler != NULL) {
        rank_name(straggler, name, sizeof(name));
        ridge_output_format(output,
                            "%s communicates least, others up to %s longer: they wait for it\n",
                            name, timeline_time((double)spread_ns, text, sizeof(text)));
    }
    ridge_output_text(output, "\n");
}

/* The device and the verdict of each, while they fit a screen. */
static void write_blocks(const struct timeline_file *const *order, size_t count,
                         ridge_output *output)
{
    char name[128];
    size_t i;

    for (i = 0; i < count && count <= MOST_BLOCKS; i++) {
        const struct timeline_view view = {.file = order[i], .account = order[i]->main};

        rank_name(order[i], name, sizeof(name));
        ridge_output_format(output, "\n%s\n", name);
        timeline_print_device(&view, output);
    }
}

void timeline_write_ranks(const struct timeline_file *files, size_t count,
                          const struct timeline_request *request, ridge_output *output,
                          ridge_json *json)
{
    const struct timeline_file **const order = calloc(count, sizeof(*order));
    size_t working = 0, i;

    (void)request;
    if (order == NULL) {
        /* Lets the output fail. */
        ridge_table_write(NULL, json != NULL ? RIDGE_FORMAT_JSON : RIDGE_FORMAT_TEXT, output, json,
                          NULL);
        return;
    }
    for (i = 0; i < count; i++)
        if (files[i].main != NULL)
            order[working++] = &files[i];
    qsort(order, working, sizeof(*order), by_rank);
    if (json == NULL && working > 0)
        write_words(order, working, output);
    write_table(order, working, output, json);
    if (json == NULL)
        write_blocks(order, working, output);
    for (i = 0; i < count && json == NULL; i++)
        if (files[i].main == NULL)
            ridge_output_format(output, "no work of a GPU: %s\n", cli_base_name(files[i].path));
    free(order);
}
