/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tables over a trace share: groups found by key, times that cannot overflow, and whether
 * a piece of work belongs to a window. */
#ifndef RIDGE_TIMELINE_SUMS_INTERNAL_H
#define RIDGE_TIMELINE_SUMS_INTERNAL_H

#include <regex.h>

#include "ridge/trace_sums.h"

/* Numbers 0, 1, ... for keys in the order in which they are first seen. */
typedef struct sum_groups {
    uint64_t *keys; /* of each group; new */
    uint32_t count;
    uint32_t *slots; /* group + 1; 0: free */
    size_t slot_count, capacity;
} sum_groups;

/* UINT32_MAX when out of memory. */
uint32_t sum_group_of(sum_groups *groups, uint64_t key);
void sum_groups_release(sum_groups *groups);

/* end - start and a + b, cut at INT64_MAX: times of a file may lie at the ends of their type. */
int64_t sum_span_ns(int64_t start_ns, int64_t end_ns);
int64_t sum_add_ns(int64_t a, int64_t b);

/* When the work was launched: its call's start, its own where no call is known. */
int64_t sum_launch_ns(const ridge_trace_op *op, const ridge_trace_api *apis);
bool sum_in_window(const ridge_trace_window *window, int64_t time_ns);
bool sum_on_device(const ridge_trace *trace, const ridge_trace_op *op, uint32_t device);

/* How many rows have a time up to time_ns: rows of `size` bytes that begin with an int64_t, in the
 * order of these. Looks around `near` first: a few steps when the answer is there, twice the
 * logarithm at the most. */
size_t sum_count_until(const void *rows, size_t size, size_t count, size_t near, int64_t time_ns);

/* A duration of a group. */
typedef struct sum_sample {
    int64_t ns;
    uint32_t group;
    uint32_t row;
} sum_sample;

/* Sorts by time, equal ones in the order in which they stood: `spare` has room for as many. Linear:
 * a pass for each byte in which the times differ. Times are not negative. */
void sum_sort(sum_sample *samples, sum_sample *spare, size_t count);

/* Of a call's name, without "_vNNNN" of exactly four digits, as nsys prints it. */
size_t sum_plain_length(const char *name, size_t length);

/* For each row of ridge_trace_api() the innermost range (of kinds, 1 << ridge_range_kind) that holds
 * it, RIDGE_TRACE_NONE without one and for calls that launched nothing. New, freed with
 * ridge_free(); NULL when out of memory. */
uint32_t *sum_innermost(const ridge_trace *trace, unsigned kinds, const ridge_trace_window *window);

/* ridge_trace_sum_ranges(), which also writes each range that launched work where projected is not
 * NULL: it has room for all ranges. Those of a thread come in turn, the last to start first. */
ridge_status sum_ranges(const ridge_trace *trace, unsigned kinds, const ridge_trace_window *window,
                        ridge_range_sums *out, ridge_projected_ranges *projected, ridge_error *err);

/* Frames of the interpreter's own functions say nothing, nor do the steps of the profiler. */
bool sum_says_something(const char *range);

/* An extended regular expression for whole names. what is for the message: "range". Freed with
 * regfree(). */
ridge_status sum_compile(const char *what, const char *pattern, regex_t *out, ridge_error *err);

/* When a device was busy; with_all: all devices together too. NULL: out of memory. */
typedef struct sum_busy sum_busy;
sum_busy *sum_busy_create(const ridge_trace *trace, bool with_all);
void sum_busy_free(sum_busy *busy);
/* How long the device did nothing between its work's two times; RIDGE_TRACE_NONE: all did nothing. */
int64_t sum_idle_in(sum_busy *busy, uint32_t device, int64_t start_ns, int64_t end_ns);

#endif
