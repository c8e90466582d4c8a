/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared memory, simulated: which words of which banks a warp's access touches, how many wavefronts
 * it takes for that, and which layouts take the fewest. Nothing allocates.
 *
 * Shared memory has 32 banks of 4 bytes; the word at byte address a lies in bank a / 4 % 32. One
 * wavefront delivers one word of each bank, to any number of lanes. A warp's access is cut into
 * phases of at most 128 bytes: 32 lanes of up to 4 bytes, half-warps of 8 bytes, quarter-warps of
 * 16 bytes; a matrix of ldmatrix or stmatrix is 8 rows of 16 bytes and a phase. A phase takes as
 * many wavefronts as the busiest bank holds different words. */
#ifndef RIDGE_BANKS_H
#define RIDGE_BANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ridge/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RIDGE_BANKS_LANES 32
#define RIDGE_BANKS_ALL_LANES 0xffffffffu
enum { RIDGE_BANKS_COUNT = 32, RIDGE_BANKS_WORD_BYTES = 4, RIDGE_BANKS_MOST_PHASES = 4 };

/* -- instructions ------------------------------------------------------------------------------ */

typedef enum ridge_bank_op {
    RIDGE_BANK_LOAD,     /* ld.shared, LDS */
    RIDGE_BANK_STORE,    /* st.shared, STS */
    RIDGE_BANK_LDMATRIX, /* LDSM */
    RIDGE_BANK_STMATRIX, /* STSM */
    RIDGE_BANK_CP_ASYNC, /* the write of cp.async, LDGSTS */
} ridge_bank_op;

typedef struct ridge_bank_access {
    ridge_bank_op op;
    int width_bytes;  /* of a lane: 1, 2, 4, 8 or 16; 4, 8 or 16 for cp.async; 16 for a matrix's
                         row, which lane 8 m + r gives for row r of matrix m */
    int matrix_count; /* of ldmatrix and stmatrix: 1, 2 or 4; else 0 */
    bool transposed;  /* .trans: other registers, the same wavefronts */
} ridge_bank_access;

/* Reads "ld.4", "st.16", "cp.async.16" (bytes a lane), "ldmatrix.x4", "stmatrix.x2.trans".
 * RIDGE_ERR_INVALID_ARGUMENT says what was expected. */
ridge_status ridge_bank_access_read(const char *text, ridge_bank_access *out, ridge_error *err);
/* The same name back; buffer holds at least 24 bytes. Returns buffer. */
char *ridge_bank_access_name(const ridge_bank_access *access, char *buffer, size_t size);

/* -- wavefronts -------------------------------------------------------------------------------- */

typedef struct ridge_bank_count {
    int wavefronts;
    int ideal;      /* phases with an active lane: what the access takes without conflicts */
    int degree;     /* most wavefronts of a phase: 1 is no conflict, 32 a 32-way one */
    int worst_bank; /* a bank that holds that many words, the first; -1 without active lanes */
    int phase_wavefronts[RIDGE_BANKS_MOST_PHASES]; /* the first ideal ones are used */
} ridge_bank_count;

/* Who gets what in which wavefront. In a phase the words of a bank are served in the order in which
 * lanes name them: the order is this model's, the number of wavefronts the hardware's. */
typedef struct ridge_bank_map {
    int wavefront_count;
    int phase[RIDGE_BANKS_LANES]; /* of each wavefront, from 0 */
    /* Lanes served by each bank in each wavefront; 0: the bank is idle. */
    uint32_t lanes[RIDGE_BANKS_LANES][RIDGE_BANKS_COUNT];
    uint32_t word[RIDGE_BANKS_LANES][RIDGE_BANKS_COUNT]; /* byte address / 4 */
} ridge_bank_map;

/* One access of a warp: lane i, when bit i of lanes is set, accesses address_bytes[i]; of ldmatrix
 * and stmatrix only the lanes that give rows count. map may be NULL.
 * RIDGE_ERR_INVALID_ARGUMENT for a width that the instruction does not have, RIDGE_ERR_MISALIGNED
 * for an address that is no multiple of it: such an access traps. */
ridge_status ridge_banks_simulate(const ridge_bank_access *access,
                                  const uint32_t address_bytes[RIDGE_BANKS_LANES], uint32_t lanes,
                                  ridge_bank_count *out, ridge_bank_map *map, ridge_error *err);

/* The same of a load of width_bytes a lane. */
ridge_status ridge_banks_count(const uint32_t address_bytes[RIDGE_BANKS_LANES], uint32_t lanes,
                               int width_bytes, ridge_bank_count *out, ridge_error *err);

/* A column walk: lane i accesses row i of a row-major tile, at the same column. */
typedef struct ridge_bank_rows {
    size_t stride_elements; /* from one row to the next */
    size_t column_elements;
    int element_bytes; /* 1, 2, 4, 8 or 16 */
    int width_bytes;   /* of a lane's access; 0: one element; 16 for a row of ldmatrix */
} ridge_bank_rows;

/* As ridge_banks_count(); RIDGE_ERR_OVERFLOW when the rows do not fit 32 address bits. */
ridge_status ridge_banks_rows(const ridge_bank_rows *rows, ridge_bank_count *out, ridge_error *err);

typedef struct ridge_bank_padding {
    size_t stride_elements;
    size_t added_elements; /* to each row */
    ridge_bank_count count;
    bool rows_16_aligned; /* each row starts 16-byte aligned when the tile does: cp.async, TMA,
                             ldmatrix and 16-byte vectors still work */
} ridge_bank_padding;

enum { RIDGE_BANKS_LARGEST_PADDING = 64 };

/* The strides above that of rows, by at most RIDGE_BANKS_LARGEST_PADDING elements, with fewer
 * wavefronts, ascending; strides that misalign the access are left out. Fills at most capacity
 * entries; *count is how many there are in all. */
ridge_status ridge_banks_pad(const ridge_bank_rows *rows, ridge_bank_padding *paddings,
                             size_t capacity, size_t *count, ridge_error *err);

/* The other remedy: byte offsets in a tile swizzled in place. Exclusive-ors bit_count bits from
 * bit first_bit on with the bits that stand distance higher; (3, 4, 3) swizzles the 16-byte
 * chunks of 128-byte rows, as CUTLASS's Swizzle<3, 4, 3> and the 128-byte mode of TMA do.
 * bit_count, first_bit and distance are >= 0 and their sum at most 32. */
uint32_t ridge_banks_swizzle(uint32_t offset_bytes, int bit_count, int first_bit, int distance);

#ifdef __cplusplus
}
#endif
#endif
