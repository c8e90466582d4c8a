/* SPDX-License-Identifier: Apache-2.0
 *
 * Device code of rms_norm, for sm_80 and later. Squares are added in double, in row_per_warp the
 * four or eight of a vector in float first: in one long float chain equal values err to the same
 * side. A double addition for each 16 bytes stays below the memory's time also where doubles run at
 * 1/64 of the rate. 1/sqrt is correctly rounded, so that a row has the same bits on every GPU. Strides are elements and may be
 * negative; offsets are 64-bit. The order of additions depends on n and the kernel only: the bits
 * of a row do not depend on the other rows. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

namespace {

constexpr int kWarp = 32;

__device__ float to_float(float value) { return value; }
__device__ float to_float(__half value) { return __half2float(value); }
__device__ float to_float(__nv_bfloat16 value) { return __bfloat162float(value); }

template <class T> __device__ T from_float(float value);
template <> __device__ float from_float(float value) { return value; }
template <> __device__ __half from_float(float value) { return __float2half_rn(value); }
template <> __device__ __nv_bfloat16 from_float(float value) { return __float2bfloat16_rn(value); }

__device__ float scale_of(double sum, int64_t n, float eps)
{
    const float mean = static_cast<float>(sum / static_cast<double>(n));
    return __fdiv_rn(1.0f, __fsqrt_rn(mean + eps));
}

/* Every lane gets the sum of all; a butterfly adds the same pairs in each lane, so all have the
 * same bits. */
__device__ double sum_of_warp(double value)
{
#pragma unroll
    for (int distance = kWarp / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}

/* One block of 256 threads a row, any stride. Thread t owns the elements t, t + 256, ... of the row
 * in both passes, so in place is safe. Shared memory: 8 doubles, one a warp; the one barrier has all
 * threads write before any reads. Bound by memory; the second pass finds the row in L1 or L2. */
template <class T>
__device__ void row_per_block(const T *x, const T *__restrict__ weight, T *out, int64_t n,
                              int64_t x_row, int64_t x_column, int64_t weight_column,
                              int64_t out_row, int64_t out_column, float eps)
{
    constexpr int kThreads = 256;
    static_assert(kThreads % kWarp == 0, "whole warps reduce");
    __shared__ double partial[kThreads / kWarp];
    const T *const from = x + static_cast<int64_t>(blockIdx.x) * x_row;
    T *const to = out + static_cast<int64_t>(blockIdx.x) * out_row;
    double sum = 0;

    for (int64_t i = threadIdx.x; i < n; i += kThreads) {
        const double value = to_float(from[i * x_column]);
        sum += value * value;
    }
    sum = sum_of_warp(sum);
    if (threadIdx.x % kWarp == 0)
        partial[threadIdx.x / kWarp] = sum;
    __syncthreads();
    sum = 0;
#pragma unroll
    for (int warp = 0; warp < kThreads / kWarp; warp++)
        sum += partial[warp];

    const float scale = scale_of(sum, n, eps);
    for (int64_t i = threadIdx.x; i < n; i += kThreads)
        to[i * out_column] = from_float<T>(to_float(from[i * x_column]) * scale *
                                           to_float(weight[i * weight_column]));
}

template <class T> struct alignas(16) vector16 {
    static constexpr int kCount = 16 / sizeof(T);
    T at[kCount];
};

/* One warp a row, four rows a block of 128 threads; rows of whole 16-byte vectors, last strides 1.
 * Lane l owns the vectors l, l + 32, ... in both passes, so in place is safe, and there is neither
 * shared memory nor a barrier. Two vectors of a lane are in flight in the first pass. Bound by
 * memory; a row is read again from L1 or L2. */
template <class T>
__device__ void row_per_warp(const T *x, const T *__restrict__ weight, T *out, int64_t rows,
                             int64_t n, int64_t x_row, int64_t out_row, float eps)
{
    using vector = vector16<T>;
    constexpr int kRows = 4;
    const int lane = threadIdx.x % kWarp;
    const int64_t row = static_cast<int64_t>(blockIdx.x) * kRows + threadIdx.x / kWarp;
    const int64_t vectors = n / vector::kCount;
    double sum = 0;

    if (row >= rows) /* the whole warp leaves */
        return;
    const vector *const from = reinterpret_cast<const vector *>(x + row * x_row);
    const vector *const scales = reinterpret_cast<const vector *>(weight);
    vector *const to = reinterpret_cast<vector *>(out + row * out_row);

#pragma unroll 2
    for (int64_t v = lane; v < vectors; v += kWarp) {
        const vector part = from[v];
        float squares = 0;
#pragma unroll
        for (int i = 0; i < vector::kCount; i++)
            squares += to_float(part.at[i]) * to_float(part.at[i]);
        sum += squares;
    }
    const float scale = scale_of(sum_of_warp(sum), n, eps);

#pragma unroll 2
    for (int64_t v = lane; v < vectors; v += kWarp) {
        const vector part = from[v], by = scales[v];
        vector result;
#pragma unroll
        for (int i = 0; i < vector::kCount; i++)
            result.at[i] = from_float<T>(to_float(part.at[i]) * scale * to_float(by.at[i]));
        to[v] = result;
    }
}

} // namespace

#define ENTRIES(T, suffix)                                                                         \
    extern "C" __global__ void __launch_bounds__(256) rms_norm_row_per_block_##suffix(             \
        const T *x, const T *__restrict__ weight, T *out, int64_t n, int64_t x_row,                \
        int64_t x_column, int64_t weight_column, int64_t out_row, int64_t out_column, float eps)   \
    {                                                                                              \
        row_per_block<T>(x, weight, out, n, x_row, x_column, weight_column, out_row, out_column,   \
                         eps);                                                                     \
    }                                                                                              \
    extern "C" __global__ void __launch_bounds__(128) rms_norm_row_per_warp_##suffix(              \
        const T *x, const T *__restrict__ weight, T *out, int64_t rows, int64_t n, int64_t x_row,  \
        int64_t out_row, float eps)                                                                \
    {                                                                                              \
        row_per_warp<T>(x, weight, out, rows, n, x_row, out_row, eps);                             \
    }

ENTRIES(float, f32)
ENTRIES(__half, f16)
ENTRIES(__nv_bfloat16, bf16)
