/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of this tree (libridge_kernels), as families for ridge check, bench and compare: one
 * operation, several variants, best first. README.md in each folder of kernels/ has the formula.
 *
 *     ridge_kernels_families() -> ridge_family -> ridge_kernel
 *
 * Variants for the CPU answer RIDGE_ERR_UNSUPPORTED from prepare() and launch() on a GPU and the
 * other way round, as they do for a problem that is not theirs: the first variant whose prepare()
 * does not refuse is what the bare name of a family means. */
#ifndef RIDGE_KERNELS_REGISTRY_H
#define RIDGE_KERNELS_REGISTRY_H

#include "ridge/family.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Ends with NULL; static. */
const ridge_family *const *ridge_kernels_families(void);

/* What was compiled for GPUs: "sm_80 sm_90a, PTX for newer ones"; "" in a build that found no nvcc,
 * whose variants for GPUs then refuse and say so. */
const char *ridge_kernels_cuda(void);

#ifdef __cplusplus
}
#endif
#endif
