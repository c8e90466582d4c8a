/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of the harness: a table of functions for each kind of device, which harness.c calls,
 * and on a GPU the functions of the modules that ridge brings along. */
#ifndef RIDGE_HARNESS_H
#define RIDGE_HARNESS_H

#include "device/device_internal.h"

/* Names and parameters are those of ridge/device.h; sizes are not 0. */
typedef struct harness_ops {
    ridge_status (*fill)(ridge_device *device, ridge_stream *stream,
                         const ridge_buffer_desc *buffer, ridge_values values, void *data,
                         uint64_t seed, ridge_error *err);
    ridge_status (*set_words)(ridge_device *device, ridge_stream *stream, void *data,
                              size_t size_bytes, uint32_t value, ridge_error *err);
    ridge_status (*pattern)(ridge_device *device, ridge_stream *stream, void *data,
                            size_t size_bytes, uint64_t seed, ridge_error *err);
    ridge_status (*pattern_check)(ridge_device *device, ridge_stream *stream, const void *data,
                                  size_t size_bytes, uint64_t seed, uint64_t *wrong_bytes,
                                  uint64_t *first_offset, ridge_error *err);
    ridge_status (*hash)(ridge_device *device, ridge_stream *stream, const void *data,
                         size_t size_bytes, uint64_t *out, ridge_error *err);
    /* NULL, all of these: there is nothing to do. */
    ridge_status (*gate_close)(ridge_device *device, ridge_stream *stream, ridge_error *err);
    void (*gate_open)(ridge_device *device);
    ridge_status (*empty)(ridge_device *device, ridge_stream *stream, unsigned grid, unsigned block,
                          ridge_error *err);
    ridge_status (*scrub_shared)(ridge_device *device, ridge_stream *stream, ridge_error *err);
    /* end: false at the begin. */
    ridge_status (*clock_note)(ridge_device *device, ridge_stream *stream, bool end,
                               ridge_error *err);
    double (*clock_read)(ridge_device *device, ridge_stream *stream);
    void (*free)(ridge_device *device); /* device->harness, which is not NULL */
} harness_ops;

extern const harness_ops HARNESS_CPU, HARNESS_CUDA;

/* -- on a GPU ---------------------------------------------------------------------------------- */

/* Entries of the modules: harness_<name>. X(name, module) */
/* clang-format off */
#define HARNESS_FUNCTION_LIST(X)                                                                   \
    X(fill, 0) X(set_words, 0) X(pattern, 0) X(pattern_check, 0) X(hash, 0) X(gate, 0)            \
    X(empty, 0) X(scrub, 0) X(clock, 0)                                                            \
    X(copy0, 0) X(copy1, 0) X(read0, 0) X(read1, 0) X(fma0, 0) X(fma1, 0)                          \
    X(tiny0, 0) X(tiny1, 0) X(mma0, 1) X(mma1, 1)
/* clang-format on */

typedef enum harness_function {
#define HARNESS_FUNCTION_ENUM(name, module) HARNESS_##name,
    HARNESS_FUNCTION_LIST(HARNESS_FUNCTION_ENUM)
#undef HARNESS_FUNCTION_ENUM
        HARNESS_FUNCTION_COUNT
} harness_function;

enum { HARNESS_MODULES = 2 };

/* harness_ptx.c, made by make_ptx.sh from harness_kernels.cu and harness_mma.cu: lines, NULL behind
 * the last. */
extern const char *const *const HARNESS_PTX[HARNESS_MODULES];
extern const int HARNESS_PTX_SM[HARNESS_MODULES]; /* the least it runs on: 75 */

/* Loads the modules on a GPU, once; launches do so too, but not while a stream is captured. */
ridge_status harness_prepare(ridge_device *device, ridge_error *err);

/* At least threads threads in blocks of block. Kernels step by the grid, so there may be fewer
 * blocks than that. */
ridge_status harness_launch(ridge_device *device, struct CUstream_st *stream,
                            harness_function function, uint64_t threads, unsigned block,
                            void *const *parameters, ridge_error *err);

#endif
