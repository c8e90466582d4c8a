/* SPDX-License-Identifier: Apache-2.0 */
// A kernel that calls a function with code and a frame of its own.
__device__ __noinline__ int heavy(int n, int *p)
{
    int a[64];
    for (int i = 0; i < 64; i++) a[(i * n) & 63] = p[i];
    return a[n & 63] + a[p[n]&63];
}
__global__ void caller(int *p, int n)
{
    p[threadIdx.x] = heavy(n, p);
}
