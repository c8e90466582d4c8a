/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"
#include "trace_support.h"

static void made_from_rows(void **state)
{
    static const trace_row rows[] = {
        {ROW_KERNEL, "gemm", 7000, 9000, .key = 1, .on = 13},
        {ROW_CALL, "cudaLaunchKernel", 0, 5000, .key = 1},
        {ROW_OP, "aten::mm", 0, 6000},
    };
    ridge_trace *const trace = TRACE_OF(rows);
    const ridge_trace_op *ops;
    size_t count;

    (void)state;
    ops = ridge_trace_ops(trace, &count);
    assert_int_equal(count, 1);
    assert_int_equal(ops[0].api, 0);
    assert_string_equal(ridge_trace_name(trace, ops[0].name, NULL), "gemm");
    ridge_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(made_from_rows)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
