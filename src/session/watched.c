/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel in front of another: it notes in the black box which function of which arm runs, and
 * passes the call on. A note is two relaxed stores, about a nanosecond, the same for both arms. */
#include <string.h>

#include "session/session_internal.h"

/* kernel is the first member, so a pointer to it is one to the whole. */
static const session_watched *watched_of(const ridge_kernel *self)
{
    return (const session_watched *)(const void *)self;
}

static const ridge_kernel *enter(const ridge_kernel *self, session_call call)
{
    const session_watched *const watched = watched_of(self);
    session_box *const box = watched->child->box;

    atomic_store_explicit(&box->arm, watched->arm, memory_order_relaxed);
    atomic_store_explicit(&box->call, call, memory_order_relaxed);
    return watched->inner;
}

static void leave(const ridge_kernel *self)
{
    session_box *const box = watched_of(self)->child->box;

    atomic_store_explicit(&box->call, SESSION_CALL_NONE, memory_order_relaxed);
    /* One thread writes it: no need for a locked addition. */
    atomic_store_explicit(&box->beats, atomic_load_explicit(&box->beats, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

static ridge_status describe(const ridge_kernel *self, const ridge_case *at,
                             ridge_buffer_desc *buffers, size_t *count, ridge_error *err)
{
    const ridge_kernel *const inner = enter(self, SESSION_CALL_DESCRIBE);
    const ridge_status status = inner->describe(inner, at, buffers, count, err);

    leave(self);
    return status;
}

static ridge_status work(const ridge_kernel *self, const ridge_case *at, ridge_kernel_work *out,
                         ridge_error *err)
{
    const ridge_kernel *const inner = enter(self, SESSION_CALL_WORK);
    const ridge_status status = inner->work(inner, at, out, err);

    leave(self);
    return status;
}

static ridge_status prepare(const ridge_kernel *self, const ridge_case *at, const ridge_view *view,
                            void **state, struct CUstream_st *stream, ridge_error *err)
{
    const ridge_kernel *const inner = enter(self, SESSION_CALL_PREPARE);
    const ridge_status status = inner->prepare(inner, at, view, state, stream, err);

    leave(self);
    return status;
}

static ridge_status launch(const ridge_kernel *self, const ridge_case *at, const ridge_view *view,
                           void *state, struct CUstream_st *stream, ridge_error *err)
{
    const ridge_kernel *const inner = enter(self, SESSION_CALL_LAUNCH);
    const ridge_status status = inner->launch(inner, at, view, state, stream, err);

    leave(self);
    return status;
}

static void finish(const ridge_kernel *self, void *state)
{
    const ridge_kernel *const inner = enter(self, SESSION_CALL_FINISH);

    inner->finish(inner, state);
    leave(self);
}

static ridge_status reference(const ridge_kernel *self, const ridge_case *at,
                              const ridge_reference_view *view, ridge_error *err)
{
    const ridge_kernel *const inner = enter(self, SESSION_CALL_REFERENCE);
    const ridge_status status = inner->reference(inner, at, view, err);

    leave(self);
    return status;
}

static ridge_status plain(const ridge_kernel *self, const ridge_case *at,
                          const ridge_reference_view *view, ridge_error *err)
{
    const ridge_kernel *const inner = enter(self, SESSION_CALL_PLAIN);
    const ridge_status status = inner->plain(inner, at, view, err);

    leave(self);
    return status;
}

static ridge_status fill(const ridge_kernel *self, const ridge_case *at, size_t buffer_index,
                         double *elements, uint64_t seed, ridge_error *err)
{
    const ridge_kernel *const inner = enter(self, SESSION_CALL_FILL);
    const ridge_status status = inner->fill(inner, at, buffer_index, elements, seed, err);

    leave(self);
    return status;
}

void session_watch(session_watched *watched, const ridge_kernel *inner, session_child *child,
                   int arm)
{
    watched->inner = inner;
    watched->child = child;
    watched->arm = arm;
    watched->kernel = (ridge_kernel){
        .struct_size = sizeof(ridge_kernel),
        .name = inner->name,
        .describe = describe,
        .launch = launch,
        .work = inner->work != NULL ? work : NULL,
        .prepare = inner->prepare != NULL ? prepare : NULL,
        .finish = inner->finish != NULL ? finish : NULL,
        .reference = inner->reference != NULL ? reference : NULL,
        .plain = inner->plain != NULL ? plain : NULL,
        .fill = inner->fill != NULL ? fill : NULL,
        .row_axis = inner->row_axis,
    };
}
