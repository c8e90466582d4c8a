/* SPDX-License-Identifier: Apache-2.0
 *
 * The least work of kernels by the shapes of their operation. Numbers by hand. */
#include "cases.h"

#include "timeline/next_internal.h"

static struct work_case {
    const char *name;
    const char *operation, *shapes, *kernel;
    double read_bytes, written_bytes, flop_count;
    ridge_peak peak;
} work_cases[] = {
    {"mm", "aten::mm", "bf16[8192,4096] bf16[4096,6144]", "nvjet",
     2. * (8192. * 4096 + 4096. * 6144), 2. * 8192 * 6144, 2. * 8192 * 4096 * 6144,
     RIDGE_PEAK_TENSOR_BF16},
    {"addmm: what is added may not be", "aten::addmm", "f16[128] f16[32,64] f16[64,128]", "gemm",
     2. * (32 * 64 + 64 * 128), 2. * 32 * 128, 2. * 32 * 64 * 128, RIDGE_PEAK_TENSOR_FP16},
    {"bmm", "aten::bmm", "bf16[8,32,64] bf16[8,64,16]", "gemm", 2. * 8 * (32 * 64 + 64 * 16),
     2. * 8 * 32 * 16, 2. * 8 * 32 * 64 * 16, RIDGE_PEAK_TENSOR_BF16},
    {"linear: the weight lies the other way", "aten::linear", "bf16[4,8,64] bf16[128,64] bf16[128]",
     "gemm", 2. * (32 * 64 + 64 * 128), 2. * 32 * 128, 2. * 32 * 64 * 128, RIDGE_PEAK_TENSOR_BF16},
    {"fp8", "aten::_scaled_mm", "e4m3[32,64] e4m3[64,128] f32[] f32[]", "gemm", 32 * 64 + 64 * 128,
     32 * 128, 2. * 32 * 64 * 128, RIDGE_PEAK_TENSOR_FP8},
    {"floats: TF32 unless the name says no", "aten::mm", "f32[32,64] f32[64,128]", "nvjet_s",
     4. * (32 * 64 + 64 * 128), 4. * 32 * 128, 2. * 32 * 64 * 128, RIDGE_PEAK_TENSOR_TF32},
    {"floats: sgemm", "aten::mm", "f32[32,64] f32[64,128]", "ampere_sgemm_128x64_nn",
     4. * (32 * 64 + 64 * 128), 4. * 32 * 128, 2. * 32 * 64 * 128, RIDGE_PEAK_FP32},
    {"floats: a tensor core in the name", "aten::mm", "f32[32,64] f32[64,128]",
     "cutlass_80_tensorop_s1688gemm_128x64", 4. * (32 * 64 + 64 * 128), 4. * 32 * 128,
     2. * 32 * 64 * 128, RIDGE_PEAK_TENSOR_TF32},
    {"add", "aten::add", "bf16[64,128] bf16[64,128]", "", 4. * 64 * 128, 2. * 64 * 128, 0,
     RIDGE_PEAK_NONE},
    {"add: stretched", "aten::add", "f32[64,1] f32[128]", "", 4. * (64 + 128), 4. * 64 * 128, 0,
     RIDGE_PEAK_NONE},
    {"add: an input of stride 0 is read once", "aten::add", "f32[64,128*] f32[64,128]", "",
     4. * (64 + 64 * 128), 4. * 64 * 128, 0, RIDGE_PEAK_NONE},
    {"sum: of one element, stretched", "aten::sum", "f32[64*,128*]", "", 4, 0, 0, RIDGE_PEAK_NONE},
    {"bmm: one matrix for all", "aten::bmm", "bf16[8,32,64] bf16[8*,64,16]", "gemm",
     2. * (8 * 32 * 64 + 64 * 16), 2. * 8 * 32 * 16, 2. * 8 * 32 * 64 * 16, RIDGE_PEAK_TENSOR_BF16},
    {"attention: stretched heads", "aten::_scaled_dot_product_flash_attention",
     "bf16[2,8,64,32] bf16[2,8*,64,32] bf16[2,8*,64,32]", "",
     2. * 2 * (64 * 8 * 32 + 64 * (32 + 32)), 2. * 2 * 64 * 8 * 32,
     2. * 2 * 8 * (32 + 32) * (64. * 65 / 2), RIDGE_PEAK_TENSOR_BF16},
    {"mul: by a number, into a tensor that is not read", "aten::mul", "f32[64,128] - f32[64,128]",
     "", 4. * 64 * 128, 4. * 64 * 128, 0, RIDGE_PEAK_NONE},
    {"add: the last tensor is the result", "aten::add", "f32[100] f32[100] - f32[100]", "", 800,
     400, 0, RIDGE_PEAK_NONE},
    {"layer norm: the shape is no tensor", "aten::native_layer_norm",
     "f32[64,128] - f32[128] f32[128]", "", 4. * (64 * 128 + 256), 4. * 64 * 128, 0,
     RIDGE_PEAK_NONE},
    {"mul: types mix", "aten::mul", "f32[64,128] bf16[128]", "", 4. * 64 * 128 + 2. * 128,
     2. * 64 * 128, 0, RIDGE_PEAK_NONE},
    {"copy: the target is not read", "aten::copy_", "f32[64,128] bf16[64,128]", "", 2. * 64 * 128,
     4. * 64 * 128, 0, RIDGE_PEAK_NONE},
    {"fill", "aten::fill_", "f32[100]", "", 0, 400, 0, RIDGE_PEAK_NONE},
    {"compare: bytes of truth", "aten::eq", "i64[100] i64[]", "", 808, 100, 0, RIDGE_PEAK_NONE},
    {"sum: the result may be anything", "aten::sum", "f32[64,128]", "", 4. * 64 * 128, 0, 0,
     RIDGE_PEAK_NONE},
    {"softmax", "aten::_softmax", "bf16[64,128]", "", 2. * 64 * 128, 2. * 64 * 128, 0,
     RIDGE_PEAK_NONE},
    {"layer norm", "aten::native_layer_norm", "f32[64,128] f32[128] f32[128]", "",
     4. * (64 * 128 + 256), 4. * 64 * 128, 0, RIDGE_PEAK_NONE},
    {"norm with its residual", "_C::fused_add_rms_norm", "bf16[64,128] bf16[64,128] bf16[128]", "",
     2. * (2 * 64 * 128 + 128), 2. * 2 * 64 * 128, 0, RIDGE_PEAK_NONE},
    {"gated activation", "_C::silu_and_mul", "bf16[64,128] bf16[64,256]", "", 2. * 64 * 256,
     2. * 64 * 128, 0, RIDGE_PEAK_NONE},
    {"index_copy_: what is copied alone", "aten::index_copy_",
     "bf16[4,8,2048,64] - i64[1] bf16[4,8,1,64]", "", 8 + 2. * 4 * 8 * 64, 2. * 4 * 8 * 64, 0,
     RIDGE_PEAK_NONE},
    {"gather: elements may be one", "aten::gather", "f32[16,32000] - i64[16,1]", "", 8. * 16,
     4. * 16, 0, RIDGE_PEAK_NONE},
    {"embedding: rows may be one", "aten::embedding", "bf16[32000,128] i64[4,16]", "", 8. * 64,
     2. * 64 * 128, 0, RIDGE_PEAK_NONE},
    {"attention: causal, half of the pairs", "aten::_scaled_dot_product_flash_attention",
     "bf16[2,8,64,32] bf16[2,4,64,32] bf16[2,4,64,32]", "",
     2. * 2 * (64 * 8 * 32 + 64 * 4 * (32 + 32)), 2. * 2 * 64 * 8 * 32,
     2. * 2 * 8 * (32 + 32) * (64. * 65 / 2), RIDGE_PEAK_TENSOR_BF16},
    {"attention: tokens before heads", "aten::_flash_attention_forward",
     "bf16[2,64,8,32] bf16[2,64,4,32] bf16[2,64,4,32]", "",
     2. * 2 * (64 * 8 * 32 + 64 * 4 * (32 + 32)), 2. * 2 * 64 * 8 * 32,
     2. * 2 * 8 * (32 + 32) * (64. * 65 / 2), RIDGE_PEAK_TENSOR_BF16},
};

static void has_work(void **state)
{
    const struct work_case *const row = *state;
    ridge_work work;

    assert_true(kernel_work_of(row->operation, row->shapes, row->kernel, &work));
    assert_true(work.read_bytes == row->read_bytes);
    assert_true(work.written_bytes == row->written_bytes);
    assert_true(work.flop_count == row->flop_count);
    assert_int_equal(work.peak, row->peak);
}

static struct none_case {
    const char *name;
    const char *operation, *shapes;
} none_cases[] = {
    {"operation is not known", "aten::cudnn_convolution", "bf16[1,3,32,32] bf16[6,3,3,3]"},
    {"no shapes", "aten::mm", ""},
    {"one matrix", "aten::mm", "bf16[8,8]"},
    {"type is not known", "aten::add", "?[8,8] bf16[8,8]"},
    {"types of a product differ", "aten::mm", "bf16[8,8] e4m3[8,8]"},
    {"product of whole numbers", "aten::mm", "i64[8,8] i64[8,8]"},
    {"inner sizes differ", "aten::mm", "bf16[8,4] bf16[8,8]"},
    {"batches differ", "aten::bmm", "bf16[2,8,8] bf16[3,8,8]"},
    {"vector", "aten::matmul", "bf16[8] bf16[8,8]"},
    {"shapes that do not fit", "aten::add", "bf16[8,4] bf16[8,3]"},
    {"nothing to do", "aten::add", "bf16[0,4] bf16[0,4]"},
    {"more queries than keys", "aten::_scaled_dot_product_flash_attention",
     "bf16[1,8,64,32] bf16[1,8,32,32] bf16[1,8,32,32]"},
    {"packed sequences", "flash_attn::_flash_attn_forward",
     "bf16[64,8,32] bf16[64,8,32] bf16[64,8,32]"},
    {"cut in the type", "aten::add", "bf1"},
    {"cut in the sizes", "aten::add", "bf16[8,"},
    {"no sizes", "aten::add", "bf16[8,x]"},
    {"negative", "aten::add", "bf16[-8]"},
    {"a mark without a size", "aten::add", "bf16[*]"},
    {"nine dimensions", "aten::add", "bf16[1,1,1,1,1,1,1,1,1]"},
    {"seventeen tensors", "aten::add",
     "u8[1] u8[1] u8[1] u8[1] u8[1] u8[1] u8[1] u8[1] u8[1] u8[1] u8[1] u8[1] u8[1] u8[1] u8[1] "
     "u8[1] u8[1]"},
    {"numbers alone", "aten::add", "-"},
};

static void has_none(void **state)
{
    const struct none_case *const row = *state;
    ridge_work work;

    assert_false(kernel_work_of(row->operation, row->shapes, "kernel", &work));
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, has_work, work_cases);
    CASES_ADD_ROWS(&list, has_none, none_cases);
    return cases_run(&list, "kernel_work");
}
