/* SPDX-License-Identifier: Apache-2.0
 *
 * Fills that come again. The tests of a case fill the same inputs with the same values many times:
 * between them others lie there, or around them, or it is other memory. On a CPU a copy costs a
 * tenth of a fill. A GPU fills as fast as it copies: nothing is kept there. */
#include <string.h>

#include "base/memory.h"
#include "check/check_run.h"

/* More is filled again. */
#define KEPT_MOST ((size_t)256 << 20)

static size_t packed_bytes(const check_buffer *of)
{
    return (size_t)ridge_buffer_elements(&of->desc) * ridge_dtype_bytes(of->desc.dtype);
}

static check_fill *find(const check_set *set, size_t index, ridge_values values, uint64_t seed)
{
    if (set->kept == NULL || ridge_device_get_info(set->device)->kind != RIDGE_DEVICE_CPU)
        return NULL;
    for (size_t i = 0; i < CHECK_FILLS; i++) {
        check_fill *const at = &set->kept->fills[index][i];

        if (at->packed == NULL || (at->values == values && at->seed == seed))
            return at;
    }
    return NULL;
}

bool check_kept_give(const check_set *set, size_t index, ridge_values values, uint64_t seed)
{
    const check_buffer *const to = &set->buffers[index];
    const check_fill *const from = find(set, index, values, seed);

    if (from == NULL || from->packed == NULL)
        return false;
    check_move_elements(&to->desc, to->least, from->packed, false);
    return true;
}

void check_kept_take(const check_set *set, size_t index, ridge_values values, uint64_t seed)
{
    const check_buffer *const from = &set->buffers[index];
    check_fill *const to = find(set, index, values, seed);
    const size_t size_bytes = packed_bytes(from);

    if (to == NULL || to->packed != NULL || size_bytes == 0 || size_bytes > KEPT_MOST)
        return;
    to->packed = ridge_calloc(size_bytes, 1);
    if (to->packed == NULL)
        return; /* it is filled again */
    to->values = values;
    to->seed = seed;
    check_move_elements(&from->desc, from->least, to->packed, true);
}

void check_kept_release(check_kept *of)
{
    for (size_t i = 0; i < RIDGE_KERNEL_BUFFERS; i++)
        for (size_t k = 0; k < CHECK_FILLS; k++)
            ridge_free(of->fills[i][k].packed);
    memset(of, 0, sizeof(*of));
}
