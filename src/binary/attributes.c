/* SPDX-License-Identifier: Apache-2.0
 *
 * Attributes of a cubin: a stream of small records in .nv.info (of symbols) and .nv.info.k (of a
 * kernel). docs/formats/cubin.md lists those that are read; unknown ones are passed over. */
#include <string.h>

#include <stdio.h>

#include "binary/binary_internal.h"
#include "ridge/mix.h"

/* Attribute codes and formats of .nv.info. */
enum {
    SYMBOL_FUNCTION = 2, /* low four bits of st_info */
    FORMAT_SIZED = 4,    /* u16 length, then data; the other formats have two bytes of value */
    ATTR_MAX_THREADS = 0x05,
    ATTR_PARAM_CBANK = 0x0a,
    ATTR_REQUIRED_THREADS = 0x10,
    ATTR_FRAME_SIZE = 0x11,
    ATTR_MIN_STACK = 0x12,
    ATTR_PARAMETER = 0x17,
    ATTR_PARAMETER_BYTES = 0x19,
    ATTR_MAX_REGISTERS = 0x1b,
    ATTR_ATOM16_EMULATION = 0x2e,
    ATTR_REGISTERS = 0x2f,
    ATTR_TOOLKIT = 0x37,
    ATTR_MBARRIERS = 0x38,
    ATTR_CLUSTER = 0x3d,
    ATTR_EXPLICIT_CLUSTER = 0x3e,
    ATTR_MAX_CLUSTER = 0x3f,
    ATTR_PARAMETER_V2 = 0x45,
    ATTR_VRC_COUNT = 0x4a,
    ATTR_BARRIERS = 0x4c,
    ATTR_TCGEN05_ONE = 0x51,
    ATTR_TCGEN05_TWO = 0x52,
    ATTR_SETMAXNREG = 0x54,
    ATTR_ANNOTATIONS = 0x55,
    ANNOTATION_SPILL = 1,
    COMPAT_ARCH = 0x09, /* in .nv.compat: 1 of an "a" target */
};

typedef struct attribute {
    uint8_t format, code;
    ridge_slice data;
} attribute;

/* False at the end and, with cursor->failed, when the stream is cut. */
static bool next_attribute(ridge_cursor *cursor, attribute *attr)
{
    if (ridge_cursor_left(cursor) == 0)
        return false;
    attr->format = ridge_read_u8(cursor);
    attr->code = ridge_read_u8(cursor);
    attr->data =
        ridge_read_bytes(cursor, attr->format == FORMAT_SIZED ? ridge_read_u16(cursor) : 2);
    return !cursor->failed;
}

static ridge_status cut_attributes(const cubin_section *section, ridge_error *err)
{
    return ridge_fail(err, RIDGE_ERR_FORMAT, "attributes in %.200s end inside one, after %zu bytes",
                      section->name, section->data.size);
}

/* The function that a symbol names; NULL for helpers inside its code and for data. In an image that
 * was taken from a process, as reports hold them, the value is where the driver had put the code.
 */
static ridge_function *function_of_symbol(const ridge_cubin *cubin, uint32_t index)
{
    cubin_symbol_row row;

    if (!cubin_symbol(cubin, index, &row) || row.type != SYMBOL_FUNCTION || row.function == NULL)
        return NULL;
    if (row.value != 0 &&
        (row.value <= row.function->code_bytes || row.size != row.function->code_bytes))
        return NULL;
    return row.function;
}

static bool is_of_symbol(const attribute *attr)
{
    return attr->code == ATTR_REGISTERS || attr->code == ATTR_FRAME_SIZE ||
           attr->code == ATTR_MIN_STACK;
}

/* A helper inside a kernel's code with a frame of its own. The kernel's stack counts it, but when
 * the compiler cannot tell how often it calls itself. */
static void apply_helper_frame(const ridge_cubin *cubin, uint32_t symbol, int bytes)
{
    cubin_symbol_row row;
    int *known;

    if (!cubin_symbol(cubin, symbol, &row) || row.type != SYMBOL_FUNCTION || row.function == NULL)
        return;
    known = &cubin->helper_frames[row.function - cubin->functions];
    if (bytes > *known)
        *known = bytes;
}

/* Attributes of symbols: registers, stack frame, stack with calls. They may stand in .nv.info of
 * the file or of the function. */
static void apply_symbol_attribute(ridge_cubin *cubin, const attribute *attr)
{
    ridge_cursor cursor = ridge_cursor_of(attr->data);
    const uint32_t symbol = ridge_read_u32(&cursor);
    const int value = cubin_int(ridge_read_u32(&cursor));
    ridge_function *const function = function_of_symbol(cubin, symbol);

    if (cursor.failed)
        return;
    if (function == NULL) {
        if (attr->code == ATTR_FRAME_SIZE)
            apply_helper_frame(cubin, symbol, value);
    } else if (attr->code == ATTR_REGISTERS) {
        function->registers_per_thread = value;
    } else if (attr->code == ATTR_FRAME_SIZE) {
        function->local_bytes = value;
    } else {
        function->stack_bytes = value;
    }
}

static bool has_local_access(const ridge_cubin *cubin, const ridge_function *function)
{
    size_t offset;
    ridge_sass sass;

    for (offset = 0; function->code_bytes - offset >= SASS_BYTES; offset += SASS_BYTES) {
        sass_decode_fields(function->code + offset, (uint32_t)offset, cubin->sm, &sass);
        if (sass.cls == RIDGE_SASS_LOCAL)
            return true;
    }
    return false;
}

/* To sm_89 a helper that calls itself has a frame that the kernel's stack does not count. From
 * sm_90 on helpers are given the stack of the kernel, and code that uses local memory although that
 * stack is empty tells. Without a helper it is an access by an address from elsewhere. */
void cubin_find_recursion(ridge_cubin *cubin)
{
    size_t i;

    for (i = 0; i < cubin->function_count; i++) {
        ridge_function *const function = &cubin->functions[i];

        function->is_recursive =
            (function->stack_bytes >= 0 && cubin->helper_frames[i] > function->stack_bytes) ||
            (function->stack_bytes == 0 && function->local_bytes == 0 &&
             cubin->helper_frames[i] >= 0 && has_local_access(cubin, function));
        if (function->is_recursive)
            function->local_bytes = -1;
    }
}

/* The next instruction that the compiler marked as a spill; false at the end. */
static bool next_spill(const ridge_cubin *cubin, const ridge_function *function,
                       ridge_cursor *cursor, uint32_t *offset, ridge_sass *sass)
{
    while (ridge_cursor_left(cursor) >= 8) {
        const uint32_t type = ridge_read_u32(cursor);

        *offset = ridge_read_u32(cursor);
        if (type != ANNOTATION_SPILL || *offset % SASS_BYTES != 0 ||
            *offset >= function->code_bytes || function->code_bytes - *offset < SASS_BYTES)
            continue;
        sass_decode_fields(function->code + *offset, *offset, cubin->sm, sass);
        if (sass->cls == RIDGE_SASS_LOCAL)
            return true;
    }
    return false;
}

/* Sums the widths of the stores and loads that the compiler marked as spills. */
static void sum_spills(const ridge_cubin *cubin, ridge_function *function, ridge_slice annotations)
{
    ridge_cursor cursor = ridge_cursor_of(annotations);
    uint32_t offset;
    ridge_sass sass;

    if (function->spill_store_bytes < 0) /* a toolkit of which that was not known */
        function->spill_store_bytes = function->spill_load_bytes = 0;
    while (next_spill(cubin, function, &cursor, &offset, &sass)) {
        if (sass.is_store)
            function->spill_store_bytes += sass.width_bytes;
        else
            function->spill_load_bytes += sass.width_bytes;
    }
}

static void read_three(ridge_slice data, int out[3])
{
    ridge_cursor cursor = ridge_cursor_of(data);
    int i;

    if (data.size >= 12)
        for (i = 0; i < 3; i++)
            out[i] = cubin_int(ridge_read_u32(&cursor));
}

/* Size of all parameters from one of them, for files without their sum. */
static void grow_parameters(ridge_cursor *cursor, bool is_v2, ridge_function *function)
{
    unsigned end;

    ridge_skip(cursor, 6); /* index, ordinal */
    end = ridge_read_u16(cursor);
    /* The size is the top 14 bits of a word of flags, or a field of its own. */
    end += is_v2 ? ridge_read_u16(cursor) : ridge_read_u32(cursor) >> 18;
    if (!cursor->failed && (int)end > function->parameter_bytes)
        function->parameter_bytes = (int)end;
}

size_t ridge_cubin_parameters(const ridge_cubin *cubin, const ridge_function *function,
                              ridge_kernel_parameter *out, size_t most)
{
    ridge_cursor attributes = ridge_cursor_of(cubin->attributes[function - cubin->functions]);
    size_t count = 0;
    attribute attr;

    memset(out, 0, most * sizeof(*out));
    while (next_attribute(&attributes, &attr)) {
        ridge_cursor cursor = ridge_cursor_of(attr.data);
        ridge_kernel_parameter one;
        size_t ordinal;

        if (attr.code != ATTR_PARAMETER && attr.code != ATTR_PARAMETER_V2)
            continue;
        ridge_skip(&cursor, 4); /* index */
        ordinal = ridge_read_u16(&cursor);
        one.offset_bytes = ridge_read_u16(&cursor);
        one.size_bytes = attr.code == ATTR_PARAMETER_V2 ? ridge_read_u16(&cursor)
                                                        : ridge_read_u32(&cursor) >> 18;
        if (cursor.failed)
            continue;
        if (ordinal < most) /* they stand in descending order */
            out[ordinal] = one;
        count = ordinal + 1 > count ? ordinal + 1 : count;
    }
    return count;
}

static void apply_attribute(ridge_cubin *cubin, ridge_function *function, const attribute *attr)
{
    ridge_cursor cursor = ridge_cursor_of(attr->data);

    switch (attr->code) {
    case ATTR_REQUIRED_THREADS:
        read_three(attr->data, function->required_threads);
        read_three(attr->data, function->max_threads);
        break;
    case ATTR_MAX_THREADS:
        read_three(attr->data, function->max_threads);
        break;
    case ATTR_CLUSTER:
        read_three(attr->data, function->cluster);
        break;
    case ATTR_MAX_CLUSTER:
        function->max_cluster = cubin_int(ridge_read_u32(&cursor));
        break;
    case ATTR_EXPLICIT_CLUSTER:
        function->needs_cluster = true;
        break;
    case ATTR_MBARRIERS:
        function->mbarriers = ridge_read_u16(&cursor);
        break;
    case ATTR_VRC_COUNT:
        function->vrc_slots = ridge_read_u8(&cursor);
        break;
    case ATTR_ATOM16_EMULATION:
        function->emulates_atom16 = true;
        break;
    case ATTR_TCGEN05_ONE:
    case ATTR_TCGEN05_TWO:
        function->uses_tcgen05 = true;
        break;
    case ATTR_SETMAXNREG:
        function->uses_setmaxnreg = true;
        break;
    case ATTR_PARAM_CBANK: /* symbol, offset, size */
        ridge_skip(&cursor, 6);
        if (attr->data.size >= 8)
            function->parameter_bytes = ridge_read_u16(&cursor);
        break;
    case ATTR_PARAMETER_BYTES:
        function->parameter_bytes = ridge_read_u16(&cursor);
        break;
    case ATTR_PARAMETER:
    case ATTR_PARAMETER_V2:
        grow_parameters(&cursor, attr->code == ATTR_PARAMETER_V2, function);
        break;
    case ATTR_MAX_REGISTERS:
        function->max_registers = ridge_read_u16(&cursor);
        break;
    case ATTR_BARRIERS:
        function->barriers = ridge_read_u8(&cursor);
        break;
    case ATTR_ANNOTATIONS:
        sum_spills(cubin, function, attr->data);
        break;
    default:
        if (is_of_symbol(attr))
            apply_symbol_attribute(cubin, attr);
        break;
    }
}

/* The toolkit from the attributes of the file; a note that names it goes first. */
static void apply_toolkit(ridge_cubin *cubin, const attribute *attr)
{
    ridge_cursor cursor = ridge_cursor_of(attr->data);
    const uint32_t version = ridge_read_u32(&cursor); /* 130: 13.0 */

    if (cubin->toolkit[0] != '\0' || version < 10 || version > 10000)
        return;
    snprintf(cubin->toolkit, sizeof(cubin->toolkit), "%u.%u", version / 10, version % 10);
    cubin->toolkit_major = (int)(version / 10);
}

ridge_status cubin_read_attributes(ridge_cubin *cubin, const cubin_section *section,
                                   ridge_function *function, ridge_error *err)
{
    ridge_cursor cursor = ridge_cursor_of(section->data);
    attribute attr;

    if (function != NULL && cubin->toolkit_major >= CUBIN_TOOLKIT_WITH_SPILLS)
        function->spill_store_bytes = function->spill_load_bytes = 0;
    while (next_attribute(&cursor, &attr)) {
        if (attr.code == ATTR_TOOLKIT)
            apply_toolkit(cubin, &attr);
        else if (function != NULL)
            apply_attribute(cubin, function, &attr);
        else if (is_of_symbol(&attr))
            apply_symbol_attribute(cubin, &attr);
    }
    return cursor.failed ? cut_attributes(section, err) : RIDGE_OK;
}

void cubin_read_compat(ridge_cubin *cubin, ridge_slice data)
{
    ridge_cursor cursor = ridge_cursor_of(data);
    attribute attr;

    while (next_attribute(&cursor, &attr))
        if (attr.code == COMPAT_ARCH && attr.data.size > 0 && attr.data.data[0] == 1)
            cubin->provenance.suffix = RIDGE_TARGET_ARCH;
}

ridge_status ridge_spills_find(const ridge_cubin *cubin, const ridge_function *function,
                               ridge_spills *out, ridge_error *err)
{
    ridge_cursor attributes = ridge_cursor_of(cubin->attributes[function - cubin->functions]);
    attribute attr;

    memset(out, 0, sizeof(*out));
    out->instruction_count = function->code_bytes / SASS_BYTES;
    out->is_spill = ridge_calloc(out->instruction_count + 1, sizeof(*out->is_spill));
    if (out->is_spill == NULL) {
        memset(out, 0, sizeof(*out));
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory finding spills");
    }
    while (next_attribute(&attributes, &attr)) {
        ridge_cursor cursor = ridge_cursor_of(attr.data);
        uint32_t offset;
        ridge_sass sass;

        while (attr.code == ATTR_ANNOTATIONS &&
               next_spill(cubin, function, &cursor, &offset, &sass)) {
            out->count += !out->is_spill[offset / SASS_BYTES];
            out->is_spill[offset / SASS_BYTES] = true;
        }
    }
    return RIDGE_OK;
}

void ridge_spills_release(ridge_spills *spills)
{
    ridge_free(spills->is_spill);
    memset(spills, 0, sizeof(*spills));
}
