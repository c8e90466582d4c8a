/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversions between a double and the bits of an element type, by integer arithmetic alone: C17
 * and CUDA C++ include this and get the same bits. */
#ifndef RIDGE_BASE_DTYPE_BITS_H
#define RIDGE_BASE_DTYPE_BITS_H

#include <stdint.h>
#include <string.h>

#include "ridge/dtype.h"

#ifdef __CUDACC__
#define DTYPE_BOTH static __host__ __device__ inline
#elif defined(__GNUC__)
/* Called with a constant type, nothing is left of the questions about it. */
#define DTYPE_BOTH static inline __attribute__((always_inline))
#else
#define DTYPE_BOTH static inline
#endif

DTYPE_BOTH uint64_t dtype_double_bits(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

DTYPE_BOTH double dtype_bits_double(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* Bits of the significand with the hidden one; 0: an integer. */
DTYPE_BOTH int dtype_significand_bits(ridge_dtype dtype)
{
    switch (dtype) {
#define DTYPE_SIGNIFICAND(name, text, bytes, bits)                                                 \
    case RIDGE_DTYPE_##name:                                                                       \
        return bits;
        RIDGE_DTYPE_LIST(DTYPE_SIGNIFICAND)
#undef DTYPE_SIGNIFICAND
    default:
        return 0;
    }
}

DTYPE_BOTH int dtype_size(ridge_dtype dtype)
{
    switch (dtype) {
#define DTYPE_SIZE(name, text, bytes, bits)                                                        \
    case RIDGE_DTYPE_##name:                                                                       \
        return bytes;
        RIDGE_DTYPE_LIST(DTYPE_SIZE)
#undef DTYPE_SIZE
    default:
        return 0;
    }
}

/* e4m3 spends the codes of infinity on numbers: OCP FP8, section 5.1. */
DTYPE_BOTH int dtype_has_infinity(ridge_dtype dtype)
{
    return dtype != RIDGE_DTYPE_E4M3;
}

DTYPE_BOTH int dtype_is_signed(ridge_dtype dtype)
{
    return dtype != RIDGE_DTYPE_U32 && dtype != RIDGE_DTYPE_U8;
}

/* Of a floating-point type: what sign and significand leave. */
DTYPE_BOTH int dtype_exponent_bits(ridge_dtype dtype)
{
    return 8 * dtype_size(dtype) - dtype_significand_bits(dtype);
}

DTYPE_BOTH int dtype_bias(ridge_dtype dtype)
{
    return (1 << (dtype_exponent_bits(dtype) - 1)) - 1;
}

/* Bits of infinity, or of what stands in for it. */
DTYPE_BOTH uint64_t dtype_overflow_bits(ridge_dtype dtype)
{
    const int fraction_bits = dtype_significand_bits(dtype) - 1;
    const uint64_t exponent = (UINT64_C(1) << dtype_exponent_bits(dtype)) - 1;
    const uint64_t all = (exponent + 1) << fraction_bits;

    return dtype_has_infinity(dtype) ? exponent << fraction_bits : all - 1;
}

DTYPE_BOTH uint64_t dtype_nan_bits(ridge_dtype dtype)
{
    const uint64_t quiet = UINT64_C(1) << (dtype_significand_bits(dtype) - 2);

    return dtype_overflow_bits(dtype) | quiet;
}

/* A significand shifted right, rounded to nearest, ties to even; 0 < shift < 64. */
DTYPE_BOTH uint64_t dtype_shift_round(uint64_t significand, int shift)
{
    const uint64_t kept = significand >> shift;
    const uint64_t rest = significand & ((UINT64_C(1) << shift) - 1);
    const uint64_t half = UINT64_C(1) << (shift - 1);

    return kept + (rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0);
}

/* A floating-point type. The sign of a NaN is kept, its payload is not. */
DTYPE_BOTH uint64_t dtype_encode_float(ridge_dtype dtype, double value)
{
    const uint64_t bits = dtype_double_bits(value);
    const int fraction_bits = dtype_significand_bits(dtype) - 1;
    const int field = (int)(bits >> 52 & 0x7FF);
    const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    const uint64_t overflow = dtype_overflow_bits(dtype);
    const uint64_t sign = bits >> 63 << (8 * dtype_size(dtype) - 1);
    int exponent, shift;
    uint64_t magnitude;

    if (field == 0x7FF)
        return sign | (fraction != 0 ? dtype_nan_bits(dtype) : overflow);
    if (dtype == RIDGE_DTYPE_F64)
        return bits;
    if (field == 0) /* far below half of the least number of every narrower type */
        return sign;

    exponent = field - 1023 + dtype_bias(dtype);
    shift = 52 - fraction_bits;
    if (exponent < 1) {
        shift += 1 - exponent;
        exponent = 1;
    }
    if (shift > 53)
        return sign;
    /* The hidden one adds 1 to the exponent's field, as does a carry of the rounding. */
    magnitude = ((uint64_t)(exponent - 1) << fraction_bits) +
                dtype_shift_round(fraction | UINT64_C(1) << 52, shift);
    return sign | (magnitude < overflow ? magnitude : overflow);
}

DTYPE_BOTH double dtype_decode_float(ridge_dtype dtype, uint64_t bits)
{
    const int fraction_bits = dtype_significand_bits(dtype) - 1;
    const uint64_t sign = bits >> (8 * dtype_size(dtype) - 1) << 63;
    const uint64_t magnitude = bits & ((UINT64_C(1) << (8 * dtype_size(dtype) - 1)) - 1);
    const uint64_t overflow = dtype_overflow_bits(dtype);
    uint64_t fraction = magnitude & ((UINT64_C(1) << fraction_bits) - 1);
    int exponent = (int)(magnitude >> fraction_bits);

    if (dtype == RIDGE_DTYPE_F64)
        return dtype_bits_double(bits);
    if (magnitude >= overflow)
        return dtype_bits_double(
            sign | UINT64_C(0x7FF) << 52 |
            (magnitude == overflow && dtype_has_infinity(dtype) ? 0 : UINT64_C(1) << 51));
    if (exponent == 0) {
        if (fraction == 0)
            return dtype_bits_double(sign);
        for (exponent = 1; (fraction >> fraction_bits) == 0; exponent--)
            fraction <<= 1;
        fraction &= (UINT64_C(1) << fraction_bits) - 1;
    }
    return dtype_bits_double(sign | (uint64_t)(exponent - dtype_bias(dtype) + 1023) << 52 |
                             fraction << (52 - fraction_bits));
}

/* Rounded to nearest, ties to even, as an integer that saturates; NaN is 0. */
DTYPE_BOTH int64_t dtype_round_integer(double value)
{
    const uint64_t bits = dtype_double_bits(value);
    const int exponent = (int)(bits >> 52 & 0x7FF) - 1023;
    const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    const uint64_t significand = fraction | UINT64_C(1) << 52;
    const int is_negative = (int)(bits >> 63);
    uint64_t magnitude;

    if (exponent == 1024 && fraction != 0)
        return 0;
    if (exponent >= 63)
        return is_negative ? INT64_MIN : INT64_MAX;
    if (exponent < -1)
        return 0;
    magnitude = exponent >= 52 ? significand << (exponent - 52)
                               : dtype_shift_round(significand, 52 - exponent);
    return is_negative ? -(int64_t)magnitude : (int64_t)magnitude;
}

DTYPE_BOTH int64_t dtype_integer_least(ridge_dtype dtype)
{
    return dtype_is_signed(dtype) ? INT64_MIN >> (64 - 8 * dtype_size(dtype)) : 0;
}

DTYPE_BOTH int64_t dtype_integer_greatest(ridge_dtype dtype)
{
    return INT64_MAX >> (64 - 8 * dtype_size(dtype) - !dtype_is_signed(dtype));
}

/* The bits of value in the type, zero-extended. */
DTYPE_BOTH uint64_t dtype_encode(ridge_dtype dtype, double value)
{
    int64_t integer;

    if (dtype_significand_bits(dtype) != 0)
        return dtype_encode_float(dtype, value);
    integer = dtype_round_integer(value);
    if (integer < dtype_integer_least(dtype))
        integer = dtype_integer_least(dtype);
    if (integer > dtype_integer_greatest(dtype))
        integer = dtype_integer_greatest(dtype);
    return (uint64_t)integer & (UINT64_MAX >> (64 - 8 * dtype_size(dtype)));
}

/* An integer type's bits as the integer. */
DTYPE_BOTH int64_t dtype_decode_integer(ridge_dtype dtype, uint64_t bits)
{
    const uint64_t sign = UINT64_C(1) << (8 * dtype_size(dtype) - 1);

    return dtype_is_signed(dtype) ? (int64_t)((bits ^ sign) - sign) : (int64_t)bits;
}

DTYPE_BOTH double dtype_decode(ridge_dtype dtype, uint64_t bits)
{
    return dtype_significand_bits(dtype) != 0 ? dtype_decode_float(dtype, bits)
                                              : (double)dtype_decode_integer(dtype, bits);
}

#endif
