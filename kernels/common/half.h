/* SPDX-License-Identifier: Apache-2.0
 *
 * 16-bit floats and float, for loops that are to be vectorised: no calls, no tables. Rounds to
 * nearest, ties to even; subnormals are read and made exactly. The same results as
 * ridge_dtype_load() and ridge_dtype_store(), which a test compares for every value. */
#ifndef KERNELS_COMMON_HALF_H
#define KERNELS_COMMON_HALF_H

#include <stdint.h>
#include <string.h>

static inline float half_float_of_bits(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static inline uint32_t half_bits_of_float(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static inline float half_from_bf16(uint16_t value)
{
    return half_float_of_bits((uint32_t)value << 16);
}

static inline uint16_t half_to_bf16(float value)
{
    const uint32_t bits = half_bits_of_float(value);

    if (value != value)
        return (uint16_t)(bits >> 16 | 0x40); /* stays a NaN when its low bits go */
    return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

static inline float half_from_f16(uint16_t value)
{
    const uint32_t sign = (uint32_t)(value & 0x8000) << 16;
    const uint32_t magnitude = (uint32_t)(value & 0x7FFF) << 13;

    if ((value & 0x7C00) == 0x7C00) /* infinity, NaN */
        return half_float_of_bits(sign | 0x7F800000 | magnitude);
    /* The exponent's bias is 15 there and 127 here. */
    return half_float_of_bits(sign | half_bits_of_float(half_float_of_bits(magnitude) * 0x1p112F));
}

static inline uint16_t half_to_f16(float value)
{
    const uint32_t bits = half_bits_of_float(value);
    const uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7FFFFFFF;

    if (magnitude > 0x7F800000)
        return (uint16_t)(sign | 0x7E00);
    if (magnitude >= 0x47800000) /* 2^16; from 65520 on the carry below makes infinity */
        return (uint16_t)(sign | 0x7C00);
    if (magnitude < 0x38800000) { /* 2^-14: an addition to 0.5 rounds at the last place, 2^-24 */
        const uint32_t half_bits =
            half_bits_of_float(half_float_of_bits(magnitude) + 0.5F) - 0x3F000000;

        return (uint16_t)(sign | half_bits);
    }
    return (uint16_t)(sign | (magnitude - 0x38000000 + 0xFFF + (magnitude >> 13 & 1)) >> 13);
}

#endif
