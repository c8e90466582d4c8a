/* SPDX-License-Identifier: Apache-2.0
 *
 * A plug-in whose kernels are right, and then do what a kernel must not: built once, loaded by the
 * tests of a session. All of them double m numbers on the CPU. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ridge/family.h"

enum deed {
    GOOD,
    SLOW,
    CRASH,
    ABORT,
    EXIT,
    HANG,
    EARLY,
    SHORT,
    PRINT,
    ALLOCATE,
    NO_STATUS,
    NO_WORD,
    NO_END,
    NO_MEMORY, /* in its second case, of m=7 */
    STRIDES    /* ignores them */
};

static ridge_status describe(const ridge_kernel *self, const ridge_case *at,
                             ridge_buffer_desc *buffers, size_t *count, ridge_error *err)
{
    const int64_t m = ridge_case_axis(at, "m", 64);

    (void)err;
    memset(buffers, 0, 2 * sizeof(*buffers));
    memcpy(buffers[0].name, "out", 4);
    buffers[0].role = RIDGE_ROLE_OUT;
    memcpy(buffers[1].name, "x", 2);
    buffers[1].role = RIDGE_ROLE_IN;
    buffers[0].dtype = buffers[1].dtype = RIDGE_DTYPE_F32;
    buffers[0].ndim = buffers[1].ndim = 1;
    buffers[0].shape[0] = buffers[1].shape[0] = m;
    /* The loops below know no strides. */
    buffers[0].keeps_layout = buffers[1].keeps_layout = true;
    if (*(const enum deed *)self->context == STRIDES)
        for (int i = 0; i < 2; i++) {
            buffers[i].ndim = 2;
            buffers[i].shape[1] = 1;
            buffers[i].keeps_layout = false;
        }
    *count = 2;
    return RIDGE_OK;
}

static ridge_status work(const ridge_kernel *self, const ridge_case *at, ridge_kernel_work *out,
                         ridge_error *err)
{
    const double bytes = 4 * (double)ridge_case_axis(at, "m", 64);

    (void)self, (void)err;
    *out = (ridge_kernel_work){.read_bytes = bytes, .written_bytes = bytes, .footprint_bytes = 0};
    return RIDGE_OK;
}

static ridge_status reference(const ridge_kernel *self, const ridge_case *at,
                              const ridge_reference_view *view, ridge_error *err)
{
    const int64_t m = ridge_case_axis(at, "m", 64);

    (void)self, (void)err;
    for (int64_t i = 0; i < m; i++)
        view->out[0][i] = 2 * view->in[1][i];
    return RIDGE_OK;
}

static void twice(const ridge_case *at, const ridge_view *view, int64_t count)
{
    float *const out = view->data[0];
    const float *const x = view->data[1];

    (void)at;
    for (int64_t i = 0; i < count; i++)
        out[i] = 2 * x[i];
}

static ridge_status launch(const ridge_kernel *self, const ridge_case *at, const ridge_view *view,
                           void *state, struct CUstream_st *stream, ridge_error *err)
{
    const int64_t m = ridge_case_axis(at, "m", 64);
    const enum deed deed = *(const enum deed *)self->context;
    static volatile int *nowhere;
    static void *leak;
    int again;

    (void)state, (void)stream, (void)err;
    switch (deed) {
    case CRASH:
        *nowhere = 1;
        break;
    case ABORT:
        abort();
    case EXIT:
        exit(0);
    case HANG:
        for (;;)
            pause();
    case EARLY:
        return RIDGE_OK;
    case PRINT:
        printf("hello from a kernel\n");
        break;
    case ALLOCATE:
        free(leak);
        leak = malloc(1 << 20);
        break;
    case NO_STATUS:
        return (ridge_status)4711;
    case NO_WORD:
        return RIDGE_ERR_CUDA;
    case NO_END:
        memset(err->text, 'x', sizeof(err->text));
        return RIDGE_ERR_CUDA;
    case NO_MEMORY:
        if (m == 7)
            return RIDGE_ERR_OUT_OF_MEMORY;
        break;
    default:
        break;
    }
    for (again = 0; again < (deed == SLOW ? 8 : 1); again++)
        twice(at, view, deed == SHORT && m > 0 ? m - 1 : m);
    return RIDGE_OK;
}

static enum deed deeds[] = {GOOD,  SLOW,     CRASH,     ABORT,   EXIT,   HANG,      EARLY,  SHORT,
                            PRINT, ALLOCATE, NO_STATUS, NO_WORD, NO_END, NO_MEMORY, STRIDES};

#define KERNEL(index, text)                                                                        \
    {                                                                                              \
        .struct_size = sizeof(ridge_kernel), .name = text, .describe = describe, .work = work,     \
        .launch = launch, .reference = reference, .context = &deeds[index]                         \
    }
static const ridge_kernel kernels[] = {
    KERNEL(GOOD, "good"),         KERNEL(SLOW, "slow"),           KERNEL(CRASH, "crash"),
    KERNEL(ABORT, "abort"),       KERNEL(EXIT, "exit"),           KERNEL(HANG, "hang"),
    KERNEL(EARLY, "early"),       KERNEL(SHORT, "short"),         KERNEL(PRINT, "print"),
    KERNEL(ALLOCATE, "allocate"), KERNEL(NO_STATUS, "no_status"), KERNEL(NO_WORD, "no_word"),
    KERNEL(NO_END, "no_end"),     KERNEL(NO_MEMORY, "no_memory"), KERNEL(STRIDES, "strides"),
};

const ridge_kernel *ridge_plugin(int abi, size_t index)
{
    return abi == RIDGE_PLUGIN_ABI && index < sizeof(kernels) / sizeof(kernels[0]) ? &kernels[index]
                                                                                   : NULL;
}
