/* SPDX-License-Identifier: Apache-2.0
 *
 * What rms_norm is tested and timed on. Shapes are the family's default case and the matrix that
 * ridge_check_matrix() draws around it. */
#include "rms_norm_internal.h"

const ridge_dtype rms_norm_dtypes[RMS_NORM_DTYPES] = {RIDGE_DTYPE_BF16, RIDGE_DTYPE_F16,
                                                      RIDGE_DTYPE_F32};
