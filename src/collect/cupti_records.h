/* SPDX-License-Identifier: Apache-2.0
 *
 * What ridge uses of CUPTI's activity interface, in declarations of its own. Records only ever grow
 * at their end (compared over CUPTI 11.8 to 13.5), so each structure here is the beginning of its
 * record in every one of these versions and says nothing of its size: the way from record to record
 * is CUPTI's. tests/unit/test_cupti_declarations.c compares with cupti.h where a toolkit is
 * installed. */
#ifndef RIDGE_COLLECT_CUPTI_RECORDS_H
#define RIDGE_COLLECT_CUPTI_RECORDS_H

#include <stddef.h>
#include <stdint.h>

/* Numbers of cuptiGetVersion(): 18 came with CUDA 11.8, from 13.0 on it is 130000 and so forth. */
enum { CUPTI_VERSION_LEAST = 18, CUPTI_VERSION_BEYOND = 140000 };

/* X(own name, cupti.h's name, number) */
#define CUPTI_NUMBERS(X)                                                                           \
    X(CUPTI_OK, CUPTI_SUCCESS, 0)                                                                  \
    X(CUPTI_LIMIT_REACHED, CUPTI_ERROR_MAX_LIMIT_REACHED, 12)                                      \
    X(CUPTI_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY, 1)                                                 \
    X(CUPTI_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET, 2)                                                 \
    X(CUPTI_KERNEL, CUPTI_ACTIVITY_KIND_KERNEL, 3)                                                 \
    X(CUPTI_DRIVER, CUPTI_ACTIVITY_KIND_DRIVER, 4)                                                 \
    X(CUPTI_RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME, 5)                                               \
    X(CUPTI_DEVICE, CUPTI_ACTIVITY_KIND_DEVICE, 8)                                                 \
    X(CUPTI_CONTEXT, CUPTI_ACTIVITY_KIND_CONTEXT, 9)                                               \
    X(CUPTI_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 10)                          \
    X(CUPTI_NAME, CUPTI_ACTIVITY_KIND_NAME, 11)                                                    \
    X(CUPTI_MARKER, CUPTI_ACTIVITY_KIND_MARKER, 12)                                                \
    X(CUPTI_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD, 17)                                            \
    X(CUPTI_MEMCPY_PEER, CUPTI_ACTIVITY_KIND_MEMCPY2, 22)                                          \
    X(CUPTI_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 38)                              \
    X(CUPTI_OBJECT_PROCESS, CUPTI_ACTIVITY_OBJECT_PROCESS, 1)                                      \
    X(CUPTI_OBJECT_THREAD, CUPTI_ACTIVITY_OBJECT_THREAD, 2)                                        \
    X(CUPTI_MARKER_INSTANT, CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS, 1)                           \
    X(CUPTI_MARKER_START, CUPTI_ACTIVITY_FLAG_MARKER_START, 2)                                     \
    X(CUPTI_MARKER_END, CUPTI_ACTIVITY_FLAG_MARKER_END, 4)                                         \
    X(CUPTI_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API, 1)                                          \
    X(CUPTI_DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API, 2)                                        \
    X(CUPTI_THREAD_ID_SYSTEM, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM, 1)

enum cupti_number {
#define CUPTI_NUMBER_ENUM(name, real, value) name = value,
    CUPTI_NUMBERS(CUPTI_NUMBER_ENUM)
#undef CUPTI_NUMBER_ENUM
};

/* Records are packed, at addresses that are multiples of 8. */
#define CUPTI_PACKED __attribute__((packed, aligned(8)))

typedef struct CUPTI_PACKED cupti_record {
    uint32_t kind;
} cupti_record;

typedef struct CUPTI_PACKED cupti_kernel {
    uint32_t kind;
    uint8_t cache_config, shared_memory_config;
    uint16_t registers;
    uint32_t partitioned_requested, partitioned_executed;
    uint64_t start_ns, end_ns, completed_ns;
    uint32_t device, context, stream;
    int32_t grid[3], block[3];
    int32_t static_shared_bytes, dynamic_shared_bytes;
    uint32_t local_per_thread_bytes, local_total_bytes;
    uint32_t correlation;
    int64_t grid_id;
    const char *name;
    void *reserved;
    uint64_t queued_ns, submitted_ns;
    uint8_t launch_type, carveout_is_requested, carveout, padding;
    uint32_t shared_executed_bytes;
    uint64_t graph_node;
    uint32_t shared_limit_config;
    uint32_t graph;
} cupti_kernel;

typedef struct CUPTI_PACKED cupti_memcpy {
    uint32_t kind;
    uint8_t copy, source, destination, flags;
    uint64_t bytes, start_ns, end_ns;
    uint32_t device, context, stream;
    uint32_t correlation, runtime_correlation, padding;
    void *reserved;
    uint64_t graph_node;
    uint32_t graph;
} cupti_memcpy;

typedef struct CUPTI_PACKED cupti_memcpy_peer {
    uint32_t kind;
    uint8_t copy, source, destination, flags;
    uint64_t bytes, start_ns, end_ns;
    uint32_t device, context, stream;
    uint32_t source_device, source_context, destination_device, destination_context;
    uint32_t correlation;
    void *reserved;
    uint64_t graph_node;
    uint32_t graph;
} cupti_memcpy_peer;

typedef struct CUPTI_PACKED cupti_memset {
    uint32_t kind;
    uint32_t value;
    uint64_t bytes, start_ns, end_ns;
    uint32_t device, context, stream;
    uint32_t correlation;
    uint16_t flags, memory;
    uint32_t padding;
    void *reserved;
    uint64_t graph_node;
    uint32_t graph;
} cupti_memset;

/* A call of the runtime or the driver. */
typedef struct CUPTI_PACKED cupti_api {
    uint32_t kind;
    uint32_t function;
    uint64_t start_ns, end_ns;
    uint32_t process, thread;
    uint32_t correlation, result;
} cupti_api;

typedef struct CUPTI_PACKED cupti_synchronization {
    uint32_t kind;
    uint32_t type;
    uint64_t start_ns, end_ns;
    uint32_t correlation, context, stream, event;
} cupti_synchronization;

/* Process and thread; or device, context, stream. */
typedef struct cupti_object {
    uint32_t id[3];
} cupti_object;

typedef struct CUPTI_PACKED cupti_overhead {
    uint32_t kind;
    uint32_t overhead;
    uint32_t object_kind;
    cupti_object object;
    uint64_t start_ns, end_ns;
} cupti_overhead;

typedef struct CUPTI_PACKED cupti_marker {
    uint32_t kind;
    uint32_t flags;
    uint64_t time_ns;
    uint32_t id;
    uint32_t object_kind;
    cupti_object object;
    uint32_t padding;
    const char *name, *domain;
} cupti_marker;

typedef struct CUPTI_PACKED cupti_device {
    uint32_t kind;
    uint32_t flags;
    uint64_t dram_kb_per_s, dram_bytes;
    uint32_t constant_bytes, l2_bytes, warp_size;
    uint32_t clock_khz;
    uint32_t copy_engine_count, sm_count;
    uint32_t limits[14];
    uint32_t compute_major, compute_minor;
    uint32_t id, is_ecc;
    uint8_t uuid[16];
    const char *name;
} cupti_device;

typedef struct CUPTI_PACKED cupti_context_record {
    uint32_t kind;
    uint32_t context, device;
    uint16_t api_kind, null_stream;
} cupti_context_record;

typedef struct CUPTI_PACKED cupti_name {
    uint32_t kind;
    uint32_t object_kind;
    cupti_object object;
    uint32_t padding;
    const char *name;
} cupti_name;

typedef void (*cupti_buffer_request)(uint8_t **buffer, size_t *size, size_t *record_count);
typedef void (*cupti_buffer_done)(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                                  size_t valid_size);

/* X(function, is needed, parameters); a result is 0 or what went wrong. */
#define CUPTI_FUNCTIONS(X)                                                                         \
    X(cuptiGetVersion, 1, (uint32_t * version))                                                    \
    X(cuptiGetTimestamp, 1, (uint64_t * time_ns))                                                  \
    X(cuptiActivityRegisterCallbacks, 1, (cupti_buffer_request request, cupti_buffer_done done))   \
    X(cuptiActivityEnable, 1, (unsigned kind))                                                     \
    X(cuptiActivityDisable, 1, (unsigned kind))                                                    \
    X(cuptiActivityGetNextRecord, 1, (uint8_t * buffer, size_t valid_size, void **record))         \
    X(cuptiActivityFlushAll, 1, (uint32_t flags))                                                  \
    X(cuptiGetCallbackName, 1, (unsigned domain, uint32_t function, const char **name))            \
    X(cuptiActivityGetNumDroppedRecords, 1, (void *context, uint32_t stream, size_t *count))       \
    X(cuptiActivityFlushPeriod, 0, (uint32_t period_ms))                                           \
    X(cuptiActivityEnableDriverApi, 0, (uint32_t function, uint8_t is_on))                         \
    X(cuptiActivityEnableRuntimeApi, 0, (uint32_t function, uint8_t is_on))                        \
    X(cuptiActivitySetAttribute, 0, (unsigned attribute, size_t *size, void *value))               \
    X(cuptiSetThreadIdType, 0, (unsigned type))                                                    \
    X(cuptiGetResultString, 0, (unsigned result, const char **text))

#endif
