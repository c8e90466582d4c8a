/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel with the reference of another: a family's, or what another arm computes. The two need
 * not list their buffers in the same order, so they are matched by name, and extents are compared
 * before anything is read. The kernel itself is called with its own self, so that one that lies in
 * a larger structure of its maker finds that. */
#include <stdio.h>
#include <string.h>

#include "arm/arm_internal.h"

typedef struct borrower {
    ridge_kernel kernel;       /* what the arm gives out */
    const ridge_kernel *inner; /* whose describe and launch are used */
    const ridge_kernel *source;
    const ridge_family *family; /* NULL: source is another arm's kernel */
    ridge_case source_case;     /* with every axis of the source */
    ridge_device *device;
} borrower;

/* -- what is passed on ------------------------------------------------------------------------- */

static const borrower *of(const ridge_kernel *self)
{
    return self->context;
}

static ridge_status describe(const ridge_kernel *self, const ridge_case *at,
                             ridge_buffer_desc *buffers, size_t *count, ridge_error *err)
{
    return of(self)->inner->describe(of(self)->inner, at, buffers, count, err);
}

static ridge_status prepare(const ridge_kernel *self, const ridge_case *at, const ridge_view *view,
                            void **state, struct CUstream_st *stream, ridge_error *err)
{
    return of(self)->inner->prepare(of(self)->inner, at, view, state, stream, err);
}

static ridge_status launch(const ridge_kernel *self, const ridge_case *at, const ridge_view *view,
                           void *state, struct CUstream_st *stream, ridge_error *err)
{
    return of(self)->inner->launch(of(self)->inner, at, view, state, stream, err);
}

static void finish(const ridge_kernel *self, void *state)
{
    of(self)->inner->finish(of(self)->inner, state);
}

static ridge_status own_work(const ridge_kernel *self, const ridge_case *at, ridge_kernel_work *out,
                             ridge_error *err)
{
    return of(self)->inner->work(of(self)->inner, at, out, err);
}

static ridge_status own_fill(const ridge_kernel *self, const ridge_case *at, size_t buffer_index,
                             double *elements, uint64_t seed, ridge_error *err)
{
    return of(self)->inner->fill(of(self)->inner, at, buffer_index, elements, seed, err);
}

/* -- matching ---------------------------------------------------------------------------------- */

void arm_case_like(const ridge_case *base, const ridge_case *at, ridge_case *out)
{
    *out = *base;
    if (base->axis_count == 0) { /* a plug-in does not say which it has */
        memcpy(out->axes, at->axes, sizeof(out->axes));
        out->axis_count = at->axis_count;
    }
    for (size_t i = 0; i < out->axis_count; i++)
        out->axes[i].value = ridge_case_axis(at, out->axes[i].name, out->axes[i].value);
    out->dtype = at->dtype;
    out->values = at->values;
    out->seed = at->seed;
}

typedef struct matched {
    ridge_case at;
    ridge_buffer_desc buffers[RIDGE_KERNEL_BUFFERS]; /* of the source */
    size_t count;
    int of[RIDGE_KERNEL_BUFFERS]; /* index of the kernel's buffer; -1: a workspace it lacks */
} matched;

static int find_buffer(const ridge_buffer_desc *buffers, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(buffers[i].name, name) == 0)
            return (int)i;
    return -1;
}

static void list_buffers(const ridge_buffer_desc *buffers, size_t count, char *out, size_t size)
{
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < count && used < size; i++)
        used +=
            (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "", buffers[i].name);
}

static ridge_status match(const borrower *by, const ridge_case *at,
                          const ridge_buffer_desc *buffers, size_t count, matched *out,
                          ridge_error *err)
{
    const char *const what = by->family != NULL ? by->family->name : by->source->name;
    ridge_status status;

    arm_case_like(&by->source_case, at, &out->at);
    status = ridge_kernel_describe(by->source, &out->at, out->buffers, &out->count, err);
    for (size_t i = 0; i < out->count && status == RIDGE_OK; i++) {
        const ridge_buffer_desc *const wanted = &out->buffers[i];
        const int index = find_buffer(buffers, count, wanted->name);
        char names[160];

        out->of[i] = index;
        if (index < 0 && wanted->role == RIDGE_ROLE_WORKSPACE)
            continue;
        if (index < 0) {
            list_buffers(buffers, count, names, sizeof(names));
            return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                              "the reference %s has a buffer '%s', kernel %.80s has %s", what,
                              wanted->name, by->inner->name, names);
        }
        if (ridge_buffer_elements(wanted) != ridge_buffer_elements(&buffers[index]))
            return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                              "buffer '%s' has %lld elements, in the reference %s %lld",
                              wanted->name, (long long)ridge_buffer_elements(&buffers[index]), what,
                              (long long)ridge_buffer_elements(wanted));
    }
    return status;
}

/* -- a family's reference ---------------------------------------------------------------------- */

static ridge_status refer(const ridge_kernel *self, const ridge_case *at,
                          const ridge_reference_view *view, bool plain, ridge_error *err)
{
    const borrower *const by = of(self);
    const double *in[RIDGE_KERNEL_BUFFERS] = {NULL};
    double *result[RIDGE_KERNEL_BUFFERS] = {NULL};
    double *magnitude[RIDGE_KERNEL_BUFFERS] = {NULL};
    ridge_reference_view mapped = {in, result, view->magnitude != NULL ? magnitude : NULL, NULL, 0};
    matched pair;
    const ridge_status status = match(by, at, view->buffers, view->count, &pair, err);

    if (status != RIDGE_OK)
        return status;
    mapped.buffers = pair.buffers;
    mapped.count = pair.count;
    for (size_t i = 0; i < pair.count; i++) {
        if (pair.of[i] < 0)
            continue;
        in[i] = view->in[pair.of[i]];
        result[i] = view->out[pair.of[i]];
        if (view->magnitude != NULL)
            magnitude[i] = view->magnitude[pair.of[i]];
    }
    return (plain ? by->source->plain : by->source->reference)(by->source, &pair.at, &mapped, err);
}

static ridge_status family_reference(const ridge_kernel *self, const ridge_case *at,
                                     const ridge_reference_view *view, ridge_error *err)
{
    return refer(self, at, view, false, err);
}

static ridge_status family_plain(const ridge_kernel *self, const ridge_case *at,
                                 const ridge_reference_view *view, ridge_error *err)
{
    return refer(self, at, view, true, err);
}

static ridge_status family_work(const ridge_kernel *self, const ridge_case *at,
                                ridge_kernel_work *out, ridge_error *err)
{
    ridge_case source_case;

    arm_case_like(&of(self)->source_case, at, &source_case);
    return of(self)->source->work(of(self)->source, &source_case, out, err);
}

static ridge_status family_fill(const ridge_kernel *self, const ridge_case *at, size_t buffer_index,
                                double *elements, uint64_t seed, ridge_error *err)
{
    ridge_buffer_desc buffers[RIDGE_KERNEL_BUFFERS];
    size_t count;
    matched pair;
    ridge_status status = ridge_kernel_describe(of(self)->inner, at, buffers, &count, err);

    if (status == RIDGE_OK)
        status = match(of(self), at, buffers, count, &pair, err);
    if (status != RIDGE_OK)
        return status;
    for (size_t i = 0; i < pair.count; i++)
        if (pair.of[i] == (int)buffer_index)
            return of(self)->source->fill(of(self)->source, &pair.at, i, elements, seed, err);
    return ridge_fail(err, RIDGE_ERR_UNSUPPORTED, "the reference has no such buffer");
}

/* -- another arm's outputs as reference -------------------------------------------------------- */

typedef struct run {
    const borrower *by;
    const ridge_reference_view *view;
    matched pair;
    void *memory[RIDGE_KERNEL_BUFFERS]; /* least addresses */
    void *data[RIDGE_KERNEL_BUFFERS];
    void *staging;
    ridge_stream *stream;
    void *state;
    bool is_prepared;
} run;

static size_t span_bytes(const run *at, size_t index)
{
    return (size_t)ridge_buffer_span_bytes(&at->pair.buffers[index]);
}

static ridge_status place_buffers(run *at, ridge_error *err)
{
    size_t largest = 1;
    ridge_status status = RIDGE_OK;

    for (size_t i = 0; i < at->pair.count && status == RIDGE_OK; i++) {
        const ridge_buffer_desc *const buffer = &at->pair.buffers[i];
        const int64_t origin_bytes =
            ridge_buffer_origin(buffer) * (int64_t)ridge_dtype_bytes(buffer->dtype);

        status = ridge_device_alloc(at->by->device, span_bytes(at, i), &at->memory[i], err);
        if (status == RIDGE_OK)
            at->data[i] = (uint8_t *)at->memory[i] + origin_bytes;
        largest = span_bytes(at, i) > largest ? span_bytes(at, i) : largest;
    }
    if (status != RIDGE_OK)
        return status;
    at->staging = ridge_calloc(largest, 1);
    return at->staging != NULL ? RIDGE_OK : arm_out_of_memory(err);
}

static ridge_status upload(const run *at, size_t index, ridge_error *err)
{
    const ridge_buffer_desc *const buffer = &at->pair.buffers[index];
    const double *const values = at->pair.of[index] >= 0 ? at->view->in[at->pair.of[index]] : NULL;
    const int64_t origin = ridge_buffer_origin(buffer);

    if (buffer->role == RIDGE_ROLE_OUT || buffer->role == RIDGE_ROLE_WORKSPACE || values == NULL)
        return RIDGE_OK;
    memset(at->staging, 0, span_bytes(at, index));
    for (int64_t i = 0; i < ridge_buffer_elements(buffer); i++)
        ridge_dtype_store(buffer->dtype, at->staging, origin + ridge_buffer_offset(buffer, i),
                          values[i]);
    return ridge_device_upload(at->by->device, at->memory[index], at->staging,
                               span_bytes(at, index), err);
}

static ridge_status download(const run *at, size_t index, ridge_error *err)
{
    const ridge_buffer_desc *const buffer = &at->pair.buffers[index];
    double *const values = at->pair.of[index] >= 0 ? at->view->out[at->pair.of[index]] : NULL;
    const int64_t origin = ridge_buffer_origin(buffer);
    ridge_status status;

    if (buffer->role == RIDGE_ROLE_IN || buffer->role == RIDGE_ROLE_WORKSPACE || values == NULL)
        return RIDGE_OK;
    status = ridge_device_download(at->by->device, at->staging, at->memory[index],
                                   span_bytes(at, index), err);
    for (int64_t i = 0; i < ridge_buffer_elements(buffer) && status == RIDGE_OK; i++)
        values[i] =
            ridge_dtype_load(buffer->dtype, at->staging, origin + ridge_buffer_offset(buffer, i));
    return status;
}

static ridge_status run_source(run *at, ridge_error *err)
{
    const ridge_kernel *const source = at->by->source;
    const ridge_view view = {at->data, at->pair.buffers, at->pair.count, at->by->device};
    struct CUstream_st *native;
    ridge_status status = place_buffers(at, err);

    for (size_t i = 0; i < at->pair.count && status == RIDGE_OK; i++)
        status = upload(at, i, err);
    if (status == RIDGE_OK)
        status = ridge_stream_create(at->by->device, &at->stream, err);
    if (status != RIDGE_OK)
        return status;
    native = ridge_stream_native(at->stream);
    status = ridge_kernel_prepare(source, &at->pair.at, &view, &at->state, native, err);
    at->is_prepared = status == RIDGE_OK;
    if (status == RIDGE_OK)
        status = source->launch(source, &at->pair.at, &view, at->state, native, err);
    if (status == RIDGE_OK)
        status = ridge_stream_synchronize(at->stream, err);
    for (size_t i = 0; i < at->pair.count && status == RIDGE_OK; i++)
        status = download(at, i, err);
    return status;
}

static ridge_status arm_reference(const ridge_kernel *self, const ridge_case *at,
                                  const ridge_reference_view *view, ridge_error *err)
{
    run one = {.by = of(self), .view = view};
    ridge_status status = match(one.by, at, view->buffers, view->count, &one.pair, err);

    if (status == RIDGE_OK)
        status = run_source(&one, err);
    if (one.is_prepared)
        ridge_kernel_finish(one.by->source, one.state);
    ridge_stream_free(one.stream);
    ridge_free(one.staging);
    for (size_t i = 0; i < RIDGE_KERNEL_BUFFERS; i++)
        ridge_device_release(one.by->device, one.memory[i]);
    return status;
}

/* -- borrowing --------------------------------------------------------------------------------- */

static ridge_status borrow(ridge_arm *arm, const ridge_kernel *source, const ridge_family *family,
                           const ridge_case *source_case, borrower **out, ridge_error *err)
{
    borrower *const by = ridge_alloc(&arm->arena, sizeof(*by));
    const ridge_kernel *const inner = arm->kernel;

    *out = by;
    if (by == NULL)
        return arm_out_of_memory(err);
    by->inner = inner;
    by->source = source;
    by->family = family;
    by->source_case = *source_case;
    by->device = arm->device;
    by->kernel = (ridge_kernel){.struct_size = sizeof(ridge_kernel),
                                .name = inner->name,
                                .describe = describe,
                                .work = inner->work != NULL ? own_work : NULL,
                                .prepare = inner->prepare != NULL ? prepare : NULL,
                                .launch = launch,
                                .finish = inner->finish != NULL ? finish : NULL,
                                .fill = inner->fill != NULL ? own_fill : NULL,
                                .row_axis = inner->row_axis,
                                .context = by};
    return RIDGE_OK;
}

const ridge_kernel *arm_family_source(const ridge_family *family)
{
    for (size_t i = 0; i < family->variant_count; i++)
        if (family->variants[i]->reference != NULL)
            return family->variants[i];
    return family->variants[0];
}

/* Whether the buffers match, as far as the base case tells. */
static ridge_status try_match(const borrower *by, const ridge_case *base, ridge_error *err)
{
    ridge_buffer_desc buffers[RIDGE_KERNEL_BUFFERS];
    size_t count;
    matched pair;

    if (ridge_kernel_describe(by->inner, base, buffers, &count, NULL) != RIDGE_OK)
        return RIDGE_OK; /* a refusal, or an axis without a value yet: told when it is described */
    return match(by, base, buffers, count, &pair, err);
}

ridge_status arm_borrow_family(ridge_arm *arm, const ridge_family *family, ridge_error *err)
{
    const ridge_kernel *const inner = arm->kernel;
    const ridge_kernel *source;
    borrower *by;
    ridge_status status;

    if (family == NULL || family->variant_count == 0 || inner->reference != NULL)
        return RIDGE_OK;
    source = arm_family_source(family);
    status = borrow(arm, source, family, &family->default_case, &by, err);
    if (status != RIDGE_OK)
        return status;
    by->kernel.reference = source->reference != NULL ? family_reference : NULL;
    by->kernel.plain = source->plain != NULL ? family_plain : NULL;
    if (by->kernel.work == NULL && source->work != NULL)
        by->kernel.work = family_work;
    if (by->kernel.fill == NULL && source->fill != NULL)
        by->kernel.fill = family_fill;
    if (by->kernel.row_axis == NULL &&
        ridge_case_axis(&arm->base, source->row_axis != NULL ? source->row_axis : "", -1) >= 0)
        by->kernel.row_axis = source->row_axis;
    status = try_match(by, &arm->base, err);
    if (status != RIDGE_OK)
        return status;
    if (arm->tile == 0)
        arm->tile = family->tile;
    arm->kernel = &by->kernel;
    return RIDGE_OK;
}

ridge_status arm_borrow_arm(ridge_arm *arm, ridge_error *err)
{
    borrower *by;
    ridge_status status;

    if (arm->kernel->reference != NULL)
        return RIDGE_OK;
    status = borrow(arm, arm->reference->kernel, NULL, &arm->reference->base, &by, err);
    if (status != RIDGE_OK)
        return status;
    by->kernel.reference = arm_reference;
    status = try_match(by, &arm->base, err);
    if (status == RIDGE_OK)
        arm->kernel = &by->kernel;
    return status;
}
