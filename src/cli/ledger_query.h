/* SPDX-License-Identifier: Apache-2.0
 *
 * Queries of a ledger as commands make them: open, next until false, close, which prints what went
 * wrong. The queries read the views of docs/formats/ledger.md. */
#ifndef RIDGE_CLI_LEDGER_QUERY_H
#define RIDGE_CLI_LEDGER_QUERY_H

#include "ledger_option.h"

enum { LEDGER_ID_SHOWN = 8, LEDGER_ID_BYTES = 33 };

struct cli_query {
    const char *path; /* of the ledger, for messages */
    ridge_ledger_rows *rows;
    ridge_status status;
    ridge_error err;
};

void cli_query_open(struct cli_query *query, ridge_ledger *ledger, const char *path,
                    const char *sql, const char *const *values, size_t count);
bool cli_query_next(struct cli_query *query);
/* Returns 0, or an exit status after saying why. */
int cli_query_close(struct cli_query *query);

/* "" for null. */
const char *cli_query_text(struct cli_query *query, size_t column);
double cli_query_number(struct cli_query *query, size_t column);
/* The leading digits of an id; "" for null. */
const char *cli_query_id(struct cli_query *query, size_t column, char *buffer, size_t size);
/* The first column of the first row, "" when there is none; 0 or an exit status. */
int cli_query_one(ridge_ledger *ledger, const char *path, const char *sql,
                  const char *const *values, size_t count, char *out, size_t size);

/* The whole result as a table of the columns' names, or as JSON under key. */
int cli_query_print(ridge_ledger *ledger, const char *path, const char *sql,
                    const char *const *values, size_t count, ridge_format format,
                    ridge_output *output, ridge_json *json, const char *key);

/* The id of the campaign of a title or of leading digits of an id; of the one begun last for NULL.
 * Returns 0, or an exit status after saying that there is none. */
int cli_find_campaign(ridge_ledger *ledger, const char *path, const char *name, char *id,
                      char *title, size_t title_size);

/* The step that is open: its number, 0 for none, and its build, "" for none. */
ridge_status cli_open_step(ridge_ledger *ledger, int *number, char *build_id, ridge_error *err);

/* " --device cpu --call 'f(...)'" and the seed with which the latest of some comparisons was run, so that
 * a command that is printed does the same: comparisons is a query for their ids with ?1 for id. "" and
 * seed 1 when there is none. Where no device was asked for, and it was no GPU, --device cpu is added:
 * elsewhere the GPU would be the default. Returns 0 or an exit status. */
enum { CLI_LAUNCH_BYTES = 3 * CLI_WORD_BYTES };
struct cli_launch {
    char options[CLI_LAUNCH_BYTES];
    long long seed;
};
int cli_launch_of(ridge_ledger *ledger, const char *path, const char *comparisons, const char *id,
                  struct cli_launch *out);
/* "ridge compare --sweep 'm=4096,n=5120' --device cpu build:3f21a0c2 build:9ac0b1d4": two builds again on
 * the cases, and in the way, in which a step, or every step of a campaign, was compared. For another
 * seed than those before, or with the default one. More cases than fit are left out. Returns 0 or an
 * exit status. */
enum { CLI_COMMAND_BYTES = CLI_LAUNCH_BYTES + 2 * CLI_WORD_BYTES + 128 };
struct cli_again {
    bool is_campaign, is_other_seed;
    const char *id; /* of the step or campaign */
    const char *builds[2];
};
int cli_again_command(ridge_ledger *ledger, const char *path, const struct cli_again *again,
                      char *out);

/* "0.1293"; "n/a" for NAN. */
char *cli_ratio_text(double ratio, char *buffer, size_t size);

#endif
