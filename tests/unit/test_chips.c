/* SPDX-License-Identifier: Apache-2.0 */
#include "ridge/hardware.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/document.h"

static struct naming {
    const char *asked;
    const char *id; /* NULL: unknown */
} namings[] = {
    {"h200", "h200"},
    {"H200", "h200"},
    {"NVIDIA H200", "h200"},
    {"h200-sxm", "h200"},
    {"a100", "a100-sxm-80"},
    {"A100-40", "a100-sxm-40"},
    {"v100", "v100-sxm"},
    {"h100", "h100-sxm"},
    {"b200", "b200"},
    {"NVIDIA H200 NVL", NULL},
    {"H100", "h100-sxm"},
    {"NVIDIA H100 80GB HBM3", "h100-sxm"},
    {"NVIDIA H100 PCIe", "h100-pcie"},
    {"A100-PCIE-40GB", "a100-pcie-40"},
    {"NVIDIA A100-PCIE-40GB", "a100-pcie-40"},
    {"NVIDIA A100 80GB PCIe", "a100-pcie-80"},
    {"a100 sxm 80", "a100-sxm-80"},
    {"Tesla V100-SXM2-32GB", "v100-sxm"},
    {"Tesla T4", "t4"},
    {"NVIDIA A10", "a10"},
    {"NVIDIA A10G", NULL},
    {"rtx 4090", "rtx4090"},
    {"NVIDIA GeForce RTX 4090", "rtx4090"},
    {"NVIDIA GeForce RTX 4090 Laptop GPU", NULL},
    {"NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "rtxpro6000"},
    {"NVIDIA GB200", "gb200"},
    {"NVIDIA B300 SXM6 AC", "b300"},
    {"NVIDIA H20", "h20"},
    {"NVIDIA H20-3e", "h20-3e"},
    {"", NULL},
    {"-", NULL},
    {"*", NULL},
    {"NVIDIA", NULL},
    {"NVIDIA ", NULL},
};

static void finds_by_name(void **state)
{
    for (size_t i = 0; i < sizeof namings / sizeof *namings; i++) {
        const ridge_chip *const chip = ridge_chip_find(namings[i].asked);

        if (namings[i].id == NULL && chip != NULL)
            fail_msg("\"%s\" is %s, expected none", namings[i].asked, chip->id);
        if (namings[i].id != NULL && (chip == NULL || strcmp(chip->id, namings[i].id) != 0))
            fail_msg("\"%s\" is %s, expected %s", namings[i].asked, chip ? chip->id : "none",
                     namings[i].id);
    }
    assert_null(ridge_chip_find(NULL));
    (void)state;
}

/* A number has a source, an unknown one a reason, and each is one line. */
static void check_field(const ridge_chip *chip, ridge_chip_field field)
{
    const double value = ridge_chip_value(chip, field);
    const char *const source = ridge_chip_source_of(chip, field);
    const char *const reason = ridge_chip_unknown_of(chip, field);
    const bool is_small = field == RIDGE_CHIP_SM_COUNT || field == RIDGE_CHIP_BUS;

    assert_int_equal(isnan(value), reason != NULL);
    if (isnan(value) != (source == NULL))
        fail_msg("%s: %s has no source", chip->id, ridge_chip_field_at(field)->key);
    assert_true(isnan(value) || value >= (is_small ? 1 : 1e6));
    assert_null(strchr(source != NULL ? source : reason, '\n'));
}

static void every_chip_is_found_and_plausible(void **state)
{
    assert_true(ridge_chip_count() >= 30);
    for (size_t i = 0; i < ridge_chip_count(); i++) {
        const ridge_chip *const chip = ridge_chip_at(i);
        assert_ptr_equal(ridge_chip_find(chip->id), chip);
        assert_ptr_equal(ridge_chip_find(chip->name), chip);
        assert_non_null(chip->arch);
        for (int field = 0; field < RIDGE_CHIP_FIELD_COUNT; field++)
            check_field(chip, (ridge_chip_field)field);
        assert_true(chip->sm_count >= 0 && chip->sm_count <= 256);
        /* A vector unit gives 2 FLOP a cycle on 64 or 128 lanes of each SM; the H20 is cut. */
        if (chip->sm_count > 0 && !isnan(chip->fp32_flop_per_s) && !isnan(chip->sm_clock_hz)) {
            const double lanes = chip->fp32_flop_per_s / (2 * chip->sm_clock_hz * chip->sm_count);

            if (!(lanes > 60 && lanes < 132))
                fail_msg("%s: %g fp32 lanes an SM", chip->id, lanes);
        }
    }
    assert_null(ridge_chip_at(ridge_chip_count()));
    (void)state;
}

static void every_arch_is_consistent(void **state)
{
    assert_int_equal(ridge_arch_count(), 14);
    for (size_t i = 0; i < ridge_arch_count(); i++) {
        const ridge_arch *const arch = ridge_arch_at(i);

        assert_ptr_equal(ridge_arch_find(arch->major, arch->minor), arch);
        assert_int_equal(arch->shared_per_sm_bytes,
                         arch->carveouts_bytes[arch->carveout_count - 1]);
        assert_int_equal(arch->shared_per_block_bytes + arch->shared_reserved_bytes,
                         arch->shared_per_sm_bytes);
        for (size_t k = 1; k < arch->carveout_count; k++)
            assert_true(arch->carveouts_bytes[k] > arch->carveouts_bytes[k - 1]);
        assert_int_equal(arch->schedulers_per_sm, 4);
        assert_int_equal(arch->registers_per_sm, 65536);
    }
    assert_null(ridge_arch_at(ridge_arch_count()));
    assert_null(ridge_arch_find(9, 1));
    assert_null(ridge_arch_find(0, 0));
    assert_ptr_equal(ridge_arch_find(10, 1), ridge_arch_find(11, 0));
    (void)state;
}

static struct capability {
    const char *text;
    bool ok;
    int major, minor;
} capabilities[] = {
    {"9.0", true, 9, 0},   {"sm_90", true, 9, 0},       {"sm_90a", true, 9, 0},
    {"sm90", true, 9, 0},  {"compute_86", true, 8, 6},  {"sm_100f", true, 10, 0},
    {"12.1", true, 12, 1}, {"9", false, 0, 0},          {"9.", false, 0, 0},
    {"9.0a", false, 0, 0}, {"sm_9", false, 0, 0},       {"sm_", false, 0, 0},
    {"", false, 0, 0},     {"sm_90ab", false, 0, 0},    {"sm_9000", false, 0, 0},
    {"h200", false, 0, 0}, {"99999999.0", false, 0, 0}, {".0", false, 0, 0},
};

static void reads_capabilities(void **state)
{
    for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++) {
        const struct capability *const row = &capabilities[i];
        int major, minor;
        const bool ok = ridge_arch_parse(row->text, &major, &minor);

        if (ok != row->ok || (ok && (major != row->major || minor != row->minor)))
            fail_msg("\"%s\" is %d: %d.%d", row->text, ok, major, minor);
    }
    (void)state;
}

static void lists_what_begins_so(void **state)
{
    const ridge_chip *found[2];

    assert_int_equal(ridge_chips_beginning("A100-SXM", found, 2), 2);
    assert_string_equal(found[0]->id, "a100-sxm-40");
    assert_string_equal(found[1]->id, "a100-sxm-80");
    assert_int_equal(ridge_chips_beginning("rtx", found, 2), 4);
    assert_int_equal(ridge_chips_beginning("nvidia l4", found, 2), 2);
    assert_int_equal(ridge_chips_beginning("", found, 2), 0);
    assert_int_equal(ridge_chips_beginning("h200x", found, 2), 0);
    (void)state;
}

static void every_alias_is_of_a_chip(void **state)
{
    for (size_t i = 0; i < ridge_chip_alias_count(); i++) {
        const ridge_chip_alias *const alias = ridge_chip_alias_at(i);
        const ridge_chip *const chip = ridge_chip_find(alias->name);

        assert_non_null(chip);
        assert_string_equal(chip->id, alias->id);
    }
    assert_null(ridge_chip_alias_at(ridge_chip_alias_count()));
    (void)state;
}

static void bare_chip_is_unknown(void **state)
{
    ridge_chip chip;

    ridge_chip_init(&chip, ridge_arch_find(9, 0));
    assert_string_equal(chip.id, "sm_90");
    assert_int_equal(chip.sm_count, 0);
    assert_true(isnan(chip.sm_clock_hz) && isnan(chip.dram_bytes_per_s));
    assert_true(isnan(chip.bf16_flop_per_s) && isnan(chip.fp4_flop_per_s));
    (void)state;
}

static void h200_is_as_measured(void **state)
{
    const ridge_chip *const chip = ridge_chip_find("h200");

    assert_int_equal(chip->arch->major, 9);
    assert_int_equal(chip->arch->minor, 0);
    assert_int_equal(chip->sm_count, 132);
    assert_true(chip->sm_clock_hz == 1980e6);
    assert_true(chip->l2_bytes == 62914560);
    assert_true(chip->dram_bytes_per_s == 4800e9);
    assert_true(chip->bf16_flop_per_s == 989.4e12);
    assert_true(isnan(chip->fp4_flop_per_s));
    assert_int_equal(chip->arch->shared_per_block_bytes, 232448);
    (void)state;
}

static void derived_numbers(void **state)
{
    const ridge_chip *const h200 = ridge_chip_find("h200");
    const ridge_chip *const h20 = ridge_chip_find("h20");

    assert_true(fabs(ridge_chip_flop_per_byte(h200, RIDGE_CHIP_BF16) - 206.125) < 1e-9);
    assert_true(fabs(ridge_chip_dram_bytes_per_cycle(h200) - 18.3655) < 1e-4);
    assert_true(fabs(ridge_chip_shared_bytes_per_s(h200) - 33.45408e12) < 1);
    assert_true(ridge_chip_flop_per_byte(h20, RIDGE_CHIP_BF16) == 37);
    assert_true(isnan(ridge_chip_flop_per_byte(h20, RIDGE_CHIP_FP4)));
    assert_true(isnan(ridge_chip_dram_bytes_per_cycle(h20)));
    assert_true(isnan(ridge_chip_shared_bytes_per_s(h20)));
    (void)state;
}

static void says_why_unknown(void **state)
{
    const ridge_chip *const l40s = ridge_chip_find("l40s");

    assert_string_equal(ridge_chip_unknown_of(l40s, RIDGE_CHIP_L2),
                        "sources disagree: 48 or 96 MB");
    assert_string_equal(ridge_chip_unknown_of(l40s, RIDGE_CHIP_FP4), "no source");
    assert_null(ridge_chip_unknown_of(l40s, RIDGE_CHIP_BF16));
    assert_null(ridge_chip_source_of(l40s, RIDGE_CHIP_L2));
    assert_string_equal(ridge_chip_source_of(l40s, RIDGE_CHIP_SM_COUNT), "technical.city");
    (void)state;
}

/* -- the collection of data sheets that the table was made from ------------------------------ */

/* What reports and devices say comes before data sheets: "ID KEY". */
static bool is_measured(const char *id, const char *key)
{
    static const char *const measured[] = {"gb200 sm_count", "gb200 l2_bytes",
                                           "gb200 dram_bytes_per_s"};
    char name[96];

    snprintf(name, sizeof name, "%s %s", id, key);
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++)
        if (strcmp(name, measured[i]) == 0)
            return true;
    return false;
}

static double number(const ridge_node *object, const char *key, double scale)
{
    return ridge_node_number(ridge_node_member(object, key)) * scale;
}

static void compare(const ridge_chip *chip, ridge_chip_field field, double expected)
{
    const char *const key = ridge_chip_field_at(field)->key;
    const double found = ridge_chip_value(chip, field);

    if (is_measured(chip->id, key))
        return;
    if (isnan(found) != isnan(expected) || fabs(found - expected) > 1e-9 * fabs(expected))
        fail_msg("%s: %s is %g, the collection has %g", chip->id, key, found, expected);
}

static void compare_chip(const ridge_node *row)
{
    static const struct {
        const char *key;
        ridge_chip_field field;
        double scale;
    } numbers[] = {
        {"sm_count", RIDGE_CHIP_SM_COUNT, 1},
        {"boost_mhz", RIDGE_CHIP_SM_CLOCK, 1e6},
        {"base_mhz", RIDGE_CHIP_BASE_CLOCK, 1e6},
        {"tensor_boost_mhz", RIDGE_CHIP_TENSOR_CLOCK, 1e6},
        {"mem_gb", RIDGE_CHIP_DRAM, 0x1p30},
        {"mem_bus_bits", RIDGE_CHIP_BUS, 1},
        {"mem_bw_gbs", RIDGE_CHIP_BANDWIDTH, 1e9},
        {"l2_bytes", RIDGE_CHIP_L2, 1},
    };
    static const struct {
        const char *key;
        ridge_chip_field field;
    } peaks[] = {{"fp64", RIDGE_CHIP_FP64}, {"fp64_tensor", RIDGE_CHIP_FP64_TENSOR},
                 {"fp32", RIDGE_CHIP_FP32}, {"tf32", RIDGE_CHIP_TF32},
                 {"fp16", RIDGE_CHIP_FP16}, {"bf16", RIDGE_CHIP_BF16},
                 {"fp8", RIDGE_CHIP_FP8},   {"int8", RIDGE_CHIP_INT8},
                 {"fp4", RIDGE_CHIP_FP4}};
    const char *const id = ridge_node_text(ridge_node_member(row, "id"));
    const ridge_chip *const chip = ridge_chip_find(id);
    char capability[16];

    if (chip == NULL)
        fail_msg("no chip is called %s", id);
    snprintf(capability, sizeof capability, "%d.%d", chip->arch->major, chip->arch->minor);
    assert_string_equal(capability, ridge_node_text(ridge_node_member(row, "cc")));
    assert_string_equal(chip->dram_type, ridge_node_text(ridge_node_member(row, "mem_type")));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        compare(chip, numbers[i].field, number(row, numbers[i].key, numbers[i].scale));
    for (size_t i = 0; i < sizeof peaks / sizeof *peaks; i++)
        compare(chip, peaks[i].field,
                number(ridge_node_member(row, "peak_dense_tflops"), peaks[i].key, 1e12));
}

static void compare_arch(const char *name, const ridge_node *row)
{
    static const struct {
        const char *key;
        size_t offset;
    } numbers[] = {{"max_warps_per_sm", offsetof(ridge_arch, warps_per_sm)},
                   {"max_blocks_per_sm", offsetof(ridge_arch, blocks_per_sm)},
                   {"smem_per_sm", offsetof(ridge_arch, shared_per_sm_bytes)},
                   {"smem_per_block_optin", offsetof(ridge_arch, shared_per_block_bytes)},
                   {"smem_reserved_per_block", offsetof(ridge_arch, shared_reserved_bytes)},
                   {"smem_alloc_unit", offsetof(ridge_arch, shared_unit_bytes)},
                   {"regs_per_sm", offsetof(ridge_arch, registers_per_sm)},
                   {"reg_alloc_unit_per_warp", offsetof(ridge_arch, register_unit)},
                   {"max_regs_per_thread", offsetof(ridge_arch, registers_per_thread)},
                   {"subpartitions", offsetof(ridge_arch, schedulers_per_sm)},
                   {"max_threads_per_block", offsetof(ridge_arch, threads_per_block)},
                   {"barriers_per_sm", offsetof(ridge_arch, barriers_per_sm)},
                   {"max_cluster_portable", offsetof(ridge_arch, portable_cluster)}};
    const ridge_arch *arch;
    int major, minor;

    assert_true(ridge_arch_parse(name, &major, &minor));
    arch = ridge_arch_find(major, minor);
    assert_non_null(arch);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const int found = *(const int *)((const char *)arch + numbers[i].offset);
        int64_t expected = 0; /* null: no such limit */

        (void)ridge_node_integer(ridge_node_member(row, numbers[i].key), &expected);
        if (found != expected)
            fail_msg("%s: %s is %d, the collection has %d", name, numbers[i].key, found,
                     (int)expected);
    }
}

static void equals_the_collection(void **state)
{
    const char *const shared = getenv("RIDGE_SHARED");
    ridge_document document;
    const ridge_node *list, *row;
    const void *at = NULL;
    const char *key;
    char path[1024];

    snprintf(path, sizeof path, "%s/specs/gpus.json",
             shared != NULL ? shared : RIDGE_SOURCE_DIR "/../shared");
    if (ridge_document_open(path, &document, NULL) != RIDGE_OK)
        skip();
    list = ridge_node_member(document.root, "gpus");
    assert_int_equal(ridge_node_count(list), 30);
    assert_int_equal(ridge_chip_count(), 30);
    for (size_t i = 0; i < ridge_node_count(list); i++)
        compare_chip(ridge_node_at(list, i));
    list = ridge_node_member(document.root, "compute_capabilities");
    assert_int_equal(ridge_node_count(list), ridge_arch_count());
    while ((row = ridge_node_next(list, &at, &key)) != NULL)
        compare_arch(key, row);
    ridge_document_release(&document);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_by_name),
        cmocka_unit_test(every_chip_is_found_and_plausible),
        cmocka_unit_test(every_arch_is_consistent),
        cmocka_unit_test(reads_capabilities),
        cmocka_unit_test(lists_what_begins_so),
        cmocka_unit_test(every_alias_is_of_a_chip),
        cmocka_unit_test(bare_chip_is_unknown),
        cmocka_unit_test(h200_is_as_measured),
        cmocka_unit_test(derived_numbers),
        cmocka_unit_test(says_why_unknown),
        cmocka_unit_test(equals_the_collection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
