/* SPDX-License-Identifier: Apache-2.0
 *
 * Where kernels come from: a name on the command line becomes a ridge_kernel.
 *
 *     rms_norm, rms_norm:VARIANT    a family of this tree, or of the harness (probe:copy)
 *     ./libmine.so:NAME             a shared library that exports ridge_plugin(), by kernel name
 *     ./libmine.so --call "..."     a plain function of a shared library, by its signature
 *     kernel.json                   a manifest (ridge-kernel/1) beside a cubin, PTX or fat binary
 *     build:ID                      a binary that the ledger archived
 *     python:MODULE:FUNCTION        resolved by the Python package, not here
 *
 * An arm is opened in the process that runs it, a child of the command. Plug-ins are copied to a
 * unique path before they are loaded, since the loader knows files by inode: a rebuilt library
 * under the old name would give the old code. */
#ifndef RIDGE_ARM_H
#define RIDGE_ARM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ridge/device.h"
#include "ridge/family.h"
#include "ridge/image.h"
#include "ridge/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ridge_arm_kind {
    RIDGE_ARM_FAMILY,
    RIDGE_ARM_PLUGIN,
    RIDGE_ARM_CALL,
    RIDGE_ARM_MANIFEST,
    RIDGE_ARM_PYTHON
} ridge_arm_kind;

/* Parsed, nothing opened. */
typedef struct ridge_arm_name {
    ridge_arm_kind kind;
    char path[512]; /* of a library or a manifest; family; module */
    char item[128]; /* variant, kernel, function; "" */
} ridge_arm_name;
/* RIDGE_ERR_INVALID_ARGUMENT says which forms there are. build:ID is for the caller to resolve. */
ridge_status ridge_arm_name_parse(const char *text, ridge_arm_name *out, ridge_error *err);

/* A Python callable, opened by who has an interpreter. *kernel lives until close(); base is the base
 * case, given as ridge_case_init() makes it. */
typedef struct ridge_arm_python {
    ridge_status (*open)(void *context, int arm, const char *module, const char *function,
                         ridge_case *base, const ridge_kernel **kernel, ridge_error *err);
    void (*close)(void *context, int arm);
    void *context;
    /* Runs arms 0 and 1 on the same inputs; cause: why they must not be timed against each other, ""
     * when they compute the same. NULL: not known. */
    ridge_status (*agree)(void *context, char *cause, size_t size, ridge_error *err);
    /* Guards over outputs of timed launches, as ridge_bench_sink has them; guard: a ridge_guard. NULL:
     * not looked at. */
    ridge_status (*behind)(void *context, int arm, uint64_t without, ridge_error *err);
    ridge_status (*after)(void *context, int *guard, char *cause, size_t size, ridge_error *err);
    /* Of the arrays that an arm computes with in the case its work() was last asked about;
     * RIDGE_DTYPE_COUNT: not known, as without this. */
    ridge_dtype (*dtype)(void *context, int arm);
} ridge_arm_python;

typedef struct ridge_arm_options {
    const ridge_family *const *families; /* ends with NULL: ridge_kernels_families() and others */
    const char *call;                    /* a signature for RIDGE_ARM_CALL; NULL */
    const char *family;             /* whose reference and cases an arm without its own takes */
    const ridge_arm_python *python; /* NULL: python:MODULE:FUNCTION is refused */
    int python_arm;                 /* handed to its open() */
} ridge_arm_options;

typedef struct ridge_arm ridge_arm;

/* Opens what text names for a device. Machine code is loaded when the kernel is first prepared.
 * *out is new. RIDGE_ERR_IO, RIDGE_ERR_FORMAT (manifest: which member, what was expected),
 * RIDGE_ERR_ARCH, RIDGE_ERR_UNSUPPORTED. Messages do not begin with text: who asked says that. */
ridge_status ridge_arm_open(ridge_device *device, const char *text,
                            const ridge_arm_options *options, ridge_arm **out, ridge_error *err);
void ridge_arm_free(ridge_arm *arm);
const ridge_kernel *ridge_arm_kernel(const ridge_arm *arm);
const char *ridge_arm_text(const ridge_arm *arm); /* as given */
/* The machine code of the kernels that it launches. Of a manifest that of its entry, wherever the
 * same code is found (ridge/image.h). Of a library which code a kernel runs is not known, so its
 * hash is made of all kernels in it (without any, of the sections that are executed) and its name. Of
 * a family's GPU variant that of the variant's kernels, of every target and type, in this build of
 * ridge; of one for the CPU that of all code of the program it is compiled into and of its name, "" where
 * that cannot be looked at (on other systems than Linux). */
const ridge_code *ridge_arm_code(const ridge_arm *arm);
const char *ridge_arm_code_hash(const ridge_arm *arm); /* its hash */
/* What is to be archived, borrowed: of a manifest the same with its image in it, and with the
 * manifest that is its reference ("manifest"), so that it opens without other files; a reference
 * from a library is left out. Of a library its bytes ("library"). Else NULL. */
void ridge_arm_image(const ridge_arm *arm, const void **bytes, size_t *size_bytes,
                     const char **kind);
/* The base case: the family's, the manifest's first values of each axis; with dtypes and tile. */
void ridge_arm_case(const ridge_arm *arm, ridge_case *out);
const ridge_dtype *ridge_arm_dtypes(const ridge_arm *arm, size_t *count);
int64_t ridge_arm_tile(const ridge_arm *arm); /* 0: unknown */
/* Values of an axis that a manifest lists, the base case's first; NULL and 0 for others. */
const int64_t *ridge_arm_axis_values(const ridge_arm *arm, const char *axis, size_t *count);

/* -- expressions of a manifest ----------------------------------------------------------------- */

/* Whole numbers with + - * / % and comparisons, ceil_div, round_up, min, max, log2, names; 64 bits,
 * overflow, division by zero and unknown names are errors with the column. */
typedef bool (*ridge_lookup)(void *context, const char *name, size_t length, int64_t *out);
ridge_status ridge_expression_value(const char *text, ridge_lookup lookup, void *context,
                                    int64_t *out, ridge_error *err);

#ifdef __cplusplus
}
#endif
#endif
