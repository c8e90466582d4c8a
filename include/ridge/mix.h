/* SPDX-License-Identifier: Apache-2.0
 *
 * What a function is made of, read from its machine code: loops, and how many instructions of which
 * kind stand in the whole of it, in all loops or in one of them.
 *
 * Counts are static: instructions as they stand in the code, not as often as they run. Inside one
 * loop they are what one pass issues, as far as the pass takes no branch around them. */
#ifndef RIDGE_MIX_H
#define RIDGE_MIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ridge/binary.h"
#include "ridge/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -- loops ------------------------------------------------------------------------------------- */

typedef struct ridge_loop {
    uint32_t head;  /* offset of the instruction that the back edges go to */
    uint32_t end;   /* offset behind the last instruction of it in order of code; not all in
                        between need belong to it, and rarely used parts may stand elsewhere */
    int32_t parent; /* index of the loop around it; -1: none */
    int32_t depth;  /* 1: outermost */
    bool is_innermost;
    size_t instruction_count; /* of it and of the loops in it */
} ridge_loop;

typedef struct ridge_loops {
    ridge_loop *rows; /* in order of head */
    size_t count;
    int32_t *of; /* of each instruction the innermost loop; -1: in none */
    size_t instruction_count;
} ridge_loops;

/* Finds loops from the branches whose target is in the code: nesting by depth-first search and
 * union of what is found (Tarjan 1974, Havlak 1997), near linear in the number of instructions.
 * Branches through a register (BRX, jump tables) have no known target, so loops that close through
 * them are not seen. An instruction that only branches to itself, as after the end of each kernel,
 * is no loop. *out is new: ridge_loops_release(). Fails with RIDGE_ERR_OUT_OF_MEMORY only. */
ridge_status ridge_loops_find(const uint8_t *code, size_t code_bytes, int sm, ridge_loops *out,
                              ridge_error *err);
void ridge_loops_release(ridge_loops *loops);
/* True when the instruction is in the loop, or in one inside it. */
bool ridge_loops_contain(const ridge_loops *loops, size_t loop, size_t instruction);

/* -- the mix ----------------------------------------------------------------------------------- */

/* Which instructions are counted; from 0 on the index of a loop, with the loops in it. */
enum { RIDGE_MIX_WHOLE = -1, RIDGE_MIX_LOOPS = -2 };

typedef enum ridge_mix_space {
    RIDGE_MIX_GLOBAL,
    RIDGE_MIX_SHARED,
    RIDGE_MIX_LOCAL
} ridge_mix_space;
enum { RIDGE_MIX_SPACES = 3, RIDGE_MIX_WIDTHS = 6 }; /* 1, 2, 4, ... 32 bytes a lane */

typedef struct ridge_mix_row {
    char text[32]; /* "LDG.128": the instruction with the modifiers that matter */
    ridge_sass_class cls;
    size_t count;
    double flop; /* of one issue by a full warp; 0: none; NAN: not known */
} ridge_mix_row;

typedef struct ridge_mix {
    size_t instruction_count; /* without the padding behind the code */
    size_t padding_count;     /* NOPs and the branch to itself behind the end; of the whole only */
    size_t classes[RIDGE_SASS_CLASS_COUNT];
    ridge_mix_row *rows; /* by class, then the commonest first */
    size_t row_count;
    /* Loads and stores by bytes of a lane: widths[space][is_store][log2 of the bytes]. LDSM and
     * STSM count with 4 bytes a matrix, LDGSTS as a load of global memory. */
    size_t widths[RIDGE_MIX_SPACES][2][RIDGE_MIX_WIDTHS];
    /* A multiply-add is two. Sums over the instructions, each issued once by a full warp. */
    double flop;        /* of CUDA cores: FP16, FP32, FP64 */
    double tensor_flop; /* of tensor instructions whose shape is known (integer ones as well) */
    size_t unknown_tensor_count; /* multiplications without a known shape */
    /* Loaded and stored by a full warp; copies count in both spaces. */
    double global_bytes, shared_bytes, local_bytes;
} ridge_mix;

/* loops may be NULL for RIDGE_MIX_WHOLE. *out is new: ridge_mix_release(). Fails with
 * RIDGE_ERR_OUT_OF_MEMORY only. */
ridge_status ridge_mix_count(const uint8_t *code, size_t code_bytes, int sm,
                             const ridge_loops *loops, int which, ridge_mix *out, ridge_error *err);
void ridge_mix_release(ridge_mix *mix);

/* What one pass of a loop, with the loops in it, computes and moves: as of ridge_mix. */
typedef struct ridge_loop_work {
    double flop, tensor_flop;
    size_t unknown_tensor_count;
    double global_bytes, shared_bytes, local_bytes;
} ridge_loop_work;

/* Of all loops, in one pass over the code. *out is new, as many as there are loops:
 * ridge_loop_work_free(). Fails with RIDGE_ERR_OUT_OF_MEMORY only. */
ridge_status ridge_loop_work_count(const uint8_t *code, size_t code_bytes, int sm,
                                   const ridge_loops *loops, ridge_loop_work **out,
                                   ridge_error *err);
void ridge_loop_work_free(ridge_loop_work *work);

/* Instructions of padding at the end of a function: NOPs and a branch to itself. */
size_t ridge_sass_padding(const uint8_t *code, size_t code_bytes, int sm);

/* FLOP of an instruction that a full warp issues once; of a warpgroup's instruction the share of
 * one warp. 0: does no arithmetic on floating point or matrices; NAN: a multiplication of matrices
 * whose shape is not decoded. Integer matrices count alike, bitwise ones (BMMA) not. */
double ridge_sass_flop(const ridge_sass *sass);

/* -- spills ------------------------------------------------------------------------------------ */

/* Which instructions of a function store or load because registers ran out, as toolkits from 13 on
 * record; all false where that is not recorded. */
typedef struct ridge_spills {
    bool *is_spill; /* of each instruction */
    size_t instruction_count;
    size_t count; /* of spills */
} ridge_spills;

/* function is one of the cubin's. *out is new: ridge_spills_release(). Fails with
 * RIDGE_ERR_OUT_OF_MEMORY only. */
ridge_status ridge_spills_find(const ridge_cubin *cubin, const ridge_function *function,
                               ridge_spills *out, ridge_error *err);
void ridge_spills_release(ridge_spills *spills);

/* -- functions inside functions ---------------------------------------------------------------- */

/* Code that was linked into a kernel's: helpers of the compiler, such as the slow path of a
 * division ("$__internal_0_$__cuda_sm20_div_rn_f64_full"), and device functions that are called. */
typedef struct ridge_helper {
    const ridge_function *function; /* that holds it; borrowed from the cubin, as the name */
    const char *name;
    uint32_t offset, code_bytes; /* in the function's code */
} ridge_helper;

typedef struct ridge_helpers {
    ridge_helper *rows; /* in order of function and offset */
    size_t count;
} ridge_helpers;

/* *out is new: ridge_helpers_release(). Fails with RIDGE_ERR_OUT_OF_MEMORY only; symbols that do
 * not fit their function are passed over. */
ridge_status ridge_helpers_find(const ridge_cubin *cubin, ridge_helpers *out, ridge_error *err);
void ridge_helpers_release(ridge_helpers *helpers);

#ifdef __cplusplus
}
#endif
#endif
