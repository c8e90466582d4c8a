/* SPDX-License-Identifier: Apache-2.0 */
#include "bound_support.h"

static struct good_case {
    const char *name; /* the text */
    size_t count;
    double first, last;
} good_cases[] = {
    {"m=8192", 1, 8192, 8192},
    {"M=8192", 1, 8192, 8192},
    {"m=1,16,64", 3, 1, 64},
    {"m=1:8192:x2", 14, 1, 8192},
    {"m=1:8191:x2", 13, 1, 4096},
    {"m=8:64:+8", 8, 8, 64},
    {"m=1,2:8:x2,100", 5, 1, 100},
    {"m=0", 1, 0, 0},
    {"m=64Ki", 1, 65536, 65536},
    {"m=64ki", 1, 65536, 65536},
    {"m=2K,3k", 2, 2000, 3000},
    {"m=2M", 1, 2e6, 2e6},
    {"m=1Gi", 1, 1073741824, 1073741824},
    {"m=99999999999999999999999999", 1, 1e18, 1e18},
};

static void parses(void **state)
{
    const struct good_case *const test = *state;
    const ridge_operation *const gemm = ridge_operation_find("gemm");
    ridge_sweep sweep;
    ridge_error err;

    if (ridge_sweep_parse(gemm, test->name, strlen(test->name), &sweep, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(sweep.parameter, 0);
    assert_int_equal(sweep.count, test->count);
    assert_near(sweep.values[0], test->first, 0);
    assert_near(sweep.values[sweep.count - 1], test->last, 0);
}

static struct bad_case {
    const char *name;
    const char *message;
} bad_cases[] = {
    {"", "'' is not NAME=VALUE"},
    {"m", "'m' is not NAME=VALUE"},
    {"=1", "gemm has no parameter ''"},
    {"mm=1", "gemm has no parameter 'mm', it takes m, n, k"},
    {"m=", "m= is no whole number, list"},
    {"m=1,", "m=1, is no whole number"},
    {"m=,1", "m=,1 is no"},
    {"m=1 ", "m=1  is no"},
    {"m=1kk", "m=1kk is no"},
    {"m=1i", "m=1i is no"},
    {"m=1:", "m=1: is no"},
    {"m=1:8", "m=1:8 is no"},
    {"m=1:8:", "m=1:8: is no"},
    {"m=1:8:2", "m=1:8:2 is no"},
    {"m=1:8:x", "m=1:8:x is no"},
    {"m=1:8:x2:", "m=1:8:x2: is no"},
    {"m=1:8:x1", "does not grow"},
    {"m=0:8:x2", "does not grow"},
    {"m=1:8:+0", "does not grow"},
    {"m=8:1:x2", "does not grow"},
    {"m=1:1000:+1", "m has more than 64 values, the most of one command"},
    {"m=1:999999999999999999999:+1", "m has more than 64 values, the most of one command"},
    {"m=0x10", "m=0x10 is no"},
    {"m=\033[31m", "m=?[31m is no"},
};

static void rejects(void **state)
{
    const struct bad_case *const bad = *state;
    const ridge_operation *const gemm = ridge_operation_find("gemm");
    ridge_sweep sweep;
    ridge_error err;

    assert_int_equal(ridge_sweep_parse(gemm, bad->name, strlen(bad->name), &sweep, &err),
                     RIDGE_ERR_INVALID_ARGUMENT);
    assert_int_equal(sweep.count, 0);
    if (strstr(err.text, bad->message) == NULL)
        fail_msg("%s", err.text);
}

/* The text ends where its length says. */
static void ends_at_its_length(void **state)
{
    const ridge_operation *const gemm = ridge_operation_find("gemm");
    ridge_sweep sweep;

    assert_int_equal(ridge_sweep_parse(gemm, "m=12345", 4, &sweep, NULL), RIDGE_OK);
    assert_near(sweep.values[0], 12, 0);
    assert_int_equal(ridge_sweep_parse(gemm, "m=1ki", 4, &sweep, NULL), RIDGE_OK);
    assert_near(sweep.values[0], 1000, 0);
    (void)state;
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, parses, good_cases);
    CASES_ADD_ROWS(&list, rejects, bad_cases);
    cases_add(&list, "ends at its length", ends_at_its_length, NULL);
    return cases_run(&list, "sweep");
}
