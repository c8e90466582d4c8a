/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA driver API, loaded at run time: what ridge uses of it, in declarations of its own, so
 * that no toolkit is needed to build and no driver to run. Layouts and numbers are those of cuda.h;
 * tests/unit/test_cuda_declarations.c compares each with it where a toolkit is installed.
 *
 * Life: cuda_driver_open(), calls through the members, cuda_driver_close(). A member whose symbol
 * the driver lacks is NULL; only those with a version below may be, see cuda_need(). */
#ifndef RIDGE_DEVICE_CUDA_DRIVER_H
#define RIDGE_DEVICE_CUDA_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ridge/status.h"

/* -- types ------------------------------------------------------------------------------------- */

/* Enumerations of the API are unsigned in C. */
typedef unsigned cu_result;
typedef int cu_device;
typedef unsigned long long cu_pointer; /* an address on the device */
typedef unsigned long long cu_memory;  /* physical memory */
typedef struct CUctx_st *cu_context;
typedef struct CUmod_st *cu_module;
typedef struct CUfunc_st *cu_function;
typedef struct CUkern_st *cu_kernel;
typedef struct CUstream_st *cu_stream;
typedef struct CUevent_st *cu_event;
typedef struct CUgraph_st *cu_graph;
typedef struct CUgraphNode_st *cu_graph_node;
typedef struct cu_graph_edge cu_graph_edge; /* only ever NULL */
typedef struct CUgraphExec_st *cu_graph_exec;

typedef struct cu_uuid {
    char bytes[16];
} cu_uuid;

typedef struct cu_mem_location {
    unsigned type;
    int id;
} cu_mem_location;

typedef struct cu_mem_prop {
    unsigned type;
    unsigned handle_types;
    cu_mem_location location;
    void *win32_meta_data;
    struct {
        unsigned char compression, rdma_capable;
        unsigned short usage;
        unsigned char reserved[4];
    } flags;
} cu_mem_prop;

typedef struct cu_mem_access {
    cu_mem_location location;
    unsigned flags;
} cu_mem_access;

typedef union cu_launch_value {
    char bytes[64];
    struct {
        unsigned x, y, z;
    } cluster;
    int programmatic_stream_serialization;
    void *alignment;
} cu_launch_value;

typedef struct cu_launch_attribute {
    unsigned id;
    char padding[4];
    cu_launch_value value;
} cu_launch_attribute;

typedef struct cu_launch_config {
    unsigned grid_x, grid_y, grid_z;
    unsigned block_x, block_y, block_z;
    unsigned shared_bytes;
    cu_stream stream;
    cu_launch_attribute *attributes;
    unsigned attribute_count;
} cu_launch_config;

/* Of version 2; version 1 ends before kernel, so one of zeros serves both. */
typedef struct cu_kernel_node {
    cu_function function;
    unsigned grid_x, grid_y, grid_z;
    unsigned block_x, block_y, block_z;
    unsigned shared_bytes;
    void **parameters;
    void **extra;
    cu_kernel kernel; /* where function is NULL */
    cu_context context;
} cu_kernel_node;

typedef struct cu_tensor_map {
    _Alignas(128) uint64_t words[16]; /* CUDA 12 asks for 64 */
} cu_tensor_map;

/* -- numbers ----------------------------------------------------------------------------------- */

/* X(name here, name in cuda.h, value) */
/* clang-format off */
#define CUDA_NUMBERS(X)                                                                            \
    X(CU_SUCCESS, CUDA_SUCCESS, 0)                                                                 \
    X(CU_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE, 1)                                               \
    X(CU_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY, 2)                                               \
    X(CU_STUB_LIBRARY, CUDA_ERROR_STUB_LIBRARY, 34)                                                \
    X(CU_NO_DEVICE, CUDA_ERROR_NO_DEVICE, 100)                                                     \
    X(CU_INVALID_IMAGE, CUDA_ERROR_INVALID_IMAGE, 200)                                             \
    X(CU_NO_BINARY, CUDA_ERROR_NO_BINARY_FOR_GPU, 209)                                             \
    X(CU_INVALID_PTX, CUDA_ERROR_INVALID_PTX, 218)                                                 \
    X(CU_UNSUPPORTED_PTX, CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222)                                 \
    X(CU_NOT_FOUND, CUDA_ERROR_NOT_FOUND, 500)                                                     \
    X(CU_ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS, 700)                                         \
    X(CU_LAUNCH_RESOURCES, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701)                                \
    X(CU_LAUNCH_TIMEOUT, CUDA_ERROR_LAUNCH_TIMEOUT, 702)                                           \
    X(CU_ASSERT, CUDA_ERROR_ASSERT, 710)                                                           \
    X(CU_HARDWARE_STACK, CUDA_ERROR_HARDWARE_STACK_ERROR, 714)                                     \
    X(CU_LAUNCH_FAILED, CUDA_ERROR_LAUNCH_FAILED, 719)                                             \
    X(CU_SYSTEM_NOT_READY, CUDA_ERROR_SYSTEM_NOT_READY, 802)                                       \
    X(CU_DRIVER_MISMATCH, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803)                                  \
    X(CU_COMPAT_UNSUPPORTED, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, 804)                       \
    X(CU_CAPTURE_UNSUPPORTED, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900)                          \
    X(CU_CAPTURE_INVALIDATED, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 901)                          \
    X(CU_CAPTURE_MERGE, CUDA_ERROR_STREAM_CAPTURE_MERGE, 902)                                      \
    X(CU_CAPTURE_UNMATCHED, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, 903)                              \
    X(CU_CAPTURE_UNJOINED, CUDA_ERROR_STREAM_CAPTURE_UNJOINED, 904)                                \
    X(CU_CAPTURE_ISOLATION, CUDA_ERROR_STREAM_CAPTURE_ISOLATION, 905)                              \
    X(CU_CAPTURE_IMPLICIT, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, 906)                                \
    X(CU_CAPTURED_EVENT, CUDA_ERROR_CAPTURED_EVENT, 907)                                           \
    X(CU_CAPTURE_WRONG_THREAD, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, 908)                        \
    X(CU_DEVICE_WARP_SIZE, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 10)                                      \
    X(CU_DEVICE_CLOCK_KHZ, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 13)                                     \
    X(CU_DEVICE_SM_COUNT, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                            \
    X(CU_DEVICE_ECC, CU_DEVICE_ATTRIBUTE_ECC_ENABLED, 32)                                          \
    X(CU_DEVICE_MEMORY_CLOCK_KHZ, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 36)                       \
    X(CU_DEVICE_BUS_WIDTH, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 37)                        \
    X(CU_DEVICE_L2, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 38)                                         \
    X(CU_DEVICE_THREADS_PER_SM, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 39)            \
    X(CU_DEVICE_CC_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)                        \
    X(CU_DEVICE_CC_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)                        \
    X(CU_DEVICE_SHARED_PER_SM, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 81)       \
    X(CU_DEVICE_REGISTERS_PER_SM, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 82)        \
    X(CU_DEVICE_SHARED_OPTIN, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97)           \
    X(CU_DEVICE_VIRTUAL_MEMORY, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 102)      \
    X(CU_DEVICE_PERSISTING_L2, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE, 108)              \
    X(CU_FUNCTION_THREADS, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0)                             \
    X(CU_FUNCTION_SHARED, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1)                                  \
    X(CU_FUNCTION_LOCAL, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 3)                                    \
    X(CU_FUNCTION_REGISTERS, CU_FUNC_ATTRIBUTE_NUM_REGS, 4)                                        \
    X(CU_FUNCTION_BINARY, CU_FUNC_ATTRIBUTE_BINARY_VERSION, 6)                                     \
    X(CU_FUNCTION_DYNAMIC_LIMIT, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8)               \
    X(CU_FUNCTION_LARGE_CLUSTER, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 14)          \
    X(CU_LAUNCH_CLUSTER, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, 4)                                 \
    X(CU_LAUNCH_PROGRAMMATIC, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, 6)            \
    X(CU_LIMIT_PERSISTING, CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 6)                                   \
    X(CU_STREAM_OTHER, CU_STREAM_NON_BLOCKING, 1)                                                  \
    X(CU_CAPTURE_THREAD, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, 1)                                   \
    X(CU_CAPTURE_RELAXED, CU_STREAM_CAPTURE_MODE_RELAXED, 2)                                       \
    X(CU_CAPTURE_NONE, CU_STREAM_CAPTURE_STATUS_NONE, 0)                                           \
    X(CU_NODE_KERNEL, CU_GRAPH_NODE_TYPE_KERNEL, 0)                                                \
    X(CU_NODE_COPY, CU_GRAPH_NODE_TYPE_MEMCPY, 1)                                                  \
    X(CU_NODE_MEMSET, CU_GRAPH_NODE_TYPE_MEMSET, 2)                                                \
    X(CU_NODE_HOST, CU_GRAPH_NODE_TYPE_HOST, 3)                                                    \
    X(CU_NODE_GRAPH, CU_GRAPH_NODE_TYPE_GRAPH, 4)                                                  \
    X(CU_CAPTURE_ACTIVE, CU_STREAM_CAPTURE_STATUS_ACTIVE, 1)                                       \
    X(CU_CAPTURE_SET, CU_STREAM_SET_CAPTURE_DEPENDENCIES, 1)                                       \
    X(CU_HOST_PORTABLE, CU_MEMHOSTALLOC_PORTABLE, 1)                                               \
    X(CU_HOST_MAPPED, CU_MEMHOSTALLOC_DEVICEMAP, 2)                                                \
    X(CU_MEMORY_PINNED, CU_MEM_ALLOCATION_TYPE_PINNED, 1)                                          \
    X(CU_MEMORY_OF_DEVICE, CU_MEM_LOCATION_TYPE_DEVICE, 1)                                         \
    X(CU_GRANULARITY_LEAST, CU_MEM_ALLOC_GRANULARITY_MINIMUM, 0)                                   \
    X(CU_ACCESS_READ_WRITE, CU_MEM_ACCESS_FLAGS_PROT_READWRITE, 3)                                 \
    X(CU_JIT_INFO_LOG, CU_JIT_INFO_LOG_BUFFER, 3)                                                  \
    X(CU_JIT_INFO_LOG_BYTES, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, 4)                                 \
    X(CU_JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BUFFER, 5)                                                \
    X(CU_JIT_ERROR_LOG_BYTES, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 6)                               \
    X(CU_TENSOR_U8, CU_TENSOR_MAP_DATA_TYPE_UINT8, 0)                                              \
    X(CU_TENSOR_U16, CU_TENSOR_MAP_DATA_TYPE_UINT16, 1)                                            \
    X(CU_TENSOR_U32, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2)                                            \
    X(CU_TENSOR_I32, CU_TENSOR_MAP_DATA_TYPE_INT32, 3)                                             \
    X(CU_TENSOR_I64, CU_TENSOR_MAP_DATA_TYPE_INT64, 5)                                             \
    X(CU_TENSOR_F16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 6)                                           \
    X(CU_TENSOR_F32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 7)                                           \
    X(CU_TENSOR_F64, CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8)                                           \
    X(CU_TENSOR_BF16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 9)                                         \
    X(CU_TENSOR_SWIZZLE_32, CU_TENSOR_MAP_SWIZZLE_32B, 1)                                          \
    X(CU_TENSOR_SWIZZLE_64, CU_TENSOR_MAP_SWIZZLE_64B, 2)                                          \
    X(CU_TENSOR_SWIZZLE_128, CU_TENSOR_MAP_SWIZZLE_128B, 3)                                        \
    X(CU_TENSOR_INTERLEAVE_16, CU_TENSOR_MAP_INTERLEAVE_16B, 1)                                    \
    X(CU_TENSOR_INTERLEAVE_32, CU_TENSOR_MAP_INTERLEAVE_32B, 2)                                    \
    X(CU_TENSOR_L2_64, CU_TENSOR_MAP_L2_PROMOTION_L2_64B, 1)                                       \
    X(CU_TENSOR_L2_128, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, 2)                                     \
    X(CU_TENSOR_L2_256, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, 3)                                     \
    X(CU_TENSOR_NAN_FILL, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA, 1)

/* -- calls ------------------------------------------------------------------------------------- */

/* X(symbol, CUDA version that has it, parameters); version 0: every driver that ridge runs with. */
#define CUDA_SYMBOLS(X)                                                                            \
    X(cuInit, 0, (unsigned flags))                                                                 \
    X(cuDriverGetVersion, 0, (int *version))                                                       \
    X(cuGetErrorName, 0, (cu_result result, const char **text))                                    \
    X(cuGetErrorString, 0, (cu_result result, const char **text))                                  \
    X(cuDeviceGetCount, 0, (int *count))                                                           \
    X(cuDeviceGet, 0, (cu_device *device, int index))                                              \
    X(cuDeviceGetName, 0, (char *name, int size, cu_device device))                                \
    X(cuDeviceGetUuid_v2, 11040, (cu_uuid *uuid, cu_device device))                                \
    X(cuDeviceGetPCIBusId, 0, (char *text, int size, cu_device device))                            \
    X(cuDeviceTotalMem_v2, 0, (size_t *size_bytes, cu_device device))                              \
    X(cuDeviceGetAttribute, 0, (int *value, unsigned attribute, cu_device device))                 \
    X(cuDevicePrimaryCtxRetain, 0, (cu_context *context, cu_device device))                        \
    X(cuDevicePrimaryCtxRelease_v2, 0, (cu_device device))                                         \
    X(cuCtxSetCurrent, 0, (cu_context context))                                                    \
    X(cuCtxGetCurrent, 0, (cu_context *context))                                                   \
    X(cuCtxSynchronize, 0, (void))                                                                 \
    X(cuCtxSetLimit, 0, (unsigned limit, size_t value))                                            \
    X(cuCtxGetLimit, 0, (size_t *value, unsigned limit))                                           \
    X(cuCtxResetPersistingL2Cache, 0, (void))                                                      \
    X(cuMemGetInfo_v2, 0, (size_t *free_bytes, size_t *total_bytes))                               \
    X(cuMemAlloc_v2, 0, (cu_pointer *out, size_t size_bytes))                                      \
    X(cuMemFree_v2, 0, (cu_pointer data))                                                          \
    X(cuMemHostAlloc, 0, (void **out, size_t size_bytes, unsigned flags))                          \
    X(cuMemFreeHost, 0, (void *data))                                                              \
    X(cuMemHostGetDevicePointer_v2, 0, (cu_pointer *out, void *host, unsigned flags))              \
    X(cuMemcpyHtoD_v2, 0, (cu_pointer to, const void *from, size_t size_bytes))                    \
    X(cuMemcpyDtoH_v2, 0, (void *to, cu_pointer from, size_t size_bytes))                          \
    X(cuMemcpyDtoDAsync_v2, 0,                                                                     \
      (cu_pointer to, cu_pointer from, size_t size_bytes, cu_stream stream))                       \
    X(cuMemGetAllocationGranularity, 0,                                                            \
      (size_t *granularity, const cu_mem_prop *prop, unsigned option))                             \
    X(cuMemAddressReserve, 0,                                                                      \
      (cu_pointer *out, size_t size_bytes, size_t alignment, cu_pointer address,                   \
       unsigned long long flags))                                                                  \
    X(cuMemAddressFree, 0, (cu_pointer data, size_t size_bytes))                                   \
    X(cuMemCreate, 0,                                                                              \
      (cu_memory *out, size_t size_bytes, const cu_mem_prop *prop, unsigned long long flags))      \
    X(cuMemRelease, 0, (cu_memory memory))                                                         \
    X(cuMemMap, 0,                                                                                 \
      (cu_pointer data, size_t size_bytes, size_t offset, cu_memory memory,                        \
       unsigned long long flags))                                                                  \
    X(cuMemUnmap, 0, (cu_pointer data, size_t size_bytes))                                         \
    X(cuMemSetAccess, 0,                                                                           \
      (cu_pointer data, size_t size_bytes, const cu_mem_access *access, size_t count))             \
    X(cuStreamCreate, 0, (cu_stream *out, unsigned flags))                                         \
    X(cuStreamDestroy_v2, 0, (cu_stream stream))                                                   \
    X(cuStreamSynchronize, 0, (cu_stream stream))                                                  \
    X(cuStreamWaitEvent, 0, (cu_stream stream, cu_event event, unsigned flags))                    \
    X(cuStreamBeginCapture_v2, 0, (cu_stream stream, unsigned mode))                               \
    X(cuStreamEndCapture, 0, (cu_stream stream, cu_graph *out))                                    \
    X(cuStreamIsCapturing, 0, (cu_stream stream, unsigned *status))                                \
    X(cuEventCreate, 0, (cu_event *out, unsigned flags))                                           \
    X(cuEventDestroy_v2, 0, (cu_event event))                                                      \
    X(cuEventRecord, 0, (cu_event event, cu_stream stream))                                        \
    X(cuEventSynchronize, 0, (cu_event event))                                                     \
    X(cuEventElapsedTime, 0, (float *milliseconds, cu_event from, cu_event to))                    \
    X(cuModuleLoadDataEx, 0,                                                                       \
      (cu_module *out, const void *image, unsigned count, unsigned *options, void **values))       \
    X(cuModuleUnload, 0, (cu_module module))                                                       \
    X(cuModuleGetFunction, 0, (cu_function *out, cu_module module, const char *name))              \
    X(cuModuleGetFunctionCount, 12040, (unsigned *count, cu_module module))                        \
    X(cuModuleEnumerateFunctions, 12040,                                                           \
      (cu_function *functions, unsigned count, cu_module module))                                  \
    X(cuFuncGetAttribute, 0, (int *value, unsigned attribute, cu_function function))               \
    X(cuFuncSetAttribute, 0, (cu_function function, unsigned attribute, int value))                \
    X(cuFuncGetName, 12030, (const char **name, cu_function function))                             \
    X(cuFuncGetParamInfo, 12040,                                                                   \
      (cu_function function, size_t index, size_t *offset, size_t *size_bytes))                    \
    X(cuFuncLoad, 12040, (cu_function function))                                                   \
    X(cuKernelGetName, 12030, (const char **name, cu_kernel kernel))                               \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, 0,                                              \
      (int *blocks, cu_function function, int threads, size_t dynamic_shared_bytes))               \
    X(cuLaunchKernel, 0,                                                                           \
      (cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,  \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, cu_stream stream,                \
       void **parameters, void **extra))                                                           \
    X(cuLaunchKernelEx, 11080,                                                                     \
      (const cu_launch_config *config, cu_function function, void **parameters, void **extra))     \
    X(cuGraphInstantiateWithFlags, 0,                                                              \
      (cu_graph_exec *out, cu_graph graph, unsigned long long flags))                              \
    X(cuGraphDestroy, 0, (cu_graph graph))                                                         \
    X(cuGraphExecDestroy, 0, (cu_graph_exec exec))                                                 \
    X(cuGraphLaunch, 0, (cu_graph_exec exec, cu_stream stream))                                    \
    X(cuGraphGetNodes, 0, (cu_graph graph, cu_graph_node *nodes, size_t *count))                   \
    X(cuGraphNodeGetType, 0, (cu_graph_node node, unsigned *type))                                 \
    X(cuGraphAddChildGraphNode, 11030,                                                             \
      (cu_graph_node *out, cu_graph graph, const cu_graph_node *before, size_t count,              \
       cu_graph child))                                                                            \
    X(cuGraphChildGraphNodeGetGraph, 11030, (cu_graph_node node, cu_graph *out))                   \
    X(cuStreamGetCaptureInfo_v3, 12030,                                                            \
      (cu_stream stream, unsigned *status, uint64_t *id, cu_graph *graph,                          \
       const cu_graph_node **before, const cu_graph_edge **edges, size_t *count))                  \
    X(cuStreamUpdateCaptureDependencies_v2, 12030,                                                 \
      (cu_stream stream, cu_graph_node *before, const cu_graph_edge *edges, size_t count,          \
       unsigned flags))                                                                            \
    X(cuGraphKernelNodeGetParams, 0, (cu_graph_node node, cu_kernel_node *out))                    \
    X(cuGraphKernelNodeGetParams_v2, 12000, (cu_graph_node node, cu_kernel_node *out))             \
    X(cuTensorMapEncodeTiled, 12000,                                                               \
      (cu_tensor_map *out, unsigned type, uint32_t rank, void *data, const uint64_t *extent,       \
       const uint64_t *stride_bytes, const uint32_t *box, const uint32_t *element_stride,          \
       unsigned interleave, unsigned swizzle, unsigned l2_promotion, unsigned fill))
/* clang-format on */

#define CUDA_NUMBER_ENUM(name, real, value) name = (value),
enum { CUDA_NUMBERS(CUDA_NUMBER_ENUM) };
#undef CUDA_NUMBER_ENUM

/* The oldest driver that ridge runs with: the first that has cuGraphInstantiateWithFlags(). */
enum { CUDA_VERSION_LEAST = 11040 };

typedef struct cuda_driver {
    void *library;
    int version; /* 13000 */
#define CUDA_SYMBOL_MEMBER(symbol, since, parameters) cu_result(*symbol) parameters;
    CUDA_SYMBOLS(CUDA_SYMBOL_MEMBER)
#undef CUDA_SYMBOL_MEMBER
} cuda_driver;

/* -- loading ----------------------------------------------------------------------------------- */

/* Loads libcuda.so.1 (or the library named by RIDGE_CUDA_LIBRARY) and initialises it. false: *why
 * (not NULL) is a static text of what is missing, and nothing stays open. */
bool cuda_driver_open(cuda_driver *out, const char **why);
void cuda_driver_close(cuda_driver *driver);

/* -- failures ---------------------------------------------------------------------------------- */

/* "CUDA_ERROR_INVALID_VALUE: invalid argument", and what it means where that is known. */
const char *cuda_result_text(const cuda_driver *driver, cu_result result, char *buffer,
                             size_t size);
/* RIDGE_ERR_CUDA with the call and the driver's words. */
ridge_status cuda_driver_fail(const cuda_driver *driver, cu_result result, const char *call,
                              ridge_error *err);

/* RIDGE_ERR_UNSUPPORTED, saying which version has the symbol, where the driver lacks it. */
#define CUDA_NEED(driver, symbol, err)                                                             \
    ((driver)->symbol != NULL ? RIDGE_OK : cuda_lacks((driver), #symbol, (err)))
ridge_status cuda_lacks(const cuda_driver *driver, const char *symbol, ridge_error *err);

#endif
