// SPDX-License-Identifier: Apache-2.0
// Kernels of device_smoke. smoke_kernels.ptx and smoke_kernels_sm90.ptx are made of this file by the
// commands below, their .version lowered to 8.0 so that drivers of CUDA 12 take them:
//     nvcc -ptx -arch=compute_80 smoke_kernels.cu
//     nvcc -ptx -arch=compute_90 -o smoke_kernels_sm90.ptx smoke_kernels.cu
#include <cstdint>

#include <cuda.h>

// One thread writes.
extern "C" __global__ void mark(uint32_t *at, uint32_t value)
{
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *at = value;
}

// The last of words words of dynamic shared memory, through it: shows that so much is there.
extern "C" __global__ void last_shared_word(uint32_t *out, uint32_t words, uint32_t value)
{
    extern __shared__ uint32_t memory[];

    if (threadIdx.x == 0) {
        memory[0] = 1;
        memory[words - 1] = value;
    }
    __syncthreads();
    if (threadIdx.x == 32)
        out[blockIdx.x] = memory[words - 1] + memory[0] - 1;
}

#if __CUDA_ARCH__ >= 900
// Each block writes the size of its cluster.
extern "C" __global__ void cluster_size(uint32_t *out)
{
    uint32_t size;

    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    if (threadIdx.x == 0)
        out[blockIdx.x] = size;
}

// Waits for the kernel before it, as a launch with programmatic dependence must, then adds.
extern "C" __global__ void dependent_add(uint32_t *at, uint32_t value)
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
    if (threadIdx.x == 0)
        *at += value;
}

// Copies one box of 8 rows of 16 32-bit words by the tensor map (no swizzle), at column x, row y.
extern "C" __global__ void copy_box(const __grid_constant__ CUtensorMap map, uint32_t *out, int x,
                                    int y)
{
    __shared__ alignas(128) uint32_t box[8 * 16];
    __shared__ alignas(8) uint64_t barrier;
    const uint32_t to = (uint32_t)__cvta_generic_to_shared(box);
    const uint32_t full = (uint32_t)__cvta_generic_to_shared(&barrier);

    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full));
        asm volatile("fence.mbarrier_init.release.cluster;");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(full),
                     "n"(sizeof(box)));
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                     "l"(&map), "r"(x), "r"(y), "r"(full)
                     : "memory");
    }
    __syncthreads();
    asm volatile("{\n.reg .pred done;\nagain:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
                 "@!done bra again;\n}" ::"r"(full)
                 : "memory");
    for (int i = threadIdx.x; i < 8 * 16; i += blockDim.x)
        out[i] = box[i];
}
#endif
