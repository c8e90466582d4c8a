/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls beside work: both are most of a file, and neither needs the other before they are joined. A
 * thread reads the calls through a connection of its own into a trace of its own; strings and
 * threads become those of the reader's trace afterwards, in the order in which the calls first named
 * them. What comes out is therefore what one thread would have read. */
#include "timeline/nsys/nsys_internal.h"

#include <pthread.h>
#include <unistd.h>

/* A file below costs a thread less than it gives. */
enum { SMALL_BYTES = 1 << 20 };

struct nsys_beside {
    nsys_reader reader; /* its strings are those that the calls name, by their ids */
    pthread_t thread;
};

static void *read_calls(void *argument)
{
    struct nsys_beside *const beside = argument;

    nsys_read_calls(&beside->reader);
    if (!beside->reader.trace->failed) /* who has no memory now, has it later or fails there */
        (void)trace_sort_calls(beside->reader.trace);
    return NULL;
}

static void release(struct nsys_beside *beside)
{
    ridge_trace *const trace = beside->reader.trace;

    nsys_release(&beside->reader);
    ridge_trace_free(trace);
    ridge_free(beside);
}

struct nsys_beside *nsys_begin_calls(const nsys_database *database, const char *path)
{
    struct nsys_beside *beside;
    ridge_error err;

    /* What is damaged is read in order, so that the first complaint is the first. */
    if (database->size_bytes < SMALL_BYTES || database->is_cut || database->is_damaged ||
        sqlite3_threadsafe() == 0 || sysconf(_SC_NPROCESSORS_ONLN) < 2)
        return NULL;
    beside = ridge_calloc(1, sizeof(*beside));
    if (beside == NULL)
        return NULL;
    beside->reader.is_beside = true;
    beside->reader.trace = trace_create();
    if (beside->reader.trace != NULL &&
        nsys_open_file(&beside->reader.database, path, &err) == RIDGE_OK &&
        pthread_create(&beside->thread, NULL, read_calls, beside) == 0)
        return beside;
    release(beside);
    return NULL;
}

/* The number in the reader's trace of each thread, and of each name; NULL: out of memory. */
static uint32_t *map_threads(nsys_reader *reader, const ridge_trace *from)
{
    const ridge_trace_thread *const threads = from->threads.rows;
    const ridge_trace_process *const processes = from->processes.rows;
    uint32_t *const numbers = ridge_calloc(from->threads.count + 1, sizeof(*numbers));

    for (size_t i = 0; numbers != NULL && i < from->threads.count; i++) {
        const int64_t global = processes[threads[i].process].id << 24 | threads[i].id;

        if (!nsys_thread(reader, global, &numbers[i]))
            numbers[i] = RIDGE_TRACE_NONE;
    }
    return numbers;
}

static uint32_t *map_names(nsys_reader *reader, const nsys_reader *from)
{
    uint32_t *const numbers = ridge_calloc(from->string_count + 1, sizeof(*numbers));

    for (size_t i = 0; numbers != NULL && i < from->string_count; i++)
        numbers[i] = nsys_string_name(reader, from->string_rows[i].id);
    return numbers;
}

/* Returns how many calls are left out: of a process too many. */
static size_t rename_calls(trace_array *calls, const uint32_t *threads, const uint32_t *names)
{
    trace_call *const rows = calls->rows;
    const size_t count = calls->count;
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (threads[rows[i].row.thread] == RIDGE_TRACE_NONE)
            continue;
        rows[kept] = rows[i];
        rows[kept].row.thread = threads[rows[i].row.thread];
        rows[kept].row.name = names[rows[i].row.name];
        kept++;
    }
    calls->count = kept;
    return count - kept;
}

static void move_array(trace_array *to, trace_array *from)
{
    *to = *from;
    *from = (trace_array){0};
}

static void take_calls(nsys_reader *reader, struct nsys_beside *beside)
{
    ridge_trace *const to = reader->trace, *const from = beside->reader.trace;
    uint32_t *const threads = map_threads(reader, from);
    uint32_t *const names = map_names(reader, &beside->reader);

    if (threads == NULL || names == NULL || from->failed) {
        to->failed = true;
    } else {
        const size_t calls = rename_calls(&from->apis, threads, names);
        const size_t repeats = rename_calls(&from->repeats, threads, names);

        to->info.event_count += from->info.event_count - calls;
        to->info.repeated_count += from->info.repeated_count - repeats;
        to->info.skipped_count += from->info.skipped_count + calls + repeats;
        if (from->info.is_partial)
            trace_partial(to, "%s", from->info.partial);
        move_array(&to->apis, &from->apis);
        move_array(&to->repeats, &from->repeats);
    }
    ridge_free(threads);
    ridge_free(names);
}

void nsys_end_calls(nsys_reader *reader, struct nsys_beside *beside)
{
    if (beside == NULL) {
        nsys_read_calls(reader);
        return;
    }
    pthread_join(beside->thread, NULL);
    if (!reader->trace->failed)
        take_calls(reader, beside);
    release(beside);
}
