/* SPDX-License-Identifier: Apache-2.0
 *
 * compute-sanitizer around ridge check of small cases. */
#ifndef RIDGE_CLI_SANITIZER_H
#define RIDGE_CLI_SANITIZER_H

#include <stdbool.h>
#include <stddef.h>

#include "measure_cli.h"

enum sanitizer_verdict { SANITIZER_CLEAN, SANITIZER_ERRORS, SANITIZER_UNKNOWN };

/* Runs the four tools one after another on cases ("m=1,n=8;m=3,n=7"); says in words what came of it. False: one found something,
 * is missing, or said what is not understood. */
bool sanitizer_run(const struct measure *m, const char *cases, char *summary, size_t size);
/* What a line of a tool's output says; *count of errors or hazards. UNKNOWN: it is no summary. */
enum sanitizer_verdict sanitizer_line(const char *line, size_t *count);

#endif
