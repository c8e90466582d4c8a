/* SPDX-License-Identifier: Apache-2.0
 *
 * What unit tests share: a list of cases built from tables, where the name of a row is the name of
 * its test, and output caught in memory. */
#ifndef RIDGE_TESTS_CASES_H
#define RIDGE_TESTS_CASES_H

/* cmocka.h needs these four before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ridge/table.h"

enum { CASES_MOST = 512 };

typedef struct cases {
    struct CMUnitTest tests[CASES_MOST];
    size_t count;
} cases;

static inline void cases_add(cases *list, const char *name, CMUnitTestFunction function, void *row)
{
    if (list->count == CASES_MOST) {
        fprintf(stderr, "more than %d cases\n", CASES_MOST);
        exit(1);
    }
    list->tests[list->count++] = (struct CMUnitTest){name, function, NULL, NULL, row};
}

/* One case for each row of an array of structures that have a name. */
#define CASES_ADD_ROWS(list, function, rows)                                                       \
    do {                                                                                           \
        for (size_t row_ = 0; row_ < sizeof(rows) / sizeof((rows)[0]); row_++)                     \
            cases_add(list, (rows)[row_].name, function, &(rows)[row_]);                           \
    } while (0)

static inline int cases_run(cases *list, const char *group)
{
    return _cmocka_run_group_tests(group, list->tests, list->count, NULL, NULL);
}

/* Output caught in memory: open, print, close, compare text, free text. */
typedef struct caught {
    FILE *stream;
    char *text;
    size_t size;
    ridge_output *output;
} caught;

static inline void caught_open(caught *in, int columns, bool colour)
{
    in->text = NULL;
    in->stream = open_memstream(&in->text, &in->size);
    assert_non_null(in->stream);
    in->output = ridge_output_create(in->stream, columns, colour);
}

static inline ridge_status caught_close(caught *in, ridge_error *err)
{
    const ridge_status status = ridge_output_close(in->output, err);

    fclose(in->stream);
    return status;
}

/* Closes, expects success and exactly this text. */
static inline void caught_is(caught *in, const char *expected)
{
    assert_int_equal(caught_close(in, NULL), RIDGE_OK);
    assert_string_equal(in->text, expected);
    free(in->text);
}

#endif
