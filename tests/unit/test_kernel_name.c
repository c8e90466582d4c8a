/* SPDX-License-Identifier: Apache-2.0
 *
 * Base names of kernels, as nsys shortens them. */
#include "cases.h"

#include "ridge/trace_sums.h"

static struct name_case {
    const char *name; /* demangled */
    const char *base;
} name_cases[] = {
    {"saxpy(float, const float *, float *, int)", "saxpy"},
    {"void saxpy<float>(T1, const T1 *, T1 *, int)", "saxpy"},
    {"nvjet_tst_64x8_64x16_4x1_v_bz_TNT", "nvjet_tst_64x8_64x16_4x1_v_bz_TNT"},
    {"triton_poi_fused_add_mul_0", "triton_poi_fused_add_mul_0"},
    {"void layer::norm<(int)128, (bool)1>(T1 *)", "norm"},
    {"void layer::<unnamed>::norm<layer::<unnamed>::Pair<(unsigned int)2>, int>(T1 *)", "norm"},
    {"void layer::(anonymous namespace)::norm<float>(float*)", "norm"},
    {"(anonymous namespace)::add(float*)", "add"},
    {"<unnamed>::add(float *)", "add"},
    {"void <unnamed>::index<int, fill(const Tensor &)::[lambda() (instance 1)]>(T1)", "index"},
    {"void each<zero(int)::[lambda(int) (instance 1)]>(Range, T1)", "each"},
    {"void each<zero(int)::{lambda(int)#1}>(Range, zero(int)::{lambda(int)#1})", "each"},
    {"void outer<float>(int)::inner<int>(T1)", "inner"},
    {"void Outer<float>::run<int>(T1)", "run"},
    {"Outer::run(int) const::{lambda(int)#1}::operator()(int) const", "operator()"},
    {"void gemm::Kernel2<tensorop_256x128_32x3_tn_align8>(T1::Params)", "Kernel2"},
    {"std::enable_if<(N > (int)4), void>::type big<(int)8>(float *)", "big"},
    {"std::enable_if<!(false), void>::type big<(8 < 9)>(float *)", "big"},
    {"void k<(Kind)2, &Op::operator<, int>(T1)", "k"},
    {"void k<&Op::operator->, int>(T1)", "k"},
    {"void k<decltype(a->b)>(int)", "k"},
    {"decltype(auto) k<int>(int)", "k"},
    {"unsigned long long k(void)", "k"},
    {"void vector::operator+<float>(T1)", "operator+"},
    {"void vector::operator<< <float>(T1)", "operator<<"},
    {"bool vector::operator< <float>(T1)", "operator<"},
    {"void my_operator<int>(T1)", "my_operator"},
    {"void scale(float*) [clone .kd]", "scale"},
    {"void f<g(void (*)(int, float))>(int)", "f"},
    {"_ZN5layer4normIfEEvPT_", "_ZN5layer4normIfEEvPT_"}, /* mangled: left whole */
    {"Cijk_Alik_Bljk_SB_MT64x16x32_MI16x16x1_SN", "Cijk_Alik_Bljk_SB_MT64x16x32_MI16x16x1_SN"},
    {"void noyau_\xc3\xa9t\xc3\xa9<int>(T1)", "noyau_\xc3\xa9t\xc3\xa9"},
    {"void cut<int, float", "cut"}, /* the file's text ends early */
    {"void cut(int, fl", "cut"},
    {"", ""},
    {"<unnamed>", "<unnamed>"},
    {"(((", "((("},
    {">>>))", ">>>))"},
    {"operator", "operator"},
    {"void k<operator(int)>(int)", "k"},
};

static void shortens(void **state)
{
    const struct name_case *const row = *state;
    char buffer[256];

    assert_string_equal(ridge_kernel_base_name(row->name, buffer, sizeof buffer), row->base);
}

static void cuts_to_the_buffer(void **state)
{
    char buffer[4];
    char untouched = 'x';

    (void)state;
    assert_string_equal(ridge_kernel_base_name("void saxpy<int>(T1)", buffer, sizeof buffer),
                        "sax");
    ridge_kernel_base_name("saxpy", &untouched, 0);
    assert_int_equal(untouched, 'x');
}

/* A megabyte of one byte or pattern: one pass, so this ends at once. */
static void hostile_names_take_linear_time(void **state)
{
    static const char *const patterns[] = {"<",  ">",     "(",         "(<",        "a(",
                                           "a<", "a()::", "operator<", "operator(", "<operator(",
                                           "::", "a(<>)", " const",    "{[(<",      "(anonymous "};
    const size_t size = (size_t)1 << 20;
    char *const text = malloc(size + 1);
    char buffer[64];

    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        const size_t length = strlen(patterns[i]);

        for (size_t at = 0; at < size; at++)
            text[at] = patterns[i][at % length];
        text[size] = '\0';
        ridge_kernel_base_name(text, buffer, sizeof buffer);
        assert_true(strlen(buffer) < sizeof buffer);
    }
    free(text);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, shortens, name_cases);
    cases_add(&list, "cut to the buffer", cuts_to_the_buffer, NULL);
    cases_add(&list, "hostile names take linear time", hostile_names_take_linear_time, NULL);
    return cases_run(&list, "kernel_name");
}
