/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include <math.h>

#include "ridge/family.h"

typedef struct layout_row {
    const char *name;
    ridge_layout layout;
    ridge_role role;
    int ndim;
    int64_t shape[RIDGE_BUFFER_DIMS];
    int64_t stride[RIDGE_BUFFER_DIMS];
    int64_t span_bytes, origin; /* of f16 */
} layout_row;

static layout_row layouts[] = {
    {"scalar", RIDGE_LAYOUT_PADDED, RIDGE_ROLE_IN, 0, {0}, {0}, 2, 0},
    {"vector", RIDGE_LAYOUT_PADDED, RIDGE_ROLE_IN, 1, {5}, {1}, 10, 0},
    {"empty", RIDGE_LAYOUT_PADDED, RIDGE_ROLE_IN, 2, {3, 0}, {8, 1}, 0, 0},
    {"contiguous", RIDGE_LAYOUT_CONTIGUOUS, RIDGE_ROLE_IN, 3, {2, 3, 5}, {15, 5, 1}, 60, 0},
    {"pad8", RIDGE_LAYOUT_PADDED, RIDGE_ROLE_OUT, 3, {2, 3, 5}, {39, 13, 1}, 140, 0},
    {"transposed", RIDGE_LAYOUT_TRANSPOSED, RIDGE_ROLE_IN, 3, {2, 3, 5}, {15, 1, 3}, 60, 0},
    {"sliced", RIDGE_LAYOUT_SLICED, RIDGE_ROLE_IN, 2, {3, 5}, {10, 1}, 50, 0},
    {"offset1", RIDGE_LAYOUT_OFFSET, RIDGE_ROLE_IN, 2, {3, 5}, {5, 1}, 30, 0},
    {"broadcast", RIDGE_LAYOUT_BROADCAST, RIDGE_ROLE_IN, 2, {3, 5}, {0, 1}, 10, 0},
    {"broadcast output", RIDGE_LAYOUT_BROADCAST, RIDGE_ROLE_OUT, 2, {3, 5}, {5, 1}, 30, 0},
    {"reversed", RIDGE_LAYOUT_REVERSED, RIDGE_ROLE_IN, 2, {3, 5}, {-5, 1}, 30, 10},
    {"workspace", RIDGE_LAYOUT_PADDED, RIDGE_ROLE_WORKSPACE, 2, {3, 5}, {5, 1}, 30, 0},
};

static void strides_of_a_layout(void **state)
{
    const layout_row *const row = *state;
    ridge_buffer_desc buffer = {.role = row->role, .dtype = RIDGE_DTYPE_F16, .ndim = row->ndim};
    ridge_case at;
    int64_t index, least = 0, most = 0;

    ridge_case_init(&at);
    at.layout = row->layout;
    memcpy(buffer.shape, row->shape, sizeof(buffer.shape));
    assert_int_equal(ridge_buffers_lay_out(&at, &buffer, 1, NULL), RIDGE_OK);
    assert_memory_equal(buffer.stride, row->stride, sizeof(buffer.stride));
    assert_int_equal(ridge_buffer_span_bytes(&buffer), row->span_bytes);
    assert_int_equal(ridge_buffer_origin(&buffer), row->origin);
    for (index = 0; index < ridge_buffer_elements(&buffer); index++) {
        const int64_t offset = ridge_buffer_offset(&buffer, index);

        least = offset < least ? offset : least;
        most = offset > most ? offset : most;
    }
    assert_int_equal(least, -row->origin);
    if (row->span_bytes > 0)
        assert_int_equal(2 * (most - least + 1), row->span_bytes);
    /* A second time changes nothing. */
    assert_int_equal(ridge_buffers_lay_out(&at, &buffer, 1, NULL), RIDGE_OK);
    assert_memory_equal(buffer.stride, row->stride, sizeof(buffer.stride));
}

static void in_place_shares_strides(void **state)
{
    ridge_buffer_desc buffers[2] = {
        {.role = RIDGE_ROLE_IN, .dtype = RIDGE_DTYPE_F16, .ndim = 2, .shape = {3, 5}},
        {.role = RIDGE_ROLE_OUT,
         .dtype = RIDGE_DTYPE_F16,
         .ndim = 2,
         .shape = {3, 5},
         .alias_of = 1,
         .keeps_layout = true}};
    ridge_case at;

    (void)state;
    ridge_case_init(&at);
    at.layout = RIDGE_LAYOUT_BROADCAST;
    at.in_place = true;
    assert_int_equal(ridge_buffers_lay_out(&at, buffers, 2, NULL), RIDGE_OK);
    assert_int_equal(buffers[0].stride[0], 5); /* rows of an output are apart */
    assert_int_equal(buffers[1].stride[0], 5);
    memset(buffers[0].stride, 0, sizeof(buffers[0].stride));
    memset(buffers[1].stride, 0, sizeof(buffers[1].stride));
    at.layout = RIDGE_LAYOUT_PADDED;
    assert_int_equal(ridge_buffers_lay_out(&at, buffers, 2, NULL), RIDGE_OK);
    assert_int_equal(buffers[0].stride[0], 13);
    assert_int_equal(buffers[1].stride[0], 13);
}

typedef struct overflow_row {
    const char *name;
    ridge_layout layout;
    int ndim;
    int64_t shape[RIDGE_BUFFER_DIMS], stride[RIDGE_BUFFER_DIMS];
} overflow_row;

static overflow_row overflows[] = {
    {"product", RIDGE_LAYOUT_CONTIGUOUS, 2, {INT64_C(1) << 32, INT64_C(1) << 32}, {0}},
    {"bytes", RIDGE_LAYOUT_CONTIGUOUS, 1, {INT64_MAX / 2 + 1}, {0}},
    {"padding", RIDGE_LAYOUT_PADDED, 2, {1, INT64_MAX - 3}, {0}},
    {"sliced", RIDGE_LAYOUT_SLICED, 2, {1, INT64_MAX - 3}, {0}},
    {"own strides", RIDGE_LAYOUT_CONTIGUOUS, 2, {3, 3}, {INT64_MAX / 2, 1}},
    {"least stride", RIDGE_LAYOUT_CONTIGUOUS, 2, {3, 3}, {INT64_MIN, 1}},
    {"broadcast elements", RIDGE_LAYOUT_CONTIGUOUS, 2, {INT64_MAX, 3}, {0, 1}},
};

static void refuses_overflow(void **state)
{
    const overflow_row *const row = *state;
    ridge_buffer_desc buffer = {.name = "x", .dtype = RIDGE_DTYPE_F16, .ndim = row->ndim};
    ridge_case at;
    ridge_error err;

    ridge_case_init(&at);
    at.layout = row->layout;
    memcpy(buffer.shape, row->shape, sizeof(buffer.shape));
    memcpy(buffer.stride, row->stride, sizeof(buffer.stride));
    assert_int_equal(ridge_buffers_lay_out(&at, &buffer, 1, &err), RIDGE_ERR_OVERFLOW);
    assert_string_equal(err.text, "buffer x: its size in bytes does not fit 63 bits");
}

static void refuses_dimensions(void **state)
{
    ridge_buffer_desc buffer = {.name = "x", .dtype = RIDGE_DTYPE_F16, .ndim = 6};
    ridge_case at;
    ridge_error err;

    (void)state;
    ridge_case_init(&at);
    assert_int_equal(ridge_buffers_lay_out(&at, &buffer, 1, &err), RIDGE_ERR_INVALID_ARGUMENT);
    assert_string_equal(err.text, "buffer x: 6 dimensions, expected 0 to 5");
}

/* -- descriptions of kernels ------------------------------------------------------------------- */

typedef struct describe_row {
    const char *name;
    ridge_buffer_desc buffers[2];
    size_t count;
    ridge_status status;
    const char *message;
} describe_row;

#define GOOD                                                                                       \
    {                                                                                              \
        .name = "x", .ndim = 1, .shape = { 4 }                                                     \
    }

static describe_row descriptions[] = {
    {"good", {GOOD, {.name = "y", .role = RIDGE_ROLE_OUT, .alias_of = 1}}, 2, RIDGE_OK, NULL},
    {"its own answer", {GOOD}, 1, RIDGE_ERR_UNSUPPORTED, "no"},
    {"too many", {GOOD}, 25, RIDGE_ERR_INVALID_ARGUMENT, "kernel k: 25 buffers, at most 24"},
    {"no name",
     {{.ndim = 0}},
     1,
     RIDGE_ERR_INVALID_ARGUMENT,
     "kernel k: the name of buffer 0 is empty or has no end"},
    {"dimensions",
     {{.name = "x", .ndim = 6}},
     1,
     RIDGE_ERR_INVALID_ARGUMENT,
     "kernel k, buffer x: 6 dimensions, expected 0 to 5"},
    {"extent",
     {{.name = "x", .ndim = 1, .shape = {-4}}},
     1,
     RIDGE_ERR_INVALID_ARGUMENT,
     "kernel k, buffer x: extent 0 is -4"},
    {"later alias",
     {{.name = "x", .role = RIDGE_ROLE_OUT, .alias_of = 2}, GOOD},
     2,
     RIDGE_ERR_INVALID_ARGUMENT,
     "kernel k, buffer x: alias_of 2 is no earlier buffer"},
    {"alias of an output",
     {{.name = "x", .role = RIDGE_ROLE_OUT}, {.name = "y", .role = RIDGE_ROLE_OUT, .alias_of = 1}},
     2,
     RIDGE_ERR_INVALID_ARGUMENT,
     "kernel k, buffer y: only an output shares memory, and of an input"},
    {"dtype",
     {{.name = "x", .dtype = RIDGE_DTYPE_COUNT}},
     1,
     RIDGE_ERR_INVALID_ARGUMENT,
     "kernel k, buffer x: dtype 12, role 0 or values 0 is none"},
};

static ridge_status describe(const ridge_kernel *self, const ridge_case *at,
                             ridge_buffer_desc *buffers, size_t *count, ridge_error *err)
{
    const describe_row *const row = self->context;

    (void)at;
    if (row->status == RIDGE_ERR_UNSUPPORTED)
        return ridge_fail(err, row->status, "%s", row->message);
    memcpy(buffers, row->buffers, sizeof(row->buffers));
    *count = row->count;
    return RIDGE_OK;
}

static ridge_status launch(const ridge_kernel *self, const ridge_case *at, const ridge_view *view,
                           void *state, struct CUstream_st *stream, ridge_error *err)
{
    (void)self;
    (void)at;
    (void)view;
    (void)state;
    (void)stream;
    (void)err;
    return RIDGE_OK;
}

static void checks_a_description(void **state)
{
    describe_row *const row = *state;
    const ridge_kernel kernel = {
        .name = "k", .describe = describe, .launch = launch, .context = row};
    ridge_buffer_desc buffers[RIDGE_KERNEL_BUFFERS];
    size_t count = 99;
    ridge_case at;
    ridge_error err;

    ridge_case_init(&at);
    assert_int_equal(ridge_kernel_describe(&kernel, &at, buffers, &count, &err), row->status);
    if (row->status == RIDGE_OK) {
        assert_int_equal(count, row->count);
        assert_int_equal(buffers[0].stride[0], 1);
    } else {
        assert_int_equal(count, 0);
        assert_string_equal(err.text, row->message);
    }
}

static void what_a_kernel_lacks(void **state)
{
    const ridge_kernel kernel = {.name = "k"};
    ridge_buffer_desc buffers[RIDGE_KERNEL_BUFFERS];
    ridge_kernel_work work;
    ridge_case at;
    size_t count;
    void *prepared = &at;

    (void)state;
    ridge_case_init(&at);
    assert_int_equal(ridge_kernel_work_of(&kernel, &at, &work, NULL), RIDGE_OK);
    assert_true(work.flop_count != work.flop_count);
    assert_true(work.read_bytes != work.read_bytes);
    assert_int_equal(ridge_kernel_describe(&kernel, &at, buffers, &count, NULL),
                     RIDGE_ERR_INVALID_ARGUMENT);
    assert_int_equal(ridge_kernel_prepare(&kernel, &at, NULL, &prepared, NULL, NULL), RIDGE_OK);
    assert_null(prepared);
    ridge_kernel_finish(&kernel, prepared);
    assert_true(ridge_status_is_refusal(RIDGE_ERR_ALIAS));
    assert_false(ridge_status_is_refusal(RIDGE_ERR_CUDA));
    assert_false(ridge_status_is_refusal(RIDGE_OK));
}

static struct work_case {
    const char *name;
    ridge_kernel_work work;
    ridge_status status;
} works[] = {
    {"nothing", {0}, RIDGE_OK},
    {"unknown", {NAN, NAN, NAN, NAN, 0, 0}, RIDGE_OK},
    {"large", {1e18, 1e15, 1e15, 1e15, 1, INT64_C(1) << 40}, RIDGE_OK},
    {"less than no bytes", {0, -5, 0, 0, 0, 0}, RIDGE_ERR_INVALID_ARGUMENT},
    {"endless operations", {INFINITY, 0, 0, 0, 0, 0}, RIDGE_ERR_INVALID_ARGUMENT},
    {"footprint below 0", {0, 0, 0, -1e300, 0, 0}, RIDGE_ERR_INVALID_ARGUMENT},
    {"no such peak", {0, 0, 0, 0, 12345, 0}, RIDGE_ERR_INVALID_ARGUMENT},
    {"a peak below 0", {0, 0, 0, 0, -1, 0}, RIDGE_ERR_INVALID_ARGUMENT},
    {"a chain below 0", {0, 0, 0, 0, 0, INT64_MIN}, RIDGE_ERR_INVALID_ARGUMENT},
    {"a chain without end", {0, 0, 0, 0, 0, INT64_MAX}, RIDGE_ERR_INVALID_ARGUMENT},
};

static ridge_status say_work(const ridge_kernel *self, const ridge_case *at, ridge_kernel_work *out,
                             ridge_error *err)
{
    (void)at, (void)err;
    *out = *(const ridge_kernel_work *)self->context;
    return RIDGE_OK;
}

static void checks_work(void **state)
{
    struct work_case *const test = *state;
    const ridge_kernel kernel = {.name = "k", .work = say_work, .context = &test->work};
    ridge_kernel_work work;
    ridge_case at;

    ridge_case_init(&at);
    assert_int_equal(ridge_kernel_work_of(&kernel, &at, &work, NULL), test->status);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, strides_of_a_layout, layouts);
    cases_add(&list, "in place shares strides", in_place_shares_strides, NULL);
    CASES_ADD_ROWS(&list, refuses_overflow, overflows);
    cases_add(&list, "dimensions", refuses_dimensions, NULL);
    CASES_ADD_ROWS(&list, checks_a_description, descriptions);
    CASES_ADD_ROWS(&list, checks_work, works);
    cases_add(&list, "what a kernel lacks", what_a_kernel_lacks, NULL);
    return cases_run(&list, "buffers");
}
