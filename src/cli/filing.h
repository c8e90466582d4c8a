/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows on their way into a ledger: collected, and filed in transactions of milliseconds, after each
 * case and every few seconds. A ledger that were locked while a kernel is measured would shut out
 * others for minutes, and a command that is killed would lose all it had. */
#ifndef RIDGE_CLI_FILING_H
#define RIDGE_CLI_FILING_H

#include <stdbool.h>
#include <stddef.h>

#include "ridge/ledger.h"
#include "ridge/status.h"

/* Starts as zero; lines that wait, each with its newline. */
struct filing {
    char *lines;
    size_t size_bytes, capacity_bytes;
    double since_s; /* when the oldest of them came, or it was tried last */
};

/* A line without its newline. */
ridge_status filing_add(struct filing *filing, const char *line, size_t length, ridge_error *err);
/* Whether lines wait for longer than they should. */
bool filing_is_due(const struct filing *filing);
/* All lines that wait, as one transaction. When it fails, nothing is filed and they wait on: rows may
 * refer to some that are still to come, another process may hold the lock. */
ridge_status filing_flush(struct filing *filing, ridge_ledger *ledger, ridge_error *err);
/* Whether a line has "key":"text", both without anything to escape. */
bool filing_line_has(const char *line, size_t length, const char *key, const char *text);
/* One of the lines, the row id of them, again with one more number: what became known when the row was
 * on its way already. *cursor (0 at first) goes forward: rows are asked for in the order of their
 * lines. *line is new, free(); NULL: no such row from there on, and *cursor stays. */
ridge_status filing_line_with(const struct filing *filing, size_t *cursor, const char *id,
                              const char *member, double value, char **line, ridge_error *err);
void filing_release(struct filing *filing);

#endif
