/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of ridge-bench/1: what was imported is exported, and that imports again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ridge/ledger.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void import(ridge_ledger *ledger, const char *text, size_t size, bool must)
{
    ridge_status status = ridge_ledger_begin(ledger, NULL);
    const char *const end = text + size;
    bool any = false;

    while (status == RIDGE_OK && text < end) {
        const char *const newline = memchr(text, '\n', (size_t)(end - text));
        const size_t length = (size_t)((newline != NULL ? newline : end) - text);

        /* A refused line leaves the ones before it. */
        any = ridge_ledger_import_line(ledger, text, length, NULL) != RIDGE_OK || any;
        text += length + (newline != NULL ? 1 : 0);
    }
    status = ridge_ledger_commit(ledger, NULL);
    if (must && (any || status != RIDGE_OK))
        abort();
}

static char *export(ridge_ledger *ledger, size_t *size)
{
    char *text = NULL;
    FILE *const stream = open_memstream(&text, size);

    if (stream == NULL || ridge_ledger_export(ledger, stream, true, NULL) != RIDGE_OK)
        abort();
    fclose(stream);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    ridge_ledger *first, *second;
    char *one, *two;
    size_t one_size, two_size;

    if (ridge_ledger_open(":memory:", RIDGE_LEDGER_CREATE, &first, NULL) != RIDGE_OK ||
        ridge_ledger_open(":memory:", RIDGE_LEDGER_CREATE, &second, NULL) != RIDGE_OK)
        abort();
    import(first, (const char *)data, size_bytes, false);
    one = export(first, &one_size);
    import(second, one, one_size, true);
    two = export(second, &two_size);
    if (one_size != two_size || memcmp(one, two, one_size) != 0)
        abort();
    free(one);
    free(two);
    ridge_ledger_free(first);
    ridge_ledger_free(second);
    return 0;
}
