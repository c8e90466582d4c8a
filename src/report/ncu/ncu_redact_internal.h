/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the redaction of reports share, besides the names of base/redact_names.h. */
#ifndef RIDGE_NCU_REDACT_INTERNAL_H
#define RIDGE_NCU_REDACT_INTERNAL_H

#include "base/redact_names.h"
#include "ridge/redact.h"

/* All of a cubin. What is no cubin is taken as binary data; to as in redact_paths_in(). */
void redact_cubin(redact_names *names, ridge_slice binary, uint8_t *to);

#endif
