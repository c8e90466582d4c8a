/* SPDX-License-Identifier: Apache-2.0
 *
 * Element types as tensors store them: reading one element as a double, writing one with rounding,
 * and the numbers of a format (unit roundoff, greatest finite value, distance in ulp). */
#ifndef RIDGE_DTYPE_H
#define RIDGE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, text, bytes, bits of the significand with the hidden one; 0: integer) */
/* clang-format off */
#define RIDGE_DTYPE_LIST(X)                                                                        \
    X(F64, "f64", 8, 53) X(F32, "f32", 4, 24) X(F16, "f16", 2, 11) X(BF16, "bf16", 2, 8)           \
    X(E4M3, "e4m3", 1, 4) X(E5M2, "e5m2", 1, 3)                                                    \
    X(I64, "i64", 8, 0) X(I32, "i32", 4, 0) X(U32, "u32", 4, 0) X(I16, "i16", 2, 0)                \
    X(I8, "i8", 1, 0) X(U8, "u8", 1, 0)
/* clang-format on */

typedef enum ridge_dtype {
#define RIDGE_DTYPE_ENUM(name, text, bytes, bits) RIDGE_DTYPE_##name,
    RIDGE_DTYPE_LIST(RIDGE_DTYPE_ENUM)
#undef RIDGE_DTYPE_ENUM
        RIDGE_DTYPE_COUNT
} ridge_dtype;

/* " f64 f32 ...", for messages. */
#define RIDGE_DTYPE_WORD(name, text, bytes, bits) " " text
#define RIDGE_DTYPE_NAMES RIDGE_DTYPE_LIST(RIDGE_DTYPE_WORD)

const char *ridge_dtype_name(ridge_dtype dtype); /* "bf16" */
size_t ridge_dtype_bytes(ridge_dtype dtype);
bool ridge_dtype_is_float(ridge_dtype dtype);
/* By name, also torch's ("float32", "half", "bfloat16", "float8_e4m3fn", "int32"); false when
 * unknown. */
bool ridge_dtype_find(const char *name, ridge_dtype *out);

/* Element index of an array. The array need not be aligned. A NaN is a NAN; e4m3 is the variant
 * without infinities (OCP FP8, "fn"). */
double ridge_dtype_load(ridge_dtype dtype, const void *base, int64_t index);
/* Elements 0 ... count - 1, as ridge_dtype_load() has them, in a fraction of its time. */
void ridge_dtype_load_all(ridge_dtype dtype, const void *base, int64_t count, double *out);
/* Rounds to nearest, ties to even. Beyond the greatest finite value: infinity where the format has
 * one, else the NaN of e4m3; integers saturate and NAN becomes 0. */
void ridge_dtype_store(ridge_dtype dtype, void *base, int64_t index, double value);
/* value rounded to the type and back. */
double ridge_dtype_round(ridge_dtype dtype, double value);
/* The bits of element index, zero-extended. */
uint64_t ridge_dtype_bits(ridge_dtype dtype, const void *base, int64_t index);

/* 2^-p for a significand of p bits (2^-24 for f32, 2^-11 f16, 2^-8 bf16): half an ulp, relative.
 * 0 for integers. */
double ridge_dtype_unit_roundoff(ridge_dtype dtype);
double ridge_dtype_greatest(ridge_dtype dtype);        /* greatest finite value */
double ridge_dtype_least_normal(ridge_dtype dtype);    /* 0 for integers */
double ridge_dtype_least_subnormal(ridge_dtype dtype); /* 1 for integers */
/* Values of the type between a and b, which are values of the type; both NAN: 0; one NAN:
 * UINT64_MAX. */
uint64_t ridge_dtype_ulp_distance(ridge_dtype dtype, double a, double b);

#ifdef __cplusplus
}
#endif
#endif
