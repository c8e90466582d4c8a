/* SPDX-License-Identifier: Apache-2.0
 *
 * Recorded disassembly, nvdisasm's text beside the words: what the tests of decoding and of counting
 * compare with. */
#ifndef RIDGE_TESTS_SASS_TRUTH_H
#define RIDGE_TESTS_SASS_TRUTH_H

#include "binary_support.h"

typedef struct sass_row {
    uint8_t word[16];
    uint32_t offset;
    char name[32]; /* of the instruction, without modifiers */
    const char *operands;
    char modifiers[96]; /* ".E.64" */
} sass_row;

/* The files of the shared fixtures: 35,016 rows. */
typedef struct truth_file {
    const char *name;
    const char *path;
    int sm;
    size_t row_count, branch_count;
} truth_file;

enum { TRUTH_FILE_COUNT = 15 };
extern truth_file truth_files[TRUTH_FILE_COUNT];

/* Splits "@P0 LDG.E.64 R2, [R4]" at its spaces and its first dot. */
void truth_split(const char *text, sass_row *row);
void truth_words(sass_row *row, const char *low, const char *high);
/* The next row of a file's text, which is written to; false at the end. *section names the
 * function. */
bool truth_next(char **rest, const char **section, sass_row *row);

bool truth_has_modifier(const sass_row *row, const char *modifier);
/* Bytes a lane accesses; 0 when it is no load or store of a width. */
unsigned truth_width(const sass_row *row);

#endif
