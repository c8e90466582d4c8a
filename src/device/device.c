/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens a device by name and dispatches to its kind; what no kind wants to say twice is here. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device_internal.h"

static ridge_status has_not(const ridge_device *device, const char *what, ridge_error *err)
{
    return ridge_fail(err, RIDGE_ERR_UNSUPPORTED, "%s has no %s",
                      device->info.kind == RIDGE_DEVICE_CPU ? "the CPU device" : device->info.name,
                      what);
}

/* -- devices ----------------------------------------------------------------------------------- */

int ridge_device_gpu_count(const char **why)
{
    const char *reason = "";
    const int count = cuda_gpu_count(&reason);

    if (why != NULL)
        *why = reason;
    return count;
}

ridge_status ridge_device_open(const char *name, ridge_device **out, ridge_error *err)
{
    int index = 0, end = 0;

    *out = NULL;
    if (name == NULL || strcmp(name, "auto") == 0)
        name = ridge_device_gpu_count(NULL) > 0 ? "cuda" : "cpu";
    if (strcmp(name, "cpu") == 0)
        return cpu_device_open(out, err);
    if (strcmp(name, "cuda") == 0 ||
        (sscanf(name, "cuda:%3d%n", &index, &end) == 1 && name[end] == '\0' && index >= 0 &&
         name[5] >= '0' && name[5] <= '9'))
        return cuda_device_open(index, out, err);
    return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                      "no device \"%.60s\": expected cpu, cuda, cuda:1 or auto", name);
}

void ridge_device_free(ridge_device *device)
{
    if (device == NULL)
        return;
    harness_free(device);
    while (device->shared_modules != NULL) {
        ridge_gpu_module *const module = device->shared_modules;

        device->shared_modules = module->next;
        ridge_gpu_module_free(module);
    }
    device->ops->free(device);
}

const ridge_device_info *ridge_device_get_info(const ridge_device *device)
{
    return &device->info;
}

ridge_status ridge_device_make_current(ridge_device *device, ridge_error *err)
{
    return device->ops->make_current != NULL ? device->ops->make_current(device, err) : RIDGE_OK;
}

ridge_status ridge_device_synchronize(ridge_device *device, ridge_error *err)
{
    return device->ops->synchronize != NULL ? device->ops->synchronize(device, err) : RIDGE_OK;
}

bool ridge_device_reset_persisting_l2(ridge_device *device)
{
    return device->ops->reset_persisting_l2 == NULL || device->ops->reset_persisting_l2(device);
}

size_t ridge_device_persisting_l2_limit(ridge_device *device)
{
    return device->ops->persisting_l2_limit != NULL ? device->ops->persisting_l2_limit(device) : 0;
}

int ridge_device_other_processes(ridge_device *device)
{
    return device->ops->other_processes != NULL ? device->ops->other_processes(device) : -1;
}

void ridge_device_read_clocks(ridge_device *device, ridge_clock_reading *out)
{
    const double unknown = (double)NAN;

    *out = (ridge_clock_reading){
        .sm_hz = unknown, .memory_hz = unknown, .power_w = unknown, .temperature_c = unknown};
    if (device->ops->read_clocks != NULL)
        device->ops->read_clocks(device, out);
}

/* -- memory ------------------------------------------------------------------------------------ */

ridge_status ridge_device_alloc(ridge_device *device, size_t size_bytes, void **out,
                                ridge_error *err)
{
    *out = NULL;
    return device->ops->alloc(device, size_bytes, out, err);
}

void ridge_device_release(ridge_device *device, void *data)
{
    if (data != NULL)
        device->ops->release(device, data);
}

ridge_status ridge_device_free_bytes(ridge_device *device, size_t *out, ridge_error *err)
{
    *out = 0;
    return device->ops->free_bytes(device, out, err);
}

ridge_status ridge_device_upload(ridge_device *device, void *to, const void *from,
                                 size_t size_bytes, ridge_error *err)
{
    return size_bytes > 0 ? device->ops->upload(device, to, from, size_bytes, err) : RIDGE_OK;
}

ridge_status ridge_device_download(ridge_device *device, void *to, const void *from,
                                   size_t size_bytes, ridge_error *err)
{
    return size_bytes > 0 ? device->ops->download(device, to, from, size_bytes, err) : RIDGE_OK;
}

ridge_status ridge_device_copy(ridge_device *device, ridge_stream *stream, void *to,
                               const void *from, size_t size_bytes, ridge_error *err)
{
    return size_bytes > 0 ? device->ops->copy(device, stream, to, from, size_bytes, err) : RIDGE_OK;
}

ridge_status ridge_device_map(ridge_device *device, size_t size_bytes, bool fence,
                              size_t alias_bytes, ridge_mapping **out, void **data,
                              ridge_error *err)
{
    ridge_status status;

    *out = NULL;
    *data = NULL;
    if (device->ops->map == NULL || !device->info.has_virtual_memory)
        return has_not(device, "virtual memory", err);
    if (size_bytes == 0)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "a mapping of 0 bytes");
    if (alias_bytes > size_bytes)
        alias_bytes = size_bytes;
    status = device->ops->map(device, size_bytes, fence, alias_bytes, out, data, err);
    if (status == RIDGE_OK)
        (*out)->device = device;
    return status;
}

void ridge_mapping_free(ridge_mapping *mapping)
{
    if (mapping != NULL)
        mapping->device->ops->mapping_free(mapping);
}

/* -- streams and events ------------------------------------------------------------------------ */

ridge_status ridge_stream_create(ridge_device *device, ridge_stream **out, ridge_error *err)
{
    ridge_status status;

    *out = NULL;
    status = device->ops->stream_create(device, out, err);
    if (status == RIDGE_OK)
        (*out)->device = device;
    return status;
}

void ridge_stream_free(ridge_stream *stream)
{
    if (stream != NULL)
        stream->device->ops->stream_free(stream);
}

struct CUstream_st *ridge_stream_native(const ridge_stream *stream)
{
    return stream != NULL ? stream->native : NULL;
}

ridge_status ridge_stream_synchronize(ridge_stream *stream, ridge_error *err)
{
    return stream->device->ops->stream_synchronize != NULL
               ? stream->device->ops->stream_synchronize(stream, err)
               : RIDGE_OK;
}

ridge_status ridge_stream_wait(ridge_stream *stream, ridge_event *event, ridge_error *err)
{
    return stream->device->ops->stream_wait != NULL
               ? stream->device->ops->stream_wait(stream, event, err)
               : RIDGE_OK;
}

ridge_status ridge_event_create(ridge_device *device, ridge_event **out, ridge_error *err)
{
    ridge_status status;

    *out = NULL;
    status = device->ops->event_create(device, out, err);
    if (status == RIDGE_OK)
        (*out)->device = device;
    return status;
}

void ridge_event_free(ridge_event *event)
{
    if (event != NULL)
        event->device->ops->event_free(event);
}

ridge_status ridge_event_record(ridge_event *event, ridge_stream *stream, ridge_error *err)
{
    return event->device->ops->event_record(event, stream, err);
}

ridge_status ridge_event_synchronize(ridge_event *event, ridge_error *err)
{
    return event->device->ops->event_synchronize(event, err);
}

ridge_status ridge_event_elapsed_ns(const ridge_event *from, const ridge_event *to, double *out,
                                    ridge_error *err)
{
    *out = (double)NAN;
    return from->device->ops->event_elapsed_ns(from, to, out, err);
}

/* -- modules ----------------------------------------------------------------------------------- */

ridge_status ridge_gpu_module_load(ridge_device *device, const void *image, size_t size_bytes,
                                   char *log, size_t log_size, ridge_gpu_module **out,
                                   ridge_error *err)
{
    ridge_status status;

    *out = NULL;
    if (log != NULL && log_size > 0)
        log[0] = '\0';
    if (device->ops->module_load == NULL)
        return has_not(device, "machine code to load", err);
    status = device->ops->module_load(device, image, size_bytes, log, log_size, out, err);
    if (status == RIDGE_OK)
        (*out)->device = device;
    return status;
}

void ridge_gpu_module_free(ridge_gpu_module *module)
{
    if (module != NULL)
        module->device->ops->module_free(module);
}

ridge_status ridge_gpu_module_shared(ridge_device *device, const void *image, size_t size_bytes,
                                     ridge_gpu_module **out, ridge_error *err)
{
    ridge_gpu_module *module;
    ridge_status status;

    for (module = device->shared_modules; module != NULL; module = module->next)
        if (module->image == image)
            break;
    if (module == NULL) {
        status = ridge_gpu_module_load(device, image, size_bytes, NULL, 0, &module, err);
        if (status != RIDGE_OK) {
            *out = NULL;
            return status;
        }
        module->image = image;
        module->next = device->shared_modules;
        device->shared_modules = module;
    }
    *out = module;
    return RIDGE_OK;
}

ridge_status ridge_gpu_module_function(ridge_gpu_module *module, const char *name,
                                       ridge_gpu_function **out, ridge_error *err)
{
    *out = NULL;
    return module->device->ops->module_function(module, name, out, err);
}

ridge_status ridge_gpu_function_get_info(const ridge_gpu_function *function,
                                         ridge_gpu_function_info *out, ridge_error *err)
{
    *out = (ridge_gpu_function_info){.parameter_count = -1};
    return function->device->ops->function_get_info(function, out, err);
}

ridge_status ridge_gpu_function_occupancy(const ridge_gpu_function *function, int threads,
                                          size_t dynamic_shared_bytes, int *out, ridge_error *err)
{
    *out = 0;
    return function->device->ops->function_occupancy(function, threads, dynamic_shared_bytes, out,
                                                     err);
}

ridge_status ridge_gpu_function_launch(ridge_gpu_function *function, const ridge_gpu_launch *launch,
                                       void *const *parameters, struct CUstream_st *native,
                                       ridge_error *err)
{
    return function->device->ops->function_launch(function, launch, parameters, native, err);
}

ridge_status ridge_tensor_map_encode(ridge_device *device, const ridge_tensor_map *map, void *out,
                                     ridge_error *err)
{
    memset(out, 0, DEVICE_TENSOR_MAP_BYTES);
    if (device->ops->tensor_map_encode == NULL)
        return has_not(device, "tensor maps", err);
    return device->ops->tensor_map_encode(device, map, out, err);
}

/* -- graphs ------------------------------------------------------------------------------------ */

ridge_status ridge_capture_begin(ridge_stream *stream, bool strict, ridge_error *err)
{
    if (stream->device->ops->capture_begin == NULL)
        return has_not(stream->device, "graphs", err);
    return stream->device->ops->capture_begin(stream, strict, err);
}

ridge_status ridge_capture_end(ridge_stream *stream, ridge_graph **out, ridge_error *err)
{
    ridge_status status;

    *out = NULL;
    if (stream->device->ops->capture_end == NULL)
        return has_not(stream->device, "graphs", err);
    status = stream->device->ops->capture_end(stream, out, err);
    if (status == RIDGE_OK)
        (*out)->device = stream->device;
    return status;
}

ridge_status ridge_graph_of_native(ridge_device *device, void *graph_exec, ridge_graph **out,
                                   ridge_error *err)
{
    return ridge_graph_of_natives(device, NULL, graph_exec, out, err);
}

ridge_status ridge_graph_of_natives(ridge_device *device, void *graph, void *graph_exec,
                                    ridge_graph **out, ridge_error *err)
{
    ridge_status status;

    *out = NULL;
    if (device->ops->graph_of_native == NULL)
        return has_not(device, "graphs", err);
    if (graph == NULL && graph_exec == NULL)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "neither a graph nor an instance of one");
    status = device->ops->graph_of_native(device, graph, graph_exec, out, err);
    if (status == RIDGE_OK)
        (*out)->device = device;
    return status;
}

void ridge_graph_free(ridge_graph *graph)
{
    if (graph != NULL)
        graph->device->ops->graph_free(graph);
}

size_t ridge_graph_node_count(const ridge_graph *graph)
{
    return graph->device->ops->graph_node_count(graph);
}

bool ridge_graph_node_at(const ridge_graph *graph, size_t index, ridge_graph_node *out)
{
    return graph->device->ops->graph_node_at(graph, index, out);
}

ridge_status ridge_graph_launch(ridge_graph *graph, ridge_stream *stream, ridge_error *err)
{
    return graph->device->ops->graph_launch(graph, stream->native, err);
}

ridge_status ridge_graph_launch_native(ridge_graph *graph, struct CUstream_st *native,
                                       ridge_error *err)
{
    return graph->device->ops->graph_launch(graph, native, err);
}
