/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include <math.h>

#include "ridge/device.h"

enum { BUFFERS_MOST = 3 };

typedef struct probe_row {
    const char *name; /* of the kernel */
    const char *at;
    double flop_count, read_bytes, written_bytes;
    bool is_exact;
} probe_row;

static probe_row probes[] = {
    {"probe:copy", "bytes=4000", 0, 4000, 4000, true},
    {"probe:copy", "bytes=4002,dtype=bf16,extra=5000,variant=1", 0, 4002, 4002, true},
    {"probe:copy", "bytes=10,dtype=u8,extra=100000", 0, 10, 10, true},
    {"probe:copy", "bytes=0,extra=100", 0, 0, 0, true},
    {"probe:read", "bytes=20000", 4096, 16384, 16, false},
    {"probe:read", "bytes=100,extra=150", 25, 100, 4, false},
    {"probe:read", "bytes=40000,layout=transposed,values=int", 9216, 36864, 36, true},
    {"probe:read", "bytes=40000,layout=reversed,values=int", 9216, 36864, 36, true},
    {"probe:fma", "iterations=7,blocks=1", 3584, 1024, 1024, false},
    {"probe:fma", "iterations=0,blocks=1,extra=5000", 0, 1024, 1024, true},
    {"probe:fma", "iterations=100,blocks=2,extra=150,variant=1", 102400, 2048, 2048, false},
    {"probe:fma", "iterations=8,blocks=1,values=int", 4096, 1024, 1024, true},
    {"probe:tiny", "blocks=3", 0, 0, 3072, true},
    {"probe:tiny", "blocks=0,extra=150", 0, 0, 0, true},
};

static const ridge_kernel *find(const char *name)
{
    const ridge_family *const family = ridge_probe_family();
    size_t i;

    for (i = 0; i < family->variant_count; i++)
        if (strcmp(family->variants[i]->name, name) == 0)
            return family->variants[i];
    fail_msg("no kernel %s", name);
    return NULL;
}

static void read_case(const char *text, ridge_case *at)
{
    ridge_error err;

    *at = ridge_probe_family()->default_case;
    if (ridge_case_parse(text, at, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
}

/* One launch and its reference, of at most BUFFERS_MOST buffers. */
typedef struct trial {
    ridge_device *device;
    ridge_buffer_desc buffers[RIDGE_KERNEL_BUFFERS];
    size_t count;
    void *memory[BUFFERS_MOST], *data[BUFFERS_MOST];
    double *in[BUFFERS_MOST], *out[BUFFERS_MOST], *plain[BUFFERS_MOST];
} trial;

static void trial_open(trial *t, const ridge_kernel *kernel, const ridge_case *at)
{
    size_t i;

    memset(t, 0, sizeof(*t));
    assert_int_equal(ridge_device_open("cpu", &t->device, NULL), RIDGE_OK);
    assert_int_equal(ridge_kernel_describe(kernel, at, t->buffers, &t->count, NULL), RIDGE_OK);
    assert_in_range(t->count, 1, BUFFERS_MOST);
    for (i = 0; i < t->count; i++) {
        const ridge_buffer_desc *const buffer = &t->buffers[i];
        const size_t elements = (size_t)ridge_buffer_elements(buffer);
        size_t k;

        assert_int_equal(ridge_device_alloc(t->device, (size_t)ridge_buffer_span_bytes(buffer),
                                            &t->memory[i], NULL),
                         RIDGE_OK);
        t->data[i] = (char *)t->memory[i] +
                     ridge_buffer_origin(buffer) * (int64_t)ridge_dtype_bytes(buffer->dtype);
        if (buffer->role == RIDGE_ROLE_IN)
            assert_int_equal(ridge_device_fill(t->device, NULL, buffer, at->values, t->data[i],
                                               at->seed + i, NULL),
                             RIDGE_OK);
        t->in[i] = calloc(elements + 1, sizeof(double));
        t->out[i] = calloc(elements + 1, sizeof(double));
        t->plain[i] = calloc(elements + 1, sizeof(double));
        for (k = 0; k < elements; k++)
            t->in[i][k] = ridge_dtype_load(buffer->dtype, t->data[i],
                                           ridge_buffer_offset(buffer, (int64_t)k));
    }
}

static void trial_close(trial *t)
{
    size_t i;

    for (i = 0; i < t->count; i++) {
        ridge_device_release(t->device, t->memory[i]);
        free(t->in[i]);
        free(t->out[i]);
        free(t->plain[i]);
    }
    ridge_device_free(t->device);
}

static void right_answer(void **state)
{
    const probe_row *const row = *state;
    const ridge_kernel *const kernel = find(row->name);
    ridge_kernel_work work;
    ridge_case at;
    trial t;
    size_t i, k;

    read_case(row->at, &at);
    assert_int_equal(ridge_kernel_work_of(kernel, &at, &work, NULL), RIDGE_OK);
    assert_true(work.flop_count == row->flop_count);
    assert_true(work.read_bytes == row->read_bytes);
    assert_true(work.written_bytes == row->written_bytes);
    trial_open(&t, kernel, &at);
    {
        const ridge_view view = {t.data, t.buffers, t.count, t.device};
        const ridge_reference_view reference = {(const double *const *)t.in, t.out, NULL, t.buffers,
                                                t.count};
        const ridge_reference_view plain = {(const double *const *)t.in, t.plain, NULL, t.buffers,
                                            t.count};

        assert_int_equal(kernel->launch(kernel, &at, &view, NULL, NULL, NULL), RIDGE_OK);
        assert_int_equal(kernel->reference(kernel, &at, &reference, NULL), RIDGE_OK);
        if (kernel->plain != NULL)
            assert_int_equal(kernel->plain(kernel, &at, &plain, NULL), RIDGE_OK);
    }
    for (i = 0; i < t.count; i++)
        for (k = 0; t.buffers[i].role == RIDGE_ROLE_OUT &&
                    k < (size_t)ridge_buffer_elements(&t.buffers[i]);
             k++) {
            const double got = ridge_dtype_load(t.buffers[i].dtype, t.data[i],
                                                ridge_buffer_offset(&t.buffers[i], (int64_t)k));

            assert_true(row->is_exact ? got == t.out[i][k]
                                      : fabs(got - t.out[i][k]) <=
                                            1e-5 * (1 + fabs(t.out[i][k])) *
                                                (1 + (double)work.accumulate_length / 100));
            if (kernel->plain != NULL)
                assert_true(fabs(t.plain[i][k] - t.out[i][k]) <= 1e-2 + 0.01 * fabs(t.out[i][k]));
        }
    trial_close(&t);
}

static void products_of_tiles(void **state)
{
    const ridge_kernel *const kernel = find("probe:mma");
    ridge_kernel_work work;
    ridge_case at;
    trial t;
    int m = 3, n = 5, k;
    double sum = 0;

    (void)state;
    read_case("iterations=10,blocks=2", &at);
    trial_open(&t, kernel, &at);
    {
        const ridge_view view = {t.data, t.buffers, t.count, t.device};
        const ridge_reference_view reference = {(const double *const *)t.in, t.out, NULL, t.buffers,
                                                t.count};
        ridge_error err;

        assert_int_equal(kernel->launch(kernel, &at, &view, NULL, NULL, &err),
                         RIDGE_ERR_UNSUPPORTED);
        assert_string_equal(err.text, "probe:mma needs a GPU");
        assert_int_equal(kernel->reference(kernel, &at, &reference, NULL), RIDGE_OK);
    }
    for (k = 0; k < 16; k++)
        sum += t.in[0][m * 16 + k] * t.in[1][n * 16 + k];
    assert_true(fabs(t.out[2][16 * 8 * 7 + m * 8 + n] - 40 * sum) < 1e-9);
    trial_close(&t);
    assert_int_equal(ridge_kernel_work_of(kernel, &at, &work, NULL), RIDGE_OK);
    assert_true(work.flop_count == 2 * 8 * 4 * 10 * 4096.0);
}

typedef struct bad_row {
    const char *name; /* the case */
} bad_row;

static bad_row bad[] = {{"variant=2"},
                        {"extra=100001"},
                        {"blocks=9999999999"},
                        {"bytes=9223372036854775807"},
                        {"iterations=9223372036854775807"}};

static void refuses_axes(void **state)
{
    const ridge_family *const family = ridge_probe_family();
    ridge_buffer_desc buffers[RIDGE_KERNEL_BUFFERS];
    ridge_kernel_work work;
    ridge_case at;
    size_t i, count;

    read_case(((const bad_row *)*state)->name, &at);
    for (i = 0; i < family->variant_count; i++) {
        const ridge_kernel *const kernel = family->variants[i];

        assert_int_equal(ridge_kernel_describe(kernel, &at, buffers, &count, NULL),
                         RIDGE_ERR_UNSUPPORTED);
        assert_int_equal(ridge_kernel_work_of(kernel, &at, &work, NULL),
                         RIDGE_ERR_UNSUPPORTED);
    }
}

int main(void)
{
    static cases list;
    size_t i;

    for (i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
        static char names[sizeof(probes) / sizeof(probes[0])][80];

        snprintf(names[i], sizeof(names[i]), "%s %s", probes[i].name, probes[i].at);
        cases_add(&list, names[i], right_answer, &probes[i]);
    }
    cases_add(&list, "products of tiles", products_of_tiles, NULL);
    CASES_ADD_ROWS(&list, refuses_axes, bad);
    return cases_run(&list, "probe");
}
