/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge inspect --diff: what changed from one build to another. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect.h"

enum { ROWS_OF_A_SCREEN = 40 };

/* What became of a kernel; the order is that of the output. */
enum fate { WORSE, TRADED, REMOVED, ADDED, BETTER, CHANGED, CODE_CHANGED, SAME, FATE_COUNT };

static const char *const fate_names[FATE_COUNT] = {
    [WORSE] = "worse",   [TRADED] = "traded",   [REMOVED] = "removed",   [ADDED] = "added",
    [BETTER] = "better", [CHANGED] = "changed", [CODE_CHANGED] = "code", [SAME] = "same",
};

struct change {
    const ridge_resource_pair *pair;
    enum fate fate;
};

/* The numbers that are compared, and how they are called. */
static const struct number {
    const char *key, *title;
    size_t offset;
} numbers[] = {
#define NUMBER(key, title)                                                                         \
    {                                                                                              \
#key, title, offsetof(ridge_resources, key)                                                \
    }
    NUMBER(registers_per_thread, "registers"), NUMBER(spill_store_bytes, "spill stores"),
    NUMBER(spill_load_bytes, "spill loads"),   NUMBER(local_bytes, "local"),
    NUMBER(static_shared_bytes, "shared"),     NUMBER(barriers, "barriers"),
#undef NUMBER
};

enum { NUMBER_COUNT = sizeof(numbers) / sizeof(numbers[0]) };

static int number_of(const ridge_resources *row, size_t which)
{
    int value;

    memcpy(&value, (const char *)row + numbers[which].offset, sizeof(value));
    return value;
}

static enum fate fate_of(const ridge_resource_pair *pair)
{
    const ridge_resource_pair reverse = {pair->after, pair->before};
    bool is_worse, is_better;
    size_t i;

    if (pair->after == NULL)
        return REMOVED;
    if (pair->before == NULL)
        return ADDED;
    is_worse = ridge_resources_worse(pair) != 0;
    is_better = ridge_resources_worse(&reverse) != 0;
    if (is_worse || is_better)
        return is_worse && is_better ? TRADED : is_worse ? WORSE : BETTER;
    for (i = 0; i < NUMBER_COUNT; i++)
        if (number_of(pair->before, i) != number_of(pair->after, i))
            return CHANGED;
    return pair->before->code_bytes != pair->after->code_bytes ? CODE_CHANGED : SAME;
}

static int by_fate(const void *left, const void *right)
{
    const struct change *const a = left;
    const struct change *const b = right;

    if (a->fate != b->fate)
        return (int)a->fate - (int)b->fate;
    return (a->pair > b->pair) - (a->pair < b->pair); /* one array, sorted by name */
}

/* -- text -------------------------------------------------------------------------------------- */

static void append_change(char *text, size_t size, const char *title, int64_t before, int64_t after)
{
    char from[32], to[32];
    const size_t used = strlen(text);

    if (before == after)
        return;
    if (before < 0)
        snprintf(from, sizeof(from), "n/a");
    else
        ridge_number_text((double)before, RIDGE_UNIT_COUNT, from, sizeof(from));
    if (after < 0)
        snprintf(to, sizeof(to), "n/a");
    else
        ridge_number_text((double)after, RIDGE_UNIT_COUNT, to, sizeof(to));
    snprintf(text + used, size - used, "%s%s %s -> %s", used > 0 ? ", " : "", title, from, to);
}

/* What is there, of what was. */
static const ridge_resources *row_of(const ridge_resource_pair *pair)
{
    return pair->after != NULL ? pair->after : pair->before;
}

/* "registers 40 -> 64, local 0 -> 104" */
static void change_text(const ridge_resource_pair *pair, char *text, size_t size)
{
    const ridge_resources *const row = pair->before != NULL ? pair->before : pair->after;
    size_t i;

    text[0] = '\0';
    if (row == NULL)
        return;
    if (pair->before == NULL || pair->after == NULL) {
        char bytes[32];

        snprintf(
            text, size, "%d registers, %s bytes of code", row->registers_per_thread,
            ridge_number_text((double)row->code_bytes, RIDGE_UNIT_COUNT, bytes, sizeof(bytes)));
        return;
    }
    for (i = 0; i < NUMBER_COUNT; i++)
        append_change(text, size, numbers[i].title, number_of(pair->before, i),
                      number_of(pair->after, i));
    append_change(text, size, "code", pair->before->code_bytes, pair->after->code_bytes);
}

/* "2 worse, 1 added, 14 same" */
static void print_counts(ridge_output *output, const size_t counts[FATE_COUNT])
{
    size_t column = 0;
    size_t i;

    for (i = 0; i < FATE_COUNT; i++) {
        char text[64];

        if (counts[i] == 0)
            continue;
        snprintf(text, sizeof(text), "%zu %s", counts[i],
                 i == CODE_CHANGED ? "with other code alone" : fate_names[i]);
        inspect_add_item(output, &column, 0, text);
    }
    ridge_output_text(output, column > 0 ? "\n" : "no kernel in either\n");
}

/* As print_changes() for a pull request. */
static void print_changes_table(ridge_output *output, const struct change *changes, size_t most)
{
    static const ridge_column columns[] = {
        {"fate", "", RIDGE_UNIT_NONE, true, 0, 0},
        {"name", "Kernel", RIDGE_UNIT_NONE, true, 0, 0},
        {"arch", "Arch", RIDGE_UNIT_NONE, true, 0, 0},
        {"change", "Change", RIDGE_UNIT_NONE, true, 0, 0},
    };
    ridge_table *const table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    size_t i;

    for (i = 0; i < most; i++) {
        const ridge_resources *const row = row_of(changes[i].pair);
        char name[INSPECT_NAME_BYTES];
        char text[400];

        ridge_table_text(table, fate_names[changes[i].fate]);
        ridge_table_text(table, inspect_short_name(row->name, name, sizeof(name)));
        ridge_table_text(table, row->arch);
        change_text(changes[i].pair, text, sizeof(text));
        ridge_table_text(table, text);
    }
    ridge_table_write(table, RIDGE_FORMAT_MARKDOWN, output, NULL, NULL);
    ridge_table_free(table);
}

static void print_changes(ridge_output *output, const struct inspect_request *request,
                          const struct change *changes, size_t count)
{
    const bool is_markdown = request->out.format == RIDGE_FORMAT_MARKDOWN;
    const size_t most = request->all || count <= ROWS_OF_A_SCREEN ? count : ROWS_OF_A_SCREEN;
    size_t i;

    ridge_output_text(output, most > 0 ? "\n" : "");
    if (is_markdown && most > 0)
        print_changes_table(output, changes, most);
    for (i = 0; i < most && !is_markdown; i++) {
        const ridge_resource_pair *const pair = changes[i].pair;
        const ridge_resources *const row = row_of(pair);
        char name[INSPECT_NAME_BYTES];
        char line[INSPECT_NAME_BYTES + 500];
        char text[400];
        char fate[16];

        change_text(pair, text, sizeof(text));
        inspect_short_name(row->name, name, sizeof(name));
        snprintf(line, sizeof(line), "%s %s: %s", name, row->arch, text);
        snprintf(fate, sizeof(fate), "%-8s ", fate_names[changes[i].fate]);
        ridge_output_wrap(output, 13, fate, line);
    }
    if (most < count)
        ridge_output_format(output, "%s%zu more: --all, or -k REGEX\n", is_markdown ? "\n" : "",
                            count - most);
}

/* -- JSON -------------------------------------------------------------------------------------- */

static void write_resources(ridge_json *json, const char *key, const ridge_resources *row)
{
    size_t i;

    if (row == NULL) {
        ridge_json_null(json, key);
        return;
    }
    ridge_json_begin_object(json, key);
    for (i = 0; i < NUMBER_COUNT; i++) {
        if (number_of(row, i) < 0)
            ridge_json_null(json, numbers[i].key);
        else
            ridge_json_integer(json, numbers[i].key, number_of(row, i));
    }
    ridge_json_integer(json, "code_bytes", row->code_bytes);
    ridge_json_end_object(json);
}

static void write_changes(ridge_output *output, const struct inspect_request *request,
                          const struct change *changes, size_t count,
                          const size_t counts[FATE_COUNT])
{
    ridge_json *const json = ridge_json_create(output);
    size_t i;

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "schema", "ridge-inspect-diff/1");
    ridge_json_text(json, "before", request->paths[0]);
    ridge_json_text(json, "after", request->paths[1]);
    ridge_json_count(json, "same_count", counts[SAME]);
    ridge_json_begin_array(json, "kernels");
    for (i = 0; i < count; i++) {
        const ridge_resource_pair *const pair = changes[i].pair;
        const ridge_resources *const row = row_of(pair);

        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "name", row->name);
        ridge_json_text(json, "arch", row->arch);
        ridge_json_text(json, "fate", fate_names[changes[i].fate]);
        write_resources(json, "before", pair->before);
        write_resources(json, "after", pair->after);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
    ridge_json_end_object(json);
    ridge_json_free(json);
}

/* -- the work ---------------------------------------------------------------------------------- */

/* The kernels of one input. */
static int read_set(const struct inspect_request *request, size_t index, ridge_resource_set **out)
{
    struct inspect_request one = *request;
    struct inspect_rows rows;
    int status;

    *out = NULL;
    one.paths = &request->paths[index];
    one.path_count = 1;
    status = inspect_collect(&one, &rows);
    if (status == CLI_DONE)
        status = inspect_set_of(&rows, request->functions, out);
    inspect_rows_release(&rows);
    return status;
}

static int print_pairs(const struct inspect_request *request, const ridge_resource_pair *pairs,
                       size_t pair_count)
{
    struct change *const changes = calloc(pair_count + 1, sizeof(*changes));
    ridge_output *output;
    size_t counts[FATE_COUNT] = {0};
    size_t count = 0;
    size_t i;

    if (changes == NULL) {
        cli_message(NULL, "out of memory");
        return ridge_status_exit(RIDGE_ERR_OUT_OF_MEMORY);
    }
    for (i = 0; i < pair_count; i++) {
        const enum fate fate = fate_of(&pairs[i]);

        counts[fate]++;
        if (fate != SAME)
            changes[count++] = (struct change){&pairs[i], fate};
    }
    qsort(changes, count, sizeof(*changes), by_fate);
    output = cli_open(&request->out);
    if (request->out.format == RIDGE_FORMAT_JSON)
        write_changes(output, request, changes, count, counts);
    else {
        print_counts(output, counts);
        print_changes(output, request, changes, count);
    }
    free(changes);
    return cli_close(output, CLI_DONE);
}

int inspect_diff(const struct inspect_request *request)
{
    ridge_resource_set *before = NULL;
    ridge_resource_set *after = NULL;
    ridge_resource_pair *pairs = NULL;
    size_t pair_count;
    ridge_error err;
    int status = read_set(request, 0, &before);

    if (status == CLI_DONE)
        status = read_set(request, 1, &after);
    if (status == CLI_DONE &&
        ridge_resources_compare(before, after, &pairs, &pair_count, &err) != RIDGE_OK)
        status = cli_fail(NULL, &err);
    if (status == CLI_DONE)
        status = print_pairs(request, pairs, pair_count);
    ridge_resource_pairs_free(pairs);
    ridge_resource_set_free(before);
    ridge_resource_set_free(after);
    return status;
}
