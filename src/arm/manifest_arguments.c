/* SPDX-License-Identifier: Apache-2.0
 *
 * The arguments of a manifest: what each parameter of the entry is made of. A structure is a
 * parameter of several fields, each an argument again with an offset of its own. */
#include <stdio.h>
#include <string.h>

#include "arm/arm_internal.h"

static const char members[] = "name role dtype shape stride values value buffer tensor box swizzle "
                              "interleave element_strides l2_promotion fill hex bytes offset "
                              "fields notes";

static ridge_status read_dtype(const arm_member *in, ridge_dtype *out, ridge_error *err)
{
    const char *name = NULL;
    const ridge_status status = arm_member_text(in, "dtype", true, &name, err);

    if (status == RIDGE_OK && !ridge_dtype_find(name, out))
        return arm_fail_member(in, "dtype", "one of" RIDGE_DTYPE_NAMES, err);
    return status;
}

/* The buffer that a member names. */
static ridge_status read_buffer_name(const arm_member *in, const char *key,
                                     const arm_signature *signature, int *out, ridge_error *err)
{
    const char *name = NULL;
    const ridge_status status = arm_member_text(in, key, true, &name, err);

    if (status != RIDGE_OK)
        return status;
    *out = arm_find_buffer(signature, name, strlen(name));
    if (*out < 0)
        return arm_fail_member(in, key, "the name of a buffer that stands before it", err);
    return RIDGE_OK;
}

/* -- one piece by its role --------------------------------------------------------------------- */

static ridge_status read_buffer(const arm_member *in, ridge_role role, const char *name,
                                arm_signature *signature, ridge_error *err)
{
    const char *values = NULL;
    size_t shape_count = 0, stride_count = SIZE_MAX;
    arm_buffer *const buffer = arm_add_buffer(signature, name, in->path, err);
    ridge_status status;

    if (buffer == NULL)
        return RIDGE_ERR_FORMAT;
    buffer->role = role;
    status = read_dtype(in, &buffer->dtype, err);
    if (status == RIDGE_OK &&
        ridge_node_kind_of(ridge_node_member(in->object, "shape")) != RIDGE_NODE_ARRAY)
        status = arm_fail_member(in, "shape", "an array such as [\"m\", \"n\"]", err);
    if (status == RIDGE_OK)
        status = arm_member_expressions(in, "shape", buffer->shape, RIDGE_BUFFER_DIMS, &shape_count,
                                        err);
    if (status == RIDGE_OK)
        status = arm_member_expressions(in, "stride", buffer->stride, RIDGE_BUFFER_DIMS,
                                        &stride_count, err);
    buffer->ndim = (int)shape_count;
    if (status == RIDGE_OK && stride_count != SIZE_MAX && stride_count != shape_count)
        status = ridge_fail(err, RIDGE_ERR_FORMAT,
                            "%s.stride has %zu elements, expected one for each of the shape's %zu",
                            in->path, stride_count, shape_count);
    if (status == RIDGE_OK)
        status = arm_member_text(in, "values", false, &values, err);
    buffer->has_values = values != NULL;
    if (status == RIDGE_OK && values != NULL && !ridge_values_find(values, &buffer->values))
        return arm_fail_member(in, "values",
                               "one of normal int unit index onehot odd12 positive outlier "
                               "subnormal nonfinite constant sorted zero one",
                               err);
    return status;
}

static ridge_status read_scalar(const arm_member *in, arm_piece *piece, ridge_error *err)
{
    const ridge_node *const value = ridge_node_member(in->object, "value");
    ridge_status status = read_dtype(in, &piece->dtype, err);
    int64_t whole;

    if (status != RIDGE_OK)
        return status;
    piece->kind = ARM_PIECE_SCALAR;
    piece->size_bytes = (uint32_t)ridge_dtype_bytes(piece->dtype);
    if (ridge_node_kind_of(value) == RIDGE_NODE_NULL)
        return arm_fail_member(in, "value", "a number or an expression", err);
    if (ridge_node_kind_of(value) == RIDGE_NODE_NUMBER &&
        (ridge_dtype_is_float(piece->dtype) || !ridge_node_integer(value, &whole))) {
        if (!ridge_dtype_is_float(piece->dtype))
            return arm_fail_member(in, "value", "a whole number or an expression", err);
        piece->number = ridge_node_number(value);
        return RIDGE_OK;
    }
    return arm_member_expression(in, "value", &piece->value, err);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static ridge_status read_raw(const arm_member *in, arm_piece *piece, ridge_error *err)
{
    static const char expected[] = "bytes as pairs of hexadecimal digits";
    const char *hex = NULL;
    const ridge_status status = arm_member_text(in, "hex", true, &hex, err);
    uint8_t *raw;
    size_t length;

    if (status != RIDGE_OK)
        return status;
    length = strlen(hex);
    if (length % 2 != 0 || length / 2 > ARM_MOST_PARAMETER_BYTES)
        return arm_fail_member(in, "hex", expected, err);
    raw = ridge_alloc_array(in->arena, length / 2, 1);
    if (raw == NULL)
        return arm_out_of_memory(err);
    for (size_t i = 0; i < length / 2; i++) {
        const int high = hex_digit(hex[2 * i]), low = hex_digit(hex[2 * i + 1]);

        if (high < 0 || low < 0)
            return arm_fail_member(in, "hex", expected, err);
        raw[i] = (uint8_t)(high * 16 + low);
    }
    piece->kind = ARM_PIECE_RAW;
    piece->raw = raw;
    piece->size_bytes = (uint32_t)(length / 2);
    return RIDGE_OK;
}

static bool is_one_of(int64_t value, const int64_t *choices, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (value == choices[i])
            return true;
    return false;
}

static ridge_status read_map_options(const arm_member *in, arm_map *map, ridge_error *err)
{
    static const struct {
        const char *key, *expected;
        int64_t choices[4];
        size_t count;
    } options[] = {
        {"swizzle", "0, 32, 64 or 128 bytes", {0, 32, 64, 128}, 4},
        {"interleave", "0, 16 or 32 bytes", {0, 16, 32}, 3},
        {"l2_promotion", "0, 64, 128 or 256 bytes", {0, 64, 128, 256}, 4},
    };
    int64_t *const values[] = {&map->swizzle_bytes, &map->interleave_bytes,
                               &map->l2_promotion_bytes};
    const char *fill = NULL;
    ridge_status status;

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        status = arm_member_integer(in, options[i].key, 0, 256, values[i], err);
        if (status != RIDGE_OK)
            return status;
        if (!is_one_of(*values[i], options[i].choices, options[i].count))
            return ridge_fail(err, RIDGE_ERR_FORMAT, "%s.%s is %lld, expected %s", in->path,
                              options[i].key, (long long)*values[i], options[i].expected);
    }
    status = arm_member_text(in, "fill", false, &fill, err);
    if (status == RIDGE_OK && fill != NULL && strcmp(fill, "zero") != 0 && strcmp(fill, "nan") != 0)
        return arm_fail_member(in, "fill", "\"zero\" or \"nan\"", err);
    map->nan_fill = fill != NULL && strcmp(fill, "nan") == 0;
    return status;
}

static ridge_status read_element_strides(const arm_member *in, arm_map *map, ridge_error *err)
{
    const ridge_node *const value = ridge_node_member(in->object, "element_strides");

    for (int i = 0; i < map->ndim; i++)
        map->element_stride[i] = 1;
    if (ridge_node_kind_of(value) == RIDGE_NODE_NULL)
        return RIDGE_OK;
    if (ridge_node_kind_of(value) != RIDGE_NODE_ARRAY ||
        ridge_node_count(value) != (size_t)map->ndim)
        return arm_fail_member(in, "element_strides", "an array as long as box", err);
    for (int i = 0; i < map->ndim; i++) {
        int64_t *const stride = &map->element_stride[i];

        if (!ridge_node_integer(ridge_node_at(value, (size_t)i), stride) || *stride < 1 ||
            *stride > 8)
            return arm_fail_member(in, "element_strides", "whole numbers from 1 to 8", err);
    }
    return RIDGE_OK;
}

/* Shape and stride of the map: the buffer's, or its own. */
static ridge_status read_map_shape(const arm_member *in, const arm_buffer *buffer, arm_map *map,
                                   ridge_error *err)
{
    size_t box_count = 0, shape_count = (size_t)buffer->ndim, stride_count = SIZE_MAX;
    ridge_status status =
        arm_member_expressions(in, "box", map->box, RIDGE_BUFFER_DIMS, &box_count, err);

    if (status == RIDGE_OK)
        status =
            arm_member_expressions(in, "shape", map->shape, RIDGE_BUFFER_DIMS, &shape_count, err);
    if (status == RIDGE_OK)
        status = arm_member_expressions(in, "stride", map->stride, RIDGE_BUFFER_DIMS, &stride_count,
                                        err);
    if (status != RIDGE_OK)
        return status;
    if (box_count == 0 || box_count != shape_count)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "%s.box has %zu elements, expected one for each of the shape's %zu",
                          in->path, box_count, shape_count);
    if (stride_count == SIZE_MAX ? map->shape[0].text != NULL : stride_count != shape_count)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "%s.stride: expected %zu elements, one for each of the shape's", in->path,
                          shape_count);
    map->ndim = (int)box_count;
    return RIDGE_OK;
}

static ridge_status read_map(const arm_member *in, const arm_signature *signature, arm_piece *piece,
                             ridge_error *err)
{
    arm_map *const map = ridge_alloc(in->arena, sizeof(*map));
    int buffer = 0;
    ridge_status status;

    if (map == NULL)
        return arm_out_of_memory(err);
    piece->kind = ARM_PIECE_MAP;
    piece->map = map;
    piece->size_bytes = ARM_MAP_BYTES;
    status = read_buffer_name(in, "tensor", signature, &buffer, err);
    if (status != RIDGE_OK)
        return status;
    map->buffer = (size_t)buffer;
    map->dtype = signature->buffers[buffer].dtype;
    if (ridge_node_kind_of(ridge_node_member(in->object, "dtype")) != RIDGE_NODE_NULL)
        status = read_dtype(in, &map->dtype, err);
    if (status == RIDGE_OK)
        status = read_map_shape(in, &signature->buffers[buffer], map, err);
    if (status == RIDGE_OK)
        status = read_map_options(in, map, err);
    if (status == RIDGE_OK)
        status = read_element_strides(in, map, err);
    return status;
}

static ridge_status read_pointer(const arm_member *in, const arm_signature *signature,
                                 arm_piece *piece, ridge_error *err)
{
    piece->kind = ARM_PIECE_POINTER;
    piece->size_bytes = ARM_POINTER_BYTES;
    if (ridge_node_kind_of(ridge_node_member(in->object, "buffer")) == RIDGE_NODE_NULL)
        return RIDGE_OK; /* NULL */
    return read_buffer_name(in, "buffer", signature, &piece->buffer, err);
}

/* -- arguments --------------------------------------------------------------------------------- */

static bool find_role(const char *name, ridge_role *out)
{
    static const char *const names[] = {[RIDGE_ROLE_IN] = "in",
                                        [RIDGE_ROLE_OUT] = "out",
                                        [RIDGE_ROLE_INOUT] = "inout",
                                        [RIDGE_ROLE_WORKSPACE] = "workspace"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (ridge_role)i;
            return true;
        }
    return false;
}

/* A piece of the parameter added last. */
static ridge_status read_piece(const arm_member *in, arm_signature *signature, bool is_field,
                               ridge_error *err)
{
    const char *role = NULL, *name = NULL;
    ridge_role buffer_role = RIDGE_ROLE_IN;
    arm_piece *piece;
    ridge_status status = arm_members_check(in, members, err);

    if (status == RIDGE_OK)
        status = arm_member_text(in, "role", true, &role, err);
    if (status == RIDGE_OK)
        status =
            arm_member_text(in, "name", !is_field || find_role(role, &buffer_role), &name, err);
    if (status != RIDGE_OK)
        return status;
    piece = arm_add_piece(signature, in->path, err);
    if (piece == NULL)
        return RIDGE_ERR_FORMAT;
    if (find_role(role, &buffer_role)) {
        piece->kind = ARM_PIECE_POINTER;
        piece->size_bytes = ARM_POINTER_BYTES;
        piece->buffer = (int)signature->buffer_count;
        return read_buffer(in, buffer_role, name, signature, err);
    }
    if (strcmp(role, "scalar") == 0)
        return read_scalar(in, piece, err);
    if (strcmp(role, "tensor_map") == 0)
        return read_map(in, signature, piece, err);
    if (strcmp(role, "pointer") == 0)
        return read_pointer(in, signature, piece, err);
    if (strcmp(role, "raw") == 0)
        return read_raw(in, piece, err);
    return arm_fail_member(in, "role",
                           is_field
                               ? "in, out, inout, workspace, pointer, scalar, tensor_map or raw"
                               : "in, out, inout, workspace, pointer, scalar, tensor_map, struct "
                                 "or raw",
                           err);
}

static ridge_status read_field(const arm_member *in, arm_signature *signature, uint32_t size_bytes,
                               ridge_error *err)
{
    int64_t offset = -1;
    const arm_piece *before;
    arm_piece *piece;
    ridge_status status = read_piece(in, signature, true, err);

    if (status == RIDGE_OK)
        status = arm_member_integer(in, "offset", 0, size_bytes, &offset, err);
    if (status != RIDGE_OK)
        return status;
    piece = &signature->pieces[signature->piece_count - 1];
    before =
        signature->parameters[signature->parameter_count - 1].piece_count > 1 ? piece - 1 : NULL;
    if (offset < 0)
        return arm_fail_member(in, "offset", "the offset of the field in bytes", err);
    if (piece->size_bytes > size_bytes - (uint32_t)offset)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "%s has %u bytes at %lld, behind the end of the structure's %u", in->path,
                          piece->size_bytes, (long long)offset, size_bytes);
    piece->offset_bytes = (uint32_t)offset;
    if (before != NULL && offset < (int64_t)before->offset_bytes + before->size_bytes)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "%s.offset is %lld, expected at least %u, the end of the field before",
                          in->path, (long long)offset, before->offset_bytes + before->size_bytes);
    return RIDGE_OK;
}

static ridge_status read_struct(const arm_member *in, arm_signature *signature, ridge_error *err)
{
    const ridge_node *const fields = ridge_node_member(in->object, "fields");
    ridge_status status = arm_members_check(in, "name role bytes offset fields notes", err);
    int64_t size_bytes = 0;

    if (status == RIDGE_OK)
        status = arm_member_integer(in, "bytes", 1, ARM_MOST_PARAMETER_BYTES, &size_bytes, err);
    if (status != RIDGE_OK)
        return status;
    if (size_bytes == 0)
        return arm_fail_member(in, "bytes", "the size of the structure", err);
    if (ridge_node_kind_of(fields) != RIDGE_NODE_ARRAY)
        return arm_fail_member(in, "fields", "an array of fields", err);
    for (size_t i = 0; i < ridge_node_count(fields) && status == RIDGE_OK; i++) {
        arm_member field = {ridge_node_at(fields, i), NULL, in->arena};
        char key[32];

        snprintf(key, sizeof(key), "fields[%zu]", i);
        field.path = arm_member_path(in, key);
        if (field.path == NULL)
            return arm_out_of_memory(err);
        status = read_field(&field, signature, (uint32_t)size_bytes, err);
    }
    signature->parameters[signature->parameter_count - 1].size_bytes = (uint32_t)size_bytes;
    return status;
}

static ridge_status read_argument(const arm_member *in, arm_signature *signature, ridge_error *err)
{
    const ridge_node *const role = ridge_node_member(in->object, "role");
    const bool is_struct =
        ridge_node_text(role) != NULL && strcmp(ridge_node_text(role), "struct") == 0;
    arm_parameter *const parameter = arm_add_parameter(signature, "", in->path, err);
    int64_t size_bytes;
    ridge_status status;

    if (parameter == NULL)
        return RIDGE_ERR_FORMAT;
    status = is_struct ? read_struct(in, signature, err) : read_piece(in, signature, false, err);
    if (status == RIDGE_OK)
        status = arm_member_text(in, "name", true, &parameter->name, err);
    if (status == RIDGE_OK)
        status = arm_member_integer(in, "offset", 0, ARM_MOST_PARAMETER_BYTES,
                                    &parameter->offset_bytes, err);
    if (status != RIDGE_OK || is_struct)
        return status;
    parameter->size_bytes = signature->pieces[parameter->first_piece].size_bytes;
    size_bytes = parameter->size_bytes;
    status = arm_member_integer(in, "bytes", 0, ARM_MOST_PARAMETER_BYTES, &size_bytes, err);
    if (status == RIDGE_OK && size_bytes != parameter->size_bytes)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "%s.bytes is %lld, but %s takes %u", in->path,
                          (long long)size_bytes, ridge_node_text(role), parameter->size_bytes);
    return status;
}

/* Buffers that no parameter is: those of tensor maps, or of pointers in structures. */
static ridge_status read_buffers(const ridge_node *root, ridge_arena *arena,
                                 arm_signature *signature, ridge_error *err)
{
    const ridge_node *const buffers = ridge_node_member(root, "buffers");
    const arm_member top = {root, "", arena};
    ridge_status status = RIDGE_OK;

    if (ridge_node_kind_of(buffers) == RIDGE_NODE_NULL)
        return RIDGE_OK;
    if (ridge_node_kind_of(buffers) != RIDGE_NODE_ARRAY)
        return arm_fail_member(&top, "buffers", "an array of buffers", err);
    for (size_t i = 0; i < ridge_node_count(buffers) && status == RIDGE_OK; i++) {
        arm_member in = {ridge_node_at(buffers, i), NULL, arena};
        const char *role = NULL, *name = NULL;
        ridge_role found = RIDGE_ROLE_IN;
        char key[32];

        snprintf(key, sizeof(key), "buffers[%zu]", i);
        in.path = arm_member_path(&top, key);
        if (in.path == NULL)
            return arm_out_of_memory(err);
        status = arm_members_check(&in, "name role dtype shape stride values notes", err);
        if (status == RIDGE_OK)
            status = arm_member_text(&in, "name", true, &name, err);
        if (status == RIDGE_OK)
            status = arm_member_text(&in, "role", true, &role, err);
        if (status == RIDGE_OK && !find_role(role, &found))
            return arm_fail_member(&in, "role", "in, out, inout or workspace", err);
        if (status == RIDGE_OK)
            status = read_buffer(&in, found, name, signature, err);
    }
    return status;
}

ridge_status arm_manifest_arguments(const ridge_node *root, ridge_arena *arena,
                                    arm_signature *signature, ridge_error *err)
{
    const ridge_node *const args = ridge_node_member(root, "args");
    const arm_member top = {root, "", arena};
    ridge_status status = read_buffers(root, arena, signature, err);
    size_t total = 0;

    if (status != RIDGE_OK)
        return status;
    if (ridge_node_kind_of(args) != RIDGE_NODE_ARRAY)
        return arm_fail_member(&top, "args", "an array with one object for each parameter", err);
    for (size_t i = 0; i < ridge_node_count(args) && status == RIDGE_OK; i++) {
        arm_member in = {ridge_node_at(args, i), NULL, arena};
        char key[32];

        snprintf(key, sizeof(key), "args[%zu]", i);
        in.path = arm_member_path(&top, key);
        if (in.path == NULL)
            return arm_out_of_memory(err);
        if (ridge_node_kind_of(in.object) != RIDGE_NODE_OBJECT)
            return ridge_fail(err, RIDGE_ERR_FORMAT, "%s is no object", in.path);
        status = read_argument(&in, signature, err);
        if (status == RIDGE_OK)
            total += signature->parameters[i].size_bytes;
        if (total > ARM_MOST_PARAMETER_BYTES)
            return ridge_fail(err, RIDGE_ERR_FORMAT, "args take more than %d bytes",
                              ARM_MOST_PARAMETER_BYTES);
    }
    return status;
}
