/* SPDX-License-Identifier: Apache-2.0
 *
 * Between the parts of ridge_timeline_create(): the trace as they see it, and one device's account
 * in the making. Work, calls and ranges are rows of the trace, which is sorted; nothing here looks
 * further back than a stack or a cursor, so a trace of any shape costs its size times a logarithm. */
#ifndef RIDGE_TIMELINE_ACCOUNT_H
#define RIDGE_TIMELINE_ACCOUNT_H

#include "ridge/table.h"
#include "ridge/timeline.h"
#include "timeline/trace_build.h"

/* -- the rules' constants: docs/timeline.md ---------------------------------------------------- */

enum {
    ACCOUNT_HARDWARE_GAP_NS = 5000,   /* shorter: back to back */
    ACCOUNT_LATENCY_LEAST_NS = 10000, /* the limit for a launch to become work is thrice the */
    ACCOUNT_LATENCY_MOST_NS = 50000,  /* median where the device was idle, within these */
    ACCOUNT_LATENCY_TIMES = 3,        /* */
    ACCOUNT_SLOW_LAUNCH_NS = 1000000, /* longer calls load or compile code */
    ACCOUNT_NO_WORK_NS = 2000000,     /* nothing of the host for so long: no work */
    ACCOUNT_GRAPH_GAP_NS = 3000,      /* inside a graph, at the most, to be called back to back */
    ACCOUNT_LOST_GRAPH_OPS = 2,       /* a graph launch with no more work than this, */
    ACCOUNT_LOST_GRAPH_GAP_NS = 1000000, /* beside an unexplained gap longer than this */
    ACCOUNT_QUEUE_DEPTH_FULL =
        1000, /* with the launch itself: the driver's queue holds 1022 to 1024 (HTA; seen 1015) */
    ACCOUNT_QUEUE_FULL_CALL_NS = 100000, /* a launch call that waits for room */
    ACCOUNT_SYNC_SKEW_NS = 1000          /* between the clocks of host and GPU */
};

#define ACCOUNT_EXPOSED_LEAST 0.05 /* of the span: communication that nothing hides, to be told */

/* -- calls by name ----------------------------------------------------------------------------- */

typedef enum call_class {
    CALL_OTHER,
    CALL_LAUNCH,
    CALL_GRAPH_LAUNCH,
    CALL_COPY,
    CALL_ALLOC,
    CALL_MODULE,
    CALL_GRAPH_BUILD,
    CALL_CAPTURE_BEGIN, /* of a stream into a graph: a part of building it */
    CALL_CAPTURE_END,
    CALL_SYNC
} call_class;

/* Of the CUDA and HIP runtime and driver; version and stream suffixes do not matter. */
call_class call_class_of(const char *name, size_t length);
/* Returns before the copy is done, going by its name. */
bool call_is_async(const char *name, size_t length);

/* -- the trace, prepared once ------------------------------------------------------------------ */

typedef struct account_interval {
    int64_t start_ns, end_ns;
} account_interval;

/* Waits for the GPU, thread by thread: their union, each longer than nothing. */
typedef struct account_waits {
    account_interval *rows;
    int64_t *before_ns; /* of all rows in front of one */
    size_t *firsts;     /* of each thread, and the end */
    bool *is_met;       /* scratch: threads */
    size_t steps_left;  /* bounds the work on a trace of many devices and threads */
} account_waits;

typedef struct account_view {
    const ridge_trace *trace;
    const ridge_trace_info *info;
    const ridge_trace_op *ops;
    const ridge_trace_api *apis;
    const ridge_trace_range *ranges;
    const ridge_trace_wait *waits;
    const ridge_trace_overhead *overheads;
    const ridge_trace_thread *threads;
    const ridge_trace_stream *streams;
    size_t op_count, api_count, range_count, wait_count, overhead_count;
    size_t thread_count, stream_count, device_count;
    uint8_t *classes;         /* call_class + 1 by name */
    uint32_t *innermost;      /* range around each call that launched work, or NONE */
    uint32_t *stream_slots;   /* a stream's number among those of its device */
    uint32_t *device_streams; /* streams of each device */
    uint32_t *thread_marks;   /* scratch: the device + 1 that looked at a thread */
    /* Of a call that begins a capture: when the call that ends it on the same thread returned; its own
     * end where there is none. NULL: no call does. */
    int64_t *capture_end_ns;
    bool *is_blocking;          /* calls: a copy that was over when they returned */
    account_interval *profiler; /* union of the profiler's own work */
    size_t profiler_count;
    ridge_trace_overhead *code; /* loading and compiling, by thread (NONE last), then start */
    size_t code_count;
    account_waits *gpu_waits;
} account_view;

bool account_view_init(account_view *view, const ridge_trace *trace);
void account_view_release(account_view *view);

static inline call_class account_call_class(const account_view *view, uint32_t api)
{
    return (call_class)(view->classes[view->apis[api].name] - 1);
}

/* Does the call wait until the GPU is done with something? */
static inline bool account_is_wait(const account_view *view, uint32_t api)
{
    return view->is_blocking[api] || account_call_class(view, api) == CALL_SYNC;
}

/* Launched by a graph, whether or not the file says so. */
static inline bool account_is_graph(const account_view *view, const ridge_trace_op *op)
{
    return (op->flags & RIDGE_OP_IN_GRAPH) != 0 || op->kind == RIDGE_OP_GRAPH ||
           (op->api != RIDGE_TRACE_NONE && account_call_class(view, op->api) == CALL_GRAPH_LAUNCH);
}

static inline bool account_is_kernel(const ridge_trace_op *op)
{
    return op->kind == RIDGE_OP_KERNEL || op->kind == RIDGE_OP_GRAPH;
}

/* a + b for sums of durations, which never overflow by themselves. */
static inline int64_t account_add(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* The length of a union of intervals that come by start. */
typedef struct account_union {
    int64_t end_ns, total_ns;
    bool is_met;
} account_union;

/* overlap.c: true when the interval begins before an earlier one ended. */
bool account_unite(account_union *all, int64_t start_ns, int64_t end_ns);

/* -- one device -------------------------------------------------------------------------------- */

typedef struct account_device {
    const account_view *view;
    uint32_t device;
    const uint32_t *rows; /* of ops: all work of the device, by start */
    size_t row_count;
    int64_t window_start_ns, window_end_ns; /* what the user asked for */
    const int64_t *full_ns; /* by thread, then of no thread: the driver's queue was full */
    trace_array gaps;       /* ridge_idle_gap */
    trace_array pieces;     /* ridge_idle_piece */
    int64_t missing_ns;     /* idle time that the trace does not explain */
    ridge_stream_account *made_streams; /* account.streams, while they are filled */
    ridge_device_account account;
} account_device;

/* Does the window hold some of it? An instant counts where it begins. */
static inline bool account_in_window(const account_device *device, const ridge_trace_op *op)
{
    return op->start_ns < device->window_end_ns &&
           (op->end_ns > device->window_start_ns || op->start_ns >= device->window_start_ns);
}

/* Room for one more row, zeroed; NULL when out of memory. */
void *account_grow(trace_array *array, size_t size);
/* For what is mostly in order already, as work on one stream is; equal rows keep their order. */
void account_sort(void *rows, size_t count, size_t size,
                  int (*compare)(const void *, const void *));
int account_order(const void *left, const void *right); /* of int64_t */
/* The median (mean of the middle two) of values, which are used up; NAN without any. */
double account_median(int64_t *values, size_t count);

/* A number as people read it, short enough for the lines of an account. */
typedef struct account_text {
    char text[16];
} account_text;
account_text account_time(double ns);      /* "84.5 ms" */
account_text account_percent(double frac); /* "12.8 %" */

/* gaps.c: gaps, limits (hardware_gap_ns, launch_latency_ns, medians of gaps), the range around the
 * launch that ends a gap. */
bool account_find_gaps(account_device *device);
/* host_ranges.c: the innermost range of a thread that covers more than half of a stretch of its time:
 * of the program or its framework, or of Python's frames; RIDGE_TRACE_NONE. NULL: out of memory. */
typedef struct host_ranges host_ranges;
host_ranges *host_ranges_create(const ridge_trace *trace);
void host_ranges_free(host_ranges *of);
uint32_t host_ranges_find(const host_ranges *of, const ridge_trace_thread *thread, int64_t start_ns,
                          int64_t end_ns, bool in_python);
/* paint.c: pieces and causes. */
typedef struct account_painter account_painter;
account_painter *account_painter_create(const account_view *view); /* NULL: out of memory */
void account_painter_free(account_painter *painter);
bool account_paint(account_painter *painter, account_device *device);
/* overlap.c: unions, counts, streams, what runs at the same time. */
bool account_unions(account_device *device);
bool account_streams(account_device *device);
bool account_serial_pairs(account_device *device);
/* queue.c: by thread, then of no thread: how long the driver's queue was full in a window, then
 * whether that was recorded; NULL: out of memory. Then launches, their period, how many wait. */
int64_t *account_queue_full(const account_view *view, int64_t start_ns, int64_t end_ns);
bool account_queue(account_device *device);
/* waits.c: waited_ns. */
account_waits *account_waits_create(const account_view *view); /* NULL: out of memory */
void account_waits_free(account_waits *waits);
bool account_waited(account_device *device);
/* faults.c; out of memory: false. is_idle: some device waits for the host. */
bool account_device_faults(account_device *device, trace_array *faults);
bool account_trace_faults(const account_view *view, bool is_idle, trace_array *faults);
void account_sort_faults(trace_array *faults); /* by kind, then device */
/* timeline_verdict.c: verdict, pace and reason. missing_ns: idle time that the trace does not
 * explain. */
void account_judge(ridge_device_account *account, int64_t missing_ns);

/* The trace of an account, and the window that it was made for. */
const ridge_trace *account_trace(const ridge_timeline *timeline, ridge_trace_window *window);
/* What the plans of several devices share, theirs to fill; NULL: there is one device at the most. */
struct next_common *account_common(const ridge_timeline *timeline);

#endif
