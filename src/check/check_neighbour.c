/* SPDX-License-Identifier: Apache-2.0
 *
 * Neighbour change: where a kernel says that rows do not depend on each other (row_axis), one row of
 * the inputs is changed, and no bit of another row of the outputs may change. It needs no reference
 * and no tolerance, so it sees a leak that is smaller than rounding: between sequences of a batch, out
 * of a scale that is shared, through a mask that multiplies.
 *
 * Bits, since nothing else changed: the shapes, the strides and the addresses, and so the order of all
 * sums, are those of the launch before. */
#include <inttypes.h>

#include "base/memory.h"
#include "check/check_run.h"

/* What is along the rows. */
typedef struct rows {
    int64_t extent;
    bool is_row[RIDGE_KERNEL_BUFFERS];          /* axis 0 of the buffer */
    size_t row_bytes[RIDGE_KERNEL_BUFFERS];     /* of an input that is changed; 0: it is not */
    unsigned char *other[RIDGE_KERNEL_BUFFERS]; /* that row of another seed */
} rows;

/* Bytes of a row of a buffer, when it lies in one piece of its own; 0: it does not. */
static size_t dense_bytes(const ridge_buffer_desc *desc)
{
    const int64_t step = desc->stride[0] < 0 ? -desc->stride[0] : desc->stride[0];
    int64_t span = 1;

    for (int axis = 1; axis < desc->ndim; axis++) {
        if (desc->stride[axis] < 0 || desc->shape[axis] == 0)
            return 0;
        span += (desc->shape[axis] - 1) * desc->stride[axis];
    }
    return span <= step ? (size_t)span * ridge_dtype_bytes(desc->dtype) : 0;
}

/* Axis 0 of a buffer has the rows when it is what differs in a case of one row less. */
static bool find_rows(const checker *self, const check_set *fewer, rows *of)
{
    for (size_t i = 0; i < self->set.count; i++) {
        const check_buffer *const buffer = &self->set.buffers[i];
        const ridge_buffer_desc *const desc = &buffer->desc, *const less = &fewer->buffers[i].desc;
        int differing = 0;

        if (fewer->count != self->set.count || desc->ndim != less->ndim)
            return false;
        for (int axis = 0; axis < desc->ndim; axis++)
            differing += desc->shape[axis] != less->shape[axis];
        of->is_row[i] =
            differing == 1 && desc->shape[0] == of->extent && less->shape[0] == of->extent - 1;
        if (differing > 0 && !of->is_row[i])
            return false;
        if (of->is_row[i] && buffer->is_input && ridge_dtype_is_float(desc->dtype))
            of->row_bytes[i] = dense_bytes(desc);
    }
    return true;
}

static unsigned char *row_of(const check_buffer *buffer, int64_t row)
{
    return buffer->data +
           row * buffer->desc.stride[0] * (int64_t)ridge_dtype_bytes(buffer->desc.dtype);
}

static ridge_status fill(check_set *set, const check_plan *plan, ridge_error *err)
{
    const ridge_status status = check_set_fill(set, plan, err);

    return status == RIDGE_OK ? ridge_stream_synchronize(set->stream, err) : status;
}

/* The rows that will be put into the others' place, by another seed. */
static ridge_status take_other(checker *self, const check_plan *plan, int64_t row, rows *of,
                               ridge_error *err)
{
    check_plan another = *plan;
    ridge_status status;

    another.seed += 29;
    status = fill(&self->set, &another, err);
    self->set.is_held = false;
    for (size_t i = 0; i < self->set.count && status == RIDGE_OK; i++) {
        if (of->row_bytes[i] == 0)
            continue;
        if (of->other[i] == NULL)
            of->other[i] = ridge_calloc(of->row_bytes[i], 1);
        if (of->other[i] == NULL)
            return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "no memory for a row");
        status = ridge_device_download(self->device, of->other[i],
                                       row_of(&self->set.buffers[i], row), of->row_bytes[i], err);
    }
    return status;
}

/* A launch with that row in its place. */
static ridge_status launch_changed(checker *self, const check_plan *plan, int64_t row,
                                   const rows *of, check_capture *out, ridge_error *err)
{
    ridge_status status = fill(&self->set, plan, err);

    for (size_t i = 0; i < self->set.count && status == RIDGE_OK; i++)
        if (of->row_bytes[i] > 0)
            status = ridge_device_upload(self->device, row_of(&self->set.buffers[i], row),
                                         of->other[i], of->row_bytes[i], err);
    if (status == RIDGE_OK)
        status = check_call(&self->set, self->stream, err);
    if (status == RIDGE_OK)
        status = ridge_stream_synchronize(self->stream, err);
    return status == RIDGE_OK ? check_capture_take(&self->set, out, err) : status;
}

/* Elements of other rows that differ; text says where the first are. */
static int64_t count_leaks(const checker *self, const rows *of, int64_t row, const check_capture *a,
                           const check_capture *b, ridge_test_result *out)
{
    for (size_t i = 0; i < self->set.count; i++) {
        const check_buffer *const buffer = &self->set.buffers[i];
        const int64_t width = buffer->element_count / of->extent;
        int64_t count = 0, first = -1, last = -1;

        if (!buffer->is_output || !of->is_row[i] || width == 0)
            continue;
        for (int64_t k = 0; k < buffer->element_count; k++)
            if (k / width != row && ridge_dtype_bits(buffer->desc.dtype, a->bits[i], k) !=
                                        ridge_dtype_bits(buffer->desc.dtype, b->bits[i], k)) {
                first = count++ == 0 ? k / width : first;
                last = k / width;
            }
        if (count == 0)
            continue;
        check_outcome(out, RIDGE_OUTCOME_FAIL,
                      "row %" PRId64 " of the inputs changes %" PRId64
                      " elements of %s in other rows, %" PRId64 " the first and %" PRId64
                      " the last: rows leak into each other",
                      row, count, buffer->desc.name, first, last);
        return count;
    }
    return 0;
}

static ridge_status same_again(checker *self, const check_plan *plan, const check_capture *first,
                               bool *same, ridge_error *err)
{
    char text[140];
    const ridge_status status = check_launch(self, &self->set, plan, NULL, err);

    *same = false;
    return status == RIDGE_OK
               ? check_capture_holds(&self->set, first, same, text, sizeof(text), err)
               : status;
}

/* A difference counts when launches of the same inputs do not differ. */
static ridge_status change_row(checker *self, const check_plan *plan, int64_t row, rows *of,
                               const check_capture *base, ridge_test_result *out, ridge_error *err)
{
    check_capture changed = {.bits = {NULL}}, again = {.bits = {NULL}};
    ridge_test_result found = *out, ignored = *out;
    bool same = true;
    ridge_status status = take_other(self, plan, row, of, err);

    if (status == RIDGE_OK)
        status = launch_changed(self, plan, row, of, &changed, err);
    if (status == RIDGE_OK && count_leaks(self, of, row, base, &changed, &found) > 0) {
        status = launch_changed(self, plan, row, of, &again, err);
        if (status == RIDGE_OK)
            same = count_leaks(self, of, -1, &changed, &again, &ignored) == 0;
        if (status == RIDGE_OK && same)
            status = same_again(self, plan, base, &same, err);
        *out = found;
        if (!same)
            check_outcome(out, RIDGE_OUTCOME_SKIPPED,
                          "launches of the same inputs differ: see the repeat test");
    }
    check_capture_release(&again);
    check_capture_release(&changed);
    return status;
}

static const char *why_not(const checker *self, rows *of)
{
    check_set fewer = {.kernel = self->kernel};
    ridge_case at = self->at;
    bool any = false;

    if (self->kernel->row_axis == NULL)
        return "the kernel names no axis of rows (row_axis)";
    if (self->row_count > 0 || self->is_whole_but_large)
        return "only some rows of a case this large are read";
    of->extent = ridge_case_axis(&at, self->kernel->row_axis, 0);
    if (of->extent < 2)
        return "does not apply: fewer than two rows";
    fewer.at = &at;
    if (ridge_case_set(&at, self->kernel->row_axis, of->extent - 1, NULL) != RIDGE_OK ||
        check_set_describe(&fewer, NULL) != RIDGE_OK || !find_rows(self, &fewer, of))
        return "rows are not along the first axis of every buffer that has them";
    for (size_t i = 0; i < self->set.count; i++)
        any = any || of->row_bytes[i] > 0;
    return any ? NULL : "does not apply: no input has rows of its own in one piece";
}

ridge_status check_neighbour(checker *self, ridge_test_result *out, ridge_error *err)
{
    rows of = {.extent = 0};
    const char *const why = why_not(self, &of);
    check_capture base = {.bits = {NULL}};
    check_plan plan = check_plain_plan;
    ridge_status status;

    if (why != NULL) {
        check_outcome(out, RIDGE_OUTCOME_SKIPPED, "%s", why);
        return RIDGE_OK;
    }
    plan.values = RIDGE_VALUES_NORMAL;
    plan.seed = self->at.seed;
    status = check_launch(self, &self->set, &plan, NULL, err);
    if (status == RIDGE_OK)
        status = check_capture_take(&self->set, &base, err);
    /* One within, with rows on both sides, and the last, in what may be a part of a tile. */
    for (int i = 0; i < 2 && status == RIDGE_OK && out->outcome == RIDGE_OUTCOME_PASS; i++)
        status =
            change_row(self, &plan, i == 0 ? of.extent / 2 : of.extent - 1, &of, &base, out, err);
    self->set.is_held = false;
    check_capture_release(&base);
    for (size_t i = 0; i < RIDGE_KERNEL_BUFFERS; i++)
        ridge_free(of.other[i]);
    return status;
}
