/* SPDX-License-Identifier: Apache-2.0 */
#include "bound_support.h"

/* Bytes and operations by hand. */
static struct count_case {
    const char *name; /* the call */
    double read_bytes, written_bytes, weight_bytes, cache_bytes, flop_count;
    ridge_peak peak;
} count_cases[] = {
    {"embedding tokens=3 columns=8 bf16", 3 * 16 + 3 * 8, 3 * 16, 3 * 16, 0, 0, RIDGE_PEAK_NONE},
    {"add rows=3 columns=5 f32", 120, 60, 0, 0, 15, RIDGE_PEAK_FP32},
    {"kv_cache_write tokens=3 columns=8 bf16", 48 + 24, 48, 0, 48, 0, RIDGE_PEAK_NONE},
    {"kv_cache_write tokens=3 columns=8 cache_bits=8 bf16", 48 + 24, 24, 0, 24, 0, RIDGE_PEAK_NONE},
    /* One latent of 12 elements a key for all 4 heads; two queries behind three: 4 + 5 pairs. */
    {"mla_attention batch=2 queries=2 keys=5 heads=4 kv_rank=8 rope_dim=4 bf16",
     2 * 5 * 12 * 2 + 2 * 2 * 4 * 12 * 2, 2 * 2 * 4 * 8 * 2, 0, 2 * 5 * 12 * 2,
     2 * 2 * 4 * 9 * (12 + 8), RIDGE_PEAK_TENSOR_BF16},
    {"mla_attention keys=10 heads=128 bf16", 10 * 576 * 2 + 128 * 576 * 2, 128 * 512 * 2, 0,
     10 * 576 * 2, 2 * 128 * 10 * 1088, RIDGE_PEAK_TENSOR_BF16},
    {"moe_topk tokens=5 experts=16 top_k=2 bf16", 5 * 16 * 4, 5 * 2 * 8, 0, 0, 0, RIDGE_PEAK_NONE},
    /* One token touches its two experts, two tokens 4 (1 - 1/4) of four. */
    {"moe_gemm tokens=1 experts=4 top_k=2 n=8 k=16 bf16", 2 * 128 * 2 + 16 * 2 + 2 * 4, 2 * 8 * 2,
     2 * 128 * 2, 0, 2 * 2 * 128, RIDGE_PEAK_TENSOR_BF16},
    {"moe_gemm tokens=2 experts=4 top_k=2 n=8 k=16 gather=0 bf16", 3 * 128 * 2 + 4 * 16 * 2 + 4 * 4,
     4 * 8 * 2, 3 * 128 * 2, 0, 2 * 4 * 128, RIDGE_PEAK_TENSOR_BF16},
    {"moe_gemm tokens=7 experts=4 top_k=4 n=8 k=16 fp8", 4 * 128 + 7 * 16 + 28 * 4, 28 * 8, 4 * 128,
     0, 2 * 28 * 128, RIDGE_PEAK_TENSOR_FP8},
    {"moe_permute tokens=3 top_k=2 columns=8 bf16", 3 * 16 + 3 * 2 * 4, 6 * 16, 0, 0, 0,
     RIDGE_PEAK_NONE},
    {"moe_combine tokens=3 top_k=2 columns=8 bf16", 6 * 16 + 6 * 8, 3 * 16, 0, 0, 2 * 6 * 8,
     RIDGE_PEAK_FP32},
    {"moe_combine tokens=3 top_k=2 columns=8 shared=1 bf16", 9 * 16 + 6 * 8, 3 * 16, 0, 0, 15 * 8,
     RIDGE_PEAK_FP32},
    {"short_conv tokens=10 columns=8 bf16", 10 * 16 + 4 * 16, 10 * 16, 4 * 16, 0, 17 * 80,
     RIDGE_PEAK_FP32},
    {"short_conv tokens=10 columns=8 taps=3 sequences=2 bf16", 10 * 16 + 3 * 16 + 2 * 2 * 16,
     10 * 16 + 2 * 2 * 16, 3 * 16, 2 * 2 * 2 * 16, 15 * 80, RIDGE_PEAK_FP32},
    {"gated_rms_norm rows=3 columns=8 bf16", 2 * 48 + 16, 48, 16, 0, 14 * 24, RIDGE_PEAK_FP32},
};

static void counts(void **state)
{
    const struct count_case *const test = *state;
    ridge_work works[RIDGE_OPERATION_WORKS];
    ridge_error err = {0};
    size_t count;

    if (work_of(test->name, works, &count, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(count, 1);
    assert_near(works[0].read_bytes, test->read_bytes, 1e-12);
    assert_near(works[0].written_bytes, test->written_bytes, 1e-12);
    assert_near(works[0].weight_bytes, test->weight_bytes, 1e-12);
    assert_near(works[0].cache_bytes, test->cache_bytes, 1e-12);
    assert_near(works[0].flop_count, test->flop_count, 1e-12);
    assert_int_equal(works[0].peak, test->peak);
}

/* 256 experts, 8 a token: all but nobody's are touched by a large batch, eight by one token. */
static void touches_experts(void **state)
{
    static const struct {
        const char *tokens;
        double touched;
    } rows[] = {{"1", 8}, {"32", 163.313846}, {"4096", 256}, {"1G", 256}};
    ridge_work works[RIDGE_OPERATION_WORKS];
    char text[96];
    size_t count;
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        snprintf(text, sizeof(text), "moe_gemm tokens=%s experts=256 top_k=8 n=1 k=1 fp8",
                 rows[i].tokens);
        assert_int_equal(work_of(text, works, &count, NULL), RIDGE_OK);
        assert_near(works[0].weight_bytes, rows[i].touched, 1e-6);
    }
}

static struct bad_case {
    const char *name, *message;
} bad_cases[] = {
    {"moe_gemm tokens=1 experts=2 top_k=3 n=1 k=1 bf16", "top_k=3 is more than experts=2"},
    {"moe_topk tokens=1 experts=2 top_k=3 bf16", "top_k=3 is more than experts=2"},
    {"mla_attention queries=3 keys=2 heads=1 bf16", "queries=3 is more than keys=2"},
    {"mla_attention keys=2 heads=1 int4", "is a type of storage"},
    {"moe_gemm tokens=1 experts=2 top_k=1 n=1 k=1 int4", "is a type of storage"},
    {"embedding tokens=1 bf16", "embedding needs columns"},
    {"short_conv tokens=1 columns=1 taps=0 bf16", "taps=0, expected 1 to 1024"},
};

static void rejects(void **state)
{
    const struct bad_case *const test = *state;
    ridge_work works[RIDGE_OPERATION_WORKS];
    ridge_error err;
    size_t count;

    assert_int_equal(work_of(test->name, works, &count, &err), RIDGE_ERR_INVALID_ARGUMENT);
    assert_int_equal(count, 0);
    if (strstr(err.text, test->message) == NULL)
        fail_msg("%s", err.text);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, counts, count_cases);
    cases_add(&list, "experts touched", touches_experts, NULL);
    CASES_ADD_ROWS(&list, rejects, bad_cases);
    return cases_run(&list, "operations_model");
}
