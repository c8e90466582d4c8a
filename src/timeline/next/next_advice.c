/* SPDX-License-Identifier: Apache-2.0
 *
 * What to do about the time between kernels: a sentence a verdict, with the call and the range in
 * which most of the time lies. */
#include "timeline/next/next_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

enum {
    NAME_MOST = 1000, /* longer names are not looked into */
    NAME_SHOWN = 80
};

#define CAUSE(name) (1U << RIDGE_IDLE_##name)

/* Where most of a set of causes lies: 0 and NULL where nothing tells. */
typedef struct place {
    const char *call, *range;
    size_t call_count;       /* how many of them */
    char family[NAME_SHOWN]; /* room for a range that stands for several */
} place;

typedef struct tally_sum {
    int64_t ns;
    uint32_t name; /* the first */
    bool is_several;
} tally_sum;

typedef struct tally {
    sum_groups groups;
    tally_sum *sums;
    size_t capacity;
} tally;

static void tally_add(tally *of, uint64_t key, uint32_t name, int64_t ns)
{
    const uint32_t group = sum_group_of(&of->groups, key);

    if (group == UINT32_MAX)
        return;
    if (group >= of->capacity) {
        const size_t capacity = of->capacity == 0 ? 64 : of->capacity * 2;
        tally_sum *const sums = ridge_realloc_array(of->sums, capacity, sizeof(*sums));

        if (sums == NULL)
            return;
        memset(sums + of->capacity, 0, (capacity - of->capacity) * sizeof(*sums));
        of->sums = sums;
        of->capacity = capacity;
    }
    if (of->sums[group].name == 0)
        of->sums[group].name = name;
    of->sums[group].is_several |= of->sums[group].name != name;
    of->sums[group].ns = sum_add_ns(of->sums[group].ns, ns);
}

/* The largest; the first met of equal ones; name is 0 without any. Empties the tally. */
static tally_sum tally_end(tally *of)
{
    tally_sum most = {0};

    for (uint32_t i = 0; i < of->groups.count && i < of->capacity; i++)
        if (of->sums[i].ns > most.ns)
            most = of->sums[i];
    sum_groups_release(&of->groups);
    ridge_free(of->sums);
    return most;
}

/* Ranges that differ in a number are one place. Families by name are kept: 0 not looked at yet. */
static uint64_t family_of(const ridge_trace *trace, uint32_t name, uint64_t *known)
{
    char family[NAME_MOST];

    if (known[name] == 0) {
        ridge_range_family(ridge_trace_name(trace, name, NULL), family, sizeof(family));
        known[name] = ridge_hash64(family, strlen(family)) | 1;
    }
    return known[name];
}

/* The innermost range of a thread that holds a time, or lies over half of it; NULL. is_loading (may
 * be NULL) becomes true where one of them is PyTorch's loader of data. */
static const char *range_over(next_common *common, uint32_t thread, int64_t start_ns,
                              int64_t end_ns, bool *is_loading)
{
    size_t count;
    const ridge_trace *const trace = common->trace;
    const ridge_trace_thread *const of = &ridge_trace_threads(trace, &count)[thread];
    const ridge_trace_range *const ranges = ridge_trace_ranges(trace, &count);
    const char *found = NULL;
    int64_t found_ns = INT64_MAX;

    for (size_t i = next_skip_ranges(common, of->first_range, start_ns);
         i < of->first_range + of->range_count; i = next_skip_ranges(common, i + 1, start_ns)) {
        const int64_t from_ns = ranges[i].start_ns > start_ns ? ranges[i].start_ns : start_ns;
        const int64_t to_ns = ranges[i].end_ns < end_ns ? ranges[i].end_ns : end_ns;
        const int64_t ns = sum_span_ns(ranges[i].start_ns, ranges[i].end_ns);
        size_t length;
        const char *const name = ridge_trace_name(trace, ranges[i].name, &length);

        if (ranges[i].start_ns >= end_ns)
            break;
        if (to_ns <= from_ns || sum_span_ns(from_ns, to_ns) < sum_span_ns(start_ns, end_ns) / 2)
            continue;
        if (is_loading != NULL && length < NAME_MOST && strstr(name, "DataLoader") != NULL)
            *is_loading = true;
        if (ns <= found_ns && sum_says_something(name)) {
            found = name;
            found_ns = ns;
        }
    }
    return found;
}

static uint64_t *families_of(next_common *common)
{
    if (common->families == NULL)
        common->families =
            ridge_calloc(ridge_trace_name_count(common->trace) + 1, sizeof(*common->families));
    return common->families;
}

/* The call with most of the causes, and the range in which its longest wait lies. A wait for the GPU
 * is told by its own range: that of the next launch is another. Without calls the range in which
 * most launches came late. */
static place find_place(next_common *common, const ridge_device_account *device, unsigned causes)
{
    size_t count;
    const ridge_trace *const trace = common->trace;
    const ridge_trace_api *const apis = ridge_trace_apis(trace, &count);
    const ridge_trace_range *const ranges = ridge_trace_ranges(trace, &count);
    const ridge_idle_piece *longest = NULL;
    uint64_t *const families = families_of(common);
    tally calls = {0}, names = {0};
    uint32_t last = RIDGE_TRACE_NONE;
    tally_sum most;
    place out = {0};

    for (size_t i = 0, gap = 0; i < device->piece_count; i++) {
        const ridge_idle_piece *const piece = &device->pieces[i];
        const int64_t ns = sum_span_ns(piece->start_ns, piece->end_ns);

        while (i >= device->gaps[gap].first_piece + device->gaps[gap].piece_count)
            gap++;
        if ((causes >> piece->cause & 1) == 0)
            continue;
        if (piece->api != RIDGE_TRACE_NONE)
            tally_add(&calls, apis[piece->api].name, apis[piece->api].name, ns);
        if (families != NULL && device->gaps[gap].host_range != RIDGE_TRACE_NONE) {
            const uint32_t name = ranges[device->gaps[gap].host_range].name;

            tally_add(&names, family_of(trace, name, families), name, ns);
        }
    }
    most = tally_end(&calls);
    out.call = most.name != 0 ? ridge_trace_name(trace, most.name, NULL) : NULL;
    most = tally_end(&names);
    out.range = most.name != 0 ? ridge_trace_name(trace, most.name, NULL) : NULL;
    if (most.is_several)
        ridge_range_family(out.range, out.family, sizeof(out.family));
    if ((causes & CAUSE(DISPATCH)) !=
        0) /* that launches are launched by a launch call says nothing */
        out.call = NULL;
    for (size_t i = 0; out.call != NULL && i < device->piece_count; i++) {
        const ridge_idle_piece *const piece = &device->pieces[i];

        if ((causes >> piece->cause & 1) == 0 || piece->api == RIDGE_TRACE_NONE ||
            ridge_trace_name(trace, apis[piece->api].name, NULL) != out.call)
            continue;
        out.call_count += piece->api != last;
        last = piece->api;
        if (longest == NULL || sum_span_ns(piece->start_ns, piece->end_ns) >
                                   sum_span_ns(longest->start_ns, longest->end_ns))
            longest = piece;
    }
    if (longest != NULL)
        out.family[0] = '\0';
    if (longest != NULL)
        out.range = range_over(common, apis[longest->api].thread, apis[longest->api].start_ns,
                               apis[longest->api].end_ns, NULL);
    return out;
}

/* What the host did in the longest gaps, before it launched again. */
static const char *find_stall(next_common *common, const ridge_device_account *device,
                              bool *is_loading)
{
    enum { LOOKED_AT = 8 };
    size_t count;
    const ridge_trace_op *const ops = ridge_trace_ops(common->trace, &count);
    const ridge_trace_api *const apis = ridge_trace_apis(common->trace, &count);
    const char *found = NULL;

    *is_loading = false;
    for (size_t i = 0; i < device->gap_count && i < LOOKED_AT; i++) {
        const ridge_idle_gap *const gap = &device->gaps[device->gaps_by_size[i]];
        const char *name;

        if (gap->after == RIDGE_TRACE_NONE || ops[gap->after].api == RIDGE_TRACE_NONE)
            continue;
        name = range_over(common, apis[ops[gap->after].api].thread, gap->start_ns, gap->end_ns,
                          is_loading);
        found = found != NULL ? found : name;
    }
    return found;
}

/* What most of the time in copies is. */
typedef enum copy_sort { COPIES_PINNED, COPIES_PAGEABLE, COPIES_ON_DEVICE, COPY_SORTS } copy_sort;

static copy_sort sort_of_copies(const ridge_trace *trace, uint32_t device)
{
    size_t count;
    const ridge_trace_op *const ops = ridge_trace_ops(trace, &count);
    const trace_op_list own = trace_ops_of(trace, device);
    int64_t sums_ns[COPY_SORTS] = {0};
    copy_sort most = COPIES_PAGEABLE;

    for (size_t i = 0; i < own.count; i++) {
        const ridge_trace_op *const op = &ops[trace_op_at(&own, i)];
        const bool is_pageable =
            op->source == RIDGE_PLACE_PAGEABLE || op->destination == RIDGE_PLACE_PAGEABLE;
        const bool is_pinned =
            op->source == RIDGE_PLACE_PINNED || op->destination == RIDGE_PLACE_PINNED;
        const copy_sort sort = op->copy == RIDGE_COPY_DTOD ? COPIES_ON_DEVICE
                               : is_pinned && !is_pageable ? COPIES_PINNED
                                                           : COPIES_PAGEABLE;

        if (op->kind == RIDGE_OP_MEMCPY && sum_on_device(trace, op, device))
            sums_ns[sort] = sum_add_ns(sums_ns[sort], sum_span_ns(op->start_ns, op->end_ns));
    }
    for (int sort = 0; sort < COPY_SORTS; sort++)
        if (sums_ns[sort] > sums_ns[most])
            most = (copy_sort)sort;
    return most;
}

/* What is said first is short enough to stand in the third line: up to the first ';'. */
static const struct advice_row {
    ridge_timeline_verdict verdict;
    unsigned causes;
    const char *torch, *other;
} advice_rows[] = {
    {RIDGE_TIMELINE_LAUNCH_BOUND,
     CAUSE(DISPATCH) | CAUSE(LAUNCH) | CAUSE(SYNC_REFILL) | CAUSE(OTHER_API),
     "torch.compile(mode=\"reduce-overhead\") or torch.cuda.CUDAGraph; they replay the step "
     "without "
     "the host; or fewer, larger kernels: fuse, batch more",
     "capture the step into a CUDA graph and replay it; or fewer, larger kernels: fuse, batch "
     "more"},
    {RIDGE_TIMELINE_SYNC_BOUND, CAUSE(SYNC) | CAUSE(SYNC_REFILL),
     "remove waits: .item(), .cpu(), nonzero(), print of a tensor; a shape that depends on data "
     "waits too; copy to pinned memory with non_blocking=True and wait for an event one step later",
     "remove waits: synchronize calls, cudaMemcpy, copies of pageable memory; use cudaMemcpyAsync "
     "on pinned memory, and an event one step later"},
    {RIDGE_TIMELINE_ALLOC_BOUND, CAUSE(ALLOC),
     "allocate once: keep buffers, no empty_cache() in the loop; or set "
     "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
     "allocate once in front of the loop, or cudaMallocAsync from a pool; raise the pool's release "
     "threshold: cudaMalloc and cudaFree wait for the GPU"},
    {RIDGE_TIMELINE_MODULE_BOUND, CAUSE(MODULE) | CAUSE(SLOW_LAUNCH),
     "code is loaded when a kernel runs first: warm up before measuring; compile in front too "
     "(torch.compile, Triton caches)",
     "code is loaded when a kernel runs first: warm up before measuring; or "
     "CUDA_MODULE_LOADING=EAGER; ship cubins for this chip, so that nothing is compiled"},
    {RIDGE_TIMELINE_COPY_BOUND, 0,
     "copy less and earlier: pin_memory=True, .to(device, non_blocking=True); on a stream of its "
     "own, the next batch while this one runs; keep on the GPU what is used again",
     "copy less and earlier: pinned memory, cudaMemcpyAsync on its own stream; the next part while "
     "this one runs; keep on the GPU what is used again"},
    {RIDGE_TIMELINE_NO_WORK, 0,
     "the host is busy with something else: move it out of the loop; into threads or processes "
     "that work ahead of the GPU; or record the steps alone",
     "the host is busy with something else: move it out of the loop; read, decode and prepare in "
     "threads that work ahead of the GPU; or record the part that matters alone"},
    {RIDGE_TIMELINE_INCOMPLETE, 0,
     "record again, so that the trace holds what is missing: see the warnings",
     "record again, so that the trace holds what is missing: see the warnings"},
    {RIDGE_TIMELINE_NOTHING, 0, "record again with the work of the GPU in it: see the warnings",
     "record again with the work of the GPU in it: see the warnings"},
};

/* What helps against each cause, where none of them decides alone. */
static const ridge_timeline_verdict verdict_of_cause[RIDGE_IDLE_COUNT] = {
    [RIDGE_IDLE_LAUNCH] = RIDGE_TIMELINE_LAUNCH_BOUND,
    [RIDGE_IDLE_DISPATCH] = RIDGE_TIMELINE_LAUNCH_BOUND,
    [RIDGE_IDLE_OTHER_API] = RIDGE_TIMELINE_LAUNCH_BOUND,
    [RIDGE_IDLE_SYNC] = RIDGE_TIMELINE_SYNC_BOUND,
    [RIDGE_IDLE_SYNC_REFILL] = RIDGE_TIMELINE_SYNC_BOUND,
    [RIDGE_IDLE_ALLOC] = RIDGE_TIMELINE_ALLOC_BOUND,
    [RIDGE_IDLE_MODULE] = RIDGE_TIMELINE_MODULE_BOUND,
    [RIDGE_IDLE_SLOW_LAUNCH] = RIDGE_TIMELINE_MODULE_BOUND,
    [RIDGE_IDLE_NO_WORK] = RIDGE_TIMELINE_NO_WORK,
    [RIDGE_IDLE_HOST_BLOCKED] = RIDGE_TIMELINE_NO_WORK,
};

static const char *advice_of_cause[RIDGE_IDLE_COUNT] = {
    [RIDGE_IDLE_PROFILER] = "the profiler itself takes most: record less, or fewer kinds of events",
    [RIDGE_IDLE_UNKNOWN] = "record the calls of the host too",
    [RIDGE_IDLE_GRAPH] = "nodes of graphs wait for each other: fuse kernels, cut dependencies",
    [RIDGE_IDLE_HARDWARE] = "many short kernels back to back: fuse them, or launch them in a graph",
    [RIDGE_IDLE_QUEUED] = "work waits for events, streams or other devices: cut dependencies",
    [RIDGE_IDLE_GRAPH_BUILD] = "build graphs once, in front of the loop; update them seldom",
};

/* Code of the host behind waits so short that without them it would come no earlier. */
static bool is_host_code(const ridge_device_account *device, unsigned cause)
{
    return cause == RIDGE_IDLE_SYNC_REFILL && next_sync_gain(device) < NEXT_GAIN_SHOWN;
}

/* The cause with most of the idle time. */
static unsigned largest_cause(const ridge_device_account *device)
{
    unsigned largest = 0;

    for (unsigned i = 1; i < RIDGE_IDLE_COUNT; i++)
        if (device->causes[i].total_ns > device->causes[largest].total_ns)
            largest = i;
    return largest;
}

static const struct advice_row *row_of(ridge_timeline_verdict verdict)
{
    for (size_t i = 0; i < sizeof(advice_rows) / sizeof(advice_rows[0]); i++)
        if (advice_rows[i].verdict == verdict)
            return &advice_rows[i];
    return NULL;
}

/* Letters of a call's name that are printed. */
static int shown(const char *call)
{
    const size_t length = sum_plain_length(call, strlen(call));

    return length < 60 ? (int)length : 60;
}

/* A range without the domain's colon and what PyTorch's emit_nvtx() numbers. */
static int shown_range(const char **range)
{
    size_t length;

    *range += **range == ':';
    length = strcspn(*range, ",");
    return length < 60 ? (int)length : 60;
}

static void add(char *text, size_t size, const char *format, ...) RIDGE_PRINTF(3, 4);
static void add(char *text, size_t size, const char *format, ...)
{
    const size_t length = strlen(text);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + length, size - length, format, arguments);
    va_end(arguments);
}

/* What depends on more than the verdict. */
static const char *special(next_common *common, const ridge_device_account *device,
                           ridge_timeline_verdict verdict, bool is_loading)
{
    if (verdict == RIDGE_TIMELINE_LAUNCH_BOUND && next_launches_graphs(common))
        return "graphs run already: bring what lies between them into them; or fewer, larger "
               "kernels: fuse, batch more";
    if (verdict == RIDGE_TIMELINE_NO_WORK && is_loading)
        return "load data in workers: DataLoader(num_workers=..., pin_memory=True); raise "
               "prefetch_factor, decode and augment less on the host or on the GPU instead";
    if (verdict == RIDGE_TIMELINE_NO_WORK && device->kernel_count + device->graph_row_count == 0)
        return "no kernel runs in this part: whether it is a start or a loop only a wider one "
               "tells";
    if (verdict != RIDGE_TIMELINE_COPY_BOUND)
        return NULL;
    switch (sort_of_copies(common->trace, device->device)) {
    case COPIES_PINNED:
        return "copy less: keep on the GPU what is used again; the memory is pinned already, so "
               "that copies can run under kernels: the next part on a stream of its own, ahead";
    case COPIES_ON_DEVICE:
        return "copies within the GPU: views instead of clone(), contiguous() and the like; write "
               "results where they are needed, fuse the copy into the kernel";
    default:
        return NULL;
    }
}

/* The advice, and where most of it is. What a wait is is told by its call. */
static void add_words_and_place(next_common *common, const ridge_device_account *device,
                                const struct advice_row *row, const char *words, char *text,
                                size_t size)
{
    place where = find_place(common, device, row->causes);
    const size_t used = strlen(text);

    if (row->verdict == RIDGE_TIMELINE_SYNC_BOUND && where.call != NULL &&
        next_wait_words(where.call, (size_t)shown(where.call), where.call_count, where.range,
                        next_is_torch(common), text + used, size - used))
        where.call = NULL;
    else if (words != NULL)
        add(text, size, "%s", words);
    if (where.family[0] != '\0')
        where.range = where.family;
    if (where.call != NULL)
        add(text, size, ". Most: %.*s", shown(where.call), where.call);
    if (where.range != NULL) {
        const int length = shown_range(&where.range);

        add(text, size, "%s%.*s", where.call != NULL ? " in " : ". Most: in ", length, where.range);
    }
}

/* What happens in the start of a process, and seldom behind it. */
static bool is_of_start(ridge_timeline_verdict verdict)
{
    return verdict == RIDGE_TIMELINE_MODULE_BOUND || verdict == RIDGE_TIMELINE_ALLOC_BOUND ||
           verdict == RIDGE_TIMELINE_NO_WORK;
}

void next_advice(next_common *common, const ridge_device_account *device, bool is_whole,
                 ridge_timeline_next *out)
{
    char *const text = out->fix;
    const size_t size = sizeof(out->fix);
    const unsigned largest = largest_cause(device);
    const bool is_mixed = device->verdict == RIDGE_TIMELINE_MIXED ||
                          (next_has_two_roads(device) && row_of(device->verdict) == NULL);
    const struct advice_row *const row =
        row_of(!is_mixed                                ? device->verdict
               : device->stall_ns * 2 > device->idle_ns ? RIDGE_TIMELINE_NO_WORK
               : is_host_code(device, largest)          ? RIDGE_TIMELINE_LAUNCH_BOUND
                                                        : verdict_of_cause[largest]);
    const char *stall = NULL, *words;
    bool is_loading = false;

    text[0] = '\0';
    if (is_mixed && row != NULL && row->verdict == RIDGE_TIMELINE_NOTHING)
        words = advice_of_cause[largest];
    else if (row != NULL)
        words = next_is_torch(common) ? row->torch : row->other;
    else
        return;
    out->is_sync = row->verdict == RIDGE_TIMELINE_SYNC_BOUND;
    if (row->verdict == RIDGE_TIMELINE_NO_WORK)
        stall = find_stall(common, device, &is_loading);
    if (special(common, device, row->verdict, is_loading) != NULL)
        words = special(common, device, row->verdict, is_loading);
    if (!is_loading &&
        (is_of_start(row->verdict) || (is_mixed && largest == RIDGE_IDLE_GRAPH_BUILD)) &&
        next_steady(common, device, is_whole, text, size)) {
        add(text, size, "; ");
        if (row->verdict == RIDGE_TIMELINE_NO_WORK) /* there is no loop to move it out of */
            words = "or record that part alone";
    }
    if (stall == NULL && row->causes != 0) {
        add_words_and_place(common, device, row, words, text, size);
        return;
    }
    if (words != NULL)
        add(text, size, "%s", words);
    if (stall != NULL) {
        const int length = shown_range(&stall);

        add(text, size, ". Most: in %.*s", length, stall);
    }
}

void next_copy_advice(next_common *common, const ridge_device_account *device, char *text,
                      size_t size)
{
    const struct advice_row *const row = row_of(RIDGE_TIMELINE_COPY_BOUND);
    const char *const words = special(common, device, RIDGE_TIMELINE_COPY_BOUND, false);

    snprintf(text, size, "%s",
             words != NULL           ? words
             : next_is_torch(common) ? row->torch
                                     : row->other);
}
