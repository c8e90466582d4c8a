/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows that are filed in batches. */
#include "filing.h"

#include <stdio.h>
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

bool filing_line_has(const char *line, size_t length, const char *key, const char *text)
{
    char wanted[128];
    const size_t size = (size_t)snprintf(wanted, sizeof(wanted), "\"%s\":\"%s\"", key, text);

    for (size_t at = 0; size < sizeof(wanted) && at + size <= length; at++)
        if (line[at] == '"' && memcmp(line + at, wanted, size) == 0)
            return true;
    return false;
}

/* A number of a row always has a fraction or an exponent. */
static void write_number(char text[40], double value)
{
    snprintf(text, 40, "%.17g", value);
    if (strcspn(text, ".e") == strlen(text))
        memcpy(text + strlen(text), ".0", 3);
}

ridge_status filing_line_with(const struct filing *filing, size_t *cursor, const char *id,
                              const char *member, double value, char **line, ridge_error *err)
{
    size_t at = *cursor;

    *line = NULL;
    while (at < filing->size_bytes) {
        const char *const row = filing->lines + at;
        const size_t length =
            (size_t)((const char *)memchr(row, '\n', filing->size_bytes - at) - row);
        const size_t room = length + strlen(member) + 48;
        char number[40];

        at += length + 1;
        if (length == 0 || row[length - 1] != '}' || !filing_line_has(row, length, "id", id))
            continue;
        *line = malloc(room);
        if (*line == NULL)
            return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for a row to file");
        write_number(number, value);
        snprintf(*line, room, "%.*s,\"%s\":%s}", (int)(length - 1), row, member, number);
        *cursor = at;
        break;
    }
    return RIDGE_OK;
}

void filing_release(struct filing *filing)
{
    free(filing->lines);
    *filing = (struct filing){0};
}
