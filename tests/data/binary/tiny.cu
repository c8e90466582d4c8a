/* SPDX-License-Identifier: Apache-2.0
 *
 * The code in the small fat binaries, objects and PTX of the tests of images. README.md says how
 * each was compiled. */

/* In all of them; launch bounds, an array by value as a parameter. */
struct weights {
    float of[3];
};

extern "C" __global__ void __launch_bounds__(256, 2)
    scale(float *out, const float *in, struct weights w, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = in[i] * w.of[i % 3];
}

/* Missing from what is compiled with -DWITHOUT_SUM: a hole that no list of chips shows. */
#ifndef WITHOUT_SUM
extern "C" __global__ void sum(float *out, const float *in)
{
    atomicAdd(out, in[threadIdx.x]);
}
#endif

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
extern "C" __global__ void __cluster_dims__(2, 1, 1) pair(float *out)
{
    out[blockIdx.x] = 1.0f;
}
#endif
