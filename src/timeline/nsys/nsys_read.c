/* SPDX-License-Identifier: Apache-2.0
 *
 * SQLite exports of Nsight Systems, and what `ridge record` writes: which tables in which order. */
#include <inttypes.h>
#include <sys/stat.h>

#include "base/text.h"
#include "timeline/nsys/nsys_internal.h"

enum { LEDGER_APPLICATION = 0x52644C67 }; /* "RdLg" */

/* Any of them, or it is no export. */
static const char *const marks[] = {"StringIds",
                                    "META_DATA_EXPORT",
                                    "EXPORT_META_DATA",
                                    "CUPTI_ACTIVITY_KIND_KERNEL",
                                    "CUPTI_ACTIVITY_KIND_RUNTIME",
                                    "CUPTI_ACTIVITY_KIND_MEMCPY",
                                    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                    "NVTX_EVENTS",
                                    "OSRT_API"};

ridge_status nsys_check_export(nsys_database *database, ridge_error *err)
{
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        if (nsys_has_table(database, marks[i]))
            return RIDGE_OK;
    if (database->is_cut)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "an SQLite database cut before its first table: %" PRIu64 " of %" PRIu64
                          " pages",
                          database->page_count, database->expected_page_count);
    if (database->application == LEDGER_APPLICATION)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "a ledger, not a trace: see ridge ledger");
    return ridge_fail(err, RIDGE_ERR_FORMAT,
                      "an SQLite database without the tables of an export of Nsight Systems "
                      "(StringIds, CUPTI_ACTIVITY_KIND_KERNEL, ...)");
}

void nsys_release(nsys_reader *reader)
{
    sqlite3_finalize(reader->string_text);
    nsys_map_release(&reader->strings);
    nsys_map_release(&reader->processes);
    nsys_map_release(&reader->threads);
    nsys_map_release(&reader->streams);
    nsys_map_release(&reader->domains);
    nsys_map_release(&reader->gpus);
    nsys_map_release(&reader->complaints);
    ridge_free(reader->string_rows);
    ridge_free(reader->switches.rows);
    ridge_free(reader->keys.rows);
    nsys_close(&reader->database);
}

/* path NULL: from memory. */
static ridge_status read_tables(nsys_reader *reader, const char *path, ridge_error *err)
{
    const nsys_database *const database = &reader->database;
    struct nsys_beside *beside = NULL;
    const ridge_status status = nsys_check_export(&reader->database, err);

    if (status != RIDGE_OK)
        return status;
    if (database->is_cut)
        trace_partial(reader->trace, "cut after %" PRIu64 " of %" PRIu64 " pages",
                      database->page_count, database->expected_page_count);
    else if (database->is_damaged)
        trace_partial(reader->trace, "the list of its tables is damaged");
    if (path != NULL)
        beside = nsys_begin_calls(database, path);
    nsys_read_strings(reader);
    nsys_read_versions(reader);
    nsys_read_gpu_map(reader);
    nsys_read_work(reader);
    nsys_end_calls(reader, beside);
    nsys_read_ranges(reader);
    nsys_read_rest(reader);
    nsys_read_gpus(reader);
    if (reader->trace->info.skipped_count > 0)
        trace_partial(reader->trace, "%" PRIu64 " rows are malformed and left out",
                      reader->trace->info.skipped_count);
    return reader->trace->failed ? ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory")
                                 : RIDGE_OK;
}

bool nsys_look_beside(ridge_trace *trace, const char *path)
{
    static const char *const endings[] = {"-wal", "-journal"};
    ridge_text beside;
    bool failed = false;

    ridge_text_init(&beside);
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        struct stat found;

        ridge_text_clear(&beside);
        ridge_text_add(&beside, path);
        ridge_text_add(&beside, endings[i]);
        if (!beside.failed && stat(beside.data, &found) == 0 && found.st_size > 0)
            trace_partial(trace,
                          "a %s file lies beside it: whoever writes it has not finished; what is "
                          "in there was not read",
                          endings[i]);
    }
    failed = beside.failed;
    ridge_text_release(&beside);
    return !failed;
}

ridge_status nsys_read_file(ridge_trace *trace, const char *path,
                            const ridge_trace_options *options, ridge_error *err)
{
    nsys_reader reader = {.trace = trace};
    ridge_status status;

    (void)options;
    if (!nsys_look_beside(trace, path))
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    status = nsys_open_file(&reader.database, path, err);
    if (status == RIDGE_OK)
        status = read_tables(&reader, path, err);
    nsys_release(&reader);
    return status;
}

ridge_status nsys_read_bytes(ridge_trace *trace, const void *data, size_t size_bytes,
                             const ridge_trace_options *options, ridge_error *err)
{
    nsys_reader reader = {.trace = trace};
    ridge_status status;

    (void)options;
    status = nsys_open_bytes(&reader.database, data, size_bytes, err);
    if (status == RIDGE_OK)
        status = read_tables(&reader, NULL, err);
    nsys_release(&reader);
    return status;
}
