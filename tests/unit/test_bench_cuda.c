/* SPDX-License-Identifier: Apache-2.0
 *
 * The loop on the CUDA device over a driver of host memory (fake_cuda.h), where each event is 1 us
 * behind the one before: modes, gates, graphs, and what is left after each call that fails. */
#include <dlfcn.h>

#include "bench_support.h"
#include "fake_cuda.h"

static fake_control *cuda, *nvml;
static int (*set_limit)(unsigned limit, size_t value);

static void *symbol(const char *path, const char *name)
{
    void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *address;

    assert_non_null(library);
    address = dlsym(library, name);
    assert_non_null(address);
    return address;
}

static fake_control *control_of(const char *path)
{
    void *const address = symbol(path, "fake_control_get");
    fake_control *(*get)(void);

    memcpy(&get, &address, sizeof(get));
    return get();
}

static void reset(fake_control *control)
{
    memset(control, 0, sizeof(*control));
    control->version = 13000;
    control->device_count = 1;
    control->major = 9;
    control->memory_limit_bytes = (size_t)1 << 30;
    control->fail_result = 700;
    control->lists_self = 1;
    control->processes = 1;
}

static int load(void **state)
{
    void *address;

    setenv("RIDGE_CUDA_LIBRARY", FAKE_CUDA, 1);
    setenv("RIDGE_NVML_LIBRARY", FAKE_NVML, 1);
    cuda = control_of(FAKE_CUDA);
    nvml = control_of(FAKE_NVML);
    address = symbol(FAKE_CUDA, "cuCtxSetLimit");
    memcpy(&set_limit, &address, sizeof(set_limit));
    (void)state;
    return 0;
}

static void nothing_left(void)
{
    assert_int_equal(cuda->contexts, 0);
    assert_int_equal(cuda->allocations, 0);
    assert_int_equal(cuda->streams, 0);
    assert_int_equal(cuda->events, 0);
    assert_int_equal(cuda->modules, 0);
    assert_int_equal(cuda->graphs, 0);
    assert_int_equal(cuda->execs, 0);
}

static ridge_status compare(const ridge_bench_options *options, spin *b, ridge_comparison *result,
                            ridge_error *err)
{
    ridge_device *device;
    ridge_bench_arm arms[2];
    ridge_case at;
    ridge_status status;
    spin a;

    ridge_case_init(&at);
    spin_init(&a, "a", 0);
    arms[0] = spin_arm(&a);
    arms[1] = spin_arm(b);
    status = ridge_device_open("cuda", &device, err);
    if (status == RIDGE_OK)
        status = ridge_bench_compare(device, &arms[0], &arms[1], &at, options, NULL, result, err);
    ridge_device_free(device);
    assert_int_equal(a.prepared, a.finished);
    assert_int_equal(b->prepared, b->finished);
    nothing_left();
    return status;
}

static ridge_bench_options options_of(ridge_mode mode)
{
    ridge_bench_options options = spin_options();

    options.mode = mode;
    options.without = 1u << RIDGE_GUARD_CHECK; /* the fake GPU fills nothing */
    options.pilot = 2;
    options.most = 2;
    options.budget_s = 0.1;
    return options;
}

static struct mode_case {
    const char *name;
    ridge_mode asked, got;
} mode_cases[] = {
    {"auto is a graph for 1 us", RIDGE_MODE_AUTO, RIDGE_MODE_GRAPH},
    {"events", RIDGE_MODE_EVENT, RIDGE_MODE_EVENT},
    {"batches", RIDGE_MODE_BATCH, RIDGE_MODE_BATCH},
};

static void modes(void **state)
{
    const struct mode_case *const test = *state;
    const ridge_bench_options options = options_of(test->asked);
    ridge_comparison result;
    ridge_error err = {0};
    spin b;

    reset(cuda);
    reset(nvml);
    spin_init(&b, "b", 0);
    if (compare(&options, &b, &result, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(result.mode, test->got);
    assert_true(result.arms[0].slots == 8 && result.arms[1].slots == 8);
    assert_true(fabs(result.interval.centre) < 1e-6); /* 1 us each */
    assert_int_equal(lround(result.floors.event_ns), 1000);
    assert_int_equal(lround(result.floors.kernel_ns), 1000);
    assert_int_equal(lround(result.floors.graph_ns), 10);
    assert_true(isnan(result.arms[0].amortized_ns) == (test->got == RIDGE_MODE_EVENT));
    assert_true(result.arms[0].median_ns > 0);
    assert_true(result.arms[0].power_w > 100 && result.clock_reasons == 0);
}

static ridge_status keeps_its_data(spin *self, int index, const float *in, float *out,
                                   ridge_error *err)
{
    (void)self;
    (void)index;
    (void)err;
    set_limit(6, 1 << 20);
    spin_double(in, out);
    return RIDGE_OK;
}

static void persisting_data(void **state)
{
    ridge_bench_options options = options_of(RIDGE_MODE_EVENT);
    ridge_comparison result;
    spin b;

    reset(cuda);
    reset(nvml);
    spin_init(&b, "b", 0);
    b.compute = keeps_its_data;
    assert_int_equal(compare(&options, &b, &result, NULL), RIDGE_OK);
    assert_int_equal(result.verdict, RIDGE_VERDICT_INVALID);
    assert_string_equal(result.invalid_guard, "persisting");

    /* Nor are outputs right where nothing is filled, and how long the driver of host memory takes to
     * wait is the machine's load. */
    options.without |= 1u << RIDGE_GUARD_PERSISTING | 1u << RIDGE_GUARD_OUTPUTS |
                       1u << RIDGE_GUARD_SHARED | 1u << RIDGE_GUARD_IDLE;
    spin_init(&b, "b", 0);
    b.compute = keeps_its_data;
    assert_int_equal(compare(&options, &b, &result, NULL), RIDGE_OK);
    assert_string_equal(result.invalid_cause, "");
    (void)state;
}

/* Every call of the driver fails once, at some place of the run. */
static void calls_that_fail(void **state)
{
    const ridge_bench_options options = options_of(RIDGE_MODE_GRAPH);
    ridge_comparison result;
    size_t calls, nth, failures = 0;
    spin b;

    reset(cuda);
    reset(nvml);
    spin_init(&b, "b", 0);
    assert_int_equal(compare(&options, &b, &result, NULL), RIDGE_OK);
    calls = cuda->calls;
    assert_true(calls > 500);
    for (nth = 1; nth < calls; nth += nth < 1000 ? 37 : calls / 40) {
        ridge_error err = {0};
        ridge_status status;

        reset(cuda);
        cuda->fail_at = nth;
        spin_init(&b, "b", 0);
        status = compare(&options, &b, &result, &err);
        assert_int_equal(status != RIDGE_OK, err.text[0] != '\0');
        failures += status != RIDGE_OK ? 1 : 0;
    }
    assert_true(failures > 20);
    (void)state;
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, modes, mode_cases);
    cases_add(&list, "persisting data", persisting_data, NULL);
    cases_add(&list, "calls that fail", calls_that_fail, NULL);
    return _cmocka_run_group_tests("bench_cuda", list.tests, list.count, load, NULL);
}
