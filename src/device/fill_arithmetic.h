/* SPDX-License-Identifier: Apache-2.0
 *
 * The values of inputs, and hashes and patterns of memory: integer arithmetic and exact
 * conversions, which C17 and CUDA C++ include and compute alike, bit for bit. */
#ifndef RIDGE_FILL_ARITHMETIC_H
#define RIDGE_FILL_ARITHMETIC_H

#include "base/dtype_bits.h"
#include "ridge/family.h"

/* The finaliser of SplitMix64: a bijection that every bit of x goes through. */
DTYPE_BOTH uint64_t fill_mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* Number index of the random sequence of seed. */
DTYPE_BOTH uint64_t fill_hash(uint64_t seed, uint64_t index)
{
    const uint64_t step = UINT64_C(0x9E3779B97F4A7C15);

    return fill_mix(fill_mix(seed + step) + (index + 1) * step);
}

/* A number below range (less than 2^31), evenly. */
DTYPE_BOTH int64_t fill_below(uint64_t hash, int64_t range)
{
    return (int64_t)((hash >> 32) * (uint64_t)range >> 32);
}

/* significand * 2^exponent, |significand| < 2^53: exact unless the result is subnormal. */
DTYPE_BOTH double fill_scaled(int64_t significand, int exponent)
{
    return (double)significand * dtype_bits_double((uint64_t)(exponent + 1023) << 52);
}

/* The sum of four uniform 16-bit numbers has the deviation 65536/sqrt(3); times sqrt(3) * 2^16 and
 * 2^-32 it is 1. |result| < 2 sqrt(3) * 2^32. */
enum { FILL_NORMAL_SCALE = -32 };
DTYPE_BOTH int64_t fill_normal(uint64_t hash)
{
    const int64_t sum =
        (int64_t)((hash & 0xFFFF) + (hash >> 16 & 0xFFFF) + (hash >> 32 & 0xFFFF) + (hash >> 48));

    return (sum - INT64_C(131070)) * 113512;
}

/* What indices are taken modulo of: the type holds all of 0 ... this - 1. */
DTYPE_BOTH int64_t fill_index_range(ridge_dtype dtype)
{
    const int significand = dtype_significand_bits(dtype);
    const int bits =
        significand != 0 ? significand : 8 * dtype_size(dtype) - dtype_is_signed(dtype);

    return INT64_C(1) << (bits < 0 ? 0 : bits < 53 ? bits : 53);
}

/* -4 ... 5, ascending with column; the row's own offset of less than one. */
DTYPE_BOTH double fill_sorted(uint64_t hash, int64_t column, int64_t columns)
{
    while (columns >> 32 != 0) {
        columns >>= 1;
        column >>= 1;
    }
    if (column >= columns)
        column = columns - 1;
    return fill_scaled((column << 30) / columns - (INT64_C(1) << 29) + fill_below(hash, 1 << 27),
                       -27);
}

/* NaN, inf, -inf, at the begin of the row for special = 0, 1, 2. */
DTYPE_BOTH double fill_special(int64_t special)
{
    return dtype_bits_double(special == 0   ? UINT64_C(0x7FF8) << 48
                             : special == 1 ? UINT64_C(0x7FF0) << 48
                                            : UINT64_C(0xFFF0) << 48);
}

/* What all elements of a row have in common. */
DTYPE_BOTH uint64_t fill_row_hash(uint64_t seed, int64_t row)
{
    return fill_hash(~seed, (uint64_t)row);
}

/* The kinds that are a normal value, or one changed. */
DTYPE_BOTH double fill_about_normal(ridge_values values, ridge_dtype dtype, uint64_t hash)
{
    int64_t normal = fill_normal(hash);

    if (values == RIDGE_VALUES_ONE_SIGN && normal < 0)
        normal = -normal;
    if (values == RIDGE_VALUES_OUTLIER && fill_below(fill_mix(hash), 100) == 0)
        normal *= 100;
    if (values == RIDGE_VALUES_SUBNORMAL && dtype_significand_bits(dtype) == 0)
        return (double)(fill_below(hash, 5) - 2);
    if (values == RIDGE_VALUES_SUBNORMAL)
        return fill_scaled(normal, FILL_NORMAL_SCALE) * fill_scaled(1, 1 - dtype_bias(dtype));
    return fill_scaled(normal, FILL_NORMAL_SCALE);
}

/* Element column of a row of columns elements, of rows rows. */
DTYPE_BOTH double fill_element(ridge_values values, ridge_dtype dtype, int64_t row, int64_t rows,
                               int64_t column, int64_t columns, uint64_t seed)
{
    const int64_t index = row * columns + column;
    const uint64_t hash = fill_hash(seed, (uint64_t)index);

    switch (values) {
    case RIDGE_VALUES_SMALL_INT:
        return (double)(fill_below(hash, 5) - 2);
    case RIDGE_VALUES_UNIT_INT:
        return fill_below(hash, 4) != 0 ? 0 : (hash & 1) != 0 ? 1 : -1;
    case RIDGE_VALUES_INDEX:
        return (double)(index & (fill_index_range(dtype) - 1));
    case RIDGE_VALUES_ONE_HOT:
        return column == (int64_t)(fill_row_hash(seed, row) % (uint64_t)columns) ? 1 : 0;
    case RIDGE_VALUES_ODD12:
        return (double)((2049 + 2 * fill_below(hash, 1024)) * ((hash & 1) != 0 ? 1 : -1));
    case RIDGE_VALUES_NONFINITE:
        return row == (rows > 1 ? 1 : 0) && column < 3 ? fill_special(column)
                                                       : fill_about_normal(values, dtype, hash);
    case RIDGE_VALUES_CONSTANT:
        return fill_about_normal(values, dtype, fill_row_hash(seed, row));
    case RIDGE_VALUES_SORTED:
        return fill_sorted(fill_row_hash(seed, row), column, columns);
    case RIDGE_VALUES_ZERO:
        return 0;
    case RIDGE_VALUES_ONE:
        return 1;
    default:
        return fill_about_normal(values, dtype, hash);
    }
}

/* Byte at of a pattern. */
DTYPE_BOTH unsigned char fill_pattern_byte(uint64_t seed, uint64_t at)
{
    return (unsigned char)(fill_hash(seed, at >> 3) >> (8 * (at & 7)));
}

/* The hash of memory is the sum of these over its little-endian words of 8 bytes, the last one
 * extended by zeros, plus fill_hash_size(): it does not depend on the order of the addition. */
DTYPE_BOTH uint64_t fill_hash_word(uint64_t word, uint64_t index)
{
    return fill_hash(word, index);
}

DTYPE_BOTH uint64_t fill_hash_size(uint64_t size_bytes)
{
    return fill_mix(size_bytes ^ UINT64_C(0x72696467652E6831));
}

/* -- what the host hands to kernels ------------------------------------------------------------ */

/* A tensor to be filled: its last axis is the columns, the others are row_axes axes. */
typedef struct fill_tensor {
    int64_t shape[RIDGE_BUFFER_DIMS - 1], stride[RIDGE_BUFFER_DIMS - 1];
    int64_t rows, columns, column_stride;
    int32_t row_axes, dtype, values, unused;
    uint64_t seed;
} fill_tensor;

/* One SM's cycles and time of note number epoch, by the first block there. */
typedef struct clock_slot {
    uint64_t epoch, cycles, ns;
} clock_slot;

#endif
