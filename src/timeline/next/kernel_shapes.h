/* SPDX-License-Identifier: Apache-2.0
 *
 * The tensors of an operation, from the text of ridge_trace_range.shapes. */
#ifndef RIDGE_TIMELINE_KERNEL_SHAPES_H
#define RIDGE_TIMELINE_KERNEL_SHAPES_H

#include <stdbool.h>
#include <stddef.h>

#include "ridge/bound.h"

/* PyTorch leaves out lists of more than 30 tensors; an optimiser has six lists. */
enum { SHAPES_MOST_TENSORS = 192, SHAPES_MOST_DIMENSIONS = 8 };

typedef struct shapes_tensor {
    double size_bytes; /* of an element; 0: a number */
    bool is_known;     /* element is */
    bool is_bool;
    bool is_listed; /* one of a list: the trace does not tell its type */
    ridge_element element;
    size_t rank;
    double dims[SHAPES_MOST_DIMENSIONS];
    double expansion;  /* elements that are one in memory: the product of extents of stride 0 */
    const char *value; /* of a number: behind the '='; NULL: none is known */
} shapes_tensor;

/* listed_bytes: of an element of tensors in lists; 0: not known. The count; 0 when any of them cannot
 * be read: bytes would be missing. */
size_t shapes_read(const char *shapes, double listed_bytes, shapes_tensor *tensors);
/* Up to size numbers of a value, "[2,2]" or "2"; their count, 0 where it is something else. */
size_t shapes_numbers(const shapes_tensor *of, double *numbers, size_t size);
bool shapes_is(const shapes_tensor *of, const char *value); /* "False" */
double shapes_elements(const shapes_tensor *of);
/* Of what is stored: an element that is stretched along a dimension is there once. */
double shapes_bytes(const shapes_tensor *of);

/* Of an element, by the first argument of a template that follows word in a kernel's name, as
 * "OpaqueType<2u>", "float"; *rest is behind it. 0: there is none that is known. */
double shapes_template_bytes(const char *kernel, const char *word, const char **rest);

#endif
