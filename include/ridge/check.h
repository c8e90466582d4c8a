/* SPDX-License-Identifier: Apache-2.0
 *
 * Is a kernel right? The comparison of arrays with localisation needs no device; the check of a
 * kernel over cases runs on any ridge_device.
 *
 *     ridge_compare_arrays(...)   -> ridge_mismatch     pure
 *     ridge_check_kernel(...)     -> ridge_check_result one case, all layers
 *     ridge_check_matrix(...)     -> cases              what to run by default
 *
 * Four layers: structure (NaN and infinities where the reference has them, everything written,
 * guards intact); a hard bound that rounding cannot exceed; suspicion, the same with the square
 * root of the length; a second opinion against plain evaluation at the same precision. Beside them
 * tests that answer without a tolerance: small integers, position codes, one-hot, scaling, repeat, a changed
 * neighbour. */
#ifndef RIDGE_CHECK_H
#define RIDGE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ridge/device.h"
#include "ridge/family.h"
#include "ridge/status.h"
#include "ridge/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -- two arrays -------------------------------------------------------------------------------- */

typedef struct ridge_comparand {
    const char *name; /* of the buffer: "out" */
    const double *out, *ref;
    const double *magnitude; /* NULL: |ref|, at least its root mean square; NAN elements: |ref| */
    /* How far ref moves for a relative change of the inputs, over that change: twice that times the
     * accumulator's unit is added to both bounds. NULL: nothing is. */
    const double *condition;
    const double *plain; /* second opinion; NULL: none */
    ridge_dtype dtype;   /* of out */
    int ndim;
    int64_t shape[RIDGE_BUFFER_DIMS]; /* contiguous, last axis fastest */
    int64_t accumulate_length;        /* 0: elementwise */
    double accumulate_unit; /* unit roundoff of the accumulator; 0: 2^-24, tensor cores 2^-22 */
    bool is_exact;          /* any difference is a bug */
    double ulp_most;        /* elementwise: outputs within this many ulp; 0: 2 */
    int64_t tile[RIDGE_BUFFER_DIMS]; /* extents of the kernel's tile, 0: unknown */
    /* The arrays hold chosen rows of a larger output: index k of rows_axis is rows[k] of
     * rows_extent, ascending; the result speaks of those. NULL: all rows. */
    const int64_t *rows;
    int rows_axis;
    int64_t rows_extent;
    /* For relations of wrong values; NULL: not looked for. */
    const double *previous; /* the output of the launch before, same shape */
    const double *const *inputs;
    const int64_t *input_counts;
    size_t input_count;
    double poison;            /* what unwritten elements hold (NAN for a payload); 0: none */
    const bool *is_unwritten; /* by bits; NULL: by value */
} ridge_comparand;

enum { RIDGE_MISMATCH_REGIONS = 12, RIDGE_MISMATCH_RELATIONS = 8, RIDGE_MISMATCH_PICTURE = 64 };

/* A run of indices of one axis with the same share of failures. */
typedef struct ridge_mismatch_region {
    int axis;
    int64_t first, last;
    double share_frac;
} ridge_mismatch_region;

/* Failures concentrate on some residues of an axis. */
typedef struct ridge_mismatch_period {
    int axis; /* -1: none beyond chance */
    int64_t modulus, residue_first, residue_last;
    double share_frac, lift;
} ridge_mismatch_period;

typedef enum ridge_relation_kind {
    RIDGE_RELATION_UNWRITTEN, /* equals the poison */
    RIDGE_RELATION_ZERO,
    RIDGE_RELATION_STALE,   /* equals the previous output */
    RIDGE_RELATION_INPUT,   /* equals an element of an input */
    RIDGE_RELATION_SHIFTED, /* equals ref elsewhere: value is the distance in elements */
    RIDGE_RELATION_TRANSPOSED,
    RIDGE_RELATION_RATIO,  /* out / ref is constant: value */
    RIDGE_RELATION_OFFSET, /* out - ref is constant: value */
    RIDGE_RELATION_SIGN,
    RIDGE_RELATION_NAN,
    RIDGE_RELATION_LARGER, /* one-sided: value is the share with |out| > |ref| */
    RIDGE_RELATION_TERM, /* ref - out is a term of the sum, or a run of them: value is the index */
    RIDGE_RELATION_TERM_ADDED,
} ridge_relation_kind;

typedef struct ridge_relation {
    ridge_relation_kind kind;
    double share_frac; /* of the failing elements */
    double value;
    char text[64]; /* "out = 2 x ref", "1/sqrt(128)" */
} ridge_relation;

typedef enum ridge_match {
    RIDGE_MATCH_EXACT,      /* equal in every bit of value */
    RIDGE_MATCH_WITHIN,     /* inside the suspicion bound */
    RIDGE_MATCH_SUSPICIOUS, /* inside the hard bound only, or the second opinion is better */
    RIDGE_MATCH_WRONG
} ridge_match;

/* Plain data, filled by ridge_compare_arrays(). */
typedef struct ridge_mismatch {
    ridge_match match;
    char name[24];
    ridge_dtype dtype;
    int ndim;
    int64_t shape[RIDGE_BUFFER_DIMS];
    int64_t element_count, wrong_count, suspicious_count, structure_count; /* NaN, inf misplaced */
    double worst_scaled_error; /* |out - ref| / hard bound, greatest; NAN when empty */
    int64_t worst_index, first_index, last_index; /* worst: of all that differ; of the wrong; -1 */
    int64_t box_first[RIDGE_BUFFER_DIMS], box_last[RIDGE_BUFFER_DIMS];
    double worst_out, worst_ref;
    uint64_t worst_out_bits, worst_ref_bits; /* of dtype */
    double ulp_most;
    int64_t ulp_histogram[16]; /* 0, 1, 2, 3-4, 5-8, ... ; the last: all beyond */
    /* Second opinion: p50, p99, p99.9 and most of |error|, of out and of plain; the greatest ratio,
     * over rows of the last axis too. NAN without plain. */
    double error_quantiles[4], plain_quantiles[4], plain_ratio;
    int64_t plain_worst_row;
    ridge_mismatch_region regions[RIDGE_MISMATCH_REGIONS];
    size_t region_count;
    ridge_mismatch_period period;
    ridge_relation relations[RIDGE_MISMATCH_RELATIONS];
    size_t relation_count;
    char cause[160];   /* the most likely one in words; "" when right */
    char cause_id[32]; /* "partial_tile", "lane_mapping", ... */
    /* Share of failures over the two largest axes, ' ' none, '.' few ... '#' all; rows end in 0. */
    char picture[RIDGE_MISMATCH_PICTURE][RIDGE_MISMATCH_PICTURE + 1];
    int picture_rows, picture_columns, picture_axis[2];
} ridge_mismatch;

/* RIDGE_ERR_OUT_OF_MEMORY, RIDGE_ERR_INVALID_ARGUMENT; *out describes the result otherwise. */
ridge_status ridge_compare_arrays(const ridge_comparand *pair, ridge_mismatch *out,
                                  ridge_error *err);
const char *ridge_match_name(ridge_match match); /* "wrong" */
/* An object whose keys are the names of the C fields; what is not known is null. */
void ridge_mismatch_write_json(ridge_json *json, const char *key, const ridge_mismatch *mismatch);

/* -- a kernel on a case ------------------------------------------------------------------------ */

/* What is tested. X(name, text, bit) */
/* clang-format off */
#define RIDGE_TEST_LIST(X)                                                                         \
    X(VALUES, "values")         /* the case's own values against the reference, four layers */     \
    X(INTEGERS, "integers")     /* small integers: equal in every bit */                           \
    X(POSITION, "position")     /* position codes: equal in every bit */                           \
    X(ONE_HOT, "onehot")                                                                           \
    X(PRECISION, "precision")   /* odd 12-bit integers x one-hot: exact in f32 only */             \
    X(SCALING, "scaling")       /* inputs times 2^k against the reference of the same */           \
    X(WRITTEN, "written")       /* two poisons: everything written, nothing read before */         \
    X(WORKSPACE, "workspace")   /* NaN, then ones */                                               \
    X(GUARDS, "guards")         /* bands around buffers, aligned left, then right */               \
    X(BANDS_READ, "bands")      /* NaN or zeros in the bands: same bits */                         \
    X(INPUTS, "inputs")         /* inputs unchanged */                                             \
    X(REPEAT, "repeat")         /* 20 launches, shared memory scrubbed: same bits */                                     \
    X(DIFFERENT, "different")   /* another seed: another output */                                 \
    X(NEIGHBOUR, "neighbour")   /* one row of inputs changed: other rows keep their bits */        \
    X(STREAM, "stream")         /* on a non-default stream with the default one busy */            \
    X(CAPTURE, "capture")       /* into a graph, strictly */                                       \
    X(ERROR_STATE, "error")     /* a pending error is neither eaten nor reported */                \
    X(FENCE, "fence")           /* buffers that end where the mapped range ends */
/* clang-format on */

typedef enum ridge_test {
#define RIDGE_TEST_ENUM(name, text) RIDGE_TEST_##name,
    RIDGE_TEST_LIST(RIDGE_TEST_ENUM)
#undef RIDGE_TEST_ENUM
        RIDGE_TEST_COUNT
} ridge_test;
const char *ridge_test_name(ridge_test test);

typedef enum ridge_outcome {
    RIDGE_OUTCOME_PASS,
    RIDGE_OUTCOME_SUSPICIOUS,
    RIDGE_OUTCOME_FAIL,
    RIDGE_OUTCOME_REFUSED, /* the kernel answered that it does not take the case */
    RIDGE_OUTCOME_SKIPPED, /* not possible here, or no reference; said so in text */
} ridge_outcome;

typedef struct ridge_test_result {
    ridge_test test;
    ridge_outcome outcome;
    char text[200]; /* why it failed, was refused or skipped; "" */
} ridge_test_result;

/* Plain data. */
typedef struct ridge_check_result {
    ridge_case at;
    ridge_outcome outcome; /* the worst of the tests; REFUSED when the case was */
    ridge_test_result tests[RIDGE_TEST_COUNT];
    size_t test_count;
    bool is_verified;        /* a reference was there */
    ridge_mismatch mismatch; /* of the first failing comparison, else of the values test */
    ridge_test mismatch_test;
    double worst_scaled_error; /* over all comparisons with a bound */
    double duration_s;
} ridge_check_result;

/* What one case teaches about others of the same kernel; zeroed before the first, no more to do.
 * Integers that give fractions (a norm, a softmax) do so in other cases too: those tests are skipped
 * as not applying without asking the reference again. */
typedef struct ridge_check_memory {
    /* By type, test, plan of the test, and whether sums have more than one term. */
    bool gives_fractions[RIDGE_DTYPE_COUNT][RIDGE_TEST_PRECISION + 1][3][2];
} ridge_check_memory;

/* tests: bits 1 << ridge_test; 0: all, but FENCE, whose fault ends the process, is skipped unless
 * its bit is set. without: guards switched off, for tests of the harness. */
typedef struct ridge_check_options {
    uint64_t tests, without;
    int repeats;           /* 0: 20 */
    uint64_t memory_bytes; /* most device memory to take; 0: three quarters of what is free */
    /* Larger outputs are verified on sampled rows; without an axis of rows the case's own values
     * alone are, up to 2^24 elements; 0: 2^24. */
    int64_t verify_elements;
    const int64_t *tile;        /* of the kernel, RIDGE_BUFFER_DIMS entries; NULL: unknown */
    bool must_take;             /* a refusal is a failure: the plain case */
    ridge_check_memory *memory; /* of the kernel, borrowed; NULL: each case is the first */
    /* Asked between tests and repeats; true: what was found so far is the result. NULL: never. */
    bool (*should_stop)(void *context);
    void *context;
} ridge_check_options;

/* A wrong result is RIDGE_OK with an outcome; a status other than that means that the check itself
 * could not be made (out of memory, a failed launch: the message has the driver's words). */
ridge_status ridge_check_kernel(ridge_device *device, const ridge_kernel *kernel,
                                const ridge_case *at, const ridge_check_options *options,
                                ridge_check_result *out, ridge_error *err);

/* Halves extents of a failing case while it still fails; *at becomes the least one found.
 * still_fails runs the check. At most 64 tries. */
typedef bool (*ridge_still_fails)(void *context, const ridge_case *at);
void ridge_case_shrink(ridge_case *at, ridge_still_fails still_fails, void *context);

/* What a kernel does wrong that is right in contiguous memory and not in this layout; NULL for
 * contiguous. */
const char *ridge_layout_mistake(ridge_layout layout);

/* The default cases around a base case: extents from {0, 1, tile - 1, tile, tile + 1, 2 tile + 3,
 * 769, 5125, a power of two, a large one} per axis, all dtypes, layouts, in place or not, values;
 * pairwise covering. full: more extents. *out is new: ridge_cases_free(). seed draws the order and
 * the free extents. */
ridge_status ridge_check_matrix(const ridge_case *base, const ridge_dtype *dtypes,
                                size_t dtype_count, int64_t tile, bool full, uint64_t seed,
                                ridge_case **out, size_t *count, ridge_error *err);
void ridge_cases_free(ridge_case *cases);

#ifdef __cplusplus
}
#endif
#endif
