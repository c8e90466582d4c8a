/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a cubin comes from: notes that toolkits from 13 on write, and the PTX that -lineinfo
 * embeds. Nothing here is needed to read the code, so what is damaged is left out. */
#include <stdlib.h>
#include <string.h>

#include "binary/binary_internal.h"
#include "binary/image_internal.h"

enum {
    NOTE_TOOLKIT = 2000,
    NOTE_DEVICE = 1000,
    NOTE_ALIGNMENT = 4,
    TEXTS_AT = 24, /* six words, then the texts that they are offsets into */
};

static const char vendor[] = "NVIDIA Corp";

/* The description of the first note of a type; empty when there is none. */
static ridge_slice note_of_type(ridge_slice section, uint32_t wanted)
{
    static const ridge_slice nothing = {NULL, 0};
    ridge_cursor cursor = ridge_cursor_of(section);

    while (!cursor.failed && ridge_cursor_left(&cursor) > 0) {
        const uint32_t name_bytes = ridge_read_u32(&cursor);
        const uint32_t data_bytes = ridge_read_u32(&cursor);
        const uint32_t type = ridge_read_u32(&cursor);
        const ridge_slice name = ridge_read_bytes(&cursor, name_bytes);
        ridge_slice data;

        ridge_skip(&cursor, (NOTE_ALIGNMENT - name_bytes % NOTE_ALIGNMENT) % NOTE_ALIGNMENT);
        data = ridge_read_bytes(&cursor, data_bytes);
        if (cursor.failed)
            break;
        if (type == wanted && name.size == sizeof(vendor) &&
            memcmp(name.data, vendor, sizeof(vendor)) == 0)
            return data;
        ridge_skip(&cursor, (NOTE_ALIGNMENT - data_bytes % NOTE_ALIGNMENT) % NOTE_ALIGNMENT);
    }
    return nothing;
}

/* The text at an offset; NULL when there is none. They end in NUL, the last perhaps in spaces. */
static ridge_status copy_text(ridge_cubin *cubin, ridge_slice texts, uint32_t offset,
                              const char **out, ridge_error *err)
{
    bool ok = true;
    ridge_slice text =
        ridge_slice_part(texts, offset, offset <= texts.size ? texts.size - offset : 0, &ok);
    const uint8_t *const nul = text.size > 0 ? memchr(text.data, 0, text.size) : NULL;

    if (nul != NULL)
        text.size = (size_t)(nul - text.data);
    while (text.size > 0 && text.data[text.size - 1] == ' ')
        text.size--;
    if (text.size == 0)
        return RIDGE_OK;
    *out = ridge_alloc_text(&cubin->arena, (const char *)text.data, text.size);
    return *out != NULL ? RIDGE_OK
                        : ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory reading a cubin");
}

/* "Cuda compilation tools, release 13.0, V13.0.88": the 13.0. */
static void set_toolkit(ridge_cubin *cubin)
{
    static const char before[] = "release ";
    const char *const release = strstr(cubin->provenance.version, before);
    const char *number;
    size_t length;

    if (release == NULL)
        return;
    number = release + sizeof(before) - 1;
    length = strspn(number, "0123456789.");
    if (length == 0 || length >= sizeof(cubin->toolkit))
        return;
    memcpy(cubin->toolkit, number, length);
    cubin->toolkit[length] = '\0';
    cubin->toolkit_major = (int)strtol(cubin->toolkit, NULL, 10);
}

/* "-arch sm_100f" is the one trace that a family target leaves in a cubin. */
static void set_suffix(ridge_provenance *from)
{
    static const char option[] = "-arch ";
    const char *const at = from->options != NULL ? strstr(from->options, option) : NULL;
    ridge_target_suffix suffix;
    ridge_slice target;
    int sm;

    if (at == NULL || from->suffix != RIDGE_TARGET_PLAIN)
        return;
    target.data = (const uint8_t *)at + sizeof(option) - 1;
    target.size = strcspn(at + sizeof(option) - 1, " ");
    if (ptx_target(target, &sm, &suffix))
        from->suffix = suffix;
}

ridge_status cubin_read_toolkit_note(ridge_cubin *cubin, ridge_slice section, ridge_error *err)
{
    ridge_provenance *const from = &cubin->provenance;
    const ridge_slice note = note_of_type(section, NOTE_TOOLKIT);
    ridge_cursor cursor = ridge_cursor_of(note);
    ridge_slice texts;
    const char **const fields[] = {&from->tool, &from->version, &from->build, &from->options};
    ridge_status status = RIDGE_OK;
    size_t i;

    if (note.size < TEXTS_AT || from->tool != NULL)
        return RIDGE_OK;
    texts.data = note.data + TEXTS_AT;
    texts.size = note.size - TEXTS_AT;
    ridge_skip(&cursor, 8); /* version of the note, name of the object */
    for (i = 0; i < sizeof(fields) / sizeof(fields[0]) && status == RIDGE_OK; i++)
        status = copy_text(cubin, texts, ridge_read_u32(&cursor), fields[i], err);
    if (status != RIDGE_OK)
        return status;
    if (from->version != NULL)
        set_toolkit(cubin);
    set_suffix(from);
    return RIDGE_OK;
}

void cubin_read_device_note(ridge_cubin *cubin, ridge_slice section)
{
    ridge_cursor cursor = ridge_cursor_of(note_of_type(section, NOTE_DEVICE));
    unsigned sm;

    ridge_skip(&cursor, 2);
    sm = ridge_read_u16(&cursor);
    if (sm != 0)
        cubin->provenance.virtual_sm = (int)sm;
}

ridge_status cubin_read_embedded_ptx(ridge_cubin *cubin, ridge_slice section, ridge_error *err)
{
    ptx_module module;
    ridge_status status;
    size_t i;

    status = ptx_read(section, &module, err);
    for (i = 0; i < module.kernel_count && status == RIDGE_OK; i++) {
        ridge_function *const function = cubin_find_function(cubin, module.kernels[i].name);

        if (function != NULL)
            function->min_blocks = module.kernels[i].min_blocks;
    }
    ptx_release(&module);
    return status;
}
