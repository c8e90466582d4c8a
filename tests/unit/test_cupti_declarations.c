/* SPDX-License-Identifier: Apache-2.0
 *
 * What src/collect/cupti_records.h declares is what cupti.h declares: every number, where each member
 * of a record lies, the type of every call. Compared by the compiler where CUPTI's headers are
 * installed (CUDA 11.8 or later); else skipped. */
#include <stdio.h>

#include "collect/cupti_records.h"

#if defined(__has_include) && (defined(__GNUC__) || defined(__clang__))
#if __has_include(<cupti.h>) && __has_include(<cuda.h>)
#include <cupti.h>
#endif
#endif

#if defined(CUPTI_API_VERSION) && CUPTI_API_VERSION >= 18

#define SAME_NUMBER(name, real, value)                                                             \
    _Static_assert((long long)(real) == (value), #real " is not " #value);
CUPTI_NUMBERS(SAME_NUMBER)

/* The newest of a record's structures in these headers: what CUPTI of this version writes. */
#if CUPTI_API_VERSION >= 130500
typedef CUpti_ActivityKernel13 real_kernel;
typedef CUpti_ActivityMemcpy7 real_memcpy;
typedef CUpti_ActivityMemset5 real_memset;
typedef CUpti_ActivityDevice6 real_device;
typedef CUpti_ActivityContext4 real_context;
typedef CUpti_ActivitySynchronization2 real_synchronization;
typedef CUpti_ActivityOverhead3 real_overhead;
#elif CUPTI_API_VERSION >= 130000
typedef CUpti_ActivityKernel10 real_kernel;
typedef CUpti_ActivityMemcpy6 real_memcpy;
typedef CUpti_ActivityMemset4 real_memset;
typedef CUpti_ActivityDevice5 real_device;
typedef CUpti_ActivityContext3 real_context;
typedef CUpti_ActivitySynchronization2 real_synchronization;
typedef CUpti_ActivityOverhead3 real_overhead;
#elif CUPTI_API_VERSION >= 28
typedef CUpti_ActivityKernel9 real_kernel;
typedef CUpti_ActivityMemcpy6 real_memcpy;
typedef CUpti_ActivityMemset4 real_memset;
typedef CUpti_ActivityDevice5 real_device;
typedef CUpti_ActivityContext3 real_context;
typedef CUpti_ActivitySynchronization2 real_synchronization;
typedef CUpti_ActivityOverhead3 real_overhead;
#else /* what CUDA 11.8 has, which later ones extend */
typedef CUpti_ActivityKernel8 real_kernel;
typedef CUpti_ActivityMemcpy5 real_memcpy;
typedef CUpti_ActivityMemset4 real_memset;
typedef CUpti_ActivityDevice4 real_device;
typedef CUpti_ActivityContext real_context;
typedef CUpti_ActivitySynchronization real_synchronization;
typedef CUpti_ActivityOverhead real_overhead;
#endif

#define SAME_MEMBER(own, own_member, real, real_member)                                            \
    _Static_assert(offsetof(own, own_member) == offsetof(real, real_member) &&                     \
                       sizeof(((own *)NULL)->own_member) == sizeof(((real *)NULL)->real_member),   \
                   #real "." #real_member " lies elsewhere")

SAME_MEMBER(cupti_record, kind, CUpti_Activity, kind);

SAME_MEMBER(cupti_kernel, registers, real_kernel, registersPerThread);
SAME_MEMBER(cupti_kernel, start_ns, real_kernel, start);
SAME_MEMBER(cupti_kernel, end_ns, real_kernel, end);
SAME_MEMBER(cupti_kernel, device, real_kernel, deviceId);
SAME_MEMBER(cupti_kernel, context, real_kernel, contextId);
SAME_MEMBER(cupti_kernel, stream, real_kernel, streamId);
SAME_MEMBER(cupti_kernel, grid[0], real_kernel, gridX);
SAME_MEMBER(cupti_kernel, grid[2], real_kernel, gridZ);
SAME_MEMBER(cupti_kernel, block[0], real_kernel, blockX);
SAME_MEMBER(cupti_kernel, block[2], real_kernel, blockZ);
SAME_MEMBER(cupti_kernel, static_shared_bytes, real_kernel, staticSharedMemory);
SAME_MEMBER(cupti_kernel, dynamic_shared_bytes, real_kernel, dynamicSharedMemory);
SAME_MEMBER(cupti_kernel, local_per_thread_bytes, real_kernel, localMemoryPerThread);
SAME_MEMBER(cupti_kernel, local_total_bytes, real_kernel, localMemoryTotal);
SAME_MEMBER(cupti_kernel, correlation, real_kernel, correlationId);
SAME_MEMBER(cupti_kernel, grid_id, real_kernel, gridId);
SAME_MEMBER(cupti_kernel, name, real_kernel, name);
SAME_MEMBER(cupti_kernel, launch_type, real_kernel, launchType);
SAME_MEMBER(cupti_kernel, shared_executed_bytes, real_kernel, sharedMemoryExecuted);
SAME_MEMBER(cupti_kernel, graph_node, real_kernel, graphNodeId);
SAME_MEMBER(cupti_kernel, graph, real_kernel, graphId);

#define SAME_WORK(own, real)                                                                       \
    SAME_MEMBER(own, bytes, real, bytes);                                                          \
    SAME_MEMBER(own, start_ns, real, start);                                                       \
    SAME_MEMBER(own, end_ns, real, end);                                                           \
    SAME_MEMBER(own, device, real, deviceId);                                                      \
    SAME_MEMBER(own, context, real, contextId);                                                    \
    SAME_MEMBER(own, stream, real, streamId);                                                      \
    SAME_MEMBER(own, correlation, real, correlationId);                                            \
    SAME_MEMBER(own, graph_node, real, graphNodeId);                                               \
    SAME_MEMBER(own, graph, real, graphId)
SAME_WORK(cupti_memcpy, real_memcpy);
SAME_WORK(cupti_memcpy_peer, CUpti_ActivityMemcpyPtoP4);
SAME_WORK(cupti_memset, real_memset);
SAME_MEMBER(cupti_memcpy, copy, real_memcpy, copyKind);
SAME_MEMBER(cupti_memcpy, source, real_memcpy, srcKind);
SAME_MEMBER(cupti_memcpy, destination, real_memcpy, dstKind);
SAME_MEMBER(cupti_memcpy, flags, real_memcpy, flags);
SAME_MEMBER(cupti_memcpy_peer, copy, CUpti_ActivityMemcpyPtoP4, copyKind);
SAME_MEMBER(cupti_memcpy_peer, source, CUpti_ActivityMemcpyPtoP4, srcKind);
SAME_MEMBER(cupti_memcpy_peer, destination, CUpti_ActivityMemcpyPtoP4, dstKind);
SAME_MEMBER(cupti_memcpy_peer, source_device, CUpti_ActivityMemcpyPtoP4, srcDeviceId);
SAME_MEMBER(cupti_memcpy_peer, destination_device, CUpti_ActivityMemcpyPtoP4, dstDeviceId);
SAME_MEMBER(cupti_memset, value, real_memset, value);
SAME_MEMBER(cupti_memset, memory, real_memset, memoryKind);

SAME_MEMBER(cupti_api, function, CUpti_ActivityAPI, cbid);
SAME_MEMBER(cupti_api, start_ns, CUpti_ActivityAPI, start);
SAME_MEMBER(cupti_api, end_ns, CUpti_ActivityAPI, end);
SAME_MEMBER(cupti_api, process, CUpti_ActivityAPI, processId);
SAME_MEMBER(cupti_api, thread, CUpti_ActivityAPI, threadId);
SAME_MEMBER(cupti_api, correlation, CUpti_ActivityAPI, correlationId);
SAME_MEMBER(cupti_api, result, CUpti_ActivityAPI, returnValue);

SAME_MEMBER(cupti_synchronization, type, real_synchronization, type);
SAME_MEMBER(cupti_synchronization, start_ns, real_synchronization, start);
SAME_MEMBER(cupti_synchronization, end_ns, real_synchronization, end);
SAME_MEMBER(cupti_synchronization, correlation, real_synchronization, correlationId);
SAME_MEMBER(cupti_synchronization, context, real_synchronization, contextId);
SAME_MEMBER(cupti_synchronization, stream, real_synchronization, streamId);
SAME_MEMBER(cupti_synchronization, event, real_synchronization, cudaEventId);

_Static_assert(sizeof(cupti_object) == sizeof(CUpti_ActivityObjectKindId), "another object");
SAME_MEMBER(cupti_object, id[1], CUpti_ActivityObjectKindId, pt.threadId);
SAME_MEMBER(cupti_overhead, overhead, real_overhead, overheadKind);
SAME_MEMBER(cupti_overhead, object_kind, real_overhead, objectKind);
SAME_MEMBER(cupti_overhead, object, real_overhead, objectId);
SAME_MEMBER(cupti_overhead, start_ns, real_overhead, start);
SAME_MEMBER(cupti_overhead, end_ns, real_overhead, end);

SAME_MEMBER(cupti_marker, flags, CUpti_ActivityMarker2, flags);
SAME_MEMBER(cupti_marker, time_ns, CUpti_ActivityMarker2, timestamp);
SAME_MEMBER(cupti_marker, id, CUpti_ActivityMarker2, id);
SAME_MEMBER(cupti_marker, object_kind, CUpti_ActivityMarker2, objectKind);
SAME_MEMBER(cupti_marker, object, CUpti_ActivityMarker2, objectId);
SAME_MEMBER(cupti_marker, name, CUpti_ActivityMarker2, name);
SAME_MEMBER(cupti_marker, domain, CUpti_ActivityMarker2, domain);

SAME_MEMBER(cupti_device, dram_kb_per_s, real_device, globalMemoryBandwidth);
SAME_MEMBER(cupti_device, dram_bytes, real_device, globalMemorySize);
SAME_MEMBER(cupti_device, l2_bytes, real_device, l2CacheSize);
SAME_MEMBER(cupti_device, clock_khz, real_device, coreClockRate);
SAME_MEMBER(cupti_device, sm_count, real_device, numMultiprocessors);
SAME_MEMBER(cupti_device, compute_major, real_device, computeCapabilityMajor);
SAME_MEMBER(cupti_device, compute_minor, real_device, computeCapabilityMinor);
SAME_MEMBER(cupti_device, id, real_device, id);
SAME_MEMBER(cupti_device, name, real_device, name);

SAME_MEMBER(cupti_context_record, context, real_context, contextId);
SAME_MEMBER(cupti_context_record, device, real_context, deviceId);
SAME_MEMBER(cupti_context_record, null_stream, real_context, nullStreamId);

SAME_MEMBER(cupti_name, object_kind, CUpti_ActivityName, objectKind);
SAME_MEMBER(cupti_name, object, CUpti_ActivityName, objectId);
SAME_MEMBER(cupti_name, name, CUpti_ActivityName, name);

/* Overheads as spool files have them: nsys counts them by their higher half. */
_Static_assert(CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER == 1 &&
                   CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH == 1 << 16 &&
                   CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE == 3 << 16,
               "other kinds of overhead");

/* The calls take as many arguments of the same sizes; enumerations and pointers go by ours. */
#if CUPTI_API_VERSION < 24 /* of CUDA 12.6 */
CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId function, uint8_t is_on);
CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId function, uint8_t is_on);
#endif
#define SAME_CALL(symbol, is_needed, parameters)                                                   \
    _Static_assert(sizeof(&(symbol)) == sizeof(void *), #symbol " is not there");
CUPTI_FUNCTIONS(SAME_CALL)

int main(void)
{
    printf("compared with cupti.h, version %d\n", CUPTI_API_VERSION);
    return 0;
}

#else

int main(void)
{
    printf("no cupti.h of CUDA 11.8 or later here\n");
    return 77;
}

#endif
