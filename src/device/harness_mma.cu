/* SPDX-License-Identifier: Apache-2.0
 *
 * The probe of the tensor cores, apart from harness_kernels.cu because it needs sm_80. */
#include <stdint.h>

enum { CHAINS = 4 };

/* d += a b for a 16 x 16 row-major, b 8 x 16 (column-major 16 x 8): PTX ISA, mma.m16n8k16. */
__device__ static inline void multiply(float d[4], const uint32_t a[4], const uint32_t b[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* A warp a tile of out, 16 x 8; extra steps go to sums of their own, which are stored where steps is
 * negative, that is never: ptxas drops products that cannot be seen. */
__device__ static inline void products(const uint32_t *a, const uint32_t *b, float *out,
                                       int64_t warps, int64_t steps, int64_t extra)
{
    const unsigned lane = threadIdx.x % 32, row = lane / 4, pair = lane % 4;
    const uint32_t left[4] = {a[row * 8 + pair], a[(row + 8) * 8 + pair], a[row * 8 + pair + 4],
                              a[(row + 8) * 8 + pair + 4]};
    const uint32_t right[2] = {b[row * 8 + pair], b[row * 8 + pair + 4]};
    const int64_t step_of_warps = (int64_t)gridDim.x * blockDim.x / 32;

    for (int64_t warp = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32; warp < warps;
         warp += step_of_warps) {
        float sums[CHAINS][4] = {}, unread[CHAINS][4] = {};
        float *const tile = out + warp * 128;

#pragma unroll 4
        for (int64_t step = 0; step < steps; step++)
#pragma unroll
            for (int chain = 0; chain < CHAINS; chain++)
                multiply(sums[chain], left, right);
#pragma unroll 4
        for (int64_t step = 0; step < extra; step++)
#pragma unroll
            for (int chain = 0; chain < CHAINS; chain++)
                multiply(unread[chain], left, right);
        if (steps < 0)
#pragma unroll
            for (int chain = 0; chain < CHAINS; chain++)
#pragma unroll
                for (int k = 0; k < 4; k++)
                    sums[chain][k] += unread[chain][k];
#pragma unroll
        for (int k = 0; k < 4; k++)
            tile[(row + k / 2 * 8) * 8 + pair * 2 + k % 2] =
                (sums[0][k] + sums[1][k]) + (sums[2][k] + sums[3][k]);
    }
}

extern "C" __global__ void harness_mma0(const uint32_t *a, const uint32_t *b, float *out,
                                        int64_t warps, int64_t steps, int64_t extra)
{
    products(a, b, out, warps, steps, extra);
}

extern "C" __global__ void harness_mma1(const uint32_t *a, const uint32_t *b, float *out,
                                        int64_t warps, int64_t steps, int64_t extra)
{
    products(a, b, out, warps, steps, extra);
}
