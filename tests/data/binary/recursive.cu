/* SPDX-License-Identifier: Apache-2.0 */
// A kernel that calls a function which calls itself: its local memory depends on the depth.
__device__ __noinline__ int fib(int n, int *p)
{
    if (n < 2)
        return p[n];
    int a = fib(n - 1, p);
    return a * fib(n - 2, p + a) + n;
}
extern "C" __global__ void recursive(int *p, int n)
{
    p[threadIdx.x] = fib(n, p);
}
extern "C" __global__ void flat(int *p)
{
    p[threadIdx.x] = 1;
}
