/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared libraries that export ridge_plugin(). The loader knows a library by device and inode, so a
 * library that was rebuilt in place would be the old one again: a copy with a name of its own is
 * loaded, and removed as soon as it is mapped. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <elf.h>
#endif

#include "arm/arm_internal.h"
#include "base/file.h"

enum {
    MOST_KERNELS = 1024,
    /* A kernel of ABI 1 ends with its context. */
    KERNEL_BYTES = offsetof(ridge_kernel, context) + sizeof(void *),
};

/* -- copies ------------------------------------------------------------------------------------ */

/* What the loader said, without the name of the copy in front. */
static const char *loader_message(const char *copy)
{
    const char *const said = dlerror();
    const size_t length = strlen(copy);

    if (said == NULL)
        return "the loader does not say why";
    return strncmp(said, copy, length) == 0 && strncmp(said + length, ": ", 2) == 0
               ? said + length + 2
               : said;
}

/* Loads a copy in a folder. */
static ridge_status load_copy(ridge_arm *arm, const char *folder, ridge_error *err)
{
    char copy[1024];
    ridge_status status = RIDGE_OK;
    int descriptor;

    if ((size_t)snprintf(copy, sizeof(copy), "%s/.ridge-XXXXXX", folder) >= sizeof(copy))
        return ridge_fail(err, RIDGE_ERR_IO, "the path %.200s... is too long", folder);
    descriptor = mkstemp(copy);
    if (descriptor < 0)
        return ridge_fail(err, RIDGE_ERR_IO, "no copy to load can be made in %.200s ($TMPDIR): %s",
                          folder, strerror(errno));
    if (!ridge_write_all(descriptor, arm->image, arm->image_bytes))
        status = ridge_fail(err, RIDGE_ERR_IO,
                            "the copy to load in %.200s ($TMPDIR) cannot be written: %s", folder,
                            strerror(errno));
    if (close(descriptor) != 0 && status == RIDGE_OK)
        status = ridge_fail(err, RIDGE_ERR_IO,
                            "the copy to load in %.200s ($TMPDIR) cannot be written: %s", folder,
                            strerror(errno));
    if (status == RIDGE_OK) {
        arm->library = dlopen(copy, RTLD_NOW | RTLD_LOCAL);
        if (arm->library == NULL)
            status =
                ridge_fail(err, RIDGE_ERR_FORMAT, "cannot be loaded: %s", loader_message(copy));
    }
    unlink(copy);
    return status;
}

#ifdef __linux__
/* The loader maps what the program headers say: of a file that was cut short, by a linker at work or
 * a full disk, it touches pages that are not there. Other than 64-bit ELF is for the loader to
 * refuse. */
static ridge_status check_whole(const ridge_arm *arm, ridge_error *err)
{
    const uint8_t *const bytes = arm->image;
    const uint64_t size = arm->image_bytes;
    Elf64_Ehdr header;
    uint64_t i;

    if (size < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "is no shared library: no ELF file");
    if (size <= EI_CLASS || bytes[EI_CLASS] != ELFCLASS64)
        return RIDGE_OK;
    if (size < sizeof(header))
        return ridge_fail(err, RIDGE_ERR_FORMAT, "is cut short: %zu bytes", arm->image_bytes);
    memcpy(&header, bytes, sizeof(header));
    for (i = 0; i < header.e_phnum && header.e_phentsize == sizeof(Elf64_Phdr); i++) {
        const uint64_t skip = i * sizeof(Elf64_Phdr);
        Elf64_Phdr segment;

        if (header.e_phoff > size || size - header.e_phoff < skip + sizeof(segment))
            return ridge_fail(err, RIDGE_ERR_FORMAT,
                              "is cut short: its program headers lie beyond its %zu bytes",
                              arm->image_bytes);
        memcpy(&segment, bytes + header.e_phoff + skip, sizeof(segment));
        if (segment.p_type == PT_LOAD &&
            (segment.p_offset > size || size - segment.p_offset < segment.p_filesz))
            return ridge_fail(err, RIDGE_ERR_FORMAT,
                              "is cut short: segment %d needs bytes up to %llu, the file has %zu",
                              (int)i, (unsigned long long)segment.p_offset + segment.p_filesz,
                              arm->image_bytes);
    }
    return RIDGE_OK;
}
#else
static ridge_status check_whole(const ridge_arm *arm, ridge_error *err)
{
    (void)arm, (void)err;
    return RIDGE_OK;
}
#endif

ridge_status arm_library_open(ridge_arm *arm, ridge_error *err)
{
    const char *const path = arm->name.path;
    const char *const set = getenv("TMPDIR");
    const char *const slash = strrchr(path, '/');
    char folder[512] = ".";
    ridge_status status;

    arm->image_kind = "library";
    status = arm_read_file(path, &arm->image, &arm->image_bytes, err);
    if (status == RIDGE_OK)
        status = check_whole(arm, err);
    if (status == RIDGE_OK)
        status = ridge_code_of(arm->image, arm->image_bytes, NULL, &arm->code, err);
    if (status != RIDGE_OK)
        return status;
    status = load_copy(arm, set != NULL && set[0] != '\0' ? set : "/tmp", err);
    /* A library that looks for others beside itself ($ORIGIN), or a folder of temporary files that
     * nothing may be run from: a copy beside it does. The first message stays. */
    if (status == RIDGE_ERR_FORMAT) {
        if (slash != NULL)
            snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
        if (folder[0] != '\0' && load_copy(arm, folder, NULL) == RIDGE_OK)
            status = RIDGE_OK;
    }
    return status;
}

void arm_library_name_code(ridge_arm *arm, const char *name)
{
    char joined[RIDGE_HASH_TEXT + 160];

    if (arm->code.hash[0] == '\0')
        return;
    snprintf(joined, sizeof(joined), "%s:%.150s", arm->code.hash, name);
    ridge_hash_text(joined, strlen(joined), arm->code.hash);
}

void arm_library_close(void *library)
{
    if (library != NULL)
        dlclose(library);
}

/* -- kernels ----------------------------------------------------------------------------------- */

static ridge_status find_entry(const ridge_arm *arm, ridge_plugin_function *out, ridge_error *err)
{
    void *const symbol = dlsym(arm->library, "ridge_plugin");

    if (symbol == NULL)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "exports no ridge_plugin(): export it (ridge/family.h), or call a plain "
                          "function: --call 'NAME(ptr:out:out:bf16[m,n], ..., stream)'");
    memcpy(out, &symbol, sizeof(symbol)); /* ISO C has no cast from object to function */
    return RIDGE_OK;
}

static ridge_status check_kernel(const ridge_kernel *kernel, size_t index, ridge_error *err)
{
    if (kernel->struct_size < KERNEL_BYTES)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "struct_size of kernel %zu is %zu, expected at least %d: set it to "
                          "sizeof(ridge_kernel) and build with this ridge/family.h",
                          index, kernel->struct_size, (int)KERNEL_BYTES);
    if (kernel->name == NULL || kernel->name[0] == '\0')
        return ridge_fail(err, RIDGE_ERR_FORMAT, "kernel %zu has no name", index);
    if (kernel->describe == NULL || kernel->launch == NULL)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "kernel %.80s has no %s", kernel->name,
                          kernel->describe == NULL ? "describe" : "launch");
    return RIDGE_OK;
}

static ridge_status find_kernel(ridge_arm *arm, ridge_plugin_function entry, ridge_error *err)
{
    const char *const wanted = arm->name.item;
    char names[240] = "";
    const ridge_kernel *found = NULL;
    size_t count = 0;

    for (; count < MOST_KERNELS; count++) {
        const ridge_kernel *const kernel = entry(RIDGE_PLUGIN_ABI, count);
        const size_t used = strlen(names);
        ridge_status status;

        if (kernel == NULL)
            break;
        status = check_kernel(kernel, count, err);
        if (status != RIDGE_OK)
            return status;
        if (found == NULL && (wanted[0] == '\0' || strcmp(kernel->name, wanted) == 0))
            found = kernel;
        snprintf(names + used, sizeof(names) - used, "%s%s", used > 0 ? ", " : "", kernel->name);
    }
    if (count == 0)
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "ridge_plugin(%d, 0) gives no kernel: it has none, or was built for "
                          "another ABI than %d",
                          RIDGE_PLUGIN_ABI, RIDGE_PLUGIN_ABI);
    if (found == NULL)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "no kernel '%.60s', there are: %s",
                          wanted, names);
    if (wanted[0] == '\0' && count > 1)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "%zu kernels, expected LIBRARY:NAME with one of %s", count, names);
    arm->kernel = found;
    arm_library_name_code(arm, found->name);
    return RIDGE_OK;
}

/* -- what it takes ----------------------------------------------------------------------------- */

static ridge_status check_default_case(const ridge_kernel *kernel, ridge_error *err)
{
    const ridge_case *const at = kernel->default_case;
    ridge_case again;

    if (at->struct_size < sizeof(*at))
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "default_case of kernel %.80s has struct_size %zu, expected "
                          "sizeof(ridge_case), %zu",
                          kernel->name, at->struct_size, sizeof(*at));
    if (at->axis_count > RIDGE_CASE_AXES)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "default_case of kernel %.80s has %zu axes, expected at most %d",
                          kernel->name, at->axis_count, (int)RIDGE_CASE_AXES);
    ridge_case_init(&again);
    for (size_t i = 0; i < at->axis_count; i++) {
        const ridge_axis *const axis = &at->axes[i];
        ridge_error why;
        char name[sizeof(axis->name) + 1];

        snprintf(name, sizeof(name), "%.*s", (int)sizeof(axis->name), axis->name);
        if (ridge_case_set(&again, name, axis->value, &why) != RIDGE_OK)
            return ridge_fail(err, RIDGE_ERR_FORMAT, "axis %zu of kernel %.80s: %s", i,
                              kernel->name, why.text);
        if (again.axis_count != i + 1)
            return ridge_fail(err, RIDGE_ERR_FORMAT, "kernel %.80s has axis %s twice", kernel->name,
                              name);
    }
    if ((unsigned)at->dtype >= RIDGE_DTYPE_COUNT || (unsigned)at->layout >= RIDGE_LAYOUT_COUNT ||
        (unsigned)at->values >= RIDGE_VALUES_COUNT)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "default_case of kernel %.80s: its dtype, layout or values are none of "
                          "ridge/family.h",
                          kernel->name);
    return RIDGE_OK;
}

/* What a kernel says of its cases; an older one ends before it can. */
static ridge_status take_cases(ridge_arm *arm, ridge_error *err)
{
    const ridge_kernel *const kernel = arm->kernel;
    ridge_status status;

    if (kernel->struct_size < offsetof(ridge_kernel, tile) + sizeof(kernel->tile))
        return RIDGE_OK;
    if (kernel->dtype_count > RIDGE_DTYPE_COUNT ||
        (kernel->dtypes == NULL && kernel->dtype_count > 0))
        return ridge_fail(err, RIDGE_ERR_FORMAT, "kernel %.80s has %zu dtypes, %s", kernel->name,
                          kernel->dtype_count,
                          kernel->dtypes == NULL ? "which point nowhere" : "more than there are");
    for (size_t i = 0; i < kernel->dtype_count; i++)
        if ((unsigned)kernel->dtypes[i] >= RIDGE_DTYPE_COUNT)
            return ridge_fail(err, RIDGE_ERR_FORMAT, "dtype %zu of kernel %.80s is %d, none of%s",
                              i, kernel->name, (int)kernel->dtypes[i], RIDGE_DTYPE_NAMES);
    if (kernel->tile < 0 || kernel->tile > INT32_MAX)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "tile of kernel %.80s is %lld, expected 0 (none) to %d", kernel->name,
                          (long long)kernel->tile, INT32_MAX);
    if (kernel->default_case != NULL) {
        status = check_default_case(kernel, err);
        if (status != RIDGE_OK)
            return status;
        arm->base = *kernel->default_case;
        arm->dtype = arm->base.dtype;
        arm->dtypes = &arm->dtype;
        arm->dtype_count = 1;
    }
    if (kernel->dtype_count > 0) {
        if (kernel->default_case == NULL)
            arm->base.dtype = kernel->dtypes[0];
        arm->dtypes = kernel->dtypes;
        arm->dtype_count = kernel->dtype_count;
    }
    if (kernel->tile > 0)
        arm->tile = kernel->tile;
    return RIDGE_OK;
}

ridge_status arm_open_plugin(ridge_arm *arm, const ridge_arm_options *options, ridge_error *err)
{
    const ridge_family *family = NULL;
    ridge_plugin_function entry = NULL;
    ridge_status status = arm_library_open(arm, err);

    if (status == RIDGE_OK)
        status = find_entry(arm, &entry, err);
    if (status == RIDGE_OK && entry != NULL)
        status = find_kernel(arm, entry, err);
    if (status == RIDGE_OK)
        status = arm_family_of(options, NULL, &family, err);
    if (status != RIDGE_OK)
        return status;
    if (family != NULL) { /* the kernel's own word goes before its family's */
        arm->base = family->default_case;
        arm->dtypes = family->dtypes;
        arm->dtype_count = family->dtype_count;
    }
    status = take_cases(arm, err);
    if (status != RIDGE_OK || family == NULL)
        return status;
    return arm_borrow_family(arm, family, err);
}
