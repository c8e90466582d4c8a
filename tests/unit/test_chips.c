/* SPDX-License-Identifier: Apache-2.0 */
#include "ridge/hardware.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

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

static void every_chip_is_found_and_plausible(void **state)
{
    assert_true(ridge_chip_count() >= 30);
    for (size_t i = 0; i < ridge_chip_count(); i++) {
        const ridge_chip *const chip = ridge_chip_at(i);
        const double rates[] = {
            chip->sm_clock_hz,           chip->l2_bytes,        chip->dram_bytes,
            chip->dram_bytes_per_s,      chip->fp64_flop_per_s, chip->fp32_flop_per_s,
            chip->tf32_flop_per_s,       chip->fp16_flop_per_s, chip->bf16_flop_per_s,
            chip->fp8_flop_per_s,        chip->int8_op_per_s,   chip->fp4_flop_per_s,
            chip->fp64_tensor_flop_per_s};

        assert_ptr_equal(ridge_chip_find(chip->id), chip);
        assert_ptr_equal(ridge_chip_find(chip->name), chip);
        assert_non_null(chip->arch);
        assert_true(strlen(chip->source) > 0);
        assert_null(strchr(chip->source, '\n'));
        assert_true(chip->sm_count >= 0 && chip->sm_count <= 256);
        for (size_t k = 0; k < sizeof rates / sizeof *rates; k++)
            assert_true(isnan(rates[k]) || rates[k] >= 1e6);
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
