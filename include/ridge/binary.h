/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiled CUDA code, read without NVIDIA's software: the functions of a cubin with their
 * resources, its instructions (SASS), and the line table with inlining.
 *
 * Life of an object: ridge_cubin_read() borrows the bytes, which must outlive the object;
 * ridge_cubin_free() ends it. Everything a getter returns is borrowed until then. Unknown
 * sections, attributes and opcodes are passed over, never an error. */
#ifndef RIDGE_BINARY_H
#define RIDGE_BINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ridge/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ridge_cubin ridge_cubin;

/* One kernel or device function with code of its own. Numbers that the binary does not hold are
 * -1. Names are borrowed and NUL-terminated. */
typedef struct ridge_function {
    const char *name; /* mangled, as in .text.<name> */
    bool is_kernel;
    const uint8_t *code; /* code_bytes of SASS, 16 bytes an instruction; borrowed */
    size_t code_bytes;   /* with padding */
    int registers_per_thread;
    int static_shared_bytes; /* without the driver's reserve */
    int local_bytes;         /* stack frame of a thread; -1 also when it is recursive */
    int barriers;
    int parameter_bytes;
    int max_registers;     /* cap given to the compiler; 255: none */
    int max_threads[3];    /* launch bounds; 0: none */
    int spill_store_bytes; /* a thread, as ptxas counts; -1: the toolkit did not record */
    int spill_load_bytes;

    int required_threads[3]; /* __block_size__: the block must be this; 0: free */
    int cluster[3];          /* __cluster_dims__: blocks of a cluster; 0: set at launch, or none */
    int max_cluster;         /* largest cluster in blocks; 0: no limit of its own */
    bool needs_cluster;      /* .explicitcluster: runs as a cluster or not at all */
    /* Second launch bound, blocks per SM; 0: none. Only the PTX that -lineinfo embeds tells, and
     * without it -1. */
    int min_blocks;
    int constant_bytes; /* constant bank 0: the driver's area and the parameters */
    int mbarriers;      /* in shared memory, as the compiler counted; 0: none */
    int stack_bytes;    /* local_bytes and what the functions called inside its code add */
    /* One of them has a frame that stack_bytes does not count. From sm_90 on that shows only where
     * stack_bytes is 0. */
    bool is_recursive;
    bool uses_setmaxnreg; /* warps trade registers: registers_per_thread is at launch */
    bool uses_tcgen05;    /* tensor memory of sm_100 */
    bool emulates_atom16; /* 16-bit atomics as a loop of compare and swap */
    /* VRC_CTA_INIT_COUNT: 128 / this blocks fit an SM until the kernel gives its share back, as
     * kernels do that allocate tensor memory; 0: no limit. */
    int vrc_slots;
} ridge_function;

/* What a target promises: sm_90 runs on 9.x from 9.0 on, sm_90a on 9.0 alone, sm_100f on its
 * family. */
typedef enum ridge_target_suffix {
    RIDGE_TARGET_PLAIN,
    RIDGE_TARGET_ARCH,  /* "a" */
    RIDGE_TARGET_FAMILY /* "f" */
} ridge_target_suffix;

/* RIDGE_ERR_FORMAT when the bytes are no cubin or contradict themselves. */
ridge_status ridge_cubin_read(const void *data, size_t size_bytes, ridge_cubin **out,
                              ridge_error *err);
void ridge_cubin_free(ridge_cubin *cubin);

/* 90 for sm_90 and sm_90a. */
int ridge_cubin_sm(const ridge_cubin *cubin);
/* "13.0", from the header or the notes; NULL when not recorded. */
const char *ridge_cubin_toolkit(const ridge_cubin *cubin);

/* Where a cubin comes from. Texts are borrowed, NULL when not recorded; toolkits from 13 on write
 * notes with all of them. */
typedef struct ridge_provenance {
    ridge_target_suffix suffix; /* FAMILY can be told by the recorded options alone */
    int virtual_sm;             /* of the PTX it was made from; -1: not recorded */
    bool is_relocatable;        /* of -rdc=true: not linked yet */
    const char *tool;           /* "ptxas" */
    const char *version;        /* "Cuda compilation tools, release 13.0, V13.0.88" */
    const char *build;          /* "Build cuda_13.0.r13.0/compiler.36424714_0" */
    const char *options;        /* "-lineinfo  -arch sm_90 -m 64" */
} ridge_provenance;

const ridge_provenance *ridge_cubin_provenance(const ridge_cubin *cubin);

size_t ridge_cubin_function_count(const ridge_cubin *cubin);
const ridge_function *ridge_cubin_function_at(const ridge_cubin *cubin, size_t index);
const ridge_function *ridge_cubin_function(const ridge_cubin *cubin, const char *name);

/* A parameter of a kernel, as the compiler laid it out. */
typedef struct ridge_kernel_parameter {
    uint32_t offset_bytes; /* from the first parameter */
    uint32_t size_bytes;
} ridge_kernel_parameter;

/* Parameters of a kernel in their order, at most most of them; returns how many there are. 0 also
 * where the binary does not say: then parameter_bytes is not 0. */
size_t ridge_cubin_parameters(const ridge_cubin *cubin, const ridge_function *function,
                              ridge_kernel_parameter *out, size_t most);
/* Initialised data of the module, one section after the other: constants, tables of branches. What
 * code does depends on it too. False past the last; *data is borrowed. */
bool ridge_cubin_data(const ridge_cubin *cubin, size_t index, const uint8_t **data,
                      size_t *size_bytes);

/* One row of the line table: code from offset to the next row's offset. */
typedef struct ridge_line {
    uint32_t offset;      /* in the function's code */
    uint32_t line;        /* 1-based; 0: none */
    const char *file;     /* as recorded, "?" when the table has no such file; borrowed */
    const char *function; /* inlined function's mangled name; NULL: the kernel itself */
    int32_t inlined_at;   /* index of the row of the call site, in the same array; -1: none */
} ridge_line;

/* Rows in order of offset; *rows is borrowed and NULL when the function has none. The line table
 * of a function is read at the first call. */
ridge_status ridge_cubin_lines(ridge_cubin *cubin, const ridge_function *function,
                               const ridge_line **rows, size_t *row_count, ridge_error *err);
/* The row that covers an offset; NULL: none. */
const ridge_line *ridge_line_find(const ridge_line *rows, size_t row_count, uint32_t offset);

/* What an instruction is for. */
/* clang-format off */
#define RIDGE_SASS_CLASS_LIST(X)                                                                   \
    X(UNKNOWN, "unknown") X(GLOBAL, "global") X(SHARED, "shared") X(LOCAL, "local")                \
    X(CONSTANT, "constant") X(ASYNC, "async") X(ATOMIC, "atomic") X(TEXTURE, "texture")            \
    X(TENSOR, "tensor") X(FP16, "fp16") X(FP32, "fp32") X(FP64, "fp64") X(INT, "int")              \
    X(CONVERT, "convert") X(SPECIAL, "special") X(MOVE, "move") X(UNIFORM, "uniform")              \
    X(SYNC, "sync") X(CONTROL, "control") X(OTHER, "other")
/* clang-format on */

typedef enum ridge_sass_class {
#define RIDGE_SASS_CLASS_ENUM(name, text) RIDGE_SASS_##name,
    RIDGE_SASS_CLASS_LIST(RIDGE_SASS_CLASS_ENUM)
#undef RIDGE_SASS_CLASS_ENUM
        RIDGE_SASS_CLASS_COUNT
} ridge_sass_class;

const char *ridge_sass_class_name(ridge_sass_class cls);

enum { RIDGE_SASS_SOURCES = 3, RIDGE_SASS_NO_REGISTER = 255 };

/* Consecutive general registers; count 0: none (RZ counts as none). */
typedef struct ridge_registers {
    uint8_t first;
    uint8_t count;
} ridge_registers;

typedef struct ridge_sass {
    uint16_t opcode;  /* low 12 bits of the word */
    const char *name; /* "LDG"; "?" when unknown */
    char text[32];    /* with the modifiers that matter: "LDG.U16", "LDS.128",
                         "LDSM.x4", "HMMA.16816.F32.BF16", "MUFU.EX2"; a 32-bit
                         access has none: "LDG" */
    ridge_sass_class cls;
    bool is_load, is_store; /* of memory; LDGSTS is both, an atomic neither */
    uint8_t width_bytes;    /* of a lane's access; for LDSM/STSM 4 x matrices; else 0 */
    uint8_t guard;          /* predicate 0..6; 7: always */
    bool guard_negated;
    ridge_registers dest;                       /* written; as far as the table knows the count */
    ridge_registers source[RIDGE_SASS_SOURCES]; /* read, addresses included */
    uint8_t write_barrier; /* scoreboard set when the result arrives; 7: none */
    uint8_t read_barrier;  /* set when sources are read; 7: none */
    uint8_t wait_mask;     /* scoreboards waited for before issue */
    uint8_t stall_cycles;
    bool yields;           /* may hand the issue slot to another warp (bit 109 is 0) */
    uint8_t reuse;         /* operands kept in the reuse cache: bit 0 for A, 1 for B, 2 for C */
    bool is_branch;        /* with a target in this function */
    int64_t branch_target; /* offset in the function's code; -1 when not a branch */
} ridge_sass;

/* Decodes one instruction. offset is where it stands in the function (for branch targets); sm is
 * 75, 80, 90, ... Always succeeds: what is not known has the name "?" and class UNKNOWN. */
void ridge_sass_decode(const uint8_t word[16], uint32_t offset, int sm, ridge_sass *out);

/* The instruction as a line: "@!P0 LDG.128 R8:11, [R4:5+0x10]" with guard, modifiers that matter and
 * operands as far as they are decoded: general registers of all, addresses, constants, immediates,
 * uniform registers and predicates of the usual ones; neither negations nor the target of a branch.
 * Writes into buffer (160 bytes are enough, size is not 0) and returns it. */
char *ridge_sass_line(const uint8_t word[16], uint32_t offset, int sm, char *buffer, size_t size);

/* The instruction that produced what the one at index waits for: the latest earlier writer of a
 * register that it reads and that set a scoreboard the instruction waits on. Instructions are
 * searched backwards in program order and, at a loop head, once round the back edge. When none of
 * them wrote a register that is read (the wait guards an overwrite, or is for a later reader), the
 * latest that set such a scoreboard; for a DEPBAR that ends asynchronous copies, the LDGSTS.
 * code is the whole function, index counts instructions. Returns count as index for none. */
size_t ridge_sass_producer(const uint8_t *code, size_t code_bytes, int sm, size_t index);
/* All of them, nearest first, at most found_max. An instruction may wait for a load and for a
 * shared-memory access at once; who knows the reason of a stall picks by class. Returns their
 * number. */
size_t ridge_sass_producers(const uint8_t *code, size_t code_bytes, int sm, size_t index,
                            size_t *found, size_t found_max);

#ifdef __cplusplus
}
#endif
#endif
