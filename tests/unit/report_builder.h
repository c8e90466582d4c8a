/* SPDX-License-Identifier: Apache-2.0
 *
 * A native report built from a literal: blocks that hold sources and results, each with its
 * metrics. What a literal cannot say (messages that lie about their length) is written with the
 * protobuf writer below it. docs/formats/ncu-rep.md describes the bytes. */
#ifndef RIDGE_TESTS_REPORT_BUILDER_H
#define RIDGE_TESTS_REPORT_BUILDER_H

#include "binary_support.h"

#include "ridge/report.h"

/* -- protobuf ---------------------------------------------------------------------------------- */

/* Bytes that grow; starts zeroed. */
typedef struct wire {
    uint8_t *data;
    size_t size, room;
} wire;

void wire_release(wire *out);
void wire_raw(wire *out, const void *data, size_t size);
void wire_u32(wire *out, uint32_t value); /* little endian, the lengths of a container */
void wire_varint(wire *out, uint32_t field, uint64_t value);
void wire_double(wire *out, uint32_t field, double value);
void wire_float(wire *out, uint32_t field, float value);
void wire_bytes(wire *out, uint32_t field, const void *data, size_t size);
void wire_text(wire *out, uint32_t field, const char *text);
/* Appends a message and releases it. */
void wire_message(wire *out, uint32_t field, wire *inner);
/* "NVR", its header of version 7. */
void wire_file_start(wire *out);
/* One block; header and payload go. PayloadSize is added to the header. */
void wire_block(wire *out, wire *header, wire *payload);
/* A length-prefixed message of a payload; the message goes. */
void wire_prefixed(wire *payload, wire *message);
/* Exactly the bytes, in a block of their size; the wire goes. */
file_bytes wire_finish(wire *out);

/* -- a report as a literal --------------------------------------------------------------------- */

typedef struct build_value {
    ridge_value_kind kind;
    bool is_float, is_u32; /* stored narrower */
    double number;
    uint64_t count;
    const char *text;
} build_value;

#define V_NUMBER(value)                                                                            \
    {                                                                                              \
        .kind = RIDGE_VALUE_NUMBER, .number = (value)                                              \
    }
#define V_FLOAT(value)                                                                             \
    {                                                                                              \
        .kind = RIDGE_VALUE_NUMBER, .is_float = true, .number = (value)                            \
    }
#define V_COUNT(value)                                                                             \
    {                                                                                              \
        .kind = RIDGE_VALUE_COUNT, .count = (value)                                                \
    }
#define V_COUNT_32(value)                                                                          \
    {                                                                                              \
        .kind = RIDGE_VALUE_COUNT, .is_u32 = true, .count = (value)                                \
    }
#define V_TEXT(value)                                                                              \
    {                                                                                              \
        .kind = RIDGE_VALUE_TEXT, .text = (value)                                                  \
    }
#define V_NONE                                                                                     \
    {                                                                                              \
        .kind = RIDGE_VALUE_ABSENT                                                                 \
    }

typedef struct build_instance {
    build_value id, value;
} build_instance;

typedef struct build_metric {
    const char *name;
    build_value value;
    const build_instance *instances;
    size_t instance_count;
    uint64_t name_id; /* when name is NULL */
} build_metric;

typedef struct build_rule {
    const char *id, *name, *section, *title, *message;
    int type;
    double speedup_percent; /* 0: none */
    bool is_local;
} build_rule;

typedef struct build_result {
    ridge_result_kind kind;
    const char *name, *mangled, *demangled, *renamed;
    uint64_t grid[3], block[3];
    uint64_t context_id, stream_id;
    int clocks;      /* 0 not recorded, 1 locked, 2 not locked */
    uint64_t module; /* 0: none */
    const build_metric *metrics;
    size_t metric_count;
    const build_rule *rules;
    size_t rule_count;
} build_result;

typedef struct build_source {
    uint64_t reference;
    const void *binary;
    size_t binary_bytes;
    int cc_major, cc_minor;
    const char *function; /* of the relocation; NULL: none */
    uint64_t address;
    const char *path, *text; /* of an imported file; NULL: none */
} build_source;

/* Each member is one piece of the session, NULL where it has none. */
typedef struct build_session {
    const char *host_name, *operating_system, *command_line;
    const char *version_name, *version; /* "CUDA Version", "13.0" */
    const char *device_name;
    uint64_t device_sms, device_cc_major, device_cc_minor;
    uint64_t created_s;
} build_session;

typedef struct build_block {
    const build_session *session;
    const char *process_name, *host_name;
    const char *const *strings; /* of this block's table; see build_report() */
    size_t string_count;
    const build_source *sources;
    size_t source_count;
    const build_result *results;
    size_t result_count;
    uint64_t more_results; /* announced, and not there */
} build_block;

/* The bytes of a report. When no block has strings, the first one gets a table of all names; else
 * names are looked up in the tables of all blocks, as they are appended. */
file_bytes build_report(const build_block *blocks, size_t count);

/* Opens what must be a report. The bytes must outlive it. */
ridge_report *build_open(const file_bytes *file);

/* build_report() and build_open(); build_close() releases both. */
ridge_report *build_open_blocks(const build_block *blocks, size_t count, file_bytes *file);
void build_close(ridge_report *report, file_bytes *file);

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#endif
