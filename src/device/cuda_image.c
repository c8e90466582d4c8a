/* SPDX-License-Identifier: Apache-2.0
 *
 * An image before the driver gets it. The driver takes a pointer without a size and trusts what
 * stands there, so what is announced is compared with what is there: the tables and sections of an
 * ELF file, the payload of a fat binary, the end of a text. */
#include <string.h>

#include "base/cursor.h"
#include "device/cuda_internal.h"

enum {
    ELF_HEADER_BYTES = 64,
    ELF_SECTION_BYTES = 64,
    ELF_SEGMENT_BYTES = 56,
    ELF_NO_BITS = 8,
    FATBIN_HEADER_BYTES = 16
};
static const uint32_t ELF_MAGIC = 0x464c457fu; /* 0x7f, "ELF" */
static const uint32_t FATBIN_MAGIC = 0xba55ed50u;

static ridge_status cut_short(size_t size_bytes, const char *what, ridge_error *err)
{
    return ridge_fail(err, RIDGE_ERR_FORMAT, "the %s is cut short: it has %zu bytes", what,
                      size_bytes);
}

/* One table of an ELF file fits into it. */
static bool table_fits(ridge_slice image, uint64_t offset, uint64_t count, uint64_t entry_bytes)
{
    return offset <= image.size && count <= (image.size - offset) / entry_bytes;
}

static ridge_status check_elf(ridge_slice image, ridge_error *err)
{
    ridge_cursor at = ridge_cursor_of(image);
    uint64_t segments, sections, i;
    uint16_t segment_count, section_count;

    ridge_skip(&at, 32);
    segments = ridge_read_u64(&at);
    sections = ridge_read_u64(&at);
    ridge_skip(&at, 4 + 2 + 2);
    segment_count = ridge_read_u16(&at);
    ridge_skip(&at, 2);
    section_count = ridge_read_u16(&at);
    if (at.failed || !table_fits(image, segments, segment_count, ELF_SEGMENT_BYTES) ||
        !table_fits(image, sections, section_count, ELF_SECTION_BYTES))
        return cut_short(image.size, "cubin", err);
    for (i = 0; i < section_count; i++) {
        ridge_cursor section =
            ridge_cursor_at(image.data + sections + i * ELF_SECTION_BYTES, ELF_SECTION_BYTES);
        uint64_t offset, size;
        uint32_t type;

        ridge_skip(&section, 4);
        type = ridge_read_u32(&section);
        ridge_skip(&section, 16);
        offset = ridge_read_u64(&section);
        size = ridge_read_u64(&section);
        if (type != ELF_NO_BITS && !table_fits(image, offset, size, 1))
            return cut_short(image.size, "cubin", err);
    }
    return RIDGE_OK;
}

static ridge_status check_fatbin(ridge_slice image, ridge_error *err)
{
    ridge_cursor at = ridge_cursor_of(image);
    uint16_t header_bytes;
    uint64_t payload_bytes;

    ridge_skip(&at, 6);
    header_bytes = ridge_read_u16(&at);
    payload_bytes = ridge_read_u64(&at);
    if (at.failed || header_bytes < FATBIN_HEADER_BYTES ||
        !table_fits(image, header_bytes, payload_bytes, 1))
        return cut_short(image.size, "fat binary", err);
    return RIDGE_OK;
}

/* Only NULs stand behind the text, or nothing does. */
static bool is_text(ridge_slice image)
{
    const uint8_t *const end = memchr(image.data, '\0', image.size);
    size_t i = end != NULL ? (size_t)(end - image.data) : image.size;

    if (i == 0)
        return false;
    while (i < image.size && image.data[i] == '\0')
        i++;
    return i == image.size;
}

ridge_status cuda_image_check(const void *data, size_t size_bytes, bool *text, ridge_error *err)
{
    const ridge_slice image = {data, size_bytes};
    ridge_cursor at = ridge_cursor_of(image);
    const uint32_t magic = ridge_read_u32(&at);

    *text = false;
    if (!at.failed && magic == ELF_MAGIC)
        return check_elf(image, err);
    if (!at.failed && magic == FATBIN_MAGIC)
        return check_fatbin(image, err);
    *text = size_bytes > 0 && is_text(image);
    return *text ? RIDGE_OK
                 : ridge_fail(err, RIDGE_ERR_FORMAT,
                              "neither a cubin nor a fat binary nor PTX (%zu bytes)", size_bytes);
}
