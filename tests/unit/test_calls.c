/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"
#include "timeline/account/account.h"

typedef struct call_case {
    const char *name;
    call_class class;
    bool is_async;
} call_case;

/* clang-format off */
static call_case calls[] = {
    {"cudaLaunchKernel", CALL_LAUNCH, false},
    {"cudaLaunchKernel_v7000", CALL_LAUNCH, false},
    {"cudaLaunchKernel_ptsz_v7000", CALL_LAUNCH, false},
    {"cudaLaunchKernelExC_v11060", CALL_LAUNCH, false},
    {"cudaLaunchCooperativeKernel", CALL_LAUNCH, false},
    {"cuLaunchKernelEx", CALL_LAUNCH, false},
    {"hipLaunchKernel", CALL_LAUNCH, false},
    {"hipModuleLaunchKernel", CALL_LAUNCH, false},
    {"hipExtModuleLaunchKernel", CALL_LAUNCH, false},
    {"cudaLaunchHostFunc_v10000", CALL_OTHER, false},
    {"cudaGraphLaunch_v10000", CALL_GRAPH_LAUNCH, false},
    {"cuGraphLaunch_ptsz", CALL_GRAPH_LAUNCH, false},
    {"hipGraphLaunch", CALL_GRAPH_LAUNCH, false},
    {"cudaGraphInstantiate_v12000", CALL_GRAPH_BUILD, false},
    {"cudaGraphInstantiateWithFlags_v11040", CALL_GRAPH_BUILD, false},
    {"cudaGraphExecUpdate_v10020", CALL_GRAPH_BUILD, false},
    {"cudaGraphExecDestroy_v10000", CALL_GRAPH_BUILD, false},
    {"cudaGraphUpload_v10000", CALL_GRAPH_BUILD, false},
    {"cudaStreamBeginCapture_v10000", CALL_CAPTURE_BEGIN, false},
    {"cudaStreamEndCapture_v10000", CALL_CAPTURE_END, false},
    {"cuStreamBeginCapture_v2_ptsz", CALL_CAPTURE_BEGIN, false},
    {"hipStreamEndCapture", CALL_CAPTURE_END, false},
    {"cudaStreamIsCapturing_v10000", CALL_OTHER, false},
    {"cuGraphicsMapResources", CALL_OTHER, false},
    {"cudaDeviceSynchronize_v3020", CALL_SYNC, false},
    {"cudaThreadSynchronize_v3020", CALL_SYNC, false},
    {"cudaStreamSynchronize_ptsz", CALL_SYNC, false},
    {"cudaEventSynchronize", CALL_SYNC, false},
    {"cuCtxSynchronize", CALL_SYNC, false},
    {"hipDeviceSynchronize", CALL_SYNC, false},
    {"cudaStreamWaitEvent_v3020", CALL_OTHER, false},
    {"cudaEventQuery", CALL_OTHER, false},
    {"cuStreamWaitValue32_v2", CALL_OTHER, false},
    {"cudaMalloc_v3020", CALL_ALLOC, false},
    {"cudaMallocAsync_v11020", CALL_ALLOC, true},
    {"cudaFreeAsync_ptsz", CALL_ALLOC, true},
    {"cudaMallocHost", CALL_ALLOC, false},
    {"cudaFree", CALL_ALLOC, false},
    {"cudaFreeHost", CALL_ALLOC, false},
    {"cudaHostAlloc_v3020", CALL_ALLOC, false},
    {"cudaHostRegister", CALL_ALLOC, false},
    {"cuMemAlloc_v2", CALL_ALLOC, false},
    {"cuMemFree_v2", CALL_ALLOC, false},
    {"cuMemCreate", CALL_ALLOC, false},
    {"cuMemMap", CALL_ALLOC, false},
    {"cuMemSetAccess", CALL_ALLOC, false},
    {"cuMemAddressReserve", CALL_ALLOC, false},
    {"hipMalloc", CALL_ALLOC, false},
    {"hipHostMalloc", CALL_ALLOC, false},
    {"hipExtMallocWithFlags", CALL_ALLOC, false},
    {"cudaMemGetInfo_v3020", CALL_OTHER, false},
    {"cuModuleLoadData", CALL_MODULE, false},
    {"cuModuleLoadDataEx", CALL_MODULE, false},
    {"cuModuleGetFunction", CALL_MODULE, false},
    {"cuModuleGetLoadingMode", CALL_OTHER, false},
    {"cuLibraryLoadData", CALL_MODULE, false},
    {"cuLibraryGetKernel", CALL_MODULE, false},
    {"cuKernelGetFunction", CALL_MODULE, false},
    {"cuKernelGetName", CALL_OTHER, false},
    {"cuLinkComplete", CALL_MODULE, false},
    {"nvrtcCompileProgram", CALL_MODULE, false},
    {"hiprtcCompileProgram", CALL_MODULE, false},
    {"hipModuleLoadData", CALL_MODULE, false},
    {"__cudaRegisterFatBinary", CALL_MODULE, false},
    {"cudaMemcpy_v3020", CALL_COPY, false},
    {"cudaMemcpyAsync_ptsz_v3020", CALL_COPY, true},
    {"cudaMemcpy2DAsync_v3020", CALL_COPY, true},
    {"cuMemcpyHtoD_v2", CALL_COPY, false},
    {"hipMemcpyWithStream", CALL_COPY, false},
    {"cudaMemsetAsync_v3020", CALL_COPY, true},
    {"cudaEventRecord_v3020", CALL_OTHER, false},
    {"cudaGetLastError", CALL_OTHER, false},
    {"INVALID", CALL_OTHER, false},
    {"cuda", CALL_OTHER, false},
    {"_v3020", CALL_OTHER, false},
};
/* clang-format on */

static void class_is(void **state)
{
    const call_case *const row = *state;

    assert_int_equal(call_class_of(row->name, strlen(row->name)), row->class);
    assert_int_equal(call_is_async(row->name, strlen(row->name)), row->is_async);
}

static void nothing_is_other(void **state)
{
    (void)state;
    assert_int_equal(call_class_of("", 0), CALL_OTHER);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, class_is, calls);
    cases_add(&list, "no name", nothing_is_other, NULL);
    return cases_run(&list, "calls");
}
