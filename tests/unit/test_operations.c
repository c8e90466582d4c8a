/* SPDX-License-Identifier: Apache-2.0 */
#include "bound_support.h"

/* -- bytes and operations, by hand ------------------------------------------------------------- */

#define MI 1048576.0

static struct count_case {
    const char *name; /* the call */
    double read_bytes, written_bytes, weight_bytes, cache_bytes, flop_count;
    ridge_peak peak;
} count_cases[] = {
    {"gemm m=8192 n=6144 k=4096 bf16", 64 * MI + 48 * MI, 96 * MI, 48 * MI, 0,
     2 * 8192.0 * 6144 * 4096, RIDGE_PEAK_TENSOR_BF16},
    {"gemm m=3 n=4 k=5 batch=2 f32", 2 * (15 + 20) * 4, 2 * 12 * 4, 2 * 20 * 4, 0, 2 * 2 * 60,
     RIDGE_PEAK_FP32},
    {"gemm m=3 n=4 k=5 bias=1 c=1 out_bits=32 f16", 15 * 2 + 20 * 2 + 4 * 2 + 12 * 4, 12 * 4,
     20 * 2 + 4 * 2, 0, 120, RIDGE_PEAK_TENSOR_FP16},
    {"gemm m=3 n=4 k=5 gated=1 fp8", 15 + 20, 6, 20, 0, 120, RIDGE_PEAK_TENSOR_FP8},
    {"gemm m=2 n=2 k=2 f64", 64, 32, 32, 0, 16, RIDGE_PEAK_TENSOR_FP64},
    {"gemm m=2 n=2 k=2 tf32", 32, 16, 16, 0, 16, RIDGE_PEAK_TENSOR_TF32},
    {"int4_gemm m=2 n=8 k=256 bf16", 8 * 128 + 8 * 2 * 2 + 2 * 256 * 2, 2 * 8 * 2,
     8 * 128 + 8 * 2 * 2, 0, 2 * 2 * 8 * 256, RIDGE_PEAK_TENSOR_BF16},
    /* A short last group; zero points of 4 bits; scales in float; a bias. */
    {"int4_gemm m=1 n=8 k=100 group=32 zero_bits=4 scale_bits=32 bias=1 bf16",
     8 * 50 + 8 * 4 * 4.5 + 8 * 2 + 100 * 2, 8 * 2, 8 * 50 + 8 * 4 * 4.5 + 8 * 2, 0, 2 * 8 * 100,
     RIDGE_PEAK_TENSOR_BF16},
    {"int4_gemm m=1 n=8 k=100 group=0 zero_bits=16 f16", 8 * 50 + 8 * 4 + 100 * 2, 8 * 2,
     8 * 50 + 8 * 4, 0, 2 * 8 * 100, RIDGE_PEAK_TENSOR_FP16},
    /* Causal: 1 + 2 + 3 pairs a head. */
    {"attention queries=3 heads=2 kv_heads=1 head_dim=8 bf16", 3 * 2 * 8 * 2 + 3 * 16 * 2,
     3 * 2 * (8 * 2 + 4), 0, 3 * 16 * 2, 2 * 2 * 16 * 6, RIDGE_PEAK_TENSOR_BF16},
    {"attention queries=3 heads=2 head_dim=8 causal=0 lse=0 bf16", 3 * 2 * 8 * 2 * 3, 3 * 2 * 8 * 2,
     0, 2 * 3 * 2 * 8 * 2, 2 * 2 * 16 * 9, RIDGE_PEAK_TENSOR_BF16},
    /* Decode: one query sees all; values narrower than keys. */
    {"attention batch=2 queries=1 keys=10 heads=4 kv_heads=2 head_dim=24 v_dim=16 bf16",
     2 * 4 * 24 * 2 + 2 * 10 * 2 * 40 * 2, 2 * 4 * (16 * 2 + 4), 0, 2 * 10 * 2 * 40 * 2,
     2 * 2 * 4 * 40 * 10, RIDGE_PEAK_TENSOR_BF16},
    /* Two new tokens behind three: 4 + 5 pairs. */
    {"attention queries=2 keys=5 heads=1 head_dim=8 bf16", 2 * 8 * 2 + 5 * 16 * 2, 2 * (8 * 2 + 4),
     0, 5 * 16 * 2, 2 * 16 * 9, RIDGE_PEAK_TENSOR_BF16},
    /* More queries than keys: the first two see none; 1 + 2 + 3. */
    {"attention queries=5 keys=3 heads=1 head_dim=8 bf16", 5 * 8 * 2 + 3 * 16 * 2, 5 * (8 * 2 + 4),
     0, 3 * 16 * 2, 2 * 16 * 6, RIDGE_PEAK_TENSOR_BF16},
    /* Window of two: 1 + 2 + 2 + 2; behind three tokens 2 + 2, and only three keys are read. */
    {"attention queries=4 window=2 heads=1 head_dim=8 bf16", 4 * 8 * 2 + 4 * 16 * 2,
     4 * (8 * 2 + 4), 0, 4 * 16 * 2, 2 * 16 * 7, RIDGE_PEAK_TENSOR_BF16},
    {"attention queries=2 keys=5 window=2 heads=1 head_dim=8 bf16", 2 * 8 * 2 + 3 * 16 * 2,
     2 * (8 * 2 + 4), 0, 3 * 16 * 2, 2 * 16 * 4, RIDGE_PEAK_TENSOR_BF16},
    {"attention queries=4 window=100 heads=1 head_dim=8 bf16", 4 * 8 * 2 + 4 * 16 * 2,
     4 * (8 * 2 + 4), 0, 4 * 16 * 2, 2 * 16 * 10, RIDGE_PEAK_TENSOR_BF16},
    {"rms_norm rows=8192 columns=4096 bf16", 64 * MI + 8192, 64 * MI, 8192, 0, 4 * 32 * MI,
     RIDGE_PEAK_FP32},
    {"rms_norm rows=8 columns=4 weight=0 rstd=1 f64", 32 * 8, 32 * 8 + 8 * 4, 0, 0, 128,
     RIDGE_PEAK_FP64},
    {"add_rms_norm rows=8192 columns=4096 bf16", 128 * MI + 8192, 128 * MI, 8192, 0, 5 * 32 * MI,
     RIDGE_PEAK_FP32},
    {"add_rms_norm rows=2 columns=4 residual_bits=32 bf16", 8 * 6 + 8, 8 * 6, 8, 0, 40,
     RIDGE_PEAK_FP32},
    {"rotary tokens=8192 heads=32 kv_heads=8 head_dim=128 bf16", 80 * MI, 80 * MI, 0, 0,
     3 * 40 * MI, RIDGE_PEAK_FP32},
    {"rotary tokens=10 heads=2 head_dim=64 rotary_dim=32 f16", 10 * 2 * 32 * 2, 10 * 2 * 32 * 2, 0,
     0, 3 * 640, RIDGE_PEAK_FP32},
    {"rotary tokens=10 heads=2 head_dim=64 rotary_dim=32 in_place=0 positions=5 cache_bits=32 f16",
     10 * 2 * 64 * 2 + 5 * 32 * 4 + 10 * 8, 10 * 2 * 64 * 2, 0, 0, 3 * 640, RIDGE_PEAK_FP32},
    {"silu_and_mul rows=8192 columns=14336 bf16", 448 * MI, 224 * MI, 0, 0, 10 * 112 * MI,
     RIDGE_PEAK_FP32},
    {"silu_and_mul rows=2 columns=4 gelu=1 f32", 64, 32, 0, 0, 160, RIDGE_PEAK_FP32},
    {"softmax rows=3 columns=5 f32", 60, 60, 0, 0, 75, RIDGE_PEAK_FP32},
    {"transpose rows=3 columns=5 f32", 60, 60, 0, 0, 0, RIDGE_PEAK_NONE},
    {"copy elements=64Mi int4", 32 * MI, 32 * MI, 0, 0, 0, RIDGE_PEAK_NONE},
    {"reduce elements=1k results=10 f32", 4000, 40, 0, 0, 1000, RIDGE_PEAK_FP32},
    /* A state of float in and out, 128 x 128, and the vectors of one token. */
    {"kda_decode sequences=2 heads=3 bf16", 6 * (65536 + 768 + 512 + 4), 6 * (65536 + 256), 0,
     6 * 131072, 6 * 7 * 16384, RIDGE_PEAK_FP32},
};

static void counts(void **state)
{
    const struct count_case *const test = *state;
    ridge_work works[RIDGE_OPERATION_WORKS];
    size_t count;
    ridge_error err;

    if (work_of(test->name, works, &count, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(count, 1);
    assert_near(works[0].read_bytes, test->read_bytes, 0);
    assert_near(works[0].written_bytes, test->written_bytes, 0);
    assert_near(works[0].weight_bytes, test->weight_bytes, 0);
    assert_near(works[0].cache_bytes, test->cache_bytes, 0);
    assert_near(works[0].flop_count, test->flop_count, 0);
    assert_int_equal(works[0].peak, test->peak);
}

/* -- Kimi Delta Attention: one chunk of 16 tokens, one head of 128 ----------------------------- */

static struct kernel_case {
    const char *name;
    const char *call;
    double read_bytes, written_bytes, flop_count;
} kernel_cases[] = {
    {"F1", "kda_forward", 16448, 9216, 131072},    {"F2", "kda_forward", 21568, 40960, 1736704},
    {"A", "kda_backward", 21568, 32768, 1736704},  {"B1", "kda_backward", 54336, 16384, 1179648},
    {"B2", "kda_backward", 90176, 16960, 1605632}, {"B0", "kda_backward", 24704, 1152, 196608},
    {"B3", "kda_backward", 42560, 16384, 262144},
};

static const ridge_work *find_work(const ridge_work *works, size_t count, const char *name)
{
    size_t i;

    for (i = 0; i < count; i++)
        if (strcmp(works[i].name, name) == 0)
            return &works[i];
    fail_msg("no kernel %s", name);
    return NULL;
}

static void kda_chunk(void **state)
{
    const struct kernel_case *const test = *state;
    ridge_work works[RIDGE_OPERATION_WORKS];
    const ridge_work *work;
    char text[80];
    size_t count;

    snprintf(text, sizeof(text), "%s tokens=16 heads=1 bf16", test->call);
    assert_int_equal(work_of(text, works, &count, NULL), RIDGE_OK);
    work = find_work(works, count, test->name);
    assert_near(work->read_bytes, test->read_bytes, 0);
    assert_near(work->written_bytes, test->written_bytes, 0);
    assert_near(work->flop_count, test->flop_count, 0);
    assert_int_equal(work->peak, RIDGE_PEAK_TENSOR_BF16);
}

/* Microseconds at 4.0 TB/s, and their sum at 4.0, 4.8 and 3.35 TB/s. */
static struct kda_time {
    const char *name;
    double a, b1, b2, b0, b3, sum_h20, sum_h200, sum_h100;
} kda_times[] = {
    {"kda_backward tokens=8192 heads=96 bf16", 668, 869, 1316, 318, 724, 3895, 3246, 4651},
    {"kda_backward tokens=8192 heads=64 bf16", 445, 579, 878, 212, 483, 2597, 2164, 3101},
    {"kda_backward tokens=8192 heads=16 bf16", 111, 145, 219, 53, 121, 649, 541, 775},
    {"kda_backward tokens=4096 heads=12 bf16", 42, 54, 82, 20, 45, 243, 203, 291},
};

static void kda_time(void **state)
{
    const struct kda_time *const test = *state;
    const struct {
        const char *name;
        double us;
    } kernels[] = {
        {"A", test->a}, {"B1", test->b1}, {"B2", test->b2}, {"B0", test->b0}, {"B3", test->b3}};
    ridge_work works[RIDGE_OPERATION_WORKS];
    double bytes = 0;
    size_t count, i;

    assert_int_equal(work_of(test->name, works, &count, NULL), RIDGE_OK);
    assert_int_equal(count, 5);
    for (i = 0; i < 5; i++) {
        const ridge_work *const work = find_work(works, count, kernels[i].name);
        const double moved = work->read_bytes + work->written_bytes;

        assert_true(fabs(moved / 4.0e6 - kernels[i].us) <= 0.51);
        bytes += moved;
    }
    assert_true(fabs(bytes / 4.0e6 - test->sum_h20) <= 0.51);
    assert_true(fabs(bytes / 4.8e6 - test->sum_h200) <= 0.51);
    assert_true(fabs(bytes / 3.35e6 - test->sum_h100) <= 0.51);
}

/* Two sequences of 20 tokens are four chunks, inputs and outputs have 40 rows; inference writes
 * neither U nor the states between chunks; first and last states are float. */
static void kda_variants(void **state)
{
    ridge_work works[RIDGE_OPERATION_WORKS];
    size_t count;

    assert_int_equal(work_of("kda_forward tokens=20 sequences=2 heads=1 training=0 states=1 bf16",
                             works, &count, NULL),
                     RIDGE_OK);
    assert_near(works[0].read_bytes, 40 * (256 + 256 + 512 + 4), 0);
    assert_near(works[0].written_bytes, 4 * (8192 + 512 + 512), 0);
    assert_near(works[1].read_bytes, 40 * (256 + 256 + 256 + 4) + 4 * (8192 + 1024) + 2 * 65536, 0);
    assert_near(works[1].written_bytes, 40 * 256 + 2 * 65536, 0);
    assert_near(works[1].cache_bytes, 4 * 65536, 0);
    assert_near(works[1].flop_count, 4 * 1736704, 0);
    /* Values half as wide as keys. */
    assert_int_equal(work_of("kda_backward tokens=16 heads=1 v_dim=64 bf16", works, &count, NULL),
                     RIDGE_OK);
    assert_near(works[0].read_bytes, 21568 - 2048, 0);
    assert_near(works[0].written_bytes, 16384, 0);
    assert_near(works[0].flop_count, 1736704.0 / 2, 0);
    (void)state;
}

/* -- floors: the larger of bytes / 4.3 TB/s and FLOP / 788 TFLOP/s, as measured on an H200 ------ */

static struct floor_case {
    const char *name;
    double us, off_us; /* off_us: half of the last digit given */
} floor_cases[] = {
    {"rms_norm rows=8192 columns=4096 bf16", 31.2, 0.05},
    {"rms_norm rows=8192 columns=8192 bf16", 62.4, 0.05},
    {"rms_norm rows=2048 columns=4096 bf16", 7.8, 0.05},
    {"rms_norm rows=327680 columns=128 bf16", 39.0, 0.05},
    {"add_rms_norm rows=8192 columns=4096 bf16", 62.4, 0.05},
    {"add_rms_norm rows=8192 columns=8192 bf16", 124.9, 0.05},
    {"rotary tokens=8192 heads=32 kv_heads=8 head_dim=128 bf16", 39.0, 0.05},
    {"rotary tokens=8192 heads=64 kv_heads=8 head_dim=128 bf16", 70.2, 0.05},
    {"silu_and_mul rows=8192 columns=14336 bf16", 163.9, 0.06},
    {"silu_and_mul rows=8192 columns=28672 bf16", 327.7, 0.06},
    {"gemm m=8192 n=8192 k=8192 bf16", 1395, 0.51},
    {"gemm m=8192 n=6144 k=4096 bf16", 523, 0.51},
    {"gemm m=8192 n=28672 k=4096 bf16", 2442, 0.51},
    {"gemm m=8192 n=4096 k=14336 bf16", 1221, 0.51},
    {"gemm m=8192 n=57344 k=8192 bf16", 9767, 0.51},
    {"gemm m=8192 n=8192 k=28672 bf16", 4883.6, 0.05},
    {"gemm m=1 n=57344 k=8192 bf16", 218.5, 0.06},
    {"gemm m=1 n=128256 k=4096 bf16", 244.4, 0.05},
    {"gemm m=1 n=6144 k=4096 bf16", 11.7, 0.05},
    {"gemm m=1 n=4096 k=4096 bf16", 7.8, 0.05},
    {"attention queries=8192 heads=64 kv_heads=8 head_dim=128 bf16", 1395, 0.6},
    {"attention batch=4 queries=4096 heads=32 head_dim=64 bf16", 349, 0.51},
    {"attention batch=1 queries=8192 heads=16 head_dim=256 bf16", 698, 0.51},
    {"attention batch=64 queries=1 keys=4096 heads=32 kv_heads=8 head_dim=128 bf16", 250, 0.51},
    {"int4_gemm m=1 n=8192 k=8192 bf16", 8.0, 0.06},
    {"int4_gemm m=1 n=28672 k=4096 bf16", 14.1, 0.05},
    {"int4_gemm m=1 n=57344 k=8192 bf16", 56.3, 0.07},
    {"int4_gemm m=16 n=57344 k=8192 bf16", 56.8, 0.05},
    {"int4_gemm m=64 n=57344 k=8192 bf16", 76.3, 0.05}, /* its bytes alone: 58.3 */
    {"int4_gemm m=8192 n=28672 k=4096 bf16", 2442, 0.51},
};

static void floors(void **state)
{
    const struct floor_case *const test = *state;
    ridge_work works[RIDGE_OPERATION_WORKS];
    ridge_roofs roofs;
    ridge_bound bound;
    size_t count;

    memset(&roofs, 0, sizeof(roofs));
    roofs.dram_bytes_per_s = 4.3e12;
    roofs.flop_per_s[RIDGE_PEAK_TENSOR_BF16] = 788e12;
    roofs.flop_per_s[RIDGE_PEAK_FP32] = NAN;
    roofs.launch_s = NAN;
    assert_int_equal(work_of(test->name, works, &count, NULL), RIDGE_OK);
    ridge_bound_of(&works[0], &roofs, &bound);
    if (!(fabs(bound.time_s * 1e6 - test->us) <= test->off_us))
        fail_msg("%.9g us, expected %.9g", bound.time_s * 1e6, test->us);
}

/* -- what is refused --------------------------------------------------------------------------- */

static struct bad_case {
    const char *name;
    const char *message;
} bad_cases[] = {
    {"gemm m=1 n=1 bf16",
     "gemm needs k (it takes m: rows of a and d, n: columns of b, k: columns of a"},
    {"gemm m=0 n=1 k=1 bf16", "m=0, expected 1 to 1e+15: rows of a and d"},
    {"gemm m=2000000000000000 n=1 k=1 bf16", "m=2e+15, expected 1 to 1e+15"},
    {"gemm m=1 n=3 k=1 gated=1 bf16", "n=3 is odd"},
    {"gemm m=1 n=2 k=1 gated=1 c=1 bf16", "exclude each other"},
    {"gemm m=1 n=2 k=1 gated=2 bf16", "gated=2, expected 0 to 1"},
    {"gemm m=1 n=2 k=1 int4", "int4_gemm"},
    {"gemm m=1 n=2 k=1 int32", "no unit multiplies"},
    {"gemm m=1 n=2 x=1 bf16", "gemm has no parameter 'x'"},
    {"gemm m bf16", "'m' is not NAME=VALUE"},
    {"gemm m= bf16", "m= is no whole number"},
    {"gemm m=-1 bf16", "m=-1 is no whole number"},
    {"gemm m=1.5 bf16", "m=1.5 is no whole number"},
    {"int4_gemm m=1 n=1 k=1 zero_bits=8 bf16", "zero_bits=8, expected 0 (none), 4"},
    {"attention queries=1 heads=6 kv_heads=4 head_dim=8 bf16",
     "heads=6 is no multiple of kv_heads=4"},
    {"attention queries=1 heads=1 head_dim=8 causal=0 window=3 bf16", "window=3 needs causal=1"},
    {"attention queries=1 heads=1 head_dim=8 int4", "int4_gemm"},
    {"rotary tokens=1 heads=1 head_dim=8 rotary_dim=3 bf16", "rotary_dim=3 is odd"},
    {"rotary tokens=1 heads=1 head_dim=8 rotary_dim=10 bf16",
     "rotary_dim=10 is more than head_dim=8"},
    {"kda_backward tokens=16 heads=1 int32", "no unit multiplies"},
    {"reduce elements=1 results=2 bf16", "results=2 is more than elements=1"},
};

static void rejects(void **state)
{
    const struct bad_case *const bad = *state;
    ridge_work works[RIDGE_OPERATION_WORKS];
    size_t count = 0;
    ridge_error err;

    assert_int_equal(work_of(bad->name, works, &count, &err), RIDGE_ERR_INVALID_ARGUMENT);
    assert_int_equal(count, 0);
    if (strstr(err.text, bad->message) == NULL)
        fail_msg("%s", err.text);
}

static void rejects_what_is_not_whole(void **state)
{
    const ridge_operation *const copy = ridge_operation_find("copy");
    const ridge_operation own = {"own", "", "", NULL, 0};
    const double half[RIDGE_OPERATION_PARAMETERS] = {0.5 + 1};
    const double infinite[RIDGE_OPERATION_PARAMETERS] = {(double)INFINITY};
    ridge_work works[RIDGE_OPERATION_WORKS];
    size_t count;
    ridge_error err;

    assert_int_equal(ridge_operation_work(copy, half, RIDGE_ELEMENT_F32, works, &count, &err),
                     RIDGE_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "elements=1.5 is no whole number"));
    assert_int_equal(ridge_operation_work(copy, infinite, RIDGE_ELEMENT_F32, works, &count, NULL),
                     RIDGE_ERR_INVALID_ARGUMENT);
    assert_int_equal(ridge_operation_work(&own, half, RIDGE_ELEMENT_F32, works, &count, &err),
                     RIDGE_ERR_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "unknown operation 'own'"));
    (void)state;
}

/* -- the table --------------------------------------------------------------------------------- */

static void table_is_whole(void **state)
{
    const size_t operation_count = ridge_operation_count();
    size_t i, k;

    for (i = 0; i < operation_count; i++) {
        const ridge_operation *const operation = ridge_operation_at(i);
        size_t index;

        assert_ptr_equal(ridge_operation_find(operation->name), operation);
        assert_true(strlen(operation->summary) > 0 && strlen(operation->formula) > 0);
        assert_in_range(operation->parameter_count, 1, RIDGE_OPERATION_PARAMETERS);
        for (k = 0; k < operation->parameter_count; k++) {
            const ridge_parameter *const parameter = &operation->parameters[k];

            assert_true(strlen(parameter->help) > 0);
            assert_true(parameter->least <= parameter->most);
            assert_true(isnan(parameter->default_value) ||
                        (parameter->default_value >= parameter->least &&
                         parameter->default_value <= parameter->most));
            assert_true(ridge_operation_parameter(operation, parameter->name, &index));
            assert_int_equal(index, k);
            /* What must be given comes first: it is shown so. */
            assert_true(k == 0 || !isnan(parameter->default_value) ||
                        isnan(operation->parameters[k - 1].default_value));
        }
        assert_false(ridge_operation_parameter(operation, "no such", &index));
    }
    assert_null(ridge_operation_at(operation_count));
    assert_null(ridge_operation_find("no such"));
    (void)state;
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, counts, count_cases);
    CASES_ADD_ROWS(&list, kda_chunk, kernel_cases);
    CASES_ADD_ROWS(&list, kda_time, kda_times);
    cases_add(&list, "kda variants", kda_variants, NULL);
    CASES_ADD_ROWS(&list, floors, floor_cases);
    CASES_ADD_ROWS(&list, rejects, bad_cases);
    cases_add(&list, "not whole", rejects_what_is_not_whole, NULL);
    cases_add(&list, "the table", table_is_whole, NULL);
    return cases_run(&list, "operations");
}
