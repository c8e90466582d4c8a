/* SPDX-License-Identifier: Apache-2.0
 *
 * What a file is by its first bytes, and by its name where they say nothing: which reader takes it,
 * or what to do instead. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "timeline/timeline_internal.h"

static bool begins_with(const uint8_t *bytes, size_t size, const char *magic, size_t length)
{
    return size >= length && memcmp(bytes, magic, length) == 0;
}

static bool ends_with(const char *name, const char *ending)
{
    const size_t length = strlen(name), size = strlen(ending);

    return length >= size && strcmp(name + length - size, ending) == 0;
}

/* The name for a command line: as it is when a shell reads it as it is, else a placeholder. */
static const char *in_shell(const char *name)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._+-";
    const size_t length = strlen(name);

    return length > 0 && length < 100 && name[0] != '-' && strspn(name, plain) == length ? name
                                                                                         : "FILE";
}

/* Up to the ending that says what it is. */
static int stem_length(const char *name)
{
    const char *const dot = strrchr(name, '.');
    const char *const slash = strrchr(name, '/');

    return (int)(dot != NULL && dot != name && (slash == NULL || dot > slash + 1)
                     ? dot - name
                     : (long)strlen(name));
}

static ridge_status say_export(const char *what, const char *name, ridge_error *err)
{
    const char *const shown = in_shell(name);

    return ridge_fail(
        err, RIDGE_ERR_UNSUPPORTED,
        "%s, which only nsys reads: nsys export --type sqlite --output %.*s.sqlite %s", what,
        stem_length(shown), shown, shown);
}

/* "NVIDIA Tegra Profiler Report 2025@5@2@266-...": nsys refuses reports newer than itself. */
static ridge_status say_report(const uint8_t *bytes, size_t size, size_t at, const char *name,
                               ridge_error *err)
{
    char what[80] = "a report of Nsight Systems ";
    size_t to = strlen(what);
    int parts = 0;

    while (at < size && bytes[at] == ' ')
        at++;
    for (; at < size && to < sizeof(what) - 1; at++) {
        const bool is_digit = bytes[at] >= '0' && bytes[at] <= '9';

        if (!is_digit && (bytes[at] != '@' || ++parts == 3))
            break;
        what[to++] = is_digit ? (char)bytes[at] : '.';
    }
    while (what[to - 1] == ' ' || what[to - 1] == '.')
        to--;
    what[to] = '\0';
    return say_export(what, name, err);
}

static bool is_rocprof(const uint8_t *bytes, size_t size)
{
    static const char key[] = "\"rocprofiler-sdk-tool\"";
    size_t at = 0;

    while (at < size && at < 256 && memchr(" \t\r\n{", bytes[at], 5) != NULL)
        at++;
    return begins_with(bytes + at, size - at, key, sizeof(key) - 1);
}

/* A stream of packets: field 1, a length, and inside again a field of one to a hundred. Text that
 * begins with an empty line begins with the same byte. */
static bool is_perfetto(const uint8_t *bytes, size_t size, const char *name)
{
    if (ends_with(name, ".pftrace") || ends_with(name, ".perfetto-trace"))
        return true;
    return size > 8 && bytes[0] == '\n' && bytes[1] > ' ' && bytes[1] != '{' && bytes[1] != '[' &&
           memchr(bytes, 0, 8) != NULL;
}

ridge_status trace_recognise(const uint8_t *bytes, size_t size, const char *name, bool *is_sqlite,
                             ridge_error *err)
{
    static const char sqlite[] = "SQLite format 3";
    static const char nsys[] = "NVIDIA Tegra Profiler Report";
    static const char pointer[] = "version https://git-lfs";

    *is_sqlite = begins_with(bytes, size, sqlite, sizeof(sqlite));
    if (*is_sqlite)
        return RIDGE_OK;
    if (size == 0)
        return ridge_fail(err, RIDGE_ERR_FORMAT, "the file is empty");
    if (begins_with(bytes, size, nsys, sizeof(nsys) - 1))
        return say_report(bytes, size, sizeof(nsys) - 1, name, err);
    if (begins_with(bytes, size, pointer, sizeof(pointer) - 1))
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "a Git LFS pointer, not the trace itself: git lfs pull");
    if (begins_with(bytes, size, "NVR\0", 4))
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "a report of Nsight Compute, of single kernels: ridge diagnose %s",
                          in_shell(name));
    if (begins_with(bytes, size, "PAR1", 4))
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "an export to Parquet: export to SQLite, nsys export --type sqlite");
    if (begins_with(bytes, size, "\x89HDF\r\n\x1a\n", 8))
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "an export to HDF5: export to SQLite, nsys export --type sqlite");
    if (begins_with(bytes, size, "ARROW1", 6))
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "an export to Arrow: export to SQLite, nsys export --type sqlite");
    if (begins_with(bytes, size, "PK\x03\x04", 4))
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED, "a zip archive: unpack it first");
    if (is_rocprof(bytes, size))
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "JSON of rocprofv3, which is not read: record with torch.profiler");
    if (is_perfetto(bytes, size, name))
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "a Perfetto trace, which is not read: give the JSON of torch.profiler");
    if (bytes[0] != '{' && bytes[0] != '[' &&
        (ends_with(name, ".nsys-rep") || ends_with(name, ".qdrep") || ends_with(name, ".qdstrm")))
        return say_export("a report of Nsight Systems", name, err);
    return RIDGE_OK;
}

ridge_status trace_recognise_folder(const char *path, ridge_error *err)
{
    struct stat found;
    bool has_parquet = false;
    const struct dirent *entry;
    DIR *folder;

    if (stat(path, &found) != 0 || !S_ISDIR(found.st_mode))
        return RIDGE_OK;
    folder = opendir(path);
    while (folder != NULL && !has_parquet && (entry = readdir(folder)) != NULL)
        has_parquet = ends_with(entry->d_name, ".parquet");
    if (folder != NULL)
        closedir(folder);
    if (has_parquet)
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "a directory of Parquet: export to SQLite, nsys export --type sqlite");
    return ridge_fail(err, RIDGE_ERR_IO, "a directory: name a trace in it");
}
