/* SPDX-License-Identifier: Apache-2.0
 *
 * The file that a recorded process leaves: one header, then records, appended as CUPTI hands over
 * its buffers. What is complete can be read whatever happens afterwards, so a process that is killed
 * leaves what it had written. The library that is injected writes it, ridge_collect_merge() reads
 * it; both come from one build and run on one machine, so numbers are in its byte order.
 *
 * A record is a spool_head and `size` bytes: the structure of its type, behind it for some the bytes
 * of a text. Texts are numbered 1, 2, ... in the order in which they stand in the file, before the
 * first record that uses one. Unknown types are passed over. */
#ifndef RIDGE_COLLECT_SPOOL_H
#define RIDGE_COLLECT_SPOOL_H

#include <stdint.h>

#define SPOOL_MAGIC "RIDGSPL1"
#define SPOOL_SUFFIX ".spool"

enum { SPOOL_TEXT_MOST = 1 << 16 }; /* bytes of a text; what is longer is cut */

/* How the command tells the library what to do: variables of the environment. */
#define COLLECT_SPOOLS "RIDGE_COLLECT_SPOOLS"     /* folder for spool files */
#define COLLECT_CUPTI "RIDGE_COLLECT_CUPTI"       /* libraries to try, one a line */
#define COLLECT_API "RIDGE_COLLECT_API"           /* "none", "runtime", "all" */
#define COLLECT_DELAY "RIDGE_COLLECT_DELAY"       /* milliseconds */
#define COLLECT_DURATION "RIDGE_COLLECT_DURATION" /* milliseconds; 0: to the end */
#define COLLECT_LOG "RIDGE_COLLECT_LOG"           /* a file that gets lines for debugging */

typedef struct spool_header {
    char magic[8];
    uint32_t pid;
    uint32_t cupti_version; /* of cuptiGetVersion() */
    uint64_t start_ns;      /* CUPTI's clock when recording began */
    uint64_t epoch_ns;      /* since 1970, at the same moment */
} spool_header;

/* X(type, number, structure) */
#define SPOOL_TYPES(X)                                                                             \
    X(TEXT, 1, spool_text)                                                                         \
    X(KERNEL, 2, spool_kernel)                                                                     \
    X(COPY, 3, spool_copy)                                                                         \
    X(SET, 4, spool_set)                                                                           \
    X(CALL, 5, spool_call)                                                                         \
    X(SYNC, 6, spool_sync)                                                                         \
    X(OVERHEAD, 7, spool_overhead)                                                                 \
    X(MARKER, 8, spool_marker)                                                                     \
    X(DEVICE, 9, spool_device)                                                                     \
    X(CONTEXT, 10, spool_context)                                                                  \
    X(NAME, 11, spool_name)                                                                        \
    X(DROPPED, 12, spool_dropped)                                                                  \
    X(FAULT, 13, spool_fault)                                                                      \
    X(END, 14, spool_end)                                                                          \
    X(BEGIN, 15, spool_begin)

enum spool_type {
#define SPOOL_ENUM(type, number, structure) SPOOL_##type = number,
    SPOOL_TYPES(SPOOL_ENUM)
#undef SPOOL_ENUM
};

typedef struct spool_head {
    uint32_t type, size;
} spool_head;

typedef struct spool_text {
    uint32_t id; /* then the bytes */
} spool_text;

typedef struct spool_kernel {
    uint64_t start_ns, end_ns, graph_node;
    int64_t grid_id;
    uint32_t device, context, stream, correlation, graph;
    uint32_t name; /* mangled */
    uint32_t grid[3], block[3];
    uint32_t registers, static_shared_bytes, dynamic_shared_bytes;
    uint32_t local_per_thread_bytes, local_total_bytes, shared_executed_bytes;
    uint32_t launch_type, padding;
} spool_kernel;

typedef struct spool_copy {
    uint64_t start_ns, end_ns, bytes, graph_node;
    uint32_t device, context, stream, correlation, graph;
    uint32_t source_device, destination_device; /* UINT32_MAX: not told */
    uint8_t copy, source, destination, flags;
} spool_copy;

typedef struct spool_set {
    uint64_t start_ns, end_ns, bytes, graph_node;
    uint32_t device, context, stream, correlation, graph;
    uint32_t value, memory, padding;
} spool_set;

typedef struct spool_call {
    uint64_t start_ns, end_ns;
    uint32_t thread, correlation, result;
    uint32_t name;
    uint32_t is_driver, padding;
} spool_call;

typedef struct spool_sync {
    uint64_t start_ns, end_ns;
    uint32_t context, stream, correlation, event, type, padding;
} spool_sync;

typedef struct spool_overhead {
    uint64_t start_ns, end_ns;
    uint32_t thread;   /* 0: not of a thread */
    uint32_t overhead; /* CUPTI's number */
} spool_overhead;

typedef struct spool_marker {
    uint64_t time_ns;
    uint32_t id, thread, flags;
    uint32_t name, domain; /* texts; 0: none */
    uint32_t padding;
} spool_marker;

typedef struct spool_device {
    uint64_t dram_bytes_per_s, dram_bytes, clock_hz;
    uint32_t id, name, sm_count, compute_major, compute_minor, l2_bytes;
} spool_device;

typedef struct spool_context {
    uint32_t context, device, null_stream, padding;
} spool_context;

typedef struct spool_name {
    uint32_t thread, name;
} spool_name;

typedef struct spool_dropped {
    uint64_t count;
} spool_dropped;

/* Something that kept records away; then the bytes of a line that says what. */
typedef struct spool_fault {
    uint32_t padding;
} spool_fault;

/* Recording began, later than the process by --delay. */
typedef struct spool_begin {
    uint64_t since_process_ns; /* since the process was started, in ticks of 10 ms; 0: not known */
} spool_begin;

/* The process ended in order: everything was flushed. */
typedef struct spool_end {
    uint64_t end_ns;    /* CUPTI's clock */
    uint64_t handle_ns; /* spent in the library while buffers were handed over */
} spool_end;

#endif
