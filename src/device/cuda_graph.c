/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs: what a stream captures, instantiated, and what its nodes launch. A capture that broke a
 * rule ends here too: its message says which rule, and which call where that was one of ridge's. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "device/cuda_internal.h"

enum { GRAPH_DEPTH = 4 }; /* of graphs inside graphs that are listed */

typedef struct cuda_graph {
    ridge_graph base;
    cuda_device *device;
    cu_graph graph; /* NULL: not known */
    cu_graph_exec exec;
    bool owns_graph, owns_exec; /* else somebody else's */
    ridge_graph_node *nodes;
    size_t node_count;
} cuda_graph;

static const cuda_graph *graph_of(const ridge_graph *graph)
{
    return (const cuda_graph *)graph;
}

/* -- capture ----------------------------------------------------------------------------------- */

static const struct broken_rule {
    cu_result result;
    const char *rule;
} broken_rules[] = {
    {CU_CAPTURE_UNSUPPORTED, "an operation that cannot be captured (it allocates, synchronises or "
                             "copies at once)"},
    {CU_CAPTURE_INVALIDATED, "an earlier call broke the capture (it allocated, synchronised, used "
                             "the legacy stream or another stream without an event)"},
    {CU_CAPTURE_MERGE, "two captures were joined by an event"},
    {CU_CAPTURE_UNMATCHED, "the capture was begun on another stream"},
    {CU_CAPTURE_UNJOINED, "work was forked to another stream and not joined again"},
    {CU_CAPTURE_ISOLATION, "work waits for work outside the capture"},
    {CU_CAPTURE_IMPLICIT, "the legacy default stream was used, which waits for every stream"},
    {CU_CAPTURED_EVENT, "an event of the capture was queried or waited for by the host"},
    {CU_CAPTURE_WRONG_THREAD, "the capture is ended by another thread than began it"},
};

static const char *rule_of(cu_result result)
{
    size_t i;

    for (i = 0; i < sizeof(broken_rules) / sizeof(broken_rules[0]); i++)
        if (broken_rules[i].result == result)
            return broken_rules[i].rule;
    return NULL;
}

ridge_status cuda_capture_begin(ridge_stream *stream, bool strict, ridge_error *err)
{
    cuda_device *const device = cuda_of(stream->device);
    const ridge_status status = cuda_enter(device, err);

    if (status != RIDGE_OK)
        return status;
    device->capture_fault[0] = '\0';
    return cuda_check(device,
                      device->driver.cuStreamBeginCapture_v2(
                          stream->native, strict ? CU_CAPTURE_THREAD : CU_CAPTURE_RELAXED),
                      "cuStreamBeginCapture", err);
}

/* Ending a broken capture ends it; where the driver refuses even that, the stream is replaced. */
static void leave_capture(cuda_device *device, ridge_stream *stream)
{
    const cuda_driver *const driver = &device->driver;
    unsigned capturing = CU_CAPTURE_NONE;
    cu_stream other = NULL;

    if (driver->cuStreamIsCapturing(stream->native, &capturing) == CU_SUCCESS &&
        capturing == CU_CAPTURE_NONE)
        return;
    if (driver->cuStreamCreate(&other, CU_STREAM_OTHER) != CU_SUCCESS)
        return;
    driver->cuStreamDestroy_v2(stream->native);
    stream->native = other;
}

static ridge_status capture_failed(cuda_device *device, cu_result result, const char *fault,
                                   ridge_error *err)
{
    const char *const rule = rule_of(result);
    char text[200];

    if (rule == NULL)
        return cuda_check(device, result, "cuStreamEndCapture", err);
    cuda_result_text(&device->driver, result, text, sizeof(text));
    if (fault[0] != '\0')
        return ridge_fail(err, RIDGE_ERR_CUDA, "the capture is broken by %s: %s: %s", fault, rule,
                          text);
    return ridge_fail(err, RIDGE_ERR_CUDA, "the capture is broken: %s: %s", rule, text);
}

/* -- nodes ------------------------------------------------------------------------------------- */

static const char *kind_of(unsigned type)
{
    switch (type) {
    case CU_NODE_KERNEL:
        return "kernel";
    case CU_NODE_COPY:
        return "copy";
    case CU_NODE_MEMSET:
        return "memset";
    case CU_NODE_HOST:
        return "host";
    default:
        return "other";
    }
}

static void read_kernel(const cuda_driver *driver, cu_graph_node node, ridge_graph_node *out)
{
    cu_kernel_node kernel = {0};
    const char *name = NULL;
    const cu_result result = driver->cuGraphKernelNodeGetParams_v2 != NULL
                                 ? driver->cuGraphKernelNodeGetParams_v2(node, &kernel)
                                 : driver->cuGraphKernelNodeGetParams(node, &kernel);

    if (result != CU_SUCCESS)
        return;
    out->grid[0] = kernel.grid_x;
    out->grid[1] = kernel.grid_y;
    out->grid[2] = kernel.grid_z;
    out->block[0] = kernel.block_x;
    out->block[1] = kernel.block_y;
    out->block[2] = kernel.block_z;
    out->dynamic_shared_bytes = kernel.shared_bytes;
    /* The runtime's kernels may be known as such only. */
    if (kernel.function != NULL && driver->cuFuncGetName != NULL)
        driver->cuFuncGetName(&name, kernel.function);
    if (name == NULL && kernel.kernel != NULL && driver->cuKernelGetName != NULL)
        driver->cuKernelGetName(&name, kernel.kernel);
    if (name != NULL)
        snprintf(out->name, sizeof(out->name), "%s", name);
}

/* Appends the nodes of a graph, those of graphs inside it in their place. */
static ridge_status add_nodes(cuda_graph *graph, cu_graph native, int depth, ridge_error *err)
{
    cuda_device *const device = graph->device;
    const cuda_driver *const driver = &device->driver;
    cu_graph_node *natives = NULL;
    ridge_graph_node *grown;
    size_t count = 0, i;
    ridge_status status =
        cuda_check(device, driver->cuGraphGetNodes(native, NULL, &count), "cuGraphGetNodes", err);

    if (status != RIDGE_OK || count == 0)
        return status;
    natives = ridge_calloc(count, sizeof(cu_graph_node));
    grown = ridge_realloc_array(graph->nodes, graph->node_count + count, sizeof(*grown));
    if (grown != NULL)
        graph->nodes = grown;
    if (natives == NULL || grown == NULL) {
        status = cuda_no_host_memory(err);
        goto out;
    }
    status = cuda_check(device, driver->cuGraphGetNodes(native, natives, &count), "cuGraphGetNodes",
                        err);
    for (i = 0; i < count && status == RIDGE_OK; i++) {
        ridge_graph_node node = {{0}, {0}, {0}, {0}, 0};
        cu_graph child = NULL;
        unsigned type = ~0u;

        if (driver->cuGraphNodeGetType(natives[i], &type) != CU_SUCCESS)
            type = ~0u;
        if (type == CU_NODE_GRAPH && depth < GRAPH_DEPTH &&
            driver->cuGraphChildGraphNodeGetGraph != NULL &&
            driver->cuGraphChildGraphNodeGetGraph(natives[i], &child) == CU_SUCCESS) {
            status = add_nodes(graph, child, depth + 1, err);
            /* What is left of this graph still fits behind. */
            grown =
                ridge_realloc_array(graph->nodes, graph->node_count + count - i, sizeof(*grown));
            if (status == RIDGE_OK && grown == NULL)
                status = cuda_no_host_memory(err);
            graph->nodes = grown != NULL ? grown : graph->nodes;
            continue;
        }
        snprintf(node.kind, sizeof(node.kind), "%s", kind_of(type));
        if (type == CU_NODE_KERNEL)
            read_kernel(driver, natives[i], &node);
        graph->nodes[graph->node_count++] = node;
    }
out:
    ridge_free(natives);
    return status;
}

size_t cuda_graph_node_count(const ridge_graph *graph)
{
    return graph_of(graph)->node_count;
}

bool cuda_graph_node_at(const ridge_graph *graph, size_t index, ridge_graph_node *out)
{
    if (index >= graph_of(graph)->node_count)
        return false;
    *out = graph_of(graph)->nodes[index];
    return true;
}

/* -- graphs ------------------------------------------------------------------------------------ */

void cuda_graph_free(ridge_graph *base)
{
    cuda_graph *const graph = (cuda_graph *)base;

    if (graph == NULL)
        return;
    if (cuda_enter(graph->device, NULL) == RIDGE_OK) {
        if (graph->owns_exec && graph->exec != NULL)
            graph->device->driver.cuGraphExecDestroy(graph->exec);
        if (graph->owns_graph && graph->graph != NULL)
            graph->device->driver.cuGraphDestroy(graph->graph);
    }
    ridge_free(graph->nodes);
    ridge_free(graph);
}

static cuda_graph *graph_create(ridge_device *base)
{
    cuda_graph *const graph = ridge_calloc(1, sizeof(*graph));

    if (graph != NULL) {
        graph->base.device = base;
        graph->device = cuda_of(base);
    }
    return graph;
}

ridge_status cuda_capture_end(ridge_stream *stream, ridge_graph **out, ridge_error *err)
{
    cuda_device *const device = cuda_of(stream->device);
    const cuda_driver *const driver = &device->driver;
    cuda_graph *graph;
    cu_graph native = NULL;
    cu_result result;
    char fault[sizeof(device->capture_fault)];
    ridge_status status = cuda_enter(device, err);

    if (status != RIDGE_OK)
        return status;
    result = driver->cuStreamEndCapture(stream->native, &native);
    memcpy(fault, device->capture_fault, sizeof(fault));
    device->capture_fault[0] = '\0';
    leave_capture(device, stream);
    if (result != CU_SUCCESS)
        return capture_failed(device, result, fault, err);

    graph = graph_create(stream->device);
    if (graph == NULL) {
        driver->cuGraphDestroy(native);
        return cuda_no_host_memory(err);
    }
    graph->graph = native;
    graph->owns_graph = graph->owns_exec = true;
    status = add_nodes(graph, native, 0, err);
    if (status == RIDGE_OK)
        status = cuda_check(device, driver->cuGraphInstantiateWithFlags(&graph->exec, native, 0),
                            "cuGraphInstantiateWithFlags", err);
    if (status != RIDGE_OK) {
        cuda_graph_free(&graph->base);
        return status;
    }
    *out = &graph->base;
    return RIDGE_OK;
}

/* The driver does not list the nodes of an instance: without its graph it has none here. */
ridge_status cuda_graph_of_native(ridge_device *base, void *native, void *graph_exec,
                                  ridge_graph **out, ridge_error *err)
{
    cuda_graph *const graph = graph_create(base);
    ridge_status status = cuda_enter(cuda_of(base), err);

    if (graph == NULL)
        return cuda_no_host_memory(err);
    graph->exec = graph_exec;
    graph->graph = native;
    if (status == RIDGE_OK && native != NULL)
        status = add_nodes(graph, native, 0, err);
    if (status == RIDGE_OK && graph_exec == NULL) {
        graph->owns_exec = true;
        status =
            cuda_check(graph->device,
                       graph->device->driver.cuGraphInstantiateWithFlags(&graph->exec, native, 0),
                       "cuGraphInstantiateWithFlags", err);
    }
    if (status != RIDGE_OK) {
        cuda_graph_free(&graph->base);
        return status;
    }
    *out = &graph->base;
    return RIDGE_OK;
}

/* -- launching --------------------------------------------------------------------------------- */

/* An instance cannot be launched into a capture; its graph becomes a node of the captured one. */
static ridge_status add_to_capture(const cuda_graph *graph, cu_stream stream, ridge_error *err)
{
    cuda_device *const device = graph->device;
    const cuda_driver *const driver = &device->driver;
    const cu_graph_node *before = NULL;
    cu_graph_node node = NULL;
    cu_graph captured = NULL;
    unsigned capturing = CU_CAPTURE_NONE;
    uint64_t id = 0;
    size_t count = 0;
    ridge_status status;

    if (driver->cuStreamGetCaptureInfo_v3 == NULL || driver->cuGraphAddChildGraphNode == NULL ||
        driver->cuStreamUpdateCaptureDependencies_v2 == NULL)
        return ridge_fail(
            err, RIDGE_ERR_UNSUPPORTED,
            "this driver cannot put a graph into another, expected one for CUDA 12.3 or "
            "later");
    status = cuda_check(device,
                        driver->cuStreamGetCaptureInfo_v3(stream, &capturing, &id, &captured,
                                                          &before, NULL, &count),
                        "cuStreamGetCaptureInfo", err);
    if (status == RIDGE_OK)
        status = cuda_check(
            device, driver->cuGraphAddChildGraphNode(&node, captured, before, count, graph->graph),
            "cuGraphAddChildGraphNode", err);
    if (status == RIDGE_OK)
        status = cuda_check(
            device,
            driver->cuStreamUpdateCaptureDependencies_v2(stream, &node, NULL, 1, CU_CAPTURE_SET),
            "cuStreamUpdateCaptureDependencies", err);
    return status;
}

ridge_status cuda_graph_launch(ridge_graph *base, cu_stream stream, ridge_error *err)
{
    cuda_graph *const graph = (cuda_graph *)base;
    const cuda_driver *const driver = &graph->device->driver;
    unsigned capturing = CU_CAPTURE_NONE;

    if (graph->graph != NULL && driver->cuStreamIsCapturing(stream, &capturing) == CU_SUCCESS &&
        capturing == CU_CAPTURE_ACTIVE)
        return add_to_capture(graph, stream, err);
    return cuda_check(graph->device, driver->cuGraphLaunch(graph->exec, stream), "cuGraphLaunch",
                      err);
}
