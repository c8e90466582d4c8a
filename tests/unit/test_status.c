/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include "ridge/status.h"

static struct meaning {
    const char *name;
    ridge_status status;
    int exit_status;
} meanings[] = {
    {"RIDGE_OK", RIDGE_OK, 0},
    {"RIDGE_ERR_INVALID_ARGUMENT", RIDGE_ERR_INVALID_ARGUMENT, 2},
    {"RIDGE_ERR_UNSUPPORTED", RIDGE_ERR_UNSUPPORTED, 3},
    {"RIDGE_ERR_NO_DEVICE", RIDGE_ERR_NO_DEVICE, 4},
    {"RIDGE_ERR_CUDA", RIDGE_ERR_CUDA, 4},
    {"RIDGE_ERR_OUT_OF_MEMORY", RIDGE_ERR_OUT_OF_MEMORY, 5},
    {"RIDGE_ERR_INTERNAL", RIDGE_ERR_INTERNAL, 70},
    {"RIDGE_ERR_IO", RIDGE_ERR_IO, 3},
    {"RIDGE_ERR_FORMAT", RIDGE_ERR_FORMAT, 3},
    {"unknown", (ridge_status)99, 70},
};

static void means(void **state)
{
    const struct meaning *const row = *state;

    assert_string_equal(ridge_status_name(row->status), row->name);
    assert_int_equal(ridge_status_exit(row->status), row->exit_status);
}

static void writes_the_message(void **state)
{
    ridge_error err;

    (void)state;
    assert_int_equal(ridge_fail(&err, RIDGE_ERR_FORMAT, "%zu bytes, %s", (size_t)3, "a\n\x1b\x7f"),
                     RIDGE_ERR_FORMAT);
    assert_int_equal(err.status, RIDGE_ERR_FORMAT);
    assert_string_equal(err.text, "3 bytes, a???");
    assert_int_equal(ridge_fail(NULL, RIDGE_ERR_IO, "x"), RIDGE_ERR_IO);
}

static void cuts_a_long_message(void **state)
{
    char name[2000];
    ridge_error err;

    (void)state;
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    ridge_fail(&err, RIDGE_ERR_IO, "%s", name);
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, means, meanings);
    cases_add(&list, "message", writes_the_message, NULL);
    cases_add(&list, "long message", cuts_a_long_message, NULL);
    return cases_run(&list, "status");
}
