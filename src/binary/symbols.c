/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions inside the code of others, by the symbols of a cubin. */
#include <stdlib.h>
#include <string.h>

#include "binary/binary_internal.h"
#include "ridge/mix.h"

enum { SYMBOL_BYTES = 24, TYPE_SYMBOLS = 2, SYMBOL_FUNCTION = 2 };

/* The names that the symbols use. */
static ridge_slice symbol_names(const ridge_cubin *cubin)
{
    const ridge_slice none = {NULL, 0};
    size_t i;

    for (i = 0; i < cubin->section_count; i++) {
        const cubin_section *const section = &cubin->sections[i];

        if (section->type == TYPE_SYMBOLS && section->data.data == cubin->symbols.data &&
            section->link < cubin->section_count)
            return cubin->sections[section->link].data;
    }
    return none;
}

/* The name of a symbol; NULL when it has none inside the table. */
static const char *symbol_name(const ridge_cubin *cubin, ridge_slice names, size_t index)
{
    ridge_cursor cursor = ridge_cursor_at(cubin->symbols.data + index * SYMBOL_BYTES, SYMBOL_BYTES);
    const uint32_t offset = ridge_read_u32(&cursor);

    if (offset == 0 || offset >= names.size ||
        memchr(names.data + offset, 0, names.size - offset) == NULL)
        return NULL;
    return (const char *)names.data + offset;
}

/* Where each function begins, in the numbers that symbols use: 0, but in an image that was taken
 * from a process the address it was loaded at. */
static void find_bases(const ridge_cubin *cubin, uint64_t *bases)
{
    const size_t count = cubin->symbols.size / SYMBOL_BYTES;
    size_t i;

    for (i = 0; i < count; i++) {
        cubin_symbol_row row;

        if (cubin_symbol(cubin, i, &row) && row.type == SYMBOL_FUNCTION && row.function != NULL &&
            row.size == row.function->code_bytes)
            bases[row.function - cubin->functions] = row.value;
    }
}

static bool read_helper(const ridge_cubin *cubin, const uint64_t *bases, ridge_slice names,
                        size_t index, ridge_helper *out)
{
    cubin_symbol_row row;
    uint64_t base;

    if (!cubin_symbol(cubin, index, &row) || row.type != SYMBOL_FUNCTION || row.function == NULL)
        return false;
    base = bases[row.function - cubin->functions];
    if (row.size == 0 || row.size >= row.function->code_bytes || row.value < base ||
        row.value - base > row.function->code_bytes - row.size)
        return false;
    out->function = row.function;
    out->name = symbol_name(cubin, names, index);
    out->offset = (uint32_t)(row.value - base);
    out->code_bytes = (uint32_t)row.size;
    return out->name != NULL;
}

static int by_place(const void *left, const void *right)
{
    const ridge_helper *const a = left;
    const ridge_helper *const b = right;

    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return strcmp(a->name, b->name);
}

ridge_status ridge_helpers_find(const ridge_cubin *cubin, ridge_helpers *out, ridge_error *err)
{
    const ridge_slice names = symbol_names(cubin);
    const size_t symbol_count = cubin->symbols.size / SYMBOL_BYTES;
    uint64_t *const bases = ridge_calloc(cubin->function_count + 1, sizeof(*bases));
    ridge_helper helper;
    size_t count = 0;
    size_t i;

    memset(out, 0, sizeof(*out));
    if (bases != NULL) {
        find_bases(cubin, bases);
        for (i = 0; i < symbol_count; i++)
            count += read_helper(cubin, bases, names, i, &helper);
        out->rows = ridge_calloc(count + 1, sizeof(*out->rows));
    }
    for (i = 0; bases != NULL && out->rows != NULL && i < symbol_count; i++)
        if (read_helper(cubin, bases, names, i, &helper))
            out->rows[out->count++] = helper;
    ridge_free(bases);
    if (out->rows == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory reading symbols");
    if (out->count > 1)
        qsort(out->rows, out->count, sizeof(*out->rows), by_place);
    return RIDGE_OK;
}

void ridge_helpers_release(ridge_helpers *helpers)
{
    ridge_free(helpers->rows);
    memset(helpers, 0, sizeof(*helpers));
}
