/* SPDX-License-Identifier: Apache-2.0
 *
 * Which GPU runs what: the rules by kind, target and suffix, and coverage per kernel. */
#include "binary_support.h"

#include "base/memory.h"
#include "ridge/image.h"

/* ---- rules ---- */

#define CUBIN RIDGE_ENTRY_CUBIN
#define PTX RIDGE_ENTRY_PTX
#define PLAIN RIDGE_TARGET_PLAIN
#define ARCH RIDGE_TARGET_ARCH
#define FAMILY RIDGE_TARGET_FAMILY

static struct rule {
    const char *name;
    ridge_entry_kind kind;
    int sm;
    ridge_target_suffix suffix;
    int major, minor;
    ridge_run run;
} rules[] = {
    {"sm_80 on 8.0", CUBIN, 80, PLAIN, 8, 0, RIDGE_RUN_NATIVE},
    {"sm_80 on 8.6", CUBIN, 80, PLAIN, 8, 6, RIDGE_RUN_NATIVE},
    {"sm_80 on 8.9", CUBIN, 80, PLAIN, 8, 9, RIDGE_RUN_NATIVE},
    {"sm_86 on 8.0", CUBIN, 86, PLAIN, 8, 0, RIDGE_RUN_NONE},
    {"sm_89 on 8.6", CUBIN, 89, PLAIN, 8, 6, RIDGE_RUN_NONE},
    {"sm_80 on 9.0", CUBIN, 80, PLAIN, 9, 0, RIDGE_RUN_NONE},
    {"sm_90 on 10.0", CUBIN, 90, PLAIN, 10, 0, RIDGE_RUN_NONE},
    {"sm_100 on 10.3", CUBIN, 100, PLAIN, 10, 3, RIDGE_RUN_NATIVE},
    {"sm_100 on 12.0", CUBIN, 100, PLAIN, 12, 0, RIDGE_RUN_NONE},
    {"sm_120 on 12.1", CUBIN, 120, PLAIN, 12, 1, RIDGE_RUN_NATIVE},
    {"sm_87 on Orin", CUBIN, 87, PLAIN, 8, 7, RIDGE_RUN_NATIVE},
    {"sm_80 on Orin", CUBIN, 80, PLAIN, 8, 7, RIDGE_RUN_NOT_PROMISED},
    {"sm_87 on 8.9", CUBIN, 87, PLAIN, 8, 9, RIDGE_RUN_NOT_PROMISED},
    {"sm_70 on Xavier", CUBIN, 70, PLAIN, 7, 2, RIDGE_RUN_NOT_PROMISED},
    {"sm_110 on Thor", CUBIN, 110, PLAIN, 11, 0, RIDGE_RUN_NATIVE},
    {"sm_101 on Thor by its new number", CUBIN, 101, PLAIN, 11, 0, RIDGE_RUN_NOT_PROMISED},
    {"sm_100 on Thor by its old number", CUBIN, 100, PLAIN, 10, 1, RIDGE_RUN_NOT_PROMISED},
    {"sm_90a on 9.0", CUBIN, 90, ARCH, 9, 0, RIDGE_RUN_NATIVE},
    {"sm_100a on 10.3", CUBIN, 100, ARCH, 10, 3, RIDGE_RUN_NONE},
    {"sm_100f on 10.0", CUBIN, 100, FAMILY, 10, 0, RIDGE_RUN_NATIVE},
    {"sm_100f on 10.3", CUBIN, 100, FAMILY, 10, 3, RIDGE_RUN_NATIVE},
    {"sm_103f on 10.0", CUBIN, 103, FAMILY, 10, 0, RIDGE_RUN_NONE},
    {"sm_100f on Thor", CUBIN, 100, FAMILY, 11, 0, RIDGE_RUN_NONE},
    {"sm_110f on 11.0", CUBIN, 110, FAMILY, 11, 0, RIDGE_RUN_NATIVE},
    {"sm_120f on 12.1", CUBIN, 120, FAMILY, 12, 1, RIDGE_RUN_NATIVE},
    {"sm_121f on 12.0", CUBIN, 121, FAMILY, 12, 0, RIDGE_RUN_NONE},
    {"PTX 80 on 7.5", PTX, 80, PLAIN, 7, 5, RIDGE_RUN_NONE},
    {"PTX 80 on 8.0", PTX, 80, PLAIN, 8, 0, RIDGE_RUN_JIT},
    {"PTX 80 on Orin", PTX, 80, PLAIN, 8, 7, RIDGE_RUN_JIT},
    {"PTX 80 on 12.1", PTX, 80, PLAIN, 12, 1, RIDGE_RUN_JIT},
    {"PTX 90a on 9.0", PTX, 90, ARCH, 9, 0, RIDGE_RUN_JIT},
    {"PTX 90a on 10.0", PTX, 90, ARCH, 10, 0, RIDGE_RUN_NONE},
    {"PTX 100f on 10.3", PTX, 100, FAMILY, 10, 3, RIDGE_RUN_JIT},
    {"PTX 100f on 12.0", PTX, 100, FAMILY, 12, 0, RIDGE_RUN_NONE},
    {"LTO IR", RIDGE_ENTRY_LTO, 90, PLAIN, 9, 0, RIDGE_RUN_NONE},
    {"unknown kind", RIDGE_ENTRY_UNKNOWN, 90, PLAIN, 9, 0, RIDGE_RUN_NONE},
    {"unknown target", CUBIN, 0, PLAIN, 0, 0, RIDGE_RUN_NONE},
};

static void follows_rule(void **state)
{
    const struct rule *const row = *state;
    const ridge_entry entry = {.kind = row->kind, .sm = row->sm, .suffix = row->suffix};

    assert_int_equal(ridge_entry_runs(&entry, row->major, row->minor), row->run);
}

/* The first is taken rather than the second. */
static struct preference {
    const char *name;
    ridge_entry first, second;
    int major, minor;
} preferences[] = {
    {"machine code before PTX", {.kind = CUBIN, .sm = 80}, {.kind = PTX, .sm = 86}, 8, 6},
    {"the nearest below", {.kind = CUBIN, .sm = 86}, {.kind = CUBIN, .sm = 80}, 8, 9},
    {"what runs before what is near", {.kind = CUBIN, .sm = 80}, {.kind = CUBIN, .sm = 89}, 8, 6},
    {"the narrower target",
     {.kind = CUBIN, .sm = 90, .suffix = ARCH},
     {.kind = CUBIN, .sm = 90},
     9,
     0},
    {"a before f",
     {.kind = CUBIN, .sm = 100, .suffix = ARCH},
     {.kind = CUBIN, .sm = 100, .suffix = FAMILY},
     10,
     0},
    {"the newest PTX", {.kind = PTX, .sm = 90}, {.kind = PTX, .sm = 80}, 12, 0},
    {"PTX before a promise not made", {.kind = PTX, .sm = 80}, {.kind = CUBIN, .sm = 80}, 8, 7},
    {"what is linked",
     {.kind = CUBIN, .sm = 90},
     {.kind = CUBIN, .sm = 90, .is_relocatable = true},
     9,
     0},
};

static void prefers(void **state)
{
    const struct preference *const row = *state;

    assert_true(ridge_entry_is_preferred(&row->first, &row->second, row->major, row->minor));
    assert_false(ridge_entry_is_preferred(&row->second, &row->first, row->major, row->minor));
    assert_false(ridge_entry_is_preferred(&row->first, &row->first, row->major, row->minor));
}

static void names_runs(void **state)
{
    (void)state;
    assert_string_equal(ridge_run_name(RIDGE_RUN_NATIVE), "native");
    assert_string_equal(ridge_run_name(RIDGE_RUN_JIT), "jit");
    assert_string_equal(ridge_run_name(RIDGE_RUN_NOT_PROMISED), "not promised");
    assert_string_equal(ridge_run_name(RIDGE_RUN_NONE), "none");
}

/* ---- coverage ---- */

static const ridge_compute chips[] = {{7, 5}, {8, 0}, {8, 7}, {9, 0}, {10, 3}, {11, 0}};

enum { CHIPS = sizeof(chips) / sizeof(chips[0]) };

/* Cells as "native 0" for each of the chips. */
static void expect_row(const ridge_coverage *coverage, size_t kernel, const char *name,
                       const char *const expected[CHIPS])
{
    size_t i;

    assert_string_equal(ridge_coverage_kernel(coverage, kernel), name);
    for (i = 0; i < CHIPS; i++) {
        const ridge_coverage_cell cell = ridge_coverage_at(coverage, kernel, i);
        char text[64];

        if (cell.run == RIDGE_RUN_NONE)
            assert_int_equal(cell.entry, SIZE_MAX);
        snprintf(text, sizeof(text), "%s %d", ridge_run_name(cell.run), (int)cell.entry);
        assert_string_equal(text, expected[i]);
    }
}

/* sm_80, sm_90a, sm_100f and PTX 90; the kernel with a cluster is not in sm_80. */
static void covers_by_kernel(void **state)
{
    static const char *const pair[CHIPS] = {"none -1",  "none -1",  "none -1",
                                            "native 1", "native 2", "jit 3"};
    static const char *const scale[CHIPS] = {"none -1",  "native 0", "not promised 0",
                                             "native 1", "native 2", "jit 3"};
    ridge_image *image;
    ridge_coverage *coverage;
    const char *first_error = "";
    ridge_error err;

    (void)state;
    assert_int_equal(
        ridge_image_open(RIDGE_SOURCE_DIR "/tests/data/binary/tiny_size.fatbin.gz", &image, &err),
        RIDGE_OK);
    assert_int_equal(ridge_coverage_of(image, chips, CHIPS, &coverage, &err), RIDGE_OK);
    assert_int_equal(ridge_coverage_kernel_count(coverage), 3);
    expect_row(coverage, 0, "pair", pair);
    expect_row(coverage, 1, "scale", scale);
    expect_row(coverage, 2, "sum", scale);
    assert_null(ridge_coverage_kernel(coverage, 3));
    assert_int_equal(ridge_coverage_at(coverage, 3, 0).run, RIDGE_RUN_NONE);
    assert_int_equal(ridge_coverage_at(coverage, 0, CHIPS).run, RIDGE_RUN_NONE);
    assert_int_equal(ridge_coverage_unread(coverage, &first_error), 0);
    assert_null(first_error);
    ridge_coverage_free(coverage);
    ridge_image_free(image);
}

/* Entries of several images in one table: sum has no machine code for 11.0, the others do. */
static void covers_several_images(void **state)
{
    static const char *const files[] = {
        RIDGE_SOURCE_DIR "/tests/data/binary/tiny_none.fatbin.gz",
        RIDGE_SOURCE_DIR "/tests/data/binary/tiny_hole.fatbin.gz",
    };
    ridge_coverage *coverage;
    size_t file, i;

    (void)state;
    assert_int_equal(ridge_coverage_create(chips, CHIPS, &coverage, NULL), RIDGE_OK);
    for (file = 0; file < 2; file++) {
        ridge_image *image;

        assert_int_equal(ridge_image_open(files[file], &image, NULL), RIDGE_OK);
        for (i = 0; i < ridge_image_entry_count(image); i++) {
            ridge_loaded loaded;

            assert_int_equal(ridge_image_entry_load(image, i, &loaded, NULL), RIDGE_OK);
            assert_int_equal(ridge_coverage_add(coverage, ridge_image_entry(image, i),
                                                file * 100 + i, &loaded, NULL),
                             RIDGE_OK);
            ridge_image_entry_unload(image, i);
        }
        ridge_image_free(image);
    }
    ridge_coverage_finish(coverage);
    assert_int_equal(ridge_coverage_kernel_count(coverage), 3);
    assert_string_equal(ridge_coverage_kernel(coverage, 1), "scale");
    assert_int_equal(ridge_coverage_at(coverage, 1, CHIPS - 1).run, RIDGE_RUN_NATIVE);
    assert_int_equal(ridge_coverage_at(coverage, 1, CHIPS - 1).entry, 100);
    assert_string_equal(ridge_coverage_kernel(coverage, 2), "sum");
    assert_int_equal(ridge_coverage_at(coverage, 2, CHIPS - 1).run, RIDGE_RUN_JIT);
    assert_int_equal(ridge_coverage_at(coverage, 2, CHIPS - 1).entry, 3);
    ridge_coverage_free(coverage);
}

static ridge_coverage *coverage_of_data(const char *name)
{
    file_bytes file = support_data(name);
    ridge_image *image;
    ridge_coverage *coverage = NULL;

    assert_int_equal(ridge_image_read(file.data, file.size, "image", &image, NULL), RIDGE_OK);
    assert_int_equal(ridge_coverage_of(image, chips, CHIPS, &coverage, NULL), RIDGE_OK);
    ridge_image_free(image);
    support_release(&file);
    return coverage;
}

/* Relocatable code for sm_80 and sm_90a (entries 0, 1) with PTX (2), and linked code (3, 4). The
 * linked code is taken; PTX, which the link left behind, is what newer chips get. */
static void prefers_linked_code(void **state)
{
    static const char *const scale[CHIPS] = {"none -1",  "native 3", "not promised 3",
                                             "native 4", "jit 2",    "jit 2"};
    ridge_coverage *const coverage = coverage_of_data("libtiny.so.gz");

    (void)state;
    assert_int_equal(ridge_coverage_kernel_count(coverage), 3);
    expect_row(coverage, 1, "scale", scale);
    ridge_coverage_free(coverage);
}

/* LTO IR is no code yet. */
static void counts_no_lto(void **state)
{
    ridge_coverage *const coverage = coverage_of_data("tiny_lto.o.gz");

    (void)state;
    assert_int_equal(ridge_coverage_kernel_count(coverage), 0);
    assert_int_equal(ridge_coverage_unread(coverage, NULL), 0);
    ridge_coverage_free(coverage);
}

/* A cubin without functions, as nvcc's device link leaves in every program. */
static void counts_no_stub(void **state)
{
    const sample_header header = {false, 90, 0};
    file_bytes cubin = sample_cubin(&header, NULL, 0);
    const size_t payload = (cubin.size + 7) / 8 * 8;
    file_bytes file = {calloc(1, 80 + payload), 80 + payload};
    ridge_image *image;
    ridge_coverage *coverage = NULL;

    (void)state;
    assert_non_null(file.data);
    memcpy(file.data, "\x50\xed\x55\xba\1\0\x10", 8);
    store_u64(file.data + 8, 64 + payload);
    store_u32(file.data + 16, 0x01010002);
    store_u32(file.data + 20, 64);
    store_u64(file.data + 24, payload);
    store_u32(file.data + 44, 90);
    memcpy(file.data + 80, cubin.data, cubin.size);
    assert_int_equal(ridge_image_read(file.data, file.size, "image", &image, NULL), RIDGE_OK);
    assert_int_equal(ridge_image_entry_count(image), 1);
    assert_int_equal(ridge_entry_runs(ridge_image_entry(image, 0), 9, 0), RIDGE_RUN_NATIVE);
    assert_int_equal(ridge_coverage_of(image, chips, CHIPS, &coverage, NULL), RIDGE_OK);
    assert_int_equal(ridge_coverage_kernel_count(coverage), 0);
    ridge_coverage_free(coverage);
    ridge_image_free(image);
    support_release(&file);
    support_release(&cubin);
}

/* Thousands of names, each in two entries. */
static void holds_many_names(void **state)
{
    enum { NAMES = 3000 };
    static char names[NAMES][24];
    static ridge_ptx_kernel kernels[NAMES];
    const ridge_entry old = {.kind = PTX, .sm = 50};
    const ridge_entry new = {.kind = PTX, .sm = 75};
    const ridge_loaded loaded = {.kernels = kernels, .kernel_count = NAMES};
    ridge_coverage *coverage;
    size_t i;

    (void)state;
    for (i = 0; i < NAMES; i++) {
        snprintf(names[i], sizeof(names[i]), "kernel_%05zu", (i * 7919) % NAMES);
        kernels[i].name = names[i];
    }
    assert_int_equal(ridge_coverage_create(chips, CHIPS, &coverage, NULL), RIDGE_OK);
    assert_int_equal(ridge_coverage_add(coverage, &new, 1, &loaded, NULL), RIDGE_OK);
    assert_int_equal(ridge_coverage_add(coverage, &old, 0, &loaded, NULL), RIDGE_OK);
    ridge_coverage_finish(coverage);
    assert_int_equal(ridge_coverage_kernel_count(coverage), NAMES);
    for (i = 0; i < NAMES; i++) {
        char name[24];

        snprintf(name, sizeof(name), "kernel_%05zu", i);
        assert_string_equal(ridge_coverage_kernel(coverage, i), name);
        assert_int_equal(ridge_coverage_at(coverage, i, 0).entry, 1);
    }
    ridge_coverage_free(coverage);
}

static void rejects_too_many_chips(void **state)
{
    static ridge_compute many[RIDGE_COVERAGE_TARGETS_MAX + 1];
    ridge_coverage *coverage = (ridge_coverage *)many;

    (void)state;
    assert_int_equal(ridge_coverage_create(many, RIDGE_COVERAGE_TARGETS_MAX + 1, &coverage, NULL),
                     RIDGE_ERR_INVALID_ARGUMENT);
    assert_null(coverage);
    assert_int_equal(ridge_coverage_create(many, 0, &coverage, NULL), RIDGE_ERR_INVALID_ARGUMENT);
    ridge_coverage_free(NULL);
}

static void counts_unread(void **state)
{
    file_bytes file = support_data("tiny_size.fatbin.gz");
    ridge_image *image;
    ridge_coverage *coverage;
    const char *first_error = NULL;

    (void)state;
    assert_int_equal(ridge_image_read(file.data, file.size, "image", &image, NULL), RIDGE_OK);
    memset(file.data + ridge_image_entry(image, 1)->file_offset, 0x55, 16);
    assert_int_equal(ridge_coverage_of(image, chips, CHIPS, &coverage, NULL), RIDGE_OK);
    assert_int_equal(ridge_coverage_unread(coverage, &first_error), 1);
    assert_non_null(strstr(first_error, "entry 1: zstd data damaged"));
    assert_int_equal(ridge_coverage_kernel_count(coverage), 3);
    ridge_coverage_free(coverage);
    ridge_image_free(image);
    support_release(&file);
}

static void survives_lack_of_memory(void **state)
{
    file_bytes file = support_data("tiny_size.fatbin.gz");
    ridge_image *image;
    ridge_coverage *coverage;
    ridge_error err;
    ridge_status status;
    size_t nth = 0;

    (void)state;
    assert_int_equal(ridge_image_read(file.data, file.size, "image", &image, NULL), RIDGE_OK);
    do {
        ridge_memory_fail_at(++nth);
        coverage = (ridge_coverage *)&file;
        status = ridge_coverage_of(image, chips, CHIPS, &coverage, &err);
        ridge_memory_fail_at(0);
        if (status != RIDGE_OK) {
            assert_int_equal(status, RIDGE_ERR_OUT_OF_MEMORY);
            assert_null(coverage);
        }
    } while (status != RIDGE_OK);
    assert_true(nth > 10);
    ridge_coverage_free(coverage);
    ridge_image_free(image);
    support_release(&file);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, follows_rule, rules);
    CASES_ADD_ROWS(&list, prefers, preferences);
    cases_add(&list, "names", names_runs, NULL);
    cases_add(&list, "by kernel", covers_by_kernel, NULL);
    cases_add(&list, "several images", covers_several_images, NULL);
    cases_add(&list, "linked code before relocatable", prefers_linked_code, NULL);
    cases_add(&list, "LTO IR is no code", counts_no_lto, NULL);
    cases_add(&list, "device-link stub is no code", counts_no_stub, NULL);
    cases_add(&list, "many names", holds_many_names, NULL);
    cases_add(&list, "too many chips", rejects_too_many_chips, NULL);
    cases_add(&list, "entries that cannot be read", counts_unread, NULL);
    cases_add(&list, "lack of memory", survives_lack_of_memory, NULL);
    return cases_run(&list, "coverage");
}
