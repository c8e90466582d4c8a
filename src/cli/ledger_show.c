/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge ledger show: one row with what it rests on and what rests on it, by the table of tables. */
#include <stdio.h>
#include <string.h>

#include "ledger_views.h"

enum { SQL_BYTES = 256, SHOWN_MOST = 8 };

/* The table of the row that begins with prefix; several or none are said. */
static int find_row(ridge_ledger *ledger, const char *path, const char *prefix,
                    const ridge_ledger_table **table, char *id)
{
    const ridge_ledger_table *candidate;
    char other[LEDGER_ID_BYTES];
    ridge_error err;
    size_t i;

    *table = NULL;
    for (i = 0; (candidate = ridge_ledger_table_at(i)) != NULL; i++) {
        if (ridge_ledger_find(ledger, candidate->name, prefix, other, &err) != RIDGE_OK) {
            if (err.status != RIDGE_ERR_INVALID_ARGUMENT || strstr(err.text, "no id") != NULL ||
                strstr(err.text, "several") != NULL)
                return cli_fail(path, &err);
            continue;
        }
        if (*table != NULL)
            return cli_usage_error("%s is the beginning of several: %.12s (%s), %.12s (%s)", prefix,
                                   id, (*table)->name, other, candidate->name);
        *table = candidate;
        memcpy(id, other, LEDGER_ID_BYTES);
    }
    if (*table != NULL)
        return CLI_DONE;
    cli_message(path, "no row %s", prefix);
    return CLI_NO;
}

static void print_value(struct cli_query *query, size_t column, const ridge_ledger_column *about,
                        ridge_output *output)
{
    char number[32];

    if (ridge_ledger_rows_kind(query->rows, column) == RIDGE_LEDGER_IS_BYTES)
        ridge_output_format(output, "  %-20s %zu bytes\n", about->name,
                            ridge_ledger_rows_bytes(query->rows, column));
    else if (about->references != NULL)
        ridge_output_format(output, "  %-20s %.12s (%s)\n", about->name,
                            cli_query_text(query, column), about->references);
    else if (about->type == RIDGE_LEDGER_NUMBER)
        ridge_output_format(output, "  %-20s %s\n", about->name,
                            ridge_number_text(cli_query_number(query, column), RIDGE_UNIT_NONE,
                                              number, sizeof(number)));
    else if (about->type == RIDGE_LEDGER_BOOL)
        ridge_output_format(output, "  %-20s %s\n", about->name,
                            cli_query_number(query, column) != 0 ? "yes" : "no");
    else {
        char label[32];

        snprintf(label, sizeof(label), "%s", about->name);
        cli_labelled(output, 23, label, cli_query_text(query, column));
    }
}

static int print_row(ridge_ledger *ledger, const char *path, const ridge_ledger_table *table,
                     const char *id, ridge_output *output)
{
    const char *const values[] = {id};
    char sql[SQL_BYTES];
    struct cli_query query;
    size_t i;

    snprintf(sql, sizeof(sql), "SELECT * FROM \"%s\" WHERE id = ?1", table->name);
    cli_query_open(&query, ledger, path, sql, values, 1);
    if (cli_query_next(&query)) {
        ridge_output_format(output, "%s %s\n", table->name, id);
        for (i = 0; i < table->column_count; i++)
            if (ridge_ledger_rows_kind(query.rows, i + 1) != RIDGE_LEDGER_IS_NULL)
                print_value(&query, i + 1, &table->columns[i], output);
        cli_labelled(output, 23, "extra", cli_query_text(&query, table->column_count + 1));
    }
    return cli_query_close(&query);
}

/* Rows of a column that name this one. */
static int print_users(ridge_ledger *ledger, const char *path, const ridge_ledger_table *table,
                       const ridge_ledger_column *column, const char *id, bool *any,
                       ridge_output *output)
{
    const char *const values[] = {id};
    char sql[SQL_BYTES], shown[16];
    struct cli_query query;
    size_t count = 0;

    snprintf(sql, sizeof(sql), "SELECT id FROM \"%s\" WHERE \"%s\" = ?1 ORDER BY id", table->name,
             column->name);
    cli_query_open(&query, ledger, path, sql, values, 1);
    while (cli_query_next(&query)) {
        if (!*any)
            ridge_output_text(output, "used by\n");
        *any = true;
        if (count++ == 0)
            ridge_output_format(output, "  %-20s", table->name);
        if (count <= SHOWN_MOST)
            ridge_output_format(output, " %s", cli_query_id(&query, 0, shown, sizeof(shown)));
    }
    if (count > SHOWN_MOST)
        ridge_output_format(output, " and %zu more", count - SHOWN_MOST);
    if (count > 0)
        ridge_output_text(output, "\n");
    return cli_query_close(&query);
}

int cli_ledger_show(ridge_ledger *ledger, const char *path, const char *prefix,
                    const struct cli_output *out)
{
    const ridge_ledger_table *table, *user;
    char id[LEDGER_ID_BYTES], sql[SQL_BYTES];
    const char *const values[] = {id};
    ridge_output *output;
    bool any = false;
    size_t i, k;
    int status = find_row(ledger, path, prefix, &table, id);

    if (status != CLI_DONE || table == NULL)
        return status;
    output = cli_open(out);
    if (out->format == RIDGE_FORMAT_JSON) {
        ridge_json *const json = ridge_json_create(output);

        snprintf(sql, sizeof(sql), "SELECT * FROM \"%s\" WHERE id = ?1", table->name);
        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "schema", "ridge-ledger-row/1");
        ridge_json_text(json, "table", table->name);
        status =
            cli_query_print(ledger, path, sql, values, 1, RIDGE_FORMAT_JSON, output, json, "rows");
        ridge_json_end_object(json);
        ridge_json_free(json);
        return cli_close(output, status);
    }
    status = print_row(ledger, path, table, id, output);
    for (i = 0; status == CLI_DONE && (user = ridge_ledger_table_at(i)) != NULL; i++)
        for (k = 0; status == CLI_DONE && k < user->column_count; k++)
            if ((user->columns[k].references != NULL &&
                 strcmp(user->columns[k].references, table->name) == 0) ||
                strcmp(user->columns[k].name, "subject_id") == 0)
                status = print_users(ledger, path, user, &user->columns[k], id, &any, output);
    return cli_close(output, status);
}
