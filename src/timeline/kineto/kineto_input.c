/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes of a file or of memory in order, unpacked on the way when they are gzip (also several
 * members behind each other) or zstd, whatever the file is called. Data that are cut or damaged
 * give what could be unpacked, and say why no more came. */
#include "timeline/kineto/kineto_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define ZLIB_CONST /* zlib does not write through next_in */
#include <zlib.h>
#include <zstd.h>

enum { PACKED_BYTES = 1 << 18 };

typedef enum packing { PLAIN, GZIP, ZSTD } packing;

struct kineto_input {
    int descriptor; /* -1: memory */
    const char *memory;
    size_t left;
    uint64_t size;
    packing packing;
    z_stream inflater;
    bool has_inflater, between_members, ended;
    ZSTD_DStream *zstd;
    size_t frame_left; /* zstd: 0 between frames */
    char *packed;
    size_t packed_at, packed_size;
    char damage[120]; /* "": none */
};

static void damage(kineto_input *input, const char *text)
{
    input->ended = true;
    if (input->damage[0] == '\0')
        snprintf(input->damage, sizeof(input->damage), "%s", text);
}

static size_t read_stored(kineto_input *input, char *out, size_t capacity)
{
    size_t done = 0;

    if (input->descriptor < 0) {
        done = input->left < capacity ? input->left : capacity;
        memcpy(out, input->memory, done);
        input->memory += done;
        input->left -= done;
        return done;
    }
    while (done < capacity) {
        const ssize_t got = read(input->descriptor, out + done, capacity - done);

        if (got == 0)
            break;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            damage(input, "the file cannot be read further");
            break;
        }
        done += (size_t)got;
    }
    return done;
}

static bool refill(kineto_input *input)
{
    if (input->packed_at < input->packed_size)
        return true;
    input->packed_at = 0;
    input->packed_size = read_stored(input, input->packed, PACKED_BYTES);
    return input->packed_size > 0;
}

static size_t read_gzip(kineto_input *input, char *out, size_t capacity)
{
    z_stream *const stream = &input->inflater;

    stream->next_out = (unsigned char *)out;
    stream->avail_out = (unsigned)capacity;
    while (stream->avail_out > 0 && !input->ended) {
        int result;

        if (!refill(input)) {
            if (!input->between_members)
                damage(input, "the gzip data are cut");
            input->ended = true;
            break;
        }
        if (input->between_members) {
            /* Zeros and anything else behind a member are padding. */
            if ((uint8_t)input->packed[input->packed_at] != 0x1F) {
                input->ended = true;
                break;
            }
            inflateReset(stream);
            input->between_members = false;
        }
        stream->next_in = (const unsigned char *)input->packed + input->packed_at;
        stream->avail_in = (unsigned)(input->packed_size - input->packed_at);
        result = inflate(stream, Z_NO_FLUSH);
        input->packed_at = input->packed_size - stream->avail_in;
        if (result == Z_STREAM_END)
            input->between_members = true;
        else if (result != Z_OK && result != Z_BUF_ERROR)
            damage(input, result == Z_MEM_ERROR ? "out of memory while unpacking"
                                                : "the gzip data are damaged");
    }
    return capacity - stream->avail_out;
}

static size_t read_zstd(kineto_input *input, char *out, size_t capacity)
{
    ZSTD_outBuffer to = {out, capacity, 0};

    while (to.pos < to.size && !input->ended) {
        const bool has_more = refill(input);
        ZSTD_inBuffer from = {input->packed + input->packed_at,
                              input->packed_size - input->packed_at, 0};
        const size_t before = to.pos;

        if (!has_more && input->frame_left == 0) {
            input->ended = true;
            break;
        }
        input->frame_left = ZSTD_decompressStream(input->zstd, &to, &from);
        input->packed_at += from.pos;
        if (ZSTD_isError(input->frame_left))
            damage(input, "the zstd data are damaged");
        else if (!has_more && to.pos == before)
            damage(input, "the zstd data are cut");
    }
    return to.pos;
}

size_t kineto_input_read(kineto_input *input, char *out, size_t capacity)
{
    switch (input->packing) {
    case GZIP:
        return read_gzip(input, out, capacity);
    case ZSTD:
        return read_zstd(input, out, capacity);
    case PLAIN:
        break;
    }
    return read_stored(input, out, capacity);
}

const char *kineto_input_damage(const kineto_input *input)
{
    return input->damage[0] != '\0' ? input->damage : NULL;
}

bool kineto_input_is_packed(const kineto_input *input)
{
    return input->packing != PLAIN;
}

uint64_t kineto_input_size(const kineto_input *input)
{
    return input->size;
}

/* -- opening ----------------------------------------------------------------------------------- */

static packing packing_of(const char *bytes, size_t size)
{
    if (size >= 2 && memcmp(bytes, "\x1f\x8b", 2) == 0)
        return GZIP;
    return size >= 4 && memcmp(bytes, "\x28\xb5\x2f\xfd", 4) == 0 ? ZSTD : PLAIN;
}

static ridge_status open_file(kineto_input *input, const char *path, ridge_error *err)
{
    struct stat about;

    /* Without O_NONBLOCK the opening of a pipe would wait for a writer. */
    input->descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (input->descriptor < 0 || fstat(input->descriptor, &about) != 0)
        return ridge_fail(err, RIDGE_ERR_IO, "cannot be read: %s", strerror(errno));
    if (!S_ISREG(about.st_mode))
        return ridge_fail(err, RIDGE_ERR_IO, "not a regular file");
    input->size = (uint64_t)about.st_size;
    return RIDGE_OK;
}

/* Looks at the first bytes, which then are read a second time. */
static ridge_status find_packing(kineto_input *input, ridge_error *err)
{
    char first[4];

    if (input->descriptor < 0) {
        input->packing = packing_of(input->memory, input->left);
        return RIDGE_OK;
    }
    input->packing = packing_of(first, read_stored(input, first, sizeof(first)));
    if (lseek(input->descriptor, 0, SEEK_SET) != 0)
        return ridge_fail(err, RIDGE_ERR_IO, "cannot be read twice: %s", strerror(errno));
    return RIDGE_OK;
}

static ridge_status start_unpacking(kineto_input *input, ridge_error *err)
{
    bool started = true;

    if (input->packing == PLAIN)
        return RIDGE_OK;
    input->packed = ridge_calloc(PACKED_BYTES, 1);
    if (input->packing == GZIP) {
        started = inflateInit2(&input->inflater, 15 + 16) == Z_OK;
        input->has_inflater = started;
    } else {
        input->zstd = ZSTD_createDStream();
        started = input->zstd != NULL;
        input->frame_left = 1;
    }
    if (!started || input->packed == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    return RIDGE_OK;
}

ridge_status kineto_input_open(const char *path, const void *memory, size_t size_bytes,
                               kineto_input **out, ridge_error *err)
{
    kineto_input *const input = ridge_calloc(1, sizeof(*input));
    ridge_status status = RIDGE_OK;

    *out = NULL;
    if (input == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    input->descriptor = -1;
    input->memory = memory;
    input->left = size_bytes;
    input->size = size_bytes;
    if (path != NULL)
        status = open_file(input, path, err);
    if (status == RIDGE_OK)
        status = find_packing(input, err);
    if (status == RIDGE_OK)
        status = start_unpacking(input, err);
    if (status == RIDGE_OK)
        *out = input;
    else
        kineto_input_free(input);
    return status;
}

void kineto_input_free(kineto_input *input)
{
    if (input == NULL)
        return;
    if (input->descriptor >= 0)
        close(input->descriptor);
    if (input->has_inflater)
        inflateEnd(&input->inflater);
    ZSTD_freeDStream(input->zstd);
    ridge_free(input->packed);
    ridge_free(input);
}
