/* SPDX-License-Identifier: Apache-2.0
 *
 * A spool file, record by record, into rows. Nothing in it is trusted: a process may have died in
 * the middle of a write. */
#include "collect_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ridge/names.h"

/* CUPTI's kinds of overhead in the numbers of nsys: the higher half of CUPTI's and two, except for
 * what has none there. */
enum { OVERHEAD_UNKNOWN = 1, OVERHEAD_COMPILER = 2, OVERHEAD_FLUSH = 3, OVERHEAD_RESOURCE = 5 };

/* nsys: hardware 0, virtual machine 1, process, thread. */
#define GLOBAL_ID_BASE (INT64_C(1) << 48)

/* -- numbers ----------------------------------------------------------------------------------- */

static int64_t global_pid(const spool_reader *reader)
{
    return GLOBAL_ID_BASE | (reader->pid & 0xffffff) << 24;
}

int64_t spool_thread(const spool_reader *reader, uint32_t thread)
{
    return global_pid(reader) | (int64_t)(thread & 0xffffff);
}

/* A damaged file may hold any number: the difference wraps instead of overflowing. */
int64_t spool_time(const spool_reader *reader, uint64_t time_ns)
{
    return (int64_t)(time_ns - (uint64_t)reader->origin_ns);
}

/* Start and end of work on a GPU. CUPTI writes 0 where it has no time. */
static void work_times(spool_reader *reader, uint64_t start_ns, uint64_t end_ns)
{
    export_file *const file = reader->file;
    const int64_t start = spool_time(reader, start_ns), end = spool_time(reader, end_ns);

    if (start_ns == 0 || end_ns == 0 || end < start) {
        reader->totals->untimed_count++;
        export_int(file, 0);
        export_int(file, 0);
        return;
    }
    if (start < reader->first_ns)
        reader->first_ns = start;
    if (end > reader->last_ns)
        reader->last_ns = end;
    export_int(file, start);
    export_int(file, end);
}

static void times(spool_reader *reader, uint64_t start_ns, uint64_t end_ns)
{
    export_int(reader->file, spool_time(reader, start_ns));
    export_int(reader->file, spool_time(reader, end_ns));
}

static void id_or_null(export_file *file, uint64_t id)
{
    if (id != 0)
        export_int(file, (int64_t)id);
    else
        export_null(file);
}

static void place(spool_reader *reader, uint32_t device, uint32_t context, uint32_t stream,
                  uint32_t correlation)
{
    export_file *const file = reader->file;

    export_int(file, device);
    export_int(file, context);
    export_int(file, stream);
    export_int(file, correlation);
    export_int(file, global_pid(reader));
}

/* -- names ------------------------------------------------------------------------------------- */

void collect_base_name(const char *name, char *buffer, size_t size)
{
    size_t i, depth = 0, begin = 0, end = SIZE_MAX;

    for (i = 0; name[i] != '\0'; i++) {
        if (depth == 0 && name[i] == ':' && name[i + 1] == ':') {
            begin = i + 2;
            end = SIZE_MAX;
            i++;
        } else if (name[i] == '<' || name[i] == '(') {
            if (depth++ == 0 && end == SIZE_MAX && i > begin)
                end = i;
        } else if ((name[i] == '>' || name[i] == ')') && depth > 0) {
            depth--;
        }
    }
    if (end == SIZE_MAX)
        end = i;
    snprintf(buffer, size, "%.*s", (int)(end - begin), name + begin);
}

static spool_name_row *name_at(spool_reader *reader, uint32_t text)
{
    return text > 0 && text <= reader->name_count ? &reader->names[text - 1] : NULL;
}

uint32_t spool_string(spool_reader *reader, uint32_t text)
{
    spool_name_row *const row = name_at(reader, text);

    if (row == NULL)
        return 0;
    if (row->string == 0)
        row->string = export_string(reader->file, (const char *)row->text.data, row->text.size);
    return row->string;
}

/* The whole name by the C++ runtime, else what ridge itself reads of it. */
static void demangle(spool_reader *reader, spool_name_row *row)
{
    enum { NAME_BYTES = 1 << 14 };
    char *const text = ridge_calloc(3, NAME_BYTES);
    char *const mangled = text, *const name = text + NAME_BYTES, *const base = name + NAME_BYTES;
    char *whole = NULL;
    int status = 0;

    if (text == NULL) {
        export_out_of_memory(reader->file);
        return;
    }
    snprintf(mangled, NAME_BYTES, "%.*s", (int)row->text.size, (const char *)row->text.data);
    if (reader->options->demangle != NULL && strncmp(mangled, "_Z", 2) == 0)
        whole = reader->options->demangle(mangled, NULL, NULL, &status);
    ridge_name_short(mangled, name, NAME_BYTES);
    collect_base_name(name, base, NAME_BYTES);
    row->demangled = whole != NULL ? export_string(reader->file, whole, strlen(whole))
                                   : export_string(reader->file, name, strlen(name));
    row->short_name = export_string(reader->file, base, strlen(base));
    free(whole);
    ridge_free(text);
}

/* demangledName, shortName, mangledName. */
static void kernel_names(spool_reader *reader, uint32_t text)
{
    export_file *const file = reader->file;
    spool_name_row *const row = name_at(reader, text);
    const uint32_t mangled = spool_string(reader, text);

    if (row == NULL) {
        const uint32_t unknown = export_string(file, "[unknown]", 9);

        export_int(file, unknown);
        export_int(file, unknown);
        export_null(file);
        return;
    }
    if (row->demangled == 0)
        demangle(reader, row);
    export_int(file, row->demangled);
    export_int(file, row->short_name);
    export_int(file, mangled);
}

/* -- records ----------------------------------------------------------------------------------- */

/* Each gets its structure and the bytes behind it; false: the record contradicts the format. */
typedef bool read_record(spool_reader *reader, const void *data, ridge_slice tail);

static bool grow(void **rows, size_t *capacity, size_t count, size_t size)
{
    const size_t wanted = *capacity > 0 ? *capacity * 2 : 256;
    void *grown;

    if (count < *capacity)
        return true;
    grown = ridge_realloc_array(*rows, wanted, size);
    if (grown == NULL)
        return false;
    *rows = grown;
    *capacity = wanted;
    return true;
}

static bool read_text(spool_reader *reader, const void *data, ridge_slice tail)
{
    const spool_text *const text = data;
    void *rows = reader->names;

    if (text->id != reader->name_count + 1 || tail.size > SPOOL_TEXT_MOST)
        return false;
    if (!grow(&rows, &reader->name_capacity, reader->name_count, sizeof(*reader->names))) {
        export_out_of_memory(reader->file);
        return false;
    }
    reader->names = rows;
    reader->names[reader->name_count++] = (spool_name_row){.text = tail};
    return true;
}

static bool read_kernel(spool_reader *reader, const void *data, ridge_slice tail)
{
    const spool_kernel *const row = data;
    export_file *const file = reader->file;
    size_t i;

    (void)tail;
    export_begin(file, EXPORT_KERNEL);
    work_times(reader, row->start_ns, row->end_ns);
    place(reader, row->device, row->context, row->stream, row->correlation);
    kernel_names(reader, row->name);
    export_int(file, (int64_t)row->launch_type + 1); /* CUPTI: 0 regular; nsys: 1 */
    export_int(file, row->registers);
    for (i = 0; i < 3; i++)
        export_int(file, row->grid[i]);
    for (i = 0; i < 3; i++)
        export_int(file, row->block[i]);
    export_int(file, row->static_shared_bytes);
    export_int(file, row->dynamic_shared_bytes);
    export_int(file, row->local_per_thread_bytes);
    export_int(file, row->local_total_bytes);
    export_int(file, row->grid_id);
    export_int(file, row->shared_executed_bytes);
    id_or_null(file, row->graph_node);
    id_or_null(file, row->graph);
    export_end(file);
    reader->totals->kernel_count++;
    return true;
}

static bool read_copy(spool_reader *reader, const void *data, ridge_slice tail)
{
    const spool_copy *const row = data;
    export_file *const file = reader->file;
    const bool is_peer = row->source_device != UINT32_MAX;

    (void)tail;
    export_begin(file, EXPORT_MEMCPY);
    work_times(reader, row->start_ns, row->end_ns);
    place(reader, row->device, row->context, row->stream, row->correlation);
    export_int(file, (int64_t)row->bytes);
    export_int(file, row->copy);
    /* CUPTI: 1 pageable, 2 pinned, 3 device, 4 array, 5 managed; nsys: one less. */
    if (row->source > 0)
        export_int(file, row->source - 1);
    else
        export_null(file);
    if (row->destination > 0)
        export_int(file, row->destination - 1);
    else
        export_null(file);
    if (is_peer) {
        export_int(file, row->source_device);
        export_int(file, row->destination_device);
    } else {
        export_null(file);
        export_null(file);
    }
    id_or_null(file, row->graph_node);
    export_end(file);
    reader->totals->copy_count++;
    return true;
}

static bool read_set(spool_reader *reader, const void *data, ridge_slice tail)
{
    const spool_set *const row = data;
    export_file *const file = reader->file;

    (void)tail;
    export_begin(file, EXPORT_MEMSET);
    work_times(reader, row->start_ns, row->end_ns);
    place(reader, row->device, row->context, row->stream, row->correlation);
    export_int(file, row->value);
    export_int(file, (int64_t)row->bytes);
    id_or_null(file, row->graph_node);
    if (row->memory > 0)
        export_int(file, (int64_t)row->memory - 1);
    else
        export_null(file);
    export_end(file);
    reader->totals->copy_count++;
    return true;
}

static bool read_call(spool_reader *reader, const void *data, ridge_slice tail)
{
    const spool_call *const row = data;
    export_file *const file = reader->file;
    uint32_t name = spool_string(reader, row->name);

    (void)tail;
    if (name == 0)
        name = export_string(file, "[unknown]", 9);
    export_begin(file, EXPORT_RUNTIME);
    times(reader, row->start_ns, row->end_ns);
    export_int(file, row->is_driver != 0);
    export_int(file, spool_thread(reader, row->thread));
    export_int(file, row->correlation);
    export_int(file, name);
    export_int(file, row->result);
    export_null(file);
    export_end(file);
    reader->totals->call_count++;
    return true;
}

static uint32_t device_of(const spool_reader *reader, uint32_t context)
{
    size_t i;

    for (i = reader->context_count; i > 0; i--)
        if (reader->contexts[i - 1].context == context)
            return reader->contexts[i - 1].device;
    return 0;
}

static bool read_sync(spool_reader *reader, const void *data, ridge_slice tail)
{
    const spool_sync *const row = data;
    export_file *const file = reader->file;

    (void)tail;
    export_begin(file, EXPORT_SYNC);
    times(reader, row->start_ns, row->end_ns);
    place(reader, device_of(reader, row->context), row->context, row->stream, row->correlation);
    export_int(file, row->type);
    export_int(file, row->event);
    export_end(file);
    return true;
}

static int64_t overhead_number(uint32_t overhead)
{
    const uint32_t high = overhead >> 16;

    if (overhead == 1)
        return OVERHEAD_COMPILER;
    if (high >= 1 && high <= 6)
        return (int64_t)high + 2;
    /* Asking for a buffer; the start of unified memory's records. */
    return high == 7 ? OVERHEAD_FLUSH : high == 8 ? OVERHEAD_RESOURCE : OVERHEAD_UNKNOWN;
}

static bool read_overhead(spool_reader *reader, const void *data, ridge_slice tail)
{
    const spool_overhead *const row = data;
    export_file *const file = reader->file;

    (void)tail;
    export_begin(file, EXPORT_OVERHEAD);
    times(reader, row->start_ns, row->end_ns);
    export_int(file, 0);
    if (row->thread != 0)
        export_int(file, spool_thread(reader, row->thread));
    else
        export_null(file);
    export_null(file);
    export_null(file);
    export_int(file, overhead_number(row->overhead));
    export_end(file);
    return true;
}

static bool read_marker(spool_reader *reader, const void *data, ridge_slice tail)
{
    void *rows = reader->markers;

    (void)tail;
    if (!grow(&rows, &reader->marker_capacity, reader->marker_count, sizeof(*reader->markers))) {
        export_out_of_memory(reader->file);
        return false;
    }
    reader->markers = rows;
    reader->markers[reader->marker_count] =
        (marker_row){.marker = *(const spool_marker *)data, .order = reader->marker_count};
    reader->marker_count++;
    return true;
}

static bool read_device(spool_reader *reader, const void *data, ridge_slice tail)
{
    const spool_device *const row = data;
    const spool_name_row *const name = name_at(reader, row->name);
    export_file *const file = reader->file;

    (void)tail;
    export_begin(file, EXPORT_GPU);
    export_int(file, GLOBAL_ID_BASE);
    export_int(file, row->id);
    if (name != NULL)
        export_text(file, (const char *)name->text.data, name->text.size);
    else
        export_null(file);
    export_int(file, row->l2_bytes);
    export_int(file, (int64_t)row->dram_bytes);
    export_int(file, (int64_t)row->dram_bytes_per_s);
    export_int(file, (int64_t)row->clock_hz);
    export_int(file, row->sm_count);
    export_int(file, row->compute_major);
    export_int(file, row->compute_minor);
    export_end(file);
    return true;
}

static bool read_context(spool_reader *reader, const void *data, ridge_slice tail)
{
    const spool_context *const row = data;
    export_file *const file = reader->file;

    (void)tail;
    if (reader->context_count < CONTEXTS_MOST)
        reader->contexts[reader->context_count++] = *row;
    export_begin(file, EXPORT_CONTEXT);
    export_int(file, row->null_stream);
    export_int(file, 0);
    export_int(file, 1);
    export_int(file, reader->pid);
    export_int(file, row->device);
    export_int(file, row->context);
    export_end(file);
    return true;
}

static bool read_name(spool_reader *reader, const void *data, ridge_slice tail)
{
    const spool_name *const row = data;
    export_file *const file = reader->file;
    const uint32_t name = spool_string(reader, row->name);

    (void)tail;
    export_begin(file, EXPORT_THREAD_NAMES);
    export_int(file, name);
    export_null(file);
    export_int(file, spool_thread(reader, row->thread));
    export_end(file);
    return true;
}

static bool read_dropped(spool_reader *reader, const void *data, ridge_slice tail)
{
    const spool_dropped *const row = data;
    uint64_t *const sum = &reader->totals->dropped_count;

    (void)tail;
    *sum = row->count > UINT64_MAX - *sum ? UINT64_MAX : *sum + row->count;
    return true;
}

static bool read_fault(spool_reader *reader, const void *data, ridge_slice tail)
{
    char *const fault = reader->totals->fault;

    (void)data;
    if (fault[0] == '\0')
        snprintf(fault, sizeof(reader->totals->fault), "%.*s", (int)tail.size,
                 tail.data != NULL ? (const char *)tail.data : "");
    return true;
}

static bool read_end(spool_reader *reader, const void *data, ridge_slice tail)
{
    const spool_end *const row = data;
    int64_t *const sum = &reader->totals->handle_ns;

    (void)tail;
    reader->has_ended = true;
    if (row->handle_ns < (uint64_t)(INT64_MAX - *sum))
        *sum += (int64_t)row->handle_ns;
    return true;
}

/* Of each process, which is where launches are counted. */
static bool read_begin(spool_reader *reader, const void *data, ridge_slice tail)
{
    const spool_begin *const row = data;
    char name[48], value[24];

    (void)tail;
    snprintf(name, sizeof(name), "RECORDING_BEGAN:%" PRId64, reader->pid);
    snprintf(value, sizeof(value), "%" PRIu64, row->since_process_ns);
    export_begin(reader->file, EXPORT_META_CAPTURE);
    export_text(reader->file, name, strlen(name));
    export_text(reader->file, value, strlen(value));
    export_end(reader->file);
    return true;
}

static const struct type_row {
    uint32_t size; /* of the structure */
    read_record *read;
} types[] = {
    [SPOOL_TEXT] = {sizeof(spool_text), read_text},
    [SPOOL_KERNEL] = {sizeof(spool_kernel), read_kernel},
    [SPOOL_COPY] = {sizeof(spool_copy), read_copy},
    [SPOOL_SET] = {sizeof(spool_set), read_set},
    [SPOOL_CALL] = {sizeof(spool_call), read_call},
    [SPOOL_SYNC] = {sizeof(spool_sync), read_sync},
    [SPOOL_OVERHEAD] = {sizeof(spool_overhead), read_overhead},
    [SPOOL_MARKER] = {sizeof(spool_marker), read_marker},
    [SPOOL_DEVICE] = {sizeof(spool_device), read_device},
    [SPOOL_CONTEXT] = {sizeof(spool_context), read_context},
    [SPOOL_NAME] = {sizeof(spool_name), read_name},
    [SPOOL_DROPPED] = {sizeof(spool_dropped), read_dropped},
    [SPOOL_FAULT] = {sizeof(spool_fault), read_fault},
    [SPOOL_END] = {sizeof(spool_end), read_end},
    [SPOOL_BEGIN] = {sizeof(spool_begin), read_begin},
};

static bool read_one(spool_reader *reader, ridge_cursor *cursor)
{
    union {
        uint64_t alignment;
        unsigned char bytes[256]; /* the largest structure has half of it */
    } row;
    const uint32_t type = ridge_read_u32(cursor), size = ridge_read_u32(cursor);
    const ridge_slice data = ridge_read_bytes(cursor, size);
    ridge_slice tail;

    if (cursor->failed)
        return false;
    if (type >= sizeof(types) / sizeof(types[0]) || types[type].read == NULL)
        return true;
    if (size < types[type].size)
        return false;
    memcpy(row.bytes, data.data, types[type].size);
    tail.data = data.data + types[type].size;
    tail.size = size - types[type].size;
    return types[type].read(reader, row.bytes, tail);
}

bool spool_read(spool_reader *reader, ridge_slice bytes)
{
    ridge_cursor cursor = ridge_cursor_of(bytes);

    ridge_skip(&cursor, sizeof(spool_header));
    while (!cursor.failed && ridge_cursor_left(&cursor) > 0)
        if (!read_one(reader, &cursor))
            return false;
    return !cursor.failed;
}
