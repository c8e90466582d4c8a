/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared memory, simulated: which words of which banks a warp's access touches, how many wavefronts
 * it takes for that, and which layouts take the fewest. Nothing allocates but ridge_banks_solve(),
 * for as long as it runs.
 *
 * Shared memory has 32 banks of 4 bytes; the word at byte address a lies in bank a / 4 % 32. One
 * wavefront delivers one word of each bank, to any number of lanes. A warp's access is cut into
 * phases of at most 128 bytes: 32 lanes of up to 4 bytes, half-warps of 8 bytes, quarter-warps of
 * 16 bytes; a matrix of ldmatrix or stmatrix is 8 rows of 16 bytes and a phase. A phase takes as
 * many wavefronts as the busiest bank holds different words.
 *
 * Measured on an H200 (bench/results/bank_wavefronts.md), beyond that:
 * - Two phases of an 8 or 16-byte load are one, when each pair of lanes that differ in bit 0, or
 *   each that differ in bit 1, loads the same vector. A lane that is off agrees with any.
 * - cp.async of 4 and 8 bytes writes every lane's word, also equal ones, and reads each bank of its
 *   source lines once a wavefront too.
 * - cp.async of 16 bytes goes from source line to target line, both of 128 bytes: a wavefront is one
 *   such pair and moves each 32-byte sector as a whole, see src/banks/copies.c. */
#ifndef RIDGE_BANKS_H
#define RIDGE_BANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ridge/hardware.h"
#include "ridge/status.h"
#include "ridge/table.h"

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
 * RIDGE_ERR_INVALID_ARGUMENT says what was expected; RIDGE_ERR_UNSUPPORTED for atomics. */
ridge_status ridge_bank_access_read(const char *text, ridge_bank_access *out, ridge_error *err);
/* The same name back; buffer holds at least 24 bytes. Returns buffer. */
char *ridge_bank_access_name(const ridge_bank_access *access, char *buffer, size_t size);

/* -- wavefronts -------------------------------------------------------------------------------- */

typedef struct ridge_bank_count {
    int wavefronts; /* of the hardware */
    int reported; /* as Nsight Compute counts the instruction: other than wavefronts only for loads
                       of 8 and 16 bytes of which lanes share vectors, see src/banks/reported.c */
    int ideal;    /* bytes of the active lanes in 128s, but no more than wavefronts: as Nsight
                       Compute counts. Above it without a conflict where lanes that are off leave
                       phases half empty. */
    int degree;   /* most wavefronts of a phase: 1 is no conflict, 32 a 32-way one */
    int worst_bank;  /* a bank that holds that many words, the first; -1 without active lanes, and
                       for cp.async of 16 bytes, which is not served by banks */
    int phase_count; /* phases with an active lane; cp.async of 16 bytes is one */
    int phase_wavefronts[RIDGE_BANKS_MOST_PHASES];
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

/* Draws it as SVG: a line a wavefront, a column a bank. */
void ridge_bank_map_write_svg(const ridge_bank_map *map, const char *title, ridge_output *output);

/* One access of a warp: lane i, when bit i of lanes is set, accesses address_bytes[i]; of ldmatrix
 * and stmatrix only the lanes that give rows count. source_bytes are where the lanes of a cp.async
 * read; NULL: side by side, from the beginning of a 128-byte line on. map may be NULL.
 * RIDGE_ERR_INVALID_ARGUMENT for a width that the instruction does not have, RIDGE_ERR_MISALIGNED
 * for an address that is no multiple of it: such an access traps. */
ridge_status ridge_banks_simulate(const ridge_bank_access *access,
                                  const uint32_t address_bytes[RIDGE_BANKS_LANES],
                                  const uint32_t *source_bytes, uint32_t lanes,
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

/* -- expressions ------------------------------------------------------------------------------- */

enum { RIDGE_BANKS_MOST_TEXT = 255 };

typedef struct ridge_bank_variable {
    const char *name; /* letters, digits and '_' */
    int64_t value;
} ridge_bank_variable;

/* Evaluates value_count integer expressions, separated by commas: decimal and 0x numbers, the
 * variables, parentheses, and C's operators with C's precedence (?: || && | ^ & == != < <= > >= <<
 * >> + - * / % and unary - + ~ !). 64 bits; sums and products wrap round, / and % round towards
 * zero. RIDGE_ERR_INVALID_ARGUMENT with the column, from 1, for what is no expression, longer than
 * RIDGE_BANKS_MOST_TEXT, a division by zero, or a shift by less than 0 or more than 63. */
ridge_status ridge_bank_evaluate(const char *text, const ridge_bank_variable *variables,
                                 size_t variable_count, int64_t *values, size_t value_count,
                                 ridge_error *err);

/* -- tiles ------------------------------------------------------------------------------------- */

typedef enum ridge_bank_order {
    RIDGE_BANK_ROWS,   /* row after row, stride_bytes apart */
    RIDGE_BANK_BLOCKS, /* 8 x 8 elements contiguous, blocks in row-major order: one copy that
                          ldmatrix reads plain and transposed without conflicts */
    RIDGE_BANK_PANELS, /* panels of columns, panel_bytes wide, one after the other, each row after
                          row: how TMA and wgmma lay out rows wider than their swizzle */
} ridge_bank_order;

/* A tile in shared memory: element (row, column) of rows x columns. */
typedef struct ridge_bank_tile {
    int rows, columns;
    int element_bytes;        /* 1, 2, 4, 8 or 16 */
    const char *element_name; /* "bf16"; borrowed from a constant table */
    ridge_bank_order order;
    int stride_bytes; /* of RIDGE_BANK_ROWS: from one row to the next */
    int panel_bytes;  /* of RIDGE_BANK_PANELS: 32, 64 or 128 */
    int base_bytes;   /* where the tile begins */
    /* Then the byte offset in the tile is swizzled, see ridge_banks_swizzle(); 0 bits: not. */
    int swizzle_bits, swizzle_first_bit, swizzle_distance;
    /* And the byte offset in the row exclusive-ored with this expression of row and column; "":
     * none. Of RIDGE_BANK_ROWS. */
    char xor_text[RIDGE_BANKS_MOST_TEXT + 1];
} ridge_bank_tile;

/* Reads "ROWSxCOLUMNS:ELEMENT[:PART...]". ELEMENT is a type (bf16, fp32, int8, ...) or a number of
 * bytes ("2B"). Parts:
 *     136  stride=136  stride=272B  +8      row stride in elements or bytes; padding of a row
 *     swizzle=3,4,3                         Swizzle<B,M,S> of byte offsets
 *     cute=3,3,3                            the same of element indices, as CuTe writes it: M grows
 *                                           by log2 of the element's bytes, 3,3,3 of bf16 = 3,4,3
 *     swizzle=128B                          and 64B, 32B: the modes of TMA and wgmma, with panels
 *     8x8                                   8 x 8 blocks
 *     xor=EXPRESSION                        to the end: of row and col (element), in bytes
 *     base=BYTES
 * RIDGE_ERR_INVALID_ARGUMENT says what was found and what was expected. */
ridge_status ridge_bank_tile_read(const char *text, ridge_bank_tile *out, ridge_error *err);
/* The checks of ridge_bank_tile_read() for a tile that was filled otherwise. */
ridge_status ridge_bank_tile_check(const ridge_bank_tile *tile, ridge_error *err);
/* "stride 136 (272 B)", "8x8 blocks", "128B swizzle (TMA, wgmma)"; 128 bytes are enough. Returns
 * buffer. */
char *ridge_bank_tile_layout(const ridge_bank_tile *tile, char *buffer, size_t size);
/* The text that ridge_bank_tile_read() takes: "64x128:bf16:136"; 384 bytes are enough. */
char *ridge_bank_tile_write(const ridge_bank_tile *tile, char *buffer, size_t size);
/* The byte address of element (row, col) as an expression that C and ridge_bank_evaluate() take:
 * "row * 128 + ((col * 2) ^ ((row & 7) * 16))"; 1024 bytes are enough. */
char *ridge_bank_tile_formula(const ridge_bank_tile *tile, char *buffer, size_t size);
/* Bytes from the base to the end of the last element. */
size_t ridge_bank_tile_bytes(const ridge_bank_tile *tile);
/* The largest power of two, to 16, that all rows' starts are multiples of when no swizzle moves
 * smaller pieces: what width of an access the layout allows. */
int ridge_bank_tile_piece_bytes(const ridge_bank_tile *tile);
/* Byte address of an element; fails only where an xor expression does or leads out of 32 bits. row
 * and column lie in the tile. */
ridge_status ridge_bank_tile_address(const ridge_bank_tile *tile, int row, int column,
                                     uint32_t *address_bytes, ridge_error *err);

/* Exclusive-ors bit_count bits of a byte offset from bit first_bit on with the bits that stand
 * distance higher; (3, 4, 3) swizzles the 16-byte chunks of 128-byte rows, as CUTLASS's
 * Swizzle<3, 4, 3> and the 128-byte mode of TMA do. bit_count, first_bit and distance are >= 0 and
 * their sum at most 32. */
uint32_t ridge_banks_swizzle(uint32_t offset_bytes, int bit_count, int first_bit, int distance);

/* -- patterns ---------------------------------------------------------------------------------- */

/* What a warp does with a tile: an instruction and the element at which each lane begins. */
typedef struct ridge_bank_pattern {
    ridge_bank_access access;
    /* A named pattern, which walks the whole tile, or "ROW, COLUMN", expressions of lane, warp and
     * i, the number of the step. */
    char where[RIDGE_BANKS_MOST_TEXT + 1];
    uint32_t lanes;  /* that take part */
    int row, column; /* added to each lane's element */
    int warp;
    int steps; /* of i, from 0; 0: what a named pattern needs to walk the tile, 1 of expressions */
} ridge_bank_pattern;

/* Reads "ACCESS [WHERE] [PART...]": "ld.2 token-strided", "ld.16 lane % 8, lane / 8 * 8 i=4". Parts
 * are @ROW,COLUMN, lanes=MASK, warp=N and i=N. Without WHERE: ldmatrix-a for matrices, else row. */
ridge_status ridge_bank_pattern_read(const char *text, ridge_bank_pattern *out, ridge_error *err);

/* Names of the patterns, and a line on each; NULL past the end. */
const char *ridge_bank_pattern_name(size_t index);
const char *ridge_bank_pattern_meaning(size_t index);

/* The elements of one step; lanes outside a tile that is no multiple of the pattern's block are
 * off. */
typedef struct ridge_bank_elements {
    uint32_t lanes;
    int row[RIDGE_BANKS_LANES], column[RIDGE_BANKS_LANES];
} ridge_bank_elements;

enum { RIDGE_BANKS_MOST_STEPS = 65536 };

/* How many steps the pattern takes on a tile of that shape. RIDGE_ERR_INVALID_ARGUMENT when the
 * access or the pattern does not fit the tile. */
ridge_status ridge_bank_pattern_steps(const ridge_bank_pattern *pattern,
                                      const ridge_bank_tile *tile, int *steps, ridge_error *err);
ridge_status ridge_bank_pattern_elements(const ridge_bank_pattern *pattern,
                                         const ridge_bank_tile *tile, int step,
                                         ridge_bank_elements *out, ridge_error *err);
/* Their addresses. RIDGE_ERR_INVALID_ARGUMENT when the layout tears what a lane accesses apart, or
 * an xor expression puts two elements at one address. */
ridge_status ridge_bank_tile_addresses(const ridge_bank_tile *tile,
                                       const ridge_bank_pattern *pattern,
                                       const ridge_bank_elements *elements,
                                       uint32_t address_bytes[RIDGE_BANKS_LANES], ridge_error *err);

/* Where a cp.async into these elements would read: from rows that begin with a 128-byte line each. */
void ridge_bank_tile_sources(const ridge_bank_tile *tile, const ridge_bank_elements *elements,
                             uint32_t source_bytes[RIDGE_BANKS_LANES]);

typedef struct ridge_bank_result {
    int steps;                 /* instructions */
    int64_t wavefronts, ideal; /* of all steps */
    int worst_step;            /* the first with the most wavefronts beyond the ideal */
    ridge_bank_count worst;
} ridge_bank_result;

/* Simulates all steps of a pattern on a tile. */
ridge_status ridge_bank_pattern_run(const ridge_bank_pattern *pattern, const ridge_bank_tile *tile,
                                    ridge_bank_result *out, ridge_error *err);

/* -- solving ----------------------------------------------------------------------------------- */

enum { RIDGE_BANKS_MOST_PATTERNS = 8, RIDGE_BANKS_SOLVE_STEPS = 4096, RIDGE_BANKS_KIND_MOST = 3 };

typedef struct ridge_bank_question {
    const ridge_bank_tile *tile; /* its shape, its base, and the layout to compare with */
    const ridge_bank_pattern *patterns;
    size_t pattern_count; /* 1 to RIDGE_BANKS_MOST_PATTERNS */
    int align_bytes; /* pieces that a layout must keep whole and aligned, 1 to 16; 0: the widest
                        access */
    /* For the occupancy that a layout costs; arch NULL: not asked. launch.shared_bytes is what the
     * kernel has besides tile_copies tiles (stages of a pipeline; at least 1). */
    const ridge_arch *arch;
    ridge_launch launch;
    int tile_copies;
} ridge_bank_question;

typedef enum ridge_bank_kind {
    RIDGE_BANK_GIVEN,
    RIDGE_BANK_PADDED, /* also by nothing */
    RIDGE_BANK_BLOCKED,
    RIDGE_BANK_PANELED, /* the modes of TMA and wgmma */
    RIDGE_BANK_SWIZZLED,
    RIDGE_BANK_KIND_COUNT
} ridge_bank_kind;

/* A layout and what it does to each pattern. */
typedef struct ridge_bank_candidate {
    ridge_bank_kind kind;
    ridge_bank_tile tile;
    ridge_bank_result results[RIDGE_BANKS_MOST_PATTERNS];
    int64_t cost;       /* quarters of a wavefront of the data pipe: that of a cp.async.16 is one */
    int64_t wavefronts; /* of all patterns */
    int64_t excess;     /* of these, beyond the ideal */
    int64_t lost_bytes; /* of one tile, against rows without padding */
    int piece_bytes;    /* ridge_bank_tile_piece_bytes() */
    int address_ops;    /* integer instructions an access costs beyond those of plain rows: 0 when
                           every step is the first one moved by the same constant in all lanes, 1
                           when each lane has its own constant to exclusive-or, else 2 */
    int blocks_per_sm;  /* -1: not asked */
} ridge_bank_candidate;

/* What no layout can undercut that keeps aligned pieces of piece_bytes whole: the words of a phase
 * that stand at the same place of their pieces share 128 / piece_bytes banks. */
typedef struct ridge_bank_floor {
    int piece_bytes;
    int64_t wavefronts, ideal; /* of all steps */
    int degree;                /* of the worst phase; above 1 it is a proof */
    int reached_stride_bytes;  /* the shortest row stride that needs no more; 0: none does */
    /* What breaks it: smaller pieces and the shortest stride that is then free of conflicts; 0:
     * none. The copies that fill the tile are piece_bytes / free_piece_bytes times as many. */
    int free_piece_bytes, free_stride_bytes;
    /* Or other lanes: the shortest stride at which loads of whole pieces in the pattern
     * quarter-rows are free of conflicts; 0: none. */
    int quarter_stride_bytes;
} ridge_bank_floor;

typedef struct ridge_bank_solution {
    ridge_bank_candidate given; /* kind GIVEN; piece_bytes 0: it traps, see given_error */
    ridge_error given_error;
    size_t candidate_count; /* in all */
    size_t excluded_align;  /* of these, layouts that break the pieces */
    size_t excluded_trap;   /* and others on which an access would trap */
    ridge_bank_floor floors[RIDGE_BANKS_MOST_PATTERNS];
} ridge_bank_solution;

/* Tries row strides through a whole turn of the banks (128 bytes), 8 x 8 blocks, the modes of TMA,
 * and Swizzle<B,M,S> of bytes with B of 1 to 5 and S >= B that stay in the tile. Fills at most
 * capacity candidates, best first: fewest wavefronts, most blocks per SM, cheapest
 * address arithmetic, fewest bytes lost, then padding before blocks before panels before
 * swizzles, then the smaller numbers; no more than RIDGE_BANKS_KIND_MOST of a kind. *count is how
 * many there are. RIDGE_ERR_INVALID_ARGUMENT for a pattern that does not fit the tile or takes more
 * than RIDGE_BANKS_SOLVE_STEPS steps. */
ridge_status ridge_banks_solve(const ridge_bank_question *question,
                               ridge_bank_candidate *candidates, size_t capacity, size_t *count,
                               ridge_bank_solution *out, ridge_error *err);

#ifdef __cplusplus
}
#endif
#endif
