/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of the harness and the probes on a GPU: bit for bit what the CPU device does. All
 * cases are skipped where there is no GPU. */
#include "cases.h"

#include <math.h>

#include "ridge/device.h"

enum { MEMORY_BYTES = 1 << 20 };

static ridge_device *cpu, *gpu;
static ridge_stream *stream;

#define OK(call)                                                                                   \
    do {                                                                                           \
        ridge_error error_ = {.text = ""}, *const err = &error_;                                   \
                                                                                                   \
        if ((call) != RIDGE_OK)                                                                    \
            fail_msg("%s", error_.text);                                                           \
    } while (0)

/* The same memory on both devices, and what the GPU's holds. */
typedef struct twins {
    unsigned char *on_cpu, *back;
    void *on_gpu;
} twins;

static void twins_open(twins *t)
{
    void *data;
    size_t i;

    OK(ridge_device_alloc(cpu, MEMORY_BYTES, &data, err));
    t->on_cpu = data;
    OK(ridge_device_alloc(gpu, MEMORY_BYTES, &t->on_gpu, err));
    t->back = malloc(MEMORY_BYTES);
    assert_non_null(t->back);
    for (i = 0; i < MEMORY_BYTES; i++)
        t->on_cpu[i] = (unsigned char)(i * 7 + i / 251);
    OK(ridge_device_upload(gpu, t->on_gpu, t->on_cpu, MEMORY_BYTES, err));
}

static void twins_are_equal(twins *t)
{
    OK(ridge_stream_synchronize(stream, err));
    OK(ridge_device_download(gpu, t->back, t->on_gpu, MEMORY_BYTES, err));
    assert_memory_equal(t->back, t->on_cpu, MEMORY_BYTES);
}

static void twins_close(twins *t)
{
    ridge_device_release(cpu, t->on_cpu);
    ridge_device_release(gpu, t->on_gpu);
    free(t->back);
}

static void every_value(void **state)
{
    twins t;
    int dtype, values, layout;

    (void)state;
    if (gpu == NULL)
        skip();
    twins_open(&t);
    for (dtype = 0; dtype < RIDGE_DTYPE_COUNT; dtype++)
        for (values = 0; values < RIDGE_VALUES_COUNT; values++)
            for (layout = 0; layout < RIDGE_LAYOUT_COUNT; layout++) {
                ridge_buffer_desc buffer = {
                    .dtype = (ridge_dtype)dtype, .ndim = 3, .shape = {3, 17, 129}};
                ridge_case at;
                int64_t begin;

                ridge_case_init(&at);
                at.layout = (ridge_layout)layout;
                OK(ridge_buffers_lay_out(&at, &buffer, 1, err));
                begin = (ridge_buffer_origin(&buffer) + (at.layout == RIDGE_LAYOUT_OFFSET)) *
                        (int64_t)ridge_dtype_bytes(buffer.dtype);
                OK(ridge_device_fill(cpu, NULL, &buffer, (ridge_values)values, t.on_cpu + begin, 5,
                                     err));
                OK(ridge_device_fill(gpu, stream, &buffer, (ridge_values)values,
                                     (unsigned char *)t.on_gpu + begin, 5, err));
                twins_are_equal(&t);
            }
    twins_close(&t);
}

static void words_patterns_hashes(void **state)
{
    twins t;
    size_t begin, size;

    (void)state;
    if (gpu == NULL)
        skip();
    twins_open(&t);
    for (begin = 0; begin < 20; begin += 3)
        for (size = 1; size < MEMORY_BYTES - 20; size = size * 3 + begin) {
            unsigned char *const here = t.on_cpu + begin;
            unsigned char *const there = (unsigned char *)t.on_gpu + begin;
            uint64_t expected[3], got[3];

            OK(ridge_device_set_words(cpu, NULL, here, size, 0x44332211, err));
            OK(ridge_device_set_words(gpu, stream, there, size, 0x44332211, err));
            twins_are_equal(&t);
            OK(ridge_device_pattern(cpu, NULL, here, size, 9, err));
            OK(ridge_device_pattern(gpu, stream, there, size, 9, err));
            twins_are_equal(&t);
            here[size / 2] ^= 4;
            here[size - 1] ^= 8;
            OK(ridge_device_upload(gpu, there, here, size, err));
            OK(ridge_device_hash(cpu, NULL, here, size, &expected[0], err));
            OK(ridge_device_hash(gpu, stream, there, size, &got[0], err));
            OK(ridge_device_pattern_check(cpu, NULL, here, size, 9, &expected[1], &expected[2],
                                          err));
            OK(ridge_device_pattern_check(gpu, stream, there, size, 9, &got[1], &got[2], err));
            assert_memory_equal(got, expected, sizeof(got));
        }
    twins_close(&t);
}

/* -- probes ------------------------------------------------------------------------------------ */

static const char *const PROBE_CASES[] = {
    "bytes=40001,extra=150,iterations=37,blocks=3,variant=1",
    "bytes=40001,extra=30000,iterations=5,blocks=40,dtype=u8",
    "bytes=100000,layout=transposed,extra=5000",
    "bytes=100000,layout=reversed",
    "bytes=0,iterations=0,blocks=0",
};

/* Exact on whole numbers, so that the order of additions does not matter. */
static void probe_is_right(const ridge_kernel *kernel, const char *text)
{
    ridge_case at = ridge_probe_family()->default_case;
    ridge_buffer_desc buffers[RIDGE_KERNEL_BUFFERS];
    double *in[RIDGE_KERNEL_BUFFERS] = {0}, *out[RIDGE_KERNEL_BUFFERS] = {0};
    void *data[RIDGE_KERNEL_BUFFERS], *memory[RIDGE_KERNEL_BUFFERS], *prepared;
    size_t count, i, k;

    OK(ridge_case_parse(text, &at, err));
    OK(ridge_kernel_describe(kernel, &at, buffers, &count, err));
    for (i = 0; i < count; i++) {
        const size_t size = (size_t)ridge_buffer_span_bytes(&buffers[i]);
        const size_t elements = (size_t)ridge_buffer_elements(&buffers[i]);
        const int64_t origin =
            ridge_buffer_origin(&buffers[i]) * (int64_t)ridge_dtype_bytes(buffers[i].dtype);
        unsigned char *const back = calloc(size + 1, 1);

        OK(ridge_device_alloc(gpu, size, &memory[i], err));
        data[i] = (unsigned char *)memory[i] + origin;
        OK(ridge_device_fill(gpu, stream, &buffers[i], RIDGE_VALUES_SMALL_INT, data[i], i, err));
        OK(ridge_stream_synchronize(stream, err));
        OK(ridge_device_download(gpu, back, memory[i], size, err));
        in[i] = calloc(elements + 1, sizeof(double));
        out[i] = calloc(elements + 1, sizeof(double));
        for (k = 0; k < elements; k++)
            in[i][k] = ridge_dtype_load(buffers[i].dtype, back + origin,
                                        ridge_buffer_offset(&buffers[i], (int64_t)k));
        free(back);
    }
    {
        const ridge_view view = {data, buffers, count, gpu};
        const ridge_reference_view reference = {(const double *const *)in, out, NULL, buffers,
                                                count};
        struct CUstream_st *const native = ridge_stream_native(stream);

        OK(ridge_kernel_prepare(kernel, &at, &view, &prepared, native, err));
        OK(kernel->launch(kernel, &at, &view, prepared, native, err));
        OK(ridge_stream_synchronize(stream, err));
        OK(kernel->reference(kernel, &at, &reference, err));
        ridge_kernel_finish(kernel, prepared);
    }
    for (i = 0; i < count; i++) {
        const size_t size = (size_t)ridge_buffer_span_bytes(&buffers[i]);
        unsigned char *const back = calloc(size + 1, 1);

        OK(ridge_device_download(gpu, back, memory[i], size, err));
        for (k = 0;
             buffers[i].role == RIDGE_ROLE_OUT && k < (size_t)ridge_buffer_elements(&buffers[i]);
             k++) {
            const double got = ridge_dtype_load(buffers[i].dtype, back, (int64_t)k);

            if (fabs(got - out[i][k]) > 1e-6 * fabs(out[i][k]))
                fail_msg("%s %s: element %zu is %g, not %g", kernel->name, text, k, got, out[i][k]);
        }
        free(back);
        free(in[i]);
        free(out[i]);
        ridge_device_release(gpu, memory[i]);
    }
}

static void probes(void **state)
{
    const ridge_family *const family = ridge_probe_family();
    size_t i, k;

    (void)state;
    if (gpu == NULL)
        skip();
    for (i = 0; i < family->variant_count; i++)
        for (k = 0; k < sizeof(PROBE_CASES) / sizeof(PROBE_CASES[0]); k++)
            probe_is_right(family->variants[i], PROBE_CASES[k]);
}

/* -- order and time ---------------------------------------------------------------------------- */

static double gated_ns(ridge_event *from, ridge_event *to, bool opens)
{
    double elapsed_ns;

    OK(ridge_event_record(from, stream, err));
    OK(ridge_device_gate_close(gpu, stream, err));
    OK(ridge_event_record(to, stream, err));
    if (opens)
        ridge_device_gate_open(gpu);
    OK(ridge_event_synchronize(to, err));
    OK(ridge_event_elapsed_ns(from, to, &elapsed_ns, err));
    return elapsed_ns;
}

static void gate(void **state)
{
    ridge_event *from, *to;
    int i;

    (void)state;
    if (gpu == NULL)
        skip();
    OK(ridge_event_create(gpu, &from, err));
    OK(ridge_event_create(gpu, &to, err));
    for (i = 0; i < 100; i++)
        assert_true(gated_ns(from, to, true) < 1e9);
    assert_in_range((int)(gated_ns(from, to, false) / 1e6), 1900, 2500);
    assert_true(gated_ns(from, to, true) < 1e9); /* one that opened itself leaves no trace */
    ridge_event_free(from);
    ridge_event_free(to);
}

static void clocks_and_scrub(void **state)
{
    const ridge_device_info *info;
    double hz;
    int i;

    (void)state;
    if (gpu == NULL)
        skip();
    info = ridge_device_get_info(gpu);
    OK(ridge_device_clock_begin(gpu, stream, err));
    for (i = 0; i < 1000; i++)
        OK(ridge_device_empty(gpu, stream, 1000, 256, err));
    OK(ridge_device_scrub_shared(gpu, stream, err));
    OK(ridge_device_clock_end(gpu, stream, err));
    hz = ridge_device_clock_read(gpu, stream);
    print_message("SM clock %.0f MHz, greatest %.0f MHz\n", hz / 1e6, info->clock_hz / 1e6);
    assert_true(hz > 1e8 && hz < 4e9);
    assert_true(isnan(info->clock_hz) || hz < 1.02 * info->clock_hz);
}

int main(void)
{
    static cases list;
    int failed;

    if (ridge_device_open("cpu", &cpu, NULL) != RIDGE_OK)
        return 1;
    if (ridge_device_gpu_count(NULL) > 0 && (ridge_device_open("cuda", &gpu, NULL) != RIDGE_OK ||
                                             ridge_stream_create(gpu, &stream, NULL) != RIDGE_OK)) {
        fprintf(stderr, "there is a GPU that cannot be opened\n");
        return 1;
    }
    cases_add(&list, "every value", every_value, NULL);
    cases_add(&list, "words, patterns, hashes", words_patterns_hashes, NULL);
    cases_add(&list, "probes", probes, NULL);
    cases_add(&list, "gate", gate, NULL);
    cases_add(&list, "clocks and scrub", clocks_and_scrub, NULL);
    failed = cases_run(&list, "harness on a GPU");
    ridge_stream_free(stream);
    ridge_device_free(gpu);
    ridge_device_free(cpu);
    return failed;
}
