/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames between child and parent: a header and a payload, which is a line of text or a plain
 * structure. Both sides are the same program, so structures go as they lie in memory; their size is
 * compared all the same, since the bytes come from a process that ran foreign code. */
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "session/session_internal.h"

/* Bytes of a payload; 0: any number. */
static const size_t payload_bytes[SESSION_FRAME_COUNT] = {
    [SESSION_FRAME_PROGRESS] = sizeof(ridge_session_progress),
    [SESSION_FRAME_SLOT] = sizeof(session_slot),
    [SESSION_FRAME_BASE] = sizeof(session_base),
    [SESSION_FRAME_CHECK] = sizeof(ridge_check_result),
    [SESSION_FRAME_SHRUNK] = sizeof(ridge_check_result),
    [SESSION_FRAME_MEASUREMENT] = sizeof(ridge_measurement),
    [SESSION_FRAME_COMPARISON] = sizeof(ridge_comparison),
    [SESSION_FRAME_ERROR] = sizeof(ridge_error),
};

static void write_all(const session_child *child, const void *bytes, size_t size_bytes)
{
    if (ridge_write_all(child->descriptor, bytes, size_bytes))
        return;
    atomic_store(&child->box->is_cut, true);
    _exit(70); /* nobody is there to hear more */
}

void session_beat(session_child *child)
{
    atomic_fetch_add_explicit(&child->box->beats, 1, memory_order_relaxed);
}

void session_send_two(session_child *child, session_frame_kind kind, const void *first,
                      size_t first_bytes, const void *second, size_t second_bytes)
{
    const session_frame frame = {
        .nonce = child->nonce, .kind = kind, .size_bytes = (uint32_t)(first_bytes + second_bytes)};

    /* A kernel that forked and came back twice: results come from one process. */
    if (child->owner != getpid())
        _exit(0);
    session_beat(child);
    if (first_bytes + second_bytes > SESSION_FRAME_BYTES_MOST)
        return; /* senders bound what they send */
    write_all(child, &frame, sizeof(frame));
    write_all(child, first, first_bytes);
    write_all(child, second, second_bytes);
}

void session_send(session_child *child, session_frame_kind kind, const void *payload,
                  size_t size_bytes)
{
    const session_frame frame = {child->nonce, kind, (uint32_t)size_bytes};

    if (child->direct != NULL) {
        session_deliver(&frame, payload, child->direct);
        return;
    }
    session_send_two(child, kind, payload, size_bytes, NULL, 0);
}

char *session_reader_room(session_reader *reader, size_t size_bytes)
{
    if (reader->taken_bytes > 0) {
        reader->size_bytes -= reader->taken_bytes;
        memmove(reader->bytes, reader->bytes + reader->taken_bytes, reader->size_bytes);
        reader->taken_bytes = 0;
    }
    if (reader->capacity_bytes - reader->size_bytes < size_bytes) {
        const size_t wanted = 2 * reader->capacity_bytes + size_bytes;
        char *const grown = ridge_realloc_array(reader->bytes, wanted, 1);

        if (grown == NULL)
            return NULL;
        reader->bytes = grown;
        reader->capacity_bytes = wanted;
    }
    return reader->bytes + reader->size_bytes;
}

ridge_status session_reader_next(session_reader *reader, bool *is_whole, session_frame *frame,
                                 const void **payload, ridge_error *err)
{
    const size_t left = reader->size_bytes - reader->taken_bytes;

    *is_whole = false;
    *payload = NULL;
    memset(frame, 0, sizeof(*frame));
    if (left < sizeof(*frame))
        return RIDGE_OK;
    memcpy(frame, reader->bytes + reader->taken_bytes, sizeof(*frame));
    if (frame->nonce != reader->nonce || frame->kind >= SESSION_FRAME_COUNT ||
        frame->size_bytes > SESSION_FRAME_BYTES_MOST ||
        (frame->kind == SESSION_FRAME_BUILD && frame->size_bytes < sizeof(ridge_session_build)) ||
        (payload_bytes[frame->kind] != 0 && payload_bytes[frame->kind] != frame->size_bytes))
        return ridge_fail(err, RIDGE_ERR_FORMAT, "what came from the child is no frame");
    if (left - sizeof(*frame) < frame->size_bytes)
        return RIDGE_OK;
    *payload = reader->bytes + reader->taken_bytes + sizeof(*frame);
    reader->taken_bytes += sizeof(*frame) + frame->size_bytes;
    *is_whole = true;
    return RIDGE_OK;
}

void session_reader_release(session_reader *reader)
{
    ridge_free(reader->bytes);
    memset(reader, 0, sizeof(*reader));
}

/* Payloads lie unaligned in the reader's bytes: copied out before a callback sees one. */
#define DELIVER(type, callback)                                                                    \
    do {                                                                                           \
        type copy;                                                                                 \
        memcpy(&copy, payload, sizeof(copy));                                                      \
        if (sink->callback != NULL)                                                                \
            sink->callback(sink->context, &copy);                                                  \
    } while (0)

void session_deliver(const session_frame *frame, const void *payload,
                     const ridge_session_sink *sink)
{
    session_base base;
    ridge_session_build build;
    session_slot slot;

    switch ((session_frame_kind)frame->kind) {
    case SESSION_FRAME_RECORD:
        if (sink->record != NULL)
            sink->record(sink->context, payload, frame->size_bytes);
        break;
    case SESSION_FRAME_PROGRESS:
        DELIVER(ridge_session_progress, progress);
        break;
    case SESSION_FRAME_SLOT:
        memcpy(&slot, payload, sizeof(slot));
        if (sink->slot != NULL)
            sink->slot(sink->context, slot.case_index, &slot.slot);
        break;
    case SESSION_FRAME_BASE:
        memcpy(&base, payload, sizeof(base));
        base.code_hash[sizeof(base.code_hash) - 1] = '\0';
        if (sink->base_case != NULL)
            sink->base_case(sink->context, &base.at, base.code_hash, base.arm);
        break;
    case SESSION_FRAME_BUILD:
        memcpy(&build, payload, sizeof(build));
        build.kernel[sizeof(build.kernel) - 1] = build.image_kind[sizeof(build.image_kind) - 1] =
            '\0';
        build.code_hash[sizeof(build.code_hash) - 1] = '\0';
        build.code.arch[sizeof(build.code.arch) - 1] = '\0';
        build.image_bytes = frame->size_bytes - sizeof(build);
        build.image = build.image_bytes > 0 ? (const char *)payload + sizeof(build) : NULL;
        if (sink->build != NULL)
            sink->build(sink->context, &build);
        break;
    case SESSION_FRAME_CHECK:
        DELIVER(ridge_check_result, check);
        break;
    case SESSION_FRAME_SHRUNK:
        DELIVER(ridge_check_result, shrunk);
        break;
    case SESSION_FRAME_MEASUREMENT:
        DELIVER(ridge_measurement, measurement);
        break;
    case SESSION_FRAME_COMPARISON:
        DELIVER(ridge_comparison, comparison);
        break;
    default:
        break;
    }
}
