/* SPDX-License-Identifier: Apache-2.0
 *
 * A report written anew without what tells who made it.
 *
 * Tables say what is done with each field of each message that is known; lengths of messages,
 * payloads and strings follow. Messages that are known in part are searched for text by guessing
 * their structure (scrub()), which is safe because such text keeps its length. Metrics, names of
 * kernels and the string table are copied.
 *
 * Whatever was found is looked for once more in the finished bytes. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "report/ncu/ncu_internal.h"
#include "report/ncu/ncu_redact_internal.h"

enum { SCRUB_DEPTH = 12 }; /* of guessed messages; the real ones have 8 */

/* What is done with a field that holds bytes. Numbers are copied. */
enum action {
    KEEP,
    MENTIONS,  /* copied but for names that were found */
    SCRUB,     /* paths and names in it or in the messages in it */
    INTO,      /* a message with a table of its own */
    PATH,      /* of a file */
    HOST,      /* name or address of a machine */
    ADDRESSES, /* a message around an address; left out */
    COMMAND,
    BUILD,
    PROGRAM, /* path of a program: its base name */
    CUBIN,
    SOURCE_TEXT,
    SETTINGS, /* left out */
    PAYLOAD_BYTES
};

struct field_rule {
    uint32_t number; /* 0: all that the table does not name, and its end */
    enum action action;
    const struct field_rule *inner; /* of INTO */
};

static const struct field_rule system_rules[] = {
    {1, KEEP},  /* operating system */
    {2, BUILD}, /* release and build */
    {3, KEEP},  /* processor */
    {4, KEEP},  /* architecture */
    {5, HOST},  {7, ADDRESSES}, {0, SCRUB},
};

/* Other fields do not come with the command line's reports, so readers do without them. */
static const struct field_rule session_rules[] = {
    {2, KEEP}, /* creation time */
    {3, INTO, system_rules},
    {4, INTO, system_rules},
    {5, SCRUB},
    {6, MENTIONS}, /* devices */
    {8, KEEP},     /* versions */
    {10, SCRUB},   /* settings of the profiler */
    {11, COMMAND},
    {0, SETTINGS},
};

static const struct field_rule process_rules[] = {
    {2, HOST},
    {3, PROGRAM},
    {0, SCRUB},
};

static const struct field_rule header_rules[] = {
    {NCU_BLOCK_SESSION, INTO, session_rules},
    {NCU_BLOCK_STRINGS, KEEP},
    {NCU_BLOCK_PAYLOAD_BYTES, PAYLOAD_BYTES},
    {NCU_BLOCK_PROCESS, INTO, process_rules},
    {0, SCRUB},
};

static const struct field_rule file_rules[] = {
    {1, PATH},
    {2, SOURCE_TEXT},
    {0, SCRUB},
};

static const struct field_rule files_rules[] = {
    {1, INTO, file_rules},
    {0, SCRUB},
};

static const struct field_rule source_rules[] = {
    {4, CUBIN},
    {8, INTO, files_rules},
    {9, KEEP}, /* names and addresses of functions */
    {0, SCRUB},
};

static const struct field_rule marker_rules[] = {
    {6, PATH},
    {0, SCRUB},
};

static const struct field_rule rule_result_rules[] = {
    {5, INTO, marker_rules},
    {0, SCRUB},
};

static const struct field_rule result_rules[] = {
    {NCU_KERNEL_MANGLED_NAME, KEEP},
    {NCU_KERNEL_FUNCTION_NAME, KEEP},
    {NCU_KERNEL_DEMANGLED_NAME, KEEP},
    {NCU_KERNEL_METRIC, KEEP},
    {NCU_KERNEL_SOURCE, KEEP},
    {NCU_KERNEL_SECTION, MENTIONS}, /* definitions: "/L1/TEX" is no path */
    {NCU_KERNEL_RULE, INTO, rule_result_rules},
    {NCU_KERNEL_RENAMED, KEEP},
    {0, SCRUB},
};

static const struct field_rule range_rules[] = {
    {NCU_RANGE_METRIC, KEEP},
    {NCU_RANGE_SECTION, MENTIONS},
    {NCU_RANGE_RULE, INTO, rule_result_rules},
    {0, SCRUB},
};

static const struct field_rule graph_rules[] = {
    {NCU_GRAPH_METRIC, KEEP},
    {NCU_GRAPH_SECTION, MENTIONS},
    {NCU_GRAPH_RULE, INTO, rule_result_rules},
    {0, SCRUB},
};

/* No report with a command list was seen. */
static const struct field_rule command_list_rules[] = {{0, SCRUB}};

struct redactor {
    redact_names names;
    ridge_slice report;
    ridge_text *out; /* NULL while learning */
    unsigned flags;
    uint64_t payload_bytes; /* of the block that is written */
    bool is_header;         /* the path seen last is below a directory "include" */
    ridge_redaction summary;
    ridge_status status;
    ridge_error *err;
};

static size_t offset_of(const struct redactor *redactor, ridge_slice part)
{
    return (size_t)(part.data - redactor->report.data);
}

static void malformed(struct redactor *redactor, const char *what, ridge_slice where)
{
    if (redactor->status == RIDGE_OK)
        redactor->status = ridge_fail(redactor->err, RIDGE_ERR_FORMAT,
                                      "offset %zu: malformed %s; nothing is written of a report "
                                      "that cannot be read as a whole",
                                      offset_of(redactor, where), what);
}

/* -- writing ----------------------------------------------------------------------------------- */

static void put(struct redactor *redactor, ridge_slice bytes)
{
    if (redactor->out != NULL)
        ridge_text_add_bytes(redactor->out, bytes.data, bytes.size);
}

/* A copy in the output that may be changed until something else is written; NULL while learning,
 * for nothing and when out of memory. */
static uint8_t *put_copy(struct redactor *redactor, ridge_slice bytes)
{
    ridge_text *const out = redactor->out;

    if (out == NULL || bytes.size == 0)
        return NULL;
    ridge_text_add_bytes(out, bytes.data, bytes.size);
    return out->failed ? NULL : (uint8_t *)out->data + (out->length - bytes.size);
}

static size_t encode(uint64_t value, uint8_t bytes[10])
{
    size_t size = 0;

    for (; value >= 0x80; value >>= 7)
        bytes[size++] = (uint8_t)(value | 0x80);
    bytes[size++] = (uint8_t)value;
    return size;
}

static void put_number(struct redactor *redactor, uint64_t value)
{
    uint8_t bytes[10];
    const ridge_slice slice = {bytes, encode(value, bytes)};

    put(redactor, slice);
}

/* What is written from here to end_nested() becomes the bytes of a field. */
static size_t begin_nested(struct redactor *redactor, uint32_t number)
{
    put_number(redactor, (uint64_t)number << 3 | RIDGE_WIRE_BYTES);
    return redactor->out != NULL ? redactor->out->length : 0;
}

static void end_nested(struct redactor *redactor, size_t start)
{
    ridge_text *const out = redactor->out;
    uint8_t bytes[10];
    size_t content_bytes, size;

    if (out == NULL || out->failed)
        return;
    content_bytes = out->length - start;
    size = encode(content_bytes, bytes);
    ridge_text_add_bytes(out, bytes, size); /* room at the end */
    if (out->failed)
        return;
    memmove(out->data + start + size, out->data + start, content_bytes);
    memcpy(out->data + start, bytes, size);
}

static void put_text_field(struct redactor *redactor, uint32_t number, const char *text)
{
    const ridge_slice slice = {(const uint8_t *)text, strlen(text)};
    const size_t start = begin_nested(redactor, number);

    put(redactor, slice);
    end_nested(redactor, start);
}

/* -- text -------------------------------------------------------------------------------------- */

static bool is_message(ridge_slice bytes)
{
    ridge_cursor cursor = ridge_cursor_of(bytes);
    ridge_field field;

    if (bytes.size < 2)
        return false;
    while (ridge_field_next(&cursor, &field))
        if (field.number > 1000)
            return false;
    return !cursor.failed;
}

static bool is_text(ridge_slice bytes)
{
    size_t i;

    for (i = 0; i < bytes.size; i++)
        if (bytes.data[i] < ' ' && bytes.data[i] != '\n' && bytes.data[i] != '\t' &&
            bytes.data[i] != '\r')
            return false;
    return true;
}

/* Paths in what is a text or a message of texts, or both: "\n\x20..." may be either. */
static void scrub_paths(redact_names *names, ridge_slice bytes, uint8_t *to, int depth)
{
    const bool recurse = depth < SCRUB_DEPTH && is_message(bytes);
    ridge_cursor cursor = ridge_cursor_of(bytes);
    ridge_field field;

    if (is_text(bytes))
        redact_paths_in(names, bytes, to);
    else if (!recurse)
        redact_paths_in_runs(names, bytes, to);
    while (recurse && ridge_field_next(&cursor, &field))
        if (field.wire == RIDGE_WIRE_BYTES && field.bytes.size > 0)
            scrub_paths(names, field.bytes,
                        to != NULL ? to + (field.bytes.data - bytes.data) : NULL, depth + 1);
}

/* Names in texts, so that none is found across the edge of two. */
static size_t scrub_mentions(redact_names *names, ridge_slice bytes, uint8_t *to, int depth)
{
    const bool recurse = depth < SCRUB_DEPTH && is_message(bytes) && !is_text(bytes);
    ridge_cursor cursor = ridge_cursor_of(bytes);
    ridge_field field;
    size_t count = 0;

    if (!recurse) {
        /* Reads the copy: what was a path is none any more. */
        const ridge_slice copy = {to, bytes.size};

        return redact_mentions(names, copy, to);
    }
    while (ridge_field_next(&cursor, &field))
        if (field.wire == RIDGE_WIRE_BYTES && field.bytes.size > 0)
            count +=
                scrub_mentions(names, field.bytes, to + (field.bytes.data - bytes.data), depth + 1);
    return count;
}

static void scrub(struct redactor *redactor, ridge_slice bytes)
{
    redact_names *const names = &redactor->names;
    uint8_t *const to = put_copy(redactor, bytes);

    if (redactor->out == NULL)
        scrub_paths(names, bytes, NULL, 0);
    if (to == NULL)
        return;
    scrub_paths(names, bytes, to, 0);
    names->mention_count += scrub_mentions(names, bytes, to, 0);
}

static void put_without_mentions(struct redactor *redactor, ridge_slice bytes)
{
    uint8_t *const to = put_copy(redactor, bytes);

    if (to != NULL)
        redactor->names.mention_count += redact_mentions(&redactor->names, bytes, to);
}

static ridge_slice base_name(ridge_slice path)
{
    size_t start = path.size;
    ridge_slice name;

    while (start > 0 && path.data[start - 1] != '/' && path.data[start - 1] != '\\')
        start--;
    name.data = path.data + start;
    name.size = path.size - start;
    return name;
}

/* -- fields ------------------------------------------------------------------------------------ */

static void rewrite_message(struct redactor *redactor, ridge_slice message, const char *what,
                            const struct field_rule *rules);

static void rewrite_host(struct redactor *redactor, const ridge_field *field)
{
    const uint8_t *const bytes = field->bytes.data;
    bool is_address = memchr(bytes, ':', field->bytes.size) != NULL;
    size_t digits = 0;

    while (digits < field->bytes.size &&
           ((bytes[digits] >= '0' && bytes[digits] <= '9') || bytes[digits] == '.'))
        digits++;
    is_address |= digits == field->bytes.size;
    if (redactor->out == NULL)
        redact_learn_name(&redactor->names, is_address ? REDACT_ADDRESS : REDACT_HOST,
                          field->bytes);
    put_text_field(redactor, field->number, is_address ? "127.0.0.1" : "localhost");
}

/* {address, kind} */
static void learn_address(struct redactor *redactor, ridge_slice message)
{
    ridge_cursor cursor = ridge_cursor_of(message);
    ridge_field field;

    while (ridge_field_next(&cursor, &field))
        if (field.number == 1 && field.wire == RIDGE_WIRE_BYTES)
            redact_learn_name(&redactor->names, REDACT_ADDRESS, field.bytes);
}

static bool is_header_path(ridge_slice path)
{
    static const char part[] = "/include/";
    const size_t length = sizeof(part) - 1;
    size_t i;

    for (i = 0; i + length <= path.size; i++)
        if (memcmp(path.data + i, part, length) == 0)
            return true;
    return false;
}

static void rewrite_source_text(struct redactor *redactor, const ridge_field *field)
{
    size_t start;

    if ((redactor->flags & RIDGE_REDACT_DROP_SOURCES) != 0 ||
        (redactor->is_header && (redactor->flags & RIDGE_REDACT_DROP_HEADERS) != 0)) {
        redactor->summary.source_count += redactor->out != NULL && field->bytes.size > 0;
        put_text_field(redactor, field->number, "");
        return;
    }
    redactor->summary.kept_source_count += redactor->out != NULL && field->bytes.size > 0;
    start = begin_nested(redactor, field->number);
    put_without_mentions(redactor, field->bytes);
    end_nested(redactor, start);
}

/* Bytes that keep their length. */
static void rewrite_in_place(struct redactor *redactor, const ridge_field *field,
                             enum action action)
{
    redact_names *const names = &redactor->names;
    const size_t start = begin_nested(redactor, field->number);
    uint8_t *to;

    if (action == SCRUB) {
        scrub(redactor, field->bytes);
    } else if (action == MENTIONS) {
        put_without_mentions(redactor, field->bytes);
    } else {
        to = put_copy(redactor, field->bytes);
        if (to != NULL || redactor->out == NULL) {
            if (action == CUBIN)
                redact_cubin(names, field->bytes, to);
            else
                redact_path(names, field->bytes, REDACT_END_FILE, to);
        }
    }
    end_nested(redactor, start);
}

/* The path of a program: its directories are learned, its base name stays. */
static void rewrite_program(struct redactor *redactor, const ridge_field *field)
{
    const ridge_slice name = base_name(field->bytes);
    size_t start;

    if (redactor->out == NULL)
        redact_path(&redactor->names, field->bytes, REDACT_END_FILE, NULL);
    else
        redactor->names.path_count += name.size < field->bytes.size;
    start = begin_nested(redactor, field->number);
    put_without_mentions(redactor, name);
    end_nested(redactor, start);
}

static void rewrite_field(struct redactor *redactor, const ridge_field *field, ridge_slice raw,
                          const struct field_rule *rule)
{
    const bool writing = redactor->out != NULL;
    size_t start;

    switch (rule->action) {
    case KEEP:
        put(redactor, raw);
        break;
    case PATH:
        redactor->is_header = is_header_path(field->bytes);
        rewrite_in_place(redactor, field, rule->action);
        break;
    case MENTIONS:
    case SCRUB:
    case CUBIN:
        rewrite_in_place(redactor, field, rule->action);
        break;
    case INTO:
        start = begin_nested(redactor, field->number);
        rewrite_message(redactor, field->bytes, "message", rule->inner);
        end_nested(redactor, start);
        break;
    case HOST:
        rewrite_host(redactor, field);
        break;
    case ADDRESSES:
        if (!writing)
            learn_address(redactor, field->bytes);
        break;
    case COMMAND:
    case SETTINGS:
        if (!writing)
            scrub(redactor, field->bytes);
        redactor->summary.command_line_count +=
            writing && rule->action == COMMAND && !ridge_slice_is(field->bytes, "ncu");
        redactor->summary.setting_count += writing && rule->action == SETTINGS;
        if (rule->action == COMMAND)
            put_text_field(redactor, field->number, "ncu");
        break;
    case BUILD:
        redactor->summary.build_count += writing && field->bytes.size > 0;
        put_text_field(redactor, field->number, "");
        break;
    case PROGRAM:
        rewrite_program(redactor, field);
        break;
    case SOURCE_TEXT:
        rewrite_source_text(redactor, field);
        break;
    case PAYLOAD_BYTES: /* a number */
        put(redactor, raw);
        break;
    }
}

static void rewrite_message(struct redactor *redactor, ridge_slice message, const char *what,
                            const struct field_rule *rules)
{
    ridge_cursor cursor = ridge_cursor_of(message);
    const uint8_t *start = cursor.position;
    ridge_field field;

    while (redactor->status == RIDGE_OK && ridge_field_next(&cursor, &field)) {
        const ridge_slice raw = {start, (size_t)(cursor.position - start)};
        const struct field_rule *rule = rules;

        start = cursor.position;
        while (rule->number != 0 && rule->number != field.number)
            rule++;
        if (field.wire == RIDGE_WIRE_BYTES) {
            rewrite_field(redactor, &field, raw, rule);
        } else if (rule->action == PAYLOAD_BYTES && field.wire == RIDGE_WIRE_VARINT) {
            put_number(redactor, (uint64_t)field.number << 3 | RIDGE_WIRE_VARINT);
            put_number(redactor, redactor->payload_bytes);
        } else {
            put(redactor, raw);
        }
    }
    if (cursor.failed)
        malformed(redactor, what, message);
}

/* -- blocks ------------------------------------------------------------------------------------ */

enum { KINDS = 5 }; /* of messages in a payload, in their order */

static const struct {
    uint32_t count_field;
    const char *what;
    const struct field_rule *rules;
} kinds[KINDS] = {
    {NCU_BLOCK_SOURCES, "source", source_rules},
    {NCU_BLOCK_RESULTS, "kernel result", result_rules},
    {NCU_BLOCK_RANGES, "range result", range_rules},
    {NCU_BLOCK_COMMAND_LISTS, "command list result", command_list_rules},
    {NCU_BLOCK_GRAPHS, "graph result", graph_rules},
};

static void put_u32(struct redactor *redactor, size_t at, size_t value)
{
    ridge_text *const out = redactor->out;
    size_t i;

    if (out == NULL || out->failed)
        return;
    if (value > UINT32_MAX) { /* paths keep their length, fixed texts are short: cannot be */
        redactor->status =
            ridge_fail(redactor->err, RIDGE_ERR_UNSUPPORTED, "a message of more than 4 GiB");
        return;
    }
    for (i = 0; i < 4; i++)
        out->data[at + i] = (char)(uint8_t)(value >> (8 * i));
}

static void put_prefixed(struct redactor *redactor, ridge_slice message, const char *what,
                         const struct field_rule *rules)
{
    static const uint8_t zeros[4];
    const ridge_slice prefix = {zeros, sizeof(zeros)};
    size_t start = 0;

    put(redactor, prefix);
    if (redactor->out != NULL)
        start = redactor->out->length;
    rewrite_message(redactor, message, what, rules);
    if (redactor->out != NULL && !redactor->out->failed)
        put_u32(redactor, start - sizeof(zeros), redactor->out->length - start);
}

static void rewrite_payload(struct redactor *redactor, ridge_slice payload,
                            const uint64_t counts[KINDS])
{
    ridge_cursor cursor = ridge_cursor_of(payload);
    size_t kind;

    for (kind = 0; kind < KINDS; kind++) {
        uint64_t left;

        for (left = counts[kind]; left > 0 && redactor->status == RIDGE_OK; left--) {
            const uint32_t size_bytes = ridge_read_u32(&cursor);
            const ridge_slice message = ridge_read_bytes(&cursor, size_bytes);

            if (cursor.failed) {
                malformed(redactor, "payload", payload);
                return;
            }
            put_prefixed(redactor, message, kinds[kind].what, kinds[kind].rules);
        }
    }
    if (ridge_cursor_left(&cursor) > 0)
        malformed(redactor, "payload", payload);
}

/* One block; payload is scratch. */
static void rewrite_block(struct redactor *redactor, ridge_cursor *cursor, ridge_text *payload)
{
    const ridge_slice here = {cursor->position, 0};
    const uint32_t header_bytes = ridge_read_u32(cursor);
    const ridge_slice header = ridge_read_bytes(cursor, header_bytes);
    ridge_cursor fields = ridge_cursor_of(header);
    ridge_text *const out = redactor->out;
    uint64_t counts[KINDS] = {0};
    uint64_t payload_bytes = 0;
    ridge_field field;
    size_t i;

    while (ridge_field_next(&fields, &field)) {
        if (field.wire != RIDGE_WIRE_VARINT)
            continue;
        if (field.number == NCU_BLOCK_PAYLOAD_BYTES)
            payload_bytes = field.value;
        for (i = 0; i < KINDS; i++)
            if (field.number == kinds[i].count_field)
                counts[i] = field.value;
    }
    if (cursor->failed || fields.failed || payload_bytes > ridge_cursor_left(cursor)) {
        malformed(redactor, "block", here);
        return;
    }
    if (out != NULL) {
        ridge_text_clear(payload);
        redactor->out = payload;
    }
    rewrite_payload(redactor, ridge_read_bytes(cursor, (size_t)payload_bytes), counts);
    if (out != NULL) {
        const ridge_slice bytes = {(const uint8_t *)payload->data, payload->length};

        redactor->out = out;
        redactor->payload_bytes = payload->length;
        out->failed |= payload->failed;
        put_prefixed(redactor, header, "block header", header_rules);
        put(redactor, bytes);
    } else {
        rewrite_message(redactor, header, "block header", header_rules);
    }
}

static void rewrite_report(struct redactor *redactor, ridge_text *payload)
{
    ridge_cursor cursor = ridge_cursor_of(redactor->report);
    ridge_slice start = {redactor->report.data, 0};

    ridge_skip(&cursor, 4); /* the magic */
    ridge_skip(&cursor, ridge_read_u32(&cursor));
    if (cursor.failed || ridge_cursor_left(&cursor) == 0) {
        malformed(redactor, "file header", start);
        return;
    }
    start.size = ridge_cursor_offset(&cursor);
    put(redactor, start);
    while (redactor->status == RIDGE_OK && ridge_cursor_left(&cursor) > 0)
        rewrite_block(redactor, &cursor, payload);
}

/* Words of metric names are no secrets, although somebody may be called like one. */
static void learn_common_words(struct redactor *redactor)
{
    ridge_cursor cursor = ridge_cursor_of(redactor->report);

    ridge_skip(&cursor, 4);
    ridge_skip(&cursor, ridge_read_u32(&cursor));
    while (ridge_cursor_left(&cursor) > 0) {
        const uint32_t header_bytes = ridge_read_u32(&cursor);
        ridge_cursor fields = ridge_cursor_of(ridge_read_bytes(&cursor, header_bytes));
        uint64_t payload_bytes = 0;
        ridge_field field;

        while (ridge_field_next(&fields, &field)) {
            if (field.number == NCU_BLOCK_STRINGS && field.wire == RIDGE_WIRE_BYTES)
                redact_learn_common(&redactor->names, field.bytes);
            if (field.number == NCU_BLOCK_PAYLOAD_BYTES && field.wire == RIDGE_WIRE_VARINT)
                payload_bytes = field.value;
        }
        ridge_skip(&cursor, (size_t)payload_bytes);
    }
}

/* -- the whole --------------------------------------------------------------------------------- */

static void summarise(struct redactor *redactor, const ridge_text *out)
{
    const ridge_slice written = {(const uint8_t *)out->data, out->length};
    redact_names *const names = &redactor->names;
    ridge_redaction *const summary = &redactor->summary;

    summary->host_count = names->kind_count[REDACT_HOST];
    summary->user_count = names->kind_count[REDACT_USER];
    summary->address_count = names->kind_count[REDACT_ADDRESS];
    summary->path_count = names->path_count;
    summary->mention_count = names->mention_count;
    names->found = NULL;
    summary->remaining_count = redact_mentions(names, written, NULL);
    if (names->found != NULL)
        snprintf(summary->remaining, sizeof(summary->remaining), "%.*s",
                 (int)(names->found->text.size < 64 ? names->found->text.size : 63),
                 (const char *)names->found->text.data);
}

static ridge_status check_names(struct redactor *redactor)
{
    if (redactor->status == RIDGE_OK && redactor->names.out_of_memory)
        redactor->status = ridge_fail(redactor->err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    if (redactor->status == RIDGE_OK && redactor->names.too_many)
        redactor->status =
            ridge_fail(redactor->err, RIDGE_ERR_UNSUPPORTED,
                       "more than %d names of users, hosts and places to remove", REDACT_NAMES);
    return redactor->status;
}

static ridge_status redact_all(struct redactor *redactor, ridge_text *out)
{
    ridge_text payload;

    ridge_text_init(&payload);
    rewrite_report(redactor, &payload);
    if (check_names(redactor) == RIDGE_OK) {
        learn_common_words(redactor);
        redactor->out = out;
        rewrite_report(redactor, &payload);
        redactor->out = NULL;
        if (redactor->status == RIDGE_OK && out->failed)
            redactor->status = ridge_fail(redactor->err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    }
    ridge_text_release(&payload);
    if (redactor->status == RIDGE_OK)
        summarise(redactor, out);
    return redactor->status;
}

static ridge_status redact_file(ridge_file *file, const char *name, unsigned flags, uint8_t **out,
                                size_t *out_bytes, ridge_redaction *summary, ridge_error *err)
{
    size_t largest_bytes = REPORT_UNPACKED_LEAST;
    struct redactor *redactor = NULL;
    ridge_text text;
    ridge_status status;

    if (file->bytes.size > SIZE_MAX / REPORT_UNPACKED_FACTOR)
        largest_bytes = SIZE_MAX;
    else if (file->bytes.size > largest_bytes / REPORT_UNPACKED_FACTOR)
        largest_bytes = file->bytes.size * REPORT_UNPACKED_FACTOR;
    status = ridge_file_unpack(file, name, largest_bytes, err);
    if (status != RIDGE_OK)
        return status;
    if (file->bytes.size == 0)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "the file is empty");
    if (file->bytes.size < 4 || memcmp(file->bytes.data, "NVR", 4) != 0)
        return ridge_fail(
            err, RIDGE_ERR_FORMAT,
            "neither a native Nsight Compute report (the magic \"NVR\" at the start) "
            "nor a trace (SQLite of Nsight Systems or ridge record, JSON of PyTorch's "
            "profiler): the first byte is 0x%02x",
            file->bytes.data[0]);
    ridge_text_init(&text);
    redactor = ridge_calloc(1, sizeof(*redactor));
    if (redactor == NULL || !redact_names_init(&redactor->names)) {
        status = ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
        goto out;
    }
    redactor->report = file->bytes;
    redactor->flags = flags;
    redactor->err = err;
    status = redact_all(redactor, &text);
    if (status != RIDGE_OK)
        goto out;
    if (summary != NULL)
        *summary = redactor->summary;
    *out =
        (uint8_t *)text.data; /* given to the caller; it has a file header, so it is no literal */
    *out_bytes = text.length;
    ridge_text_init(&text);
out:
    if (redactor != NULL)
        redact_names_release(&redactor->names);
    ridge_free(redactor);
    ridge_text_release(&text);
    return status;
}

ridge_status ridge_report_redact(const void *data, size_t size_bytes, unsigned flags, uint8_t **out,
                                 size_t *out_bytes, ridge_redaction *summary, ridge_error *err)
{
    ridge_file file = {.bytes = {data, size_bytes}};
    ridge_status status;

    *out = NULL;
    *out_bytes = 0;
    if (summary != NULL)
        memset(summary, 0, sizeof(*summary));
    status = redact_file(&file, "report", flags, out, out_bytes, summary, err);
    ridge_file_release(&file);
    return status;
}

ridge_status ridge_report_redact_file(const char *path, unsigned flags, uint8_t **out,
                                      size_t *out_bytes, ridge_redaction *summary, ridge_error *err)
{
    ridge_file file;
    ridge_status status;

    *out = NULL;
    *out_bytes = 0;
    if (summary != NULL)
        memset(summary, 0, sizeof(*summary));
    status = ridge_file_open(path, &file, err);
    if (status != RIDGE_OK)
        return status;
    status = redact_file(&file, path, flags, out, out_bytes, summary, err);
    ridge_file_release(&file);
    return status;
}

void ridge_redact_free(uint8_t *bytes)
{
    ridge_free(bytes);
}
