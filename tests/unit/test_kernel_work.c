/* SPDX-License-Identifier: Apache-2.0
 *
 * The least work of kernels by the shapes of their operation. Numbers by hand. */
#include "cases.h"

#include <string.h>

#include "timeline/next/next_internal.h"

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
    {"index_put_: a mask, the values", "aten::index_put_", "f32[640,128] ?[640] f32[12,128]", "",
     640 + 4. * 12 * 128, 4. * 12 * 128, 0, RIDGE_PEAK_NONE},
    {"index_put_: a list that was left out", "aten::_index_put_impl_", "bf16[8,16] - bf16[4,16]",
     "", 2. * 64, 2. * 64, 0, RIDGE_PEAK_NONE},
    {"index_select: along what leaves least", "aten::index_select", "bf16[5185,1024] - i64[5185]",
     "", 8. * 5185, 2. * 1024 * 5185, 0, RIDGE_PEAK_NONE},
    {"scatter_add_: as far as the index goes", "aten::scatter_add_",
     "f32[44] - i64[300] f32[47670]", "", 8. * 300 + 4. * 300, 0, 0, RIDGE_PEAK_NONE},
    {"index_add_: the source whole", "aten::index_add_", "f32[755,8] - i32[10] f32[10,8]", "",
     4. * 10 + 4. * 80, 0, 0, RIDGE_PEAK_NONE},
    {"cat: rotated halves of a decoder's prefill", "aten::cat", "?[4,32,2048,64] ?[4,32,2048,64]",
     "void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::(anonymous "
     "namespace)::OpaqueType<2u>, unsigned int, 4, 64, 64>(at::native::(anonymous)...)",
     2. * 2 * 4 * 32 * 2048 * 64, 2. * 2 * 4 * 32 * 2048 * 64, 0, RIDGE_PEAK_NONE},
    {"cat: the type in an older kernel's name", "aten::cat", "?[1,1,768] ?[1,25088,768]",
     "CatArrayBatchedCopy_contig<c10::BFloat16, unsigned int, 2, 128, 1>", 2. * 768 * 25089,
     2. * 768 * 25089, 0, RIDGE_PEAK_NONE},
    {"cat: a stretched input is written whole", "aten::cat", "?[4*,8] ?[4,8]",
     "CatArrayBatchedCopy<OpaqueType<4>, unsigned int>", 4. * (8 + 32), 4. * 64, 0,
     RIDGE_PEAK_NONE},
    {"batch norm", "aten::cudnn_batch_norm",
     "f32[32,256,56,56] f32[256] f32[256] f32[256] f32[256]", "bn_fw_tr_1C11_singleread",
     4. * (32. * 256 * 56 * 56 + 2 * 256), 4. * 32 * 256 * 56 * 56, 0, RIDGE_PEAK_NONE},
    {"batch norm, back: what holds nothing is no type of the result",
     "aten::cudnn_batch_norm_backward",
     "f32[32,64,56,56] f32[32,64,56,56] f32[64] f32[64] f32[64] f32[64] f32[64] - u8[0]",
     "bn_bw_1C11_kernel_new", 4. * (2. * 32 * 64 * 56 * 56 + 64), 4. * 32 * 64 * 56 * 56, 0,
     RIDGE_PEAK_NONE},
    {"batch norm: the kernel of statistics", "aten::native_batch_norm",
     "bf16[10,512,7,7] bf16[512] bf16[512]", "batch_norm_collect_statistics_kernel<Var>",
     2. * 10 * 512 * 49, 0, 0, RIDGE_PEAK_NONE},
    {"batch norm: the kernel that applies them", "aten::native_batch_norm",
     "bf16[10,512,7,7] bf16[512] bf16[512]", "batch_norm_transform_input_kernel<BFloat16>",
     2. * 10 * 512 * 49, 2. * 10 * 512 * 49, 0, RIDGE_PEAK_NONE},
    {"layer norm, back: of the input", "aten::native_layer_norm_backward",
     "f32[1024,512] f32[1024,512] - f32[1024,1] f32[1024,1] f32[512] f32[512]",
     "layer_norm_grad_input_kernel<float, float>", 4. * 2 * 1024 * 512, 4. * 1024 * 512, 0,
     RIDGE_PEAK_NONE},
    {"layer norm, back: of the weights", "aten::native_layer_norm_backward",
     "f32[1024,512] f32[1024,512] - f32[1024,1] f32[1024,1] f32[512] f32[512]",
     "GammaBetaBackwardCUDAKernel<float, float>", 4. * 2 * 1024 * 512, 0, 0, RIDGE_PEAK_NONE},
    {"masked fill: a mask is no type of the result", "aten::masked_fill",
     "f32[64,128] bool[64,128] f32[]", "", 4. * 64 * 128 + 64 * 128 + 4, 4. * 64 * 128, 0,
     RIDGE_PEAK_NONE},
    /* of two lists of a tensor each, [100] and [28], 128 elements a list */
    {"foreach: two lists, one written", "aten::_foreach_add_", "?[100] ?[28] ?[100] ?[28]",
     "multi_tensor_apply_kernel<TensorListMetadata<2>, BinaryOpListAlphaFunctor<float, 2, 2, 0>, "
     "std::plus<float>, float>",
     4. * 256, 4. * 128, 0, RIDGE_PEAK_NONE},
    {"foreach: by a number, elsewhere", "aten::_foreach_mul", "?[100] ?[28]",
     "multi_tensor_apply_kernel<TensorListMetadata<2>, BinaryOpScalarFunctor<c10::BFloat16, 2, 1, "
     "1>",
     2. * 128, 2. * 128, 0, RIDGE_PEAK_NONE},
    /* parameters, gradients, two moments: 4 x 128 read, all but the gradients written */
    {"fused Adam", "aten::_fused_adam_", "?[100] ?[28] ?[100] ?[28] ?[100] ?[28] ?[100] ?[28]",
     "multi_tensor_apply_kernel<FusedOptimizerTensorListMetadata<4>, FusedAdamMathFunctor<float, "
     "4, "
     "(at::native::ADAM_MODE)0, false> >",
     4. * 512, 4. * 384, 0, RIDGE_PEAK_NONE},
    {"fused SGD: a first step reads no momentum", "aten::_fused_sgd_", "?[100] ?[100] ?[100]",
     "multi_tensor_apply_kernel<TensorListMetadata<3>, FusedSgdMathFunctor<float, 3>", 4. * 200,
     4. * 200, 0, RIDGE_PEAK_NONE},
    {"indices that are checked", "fbgemm::bounds_check_indices",
     "i64[485] i64[15372892] i64[993281] - i64[1]", "", 8. * (485 + 15372892 + 993281), 0, 0,
     RIDGE_PEAK_NONE},
    {"attention, back: five products where it has two",
     "aten::_scaled_dot_product_flash_attention_backward",
     "bf16[2,8,64,32] bf16[2,8,64,32] bf16[2,4,64,32] bf16[2,4,64,32] bf16[2,8,64,32] f32[2,8,64]",
     "flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel",
     2. * 2 * (2 * 64 * 8 * 32 + 64 * 4 * (32 + 32)), 0,
     2.5 * 2 * 2 * 8 * (32 + 32) * (64. * 65 / 2), RIDGE_PEAK_TENSOR_BF16},
    /* pairs of all 64 x 64: twice those of a causal one and a bit */
    {"attention: told that it is not causal", "aten::_scaled_dot_product_flash_attention",
     "bf16[2,8,64,32] bf16[2,4,64,32] bf16[2,4,64,32] =0. =False =False", "",
     2. * 2 * (64 * 8 * 32 + 64 * 4 * (32 + 32)), 2. * 2 * 64 * 8 * 32,
     2. * 2 * 8 * (32 + 32) * (64. * 64), RIDGE_PEAK_TENSOR_BF16},
    {"attention: across, more queries than keys", "aten::_scaled_dot_product_flash_attention",
     "bf16[2,8,64,32] bf16[2,8,16,32] bf16[2,8,16,32] =0. =False =False", "",
     2. * 2 * 8 * 32 * (64 + 16 + 16), 2. * 2 * 64 * 8 * 32, 2. * 2 * 8 * (32 + 32) * (64. * 16),
     RIDGE_PEAK_TENSOR_BF16},
    {"attention: no window", "flash_attn::_flash_attn_forward",
     "bf16[2,64,8,32] bf16[2,64,4,32] bf16[2,64,4,32] =0.0 =0.125 =True =-1 =-1 =0.0", "",
     2. * 2 * (64 * 8 * 32 + 64 * 4 * (32 + 32)), 2. * 2 * 64 * 8 * 32,
     2. * 2 * 8 * (32 + 32) * (64. * 65 / 2), RIDGE_PEAK_TENSOR_BF16},
    /* patches of a vision transformer: 14 x 14 outputs, each of the input's elements once, 768 x 3 x 16 x
     * 16 weights; every output has 3 x 16 x 16 products */
    {"convolution: patches", "aten::cudnn_convolution",
     "bf16[128,3,224,224] bf16[768,3,16,16] =[0,0] =[16,16] =[1,1] =1 =False =False =True",
     "cutlass_tensorop_bf16_s16816fprop_optimized_bf16_256x64_32x4_nhwc_align4",
     2. * (128. * 3 * 224 * 224 + 768. * 3 * 256), 2. * 128 * 768 * 196, 2. * 128 * 768 * 196 * 768,
     RIDGE_PEAK_TENSOR_BF16},
    /* 4 wide, padded by 1, 3 taps: 2 + 3 + 3 + 2 = 10 pairs an axis */
    {"convolution: what lies in the padding is no work", "aten::cudnn_convolution",
     "f16[2,8,4,4] f16[16,8,3,3] =[1,1] =[1,1] =[1,1] =1", "implicit_convolve_sgemm",
     2. * (2 * 8 * 16 + 16 * 8 * 9), 2. * 2 * 16 * 16, 2. * 2 * 16 * 8 * 100,
     RIDGE_PEAK_TENSOR_FP16},
    {"convolution: Winograd multiplies less", "aten::cudnn_convolution",
     "f16[2,8,4,4] f16[16,8,3,3] =[1,1] =[1,1] =[1,1] =1", "cudnn_winograd_128x128_fprop",
     2. * (2 * 8 * 16 + 16 * 8 * 9), 2. * 2 * 16 * 16, 0, RIDGE_PEAK_NONE},
    /* 1 x 1 by steps of 2: a quarter of the input; two groups of 4 channels */
    {"convolution: what a step leaves out", "aten::cudnn_convolution",
     "f16[2,8,4,4] f16[16,4,1,1] =0 =2 =1 =2", "sm80_xmma_gemm", 2. * (2 * 8 * 4 + 16 * 4),
     2. * 2 * 16 * 4, 2. * 2 * 16 * 4 * 4, RIDGE_PEAK_TENSOR_FP16},
    {"convolution and relu", "aten::cudnn_convolution_relu",
     "f16[2,8,4] f16[16,8,3] f16[16] =[1] =[1] =[1] =1", "fprop", 2. * (2 * 8 * 4 + 16 * 8 * 3),
     2. * 2 * 16 * 4, 2. * 2 * 16 * 8 * 10, RIDGE_PEAK_TENSOR_FP16},
    /* holes: 5 - 4 = 1 output of 3 taps; each of the inputs is touched by up to 3 */
    {"convolution: holes", "aten::cudnn_convolution", "f16[1,1,5] f16[1,1,3] =[0] =[1] =[2] =1",
     "fprop", 2. * (1 + 3), 2, 2. * 3, RIDGE_PEAK_TENSOR_FP16},
    {"Triton: each tensor once", "triton_poi_fused__unsafe_view_mul_silu_2",
     "bf16[8,4096,8192] bf16[32768,8192] =268435456", "triton_poi_fused__unsafe_view_mul_silu_2",
     2. * 2 * 268435456, 0, 0, RIDGE_PEAK_NONE},
    {"Triton: rows and what is reduced", "triton_red_fused_add_mean_mul_pow_rsqrt_0",
     "bf16[8,4096,2048] bf16[2048] bf16[8,4096,2048] =32768 =2048",
     "triton_red_fused_add_mean_mul_pow_rsqrt_0", 2. * (2 * 67108864. + 2048), 0, 0,
     RIDGE_PEAK_NONE},
    {"Triton: two loops, by the tensor that has as many", "triton_poi_fused_clone_1",
     "f32[16,32] f32[32,16] =16 =32", "triton_poi_fused_clone_1", 4. * 1024, 0, 0, RIDGE_PEAK_NONE},
    {"Triton: an extent that is no loop", "triton_poi_fused_add_0", "f32[32] f32[32] =7 =32",
     "triton_poi_fused_add_0", 4. * 64, 0, 0, RIDGE_PEAK_NONE},
    {"Triton: of parts what is as large as the loop",
     "triton_poi_fused__scaled_dot_product_flash_attention_cat_transpose_view_10",
     "bf16[8192,2432] bf16[666,2432] bf16[2,38,4429,64] =21542656",
     "triton_poi_fused__scaled_dot_product_flash_attention_cat_transpose_view_10", 2. * 21542656, 0,
     0, RIDGE_PEAK_NONE},
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
    const char *operation, *shapes, *kernel;
} none_cases[] = {
    {"operation is not known", "aten::mkldnn_convolution", "bf16[1,3,32,32] bf16[6,3,3,3]"},
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
    {"flash_attn: a window that is not told", "flash_attn::_flash_attn_forward",
     "bf16[2,64,8,32] bf16[2,64,4,32] bf16[2,64,4,32]"},
    {"flash_attn: a window", "flash_attn::_flash_attn_forward",
     "bf16[2,64,8,32] bf16[2,64,4,32] bf16[2,64,4,32] =0.0 =0.125 =True =16 =0 =0.0"},
    {"PyTorch's own: a window", "aten::_flash_attention_forward",
     "bf16[2,64,8,32] bf16[2,64,4,32] bf16[2,64,4,32] - - =64 =64 =0. =True =False =0.1 =16 =0"},
    {"causal, fewer queries than keys", "aten::_scaled_dot_product_flash_attention",
     "bf16[2,8,16,32] bf16[2,8,64,32] bf16[2,8,64,32] =0. =True =False"},
    {"a convolution without its numbers", "aten::cudnn_convolution",
     "bf16[1,3,32,32] bf16[6,3,3,3]"},
    {"a convolution of no step", "aten::cudnn_convolution",
     "f16[2,8,4,4] f16[16,8,3,3] =[1,1] =[0,0] =[1,1] =1"},
    {"a convolution of three axes on two", "aten::cudnn_convolution",
     "f16[2,8,4,4] f16[16,8,3,3] =[1,1,1] =[1,1] =[1,1] =1"},
    {"a convolution larger than its input", "aten::cudnn_convolution",
     "f16[2,8,2,2] f16[16,8,3,3] =[0,0] =[1,1] =[1,1] =1"},
    {"a convolution of too many taps", "aten::cudnn_convolution",
     "f16[2,8,99999] f16[16,8,9999] =[0] =[1] =[1] =1"},
    {"numbers that do not end", "aten::cudnn_convolution",
     "f16[2,8,4,4] f16[16,8,3,3] =[1,1 =[1,1] =[1,1] =1"},
    {"Triton: rows chosen by others", "triton_poi_fused_embedding_0",
     "i64[8] bf16[64,4] bf16[8,4] =32", "triton_poi_fused_embedding_0"},
    {"Triton: the loops are not told", "triton_poi_fused_add_0", "f32[32] f32[32]",
     "triton_poi_fused_add_0"},
    {"Triton: a memset beside the kernel", "triton_poi_fused_add_0", "f32[32] f32[32] =32", "fill"},
    {"Triton: a template", "triton_tem_fused_mm_0", "f32[32] f32[32] =32", "triton_tem_fused_mm_0"},
    {"a list of a type that no name tells", "aten::cat", "?[8] ?[8]", "CatArrayBatchedCopy<T, 1>"},
    {"a list that was left out", "aten::cat", "- - f32[8]", "CatArrayBatchedCopy<float, 1>"},
    {"copies of floats to another type", "aten::_foreach_copy_", "?[8] ?[8]",
     "multi_tensor_apply_kernel<TensorListMetadata<2>, CopyFunctor<float, double, 2, 1, 1>"},
    {"a functor that does not tell its lists", "aten::_foreach_addcmul_", "?[8] ?[8] ?[8]",
     "multi_tensor_apply_kernel<TensorListMetadata<3>, PointwiseOpListFunctor<float, 3>>"},
    {"a functor of ten lists", "aten::_foreach_add_", "?[8]",
     "multi_tensor_apply_kernel<TensorListMetadata<1>, BinaryOpScalarFunctor<float, 10, 1, 0>"},
    {"another kernel of a norm", "aten::native_batch_norm", "bf16[10,512,7,7] bf16[512]",
     "batch_norm_update_stats"},
    {"values that are a number, two indices", "aten::index_put_", "u8[8,8] ?[8] ?[8]"},
    {"numbers alone", "aten::add", "-"},
};

static void has_none(void **state)
{
    const struct none_case *const row = *state;
    ridge_work work;

    assert_false(kernel_work_of(row->operation, row->shapes,
                                row->kernel != NULL ? row->kernel : "kernel", &work));
}

static void has_room(void **state)
{
    char shapes[200 * 6] = "";
    ridge_work work;

    (void)state;
    for (size_t i = 0; i < 192; i++)
        strcat(shapes, i == 0 ? "u8[1]" : " u8[1]");
    assert_true(kernel_work_of("aten::add", shapes, "kernel", &work));
    strcat(shapes, " u8[1]");
    assert_false(kernel_work_of("aten::add", shapes, "kernel", &work));
}

static void has_scope(void **state)
{
    (void)state;
    assert_int_equal(kernel_scope_of("aten::conv", "k"), KERNEL_SCOPE_NONE);
    assert_int_equal(kernel_scope_of("aten::cat", "k"), KERNEL_SCOPE_ALL);
    assert_int_equal(kernel_scope_of("aten::mm", "k"), KERNEL_SCOPE_MAIN);
    assert_int_equal(kernel_scope_of("aten::native_group_norm", "RowwiseMomentsCUDAKernel<float>"),
                     KERNEL_SCOPE_OWN);
    assert_int_equal(kernel_scope_of("aten::native_group_norm", "ComputeFusedParams"),
                     KERNEL_SCOPE_NONE);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, has_work, work_cases);
    CASES_ADD_ROWS(&list, has_none, none_cases);
    cases_add(&list, "as many tensors as an optimiser has", has_room, NULL);
    cases_add(&list, "whose work it is", has_scope, NULL);
    return cases_run(&list, "kernel_work");
}
