/* SPDX-License-Identifier: Apache-2.0
 *
 * Fat binaries: containers of entries, each a cubin, PTX or LTO IR with a header of its own.
 * docs/formats/fatbin.md describes the fields. Only headers are read here, so that a library of
 * half a gigabyte is listed by touching a few thousand pages.
 *
 * Damage is kept local: behind an entry whose header cannot be believed the next that can is looked
 * for, and behind a container whose size is wrong the next magic. */
#include <string.h>

#include "binary/image_internal.h"

enum {
    CONTAINER_BYTES = 16,
    CONTAINER_VERSION = 1,
    ENTRY_BYTES = 64,         /* of the header without extras */
    HEADER_BYTES_SANE = 4096, /* of one that is looked for; at most 144 seen */
    KIND_PTX = 1,
    KIND_CUBIN = 2,
    KIND_LTO = 8,
    CUBIN_TYPE_AT = 16,
    CUBIN_RELOCATABLE = 1,
};

static const uint8_t magic[] = {0x50, 0xed, 0x55, 0xba};

enum {
    FLAG_64_BITS = 0x1,
    FLAG_DEBUG = 0x2,
    FLAG_OLD_PACKING = 0x1000, /* of a compressor before LZ4, by public decoders; not seen */
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
    FLAG_ARCH = 0x100000,
    FLAG_FAMILY = 0x200000,
};

bool fatbin_begins(ridge_slice bytes)
{
    return bytes.size >= CONTAINER_BYTES && memcmp(bytes.data, magic, sizeof(magic)) == 0;
}

/* ---- entries ---- */

typedef struct entry_header {
    unsigned kind;
    size_t header_bytes;
    uint64_t payload_bytes, packed_bytes, unpacked_bytes, flags;
    uint32_t options_at, identifier_at, identifier_bytes, sm;
    unsigned minor, major;
} entry_header;

static void read_header(ridge_slice bytes, entry_header *out)
{
    ridge_cursor cursor = ridge_cursor_of(bytes);

    out->kind = ridge_read_u16(&cursor);
    ridge_skip(&cursor, 2);
    out->header_bytes = ridge_read_u32(&cursor);
    out->payload_bytes = ridge_read_u64(&cursor);
    out->packed_bytes = ridge_read_u32(&cursor);
    out->options_at = ridge_read_u32(&cursor);
    out->minor = ridge_read_u16(&cursor);
    out->major = ridge_read_u16(&cursor);
    out->sm = ridge_read_u32(&cursor);
    out->identifier_at = ridge_read_u32(&cursor);
    out->identifier_bytes = ridge_read_u32(&cursor);
    out->flags = ridge_read_u64(&cursor);
    ridge_skip(&cursor, 8);
    out->unpacked_bytes = ridge_read_u64(&cursor);
}

/* A copy of a text in the header without what is NUL around it; NULL when there is none. */
static ridge_status copy_text(ridge_image *image, ridge_slice header, uint64_t offset,
                              uint64_t size, const char **out, ridge_error *err)
{
    bool ok = true;
    ridge_slice text = ridge_slice_part(header, offset, size, &ok);

    *out = NULL;
    while (text.size > 0 && (text.data[text.size - 1] == '\0' || text.data[text.size - 1] == ' '))
        text.size--;
    while (text.size > 0 && (*text.data == '\0' || *text.data == ' ')) {
        text.data++;
        text.size--;
    }
    if (text.size == 0)
        return RIDGE_OK;
    *out = ridge_alloc_text(&image->arena, (const char *)text.data, text.size);
    if (*out == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory listing a fat binary");
    return RIDGE_OK;
}

static ridge_status read_texts(ridge_image *image, const entry_header *header, ridge_slice bytes,
                               ridge_entry *about, ridge_error *err)
{
    ridge_status status;

    status = copy_text(image, bytes, header->identifier_at, header->identifier_bytes,
                       &about->identifier, err);
    /* Of a cubin it is a copy of its .nv.compat. */
    if (status == RIDGE_OK && header->options_at != 0 && header->kind != KIND_CUBIN) {
        bool ok = true;
        ridge_cursor cursor = ridge_cursor_of(ridge_slice_part(bytes, header->options_at, 8, &ok));
        const uint32_t at = ridge_read_u32(&cursor);
        const uint32_t size = ridge_read_u32(&cursor);

        status = copy_text(image, bytes, at, size, &about->options, err);
    }
    return status;
}

static ridge_packing packing_of(uint64_t flags)
{
    if ((flags & FLAG_ZSTD) != 0)
        return RIDGE_PACKED_ZSTD;
    if ((flags & FLAG_LZ4) != 0)
        return RIDGE_PACKED_LZ4;
    return (flags & FLAG_OLD_PACKING) != 0 ? RIDGE_PACKED_UNKNOWN : RIDGE_PACKED_NOT;
}

static ridge_entry_kind kind_of(unsigned kind)
{
    switch (kind) {
    case KIND_PTX:
        return RIDGE_ENTRY_PTX;
    case KIND_CUBIN:
        return RIDGE_ENTRY_CUBIN;
    case KIND_LTO:
        return RIDGE_ENTRY_LTO;
    default:
        return RIDGE_ENTRY_UNKNOWN;
    }
}

/* Relocatable code: of its section, of an option that nvcc records in PTX, of the type of a cubin
 * that is not packed. A packed cubin in a bare .fatbin tells only when it is loaded. */
static bool is_relocatable(const image_entry *entry)
{
    const ridge_entry *const about = &entry->about;

    if (strcmp(about->section, "__nv_relfatbin") == 0)
        return true;
    if (about->options != NULL && strstr(about->options, "--compile-only") != NULL)
        return true;
    return about->kind == RIDGE_ENTRY_CUBIN && about->packing == RIDGE_PACKED_NOT &&
           entry->stored.size > CUBIN_TYPE_AT &&
           entry->stored.data[CUBIN_TYPE_AT] == CUBIN_RELOCATABLE;
}

static ridge_status add_entry(ridge_image *image, const image_place *place,
                              const entry_header *header, ridge_slice bytes, ridge_error *err)
{
    const ridge_slice header_bytes = {bytes.data, header->header_bytes};
    ridge_slice stored = {bytes.data + header->header_bytes, (size_t)header->payload_bytes};
    image_entry *entry;
    ridge_entry *about;
    ridge_status status;

    entry = image_add_entry(image, place, stored, err);
    if (entry == NULL)
        return RIDGE_ERR_OUT_OF_MEMORY;
    about = &entry->about;
    about->kind = kind_of(header->kind);
    about->sm = header->sm < 10000 ? (int)header->sm : 0;
    about->suffix = (header->flags & FLAG_ARCH) != 0     ? RIDGE_TARGET_ARCH
                    : (header->flags & FLAG_FAMILY) != 0 ? RIDGE_TARGET_FAMILY
                                                         : RIDGE_TARGET_PLAIN;
    about->is_debug = (header->flags & FLAG_DEBUG) != 0;
    about->packing = packing_of(header->flags);
    about->container = image->container_count - 1;
    if (about->kind == RIDGE_ENTRY_PTX) {
        about->ptx_major = (int)header->major;
        about->ptx_minor = (int)header->minor;
    }
    if (about->packing != RIDGE_PACKED_NOT) {
        if (header->packed_bytes > 0 && header->packed_bytes < stored.size)
            stored.size = (size_t)header->packed_bytes;
        about->unpacked_bytes = header->unpacked_bytes;
    }
    entry->stored = stored;
    about->stored_bytes = stored.size;
    if (about->packing == RIDGE_PACKED_ZSTD)
        image_judge_entry(image, entry);
    status = read_texts(image, header, header_bytes, about, err);
    about->is_relocatable = is_relocatable(entry);
    return status;
}

/* ---- containers ---- */

static bool fits(const entry_header *header, ridge_slice rest)
{
    return header->header_bytes >= ENTRY_BYTES && header->header_bytes <= rest.size &&
           header->payload_bytes <= rest.size - header->header_bytes;
}

/* Behind a damaged header: the offset of the next that has what all have, else the size of body. */
static size_t next_entry(ridge_slice body, size_t at)
{
    for (at += FATBIN_STEP; at < body.size && body.size - at >= ENTRY_BYTES; at += FATBIN_STEP) {
        const ridge_slice rest = {body.data + at, body.size - at};
        entry_header header;

        if (rest.data[2] != 1 || rest.data[3] != 1)
            continue;
        read_header(rest, &header);
        if (kind_of(header.kind) != RIDGE_ENTRY_UNKNOWN && fits(&header, rest) &&
            header.header_bytes <= HEADER_BYTES_SANE && header.header_bytes % FATBIN_STEP == 0 &&
            header.payload_bytes % FATBIN_STEP == 0 && (header.flags & FLAG_64_BITS) != 0)
            return at;
    }
    return body.size;
}

/* Adds the entries of a container's body; *walked is how much of it could be believed. */
static ridge_status walk_entries(ridge_image *image, const image_place *place, ridge_slice body,
                                 size_t *walked, ridge_error *err)
{
    size_t at = 0;
    ridge_status status = RIDGE_OK;

    while (body.size - at >= ENTRY_BYTES && status == RIDGE_OK) {
        const ridge_slice rest = {body.data + at, body.size - at};
        entry_header header;

        if (fatbin_begins(rest)) /* the announced size reaches into the next container */
            break;
        read_header(rest, &header);
        if (!fits(&header, rest)) {
            const size_t next = next_entry(body, at);

            status =
                image_warn(image, err,
                           "container %zu: entry at byte %llu has a header of %zu and a "
                           "payload of %llu bytes, %zu are left; %zu bytes are passed over",
                           image->container_count - 1,
                           (unsigned long long)image_offset(image, rest.data), header.header_bytes,
                           (unsigned long long)header.payload_bytes, rest.size, next - at);
            at = next;
            continue;
        }
        status = add_entry(image, place, &header, rest, err);
        at += header.header_bytes + (size_t)header.payload_bytes;
    }
    *walked = at;
    return status;
}

/* *end: where to look for the next container. */
static ridge_status read_container(ridge_image *image, const image_place *place, ridge_slice bytes,
                                   size_t *end, ridge_error *err)
{
    ridge_cursor cursor = ridge_cursor_of(bytes);
    unsigned version, header_bytes;
    uint64_t announced;
    ridge_slice body;
    size_t walked = 0;
    ridge_status status = RIDGE_OK;

    ridge_skip(&cursor, sizeof(magic));
    version = ridge_read_u16(&cursor);
    header_bytes = ridge_read_u16(&cursor);
    announced = ridge_read_u64(&cursor);
    *end = FATBIN_STEP;
    if (version != CONTAINER_VERSION || header_bytes < CONTAINER_BYTES || header_bytes > bytes.size)
        return image_warn(image, err,
                          "container at byte %llu has version %u and a header of %u bytes, "
                          "expected 1 and 16",
                          (unsigned long long)image_offset(image, bytes.data), version,
                          header_bytes);
    image->container_count++;
    body.data = bytes.data + header_bytes;
    body.size = bytes.size - header_bytes;
    if (announced > body.size)
        status = image_warn(
            image, err, "container %zu at byte %llu announces %llu bytes, %zu are left",
            image->container_count - 1, (unsigned long long)image_offset(image, bytes.data),
            (unsigned long long)announced, body.size);
    else
        body.size = (size_t)announced;
    if (status == RIDGE_OK)
        status = walk_entries(image, place, body, &walked, err);
    *end = header_bytes + (announced == body.size ? body.size : walked);
    if (announced == body.size && body.size - walked >= ENTRY_BYTES) {
        const ridge_slice rest = {body.data + walked, body.size - walked};

        if (fatbin_begins(rest))
            *end = header_bytes + walked;
    }
    return status;
}

/* The offset of the next container from at on, on a step; the size when there is none. */
static size_t next_container(ridge_slice bytes, size_t at)
{
    while (at < bytes.size && bytes.size - at >= CONTAINER_BYTES) {
        if (memcmp(bytes.data + at, magic, sizeof(magic)) == 0)
            return at;
        at += FATBIN_STEP;
    }
    return bytes.size;
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
    return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

ridge_status fatbin_scan(ridge_image *image, const image_place *place, ridge_slice bytes,
                         ridge_error *err)
{
    size_t at = 0;
    ridge_status status = RIDGE_OK;

    while (at < bytes.size && status == RIDGE_OK) {
        ridge_slice rest;
        size_t used = 0;
        const size_t found = next_container(bytes, at);

        if (!is_zero(bytes.data + at, found - at)) {
            status = image_warn(image, err, "%zu bytes at byte %llu are no fat binary", found - at,
                                (unsigned long long)image_offset(image, bytes.data + at));
            if (status != RIDGE_OK)
                break;
        }
        if (found == bytes.size)
            break;
        rest.data = bytes.data + found;
        rest.size = bytes.size - found;
        status = read_container(image, place, rest, &used, err);
        at = found + (used + FATBIN_STEP - 1) / FATBIN_STEP * FATBIN_STEP;
    }
    return status;
}

/* ---- code embedded as data ---- */

/* True for a container whose first entry can be believed, too. */
static bool is_sound_container(ridge_slice bytes)
{
    ridge_cursor cursor = ridge_cursor_of(bytes);
    ridge_slice body;
    unsigned version, header_bytes;
    uint64_t announced;
    entry_header header;

    if (!fatbin_begins(bytes))
        return false;
    ridge_skip(&cursor, sizeof(magic));
    version = ridge_read_u16(&cursor);
    header_bytes = ridge_read_u16(&cursor);
    if (version != CONTAINER_VERSION || header_bytes != CONTAINER_BYTES)
        return false;
    announced = ridge_read_u64(&cursor);
    body.data = bytes.data + CONTAINER_BYTES;
    body.size = bytes.size - CONTAINER_BYTES;
    if (announced > body.size || announced < ENTRY_BYTES)
        return false;
    body.size = (size_t)announced;
    read_header(body, &header);
    return fits(&header, body);
}

enum { SEGMENT_BYTES = 56, SECTION_BYTES = 64, SECTION_NOBITS = 8 };

/* Where the last section with bytes of a table ends; 0 when one is outside bytes. */
static uint64_t end_of_sections(ridge_slice bytes, ridge_slice sections)
{
    ridge_cursor cursor = ridge_cursor_of(sections);
    uint64_t end = 1;

    while (ridge_cursor_left(&cursor) >= SECTION_BYTES) {
        uint32_t type;
        uint64_t at, size;

        ridge_skip(&cursor, 4);
        type = ridge_read_u32(&cursor);
        ridge_skip(&cursor, 16);
        at = ridge_read_u64(&cursor);
        size = ridge_read_u64(&cursor);
        ridge_skip(&cursor, 24);
        if (type == SECTION_NOBITS || type == 0)
            continue;
        if (at > bytes.size || size > bytes.size - at)
            return 0;
        if (at + size > end)
            end = at + size;
    }
    return end;
}

/* The size of a cubin of which only the beginning is known: it ends with its last table or
 * section. 0 when it is none. *work counts the bytes that were looked at. */
static size_t cubin_bytes(ridge_slice bytes, uint64_t *work)
{
    ridge_cursor cursor = ridge_cursor_of(bytes);
    uint64_t segments_at, sections_at, end, tables_end;
    unsigned segment_count, section_count;
    bool ok = true;
    ridge_slice sections;

    if (image_identify(bytes) != IMAGE_CUBIN_FILE)
        return 0;
    ridge_skip(&cursor, 32);
    segments_at = ridge_read_u64(&cursor);
    sections_at = ridge_read_u64(&cursor);
    ridge_skip(&cursor, 8); /* flags, size of the header, of a segment's */
    segment_count = ridge_read_u16(&cursor);
    ridge_skip(&cursor, 2);
    section_count = ridge_read_u16(&cursor);
    sections = ridge_slice_part(bytes, sections_at, (uint64_t)section_count * SECTION_BYTES, &ok);
    *work += sections.size;
    if (!ok || segments_at > bytes.size)
        return 0;
    end = end_of_sections(bytes, sections);
    if (end == 0)
        return 0;
    tables_end = segments_at + (uint64_t)segment_count * SEGMENT_BYTES;
    if (sections_at + sections.size > tables_end)
        tables_end = sections_at + sections.size;
    if (tables_end > end)
        end = tables_end;
    return end <= bytes.size ? (size_t)end : 0;
}

ridge_status fatbin_search(ridge_image *image, const image_place *place, ridge_slice bytes,
                           ridge_error *err)
{
    /* Tables that a hostile file lets many headers share are not read over and over. */
    const uint64_t work_max = (uint64_t)bytes.size * 4;
    uint64_t work = 0;
    size_t at = 0;
    ridge_status status = RIDGE_OK;

    while (at < bytes.size && bytes.size - at >= CONTAINER_BYTES && status == RIDGE_OK) {
        const ridge_slice rest = {bytes.data + at, bytes.size - at};
        size_t used = FATBIN_STEP;

        if (*rest.data == magic[0] && is_sound_container(rest)) {
            status = read_container(image, place, rest, &used, err);
        } else if (*rest.data == 0x7f && work < work_max) {
            const ridge_slice cubin = {rest.data, cubin_bytes(rest, &work)};
            ridge_error why;

            work += cubin.size;
            if (cubin.size > 0) {
                status = image_add_cubin(image, place, cubin, &why);
                if (status == RIDGE_OK)
                    used = cubin.size;
                else if (status == RIDGE_ERR_OUT_OF_MEMORY)
                    return ridge_fail(err, status, "%s", why.text);
                status = RIDGE_OK; /* what is no cubin only looked like one */
            }
        }
        at += (used + FATBIN_STEP - 1) / FATBIN_STEP * FATBIN_STEP;
    }
    return status;
}
