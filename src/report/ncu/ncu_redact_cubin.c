/* SPDX-License-Identifier: Apache-2.0
 *
 * A cubin without paths. Nothing moves: sections, offsets into string tables and the line program
 * refer to each other by position.
 *
 * The tables of directories and files in .debug_line are read as what they are, since directories
 * may be relative there and a file's name has its directory elsewhere. In all other sections but
 * code, absolute paths are found by their looks: the compilation's directory in .debug_info and
 * .debug_str, .file lines in embedded PTX, __FILE__ of an assertion in the constants, the command
 * line of ptxas in a note. Names of functions are paths nowhere. */
#include <string.h>

#include "report/ncu/ncu_redact_internal.h"

enum {
    ELF_HEADER_BYTES = 64,
    ELF_SECTION_BYTES = 64,
    SECTION_SYMBOLS = 2,
    SECTION_RELA = 4,
    SECTION_NO_BITS = 8,
    SECTION_REL = 9,
    SECTION_IS_CODE = 4, /* in the flags */
};

/* .debug_line, or a copy of it such as .nv.merc.debug_line. */
static bool is_line_table(ridge_slice names, uint32_t name_offset)
{
    static const char end[] = "debug_line";
    const size_t size = sizeof(end) - 1;
    bool ok = true;
    ridge_cursor cursor = ridge_cursor_of(ridge_slice_part(
        names, name_offset, name_offset <= names.size ? names.size - name_offset : 0, &ok));
    const ridge_slice name = ridge_read_text(&cursor);

    return ok && name.size >= size && memcmp(name.data + name.size - size, end, size) == 0;
}

/* Where a part of a slice is written; NULL while learning. */
static uint8_t *copy_of(ridge_slice section, ridge_slice part, uint8_t *to)
{
    return to != NULL ? to + (part.data - section.data) : NULL;
}

/* The tables in the header of one unit; version 2 to 4. False when the header is not understood.
 * header is what follows its length. */
static bool redact_unit(redact_names *names, ridge_slice section, ridge_cursor header,
                        unsigned version, uint8_t *to)
{
    uint8_t opcode_base;
    ridge_slice text;

    ridge_skip(&header, version >= 4 ? 5 : 4); /* up to the line range */
    opcode_base = ridge_read_u8(&header);
    if (opcode_base == 0)
        return false;
    ridge_skip(&header, opcode_base - 1u);
    for (text = ridge_read_text(&header); text.size > 0; text = ridge_read_text(&header))
        redact_path(names, text, REDACT_END_DIRECTORY, copy_of(section, text, to));
    for (text = ridge_read_text(&header); text.size > 0; text = ridge_read_text(&header)) {
        redact_path(names, text, REDACT_END_FILE, copy_of(section, text, to));
        ridge_read_uleb(&header); /* directory, time, size */
        ridge_read_uleb(&header);
        ridge_read_uleb(&header);
    }
    return !header.failed;
}

/* What is found by its looks may be missed between other bytes; known places are not. */
static void redact_runs(redact_names *names, ridge_slice bytes, uint8_t *to)
{
    const ridge_slice copy = {to, bytes.size};

    redact_paths_in_runs(names, bytes, to);
    if (to != NULL)
        redact_places(names, copy, to);
}

static void redact_line_table(redact_names *names, ridge_slice section, uint8_t *to)
{
    ridge_cursor cursor = ridge_cursor_of(section);

    while (ridge_cursor_left(&cursor) > 0) {
        const uint32_t length = ridge_read_u32(&cursor);
        const ridge_slice unit = ridge_read_bytes(&cursor, length);
        ridge_cursor header = ridge_cursor_of(unit);
        const unsigned version = ridge_read_u16(&header);
        const uint32_t header_length = ridge_read_u32(&header);

        if (header_length <= ridge_cursor_left(&header))
            header.end = header.position + header_length;
        if (cursor.failed || header.failed || version < 2 || version > 4 ||
            !redact_unit(names, section, header, version, to)) {
            redact_runs(names, section, to);
            return;
        }
    }
}

void redact_cubin(redact_names *names, ridge_slice binary, uint8_t *to)
{
    ridge_cursor header = ridge_cursor_of(binary);
    ridge_cursor table;
    ridge_slice section_names = {NULL, 0};
    uint64_t table_offset;
    uint64_t seen_bytes = 0;
    uint16_t section_count, names_index, i;
    bool ok = binary.size >= ELF_HEADER_BYTES && memcmp(binary.data, "\177ELF\2\1", 6) == 0;

    ridge_skip(&header, 40);
    table_offset = ridge_read_u64(&header);
    ridge_skip(&header, 12);
    section_count = ridge_read_u16(&header);
    names_index = ridge_read_u16(&header);
    table = ridge_cursor_of(
        ridge_slice_part(binary, table_offset, (uint64_t)section_count * ELF_SECTION_BYTES, &ok));
    if (!ok || section_count == 0) {
        redact_runs(names, binary, to);
        return;
    }
    if (names_index < section_count) {
        ridge_cursor at = table;
        uint64_t offset, size;
        bool fits = true;

        ridge_skip(&at, (size_t)names_index * ELF_SECTION_BYTES + 24);
        offset = ridge_read_u64(&at);
        size = ridge_read_u64(&at);
        section_names = ridge_slice_part(binary, offset, size, &fits);
    }
    for (i = 0; i < section_count; i++) {
        const uint32_t name_offset = ridge_read_u32(&table);
        const uint32_t type = ridge_read_u32(&table);
        const uint64_t flags = ridge_read_u64(&table);
        ridge_slice section;
        uint64_t offset, size;
        bool fits = true;

        ridge_skip(&table, 8);
        offset = ridge_read_u64(&table);
        size = ridge_read_u64(&table);
        ridge_skip(&table, 24);
        section = ridge_slice_part(binary, offset, size, &fits);
        if (!fits || type == SECTION_SYMBOLS || type == SECTION_RELA || type == SECTION_REL ||
            type == SECTION_NO_BITS || (flags & SECTION_IS_CODE) != 0)
            continue;
        seen_bytes += section.size;
        if (seen_bytes >
            2 * (uint64_t)binary.size) { /* sections that overlap: one look is enough */
            redact_runs(names, binary, to);
            return;
        }
        if (is_line_table(section_names, name_offset))
            redact_line_table(names, section, copy_of(binary, section, to));
        else
            redact_runs(names, section, copy_of(binary, section, to));
    }
}
