/* SPDX-License-Identifier: Apache-2.0
 *
 * Does a manifest fit its image? The compiler records the offset and size of every parameter in a
 * cubin (.nv.info, attribute 0x17), and PTX declares them, so a wrong manifest is told before anything is launched: a
 * launch with parameters of the wrong size is the commonest crash of all. */
#include <stdio.h>
#include <string.h>

#include "arm/arm_internal.h"
#include "ridge/image.h"

static const char *role_of(const arm_signature *signature, const arm_parameter *parameter)
{
    static const char *const kinds[] = {[ARM_PIECE_POINTER] = "a pointer",
                                        [ARM_PIECE_SCALAR] = "a scalar",
                                        [ARM_PIECE_MAP] = "a tensor map",
                                        [ARM_PIECE_RAW] = "raw bytes"};

    if (parameter->piece_count != 1)
        return "a structure";
    return kinds[signature->pieces[parameter->first_piece].kind];
}

ridge_status arm_parameters_compare(const arm_manifest *manifest,
                                    const ridge_kernel_parameter *found, size_t found_count,
                                    const char *name, ridge_error *err)
{
    const arm_signature *const signature = &manifest->signature;
    const size_t both =
        found_count < signature->parameter_count ? found_count : signature->parameter_count;

    for (size_t i = 0; i < both; i++) {
        const arm_parameter *const parameter = &signature->parameters[i];

        if (parameter->size_bytes != found[i].size_bytes)
            return ridge_fail(
                err, RIDGE_ERR_INVALID_ARGUMENT,
                "%s (%s) is %s of %u bytes, but parameter %zu of %s at offset %u has %u bytes",
                parameter->path, parameter->name, role_of(signature, parameter),
                parameter->size_bytes, i, name, found[i].offset_bytes, found[i].size_bytes);
        if (parameter->offset_bytes >= 0 && parameter->offset_bytes != found[i].offset_bytes)
            return ridge_fail(
                err, RIDGE_ERR_INVALID_ARGUMENT,
                "%s (%s) is said to be at offset %lld, but parameter %zu of %s is at %u",
                parameter->path, parameter->name, (long long)parameter->offset_bytes, i, name,
                found[i].offset_bytes);
    }
    if (found_count == signature->parameter_count)
        return RIDGE_OK;
    if (found_count > both)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "args has %zu parameters, %s takes %zu: parameter %zu at offset %u, %u "
                          "bytes, is missing",
                          signature->parameter_count, name, found_count, both,
                          found[both].offset_bytes, found[both].size_bytes);
    return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                      "args has %zu parameters, %s takes %zu: args[%zu] (%s) is too many",
                      signature->parameter_count, name, found_count, both,
                      signature->parameters[both].name);
}

/* Where only the sum is known. Each parameter stands at a multiple of its alignment, which is at
 * most its size rounded up to a power of two, so the sum is at least that of the sizes. */
static ridge_status compare_sum(const arm_manifest *manifest, int parameter_bytes, const char *name,
                                ridge_error *err)
{
    size_t least = 0;

    if (parameter_bytes < 0)
        return RIDGE_OK;
    for (size_t i = 0; i < manifest->signature.parameter_count; i++)
        least += manifest->signature.parameters[i].size_bytes;
    if (least > (size_t)parameter_bytes || (least == 0) != (parameter_bytes == 0))
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "args has %zu parameters of %zu bytes in all, %s takes %d bytes",
                          manifest->signature.parameter_count, least, name, parameter_bytes);
    return RIDGE_OK;
}

static ridge_status check_function(const arm_manifest *manifest, const ridge_cubin *cubin,
                                   const ridge_function *function, ridge_error *err)
{
    ridge_kernel_parameter found[ARM_MOST_PARAMETERS];
    const size_t count = ridge_cubin_parameters(cubin, function, found, ARM_MOST_PARAMETERS);

    if (count > ARM_MOST_PARAMETERS)
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED, "%s takes %zu parameters, at most %d are set",
                          function->name, count, ARM_MOST_PARAMETERS);
    if (count == 0)
        return compare_sum(manifest, function->parameter_bytes, function->name, err);
    return arm_parameters_compare(manifest, found, count, function->name, err);
}

static ridge_status check_ptx(const arm_manifest *manifest, const ridge_ptx_kernel *kernel,
                              ridge_error *err)
{
    if (kernel->parameter_count == 0)
        return compare_sum(manifest, kernel->parameter_bytes, kernel->name, err);
    return arm_parameters_compare(manifest, kernel->parameters, kernel->parameter_count,
                                  kernel->name, err);
}

typedef struct walk {
    const arm_manifest *manifest;
    bool is_found;
    int sm;            /* of the GPU; 0: none */
    ridge_run best;    /* how that runs what was found */
    char archs[100];   /* of what was found */
    char names[240];   /* of other entries, for the message */
    size_t name_count; /* of all */
} walk;

static void note_name(walk *at, const char *name)
{
    const size_t used = strlen(at->names);

    if (used + strlen(name) + 3 < sizeof(at->names))
        snprintf(at->names + used, sizeof(at->names) - used, "%s%s", used > 0 ? ", " : "", name);
    at->name_count++;
}

/* The entry's kernel is there. */
static void note_found(walk *at, const ridge_entry *entry)
{
    static const char *const suffixes[] = {
        [RIDGE_TARGET_PLAIN] = "", [RIDGE_TARGET_ARCH] = "a", [RIDGE_TARGET_FAMILY] = "f"};
    const ridge_run run = ridge_entry_runs(entry, at->sm / 10, at->sm % 10);
    const size_t used = strlen(at->archs);

    at->is_found = true;
    at->best = run > at->best ? run : at->best;
    snprintf(at->archs + used, sizeof(at->archs) - used, "%s%s_%d%s", used > 0 ? ", " : "",
             entry->kind == RIDGE_ENTRY_PTX ? "compute" : "sm", entry->sm, suffixes[entry->suffix]);
}

static ridge_status check_loaded(walk *at, const ridge_entry *entry, const ridge_loaded *loaded,
                                 ridge_error *err)
{
    ridge_status status = RIDGE_OK;

    if (loaded->cubin != NULL)
        for (size_t i = 0; i < ridge_cubin_function_count(loaded->cubin) && status == RIDGE_OK;
             i++) {
            const ridge_function *const function = ridge_cubin_function_at(loaded->cubin, i);

            if (!function->is_kernel)
                continue;
            if (strcmp(function->name, at->manifest->entry) != 0) {
                note_name(at, function->name);
                continue;
            }
            note_found(at, entry);
            status = check_function(at->manifest, loaded->cubin, function, err);
        }
    for (size_t i = 0; i < loaded->kernel_count && status == RIDGE_OK; i++) {
        if (strcmp(loaded->kernels[i].name, at->manifest->entry) != 0) {
            note_name(at, loaded->kernels[i].name);
            continue;
        }
        note_found(at, entry);
        status = check_ptx(at->manifest, &loaded->kernels[i], err);
    }
    return status;
}

ridge_status arm_image_check(const arm_manifest *manifest, const void *bytes, size_t size_bytes,
                             const char *name, int sm, ridge_image_kind *kind, ridge_error *err)
{
    walk at = {.manifest = manifest, .sm = sm};
    ridge_image *image = NULL;
    ridge_error local = {RIDGE_OK, ""};
    ridge_status status = ridge_image_read(bytes, size_bytes, name, &image, &local);

    if (status != RIDGE_OK)
        return ridge_fail(err, status, "image %.200s: %s", name, local.text);
    *kind = ridge_image_file_kind(image);
    for (size_t i = 0; i < ridge_image_entry_count(image) && status == RIDGE_OK; i++) {
        ridge_loaded loaded;

        status = ridge_image_entry_load(image, i, &loaded, err);
        if (status == RIDGE_OK)
            status = check_loaded(&at, ridge_image_entry(image, i), &loaded, err);
        ridge_image_entry_unload(image, i);
    }
    ridge_image_free(image);
    if (status == RIDGE_OK && !at.is_found)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "entry is \"%.80s\", %.80s has %s%.200s%s", manifest->entry, name,
                          at.name_count > 0 ? "" : "no kernel", at.names,
                          strlen(at.names) > 200 ? "..." : "");
    if (status == RIDGE_OK && sm > 0 && at.best == RIDGE_RUN_NONE)
        return ridge_fail(err, RIDGE_ERR_ARCH, "%.80s has %.80s for %s, which sm_%d does not run",
                          name, manifest->entry, at.archs, sm);
    return status;
}
