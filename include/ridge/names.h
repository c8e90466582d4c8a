/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of kernels as people write them. Compiled code holds mangled names alone. */
#ifndef RIDGE_NAMES_H
#define RIDGE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the name of a function with its namespaces and template arguments into buffer, without
 * return type and parameters: "norm_kernel<__nv_bfloat16, 4>" for
 * "_Z11norm_kernelI13__nv_bfloat16Li4EEvPKT_". Numbers as arguments stand without their type. Reads
 * the names of kernels and of what stands in them (Itanium C++ ABI, 5.1); what it does not know, and
 * what is not mangled, it copies, and returns false. Cut to size - 1 characters; size is not 0. */
bool ridge_name_short(const char *mangled, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
