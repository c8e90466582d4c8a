/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge inspect --manifest: how a kernel without host code is launched, as far as its binary tells.
 * It is completed by hand: what cannot be known is a text that the reader of manifests refuses by
 * name, so nothing is launched by a guess. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect.h"

enum { PARAMETERS_MOST = 256 };

static const char unknown[] = "?";

struct found {
    const struct inspect_request *request;
    char *name; /* of the kernel whose manifest is written; NULL: none yet */
    size_t other_count;
    char others[300]; /* names of all kernels, for a message */
    char arch[INSPECT_ARCH_BYTES];
    ridge_image_kind image_kind;
    bool is_ptx;
    int max_threads[3], required_threads[3], cluster[3];
    int registers_per_thread, static_shared_bytes;
    ridge_kernel_parameter parameters[PARAMETERS_MOST];
    size_t parameter_count;
};

/* -- the kernel -------------------------------------------------------------------------------- */

/* KERNEL is the mangled name, the short one, or the short one without template arguments. */
static bool is_meant(const char *wanted, const char *name)
{
    char text[INSPECT_NAME_BYTES];

    if (strcmp(wanted, name) == 0)
        return true;
    if (!ridge_name_short(name, text, sizeof(text)))
        return false;
    if (strcmp(wanted, text) == 0)
        return true;
    text[strcspn(text, "<")] = '\0';
    return strcmp(wanted, text) == 0;
}

static void note_other(struct found *found, const char *name)
{
    char text[INSPECT_NAME_BYTES];
    const size_t used = strlen(found->others);

    inspect_short_name(name, text, sizeof(text));
    if (strstr(found->others, text) == NULL && used + strlen(text) + 3 < sizeof(found->others)) {
        strcat(found->others, used > 0 ? ", " : "");
        strcat(found->others, text);
    }
    found->other_count++;
}

static void take_function(struct found *found, const struct inspect_entry *entry,
                          const ridge_function *function)
{
    memcpy(found->max_threads, function->max_threads, sizeof(found->max_threads));
    memcpy(found->required_threads, function->required_threads, sizeof(found->required_threads));
    memcpy(found->cluster, function->cluster, sizeof(found->cluster));
    found->registers_per_thread = function->registers_per_thread;
    found->static_shared_bytes = function->static_shared_bytes;
    found->parameter_count =
        ridge_cubin_parameters(entry->loaded.cubin, function, found->parameters, PARAMETERS_MOST);
}

static void take_ptx(struct found *found, const ridge_ptx_kernel *kernel)
{
    memcpy(found->max_threads, kernel->max_threads, sizeof(found->max_threads));
    memcpy(found->required_threads, kernel->required_threads, sizeof(found->required_threads));
    memcpy(found->cluster, kernel->required_cluster, sizeof(found->cluster));
    found->registers_per_thread = found->static_shared_bytes = -1;
    found->parameter_count = kernel->parameter_count;
    if (kernel->parameter_count > 0)
        memcpy(found->parameters, kernel->parameters,
               kernel->parameter_count * sizeof(found->parameters[0]));
}

static ridge_status meet_kernel(void *context, const struct inspect_entry *entry,
                                const ridge_function *function, const ridge_ptx_kernel *ptx,
                                ridge_error *err)
{
    struct found *const found = context;
    const char *const name = function != NULL ? function->name : ptx->name;

    if (!is_meant(found->request->manifest, name)) {
        note_other(found, name);
        return RIDGE_OK;
    }
    if (found->name != NULL && strcmp(found->name, name) != 0)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "--manifest %.80s is %.120s and %.120s, expected one of these names",
                          found->request->manifest, found->name, name);
    if (found->name != NULL) /* the same for another architecture */
        return RIDGE_OK;
    found->name = strdup(name);
    if (found->name == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    snprintf(found->arch, sizeof(found->arch), "%s", entry->arch);
    found->image_kind = ridge_image_file_kind(entry->image);
    found->is_ptx = ptx != NULL;
    if (function != NULL)
        take_function(found, entry, function);
    else
        take_ptx(found, ptx);
    return RIDGE_OK;
}

/* -- the manifest ------------------------------------------------------------------------------ */

static void write_unknowns(ridge_json *json, const char *key, size_t count)
{
    ridge_json_begin_array(json, key);
    for (size_t i = 0; i < count; i++)
        ridge_json_text(json, NULL, unknown);
    ridge_json_end_array(json);
}

static void write_extent(ridge_json *json, const char *key, const int extent[3])
{
    ridge_json_begin_array(json, key);
    for (int i = 0; i < 3; i++)
        ridge_json_integer(json, NULL, extent[i]);
    ridge_json_end_array(json);
}

/* The role by the size: 8 bytes are a pointer nearly always, a tensor map stands at multiples of
 * 64. */
static void write_argument(ridge_json *json, const ridge_kernel_parameter *parameter, size_t index)
{
    const uint32_t size = parameter->size_bytes;
    char name[24];

    snprintf(name, sizeof(name), "p%zu", index);
    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "name", name);
    if (size == 8) {
        ridge_json_text(json, "role", "in|out|inout|workspace|scalar");
        ridge_json_text(json, "dtype", unknown);
        write_unknowns(json, "shape", 1);
    } else if (size == 1 || size == 2 || size == 4) {
        ridge_json_text(json, "role", "scalar");
        ridge_json_text(json, "dtype",
                        size == 4   ? "i32|u32|f32"
                        : size == 2 ? "i16|f16|bf16"
                                    : "i8|u8");
        ridge_json_text(json, "value", unknown);
    } else if (size == 128 && parameter->offset_bytes % 64 == 0) {
        ridge_json_text(json, "role", "tensor_map");
        ridge_json_text(json, "tensor", unknown);
        write_unknowns(json, "box", 2);
    } else {
        ridge_json_text(json, "role", "struct");
        ridge_json_begin_array(json, "fields");
        ridge_json_end_array(json);
    }
    ridge_json_count(json, "offset", parameter->offset_bytes);
    ridge_json_count(json, "bytes", size);
    ridge_json_end_object(json);
}

static void write_notes(ridge_json *json, const struct found *found)
{
    char text[INSPECT_NAME_BYTES];

    ridge_json_begin_object(json, "notes");
    ridge_json_text(json, "fill_in",
                    "every ? and every choice a|b; docs/formats/ridge-kernel.md says how");
    ridge_json_text(json, "kernel", inspect_short_name(found->name, text, sizeof(text)));
    ridge_json_text(json, "arch", found->arch);
    if (found->registers_per_thread >= 0)
        ridge_json_integer(json, "registers_per_thread", found->registers_per_thread);
    if (found->static_shared_bytes >= 0)
        ridge_json_integer(json, "static_shared_bytes", found->static_shared_bytes);
    if (found->max_threads[0] > 0)
        write_extent(json, "max_threads", found->max_threads);
    if (found->image_kind != RIDGE_IMAGE_CUBIN && found->image_kind != RIDGE_IMAGE_FATBIN &&
        found->image_kind != RIDGE_IMAGE_PTX)
        ridge_json_text(json, "image",
                        "a file of the host cannot be launched from: cuobjdump -xelf all takes the "
                        "cubin out");
    ridge_json_end_object(json);
}

static void write_manifest(ridge_json *json, const struct found *found)
{
    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "schema", "ridge-kernel/1");
    ridge_json_text(json, "image", found->request->paths[0]);
    ridge_json_text(json, "entry", found->name);
    ridge_json_begin_object(json, "axes");
    ridge_json_text(json, "n", unknown);
    ridge_json_end_object(json);
    write_unknowns(json, "grid", 1);
    if (found->required_threads[0] > 0)
        write_extent(json, "block", found->required_threads);
    else
        write_unknowns(json, "block", 1);
    if (found->cluster[0] > 0)
        write_extent(json, "cluster", found->cluster);
    ridge_json_integer(json, "smem_bytes", 0);
    ridge_json_begin_array(json, "args");
    for (size_t i = 0; i < found->parameter_count && i < PARAMETERS_MOST; i++)
        write_argument(json, &found->parameters[i], i);
    ridge_json_end_array(json);
    write_notes(json, found);
    ridge_json_end_object(json);
}

int inspect_manifest(const struct inspect_request *request)
{
    struct found found = {.request = request};
    const struct inspect_visitor visitor = {&found, NULL, NULL, meet_kernel};
    int status = inspect_walk(request, &visitor);
    ridge_output *output;
    ridge_json *json;

    if (found.name == NULL) {
        if (status == CLI_DONE) {
            cli_message(request->paths[0], "no kernel %s%s%s", request->manifest,
                        found.other_count > 0 ? ", there are: " : "", found.others);
            status = CLI_NO;
        }
        return status;
    }
    if (status != CLI_DONE) {
        free(found.name);
        return status;
    }
    output = cli_open(&request->out);
    json = ridge_json_create(output);
    write_manifest(json, &found);
    ridge_json_free(json);
    free(found.name);
    return cli_close(output, status);
}
