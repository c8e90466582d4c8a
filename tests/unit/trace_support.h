/* SPDX-License-Identifier: Apache-2.0
 *
 * Traces made from a table of rows. Times are in nanoseconds; what a row leaves out is 0: stream 0
 * or thread 0 of process 0, device 0, no correlation.
 *
 *     static const trace_row rows[] = {
 *         {ROW_CALL, "cudaLaunchKernel", 0, 5000, .key = 1},
 *         {ROW_KERNEL, "gemm", 7000, 9000, .key = 1, .on = 13},
 *     }; */
#ifndef RIDGE_TESTS_TRACE_SUPPORT_H
#define RIDGE_TESTS_TRACE_SUPPORT_H

#include "timeline/trace_build.h"

typedef enum trace_row_kind {
    ROW_KERNEL,
    ROW_COPY,   /* detail: ridge_copy */
    ROW_MEMSET, /* */
    ROW_GRAPH,  /* a graph as a whole; detail: its number */
    ROW_NODE,   /* a kernel in a graph; detail: the graph's number */
    ROW_CALL,   /* of the runtime or driver */
    ROW_OP,     /* ranges: of the framework */
    ROW_NVTX,   /* detail: ridge_range_flags */
    ROW_ANNOTATION,
    ROW_PYTHON,
    ROW_WAIT,
    ROW_OVERHEAD, /* detail: ridge_overhead_kind; on -1: the process */
    ROW_SYNC      /* detail: 1 event, 2 stream waits, 3 stream, 4 context */
} trace_row_kind;

typedef struct trace_row {
    trace_row_kind kind;
    const char *name;
    int64_t start_ns, end_ns;
    uint64_t key;   /* correlation of work, calls, synchronisation */
    int64_t on;     /* stream of work and synchronisation, thread of everything else */
    int64_t device; /* of work */
    int64_t process;
    uint64_t detail;
    uint64_t bytes;                   /* of a copy or memset; 0: unknown */
    const char *shapes;               /* of a range */
    unsigned flags;                   /* of work: ridge_op_flags beside what the kind says */
    const ridge_trace_config *config; /* of a kernel */
} trace_row;

/* New: fails the test when the trace cannot be made. */
ridge_trace *trace_support_make(const trace_row *rows, size_t count);
/* The same, NULL when out of memory: for tests that let allocations fail. */
ridge_trace *trace_support_try(const trace_row *rows, size_t count);
/* The rows alone, for a trace that the caller goes on filling and finishes. */
void trace_support_add(ridge_trace *trace, const trace_row *rows, size_t count);

#define TRACE_OF(rows) trace_support_make(rows, sizeof(rows) / sizeof((rows)[0]))

#endif
