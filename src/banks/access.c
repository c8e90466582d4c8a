/* SPDX-License-Identifier: Apache-2.0
 *
 * The shared-memory instructions by name: a table of what can be written before the width or the
 * number of matrices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ridge/banks.h"

static const struct instruction {
    const char *name; /* with the dot, or the x, before the number */
    ridge_bank_op op;
    const char *numbers; /* that may follow, blank-separated with blanks around */
    const char *expected;
} instructions[] = {
    {"ldmatrix.x", RIDGE_BANK_LDMATRIX, " 1 2 4 ", "x1, x2 or x4"},
    {"stmatrix.x", RIDGE_BANK_STMATRIX, " 1 2 4 ", "x1, x2 or x4"},
    {"cp.async.", RIDGE_BANK_CP_ASYNC, " 4 8 16 ", "4, 8 or 16 bytes"},
    {"ld.", RIDGE_BANK_LOAD, " 1 2 4 8 16 ", "1, 2, 4, 8 or 16 bytes"},
    {"st.", RIDGE_BANK_STORE, " 1 2 4 8 16 ", "1, 2, 4, 8 or 16 bytes"},
};

enum { INSTRUCTION_COUNT = sizeof(instructions) / sizeof(instructions[0]) };

static bool is_matrix(ridge_bank_op op)
{
    return op == RIDGE_BANK_LDMATRIX || op == RIDGE_BANK_STMATRIX;
}

ridge_status ridge_bank_access_read(const char *text, ridge_bank_access *out, ridge_error *err)
{
    *out = (ridge_bank_access){.op = RIDGE_BANK_LOAD};
    for (size_t i = 0; i < INSTRUCTION_COUNT; i++) {
        const struct instruction *const row = &instructions[i];
        const size_t length = strlen(row->name);
        const char *const number = text + length;
        size_t digits;
        char wanted[8];

        if (strncmp(text, row->name, length) != 0)
            continue;
        digits = strspn(number, "0123456789");
        snprintf(wanted, sizeof(wanted), " %.*s ", (int)(digits < 4 ? digits : 4), number);
        if (digits == 0 || digits > 2 || strstr(row->numbers, wanted) == NULL)
            return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "'%s': expected %s after '%.*s'",
                              text, row->expected, (int)(length - is_matrix(row->op)), row->name);
        if (strcmp(number + digits, is_matrix(row->op) ? ".trans" : "") != 0 &&
            number[digits] != '\0')
            return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                              "'%s': expected %s after '%.*s', not '%s'", text,
                              is_matrix(row->op) ? "'.trans' or nothing" : "nothing",
                              (int)(length + digits), text, number + digits);
        out->op = row->op;
        out->width_bytes = is_matrix(row->op) ? 16 : atoi(number);
        out->matrix_count = is_matrix(row->op) ? atoi(number) : 0;
        out->transposed = number[digits] != '\0';
        return RIDGE_OK;
    }
    if (strncmp(text, "atom", 4) == 0 || strncmp(text, "red.", 4) == 0)
        return ridge_fail(err, RIDGE_ERR_UNSUPPORTED,
                          "'%s': atomics are not modelled, they wait for equal addresses too",
                          text);
    return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                      "'%s' is no shared-memory access: expected ld.BYTES, st.BYTES, "
                      "cp.async.BYTES, ldmatrix.xN[.trans] or stmatrix.xN[.trans]",
                      text);
}

char *ridge_bank_access_name(const ridge_bank_access *access, char *buffer, size_t size)
{
    const char *name = "?";

    for (size_t i = 0; i < INSTRUCTION_COUNT; i++)
        if (instructions[i].op == access->op)
            name = instructions[i].name;
    snprintf(buffer, size, "%s%d%s", name,
             is_matrix(access->op) ? access->matrix_count : access->width_bytes,
             access->transposed ? ".trans" : "");
    return buffer;
}
