/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows that are filed in batches. */
#include "filing.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double longest_wait_s = 5;

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

ridge_status filing_add(struct filing *filing, const char *line, size_t length, ridge_error *err)
{
    if (filing->capacity_bytes - filing->size_bytes <= length) {
        const size_t wanted = 2 * filing->capacity_bytes + length + 4096;
        char *const grown = realloc(filing->lines, wanted);

        if (grown == NULL)
            return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for rows to file");
        filing->lines = grown;
        filing->capacity_bytes = wanted;
    }
    if (filing->size_bytes == 0)
        filing->since_s = now_s();
    memcpy(filing->lines + filing->size_bytes, line, length);
    filing->lines[filing->size_bytes + length] = '\n';
    filing->size_bytes += length + 1;
    return RIDGE_OK;
}

bool filing_is_due(const struct filing *filing)
{
    return filing->size_bytes > 0 && now_s() - filing->since_s >= longest_wait_s;
}

ridge_status filing_flush(struct filing *filing, ridge_ledger *ledger, ridge_error *err)
{
    const char *at = filing->lines;
    const char *const end = filing->size_bytes > 0 ? at + filing->size_bytes : at;
    ridge_status status;

    if (filing->size_bytes == 0)
        return RIDGE_OK;
    status = ridge_ledger_begin(ledger, err);
    if (status == RIDGE_OK) {
        while (status == RIDGE_OK && at < end) {
            const char *const newline = memchr(at, '\n', (size_t)(end - at));

            status = ridge_ledger_import_line(ledger, at, (size_t)(newline - at), err);
            at = newline + 1;
        }
        if (status == RIDGE_OK)
            status = ridge_ledger_commit(ledger, err);
        else
            ridge_ledger_rollback(ledger);
    }
    if (status == RIDGE_OK)
        filing->size_bytes = 0;
    filing->since_s = now_s();
    return status;
}

void filing_release(struct filing *filing)
{
    free(filing->lines);
    *filing = (struct filing){0};
}
