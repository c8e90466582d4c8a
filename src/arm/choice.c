/* SPDX-License-Identifier: Apache-2.0
 *
 * The bare name of a family: for each set of buffers the first variant that does not refuse them,
 * which depends on the device, the strides and the addresses. */
#include "arm/arm_internal.h"

typedef struct arm_choice {
    ridge_kernel kernel; /* what the arm shows; its context is this */
    const ridge_family *family;
} arm_choice;

/* Of a set of buffers. */
typedef struct chosen {
    const ridge_kernel *kernel;
    void *state; /* of the variant */
} chosen;

/* The last takes every legal case, so it knows best what is one. */
static const ridge_kernel *last_variant(const ridge_family *family)
{
    return family->variants[family->variant_count - 1];
}

static const ridge_kernel *last_of(const ridge_kernel *self)
{
    return last_variant(((const arm_choice *)self->context)->family);
}

static ridge_status choice_describe(const ridge_kernel *self, const ridge_case *at,
                                    ridge_buffer_desc *buffers, size_t *count, ridge_error *err)
{
    return last_of(self)->describe(last_of(self), at, buffers, count, err);
}

static ridge_status choice_work(const ridge_kernel *self, const ridge_case *at,
                                ridge_kernel_work *out, ridge_error *err)
{
    return last_of(self)->work(last_of(self), at, out, err);
}

static ridge_status choice_reference(const ridge_kernel *self, const ridge_case *at,
                                     const ridge_reference_view *view, ridge_error *err)
{
    return last_of(self)->reference(last_of(self), at, view, err);
}

static ridge_status choice_plain(const ridge_kernel *self, const ridge_case *at,
                                 const ridge_reference_view *view, ridge_error *err)
{
    return last_of(self)->plain(last_of(self), at, view, err);
}

static ridge_status choice_fill(const ridge_kernel *self, const ridge_case *at, size_t buffer_index,
                                double *elements, uint64_t seed, ridge_error *err)
{
    return last_of(self)->fill(last_of(self), at, buffer_index, elements, seed, err);
}

/* What is wrong in all variants is said by the last. */
static ridge_status choice_prepare(const ridge_kernel *self, const ridge_case *at,
                                   const ridge_view *view, void **state, struct CUstream_st *stream,
                                   ridge_error *err)
{
    const ridge_family *const family = ((const arm_choice *)self->context)->family;
    ridge_status status = RIDGE_ERR_UNSUPPORTED;
    chosen *const made = ridge_calloc(1, sizeof(*made));

    *state = NULL;
    if (made == NULL)
        return arm_out_of_memory(err);
    for (size_t i = 0; i < family->variant_count; i++) {
        made->kernel = family->variants[i];
        status = ridge_kernel_prepare(made->kernel, at, view, &made->state, stream, err);
        if (!ridge_status_is_refusal(status))
            break;
    }
    if (status != RIDGE_OK) {
        ridge_free(made);
        return status;
    }
    *state = made;
    return RIDGE_OK;
}

static ridge_status choice_launch(const ridge_kernel *self, const ridge_case *at,
                                  const ridge_view *view, void *state, struct CUstream_st *stream,
                                  ridge_error *err)
{
    const chosen *const made = state;

    (void)self;
    return made->kernel->launch(made->kernel, at, view, made->state, stream, err);
}

static void choice_finish(const ridge_kernel *self, void *state)
{
    chosen *const made = state;

    (void)self;
    if (made == NULL)
        return;
    ridge_kernel_finish(made->kernel, made->state);
    ridge_free(made);
}

/* Variants that differ in what they want are not one operation (probe), and without prepare() no
 * variant can refuse in time. */
static bool are_alternatives(const ridge_family *family)
{
    for (size_t i = 0; i + 1 < family->variant_count; i++)
        if (family->variants[i]->describe != last_variant(family)->describe ||
            family->variants[i]->prepare == NULL)
            return false;
    return family->variant_count > 1;
}

ridge_status arm_choose_variant(ridge_arm *arm, const ridge_family *family, ridge_error *err)
{
    const ridge_kernel *const last = last_variant(family);
    arm_choice *choice;

    if (!are_alternatives(family)) {
        arm->kernel = family->variants[0];
        return RIDGE_OK;
    }
    choice = ridge_alloc(&arm->arena, sizeof(*choice));
    if (choice == NULL)
        return arm_out_of_memory(err);
    choice->family = family;
    choice->kernel = (ridge_kernel){
        .struct_size = sizeof(ridge_kernel),
        .name = family->name,
        .describe = choice_describe,
        .work = last->work != NULL ? choice_work : NULL,
        .prepare = choice_prepare,
        .launch = choice_launch,
        .finish = choice_finish,
        .reference = last->reference != NULL ? choice_reference : NULL,
        .plain = last->plain != NULL ? choice_plain : NULL,
        .fill = last->fill != NULL ? choice_fill : NULL,
        .row_axis = last->row_axis,
        .context = choice,
    };
    arm->kernel = &choice->kernel;
    return RIDGE_OK;
}
