/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace of a whole process is mostly its start: libraries load, memory is allocated, nothing runs
 * twice. Which part of it repeats, as an option that shows that part alone: the ranges of its steps,
 * or the time behind the start. */
#include "timeline/next/next_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "timeline/account/account.h"

enum { STEPS_LEAST = 3, PATTERN_BYTES = 96 };

#define LEAD_LEAST 0.5 /* of the idle time, by which a start is ahead of the kernels */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Of the name with '0' for each number. */
static uint64_t hash_of(const char *name)
{
    uint64_t hash = 1469598103934665603U; /* FNV-1a */

    for (size_t i = 0; name[i] != '\0'; i++)
        if (!is_digit(name[i]) || i == 0 || !is_digit(name[i - 1]))
            hash = (hash ^ (is_digit(name[i]) ? '0' : (unsigned char)name[i])) * 1099511628211U;
    return hash;
}

/* Steps of a program, not operations of a framework or a library. */
static bool may_be_step(const ridge_trace_range *range, const char *name, size_t length)
{
    return length < PATTERN_BYTES / 3 && /* first: names may be long, and met a million times */
           (range->kind == RIDGE_RANGE_NVTX || range->kind == RIDGE_RANGE_ANNOTATION) &&
           name[0] != '\0' && strchr(name, '\'') == NULL && strstr(name, "::") == NULL &&
           strncmp(name, "nccl:", 5) != 0 && strchr(name, '=') == NULL;
}

static void add_step(next_steps *of, const ridge_trace_range *range, const char *name)
{
    if (of->count++ == 0)
        *of = (next_steps){name, 1, range->start_ns, range->end_ns, 0};
    of->start_ns = range->start_ns < of->start_ns ? range->start_ns : of->start_ns;
    of->end_ns = range->end_ns > of->end_ns ? range->end_ns : of->end_ns;
    of->sum_ns = sum_add_ns(of->sum_ns, sum_span_ns(range->start_ns, range->end_ns));
}

/* The steps that fill most time, one after the other; false: none. */
static bool look_for_steps(const ridge_trace *trace, next_steps *out)
{
    enum { MOST = 4096 };
    size_t count;
    const ridge_trace_range *const ranges = ridge_trace_ranges(trace, &count);
    next_steps *const families = ridge_calloc(MOST, sizeof(*families));
    sum_groups groups = {0};

    *out = (next_steps){0};
    for (size_t i = 0; families != NULL && i < count; i++) {
        size_t length;
        const char *const name = ridge_trace_name(trace, ranges[i].name, &length);
        uint32_t group;

        if (!may_be_step(&ranges[i], name, length) || groups.count >= MOST)
            continue;
        group = sum_group_of(&groups, hash_of(name));
        if (group < MOST)
            add_step(&families[group], &ranges[i], name);
    }
    for (uint32_t i = 0; families != NULL && i < groups.count && i < MOST; i++) {
        const next_steps *const of = &families[i];

        if (of->count >= STEPS_LEAST && of->sum_ns > out->sum_ns &&
            of->sum_ns / 2 >= sum_span_ns(of->start_ns, of->end_ns) / 4 &&
            of->sum_ns <= sum_span_ns(of->start_ns, of->end_ns))
            *out = *of;
    }
    sum_groups_release(&groups);
    ridge_free(families);
    return out->count > 0;
}

static bool find_steps(next_common *common)
{
    if (common->has_steps == NEXT_NOT_LOOKED)
        common->has_steps = look_for_steps(common->trace, &common->steps) ? NEXT_YES : NEXT_NO;
    return common->has_steps == NEXT_YES;
}

/* "decode step .*": what --range takes. */
static void write_pattern(const char *name, char *pattern, size_t size)
{
    size_t used = 0;

    name += *name == ':';
    for (size_t i = 0; name[i] != '\0' && used + 3 < size; i++) {
        if (is_digit(name[i])) {
            if (i == 0 || !is_digit(name[i - 1]))
                used += (size_t)snprintf(pattern + used, size - used, ".*");
            continue;
        }
        if (strchr(".*+?()[]{}^$|\\", name[i]) != NULL)
            pattern[used++] = '\\';
        pattern[used++] = name[i];
    }
    pattern[used] = '\0';
}

static double idle_inside(const ridge_device_account *device, int64_t start_ns, int64_t end_ns)
{
    double sum_ns = 0;

    for (size_t i = 0; i < device->gap_count; i++) {
        const ridge_idle_gap *const gap = &device->gaps[i];
        const int64_t from_ns = gap->start_ns > start_ns ? gap->start_ns : start_ns;
        const int64_t to_ns = gap->end_ns < end_ns ? gap->end_ns : end_ns;

        if (to_ns > from_ns)
            sum_ns += (double)sum_span_ns(from_ns, to_ns);
    }
    return sum_ns;
}

/* A kernel's time that the account counts. */
static double kernel_ns_of(const ridge_trace *trace, const ridge_device_account *device,
                           const ridge_trace_op *op)
{
    const int64_t from_ns = op->start_ns > device->start_ns ? op->start_ns : device->start_ns;
    const int64_t to_ns = op->end_ns < device->end_ns ? op->end_ns : device->end_ns;

    return account_is_kernel(op) && sum_on_device(trace, op, device->device) && to_ns > from_ns
               ? (double)sum_span_ns(from_ns, to_ns)
               : 0;
}

/* In a loop idle time and kernels grow in step, however long its gaps are. A start has idle time and
 * next to no kernels, be it one gap or many: it ends where the one is farthest ahead of the other. */
bool next_start(const ridge_trace *trace, const ridge_device_account *device, next_start_of *out)
{
    size_t op_count, next = 0;
    const ridge_trace_op *const ops = ridge_trace_ops(trace, &op_count);
    const trace_op_list own = trace_ops_of(trace, device->device);
    double kernels_ns = 0, before_ns = 0, idle_ns = 0, most = 0;

    *out = (next_start_of){device->start_ns, 0};
    for (size_t i = 0; i < own.count; i++)
        kernels_ns += kernel_ns_of(trace, device, &ops[trace_op_at(&own, i)]);
    for (size_t i = 0; i < device->gap_count && kernels_ns > 0; i++) {
        const ridge_idle_gap *const gap = &device->gaps[i];
        double idle_frac, lead;

        for (; next < own.count; next++) {
            const ridge_trace_op *const op = &ops[trace_op_at(&own, next)];

            if (op->start_ns >= gap->end_ns)
                break;
            before_ns += kernel_ns_of(trace, device, op);
        }
        idle_ns += (double)sum_span_ns(gap->start_ns, gap->end_ns);
        idle_frac = idle_ns / (double)device->idle_ns;
        lead = idle_frac - before_ns / kernels_ns;
        if (lead > most)
            *out = (next_start_of){gap->end_ns, idle_frac};
        most = lead > most ? lead : most;
    }
    return most >= LEAD_LEAST;
}

bool next_steady(next_common *common, const ridge_device_account *device, bool is_whole, char *text,
                 size_t size)
{
    size_t op_count;
    const ridge_trace *const trace = common->trace;
    const ridge_trace_op *const ops = ridge_trace_ops(trace, &op_count);
    const next_steps *const steps = &common->steps;
    next_start_of start;
    double from_ms, to_ms;

    if (is_whole && find_steps(common) &&
        idle_inside(device, steps->start_ns, steps->end_ns) < 0.5 * (double)device->idle_ns) {
        char pattern[PATTERN_BYTES];

        write_pattern(steps->name, pattern, sizeof(pattern));
        snprintf(text, size, "most of it is the start: see the steps with --range '%s'", pattern);
        return true;
    }
    if (!next_start(trace, device, &start))
        return false;
    from_ms = ceil((double)sum_span_ns(ops[0].start_ns, start.end_ns) / 1e5) / 10;
    to_ms = ceil((double)sum_span_ns(ops[0].start_ns, device->end_ns) / 1e5) / 10;
    if (to_ms <= from_ms)
        return false;
    snprintf(text, size, "%.0f %% of it is the start: see the rest with --window %.1f..%.1f",
             floor(100 * start.idle_frac), from_ms, to_ms);
    return true;
}
