/* SPDX-License-Identifier: Apache-2.0
 *
 * PTX: what stands outside of bodies, in the layouts that compilers and people write. */
#include "binary_support.h"

#include "base/memory.h"
#include "binary/image_internal.h"

static struct module_row {
    const char *name, *text;
    int isa_major, isa_minor, sm;
    ridge_target_suffix suffix;
    bool is_debug;
    size_t kernel_count;
} modules[] = {
    {"empty", "", 0, 0, 0, RIDGE_TARGET_PLAIN, false, 0},
    {"no PTX", "int main(void) { return 0; }", 0, 0, 0, RIDGE_TARGET_PLAIN, false, 0},
    {"header", "// by hand\n.version 8.7\n.target sm_90\n.address_size 64\n", 8, 7, 90,
     RIDGE_TARGET_PLAIN, false, 0},
    {"architecture's own target", ".version 8.0 .target sm_90a", 8, 0, 90, RIDGE_TARGET_ARCH, false,
     0},
    {"family target and options", ".version 9.0\n.target\tsm_100f , texmode_independent, debug\n",
     9, 0, 100, RIDGE_TARGET_FAMILY, true, 0},
    {"on one line", ".version 7.0 .target sm_70 .visible .entry k(){ret;} .entry l(){ret;}", 7, 0,
     70, RIDGE_TARGET_PLAIN, false, 2},
    {"functions are no kernels",
     ".version 8.0\n.target sm_80\n.func (.param .b32 r) f(.param .b32 a)\n{\n ret;\n}\n", 8, 0, 80,
     RIDGE_TARGET_PLAIN, false, 0},
    {"a declaration is no kernel", ".version 8.0\n.target sm_80\n.extern .entry k(.param .u32 a);",
     8, 0, 80, RIDGE_TARGET_PLAIN, false, 0},
    {"entries in comments, strings and bodies",
     ".version 8.0 .target sm_80\n// .entry a() {}\n/* .entry b() {} */\n"
     ".global .align 1 .b8 s[2] = {46, 0};\n.file 1 \"x/.entry c() {}.cu\"\n"
     ".entry d()\n.pragma \"{ .entry\";\n{\n { // }\n } /* } */\n .pragma \"}\";\n}\n.entry e() { "
     "}",
     8, 0, 80, RIDGE_TARGET_PLAIN, false, 2},
    {"body without an end", ".version 8.0 .target sm_80 .entry k() { {", 8, 0, 80,
     RIDGE_TARGET_PLAIN, false, 1},
    {"cut in the parameters", ".version 8.0 .target sm_80 .entry k(.param .u64 ", 8, 0, 80,
     RIDGE_TARGET_PLAIN, false, 0},
    {"target of one character", ".target _", 0, 0, 0, RIDGE_TARGET_PLAIN, false, 0},
    {"numbers without end", ".version 99999999999.1 .target sm_99999999999", 0, 0, 9999,
     RIDGE_TARGET_PLAIN, false, 0},
};

static void reads_module(void **state)
{
    const struct module_row *const row = *state;
    const ridge_slice text = {(const uint8_t *)row->text, strlen(row->text)};
    ptx_module module;

    assert_int_equal(ptx_read(text, &module, NULL), RIDGE_OK);
    assert_int_equal(module.isa_major, row->isa_major);
    assert_int_equal(module.isa_minor, row->isa_minor);
    assert_int_equal(module.sm, row->sm);
    assert_int_equal(module.suffix, row->suffix);
    assert_int_equal(module.is_debug, row->is_debug);
    assert_int_equal(module.kernel_count, row->kernel_count);
    ptx_release(&module);
}

/* A kernel called k, and what is read of it. */
static struct kernel_row {
    const char *name, *text;
    ridge_ptx_kernel kernel;
} kernels[] = {
    {"nothing given", ".entry k { }", {.parameter_bytes = 0}},
    {"no parameters", ".entry k ( ) { }", {.parameter_bytes = 0}},
    {"parameters that are aligned",
     ".entry k(.param .u8 a, .param .u64 b, .param .f16 c) { }",
     {.parameter_bytes = 18}},
    {"structure by value",
     ".entry k(.param .u64 a, .param .align 4 .b8 w[12], .param .u32 n) { }",
     {.parameter_bytes = 24}},
    {"structure of large alignment",
     ".entry k(.param .u32 a, .param .align 64 .b8 m[128]) { }",
     {.parameter_bytes = 192}},
    {"alignment behind .ptr is of what it points to",
     ".entry k(.param .u64 .ptr .global .align 16 a, .param .u32 .ptr .shared b) { }",
     {.parameter_bytes = 12}},
    {"a size beyond reason",
     ".entry k(.param .b64 a[99999999999999]) { }",
     {.parameter_bytes = 1 << 24}},
    {"launch bounds",
     ".entry k() .maxntid 256, 1, 1 .minnctapersm 2 { }",
     {.max_threads = {256, 1, 1}, .min_blocks = 2}},
    {"what is not given of three is 1",
     ".entry k() .maxntid 128 .reqntid 16,8 { }",
     {.max_threads = {128, 1, 1}, .required_threads = {16, 8, 1}}},
    {"cluster",
     ".entry k() .explicitcluster .reqnctapercluster 2, 2, 1 .maxclusterrank 8 { }",
     {.required_cluster = {2, 2, 1}, .max_cluster = 8, .needs_cluster = true}},
    {"registers", ".entry k()\n.maxnreg 40\n{ }", {.max_registers = 40}},
};

static void reads_kernel(void **state)
{
    const struct kernel_row *const row = *state;
    const ridge_slice text = {(const uint8_t *)row->text, strlen(row->text)};
    const ridge_ptx_kernel *kernel;
    ptx_module module;
    int i;

    assert_int_equal(ptx_read(text, &module, NULL), RIDGE_OK);
    assert_int_equal(module.kernel_count, 1);
    kernel = &module.kernels[0];
    assert_string_equal(kernel->name, "k");
    for (i = 0; i < 3; i++) {
        assert_int_equal(kernel->max_threads[i], row->kernel.max_threads[i]);
        assert_int_equal(kernel->required_threads[i], row->kernel.required_threads[i]);
        assert_int_equal(kernel->required_cluster[i], row->kernel.required_cluster[i]);
    }
    assert_int_equal(kernel->min_blocks, row->kernel.min_blocks);
    assert_int_equal(kernel->max_registers, row->kernel.max_registers);
    assert_int_equal(kernel->max_cluster, row->kernel.max_cluster);
    assert_int_equal(kernel->needs_cluster, row->kernel.needs_cluster);
    assert_int_equal(kernel->parameter_bytes, row->kernel.parameter_bytes);
    ptx_release(&module);
}

/* As in the section of a cubin that holds PTX. */
static void reads_lines_that_end_in_nul(void **state)
{
    static const char lines[] =
        ".visible .entry k(\0.param .u64 a // out\0)\0.maxntid 32, 1, 1\0{\0}\0.entry l() { }";
    const ridge_slice text = {(const uint8_t *)lines, sizeof(lines)};
    ptx_module module;

    (void)state;
    assert_int_equal(ptx_read(text, &module, NULL), RIDGE_OK);
    assert_int_equal(module.kernel_count, 2);
    assert_int_equal(module.kernels[0].parameter_bytes, 8);
    assert_int_equal(module.kernels[0].max_threads[0], 32);
    ptx_release(&module);
}

static struct target_row {
    const char *name, *text;
    bool is_target;
    int sm;
    ridge_target_suffix suffix;
} targets[] = {
    {"sm_75", "sm_75", true, 75, RIDGE_TARGET_PLAIN},
    {"sm_103a", "sm_103a", true, 103, RIDGE_TARGET_ARCH},
    {"compute_120f", "compute_120f", true, 120, RIDGE_TARGET_FAMILY},
    {"sm_ alone", "sm_", false, 0, RIDGE_TARGET_PLAIN},
    {"lto_90", "lto_90", false, 0, RIDGE_TARGET_PLAIN},
    {"one letter", "s", false, 0, RIDGE_TARGET_PLAIN},
    {"underscore first", "_90", false, 0, RIDGE_TARGET_PLAIN},
};

static void reads_target(void **state)
{
    const struct target_row *const row = *state;
    const ridge_slice text = {(const uint8_t *)row->text, strlen(row->text)};
    ridge_target_suffix suffix;
    int sm;

    assert_int_equal(ptx_target(text, &sm, &suffix), row->is_target);
    if (row->is_target) {
        assert_int_equal(sm, row->sm);
        assert_int_equal(suffix, row->suffix);
    }
}

static struct text_row {
    const char *name, *text;
    bool is_ptx;
} texts[] = {
    {"begins as PTX", ".version 9.0\n", true},
    {"comments before", "\n//\n// by a compiler\n/* and a person */ .version 9.0", true},
    {"assembler of a host", "\t.file \"a.c\"\n\t.text\n", false},
    {"no text", "", false},
    {"version of something else", ".versions 1\n", false},
};

static void tells_text(void **state)
{
    const struct text_row *const row = *state;
    const ridge_slice text = {(const uint8_t *)row->text, strlen(row->text)};

    assert_int_equal(ptx_is_text(text), row->is_ptx);
}

/* A front of blanks that no compiler writes is not PTX: large files of zeros end soon. */
static void gives_up_on_blanks(void **state)
{
    const size_t blanks = 2 << 20;
    char *const bytes = calloc(1, blanks + sizeof(".version 9.0"));
    const ridge_slice text = {(const uint8_t *)bytes, blanks + sizeof(".version 9.0")};

    (void)state;
    assert_non_null(bytes);
    memcpy(bytes + blanks, ".version 9.0", sizeof(".version 9.0"));
    assert_false(ptx_is_text(text));
    free(bytes);
}

/* The parameters of each kernel are what ptxas stored for it. */
static void agrees_with_ptxas(void **state)
{
    file_bytes file = support_data("tiny.ptx");
    const ridge_slice text = {file.data, file.size};
    ptx_module module;

    (void)state;
    assert_int_equal(ptx_read(text, &module, NULL), RIDGE_OK);
    assert_int_equal(module.kernel_count, 3);
    assert_string_equal(module.kernels[0].name, "scale");
    assert_int_equal(module.kernels[0].parameter_bytes, 32);
    assert_int_equal(module.kernels[0].max_threads[0], 256);
    assert_int_equal(module.kernels[0].min_blocks, 2);
    assert_string_equal(module.kernels[1].name, "sum");
    assert_int_equal(module.kernels[1].parameter_bytes, 16);
    assert_string_equal(module.kernels[2].name, "pair");
    assert_int_equal(module.kernels[2].required_cluster[0], 2);
    assert_true(module.kernels[2].needs_cluster);
    ptx_release(&module);
    support_release(&file);
}

static void survives_truncation(void **state)
{
    file_bytes file = support_data("tiny.ptx");
    size_t size;

    (void)state;
    for (size = 0; size < file.size; size++) {
        uint8_t *const copy = malloc(size + 1);
        const ridge_slice text = {copy, size};
        ptx_module module;

        assert_non_null(copy);
        memcpy(copy, file.data, size);
        assert_int_equal(ptx_read(text, &module, NULL), RIDGE_OK);
        assert_true(module.kernel_count <= 3);
        ptx_release(&module);
        free(copy);
    }
    support_release(&file);
}

static void survives_lack_of_memory(void **state)
{
    file_bytes file = support_data("tiny.ptx");
    const ridge_slice text = {file.data, file.size};
    ptx_module module;
    ridge_error err;
    ridge_status status;
    size_t nth = 0;

    (void)state;
    do {
        ridge_memory_fail_at(++nth);
        status = ptx_read(text, &module, &err);
        ridge_memory_fail_at(0);
        ptx_release(&module);
        if (status != RIDGE_OK)
            assert_int_equal(status, RIDGE_ERR_OUT_OF_MEMORY);
    } while (status != RIDGE_OK);
    assert_true(nth > 2);
    support_release(&file);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, reads_module, modules);
    CASES_ADD_ROWS(&list, reads_kernel, kernels);
    cases_add(&list, "lines that end in NUL", reads_lines_that_end_in_nul, NULL);
    CASES_ADD_ROWS(&list, reads_target, targets);
    CASES_ADD_ROWS(&list, tells_text, texts);
    cases_add(&list, "gives up on blanks", gives_up_on_blanks, NULL);
    cases_add(&list, "agrees with ptxas", agrees_with_ptxas, NULL);
    cases_add(&list, "truncation at every byte", survives_truncation, NULL);
    cases_add(&list, "lack of memory", survives_lack_of_memory, NULL);
    return cases_run(&list, "ptx");
}
