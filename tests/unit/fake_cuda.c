/* SPDX-License-Identifier: Apache-2.0
 *
 * A CUDA driver of host memory, see fake_cuda.h. With FAKE_OLD it is one of CUDA 11.4: what came
 * later is missing. With FAKE_CUDA_START=crash or =hang in the environment it does so. Of its two
 * kernels one does something: mark(uint32_t *at, uint32_t value). */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/cuda_driver.h"
#include "fake_cuda.h"

#define FAKE_PROTOTYPE(symbol, since, parameters) cu_result symbol parameters;
CUDA_SYMBOLS(FAKE_PROTOTYPE)

/* One GPU as it is loaded. */
fake_control fake_control_block = {
    .version = 13000, .device_count = 1, .major = 9, .memory_limit_bytes = (size_t)1 << 33};
fake_control *fake_control_get(void);
fake_control *fake_control_get(void)
{
    return &fake_control_block;
}

static fake_control *const control = &fake_control_block;

enum { GRANULE = 2 << 20, NODES_MOST = 512 };

struct CUfunc_st {
    const char *name;
    struct CUmod_st *module;
    int dynamic_limit;
    bool large_clusters;
};
struct CUmod_st {
    struct CUfunc_st functions[3]; /* the last: every kernel of the harness, which does nothing */
};
struct CUgraphNode_st {
    unsigned type;
    cu_kernel_node kernel;
    struct CUgraph_st *child;
};
struct CUgraph_st {
    struct CUgraphNode_st nodes[NODES_MOST];
    size_t count;
};
struct CUstream_st {
    struct CUgraph_st *capture;
    cu_result broken; /* of the capture */
};
struct CUgraphExec_st {
    struct CUgraph_st graph;
};
struct CUevent_st {
    unsigned time;
};
struct CUctx_st {
    int retained;
};

static struct CUctx_st primary;
static cu_context current;
static struct CUstream_st *capturing; /* the one stream that may */
static unsigned clock_ticks;
static size_t used_bytes;
static size_t persisting_limit = 4096;

/* true: this call fails. */
static bool fails(const char *name)
{
    control->calls++;
    if (control->fail_call != NULL ? strcmp(control->fail_call, name) != 0
                                   : control->calls != control->fail_at)
        return false;
    snprintf(control->failed, sizeof(control->failed), "%s", name);
    return true;
}

#define ENTER                                                                                      \
    do {                                                                                           \
        if (fails(__func__))                                                                       \
            return control->fail_result;                                                           \
    } while (0)

/* What may not be done while a stream captures breaks the capture. */
#define NOT_IN_CAPTURE                                                                             \
    do {                                                                                           \
        if (capturing != NULL) {                                                                   \
            capturing->broken = CU_CAPTURE_INVALIDATED;                                            \
            return CU_CAPTURE_UNSUPPORTED;                                                         \
        }                                                                                          \
    } while (0)

static void *host(cu_pointer address)
{
    void *data;

    memcpy(&data, &address, sizeof(data));
    return data;
}

static cu_pointer address(const void *data)
{
    return (cu_pointer)(uintptr_t)data;
}

/* -- the driver -------------------------------------------------------------------------------- */

cu_result cuInit(unsigned flags)
{
    const char *const start = getenv("FAKE_CUDA_START");

    (void)flags;
    ENTER;
    if (start != NULL && strcmp(start, "crash") == 0)
        raise(SIGKILL);
    if (start != NULL && strcmp(start, "hang") == 0)
        pause();
    return control->device_count > 0 ? CU_SUCCESS : CU_NO_DEVICE;
}

cu_result cuDriverGetVersion(int *version)
{
    ENTER;
    *version = control->version;
    return CU_SUCCESS;
}

cu_result cuGetErrorName(cu_result result, const char **text)
{
#define NAME_ROW(name, real, value) {#real, value},
    static const struct {
        const char *name;
        cu_result value;
    } names[] = {CUDA_NUMBERS(NAME_ROW)};
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].value == result && strncmp(names[i].name, "CUDA_", 5) == 0) {
            *text = names[i].name;
            return CU_SUCCESS;
        }
    return CU_INVALID_VALUE;
}

cu_result cuGetErrorString(cu_result result, const char **text)
{
    *text = result == CU_INVALID_VALUE ? "invalid argument" : "words of the driver";
    return CU_SUCCESS;
}

cu_result cuDeviceGetCount(int *count)
{
    ENTER;
    *count = control->device_count;
    return CU_SUCCESS;
}

cu_result cuDeviceGet(cu_device *device, int index)
{
    ENTER;
    *device = index;
    return CU_SUCCESS;
}

cu_result cuDeviceGetName(char *name, int size, cu_device device)
{
    ENTER;
    snprintf(name, (size_t)size, "Fake GPU %d", device);
    return CU_SUCCESS;
}

cu_result cuDeviceGetUuid_v2(cu_uuid *uuid, cu_device device)
{
    int i;

    ENTER;
    for (i = 0; i < 16; i++)
        uuid->bytes[i] = (char)(0xf0 + i + device);
    return CU_SUCCESS;
}

cu_result cuDeviceGetPCIBusId(char *text, int size, cu_device device)
{
    ENTER;
    snprintf(text, (size_t)size, "0000:%02x:00.0", device + 1);
    return CU_SUCCESS;
}

cu_result cuDeviceTotalMem_v2(size_t *size_bytes, cu_device device)
{
    (void)device;
    ENTER;
    *size_bytes = control->memory_limit_bytes;
    return CU_SUCCESS;
}

cu_result cuDeviceGetAttribute(int *value, unsigned attribute, cu_device device)
{
    (void)device;
    ENTER;
    switch (attribute) {
    case CU_DEVICE_WARP_SIZE:
        *value = 32;
        break;
    case CU_DEVICE_SM_COUNT:
        *value = 132;
        break;
    case CU_DEVICE_CC_MAJOR:
        *value = control->major;
        break;
    case CU_DEVICE_SHARED_OPTIN:
        *value = 232448;
        break;
    case CU_DEVICE_PERSISTING_L2:
        *value = 1 << 20;
        break;
    case CU_DEVICE_BUS_WIDTH:
        *value = 6144;
        break;
    case CU_DEVICE_MEMORY_CLOCK_KHZ:
        *value = 3201000;
        break;
    case CU_DEVICE_VIRTUAL_MEMORY:
        *value = 1;
        break;
    default:
        *value = 0;
    }
    return CU_SUCCESS;
}

/* -- contexts ---------------------------------------------------------------------------------- */

cu_result cuDevicePrimaryCtxRetain(cu_context *context, cu_device device)
{
    (void)device;
    ENTER;
    control->contexts++;
    *context = &primary;
    return CU_SUCCESS;
}

cu_result cuDevicePrimaryCtxRelease_v2(cu_device device)
{
    (void)device;
    control->contexts--;
    current = NULL;
    return CU_SUCCESS;
}

cu_result cuCtxSetCurrent(cu_context context)
{
    ENTER;
    current = context;
    return CU_SUCCESS;
}

cu_result cuCtxGetCurrent(cu_context *context)
{
    *context = current;
    return CU_SUCCESS;
}

cu_result cuCtxSynchronize(void)
{
    ENTER;
    NOT_IN_CAPTURE;
    return CU_SUCCESS;
}

cu_result cuCtxSetLimit(unsigned limit, size_t value)
{
    ENTER;
    if (limit == CU_LIMIT_PERSISTING)
        persisting_limit = value;
    return CU_SUCCESS;
}

cu_result cuCtxGetLimit(size_t *value, unsigned limit)
{
    (void)limit;
    ENTER;
    *value = persisting_limit;
    return CU_SUCCESS;
}

cu_result cuCtxResetPersistingL2Cache(void)
{
    ENTER;
    return CU_SUCCESS;
}

/* -- memory ------------------------------------------------------------------------------------ */

cu_result cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    ENTER;
    *total_bytes = control->memory_limit_bytes;
    *free_bytes = control->memory_limit_bytes - used_bytes;
    return CU_SUCCESS;
}

cu_result cuMemAlloc_v2(cu_pointer *out, size_t size_bytes)
{
    ENTER;
    NOT_IN_CAPTURE;
    if (size_bytes > control->memory_limit_bytes - used_bytes)
        return CU_OUT_OF_MEMORY;
    *out = address(malloc(size_bytes));
    control->allocations++;
    return CU_SUCCESS;
}

cu_result cuMemFree_v2(cu_pointer data)
{
    free(host(data));
    control->allocations--;
    return CU_SUCCESS;
}

cu_result cuMemHostAlloc(void **out, size_t size_bytes, unsigned flags)
{
    (void)flags;
    ENTER;
    *out = malloc(size_bytes);
    control->allocations++;
    return CU_SUCCESS;
}

cu_result cuMemFreeHost(void *data)
{
    free(data);
    control->allocations--;
    return CU_SUCCESS;
}

cu_result cuMemHostGetDevicePointer_v2(cu_pointer *out, void *data, unsigned flags)
{
    (void)flags;
    ENTER;
    *out = address(data);
    return CU_SUCCESS;
}

cu_result cuMemcpyHtoD_v2(cu_pointer to, const void *from, size_t size_bytes)
{
    ENTER;
    NOT_IN_CAPTURE;
    memcpy(host(to), from, size_bytes);
    return CU_SUCCESS;
}

cu_result cuMemcpyDtoH_v2(void *to, cu_pointer from, size_t size_bytes)
{
    ENTER;
    NOT_IN_CAPTURE;
    memcpy(to, host(from), size_bytes);
    return CU_SUCCESS;
}

static bool capture_node(cu_stream stream, unsigned type, const cu_kernel_node *kernel)
{
    struct CUgraphNode_st *node;

    if (stream == NULL || stream->capture == NULL)
        return false;
    if (stream->capture->count == NODES_MOST)
        abort();
    node = &stream->capture->nodes[stream->capture->count++];
    node->type = type;
    if (kernel != NULL)
        node->kernel = *kernel;
    return true;
}

cu_result cuMemcpyDtoDAsync_v2(cu_pointer to, cu_pointer from, size_t size_bytes, cu_stream stream)
{
    ENTER;
    if (!capture_node(stream, CU_NODE_COPY, NULL))
        memcpy(host(to), host(from), size_bytes);
    return CU_SUCCESS;
}

cu_result cuMemGetAllocationGranularity(size_t *granularity, const cu_mem_prop *prop,
                                        unsigned option)
{
    (void)prop;
    (void)option;
    ENTER;
    *granularity = GRANULE;
    return CU_SUCCESS;
}

/* Reserved addresses are memory; what is mapped where is only counted. */
cu_result cuMemAddressReserve(cu_pointer *out, size_t size_bytes, size_t alignment, cu_pointer wish,
                              unsigned long long flags)
{
    void *data = NULL;

    (void)alignment;
    (void)wish;
    (void)flags;
    ENTER;
    if (size_bytes % GRANULE != 0 || posix_memalign(&data, GRANULE, size_bytes) != 0)
        return CU_INVALID_VALUE;
    *out = address(data);
    control->reservations++;
    return CU_SUCCESS;
}

cu_result cuMemAddressFree(cu_pointer data, size_t size_bytes)
{
    (void)size_bytes;
    free(host(data));
    control->reservations--;
    return CU_SUCCESS;
}

cu_result cuMemCreate(cu_memory *out, size_t size_bytes, const cu_mem_prop *prop,
                      unsigned long long flags)
{
    (void)prop;
    (void)flags;
    ENTER;
    if (size_bytes % GRANULE != 0)
        return CU_INVALID_VALUE;
    if (size_bytes > control->memory_limit_bytes)
        return CU_OUT_OF_MEMORY;
    control->memories++;
    *out = size_bytes;
    return CU_SUCCESS;
}

cu_result cuMemRelease(cu_memory memory)
{
    (void)memory;
    control->memories--;
    return CU_SUCCESS;
}

cu_result cuMemMap(cu_pointer data, size_t size_bytes, size_t offset, cu_memory memory,
                   unsigned long long flags)
{
    (void)offset;
    (void)flags;
    ENTER;
    if (data % GRANULE != 0 || size_bytes != memory)
        return CU_INVALID_VALUE;
    control->mappings++;
    return CU_SUCCESS;
}

cu_result cuMemUnmap(cu_pointer data, size_t size_bytes)
{
    (void)data;
    (void)size_bytes;
    control->mappings--;
    return CU_SUCCESS;
}

cu_result cuMemSetAccess(cu_pointer data, size_t size_bytes, const cu_mem_access *access,
                         size_t count)
{
    (void)data;
    (void)size_bytes;
    ENTER;
    return count == 1 && access->flags == CU_ACCESS_READ_WRITE &&
                   access->location.type == CU_MEMORY_OF_DEVICE
               ? CU_SUCCESS
               : CU_INVALID_VALUE;
}

/* -- streams and events ------------------------------------------------------------------------ */

cu_result cuStreamCreate(cu_stream *out, unsigned flags)
{
    ENTER;
    if (flags != CU_STREAM_OTHER)
        return CU_INVALID_VALUE;
    *out = calloc(1, sizeof(**out));
    control->streams++;
    return CU_SUCCESS;
}

cu_result cuStreamDestroy_v2(cu_stream stream)
{
    if (stream->capture != NULL) {
        free(stream->capture);
        control->graphs--;
    }
    if (capturing == stream)
        capturing = NULL;
    free(stream);
    control->streams--;
    return CU_SUCCESS;
}

cu_result cuStreamSynchronize(cu_stream stream)
{
    (void)stream;
    ENTER;
    NOT_IN_CAPTURE;
    return CU_SUCCESS;
}

cu_result cuStreamWaitEvent(cu_stream stream, cu_event event, unsigned flags)
{
    (void)stream;
    (void)event;
    (void)flags;
    ENTER;
    return CU_SUCCESS;
}

cu_result cuStreamBeginCapture_v2(cu_stream stream, unsigned mode)
{
    ENTER;
    if (stream->capture != NULL)
        return CU_INVALID_VALUE;
    stream->capture = calloc(1, sizeof(*stream->capture));
    stream->broken = CU_SUCCESS;
    control->graphs++;
    if (mode == CU_CAPTURE_THREAD)
        capturing = stream;
    return CU_SUCCESS;
}

cu_result cuStreamEndCapture(cu_stream stream, cu_graph *out)
{
    cu_result broken = stream->broken;

    *out = NULL;
    if (stream->capture == NULL)
        return 401; /* CUDA_ERROR_ILLEGAL_STATE */
    if (fails(__func__)) {
        broken = control->fail_result;
        if (broken == CU_CAPTURE_WRONG_THREAD)
            return broken; /* this one does not end it */
    }
    capturing = NULL;
    if (broken != CU_SUCCESS) {
        free(stream->capture);
        control->graphs--;
    } else {
        *out = control->captured = stream->capture;
    }
    stream->capture = NULL;
    return broken;
}

cu_result cuStreamIsCapturing(cu_stream stream, unsigned *status)
{
    *status = stream->capture != NULL ? 1 : CU_CAPTURE_NONE;
    return CU_SUCCESS;
}

cu_result cuEventCreate(cu_event *out, unsigned flags)
{
    (void)flags;
    ENTER;
    *out = calloc(1, sizeof(**out));
    control->events++;
    return CU_SUCCESS;
}

cu_result cuEventDestroy_v2(cu_event event)
{
    free(event);
    control->events--;
    return CU_SUCCESS;
}

cu_result cuEventRecord(cu_event event, cu_stream stream)
{
    (void)stream;
    ENTER;
    event->time = ++clock_ticks;
    return CU_SUCCESS;
}

cu_result cuEventSynchronize(cu_event event)
{
    (void)event;
    ENTER;
    return CU_SUCCESS;
}

cu_result cuEventElapsedTime(float *milliseconds, cu_event from, cu_event to)
{
    ENTER;
    *milliseconds = (float)(to->time - from->time) * 0.001f;
    return CU_SUCCESS;
}

/* -- modules ----------------------------------------------------------------------------------- */

cu_result cuModuleLoadDataEx(cu_module *out, const void *image, unsigned count, unsigned *options,
                             void **values)
{
    unsigned i;

    for (i = 0; i < count; i++)
        if (options[i] == CU_JIT_ERROR_LOG && control->fail_call != NULL)
            strcpy(values[i], "\nptxas line 3; unexpected 'wgmma'\nmore");
        else if (options[i] == CU_JIT_INFO_LOG)
            strcpy(values[i], "log"); /* the smallest buffer takes it */
    ENTER;
    (void)strlen(image); /* text ends with a NUL, or a sanitizer says so */
    *out = calloc(1, sizeof(**out));
    (*out)->functions[0] = (struct CUfunc_st){"mark", *out, 49152, false};
    (*out)->functions[1] = (struct CUfunc_st){"other_kernel", *out, 49152, false};
    (*out)->functions[2] = (struct CUfunc_st){"harness", *out, 1 << 18, false};
    control->modules++;
    return CU_SUCCESS;
}

cu_result cuModuleUnload(cu_module module)
{
    free(module);
    control->modules--;
    return CU_SUCCESS;
}

cu_result cuModuleGetFunction(cu_function *out, cu_module module, const char *name)
{
    int i;

    ENTER;
    for (i = 0; i < 2; i++)
        if (strcmp(module->functions[i].name, name) == 0) {
            *out = &module->functions[i];
            return CU_SUCCESS;
        }
    if (strncmp(name, "harness_", 8) != 0)
        return CU_NOT_FOUND;
    *out = &module->functions[2];
    return CU_SUCCESS;
}

cu_result cuFuncGetAttribute(int *value, unsigned attribute, cu_function function)
{
    ENTER;
    switch (attribute) {
    case CU_FUNCTION_REGISTERS:
        *value = 40;
        break;
    case CU_FUNCTION_THREADS:
        *value = 1024;
        break;
    case CU_FUNCTION_BINARY:
        *value = 90;
        break;
    case CU_FUNCTION_SHARED:
        *value = 1024;
        break;
    case CU_FUNCTION_DYNAMIC_LIMIT:
        *value = function->dynamic_limit;
        break;
    default:
        *value = 0;
    }
    return CU_SUCCESS;
}

cu_result cuFuncSetAttribute(cu_function function, unsigned attribute, int value)
{
    ENTER;
    if (attribute == CU_FUNCTION_DYNAMIC_LIMIT)
        function->dynamic_limit = value;
    else if (attribute == CU_FUNCTION_LARGE_CLUSTER)
        function->large_clusters = value != 0;
    return CU_SUCCESS;
}

cu_result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, cu_function function,
                                                      int threads, size_t dynamic_shared_bytes)
{
    ENTER;
    if (dynamic_shared_bytes > (size_t)function->dynamic_limit)
        return CU_INVALID_VALUE;
    *blocks = 2048 / threads;
    return CU_SUCCESS;
}

static void run(cu_function function, void **parameters)
{
    if (strcmp(function->name, "mark") == 0)
        **(uint32_t **)parameters[0] = *(uint32_t *)parameters[1];
}

cu_result cuLaunchKernel(cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                         unsigned block_x, unsigned block_y, unsigned block_z,
                         unsigned shared_bytes, cu_stream stream, void **parameters, void **extra)
{
    const cu_kernel_node node = {.function = function,
                                 .grid_x = grid_x,
                                 .grid_y = grid_y,
                                 .grid_z = grid_z,
                                 .block_x = block_x,
                                 .block_y = block_y,
                                 .block_z = block_z,
                                 .shared_bytes = shared_bytes};

    (void)extra;
    ENTER;
    if (shared_bytes > (unsigned)function->dynamic_limit || block_x * block_y * block_z > 1024)
        return CU_INVALID_VALUE;
    memcpy(control->grid, (unsigned[]){grid_x, grid_y, grid_z}, sizeof(control->grid));
    memcpy(control->block, (unsigned[]){block_x, block_y, block_z}, sizeof(control->block));
    control->shared_bytes = shared_bytes;
    if (!capture_node(stream, CU_NODE_KERNEL, &node))
        run(function, parameters);
    return CU_SUCCESS;
}

/* -- graphs ------------------------------------------------------------------------------------ */

cu_result cuGraphInstantiateWithFlags(cu_graph_exec *out, cu_graph graph, unsigned long long flags)
{
    (void)flags;
    ENTER;
    *out = calloc(1, sizeof(**out));
    (*out)->graph = *graph;
    control->execs++;
    return CU_SUCCESS;
}

cu_result cuGraphDestroy(cu_graph graph)
{
    free(graph);
    control->graphs--;
    return CU_SUCCESS;
}

cu_result cuGraphExecDestroy(cu_graph_exec exec)
{
    free(exec);
    control->execs--;
    return CU_SUCCESS;
}

cu_result cuGraphLaunch(cu_graph_exec exec, cu_stream stream)
{
    (void)exec;
    (void)stream;
    ENTER;
    return CU_SUCCESS;
}

cu_result cuGraphGetNodes(cu_graph graph, cu_graph_node *nodes, size_t *count)
{
    size_t i;

    ENTER;
    for (i = 0; nodes != NULL && i < *count && i < graph->count; i++)
        nodes[i] = &graph->nodes[i];
    *count = graph->count;
    return CU_SUCCESS;
}

cu_result cuGraphNodeGetType(cu_graph_node node, unsigned *type)
{
    ENTER;
    *type = node->type;
    return CU_SUCCESS;
}

/* Version 1 ends before kernel. */
cu_result cuGraphKernelNodeGetParams(cu_graph_node node, cu_kernel_node *out)
{
    ENTER;
    memcpy(out, &node->kernel, offsetof(cu_kernel_node, kernel));
    return CU_SUCCESS;
}

/* -- what came later --------------------------------------------------------------------------- */

#ifndef FAKE_OLD

cu_result cuGraphKernelNodeGetParams_v2(cu_graph_node node, cu_kernel_node *out)
{
    ENTER;
    *out = node->kernel;
    /* Some kernels of a graph are known by their library only. */
    if (node->kernel.function != NULL && strcmp(node->kernel.function->name, "mark") != 0) {
        out->function = NULL;
        out->kernel = (cu_kernel)(void *)node->kernel.function;
    }
    return CU_SUCCESS;
}

/* The driver copies the child. */
cu_result cuGraphAddChildGraphNode(cu_graph_node *out, cu_graph graph, const cu_graph_node *before,
                                   size_t count, cu_graph child)
{
    (void)before;
    (void)count;
    ENTER;
    if (graph->count == NODES_MOST)
        abort();
    *out = &graph->nodes[graph->count++];
    (*out)->type = CU_NODE_GRAPH;
    (*out)->child = child;
    return CU_SUCCESS;
}

cu_result cuGraphChildGraphNodeGetGraph(cu_graph_node node, cu_graph *out)
{
    ENTER;
    *out = node->child;
    return CU_SUCCESS;
}

cu_result cuStreamGetCaptureInfo_v3(cu_stream stream, unsigned *status, uint64_t *id,
                                    cu_graph *graph, const cu_graph_node **before,
                                    const cu_graph_edge **edges, size_t *count)
{
    (void)edges;
    ENTER;
    *status = stream->capture != NULL ? CU_CAPTURE_ACTIVE : CU_CAPTURE_NONE;
    *id = 1;
    *graph = stream->capture;
    *before = NULL;
    *count = 0;
    return CU_SUCCESS;
}

cu_result cuStreamUpdateCaptureDependencies_v2(cu_stream stream, cu_graph_node *before,
                                               const cu_graph_edge *edges, size_t count,
                                               unsigned flags)
{
    (void)stream;
    (void)before;
    (void)edges;
    (void)count;
    ENTER;
    return flags == CU_CAPTURE_SET ? CU_SUCCESS : CU_INVALID_VALUE;
}

cu_result cuKernelGetName(const char **name, cu_kernel kernel)
{
    ENTER;
    *name = ((cu_function)(void *)kernel)->name;
    return CU_SUCCESS;
}

cu_result cuModuleGetFunctionCount(unsigned *count, cu_module module)
{
    (void)module;
    ENTER;
    *count = 2;
    return CU_SUCCESS;
}

cu_result cuModuleEnumerateFunctions(cu_function *functions, unsigned count, cu_module module)
{
    unsigned i;

    ENTER;
    for (i = 0; i < count && i < 2; i++)
        functions[i] = &module->functions[i];
    return CU_SUCCESS;
}

cu_result cuFuncGetName(const char **name, cu_function function)
{
    ENTER;
    *name = function->name;
    return CU_SUCCESS;
}

cu_result cuFuncGetParamInfo(cu_function function, size_t index, size_t *offset, size_t *size_bytes)
{
    (void)function;
    ENTER;
    if (index >= 2)
        return CU_INVALID_VALUE;
    *offset = 8 * index;
    *size_bytes = index == 0 ? 8 : 4;
    return CU_SUCCESS;
}

cu_result cuFuncLoad(cu_function function)
{
    (void)function;
    ENTER;
    return CU_SUCCESS;
}

cu_result cuLaunchKernelEx(const cu_launch_config *config, cu_function function, void **parameters,
                           void **extra)
{
    unsigned i;

    ENTER;
    control->programmatic = 0;
    for (i = 0; i < config->attribute_count; i++) {
        const cu_launch_value *const value = &config->attributes[i].value;

        if (config->attributes[i].id == CU_LAUNCH_PROGRAMMATIC)
            control->programmatic = value->programmatic_stream_serialization;
        if (config->attributes[i].id == CU_LAUNCH_CLUSTER)
            memcpy(control->cluster, &value->cluster, sizeof(control->cluster));
    }
    if (control->cluster[0] > 8 && !function->large_clusters)
        return CU_INVALID_VALUE;
    return cuLaunchKernel(function, config->grid_x, config->grid_y, config->grid_z, config->block_x,
                          config->block_y, config->block_z, config->shared_bytes, config->stream,
                          parameters, extra);
}

cu_result cuTensorMapEncodeTiled(cu_tensor_map *out, unsigned type, uint32_t rank, void *data,
                                 const uint64_t *extent, const uint64_t *stride_bytes,
                                 const uint32_t *box, const uint32_t *element_stride,
                                 unsigned interleave, unsigned swizzle, unsigned l2_promotion,
                                 unsigned fill)
{
    (void)data;
    (void)extent;
    (void)stride_bytes;
    (void)box;
    (void)element_stride;
    (void)interleave;
    (void)l2_promotion;
    (void)fill;
    ENTER;
    if ((uintptr_t)out % 64 != 0)
        return CU_INVALID_VALUE;
    memset(out, (int)rank, sizeof(*out));
    control->tensor_type = type;
    control->tensor_swizzle = swizzle;
    return CU_SUCCESS;
}

#endif
