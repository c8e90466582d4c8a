/* SPDX-License-Identifier: Apache-2.0 */
#include "bound_support.h"

/* -- element types and units ------------------------------------------------------------------- */

static struct element_case {
    const char *name;
    const char *element; /* NULL: unknown */
    double bytes;
    const char *peak;
} element_cases[] = {
    {"f64", "f64", 8, "fp64 tensor"},
    {"double", "f64", 8, "fp64 tensor"},
    {"fp32", "f32", 4, "fp32"},
    {"float", "f32", 4, "fp32"},
    {"tf32", "tf32", 4, "tf32 tensor"},
    {"half", "f16", 2, "fp16 tensor"},
    {"bf16", "bf16", 2, "bf16 tensor"},
    {"bfloat16", "bf16", 2, "bf16 tensor"},
    {"e4m3", "fp8", 1, "fp8 tensor"},
    {"i8", "int8", 1, "int8 tensor"},
    {"int4", "int4", 0.5, "int8 tensor"},
    {"nvfp4", "fp4", 0.5, "fp4 tensor"},
    {"i32", "int32", 4, "none"},
    {"", NULL, 0, NULL},
    {"BF16", NULL, 0, NULL},
    {"f31", NULL, 0, NULL},
};

static void elements(void **state)
{
    const struct element_case *const test = *state;
    ridge_element element = RIDGE_ELEMENT_COUNT;

    assert_int_equal(ridge_element_find(test->name, &element), test->element != NULL);
    if (test->element == NULL)
        return;
    assert_string_equal(ridge_element_name(element), test->element);
    assert_near(ridge_element_bytes(element), test->bytes, 0);
    assert_string_equal(ridge_peak_name(ridge_peak_of_element(element)), test->peak);
}

static void every_name_is_found(void **state)
{
    size_t i;

    for (i = 0; i < RIDGE_ELEMENT_COUNT; i++) {
        ridge_element found;

        assert_true(ridge_element_find(ridge_element_name((ridge_element)i), &found));
        assert_int_equal(found, i);
    }
    for (i = 0; i < RIDGE_PEAK_COUNT; i++) {
        ridge_peak found;

        assert_true(ridge_peak_find(ridge_peak_name((ridge_peak)i), &found));
        assert_int_equal(found, i);
    }
    assert_string_equal(ridge_element_name(RIDGE_ELEMENT_COUNT), "unknown");
    assert_string_equal(ridge_peak_name(RIDGE_PEAK_COUNT), "unknown");
    assert_near(ridge_element_bytes(RIDGE_ELEMENT_COUNT), 0, 0);
    assert_int_equal(ridge_peak_of_element(RIDGE_ELEMENT_COUNT), RIDGE_PEAK_NONE);
    (void)state;
}

static void roofs_of_a_chip(void **state)
{
    const ridge_chip *const chip = ridge_chip_find("h200");
    ridge_roofs roofs;

    ridge_roofs_of_chip(chip, &roofs);
    assert_string_equal(roofs.name, "NVIDIA H200");
    assert_near(roofs.dram_bytes_per_s, chip->dram_bytes_per_s, 0);
    assert_near(roofs.flop_per_s[RIDGE_PEAK_TENSOR_BF16], chip->bf16_flop_per_s, 0);
    assert_near(roofs.flop_per_s[RIDGE_PEAK_FP32], chip->fp32_flop_per_s, 0);
    assert_true(isnan(roofs.flop_per_s[RIDGE_PEAK_NONE]));
    assert_true(isnan(roofs.flop_per_s[RIDGE_PEAK_TENSOR_FP4]));
    assert_true(isnan(roofs.launch_s));
    assert_false(roofs.is_measured);
    (void)state;
}

/* A double product on a chip whose tensor cores have none. */
static void double_products(void **state)
{
    const ridge_chip *const chip = ridge_chip_find("v100");
    ridge_roofs roofs;

    ridge_roofs_of_chip(chip, &roofs);
    assert_near(roofs.flop_per_s[RIDGE_PEAK_TENSOR_FP64], chip->fp64_flop_per_s, 0);
    ridge_roofs_of_chip(ridge_chip_find("a100"), &roofs);
    assert_near(roofs.flop_per_s[RIDGE_PEAK_TENSOR_FP64], 19.5e12, 0);
    ridge_roofs_of_chip(ridge_chip_find("h20"), &roofs); /* not known, not guessed */
    assert_true(isnan(roofs.flop_per_s[RIDGE_PEAK_TENSOR_FP64]));
    (void)state;
}

/* -- the bound of one kernel ------------------------------------------------------------------- */

#define UNKNOWN (double)NAN

static struct bound_case {
    const char *name;
    double read_bytes, written_bytes, flop_count;
    double bytes_per_s, flop_per_s, launch_s;
    double memory_s, compute_s, time_s, flop_per_byte, ridge;
    ridge_bound_by by;
} bound_cases[] = {
    {"memory", 60, 40, 100, 10, 100, UNKNOWN, 10, 1, 10, 1, 10, RIDGE_BOUND_BY_MEMORY},
    {"compute", 6, 4, 1000, 10, 100, UNKNOWN, 1, 10, 10, 100, 10, RIDGE_BOUND_BY_COMPUTE},
    {"on the ridge", 6, 4, 100, 10, 100, UNKNOWN, 1, 1, 1, 10, 10, RIDGE_BOUND_BY_COMPUTE},
    {"launch", 6, 4, 100, 10, 100, 2, 1, 1, 2, 10, 10, RIDGE_BOUND_BY_LAUNCH},
    {"launch is less", 6, 4, 100, 10, 100, 0.5, 1, 1, 1, 10, 10, RIDGE_BOUND_BY_COMPUTE},
    {"no operations", 6, 4, 0, 10, UNKNOWN, UNKNOWN, 1, 0, 1, 0, UNKNOWN, RIDGE_BOUND_BY_MEMORY},
    {"no bytes", 0, 0, 100, 10, 100, UNKNOWN, 0, 1, 1, (double)INFINITY, 10,
     RIDGE_BOUND_BY_COMPUTE},
    {"nothing", 0, 0, 0, 10, 100, UNKNOWN, 0, 0, 0, UNKNOWN, 10, RIDGE_BOUND_BY_NOTHING},
    {"nothing, launched", 0, 0, 0, 10, 100, 2, 0, 0, 2, UNKNOWN, 10, RIDGE_BOUND_BY_LAUNCH},
    {"bandwidth unknown", 6, 4, 100, UNKNOWN, 100, UNKNOWN, UNKNOWN, 1, 1, 10, UNKNOWN,
     RIDGE_BOUND_BY_COMPUTE},
    {"peak unknown", 6, 4, 100, 10, UNKNOWN, UNKNOWN, 1, UNKNOWN, 1, 10, UNKNOWN,
     RIDGE_BOUND_BY_MEMORY},
    {"no operations, bandwidth unknown", 6, 4, 0, UNKNOWN, 100, UNKNOWN, UNKNOWN, 0, UNKNOWN, 0,
     UNKNOWN, RIDGE_BOUND_BY_NOTHING},
    {"no roof", 6, 4, 100, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, 10, UNKNOWN,
     RIDGE_BOUND_BY_NOTHING},
};

static void assert_same(double found, double expected)
{
    if (!(found == expected || (isnan(found) && isnan(expected))))
        fail_msg("%g, expected %g", found, expected);
}

static void bounds(void **state)
{
    const struct bound_case *const test = *state;
    const ridge_work work = {.read_bytes = test->read_bytes,
                             .written_bytes = test->written_bytes,
                             .flop_count = test->flop_count,
                             .peak = RIDGE_PEAK_FP32};
    ridge_roofs roofs;
    ridge_bound bound;

    ridge_roofs_init(&roofs);
    roofs.dram_bytes_per_s = test->bytes_per_s;
    roofs.flop_per_s[RIDGE_PEAK_FP32] = test->flop_per_s;
    roofs.launch_s = test->launch_s;
    ridge_bound_of(&work, &roofs, &bound);
    assert_same(bound.memory_s, test->memory_s);
    assert_same(bound.compute_s, test->compute_s);
    assert_same(bound.time_s, test->time_s);
    assert_same(bound.flop_per_byte, test->flop_per_byte);
    assert_same(bound.ridge_flop_per_byte, test->ridge);
    assert_int_equal(bound.by, test->by);
}

/* -- measured roofs ---------------------------------------------------------------------------- */

#define SCHEMA "\"schema\": \"ridge-roofs/1\""

static const char whole[] = "{" SCHEMA ", \"gpu\": \"NVIDIA H200\", \"dram_bytes_per_s\": 4.3e12,"
                            "\"flop_per_s\": {\"bf16 tensor\": 788e12, \"fp32\": null},"
                            "\"launch_s\": 2e-6, \"source\": \"by hand\"}";

static void reads_roofs(void **state)
{
    ridge_roofs roofs;
    ridge_error err = {RIDGE_OK, "untouched"};

    assert_int_equal(ridge_roofs_parse(whole, strlen(whole), &roofs, &err), RIDGE_OK);
    assert_string_equal(err.text, "untouched");
    assert_string_equal(roofs.name, "NVIDIA H200");
    assert_same(roofs.dram_bytes_per_s, 4.3e12);
    assert_same(roofs.flop_per_s[RIDGE_PEAK_TENSOR_BF16], 788e12);
    assert_same(roofs.flop_per_s[RIDGE_PEAK_FP32], NAN);
    assert_same(roofs.launch_s, 2e-6);
    assert_true(roofs.is_measured);
    (void)state;
}

static struct bad_roofs {
    const char *name;
    const char *text;
    const char *message;
} bad_roofs[] = {
    {"empty", "", "not a JSON document"},
    {"array", "[]", "expected an object"},
    {"no schema", "{}", "schema is \"\", expected \"ridge-roofs/1\""},
    {"other schema", "{\"schema\": \"ridge-gpus/1\"}", "schema is \"ridge-gpus/1\""},
    {"schema is a number", "{\"schema\": 1}", "schema is 1"},
    {"no roof", "{" SCHEMA "}", "no roof in it"},
    {"roofs are null", "{" SCHEMA ", \"dram_bytes_per_s\": null, \"flop_per_s\": {\"fp32\": null}}",
     "no roof in it"},
    {"misspelled", "{" SCHEMA ", \"dram_byte_per_s\": 1e12}", "unknown member \"dram_byte_per_s\""},
    {"rate of zero", "{" SCHEMA ", \"dram_bytes_per_s\": 0}", "dram_bytes_per_s is 0, expected"},
    {"rate is text", "{" SCHEMA ", \"dram_bytes_per_s\": \"4.3 TB/s\"}", "dram_bytes_per_s is"},
    {"launch of a minute", "{" SCHEMA ", \"launch_s\": 60}", "launch_s is 60, expected"},
    {"peaks are a number", "{" SCHEMA ", \"flop_per_s\": 1e12}", "flop_per_s is no object"},
    {"unknown unit", "{" SCHEMA ", \"flop_per_s\": {\"bf16\": 1e12}}", "has a member \"bf16\""},
    {"unit none", "{" SCHEMA ", \"flop_per_s\": {\"none\": 1e12}}", "has a member \"none\""},
    {"negative peak", "{" SCHEMA ", \"flop_per_s\": {\"fp32\": -1}}", "is no number above 0"},
    {"peak is text", "{" SCHEMA ", \"flop_per_s\": {\"fp32\": \"1\"}}", "is no number above 0"},
};

static void rejects_roofs(void **state)
{
    const struct bad_roofs *const bad = *state;
    ridge_roofs roofs;
    ridge_error err;

    assert_int_equal(ridge_roofs_parse(bad->text, strlen(bad->text), &roofs, &err),
                     RIDGE_ERR_FORMAT);
    assert_same(roofs.dram_bytes_per_s, NAN);
    assert_string_equal(roofs.name, "");
    assert_false(roofs.is_measured);
    if (strstr(err.text, bad->message) == NULL)
        fail_msg("%s", err.text);
}

static void no_file(void **state)
{
    ridge_roofs roofs;

    assert_int_equal(ridge_roofs_read("/no/such/file", &roofs, NULL), RIDGE_ERR_IO);
    assert_same(roofs.dram_bytes_per_s, NAN);
    (void)state;
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, elements, element_cases);
    cases_add(&list, "every name is found", every_name_is_found, NULL);
    cases_add(&list, "roofs of a chip", roofs_of_a_chip, NULL);
    cases_add(&list, "double products", double_products, NULL);
    CASES_ADD_ROWS(&list, bounds, bound_cases);
    cases_add(&list, "reads roofs", reads_roofs, NULL);
    CASES_ADD_ROWS(&list, rejects_roofs, bad_roofs);
    cases_add(&list, "no file", no_file, NULL);
    return cases_run(&list, "roofs");
}
