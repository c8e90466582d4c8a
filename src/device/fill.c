/* SPDX-License-Identifier: Apache-2.0 */
#include "device/fill_arithmetic.h"

double ridge_fill_value(ridge_values values, const ridge_buffer_desc *buffer, int64_t index,
                        uint64_t seed)
{
    const int64_t columns = buffer->ndim > 0 ? buffer->shape[buffer->ndim - 1] : 1;
    int64_t rows = 1;
    int i;

    if (columns <= 0)
        return 0;
    for (i = 0; i < buffer->ndim - 1; i++)
        rows *= buffer->shape[i];
    return fill_element(values, buffer->dtype, index / columns, rows, index % columns, columns,
                        seed);
}
