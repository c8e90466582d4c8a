/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "ridge/device.h"

static ridge_device *open_cpu(void)
{
    ridge_device *device;

    assert_int_equal(ridge_device_open("cpu", &device, NULL), RIDGE_OK);
    return device;
}

static void names(void **state)
{
    static const char *const BAD[] = {"", "cpu:0", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "gpu"};
    ridge_device *device;
    ridge_error err;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        assert_int_equal(ridge_device_open(BAD[i], &device, &err), RIDGE_ERR_INVALID_ARGUMENT);
        assert_null(device);
    }
    assert_int_equal(ridge_device_open("cuda:999", &device, &err), RIDGE_ERR_NO_DEVICE);
    assert_null(device);
    ridge_device_free(NULL);
    if (ridge_device_gpu_count(NULL) == 0) {
        assert_int_equal(ridge_device_open("auto", &device, &err), RIDGE_OK);
        assert_int_equal(ridge_device_get_info(device)->kind, RIDGE_DEVICE_CPU);
        ridge_device_free(device);
    }
}

static void what_it_is(void **state)
{
    ridge_device *const device = open_cpu();
    const ridge_device_info *const info = ridge_device_get_info(device);
    ridge_clock_reading clocks;
    size_t free_bytes;

    (void)state;
    assert_int_equal(info->kind, RIDGE_DEVICE_CPU);
    assert_true(info->name[0] != '\0');
    assert_true(info->sm_count >= 1);
    assert_true(info->l2_bytes > 0);
    assert_false(info->has_graphs || info->has_modules || info->has_clocks);
    ridge_device_read_clocks(device, &clocks);
    assert_true(isnan(clocks.sm_hz) && isnan(clocks.temperature_c));
    assert_int_equal(clocks.reasons, 0);
    assert_int_equal(ridge_device_free_bytes(device, &free_bytes, NULL), RIDGE_OK);
    assert_true(info->memory_bytes == 0 || free_bytes <= info->memory_bytes);
    assert_int_equal(ridge_device_make_current(device, NULL), RIDGE_OK);
    assert_int_equal(ridge_device_synchronize(device, NULL), RIDGE_OK);
    assert_true(ridge_device_reset_persisting_l2(device));
    assert_int_equal(ridge_device_other_processes(device), -1);
    ridge_device_free(device);
}

static void what_it_has_not(void **state)
{
    ridge_device *const device = open_cpu();
    ridge_gpu_module *module;
    ridge_stream *stream;
    ridge_graph *graph;
    ridge_error err;
    ridge_tensor_map map = {.rank = 1};
    unsigned char encoded[128];
    char log[8] = "x";

    (void)state;
    assert_int_equal(ridge_gpu_module_load(device, "", 0, log, sizeof(log), &module, &err),
                     RIDGE_ERR_UNSUPPORTED);
    assert_string_equal(err.text, "the CPU device has no machine code to load");
    assert_string_equal(log, "");
    assert_null(module);
    assert_int_equal(ridge_stream_create(device, &stream, NULL), RIDGE_OK);
    assert_int_equal(ridge_capture_begin(stream, true, NULL), RIDGE_ERR_UNSUPPORTED);
    assert_int_equal(ridge_capture_end(stream, &graph, NULL), RIDGE_ERR_UNSUPPORTED);
    assert_int_equal(ridge_graph_of_native(device, NULL, &graph, NULL), RIDGE_ERR_UNSUPPORTED);
    assert_int_equal(ridge_tensor_map_encode(device, &map, encoded, NULL), RIDGE_ERR_UNSUPPORTED);
    ridge_stream_free(stream);
    ridge_gpu_module_free(NULL);
    ridge_graph_free(NULL);
    ridge_device_free(device);
}

static void memory(void **state)
{
    ridge_device *const device = open_cpu();
    const char text[] = "what was written";
    char back[sizeof(text)] = "";
    ridge_error err;
    size_t size;
    void *data;

    (void)state;
    for (size = 0; size < 1000; size += 37) {
        assert_int_equal(ridge_device_alloc(device, size, &data, NULL), RIDGE_OK);
        assert_non_null(data);
        assert_int_equal((uintptr_t)data % 256, 0);
        memset(data, 0xFF, size);
        ridge_device_release(device, data);
    }
    ridge_device_release(device, NULL);
    assert_int_equal(ridge_device_alloc(device, SIZE_MAX, &data, &err), RIDGE_ERR_OUT_OF_MEMORY);
    assert_null(data);
    assert_int_equal(ridge_device_alloc(device, sizeof(text), &data, NULL), RIDGE_OK);
    assert_int_equal(ridge_device_upload(device, data, text, sizeof(text), NULL), RIDGE_OK);
    assert_int_equal(ridge_device_download(device, back, data, sizeof(text), NULL), RIDGE_OK);
    assert_string_equal(back, text);
    assert_int_equal(ridge_device_upload(device, NULL, NULL, 0, NULL), RIDGE_OK);
    assert_int_equal(ridge_device_copy(device, NULL, (char *)data + 1, data, 4, NULL), RIDGE_OK);
    assert_memory_equal(data, "wwhat", 5);
    ridge_device_release(device, data);
    ridge_device_free(device);
}

/* How a write at data ends another process: 0 or its signal. */
static int write_elsewhere(unsigned char *data)
{
    const pid_t child = fork();
    int status = 0;

    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        *(volatile unsigned char *)data = 1;
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void fence(void **state)
{
    static const size_t SIZES[] = {1, 16, 100, 4096, 70000};
    ridge_device *const device = open_cpu();
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(SIZES) / sizeof(SIZES[0]); i++) {
        const size_t padded = (SIZES[i] + 15) / 16 * 16;
        ridge_mapping *mapping;
        void *data;

        assert_int_equal(ridge_device_map(device, SIZES[i], true, 0, &mapping, &data, NULL),
                         RIDGE_OK);
        assert_int_equal((uintptr_t)data % 16, 0);
        memset(data, 0xFF, padded);
        assert_int_equal(write_elsewhere((unsigned char *)data + padded - 1), 0);
        assert_int_not_equal(write_elsewhere((unsigned char *)data + padded), 0);
        ridge_mapping_free(mapping);
    }
    ridge_device_free(device);
}

static void alias(void **state)
{
    const size_t size = (size_t)1 << 32, granule = (size_t)1 << 24;
    ridge_device *const device = open_cpu();
    ridge_mapping *mapping;
    unsigned char *bytes;
    void *data;

    (void)state;
    assert_int_equal(ridge_device_map(device, size, true, granule, &mapping, &data, NULL),
                     RIDGE_OK);
    bytes = data;
    bytes[5] = 77;
    assert_int_equal(bytes[granule + 5], 77);
    assert_int_equal(bytes[size - granule + 5], 77);
    bytes[size - 1] = 78;
    assert_int_equal(bytes[granule - 1], 78);
    ridge_mapping_free(mapping);
    ridge_mapping_free(NULL);
    assert_int_equal(ridge_device_map(device, 0, true, 0, &mapping, &data, NULL),
                     RIDGE_ERR_INVALID_ARGUMENT);
    assert_int_equal(ridge_device_map(device, SIZE_MAX, true, 0, &mapping, &data, NULL),
                     RIDGE_ERR_OUT_OF_MEMORY);
    /* A granule larger than the range is the range. */
    assert_int_equal(ridge_device_map(device, 100, false, granule, &mapping, &data, NULL),
                     RIDGE_OK);
    ridge_mapping_free(mapping);
    ridge_device_free(device);
}

static void order_and_time(void **state)
{
    ridge_device *const device = open_cpu();
    const struct timespec pause = {.tv_nsec = 2000000};
    ridge_stream *stream;
    ridge_event *from, *to;
    double elapsed_ns;

    (void)state;
    assert_int_equal(ridge_stream_create(device, &stream, NULL), RIDGE_OK);
    assert_int_equal(ridge_event_create(device, &from, NULL), RIDGE_OK);
    assert_int_equal(ridge_event_create(device, &to, NULL), RIDGE_OK);
    assert_null(ridge_stream_native(stream));
    assert_int_equal(ridge_event_elapsed_ns(from, to, &elapsed_ns, NULL),
                     RIDGE_ERR_INVALID_ARGUMENT);
    assert_true(isnan(elapsed_ns));
    assert_int_equal(ridge_event_synchronize(from, NULL), RIDGE_ERR_INVALID_ARGUMENT);
    assert_int_equal(ridge_event_record(from, stream, NULL), RIDGE_OK);
    nanosleep(&pause, NULL);
    assert_int_equal(ridge_event_record(to, stream, NULL), RIDGE_OK);
    assert_int_equal(ridge_stream_wait(stream, from, NULL), RIDGE_OK);
    assert_int_equal(ridge_stream_synchronize(stream, NULL), RIDGE_OK);
    assert_int_equal(ridge_event_synchronize(to, NULL), RIDGE_OK);
    assert_int_equal(ridge_event_elapsed_ns(from, to, &elapsed_ns, NULL), RIDGE_OK);
    assert_true(elapsed_ns >= 2e6 && elapsed_ns < 60e9);
    ridge_event_free(from);
    ridge_event_free(to);
    ridge_event_free(NULL);
    ridge_stream_free(stream);
    ridge_stream_free(NULL);
    ridge_device_free(device);
}

/* -- kernels of the harness -------------------------------------------------------------------- */

static void fills_elements_only(void **state)
{
    ridge_device *const device = open_cpu();
    const ridge_buffer_desc buffer = {
        .name = "x", .dtype = RIDGE_DTYPE_I16, .ndim = 2, .shape = {3, 4}, .stride = {-6, 1}};
    int16_t data[18];
    int i;

    (void)state;
    memset(data, 0xEE, sizeof(data));
    assert_int_equal(
        ridge_device_fill(device, NULL, &buffer, RIDGE_VALUES_INDEX, data + 12, 1, NULL), RIDGE_OK);
    for (i = 0; i < 18; i++)
        assert_int_equal(data[i], i % 6 < 4 ? (2 - i / 6) * 4 + i % 6 : (int16_t)0xEEEE);
    assert_int_equal(ridge_device_fill(device, NULL, &buffer, RIDGE_VALUES_COUNT, data, 1, NULL),
                     RIDGE_ERR_INVALID_ARGUMENT);
    ridge_device_free(device);
}

/* Rows that share their memory hold what the first one would: no order of writes matters. */
static void fills_broadcast_once(void **state)
{
    ridge_device *const device = open_cpu();
    const ridge_buffer_desc buffer = {
        .name = "x", .dtype = RIDGE_DTYPE_I16, .ndim = 2, .shape = {3, 4}, .stride = {0, 1}};
    const int16_t expected[] = {0, 1, 2, 3, -1};
    int16_t data[] = {-1, -1, -1, -1, -1};

    (void)state;
    assert_int_equal(ridge_device_fill(device, NULL, &buffer, RIDGE_VALUES_INDEX, data, 1, NULL),
                     RIDGE_OK);
    assert_memory_equal(data, expected, sizeof(data));
    ridge_device_free(device);
}

static void words_and_patterns(void **state)
{
    ridge_device *const device = open_cpu();
    unsigned char bytes[64];
    uint64_t wrong, first, hash, other;

    (void)state;
    memset(bytes, 0, sizeof(bytes));
    assert_int_equal(ridge_device_set_words(device, NULL, bytes + 1, 10, 0x44332211, NULL),
                     RIDGE_OK);
    assert_memory_equal(bytes, "\0\x11\x22\x33\x44\x11\x22\x33\x44\x11\x22\0", 12);

    assert_int_equal(ridge_device_pattern(device, NULL, bytes + 1, 61, 9, NULL), RIDGE_OK);
    assert_int_equal(
        ridge_device_pattern_check(device, NULL, bytes + 1, 61, 9, &wrong, &first, NULL), RIDGE_OK);
    assert_int_equal(wrong, 0);
    bytes[1 + 17] ^= 1;
    bytes[1 + 60] ^= 0x80;
    assert_int_equal(
        ridge_device_pattern_check(device, NULL, bytes + 1, 61, 9, &wrong, &first, NULL), RIDGE_OK);
    assert_int_equal(wrong, 2);
    assert_int_equal(first, 17);
    assert_int_equal(
        ridge_device_pattern_check(device, NULL, bytes + 1, 61, 8, &wrong, &first, NULL), RIDGE_OK);
    assert_true(wrong > 50);

    assert_int_equal(ridge_device_hash(device, NULL, bytes, 61, &hash, NULL), RIDGE_OK);
    assert_int_equal(ridge_device_hash(device, NULL, bytes, 62, &other, NULL), RIDGE_OK);
    assert_int_not_equal(hash, other);
    bytes[3] ^= 1;
    assert_int_equal(ridge_device_hash(device, NULL, bytes, 61, &other, NULL), RIDGE_OK);
    assert_int_not_equal(hash, other);
    bytes[3] ^= 1;
    assert_int_equal(ridge_device_hash(device, NULL, bytes, 61, &other, NULL), RIDGE_OK);
    assert_int_equal(hash, other);
    assert_int_equal(ridge_device_hash(device, NULL, NULL, 0, &hash, NULL), RIDGE_OK);
    ridge_device_free(device);
}

static void nothing_to_do(void **state)
{
    ridge_device *const device = open_cpu();

    (void)state;
    assert_int_equal(ridge_device_gate_close(device, NULL, NULL), RIDGE_OK);
    ridge_device_gate_open(device);
    assert_int_equal(ridge_device_empty(device, NULL, 1, 32, NULL), RIDGE_OK);
    assert_int_equal(ridge_device_scrub_shared(device, NULL, NULL), RIDGE_OK);
    assert_int_equal(ridge_device_clock_begin(device, NULL, NULL), RIDGE_OK);
    assert_int_equal(ridge_device_clock_end(device, NULL, NULL), RIDGE_OK);
    assert_true(isnan(ridge_device_clock_read(device, NULL)));
    ridge_device_free(device);
}

/* Everything that allocates, with its allocation failing. */
static void allocations_fail(void **state)
{
    ridge_device *const device = open_cpu();
    ridge_device *second;
    ridge_mapping *mapping;
    ridge_stream *stream;
    ridge_event *event;
    void *data;

    (void)state;
    ridge_memory_fail_at(1);
    assert_int_equal(ridge_device_open("cpu", &second, NULL), RIDGE_ERR_OUT_OF_MEMORY);
    assert_null(second);
    assert_int_equal(ridge_device_alloc(device, 1, &data, NULL), RIDGE_ERR_OUT_OF_MEMORY);
    assert_null(data);
    assert_int_equal(ridge_device_map(device, 1, true, 0, &mapping, &data, NULL),
                     RIDGE_ERR_OUT_OF_MEMORY);
    assert_null(mapping);
    assert_int_equal(ridge_stream_create(device, &stream, NULL), RIDGE_ERR_OUT_OF_MEMORY);
    assert_null(stream);
    assert_int_equal(ridge_event_create(device, &event, NULL), RIDGE_ERR_OUT_OF_MEMORY);
    assert_null(event);
    ridge_memory_fail_at(0);
    ridge_device_free(device);
}

int main(void)
{
    static cases list;

    cases_add(&list, "names", names, NULL);
    cases_add(&list, "what it is", what_it_is, NULL);
    cases_add(&list, "what it has not", what_it_has_not, NULL);
    cases_add(&list, "memory", memory, NULL);
    cases_add(&list, "fence", fence, NULL);
    cases_add(&list, "alias", alias, NULL);
    cases_add(&list, "order and time", order_and_time, NULL);
    cases_add(&list, "fills elements only", fills_elements_only, NULL);
    cases_add(&list, "fills broadcast once", fills_broadcast_once, NULL);
    cases_add(&list, "words and patterns", words_and_patterns, NULL);
    cases_add(&list, "nothing to do", nothing_to_do, NULL);
    cases_add(&list, "allocations fail", allocations_fail, NULL);
    return cases_run(&list, "cpu device");
}
