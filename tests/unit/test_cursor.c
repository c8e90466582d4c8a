/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include "base/cursor.h"

#define BYTES(text)                                                                                \
    {                                                                                              \
        (const uint8_t *)(text), sizeof(text) - 1                                                  \
    }

static struct varint {
    const char *name;
    ridge_slice bytes;
    bool ok;
    uint64_t unsigned_value;
    int64_t signed_value;
    size_t left;
} varints[] = {
    {"varint: zero", BYTES("\0"), true, 0, 0, 0},
    {"varint: one byte", BYTES("\x3f"), true, 63, 63, 0},
    {"varint: sign bit", BYTES("\x7f"), true, 127, -1, 0},
    {"varint: two bytes, one left", BYTES("\xac\x02z"), true, 300, 300, 1},
    {"varint: negative", BYTES("\x80\x7f"), true, 16256, -128, 0},
    {"varint: ten bytes", BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), true, UINT64_MAX, -1,
     0},
    {"varint: empty", BYTES(""), false, 0, 0, 0},
    {"varint: cut", BYTES("\x80\x80"), false, 0, 0, 0},
    {"varint: endless", BYTES("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), false, 0, 0, 0},
};

static void reads_varints(void **state)
{
    const struct varint *const row = *state;
    ridge_cursor cursor = ridge_cursor_of(row->bytes);

    assert_true(ridge_read_uleb(&cursor) == row->unsigned_value);
    assert_int_equal(cursor.failed, !row->ok);
    assert_int_equal(ridge_cursor_left(&cursor), row->left);

    cursor = ridge_cursor_of(row->bytes);
    assert_true(ridge_read_sleb(&cursor) == row->signed_value);
    assert_int_equal(cursor.failed, !row->ok);
}

static void reads_integers(void **state)
{
    static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    ridge_cursor cursor = ridge_cursor_at(bytes, sizeof(bytes));

    (void)state;
    assert_int_equal(ridge_read_u8(&cursor), 1);
    assert_int_equal(ridge_read_u16(&cursor), 0x0302);
    assert_true(ridge_read_u32(&cursor) == 0x07060504u);
    assert_true(ridge_read_u64(&cursor) == 0x0f0e0d0c0b0a0908u);
    assert_int_equal(ridge_cursor_offset(&cursor), 15);
    assert_int_equal(ridge_read_u16(&cursor), 0); /* one byte is left */
    assert_true(cursor.failed);
    assert_int_equal(ridge_read_u8(&cursor), 0); /* and is not read any more */
    assert_int_equal(ridge_cursor_left(&cursor), 0);
}

static void reads_bytes_and_text(void **state)
{
    static const char bytes[] = "name\0\0rest";
    ridge_cursor cursor = ridge_cursor_at(bytes, sizeof(bytes) - 1);

    (void)state;
    assert_true(ridge_slice_is(ridge_read_text(&cursor), "name"));
    assert_true(ridge_slice_is(ridge_read_text(&cursor), ""));
    assert_true(ridge_slice_is(ridge_read_bytes(&cursor, 2), "re"));
    ridge_skip(&cursor, 1);
    assert_false(cursor.failed);
    assert_int_equal(ridge_read_text(&cursor).size, 0); /* no NUL */
    assert_true(cursor.failed);

    cursor = ridge_cursor_at(bytes, sizeof(bytes) - 1);
    assert_int_equal(ridge_read_bytes(&cursor, SIZE_MAX).size, 0);
    assert_true(cursor.failed);
    cursor = ridge_cursor_at(NULL, 0);
    assert_int_equal(ridge_read_bytes(&cursor, 0).size, 0);
    assert_false(cursor.failed);
    ridge_skip(&cursor, 1);
    assert_true(cursor.failed);
}

static void takes_parts(void **state)
{
    const ridge_slice slice = BYTES("abcdef");
    bool ok = true;

    (void)state;
    assert_true(ridge_slice_is(ridge_slice_part(slice, 2, 3, &ok), "cde"));
    assert_int_equal(ridge_slice_part(slice, 6, 0, &ok).size, 0);
    assert_true(ok);
    assert_int_equal(ridge_slice_part(slice, 6, 1, &ok).size, 0);
    assert_false(ok);
    ok = true;
    ridge_slice_part(slice, UINT64_MAX, 2, &ok);
    assert_false(ok);
    ok = true;
    ridge_slice_part(slice, 2, UINT64_MAX, &ok);
    assert_false(ok);
}

static void reads_fields(void **state)
{
    static const char bytes[] = "\x08\x96\x01"                         /* 1: 150 */
                                "\x12\x03xyz"                          /* 2: "xyz" */
                                "\x1d\x00\x00\x20\x41"                 /* 3: 10.0f */
                                "\x21\x00\x00\x00\x00\x00\x00\xf8\x3f" /* 4: 1.5 */
                                "\x2a\x00";                            /* 5: "" */
    ridge_cursor cursor = ridge_cursor_at(bytes, sizeof(bytes) - 1);
    ridge_field field;

    (void)state;
    assert_true(ridge_field_next(&cursor, &field));
    assert_int_equal(field.number, 1);
    assert_int_equal(field.value, 150);
    assert_true(ridge_field_double(&field) == 0);
    assert_true(ridge_field_next(&cursor, &field));
    assert_int_equal(field.number, 2);
    assert_true(ridge_slice_is(field.bytes, "xyz"));
    assert_true(ridge_field_next(&cursor, &field));
    assert_true(ridge_field_double(&field) == 10.0);
    assert_true(ridge_field_next(&cursor, &field));
    assert_true(ridge_field_double(&field) == 1.5);
    assert_true(ridge_field_next(&cursor, &field));
    assert_int_equal(field.bytes.size, 0);
    assert_false(ridge_field_next(&cursor, &field));
    assert_false(cursor.failed);
}

static struct bad_field {
    const char *name;
    ridge_slice bytes;
} bad_fields[] = {
    {"field: number 0", BYTES("\x00\x01")},
    {"field: group", BYTES("\x0b\x01")},
    {"field: wire type 7", BYTES("\x0f\x01")},
    {"field: cut varint", BYTES("\x08\x80")},
    {"field: cut fixed64", BYTES("\x09\x01\x02")},
    {"field: cut fixed32", BYTES("\x0d\x01\x02")},
    {"field: bytes longer than the rest", BYTES("\x0a\x05"
                                                "abc")},
    {"field: bytes of 2^64 - 1", BYTES("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
                                       "abc")},
    {"field: number beyond 29 bits", BYTES("\x80\x80\x80\x80\x7f\x01")},
};

static void refuses_bad_fields(void **state)
{
    const struct bad_field *const row = *state;
    ridge_cursor cursor = ridge_cursor_of(row->bytes);
    ridge_field field;

    assert_false(ridge_field_next(&cursor, &field));
    assert_true(cursor.failed);
    assert_false(ridge_field_next(&cursor, &field));
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, reads_varints, varints);
    cases_add(&list, "integers", reads_integers, NULL);
    cases_add(&list, "bytes and text", reads_bytes_and_text, NULL);
    cases_add(&list, "parts of slices", takes_parts, NULL);
    cases_add(&list, "fields", reads_fields, NULL);
    CASES_ADD_ROWS(&list, refuses_bad_fields, bad_fields);
    return cases_run(&list, "cursor");
}
