/* SPDX-License-Identifier: Apache-2.0
 *
 * What each finding means: the texts of `ridge explain`. A title also stands in the sentence of the
 * verdict, "Latency-bound: too few resident warps (TITLE)", "Memory-bound: ... busy 94 %: TITLE".
 * The numbers are those of diagnose_internal.h; docs/diagnosis.md has the procedure as a whole. */
#include <string.h>

#include "ridge/diagnose.h"

#define PROFILING_GUIDE "Nsight Compute, Kernel Profiling Guide: "
#define PROGRAMMING_GUIDE "CUDA C++ Programming Guide: "
#define BEST_PRACTICES "CUDA C++ Best Practices Guide: "

/* How every finding that rests on a stall is decided. */
#define OF_THE_WAITING                                                                             \
    "of the waiting, which is all stall reasons but selected and not_selected. It comes first "    \
    "when no unit is near its limit and this reason leads; on a saturated kernel it is no "        \
    "finding, for something has to wait there."

static const ridge_topic topics[] = {
    /* -- device memory ------------------------------------------------------------------------- */
    {
        .id = "memory_bandwidth",
        .title = "the bytes that device memory moves",
        .meaning =
            "Device memory transfers data most of the time. A good copy reaches about 92 % "
            "on an H200; refresh and turning between reads and writes take the rest. At that "
            "point occupancy, stalls and instructions do not matter: a warp waits for memory "
            "because memory is full.",
        .decided = "The busiest unit is DRAM. From 80 % on it is the wall and the kernel is at the "
                   "limit; from 60 % on (other units: 72 %) it is near and the rest up to 92 % is "
                   "given as gain. A cause that wastes bytes (uncoalesced_access, register_spill, "
                   "repeated_reads) is ranked above it.",
        .change =
            "Move fewer bytes: fuse with the kernel that produces or consumes the data, "
            "recompute instead of reading, store bf16 or fp8 instead of float, order blocks so "
            "that reused data is still in L2. Near the limit only: 16 bytes a lane "
            "(reinterpret_cast<const uint4 *>) and more loads before the first use. What the bytes "
            "allow: ridge bound.",
        .read = BEST_PRACTICES "Device Memory Spaces, Bandwidth. " PROFILING_GUIDE
                               "Roofline Charts, Memory Tables.",
    },
    {
        .id = "repeated_reads",
        .title = "data that is read from device memory more than once",
        .meaning =
            "The kernel moves more bytes than the operation needs: an input is fetched again "
            "after it left the caches, or every pass reads the whole array.",
        .decided = "Only with --bytes or --workload, since the report does not say what the work "
                   "needs: bytes moved to and from device memory are more than 1.25 times the "
                   "compulsory ones (each input read once, each output written once).",
        .change =
            "Keep the row or tile in registers or shared memory between the passes; merge the "
            "passes (an online softmax, a one-pass variance); let blocks that share an input "
            "run at the same time, by remapping blockIdx in groups.",
        .read = BEST_PRACTICES "Shared Memory, L2 Cache. " PROFILING_GUIDE "Memory Tables.",
    },
    {
        .id = "remote_memory",
        .title = "memory that is not on this GPU",
        .meaning =
            "L2 misses are served over PCIe or NVLink, from memory of the host (pinned or "
            "managed) or of another GPU. The link is tens of times slower than device memory "
            "and takes longer to answer.",
        .decided = "L2 misses to system memory and to peers, at 32 bytes a sector, are more than "
                   "2.5 GB/s over the time of the kernel: a tenth of what a PCIe 4.0 x16 link "
                   "carries.",
        .change = "Copy the data first (cudaMemcpyAsync, cudaMemPrefetchAsync for managed memory) "
                  "and overlap the copy with other work in a second stream. If reading in place is "
                  "meant, read each byte once and 16 bytes a lane.",
        .read =
            PROGRAMMING_GUIDE "Unified Memory Programming, Page-Locked Host Memory, Multi-Device "
                              "System.",
    },
    {
        .id = "register_spill",
        .title = "local memory (spilled registers or indexed arrays)",
        .meaning = "Local memory is private to a thread and lies in device memory behind L1. The "
                   "compiler uses it for registers that did not fit (spills) and for arrays that "
                   "are indexed with values known only at run time. Both are loads and stores that "
                   "the source does not show.",
        .decided = "Local loads and stores are more than 5 % of the L1 sectors of global and local "
                   "accesses. Whether it is a spill or an array is said when the cubin records "
                   "spills (CUDA 13). At an L1 wall it comes first only when local accesses are at "
                   "least 15 % of all accesses: shared memory fills the same pipe.",
        .change =
            "Spills: allow more registers (__launch_bounds__(threads, fewer blocks), a smaller "
            "block), or keep less alive: smaller tiles, less unrolling. Arrays: make every "
            "index a compile-time constant with #pragma unroll, or put the array into shared "
            "memory. Check with ridge inspect, or nvcc -Xptxas -v.",
        .read = PROGRAMMING_GUIDE "Device Memory Accesses (Local Memory), Launch Bounds. "
                                  "CUDA Compiler Driver NVCC: Printing Code Generation Statistics.",
    },
    /* -- the access pattern -------------------------------------------------------------------- */
    {
        .id = "uncoalesced_access",
        .title = "uncoalesced global access",
        .meaning = "A global access of a warp is cut into sectors of 32 bytes. When lanes touch "
                   "neighbours, 32 loads of 4 bytes are 4 sectors; when each lane has a row of its "
                   "own they are 32, and most of each sector is moved in vain.",
        .decided = "Over all instructions, the L2 sectors beyond the ideal are at least 20 %. "
                   "It comes first at a DRAM or L2 wall, at an L1 wall when global accesses "
                   "outnumber shared ones, and near the top where loads are what warps wait "
                   "for. Where another unit binds it is listed under what not to chase.",
        .change = "Let threadIdx.x run over the index that is contiguous in memory: "
                  "a[row * n + threadIdx.x], not a[threadIdx.x * n + column]. Where the algorithm "
                  "needs the other direction, load a tile coalesced and turn it in shared memory "
                  "(rows padded by one element); store records as a structure of arrays.",
        .read = BEST_PRACTICES "Coalesced Access to Global Memory. " PROGRAMMING_GUIDE
                               "Device Memory Accesses (Global Memory).",
    },
    {
        .id = "l2_bandwidth",
        .title = "the traffic between L1 and L2",
        .meaning = "The L2 cache, or the crossbar between it and the SMs, is the busiest unit: the "
                   "data is on the chip but passes the crossbar too often.",
        .decided =
            "The busiest unit is one of L2 (tags, sectors, data, crossbar) and its accesses "
            "are useful: if sectors are wasted, uncoalesced_access stands above it, if local "
            "memory causes them, register_spill.",
        .change = "Reuse more before going to L2: larger tiles in shared memory or registers, one "
                  "load for several blocks of a cluster (TMA multicast on sm_90), narrower types, "
                  "__ldg or const __restrict__ so that L1 may keep read-only data.",
        .read = PROFILING_GUIDE "Memory Chart, Memory Tables. " PROGRAMMING_GUIDE
                                "Thread Block Clusters, Device Memory L2 Access Management.",
    },
    {
        .id = "narrow_access",
        .title = "global accesses of 1 or 2 bytes a lane",
        .meaning = "A warp that loads one bf16 a lane moves 64 bytes an instruction where 512 fit. "
                   "Coalesced as it is, it needs eight times the instructions and L1 requests, and "
                   "has an eighth of the bytes under way while it waits.",
        .decided = "At least 30 % of the executed global accesses are 8 or 16 bits wide, by the "
                   "opcodes (LDG.U8, LDG.U16, STG.U16). Ranked first where loads are what warps "
                   "wait for or where the load/store path binds, second behind occupancy and a "
                   "small grid, lower where DRAM is busy anyway.",
        .change = "Load and store 16 bytes a lane: uint4 or float4 through reinterpret_cast, eight "
                  "bf16 in registers, with a scalar loop for the ends of a row. Alignment to 16 "
                  "bytes has to be checked by the host. half2 and __nv_bfloat162 are half a step.",
        .read =
            PROGRAMMING_GUIDE "Built-in Vector Types, Device Memory Accesses (Size and Alignment "
                              "Requirement).",
    },
    /* -- L1 and shared memory ------------------------------------------------------------------ */
    {
        .id = "shared_bank_conflict",
        .title = "shared-memory bank conflicts",
        .meaning =
            "Shared memory has 32 banks of 4 bytes. Lanes that touch different words of one "
            "bank are served one after the other; each further turn (wavefront) occupies the "
            "L1 data pipe like a whole access. Lanes that read the same word share one turn.",
        .decided = "Over all instructions, the wavefronts beyond the ideal are at least 20 %. "
                   "What counts is measured over ideal wavefronts: an LDS.128 needs 4 by "
                   "itself, so wavefronts per instruction are no degree of conflict. It is a "
                   "finding when the L1 data pipe is the wall, in a matrix kernel that no unit "
                   "bounds, and where that pipe is at 40 % and 30 % of the waiting is for "
                   "shared memory; otherwise it is listed under what not to chase. A conflict "
                   "counter of the profiler without such excess is arbitration between the "
                   "users of the pipe, and padding does not change it.",
        .change =
            "Scalar accesses with a row stride: pad the row, __shared__ float tile[32][33]. "
            "Matrix operands (ldmatrix, stmatrix, wgmma): swizzle writer and reader together, "
            "chunk ^= row % 8 on chunks of 16 bytes; rows filled by 16-byte cp.async need "
            "16-byte alignment, so no odd padding there, and swizzled rows cost that copy less "
            "than padded ones. ridge banks --solve finds the layout for a set of accesses.",
        .read =
            PROGRAMMING_GUIDE "Shared Memory (of each compute capability). " BEST_PRACTICES
                              "Shared Memory and Memory Banks. PTX ISA: ldmatrix; Shared Memory "
                              "Matrix Layout (swizzling modes).",
    },
    {
        .id = "shared_traffic",
        .title = "shared-memory traffic",
        .meaning = "The data pipe between shared memory and registers moves 128 bytes a cycle and "
                   "SM. It is full of accesses that are free of conflicts: the algorithm reads too "
                   "much from shared memory for each operation.",
        .decided = "The wall is L1, shared accesses are at least as many as global ones, and "
                   "less than 20 % of their wavefronts are beyond the ideal.",
        .change = "Use each value that was read several times: let a thread compute a tile of "
                  "outputs (8 by 8 in a float GEMM reads 16 values for 64 multiply-adds), read "
                  "float4, use shuffles within a warp. Tensor cores: larger warp tiles, "
                  "ldmatrix.x4, on sm_90 wgmma with operands in shared memory.",
        .read = BEST_PRACTICES "Shared Memory in Matrix Multiplication. " PROFILING_GUIDE
                               "Memory Tables (Shared Memory).",
    },
    {
        .id = "l1_traffic",
        .title = "the number of load/store requests",
        .meaning = "The load/store path into L1 takes a limited number of requests a cycle, "
                   "whatever they hit. Global accesses fill it although most may hit in L1.",
        .decided =
            "The wall is L1 (data pipe, requests, write-back, or the load/store instructions "
            "that the profiler counts as compute) and global accesses outnumber shared ones.",
        .change =
            "Fewer and wider accesses: 16 bytes a lane, values used twice kept in a register, "
            "what all lanes share through __ldg or constant memory, tables that are read at "
            "random in shared memory.",
        .read = PROFILING_GUIDE "Memory Chart, Pipelines (LSU), Metrics Decoder (L1/TEX Cache).",
    },
    {
        .id = "atomic_contention",
        .title = "many updates of few addresses",
        .meaning =
            "Atomics on global memory are carried out in L2, one after the other for one "
            "address; atomics on shared memory are replayed for lanes that hit one word. The "
            "units look idle while everybody queues for the same address.",
        .decided = "Atomics are at least 20 % of the global accesses (or of the shared ones), "
                   "by the opcodes ATOM, RED, ATOMS. Global ones are the wall when no unit is "
                   "near its limit and the atomic unit of L2 is within 10 points of the "
                   "busiest part of L2. The share alone proves nothing, for compilers combine "
                   "lanes themselves (ATOMS.POPC.INC): shared ones come first only at an L1 "
                   "wall or when warps wait most for shared memory.",
        .change =
            "Combine before the atomic: __reduce_add_sync over the warp (lanes of one address: "
            "__match_any_sync), then shared memory for the block, then one atomic a block and "
            "address. Histograms: one copy a warp or block, added up at the end.",
        .read = PROGRAMMING_GUIDE "Atomic Functions, Warp Reduce Functions, Warp Match Functions.",
    },
    /* -- compute ------------------------------------------------------------------------------- */
    {
        .id = "tensor_pipe",
        .title = "how well the tensor pipe is fed",
        .meaning =
            "The kernel does its work in matrix instructions (HMMA, IMMA, wgmma). The tensor "
            "pipe is the wall when it is full; when it is not, operands do not arrive in "
            "time or other instructions stand between.",
        .decided = "The tensor pipe is at or near its limit, also when another unit (often the "
                   "shared memory that feeds it) is up to 10 points busier and under 20 % of "
                   "the shared wavefronts are conflicts. Below that: the pipe is at 30 % or "
                   "more and within 10 points of the busiest compute unit. Low occupancy is "
                   "then a choice of design, for such kernels live on independent instructions "
                   "of one warp.",
        .change = "Full: only less arithmetic helps (FP8 or INT8, skipped tiles of a causal mask). "
                  "Not full: more stages of cp.async or TMA, fragments of the next k step loaded "
                  "before the mma of this one, larger warp tiles, on sm_90 wgmma with producer and "
                  "consumer warps; conversions and address arithmetic out of the loop.",
        .read = "PTX ISA: Warp Level Matrix Multiply-Accumulate Instructions, Asynchronous "
                "Warpgroup Level Matrix Multiply-Accumulate Instructions. CUTLASS documentation: "
                "Efficient GEMM in CUDA.",
    },
    {
        .id = "compute_pipe",
        .title = "the amount of arithmetic",
        .meaning = "One arithmetic pipe (FMA, ALU for integers and logic, FP64) has an instruction "
                   "nearly every cycle that it can take one.",
        .decided = "The busiest unit is FMA, ALU or FP64 at 72 % or more (gate 5: from 60 %), "
                   "also when the issue slots or DRAM are up to 5 points busier, since the "
                   "pipe does the useful work. It is also named where instruction issue is the "
                   "wall and the pipe itself is at 72 % or more.",
        .change =
            "FMA: fmaf, packed __hfma2, tensor cores for what is a matrix product. ALU: index "
            "arithmetic hoisted out of the loop, shifts and masks for divisions by constants, "
            "fewer compares and selects. FP64: look for double constants (1.0 for 1.0f) and "
            "double functions before changing the algorithm.",
        .read = PROFILING_GUIDE
        "Pipelines. " BEST_PRACTICES "Arithmetic Instructions. " PROGRAMMING_GUIDE
        "Maximize Instruction Throughput (throughput of native arithmetic instructions).",
    },
    {
        .id = "issue_bound",
        .title = "the number of instructions",
        .meaning = "Each of the four schedulers of an SM issues at most one warp instruction a "
                   "cycle. They do so nearly always: whatever the instructions are, there are too "
                   "many of them.",
        .decided = "Issue slots are the busiest unit at 72 % or more (gate 5: from 60 %) and no "
                   "arithmetic pipe is within 5 points of them. It is also listed, behind, when "
                   "another compute unit is the wall and the issue slots are at 72 % or more.",
        .change = "Do more with an instruction: 16-byte loads and stores, __hfma2 and other "
                  "packed arithmetic, one conversion for two values, index arithmetic hoisted "
                  "out of the loop, #pragma unroll to spare loop counters. What there is to "
                  "save: ridge metrics --instances FILE sass__inst_executed_per_opcode.",
        .read = PROFILING_GUIDE "Scheduler Statistics, Instruction Statistics. " BEST_PRACTICES
                                "Instruction Optimization.",
    },
    {
        .id = "special_function",
        .title = "special functions",
        .meaning = "exp2, log2, sin, cos, rsqrt, reciprocal (MUFU) and some conversions run on "
                   "the XU pipe: 16 results a cycle and SM, where the FMA pipe of sm_90 has "
                   "128.",
        .decided = "XU is the busiest unit, at or near its limit, or within 5 points of the issue "
                   "slots or DRAM.",
        .change = "Share one exp or reciprocal between results; fold the factor log2(e) into "
                  "a constant and use exp2f; __expf, __fdividef and rsqrtf where their error "
                  "is allowed; compute a part of the elements with a polynomial on the FMA "
                  "pipe.",
        .read = PROGRAMMING_GUIDE "Maximize Instruction Throughput, Mathematical Functions "
                                  "(Intrinsic Functions). " PROFILING_GUIDE "Pipelines (XU).",
    },
    {
        .id = "conversion",
        .title = "conversions between number formats",
        .meaning = "F2F, F2FP, I2F, F2I and their like change the format of a number and do no "
                   "work. Many of them run at a fraction of the rate of an addition.",
        .decided = "The kernel is compute-bound and at least 25 % of the executed instructions are "
                   "conversions, by opcode.",
        .change = "Convert two at once (__floats2bfloat162_rn is one F2FP), keep values in float "
                  "between the steps, convert when a tile is staged rather than in the inner loop, "
                  "unpack integers with __byte_perm and a magic number instead of I2F.",
        .read = PROGRAMMING_GUIDE "Maximize Instruction Throughput (type conversions). "
                                  "CUDA Math API: Type Casting Intrinsics.",
    },
    {
        .id = "thread_divergence",
        .title = "lanes of a warp that take different paths",
        .meaning = "When lanes branch differently the warp runs each path in turn with part of its "
                   "lanes. Issue slots and pipes are as busy as with full warps.",
        .decided =
            "Fewer than 24 of 32 threads are active in an instruction on average, and a block "
            "has at least a warp of threads. It comes first on a compute-bound kernel, and "
            "on a latency-bound one below 16 threads or when 15 % of the waiting is for "
            "branches.",
        .change = "Give a path to a whole warp: sort or bin the items by case, let a warp work on "
                  "one item, replace short branches by selects, move the rare path into a second "
                  "kernel. Loops of different length: take the next item when a lane is done, in "
                  "place of waiting for the longest.",
        .read = PROGRAMMING_GUIDE "SIMT Architecture, Control Flow Instructions. " BEST_PRACTICES
                                  "Branching and Divergence.",
    },
    /* -- latency ------------------------------------------------------------------------------- */
    {
        .id = "load_in_flight",
        .title = "too few loads in flight",
        .meaning = "Device memory answers after 600 to 800 cycles. To keep it busy an SM needs "
                   "latency times bandwidth under way (about 13 KiB on an H200). What is under way "
                   "is resident warps times the bytes that a warp loads before its first use of "
                   "them.",
        .decided = "long_scoreboard is at least 15 % " OF_THE_WAITING
                   " The bytes under way come from the machine code: widths of the loads between "
                   "two waits for them, weighted by size; the need from the peak bandwidth and 700 "
                   "cycles.",
        .change =
            "Issue several independent loads before using one: #pragma unroll 4 with the loads "
            "first, 16 bytes a lane, the next iteration prefetched into registers. On sm_80 "
            "cp.async, on sm_90 TMA, with two or more stages. More resident warps do the same "
            "where they are cheaper.",
        .read = BEST_PRACTICES "Asynchronous Copy from Global Memory to Shared Memory, Hiding "
                               "Register Dependencies. " PROFILING_GUIDE "Warp Stall Reasons.",
    },
    {
        .id = "async_copy_not_overlapped",
        .title = "asynchronous copies that are waited for at once",
        .meaning = "cp.async lets a warp go on while data travels to shared memory. A loop that "
                   "issues a copy, waits for all copies and passes a barrier in the same iteration "
                   "gets nothing of that.",
        .decided = "In the machine code, the innermost loop around an LDGSTS waits for group 0 "
                   "(DEPBAR.LE with count 0) and passes a barrier, and leaves no group under way. "
                   "The kernel is latency-bound or in between, and long_scoreboard or barrier is "
                   "at least 15 % of the waiting.",
        .change =
            "Keep a stage under way: two buffers, the copy of tile k + 1 issued before the "
            "work on tile k, cp.async.wait_group 1 instead of 0. With cuda::pipeline: as many "
            "stages as buffers.",
        .read = PROGRAMMING_GUIDE "Asynchronous Data Copies using cuda::pipeline. PTX ISA: "
                                  "cp.async, cp.async.wait_group.",
    },
    {
        .id = "lg_throttle",
        .title = "too many small global accesses",
        .meaning = "The queue of global and local accesses in front of L1 is full, so a warp that "
                   "wants to add one has to wait although its operands are there.",
        .decided = "lg_throttle is at least 15 % " OF_THE_WAITING
                   " At an L1 or L2 wall it is named from 30 % on: there it is how the wall shows.",
        .change =
            "Fewer, wider accesses: 16 bytes a lane; neighbouring stores combined in registers "
            "or shared memory first; spills and redundant loads removed.",
        .read = PROFILING_GUIDE "Warp Stall Reasons (LG Throttle), Pipelines (LSU).",
    },
    {
        .id = "shared_latency",
        .title = "the latency of shared memory or special functions",
        .meaning = "A shared-memory load takes some 30 cycles, a special function about as long. "
                   "Warps use the result at once, or the queue (MIO) in front of both units is "
                   "full.",
        .decided =
            "The larger of short_scoreboard and mio_throttle is at least 15 %, both together "
            "at least 20 % " OF_THE_WAITING
            " Not at an L1 wall and not with bank conflicts, which have findings of their "
            "own.",
        .change = "Read shared values a step earlier and 8 or 16 bytes at once, keep what is read "
                  "twice in registers, exchange within a warp by __shfl_sync. Special functions: "
                  "interleave independent ones.",
        .read = PROFILING_GUIDE "Warp Stall Reasons (Short "
                                "Scoreboard, MIO Throttle), Pipelines (LSU, XU).",
    },
    {
        .id = "barrier",
        .title = "warps that wait for the slowest of their block",
        .meaning =
            "At __syncthreads() every warp waits for the last one. With unequal work between "
            "barriers, or one block an SM, nothing else can run meanwhile.",
        .decided = "barrier is at least 15 % " OF_THE_WAITING
                   " The unit that carries out barriers (ADU) may be at 72 % or more then: it is "
                   "full of barriers, so the wall is still the barrier.",
        .change =
            "Equal work for all warps between barriers; fewer barriers (double-buffered shared "
            "memory needs one an iteration, not two); smaller blocks, so that another block "
            "runs meanwhile; __syncwarp() or a named barrier (bar.sync id, count) for the "
            "warps that exchange data; warp shuffles for reductions.",
        .read = PROGRAMMING_GUIDE "Synchronization Functions, Cooperative Groups, Asynchronous "
                                  "Barrier. PTX ISA: bar, barrier.",
    },
    {
        .id = "dependency_chain",
        .title = "a chain of dependent instructions",
        .meaning =
            "An arithmetic instruction gives its result after a fixed number of cycles, four "
            "or more. Each instruction of a chain waits for the one before, and there are too "
            "few warps to fill the gaps.",
        .decided = "wait is at least 15 % " OF_THE_WAITING,
        .change = "Several independent accumulators (four partial sums, added at the end), loops "
                  "unrolled so that two iterations interleave, a tree in place of a chain; or more "
                  "resident warps.",
        .read = PROFILING_GUIDE "Warp Stall Reasons (Wait). " BEST_PRACTICES
                                "Hiding Register Dependencies.",
    },
    {
        .id = "instruction_cache",
        .title = "waiting for the next instruction",
        .meaning = "The next instruction is not there yet. Straight code of more than some tens of "
                   "KiB, heavy unrolling and many jumps make the fetch the limit; so does a kernel "
                   "that is over before its code is cached.",
        .decided = "no_instruction is at least 15 % of the waiting and no unit is saturated. "
                   "It is the wall when the reason leads, or from 15 % on where loads do not "
                   "lead. The size of the function's code is given with it; code under 16 KiB "
                   "stays in the caches, so there it is the first fetch in each SM, which only "
                   "a short kernel notices.",
        .change =
            "Less code in the hot loop: #pragma unroll 1 or a smaller factor, rare paths in a "
            "__noinline__ function, template variants merged; a loop over tiles in place of "
            "unrolled tiles.",
        .read = PROFILING_GUIDE "Warp Stall Reasons (No Instruction).",
    },
    {
        .id = "constant_cache",
        .title = "reads of constant memory",
        .meaning =
            "Constant memory serves one address at a time to a warp: fast when all lanes read "
            "the same, one turn for each different address otherwise. Kernel parameters and "
            "immediate constants come through it as well and miss when first read in an SM.",
        .decided = "imc_miss is at least 15 % " OF_THE_WAITING
                   " It comes first when the cache of indexed constants (idc) is at 40 % or more "
                   "and busier than every unit that does the work.",
        .change = "Tables that lanes index differently: shared memory, or global memory through "
                  "const __restrict__. Parameters in a short kernel: a longer kernel, or a CUDA "
                  "graph.",
        .read = PROGRAMMING_GUIDE "Device Memory Accesses (Constant Memory). " PROFILING_GUIDE
                                  "Warp Stall Reasons (IMC Miss), Pipelines (ADU).",
    },
    {
        .id = "branch_latency",
        .title = "branches",
        .meaning =
            "After a branch a warp waits until its target is known. Short loops and indirect "
            "calls do that often.",
        .decided = "branch_resolving is at least 15 % " OF_THE_WAITING
                   " With fewer than 24 active threads it is thread_divergence.",
        .change =
            "#pragma unroll for short loops, selects (a ? b : c on values already computed) in "
            "place of branches, templates in place of function pointers and switches.",
        .read = PROFILING_GUIDE "Warp Stall Reasons (Branch Resolving). " PROGRAMMING_GUIDE
                                "Control Flow Instructions.",
    },
    {
        .id = "stalls",
        .title = "waiting on a saturated kernel",
        .meaning =
            "A share of the stalls that looks bad and is only how a full unit looks from the "
            "warps. Never a finding, only under what not to chase.",
        .decided = "A unit is at 80 % or more and one reason is at least 30 % of the waiting.",
        .change = "Nothing here: change what the unit is busy with.",
        .read = PROFILING_GUIDE "Warp State Statistics, Warp Stall Reasons.",
    },
    /* -- parallel work ------------------------------------------------------------------------- */
    {
        .id = "launch_overhead",
        .title = "launch and ramp-up",
        .meaning = "Launch, distribution of blocks, first misses of instructions and constants and "
                   "the last block to finish take a few microseconds together. A kernel of that "
                   "length has no wall of its own.",
        .decided = "The kernel takes less than 5 us. Nothing else is asked; other findings are "
                   "listed behind.",
        .change = "Fuse it with its neighbours, or capture the sequence in a CUDA graph; on sm_90 "
                  "programmatic dependent launch overlaps the ramp with the kernel before.",
        .read = PROGRAMMING_GUIDE "CUDA Graphs, Programmatic Dependent Launch and Synchronization.",
    },
    {
        .id = "idle_between_kernels",
        .title = "time between the launches",
        .meaning = "The result covers several launches, and for most of its time no SM has a warp: "
                   "the GPU waits for the host, for a copy or for the launch itself.",
        .decided = "A range, command list or graph in which the SMs are active less than half of "
                   "the elapsed cycles.",
        .change = "Work between the kernels: a CUDA graph, fewer and larger kernels, no "
                  "synchronisation or copy on the way. What happens inside the kernels comes "
                  "second.",
        .read = PROGRAMMING_GUIDE "CUDA Graphs, Asynchronous Concurrent Execution.",
    },
    {
        .id = "grid_too_small",
        .title = "a grid that is too small for the chip",
        .meaning = "There are fewer blocks than SMs, or so few that most places for warps stay "
                   "empty. An H200 has 132 SMs with 64 warps each.",
        .decided =
            "Fewer blocks than SMs; or under 0.5 waves with an achieved occupancy below 60 % "
            "of the theoretical one.",
        .change =
            "More blocks: smaller tiles; split the reduction over blocks (split-K, "
            "flash-decoding) and add the parts; batch several problems in blockIdx.y; a row a "
            "warp in place of a row a block.",
        .read = PROGRAMMING_GUIDE "Maximize Utilization. " BEST_PRACTICES
                                  "Thread and Block Heuristics.",
    },
    {
        .id = "imbalance",
        .title = "blocks of unequal work",
        .meaning = "Some SMs work while others are done: rows of different length, causal tiles, "
                   "long tails of a sorted input.",
        .decided = "Cycles in which an SM had a warp, average over the busiest SM, are below 85 % "
                   "with at least a block an SM. Below 60 % it is the wall. Between, an incomplete "
                   "last wave explains it where there is one.",
        .change = "Cut the large blocks, hand out small pieces from a counter (persistent blocks "
                  "with atomicAdd), start the largest first, pair a long tile with a short one.",
        .read = PROFILING_GUIDE "GPU and Memory Workload Distribution.",
    },
    {
        .id = "tail_effect",
        .title = "a last wave that fills only part of the chip",
        .meaning =
            "Blocks run in waves of as many as fit. A last wave that is nearly empty takes as "
            "long as a full one: 1.1 waves take the time of 2.",
        .decided = "w waves, w at least 1: (ceil(w) - w) / ceil(w) is 0.30 or more, so 1.1 "
                   "waves count (45 %) and 1.95 do not (2 %). It does not decide the verdict "
                   "when the SMs were evenly busy (average over busiest 90 % or more), for "
                   "then the last wave cost little whatever its size. On a saturated kernel it "
                   "is listed under what not to chase.",
        .change = "A tile size that makes whole waves; smaller blocks, so that the last wave is "
                  "short; persistent blocks that share the work evenly (grid of SMs times blocks "
                  "an SM, stream-K for GEMM). ridge occupancy --problem --tile lists the tiles.",
        .read = PROFILING_GUIDE "Launch Statistics. CUTLASS documentation: Efficient GEMM in CUDA "
                                "(parallelized reductions).",
    },
    /* -- occupancy ----------------------------------------------------------------------------- */
    {
        .id = "occupancy_shared_memory",
        .title = "limited by shared memory",
        .meaning =
            "An SM holds as many blocks as its shared memory (228 KiB on sm_90, of which each "
            "block takes 1 KiB more than it asks for). Few blocks are few warps to switch "
            "to while others wait.",
        .decided =
            "At most 37.5 % of the warps fit, no unit is near its limit, and shared memory is "
            "among the resources that allow fewest blocks (ties are all named). Not the "
            "verdict for matrix kernels (tensor pipe at 30 % or more) and where the bytes "
            "under way already cover the latency. The staircase says what the next block "
            "costs; less than that buys nothing.",
        .change = "A step of the staircase (--all prints it): fewer stages, bf16 in place of float "
                  "tiles, one buffer for two phases, a smaller tile, registers in place of shared "
                  "memory. ridge occupancy tries a size before it is written.",
        .read = PROGRAMMING_GUIDE "Multiprocessor Level (occupancy). " BEST_PRACTICES
                                  "Occupancy, Effects of Shared Memory.",
    },
    {
        .id = "occupancy_registers",
        .title = "limited by registers",
        .meaning = "An SM has 65,536 registers, given to warps in units of 256. 128 registers a "
                   "thread leave room for 16 warps, a quarter of the 64 of sm_90.",
        .decided = "At most 37.5 % of the warps fit, no unit is near its limit, and registers are "
                   "among the resources that allow fewest blocks. Not the verdict for matrix "
                   "kernels and where the bytes under way already cover the latency.",
        .change = "__launch_bounds__(threads, blocks) with the blocks of the next step, smaller "
                  "register tiles, less unrolling. Watch for spills: ridge inspect tells.",
        .read = PROGRAMMING_GUIDE "Launch Bounds. " BEST_PRACTICES
                                  "Occupancy, Calculating Occupancy, Register Pressure.",
    },
    {
        .id = "short_blocks",
        .title = "blocks that end sooner than new ones start",
        .meaning = "Starting a block takes an SM some hundred cycles. Very many blocks that do "
                   "little each, one load or a few, are over before enough of them run side by "
                   "side: the SM stays half empty although more would fit.",
        .decided = "Latency-bound; at least 8 waves of blocks, SMs evenly busy, and fewer than "
                   "half of the warps that fit are resident.",
        .change = "Blocks of 128 to 256 threads with several elements a thread, or a grid of a "
                  "few waves whose blocks stride over the data: for (i = ...; i < n; i += "
                  "gridDim.x * blockDim.x).",
        .read = BEST_PRACTICES "Thread and Block Heuristics. " PROFILING_GUIDE "Occupancy.",
    },
    {
        .id = "occupancy_blocks",
        .title = "limited by the number of blocks an SM holds",
        .meaning = "An SM holds at most 16, 24 or 32 blocks, whatever their size. Blocks of 32 "
                   "threads fill half of an SM of 64 warps at best.",
        .decided = "At most 37.5 % of the warps fit, no unit is near its limit, and the number of "
                   "blocks is among the limits that tie.",
        .change = "Blocks of 128 to 256 threads: several rows or tiles a block, with blockDim.y as "
                  "their index.",
        .read = BEST_PRACTICES "Thread and Block Heuristics. " PROGRAMMING_GUIDE
                               "Compute Capabilities (technical specifications).",
    },
    {
        .id = "occupancy_barriers",
        .title = "limited by named barriers",
        .meaning = "An SM has a fixed number of hardware barriers, 16 for a block at most. Blocks "
                   "that use many named barriers fit fewer at a time.",
        .decided = "At most 37.5 % of the warps fit, no unit is near its limit, and barriers are "
                   "among the limits that tie.",
        .change =
            "Fewer barrier ids: reuse them in turn, or use mbarrier objects in shared memory.",
        .read = "PTX ISA: bar, barrier, mbarrier. " PROFILING_GUIDE "Occupancy.",
    },
    {
        .id = "occupancy_warps",
        .title = "limited by the block size",
        .meaning = "The size of the block does not divide the places for warps, so that some stay "
                   "empty.",
        .decided =
            "Never on its own today: blocks of up to 1,024 threads fill more than half of an "
            "SM whatever their size, and occupancy is a finding from 37.5 % down. ridge "
            "diagnose --all shows the staircase.",
        .change = "A block size of which a whole number fits: 128, 256 or 512 threads.",
        .read = BEST_PRACTICES "Thread and Block Heuristics.",
    },
    /* -- the profile itself -------------------------------------------------------------------- */
    {
        .id = "clock_control",
        .title = "clocks that the profiler locked",
        .meaning =
            "ncu locks the SM clock to its base by default, so that runs compare. Times are "
            "longer than in a benchmark, and the ratio of compute to memory speed is another "
            "one: a kernel may look nearer to a compute wall than it is.",
        .decided =
            "The result says that the clocks were locked. A note, never a finding; ridge diff "
            "says when the clocks of two reports differ by more than 3 %.",
        .change =
            "ncu --clock-control none, if the GPU is otherwise idle and its clocks are steady.",
        .read = PROFILING_GUIDE "Clock Control. Nsight Compute CLI: --clock-control.",
    },
    {
        .id = "missing_data",
        .title = "what the report cannot answer",
        .meaning = "The default set of ncu (basic) holds neither stall ratios nor counters of "
                   "instructions. What is absent is not zero, so a gate without its data stays "
                   "undecided, and nothing is guessed in its place.",
        .decided =
            "Printed under missing, with the questions that stay open and the ncu command that "
            "collects the sections they need, for the same kernel and launch. Never a "
            "finding. Stall shares are rebuilt from 100 or more samples of program counters "
            "where only those exist; a note says so.",
        .change = "Run the printed command, or ncu --set full --import-source yes, on a program "
                  "compiled with nvcc -lineinfo.",
        .read = PROFILING_GUIDE "Sections and Rules, Replay. Nsight Compute CLI: --set, --section, "
                                "--import-source.",
    },
};

size_t ridge_topic_count(void)
{
    return sizeof(topics) / sizeof(topics[0]);
}

const ridge_topic *ridge_topic_at(size_t index)
{
    return index < ridge_topic_count() ? &topics[index] : NULL;
}

const ridge_topic *ridge_topic_find(const char *id)
{
    size_t i;

    for (i = 0; i < ridge_topic_count(); i++)
        if (strcmp(topics[i].id, id) == 0)
            return &topics[i];
    return NULL;
}
