/* SPDX-License-Identifier: Apache-2.0
 *
 * What to do about the time between kernels: a sentence a verdict, with the call and the range in
 * which most of the time lies. */
#include "timeline/next_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

/* Where most of a set of causes lies: 0 and NULL where nothing tells. */
typedef struct place {
    const char *call, *range;
} place;

typedef struct tally {
    sum_groups groups;
    int64_t *sums_ns;
    size_t capacity;
} tally;

static void tally_add(tally *of, uint32_t key, int64_t ns)
{
    const uint32_t group = sum_group_of(&of->groups, key);

    if (group == UINT32_MAX)
        return;
    if (group >= of->capacity) {
        const size_t capacity = of->capacity == 0 ? 64 : of->capacity * 2;
        int64_t *const sums_ns = ridge_realloc_array(of->sums_ns, capacity, sizeof(*sums_ns));

        if (sums_ns == NULL)
            return;
        memset(sums_ns + of->capacity, 0, (capacity - of->capacity) * sizeof(*sums_ns));
        of->sums_ns = sums_ns;
        of->capacity = capacity;
    }
    of->sums_ns[group] = sum_add_ns(of->sums_ns[group], ns);
}

/* The largest; the first met of equal ones. Empties the tally. */
static const char *tally_end(tally *of, const ridge_trace *trace)
{
    const char *name = NULL;
    int64_t most_ns = 0;

    for (uint32_t i = 0; i < of->groups.count && i < of->capacity; i++)
        if (of->sums_ns[i] > most_ns) {
            most_ns = of->sums_ns[i];
            name = ridge_trace_name(trace, (uint32_t)of->groups.keys[i], NULL);
        }
    sum_groups_release(&of->groups);
    ridge_free(of->sums_ns);
    return name;
}

static place find_place(const ridge_trace *trace, const ridge_device_account *device,
                        unsigned causes)
{
    size_t count;
    const ridge_trace_api *const apis = ridge_trace_apis(trace, &count);
    const ridge_trace_range *const ranges = ridge_trace_ranges(trace, &count);
    tally calls = {0}, names = {0};
    place out;

    for (size_t i = 0; i < device->piece_count; i++) {
        const ridge_idle_piece *const piece = &device->pieces[i];
        const int64_t ns = sum_span_ns(piece->start_ns, piece->end_ns);

        if ((causes >> piece->cause & 1) == 0)
            continue;
        if (piece->api != RIDGE_TRACE_NONE)
            tally_add(&calls, apis[piece->api].name, ns);
        if (piece->gap < device->gap_count && device->gaps[piece->gap].range != RIDGE_TRACE_NONE)
            tally_add(&names, ranges[device->gaps[piece->gap].range].name, ns);
    }
    out.call = tally_end(&calls, trace);
    out.range = tally_end(&names, trace);
    return out;
}

static bool has_call(const ridge_trace *trace, const char *part)
{
    size_t count;
    const ridge_trace_api *const apis = ridge_trace_apis(trace, &count);

    for (size_t i = 0; i < count; i++)
        if (strstr(ridge_trace_name(trace, apis[i].name, NULL), part) != NULL)
            return true;
    return false;
}

static bool has_pageable_copy(const ridge_trace *trace, uint32_t device)
{
    size_t count;
    const ridge_trace_op *const ops = ridge_trace_ops(trace, &count);

    for (size_t i = 0; i < count; i++)
        if (ops[i].kind == RIDGE_OP_MEMCPY && sum_on_device(trace, &ops[i], device) &&
            (ops[i].source == RIDGE_PLACE_PAGEABLE || ops[i].destination == RIDGE_PLACE_PAGEABLE))
            return true;
    return false;
}

/* Is it PyTorch? Then the advice may speak its language. */
static bool is_torch(const ridge_trace *trace)
{
    size_t count;
    const ridge_trace_range *const ranges = ridge_trace_ranges(trace, &count);

    if (ridge_trace_get_info(trace)->format == RIDGE_TRACE_KINETO)
        return true;
    for (size_t i = 0; i < count; i++)
        if (strstr(ridge_trace_name(trace, ranges[i].name, NULL), "aten::") != NULL)
            return true;
    return false;
}

#define CAUSE(name) (1U << RIDGE_IDLE_##name)

/* X(verdict, causes, advice for PyTorch, advice for others) */
static const struct advice_row {
    ridge_timeline_verdict verdict;
    unsigned causes;
    const char *torch, *other;
} advice_rows[] = {
    {RIDGE_TIMELINE_LAUNCH_BOUND,
     CAUSE(DISPATCH) | CAUSE(LAUNCH) | CAUSE(SYNC_REFILL) | CAUSE(OTHER_API),
     "torch.compile(mode=\"reduce-overhead\") or torch.cuda.CUDAGraph replays the step without the "
     "host; or fewer, larger kernels: fuse, batch more",
     "capture the step into a CUDA graph and replay it; or fewer, larger kernels: fuse, batch "
     "more"},
    {RIDGE_TIMELINE_SYNC_BOUND, CAUSE(SYNC) | CAUSE(SYNC_REFILL),
     "remove what waits for the GPU: .item(), .cpu(), nonzero(), print of a tensor, a shape that "
     "depends on data; copy to pinned memory with non_blocking=True and wait for an event one step "
     "later",
     "remove what waits for the GPU: cudaMemcpy and copies of pageable memory become "
     "cudaMemcpyAsync on pinned memory, waiting for a device or stream becomes an event one step "
     "later"},
    {RIDGE_TIMELINE_ALLOC_BOUND, CAUSE(ALLOC),
     "allocate once: keep buffers, leave empty_cache() out of the loop, set "
     "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
     "allocate once in front of the loop, or cudaMallocAsync with a pool whose release threshold "
     "is raised: cudaMalloc and cudaFree wait for the GPU"},
    {RIDGE_TIMELINE_MODULE_BOUND, CAUSE(MODULE) | CAUSE(SLOW_LAUNCH),
     "code is loaded when a kernel runs first: warm up in front of what is measured, or "
     "CUDA_MODULE_LOADING=EAGER; compile in front too (torch.compile, Triton caches)",
     "code is loaded when a kernel runs first: warm up in front of what is measured, or "
     "CUDA_MODULE_LOADING=EAGER; ship cubins for this chip, so that nothing is compiled"},
    {RIDGE_TIMELINE_COPY_BOUND, 0,
     "copy less and earlier: pin_memory=True and .to(device, non_blocking=True) on a stream of its "
     "own, the next batch while this one runs; keep on the GPU what is used again",
     "copy less and earlier: pinned memory and cudaMemcpyAsync on a stream of its own, the next "
     "part while this one runs; keep on the GPU what is used again"},
    {RIDGE_TIMELINE_NO_WORK, CAUSE(NO_WORK) | CAUSE(HOST_BLOCKED) | CAUSE(GRAPH_BUILD),
     "the host is busy with something else: load data in workers (num_workers, prefetch_factor), "
     "move work of Python out of the loop; or record the steps alone",
     "the host is busy with something else: read, decode and prepare in other threads, ahead of "
     "the GPU; or record the part that matters alone"},
    {RIDGE_TIMELINE_MIXED, ~0U, "no cause stands out: begin with the largest",
     "no cause stands out: begin with the largest"},
    {RIDGE_TIMELINE_INCOMPLETE, 0,
     "record again, so that the trace holds what is missing: see the warnings",
     "record again, so that the trace holds what is missing: see the warnings"},
    {RIDGE_TIMELINE_NOTHING, 0, "record again with the work of the GPU in it: see the warnings",
     "record again with the work of the GPU in it: see the warnings"},
};

/* The cause with most of the idle time. */
static unsigned largest_cause(const ridge_device_account *device)
{
    unsigned largest = 0;

    for (unsigned i = 1; i < RIDGE_IDLE_COUNT; i++)
        if (device->causes[i].total_ns > device->causes[largest].total_ns)
            largest = i;
    return largest;
}

/* Letters of a call's name that are printed. */
static int shown(const char *call)
{
    const size_t length = sum_plain_length(call, strlen(call));

    return length < 60 ? (int)length : 60;
}

void next_advice(const ridge_trace *trace, const ridge_device_account *device, char *text,
                 size_t size)
{
    const struct advice_row *row = NULL;
    place where = {NULL, NULL};
    unsigned causes;
    size_t length;

    text[0] = '\0';
    for (size_t i = 0; i < sizeof(advice_rows) / sizeof(advice_rows[0]); i++)
        if (advice_rows[i].verdict == device->verdict)
            row = &advice_rows[i];
    if (row == NULL)
        return;
    causes = row->causes == ~0U ? 1U << largest_cause(device) : row->causes;
    if (causes != 0)
        where = find_place(trace, device, causes);
    snprintf(text, size, "%s", is_torch(trace) ? row->torch : row->other);
    if (row->verdict == RIDGE_TIMELINE_LAUNCH_BOUND && has_call(trace, "GraphLaunch"))
        snprintf(text, size,
                 "graphs run already: bring what lies between them into them, or fewer, larger "
                 "kernels: fuse, batch more");
    if (row->verdict == RIDGE_TIMELINE_COPY_BOUND && has_pageable_copy(trace, device->device)) {
        length = strlen(text);
        snprintf(text + length, size - length, "; copies of pageable memory are there");
    }
    length = strlen(text);
    if (row->causes == ~0U)
        snprintf(text + length, size - length, ", %s",
                 ridge_idle_name((ridge_idle)largest_cause(device)));
    length = strlen(text);
    if (where.call != NULL && where.range != NULL)
        snprintf(text + length, size - length, ". Most: %.*s in %.60s", shown(where.call),
                 where.call, where.range);
    else if (where.call != NULL)
        snprintf(text + length, size - length, ". Most: %.*s", shown(where.call), where.call);
    else if (where.range != NULL)
        snprintf(text + length, size - length, ". Most: %.60s", where.range);
}
