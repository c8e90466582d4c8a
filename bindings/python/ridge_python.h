/* SPDX-License-Identifier: Apache-2.0
 *
 * What the Python package calls. ctypes sees numbers, addresses and text only, never a structure of
 * ridge: settings go in by name, results come out as JSON whose keys are the names of C fields.
 *
 *     ridge_python_create() -> ridge_python
 *     ridge_python_open("cuda"), _set("delta", 0.01), _arm(), _work()
 *     ridge_python_compare(call) -> 0, ridge_python_text() is the result
 *                                   or a ridge_status, ridge_python_error() says why
 *     ridge_python_free()
 *
 * Not for two threads at once. */
#ifndef RIDGE_PYTHON_H
#define RIDGE_PYTHON_H

#include <stddef.h>
#include <stdint.h>

#define RIDGE_PYTHON_API __attribute__((visibility("default")))

typedef struct ridge_python ridge_python;

/* What the callback is asked for. */
enum {
    RIDGE_PYTHON_PREPARE, /* set number of arm: values[0] = its CUgraph, [1] = its instance (0: ridge
                             makes one); both 0: it is called by the host */
    RIDGE_PYTHON_LAUNCH,  /* of a set without a graph, on stream (0: none) */
    RIDGE_PYTHON_FINISH,  /* the set is not launched on any more by arm */
    RIDGE_PYTHON_STOP,    /* anything but 0: end after the slot at hand */
    RIDGE_PYTHON_PROGRESS, /* text is the phase, values[0] of values[1] steps are done */
    /* Of ridge_python_serve(): */
    RIDGE_PYTHON_OPEN, /* arm is text: "module:function" */
    RIDGE_PYTHON_CASE, /* arm gets another case, text: "m=3,dtype=bf16".
                          values[0 ... 3] = bits of the doubles flop, read, written, footprint;
                          text becomes the type of the arrays, "" where there is no one type */
    RIDGE_PYTHON_CLOSE,
    RIDGE_PYTHON_AGREE, /* text becomes why the arms do not compute the same; "" */
    /* Of all three: */
    RIDGE_PYTHON_BEHIND, /* arm ends a slot; values[0] = its guards that are on, as below */
    RIDGE_PYTHON_AFTER   /* the run is over: values[0] = the guard that text is the cause of; 0 */
};
enum { RIDGE_PYTHON_REFILL = 1, RIDGE_PYTHON_OUTPUTS = 2, RIDGE_PYTHON_SHARED = 4 };

/* Returns 0, or a ridge_status with its message in text (size bytes). */
typedef int (*ridge_python_call)(int event, int arm, int64_t number, uint64_t stream,
                                 uint64_t *values, char *text, size_t size);

RIDGE_PYTHON_API const char *ridge_python_version(void);           /* "0.1.0" */
RIDGE_PYTHON_API const char *ridge_python_status_name(int status); /* "RIDGE_ERR_CUDA" */

RIDGE_PYTHON_API ridge_python *ridge_python_create(void); /* NULL: out of memory */
RIDGE_PYTHON_API void ridge_python_free(ridge_python *self);
RIDGE_PYTHON_API const char *ridge_python_error(const ridge_python *self); /* of the last failure */
RIDGE_PYTHON_API const char *ridge_python_text(const ridge_python *self);  /* of the last result */

/* As ridge_device_open(); the result is what the device is. */
RIDGE_PYTHON_API int ridge_python_open(ridge_python *self, const char *device);
/* A field of ridge_bench_options, or "without.GUARD". */
RIDGE_PYTHON_API int ridge_python_set(ridge_python *self, const char *name, double value);
RIDGE_PYTHON_API int ridge_python_arm(ridge_python *self, int arm, const char *name);
/* Of a launch; NAN: unknown. */
RIDGE_PYTHON_API int ridge_python_work(ridge_python *self, int arm, double flop_count,
                                       double read_bytes, double written_bytes,
                                       double footprint_bytes);
/* Arm 0 is the baseline, arm 1 the candidate. */
RIDGE_PYTHON_API int ridge_python_compare(ridge_python *self, ridge_python_call call);
RIDGE_PYTHON_API int ridge_python_measure(ridge_python *self, ridge_python_call call);

/* ridge_session_serve() for a session that a command began; values has four entries in CASE. */
RIDGE_PYTHON_API int ridge_python_serve(ridge_python *self, const char *folder,
                                        ridge_python_call call);

/* ridge_compare_arrays() of two contiguous arrays in the host's memory. ref has its own type.
 * previous (of dtype) and tile may be NULL; poison: the bits of an element that nobody wrote, when
 * has_poison. */
RIDGE_PYTHON_API int
ridge_python_compare_arrays(ridge_python *self, const char *name, const char *dtype,
                            const void *out, const char *ref_dtype, const void *ref,
                            const void *previous, int ndim, const int64_t *shape,
                            int64_t accumulate_length, double accumulate_unit, int is_exact,
                            double ulp_most, const int64_t *tile, int has_poison, uint64_t poison);

#endif
