/* SPDX-License-Identifier: Apache-2.0
 *
 * Where CUPTI may be: what the user names, toolkits, the wheels that come with PyTorch. */
#ifndef RIDGE_CLI_FIND_CUPTI_H
#define RIDGE_CLI_FIND_CUPTI_H

#include <stdbool.h>
#include <stddef.h>

/* Libraries in the order in which they were found, one a line, each file once; what does not fit into
 * size is left out. root as in cli_find_file(): when it is not "", only its own places are looked
 * at. program: the one to be recorded, whose Python is looked at first; NULL: python3. False: none. */
bool cli_find_cupti(const char *root, const char *program, char *paths, size_t size);
/* "12" of ".../libcupti.so.12", the first of a list; "" when the name does not tell. */
void cli_cupti_version(const char *paths, char *out, size_t size);

#endif
