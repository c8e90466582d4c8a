/* SPDX-License-Identifier: Apache-2.0
 *
 * The way of a recording: a program that loads libridge_collect.so as the CUDA driver does, the spool
 * files of its processes over a CUPTI without a GPU, and the database made of them. Each row is a
 * program and what has to stand in the file. */
#include "cases.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/collect_internal.h"
#include "ridge/trace.h"

enum { WORDS_MOST = 10, ANSWERS_MOST = 16, PATH_BYTES = 512 };

static char folder[PATH_BYTES], database[PATH_BYTES + 16];

/* -- running ----------------------------------------------------------------------------------- */

static void empty_folder(void)
{
    DIR *const stream = opendir(folder);
    const struct dirent *entry;
    char path[2 * PATH_BYTES];

    assert_non_null(stream);
    while ((entry = readdir(stream)) != NULL) {
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.')
            unlink(path);
    }
    closedir(stream);
}

static int make_folder(void)
{
    snprintf(folder, sizeof(folder), "%s", "/tmp/ridge-test-collect-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(database, sizeof(database), "%s/out.sqlite", folder);
    return 0;
}

static void remove_folder(void)
{
    empty_folder();
    rmdir(folder);
}

/* "NAME=VALUE NAME=VALUE" into the environment of this process. */
static void set_variables(const char *list)
{
    while (*list != '\0') {
        const size_t length = strcspn(list, " ");
        char pair[PATH_BYTES], *equals;

        snprintf(pair, sizeof(pair), "%.*s", (int)length, list);
        equals = strchr(pair, '=');
        assert_non_null(equals);
        *equals = '\0';
        setenv(pair, equals + 1, 1);
        list += length;
        list += *list == ' ';
    }
}

/* Its exit status, or minus the signal. */
static int run(const char *words, const char *variables, const char *cupti)
{
    const pid_t child = fork();
    int state = 0;

    if (child == 0) {
        char text[PATH_BYTES], *arguments[WORDS_MOST], *rest = text;
        static char program[] = RECORDED_PROGRAM;
        size_t count = 1;

        setenv("CUDA_INJECTION64_PATH", COLLECTOR, 1);
        setenv("NVTX_INJECTION64_PATH", COLLECTOR, 1);
        setenv(COLLECT_SPOOLS, folder, 1);
        setenv(COLLECT_CUPTI, cupti, 1);
        set_variables(variables);
        snprintf(text, sizeof(text), "%s", words);
        arguments[0] = program;
        while (count + 1 < WORDS_MOST && (arguments[count] = strtok_r(rest, " ", &rest)) != NULL)
            count++;
        arguments[count] = NULL;
        execv(program, arguments);
        _exit(97);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &state, 0), child);
    return WIFEXITED(state) ? WEXITSTATUS(state) : -WTERMSIG(state);
}

/* -- what is in the file ----------------------------------------------------------------------- */

static const char *const command[] = {"./program", "--size", "a b"};

static ridge_collect_totals merge(void)
{
    const ridge_collect_options options = {
        .command_count = 3, .command = command, .skips_cheap_calls = true};
    ridge_collect_totals totals;
    ridge_error err = {RIDGE_OK, ""};

    if (ridge_collect_merge(folder, database, &options, &totals, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    return totals;
}

/* The first column of the first row as text; "none" without a row. */
static void ask(const char *sql, char *out, size_t size)
{
    sqlite3 *file = NULL;
    sqlite3_stmt *statement = NULL;

    assert_int_equal(sqlite3_open_v2(database, &file, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    if (sqlite3_prepare_v2(file, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(file));
    snprintf(out, size, "none");
    if (sqlite3_step(statement) == SQLITE_ROW) {
        const unsigned char *const text = sqlite3_column_text(statement, 0);

        snprintf(out, size, "%s", text != NULL ? (const char *)text : "null");
    }
    sqlite3_finalize(statement);
    sqlite3_close(file);
}

struct answer {
    const char *sql, *expected;
};

#define KERNELS "CUPTI_ACTIVITY_KIND_KERNEL"
#define CALLS "CUPTI_ACTIVITY_KIND_RUNTIME"
#define NAME_OF(column) "(select value from StringIds where id = " column ")"
#define RANGE(text) " from NVTX_EVENTS where " NAME_OF("textId") " = '" text "'"

static struct program_row {
    const char *name, *words, *variables, *cupti;
    int exit_status;
    ridge_collect_totals totals; /* counts alone */
    struct answer answers[ANSWERS_MOST];
} programs[] = {
    {"a kernel and its call",
     "cuda launch",
     "",
     FAKE_CUPTI,
     0,
     {.process_count = 1, .kernel_count = 1, .call_count = 1, .span_ns = 10000},
     {
         {"select start || ' ' || end from " KERNELS, "7000 17000"},
         {"select start || ' ' || end from " CALLS, "0 5000"},
         {"select k.correlationId = r.correlationId and k.globalPid = r.globalTid & ~0xffffff "
          "from " KERNELS " k, " CALLS " r",
          "1"},
         {"select " NAME_OF("demangledName") " from " KERNELS, "ns::kernel<4, float4>"},
         {"select " NAME_OF("shortName") " from " KERNELS, "kernel"},
         {"select " NAME_OF("mangledName") " from " KERNELS, "_ZN2ns6kernelILi4E6float4EEvPKT0_i"},
         {"select gridX || ' ' || gridY || ' ' || blockX || ' ' || registersPerThread || ' ' || "
          "staticSharedMemory || ' ' || dynamicSharedMemory from " KERNELS,
          "10 2 128 32 64 4096"},
         {"select graphNodeId from " KERNELS, "null"},
         {"select " NAME_OF("nameId") " || ' ' || eventClass from " CALLS,
          "cudaLaunchKernel_v7000 0"},
         {"select globalTid & 0xffffff from " CALLS, "1001"},
         {"select name || ' ' || smCount || ' ' || memoryBandwidth || ' ' || clockRate || ' ' || "
          "computeMajor from TARGET_INFO_GPU",
          "Fake GPU 132 4800000000000 1980000000 9"},
         {"select nullStreamId || ' ' || contextId from TARGET_INFO_CUDA_CONTEXT_INFO", "7 1"},
         {"select value from META_DATA_EXPORT where name = 'EXPORT_PRODUCT_NAME'", "ridge"},
         {"select group_concat(value, '|') from META_DATA_CAPTURE where name like 'PROCESS_0:%'",
          "./program|--size|a b"},
         {"select value from META_DATA_CAPTURE where name = 'CUDA_GRAPH_TRACE_OPTIONS:MODE'",
          "Node"},
     }},
    {"the other records",
     "cuda rest",
     "",
     FAKE_CUPTI,
     0,
     {.process_count = 1,
      .kernel_count = 1,
      .copy_count = 3,
      .call_count = 2,
      .untimed_count = 1,
      .span_ns = 500},
     {
         {"select bytes || ' ' || copyKind || ' ' || srcKind || ' ' || dstKind from "
          "CUPTI_ACTIVITY_KIND_MEMCPY where copyKind = 1",
          "4096 1 1 2"},
         {"select srcDeviceId || ' ' || dstDeviceId from CUPTI_ACTIVITY_KIND_MEMCPY where copyKind "
          "= 10",
          "0 1"},
         {"select bytes || ' ' || memKind from CUPTI_ACTIVITY_KIND_MEMSET", "512 2"},
         {"select syncType || ' ' || streamId from CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "3 7"},
         {"select overheadType || ' ' || (globalTid & 0xffffff) from CUPTI_ACTIVITY_KIND_OVERHEAD",
          "7 1001"},
         {"select start || ' ' || end from " KERNELS, "0 0"},
         {"select " NAME_OF("nameId") " || ' ' || eventClass from " CALLS " where eventClass = 1",
          "cuModuleLoadData 1"},
         {"select " NAME_OF("nameId") " || ' ' || (end - start) from " CALLS
                                      " where eventClass = 0",
          "cudaGetDevice_v3020 50000"},
         {"select " NAME_OF("nameId") " from ThreadNames", "worker"},
     }},
    {"a kernel of a graph",
     "cuda graph",
     "",
     FAKE_CUPTI,
     0,
     {.process_count = 1, .kernel_count = 1, .call_count = 1, .span_ns = 10000},
     {{"select graphNodeId || ' ' || graphId from " KERNELS, "4294967297 3"}}},
    {"ranges",
     "nvtx cuda ranges",
     "",
     FAKE_CUPTI,
     0,
     {.process_count = 1, .range_count = 5},
     {
         {"select eventType || ' ' || start || ' ' || end" RANGE("inner"), "59 10 20"},
         {"select eventType || ' ' || start || ' ' || end" RANGE("outer"), "60 0 40"},
         {"select eventType" RANGE("crosses"), "59"},
         {"select text from NVTX_EVENTS where eventType = 75 and domainId = (select domainId" RANGE(
              "crosses") ")",
          "library"},
         {"select eventType || ' ' || (endGlobalTid & 0xffffff)" RANGE("other thread"), "60 1002"},
         {"select eventType || ' ' || start" RANGE("mark"), "34 80"},
         {"select end" RANGE("open"), "null"},
         {"select domainId" RANGE("inner"), "0"},
     }},
    {"every call",
     "cuda launch",
     COLLECT_API "=all",
     FAKE_CUPTI,
     0,
     {.process_count = 1, .kernel_count = 1, .call_count = 2, .span_ns = 10000},
     {{NULL, NULL}}},
    {"cheap calls of a CUPTI that cannot leave them out",
     "cuda launch",
     "",
     FAKE_CUPTI_OLD,
     0,
     {.process_count = 1, .kernel_count = 1, .call_count = 1, .span_ns = 10000},
     {{NULL, NULL}}},
    {"no call",
     "cuda launch",
     COLLECT_API "=none",
     FAKE_CUPTI,
     0,
     {.process_count = 1, .kernel_count = 1, .span_ns = 10000},
     {{"select count(*) from sqlite_master where name = '" CALLS "'", "0"}}},
    {"threads",
     "cuda threads",
     "",
     FAKE_CUPTI,
     0,
     {.process_count = 1, .kernel_count = 40000, .call_count = 40000, .span_ns = 799990000},
     {{"select count(distinct globalTid) from " CALLS, "8"},
      {"select count(distinct demangledName) from " KERNELS, "50"},
      {"select count(*) from " KERNELS " k join " CALLS " r on k.correlationId = r.correlationId",
       "40000"}}},
    {"a child that ends in order",
     "cuda launch fork launch",
     "",
     FAKE_CUPTI,
     0,
     {.process_count = 1, .kernel_count = 2, .call_count = 2, .span_ns = 30000},
     {{NULL, NULL}}},
    {"killed",
     "cuda launch flush launch kill",
     "",
     FAKE_CUPTI,
     -9,
     {.process_count = 1, .unended_count = 1, .kernel_count = 1, .call_count = 1, .span_ns = 10000},
     {{"select severity || ' ' || text from DIAGNOSTIC_EVENT",
       "2 did not end in order: 1 of 1 processes; what they had not written is lost"}}},
    {"without atexit",
     "cuda launch quit",
     "",
     FAKE_CUPTI,
     0,
     {.process_count = 1, .silent_count = 1},
     {{NULL, NULL}}},
    {"records that were dropped",
     "cuda launch",
     "FAKE_CUPTI_DROPPED=77",
     FAKE_CUPTI,
     0,
     {.process_count = 1,
      .kernel_count = 1,
      .call_count = 1,
      .dropped_count = 77,
      .span_ns = 10000},
     {{"select text from DIAGNOSTIC_EVENT", "CUPTI dropped 77 records for want of memory"}}},
    {"a kind that CUPTI refuses",
     "cuda launch",
     "FAKE_CUPTI_REFUSE=10",
     FAKE_CUPTI,
     0,
     {.process_count = 1, .call_count = 1},
     {{"select text from DIAGNOSTIC_EVENT",
       "CUPTI refuses records of kind 10: CUPTI_ERROR_INVALID_KIND"}}},
    {"an older CUPTI",
     "cuda launch",
     "FAKE_CUPTI_VERSION=18",
     FAKE_CUPTI_OLD,
     0,
     {.process_count = 1, .kernel_count = 1, .call_count = 1, .span_ns = 10000},
     {{"select value from META_DATA_CAPTURE where name = 'CUPTI_VERSION'", "18"}}},
    {"a CUPTI that is too old",
     "cuda launch",
     "FAKE_CUPTI_VERSION=17",
     FAKE_CUPTI,
     0,
     {.process_count = 1, .silent_count = 1},
     {{"select text like '%is CUPTI 17, expected 18 (CUDA 11.8)%' from DIAGNOSTIC_EVENT", "1"}}},
    {"a CUPTI that is not known yet",
     "cuda launch",
     "FAKE_CUPTI_VERSION=140000",
     FAKE_CUPTI,
     0,
     {.process_count = 1, .silent_count = 1},
     {{NULL, NULL}}},
    {"a library that is none",
     "cuda",
     "",
     "/nonexistent/libcupti.so.13\n",
     0,
     {.process_count = 1, .silent_count = 1},
     {{"select text like '%/nonexistent/libcupti.so.13%' from DIAGNOSTIC_EVENT", "1"}}},
    {"the next one of a list",
     "cuda",
     "",
     FAKE_CUPTI "\n/nonexistent/libcupti.so.12\n",
     0,
     {.process_count = 1, .silent_count = 1},
     {{"select value from META_DATA_CAPTURE where name = 'CUPTI_VERSION'", "130001"}}},
    {"after a delay",
     "cuda launch on launch",
     COLLECT_DELAY "=2000",
     FAKE_CUPTI,
     0,
     {.process_count = 1, .kernel_count = 1, .call_count = 1, .span_ns = 10000},
     {{"select start from " KERNELS, "27000"},
      {"select count(*) from META_DATA_CAPTURE where name glob 'RECORDING_BEGAN:[1-9]*' and "
       "cast(value as integer) between 2000000000 and 600000000000",
       "1"}}},
    {"for a while",
     "cuda launch off launch",
     COLLECT_DURATION "=2000",
     FAKE_CUPTI,
     0,
     {.process_count = 1, .kernel_count = 1, .call_count = 1, .span_ns = 10000},
     {{"select start from " KERNELS, "7000"},
      {"select count(*) from META_DATA_CAPTURE where name like 'RECORDING_BEGAN%'", "0"}}},
};

static void check_totals(const ridge_collect_totals *found, const ridge_collect_totals *expected)
{
    assert_int_equal(found->process_count, expected->process_count);
    assert_int_equal(found->silent_count, expected->silent_count);
    assert_int_equal(found->unended_count, expected->unended_count);
    assert_int_equal(found->damaged_count, expected->damaged_count);
    assert_int_equal(found->kernel_count, expected->kernel_count);
    assert_int_equal(found->copy_count, expected->copy_count);
    assert_int_equal(found->call_count, expected->call_count);
    assert_int_equal(found->range_count, expected->range_count);
    assert_int_equal(found->dropped_count, expected->dropped_count);
    assert_int_equal(found->untimed_count, expected->untimed_count);
    assert_int_equal(found->span_ns, expected->span_ns);
}

static void records_a_program(void **state)
{
    const struct program_row *const row = *state;
    ridge_collect_totals totals;
    char text[512];
    size_t i;

    empty_folder();
    assert_int_equal(run(row->words, row->variables, row->cupti), row->exit_status);
    totals = merge();
    check_totals(&totals, &row->totals);
    for (i = 0; i < ANSWERS_MOST && row->answers[i].sql != NULL; i++) {
        ask(row->answers[i].sql, text, sizeof(text));
        assert_string_equal(text, row->answers[i].expected);
    }
}

/* -- several processes, none ------------------------------------------------------------------- */

static void merges_processes(void **state)
{
    ridge_collect_totals totals;
    char text[64];

    (void)state;
    empty_folder();
    assert_int_equal(run("cuda launch", "", FAKE_CUPTI), 0);
    assert_int_equal(run("cuda launch launch 3", "", FAKE_CUPTI), 3);
    totals = merge();
    assert_int_equal(totals.process_count, 2);
    assert_int_equal(totals.kernel_count, 3);
    ask("select count(distinct globalPid) from " KERNELS, text, sizeof(text));
    assert_string_equal(text, "2");
    ask("select count(*) from " KERNELS " k join " CALLS " r on k.correlationId = r.correlationId "
        "and k.globalPid = r.globalTid & ~0xffffff",
        text, sizeof(text));
    assert_string_equal(text, "3");
    /* One name, one string, whatever the number of processes. */
    ask("select count(*) from StringIds where value = 'kernel'", text, sizeof(text));
    assert_string_equal(text, "1");
}

static void leaves_no_file_without_processes(void **state)
{
    ridge_collect_totals totals;

    (void)state;
    empty_folder();
    totals = merge();
    assert_int_equal(totals.process_count, 0);
    assert_int_not_equal(access(database, F_OK), 0);
}

static void says_what_cannot_be_read(void **state)
{
    const ridge_collect_options options = {.command_count = 0};
    ridge_collect_totals totals = {.kernel_count = 7};
    ridge_error err = {RIDGE_OK, ""};

    (void)state;
    assert_int_equal(ridge_collect_merge("/nonexistent", database, &options, &totals, &err),
                     RIDGE_ERR_IO);
    assert_string_equal(err.text, "cannot be read: No such file or directory");
    assert_int_equal(totals.kernel_count, 0);
    empty_folder();
    assert_int_equal(run("cuda launch", "", FAKE_CUPTI), 0);
    assert_int_equal(
        ridge_collect_merge(folder, "/nonexistent/out.sqlite", &options, &totals, &err),
        RIDGE_ERR_IO);
    assert_int_equal(strncmp(err.text, "cannot be written: ", 19), 0);
}

/* -- as a trace -------------------------------------------------------------------------------- */

static const char *name_of(const ridge_trace *trace, uint32_t name)
{
    return ridge_trace_name(trace, name, NULL);
}

/* Where launches are counted from. */
static struct delayed_case {
    const char *name, *words, *variables;
    bool is_delayed;
} delayed_cases[] = {
    {"from the process", "cuda launch", "", false},
    {"from a delay on", "cuda on launch", COLLECT_DELAY "=50", true},
    {"to a duration", "cuda launch off launch", COLLECT_DURATION "=2000", false},
};

static void tells_a_delay(void **state)
{
    const struct delayed_case *const row = *state;
    ridge_trace *trace = NULL;
    ridge_error err = {RIDGE_OK, ""};

    empty_folder();
    assert_int_equal(run(row->words, row->variables, FAKE_CUPTI), 0);
    merge();
    if (ridge_trace_open(database, NULL, &trace, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(ridge_trace_get_info(trace)->is_delayed, row->is_delayed);
    ridge_trace_free(trace);
}

/* What ridge timeline makes of it. */
static void opens_as_a_trace(void **state)
{
    const ridge_trace_range *ranges;
    const ridge_trace_api *apis;
    const ridge_trace_op *ops;
    const ridge_trace_info *info;
    ridge_trace *trace = NULL;
    ridge_error err = {RIDGE_OK, ""};
    size_t count, i, library = 0, plain = 0;

    (void)state;
    empty_folder();
    assert_int_equal(run("nvtx cuda launch graph ranges", "", FAKE_CUPTI), 0);
    merge();
    if (ridge_trace_open(database, NULL, &trace, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    info = ridge_trace_get_info(trace);
    assert_int_equal(info->format, RIDGE_TRACE_RECORD);
    assert_int_equal(info->graph_mode, RIDGE_GRAPH_MODE_NODE);
    assert_true(info->has_api && info->skips_cheap_calls && !info->is_partial);
    assert_int_equal(info->command_count, 3);
    assert_string_equal(info->command[2], "a b");
    ops = ridge_trace_ops(trace, &count);
    assert_int_equal(count, 2);
    assert_string_equal(name_of(trace, ops[0].name), "ns::kernel<4, float4>");
    assert_string_equal(name_of(trace, ops[0].short_name), "kernel");
    assert_true((ops[1].flags & RIDGE_OP_IN_GRAPH) != 0);
    apis = ridge_trace_apis(trace, &count);
    assert_int_equal(count, 2);
    assert_true(apis[ops[0].api].end_ns < ops[0].start_ns);
    ranges = ridge_trace_ranges(trace, &count);
    for (i = 0; i < count; i++) {
        library += strcmp(name_of(trace, ranges[i].name), "library:crosses") == 0;
        plain += strcmp(name_of(trace, ranges[i].name), ":inner") == 0;
    }
    assert_int_equal(library, 1);
    assert_int_equal(plain, 1);
    ridge_trace_free(trace);
}

/* -- damage, memory ---------------------------------------------------------------------------- */

/* The one spool file of the folder. */
static size_t read_spool(unsigned char *bytes, size_t size)
{
    DIR *const stream = opendir(folder);
    const struct dirent *entry;
    size_t length = 0;

    assert_non_null(stream);
    while ((entry = readdir(stream)) != NULL)
        if (strstr(entry->d_name, SPOOL_SUFFIX) != NULL) {
            char path[2 * PATH_BYTES];
            FILE *file;

            snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
            file = fopen(path, "rb");
            assert_non_null(file);
            length = fread(bytes, 1, size, file);
            fclose(file);
        }
    closedir(stream);
    return length;
}

static ridge_status merge_bytes(const unsigned char *bytes, size_t size,
                                ridge_collect_totals *totals, ridge_error *err)
{
    const ridge_collect_options options = {.command_count = 3, .command = command};
    const ridge_slice slice = {bytes, size};

    memset(totals, 0, sizeof(*totals));
    return collect_merge_bytes(&slice, 1, ":memory:", &options, totals, err);
}

/* Cut anywhere (at every seventh byte), what stands before is read, and the rest is said to be missing. */
static void reads_what_is_left(void **state)
{
    static unsigned char bytes[1 << 16];
    ridge_error err = {RIDGE_OK, ""};
    ridge_collect_totals whole, totals;
    uint64_t before = 0;
    size_t size, length;

    (void)state;
    empty_folder();
    assert_int_equal(run("nvtx cuda launch launch graph rest ranges", "", FAKE_CUPTI), 0);
    size = read_spool(bytes, sizeof(bytes));
    assert_in_range(size, 1000, sizeof(bytes) - 1);
    assert_int_equal(merge_bytes(bytes, size, &whole, &err), RIDGE_OK);
    assert_int_equal(whole.damaged_count, 0);
    for (length = 0; length < size; length += 7) {
        assert_int_equal(merge_bytes(bytes, length, &totals, &err), RIDGE_OK);
        assert_int_equal(totals.process_count, 1);
        assert_true(totals.damaged_count + totals.silent_count + totals.unended_count > 0);
        assert_true(totals.kernel_count >= before);
        before = totals.kernel_count;
    }
    assert_int_equal(before, whole.kernel_count);
}

static void survives_every_failed_allocation(void **state)
{
    static unsigned char bytes[1 << 16];
    ridge_collect_totals totals;
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    size_t nth = 0, size;

    (void)state;
    empty_folder();
    assert_int_equal(run("nvtx cuda launch rest ranges", "", FAKE_CUPTI), 0);
    size = read_spool(bytes, sizeof(bytes));
    while (status == RIDGE_ERR_OUT_OF_MEMORY) {
        ridge_error err = {RIDGE_OK, ""};

        ridge_memory_fail_at(++nth);
        status = merge_bytes(bytes, size, &totals, &err);
        ridge_memory_fail_at(0);
        if (status == RIDGE_ERR_OUT_OF_MEMORY)
            assert_string_equal(err.text, "out of memory");
    }
    assert_int_equal(status, RIDGE_OK);
    assert_true(nth > 5);
}

/* -- names ------------------------------------------------------------------------------------- */

static struct name_row {
    const char *name, *base;
} names[] = {
    {"kernel", "kernel"},
    {"ns::kernel<4, float4>", "kernel"},
    {"a::b<x::y>::kernel<c::d<e>>", "kernel"},
    {"(anonymous namespace)::kernel", "kernel"},
    {"ns::(anonymous namespace)::kernel<int>(float*)", "kernel"},
    {"", ""},
    {"ends::", ""},
    {"<>", "<>"},
};

static void takes_the_base_of_a_name(void **state)
{
    const struct name_row *const row = *state;
    char text[64];

    collect_base_name(row->name, text, sizeof(text));
    assert_string_equal(text, row->base);
}

int main(void)
{
    static cases list;
    int status;

    if (make_folder() != 0)
        return 1;
    CASES_ADD_ROWS(&list, records_a_program, programs);
    CASES_ADD_ROWS(&list, takes_the_base_of_a_name, names);
    CASES_ADD_ROWS(&list, tells_a_delay, delayed_cases);
    cases_add(&list, "two processes", merges_processes, NULL);
    cases_add(&list, "as a trace", opens_as_a_trace, NULL);
    cases_add(&list, "no process", leaves_no_file_without_processes, NULL);
    cases_add(&list, "no folder, no file", says_what_cannot_be_read, NULL);
    cases_add(&list, "cut anywhere", reads_what_is_left, NULL);
    cases_add(&list, "out of memory", survives_every_failed_allocation, NULL);
    status = cases_run(&list, "collect");
    remove_folder();
    return status;
}
