/* SPDX-License-Identifier: Apache-2.0
 *
 * Images: what is found in each kind of file, equal contents whatever the packing, and damage that
 * stays where it is. */
#include "binary_support.h"

#include "base/memory.h"
#include "ridge/image.h"

static ridge_image *read_image(file_bytes file)
{
    ridge_image *image;
    ridge_error err;

    if (ridge_image_read(file.data, file.size, "image", &image, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    assert_non_null(image);
    return image;
}

static file_bytes open_bytes(const char *name, bool is_shared)
{
    return is_shared ? support_shared(name) : support_data(name);
}

/* ---- kinds of files ---- */

static struct file_row {
    const char *name, *path;
    bool is_shared;
    ridge_image_kind kind;
    size_t containers, cubins, ptx, lto, kernels, relocatable;
} files[] = {
    {"plain fat binary", "tiny_none.fatbin.gz", false, RIDGE_IMAGE_FATBIN, 1, 3, 1, 0, 11, 0},
    {"LZ4", "tiny_speed.fatbin.gz", false, RIDGE_IMAGE_FATBIN, 1, 3, 1, 0, 11, 0},
    {"PTX alone is packed", "tiny_default.fatbin.gz", false, RIDGE_IMAGE_FATBIN, 1, 3, 1, 0, 11, 0},
    {"zstd", "tiny_size.fatbin.gz", false, RIDGE_IMAGE_FATBIN, 1, 3, 1, 0, 11, 0},
    {"object", "tiny.o.gz", false, RIDGE_IMAGE_OBJECT, 1, 3, 1, 0, 11, 0},
    {"relocatable object", "tiny_rdc.o.gz", false, RIDGE_IMAGE_OBJECT, 1, 3, 1, 0, 11, 4},
    {"LTO object", "tiny_lto.o.gz", false, RIDGE_IMAGE_OBJECT, 1, 0, 0, 1, 0, 1},
    {"library of device-linked code", "libtiny.so.gz", false, RIDGE_IMAGE_SHARED, 2, 4, 1, 0, 13,
     3},
    {"PTX", "tiny.ptx", false, RIDGE_IMAGE_PTX, 0, 0, 1, 0, 3, 0},
    {"cubin", "sample_90.cubin.gz", false, RIDGE_IMAGE_CUBIN, 0, 1, 0, 0, 3, 0},
    {"fixture packed as default", "cubin/s_default.fatbin", true, RIDGE_IMAGE_FATBIN, 1, 9, 2, 0,
     22, 0},
    {"fixture packed as none", "cubin/s_none.fatbin", true, RIDGE_IMAGE_FATBIN, 1, 9, 2, 0, 22, 0},
    {"fixture packed as size", "cubin/s_size.fatbin", true, RIDGE_IMAGE_FATBIN, 1, 9, 2, 0, 22, 0},
    {"fixture packed as speed", "cubin/s_speed.fatbin", true, RIDGE_IMAGE_FATBIN, 1, 9, 2, 0, 22,
     0},
    {"fixture with -G", "cubin/d_G.fatbin", true, RIDGE_IMAGE_FATBIN, 1, 1, 1, 0, 4, 0},
    {"fixture, object", "cubin/s_size.o", true, RIDGE_IMAGE_OBJECT, 1, 9, 2, 0, 22, 0},
    {"fixture, relocatable", "cubin/s_rdc.o", true, RIDGE_IMAGE_OBJECT, 1, 9, 2, 0, 22, 11},
    {"fixture, LTO", "cubin/s_lto.o", true, RIDGE_IMAGE_OBJECT, 1, 0, 0, 2, 0, 2},
};

static size_t kernels_of(ridge_image *image, size_t index)
{
    ridge_loaded loaded, again;
    ridge_error err;
    size_t count = 0;
    size_t i;

    if (ridge_image_entry_load(image, index, &loaded, &err) != RIDGE_OK)
        fail_msg("entry %zu: %s", index, err.text);
    assert_int_equal(ridge_image_entry_load(image, index, &again, NULL), RIDGE_OK);
    assert_ptr_equal(again.cubin, loaded.cubin);
    assert_ptr_equal(again.text, loaded.text);
    count = loaded.kernel_count;
    for (i = 0; loaded.cubin != NULL && i < ridge_cubin_function_count(loaded.cubin); i++)
        count += ridge_cubin_function_at(loaded.cubin, i)->is_kernel;
    ridge_image_entry_unload(image, index);
    return count;
}

static void finds_entries(void **state)
{
    const struct file_row *const row = *state;
    file_bytes file = open_bytes(row->path, row->is_shared);
    ridge_image *const image = read_image(file);
    size_t cubins = 0, ptx = 0, lto = 0, kernels = 0, relocatable = 0;
    size_t i;

    for (i = 0; i < ridge_image_entry_count(image); i++) {
        const ridge_entry *const entry = ridge_image_entry(image, i);

        cubins += entry->kind == RIDGE_ENTRY_CUBIN;
        ptx += entry->kind == RIDGE_ENTRY_PTX;
        lto += entry->kind == RIDGE_ENTRY_LTO;
        relocatable += entry->is_relocatable;
        kernels += kernels_of(image, i);
        assert_true(entry->file_offset + entry->stored_bytes <= file.size);
    }
    assert_int_equal(ridge_image_file_kind(image), row->kind);
    assert_int_equal(ridge_image_container_count(image), row->containers);
    assert_int_equal(cubins, row->cubins);
    assert_int_equal(ptx, row->ptx);
    assert_int_equal(lto, row->lto);
    assert_int_equal(kernels, row->kernels);
    assert_int_equal(relocatable, row->relocatable);
    assert_null(ridge_image_warning(image, 0));
    assert_null(ridge_image_entry(image, i));
    ridge_image_entry_unload(image, i);
    ridge_image_free(image);
    support_release(&file);
}

/* ---- what an entry says of itself ---- */

static struct entry_row {
    const char *name, *path;
    size_t index;
    ridge_entry entry;
    const char *options; /* a part of them; NULL: none */
} entries[] = {
    {"plain cubin",
     "tiny_none.fatbin.gz",
     0,
     {.kind = RIDGE_ENTRY_CUBIN, .sm = 80, .section = "", .file_offset = 0x50},
     NULL},
    {"sm_90a",
     "tiny_none.fatbin.gz",
     1,
     {.kind = RIDGE_ENTRY_CUBIN, .sm = 90, .suffix = RIDGE_TARGET_ARCH, .section = ""},
     NULL},
    {"sm_100f",
     "tiny_none.fatbin.gz",
     2,
     {.kind = RIDGE_ENTRY_CUBIN, .sm = 100, .suffix = RIDGE_TARGET_FAMILY, .section = ""},
     NULL},
    {"PTX",
     "tiny_none.fatbin.gz",
     3,
     {.kind = RIDGE_ENTRY_PTX, .sm = 90, .ptx_major = 9, .section = ""},
     NULL},
    {"LZ4 PTX",
     "tiny_speed.fatbin.gz",
     3,
     {.kind = RIDGE_ENTRY_PTX,
      .sm = 90,
      .ptx_major = 9,
      .packing = RIDGE_PACKED_LZ4,
      .section = ""},
     NULL},
    {"zstd cubin",
     "tiny_size.fatbin.gz",
     1,
     {.kind = RIDGE_ENTRY_CUBIN,
      .sm = 90,
      .suffix = RIDGE_TARGET_ARCH,
      .packing = RIDGE_PACKED_ZSTD,
      .section = ""},
     NULL},
    {"debug PTX",
     "tiny_debug.fatbin.gz",
     0,
     {.kind = RIDGE_ENTRY_PTX,
      .sm = 80,
      .ptx_major = 9,
      .packing = RIDGE_PACKED_ZSTD,
      .is_debug = true,
      .section = "",
      .identifier = "tiny.cu"},
     "-g --dont-merge-basicblocks"},
    {"with -lineinfo",
     "tiny_lineinfo.fatbin.gz",
     0,
     {.kind = RIDGE_ENTRY_CUBIN,
      .sm = 90,
      .suffix = RIDGE_TARGET_ARCH,
      .packing = RIDGE_PACKED_ZSTD,
      .section = "",
      .identifier = "tiny.cu"},
     NULL},
    {"relocatable PTX",
     "tiny_rdc.o.gz",
     3,
     {.kind = RIDGE_ENTRY_PTX,
      .sm = 90,
      .ptx_major = 9,
      .packing = RIDGE_PACKED_ZSTD,
      .is_relocatable = true,
      .section = "__nv_relfatbin"},
     "--compile-only"},
    {"of an object",
     "tiny.o.gz",
     0,
     {.kind = RIDGE_ENTRY_CUBIN, .sm = 80, .packing = RIDGE_PACKED_ZSTD, .section = ".nv_fatbin"},
     NULL},
    {"PTX that the device link left behind",
     "libtiny.so.gz",
     2,
     {.kind = RIDGE_ENTRY_PTX,
      .sm = 90,
      .ptx_major = 9,
      .packing = RIDGE_PACKED_ZSTD,
      .is_relocatable = true,
      .section = "__nv_relfatbin"},
     "--compile-only"},
    {"linked cubin",
     "libtiny.so.gz",
     3,
     {.kind = RIDGE_ENTRY_CUBIN, .sm = 80, .section = ".nv_fatbin"},
     NULL},
    {"PTX text",
     "tiny.ptx",
     0,
     {.kind = RIDGE_ENTRY_PTX, .sm = 90, .ptx_major = 9, .section = ""},
     NULL},
};

static void describes_entry(void **state)
{
    const struct entry_row *const row = *state;
    const ridge_entry *const expected = &row->entry;
    file_bytes file = support_data(row->path);
    ridge_image *const image = read_image(file);
    const ridge_entry *const entry = ridge_image_entry(image, row->index);

    assert_non_null(entry);
    assert_int_equal(entry->kind, expected->kind);
    assert_int_equal(entry->sm, expected->sm);
    assert_int_equal(entry->suffix, expected->suffix);
    assert_int_equal(entry->ptx_major, expected->ptx_major);
    assert_int_equal(entry->ptx_minor, 0);
    assert_int_equal(entry->packing, expected->packing);
    assert_int_equal(entry->is_relocatable, expected->is_relocatable);
    assert_int_equal(entry->is_debug, expected->is_debug);
    assert_null(entry->member);
    assert_string_equal(entry->section, expected->section);
    if (expected->file_offset != 0)
        assert_int_equal(entry->file_offset, expected->file_offset);
    if (expected->identifier == NULL)
        assert_null(entry->identifier);
    else
        assert_string_equal(entry->identifier, expected->identifier);
    if (row->options == NULL)
        assert_null(entry->options);
    else
        assert_non_null(strstr(entry->options, row->options));
    ridge_image_free(image);
    support_release(&file);
}

/* ---- the same contents, packed in any way ---- */

static struct packed_row {
    const char *name, *path;
} packed[] = {
    {"packed for speed", "tiny_speed.fatbin.gz"},
    {"packed by default", "tiny_default.fatbin.gz"},
    {"packed for size", "tiny_size.fatbin.gz"},
};

static void equals_plain(void **state)
{
    const struct packed_row *const row = *state;
    file_bytes plain_file = support_data("tiny_none.fatbin.gz");
    file_bytes file = support_data(row->path);
    ridge_image *const plain_image = read_image(plain_file);
    ridge_image *const image = read_image(file);
    size_t i, k;

    for (i = 0; i < ridge_image_entry_count(plain_image); i++) {
        ridge_loaded plain, loaded;

        assert_int_equal(ridge_image_entry_load(plain_image, i, &plain, NULL), RIDGE_OK);
        assert_int_equal(ridge_image_entry_load(image, i, &loaded, NULL), RIDGE_OK);
        if (plain.text != NULL) {
            assert_int_equal(loaded.text_bytes, plain.text_bytes);
            assert_memory_equal(loaded.text, plain.text, plain.text_bytes);
            assert_int_equal(loaded.ptx_sm, 90);
            assert_int_equal(loaded.ptx_suffix, RIDGE_TARGET_PLAIN);
            continue;
        }
        assert_int_equal(ridge_cubin_function_count(loaded.cubin),
                         ridge_cubin_function_count(plain.cubin));
        for (k = 0; k < ridge_cubin_function_count(plain.cubin); k++) {
            const ridge_function *const left = ridge_cubin_function_at(plain.cubin, k);
            const ridge_function *const right = ridge_cubin_function_at(loaded.cubin, k);

            assert_string_equal(left->name, right->name);
            assert_int_equal(left->code_bytes, right->code_bytes);
            assert_memory_equal(left->code, right->code, left->code_bytes);
        }
    }
    ridge_image_free(image);
    ridge_image_free(plain_image);
    support_release(&file);
    support_release(&plain_file);
}

/* Launch bounds, which the cubin alone does not tell. */
static void reads_embedded_ptx(void **state)
{
    file_bytes file = support_data("tiny_lineinfo.fatbin.gz");
    ridge_image *const image = read_image(file);
    ridge_loaded loaded;

    (void)state;
    assert_int_equal(ridge_image_entry_load(image, 0, &loaded, NULL), RIDGE_OK);
    assert_int_equal(ridge_cubin_function(loaded.cubin, "scale")->min_blocks, 2);
    assert_int_equal(ridge_cubin_function(loaded.cubin, "sum")->min_blocks, 0);
    ridge_image_free(image);
    support_release(&file);
}

/* ---- host files and archives that are built ---- */

enum { ELF_HEADER = 64, ELF_SECTION = 64 };

/* An object of the host with one section of bytes at 64. */
static file_bytes host_object(const char *section, unsigned type, unsigned flags,
                              const uint8_t *bytes, size_t size)
{
    static const uint8_t magic[] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
    const size_t names_at = ELF_HEADER + (size + 7) / 8 * 8;
    const size_t table_at = names_at + 64;
    file_bytes file = {NULL, table_at + (size_t)3 * ELF_SECTION};
    uint8_t *row;

    file.data = calloc(1, file.size);
    assert_non_null(file.data);
    memcpy(file.data, magic, sizeof(magic));
    store_u16(file.data + 16, 1);
    store_u16(file.data + 18, 62);
    store_u64(file.data + 40, table_at);
    store_u16(file.data + 58, ELF_SECTION);
    store_u16(file.data + 60, 3);
    store_u16(file.data + 62, 2);
    memcpy(file.data + ELF_HEADER, bytes, size);
    strcpy((char *)file.data + names_at + 1, section);
    row = file.data + table_at + ELF_SECTION;
    store_u32(row, 1);
    store_u32(row + 4, type);
    store_u64(row + 8, flags);
    store_u64(row + 24, ELF_HEADER);
    store_u64(row + 32, size);
    row += ELF_SECTION;
    store_u32(row + 4, 3);
    store_u64(row + 24, names_at);
    store_u64(row + 32, 64);
    return file;
}

static struct host_row {
    const char *name, *section;
    unsigned type, flags;
    bool is_table_lost, is_cubin;
    size_t entries; /* 0: no code */
} hosts[] = {
    {"fat binary in its section", ".nv_fatbin", 1, 2, false, false, 4},
    {"relocatable in its section", "__nv_relfatbin", 1, 2, false, false, 4},
    {"section of a longer name", ".nv_fatbinary", 1, 0, false, false, 0},
    {"embedded as data", ".rodata", 1, 2, false, false, 4},
    {"cubin embedded as data", ".rodata", 1, 2, false, true, 1},
    {"in code", ".text", 1, 6, false, false, 0},
    {"in what is not loaded", ".comment", 1, 0, false, false, 0},
    {"without a section table", ".nv_fatbin", 1, 2, true, false, 4},
    {"cubin without a section table", ".data", 1, 2, true, true, 1},
};

static void searches_host(void **state)
{
    const struct host_row *const row = *state;
    file_bytes code = support_data(row->is_cubin ? "sample_90.cubin.gz" : "tiny_none.fatbin.gz");
    file_bytes file = host_object(row->section, row->type, row->flags, code.data, code.size);
    ridge_image *image;
    ridge_error err;
    size_t i;

    if (row->is_table_lost)
        store_u64(file.data + 40, 0);
    if (row->entries == 0) {
        assert_int_equal(ridge_image_read(file.data, file.size, "image", &image, &err),
                         RIDGE_ERR_FORMAT);
        assert_non_null(strstr(err.text, "without CUDA code"));
    } else {
        image = read_image(file);
        assert_int_equal(ridge_image_entry_count(image), row->entries);
        for (i = 0; i < row->entries; i++) {
            assert_true(kernels_of(image, i) > 0);
            assert_string_equal(ridge_image_entry(image, i)->section,
                                row->is_table_lost ? "" : row->section);
        }
        ridge_image_free(image);
    }
    support_release(&file);
    support_release(&code);
}

/* Thousands of sections that share the same fat binary cost no more than a few. */
static void bounds_overlapping_sections(void **state)
{
    enum { COUNT = 5000 };
    file_bytes code = support_data("tiny_none.fatbin.gz");
    file_bytes file = host_object(".nv_fatbin", 1, 2, code.data, code.size);
    const size_t table_at = file.size - (size_t)3 * ELF_SECTION;
    uint8_t *const grown = realloc(file.data, file.size + (size_t)COUNT * ELF_SECTION);
    ridge_image *image;
    size_t i;

    (void)state;
    assert_non_null(grown);
    file.data = grown;
    for (i = 0; i < COUNT; i++)
        memcpy(grown + file.size + i * ELF_SECTION, grown + table_at + ELF_SECTION, ELF_SECTION);
    file.size += (size_t)COUNT * ELF_SECTION;
    store_u16(grown + 60, COUNT + 3);
    image = read_image(file);
    assert_true(ridge_image_entry_count(image) < 400);
    assert_non_null(strstr(ridge_image_warning(image, 0), "sections overlap"));
    ridge_image_free(image);
    support_release(&file);
    support_release(&code);
}

/* Appends a member of an archive. */
static void add_member(file_bytes *archive, const char *field, const void *bytes, size_t size)
{
    const size_t padded = size + size % 2;
    uint8_t *const data = realloc(archive->data, archive->size + 60 + padded);
    char header[80];

    assert_non_null(data);
    snprintf(header, sizeof(header), "%-16s%-12s%-6s%-6s%-8s%-10zu`\n", field, "0", "0", "0",
             "100644", size);
    memcpy(data + archive->size, header, 60);
    memcpy(data + archive->size + 60, bytes, size);
    if (padded > size)
        data[archive->size + 60 + size] = '\n';
    archive->data = data;
    archive->size += 60 + padded;
}

static file_bytes new_archive(void)
{
    file_bytes archive = {malloc(8), 8};

    assert_non_null(archive.data);
    memcpy(archive.data, "!<arch>\n", 8);
    return archive;
}

static file_bytes build_archive(void)
{
    file_bytes object = support_data("tiny.o.gz");
    file_bytes fatbin = support_data("tiny_hole.fatbin.gz");
    file_bytes cubin = support_data("sample_90.cubin.gz");
    file_bytes ptx = support_data("tiny.ptx");
    file_bytes archive = new_archive();
    char long_name[] = "#1/12           ";
    uint8_t *const named = malloc(fatbin.size + 12);

    assert_non_null(named);
    memcpy(named, "a long.fatbin", 12); /* BSD: the name is in front of the bytes */
    memcpy(named + 12, fatbin.data, fatbin.size);
    add_member(&archive, "/", "\0\0\0\0", 4);
    add_member(&archive, "//", "an_object_of_a_long_name.o/\nx.o/\n", 33);
    add_member(&archive, "/0", object.data, object.size);
    add_member(&archive, "short.o/", object.data, object.size);
    add_member(&archive, "readme.txt/", "hello", 5);
    add_member(&archive, long_name, named, fatbin.size + 12);
    add_member(&archive, "k.cubin/", cubin.data, cubin.size);
    add_member(&archive, "k.ptx/", ptx.data, ptx.size);
    free(named);
    support_release(&object);
    support_release(&fatbin);
    support_release(&cubin);
    support_release(&ptx);
    return archive;
}

static void reads_archive(void **state)
{
    static const char *const members[] = {
        "an_object_of_a_long_name.o",
        "an_object_of_a_long_name.o",
        "an_object_of_a_long_name.o",
        "an_object_of_a_long_name.o",
        "short.o",
        "short.o",
        "short.o",
        "short.o",
        "a long.fatbi",
        "k.cubin",
        "k.ptx",
    };
    file_bytes archive = build_archive();
    ridge_image *const image = read_image(archive);
    size_t i;

    (void)state;
    assert_int_equal(ridge_image_file_kind(image), RIDGE_IMAGE_ARCHIVE);
    assert_int_equal(ridge_image_entry_count(image), sizeof(members) / sizeof(members[0]));
    for (i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        assert_string_equal(ridge_image_entry(image, i)->member, members[i]);
        assert_true(kernels_of(image, i) > 0);
    }
    assert_null(ridge_image_warning(image, 0));
    ridge_image_free(image);
    support_release(&archive);
}

/* A damaged member is named, and does not hide the others. */
static void passes_over_damaged_member(void **state)
{
    file_bytes cubin = support_data("sample_90.cubin.gz");
    file_bytes archive = new_archive();
    ridge_image *image;

    (void)state;
    add_member(&archive, "cut.cubin/", cubin.data, 100);
    add_member(&archive, "whole.cubin/", cubin.data, cubin.size);
    add_member(&archive, "last.o/", "x", 1);
    archive.data[archive.size - 4] = '?'; /* the end of the last header */
    image = read_image(archive);
    assert_int_equal(ridge_image_entry_count(image), 1);
    assert_string_equal(ridge_image_entry(image, 0)->member, "whole.cubin");
    assert_non_null(strstr(ridge_image_warning(image, 0), "member cut.cubin: section"));
    assert_non_null(strstr(ridge_image_warning(image, 1), "no member of an archive at byte"));
    assert_null(ridge_image_warning(image, 2));
    ridge_image_free(image);
    support_release(&archive);
    support_release(&cubin);
}

/* An archive of NVIDIA's, where a toolkit is installed. */
static void reads_toolkit_archive(void **state)
{
    static const char path[] = "/usr/local/cuda/lib64/libcudadevrt.a";
    ridge_image *image;
    ridge_error err;
    size_t kernels = 0;
    size_t i;

    (void)state;
    if (ridge_image_open(path, &image, &err) != RIDGE_OK) {
        assert_int_equal(err.status, RIDGE_ERR_IO);
        skip();
    }
    for (i = 0; i < ridge_image_entry_count(image); i++)
        kernels += kernels_of(image, i);
    assert_true(kernels > 0);
    assert_non_null(ridge_image_entry(image, 0)->member);
    assert_null(ridge_image_warning(image, 0));
    ridge_image_free(image);
}

/* ---- files that are refused ---- */

static struct refused {
    const char *name, *bytes;
    size_t size;
    ridge_status status;
    const char *message;
} refusals[] = {
    {"empty", "", 0, RIDGE_ERR_FORMAT, "0 bytes that are no cubin, fat binary, PTX, ELF file"},
    {"text", "hello\n", 6, RIDGE_ERR_FORMAT, "6 bytes that are no cubin"},
    {"Windows program", "MZ\x90\0", 4, RIDGE_ERR_UNSUPPORTED, "a Windows object or program"},
    {"Windows object", "\x64\x86\x01\0", 4, RIDGE_ERR_UNSUPPORTED, "a Windows object or program"},
    {"profile", "NVR\0\x01\0\0\0", 8, RIDGE_ERR_UNSUPPORTED, "read as a report"},
    {"thin archive", "!<thin>\n", 8, RIDGE_ERR_UNSUPPORTED, "a thin archive"},
    {"empty archive", "!<arch>\n", 8, RIDGE_ERR_FORMAT, "archive of 8 bytes without CUDA code"},
    {"archive with a torn header", "!<arch>\nx.o/", 12, RIDGE_ERR_FORMAT,
     "no CUDA code that can be read: no member of an archive at byte 8"},
    {"ELF cut in its header", "\177ELF\2\1", 6, RIDGE_ERR_FORMAT, "ELF file cut inside its header"},
    {"ELF of 32 bits",
     "\177ELF\1\1\1"
     "---------------------------------------------------------",
     64, RIDGE_ERR_UNSUPPORTED, "32-bit or big-endian"},
    {"PTX without a target", ".version 9.0\n", 13, RIDGE_ERR_FORMAT, "PTX without a .target"},
    {"container alone", "\x50\xed\x55\xba\1\0\x10\0\0\0\0\0\0\0\0\0", 16, RIDGE_ERR_FORMAT,
     "fat binary of 16 bytes without CUDA code"},
    {"container of another version", "\x50\xed\x55\xba\2\0\x10\0\0\0\0\0\0\0\0\0", 16,
     RIDGE_ERR_FORMAT, "container at byte 0 has version 2 and a header of 16 bytes"},
    {"entry that is too long",
     "\x50\xed\x55\xba\1\0\x10\0\x40\0\0\0\0\0\0\0"
     "\2\0\1\1\x40\0\0\0\xff\0\0\0\0\0\0\0-----------------------------------------------",
     80, RIDGE_ERR_FORMAT,
     "entry at byte 16 has a header of 64 and a payload of 255 bytes, 64 are left"},
};

static void refuses(void **state)
{
    const struct refused *const row = *state;
    uint8_t *const bytes = malloc(row->size + 1);
    ridge_image *image = (ridge_image *)bytes;
    ridge_error err;

    assert_non_null(bytes);
    memcpy(bytes, row->bytes, row->size);
    assert_int_equal(ridge_image_read(bytes, row->size, "image", &image, &err), row->status);
    assert_null(image);
    if (strstr(err.text, row->message) == NULL)
        fail_msg("message: %s", err.text);
    free(bytes);
}

static void refuses_missing_file(void **state)
{
    ridge_image *image;
    ridge_error err;

    (void)state;
    assert_int_equal(ridge_image_open("no such file", &image, &err), RIDGE_ERR_IO);
    assert_null(image);
    ridge_image_free(NULL);
}

/* ---- damage stays where it is ---- */

/* Two copies of a fat binary, one damaged. */
static struct local_damage {
    const char *name, *path;
    size_t offset;
    uint32_t value;
    size_t entries;      /* that are still listed, of eight */
    size_t readable;     /* of those */
    const char *warning; /* NULL: none when listing */
    const char *failure; /* of the entry that cannot be read */
} local_damages[] = {
    {"size of the container", "tiny_none.fatbin.gz", 8, 0x7fffffff, 8, 8,
     "container 0 at byte 0 announces 2147483647 bytes", NULL},
    {"size reaches into the next", "tiny_none.fatbin.gz", 8, 0x8000, 8, 8, NULL, NULL},
    {"header of the first entry", "tiny_none.fatbin.gz", 16 + 4, 8, 7, 7,
     "container 0: entry at byte 16 has a header of 8", NULL},
    {"payload of the first entry", "tiny_none.fatbin.gz", 16 + 8, 0x7fffffff, 7, 7,
     "payload of 2147483647 bytes", NULL},
    {"magic of the second", "tiny_none.fatbin.gz", 25552, 0, 4, 4, "are no fat binary", NULL},
    {"kind of the first entry", "tiny_none.fatbin.gz", 16, 0x01010077, 8, 8, NULL, NULL},
    {"bytes of a cubin", "tiny_none.fatbin.gz", 0x50, 0, 8, 7, NULL, "not a cubin"},
    {"bytes of zstd", "tiny_size.fatbin.gz", 0x60, 0xffffffff, 8, 7, NULL, "zstd data"},
    {"unpacked size of zstd", "tiny_size.fatbin.gz", 16 + 56, 77, 8, 7, NULL,
     "unpacks to more than"},
    {"unpacked size of zstd is larger", "tiny_size.fatbin.gz", 16 + 56, 0x100000, 8, 7, NULL,
     "bytes, not to 1048576"},
    {"unpacked size of zstd is absurd", "tiny_size.fatbin.gz", 16 + 60, 1, 8, 7, NULL,
     "at most 1073741824 are unpacked"},
};

static void keeps_damage_local(void **state)
{
    const struct local_damage *const row = *state;
    file_bytes one = support_data(row->path);
    file_bytes both = {malloc(one.size * 2), one.size * 2};
    ridge_image *image;
    size_t readable = 0;
    size_t i;

    assert_non_null(both.data);
    memcpy(both.data, one.data, one.size);
    memcpy(both.data + one.size, one.data, one.size);
    store_u32(both.data + row->offset, row->value);
    image = read_image(both);
    assert_int_equal(ridge_image_entry_count(image), row->entries);
    for (i = 0; i < row->entries; i++) {
        ridge_loaded loaded = {.text_bytes = 1};
        ridge_error err;
        const ridge_status status = ridge_image_entry_load(image, i, &loaded, &err);

        readable += status == RIDGE_OK;
        if (status != RIDGE_OK) {
            assert_null(loaded.cubin);
            assert_int_equal(loaded.text_bytes, 0);
            assert_int_equal(status, RIDGE_ERR_FORMAT);
            if (row->failure == NULL || strstr(err.text, row->failure) == NULL)
                fail_msg("message: %s", err.text);
        }
    }
    assert_int_equal(readable, row->readable);
    if (row->warning == NULL)
        assert_null(ridge_image_warning(image, 0));
    else if (strstr(ridge_image_warning(image, 0), row->warning) == NULL)
        fail_msg("warning: %s", ridge_image_warning(image, 0));
    ridge_image_free(image);
    support_release(&both);
    support_release(&one);
}

/* LZ4 that announces what it cannot hold costs no memory. */
static void refuses_absurd_lz4(void **state)
{
    file_bytes file = support_data("tiny_speed.fatbin.gz");
    ridge_image *image = read_image(file);
    const size_t payload_at = (size_t)ridge_image_entry(image, 3)->file_offset;
    ridge_loaded loaded;
    ridge_error err;
    size_t header_at;

    (void)state;
    ridge_image_free(image);
    /* The header of the entry is in front, found by its kind. */
    for (header_at = payload_at - 64; file.data[header_at] != 1 || file.data[header_at + 2] != 1;)
        header_at -= 8;
    store_u64(file.data + header_at + 56, 0x3fffffff);
    image = read_image(file);
    assert_int_equal(ridge_image_entry_load(image, 3, &loaded, &err), RIDGE_ERR_FORMAT);
    assert_non_null(strstr(err.text, "of LZ4 announce 1073741823, which they cannot hold"));
    store_u64(file.data + header_at + 56, 1000);
    ridge_image_free(image);
    image = read_image(file);
    assert_int_equal(ridge_image_entry_load(image, 3, &loaded, &err), RIDGE_ERR_FORMAT);
    assert_non_null(strstr(err.text, "LZ4 data damaged"));
    ridge_image_free(image);
    support_release(&file);
}

/* Entries of a few bytes that stand for hundreds of megabytes each are not all unpacked. */
static void bounds_implausible_zstd(void **state)
{
    enum { COUNT = 3, HEADER = 64, ENTRY = HEADER + 8, CONTAINER = 16 };
    uint8_t bytes[CONTAINER + COUNT * ENTRY] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16};
    const file_bytes file = {bytes, sizeof(bytes)};
    ridge_image *image;
    size_t i;

    (void)state;
    store_u64(bytes + 8, (uint64_t)COUNT * ENTRY);
    for (i = 0; i < COUNT; i++) {
        uint8_t *const header = bytes + CONTAINER + i * ENTRY;

        store_u32(header, 0x01010001); /* PTX */
        store_u32(header + 4, HEADER);
        store_u64(header + 8, 8);
        store_u32(header + 28, 90);
        store_u64(header + 40, 0x8001); /* zstd, 64 bits */
        store_u64(header + 56, 100 << 20);
    }
    image = read_image(file);
    assert_int_equal(ridge_image_entry_count(image), COUNT);
    for (i = 0; i < COUNT; i++) {
        ridge_loaded loaded;
        ridge_error err;

        assert_int_equal(ridge_image_entry_load(image, i, &loaded, &err), RIDGE_ERR_FORMAT);
        if ((strstr(err.text, "at most 268435456 bytes in all are unpacked") != NULL) != (i == 2))
            fail_msg("%zu: %s", i, err.text);
    }
    ridge_image_free(image);
}

/* Warnings of a file that is damaged all over are bounded. */
static void bounds_warnings(void **state)
{
    enum { COUNT = 300 };
    file_bytes one = support_data("tiny_hole.fatbin.gz");
    file_bytes file = {calloc(COUNT, 32), (size_t)COUNT * 32};
    uint8_t *grown;
    ridge_image *image;
    size_t i;

    (void)state;
    assert_non_null(file.data);
    for (i = 0; i < COUNT; i++) {
        memcpy(file.data + i * 32, "\x50\xed\x55\xba", 4);
        file.data[i * 32 + 4] = 9;
    }
    grown = realloc(file.data, file.size + one.size);
    assert_non_null(grown);
    memcpy(grown + file.size, one.data, one.size);
    file.data = grown;
    file.size += one.size;
    image = read_image(file);
    assert_int_equal(ridge_image_entry_count(image), 1);
    for (i = 0; ridge_image_warning(image, i) != NULL; i++)
        ;
    assert_int_equal(i, 65);
    assert_non_null(strstr(ridge_image_warning(image, 64), "more parts of the file are damaged"));
    ridge_image_free(image);
    support_release(&file);
    support_release(&one);
}

/* ---- damage anywhere ---- */

static void read_everything(const uint8_t *bytes, size_t size)
{
    uint8_t *const data = malloc(size > 0 ? size : 1);
    ridge_image *image = NULL;
    ridge_error err = {.status = RIDGE_OK};
    size_t i;

    assert_non_null(data);
    memcpy(data, bytes, size);
    if (ridge_image_read(data, size, "image", &image, &err) != RIDGE_OK) {
        assert_null(image);
        assert_true(err.text[0] != '\0' && strchr(err.text, '\n') == NULL);
        free(data);
        return;
    }
    for (i = 0; i < ridge_image_entry_count(image); i++) {
        ridge_loaded loaded;

        if (ridge_image_entry_load(image, i, &loaded, &err) != RIDGE_OK)
            assert_null(loaded.cubin);
        ridge_image_entry_unload(image, i);
    }
    ridge_image_free(image);
    free(data);
}

static struct whole_row {
    const char *name, *path;
    size_t cut_step, flip_step; /* bytes, bits */
} wholes[] = {
    {"damage of a packed fat binary", "tiny_size.fatbin.gz", 7, 31},
    {"damage of a plain fat binary", "tiny_none.fatbin.gz", 61, 397},
    {"damage of LZ4", "tiny_speed.fatbin.gz", 61, 397},
    {"damage of an object", "tiny.o.gz", 37, 97},
    {"damage of a library", "libtiny.so.gz", 97, 397},
};

static void survives_damage(void **state)
{
    const struct whole_row *const row = *state;
    file_bytes file = support_data(row->path);
    size_t i;

    for (i = 0; i < file.size; i += row->cut_step)
        read_everything(file.data, i);
    for (i = 0; i < file.size * 8; i += row->flip_step) {
        file.data[i / 8] ^= (uint8_t)(1u << i % 8);
        read_everything(file.data, file.size);
        file.data[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    support_release(&file);
}

static void survives_damage_of_an_archive(void **state)
{
    file_bytes file = build_archive();
    size_t i;

    (void)state;
    for (i = 0; i < file.size; i += 331)
        read_everything(file.data, i);
    for (i = 0; i < (size_t)60 * 8; i++) { /* of the first header */
        file.data[8 + i / 8] ^= (uint8_t)(1u << i % 8);
        read_everything(file.data, file.size);
        file.data[8 + i / 8] ^= (uint8_t)(1u << i % 8);
    }
    support_release(&file);
}

/* Every allocation of opening and of loading all entries fails once. */
static void survives_lack_of_memory(void **state)
{
    file_bytes file = build_archive();
    size_t nth = 0;
    ridge_status status;

    (void)state;
    do {
        ridge_image *image = (ridge_image *)&file;
        ridge_error err;
        size_t i;

        ridge_memory_fail_at(++nth);
        status = ridge_image_read(file.data, file.size, "image", &image, &err);
        if (status != RIDGE_OK)
            assert_null(image);
        for (i = 0; status == RIDGE_OK && i < ridge_image_entry_count(image); i++) {
            ridge_loaded loaded;

            status = ridge_image_entry_load(image, i, &loaded, &err);
        }
        ridge_memory_fail_at(0);
        if (status != RIDGE_OK)
            assert_int_equal(status, RIDGE_ERR_OUT_OF_MEMORY);
        ridge_image_free(image);
    } while (status != RIDGE_OK);
    assert_true(nth > 50);
    support_release(&file);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, finds_entries, files);
    CASES_ADD_ROWS(&list, describes_entry, entries);
    CASES_ADD_ROWS(&list, equals_plain, packed);
    cases_add(&list, "PTX embedded in a cubin", reads_embedded_ptx, NULL);
    CASES_ADD_ROWS(&list, searches_host, hosts);
    cases_add(&list, "overlapping sections", bounds_overlapping_sections, NULL);
    cases_add(&list, "archive", reads_archive, NULL);
    cases_add(&list, "damaged member", passes_over_damaged_member, NULL);
    cases_add(&list, "archive of a toolkit", reads_toolkit_archive, NULL);
    CASES_ADD_ROWS(&list, refuses, refusals);
    cases_add(&list, "missing file", refuses_missing_file, NULL);
    CASES_ADD_ROWS(&list, keeps_damage_local, local_damages);
    cases_add(&list, "LZ4 that announces too much", refuses_absurd_lz4, NULL);
    cases_add(&list, "zstd that announces too much, often", bounds_implausible_zstd, NULL);
    cases_add(&list, "number of warnings", bounds_warnings, NULL);
    CASES_ADD_ROWS(&list, survives_damage, wholes);
    cases_add(&list, "damage of an archive", survives_damage_of_an_archive, NULL);
    cases_add(&list, "lack of memory", survives_lack_of_memory, NULL);
    return cases_run(&list, "image");
}
