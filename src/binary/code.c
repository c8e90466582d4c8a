/* SPDX-License-Identifier: Apache-2.0
 *
 * Identity of machine code, and what it takes: two builds of the same source have the same hash, a changed
 * instruction or constant another. What a build leaves in a file besides (paths, times, lines,
 * symbols, the order of modules) does not count.
 *
 *     cubin, fat binary      the entry's instructions, those of device functions, constants
 *     PTX                    its text without comments, blanks, lines and debug sections
 *     library with kernels   all its kernels
 *     library without        the sections of the host that are executed
 *
 * Parts are hashed one by one and their hashes sorted, so that the order of modules is nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "ridge/image.h"

const ridge_code ridge_code_unknown = {"", "", -1, -1, -1, -1};

typedef struct parts {
    char (*hashes)[RIDGE_HASH_TEXT];
    size_t count, capacity;
    const char *entry; /* NULL: all; with '*' at its end all that begin so */
    ridge_code *code;
    size_t kernel_count; /* that code tells of */
} parts;

static ridge_status add_part(parts *list, const void *bytes, size_t size_bytes, ridge_error *err)
{
    if (size_bytes == 0)
        return RIDGE_OK;
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity > 0 ? 2 * list->capacity : 64;
        void *const grown = ridge_realloc_array(list->hashes, capacity, sizeof(list->hashes[0]));

        if (grown == NULL)
            return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory hashing code");
        list->hashes = grown;
        list->capacity = capacity;
    }
    ridge_hash_text(bytes, size_bytes, list->hashes[list->count++]);
    return RIDGE_OK;
}

static int compare_hashes(const void *a, const void *b)
{
    return memcmp(a, b, RIDGE_HASH_TEXT);
}

static void finish_parts(parts *list)
{
    if (list->count > 0) {
        qsort(list->hashes, list->count, sizeof(list->hashes[0]), compare_hashes);
        ridge_hash_text(list->hashes, list->count * sizeof(list->hashes[0]), list->code->hash);
    }
}

static bool is_wanted(const parts *list, const char *name)
{
    const size_t length = list->entry != NULL ? strlen(list->entry) : 0;

    if (list->entry == NULL)
        return true;
    if (length > 0 && list->entry[length - 1] == '*')
        return strncmp(list->entry, name, length - 1) == 0;
    return strcmp(list->entry, name) == 0;
}

/* "sm_80 sm_90": each once, in the order of the file. */
static void add_arch(ridge_code *code, const char *kind, int sm)
{
    char word[24];
    const char *at = code->arch;
    const size_t used = strlen(code->arch);
    const size_t length = (size_t)snprintf(word, sizeof(word), "%s_%d", kind, sm);

    for (; (at = strstr(at, word)) != NULL; at += length)
        if ((at == code->arch || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return;
    if (used + length + 2 <= sizeof(code->arch))
        snprintf(code->arch + used, sizeof(code->arch) - used, "%s%s", used > 0 ? " " : "", word);
}

/* What one kernel takes; of several nothing is said. */
static void add_resources(parts *list, const ridge_function *function)
{
    ridge_code *const code = list->code;

    if (list->kernel_count++ == 0) {
        code->registers_per_thread = function->registers_per_thread;
        code->local_bytes = function->local_bytes;
        code->static_shared_bytes = function->static_shared_bytes;
        code->code_bytes = (int64_t)function->code_bytes;
        return;
    }
    code->registers_per_thread = code->local_bytes = code->static_shared_bytes = -1;
    code->code_bytes = -1;
}

/* -- PTX --------------------------------------------------------------------------------------- */

static bool begins(const char *text, size_t left, const char *with)
{
    return left >= strlen(with) && memcmp(text, with, strlen(with)) == 0;
}

/* Length of the comment that text begins with; 0: none. */
static size_t comment_length(const char *text, size_t left)
{
    size_t length = 2;

    if (begins(text, left, "//")) {
        while (length < left && text[length] != '\n')
            length++;
        return length;
    }
    if (!begins(text, left, "/*"))
        return 0;
    while (length < left && !(text[length] == '/' && text[length - 1] == '*' && length > 2))
        length++;
    return length < left ? length + 1 : left;
}

/* Length of a directive that only debuggers read: ".loc", ".file" to the end of the line, a debug
 * section to its closing brace. */
static size_t debug_length(const char *text, size_t left)
{
    size_t length = 0;
    char until;

    if (begins(text, left, ".loc ") || begins(text, left, ".loc\t") ||
        begins(text, left, ".file ") || begins(text, left, ".file\t"))
        until = '\n';
    else if (begins(text, left, ".section"))
        until = '}';
    else
        return 0;
    while (length < left && text[length] != until)
        length++;
    return length < left ? length + 1 : left;
}

/* Appends the text without what compiles to nothing; runs of blanks are one. */
static void add_ptx(ridge_text *out, const char *text, size_t size_bytes)
{
    bool is_blank = true;

    for (size_t i = 0; i < size_bytes;) {
        const size_t comment = comment_length(text + i, size_bytes - i);
        const size_t debug = is_blank ? debug_length(text + i, size_bytes - i) : 0;
        const char c = text[i];

        if (comment + debug > 0) {
            i += comment > 0 ? comment : debug;
            continue;
        }
        if (strchr(" \t\r\n", c) == NULL) /* NUL is found as well: padding */
            ridge_text_add_bytes(out, &c, 1);
        else if (!is_blank)
            ridge_text_add(out, " ");
        is_blank = strchr(" \t\r\n", c) != NULL;
        i++;
    }
}

static bool has_wanted_kernel(const parts *list, const ridge_loaded *loaded)
{
    for (size_t i = 0; i < loaded->kernel_count; i++)
        if (is_wanted(list, loaded->kernels[i].name))
            return true;
    return list->entry == NULL;
}

static ridge_status hash_ptx(parts *list, const ridge_loaded *loaded, ridge_error *err)
{
    ridge_text plain;
    ridge_status status;

    if (!has_wanted_kernel(list, loaded))
        return RIDGE_OK;
    add_arch(list->code, "compute", loaded->ptx_sm);
    ridge_text_init(&plain);
    add_ptx(&plain, loaded->text, loaded->text_bytes);
    status = plain.failed ? ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory hashing PTX")
                          : add_part(list, plain.data, plain.length, err);
    ridge_text_release(&plain);
    return status;
}

/* -- cubins ------------------------------------------------------------------------------------ */

/* Device functions count with every kernel: which of them it calls is not known. */
static ridge_status hash_cubin(parts *list, const ridge_cubin *cubin, ridge_error *err)
{
    ridge_status status = RIDGE_OK;
    bool has_kernel = list->entry == NULL;
    const uint8_t *data;
    size_t size_bytes, i;

    for (i = 0; i < ridge_cubin_function_count(cubin) && !has_kernel; i++) {
        const ridge_function *const function = ridge_cubin_function_at(cubin, i);

        has_kernel = function->is_kernel && is_wanted(list, function->name);
    }
    if (!has_kernel || ridge_cubin_function_count(cubin) == 0)
        return RIDGE_OK;
    add_arch(list->code, "sm", ridge_cubin_sm(cubin));
    for (i = 0; i < ridge_cubin_function_count(cubin) && status == RIDGE_OK; i++) {
        const ridge_function *const function = ridge_cubin_function_at(cubin, i);

        if (function->is_kernel && !is_wanted(list, function->name))
            continue;
        if (function->is_kernel)
            add_resources(list, function);
        status = add_part(list, function->code, function->code_bytes, err);
    }
    for (i = 0; status == RIDGE_OK && ridge_cubin_data(cubin, i, &data, &size_bytes); i++)
        status = add_part(list, data, size_bytes, err);
    return status;
}

/* Machine code; PTX only where there is none, since that is what the driver compiles then. */
static ridge_status hash_entries(parts *list, ridge_image *image, bool ptx, ridge_error *err)
{
    ridge_status status = RIDGE_OK;

    for (size_t i = 0; i < ridge_image_entry_count(image) && status == RIDGE_OK; i++) {
        const ridge_entry_kind kind = ridge_image_entry(image, i)->kind;
        ridge_loaded loaded;

        if (kind != (ptx ? RIDGE_ENTRY_PTX : RIDGE_ENTRY_CUBIN))
            continue;
        status = ridge_image_entry_load(image, i, &loaded, err);
        if (status != RIDGE_OK)
            break;
        status = ptx ? hash_ptx(list, &loaded, err) : hash_cubin(list, loaded.cubin, err);
        ridge_image_entry_unload(image, i);
    }
    return status;
}

static ridge_status hash_host(parts *list, const void *bytes, size_t size_bytes, ridge_error *err)
{
    ridge_status status = RIDGE_OK;
    const uint8_t *code;
    size_t code_bytes;

    for (size_t i = 0;
         status == RIDGE_OK && ridge_host_code(bytes, size_bytes, i, &code, &code_bytes); i++)
        status = add_part(list, code, code_bytes, err);
    return status;
}

ridge_status ridge_code_of(const void *bytes, size_t size_bytes, const char *entry, ridge_code *out,
                           ridge_error *err)
{
    parts list = {.entry = entry, .code = out};
    ridge_image *image = NULL;
    ridge_status status = ridge_image_read(bytes, size_bytes, "code", &image, NULL);

    *out = ridge_code_unknown;
    if (status == RIDGE_ERR_OUT_OF_MEMORY)
        return ridge_fail(err, status, "out of memory hashing code");
    status = RIDGE_OK; /* a library without kernels is no image */
    if (image != NULL)
        status = hash_entries(&list, image, false, err);
    if (image != NULL && status == RIDGE_OK && list.count == 0)
        status = hash_entries(&list, image, true, err);
    if (status == RIDGE_OK && list.count == 0) {
        status = hash_host(&list, bytes, size_bytes, err);
        if (status == RIDGE_OK && list.count > 0)
            snprintf(out->arch, sizeof(out->arch), "cpu");
    }
    if (status == RIDGE_OK)
        finish_parts(&list);
    else
        *out = ridge_code_unknown;
    ridge_image_free(image);
    ridge_free(list.hashes);
    return status;
}
