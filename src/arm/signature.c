/* SPDX-License-Identifier: Apache-2.0
 *
 * Signatures: from a case to buffers, and from buffers to the bytes of parameters. Nothing here
 * needs a device but the encoding of tensor maps. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "arm/arm_internal.h"

/* -- building ---------------------------------------------------------------------------------- */

int arm_find_axis(const arm_signature *signature, const char *name, size_t length)
{
    for (size_t i = 0; i < signature->axis_count; i++)
        if (strlen(signature->axes[i].name) == length &&
            strncmp(signature->axes[i].name, name, length) == 0)
            return (int)i;
    return -1;
}

int arm_find_buffer(const arm_signature *signature, const char *name, size_t length)
{
    for (size_t i = 0; i < signature->buffer_count; i++)
        if (strlen(signature->buffers[i].name) == length &&
            strncmp(signature->buffers[i].name, name, length) == 0)
            return (int)i;
    return -1;
}

/* A name that expressions can use, and that fits its place in a case or description. */
static ridge_status check_name(const char *name, const char *path, ridge_error *err)
{
    const size_t most = sizeof(((ridge_axis *)NULL)->name) - 1;
    const size_t length = arm_name_length(name);

    if (length == 0 || name[length] != '\0' || memchr(name, '.', length) != NULL)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "%s: '%.60s' is no name, expected letters, digits and '_'", path, name);
    if (length > most)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "%s: the name '%.60s' has %zu characters, expected at most %zu", path,
                          name, length, most);
    return RIDGE_OK;
}

arm_buffer *arm_add_buffer(arm_signature *signature, const char *name, const char *path,
                           ridge_error *err)
{
    arm_buffer *buffer;

    if (check_name(name, path, err) != RIDGE_OK)
        return NULL;
    if (arm_find_buffer(signature, name, strlen(name)) >= 0) {
        ridge_fail(err, RIDGE_ERR_FORMAT, "%s: there are two buffers '%s'", path, name);
        return NULL;
    }
    if (signature->buffer_count == RIDGE_KERNEL_BUFFERS) {
        ridge_fail(err, RIDGE_ERR_FORMAT, "%s: more than %d buffers", path, RIDGE_KERNEL_BUFFERS);
        return NULL;
    }
    buffer = &signature->buffers[signature->buffer_count++];
    buffer->name = name;
    buffer->path = path;
    return buffer;
}

arm_parameter *arm_add_parameter(arm_signature *signature, const char *name, const char *path,
                                 ridge_error *err)
{
    arm_parameter *parameter;

    if (signature->parameter_count == ARM_MOST_PARAMETERS) {
        ridge_fail(err, RIDGE_ERR_FORMAT, "%s: more than %d parameters", path, ARM_MOST_PARAMETERS);
        return NULL;
    }
    parameter = &signature->parameters[signature->parameter_count++];
    parameter->name = name;
    parameter->path = path;
    parameter->offset_bytes = -1;
    parameter->first_piece = signature->piece_count;
    return parameter;
}

arm_piece *arm_add_piece(arm_signature *signature, const char *path, ridge_error *err)
{
    arm_piece *piece;

    if (signature->piece_count == ARM_MOST_PIECES) {
        ridge_fail(err, RIDGE_ERR_FORMAT, "%s: more than %d values in all parameters", path,
                   ARM_MOST_PIECES);
        return NULL;
    }
    signature->parameters[signature->parameter_count - 1].piece_count++;
    piece = &signature->pieces[signature->piece_count++];
    piece->buffer = ARM_NO_BUFFER;
    return piece;
}

ridge_status arm_add_axis(arm_signature *signature, ridge_arena *arena, const char *name,
                          const char *path, const int64_t *values, size_t count, ridge_error *err)
{
    arm_axis *axis;
    ridge_status status = check_name(name, path, err);

    if (status != RIDGE_OK)
        return status;
    if (signature->axis_count == RIDGE_CASE_AXES)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "%s: more than %d axes", path, RIDGE_CASE_AXES);
    axis = &signature->axes[signature->axis_count];
    axis->name = name;
    axis->values = ridge_alloc_array(arena, count, sizeof(*values));
    if (axis->values == NULL)
        return arm_out_of_memory(err);
    memcpy(axis->values, values, count * sizeof(*values));
    axis->value_count = count;
    signature->axis_count++;
    return RIDGE_OK;
}

/* True when an expression speaks of NAME.strideK. */
static bool uses_strides(const arm_expression *expression, const char *name)
{
    const size_t length = strlen(name);
    const char *at = expression->text;

    while (at != NULL && *at != '\0') {
        const size_t word = arm_name_length(at);

        if (word > length + 7 && strncmp(at, name, length) == 0 &&
            strncmp(at + length, ".stride", 7) == 0)
            return true;
        at += word > 0 ? word : 1;
    }
    return false;
}

void arm_signature_finish(arm_signature *signature, bool has_dtype)
{
    for (size_t i = 0; i < signature->buffer_count; i++) {
        arm_buffer *const buffer = &signature->buffers[i];

        for (size_t k = 0; k < signature->piece_count; k++)
            buffer->takes_strides =
                buffer->takes_strides || uses_strides(&signature->pieces[k].value, buffer->name);
        if (!has_dtype && (buffer->role == RIDGE_ROLE_OUT || buffer->role == RIDGE_ROLE_INOUT)) {
            signature->dtype = buffer->dtype;
            has_dtype = true;
        }
    }
    if (!has_dtype)
        signature->dtype =
            signature->buffer_count > 0 ? signature->buffers[0].dtype : RIDGE_DTYPE_BF16;
}

void arm_signature_case(const arm_signature *signature, ridge_case *out)
{
    ridge_case_init(out);
    out->dtype = signature->dtype;
    for (size_t i = 0; i < signature->axis_count; i++) {
        snprintf(out->axes[i].name, sizeof(out->axes[i].name), "%s", signature->axes[i].name);
        out->axes[i].value = signature->axes[i].values[0];
    }
    out->axis_count = signature->axis_count;
}

/* -- values of names --------------------------------------------------------------------------- */

/* "x.stride0", "x.shape1" */
static bool find_extent(const arm_values *values, const char *name, size_t length, int64_t *out)
{
    const char *const dot = memchr(name, '.', length);
    const size_t front = dot != NULL ? (size_t)(dot - name) : 0;
    const size_t back = length - front;
    const int index = dot != NULL ? arm_find_buffer(values->signature, name, front) : -1;
    const ridge_buffer_desc *buffer;
    int axis;

    if (index < 0 || values->buffers == NULL)
        return false;
    buffer = &values->buffers[index];
    axis = name[length - 1] - '0';
    if (axis < 0 || axis >= buffer->ndim)
        return false;
    if (back == strlen(".stride0") && strncmp(dot, ".stride", 7) == 0)
        *out = buffer->stride[axis];
    else if (back == strlen(".shape0") && strncmp(dot, ".shape", 6) == 0)
        *out = buffer->shape[axis];
    else
        return false;
    return true;
}

static bool look_up(void *context, const char *name, size_t length, int64_t *out)
{
    const arm_values *const values = context;
    const int axis = arm_find_axis(values->signature, name, length);

    if (axis >= 0) {
        *out = values->axes[axis];
        return true;
    }
    for (size_t i = 0; i < values->let_count; i++)
        if (strlen(values->signature->lets[i].name) == length &&
            strncmp(values->signature->lets[i].name, name, length) == 0) {
            *out = values->lets[i];
            return true;
        }
    return find_extent(values, name, length, out);
}

/* "m, n, vec", cut where the buffer ends. */
static void list_names(const arm_values *values, char *out, size_t size)
{
    const size_t count = values->signature->axis_count + values->let_count;
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < count && used < size; i++) {
        const size_t let = i - values->signature->axis_count;
        const int added =
            snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "",
                     i < values->signature->axis_count ? values->signature->axes[i].name
                                                       : values->signature->lets[let].name);

        used += added > 0 ? (size_t)added : 0;
    }
}

ridge_status arm_value(const arm_values *values, const arm_expression *expression, int64_t lowest,
                       int64_t highest, int64_t *out, ridge_error *err)
{
    /* The lookup only reads; its context is not const because callers of the public one may want
     * to write. */
    arm_values at = *values;
    ridge_error local = {RIDGE_OK, ""};
    char known[200];
    ridge_status status;

    list_names(values, known, sizeof(known));
    *out = 0;
    status = arm_expression_value(expression->text, look_up, &at, known, out, &local);
    if (status != RIDGE_OK)
        return ridge_fail(err, status, "%s: %s", expression->path, local.text);
    if (*out >= lowest && *out <= highest)
        return RIDGE_OK;
    status = ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                        "%s: '%.120s' is %lld, expected %lld to %lld", expression->path,
                        expression->text, (long long)*out, (long long)lowest, (long long)highest);
    *out = 0;
    return status;
}

ridge_status arm_values_of(const arm_signature *signature, const ridge_case *at,
                           const ridge_buffer_desc *buffers, arm_values *out, ridge_error *err)
{
    memset(out, 0, sizeof(*out));
    out->signature = signature;
    out->buffers = buffers;
    for (size_t i = 0; i < signature->axis_count; i++) {
        out->axes[i] = ridge_case_axis(at, signature->axes[i].name, -1);
        if (out->axes[i] < 0)
            return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                              "the axis %s has no value, expected one by --case %s=1024",
                              signature->axes[i].name, signature->axes[i].name);
    }
    for (size_t i = 0; i < signature->let_count; i++) {
        const ridge_status status =
            arm_value(out, &signature->lets[i].value, INT64_MIN, INT64_MAX, &out->lets[i], err);

        if (status != RIDGE_OK)
            return status;
        out->let_count = i + 1;
    }
    return RIDGE_OK;
}

/* -- buffers ----------------------------------------------------------------------------------- */

static ridge_status refuse(const arm_signature *signature, const arm_values *values,
                           const ridge_case *at, ridge_error *err)
{
    bool takes_layouts = false;

    if (at->dtype != signature->dtype)
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED, "compiled for %s, not for %s",
                          ridge_dtype_name(signature->dtype), ridge_dtype_name(at->dtype));
    for (size_t i = 0; i < signature->buffer_count; i++)
        takes_layouts = takes_layouts || signature->buffers[i].takes_strides;
    if (at->layout != RIDGE_LAYOUT_CONTIGUOUS && !takes_layouts)
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "layout %s: no parameter is told a stride (NAME.stride0)",
                          ridge_layout_name(at->layout));
    for (size_t i = 0; i < signature->require_count; i++) {
        int64_t holds = 0;
        const ridge_status status =
            arm_value(values, &signature->requires[i], INT64_MIN, INT64_MAX, &holds, err);

        if (status != RIDGE_OK)
            return status;
        if (holds == 0)
            return ridge_fail(err, RIDGE_ERR_UNSUPPORTED, "%s: %s does not hold",
                              signature->requires[i].path, signature->requires[i].text);
    }
    return RIDGE_OK;
}

static ridge_status describe_buffer(const arm_buffer *buffer, const arm_values *values,
                                    ridge_buffer_desc *out, ridge_error *err)
{
    ridge_status status = RIDGE_OK;

    memset(out, 0, sizeof(*out));
    snprintf(out->name, sizeof(out->name), "%s", buffer->name);
    out->role = buffer->role;
    out->dtype = buffer->dtype;
    out->ndim = buffer->ndim;
    out->has_values = buffer->has_values;
    out->values = buffer->values;
    out->keeps_layout = !buffer->takes_strides;
    for (int i = 0; i < buffer->ndim && status == RIDGE_OK; i++) {
        status = arm_value(values, &buffer->shape[i], 0, INT64_MAX, &out->shape[i], err);
        if (status == RIDGE_OK && buffer->stride[0].text != NULL)
            status =
                arm_value(values, &buffer->stride[i], INT64_MIN, INT64_MAX, &out->stride[i], err);
    }
    return status;
}

ridge_status arm_signature_describe(const arm_signature *signature, const ridge_case *at,
                                    ridge_buffer_desc *buffers, size_t *count, ridge_error *err)
{
    arm_values values;
    ridge_status status = arm_values_of(signature, at, NULL, &values, err);

    *count = 0;
    if (status == RIDGE_OK)
        status = refuse(signature, &values, at, err);
    for (size_t i = 0; i < signature->buffer_count && status == RIDGE_OK; i++)
        status = describe_buffer(&signature->buffers[i], &values, &buffers[i], err);
    if (status == RIDGE_OK)
        *count = signature->buffer_count;
    return status;
}

/* -- parameters -------------------------------------------------------------------------------- */

static ridge_status pack_scalar(const arm_piece *piece, const arm_values *values, uint8_t *to,
                                ridge_error *err)
{
    static const struct {
        ridge_dtype dtype;
        int64_t lowest, highest;
    } ranges[] = {
        {RIDGE_DTYPE_I64, INT64_MIN, INT64_MAX}, {RIDGE_DTYPE_I32, INT32_MIN, INT32_MAX},
        {RIDGE_DTYPE_U32, 0, UINT32_MAX},        {RIDGE_DTYPE_I16, INT16_MIN, INT16_MAX},
        {RIDGE_DTYPE_I8, INT8_MIN, INT8_MAX},    {RIDGE_DTYPE_U8, 0, UINT8_MAX},
    };
    const int64_t exact = (int64_t)1 << 53;
    int64_t lowest = -exact, highest = exact, value;
    ridge_status status;

    if (piece->value.text == NULL) {
        ridge_dtype_store(piece->dtype, to, 0, piece->number);
        return RIDGE_OK;
    }
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
        if (ranges[i].dtype == piece->dtype) {
            lowest = ranges[i].lowest;
            highest = ranges[i].highest;
        }
    status = arm_value(values, &piece->value, lowest, highest, &value, err);
    if (status != RIDGE_OK)
        return status;
    if (piece->dtype == RIDGE_DTYPE_I64)
        memcpy(to, &value, sizeof(value)); /* a double does not hold all of them */
    else
        ridge_dtype_store(piece->dtype, to, 0, (double)value);
    return RIDGE_OK;
}

/* The map in the driver's order, the fastest axis first. */
static ridge_status fill_map(const arm_map *map, const arm_values *values, ridge_tensor_map *out,
                             ridge_error *err)
{
    const ridge_buffer_desc *const buffer = &values->buffers[map->buffer];
    const int64_t element_bytes = (int64_t)ridge_dtype_bytes(map->dtype);
    ridge_status status = RIDGE_OK;

    out->dtype = map->dtype;
    out->rank = map->ndim;
    out->swizzle_bytes = (int)map->swizzle_bytes;
    out->interleave_bytes = (int)map->interleave_bytes;
    out->l2_promotion_bytes = (int)map->l2_promotion_bytes;
    out->nan_fill = map->nan_fill;
    for (int i = 0; i < map->ndim && status == RIDGE_OK; i++) {
        const int to = map->ndim - 1 - i;
        int64_t extent = buffer->shape[i], stride = buffer->stride[i], box;

        status = arm_value(values, &map->box[i], 1, 256, &box, err);
        if (status == RIDGE_OK && map->shape[0].text != NULL)
            status = arm_value(values, &map->shape[i], 1, (int64_t)1 << 32, &extent, err);
        if (status == RIDGE_OK && map->stride[0].text != NULL)
            status = arm_value(values, &map->stride[i], 0, (int64_t)1 << 40, &stride, err);
        if (status != RIDGE_OK)
            break;
        if (to == 0 && stride != 1)
            return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                              "%s: the last axis has stride %lld, a tensor map needs 1",
                              map->box[i].path, (long long)stride);
        if (stride < 0 || stride > ((int64_t)1 << 40) / element_bytes)
            return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                              "%s: stride %lld is outside what a tensor map takes",
                              map->box[i].path, (long long)stride);
        out->extent[to] = (uint64_t)extent;
        if (to > 0)
            out->stride_bytes[to - 1] = (uint64_t)(stride * element_bytes);
        out->box[to] = (uint32_t)box;
        out->element_stride[to] = (uint32_t)map->element_stride[i];
    }
    return status;
}

static ridge_status pack_map(const arm_map *map, const arm_values *values, ridge_device *device,
                             void *const *data, uint8_t *to, ridge_error *err)
{
    ridge_tensor_map full;
    ridge_status status;

    memset(&full, 0, sizeof(full));
    status = fill_map(map, values, &full, err);
    if (status != RIDGE_OK || device == NULL || data == NULL)
        return status;
    full.data = data[map->buffer];
    return ridge_tensor_map_encode(device, &full, to, err);
}

static ridge_status pack_piece(const arm_piece *piece, const arm_values *values,
                               ridge_device *device, void *const *data, uint8_t *to,
                               ridge_error *err)
{
    switch (piece->kind) {
    case ARM_PIECE_POINTER:
        if (piece->buffer != ARM_NO_BUFFER && data != NULL)
            memcpy(to, &data[piece->buffer], sizeof(data[0]));
        return RIDGE_OK;
    case ARM_PIECE_SCALAR:
        return pack_scalar(piece, values, to, err);
    case ARM_PIECE_MAP:
        return pack_map(piece->map, values, device, data, to, err);
    case ARM_PIECE_RAW:
        memcpy(to, piece->raw, piece->size_bytes);
        return RIDGE_OK;
    }
    return RIDGE_OK;
}

static size_t in_slots(size_t size_bytes)
{
    const size_t slot = ARM_SLOT_BYTES;

    return (size_bytes + slot - 1) / slot * slot;
}

ridge_status arm_signature_pack(const arm_signature *signature, const arm_values *values,
                                ridge_device *device, void *const *data, arm_packed *out,
                                ridge_error *err)
{
    size_t total = ARM_SLOT_BYTES;
    ridge_status status = RIDGE_OK;
    uint8_t *at;

    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i < signature->parameter_count; i++)
        total += in_slots(signature->parameters[i].size_bytes);
    out->block = ridge_calloc(total, 1);
    if (out->block == NULL)
        return arm_out_of_memory(err);
    at = (uint8_t *)out->block +
         (ARM_SLOT_BYTES - (uintptr_t)out->block % ARM_SLOT_BYTES) % ARM_SLOT_BYTES;
    for (size_t i = 0; i < signature->parameter_count && status == RIDGE_OK; i++) {
        const arm_parameter *const parameter = &signature->parameters[i];

        out->parameters[i] = at;
        for (size_t k = 0; k < parameter->piece_count && status == RIDGE_OK; k++) {
            const arm_piece *const piece = &signature->pieces[parameter->first_piece + k];

            status = pack_piece(piece, values, device, data, at + piece->offset_bytes, err);
        }
        at += in_slots(parameter->size_bytes);
    }
    if (status != RIDGE_OK)
        arm_packed_release(out);
    return status;
}

void arm_packed_release(arm_packed *packed)
{
    ridge_free(packed->block);
    memset(packed, 0, sizeof(*packed));
}
