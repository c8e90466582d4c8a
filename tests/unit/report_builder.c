/* SPDX-License-Identifier: Apache-2.0 */
#include "report_builder.h"

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

/* -- protobuf ---------------------------------------------------------------------------------- */

void wire_release(wire *out)
{
    free(out->data);
    *out = (wire){NULL, 0, 0};
}

void wire_raw(wire *out, const void *data, size_t size)
{
    if (out->size + size > out->room) {
        out->room = 2 * (out->size + size) + 64;
        out->data = realloc(out->data, out->room);
        assert_non_null(out->data);
    }
    if (size > 0)
        memcpy(out->data + out->size, data, size);
    out->size += size;
}

void wire_u32(wire *out, uint32_t value)
{
    uint8_t bytes[4];

    store_u32(bytes, value);
    wire_raw(out, bytes, sizeof(bytes));
}

static void add_varint(wire *out, uint64_t value)
{
    do {
        const uint8_t byte = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));

        wire_raw(out, &byte, 1);
        value >>= 7;
    } while (value > 0);
}

void wire_varint(wire *out, uint32_t field, uint64_t value)
{
    add_varint(out, (uint64_t)field << 3 | VARINT);
    add_varint(out, value);
}

void wire_double(wire *out, uint32_t field, double value)
{
    uint64_t bits;
    uint8_t bytes[8];

    memcpy(&bits, &value, sizeof(bits));
    store_u64(bytes, bits);
    add_varint(out, (uint64_t)field << 3 | FIXED64);
    wire_raw(out, bytes, sizeof(bytes));
}

void wire_float(wire *out, uint32_t field, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    add_varint(out, (uint64_t)field << 3 | FIXED32);
    wire_u32(out, bits);
}

void wire_bytes(wire *out, uint32_t field, const void *data, size_t size)
{
    add_varint(out, (uint64_t)field << 3 | BYTES);
    add_varint(out, size);
    wire_raw(out, data, size);
}

void wire_text(wire *out, uint32_t field, const char *text)
{
    if (text != NULL)
        wire_bytes(out, field, text, strlen(text));
}

void wire_message(wire *out, uint32_t field, wire *inner)
{
    wire_bytes(out, field, inner->data, inner->size);
    wire_release(inner);
}

void wire_file_start(wire *out)
{
    wire header = {NULL, 0, 0};

    wire_raw(out, "NVR", 4);
    wire_varint(&header, 1, 7);
    wire_prefixed(out, &header);
}

void wire_block(wire *out, wire *header, wire *payload)
{
    wire_varint(header, 5, payload->size);
    wire_prefixed(out, header);
    wire_raw(out, payload->data, payload->size);
    wire_release(payload);
}

void wire_prefixed(wire *payload, wire *message)
{
    wire_u32(payload, (uint32_t)message->size);
    wire_raw(payload, message->data, message->size);
    wire_release(message);
}

file_bytes wire_finish(wire *out)
{
    file_bytes file = {malloc(out->size), out->size};

    assert_non_null(file.data);
    memcpy(file.data, out->data, out->size);
    wire_release(out);
    return file;
}

/* -- names ------------------------------------------------------------------------------------- */

enum { NAMES = 4096 };

struct names {
    const char *name[NAMES];
    size_t count;
};

static size_t name_index(struct names *names, const char *name, bool add)
{
    size_t i;

    for (i = 0; i < names->count; i++)
        if (strcmp(names->name[i], name) == 0)
            return i;
    if (!add)
        fail_msg("no table holds %s", name);
    assert_true(names->count < NAMES);
    names->name[names->count++] = name;
    return i;
}

/* Fills names; true when the literal has tables of its own. */
static bool collect_names(struct names *names, const build_block *blocks, size_t count)
{
    size_t b, r, m;

    for (b = 0; b < count; b++)
        for (m = 0; m < blocks[b].string_count; m++) {
            assert_true(names->count < NAMES);
            names->name[names->count++] = blocks[b].strings[m];
        }
    if (names->count > 0)
        return true;
    for (b = 0; b < count; b++)
        for (r = 0; r < blocks[b].result_count; r++)
            for (m = 0; m < blocks[b].results[r].metric_count; m++)
                if (blocks[b].results[r].metrics[m].name != NULL)
                    name_index(names, blocks[b].results[r].metrics[m].name, true);
    return false;
}

static void write_strings(wire *header, const char *const *strings, size_t count)
{
    wire table = {NULL, 0, 0};
    size_t i;

    for (i = 0; i < count; i++)
        wire_text(&table, 1, strings[i]);
    wire_message(header, 4, &table);
}

/* -- results ----------------------------------------------------------------------------------- */

static void write_value(wire *out, uint32_t field, const build_value *value)
{
    wire message = {NULL, 0, 0};

    if (value->kind == RIDGE_VALUE_ABSENT)
        return;
    if (value->kind == RIDGE_VALUE_TEXT)
        wire_text(&message, 1, value->text);
    else if (value->kind == RIDGE_VALUE_COUNT)
        wire_varint(&message, value->is_u32 ? 4 : 5, value->count);
    else if (value->is_float)
        wire_float(&message, 2, (float)value->number);
    else
        wire_double(&message, 3, value->number);
    wire_message(out, field, &message);
}

static void write_metric(wire *result, const build_metric *metric, uint32_t field,
                         struct names *names)
{
    wire message = {NULL, 0, 0};
    size_t i;

    wire_varint(&message, 1,
                metric->name != NULL ? name_index(names, metric->name, false) : metric->name_id);
    write_value(&message, 2, &metric->value);
    for (i = 0; i < metric->instance_count; i++) {
        wire instance = {NULL, 0, 0};

        write_value(&instance, 1, &metric->instances[i].id);
        write_value(&instance, 2, &metric->instances[i].value);
        wire_message(&message, 3, &instance);
    }
    wire_message(result, field, &message);
}

static void write_rule(wire *result, uint32_t field, const build_rule *rule)
{
    wire message = {NULL, 0, 0}, body = {NULL, 0, 0}, item = {NULL, 0, 0}, text = {NULL, 0, 0};

    wire_text(&message, 1, rule->id);
    wire_text(&message, 2, rule->name);
    wire_text(&text, 1, rule->message);
    wire_varint(&text, 2, (uint64_t)rule->type);
    wire_text(&text, 4, rule->title);
    wire_message(&item, 1, &text);
    wire_message(&body, 1, &item);
    if (rule->speedup_percent != 0) {
        wire speedup = {NULL, 0, 0};

        wire_varint(&speedup, 1, rule->is_local);
        wire_double(&speedup, 2, rule->speedup_percent);
        wire_message(&item, 10, &speedup);
        wire_message(&body, 1, &item);
    }
    wire_message(&message, 3, &body);
    wire_text(&message, 4, rule->section);
    wire_message(result, field, &message);
}

static void write_extent(wire *result, uint32_t field, const uint64_t extent[3])
{
    wire message = {NULL, 0, 0};
    uint32_t i;

    if (extent[0] == 0)
        return;
    for (i = 0; i < 3; i++)
        wire_varint(&message, i + 1, extent[i] > 0 ? extent[i] : 1);
    wire_message(result, field, &message);
}

/* By ridge_result_kind; 0: has no such part. */
static const struct result_fields {
    uint32_t metric, source, rule, context, stream, clocks;
} result_fields[] = {
    [RIDGE_RESULT_KERNEL] = {13, 15, 19, 22, 23, 25},
    [RIDGE_RESULT_RANGE] = {4, 15, 20, 11, 0, 12},
    [RIDGE_RESULT_COMMAND_LIST] = {9, 0, 0, 0, 0, 0}, /* none was seen: metrics are found */
    [RIDGE_RESULT_GRAPH] = {4, 17, 22, 11, 12, 13},
};

static wire result_message(const build_result *result, struct names *names)
{
    const struct result_fields *const fields = &result_fields[result->kind];
    wire message = {NULL, 0, 0}, part = {NULL, 0, 0};
    size_t i;

    if (result->kind == RIDGE_RESULT_KERNEL) {
        wire_text(&message, 5, result->mangled);
        wire_text(&message, 6, result->name);
        wire_text(&message, 7, result->demangled);
        write_extent(&message, 10, result->grid);
        write_extent(&message, 11, result->block);
        wire_text(&message, 31, result->renamed);
    }
    for (i = 0; i < result->metric_count; i++)
        write_metric(&message, &result->metrics[i], fields->metric, names);
    if (result->module > 0 && fields->source > 0) {
        wire_varint(&part, 1, result->module);
        wire_message(&message, fields->source, &part);
    }
    for (i = 0; i < result->rule_count && fields->rule > 0; i++)
        write_rule(&message, fields->rule, &result->rules[i]);
    if (fields->context > 0)
        wire_varint(&message, fields->context, result->context_id);
    if (fields->stream > 0)
        wire_varint(&message, fields->stream, result->stream_id);
    if (result->clocks != 0 && fields->clocks > 0) {
        wire_varint(&part, 1, 1);
        wire_varint(&part, 2, result->clocks == 1);
        wire_message(&message, fields->clocks, &part);
    }
    return message;
}

/* -- sources and session ----------------------------------------------------------------------- */

static void write_pair(wire *out, uint32_t field, const char *name, const char *value)
{
    wire pair = {NULL, 0, 0};

    wire_text(&pair, 1, name);
    wire_text(&pair, 2, value);
    wire_message(out, field, &pair);
}

static wire source_message(const build_source *source)
{
    wire message = {NULL, 0, 0}, part = {NULL, 0, 0}, function = {NULL, 0, 0};

    wire_varint(&message, 1, source->reference);
    if (source->binary != NULL)
        wire_bytes(&message, 4, source->binary, source->binary_bytes);
    if (source->cc_major > 0)
        wire_varint(&message, 6, (uint64_t)(source->cc_major << 16 | source->cc_minor));
    if (source->path != NULL) {
        write_pair(&part, 1, source->path, source->text);
        wire_message(&message, 8, &part);
    }
    if (source->function != NULL) {
        wire_text(&function, 1, source->function);
        wire_varint(&function, 2, source->address);
        wire_message(&part, 1, &function);
        wire_message(&message, 9, &part);
    }
    return message;
}

static void write_attribute(wire *device, const char *name, uint64_t count)
{
    const build_value value = V_COUNT(count);
    wire pair = {NULL, 0, 0};

    if (count == 0)
        return;
    wire_text(&pair, 1, name);
    write_value(&pair, 2, &value);
    wire_message(device, 3, &pair);
}

static void write_session(wire *header, const build_session *session)
{
    wire message = {NULL, 0, 0}, part = {NULL, 0, 0};

    if (session->created_s > 0)
        wire_varint(&message, 2, session->created_s);
    if (session->host_name != NULL || session->operating_system != NULL) {
        wire_text(&part, 1, session->operating_system);
        wire_text(&part, 5, session->host_name);
        wire_message(&message, 3, &part);
    }
    if (session->device_name != NULL || session->device_sms > 0) {
        wire_text(&part, 2, session->device_name);
        write_attribute(&part, "device__attribute_multiprocessor_count", session->device_sms);
        write_attribute(&part, "device__attribute_compute_capability_major",
                        session->device_cc_major);
        write_attribute(&part, "device__attribute_compute_capability_minor",
                        session->device_cc_minor);
        wire_message(&message, 6, &part);
    }
    if (session->version_name != NULL)
        write_pair(&message, 8, session->version_name, session->version);
    wire_text(&message, 11, session->command_line);
    wire_message(header, 3, &message);
}

/* -- the whole --------------------------------------------------------------------------------- */

static void write_block(wire *out, const build_block *block, struct names *names,
                        bool with_all_names)
{
    /* In the order of the payload. */
    static const struct {
        ridge_result_kind kind;
        uint32_t count_field;
    } kinds[] = {{RIDGE_RESULT_KERNEL, 2},
                 {RIDGE_RESULT_RANGE, 7},
                 {RIDGE_RESULT_COMMAND_LIST, 8},
                 {RIDGE_RESULT_GRAPH, 9}};
    wire header = {NULL, 0, 0}, payload = {NULL, 0, 0}, process = {NULL, 0, 0};
    size_t i, k;

    if (block->session != NULL)
        write_session(&header, block->session);
    if (with_all_names)
        write_strings(&header, names->name, names->count);
    else if (block->string_count > 0)
        write_strings(&header, block->strings, block->string_count);
    if (block->process_name != NULL || block->host_name != NULL) {
        wire_varint(&process, 1, 42);
        wire_text(&process, 2, block->host_name);
        wire_text(&process, 3, block->process_name);
        wire_message(&header, 6, &process);
    }
    wire_varint(&header, 1, block->source_count);
    for (i = 0; i < block->source_count; i++) {
        wire message = source_message(&block->sources[i]);

        wire_prefixed(&payload, &message);
    }
    for (k = 0; k < COUNT_OF(kinds); k++) {
        uint64_t count = kinds[k].kind == RIDGE_RESULT_KERNEL ? block->more_results : 0;

        for (i = 0; i < block->result_count; i++)
            if (block->results[i].kind == kinds[k].kind) {
                wire message = result_message(&block->results[i], names);

                wire_prefixed(&payload, &message);
                count++;
            }
        if (count > 0)
            wire_varint(&header, kinds[k].count_field, count);
    }
    wire_block(out, &header, &payload);
}

file_bytes build_report(const build_block *blocks, size_t count)
{
    struct names *const names = calloc(1, sizeof(*names));
    wire out = {NULL, 0, 0};
    bool has_tables;
    size_t i;

    assert_non_null(names);
    has_tables = collect_names(names, blocks, count);
    wire_file_start(&out);
    for (i = 0; i < count; i++)
        write_block(&out, &blocks[i], names, !has_tables && i == 0);
    free(names);
    return wire_finish(&out);
}

ridge_report *build_open(const file_bytes *file)
{
    ridge_report *report;
    ridge_error err;

    if (ridge_report_read(file->data, file->size, "test", &report, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    assert_non_null(report);
    return report;
}

ridge_report *build_open_blocks(const build_block *blocks, size_t count, file_bytes *file)
{
    *file = build_report(blocks, count);
    return build_open(file);
}

void build_close(ridge_report *report, file_bytes *file)
{
    ridge_report_free(report);
    support_release(file);
}
