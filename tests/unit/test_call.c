/* SPDX-License-Identifier: Apache-2.0 */
#include "binary_support.h"

#include "arm/arm_internal.h"

static ridge_device *cpu(void)
{
    ridge_device *device;

    assert_int_equal(ridge_device_open("cpu", &device, NULL), RIDGE_OK);
    return device;
}

/* -- the signature ----------------------------------------------------------------------------- */

static struct bad {
    const char *name, *message;
} bads[] = {
    {"", "--call, column 1: expected the name of a function, found the end"},
    {"f", "column 2: expected '(', found the end"},
    {"f(", "column 3: expected stream, ptr:NAME, or a scalar such as i32:NAME, found the end"},
    {"f(word:n)",
     "column 3: expected stream, ptr:NAME, or a scalar such as i32:NAME, found 'word'"},
    {"f(i32)", "column 6: expected ':' and a name, found ')'"},
    {"f(i32:)", "column 7: expected a name, found ')'"},
    {"f(i32:n", "column 8: expected ',' or ')', found the end"},
    {"f(i32:n) x", "column 10: expected '->', with or the end, found 'x'"},
    {"f() -", "column 5: expected '->', found '-'"},
    {"f() -> f32", "column 8: expected void or i32, found 'f32'"},
    {"f(f32:eps)", "column 10: expected '=' and the value, found ')'"},
    {"f(f32:eps=x)", "column 11: expected a decimal number such as 1e-6, found 'x'"},
    {"f(i32:n=)", "column 9: expected an expression, found ')'"},
    {"f(bf16:eps=1)", "column 3: bf16 by value is passed in many ways, expected f32 or f64"},
    {"f(ptr:out)", "column 7: nothing says what 'out' is, expected ptr:out:out:bf16[m,n], or a"},
    {"f(ptr:x)", "column 7: nothing says what 'x' is, expected ptr:x:in:bf16[m,n], or a family"},
    {"f(ptr:x:input:f32[n])", "column 9: expected in, out, inout or workspace, found 'input'"},
    {"f(ptr:x:in:float7[n])", "column 12: expected one of f64 f32"},
    {"f(ptr:x:in:f32)", "column 15: expected '[' and the extents, such as [m,n], found ')'"},
    {"f(ptr:x:in:f32[n)", "column 17: expected ',' or ']', found ')'"},
    {"f(ptr:x:in:f32[1,2,3,4,5,6])", "column 26: expected ']', a buffer has at most 5 extents"},
    {"f(ptr:x:in:f32[n]=ramp)", "column 19: expected normal, int, unit"},
    {"f(ptr:x:in:f32[n], ptr:x:in:f32[n])", "column 20: there are two buffers 'x'"},
    {"f(stream, stream)", "column 11: a second stream"},
    {"f(i32:n) with m=3", "column 15: expected an axis that a parameter speaks of, found 'm'"},
    {"f(i32:n) with n=x", "column 17: expected a whole number, found 'x'"},
    {"f(i32:n) with n=3 m", "column 19: expected ',' or the end, found 'm'"},
    {"f(f32:a=1,f32:b=1,f32:c=1,f32:d=1,f32:e=1,f32:f=1,f32:g=1,f32:h=1,f32:i=1)",
     "column 67: more than 8 floating-point numbers, which are passed in registers"},
    {"f(i32:a=1,i32:b=1,i32:c=1,i32:d=1,i32:e=1,i32:f=1,i32:g=1,i32:h=1,stream)",
#if defined(__aarch64__)
     "column 67: more than 8 pointers and whole numbers, which are passed in registers"
#else
     "column 51: more than 6 pointers and whole numbers, which are passed in registers"
#endif
    },
};

static void rejects(void **state)
{
    static arm_call call;
    const struct bad *const bad = *state;
    ridge_error err = {RIDGE_OK, ""};
    ridge_arena arena;

    ridge_arena_init(&arena);
    assert_int_equal(arm_call_read(bad->name, NULL, &arena, &call, &err),
                     RIDGE_ERR_INVALID_ARGUMENT);
    ridge_arena_release(&arena);
    if (strstr(err.text, bad->message) == NULL)
        fail_msg("%s", err.text);
}

/* -- calls ------------------------------------------------------------------------------------- */

/* The function notes what it was given in its first buffer, 8 doubles. */
static struct good {
    const char *name;
    double noted[8];
} goods[] = {
    {"take_none()", {0}},
    {"take_1i(ptr:o:out:f64[8])", {1}},
    {"take_6i(ptr:o:out:f64[8], i8:a=-3, u8:b=200, i16:c=-300, i32:d=-70000, "
     "i64:e=-5000000000)",
     {-3, 200, -300, -70000, -5000000000.0}},
    {"take_8f(ptr:o:out:f64[8], f32:a=1.5, f64:b=-2.25, f32:c=3, f64:d=4.5, f32:e=-5.5, f64:f=6, "
     "f32:g=7.125, f64:h=8)",
     {1.5, -2.25, 3, 4.5, -5.5, 6, 7.125, 8}},
    {"take_mixed(f32:a=0.5, ptr:o:out:f64[8], i32:b=n*2, f64:c=2.5, ptr:null, f32:d=-4, "
     "u32:e=4294967295, stream) with n=21",
     {0.5, 42, 2.5, -1, -4, 4294967295.0, 0}},
    {"take_status(ptr:o:out:f64[8], i32:s=0) -> i32", {0}},
    {"take_status(ptr:o:out:f64[8], i32:s=7) -> void", {7}},
};

static ridge_status call_once(ridge_device *device, const char *text, double noted[8],
                              ridge_error *err)
{
    const ridge_arm_options options = {.call = text};
    ridge_buffer_desc buffers[RIDGE_KERNEL_BUFFERS];
    void *const data[] = {noted, NULL};
    ridge_view view = {data, buffers, 0, device};
    const ridge_kernel *kernel;
    void *prepared;
    ridge_case at;
    ridge_arm *arm;
    ridge_status status =
        ridge_arm_open(device, RIDGE_TEST_PLUGINS "/functions.so", &options, &arm, err);

    if (status != RIDGE_OK)
        return status;
    kernel = ridge_arm_kernel(arm);
    ridge_arm_case(arm, &at);
    assert_int_equal(ridge_kernel_describe(kernel, &at, buffers, &view.count, err), RIDGE_OK);
    assert_int_equal(ridge_kernel_prepare(kernel, &at, &view, &prepared, NULL, err), RIDGE_OK);
    status = kernel->launch(kernel, &at, &view, prepared, NULL, err);
    ridge_kernel_finish(kernel, prepared);
    ridge_arm_free(arm);
    return status;
}

static void calls(void **state)
{
    const struct good *const good = *state;
    ridge_device *const device = cpu();
    ridge_error err = {RIDGE_OK, ""};
    double noted[8] = {0};

    if (call_once(device, good->name, noted, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    for (int i = 0; i < 8; i++)
        assert_true(noted[i] == good->noted[i]);
    ridge_device_free(device);
}

static void results(void **state)
{
    ridge_device *const device = cpu();
    ridge_error err = {RIDGE_OK, ""};
    double noted[8] = {0};

    (void)state;
    assert_int_equal(
        call_once(device, "take_status(ptr:o:out:f64[8], i32:s=-7) -> i32", noted, &err),
        RIDGE_ERR_CUDA);
    assert_string_equal(err.text, "take_status() returned -7, expected 0");
    assert_int_equal(call_once(device, "take_2i(ptr:o:out:f64[8])", noted, &err),
                     RIDGE_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "exports no function 'take_2i' (a C++ function"));
    ridge_device_free(device);
}

/* Axes of expressions are those of the case; one without a value says so. */
static void axes(void **state)
{
    const ridge_arm_options options = {
        .call = "take_scaled(ptr:y:out:f32[m, n], ptr:x:in:f32[m,n]=int, f32:factor=2.5, i64:n=m*n,"
                " stream) -> i32 with n=3"};
    ridge_device *const device = cpu();
    ridge_buffer_desc buffers[RIDGE_KERNEL_BUFFERS];
    float y[6] = {0}, x[6] = {1, 2, 3, 4, 5, 6};
    void *const data[] = {y, x};
    ridge_view view = {data, buffers, 0, device};
    ridge_error err = {RIDGE_OK, ""};
    const ridge_kernel *kernel;
    void *prepared;
    ridge_case at;
    ridge_arm *arm;

    (void)state;
    assert_int_equal(
        ridge_arm_open(device, RIDGE_TEST_PLUGINS "/functions.so", &options, &arm, &err), RIDGE_OK);
    kernel = ridge_arm_kernel(arm);
    assert_string_equal(kernel->name, "take_scaled");
    ridge_arm_case(arm, &at);
    assert_int_equal(at.axis_count, 2);
    assert_int_equal(at.dtype, RIDGE_DTYPE_F32);
    assert_int_equal(ridge_kernel_describe(kernel, &at, buffers, &view.count, &err),
                     RIDGE_ERR_INVALID_ARGUMENT);
    assert_string_equal(err.text, "the axis m has no value, expected one by --case m=1024");
    assert_int_equal(ridge_case_parse("m=2", &at, NULL), RIDGE_OK);
    assert_int_equal(ridge_kernel_describe(kernel, &at, buffers, &view.count, NULL), RIDGE_OK);
    assert_int_equal(view.count, 2);
    assert_int_equal(buffers[1].shape[1], 3);
    assert_true(buffers[1].has_values && buffers[1].values == RIDGE_VALUES_SMALL_INT);
    assert_int_equal(ridge_kernel_prepare(kernel, &at, &view, &prepared, NULL, NULL), RIDGE_OK);
    assert_int_equal(kernel->launch(kernel, &at, &view, prepared, NULL, NULL), RIDGE_OK);
    ridge_kernel_finish(kernel, prepared);
    assert_float_equal(y[5], 15, 0);
    ridge_arm_free(arm);
    ridge_device_free(device);
}

static void memory_runs_out(void **state)
{
    const ridge_arm_options options = {
        .call = "take_mixed(f32:a=0.5, ptr:o:out:f64[8], i32:b=n*2, f64:c=2.5, ptr:null, f32:d=-4, "
                "u32:e=4294967295, stream) with n=21"};
    ridge_device *const device = cpu();
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    ridge_arm *arm = NULL;

    (void)state;
    for (size_t nth = 1; status == RIDGE_ERR_OUT_OF_MEMORY; nth++) {
        ridge_memory_fail_at(nth);
        status = ridge_arm_open(device, RIDGE_TEST_PLUGINS "/functions.so", &options, &arm, NULL);
        ridge_memory_fail_at(0);
        assert_true(nth < 1000);
    }
    assert_int_equal(status, RIDGE_OK);
    ridge_arm_free(arm);
    ridge_device_free(device);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, rejects, bads);
    CASES_ADD_ROWS(&list, calls, goods);
    cases_add(&list, "results and missing functions", results, NULL);
    cases_add(&list, "axes", axes, NULL);
    cases_add(&list, "memory that runs out", memory_runs_out, NULL);
    return cases_run(&list, "call");
}
