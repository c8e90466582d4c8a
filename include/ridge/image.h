/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA code in a file, whatever the file is: a cubin, a fat binary, an object, archive, shared
 * library or executable that holds them, PTX. (A profile's modules come from ridge/report.h.)
 *
 * Life: ridge_image_open() or _read() finds the entries without unpacking them;
 * ridge_image_entry_load() unpacks one, ridge_image_entry_unload() gives its memory back; at the
 * end ridge_image_free(). A library of NVIDIA's holds thousands of entries and gigabytes of code,
 * so who only counts loads them one after the other. */
#ifndef RIDGE_IMAGE_H
#define RIDGE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ridge/binary.h"
#include "ridge/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ridge_image ridge_image;

typedef enum ridge_entry_kind {
    RIDGE_ENTRY_CUBIN,
    RIDGE_ENTRY_PTX,
    RIDGE_ENTRY_LTO, /* NVVM IR for link-time optimisation: cannot be read, runs nowhere as is */
    RIDGE_ENTRY_UNKNOWN
} ridge_entry_kind;

/* What a target promises: sm_90 runs on 9.x from 9.0 on, sm_90a on 9.0 alone, sm_100f on its
 * family. */
typedef enum ridge_target_suffix {
    RIDGE_TARGET_PLAIN,
    RIDGE_TARGET_ARCH,  /* "a" */
    RIDGE_TARGET_FAMILY /* "f" */
} ridge_target_suffix;

typedef enum ridge_packing {
    RIDGE_PACKED_NOT,
    RIDGE_PACKED_LZ4,
    RIDGE_PACKED_ZSTD,
    RIDGE_PACKED_UNKNOWN
} ridge_packing;

typedef struct ridge_entry {
    ridge_entry_kind kind;
    int sm; /* 90 */
    ridge_target_suffix suffix;
    int ptx_major, ptx_minor; /* ISA version of PTX; 0: not recorded */
    ridge_packing packing;
    bool is_relocatable; /* of -rdc=true: needs a device link, at build time or by the driver */
    bool is_debug;       /* built with -G */
    uint64_t file_offset;
    uint64_t stored_bytes, unpacked_bytes;
    const char *member;     /* of an archive; NULL: the file itself. Borrowed from the image */
    const char *section;    /* ".nv_fatbin", "__nv_relfatbin"; "" outside ELF */
    const char *identifier; /* source file; NULL when not recorded */
    const char *options;    /* of ptxas, as recorded; NULL */
} ridge_entry;

/* RIDGE_ERR_IO; RIDGE_ERR_FORMAT for what holds no CUDA code or contradicts itself;
 * RIDGE_ERR_UNSUPPORTED for a kind of file that is known and not read (Windows COFF). A damaged
 * entry does not hide the others: see ridge_image_warning(). */
ridge_status ridge_image_open(const char *path, ridge_image **out, ridge_error *err);
ridge_status ridge_image_read(const void *data, size_t size_bytes, const char *name,
                              ridge_image **out, ridge_error *err);
void ridge_image_free(ridge_image *image);

size_t ridge_image_entry_count(const ridge_image *image);
const ridge_entry *ridge_image_entry(const ridge_image *image, size_t index);
/* What was wrong with parts of the file, one line each; NULL past the last. */
const char *ridge_image_warning(const ridge_image *image, size_t index);

/* One PTX kernel, as far as lines tell: directives, not resources. Numbers not there are 0. */
typedef struct ridge_ptx_kernel {
    const char *name;
    int max_threads[3], required_threads[3]; /* .maxntid, .reqntid */
    int min_blocks;                          /* .minnctapersm */
    int max_registers;                       /* .maxnreg */
    int required_cluster[3], max_cluster;    /* .reqnctapercluster, .maxclusterrank */
    int parameter_bytes;
} ridge_ptx_kernel;

/* Unpacks an entry. Of a CUBIN entry *cubin is then borrowed; of a PTX entry *text (text_bytes,
 * not NUL-terminated) and *kernels; what does not apply is NULL. Any pointer may be NULL. All are
 * valid until ridge_image_entry_unload(). Loading twice is free. */
typedef struct ridge_loaded {
    ridge_cubin *cubin;
    const char *text;
    size_t text_bytes;
    const ridge_ptx_kernel *kernels;
    size_t kernel_count;
    int ptx_sm; /* of .target */
    ridge_target_suffix ptx_suffix;
} ridge_loaded;

ridge_status ridge_image_entry_load(ridge_image *image, size_t index, ridge_loaded *out,
                                    ridge_error *err);
void ridge_image_entry_unload(ridge_image *image, size_t index);

/* -- which GPU runs what ----------------------------------------------------------------------- */

typedef enum ridge_run {
    RIDGE_RUN_NONE,         /* fails to load there */
    RIDGE_RUN_NOT_PROMISED, /* machine code across desktop and Jetson parts: may load, NVIDIA does
                               not say so */
    RIDGE_RUN_JIT,          /* the driver compiles PTX at load */
    RIDGE_RUN_NATIVE
} ridge_run;

/* How one entry runs on a chip of compute capability major.minor: the rules of NVIDIA's
 * compatibility guide by kind, target and suffix. */
ridge_run ridge_entry_runs(const ridge_entry *entry, int major, int minor);

#ifdef __cplusplus
}
#endif
#endif
