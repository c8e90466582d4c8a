// SPDX-License-Identifier: Apache-2.0
//
// One kernel, three strides: each lane sums a row of its own of a bf16 tile in shared memory, again
// and again. The stride of the rows decides how many lanes meet in one bank:
//
//     stride 128 elements (256 bytes)   all 32 lanes of a warp in one bank
//     stride 136                        4 lanes a bank
//     stride 130                        every lane in its own
//
// ridge banks says so without a GPU. The campaign in docs/guide/the-campaign.md predicts what each
// step gives from that and measures it. out[block][thread] = iterations * sum of the thread's row.
#include <cuda_bf16.h>

enum { ROWS = 64, COLUMNS = 128 };

// Shared memory: ROWS rows of STRIDE elements. 256 threads; warp w takes rows 32 * (w & 1) + lane.
template <int STRIDE>
__device__ void sum_rows(const __nv_bfloat16 *__restrict__ in, float *__restrict__ out,
                         int iterations)
{
    extern __shared__ __align__(16) unsigned char shared[];
    __nv_bfloat16 *const tile = reinterpret_cast<__nv_bfloat16 *>(shared);
    const int row = threadIdx.x % 32 + 32 * (threadIdx.x / 32 & 1);
    float sum = 0;

    for (int i = threadIdx.x; i < ROWS * COLUMNS; i += blockDim.x)
        tile[i / COLUMNS * STRIDE + i % COLUMNS] = in[i];
    __syncthreads();
    for (int iteration = 0; iteration < iterations; iteration++)
        for (int column = 0; column < COLUMNS; column++)
            sum += __bfloat162float(tile[row * STRIDE + ((column + iteration) & (COLUMNS - 1))]);
    out[blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x] = sum;
}

extern "C" __global__ void stride_128(const __nv_bfloat16 *in, float *out, int iterations)
{
    sum_rows<128>(in, out, iterations);
}

extern "C" __global__ void stride_136(const __nv_bfloat16 *in, float *out, int iterations)
{
    sum_rows<136>(in, out, iterations);
}

extern "C" __global__ void stride_130(const __nv_bfloat16 *in, float *out, int iterations)
{
    sum_rows<130>(in, out, iterations);
}

// The same sum without shared memory: slow, and plainly right.
extern "C" __global__ void reference(const __nv_bfloat16 *in, float *out, int iterations)
{
    const int row = threadIdx.x % 32 + 32 * (threadIdx.x / 32 & 1);
    double sum = 0;

    for (int column = 0; column < COLUMNS; column++)
        sum += static_cast<double>(__bfloat162float(in[row * COLUMNS + column]));
    out[blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x] =
        static_cast<float>(iterations * sum);
}
