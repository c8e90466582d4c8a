/* SPDX-License-Identifier: Apache-2.0
 *
 * Any kernel as something that can be checked and measured: what it is given (a case), which
 * buffers it wants, how it is launched, and what the right answer is. Kernels of this tree, plug-ins
 * (a shared library that exports ridge_plugin()), machine code with a manifest and Python callables
 * all become a ridge_kernel.
 *
 * This header stands alone: a plug-in includes it and links nothing of ridge.
 *
 * Rules for launch(): the harness owns all device memory. launch() neither allocates, frees nor
 * synchronises, uses only the given stream and only the given pointers, and may be called with any
 * buffers in any order. On the GPU it is captured into a graph once to see that it is so. On the
 * CPU device (stream NULL) it does its work before it returns. */
#ifndef RIDGE_FAMILY_H
#define RIDGE_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ridge/dtype.h"
#include "ridge/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* a cudaStream_t or CUstream */
typedef struct ridge_device ridge_device;

/* -- a case ------------------------------------------------------------------------------------ */

enum {
    RIDGE_CASE_AXES = 12,
    RIDGE_CASE_TEXT = 640, /* bytes of the longest case as text */
    RIDGE_KERNEL_BUFFERS = 24,
    RIDGE_BUFFER_DIMS = 5
};

/* What inputs hold. X(name, text) */
/* clang-format off */
#define RIDGE_VALUES_LIST(X)                                                                       \
    X(NORMAL, "normal")         /* about standard normal: a sum of uniform numbers, |x| < 3.5 */   \
    X(SMALL_INT, "int")         /* -2 ... 2: every partial sum below 2^24 is exact */              \
    X(UNIT_INT, "unit")         /* -1, 0 or 1; three in four are 0 */                              \
    X(INDEX, "index")           /* its own linear index, modulo what the type holds exactly */     \
    X(ONE_HOT, "onehot")        /* 1 at one place of each row of the last axis, else 0 */          \
    X(ODD12, "odd12")           /* odd 12-bit integers: exact in f32, not in TF32 or bf16 */       \
    X(ONE_SIGN, "positive")     /* |normal| */                                                     \
    X(OUTLIER, "outlier")       /* normal, 1 % of them times 100 */                                \
    X(SUBNORMAL, "subnormal")   /* around the least normal value of the type */                    \
    X(NONFINITE, "nonfinite")   /* normal; row 1 holds NaN, +inf and -inf */                       \
    X(CONSTANT, "constant")     /* each row of the last axis is one normal value */                \
    X(SORTED, "sorted")         /* ascending along the last axis */                                \
    X(ZERO, "zero") X(ONE, "one")
/* clang-format on */

typedef enum ridge_values {
#define RIDGE_VALUES_ENUM(name, text) RIDGE_VALUES_##name,
    RIDGE_VALUES_LIST(RIDGE_VALUES_ENUM)
#undef RIDGE_VALUES_ENUM
        RIDGE_VALUES_COUNT
} ridge_values;

/* How tensors lie in memory. X(name, text) */
/* clang-format off */
#define RIDGE_LAYOUT_LIST(X)                                                                       \
    X(CONTIGUOUS, "contiguous")                                                                    \
    X(PADDED, "pad8")           /* rows of the last axis 8 elements apart from each other */       \
    X(TRANSPOSED, "transposed") /* the last two axes swapped in memory */                          \
    X(SLICED, "sliced")         /* rows of a tensor twice as wide */                               \
    X(OFFSET, "offset1")        /* contiguous, begins one element behind an aligned address */     \
    X(BROADCAST, "broadcast")   /* inputs: stride 0 along the first axis */                        \
    X(REVERSED, "reversed")     /* rows in descending order: a negative stride */
/* clang-format on */

typedef enum ridge_layout {
#define RIDGE_LAYOUT_ENUM(name, text) RIDGE_LAYOUT_##name,
    RIDGE_LAYOUT_LIST(RIDGE_LAYOUT_ENUM)
#undef RIDGE_LAYOUT_ENUM
        RIDGE_LAYOUT_COUNT
} ridge_layout;

typedef struct ridge_axis {
    char name[24];
    int64_t value;
} ridge_axis;

/* Plain data. As text: "m=3,n=769,dtype=bf16,layout=pad8,values=int,seed=7"; what is not given
 * keeps its default. */
typedef struct ridge_case {
    size_t struct_size; /* sizeof(ridge_case): a plug-in may be older than the harness */
    ridge_axis axes[RIDGE_CASE_AXES];
    size_t axis_count;
    ridge_dtype dtype; /* RIDGE_DTYPE_COUNT, in results alone: not known, and not in the text */
    ridge_layout layout;
    ridge_values values;
    bool in_place; /* outputs that may share an input's memory do */
    uint64_t seed;
} ridge_case;

/* For kernels, which link nothing: an axis by name, or fallback. */
static inline int64_t ridge_case_axis(const ridge_case *at, const char *name, int64_t fallback)
{
    size_t i, k;

    for (i = 0; i < at->axis_count; i++) {
        for (k = 0; name[k] != '\0' && at->axes[i].name[k] == name[k]; k++)
            ;
        if (name[k] == '\0' && at->axes[i].name[k] == '\0')
            return at->axes[i].value;
    }
    return fallback;
}

/* -- buffers ----------------------------------------------------------------------------------- */

typedef enum ridge_role {
    RIDGE_ROLE_IN,
    RIDGE_ROLE_OUT,
    RIDGE_ROLE_INOUT,
    RIDGE_ROLE_WORKSPACE /* contents undefined before and after */
} ridge_role;

/* What the harness allocates, fills, guards and rotates. */
typedef struct ridge_buffer_desc {
    char name[24];
    ridge_role role;
    ridge_dtype dtype;
    int ndim; /* 0: a scalar in memory */
    int64_t shape[RIDGE_BUFFER_DIMS];
    int64_t stride[RIDGE_BUFFER_DIMS]; /* elements; all 0: contiguous, which the harness fills in.
                                           The least address of a negative stride is the buffer's */
    ridge_values values;               /* of this input, when has_values; else the case's */
    bool has_values;
    bool keeps_layout; /* the case's layout does not apply: a weight, a table of lengths */
    int alias_of; /* with in_place: 1 + the index of the input whose memory it shares; 0: none */
} ridge_buffer_desc;

/* The buffers of one launch: data[i] is the address of element (0, 0, ...) of buffers[i]. */
typedef struct ridge_view {
    void *const *data;
    const ridge_buffer_desc *buffers; /* with every stride filled in */
    size_t count;
    ridge_device *device; /* for kernels of this tree; opaque */
} ridge_view;

/* The same for a reference, in double, contiguous in logical order whatever the strides: inputs as
 * stored (already rounded), outputs to be filled. For INOUT in[i] is the value before. magnitude[i]
 * (NULL: not wanted) takes, for each output element, the sum of the absolute values that were
 * added to make it: sum |a||b| of a dot product, |out| where all that is added has one sign (a norm, a
 * softmax). What bounds the rounding error. A reference that does not fill it leaves it NAN, then
 * |out| serves, at least its root mean square. What a formula amplifies (exp, a difference) is no
 * part of it: where the bound does not hold, the reference is asked again with its inputs a rounding
 * away, and what it moves is allowed beside. So it must be smooth in double, as the formula is. */
typedef struct ridge_reference_view {
    const double *const *in;
    double *const *out;
    double *const *magnitude;
    const ridge_buffer_desc *buffers;
    size_t count;
} ridge_reference_view;

/* -- work -------------------------------------------------------------------------------------- */

/* Which roof of ridge/bound.h holds for the operations: its ridge_peak by value. */
typedef struct ridge_kernel_work {
    double flop_count;                /* a multiply-add is two */
    double read_bytes, written_bytes; /* compulsory */
    double footprint_bytes;           /* touched by a launch; 0: the sum of the buffers */
    int peak;                         /* ridge_peak; 0: none */
    /* Longest chain of additions of the error bound, and one for each rounding behind it: k of a
     * product, n + 4 of a norm or a softmax of n. 0: elementwise, 2 ulp are allowed. */
    int64_t accumulate_length;
} ridge_kernel_work;

/* -- a kernel ---------------------------------------------------------------------------------- */

typedef struct ridge_kernel ridge_kernel;

/* Each function gets its kernel first, so that one made at run time finds its context. An answer
 * of RIDGE_ERR_UNSUPPORTED, _MISALIGNED or _ALIAS from describe, prepare or launch is a refusal:
 * counted and shown, no mistake. Another error of launch is a mistake in that case, one of CUDA, of
 * memory or the device ends the run. All functions but describe and launch may be NULL. */
struct ridge_kernel {
    size_t struct_size;
    const char *name;
    /* Fills at most RIDGE_KERNEL_BUFFERS descriptions. The harness applies the case's layout to
     * buffers without strides. */
    ridge_status (*describe)(const ridge_kernel *self, const ridge_case *at,
                             ridge_buffer_desc *buffers, size_t *count, ridge_error *err);
    ridge_status (*work)(const ridge_kernel *self, const ridge_case *at, ridge_kernel_work *out,
                         ridge_error *err);
    /* Untimed, once for each set of buffers; may launch on the stream. *state goes to launch. */
    ridge_status (*prepare)(const ridge_kernel *self, const ridge_case *at, const ridge_view *view,
                            void **state, struct CUstream_st *stream, ridge_error *err);
    ridge_status (*launch)(const ridge_kernel *self, const ridge_case *at, const ridge_view *view,
                           void *state, struct CUstream_st *stream, ridge_error *err);
    void (*finish)(const ridge_kernel *self, void *state);
    /* The right answer in double. NULL: there is none and results are unverified. */
    ridge_status (*reference)(const ridge_kernel *self, const ridge_case *at,
                              const ridge_reference_view *view, ridge_error *err);
    /* The same formula evaluated plainly at the precision of the types: the second opinion. */
    ridge_status (*plain)(const ridge_kernel *self, const ridge_case *at,
                          const ridge_reference_view *view, ridge_error *err);
    /* Fills a buffer's logical elements (contiguous doubles) where the kinds of ridge_values do
     * not do: offsets of sequences, indices. buffer_index as described. Answers
     * RIDGE_ERR_UNSUPPORTED for buffers that the harness shall fill. */
    ridge_status (*fill)(const ridge_kernel *self, const ridge_case *at, size_t buffer_index,
                         double *elements, uint64_t seed, ridge_error *err);
    /* Axis along which rows of the outputs depend on the same rows of inputs of that extent only,
     * so that a large case is verified on some of its rows. NULL: none. */
    const char *row_axis;
    void *context; /* the maker's */

    /* What the kernel takes, from which the matrix of cases is drawn: every axis with a sensible
     * value, the types, the extent around which edges lie. Read of plug-ins whose struct_size has
     * them; families and manifests say it elsewhere. NULL, 0: not said, and what is checked without a
     * case is one shape. */
    const ridge_case *default_case;
    const ridge_dtype *dtypes;
    size_t dtype_count;
    int64_t tile;
};

/* What a plug-in exports: kernel number index, or NULL behind the last or when abi is not its. */
#define RIDGE_PLUGIN_ABI 1
typedef const ridge_kernel *(*ridge_plugin_function)(int abi, size_t index);
const ridge_kernel *ridge_plugin(int abi, size_t index);

/* -- families ---------------------------------------------------------------------------------- */

/* A family of this tree: one operation, several variants, best first; the last takes every legal
 * case. Named on the command line as "rms_norm" or "rms_norm:row_per_warp". */
typedef struct ridge_family {
    const char *name;
    const char *summary;
    const ridge_kernel *const *variants;
    size_t variant_count;
    ridge_case default_case; /* every axis with a sensible value */
    int64_t tile;            /* extents of the matrix of cases are drawn around it; 0: none */
    const ridge_dtype *dtypes;
    size_t dtype_count;
    /* The machine code of its GPU variants, whose entries are named FAMILY_VARIANT_TYPE; 0 bytes when
     * it was built without. NULL: there are none. */
    void (*gpu_code)(const void **bytes, size_t *size_bytes);
    size_t gpu_variant_count; /* the first so many run on GPUs only, the others on the CPU */
} ridge_family;

/* -- helpers of libridge, not for plug-ins ----------------------------------------------------- */

const char *ridge_values_name(ridge_values values);
bool ridge_values_find(const char *name, ridge_values *out);
const char *ridge_layout_name(ridge_layout layout);
bool ridge_layout_find(const char *name, ridge_layout *out);

void ridge_case_init(ridge_case *out); /* no axes, bf16, contiguous, normal, seed 1 */
/* Sets an axis, or adds it. RIDGE_ERR_INVALID_ARGUMENT: negative, too many, a name too long. */
ridge_status ridge_case_set(ridge_case *at, const char *name, int64_t value, ridge_error *err);
/* Overrides what text names ("m=3,dtype=f16"); axes that *at lacks are an error when it has any. */
ridge_status ridge_case_parse(const char *text, ridge_case *at, ridge_error *err);
/* The text that ridge_case_parse() reads back; axes in order, then what differs from the default.
 * Returns buffer; RIDGE_CASE_TEXT bytes are always enough. */
char *ridge_case_text(const ridge_case *at, char *buffer, size_t size);

/* Fills in strides of the case's layout, for every buffer. RIDGE_ERR_OVERFLOW. A layout is about rows,
 * so a buffer of less than two axes stays contiguous, as do workspaces and, of broadcast, outputs
 * and inputs whose memory one shares. offset1 is contiguous: who allocates moves the begin. */
ridge_status ridge_buffers_lay_out(const ridge_case *at, ridge_buffer_desc *buffers, size_t count,
                                   ridge_error *err);
int64_t ridge_buffer_elements(const ridge_buffer_desc *buffer); /* product of the shape */
/* Bytes from the least to behind the greatest address that elements take; 0 for an empty one. */
int64_t ridge_buffer_span_bytes(const ridge_buffer_desc *buffer);
/* Offset in elements of logical element index from element (0, 0, ...). */
int64_t ridge_buffer_offset(const ridge_buffer_desc *buffer, int64_t index);
/* How far element (0, 0, ...) lies behind the least address, in elements: negative strides. */
int64_t ridge_buffer_origin(const ridge_buffer_desc *buffer);

/* The value of logical element index before rounding to the type: a pure function, the same on
 * the CPU and on the GPU bit for bit (integer arithmetic and one exact conversion). */
double ridge_fill_value(ridge_values values, const ridge_buffer_desc *buffer, int64_t index,
                        uint64_t seed);

/* Calls with what is missing answered for: no work is NAN everywhere, no preparation is none. */
ridge_status ridge_kernel_work_of(const ridge_kernel *kernel, const ridge_case *at,
                                  ridge_kernel_work *out, ridge_error *err);
/* Describes and lays out. RIDGE_ERR_INVALID_ARGUMENT for a description that cannot be (a negative
 * extent, too many buffers, an alias of a later buffer). */
ridge_status ridge_kernel_describe(const ridge_kernel *kernel, const ridge_case *at,
                                   ridge_buffer_desc buffers[RIDGE_KERNEL_BUFFERS], size_t *count,
                                   ridge_error *err);
ridge_status ridge_kernel_prepare(const ridge_kernel *kernel, const ridge_case *at,
                                  const ridge_view *view, void **state, struct CUstream_st *stream,
                                  ridge_error *err);
void ridge_kernel_finish(const ridge_kernel *kernel, void *state);
/* A variant by its name, with the family's in front or without ("probe:copy", "copy"); NULL. */
const ridge_kernel *ridge_family_variant(const ridge_family *family, const char *name);

/* A refusal, as opposed to a failure. */
bool ridge_status_is_refusal(ridge_status status);

#ifdef __cplusplus
}
#endif
#endif
