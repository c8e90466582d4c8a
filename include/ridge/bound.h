/* SPDX-License-Identifier: Apache-2.0
 *
 * The least time physics allows: the bytes an operation must move and the operations it must do,
 * held against the roofs of a chip. No measurement is needed, and no profile.
 *
 *     ridge_operation_find() -> parameters -> ridge_operation_work() -> one or more ridge_work
 *     ridge_roofs_of_chip(), ridge_roofs_read()                      -> ridge_roofs
 *     ridge_bound_of(work, roofs)                                    -> ridge_bound
 *
 * Compulsory bytes: each input is read once, each output written once, whatever the caches do. A
 * multiply-add is two operations. Everything here is plain data; nothing allocates. */
#ifndef RIDGE_BOUND_H
#define RIDGE_BOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ridge/hardware.h"
#include "ridge/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -- element types ----------------------------------------------------------------------------- */

/* X(name, text, bits) */
/* clang-format off */
#define RIDGE_ELEMENT_LIST(X)                                                                      \
    X(F64, "f64", 64) X(F32, "f32", 32) X(TF32, "tf32", 32) X(F16, "f16", 16)                      \
    X(BF16, "bf16", 16) X(FP8, "fp8", 8) X(INT8, "int8", 8) X(INT4, "int4", 4) X(FP4, "fp4", 4)    \
    X(INT32, "int32", 32)
/* clang-format on */

typedef enum ridge_element {
#define RIDGE_ELEMENT_ENUM(name, text, bits) RIDGE_ELEMENT_##name,
    RIDGE_ELEMENT_LIST(RIDGE_ELEMENT_ENUM)
#undef RIDGE_ELEMENT_ENUM
        RIDGE_ELEMENT_COUNT
} ridge_element;

/* " f64 f32 ...", for messages. */
#define RIDGE_ELEMENT_WORD(name, text, bits) " " text
#define RIDGE_ELEMENT_NAMES RIDGE_ELEMENT_LIST(RIDGE_ELEMENT_WORD)
const char *ridge_element_name(ridge_element element); /* "bf16" */
double ridge_element_bytes(ridge_element element);     /* 2; 0.5 for int4 */
/* By name, also "fp16", "half", "float", "fp32", "double", "e4m3", "i8", ...; false when unknown. */
bool ridge_element_find(const char *name, ridge_element *out);

/* -- roofs ------------------------------------------------------------------------------------- */

/* The units that do arithmetic; each has one peak. */
/* clang-format off */
#define RIDGE_PEAK_LIST(X)                                                                         \
    X(NONE, "none") X(FP64, "fp64") X(FP32, "fp32") X(TENSOR_FP64, "fp64 tensor")                  \
    X(TENSOR_TF32, "tf32 tensor") X(TENSOR_FP16, "fp16 tensor") X(TENSOR_BF16, "bf16 tensor")      \
    X(TENSOR_FP8, "fp8 tensor") X(TENSOR_INT8, "int8 tensor") X(TENSOR_FP4, "fp4 tensor")
/* clang-format on */

typedef enum ridge_peak {
#define RIDGE_PEAK_ENUM(name, text) RIDGE_PEAK_##name,
    RIDGE_PEAK_LIST(RIDGE_PEAK_ENUM)
#undef RIDGE_PEAK_ENUM
        RIDGE_PEAK_COUNT
} ridge_peak;

const char *ridge_peak_name(ridge_peak peak);            /* "bf16 tensor" */
bool ridge_peak_find(const char *name, ridge_peak *out); /* false when unknown */
/* The tensor unit that multiplies elements of this type. f32: the fp32 unit, no TF32; int4: the
 * int8 rate, as Hopper and later have none of their own; int32: NONE. */
ridge_peak ridge_peak_of_element(ridge_element element);

/* What time is held against: of a chip as sold, or as measured on a machine. */
typedef struct ridge_roofs {
    char name[64];                       /* "NVIDIA H200" */
    double dram_bytes_per_s;             /* NAN: unknown */
    double flop_per_s[RIDGE_PEAK_COUNT]; /* dense; NAN: unknown */
    double launch_s;  /* least time of an empty kernel; NAN: unknown, taken as 0 */
    bool is_measured; /* any of the numbers above was */
} ridge_roofs;

/* No name and no roof known. */
void ridge_roofs_init(ridge_roofs *out);
void ridge_roofs_of_chip(const ridge_chip *chip, ridge_roofs *out);

/* Measured roofs from a JSON file, schema ridge-roofs/1 (docs/manual/bound.md); name is its "gpu",
 * what it does not hold is NAN. RIDGE_ERR_IO; RIDGE_ERR_FORMAT: no such document, an unknown
 * member, no roof in it. */
ridge_status ridge_roofs_read(const char *path, ridge_roofs *out, ridge_error *err);
ridge_status ridge_roofs_parse(const void *text, size_t size_bytes, ridge_roofs *out,
                               ridge_error *err);

/* -- work -------------------------------------------------------------------------------------- */

/* What one kernel must do at least. */
typedef struct ridge_work {
    char name[48];     /* "qkv projection" */
    double read_bytes; /* device memory, compulsory; weights and KV cache included */
    double written_bytes;
    double weight_bytes; /* of read_bytes: parameters of the model */
    double cache_bytes;  /* of read_bytes and written_bytes: KV cache and recurrent states */
    double flop_count;
    ridge_peak peak; /* the unit that does them; NONE when flop_count is 0 */
} ridge_work;

typedef enum ridge_bound_by {
    RIDGE_BOUND_BY_NOTHING, /* no bytes and no operations, or no roof is known for them */
    RIDGE_BOUND_BY_MEMORY,
    RIDGE_BOUND_BY_COMPUTE,
    RIDGE_BOUND_BY_LAUNCH, /* less work than an empty kernel takes to start and end */
} ridge_bound_by;

typedef struct ridge_bound {
    double memory_s;            /* bytes / bandwidth; NAN: unknown */
    double compute_s;           /* flop_count / peak; NAN: unknown */
    double time_s;              /* the larger, and at least launch_s: no kernel is faster */
    double flop_per_byte;       /* intensity of the work; INFINITY without bytes */
    double ridge_flop_per_byte; /* where the two roofs meet: peak / bandwidth */
    ridge_bound_by by;
} ridge_bound;

void ridge_bound_of(const ridge_work *work, const ridge_roofs *roofs, ridge_bound *out);

/* -- operations -------------------------------------------------------------------------------- */

enum { RIDGE_OPERATION_PARAMETERS = 16, RIDGE_OPERATION_WORKS = 8 };

/* A size or a switch of an operation: "m", "causal". */
typedef struct ridge_parameter {
    const char *name;
    const char *help;     /* "rows of a and of the result" */
    double default_value; /* NAN: must be given */
    double least, most;   /* of its values, which are whole numbers */
} ridge_parameter;

typedef struct ridge_operation {
    const char *name;    /* "gemm" */
    const char *summary; /* "d = a b" */
    const char *formula; /* of bytes and operations, as the manual shows it, with its source */
    const ridge_parameter *parameters;
    size_t parameter_count;
} ridge_operation;

size_t ridge_operation_count(void);
const ridge_operation *ridge_operation_at(size_t index);
const ridge_operation *ridge_operation_find(const char *name); /* NULL when unknown */
/* The index of a parameter by name; false when the operation has none. */
bool ridge_operation_parameter(const ridge_operation *operation, const char *name, size_t *index);

/* The least work. values[i] belongs to parameters[i]; NAN takes the default. element is that of
 * the tensors. Fills at most RIDGE_OPERATION_WORKS kernels: one for most operations, five for the
 * backward of Kimi Delta Attention. RIDGE_ERR_INVALID_ARGUMENT names the parameter: missing,
 * negative, no whole number, contradicting another (heads % kv_heads). */
ridge_status ridge_operation_work(const ridge_operation *operation,
                                  const double values[RIDGE_OPERATION_PARAMETERS],
                                  ridge_element element, ridge_work works[RIDGE_OPERATION_WORKS],
                                  size_t *work_count, ridge_error *err);

/* Values of one parameter, as typed: "m=8192", "m=1,16,64", "m=1:8192:x2", "m=1:64:+8". A number
 * may end in k, M, G (thousands) or Ki, Mi, Gi (1024); names are of either case. */
enum { RIDGE_SWEEP_VALUES = 64 };

typedef struct ridge_sweep {
    size_t parameter; /* index into the operation's parameters */
    double values[RIDGE_SWEEP_VALUES];
    size_t count; /* 1 or more */
} ridge_sweep;

/* text need not be terminated. RIDGE_ERR_INVALID_ARGUMENT: no such parameter, no number, too many;
 * whether the values suit the operation, ridge_operation_work() says. */
ridge_status ridge_sweep_parse(const ridge_operation *operation, const char *text, size_t length,
                               ridge_sweep *out, ridge_error *err);

#ifdef __cplusplus
}
#endif
#endif
