#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the traces of this folder: python3 make.py. They are of no machine; times are chosen so that
each shows one thing, and small enough to be counted by hand."""
import json
import os
import sqlite3

HERE = os.path.dirname(os.path.abspath(__file__))
GEMM = "nvjet_tst_64x8_64x16_4x1_v_bz_TNT"
NORM = ("void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>"
        "(int, float, c10::BFloat16 const*, c10::BFloat16*)")
ACT = ("void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
       "std::array<char*, 1ul> >(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)")
REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
RUNTIME, LAUNCH = "cuda_runtime", "cudaLaunchKernel"


class Trace:
    """Events of a Kineto trace; times in us."""

    def __init__(self, rank=None, world=None):
        self.events, self.correlation = [], 0
        self.head = {"schemaVersion": 1, "deviceProperties": [
            {"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150000000000, "computeMajor": 9,
             "computeMinor": 0, "numSms": 132}], "cupti_version": 130001, "record_shapes": 1}
        if rank is not None:
            self.head["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": world}

    def event(self, cat, name, ts, dur, pid=4000, tid=4000, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid,
                            "ts": round(ts + 0.125, 3), "dur": round(dur, 3), "args": args})

    def op(self, name, ts, dur, dims=None):
        args = {"Input Dims": dims, "Input type": ["c10::BFloat16"] * len(dims)} if dims else {}
        self.event("cpu_op", name, ts, dur, **args)

    def call(self, name, ts, dur, correlation=0):
        self.event(RUNTIME, name, ts, dur, correlation=correlation)

    def launch(self, kernel, at, start, dur, stream=7, call=LAUNCH, took=5):
        self.correlation += 1
        self.call(call, at, took, self.correlation)
        self.kernel(kernel, start, dur, stream)

    def kernel(self, name, start, dur, stream=7, correlation=None, **args):
        self.event("kernel", name, start, dur, 0, stream, device=0, context=1, stream=stream,
                   correlation=correlation or self.correlation, grid=[132, 1, 1],
                   block=[256, 1, 1], **args)

    def copy(self, name, at, start, dur, size, call="cudaMemcpyAsync", took=5):
        self.correlation += 1
        self.call(call, at, took, self.correlation)
        self.event("gpu_memcpy", name, start, dur, 0, 7, device=0, context=1, stream=7,
                   correlation=self.correlation, bytes=size)

    def save(self, name, cut=None):
        lines = ",\n".join(json.dumps(event, separators=(",", ":")) for event in self.events)
        head = json.dumps(self.head, separators=(",", ":"))[:-1]
        text = '%s,"traceEvents":[\n%s\n]}\n' % (head, lines)
        with open(os.path.join(HERE, name), "w", encoding="ascii") as file:
            file.write(text if cut is None else text[:cut])


def decode(rank=None, world=None, late=0.0):
    """Four steps of a decoder: the host needs 60 us for each kernel of 4 us, and reads a result."""
    trace, at = Trace(rank, world), 100.0
    for step in range(4):
        begin = at
        for kernel, op, dims in [(NORM, "aten::layer_norm", [[1, 4096], [4096]]),
                                 (GEMM, "aten::mm", [[1, 4096], [4096, 4096]]),
                                 (ACT, "aten::fill_", [[1, 4096]])] * 2:
            trace.op(op, at, 50, dims)
            trace.launch(kernel, at + 40, at + 48, 12 if kernel == GEMM else 3)
            at += 60
        if rank is not None:
            trace.launch(REDUCE, at, at + 8, 40 - late, call="cudaLaunchKernelExC")
            at += 60
        trace.op("aten::item", at, 60, [[1]])
        trace.copy("Memcpy DtoH (Device -> Pageable)", at + 10, at + 16, 2, 4, took=20)
        trace.call("cudaStreamSynchronize", at + 32, 20)
        at += 80 + late
        trace.event("user_annotation", "ProfilerStep#%d" % step, begin, at - begin)
        at += 20
    return trace


def prefill():
    """The host runs ahead: kernels of 400 us, launched every 20 us."""
    trace, start = Trace(), 120.0
    for i in range(16):
        name, dur = (GEMM, 400) if i % 2 == 0 else (NORM, 90)
        trace.op("aten::mm" if i % 2 == 0 else "aten::layer_norm", 95 + 20 * i, 18,
                 [[8192, 4096], [4096, 4096]] if i % 2 == 0 else [[8192, 4096], [4096]])
        trace.launch(name, 100 + 20 * i, start, dur)
        start += dur + 1.5
    trace.call("cudaDeviceSynchronize", 420, start - 410)
    return trace


def graph():
    """Four replays of a graph of six kernels."""
    trace, at = Trace(), 100.0
    for step in range(4):
        trace.correlation += 1
        trace.call("cudaGraphLaunch", at, 12, trace.correlation)
        start = at + 20
        for kernel in [NORM, GEMM, ACT] * 2:
            dur = 12 if kernel == GEMM else 3
            trace.kernel(kernel, start, dur, **{"graph id": 3, "graph node id": 10 + step})
            start += dur + 1
        trace.event("user_annotation", "decode step %d" % step, at, start - at)
        at = start - 12
    return trace


def copies():
    """Inputs are copied from pageable memory, and kernels wait for them."""
    trace, at = Trace(), 100.0
    for _ in range(6):
        trace.copy("Memcpy HtoD (Pageable -> Device)", at, at + 10, 500, 12582912, "cudaMemcpy",
                   515)
        trace.launch(GEMM, at + 520, at + 526, 150)
        at += 690
    return trace


def start():
    """A benchmark of a dozen kernels behind a start of 30 ms, in which code is loaded."""
    trace, at = Trace(), 30100.0
    trace.copy("Memcpy HtoD (Pinned -> Device)", 100, 110, 20, 524288)
    trace.call("cuLibraryLoadData", 4000, 1500)
    for _ in range(12):
        trace.launch(GEMM, at, at + 8, 1000)
        at += 1040
    return trace


def exposed():
    """Products that a reduction follows, which nothing overlaps: a rank that waits for the others."""
    trace, begin = Trace(0, 8), 140.0
    for i in range(12):
        kernel, dur = (GEMM, 100) if i % 2 == 0 else (NORM, 20)
        trace.launch(kernel, 100 + 24 * i, begin, dur)
        trace.launch(REDUCE, 112 + 24 * i, begin + dur + 2, 150, 13, "cudaLaunchKernelExC")
        begin += dur + 154
    return trace


def loader():
    """Data is loaded in the step, in an operation: 20 ms without a call, and as long without one."""
    trace, at = Trace(), 100.0
    for step in range(4):
        trace.event("cpu_op", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at,
                    20000 if step % 2 == 0 else 1000)
        at += 20000
        trace.copy("Memcpy HtoD (Pageable -> Device)", at + 10, at + 20, 50, 1048576)
        for _ in range(4):
            trace.op("aten::mm", at + 100, 30)
            trace.launch(GEMM, at + 110, at + 120, 2000)
            at += 2040
    return trace


def between_devices():
    """Two GPUs of one process; the second works half as much."""
    trace, at = Trace(), 100.0
    trace.head["deviceProperties"].append(dict(trace.head["deviceProperties"][0], id=1))
    for i in range(8):
        trace.launch(GEMM, at, at + 10, 100)
        if i % 2 == 0:
            trace.correlation += 1
            trace.call(LAUNCH, at + 8, 5, trace.correlation)
            trace.event("kernel", GEMM, at + 20, 60, 1, 7, device=1, context=2, stream=7,
                        correlation=trace.correlation, grid=[132, 1, 1], block=[256, 1, 1])
        at += 120
    return trace


TABLES = """
create table META_DATA_EXPORT (name text, value text);
create table META_DATA_CAPTURE (name text, value text);
create table StringIds (id integer not null primary key, value text);
create table TARGET_INFO_GPU (id integer, name text, memoryBandwidth integer, clockRate integer,
    smCount integer, computeMajor integer, computeMinor integer);
create table CUPTI_ACTIVITY_KIND_KERNEL (start integer, end integer, deviceId integer,
    contextId integer, streamId integer, correlationId integer, globalPid integer,
    demangledName integer, shortName integer, gridX integer, gridY integer, gridZ integer,
    blockX integer, blockY integer, blockZ integer, registersPerThread integer,
    staticSharedMemory integer, dynamicSharedMemory integer);
create table CUPTI_ACTIVITY_KIND_RUNTIME (start integer, end integer, eventClass integer,
    globalTid integer, correlationId integer, nameId integer);
create table CUPTI_ACTIVITY_KIND_MEMCPY (start integer, end integer, deviceId integer,
    contextId integer, streamId integer, correlationId integer, globalPid integer, bytes integer,
    copyKind integer, srcKind integer, dstKind integer);
create table NVTX_EVENTS (start integer, end integer, eventType integer, text text,
    globalTid integer, textId integer);
"""


def database():
    """An export of Nsight Systems: allocation in every step, NVTX ranges, one process."""
    path = os.path.join(HERE, "alloc.sqlite")
    if os.path.exists(path):
        os.remove(path)
    strings = {}

    def text(value):
        return strings.setdefault(value, len(strings) + 1)

    pid, tid = 4000 << 24, 4000 << 24 | 4000
    database = sqlite3.connect(path)
    database.execute("pragma page_size = 1024")
    database.executescript(TABLES)

    def add(table, *values):
        database.execute("insert into %s values (%s)" % (table, ",".join("?" * len(values))), values)

    for row in [("EXPORT_PRODUCT_VERSION", "2025.1.1.118"), ("EXPORT_SCHEMA_VERSION", "3.17.2")]:
        add("META_DATA_EXPORT", *row)
    for row in [("PROCESS_0:COMMAND", "python"), ("PROCESS_0:ARGUMENT_0", "train.py"),
                ("PROCESS_0:ARGUMENT_1", "--token=hunter2"),
                ("PROCESS_0:ENVIRONMENT_VARIABLE", "SECRET_TOKEN=hunter3")]:
        add("META_DATA_CAPTURE", *row)
    add("TARGET_INFO_GPU", 0, "NVIDIA H200", 4915200000000, 1980000000, 132, 9, 0)
    at, correlation = 1000000, 0
    for _ in range(6):
        begin = at
        correlation += 1
        add("CUPTI_ACTIVITY_KIND_RUNTIME", at, at + 300000, 0, tid, correlation,
            text("cudaMalloc_v3020"))
        at += 310000
        for name, short, duration in [(NORM, "vectorized_layer_norm_kernel", 40000),
                                      (GEMM, GEMM, 160000)]:
            correlation += 1
            add("CUPTI_ACTIVITY_KIND_RUNTIME", at, at + 5000, 0, tid, correlation,
                text("cudaLaunchKernel_v7000"))
            start = max(at + 9000, begin + 370000 if name == GEMM else 0)
            add("CUPTI_ACTIVITY_KIND_KERNEL", start, start + duration, 0, 1, 7, correlation, pid,
                text(name), text(short), 132, 1, 1, 256, 1, 1, 64, 0, 49152)
            at += 8000
        correlation += 1
        add("CUPTI_ACTIVITY_KIND_RUNTIME", at, at + 210000, 0, tid, correlation,
            text("cudaFree_v3020"))
        at += 212000
        add("NVTX_EVENTS", begin, at, 59, "step", tid, None)
        at += 3000
    for value, number in strings.items():
        add("StringIds", number, value)
    database.commit()
    database.execute("vacuum")
    database.close()


def main():
    decode().save("decode.json")
    decode().save("truncated.json", 9000)
    decode(0, 2).save("rank0.json")
    decode(1, 2, 30.0).save("rank1.json")
    prefill().save("prefill.json")
    graph().save("graph.json")
    copies().save("copies.json")
    start().save("start.json")
    exposed().save("exposed.json")
    loader().save("loader.json")
    between_devices().save("devices.json")
    empty = Trace()
    empty.op("aten::mm", 100, 50, [[8, 8], [8, 8]])
    empty.call("cudaGetDeviceCount", 110, 3)
    empty.save("no_gpu.json")
    long = Trace()
    long.launch("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x256x8_stage3_warpsize1x4x1_ffma_"
                "aligna4_alignc4_execute_kernel__5x_cublas<cutlass::half_t, 64, 256, 8, true, false, "
                "cutlass::epilogue::LinearCombination<float, 4>>", 100, 120, 900)
    long.launch(NORM, 110, 1021, 100)
    long.save("long_names.json")
    lost = Trace()
    lost.call("cudaMemcpy", 110, 3, 1)
    lost.call(LAUNCH, 120, 3, 2)
    lost.call("cudaDeviceSynchronize", 130, 30)
    lost.save("lost_gpu.json")
    database()


main()
