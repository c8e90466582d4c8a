/* SPDX-License-Identifier: Apache-2.0
 *
 * A CUDA driver and an NVML of host memory, for tests: shared libraries that ridge loads in the
 * places of the real ones. What they do, and which call fails, is set through fake_control, found
 * by dlsym() under the name "fake_control" in each. */
#ifndef RIDGE_TESTS_FAKE_CUDA_H
#define RIDGE_TESTS_FAKE_CUDA_H

#include <stddef.h>

typedef struct fake_control {
    int version, device_count, major; /* major: of the compute capability */
    size_t fail_at;                   /* number of the call that fails, 1 is the next; 0: none */
    unsigned fail_result;             /* with what */
    const char *fail_call;            /* instead of a number: every call of that name */
    size_t calls;                     /* made since the last reset */
    char failed[64];                  /* name of the call that failed; "": none did */
    /* Objects alive: all 0 when nothing is leaked. */
    int contexts, allocations, reservations, memories, mappings, streams, events, modules, graphs,
        execs;
    size_t memory_limit_bytes;
    /* The last launch. */
    unsigned grid[3], block[3], cluster[3], shared_bytes;
    int programmatic;
    unsigned tensor_type, tensor_swizzle;
    /* NVML: processes listed, and whether this process is one under its number. */
    unsigned processes;
    int lists_self;
    unsigned long long reasons;
    void *captured; /* the CUgraph that the last capture gave */
} fake_control;

#endif
