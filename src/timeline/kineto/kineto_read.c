/* SPDX-License-Identifier: Apache-2.0
 *
 * The document around the events: {"schemaVersion": 1, ..., "traceEvents": [...], ...}, or the
 * array alone. Members are read as they come; one that matters is waited for until it is whole, any
 * other is passed over piece by piece. The array of events comes in blocks that were scanned on the
 * guess that they begin between two events, see kineto_blocks.c. */
#include "timeline/kineto/kineto_internal.h"

#include <inttypes.h>

#include "ridge/table.h"

typedef enum document_place {
    BEFORE,   /* nothing seen yet */
    MEMBERS,  /* in the outer object */
    SKIPPING, /* in a value of it that nobody needs */
    EVENTS,
    DONE /* behind the document */
} document_place;

typedef struct document_reader {
    ridge_trace *trace;
    const ridge_trace_options *options;
    const kineto_sink *sink; /* in place of the rows; NULL */
    kineto_rows *rows;
    kineto_events events; /* of pieces that are scanned here */
    document_place place;
    bool is_bare; /* an array without a document */
    bool has_events;
    bool is_in_event; /* the text at hand ends in one */
    /* In a value that is skipped. */
    size_t depth;
    bool in_text, is_escaped;
    /* What could not be read yet, from a block or several, with KINETO_GUARD_BYTES behind. */
    char *carry;
    size_t carry_size, carry_capacity;
    uint64_t offset; /* of the bytes at hand */
    uint64_t event_count, skipped_count, first_skipped;
    bool has_fraction;
} document_reader;

/* -- what was waited for ----------------------------------------------------------------------- */

static ridge_status carry(document_reader *reader, const char *bytes, size_t size, ridge_error *err)
{
    const size_t wanted = reader->carry_size + size + KINETO_GUARD_BYTES;

    if (size == 0 || bytes == NULL)
        return RIDGE_OK;
    if (reader->carry == NULL || wanted > reader->carry_capacity) {
        const size_t capacity = wanted + wanted / 2;
        char *const larger = ridge_realloc_array(reader->carry, capacity, 1);

        if (larger == NULL)
            return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
        reader->carry = larger;
        reader->carry_capacity = capacity;
    }
    memmove(reader->carry + reader->carry_size, bytes, size);
    reader->carry_size += size;
    memset(reader->carry + reader->carry_size, 0, KINETO_GUARD_BYTES);
    return RIDGE_OK;
}

/* -- the array of events ----------------------------------------------------------------------- */

static ridge_status add_events(document_reader *reader, const kineto_events *events,
                               ridge_error *err)
{
    if (events->failed)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    for (size_t i = 0; i < events->count; i++)
        if (reader->sink != NULL)
            reader->sink->event(reader->sink->context, &events->rows[i]);
        else
            kineto_rows_add(reader->rows, &events->rows[i]);
    if (events->skipped_count > 0 && reader->skipped_count == 0)
        reader->first_skipped = reader->offset + events->first_skipped;
    reader->event_count += events->event_count;
    reader->skipped_count += events->skipped_count;
    reader->trace->info.begin_count += events->begin_count;
    reader->has_fraction |= events->has_fraction;
    reader->is_in_event = events->stop == KINETO_STOP_CUT;
    if (events->stop == KINETO_STOP_CLOSED)
        reader->place = reader->is_bare ? DONE : MEMBERS;
    return RIDGE_OK;
}

/* -- the document ------------------------------------------------------------------------------ */

/* The rest of a value that nobody needs, as far as the bytes go. */
static const char *skip_piece(document_reader *reader, const char *at, const char *end)
{
    while (at < end && reader->place == SKIPPING) {
        if (reader->is_escaped) {
            reader->is_escaped = false;
            at++;
        } else if (reader->in_text) {
            at = kineto_find_quote(at, end);
            if (at < end && *at == '"') {
                /* The closing one is told by what follows, as in kineto_text(). */
                const char *const next = kineto_space(at + 1, end);

                if (next == end && end - at < KINETO_LARGEST_BYTES)
                    return at;
                reader->in_text = next < end && memchr(",:}]", *next, 4) == NULL;
                at++;
            } else if (at < end) {
                reader->is_escaped = true;
                at++;
            }
        } else {
            at = kineto_find_bracket(at, end);
            if (at == end)
                break;
            if (*at == '"')
                reader->in_text = true;
            else
                reader->depth += *at == '{' || *at == '[' ? 1 : SIZE_MAX;
            at++;
        }
        if (!reader->in_text && reader->depth == 0)
            reader->place = MEMBERS;
    }
    return at;
}

static ridge_status not_a_trace(const document_reader *reader, const char *at, ridge_error *err)
{
    if (reader->place == BEFORE)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "not a trace: neither an SQLite export of Nsight Systems nor JSON of a "
                          "profiler (the first byte is 0x%02x)",
                          (unsigned)(uint8_t)*at);
    return ridge_fail(err, RIDGE_ERR_FORMAT,
                      "not a trace: the JSON ends or breaks at byte %" PRIu64
                      " without a member traceEvents",
                      reader->offset);
}

/* The member that begins here. *at is moved when it is done, and left when more bytes are wanted. */
static ridge_status read_member(document_reader *reader, const char **at, const char *end,
                                ridge_error *err)
{
    kineto_slice key, value;
    bool is_text, has_escape;
    const bool is_too_large = end - *at > KINETO_LARGEST_BYTES;
    const char *here = kineto_key(*at + 1, end, &key);

    if (here == kineto_bad || (here == kineto_cut && is_too_large)) {
        *at = kineto_bad;
        return RIDGE_OK;
    }
    if (here == kineto_cut || here == end)
        return RIDGE_OK;
    if (kineto_is(key, "rocprofiler-sdk-tool"))
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "JSON of rocprofv3, which is not read: trace with the PyTorch profiler");
    if (kineto_is(key, "traceEvents") && *here == '[') {
        reader->place = EVENTS;
        reader->has_events = true;
        *at = here + 1;
        return RIDGE_OK;
    }
    if ((*here == '{' || *here == '[' || *here == '"') &&
        ((!kineto_rows_wants(key) && reader->sink == NULL) || is_too_large)) {
        reader->place = SKIPPING;
        reader->depth = 0;
        reader->in_text = false;
        *at = here;
        return RIDGE_OK;
    }
    here = kineto_value(here, end, &value, &is_text, &has_escape);
    if (here == kineto_cut && !is_too_large)
        return RIDGE_OK;
    if (here == kineto_cut)
        here = kineto_bad;
    if (here != kineto_bad) {
        if (reader->sink != NULL)
            reader->sink->member(reader->sink->context, key, value, kineto_rows_wants(key));
        kineto_rows_metadata(reader->rows, key, value);
    }
    *at = here;
    return RIDGE_OK;
}

/* A step through what is not events. *at does not move when more bytes are wanted. */
static ridge_status read_document(document_reader *reader, const char **at, const char *end,
                                  ridge_error *err)
{
    const char *here = *at;

    if (reader->place == DONE) {
        *at = end;
        return RIDGE_OK;
    }
    if (reader->place == SKIPPING) {
        *at = skip_piece(reader, here, end);
        return RIDGE_OK;
    }
    if (reader->place == BEFORE && reader->offset == 0 && end - here >= 3 &&
        memcmp(here, "\xef\xbb\xbf", 3) == 0)
        here += 3;
    here = kineto_space(here, end);
    if (here == end || (reader->place == MEMBERS && *here == ',')) {
        *at = here == end ? end : here + 1;
        return RIDGE_OK;
    }
    if (reader->place == BEFORE && (*here == '{' || *here == '[')) {
        reader->is_bare = reader->has_events = *here == '[';
        reader->place = reader->is_bare ? EVENTS : MEMBERS;
        *at = here + 1;
        return RIDGE_OK;
    }
    if (reader->place == MEMBERS && *here == '}') {
        reader->place = DONE;
        *at = here + 1;
        return RIDGE_OK;
    }
    *at = here;
    if (reader->place == MEMBERS && *here == '"') {
        const ridge_status status = read_member(reader, at, end, err);

        if (status != RIDGE_OK || *at != kineto_bad)
            return status;
    }
    if (!reader->has_events)
        return not_a_trace(reader, here, err);
    /* Damaged behind the events, which is what counts. */
    trace_partial(reader->trace, "damaged behind the events, after byte %" PRIu64, reader->offset);
    reader->place = DONE;
    *at = end;
    return RIDGE_OK;
}

/* All that can be read of these bytes; the rest is carried. The bytes may be the carried ones. */
static ridge_status read_bytes(document_reader *reader, const char *bytes, size_t size,
                               bool is_last, ridge_error *err)
{
    const char *at = bytes, *const end = bytes + size;
    ridge_status status = RIDGE_OK;
    size_t left;

    while (at < end) {
        const char *const before = at;
        const document_place place = reader->place;

        if (place == EVENTS) {
            kineto_scan_events(at, (size_t)(end - at), reader->options, is_last, &reader->events);
            status = add_events(reader, &reader->events, err);
            at += reader->events.stop_at;
        } else {
            status = read_document(reader, &at, end, err);
        }
        if (status != RIDGE_OK)
            return status;
        reader->offset += (uint64_t)(at - before);
        if (at == before && place == reader->place)
            break;
    }
    left = (size_t)(end - at);
    if (bytes == reader->carry)
        reader->carry_size = 0;
    return carry(reader, at, left, err);
}

static ridge_status read_block(document_reader *reader, kineto_block *block, ridge_error *err)
{
    ridge_status status;

    if (block->failed)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    if (reader->carry_size > 0) {
        status = carry(reader, block->bytes, block->size, err);
        if (status == RIDGE_OK)
            status = read_bytes(reader, reader->carry, reader->carry_size, block->is_last, err);
        return status;
    }
    /* The block does begin between two events. An event that does not end in the last block is
     * looked into again. */
    if (reader->place == EVENTS && block->is_scanned &&
        !(block->is_last && block->events.stop == KINETO_STOP_CUT)) {
        const size_t stop_at = block->events.stop_at;

        status = add_events(reader, &block->events, err);
        reader->offset += stop_at;
        if (status != RIDGE_OK)
            return status;
        return read_bytes(reader, block->bytes + stop_at, block->size - stop_at, block->is_last,
                          err);
    }
    return read_bytes(reader, block->bytes, block->size, block->is_last, err);
}

/* -- the end ----------------------------------------------------------------------------------- */

/* An array of events need not be closed: the format lets a program write them as they come and end
 * at any time. Whether the text ends behind a whole event, with or without a comma. */
static bool is_whole(const document_reader *reader)
{
    return reader->place == DONE ||
           (reader->place == EVENTS && reader->is_bare && !reader->is_in_event);
}

static void say_what_is_missing(document_reader *reader, const kineto_input *input)
{
    const char *const damage = kineto_input_damage(input);
    const uint64_t at = reader->offset + reader->carry_size;
    char events[32], byte[32];

    ridge_number_text((double)(reader->event_count - reader->skipped_count), RIDGE_UNIT_COUNT,
                      events, sizeof(events));
    ridge_number_text((double)at, RIDGE_UNIT_COUNT, byte, sizeof(byte));
    if (damage != NULL)
        trace_partial(reader->trace, "%s: after %s events, at byte %s of what they unpack to",
                      damage, events, byte);
    else if (!is_whole(reader))
        trace_partial(reader->trace, "cut after %s events, at byte %s", events, byte);
    if (reader->skipped_count > 0) {
        char skipped[32];

        ridge_number_text((double)reader->event_count, RIDGE_UNIT_COUNT, events, sizeof(events));
        ridge_number_text((double)reader->skipped_count, RIDGE_UNIT_COUNT, skipped,
                          sizeof(skipped));
        ridge_number_text((double)reader->first_skipped, RIDGE_UNIT_COUNT, byte, sizeof(byte));
        trace_partial(reader->trace,
                      "%s of %s events are malformed and left out, the first at byte %s", skipped,
                      events, byte);
    }
}

static ridge_status finish(document_reader *reader, const kineto_input *input, ridge_error *err)
{
    ridge_trace_info *const info = &reader->trace->info;

    if (!reader->has_events || (reader->is_bare && reader->event_count == reader->skipped_count))
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          reader->has_events
                              ? "not a trace: an array of JSON without events of a profiler"
                              : "not a trace: JSON without a member traceEvents");
    say_what_is_missing(reader, input);
    kineto_rows_finish(reader->rows);
    info->format = RIDGE_TRACE_KINETO;
    info->event_count = reader->event_count - reader->skipped_count;
    info->skipped_count += reader->skipped_count; /* and rows that the builder left out */
    info->resolution_ns = reader->has_fraction ? 1 : 1000;
    return RIDGE_OK;
}

static ridge_status read_input(ridge_trace *trace, kineto_input *input,
                               const ridge_trace_options *options, const kineto_sink *sink,
                               ridge_error *err)
{
    document_reader reader = {.trace = trace, .options = options, .sink = sink};
    kineto_blocks *blocks = NULL;
    kineto_block *block;
    ridge_status status = kineto_blocks_open(input, options, &blocks, err);

    reader.rows = kineto_rows_create(trace, options);
    if (status == RIDGE_OK && reader.rows == NULL)
        status = ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    while (status == RIDGE_OK && !trace->failed && (block = kineto_blocks_next(blocks)) != NULL)
        status = read_block(&reader, block, err);
    if (status == RIDGE_OK)
        status = finish(&reader, input, err);
    kineto_blocks_free(blocks);
    kineto_rows_free(reader.rows);
    ridge_free(reader.events.rows);
    ridge_free(reader.carry);
    return status;
}

ridge_status kineto_read_file(ridge_trace *trace, const char *path,
                              const ridge_trace_options *options, ridge_error *err)
{
    kineto_input *input;
    ridge_status status = kineto_input_open(path, NULL, 0, &input, err);

    if (status == RIDGE_OK)
        status = read_input(trace, input, options, NULL, err);
    kineto_input_free(input);
    return status;
}

ridge_status kineto_read_bytes(ridge_trace *trace, const void *data, size_t size_bytes,
                               const ridge_trace_options *options, ridge_error *err)
{
    kineto_input *input;
    ridge_status status = kineto_input_open(NULL, data, size_bytes, &input, err);

    if (status == RIDGE_OK)
        status = read_input(trace, input, options, NULL, err);
    kineto_input_free(input);
    return status;
}

ridge_status kineto_walk_file(ridge_trace *trace, const char *path, const kineto_sink *sink,
                              ridge_error *err)
{
    static const ridge_trace_options options = {0};
    kineto_input *input;
    ridge_status status = kineto_input_open(path, NULL, 0, &input, err);

    if (status == RIDGE_OK)
        status = read_input(trace, input, &options, sink, err);
    kineto_input_free(input);
    return status;
}
