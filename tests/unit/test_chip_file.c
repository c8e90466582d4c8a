/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include <math.h>

#include "base/memory.h"
#include "ridge/occupancy.h"

static ridge_status parse(const char *text, ridge_chip_file **out, ridge_error *err)
{
    return ridge_chip_file_parse(text, strlen(text), out, err);
}

static struct bad_file {
    const char *name, *text, *message;
} bad_files[] = {
    {"no JSON", "h200", "not a JSON document"},
    {"no capability", "{}", "no compute_capability (such as \"9.0\") and no like"},
    {"a capability that is none", "{\"cc\": \"nine\"}", "compute_capability is \"nine\""},
    {"a capability that is unknown", "{\"cc\": \"9.9\"}", "compute_capability 9.9 is not known"},
    {"a capability as a number", "{\"cc\": 9.0}", "cc is 9"},
    {"like nothing", "{\"like\": \"h201\"}", "like is \"h201\", which is no known chip"},
    {"a misspelled member", "{\"cc\": \"9.0\", \"sm_cuont\": 3}",
     "\"sm_cuont\" is no member of a chip"},
    {"a misspelled peak", "{\"cc\": \"9.0\", \"peak_dense_tflops\": {\"bf61\": 3}}",
     "\"bf61\" is no member of peak_dense_tflops"},
    {"a misspelled limit", "{\"cc\": \"9.0\", \"arch\": {\"warps\": 3}}",
     "\"warps\" is no member of arch"},
    {"peaks that are no object", "{\"cc\": \"9.0\", \"peak_dense_tflops\": 3}",
     "peak_dense_tflops is no object"},
    {"limits that are no object", "{\"cc\": \"9.0\", \"arch\": []}", "arch is no object"},
    {"a negative number", "{\"cc\": \"9.0\", \"sm_clock_hz\": -1}", "sm_clock_hz is -1"},
    {"no SMs", "{\"cc\": \"9.0\", \"sm_count\": 0}", "sm_count is 0"},
    {"half an SM", "{\"cc\": \"9.0\", \"sm_count\": 1.5}",
     "sm_count is 1.5, expected a whole number"},
    {"a text for a number", "{\"cc\": \"9.0\", \"l2_bytes\": \"50 MB\"}", "l2_bytes is \"50 MB\""},
    {"a number twice", "{\"cc\": \"9.0\", \"sm_clock_hz\": 1e9, \"boost_mhz\": 1000}",
     "sm_clock_hz is given twice, also as boost_mhz"},
    {"no unit of shared memory", "{\"cc\": \"9.0\", \"arch\": {\"shared_unit_bytes\": 0}}",
     "shared_unit_bytes is 0, expected a whole number from 1 to 4096"},
    {"a name that is no text", "{\"cc\": \"9.0\", \"name\": 3}", "name is 3"},
    {"a name with an escape", "{\"cc\": \"9.0\", \"name\": \"a\\u001b[31m\"}",
     "name holds the control character 0x1b"},
    {"an id of two lines", "{\"cc\": \"9.0\", \"id\": \"a\\nb\"}",
     "id holds the control character 0x0a"},
    {"another schema", "{\"schema\": \"ridge-roofs/1\", \"cc\": \"9.0\"}",
     "schema is \"ridge-roofs/1\", expected \"ridge-chip/1\""},
    {"a block that gets more than an SM has",
     "{\"cc\": \"9.0\", \"arch\": {\"shared_per_sm_bytes\": 1000,"
     " \"shared_per_block_bytes\": 1000}}",
     "shared_per_block_bytes is 1000, an SM has 1000 of which 1024 are reserved"},
};

static void rejects(void **state)
{
    const struct bad_file *const bad = *state;
    ridge_chip_file *file;
    ridge_error err;

    assert_int_equal(parse(bad->text, &file, &err), RIDGE_ERR_FORMAT);
    assert_null(file);
    if (strstr(err.text, bad->message) == NULL)
        fail_msg("%s", err.text);
}

static void capability_alone(void **state)
{
    ridge_chip_file *file;
    const ridge_chip *chip;

    assert_int_equal(parse("{\"compute_capability\": \"8.6\"}", &file, NULL), RIDGE_OK);
    chip = ridge_chip_file_chip(file);
    assert_string_equal(chip->id, "sm_86");
    assert_int_equal(chip->arch->warps_per_sm, 48);
    for (int field = 0; field < RIDGE_CHIP_FIELD_COUNT; field++)
        assert_true(isnan(ridge_chip_value(chip, (ridge_chip_field)field)));
    ridge_chip_file_free(file);
    ridge_chip_file_free(NULL);
    (void)state;
}

static void fields_and_limits(void **state)
{
    static const char text[] =
        "{\"id\": \"mine\", \"name\": \"My GPU\", \"cc\": \"9.0\", \"sm_count\": 78,"
        " \"boost_mhz\": 1830, \"mem_gb\": 96, \"mem_bw_gbs\": 4000, \"l2_bytes\": null,"
        " \"peak_dense_tflops\": {\"bf16\": 148}, \"mem_type\": \"HBM3\","
        " \"source\": \"measured\", \"arch\": {\"shared_per_sm_bytes\": 100000}}";
    const ridge_launch launch = {.threads_per_block = 256, .shared_bytes = 60000};
    ridge_occupancy occupancy;
    ridge_chip_file *file;
    const ridge_chip *chip;

    assert_int_equal(parse(text, &file, NULL), RIDGE_OK);
    chip = ridge_chip_file_chip(file);
    assert_string_equal(chip->id, "mine");
    assert_string_equal(chip->name, "My GPU");
    assert_string_equal(chip->dram_type, "HBM3");
    assert_int_equal(chip->sm_count, 78);
    assert_true(chip->sm_clock_hz == 1830e6);
    assert_true(chip->dram_bytes == 96 * 0x1p30);
    assert_true(chip->dram_bytes_per_s == 4000e9);
    assert_true(chip->bf16_flop_per_s == 148e12);
    assert_true(isnan(chip->l2_bytes) && isnan(chip->fp16_flop_per_s));
    assert_string_equal(ridge_chip_source_of(chip, RIDGE_CHIP_BF16), "measured");
    assert_null(ridge_chip_source_of(chip, RIDGE_CHIP_L2));
    assert_int_equal(ridge_occupancy_of(chip->arch, &launch, &occupancy, NULL), RIDGE_OK);
    assert_int_equal(occupancy.blocks_per_sm, 1);
    ridge_chip_file_free(file);
    (void)state;
}

static void like_another(void **state)
{
    const ridge_chip *const h20 = ridge_chip_find("h20");
    ridge_chip_file *file;
    const ridge_chip *chip;

    assert_int_equal(parse("{\"like\": \"h20\", \"sm_clock_hz\": 1.83e9}", &file, NULL), RIDGE_OK);
    chip = ridge_chip_file_chip(file);
    assert_string_equal(chip->id, "h20");
    for (int i = 0; i < RIDGE_CHIP_FIELD_COUNT; i++) {
        const ridge_chip_field field = (ridge_chip_field)i;

        if (field == RIDGE_CHIP_SM_CLOCK)
            assert_true(ridge_chip_value(chip, field) == 1.83e9);
        else if (!isnan(ridge_chip_value(h20, field))) {
            assert_true(ridge_chip_value(chip, field) == ridge_chip_value(h20, field));
            assert_string_equal(ridge_chip_source_of(chip, field),
                                ridge_chip_source_of(h20, field));
        }
    }
    assert_string_equal(ridge_chip_source_of(chip, RIDGE_CHIP_SM_CLOCK), "chip file");
    ridge_chip_file_free(file);
    (void)state;
}

/* Peaks do not outlive the number of SMs that they are of; one that is given does. */
static void other_sms(void **state)
{
    const ridge_chip *const h20 = ridge_chip_find("h20");
    ridge_chip_file *file;
    const ridge_chip *chip;

    assert_int_equal(
        parse("{\"like\": \"h20\", \"sm_count\": 40, \"fp8_flop_per_s\": 1e14}", &file, NULL),
        RIDGE_OK);
    chip = ridge_chip_file_chip(file);
    assert_true(chip->fp8_flop_per_s == 1e14);
    assert_true(isnan(chip->bf16_flop_per_s));
    assert_non_null(strstr(ridge_chip_unknown_of(chip, RIDGE_CHIP_BF16), "another sm_count"));
    assert_true(chip->dram_bytes_per_s == h20->dram_bytes_per_s);
    ridge_chip_file_free(file);
    (void)state;
}

/* A smaller SM alone lowers what a block gets. */
static void smaller_sm(void **state)
{
    ridge_chip_file *file;

    assert_int_equal(
        parse("{\"cc\": \"9.0\", \"arch\": {\"shared_per_sm_bytes\": 131072}}", &file, NULL),
        RIDGE_OK);
    assert_int_equal(ridge_chip_file_chip(file)->arch->shared_per_block_bytes, 130048);
    ridge_chip_file_free(file);
    (void)state;
}

static void no_such_file(void **state)
{
    ridge_chip_file *file;
    ridge_error err;

    assert_int_equal(ridge_chip_file_read("/no/such/chip.json", &file, &err), RIDGE_ERR_IO);
    assert_null(file);
    (void)state;
}

/* Every failing allocation of ridge's own is reported, and nothing is lost. */
static void out_of_memory(void **state)
{
    size_t nth = 0;
    ridge_status status;

    do {
        ridge_chip_file *file = NULL;

        ridge_memory_fail_at(++nth);
        status = parse("{\"like\": \"h20\", \"id\": \"mine\", \"name\": \"x\", \"sm_count\": 4}",
                       &file, NULL);
        ridge_memory_fail_at(0);
        if (status != RIDGE_OK) {
            assert_int_equal(status, RIDGE_ERR_OUT_OF_MEMORY);
            assert_null(file);
        }
        ridge_chip_file_free(file);
    } while (status != RIDGE_OK);
    assert_true(nth > 2);
    (void)state;
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, rejects, bad_files);
    cases_add(&list, "a capability alone", capability_alone, NULL);
    cases_add(&list, "fields and limits", fields_and_limits, NULL);
    cases_add(&list, "like another", like_another, NULL);
    cases_add(&list, "other SMs", other_sms, NULL);
    cases_add(&list, "a smaller SM", smaller_sm, NULL);
    cases_add(&list, "no such file", no_such_file, NULL);
    cases_add(&list, "out of memory", out_of_memory, NULL);
    return cases_run(&list, "chip_file");
}
