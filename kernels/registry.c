/* SPDX-License-Identifier: Apache-2.0
 *
 * Every family of this tree, by name. */
#include "ridge/kernels/registry.h"

#include "families.h"

static const ridge_family *const families[] = {
    &rms_norm_family,
    NULL,
};

const ridge_family *const *ridge_kernels_families(void)
{
    return families;
}

const char *ridge_kernels_cuda(void)
{
    return RIDGE_KERNELS_CUDA;
}
