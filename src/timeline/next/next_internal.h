/* SPDX-License-Identifier: Apache-2.0
 *
 * Between the parts of ridge_timeline_plan(): least times of kernels, the line for ncu, the advice. */
#ifndef RIDGE_TIMELINE_NEXT_INTERNAL_H
#define RIDGE_TIMELINE_NEXT_INTERNAL_H

#include "base/text.h"
#include "ridge/timeline.h"
#include "timeline/sums/sums_internal.h"
#include "timeline/trace_build.h"

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

/* The least time of each piece of work in nanoseconds, NAN where it is not known, and where it comes
 * from: the row of its operation in ridge_trace_ranges(), BOUND_GIVEN. All NULL where nothing in the
 * trace has one. */
typedef struct kernel_bounds {
    double *least_ns;
    uint32_t *sources;
    double floor_ns; /* what an empty kernel takes: no least time is below */
} kernel_bounds;

ridge_status kernel_bounds_init(kernel_bounds *bounds, const ridge_trace *trace, uint32_t device,
                                const ridge_trace_window *window, const ridge_roofs *roofs,
                                const ridge_given_bounds *given, ridge_error *err);
void kernel_bounds_release(kernel_bounds *bounds);

/* -- the parts of a plan ----------------------------------------------------------------------- */

/* The line for a kernel, and the note on it. */
ridge_status ncu_line_make(const ridge_trace *trace, const ridge_trace_sum *kernel,
                           bool with_command, char **line, char *note, size_t note_size,
                           ridge_error *err);

/* What to do about the time between; "" for a verdict that sends inside the kernels, unless there are
 * two roads. is_whole: no
 * part of the trace was asked for, so that ranges of it may be advised. */
void next_advice(const ridge_trace *trace, const ridge_device_account *device, bool is_whole,
                 char *text, size_t size);
/* What to do about copies. */
void next_copy_advice(const ridge_trace *trace, const ridge_device_account *device, char *text,
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
bool next_steady(const ridge_trace *trace, const ridge_device_account *device, bool is_whole,
                 char *text, size_t size);

/* Between 5 and 20 % of the span are idle: what to do about the time between is told whatever the
 * verdict says, and the road that gives more comes first. */
bool next_has_two_roads(const ridge_device_account *device);
/* What each road gives, and which comes first: once ranks, worst and fix are known. */
void next_gains(const ridge_trace *trace, const ridge_device_account *device,
                ridge_timeline_next *out);

ridge_status next_plan(const ridge_trace *trace, const ridge_trace_window *window,
                       const ridge_device_account *device, const ridge_roofs *roofs,
                       const ridge_given_bounds *given, bool with_command, ridge_timeline_next *out,
                       ridge_error *err);

#endif
