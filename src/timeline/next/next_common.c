/* SPDX-License-Identifier: Apache-2.0
 *
 * What plans of several devices ask of the whole trace: found once, when the first one asks. */
#include "timeline/next/next_internal.h"

#include <string.h>

#include "base/memory.h"

/* -- life -------------------------------------------------------------------------------------- */

bool next_common_init(next_common *common, const ridge_trace *trace, bool is_kept)
{
    *common = (next_common){.trace = trace, .is_kept = is_kept};
    return pthread_mutex_init(&common->lock, NULL) == 0;
}

void next_common_release(next_common *common)
{
    kernel_launches_free(common->launches);
    ridge_free(common->bounded_by_name);
    ridge_free(common->families);
    ridge_free(common->last_ends_ns);
    ridge_free(common->processes);
    pthread_mutex_destroy(&common->lock);
}

next_common *next_common_create(const ridge_trace *trace)
{
    next_common *const common = ridge_calloc(1, sizeof(*common));

    if (common != NULL && !next_common_init(common, trace, true)) {
        ridge_free(common);
        return NULL;
    }
    return common;
}

void next_common_free(next_common *common)
{
    if (common == NULL)
        return;
    next_common_release(common);
    ridge_free(common);
}

/* -- ranges ------------------------------------------------------------------------------------ */

/* The last end in each block of ranges. */
static void find_ends(next_common *common)
{
    size_t count;
    const ridge_trace_range *const ranges = ridge_trace_ranges(common->trace, &count);

    common->last_ends_ns =
        ridge_calloc(count / NEXT_BLOCK_RANGES + 1, sizeof(*common->last_ends_ns));
    for (size_t i = 0; common->last_ends_ns != NULL && i < count; i++) {
        int64_t *const last_ns = &common->last_ends_ns[i / NEXT_BLOCK_RANGES];

        if (i % NEXT_BLOCK_RANGES == 0 || ranges[i].end_ns > *last_ns)
            *last_ns = ranges[i].end_ns;
    }
}

size_t next_skip_ranges(next_common *common, size_t range, int64_t until_ns)
{
    if (range % NEXT_BLOCK_RANGES != 0)
        return range;
    if (common->last_ends_ns == NULL)
        find_ends(common);
    return common->last_ends_ns != NULL &&
                   common->last_ends_ns[range / NEXT_BLOCK_RANGES] < until_ns
               ? range + NEXT_BLOCK_RANGES
               : range;
}

/* -- names of calls and kernels ---------------------------------------------------------------- */

static bool look_for_graphs(const ridge_trace *trace)
{
    size_t count;
    const ridge_trace_api *const apis = ridge_trace_apis(trace, &count);

    for (size_t i = 0; i < count; i++)
        if (strstr(ridge_trace_name(trace, apis[i].name, NULL), "GraphLaunch") != NULL)
            return true;
    return false;
}

static bool look_for_torch(const ridge_trace *trace)
{
    const size_t count = ridge_trace_name_count(trace);

    if (ridge_trace_get_info(trace)->format == RIDGE_TRACE_KINETO)
        return true;
    for (uint32_t i = 1; i <= count; i++) {
        const char *const name = ridge_trace_name(trace, i, NULL);

        if (strstr(name, "aten::") != NULL || strstr(name, "at::native::") != NULL)
            return true;
    }
    return false;
}

static bool answer(next_known *known, bool (*look)(const ridge_trace *), const ridge_trace *trace)
{
    if (*known == NEXT_NOT_LOOKED)
        *known = look(trace) ? NEXT_YES : NEXT_NO;
    return *known == NEXT_YES;
}

bool next_launches_graphs(next_common *common)
{
    return answer(&common->launches_graphs, look_for_graphs, common->trace);
}

bool next_is_torch(next_common *common)
{
    return answer(&common->is_torch, look_for_torch, common->trace);
}

static next_gpu look_for_gpu(const ridge_trace *trace)
{
    size_t count;
    const ridge_trace_api *const apis = ridge_trace_apis(trace, &count);
    bool has_launches = false;

    for (size_t i = 0; i < count; i++) {
        const char *const call = ridge_trace_name(trace, apis[i].name, NULL);

        if (strncmp(call, "cu", 2) == 0)
            return NEXT_GPU_NVIDIA;
        if (apis[i].op_count > 0 && strncmp(call, "hip", 3) == 0)
            return NEXT_GPU_AMD;
        has_launches = has_launches || apis[i].op_count > 0;
    }
    return has_launches && ridge_trace_get_info(trace)->format == RIDGE_TRACE_KINETO
               ? NEXT_GPU_OTHER
               : NEXT_GPU_NVIDIA;
}

next_gpu next_gpu_of_calls(next_common *common)
{
    if (common->gpu == NEXT_GPU_NOT_LOOKED)
        common->gpu = look_for_gpu(common->trace);
    return common->gpu;
}

/* -- processes --------------------------------------------------------------------------------- */

static next_process *process_of(next_common *common, uint32_t process)
{
    return &common->processes[process < common->process_count ? process : common->process_count];
}

static void find_devices(next_common *common)
{
    size_t op_count, stream_count;
    const ridge_trace_op *const ops = ridge_trace_ops(common->trace, &op_count);
    const ridge_trace_stream *const streams = ridge_trace_streams(common->trace, &stream_count);

    for (size_t i = 0; i < op_count; i++) {
        const ridge_trace_stream *const stream = &streams[ops[i].stream];
        next_process *const of = process_of(common, stream->process);

        common->has_several_processes |= stream->process != streams[ops[0].stream].process;
        of->has_several_devices |= of->has_work && of->device != stream->device;
        of->device = stream->device;
        of->has_work = true;
    }
}

static void find_first_calls(next_common *common)
{
    size_t count;
    const ridge_trace_thread *const threads = ridge_trace_threads(common->trace, &count);
    const ridge_trace_api *const apis = ridge_trace_apis(common->trace, &count);

    for (size_t i = 0; i < count; i++) {
        const ridge_trace_api *const api = &apis[i];
        const char *const name = ridge_trace_name(common->trace, api->name, NULL);
        next_process *const of = process_of(common, threads[api->thread].process);

        if ((strncmp(name, "cudaProfilerStart", 17) == 0 ||
             strncmp(name, "cuProfilerStart", 15) == 0) &&
            api->start_ns < of->started_ns)
            of->started_ns = api->start_ns;
        if (api->op_count > 0 && api->start_ns < of->launched_ns)
            of->launched_ns = api->start_ns;
        if (of->first == NULL || api->start_ns < of->first->start_ns)
            of->first = api;
    }
}

const next_process *next_process_of(next_common *common, uint32_t process)
{
    if (common->processes == NULL) {
        ridge_trace_processes(common->trace, &common->process_count);
        common->processes = ridge_calloc(common->process_count + 1, sizeof(*common->processes));
        if (common->processes == NULL)
            return NULL;
        for (size_t i = 0; i <= common->process_count; i++)
            common->processes[i].launched_ns = common->processes[i].started_ns = INT64_MAX;
        find_devices(common);
        find_first_calls(common);
    }
    return process_of(common, process);
}
