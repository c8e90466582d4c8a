/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge bench --roofs. */
#ifndef RIDGE_CLI_BENCH_ROOFS_H
#define RIDGE_CLI_BENCH_ROOFS_H

#include "options.h"

/* Measures and prints floors and roofs of a device; save_path: where the file for ridge bound
 * --measured goes, or NULL. Returns the exit status. */
int bench_roofs(const char *device, const char *save_path, bool force,
                const struct cli_output *out);

#endif
