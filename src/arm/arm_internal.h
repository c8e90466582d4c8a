/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of src/arm/ share. A manifest and a call signature say the same things: axes,
 * buffers with shapes in terms of them, and parameters made of buffers, scalars and bytes. Both
 * become an arm_signature; they differ in how they are written and in who launches. */
#ifndef RIDGE_ARM_INTERNAL_H
#define RIDGE_ARM_INTERNAL_H

#include "base/cursor.h"
#include "base/document.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "ridge/arm.h"
#include "ridge/image.h"

enum {
    ARM_MOST_EXPRESSION = 512, /* characters */
    ARM_MOST_PARAMETERS = 128,
    ARM_MOST_PIECES = 512,
    ARM_MOST_LETS = 64,
    ARM_MOST_REQUIRES = 32,
    ARM_MOST_AXIS_VALUES = 256,
    ARM_MOST_PARAMETER_BYTES = 32764, /* of a launch, from CUDA 12.1 and sm_70 on */
    ARM_POINTER_BYTES = 8,
    ARM_MAP_BYTES = 128, /* a CUtensorMap */
    ARM_SLOT_BYTES = 64, /* alignment of a parameter in host memory: what a CUtensorMap wants */
};

static inline ridge_status arm_out_of_memory(ridge_error *err)
{
    return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory opening a kernel");
}

/* -- expressions (manifest_expression.c) ------------------------------------------------------- */

/* Length of the name that text begins with; 0: none. */
size_t arm_name_length(const char *text);
/* As ridge_expression_value(); known lists the names there are, for a message (NULL: not said). */
ridge_status arm_expression_value(const char *text, ridge_lookup lookup, void *context,
                                  const char *known, int64_t *out, ridge_error *err);

/* -- signatures (signature.c) ------------------------------------------------------------------ */

/* Texts are borrowed from the arena of who made the signature. path is where a thing was written,
 * for messages: "args[3].value", "column 17". */
typedef struct arm_expression {
    const char *text;
    const char *path;
} arm_expression;

typedef struct arm_axis {
    const char *name;
    int64_t *values; /* the first is the base case's; -1: no value was given */
    size_t value_count;
} arm_axis;

typedef struct arm_let {
    const char *name;
    arm_expression value;
} arm_let;

typedef struct arm_buffer {
    const char *name, *path;
    ridge_role role;
    ridge_dtype dtype;
    int ndim;
    arm_expression shape[RIDGE_BUFFER_DIMS];
    arm_expression stride[RIDGE_BUFFER_DIMS]; /* text NULL in the first: none given */
    bool has_values;
    ridge_values values;
    bool is_of_family;  /* described by the family of a call: no dtype, shape of its own */
    bool takes_strides; /* an expression uses NAME.strideK: the case's layout applies */
} arm_buffer;

/* A CUtensorMap of a buffer; axes as in its shape, the slowest first. */
typedef struct arm_map {
    size_t buffer;
    ridge_dtype dtype;
    int ndim;
    arm_expression shape[RIDGE_BUFFER_DIMS];  /* text NULL in the first: the buffer's */
    arm_expression stride[RIDGE_BUFFER_DIMS]; /* elements; the same */
    arm_expression box[RIDGE_BUFFER_DIMS];
    int64_t element_stride[RIDGE_BUFFER_DIMS];
    int64_t swizzle_bytes, interleave_bytes, l2_promotion_bytes;
    bool nan_fill;
} arm_map;

typedef enum arm_piece_kind {
    ARM_PIECE_POINTER,
    ARM_PIECE_SCALAR,
    ARM_PIECE_MAP,
    ARM_PIECE_RAW
} arm_piece_kind;

enum { ARM_NO_BUFFER = -1 };

/* A part of a parameter: all of it but in a structure. */
typedef struct arm_piece {
    arm_piece_kind kind;
    uint32_t offset_bytes, size_bytes; /* in the parameter */
    int buffer;                        /* of a pointer; ARM_NO_BUFFER: NULL */
    ridge_dtype dtype;                 /* of a scalar */
    arm_expression value;              /* of a scalar; text NULL: number */
    double number;
    const arm_map *map;
    const uint8_t *raw;
} arm_piece;

typedef struct arm_parameter {
    const char *name, *path;
    uint32_t size_bytes;
    int64_t offset_bytes; /* as the manifest says; -1: it does not */
    size_t first_piece, piece_count;
} arm_parameter;

typedef struct arm_signature {
    arm_axis axes[RIDGE_CASE_AXES];
    size_t axis_count;
    arm_let lets[ARM_MOST_LETS];
    size_t let_count;
    arm_expression requires[ARM_MOST_REQUIRES]; /* 0: the case is refused */
    size_t require_count;
    arm_buffer buffers[RIDGE_KERNEL_BUFFERS];
    size_t buffer_count;
    arm_parameter parameters[ARM_MOST_PARAMETERS];
    size_t parameter_count;
    arm_piece pieces[ARM_MOST_PIECES];
    size_t piece_count;
    ridge_dtype dtype; /* of the case: the one it was compiled for */
} arm_signature;

/* Index of a name; -1: none. */
int arm_find_axis(const arm_signature *signature, const char *name, size_t length);
int arm_find_buffer(const arm_signature *signature, const char *name, size_t length);
/* The next buffer, NULL with a message when there are too many or the name is taken or long. */
arm_buffer *arm_add_buffer(arm_signature *signature, const char *name, const char *path,
                           ridge_error *err);
arm_parameter *arm_add_parameter(arm_signature *signature, const char *name, const char *path,
                                 ridge_error *err);
/* Of the parameter added last. */
arm_piece *arm_add_piece(arm_signature *signature, const char *path, ridge_error *err);
ridge_status arm_add_axis(arm_signature *signature, ridge_arena *arena, const char *name,
                          const char *path, const int64_t *values, size_t count, ridge_error *err);
/* When all expressions are there: which buffers are told their strides, and the case's dtype when
 * has_dtype does not say that it is set (that of the first output). */
void arm_signature_finish(arm_signature *signature, bool has_dtype);
void arm_signature_case(const arm_signature *signature, ridge_case *out);

/* The values of names for one case: axes, lets and, with buffers, NAME.shapeK and NAME.strideK. */
typedef struct arm_values {
    const arm_signature *signature;
    int64_t axes[RIDGE_CASE_AXES];
    int64_t lets[ARM_MOST_LETS];
    size_t let_count; /* known so far */
    const ridge_buffer_desc *buffers;
    size_t buffer_count;
} arm_values;

/* buffers: laid out; NULL: shapes and strides are not known yet. */
ridge_status arm_values_of(const arm_signature *signature, const ridge_case *at,
                           const ridge_buffer_desc *buffers, arm_values *out, ridge_error *err);
/* A value from lowest to highest; messages begin with the expression's path. */
ridge_status arm_value(const arm_values *values, const arm_expression *expression, int64_t lowest,
                       int64_t highest, int64_t *out, ridge_error *err);

/* Answers RIDGE_ERR_UNSUPPORTED when a requirement does not hold, for another dtype than the one it
 * was compiled for, and for a layout that no buffer can take. */
ridge_status arm_signature_describe(const arm_signature *signature, const ridge_case *at,
                                    ridge_buffer_desc *buffers, size_t *count, ridge_error *err);

/* The bytes of all parameters, and where each begins: what a launch is given. */
typedef struct arm_packed {
    void *block; /* new */
    void *parameters[ARM_MOST_PARAMETERS];
} arm_packed;

/* device: for tensor maps; NULL leaves them zeros. data may be NULL for a trial: pointers are 0. */
ridge_status arm_signature_pack(const arm_signature *signature, const arm_values *values,
                                ridge_device *device, void *const *data, arm_packed *out,
                                ridge_error *err);
void arm_packed_release(arm_packed *packed);

/* -- manifests (manifest.c, manifest_arguments.c) ---------------------------------------------- */

typedef struct arm_manifest {
    const char *image, *entry; /* image: as written, relative to the manifest's folder */
    const char *image_data;    /* base64 of the image itself; NULL: it is a file */
    const char *family;        /* of its reference; NULL */
    const char *reference;     /* another arm; NULL */
    arm_expression grid[3], block[3], cluster[3], shared_bytes; /* text NULL: 1, 1, none, 0 */
    bool programmatic_dependent_launch;
    arm_expression read_bytes, written_bytes, footprint_bytes, flop, accumulate_length;
    bool has_work;
    int peak;
    int64_t tile;
    const char *row_axis;
    arm_signature signature;
} arm_manifest;

/* Texts live in arena. Everything is checked that needs no binary: members, names, and all
 * expressions for the base case. RIDGE_ERR_FORMAT. */
ridge_status arm_manifest_read(const ridge_node *root, ridge_arena *arena, arm_manifest *out,
                               ridge_error *err);
/* The member args (manifest_arguments.c). */
ridge_status arm_manifest_arguments(const ridge_node *root, ridge_arena *arena,
                                    arm_signature *signature, ridge_error *err);

/* What the readers of members share. path is the object's ("args[2]"; "" for the top). */
typedef struct arm_member {
    const ridge_node *object;
    const char *path;
    ridge_arena *arena;
} arm_member;

/* "args[2].dtype", in the arena; NULL when out of memory. */
const char *arm_member_path(const arm_member *in, const char *key);
/* Refuses what is not among names ("name role dtype"). */
ridge_status arm_members_check(const arm_member *in, const char *names, ridge_error *err);
ridge_status arm_member_text(const arm_member *in, const char *key, bool is_required,
                             const char **out, ridge_error *err);
ridge_status arm_member_integer(const arm_member *in, const char *key, int64_t lowest,
                                int64_t highest, int64_t *out, ridge_error *err);
ridge_status arm_member_bool(const arm_member *in, const char *key, bool *out, ridge_error *err);
/* A whole number or the text of an expression; absent: out->text NULL. */
ridge_status arm_member_expression(const arm_member *in, const char *key, arm_expression *out,
                                   ridge_error *err);
/* An array of at most most of them; *count stays when it is absent. */
ridge_status arm_member_expressions(const arm_member *in, const char *key, arm_expression *out,
                                    size_t most, size_t *count, ridge_error *err);
ridge_status arm_fail_member(const arm_member *in, const char *key, const char *expected,
                             ridge_error *err);

/* How a case is launched; needs no device. */
typedef struct arm_launch {
    ridge_gpu_launch launch;
    bool is_empty; /* a grid of 0: nothing is launched */
} arm_launch;
ridge_status arm_manifest_launch(const arm_manifest *manifest, const arm_values *values,
                                 arm_launch *out, ridge_error *err);
/* Evaluates everything for a case, without a device. */
ridge_status arm_manifest_try(const arm_manifest *manifest, const ridge_case *at, ridge_error *err);

/* -- the image of a manifest (manifest_image.c) ------------------------------------------------ */

/* Compares the parameters of a manifest with those of the entry in an image: count, offset and size
 * of each. sm: of the GPU that is to run it, 90; 0: none. RIDGE_ERR_ARCH when it cannot. Entries of other names are listed when it is not there. */
ridge_status arm_image_check(const arm_manifest *manifest, const void *bytes, size_t size_bytes,
                             const char *name, int sm, ridge_image_kind *kind, ridge_error *err);
/* The same with parameters that somebody else found, the driver. */
ridge_status arm_parameters_compare(const arm_manifest *manifest,
                                    const ridge_kernel_parameter *found, size_t found_count,
                                    const char *name, ridge_error *err);

/* -- opened arms ------------------------------------------------------------------------------- */

struct ridge_arm {
    ridge_arena arena;
    ridge_device *device; /* borrowed */
    ridge_arm_name name;
    const char *text;
    const ridge_kernel *kernel;
    ridge_code code;
    void *image; /* new; NULL: none */
    size_t image_bytes;
    const char *image_kind; /* "library"; "" */
    ridge_text archive;     /* of a manifest: the same with its image and its reference in it */
    bool is_embedded;       /* the reference in another's manifest: only launched */
    ridge_case base;
    const ridge_dtype *dtypes;
    size_t dtype_count;
    ridge_dtype dtype; /* what dtypes points to when it is one */
    int64_t tile;
    const arm_signature *signature; /* of a manifest or call; NULL */

    void *library; /* dlopen()'s */
    void *maker;   /* state of manifest_kernel.c, call.c or plugin.c, in the arena */
    void (*maker_release)(void *maker); /* NULL: nothing to do */
    struct ridge_arm *reference;        /* that a manifest names */
};

/* An arm with nothing opened. *out is new. */
ridge_status arm_create(ridge_device *device, const char *text, ridge_arm **out, ridge_error *err);
/* A manifest within that of arm: path is its. */
ridge_status arm_open_embedded(const ridge_arm *arm, const ridge_node *root,
                               const ridge_arm_options *options, ridge_arm **out, ridge_error *err);
ridge_status arm_open_manifest(ridge_arm *arm, const ridge_arm_options *options, ridge_error *err);
ridge_status arm_open_plugin(ridge_arm *arm, const ridge_arm_options *options, ridge_error *err);
ridge_status arm_open_call(ridge_arm *arm, const ridge_arm_options *options, ridge_error *err);

/* The kernel of the bare name of a family: of its variants the first that does not refuse, for each
 * set of buffers (choice.c). */
ridge_status arm_choose_variant(ridge_arm *arm, const ridge_family *family, ridge_error *err);

/* Reads a whole file into new memory, unpacked when gzip or zstd packed it. */
ridge_status arm_read_file(const char *path, void **out, size_t *size_bytes, ridge_error *err);
/* A family by name. RIDGE_ERR_INVALID_ARGUMENT lists those there are. */
ridge_status arm_find_family(const ridge_arm_options *options, const char *name,
                             const ridge_family **out, ridge_error *err);
/* The family that an arm is said to be of, its own word first; *out NULL: none. */
ridge_status arm_family_of(const ridge_arm_options *options, const char *own,
                           const ridge_family **out, ridge_error *err);
/* A path beside a file: of "a/b.json" and "c.cubin" "a/c.cubin". In the arena. */
const char *arm_path_beside(ridge_arena *arena, const char *file, const char *path);

/* -- libraries (plugin.c) ---------------------------------------------------------------------- */

/* Reads the library into arm->image, hashes its code, writes it to a path of its own, loads that
 * copy and removes it: what runs is what is archived. */
ridge_status arm_library_open(ridge_arm *arm, ridge_error *err);
void arm_library_close(void *library);
/* Which code of a library a kernel runs is not known: its hash is that of all and of its name. */
void arm_library_name_code(ridge_arm *arm, const char *name);

/* arm->code becomes that of all code of the host beside a kernel's launch(), and of a name; it stays
 * unknown where that cannot be looked at (host_code.c). */
void arm_host_code(ridge_arm *arm, const ridge_kernel *kernel, const char *name);

/* -- call signatures (call_signature.c, call.c) ------------------------------------------------ */

typedef enum arm_return { ARM_RETURN_VOID, ARM_RETURN_I32 } arm_return;

typedef struct arm_call {
    const char *function;
    arm_return returns;
    int stream_at; /* index of the parameter that is the stream; -1: none */
    const ridge_family *family;
    arm_signature signature;
} arm_call;

/* family: whose buffers "ptr:NAME" alone takes; NULL: none. RIDGE_ERR_INVALID_ARGUMENT with the
 * column. */
ridge_status arm_call_read(const char *text, const ridge_family *family, ridge_arena *arena,
                           arm_call *out, ridge_error *err);

/* What one machine's calling convention passes in registers. */
enum {
#if defined(__aarch64__)
    ARM_CALL_INTEGERS = 8,
#else
    ARM_CALL_INTEGERS = 6,
#endif
    ARM_CALL_FLOATS = 8
};

typedef struct arm_registers {
    uint64_t integers[8];
    double floats[8];
    size_t integer_count, float_count;
} arm_registers;

/* A scalar in memory as a register holds it. False: no register of its kind is left. */
bool arm_registers_add(arm_registers *registers, ridge_dtype dtype, const void *value);
bool arm_registers_add_pointer(arm_registers *registers, const void *value);
/* Whether every parameter gets a register, and is of a type that stands in one. */
ridge_status arm_call_check(const arm_call *call, ridge_error *err);
/* Calls; returns the low 32 bits of the result. */
int32_t arm_call_function(void *function, const arm_registers *registers);

/* -- references of others (reference.c) -------------------------------------------------------- */

/* Gives arm->kernel what it lacks of a family: reference, plain, work, fill. Buffers are matched by
 * name; RIDGE_ERR_INVALID_ARGUMENT when they cannot be. family NULL: nothing to do. */
ridge_status arm_borrow_family(ridge_arm *arm, const ridge_family *family, ridge_error *err);
/* The variant that knows the right answer; the first when none does. */
const ridge_kernel *arm_family_source(const ridge_family *family);
/* The axes of base with the values of at, by name, those of at when base has none; dtype, values
 * and seed of at. */
void arm_case_like(const ridge_case *base, const ridge_case *at, ridge_case *out);
/* What arm->reference computes as the reference, unless the kernel has one. */
ridge_status arm_borrow_arm(ridge_arm *arm, ridge_error *err);

#endif
