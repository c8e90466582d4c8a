/* SPDX-License-Identifier: Apache-2.0
 *
 * The picture of a device over time. */
#include "cases.h"

#include <math.h>

#include "base/memory.h"
#include "ridge/timeline.h"
#include "trace_support.h"

static const trace_row rows[] = {
    {ROW_CALL, "cudaLaunchKernel", 0, 5000, .key = 1},
    {ROW_KERNEL, "gemm", 10000, 510000, .key = 1, .on = 7},
    {ROW_CALL, "cudaDeviceSynchronize", 6000, 520000},
    {ROW_CALL, "cudaMemcpyAsync", 600000, 605000, .key = 2},
    {ROW_COPY, "[CUDA memcpy HtoD]", 610000, 1010000, .key = 2, .on = 13, .detail = 1},
    {ROW_ANNOTATION, "a <step>", 0, 1000000},
};

struct accounts {
    ridge_trace *trace;
    ridge_timeline *timeline;
    const ridge_device_account *device;
};

static void make(struct accounts *out, const trace_row *of, size_t count)
{
    size_t device_count;

    out->trace = trace_support_make(of, count);
    assert_int_equal(ridge_timeline_create(out->trace, NULL, &out->timeline, NULL), RIDGE_OK);
    out->device = ridge_timeline_devices(out->timeline, &device_count);
    assert_int_equal(device_count, 1);
}

static void release(struct accounts *accounts)
{
    ridge_timeline_free(accounts->timeline);
    ridge_trace_free(accounts->trace);
}

/* The sum of the widths of a class's bars in the account, in pixels of 1030. */
static double bar_width(const char *text, const char *class_name)
{
    char head[64];
    const char *found;
    double width = 0;

    snprintf(head, sizeof(head), "<rect class=\"%s\"", class_name);
    found = strstr(text, head);
    assert_non_null(found);
    found = strstr(found, "width=\"");
    assert_non_null(found);
    assert_int_equal(sscanf(found, "width=\"%lf\"", &width), 1);
    return width;
}

static void draws(void **state)
{
    struct accounts accounts;
    caught in;

    make(&accounts, rows, sizeof(rows) / sizeof(rows[0]));
    caught_open(&in, 0, false);
    ridge_timeline_write_svg(accounts.trace, accounts.device, "t.json", in.output);
    assert_int_equal(caught_close(&in, NULL), RIDGE_OK);
    assert_non_null(strstr(in.text, "t.json: device 0"));
    assert_non_null(strstr(in.text, ">stream 7"));
    assert_non_null(strstr(in.text, ">stream 13<"));
    assert_non_null(strstr(in.text, ">a &lt;step&gt;<"));
    assert_non_null(strstr(in.text, "kernels 500.0 us, 50.0 %"));
    /* Half of the span is a kernel, four tenths are copies. */
    assert_true(fabs(bar_width(in.text, "k0") - 515) < 1);
    assert_true(fabs(bar_width(in.text, "k1") - 412) < 1);
    assert_string_equal(in.text + in.size - strlen("</svg>\n"), "</svg>\n");
    free(in.text);
    release(&accounts);
    (void)state;
}

static char *drawn(const trace_row *of, size_t count)
{
    struct accounts accounts;
    caught in;

    make(&accounts, of, count);
    caught_open(&in, 0, false);
    ridge_timeline_write_svg(accounts.trace, accounts.device, "t", in.output);
    assert_int_equal(caught_close(&in, NULL), RIDGE_OK);
    release(&accounts);
    return in.text;
}

/* In a box stands a name, or enough of it to know it; "f..." is none. */
static void names_boxes(void **state)
{
    static const trace_row of[] = {
        {ROW_CALL, "cudaLaunchKernel", -10, -5, .key = 1},
        {ROW_KERNEL, "k", 0, 1000000, .key = 1},
        {ROW_NVTX, "fwd", 0, 40000},            /* 41 pixels: whole */
        {ROW_NVTX, "backward", 100000, 140000}, /* 41 pixels: not even 6 letters */
        {ROW_NVTX, "optimizer_step", 200000, 290000},
    };
    char *const text = drawn(of, sizeof(of) / sizeof(of[0]));

    (void)state;
    assert_non_null(strstr(text, ">fwd</text>"));
    assert_null(strstr(text, ">b...</text>"));
    assert_null(strstr(text, ">backward</text>"));
    assert_non_null(strstr(text, "backward</title>"));
    assert_non_null(strstr(text, ">optimizer...</text>"));
    free(text);
}

static void names_a_small_box(void **state)
{
    static const trace_row of[] = {
        {ROW_CALL, "cudaLaunchKernel", -10, -5, .key = 1},
        {ROW_KERNEL, "k", 0, 1000000, .key = 1},
        {ROW_NVTX, "graph step 0", 990000, 993000},
        {ROW_NVTX, "graph step 1", 994000, 995000}, /* below a pixel and a half */
    };
    char *const text = drawn(of, sizeof(of) / sizeof(of[0]));

    (void)state;
    assert_non_null(strstr(text, "text-anchor=\"end\" x=\"1165.70\""));
    assert_non_null(strstr(text, ">graph step 0</text>"));
    assert_null(strstr(text, ">graph step 1</text>"));
    free(text);
}

/* Its time is that of kernels already: the legend adds up without it. */
static void communication_is_a_part(void **state)
{
    static const trace_row of[] = {
        {ROW_KERNEL, "k", 0, 900000},
        {ROW_KERNEL, "nccl", 900000, 1000000, .flags = RIDGE_OP_COLLECTIVE},
    };
    char *const text = drawn(of, sizeof(of) / sizeof(of[0]));

    (void)state;
    assert_non_null(strstr(text, ">of kernels: communication 100.0 us, 10.0 %</text>"));
    free(text);
}

/* Ten thousand kernels make no more shapes than pixels allow. */
static void does_not_grow(void **state)
{
    enum { COUNT = 20000 };
    trace_row *const many = calloc(COUNT, sizeof(*many));
    struct accounts accounts;
    caught in;
    size_t i;

    assert_non_null(many);
    for (i = 0; i < COUNT; i++)
        many[i] = (trace_row){ROW_KERNEL, "k", (int64_t)i * 1000, (int64_t)i * 1000 + 500};
    make(&accounts, many, COUNT);
    caught_open(&in, 0, false);
    ridge_timeline_write_svg(accounts.trace, accounts.device, "t", in.output);
    assert_int_equal(caught_close(&in, NULL), RIDGE_OK);
    assert_true(in.size < 400000);
    free(in.text);
    release(&accounts);
    free(many);
    (void)state;
}

static void no_length(void **state)
{
    static const trace_row instant[] = {{ROW_KERNEL, "k", 5000, 5000}};
    struct accounts accounts;
    caught in;

    make(&accounts, instant, 1);
    caught_open(&in, 0, false);
    ridge_timeline_write_svg(accounts.trace, accounts.device, "t", in.output);
    assert_int_equal(caught_close(&in, NULL), RIDGE_OK);
    assert_null(strstr(in.text, "nan"));
    free(in.text);
    release(&accounts);
    (void)state;
}

static void out_of_memory(void **state)
{
    struct accounts accounts;
    ridge_error err;
    caught in;

    make(&accounts, rows, sizeof(rows) / sizeof(rows[0]));
    caught_open(&in, 0, false);
    ridge_memory_fail_at(1);
    ridge_timeline_write_svg(accounts.trace, accounts.device, "t", in.output);
    ridge_memory_fail_at(0);
    assert_int_equal(caught_close(&in, &err), RIDGE_ERR_OUT_OF_MEMORY);
    free(in.text);
    release(&accounts);
    (void)state;
}

int main(void)
{
    static cases list;

    cases_add(&list, "draws", draws, NULL);
    cases_add(&list, "names boxes", names_boxes, NULL);
    cases_add(&list, "names a small box", names_a_small_box, NULL);
    cases_add(&list, "communication is a part of kernels", communication_is_a_part, NULL);
    cases_add(&list, "does not grow with the trace", does_not_grow, NULL);
    cases_add(&list, "no length", no_length, NULL);
    cases_add(&list, "out of memory", out_of_memory, NULL);
    return cases_run(&list, "timeline_svg");
}
