// SPDX-License-Identifier: Apache-2.0
//
// Do the wavefronts of a 16-byte cp.async cost time? Every warp copies 8 rows of 64 or 128 bytes (or
// single 16-byte pieces) from a source in L2 into shared memory, again and again; the variants differ
// in where the pieces go alone. Prints the SM cycles a copy instruction takes and the wavefronts that
// `ridge banks` gives for it.
//
//     nvcc -arch=sm_90a -O3 -o copy_time copy_time.cu && ./copy_time
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const cudaError_t error = (call);                                                          \
        if (error != cudaSuccess) {                                                                \
            fprintf(stderr, "copy_time: %s: %s\n", #call, cudaGetErrorString(error));              \
            exit(4);                                                                               \
        }                                                                                          \
    } while (0)

enum { WARPS = 8, STEPS = 4000, REPEATS = 7, WARP_BYTES = 16384, SOURCE_BYTES = 32768 };

// Which piece of its warp's 16 KiB a lane writes, the variants of a tile of 128-byte rows.
__device__ int target_of(int variant, int lane)
{
    const int row = lane / 8, chunk = lane % 8;

    switch (variant) {
    case 0:
        return lane * 16; // plain rows
    case 1:
        return row * 128 + (chunk ^ row) * 16; // swizzled rows
    case 2:
        return row * 144 + chunk * 16; // rows padded by 16 bytes
    case 3:
        return row * 256 + chunk * 16; // rows of 256 bytes
    case 4:
        return lane * 80; // each piece in a sector of its own
    default:
        return lane * 144; // a piece a line
    }
}

template <bool Ca8> __global__ void copies(int variant, const char *source, long long *cycles)
{
    extern __shared__ __align__(1024) char shared[];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const uint32_t to = static_cast<uint32_t>(__cvta_generic_to_shared(shared)) +
                        warp * WARP_BYTES +
                        (Ca8 ? lane * (variant == 0 ? 8 : 136) : target_of(variant, lane));
    const char *const from =
        source + (blockIdx.x * WARPS + warp) * SOURCE_BYTES + lane * (Ca8 ? 8 : 16);

    __syncthreads();
    const long long start = clock64();
    for (int i = 0; i < STEPS; i++) {
        if (Ca8)
            asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to + i % 2 * 8192),
                         "l"(from + i % (SOURCE_BYTES / 512) * 512)
                         : "memory");
        else
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + i % 2 * 8192),
                         "l"(from + i % (SOURCE_BYTES / 512) * 512)
                         : "memory");
        if (i % 4 == 3) {
            asm volatile("cp.async.commit_group;" ::: "memory");
            asm volatile("cp.async.wait_group 6;" ::: "memory");
        }
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = clock64() - start;
}

template <bool Ca8>
static double cycles_a_copy(int variant, int blocks, const char *source, long long *cycles)
{
    static long long host[1024];
    double best[REPEATS];

    CHECK(cudaFuncSetAttribute(copies<Ca8>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               WARPS * WARP_BYTES));
    for (int r = 0; r < REPEATS; r++) {
        copies<Ca8><<<blocks, WARPS * 32, WARPS * WARP_BYTES>>>(variant, source, cycles);
        CHECK(cudaMemcpy(host, cycles, blocks * sizeof(*host), cudaMemcpyDeviceToHost));
        std::sort(host, host + blocks);
        best[r] = static_cast<double>(host[blocks / 2]) / (STEPS * WARPS);
    }
    std::sort(best, best + REPEATS);
    return best[REPEATS / 2];
}

int main()
{
    static const struct {
        const char *name;
        int wavefronts;
    } variants[] = {{"plain rows of 128 bytes", 4}, {"swizzled rows", 4},
                    {"rows padded to 144", 10},     {"rows of 256 bytes", 4},
                    {"pieces 80 apart", 32},        {"pieces 144 apart", 32}};
    long long *cycles;
    char *source;
    const int all = 132;

    CHECK(cudaMalloc(&cycles, all * sizeof(*cycles)));
    CHECK(cudaMalloc(&source, all * WARPS * SOURCE_BYTES + 4096));
    CHECK(cudaMemset(source, 1, all * WARPS * SOURCE_BYTES + 4096));
    printf("target\twavefronts\tcycles, 1 block\tcycles, %d blocks\n", all);
    for (int v = 0; v < 6; v++)
        printf("%s\t%d\t%.2f\t%.2f\n", variants[v].name, variants[v].wavefronts,
               cycles_a_copy<false>(v, 1, source, cycles),
               cycles_a_copy<false>(v, all, source, cycles));
    printf("cp.async.8 plain\t2\t%.2f\t%.2f\n", cycles_a_copy<true>(0, 1, source, cycles),
           cycles_a_copy<true>(0, all, source, cycles));
    printf("cp.async.8 stride 136\t2\t%.2f\t%.2f\n", cycles_a_copy<true>(1, 1, source, cycles),
           cycles_a_copy<true>(1, all, source, cycles));
    return 0;
}
