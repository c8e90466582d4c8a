/* SPDX-License-Identifier: Apache-2.0
 *
 * Poison: what outputs hold before a launch. It and what lies between elements are words whose
 * halves, and for one-byte types whose bytes, are equal, so that a buffer one element off reads the
 * same. */
#include <string.h>

#include "check/check_run.h"

static const uint32_t NAN_WORD = 0x7ff97ff9;        /* of f64, f32, f16 and bf16 */
static const uint32_t NAN_WORD_8BIT = 0x7f7f7f7f;   /* of e4m3 and e5m2 */
static const uint32_t LARGE_WORD = 0x71497149;      /* f32 1e30, f16 1e4 */
static const uint32_t LARGE_WORD_8BIT = 0x77777777; /* e4m3 240, e5m2 28672 */

uint32_t check_poison_word(ridge_dtype dtype, int poison)
{
    if (!ridge_dtype_is_float(dtype))
        return poison == 0 ? 0xA5A5A5A5 : 0x5A5A5A5A;
    if (ridge_dtype_bytes(dtype) == 1)
        return poison == 0 ? NAN_WORD_8BIT : LARGE_WORD_8BIT;
    return poison == 0 ? NAN_WORD : LARGE_WORD;
}

static uint64_t poison_bits(ridge_dtype dtype, int poison)
{
    const uint64_t word = check_poison_word(dtype, poison);
    const size_t bytes = ridge_dtype_bytes(dtype);

    return bytes == 8 ? word << 32 | word : word & ((UINT64_C(1) << (8 * bytes)) - 1);
}

bool check_is_poison(ridge_dtype dtype, const unsigned char *packed, int64_t index, int poison)
{
    return ridge_dtype_bits(dtype, packed, index) == poison_bits(dtype, poison);
}

void check_poison_put(ridge_dtype dtype, int poison, unsigned char *packed, size_t size_bytes)
{
    const uint64_t bits = poison_bits(dtype, poison);
    size_t done = ridge_dtype_bytes(dtype);

    if (size_bytes < done)
        return;
    memcpy(packed, &bits, done); /* little-endian */
    while (done < size_bytes) {
        const size_t more = done < size_bytes - done ? done : size_bytes - done;

        memcpy(packed + done, packed, more);
        done += more;
    }
}

/* The first is, and each is as the one before it. */
bool check_poison_is_all(ridge_dtype dtype, int poison, const unsigned char *packed,
                         size_t size_bytes)
{
    const size_t bytes = ridge_dtype_bytes(dtype);

    return size_bytes < bytes || (check_is_poison(dtype, packed, 0, poison) &&
                                  memcmp(packed, packed + bytes, size_bytes - bytes) == 0);
}

#define FLAG_LOOP(type)                                                                            \
    for (int64_t i = 0; i < count; i++) {                                                          \
        type code;                                                                                 \
                                                                                                   \
        memcpy(&code, packed + i * (int64_t)sizeof(code), sizeof(code));                           \
        out[i] = code == (type)bits;                                                               \
    }

void check_poison_flag(ridge_dtype dtype, int poison, const unsigned char *packed, int64_t count,
                       bool *out)
{
    const uint64_t bits = poison_bits(dtype, poison);

    switch (ridge_dtype_bytes(dtype)) {
    case 1:
        FLAG_LOOP(uint8_t)
        break;
    case 2:
        FLAG_LOOP(uint16_t)
        break;
    case 4:
        FLAG_LOOP(uint32_t)
        break;
    default:
        FLAG_LOOP(uint64_t)
        break;
    }
}
