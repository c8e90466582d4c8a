/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs of the CUDA toolkit and others: on PATH, else where NVIDIA installs. */
#ifndef RIDGE_CLI_FIND_PROGRAM_H
#define RIDGE_CLI_FIND_PROGRAM_H

#include <stdbool.h>

enum { CLI_PATH_BYTES = 1024 };

/* A regular file that may be run. */
bool cli_is_program(const char *path);
/* The last match of a pattern below root ("": the machine's): of several versions the newest. */
bool cli_find_file(const char *root, const char *pattern, char path[CLI_PATH_BYTES]);
/* name: "ncu", "nvcc", "compute-sanitizer", "nvdisasm", "python3". is_on_path may be NULL. */
bool cli_find_program(const char *name, const char *root, char path[CLI_PATH_BYTES],
                      bool *is_on_path);

#endif
