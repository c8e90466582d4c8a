/* SPDX-License-Identifier: Apache-2.0
 *
 * Bounds-checked reading. Every check is a comparison with what is left, by subtraction of
 * pointers into one object, so that no length from a file can overflow it. */
#include "base/cursor.h"

#include <string.h>

ridge_cursor ridge_cursor_of(ridge_slice slice)
{
    return ridge_cursor_at(slice.data, slice.size);
}

ridge_cursor ridge_cursor_at(const void *data, size_t size)
{
    static const uint8_t nothing[1];
    const uint8_t *const begin = data != NULL ? data : nothing;
    const ridge_cursor cursor = {begin, begin, begin + (data != NULL ? size : 0), false};

    return cursor;
}

size_t ridge_cursor_left(const ridge_cursor *cursor)
{
    return (size_t)(cursor->end - cursor->position);
}

size_t ridge_cursor_offset(const ridge_cursor *cursor)
{
    return (size_t)(cursor->position - cursor->begin);
}

/* True when size bytes can be read; else the cursor fails and stands at the end. */
static bool have(ridge_cursor *cursor, size_t size)
{
    if (cursor->failed || size > ridge_cursor_left(cursor)) {
        cursor->failed = true;
        cursor->position = cursor->end;
        return false;
    }
    return true;
}

static uint64_t read_little_endian(ridge_cursor *cursor, unsigned size)
{
    uint64_t value = 0;
    unsigned i;

    if (!have(cursor, size))
        return 0;
    for (i = 0; i < size; i++)
        value |= (uint64_t)cursor->position[i] << (8 * i);
    cursor->position += size;
    return value;
}

uint8_t ridge_read_u8(ridge_cursor *cursor)
{
    return (uint8_t)read_little_endian(cursor, 1);
}

uint16_t ridge_read_u16(ridge_cursor *cursor)
{
    return (uint16_t)read_little_endian(cursor, 2);
}

uint32_t ridge_read_u32(ridge_cursor *cursor)
{
    return (uint32_t)read_little_endian(cursor, 4);
}

uint64_t ridge_read_u64(ridge_cursor *cursor)
{
    return read_little_endian(cursor, 8);
}

/* The body of ridge_read_uleb() for this file: most numbers of a report take one byte. */
static inline uint64_t read_uleb(ridge_cursor *cursor)
{
    uint64_t value = 0;
    unsigned shift;

    if (!cursor->failed && cursor->position < cursor->end && *cursor->position < 0x80)
        return *cursor->position++;
    for (shift = 0; shift < 64; shift += 7) {
        uint8_t byte;

        if (!have(cursor, 1))
            return 0;
        byte = *cursor->position++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0)
            return value;
    }
    cursor->failed = true; /* more than ten bytes */
    cursor->position = cursor->end;
    return 0;
}

uint64_t ridge_read_uleb(ridge_cursor *cursor)
{
    return read_uleb(cursor);
}

int64_t ridge_read_sleb(ridge_cursor *cursor)
{
    uint64_t value = 0;
    unsigned shift;

    for (shift = 0; shift < 64; shift += 7) {
        uint8_t byte;

        if (!have(cursor, 1))
            return 0;
        byte = *cursor->position++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0) {
            if ((byte & 0x40) != 0 && shift + 7 < 64)
                value |= UINT64_MAX << (shift + 7);
            return (int64_t)value;
        }
    }
    cursor->failed = true;
    cursor->position = cursor->end;
    return 0;
}

ridge_slice ridge_read_bytes(ridge_cursor *cursor, size_t size)
{
    ridge_slice slice = {cursor->position, 0};

    if (!have(cursor, size))
        return slice;
    slice.size = size;
    cursor->position += size;
    return slice;
}

ridge_slice ridge_read_text(ridge_cursor *cursor)
{
    ridge_slice slice = {cursor->position, 0};
    const uint8_t *const nul = memchr(cursor->position, 0, ridge_cursor_left(cursor));

    if (cursor->failed || nul == NULL) {
        cursor->failed = true;
        cursor->position = cursor->end;
        return slice;
    }
    slice.size = (size_t)(nul - cursor->position);
    cursor->position = nul + 1;
    return slice;
}

void ridge_skip(ridge_cursor *cursor, size_t size)
{
    if (have(cursor, size))
        cursor->position += size;
}

ridge_slice ridge_slice_part(ridge_slice slice, uint64_t offset, uint64_t size, bool *ok)
{
    const ridge_slice nothing = {slice.data, 0};
    ridge_slice part;

    if (offset > slice.size || size > slice.size - offset) {
        *ok = false;
        return nothing;
    }
    part.data = slice.data != NULL ? slice.data + offset : NULL;
    part.size = (size_t)size;
    return part;
}

bool ridge_slice_is(ridge_slice slice, const char *text)
{
    const size_t length = strlen(text);

    return slice.size == length && (length == 0 || memcmp(slice.data, text, length) == 0);
}

bool ridge_field_next(ridge_cursor *cursor, ridge_field *field)
{
    uint64_t key;

    if (cursor->failed || cursor->position == cursor->end)
        return false;
    key = read_uleb(cursor);
    if (key >> 3 == 0 || key >> 3 > 0x1fffffff)
        cursor->failed = true;
    field->number = (uint32_t)(key >> 3);
    field->value = 0;
    field->bytes.data = cursor->position;
    field->bytes.size = 0;
    switch (key & 7) {
    case RIDGE_WIRE_VARINT:
        field->wire = RIDGE_WIRE_VARINT;
        field->value = read_uleb(cursor);
        break;
    case RIDGE_WIRE_FIXED64:
        field->wire = RIDGE_WIRE_FIXED64;
        field->value = ridge_read_u64(cursor);
        break;
    case RIDGE_WIRE_BYTES: {
        const uint64_t size = read_uleb(cursor);

        field->wire = RIDGE_WIRE_BYTES;
        if (size > (size_t)(cursor->end - cursor->position)) {
            cursor->failed = true;
        } else {
            field->bytes.data = cursor->position;
            field->bytes.size = (size_t)size;
            cursor->position += size;
        }
        break;
    }
    case RIDGE_WIRE_FIXED32:
        field->wire = RIDGE_WIRE_FIXED32;
        field->value = ridge_read_u32(cursor);
        break;
    default:
        cursor->failed = true;
        break;
    }
    if (cursor->failed)
        cursor->position = cursor->end;
    return !cursor->failed;
}

double ridge_field_double(const ridge_field *field)
{
    double value = 0;

    if (field->wire == RIDGE_WIRE_FIXED64) {
        memcpy(&value, &field->value, sizeof(value));
    } else if (field->wire == RIDGE_WIRE_FIXED32) {
        const uint32_t bits = (uint32_t)field->value;
        float narrow;

        memcpy(&narrow, &bits, sizeof(narrow));
        value = (double)narrow;
    }
    return value;
}
