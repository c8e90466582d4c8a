/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory of a case. A buffer stands between two bands of at least 4 KiB and one row, either at
 * an aligned address (left) or as far behind as 16-byte alignment allows (right), so that what lies
 * beyond its end differs. The bands hold a pattern of their position. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "check/check_run.h"

enum { BAND_BYTES = 4096, ALIGNMENT = 256, RIGHT_ALIGNMENT = 16 };
#define BAND_MOST ((size_t)16 << 20)
/* Gaps between elements are compared on the host up to this size. */
#define GAPS_MOST ((size_t)256 << 20)
/* Inputs that are overwritten are copied up to this size. */
#define PRISTINE_MOST ((size_t)256 << 20)

/* -- shapes ------------------------------------------------------------------------------------ */

static void make_contiguous(ridge_buffer_desc *desc)
{
    int64_t stride = 1;

    for (int axis = desc->ndim - 1; axis >= 0; axis--) {
        desc->stride[axis] = stride;
        stride *= desc->shape[axis] > 0 ? desc->shape[axis] : 1;
    }
}

static bool is_contiguous(const ridge_buffer_desc *desc)
{
    int64_t stride = 1;

    for (int axis = desc->ndim - 1; axis >= 0; axis--) {
        if (desc->shape[axis] > 1 && desc->stride[axis] != stride)
            return false;
        stride *= desc->shape[axis];
    }
    return true;
}

static size_t size_bytes_of(const ridge_buffer_desc *desc)
{
    return (size_t)ridge_buffer_span_bytes(desc);
}

static bool is_same_memory(const ridge_buffer_desc *a, const ridge_buffer_desc *b)
{
    if (a->ndim != b->ndim || a->dtype != b->dtype)
        return false;
    for (int axis = 0; axis < a->ndim; axis++)
        if (a->shape[axis] != b->shape[axis] || a->stride[axis] != b->stride[axis])
            return false;
    return true;
}

ridge_status check_set_describe(check_set *set, ridge_error *err)
{
    ridge_buffer_desc descs[RIDGE_KERNEL_BUFFERS];
    const ridge_status status =
        ridge_kernel_describe(set->kernel, set->at, descs, &set->count, err);

    if (status != RIDGE_OK)
        return status;
    for (size_t i = 0; i < set->count; i++) {
        check_buffer *const to = &set->buffers[i];

        *to = (check_buffer){.desc = descs[i], .small = descs[i], .row_dim = -1, .owner = i};
        to->is_input = descs[i].role == RIDGE_ROLE_IN || descs[i].role == RIDGE_ROLE_INOUT;
        to->is_output = descs[i].role == RIDGE_ROLE_OUT || descs[i].role == RIDGE_ROLE_INOUT;
        make_contiguous(&to->small);
        to->element_count = ridge_buffer_elements(&to->small);
        to->span_bytes = size_bytes_of(&descs[i]);
        if (set->at->in_place && descs[i].alias_of > 0 &&
            is_same_memory(&descs[i], &descs[descs[i].alias_of - 1]))
            to->owner = (size_t)descs[i].alias_of - 1;
        set->descs[i] = descs[i];
    }
    return RIDGE_OK;
}

/* -- placing ----------------------------------------------------------------------------------- */

static size_t round_up(size_t size, size_t to)
{
    return (size + to - 1) / to * to;
}

static size_t band_bytes(const ridge_buffer_desc *desc)
{
    size_t row = desc->ndim > 0 && desc->shape[desc->ndim - 1] > 0
                     ? (size_t)desc->shape[desc->ndim - 1] * ridge_dtype_bytes(desc->dtype)
                     : 0;

    row = row < BAND_MOST ? row : BAND_MOST;
    return round_up(row > BAND_BYTES ? row : BAND_BYTES, ALIGNMENT);
}

static bool is_aliased(const check_set *set, size_t index, uint64_t alias_from_bytes)
{
    const check_buffer *const of = &set->buffers[index];

    if (alias_from_bytes == 0 || of->desc.role != RIDGE_ROLE_IN ||
        of->span_bytes < alias_from_bytes)
        return false;
    for (size_t i = 0; i < set->count; i++)
        if (i != index && set->buffers[i].owner == index)
            return false;
    return true;
}

static size_t block_bytes(const check_buffer *of)
{
    return round_up(2 * band_bytes(&of->desc) + of->span_bytes + ALIGNMENT, ALIGNMENT);
}

uint64_t check_set_bytes(const check_set *set, uint64_t alias_from_bytes)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < set->count; i++)
        if (set->buffers[i].owner == i)
            sum += is_aliased(set, i, alias_from_bytes) ? alias_from_bytes
                                                        : block_bytes(&set->buffers[i]);
    return sum;
}

static ridge_status place_mapped(check_set *set, check_buffer *to, bool fence, size_t alias_bytes,
                                 ridge_error *err)
{
    const size_t bytes = to->span_bytes > 0 ? to->span_bytes : 1;
    void *data;
    const ridge_status status =
        ridge_device_map(set->device, bytes, fence, alias_bytes, &to->mapping, &data, err);

    to->base = to->least = status == RIDGE_OK ? data : NULL;
    to->base_bytes = to->span_bytes;
    return status;
}

static ridge_status place(check_set *set, check_buffer *to, check_place where, ridge_error *err)
{
    const size_t band = band_bytes(&to->desc);
    const size_t element = ridge_dtype_bytes(to->desc.dtype);
    ridge_status status;

    to->base_bytes = block_bytes(to);
    status = ridge_device_alloc(set->device, to->base_bytes, &to->base, err);
    if (status != RIDGE_OK)
        return status;
    to->lead_bytes = where == CHECK_LEFT ? band
                                         : (to->base_bytes - band - to->span_bytes) /
                                               RIGHT_ALIGNMENT * RIGHT_ALIGNMENT;
    if (set->at->layout == RIDGE_LAYOUT_OFFSET && !to->desc.keeps_layout &&
        to->desc.role != RIDGE_ROLE_WORKSPACE)
        to->lead_bytes = where == CHECK_LEFT ? to->lead_bytes + element : to->lead_bytes - element;
    to->least = (unsigned char *)to->base + to->lead_bytes;
    return RIDGE_OK;
}

ridge_status check_set_allocate(check_set *set, check_place where, uint64_t alias_from_bytes,
                                ridge_error *err)
{
    ridge_status status = RIDGE_OK;

    for (size_t i = 0; i < set->count && status == RIDGE_OK; i++) {
        check_buffer *const to = &set->buffers[i];

        if (to->owner != i) {
            to->least = set->buffers[to->owner].least;
            to->lead_bytes = set->buffers[to->owner].lead_bytes;
        } else if (where == CHECK_FENCE) {
            status = place_mapped(set, to, true, 0, err);
        } else if (is_aliased(set, i, alias_from_bytes)) {
            status = place_mapped(set, to, false, (size_t)alias_from_bytes, err);
        } else {
            status = place(set, to, where, err);
        }
        if (status != RIDGE_OK)
            break;
        to->data =
            to->least + ridge_buffer_origin(&to->desc) * (int64_t)ridge_dtype_bytes(to->desc.dtype);
        set->data[i] = to->data;
    }
    set->view = (ridge_view){set->data, set->descs, set->count, set->device};
    return status;
}

ridge_status check_set_prepare(check_set *set, ridge_error *err)
{
    const ridge_status status = ridge_kernel_prepare(set->kernel, set->at, &set->view, &set->state,
                                                     ridge_stream_native(set->stream), err);

    set->is_prepared = status == RIDGE_OK;
    return status;
}

void check_set_release(check_set *set)
{
    if (set->is_prepared)
        ridge_kernel_finish(set->kernel, set->state);
    set->is_prepared = false;
    for (size_t i = 0; i < set->count; i++) {
        check_buffer *const of = &set->buffers[i];

        if (of->mapping != NULL)
            ridge_mapping_free(of->mapping);
        else
            ridge_device_release(set->device, of->base);
        ridge_device_release(set->device, of->pristine);
        of->pristine = NULL;
        of->is_pristine = false;
        of->mapping = NULL;
        of->base = NULL;
    }
}

/* -- reading and writing ----------------------------------------------------------------------- */

void check_move_elements(const ridge_buffer_desc *desc, unsigned char *span, unsigned char *packed,
                         bool gathers)
{
    const size_t bytes = ridge_dtype_bytes(desc->dtype);
    const int64_t count = ridge_buffer_elements(desc);
    const int64_t width = desc->ndim > 0 ? desc->shape[desc->ndim - 1] : 1;
    const int64_t stride = desc->ndim > 0 ? desc->stride[desc->ndim - 1] : 1;
    unsigned char *const element0 = span + ridge_buffer_origin(desc) * (int64_t)bytes;

    for (int64_t row = 0; row < count; row += width) {
        unsigned char *at = element0 + ridge_buffer_offset(desc, row) * (int64_t)bytes;

        if (stride == 1) {
            memcpy(gathers ? packed : at, gathers ? at : packed, (size_t)width * bytes);
            packed += (size_t)width * bytes;
            continue;
        }
        for (int64_t i = 0; i < width; i++, at += stride * (int64_t)bytes, packed += bytes)
            memcpy(gathers ? packed : at, gathers ? at : packed, bytes);
    }
}

static void *take_bytes(size_t size, ridge_error *err)
{
    void *const block = ridge_calloc(size > 0 ? size : 1, 1);

    if (block == NULL)
        ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "no memory for %zu bytes of a buffer", size);
    return block;
}

static ridge_status read_whole(const check_set *set, const ridge_buffer_desc *desc,
                               const unsigned char *least, unsigned char *packed, ridge_error *err)
{
    const size_t span_bytes = size_bytes_of(desc);
    unsigned char *span;
    ridge_status status;

    if (span_bytes == 0)
        return RIDGE_OK;
    if (is_contiguous(desc))
        return ridge_device_download(set->device, packed, least, span_bytes, err);
    span = take_bytes(span_bytes, err);
    if (span == NULL)
        return RIDGE_ERR_OUT_OF_MEMORY;
    status = ridge_device_download(set->device, span, least, span_bytes, err);
    if (status == RIDGE_OK)
        check_move_elements(desc, span, packed, true);
    ridge_free(span);
    return status;
}

/* Rows are of the first axis: each is a tensor of the others. */
static ridge_status read_rows(const check_set *set, const check_buffer *of, unsigned char *packed,
                              ridge_error *err)
{
    const int64_t bytes = (int64_t)ridge_dtype_bytes(of->desc.dtype);
    ridge_buffer_desc row = of->desc;
    int64_t row_elements;
    ridge_status status = RIDGE_OK;

    row.ndim = of->desc.ndim - 1;
    for (int axis = 0; axis < row.ndim; axis++) {
        row.shape[axis] = of->desc.shape[axis + 1];
        row.stride[axis] = of->desc.stride[axis + 1];
    }
    row_elements = ridge_buffer_elements(&row);
    for (int64_t k = 0; k < set->row_count && status == RIDGE_OK; k++)
        status = read_whole(
            set, &row,
            of->data + (set->rows[k] * of->desc.stride[0] - ridge_buffer_origin(&row)) * bytes,
            packed + k * row_elements * bytes, err);
    return status;
}

ridge_status check_set_read(const check_set *set, size_t index, void *packed, ridge_error *err)
{
    const check_buffer *const of = &set->buffers[index];

    if (of->row_dim == 0)
        return read_rows(set, of, packed, err);
    return read_whole(set, &of->desc, of->least, packed, err);
}

static ridge_status write_whole(const check_set *set, const check_buffer *to, unsigned char *packed,
                                ridge_error *err)
{
    unsigned char *span;
    ridge_status status;

    if (to->span_bytes == 0)
        return RIDGE_OK;
    if (is_contiguous(&to->desc))
        return ridge_device_upload(set->device, to->least, packed, to->span_bytes, err);
    span = take_bytes(to->span_bytes, err);
    if (span == NULL)
        return RIDGE_ERR_OUT_OF_MEMORY;
    status = ridge_device_download(set->device, span, to->least, to->span_bytes, err);
    if (status == RIDGE_OK) {
        check_move_elements(&to->desc, span, packed, false);
        status = ridge_device_upload(set->device, to->least, span, to->span_bytes, err);
    }
    ridge_free(span);
    return status;
}

/* -- filling ----------------------------------------------------------------------------------- */

static uint64_t seed_of(const check_plan *plan, size_t index)
{
    return plan->seed * UINT64_C(0x9e3779b97f4a7c15) + index + 1;
}

static uint64_t band_seed(size_t index, bool is_tail)
{
    return 0xb0d5 + 2 * index + is_tail;
}

/* By the kernel's own fill, where it has one for this buffer. */
static ridge_status fill_by_kernel(check_set *set, size_t index, const ridge_case *at,
                                   uint64_t seed, bool *done, ridge_error *err)
{
    const check_buffer *const to = &set->buffers[index];
    const int64_t count = ridge_buffer_elements(&to->desc);
    double *elements = NULL;
    unsigned char *packed = NULL;
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;

    *done = false;
    if (set->kernel->fill == NULL || count == 0)
        return RIDGE_OK;
    elements = take_bytes((size_t)count * sizeof(double), err);
    packed = elements == NULL ? NULL
                              : take_bytes((size_t)count * ridge_dtype_bytes(to->desc.dtype), err);
    if (packed == NULL)
        goto out;
    status = set->kernel->fill(set->kernel, at, index, elements, seed, err);
    if (status == RIDGE_ERR_UNSUPPORTED) {
        status = RIDGE_OK;
        goto out;
    }
    if (status != RIDGE_OK)
        goto out;
    for (int64_t i = 0; i < count; i++)
        ridge_dtype_store(to->desc.dtype, packed, i, elements[i]);
    status = write_whole(set, to, packed, err);
    *done = status == RIDGE_OK;
out:
    ridge_free(packed);
    ridge_free(elements);
    return status;
}

/* Packed whole elements, whatever rows are verified. */
static ridge_status scale(check_set *set, const check_buffer *to, int exponent, ridge_error *err)
{
    const int64_t count = ridge_buffer_elements(&to->desc);
    const double factor =
        exponent >= 0 ? (double)(INT64_C(1) << exponent) : 1 / (double)(INT64_C(1) << -exponent);
    double *const elements = take_bytes((size_t)count * sizeof(*elements), err);
    unsigned char *const packed =
        elements == NULL ? NULL
                         : take_bytes((size_t)count * ridge_dtype_bytes(to->desc.dtype), err);
    ridge_status status;

    if (packed == NULL) {
        ridge_free(elements);
        return RIDGE_ERR_OUT_OF_MEMORY;
    }
    status = read_whole(set, &to->desc, to->least, packed, err);
    if (status == RIDGE_OK)
        ridge_dtype_load_all(to->desc.dtype, packed, count, elements);
    for (int64_t i = 0; i < count && status == RIDGE_OK; i++)
        ridge_dtype_store(to->desc.dtype, packed, i, elements[i] * factor);
    if (status == RIDGE_OK)
        status = write_whole(set, to, packed, err);
    ridge_free(packed);
    ridge_free(elements);
    return status;
}

static ridge_status fill_input(check_set *set, size_t index, bool is_first, const check_plan *plan,
                               ridge_error *err)
{
    check_buffer *const to = &set->buffers[index];
    const int wanted = is_first && plan->first_values >= 0 ? plan->first_values : plan->values;
    const ridge_values values = to->desc.has_values ? to->desc.values
                                : wanted >= 0       ? (ridge_values)wanted
                                                    : set->at->values;
    const uint64_t seed = seed_of(plan, index);
    ridge_case at = *set->at;
    ridge_status status;
    bool done;

    at.values = values;
    status = fill_by_kernel(set, index, &at, seed, &done, err);
    if (status != RIDGE_OK || done)
        return status;
    if (!check_kept_give(set, index, values, seed)) {
        status =
            ridge_device_fill(set->device, set->stream, &to->desc, values, to->data, seed, err);
        /* Others are used once. */
        if (status == RIDGE_OK && plan->seed == set->at->seed &&
            (values == set->at->values || values == RIDGE_VALUES_NORMAL))
            check_kept_take(set, index, values, seed);
    }
    if (status != RIDGE_OK || plan->scale_exponent == 0 || to->desc.has_values ||
        !ridge_dtype_is_float(to->desc.dtype))
        return status;
    status = ridge_stream_synchronize(set->stream, err);
    return status == RIDGE_OK ? scale(set, to, plan->scale_exponent, err) : status;
}

/* What lies in a buffer, between its elements, and for inputs around it, before it is filled. */
static uint32_t word_of(const check_buffer *to, const check_plan *plan)
{
    const ridge_dtype dtype = to->desc.dtype;

    if (to->desc.role == RIDGE_ROLE_WORKSPACE)
        return plan->workspace_ones ? (ridge_dtype_is_float(dtype) ? 0x3f803f80 : 1)
                                    : check_poison_word(dtype, 0);
    if (to->desc.role == RIDGE_ROLE_OUT)
        return check_poison_word(dtype, plan->poison);
    return plan->bands == CHECK_BANDS_ZERO ? 0 : check_poison_word(dtype, 0);
}

static ridge_status fill_around(check_set *set, size_t index, const check_plan *plan,
                                ridge_error *err)
{
    const check_buffer *const to = &set->buffers[index];
    const size_t tail = to->lead_bytes + to->span_bytes;
    ridge_status status = RIDGE_OK;

    if (to->owner != index)
        return RIDGE_OK;
    /* A mapped granule repeated has no bands, and no place that is not an element. */
    if (to->mapping == NULL || to->desc.role != RIDGE_ROLE_IN)
        status = ridge_device_set_words(set->device, set->stream, to->base, to->base_bytes,
                                        word_of(to, plan), err);
    if (status != RIDGE_OK || to->mapping != NULL ||
        (to->is_input && plan->bands != CHECK_BANDS_PATTERN))
        return status;
    status = ridge_device_pattern(set->device, set->stream, to->base, to->lead_bytes,
                                  band_seed(index, false), err);
    return status != RIDGE_OK
               ? status
               : ridge_device_pattern(set->device, set->stream, (unsigned char *)to->base + tail,
                                      to->base_bytes - tail, band_seed(index, true), err);
}

bool check_set_is_constant(const check_set *set, size_t index)
{
    if (set->buffers[index].desc.role != RIDGE_ROLE_IN)
        return false;
    for (size_t i = 0; i < set->count; i++)
        if (i != index && set->buffers[i].owner == index)
            return false;
    return true;
}

bool check_plan_holds(const check_plan *a, const check_plan *b)
{
    return a->values == b->values && a->first_values == b->first_values && a->seed == b->seed &&
           a->bands == b->bands && a->scale_exponent == b->scale_exponent;
}

/* An input that an output may overwrite: filled, and kept as a copy where it is not large, or put
 * back from that. */
static ridge_status fill_overwritten(check_set *set, size_t index, bool is_first, bool is_known,
                                     const check_plan *plan, ridge_error *err)
{
    check_buffer *const to = &set->buffers[index];
    ridge_status status;

    if (is_known && to->is_pristine)
        return ridge_device_copy(set->device, set->stream, to->base, to->pristine, to->base_bytes,
                                 err);
    to->is_pristine = false;
    status = fill_around(set, index, plan, err);
    if (status == RIDGE_OK)
        status = fill_input(set, index, is_first, plan, err);
    if (status != RIDGE_OK || to->mapping != NULL || to->base == NULL ||
        to->base_bytes > PRISTINE_MOST)
        return status;
    if (to->pristine == NULL)
        status = ridge_device_alloc(set->device, to->base_bytes, &to->pristine, err);
    if (status == RIDGE_OK)
        status = ridge_device_copy(set->device, set->stream, to->pristine, to->base, to->base_bytes,
                                   err);
    to->is_pristine = status == RIDGE_OK;
    return status;
}

ridge_status check_set_fill(check_set *set, const check_plan *plan, ridge_error *err)
{
    const bool is_known = set->was_filled && check_plan_holds(&set->held, plan);
    const bool is_held = set->is_held && is_known;
    ridge_status status = RIDGE_OK;
    bool is_first = true;

    for (size_t i = 0; i < set->count && status == RIDGE_OK; i++) {
        if (!set->buffers[i].is_input) {
            status = fill_around(set, i, plan, err);
            continue;
        }
        if (!check_set_is_constant(set, i)) {
            status = fill_overwritten(set, i, is_first, is_known, plan, err);
        } else if (!is_held) {
            status = fill_around(set, i, plan, err);
            if (status == RIDGE_OK)
                status = fill_input(set, i, is_first, plan, err);
        }
        is_first = false;
    }
    set->is_held = false;
    set->was_filled = status == RIDGE_OK;
    set->held = *plan;
    return status == RIDGE_OK ? ridge_stream_synchronize(set->stream, err) : status;
}

/* -- afterwards -------------------------------------------------------------------------------- */

static ridge_status check_band(const check_set *set, size_t index, bool is_tail, char *text,
                               size_t size, ridge_error *err)
{
    const check_buffer *const of = &set->buffers[index];
    const size_t begin = is_tail ? of->lead_bytes + of->span_bytes : 0;
    const size_t bytes = is_tail ? of->base_bytes - begin : of->lead_bytes;
    uint64_t wrong, first;
    const ridge_status status =
        ridge_device_pattern_check(set->device, set->stream, (unsigned char *)of->base + begin,
                                   bytes, band_seed(index, is_tail), &wrong, &first, err);

    if (status != RIDGE_OK || wrong == 0)
        return status;
    if (is_tail)
        snprintf(text, size,
                 "wrote %" PRIu64 " bytes behind the end of %s, the first at byte +%" PRIu64, wrong,
                 of->desc.name, first);
    else
        snprintf(text, size,
                 "wrote %" PRIu64 " bytes before the start of %s, the first at byte -%" PRIu64,
                 wrong, of->desc.name, of->lead_bytes - first);
    return RIDGE_OK;
}

/* Between the elements of a strided output lies poison still. */
static ridge_status check_gaps(const check_set *set, size_t index, int poison, char *text,
                               size_t size, ridge_error *err)
{
    const check_buffer *const of = &set->buffers[index];
    const size_t bytes = ridge_dtype_bytes(of->desc.dtype);
    const int64_t count = ridge_buffer_elements(&of->desc);
    unsigned char *span = NULL, *packed = NULL;
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    int64_t wrong = 0, first = -1;

    if (of->desc.role != RIDGE_ROLE_OUT || of->owner != index || is_contiguous(&of->desc) ||
        of->span_bytes > GAPS_MOST)
        return RIDGE_OK;
    span = take_bytes(of->span_bytes, err);
    packed = span == NULL ? NULL : take_bytes((size_t)count * bytes, err);
    if (packed == NULL)
        goto out;
    check_poison_put(of->desc.dtype, poison, packed, (size_t)count * bytes);
    status = ridge_device_download(set->device, span, of->least, of->span_bytes, err);
    if (status != RIDGE_OK)
        goto out;
    check_move_elements(&of->desc, span, packed, false);
    if (check_poison_is_all(of->desc.dtype, poison, span, of->span_bytes))
        goto out;
    for (int64_t i = 0; i < (int64_t)(of->span_bytes / bytes); i++)
        if (!check_is_poison(of->desc.dtype, span, i, poison)) {
            first = wrong++ == 0 ? i : first;
        }
    if (wrong > 0)
        snprintf(text, size,
                 "wrote %" PRId64 " elements between the rows of %s, the first %" PRId64
                 " elements behind its start",
                 wrong, of->desc.name, first);
out:
    ridge_free(packed);
    ridge_free(span);
    return status;
}

ridge_status check_set_guards(const check_set *set, int poison, char *text, size_t size,
                              ridge_error *err)
{
    ridge_status status = RIDGE_OK;

    for (size_t i = 0; i < set->count && status == RIDGE_OK && text[0] == '\0'; i++) {
        if (set->buffers[i].owner != i || set->buffers[i].mapping != NULL)
            continue;
        status = check_band(set, i, false, text, size, err);
        if (status == RIDGE_OK && text[0] == '\0')
            status = check_band(set, i, true, text, size, err);
        if (status == RIDGE_OK && text[0] == '\0')
            status = check_gaps(set, i, poison, text, size, err);
    }
    return status;
}

ridge_status check_set_hash(const check_set *set, size_t index, uint64_t *out, ridge_error *err)
{
    const check_buffer *const of = &set->buffers[index];

    return ridge_device_hash(set->device, set->stream, of->least, of->span_bytes, out, err);
}

ridge_status check_capture_take(const check_set *set, check_capture *out, ridge_error *err)
{
    ridge_status status = RIDGE_OK;

    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i < set->count && status == RIDGE_OK; i++) {
        const check_buffer *const of = &set->buffers[i];

        if (!of->is_output)
            continue;
        out->bits[i] =
            take_bytes((size_t)of->element_count * ridge_dtype_bytes(of->desc.dtype), err);
        status = out->bits[i] == NULL ? RIDGE_ERR_OUT_OF_MEMORY
                                      : check_set_read(set, i, out->bits[i], err);
        if (status == RIDGE_OK)
            status = check_set_hash(set, i, &out->hash[i], err);
    }
    if (status != RIDGE_OK)
        check_capture_release(out);
    return status;
}

void check_capture_release(check_capture *of)
{
    for (size_t i = 0; i < RIDGE_KERNEL_BUFFERS; i++) {
        ridge_free(of->bits[i]);
        of->bits[i] = NULL;
    }
}

/* -- two outputs ------------------------------------------------------------------------------- */

static const char *element_text(const ridge_buffer_desc *desc, int64_t index, char *buffer,
                                size_t size)
{
    int64_t at[RIDGE_BUFFER_DIMS] = {0};
    size_t used = 0;

    for (int axis = desc->ndim - 1; axis >= 0; axis--) {
        at[axis] = index % desc->shape[axis];
        index /= desc->shape[axis];
    }
    buffer[0] = '\0';
    for (int axis = 0; axis < desc->ndim && used < size; axis++)
        used += (size_t)snprintf(buffer + used, size - used, "%s%" PRId64, axis == 0 ? "" : ",",
                                 at[axis]);
    return buffer;
}

/* false with text of the first difference. */
static bool is_same(const check_buffer *of, const unsigned char *a, const unsigned char *b,
                    char *text, size_t size)
{
    const ridge_dtype dtype = of->desc.dtype;
    int64_t different = 0, first = -1;
    char where[96];

    if (memcmp(a, b, (size_t)of->element_count * ridge_dtype_bytes(dtype)) == 0)
        return true;
    for (int64_t k = 0; k < of->element_count; k++)
        if (ridge_dtype_bits(dtype, a, k) != ridge_dtype_bits(dtype, b, k))
            first = different++ == 0 ? k : first;
    snprintf(text, size,
             "%" PRId64 " of %" PRId64 " elements of %s differ, first [%s]: %.9g and %.9g",
             different, of->element_count, of->desc.name,
             element_text(&of->small, first, where, sizeof(where)),
             ridge_dtype_load(dtype, a, first), ridge_dtype_load(dtype, b, first));
    return false;
}

ridge_status check_capture_holds(const check_set *set, const check_capture *first, bool *same,
                                 char *text, size_t size, ridge_error *err)
{
    ridge_status status = RIDGE_OK;

    *same = true;
    for (size_t i = 0; i < set->count && status == RIDGE_OK && *same; i++) {
        const check_buffer *const of = &set->buffers[i];
        unsigned char *bits;
        uint64_t hash;

        if (!of->is_output)
            continue;
        status = check_set_hash(set, i, &hash, err);
        if (status != RIDGE_OK || hash == first->hash[i])
            continue;
        bits = take_bytes((size_t)of->element_count * ridge_dtype_bytes(of->desc.dtype), err);
        status = bits == NULL ? RIDGE_ERR_OUT_OF_MEMORY : check_set_read(set, i, bits, err);
        if (status == RIDGE_OK)
            *same = is_same(of, first->bits[i], bits, text, size);
        if (status == RIDGE_OK && *same && of->row_dim >= 0 && is_contiguous(&of->desc)) {
            *same = false;
            snprintf(text, size, "elements of %s differ, outside of the rows that were read",
                     of->desc.name);
        }
        ridge_free(bits);
    }
    return status;
}
