/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel in front of another: it notes in the black box which function of which arm runs, and
 * passes the call on. A note is two relaxed stores, about a nanosecond, the same for both arms. What a
 * kernel answers is foreign: a status that is none, or a failure without a word, gets its words here. */
#include <stdio.h>
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

static ridge_status refused(const ridge_kernel *self, const char *function, ridge_status status,
                            ridge_error *said, ridge_error *err)
{
    const char *const name = ridge_status_name(status);
    const bool is_status = status != RIDGE_ERR_INTERNAL && strcmp(name, "unknown") != 0;

    said->text[sizeof(said->text) - 1] = '\0';
    if (!is_status)
        return ridge_fail(err, RIDGE_ERR_CUDA,
                          "%s() of %.80s answers status %d, expected one of ridge/status.h%s%.200s",
                          function, self->name, (int)status, said->text[0] != '\0' ? ": " : "",
                          said->text);
    if (said->text[0] == '\0')
        return ridge_fail(err, status, "%s() of %.80s answers %s without a message", function,
                          self->name, name);
    /* A refusal is shown beside the kernel's name already. */
    return ridge_status_is_refusal(status)
               ? ridge_fail(err, status, "%s", said->text)
               : ridge_fail(err, status, "%s() of %.80s: %s", function, self->name, said->text);
}

/* Inline: between a slot's launches nothing but the comparison is added. */
static inline ridge_status answer(const ridge_kernel *self, const char *function,
                                  ridge_status status, ridge_error *said, ridge_error *err)
{
    leave(self);
    return status == RIDGE_OK ? RIDGE_OK : refused(self, function, status, said, err);
}

static ridge_status describe(const ridge_kernel *self, const ridge_case *at,
                             ridge_buffer_desc *buffers, size_t *count, ridge_error *err)
{
    const ridge_kernel *const inner = enter(self, SESSION_CALL_DESCRIBE);
    ridge_error said;
    ridge_status status;

    said.text[0] = '\0';
    status = inner->describe(inner, at, buffers, count, &said);
    if (ridge_status_is_refusal(status) && said.text[0] == '\0')
        snprintf(said.text, sizeof(said.text),
                 "describe() refused dtype=%s,layout=%s and does not say why: try --case dtype=%s",
                 ridge_dtype_name(at->dtype), ridge_layout_name(at->layout),
                 at->dtype == RIDGE_DTYPE_F32 ? "bf16" : "f32");
    return answer(self, "describe", status, &said, err);
}

static ridge_status work(const ridge_kernel *self, const ridge_case *at, ridge_kernel_work *out,
                         ridge_error *err)
{
    const ridge_kernel *const inner = enter(self, SESSION_CALL_WORK);
    ridge_error said;
    ridge_status status;

    said.text[0] = '\0';
    status = inner->work(inner, at, out, &said);
    return answer(self, "work", status, &said, err);
}

static ridge_status prepare(const ridge_kernel *self, const ridge_case *at, const ridge_view *view,
                            void **state, struct CUstream_st *stream, ridge_error *err)
{
    const ridge_kernel *const inner = enter(self, SESSION_CALL_PREPARE);
    ridge_error said;
    ridge_status status;

    said.text[0] = '\0';
    status = inner->prepare(inner, at, view, state, stream, &said);
    return answer(self, "prepare", status, &said, err);
}

static ridge_status launch(const ridge_kernel *self, const ridge_case *at, const ridge_view *view,
                           void *state, struct CUstream_st *stream, ridge_error *err)
{
    const ridge_kernel *const inner = enter(self, SESSION_CALL_LAUNCH);
    ridge_error said;
    ridge_status status;

    said.text[0] = '\0';
    status = inner->launch(inner, at, view, state, stream, &said);
    return answer(self, "launch", status, &said, err);
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
    ridge_error said;
    ridge_status status;

    said.text[0] = '\0';
    status = inner->reference(inner, at, view, &said);
    return answer(self, "reference", status, &said, err);
}

static ridge_status plain(const ridge_kernel *self, const ridge_case *at,
                          const ridge_reference_view *view, ridge_error *err)
{
    const ridge_kernel *const inner = enter(self, SESSION_CALL_PLAIN);
    ridge_error said;
    ridge_status status;

    said.text[0] = '\0';
    status = inner->plain(inner, at, view, &said);
    return answer(self, "plain", status, &said, err);
}

static ridge_status fill(const ridge_kernel *self, const ridge_case *at, size_t buffer_index,
                         double *elements, uint64_t seed, ridge_error *err)
{
    const ridge_kernel *const inner = enter(self, SESSION_CALL_FILL);
    ridge_error said;
    ridge_status status;

    said.text[0] = '\0';
    status = inner->fill(inner, at, buffer_index, elements, seed, &said);
    return answer(self, "fill", status, &said, err);
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
