/* SPDX-License-Identifier: Apache-2.0 */
#include "ridge/dtype.h"

#include <math.h>
#include <string.h>

#include "base/dtype_bits.h"

typedef struct dtype_name {
    const char *text;
    ridge_dtype dtype;
} dtype_name;

/* What frameworks call them; the first of a type is its own name. */
static const dtype_name NAMES[] = {
#define DTYPE_NAME(name, text, bytes, bits) {text, RIDGE_DTYPE_##name},
    RIDGE_DTYPE_LIST(DTYPE_NAME)
#undef DTYPE_NAME
        {"float64", RIDGE_DTYPE_F64},
    {"double", RIDGE_DTYPE_F64},
    {"fp64", RIDGE_DTYPE_F64},
    {"float32", RIDGE_DTYPE_F32},
    {"float", RIDGE_DTYPE_F32},
    {"fp32", RIDGE_DTYPE_F32},
    {"float16", RIDGE_DTYPE_F16},
    {"half", RIDGE_DTYPE_F16},
    {"fp16", RIDGE_DTYPE_F16},
    {"bfloat16", RIDGE_DTYPE_BF16},
    {"float8_e4m3fn", RIDGE_DTYPE_E4M3},
    {"e4m3fn", RIDGE_DTYPE_E4M3},
    {"fp8", RIDGE_DTYPE_E4M3},
    {"float8_e5m2", RIDGE_DTYPE_E5M2},
    {"int64", RIDGE_DTYPE_I64},
    {"long", RIDGE_DTYPE_I64},
    {"int32", RIDGE_DTYPE_I32},
    {"int", RIDGE_DTYPE_I32},
    {"uint32", RIDGE_DTYPE_U32},
    {"int16", RIDGE_DTYPE_I16},
    {"short", RIDGE_DTYPE_I16},
    {"int8", RIDGE_DTYPE_I8},
    {"uint8", RIDGE_DTYPE_U8},
};

static bool is_known(ridge_dtype dtype)
{
    return (unsigned)dtype < RIDGE_DTYPE_COUNT;
}

const char *ridge_dtype_name(ridge_dtype dtype)
{
    return is_known(dtype) ? NAMES[dtype].text : "unknown";
}

size_t ridge_dtype_bytes(ridge_dtype dtype)
{
    return (size_t)dtype_size(dtype);
}

bool ridge_dtype_is_float(ridge_dtype dtype)
{
    return dtype_significand_bits(dtype) != 0;
}

bool ridge_dtype_find(const char *name, ridge_dtype *out)
{
    size_t i;

    if (strncmp(name, "torch.", 6) == 0)
        name += 6;
    for (i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
        if (strcmp(name, NAMES[i].text) == 0) {
            *out = NAMES[i].dtype;
            return true;
        }
    return false;
}

/* dtype_encode() and dtype_decode() compiled for each type. */
static uint64_t encode(ridge_dtype dtype, double value)
{
    switch (dtype) {
#define DTYPE_ENCODE(name, text, bytes, bits)                                                      \
    case RIDGE_DTYPE_##name:                                                                       \
        return dtype_encode(RIDGE_DTYPE_##name, value);
        RIDGE_DTYPE_LIST(DTYPE_ENCODE)
#undef DTYPE_ENCODE
    default:
        return 0;
    }
}

static double decode(ridge_dtype dtype, uint64_t code)
{
    switch (dtype) {
#define DTYPE_DECODE(name, text, bytes, bits)                                                      \
    case RIDGE_DTYPE_##name:                                                                       \
        return dtype_decode(RIDGE_DTYPE_##name, code);
        RIDGE_DTYPE_LIST(DTYPE_DECODE)
#undef DTYPE_DECODE
    default:
        return (double)NAN;
    }
}

uint64_t ridge_dtype_bits(ridge_dtype dtype, const void *base, int64_t index)
{
    const int size = dtype_size(dtype);
    const unsigned char *const at = (const unsigned char *)base + index * size;
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;

    switch (size) {
    case 1:
        memcpy(&u8, at, sizeof(u8));
        return u8;
    case 2:
        memcpy(&u16, at, sizeof(u16));
        return u16;
    case 4:
        memcpy(&u32, at, sizeof(u32));
        return u32;
    case 8:
        memcpy(&u64, at, sizeof(u64));
        return u64;
    default:
        return 0;
    }
}

double ridge_dtype_load(ridge_dtype dtype, const void *base, int64_t index)
{
    return decode(dtype, ridge_dtype_bits(dtype, base, index));
}

/* One loop for each type, in which nothing is left of the questions about it. */
#define LOAD_ALL(name, size_type)                                                                  \
    static void load_all_##name(const unsigned char *base, int64_t count, double *out)             \
    {                                                                                              \
        for (int64_t i = 0; i < count; i++) {                                                      \
            size_type bits;                                                                        \
                                                                                                   \
            memcpy(&bits, base + i * (int64_t)sizeof(bits), sizeof(bits));                         \
            out[i] = dtype_decode(RIDGE_DTYPE_##name, bits);                                       \
        }                                                                                          \
    }
LOAD_ALL(F64, uint64_t)
LOAD_ALL(F16, uint16_t)
LOAD_ALL(I64, uint64_t)
LOAD_ALL(I32, uint32_t)
LOAD_ALL(U32, uint32_t)
LOAD_ALL(I16, uint16_t)
LOAD_ALL(I8, uint8_t)
LOAD_ALL(U8, uint8_t)
LOAD_ALL(E4M3, uint8_t)
LOAD_ALL(E5M2, uint8_t)
#undef LOAD_ALL

/* The machine's own type, and the upper half of it; a NaN loses its payload all the same. */
static double load_float(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value == value ? (double)value : dtype_decode(RIDGE_DTYPE_F32, bits);
}

static void load_all_F32(const unsigned char *base, int64_t count, double *out)
{
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits;

        memcpy(&bits, base + i * (int64_t)sizeof(bits), sizeof(bits));
        out[i] = load_float(bits);
    }
}

static void load_all_BF16(const unsigned char *base, int64_t count, double *out)
{
    for (int64_t i = 0; i < count; i++) {
        uint16_t bits;

        memcpy(&bits, base + i * (int64_t)sizeof(bits), sizeof(bits));
        out[i] = load_float((uint32_t)bits << 16);
    }
}

void ridge_dtype_load_all(ridge_dtype dtype, const void *base, int64_t count, double *out)
{
    switch (dtype) {
#define DTYPE_LOAD_ALL(name, text, bytes, bits)                                                    \
    case RIDGE_DTYPE_##name:                                                                       \
        load_all_##name(base, count, out);                                                         \
        break;
        RIDGE_DTYPE_LIST(DTYPE_LOAD_ALL)
#undef DTYPE_LOAD_ALL
    default:
        for (int64_t i = 0; i < count; i++)
            out[i] = (double)NAN;
        break;
    }
}

void ridge_dtype_store(ridge_dtype dtype, void *base, int64_t index, double value)
{
    const int size = dtype_size(dtype);
    unsigned char *const at = (unsigned char *)base + index * size;
    const uint64_t u64 = encode(dtype, value);
    const uint32_t u32 = (uint32_t)u64;
    const uint16_t u16 = (uint16_t)u64;

    switch (size) {
    case 1:
        *at = (unsigned char)u64;
        break;
    case 2:
        memcpy(at, &u16, sizeof(u16));
        break;
    case 4:
        memcpy(at, &u32, sizeof(u32));
        break;
    case 8:
        memcpy(at, &u64, sizeof(u64));
        break;
    default:
        break;
    }
}

double ridge_dtype_round(ridge_dtype dtype, double value)
{
    return decode(dtype, encode(dtype, value));
}

double ridge_dtype_unit_roundoff(ridge_dtype dtype)
{
    return ridge_dtype_is_float(dtype) ? ldexp(1, -dtype_significand_bits(dtype)) : 0;
}

double ridge_dtype_greatest(ridge_dtype dtype)
{
    if (!is_known(dtype))
        return (double)NAN;
    if (ridge_dtype_is_float(dtype))
        return dtype_decode(dtype, dtype_overflow_bits(dtype) - 1);
    return (double)dtype_integer_greatest(dtype);
}

double ridge_dtype_least_normal(ridge_dtype dtype)
{
    return ridge_dtype_is_float(dtype) ? ldexp(1, 1 - dtype_bias(dtype)) : 0;
}

double ridge_dtype_least_subnormal(ridge_dtype dtype)
{
    return ridge_dtype_is_float(dtype)
               ? ldexp(1, 2 - dtype_bias(dtype) - dtype_significand_bits(dtype))
               : 1;
}

/* The type's values in ascending order are consecutive integers; both zeros are 0. */
static int64_t order_of(ridge_dtype dtype, double value)
{
    const uint64_t bits = encode(dtype, value);
    const uint64_t sign = UINT64_C(1) << (8 * dtype_size(dtype) - 1);

    if (!ridge_dtype_is_float(dtype))
        return dtype_decode_integer(dtype, bits);
    return (bits & sign) != 0 ? -(int64_t)(bits & (sign - 1)) : (int64_t)bits;
}

uint64_t ridge_dtype_ulp_distance(ridge_dtype dtype, double a, double b)
{
    int64_t from, to;

    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b) ? 0 : UINT64_MAX;
    if (!is_known(dtype))
        return UINT64_MAX;
    from = order_of(dtype, a);
    to = order_of(dtype, b);
    return from < to ? (uint64_t)to - (uint64_t)from : (uint64_t)from - (uint64_t)to;
}
