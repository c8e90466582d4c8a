/* SPDX-License-Identifier: Apache-2.0
 *
 * What the host did: calls of CUDA, NVTX ranges; then what is told of the same threads and streams:
 * waits, overheads, synchronisation, names. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "timeline/nsys/nsys_internal.h"

/* The first columns of every table below. */
enum { START, END, THREAD };

static bool has_times(const nsys_row *row)
{
    return nsys_is_time(row->values[START]) && nsys_is_time(row->values[END]) &&
           row->values[END] >= row->values[START];
}

/* -- calls ------------------------------------------------------------------------------------- */

enum { CORRELATION = THREAD + 1, NAME, CLASS };

/* Of eventClass: beside a call with its stack, which has a row of its own. */
enum { CLASS_BACKTRACE = 67 };

static void add_call(nsys_reader *reader, const nsys_row *row)
{
    const uint64_t correlation = (uint64_t)nsys_value(row, CORRELATION, 0);
    ridge_trace_api api = {.start_ns = row->values[START], .end_ns = row->values[END]};

    if (!has_times(row) || !nsys_thread(reader, row->values[THREAD], &api.thread)) {
        reader->trace->info.skipped_count++;
        return;
    }
    api.name = reader->is_beside ? nsys_string_number(reader, nsys_value(row, NAME, -1))
                                 : nsys_string_name(reader, nsys_value(row, NAME, -1));
    if (nsys_value(row, CLASS, 0) == CLASS_BACKTRACE)
        trace_add_repeat(reader->trace, &api, correlation);
    else
        trace_add_api(reader->trace, &api, correlation);
}

static const nsys_table calls = {
    "CUPTI_ACTIVITY_KIND_RUNTIME",
    {"start", "end", "globalTid", "correlationId", "nameId", "eventClass"},
    1u << START | 1u << END | 1u << THREAD,
    0,
    add_call};

void nsys_read_calls(nsys_reader *reader)
{
    nsys_scan(reader, &calls);
}

/* -- ranges ------------------------------------------------------------------------------------ */

enum { TYPE = THREAD + 1, TEXT, TEXT_ID, DOMAIN, END_THREAD };

enum { /* eventType; 70 and 71 come from imported text */
       PUSH_POP = 59,
       START_END = 60,
       DOMAIN_CREATE = 75,
       PUSH_POP_TEXT = 70,
       START_END_TEXT = 71
};

#define RANGE_COLUMNS                                                                              \
    {                                                                                              \
        "start", "end", "globalTid", "eventType", "text", "textId", "domainId", "endGlobalTid"     \
    }

/* "domain:name", as the tool writes it; ":name" in the default domain and those without a name. */
static uint32_t name_of(nsys_reader *reader, const nsys_row *row)
{
    const nsys_key key = {{nsys_pid_of(row->values[THREAD]), nsys_value(row, DOMAIN, 0)}};
    const uint32_t *const domain = nsys_map_find(&reader->domains, key);
    ridge_text text;
    const char *part;
    size_t length;
    uint32_t name;

    ridge_text_init(&text);
    part = ridge_trace_name(reader->trace, domain != NULL ? *domain : 0, &length);
    ridge_text_add_bytes(&text, part, length);
    ridge_text_add(&text, ":");
    if (nsys_has(row, TEXT))
        part = nsys_row_text(reader, row, TEXT, &length);
    else
        part = ridge_trace_name(reader->trace,
                                nsys_string_name(reader, nsys_value(row, TEXT_ID, -1)), &length);
    ridge_text_add_bytes(&text, part, length);
    reader->trace->failed = reader->trace->failed || text.failed;
    name = trace_intern(reader->trace, text.data, text.length);
    ridge_text_release(&text);
    return name;
}

static void add_domain(nsys_reader *reader, const nsys_row *row)
{
    const nsys_key key = {{nsys_pid_of(row->values[THREAD]), nsys_value(row, DOMAIN, 0)}};
    const char *text;
    size_t length;
    uint32_t name;

    if (row->values[TYPE] != DOMAIN_CREATE)
        return;
    text = nsys_row_text(reader, row, TEXT, &length);
    name = length > 0 ? trace_intern(reader->trace, text, length)
                      : nsys_string_name(reader, nsys_value(row, TEXT_ID, -1));
    if (!nsys_map_add(&reader->domains, key, name))
        reader->trace->failed = true;
}

static void add_range(nsys_reader *reader, const nsys_row *row)
{
    const int64_t type = row->values[TYPE];
    const bool is_start_end = type == START_END || type == START_END_TEXT;
    ridge_trace_range range = {.start_ns = row->values[START], .kind = RIDGE_RANGE_NVTX};

    if (!is_start_end && type != PUSH_POP && type != PUSH_POP_TEXT)
        return;
    range.end_ns = nsys_value(row, END, range.start_ns);
    if (!nsys_is_time(range.start_ns) || !nsys_is_time(range.end_ns) ||
        range.end_ns < range.start_ns || !nsys_thread(reader, row->values[THREAD], &range.thread)) {
        reader->trace->info.skipped_count++;
        return;
    }
    range.flags |= is_start_end ? RIDGE_RANGE_START_END : 0;
    range.flags |= !nsys_has(row, END) ? RIDGE_RANGE_OPEN : 0;
    if (nsys_value(row, END_THREAD, row->values[THREAD]) != row->values[THREAD])
        range.flags |= RIDGE_RANGE_OTHER_THREAD;
    range.name = name_of(reader, row);
    trace_add_range(reader->trace, &range);
}

/* Domains are named by rows of their own, which may come after their first range. */
static const nsys_table domains = {"NVTX_EVENTS",
                                   {"", "", "globalTid", "eventType", "text", "textId", "domainId"},
                                   1u << THREAD | 1u << TYPE,
                                   1u << TEXT,
                                   add_domain};

static const nsys_table ranges = {"NVTX_EVENTS", RANGE_COLUMNS,
                                  1u << START | 1u << THREAD | 1u << TYPE, 1u << TEXT, add_range};

void nsys_read_ranges(nsys_reader *reader)
{
    const uint64_t skipped = reader->trace->info.skipped_count;

    nsys_scan(reader, &domains);
    reader->trace->info.skipped_count = skipped; /* the next scan counts them */
    nsys_scan(reader, &ranges);
}

/* -- waits ------------------------------------------------------------------------------------- */

enum { WAIT_NAME = THREAD + 1 };

static void add_wait(nsys_reader *reader, const nsys_row *row)
{
    ridge_trace_wait wait = {.start_ns = row->values[START],
                             .end_ns = row->values[END],
                             .thread = nsys_known_thread(reader, row->values[THREAD])};

    if (!has_times(row)) {
        reader->trace->info.skipped_count++;
        return;
    }
    if (wait.thread == RIDGE_TRACE_NONE)
        return;
    wait.name = nsys_string_name(reader, nsys_value(row, WAIT_NAME, -1));
    trace_add_wait(reader->trace, &wait);
}

static const nsys_table system_calls = {"OSRT_API",
                                        {"start", "end", "globalTid", "nameId"},
                                        1u << START | 1u << END | 1u << THREAD,
                                        0,
                                        add_wait};

/* A thread came to a processor, or left it. */
typedef struct switch_row {
    int64_t time_ns;
    int64_t order; /* of the file, for equal times */
    uint32_t thread;
    bool is_in;
} switch_row;

static int order_switch(const void *left, const void *right)
{
    const switch_row *const a = left, *const b = right;

    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

enum { SWITCH_TIME, SWITCH_IN, SWITCH_THREAD };

static void add_switch(nsys_reader *reader, const nsys_row *row)
{
    const uint32_t thread = nsys_known_thread(reader, row->values[SWITCH_THREAD]);
    trace_array *const switches = &reader->switches;

    if (!nsys_is_time(row->values[SWITCH_TIME])) {
        reader->trace->info.skipped_count++;
        return;
    }
    if (thread == RIDGE_TRACE_NONE)
        return;
    if (switches->count == switches->capacity) {
        const size_t capacity = switches->capacity == 0 ? 1024 : switches->capacity * 2;
        void *const rows = ridge_realloc_array(switches->rows, capacity, sizeof(switch_row));

        if (rows == NULL) {
            reader->trace->failed = true;
            return;
        }
        switches->rows = rows;
        switches->capacity = capacity;
    }
    ((switch_row *)switches->rows)[switches->count++] =
        (switch_row){row->values[SWITCH_TIME], row->rowid, thread, row->values[SWITCH_IN] != 0};
}

static const nsys_table switches = {
    "SCHED_EVENTS", {"start", "isSchedIn", "globalTid"}, 7, 0, add_switch};

/* From leaving a processor to coming to one. Without a row for both there is no wait to tell. */
static void add_sleeps(nsys_reader *reader)
{
    switch_row *const rows = reader->switches.rows;
    const size_t count = reader->switches.count;

    if (count > 1)
        qsort(rows, count, sizeof(*rows), order_switch);
    for (size_t i = 1; i < count; i++) {
        const switch_row *const from = &rows[i - 1], *const to = &rows[i];

        if (from->thread == to->thread && !from->is_in && to->is_in)
            trace_add_wait(reader->trace, &(ridge_trace_wait){.start_ns = from->time_ns,
                                                              .end_ns = to->time_ns,
                                                              .thread = to->thread});
    }
}

/* -- overheads --------------------------------------------------------------------------------- */

enum { OVERHEAD_NAME = THREAD + 1, OVERHEAD_TYPE };

/* ENUM_CUPTI_OVERHEAD_TYPE, not CUPTI's own numbers. */
static uint8_t kind_of_overhead(int64_t type, uint8_t otherwise)
{
    static const uint8_t kinds[] = {0,
                                    0,
                                    RIDGE_OVERHEAD_JIT,
                                    RIDGE_OVERHEAD_FLUSH,
                                    RIDGE_OVERHEAD_INSTRUMENTATION,
                                    RIDGE_OVERHEAD_RESOURCE,
                                    RIDGE_OVERHEAD_MODULE,
                                    RIDGE_OVERHEAD_LAZY,
                                    RIDGE_OVERHEAD_QUEUE_FULL};

    return type > 1 && type < (int64_t)sizeof(kinds) ? kinds[type] : otherwise;
}

static void add_overhead_of(nsys_reader *reader, const nsys_row *row, uint8_t otherwise)
{
    ridge_trace_overhead overhead = {
        .start_ns = row->values[START],
        .end_ns = row->values[END],
        .thread = RIDGE_TRACE_NONE,
        .kind = kind_of_overhead(nsys_value(row, OVERHEAD_TYPE, 0), otherwise)};

    if (!has_times(row)) {
        reader->trace->info.skipped_count++;
        return;
    }
    if (nsys_has(row, THREAD))
        overhead.thread = nsys_known_thread(reader, row->values[THREAD]);
    overhead.name = nsys_string_name(reader, nsys_value(row, OVERHEAD_NAME, -1));
    trace_add_overhead(reader->trace, &overhead);
}

static void add_overhead(nsys_reader *reader, const nsys_row *row)
{
    add_overhead_of(reader, row, RIDGE_OVERHEAD_OTHER);
}

static void add_profiler_overhead(nsys_reader *reader, const nsys_row *row)
{
    add_overhead_of(reader, row, RIDGE_OVERHEAD_PROFILER);
}

#define OVERHEAD_COLUMNS                                                                           \
    {                                                                                              \
        "start", "end", "globalTid", "nameId", "overheadType"                                      \
    }

static const nsys_table overheads = {"CUPTI_ACTIVITY_KIND_OVERHEAD", OVERHEAD_COLUMNS,
                                     1u << START | 1u << END, 0, add_overhead};

static const nsys_table profiler_overheads = {"PROFILER_OVERHEAD", OVERHEAD_COLUMNS,
                                              1u << START | 1u << END, 0, add_profiler_overhead};

/* -- synchronisation --------------------------------------------------------------------------- */

enum {
    SYNC_DEVICE = END + 1,
    SYNC_CONTEXT,
    SYNC_STREAM,
    SYNC_CORRELATION,
    SYNC_PROCESS,
    SYNC_TYPE
};

static void add_sync(nsys_reader *reader, const nsys_row *row)
{
    const int64_t global = nsys_owner(reader, row, SYNC_PROCESS);
    const int64_t type = nsys_value(row, SYNC_TYPE, 0);
    ridge_trace_sync sync = {.start_ns = row->values[START],
                             .end_ns = row->values[END],
                             .stream = RIDGE_TRACE_NONE,
                             .api = RIDGE_TRACE_NONE,
                             .kind = type > 0 && type <= UINT8_MAX ? (uint8_t)type : 0};
    trace_key key = {.correlation = (uint64_t)nsys_value(row, SYNC_CORRELATION, 0)};
    uint32_t device;

    if (!has_times(row) || !nsys_process(reader, global, &key.process)) {
        reader->trace->info.skipped_count++;
        return;
    }
    /* A stream without work is of no interest, and a wait for the context names none. */
    if (nsys_has(row, SYNC_DEVICE) && nsys_has(row, SYNC_STREAM) &&
        nsys_known_device(reader, nsys_pid_of(global), row->values[SYNC_DEVICE], &device))
        sync.stream = nsys_known_stream(reader, device, key.process,
                                        nsys_value(row, SYNC_CONTEXT, 0), row->values[SYNC_STREAM]);
    trace_add_sync(reader->trace, &sync, key);
}

static const nsys_table syncs = {
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
    {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "syncType"},
    1u << START | 1u << END,
    0,
    add_sync};

/* -- names of threads, default streams --------------------------------------------------------- */

static void name_thread(nsys_reader *reader, const nsys_row *row)
{
    const uint32_t thread = nsys_known_thread(reader, row->values[0]);
    ridge_trace_thread *const threads = reader->trace->threads.rows;

    if (thread != RIDGE_TRACE_NONE)
        threads[thread].name = nsys_string_name(reader, row->values[1]);
}

static const nsys_table thread_names = {"ThreadNames", {"globalTid", "nameId"}, 3, 0, name_thread};

enum { NULL_STREAM, NULL_PROCESS, NULL_DEVICE, NULL_CONTEXT, NULL_GREEN };

static void mark_null_stream(nsys_reader *reader, const nsys_row *row)
{
    const int64_t global = (int64_t)((uint64_t)row->values[NULL_PROCESS] << 24);
    const int64_t pid = nsys_pid_of(global);
    const uint32_t *const process = nsys_map_find(&reader->processes, (nsys_key){{pid}});
    uint32_t device, stream;

    reader->knows_null_streams = true;
    if (process == NULL || nsys_value(row, NULL_GREEN, 0) != 0 ||
        !nsys_known_device(reader, pid, row->values[NULL_DEVICE], &device))
        return;
    stream = nsys_known_stream(reader, device, *process, row->values[NULL_CONTEXT],
                               row->values[NULL_STREAM]);
    if (stream != RIDGE_TRACE_NONE)
        trace_stream_at(reader->trace, stream)->is_null = true;
}

static const nsys_table null_streams = {"TARGET_INFO_CUDA_NULL_STREAM",
                                        {"streamId", "processId", "deviceId", "contextId"},
                                        15,
                                        0,
                                        mark_null_stream};

static const nsys_table contexts = {
    "TARGET_INFO_CUDA_CONTEXT_INFO",
    {"nullStreamId", "processId", "deviceId", "contextId", "isGreenContext"},
    15,
    0,
    mark_null_stream};

/* CUPTI counts 7 for the first context's. */
static void guess_null_streams(nsys_reader *reader)
{
    for (size_t i = 0; i < reader->trace->streams.count; i++) {
        ridge_trace_stream *const stream = trace_stream_at(reader->trace, (uint32_t)i);

        stream->is_null = stream->id == 7;
    }
}

void nsys_read_rest(nsys_reader *reader)
{
    nsys_scan(reader, &syncs);
    nsys_scan(reader, &overheads);
    nsys_scan(reader, &profiler_overheads);
    nsys_scan(reader, &system_calls);
    nsys_scan(reader, &switches);
    add_sleeps(reader);
    nsys_scan(reader, &thread_names);
    nsys_scan(reader, &null_streams);
    nsys_scan(reader, &contexts);
    if (!reader->knows_null_streams && !reader->trace->failed)
        guess_null_streams(reader);
}
