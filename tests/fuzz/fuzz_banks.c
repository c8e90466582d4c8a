/* SPDX-License-Identifier: Apache-2.0
 *
 * The texts of ridge banks: a tile in the first line, accesses in the others, each simulated on the
 * tile. A line is also evaluated as an expression. */
#include "ridge/banks.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_BYTES = 2048, MOST_STEPS = 16 };

static void evaluate(const char *text)
{
    const ridge_bank_variable variables[] = {{"lane", 7}, {"i", -1}};
    int64_t values[2];
    ridge_error err;

    if (ridge_bank_evaluate(text, variables, 2, values, 2, &err) != RIDGE_OK &&
        (values[0] != 0 || values[1] != 0 || err.text[0] == '\0'))
        abort();
}

static void run(const ridge_bank_tile *tile, const char *text)
{
    ridge_bank_pattern pattern;
    ridge_bank_result result;
    ridge_error err;
    int steps;

    if (ridge_bank_pattern_read(text, &pattern, &err) != RIDGE_OK ||
        ridge_bank_pattern_steps(&pattern, tile, &steps, &err) != RIDGE_OK)
        return;
    if (steps > MOST_STEPS)
        pattern.steps = MOST_STEPS;
    if (ridge_bank_pattern_run(&pattern, tile, &result, &err) == RIDGE_OK &&
        (result.wavefronts < result.ideal || result.worst.wavefronts > RIDGE_BANKS_LANES))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ridge_bank_tile tile = {.rows = 0};
    char text[MOST_BYTES + 1];
    char *rest = text;
    char *line;

    if (size > MOST_BYTES)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    while ((line = strtok_r(rest, "\n", &rest)) != NULL) {
        char layout[128];

        evaluate(line);
        if (tile.rows > 0)
            run(&tile, line);
        else if (ridge_bank_tile_read(line, &tile, NULL) == RIDGE_OK &&
                 (ridge_bank_tile_piece_bytes(&tile) > 16 ||
                  ridge_bank_tile_layout(&tile, layout, sizeof(layout))[0] == '\0'))
            abort();
    }
    return 0;
}
