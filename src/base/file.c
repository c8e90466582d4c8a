/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole files in memory. Large ones are mapped; small ones, and those of file systems that cannot
 * map, are read. Compressed contents go through base/unpack.h. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ZLIB_CONST /* zlib does not write through next_in */
#include <zlib.h>
#include <zstd.h>

#include "base/memory.h"
#include "base/unpack.h"

enum {
    SMALL_BYTES = 1 << 16, /* below this a read is cheaper than a mapping and its page faults */
    ZLIB_PIECE_BYTES = 1 << 30, /* zlib counts in unsigned int */
};

static ridge_status fail_with_errno(ridge_error *err, const char *what, int number)
{
    char reason[160];

    if (strerror_r(number, reason, sizeof(reason)) != 0)
        strcpy(reason, "unknown reason");
    return ridge_fail(err, RIDGE_ERR_IO, "%s: %s", what, reason);
}

static const char *kind_of(mode_t mode)
{
    if (S_ISDIR(mode))
        return "a directory";
    if (S_ISFIFO(mode))
        return "a pipe";
    if (S_ISSOCK(mode))
        return "a socket";
    return S_ISCHR(mode) || S_ISBLK(mode) ? "a device" : "of an unknown kind";
}

static ridge_status read_contents(int descriptor, size_t size_bytes, ridge_file *out,
                                  ridge_error *err)
{
    uint8_t *const data = ridge_calloc(size_bytes, 1);
    size_t done = 0;

    if (data == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory for %zu bytes of the file",
                          size_bytes);
    while (done < size_bytes) {
        const ssize_t got = read(descriptor, data + done, size_bytes - done);

        if (got == 0)
            break; /* somebody cut the file just now: what is left of it is the file */
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            const int number = errno;

            ridge_free(data);
            return fail_with_errno(err, "cannot be read", number);
        }
        done += (size_t)got;
    }
    out->unpacked = data;
    out->bytes.data = data;
    out->bytes.size = done;
    return RIDGE_OK;
}

static ridge_status load(int descriptor, ridge_file *out, ridge_error *err)
{
    struct stat about;
    size_t size_bytes;

    if (fstat(descriptor, &about) != 0)
        return fail_with_errno(err, "cannot be read", errno);
    if (!S_ISREG(about.st_mode))
        return ridge_fail(err, RIDGE_ERR_IO, "is %s, not a regular file", kind_of(about.st_mode));
    if (about.st_size < 0 || (uintmax_t)about.st_size > SIZE_MAX / 2)
        return ridge_fail(err, RIDGE_ERR_IO, "is too large for this machine's addresses");
    size_bytes = (size_t)about.st_size;
    if (size_bytes == 0)
        return RIDGE_OK;
    if (size_bytes >= SMALL_BYTES) {
        void *const mapping = mmap(NULL, size_bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);

        if (mapping != MAP_FAILED) {
            out->mapping = mapping;
            out->mapping_bytes = size_bytes;
            out->bytes.data = mapping;
            out->bytes.size = size_bytes;
            return RIDGE_OK;
        }
    }
    return read_contents(descriptor, size_bytes, out, err);
}

ridge_status ridge_file_open(const char *path, ridge_file *out, ridge_error *err)
{
    ridge_status status;
    int descriptor;

    memset(out, 0, sizeof(*out));
    /* Without O_NONBLOCK the opening of a pipe would wait for a writer. */
    do
        descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    while (descriptor < 0 && errno == EINTR);
    if (descriptor < 0)
        return fail_with_errno(err, "cannot be opened", errno);
    status = load(descriptor, out, err);
    close(descriptor);
    return status;
}

void ridge_file_release(ridge_file *file)
{
    if (file->mapping != NULL)
        munmap(file->mapping, file->mapping_bytes);
    ridge_free(file->unpacked);
    memset(file, 0, sizeof(*file));
}

/* -- unpacking --------------------------------------------------------------------------------- */

static ridge_status out_of_memory(ridge_error *err)
{
    return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory while unpacking");
}

static voidpf zlib_allocate(voidpf unused, uInt count, uInt size)
{
    (void)unused;
    return ridge_calloc(count, size);
}

static void zlib_free(voidpf unused, voidpf block)
{
    (void)unused;
    ridge_free(block);
}

/* Inflates one gzip member at *at and moves it behind. */
static ridge_status unpack_member(z_stream *stream, ridge_slice packed, size_t *at, ridge_sink *to,
                                  ridge_error *err)
{
    int answer = Z_OK;

    while (answer != Z_STREAM_END) {
        const size_t in_left = packed.size - *at;
        const uInt in_size = in_left < ZLIB_PIECE_BYTES ? (uInt)in_left : ZLIB_PIECE_BYTES;
        size_t room;
        uInt out_size;
        const ridge_status status = ridge_sink_grow(to, err);

        if (status != RIDGE_OK)
            return status;
        room = to->capacity - to->size;
        out_size = room < ZLIB_PIECE_BYTES ? (uInt)room : ZLIB_PIECE_BYTES;
        stream->next_in = packed.data + *at;
        stream->avail_in = in_size;
        stream->next_out = to->data + to->size;
        stream->avail_out = out_size;
        answer = inflate(stream, Z_NO_FLUSH);
        *at += in_size - stream->avail_in;
        to->size += out_size - stream->avail_out;
        if (answer == Z_MEM_ERROR)
            return out_of_memory(err);
        if (answer == Z_BUF_ERROR ||
            (answer == Z_OK && *at == packed.size && stream->avail_out > 0))
            return ridge_fail(err, RIDGE_ERR_FORMAT, "gzip data cut: %zu bytes end inside a stream",
                              packed.size);
        if (answer != Z_OK && answer != Z_STREAM_END)
            return ridge_fail(err, RIDGE_ERR_FORMAT, "gzip data damaged near byte %zu: %s", *at,
                              stream->msg != NULL ? stream->msg : "unknown reason");
    }
    return RIDGE_OK;
}

static ridge_status unpack_gzip(ridge_slice packed, ridge_sink *to, ridge_error *err)
{
    z_stream stream = {.zalloc = zlib_allocate, .zfree = zlib_free};
    ridge_status status = RIDGE_OK;
    size_t at = 0;

    if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK)
        return out_of_memory(err);
    while (status == RIDGE_OK && at < packed.size) {
        status = unpack_member(&stream, packed, &at, to, err);
        if (status == RIDGE_OK && inflateReset(&stream) != Z_OK)
            status = out_of_memory(err);
    }
    inflateEnd(&stream);
    return status;
}

static bool begins_with(ridge_slice bytes, const char *magic, size_t size)
{
    return bytes.size >= size && memcmp(bytes.data, magic, size) == 0;
}

ridge_status ridge_file_unpack(ridge_file *file, const char *name, size_t largest_bytes,
                               ridge_error *err)
{
    ridge_sink to = {.largest = largest_bytes < SIZE_MAX ? largest_bytes : SIZE_MAX - 1};
    ridge_status status;

    (void)name;
    if (begins_with(file->bytes, "\x28\xb5\x2f\xfd", 4))
        status = ridge_unpack_zstd(file->bytes, &to, err);
    else if (begins_with(file->bytes, "\x1f\x8b", 2))
        status = unpack_gzip(file->bytes, &to, err);
    else
        return RIDGE_OK;
    if (status == RIDGE_OK && to.size > to.largest)
        status = ridge_sink_too_large(&to, err);
    if (status != RIDGE_OK) {
        ridge_free(to.data);
        return status;
    }
    ridge_file_release(file);
    file->unpacked = to.data;
    file->bytes.data = to.data;
    file->bytes.size = to.size;
    return RIDGE_OK;
}

const char *ridge_built_with(char *buffer, size_t size)
{
    snprintf(buffer, size, "zstd %s, zlib %s", ZSTD_versionString(), zlibVersion());
    return buffer;
}

bool ridge_write_all(int descriptor, const void *bytes, size_t size_bytes)
{
    const char *at = bytes;

    while (size_bytes > 0) {
        const ssize_t done = write(descriptor, at, size_bytes);

        if (done < 0 && errno != EINTR)
            return false;
        if (done > 0) {
            at += done;
            size_bytes -= (size_t)done;
        }
    }
    return true;
}
