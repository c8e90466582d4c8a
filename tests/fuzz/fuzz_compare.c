/* SPDX-License-Identifier: Apache-2.0
 *
 * The comparison of arrays on small shapes of any values: six bytes of type, shape, length and tile,
 * then elements of out and of ref, a byte each, of which some mean NaN, infinities and powers. What
 * the result says of itself must fit together. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ridge/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 6, MOST = 4096 };

static double value_of(uint8_t byte)
{
    switch (byte) {
    case 0xff:
        return NAN;
    case 0xfe:
        return INFINITY;
    case 0xfd:
        return -INFINITY;
    case 0xfc:
        return 0x1p300;
    case 0xfb:
        return 0x1p-1074;
    default:
        return byte < 128 ? (double)byte - 64 : ldexp((double)(byte & 15), (byte >> 4) * 9 - 99);
    }
}

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check_result(const ridge_comparand *pair, const ridge_mismatch *got, int64_t count)
{
    int64_t seen = 0;

    for (int i = 0; i < 16; i++)
        seen += got->ulp_histogram[i];
    must(seen == count && got->element_count == count);
    must((got->match == RIDGE_MATCH_WRONG) == (got->wrong_count > 0));
    must((got->cause[0] != '\0') == (got->wrong_count > 0));
    must(memchr(got->cause, '\0', sizeof(got->cause)) != NULL);
    must(got->structure_count <= got->wrong_count && got->wrong_count <= count);
    must(got->region_count <= RIDGE_MISMATCH_REGIONS);
    must(got->relation_count <= RIDGE_MISMATCH_RELATIONS);
    for (int axis = 0; axis < pair->ndim && got->wrong_count > 0; axis++)
        must(got->box_first[axis] >= 0 && got->box_first[axis] <= got->box_last[axis] &&
             got->box_last[axis] < got->shape[axis]);
    for (size_t i = 0; i < got->region_count; i++)
        must(got->regions[i].share_frac > 0 && got->regions[i].share_frac <= 1.000001);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static ridge_mismatch got;
    static double out[MOST], ref[MOST];
    ridge_comparand pair = {.name = "out", .out = out, .ref = ref};
    int64_t count;

    if (size < HEAD)
        return 0;
    pair.dtype = (ridge_dtype)(data[0] % RIDGE_DTYPE_COUNT);
    pair.ndim = 1 + data[1] % 3;
    pair.shape[pair.ndim - 1] = data[2];
    if (pair.ndim > 1)
        pair.shape[pair.ndim - 2] = 1 + data[3] % 16;
    if (pair.ndim > 2)
        pair.shape[0] = 1;
    pair.accumulate_length = data[4] < 128 ? 0 : data[4] - 127;
    pair.is_exact = data[4] == 127;
    pair.tile[pair.ndim - 1] = data[5] & 63;
    if (data[5] & 64)
        pair.plain = pair.previous = ref;
    if (data[5] & 128)
        pair.poison = NAN;
    count = pair.shape[0];
    for (int axis = 1; axis < pair.ndim; axis++)
        count *= pair.shape[axis];
    for (int64_t i = 0; i < count; i++) {
        const size_t at = HEAD + 2 * (size_t)i;

        out[i] = ridge_dtype_round(pair.dtype, value_of(at < size ? data[at] : (uint8_t)(i * 3)));
        ref[i] = at + 1 < size ? value_of(data[at + 1]) : out[i];
    }
    must(ridge_compare_arrays(&pair, &got, NULL) == RIDGE_OK);
    check_result(&pair, &got, count);
    return 0;
}
