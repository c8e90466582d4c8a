/* SPDX-License-Identifier: Apache-2.0
 *
 * A function that amplifies the rounding of its inputs: a softmax of single precision against one in
 * double, which says accumulate_length = n and the magnitude of its output, no more. Written right in
 * two ways it passes at every width and with every kind of values; wrong ones fail. */
#include "cases.h"

#include <math.h>

#include "base/memory.h"
#include "ridge/check.h"
#include "ridge/device.h"

typedef enum way { RIGHT, BY_EXP2, NO_MAXIMUM, SHORT_CONSTANT, SUM_IN_BF16, ONE_TERM_LESS } way;

static ridge_device *cpu;

static ridge_status describe(const ridge_kernel *self, const ridge_case *at,
                             ridge_buffer_desc *buffers, size_t *count, ridge_error *err)
{
    (void)self, (void)err;
    for (size_t i = 0; i < 2; i++) {
        buffers[i] = (ridge_buffer_desc){.role = i == 0 ? RIDGE_ROLE_OUT : RIDGE_ROLE_IN,
                                         .dtype = RIDGE_DTYPE_F32,
                                         .ndim = 2,
                                         .keeps_layout = true};
        memcpy(buffers[i].name, i == 0 ? "out" : "x", 4 - 2 * i);
        buffers[i].shape[0] = ridge_case_axis(at, "m", 1);
        buffers[i].shape[1] = ridge_case_axis(at, "n", 1);
    }
    *count = 2;
    return RIDGE_OK;
}

static ridge_status work(const ridge_kernel *self, const ridge_case *at, ridge_kernel_work *out,
                         ridge_error *err)
{
    (void)self, (void)err;
    out->accumulate_length = ridge_case_axis(at, "n", 1);
    return RIDGE_OK;
}

static float term(way how, float x, float most)
{
    static const float log2e = 1.44269504F, rough = 1.4426F;

    switch (how) {
    case BY_EXP2: /* each product is rounded: off by |x| roundings, not by |x - max| */
        return exp2f(x * log2e - most * log2e);
    case NO_MAXIMUM:
        return expf(x);
    case SHORT_CONSTANT:
        return exp2f(x * rough - most * rough);
    default:
        return expf(x - most);
    }
}

static ridge_status launch(const ridge_kernel *self, const ridge_case *at, const ridge_view *view,
                           void *state, struct CUstream_st *stream, ridge_error *err)
{
    const way how = *(const way *)self->context;
    const int64_t m = ridge_case_axis(at, "m", 1), n = ridge_case_axis(at, "n", 1);

    (void)state, (void)stream, (void)err;
    for (int64_t i = 0; i < m; i++) {
        const float *const x = (const float *)view->data[1] + i * n;
        float *const out = (float *)view->data[0] + i * n;
        float most = -INFINITY, sum = 0;

        for (int64_t j = 0; j < n; j++)
            most = fmaxf(most, x[j]);
        for (int64_t j = how == ONE_TERM_LESS && n > 2 && n % 2 == 1; j < n; j++) {
            sum += term(how, x[j], most);
            if (how == SUM_IN_BF16)
                sum = (float)ridge_dtype_round(RIDGE_DTYPE_BF16, (double)sum);
        }
        for (int64_t j = 0; j < n; j++)
            out[j] = term(how, x[j], most) / sum;
    }
    return RIDGE_OK;
}

static ridge_status reference(const ridge_kernel *self, const ridge_case *at,
                              const ridge_reference_view *view, ridge_error *err)
{
    const int64_t m = ridge_case_axis(at, "m", 1), n = ridge_case_axis(at, "n", 1);

    (void)self, (void)err;
    for (int64_t i = 0; i < m; i++) {
        const double *const x = view->in[1] + i * n;
        double most = -INFINITY, sum = 0;

        for (int64_t j = 0; j < n; j++)
            most = fmax(most, x[j]);
        for (int64_t j = 0; j < n; j++)
            sum += exp(x[j] - most);
        for (int64_t j = 0; j < n; j++) {
            view->out[0][i * n + j] = exp(x[j] - most) / sum;
            if (view->magnitude != NULL && view->magnitude[0] != NULL)
                view->magnitude[0][i * n + j] = view->out[0][i * n + j];
        }
    }
    return RIDGE_OK;
}

static void run_at(way how, int64_t n, ridge_values values, ridge_check_result *out)
{
    const ridge_kernel kernel = {.struct_size = sizeof(ridge_kernel),
                                 .name = "softmax",
                                 .describe = describe,
                                 .work = work,
                                 .launch = launch,
                                 .reference = reference,
                                 .row_axis = "m",
                                 .context = &how};
    const ridge_check_options options = {.tests = UINT64_C(1) << RIDGE_TEST_VALUES |
                                                  UINT64_C(1) << RIDGE_TEST_SCALING};
    ridge_case at;
    ridge_error err;

    ridge_case_init(&at);
    at.dtype = RIDGE_DTYPE_F32;
    at.values = values;
    ridge_case_set(&at, "m", 7, &err);
    ridge_case_set(&at, "n", n, &err);
    if (ridge_check_kernel(cpu, &kernel, &at, &options, out, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
}

/* Wherever memory ends while the reference is asked again. */
static void out_of_memory(void **state)
{
    way how = SHORT_CONSTANT;
    const ridge_kernel kernel = {.struct_size = sizeof(ridge_kernel),
                                 .name = "softmax",
                                 .describe = describe,
                                 .work = work,
                                 .launch = launch,
                                 .reference = reference,
                                 .context = &how};
    const ridge_check_options options = {.tests = UINT64_C(1) << RIDGE_TEST_SCALING};
    static ridge_check_result got;
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    ridge_case at;
    ridge_error err;

    (void)state;
    ridge_case_init(&at);
    at.dtype = RIDGE_DTYPE_F32;
    ridge_case_set(&at, "m", 3, &err);
    ridge_case_set(&at, "n", 5, &err);
    for (size_t nth = 1; status != RIDGE_OK; nth++) {
        ridge_memory_fail_at(nth);
        status = ridge_check_kernel(cpu, &kernel, &at, &options, &got, &err);
        ridge_memory_fail_at(0);
        if (status != RIDGE_OK)
            assert_int_equal(status, RIDGE_ERR_OUT_OF_MEMORY);
    }
    assert_int_equal(got.outcome, RIDGE_OUTCOME_FAIL);
}

static const int64_t widths[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 257, 769};
static const ridge_values kinds[] = {RIDGE_VALUES_NORMAL, RIDGE_VALUES_OUTLIER, RIDGE_VALUES_SORTED,
                                     RIDGE_VALUES_CONSTANT, RIDGE_VALUES_ONE_SIGN};
enum { WIDTHS = sizeof(widths) / sizeof(widths[0]), KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static struct row {
    const char *name;
    way how;
    size_t fails_least; /* of WIDTHS * KINDS cases; 0: none does */
} rows[] = {
    {"right", RIGHT, 0},
    {"right, by powers of two", BY_EXP2, 0},
    {"no maximum", NO_MAXIMUM, 12},
    {"log2(e) of five digits", SHORT_CONSTANT, 15},
    {"sum in bf16", SUM_IN_BF16, 40},
    {"a term less at odd widths", ONE_TERM_LESS, 30},
};

static void judges(void **state)
{
    const struct row *const row = *state;
    static ridge_check_result got;
    size_t failed = 0;

    for (size_t i = 0; i < WIDTHS; i++)
        for (size_t k = 0; k < KINDS; k++) {
            run_at(row->how, widths[i], kinds[k], &got);
            failed += got.outcome == RIDGE_OUTCOME_FAIL;
            if (row->fails_least == 0 && got.outcome != RIDGE_OUTCOME_PASS)
                fail_msg("n=%d, %s: %s", (int)widths[i], ridge_values_name(kinds[k]),
                         got.mismatch.cause);
        }
    if (failed < row->fails_least)
        fail_msg("%zu failed, expected at least %zu", failed, row->fails_least);
}

int main(void)
{
    static cases list;
    ridge_error err;
    int status;

    if (ridge_device_open("cpu", &cpu, &err) != RIDGE_OK)
        return 1;
    CASES_ADD_ROWS(&list, judges, rows);
    cases_add(&list, "no memory", out_of_memory, NULL);
    status = cases_run(&list, "check_condition");
    ridge_device_free(cpu);
    return status;
}
