/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels whose compiled form the tests of src/binary read. README.md says how it was compiled. */

__device__ __forceinline__ float scaled(float value)
{
    return value * 3.0f + 1.0f;
}

__device__ __forceinline__ float twice_scaled(const float *in, int i)
{
    return scaled(scaled(in[i]));
}

/* Static shared memory, one barrier, calls inlined two deep. */
extern "C" __global__ void block_sum(const float *in, float *out, int n)
{
    __shared__ float partial[128];
    float sum = 0.0f;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += twice_scaled(in, i);
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (threadIdx.x < half)
            partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = partial[0];
}

/* More live values than registers: spills. */
extern "C" __global__ void __launch_bounds__(1024) spill(const float *in, float *out)
{
    float value[80];

#pragma unroll
    for (int i = 0; i < 80; i++)
        value[i] = in[i * 1024 + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 80; i++)
        out[i * 1024 + threadIdx.x] = value[i] * value[79 - i] + value[(i * 7) % 80];
}

/* An array that is indexed at run time: local memory, but no spills. */
extern "C" __global__ void local_array(const int *in, int *out)
{
    int table[32];

    for (int i = 0; i < 32; i++)
        table[in[i] & 31] = i;
    out[threadIdx.x] = table[in[threadIdx.x] & 31];
}
