/* SPDX-License-Identifier: Apache-2.0
 *
 * What rows refer to: strings, processes, threads, streams, by a table of hashes. */
#include <string.h>

#include "base/hash.h"
#include "timeline/nsys/nsys_internal.h"

enum {
    /* No machine runs more of them; a file that claims so wants to be slow. */
    MOST_PROCESSES = 1 << 15,
    MOST_DEVICES = 1 << 10,
};

/* -- the table --------------------------------------------------------------------------------- */

static size_t slot_of(const nsys_map *map, nsys_key key)
{
    const size_t mask = map->slot_count - 1;
    size_t at = ridge_hash64(&key, sizeof(key)) & mask;

    while (map->entries[at].is_used && memcmp(&map->entries[at].key, &key, sizeof(key)) != 0)
        at = (at + 1) & mask;
    return at;
}

const uint32_t *nsys_map_find(const nsys_map *map, nsys_key key)
{
    const nsys_entry *entry;

    if (map->count == 0)
        return NULL;
    entry = &map->entries[slot_of(map, key)];
    return entry->is_used ? &entry->value : NULL;
}

static bool grow(nsys_map *map)
{
    nsys_map larger = {.slot_count = map->slot_count == 0 ? 64 : map->slot_count * 2,
                       .count = map->count};

    if (map->count * 2 < map->slot_count)
        return true;
    larger.entries = ridge_calloc(larger.slot_count, sizeof(*larger.entries));
    if (larger.entries == NULL)
        return false;
    for (size_t i = 0; i < map->slot_count; i++)
        if (map->entries[i].is_used)
            larger.entries[slot_of(&larger, map->entries[i].key)] = map->entries[i];
    ridge_free(map->entries);
    *map = larger;
    return true;
}

bool nsys_map_add(nsys_map *map, nsys_key key, uint32_t value)
{
    nsys_entry *entry;

    if (!grow(map))
        return false;
    entry = &map->entries[slot_of(map, key)];
    if (!entry->is_used) {
        *entry = (nsys_entry){key, value, true};
        map->count++;
    }
    return true;
}

void nsys_map_release(nsys_map *map)
{
    ridge_free(map->entries);
    *map = (nsys_map){0};
}

/* Remembers a row that was just made. */
static void remember(nsys_reader *reader, nsys_map *map, nsys_key key, uint32_t value)
{
    if (!nsys_map_add(map, key, value))
        reader->trace->failed = true;
}

/* -- strings ----------------------------------------------------------------------------------- */

static void append_string(nsys_reader *reader, int64_t id, int64_t rowid)
{
    if (reader->string_count == reader->string_capacity) {
        const size_t capacity = reader->string_capacity == 0 ? 256 : reader->string_capacity * 2;
        nsys_string *const rows = ridge_realloc_array(reader->string_rows, capacity, sizeof(*rows));

        if (rows == NULL) {
            reader->trace->failed = true;
            return;
        }
        reader->string_rows = rows;
        reader->string_capacity = capacity;
    }
    reader->string_rows[reader->string_count] = (nsys_string){.id = id, .rowid = rowid};
    remember(reader, &reader->strings, (nsys_key){{id}}, (uint32_t)reader->string_count);
    reader->string_count++;
}

static void add_string(nsys_reader *reader, const nsys_row *row)
{
    append_string(reader, row->values[0], row->rowid);
}

void nsys_read_strings(nsys_reader *reader)
{
    static const nsys_table table = {"StringIds", {"id"}, 1, 0, add_string};

    nsys_scan(reader, &table);
    if (reader->string_count > 0 &&
        sqlite3_prepare_v2(reader->database.handle,
                           "SELECT \"value\" FROM \"StringIds\" WHERE rowid = ?", -1,
                           &reader->string_text, NULL) != SQLITE_OK)
        trace_partial(reader->trace, "table StringIds: %s",
                      sqlite3_errmsg(reader->database.handle));
}

static uint32_t look_up_string(nsys_reader *reader, int64_t id)
{
    const uint32_t *const index = nsys_map_find(&reader->strings, (nsys_key){{id}});
    nsys_string *string;
    const char *text;
    size_t length;

    if (index == NULL || reader->string_text == NULL)
        return 0;
    string = &reader->string_rows[*index];
    if (!string->is_read &&
        nsys_text_at(reader, reader->string_text, string->rowid, &text, &length))
        string->name = trace_intern(reader->trace, text, length);
    string->is_read = true;
    return string->name;
}

uint32_t nsys_string_name(nsys_reader *reader, int64_t id)
{
    nsys_recent *const recent = &reader->recent[(uint64_t)id % NSYS_RECENT];

    /* Each row names some, and most rows name the same. */
    if (!recent->is_used || recent->id != id)
        *recent = (nsys_recent){id, look_up_string(reader, id), true};
    return recent->name;
}

uint32_t nsys_string_number(nsys_reader *reader, int64_t id)
{
    nsys_recent *const recent = &reader->recent[(uint64_t)id % NSYS_RECENT];
    const uint32_t *known;

    if (recent->is_used && recent->id == id)
        return recent->name;
    known = nsys_map_find(&reader->strings, (nsys_key){{id}});
    *recent = (nsys_recent){id, known != NULL ? *known : (uint32_t)reader->string_count, true};
    if (known == NULL)
        append_string(reader, id, 0);
    return recent->name;
}

/* -- processes, threads, devices, streams ------------------------------------------------------- */

bool nsys_process(nsys_reader *reader, int64_t global, uint32_t *process)
{
    const nsys_key key = {{nsys_pid_of(global)}};
    const uint32_t *const known = nsys_map_find(&reader->processes, key);

    if (known != NULL) {
        *process = *known;
        return true;
    }
    if (reader->processes.count >= MOST_PROCESSES)
        return false;
    *process = trace_process(reader->trace, key.part[0]);
    remember(reader, &reader->processes, key, *process);
    return true;
}

uint32_t nsys_known_thread(const nsys_reader *reader, int64_t global_tid)
{
    const nsys_key key = {{nsys_pid_of(global_tid), nsys_tid_of(global_tid)}};
    const uint32_t *const known = nsys_map_find(&reader->threads, key);

    return known != NULL ? *known : RIDGE_TRACE_NONE;
}

bool nsys_thread(nsys_reader *reader, int64_t global_tid, uint32_t *thread)
{
    const nsys_key key = {{nsys_pid_of(global_tid), nsys_tid_of(global_tid)}};
    uint32_t process;

    *thread = nsys_known_thread(reader, global_tid);
    if (*thread != RIDGE_TRACE_NONE)
        return true;
    if (!nsys_process(reader, global_tid, &process))
        return false;
    *thread = trace_thread(reader->trace, process, key.part[1], 0);
    remember(reader, &reader->threads, key, *thread);
    return true;
}

/* What the trace calls the device: the program's number, or the GPU's own where programs count
 * differently. */
static int64_t number_of_device(const nsys_reader *reader, int64_t pid, int64_t device_id)
{
    const uint32_t *const gpu =
        reader->devices_differ ? nsys_map_find(&reader->gpus, (nsys_key){{pid, device_id}}) : NULL;

    return gpu != NULL ? *gpu : device_id;
}

bool nsys_known_device(const nsys_reader *reader, int64_t pid, int64_t device_id, uint32_t *device)
{
    const int64_t number = number_of_device(reader, pid, device_id);
    const ridge_trace_device *const devices = reader->trace->devices.rows;

    for (size_t i = 0; i < reader->trace->devices.count; i++)
        if (devices[i].id == number) {
            *device = (uint32_t)i;
            return true;
        }
    return false;
}

bool nsys_device(nsys_reader *reader, int64_t pid, int64_t device_id, uint32_t *device)
{
    if (nsys_known_device(reader, pid, device_id, device))
        return true;
    if (device_id < 0 || reader->trace->devices.count >= MOST_DEVICES)
        return false;
    *device = trace_device(reader->trace, number_of_device(reader, pid, device_id));
    return true;
}

static nsys_key key_of_stream(uint32_t device, uint32_t process, int64_t context, int64_t id)
{
    return (nsys_key){{(int64_t)((uint64_t)process << 32 | device), context, id}};
}

uint32_t nsys_known_stream(const nsys_reader *reader, uint32_t device, uint32_t process,
                           int64_t context, int64_t id)
{
    const uint32_t *const known =
        nsys_map_find(&reader->streams, key_of_stream(device, process, context, id));

    return known != NULL ? *known : RIDGE_TRACE_NONE;
}

bool nsys_stream(nsys_reader *reader, uint32_t device, uint32_t process, int64_t context,
                 int64_t id, uint32_t *stream)
{
    *stream = nsys_known_stream(reader, device, process, context, id);
    if (*stream != RIDGE_TRACE_NONE)
        return true;
    if (context < 0 || context > UINT32_MAX)
        return false;
    *stream = trace_stream(reader->trace, device, process, (uint32_t)context, id);
    remember(reader, &reader->streams, key_of_stream(device, process, context, id), *stream);
    return true;
}

bool nsys_find_place(nsys_reader *reader, nsys_place *place)
{
    const uint64_t mixed = (uint64_t)place->id + 8 * (uint64_t)place->device +
                           (uint64_t)place->context + ((uint64_t)place->global >> 24);
    nsys_place *const recent = &reader->places[mixed % NSYS_RECENT_STREAMS];
    uint32_t device;

    /* A trace has few, and each row names one. */
    if (!recent->is_used || recent->id != place->id || recent->device != place->device ||
        recent->context != place->context || recent->global != place->global) {
        if (!nsys_process(reader, place->global, &place->process) ||
            !nsys_device(reader, nsys_pid_of(place->global), place->device, &device) ||
            !nsys_stream(reader, device, place->process, place->context, place->id, &place->stream))
            return false;
        *recent = *place;
        recent->is_used = true;
    }
    place->process = recent->process;
    place->stream = recent->stream;
    return true;
}
