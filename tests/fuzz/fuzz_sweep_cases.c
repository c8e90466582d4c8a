/* SPDX-License-Identifier: Apache-2.0
 *
 * Sweeps as typed: whatever is accepted is a bounded number of cases, each with every axis. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ridge/session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void check(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    char text[512];
    char **cases;
    size_t count, i;

    if (size_bytes >= sizeof(text))
        return 0;
    memcpy(text, data, size_bytes);
    text[size_bytes] = '\0';
    if (ridge_sweep_cases(text, &cases, &count, NULL) != RIDGE_OK) {
        check(cases == NULL && count == 0);
        return 0;
    }
    check(count >= 1 && count <= RIDGE_SWEEP_CASES);
    for (i = 0; i < count; i++)
        check(strlen(cases[i]) < RIDGE_CASE_TEXT && strchr(cases[i], '=') != NULL);
    ridge_sweep_cases_free(cases);
    return 0;
}
