/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tests of src/binary share: recorded files, a cubin built from a literal, and one with
 * the header of toolkits before 13.
 *
 * Recorded files are the few in tests/data/binary, and the many of a folder of fixtures that need
 * not be there: $RIDGE_SHARED or ../shared beside the tree. Cases without it are skipped. */
#ifndef RIDGE_TESTS_BINARY_SUPPORT_H
#define RIDGE_TESTS_BINARY_SUPPORT_H

#include "cases.h"

#include "ridge/binary.h"

typedef struct file_bytes {
    uint8_t *data; /* exactly size bytes, so that a sanitizer sees a read one too far */
    size_t size;
} file_bytes;

/* The contents of a file, unpacked when it is compressed by gzip; data NULL when there is none. */
file_bytes support_read(const char *path);
/* tests/data/binary/NAME; fails the test when it is missing. */
file_bytes support_data(const char *name);
/* binary_fixtures/NAME of the shared folder; skips the test when it is missing. */
file_bytes support_shared(const char *name);
void support_release(file_bytes *file);
/* A NUL-terminated copy of the file, which goes. */
char *support_text(file_bytes file);

/* A section of a cubin that is built. */
typedef struct sample_section {
    const char *name;
    uint32_t type, info, link;
    uint64_t flags;
    const void *data;
    size_t size; /* for a section without bytes in the file (type 8) data is NULL */
} sample_section;

typedef struct sample_header {
    bool is_old; /* of toolkits before 13 */
    unsigned sm;
    unsigned toolkit; /* times ten; old headers only */
} sample_header;

/* Sections are numbered from 1 as given; the table of names is added behind them. */
file_bytes sample_cubin(const sample_header *header, const sample_section *sections, size_t count);

/* Reads what must be a cubin. The bytes must outlive it. */
ridge_cubin *support_cubin(file_bytes file);

void store_u16(uint8_t *at, unsigned value);
void store_u32(uint8_t *at, uint32_t value);
void store_u64(uint8_t *at, uint64_t value);

#endif
