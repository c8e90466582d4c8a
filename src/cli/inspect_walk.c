/* SPDX-License-Identifier: Apache-2.0
 *
 * The walk of ridge inspect over files, entries and kernels. An entry is unpacked when it is its
 * turn and given back after it, so that a library of gigabytes needs the memory of its largest. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect.h"

static char *arch_text(int sm, ridge_target_suffix suffix, bool is_ptx, char *buffer, size_t size)
{
    static const char *const suffixes[] = {
        [RIDGE_TARGET_PLAIN] = "", [RIDGE_TARGET_ARCH] = "a", [RIDGE_TARGET_FAMILY] = "f"};

    snprintf(buffer, size, "%s_%d%s", is_ptx ? "compute" : "sm", sm, suffixes[suffix]);
    return buffer;
}

bool inspect_wants_name(const struct inspect_request *request, const char *name)
{
    char text[INSPECT_NAME_BYTES];

    if (request->pattern == NULL || regexec(&request->expression, name, 0, NULL, 0) == 0)
        return true;
    return ridge_name_short(name, text, sizeof(text)) &&
           regexec(&request->expression, text, 0, NULL, 0) == 0;
}

bool inspect_wants_arch(const struct inspect_request *request, const char *arch)
{
    const bool is_ptx = strncmp(arch, "compute_", 8) == 0;
    const char *const number = strchr(arch, '_') != NULL ? strchr(arch, '_') + 1 : arch;
    const char *wanted = request->arch;

    if (wanted == NULL)
        return true;
    if ((strncmp(wanted, "compute_", 8) == 0 && !is_ptx) ||
        (strncmp(wanted, "sm_", 3) == 0 && is_ptx))
        return false;
    wanted = strchr(wanted, '_') != NULL ? strchr(wanted, '_') + 1 : wanted;
    if (strcmp(wanted, number) == 0)
        return true;
    return wanted[strspn(wanted, "0123456789")] == '\0' && atoi(wanted) == atoi(number);
}

/* -- one entry --------------------------------------------------------------------------------- */

static ridge_status visit_functions(const struct inspect_request *request,
                                    const struct inspect_visitor *visitor,
                                    const struct inspect_entry *entry, ridge_error *err)
{
    ridge_status status = RIDGE_OK;
    size_t i;

    for (i = 0; status == RIDGE_OK && i < ridge_cubin_function_count(entry->loaded.cubin); i++) {
        const ridge_function *const function = ridge_cubin_function_at(entry->loaded.cubin, i);

        if ((function->is_kernel || request->functions) &&
            inspect_wants_name(request, function->name))
            status = visitor->kernel(visitor->context, entry, function, NULL, err);
    }
    return status;
}

static ridge_status visit_kernels(const struct inspect_request *request,
                                  const struct inspect_visitor *visitor,
                                  const struct inspect_entry *entry, ridge_error *err)
{
    ridge_status status = RIDGE_OK;
    size_t i;

    if (visitor->kernel == NULL)
        return RIDGE_OK;
    if (entry->loaded.cubin != NULL)
        return visit_functions(request, visitor, entry, err);
    for (i = 0; status == RIDGE_OK && i < entry->loaded.kernel_count; i++)
        if (inspect_wants_name(request, entry->loaded.kernels[i].name))
            status = visitor->kernel(visitor->context, entry, NULL, &entry->loaded.kernels[i], err);
    return status;
}

/* Of an entry that cannot be read *unread is set, which ends nothing. */
static ridge_status visit_entry(const struct inspect_request *request,
                                const struct inspect_visitor *visitor, size_t path_index,
                                ridge_image *image, size_t index, ridge_status *unread,
                                ridge_error *err)
{
    struct inspect_entry entry = {.path_index = path_index,
                                  .path = request->paths[path_index],
                                  .image = image,
                                  .entry = ridge_image_entry(image, index),
                                  .index = index};
    ridge_error load_error;
    ridge_status status;

    arch_text(entry.entry->sm, entry.entry->suffix, entry.entry->kind == RIDGE_ENTRY_PTX,
              entry.arch, sizeof(entry.arch));
    if (!inspect_wants_arch(request, entry.arch))
        return RIDGE_OK;
    status = ridge_image_entry_load(image, index, &entry.loaded, &load_error);
    if (status != RIDGE_OK) {
        if (*unread == RIDGE_OK)
            cli_fail(entry.path, &load_error);
        *unread = status;
        return status == RIDGE_ERR_OUT_OF_MEMORY && err != NULL
                   ? ridge_fail(err, status, "%s", load_error.text)
                   : RIDGE_OK;
    }
    if (visitor->entry != NULL)
        status = visitor->entry(visitor->context, &entry, err);
    if (status == RIDGE_OK)
        status = visit_kernels(request, visitor, &entry, err);
    ridge_image_entry_unload(image, index);
    return status;
}

/* -- one input --------------------------------------------------------------------------------- */

static int visit_image(const struct inspect_request *request, const struct inspect_visitor *visitor,
                       size_t path_index, ridge_image *image)
{
    const char *const path = request->paths[path_index];
    ridge_status status = RIDGE_OK;
    ridge_status unread = RIDGE_OK;
    ridge_error err;
    size_t warning_count = 0;
    size_t i;

    while (ridge_image_warning(image, warning_count) != NULL)
        warning_count++;
    if (warning_count == 1)
        cli_message(path, "%s", ridge_image_warning(image, 0));
    else if (warning_count > 1)
        cli_message(path, "%s (and %zu more)", ridge_image_warning(image, 0), warning_count - 1);
    if (visitor->image != NULL)
        status = visitor->image(visitor->context, path_index, image, &err);
    for (i = 0; status == RIDGE_OK && i < ridge_image_entry_count(image); i++)
        status = visit_entry(request, visitor, path_index, image, i, &unread, &err);
    if (status != RIDGE_OK)
        return cli_fail(path, &err);
    if (unread != RIDGE_OK)
        return ridge_status_exit(unread);
    return warning_count > 0 ? ridge_status_exit(RIDGE_ERR_FORMAT) : CLI_DONE;
}

char *inspect_short_name(const char *name, char *buffer, size_t size)
{
    char *at;

    ridge_name_short(name, buffer, size);
    for (at = buffer; *at != '\0'; at++)
        if (*at == '\n' || *at == '\t')
            *at = '?';
    return buffer;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text);
    const size_t end_length = strlen(end);

    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

bool inspect_is_report(const char *path)
{
    char magic[4] = "";
    FILE *file;
    size_t got;

    if (ends_with(path, ".ncu-rep") || ends_with(path, ".ncu-rep.gz") ||
        ends_with(path, ".ncu-rep.zst"))
        return true;
    file = fopen(path, "rb");
    if (file == NULL)
        return false;
    got = fread(magic, 1, sizeof(magic), file);
    fclose(file);
    return got == sizeof(magic) && memcmp(magic, "NVR", sizeof(magic)) == 0;
}

/* The modules whose code the report holds. */
static int visit_report(const struct inspect_request *request,
                        const struct inspect_visitor *visitor, size_t path_index)
{
    const char *const path = request->paths[path_index];
    ridge_report *report;
    int status = cli_open_report(path, &report);
    size_t module_count = 0;
    size_t i;

    if (status != CLI_DONE)
        return status;
    for (i = 0; i < ridge_report_module_count(report); i++) {
        const ridge_module *const module = ridge_report_module(report, i);
        ridge_image *image;
        ridge_error err;
        int found;

        if (module->binary == NULL)
            continue;
        module_count++;
        if (ridge_image_read(module->binary, module->binary_bytes, path, &image, &err) != RIDGE_OK)
            found = cli_fail(path, &err);
        else
            found = visit_image(request, visitor, path_index, image);
        if (found != CLI_DONE)
            status = found;
        ridge_image_free(image);
    }
    ridge_report_free(report);
    if (status == CLI_DONE && module_count == 0) {
        cli_message(path, "no code in the report: profile with a version that stores modules, "
                          "without --section alone");
        status = ridge_status_exit(RIDGE_ERR_UNSUPPORTED);
    }
    return status;
}

int inspect_walk(const struct inspect_request *request, const struct inspect_visitor *visitor)
{
    int status = CLI_DONE;
    size_t i;

    for (i = 0; i < request->path_count; i++) {
        ridge_image *image = NULL;
        ridge_error err;
        int found;

        if (inspect_is_report(request->paths[i]))
            found = visit_report(request, visitor, i);
        else if (ridge_image_open(request->paths[i], &image, &err) != RIDGE_OK)
            found = cli_fail(request->paths[i], &err);
        else
            found = visit_image(request, visitor, i, image);
        ridge_image_free(image);
        if (found > status)
            status = found;
    }
    return status;
}
