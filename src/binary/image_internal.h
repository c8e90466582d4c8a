/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of an image: what the readers of containers, host files, archives and PTX share. */
#ifndef RIDGE_IMAGE_INTERNAL_H
#define RIDGE_IMAGE_INTERNAL_H

#include "base/cursor.h"
#include "base/file.h"
#include "base/memory.h"
#include "ridge/image.h"

/* ---- PTX (ptx.c) ---- */

typedef struct ptx_module {
    int isa_major, isa_minor; /* .version; 0: none */
    int sm;                   /* .target; 0: none */
    ridge_target_suffix suffix;
    bool is_debug;             /* .target has "debug" */
    ridge_ptx_kernel *kernels; /* with a body, in the order of the text */
    size_t kernel_count, kernel_capacity;
    ridge_arena names;
} ptx_module;

/* Never fails but for lack of memory: what is no PTX holds no kernels. Released after a failure
 * too. Lines may end in NUL, as in the section .nv_debug_ptx_txt of a cubin. */
ridge_status ptx_read(ridge_slice text, ptx_module *out, ridge_error *err);
void ptx_release(ptx_module *module);
/* True when the text begins as PTX does: ".version" behind comments. */
bool ptx_is_text(ridge_slice text);
/* "sm_90a", "compute_100f" at the start of text: the number and the suffix. False without one. */
bool ptx_target(ridge_slice text, int *sm, ridge_target_suffix *suffix);

/* ---- images (image.c) ---- */

/* What was unpacked of an entry. */
typedef struct image_load {
    uint8_t *buffer; /* NULL: borrowed from the file */
    size_t capacity;
    ridge_slice bytes;
    ridge_cubin *cubin;
    ptx_module ptx;
} image_load;

typedef struct image_entry {
    ridge_entry about;
    ridge_slice stored; /* exactly, without padding */
    image_load *load;   /* NULL: not loaded */
    bool is_refused;    /* see image_judge_entry() */
} image_entry;

struct ridge_image {
    ridge_arena arena;
    ridge_file file;   /* of _open() */
    ridge_slice bytes; /* of the whole file */
    ridge_image_kind kind;

    image_entry *entries;
    size_t entry_count, entry_capacity;
    size_t container_count;
    uint64_t implausible_bytes; /* that entries announce which pack better than code does */

    char **warnings;
    size_t warning_count, warning_capacity;
    size_t warnings_dropped;

    uint8_t *spare; /* the buffer of an entry that was unloaded, for the next */
    size_t spare_bytes;
};

/* Where bytes stand: what entries that are found in them say of it. */
typedef struct image_place {
    const char *member;  /* NULL: the file itself */
    const char *section; /* "" outside ELF */
} image_place;

/* Offset in the file of bytes that are a part of it. */
uint64_t image_offset(const ridge_image *image, const uint8_t *at);
/* A new entry, zeroed but for its place; NULL when out of memory. Valid until the next call. */
image_entry *image_add_entry(ridge_image *image, const image_place *place, ridge_slice stored,
                             ridge_error *err);
/* Refuses an entry packed with zstd, whose sizes are set, when it announces much more than code packs to and
 * others have done so before: a few bytes can stand for a gigabyte, time and again. */
void image_judge_entry(ridge_image *image, image_entry *entry);
/* Notes what is wrong with a part of the file. Only lack of memory fails. */
ridge_status image_warn(ridge_image *image, ridge_error *err, const char *format, ...)
    RIDGE_PRINTF(3, 4);

typedef enum image_found {
    IMAGE_NOTHING,
    IMAGE_CONTAINER,
    IMAGE_CUBIN_FILE,
    IMAGE_PTX_TEXT,
    IMAGE_HOST_ELF,
    IMAGE_ARCHIVE_FILE,
    IMAGE_WINDOWS,
    IMAGE_REPORT,
} image_found;

/* What bytes are, by how they begin. */
image_found image_identify(ridge_slice bytes);

/* The entry of a cubin that stands alone. Fails with what ridge_cubin_read() says. */
ridge_status image_add_cubin(ridge_image *image, const image_place *place, ridge_slice bytes,
                             ridge_error *err);
ridge_status image_add_ptx(ridge_image *image, const image_place *place, ridge_slice bytes,
                           ridge_error *err);

/* ---- containers (fatbin.c) ---- */

enum { FATBIN_STEP = 8 }; /* containers stand on multiples of it */

bool fatbin_begins(ridge_slice bytes);
/* Adds the entries of the containers that follow each other in bytes. */
ridge_status fatbin_scan(ridge_image *image, const image_place *place, ridge_slice bytes,
                         ridge_error *err);
/* Looks for containers and cubins anywhere in bytes, as programs hold them that embed their code
 * as data. What only looks like one is passed over. */
ridge_status fatbin_search(ridge_image *image, const image_place *place, ridge_slice bytes,
                           ridge_error *err);

/* ---- host files (host_elf.c, archive.c) ---- */

/* Adds what the sections of an object, library or program hold. *kind may be NULL. */
ridge_status host_elf_scan(ridge_image *image, const char *member, ridge_slice bytes,
                           ridge_image_kind *kind, ridge_error *err);
ridge_status archive_scan(ridge_image *image, ridge_slice bytes, ridge_error *err);

#endif
