/* SPDX-License-Identifier: Apache-2.0
 *
 * A kind of device is a table of functions. device.c checks arguments and dispatches; a kind
 * extends the structures below as their first member.
 *
 * Contract of every operation: pointers are valid and not NULL where the public function says so,
 * sizes have been checked for what device.c can check, outputs are NULL or zero before the call.
 * An operation that a kind has not stays NULL and is answered with RIDGE_ERR_UNSUPPORTED. */
#ifndef RIDGE_DEVICE_INTERNAL_H
#define RIDGE_DEVICE_INTERNAL_H

#include "ridge/device.h"

struct device_ops;
struct harness;

/* A kind allocates its own structure with this as the first member; free() of the table frees it,
 * after harness_free() was called by device.c. */
struct ridge_device {
    ridge_device_info info;
    const struct device_ops *ops;
    struct harness *harness; /* kernels of the harness on a GPU, loaded at first use; else NULL */
    ridge_gpu_module *shared_modules; /* newest first; freed by device.c before the device */
};

/* Likewise first members; the front fills in device after the kind's create succeeded. */
struct ridge_stream {
    ridge_device *device;
    struct CUstream_st *native; /* NULL on the CPU */
};
struct ridge_event {
    ridge_device *device;
};
struct ridge_mapping {
    ridge_device *device;
};
struct ridge_gpu_module {
    ridge_device *device;
    const void *image; /* of a shared one */
    ridge_gpu_module *next;
};
struct ridge_gpu_function {
    ridge_gpu_module *module;
    ridge_device *device; /* the kind fills in both */
};
struct ridge_graph {
    ridge_device *device;
};

/* Names and parameters are those of ridge/device.h. */
struct device_ops {
    void (*free)(ridge_device *device); /* with the structure itself */
    ridge_status (*make_current)(ridge_device *device, ridge_error *err);
    ridge_status (*synchronize)(ridge_device *device, ridge_error *err);
    bool (*reset_persisting_l2)(ridge_device *device);
    size_t (*persisting_l2_limit)(ridge_device *device);
    int (*other_processes)(ridge_device *device);
    void (*read_clocks)(ridge_device *device, ridge_clock_reading *out); /* out is all unknown */

    ridge_status (*alloc)(ridge_device *device, size_t size_bytes, void **out, ridge_error *err);
    void (*release)(ridge_device *device, void *data); /* never NULL */
    ridge_status (*free_bytes)(ridge_device *device, size_t *out, ridge_error *err);
    /* size_bytes is not 0 in these three. */
    ridge_status (*upload)(ridge_device *device, void *to, const void *from, size_t size_bytes,
                           ridge_error *err);
    ridge_status (*download)(ridge_device *device, void *to, const void *from, size_t size_bytes,
                             ridge_error *err);
    ridge_status (*copy)(ridge_device *device, ridge_stream *stream, void *to, const void *from,
                         size_t size_bytes, ridge_error *err);
    /* Memory of the host that kernels of the device see at *device_address, for flags that the
     * host writes while a kernel runs. size_bytes is not 0; the memory is zero. */
    ridge_status (*alloc_shared)(ridge_device *device, size_t size_bytes, void **host,
                                 void **device_address, ridge_error *err);
    void (*release_shared)(ridge_device *device, void *host);
    /* size_bytes is not 0, and not less than alias_bytes. */
    ridge_status (*map)(ridge_device *device, size_t size_bytes, bool fence, size_t alias_bytes,
                        ridge_mapping **out, void **data, ridge_error *err);
    void (*mapping_free)(ridge_mapping *mapping);

    ridge_status (*stream_create)(ridge_device *device, ridge_stream **out, ridge_error *err);
    void (*stream_free)(ridge_stream *stream);
    ridge_status (*stream_synchronize)(ridge_stream *stream, ridge_error *err);
    ridge_status (*stream_wait)(ridge_stream *stream, ridge_event *event, ridge_error *err);
    ridge_status (*event_create)(ridge_device *device, ridge_event **out, ridge_error *err);
    void (*event_free)(ridge_event *event);
    ridge_status (*event_record)(ridge_event *event, ridge_stream *stream, ridge_error *err);
    ridge_status (*event_synchronize)(ridge_event *event, ridge_error *err);
    ridge_status (*event_elapsed_ns)(const ridge_event *from, const ridge_event *to, double *out,
                                     ridge_error *err);

    ridge_status (*module_load)(ridge_device *device, const void *image, size_t size_bytes,
                                char *log, size_t log_size, ridge_gpu_module **out,
                                ridge_error *err);
    void (*module_free)(ridge_gpu_module *module);
    ridge_status (*module_function)(ridge_gpu_module *module, const char *name,
                                    ridge_gpu_function **out, ridge_error *err);
    ridge_status (*function_get_info)(const ridge_gpu_function *function,
                                      ridge_gpu_function_info *out, ridge_error *err);
    ridge_status (*function_occupancy)(const ridge_gpu_function *function, int threads,
                                       size_t dynamic_shared_bytes, int *out, ridge_error *err);
    ridge_status (*function_launch)(ridge_gpu_function *function, const ridge_gpu_launch *launch,
                                    void *const *parameters, struct CUstream_st *native,
                                    ridge_error *err);
    ridge_status (*tensor_map_encode)(ridge_device *device, const ridge_tensor_map *map, void *out,
                                      ridge_error *err);

    ridge_status (*capture_begin)(ridge_stream *stream, bool strict, ridge_error *err);
    ridge_status (*capture_end)(ridge_stream *stream, ridge_graph **out, ridge_error *err);
    ridge_status (*graph_of_native)(ridge_device *device, void *graph, void *graph_exec,
                                    ridge_graph **out, ridge_error *err);
    void (*graph_free)(ridge_graph *graph);
    size_t (*graph_node_count)(const ridge_graph *graph);
    bool (*graph_node_at)(const ridge_graph *graph, size_t index, ridge_graph_node *out);
    ridge_status (*graph_launch)(ridge_graph *graph, struct CUstream_st *native, ridge_error *err);
};

enum {
    DEVICE_ALIGNMENT = 256,      /* of alloc */
    DEVICE_FENCE_ALIGNMENT = 16, /* a fenced range begins at a multiple of it */
    DEVICE_TENSOR_MAP_BYTES = 128
};

/* harness.c. Frees device->harness; nothing where there is none. */
void harness_free(ridge_device *device);

/* cpu_device.c. *out has every member but harness filled in; so has cuda_device_open()'s. */
ridge_status cpu_device_open(ridge_device **out, ridge_error *err);

/* cuda_*.c. index: the CUDA ordinal. */
ridge_status cuda_device_open(int index, ridge_device **out, ridge_error *err);
/* 0, and *why (never NULL here) a borrowed text of what was looked for, where there is none. */
int cuda_gpu_count(const char **why);

#endif
