/* SPDX-License-Identifier: Apache-2.0
 *
 * Exports that are cut, damaged or in use, and nothing written beside them. */
#include "cases.h"

#include <dirent.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "nsys_support.h"

/* Some pages of kernels, calls and ranges. */
#define LARGE                                                                                      \
    NSYS_ALL                                                                                       \
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO "   \
    "CUPTI_ACTIVITY_KIND_RUNTIME SELECT 10000 + i * 100, 10050 + i * 100, 0, " NSYS_TID            \
    ", 100 + i, 3, 0, NULL FROM n;"                                                                \
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT "        \
    "INTO " NSYS_KERNEL " SELECT 10060 + i * 100, 10090 + i * 100, 0, 1, 7, 100 + i, " NSYS_PID    \
    ", 1, 2, 1, 1, 1, 32, 1, 1, 16, 0, 0 FROM n;"

/* What a trace holds is within itself, whatever the bytes were. */
static void check_whole(const ridge_trace *trace)
{
    size_t op_count, api_count, stream_count, device_count, thread_count;
    const ridge_trace_op *const ops = ridge_trace_ops(trace, &op_count);
    const ridge_trace_api *const calls = ridge_trace_apis(trace, &api_count);
    const ridge_trace_stream *const streams = ridge_trace_streams(trace, &stream_count);

    ridge_trace_devices(trace, &device_count);
    ridge_trace_threads(trace, &thread_count);
    for (size_t i = 0; i < op_count; i++) {
        assert_true(ops[i].end_ns >= ops[i].start_ns);
        assert_true(ops[i].stream < stream_count);
        assert_true(ops[i].api == RIDGE_TRACE_NONE || ops[i].api < api_count);
        assert_true(ops[i].name <= ridge_trace_name_count(trace));
    }
    for (size_t i = 0; i < api_count; i++)
        assert_true(calls[i].thread < thread_count);
    for (size_t i = 0; i < stream_count; i++)
        assert_true(streams[i].device < device_count);
}

static size_t op_count_of(const uint8_t *bytes, size_t size_bytes, bool *is_partial)
{
    ridge_error err = {0};
    ridge_trace *trace;
    size_t count = 0;

    *is_partial = true;
    if (ridge_trace_read(bytes, size_bytes, "test", NULL, &trace, &err) != RIDGE_OK) {
        assert_true(err.status == RIDGE_ERR_FORMAT);
        assert_true(err.text[0] != '\0');
        return 0;
    }
    check_whole(trace);
    *is_partial = ridge_trace_get_info(trace)->is_partial;
    ridge_trace_ops(trace, &count);
    ridge_trace_free(trace);
    return count;
}

static void cut_anywhere(void **state)
{
    size_t size_bytes, last = 0;
    uint8_t *const bytes = nsys_support_make(LARGE, &size_bytes);
    bool is_partial;

    (void)state;
    assert_int_equal(op_count_of(bytes, size_bytes, &is_partial), 302);
    assert_false(is_partial);
    for (size_t cut = 100; cut < size_bytes; cut += 509) {
        uint8_t *const part = malloc(cut); /* exactly, for the sanitizer */

        assert_non_null(part);
        memcpy(part, bytes, cut);
        last = op_count_of(part, cut, &is_partial);
        assert_true(is_partial);
        free(part);
    }
    assert_true(last > 0); /* only the end was missing */
    free(bytes);
}

static void bits_flipped(void **state)
{
    size_t size_bytes;
    uint8_t *const bytes = nsys_support_make(LARGE, &size_bytes);
    uint64_t random = 0x9e3779b97f4a7c15u;
    bool is_partial;

    (void)state;
    for (int i = 0; i < 1500; i++) {
        size_t at;

        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        /* Half of them in the first page, with the header and the schema. */
        at = (size_t)(random >> 8) % (i % 2 == 0 ? 4096 : size_bytes);
        bytes[at] ^= (uint8_t)(1u << (random & 7));
        op_count_of(bytes, size_bytes, &is_partial);
        bytes[at] ^= (uint8_t)(1u << (random & 7));
    }
    free(bytes);
}

/* A page in the middle of the kernels is no page; what came before it stays, and all else. */
static void page_damaged(void **state)
{
    size_t size_bytes, count;
    uint8_t *const bytes = nsys_support_make(LARGE, &size_bytes);
    const size_t page = 4096;
    size_t found = 0;
    ridge_trace *trace;

    (void)state;
    for (size_t at = page; at < size_bytes; at += page) {
        const uint8_t kept = bytes[at];

        if (kept != 13) /* a leaf of a table */
            continue;
        bytes[at] = 99;
        assert_int_equal(ridge_trace_read(bytes, size_bytes, "test", NULL, &trace, NULL), RIDGE_OK);
        check_whole(trace);
        ridge_trace_ops(trace, &count);
        if (count < 302) {
            assert_non_null(strstr(ridge_trace_get_info(trace)->partial, "KERNEL"));
            ridge_trace_apis(trace, &count);
            assert_int_equal(count, 302);
            found++;
        }
        ridge_trace_free(trace);
        bytes[at] = kept;
    }
    assert_true(found > 1);
    free(bytes);
}

/* A page that stands in the tree twice ends the scan, or its maker could say how long it takes. */
static void page_twice(void **state)
{
    size_t size_bytes, changed = 0;
    uint8_t *const bytes = nsys_support_make(LARGE, &size_bytes);
    bool is_partial;

    (void)state;
    for (size_t at = 4096; at < size_bytes; at += 4096) {
        const size_t cells = (size_t)bytes[at + 3] << 8 | bytes[at + 4];
        size_t first, second;

        if (bytes[at] != 5 || cells < 2) /* an inner page of a table */
            continue;
        first = (size_t)bytes[at + 12] << 8 | bytes[at + 13];
        second = (size_t)bytes[at + 14] << 8 | bytes[at + 15];
        memcpy(bytes + at + second, bytes + at + first, 4);
        changed++;
    }
    assert_true(changed > 1);
    op_count_of(bytes, size_bytes, &is_partial);
    assert_true(is_partial);
    free(bytes);
}

/* As a writer with a log leaves it. */
static void header_of_a_log(void **state)
{
    size_t size_bytes;
    uint8_t *const bytes = nsys_support_make(NSYS_ALL, &size_bytes);
    bool is_partial;

    (void)state;
    bytes[18] = bytes[19] = 2;
    assert_int_equal(op_count_of(bytes, size_bytes, &is_partial), 2);
    assert_false(is_partial);
    free(bytes);
}

static void out_of_memory(void **state)
{
    size_t size_bytes;
    uint8_t *const bytes = nsys_support_make(LARGE, &size_bytes);
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;

    (void)state;
    for (size_t nth = 1; status != RIDGE_OK; nth++) {
        ridge_trace *trace;
        ridge_error err = {0};

        ridge_memory_fail_at(nth);
        status = ridge_trace_read(bytes, size_bytes, "test", NULL, &trace, &err);
        ridge_memory_fail_at(0);
        assert_true((status == RIDGE_OK) == (trace != NULL));
        if (status != RIDGE_OK)
            assert_int_equal(status, RIDGE_ERR_OUT_OF_MEMORY);
        ridge_trace_free(trace);
        assert_true(nth < 10000);
    }
    free(bytes);
}

/* -- files ------------------------------------------------------------------------------------- */

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/ridge_nsys_XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : 1;
}

static void path_in(const char *name, char *path, size_t size)
{
    assert_true((size_t)snprintf(path, size, "%s/%s", folder, name) < size);
}

static void write_file(const char *name, const void *bytes, size_t size_bytes)
{
    char path[256];
    FILE *stream;

    path_in(name, path, sizeof(path));
    stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size_bytes, stream), size_bytes);
    fclose(stream);
}

static int remove_folder(void **state)
{
    DIR *const directory = opendir(folder);
    const struct dirent *entry;

    (void)state;
    chmod(folder, 0700);
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        char path[512];

        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        unlink(path);
    }
    if (directory != NULL)
        closedir(directory);
    return rmdir(folder);
}

static size_t count_files(void)
{
    DIR *const directory = opendir(folder);
    size_t count = 0;

    assert_non_null(directory);
    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    return count;
}

typedef struct file_case {
    const char *name;
    const char *file;
    bool is_read_only; /* file and folder */
    bool is_log;       /* says that it is written with a log */
    const char *beside;
    const char *partial; /* NULL: not */
} file_case;

static file_case file_cases[] = {
    {"a plain file", "a.sqlite", false, false, NULL, NULL},
    {"a name with marks of addresses", "a?mode=rw#b%41 %c&d.sqlite", false, false, NULL, NULL},
    {"read only", "r.sqlite", true, false, NULL, NULL},
    {"written with a log", "w.sqlite", false, true, NULL, NULL},
    {"with a log beside it", "l.sqlite", false, true, "l.sqlite-wal", "-wal file"},
    {"with a journal beside it", "j.sqlite", false, false, "j.sqlite-journal", "-journal file"},
};

static void reads_file(void **state)
{
    const file_case *const row = *state;
    size_t size_bytes, count, before;
    uint8_t *const bytes = nsys_support_make(NSYS_ALL, &size_bytes);
    struct stat was, is;
    ridge_trace *trace;
    ridge_error err;
    char path[256];

    if (row->is_log)
        bytes[18] = bytes[19] = 2;
    write_file(row->file, bytes, size_bytes);
    if (row->beside != NULL)
        write_file(row->beside, "unfinished", 10);
    path_in(row->file, path, sizeof(path));
    if (row->is_read_only) {
        assert_int_equal(chmod(path, 0400), 0);
        assert_int_equal(chmod(folder, 0500), 0);
    }
    before = count_files();
    assert_int_equal(stat(path, &was), 0);
    if (ridge_trace_open(path, NULL, &trace, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    ridge_trace_ops(trace, &count);
    assert_int_equal(count, 2);
    if (row->partial == NULL)
        assert_string_equal(ridge_trace_get_info(trace)->partial, "");
    else
        assert_non_null(strstr(ridge_trace_get_info(trace)->partial, row->partial));
    ridge_trace_free(trace);
    assert_int_equal(count_files(), before);
    assert_int_equal(stat(path, &is), 0);
    assert_int_equal(was.st_mtime, is.st_mtime);
    assert_int_equal(was.st_size, is.st_size);
    chmod(folder, 0700);
    free(bytes);
}

/* Somebody holds the file with a lock; reading neither waits nor fails. */
static void locked_file(void **state)
{
    size_t size_bytes, count;
    uint8_t *const bytes = nsys_support_make(NSYS_ALL, &size_bytes);
    sqlite3 *other;
    ridge_trace *trace;
    char path[256];

    (void)state;
    write_file("locked.sqlite", bytes, size_bytes);
    path_in("locked.sqlite", path, sizeof(path));
    assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(ridge_trace_open(path, NULL, &trace, NULL), RIDGE_OK);
    ridge_trace_ops(trace, &count);
    assert_int_equal(count, 2);
    ridge_trace_free(trace);
    sqlite3_close(other);
    free(bytes);
}

/* -- other files ------------------------------------------------------------------------------- */

typedef struct other_case {
    const char *name, *file;
    const char *bytes;
    size_t size_bytes;
    ridge_status status;
    const char *text;
} other_case;

#define BYTES(text) text, sizeof(text) - 1

static other_case others[] = {
    {"a report", "a.nsys-rep", BYTES("NVIDIA Tegra Profiler Report 2025@5@2@266-1v0.\n\x0b"),
     RIDGE_ERR_UNSUPPORTED,
     "a report of Nsight Systems 2025.5.2, which only nsys reads: nsys export --type sqlite "
     "--output a.sqlite a.nsys-rep"},
    {"a report under another name", "trace", BYTES("NVIDIA Tegra Profiler Report \n"),
     RIDGE_ERR_UNSUPPORTED, "--output trace.sqlite trace"},
    {"a report by its name", "b c.qdrep", BYTES("????"), RIDGE_ERR_UNSUPPORTED,
     "--output FILE.sqlite FILE"},
    {"a hidden file", ".nsys-rep", BYTES("????"), RIDGE_ERR_UNSUPPORTED,
     "--output .nsys-rep.sqlite .nsys-rep"},
    {"Nsight Compute", "k.ncu-rep", BYTES("NVR\0\x01\x02"), RIDGE_ERR_UNSUPPORTED,
     "ridge diagnose k.ncu-rep"},
    {"Parquet", "a.parquet", BYTES("PAR1...."), RIDGE_ERR_UNSUPPORTED, "Parquet"},
    {"HDF5", "a.h5", BYTES("\x89HDF\r\n\x1a\n"), RIDGE_ERR_UNSUPPORTED, "HDF5"},
    {"Arrow", "a.arrow", BYTES("ARROW1\0\0"), RIDGE_ERR_UNSUPPORTED, "Arrow"},
    {"a pointer", "a.json", BYTES("version https://git-lfs.github.com/spec/v1\noid sha256:0\n"),
     RIDGE_ERR_UNSUPPORTED, "git lfs pull"},
    {"Perfetto", "a.pftrace", BYTES("\n\x30xxxx"), RIDGE_ERR_UNSUPPORTED, "Perfetto"},
    {"Perfetto by its bytes", "a", BYTES("\n\x30\x40\0\0\0\0\0\0\0"), RIDGE_ERR_UNSUPPORTED,
     "Perfetto"},
    {"rocprofv3", "a.json", BYTES("{\n  \"rocprofiler-sdk-tool\": ["), RIDGE_ERR_UNSUPPORTED,
     "rocprofv3"},
    {"zip", "a.zip", BYTES("PK\x03\x04...."), RIDGE_ERR_UNSUPPORTED, "unpack"},
    {"empty", "a", BYTES(""), RIDGE_ERR_FORMAT, "empty"},
    {"SQLite, cut in its header", "a", BYTES("SQLite format 3\0\x10\0"), RIDGE_ERR_FORMAT, "cut"},
};

static void tells_others(void **state)
{
    const other_case *const row = *state;
    ridge_trace *trace;
    ridge_error err = {0};

    assert_int_equal(ridge_trace_read(row->bytes, row->size_bytes, row->file, NULL, &trace, &err),
                     row->status);
    assert_null(trace);
    if (strstr(err.text, row->text) == NULL)
        fail_msg("%s", err.text);
}

static void tells_folders(void **state)
{
    ridge_trace *trace;
    ridge_error err = {0};

    (void)state;
    assert_int_equal(ridge_trace_open(folder, NULL, &trace, &err), RIDGE_ERR_IO);
    assert_non_null(strstr(err.text, "a directory"));
    write_file("a.parquet", "PAR1", 4);
    assert_int_equal(ridge_trace_open(folder, NULL, &trace, &err), RIDGE_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "Parquet"));
}

int main(void)
{
    static cases list;

    cases_add(&list, "cut anywhere", cut_anywhere, NULL);
    cases_add(&list, "bits flipped", bits_flipped, NULL);
    cases_add(&list, "a page damaged", page_damaged, NULL);
    cases_add(&list, "a page twice in the tree", page_twice, NULL);
    cases_add(&list, "the header of a log", header_of_a_log, NULL);
    cases_add(&list, "out of memory", out_of_memory, NULL);
    CASES_ADD_ROWS(&list, reads_file, file_cases);
    cases_add(&list, "locked", locked_file, NULL);
    CASES_ADD_ROWS(&list, tells_others, others);
    cases_add(&list, "folders", tells_folders, NULL);
    return _cmocka_run_group_tests("nsys_damage", list.tests, list.count, make_folder,
                                   remove_folder);
}
