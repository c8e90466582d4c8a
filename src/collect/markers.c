/* SPDX-License-Identifier: Apache-2.0
 *
 * NVTX ranges out of CUPTI's markers, which are starts and ends with one number for both. CUPTI does
 * not tell a range that was pushed from one that was started; nsys does, so a range is called
 * pushed when it ends on its own thread and as the innermost one. */
#include "collect_internal.h"

#include <stdlib.h>

#include "base/hash.h"

enum { MARK = 34, PUSHED = 59, STARTED = 60, DOMAIN_CREATED = 75 }; /* of nsys */

#define NONE UINT32_MAX

/* A range: two rows of the markers. */
struct range {
    uint32_t start, end; /* end NONE: still open */
    bool is_crossed;     /* not the innermost when it ended */
    bool is_done;
};

struct ranges {
    struct range *rows;
    size_t count;
    uint32_t *open;    /* a table of hashes: range + 1 by its marker's id; 0 free */
    size_t open_count; /* a power of two */
};

static int by_time(const void *a, const void *b)
{
    const marker_row *const left = a, *const right = b;

    if (left->marker.time_ns != right->marker.time_ns)
        return left->marker.time_ns < right->marker.time_ns ? -1 : 1;
    return left->order < right->order ? -1 : left->order > right->order;
}

/* -- pairs ------------------------------------------------------------------------------------- */

/* The slot of an id, or the free one where it belongs. Numbers are used once, so ended ranges may
 * stay; a number that comes again takes the slot. */
static uint32_t *slot_of(const struct ranges *ranges, const marker_row *markers, uint32_t id)
{
    size_t at = (size_t)ridge_hash64(&id, sizeof(id)) & (ranges->open_count - 1);

    while (ranges->open[at] != 0 &&
           markers[ranges->rows[ranges->open[at] - 1].start].marker.id != id)
        at = (at + 1) & (ranges->open_count - 1);
    return &ranges->open[at];
}

static void pair(struct ranges *ranges, const marker_row *markers, size_t marker_count)
{
    size_t i;

    for (i = 0; i < marker_count; i++) {
        const spool_marker *const marker = &markers[i].marker;
        uint32_t *const slot = slot_of(ranges, markers, marker->id);

        /* CUPTI_MARKER_START, CUPTI_MARKER_END */
        if ((marker->flags & 2) != 0) {
            ranges->rows[ranges->count] = (struct range){.start = (uint32_t)i, .end = NONE};
            *slot = (uint32_t)++ranges->count;
        } else if ((marker->flags & 4) != 0 && *slot != 0 && ranges->rows[*slot - 1].end == NONE) {
            ranges->rows[*slot - 1].end = (uint32_t)i;
        }
    }
}

/* -- nesting ----------------------------------------------------------------------------------- */

/* An event of a thread: the start or the end of a range. */
struct event {
    uint32_t thread, at, range; /* at: the marker, in order of time */
    bool is_end;
};

static int by_thread(const void *a, const void *b)
{
    const struct event *const left = a, *const right = b;

    if (left->thread != right->thread)
        return left->thread < right->thread ? -1 : 1;
    return left->at < right->at ? -1 : left->at > right->at;
}

/* A stack a thread. A range that ends below the top stays on it, done, until the top is off. */
static bool find_crossed(struct ranges *ranges, const marker_row *markers)
{
    struct event *const events = ridge_calloc(2 * ranges->count + 1, sizeof(*events));
    uint32_t *const stack = ridge_calloc(ranges->count + 1, sizeof(*stack));
    const bool is_done = events != NULL && stack != NULL;
    size_t i, count = 0, depth = 0;

    for (i = 0; is_done && i < ranges->count; i++) {
        struct range *const range = &ranges->rows[i];
        const uint32_t thread = markers[range->start].marker.thread;

        /* One that ends elsewhere, or never, is between nobody's start and end. */
        if (range->end == NONE || markers[range->end].marker.thread != thread) {
            range->is_crossed = range->end != NONE;
            continue;
        }
        events[count++] = (struct event){thread, range->start, (uint32_t)i, false};
        events[count++] = (struct event){thread, range->end, (uint32_t)i, true};
    }
    if (is_done)
        qsort(events, count, sizeof(*events), by_thread);
    for (i = 0; i < count; i++) {
        struct range *const range = &ranges->rows[events[i].range];

        if (i > 0 && events[i].thread != events[i - 1].thread)
            depth = 0;
        if (!events[i].is_end) {
            stack[depth++] = events[i].range;
            continue;
        }
        range->is_done = true;
        range->is_crossed = depth == 0 || stack[depth - 1] != events[i].range;
        while (depth > 0 && ranges->rows[stack[depth - 1]].is_done)
            depth--;
    }
    ridge_free(events);
    ridge_free(stack);
    return is_done;
}

/* -- rows -------------------------------------------------------------------------------------- */

/* Domains are numbered by their name's string; the default one, which has none, is 0. */
static int64_t domain_of(spool_reader *reader, uint32_t text)
{
    return text != 0 ? (int64_t)spool_string(reader, text) : 0;
}

static void write_row(spool_reader *reader, const spool_marker *start, const spool_marker *end,
                      int64_t type)
{
    export_file *const file = reader->file;
    const uint32_t name = spool_string(reader, start->name);
    const int64_t domain = domain_of(reader, start->domain);

    export_begin(file, EXPORT_NVTX);
    export_int(file, spool_time(reader, start->time_ns));
    if (end != NULL)
        export_int(file, spool_time(reader, end->time_ns));
    else
        export_null(file);
    export_int(file, type);
    if (type == STARTED)
        export_int(file, start->id);
    else
        export_null(file);
    export_null(file);
    export_int(file, spool_thread(reader, start->thread));
    if (end != NULL && end->thread != start->thread)
        export_int(file, spool_thread(reader, end->thread));
    else
        export_null(file);
    if (name != 0)
        export_int(file, name);
    else
        export_null(file);
    export_int(file, domain);
    export_end(file);
}

/* Each domain once a process, before its ranges. */
static void write_domains(spool_reader *reader)
{
    bool *const is_seen = ridge_calloc(reader->name_count + 1, sizeof(*is_seen));
    export_file *const file = reader->file;
    size_t i;

    if (is_seen == NULL) {
        export_out_of_memory(file);
        return;
    }
    for (i = 0; i < reader->marker_count; i++) {
        const uint32_t domain = reader->markers[i].marker.domain;
        uint32_t string;

        if (domain == 0 || domain > reader->name_count || is_seen[domain])
            continue;
        is_seen[domain] = true;
        string = spool_string(reader, domain);
        export_begin(file, EXPORT_NVTX);
        export_int(file, 0);
        export_null(file);
        export_int(file, DOMAIN_CREATED);
        export_null(file);
        export_text(file, (const char *)reader->names[domain - 1].text.data,
                    reader->names[domain - 1].text.size);
        export_int(file, spool_thread(reader, 0));
        export_null(file);
        export_int(file, string);
        export_int(file, string);
        export_end(file);
    }
    ridge_free(is_seen);
}

static void write_ranges(spool_reader *reader, const struct ranges *ranges)
{
    const marker_row *const markers = reader->markers;
    size_t i;

    for (i = 0; i < reader->marker_count; i++)
        if ((markers[i].marker.flags & 6) == 0)
            write_row(reader, &markers[i].marker, NULL, MARK);
    for (i = 0; i < ranges->count; i++) {
        const struct range *const range = &ranges->rows[i];

        write_row(reader, &markers[range->start].marker,
                  range->end != NONE ? &markers[range->end].marker : NULL,
                  range->is_crossed ? STARTED : PUSHED);
    }
    reader->totals->range_count += ranges->count;
}

void spool_write_markers(spool_reader *reader)
{
    struct ranges ranges = {.open_count = 16};

    if (reader->marker_count == 0)
        return;
    while (ranges.open_count / 2 < reader->marker_count)
        ranges.open_count *= 2;
    ranges.rows = ridge_calloc(reader->marker_count, sizeof(*ranges.rows));
    ranges.open = ridge_calloc(ranges.open_count, sizeof(*ranges.open));
    if (ranges.rows != NULL && ranges.open != NULL && reader->marker_count < NONE) {
        qsort(reader->markers, reader->marker_count, sizeof(*reader->markers), by_time);
        pair(&ranges, reader->markers, reader->marker_count);
        if (find_crossed(&ranges, reader->markers)) {
            write_domains(reader);
            write_ranges(reader, &ranges);
        } else {
            export_out_of_memory(reader->file);
        }
    } else {
        export_out_of_memory(reader->file);
    }
    ridge_free(ranges.rows);
    ridge_free(ranges.open);
}
