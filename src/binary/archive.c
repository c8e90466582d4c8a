/* SPDX-License-Identifier: Apache-2.0
 *
 * Archives (ar) of objects: a magic, then members, each with a header of 60 bytes of text and its
 * bytes, on even offsets. Long names stand in the member "//" (GNU) or before the bytes (BSD). */
#include <string.h>

#include "binary/image_internal.h"

enum {
    MAGIC_BYTES = 8,
    HEADER_BYTES = 60,
    NAME_BYTES = 16,
    SIZE_AT = 48,
    SIZE_BYTES = 10,
    END_AT = 58,           /* "`\n" */
    NAME_BYTES_MAX = 1024, /* members may share a long name */
};

typedef struct archive_member {
    ridge_slice name;
    ridge_slice bytes;
} archive_member;

/* A decimal number filled up with spaces; false for anything else. */
static bool read_decimal(ridge_slice text, uint64_t *out)
{
    size_t i;

    *out = 0;
    for (i = 0; i < text.size && text.data[i] >= '0' && text.data[i] <= '9'; i++)
        *out = *out * 10 + (uint64_t)(text.data[i] - '0');
    if (i == 0)
        return false;
    while (i < text.size && text.data[i] == ' ')
        i++;
    return i == text.size;
}

/* Without what ends a name: "/" (GNU), spaces, NUL (BSD). */
static ridge_slice trimmed(ridge_slice name)
{
    while (name.size > 0 && strchr(" /\n", name.data[name.size - 1]) != NULL)
        name.size--;
    return name;
}

/* The name in the table of long names at an offset. */
static ridge_slice long_name(ridge_slice names, uint64_t offset)
{
    bool ok = true;
    ridge_slice name =
        ridge_slice_part(names, offset, offset <= names.size ? names.size - offset : 0, &ok);
    const uint8_t *end;

    if (name.size > NAME_BYTES_MAX)
        name.size = NAME_BYTES_MAX;
    end = name.size > 0 ? memchr(name.data, '\n', name.size) : NULL;
    if (end != NULL)
        name.size = (size_t)(end - name.data);
    return trimmed(name);
}

/* Resolves the name of a member, which may take bytes from its front. */
static void name_member(archive_member *member, ridge_slice field, ridge_slice names)
{
    ridge_slice digits = {field.data + 1, field.size - 1};
    uint64_t number;

    if (field.data[0] == '/' && read_decimal(digits, &number)) {
        member->name = long_name(names, number);
        return;
    }
    digits.data = field.data + 3;
    digits.size = field.size - 3;
    if (memcmp(field.data, "#1/", 3) == 0 && read_decimal(digits, &number) &&
        number <= member->bytes.size) {
        member->name.data = member->bytes.data;
        member->name.size = (size_t)number;
        member->bytes.data += number;
        member->bytes.size -= (size_t)number;
        member->name = trimmed(member->name);
        return;
    }
    member->name = trimmed(field);
}

/* What is no code for the GPU is passed over: symbol tables, objects without, texts. */
static ridge_status scan_member(ridge_image *image, const archive_member *member, ridge_error *err)
{
    ridge_error why = {.status = RIDGE_OK};
    image_place place = {NULL, ""};
    ridge_status status;

    const image_found found = image_identify(member->bytes);

    if (found == IMAGE_NOTHING || found == IMAGE_WINDOWS || found == IMAGE_REPORT ||
        found == IMAGE_ARCHIVE_FILE)
        return RIDGE_OK;
    place.member =
        ridge_alloc_text(&image->arena, (const char *)member->name.data, member->name.size);
    if (place.member == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory listing an archive");
    switch (found) {
    case IMAGE_CONTAINER:
        status = fatbin_scan(image, &place, member->bytes, &why);
        break;
    case IMAGE_CUBIN_FILE:
        status = image_add_cubin(image, &place, member->bytes, &why);
        break;
    case IMAGE_PTX_TEXT:
        status = image_add_ptx(image, &place, member->bytes, &why);
        break;
    default:
        status = host_elf_scan(image, place.member, member->bytes, NULL, &why);
        break;
    }
    if (status == RIDGE_ERR_OUT_OF_MEMORY)
        return ridge_fail(err, status, "%s", why.text);
    if (status != RIDGE_OK)
        return image_warn(image, err, "member %s: %s", place.member, why.text);
    return RIDGE_OK;
}

ridge_status archive_scan(ridge_image *image, ridge_slice bytes, ridge_error *err)
{
    ridge_slice names = {bytes.data, 0};
    size_t at = MAGIC_BYTES;
    ridge_status status = RIDGE_OK;

    if (memcmp(bytes.data, "!<thin>", 7) == 0)
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "a thin archive, whose members are files of their own: read those");
    while (status == RIDGE_OK && at < bytes.size) {
        const ridge_slice rest = {bytes.data + at, bytes.size - at};
        archive_member member = {.name = {rest.data, 0}};
        ridge_slice field = rest;
        uint64_t size;

        field.data += SIZE_AT;
        field.size = SIZE_BYTES;
        if (rest.size < HEADER_BYTES || memcmp(rest.data + END_AT, "`\n", 2) != 0 ||
            !read_decimal(field, &size))
            return image_warn(
                image, err, "no member of an archive at byte %zu; the rest of it is not read", at);
        member.bytes.data = rest.data + HEADER_BYTES;
        member.bytes.size = rest.size - HEADER_BYTES;
        if (size > member.bytes.size) {
            status = image_warn(image, err, "member at byte %zu has %llu bytes, %zu are left", at,
                                (unsigned long long)size, member.bytes.size);
            size = member.bytes.size;
        }
        member.bytes.size = (size_t)size;
        at += HEADER_BYTES + (size_t)size;
        at += at % 2;
        field.data = rest.data;
        field.size = NAME_BYTES;
        if (memcmp(field.data, "// ", 3) == 0) {
            names = member.bytes;
            continue;
        }
        name_member(&member, field, names);
        if (status == RIDGE_OK)
            status = scan_member(image, &member, err);
    }
    return status;
}
