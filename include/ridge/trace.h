/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace: what ran when, on the GPUs and on the host. One object whatever wrote it: an SQLite
 * export of Nsight Systems, a Kineto trace of PyTorch (JSON; plain, gzip or zstd), `ridge record`.
 *
 * ridge_trace_open() reads a file as far as it goes; ridge_trace_free() ends the object and every
 * pointer that came from it. Times are nanoseconds as the file counts them, kept exact. Rows refer
 * to each other by index, RIDGE_TRACE_NONE where there is nothing. Names are interned: two rows of
 * one name hold one number. Text is bytes from the file: not always UTF-8, may hold control
 * characters, and goes through the writers of table.h before it meets a terminal.
 *
 *     ridge_error err;
 *     ridge_trace *trace;
 *
 *     if (ridge_trace_open("run.sqlite", NULL, &trace, &err) != RIDGE_OK)
 *         fprintf(stderr, "%s\n", err.text);   what was found, what was expected, what to do
 *
 * What a trace says about people and machines (environment, host and user names) is not read. The
 * command line is: see ridge_trace_info. */
#ifndef RIDGE_TRACE_H
#define RIDGE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ridge/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RIDGE_TRACE_NONE UINT32_MAX
#define RIDGE_TRACE_BYTES_UNKNOWN UINT64_MAX

/* -- work on a GPU ----------------------------------------------------------------------------- */

typedef enum ridge_op_kind {
    RIDGE_OP_KERNEL,
    RIDGE_OP_MEMCPY,
    RIDGE_OP_MEMSET,
    RIDGE_OP_GRAPH /* a launch of a graph as a whole: its kernels were not recorded one by one */
} ridge_op_kind;

/* CUPTI's numbers. X(name, number, text) */
#define RIDGE_COPY_LIST(X)                                                                         \
    X(UNKNOWN, 0, "unknown")                                                                       \
    X(HTOD, 1, "HtoD")                                                                             \
    X(DTOH, 2, "DtoH")                                                                             \
    X(HTOA, 3, "HtoA")                                                                             \
    X(ATOH, 4, "AtoH")                                                                             \
    X(ATOA, 5, "AtoA")                                                                             \
    X(ATOD, 6, "AtoD")                                                                             \
    X(DTOA, 7, "DtoA")                                                                             \
    X(DTOD, 8, "DtoD")                                                                             \
    X(HTOH, 9, "HtoH")                                                                             \
    X(PTOP, 10, "PtoP")                                                                            \
    X(UNIFIED_HTOD, 11, "unified HtoD")                                                            \
    X(UNIFIED_DTOH, 12, "unified DtoH")                                                            \
    X(UNIFIED_DTOD, 13, "unified DtoD")

typedef enum ridge_copy {
#define RIDGE_COPY_ENUM(name, number, text) RIDGE_COPY_##name = number,
    RIDGE_COPY_LIST(RIDGE_COPY_ENUM)
#undef RIDGE_COPY_ENUM
} ridge_copy;
const char *ridge_copy_name(unsigned copy); /* "HtoD"; "unknown" outside the list */

typedef enum ridge_memory_place {
    RIDGE_PLACE_UNKNOWN,
    RIDGE_PLACE_PAGEABLE,
    RIDGE_PLACE_PINNED,
    RIDGE_PLACE_DEVICE,
    RIDGE_PLACE_ARRAY,
    RIDGE_PLACE_MANAGED
} ridge_memory_place;
const char *ridge_memory_place_name(unsigned place); /* "pageable" */

typedef enum ridge_op_flags {
    RIDGE_OP_IN_GRAPH = 1 << 0,  /* launched by a graph: api is the launch of the graph */
    RIDGE_OP_COLLECTIVE = 1 << 1 /* communicates with other ranks (NCCL, RCCL) */
} ridge_op_flags;

/* Sorted by start, then end. */
typedef struct ridge_trace_op {
    int64_t start_ns, end_ns; /* end >= start; equal where the clock was too coarse */
    uint64_t bytes;           /* of a copy or memset; RIDGE_TRACE_BYTES_UNKNOWN */
    uint32_t name;            /* a kernel's demangled name; "[CUDA memcpy HtoD]" */
    uint32_t short_name;      /* a kernel's name without templates, parameters, namespaces */
    uint32_t stream;          /* row of ridge_trace_streams() */
    uint32_t api;             /* row of ridge_trace_api(): the call that launched it */
    uint32_t config;          /* row of ridge_trace_configs(), kernels alone */
    uint32_t graph;           /* the file's number of the graph, where it tells */
    uint8_t kind;             /* ridge_op_kind */
    uint8_t flags;            /* ridge_op_flags */
    uint8_t copy;             /* ridge_copy */
    uint8_t source : 4, destination : 4; /* ridge_memory_place */
} ridge_trace_op;

/* How a kernel was launched; equal ones share a row. 0: not recorded. */
typedef struct ridge_trace_config {
    uint32_t grid[3], block[3];
    uint32_t registers; /* per thread */
    uint32_t static_shared_bytes, dynamic_shared_bytes;
} ridge_trace_config;

typedef struct ridge_trace_stream {
    uint32_t device;  /* row of ridge_trace_devices() */
    uint32_t process; /* row of ridge_trace_processes() */
    uint32_t context;
    int64_t id;   /* as the file numbers it */
    bool is_null; /* the legacy default stream, where the file tells or it is 7 in CUPTI's count */
} ridge_trace_stream;

/* In the order in which they were met. NAN and 0: not recorded. */
typedef struct ridge_trace_device {
    int64_t id;
    const char *name; /* "NVIDIA H200"; "" */
    double dram_bytes_per_s;
    double clock_hz;
    uint32_t sm_count;
    uint32_t compute_major, compute_minor;
} ridge_trace_device;

/* -- the host ---------------------------------------------------------------------------------- */

typedef struct ridge_trace_process {
    int64_t id;
} ridge_trace_process;

typedef struct ridge_trace_thread {
    uint32_t process; /* row of ridge_trace_processes() */
    int64_t id;       /* of the system; -1: the file has text alone */
    uint32_t name;    /* 0: none */
    /* Its rows, which lie side by side. */
    size_t first_api, api_count;
    size_t first_range, range_count;
    size_t first_wait, wait_count;
} ridge_trace_thread;

/* A call of the CUDA (HIP, ...) runtime or driver. Sorted by thread, start, and the outer first. */
typedef struct ridge_trace_api {
    int64_t start_ns, end_ns;
    uint32_t name;     /* as recorded: "cudaLaunchKernel_v7000" */
    uint32_t thread;   /* row of ridge_trace_threads() */
    uint32_t op_count; /* work that it launched; of a graph all its nodes */
} ridge_trace_api;

typedef enum ridge_range_kind {
    RIDGE_RANGE_NVTX,       /* push/pop or start/end */
    RIDGE_RANGE_OP,         /* an operation of the framework: "aten::mm" */
    RIDGE_RANGE_ANNOTATION, /* record_function, "ProfilerStep#3", "nccl:..." */
    RIDGE_RANGE_PYTHON      /* a frame: recorded with stacks */
} ridge_range_kind;

typedef enum ridge_range_flags {
    RIDGE_RANGE_OPEN = 1 << 0,         /* no end recorded: it ends with the trace */
    RIDGE_RANGE_OTHER_THREAD = 1 << 1, /* ended on another thread */
    RIDGE_RANGE_START_END = 1 << 2     /* NVTX start/end: need not nest */
} ridge_range_flags;

/* Sorted by thread, start, and the outer first. */
typedef struct ridge_trace_range {
    int64_t start_ns, end_ns;
    uint32_t name;   /* NVTX: with its domain as nsys writes it, ":step" in the default one */
    uint32_t thread; /* row of ridge_trace_threads() */
    /* The inputs of an operation, "bf16[8192,4096] - bf16[4096,6144*]"; 0: none. "-": one without
     * dimensions (a number) that others follow. '*': the extent's stride is 0, its elements are one
     * in memory. "=[2,2]", "=False": a number's value, where it decides what is to do (convolutions,
     * attention, Triton's kernels). */
    uint32_t shapes;
    uint8_t kind;  /* ridge_range_kind */
    uint8_t flags; /* ridge_range_flags */
} ridge_trace_range;

/* A time in which the system had put a thread to sleep, or it waited in a call of the system.
 * Sorted by thread and start. */
typedef struct ridge_trace_wait {
    int64_t start_ns, end_ns;
    uint32_t name; /* "pthread_cond_wait", "" */
    uint32_t thread;
} ridge_trace_wait;

/* CUPTI's kinds, and the profiler's own. X(NAME, text) */
#define RIDGE_OVERHEAD_LIST(X)                                                                     \
    X(PROFILER, "profiler")                                                                        \
    X(JIT, "driver compiler")                                                                      \
    X(FLUSH, "buffer flush")                                                                       \
    X(INSTRUMENTATION, "instrumentation")                                                          \
    X(RESOURCE, "resource")                                                                        \
    X(MODULE, "runtime module loading")                                                            \
    X(LAZY, "lazy function loading")                                                               \
    X(QUEUE_FULL, "command buffer full")                                                           \
    X(OTHER, "other")

typedef enum ridge_overhead_kind {
#define RIDGE_OVERHEAD_ENUM(name, text) RIDGE_OVERHEAD_##name,
    RIDGE_OVERHEAD_LIST(RIDGE_OVERHEAD_ENUM)
#undef RIDGE_OVERHEAD_ENUM
} ridge_overhead_kind;
const char *ridge_overhead_name(unsigned kind);

/* Sorted by start. */
typedef struct ridge_trace_overhead {
    int64_t start_ns, end_ns;
    uint32_t name;
    uint32_t thread; /* RIDGE_TRACE_NONE: the process */
    uint8_t kind;    /* ridge_overhead_kind */
} ridge_trace_overhead;

/* A record of synchronisation; CUPTI's numbers. No work of a GPU. Sorted by start. */
typedef struct ridge_trace_sync {
    int64_t start_ns, end_ns;
    uint32_t stream; /* RIDGE_TRACE_NONE */
    uint32_t api;    /* RIDGE_TRACE_NONE */
    uint8_t kind;    /* 1 event, 2 stream waits for an event, 3 stream, 4 context */
} ridge_trace_sync;

/* What the tool that recorded complained about; severity as in the file (2 and above: data are
 * missing). Directories are taken out of the text. */
typedef struct ridge_trace_diagnostic {
    int severity;
    const char *text;
} ridge_trace_diagnostic;

/* -- the whole --------------------------------------------------------------------------------- */

typedef enum ridge_trace_format {
    RIDGE_TRACE_NSYS,   /* SQLite */
    RIDGE_TRACE_KINETO, /* Chrome trace events */
    RIDGE_TRACE_RECORD  /* SQLite of `ridge record` */
} ridge_trace_format;
const char *ridge_trace_format_name(ridge_trace_format format); /* "nsys SQLite" */

typedef enum ridge_graph_mode {
    RIDGE_GRAPH_MODE_UNKNOWN,
    RIDGE_GRAPH_MODE_NODE, /* kernels of graphs are recorded one by one */
    RIDGE_GRAPH_MODE_GRAPH /* a graph launch is one row */
} ridge_graph_mode;

typedef struct ridge_trace_info {
    ridge_trace_format format;
    const char *producer; /* "Nsight Systems 2025.5.2", "PyTorch profiler (CUPTI 28)"; "" */
    const char *schema;   /* "3.24.0", "1"; "" */
    ridge_graph_mode graph_mode;
    int64_t base_ns;          /* to add for time since the epoch; 0: not told */
    int64_t resolution_ns;    /* of times in the file: 1, or 1000 for whole microseconds */
    int rank, world_size;     /* -1: not told */
    bool has_api;             /* calls of the host were recorded */
    bool has_stacks;          /* frames of Python: host times are inflated */
    bool has_shapes;          /* of operations */
    bool skips_cheap_calls;   /* the tool was told not to record all calls */
    bool has_several_callers; /* work names no process, and several called: none is joined */
    bool is_delayed; /* and to begin later than the process: launches before are not there */
    /* The program and its arguments, where the file tells: for the line to run it again. May hold
     * what nobody should see: printed only when the user asks. */
    size_t command_count;
    const char *const *command;
    /* What could not be read. */
    bool is_partial;         /* the file was cut or damaged: what is there was read */
    const char *partial;     /* why, one line: "cut after 24,656 events, at byte 8,912,896"; "" */
    uint64_t event_count;    /* rows or events read */
    uint64_t skipped_count;  /* malformed, left out */
    uint64_t inverted_count; /* work that ends before it starts, or has no times: left out */
    uint64_t instant_count;  /* work with no duration, kept */
    uint64_t repeated_count; /* second rows of a call (backtraces): aside */
    uint64_t begin_count;    /* JSON: work that one event begins and another ends: left out */
} ridge_trace_info;

typedef struct ridge_trace ridge_trace;

typedef struct ridge_trace_options {
    bool no_python; /* leave frames of Python out */
    bool no_shapes;
} ridge_trace_options;

/* Opens what the bytes say it is, whatever it is called. The file is only read, nothing is written
 * beside it. options may be NULL. RIDGE_ERR_IO; RIDGE_ERR_FORMAT: nothing usable in it;
 * RIDGE_ERR_UNSUPPORTED with what to do: .nsys-rep, .qdrep, Perfetto, rocprof, a Git LFS pointer.
 * A file that is cut or damaged further on is opened: see is_partial. */
ridge_status ridge_trace_open(const char *path, const ridge_trace_options *options,
                              ridge_trace **out, ridge_error *err);
/* The same from memory, which may go afterwards. name is for messages. */
ridge_status ridge_trace_read(const void *data, size_t size_bytes, const char *name,
                              const ridge_trace_options *options, ridge_trace **out,
                              ridge_error *err);
void ridge_trace_free(ridge_trace *trace); /* NULL is allowed */

const ridge_trace_info *ridge_trace_get_info(const ridge_trace *trace);
/* The text of a name; "" for 0 and what is out of range. length may be NULL. */
const char *ridge_trace_name(const ridge_trace *trace, uint32_t name, size_t *length);
size_t ridge_trace_name_count(const ridge_trace *trace);
/* Does a call of that name, of any runtime, give a GPU work: kernels, graphs, copies? By its words. */
bool ridge_trace_call_is_launch(const char *name);

/* Arrays; *count gets their number. */
const ridge_trace_op *ridge_trace_ops(const ridge_trace *trace, size_t *count);
const ridge_trace_api *ridge_trace_apis(const ridge_trace *trace, size_t *count);
/* Second rows of calls, info.repeated_count of them (recorded with their backtraces): in no order,
 * joined with nothing. */
const ridge_trace_api *ridge_trace_repeats(const ridge_trace *trace, size_t *count);
const ridge_trace_range *ridge_trace_ranges(const ridge_trace *trace, size_t *count);
const ridge_trace_wait *ridge_trace_waits(const ridge_trace *trace, size_t *count);
const ridge_trace_overhead *ridge_trace_overheads(const ridge_trace *trace, size_t *count);
const ridge_trace_sync *ridge_trace_syncs(const ridge_trace *trace, size_t *count);
const ridge_trace_config *ridge_trace_configs(const ridge_trace *trace, size_t *count);
const ridge_trace_stream *ridge_trace_streams(const ridge_trace *trace, size_t *count);
const ridge_trace_device *ridge_trace_devices(const ridge_trace *trace, size_t *count);
const ridge_trace_thread *ridge_trace_threads(const ridge_trace *trace, size_t *count);
const ridge_trace_process *ridge_trace_processes(const ridge_trace *trace, size_t *count);
const ridge_trace_diagnostic *ridge_trace_diagnostics(const ridge_trace *trace, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
