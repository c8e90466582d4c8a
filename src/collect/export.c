/* SPDX-License-Identifier: Apache-2.0
 *
 * The SQLite file: the tables of Nsight Systems, each made when its first row comes, as nsys does
 * with --lazy. */
#include "collect_internal.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"

struct export_string {
    uint64_t hash;
    size_t length;
    uint32_t id;
    const char *bytes;
};

/* Columns in the order in which rows are filled. */
static const struct table_row {
    const char *name, *columns;
} tables[EXPORT_TABLE_COUNT] = {
    [EXPORT_STRINGS] = {"StringIds", "id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL"},
    [EXPORT_META_EXPORT] = {"META_DATA_EXPORT", "name TEXT NOT NULL, value TEXT"},
    [EXPORT_META_CAPTURE] = {"META_DATA_CAPTURE", "name TEXT NOT NULL, value TEXT"},
    [EXPORT_START_TIME] = {"TARGET_INFO_SESSION_START_TIME", "utcEpochNs INTEGER"},
    [EXPORT_PROCESSES] = {"PROCESSES", "globalPid INTEGER, pid INTEGER, name TEXT"},
    [EXPORT_THREAD_NAMES] = {"ThreadNames",
                             "nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER"},
    [EXPORT_GPU] = {"TARGET_INFO_GPU",
                    "vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, l2CacheSize INTEGER, "
                    "totalMemory INTEGER, memoryBandwidth INTEGER, clockRate INTEGER, "
                    "smCount INTEGER, computeMajor INTEGER, computeMinor INTEGER"},
    [EXPORT_CONTEXT] = {"TARGET_INFO_CUDA_CONTEXT_INFO",
                        "nullStreamId INTEGER NOT NULL, hwId INTEGER NOT NULL, "
                        "vmId INTEGER NOT NULL, processId INTEGER NOT NULL, "
                        "deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL"},
    [EXPORT_DIAGNOSTIC] = {"DIAGNOSTIC_EVENT",
                           "timestamp INTEGER NOT NULL, timestampType INTEGER NOT NULL, "
                           "source INTEGER NOT NULL, severity INTEGER NOT NULL, "
                           "text TEXT NOT NULL, globalPid INTEGER"},
    [EXPORT_KERNEL] =
        {"CUPTI_ACTIVITY_KIND_KERNEL",
         "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, "
         "contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, "
         "globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, "
         "mangledName INTEGER, launchType INTEGER, registersPerThread INTEGER NOT NULL, "
         "gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, "
         "blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, "
         "staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL, "
         "localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL, "
         "gridId INTEGER NOT NULL, sharedMemoryExecuted INTEGER, graphNodeId INTEGER, "
         "graphId INTEGER"},
    [EXPORT_RUNTIME] = {"CUPTI_ACTIVITY_KIND_RUNTIME",
                        "start INTEGER NOT NULL, end INTEGER NOT NULL, "
                        "eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, "
                        "nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, "
                        "callchainId INTEGER"},
    [EXPORT_MEMCPY] =
        {"CUPTI_ACTIVITY_KIND_MEMCPY",
         "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, "
         "contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, "
         "globalPid INTEGER, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, srcKind INTEGER, "
         "dstKind INTEGER, srcDeviceId INTEGER, dstDeviceId INTEGER, graphNodeId INTEGER"},
    [EXPORT_MEMSET] =
        {"CUPTI_ACTIVITY_KIND_MEMSET",
         "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, "
         "contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, "
         "globalPid INTEGER, value INTEGER NOT NULL, bytes INTEGER NOT NULL, "
         "graphNodeId INTEGER, memKind INTEGER"},
    [EXPORT_SYNC] = {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                     "start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, "
                     "contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, "
                     "correlationId INTEGER, globalPid INTEGER, syncType INTEGER NOT NULL, "
                     "eventId INTEGER NOT NULL"},
    [EXPORT_OVERHEAD] = {"CUPTI_ACTIVITY_KIND_OVERHEAD",
                         "start INTEGER NOT NULL, end INTEGER NOT NULL, "
                         "eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER, "
                         "nameId INTEGER, overheadType INTEGER NOT NULL"},
    [EXPORT_NVTX] = {"NVTX_EVENTS",
                     "start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, "
                     "rangeId INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, "
                     "textId INTEGER, domainId INTEGER"},
};

/* -- failures ---------------------------------------------------------------------------------- */

static void fail(export_file *file)
{
    const int code = sqlite3_extended_errcode(file->database) & 0xff;

    if (file->status != RIDGE_OK)
        return;
    file->status = code == SQLITE_NOMEM ? RIDGE_ERR_OUT_OF_MEMORY : RIDGE_ERR_IO;
    snprintf(file->message, sizeof(file->message), "cannot be written: %s",
             code == SQLITE_FULL ? "the disk is full" : sqlite3_errmsg(file->database));
}

void export_out_of_memory(export_file *file)
{
    if (file->status != RIDGE_OK)
        return;
    file->status = RIDGE_ERR_OUT_OF_MEMORY;
    snprintf(file->message, sizeof(file->message), "out of memory");
}

static void run(export_file *file, const char *sql)
{
    if (file->status == RIDGE_OK &&
        sqlite3_exec(file->database, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail(file);
}

/* -- rows -------------------------------------------------------------------------------------- */

static void make_table(export_file *file, enum export_table id)
{
    const struct table_row *const table = &tables[id];
    char sql[1600];
    const char *at;
    size_t length;

    snprintf(sql, sizeof(sql), "CREATE TABLE %s (%s)", table->name, table->columns);
    run(file, sql);
    length = (size_t)snprintf(sql, sizeof(sql), "INSERT INTO %s VALUES (?", table->name);
    for (at = table->columns; (at = strchr(at, ',')) != NULL; at++)
        length += (size_t)snprintf(sql + length, sizeof(sql) - length, ",?");
    snprintf(sql + length, sizeof(sql) - length, ")");
    if (file->status == RIDGE_OK &&
        sqlite3_prepare_v2(file->database, sql, -1, &file->insert[id], NULL) != SQLITE_OK)
        fail(file);
}

void export_begin(export_file *file, enum export_table table)
{
    if (file->insert[table] == NULL)
        make_table(file, table);
    file->row = file->status == RIDGE_OK ? file->insert[table] : NULL;
    file->column = 0;
}

void export_int(export_file *file, int64_t value)
{
    if (file->row != NULL)
        sqlite3_bind_int64(file->row, ++file->column, value);
}

void export_null(export_file *file)
{
    if (file->row != NULL)
        sqlite3_bind_null(file->row, ++file->column);
}

/* Bound as it is: borrowed until export_end(). */
void export_text(export_file *file, const char *bytes, size_t length)
{
    if (file->row != NULL && sqlite3_bind_text64(file->row, ++file->column, bytes, length,
                                                 SQLITE_STATIC, SQLITE_UTF8) != SQLITE_OK)
        fail(file);
}

void export_end(export_file *file)
{
    if (file->row == NULL)
        return;
    if (sqlite3_step(file->row) != SQLITE_DONE)
        fail(file);
    sqlite3_reset(file->row);
    sqlite3_clear_bindings(file->row);
    file->row = NULL;
}

/* -- strings ----------------------------------------------------------------------------------- */

static bool grow(export_file *file)
{
    const size_t count = file->slot_count > 0 ? file->slot_count * 2 : 1024;
    struct export_string **const slots = ridge_calloc(count, sizeof(struct export_string *));
    size_t i;

    if (slots == NULL)
        return false;
    for (i = 0; i < file->slot_count; i++) {
        size_t at;

        if (file->slots[i] == NULL)
            continue;
        for (at = (size_t)file->slots[i]->hash & (count - 1); slots[at] != NULL;
             at = (at + 1) & (count - 1))
            ;
        slots[at] = file->slots[i];
    }
    ridge_free(file->slots);
    file->slots = slots;
    file->slot_count = count;
    return true;
}

uint32_t export_string(export_file *file, const char *bytes, size_t length)
{
    const uint64_t hash = ridge_hash64(bytes, length);
    struct export_string *string;
    size_t at;

    if (file->status != RIDGE_OK)
        return 0;
    if (file->string_count >= file->slot_count / 2 && !grow(file)) {
        export_out_of_memory(file);
        return 0;
    }
    for (at = (size_t)hash & (file->slot_count - 1); file->slots[at] != NULL;
         at = (at + 1) & (file->slot_count - 1))
        if (file->slots[at]->hash == hash && file->slots[at]->length == length &&
            memcmp(file->slots[at]->bytes, bytes, length) == 0)
            return file->slots[at]->id;
    string = ridge_alloc(&file->arena, sizeof(*string));
    if (string != NULL)
        string->bytes = ridge_alloc_text(&file->arena, bytes, length);
    if (string == NULL || string->bytes == NULL) {
        export_out_of_memory(file);
        return 0;
    }
    string->hash = hash;
    string->length = length;
    string->id = ++file->string_count;
    file->slots[at] = string;
    return string->id;
}

/* At the end: rows of other tables are being filled when strings are met. */
static void write_strings(export_file *file)
{
    size_t i;

    for (i = 0; i < file->slot_count; i++) {
        if (file->slots[i] == NULL)
            continue;
        export_begin(file, EXPORT_STRINGS);
        export_int(file, file->slots[i]->id);
        export_text(file, file->slots[i]->bytes, file->slots[i]->length);
        export_end(file);
    }
}

/* -- life -------------------------------------------------------------------------------------- */

ridge_status export_open(export_file *file, const char *path, ridge_error *err)
{
    memset(file, 0, sizeof(*file));
    ridge_arena_init(&file->arena);
    if (sqlite3_open_v2(path, &file->database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) !=
        SQLITE_OK) {
        const ridge_status status =
            ridge_fail(err, file->database != NULL ? RIDGE_ERR_IO : RIDGE_ERR_OUT_OF_MEMORY,
                       "cannot be written: %s",
                       file->database != NULL ? sqlite3_errmsg(file->database) : "out of memory");

        sqlite3_close(file->database);
        return status;
    }
    /* The file is new: should this fail, nobody looks at it. */
    run(file, "PRAGMA journal_mode=OFF");
    run(file, "PRAGMA synchronous=OFF");
    run(file, "PRAGMA locking_mode=EXCLUSIVE");
    run(file, "BEGIN");
    return RIDGE_OK;
}

ridge_status export_close(export_file *file, ridge_error *err)
{
    size_t i;

    write_strings(file);
    run(file, "COMMIT");
    for (i = 0; i < EXPORT_TABLE_COUNT; i++)
        sqlite3_finalize(file->insert[i]);
    sqlite3_close(file->database);
    ridge_free(file->slots);
    ridge_arena_release(&file->arena);
    return file->status == RIDGE_OK ? RIDGE_OK : ridge_fail(err, file->status, "%s", file->message);
}
