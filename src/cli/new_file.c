/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that commands write. A new file is written beside its place and moved there when it is
 * complete, so that a failure leaves nothing behind, and no file is replaced without --force. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options.h"

static int write_error(const char *path, const char *what, int number)
{
    cli_message(path, "%s: %s", what, strerror(number));
    return ridge_status_exit(RIDGE_ERR_IO);
}

/* Of a file that is not there: whether one can be made. */
static int check_folder(const char *path)
{
    const char *const slash = strrchr(path, '/');
    char *folder;
    int status = CLI_DONE;

    if (slash == NULL || slash == path)
        return CLI_DONE; /* writing it will say why not */
    folder = strndup(path, (size_t)(slash - path));
    if (folder != NULL && access(folder, F_OK) != 0)
        status = write_error(path, "cannot be written", errno);
    free(folder);
    return status;
}

int cli_check_target(const char *path, const char *input, bool force)
{
    struct stat in, out;

    if (stat(path, &out) != 0)
        return check_folder(path);
    if (!S_ISREG(out.st_mode)) {
        cli_message(path, "exists and is not a regular file");
        return CLI_USAGE;
    }
    if (input != NULL && stat(input, &in) == 0 && in.st_dev == out.st_dev &&
        in.st_ino == out.st_ino)
        return cli_usage_error("input and output are the same file");
    if (!force) {
        cli_message(path, "exists; --force replaces it");
        return CLI_USAGE;
    }
    return CLI_DONE;
}

static bool write_all(int descriptor, const uint8_t *bytes, size_t size_bytes)
{
    while (size_bytes > 0) {
        const ssize_t done = write(descriptor, bytes, size_bytes);

        if (done < 0 && errno != EINTR)
            return false;
        if (done > 0) {
            bytes += done;
            size_bytes -= (size_t)done;
        }
    }
    return true;
}

/* Moves a file; without force only to where nothing stands yet. */
static bool move(const char *from, const char *to, bool force)
{
    if (!force) {
        if (link(from, to) == 0)
            return unlink(from) == 0;
        if (errno == EEXIST)
            return false;
        /* A file system without links: the check before has to do. */
    }
    return rename(from, to) == 0;
}

bool cli_try_to_place(const char *temporary, const char *path, bool force)
{
    const mode_t mask = umask(0);

    umask(mask);
    return chmod(temporary, 0666 & ~mask) == 0 && move(temporary, path, force);
}

int cli_place_file(const char *temporary, const char *path, bool force)
{
    return cli_try_to_place(temporary, path, force) ? CLI_DONE
                                                    : write_error(path, "cannot be written", errno);
}

int cli_write_file(const char *path, const void *bytes, size_t size_bytes, bool force)
{
    const size_t room = strlen(path) + sizeof(".XXXXXX");
    char *const temporary = malloc(room);
    int status = CLI_DONE;
    int descriptor;

    if (temporary == NULL) {
        cli_message(path, "out of memory");
        return ridge_status_exit(RIDGE_ERR_OUT_OF_MEMORY);
    }
    snprintf(temporary, room, "%s.XXXXXX", path);
    descriptor = mkstemp(temporary);
    if (descriptor < 0) {
        status = write_error(path, "cannot be written", errno);
        free(temporary);
        return status;
    }
    if (!write_all(descriptor, bytes, size_bytes))
        status = write_error(path, "cannot be written", errno);
    if (close(descriptor) != 0 && status == CLI_DONE)
        status = write_error(path, "cannot be written", errno);
    if (status == CLI_DONE)
        status = cli_place_file(temporary, path, force);
    if (status != CLI_DONE)
        unlink(temporary);
    free(temporary);
    return status;
}

int cli_write_through(const char *path, int (*write)(const char *temporary, void *context),
                      void *context, bool force)
{
    const char *const base = cli_base_name(path);
    const size_t room = strlen(path) + sizeof(".XXXXXX");
    const size_t file_room = room + strlen(base) + 1;
    char *const folder = malloc(room), *const file = malloc(file_room);
    int status = CLI_DONE;

    if (folder == NULL || file == NULL) {
        cli_message(path, "out of memory");
        status = ridge_status_exit(RIDGE_ERR_OUT_OF_MEMORY);
        goto out;
    }
    snprintf(folder, room, "%s.XXXXXX", path);
    if (mkdtemp(folder) == NULL) {
        status = write_error(path, "cannot be written", errno);
        goto out;
    }
    snprintf(file, file_room, "%s/%s", folder, base);
    status = write(file, context);
    if (status == CLI_DONE)
        status = cli_place_file(file, path, force);
    unlink(file); /* there only after a failure */
    rmdir(folder);
out:
    free(file);
    free(folder);
    return status;
}

int cli_write_output(const char *path, void (*write)(ridge_output *output, const void *context),
                     const void *context, bool force)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const stream = open_memstream(&text, &size);
    ridge_output *const output = stream != NULL ? ridge_output_create(stream, 0, false) : NULL;
    ridge_error err;
    int status;

    if (stream == NULL) {
        cli_message(path, "out of memory");
        return ridge_status_exit(RIDGE_ERR_OUT_OF_MEMORY);
    }
    write(output, context);
    status = ridge_output_close(output, &err) == RIDGE_OK ? CLI_DONE : cli_fail(path, &err);
    if (fclose(stream) != 0 && status == CLI_DONE) {
        cli_message(path, "out of memory");
        status = ridge_status_exit(RIDGE_ERR_OUT_OF_MEMORY);
    }
    if (status == CLI_DONE)
        status = cli_write_file(path, text, size, force);
    free(text);
    return status;
}
