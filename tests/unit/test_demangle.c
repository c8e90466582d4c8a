/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of kernels, mangled and as people write them. */
#include "cases.h"

#include "ridge/names.h"

static struct name_case {
    const char *name; /* mangled */
    const char *text;
} name_cases[] = {
    {"_Z5scalePff", "scale"},
    {"_Z11norm_kernelI13__nv_bfloat16Li4EEvPKT_PS1_i", "norm_kernel<__nv_bfloat16, 4>"},
    {"_ZN9attention7forwardENS_6ParamsE", "attention::forward"},
    {"_Z16tbmv_tile_kernelIi7double2Li64ELb1ELb0EEv20cublasTbmvTileParamsIlT0_E",
     "tbmv_tile_kernel<int, double2, 64, true, false>"},
    {"_Z1kIi7double2N4cuda3__413annotated_ptrIKS0_NS2_15access_property9streamingEEENS3_IS4_NS5_"
     "10persistingEEEEviPT0_",
     "k<int, double2, cuda::__4::annotated_ptr<double2 const, "
     "cuda::__4::access_property::streaming>, cuda::__4::annotated_ptr<double2 const, "
     "cuda::__4::access_property::persisting>>"},
    {"_ZN43_GLOBAL__N__b4148644_10_onerank_cu_fdf4799013oneRankReduceI13FuncPreMulSumEEvPv",
     "(anonymous namespace)::oneRankReduce<FuncPreMulSum>"},
    {"__nv_static_32__b4148644_10_onerank_cu_fdf47990__ZL4copyPf", "copy"},
    {"_Z1kIPKfRfOdEvv", "k<float const*, float&, double&&>"},
    {"_Z1kILin1ELm18446744073709551615EEvv", "k<-1, 18446744073709551615>"},
    {"_Z1kIJifdEEvv", "k<int, float, double>"},
    {"_Z1kIJEEvv", "k<>"},
    {"_Z1kIfJidEEvv", "k<float, int, double>"},
    {"_Z1kILN3foo4KindE2EEvv", "k<2>"},
    {"_Z1kIXadL_Z1fvEEEvv", "k<f>"},
    {"_Z1kIXplLi1ELi2EEEvv", NULL}, /* other expressions are not read */
    {"_Z1kIPFifdEEvv", "k<int (*)(float, double)>"},
    {"_Z1kIFvvEEvv", "k<void ()>"},
    {"_Z1kIA4_iEvv", "k<int [4]>"},
    {"_Z1kISt4pairIifES1_Evv", "k<std::pair<int, float>, std::pair<int, float>>"},
    {"_Z1kIZ4mainEUlvE_EvT_", "k<main::{lambda}>"},
    {"_Z1kIUlfE0_EvT_", "k<{lambda}>"},
    {"_Z1kIDhDF16bEvv", "k<half, std::bfloat16_t>"},
    {"k_spill", NULL},
    {"", NULL},
    {"_Z", NULL},
    {"_Z9999999999999999999999x", NULL},
    {"_Z5scal", NULL},
    {"_Z1kILi4", NULL},
    {"_ZN", NULL},
    {"_Z1kIS9_Evv", NULL},
};

static void shortens(void **state)
{
    const struct name_case *const row = *state;
    char buffer[400];

    assert_int_equal(ridge_name_short(row->name, buffer, sizeof(buffer)), row->text != NULL);
    assert_string_equal(buffer, row->text != NULL ? row->text : row->name);
}

static void cuts(void **state)
{
    char buffer[6];

    (void)state;
    assert_true(ridge_name_short("_ZN9attention7forwardEv", buffer, sizeof(buffer)));
    assert_string_equal(buffer, "atten");
    assert_false(ridge_name_short("block_sum", buffer, 1));
    assert_string_equal(buffer, "");
}

/* Names that would be long or deep without end are copied. */
static void gives_up(void **state)
{
    enum { LENGTH = 4000 };
    static char name[2 * LENGTH];
    char buffer[16];
    size_t i;

    (void)state;
    memcpy(name, "_Z1kI", 6);
    for (i = 0; i < LENGTH; i++)
        strcpy(name + 5 + i, "P");
    assert_false(ridge_name_short(name, buffer, sizeof(buffer)));
    memcpy(name, "_Z1k", 5);
    for (i = 0; i < LENGTH / 4; i++)
        strcat(name, "I1x");
    assert_false(ridge_name_short(name, buffer, sizeof(buffer)));
    /* Each pair holds the one before it twice: 2^40 characters. */
    strcpy(name, "_Z1kI1pI1aS1_E");
    for (i = 0; i < 40; i++) {
        char text[32];

        snprintf(text, sizeof(text), "S0_IS%c_S%c_E", (char)('2' + i % 8), (char)('2' + i % 8));
        strcat(name, text);
    }
    strcat(name, "Evv");
    ridge_name_short(name, buffer, sizeof(buffer));
    assert_true(strlen(buffer) < sizeof(buffer));
}

/* Every part of a long name, and every name with one character changed, ends. */
static void survives_damage(void **state)
{
    static const char whole[] =
        "_ZN7cutlass13device_kernelINS_4gemm6kernel13GemmUniversalIN4cute5tupleIJiiiEEENS1_"
        "10collective13CollectiveMmaINS1_34MainloopSm90TmaGmmaWarpSpecializedILi7EEEEELb0EEEEEvv";
    char name[sizeof(whole)];
    char buffer[600];
    size_t i, k;

    (void)state;
    for (i = 0; i < sizeof(whole); i++) {
        memcpy(name, whole, sizeof(whole));
        name[i] = '\0';
        ridge_name_short(name, buffer, sizeof(buffer));
        for (k = 0; i < sizeof(whole) - 1 && k < 96; k++) {
            memcpy(name, whole, sizeof(whole));
            name[i] = (char)(' ' + k);
            ridge_name_short(name, buffer, sizeof(buffer));
        }
    }
    assert_true(ridge_name_short(whole, buffer, sizeof(buffer)));
    assert_string_equal(
        buffer,
        "cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int>, "
        "cutlass::gemm::collective::CollectiveMma<"
        "cutlass::gemm::MainloopSm90TmaGmmaWarpSpecialized<7>>, false>>");
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, shortens, name_cases);
    cases_add(&list, "cut", cuts, NULL);
    cases_add(&list, "without end", gives_up, NULL);
    cases_add(&list, "damage", survives_damage, NULL);
    return cases_run(&list, "demangle");
}
