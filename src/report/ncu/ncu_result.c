/* SPDX-License-Identifier: Apache-2.0
 *
 * Results of a native report: one kernel launch, range, command list or graph, with its metrics.
 * Metrics keep a slice of the file; their instances are decoded when somebody asks.
 *
 * The four kinds hold the same parts under numbers of their own: result_fields[]. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/ncu/ncu_internal.h"

void ncu_value_read(ridge_slice message, ridge_value *out)
{
    ridge_cursor cursor = ridge_cursor_of(message);
    ridge_field field;

    memset(out, 0, sizeof(*out));
    while (ridge_field_next(&cursor, &field)) {
        switch (field.number) {
        case NCU_VALUE_TEXT:
            if (field.wire != RIDGE_WIRE_BYTES)
                break;
            out->kind = RIDGE_VALUE_TEXT;
            out->text = (const char *)field.bytes.data;
            out->text_length = field.bytes.size;
            break;
        case NCU_VALUE_FLOAT:
        case NCU_VALUE_DOUBLE:
            if (field.wire != RIDGE_WIRE_FIXED32 && field.wire != RIDGE_WIRE_FIXED64)
                break;
            out->kind = RIDGE_VALUE_NUMBER;
            out->number = ridge_field_double(&field);
            break;
        case NCU_VALUE_UINT32:
        case NCU_VALUE_UINT64:
            if (field.wire != RIDGE_WIRE_VARINT)
                break;
            out->kind = RIDGE_VALUE_COUNT;
            out->count = field.value;
            out->number = (double)field.value;
            break;
        default:
            break;
        }
    }
}

/* What add_metric() found out. */
enum outcome { DONE, MALFORMED, OUT_OF_MEMORY };

static enum outcome add_metric(ridge_report_kernel *kernel, ridge_slice message,
                               size_t *unknown_names)
{
    ridge_cursor cursor = ridge_cursor_of(message);
    ridge_field field;
    uint64_t name_id = 0;
    ridge_value value;
    size_t instance_count = 0;
    struct report_metric *metric;

    memset(&value, 0, sizeof(value));
    while (ridge_field_next(&cursor, &field)) {
        if (field.number == NCU_METRIC_INSTANCE && field.wire == RIDGE_WIRE_BYTES)
            instance_count++;
        else if (field.number == NCU_METRIC_NAME && field.wire == RIDGE_WIRE_VARINT)
            name_id = field.value;
        else if (field.number == NCU_METRIC_VALUE && field.wire == RIDGE_WIRE_BYTES)
            ncu_value_read(field.bytes, &value);
    }
    if (cursor.failed)
        return MALFORMED;
    if (name_id >= kernel->report->name_count) {
        ++*unknown_names;
        return DONE;
    }
    if (!report_add_metric(kernel, (uint32_t)name_id, &metric))
        return OUT_OF_MEMORY;
    metric->value = value;
    metric->instance_count = instance_count;
    metric->data = message;
    return DONE;
}

enum rule_field {
    RULE_ID = 1,
    RULE_NAME = 2,
    RULE_BODY = 3,
    RULE_SECTION = 4,
    BODY_ITEM = 1,
    ITEM_MESSAGE = 1,
    ITEM_SPEEDUP = 10,
    MESSAGE_TEXT = 1,
    MESSAGE_TYPE = 2,
    MESSAGE_TITLE = 4,
    SPEEDUP_SCOPE = 1, /* 0 global, 1 local */
    SPEEDUP_PERCENT = 2
};

static bool text_field(ridge_report *report, const ridge_field *field, const char **text)
{
    if (field->wire != RIDGE_WIRE_BYTES || field->bytes.size == 0)
        return true;
    *text = report_copy(report, field->bytes);
    return *text != NULL;
}

static bool read_rule_message(ridge_report *report, ridge_slice message, ridge_rule *out)
{
    ridge_cursor cursor = ridge_cursor_of(message);
    ridge_field field;

    while (ridge_field_next(&cursor, &field)) {
        if (field.number == MESSAGE_TYPE && field.wire == RIDGE_WIRE_VARINT)
            out->type = (int)(field.value & 0xff);
        if (field.number == MESSAGE_TEXT && !text_field(report, &field, &out->message))
            return false;
        if (field.number == MESSAGE_TITLE && !text_field(report, &field, &out->title))
            return false;
    }
    return true;
}

/* The first message with a text and the first speed-up of a rule's body. */
static bool read_rule_body(ridge_report *report, ridge_slice body, ridge_rule *out)
{
    ridge_cursor items = ridge_cursor_of(body);
    ridge_field item;

    while (ridge_field_next(&items, &item)) {
        ridge_cursor cursor = ridge_cursor_of(item.bytes);
        ridge_field field;

        if (item.number != BODY_ITEM || item.wire != RIDGE_WIRE_BYTES)
            continue;
        while (ridge_field_next(&cursor, &field)) {
            if (field.wire != RIDGE_WIRE_BYTES)
                continue;
            if (field.number == ITEM_MESSAGE && out->message == NULL &&
                !read_rule_message(report, field.bytes, out))
                return false;
            if (field.number == ITEM_SPEEDUP && isnan(out->speedup_frac)) {
                ridge_cursor inner = ridge_cursor_of(field.bytes);
                ridge_field part;

                out->speedup_is_global = 1;
                while (ridge_field_next(&inner, &part)) {
                    if (part.number == SPEEDUP_SCOPE && part.wire == RIDGE_WIRE_VARINT)
                        out->speedup_is_global = part.value == 0;
                    if (part.number == SPEEDUP_PERCENT)
                        out->speedup_frac = ridge_field_double(&part) / 100;
                }
            }
        }
    }
    return true;
}

static bool read_rule(ridge_report *report, ridge_slice message, ridge_rule *out)
{
    ridge_cursor cursor = ridge_cursor_of(message);
    ridge_field field;
    bool enough_memory = true;

    memset(out, 0, sizeof(*out));
    out->type = -1;
    out->speedup_frac = NAN;
    out->speedup_is_global = -1;
    while (enough_memory && ridge_field_next(&cursor, &field)) {
        if (field.number == RULE_ID)
            enough_memory = text_field(report, &field, &out->id);
        else if (field.number == RULE_NAME)
            enough_memory = text_field(report, &field, &out->name);
        else if (field.number == RULE_SECTION)
            enough_memory = text_field(report, &field, &out->section);
        else if (field.number == RULE_BODY && field.wire == RIDGE_WIRE_BYTES)
            enough_memory = read_rule_body(report, field.bytes, out);
    }
    return enough_memory;
}

static void read_extent(ridge_slice message, uint64_t extent[3])
{
    ridge_cursor cursor = ridge_cursor_of(message);
    ridge_field field;

    while (ridge_field_next(&cursor, &field))
        if (field.wire == RIDGE_WIRE_VARINT && field.number >= 1 && field.number <= 3)
            extent[field.number - 1] = field.value;
}

/* {requested lock, locked in effect}: 0 is no lock. */
static int read_clocks(ridge_slice message)
{
    ridge_cursor cursor = ridge_cursor_of(message);
    ridge_field field;
    int locked = -1;

    while (ridge_field_next(&cursor, &field))
        if (field.number == 2 && field.wire == RIDGE_WIRE_VARINT)
            locked = field.value != 0;
    return locked;
}

/* By ridge_result_kind. Ranges and graphs as ncu 2025.3 writes them; the numbers of a command list
 * are not known, find_metric_field() finds its metrics. */
static const struct result_fields {
    const char *name;                                       /* of the kind */
    uint32_t metric, context, stream, clocks, source, rule; /* 0: none */
} result_fields[] = {
    {"kernel", NCU_KERNEL_METRIC, NCU_KERNEL_CONTEXT, NCU_KERNEL_STREAM, NCU_KERNEL_CLOCKS,
     NCU_KERNEL_SOURCE, NCU_KERNEL_RULE},
    {"range", NCU_RANGE_METRIC, NCU_RANGE_CONTEXT, 0, NCU_RANGE_CLOCKS, NCU_RANGE_SOURCE,
     NCU_RANGE_RULE},
    {"command list", 0, 0, 0, 0, 0, 0},
    {"graph", NCU_GRAPH_METRIC, NCU_GRAPH_CONTEXT, NCU_GRAPH_STREAM, NCU_GRAPH_CLOCKS,
     NCU_GRAPH_SOURCE, NCU_GRAPH_RULE},
};

/* The module that the result ran from: a kernel wraps the reference, the others do not. */
static void read_source(ridge_report_kernel *kernel, const ridge_field *field)
{
    ridge_cursor cursor = ridge_cursor_of(field->bytes);
    ridge_field part = *field;
    bool found = field->wire == RIDGE_WIRE_VARINT;

    while (!found && field->wire == RIDGE_WIRE_BYTES && ridge_field_next(&cursor, &part))
        found = part.number == 1 && part.wire == RIDGE_WIRE_VARINT;
    if (!found || kernel->has_module)
        return;
    kernel->has_module = true;
    kernel->module_reference = part.value;
    kernel->module_index = report_find_module(kernel->report, part.value);
}

/* What all kinds have but the metrics. */
static bool read_common_field(ridge_report_kernel *kernel, const ridge_field *field)
{
    const struct result_fields *const fields = &result_fields[kernel->info.kind];
    ridge_report_kernel_info *const info = &kernel->info;

    if (field->number == fields->context && field->wire == RIDGE_WIRE_VARINT)
        info->context_id = field->value;
    else if (field->number == fields->stream && field->wire == RIDGE_WIRE_VARINT)
        info->stream_id = field->value;
    else if (field->number == fields->clocks && field->wire == RIDGE_WIRE_BYTES)
        info->clocks_locked = read_clocks(field->bytes);
    else if (field->number == fields->source)
        read_source(kernel, field);
    else if (field->number == fields->rule && field->wire == RIDGE_WIRE_BYTES) {
        if (!report_grow(&kernel->report->arena, &kernel->rules, info->rule_count,
                         &kernel->rule_capacity, sizeof(kernel->rules[0])))
            return false;
        return read_rule(kernel->report, field->bytes, &kernel->rules[info->rule_count++]);
    }
    return true;
}

/* Names and launch of a kernel. */
static bool read_kernel_field(ridge_report_kernel *kernel, const ridge_field *field)
{
    ridge_report_kernel_info *const info = &kernel->info;
    const char **text = NULL;

    if (field->wire != RIDGE_WIRE_BYTES)
        return true;
    switch (field->number) {
    case NCU_KERNEL_MANGLED_NAME:
        text = &info->mangled_name;
        break;
    case NCU_KERNEL_FUNCTION_NAME:
        text = &info->name;
        break;
    case NCU_KERNEL_DEMANGLED_NAME:
    case NCU_KERNEL_RENAMED:
        text = &info->demangled_name;
        break;
    case NCU_KERNEL_GRID:
        read_extent(field->bytes, info->grid);
        break;
    case NCU_KERNEL_BLOCK:
        read_extent(field->bytes, info->block);
        break;
    default:
        break;
    }
    return text == NULL || text_field(kernel->report, field, text);
}

/* True when a message looks like a metric: a name id in the table, then a value or instances. */
static bool looks_like_metric(const ridge_report *report, ridge_slice message)
{
    ridge_cursor cursor = ridge_cursor_of(message);
    ridge_field field;
    bool has_name = false, has_value = false;

    while (ridge_field_next(&cursor, &field)) {
        if (field.number == NCU_METRIC_NAME)
            has_name = field.wire == RIDGE_WIRE_VARINT && field.value < report->name_count;
        else if (field.number == NCU_METRIC_VALUE || field.number == NCU_METRIC_INSTANCE)
            has_value = field.wire == RIDGE_WIRE_BYTES;
    }
    return !cursor.failed && has_name && has_value;
}

/* The number of the field that holds most metrics. */
static uint32_t find_metric_field(const ridge_report *report, ridge_slice message)
{
    enum { FIELDS = 64 };
    size_t count[FIELDS] = {0};
    ridge_cursor cursor = ridge_cursor_of(message);
    ridge_field field;
    uint32_t best = 0;
    uint32_t i;

    while (ridge_field_next(&cursor, &field))
        if (field.number < FIELDS && field.wire == RIDGE_WIRE_BYTES &&
            looks_like_metric(report, field.bytes))
            count[field.number]++;
    for (i = 0; i < FIELDS; i++)
        if (count[i] > count[best])
            best = i;
    return best;
}

/* "range: scale, reverse and 2 more": what is not one kernel has no name of its own. */
static bool name_result(ridge_report_kernel *kernel)
{
    enum { SHOWN = 3 };
    ridge_metric metric;
    ridge_instances instances;
    ridge_instance instance;
    ridge_text text;
    size_t count = 0;
    bool enough_memory;

    ridge_text_init(&text);
    ridge_text_add(&text, result_fields[kernel->info.kind].name);
    if (ridge_report_kernel_metric(kernel, "launch__kernel_name", &metric)) {
        instances = ridge_instances_of(&metric);
        while (ridge_instances_next(&instances, &instance)) {
            if (instance.value.kind != RIDGE_VALUE_TEXT || instance.value.text_length == 0)
                continue;
            if (count < SHOWN) {
                ridge_text_add(&text, count == 0 ? ": " : ", ");
                ridge_text_add_bytes(&text, instance.value.text, instance.value.text_length);
            }
            count++;
        }
        if (count > SHOWN)
            ridge_text_format(&text, " and %zu more", count - SHOWN);
    }
    kernel->info.name = ridge_alloc_text(&kernel->report->arena, text.data, text.length);
    enough_memory = !text.failed && kernel->info.name != NULL;
    ridge_text_release(&text);
    return enough_memory;
}

static size_t count_fields(ridge_slice message, uint32_t number)
{
    ridge_cursor cursor = ridge_cursor_of(message);
    ridge_field field;
    size_t count = 0;

    while (ridge_field_next(&cursor, &field))
        count += field.number == number;
    return count;
}

bool ncu_result_read(ridge_report *report, ridge_slice message, ridge_result_kind kind)
{
    const uint32_t metric_field = result_fields[kind].metric != 0
                                      ? result_fields[kind].metric
                                      : find_metric_field(report, message);
    const size_t offset = ncu_offset(report, message);
    ridge_cursor cursor = ridge_cursor_of(message);
    const size_t metric_count = count_fields(message, metric_field);
    ridge_field field;
    ridge_report_kernel *kernel;
    size_t unknown_names = 0, malformed = 0;
    bool enough_memory;

    if (message.size == 0) {
        report_damage(report, "offset %zu: an empty %s result, left out", offset,
                      result_fields[kind].name);
        return true;
    }
    enough_memory =
        report_add_kernel(report, &kernel) && report_reserve_metrics(kernel, metric_count);
    if (!enough_memory)
        return false;
    kernel->info.kind = kind;
    while (enough_memory && ridge_field_next(&cursor, &field)) {
        if (field.number == metric_field && field.wire == RIDGE_WIRE_BYTES) {
            const enum outcome outcome = add_metric(kernel, field.bytes, &unknown_names);

            malformed += outcome == MALFORMED;
            enough_memory = outcome != OUT_OF_MEMORY;
            continue;
        }
        enough_memory = read_common_field(kernel, &field) &&
                        (kind != RIDGE_RESULT_KERNEL || read_kernel_field(kernel, &field));
    }
    if (cursor.failed) {
        report_damage(report, "offset %zu: the %s result is malformed, left out", offset,
                      result_fields[kind].name);
        report->kernel_count--;
        return enough_memory;
    }
    if (enough_memory && kind != RIDGE_RESULT_KERNEL)
        enough_memory = name_result(kernel);
    if (unknown_names > 0)
        report_damage(report,
                      "offset %zu: %zu metrics refer to a name beyond the %zu in the string table",
                      offset, unknown_names, report->name_count);
    if (malformed > 0)
        report_damage(report, "offset %zu: %zu malformed metrics, left out", offset, malformed);
    return enough_memory;
}

/* -- instances --------------------------------------------------------------------------------- */

ridge_instances ridge_instances_of(const ridge_metric *metric)
{
    const uint8_t *const begin = metric->data;
    const ridge_instances instances = {begin, begin != NULL ? begin + metric->data_bytes : NULL};

    return instances;
}

bool ridge_instances_next(ridge_instances *instances, ridge_instance *out)
{
    const uint8_t *const position = instances->position;
    const uint8_t *const end = instances->end;
    ridge_cursor cursor;
    ridge_field field;

    memset(out, 0, sizeof(*out));
    if (position == end)
        return false;
    cursor = ridge_cursor_at(position, (size_t)(end - position));
    while (ridge_field_next(&cursor, &field)) {
        enum instance_field { INSTANCE_ID = 1, INSTANCE_VALUE = 2 };
        ridge_cursor inner;
        ridge_field part;

        if (field.number != NCU_METRIC_INSTANCE || field.wire != RIDGE_WIRE_BYTES)
            continue;
        inner = ridge_cursor_of(field.bytes);
        while (ridge_field_next(&inner, &part))
            if (part.wire == RIDGE_WIRE_BYTES && part.number == INSTANCE_ID)
                ncu_value_read(part.bytes, &out->id);
            else if (part.wire == RIDGE_WIRE_BYTES && part.number == INSTANCE_VALUE)
                ncu_value_read(part.bytes, &out->value);
        instances->position = cursor.position;
        return true;
    }
    instances->position = end;
    return false;
}
