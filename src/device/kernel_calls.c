/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of a kernel's functions, with what it lacks answered for and what it says checked. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ridge/bound.h"
#include "ridge/family.h"

/* What no launch does: a year of the fastest machine; arithmetic on it stays far from overflow. */
static const double most_work = 1e24;
static const int64_t longest_chain = INT64_C(1) << 48;

bool ridge_status_is_refusal(ridge_status status)
{
    return status == RIDGE_ERR_UNSUPPORTED || status == RIDGE_ERR_MISALIGNED ||
           status == RIDGE_ERR_ALIAS;
}

/* NAN is unknown, and so are all numbers of a kernel that says no work. Written so that NAN is none of
 * these. */
static ridge_status check_work(const ridge_kernel *kernel, const ridge_kernel_work *work,
                               ridge_error *err)
{
    const struct {
        const char *name;
        double value;
    } amounts[] = {{"flop_count", work->flop_count},
                   {"read_bytes", work->read_bytes},
                   {"written_bytes", work->written_bytes},
                   {"footprint_bytes", work->footprint_bytes}};
    size_t i;

    for (i = 0; i < sizeof(amounts) / sizeof(amounts[0]); i++)
        if (amounts[i].value < 0 || amounts[i].value > most_work)
            return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                              "kernel %.80s: work() says %s %g, expected 0 to %g, or NAN",
                              kernel->name, amounts[i].name, amounts[i].value, most_work);
    if (work->peak < 0 || work->peak >= RIDGE_PEAK_COUNT)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "kernel %.80s: work() says peak %d, expected one of ridge_peak, 0 to %d",
                          kernel->name, work->peak, (int)RIDGE_PEAK_COUNT - 1);
    if (work->accumulate_length < 0 || work->accumulate_length > longest_chain)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "kernel %.80s: work() says accumulate_length %" PRId64
                          ", expected 0 to %" PRId64,
                          kernel->name, work->accumulate_length, longest_chain);
    return RIDGE_OK;
}

ridge_status ridge_kernel_work_of(const ridge_kernel *kernel, const ridge_case *at,
                                  ridge_kernel_work *out, ridge_error *err)
{
    ridge_status status;

    *out = (ridge_kernel_work){.flop_count = (double)NAN,
                               .read_bytes = (double)NAN,
                               .written_bytes = (double)NAN,
                               .footprint_bytes = (double)NAN};
    if (kernel->work == NULL)
        return RIDGE_OK;
    *out = (ridge_kernel_work){0};
    status = kernel->work(kernel, at, out, err);
    if (status == RIDGE_OK)
        status = check_work(kernel, out, err);
    if (status != RIDGE_OK)
        *out = (ridge_kernel_work){0};
    return status;
}

static ridge_status check_buffer(const ridge_kernel *kernel, const ridge_buffer_desc *buffers,
                                 size_t index, ridge_error *err)
{
    const ridge_buffer_desc *const buffer = &buffers[index];
    int i;

    if (memchr(buffer->name, '\0', sizeof(buffer->name)) == NULL || buffer->name[0] == '\0')
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "kernel %s: the name of buffer %zu is empty or has no end", kernel->name,
                          index);
    if ((unsigned)buffer->dtype >= RIDGE_DTYPE_COUNT ||
        (unsigned)buffer->role > RIDGE_ROLE_WORKSPACE ||
        (buffer->has_values && (unsigned)buffer->values >= RIDGE_VALUES_COUNT))
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "kernel %s, buffer %s: dtype %d, role %d or values %d is none",
                          kernel->name, buffer->name, (int)buffer->dtype, (int)buffer->role,
                          (int)buffer->values);
    if (buffer->ndim < 0 || buffer->ndim > RIDGE_BUFFER_DIMS)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "kernel %s, buffer %s: %d dimensions, expected 0 to %d", kernel->name,
                          buffer->name, buffer->ndim, RIDGE_BUFFER_DIMS);
    for (i = 0; i < buffer->ndim; i++)
        if (buffer->shape[i] < 0)
            return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                              "kernel %s, buffer %s: extent %d is %" PRId64, kernel->name,
                              buffer->name, i, buffer->shape[i]);
    if (buffer->alias_of < 0 || (size_t)buffer->alias_of > index)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "kernel %s, buffer %s: alias_of %d is no earlier buffer", kernel->name,
                          buffer->name, buffer->alias_of);
    if (buffer->alias_of > 0 &&
        (buffer->role != RIDGE_ROLE_OUT || buffers[buffer->alias_of - 1].role != RIDGE_ROLE_IN))
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "kernel %s, buffer %s: only an output shares memory, and of an input",
                          kernel->name, buffer->name);
    return RIDGE_OK;
}

ridge_status ridge_kernel_describe(const ridge_kernel *kernel, const ridge_case *at,
                                   ridge_buffer_desc buffers[RIDGE_KERNEL_BUFFERS], size_t *count,
                                   ridge_error *err)
{
    ridge_status status;
    size_t i, described = 0;

    *count = 0;
    memset(buffers, 0, RIDGE_KERNEL_BUFFERS * sizeof(buffers[0]));
    if (kernel->name == NULL || kernel->describe == NULL || kernel->launch == NULL)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "kernel %s has no name, describe or launch",
                          kernel->name != NULL ? kernel->name : "without a name");
    status = kernel->describe(kernel, at, buffers, &described, err);
    if (status != RIDGE_OK)
        return status;
    if (described > RIDGE_KERNEL_BUFFERS)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "kernel %s: %zu buffers, at most %d",
                          kernel->name, described, RIDGE_KERNEL_BUFFERS);
    for (i = 0; i < described && status == RIDGE_OK; i++)
        status = check_buffer(kernel, buffers, i, err);
    if (status == RIDGE_OK)
        status = ridge_buffers_lay_out(at, buffers, described, err);
    if (status == RIDGE_OK)
        *count = described;
    return status;
}

ridge_status ridge_kernel_prepare(const ridge_kernel *kernel, const ridge_case *at,
                                  const ridge_view *view, void **state, struct CUstream_st *stream,
                                  ridge_error *err)
{
    *state = NULL;
    return kernel->prepare != NULL ? kernel->prepare(kernel, at, view, state, stream, err)
                                   : RIDGE_OK;
}

void ridge_kernel_finish(const ridge_kernel *kernel, void *state)
{
    if (kernel->finish != NULL)
        kernel->finish(kernel, state);
}

const ridge_kernel *ridge_family_variant(const ridge_family *family, const char *name)
{
    const size_t length = strlen(family->name);

    for (size_t i = 0; i < family->variant_count; i++) {
        const char *const whole = family->variants[i]->name;
        const bool has_family = strncmp(whole, family->name, length) == 0 && whole[length] == ':';

        if (strcmp(whole, name) == 0 || (has_family && strcmp(whole + length + 1, name) == 0))
            return family->variants[i];
    }
    return NULL;
}
