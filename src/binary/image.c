/* SPDX-License-Identifier: Apache-2.0
 *
 * Images: what kind of file it is, the list of its entries, and the unpacking of one of them.
 *
 * An announced size is used as the first size of the buffer only as far as the stored bytes make it
 * plausible; the rest grows with what comes out (base/unpack.h). */
#include <lz4.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/unpack.h"
#include "binary/image_internal.h"

enum {
    UNPACKED_MAX = 1 << 30,     /* of an entry; the largest seen is 133,833,256 */
    LZ4_RATIO_MAX = 255,        /* of the format: a byte of length for 255 bytes */
    PLAUSIBLE_RATIO = 64,       /* of zstd; code packs 3 to 20 times */
    PLAUSIBLE_BYTES = 1 << 16,  /* is allowed to be anything */
    SPARE_BYTES_MAX = 32 << 20, /* a larger buffer is not kept for the next entry */
    IMPLAUSIBLE_MAX = 1 << 28,  /* of all entries of an image that pack better than that */
    FILE_BYTES_MAX = 1 << 30,   /* of a file that is packed as a whole */
    ENTRIES_FIRST = 16,
    WARNINGS_MAX = 64,
    ELF_HEADER_BYTES = 64,
    MACHINE_AT = 18,
    MACHINE_CUDA = 190,
};

static ridge_status out_of_memory(ridge_error *err)
{
    return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory listing an image");
}

/* ---- growing lists ---- */

/* Room for one more row of a list; NULL when out of memory. */
static void *grown(void *list, size_t *capacity, size_t row_bytes)
{
    const size_t wanted = *capacity > 0 ? *capacity * 2 : ENTRIES_FIRST;
    void *const larger = ridge_realloc_array(list, wanted, row_bytes);

    if (larger != NULL)
        *capacity = wanted;
    return larger;
}

uint64_t image_offset(const ridge_image *image, const uint8_t *at)
{
    return (uint64_t)(at - image->bytes.data);
}

image_entry *image_add_entry(ridge_image *image, const image_place *place, ridge_slice stored,
                             ridge_error *err)
{
    image_entry *entry;

    if (image->entry_count == image->entry_capacity) {
        entry = grown(image->entries, &image->entry_capacity, sizeof(*entry));
        if (entry == NULL) {
            out_of_memory(err);
            return NULL;
        }
        image->entries = entry;
    }
    entry = &image->entries[image->entry_count++];
    memset(entry, 0, sizeof(*entry));
    entry->stored = stored;
    entry->about.member = place->member;
    entry->about.section = place->section;
    entry->about.file_offset = image_offset(image, stored.data);
    entry->about.stored_bytes = entry->about.unpacked_bytes = stored.size;
    return entry;
}

ridge_status image_warn(ridge_image *image, ridge_error *err, const char *format, ...)
{
    ridge_error line = {.status = RIDGE_OK};
    char text[sizeof(line.text)];
    va_list arguments;
    char *copy;

    if (image->warning_count == WARNINGS_MAX) {
        image->warnings_dropped++;
        return RIDGE_OK;
    }
    if (image->warning_count == image->warning_capacity) {
        char **const list =
            grown(image->warnings, &image->warning_capacity, sizeof(*image->warnings));

        if (list == NULL)
            return out_of_memory(err);
        image->warnings = list;
    }
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    ridge_fail(&line, RIDGE_ERR_FORMAT, "%s", text); /* cleans it */
    copy = ridge_alloc_text(&image->arena, line.text, strlen(line.text));
    if (copy == NULL)
        return out_of_memory(err);
    image->warnings[image->warning_count++] = copy;
    return RIDGE_OK;
}

static uint64_t plausible_bytes(size_t stored_bytes)
{
    return (uint64_t)stored_bytes * PLAUSIBLE_RATIO + PLAUSIBLE_BYTES;
}

void image_judge_entry(ridge_image *image, image_entry *entry)
{
    const uint64_t announced = entry->about.unpacked_bytes;

    if (announced <= plausible_bytes(entry->stored.size) || announced > UNPACKED_MAX)
        return;
    image->implausible_bytes += announced;
    entry->is_refused = image->implausible_bytes > IMPLAUSIBLE_MAX;
}

/* ---- kinds of files ---- */

static bool begins_with(ridge_slice bytes, const char *text, size_t size)
{
    return bytes.size >= size && memcmp(bytes.data, text, size) == 0;
}

image_found image_identify(ridge_slice bytes)
{
    if (fatbin_begins(bytes))
        return IMAGE_CONTAINER;
    if (begins_with(bytes, "\177ELF", 4)) {
        if (bytes.size >= ELF_HEADER_BYTES &&
            (bytes.data[MACHINE_AT] | bytes.data[MACHINE_AT + 1] << 8) == MACHINE_CUDA)
            return IMAGE_CUBIN_FILE;
        return IMAGE_HOST_ELF;
    }
    if (begins_with(bytes, "!<arch>\n", 8) || begins_with(bytes, "!<thin>\n", 8))
        return IMAGE_ARCHIVE_FILE;
    if (begins_with(bytes, "MZ", 2) || begins_with(bytes, "\x64\x86", 2))
        return IMAGE_WINDOWS;
    if (begins_with(bytes, "NVR\0", 4))
        return IMAGE_REPORT;
    return ptx_is_text(bytes) ? IMAGE_PTX_TEXT : IMAGE_NOTHING;
}

ridge_status image_add_cubin(ridge_image *image, const image_place *place, ridge_slice bytes,
                             ridge_error *err)
{
    ridge_cubin *cubin;
    const ridge_provenance *from;
    image_entry *entry;
    ridge_status status;

    status = ridge_cubin_read(bytes.data, bytes.size, &cubin, err);
    if (status != RIDGE_OK)
        return status;
    entry = image_add_entry(image, place, bytes, err);
    if (entry == NULL) {
        ridge_cubin_free(cubin);
        return RIDGE_ERR_OUT_OF_MEMORY;
    }
    from = ridge_cubin_provenance(cubin);
    entry->about.kind = RIDGE_ENTRY_CUBIN;
    entry->about.sm = ridge_cubin_sm(cubin);
    entry->about.suffix = from->suffix;
    entry->about.is_relocatable = from->is_relocatable;
    ridge_cubin_free(cubin);
    return RIDGE_OK;
}

ridge_status image_add_ptx(ridge_image *image, const image_place *place, ridge_slice bytes,
                           ridge_error *err)
{
    ptx_module module;
    image_entry *entry;
    ridge_status status;

    status = ptx_read(bytes, &module, err);
    if (status != RIDGE_OK)
        goto out;
    if (module.sm == 0) {
        status = ridge_fail(err, RIDGE_ERR_FORMAT,
                            "PTX without a .target of the form sm_NN in %zu bytes", bytes.size);
        goto out;
    }
    entry = image_add_entry(image, place, bytes, err);
    if (entry == NULL) {
        status = RIDGE_ERR_OUT_OF_MEMORY;
        goto out;
    }
    entry->about.kind = RIDGE_ENTRY_PTX;
    entry->about.sm = module.sm;
    entry->about.suffix = module.suffix;
    entry->about.ptx_major = module.isa_major;
    entry->about.ptx_minor = module.isa_minor;
    entry->about.is_debug = module.is_debug;
out:
    ptx_release(&module);
    return status;
}

static ridge_status list_entries(ridge_image *image, ridge_error *err)
{
    static const image_place whole = {NULL, ""};
    const ridge_slice bytes = image->bytes;

    switch (image_identify(bytes)) {
    case IMAGE_CONTAINER:
        image->kind = RIDGE_IMAGE_FATBIN;
        return fatbin_scan(image, &whole, bytes, err);
    case IMAGE_CUBIN_FILE:
        image->kind = RIDGE_IMAGE_CUBIN;
        return image_add_cubin(image, &whole, bytes, err);
    case IMAGE_PTX_TEXT:
        image->kind = RIDGE_IMAGE_PTX;
        return image_add_ptx(image, &whole, bytes, err);
    case IMAGE_HOST_ELF:
        return host_elf_scan(image, NULL, bytes, &image->kind, err);
    case IMAGE_ARCHIVE_FILE:
        image->kind = RIDGE_IMAGE_ARCHIVE;
        return archive_scan(image, bytes, err);
    case IMAGE_WINDOWS:
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "a Windows object or program; ELF files of Linux are read");
    case IMAGE_REPORT:
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "a profile, which is read as a report and not as an image");
    case IMAGE_NOTHING:
    default:
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "%zu bytes that are no cubin, fat binary, PTX, ELF file or archive",
                          bytes.size);
    }
}

static ridge_status list_all(ridge_image *image, ridge_error *err)
{
    const ridge_status status = list_entries(image, err);

    if (status != RIDGE_OK || image->entry_count > 0)
        return status;
    if (image->warning_count > 0)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "no CUDA code that can be read: %s",
                          image->warnings[0]);
    return ridge_fail(err, RIDGE_ERR_FORMAT,
                      "%s of %zu bytes without CUDA code: no .nv_fatbin or __nv_relfatbin, and no "
                      "fat binary or cubin in its data",
                      ridge_image_kind_name(image->kind), image->bytes.size);
}

/* ---- life ---- */

static ridge_image *create(void)
{
    ridge_image *const image = ridge_calloc(1, sizeof(*image));

    if (image != NULL)
        ridge_arena_init(&image->arena);
    return image;
}

/* Lists image, which is given, and hands it on. */
static ridge_status finish(ridge_image *image, ridge_image **out, ridge_error *err)
{
    const ridge_status status = list_all(image, err);

    if (status != RIDGE_OK) {
        ridge_image_free(image);
        return status;
    }
    *out = image;
    return RIDGE_OK;
}

ridge_status ridge_image_open(const char *path, ridge_image **out, ridge_error *err)
{
    ridge_image *image;
    ridge_status status;

    *out = NULL;
    image = create();
    if (image == NULL)
        return out_of_memory(err);
    status = ridge_file_open(path, &image->file, err);
    if (status == RIDGE_OK)
        status = ridge_file_unpack(&image->file, path, FILE_BYTES_MAX, err);
    if (status != RIDGE_OK) {
        ridge_image_free(image);
        return status;
    }
    image->bytes = image->file.bytes;
    return finish(image, out, err);
}

ridge_status ridge_image_read(const void *data, size_t size_bytes, const char *name,
                              ridge_image **out, ridge_error *err)
{
    ridge_image *image;

    (void)name;
    *out = NULL;
    image = create();
    if (image == NULL)
        return out_of_memory(err);
    image->bytes.data = data;
    image->bytes.size = size_bytes;
    return finish(image, out, err);
}

void ridge_image_free(ridge_image *image)
{
    size_t i;

    if (image == NULL)
        return;
    for (i = 0; i < image->entry_count; i++)
        ridge_image_entry_unload(image, i);
    ridge_free(image->spare);
    ridge_free(image->warnings);
    ridge_free(image->entries);
    ridge_file_release(&image->file);
    ridge_arena_release(&image->arena);
    ridge_free(image);
}

/* ---- unpacking ---- */

static ridge_status unpack_lz4(ridge_slice stored, uint64_t announced, ridge_sink *to,
                               ridge_error *err)
{
    ridge_status status;
    int got;

    if (stored.size > UNPACKED_MAX || announced > ((uint64_t)stored.size + 1) * LZ4_RATIO_MAX ||
        announced > UNPACKED_MAX)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "%zu bytes of LZ4 announce %llu, which they cannot hold", stored.size,
                          (unsigned long long)announced);
    status = ridge_sink_reserve(to, (size_t)announced + 1, err);
    if (status != RIDGE_OK)
        return status;
    got = LZ4_decompress_safe((const char *)stored.data, (char *)to->data, (int)stored.size,
                              (int)announced);
    if (got < 0 || (uint64_t)got != announced)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "LZ4 data damaged: %zu bytes do not unpack to %llu", stored.size,
                          (unsigned long long)announced);
    to->size = (size_t)got;
    return RIDGE_OK;
}

static ridge_status unpack_zstd(ridge_slice stored, uint64_t announced, ridge_sink *to,
                                ridge_error *err)
{
    const uint64_t plausible = plausible_bytes(stored.size);
    ridge_status status;

    if (announced > UNPACKED_MAX)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "%zu bytes of zstd announce %llu, at most %d are "
                          "unpacked",
                          stored.size, (unsigned long long)announced, UNPACKED_MAX);
    status =
        ridge_sink_reserve(to, (size_t)(announced < plausible ? announced : plausible) + 1, err);
    if (status == RIDGE_OK)
        status = ridge_unpack_zstd(stored, to, err);
    if (status == RIDGE_OK && to->size != announced)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "zstd data unpacks to %zu bytes, not to %llu",
                          to->size, (unsigned long long)announced);
    return status;
}

static ridge_status unpack(ridge_image *image, const image_entry *entry, image_load *load,
                           ridge_error *err)
{
    const uint64_t announced = entry->about.unpacked_bytes;
    ridge_sink to = {.largest = announced < UNPACKED_MAX ? (size_t)announced : UNPACKED_MAX};
    ridge_status status;

    load->bytes = entry->stored;
    if (entry->about.packing == RIDGE_PACKED_NOT)
        return RIDGE_OK;
    if (entry->is_refused)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "%zu bytes of zstd announce %llu, code packs 3 to 20 times; of such "
                          "entries at most %d bytes in all are unpacked",
                          entry->stored.size, (unsigned long long)announced, IMPLAUSIBLE_MAX);
    to.data = image->spare;
    to.capacity = image->spare_bytes;
    image->spare = NULL;
    image->spare_bytes = 0;
    if (entry->about.packing == RIDGE_PACKED_LZ4)
        status = unpack_lz4(entry->stored, announced, &to, err);
    else if (entry->about.packing == RIDGE_PACKED_ZSTD)
        status = unpack_zstd(entry->stored, announced, &to, err);
    else
        status = ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                            "packed by a method that is not known; LZ4 and zstd are read");
    load->buffer = to.data;
    load->capacity = to.capacity;
    load->bytes.data = to.data;
    load->bytes.size = status == RIDGE_OK ? to.size : 0;
    return status;
}

/* ---- loading ---- */

/* PTX that is not packed is filled up with NUL. */
static ridge_slice without_padding(ridge_slice text)
{
    while (text.size > 0 && text.data[text.size - 1] == '\0')
        text.size--;
    return text;
}

static ridge_status read_loaded(ridge_image *image, const image_entry *entry, image_load *load,
                                ridge_error *err)
{
    ridge_status status;

    if (entry->about.kind != RIDGE_ENTRY_CUBIN && entry->about.kind != RIDGE_ENTRY_PTX)
        return RIDGE_OK;
    status = unpack(image, entry, load, err);
    if (status != RIDGE_OK)
        return status;
    if (entry->about.kind == RIDGE_ENTRY_CUBIN)
        return ridge_cubin_read(load->bytes.data, load->bytes.size, &load->cubin, err);
    load->bytes = without_padding(load->bytes);
    return ptx_read(load->bytes, &load->ptx, err);
}

void ridge_image_entry_unload(ridge_image *image, size_t index)
{
    image_load *load;

    if (index >= image->entry_count)
        return;
    load = image->entries[index].load;
    if (load == NULL)
        return;
    ridge_cubin_free(load->cubin);
    ptx_release(&load->ptx);
    if (load->capacity > image->spare_bytes && load->capacity <= SPARE_BYTES_MAX) {
        ridge_free(image->spare);
        image->spare = load->buffer;
        image->spare_bytes = load->capacity;
    } else {
        ridge_free(load->buffer);
    }
    ridge_free(load);
    image->entries[index].load = NULL;
}

ridge_status ridge_image_entry_load(ridge_image *image, size_t index, ridge_loaded *out,
                                    ridge_error *err)
{
    image_entry *entry;

    memset(out, 0, sizeof(*out));
    if (index >= image->entry_count)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "entry %zu of %zu", index,
                          image->entry_count);
    entry = &image->entries[index];
    if (entry->load == NULL) {
        ridge_status status;

        entry->load = ridge_calloc(1, sizeof(*entry->load));
        if (entry->load == NULL)
            return out_of_memory(err);
        status = read_loaded(image, entry, entry->load, err);
        if (status != RIDGE_OK) {
            ridge_image_entry_unload(image, index);
            return status;
        }
    }
    out->cubin = entry->load->cubin;
    if (entry->about.kind == RIDGE_ENTRY_PTX) {
        out->text = (const char *)entry->load->bytes.data;
        out->text_bytes = entry->load->bytes.size;
        out->kernels = entry->load->ptx.kernels;
        out->kernel_count = entry->load->ptx.kernel_count;
        out->ptx_sm = entry->load->ptx.sm;
        out->ptx_suffix = entry->load->ptx.suffix;
    }
    return RIDGE_OK;
}

/* ---- getters ---- */

ridge_image_kind ridge_image_file_kind(const ridge_image *image)
{
    return image->kind;
}

const char *ridge_image_kind_name(ridge_image_kind kind)
{
    static const char *const names[] = {
        [RIDGE_IMAGE_CUBIN] = "cubin",
        [RIDGE_IMAGE_FATBIN] = "fat binary",
        [RIDGE_IMAGE_PTX] = "PTX",
        [RIDGE_IMAGE_OBJECT] = "object file",
        [RIDGE_IMAGE_SHARED] = "shared library",
        [RIDGE_IMAGE_EXECUTABLE] = "executable",
        [RIDGE_IMAGE_ARCHIVE] = "archive",
    };

    return (size_t)kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "unknown";
}

size_t ridge_image_container_count(const ridge_image *image)
{
    return image->container_count;
}

size_t ridge_image_entry_count(const ridge_image *image)
{
    return image->entry_count;
}

const ridge_entry *ridge_image_entry(const ridge_image *image, size_t index)
{
    return index < image->entry_count ? &image->entries[index].about : NULL;
}

const char *ridge_image_warning(const ridge_image *image, size_t index)
{
    if (index < image->warning_count)
        return image->warnings[index];
    if (index == image->warning_count && image->warnings_dropped > 0)
        return "more parts of the file are damaged than are listed";
    return NULL;
}
