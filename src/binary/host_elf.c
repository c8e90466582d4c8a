/* SPDX-License-Identifier: Apache-2.0
 *
 * Objects, shared libraries and programs of the host: ELF files whose sections .nv_fatbin and
 * __nv_relfatbin are fat binaries. The wrappers in .nvFatBinSegment, which point at them, are not
 * needed and would have to be relocated in objects. Code that is embedded as data (cuFFT holds nearly
 * all of its code in .ldata) is looked for in the sections of data, and in the whole of a file that
 * was stripped of its section table. */
#include <string.h>

#include "binary/image_internal.h"

enum {
    HEADER_BYTES = 64,
    SECTION_BYTES = 64,
    SEGMENT_BYTES = 56,
    CLASS_64 = 2,
    LITTLE_ENDIAN_DATA = 1,
    TYPE_OBJECT = 1,
    TYPE_SHARED = 3,
    SEGMENT_INTERPRETER = 3,
    SECTION_BYTES_OF_PROGRAM = 1, /* SHT_PROGBITS */
    SECTION_NOBITS = 8,
    FLAG_IN_MEMORY = 2,
    FLAG_CODE = 4,
    BYTES_PER_FILE = 4, /* what is read of all sections is at most this many times the file */
    NAME_BYTES_MAX = 256,
    INDEX_ESCAPE = 0xffff,
};

static const char *const section_names[] = {".nv_fatbin", "__nv_relfatbin"};

typedef struct host_elf {
    ridge_slice file;
    unsigned type;
    uint64_t segments_at, sections_at;
    unsigned segment_bytes, segment_count, section_bytes;
    uint64_t section_count, names_index;
} host_elf;

typedef struct host_section {
    uint32_t name_at, type, link;
    uint64_t flags, offset, size;
} host_section;

static void read_header(host_elf *elf)
{
    ridge_cursor cursor = ridge_cursor_of(elf->file);

    ridge_skip(&cursor, 16);
    elf->type = ridge_read_u16(&cursor);
    ridge_skip(&cursor, 14); /* machine, version, entry point */
    elf->segments_at = ridge_read_u64(&cursor);
    elf->sections_at = ridge_read_u64(&cursor);
    ridge_skip(&cursor, 6);
    elf->segment_bytes = ridge_read_u16(&cursor);
    elf->segment_count = ridge_read_u16(&cursor);
    elf->section_bytes = ridge_read_u16(&cursor);
    elf->section_count = ridge_read_u16(&cursor);
    elf->names_index = ridge_read_u16(&cursor);
}

/* Zeros when it is not all in the file. */
static void read_section(const host_elf *elf, uint64_t index, host_section *out)
{
    bool ok = true;
    ridge_cursor cursor = ridge_cursor_of(
        ridge_slice_part(elf->file, elf->sections_at + index * SECTION_BYTES, SECTION_BYTES, &ok));

    out->name_at = ridge_read_u32(&cursor);
    out->type = ridge_read_u32(&cursor);
    out->flags = ridge_read_u64(&cursor);
    ridge_skip(&cursor, 8);
    out->offset = ridge_read_u64(&cursor);
    out->size = ridge_read_u64(&cursor);
    out->link = ridge_read_u32(&cursor);
}

/* Reads where the names are; false without a section table that can be believed. */
static bool read_table(host_elf *elf, ridge_slice *names)
{
    host_section section;
    bool ok = true;

    if (elf->section_bytes != SECTION_BYTES || elf->sections_at == 0 ||
        elf->sections_at > elf->file.size)
        return false;
    read_section(elf, 0, &section);
    if (elf->section_count == 0) /* too many for 16 bits */
        elf->section_count = section.size;
    if (elf->names_index == INDEX_ESCAPE)
        elf->names_index = section.link;
    if (elf->section_count > (elf->file.size - elf->sections_at) / SECTION_BYTES ||
        elf->names_index >= elf->section_count)
        return false;
    read_section(elf, elf->names_index, &section);
    *names = ridge_slice_part(elf->file, section.offset, section.size, &ok);
    return ok;
}

/* The name as one of section_names; NULL for any other. */
static const char *known_name(ridge_slice names, uint32_t at)
{
    size_t i;

    for (i = 0; i < sizeof(section_names) / sizeof(section_names[0]); i++) {
        const size_t bytes = strlen(section_names[i]) + 1;

        if (at < names.size && names.size - at >= bytes &&
            memcmp(names.data + at, section_names[i], bytes) == 0)
            return section_names[i];
    }
    return NULL;
}

/* Adds what a section of fat binaries holds, or as much of it as there is. */
static ridge_status scan_fatbin(ridge_image *image, const host_elf *elf, const image_place *place,
                                const host_section *section, ridge_error *err)
{
    bool ok = true;
    ridge_slice bytes = ridge_slice_part(elf->file, section->offset, section->size, &ok);

    if (!ok) {
        const ridge_status status = image_warn(
            image, err, "section %s has %llu bytes at %llu of a file of %zu", place->section,
            (unsigned long long)section->size, (unsigned long long)section->offset, elf->file.size);

        if (status != RIDGE_OK || section->offset >= elf->file.size)
            return status;
        bytes = ridge_slice_part(elf->file, section->offset, elf->file.size - section->offset, &ok);
    }
    return fatbin_scan(image, place, bytes, err);
}

/* Looks through a section of data. Compilers align embedded code to FATBIN_STEP at least. */
static ridge_status search_data(ridge_image *image, const host_elf *elf, const char *member,
                                ridge_slice names, const host_section *section, ridge_error *err)
{
    const size_t skipped = (FATBIN_STEP - section->offset % FATBIN_STEP) % FATBIN_STEP;
    const size_t first = image->entry_count;
    image_place place = {member, ""};
    bool ok = true;
    ridge_slice bytes, name;
    ridge_status status;
    size_t i;

    if (section->size <= skipped)
        return RIDGE_OK;
    bytes = ridge_slice_part(elf->file, section->offset + skipped, section->size - skipped, &ok);
    status = fatbin_search(image, &place, bytes, err);
    if (status != RIDGE_OK || image->entry_count == first || section->name_at >= names.size)
        return status;
    name.data = names.data + section->name_at;
    name.size = 0;
    while (name.size < names.size - section->name_at && name.size < NAME_BYTES_MAX &&
           name.data[name.size] != '\0')
        name.size++;
    place.section = ridge_alloc_text(&image->arena, (const char *)name.data, name.size);
    if (place.section == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory listing an ELF file");
    for (i = first; i < image->entry_count; i++)
        image->entries[i].about.section = place.section;
    return RIDGE_OK;
}

static ridge_status scan_sections(ridge_image *image, const host_elf *elf, const char *member,
                                  ridge_slice names, ridge_error *err)
{
    ridge_status status = RIDGE_OK;
    uint64_t total_bytes = 0;
    uint64_t i;

    for (i = 1; i < elf->section_count && status == RIDGE_OK; i++) {
        image_place place = {.member = member};
        host_section section;

        read_section(elf, i, &section);
        if (section.type == SECTION_NOBITS)
            continue;
        total_bytes += section.size < elf->file.size ? section.size : elf->file.size;
        if (total_bytes / BYTES_PER_FILE > elf->file.size)
            return image_warn(image, err, "sections overlap; those from %llu on are not read",
                              (unsigned long long)i);
        place.section = known_name(names, section.name_at);
        if (place.section != NULL)
            status = scan_fatbin(image, elf, &place, &section, err);
        else if (section.type == SECTION_BYTES_OF_PROGRAM &&
                 (section.flags & FLAG_IN_MEMORY) != 0 && (section.flags & FLAG_CODE) == 0)
            status = search_data(image, elf, member, names, &section, err);
    }
    return status;
}

/* A program that is position independent is a shared object with an interpreter. */
static ridge_image_kind kind_of(const host_elf *elf)
{
    unsigned i;

    if (elf->type == TYPE_OBJECT)
        return RIDGE_IMAGE_OBJECT;
    if (elf->type != TYPE_SHARED)
        return RIDGE_IMAGE_EXECUTABLE;
    for (i = 0; i < elf->segment_count && elf->segment_bytes == SEGMENT_BYTES; i++) {
        bool ok = true;
        ridge_cursor cursor = ridge_cursor_of(ridge_slice_part(
            elf->file, elf->segments_at + (uint64_t)i * SEGMENT_BYTES, SEGMENT_BYTES, &ok));

        if (ridge_read_u32(&cursor) == SEGMENT_INTERPRETER)
            return RIDGE_IMAGE_EXECUTABLE;
    }
    return RIDGE_IMAGE_SHARED;
}

ridge_status host_elf_scan(ridge_image *image, const char *member, ridge_slice bytes,
                           ridge_image_kind *kind, ridge_error *err)
{
    host_elf elf = {.file = bytes};
    const image_place whole = {member, ""};
    ridge_slice names;

    if (bytes.size < HEADER_BYTES)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "ELF file cut inside its header: %zu bytes",
                          bytes.size);
    if (bytes.data[4] != CLASS_64 || bytes.data[5] != LITTLE_ENDIAN_DATA)
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "a 32-bit or big-endian ELF file, for which CUDA has no host code");
    read_header(&elf);
    if (kind != NULL)
        *kind = kind_of(&elf);
    if (read_table(&elf, &names))
        return scan_sections(image, &elf, member, names, err);
    return fatbin_search(image, &whole, bytes, err);
}

bool ridge_host_code(const void *data, size_t size_bytes, size_t index, const uint8_t **code,
                     size_t *code_bytes)
{
    host_elf elf = {.file = {data, size_bytes}};
    ridge_slice names;

    *code = NULL;
    *code_bytes = 0;
    if (image_identify(elf.file) != IMAGE_HOST_ELF || size_bytes < HEADER_BYTES ||
        elf.file.data[4] != CLASS_64 || elf.file.data[5] != LITTLE_ENDIAN_DATA)
        return false;
    read_header(&elf);
    if (!read_table(&elf, &names))
        return false;
    for (uint64_t i = 1; i < elf.section_count; i++) {
        host_section section;
        bool ok = true;
        ridge_slice bytes;

        read_section(&elf, i, &section);
        if (section.type != SECTION_BYTES_OF_PROGRAM || (section.flags & FLAG_CODE) == 0)
            continue;
        bytes = ridge_slice_part(elf.file, section.offset, section.size, &ok);
        if (!ok || index-- > 0)
            continue;
        *code = bytes.data;
        *code_bytes = bytes.size;
        return true;
    }
    return false;
}
