/* SPDX-License-Identifier: Apache-2.0
 *
 * Filling a trace: a reader adds rows in any order, trace_finish() sorts and joins them. The builder
 * remembers its first failure (out of memory) and ignores later calls, so a reader adds what it has
 * and checks once. */
#ifndef RIDGE_TIMELINE_TRACE_BUILD_H
#define RIDGE_TIMELINE_TRACE_BUILD_H

#include "base/memory.h"
#include "ridge/trace.h"

/* A growing array of one kind of rows. */
typedef struct trace_array {
    void *rows;
    size_t count, capacity;
} trace_array;

/* Whose launch a piece of work is: correlation numbers repeat in other processes. */
typedef struct trace_key {
    uint64_t correlation; /* 0: none */
    uint32_t process;     /* row of processes */
} trace_key;

/* A call until it is joined with its work: trace_finish() leaves its row alone. */
typedef struct trace_call {
    ridge_trace_api row;
    uint64_t correlation; /* 0: none */
} trace_call;

typedef struct trace_names {
    trace_array texts; /* of struct trace_name */
    uint32_t *slots;   /* id + 1; 0: free */
    size_t slot_count; /* a power of two */
} trace_names;

struct ridge_trace {
    ridge_arena arena;
    ridge_trace_info info; /* a reader writes what it learns; texts live in the arena */
    trace_names names;
    trace_array apis, repeats; /* of trace_call until trace_finish(), then of ridge_trace_api */
    trace_array ops, ranges, waits, overheads, syncs;
    trace_array configs, streams, devices, threads, processes, diagnostics;
    trace_array op_keys, sync_keys; /* beside ops and syncs, until trace_finish() */
    /* Tables of hashes, as names.slots. */
    uint32_t *config_slots, *thread_slots, *stream_slots, *device_slots, *process_slots;
    size_t config_slot_count, thread_slot_count, stream_slot_count;
    size_t device_slot_count, process_slot_count;
    uint32_t *device_rows; /* trace_index_devices() */
    size_t *device_firsts;
    bool failed; /* out of memory */
};

/* Empty; NULL when out of memory. */
ridge_trace *trace_create(void);

/* The number of a text: the same one for equal bytes; 0 for none. */
uint32_t trace_intern(ridge_trace *trace, const char *bytes, size_t length);
/* A copy that lives as long as the trace. */
const char *trace_text(ridge_trace *trace, const char *bytes, size_t length);

/* Rows of what other rows refer to: found or made. */
uint32_t trace_process(ridge_trace *trace, int64_t id);
/* id -1: by name alone. name 0 keeps the one that is known. */
uint32_t trace_thread(ridge_trace *trace, uint32_t process, int64_t id, uint32_t name);
/* No machine has more; each is accounted by itself, over all work. */
enum { TRACE_DEVICES_MOST = 1024 };
/* The numbers of a device are the reader's to fill in; the pointer is good until the next call. */
uint32_t trace_device(ridge_trace *trace, int64_t id);
ridge_trace_device *trace_device_at(ridge_trace *trace, uint32_t device);
uint32_t trace_stream(ridge_trace *trace, uint32_t device, uint32_t process, uint32_t context,
                      int64_t id);
ridge_trace_stream *trace_stream_at(ridge_trace *trace, uint32_t stream);
uint32_t trace_config(ridge_trace *trace, const ridge_trace_config *config);

/* Copies of the rows. Work with end < start, or without times, is counted in
 * info.inverted_count and left out; with end == start counted in instant_count. Rows of the host with
 * end < start get no length. Times of 2^62 ns and beyond are counted in info.skipped_count (work: in
 * inverted_count) and left out, so that no difference of times overflows. api and op_count are found
 * by trace_finish(). */
void trace_add_op(ridge_trace *trace, const ridge_trace_op *op, trace_key key);
void trace_add_api(ridge_trace *trace, const ridge_trace_api *api, uint64_t correlation);
/* A second row of a call: counted in info.repeated_count. */
void trace_add_repeat(ridge_trace *trace, const ridge_trace_api *api, uint64_t correlation);
void trace_add_range(ridge_trace *trace, const ridge_trace_range *range);
void trace_add_wait(ridge_trace *trace, const ridge_trace_wait *wait);
void trace_add_overhead(ridge_trace *trace, const ridge_trace_overhead *overhead);
void trace_add_sync(ridge_trace *trace, const ridge_trace_sync *sync, trace_key key);
void trace_add_diagnostic(ridge_trace *trace, int severity, const char *text, size_t length);

/* Marks the trace as partial; the first reason stays. */
void trace_partial(ridge_trace *trace, const char *format, ...) RIDGE_PRINTF(2, 3);

/* Sorts, equal rows in the order in which they were; quick where much is in order. False: out of
 * memory, and all rows are there in some order. */
typedef int trace_order(const void *left, const void *right, const void *context);
bool trace_sort(void *rows, size_t count, size_t size, trace_order *order, const void *context);
/* The same of an array, whose rows may come to lie elsewhere. */
bool trace_sort_array(trace_array *array, size_t size, trace_order *order, const void *context);
/* Brings rows of a group together, in the order in which they were: what several threads wrote by
 * turns is no run otherwise. offset: of the group's number, a uint32_t below groups, in a row.
 * False: out of memory, and nothing is moved. */
bool trace_group_array(trace_array *array, size_t size, size_t offset, size_t groups);

/* Calls by thread and time, ahead of trace_finish(), which is quick then: for a reader with a thread
 * that has nothing else to do. False: out of memory, and all rows are there in some order. */
bool trace_sort_calls(ridge_trace *trace);

/* Rows of work, device by device, each in the order of ops; (*firsts)[device] is where a device's
 * begin, and one more is there. Both are new, also after a failure (false: out of memory). */
bool trace_group_by_device(const ridge_trace *trace, uint32_t **rows, size_t **firsts);
/* The same kept in the trace, where work is of several devices; trace_finish() does. */
bool trace_index_devices(ridge_trace *trace);

/* Rows of ops, rising; rows NULL: the first `count`. */
typedef struct trace_op_list {
    const uint32_t *rows;
    size_t count;
} trace_op_list;
/* What may be work of a device, and all of it: its own rows where the trace keeps them, else all
 * rows, as for RIDGE_TRACE_NONE. */
trace_op_list trace_ops_of(const ridge_trace *trace, uint32_t device);
static inline size_t trace_op_at(const trace_op_list *list, size_t index)
{
    return list->rows != NULL ? list->rows[index] : index;
}

/* Sorts, joins work with its call, closes open ranges at the end of the trace, and sets has_api.
 * Of several calls with one key the launch or copy owns the work, else the outermost call. */
ridge_status trace_finish(ridge_trace *trace, ridge_error *err);

#endif
