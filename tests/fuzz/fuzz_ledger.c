/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of ridge-bench/1: what was imported is exported, and that imports again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ridge/ledger.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

/* Within a transaction of the caller. */
static void import(ridge_ledger *ledger, const char *text, size_t size, bool must)
{
    const char *const end = text + size;
    bool any = false;

    while (text < end) {
        const char *const newline = memchr(text, '\n', (size_t)(end - text));
        const size_t length = (size_t)((newline != NULL ? newline : end) - text);

        /* A refused line leaves the ones before it. */
        any = ridge_ledger_import_line(ledger, text, length, NULL) != RIDGE_OK || any;
        text += length + (newline != NULL ? 1 : 0);
    }
    if (must && any)
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

/* Making a ledger takes a hundred times as long as a few rows: two are kept, and each input is taken back.
 * Now and then an input gets two of its own, which also commit. */
static ridge_ledger *open_ledger(void)
{
    ridge_ledger *ledger;

    if (ridge_ledger_open(":memory:", RIDGE_LEDGER_CREATE, &ledger, NULL) != RIDGE_OK)
        abort();
    return ledger;
}

/* There and back. */
static void round_trip(ridge_ledger *first, ridge_ledger *second, const uint8_t *data,
                       size_t size_bytes, bool commits)
{
    char *one, *two;
    size_t one_size, two_size;

    if (ridge_ledger_begin(first, NULL) != RIDGE_OK || ridge_ledger_begin(second, NULL) != RIDGE_OK)
        abort();
    import(first, (const char *)data, size_bytes, false);
    if (commits)
        ridge_ledger_commit(first, NULL); /* rows may refer to none: then it is empty */
    one = export(first, &one_size);
    import(second, one, one_size, true);
    if (commits && ridge_ledger_commit(second, NULL) != RIDGE_OK)
        abort();
    two = export(second, &two_size);
    if (one_size != two_size || memcmp(one, two, one_size) != 0)
        abort();
    ridge_ledger_rollback(first);
    ridge_ledger_rollback(second);
    free(one);
    free(two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    static ridge_ledger *kept[2];
    static unsigned runs;

    if (runs++ % 64 == 0) {
        ridge_ledger *const first = open_ledger(), *const second = open_ledger();

        round_trip(first, second, data, size_bytes, true);
        ridge_ledger_free(first);
        ridge_ledger_free(second);
    }
    if (kept[0] == NULL) {
        kept[0] = open_ledger();
        kept[1] = open_ledger();
    }
    round_trip(kept[0], kept[1], data, size_bytes, false);
    return 0;
}
