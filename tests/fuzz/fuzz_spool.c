/* SPDX-License-Identifier: Apache-2.0
 *
 * What a recorded process left, which may have died in the middle of a write. */
#include "collect/collect_internal.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const ridge_collect_options options = {.command_count = 0};
    const ridge_slice spool = {data, size};
    ridge_collect_totals totals = {.process_count = 0};
    ridge_error err = {RIDGE_OK, ""};

    if (collect_merge_bytes(&spool, 1, ":memory:", &options, &totals, &err) != RIDGE_OK)
        abort();
    if (totals.process_count != 1 || totals.span_ns < 0 || totals.handle_ns < 0)
        abort();
    return 0;
}
