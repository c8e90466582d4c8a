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

typedef enum ridge_image_kind {
    RIDGE_IMAGE_CUBIN,
    RIDGE_IMAGE_FATBIN,
    RIDGE_IMAGE_PTX,
    RIDGE_IMAGE_OBJECT, /* .o */
    RIDGE_IMAGE_SHARED, /* .so */
    RIDGE_IMAGE_EXECUTABLE,
    RIDGE_IMAGE_ARCHIVE /* .a */
} ridge_image_kind;

typedef enum ridge_entry_kind {
    RIDGE_ENTRY_CUBIN,
    RIDGE_ENTRY_PTX,
    RIDGE_ENTRY_LTO, /* NVVM IR for link-time optimisation: cannot be read, runs nowhere as is */
    RIDGE_ENTRY_UNKNOWN
} ridge_entry_kind;

typedef enum ridge_packing {
    RIDGE_PACKED_NOT,
    RIDGE_PACKED_LZ4,
    RIDGE_PACKED_ZSTD,
    RIDGE_PACKED_UNKNOWN
} ridge_packing;

/* What the header of an entry announces: nothing is unpacked until it is loaded. Entries stand in
 * the order of sections, members and containers. The device-link stub that nvcc puts into programs
 * is one as well: a cubin without functions, which is no code. */
typedef struct ridge_entry {
    ridge_entry_kind kind;
    int sm; /* 90 */
    ridge_target_suffix suffix;
    int ptx_major, ptx_minor; /* ISA version of PTX; 0: not recorded */
    ridge_packing packing;
    /* Of -rdc=true: needs a device link, at build time or by the driver. Of a packed cubin in a bare
     * .fatbin only its ridge_provenance tells. */
    bool is_relocatable;
    bool is_debug;    /* built with -G */
    size_t container; /* which fat binary of the image, from 0; a cubin alone is 0 as well */
    uint64_t file_offset;
    uint64_t stored_bytes, unpacked_bytes;
    const char *member;     /* of an archive; NULL: the file itself. Borrowed from the image */
    const char *section;    /* ".nv_fatbin", "__nv_relfatbin", ".ldata"; "" outside ELF */
    const char *identifier; /* source file; NULL when not recorded */
    const char *options;    /* of ptxas for PTX, of the compiler for LTO; NULL when not recorded */
} ridge_entry;

/* A file that zstd or gzip packed as a whole is unpacked first. Code that a host file embeds as
 * data, as cuFFT does, is found too.
 *
 * RIDGE_ERR_IO; RIDGE_ERR_FORMAT for what holds no CUDA code or contradicts itself;
 * RIDGE_ERR_UNSUPPORTED for a kind of file that is known and not read (Windows COFF). A damaged
 * entry does not hide the others: see ridge_image_warning(). */
ridge_status ridge_image_open(const char *path, ridge_image **out, ridge_error *err);
/* The same of bytes in memory, which are borrowed until the end. name is what they are. */
ridge_status ridge_image_read(const void *data, size_t size_bytes, const char *name,
                              ridge_image **out, ridge_error *err);
void ridge_image_free(ridge_image *image);

ridge_image_kind ridge_image_file_kind(const ridge_image *image);
const char *ridge_image_kind_name(ridge_image_kind kind); /* "shared library" */
size_t ridge_image_container_count(const ridge_image *image);

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
    bool needs_cluster;                      /* .explicitcluster */
    int parameter_bytes;
    const ridge_kernel_parameter *parameters; /* borrowed; none of a kernel with more than 256 */
    size_t parameter_count;
} ridge_ptx_kernel;

/* What is in an entry: of a cubin the cubin, of PTX the text (not NUL-terminated) and its kernels;
 * the rest is NULL, and all of it is for LTO IR and unknown kinds. Borrowed until
 * ridge_image_entry_unload(). */
typedef struct ridge_loaded {
    ridge_cubin *cubin;
    const char *text;
    size_t text_bytes;
    const ridge_ptx_kernel *kernels;
    size_t kernel_count;
    int ptx_sm; /* of .target */
    ridge_target_suffix ptx_suffix;
} ridge_loaded;

/* Unpacks and reads an entry; one that is loaded already costs nothing. RIDGE_ERR_FORMAT when it is
 * damaged, of more than 1 GiB, or one of many that announce far more than code packs to. */
ridge_status ridge_image_entry_load(ridge_image *image, size_t index, ridge_loaded *out,
                                    ridge_error *err);
void ridge_image_entry_unload(ridge_image *image, size_t index);

/* Machine code of the host in an object, library or program: the sections that are executed, one
 * after the other. False past the last and for what is no such file. *code is borrowed from data. */
bool ridge_host_code(const void *data, size_t size_bytes, size_t index, const uint8_t **code,
                     size_t *code_bytes);

/* -- which code it is -------------------------------------------------------------------------- */

/* What a build is known by. Numbers are of the kernel when it is one, else -1. */
typedef struct ridge_code {
    /* 32 hexadecimal digits: of the instructions of the kernel, those of the device functions beside
     * it and the constants, and of nothing that differs between two builds of one source (paths,
     * lines, times, packing, the order of modules). Of PTX, which is taken where there is no machine
     * code, without comments and debug sections. "": no code. */
    char hash[33];
    char arch
        [40]; /* "sm_90"; "sm_80 sm_90"; "compute_90" of PTX; "cpu" of a library without kernels */
    int registers_per_thread, local_bytes, static_shared_bytes;
    int64_t code_bytes;
} ridge_code;

/* The code of an entry of a cubin, fat binary, PTX or host file, the same wherever it is found: in
 * an .ncu-rep, a file, a library. entry: NULL for all kernels, "rms_norm_*" for those that begin so.
 * Of a host file without kernels the sections that are executed. RIDGE_ERR_FORMAT,
 * RIDGE_ERR_OUT_OF_MEMORY; bytes that are no code are no error. */
ridge_status ridge_code_of(const void *bytes, size_t size_bytes, const char *entry, ridge_code *out,
                           ridge_error *err);
extern const ridge_code ridge_code_unknown; /* "", -1 */

/* -- which GPU runs what ----------------------------------------------------------------------- */

typedef enum ridge_run {
    RIDGE_RUN_NONE,         /* fails to load there */
    RIDGE_RUN_NOT_PROMISED, /* machine code across desktop and Jetson parts: may load, NVIDIA does
                               not say so */
    RIDGE_RUN_JIT,          /* the driver compiles PTX at load */
    RIDGE_RUN_NATIVE
} ridge_run;

/* How one entry runs on a chip of compute capability major.minor: the rules of NVIDIA's
 * compatibility guide by kind, target and suffix. Of PTX: whether a driver that knows its ISA
 * version compiles it. Relocatable code counts as what it is after the device link. */
ridge_run ridge_entry_runs(const ridge_entry *entry, int major, int minor);
/* True when the driver takes a rather than b on that chip: the better ridge_run, then the target
 * nearest below the chip, then the narrower suffix, then code that is linked already. */
bool ridge_entry_is_preferred(const ridge_entry *a, const ridge_entry *b, int major, int minor);
const char *ridge_run_name(ridge_run run); /* "native", "jit", "not promised", "none" */

typedef struct ridge_compute {
    int major, minor; /* 9, 0 */
} ridge_compute;

enum { RIDGE_COVERAGE_TARGETS_MAX = 64 };

/* Which kernels run where. A kernel is a mangled name over all entries: an entry for a chip does
 * not mean that all kernels are in it. Life: _create(), _add() of each entry as it is loaded (or
 * _of() for a whole image, one entry loaded at a time), _finish(), the getters, _free(). Memory
 * grows with the number of names, not with the code. */
typedef struct ridge_coverage ridge_coverage;

typedef struct ridge_coverage_cell {
    ridge_run run;
    size_t entry; /* that the driver would choose; SIZE_MAX: none */
} ridge_coverage_cell;

ridge_status ridge_coverage_create(const ridge_compute *targets, size_t target_count,
                                   ridge_coverage **out, ridge_error *err);
/* index is what the cells give back. */
ridge_status ridge_coverage_add(ridge_coverage *coverage, const ridge_entry *entry, size_t index,
                                const ridge_loaded *loaded, ridge_error *err);
/* Sorts by name; no _add() after it. */
void ridge_coverage_finish(ridge_coverage *coverage);
/* create, load and add each, finish. Entries that cannot be read are counted. */
ridge_status ridge_coverage_of(ridge_image *image, const ridge_compute *targets,
                               size_t target_count, ridge_coverage **out, ridge_error *err);
void ridge_coverage_free(ridge_coverage *coverage);

size_t ridge_coverage_kernel_count(const ridge_coverage *coverage);
const char *ridge_coverage_kernel(const ridge_coverage *coverage, size_t kernel);
ridge_coverage_cell ridge_coverage_at(const ridge_coverage *coverage, size_t kernel, size_t target);
/* Entries that _of() could not read: a hole may be one of theirs. *first_error (may be NULL) is of
 * the first of them. */
size_t ridge_coverage_unread(const ridge_coverage *coverage, const char **first_error);

#ifdef __cplusplus
}
#endif
#endif
