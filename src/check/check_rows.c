/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of a large case that are verified: the first and the last, those around the 2^31st and 2^32nd
 * element and byte of each output (where 32-bit indices wrap), and others evenly spread. The
 * reference is asked for a case that has as many rows as were chosen; what its buffers lack of the
 * large ones' extent is the axis along which rows are gathered. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "check/check_run.h"

enum { ROWS_SPREAD = 256, ROWS_MOST = ROWS_SPREAD + 64 };
/* Elements of an output without an axis of rows that are verified all the same. */
#define WHOLE_MOST (INT64_C(1) << 24)

static int by_row(const void *a, const void *b)
{
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

    return (left > right) - (left < right);
}

static void add_around(int64_t *rows, int64_t *count, int64_t row, int64_t extent)
{
    for (int64_t near = row - 1; near <= row + 1; near++)
        if (near >= 0 && near < extent && *count < ROWS_MOST)
            rows[(*count)++] = near;
}

static void choose(const check_set *set, int64_t extent, int64_t most, int64_t *rows,
                   int64_t *count)
{
    const int64_t spread = most < ROWS_SPREAD ? most : ROWS_SPREAD;
    int64_t kept = 0;

    *count = 0;
    add_around(rows, count, 0, extent);
    add_around(rows, count, extent - 1, extent);
    for (size_t i = 0; i < set->count; i++) {
        const ridge_buffer_desc *const desc = &set->buffers[i].desc;
        const int64_t bytes = (int64_t)ridge_dtype_bytes(desc->dtype);

        if (!set->buffers[i].is_output || desc->ndim == 0 || desc->stride[0] <= 0)
            continue;
        for (int power = 31; power <= 32; power++) {
            add_around(rows, count, (INT64_C(1) << power) / desc->stride[0], extent);
            add_around(rows, count, (INT64_C(1) << power) / bytes / desc->stride[0], extent);
        }
    }
    for (int64_t k = 0; k < spread && *count < ROWS_MOST; k++)
        rows[(*count)++] = (int64_t)((double)extent * ((double)k + 0.5) / (double)spread);
    qsort(rows, (size_t)*count, sizeof(*rows), by_row);
    for (int64_t k = 0; k < *count; k++)
        if (kept == 0 || rows[k] != rows[kept - 1])
            rows[kept++] = rows[k];
    *count = kept;
}

/* Which axis of a buffer has the rows: -1 none, -2 more than rows differ. */
static int row_dim(const ridge_buffer_desc *large, const ridge_buffer_desc *small, int64_t extent,
                   int64_t count)
{
    int found = -1;

    if (large->ndim != small->ndim)
        return -2;
    for (int axis = 0; axis < large->ndim; axis++) {
        if (large->shape[axis] == small->shape[axis])
            continue;
        if (found >= 0 || axis != 0 || large->shape[axis] != extent || small->shape[axis] != count)
            return -2;
        found = axis;
    }
    return found;
}

static int64_t most_elements(const check_set *set)
{
    int64_t most = 0;

    for (size_t i = 0; i < set->count; i++)
        if (set->buffers[i].is_output && set->buffers[i].element_count > most)
            most = set->buffers[i].element_count;
    return most;
}

/* Large outputs that cannot be verified are compared by hash alone. */
static void read_none(check_set *set, int64_t limit)
{
    for (size_t i = 0; i < set->count; i++) {
        check_buffer *const of = &set->buffers[i];

        if (of->element_count <= limit || of->desc.ndim == 0)
            continue;
        of->row_dim = 0;
        of->small.shape[0] = 0;
        of->element_count = 0;
    }
}

ridge_status check_rows_choose(checker *self, ridge_error *err)
{
    const int64_t limit =
        self->options->verify_elements > 0 ? self->options->verify_elements : INT64_C(1) << 24;
    const int64_t most = most_elements(&self->set);
    const char *const axis = self->kernel->row_axis;
    const int64_t extent = axis == NULL ? 0 : ridge_case_axis(&self->at, axis, 0);
    check_set small = {.kernel = self->kernel, .at = &self->small_at};
    ridge_status status;

    self->small_at = self->at;
    if (most <= limit)
        return RIDGE_OK;
    if (extent < 1 && most <= WHOLE_MOST) {
        self->is_whole_but_large = true;
        return RIDGE_OK;
    }
    if (extent < 1) {
        snprintf(self->no_reference, sizeof(self->no_reference),
                 "%lld elements of output, more than %lld, and no axis of rows to choose from",
                 (long long)most, (long long)WHOLE_MOST);
        read_none(&self->set, WHOLE_MOST);
        return RIDGE_OK;
    }
    self->rows = ridge_calloc(ROWS_MOST, sizeof(*self->rows));
    if (self->rows == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "no memory for chosen rows");
    choose(&self->set, extent, limit / (most / extent > 0 ? most / extent : 1) + 1, self->rows,
           &self->row_count);
    status = ridge_case_set(&self->small_at, axis, self->row_count, err);
    if (status == RIDGE_OK)
        status = check_set_describe(&small, err);
    if (status != RIDGE_OK)
        return status;
    for (size_t i = 0; i < self->set.count; i++) {
        check_buffer *const of = &self->set.buffers[i];
        const int dim = i < small.count
                            ? row_dim(&of->desc, &small.buffers[i].desc, extent, self->row_count)
                            : -2;

        if (dim == -2 || (dim < 0 && of->element_count > limit)) {
            snprintf(self->no_reference, sizeof(self->no_reference),
                     "rows of %s are not along its first axis, so that none can be chosen",
                     of->desc.name);
            read_none(&self->set, limit);
            return RIDGE_OK;
        }
        of->row_dim = dim;
        of->small = small.buffers[i].small;
        of->element_count = small.buffers[i].element_count;
    }
    self->set.rows = self->rows;
    self->set.row_count = self->row_count;
    return RIDGE_OK;
}
