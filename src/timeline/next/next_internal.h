/* SPDX-License-Identifier: Apache-2.0
 *
 * Between the parts of ridge_timeline_plan(): least times of kernels, the line for ncu, the advice. */
#ifndef RIDGE_TIMELINE_NEXT_INTERNAL_H
#define RIDGE_TIMELINE_NEXT_INTERNAL_H

#include <pthread.h>

#include "base/text.h"
#include "ridge/timeline.h"
#include "timeline/sums/sums_internal.h"
#include "timeline/trace_build.h"

/* -- what plans share -------------------------------------------------------------------------- */

typedef enum next_known { NEXT_NOT_LOOKED, NEXT_NO, NEXT_YES } next_known;
typedef enum next_gpu {
    NEXT_GPU_NOT_LOOKED,
    NEXT_GPU_NVIDIA, /* or nothing tells */
    NEXT_GPU_AMD,
    NEXT_GPU_OTHER
} next_gpu;

typedef struct next_process {
    const ridge_trace_api *first; /* call; NULL: none */
    int64_t launched_ns;          /* its first launch, INT64_MAX */
    int64_t started_ns;           /* its first call that starts the profiler, INT64_MAX */
    uint32_t device;              /* of some of its work */
    bool has_work, has_several_devices;
} next_process;

/* Ranges whose names differ in numbers alone. */
typedef struct next_steps {
    const char *name;
    size_t count;
    int64_t start_ns, end_ns; /* from the first to the last */
    int64_t sum_ns;
} next_steps;

/* What the plan of each device asks of the whole trace, found when it is first asked for: for one
 * plan, or kept by a timeline of several devices, whose plans take turns at it. */
typedef struct next_common {
    const ridge_trace *trace;
    pthread_mutex_t lock; /* while a plan is made */
    bool is_kept;

    struct kernel_launches *launches; /* kernel_bounds.c */
    next_known has_shapes;
    struct next_bounded *bounded_by_name; /* next.c; zeroed between plans */
    uint64_t *families;                   /* next_advice.c: of ranges, by name */
    next_known is_torch, launches_graphs, has_steps;
    next_gpu gpu;
    next_steps steps;
    int64_t *last_ends_ns; /* of each NEXT_BLOCK_RANGES ranges */
    next_process *processes;
    size_t process_count;
    bool has_several_processes; /* with work; known with processes */
} next_common;

enum { NEXT_BLOCK_RANGES = 64 };

/* False: no lock is to be had, and nothing is to be released. */
bool next_common_init(next_common *common, const ridge_trace *trace, bool is_kept);
void next_common_release(next_common *common);
/* To be kept; NULL: out of memory. */
next_common *next_common_create(const ridge_trace *trace);
void next_common_free(next_common *common);

/* Behind the ranges from this row on that end before until_ns; itself. A few are not skipped. */
size_t next_skip_ranges(next_common *common, size_t range, int64_t until_ns);
bool next_launches_graphs(next_common *common);
/* Is it PyTorch? Then the advice may speak its language. Its operations or its kernels tell. */
bool next_is_torch(next_common *common);
/* Whose GPU it is, by the calls that launch. */
next_gpu next_gpu_of_calls(next_common *common);
/* NULL: out of memory. */
const next_process *next_process_of(next_common *common, uint32_t process);

/* -- least times ------------------------------------------------------------------------------- */

/* What a kernel must do at least by the shapes of the operation that launched it; false where the
 * operation is not known or its shapes do not tell. kernel is its name, which says whether a
 * product of floats may go through TF32. */
bool kernel_work_of(const char *operation, const char *shapes, const char *kernel, ridge_work *out);
/* Whose that work is, of what the operation launched. */
typedef enum kernel_scope {
    KERNEL_SCOPE_NONE, /* no work is known */
    KERNEL_SCOPE_ALL,  /* of all kernels together */
    KERNEL_SCOPE_MAIN, /* a product or an attention: of the main kernel, helpers beside it */
    KERNEL_SCOPE_OWN   /* of a kernel of this name, once, whatever stands beside it */
} kernel_scope;
kernel_scope kernel_scope_of(const char *operation, const char *kernel);

/* The first line whose expression is the kernel's demangled or base name; NULL: none. */
const ridge_work *given_bounds_find(const ridge_given_bounds *given, const char *demangled,
                                    const char *base);

#define BOUND_GIVEN UINT32_MAX /* a source, beside rows of ranges */

/* The least time of each piece of work of the device (trace_ops_of()) in nanoseconds, NAN where it is
 * not known, and where it comes from: the row of its operation in ridge_trace_ranges(), BOUND_GIVEN.
 * All NULL where nothing in the trace has one. */
typedef struct kernel_bounds {
    trace_op_list own;
    double *least_ns;
    uint32_t *sources;
    double floor_ns; /* what an empty kernel takes: no least time is below */
} kernel_bounds;

ridge_status kernel_bounds_init(kernel_bounds *bounds, next_common *common, uint32_t device,
                                const ridge_trace_window *window, const ridge_roofs *roofs,
                                const ridge_given_bounds *given, ridge_error *err);
void kernel_bounds_release(kernel_bounds *bounds);
void kernel_launches_free(struct kernel_launches *launches);

/* -- the parts of a plan ----------------------------------------------------------------------- */

/* The line for a kernel, and the note on it. */
ridge_status ncu_line_make(next_common *common, const ridge_trace_sum *kernel, bool with_command,
                           char **line, char *note, size_t note_size, ridge_error *err);

/* What to do about the time between; "" for a verdict that sends inside the kernels, unless there are
 * two roads. is_whole: no part of the trace was asked for, so that ranges of it may be advised. Sets
 * is_sync too. */
void next_advice(next_common *common, const ridge_device_account *device, bool is_whole,
                 ridge_timeline_next *out);
/* What to do about so many waits in a call of this name (a range around one of them, or NULL), up to the
 * first ';' the waits themselves; false: nothing beyond the verdict. */
bool next_wait_words(const char *call, size_t length, size_t count, const char *range,
                     bool is_torch, char *text, size_t size);
/* What to do about copies. */
void next_copy_advice(next_common *common, const ridge_device_account *device, char *text,
                      size_t size);
/* The start of a process, where most of the idle time lies in front of most of the kernels' time. */
typedef struct next_start_of {
    int64_t end_ns;   /* of a gap */
    double idle_frac; /* of the idle time, until then */
} next_start_of;
/* false: there is none. */
bool next_start(const ridge_trace *trace, const ridge_device_account *device, next_start_of *out);

/* In words, how to see the part that repeats where most of the idle time lies outside of it; false:
 * there is no such part. */
bool next_steady(next_common *common, const ridge_device_account *device, bool is_whole, char *text,
                 size_t size);

#define NEXT_GAIN_SHOWN 1.005 /* less is 1.00x */
/* Of sync_gain, which the advice has to know. */
double next_sync_gain(const ridge_device_account *device);

/* Between 5 and 20 % of the span are idle: what to do about the time between is told whatever the
 * verdict says, and the road that gives more comes first. */
bool next_has_two_roads(const ridge_device_account *device);
/* What each road gives, and which comes first: once ranks, worst and fix are known. */
void next_gains(next_common *common, const ridge_device_account *device, ridge_timeline_next *out);

ridge_status next_plan(next_common *common, const ridge_trace_window *window,
                       const ridge_device_account *device, const ridge_roofs *roofs,
                       const ridge_given_bounds *given, bool with_command, ridge_timeline_next *out,
                       ridge_error *err);

#endif
