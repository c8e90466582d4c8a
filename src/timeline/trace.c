/* SPDX-License-Identifier: Apache-2.0
 *
 * The trace object: rows, names, and what finds rows again while a reader fills it. */
#include "timeline/trace_build.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"

typedef struct trace_name {
    const char *text;
    size_t length;
    uint64_t hash;
} trace_name;

ridge_trace *trace_create(void)
{
    ridge_trace *const trace = ridge_calloc(1, sizeof(*trace));

    if (trace == NULL)
        return NULL;
    ridge_arena_init(&trace->arena);
    trace->info.producer = trace->info.schema = trace->info.partial = "";
    trace->info.resolution_ns = 1;
    trace->info.rank = trace->info.world_size = -1;
    return trace;
}

void ridge_trace_free(ridge_trace *trace)
{
    if (trace == NULL)
        return;
    trace_array *const arrays[] = {
        &trace->repeats,     &trace->ops,       &trace->apis,      &trace->ranges,
        &trace->waits,       &trace->overheads, &trace->syncs,     &trace->configs,
        &trace->streams,     &trace->devices,   &trace->threads,   &trace->processes,
        &trace->diagnostics, &trace->op_keys,   &trace->sync_keys, &trace->names.texts};
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
        ridge_free(arrays[i]->rows);
    ridge_free(trace->names.slots);
    ridge_free(trace->config_slots);
    ridge_free(trace->thread_slots);
    ridge_free(trace->stream_slots);
    ridge_free(trace->device_slots);
    ridge_free(trace->process_slots);
    ridge_free(trace->device_rows);
    ridge_free(trace->device_firsts);
    ridge_arena_release(&trace->arena);
    ridge_free(trace);
}

/* -- growing ----------------------------------------------------------------------------------- */

/* Room for one more row, not initialised; NULL after a failure. */
static void *grow(ridge_trace *trace, trace_array *array, size_t size)
{
    if (trace->failed)
        return NULL;
    if (array->count == array->capacity) {
        const size_t capacity = array->capacity < 64 ? 64 : array->capacity + array->capacity / 2;
        void *const rows = ridge_realloc_array(array->rows, capacity, size);

        if (rows == NULL || capacity > UINT32_MAX - 1) {
            if (rows != NULL)
                array->rows = rows;
            trace->failed = true;
            return NULL;
        }
        array->rows = rows;
        array->capacity = capacity;
    }
    return (char *)array->rows + array->count++ * size;
}

static void append(ridge_trace *trace, trace_array *array, const void *row, size_t size)
{
    void *const place = grow(trace, array, size);

    if (place != NULL)
        memcpy(place, row, size);
}

/* A table of row + 1 by hash, at most half full. */
typedef uint64_t hash_of_row(const ridge_trace *trace, uint32_t row);

static bool make_room(ridge_trace *trace, uint32_t **slots, size_t *slot_count, size_t rows,
                      hash_of_row *hash_of)
{
    size_t count = *slot_count == 0 ? 256 : *slot_count * 2;
    uint32_t *larger;

    if (rows * 2 < *slot_count)
        return true;
    larger = ridge_calloc(count, sizeof(*larger));
    if (larger == NULL) {
        trace->failed = true;
        return false;
    }
    for (uint32_t row = 0; row < rows; row++) {
        size_t at = hash_of(trace, row) & (count - 1);

        while (larger[at] != 0)
            at = (at + 1) & (count - 1);
        larger[at] = row + 1;
    }
    ridge_free(*slots);
    *slots = larger;
    *slot_count = count;
    return true;
}

/* -- names ------------------------------------------------------------------------------------- */

static uint64_t hash_of_name(const ridge_trace *trace, uint32_t row)
{
    return ((const trace_name *)trace->names.texts.rows)[row].hash;
}

const char *trace_text(ridge_trace *trace, const char *bytes, size_t length)
{
    const char *const text = trace->failed ? NULL : ridge_alloc_text(&trace->arena, bytes, length);

    if (text == NULL)
        trace->failed = true;
    return text != NULL ? text : "";
}

uint32_t trace_intern(ridge_trace *trace, const char *bytes, size_t length)
{
    trace_names *const names = &trace->names;
    const trace_name *rows = names->texts.rows;
    uint64_t hash;
    trace_name added;
    size_t at;

    if (length == 0 || trace->failed)
        return 0;
    if (!make_room(trace, &names->slots, &names->slot_count, names->texts.count, hash_of_name))
        return 0;
    hash = ridge_hash64(bytes, length);
    for (at = hash & (names->slot_count - 1); names->slots[at] != 0;
         at = (at + 1) & (names->slot_count - 1)) {
        const trace_name *const name = &rows[names->slots[at] - 1];

        if (name->hash == hash && name->length == length && memcmp(name->text, bytes, length) == 0)
            return names->slots[at];
    }
    added = (trace_name){trace_text(trace, bytes, length), length, hash};
    append(trace, &names->texts, &added, sizeof(added));
    if (trace->failed)
        return 0;
    return names->slots[at] = (uint32_t)names->texts.count;
}

const char *ridge_trace_name(const ridge_trace *trace, uint32_t name, size_t *length)
{
    const bool is_known = name > 0 && name <= trace->names.texts.count;
    const trace_name *const rows = trace->names.texts.rows;

    if (length != NULL)
        *length = is_known ? rows[name - 1].length : 0;
    return is_known ? rows[name - 1].text : "";
}

size_t ridge_trace_name_count(const ridge_trace *trace)
{
    return trace->names.texts.count;
}

/* -- rows that others refer to ----------------------------------------------------------------- */

static uint64_t hash_of_process(const ridge_trace *trace, uint32_t row)
{
    return ridge_hash64(&((const ridge_trace_process *)trace->processes.rows)[row].id,
                        sizeof(int64_t));
}

uint32_t trace_process(ridge_trace *trace, int64_t id)
{
    const ridge_trace_process *const rows = trace->processes.rows;
    const ridge_trace_process added = {id};
    size_t at;

    if (trace->failed || !make_room(trace, &trace->process_slots, &trace->process_slot_count,
                                    trace->processes.count, hash_of_process))
        return 0;
    for (at = ridge_hash64(&id, sizeof(id)) & (trace->process_slot_count - 1);
         trace->process_slots[at] != 0; at = (at + 1) & (trace->process_slot_count - 1))
        if (rows[trace->process_slots[at] - 1].id == id)
            return trace->process_slots[at] - 1;
    append(trace, &trace->processes, &added, sizeof(added));
    if (trace->failed)
        return 0;
    trace->process_slots[at] = (uint32_t)trace->processes.count;
    return (uint32_t)trace->processes.count - 1;
}

static uint64_t hash_of_thread(const ridge_trace *trace, uint32_t row)
{
    const ridge_trace_thread *const thread = (const ridge_trace_thread *)trace->threads.rows + row;
    const int64_t key[3] = {thread->process, thread->id, thread->id == -1 ? thread->name : 0};

    return ridge_hash64(key, sizeof(key));
}

uint32_t trace_thread(ridge_trace *trace, uint32_t process, int64_t id, uint32_t name)
{
    const int64_t key[3] = {process, id, id == -1 ? name : 0};
    ridge_trace_thread *rows = trace->threads.rows;
    ridge_trace_thread added = {.process = process, .id = id, .name = name};
    size_t at;

    if (trace->failed || !make_room(trace, &trace->thread_slots, &trace->thread_slot_count,
                                    trace->threads.count, hash_of_thread))
        return 0;
    for (at = ridge_hash64(key, sizeof(key)) & (trace->thread_slot_count - 1);
         trace->thread_slots[at] != 0; at = (at + 1) & (trace->thread_slot_count - 1)) {
        ridge_trace_thread *const thread = &rows[trace->thread_slots[at] - 1];

        if (thread->process == process && thread->id == id && (id != -1 || thread->name == name)) {
            if (name != 0)
                thread->name = name;
            return trace->thread_slots[at] - 1;
        }
    }
    append(trace, &trace->threads, &added, sizeof(added));
    if (trace->failed)
        return 0;
    trace->thread_slots[at] = (uint32_t)trace->threads.count;
    return (uint32_t)trace->threads.count - 1;
}

static uint64_t hash_of_device(const ridge_trace *trace, uint32_t row)
{
    return ridge_hash64(&((const ridge_trace_device *)trace->devices.rows)[row].id,
                        sizeof(int64_t));
}

uint32_t trace_device(ridge_trace *trace, int64_t id)
{
    const ridge_trace_device *const rows = trace->devices.rows;
    const ridge_trace_device added = {
        .id = id, .name = "", .dram_bytes_per_s = NAN, .clock_hz = NAN};
    size_t at;

    if (trace->failed || !make_room(trace, &trace->device_slots, &trace->device_slot_count,
                                    trace->devices.count, hash_of_device))
        return 0;
    for (at = ridge_hash64(&id, sizeof(id)) & (trace->device_slot_count - 1);
         trace->device_slots[at] != 0; at = (at + 1) & (trace->device_slot_count - 1))
        if (rows[trace->device_slots[at] - 1].id == id)
            return trace->device_slots[at] - 1;
    if (trace->devices.count == TRACE_DEVICES_MOST) {
        trace_partial(trace, "more than %d devices: those beyond count as one", TRACE_DEVICES_MOST);
        return TRACE_DEVICES_MOST - 1;
    }
    append(trace, &trace->devices, &added, sizeof(added));
    if (trace->failed)
        return 0;
    trace->device_slots[at] = (uint32_t)trace->devices.count;
    return (uint32_t)trace->devices.count - 1;
}

ridge_trace_device *trace_device_at(ridge_trace *trace, uint32_t device)
{
    return (ridge_trace_device *)trace->devices.rows + device;
}

static uint64_t hash_of_stream(const ridge_trace *trace, uint32_t row)
{
    const ridge_trace_stream *const stream = (const ridge_trace_stream *)trace->streams.rows + row;
    const int64_t key[4] = {stream->device, stream->process, stream->context, stream->id};

    return ridge_hash64(key, sizeof(key));
}

uint32_t trace_stream(ridge_trace *trace, uint32_t device, uint32_t process, uint32_t context,
                      int64_t id)
{
    const int64_t key[4] = {device, process, context, id};
    const ridge_trace_stream *rows = trace->streams.rows;
    const ridge_trace_stream added = {device, process, context, id, false};
    size_t at;

    if (trace->failed || !make_room(trace, &trace->stream_slots, &trace->stream_slot_count,
                                    trace->streams.count, hash_of_stream))
        return 0;
    for (at = ridge_hash64(key, sizeof(key)) & (trace->stream_slot_count - 1);
         trace->stream_slots[at] != 0; at = (at + 1) & (trace->stream_slot_count - 1)) {
        const ridge_trace_stream *const stream = &rows[trace->stream_slots[at] - 1];

        if (stream->device == device && stream->process == process && stream->context == context &&
            stream->id == id)
            return trace->stream_slots[at] - 1;
    }
    append(trace, &trace->streams, &added, sizeof(added));
    if (trace->failed)
        return 0;
    trace->stream_slots[at] = (uint32_t)trace->streams.count;
    return (uint32_t)trace->streams.count - 1;
}

ridge_trace_stream *trace_stream_at(ridge_trace *trace, uint32_t stream)
{
    return (ridge_trace_stream *)trace->streams.rows + stream;
}

static uint64_t hash_of_config(const ridge_trace *trace, uint32_t row)
{
    return ridge_hash64((const ridge_trace_config *)trace->configs.rows + row,
                        sizeof(ridge_trace_config));
}

uint32_t trace_config(ridge_trace *trace, const ridge_trace_config *config)
{
    const ridge_trace_config *rows = trace->configs.rows;
    size_t at;

    if (trace->failed || !make_room(trace, &trace->config_slots, &trace->config_slot_count,
                                    trace->configs.count, hash_of_config))
        return RIDGE_TRACE_NONE;
    for (at = ridge_hash64(config, sizeof(*config)) & (trace->config_slot_count - 1);
         trace->config_slots[at] != 0; at = (at + 1) & (trace->config_slot_count - 1))
        if (memcmp(&rows[trace->config_slots[at] - 1], config, sizeof(*config)) == 0)
            return trace->config_slots[at] - 1;
    append(trace, &trace->configs, config, sizeof(*config));
    if (trace->failed)
        return RIDGE_TRACE_NONE;
    trace->config_slots[at] = (uint32_t)trace->configs.count;
    return (uint32_t)trace->configs.count - 1;
}

/* -- rows -------------------------------------------------------------------------------------- */

/* Beyond +-2^62 ns (146 years) no clock counts, and a difference would overflow. What is left may be
 * subtracted and added to without a thought. */
static bool is_time(int64_t time_ns)
{
    const int64_t most_ns = (int64_t)1 << 62;

    return time_ns > -most_ns && time_ns < most_ns;
}

/* False: the row is left out. An end before the start becomes the start. */
static bool take_times(ridge_trace *trace, int64_t start_ns, int64_t *end_ns)
{
    trace->info.event_count++;
    if (!is_time(start_ns) || !is_time(*end_ns)) {
        trace->info.skipped_count++;
        return false;
    }
    if (*end_ns < start_ns)
        *end_ns = start_ns;
    return true;
}

void trace_add_op(ridge_trace *trace, const ridge_trace_op *op, trace_key key)
{
    trace->info.event_count++;
    if (op->end_ns < op->start_ns || (op->start_ns == 0 && op->end_ns == 0) ||
        !is_time(op->start_ns) || !is_time(op->end_ns)) {
        trace->info.inverted_count++;
        return;
    }
    trace->info.instant_count += op->end_ns == op->start_ns;
    append(trace, &trace->ops, op, sizeof(*op));
    append(trace, &trace->op_keys, &key, sizeof(key));
}

void trace_add_api(ridge_trace *trace, const ridge_trace_api *api, uint64_t correlation)
{
    trace_call added = {*api, correlation};

    if (!take_times(trace, added.row.start_ns, &added.row.end_ns))
        return;
    append(trace, &trace->apis, &added, sizeof(added));
}

void trace_add_repeat(ridge_trace *trace, const ridge_trace_api *api, uint64_t correlation)
{
    trace_call added = {*api, correlation};

    trace->info.repeated_count++;
    if (!is_time(added.row.start_ns) || !is_time(added.row.end_ns))
        return;
    if (added.row.end_ns < added.row.start_ns)
        added.row.end_ns = added.row.start_ns;
    append(trace, &trace->repeats, &added, sizeof(added));
}

void trace_add_range(ridge_trace *trace, const ridge_trace_range *range)
{
    ridge_trace_range added = *range;

    if ((added.flags & RIDGE_RANGE_OPEN) != 0)
        added.end_ns = added.start_ns;
    if (!take_times(trace, added.start_ns, &added.end_ns))
        return;
    append(trace, &trace->ranges, &added, sizeof(added));
}

void trace_add_wait(ridge_trace *trace, const ridge_trace_wait *wait)
{
    ridge_trace_wait added = *wait;

    if (!take_times(trace, added.start_ns, &added.end_ns))
        return;
    append(trace, &trace->waits, &added, sizeof(added));
}

void trace_add_overhead(ridge_trace *trace, const ridge_trace_overhead *overhead)
{
    ridge_trace_overhead added = *overhead;

    if (!take_times(trace, added.start_ns, &added.end_ns))
        return;
    append(trace, &trace->overheads, &added, sizeof(added));
}

void trace_add_sync(ridge_trace *trace, const ridge_trace_sync *sync, trace_key key)
{
    ridge_trace_sync added = *sync;

    if (!take_times(trace, added.start_ns, &added.end_ns))
        return;
    append(trace, &trace->syncs, &added, sizeof(added));
    append(trace, &trace->sync_keys, &key, sizeof(key));
}

void trace_add_diagnostic(ridge_trace *trace, int severity, const char *text, size_t length)
{
    const ridge_trace_diagnostic added = {severity, trace_text(trace, text, length)};

    append(trace, &trace->diagnostics, &added, sizeof(added));
}

void trace_partial(ridge_trace *trace, const char *format, ...)
{
    char text[400];
    va_list arguments;

    if (trace->info.is_partial)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    trace->info.is_partial = true;
    trace->info.partial = trace_text(trace, text, strlen(text));
}

/* -- reading ----------------------------------------------------------------------------------- */

const ridge_trace_info *ridge_trace_get_info(const ridge_trace *trace)
{
    return &trace->info;
}

/* X(function, row, array) */
#define ROWS(X)                                                                                    \
    X(ridge_trace_ops, ridge_trace_op, ops)                                                        \
    X(ridge_trace_apis, ridge_trace_api, apis)                                                     \
    X(ridge_trace_repeats, ridge_trace_api, repeats)                                               \
    X(ridge_trace_ranges, ridge_trace_range, ranges)                                               \
    X(ridge_trace_waits, ridge_trace_wait, waits)                                                  \
    X(ridge_trace_overheads, ridge_trace_overhead, overheads)                                      \
    X(ridge_trace_syncs, ridge_trace_sync, syncs)                                                  \
    X(ridge_trace_configs, ridge_trace_config, configs)                                            \
    X(ridge_trace_streams, ridge_trace_stream, streams)                                            \
    X(ridge_trace_devices, ridge_trace_device, devices)                                            \
    X(ridge_trace_threads, ridge_trace_thread, threads)                                            \
    X(ridge_trace_processes, ridge_trace_process, processes)                                       \
    X(ridge_trace_diagnostics, ridge_trace_diagnostic, diagnostics)

#define ACCESSOR(function, row, array)                                                             \
    const row *function(const ridge_trace *trace, size_t *count)                                   \
    {                                                                                              \
        *count = trace->array.count;                                                               \
        return trace->array.rows;                                                                  \
    }
ROWS(ACCESSOR)

const char *ridge_copy_name(unsigned copy)
{
    switch (copy) {
#define NAME(name, number, text)                                                                   \
    case RIDGE_COPY_##name:                                                                        \
        return text;
        RIDGE_COPY_LIST(NAME)
#undef NAME
    default:
        return "unknown";
    }
}

const char *ridge_memory_place_name(unsigned place)
{
    static const char *const names[] = {"unknown", "pageable", "pinned",
                                        "device",  "array",    "managed"};

    return place < sizeof(names) / sizeof(names[0]) ? names[place] : "unknown";
}

const char *ridge_overhead_name(unsigned kind)
{
    static const char *const names[] = {
#define NAME(name, text) text,
        RIDGE_OVERHEAD_LIST(NAME)
#undef NAME
    };

    return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "other";
}

const char *ridge_trace_format_name(ridge_trace_format format)
{
    switch (format) {
    case RIDGE_TRACE_NSYS:
        return "nsys SQLite";
    case RIDGE_TRACE_KINETO:
        return "Kineto JSON";
    case RIDGE_TRACE_RECORD:
        return "ridge record";
    }
    return "unknown";
}
