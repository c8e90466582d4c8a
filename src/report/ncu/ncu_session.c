/* SPDX-License-Identifier: Apache-2.0
 *
 * The session of a native report, which arrives in pieces over many blocks and is merged as
 * protobuf merges, and its sources: cubins, imported files and load addresses. */
#include <stdlib.h>
#include <string.h>

#include "report/ncu/ncu_internal.h"

enum session_field {
    SESSION_CREATED = 2,
    SESSION_HOST = 3,
    SESSION_TARGET = 4,
    SESSION_DEVICES = 6,
    SESSION_VERSION = 8,
    SESSION_COMMAND_LINE = 11
};

enum system_field { SYSTEM_OS = 1, SYSTEM_RELEASE = 2, SYSTEM_HOST_NAME = 5 };
enum device_field { DEVICE_NAME = 2, DEVICE_ATTRIBUTE = 3 };
enum pair_field { PAIR_NAME = 1, PAIR_VALUE = 2 };

/* Takes a text field over when it is not empty; the last one wins. */
static bool take(ridge_report *report, const ridge_field *field, const char **text)
{
    const char *copy;

    if (field->wire != RIDGE_WIRE_BYTES || field->bytes.size == 0)
        return true;
    copy = report_copy(report, field->bytes);
    if (copy == NULL)
        return false;
    *text = copy;
    return true;
}

/* The two fields of a name-value pair; empty when absent. */
static void read_pair(ridge_slice message, ridge_slice *name, ridge_slice *value)
{
    ridge_cursor cursor = ridge_cursor_of(message);
    ridge_field field;

    *name = *value = (ridge_slice){message.data, 0};
    while (ridge_field_next(&cursor, &field))
        if (field.wire == RIDGE_WIRE_BYTES && field.number == PAIR_NAME)
            *name = field.bytes;
        else if (field.wire == RIDGE_WIRE_BYTES && field.number == PAIR_VALUE)
            *value = field.bytes;
}

static bool read_version(ridge_report *report, ridge_slice message)
{
    ridge_session *const session = &report->session;
    ridge_slice name, value;
    const char **target = NULL;

    read_pair(message, &name, &value);
    if (ridge_slice_is(name, "Nsight Compute Target"))
        target = &session->profiler_version;
    else if (ridge_slice_is(name, "CUDA Version"))
        target = &session->cuda_version;
    else if (ridge_slice_is(name, "Display Driver Version"))
        target = &session->driver_version;
    if (target == NULL || value.size == 0)
        return true;
    *target = report_copy(report, value);
    return *target != NULL;
}

static void read_attribute(ridge_report *report, ridge_slice message)
{
    ridge_slice name, bytes;
    ridge_value value;
    int number;

    read_pair(message, &name, &bytes);
    ncu_value_read(bytes, &value);
    if (value.kind != RIDGE_VALUE_COUNT || value.count > 1000000)
        return;
    number = (int)value.count;
    if (ridge_slice_is(name, "device__attribute_multiprocessor_count"))
        report->device_sm_count = number;
    else if (ridge_slice_is(name, "device__attribute_compute_capability_major"))
        report->device_cc_major = number;
    else if (ridge_slice_is(name, "device__attribute_compute_capability_minor"))
        report->device_cc_minor = number;
}

static bool read_device(ridge_report *report, ridge_slice message)
{
    ridge_cursor cursor = ridge_cursor_of(message);
    ridge_field field;

    while (ridge_field_next(&cursor, &field)) {
        if (field.number == DEVICE_NAME && !take(report, &field, &report->device_name))
            return false;
        if (field.number == DEVICE_ATTRIBUTE && field.wire == RIDGE_WIRE_BYTES)
            read_attribute(report, field.bytes);
    }
    return true;
}

static bool read_system(ridge_report *report, ridge_slice message)
{
    ridge_cursor cursor = ridge_cursor_of(message);
    ridge_field field;

    while (ridge_field_next(&cursor, &field)) {
        if (field.number == SYSTEM_OS && !take(report, &field, &report->session.operating_system))
            return false;
        if (field.number == SYSTEM_HOST_NAME && !take(report, &field, &report->session.host_name))
            return false;
    }
    return true;
}

bool ncu_session_read(ridge_report *report, ridge_slice message)
{
    ridge_cursor cursor = ridge_cursor_of(message);
    ridge_field field;
    bool enough_memory = true;

    while (enough_memory && ridge_field_next(&cursor, &field)) {
        if (field.number == SESSION_CREATED && field.wire == RIDGE_WIRE_VARINT)
            report->session.created_s = field.value;
        if (field.wire != RIDGE_WIRE_BYTES)
            continue;
        if (field.number == SESSION_HOST || field.number == SESSION_TARGET)
            enough_memory = read_system(report, field.bytes);
        else if (field.number == SESSION_DEVICES)
            enough_memory = read_device(report, field.bytes);
        else if (field.number == SESSION_VERSION)
            enough_memory = read_version(report, field.bytes);
        else if (field.number == SESSION_COMMAND_LINE)
            enough_memory = take(report, &field, &report->session.command_line);
    }
    if (cursor.failed)
        report_damage(report, "offset %zu: malformed session details", ncu_offset(report, message));
    return enough_memory;
}

bool ncu_process_read(ridge_report *report, ridge_slice message)
{
    enum process_field { PROCESS_HOST = 2, PROCESS_NAME = 3 };
    ridge_cursor cursor = ridge_cursor_of(message);
    ridge_field field;

    /* Every block repeats it; one copy is enough. */
    if (report->session.process_name != NULL)
        return true;
    while (ridge_field_next(&cursor, &field)) {
        if (field.number == PROCESS_NAME && !take(report, &field, &report->session.process_name))
            return false;
        if (field.number == PROCESS_HOST && report->session.host_name == NULL &&
            !take(report, &field, &report->session.host_name))
            return false;
    }
    return true;
}

/* -- sources ----------------------------------------------------------------------------------- */

enum source_field {
    SOURCE_REFERENCE = 1,
    SOURCE_BINARY = 4,
    SOURCE_SM_VERSION = 6, /* major << 16 | minor */
    SOURCE_FILES = 8,
    SOURCE_RELOCATION = 9
};

/* RelocationData: functions {name, address, symbol index}. */
static bool read_relocation(ridge_report *report, struct report_module *module, ridge_slice message)
{
    enum { RELOCATION_FUNCTION = 1, FUNCTION_NAME = 1, FUNCTION_ADDRESS = 2 };
    ridge_cursor cursor = ridge_cursor_of(message);
    ridge_field field;

    while (ridge_field_next(&cursor, &field)) {
        ridge_cursor inner;
        ridge_field part;
        struct report_address *address;

        if (field.number != RELOCATION_FUNCTION || field.wire != RIDGE_WIRE_BYTES)
            continue;
        if (!report_grow(&report->arena, &module->addresses, module->address_count,
                         &module->address_capacity, sizeof(module->addresses[0])))
            return false;
        address = &module->addresses[module->address_count];
        address->function = NULL;
        address->address = 0;
        inner = ridge_cursor_of(field.bytes);
        while (ridge_field_next(&inner, &part)) {
            if (part.number == FUNCTION_NAME && !take(report, &part, &address->function))
                return false;
            if (part.number == FUNCTION_ADDRESS && part.wire == RIDGE_WIRE_VARINT)
                address->address = part.value;
        }
        if (address->function != NULL)
            module->address_count++;
    }
    return true;
}

/* SourceFiles: repeated {path, text}. The text is not copied. */
static bool read_files(ridge_report *report, struct report_module *module, ridge_slice message)
{
    ridge_cursor cursor = ridge_cursor_of(message);
    ridge_field field;

    while (ridge_field_next(&cursor, &field)) {
        ridge_slice path, text;
        ridge_source_file *file;

        if (field.number != 1 || field.wire != RIDGE_WIRE_BYTES)
            continue;
        read_pair(field.bytes, &path, &text);
        if (path.size == 0)
            continue;
        if (!report_grow(&report->arena, &module->files, module->shown.file_count,
                         &module->file_capacity, sizeof(module->files[0])))
            return false;
        file = &module->files[module->shown.file_count];
        file->path = report_copy(report, path);
        if (file->path == NULL)
            return false;
        file->text = text.size > 0 ? (const char *)text.data : NULL;
        file->text_bytes = text.size;
        module->shown.file_count++;
        module->shown.files = module->files;
    }
    return true;
}

/* The module that a message is about: the latest of its reference, which the message adds to, or
 * a new one when the message brings another cubin (a second process reuses references). */
static struct report_module *module_for(ridge_report *report, uint64_t reference,
                                        ridge_slice binary)
{
    const size_t index = report_find_module(report, reference);
    struct report_module *module;

    if (index != SIZE_MAX) {
        const ridge_module *const shown = &report->modules[index].shown;

        if (binary.size == 0 || shown->binary == NULL ||
            (shown->binary_bytes == binary.size &&
             memcmp(shown->binary, binary.data, binary.size) == 0))
            return &report->modules[index];
    }
    return report_add_module(report, reference, &module) ? module : NULL;
}

bool ncu_source_read(ridge_report *report, ridge_slice message)
{
    ridge_cursor cursor = ridge_cursor_of(message);
    ridge_field field;
    uint64_t reference = 0;
    ridge_slice binary = {message.data, 0};
    struct report_module *module;
    bool enough_memory = true;

    while (ridge_field_next(&cursor, &field))
        if (field.number == SOURCE_REFERENCE && field.wire == RIDGE_WIRE_VARINT)
            reference = field.value;
        else if (field.number == SOURCE_BINARY && field.wire == RIDGE_WIRE_BYTES)
            binary = field.bytes;
    if (cursor.failed) {
        report_damage(report, "offset %zu: malformed source message", ncu_offset(report, message));
        return true;
    }
    module = module_for(report, reference, binary);
    if (module == NULL)
        return false;
    cursor = ridge_cursor_of(message);
    while (enough_memory && ridge_field_next(&cursor, &field)) {
        if (field.number == SOURCE_SM_VERSION && field.wire == RIDGE_WIRE_VARINT) {
            module->shown.cc_major = (int)(field.value >> 16 & 0xff);
            module->shown.cc_minor = (int)(field.value & 0xff);
        }
        if (field.wire != RIDGE_WIRE_BYTES)
            continue;
        if (field.number == SOURCE_BINARY && binary.size > 0) {
            module->shown.binary = binary.data;
            module->shown.binary_bytes = binary.size;
        } else if (field.number == SOURCE_FILES) {
            enough_memory = read_files(report, module, field.bytes);
        } else if (field.number == SOURCE_RELOCATION) {
            enough_memory = read_relocation(report, module, field.bytes);
        }
    }
    return enough_memory;
}
