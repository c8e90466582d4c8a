/* SPDX-License-Identifier: Apache-2.0
 *
 * Kineto traces without what tells who made them. */
#include "timeline/trace_redact_internal.h"

ridge_status kineto_redact(const char *path, const char *out_path, ridge_trace_redaction *summary,
                           ridge_error *err)
{
    (void)path, (void)out_path, (void)summary;
    return ridge_fail(err, RIDGE_ERR_UNSUPPORTED, "not redacted yet");
}
