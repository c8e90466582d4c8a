/* SPDX-License-Identifier: Apache-2.0 */
#include "binary_support.h"

#include <zlib.h>

enum { HEADER = 64, SECTION = 64, NOBITS = 8 };

file_bytes support_read(const char *path)
{
    file_bytes file = {NULL, 0};
    gzFile stream = gzopen(path, "rb");
    uint8_t *grown = NULL;
    size_t room = 0;
    int got;

    if (stream == NULL)
        return file;
    do {
        if (file.size + 65536 > room) {
            room = 2 * room + 65536;
            grown = realloc(grown, room);
            assert_non_null(grown);
        }
        got = gzread(stream, grown + file.size, 65536);
        if (got > 0)
            file.size += (size_t)got;
    } while (got > 0);
    gzclose(stream);
    assert_int_equal(got, 0);
    file.data = malloc(file.size + 1);
    assert_non_null(file.data);
    memcpy(file.data, grown, file.size);
    free(grown);
    grown = realloc(file.data, file.size);
    if (grown != NULL)
        file.data = grown;
    return file;
}

file_bytes support_data(const char *name)
{
    char path[1024];
    file_bytes file;

    snprintf(path, sizeof(path), "%s/tests/data/binary/%s", RIDGE_SOURCE_DIR, name);
    file = support_read(path);
    if (file.data == NULL)
        fail_msg("%s is missing", path);
    return file;
}

file_bytes support_shared(const char *name)
{
    const char *const root = getenv("RIDGE_SHARED");
    char path[1024];
    file_bytes file;

    if (root != NULL)
        snprintf(path, sizeof(path), "%s/binary_fixtures/%s", root, name);
    else
        snprintf(path, sizeof(path), "%s/../shared/binary_fixtures/%s", RIDGE_SOURCE_DIR, name);
    file = support_read(path);
    if (file.data == NULL)
        skip();
    return file;
}

void support_release(file_bytes *file)
{
    free(file->data);
    file->data = NULL;
    file->size = 0;
}

char *support_text(file_bytes file)
{
    char *const text = malloc(file.size + 1);

    assert_non_null(text);
    memcpy(text, file.data, file.size);
    text[file.size] = '\0';
    support_release(&file);
    return text;
}

void store_u16(uint8_t *at, unsigned value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}

void store_u32(uint8_t *at, uint32_t value)
{
    store_u16(at, value & 0xffff);
    store_u16(at + 2, value >> 16);
}

void store_u64(uint8_t *at, uint64_t value)
{
    store_u32(at, (uint32_t)value);
    store_u32(at + 4, (uint32_t)(value >> 32));
}

static void store_header(uint8_t *file, const sample_header *header, size_t table_at, size_t count)
{
    static const uint8_t magic[] = {0x7f, 'E', 'L', 'F', 2, 1, 1};

    memcpy(file, magic, sizeof(magic));
    file[7] = header->is_old ? 0x33 : 0x41;
    file[8] = header->is_old ? 7 : 8;
    store_u16(file + 16, 2);
    store_u16(file + 18, 190);
    store_u32(file + 20, header->is_old ? header->toolkit : 1);
    store_u64(file + 40, table_at);
    store_u32(file + 48, header->is_old ? header->sm | header->sm << 16 : header->sm << 8 | 4);
    store_u16(file + 52, HEADER);
    store_u16(file + 58, SECTION);
    store_u16(file + 60, (unsigned)count);
    store_u16(file + 62, (unsigned)count - 1);
}

static void store_section(uint8_t *at, const sample_section *section, size_t name_at,
                          size_t data_at)
{
    store_u32(at, (uint32_t)name_at);
    store_u32(at + 4, section->type);
    store_u64(at + 8, section->flags);
    store_u64(at + 24, data_at);
    store_u64(at + 32, section->size);
    store_u32(at + 40, section->link);
    store_u32(at + 44, section->info);
}

file_bytes sample_cubin(const sample_header *header, const sample_section *sections, size_t count)
{
    static const char names_name[] = ".shstrtab";
    sample_section names_section = {.name = names_name, .type = 3};
    char names[4096] = "";
    size_t names_size = 1;
    size_t data_at = HEADER;
    size_t table_at = HEADER;
    file_bytes file;
    size_t i;

    for (i = 0; i < count; i++)
        table_at += sections[i].data != NULL ? sections[i].size : 0;
    for (i = 0; i < count; i++)
        names_section.size += strlen(sections[i].name) + 1;
    names_section.size += 1 + sizeof(names_name);
    table_at += names_section.size;
    file.size = table_at + (count + 2) * SECTION;
    file.data = calloc(1, file.size);
    assert_non_null(file.data);
    assert_true(names_section.size <= sizeof(names));

    store_header(file.data, header, table_at, count + 2);
    for (i = 0; i <= count; i++) {
        const sample_section *const section = i < count ? &sections[i] : &names_section;

        store_section(file.data + table_at + (i + 1) * SECTION, section, names_size, data_at);
        strcpy(names + names_size, section->name);
        names_size += strlen(section->name) + 1;
        if (section->data != NULL) {
            memcpy(file.data + data_at, section->data, section->size);
            data_at += section->size;
        }
    }
    memcpy(file.data + data_at, names, names_section.size);
    return file;
}

ridge_cubin *support_cubin(file_bytes file)
{
    ridge_cubin *cubin;
    ridge_error err;

    if (ridge_cubin_read(file.data, file.size, &cubin, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    assert_non_null(cubin);
    return cubin;
}
