/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensor maps. The driver answers every mistake with the same word, so the documented rules of
 * cuTensorMapEncodeTiled() are checked here first, each with its own. */
#include <string.h>

#include "device/cuda_internal.h"

/* A word of the interface and the driver's number. */
struct code {
    int value;
    unsigned native;
};

static bool find_code(const struct code *codes, size_t count, int value, unsigned *out)
{
    size_t i;

    for (i = 0; i < count; i++)
        if (codes[i].value == value) {
            *out = codes[i].native;
            return true;
        }
    return false;
}

static const struct code swizzles[] = {
    {0, 0}, {32, CU_TENSOR_SWIZZLE_32}, {64, CU_TENSOR_SWIZZLE_64}, {128, CU_TENSOR_SWIZZLE_128}};
static const struct code interleaves[] = {
    {0, 0}, {16, CU_TENSOR_INTERLEAVE_16}, {32, CU_TENSOR_INTERLEAVE_32}};
static const struct code promotions[] = {
    {0, 0}, {64, CU_TENSOR_L2_64}, {128, CU_TENSOR_L2_128}, {256, CU_TENSOR_L2_256}};

/* Eight-bit floats travel as bytes; of 16 bits there is no signed integer. */
static const unsigned types[RIDGE_DTYPE_COUNT] = {
    [RIDGE_DTYPE_F64] = CU_TENSOR_F64, [RIDGE_DTYPE_F32] = CU_TENSOR_F32,
    [RIDGE_DTYPE_F16] = CU_TENSOR_F16, [RIDGE_DTYPE_BF16] = CU_TENSOR_BF16,
    [RIDGE_DTYPE_E4M3] = CU_TENSOR_U8, [RIDGE_DTYPE_E5M2] = CU_TENSOR_U8,
    [RIDGE_DTYPE_I64] = CU_TENSOR_I64, [RIDGE_DTYPE_I32] = CU_TENSOR_I32,
    [RIDGE_DTYPE_U32] = CU_TENSOR_U32, [RIDGE_DTYPE_I16] = CU_TENSOR_U16,
    [RIDGE_DTYPE_I8] = CU_TENSOR_U8,   [RIDGE_DTYPE_U8] = CU_TENSOR_U8,
};

enum { BOX_MOST = 256, STEP_MOST = 8 };
static const uint64_t EXTENT_MOST = (uint64_t)1 << 32;
static const uint64_t STRIDE_MOST = (uint64_t)1 << 40;

static ridge_status check_dimension(const ridge_tensor_map *map, int i, uint64_t alignment,
                                    ridge_error *err)
{
    if (map->extent[i] == 0 || map->extent[i] > EXTENT_MOST)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "tensor map: extent %d is %llu, expected 1 to 2^32", i,
                          (unsigned long long)map->extent[i]);
    if (map->box[i] == 0 || map->box[i] > BOX_MOST)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "tensor map: box %d is %u, expected 1 to %d", i, map->box[i], BOX_MOST);
    if (map->element_stride[i] == 0 || map->element_stride[i] > STEP_MOST)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "tensor map: element stride %d is %u, expected 1 to %d", i,
                          map->element_stride[i], STEP_MOST);
    if (i > 0 &&
        (map->stride_bytes[i - 1] % alignment != 0 || map->stride_bytes[i - 1] >= STRIDE_MOST))
        return ridge_fail(err, RIDGE_ERR_MISALIGNED,
                          "tensor map: the stride of dimension %d is %llu bytes, expected a "
                          "multiple of %llu below 2^40",
                          i, (unsigned long long)map->stride_bytes[i - 1],
                          (unsigned long long)alignment);
    return RIDGE_OK;
}

static ridge_status check_rules(const ridge_tensor_map *map, ridge_error *err)
{
    const uint64_t alignment = map->interleave_bytes == 32 ? 32 : 16;
    const uint64_t row_bytes = map->box[0] * ridge_dtype_bytes(map->dtype);
    int i;

    if ((uintptr_t)map->data % alignment != 0)
        return ridge_fail(err, RIDGE_ERR_MISALIGNED,
                          "tensor map: the address is not a multiple of %llu",
                          (unsigned long long)alignment);
    for (i = 0; i < map->rank; i++) {
        const ridge_status status = check_dimension(map, i, alignment, err);

        if (status != RIDGE_OK)
            return status;
    }
    if (map->interleave_bytes != 0)
        return map->rank >= 3 && (map->interleave_bytes != 32 || map->swizzle_bytes == 32)
                   ? RIDGE_OK
                   : ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                                "tensor map: interleaving wants 3 dimensions or more, that of 32 "
                                "bytes a swizzle of 32");
    if (row_bytes % 16 != 0)
        return ridge_fail(err, RIDGE_ERR_MISALIGNED,
                          "tensor map: a row of the box is %llu bytes, expected a multiple of 16",
                          (unsigned long long)row_bytes);
    if (map->swizzle_bytes != 0 && row_bytes > (uint64_t)map->swizzle_bytes)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "tensor map: a row of the box is %llu bytes, a swizzle of %d takes up to "
                          "%d",
                          (unsigned long long)row_bytes, map->swizzle_bytes, map->swizzle_bytes);
    return RIDGE_OK;
}

ridge_status cuda_tensor_map_encode(ridge_device *base, const ridge_tensor_map *map, void *out,
                                    ridge_error *err)
{
    cuda_device *const device = cuda_of(base);
    unsigned swizzle, interleave, promotion;
    cu_tensor_map encoded;
    ridge_status status = CUDA_NEED(&device->driver, cuTensorMapEncodeTiled, err);

    if (status != RIDGE_OK)
        return status;
    if (base->info.sm_version < 90)
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "tensor maps need sm_90 or later, %s is sm_%d", base->info.name,
                          base->info.sm_version);
    if (map->rank < 1 || map->rank > 5 || (unsigned)map->dtype >= RIDGE_DTYPE_COUNT)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "tensor map: %d dimensions of type %d, expected 1 to 5 of a known one",
                          map->rank, (int)map->dtype);
    if (!find_code(swizzles, 4, map->swizzle_bytes, &swizzle) ||
        !find_code(interleaves, 3, map->interleave_bytes, &interleave) ||
        !find_code(promotions, 4, map->l2_promotion_bytes, &promotion))
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "tensor map: swizzle %d, interleave %d, L2 promotion %d bytes; expected "
                          "0, 32, 64, 128; 0, 16, 32; 0, 64, 128, 256",
                          map->swizzle_bytes, map->interleave_bytes, map->l2_promotion_bytes);
    status = check_rules(map, err);
    if (status != RIDGE_OK)
        return status;
    status = cuda_check(device,
                        device->driver.cuTensorMapEncodeTiled(
                            &encoded, types[map->dtype], (uint32_t)map->rank, map->data,
                            map->extent, map->stride_bytes, map->box, map->element_stride,
                            interleave, swizzle, promotion, map->nan_fill ? CU_TENSOR_NAN_FILL : 0),
                        "cuTensorMapEncodeTiled", err);
    if (status == RIDGE_OK)
        memcpy(out, &encoded, sizeof(encoded));
    return status;
}
