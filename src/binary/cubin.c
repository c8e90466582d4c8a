/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a cubin: an ELF64 file whose sections belong to kernels by name. For a kernel k,
 * .text.k is the code, .nv.info.k a stream of attributes, .nv.shared.k reserves its static shared
 * memory, .nv.constant0.k holds its parameters. .nv.info holds attributes that name a symbol.
 * docs/formats/cubin.md describes the fields; two header styles exist (toolkits to 12.x, and 13).
 *
 * Sections are matched through one sorted table of functions, and the sum of all section names, as
 * that of their contents, is held to a small multiple of the file, so that a hostile file costs no more than n log n. */
#include "ridge/binary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binary/binary_internal.h"

enum {
    HEADER_BYTES = 64,
    SECTION_BYTES = 64,
    SYMBOL_BYTES = 24,
    MACHINE_CUDA = 190,
    OSABI_OLD =
        0x33, /* e_version is the toolkit x 10, the chip stands in the low byte of e_flags */
    OSABI_NEW = 0x41, /* CUDA 13: the chip stands in the second byte of e_flags */
    TYPE_SYMBOLS = 2, /* sh_type */
    TYPE_RELA = 4,
    TYPE_NOTE = 7,
    TYPE_NOBITS = 8,
    TYPE_REL = 9,
    TYPE_CUDA_GLOBAL = 0x70000007, /* as NOBITS, in relocatable files: global, its initial */
    TYPE_CUDA_SHARED = 0x7000000a, /* values, local, shared; none of them is read */
    SYMBOL_FUNCTION = 2,           /* low four bits of st_info */
    SYMBOL_IS_KERNEL = 0x10,       /* in st_other */
    INDEX_ESCAPE = 0xffff,         /* e_shstrndx: the index is in section 0 */
    SHARED_RESERVE_SM = 90,        /* from here on .nv.shared.k of linked code includes
                                      the driver's share */
    SHARED_RESERVE_BYTES = 1024,
    NAMES_PER_FILE = 4, /* section names together are at most this many times the file */
    BYTES_PER_FILE = 4, /* and so are their contents */
    RELOCATABLE = 1,    /* e_type */
    FIRST_SM_WITH_ARCH = 90,
    OLD_FLAG_ARCH = 0x800, /* e_flags: an "a" target; toolkit 9 set it on sm_60 too */
    NEW_FLAG_ARCH = 0x8,   /* by LLVM's BinaryFormat/ELF.h; nvcc 13.0 does not set it */
};

static ridge_status out_of_memory(ridge_error *err)
{
    return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory reading a cubin");
}

/* ---- sections ---- */

/* Reads a section header; its data is empty for one without bytes in the file. */
static ridge_status read_section(const ridge_cubin *cubin, size_t index, cubin_section *section,
                                 ridge_error *err)
{
    const size_t at = cubin->sections_offset + index * SECTION_BYTES;
    ridge_cursor cursor = ridge_cursor_at(cubin->file.data + at, SECTION_BYTES);
    uint64_t offset;
    bool ok = true;

    section->name_offset = ridge_read_u32(&cursor);
    section->type = ridge_read_u32(&cursor);
    section->flags = ridge_read_u64(&cursor);
    ridge_skip(&cursor, sizeof(uint64_t)); /* address */
    offset = ridge_read_u64(&cursor);
    section->size = ridge_read_u64(&cursor);
    section->link = ridge_read_u32(&cursor);
    section->info = ridge_read_u32(&cursor);
    section->data.data = NULL;
    section->data.size = 0;
    if (index == 0 || section->type == 0 || section->type == TYPE_NOBITS ||
        (section->type >= TYPE_CUDA_GLOBAL && section->type <= TYPE_CUDA_SHARED))
        return RIDGE_OK;
    section->data = ridge_slice_part(cubin->file, offset, section->size, &ok);
    if (!ok)
        return ridge_fail(
            err, RIDGE_ERR_FORMAT, "section %zu at offset %llu has %llu bytes, the cubin has %zu",
            index, (unsigned long long)offset, (unsigned long long)section->size, cubin->file.size);
    return RIDGE_OK;
}

/* Sets every section's name: a NUL-terminated string inside the name table. */
static ridge_status name_sections(ridge_cubin *cubin, size_t names_index, ridge_error *err)
{
    ridge_slice names;
    size_t total_bytes = 0;
    size_t i;

    if (names_index >= cubin->section_count)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "section names in section %zu of %zu", names_index,
                          cubin->section_count);
    names = cubin->sections[names_index].data;
    for (i = 0; i < cubin->section_count; i++) {
        cubin_section *const section = &cubin->sections[i];
        const char *nul;

        section->name = "";
        if (names.size == 0 && section->name_offset == 0)
            continue;
        if (section->name_offset >= names.size)
            return ridge_fail(err, RIDGE_ERR_FORMAT,
                              "name of section %zu at %u of a table of %zu bytes", i,
                              section->name_offset, names.size);
        section->name = (const char *)names.data + section->name_offset;
        nul = memchr(section->name, 0, names.size - section->name_offset);
        if (nul == NULL)
            return ridge_fail(err, RIDGE_ERR_FORMAT, "name of section %zu has no end", i);
        total_bytes += (size_t)(nul - section->name);
        if (total_bytes / NAMES_PER_FILE > cubin->file.size)
            return ridge_fail(err, RIDGE_ERR_FORMAT,
                              "names of %zu sections overlap: %zu bytes in a cubin of %zu", i + 1,
                              total_bytes, cubin->file.size);
    }
    return RIDGE_OK;
}

static ridge_status read_sections(ridge_cubin *cubin, size_t names_index, ridge_error *err)
{
    cubin_section first;
    size_t total_bytes = 0;
    size_t room;
    size_t i;
    ridge_status status;

    if (cubin->sections_offset > cubin->file.size ||
        cubin->file.size - cubin->sections_offset < SECTION_BYTES)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "section table at %zu of a cubin of %zu bytes",
                          cubin->sections_offset, cubin->file.size);
    room = (cubin->file.size - cubin->sections_offset) / SECTION_BYTES;
    status = read_section(cubin, 0, &first, err);
    if (status != RIDGE_OK)
        return status;
    if (cubin->section_count == 0) /* too many for 16 bits */
        cubin->section_count = first.size < SIZE_MAX ? (size_t)first.size : SIZE_MAX;
    if (names_index == INDEX_ESCAPE)
        names_index = first.link;
    if (cubin->section_count > room)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "%zu sections announced, room for %zu",
                          cubin->section_count, room);
    cubin->sections = ridge_alloc_array(&cubin->arena, cubin->section_count, sizeof(first));
    if (cubin->sections == NULL)
        return out_of_memory(err);
    for (i = 0; i < cubin->section_count; i++) {
        status = read_section(cubin, i, &cubin->sections[i], err);
        if (status != RIDGE_OK)
            return status;
        total_bytes += cubin->sections[i].data.size;
        if (total_bytes / BYTES_PER_FILE > cubin->file.size)
            return ridge_fail(err, RIDGE_ERR_FORMAT,
                              "%zu sections overlap: %zu bytes in a cubin of %zu", i + 1,
                              total_bytes, cubin->file.size);
    }
    return name_sections(cubin, names_index, err);
}

/* The part of name behind a prefix, NULL when it has another. */
static const char *after(const char *name, const char *prefix)
{
    const size_t length = strlen(prefix);

    return strncmp(name, prefix, length) == 0 ? name + length : NULL;
}

/* ---- header ---- */

static ridge_status read_header(ridge_cubin *cubin, size_t *names_index, ridge_error *err)
{
    static const uint8_t magic[] = {0x7f, 'E', 'L', 'F', 2, 1}; /* 64 bits, little endian */
    ridge_cursor cursor = ridge_cursor_of(cubin->file);
    uint8_t os_abi;
    unsigned type, machine, section_bytes;
    uint32_t version, flags;

    if (cubin->file.size < HEADER_BYTES || memcmp(cubin->file.data, magic, sizeof(magic)) != 0)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "not a cubin: no 64-bit little-endian ELF header in %zu bytes",
                          cubin->file.size);
    ridge_skip(&cursor, 7);
    os_abi = ridge_read_u8(&cursor);
    ridge_skip(&cursor, 8); /* ABI version, padding */
    type = ridge_read_u16(&cursor);
    machine = ridge_read_u16(&cursor);
    version = ridge_read_u32(&cursor);
    ridge_skip(&cursor, 16); /* entry point, program headers */
    cubin->sections_offset = (size_t)ridge_read_u64(&cursor);
    flags = ridge_read_u32(&cursor);
    ridge_skip(&cursor, 6); /* sizes of the header and of program headers, their count */
    section_bytes = ridge_read_u16(&cursor);
    cubin->section_count = ridge_read_u16(&cursor);
    *names_index = ridge_read_u16(&cursor);
    if (machine != MACHINE_CUDA)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "not a cubin: ELF machine %u, expected %d (CUDA)",
                          machine, MACHINE_CUDA);
    if (os_abi != OSABI_OLD && os_abi != OSABI_NEW)
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "cubin with ELF OS ABI 0x%02x, known are 0x33 and 0x41", os_abi);
    if (section_bytes != SECTION_BYTES)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "section headers of %u bytes, expected %d",
                          section_bytes, SECTION_BYTES);
    cubin->provenance.is_relocatable = type == RELOCATABLE;
    cubin->provenance.virtual_sm = -1;
    if (os_abi == OSABI_NEW) {
        cubin->sm = (int)(flags >> 8 & 0xff);
        cubin->toolkit_major = CUBIN_TOOLKIT_WITH_SPILLS;
    } else {
        cubin->sm = (int)(flags & 0xff);
        if ((flags >> 16 & 0xff) != 0)
            cubin->provenance.virtual_sm = (int)(flags >> 16 & 0xff);
        cubin->toolkit_major = (int)(version / 10);
        if (version >= 10 && version < 10000)
            snprintf(cubin->toolkit, sizeof(cubin->toolkit), "%u.%u", version / 10, version % 10);
    }
    if (cubin->sm >= FIRST_SM_WITH_ARCH &&
        (flags & (os_abi == OSABI_NEW ? NEW_FLAG_ARCH : OLD_FLAG_ARCH)) != 0)
        cubin->provenance.suffix = RIDGE_TARGET_ARCH;
    return RIDGE_OK;
}

/* ---- functions ---- */

/* A .text section before it becomes a function. */
typedef struct text_section {
    const char *name; /* of the function */
    size_t index;
} text_section;

static int compare_texts(const void *a, const void *b)
{
    const text_section *const left = a;
    const text_section *const right = b;
    const int order = strcmp(left->name, right->name);

    return order != 0 ? order : (left->index > right->index) - (left->index < right->index);
}

ridge_function *cubin_find_function(const ridge_cubin *cubin, const char *name)
{
    size_t low = 0;
    size_t high = cubin->function_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (strcmp(cubin->functions[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < cubin->function_count && strcmp(cubin->functions[low].name, name) == 0)
        return &cubin->functions[low];
    return NULL;
}

static void init_function(ridge_function *function, const char *name, const cubin_section *text)
{
    memset(function, 0, sizeof(*function));
    function->name = name;
    function->code = text->data.data;
    function->code_bytes = text->data.size;
    /* To sm_89 the section header has the registers, in older files also the barriers. */
    function->registers_per_thread = text->info >> 24 != 0 ? (int)(text->info >> 24) : -1;
    function->barriers = (int)(text->flags >> 20 & 0x7f);
    function->local_bytes = -1;
    function->parameter_bytes = -1;
    function->max_registers = -1;
    function->spill_store_bytes = -1;
    function->spill_load_bytes = -1;
    function->min_blocks = -1;
    function->stack_bytes = -1;
    function->constant_bytes = -1;
}

static ridge_status collect_functions(ridge_cubin *cubin, ridge_error *err)
{
    text_section *texts = NULL;
    size_t count = 0;
    size_t i;

    for (i = 0; i < cubin->section_count; i++)
        if (after(cubin->sections[i].name, ".text.") != NULL)
            count++;
    texts = ridge_calloc(count, sizeof(*texts));
    cubin->functions = ridge_alloc_array(&cubin->arena, count, sizeof(*cubin->functions));
    cubin->lines = ridge_alloc_array(&cubin->arena, count, sizeof(*cubin->lines));
    cubin->helper_frames = ridge_alloc_array(&cubin->arena, count, sizeof(*cubin->helper_frames));
    cubin->attributes = ridge_alloc_array(&cubin->arena, count, sizeof(*cubin->attributes));
    if (texts == NULL || cubin->functions == NULL || cubin->lines == NULL ||
        cubin->helper_frames == NULL || cubin->attributes == NULL) {
        ridge_free(texts);
        return out_of_memory(err);
    }
    count = 0;
    for (i = 0; i < cubin->section_count; i++) {
        const text_section text = {after(cubin->sections[i].name, ".text."), i};

        if (text.name != NULL)
            texts[count++] = text;
    }
    qsort(texts, count, sizeof(*texts), compare_texts);
    for (i = 0; i < count; i++) {
        init_function(&cubin->functions[i], texts[i].name, &cubin->sections[texts[i].index]);
        cubin->helper_frames[i] = -1;
        cubin->sections[texts[i].index].function = &cubin->functions[i];
    }
    cubin->function_count = count;
    ridge_free(texts);
    return RIDGE_OK;
}

bool cubin_symbol(const ridge_cubin *cubin, uint64_t index, cubin_symbol_row *row)
{
    ridge_cursor cursor;
    size_t section;

    memset(row, 0, sizeof(*row));
    if (index >= cubin->symbols.size / SYMBOL_BYTES)
        return false;
    cursor = ridge_cursor_at(cubin->symbols.data + (size_t)index * SYMBOL_BYTES, SYMBOL_BYTES);
    ridge_skip(&cursor, 4); /* name */
    row->type = ridge_read_u8(&cursor) & 0xf;
    row->other = ridge_read_u8(&cursor);
    section = ridge_read_u16(&cursor);
    row->value = ridge_read_u64(&cursor);
    row->size = ridge_read_u64(&cursor);
    row->function = section < cubin->section_count ? cubin->sections[section].function : NULL;
    return true;
}

static void mark_kernels(ridge_cubin *cubin)
{
    const size_t count = cubin->symbols.size / SYMBOL_BYTES;
    size_t i;

    for (i = 0; i < count; i++) {
        cubin_symbol_row row;

        if (cubin_symbol(cubin, i, &row) && row.function != NULL && row.type == SYMBOL_FUNCTION &&
            (row.other & SYMBOL_IS_KERNEL) != 0)
            row.function->is_kernel = true;
    }
}

/* ---- what belongs to a function ---- */

static void set_shared(const ridge_cubin *cubin, ridge_function *function, uint64_t size)
{
    const bool has_reserve = cubin->sm >= SHARED_RESERVE_SM && !cubin->provenance.is_relocatable;
    uint64_t reserve = has_reserve ? SHARED_RESERVE_BYTES : 0;

    if (reserve > size)
        reserve = size;
    function->static_shared_bytes = cubin_int(size - reserve);
}

/* The function that a section belongs to: sh_info is the index of its .text, in files that have no
 * such index the name decides. */
static ridge_function *owner(const ridge_cubin *cubin, const cubin_section *section,
                             const char *name)
{
    if (section->info < cubin->section_count && cubin->sections[section->info].function != NULL)
        return cubin->sections[section->info].function;
    return cubin_find_function(cubin, name);
}

/* Sections that belong to one function. */
static ridge_status read_function_section(ridge_cubin *cubin, const cubin_section *section,
                                          ridge_error *err)
{
    ridge_function *function;
    const char *name;

    name = after(section->name, ".nv.info.");
    if (name != NULL) {
        function = owner(cubin, section, name);
        if (function == NULL)
            return RIDGE_OK;
        cubin->attributes[function - cubin->functions] = section->data;
        return cubin_read_attributes(cubin, section, function, err);
    }
    name = after(section->name, ".nv.shared.");
    if (name != NULL) {
        function = owner(cubin, section, name);
        if (function != NULL)
            set_shared(cubin, function, section->size);
        return RIDGE_OK;
    }
    name = after(section->name, ".nv.constant0.");
    if (name != NULL) {
        function = owner(cubin, section, name);
        if (function != NULL)
            function->constant_bytes = cubin_int(section->size);
    }
    return RIDGE_OK;
}

/* Sections that serve the whole file, kept or read before those of functions. */
static ridge_status read_file_section(ridge_cubin *cubin, const cubin_section *section,
                                      ridge_error *err)
{
    if (strcmp(section->name, ".debug_line") == 0) {
        cubin->debug_line = section->data;
    } else if (strcmp(section->name, ".debug_str") == 0) {
        cubin->debug_str = section->data;
    } else if (strcmp(section->name, ".rel.debug_line") == 0 && section->type == TYPE_REL) {
        cubin->line_relocations = section->data;
        cubin->line_relocations_have_addend = false;
    } else if (strcmp(section->name, ".rela.debug_line") == 0 && section->type == TYPE_RELA) {
        cubin->line_relocations = section->data;
        cubin->line_relocations_have_addend = true;
    } else if (strcmp(section->name, ".note.nv.tkinfo") == 0 && section->type == TYPE_NOTE) {
        return cubin_read_toolkit_note(cubin, section->data, err);
    } else if (strcmp(section->name, ".note.nv.cuinfo") == 0 && section->type == TYPE_NOTE) {
        cubin_read_device_note(cubin, section->data);
    } else if (strcmp(section->name, ".nv.compat") == 0) {
        cubin_read_compat(cubin, section->data);
    } else if (strcmp(section->name, ".nv_debug_ptx_txt") == 0) {
        return cubin_read_embedded_ptx(cubin, section->data, err);
    } else if (strcmp(section->name, ".nv.info") == 0) {
        return cubin_read_attributes(cubin, section, NULL, err);
    }
    return RIDGE_OK;
}

static ridge_status read_all(ridge_cubin *cubin, ridge_error *err)
{
    size_t names_index = 0;
    size_t i;
    ridge_status status;

    status = read_header(cubin, &names_index, err);
    if (status != RIDGE_OK)
        return status;
    status = read_sections(cubin, names_index, err);
    if (status != RIDGE_OK)
        return status;
    status = collect_functions(cubin, err);
    if (status != RIDGE_OK)
        return status;
    for (i = 0; i < cubin->section_count; i++)
        if (cubin->sections[i].type == TYPE_SYMBOLS)
            cubin->symbols = cubin->sections[i].data;
    mark_kernels(cubin);
    for (i = 0; i < cubin->section_count && status == RIDGE_OK; i++)
        status = read_file_section(cubin, &cubin->sections[i], err);
    for (i = 0; i < cubin->section_count && status == RIDGE_OK; i++)
        status = read_function_section(cubin, &cubin->sections[i], err);
    cubin_find_recursion(cubin);
    return status;
}

/* ---- public ---- */

ridge_status ridge_cubin_read(const void *data, size_t size_bytes, ridge_cubin **out,
                              ridge_error *err)
{
    ridge_cubin *cubin;
    ridge_status status;

    *out = NULL;
    cubin = ridge_calloc(1, sizeof(*cubin));
    if (cubin == NULL)
        return out_of_memory(err);
    ridge_arena_init(&cubin->arena);
    ridge_arena_init(&cubin->line_arena);
    cubin->file.data = data;
    cubin->file.size = size_bytes;
    status = read_all(cubin, err);
    if (status != RIDGE_OK)
        goto out;

    *out = cubin; /* given to the caller */
    cubin = NULL;
out:
    ridge_cubin_free(cubin);
    return status;
}

void ridge_cubin_free(ridge_cubin *cubin)
{
    size_t i;

    if (cubin == NULL)
        return;
    for (i = 0; i < cubin->function_count; i++)
        ridge_free(cubin->lines[i].rows);
    ridge_arena_release(&cubin->line_arena);
    ridge_arena_release(&cubin->arena);
    ridge_free(cubin);
}

int ridge_cubin_sm(const ridge_cubin *cubin)
{
    return cubin->sm;
}

const char *ridge_cubin_toolkit(const ridge_cubin *cubin)
{
    return cubin->toolkit[0] != '\0' ? cubin->toolkit : NULL;
}

const ridge_provenance *ridge_cubin_provenance(const ridge_cubin *cubin)
{
    return &cubin->provenance;
}

size_t ridge_cubin_function_count(const ridge_cubin *cubin)
{
    return cubin->function_count;
}

const ridge_function *ridge_cubin_function_at(const ridge_cubin *cubin, size_t index)
{
    return index < cubin->function_count ? &cubin->functions[index] : NULL;
}

const ridge_function *ridge_cubin_function(const ridge_cubin *cubin, const char *name)
{
    return cubin_find_function(cubin, name);
}

bool ridge_cubin_data(const ridge_cubin *cubin, size_t index, const uint8_t **data,
                      size_t *size_bytes)
{
    *data = NULL;
    *size_bytes = 0;
    for (size_t i = 0; i < cubin->section_count; i++) {
        const cubin_section *const section = &cubin->sections[i];
        const char *const bank = after(section->name, ".nv.constant");

        /* Bank 0 is the driver's, its bytes in the file are zeros. */
        if ((bank == NULL || bank[0] == '0') && strcmp(section->name, ".nv.global.init") != 0)
            continue;
        if (index-- > 0)
            continue;
        *data = section->data.data;
        *size_bytes = section->data.size;
        return true;
    }
    return false;
}
