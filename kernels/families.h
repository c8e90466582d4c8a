/* SPDX-License-Identifier: Apache-2.0
 *
 * What the folders of kernels/ give to the registry. */
#ifndef KERNELS_FAMILIES_H
#define KERNELS_FAMILIES_H

#include "ridge/family.h"

extern const ridge_family rms_norm_family;

#endif
