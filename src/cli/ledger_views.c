/* SPDX-License-Identifier: Apache-2.0
 *
 * A campaign as tables: what was tried, what it brought, what stayed as it was. */
#include "ledger_views.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The rows of a query as they are, in JSON or CSV. */
static int print_rows(ridge_ledger *ledger, const char *path, const char *campaign,
                      const struct cli_output *out, const char *schema, const char *sql,
                      const char *key)
{
    const char *const values[] = {campaign};
    ridge_output *const output = cli_open(out);
    ridge_json *json = NULL;
    int status;

    if (out->format == RIDGE_FORMAT_JSON) {
        json = ridge_json_create(output);
        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "schema", schema);
    }
    status = cli_query_print(ledger, path, sql, values, 1, out->format, output, json, key);
    if (json != NULL) {
        ridge_json_end_object(json);
        ridge_json_free(json);
    }
    return cli_close(output, status);
}

static bool is_raw(const struct cli_output *out)
{
    return out->format == RIDGE_FORMAT_JSON || out->format == RIDGE_FORMAT_CSV;
}

static void add_ratio(ridge_table *table, double ratio)
{
    char text[32];

    ridge_table_text(table, isnan(ratio) ? "-" : cli_ratio_text(ratio, text, sizeof(text)));
}

/* "+-0.24 %": half the interval, in parts of the ratio. */
static void add_interval(ridge_table *table, double low, double high)
{
    char text[32];

    snprintf(text, sizeof(text), "+-%.2f %%", 50 * log(high / low));
    ridge_table_text(table, isnan(low) ? "" : text);
}

/* -- log --------------------------------------------------------------------------------------- */

static const char log_query[] =
    "SELECT seq, state, parent_seq, change, predicted_ratio, ratio, ratio_low, ratio_high, "
    "verdicts,"
    " measured_by, basis, case_count, regressed_count, reason, hypothesis, expected_metric, author,"
    " assisted_by, step_id, build_id, parent_build_id, comparison_id, metric_id, parent_metric_id,"
    " created, closed FROM v_step WHERE campaign_id = ?1 ORDER BY seq, created, step_id";
enum {
    LOG_SEQ,
    LOG_STATE,
    LOG_PARENT,
    LOG_CHANGE,
    LOG_PREDICTED,
    LOG_RATIO,
    LOG_LOW,
    LOG_HIGH,
    LOG_VERDICTS,
    LOG_BY,
    LOG_BASIS
};

static const ridge_column log_columns[] = {
    {"seq", "Step", RIDGE_UNIT_NONE, false, 0, 0},
    {"parent_seq", "From", RIDGE_UNIT_NONE, true, 0, 1},
    {"state", "State", RIDGE_UNIT_NONE, true, 0, 0},
    {"change", "Change", RIDGE_UNIT_NONE, true, 16, 0},
    {"predicted_ratio", "Predicted", RIDGE_UNIT_NONE, true, 0, 0},
    {"ratio", "Measured", RIDGE_UNIT_NONE, true, 0, 0},
    {"interval", "95 %", RIDGE_UNIT_NONE, true, 0, 2},
    {"verdicts", "Verdict", RIDGE_UNIT_NONE, true, 12, 0},
};

static ridge_table *log_table(struct cli_query *query)
{
    ridge_table *const table =
        ridge_table_create(log_columns, sizeof(log_columns) / sizeof(log_columns[0]));
    char text[64];

    while (cli_query_next(query)) {
        const double parent = cli_query_number(query, LOG_PARENT);
        const char *const by = cli_query_text(query, LOG_BY);

        ridge_table_number(table, cli_query_number(query, LOG_SEQ));
        snprintf(text, sizeof(text), "%.0f", parent);
        ridge_table_text(table, isnan(parent) ? "-" : text);
        ridge_table_text(table, strcmp(cli_query_text(query, LOG_BASIS), "none") == 0
                                    ? "forced"
                                    : cli_query_text(query, LOG_STATE));
        ridge_table_text(table, cli_query_text(query, LOG_CHANGE));
        add_ratio(table, cli_query_number(query, LOG_PREDICTED));
        add_ratio(table, cli_query_number(query, LOG_RATIO));
        add_interval(table, cli_query_number(query, LOG_LOW), cli_query_number(query, LOG_HIGH));
        ridge_table_text(table, isnan(parent)                ? "first"
                                : strcmp(by, "profile") == 0 ? "by profile"
                                : cli_query_text(query, LOG_VERDICTS)[0] != '\0'
                                    ? cli_query_text(query, LOG_VERDICTS)
                                    : "not measured");
    }
    return table;
}

/* Why each was kept or not: sentences, which no column of a table holds. */
static int print_reasons(ridge_ledger *ledger, const char *path, const char *campaign,
                         ridge_output *output)
{
    static const char sql[] =
        "SELECT seq, CASE WHEN basis = 'none' THEN 'kept without a measurement' ELSE state END, "
        "reason,"
        " hypothesis FROM step WHERE campaign_id = ?1 AND (reason IS NOT NULL OR basis = 'none')"
        " ORDER BY seq, created, id";
    const char *const values[] = {campaign};
    struct cli_query query;
    char first[64];
    bool any = false;

    cli_query_open(&query, ledger, path, sql, values, 1);
    while (cli_query_next(&query)) {
        if (!any)
            ridge_output_text(output, "\n");
        any = true;
        snprintf(first, sizeof(first), "%4.0f  %s: ", cli_query_number(&query, 0),
                 cli_query_text(&query, 1));
        ridge_output_wrap(output, 6, first, cli_query_text(&query, 2));
    }
    return cli_query_close(&query);
}

/* -- the whole campaign ------------------------------------------------------------------------ */

/* The kept steps multiplied. */
static int print_product(ridge_ledger *ledger, const char *path, const char *campaign,
                         ridge_output *output)
{
    static const char sql[] = "SELECT product, unknown_count, depth, product_low_factor,"
                              " (SELECT group_concat(seq, ', ') FROM (SELECT seq FROM "
                              "v_unconfirmed WHERE campaign_id = ?1"
                              "  ORDER BY seq)), (SELECT group_concat(DISTINCT measured_by) FROM "
                              "v_chain WHERE campaign_id = ?1)"
                              " FROM v_chain WHERE campaign_id = ?1 AND depth = 0";
    const char *const values[] = {campaign};
    char ratio[32], factor[32];
    struct cli_query query;

    cli_query_open(&query, ledger, path, sql, values, 1);
    if (cli_query_next(&query) && cli_query_text(&query, 5)[0] != '\0') {
        const double product = cli_query_number(&query, 0), low = cli_query_number(&query, 3);

        ridge_output_format(output, "kept steps multiplied: %s",
                            cli_ratio_text(product, ratio, sizeof(ratio)));
        if (!isnan(low) && low < 1)
            ridge_output_format(output, " +-%.1f %%", 100 * (1 / low - 1));
        ridge_output_format(
            output, " of the first step's time (%s), by %s",
            ridge_number_text(1 / product, RIDGE_UNIT_RATIO, factor, sizeof(factor)),
            strchr(cli_query_text(&query, 5), ',') != NULL ? "comparisons and profiles"
            : cli_query_text(&query, 5)[0] == 'p'          ? "profiles"
                                                           : "comparisons");
        if (cli_query_number(&query, 1) > 0)
            ridge_output_format(output, "; %.0f of them not measured", cli_query_number(&query, 1));
        ridge_output_text(output, "\n");
        if (cli_query_text(&query, 4)[0] != '\0')
            ridge_output_format(output, "not confirmed with another seed: step %s\n",
                                cli_query_text(&query, 4));
    }
    return cli_query_close(&query);
}

/* First against last build: the claim of a campaign, or the command that measures it. */
static int print_end_to_end(ridge_ledger *ledger, const char *path, const char *campaign,
                            ridge_output *output)
{
    static const char sql[] =
        "SELECT e.first_build_id, e.last_build_id, exp(e.ln_ratio), exp(e.lo), exp(e.hi), "
        "e.verdict,"
        " c.text, e.comparison_id, e.gpu, e.first_seq, e.last_seq FROM v_end_to_end e"
        " LEFT JOIN v_case c ON c.kase_id = e.kase_id"
        " WHERE e.campaign_id = ?1 AND e.first_seq <> e.last_seq ORDER BY c.text, e.gpu";
    const char *const values[] = {campaign};
    char ratio[32], low[32], high[32], command[CLI_COMMAND_BYTES];
    struct cli_query query;
    int count = 0;

    cli_query_open(&query, ledger, path, sql, values, 1);
    while (cli_query_next(&query)) {
        if (cli_query_text(&query, 7)[0] == '\0') {
            const struct cli_again again = {
                true, false, campaign, {cli_query_text(&query, 0), cli_query_text(&query, 1)}};

            if (again.builds[0][0] != '\0' && again.builds[1][0] != '\0' &&
                cli_again_command(ledger, path, &again, command) == CLI_DONE)
                ridge_output_format(output, "not measured end to end: %s\n", command);
            continue;
        }
        if (count++ == 0)
            ridge_output_format(output, "step %.0f against step %.0f in one session:\n",
                                cli_query_number(&query, 9), cli_query_number(&query, 10));
        ridge_output_format(output, "  %s [%s, %s]  %s  %s, %s  (%.8s)\n",
                            cli_ratio_text(cli_query_number(&query, 2), ratio, sizeof(ratio)),
                            cli_ratio_text(cli_query_number(&query, 3), low, sizeof(low)),
                            cli_ratio_text(cli_query_number(&query, 4), high, sizeof(high)),
                            cli_query_text(&query, 5), cli_query_text(&query, 6),
                            cli_query_text(&query, 8), cli_query_text(&query, 7));
    }
    return cli_query_close(&query);
}

static int print_title(ridge_ledger *ledger, const char *path, const char *campaign,
                       ridge_output *output)
{
    static const char sql[] =
        "SELECT title, goal, (SELECT count(*) FROM step WHERE campaign_id = ?1),"
        " (SELECT count(*) FROM step WHERE campaign_id = ?1 AND state = 'kept'),"
        " (SELECT count(*) FROM step WHERE campaign_id = ?1 AND state = 'rejected')"
        " FROM campaign WHERE id = ?1";
    const char *const values[] = {campaign};
    struct cli_query query;

    cli_query_open(&query, ledger, path, sql, values, 1);
    if (cli_query_next(&query)) {
        const double steps = cli_query_number(&query, 2);

        ridge_output_styled(output, RIDGE_STYLE_STRONG, cli_query_text(&query, 0));
        ridge_output_format(output, ": %.0f step%s, %.0f kept, %.0f rejected\n", steps,
                            steps == 1 ? "" : "s", cli_query_number(&query, 3),
                            cli_query_number(&query, 4));
        if (cli_query_text(&query, 1)[0] != '\0')
            ridge_output_format(output, "goal: %s\n", cli_query_text(&query, 1));
    }
    return cli_query_close(&query);
}

static int log_text(ridge_ledger *ledger, const char *path, const char *campaign,
                    const struct cli_output *out)
{
    const char *const values[] = {campaign};
    ridge_output *const output = cli_open(out);
    const bool is_text = out->format == RIDGE_FORMAT_TEXT;
    struct cli_query query;
    ridge_table *table;
    int status;

    status = is_text ? print_title(ledger, path, campaign, output) : CLI_DONE;
    if (status != CLI_DONE)
        return cli_close(output, status);
    if (is_text)
        ridge_output_text(output, "\n");
    cli_query_open(&query, ledger, path, log_query, values, 1);
    table = log_table(&query);
    status = cli_query_close(&query);
    if (status == CLI_DONE)
        ridge_table_write(table, out->format, output, NULL, NULL);
    ridge_table_free(table);
    if (status == CLI_DONE && is_text) {
        status = print_reasons(ledger, path, campaign, output);
        ridge_output_text(output,
                          "\nratio: time / time of the step it starts from; below 1 is faster\n");
    }
    if (status == CLI_DONE && is_text) {
        status = print_product(ledger, path, campaign, output);
    }
    if (status == CLI_DONE && is_text)
        status = print_end_to_end(ledger, path, campaign, output);
    return cli_close(output, status);
}

int cli_ledger_log(ridge_ledger *ledger, const char *path, const char *campaign,
                   const struct cli_output *out)
{
    return is_raw(out)
               ? print_rows(ledger, path, campaign, out, "ridge-ledger-log/1", log_query, "steps")
               : log_text(ledger, path, campaign, out);
}

/* -- chain ------------------------------------------------------------------------------------- */

static const char chain_query[] =
    "SELECT seq, change, predicted_ratio, ratio, ratio_low, ratio_high, product, unknown_count,"
    " measured_by, verdicts, build_id, step_id, comparison_id FROM v_chain WHERE campaign_id = ?1"
    " ORDER BY depth DESC";

static const ridge_column chain_columns[] = {
    {"seq", "Step", RIDGE_UNIT_NONE, false, 0, 0},
    {"change", "Change", RIDGE_UNIT_NONE, true, 14, 0},
    {"predicted_ratio", "Predicted", RIDGE_UNIT_NONE, true, 0, 2},
    {"ratio", "To parent", RIDGE_UNIT_NONE, true, 0, 0},
    {"interval", "95 %", RIDGE_UNIT_NONE, true, 0, 1},
    {"product", "To first", RIDGE_UNIT_NONE, true, 0, 0},
    {"measured_by", "By", RIDGE_UNIT_NONE, true, 0, 3},
    {"build_id", "Build", RIDGE_UNIT_NONE, true, 0, 4},
};

int cli_ledger_chain(ridge_ledger *ledger, const char *path, const char *campaign,
                     const struct cli_output *out)
{
    const char *const values[] = {campaign};
    struct cli_query query;
    ridge_output *output;
    ridge_table *table;
    char id[16];
    int status;

    if (is_raw(out))
        return print_rows(ledger, path, campaign, out, "ridge-ledger-chain/1", chain_query,
                          "steps");
    output = cli_open(out);
    table = ridge_table_create(chain_columns, sizeof(chain_columns) / sizeof(chain_columns[0]));
    cli_query_open(&query, ledger, path, chain_query, values, 1);
    while (cli_query_next(&query)) {
        ridge_table_number(table, cli_query_number(&query, 0));
        ridge_table_text(table, cli_query_text(&query, 1));
        add_ratio(table, cli_query_number(&query, 2));
        add_ratio(table, cli_query_number(&query, 3));
        add_interval(table, cli_query_number(&query, 4), cli_query_number(&query, 5));
        add_ratio(table,
                  cli_query_number(&query, 7) > 0 ? (double)NAN : cli_query_number(&query, 6));
        ridge_table_text(table, cli_query_text(&query, 8));
        ridge_table_text(table, cli_query_id(&query, 10, id, sizeof(id)));
    }
    status = cli_query_close(&query);
    if (status == CLI_DONE)
        ridge_table_write(table, out->format, output, NULL, NULL);
    ridge_table_free(table);
    if (status == CLI_DONE && out->format == RIDGE_FORMAT_TEXT) {
        ridge_output_text(output, "\n");
        status = print_product(ledger, path, campaign, output);
        if (status == CLI_DONE)
            status = print_end_to_end(ledger, path, campaign, output);
    }
    return cli_close(output, status);
}

/* -- cases ------------------------------------------------------------------------------------- */

/* What a view of cases needs besides its query: one sentence for an empty result. */
struct case_view {
    const char *schema, *sql, *key;
    const ridge_column *columns;
    size_t column_count;
    const char *none, *note;
    bool says_no; /* exit with 1 when there are rows */
};

static void add_typed(ridge_table *table, struct cli_query *query, size_t column,
                      const ridge_column *shown)
{
    char text[32];

    if (strcmp(shown->key, "comparison_id") == 0 || strcmp(shown->key, "build_id") == 0)
        ridge_table_text(table, cli_query_id(query, column, text, 16));
    else if (strncmp(shown->key, "ratio", 5) == 0)
        add_ratio(table, cli_query_number(query, column));
    else if (shown->is_text)
        ridge_table_text(table, ridge_ledger_rows_text(query->rows, column));
    else
        ridge_table_number(table, cli_query_number(query, column));
}

static int print_cases(ridge_ledger *ledger, const char *path, const char *campaign,
                       const struct cli_output *out, const struct case_view *view)
{
    const char *const values[] = {campaign};
    ridge_output *const output = is_raw(out) ? NULL : cli_open(out);
    ridge_table *const table = ridge_table_create(view->columns, view->column_count);
    struct cli_query query;
    size_t i, count;
    int status;

    cli_query_open(&query, ledger, path, view->sql, values, 1);
    while (cli_query_next(&query))
        for (i = 0; i < view->column_count; i++)
            add_typed(table, &query, i, &view->columns[i]);
    status = cli_query_close(&query);
    count = ridge_table_row_count(table);
    if (is_raw(out)) {
        if (status == CLI_DONE)
            status = print_rows(ledger, path, campaign, out, view->schema, view->sql, view->key);
    } else if (status == CLI_DONE && count == 0 && out->format == RIDGE_FORMAT_TEXT) {
        ridge_output_format(output, "%s\n", view->none);
    } else if (status == CLI_DONE) {
        ridge_table_write(table, out->format, output, NULL, NULL);
        if (view->note != NULL && out->format == RIDGE_FORMAT_TEXT)
            ridge_output_format(output, "\n%s\n", view->note);
    }
    ridge_table_free(table);
    if (!is_raw(out))
        status = cli_close(output, status);
    return status == CLI_DONE && view->says_no && count > 0 ? CLI_NO : status;
}

#define COUNT(columns) (sizeof(columns) / sizeof((columns)[0]))

int cli_ledger_best(ridge_ledger *ledger, const char *path, const char *campaign,
                    const struct cli_output *out)
{
    static const ridge_column columns[] = {
        {"case", "Case", RIDGE_UNIT_NONE, true, 16, 0},
        {"gpu", "GPU", RIDGE_UNIT_NONE, true, 6, 1},
        {"ns", "Time", RIDGE_UNIT_NS, false, 0, 0},
        {"seq", "Step", RIDGE_UNIT_NONE, false, 0, 0},
        {"state", "State", RIDGE_UNIT_NONE, true, 0, 2},
        {"kernel", "Kernel", RIDGE_UNIT_NONE, true, 10, 0},
        {"build_id", "Build", RIDGE_UNIT_NONE, true, 0, 0},
    };
    static const struct case_view view = {
        "ridge-ledger-best/1",
        /* A plug-in without a family has cases by the name of its baseline. Those of one shape that a
         * build was measured on are one case, whatever it was measured against. */
        "WITH RECURSIVE times AS MATERIALIZED (SELECT p.*, c.sweep FROM v_pareto p"
        " LEFT JOIN v_case c ON c.kase_id = p.kase_id"
        " WHERE p.campaign_id = ?1 AND p.ns IS NOT NULL),"
        " near AS MATERIALIZED (SELECT DISTINCT a.kase_id AS one, b.kase_id AS other"
        "  FROM (SELECT DISTINCT build_id, gpu, sweep, kase_id FROM times) a"
        "  JOIN (SELECT DISTINCT build_id, gpu, sweep, kase_id FROM times) b"
        "  ON b.build_id = a.build_id AND b.gpu IS a.gpu AND b.sweep = a.sweep),"
        " same(one, other) AS (SELECT one, other FROM near"
        "  UNION SELECT s.one, n.other FROM same s JOIN near n ON n.one = s.other),"
        " shape AS MATERIALIZED (SELECT one AS kase_id, min(other) AS id FROM same GROUP BY one)"
        " SELECT coalesce(c.text, 'n/a') AS \"case\", p.gpu, p.ns, p.seq, p.state, b.kernel, "
        "p.build_id,"
        " p.comparison_id FROM (SELECT t.*, row_number() OVER (PARTITION BY coalesce(h.id, "
        "t.kase_id), t.gpu ORDER BY t.ns, t.seq,"
        " t.build_id) AS nth FROM times t LEFT JOIN shape h ON h.kase_id = t.kase_id) p"
        " JOIN build b ON b.id = p.build_id LEFT JOIN v_case c ON c.kase_id = p.kase_id"
        " WHERE p.nth = 1 ORDER BY 1, 2",
        "cases", columns, COUNT(columns), "no case has been measured",
        "times of different sessions differ by about 1 %: ridge compare decides between close ones",
        false};

    return print_cases(ledger, path, campaign, out, &view);
}

int cli_ledger_flat(ridge_ledger *ledger, const char *path, const char *campaign,
                    const struct cli_output *out)
{
    static const ridge_column columns[] = {
        {"case", "Case", RIDGE_UNIT_NONE, true, 16, 0},
        {"gpu", "GPU", RIDGE_UNIT_NONE, true, 6, 1},
        {"step_count", "Steps", RIDGE_UNIT_NONE, false, 0, 0},
        {"ratio_least", "Least ratio", RIDGE_UNIT_NONE, true, 0, 0},
        {"ratio_most", "Most", RIDGE_UNIT_NONE, true, 0, 0},
    };
    static const struct case_view view = {
        "ridge-ledger-flat/1",
        "SELECT c.text AS \"case\", f.gpu, f.step_count, f.ratio_least, f.ratio_most, f.kase_id"
        " FROM v_flat f LEFT JOIN v_case c ON c.kase_id = f.kase_id WHERE f.campaign_id = ?1"
        " ORDER BY 1, 2",
        "cases",
        columns,
        COUNT(columns),
        "no case stayed within delta in every step",
        "no step moved these by more than delta: they need another lever",
        false};

    return print_cases(ledger, path, campaign, out, &view);
}

int cli_ledger_regressed(ridge_ledger *ledger, const char *path, const char *campaign,
                         const struct cli_output *out)
{
    static const ridge_column columns[] = {
        {"seq", "Step", RIDGE_UNIT_NONE, false, 0, 0},
        {"state", "State", RIDGE_UNIT_NONE, true, 0, 2},
        {"change", "Change", RIDGE_UNIT_NONE, true, 12, 3},
        {"case", "Case", RIDGE_UNIT_NONE, true, 16, 0},
        {"gpu", "GPU", RIDGE_UNIT_NONE, true, 6, 1},
        {"ratio", "Ratio", RIDGE_UNIT_NONE, true, 0, 0},
        {"ratio_low", "Low", RIDGE_UNIT_NONE, true, 0, 0},
        {"ratio_high", "High", RIDGE_UNIT_NONE, true, 0, 0},
        {"comparison_id", "Record", RIDGE_UNIT_NONE, true, 0, 0},
    };
    static const struct case_view view = {
        "ridge-ledger-regressed/1",
        "SELECT r.seq, r.state, r.change, c.text AS \"case\", r.gpu, exp(r.ln_ratio) AS ratio,"
        " exp(r.lo) AS ratio_low, exp(r.hi) AS ratio_high, r.comparison_id, r.kase_id"
        " FROM v_regressed r LEFT JOIN v_case c ON c.kase_id = r.kase_id WHERE r.campaign_id = ?1"
        " ORDER BY r.ln_ratio DESC, r.comparison_id",
        "cases",
        columns,
        COUNT(columns),
        "no case of a kept or open step got slower",
        NULL,
        true};

    return print_cases(ledger, path, campaign, out, &view);
}
