/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge_trace_redact(): which format, and a file that a failure takes away. */
#include "timeline/trace_redact_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "timeline/kineto/kineto_internal.h"
#include "timeline/timeline_internal.h"

bool ridge_trace_is_trace(const char *path)
{
    static const char sqlite[] = "SQLite format 3";
    kineto_input *input;
    char bytes[256];
    size_t size, at = 0;

    if (kineto_input_open(path, NULL, 0, &input, NULL) != RIDGE_OK)
        return false;
    size = kineto_input_read(input, bytes, sizeof(bytes));
    kineto_input_free(input);
    if (size >= sizeof(sqlite) && memcmp(bytes, sqlite, sizeof(sqlite)) == 0)
        return true;
    while (at < size && memchr(" \t\r\n", bytes[at], 4) != NULL)
        at++;
    return at < size && (bytes[at] == '{' || bytes[at] == '[');
}

ridge_status ridge_trace_redact(const char *path, const char *out_path,
                                ridge_trace_redaction *summary, ridge_error *err)
{
    ridge_trace_redaction own;
    ridge_file file = {0};
    bool is_sqlite = false;
    int descriptor;
    ridge_status status = ridge_file_open(path, &file, err);

    if (status == RIDGE_OK)
        status = trace_recognise(file.bytes.data, file.bytes.size, path, &is_sqlite, err);
    ridge_file_release(&file);
    if (status != RIDGE_OK)
        return status;
    descriptor = open(out_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0)
        return ridge_fail(err, RIDGE_ERR_IO, "cannot be written: %s", strerror(errno));
    close(descriptor);
    summary = summary != NULL ? summary : &own;
    *summary = (ridge_trace_redaction){0};
    status = is_sqlite ? nsys_redact(path, out_path, summary, err)
                       : kineto_redact(path, out_path, summary, err);
    if (status != RIDGE_OK)
        unlink(out_path);
    return status;
}
