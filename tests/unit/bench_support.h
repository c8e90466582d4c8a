/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of the CPU device that take a known time: out = 2 in, then a busy wait. What else they
 * do is a hook, which is how the ways to cheat are written. */
#ifndef RIDGE_TESTS_BENCH_SUPPORT_H
#define RIDGE_TESTS_BENCH_SUPPORT_H

#include <math.h>
#include <sys/syscall.h>
#include <time.h>

#include "cases.h"
#include "ridge/bench.h"

enum { SPIN_ELEMENTS = 256, SPIN_SETS = 256 };

typedef struct spin spin;

struct spin {
    ridge_kernel kernel; /* its context is the spin */
    double spin_ns;
    /* Instead of out = 2 in; NULL: that. index: of the set, in the order they were prepared. */
    ridge_status (*compute)(spin *self, int index, const float *in, float *out, ridge_error *err);
    ridge_kernel_work work; /* when has_work */
    bool has_work;
    ridge_role out_role;
    int prepared, finished, launched;
    struct {
        const float *in;
        float *out;
    } sets[SPIN_SETS]; /* since the last placement */
    int set_count;
    int last;   /* for compute */
    void *data; /* for compute */
};

/* The clock of these programs, library and all, is the time that their thread had on a core: a busy
 * machine takes turns, and what a launch waited for its turn is not the kernel's. */
long syscall(long number, ...); /* hidden by _POSIX_C_SOURCE */
int clock_gettime(clockid_t which, struct timespec *out);
int clock_gettime(clockid_t which, struct timespec *out)
{
    return (int)syscall(SYS_clock_gettime,
                        which == CLOCK_MONOTONIC ? CLOCK_THREAD_CPUTIME_ID : which, out);
}

static inline double spin_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static inline void spin_double(const float *in, float *out)
{
    int i;

    for (i = 0; i < SPIN_ELEMENTS; i++)
        out[i] = 2 * in[i];
}

static inline ridge_status spin_describe(const ridge_kernel *self, const ridge_case *at,
                                         ridge_buffer_desc *buffers, size_t *count,
                                         ridge_error *err)
{
    const spin *const own = self->context;

    (void)at;
    (void)err;
    buffers[0] = (ridge_buffer_desc){
        .name = "in", .dtype = RIDGE_DTYPE_F32, .ndim = 1, .shape = {SPIN_ELEMENTS}};
    buffers[1] = buffers[0];
    buffers[1].role = own->out_role;
    memcpy(buffers[1].name, "out", 4);
    *count = 2;
    return RIDGE_OK;
}

static inline ridge_status spin_work(const ridge_kernel *self, const ridge_case *at,
                                     ridge_kernel_work *out, ridge_error *err)
{
    const spin *const own = self->context;

    (void)at;
    (void)err;
    *out = own->work;
    return RIDGE_OK;
}

static inline ridge_status spin_reference(const ridge_kernel *self, const ridge_case *at,
                                          const ridge_reference_view *view, ridge_error *err)
{
    int i;

    (void)self;
    (void)at;
    (void)err;
    for (i = 0; i < SPIN_ELEMENTS; i++)
        view->out[1][i] = 2 * view->in[0][i];
    return RIDGE_OK;
}

static inline ridge_status spin_prepare(const ridge_kernel *self, const ridge_case *at,
                                        const ridge_view *view, void **state,
                                        struct CUstream_st *stream, ridge_error *err)
{
    spin *const own = self->context;

    (void)at;
    (void)stream;
    (void)err;
    assert_true(own->set_count < SPIN_SETS);
    own->sets[own->set_count].in = view->data[0];
    own->sets[own->set_count].out = view->data[1];
    *state = &own->sets[own->set_count++];
    own->prepared++;
    return RIDGE_OK;
}

static inline void spin_finish(const ridge_kernel *self, void *state)
{
    spin *const own = self->context;

    (void)state;
    if (++own->finished == own->prepared)
        own->set_count = 0; /* the placement is gone */
}

static inline ridge_status spin_launch(const ridge_kernel *self, const ridge_case *at,
                                       const ridge_view *view, void *state,
                                       struct CUstream_st *stream, ridge_error *err)
{
    const double begin_ns = spin_now_ns();
    spin *const own = self->context;
    ridge_status status = RIDGE_OK;
    int index = -1, i;

    (void)at;
    (void)state;
    (void)stream;
    own->launched++;
    for (i = 0; i < own->set_count && own->compute != NULL && index < 0; i++)
        if (own->sets[i].out == view->data[1])
            index = i;
    if (own->compute != NULL)
        status = own->compute(own, index, view->data[0], view->data[1], err);
    else
        spin_double(view->data[0], view->data[1]);
    while (spin_now_ns() - begin_ns < own->spin_ns)
        ;
    return status;
}

static inline void spin_init(spin *out, const char *name, double spin_us)
{
    *out = (spin){.kernel = {.struct_size = sizeof(ridge_kernel),
                             .name = name,
                             .describe = spin_describe,
                             .prepare = spin_prepare,
                             .launch = spin_launch,
                             .finish = spin_finish},
                  .spin_ns = spin_us * 1e3,
                  .out_role = RIDGE_ROLE_OUT,
                  .last = -1};
    out->kernel.context = out;
}

static inline ridge_bench_arm spin_arm(const spin *own)
{
    return (ridge_bench_arm){&own->kernel, own->kernel.name, ""};
}

/* Few placements of few blocks; the sets are two, as one is said to be larger than any cache. */
static inline ridge_bench_options spin_options(void)
{
    return (ridge_bench_options){
        .pilot = 3, .blocks = 2, .most = 6, .budget_s = 2, .seed = 7, .delta = 0.01};
}

#endif
