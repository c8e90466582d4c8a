/* SPDX-License-Identifier: Apache-2.0
 *
 * Results of other tools: whatever the text, it is refused or taken, and taking it again adds nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ridge/ledger.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static size_t exported(ridge_ledger *ledger)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const stream = open_memstream(&text, &size);

    if (stream == NULL || ridge_ledger_export(ledger, stream, false, NULL) != RIDGE_OK)
        abort();
    fclose(stream);
    free(text);
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    static ridge_ledger *ledger; /* making one takes longer than all the rest; it stays empty */
    char *const text = malloc(size_bytes + 1);
    ridge_foreign out;

    if (text == NULL || (ledger == NULL && ridge_ledger_open(":memory:", RIDGE_LEDGER_CREATE,
                                                             &ledger, NULL) != RIDGE_OK))
        abort();
    if (size_bytes > 0)
        memcpy(text, data, size_bytes);
    text[size_bytes] = '\0';
    if (ridge_ledger_begin(ledger, NULL) != RIDGE_OK)
        abort();
    if (ridge_ledger_import_foreign(ledger, text, size_bytes, "a/b.json", &out, NULL) == RIDGE_OK &&
        out.tool != NULL) {
        const size_t first = exported(ledger);

        if (ridge_ledger_import_foreign(ledger, text, size_bytes, "a/b.json", &out, NULL) !=
                RIDGE_OK ||
            exported(ledger) != first)
            abort();
    }
    ridge_ledger_rollback(ledger);
    free(text);
    return 0;
}
