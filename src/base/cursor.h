/* SPDX-License-Identifier: Apache-2.0
 *
 * A bounds-checked reader of bytes in memory, and the protobuf wire format on top of it.
 *
 * A cursor remembers its first failure and answers zeros from then on, so that a caller reads ten
 * fields and checks once. It borrows the bytes and never copies them. Integers are little endian
 * and need no alignment. */
#ifndef RIDGE_BASE_CURSOR_H
#define RIDGE_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Borrowed bytes; data may be NULL when size is 0. */
typedef struct ridge_slice {
    const uint8_t *data;
    size_t size;
} ridge_slice;

typedef struct ridge_cursor {
    const uint8_t *begin;
    const uint8_t *position;
    const uint8_t *end;
    bool failed; /* a read went past the end, or a varint was malformed; sticky */
} ridge_cursor;

ridge_cursor ridge_cursor_of(ridge_slice slice);
ridge_cursor ridge_cursor_at(const void *data, size_t size);
size_t ridge_cursor_left(const ridge_cursor *cursor);
size_t ridge_cursor_offset(const ridge_cursor *cursor);

uint8_t ridge_read_u8(ridge_cursor *cursor);
uint16_t ridge_read_u16(ridge_cursor *cursor);
uint32_t ridge_read_u32(ridge_cursor *cursor);
uint64_t ridge_read_u64(ridge_cursor *cursor);
uint64_t ridge_read_uleb(ridge_cursor *cursor); /* also the protobuf varint */
int64_t ridge_read_sleb(ridge_cursor *cursor);
/* The next size bytes; an empty slice on failure. */
ridge_slice ridge_read_bytes(ridge_cursor *cursor, size_t size);
/* Up to and without the next NUL, which is skipped. Fails when there is none. */
ridge_slice ridge_read_text(ridge_cursor *cursor);
void ridge_skip(ridge_cursor *cursor, size_t size);

/* A part of a slice; empty, and *ok false, when it does not fit. */
ridge_slice ridge_slice_part(ridge_slice slice, uint64_t offset, uint64_t size, bool *ok);
bool ridge_slice_is(ridge_slice slice, const char *text);

typedef enum ridge_wire {
    RIDGE_WIRE_VARINT = 0,
    RIDGE_WIRE_FIXED64 = 1,
    RIDGE_WIRE_BYTES = 2,
    RIDGE_WIRE_FIXED32 = 5,
} ridge_wire;

typedef struct ridge_field {
    uint32_t number;
    ridge_wire wire;
    uint64_t value;    /* varint and fixed: the bits */
    ridge_slice bytes; /* RIDGE_WIRE_BYTES */
} ridge_field;

/* Reads the next field of a message. False at the end and on failure (then cursor->failed).
 * Unknown field numbers are for the caller to ignore; groups and wire types 6, 7 are failures. */
bool ridge_field_next(ridge_cursor *cursor, ridge_field *field);
double ridge_field_double(const ridge_field *field); /* fixed64 or fixed32 bits; else 0 */

#endif
