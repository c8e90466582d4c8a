/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include "ridge/banks.h"

static struct good {
    const char *name;
    ridge_bank_access access;
} goods[] = {
    {"ld.1", {RIDGE_BANK_LOAD, 1, 0, false}},
    {"ld.16", {RIDGE_BANK_LOAD, 16, 0, false}},
    {"st.8", {RIDGE_BANK_STORE, 8, 0, false}},
    {"cp.async.4", {RIDGE_BANK_CP_ASYNC, 4, 0, false}},
    {"cp.async.16", {RIDGE_BANK_CP_ASYNC, 16, 0, false}},
    {"ldmatrix.x1", {RIDGE_BANK_LDMATRIX, 16, 1, false}},
    {"ldmatrix.x4.trans", {RIDGE_BANK_LDMATRIX, 16, 4, true}},
    {"stmatrix.x2.trans", {RIDGE_BANK_STMATRIX, 16, 2, true}},
};

static void reads_and_says(void **state)
{
    const struct good *const test = *state;
    ridge_bank_access got;
    char name[32];

    assert_int_equal(ridge_bank_access_read(test->name, &got, NULL), RIDGE_OK);
    assert_int_equal(got.op, test->access.op);
    assert_int_equal(got.width_bytes, test->access.width_bytes);
    assert_int_equal(got.matrix_count, test->access.matrix_count);
    assert_int_equal(got.transposed, test->access.transposed);
    assert_string_equal(ridge_bank_access_name(&got, name, sizeof(name)), test->name);
}

static struct bad {
    const char *name, *message;
} bads[] = {
    {"", "'' is no shared-memory access: expected ld.BYTES"},
    {"ld", "is no shared-memory access"},
    {"ld.", "expected 1, 2, 4, 8 or 16 bytes after 'ld.'"},
    {"ld.3", "expected 1, 2, 4, 8 or 16 bytes after 'ld.'"},
    {"ld.016", "expected 1, 2, 4, 8 or 16 bytes after 'ld.'"},
    {"ld.1616", "expected 1, 2, 4, 8 or 16 bytes after 'ld.'"},
    {"ld.4.trans", "expected nothing after 'ld.4', not '.trans'"},
    {"cp.async.2", "expected 4, 8 or 16 bytes after 'cp.async.'"},
    {"ldmatrix.x3", "expected x1, x2 or x4 after 'ldmatrix.'"},
    {"ldmatrix.x4.t", "expected '.trans' or nothing after 'ldmatrix.x4', not '.t'"},
    {"atom.4", "atomics are not modelled"},
};

static void rejects(void **state)
{
    const struct bad *const test = *state;
    ridge_bank_access got;
    ridge_error err;

    assert_int_not_equal(ridge_bank_access_read(test->name, &got, &err), RIDGE_OK);
    if (strstr(err.text, test->message) == NULL)
        fail_msg("%s", err.text);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, reads_and_says, goods);
    CASES_ADD_ROWS(&list, rejects, bads);
    return cases_run(&list, "access");
}
