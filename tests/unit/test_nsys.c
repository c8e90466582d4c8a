/* SPDX-License-Identifier: Apache-2.0
 *
 * The reader of SQLite exports: each version's tables, what each table becomes, and every way in
 * which a stranger's database can be wrong. */
#include "cases.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include "nsys_support.h"

static ridge_trace *read_sql(const char *sql)
{
    ridge_error err;
    ridge_trace *const trace = nsys_support_read(sql, &err);

    if (trace == NULL)
        fail_msg("%s", err.text);
    return trace;
}

/* -- versions ---------------------------------------------------------------------------------- */

typedef struct version_case {
    const char *name;
    const char *sql; /* beside strings and calls */
    const char *producer, *schema;
    const char *device;
    double bandwidth, clock;
    uint32_t sms;
    bool is_in_graph;
    ridge_graph_mode mode;
    ridge_trace_format format;
} version_case;

#define OLD_META                                                                                   \
    "CREATE TABLE EXPORT_META_DATA (name TEXT, value TEXT);"                                       \
    "INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_PRODUCT_NAME', 'NVIDIA Nsight Systems'),"        \
    " ('EXPORT_PRODUCT_VERSION', '2022.1.3.3'), ('EXPORT_SCHEMA_VERSION', '2.9.1');"
#define CAPTURE "CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);"
#define GPU                                                                                        \
    "CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, memoryBandwidth INTEGER,"  \
    " clockRate INTEGER, smCount INTEGER, cuDevice INTEGER, computeMajor INTEGER,"                 \
    " computeMinor INTEGER);"

static version_case versions[] = {
    {"2020: no versions, GPUs in two tables",
     NSYS_KERNELS "CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, deviceId INTEGER, name TEXT);"
                  "INSERT INTO TARGET_INFO_GPU VALUES (1, 0, 'A100');"
                  "CREATE TABLE TARGET_INFO_CUDA_GPU (name TEXT, globalMemoryBandwidth INTEGER,"
                  " coreClockRate INTEGER, numMultiprocessors INTEGER, deviceId INTEGER,"
                  " computeCapabilityMajor INTEGER, computeCapabilityMinor INTEGER);"
                  "INSERT INTO TARGET_INFO_CUDA_GPU VALUES ('A100', 1555200000, 1410000, 108, 0,"
                  " 8, 0);",
     "Nsight Systems", "", "A100", 1555.2e9, 1.41e9, 108, false, RIDGE_GRAPH_MODE_UNKNOWN,
     RIDGE_TRACE_NSYS},
    {"2.9.1: EXPORT_META_DATA, graph nodes",
     OLD_META GPU "CREATE TABLE " NSYS_KERNEL " (" NSYS_KERNEL_COLUMNS ", graphNodeId INTEGER,"
                  " kernel_name TEXT, long_kernel_name TEXT);" NSYS_KERNEL_ROWS
                  "UPDATE " NSYS_KERNEL " SET graphNodeId = 5, kernel_name = 'theirs';"
                  "INSERT INTO TARGET_INFO_GPU VALUES (1, 0, 'RTX 2070', 448064000000, 1785000000,"
                  " 40, 0, 7, 5);",
     "Nsight Systems 2022.1.3.3", "2.9.1", "RTX 2070", 448.064e9, 1.785e9, 40, true,
     RIDGE_GRAPH_MODE_UNKNOWN, RIDGE_TRACE_NSYS},
    {"3.4.0: META_DATA_EXPORT, capture settings by process",
     NSYS_KERNELS NSYS_META GPU CAPTURE
     "INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:CUDA_GRAPH_TRACE_OPTIONS:MODE', 'Graph');"
     "INSERT INTO TARGET_INFO_GPU VALUES (1, 3, 'other', 1, 1, 1, 3, 8, 0),"
     " (1, 1, 'used', 2000, 3000, 4, 0, 8, 0);",
     "Nsight Systems 2025.5.2.266", "3.24.0", "used", 2000, 3000, 4, false, RIDGE_GRAPH_MODE_GRAPH,
     RIDGE_TRACE_NSYS},
    {"3.24: columns in the middle, devices by process",
     "CREATE TABLE " NSYS_KERNEL " (greenContextId INTEGER, " NSYS_KERNEL_COLUMNS ","
     " graphNodeId INTEGER, graphId INTEGER, clusterX INTEGER);" NSYS_KERNEL_ROWS NSYS_META GPU
         CAPTURE "INSERT INTO META_DATA_CAPTURE VALUES ('CUDA_GRAPH_TRACE_OPTIONS:MODE', 'Node');"
     "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER);"
     "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (3, 0, 1000);"
     "INSERT INTO TARGET_INFO_GPU VALUES (1, 0, 'other', 1, 1, 1, 0, 9, 0),"
     " (1, 3, 'used', 2000, 3000, 4, 3, 9, 0);",
     "Nsight Systems 2025.5.2.266", "3.24.0", "used", 2000, 3000, 4, false, RIDGE_GRAPH_MODE_NODE,
     RIDGE_TRACE_NSYS},
    {"3.25: text beside the numbers",
     "CREATE TABLE " NSYS_KERNEL " (" NSYS_KERNEL_COLUMNS
     ", tensorSizeMinusOneElements TEXT);" NSYS_KERNEL_ROWS NSYS_META "UPDATE " NSYS_KERNEL
     " SET tensorSizeMinusOneElements = '[1, 2]';",
     "Nsight Systems 2025.5.2.266", "3.24.0", "", NAN, NAN, 0, false, RIDGE_GRAPH_MODE_UNKNOWN,
     RIDGE_TRACE_NSYS},
    {"ridge record",
     NSYS_KERNELS "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);"
                  "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_NAME', 'ridge'),"
                  " ('EXPORT_PRODUCT_VERSION', '0.9.0');",
     "ridge 0.9.0", "", "", NAN, NAN, 0, false, RIDGE_GRAPH_MODE_UNKNOWN, RIDGE_TRACE_RECORD},
};

static void check_number(double found, double expected)
{
    assert_int_equal(isnan(found) != 0, isnan(expected) != 0);
    if (!isnan(expected))
        assert_true(fabs(found - expected) <= 1e-9 * expected);
}

static void reads_version(void **state)
{
    const version_case *const row = *state;
    char *const sql = sqlite3_mprintf("%s%s%s", NSYS_STRINGS, NSYS_CALLS, row->sql);
    ridge_trace *const trace = read_sql(sql);
    const ridge_trace_info *const info = ridge_trace_get_info(trace);
    const ridge_trace_device *device;
    const ridge_trace_op *ops;
    const ridge_trace_api *calls;
    const ridge_trace_config *config;
    size_t count;

    sqlite3_free(sql);
    assert_string_equal(info->partial, "");
    assert_int_equal(info->format, row->format);
    assert_string_equal(info->producer, row->producer);
    assert_string_equal(info->schema, row->schema);
    assert_int_equal(info->graph_mode, row->mode);
    assert_int_equal(info->skipped_count, 0);
    device = ridge_trace_devices(trace, &count);
    assert_int_equal(count, 1);
    assert_int_equal(device->id, 0);
    assert_string_equal(device->name, row->device);
    check_number(device->dram_bytes_per_s, row->bandwidth);
    check_number(device->clock_hz, row->clock);
    assert_int_equal(device->sm_count, row->sms);
    calls = ridge_trace_apis(trace, &count);
    assert_int_equal(count, 2);
    ops = ridge_trace_ops(trace, &count);
    assert_int_equal(count, 2);
    assert_int_equal(ops[0].start_ns, 6000);
    assert_string_equal(ridge_trace_name(trace, ops[0].name, NULL),
                        "void ns::gemm<float, 128>(float *)");
    assert_string_equal(ridge_trace_name(trace, ops[0].short_name, NULL), "gemm");
    assert_string_equal(ridge_trace_name(trace, calls[ops[0].api].name, NULL),
                        "cudaLaunchKernel_v7000");
    assert_string_equal(ridge_trace_name(trace, calls[ops[1].api].name, NULL), "cuLaunchKernel");
    assert_int_equal(ops[0].flags, row->is_in_graph ? RIDGE_OP_IN_GRAPH : 0);
    config = ridge_trace_configs(trace, &count);
    assert_int_equal(count, 1);
    assert_int_equal(config->grid[1], 2);
    assert_int_equal(config->registers, 64);
    assert_true(ridge_trace_streams(trace, &count)->is_null);
    assert_int_equal(count, 1);
    ridge_trace_free(trace);
}

/* -- tables ------------------------------------------------------------------------------------ */

static void copies_and_sets(void **state)
{
    ridge_trace *const trace = read_sql(
        NSYS_STRINGS
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId,"
        " correlationId, globalPid, bytes, copyKind, srcKind, dstKind, graphNodeId);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES"
        " (10, 20, 0, 1, 7, 1, " NSYS_PID ", 4096, 1, 0, 2, NULL),"
        " (30, 40, 0, 1, 7, 2, " NSYS_PID ", NULL, 99, 7, NULL, 3);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, contextId, streamId,"
        " correlationId, globalPid, bytes, memKind);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (50, 50, 0, 1, 7, 3, " NSYS_PID ", 8, 4);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, end, deviceId, contextId, streamId,"
        " correlationId, globalPid, graphId, graphExecId);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES"
        " (60, 70, 0, 1, 7, 4, " NSYS_PID ", 5, 6), (0, 0, 0, 1, 7, 4, " NSYS_PID ", 5, 6),"
        " (90, 80, 0, 1, 7, 4, " NSYS_PID ", 5, 6);");
    const ridge_trace_info *const info = ridge_trace_get_info(trace);
    size_t count;
    const ridge_trace_op *const ops = ridge_trace_ops(trace, &count);

    (void)state;
    assert_int_equal(count, 4);
    assert_int_equal(ops[0].bytes, 4096);
    assert_int_equal(ops[0].source, RIDGE_PLACE_PAGEABLE);
    assert_int_equal(ops[0].destination, RIDGE_PLACE_DEVICE);
    assert_string_equal(ridge_trace_name(trace, ops[0].name, NULL), "[CUDA memcpy HtoD]");
    assert_true(ops[1].bytes == RIDGE_TRACE_BYTES_UNKNOWN);
    assert_int_equal(ops[1].copy, RIDGE_COPY_UNKNOWN);
    assert_int_equal(ops[1].flags, RIDGE_OP_IN_GRAPH);
    assert_int_equal(ops[2].destination, RIDGE_PLACE_MANAGED);
    assert_int_equal(ops[3].kind, RIDGE_OP_GRAPH);
    assert_int_equal(ops[3].graph, 5);
    assert_string_equal(ridge_trace_name(trace, ops[3].name, NULL), "[CUDA graph 5 exec 6]");
    assert_int_equal(info->inverted_count, 2);
    assert_int_equal(info->instant_count, 1);
    assert_int_equal(info->skipped_count, 0);
    ridge_trace_free(trace);
}

static void second_rows_of_calls(void **state)
{
    ridge_trace *const trace = read_sql(
        NSYS_STRINGS NSYS_RUNTIME "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES"
                                  " (10, 90, 67, " NSYS_TID ", 5, 9, 0, 77), (11, 89, 0, " NSYS_TID
                                  ", 5, 3, 0, NULL);");
    size_t count;

    (void)state;
    ridge_trace_apis(trace, &count);
    assert_int_equal(count, 1);
    assert_int_equal(ridge_trace_get_info(trace)->repeated_count, 1);
    ridge_trace_free(trace);
}

#define NVTX                                                                                       \
    "CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL,"   \
    " text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);"

typedef struct range_case {
    const char *name;
    const char *values; /* start, end, eventType, text, globalTid, endGlobalTid, textId, domainId */
    const char *range;  /* NULL: none */
    unsigned flags;
    int64_t end_ns;
} range_case;

static range_case range_cases[] = {
    {"push/pop by id", "10, 20, 59, NULL, " NSYS_TID ", NULL, 7, 0", ":step", 0, 20},
    {"push/pop by text", "10, 20, 59, 'mine', " NSYS_TID ", NULL, NULL, 0", ":mine", 0, 20},
    {"text goes before id", "10, 20, 59, 'mine', " NSYS_TID ", NULL, 7, 0", ":mine", 0, 20},
    {"in a domain that is named later", "10, 20, 59, 'mine', " NSYS_TID ", NULL, NULL, 2",
     "NCCL:mine", 0, 20},
    {"in a domain without a name", "10, 20, 59, 'mine', " NSYS_TID ", NULL, NULL, 9", ":mine", 0,
     20},
    {"the domain of another process", "10, 20, 59, 'mine', 1, NULL, NULL, 2", ":mine", 0, 20},
    {"no name", "10, 20, 59, NULL, " NSYS_TID ", NULL, NULL, 0", ":", 0, 20},
    {"start/end", "10, 20, 60, 'mine', " NSYS_TID ", " NSYS_TID ", NULL, 0", ":mine",
     RIDGE_RANGE_START_END, 20},
    {"ended elsewhere", "10, 20, 60, 'mine', " NSYS_TID ", 5 + " NSYS_TID ", NULL, 0", ":mine",
     RIDGE_RANGE_START_END | RIDGE_RANGE_OTHER_THREAD, 20},
    {"open: to the end of the trace", "10, NULL, 59, 'mine', " NSYS_TID ", NULL, NULL, 0", ":mine",
     RIDGE_RANGE_OPEN, 9500},
    {"text import", "10, 20, 70, 'mine', " NSYS_TID ", NULL, NULL, 0", ":mine", 0, 20},
    {"text import of start/end", "10, 20, 71, 'mine', " NSYS_TID ", NULL, NULL, 0", ":mine",
     RIDGE_RANGE_START_END, 20},
    {"a mark", "10, 10, 34, 'mine', " NSYS_TID ", NULL, NULL, 0", NULL, 0, 0},
    {"a category", "10, 20, 33, 'mine', " NSYS_TID ", NULL, NULL, 0", NULL, 0, 0},
    {"backwards", "20, 10, 59, 'mine', " NSYS_TID ", NULL, NULL, 0", NULL, 0, 0},
    {"beyond time", "9223372036854775807, NULL, 59, 'm', " NSYS_TID ", NULL, NULL, 0", NULL, 0, 0},
};

static void reads_range(void **state)
{
    const range_case *const row = *state;
    char *const sql =
        sqlite3_mprintf("%s%sINSERT INTO NVTX_EVENTS VALUES (%s), (5, NULL, 75, 'NCCL', " NSYS_TID
                        ", NULL, NULL, 2);",
                        NSYS_ALL, NVTX, row->values);
    ridge_trace *const trace = read_sql(sql);
    size_t count;
    const ridge_trace_range *const ranges = ridge_trace_ranges(trace, &count);

    sqlite3_free(sql);
    assert_int_equal(count, row->range != NULL);
    if (row->range != NULL) {
        assert_string_equal(ridge_trace_name(trace, ranges[0].name, NULL), row->range);
        assert_int_equal(ranges[0].flags, row->flags);
        assert_int_equal(ranges[0].end_ns, row->end_ns);
    }
    ridge_trace_free(trace);
}

/* Threads that never called CUDA tell nothing; a switch out and the next in are one wait. */
static void waits_of_known_threads(void **state)
{
    ridge_trace *const trace = read_sql(
        NSYS_ALL
        "CREATE TABLE OSRT_API (start, end, eventClass, globalTid, nameId);"
        "INSERT INTO OSRT_API VALUES (100, 200, 27, " NSYS_TID ", 5), (100, 200, 27, 99, 5);"
        "CREATE TABLE SCHED_EVENTS (start, cpu, isSchedIn, globalTid);"
        "INSERT INTO SCHED_EVENTS VALUES (500, 1, 1, " NSYS_TID "), (400, 1, 0, " NSYS_TID "),"
        " (300, 1, 1, " NSYS_TID "), (600, 1, 0, " NSYS_TID "), (450, 1, 1, 99);"
        "CREATE TABLE ThreadNames (nameId, priority, globalTid);"
        "INSERT INTO ThreadNames VALUES (8, 20, " NSYS_TID "), (8, 20, 99);");
    size_t count;
    const ridge_trace_wait *const waits = ridge_trace_waits(trace, &count);
    const ridge_trace_thread *threads;

    (void)state;
    assert_int_equal(count, 2);
    assert_int_equal(waits[0].start_ns, 100);
    assert_string_equal(ridge_trace_name(trace, waits[0].name, NULL), "pthread_cond_wait");
    assert_int_equal(waits[1].start_ns, 400);
    assert_int_equal(waits[1].end_ns, 500);
    threads = ridge_trace_threads(trace, &count);
    assert_int_equal(count, 1);
    assert_int_equal(threads[0].id, 1001);
    assert_string_equal(ridge_trace_name(trace, threads[0].name, NULL), "main thread");
    assert_int_equal(ridge_trace_processes(trace, &count)[0].id, 1000);
    ridge_trace_free(trace);
}

static void overheads_and_synchronisation(void **state)
{
    static const uint8_t kinds[] = {RIDGE_OVERHEAD_PROFILER, RIDGE_OVERHEAD_FLUSH,
                                    RIDGE_OVERHEAD_QUEUE_FULL, RIDGE_OVERHEAD_OTHER};
    ridge_trace *const trace = read_sql(
        NSYS_ALL
        "CREATE TABLE PROFILER_OVERHEAD (start, end, globalTid, nameId, returnValue);"
        "INSERT INTO PROFILER_OVERHEAD VALUES (1, 2, " NSYS_TID ", 6, 0);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_OVERHEAD (start, end, eventClass, globalTid,"
        " correlationId, nameId, overheadType);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_OVERHEAD VALUES (3, 4, 0, NULL, 0, 6, 3),"
        " (5, 6, 0, " NSYS_TID ", 0, 6, 8), (7, 8, 0, 99, 0, 6, 77);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, end, deviceId, contextId,"
        " streamId, correlationId, globalPid, syncType);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES"
        " (20, 30, 0, 1, 7, 12, " NSYS_PID ", 3), (40, 50, 0, 1, 4294967295, 99, " NSYS_PID
        ", 4);");
    size_t count;
    const ridge_trace_overhead *const overheads = ridge_trace_overheads(trace, &count);
    const ridge_trace_sync *syncs;

    (void)state;
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(overheads[i].kind, kinds[i]);
    assert_int_equal(overheads[2].thread, 0);
    assert_true(overheads[3].thread == RIDGE_TRACE_NONE);
    syncs = ridge_trace_syncs(trace, &count);
    assert_int_equal(count, 2);
    assert_int_equal(syncs[0].stream, 0);
    assert_int_equal(syncs[0].kind, 3);
    assert_true(syncs[0].api != RIDGE_TRACE_NONE);
    assert_true(syncs[1].stream == RIDGE_TRACE_NONE);
    assert_true(syncs[1].api == RIDGE_TRACE_NONE);
    ridge_trace_free(trace);
}

/* Two processes that see one GPU each call it 0. */
static void devices_that_processes_count_differently(void **state)
{
    ridge_trace *const trace = read_sql(
        NSYS_ALL GPU "UPDATE " NSYS_KERNEL " SET globalPid = 1001 << 24 WHERE start = 9000;"
                     "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId, cudaId, pid);"
                     "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (4, 0, 1000), (5, 0, 1001);"
                     "INSERT INTO TARGET_INFO_GPU VALUES (1, 5, 'five', 5, 5, 5, 5, 9, 0),"
                     " (1, 4, 'four', 4, 4, 4, 4, 9, 0);");
    size_t count;
    const ridge_trace_device *const devices = ridge_trace_devices(trace, &count);

    (void)state;
    assert_int_equal(count, 2);
    assert_int_equal(devices[0].id, 5);
    assert_string_equal(devices[0].name, "five");
    assert_int_equal(devices[1].id, 4);
    assert_string_equal(devices[1].name, "four");
    ridge_trace_free(trace);
}

#define KERNEL_SET(what) "UPDATE " NSYS_KERNEL " SET " what " WHERE start = 9000;"
#define CALL_SET(what) "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET " what " WHERE start = 8100;"

/* Work that names no process is that of the one that called; of none where several did. */
static struct owner_case {
    const char *name, *sql;
    size_t joined; /* kernels */
    bool is_several;
    int64_t process; /* of the first kernel */
} owners[] = {
    {"as recorded", NSYS_ALL, 2, false, 1000},
    {"a column without values", NSYS_ALL "UPDATE " NSYS_KERNEL " SET globalPid = NULL;", 2, false,
     1000},
    {"no column", NSYS_ALL "ALTER TABLE " NSYS_KERNEL " DROP COLUMN globalPid;", 2, false, 1000},
    {"two processes called",
     NSYS_ALL "UPDATE " NSYS_KERNEL " SET globalPid = NULL;" CALL_SET("globalTid = 1001 << 24"), 0,
     true, 0},
    {"two processes, and work says whose", NSYS_ALL CALL_SET("globalTid = 1001 << 24"), 1, false,
     1000},
    {"nobody called", NSYS_STRINGS NSYS_KERNELS "UPDATE " NSYS_KERNEL " SET globalPid = NULL;", 0,
     false, 0},
};

static void finds_the_owner(void **state)
{
    const struct owner_case *const row = *state;
    ridge_trace *const trace = read_sql(row->sql);
    size_t count, joined = 0;
    const ridge_trace_op *const ops = ridge_trace_ops(trace, &count);
    const ridge_trace_stream *const streams = ridge_trace_streams(trace, &count);
    const ridge_trace_process *const processes = ridge_trace_processes(trace, &count);

    for (size_t i = 0; i < 2; i++)
        joined += ops[i].api != RIDGE_TRACE_NONE;
    assert_int_equal(joined, row->joined);
    assert_int_equal(ridge_trace_get_info(trace)->has_several_callers, row->is_several);
    assert_int_equal(processes[streams[ops[0].stream].process].id, row->process);
    assert_string_equal(ridge_trace_get_info(trace)->partial, "");
    ridge_trace_free(trace);
}

/* The environment lies between the settings that are read. */
static void settings_and_complaints(void **state)
{
    static const char *const command[] = {"python", "a b.py", "--x"};
    ridge_trace *const trace = read_sql(
        NSYS_ALL CAPTURE
        "INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ARGUMENT_10', '--x'),"
        " ('PROCESS_0:ENVIRONMENT_VARIABLE', 'TOKEN=secret'), ('PROCESS_0:USER_NAME', 'ann'),"
        " ('PROCESS_0:ARGUMENT_2', 'a b.py'), ('PROCESS_0:COMMAND', 'python'),"
        " ('PROCESS_1:COMMAND', 'other'), ('CUDA_SKIP_SOME_API_CALLS', 'true'),"
        " ('PROCESS_0:CUDA_SKIP_SOME_API_CALLS', 'false');"
        "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);"
        "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000);"
        "CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, severity INTEGER, text TEXT);"
        "INSERT INTO DIAGNOSTIC_EVENT VALUES"
        " (1, 2, 'see /home/ann/x.log and (C:\\Users\\ann\\y.log), SLI/NVLink'),"
        " (2, 2, 'twice'), (3, 2, 'twice'), (4, 1, 'twice');");
    const ridge_trace_info *const info = ridge_trace_get_info(trace);
    const ridge_trace_diagnostic *diagnostics;
    size_t count;

    (void)state;
    assert_int_equal(info->command_count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(info->command[i], command[i]);
    assert_true(info->skips_cheap_calls);
    assert_int_equal(info->base_ns, 1700000000000000000);
    diagnostics = ridge_trace_diagnostics(trace, &count);
    assert_int_equal(count, 3);
    assert_string_equal(diagnostics[0].text, "see x.log and (y.log), SLI/NVLink");
    assert_int_equal(diagnostics[1].severity, 2);
    assert_int_equal(diagnostics[2].severity, 1);
    ridge_trace_free(trace);
}

/* -- what is wrong ----------------------------------------------------------------------------- */

typedef struct wrong_case {
    const char *name;
    const char *sql;
    ridge_status status;
    const char *text; /* in the error, or in what is partial; NULL: nothing is */
    size_t ops, calls;
    uint64_t skipped;
} wrong_case;

static wrong_case wrongs[] = {
    {"nothing wrong", NSYS_ALL, RIDGE_OK, NULL, 2, 2, 0},
    {"no tables", "CREATE TABLE x (a); DROP TABLE x;", RIDGE_ERR_FORMAT, "without the tables", 0, 0,
     0},
    {"other tables", "CREATE TABLE x (a);", RIDGE_ERR_FORMAT, "without the tables", 0, 0, 0},
    {"a ledger", "PRAGMA application_id = 0x52644C67; CREATE TABLE x (a);", RIDGE_ERR_FORMAT,
     "a ledger", 0, 0, 0},
    {"strings alone", NSYS_STRINGS, RIDGE_OK, NULL, 0, 0, 0},
    {"no strings", NSYS_KERNELS NSYS_CALLS, RIDGE_OK, NULL, 2, 2, 0},
    {"no calls", NSYS_STRINGS NSYS_KERNELS, RIDGE_OK, NULL, 2, 0, 0},
    {"empty tables", NSYS_STRINGS NSYS_RUNTIME NVTX, RIDGE_OK, NULL, 0, 0, 0},
    {"text for a time", NSYS_ALL KERNEL_SET("end = 'later'"), RIDGE_OK, NULL, 1, 2, 1},
    {"a fraction for a time", NSYS_ALL KERNEL_SET("end = 9500.5"), RIDGE_OK, NULL, 1, 2, 1},
    {"bytes for a time", NSYS_ALL KERNEL_SET("end = x'00ff'"), RIDGE_OK, NULL, 1, 2, 1},
    {"text for a name", NSYS_ALL KERNEL_SET("demangledName = 'gemm'"), RIDGE_OK, NULL, 1, 2, 1},
    {"no string of that number", NSYS_ALL KERNEL_SET("demangledName = 999, shortName = -1"),
     RIDGE_OK, NULL, 2, 2, 0},
    {"a string that is bytes", NSYS_ALL "UPDATE StringIds SET value = x'00ff' WHERE id < 3;",
     RIDGE_OK, NULL, 2, 2, 0},
    {"no correlation", NSYS_ALL KERNEL_SET("correlationId = NULL, globalPid = NULL"), RIDGE_OK,
     NULL, 2, 2, 0},
    {"a time near the largest", NSYS_ALL KERNEL_SET("end = 9223372036854775807"), RIDGE_OK, NULL, 1,
     2, 1},
    {"a time near the least", NSYS_ALL KERNEL_SET("start = -9223372036854775807"), RIDGE_OK, NULL,
     1, 2, 1},
    {"a negative device", NSYS_ALL KERNEL_SET("deviceId = -1"), RIDGE_OK, NULL, 1, 2, 1},
    {"a context of 64 bits", NSYS_ALL KERNEL_SET("contextId = 1 << 40"), RIDGE_OK, NULL, 1, 2, 1},
    {"a grid of 64 bits", NSYS_ALL KERNEL_SET("gridX = 1 << 40, gridY = -4"), RIDGE_OK, NULL, 2, 2,
     0},
    {"a call that ends before it starts", NSYS_ALL CALL_SET("end = 8000"), RIDGE_OK, NULL, 2, 1, 1},
    {"a call at the largest time", NSYS_ALL CALL_SET("start = 9223372036854775807, end = start"),
     RIDGE_OK, NULL, 2, 1, 1},
    {"a call without a thread", NSYS_ALL CALL_SET("globalTid = NULL"), RIDGE_OK, NULL, 2, 1, 1},
    {"a table without a column that all have",
     NSYS_STRINGS NSYS_CALLS "CREATE TABLE " NSYS_KERNEL " (start, end, streamId);", RIDGE_OK,
     "CUPTI_ACTIVITY_KIND_KERNEL has no column deviceId", 0, 2, 0},
    {"columns in capitals",
     NSYS_STRINGS NSYS_CALLS
     "CREATE TABLE cupti_activity_kind_kernel (START, \"END\", DEVICEID, STREAMID);"
     "INSERT INTO cupti_activity_kind_kernel VALUES (1, 2, 0, 7);",
     RIDGE_OK, NULL, 1, 2, 0},
    {"a view for a table, without an end",
     NSYS_STRINGS NSYS_CALLS
     "CREATE VIEW " NSYS_KERNEL
     " AS WITH RECURSIVE t(start) AS (SELECT 1 UNION ALL SELECT start + 1 FROM t) SELECT start,"
     " start AS end, 0 AS deviceId, 7 AS streamId FROM t;",
     RIDGE_OK, NULL, 0, 2, 0},
    {"a computed column that is required",
     NSYS_STRINGS NSYS_CALLS "CREATE TABLE " NSYS_KERNEL
                             " (start, deviceId, streamId, end AS (start + abs(start)));"
                             "INSERT INTO " NSYS_KERNEL " VALUES (1, 0, 7);",
     RIDGE_OK, "has no column end", 0, 2, 0},
    {"a table without row numbers",
     NSYS_STRINGS NSYS_CALLS "CREATE TABLE " NSYS_KERNEL
                             " (start INTEGER PRIMARY KEY, end, deviceId, streamId) WITHOUT ROWID;"
                             "INSERT INTO " NSYS_KERNEL " VALUES (1, 2, 0, 7);",
     RIDGE_OK, "CUPTI_ACTIVITY_KIND_KERNEL", 0, 2, 0},
    {"an index with all that is read, in another order",
     NSYS_STRINGS NSYS_CALLS
     "CREATE TABLE " NSYS_KERNEL " (start, end, deviceId, streamId, a TEXT, b TEXT, c TEXT);"
     "CREATE INDEX i ON " NSYS_KERNEL " (start, end, deviceId, streamId);"
     "INSERT INTO " NSYS_KERNEL
     " VALUES (30, 40, 0, 7, '', '', ''), (20, 30, 0, 7, '', '', ''), (10, 20, 0, 7, '', '', '');",
     RIDGE_OK, NULL, 3, 2, 0},
    {"text in UTF-16", "PRAGMA encoding = 'UTF-16';" NSYS_ALL, RIDGE_OK, NULL, 2, 2, 0},
};

static void reads_wrong(void **state)
{
    const wrong_case *const row = *state;
    ridge_error err = {0};
    ridge_trace *const trace = nsys_support_read(row->sql, &err);
    size_t count;

    if (row->status != RIDGE_OK) {
        assert_null(trace);
        assert_int_equal(err.status, row->status);
        assert_non_null(strstr(err.text, row->text));
        return;
    }
    if (trace == NULL)
        fail_msg("%s", err.text);
    if (row->text == NULL && row->skipped > 0)
        assert_non_null(strstr(ridge_trace_get_info(trace)->partial, "malformed and left out"));
    else if (row->text == NULL)
        assert_string_equal(ridge_trace_get_info(trace)->partial, "");
    else
        assert_non_null(strstr(ridge_trace_get_info(trace)->partial, row->text));
    ridge_trace_ops(trace, &count);
    assert_int_equal(count, row->ops);
    ridge_trace_apis(trace, &count);
    assert_int_equal(count, row->calls);
    assert_int_equal(ridge_trace_get_info(trace)->skipped_count, row->skipped);
    ridge_trace_free(trace);
}

/* -- large files: calls are read beside work --------------------------------------------------- */

#define MANY "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19999) "
/* Five calls of a thread at one time, some of them of one name by two numbers. */
#define MANY_ROWS                                                                                  \
    NSYS_STRINGS "INSERT INTO StringIds VALUES (20, 'cudaLaunchKernel');" NSYS_META                \
                 "CREATE TABLE " NSYS_KERNEL " (" NSYS_KERNEL_COLUMNS ");" NSYS_RUNTIME MANY       \
                 "INSERT INTO " NSYS_KERNEL                                                        \
                 " SELECT i * 90 + 50, i * 90 + 99, 0, 1, 7 + i % 3, i + 1, " NSYS_PID             \
                 " + ((i % 5) << 24), 1, 2, 1, 1, 1, 64, 1, 1, 8, 0, i % 4 FROM n;" MANY           \
                 "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT i / 5 * 90, i / 5 * 90 + 40 - "   \
                 "(i % 1000 = 7) * 60, (i % 9 = 4) * 67, " NSYS_PID                                \
                 " + ((i / 5 % 7) << 24) + i / 5 % 11, i + 1, 3 + i % 2 * 6 + (i % 4 = 3) * 11, "  \
                 "0, NULL FROM n;"

static void check_work(const ridge_trace *a, const ridge_trace *b)
{
    size_t a_count, b_count;
    const ridge_trace_op *const a_rows = ridge_trace_ops(a, &a_count);
    const ridge_trace_op *const b_rows = ridge_trace_ops(b, &b_count);

    assert_int_equal(a_count, b_count);
    assert_true(a_count > 10000);
    for (size_t i = 0; i < a_count; i++) {
        assert_int_equal(a_rows[i].start_ns, b_rows[i].start_ns);
        assert_int_equal(a_rows[i].stream, b_rows[i].stream);
        assert_int_equal(a_rows[i].name, b_rows[i].name);
        assert_int_equal(a_rows[i].api, b_rows[i].api);
    }
}

static void check_calls(const ridge_trace *a, const ridge_trace *b)
{
    size_t a_count, b_count;
    const ridge_trace_api *const a_rows = ridge_trace_apis(a, &a_count);
    const ridge_trace_api *const b_rows = ridge_trace_apis(b, &b_count);

    assert_int_equal(a_count, b_count);
    assert_true(a_count > 10000);
    for (size_t i = 0; i < a_count; i++) {
        assert_int_equal(a_rows[i].start_ns, b_rows[i].start_ns);
        assert_int_equal(a_rows[i].end_ns, b_rows[i].end_ns);
        assert_int_equal(a_rows[i].name, b_rows[i].name);
        assert_int_equal(a_rows[i].thread, b_rows[i].thread);
        assert_int_equal(a_rows[i].op_count, b_rows[i].op_count);
    }
    ridge_trace_repeats(a, &a_count);
    ridge_trace_repeats(b, &b_count);
    assert_int_equal(a_count, b_count);
}

static void reads_calls_beside_work(void **state)
{
    size_t size, a_count, b_count;
    uint8_t *const bytes = nsys_support_make(MANY_ROWS, &size);
    char path[] = "nsys-XXXXXX";
    const int descriptor = mkstemp(path);
    ridge_trace *a, *b;

    (void)state;
    assert_true(size > 1 << 20);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, bytes, size), (ssize_t)size);
    close(descriptor);
    assert_int_equal(ridge_trace_open(path, NULL, &a, NULL), RIDGE_OK);
    assert_int_equal(ridge_trace_read(bytes, size, path, NULL, &b, NULL), RIDGE_OK);
    unlink(path);
    check_calls(a, b);
    check_work(a, b);
    ridge_trace_threads(a, &a_count);
    ridge_trace_threads(b, &b_count);
    assert_int_equal(a_count, b_count);
    assert_int_equal(ridge_trace_name_count(a), ridge_trace_name_count(b));
    assert_int_equal(ridge_trace_get_info(a)->event_count, ridge_trace_get_info(b)->event_count);
    assert_int_equal(ridge_trace_get_info(a)->skipped_count, 20);
    assert_int_equal(ridge_trace_get_info(b)->skipped_count, 20);
    assert_int_equal(ridge_trace_get_info(a)->repeated_count,
                     ridge_trace_get_info(b)->repeated_count);
    ridge_trace_free(a);
    ridge_trace_free(b);
    free(bytes);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, reads_version, versions);
    CASES_ADD_ROWS(&list, reads_range, range_cases);
    CASES_ADD_ROWS(&list, finds_the_owner, owners);
    CASES_ADD_ROWS(&list, reads_wrong, wrongs);
    cases_add(&list, "copies and sets", copies_and_sets, NULL);
    cases_add(&list, "second rows of calls", second_rows_of_calls, NULL);
    cases_add(&list, "waits of known threads", waits_of_known_threads, NULL);
    cases_add(&list, "overheads and synchronisation", overheads_and_synchronisation, NULL);
    cases_add(&list, "devices that processes count differently",
              devices_that_processes_count_differently, NULL);
    cases_add(&list, "settings and complaints", settings_and_complaints, NULL);
    cases_add(&list, "reads calls beside work", reads_calls_beside_work, NULL);
    return cases_run(&list, "nsys");
}
