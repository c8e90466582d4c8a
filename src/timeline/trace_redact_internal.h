/* SPDX-License-Identifier: Apache-2.0
 *
 * The two formats behind ridge_trace_redact(). The file at out_path is there and empty; a failure
 * leaves it to the caller. summary is zero. Names are found and replaced with
 * base/redact_names.h. */
#ifndef RIDGE_TRACE_REDACT_INTERNAL_H
#define RIDGE_TRACE_REDACT_INTERNAL_H

#include "ridge/trace_redact.h"

ridge_status nsys_redact(const char *path, const char *out_path, ridge_trace_redaction *summary,
                         ridge_error *err);
ridge_status kineto_redact(const char *path, const char *out_path, ridge_trace_redaction *summary,
                           ridge_error *err);

#endif
