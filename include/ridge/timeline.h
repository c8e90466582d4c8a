/* SPDX-License-Identifier: Apache-2.0
 *
 * Between the kernels or inside them? The accounts of a trace, a device each:
 *
 *     span = kernels + copies only + idle
 *
 * exactly, in whole nanoseconds, from the first start to the last end of the device's work (or of a
 * window). Kernels: the union over all streams and processes in which a kernel or a graph ran.
 * Copies only: a copy or memset ran and no kernel. Every nanosecond of idle time gets one cause, so
 * the causes sum to the idle time. Where a trace cannot tell a cause, it is RIDGE_IDLE_UNKNOWN.
 *
 * The rules are those of docs/timeline.md; the numbers they use stand in the account. */
#ifndef RIDGE_TIMELINE_H
#define RIDGE_TIMELINE_H

#include "ridge/bound.h"
#include "ridge/table.h"
#include "ridge/trace.h"
#include "ridge/trace_sums.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In the order in which they are painted: the first that holds takes the time.
 * X(NAME, text, meaning) */
#define RIDGE_IDLE_LIST(X)                                                                         \
    X(PROFILER, "profiler", "the profiler's own work")                                             \
    X(UNKNOWN, "unknown", "the trace has no call of the host for it")                              \
    X(GRAPH, "graph-internal", "between nodes of one graph launch: no host is in the way")         \
    X(HARDWARE, "hardware", "back to back: what the GPU takes between two pieces of work")         \
    X(QUEUED, "queued", "launched and not started: waits for an event, a stream, another device")  \
    X(LAUNCH, "launch", "the launch call, until its work starts")                                  \
    X(SLOW_LAUNCH, "slow-launch", "a launch call above 1 ms: code was loaded or compiled")         \
    X(ALLOC, "alloc", "allocating or freeing memory")                                              \
    X(MODULE, "module", "loading code")                                                            \
    X(GRAPH_BUILD, "graph-build", "capturing, instantiating or updating a graph")                  \
    X(SYNC, "sync", "the host waited for the GPU, and the GPU had nothing left")                   \
    X(SYNC_REFILL, "sync-refill", "host code after such a wait, exposed by it")                    \
    X(OTHER_API, "other-api", "another call of the runtime or driver")                             \
    X(HOST_BLOCKED, "host-blocked", "the thread that launches next slept in the system")           \
    X(DISPATCH, "dispatch", "host code of the framework or program before the launch")             \
    X(NO_WORK, "no-work", "the host did nothing for the GPU for 2 ms or more")

typedef enum ridge_idle {
#define RIDGE_IDLE_ENUM(name, text, meaning) RIDGE_IDLE_##name,
    RIDGE_IDLE_LIST(RIDGE_IDLE_ENUM)
#undef RIDGE_IDLE_ENUM
        RIDGE_IDLE_COUNT
} ridge_idle;
const char *ridge_idle_name(ridge_idle cause);    /* "graph-internal" */
const char *ridge_idle_meaning(ridge_idle cause); /* one line */

/* The first that holds, in this order. X(NAME, text, meaning) */
#define RIDGE_VERDICT_OF_TIMELINE_LIST(X)                                                          \
    X(NOTHING, "NO-KERNELS", "the trace holds no kernel of this device")                           \
    X(COPY_BOUND, "COPY-BOUND", "copies alone take 30 % of the span or more")                      \
    X(INCOMPLETE, "INCOMPLETE", "too much is missing in the trace for a verdict")                  \
    X(GRAPH_REPLAY, "GRAPH-REPLAY", "graphs launch most kernels, back to back")                    \
    X(GPU_BOUND, "GPU-BOUND", "less than 10 % of the span is idle: look inside the kernels")       \
    X(SYNC_BOUND, "SYNC-BOUND", "waiting for the GPU makes 40 % of the idle time or more")         \
    X(ALLOC_BOUND, "ALLOC-BOUND", "allocation makes 40 % of the idle time or more")                \
    X(MODULE_BOUND, "MODULE-BOUND", "loading code makes 40 % of the idle time or more")            \
    X(NO_WORK, "NO-WORK", "the host gave the GPU nothing to do for half of the idle time or more") \
    X(LAUNCH_BOUND, "LAUNCH-BOUND", "the host cannot launch as fast as the GPU works")             \
    X(MIXED, "MIXED", "no cause stands out")

typedef enum ridge_timeline_verdict {
#define RIDGE_TIMELINE_ENUM(name, text, meaning) RIDGE_TIMELINE_##name,
    RIDGE_VERDICT_OF_TIMELINE_LIST(RIDGE_TIMELINE_ENUM)
#undef RIDGE_TIMELINE_ENUM
} ridge_timeline_verdict;
const char *ridge_timeline_verdict_name(ridge_timeline_verdict verdict); /* "LAUNCH-BOUND" */
const char *ridge_timeline_verdict_meaning(ridge_timeline_verdict verdict);

/* How the host and the GPU keep step; from times alone, never from names. */
typedef enum ridge_pace {
    RIDGE_PACE_UNKNOWN,
    RIDGE_PACE_PREFILL, /* the host runs ahead: kernels are longer than the launch period, or >= 2 queued */
    RIDGE_PACE_DECODE /* the GPU waits: kernels below half of the launch period, queue empty */
} ridge_pace;         /* UNKNOWN below 10 launches too: so few may be anything */
const char *ridge_pace_name(ridge_pace pace); /* "prefill-like", "decode-like", "" */

/* A stretch of idle time with one cause. Sorted by start; touching ones may share a cause. */
typedef struct ridge_idle_piece {
    int64_t start_ns, end_ns;
    uint32_t api; /* the call in it; of SYNC_REFILL the wait before it; or RIDGE_TRACE_NONE */
    uint8_t cause;
} ridge_idle_piece;

/* Idle time between two pieces of work. Sorted by start. */
typedef struct ridge_idle_gap {
    int64_t start_ns, end_ns;
    uint32_t before, after; /* rows of ridge_trace_ops(); NONE at a window's edge */
    uint32_t range; /* row of ridge_trace_ranges(): innermost around the next launch; NONE */
    /* Where the host was meanwhile: the innermost range on the thread that launches next that covers
     * more than half of its time from the gap's start to the end of that launch, a frame of Python
     * where no other does; else range. A launch that had returned before: range. */
    uint32_t host_range;
    uint32_t first_piece, piece_count; /* rows of the account's pieces: a gap's lie side by side */
    uint8_t cause;                     /* the one with most of it */
} ridge_idle_gap;

typedef struct ridge_idle_sum {
    int64_t total_ns;
    size_t gap_count;     /* gaps with a piece of it */
    int64_t largest_ns;   /* piece */
    int64_t stall_ns;     /* of it in stretches of 2 ms or more without a call */
    uint32_t largest_gap; /* row of gaps; RIDGE_TRACE_NONE without one */
} ridge_idle_sum;

typedef struct ridge_stream_account {
    uint32_t stream; /* row of ridge_trace_streams() */
    size_t op_count, kernel_count;
    int64_t busy_ns; /* union */
    int64_t sum_ns;
    size_t overlap_count;    /* work that starts before earlier work of the stream ended: PDL */
    size_t queue_depth_most; /* in front of a launch: see ridge_device_account */
} ridge_stream_account;

typedef struct ridge_device_account {
    uint32_t device; /* row of ridge_trace_devices() */
    int64_t start_ns, end_ns;
    int64_t kernel_ns, copy_only_ns, idle_ns; /* sum to end_ns - start_ns */
    int64_t busy_ns;                          /* union of everything */
    ridge_idle_sum causes[RIDGE_IDLE_COUNT];
    size_t gap_count, piece_count, stream_count;
    const ridge_idle_gap *gaps;
    const uint32_t *gaps_by_size; /* rows of gaps, the largest first */
    const ridge_idle_piece *pieces;
    const ridge_stream_account *streams;

    /* Stretches in which the host made no call for 2 ms or more (no-work, dispatch, host-blocked):
     * no launch costs that, the program was busy with something else. */
    int64_t stall_ns, stall_most_ns;

    size_t op_count, kernel_count, copy_count, graph_row_count;
    size_t launch_count;            /* calls that launched its work */
    size_t graph_launch_count;      /* different launches of graphs */
    size_t graph_kernel_count;      /* kernels (and graph rows) that graphs launched */
    int64_t kernel_sum_ns;          /* with overlaps */
    double median_kernel_ns;        /* NAN without kernels */
    double median_launch_period_ns; /* between launches of this device's kernels; NAN */
    double median_graph_gap_ns;     /* inside graphs; NAN */
    double median_hardware_gap_ns;  /* of gaps in front of work that was queued; NAN */
    int64_t hardware_gap_ns;        /* limit: shorter gaps are back to back */
    int64_t launch_latency_ns;      /* limit: later work had to queue. From the median latency */

    /* How many others of its stream stand in front of a launch when its call returns: launched and not
     * started. The work that runs is not among them, nor the launch itself; a graph counts once. */
    double queue_depth_median; /* NAN: no launches recorded */
    size_t queue_depth_most;
    double queue_empty_frac; /* launches that found nothing queued or running; NAN */
    /* Time in which a thread that launches this device's work waited for the GPU (a call to synchronise,
     * a copy that blocks), in front of the last launch: without these waits the span is shorter by this
     * much at most. 0 where no launch was recorded. */
    int64_t waited_ns;
    int64_t queue_full_ns; /* threads that launch this device's work waited for room; summed */

    int64_t concurrent_ns;  /* two pieces of work or more */
    int64_t copy_ns;        /* union of copies and memsets */
    int64_t copy_hidden_ns; /* of it under kernels */
    /* The longest union of one direction: to the device, from it, within it (memsets too), between
     * devices. Unknown ones are in none. */
    int64_t copy_busiest_ns;
    int64_t collective_ns;        /* union of communication kernels */
    int64_t collective_hidden_ns; /* of it under other kernels */
    size_t overlap_count;         /* on one stream: PDL */
    size_t concurrent_most;
    /* Two streams with work that never overlap while an operation on the legacy default stream
     * stands between: how often. RIDGE_TRACE_NONE: none. */
    uint32_t serial_streams[2]; /* rows of ridge_trace_streams(), of the most frequent pair */
    size_t serial_count;

    ridge_timeline_verdict verdict;
    ridge_pace pace;
    char reason[200]; /* the numbers that decided, one line */
} ridge_device_account;

/* What may be wrong with the trace; tested before any verdict. X(NAME, text, meaning) */
#define RIDGE_TRACE_FAULT_LIST(X)                                                                  \
    X(PARTIAL, "partial", "the file is cut or damaged")                                            \
    X(ORPHANS, "orphans", "kernels without a launch call, above 5 %")                              \
    X(NO_API, "no-host-data", "no call of the host was recorded")                                  \
    X(NO_TIMES, "no-times", "work without times")                                                  \
    X(LOST_GRAPH, "lost-graph", "graph launches whose kernels are missing")                        \
    X(GRAPH_ROWS, "graph-rows", "graphs are whole rows: no kernels to see")                        \
    X(CUT, "cut", "work queued long before it starts: another step's work is missing")             \
    X(COARSE_CLOCK, "coarse-clock", "times are whole microseconds")                                \
    X(STACKS, "stacks", "recorded with stacks: host times are inflated")                           \
    X(SKIPPED_CALLS, "skipped-calls", "cheap calls were not recorded")                             \
    X(DIAGNOSTIC, "diagnostic", "the recording tool complained")                                   \
    X(OVERLAPS, "overlaps", "work overlaps on one stream: programmatic dependent launch")

typedef enum ridge_trace_fault_kind {
#define RIDGE_TRACE_FAULT_ENUM(name, text, meaning) RIDGE_TRACE_FAULT_##name,
    RIDGE_TRACE_FAULT_LIST(RIDGE_TRACE_FAULT_ENUM)
#undef RIDGE_TRACE_FAULT_ENUM
} ridge_trace_fault_kind;
const char *ridge_trace_fault_name(ridge_trace_fault_kind kind);
const char *ridge_trace_fault_meaning(ridge_trace_fault_kind kind); /* one line */

typedef struct ridge_trace_fault {
    ridge_trace_fault_kind kind;
    bool is_unreliable; /* percentages cannot be trusted; false: a note */
    uint32_t device;    /* row of ridge_trace_devices(); RIDGE_TRACE_NONE: the trace */
    char text[200];     /* what, how much, what to do */
} ridge_trace_fault;

typedef struct ridge_timeline ridge_timeline;

/* The accounts of all devices whose time from first start to last end the window (NULL: the whole)
 * holds a part of; within a gap that part has no work. The trace is borrowed and must outlive them. */
ridge_status ridge_timeline_create(const ridge_trace *trace, const ridge_trace_window *window,
                                   ridge_timeline **out, ridge_error *err);
void ridge_timeline_free(ridge_timeline *timeline); /* NULL is allowed */
const ridge_device_account *ridge_timeline_devices(const ridge_timeline *timeline, size_t *count);
const ridge_trace_fault *ridge_timeline_faults(const ridge_timeline *timeline, size_t *count);
/* The device that decides: that with the most idle time of those with kernels; NULL: none. */
const ridge_device_account *ridge_timeline_main_device(const ridge_timeline *timeline);
/* Fills host_idle_ns of ranges that were summed over the window of these accounts, from the gaps of one
 * device. */
ridge_status ridge_timeline_range_idle(const ridge_timeline *timeline,
                                       const ridge_device_account *device, ridge_range_sums *sums,
                                       ridge_error *err);

/* -- what next --------------------------------------------------------------------------------- */

/* A kernel and what it could take at least: the bytes and operations of the PyTorch operation that
 * launched it (where this kernel alone does them), or of a line of the user's, under the chip's
 * roofs; no less than what an empty kernel takes, 0.8 us or the shortest kernel of the trace where
 * roofs do not tell. A ratio below 1: data came from the L2 cache; such a kernel ranks as one
 * without a bound and is never the worst.
 *
 * Ranked by measured over bound among those with 2 % of the kernels' time or more, ties by what can
 * be gained; without bounds by time. Tiny ones come with those: there is little to gain inside a
 * kernel that has next to nothing to do. The worst is the first of them, where calls with a bound make
 * less than half of the time the one with most time; never communication, and none that could save
 * less than half a percent before others. */
typedef struct ridge_kernel_rank {
    ridge_trace_sum sum; /* by demangled name */
    double share_frac;   /* of the device's kernel time */
    double bound_ns;     /* all calls together; NAN: not known */
    double ratio;        /* total / bound; NAN */
    char source[64];     /* of the bound: "shapes of aten::mm", "given", "bytes"; "" */
    size_t bound_count;  /* calls that have one: the others are left out of bound and ratio */
    bool is_tiny; /* the bound of each call is floor_ns, what an empty kernel takes: no rank */
} ridge_kernel_rank;

/* Bounds by hand, a line a kernel; '#' begins a comment:
 *
 *     REGEX bytes=N flops=N peak=NAME
 *
 * REGEX: extended, for the whole demangled or base name, "in quotes" where it has spaces. bytes and
 * flops are of one call, either may be missing. peak goes to the end of the line ("bf16 tensor", see
 * ridge/bound.h) and is needed for flops. The first line that fits a kernel counts. */
typedef struct ridge_given_bounds ridge_given_bounds;
ridge_status ridge_given_bounds_read(const char *path, ridge_given_bounds **out, ridge_error *err);
ridge_status ridge_given_bounds_parse(const char *text, size_t length, ridge_given_bounds **out,
                                      ridge_error *err);
void ridge_given_bounds_free(ridge_given_bounds *bounds);
/* How many lines fit no kernel of the trace, and the first of their expressions (borrowed, at most 63
 * bytes of it; NULL: there is none). */
ridge_status ridge_given_bounds_unused(const ridge_given_bounds *bounds, const ridge_trace *trace,
                                       size_t *count, const char **first, ridge_error *err);

typedef struct ridge_timeline_next {
    bool is_inside; /* the kernels come first; false: the host does */
    char fix[400];  /* what to do about the time between; when inside "" below 5 % of idle time */
    bool is_sync;   /* fix is to remove waits: it gives sync_gain */
    /* What to do about exposed communication, where that road gives more than the others and 5 % of
     * the span or more are such; it comes first then. "" */
    char exposed[240];
    size_t rank_count;
    ridge_kernel_rank *ranks;
    const ridge_kernel_rank *worst; /* of ranks, no communication; NULL: none */
    /* The line for the worst kernel, "ncu --set full -k regex:^...$ -s N -c 1 ... COMMAND"; "" when
     * there is none. COMMAND stays a word unless with_command. */
    char *ncu;
    char note[200]; /* on the line: why no -s, graph rows, several processes; "" */

    /* How many times shorter the span is at most: the span over what is left of it. Work that overlaps
     * makes it less. Without idle time; with the calls of the worst kernel that have a least time at
     * it (NAN: none has), that kernel twice as fast, all such calls. NAN: nothing would be left. */
    double idle_gain, worst_gain, worst_half_gain, kernels_gain;
    /* Without waits for the GPU alone: what is left is no less than the busy time, nor than what the
     * threads that launch need for themselves, the span less waited_ns. 1 to idle_gain. NAN: nothing
     * would be left, or no launch was recorded. */
    double sync_gain;
    /* With copies under kernels as far as they go: no less is left than the busiest direction of them,
     * as fast as they are here. NAN: nothing would be left. */
    double copy_gain;
    /* Where most of the idle time lies in the start of a process: how much of it, and what no idle
     * time gives behind the start, which is what can be gained in a longer run. NAN: no start. */
    double start_frac, steady_gain;
    /* With communication under other kernels, or as short: without what of it nothing else overlaps. */
    double collective_gain;
    double bounded_frac; /* of the kernels' time without communication: calls with a least time */
    /* What an empty kernel takes, below which no least time is: launch_s of the roofs, else the
     * shortest kernel of the device, at most 800 ns. NAN where nothing has a least time. */
    double floor_ns;
    /* Where clearly more is to gain than in the worst, 1.5 times, and how much of the span; NULL. Never
     * a tiny one. */
    const ridge_kernel_rank *richest;
    double richest_frac;
    char *richest_ncu; /* the line for it, as ncu; "" when there is none */
} ridge_timeline_next;

/* roofs NULL: of the device's chip (or its recorded bandwidth). given may be NULL. */
ridge_status ridge_timeline_plan(const ridge_timeline *timeline, const ridge_device_account *device,
                                 const ridge_roofs *roofs, const ridge_given_bounds *given,
                                 bool with_command, ridge_timeline_next *out, ridge_error *err);
void ridge_timeline_next_free(ridge_timeline_next *next); /* empties it */

/* -- two traces -------------------------------------------------------------------------------- */

typedef enum ridge_kernel_change_kind {
    RIDGE_KERNEL_APPEARED,
    RIDGE_KERNEL_VANISHED,
    RIDGE_KERNEL_CHANGED, /* count or median differs by 2 % or more, see ridge_kernel_changes_scale() */
    RIDGE_KERNEL_SAME
} ridge_kernel_change_kind;

typedef struct ridge_kernel_change {
    ridge_kernel_change_kind kind;
    const char *name; /* demangled */
    uint64_t count_before, count_after;
    int64_t total_before_ns, total_after_ns;
    double median_before_ns, median_after_ns; /* NAN: not there */
    double change_ns;                         /* of the total */
    bool is_collective;                       /* communication, which waits for others */
} ridge_kernel_change;

/* Kernels of a device of each: rows of ridge_trace_devices(), RIDGE_TRACE_NONE: of all. Sorted by the
 * size of the change of total time. The traces are borrowed. */
ridge_status ridge_timeline_compare(const ridge_trace *before, const ridge_trace *after,
                                    uint32_t device_before, uint32_t device_after,
                                    const ridge_trace_window *window_before,
                                    const ridge_trace_window *window_after,
                                    ridge_kernel_change **out, size_t *count, ridge_error *err);
void ridge_kernel_changes_free(ridge_kernel_change *changes);

/* Whether the kernels that are in both, without communication, were called more or less often
 * together, as in cuts of different lengths of one loop: all follow the one of them that takes most
 * time. They did when their calls have its ratio, to a call or 5 %, in half of their time and half of
 * their number, and they are a quarter or more of the kernels' time in each. */
typedef struct ridge_call_pace {
    double ratio; /* calls of after over those of before; NAN: not together, or none is in both */
    const char *name;                   /* of the one that they follow; NULL: none is in both */
    uint64_t count_before, count_after; /* its calls */
} ridge_call_pace;
ridge_call_pace ridge_kernel_changes_pace(const ridge_kernel_change *changes, size_t count);
/* For after did ratio times the work of before: change_ns becomes total_after_ns / ratio -
 * total_before_ns, a kernel is the same when its calls have the ratio to a call or 2 % and its median
 * is; sorted anew by what changed then. A ratio of 1 is as ridge_timeline_compare() made them. */
void ridge_kernel_changes_scale(ridge_kernel_change *changes, size_t count, double ratio);

/* -- the picture ------------------------------------------------------------------------------- */

/* A device over time as SVG: where the time goes (a column a pixel: kernels, copies, idle time by
 * cause), a lane a stream, the thread that launches with its calls and ranges, and the account with
 * its legend. Its size does not grow with the trace: below a pixel work is summed. title is the
 * file's name. */
void ridge_timeline_write_svg(const ridge_trace *trace, const ridge_device_account *account,
                              const char *title, ridge_output *output);

#ifdef __cplusplus
}
#endif
#endif
