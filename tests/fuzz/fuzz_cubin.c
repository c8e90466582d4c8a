/* SPDX-License-Identifier: Apache-2.0
 *
 * A cubin, and everything that can be asked about it: functions, instructions, lines with the
 * chains of inlined calls, producers. */
#include "ridge/binary.h"
#include "ridge/mix.h"
#include "ridge/names.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    FUNCTIONS_MAX = 256,
    INSTRUCTIONS_MAX = 4096,
    LOOPS_MAX = 16,
    PRODUCERS_MAX = 64, /* searches a function */
    INSTRUCTION_BYTES = 16,
};

static void walk_code(const ridge_function *function, int sm)
{
    const size_t count = function->code_bytes / INSTRUCTION_BYTES;
    size_t found[4];
    size_t i;

    for (i = 0; i < count && i < INSTRUCTIONS_MAX; i++) {
        ridge_sass sass;

        ridge_sass_decode(function->code + i * INSTRUCTION_BYTES, (uint32_t)(i * INSTRUCTION_BYTES),
                          sm, &sass);
        if (i % 32 == 0 && i / 32 < PRODUCERS_MAX &&
            ridge_sass_producers(function->code, function->code_bytes, sm, i, found, 4) > 0 &&
            found[0] >= count)
            abort();
    }
}

/* Loops, the mix of the whole and of some loops, lines of text. */
static void walk_mix(const ridge_function *function, int sm)
{
    const size_t count = function->code_bytes / INSTRUCTION_BYTES;
    ridge_loops loops;
    ridge_mix mix;
    char text[160];
    size_t i;

    if (ridge_loops_find(function->code, function->code_bytes, sm, &loops, NULL) != RIDGE_OK)
        abort();
    for (i = 0; i <= loops.count && i < LOOPS_MAX; i++) {
        if (ridge_mix_count(function->code, function->code_bytes, sm, &loops, (int)i - 1, &mix,
                            NULL) != RIDGE_OK ||
            mix.instruction_count + mix.padding_count > count)
            abort();
        if (i > 0 && mix.instruction_count > loops.rows[i - 1].instruction_count)
            abort();
        ridge_mix_release(&mix);
    }
    for (i = 0; i < count && i < INSTRUCTIONS_MAX; i++)
        ridge_sass_line(function->code + i * INSTRUCTION_BYTES, (uint32_t)(i * INSTRUCTION_BYTES),
                        sm, text, sizeof(text));
    ridge_loops_release(&loops);
    ridge_name_short(function->name, text, sizeof(text));
}

static void walk_lines(ridge_cubin *cubin, const ridge_function *function)
{
    const ridge_line *rows;
    size_t count, i;
    ridge_error err;

    if (ridge_cubin_lines(cubin, function, &rows, &count, &err) != RIDGE_OK) {
        if (rows != NULL || count != 0)
            abort();
        return;
    }
    for (i = 0; i < count && i < INSTRUCTIONS_MAX; i++) {
        const ridge_line *row = &rows[i];
        int depth = 0;

        while (row->inlined_at >= 0) {
            if ((size_t)row->inlined_at >= count || ++depth > 1024)
                abort();
            row = &rows[row->inlined_at];
        }
        ridge_line_find(rows, count, rows[i].offset);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ridge_cubin *cubin;
    ridge_helpers helpers;
    ridge_spills spills;
    ridge_error err;
    size_t i;

    if (ridge_cubin_read(data, size, &cubin, &err) != RIDGE_OK) {
        if (cubin != NULL || err.text[0] == '\0')
            abort();
        return 0;
    }
    for (i = 0; i < ridge_cubin_function_count(cubin) && i < FUNCTIONS_MAX; i++) {
        const ridge_function *const function = ridge_cubin_function_at(cubin, i);

        if (ridge_cubin_function(cubin, function->name) == NULL)
            abort();
        walk_code(function, ridge_cubin_sm(cubin));
        walk_mix(function, ridge_cubin_sm(cubin));
        if (ridge_spills_find(cubin, function, &spills, &err) != RIDGE_OK ||
            spills.count > spills.instruction_count)
            abort();
        ridge_spills_release(&spills);
        walk_lines(cubin, function);
    }
    if (ridge_helpers_find(cubin, &helpers, &err) != RIDGE_OK)
        abort();
    for (i = 0; i < helpers.count; i++)
        if (helpers.rows[i].offset > helpers.rows[i].function->code_bytes ||
            helpers.rows[i].code_bytes >
                helpers.rows[i].function->code_bytes - helpers.rows[i].offset)
            abort();
    ridge_helpers_release(&helpers);
    ridge_cubin_free(cubin);
    return 0;
}
