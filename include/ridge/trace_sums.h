/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums over a trace: kernels, calls, copies, ranges, streams. The columns and rules are those of
 * `nsys stats` (cuda_gpu_kern_sum, cuda_api_sum, cuda_gpu_mem_time_sum, nvtx_gpu_proj_sum,
 * nvtx_kern_sum), so that numbers can be laid side by side:
 * - the share is of the sum of the table's times, not of wall time;
 * - the median of an even number is the mean of the middle two;
 * - the standard deviation is that of a sample (n - 1), 0 for one.
 * Where nsys counts twice (calls recorded with their backtraces), this does not.
 *
 * Each function makes a new table, freed with ridge_trace_sums_free(). Rows are sorted by total
 * time, then count, both falling, then name. */
#ifndef RIDGE_TRACE_SUMS_H
#define RIDGE_TRACE_SUMS_H

#include "ridge/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Part of a trace: work whose launch (ranges, calls: themselves) begins in it. A zero structure is
 * the whole. The accounts of timeline.h cut the GPU's time at it; or, when it follows launches, take
 * on each device the time from the first start to the last end of the work that was launched in it,
 * however much later that ran. */
typedef struct ridge_trace_window {
    bool is_set;
    int64_t start_ns, end_ns; /* start <= t < end */
    bool follows_launches;
} ridge_trace_window;

/* The window of every instance of a range by name (an extended regular expression, whole name; the
 * ':' of the default domain may be left out), of NVTX or annotations: from the first start to the last end of the instances first..last (0-based;
 * last SIZE_MAX: all; beyond the last that is there: up to that). count: how many there are; NULL: not
 * asked. RIDGE_ERR_INVALID_ARGUMENT with the nearest names when there is none. */
ridge_status ridge_trace_range_window(const ridge_trace *trace, const char *name, size_t first,
                                      size_t last, ridge_trace_window *out, size_t *count,
                                      ridge_error *err);

/* Launches that take about the same time, where others of the kernel take clearly another. */
typedef struct ridge_trace_size {
    uint64_t count;
    int64_t total_ns;
    double median_ns;
} ridge_trace_size;

typedef struct ridge_trace_sum {
    const char *name;
    uint32_t name_id;
    uint64_t count;
    int64_t total_ns, min_ns, max_ns;
    double average_ns, median_ns, deviation_ns;
    double share_frac; /* of the table's total */
    uint64_t bytes;    /* copies: moved in all, RIDGE_TRACE_BYTES_UNKNOWN when none of them tells */
    uint32_t config;   /* kernels by configuration; RIDGE_TRACE_NONE */
    uint32_t first_op; /* kernels: row of the instance nearest the median */
    /* Sizes: sorted by time, launches part where one takes 1.5 times as long as the one before and 2 us
     * longer. A part of two launches or more is a size that has a tenth of them or of their time.
     * Without two such parts there are none (0). The two with the most time, that first. */
    size_t size_count;
    ridge_trace_size sizes[2];
    /* Kernels: row of the instance to look at, of the size with the most time (of all of them where
     * there are none): half of its time is in shorter ones. The median may be a time that no launch
     * took. */
    uint32_t typical_op;
} ridge_trace_sum;

typedef struct ridge_trace_sums {
    size_t count;
    ridge_trace_sum *rows;
    int64_t total_ns;
} ridge_trace_sums;

typedef enum ridge_kernel_key {
    RIDGE_KERNEL_BY_NAME,  /* demangled */
    RIDGE_KERNEL_BY_BASE,  /* short name */
    RIDGE_KERNEL_BY_CONFIG /* demangled name, grid and block */
} ridge_kernel_key;

/* device: row of ridge_trace_devices(), RIDGE_TRACE_NONE: all. window may be NULL. */
ridge_status ridge_trace_sum_kernels(const ridge_trace *trace, ridge_kernel_key key,
                                     uint32_t device, const ridge_trace_window *window,
                                     ridge_trace_sums *out, ridge_error *err);
/* By the name as recorded; "_vNNNN" of exactly four digits is not shown, as in nsys, so that two
 * versions of one call are two rows of one name. */
ridge_status ridge_trace_sum_api(const ridge_trace *trace, const ridge_trace_window *window,
                                 ridge_trace_sums *out, ridge_error *err);
/* The second rows of calls that were recorded with their backtraces: nsys counts them as further
 * calls, so its table is this one and the one above. */
ridge_status ridge_trace_sum_repeats(const ridge_trace *trace, const ridge_trace_window *window,
                                     ridge_trace_sums *out, ridge_error *err);
/* Copies and memsets by direction (nsys: "[CUDA memcpy HtoD]"; Kineto: the event's name). */
ridge_status ridge_trace_sum_copies(const ridge_trace *trace, uint32_t device,
                                    const ridge_trace_window *window, ridge_trace_sums *out,
                                    ridge_error *err);
void ridge_trace_sums_free(ridge_trace_sums *sums); /* empties it */

/* A range by name: what the host took, and what it launched. A kernel counts for every range on the
 * launching thread that holds its launch call entirely, whether ranges nest or cross; a range that
 * ended on another thread launched nothing. Innermost is the last to start of those. */
typedef struct ridge_range_sum {
    const char *name;
    uint32_t name_id;
    uint8_t kind; /* ridge_range_kind */
    uint64_t count;
    int64_t host_ns; /* sum of the instances, as nsys counts them */
    /* Of it without what lies in another instance of the name on the same thread, as recursion does:
     * the union on each thread, summed over threads. */
    int64_t host_union_ns;
    uint64_t launching_count; /* instances that launched work: those that nsys projects */
    int64_t launching_ns;     /* of host_ns: theirs */
    int64_t projected_ns;     /* first start .. last end of what each launched, summed */
    int64_t kernel_ns;        /* sum of the kernels' times */
    uint64_t kernel_count, op_count;
    int64_t idle_ns; /* of the projected time: nothing ran on the device (any of its devices) */
    /* Time in which a device was idle while the host was in an instance, in several of them at once
     * only once, so that it is never above the device's: from ridge_timeline_range_idle(), 0 before. */
    int64_t host_idle_ns;
    uint64_t innermost_count; /* kernels for which it is the innermost range */
    int64_t innermost_ns;
} ridge_range_sum;

typedef struct ridge_range_sums {
    size_t count;
    ridge_range_sum *rows;  /* sorted by kernel_ns, host_ns, falling, then name */
    uint64_t outside_count; /* kernels in no range of these kinds */
    int64_t outside_ns;
} ridge_range_sums;

/* kinds: bits 1 << ridge_range_kind. */
ridge_status ridge_trace_sum_ranges(const ridge_trace *trace, unsigned kinds,
                                    const ridge_trace_window *window, ridge_range_sums *out,
                                    ridge_error *err);
void ridge_range_sums_free(ridge_range_sums *sums);

/* A range that launched work, as the GPU saw it. Above it are the ranges of its thread that hold it
 * entirely, from start to end, and launched work too; its parent is the last of them to start. */
typedef struct ridge_projected_range {
    int64_t start_ns, end_ns;   /* first start and last end of what it launched */
    int64_t kernel_ns, idle_ns; /* as those of ridge_range_sum */
    uint32_t range;             /* row of ridge_trace_ranges() */
    uint32_t op_count;
    uint32_t level;       /* parents up to the outermost: 0 of that */
    uint32_t child_count; /* ranges whose parent it is */
} ridge_projected_range;

typedef struct ridge_projected_ranges {
    size_t count;
    ridge_projected_range *rows; /* by range, rising */
} ridge_projected_ranges;

/* kinds as above; window may be NULL. Freed with ridge_projected_ranges_free(). */
ridge_status ridge_trace_project_ranges(const ridge_trace *trace, unsigned kinds,
                                        const ridge_trace_window *window,
                                        ridge_projected_ranges *out, ridge_error *err);
void ridge_projected_ranges_free(ridge_projected_ranges *ranges); /* empties it */

/* The name that ranges share which differ in numbers: numbers that are words of their own become '*',
 * "decode step *" of "decode step 3"; without the colon of the default domain and what PyTorch's
 * emit_nvtx() puts behind names. Writes into buffer and returns it; cut to size - 1. */
char *ridge_range_family(const char *name, char *buffer, size_t size);

/* A kernel's name as `ncu -k` wants it: without return type, namespaces, template arguments and
 * parameters. Writes into buffer and returns it; cut to size - 1. */
char *ridge_kernel_base_name(const char *demangled, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
