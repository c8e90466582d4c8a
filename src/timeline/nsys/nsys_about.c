/* SPDX-License-Identifier: Apache-2.0
 *
 * What the file tells about itself: versions, how it was captured, the command, the GPUs, what the
 * tool complained about.
 *
 * META_DATA_CAPTURE also holds the environment, names of users and hosts: of its rows the keys are
 * read, and then the values of the keys below, no others. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"
#include "timeline/nsys/nsys_internal.h"

/* -- keys and values --------------------------------------------------------------------------- */

enum { MOST_ARGUMENTS = 1 << 16 };

typedef enum wanted_key {
    KEY_PRODUCT,
    KEY_VERSION,
    KEY_SCHEMA,
    KEY_GRAPH_MODE,
    KEY_SKIPS,
    KEY_BEGAN, /* with the number of a process */
    KEY_COMMAND,
    KEY_ARGUMENT /* with its number */
} wanted_key;

static const struct {
    const char *text;
    wanted_key key;
} keys[] = {
    {"EXPORT_PRODUCT_NAME", KEY_PRODUCT},
    {"EXPORT_PRODUCT_VERSION", KEY_VERSION},
    {"EXPORT_SCHEMA_VERSION", KEY_SCHEMA},
    {"CUDA_GRAPH_TRACE_OPTIONS:MODE", KEY_GRAPH_MODE},
    {"PROCESS_0:CUDA_GRAPH_TRACE_OPTIONS:MODE", KEY_GRAPH_MODE},
    {"CUDA_SKIP_SOME_API_CALLS", KEY_SKIPS},
    {"PROCESS_0:CUDA_SKIP_SOME_API_CALLS", KEY_SKIPS},
    {"PROCESS_0:COMMAND", KEY_COMMAND},
};

typedef struct key_row {
    int64_t rowid;
    uint32_t number; /* of an argument */
    wanted_key key;
} key_row;

static void add_key(nsys_reader *reader, wanted_key key, uint32_t number, int64_t rowid)
{
    trace_array *const rows = &reader->keys;

    if (rows->count >= MOST_ARGUMENTS)
        return;
    if (rows->count == rows->capacity) {
        const size_t capacity = rows->capacity == 0 ? 64 : rows->capacity * 2;
        void *const larger = ridge_realloc_array(rows->rows, capacity, sizeof(key_row));

        if (larger == NULL) {
            reader->trace->failed = true;
            return;
        }
        rows->rows = larger;
        rows->capacity = capacity;
    }
    ((key_row *)rows->rows)[rows->count++] = (key_row){rowid, number, key};
}

static void look_at_key(nsys_reader *reader, const nsys_row *row)
{
    static const char argument[] = "PROCESS_0:ARGUMENT_", began[] = "RECORDING_BEGAN:";
    size_t length;
    const char *const text = nsys_row_text(reader, row, 0, &length);

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (strcmp(text, keys[i].text) == 0) {
            add_key(reader, keys[i].key, 0, row->rowid);
            return;
        }
    if (strncmp(text, began, sizeof(began) - 1) == 0)
        add_key(reader, KEY_BEGAN, 0, row->rowid);
    if (strncmp(text, argument, sizeof(argument) - 1) == 0) {
        const char *const digits = text + sizeof(argument) - 1;
        const size_t count = strspn(digits, "0123456789");

        if (count > 0 && count < 6 && digits[count] == '\0')
            add_key(reader, KEY_ARGUMENT, (uint32_t)strtoul(digits, NULL, 10), row->rowid);
    }
}

static int order_key(const void *left, const void *right)
{
    const key_row *const a = left, *const b = right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return (a->rowid > b->rowid) - (a->rowid < b->rowid);
}

typedef struct versions {
    const char *product, *version;
    const char **command; /* of the arena, MOST_ARGUMENTS at most */
} versions;

static bool is_text(const char *text, size_t length, const char *other)
{
    return strlen(other) == length && memcmp(text, other, length) == 0;
}

static void take_value(nsys_reader *reader, versions *found, const key_row *row, const char *text,
                       size_t length)
{
    ridge_trace_info *const info = &reader->trace->info;

    switch (row->key) {
    case KEY_PRODUCT:
        found->product = trace_text(reader->trace, text, length);
        return;
    case KEY_VERSION:
        found->version = trace_text(reader->trace, text, length);
        return;
    case KEY_SCHEMA:
        info->schema = trace_text(reader->trace, text, length);
        return;
    case KEY_GRAPH_MODE:
        if (is_text(text, length, "Graph"))
            info->graph_mode = RIDGE_GRAPH_MODE_GRAPH;
        else if (is_text(text, length, "Node"))
            info->graph_mode = RIDGE_GRAPH_MODE_NODE;
        return;
    case KEY_SKIPS:
        info->skips_cheap_calls |= is_text(text, length, "true");
        return;
    case KEY_BEGAN: /* only where a recording was delayed */
        info->is_delayed = true;
        return;
    case KEY_COMMAND:
    case KEY_ARGUMENT: /* sorted: the command comes first */
        if (info->command_count == 0 && row->key == KEY_ARGUMENT)
            return;
        found->command[info->command_count++] = trace_text(reader->trace, text, length);
        return;
    }
}

static void read_values(nsys_reader *reader, const char *table, versions *found)
{
    key_row *const rows = reader->keys.rows;
    const size_t count = reader->keys.count;
    sqlite3_stmt *statement = NULL;
    ridge_text sql;

    if (count == 0 || reader->trace->failed)
        return;
    qsort(rows, count, sizeof(*rows), order_key);
    /* Anew for each table: the rows of the last one were fewer. */
    found->command = ridge_alloc_array(&reader->trace->arena, count, sizeof(*found->command));
    reader->trace->info.command_count = 0;
    ridge_text_init(&sql);
    ridge_text_format(&sql, "SELECT \"value\" FROM \"%s\" WHERE rowid = ?", table);
    if (found->command == NULL || sql.failed)
        reader->trace->failed = true;
    else if (sqlite3_prepare_v2(reader->database.handle, sql.data, -1, &statement, NULL) ==
             SQLITE_OK)
        for (size_t i = 0; i < count; i++) {
            const char *text;
            size_t length;

            if (nsys_text_at(reader, statement, rows[i].rowid, &text, &length))
                take_value(reader, found, &rows[i], text, length);
        }
    sqlite3_finalize(statement);
    ridge_text_release(&sql);
    reader->trace->info.command = found->command;
}

static void name_producer(nsys_reader *reader, const versions *found)
{
    static const char maker[] = "NVIDIA ";
    ridge_trace_info *const info = &reader->trace->info;
    const char *product = found->product != NULL ? found->product : "Nsight Systems";
    ridge_text text;

    info->format = strcmp(product, "ridge") == 0 ? RIDGE_TRACE_RECORD : RIDGE_TRACE_NSYS;
    if (strncmp(product, maker, sizeof(maker) - 1) == 0)
        product += sizeof(maker) - 1;
    ridge_text_init(&text);
    ridge_text_add(&text, product);
    if (found->version != NULL && found->version[0] != '\0')
        ridge_text_format(&text, " %s", found->version);
    reader->trace->failed = reader->trace->failed || text.failed;
    info->producer = trace_text(reader->trace, text.data, text.length);
    ridge_text_release(&text);
}

static void add_start_time(nsys_reader *reader, const nsys_row *row)
{
    if (nsys_is_time(row->values[0]))
        reader->trace->info.base_ns = row->values[0];
}

/* -- complaints -------------------------------------------------------------------------------- */

static bool ends_path(char c)
{
    return isspace((unsigned char)c) || strchr("\"'`,;()<>|", c) != NULL;
}

/* The length of the path that begins here; 0: none does. */
static size_t path_length(const char *text, size_t at, size_t length)
{
    const bool is_start =
        at == 0 || ends_path(text[at - 1]) || strchr("=:[{", text[at - 1]) != NULL;
    const bool is_drive = at + 2 < length && isalpha((unsigned char)text[at]) &&
                          text[at + 1] == ':' && (text[at + 2] == '\\' || text[at + 2] == '/');
    size_t end = at;

    if (!is_start || !(text[at] == '/' || text[at] == '\\' || text[at] == '~' || is_drive))
        return 0;
    while (end < length && !ends_path(text[end]))
        end++;
    return end - at;
}

/* The text with base names for paths. */
static void add_without_directories(ridge_text *out, const char *text, size_t length)
{
    size_t at = 0;

    while (at < length) {
        const size_t path = path_length(text, at, length);
        size_t base = at + path;

        if (path == 0) {
            ridge_text_add_bytes(out, text + at++, 1);
            continue;
        }
        while (base > at && text[base - 1] != '/' && text[base - 1] != '\\')
            base--;
        ridge_text_add_bytes(out, text + base, at + path - base);
        at += path;
    }
}

/* Each process of a program complains alike: once is enough. */
static bool is_new_complaint(nsys_reader *reader, int64_t severity, const ridge_text *text)
{
    const nsys_key key = {{(int64_t)ridge_hash64(text->data, text->length), severity}};

    if (nsys_map_find(&reader->complaints, key) != NULL)
        return false;
    if (!nsys_map_add(&reader->complaints, key, 0))
        reader->trace->failed = true;
    return true;
}

static void add_diagnostic(nsys_reader *reader, const nsys_row *row)
{
    const int64_t severity = row->values[0];
    ridge_text clean;
    const char *text;
    size_t length;

    text = nsys_row_text(reader, row, 1, &length);
    ridge_text_init(&clean);
    add_without_directories(&clean, text, length);
    reader->trace->failed = reader->trace->failed || clean.failed;
    if (is_new_complaint(reader, severity, &clean))
        trace_add_diagnostic(reader->trace, severity >= 0 && severity < 100 ? (int)severity : 0,
                             clean.data, clean.length);
    ridge_text_release(&clean);
}

void nsys_read_versions(nsys_reader *reader)
{
    static const char *const names[] = {"META_DATA_EXPORT", "EXPORT_META_DATA",
                                        "META_DATA_CAPTURE"};
    static const nsys_table start = {
        "TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}, 1, 0, add_start_time};
    static const nsys_table diagnostics = {
        "DIAGNOSTIC_EVENT", {"severity", "text"}, 3, 2, add_diagnostic};
    versions found = {0};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const nsys_table table = {names[i], {"name"}, 1, 1, look_at_key};

        reader->keys.count = 0;
        nsys_scan(reader, &table);
        read_values(reader, names[i], &found);
    }
    name_producer(reader, &found);
    nsys_scan(reader, &start);
    nsys_scan(reader, &diagnostics);
}

/* -- GPUs -------------------------------------------------------------------------------------- */

enum { MAP_GPU, MAP_DEVICE, MAP_PID };

static void add_gpu_of_device(nsys_reader *reader, const nsys_row *row)
{
    const int64_t gpu = row->values[MAP_GPU];
    const nsys_key of_process = {{row->values[MAP_PID], row->values[MAP_DEVICE]}};
    /* Which GPU a number, and which number a GPU has elsewhere; -1 and -2 are no processes. */
    const nsys_key of_device = {{-1, row->values[MAP_DEVICE]}}, of_gpu = {{-2, gpu}};
    const uint32_t *other;

    if (gpu < 0 || gpu >= UINT32_MAX || row->values[MAP_DEVICE] < 0 ||
        row->values[MAP_DEVICE] >= UINT32_MAX) {
        reader->trace->info.skipped_count++;
        return;
    }
    other = nsys_map_find(&reader->gpus, of_device);
    reader->devices_differ |= other != NULL && *other != gpu;
    other = nsys_map_find(&reader->gpus, of_gpu);
    reader->devices_differ |= other != NULL && *other != row->values[MAP_DEVICE];
    if (!nsys_map_add(&reader->gpus, of_process, (uint32_t)gpu) ||
        !nsys_map_add(&reader->gpus, of_device, (uint32_t)gpu) ||
        !nsys_map_add(&reader->gpus, of_gpu, (uint32_t)row->values[MAP_DEVICE]))
        reader->trace->failed = true;
}

void nsys_read_gpu_map(nsys_reader *reader)
{
    static const nsys_table table = {
        "TARGET_INFO_CUDA_DEVICE", {"gpuId", "cudaId", "pid"}, 7, 0, add_gpu_of_device};

    nsys_scan(reader, &table);
}

/* The columns of both tables of GPUs, in one order; the older has other units. */
enum { GPU_NAME, GPU_ID, GPU_CUDA_ID, GPU_BANDWIDTH, GPU_CLOCK, GPU_SMS, GPU_MAJOR, GPU_MINOR };

/* The device of the trace that a row of GPUs is about; false: none that did anything. */
static bool find_device(nsys_reader *reader, const nsys_row *row, uint32_t *device)
{
    const int64_t id = nsys_value(row, GPU_ID, -1);
    const ridge_trace_device *const devices = reader->trace->devices.rows;
    int64_t number = nsys_value(row, GPU_CUDA_ID, id);

    if (reader->devices_differ) {
        number = id;
    } else if (reader->gpus.count > 0) {
        const uint32_t *const mapped = nsys_map_find(&reader->gpus, (nsys_key){{-2, id}});

        number = mapped != NULL ? (int64_t)*mapped : -1;
    }
    for (size_t i = 0; i < reader->trace->devices.count; i++)
        if (devices[i].id == number) {
            *device = (uint32_t)i;
            return true;
        }
    return false;
}

static void fill_device(nsys_reader *reader, const nsys_row *row, double scale)
{
    ridge_trace_device *device;
    const char *name;
    size_t length;
    uint32_t index;

    if (!find_device(reader, row, &index))
        return;
    device = trace_device_at(reader->trace, index);
    name = nsys_row_text(reader, row, GPU_NAME, &length);
    if (device->name[0] == '\0' && length > 0)
        device->name = trace_text(reader->trace, name, length);
    if (nsys_value(row, GPU_BANDWIDTH, 0) > 0)
        device->dram_bytes_per_s = scale * (double)row->values[GPU_BANDWIDTH];
    if (nsys_value(row, GPU_CLOCK, 0) > 0)
        device->clock_hz = scale * (double)row->values[GPU_CLOCK];
    if (nsys_small(row, GPU_SMS) > 0)
        device->sm_count = nsys_small(row, GPU_SMS);
    if (nsys_small(row, GPU_MAJOR) > 0) {
        device->compute_major = nsys_small(row, GPU_MAJOR);
        device->compute_minor = nsys_small(row, GPU_MINOR);
    }
}

static void add_gpu(nsys_reader *reader, const nsys_row *row)
{
    fill_device(reader, row, 1);
}

static void add_cuda_gpu(nsys_reader *reader, const nsys_row *row)
{
    fill_device(reader, row, 1000); /* kHz, and 1000 B/s */
}

void nsys_read_gpus(nsys_reader *reader)
{
    static const nsys_table with_numbers = {"TARGET_INFO_GPU",
                                            {"name", "id", "cuDevice", "memoryBandwidth",
                                             "clockRate", "smCount", "computeMajor",
                                             "computeMinor"},
                                            0,
                                            1u << GPU_NAME,
                                            add_gpu};
    static const nsys_table names = {
        "TARGET_INFO_GPU", {"name", "deviceId"}, 0, 1u << GPU_NAME, add_gpu};
    static const nsys_table numbers = {"TARGET_INFO_CUDA_GPU",
                                       {"name", "deviceId", "deviceId", "globalMemoryBandwidth",
                                        "coreClockRate", "numMultiprocessors",
                                        "computeCapabilityMajor", "computeCapabilityMinor"},
                                       0,
                                       1u << GPU_NAME,
                                       add_cuda_gpu};

    nsys_scan(reader,
              nsys_has_column(&reader->database, "TARGET_INFO_GPU", "id") ? &with_numbers : &names);
    nsys_scan(reader, &numbers);
}
