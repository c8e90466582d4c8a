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
#include <string.h>

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
 * kernels of 0 to 16 named barriers. The largest register count of the header is 256, that of the
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

/* id, name as the driver says it,
 * compute capability, SMs, boost clock, L2, memory, bandwidth,
 * fp64, fp32, fp64 tensor, tf32, fp16, bf16, fp8, int8, fp4: the order of ridge_chip. */
static const ridge_chip chips[] = {
    {"v100-sxm", "Tesla V100-SXM2-16GB",
     &archs[CC_70], 80, 1530e6, MIB(6), NAN, 897e9,
     7.8e12, 15.7e12, NAN, NAN, 125e12, NAN, NAN, NAN, NAN,
     "peaks: pytorch-lightning throughput.py; rest: sysrqmts.com (SXM3 32 GB row)"},
    {"v100-pcie", "Tesla V100-PCIE-16GB",
     &archs[CC_70], 80, 1380e6, MIB(6), GIB(16), 897e9,
     7e12, 14e12, NAN, NAN, 112e12, NAN, NAN, NAN, NAN,
     "peaks: pytorch-lightning throughput.py; rest: sysrqmts.com"},
    {"t4", "Tesla T4",
     &archs[CC_75], 40, 1590e6, MIB(4), GIB(16), 320e9,
     0.254e12, 8.1e12, NAN, NAN, 65e12, NAN, NAN, 130e12, NAN,
     "peaks: pytorch-lightning throughput.py; fp64 and rest: sysrqmts.com, topcpu.net; L2 as a"
     " T4 reports it"},
    {"a100-sxm-40", "NVIDIA A100-SXM4-40GB",
     &archs[CC_80], 108, 1410e6, MIB(40), GIB(40), 1555e9,
     9.7e12, 19.5e12, 19.5e12, 156e12, 312e12, 312e12, NAN, 624e12, NAN,
     "peaks, bandwidth: TensorRT-LLM cluster_info.py; clock: chipsandcheese.com; rest: "
     "sysrqmts.com (PCIe row, same die)"},
    {"a100-sxm-80", "NVIDIA A100-SXM4-80GB",
     &archs[CC_80], 108, 1410e6, MIB(40), GIB(80), 2039e9,
     9.7e12, 19.5e12, 19.5e12, 156e12, 312e12, 312e12, NAN, 624e12, NAN,
     "peaks, bandwidth: TensorRT-LLM cluster_info.py; rest: hmc-tech.com"},
    {"a100-pcie-40", "NVIDIA A100-PCIE-40GB",
     &archs[CC_80], 108, 1410e6, MIB(40), GIB(40), 1555e9,
     9.7e12, 19.5e12, 19.5e12, 156e12, 312e12, 312e12, NAN, 624e12, NAN,
     "peaks, bandwidth: TensorRT-LLM cluster_info.py; SMs, clock, L2: as an A100-PCIE-40GB "
     "reports them"},
    {"a100-pcie-80", "NVIDIA A100 80GB PCIe",
     &archs[CC_80], 108, 1410e6, MIB(40), GIB(80), 1935e9,
     9.7e12, 19.5e12, 19.5e12, 156e12, 312e12, 312e12, NAN, 624e12, NAN,
     "peaks, bandwidth: TensorRT-LLM cluster_info.py; rest: hmc-tech.com"},
    {"a10", "NVIDIA A10",
     &archs[CC_86], 72, 1695e6, MIB(6), GIB(24), 600e9,
     0.976e12, 31.2e12, NAN, 62.5e12, 125e12, 125e12, NAN, 250e12, NAN,
     "peaks, bandwidth: TensorRT-LLM cluster_info.py; rest: sysrqmts.com"},
    {"a30", "NVIDIA A30",
     &archs[CC_80], 56, 1440e6, MIB(24), GIB(24), 933e9,
     5.2e12, 10.3e12, 10.3e12, 82e12, 165e12, 165e12, NAN, 330e12, NAN,
     "peaks, bandwidth: TensorRT-LLM cluster_info.py; fp64 tensor computed; rest: sysrqmts.com"},
    {"a40", "NVIDIA A40",
     &archs[CC_86], 84, 1740e6, MIB(6), GIB(48), 696e9,
     0.585e12, 37.4e12, NAN, 74.8e12, 149.7e12, 149.7e12, NAN, 299.3e12, NAN,
     "peaks: hmc-tech.com, TensorRT-LLM cluster_info.py; SMs, clock, L2: as an A40 reports "
     "them"},
    {"l4", "NVIDIA L4",
     &archs[CC_89], 58, 2040e6, MIB(48), GIB(24), 300e9,
     0.473e12, 30.3e12, NAN, 60e12, 120e12, 120e12, 242e12, 242e12, NAN,
     "peaks, bandwidth: TensorRT-LLM cluster_info.py; SMs: 7,424 shaders / 128; rest: "
     "fpsbench.com"},
    {"l40s", "NVIDIA L40S",
     &archs[CC_89], 142, 2520e6, NAN, GIB(48), 864e9,
     NAN, 91.6e12, NAN, 183e12, 362e12, 362e12, 733e12, 733e12, NAN,
     "peaks, bandwidth: TensorRT-LLM cluster_info.py; SMs, clock: technical.city; L2: sources "
     "disagree"},
    {"rtx3090", "NVIDIA GeForce RTX 3090",
     &archs[CC_86], 82, 1695e6, MIB(6), GIB(24), 936e9,
     NAN, 35.6e12, NAN, 35.6e12, 71.2e12, 71.2e12, NAN, NAN, NAN,
     "Tom's Hardware table; tensor peaks computed, fp32 accumulation"},
    {"rtx4090", "NVIDIA GeForce RTX 4090",
     &archs[CC_89], 128, 2520e6, MIB(72), GIB(24), 1008e9,
     1.29e12, 82.6e12, NAN, 82.6e12, 165.2e12, 165.2e12, 330.3e12, 660.6e12, NAN,
     "hmc-tech.com, cputronic.com; tensor peaks with fp32 accumulation"},
    {"rtx5090", "NVIDIA GeForce RTX 5090",
     &archs[CC_120], 170, 2407e6, MIB(96), GIB(32), 1792e9,
     1.637e12, 104.8e12, NAN, 104.8e12, 209.5e12, 209.5e12, 419e12, 838e12, 1676e12,
     "fpsbench.com, Linux Format May 2025; tensor peaks computed, fp32 accumulation; fp4: hmc-"
     "tech.com"},
    {"rtxpro6000", "NVIDIA RTX PRO 6000 Blackwell Server Edition",
     &archs[CC_120], 188, 2617e6, MIB(128), GIB(96), 1792e9,
     1.97e12, 125.95e12, NAN, 251.9e12, 503.8e12, 503.8e12, 1007.6e12, 1007.6e12, 2015e12,
     "peaks, clock: hmc-tech.com; memory, L2: press; the three editions differ in sustained "
     "clocks"},
    {"h100-sxm", "NVIDIA H100 80GB HBM3",
     &archs[CC_90], 132, 1980e6, MIB(50), GIB(80), 3350e9,
     33.5e12, 66.9e12, 66.9e12, 494.7e12, 989.4e12, 989.4e12, 1978.9e12, 1978.9e12, NAN,
     "peaks, clock: glennklockwood.com; rest: NVIDIA's H100 table at hpctech.co.jp; tensor "
     "peaks at 1830 MHz"},
    {"h100-pcie", "NVIDIA H100 PCIe",
     &archs[CC_90], 114, 1755e6, MIB(50), GIB(80), 2000e9,
     26e12, 51e12, 51e12, 378e12, 756e12, 756e12, 1513e12, 1513e12, NAN,
     "peaks, memory: NVIDIA's H100 table at hpctech.co.jp; SMs, clock, L2: as an H100 PCIe "
     "reports them; tensor peaks at 1620 MHz"},
    {"h100-nvl", "NVIDIA H100 NVL",
     &archs[CC_90], 132, NAN, NAN, GIB(94), 3900e9,
     30e12, 60e12, 60e12, 417.5e12, 835.5e12, 835.5e12, 1670.5e12, 1670.5e12, NAN,
     "SMs: gpu.blog; rest: NVIDIA data sheet, not re-read; tensor peaks are half of the sparse"
     " figures"},
    {"h200", "NVIDIA H200",
     &archs[CC_90], 132, 1980e6, MIB(60), GIB(141), 4800e9,
     33.5e12, 66.9e12, 66.9e12, 494.7e12, 989.4e12, 989.4e12, 1978.9e12, 1978.9e12, NAN,
     "SMs, clock, L2: measured; bandwidth: TensorRT-LLM (memory clock and bus give 4814 GB/s);"
     " peaks: as H100 SXM, tensor at 1830 MHz"},
    {"h20", "NVIDIA H20",
     &archs[CC_90], 78, NAN, NAN, GIB(96), 4000e9,
     1e12, 44e12, NAN, 74e12, 148e12, 148e12, 296e12, 296e12, NAN,
     "SMs, fp64, fp32: press; peaks, bandwidth: TensorRT-LLM cluster_info.py; tensor rate is a"
     " quarter of the H100's"},
    {"h20-3e", "NVIDIA H20-3e",
     &archs[CC_90], 0, NAN, NAN, GIB(141), NAN,
     NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN,
     "memory: SGLang hardware lists; no sheet found"},
    {"h800", "NVIDIA H800",
     &archs[CC_90], 132, NAN, MIB(50), GIB(80), 3350e9,
     1e12, 66.9e12, 1e12, 494.7e12, 989.4e12, 989.4e12, 1978.9e12, 1978.9e12, NAN,
     "NVIDIA data sheet, not re-read: H100 SXM with NVLink and FP64 cut"},
    {"gh200", "NVIDIA GH200 480GB",
     &archs[CC_90], 132, 1980e6, NAN, GIB(96), 4000e9,
     33.5e12, 66.9e12, 66.9e12, 494.7e12, 989.4e12, 989.4e12, 1978.9e12, 1978.9e12, NAN,
     "NVIDIA data sheet, not re-read; the 144 GB variant differs"},
    {"b100", "NVIDIA B100",
     &archs[CC_100], 148, 1600e6, NAN, GIB(192), NAN,
     30.3e12, 60.6e12, 27.4e12, 875e12, 1750e12, 1750e12, 3500e12, 3500e12, 7000e12,
     "hmc-tech.com; bandwidth: sources disagree (7.7 and 8 TB/s); tensor peaks at 1440 MHz"},
    {"b200", "NVIDIA B200",
     &archs[CC_100], 148, 1980e6, NAN, GIB(192), NAN,
     37e12, 75e12, 37e12, 1125e12, 2250e12, 2250e12, 4500e12, 4500e12, 9000e12,
     "peaks: NVIDIA HGX table at fibermall.com; SMs, clock: hmc-tech.com; bandwidth, L2: "
     "sources disagree"},
    {"gb200", "NVIDIA GB200",
     &archs[CC_100], 152, 2112e6, 135528448, GIB(192), 7936e9,
     40e12, 80e12, 40e12, 1250e12, 2500e12, 2500e12, 5000e12, 5000e12, 10000e12,
     "SMs, L2, bandwidth (memory clock and bus): as a GB200 reports them; peaks: "
     "glennklockwood.com; clock: hmc-tech.com"},
    {"b300", "NVIDIA B300",
     &archs[CC_103], 0, NAN, NAN, GIB(288), 8000e9,
     1.25e12, 75e12, 1.25e12, 1125e12, 2250e12, 2250e12, 4500e12, NAN, 13125e12,
     "peaks, memory: glennklockwood.com; SMs (148 or 160), int8: sources disagree"},
    {"orin", "Orin",
     &archs[CC_87], 16, 1300e6, MIB(4), GIB(64), 204.8e9,
     NAN, 5.3e12, NAN, NAN, NAN, NAN, NAN, 85e12, NAN,
     "SMs, L2, peaks: Jetson AGX Orin brief (int8 is half of the sparse figure); clock, "
     "memory: NVIDIA data sheet, not re-read"},
    {"thor", "NVIDIA Thor",
     &archs[CC_110], 20, 1575e6, MIB(32), GIB(128), 273e9,
     NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 1035e12,
     "SMs, L2: developer forum readings; fp4: half of the sparse figure; clock, memory: NVIDIA"
     " data sheet, not re-read"},
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

/* One or two digits; false for more or none. */
static bool read_digits(const char **text, int *value)
{
    const char *const start = *text;

    for (*value = 0; **text >= '0' && **text <= '9'; (*text)++) {
        if (*text - start == 3)
            return false;
        *value = *value * 10 + (**text - '0');
    }
    return *text > start;
}

bool ridge_arch_parse(const char *text, int *major, int *minor)
{
    static const char *const prefixes[] = {"sm_", "compute_", "sm"};
    size_t i = 0;
    int digits;

    if (read_digits(&text, major))
        return *text++ == '.' && read_digits(&text, minor) && *text == '\0';
    while (i < COUNT(prefixes) && strncmp(text, prefixes[i], strlen(prefixes[i])) != 0)
        i++;
    if (i == COUNT(prefixes))
        return false;
    text += strlen(prefixes[i]);
    if (!read_digits(&text, &digits) || digits < 10)
        return false;
    if (*text == 'a' || *text == 'f') /* for one architecture or family alone */
        text++;
    *major = digits / 10;
    *minor = digits % 10;
    return *text == '\0';
}

size_t ridge_chip_count(void)
{
    return COUNT(chips);
}

const ridge_chip *ridge_chip_at(size_t index)
{
    return index < COUNT(chips) ? &chips[index] : NULL;
}

/* The next character that counts in a name, in lower case; 0 at the end. */
static char next_letter(const char **position)
{
    char letter;

    while (**position == ' ' || **position == '-')
        (*position)++;
    if (**position == '\0')
        return '\0';
    letter = *(*position)++;
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static const char *without_vendor(const char *name)
{
    static const char vendor[] = "nvidia";
    const char *rest = name;

    for (size_t i = 0; vendor[i] != '\0'; i++)
        if (next_letter(&rest) != vendor[i])
            return name;
    return rest;
}

/* Whether name, as a user or driver gave it, is pattern; '*' in the pattern takes the rest. */
static bool is_name(const char *name, const char *pattern)
{
    char expected;

    name = without_vendor(name);
    pattern = without_vendor(pattern);
    do {
        expected = next_letter(&pattern);
        if (expected == '*')
            return true;
        if (next_letter(&name) != expected)
            return false;
    } while (expected != '\0');
    return true;
}

const ridge_chip *ridge_chip_find(const char *name)
{
    if (name == NULL)
        return NULL;
    for (size_t i = 0; i < COUNT(chips); i++)
        if (is_name(name, chips[i].id) || is_name(name, chips[i].name))
            return &chips[i];
    for (size_t i = 0; i < COUNT(aliases); i++)
        if (is_name(name, aliases[i].name))
            return ridge_chip_find(aliases[i].id);
    return NULL;
}

size_t ridge_chips_beginning(const char *name, const ridge_chip **begun, size_t capacity)
{
    size_t count = 0;

    for (size_t i = 0; i < COUNT(chips); i++) {
        const char *id = chips[i].id;
        const char *rest = without_vendor(name);
        char letter = next_letter(&rest);

        if (letter == '\0')
            return 0;
        while (letter != '\0' && next_letter(&id) == letter)
            letter = next_letter(&rest);
        if (letter != '\0')
            continue;
        if (count < capacity)
            begun[count] = &chips[i];
        count++;
    }
    return count;
}

size_t ridge_chip_alias_count(void)
{
    return COUNT(aliases);
}

const ridge_chip_alias *ridge_chip_alias_at(size_t index)
{
    return index < COUNT(aliases) ? &aliases[index] : NULL;
}

void ridge_chip_init(ridge_chip *chip, const ridge_arch *arch)
{
    *chip = (ridge_chip){
        .id = arch->sm,
        .name = arch->sm,
        .arch = arch,
        .sm_clock_hz = NAN,
        .l2_bytes = NAN,
        .dram_bytes = NAN,
        .dram_bytes_per_s = NAN,
        .fp64_flop_per_s = NAN,
        .fp32_flop_per_s = NAN,
        .fp64_tensor_flop_per_s = NAN,
        .tf32_flop_per_s = NAN,
        .fp16_flop_per_s = NAN,
        .bf16_flop_per_s = NAN,
        .fp8_flop_per_s = NAN,
        .int8_op_per_s = NAN,
        .fp4_flop_per_s = NAN,
        .source = "",
    };
}
