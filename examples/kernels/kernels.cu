// SPDX-License-Identifier: Apache-2.0
//
// Three kernels with a known bottleneck. Their Nsight Compute reports are the worked examples of
// `ridge diagnose` and `ridge diff`; launch.c runs them.
//
//   rms_norm_narrow     2-byte accesses and a shared-memory reservation that leaves three blocks
//                       an SM: too few bytes in flight, bound by latency at low occupancy
//   rms_norm_wide       the same work at the rate of device memory
//   transpose_conflict  a shared-memory tile read down its columns: 32-way bank conflicts
//
// The rms_norm kernels add a residual and normalise, in place, one row a block:
//
//   s        = x + residual
//   residual = bf16(s)
//   x        = bf16(s / sqrt(mean(s * s) + epsilon) * weight)
//
// Rows hold ROW_ELEMENTS bf16 values and follow each other without a gap. bf16 is handled as raw
// bits so that the module, and with it a report's copy of the sources, needs no CUDA header.

#include <stdint.h>

constexpr int ROW_ELEMENTS = 4096; // launch.c has the same number
constexpr int WARP = 32;

__device__ __forceinline__ float bf16_to_float(uint16_t bits)
{
    return __uint_as_float(static_cast<uint32_t>(bits) << 16);
}

__device__ __forceinline__ uint16_t float_to_bf16(float value)
{
    uint16_t bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}

// The lower address, and so the lower half of a word, holds the first of two elements.
__device__ __forceinline__ float low_bf16(uint32_t pair)
{
    return __uint_as_float(pair << 16);
}

__device__ __forceinline__ float high_bf16(uint32_t pair)
{
    return __uint_as_float(pair & 0xffff0000u);
}

__device__ __forceinline__ uint32_t pack_bf16(float low, float high)
{
    uint32_t pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}

// Sum of `value` over the block, returned to every thread. `partial` has one float a warp; one
// barrier is enough because it is written once in a kernel.
template <int THREADS>
__device__ __forceinline__ float block_sum(float value, float *partial)
{
    constexpr int WARPS = THREADS / WARP;
    const int warp = static_cast<int>(threadIdx.x) / WARP;
    const int lane = static_cast<int>(threadIdx.x) % WARP;
    float total = 0.0f;

#pragma unroll
    for (int offset = WARP / 2; offset > 0; offset /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    if (lane == 0)
        partial[warp] = value;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < WARPS; i++)
        total += partial[i];
    return total;
}

// One row a block of 128 threads; thread t owns the elements t, t + 128, t + 256, ...
//
// Shared memory: the row as float in the first 16 KiB of the dynamic part. The launcher reserves
// 73 KiB, so an SM of 228 KiB holds three blocks, 12 of its 64 warps. Each thread writes and reads
// its own elements only; the one barrier is that of the sum.
//
// Bound by latency: 12 warps with two 2-byte loads a lane keep 1.5 KiB in flight, a tenth of what
// the bandwidth of an H200 takes.
extern "C" __global__ void __launch_bounds__(128)
    rms_norm_narrow(uint16_t *x, uint16_t *residual, const uint16_t *weight, float epsilon)
{
    constexpr int THREADS = 128;
    extern __shared__ float staged[];
    __shared__ float partial[THREADS / WARP];
    const int64_t row = static_cast<int64_t>(blockIdx.x) * ROW_ELEMENTS;
    float square_sum = 0.0f;

    for (int i = static_cast<int>(threadIdx.x); i < ROW_ELEMENTS; i += THREADS) {
        const float sum = bf16_to_float(x[row + i]) + bf16_to_float(residual[row + i]);

        residual[row + i] = float_to_bf16(sum);
        staged[i] = sum;
        square_sum += sum * sum;
    }

    const float mean = block_sum<THREADS>(square_sum, partial) / ROW_ELEMENTS;
    const float scale = rsqrtf(mean + epsilon);

    for (int i = static_cast<int>(threadIdx.x); i < ROW_ELEMENTS; i += THREADS)
        x[row + i] = float_to_bf16(staged[i] * scale * bf16_to_float(weight[i]));
}

// One row a block of 64 threads; thread t owns the 16-byte vectors t, t + 64, ..., t + 448 of the
// row, which stay in registers between the sum and the scaling. Every loop has a
// compile-time bound: a run-time index into `sum` would put it into local memory.
//
// Shared memory: one float a warp for the sum, one barrier.
//
// Bound by device memory: sixteen independent 16-byte loads a thread are in flight before the first
// is used, and each byte is moved once.
extern "C" __global__ void __launch_bounds__(64)
    rms_norm_wide(uint16_t *__restrict__ x, uint16_t *__restrict__ residual,
                  const uint16_t *__restrict__ weight, float epsilon)
{
    constexpr int THREADS = 64;
    constexpr int ROW_VECTORS = ROW_ELEMENTS * 2 / 16;
    constexpr int VECTORS = ROW_VECTORS / THREADS; // a thread's share of a row
    static_assert(VECTORS * THREADS == ROW_VECTORS, "a block covers a row exactly");
    __shared__ float partial[THREADS / WARP];
    const int64_t row = static_cast<int64_t>(blockIdx.x) * ROW_VECTORS;
    uint4 *const x_row = reinterpret_cast<uint4 *>(x) + row;
    uint4 *const residual_row = reinterpret_cast<uint4 *>(residual) + row;
    const uint4 *const weight_row = reinterpret_cast<const uint4 *>(weight);
    uint4 a[VECTORS], b[VECTORS];
    float sum[VECTORS][8];
    float square_sum = 0.0f;

#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
        a[v] = x_row[threadIdx.x + v * THREADS];
        b[v] = residual_row[threadIdx.x + v * THREADS];
    }

#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
        const uint32_t a_pairs[4] = {a[v].x, a[v].y, a[v].z, a[v].w};
        const uint32_t b_pairs[4] = {b[v].x, b[v].y, b[v].z, b[v].w};
        uint32_t out[4];

#pragma unroll
        for (int p = 0; p < 4; p++) {
            const float low = low_bf16(a_pairs[p]) + low_bf16(b_pairs[p]);
            const float high = high_bf16(a_pairs[p]) + high_bf16(b_pairs[p]);

            sum[v][2 * p] = low;
            sum[v][2 * p + 1] = high;
            square_sum += low * low + high * high;
            out[p] = pack_bf16(low, high);
        }
        residual_row[threadIdx.x + v * THREADS] = make_uint4(out[0], out[1], out[2], out[3]);
    }

    const float mean = block_sum<THREADS>(square_sum, partial) / ROW_ELEMENTS;
    const float scale = rsqrtf(mean + epsilon);

#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
        const uint4 w = weight_row[threadIdx.x + v * THREADS];
        const uint32_t w_pairs[4] = {w.x, w.y, w.z, w.w};
        uint32_t out[4];

#pragma unroll
        for (int p = 0; p < 4; p++)
            out[p] = pack_bf16(sum[v][2 * p] * scale * low_bf16(w_pairs[p]),
                               sum[v][2 * p + 1] * scale * high_bf16(w_pairs[p]));
        x_row[threadIdx.x + v * THREADS] = make_uint4(out[0], out[1], out[2], out[3]);
    }
}

// out = transpose of in, both n x n floats, n a multiple of 32. A block of 32 x 8 threads moves one
// 32 x 32 tile; both global accesses are coalesced.
//
// Shared memory: the tile, 4 KiB, rows of 32 floats without padding. A warp writes a row of the
// tile (conflict-free) and reads a column: 32 lanes 128 bytes apart, all in one bank, so a read
// takes 32 wavefronts. A row of 33 floats would put a column's elements into 32 different banks.
//
// Bound by the L1 data pipe, which is busy with the replays.
extern "C" __global__ void __launch_bounds__(256)
    transpose_conflict(const float *in, float *out, int n)
{
    constexpr int TILE = 32;
    constexpr int ROWS = 8; // rows of the tile that a block moves at a time
    __shared__ float tile[TILE][TILE];
    const int tx = static_cast<int>(threadIdx.x);
    const int ty = static_cast<int>(threadIdx.y);
    const int in_column = static_cast<int>(blockIdx.x) * TILE;
    const int in_row = static_cast<int>(blockIdx.y) * TILE;

#pragma unroll
    for (int j = 0; j < TILE; j += ROWS)
        tile[ty + j][tx] = in[static_cast<int64_t>(in_row + ty + j) * n + in_column + tx];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < TILE; j += ROWS)
        out[static_cast<int64_t>(in_column + ty + j) * n + in_row + tx] = tile[tx][ty + j];
}
