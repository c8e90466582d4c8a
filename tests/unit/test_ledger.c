/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/record.h"
#include "ledger_support.h"
#include "ridge/ledger.h"

/* -- help -------------------------------------------------------------------------------------- */

static ridge_ledger *open_memory(void)
{
    ridge_ledger *ledger;
    ridge_error err;

    if (ridge_ledger_open(":memory:", RIDGE_LEDGER_CREATE, &ledger, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    return ledger;
}

static ridge_status import(ridge_ledger *ledger, const char *text, ridge_error *err)
{
    ridge_status status = ridge_ledger_begin(ledger, err);
    const char *at = text;

    while (status == RIDGE_OK && *at != '\0') {
        const size_t length = strcspn(at, "\n");

        status = ridge_ledger_import_line(ledger, at, length, err);
        at += length + (at[length] == '\n' ? 1 : 0);
    }
    if (status == RIDGE_OK)
        return ridge_ledger_commit(ledger, err);
    ridge_ledger_rollback(ledger);
    return status;
}

static void import_campaign(ridge_ledger *ledger, ledger_ids *ids)
{
    ridge_text text;
    ridge_error err;

    ridge_text_init(&text);
    ledger_support_campaign(&text, ids);
    if (import(ledger, text.data, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    ridge_text_release(&text);
}

/* *out is freed with free(). */
static char *export(ridge_ledger *ledger, bool with_artefacts)
{
    ridge_error err;
    char *text = NULL;
    size_t size = 0;
    FILE *const stream = open_memstream(&text, &size);

    assert_non_null(stream);
    if (ridge_ledger_export(ledger, stream, with_artefacts, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    fclose(stream);
    return text;
}

static void exported_is(ridge_ledger *ledger, const char *expected)
{
    char *const text = export(ledger, true);

    assert_string_equal(text, expected);
    free(text);
}

/* -- lines ------------------------------------------------------------------------------------- */

static void round_trip(void **state)
{
    ridge_ledger *const first = open_memory(), *const second = open_memory();
    ledger_ids ids;
    ridge_error err;
    char *text;

    import_campaign(first, &ids);
    text = export(first, true);
    import_campaign(first, &ids);
    exported_is(first, text);
    if (import(second, text, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    exported_is(second, text);
    free(text);
    ridge_ledger_free(first);
    ridge_ledger_free(second);
    (void)state;
}

int main(int argc, char **argv)
{
    static cases list;

    if (argc == 2 && strcmp(argv[1], "--rows") == 0) {
        ledger_ids ids;
        ridge_text text;

        ridge_text_init(&text);
        ledger_support_campaign(&text, &ids);
        fputs(text.data, stdout);
        ridge_text_release(&text);
        return 0;
    }
    cases_add(&list, "export imports to the same export", round_trip, NULL);
    return cases_run(&list, "ledger");
}
