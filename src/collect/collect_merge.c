/* SPDX-License-Identifier: Apache-2.0
 *
 * All processes of one recording into one file: times count from when the first of them began. */
#include "collect_internal.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

enum { PATH_BYTES = 1024, WARNING = 2 /* a severity of nsys */ };

/* The spool files of a folder, in the order of their names. */
struct spools {
    char (*paths)[PATH_BYTES];
    size_t count, capacity;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

static bool is_spool(const char *name)
{
    const size_t length = strlen(name), suffix = strlen(SPOOL_SUFFIX);

    return length > suffix && strcmp(name + length - suffix, SPOOL_SUFFIX) == 0;
}

static ridge_status list(const char *folder, struct spools *out, ridge_error *err)
{
    DIR *const stream = opendir(folder);
    const struct dirent *entry;

    if (stream == NULL)
        return ridge_fail(err, RIDGE_ERR_IO, "cannot be read: %s", strerror(errno));
    while ((entry = readdir(stream)) != NULL) {
        if (!is_spool(entry->d_name))
            continue;
        if (out->count == out->capacity) {
            const size_t capacity = out->capacity > 0 ? out->capacity * 2 : 16;
            char(*const paths)[PATH_BYTES] =
                ridge_realloc_array(out->paths, capacity, sizeof(*paths));

            if (paths == NULL) {
                closedir(stream);
                return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
            }
            out->paths = paths;
            out->capacity = capacity;
        }
        if (snprintf(out->paths[out->count], PATH_BYTES, "%s/%s", folder, entry->d_name) <
            PATH_BYTES)
            out->count++;
    }
    closedir(stream);
    if (out->count > 1)
        qsort(out->paths, out->count, sizeof(*out->paths), by_name);
    return RIDGE_OK;
}

/* -- one process ------------------------------------------------------------------------------- */

static bool read_header(ridge_slice bytes, spool_header *out)
{
    if (bytes.size < sizeof(*out) || memcmp(bytes.data, SPOOL_MAGIC, sizeof(out->magic)) != 0)
        return false;
    memcpy(out, bytes.data, sizeof(*out));
    return true;
}

static uint64_t record_count(const ridge_collect_totals *totals)
{
    return totals->kernel_count + totals->copy_count + totals->call_count + totals->range_count;
}

static void read_process(spool_reader *reader, ridge_slice bytes)
{
    ridge_collect_totals *const totals = reader->totals;
    export_file *const file = reader->file;
    spool_header header;
    uint64_t before;

    totals->process_count++;
    if (!read_header(bytes, &header)) {
        totals->damaged_count++;
        return;
    }
    reader->pid = header.pid;
    if (header.cupti_version > totals->cupti_version)
        totals->cupti_version = header.cupti_version;
    export_begin(file, EXPORT_PROCESSES);
    export_int(file, spool_thread(reader, 0));
    export_int(file, header.pid);
    export_null(file);
    export_end(file);
    before = record_count(totals);
    if (!spool_read(reader, bytes))
        totals->damaged_count++;
    spool_write_markers(reader);
    /* Helpers that only look for a GPU are often killed; nothing of them is missed. */
    if (record_count(totals) == before)
        totals->silent_count++;
    else if (!reader->has_ended)
        totals->unended_count++;
}

static void release(spool_reader *reader)
{
    ridge_free(reader->names);
    ridge_free(reader->markers);
}

/* -- the whole --------------------------------------------------------------------------------- */

static void pair(export_file *file, enum export_table table, const char *name, const char *value)
{
    export_begin(file, table);
    export_text(file, name, strlen(name));
    export_text(file, value, strlen(value));
    export_end(file);
}

static void diagnostic(export_file *file, const char *format, ...) RIDGE_PRINTF(2, 3);
static void diagnostic(export_file *file, const char *format, ...)
{
    char text[480];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    export_begin(file, EXPORT_DIAGNOSTIC);
    export_int(file, 0);
    export_int(file, 0);
    export_int(file, 0);
    export_int(file, WARNING);
    export_text(file, text, strlen(text));
    export_null(file);
    export_end(file);
}

static void write_about(export_file *file, const ridge_collect_options *options,
                        const ridge_collect_totals *totals, uint64_t epoch_ns)
{
    char name[48];
    size_t i;

    pair(file, EXPORT_META_EXPORT, "EXPORT_PRODUCT_NAME", "ridge");
    pair(file, EXPORT_META_EXPORT, "EXPORT_PRODUCT_VERSION", ridge_version());
    pair(file, EXPORT_META_EXPORT, "EXPORT_SCHEMA_VERSION", "3.24.0");
    pair(file, EXPORT_META_EXPORT, "EXPORT_SCHEMA_VERSION_MAJOR", "3");
    pair(file, EXPORT_META_EXPORT, "EXPORT_SCHEMA_VERSION_MINOR", "24");
    pair(file, EXPORT_META_EXPORT, "EXPORT_SCHEMA_VERSION_MICRO", "0");
    pair(file, EXPORT_META_EXPORT, "EXPORT_PARAM_LAZY", "true");
    snprintf(name, sizeof(name), "%" PRIu32, totals->cupti_version);
    pair(file, EXPORT_META_CAPTURE, "CUPTI_VERSION", name);
    pair(file, EXPORT_META_CAPTURE, "CUDA_GRAPH_TRACE_OPTIONS:MODE", "Node");
    pair(file, EXPORT_META_CAPTURE, "CUDA_SKIP_SOME_API_CALLS",
         options->skips_cheap_calls ? "true" : "false");
    for (i = 0; i < options->command_count; i++) {
        if (i == 0)
            snprintf(name, sizeof(name), "PROCESS_0:COMMAND");
        else
            snprintf(name, sizeof(name), "PROCESS_0:ARGUMENT_%zu", i - 1);
        pair(file, EXPORT_META_CAPTURE, name, options->command[i]);
    }
    export_begin(file, EXPORT_START_TIME);
    export_int(file, (int64_t)epoch_ns);
    export_end(file);
    if (totals->fault[0] != '\0')
        diagnostic(file, "%s", totals->fault);
    if (totals->dropped_count > 0)
        diagnostic(file, "CUPTI dropped %" PRIu64 " records for want of memory",
                   totals->dropped_count);
    if (totals->unended_count > 0)
        diagnostic(file,
                   "did not end in order: %zu of %zu processes; what they had not written is lost",
                   totals->unended_count, totals->process_count);
    if (totals->damaged_count > 0)
        diagnostic(file, "cut or damaged: the records of %zu of %zu processes",
                   totals->damaged_count, totals->process_count);
}

/* When the first process began, on CUPTI's clock, and since 1970. */
static void find_origin(const ridge_slice *spools, size_t count, uint64_t *origin_ns,
                        uint64_t *epoch_ns)
{
    spool_header header;
    size_t i;

    *origin_ns = 0;
    *epoch_ns = 0;
    for (i = 0; i < count; i++)
        if (read_header(spools[i], &header) && header.start_ns != 0 &&
            (*origin_ns == 0 || header.start_ns < *origin_ns)) {
            *origin_ns = header.start_ns;
            *epoch_ns = header.epoch_ns;
        }
}

ridge_status collect_merge_bytes(const ridge_slice *spools, size_t count, const char *path,
                                 const ridge_collect_options *options, ridge_collect_totals *totals,
                                 ridge_error *err)
{
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    uint64_t origin_ns, epoch_ns;
    export_file file;
    ridge_status status = export_open(&file, path, err);
    size_t i;

    if (status != RIDGE_OK)
        return status;
    find_origin(spools, count, &origin_ns, &epoch_ns);
    for (i = 0; i < count; i++) {
        spool_reader reader = {.file = &file,
                               .options = options,
                               .totals = totals,
                               .origin_ns = (int64_t)origin_ns,
                               .first_ns = first_ns,
                               .last_ns = last_ns};

        read_process(&reader, spools[i]);
        first_ns = reader.first_ns;
        last_ns = reader.last_ns;
        release(&reader);
    }
    /* Damaged times may lie further apart than a number holds. */
    totals->span_ns = last_ns <= first_ns                              ? 0
                      : first_ns < 0 && last_ns > INT64_MAX + first_ns ? INT64_MAX
                                                                       : last_ns - first_ns;
    write_about(&file, options, totals, epoch_ns);
    return export_close(&file, err);
}

static ridge_status merge_files(const struct spools *spools, const char *path,
                                const ridge_collect_options *options, ridge_collect_totals *totals,
                                ridge_error *err)
{
    ridge_file *const files = ridge_calloc(spools->count, sizeof(*files));
    ridge_slice *const bytes = ridge_calloc(spools->count, sizeof(*bytes));
    ridge_status status = RIDGE_OK;
    size_t i, opened = 0;

    if (files == NULL || bytes == NULL)
        status = ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    while (status == RIDGE_OK && opened < spools->count) {
        status = ridge_file_open(spools->paths[opened], &files[opened], err);
        if (status != RIDGE_OK)
            break;
        bytes[opened] = files[opened].bytes;
        opened++;
    }
    if (status == RIDGE_OK)
        status = collect_merge_bytes(bytes, spools->count, path, options, totals, err);
    for (i = 0; i < opened; i++)
        ridge_file_release(&files[i]);
    ridge_free(bytes);
    ridge_free(files);
    return status;
}

ridge_status ridge_collect_merge(const char *folder, const char *path,
                                 const ridge_collect_options *options, ridge_collect_totals *out,
                                 ridge_error *err)
{
    struct spools spools = {NULL, 0, 0};
    ridge_status status;

    memset(out, 0, sizeof(*out));
    status = list(folder, &spools, err);
    if (status == RIDGE_OK && spools.count > 0)
        status = merge_files(&spools, path, options, out, err);
    ridge_free(spools.paths);
    if (status != RIDGE_OK)
        memset(out, 0, sizeof(*out));
    return status;
}
