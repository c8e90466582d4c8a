/* SPDX-License-Identifier: Apache-2.0
 *
 * Redaction of a native report: what it writes can be redacted again. Whether source text is dropped
 * comes from the size of the input, so that both ways run. */
#include <stdint.h>
#include <stdlib.h>

#include "ridge/redact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    const unsigned flags = size_bytes % 4;
    ridge_redaction summary;
    uint8_t *bytes, *again;
    size_t bytes_size, again_size;

    if (ridge_report_redact(data, size_bytes, flags, &bytes, &bytes_size, &summary, NULL) !=
        RIDGE_OK) {
        if (bytes != NULL || bytes_size != 0)
            abort();
        return 0;
    }
    if (ridge_report_redact(bytes, bytes_size, flags, &again, &again_size, &summary, NULL) !=
        RIDGE_OK)
        abort();
    /* Nothing but paths is left to replace, and those keep their length. */
    if (again_size != bytes_size || summary.command_line_count + summary.setting_count != 0)
        abort();
    ridge_redact_free(bytes);
    ridge_redact_free(again);
    return 0;
}
