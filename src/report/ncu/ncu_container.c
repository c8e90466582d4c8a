/* SPDX-License-Identifier: Apache-2.0
 *
 * The frames of a native report: a magic, a file header, then blocks of a length-prefixed header
 * and a payload of length-prefixed messages, without index, padding or checksum.
 *
 * Two passes: names of metrics and the session may stand behind results that need them, so the
 * first pass reads all block headers and the second all payloads. A file that is cut or damaged
 * gives what stands before the damage, with a warning. */
#include <string.h>

#include "report/ncu/ncu_internal.h"

static const uint8_t magic[4] = {'N', 'V', 'R', 0};

enum { KINDS = 5 }; /* of messages in a payload */

/* In the order in which a payload holds them. */
static const uint32_t kind_field[KINDS] = {NCU_BLOCK_SOURCES, NCU_BLOCK_RESULTS, NCU_BLOCK_RANGES,
                                           NCU_BLOCK_COMMAND_LISTS, NCU_BLOCK_GRAPHS};

struct block {
    uint64_t message_count[KINDS];
    uint64_t payload_bytes;
    ridge_slice payload;
};

size_t ncu_offset(const ridge_report *report, ridge_slice slice)
{
    return (size_t)(slice.data - report->file.bytes.data);
}

/* StringTable: repeated field 1. */
static bool read_strings(ridge_report *report, ridge_slice message)
{
    ridge_cursor cursor = ridge_cursor_of(message);
    ridge_field field;

    while (ridge_field_next(&cursor, &field))
        if (field.number == 1 && field.wire == RIDGE_WIRE_BYTES &&
            !report_add_name(report, field.bytes))
            return false;
    if (cursor.failed)
        report_damage(report, "offset %zu: malformed string table", ncu_offset(report, message));
    return true;
}

/* Reads a block header into *block; with content, its strings and session too. */
static bool read_header(ridge_report *report, ridge_slice header, bool content, struct block *block)
{
    ridge_cursor cursor = ridge_cursor_of(header);
    ridge_field field;
    bool enough_memory = true;
    size_t i;

    memset(block, 0, sizeof(*block));
    while (enough_memory && ridge_field_next(&cursor, &field)) {
        if (field.wire == RIDGE_WIRE_VARINT) {
            if (field.number == NCU_BLOCK_PAYLOAD_BYTES)
                block->payload_bytes = field.value;
            for (i = 0; i < KINDS; i++)
                if (field.number == kind_field[i])
                    block->message_count[i] = field.value;
        } else if (content && field.wire == RIDGE_WIRE_BYTES) {
            if (field.number == NCU_BLOCK_STRINGS)
                enough_memory = read_strings(report, field.bytes);
            else if (field.number == NCU_BLOCK_SESSION)
                enough_memory = ncu_session_read(report, field.bytes);
            else if (field.number == NCU_BLOCK_PROCESS)
                enough_memory = ncu_process_read(report, field.bytes);
        }
    }
    if (content && cursor.failed)
        report_damage(report, "offset %zu: malformed block header", ncu_offset(report, header));
    return enough_memory;
}

/* Reads the messages of one payload. */
static bool read_payload(ridge_report *report, const struct block *block)
{
    static const ridge_result_kind result_kind[KINDS] = {
        RIDGE_RESULT_KERNEL, /* not used: sources */
        RIDGE_RESULT_KERNEL, RIDGE_RESULT_RANGE, RIDGE_RESULT_COMMAND_LIST, RIDGE_RESULT_GRAPH};
    ridge_cursor cursor = ridge_cursor_of(block->payload);
    bool enough_memory = true;
    size_t kind;

    for (kind = 0; kind < KINDS && !cursor.failed; kind++) {
        uint64_t left = block->message_count[kind];

        for (; left > 0 && enough_memory; left--) {
            const uint32_t size_bytes = ridge_read_u32(&cursor);
            const ridge_slice message = ridge_read_bytes(&cursor, size_bytes);

            if (cursor.failed) {
                report_damage(report,
                              "offset %zu: a block announces %llu more messages than its payload "
                              "of %zu bytes holds",
                              ncu_offset(report, block->payload), (unsigned long long)left,
                              block->payload.size);
                break;
            }
            enough_memory = kind == 0 ? ncu_source_read(report, message)
                                      : ncu_result_read(report, message, result_kind[kind]);
        }
    }
    if (enough_memory && !cursor.failed && ridge_cursor_left(&cursor) > 0)
        report_damage(report,
                      "offset %zu: %zu bytes of a payload belong to no message that its block "
                      "announces",
                      ncu_offset(report, block->payload) + block->payload.size -
                          ridge_cursor_left(&cursor),
                      ridge_cursor_left(&cursor));
    return enough_memory;
}

/* Walks all blocks; in the first pass over the headers, in the second over the payloads. */
static bool walk_blocks(ridge_report *report, ridge_cursor cursor, bool headers)
{
    bool enough_memory = true;

    while (enough_memory && ridge_cursor_left(&cursor) > 0) {
        const size_t start = ridge_cursor_offset(&cursor);
        const size_t left_bytes = ridge_cursor_left(&cursor);
        const uint32_t header_bytes = ridge_read_u32(&cursor);
        const ridge_slice header = ridge_read_bytes(&cursor, header_bytes);
        struct block block;

        if (cursor.failed) {
            if (headers)
                report_damage(report,
                              "cut at byte %zu: a block header starts at %zu, but only %zu bytes "
                              "are left",
                              report->file.bytes.size, start, left_bytes);
            break;
        }
        if (header_bytes == 0) {
            /* No profiler writes these, zeros behind a cut file look like them. */
            if (headers)
                report_damage(report,
                              "offset %zu: a block without header; the %zu bytes from "
                              "there on are left out",
                              start, left_bytes);
            break;
        }
        enough_memory = read_header(report, header, headers, &block);
        if (block.payload_bytes > ridge_cursor_left(&cursor)) {
            if (headers)
                report_damage(
                    report, "cut at byte %zu: the block at %zu announces %llu bytes, %zu are left",
                    report->file.bytes.size, start, (unsigned long long)block.payload_bytes,
                    ridge_cursor_left(&cursor));
            block.payload_bytes = ridge_cursor_left(&cursor);
        }
        block.payload = ridge_read_bytes(&cursor, (size_t)block.payload_bytes);
        if (enough_memory && !headers)
            enough_memory = read_payload(report, &block);
    }
    return enough_memory;
}

/* JSON or SQLite. */
static bool may_be_trace(ridge_slice bytes)
{
    static const char sqlite[] = "SQLite format 3";
    size_t at = 0;

    while (at < bytes.size && at < 64 && memchr(" \t\r\n", bytes.data[at], 4) != NULL)
        at++;
    return (at < bytes.size && (bytes.data[at] == '{' || bytes.data[at] == '[')) ||
           (bytes.size >= sizeof(sqlite) && memcmp(bytes.data, sqlite, sizeof(sqlite)) == 0);
}

ridge_status ncu_report_read(ridge_report *report, ridge_slice bytes, ridge_error *err)
{
    ridge_cursor cursor = ridge_cursor_of(bytes);
    const ridge_slice found = ridge_read_bytes(&cursor, sizeof(magic));
    uint32_t header_bytes;
    size_t i;

    if (may_be_trace(bytes))
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "not an Nsight Compute report; traces of PyTorch and Nsight Systems are "
                          "for ridge timeline");
    if (cursor.failed || memcmp(found.data, magic, sizeof(magic)) != 0)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "not an Nsight Compute report: expected the magic \"NVR\" or the raw "
                          "page of ncu --csv at the start of %zu bytes",
                          bytes.size);
    header_bytes = ridge_read_u32(&cursor);
    ridge_skip(&cursor, header_bytes);
    if (cursor.failed)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "cut in the file header: it announces %u bytes, the file has %zu",
                          header_bytes, bytes.size);
    if (!walk_blocks(report, cursor, true) || !walk_blocks(report, cursor, false))
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    if (!report_finish_modules(report))
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    for (i = 0; i < report->kernel_count; i++)
        report_finish_kernel(&report->kernels[i]);
    return RIDGE_OK;
}
