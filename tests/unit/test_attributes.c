/* SPDX-License-Identifier: Apache-2.0
 *
 * Attributes and notes of cubins: in every row of what ptxas and cuobjdump printed, and the traces
 * of a target's suffix. */
#include "binary_support.h"

static int number_after(const char *line, const char *phrase)
{
    const char *const at = strstr(line, phrase);

    assert_non_null(at);
    return atoi(at + strlen(phrase));
}

/* ---- against cuobjdump and the full table of ptxas ---- */

static struct table {
    const char *name, *cubin, *resources;
    const char *arch; /* of the rows in truth/ptxas_vs_cubin.txt */
    size_t kernel_count;
} tables[] = {
    {"rows of sm_75", "cubin/k_75.cubin", "truth/k_75.resusage.txt", "75 ", 14},
    {"rows of sm_80", "cubin/k_80.cubin", "truth/k_80.resusage.txt", "80 ", 14},
    {"rows of sm_86", "cubin/k_86.cubin", "truth/k_86.resusage.txt", "86 ", 14},
    {"rows of sm_89", "cubin/k_89.cubin", "truth/k_89.resusage.txt", "89 ", 14},
    {"rows of sm_90", "cubin/k_90.cubin", "truth/k_90.resusage.txt", "90 ", 17},
    {"rows of sm_100", "cubin/k_100.cubin", "truth/k_100.resusage.txt", "100 ", 17},
    {"rows of sm_103", "cubin/k_103.cubin", "truth/k_103.resusage.txt", "103 ", 17},
    {"rows of sm_110", "cubin/k_110.cubin", "truth/k_110.resusage.txt", "110 ", 17},
    {"rows of sm_120", "cubin/k_120.cubin", "truth/k_120.resusage.txt", "120 ", 17},
};

static const ridge_function *kernel_named(const ridge_cubin *cubin, const char *begin, size_t size)
{
    char name[256];
    const ridge_function *function;

    snprintf(name, sizeof(name), "%.*s", (int)size, begin);
    function = ridge_cubin_function(cubin, name);
    if (function == NULL)
        fail_msg("no kernel %s", name);
    return function;
}

/* " Function k:" and, below, "REG:22 STACK:0 SHARED:1024 LOCAL:0 CONSTANT[0]:576 ...". What is
 * SHARED there includes the driver's share, 1,024 bytes from sm_90 on. */
static void equals_cuobjdump(void **state)
{
    const struct table *const row = *state;
    file_bytes file = support_shared(row->cubin);
    char *const text = support_text(support_shared(row->resources));
    ridge_cubin *const cubin = support_cubin(file);
    const int reserve = ridge_cubin_sm(cubin) >= 90 ? 1024 : 0;
    const ridge_function *function = NULL;
    size_t kernel_count = 0;
    char *line, *rest;

    for (line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        const char *const name = strstr(line, "Function ");

        if (name != NULL) {
            function = kernel_named(cubin, name + 9, strcspn(name + 9, ":"));
        } else if (function != NULL && strstr(line, "REG:") != NULL) {
            assert_int_equal(function->registers_per_thread, number_after(line, "REG:"));
            assert_int_equal(function->local_bytes,
                             function->is_recursive ? -1 : number_after(line, "STACK:"));
            assert_int_equal(function->static_shared_bytes + reserve,
                             number_after(line, "SHARED:"));
            assert_int_equal(function->constant_bytes, number_after(line, "CONSTANT[0]:"));
            kernel_count++;
            function = NULL;
        }
    }
    assert_int_equal(kernel_count, row->kernel_count);
    ridge_cubin_free(cubin);
    support_release(&file);
    free(text);
}

/* The row's pairs are (ptxas, cubin) but for regs (ptxas, attribute, section), bar the same, spill
 * (stores, loads) and c0 (ptxas, section, its driver's part, parameters). */
static void equals_table(void **state)
{
    const struct table *const row = *state;
    file_bytes file = support_shared(row->cubin);
    char *const text = support_text(support_shared("truth/ptxas_vs_cubin.txt"));
    ridge_cubin *const cubin = support_cubin(file);
    size_t kernel_count = 0;
    char *line, *rest;

    for (line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        const char *const name = line + strlen(row->arch);
        const ridge_function *function;
        const char *constant;
        int spill[2], sizes[3];

        if (strncmp(line, row->arch, strlen(row->arch)) != 0)
            continue;
        function = kernel_named(cubin, name, strcspn(name, " "));
        assert_int_equal(function->registers_per_thread, number_after(line, "v/2f/shinfo ("));
        assert_int_equal(function->barriers, number_after(line, "v/4c/flags ("));
        assert_int_equal(function->static_shared_bytes, number_after(line, "v/sec ("));
        assert_int_equal(function->local_bytes,
                         function->is_recursive ? -1 : number_after(line, "frame ("));
        assert_int_equal(sscanf(strstr(line, "spill ("), "spill (%d, %d)", &spill[0], &spill[1]),
                         2);
        assert_int_equal(function->spill_store_bytes, spill[0]);
        assert_int_equal(function->spill_load_bytes, spill[1]);
        constant = strchr(strstr(line, "c0 ("), ',');
        assert_int_equal(sscanf(constant, ", %d, %d, %d)", &sizes[0], &sizes[1], &sizes[2]), 3);
        assert_int_equal(function->constant_bytes, sizes[0]);
        assert_int_equal(function->parameter_bytes, sizes[2]);
        assert_int_equal(function->max_registers, number_after(line, "maxreg "));
        assert_int_equal(function->is_recursive, strcmp(function->name, "k_recurse") == 0);
        kernel_count++;
    }
    assert_int_equal(kernel_count, row->kernel_count);
    ridge_cubin_free(cubin);
    support_release(&file);
    free(text);
}

/* ---- attributes of the launch, and where a cubin comes from ---- */

static struct launch {
    const char *name, *cubin, *kernel;
    int max_threads[3], required_threads[3], cluster[3];
    int max_cluster, min_blocks, max_registers, parameter_bytes, mbarriers;
    bool needs_cluster;
} launches[] = {
    {"block size is fixed",
     "cubin/t2_90.cubin",
     "req1",
     {128, 1, 1},
     {128, 1, 1},
     {1, 1, 1},
     0,
     -1,
     255,
     8,
     0,
     false},
    {"block and cluster are fixed",
     "cubin/t2_90.cubin",
     "req2",
     {128, 2, 1},
     {128, 2, 1},
     {2, 1, 1},
     0,
     -1,
     255,
     8,
     0,
     false},
    {"cap on registers", "cubin/t2_120.cubin", "mr", {0}, {0}, {0}, 0, -1, 40, 8, 0, false},
    {"parameters over 4 KB",
     "cubin/t2_90.cubin",
     "bigp",
     {0},
     {0},
     {0},
     0,
     -1,
     255,
     16008,
     0,
     false},
    {"blocks per SM from the PTX",
     "cubin/k_90.cubin",
     "k_dyn",
     {128, 1, 1},
     {0},
     {0},
     0,
     4,
     128,
     20,
     0,
     false},
    {"cluster dimensions",
     "cubin/k_90.cubin",
     "k_cluster",
     {0},
     {0},
     {4, 1, 1},
     0,
     0,
     255,
     8,
     0,
     true},
    {"largest cluster",
     "cubin/k_90.cubin",
     "k_maxcluster",
     {128, 1, 1},
     {0},
     {0},
     8,
     1,
     255,
     8,
     0,
     false},
    {"mbarriers", "cubin/k_90.cubin", "k_mbar", {0}, {0}, {0}, 0, 0, 255, 16, 1, false},
};

static void reads_launch(void **state)
{
    const struct launch *const row = *state;
    file_bytes file = support_shared(row->cubin);
    ridge_cubin *const cubin = support_cubin(file);
    const ridge_function *const function = kernel_named(cubin, row->kernel, strlen(row->kernel));
    int i;

    for (i = 0; i < 3; i++) {
        assert_int_equal(function->max_threads[i], row->max_threads[i]);
        assert_int_equal(function->required_threads[i], row->required_threads[i]);
        assert_int_equal(function->cluster[i], row->cluster[i]);
    }
    assert_int_equal(function->max_cluster, row->max_cluster);
    assert_int_equal(function->needs_cluster, row->needs_cluster);
    assert_int_equal(function->min_blocks, row->min_blocks);
    assert_int_equal(function->max_registers, row->max_registers);
    assert_int_equal(function->parameter_bytes, row->parameter_bytes);
    assert_int_equal(function->mbarriers, row->mbarriers);
    ridge_cubin_free(cubin);
    support_release(&file);
}

static struct origin {
    const char *name, *cubin;
    ridge_target_suffix suffix;
    int virtual_sm;
    const char *options;
} origins[] = {
    {"origin of sm_75", "cubin/k_75.cubin", RIDGE_TARGET_PLAIN, 75,
     "-v  -lineinfo  -arch sm_75 -m 64"},
    {"origin of sm_90a", "cubin/k2_90a.cubin", RIDGE_TARGET_ARCH, 90,
     "-lineinfo  -arch sm_90a -m 64"},
    {"origin of sm_120a", "cubin/k2_120a.cubin", RIDGE_TARGET_ARCH, 120,
     "-lineinfo  -arch sm_120a -m 64"},
};

static void reads_origin(void **state)
{
    const struct origin *const row = *state;
    file_bytes file = support_shared(row->cubin);
    ridge_cubin *const cubin = support_cubin(file);
    const ridge_provenance *const from = ridge_cubin_provenance(cubin);

    assert_int_equal(from->suffix, row->suffix);
    assert_int_equal(from->virtual_sm, row->virtual_sm);
    assert_false(from->is_relocatable);
    assert_string_equal(from->tool, "ptxas");
    assert_string_equal(from->version, "Cuda compilation tools, release 13.0, V13.0.88");
    assert_string_equal(from->build, "Build cuda_13.0.r13.0/compiler.36424714_0");
    assert_string_equal(from->options, row->options);
    ridge_cubin_free(cubin);
    support_release(&file);
}

/* The three traces of an "a" target, and the one of "f". */
static struct suffix_trace {
    const char *name;
    bool is_old;
    unsigned sm;
    uint32_t flags; /* added to e_flags */
    const char *section;
    uint32_t type;
    const char *data;
    size_t size;
    ridge_target_suffix suffix;
} suffix_traces[] = {
    {"a in old flags", true, 90, 0x800, ".none", 1, "", 1, RIDGE_TARGET_ARCH},
    {"no a before sm_90", true, 60, 0x800, ".none", 1, "", 1, RIDGE_TARGET_PLAIN},
    {"a in new flags", false, 100, 0x8, ".none", 1, "", 1, RIDGE_TARGET_ARCH},
    {"no a: bit 11 of new flags is of the chip", false, 100, 0x800, ".none", 1, "", 1,
     RIDGE_TARGET_PLAIN},
    {"a in .nv.compat", false, 100, 0, ".nv.compat", 0x70000086, "\x02\x09\x01\0", 4,
     RIDGE_TARGET_ARCH},
    {"no a in .nv.compat", false, 100, 0, ".nv.compat", 0x70000086, "\x02\x09\0\0", 4,
     RIDGE_TARGET_PLAIN},
    {"f in the options", false, 100, 0, ".note.nv.tkinfo", 7,
     "\x0c\0\0\0\x28\0\0\0\xd0\x07\0\0NVIDIA Corp\0"
     "\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\0-arch sm_100f ",
     64, RIDGE_TARGET_FAMILY},
};

static void tells_suffix(void **state)
{
    const struct suffix_trace *const row = *state;
    const sample_header header = {row->is_old, row->sm, 124};
    const sample_section section = {
        .name = row->section, .type = row->type, .data = row->data, .size = row->size};
    file_bytes file = sample_cubin(&header, &section, 1);
    const uint32_t flags = row->is_old ? row->sm | row->sm << 16 : row->sm << 8 | 4;
    ridge_cubin *cubin;

    store_u32(file.data + 48, flags | row->flags);
    cubin = support_cubin(file);
    assert_int_equal(ridge_cubin_provenance(cubin)->suffix, row->suffix);
    assert_int_equal(ridge_cubin_provenance(cubin)->virtual_sm, row->is_old ? (int)row->sm : -1);
    ridge_cubin_free(cubin);
    support_release(&file);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, equals_cuobjdump, tables);
    CASES_ADD_ROWS(&list, equals_table, tables);
    CASES_ADD_ROWS(&list, reads_launch, launches);
    CASES_ADD_ROWS(&list, reads_origin, origins);
    CASES_ADD_ROWS(&list, tells_suffix, suffix_traces);
    return cases_run(&list, "attributes");
}
