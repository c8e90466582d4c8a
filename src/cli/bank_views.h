/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of ridge banks share: the question, and its three answers. */
#ifndef RIDGE_CLI_BANK_VIEWS_H
#define RIDGE_CLI_BANK_VIEWS_H

#include "options.h"
#include "ridge/banks.h"

/* What the command line asked for. */
struct bank_request {
    ridge_bank_tile tile;
    ridge_bank_pattern patterns[RIDGE_BANKS_MOST_PATTERNS];
    size_t pattern_count;
    size_t top;
    size_t align_bytes;
    bool picture;       /* of every access; otherwise of the only one, where it is small */
    bool whole_picture; /* however many wavefronts */
    struct gpu_choice gpu;
    size_t threads, registers, copies;
    uint64_t other_bytes; /* shared memory besides the tiles */
    struct kernel_filter filter;
    const char *report, *pc, *line;
    const char *svg; /* where to draw the only access */
    bool force;
};

/* "64x128 bf16, stride 136 (272 B)"; 200 bytes are enough. */
char *bank_tile_text(const ridge_bank_tile *tile, char *buffer, size_t size);
void bank_tile_json(ridge_json *json, const char *key, const ridge_bank_tile *tile);
void bank_result_json(ridge_json *json, const ridge_bank_pattern *pattern,
                      const ridge_bank_result *result);

/* The lanes over the banks in the worst step of an access. */
ridge_status bank_print_picture(ridge_output *output, const ridge_bank_tile *tile,
                                const ridge_bank_pattern *pattern, const ridge_bank_result *result,
                                bool whole, ridge_error *err);

/* The same into the file of --svg; returns an exit status. */
int bank_draw_svg(const struct bank_request *request, const ridge_bank_pattern *pattern,
                  const ridge_bank_result *result);

/* The answers; each opens and closes the output and returns the exit status. */
int bank_show_solution(const struct bank_request *request, const struct cli_output *out);
int bank_show_report(const struct bank_request *request, const struct cli_output *out);

#endif
