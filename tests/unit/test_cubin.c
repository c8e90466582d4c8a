/* SPDX-License-Identifier: Apache-2.0
 *
 * Resources of kernels against what ptxas prints, both header styles, and damaged files. */
#include "binary_support.h"

#include "base/memory.h"

/* ---- against ptxas -v ---- */

static struct recorded {
    const char *name;
    bool is_shared;
    const char *cubin, *ptxas;
    int sm;
    size_t kernel_count;
} recorded[] = {
    {"sample for sm_75", false, "sample_75.cubin.gz", "sample_75.ptxas_v.txt", 75, 3},
    {"sample for sm_90", false, "sample_90.cubin.gz", "sample_90.ptxas_v.txt", 90, 3},
    {"sample for sm_120", false, "sample_120.cubin.gz", "sample_120.ptxas_v.txt", 120, 3},
    {"fixtures for sm_75", true, "cubin/k_75.cubin", "truth/k_75.ptxas_v.txt", 75, 14},
    {"fixtures for sm_80", true, "cubin/k_80.cubin", "truth/k_80.ptxas_v.txt", 80, 14},
    {"fixtures for sm_86", true, "cubin/k_86.cubin", "truth/k_86.ptxas_v.txt", 86, 14},
    {"fixtures for sm_89", true, "cubin/k_89.cubin", "truth/k_89.ptxas_v.txt", 89, 14},
    {"fixtures for sm_90", true, "cubin/k_90.cubin", "truth/k_90.ptxas_v.txt", 90, 17},
    {"fixtures for sm_100", true, "cubin/k_100.cubin", "truth/k_100.ptxas_v.txt", 100, 17},
    {"fixtures for sm_103", true, "cubin/k_103.cubin", "truth/k_103.ptxas_v.txt", 103, 17},
    {"fixtures for sm_110", true, "cubin/k_110.cubin", "truth/k_110.ptxas_v.txt", 110, 17},
    {"fixtures for sm_120", true, "cubin/k_120.cubin", "truth/k_120.ptxas_v.txt", 120, 17},
};

/* The number in front of a phrase on a line of ptxas; 0 when the line does not have it. */
static int number_before(const char *line, const char *phrase)
{
    const char *at = strstr(line, phrase);

    if (at == NULL)
        return 0;
    while (at > line && at[-1] == ' ')
        at--;
    while (at > line && at[-1] >= '0' && at[-1] <= '9')
        at--;
    return atoi(at);
}

static int number_after(const char *line, const char *phrase)
{
    const char *const at = strstr(line, phrase);

    assert_non_null(at);
    return atoi(at + strlen(phrase));
}

static const ridge_function *named_kernel(const ridge_cubin *cubin, const char *line)
{
    const char *const begin = strchr(line, '\'') + 1;
    char name[256];
    const ridge_function *function;

    snprintf(name, sizeof(name), "%.*s", (int)strcspn(begin, "'"), begin);
    function = ridge_cubin_function(cubin, name);
    if (function == NULL) {
        fail_msg("no kernel %s", name);
        return NULL; /* not reached, as the analyser cannot know */
    }
    assert_string_equal(function->name, name);
    assert_true(function->is_kernel);
    return function;
}

static void equals_ptxas(void **state)
{
    const struct recorded *const row = *state;
    file_bytes file = row->is_shared ? support_shared(row->cubin) : support_data(row->cubin);
    char *const text =
        support_text(row->is_shared ? support_shared(row->ptxas) : support_data(row->ptxas));
    ridge_cubin *const cubin = support_cubin(file);
    const ridge_function *function = NULL;
    const ridge_function *properties = NULL;
    size_t kernel_count = 0;
    char *line, *rest;

    assert_int_equal(ridge_cubin_sm(cubin), row->sm);
    assert_string_equal(ridge_cubin_toolkit(cubin), "13.0");
    for (line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        if (strstr(line, "Compiling entry function") != NULL) {
            function = named_kernel(cubin, line);
            kernel_count++;
        } else if (strstr(line, "Function properties for ") != NULL) {
            /* Device functions have properties too, and no registers of their own. */
            properties = ridge_cubin_function(cubin, strstr(line, " for ") + 5);
        } else if (strstr(line, "spill stores") != NULL && properties != NULL) {
            assert_int_equal(properties->local_bytes,
                             properties->is_recursive ? -1
                                                      : number_before(line, " bytes stack frame"));
            assert_int_equal(properties->spill_store_bytes,
                             number_before(line, " bytes spill stores"));
            assert_int_equal(properties->spill_load_bytes,
                             number_before(line, " bytes spill loads"));
        } else if (strstr(line, "Used ") != NULL && function != NULL) {
            assert_int_equal(function->registers_per_thread, number_after(line, "Used "));
            assert_int_equal(function->barriers, number_before(line, " barriers"));
            assert_int_equal(function->static_shared_bytes, number_before(line, " bytes smem"));
            function = NULL;
        }
    }
    assert_int_equal(kernel_count, row->kernel_count);
    assert_int_equal(ridge_cubin_function_count(cubin), row->kernel_count);
    ridge_cubin_free(cubin);
    support_release(&file);
    free(text);
}

static struct openable {
    const char *name;
    int sm;
} openable[] = {
    {"cubin/bars_90.cubin", 90},  {"cubin/k2_75.cubin", 75},  {"cubin/k2_80.cubin", 80},
    {"cubin/k2_89.cubin", 89},    {"cubin/k2_90a.cubin", 90}, {"cubin/k2_100a.cubin", 100},
    {"cubin/k2_120a.cubin", 120}, {"cubin/t2_90.cubin", 90},  {"cubin/t2_120.cubin", 120},
};

static void opens(void **state)
{
    const struct openable *const row = *state;
    file_bytes file = support_shared(row->name);
    ridge_cubin *const cubin = support_cubin(file);
    size_t i;

    assert_int_equal(ridge_cubin_sm(cubin), row->sm);
    assert_true(ridge_cubin_function_count(cubin) > 0);
    for (i = 0; i < ridge_cubin_function_count(cubin); i++) {
        const ridge_function *const function = ridge_cubin_function_at(cubin, i);

        assert_ptr_equal(ridge_cubin_function(cubin, function->name), function);
        assert_true(function->registers_per_thread > 0);
        assert_true(function->code_bytes > 0 && function->code_bytes % 16 == 0);
    }
    assert_null(ridge_cubin_function_at(cubin, i));
    assert_null(ridge_cubin_function(cubin, "no such kernel"));
    ridge_cubin_free(cubin);
    support_release(&file);
}

static void reads_launch_bounds_and_parameters(void **state)
{
    file_bytes file = support_data("sample_90.cubin.gz");
    ridge_cubin *const cubin = support_cubin(file);
    const ridge_function *function = ridge_cubin_function(cubin, "spill");

    (void)state;
    assert_int_equal(function->max_threads[0], 1024);
    assert_int_equal(function->max_threads[1], 1);
    assert_int_equal(function->max_threads[2], 1);
    assert_int_equal(function->max_registers, 64);
    assert_int_equal(function->parameter_bytes, 16);
    function = ridge_cubin_function(cubin, "block_sum");
    assert_int_equal(function->max_threads[0], 0);
    assert_int_equal(function->max_registers, 255);
    assert_int_equal(function->parameter_bytes, 20);
    ridge_cubin_free(cubin);
    support_release(&file);
}

/* ---- cubins that are built ---- */

enum { STORE = 0, LOAD = 16 };

/* Two instructions of sm_80, STL.64 [R1], R2 and LDL R4, [R1]. */
static const uint8_t spill_code[32] = {
    0x87, 0x73, 0x00, 0x01, 0x02, 0, 0, 0, 0, 0x0a, 0x10, 0, 0, 0xe2, 0x0f, 0, /* store */
    0x83, 0x79, 0x04, 0x01, 0x00, 0, 0, 0, 0, 0x08, 0x10, 0, 0, 0xe2, 0x0f, 0, /* load */
};

/* Symbols: none, the kernel at the start of section 1, a helper inside it. */
static const uint8_t symbols[3 * 24] = {
    [24 + 4] = 0x12, [24 + 5] = 0x10, [24 + 6] = 1,  [24 + 16] = 32,
    [48 + 4] = 0x02, [48 + 6] = 1,    [48 + 8] = 16, [48 + 16] = 16,
};

/* Registers 40, frame 24 of the kernel; frame 99 of the helper is not the kernel's. */
static const uint8_t file_attributes[] = {
    4, 0x2f, 8, 0, 1, 0, 0, 0, 40, 0, 0, 0, /* */
    4, 0x11, 8, 0, 1, 0, 0, 0, 24, 0, 0, 0, /* */
    4, 0x11, 8, 0, 2, 0, 0, 0, 99, 0, 0, 0, /* */
};

static const uint8_t kernel_attributes[] = {
    4, 0x10, 12,  0, 64, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0,    0, /* required block */
    3, 0x1b, 128, 0,                                         /* register cap */
    4, 0x17, 12,  0, 0,  0, 0, 0, 0, 0, 4, 0, 0, 0, 0x20, 0, /* parameter: 8 bytes at 4 */
    2, 0x99, 0,   0,                                         /* unknown, formats 2 and 4 */
    4, 0x9a, 1,   0, 7,                                      /* */
};

static const uint8_t spill_attributes[] = {
    4, 0x55, 24, 0, 1, 0, 0, 0, STORE, 0, 0, 0, 1, 0, 0, 0, LOAD, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0,
};

/* One of each flag that a kernel of sm_90 and up may carry. */
static const uint8_t flag_attributes[] = {
    4, 0x3d, 12,   0, 4, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, /* cluster 4 x 2 x 1 */
    1, 0x3e, 0,    0,                                     /* it is needed */
    4, 0x3f, 4,    0, 8, 0, 0, 0,                         /* at most 8 blocks */
    3, 0x38, 3,    0,                                     /* mbarriers */
    2, 0x4a, 0x80, 0,                                     /* VRC */
    4, 0x2e, 0,    0,                                     /* 16-bit atomics */
    1, 0x51, 0,    0,                                     /* tcgen05 */
    1, 0x54, 0,    0,                                     /* setmaxnreg */
};

enum { SECTION_TEXT, SECTION_SYMBOLS, SECTION_FILE, SECTION_KERNEL, SECTION_SHARED, SECTION_COUNT };

static const sample_section sample[SECTION_COUNT] = {
    [SECTION_TEXT] = {".text.k", 1, 50u << 24, 2, UINT64_C(5) << 20 | 6, spill_code,
                      sizeof(spill_code)},
    [SECTION_SYMBOLS] = {".symtab", 2, 1, 0, 0, symbols, sizeof(symbols)},
    [SECTION_FILE] = {".nv.info", 0x70000000, 0, 0, 0, file_attributes, sizeof(file_attributes)},
    [SECTION_KERNEL] = {".nv.info.k", 0x70000000, 1, 0, 0, kernel_attributes,
                        sizeof(kernel_attributes)},
    [SECTION_SHARED] = {".nv.shared.k", 8, 1, 0, 3, NULL, 2048},
};

static file_bytes build(bool is_old, unsigned sm)
{
    const sample_header header = {is_old, sm, 124};

    return sample_cubin(&header, sample, SECTION_COUNT);
}

/* The sample with other attributes of its kernel. */
static file_bytes build_with(unsigned sm, const uint8_t *attributes, size_t size)
{
    const sample_header header = {false, sm, 0};
    sample_section sections[SECTION_COUNT];

    memcpy(sections, sample, sizeof(sections));
    sections[SECTION_KERNEL].data = attributes;
    sections[SECTION_KERNEL].size = size;
    return sample_cubin(&header, sections, SECTION_COUNT);
}

static void reads_old_header(void **state)
{
    file_bytes file = build(true, 86);
    ridge_cubin *const cubin = support_cubin(file);
    const ridge_function *const k = ridge_cubin_function(cubin, "k");

    (void)state;
    assert_int_equal(ridge_cubin_sm(cubin), 86);
    assert_string_equal(ridge_cubin_toolkit(cubin), "12.4");
    assert_non_null(k);
    assert_true(k->is_kernel);
    assert_int_equal(k->code_bytes, 32);
    assert_int_equal(k->registers_per_thread, 40); /* the attribute, not the section header */
    assert_int_equal(k->barriers, 5);
    assert_int_equal(k->local_bytes, 24);
    assert_int_equal(k->static_shared_bytes, 2048);
    assert_int_equal(k->parameter_bytes, 12);
    assert_int_equal(k->max_registers, 128);
    assert_int_equal(k->max_threads[0], 64);
    assert_int_equal(k->max_threads[1], 2);
    assert_int_equal(k->spill_store_bytes, -1); /* not recorded before toolkit 13 */
    assert_int_equal(k->spill_load_bytes, -1);
    ridge_cubin_free(cubin);
    support_release(&file);
}

static void reads_new_header(void **state)
{
    file_bytes file = build(false, 90);
    ridge_cubin *const cubin = support_cubin(file);
    const ridge_function *const k = ridge_cubin_function(cubin, "k");

    (void)state;
    assert_int_equal(ridge_cubin_sm(cubin), 90);
    assert_null(ridge_cubin_toolkit(cubin));
    assert_int_equal(k->static_shared_bytes, 1024); /* without the driver's share */
    assert_int_equal(k->spill_store_bytes, 0);
    assert_int_equal(k->spill_load_bytes, 0);
    ridge_cubin_free(cubin);
    support_release(&file);
}

static void counts_spills(void **state)
{
    file_bytes file = build_with(80, spill_attributes, sizeof(spill_attributes));
    ridge_cubin *const cubin = support_cubin(file);
    const ridge_function *const k = ridge_cubin_function(cubin, "k");

    (void)state;
    assert_int_equal(k->spill_store_bytes, 8);
    assert_int_equal(k->spill_load_bytes, 4);
    ridge_cubin_free(cubin);
    support_release(&file);
}

static void reads_flags(void **state)
{
    file_bytes file = build_with(100, flag_attributes, sizeof(flag_attributes));
    ridge_cubin *const cubin = support_cubin(file);
    const ridge_function *const k = ridge_cubin_function(cubin, "k");

    (void)state;
    assert_int_equal(k->cluster[0], 4);
    assert_int_equal(k->cluster[1], 2);
    assert_int_equal(k->cluster[2], 1);
    assert_true(k->needs_cluster);
    assert_int_equal(k->max_cluster, 8);
    assert_int_equal(k->mbarriers, 3);
    assert_int_equal(k->vrc_slots, 0x80);
    assert_true(k->emulates_atom16);
    assert_true(k->uses_tcgen05);
    assert_true(k->uses_setmaxnreg);
    assert_int_equal(k->min_blocks, -1);
    assert_null(ridge_cubin_provenance(cubin)->tool);
    assert_int_equal(ridge_cubin_provenance(cubin)->virtual_sm, -1);
    ridge_cubin_free(cubin);
    support_release(&file);
}

/* Relocatable cubins announce sections of shared memory whose bytes are not in the file, and which
 * do not include the driver's share yet (seen with nvcc -cubin -rdc=true and nvlink). */
static void reads_relocatable(void **state)
{
    const sample_header header = {false, 90, 0};
    const sample_section sections[] = {
        {.name = ".text.k", .type = 1, .data = spill_code, .size = 16},
        {.name = ".nv_debug.shared", .type = 0x7000000a, .size = 7104},
        {.name = ".nv.shared.k", .type = 0x7000000a, .info = 1, .size = 400},
    };
    file_bytes file = sample_cubin(&header, sections, sizeof(sections) / sizeof(sections[0]));
    ridge_cubin *cubin;

    (void)state;
    store_u16(file.data + 16, 1);
    cubin = support_cubin(file);
    assert_true(ridge_cubin_provenance(cubin)->is_relocatable);
    assert_int_equal(ridge_cubin_function(cubin, "k")->static_shared_bytes, 400);
    ridge_cubin_free(cubin);
    support_release(&file);
}

/* Sections that are read and have no bytes: found by fuzzing. */
static void reads_sections_without_bytes(void **state)
{
    static const char *const names[] = {".nv_debug_ptx_txt", ".nv.compat", ".note.nv.tkinfo",
                                        ".note.nv.cuinfo", ".nv.info"};
    const sample_header header = {false, 90, 0};
    sample_section sections[5];
    file_bytes file;
    ridge_cubin *cubin;
    size_t i;

    (void)state;
    for (i = 0; i < 5; i++)
        sections[i] = (sample_section){.name = names[i], .type = 8, .size = 100};
    file = sample_cubin(&header, sections, 5);
    cubin = support_cubin(file);
    assert_null(ridge_cubin_provenance(cubin)->options);
    ridge_cubin_free(cubin);
    support_release(&file);
}

/* A symbol that holds an address names the kernel when it is as long as its code. */
static void reads_image_of_a_process(void **state)
{
    const sample_header header = {true, 80, 112};
    sample_section sections[SECTION_COUNT];
    uint8_t placed[sizeof(symbols)];
    file_bytes file;
    ridge_cubin *cubin;

    (void)state;
    memcpy(sections, sample, sizeof(sections));
    memcpy(placed, symbols, sizeof(placed));
    store_u64(placed + 24 + 8, 0x7f0012345600);
    store_u64(placed + 48 + 8, 0x7f0012345610);
    sections[SECTION_SYMBOLS].data = placed;
    file = sample_cubin(&header, sections, SECTION_COUNT);
    cubin = support_cubin(file);
    assert_int_equal(ridge_cubin_function(cubin, "k")->registers_per_thread, 40);
    assert_int_equal(ridge_cubin_function(cubin, "k")->local_bytes, 24);
    ridge_cubin_free(cubin);
    support_release(&file);
}

/* Linked files hold several local functions of one name. */
static void keeps_functions_of_one_name(void **state)
{
    const sample_header header = {false, 80, 0};
    sample_section sections[4] = {
        {.name = ".text.helper", .type = 1, .data = spill_code, .size = 16},
        {.name = ".text.helper", .type = 1, .data = spill_code, .size = 32},
        {.name = ".nv.shared.helper", .type = 8, .info = 2, .size = 64},
        {.name = ".nv.info.elsewhere", .type = 0x70000000, .data = "\3\x1b\5\0", .size = 4},
    };
    file_bytes file = sample_cubin(&header, sections, 4);
    ridge_cubin *const cubin = support_cubin(file);

    (void)state;
    assert_int_equal(ridge_cubin_function_count(cubin), 2);
    assert_int_equal(ridge_cubin_function_at(cubin, 0)->code_bytes, 16);
    assert_int_equal(ridge_cubin_function_at(cubin, 0)->static_shared_bytes, 0);
    assert_int_equal(ridge_cubin_function_at(cubin, 1)->static_shared_bytes, 64);
    assert_false(ridge_cubin_function_at(cubin, 1)->is_kernel);
    assert_ptr_equal(ridge_cubin_function(cubin, "helper"), ridge_cubin_function_at(cubin, 0));
    ridge_cubin_free(cubin);
    support_release(&file);
}

static void reads_cubin_without_functions(void **state)
{
    const sample_header header = {false, 90, 0};
    file_bytes file = sample_cubin(&header, NULL, 0);
    ridge_cubin *const cubin = support_cubin(file);

    (void)state;
    assert_int_equal(ridge_cubin_function_count(cubin), 0);
    assert_null(ridge_cubin_function(cubin, "k"));
    ridge_cubin_free(cubin);
    support_release(&file);
}

/* ---- damaged files ---- */

enum { AT_TABLE = 40, AT_SECTION_BYTES = 58, AT_COUNT = 60, AT_NAMES = 62 };

static struct damage {
    const char *name;
    size_t offset;
    unsigned value; /* 16 bits */
    ridge_status status;
    const char *message;
} damages[] = {
    {"no ELF", 0, 0x4142, RIDGE_ERR_FORMAT, "not a cubin: no 64-bit little-endian ELF header"},
    {"other machine", 18, 62, RIDGE_ERR_FORMAT, "ELF machine 62, expected 190"},
    {"other ABI", 6, 0x4201, RIDGE_ERR_UNSUPPORTED, "ELF OS ABI 0x42"},
    {"section table behind the end", AT_TABLE, 0xffff, RIDGE_ERR_FORMAT, "section table at"},
    {"short section headers", AT_SECTION_BYTES, 40, RIDGE_ERR_FORMAT,
     "section headers of 40 bytes, expected 64"},
    {"too many sections", AT_COUNT, 9, RIDGE_ERR_FORMAT, "9 sections announced, room for 7"},
    {"names in no section", AT_NAMES, 8, RIDGE_ERR_FORMAT, "section names in section 8 of 7"},
};

static void rejects_damage(void **state)
{
    const struct damage *const row = *state;
    file_bytes file = build(false, 90);
    ridge_cubin *cubin = (ridge_cubin *)&file;
    ridge_error err;

    store_u16(file.data + row->offset, row->value);
    assert_int_equal(ridge_cubin_read(file.data, file.size, &cubin, &err), row->status);
    assert_null(cubin);
    if (strstr(err.text, row->message) == NULL)
        fail_msg("message: %s", err.text);
    support_release(&file);
}

static struct bad_section {
    const char *name;
    int section;   /* its header is damaged */
    size_t offset; /* in the header */
    unsigned value;
    const char *message;
} bad_sections[] = {
    {"section behind the end", SECTION_TEXT, 24, 0xffff, "section 1 at offset 65535 has 32 bytes"},
    {"section too long", SECTION_KERNEL, 32, 0xffff, "has 65535 bytes"},
    {"name behind the table", SECTION_FILE, 0, 0xfff, "name of section 3 at 4095 of a table"},
    {"attributes end inside one", SECTION_KERNEL, 32, 18, "attributes in .nv.info.k end inside"},
    {"file attributes end inside one", SECTION_FILE, 32, 7, "attributes in .nv.info end inside"},
};

static void rejects_bad_section(void **state)
{
    const struct bad_section *const row = *state;
    file_bytes file = build(false, 90);
    const size_t table_at = file.size - (size_t)(SECTION_COUNT + 2) * 64;
    ridge_cubin *cubin;
    ridge_error err;

    store_u16(file.data + table_at + ((size_t)row->section + 1) * 64 + row->offset, row->value);
    assert_int_equal(ridge_cubin_read(file.data, file.size, &cubin, &err), RIDGE_ERR_FORMAT);
    assert_null(cubin);
    if (strstr(err.text, row->message) == NULL)
        fail_msg("message: %s", err.text);
    support_release(&file);
}

/* Many sections that share one long name would cost quadratic time. */
static void rejects_overlapping_names(void **state)
{
    enum { COUNT = 64, LENGTH = 2000 };
    const sample_header header = {false, 90, 0};
    static char name[LENGTH + 1];
    sample_section sections[COUNT];
    file_bytes file;
    ridge_cubin *cubin;
    ridge_error err;
    size_t table_at, i;

    (void)state;
    memset(name, 'x', LENGTH);
    for (i = 0; i < COUNT; i++)
        sections[i] = (sample_section){.name = i == 0 ? name : "", .type = 1};
    file = sample_cubin(&header, sections, COUNT);
    table_at = file.size - (size_t)(COUNT + 2) * 64;
    for (i = 1; i <= COUNT; i++)
        store_u32(file.data + table_at + i * 64, 1);
    assert_int_equal(ridge_cubin_read(file.data, file.size, &cubin, &err), RIDGE_ERR_FORMAT);
    assert_non_null(strstr(err.text, "overlap"));
    assert_null(cubin);
    support_release(&file);
}

/* Nor may many sections share the same bytes. */
static void rejects_overlapping_sections(void **state)
{
    enum { COUNT = 64, SIZE = 32768 };
    const sample_header header = {false, 90, 0};
    static const uint8_t bytes[SIZE];
    sample_section sections[COUNT];
    file_bytes file;
    ridge_cubin *cubin;
    ridge_error err;
    size_t table_at, i;

    (void)state;
    for (i = 0; i < COUNT; i++)
        sections[i] = (sample_section){.name = ".nv.info", .type = 1};
    sections[0].data = bytes;
    sections[0].size = SIZE;
    file = sample_cubin(&header, sections, COUNT);
    table_at = file.size - (size_t)(COUNT + 2) * 64;
    for (i = 1; i <= COUNT; i++) {
        store_u64(file.data + table_at + i * 64 + 24, 64);
        store_u64(file.data + table_at + i * 64 + 32, SIZE);
    }
    assert_int_equal(ridge_cubin_read(file.data, file.size, &cubin, &err), RIDGE_ERR_FORMAT);
    assert_non_null(strstr(err.text, "sections overlap: "));
    assert_null(cubin);
    support_release(&file);
}

/* Reads everything there is and expects no more than that it ends. */
static void read_all(const uint8_t *bytes, size_t size)
{
    uint8_t *const data = malloc(size > 0 ? size : 1);
    ridge_cubin *cubin = NULL;
    ridge_error err = {.status = RIDGE_OK};
    size_t i;

    assert_non_null(data);
    memcpy(data, bytes, size);
    if (ridge_cubin_read(data, size, &cubin, &err) != RIDGE_OK) {
        assert_null(cubin);
        assert_true(err.text[0] != '\0' && strchr(err.text, '\n') == NULL);
    } else {
        for (i = 0; i < ridge_cubin_function_count(cubin); i++) {
            const ridge_function *const function = ridge_cubin_function_at(cubin, i);
            const ridge_line *rows;
            size_t row_count, offset;
            ridge_sass sass;

            for (offset = 0; function->code_bytes - offset >= 16; offset += 16)
                ridge_sass_decode(function->code + offset, (uint32_t)offset, ridge_cubin_sm(cubin),
                                  &sass);
            if (ridge_cubin_lines(cubin, function, &rows, &row_count, &err) != RIDGE_OK)
                assert_null(rows);
        }
    }
    ridge_cubin_free(cubin);
    free(data);
}

static void survives_truncation(void **state)
{
    file_bytes file = build(false, 90);
    size_t size;

    (void)state;
    for (size = 0; size < file.size; size++)
        read_all(file.data, size);
    support_release(&file);
}

static void survives_flipped_bits(void **state)
{
    file_bytes file = build(true, 86);
    size_t i;

    (void)state;
    for (i = 0; i < file.size * 8; i++) {
        file.data[i / 8] ^= (uint8_t)(1u << i % 8);
        read_all(file.data, file.size);
        file.data[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    support_release(&file);
}

/* A real file, cut at every 61st byte and with every 37th bit flipped. */
static void survives_damage_of_a_real_file(void **state)
{
    file_bytes file = support_data("sample_75.cubin.gz");
    size_t i;

    (void)state;
    for (i = 0; i < file.size; i += 61)
        read_all(file.data, i);
    for (i = 0; i < file.size * 8; i += 37) {
        file.data[i / 8] ^= (uint8_t)(1u << i % 8);
        read_all(file.data, file.size);
        file.data[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    support_release(&file);
}

static void survives_lack_of_memory(void **state)
{
    file_bytes file = support_data("sample_90.cubin.gz");
    size_t nth = 0;
    ridge_status status;
    ridge_cubin *cubin;
    ridge_error err;

    (void)state;
    do {
        ridge_memory_fail_at(++nth);
        cubin = (ridge_cubin *)&file;
        status = ridge_cubin_read(file.data, file.size, &cubin, &err);
        ridge_memory_fail_at(0);
        if (status != RIDGE_OK) {
            assert_int_equal(status, RIDGE_ERR_OUT_OF_MEMORY);
            assert_null(cubin);
        }
    } while (status != RIDGE_OK);
    assert_true(nth > 2);
    ridge_cubin_free(cubin);
    ridge_cubin_free(NULL);
    support_release(&file);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, equals_ptxas, recorded);
    CASES_ADD_ROWS(&list, opens, openable);
    cases_add(&list, "flags of sm_90 and up", reads_flags, NULL);
    cases_add(&list, "relocatable", reads_relocatable, NULL);
    cases_add(&list, "sections without bytes", reads_sections_without_bytes, NULL);
    cases_add(&list, "launch bounds and parameters", reads_launch_bounds_and_parameters, NULL);
    cases_add(&list, "header of toolkits to 12", reads_old_header, NULL);
    cases_add(&list, "header of toolkit 13", reads_new_header, NULL);
    cases_add(&list, "spills", counts_spills, NULL);
    cases_add(&list, "image of a process", reads_image_of_a_process, NULL);
    cases_add(&list, "functions of one name", keeps_functions_of_one_name, NULL);
    cases_add(&list, "no functions", reads_cubin_without_functions, NULL);
    CASES_ADD_ROWS(&list, rejects_damage, damages);
    CASES_ADD_ROWS(&list, rejects_bad_section, bad_sections);
    cases_add(&list, "overlapping names", rejects_overlapping_names, NULL);
    cases_add(&list, "overlapping sections", rejects_overlapping_sections, NULL);
    cases_add(&list, "truncation at every byte", survives_truncation, NULL);
    cases_add(&list, "every bit flipped", survives_flipped_bits, NULL);
    cases_add(&list, "damage of a real file", survives_damage_of_a_real_file, NULL);
    cases_add(&list, "lack of memory", survives_lack_of_memory, NULL);
    return cases_run(&list, "cubin");
}
