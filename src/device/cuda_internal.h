/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA device, shared by cuda_*.c. Operations that need a context make the primary one current
 * when another is; recording an event, launching a kernel and launching a graph do not look, as
 * they are timed: ridge_device_make_current() is for threads that start with them. */
#ifndef RIDGE_DEVICE_CUDA_INTERNAL_H
#define RIDGE_DEVICE_CUDA_INTERNAL_H

#include "device/cuda_driver.h"
#include "device/device_internal.h"
#include "device/nvml.h"

typedef struct cuda_device {
    ridge_device base;
    cuda_driver driver;
    nvml management;
    nvml_handle handle; /* NULL: NVML does not know it */
    cu_device ordinal;
    cu_context context;   /* the primary one, retained; NULL: not yet */
    size_t granule_bytes; /* of virtual memory; 0: not asked yet */
    /* The first call that broke a rule of the capture that is going on; "": none. */
    char capture_fault[160];
} cuda_device;

static inline cuda_device *cuda_of(ridge_device *device)
{
    return (cuda_device *)device;
}

/* Makes the context current. */
ridge_status cuda_enter(cuda_device *device, ridge_error *err);
/* RIDGE_OK for CU_SUCCESS, else RIDGE_ERR_CUDA with the call and the driver's words; a call that
 * broke a capture is noted for capture_end. */
ridge_status cuda_check(cuda_device *device, cu_result result, const char *call, ridge_error *err);
/* The same for "out of memory": RIDGE_ERR_OUT_OF_MEMORY with the bytes wanted and free. */
ridge_status cuda_check_memory(cuda_device *device, cu_result result, const char *call,
                               size_t size_bytes, ridge_error *err);
ridge_status cuda_no_host_memory(ridge_error *err);

/* -- operations, see device_internal.h --------------------------------------------------------- */

/* cuda_memory.c */
ridge_status cuda_alloc(ridge_device *device, size_t size_bytes, void **out, ridge_error *err);
void cuda_release(ridge_device *device, void *data);
ridge_status cuda_free_bytes(ridge_device *device, size_t *out, ridge_error *err);
ridge_status cuda_upload(ridge_device *device, void *to, const void *from, size_t size_bytes,
                         ridge_error *err);
ridge_status cuda_download(ridge_device *device, void *to, const void *from, size_t size_bytes,
                           ridge_error *err);
ridge_status cuda_copy(ridge_device *device, ridge_stream *stream, void *to, const void *from,
                       size_t size_bytes, ridge_error *err);
ridge_status cuda_alloc_shared(ridge_device *device, size_t size_bytes, void **host,
                               void **device_address, ridge_error *err);
void cuda_release_shared(ridge_device *device, void *host);
ridge_status cuda_map(ridge_device *device, size_t size_bytes, bool fence, size_t alias_bytes,
                      ridge_mapping **out, void **data, ridge_error *err);
void cuda_mapping_free(ridge_mapping *mapping);

/* cuda_stream.c */
ridge_status cuda_stream_create(ridge_device *device, ridge_stream **out, ridge_error *err);
void cuda_stream_free(ridge_stream *stream);
ridge_status cuda_stream_synchronize(ridge_stream *stream, ridge_error *err);
ridge_status cuda_stream_wait(ridge_stream *stream, ridge_event *event, ridge_error *err);
ridge_status cuda_event_create(ridge_device *device, ridge_event **out, ridge_error *err);
void cuda_event_free(ridge_event *event);
ridge_status cuda_event_record(ridge_event *event, ridge_stream *stream, ridge_error *err);
ridge_status cuda_event_synchronize(ridge_event *event, ridge_error *err);
ridge_status cuda_event_elapsed_ns(const ridge_event *from, const ridge_event *to, double *out,
                                   ridge_error *err);

/* cuda_image.c: RIDGE_ERR_FORMAT for what is neither a cubin, a fat binary nor a text, or is cut
 * short. *text: it is one, PTX, and the driver needs a NUL behind it. */
ridge_status cuda_image_check(const void *data, size_t size_bytes, bool *text, ridge_error *err);

/* cuda_module.c */
ridge_status cuda_module_load(ridge_device *device, const void *image, size_t size_bytes, char *log,
                              size_t log_size, ridge_gpu_module **out, ridge_error *err);
void cuda_module_free(ridge_gpu_module *module);
ridge_status cuda_module_function(ridge_gpu_module *module, const char *name,
                                  ridge_gpu_function **out, ridge_error *err);

/* cuda_function.c */
typedef struct cuda_function {
    ridge_gpu_function base;
    cu_function native;
    size_t dynamic_limit_bytes; /* of dynamic shared memory, as set */
    bool large_clusters;        /* clusters of more than 8 blocks are allowed */
    struct cuda_function *next; /* of the module */
    char *name;
} cuda_function;

/* Sets what is asked for once: the limit that launches start from. */
ridge_status cuda_function_init(cuda_function *function, ridge_error *err);
ridge_status cuda_function_get_info(const ridge_gpu_function *function,
                                    ridge_gpu_function_info *out, ridge_error *err);
ridge_status cuda_function_occupancy(const ridge_gpu_function *function, int threads,
                                     size_t dynamic_shared_bytes, int *out, ridge_error *err);
ridge_status cuda_function_launch(ridge_gpu_function *function, const ridge_gpu_launch *launch,
                                  void *const *parameters, struct CUstream_st *native,
                                  ridge_error *err);

/* cuda_tensor_map.c */
ridge_status cuda_tensor_map_encode(ridge_device *device, const ridge_tensor_map *map, void *out,
                                    ridge_error *err);

/* cuda_graph.c */
ridge_status cuda_capture_begin(ridge_stream *stream, bool strict, ridge_error *err);
ridge_status cuda_capture_end(ridge_stream *stream, ridge_graph **out, ridge_error *err);
ridge_status cuda_graph_of_native(ridge_device *device, void *native, void *graph_exec,
                                  ridge_graph **out, ridge_error *err);
void cuda_graph_free(ridge_graph *graph);
size_t cuda_graph_node_count(const ridge_graph *graph);
bool cuda_graph_node_at(const ridge_graph *graph, size_t index, ridge_graph_node *out);
ridge_status cuda_graph_launch(ridge_graph *graph, cu_stream stream, ridge_error *err);

#endif
