/* SPDX-License-Identifier: Apache-2.0
 *
 * What src/device/cuda_driver.h declares is what cuda.h declares: every number, every layout, the
 * type of every call. Compared by the compiler where a toolkit is installed (12.4 or later); else
 * skipped. */
#include <stdio.h>

#include "device/cuda_driver.h"

#if defined(__has_include) && (defined(__GNUC__) || defined(__clang__))
#if __has_include(<cuda.h>)
#include <cuda.h>
#endif
#endif

#if defined(CUDA_VERSION) && CUDA_VERSION >= 12040

#define SAME_NUMBER(name, real, value)                                                             \
    _Static_assert((long long)(real) == (value), #real " is not " #value);
CUDA_NUMBERS(SAME_NUMBER)

#define SAME_SIZE(own, real)                                                                       \
    _Static_assert(sizeof(own) == sizeof(real) && _Alignof(own) == _Alignof(real),                 \
                   #real " has another size or alignment")
#define SAME_MEMBER(own, own_member, real, real_member)                                            \
    _Static_assert(offsetof(own, own_member) == offsetof(real, real_member) &&                     \
                       sizeof(((own *)NULL)->own_member) == sizeof(((real *)NULL)->real_member),   \
                   #real "." #real_member " lies elsewhere")

SAME_SIZE(cu_uuid, CUuuid);
SAME_SIZE(cu_pointer, CUdeviceptr);
SAME_SIZE(cu_memory, CUmemGenericAllocationHandle);
SAME_SIZE(cu_mem_location, CUmemLocation);
SAME_MEMBER(cu_mem_location, type, CUmemLocation, type);
SAME_MEMBER(cu_mem_location, id, CUmemLocation, id);
SAME_SIZE(cu_mem_prop, CUmemAllocationProp);
SAME_MEMBER(cu_mem_prop, type, CUmemAllocationProp, type);
SAME_MEMBER(cu_mem_prop, handle_types, CUmemAllocationProp, requestedHandleTypes);
SAME_MEMBER(cu_mem_prop, location, CUmemAllocationProp, location);
SAME_MEMBER(cu_mem_prop, win32_meta_data, CUmemAllocationProp, win32HandleMetaData);
SAME_MEMBER(cu_mem_prop, flags.usage, CUmemAllocationProp, allocFlags.usage);
SAME_SIZE(cu_mem_access, CUmemAccessDesc);
SAME_MEMBER(cu_mem_access, flags, CUmemAccessDesc, flags);
SAME_SIZE(cu_launch_value, CUlaunchAttributeValue);
SAME_MEMBER(cu_launch_value, cluster, CUlaunchAttributeValue, clusterDim);
SAME_MEMBER(cu_launch_value, programmatic_stream_serialization, CUlaunchAttributeValue,
            programmaticStreamSerializationAllowed);
SAME_SIZE(cu_launch_attribute, CUlaunchAttribute);
SAME_MEMBER(cu_launch_attribute, id, CUlaunchAttribute, id);
SAME_MEMBER(cu_launch_attribute, value, CUlaunchAttribute, value);
SAME_SIZE(cu_launch_config, CUlaunchConfig);
SAME_MEMBER(cu_launch_config, grid_x, CUlaunchConfig, gridDimX);
SAME_MEMBER(cu_launch_config, block_x, CUlaunchConfig, blockDimX);
SAME_MEMBER(cu_launch_config, block_z, CUlaunchConfig, blockDimZ);
SAME_MEMBER(cu_launch_config, shared_bytes, CUlaunchConfig, sharedMemBytes);
SAME_MEMBER(cu_launch_config, stream, CUlaunchConfig, hStream);
SAME_MEMBER(cu_launch_config, attributes, CUlaunchConfig, attrs);
SAME_MEMBER(cu_launch_config, attribute_count, CUlaunchConfig, numAttrs);
SAME_SIZE(cu_kernel_node, CUDA_KERNEL_NODE_PARAMS_v2);
SAME_MEMBER(cu_kernel_node, function, CUDA_KERNEL_NODE_PARAMS_v2, func);
SAME_MEMBER(cu_kernel_node, grid_x, CUDA_KERNEL_NODE_PARAMS_v2, gridDimX);
SAME_MEMBER(cu_kernel_node, block_z, CUDA_KERNEL_NODE_PARAMS_v2, blockDimZ);
SAME_MEMBER(cu_kernel_node, shared_bytes, CUDA_KERNEL_NODE_PARAMS_v2, sharedMemBytes);
SAME_MEMBER(cu_kernel_node, parameters, CUDA_KERNEL_NODE_PARAMS_v2, kernelParams);
SAME_MEMBER(cu_kernel_node, kernel, CUDA_KERNEL_NODE_PARAMS_v2, kern);
SAME_MEMBER(cu_kernel_node, context, CUDA_KERNEL_NODE_PARAMS_v2, ctx);
/* Version 1 is the beginning of version 2. */
SAME_MEMBER(cu_kernel_node, extra, CUDA_KERNEL_NODE_PARAMS_v1, extra);
_Static_assert(sizeof(CUDA_KERNEL_NODE_PARAMS_v1) == offsetof(cu_kernel_node, kernel),
               "version 1 of the parameters of a kernel node is no prefix");
_Static_assert(sizeof(cu_tensor_map) == sizeof(CUtensorMap) &&
                   _Alignof(cu_tensor_map) >= _Alignof(CUtensorMap),
               "CUtensorMap has another size or alignment");

/* The calls, with the structures of cuda.h in the places of ours: they were compared above. */
#define cu_uuid CUuuid
#define cu_mem_prop CUmemAllocationProp
#define cu_mem_access CUmemAccessDesc
#define cu_launch_config CUlaunchConfig
#define cu_kernel_node CUDA_KERNEL_NODE_PARAMS
#define cu_tensor_map CUtensorMap
#define cu_graph_edge CUgraphEdgeData
#define SAME_CALL(symbol, since, parameters)                                                       \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&(symbol)), cu_result(*) parameters),   \
                   #symbol " has other parameters");
#if CUDA_VERSION < 13000
CUresult CUDAAPI cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device);
#endif
CUDA_SYMBOLS(SAME_CALL)

int main(void)
{
    printf("compared with cuda.h of CUDA %d.%d\n", CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10);
    return 0;
}

#else

int main(void)
{
    printf("SKIPPED: no cuda.h of CUDA 12.4 or later\n");
    return 77;
}

#endif
