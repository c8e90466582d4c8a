/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of arms, and opening what they name. */
#include <stdio.h>
#include <string.h>

#include "arm/arm_internal.h"
#include "base/file.h"

enum { LARGEST_IMAGE_BYTES = 1 << 30 };

/* -- names ------------------------------------------------------------------------------------- */

static ridge_status unknown_form(const char *text, ridge_error *err)
{
    return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                      "'%.120s' names no kernel, expected FAMILY[:VARIANT], LIBRARY.so[:KERNEL], "
                      "MANIFEST.json, build:ID or python:MODULE:FUNCTION",
                      text);
}

static bool ends_with(const char *text, size_t length, const char *end)
{
    return length >= strlen(end) && memcmp(text + length - strlen(end), end, strlen(end)) == 0;
}

/* "x.so", "x.so.1.2", "x.dylib" */
static bool is_library(const char *path, size_t length)
{
    while (length > 0 &&
           ((path[length - 1] >= '0' && path[length - 1] <= '9') || path[length - 1] == '.'))
        length--;
    return ends_with(path, length, ".so") || ends_with(path, length, ".dylib");
}

static bool is_machine_code(const char *path, size_t length)
{
    return ends_with(path, length, ".cubin") || ends_with(path, length, ".ptx") ||
           ends_with(path, length, ".fatbin");
}

/* Copies the two parts of a name; false when one is too long. */
static bool set_name(ridge_arm_name *out, ridge_arm_kind kind, const char *path, size_t path_length,
                     const char *item)
{
    out->kind = kind;
    if (path_length >= sizeof(out->path) || strlen(item) >= sizeof(out->item))
        return false;
    memcpy(out->path, path, path_length);
    out->path[path_length] = '\0';
    memcpy(out->item, item, strlen(item) + 1);
    return true;
}

static ridge_status parse_python(const char *text, ridge_arm_name *out, ridge_error *err)
{
    const char *const module = text + strlen("python:");
    const char *const colon = strrchr(module, ':');

    if (colon == NULL || colon == module || colon[1] == '\0' ||
        !set_name(out, RIDGE_ARM_PYTHON, module, (size_t)(colon - module), colon + 1))
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "'%.120s': expected python:MODULE:FUNCTION", text);
    return RIDGE_OK;
}

ridge_status ridge_arm_name_parse(const char *text, ridge_arm_name *out, ridge_error *err)
{
    const char *const colon = strrchr(text, ':');
    const size_t length = strlen(text);
    const size_t front = colon != NULL ? (size_t)(colon - text) : length;
    const char *const item = colon != NULL ? colon + 1 : "";
    bool fits;

    memset(out, 0, sizeof(*out));
    if (strncmp(text, "python:", 7) == 0)
        return parse_python(text, out, err);
    if (strncmp(text, "build:", 6) == 0)
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "'%.120s' is in a ledger, which has to be named by --ledger", text);
    if (ends_with(text, length, ".json") || ends_with(text, length, ".json.gz") ||
        ends_with(text, length, ".json.zst")) {
        fits = set_name(out, RIDGE_ARM_MANIFEST, text, length, "");
    } else if (is_library(text, length)) {
        fits = set_name(out, RIDGE_ARM_PLUGIN, text, length, "");
    } else if (colon != NULL && is_library(text, front)) {
        fits = set_name(out, RIDGE_ARM_PLUGIN, text, front, item);
        if (item[0] == '\0')
            return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                              "'%.120s': expected the name of a kernel behind ':'", text);
    } else if (is_machine_code(text, length)) {
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "'%.120s' does not say how it is launched, expected a manifest: ridge "
                          "inspect --manifest KERNEL %.120s writes one",
                          text, text);
    } else {
        if (arm_name_length(text) != front || front == 0 || memchr(text, '.', front) != NULL ||
            (colon != NULL && item[0] == '\0') || strchr(item, '/') != NULL)
            return unknown_form(text, err);
        fits = set_name(out, RIDGE_ARM_FAMILY, text, front, item);
    }
    if (fits)
        return RIDGE_OK;
    memset(out, 0, sizeof(*out));
    return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                      "'%.60s...' is too long: a path has at most %zu characters, a name %zu", text,
                      sizeof(out->path) - 1, sizeof(out->item) - 1);
}

/* -- what openers share ------------------------------------------------------------------------ */

ridge_status arm_read_file(const char *path, void **out, size_t *size_bytes, ridge_error *err)
{
    ridge_file file;
    ridge_status status = ridge_file_open(path, &file, err);

    *out = NULL;
    *size_bytes = 0;
    if (status != RIDGE_OK)
        return status;
    if (file.bytes.size > LARGEST_IMAGE_BYTES)
        status = ridge_fail(err, RIDGE_ERR_FORMAT, "has %zu bytes, expected at most %d",
                            (size_t)file.bytes.size, (int)LARGEST_IMAGE_BYTES);
    else
        status = ridge_file_unpack(&file, path, LARGEST_IMAGE_BYTES, err);
    if (status == RIDGE_OK)
        *out = ridge_calloc(file.bytes.size + 1, 1);
    if (status == RIDGE_OK && *out == NULL)
        status = arm_out_of_memory(err);
    if (status == RIDGE_OK && file.bytes.size > 0) {
        memcpy(*out, file.bytes.data, file.bytes.size);
        *size_bytes = file.bytes.size;
    }
    ridge_file_release(&file);
    return status;
}

const char *arm_path_beside(ridge_arena *arena, const char *file, const char *path)
{
    const char *const slash = path[0] == '/' ? NULL : strrchr(file, '/');
    const size_t front = slash != NULL ? (size_t)(slash - file) + 1 : 0;
    char *const joined = ridge_alloc(arena, front + strlen(path) + 1);

    if (joined != NULL) {
        memcpy(joined, file, front);
        memcpy(joined + front, path, strlen(path) + 1);
    }
    return joined;
}

/* The nth family: of the options, then the harness's own. */
static const ridge_family *family_at(const ridge_arm_options *options, size_t index)
{
    size_t count = 0;

    while (options != NULL && options->families != NULL && options->families[count] != NULL) {
        if (count == index)
            return options->families[index];
        count++;
    }
    return index == count ? ridge_probe_family() : NULL;
}

ridge_status arm_find_family(const ridge_arm_options *options, const char *name,
                             const ridge_family **out, ridge_error *err)
{
    char names[300] = "";
    size_t used = 0;

    *out = NULL;
    for (size_t i = 0; family_at(options, i) != NULL; i++) {
        const ridge_family *const family = family_at(options, i);

        if (strcmp(family->name, name) == 0) {
            *out = family;
            return RIDGE_OK;
        }
        used = strlen(names);
        snprintf(names + used, sizeof(names) - used, "%s%s", used > 0 ? ", " : "", family->name);
    }
    return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "'%.80s' is no family, there are: %s", name,
                      names);
}

ridge_status arm_family_of(const ridge_arm_options *options, const char *own,
                           const ridge_family **out, ridge_error *err)
{
    const char *const name = own != NULL ? own : options != NULL ? options->family : NULL;

    *out = NULL;
    return name == NULL ? RIDGE_OK : arm_find_family(options, name, out, err);
}

/* -- families ---------------------------------------------------------------------------------- */

/* Without the family: "copy" of "probe:copy". */
static const char *variant_name(const ridge_family *family, size_t index)
{
    const char *const name = family->variants[index]->name;
    const size_t length = strlen(family->name);

    return strncmp(name, family->name, length) == 0 && name[length] == ':' ? name + length + 1
                                                                           : name;
}

/* Whether a variant, of "" each of them, runs on the CPU. */
static bool is_for_cpu(const ridge_family *family, const char *variant)
{
    size_t i;

    for (i = 0; i < family->gpu_variant_count; i++)
        if (strcmp(variant_name(family, i), variant) == 0)
            return false;
    return true;
}

/* Of the variant on the command line; a bare name may run any of those for the device. */
static ridge_status identify_variant(ridge_arm *arm, const ridge_family *family, ridge_error *err)
{
    const char *const variant = arm->name.item;
    const void *bytes = NULL;
    size_t size_bytes = 0;
    char entries[200];

    if (ridge_device_get_info(arm->device)->kind == RIDGE_DEVICE_CPU &&
        is_for_cpu(family, variant)) {
        arm_host_code(
            arm, variant[0] != '\0' ? arm->kernel : family->variants[family->variant_count - 1],
            arm->text);
        return RIDGE_OK;
    }
    if (family->gpu_code != NULL)
        family->gpu_code(&bytes, &size_bytes);
    if (size_bytes == 0)
        return RIDGE_OK;
    snprintf(entries, sizeof(entries), "%.60s_%s%s*", family->name, variant,
             variant[0] != '\0' ? "_" : "");
    return ridge_code_of(bytes, size_bytes, entries, &arm->code, err);
}

static ridge_status open_family(ridge_arm *arm, const ridge_arm_options *options, ridge_error *err)
{
    const ridge_family *family = NULL;
    ridge_status status = arm_find_family(options, arm->name.path, &family, err);
    char names[300] = "";

    if (status != RIDGE_OK)
        return status;
    arm->kernel = ridge_family_variant(family, arm->name.item);
    for (size_t i = 0; i < family->variant_count; i++) {
        const size_t used = strlen(names);

        snprintf(names + used, sizeof(names) - used, "%s%s", used > 0 ? ", " : "",
                 variant_name(family, i));
    }
    if (arm->name.item[0] == '\0' && family->variant_count > 0)
        status = arm_choose_variant(arm, family, err);
    if (status != RIDGE_OK)
        return status;
    if (arm->kernel == NULL)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "family %s has no variant '%.60s', there are: %s", family->name,
                          arm->name.item, names);
    arm->base = family->default_case;
    arm->dtypes = family->dtypes;
    arm->dtype_count = family->dtype_count;
    arm->tile = family->tile;
    status = identify_variant(arm, family, err);
    return status == RIDGE_OK ? arm_borrow_family(arm, family, err) : status;
}

static void close_python(void *maker)
{
    const ridge_arm_options *const options = maker;

    options->python->close(options->python->context, options->python_arm);
}

static ridge_status open_python(ridge_arm *arm, const ridge_arm_options *options, ridge_error *err)
{
    ridge_arm_options *kept;
    ridge_status status;

    if (options == NULL || options->python == NULL)
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "python:%.120s:%.80s is opened by the Python package: import ridge",
                          arm->name.path, arm->name.item);
    kept = ridge_alloc(&arm->arena, sizeof(*kept));
    if (kept == NULL)
        return arm_out_of_memory(err);
    *kept = *options;
    status = options->python->open(options->python->context, options->python_arm, arm->name.path,
                                   arm->name.item, &arm->base, &arm->kernel, err);
    if (status != RIDGE_OK)
        return status;
    arm->maker = kept;
    arm->maker_release = close_python;
    arm->dtype = arm->base.dtype;
    return RIDGE_OK;
}

/* -- arms -------------------------------------------------------------------------------------- */

typedef ridge_status (*opener)(ridge_arm *arm, const ridge_arm_options *options, ridge_error *err);

static const opener openers[] = {[RIDGE_ARM_FAMILY] = open_family,
                                 [RIDGE_ARM_PLUGIN] = arm_open_plugin,
                                 [RIDGE_ARM_CALL] = arm_open_call,
                                 [RIDGE_ARM_MANIFEST] = arm_open_manifest,
                                 [RIDGE_ARM_PYTHON] = open_python};

/* A library with a signature is called. */
static ridge_status resolve_call(ridge_arm *arm, const ridge_arm_options *options, ridge_error *err)
{
    if (options == NULL || options->call == NULL)
        return RIDGE_OK;
    if (arm->name.kind != RIDGE_ARM_PLUGIN)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "--call says how a function of a library is called, '%.120s' is none",
                          arm->text);
    if (arm->name.item[0] != '\0')
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "'%.120s' with --call: the signature has the name of the function, "
                          "expected the library alone",
                          arm->text);
    arm->name.kind = RIDGE_ARM_CALL;
    return RIDGE_OK;
}

ridge_status arm_create(ridge_device *device, const char *text, ridge_arm **out, ridge_error *err)
{
    ridge_arm *const arm = ridge_calloc(1, sizeof(*arm));

    *out = NULL;
    if (arm == NULL)
        return arm_out_of_memory(err);
    ridge_arena_init(&arm->arena);
    ridge_text_init(&arm->archive);
    arm->device = device;
    arm->image_kind = "";
    arm->code = ridge_code_unknown;
    ridge_case_init(&arm->base);
    arm->dtype = arm->base.dtype;
    arm->dtypes = &arm->dtype;
    arm->dtype_count = 1;
    arm->text = ridge_alloc_text(&arm->arena, text, strlen(text));
    if (arm->text == NULL) {
        ridge_arm_free(arm);
        return arm_out_of_memory(err);
    }
    *out = arm;
    return RIDGE_OK;
}

ridge_status ridge_arm_open(ridge_device *device, const char *text,
                            const ridge_arm_options *options, ridge_arm **out, ridge_error *err)
{
    ridge_arm *arm;
    ridge_status status;

    *out = NULL;
    status = arm_create(device, text, &arm, err);
    if (status != RIDGE_OK)
        return status;
    status = ridge_arm_name_parse(text, &arm->name, err);
    if (status == RIDGE_OK)
        status = resolve_call(arm, options, err);
    if (status == RIDGE_OK)
        status = openers[arm->name.kind](arm, options, err);
    if (status != RIDGE_OK)
        goto out;

    *out = arm; /* given to the caller */
    arm = NULL;
out:
    ridge_arm_free(arm);
    return status;
}

void ridge_arm_free(ridge_arm *arm)
{
    if (arm == NULL)
        return;
    if (arm->maker_release != NULL)
        arm->maker_release(arm->maker);
    ridge_arm_free(arm->reference);
    arm_library_close(arm->library);
    ridge_free(arm->image);
    ridge_text_release(&arm->archive);
    ridge_arena_release(&arm->arena);
    ridge_free(arm);
}

const ridge_kernel *ridge_arm_kernel(const ridge_arm *arm)
{
    return arm->kernel;
}

const char *ridge_arm_text(const ridge_arm *arm)
{
    return arm->text;
}

const char *ridge_arm_code_hash(const ridge_arm *arm)
{
    return arm->code.hash;
}

const ridge_code *ridge_arm_code(const ridge_arm *arm)
{
    return &arm->code;
}

void ridge_arm_image(const ridge_arm *arm, const void **bytes, size_t *size_bytes,
                     const char **kind)
{
    const bool has_archive = arm->archive.length > 0;

    *bytes = has_archive ? arm->archive.data : arm->image;
    *size_bytes = has_archive ? arm->archive.length : arm->image_bytes;
    *kind = has_archive ? "manifest" : arm->image_kind;
}

void ridge_arm_case(const ridge_arm *arm, ridge_case *out)
{
    *out = arm->base;
}

const ridge_dtype *ridge_arm_dtypes(const ridge_arm *arm, size_t *count)
{
    *count = arm->dtype_count;
    return arm->dtypes;
}

int64_t ridge_arm_tile(const ridge_arm *arm)
{
    return arm->tile;
}

const int64_t *ridge_arm_axis_values(const ridge_arm *arm, const char *axis, size_t *count)
{
    const int index =
        arm->signature != NULL ? arm_find_axis(arm->signature, axis, strlen(axis)) : -1;

    *count = index >= 0 ? arm->signature->axes[index].value_count : 0;
    return index >= 0 ? arm->signature->axes[index].values : NULL;
}
