/* SPDX-License-Identifier: Apache-2.0
 *
 * CUPTI's records into rows of the spool file: a function a kind. */
#include "collect/activity.h"

#include <stdio.h>
#include <string.h>

#include "collect/spool_write.h"

enum {
    FUNCTIONS_MOST = 2048,
    LONG_NS = 20000 /* no call that only reads a value takes so long */
};

static struct {
    const cupti_calls *cupti;
    bool keeps_all_calls;
} activity;

void activity_init(const cupti_calls *cupti, bool keeps_all_calls)
{
    activity.cupti = cupti;
    activity.keeps_all_calls = keeps_all_calls;
}

/* -- names of functions ------------------------------------------------------------------------ */

/* Calls that come by the thousand; `--api work` leaves them out. Those that only read a value are not
 * even recorded, where CUPTI can be told so (12.6 and later): that saves the program their cost. The
 * others may start a context or load a module, so they are kept when they took long. Compared up to
 * the version. */
enum cheapness { CHEAP_NOT, CHEAP_UNLESS_LONG, CHEAP_ALWAYS };

static const struct cheap_row {
    const char *name;
    enum cheapness cheapness;
} cheap_calls[] = {
    {"__cudaPopCallConfiguration", CHEAP_ALWAYS},
    {"__cudaPushCallConfiguration", CHEAP_ALWAYS},
    {"cuCtxGetCurrent", CHEAP_ALWAYS},
    {"cuCtxGetDevice", CHEAP_ALWAYS},
    {"cuCtxSetCurrent", CHEAP_UNLESS_LONG},
    {"cuDeviceGet", CHEAP_ALWAYS},
    {"cuDeviceGetAttribute", CHEAP_ALWAYS},
    {"cuDeviceGetCount", CHEAP_ALWAYS},
    {"cuDevicePrimaryCtxGetState", CHEAP_ALWAYS},
    {"cuDriverGetVersion", CHEAP_ALWAYS},
    {"cuFuncGetAttribute", CHEAP_UNLESS_LONG},
    {"cuGetProcAddress", CHEAP_UNLESS_LONG},
    {"cuKernelGetAttribute", CHEAP_UNLESS_LONG},
    {"cuPointerGetAttribute", CHEAP_ALWAYS},
    {"cuPointerGetAttributes", CHEAP_ALWAYS},
    {"cuStreamGetCaptureInfo", CHEAP_ALWAYS},
    {"cuStreamGetCtx", CHEAP_ALWAYS},
    {"cuStreamIsCapturing", CHEAP_ALWAYS},
    {"cudaDeviceGetAttribute", CHEAP_UNLESS_LONG},
    {"cudaDeviceGetStreamPriorityRange", CHEAP_UNLESS_LONG},
    {"cudaDriverGetVersion", CHEAP_ALWAYS},
    {"cudaFuncGetAttributes", CHEAP_UNLESS_LONG},
    {"cudaGetDevice", CHEAP_UNLESS_LONG},
    {"cudaGetDeviceCount", CHEAP_UNLESS_LONG},
    {"cudaGetDeviceProperties", CHEAP_UNLESS_LONG},
    {"cudaGetDriverEntryPoint", CHEAP_UNLESS_LONG},
    {"cudaGetDriverEntryPointByVersion", CHEAP_UNLESS_LONG},
    {"cudaGetLastError", CHEAP_ALWAYS},
    {"cudaOccupancyMaxActiveBlocksPerMultiprocessor", CHEAP_UNLESS_LONG},
    {"cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", CHEAP_UNLESS_LONG},
    {"cudaPeekAtLastError", CHEAP_ALWAYS},
    {"cudaPointerGetAttributes", CHEAP_UNLESS_LONG},
    {"cudaRuntimeGetVersion", CHEAP_ALWAYS},
    {"cudaSetDevice", CHEAP_UNLESS_LONG},
    {"cudaStreamGetCaptureInfo", CHEAP_ALWAYS},
    {"cudaStreamGetPriority", CHEAP_ALWAYS},
    {"cudaStreamIsCapturing", CHEAP_ALWAYS},
};

static enum cheapness cheapness_of(const char *name)
{
    size_t i;

    for (i = 0; i < sizeof(cheap_calls) / sizeof(cheap_calls[0]); i++) {
        const size_t length = strlen(cheap_calls[i].name);

        if (strncmp(name, cheap_calls[i].name, length) == 0 &&
            (name[length] == '\0' || name[length] == '_'))
            return cheap_calls[i].cheapness;
    }
    return CHEAP_NOT;
}

/* Under the lock of the spool file. text: 0 not asked for yet. */
static struct function_name {
    uint32_t text;
    enum cheapness cheapness;
} function_names[2][FUNCTIONS_MOST];

static struct function_name name_of(bool is_driver, uint32_t function)
{
    struct function_name *const known =
        function < FUNCTIONS_MOST ? &function_names[is_driver][function] : NULL;
    struct function_name found = {0};
    const char *name = NULL;
    char number[32];

    if (known != NULL && known->text != 0)
        return *known;
    if (activity.cupti->cuptiGetCallbackName(is_driver ? CUPTI_DOMAIN_DRIVER : CUPTI_DOMAIN_RUNTIME,
                                             function, &name) != CUPTI_OK ||
        name == NULL) {
        snprintf(number, sizeof(number), "%s call %u", is_driver ? "driver" : "runtime", function);
        name = number;
    }
    found = (struct function_name){spool_text_of(name), cheapness_of(name)};
    if (known != NULL)
        *known = found;
    return found;
}

/* -- records ----------------------------------------------------------------------------------- */

/* What all records of work have, each at places of its own. */
#define WORK_OF(from)                                                                              \
    .start_ns = (from)->start_ns, .end_ns = (from)->end_ns, .graph_node = (from)->graph_node,      \
    .device = (from)->device, .context = (from)->context, .stream = (from)->stream,                \
    .correlation = (from)->correlation, .graph = (from)->graph

static void add_kernel(const void *record)
{
    const cupti_kernel *const from = record;
    const spool_kernel row = {
        WORK_OF(from),
        .grid_id = from->grid_id,
        .name = spool_text_of(from->name),
        .grid = {(uint32_t)from->grid[0], (uint32_t)from->grid[1], (uint32_t)from->grid[2]},
        .block = {(uint32_t)from->block[0], (uint32_t)from->block[1], (uint32_t)from->block[2]},
        .registers = from->registers,
        .static_shared_bytes = (uint32_t)from->static_shared_bytes,
        .dynamic_shared_bytes = (uint32_t)from->dynamic_shared_bytes,
        .local_per_thread_bytes = from->local_per_thread_bytes,
        .local_total_bytes = from->local_total_bytes,
        .shared_executed_bytes = from->shared_executed_bytes,
        .launch_type = from->launch_type,
    };

    spool_add(SPOOL_KERNEL, &row, sizeof(row));
}

static void add_copy(const void *record)
{
    const cupti_memcpy *const from = record;
    const spool_copy row = {
        WORK_OF(from),
        .bytes = from->bytes,
        .source_device = UINT32_MAX,
        .destination_device = UINT32_MAX,
        .copy = from->copy,
        .source = from->source,
        .destination = from->destination,
        .flags = from->flags,
    };

    spool_add(SPOOL_COPY, &row, sizeof(row));
}

static void add_peer_copy(const void *record)
{
    const cupti_memcpy_peer *const from = record;
    const spool_copy row = {
        WORK_OF(from),
        .bytes = from->bytes,
        .source_device = from->source_device,
        .destination_device = from->destination_device,
        .copy = from->copy,
        .source = from->source,
        .destination = from->destination,
        .flags = from->flags,
    };

    spool_add(SPOOL_COPY, &row, sizeof(row));
}

static void add_set(const void *record)
{
    const cupti_memset *const from = record;
    const spool_set row = {
        WORK_OF(from),
        .bytes = from->bytes,
        .value = from->value,
        .memory = from->memory,
    };

    spool_add(SPOOL_SET, &row, sizeof(row));
}

static void add_call(const void *record)
{
    const cupti_api *const from = record;
    const bool is_driver = from->kind == CUPTI_DRIVER;
    const struct function_name name = name_of(is_driver, from->function);
    const spool_call row = {
        .start_ns = from->start_ns,
        .end_ns = from->end_ns,
        .thread = from->thread,
        .correlation = from->correlation,
        .result = from->result,
        .name = name.text,
        .is_driver = is_driver,
    };

    if (activity.keeps_all_calls || name.cheapness == CHEAP_NOT ||
        (name.cheapness == CHEAP_UNLESS_LONG && from->end_ns - from->start_ns >= LONG_NS))
        spool_add(SPOOL_CALL, &row, sizeof(row));
}

static void add_sync(const void *record)
{
    const cupti_synchronization *const from = record;
    const spool_sync row = {
        .start_ns = from->start_ns,
        .end_ns = from->end_ns,
        .context = from->context,
        .stream = from->stream,
        .correlation = from->correlation,
        .event = from->event,
        .type = from->type,
    };

    spool_add(SPOOL_SYNC, &row, sizeof(row));
}

static void add_overhead(const void *record)
{
    const cupti_overhead *const from = record;
    const spool_overhead row = {
        .start_ns = from->start_ns,
        .end_ns = from->end_ns,
        .thread = from->object_kind == CUPTI_OBJECT_THREAD ? from->object.id[1] : 0,
        .overhead = from->overhead,
    };

    spool_add(SPOOL_OVERHEAD, &row, sizeof(row));
}

static void add_marker(const void *record)
{
    const cupti_marker *const from = record;
    const spool_marker row = {
        .time_ns = from->time_ns,
        .id = from->id,
        .thread = from->object_kind == CUPTI_OBJECT_THREAD ? from->object.id[1] : 0,
        .flags = from->flags,
        .name = spool_text_of(from->name),
        .domain = spool_text_of(from->domain),
    };

    spool_add(SPOOL_MARKER, &row, sizeof(row));
}

static void add_device(const void *record)
{
    const cupti_device *const from = record;
    const spool_device row = {
        .dram_bytes_per_s = from->dram_kb_per_s * 1000,
        .dram_bytes = from->dram_bytes,
        .clock_hz = (uint64_t)from->clock_khz * 1000,
        .id = from->id,
        .name = spool_text_of(from->name),
        .sm_count = from->sm_count,
        .compute_major = from->compute_major,
        .compute_minor = from->compute_minor,
        .l2_bytes = from->l2_bytes,
    };

    spool_add(SPOOL_DEVICE, &row, sizeof(row));
}

static void add_context(const void *record)
{
    const cupti_context_record *const from = record;
    const spool_context row = {from->context, from->device, from->null_stream, 0};

    spool_add(SPOOL_CONTEXT, &row, sizeof(row));
}

static void add_name(const void *record)
{
    const cupti_name *const from = record;
    const spool_name row = {from->object.id[1], spool_text_of(from->name)};

    if (from->object_kind == CUPTI_OBJECT_THREAD)
        spool_add(SPOOL_NAME, &row, sizeof(row));
}

const activity_kind activity_kinds[ACTIVITY_KIND_COUNT] = {
    {CUPTI_DEVICE, add_device, true, false},
    {CUPTI_CONTEXT, add_context, true, false},
    {CUPTI_NAME, add_name, true, false},
    {CUPTI_CONCURRENT_KERNEL, add_kernel, false, false},
    {CUPTI_KERNEL, add_kernel, true, false}, /* only read: enabling it would serialise kernels */
    {CUPTI_MEMCPY, add_copy, false, false},
    {CUPTI_MEMCPY_PEER, add_peer_copy, false, false},
    {CUPTI_MEMSET, add_set, false, false},
    {CUPTI_RUNTIME, add_call, false, true},
    {CUPTI_DRIVER, add_call, false, true},
    {CUPTI_SYNCHRONIZATION, add_sync, false, false},
    {CUPTI_OVERHEAD, add_overhead, false, false},
    {CUPTI_MARKER, add_marker, false, false},
};

void activity_add(const void *record)
{
    const uint32_t kind = ((const cupti_record *)record)->kind;
    size_t i;

    for (i = 0; i < ACTIVITY_KIND_COUNT; i++)
        if (activity_kinds[i].kind == kind) {
            activity_kinds[i].add(record);
            return;
        }
}

/* After the kinds of calls were enabled, which enables all of them. */
size_t activity_mute_cheap_calls(void)
{
    size_t muted = 0;
    uint32_t i;

    for (i = 1; !activity.keeps_all_calls && i < 2 * FUNCTIONS_MOST; i++) {
        const bool is_driver = i >= FUNCTIONS_MOST;
        const uint32_t function = i % FUNCTIONS_MOST;
        unsigned (*const set)(uint32_t, uint8_t) =
            is_driver ? activity.cupti->cuptiActivityEnableDriverApi
                      : activity.cupti->cuptiActivityEnableRuntimeApi;
        const char *name = NULL;

        if (set != NULL &&
            activity.cupti->cuptiGetCallbackName(is_driver ? CUPTI_DOMAIN_DRIVER
                                                           : CUPTI_DOMAIN_RUNTIME,
                                                 function, &name) == CUPTI_OK &&
            name != NULL && cheapness_of(name) == CHEAP_ALWAYS)
            muted += set(function, 0) == CUPTI_OK;
    }
    return muted;
}
