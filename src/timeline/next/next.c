/* SPDX-License-Identifier: Apache-2.0
 *
 * Which kernel to look at next: those that take 2 % of the kernels' time or more, by how far they
 * are from the least time, where that is known; then by time. */
#include "timeline/next/next_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "timeline/account/account.h"

static const double share_least = 0.02;
static const double ratio_least = 1.1; /* less is nothing to gain */

/* -- ranks ------------------------------------------------------------------------------------- */

/* What the calls of a kernel that have a bound add up to. */
typedef struct next_bounded {
    double measured_ns, least_ns;
    size_t count;
    uint32_t source;
    bool is_mixed; /* several sources */
} next_bounded;

static bool is_same_source(const ridge_trace_range *ranges, uint32_t a, uint32_t b)
{
    return a == b || (a != BOUND_GIVEN && b != BOUND_GIVEN && ranges[a].name == ranges[b].name);
}

/* By name of the kernel. */
static void add_up(const ridge_trace *trace, const kernel_bounds *bounds, next_bounded *by_name)
{
    size_t op_count, range_count;
    const ridge_trace_op *const ops = ridge_trace_ops(trace, &op_count);
    const ridge_trace_range *const ranges = ridge_trace_ranges(trace, &range_count);

    for (size_t i = 0; i < bounds->own.count && bounds->least_ns != NULL; i++) {
        const ridge_trace_op *const op = &ops[trace_op_at(&bounds->own, i)];
        next_bounded *const of = &by_name[op->name];

        if (isnan(bounds->least_ns[i]))
            continue;
        if (of->count == 0)
            of->source = bounds->sources[i];
        else if (!is_same_source(ranges, of->source, bounds->sources[i]))
            of->is_mixed = true;
        of->count++;
        of->measured_ns += (double)sum_span_ns(op->start_ns, op->end_ns);
        of->least_ns += bounds->least_ns[i];
    }
}

static void write_source(const ridge_trace *trace, const next_bounded *of, char *text, size_t size)
{
    size_t count;
    const char *const more = of->is_mixed ? " ..." : "";

    if (of->count == 0)
        text[0] = '\0';
    else if (of->source == BOUND_GIVEN)
        snprintf(text, size, "given%s", more);
    else
        snprintf(text, size, "shapes of %.44s%s",
                 ridge_trace_name(trace, ridge_trace_ranges(trace, &count)[of->source].name, NULL),
                 more);
}

static double gain_of(const ridge_kernel_rank *rank)
{
    return rank->bound_ns * (rank->ratio - 1);
}

/* 0: large and far from its bound; 1: large, with no bound that says something; 2: the rest. */
static int class_of(const ridge_kernel_rank *rank)
{
    if (rank->share_frac < share_least)
        return 2;
    return isnan(rank->ratio) || rank->is_tiny || rank->ratio < ratio_least ? 1 : 0;
}

static int order_ranks(const void *left, const void *right)
{
    const ridge_kernel_rank *const a = left, *const b = right;
    const int class_a = class_of(a), class_b = class_of(b);

    if (class_a != class_b)
        return class_a - class_b;
    if (class_a == 0 && a->ratio != b->ratio)
        return a->ratio > b->ratio ? -1 : 1;
    if (class_a == 0 && gain_of(a) != gain_of(b))
        return gain_of(a) > gain_of(b) ? -1 : 1;
    if (a->sum.total_ns != b->sum.total_ns)
        return a->sum.total_ns > b->sum.total_ns ? -1 : 1;
    if (a->sum.count != b->sum.count)
        return a->sum.count > b->sum.count ? -1 : 1;
    return strcmp(a->sum.name, b->sum.name);
}

static next_bounded *bounded_by_name(next_common *common)
{
    if (common->bounded_by_name == NULL)
        common->bounded_by_name = ridge_calloc(ridge_trace_name_count(common->trace) + 1,
                                               sizeof(*common->bounded_by_name));
    return common->bounded_by_name;
}

static ridge_status make_ranks(next_common *common, const ridge_trace_sums *sums,
                               const kernel_bounds *bounds, ridge_timeline_next *out,
                               ridge_error *err)
{
    const ridge_trace *const trace = common->trace;
    next_bounded *const by_name = bounded_by_name(common);

    out->ranks = ridge_calloc(sums->count + 1, sizeof(*out->ranks));
    if (by_name == NULL || out->ranks == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    add_up(trace, bounds, by_name);
    out->floor_ns = bounds->least_ns != NULL ? bounds->floor_ns : NAN;
    out->rank_count = sums->count;
    for (size_t i = 0; i < sums->count; i++) {
        ridge_kernel_rank *const rank = &out->ranks[i];
        next_bounded *const of = &by_name[sums->rows[i].name_id];

        rank->sum = sums->rows[i];
        rank->share_frac = sums->rows[i].share_frac;
        rank->bound_count = of->count;
        rank->bound_ns = of->count > 0 ? of->least_ns : NAN;
        rank->ratio = of->count > 0 ? of->measured_ns / of->least_ns : NAN;
        rank->is_tiny = of->count > 0 && of->least_ns <= bounds->floor_ns * (double)of->count;
        write_source(trace, of, rank->source, sizeof(rank->source));
        *of = (next_bounded){0};
    }
    if (out->rank_count > 1)
        qsort(out->ranks, out->rank_count, sizeof(*out->ranks), order_ranks);
    return RIDGE_OK;
}

/* -- roofs ------------------------------------------------------------------------------------- */

/* Of the chip by name, or what the trace recorded of the device. */
static void find_roofs(const ridge_trace_device *device, ridge_roofs *out)
{
    const ridge_chip *const chip = device->name[0] != '\0' ? ridge_chip_find(device->name) : NULL;

    ridge_roofs_init(out);
    if (chip != NULL)
        ridge_roofs_of_chip(chip, out);
    else if (device->dram_bytes_per_s > 0)
        out->dram_bytes_per_s = device->dram_bytes_per_s;
}

/* -- the plan ---------------------------------------------------------------------------------- */

/* ncu looks into NVIDIA's GPUs alone: is it one? */
static bool is_other_gpu(next_common *common, uint32_t device, bool *is_amd)
{
    size_t count;
    const char *const name = ridge_trace_devices(common->trace, &count)[device].name;

    *is_amd = strstr(name, "AMD") != NULL || strstr(name, "Radeon") != NULL ||
              strstr(name, "Instinct") != NULL || next_gpu_of_calls(common) == NEXT_GPU_AMD;
    return *is_amd || next_gpu_of_calls(common) == NEXT_GPU_OTHER;
}

static ridge_status make_line(next_common *common, const ridge_kernel_rank *rank, bool with_command,
                              char **line, char *note, size_t note_size, ridge_error *err)
{
    if (rank != NULL)
        return ncu_line_make(common, &rank->sum, with_command, line, note, note_size, err);
    *line = ridge_calloc(1, 1);
    return *line != NULL ? RIDGE_OK : ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
}

static ridge_status write_lines(next_common *common, const ridge_device_account *device,
                                bool with_command, ridge_timeline_next *out, ridge_error *err)
{
    bool is_amd;
    const bool is_other = is_other_gpu(common, device->device, &is_amd);
    char said[sizeof(out->note)] = ""; /* of the second line what is said of the first */
    ridge_status status;

    if (is_other)
        snprintf(out->note, sizeof(out->note), "no line for ncu: this is no GPU of NVIDIA%s",
                 is_amd ? "; AMD's rocprof-compute looks into kernels" : "");
    if (device->graph_row_count > 0)
        snprintf(out->note, sizeof(out->note),
                 "%zu graphs are whole rows: record with --cuda-graph-trace=node to see their "
                 "kernels",
                 device->graph_row_count);
    status = make_line(common, is_other ? NULL : out->worst, with_command, &out->ncu, out->note,
                       sizeof(out->note), err);
    if (status == RIDGE_OK)
        status = make_line(common, is_other ? NULL : out->richest, with_command, &out->richest_ncu,
                           said, sizeof(said), err);
    return status;
}

ridge_status next_plan(next_common *common, const ridge_trace_window *window,
                       const ridge_device_account *device, const ridge_roofs *roofs,
                       const ridge_given_bounds *given, bool with_command, ridge_timeline_next *out,
                       ridge_error *err)
{
    size_t count;
    const ridge_trace *const trace = common->trace;
    ridge_trace_sums sums = {0};
    kernel_bounds bounds = {0};
    ridge_roofs own;
    ridge_status status;

    *out = (ridge_timeline_next){0};
    if (roofs == NULL) {
        find_roofs(&ridge_trace_devices(trace, &count)[device->device], &own);
        roofs = &own;
    }
    status =
        ridge_trace_sum_kernels(trace, RIDGE_KERNEL_BY_NAME, device->device, window, &sums, err);
    if (status == RIDGE_OK)
        status = kernel_bounds_init(&bounds, common, device->device, window, roofs, given, err);
    if (status == RIDGE_OK)
        status = make_ranks(common, &sums, &bounds, out, err);
    if (status == RIDGE_OK) {
        out->is_inside = device->verdict == RIDGE_TIMELINE_GPU_BOUND ||
                         device->verdict == RIDGE_TIMELINE_GRAPH_REPLAY;
        next_advice(common, device, window == NULL || !window->is_set, out);
        next_gains(common, device, out);
        status = write_lines(common, device, with_command, out, err);
    }
    if (status != RIDGE_OK)
        ridge_timeline_next_free(out);
    kernel_bounds_release(&bounds);
    ridge_trace_sums_free(&sums);
    return status;
}

ridge_status ridge_timeline_plan(const ridge_timeline *timeline, const ridge_device_account *device,
                                 const ridge_roofs *roofs, const ridge_given_bounds *given,
                                 bool with_command, ridge_timeline_next *out, ridge_error *err)
{
    ridge_trace_window window;
    const ridge_trace *const trace = account_trace(timeline, &window);
    next_common own, *const kept = account_common(timeline);
    next_common *const common = kept != NULL ? kept : &own;
    ridge_status status;

    *out = (ridge_timeline_next){0};
    if (kept == NULL && !next_common_init(&own, trace, false))
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    pthread_mutex_lock(&common->lock);
    status = next_plan(common, &window, device, roofs, given, with_command, out, err);
    pthread_mutex_unlock(&common->lock);
    if (kept == NULL)
        next_common_release(&own);
    return status;
}

void ridge_timeline_next_free(ridge_timeline_next *next)
{
    ridge_free(next->ranks);
    ridge_free(next->ncu);
    ridge_free(next->richest_ncu);
    *next = (ridge_timeline_next){0};
}
