/* SPDX-License-Identifier: Apache-2.0
 *
 * A ridge_kernel made of a manifest. prepare() loads the module, evaluates every expression and
 * lays the parameters out once; launch() is one call of the driver with what was laid out. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arm/arm_internal.h"
#include "base/record.h"
#include "ridge/image.h"

enum { MOST_MANIFEST_BYTES = 192 << 20 }; /* with its image and that of its reference */

typedef struct maker {
    ridge_kernel kernel;
    arm_manifest manifest;
    ridge_arm *arm;
    ridge_gpu_module *module; /* NULL until the first prepare() */
    ridge_gpu_function *function;
    ridge_gpu_function_info info;
} maker;

typedef struct prepared {
    arm_launch launch;
    arm_packed packed;
} prepared;

static ridge_status describe(const ridge_kernel *self, const ridge_case *at,
                             ridge_buffer_desc *buffers, size_t *count, ridge_error *err)
{
    const maker *const made = self->context;

    return arm_signature_describe(&made->manifest.signature, at, buffers, count, err);
}

static ridge_status value_or_nan(const arm_values *values, const arm_expression *expression,
                                 double *out, ridge_error *err)
{
    int64_t value = 0;
    const ridge_status status = expression->text == NULL
                                    ? RIDGE_OK
                                    : arm_value(values, expression, 0, INT64_MAX, &value, err);

    *out = expression->text == NULL ? (double)NAN : (double)value;
    return status;
}

static ridge_status work(const ridge_kernel *self, const ridge_case *at, ridge_kernel_work *out,
                         ridge_error *err)
{
    const arm_manifest *const manifest = &((const maker *)self->context)->manifest;
    arm_values values;
    double length = 0;
    ridge_status status = arm_values_of(&manifest->signature, at, NULL, &values, err);

    if (status == RIDGE_OK)
        status = value_or_nan(&values, &manifest->flop, &out->flop_count, err);
    if (status == RIDGE_OK)
        status = value_or_nan(&values, &manifest->read_bytes, &out->read_bytes, err);
    if (status == RIDGE_OK)
        status = value_or_nan(&values, &manifest->written_bytes, &out->written_bytes, err);
    if (status == RIDGE_OK)
        status = value_or_nan(&values, &manifest->footprint_bytes, &out->footprint_bytes, err);
    if (status == RIDGE_OK)
        status = value_or_nan(&values, &manifest->accumulate_length, &length, err);
    if (isnan(out->footprint_bytes))
        out->footprint_bytes = 0; /* the sum of the buffers */
    out->peak = manifest->peak;
    out->accumulate_length = isnan(length) ? 0 : (int64_t)length;
    return status;
}

/* -- loading ----------------------------------------------------------------------------------- */

/* The driver's own word on the parameters, which PTX has no other. */
static ridge_status check_driver(const maker *made, ridge_error *err)
{
    const ridge_gpu_function_info *const info = &made->info;
    ridge_kernel_parameter found[ARM_MOST_PARAMETERS];

    if (info->parameter_count < 0)
        return RIDGE_OK;
    for (int i = 0; i < info->parameter_count && i < ARM_MOST_PARAMETERS; i++) {
        found[i].offset_bytes = info->parameter_offset[i];
        found[i].size_bytes = info->parameter_bytes[i];
    }
    return arm_parameters_compare(&made->manifest, found, (size_t)info->parameter_count,
                                  made->manifest.entry, err);
}

/* PTX has to end in a NUL for the driver. */
static ridge_status load(maker *made, ridge_error *err)
{
    const ridge_arm *const arm = made->arm;
    char log[240] = "";
    ridge_error local = {RIDGE_OK, ""};
    ridge_status status;

    if (made->module != NULL)
        return RIDGE_OK;
    status = ridge_gpu_module_load(arm->device, arm->image, arm->image_bytes, log, sizeof(log),
                                   &made->module, &local);
    if (status != RIDGE_OK)
        return ridge_fail(err, status, "%s%s%s", local.text, log[0] != '\0' ? ": " : "", log);
    status = ridge_gpu_module_function(made->module, made->manifest.entry, &made->function, err);
    if (status == RIDGE_OK)
        status = ridge_gpu_function_get_info(made->function, &made->info, err);
    if (status == RIDGE_OK)
        status = check_driver(made, err);
    if (status != RIDGE_OK) {
        ridge_gpu_module_free(made->module);
        made->module = NULL;
    }
    return status;
}

static ridge_status check_limits(const maker *made, const ridge_gpu_launch *launch,
                                 ridge_error *err)
{
    const size_t most = ridge_device_get_info(made->arm->device)->shared_per_block_bytes;
    const unsigned threads = launch->block[0] * launch->block[1] * launch->block[2];

    if (made->info.threads_per_block_most > 0 &&
        threads > (unsigned)made->info.threads_per_block_most)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "block has %u threads, %s takes at most %d (launch bounds, registers)",
                          threads, made->manifest.entry, made->info.threads_per_block_most);
    if (most > 0 && made->info.static_shared_bytes + launch->dynamic_shared_bytes > most)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "smem_bytes is %zu with %zu static bytes, a block of this GPU has %zu",
                          launch->dynamic_shared_bytes, made->info.static_shared_bytes, most);
    return RIDGE_OK;
}

/* -- launches ---------------------------------------------------------------------------------- */

static ridge_status prepare(const ridge_kernel *self, const ridge_case *at, const ridge_view *view,
                            void **state, struct CUstream_st *stream, ridge_error *err)
{
    maker *const made = self->context;
    arm_values values;
    prepared *ready;
    ridge_status status;

    (void)stream;
    *state = NULL;
    if (!ridge_device_get_info(made->arm->device)->has_modules)
        return ridge_fail(err, RIDGE_ERR_NO_DEVICE, "machine code runs on a GPU only");
    ready = ridge_calloc(1, sizeof(*ready));
    if (ready == NULL)
        return arm_out_of_memory(err);
    status = load(made, err);
    if (status == RIDGE_OK)
        status = arm_values_of(&made->manifest.signature, at, view->buffers, &values, err);
    if (status == RIDGE_OK)
        status = arm_manifest_launch(&made->manifest, &values, &ready->launch, err);
    if (status == RIDGE_OK)
        status = check_limits(made, &ready->launch.launch, err);
    if (status == RIDGE_OK)
        status = arm_signature_pack(&made->manifest.signature, &values, made->arm->device,
                                    view->data, &ready->packed, err);
    if (status != RIDGE_OK) {
        ridge_free(ready);
        return status;
    }
    *state = ready;
    return RIDGE_OK;
}

static ridge_status launch(const ridge_kernel *self, const ridge_case *at, const ridge_view *view,
                           void *state, struct CUstream_st *stream, ridge_error *err)
{
    const maker *const made = self->context;
    const prepared *const ready = state;

    (void)at;
    (void)view;
    return ready->launch.is_empty
               ? RIDGE_OK
               : ridge_gpu_function_launch(made->function, &ready->launch.launch,
                                           ready->packed.parameters, stream, err);
}

static void finish(const ridge_kernel *self, void *state)
{
    prepared *const ready = state;

    (void)self;
    if (ready != NULL)
        arm_packed_release(&ready->packed);
    ridge_free(ready);
}

static void release(void *of)
{
    maker *const made = of;

    ridge_gpu_module_free(made->module);
}

/* -- opening ----------------------------------------------------------------------------------- */

/* Whether a module can be loaded from such a file. */
static bool is_loadable(ridge_image_kind kind)
{
    return kind == RIDGE_IMAGE_CUBIN || kind == RIDGE_IMAGE_FATBIN || kind == RIDGE_IMAGE_PTX;
}

/* A cubin is built where it runs, and is often not in the folder that its manifest and its source are
 * in: the line that makes it. */
static ridge_status no_image(const ridge_arm *arm, const char *image, const char *path,
                             const ridge_error *why, ridge_error *err)
{
    static const char suffix[] = ".cubin";
    const ridge_device_info *const info = ridge_device_get_info(arm->device);
    const size_t length = strlen(path);
    const size_t stem = length - (sizeof(suffix) - 1);
    char source[200], arch[16] = "native";

    if (length < sizeof(suffix) || length >= sizeof(source) || strcmp(path + stem, suffix) != 0 ||
        access(path, F_OK) == 0)
        return ridge_fail(err, why->status, "image %.200s: %s", image, why->text);
    snprintf(source, sizeof(source), "%.*s.cu", (int)stem, path);
    if (access(source, F_OK) != 0)
        return ridge_fail(err, why->status, "image %.200s: %s", image, why->text);
    if (info->kind == RIDGE_DEVICE_CUDA)
        snprintf(arch, sizeof(arch), "sm_%d", info->sm_version);
    return ridge_fail(err, why->status,
                      "its image is not there: nvcc -cubin -arch=%s -lineinfo -o %s %s makes it",
                      arch, path, source);
}

static ridge_status take_image(ridge_arm *arm, const arm_manifest *manifest, ridge_error *err)
{
    const char *const path = arm_path_beside(&arm->arena, arm->name.path, manifest->image);
    ridge_error local = {RIDGE_OK, ""};
    ridge_status status;

    if (path == NULL)
        return arm_out_of_memory(err);
    if (manifest->image_data == NULL) {
        status = arm_read_file(path, &arm->image, &arm->image_bytes, &local);
        return status == RIDGE_OK ? RIDGE_OK : no_image(arm, manifest->image, path, &local, err);
    }
    if (ridge_base64_read(manifest->image_data, &arm->image, &arm->image_bytes))
        return RIDGE_OK;
    return arm->image_bytes != 0
               ? arm_out_of_memory(err)
               : ridge_fail(err, RIDGE_ERR_FORMAT, "image_data is no base64 without line breaks");
}

static ridge_status read_image(ridge_arm *arm, const arm_manifest *manifest, ridge_error *err)
{
    const ridge_device_info *const info = ridge_device_get_info(arm->device);
    const int sm = info->kind == RIDGE_DEVICE_CUDA ? info->sm_version : 0;
    ridge_image_kind kind;
    ridge_status status = take_image(arm, manifest, err);

    if (status == RIDGE_OK)
        status = arm_image_check(manifest, arm->image, arm->image_bytes, manifest->image, sm, &kind,
                                 err);
    if (status != RIDGE_OK)
        return status;
    if (!is_loadable(kind))
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "image %.200s is a file of the host, expected a cubin, fat binary or PTX "
                          "(cuobjdump -xelf all takes them out)",
                          manifest->image);
    return ridge_code_of(arm->image, arm->image_bytes, manifest->entry, &arm->code, err);
}

static ridge_status open_reference(ridge_arm *arm, const maker *made, const ridge_node *root,
                                   const ridge_arm_options *options, ridge_error *err)
{
    const ridge_node *const embedded = ridge_node_member(root, "reference_manifest");
    const char *text = made->manifest.reference;
    ridge_arm_name name;
    ridge_status status;

    if (ridge_node_kind_of(embedded) == RIDGE_NODE_OBJECT) {
        if (ridge_node_count(embedded) == 0)
            return RIDGE_OK; /* archived without it */
        status = arm_open_embedded(arm, embedded, options, &arm->reference, err);
        return status == RIDGE_OK ? arm_borrow_arm(arm, err) : status;
    }
    status = ridge_arm_name_parse(text, &name, err);
    if (status != RIDGE_OK)
        return status;
    if (name.kind != RIDGE_ARM_FAMILY)
        text = arm_path_beside(&arm->arena, arm->name.path, text);
    if (text == NULL)
        return arm_out_of_memory(err);
    status = ridge_arm_open(arm->device, text, options, &arm->reference, err);
    return status == RIDGE_OK ? arm_borrow_arm(arm, err) : status;
}

/* The manifest as one file: what is missing in it is put behind its members. A reference that is
 * neither a family nor a manifest is left out, since its file may be another later. */
static ridge_status write_archive(ridge_arm *arm, const maker *made, const ridge_node *root,
                                  ridge_error *err)
{
    ridge_text *const out = &arm->archive;
    const ridge_arm *const reference = arm->reference;
    ridge_status status = ridge_record_line_of(root, out, err);

    if (status != RIDGE_OK)
        return status;
    if (made->manifest.image_data == NULL) {
        out->length--; /* the brace */
        ridge_text_add(out, ",\"image_data\":\"");
        ridge_base64_add(out, arm->image, arm->image_bytes);
        ridge_text_add(out, "\"}");
    }
    if (reference != NULL && reference->name.kind != RIDGE_ARM_FAMILY &&
        ridge_node_kind_of(ridge_node_member(root, "reference_manifest")) == RIDGE_NODE_NULL) {
        out->length--;
        ridge_text_add(out, ",\"reference_manifest\":");
        ridge_text_add_bytes(out, reference->archive.length > 0 ? reference->archive.data : "{}",
                             reference->archive.length > 0 ? reference->archive.length : 2);
        ridge_text_add(out, "}");
    }
    return out->failed ? arm_out_of_memory(err) : RIDGE_OK;
}

static ridge_status open_node(ridge_arm *arm, const ridge_node *root,
                              const ridge_arm_options *options, ridge_error *err)
{
    maker *const made = ridge_alloc(&arm->arena, sizeof(*made));
    const ridge_family *family = NULL;
    ridge_status status;

    if (made == NULL)
        return arm_out_of_memory(err);
    made->arm = arm;
    arm->maker = made;
    arm->maker_release = release;
    status = arm_manifest_read(root, &arm->arena, &made->manifest, err);
    if (status == RIDGE_OK)
        status = read_image(arm, &made->manifest, err);
    if (status != RIDGE_OK)
        return status;
    made->kernel = (ridge_kernel){.struct_size = sizeof(ridge_kernel),
                                  .name = made->manifest.entry,
                                  .describe = describe,
                                  .work = made->manifest.has_work ? work : NULL,
                                  .prepare = prepare,
                                  .launch = launch,
                                  .finish = finish,
                                  .row_axis = made->manifest.row_axis,
                                  .context = made};
    arm->kernel = &made->kernel;
    arm->signature = &made->manifest.signature;
    arm->dtype = made->manifest.signature.dtype;
    arm->dtypes = &arm->dtype;
    arm->dtype_count = 1;
    arm->tile = made->manifest.tile;
    arm_signature_case(arm->signature, &arm->base);
    if (arm->is_embedded)
        return RIDGE_OK;
    if (made->manifest.reference != NULL) {
        status = open_reference(arm, made, root, options, err);
    } else {
        status = arm_family_of(options, made->manifest.family, &family, err);
        if (status == RIDGE_OK)
            status = arm_borrow_family(arm, family, err);
    }
    return status == RIDGE_OK ? write_archive(arm, made, root, err) : status;
}

ridge_status arm_open_embedded(const ridge_arm *arm, const ridge_node *root,
                               const ridge_arm_options *options, ridge_arm **out, ridge_error *err)
{
    ridge_error local = {RIDGE_OK, ""};
    ridge_status status = arm_create(arm->device, arm->text, out, err);

    if (status != RIDGE_OK)
        return status;
    (*out)->name = arm->name;
    (*out)->is_embedded = true;
    status = open_node(*out, root, options, &local);
    if (status == RIDGE_OK)
        return RIDGE_OK;
    ridge_arm_free(*out);
    *out = NULL;
    return ridge_fail(err, status, "reference_manifest: %s", local.text);
}

ridge_status arm_open_manifest(ridge_arm *arm, const ridge_arm_options *options, ridge_error *err)
{
    ridge_document document = {NULL};
    void *text = NULL;
    size_t size_bytes;
    ridge_status status = arm_read_file(arm->name.path, &text, &size_bytes, err);

    if (status == RIDGE_OK)
        status =
            ridge_document_parse_at_most(text, size_bytes, MOST_MANIFEST_BYTES, &document, err);
    ridge_free(text);
    if (status == RIDGE_OK)
        status = open_node(arm, document.root, options, err);
    ridge_document_release(&document);
    return status;
}
