/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of one ledger into another: as lines, so that every id is checked on the way. */
#include "ledger_internal.h"

static ridge_status merge_row(ridge_ledger *ledger, const ridge_text *line, size_t *added,
                              size_t *present, ridge_error *err)
{
    char id[RIDGE_HASH_TEXT];
    ridge_document document;
    ridge_status status;
    bool is_new;

    status =
        ridge_document_parse_at_most(line->data, line->length, LEDGER_LINE_BYTES, &document, err);
    if (status != RIDGE_OK)
        return status;
    status = ledger_add_object(ledger, document.root, id, &is_new, err);
    ridge_document_release(&document);
    *added += status == RIDGE_OK && is_new ? 1 : 0;
    *present += status == RIDGE_OK && !is_new ? 1 : 0;
    return status;
}

static ridge_status merge_table(ridge_ledger *ledger, ridge_ledger *other,
                                const ridge_ledger_table *table, size_t *added, size_t *present,
                                ridge_error *err)
{
    sqlite3_stmt *row = NULL;
    ridge_status status = ledger_select_all(other, table, &row, err);
    int code = SQLITE_DONE;
    ridge_text line;

    ridge_text_init(&line);
    while (status == RIDGE_OK && (code = sqlite3_step(row)) == SQLITE_ROW) {
        ridge_text_clear(&line);
        status = ledger_row_line(table, row, true, &line, err);
        if (status == RIDGE_OK)
            status = merge_row(ledger, &line, added, present, err);
    }
    if (status == RIDGE_OK && code != SQLITE_DONE)
        status = ledger_fail(other, "read the ledger", err);
    sqlite3_finalize(row);
    ridge_text_release(&line);
    return status;
}

ridge_status ridge_ledger_merge(ridge_ledger *ledger, const char *other_path, size_t *added,
                                size_t *present, ridge_error *err)
{
    ridge_ledger *other;
    ridge_status status;
    bool is_own = false;
    size_t i;

    *added = 0;
    *present = 0;
    status = ridge_ledger_open(other_path, RIDGE_LEDGER_READ, &other, err);
    if (status != RIDGE_OK)
        return status;
    status = ledger_begin_own(ledger, &is_own, err);
    for (i = 0; status == RIDGE_OK && i < ridge_ledger_table_count(); i++)
        status = merge_table(ledger, other, ridge_ledger_table_at(i), added, present, err);
    status = ledger_end_own(ledger, is_own, status, err);
    ridge_ledger_free(other);
    if (status != RIDGE_OK) {
        *added = 0;
        *present = 0;
    }
    return status;
}
