/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables and columns of an export that a redacted one keeps: what ridge reads, and numbers
 * beside it that other tools want. Whatever is not here is left out. */
#include <string.h>

#include "timeline/nsys/nsys_redact.h"

#define WORK "start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid"

static const nsys_copied tables[] = {
    {.name = "CUPTI_ACTIVITY_KIND_RUNTIME",
     .columns = {"start", "end", "eventClass", "globalTid", "correlationId", "nameId",
                 "returnValue"},
     .calls = 1u << 5,
     .threads = NSYS_THREADS_LEARN,
     .thread = 3},
    {.name = "CUPTI_ACTIVITY_KIND_KERNEL",
     .columns = {WORK, "demangledName", "shortName", "mangledName", "launchType",
                 "registersPerThread", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ",
                 "staticSharedMemory", "dynamicSharedMemory", "localMemoryPerThread",
                 "greenContextId", "graphNodeId", "graphId"},
     .kernels = 1u << 7 | 1u << 8 | 1u << 9},
    {.name = "CUPTI_ACTIVITY_KIND_MEMCPY",
     .columns = {WORK, "bytes", "copyKind", "srcKind", "dstKind", "srcDeviceId", "srcContextId",
                 "dstDeviceId", "dstContextId", "migrationCause", "graphNodeId", "copyCount"}},
    {.name = "CUPTI_ACTIVITY_KIND_MEMSET",
     .columns = {WORK, "value", "bytes", "graphNodeId", "memKind"}},
    {.name = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", .columns = {WORK, "graphId", "graphExecId"}},
    {.name = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
     .columns = {WORK, "syncType", "eventId", "eventSyncId"}},
    {.name = "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
     .columns = {"timestamp", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
                 "eventId", "eventSyncId"}},
    {.name = "CUPTI_ACTIVITY_KIND_OVERHEAD",
     .columns = {"start", "end", "eventClass", "globalTid", "correlationId", "nameId",
                 "overheadType"},
     .strings = 1u << 5},
    {.name = "PROFILER_OVERHEAD",
     .columns = {"start", "end", "globalTid", "nameId", "overheadType", "returnValue"},
     .strings = 1u << 3},
    {.name = "OSRT_API",
     .columns = {"start", "end", "eventClass", "globalTid", "nameId", "returnValue",
                 "nestingLevel"},
     .strings = 1u << 4,
     .threads = NSYS_THREADS_KNOWN,
     .thread = 3},
    {.name = "SCHED_EVENTS",
     .columns = {"start", "cpu", "isSchedIn", "globalTid", "threadState", "threadBlock"},
     .threads = NSYS_THREADS_KNOWN,
     .thread = 3},
    {.name = "ThreadNames",
     .columns = {"nameId", "priority", "globalTid"},
     .strings = 1u << 0,
     .threads = NSYS_THREADS_KNOWN,
     .thread = 2},
    {.name = "TARGET_INFO_CUDA_DEVICE",
     .columns = {"gpuId", "cudaId", "pid", "numMultiprocessors"}},
    {.name = "TARGET_INFO_CUDA_NULL_STREAM",
     .columns = {"streamId", "hwId", "vmId", "processId", "deviceId", "contextId"}},
    {.name = "TARGET_INFO_CUDA_CONTEXT_INFO",
     .columns = {"nullStreamId", "hwId", "vmId", "processId", "deviceId", "contextId",
                 "parentContextId", "isGreenContext"}},
    {.name = "TARGET_INFO_SESSION_START_TIME", .columns = {"utcEpochNs"}},
    /* With text: written when the names are known. */
    {.name = "NVTX_EVENTS",
     .columns = {"start", "end", "eventType", "rangeId", "category", "color", "text", "globalTid",
                 "endGlobalTid", "textId", "domainId"},
     .text = 1u << 6,
     .strings = 1u << 9},
    {.name = "DIAGNOSTIC_EVENT",
     .columns = {"timestamp", "timestampType", "source", "severity", "text", "globalPid"},
     .text = 1u << 4},
    {.name = "TARGET_INFO_GPU",
     .columns = {"vmId", "id", "deviceId", "name", "isDiscrete", "l2CacheSize", "totalMemory",
                 "memoryBandwidth", "clockRate", "smCount", "chipName", "cuDevice", "computeMajor",
                 "computeMinor", "maxWarpsPerSm", "maxBlocksPerSm", "maxRegistersPerSm",
                 "maxShmemPerSm"},
     .text = 1u << 3 | 1u << 10},
    {.name = "TARGET_INFO_CUDA_GPU",
     .columns = {"name", "deviceId", "pid", "globalMemoryBandwidth", "globalMemorySize",
                 "l2CacheSize", "coreClockRate", "numMultiprocessors", "computeCapabilityMajor",
                 "computeCapabilityMinor"},
     .text = 1u << 0},
};

const nsys_copied *nsys_copied_tables(size_t *count)
{
    *count = sizeof(tables) / sizeof(tables[0]);
    return tables;
}

bool nsys_is_copied_setting(const char *key)
{
    static const char began[] = "RECORDING_BEGAN:"; /* and a process */
    static const char *const keys[] = {"EXPORT_PRODUCT_NAME",
                                       "EXPORT_PRODUCT_VERSION",
                                       "EXPORT_PRODUCT_DATE",
                                       "EXPORT_SCHEMA_VERSION",
                                       "EXPORT_SCHEMA_VERSION_MAJOR",
                                       "EXPORT_SCHEMA_VERSION_MINOR",
                                       "EXPORT_SCHEMA_VERSION_MICRO",
                                       "CAPTURE_EVENT_TYPE",
                                       "CUDA_GRAPH_TRACE_OPTIONS:MODE",
                                       "CUDA_SKIP_SOME_API_CALLS",
                                       "PROCESS_0:CUDA_GRAPH_TRACE_OPTIONS:MODE",
                                       "PROCESS_0:CUDA_SKIP_SOME_API_CALLS",
                                       "PROCESS_0:COMMAND"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return strncmp(key, began, sizeof(began) - 1) == 0;
}
