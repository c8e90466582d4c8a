// SPDX-License-Identifier: Apache-2.0
//
// The kernel of examples/campaign while its rows are being moved apart: three mistakes that are easily
// made on that day, and what is right. docs/guide/is-it-right.md lets ridge check find each.
//
// in: 64 rows of 128 bf16. out[block][thread] = iterations * sum of row (thread % 64).
#include <cuda_bf16.h>

enum { ROWS = 64, COLUMNS = 128, STRIDE = 136 };

enum mistake { NONE, OLD_STRIDE, SHORT_ROW, NO_BARRIER };

template <mistake MISTAKE>
__device__ void sum_rows(const __nv_bfloat16 *__restrict__ in, float *__restrict__ out,
                         int iterations)
{
    __shared__ __nv_bfloat16 tile[ROWS * STRIDE];
    // The rows are read with the new stride, but written with the old one.
    const int stored = MISTAKE == OLD_STRIDE ? COLUMNS : STRIDE;
    // The last column is forgotten.
    const int columns = MISTAKE == SHORT_ROW ? COLUMNS - 1 : COLUMNS;
    const int row = threadIdx.x % ROWS;
    float sum = 0;

    for (int i = threadIdx.x; i < ROWS * COLUMNS; i += blockDim.x)
        tile[i / COLUMNS * stored + i % COLUMNS] = in[i];
    // Without the barrier a warp reads rows that another has not written yet.
    if (MISTAKE != NO_BARRIER)
        __syncthreads();
    for (int iteration = 0; iteration < iterations; iteration++)
        for (int column = 0; column < columns; column++)
            sum += __bfloat162float(tile[row * STRIDE + column]);
    out[blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x] = sum;
}

extern "C" __global__ void right(const __nv_bfloat16 *in, float *out, int iterations)
{
    sum_rows<NONE>(in, out, iterations);
}

extern "C" __global__ void old_stride(const __nv_bfloat16 *in, float *out, int iterations)
{
    sum_rows<OLD_STRIDE>(in, out, iterations);
}

extern "C" __global__ void short_row(const __nv_bfloat16 *in, float *out, int iterations)
{
    sum_rows<SHORT_ROW>(in, out, iterations);
}

extern "C" __global__ void no_barrier(const __nv_bfloat16 *in, float *out, int iterations)
{
    sum_rows<NO_BARRIER>(in, out, iterations);
}

// One thread a row, in double.
extern "C" __global__ void reference(const __nv_bfloat16 *in, float *out, int iterations)
{
    double sum = 0;

    for (int column = 0; column < COLUMNS; column++)
        sum += static_cast<double>(__bfloat162float(in[threadIdx.x % ROWS * COLUMNS + column]));
    out[blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x] =
        static_cast<float>(iterations * sum);
}
