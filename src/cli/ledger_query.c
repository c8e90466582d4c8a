/* SPDX-License-Identifier: Apache-2.0
 *
 * Queries of a ledger, printed. */
#include "ledger_query.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cli_query_open(struct cli_query *query, ridge_ledger *ledger, const char *path,
                    const char *sql, const char *const *values, size_t count)
{
    query->path = path;
    query->status = ridge_ledger_query(ledger, sql, values, count, &query->rows, &query->err);
}

bool cli_query_next(struct cli_query *query)
{
    bool has_row = false;

    if (query->status == RIDGE_OK)
        query->status = ridge_ledger_rows_next(query->rows, &has_row, &query->err);
    return query->status == RIDGE_OK && has_row;
}

int cli_query_close(struct cli_query *query)
{
    ridge_ledger_rows_free(query->rows);
    query->rows = NULL;
    return query->status == RIDGE_OK ? CLI_DONE : cli_fail(query->path, &query->err);
}

const char *cli_query_text(struct cli_query *query, size_t column)
{
    const char *const text = ridge_ledger_rows_text(query->rows, column);

    return text != NULL ? text : "";
}

double cli_query_number(struct cli_query *query, size_t column)
{
    return ridge_ledger_rows_number(query->rows, column);
}

const char *cli_query_id(struct cli_query *query, size_t column, char *buffer, size_t size)
{
    snprintf(buffer, size, "%.*s", LEDGER_ID_SHOWN, cli_query_text(query, column));
    return buffer;
}

int cli_query_one(ridge_ledger *ledger, const char *path, const char *sql,
                  const char *const *values, size_t count, char *out, size_t size)
{
    struct cli_query query;

    out[0] = '\0';
    cli_query_open(&query, ledger, path, sql, values, count);
    if (cli_query_next(&query))
        snprintf(out, size, "%s", cli_query_text(&query, 0));
    return cli_query_close(&query);
}

enum { LARGEST_RESULT = 1000000 }; /* rows that are held at once */

/* -- tables ------------------------------------------------------------------------------------ */

static void add_cell(ridge_table *table, ridge_ledger_rows *rows, size_t column)
{
    char text[48];

    switch (ridge_ledger_rows_kind(rows, column)) {
    case RIDGE_LEDGER_IS_INTEGER:
    case RIDGE_LEDGER_IS_NUMBER:
        ridge_table_number(table, ridge_ledger_rows_number(rows, column));
        break;
    case RIDGE_LEDGER_IS_TEXT:
        ridge_table_text(table, ridge_ledger_rows_text(rows, column));
        break;
    case RIDGE_LEDGER_IS_BYTES:
        snprintf(text, sizeof(text), "%zu bytes", ridge_ledger_rows_bytes(rows, column));
        ridge_table_text(table, text);
        break;
    case RIDGE_LEDGER_IS_NULL:
        ridge_table_text(table, NULL);
        break;
    }
}

/* A name is a piece of the query where that gives none: its line breaks, and what would steer a
 * terminal, become blanks. free(). */
static char *clean_name(const char *name)
{
    char *const copy = strdup(name), *at;

    for (at = copy; copy != NULL && *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = ' ';
    return copy;
}

/* Columns by the first row: what is text there stands on the left. */
static void set_columns(ridge_column *columns, char **names, size_t count, ridge_ledger_rows *rows,
                        bool has_row)
{
    size_t i;

    for (i = 0; i < count; i++) {
        names[i] = clean_name(ridge_ledger_rows_column_name(rows, i));
        columns[i].key = names[i] != NULL ? names[i] : "";
        columns[i].title = columns[i].key;
        columns[i].narrowest = 8;
        columns[i].is_text = !has_row || ridge_ledger_rows_kind(rows, i) == RIDGE_LEDGER_IS_TEXT;
    }
}

int cli_query_print(ridge_ledger *ledger, const char *path, const char *sql,
                    const char *const *values, size_t count, ridge_format format,
                    ridge_output *output, ridge_json *json, const char *key)
{
    struct cli_query query;
    ridge_column *columns = NULL;
    char **names = NULL;
    ridge_table *table = NULL;
    size_t column_count = 0, row_count = 0, i;
    bool has_row;

    cli_query_open(&query, ledger, path, sql, values, count);
    has_row = cli_query_next(&query);
    if (query.status == RIDGE_OK) {
        column_count = ridge_ledger_rows_column_count(query.rows);
        columns = calloc(column_count + 1, sizeof(*columns));
        names = calloc(column_count + 1, sizeof(*names));
    }
    if (columns != NULL && names != NULL) {
        set_columns(columns, names, column_count, query.rows, has_row);
        table = ridge_table_create(columns, column_count);
    }
    for (; has_row && ++row_count <= LARGEST_RESULT; has_row = cli_query_next(&query))
        for (i = 0; i < column_count; i++)
            add_cell(table, query.rows, i);
    if (has_row) {
        snprintf(query.err.text, sizeof(query.err.text),
                 "the query has more than %d rows: LIMIT, or count(*)", LARGEST_RESULT);
        query.err.status = query.status = RIDGE_ERR_OVERFLOW;
    }
    if (query.status == RIDGE_OK)
        ridge_table_write(table, format, output, json, key);
    ridge_table_free(table);
    for (i = 0; names != NULL && i < column_count; i++)
        free(names[i]);
    free(names);
    free(columns);
    return cli_query_close(&query);
}

/* -- campaigns --------------------------------------------------------------------------------- */

int cli_find_campaign(ridge_ledger *ledger, const char *path, const char *name, char *id,
                      char *title, size_t title_size)
{
    /* A title before an id; of two with one title the later one. */
    static const char sql[] = "SELECT id, title FROM campaign WHERE ?1 IS NULL OR title = ?1 OR "
                              "(length(?1) >= 4 AND id GLOB "
                              "?1 || '*') ORDER BY title IS NOT ?1, created DESC, id";
    const char *const values[] = {name};
    struct cli_query query;
    bool found = false;
    int status;

    id[0] = '\0';
    title[0] = '\0';
    cli_query_open(&query, ledger, path, sql, values, 1);
    if (cli_query_next(&query)) {
        found = true;
        snprintf(id, LEDGER_ID_BYTES, "%s", cli_query_text(&query, 0));
        snprintf(title, title_size, "%s", cli_query_text(&query, 1));
    }
    status = cli_query_close(&query);
    if (status != CLI_DONE || found)
        return status;
    if (name != NULL)
        return cli_usage_error("no campaign '%s' in %s, see ridge ledger campaigns", name, path);
    cli_message(path, "no campaign yet: ridge step start --campaign TITLE CHANGE begins one");
    return CLI_NO;
}

ridge_status cli_open_step(ridge_ledger *ledger, int *number, char *build_id, ridge_error *err)
{
    static const char sql[] = "SELECT seq, build_id FROM step WHERE state = 'open' "
                              "ORDER BY created DESC, seq DESC, id LIMIT 1";
    ridge_ledger_rows *rows;
    bool has_row = false;
    ridge_status status = ridge_ledger_query(ledger, sql, NULL, 0, &rows, err);

    *number = 0;
    build_id[0] = '\0';
    if (status != RIDGE_OK)
        return status;
    status = ridge_ledger_rows_next(rows, &has_row, err);
    if (status == RIDGE_OK && has_row) {
        const char *const build = ridge_ledger_rows_text(rows, 1);

        *number = (int)ridge_ledger_rows_integer(rows, 0);
        snprintf(build_id, LEDGER_ID_BYTES, "%s", build != NULL ? build : "");
    }
    ridge_ledger_rows_free(rows);
    return status;
}

int cli_launch_of(ridge_ledger *ledger, const char *path, const char *comparisons, const char *id,
                  struct cli_launch *out)
{
    static const char sql[] =
        "SELECT coalesce(json_extract(s.extra, '$.device'),"
        " CASE WHEN g.id IS NOT NULL AND g.sm IS NULL THEN 'cpu' END),"
        " json_extract(b.extra, '$.call'), json_extract(b.extra, '$.family'), s.seed"
        " FROM comparison c JOIN session s ON s.id = c.session_id"
        " LEFT JOIN arm b ON b.id = c.arm_b LEFT JOIN env e ON e.id = s.env_id"
        " LEFT JOIN gpu g ON g.id = e.gpu_id WHERE c.id IN (%s)"
        " ORDER BY s.started DESC, s.id, c.id LIMIT 1";
    const size_t size = sizeof(sql) + strlen(comparisons);
    char *const text = malloc(size);
    const char *const values[] = {id};
    struct cli_query query;

    *out = (struct cli_launch){.seed = 1};
    if (text == NULL) {
        cli_message(path, "out of memory for a query");
        return ridge_status_exit(RIDGE_ERR_OUT_OF_MEMORY);
    }
    snprintf(text, size, sql, comparisons);
    cli_query_open(&query, ledger, path, text, values, id != NULL ? 1 : 0);
    if (cli_query_next(&query)) {
        cli_add_option(out->options, sizeof(out->options), "device", cli_query_text(&query, 0));
        cli_add_option(out->options, sizeof(out->options), "call", cli_query_text(&query, 1));
        cli_add_option(out->options, sizeof(out->options), "family", cli_query_text(&query, 2));
        if (cli_query_text(&query, 3)[0] != '\0')
            out->seed = (long long)ridge_ledger_rows_integer(query.rows, 3);
    }
    free(text);
    return cli_query_close(&query);
}

int cli_again_command(ridge_ledger *ledger, const char *path, const struct cli_again *again,
                      char *out)
{
    static const char cases[] =
        "SELECT group_concat(sweep, ';') FROM (SELECT DISTINCT k.sweep FROM v_step_case s"
        " JOIN v_case k ON k.kase_id = s.kase_id"
        " WHERE CASE WHEN ?1 THEN s.campaign_id ELSE s.step_id END = ?2 ORDER BY k.sweep)";
    const char *const values[] = {again->is_campaign ? "1" : "0", again->id};
    const char *const comparisons =
        again->is_campaign ? "SELECT comparison_id FROM v_step_case WHERE campaign_id = ?1"
                           : "SELECT comparison_id FROM v_step_case WHERE step_id = ?1";
    const size_t size = CLI_COMMAND_BYTES;
    char sweep[CLI_WORD_BYTES];
    struct cli_launch launch;
    int status = cli_query_one(ledger, path, cases, values, 2, sweep, sizeof(sweep));

    if (status == CLI_DONE)
        status = cli_launch_of(ledger, path, comparisons, again->id, &launch);
    snprintf(out, size, "ridge compare");
    if (status != CLI_DONE)
        return status;
    if (again->is_other_seed)
        snprintf(out + strlen(out), size - strlen(out), " --seed %lld", launch.seed + 1);
    if (strlen(sweep) < sizeof(sweep) - 8)
        cli_add_option(out, size, "sweep", sweep);
    snprintf(out + strlen(out), size - strlen(out), "%s", launch.options);
    if (strcmp(path, cli_ledger_path(NULL)) != 0)
        cli_add_option(out, size, "ledger", path);
    snprintf(out + strlen(out), size - strlen(out), " build:%.8s build:%.8s", again->builds[0],
             again->builds[1]);
    return CLI_DONE;
}

char *cli_ratio_text(double ratio, char *buffer, size_t size)
{
    if (isnan(ratio))
        snprintf(buffer, size, "n/a");
    else
        snprintf(buffer, size, "%.4g", ratio);
    if (!isnan(ratio) && ratio < 10 && ratio >= 0.1)
        snprintf(buffer, size, "%.4f", ratio);
    return buffer;
}
