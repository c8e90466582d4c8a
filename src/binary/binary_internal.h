/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of src/binary/ share: the opcode table, and the inside of a cubin that the line
 * reader needs. */
#ifndef RIDGE_BINARY_INTERNAL_H
#define RIDGE_BINARY_INTERNAL_H

#include "base/cursor.h"
#include "base/memory.h"
#include "ridge/binary.h"

enum { SASS_BYTES = 16 }; /* an instruction, from sm_70 on */

/* ---- opcode table (sass_table.c) ---- */

/* Which modifiers an instruction has and how many registers its operands span. */
typedef enum sass_kind {
    SASS_PLAIN,  /* each operand is one register */
    SASS_ACCESS, /* load or store of a width */
    SASS_LDGSTS, /* copy from global to shared memory */
    SASS_MATRIX, /* LDSM, STSM */
    SASS_ATOMIC,
    SASS_PAIRS,   /* 64-bit operands throughout */
    SASS_WIDE,    /* IMAD.WIDE: 64-bit result and addend */
    SASS_CONVERT, /* F2F, I2F and the like: 64 bits on one side, perhaps */
    SASS_CS2R,
    SASS_HMMA,
    SASS_IMMA,
    SASS_DMMA,
    SASS_QMMA,
    SASS_HGMMA, /* warpgroup MMA: A and B in shared memory */
    SASS_MUFU,
    SASS_BAR,
    SASS_BRANCH, /* BRA */
    SASS_JUMP,   /* RET, BRX, CALL: a 64-bit address, no target to decode */
} sass_kind;

/* The fields of the word that hold general registers. */
enum {
    SASS_D = 1, /* bits 16..23; written, but for LDGSTS and the 256-bit store, which read it */
    SASS_A = 2, /* bits 24..31 */
    SASS_B = 4, /* bits 32..39 */
    SASS_C = 8, /* bits 64..71 */
};

typedef struct sass_op {
    uint16_t opcode;
    uint8_t first_sm; /* one opcode has several rows when chips disagree: the last that fits */
    uint8_t cls;      /* ridge_sass_class */
    uint8_t kind;     /* sass_kind */
    uint8_t operands; /* SASS_D, ... */
    const char *name;
} sass_op;

/* The row of an opcode (12 bits) on a chip: of exactly this opcode, else of another form of the
 * same instruction (equal low 9 bits), else NULL. */
const sass_op *sass_op_find(unsigned opcode, int sm);

/* ---- cubin (cubin.c) ---- */

typedef struct cubin_section {
    const char *name;
    uint32_t name_offset;
    uint32_t type, link, info;
    uint64_t flags;
    uint64_t size;    /* as announced; more than data holds when there are no bytes in the file */
    ridge_slice data; /* borrowed */
    ridge_function *function; /* of a .text.k; else NULL */
} cubin_section;

/* The lines of one function, once they were asked for. */
typedef struct cubin_lines {
    bool is_read;
    ridge_line *rows; /* NULL: none; ridge_free() */
    size_t count;
} cubin_lines;

struct ridge_cubin {
    ridge_arena arena;
    ridge_slice file; /* borrowed */
    int sm;
    int toolkit_major;
    char toolkit[16]; /* "" when not recorded */
    ridge_provenance provenance;

    size_t sections_offset;
    cubin_section *sections;
    size_t section_count;

    ridge_function *functions; /* by name */
    ridge_slice *attributes;   /* of each function: its .nv.info section */
    int *helper_frames;        /* of each: largest frame of a helper in its code; -1: none */
    size_t function_count;

    ridge_slice symbols;
    ridge_slice debug_line;
    ridge_slice debug_str;
    ridge_slice line_relocations;
    bool line_relocations_have_addend;

    /* Made by lines.c. */
    cubin_lines *lines; /* of each function */
    bool is_line_index_built;
    ridge_error *line_failure; /* why it cannot be built; NULL: it can, or was not asked for */
    ridge_arena line_arena;    /* holds the index */
    struct line_sequence *sequences; /* by function */
    size_t sequence_count;
    struct line_relocation *relocations;
    size_t relocation_count;
};

typedef struct cubin_symbol_row {
    uint8_t type, other;
    uint64_t value, size;
    ridge_function *function; /* whose .text section the symbol points into; NULL: none */
} cubin_symbol_row;

/* False, and a row of zeros, when there is no such symbol. */
bool cubin_symbol(const ridge_cubin *cubin, uint64_t index, cubin_symbol_row *row);

/* The first function of a name: linked files may hold several local ones. NULL: none. */
ridge_function *cubin_find_function(const ridge_cubin *cubin, const char *name);

/* ---- attributes (attributes.c) ---- */

enum { CUBIN_TOOLKIT_WITH_SPILLS = 13 };

/* A number from a file as a plain int; what cannot be is not known: -1. */
static inline int cubin_int(uint64_t value)
{
    return value <= INT32_MAX ? (int)value : -1;
}

/* Those of a function, or of the whole file when it is NULL. */
ridge_status cubin_read_attributes(ridge_cubin *cubin, const cubin_section *section,
                                   ridge_function *function, ridge_error *err);
/* .nv.compat, which is coded as they are, with codes of its own. */
void cubin_read_compat(ridge_cubin *cubin, ridge_slice data);
/* When all are read: which functions call themselves. */
void cubin_find_recursion(ridge_cubin *cubin);

/* ---- where a cubin comes from (provenance.c) ---- */

/* .note.nv.tkinfo: tool, version, options; sets the toolkit too. What is damaged is not known. */
ridge_status cubin_read_toolkit_note(ridge_cubin *cubin, ridge_slice section, ridge_error *err);
/* .note.nv.cuinfo: the virtual architecture. */
void cubin_read_device_note(ridge_cubin *cubin, ridge_slice section);
/* .nv_debug_ptx_txt: the launch bounds that the attributes do not hold. */
ridge_status cubin_read_embedded_ptx(ridge_cubin *cubin, ridge_slice section, ridge_error *err);

/* ---- decoding (sass.c) ---- */

/* As ridge_sass_decode(), without the text, which is empty. */
void sass_decode_fields(const uint8_t word[SASS_BYTES], uint32_t offset, int sm, ridge_sass *out);

#endif
