/* SPDX-License-Identifier: Apache-2.0
 *
 * Manifests of machine code without host code: docs/formats/ridge-kernel.md. A member that is not
 * known is refused, since a misspelled one would launch something else without a word, and all
 * expressions are evaluated for the base case at once, so that a manifest that opens launches. */
#include <stdio.h>
#include <string.h>

#include "arm/arm_internal.h"
#include "ridge/bound.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* -- axes, names, requirements ----------------------------------------------------------------- */

static ridge_status read_axis(const arm_member *in, const ridge_node *value, const char *key,
                              arm_signature *signature, ridge_error *err)
{
    static const char expected[] = "a whole number from 0 or an array of at most 256 of them";
    const bool is_array = ridge_node_kind_of(value) == RIDGE_NODE_ARRAY;
    const size_t count = is_array ? ridge_node_count(value) : 1;
    const char *const path = arm_member_path(in, key);
    const char *const name = ridge_alloc_text(in->arena, key, strlen(key));
    int64_t values[ARM_MOST_AXIS_VALUES];

    if (path == NULL || name == NULL)
        return arm_out_of_memory(err);
    if (count == 0 || count > ARM_MOST_AXIS_VALUES)
        return arm_fail_member(in, key, expected, err);
    for (size_t i = 0; i < count; i++) {
        const ridge_node *const one = is_array ? ridge_node_at(value, i) : value;

        if (!ridge_node_integer(one, &values[i]) || values[i] < 0)
            return arm_fail_member(in, key, expected, err);
    }
    return arm_add_axis(signature, in->arena, name, path, values, count, err);
}

static ridge_status read_axes(const ridge_node *root, ridge_arena *arena, arm_signature *signature,
                              ridge_error *err)
{
    const arm_member in = {ridge_node_member(root, "axes"), "axes", arena};
    const ridge_node *value;
    const void *at = NULL;
    const char *key;
    ridge_status status = RIDGE_OK;

    if (ridge_node_kind_of(in.object) == RIDGE_NODE_NULL)
        return RIDGE_OK;
    if (ridge_node_kind_of(in.object) != RIDGE_NODE_OBJECT)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "axes is no object, expected one such as {\"m\": [1, 4096]}");
    while (status == RIDGE_OK && (value = ridge_node_next(in.object, &at, &key)) != NULL)
        status = read_axis(&in, value, key, signature, err);
    return status;
}

static ridge_status read_lets(const ridge_node *root, ridge_arena *arena, arm_signature *signature,
                              ridge_error *err)
{
    const arm_member in = {ridge_node_member(root, "let"), "let", arena};
    const void *at = NULL;
    const char *key;
    ridge_status status = RIDGE_OK;

    if (ridge_node_kind_of(in.object) == RIDGE_NODE_NULL)
        return RIDGE_OK;
    if (ridge_node_kind_of(in.object) != RIDGE_NODE_OBJECT)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "let is no object, expected one such as {\"threads\": \"min(1024, n)\"}");
    while (status == RIDGE_OK && ridge_node_next(in.object, &at, &key) != NULL) {
        arm_let *const let = &signature->lets[signature->let_count];
        const size_t length = arm_name_length(key);

        if (signature->let_count == ARM_MOST_LETS)
            return ridge_fail(err, RIDGE_ERR_FORMAT, "let has more than %d members", ARM_MOST_LETS);
        if (length == 0 || key[length] != '\0' || strchr(key, '.') != NULL)
            return ridge_fail(err, RIDGE_ERR_FORMAT,
                              "let.%.60s is no name, expected letters, digits and '_'", key);
        if (arm_find_axis(signature, key, length) >= 0)
            return ridge_fail(err, RIDGE_ERR_FORMAT, "let.%s is also the name of an axis", key);
        let->name = ridge_alloc_text(arena, key, length);
        if (let->name == NULL)
            return arm_out_of_memory(err);
        status = arm_member_expression(&in, key, &let->value, err);
        if (status == RIDGE_OK && let->value.text == NULL)
            status = arm_fail_member(&in, key, "an expression", err);
        signature->let_count++;
    }
    return status;
}

/* -- launch and work --------------------------------------------------------------------------- */

static ridge_status read_extents(const arm_member *top, const char *key, bool is_required,
                                 arm_expression out[3], ridge_error *err)
{
    size_t count = 0;
    const ridge_status status = arm_member_expressions(top, key, out, 3, &count, err);

    if (status == RIDGE_OK && count == 0 && is_required)
        return arm_fail_member(top, key, "an array of 1 to 3 expressions", err);
    return status;
}

static ridge_status read_launch(const arm_member *top, arm_manifest *out, ridge_error *err)
{
    ridge_status status = read_extents(top, "grid", true, out->grid, err);

    if (status == RIDGE_OK)
        status = read_extents(top, "block", true, out->block, err);
    if (status == RIDGE_OK)
        status = read_extents(top, "cluster", false, out->cluster, err);
    if (status == RIDGE_OK)
        status = arm_member_expression(top, "smem_bytes", &out->shared_bytes, err);
    if (status == RIDGE_OK)
        status = arm_member_bool(top, "pdl", &out->programmatic_dependent_launch, err);
    return status;
}

/* "'none' 'fp64' ...": the names hold blanks. */
#define PEAK_WORD(name, text) " '" text "'"

static ridge_status read_work(const ridge_node *root, ridge_arena *arena, arm_manifest *out,
                              ridge_error *err)
{
    const arm_member in = {ridge_node_member(root, "work"), "work", arena};
    const struct {
        const char *key;
        arm_expression *to;
    } members[] = {
        {"bytes_read", &out->read_bytes},
        {"bytes_written", &out->written_bytes},
        {"footprint_bytes", &out->footprint_bytes},
        {"flop", &out->flop},
        {"accumulate_length", &out->accumulate_length},
    };
    const char *peak = NULL;
    ridge_peak found = RIDGE_PEAK_NONE;
    ridge_status status;

    if (ridge_node_kind_of(in.object) == RIDGE_NODE_NULL)
        return RIDGE_OK;
    out->has_work = true;
    status = arm_members_check(
        &in, "bytes_read bytes_written footprint_bytes flop accumulate_length peak", err);
    for (size_t i = 0; i < COUNT(members) && status == RIDGE_OK; i++)
        status = arm_member_expression(&in, members[i].key, members[i].to, err);
    if (status == RIDGE_OK)
        status = arm_member_text(&in, "peak", false, &peak, err);
    if (status == RIDGE_OK && peak != NULL && !ridge_peak_find(peak, &found))
        return arm_fail_member(&in, "peak", "one of" RIDGE_PEAK_LIST(PEAK_WORD), err);
    out->peak = (int)found;
    return status;
}

static ridge_status read_reference(const ridge_node *root, ridge_arena *arena, arm_manifest *out,
                                   ridge_error *err)
{
    const arm_member in = {ridge_node_member(root, "reference"), "reference", arena};
    ridge_status status;

    if (ridge_node_kind_of(in.object) == RIDGE_NODE_NULL)
        return RIDGE_OK;
    status = arm_members_check(&in, "family arm", err);
    if (status == RIDGE_OK)
        status = arm_member_text(&in, "family", false, &out->family, err);
    if (status == RIDGE_OK)
        status = arm_member_text(&in, "arm", false, &out->reference, err);
    if (status == RIDGE_OK && (out->family != NULL) == (out->reference != NULL))
        return ridge_fail(err, RIDGE_ERR_FORMAT, "reference has %s, expected family or arm",
                          out->family != NULL ? "both family and arm" : "neither family nor arm");
    return status;
}

/* -- the whole --------------------------------------------------------------------------------- */

static ridge_status read_top(const arm_member *top, arm_manifest *out, bool *has_dtype,
                             ridge_error *err)
{
    const char *schema = NULL, *dtype = NULL;
    ridge_status status = arm_member_text(top, "schema", true, &schema, err);

    if (status != RIDGE_OK)
        return status;
    if (strcmp(schema, "ridge-kernel/1") != 0)
        return arm_fail_member(top, "schema", "\"ridge-kernel/1\"", err);
    status = arm_members_check(top,
                               "schema image image_data entry family axes let requires grid block "
                               "cluster smem_bytes pdl buffers args work reference "
                               "reference_manifest dtype tile row_axis notes",
                               err);
    if (status == RIDGE_OK)
        status = arm_member_text(top, "image", true, &out->image, err);
    if (status == RIDGE_OK)
        status = arm_member_text(top, "image_data", false, &out->image_data, err);
    if (status == RIDGE_OK)
        status = arm_member_text(top, "entry", true, &out->entry, err);
    if (status == RIDGE_OK)
        status = read_reference(top->object, top->arena, out, err);
    if (status == RIDGE_OK && out->family == NULL)
        status = arm_member_text(top, "family", false, &out->family, err);
    if (status == RIDGE_OK)
        status = arm_member_text(top, "row_axis", false, &out->row_axis, err);
    if (status == RIDGE_OK)
        status = arm_member_integer(top, "tile", 0, 1 << 20, &out->tile, err);
    if (status == RIDGE_OK)
        status = arm_member_text(top, "dtype", false, &dtype, err);
    *has_dtype = dtype != NULL;
    if (status == RIDGE_OK && dtype != NULL && !ridge_dtype_find(dtype, &out->signature.dtype))
        return arm_fail_member(top, "dtype", "one of" RIDGE_DTYPE_NAMES, err);
    return status;
}

static ridge_status check_row_axis(const arm_manifest *manifest, ridge_error *err)
{
    if (manifest->row_axis != NULL &&
        arm_find_axis(&manifest->signature, manifest->row_axis, strlen(manifest->row_axis)) < 0)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "row_axis is \"%.40s\", which is no axis",
                          manifest->row_axis);
    return RIDGE_OK;
}

/* A base case that breaks an expression is a fault of the file. */
static ridge_status try_base(const arm_manifest *manifest, ridge_error *err)
{
    ridge_error local = {RIDGE_OK, ""};
    ridge_case base;
    ridge_status status;

    arm_signature_case(&manifest->signature, &base);
    status = arm_manifest_try(manifest, &base, &local);
    if (status == RIDGE_OK || status == RIDGE_ERR_OUT_OF_MEMORY)
        return status == RIDGE_OK ? RIDGE_OK : arm_out_of_memory(err);
    return ridge_fail(err, RIDGE_ERR_FORMAT, "%s (with the first value of each axis)", local.text);
}

ridge_status arm_manifest_read(const ridge_node *root, ridge_arena *arena, arm_manifest *out,
                               ridge_error *err)
{
    const arm_member top = {root, "", arena};
    bool has_dtype = false;
    ridge_status status;

    memset(out, 0, sizeof(*out));
    status = read_top(&top, out, &has_dtype, err);
    if (status == RIDGE_OK)
        status = read_axes(root, arena, &out->signature, err);
    if (status == RIDGE_OK)
        status = read_lets(root, arena, &out->signature, err);
    if (status == RIDGE_OK)
        status = arm_member_expressions(&top, "requires", out->signature.requires,
                                        ARM_MOST_REQUIRES, &out->signature.require_count, err);
    if (status == RIDGE_OK)
        status = read_launch(&top, out, err);
    if (status == RIDGE_OK)
        status = arm_manifest_arguments(root, arena, &out->signature, err);
    if (status == RIDGE_OK)
        status = read_work(root, arena, out, err);
    if (status == RIDGE_OK)
        status = check_row_axis(out, err);
    if (status != RIDGE_OK)
        return status;
    arm_signature_finish(&out->signature, has_dtype);
    return try_base(out, err);
}

/* -- a case ------------------------------------------------------------------------------------ */

static ridge_status value_or(const arm_values *values, const arm_expression *expression,
                             int64_t lowest, int64_t highest, int64_t fallback, int64_t *out,
                             ridge_error *err)
{
    *out = fallback;
    return expression->text == NULL ? RIDGE_OK
                                    : arm_value(values, expression, lowest, highest, out, err);
}

ridge_status arm_manifest_launch(const arm_manifest *manifest, const arm_values *values,
                                 arm_launch *out, ridge_error *err)
{
    /* Grid limits of every GPU that CUDA 12 and later support; the block's and shared memory's are
     * those of no function more than 1024 threads and 1 MiB, the driver knows the rest. */
    static const int64_t grid_most[3] = {INT32_MAX, 65535, 65535};
    static const int64_t block_most[3] = {1024, 1024, 64};
    ridge_status status = RIDGE_OK;
    int64_t value, threads = 1;

    memset(out, 0, sizeof(*out));
    for (int i = 0; i < 3 && status == RIDGE_OK; i++) {
        status = value_or(values, &manifest->grid[i], 0, grid_most[i], 1, &value, err);
        out->launch.grid[i] = (unsigned)value;
        out->is_empty = out->is_empty || value == 0;
        if (status == RIDGE_OK)
            status = value_or(values, &manifest->block[i], 1, block_most[i], 1, &value, err);
        out->launch.block[i] = (unsigned)value;
        threads *= value;
        if (status == RIDGE_OK)
            status = value_or(values, &manifest->cluster[i], 1, 16,
                              manifest->cluster[0].text != NULL ? 1 : 0, &value, err);
        out->launch.cluster[i] = (unsigned)value;
        if (status == RIDGE_OK && value > 1 && out->launch.grid[i] % (unsigned)value != 0)
            return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                              "grid[%d] is %u, expected a multiple of the cluster's %lld", i,
                              out->launch.grid[i], (long long)value);
    }
    if (status == RIDGE_OK && threads > 1024)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "block has %lld threads, expected at most 1024", (long long)threads);
    if (status == RIDGE_OK)
        status = value_or(values, &manifest->shared_bytes, 0, 1 << 20, 0, &value, err);
    if (status != RIDGE_OK)
        return status;
    out->launch.dynamic_shared_bytes = (size_t)value;
    out->launch.programmatic_dependent_launch = manifest->programmatic_dependent_launch;
    return RIDGE_OK;
}

ridge_status arm_manifest_try(const arm_manifest *manifest, const ridge_case *at, ridge_error *err)
{
    const arm_expression *const work[] = {&manifest->read_bytes, &manifest->written_bytes,
                                          &manifest->footprint_bytes, &manifest->flop,
                                          &manifest->accumulate_length};
    ridge_buffer_desc buffers[RIDGE_KERNEL_BUFFERS];
    arm_values values;
    arm_launch launch;
    arm_packed packed;
    size_t count;
    int64_t value;
    ridge_status status = arm_signature_describe(&manifest->signature, at, buffers, &count, err);

    if (status == RIDGE_OK)
        status = ridge_buffers_lay_out(at, buffers, count, err);
    if (status == RIDGE_OK)
        status = arm_values_of(&manifest->signature, at, buffers, &values, err);
    if (status == RIDGE_OK)
        status = arm_manifest_launch(manifest, &values, &launch, err);
    for (size_t i = 0; i < COUNT(work) && status == RIDGE_OK; i++)
        status = value_or(&values, work[i], 0, INT64_MAX, 0, &value, err);
    if (status != RIDGE_OK)
        return status;
    status = arm_signature_pack(&manifest->signature, &values, NULL, NULL, &packed, err);
    if (status == RIDGE_OK)
        arm_packed_release(&packed);
    return status;
}
