/* SPDX-License-Identifier: Apache-2.0
 *
 * Names and numbers as ridge timeline shows them. */
#include "cases.h"

#include <math.h>

#include "timeline_cli.h"

/* Of main.c, which options.c asks. */
const struct command commands[] = {{NULL}};
const struct command *command_find(const char *name)
{
    (void)name;
    return NULL;
}

static struct name_case {
    const char *name, *text, *expected;
} kernels[] = {
    {"a plain name", "gemm", "gemm"},
    {"parameters", "void scale(float*, int)", "scale"},
    {"namespaces, also inside",
     "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int)",
     "vectorized_elementwise_kernel<4, FillFunctor<float>>"},
    {"anonymous", "void at::native::(anonymous namespace)::norm<c10::BFloat16>(int)",
     "norm<BFloat16>"},
    {"a return type with comparisons",
     "std::enable_if<(((8)>(0)))&&T<c>::x, void>::type vllm::norm_kernel<c10::BFloat16, 8>(int*)",
     "norm_kernel<BFloat16, 8>"},
    {"a cast of a number", "void k<(int)128, (bool)1>(float*)", "k<128, 1>"},
    {"a function in a template", "void k<f(int)::{lambda(int)#1}>(int)",
     "k<f(int)::{lambda(int)#1}>"},
    {"brackets that do not close", "void k<a(", "void k<a("},
    {"colons alone", "::", "::"},
    {"nothing", "", ""},
};

static void kernel_names(void **state)
{
    const struct name_case *const test = *state;
    char text[TIMELINE_NAME];

    assert_string_equal(timeline_kernel_name(test->text, false, text, sizeof(text)),
                        test->expected);
    assert_string_equal(timeline_kernel_name(test->text, true, text, sizeof(text)), test->text);
}

static void long_names(void **state)
{
    const size_t size = 1 << 20;
    char *const name = malloc(size);
    char text[TIMELINE_NAME];

    assert_non_null(name);
    memset(name, '<', size);
    name[size - 1] = '\0';
    assert_int_equal(strlen(timeline_kernel_name(name, false, text, sizeof(text))),
                     sizeof(text) - 1);
    memset(name, 'a', size - 1);
    assert_int_equal(strlen(timeline_api_name(name, text, sizeof(text))), sizeof(text) - 1);
    assert_int_equal(strlen(timeline_range_name(name, text, sizeof(text))), sizeof(text) - 1);
    free(name);
    (void)state;
}

static struct name_case calls[] = {
    {"four digits", "cudaLaunchKernel_v7000", "cudaLaunchKernel"},
    {"five digits", "cudaLaunchKernelExC_v11060", "cudaLaunchKernelExC"},
    {"a name with a version", "cuMemAlloc_v2", "cuMemAlloc"},
    {"no version", "hip_volume", "hip_volume"},
};

static void call_names(void **state)
{
    const struct name_case *const test = *state;
    char text[TIMELINE_NAME];

    assert_string_equal(timeline_api_name(test->text, text, sizeof(text)), test->expected);
}

static struct name_case ranges[] = {
    {"the default domain", ":step", "step"},
    {"a domain", "nccl:all_reduce", "nccl:all_reduce"},
    {"scoped", "::step", "::step"},
    {"emit_nvtx", ":aten::mm, seq = 7, sizes = [[1, 2]], op_id = 12", "aten::mm"},
};

static void range_names(void **state)
{
    const struct name_case *const test = *state;
    char text[TIMELINE_NAME];

    assert_string_equal(timeline_range_name(test->text, text, sizeof(text)), test->expected);
}

static struct time_case {
    const char *name;
    double ns;
    const char *expected;
} time_cases[] = {
    {"nothing", 0, "0 ns"},
    {"nanoseconds", 864, "864 ns"},
    {"microseconds", 6272, "6.27 us"},
    {"up to the next unit", 999600, "1.00 ms"},
    {"two digits before the point", 84487000, "84.5 ms"},
    {"three", 342e6, "342 ms"},
    {"seconds", 1.5e9, "1.50 s"},
    {"behind", -2500, "-2.50 us"},
    {"unknown", NAN, "n/a"},
};

static void times(void **state)
{
    const struct time_case *const test = *state;
    char text[32];

    assert_string_equal(timeline_time(test->ns, text, sizeof(text)), test->expected);
}

static void shares(void **state)
{
    char text[32];

    assert_string_equal(timeline_percent(1, 8, text, sizeof(text)), "12.5 %");
    assert_string_equal(timeline_percent(1, 0, text, sizeof(text)), "n/a");
    (void)state;
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, kernel_names, kernels);
    cases_add(&list, "long names", long_names, NULL);
    CASES_ADD_ROWS(&list, call_names, calls);
    CASES_ADD_ROWS(&list, range_names, ranges);
    CASES_ADD_ROWS(&list, times, time_cases);
    cases_add(&list, "shares", shares, NULL);
    return cases_run(&list, "timeline_view");
}
