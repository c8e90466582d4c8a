/* SPDX-License-Identifier: Apache-2.0
 *
 * Redacted exports: what must be gone from the bytes, what must read as before, and that a failure
 * leaves no file. */
#include "cases.h"

#include <unistd.h>

#include "base/memory.h"
#include "nsys_support.h"
#include "ridge/trace_redact.h"

#define SETTINGS                                                                                   \
    "CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);"                                      \
    "INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:COMMAND', '/home/smith/bin/train'),"         \
    " ('PROCESS_0:ARGUMENT_0', '--token=hunter22'), ('PROCESS_0:USER_NAME', 'smith'),"             \
    " ('PROCESS_0:WORKING_DIR', '/home/smith/run'), ('CUDA_SKIP_SOME_API_CALLS', 'true'),"         \
    " ('RECORDING_BEGAN:77', '2000000000'),"                                                       \
    " ('PROCESS_0:ENVIRONMENT_VARIABLE', 'API_KEY=hunter22');"                                     \
    "CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);"                                 \
    "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Hostname', 'wintermute.example.org'),"            \
    " ('DeviceEnvironment', 'HOME=/home/smith' || char(10) || 'LOGNAME=jones' || char(10) ||"      \
    " 'SSH_CLIENT=203.0.113.7 22 22');"

/* Each is put behind settings and a plain trace. */
typedef struct gone_case {
    const char *name;
    const char *sql;
    const char *kept; /* must be in the file; NULL: nothing in particular */
} gone_case;

#define NVTX                                                                                       \
    "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT,"          \
    " globalTid INTEGER, textId INTEGER, domainId INTEGER);"

static gone_case gones[] = {
    {"settings and environment", "", "gemm<float, 128>"},
    {"the name of a range",
     NVTX
     "INSERT INTO NVTX_EVENTS VALUES (1, 2, 59, 'smith and jones on wintermute: load', " NSYS_TID
     ", NULL, 0);",
     "_____ and _____ on __________: load"},
    {"a path in a string",
     NVTX "INSERT INTO StringIds VALUES (50, 'read /home/smith/secret/x.bin');"
          "INSERT INTO NVTX_EVENTS VALUES (1, 2, 59, NULL, " NSYS_TID ", 50, 0);",
     "x.bin"},
    {"a complaint",
     "CREATE TABLE DIAGNOSTIC_EVENT (severity INTEGER, text TEXT);"
     "INSERT INTO DIAGNOSTIC_EVENT VALUES (2, 'no access to /home/smith/secret/log');",
     "no access to /home/"},
    {"strings that no row names", "INSERT INTO StringIds VALUES (60, 'smith printed hunter22');",
     NULL},
    {"processes of the machine",
     "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);"
     "INSERT INTO PROCESSES VALUES (1, 2, 'sshd: smith'); INSERT INTO StringIds VALUES (61,"
     " 'sshd: smith'); CREATE TABLE ThreadNames (nameId INTEGER, globalTid INTEGER);"
     "INSERT INTO ThreadNames VALUES (61, 77), (8, " NSYS_TID ");",
     "main thread"},
    {"a column of somebody else's",
     "ALTER TABLE " NSYS_KERNEL " ADD note TEXT; UPDATE " NSYS_KERNEL " SET note = 'smith';", NULL},
    {"a table and a view of somebody else's",
     "CREATE TABLE hunter22 (smith TEXT); CREATE VIEW jones AS SELECT 1;", NULL},
    {"text where a number belongs",
     "UPDATE " NSYS_KERNEL " SET streamId = 'hunter22' WHERE start = 9000;", NULL},
    {"what was deleted before",
     "CREATE TABLE OSRT_API (start, end, globalTid, note);"
     "INSERT INTO OSRT_API VALUES (1, 2, 3, 'hunter22');"
     "DELETE FROM OSRT_API;",
     NULL},
};

static char folder[] = "/tmp/ridge_redact_XXXXXX", in_path[64], out_path[64];

static int make_paths(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(in_path, sizeof(in_path), "%s/in", folder);
    snprintf(out_path, sizeof(out_path), "%s/out", folder);
    return 0;
}

static int remove_paths(void **state)
{
    (void)state;
    unlink(in_path);
    unlink(out_path);
    return rmdir(folder);
}

static void write_in(const char *sql)
{
    size_t size_bytes;
    uint8_t *const bytes = nsys_support_make(sql, &size_bytes);
    FILE *const stream = fopen(in_path, "wb");

    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size_bytes, stream), size_bytes);
    fclose(stream);
    free(bytes);
    unlink(out_path);
}

static bool out_holds(const char *text)
{
    FILE *const stream = fopen(out_path, "rb");
    const size_t length = strlen(text);
    static char bytes[1 << 20];
    size_t size;

    assert_non_null(stream);
    size = fread(bytes, 1, sizeof(bytes), stream);
    fclose(stream);
    for (size_t i = 0; i + length <= size; i++)
        if (memcmp(bytes + i, text, length) == 0)
            return true;
    return false;
}

static void is_gone(void **state)
{
    static const char *const secrets[] = {"smith",      "jones",     "hunter22",
                                          "wintermute", "203.0.113", "example.org"};
    const gone_case *const row = *state;
    char sql[8192];
    ridge_trace_redaction summary;
    ridge_trace *trace;
    ridge_error err;

    assert_true((size_t)snprintf(sql, sizeof(sql), "%s%s%s", NSYS_ALL, SETTINGS, row->sql) <
                sizeof(sql));
    write_in(sql);
    if (ridge_trace_redact(in_path, out_path, &summary, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++)
        if (out_holds(secrets[i]))
            fail_msg("'%s' is still there", secrets[i]);
    if (row->kept != NULL)
        assert_true(out_holds(row->kept));
    assert_int_equal(summary.environment_count, 4);
    assert_int_equal(summary.user_count, 2);
    assert_int_equal(summary.host_count, 1);
    assert_int_equal(summary.argument_count, 1);
    assert_int_equal(summary.remaining_count, 0);
    assert_int_equal(ridge_trace_open(out_path, NULL, &trace, &err), RIDGE_OK);
    assert_string_equal(ridge_trace_get_info(trace)->partial, "");
    assert_int_equal(ridge_trace_get_info(trace)->command_count, 1);
    assert_string_equal(ridge_trace_get_info(trace)->command[0], "train");
    assert_true(ridge_trace_get_info(trace)->skips_cheap_calls);
    assert_true(ridge_trace_get_info(trace)->is_delayed);
    ridge_trace_free(trace);
}

/* Names of kernels stay, and it is said. */
static void remains_in_kernels(void **state)
{
    ridge_trace_redaction summary;

    (void)state;
    write_in(NSYS_ALL SETTINGS "UPDATE StringIds SET value = 'smith_gemm' WHERE id = 2;");
    assert_int_equal(ridge_trace_redact(in_path, out_path, &summary, NULL), RIDGE_OK);
    assert_true(out_holds("smith_gemm"));
    assert_int_equal(summary.remaining_count, 1);
    assert_string_equal(summary.remaining, "smith");
}

static void tells_the_format(void **state)
{
    ridge_trace_redaction summary;

    (void)state;
    write_in(NSYS_ALL);
    assert_int_equal(ridge_trace_redact(in_path, out_path, &summary, NULL), RIDGE_OK);
    assert_int_equal(summary.format, RIDGE_TRACE_NSYS);
    write_in(NSYS_ALL "DROP TABLE IF EXISTS META_DATA_EXPORT;"
                      "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);"
                      "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_NAME', 'ridge');");
    assert_int_equal(ridge_trace_redact(in_path, out_path, &summary, NULL), RIDGE_OK);
    assert_int_equal(summary.format, RIDGE_TRACE_RECORD);
}

/* Twice gives the same bytes as once. */
static void again(void **state)
{
    ridge_trace_redaction summary;

    (void)state;
    write_in(NSYS_ALL SETTINGS);
    assert_int_equal(ridge_trace_redact(in_path, out_path, &summary, NULL), RIDGE_OK);
    assert_int_equal(rename(out_path, in_path), 0);
    assert_int_equal(ridge_trace_redact(in_path, out_path, &summary, NULL), RIDGE_OK);
    assert_int_equal(summary.user_count + summary.host_count + summary.mention_count, 0);
    assert_int_equal(summary.part_count + summary.row_count, 0);
}

static void refused(void **state)
{
    ridge_error err = {0};
    FILE *stream;

    (void)state;
    write_in(NSYS_ALL SETTINGS);
    assert_int_equal(truncate(in_path, 8192), 0);
    assert_int_equal(ridge_trace_redact(in_path, out_path, NULL, &err), RIDGE_ERR_FORMAT);
    assert_int_equal(access(out_path, F_OK), -1);
    write_in("CREATE TABLE x (a);");
    assert_int_equal(ridge_trace_redact(in_path, out_path, NULL, &err), RIDGE_ERR_FORMAT);
    assert_int_equal(access(out_path, F_OK), -1);
    write_in(NSYS_ALL);
    stream = fopen(out_path, "wb");
    assert_non_null(stream);
    fputs("mine", stream);
    fclose(stream);
    assert_int_equal(ridge_trace_redact(in_path, out_path, NULL, &err), RIDGE_ERR_IO);
    assert_true(out_holds("mine"));
    assert_int_equal(ridge_trace_redact("/nowhere/in", out_path, NULL, &err), RIDGE_ERR_IO);
    unlink(out_path);
}

/* Whoever writes it has not finished: what is in the file may be taken back. */
static void refused_while_written(void **state)
{
    static const char *const endings[] = {"-wal", "-journal"};
    ridge_error err = {0};

    (void)state;
    write_in(NSYS_ALL);
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        char beside[600];
        FILE *stream;

        snprintf(beside, sizeof(beside), "%s%s", in_path, endings[i]);
        stream = fopen(beside, "wb");
        assert_non_null(stream);
        fputs("rows", stream);
        fclose(stream);
        assert_int_equal(ridge_trace_redact(in_path, out_path, NULL, &err), RIDGE_ERR_FORMAT);
        assert_non_null(strstr(err.text, endings[i]));
        assert_int_equal(access(out_path, F_OK), -1);
        unlink(beside);
    }
}

static void out_of_memory(void **state)
{
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;

    (void)state;
    write_in(NSYS_ALL SETTINGS NVTX
             "INSERT INTO NVTX_EVENTS VALUES (1, 2, 59, 'of smith', " NSYS_TID ", NULL, 0);");
    for (size_t nth = 1; status != RIDGE_OK; nth++) {
        ridge_error err = {0};

        ridge_memory_fail_at(nth);
        status = ridge_trace_redact(in_path, out_path, NULL, &err);
        ridge_memory_fail_at(0);
        if (status != RIDGE_OK) {
            assert_int_equal(status, RIDGE_ERR_OUT_OF_MEMORY);
            assert_int_equal(access(out_path, F_OK), -1);
        }
        assert_true(nth < 5000);
    }
    assert_false(out_holds("smith"));
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, is_gone, gones);
    cases_add(&list, "remains in names of kernels", remains_in_kernels, NULL);
    cases_add(&list, "tells the format", tells_the_format, NULL);
    cases_add(&list, "again", again, NULL);
    cases_add(&list, "refused", refused, NULL);
    cases_add(&list, "refused while it is written", refused_while_written, NULL);
    cases_add(&list, "out of memory", out_of_memory, NULL);
    return _cmocka_run_group_tests("nsys_redact", list.tests, list.count, make_paths, remove_paths);
}
