/* SPDX-License-Identifier: Apache-2.0
 *
 * Where kernels run: a CUDA GPU through the driver API, loaded at run time (libcuda.so.1), or the
 * CPU device, which has the same interface, so that all above it runs and is tested anywhere.
 *
 *     ridge_device_open("cuda") -> ridge_device
 *     ridge_device_alloc(), _upload(), _fill() ...          memory
 *     ridge_stream_create(), ridge_event_record() ...       order and time
 *     ridge_gpu_module_load(), ridge_gpu_function_launch() ...      machine code (GPU only)
 *     ridge_device_free()
 *
 * The CUDA device retains the primary context, the one PyTorch uses, and makes it current for the
 * calling thread. The CPU device: memory is the host's, a stream does its work before a call
 * returns, events are readings of the monotonic clock; it has no modules, graphs or clocks.
 *
 * A failure of the driver is RIDGE_ERR_CUDA with the call, the driver's name of the error and its
 * text; out of device memory is RIDGE_ERR_OUT_OF_MEMORY with the bytes wanted and free. */
#ifndef RIDGE_DEVICE_H
#define RIDGE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ridge/family.h"
#include "ridge/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -- devices ----------------------------------------------------------------------------------- */

typedef enum ridge_device_kind { RIDGE_DEVICE_CPU, RIDGE_DEVICE_CUDA } ridge_device_kind;

/* What a device is; unknown numbers are 0, unknown rates NAN, unknown texts "". */
typedef struct ridge_device_info {
    ridge_device_kind kind;
    int index;
    char name[96];           /* "NVIDIA H200" */
    char uuid[48];           /* "GPU-..."; CPU: "" */
    char driver[32];         /* "580.159.04", by NVML */
    int cuda_driver_version; /* 13000 */
    int sm_version;          /* 90 */
    int sm_count;            /* CPU: threads */
    int warp_size;
    int threads_per_sm, registers_per_sm;
    size_t shared_per_block_bytes, shared_per_sm_bytes; /* opt-in limit; of an SM */
    size_t l2_bytes;                                    /* CPU: last cache level, 32 MiB unknown */
    size_t persisting_l2_bytes;
    uint64_t memory_bytes;
    double clock_hz;           /* greatest SM clock */
    double memory_bytes_per_s; /* from bus width and memory clock */
    double power_limit_w;
    bool is_ecc, is_mig, has_clocks; /* has_clocks: NVML answers */
    bool has_graphs, has_modules, has_virtual_memory;
    char virtualization[32]; /* "", "passthrough", "vgpu" */
} ridge_device_info;

/* GPUs of this machine; 0 where there is no driver, and then *why (borrowed, may be NULL) says
 * what was looked for. Never fails. */
int ridge_device_gpu_count(const char **why);

/* "cpu", "cuda", "cuda:1"; NULL or "auto": cuda:0 when there is one, else cpu. Another name is
 * RIDGE_ERR_INVALID_ARGUMENT, a GPU that is not there RIDGE_ERR_NO_DEVICE. *out is new: ridge_device_free(), after everything that came from it. */
ridge_status ridge_device_open(const char *name, ridge_device **out, ridge_error *err);
void ridge_device_free(ridge_device *device);
const ridge_device_info *ridge_device_get_info(const ridge_device *device);
/* Makes the context current for the calling thread; nothing on the CPU. */
ridge_status ridge_device_make_current(ridge_device *device, ridge_error *err);
/* Waits for everything that was started in the context, on any stream. */
ridge_status ridge_device_synchronize(ridge_device *device, ridge_error *err);
/* Sets the persisting-L2 limit to 0 and resets persisting lines; false: it is not 0 now. */
bool ridge_device_reset_persisting_l2(ridge_device *device);
/* That limit as it is now, in bytes; 0 where there is none. */
size_t ridge_device_persisting_l2_limit(ridge_device *device);
/* Other processes computing on the device; -1: not known. */
int ridge_device_other_processes(ridge_device *device);

/* -- clocks and power -------------------------------------------------------------------------- */

/* Reasons the clock is below its greatest, of NVML's. */
enum {
    RIDGE_CLOCK_IDLE = 1 << 0,
    RIDGE_CLOCK_POWER_CAP = 1 << 1, /* software power cap or power brake */
    RIDGE_CLOCK_THERMAL = 1 << 2,
    RIDGE_CLOCK_LOCKED = 1 << 3, /* set by the user */
    RIDGE_CLOCK_OTHER = 1 << 4
};

typedef struct ridge_clock_reading {
    double sm_hz, memory_hz, power_w, temperature_c; /* NAN: unknown */
    unsigned reasons;                                /* RIDGE_CLOCK_... */
} ridge_clock_reading;

void ridge_device_read_clocks(ridge_device *device, ridge_clock_reading *out);

/* What a GPU is, its clocks and the processes that compute on it (-1: not known), without opening
 * it: no context, so it takes no memory there. index as in "cuda:1". RIDGE_ERR_NO_DEVICE. */
ridge_status ridge_device_look(int index, ridge_device_info *info, ridge_clock_reading *clocks,
                               int *processes, ridge_error *err);

/* -- memory ------------------------------------------------------------------------------------ */

/* Aligned to at least 256 bytes. size_bytes 0 gives a valid address that must not be accessed. */
ridge_status ridge_device_alloc(ridge_device *device, size_t size_bytes, void **out,
                                ridge_error *err);
void ridge_device_release(ridge_device *device, void *data); /* NULL allowed */
ridge_status ridge_device_free_bytes(ridge_device *device, size_t *out, ridge_error *err);
ridge_status ridge_device_upload(ridge_device *device, void *to, const void *from,
                                 size_t size_bytes, ridge_error *err);
ridge_status ridge_device_download(ridge_device *device, void *to, const void *from,
                                   size_t size_bytes, ridge_error *err);

/* Memory by the virtual memory API (CPU: mmap): RIDGE_ERR_UNSUPPORTED where it is missing.
 * fence: the range ends exactly at the end of what is mapped (size_bytes rounded up to 16 bytes,
 * so that *data is aligned to 16), with nothing mapped behind it.
 * alias_bytes > 0: one granule of at least that many bytes is mapped again and again over
 * size_bytes, so that a large read-only range costs little memory. */
typedef struct ridge_mapping ridge_mapping;
ridge_status ridge_device_map(ridge_device *device, size_t size_bytes, bool fence,
                              size_t alias_bytes, ridge_mapping **out, void **data,
                              ridge_error *err);
void ridge_mapping_free(ridge_mapping *mapping);

/* -- streams and events ------------------------------------------------------------------------ */

typedef struct ridge_stream ridge_stream;
typedef struct ridge_event ridge_event;

/* Non-blocking: not ordered with the legacy default stream. */
ridge_status ridge_stream_create(ridge_device *device, ridge_stream **out, ridge_error *err);
void ridge_stream_free(ridge_stream *stream);
struct CUstream_st *ridge_stream_native(const ridge_stream *stream); /* NULL on the CPU */
ridge_status ridge_stream_synchronize(ridge_stream *stream, ridge_error *err);
/* An event on one stream that another waits for. */
ridge_status ridge_stream_wait(ridge_stream *stream, ridge_event *event, ridge_error *err);

ridge_status ridge_event_create(ridge_device *device, ridge_event **out, ridge_error *err);
void ridge_event_free(ridge_event *event);
ridge_status ridge_event_record(ridge_event *event, ridge_stream *stream, ridge_error *err);
ridge_status ridge_event_synchronize(ridge_event *event, ridge_error *err);
/* Nanoseconds between two events that have happened. */
ridge_status ridge_event_elapsed_ns(const ridge_event *from, const ridge_event *to, double *out,
                                    ridge_error *err);

/* -- modules and launches (GPU) ---------------------------------------------------------------- */

typedef struct ridge_gpu_module ridge_gpu_module;
typedef struct ridge_gpu_function ridge_gpu_function;

/* cubin, fat binary or PTX, at once (no lazy loading). The compiler's log of PTX goes to log
 * (borrowed by nobody; may be NULL). RIDGE_ERR_ARCH: no code for this GPU. */
ridge_status ridge_gpu_module_load(ridge_device *device, const void *image, size_t size_bytes,
                                   char *log, size_t log_size, ridge_gpu_module **out,
                                   ridge_error *err);
void ridge_gpu_module_free(ridge_gpu_module *module);
/* The same for an image that stays where it is, embedded code: loaded once for a device and freed
 * with it, so that everybody who asks runs the same instructions from the same addresses. *out is
 * borrowed from the device. Not for two threads at once. */
ridge_status ridge_gpu_module_shared(ridge_device *device, const void *image, size_t size_bytes,
                                     ridge_gpu_module **out, ridge_error *err);
/* *out is borrowed from the module. The message of a missing name lists those there are. */
ridge_status ridge_gpu_module_function(ridge_gpu_module *module, const char *name,
                                       ridge_gpu_function **out, ridge_error *err);

typedef struct ridge_gpu_function_info {
    int registers_per_thread, threads_per_block_most, binary_version;
    size_t static_shared_bytes, local_bytes;
    /* Parameters by the driver (CUDA 12.4 or later); parameter_count -1: it does not say. */
    int parameter_count;
    uint32_t parameter_offset[128], parameter_bytes[128];
} ridge_gpu_function_info;

ridge_status ridge_gpu_function_get_info(const ridge_gpu_function *function,
                                         ridge_gpu_function_info *out, ridge_error *err);
/* Blocks of an SM with this much dynamic shared memory. */
ridge_status ridge_gpu_function_occupancy(const ridge_gpu_function *function, int threads,
                                          size_t dynamic_shared_bytes, int *out, ridge_error *err);

typedef struct ridge_gpu_launch {
    unsigned grid[3], block[3], cluster[3]; /* cluster 0: none */
    size_t dynamic_shared_bytes;            /* above 48 KiB the limit is raised */
    bool programmatic_dependent_launch;
} ridge_gpu_launch;

/* parameters[i] points to the value of parameter i. native: ridge_stream_native(). */
ridge_status ridge_gpu_function_launch(ridge_gpu_function *function, const ridge_gpu_launch *launch,
                                       void *const *parameters, struct CUstream_st *native,
                                       ridge_error *err);

/* A tensor map of cuTensorMapEncodeTiled; out has 128 bytes. */
typedef struct ridge_tensor_map {
    void *data;
    ridge_dtype dtype;
    int rank;                 /* 1 ... 5 */
    uint64_t extent[5];       /* elements, fastest first */
    uint64_t stride_bytes[4]; /* of dimensions 1 ... rank - 1 */
    uint32_t box[5], element_stride[5];
    int swizzle_bytes;      /* 0, 32, 64, 128 */
    int interleave_bytes;   /* 0, 16, 32 */
    int l2_promotion_bytes; /* 0, 64, 128, 256 */
    bool nan_fill;
} ridge_tensor_map;
ridge_status ridge_tensor_map_encode(ridge_device *device, const ridge_tensor_map *map, void *out,
                                     ridge_error *err);

/* -- graphs (GPU) ------------------------------------------------------------------------------ */

typedef struct ridge_graph ridge_graph;

/* What a graph launches, in the order of its nodes. */
typedef struct ridge_graph_node {
    char kind[16];  /* "kernel", "copy", "memset", "host", "other" */
    char name[200]; /* of a kernel, mangled; "" unknown */
    unsigned grid[3], block[3];
    size_t dynamic_shared_bytes;
} ridge_graph_node;

/* Relaxed or thread-local capture by strict: strict refuses what an operation that leaks to another
 * stream, allocates or synchronises does. */
ridge_status ridge_capture_begin(ridge_stream *stream, bool strict, ridge_error *err);
/* RIDGE_ERR_CUDA says which rule was broken; the stream is usable again afterwards. */
ridge_status ridge_capture_end(ridge_stream *stream, ridge_graph **out, ridge_error *err);
/* Borrows an instantiated CUgraphExec that somebody else made (PyTorch). */
ridge_status ridge_graph_of_native(ridge_device *device, void *graph_exec, ridge_graph **out,
                                   ridge_error *err);
/* The same with the CUgraph that it is an instance of, borrowed too: its nodes are listed, and a
 * launch on a stream that captures makes it a part of what is captured, which an instance alone
 * cannot be. graph_exec NULL: an own instance is made. */
ridge_status ridge_graph_of_natives(ridge_device *device, void *graph, void *graph_exec,
                                    ridge_graph **out, ridge_error *err);
void ridge_graph_free(ridge_graph *graph);
size_t ridge_graph_node_count(const ridge_graph *graph);
/* false behind the last. */
bool ridge_graph_node_at(const ridge_graph *graph, size_t index, ridge_graph_node *out);
ridge_status ridge_graph_launch(ridge_graph *graph, ridge_stream *stream, ridge_error *err);
/* On a stream as a kernel's launch() is given it. */
ridge_status ridge_graph_launch_native(ridge_graph *graph, struct CUstream_st *native,
                                       ridge_error *err);

/* -- kernels of the harness -------------------------------------------------------------------- */

/* All of these are asynchronous on a GPU and have the same result, bit for bit, on both devices. */

/* Fills the logical elements of a tensor with ridge_fill_value(), rounded; data is the address of
 * element (0, 0, ...); what lies between elements is untouched. An axis of stride 0 is filled as one
 * of extent 1. Buffers of one case that shall
 * differ get different seeds; index, zero and one do not depend on it. */
ridge_status ridge_device_fill(ridge_device *device, ridge_stream *stream,
                               const ridge_buffer_desc *buffer, ridge_values values, void *data,
                               uint64_t seed, ridge_error *err);
/* Every 4-byte word from data is set to value (the last may be cut). */
ridge_status ridge_device_set_words(ridge_device *device, ridge_stream *stream, void *data,
                                    size_t size_bytes, uint32_t value, ridge_error *err);
/* Bytes that depend on their position and on seed: what a guard band holds. */
ridge_status ridge_device_pattern(ridge_device *device, ridge_stream *stream, void *data,
                                  size_t size_bytes, uint64_t seed, ridge_error *err);
/* Synchronous: how many bytes differ from the pattern and the offset of the first. */
ridge_status ridge_device_pattern_check(ridge_device *device, ridge_stream *stream,
                                        const void *data, size_t size_bytes, uint64_t seed,
                                        uint64_t *wrong_bytes, uint64_t *first_offset,
                                        ridge_error *err);
/* Synchronous: 64-bit hash of a range, the same on both devices. */
ridge_status ridge_device_hash(ridge_device *device, ridge_stream *stream, const void *data,
                               size_t size_bytes, uint64_t *out, ridge_error *err);
/* Asynchronous copy on the stream. */
ridge_status ridge_device_copy(ridge_device *device, ridge_stream *stream, void *to,
                               const void *from, size_t size_bytes, ridge_error *err);

/* The gate: a one-block kernel that spins until it is opened, so that what is queued behind it
 * runs back to back. Opens itself after two seconds. Nothing on the CPU. */
ridge_status ridge_device_gate_close(ridge_device *device, ridge_stream *stream, ridge_error *err);
void ridge_device_gate_open(ridge_device *device);
/* An empty kernel of this grid and block. */
ridge_status ridge_device_empty(ridge_device *device, ridge_stream *stream, unsigned grid,
                                unsigned block, ridge_error *err);
/* A kernel that overwrites every SM's shared memory. */
ridge_status ridge_device_scrub_shared(ridge_device *device, ridge_stream *stream,
                                       ridge_error *err);
/* Clock pair: begin and end note cycles and time on the stream; then the mean SM clock between
 * them, NAN where it is not known. Synchronises in _read. */
ridge_status ridge_device_clock_begin(ridge_device *device, ridge_stream *stream, ridge_error *err);
ridge_status ridge_device_clock_end(ridge_device *device, ridge_stream *stream, ridge_error *err);
double ridge_device_clock_read(ridge_device *device, ridge_stream *stream);

/* Kernels to measure a machine with, as ridge_kernels of the family "probe" named probe:copy ...:
 *
 *     copy   out = in, of bytes bytes in the case's type
 *     read   out[r] = the sum of row r; rows of at most 1024 f32, of bytes bytes together
 *     fma    x = fma(0.5, x, in), iterations times from 0, in each of 256 threads of blocks blocks
 *     mma    four times iterations times the product of two bf16 tiles, in 8 warps a block;
 *            GPU only, sm_80
 *     tiny   out[i] = i modulo 2^24, by one thread an element
 *
 * Axes: bytes, iterations, blocks, extra and variant. extra is how much of the work is done once
 * more, in hundredths of a percent (150: 1.5 %): answer and work model stay the same, only the
 * time changes; a copy on the GPU in whole tiles of 16 KiB, spread evenly. variant 0 or 1 is the
 * same code compiled twice, on the CPU run twice. */
const ridge_family *ridge_probe_family(void);

#ifdef __cplusplus
}
#endif
#endif
