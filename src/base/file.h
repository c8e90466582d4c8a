/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole files as bytes in memory: mapped where possible, unpacked when they are compressed. */
#ifndef RIDGE_BASE_FILE_H
#define RIDGE_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cursor.h"
#include "ridge/status.h"

typedef struct ridge_file {
    ridge_slice bytes; /* the contents, unpacked */
    void *mapping;     /* of the file; NULL: none */
    size_t mapping_bytes;
    void *unpacked; /* NULL: not compressed */
} ridge_file;

/* Maps a regular file. RIDGE_ERR_IO with the system's reason for anything else: a directory, a
 * pipe, no permission, an empty path. An empty file gives an empty slice. */
ridge_status ridge_file_open(const char *path, ridge_file *out, ridge_error *err);
/* When the bytes start with the magic of zstd or gzip, replaces them by what they unpack to.
 * largest_bytes bounds the result (RIDGE_ERR_FORMAT beyond it). */
ridge_status ridge_file_unpack(ridge_file *file, const char *name, size_t largest_bytes,
                               ridge_error *err);
void ridge_file_release(ridge_file *file);

/* Writes everything to a descriptor, through interruptions; false: errno says why not. */
bool ridge_write_all(int descriptor, const void *bytes, size_t size_bytes);

#endif
