/* SPDX-License-Identifier: Apache-2.0
 *
 * The numbers of a chip as a table, so that printing, reading and comparing them is one loop. */
#include <math.h>
#include <stddef.h>

#include "ridge/hardware.h"
#include "ridge/table.h"

static const struct field {
    ridge_chip_field_info info;
    size_t offset; /* of a double in ridge_chip; the SM count is an int, see ridge_chip_value() */
} fields[RIDGE_CHIP_FIELD_COUNT] = {
#define FIELD(name, title, unit)                                                                   \
    {                                                                                              \
        {#name, title, unit}, offsetof(ridge_chip, name)                                           \
    }
    [RIDGE_CHIP_SM_COUNT] = FIELD(sm_count, "SMs", RIDGE_UNIT_COUNT),
    [RIDGE_CHIP_SM_CLOCK] = FIELD(sm_clock_hz, "SM clock, boost", RIDGE_UNIT_HZ),
    [RIDGE_CHIP_L2] = FIELD(l2_bytes, "L2", RIDGE_UNIT_BYTES),
    [RIDGE_CHIP_DRAM] = FIELD(dram_bytes, "Memory", RIDGE_UNIT_BYTES),
    [RIDGE_CHIP_BANDWIDTH] = FIELD(dram_bytes_per_s, "Memory bandwidth", RIDGE_UNIT_BYTES_PER_S),
    [RIDGE_CHIP_FP64] = FIELD(fp64_flop_per_s, "fp64", RIDGE_UNIT_FLOP_PER_S),
    [RIDGE_CHIP_FP32] = FIELD(fp32_flop_per_s, "fp32", RIDGE_UNIT_FLOP_PER_S),
    [RIDGE_CHIP_FP64_TENSOR] = FIELD(fp64_tensor_flop_per_s, "fp64, tensor", RIDGE_UNIT_FLOP_PER_S),
    [RIDGE_CHIP_TF32] = FIELD(tf32_flop_per_s, "tf32", RIDGE_UNIT_FLOP_PER_S),
    [RIDGE_CHIP_FP16] = FIELD(fp16_flop_per_s, "fp16", RIDGE_UNIT_FLOP_PER_S),
    [RIDGE_CHIP_BF16] = FIELD(bf16_flop_per_s, "bf16", RIDGE_UNIT_FLOP_PER_S),
    [RIDGE_CHIP_FP8] = FIELD(fp8_flop_per_s, "fp8", RIDGE_UNIT_FLOP_PER_S),
    [RIDGE_CHIP_INT8] = FIELD(int8_op_per_s, "int8", RIDGE_UNIT_OP_PER_S),
    [RIDGE_CHIP_FP4] = FIELD(fp4_flop_per_s, "fp4", RIDGE_UNIT_FLOP_PER_S),
    [RIDGE_CHIP_BASE_CLOCK] = FIELD(base_clock_hz, "SM clock, base", RIDGE_UNIT_HZ),
    [RIDGE_CHIP_TENSOR_CLOCK] = FIELD(tensor_clock_hz, "SM clock, tensor peaks", RIDGE_UNIT_HZ),
    [RIDGE_CHIP_BUS] = FIELD(dram_bus_bits, "Memory bus, bits", RIDGE_UNIT_COUNT),
#undef FIELD
};

const ridge_chip_field_info *ridge_chip_field_at(ridge_chip_field field)
{
    return &fields[field].info;
}

double ridge_chip_value(const ridge_chip *chip, ridge_chip_field field)
{
    if (field == RIDGE_CHIP_SM_COUNT)
        return chip->sm_count > 0 ? chip->sm_count : (double)NAN;
    return *(const double *)((const char *)chip + fields[field].offset);
}

void ridge_chip_set(ridge_chip *chip, ridge_chip_field field, double value)
{
    if (field == RIDGE_CHIP_SM_COUNT)
        chip->sm_count = value > 0 ? (int)value : 0;
    else
        *(double *)((char *)chip + fields[field].offset) = value;
}

/* The first of a list that is about a field. */
static const char *text_about(const ridge_chip_source *list, size_t count, ridge_chip_field field)
{
    for (size_t i = 0; i < count && list[i].fields != 0; i++)
        if ((list[i].fields & 1u << field) != 0)
            return list[i].text;
    return NULL;
}

const char *ridge_chip_source_of(const ridge_chip *chip, ridge_chip_field field)
{
    return isnan(ridge_chip_value(chip, field))
               ? NULL
               : text_about(chip->sources, RIDGE_CHIP_SOURCES, field);
}

const char *ridge_chip_unknown_of(const ridge_chip *chip, ridge_chip_field field)
{
    const char *text;

    if (!isnan(ridge_chip_value(chip, field)))
        return NULL;
    text = text_about(chip->unknowns, RIDGE_CHIP_UNKNOWNS, field);
    return text != NULL ? text : "no source";
}

/* -- limits of a compute capability ------------------------------------------------------------ */

static const struct limit {
    ridge_arch_limit_info info;
    size_t offset; /* of an int in ridge_arch */
} limits[] = {
#define LIMIT(name, lowest, highest)                                                               \
    {                                                                                              \
        {#name, lowest, highest}, offsetof(ridge_arch, name)                                       \
    }
    LIMIT(warps_per_sm, 1, 128),
    LIMIT(blocks_per_sm, 1, 64),
    LIMIT(threads_per_block, 32, 4096),
    LIMIT(schedulers_per_sm, 1, 16),
    LIMIT(registers_per_sm, 1024, 1 << 22),
    LIMIT(register_unit, 1, 4096),
    LIMIT(registers_per_thread, 1, 1024),
    LIMIT(shared_per_sm_bytes, 0, 1 << 26),
    LIMIT(shared_per_block_bytes, 0, 1 << 26),
    LIMIT(shared_unit_bytes, 1, 4096),
    LIMIT(shared_reserved_bytes, 0, 65536),
    LIMIT(barriers_per_sm, 0, 1024),
    LIMIT(cluster_blocks, 0, 64),
    LIMIT(portable_cluster, 0, 64),
    LIMIT(l1_wavefront_bytes, 1, 4096),
#undef LIMIT
};

size_t ridge_arch_limit_count(void)
{
    return sizeof(limits) / sizeof(limits[0]);
}

const ridge_arch_limit_info *ridge_arch_limit_at(size_t index)
{
    return &limits[index].info;
}

int ridge_arch_limit(const ridge_arch *arch, size_t index)
{
    return *(const int *)((const char *)arch + limits[index].offset);
}

void ridge_arch_set_limit(ridge_arch *arch, size_t index, int value)
{
    *(int *)((char *)arch + limits[index].offset) = value;
}

/* -- what follows ------------------------------------------------------------------------------ */

double ridge_chip_flop_per_byte(const ridge_chip *chip, ridge_chip_field field)
{
    return ridge_chip_value(chip, field) / chip->dram_bytes_per_s;
}

double ridge_chip_dram_bytes_per_cycle(const ridge_chip *chip)
{
    return chip->dram_bytes_per_s /
           (ridge_chip_value(chip, RIDGE_CHIP_SM_COUNT) * chip->sm_clock_hz);
}

double ridge_chip_shared_bytes_per_s(const ridge_chip *chip)
{
    return ridge_chip_value(chip, RIDGE_CHIP_SM_COUNT) * chip->arch->l1_wavefront_bytes *
           chip->sm_clock_hz;
}

void ridge_chip_init(ridge_chip *chip, const ridge_arch *arch)
{
    *chip = (ridge_chip){.id = arch->sm, .name = arch->sm, .arch = arch};
    for (int field = 0; field < RIDGE_CHIP_FIELD_COUNT; field++)
        ridge_chip_set(chip, (ridge_chip_field)field, NAN);
}
