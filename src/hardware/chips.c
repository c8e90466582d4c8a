/* SPDX-License-Identifier: Apache-2.0
 *
 * The chips: what all chips of a compute capability share, and the numbers of single products.
 *
 * Limits of a compute capability are those of cuda_occupancy.h (CUDA 13.0) and of the trait tables
 * of NVIDIA's CCCL (libcudacxx arch_traits.h), which agree on every field both have; those of 9.0
 * were also read from the driver of an H200. Numbers of a product name their source in the row.
 * Where sources disagree the field is unknown (0 or NAN) and the row says so; what a report or a
 * driver says of the device at hand comes before this table.
 *
 * Peaks are dense, without the 2:4 sparsity that vendors print first, and accumulate in fp32 where
 * a product has two rates. Memory is the nominal capacity, of which a driver shows a little less.
 */
#include "ridge/hardware.h"

#include <math.h>

/* clang-format off */
#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define KIB(n) ((n) * 1024)
#define MIB(n) ((n) * 1048576.0)
#define GIB(n) ((n) * 1073741824.0)

static const int carve_64[] = {KIB(32), KIB(64)};
static const int carve_96[] = {0, KIB(8), KIB(16), KIB(32), KIB(64), KIB(96)};
static const int carve_100[] = {0, KIB(8), KIB(16), KIB(32), KIB(64), KIB(100)};
static const int carve_164[] = {0, KIB(8), KIB(16), KIB(32), KIB(64), KIB(100), KIB(132), KIB(164)};
static const int carve_228[] = {0, KIB(8), KIB(16), KIB(32), KIB(64), KIB(100), KIB(132), KIB(164),
                                KIB(196), KIB(228)};

/* Sets of fields for the sources. */
enum {
    SMS = 1 << RIDGE_CHIP_SM_COUNT,
    CLOCK = 1 << RIDGE_CHIP_SM_CLOCK,
    L2 = 1 << RIDGE_CHIP_L2,
    DRAM = 1 << RIDGE_CHIP_DRAM,
    BANDWIDTH = 1 << RIDGE_CHIP_BANDWIDTH,
    FP64 = 1 << RIDGE_CHIP_FP64,
    FP32 = 1 << RIDGE_CHIP_FP32,
    FP64_TENSOR = 1 << RIDGE_CHIP_FP64_TENSOR,
    TF32 = 1 << RIDGE_CHIP_TF32,
    FP16 = 1 << RIDGE_CHIP_FP16,
    BF16 = 1 << RIDGE_CHIP_BF16,
    FP8 = 1 << RIDGE_CHIP_FP8,
    INT8 = 1 << RIDGE_CHIP_INT8,
    FP4 = 1 << RIDGE_CHIP_FP4,
    BASE_CLOCK = 1 << RIDGE_CHIP_BASE_CLOCK,
    TENSOR_CLOCK = 1 << RIDGE_CHIP_TENSOR_CLOCK,
    BUS = 1 << RIDGE_CHIP_BUS,
    PEAKS = FP64 | FP32 | FP64_TENSOR | TF32 | FP16 | BF16 | FP8 | INT8 | FP4,
    ALL = (1 << RIDGE_CHIP_FIELD_COUNT) - 1,
};

enum { CC_70, CC_72, CC_75, CC_80, CC_86, CC_87, CC_88, CC_89, CC_90, CC_100, CC_103, CC_110,
       CC_120, CC_121 };

#define ARCH(MAJOR, MINOR, FAMILY, WARPS, BLOCKS, SM_KIB, BLOCK_KIB, UNIT, RESERVED, BARRIERS, \
             CARVEOUTS)                                                                        \
    [CC_##MAJOR##MINOR] = {                                                                    \
        .major = MAJOR, .minor = MINOR, .family = FAMILY, .sm = "sm_" #MAJOR #MINOR,           \
        .warps_per_sm = WARPS, .blocks_per_sm = BLOCKS, .threads_per_block = 1024,             \
        .schedulers_per_sm = 4,                                                                \
        .registers_per_sm = 65536, .register_unit = 256, .registers_per_thread = 255,          \
        .shared_per_sm_bytes = KIB(SM_KIB), .shared_per_block_bytes = KIB(BLOCK_KIB),          \
        .shared_unit_bytes = UNIT, .shared_reserved_bytes = RESERVED,                          \
        .barriers_per_sm = BARRIERS,                                                           \
        .cluster_blocks = MAJOR >= 9 ? 16 : 0, .portable_cluster = MAJOR >= 9 ? 8 : 0,         \
        .l1_wavefront_bytes = 128,                                \
        .carveouts_bytes = CARVEOUTS, .carveout_count = COUNT(CARVEOUTS)                       \
    }

/* 10.1 of CUDA 12 is 11.0 since CUDA 13. Barriers limit from 9.0 on: 64 measured on an H200 with
 * kernels of 0 to 16 named barriers. Clusters of 16 were launched on 9.0. The largest register count of the header is 256, that of the
 * instruction set 255. */
static const ridge_arch archs[] = {
    /*   cc     family       warps blocks shared KiB  unit reserve bar. carve-outs
     *                       an SM an SM  SM   block */
    ARCH( 7, 0, "Volta",     64, 32,  96,  96, 256,    0,  0, carve_96),
    ARCH( 7, 2, "Volta",     64, 32,  96,  96, 256,    0,  0, carve_96),
    ARCH( 7, 5, "Turing",    32, 16,  64,  64, 256,    0,  0, carve_64),
    ARCH( 8, 0, "Ampere",    64, 32, 164, 163, 128, 1024,  0, carve_164),
    ARCH( 8, 6, "Ampere",    48, 16, 100,  99, 128, 1024,  0, carve_100),
    ARCH( 8, 7, "Ampere",    48, 16, 164, 163, 128, 1024,  0, carve_164),
    ARCH( 8, 8, "Ampere",    48, 16, 100,  99, 128, 1024,  0, carve_100),
    ARCH( 8, 9, "Ada",       48, 24, 100,  99, 128, 1024,  0, carve_100),
    ARCH( 9, 0, "Hopper",    64, 32, 228, 227, 128, 1024, 64, carve_228),
    ARCH(10, 0, "Blackwell", 64, 32, 228, 227, 128, 1024, 64, carve_228),
    ARCH(10, 3, "Blackwell", 64, 32, 228, 227, 128, 1024, 64, carve_228),
    ARCH(11, 0, "Blackwell", 48, 24, 228, 227, 128, 1024, 24, carve_228),
    ARCH(12, 0, "Blackwell", 48, 24, 100,  99, 128, 1024, 24, carve_100),
    ARCH(12, 1, "Blackwell", 48, 24, 100,  99, 128, 1024, 24, carve_100),
};

/* id, name as the driver says it, compute capability,
 * SMs, boost clock, L2, memory, bandwidth,
 * fp64, fp32, fp64 tensor, tf32, fp16, bf16, fp8, int8, fp4,
 * base clock, tensor clock, kind of memory, bus width,
 * sources, why something is unknown, remark: the order of ridge_chip. */
static const ridge_chip chips[] = {
    {"v100-sxm", "Tesla V100-SXM2-16GB", &archs[CC_70],
     80, 1530e6, MIB(6), NAN, 897e9,
     7.8e12, 15.7e12, NAN, NAN, 125e12, NAN, NAN, NAN, NAN,
     1290e6, NAN, "HBM2", 4096,
     {{PEAKS, "pytorch-lightning throughput.py"}, {ALL, "sysrqmts.com (SXM3 32 GB row)"}},
     {{DRAM, "16 and 32 GB exist"}}, "no bf16, tf32 and int8 in the tensor cores"},
    {"v100-pcie", "Tesla V100-PCIE-16GB", &archs[CC_70],
     80, 1380e6, MIB(6), GIB(16), 897e9,
     7e12, 14e12, NAN, NAN, 112e12, NAN, NAN, NAN, NAN,
     1245e6, NAN, "HBM2", 4096,
     {{PEAKS, "pytorch-lightning throughput.py"}, {ALL, "sysrqmts.com"}},
     {{0}}, "no bf16, tf32 and int8 in the tensor cores"},
    {"t4", "Tesla T4", &archs[CC_75],
     40, 1590e6, MIB(4), GIB(16), 320e9,
     0.254e12, 8.1e12, NAN, NAN, 65e12, NAN, NAN, 130e12, NAN,
     585e6, NAN, "GDDR6", 256,
     {{FP64, "sysrqmts.com, topcpu.net"},
      {PEAKS, "pytorch-lightning throughput.py"},
      {L2, "as a T4 reports it"},
      {ALL, "sysrqmts.com, topcpu.net"}},
     {{0}}, NULL},
    {"a100-sxm-40", "NVIDIA A100-SXM4-40GB", &archs[CC_80],
     108, 1410e6, MIB(40), GIB(40), 1555e9,
     9.7e12, 19.5e12, 19.5e12, 156e12, 312e12, 312e12, NAN, 624e12, NAN,
     NAN, NAN, "HBM2", 5120,
     {{PEAKS | BANDWIDTH, "TensorRT-LLM cluster_info.py"},
      {CLOCK, "chipsandcheese.com"},
      {ALL, "sysrqmts.com (PCIe row, same die)"}},
     {{0}}, NULL},
    {"a100-sxm-80", "NVIDIA A100-SXM4-80GB", &archs[CC_80],
     108, 1410e6, MIB(40), GIB(80), 2039e9,
     9.7e12, 19.5e12, 19.5e12, 156e12, 312e12, 312e12, NAN, 624e12, NAN,
     1270e6, NAN, "HBM2e", 5120,
     {{PEAKS | BANDWIDTH, "TensorRT-LLM cluster_info.py"}, {ALL, "hmc-tech.com"}},
     {{0}}, NULL},
    {"a100-pcie-40", "NVIDIA A100-PCIE-40GB", &archs[CC_80],
     108, 1410e6, MIB(40), GIB(40), 1555e9,
     9.7e12, 19.5e12, 19.5e12, 156e12, 312e12, 312e12, NAN, 624e12, NAN,
     765e6, NAN, "HBM2e", 5120,
     {{PEAKS | BANDWIDTH, "TensorRT-LLM cluster_info.py"},
      {SMS | CLOCK | L2, "as an A100-PCIE-40GB reports them"},
      {ALL, "sysrqmts.com"}},
     {{0}}, NULL},
    {"a100-pcie-80", "NVIDIA A100 80GB PCIe", &archs[CC_80],
     108, 1410e6, MIB(40), GIB(80), 1935e9,
     9.7e12, 19.5e12, 19.5e12, 156e12, 312e12, 312e12, NAN, 624e12, NAN,
     NAN, NAN, "HBM2e", 5120,
     {{PEAKS | BANDWIDTH, "TensorRT-LLM cluster_info.py"}, {ALL, "hmc-tech.com"}},
     {{0}}, NULL},
    {"a10", "NVIDIA A10", &archs[CC_86],
     72, 1695e6, MIB(6), GIB(24), 600e9,
     0.976e12, 31.2e12, NAN, 62.5e12, 125e12, 125e12, NAN, 250e12, NAN,
     885e6, NAN, "GDDR6", 384,
     {{PEAKS | BANDWIDTH, "TensorRT-LLM cluster_info.py"}, {ALL, "sysrqmts.com"}},
     {{0}}, NULL},
    {"a30", "NVIDIA A30", &archs[CC_80],
     56, 1440e6, MIB(24), GIB(24), 933e9,
     5.2e12, 10.3e12, 10.3e12, 82e12, 165e12, 165e12, NAN, 330e12, NAN,
     930e6, NAN, "HBM2", 3072,
     {{FP64_TENSOR, "computed: twice fp64"},
      {PEAKS | BANDWIDTH, "TensorRT-LLM cluster_info.py"},
      {ALL, "sysrqmts.com"}},
     {{0}}, NULL},
    {"a40", "NVIDIA A40", &archs[CC_86],
     84, 1740e6, MIB(6), GIB(48), 696e9,
     0.585e12, 37.4e12, NAN, 74.8e12, 149.7e12, 149.7e12, NAN, 299.3e12, NAN,
     1305e6, NAN, "GDDR6", 384,
     {{PEAKS, "hmc-tech.com, TensorRT-LLM cluster_info.py"},
      {SMS | CLOCK | L2, "as an A40 reports them"},
      {ALL, "topcpu.net"}},
     {{0}}, NULL},
    {"l4", "NVIDIA L4", &archs[CC_89],
     58, 2040e6, MIB(48), GIB(24), 300e9,
     0.473e12, 30.3e12, NAN, 60e12, 120e12, 120e12, 242e12, 242e12, NAN,
     795e6, NAN, "GDDR6", 192,
     {{SMS, "fpsbench.com: 7,424 shaders / 128 (it prints 60)"},
      {PEAKS | BANDWIDTH, "TensorRT-LLM cluster_info.py"},
      {ALL, "fpsbench.com"}},
     {{0}}, NULL},
    {"l40s", "NVIDIA L40S", &archs[CC_89],
     142, 2520e6, NAN, GIB(48), 864e9,
     NAN, 91.6e12, NAN, 183e12, 362e12, 362e12, 733e12, 733e12, NAN,
     1110e6, NAN, "GDDR6", 384,
     {{SMS | CLOCK | BASE_CLOCK, "technical.city"},
      {BUS, "topcpu.net (L40)"},
      {ALL, "TensorRT-LLM cluster_info.py"}},
     {{L2, "sources disagree: 48 or 96 MB"}}, NULL},
    {"rtx3090", "NVIDIA GeForce RTX 3090", &archs[CC_86],
     82, 1695e6, MIB(6), GIB(24), 936e9,
     NAN, 35.6e12, NAN, 35.6e12, 71.2e12, 71.2e12, NAN, NAN, NAN,
     NAN, NAN, "GDDR6X", 384,
     {{TF32 | FP16 | BF16, "computed: SMs x clock x rate"}, {ALL, "Tom's Hardware table"}},
     {{0}}, "tensor peaks with fp32 accumulation; with fp16 accumulation twice as much"},
    {"rtx4090", "NVIDIA GeForce RTX 4090", &archs[CC_89],
     128, 2520e6, MIB(72), GIB(24), 1008e9,
     1.29e12, 82.6e12, NAN, 82.6e12, 165.2e12, 165.2e12, 330.3e12, 660.6e12, NAN,
     2235e6, NAN, "GDDR6X", 384,
     {{CLOCK | BASE_CLOCK, "cputronic.com"}, {ALL, "hmc-tech.com"}},
     {{0}}, "tensor peaks with fp32 accumulation; with fp16 accumulation twice as much"},
    {"rtx5090", "NVIDIA GeForce RTX 5090", &archs[CC_120],
     170, 2407e6, MIB(96), GIB(32), 1792e9,
     1.637e12, 104.8e12, NAN, 104.8e12, 209.5e12, 209.5e12, 419e12, 838e12, 1676e12,
     2017e6, NAN, "GDDR7", 512,
     {{TF32 | FP16 | BF16 | FP8 | INT8, "computed: SMs x clock x rate"},
      {FP4, "hmc-tech.com"},
      {ALL, "fpsbench.com, Linux Format May 2025"}},
     {{0}}, "tensor peaks with fp32 accumulation"},
    {"rtxpro6000", "NVIDIA RTX PRO 6000 Blackwell Server Edition", &archs[CC_120],
     188, 2617e6, MIB(128), GIB(96), 1792e9,
     1.97e12, 125.95e12, NAN, 251.9e12, 503.8e12, 503.8e12, 1007.6e12, 1007.6e12, 2015e12,
     1590e6, NAN, "GDDR7", 512,
     {{PEAKS | CLOCK, "hmc-tech.com"},
      {BASE_CLOCK, "cputronic.com (Max-Q edition)"},
      {ALL, "press"}},
     {{0}}, "the three editions differ in sustained clocks"},
    {"h100-sxm", "NVIDIA H100 80GB HBM3", &archs[CC_90],
     132, 1980e6, MIB(50), GIB(80), 3350e9,
     33.5e12, 66.9e12, 66.9e12, 494.7e12, 989.4e12, 989.4e12, 1978.9e12, 1978.9e12, NAN,
     NAN, 1830e6, "HBM3", 5120,
     {{PEAKS | CLOCK | TENSOR_CLOCK, "glennklockwood.com"},
      {ALL, "NVIDIA's H100 table at hpctech.co.jp"}},
     {{0}}, "tensor peaks at the tensor clock, vector peaks at boost"},
    {"h100-pcie", "NVIDIA H100 PCIe", &archs[CC_90],
     114, 1755e6, MIB(50), GIB(80), 2000e9,
     26e12, 51e12, 51e12, 378e12, 756e12, 756e12, 1513e12, 1513e12, NAN,
     1095e6, 1620e6, "HBM2e", 5120,
     {{SMS | CLOCK | L2, "as an H100 PCIe reports them"},
      {TENSOR_CLOCK, "computed from 756 TFLOP/s"},
      {BASE_CLOCK, "cputronic.com"},
      {ALL, "NVIDIA's H100 table at hpctech.co.jp"}},
     {{0}}, "tensor peaks at the tensor clock, vector peaks at boost"},
    {"h100-nvl", "NVIDIA H100 NVL", &archs[CC_90],
     132, NAN, NAN, GIB(94), 3900e9,
     30e12, 60e12, 60e12, 417.5e12, 835.5e12, 835.5e12, 1670.5e12, 1670.5e12, NAN,
     NAN, NAN, "HBM3", 6144,
     {{SMS | BUS, "gpu.blog"}, {ALL, "NVIDIA data sheet, not re-read"}},
     {{0}}, "tensor peaks are half of the sparse figures"},
    {"h200", "NVIDIA H200", &archs[CC_90],
     132, 1980e6, MIB(60), GIB(141), 4800e9,
     33.5e12, 66.9e12, 66.9e12, 494.7e12, 989.4e12, 989.4e12, 1978.9e12, 1978.9e12, NAN,
     NAN, 1830e6, "HBM3e", 6016,
     {{SMS | CLOCK | BUS | L2, "measured"},
      {BANDWIDTH, "TensorRT-LLM (memory clock and bus give 4814 GB/s)"},
      {PEAKS | TENSOR_CLOCK, "as H100 SXM, the same die"},
      {ALL, "as the product is sold"}},
     {{0}}, "tensor peaks at the tensor clock, vector peaks at boost"},
    {"h20", "NVIDIA H20", &archs[CC_90],
     78, NAN, NAN, GIB(96), 4000e9,
     1e12, 44e12, NAN, 74e12, 148e12, 148e12, 296e12, 296e12, NAN,
     NAN, NAN, "HBM3", NAN,
     {{SMS | FP64 | FP32 | DRAM, "press"}, {ALL, "TensorRT-LLM cluster_info.py and press"}},
     {{0}}, "the tensor rate of an SM is a quarter of the H100's: no peak follows from 9.0"},
    {"h20-3e", "NVIDIA H20-3e", &archs[CC_90],
     0, NAN, NAN, GIB(141), NAN,
     NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN,
     NAN, NAN, "HBM3e", NAN,
     {{DRAM, "SGLang hardware lists"}},
     {{ALL, "no data sheet found"}}, NULL},
    {"h800", "NVIDIA H800", &archs[CC_90],
     132, NAN, MIB(50), GIB(80), 3350e9,
     1e12, 66.9e12, 1e12, 494.7e12, 989.4e12, 989.4e12, 1978.9e12, 1978.9e12, NAN,
     NAN, NAN, "HBM3", 5120,
     {{ALL, "NVIDIA data sheet, not re-read"}},
     {{0}}, "H100 SXM with NVLink and fp64 cut"},
    {"gh200", "NVIDIA GH200 480GB", &archs[CC_90],
     132, 1980e6, NAN, GIB(96), 4000e9,
     33.5e12, 66.9e12, 66.9e12, 494.7e12, 989.4e12, 989.4e12, 1978.9e12, 1978.9e12, NAN,
     NAN, 1830e6, "HBM3", 6144,
     {{ALL, "NVIDIA data sheet, not re-read"}},
     {{0}}, "the variant with 144 GB differs"},
    {"b100", "NVIDIA B100", &archs[CC_100],
     148, 1600e6, NAN, GIB(192), NAN,
     30.3e12, 60.6e12, 27.4e12, 875e12, 1750e12, 1750e12, 3500e12, 3500e12, 7000e12,
     NAN, 1440e6, "HBM3e", 8192,
     {{ALL, "hmc-tech.com"}},
     {{BANDWIDTH, "sources disagree: 7.7 or 8 TB/s"}},
     "tensor peaks at the tensor clock, vector peaks at boost"},
    {"b200", "NVIDIA B200", &archs[CC_100],
     148, 1980e6, NAN, GIB(192), NAN,
     37e12, 75e12, 37e12, 1125e12, 2250e12, 2250e12, 4500e12, 4500e12, 9000e12,
     NAN, 1860e6, "HBM3e", 8192,
     {{PEAKS, "NVIDIA's HGX table at fibermall.com"}, {ALL, "hmc-tech.com"}},
     {{BANDWIDTH, "sources disagree: 7.7 or 8 TB/s"}, {L2, "sources disagree"}},
     "tensor peaks at the tensor clock, vector peaks at boost"},
    {"gb200", "NVIDIA GB200", &archs[CC_100],
     152, 2112e6, 135528448, GIB(192), 7936e9,
     40e12, 80e12, 40e12, 1250e12, 2500e12, 2500e12, 5000e12, 5000e12, 10000e12,
     NAN, NAN, "HBM3e", 8192,
     {{SMS | L2 | BANDWIDTH, "as a GB200 reports them"},
      {PEAKS, "glennklockwood.com"},
      {ALL, "hmc-tech.com"}},
     {{0}}, "one GPU of the superchip"},
    {"b300", "NVIDIA B300", &archs[CC_103],
     0, NAN, NAN, GIB(288), 8000e9,
     1.25e12, 75e12, 1.25e12, 1125e12, 2250e12, 2250e12, 4500e12, NAN, 13125e12,
     NAN, NAN, "HBM3e", 8192,
     {{BUS, "NVIDIA data sheet, not re-read"}, {ALL, "glennklockwood.com"}},
     {{SMS, "sources disagree: 148 or 160"}, {INT8, "sources disagree"}},
     "fp4: 13.1 here, 15 PFLOP/s in the press"},
    {"orin", "Orin", &archs[CC_87],
     16, 1300e6, MIB(4), GIB(64), 204.8e9,
     NAN, 5.3e12, NAN, NAN, NAN, NAN, NAN, 85e12, NAN,
     NAN, NAN, "LPDDR5", 256,
     {{INT8, "Jetson AGX Orin brief: half of the sparse figure"},
      {SMS | L2 | PEAKS, "Jetson AGX Orin brief"},
      {ALL, "NVIDIA data sheet, not re-read"}},
     {{0}}, "the GPU alone, without the DLAs"},
    {"thor", "NVIDIA Thor", &archs[CC_110],
     20, 1575e6, MIB(32), GIB(128), 273e9,
     NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 1035e12,
     NAN, NAN, "LPDDR5X", 256,
     {{SMS | L2, "developer forum readings"},
      {FP4, "press: half of the sparse figure"},
      {ALL, "NVIDIA data sheet, not re-read"}},
     {{0}}, NULL},
};
/* clang-format on */

/* A bare product name is its most common form: the SXM module, with the larger memory. */
static const ridge_chip_alias aliases[] = {
    {"v100", "v100-sxm"},
    {"tesla v100-sxm*", "v100-sxm"},
    {"tesla v100-pcie*", "v100-pcie"},
    {"a100", "a100-sxm-80"},
    {"a100-sxm", "a100-sxm-80"},
    {"a100-80", "a100-sxm-80"},
    {"a100-40", "a100-sxm-40"},
    {"a100-pcie", "a100-pcie-80"},
    {"h100", "h100-sxm"},
    {"h200-sxm", "h200"},
    {"h800-sxm", "h800"},
    {"gh200*", "gh200"},
    {"b300*", "b300"},
    {"rtx pro 6000 blackwell*", "rtxpro6000"},
    {"jetson agx orin*", "orin"},
    {"orin*", "orin"},
    {"jetson thor*", "thor"},
    {"jetson agx thor*", "thor"},
    {"thor-t5000", "thor"},
    {"orin-64", "orin"},
    {"gh200-96", "gh200"},
};

size_t ridge_arch_count(void)
{
    return COUNT(archs);
}

const ridge_arch *ridge_arch_at(size_t index)
{
    return index < COUNT(archs) ? &archs[index] : NULL;
}

const ridge_arch *ridge_arch_find(int major, int minor)
{
    if (major == 10 && minor == 1)
        return &archs[CC_110];
    for (size_t i = 0; i < COUNT(archs); i++)
        if (archs[i].major == major && archs[i].minor == minor)
            return &archs[i];
    return NULL;
}

size_t ridge_chip_count(void)
{
    return COUNT(chips);
}

const ridge_chip *ridge_chip_at(size_t index)
{
    return index < COUNT(chips) ? &chips[index] : NULL;
}

size_t ridge_chip_alias_count(void)
{
    return COUNT(aliases);
}

const ridge_chip_alias *ridge_chip_alias_at(size_t index)
{
    return index < COUNT(aliases) ? &aliases[index] : NULL;
}
