/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of the harness and the probes; harness_cuda.c and probe.c launch them. make_ptx.sh
 * turns this into harness_ptx.c. All step by the grid. */
#include "device/fill_arithmetic.h"

__device__ static inline uint64_t thread_index()
{
    return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ static inline uint64_t thread_count()
{
    return (uint64_t)gridDim.x * blockDim.x;
}

__device__ static inline uint64_t nanoseconds()
{
    uint64_t now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

__device__ static inline bool is_aligned(const void *data, unsigned bytes)
{
    return (uintptr_t)data % bytes == 0;
}

/* -- values ------------------------------------------------------------------------------------ */

__device__ static void store_element(ridge_dtype dtype, void *data, int64_t at, double value)
{
    const uint64_t bits = dtype_encode(dtype, value);

    switch (dtype_size(dtype)) {
    case 1:
        ((uint8_t *)data)[at] = (uint8_t)bits;
        break;
    case 2:
        ((uint16_t *)data)[at] = (uint16_t)bits;
        break;
    case 4:
        ((uint32_t *)data)[at] = (uint32_t)bits;
        break;
    default:
        ((uint64_t *)data)[at] = bits;
        break;
    }
}

extern "C" __global__ void harness_fill(void *data, fill_tensor t)
{
    const uint64_t elements = (uint64_t)(t.rows * t.columns);

    for (uint64_t i = thread_index(); i < elements; i += thread_count()) {
        const int64_t row = (int64_t)(i / (uint64_t)t.columns);
        const int64_t column = (int64_t)i - row * t.columns;
        int64_t at = column * t.column_stride;
        uint64_t left = (uint64_t)row;

        for (int axis = t.row_axes - 1; axis >= 0; axis--) {
            at += (int64_t)(left % (uint64_t)t.shape[axis]) * t.stride[axis];
            left /= (uint64_t)t.shape[axis];
        }
        store_element((ridge_dtype)t.dtype, data, at,
                      fill_element((ridge_values)t.values, (ridge_dtype)t.dtype, row, t.rows,
                                   column, t.columns, t.seed));
    }
}

extern "C" __global__ void harness_set_words(unsigned char *data, uint64_t size_bytes,
                                             uint32_t value)
{
    const uint64_t chunks = (size_bytes + 15) / 16;
    const bool aligned = is_aligned(data, 16);

    for (uint64_t i = thread_index(); i < chunks; i += thread_count()) {
        if (aligned && 16 * i + 16 <= size_bytes) {
            ((uint4 *)data)[i] = make_uint4(value, value, value, value);
            continue;
        }
        for (uint64_t at = 16 * i; at < 16 * i + 16 && at < size_bytes; at++)
            data[at] = (unsigned char)(value >> (8 * (at & 3)));
    }
}

/* -- patterns and hashes ----------------------------------------------------------------------- */

extern "C" __global__ void harness_pattern(unsigned char *data, uint64_t size_bytes, uint64_t seed)
{
    const uint64_t words = (size_bytes + 7) / 8;
    const bool aligned = is_aligned(data, 8);

    for (uint64_t i = thread_index(); i < words; i += thread_count()) {
        if (aligned && 8 * i + 8 <= size_bytes) {
            ((uint64_t *)data)[i] = fill_hash(seed, i);
            continue;
        }
        for (uint64_t at = 8 * i; at < 8 * i + 8 && at < size_bytes; at++)
            data[at] = fill_pattern_byte(seed, at);
    }
}

/* result: wrong bytes, 0 before; least offset, UINT64_MAX before. */
extern "C" __global__ void harness_pattern_check(const unsigned char *data, uint64_t size_bytes,
                                                 uint64_t seed, unsigned long long *result)
{
    const uint64_t words = (size_bytes + 7) / 8;
    const bool aligned = is_aligned(data, 8);
    unsigned long long wrong = 0, first = ~0ULL;

    for (uint64_t i = thread_index(); i < words; i += thread_count()) {
        if (aligned && 8 * i + 8 <= size_bytes && ((const uint64_t *)data)[i] == fill_hash(seed, i))
            continue;
        for (uint64_t at = 8 * i; at < 8 * i + 8 && at < size_bytes; at++) {
            if (data[at] == fill_pattern_byte(seed, at))
                continue;
            first = wrong == 0 ? at : first;
            wrong++;
        }
    }
    if (wrong > 0) {
        atomicAdd(&result[0], wrong);
        atomicMin(&result[1], first);
    }
}

/* result: 0 before. */
extern "C" __global__ void harness_hash(const unsigned char *data, uint64_t size_bytes,
                                        unsigned long long *result)
{
    const uint64_t words = (size_bytes + 7) / 8;
    const bool aligned = is_aligned(data, 8);
    unsigned long long sum = 0;

    for (uint64_t i = thread_index(); i < words; i += thread_count()) {
        uint64_t word = 0;

        if (aligned && 8 * i + 8 <= size_bytes)
            word = ((const uint64_t *)data)[i];
        else
            for (uint64_t at = 8 * i; at < 8 * i + 8 && at < size_bytes; at++)
                word |= (uint64_t)data[at] << (8 * (at & 7));
        sum += fill_hash_word(word, i);
    }
    for (int lane = 16; lane > 0; lane /= 2)
        sum += __shfl_xor_sync(0xFFFFFFFFU, sum, lane);
    if (threadIdx.x % 32 == 0)
        atomicAdd(result, sum);
}

/* -- order and time ---------------------------------------------------------------------------- */

/* Spins until the host has opened gate number wanted, or most_ns have passed. */
extern "C" __global__ void harness_gate(const volatile uint32_t *opened, uint32_t wanted,
                                        uint64_t most_ns)
{
    const uint64_t begin = nanoseconds();

    while ((int32_t)(*opened - wanted) < 0 && nanoseconds() - begin < most_ns)
        ;
}

extern "C" __global__ void harness_empty()
{
}

/* All bits set: NaN in every floating-point type. */
extern "C" __global__ void harness_scrub(uint32_t words)
{
    extern __shared__ uint32_t shared[];

    for (uint32_t i = threadIdx.x; i < words; i += blockDim.x)
        *(volatile uint32_t *)&shared[i] = 0xFFFFFFFFU;
}

/* Once an SM, whatever the number of its blocks. */
extern "C" __global__ void harness_clock(clock_slot *slots, uint32_t slot_count,
                                         unsigned long long epoch)
{
    uint32_t sm;

    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    if (threadIdx.x != 0 || sm >= slot_count ||
        atomicExch((unsigned long long *)&slots[sm].epoch, epoch) == epoch)
        return;
    slots[sm].cycles = (uint64_t)clock64();
    slots[sm].ns = nanoseconds();
}

/* -- probes; each is compiled twice ------------------------------------------------------------ */

enum { COPY_CHUNKS = 4 };

/* What of a tile lies before chunks. */
__device__ static inline void copy_tile(const uint4 *in, uint4 *out, uint64_t begin,
                                        uint64_t chunks)
{
    for (int k = 0; k < COPY_CHUNKS; k++) {
        const uint64_t i = begin + (uint64_t)k * blockDim.x + threadIdx.x;

        if (i < chunks)
            out[i] = in[i];
    }
}

__device__ static inline void copy_whole_tile(const uint4 *in, uint4 *out, uint64_t begin)
{
    uint4 held[COPY_CHUNKS];

#pragma unroll
    for (int k = 0; k < COPY_CHUNKS; k++)
        held[k] = __ldg(&in[begin + (uint64_t)k * blockDim.x + threadIdx.x]);
#pragma unroll
    for (int k = 0; k < COPY_CHUNKS; k++)
        out[begin + (uint64_t)k * blockDim.x + threadIdx.x] = held[k];
}

/* Extra tiles are spread over the first three quarters of the tiles, rate / 2^32 for each, so that
 * they add to the stream of bytes and neither a wave nor a tail: they lie half the tensor away,
 * where nothing is in the cache. */
__device__ static inline void copy(const unsigned char *in, unsigned char *out, uint64_t size_bytes,
                                   uint64_t extra_bytes, uint64_t rate)
{
    const uint64_t chunks = size_bytes / 16, tile = (uint64_t)blockDim.x * COPY_CHUNKS;
    const uint64_t tiles = chunks / tile, early = tiles - tiles / 4;

    if (!is_aligned(in, 16) || !is_aligned(out, 16)) {
        for (uint64_t i = thread_index(); i < size_bytes + extra_bytes; i += thread_count())
            out[i % size_bytes] = in[i % size_bytes];
        return;
    }
    for (uint64_t i = blockIdx.x; i * tile < chunks; i += gridDim.x) {
        if (i >= tiles) {
            copy_tile((const uint4 *)in, (uint4 *)out, i * tile, chunks);
            continue;
        }
        copy_whole_tile((const uint4 *)in, (uint4 *)out, i * tile);
        for (uint64_t k = i * rate >> 32; i < early && k < (i + 1) * rate >> 32; k++) {
            const uint64_t far = i + tiles / 2 + (k - (i * rate >> 32));

            copy_whole_tile((const uint4 *)in, (uint4 *)out,
                            (far < tiles ? far : far % tiles) * tile);
        }
    }
    for (uint64_t i = 16 * chunks + thread_index(); i < size_bytes; i += thread_count())
        out[i] = in[i];
}

/* A warp a row. */
__device__ static inline void read(const float *in, float *out, int64_t rows, int64_t columns,
                                   int64_t total, int64_t row_stride, int64_t column_stride)
{
    const int lane = threadIdx.x % 32;

    for (int64_t i = (int64_t)(thread_index() / 32); i < total;
         i += (int64_t)(thread_count() / 32)) {
        const int64_t row = i < rows ? i : i % rows;
        const float *const from = in + row * row_stride;
        float sum = 0;

#pragma unroll 8
        for (int64_t column = lane; column < columns; column += 32)
            sum += from[column * column_stride];
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_xor_sync(0xFFFFFFFFU, sum, step);
        if (lane == 0)
            out[row] = sum;
    }
}

/* Whole rounds of 64 with a 32-bit counter: three instructions in 67 are not the chain's. */
__device__ static inline void fma_chain(const float *in, float *out, int64_t elements,
                                        int64_t steps)
{
    enum { ROUND = 64 };

    for (int64_t i = (int64_t)thread_index(); i < elements; i += (int64_t)thread_count()) {
        const float added = in[i];
        float x = 0;

#pragma unroll 1
        for (uint32_t rounds = (uint32_t)(steps / ROUND); rounds > 0; rounds--)
#pragma unroll
            for (int step = 0; step < ROUND; step++)
                x = __fmaf_rn(0.5F, x, added);
#pragma unroll 1
        for (uint32_t left = (uint32_t)(steps % ROUND); left > 0; left--)
            x = __fmaf_rn(0.5F, x, added);
        out[i] = x;
    }
}

__device__ static inline void tiny(float *out, int64_t elements, int64_t total)
{
    for (int64_t i = (int64_t)thread_index(); i < total; i += (int64_t)thread_count()) {
        const int64_t at = i < elements ? i : i % elements;

        out[at] = (float)(at % (1 << 24));
    }
}

#define PROBES(variant)                                                                            \
    extern "C" __global__ void harness_copy##variant(const unsigned char *in, unsigned char *out,  \
                                                     uint64_t size_bytes, uint64_t extra_bytes,    \
                                                     uint64_t rate)                                \
    {                                                                                              \
        copy(in, out, size_bytes, extra_bytes, rate);                                              \
    }                                                                                              \
    extern "C" __global__ void harness_read##variant(const float *in, float *out, int64_t rows,    \
                                                     int64_t columns, int64_t total,               \
                                                     int64_t row_stride, int64_t column_stride)    \
    {                                                                                              \
        read(in, out, rows, columns, total, row_stride, column_stride);                            \
    }                                                                                              \
    extern "C" __global__ void harness_fma##variant(const float *in, float *out, int64_t elements, \
                                                    int64_t steps)                                 \
    {                                                                                              \
        fma_chain(in, out, elements, steps);                                                       \
    }                                                                                              \
    extern "C" __global__ void harness_tiny##variant(float *out, int64_t elements, int64_t total)  \
    {                                                                                              \
        tiny(out, elements, total);                                                                \
    }

PROBES(0)
PROBES(1)
