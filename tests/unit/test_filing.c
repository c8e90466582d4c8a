/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows on their way into a ledger, which others use meanwhile. */
#include "cases.h"

#include <unistd.h>

#include "filing.h"
#include "ledger_support.h"

enum { MOST_LINES = 400 };

typedef struct fixture {
    char path[64];
    ridge_ledger *ledger;
    ridge_text text;
    const char *lines[MOST_LINES];
    size_t lengths[MOST_LINES];
    size_t count;
    struct filing filing;
} fixture;

static void set_up(fixture *f)
{
    ledger_ids ids;
    char *at;
    int descriptor;

    memset(f, 0, sizeof(*f));
    strcpy(f->path, "/tmp/ridge-test-XXXXXX");
    descriptor = mkstemp(f->path);
    assert_true(descriptor >= 0);
    close(descriptor);
    assert_int_equal(ridge_ledger_open(f->path, RIDGE_LEDGER_CREATE, &f->ledger, NULL), RIDGE_OK);
    ridge_text_init(&f->text);
    ledger_support_campaign(&f->text, &ids);
    for (at = f->text.data; *at != '\0' && f->count < MOST_LINES; f->count++) {
        f->lines[f->count] = at;
        f->lengths[f->count] = strcspn(at, "\n");
        at += f->lengths[f->count] + (at[f->lengths[f->count]] == '\n');
    }
    assert_true(f->count > 20);
}

static void tear_down(fixture *f)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    char path[80];
    size_t i;

    filing_release(&f->filing);
    ridge_ledger_free(f->ledger);
    ridge_text_release(&f->text);
    for (i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "%s%s", f->path, ends[i]);
        unlink(path);
    }
}

static void add(fixture *f, size_t from, size_t to)
{
    size_t i;

    for (i = from; i < to; i++)
        assert_int_equal(filing_add(&f->filing, f->lines[i], f->lengths[i], NULL), RIDGE_OK);
}

/* Rows of the ledger, by the tables that matter here. */
static int rows(fixture *f)
{
    ridge_ledger_rows *found;
    bool has_row = false;
    int count = -1;

    assert_int_equal(
        ridge_ledger_query(f->ledger, "SELECT count(*) FROM kase", NULL, 0, &found, NULL),
        RIDGE_OK);
    if (ridge_ledger_rows_next(found, &has_row, NULL) == RIDGE_OK && has_row)
        count = atoi(ridge_ledger_rows_text(found, 0));
    ridge_ledger_rows_free(found);
    return count;
}

static void files_all(void **state)
{
    fixture f;

    (void)state;
    set_up(&f);
    assert_int_equal(filing_flush(&f.filing, f.ledger, NULL), RIDGE_OK);
    add(&f, 0, f.count);
    assert_false(filing_is_due(&f.filing));
    assert_int_equal(rows(&f), 0);
    assert_int_equal(filing_flush(&f.filing, f.ledger, NULL), RIDGE_OK);
    assert_int_equal(f.filing.size_bytes, 0);
    assert_int_equal(rows(&f), LEDGER_CASES);
    tear_down(&f);
}

/* While lines wait, the ledger is free. */
static void does_not_hold_the_lock(void **state)
{
    fixture f;
    ridge_ledger *other;

    (void)state;
    set_up(&f);
    add(&f, 0, f.count / 2);
    assert_int_equal(ridge_ledger_open(f.path, RIDGE_LEDGER_WRITE, &other, NULL), RIDGE_OK);
    assert_int_equal(ridge_ledger_begin(other, NULL), RIDGE_OK);
    assert_int_equal(ridge_ledger_commit(other, NULL), RIDGE_OK);
    ridge_ledger_free(other);
    tear_down(&f);
}

/* The last rows first: what they refer to is still to come, so nothing is filed and they wait. */
static void waits_for_what_rows_refer_to(void **state)
{
    fixture f;
    size_t waiting;

    (void)state;
    set_up(&f);
    add(&f, f.count - 10, f.count);
    waiting = f.filing.size_bytes;
    assert_int_not_equal(filing_flush(&f.filing, f.ledger, NULL), RIDGE_OK);
    assert_int_equal(f.filing.size_bytes, waiting);
    assert_int_equal(rows(&f), 0);
    add(&f, 0, f.count - 10);
    assert_int_equal(filing_flush(&f.filing, f.ledger, NULL), RIDGE_OK);
    assert_int_equal(rows(&f), LEDGER_CASES);
    tear_down(&f);
}

/* -- again, with what became known ------------------------------------------------------------- */

static struct again_case {
    const char *name, *id;
    double value;
    const char *line; /* NULL: not found from there on */
} again_cases[] = {
    {"the second", "bb", 0.25, "{\"id\":\"bb\",\"n\":1,\"holm_p\":0.25}"},
    {"behind it", "dd", 1, "{\"x\":\"id\",\"id\":\"dd\",\"holm_p\":1.0}"},
    {"it went by", "aa", 0.5, NULL},
};

static void adds_to_a_line(void **state)
{
    static const char *const lines[] = {"{\"id\":\"aa\"}", "{\"id\":\"bb\",\"n\":1}",
                                        "{\"a\":\"bb\",\"id\":\"cc\"}",
                                        "{\"x\":\"id\",\"id\":\"dd\"}"};
    struct filing filing = {0};
    size_t cursor = 0, i;
    char *line;

    (void)state;
    for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        assert_int_equal(filing_add(&filing, lines[i], strlen(lines[i]), NULL), RIDGE_OK);
    for (i = 0; i < sizeof(again_cases) / sizeof(again_cases[0]); i++) {
        const struct again_case *const row = &again_cases[i];

        assert_int_equal(
            filing_line_with(&filing, &cursor, row->id, "holm_p", row->value, &line, NULL),
            RIDGE_OK);
        if (row->line == NULL)
            assert_null(line);
        else
            assert_string_equal(line, row->line);
        free(line);
    }
    assert_true(filing_line_has(lines[2], strlen(lines[2]), "a", "bb"));
    assert_false(filing_line_has(lines[2], strlen(lines[2]), "id", "c"));
    filing_release(&filing);
}

int main(void)
{
    static cases list;

    cases_add(&list, "all rows", files_all, NULL);
    cases_add(&list, "the ledger is free meanwhile", does_not_hold_the_lock, NULL);
    cases_add(&list, "rows refer to later ones", waits_for_what_rows_refer_to, NULL);
    cases_add(&list, "a line again, with a number", adds_to_a_line, NULL);
    return cases_run(&list, "filing");
}
