/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include "base/memory.h"
#include "ridge/session.h"

static struct good_case {
    const char *name; /* the text */
    size_t count;
    const char *first, *last;
} good_cases[] = {
    {"m=3", 1, "m=3", "m=3"},
    {"m=1,16,64", 3, "m=1", "m=64"},
    {"m=1:8192:x2,n=5120,dtype=bf16", 14, "m=1,n=5120,dtype=bf16", "m=8192,n=5120,dtype=bf16"},
    {"m=8:64:+8", 8, "m=8", "m=64"},
    {"m=1,2:8:x2,100", 5, "m=1", "m=100"},
    {"m=1,2,n=3,4", 4, "m=1,n=3", "m=2,n=4"},
    {"n=64Ki,dtype=bf16,f16", 2, "n=65536,dtype=bf16", "n=65536,dtype=f16"},
    {"m=2K,layout=pad8", 1, "m=2000,layout=pad8", "m=2000,layout=pad8"},
    {"m=1:1:x2", 1, "m=1", "m=1"},
    {"m=1:1000000000000000:x1000000000", 2, "m=1", "m=1000000000"},
    {"m=0:2:+1", 3, "m=0", "m=2"},
    {"m=1:4096:+1", 4096, "m=1", "m=4096"},
};

static void expands(void **state)
{
    const struct good_case *const test = *state;
    ridge_error err;
    char **texts;
    size_t count;

    if (ridge_sweep_cases(test->name, &texts, &count, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(count, test->count);
    assert_string_equal(texts[0], test->first);
    assert_string_equal(texts[count - 1], test->last);
    ridge_sweep_cases_free(texts);
}

static struct bad_case {
    const char *name;
    const char *message;
} bad_cases[] = {
    {"", "'' is not NAME=VALUE"},
    {"m", "'m' is not NAME=VALUE"},
    {"=1", "'=' is no name of an axis"},
    {"m=", "m=: expected a value"},
    {"m=1,", "m=: expected a value"},
    {"m=1,,2", "m=: expected a value"},
    {"m=1,m=2", "axis m is given twice"},
    {"m=1:8", "m=1:8 is no range"},
    {"m=1:8:2", "m=1:8:2 is no range"},
    {"m=1:8:x", "m=1:8:x is no range"},
    {"m=1:8:x2:", "is no range"},
    {"m=1:8:x1", "does not grow"},
    {"m=0:8:x2", "does not grow"},
    {"m=1:8:+0", "does not grow"},
    {"m=8:1:x2", "does not grow"},
    {"m=1:5000:+1", "m has more than 4096 values"},
    {"m=1:999999999999999999999:+1", "is no range"},
    {"m=1:100:+1,n=1:100:+1", "more than 4096 cases"},
    {"m=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "expected a value"},
    {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=1", "is no name"},
    {"m=\033[31m:", "m=?[31m: is no range"},
};

static void rejects(void **state)
{
    const struct bad_case *const bad = *state;
    ridge_error err;
    char **texts;
    size_t count;

    assert_int_equal(ridge_sweep_cases(bad->name, &texts, &count, &err),
                     RIDGE_ERR_INVALID_ARGUMENT);
    assert_null(texts);
    assert_int_equal(count, 0);
    if (strstr(err.text, bad->message) == NULL)
        fail_msg("%s", err.text);
}

static void survives_failed_allocations(void **state)
{
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    size_t nth, count;
    char **texts;

    for (nth = 1; status == RIDGE_ERR_OUT_OF_MEMORY; nth++) {
        assert_in_range(nth, 1, 50);
        ridge_memory_fail_at(nth);
        status = ridge_sweep_cases("m=1:64:+1,n=1,2", &texts, &count, NULL);
        ridge_memory_fail_at(0);
        if (status != RIDGE_OK)
            assert_null(texts);
    }
    assert_int_equal(status, RIDGE_OK);
    assert_true(nth > 2);
    ridge_sweep_cases_free(texts);
    (void)state;
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, expands, good_cases);
    CASES_ADD_ROWS(&list, rejects, bad_cases);
    cases_add(&list, "failed allocations", survives_failed_allocations, NULL);
    return cases_run(&list, "sweep_cases");
}
