/* SPDX-License-Identifier: Apache-2.0
 *
 * Bounds by hand. */
#include "cases.h"

#include "base/memory.h"
#include "timeline/next/next_internal.h"

static const char good[] = "# least work of a call\n"
                           "\n"
                           "  norm_kernel   bytes=33554432\r\n"
                           "\"void gemm<.*> \\(int\\)\" bytes=1e6 flops=2.5e9 peak=bf16 tensor  \n"
                           "gemm|matmul flops=100 peak=fp32";

static struct found_case {
    const char *name;
    const char *demangled, *base;
    double read_bytes, flop_count;
    ridge_peak peak;
} found_cases[] = {
    {"base name", "void norm_kernel<int>(T1)", "norm_kernel", 33554432, 0, RIDGE_PEAK_NONE},
    {"demangled name, quoted", "void gemm<float> (int)", "gemm", 1e6, 2.5e9,
     RIDGE_PEAK_TENSOR_BF16},
    {"second alternative, no newline", "void matmul()", "matmul", 0, 100, RIDGE_PEAK_FP32},
};

static void finds(void **state)
{
    const struct found_case *const row = *state;
    ridge_given_bounds *bounds;
    const ridge_work *work;

    assert_int_equal(ridge_given_bounds_parse(good, sizeof(good) - 1, &bounds, NULL), RIDGE_OK);
    work = given_bounds_find(bounds, row->demangled, row->base);
    assert_non_null(work);
    assert_true(work->read_bytes == row->read_bytes);
    assert_true(work->flop_count == row->flop_count);
    assert_int_equal(work->peak, row->peak);
    ridge_given_bounds_free(bounds);
}

static void finds_none(void **state)
{
    ridge_given_bounds *bounds;

    (void)state;
    assert_int_equal(ridge_given_bounds_parse(good, sizeof(good) - 1, &bounds, NULL), RIDGE_OK);
    assert_null(given_bounds_find(bounds, "my_norm_kernel(int)", "my_norm_kernel"));
    ridge_given_bounds_free(bounds);
    assert_null(given_bounds_find(NULL, "norm_kernel", "norm_kernel"));
}

static struct bad_case {
    const char *name;
    const char *text, *message;
} bad_cases[] = {
    {"nothing but a name", "ok bytes=1\nnorm", "line 2: neither bytes=N nor flops=N"},
    {"zero", "norm bytes=0", "line 1: neither"},
    {"unknown member", "norm byte=1", "line 1: 'byte=1', expected bytes=N"},
    {"no number", "norm bytes=many", "line 1: 'bytes=many', expected a number"},
    {"negative", "norm bytes=-1", "expected a number"},
    {"infinite", "norm bytes=1e999", "expected a number"},
    {"hexadecimal", "norm bytes=0x10", "expected a number"},
    {"flops without a peak", "norm flops=1", "line 1: flops without a peak"},
    {"unknown peak", "norm flops=1 peak=bf17 tensor", "no peak 'bf17 tensor'"},
    {"bad expression", "norm( bytes=1", "line 1: expression 'norm('"},
    {"expression that takes all memory", "((a{99}){99}){99} bytes=1", "repetitions"},
    {"pluses that double", "a++++++++++++++++++++++++++++++ bytes=1", "repetition"},
    {"groups that double", "((((((((((((((((a)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+ bytes=1",
     "repetitions"},
    {"quotes that do not end", "\"norm bytes=1", "line 1: quotes that do not end"},
};

static void rejects(void **state)
{
    const struct bad_case *const row = *state;
    ridge_given_bounds *bounds;
    ridge_error err = {0};

    assert_int_equal(ridge_given_bounds_parse(row->text, strlen(row->text), &bounds, &err),
                     RIDGE_ERR_FORMAT);
    assert_null(bounds);
    if (strstr(err.text, row->message) == NULL)
        fail_msg("%s", err.text);
}

static void rejects_bytes_that_are_no_text(void **state)
{
    ridge_given_bounds *bounds;
    static char line[9000];

    (void)state;
    assert_int_equal(ridge_given_bounds_parse("a\0b bytes=1", 11, &bounds, NULL), RIDGE_ERR_FORMAT);
    memset(line, 'a', sizeof(line));
    assert_int_equal(ridge_given_bounds_parse(line, sizeof(line), &bounds, NULL), RIDGE_ERR_FORMAT);
    assert_int_equal(ridge_given_bounds_parse("", 0, &bounds, NULL), RIDGE_OK);
    ridge_given_bounds_free(bounds);
    assert_int_equal(ridge_given_bounds_read("/nonexistent/bounds", &bounds, NULL), RIDGE_ERR_IO);
    assert_null(bounds);
}

static void survives_without_memory(void **state)
{
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;

    (void)state;
    for (size_t nth = 1; status != RIDGE_OK; nth++) {
        ridge_given_bounds *bounds;

        ridge_memory_fail_at(nth);
        status = ridge_given_bounds_parse(good, sizeof(good) - 1, &bounds, NULL);
        ridge_memory_fail_at(0);
        assert_true(status == RIDGE_OK || status == RIDGE_ERR_OUT_OF_MEMORY);
        ridge_given_bounds_free(bounds);
    }
}

/* Also without memory. */
static void names_lines_of_no_use(void **state)
{
    static const char text[] = "norm.* bytes=1\nslip bytes=2\nother bytes=3\n";
    static const char json[] =
        "{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"norm_kernel\", "
        "\"pid\": 0, \"tid\": 7, \"ts\": 1, \"dur\": 2, "
        "\"args\": {\"device\": 0, \"stream\": 7}}]}";
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    ridge_given_bounds *bounds;
    ridge_trace *trace;
    const char *first = NULL;
    size_t count = 0;

    (void)state;
    assert_int_equal(ridge_given_bounds_parse(text, sizeof(text) - 1, &bounds, NULL), RIDGE_OK);
    assert_int_equal(ridge_trace_read(json, sizeof(json) - 1, "t.json", NULL, &trace, NULL),
                     RIDGE_OK);
    for (size_t nth = 1; status != RIDGE_OK; nth++) {
        ridge_memory_fail_at(nth);
        status = ridge_given_bounds_unused(bounds, trace, &count, &first, NULL);
        ridge_memory_fail_at(0);
        assert_true(status == RIDGE_OK || status == RIDGE_ERR_OUT_OF_MEMORY);
    }
    assert_int_equal(count, 2);
    assert_string_equal(first, "slip");
    ridge_trace_free(trace);
    ridge_given_bounds_free(bounds);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, finds, found_cases);
    cases_add(&list, "other names", finds_none, NULL);
    CASES_ADD_ROWS(&list, rejects, bad_cases);
    cases_add(&list, "no text", rejects_bytes_that_are_no_text, NULL);
    cases_add(&list, "lines of no use", names_lines_of_no_use, NULL);
    cases_add(&list, "without memory", survives_without_memory, NULL);
    return cases_run(&list, "given_bounds");
}
