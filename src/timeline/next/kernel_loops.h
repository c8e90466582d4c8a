/* SPDX-License-Identifier: Apache-2.0
 *
 * Work that numbers decide as well as tensors. */
#ifndef RIDGE_TIMELINE_KERNEL_LOOPS_H
#define RIDGE_TIMELINE_KERNEL_LOOPS_H

#include "timeline/next/kernel_shapes.h"

/* Of a kernel that torch.compile wrote; operation is its name. */
bool loops_triton_work(const char *operation, const char *kernel, const shapes_tensor *tensors,
                       size_t count, ridge_work *out);

/* [batch, channels, ...] by [outputs, channels / groups, ...]. places: of padding, stride, dilation,
 * groups among the tensors; element: what the kernel multiplies. */
bool loops_convolution_work(const shapes_tensor *tensors, size_t count, const size_t places[4],
                            const char *kernel, ridge_element element, ridge_work *out);

#endif
