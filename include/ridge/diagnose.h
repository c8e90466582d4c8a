/* SPDX-License-Identifier: Apache-2.0
 *
 * From one kernel's profile to one next step: a gated procedure (docs/diagnosis.md).
 *
 * ridge_diagnose() asks in a fixed order: is the profile trustworthy and the kernel long enough;
 * is a unit saturated; is there enough parallel work; is occupancy the reason; which stall binds.
 * The first gate that closes decides the verdict. Findings then say why, where, what to change and
 * how much that can gain; not_now names what looks bad and is off the critical path.
 *
 * A diagnosis owns all its text; ridge_diagnosis_free() ends it. The report may go before it. */
#ifndef RIDGE_DIAGNOSE_H
#define RIDGE_DIAGNOSE_H

#include "ridge/hardware.h"
#include "ridge/meaning.h"
#include "ridge/report.h"
#include "ridge/table.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RIDGE_CLASS_LIST(X)                                                                        \
    X(UNKNOWN, "unknown") X(MEMORY, "memory") X(COMPUTE, "compute") X(LATENCY, "latency")

/* X(name, identifier, the unit or condition in words) */
#define RIDGE_WALL_LIST(X)                                                                         \
    X(UNKNOWN, "unknown", "not known")                                                             \
    X(DRAM, "dram", "device memory")                                                               \
    X(L2, "l2", "the L2 cache")                                                                    \
    X(L1, "l1", "the L1/shared-memory path")                                                       \
    X(TENSOR, "tensor", "the tensor pipe")                                                         \
    X(FMA, "fma", "the FMA pipe")                                                                  \
    X(ALU, "alu", "the integer and logic pipe (ALU)")                                              \
    X(FP64, "fp64", "the FP64 pipe")                                                               \
    X(XU, "xu", "the special function unit (XU)")                                                  \
    X(ISSUE, "issue", "instruction issue")                                                         \
    X(BARRIER, "barrier", "barriers")                                                              \
    X(OCCUPANCY, "occupancy", "too few resident warps")                                            \
    X(PARALLELISM, "parallelism", "too little parallel work")                                      \
    X(STALL, "stall", "latency that is not hidden")                                                \
    X(ATOMICS, "atomics", "atomic operations")                                                     \
    X(INSTRUCTION_FETCH, "instruction_fetch", "instruction fetch")

typedef enum ridge_class {
#define RIDGE_CLASS_ENUM(name, text) RIDGE_CLASS_##name,
    RIDGE_CLASS_LIST(RIDGE_CLASS_ENUM)
#undef RIDGE_CLASS_ENUM
        RIDGE_CLASS_COUNT
} ridge_class;

typedef enum ridge_wall {
#define RIDGE_WALL_ENUM(name, text, words) RIDGE_WALL_##name,
    RIDGE_WALL_LIST(RIDGE_WALL_ENUM)
#undef RIDGE_WALL_ENUM
        RIDGE_WALL_COUNT
} ridge_wall;

const char *ridge_class_name(ridge_class cls);
const char *ridge_wall_name(ridge_wall wall);
const char *ridge_wall_words(ridge_wall wall);

typedef struct ridge_evidence {
    const char *metric; /* name in the report, or "ridge:<what>" for a derived number */
    const char *label;  /* in words */
    double value;       /* base units, as the report gives it */
    const char *unit;
} ridge_evidence;

/* A place in the code. */
typedef struct ridge_where {
    const char *file;        /* NULL: no line table */
    uint32_t line;           /* 0: none */
    uint64_t offset;         /* of the instruction; UINT64_MAX: a whole line or opcode class */
    const char *opcode;      /* NULL: none */
    double share_frac;       /* of what `of` says; NAN: none */
    const char *of;          /* "stall samples", "excess wavefronts" */
    const char *source;      /* text of the line, trimmed; NULL: not imported */
    const char *caller_file; /* where the function that holds the line was inlined; NULL: not */
    uint32_t caller_line;
    /* The load or computation that the instruction waits for; NULL/0: not known. */
    const char *producer_opcode;
    const char *producer_file;
    uint32_t producer_line;
    uint64_t producer_offset;
} ridge_where;

enum { RIDGE_EVIDENCE = 8, RIDGE_WHERES = 4 };

typedef struct ridge_finding {
    const char *id;       /* "shared_bank_conflict"; stable */
    int rank;             /* 1 first */
    bool is_minor;        /* true, but not worth the first screen */
    const char *sentence; /* what is wrong, with numbers */
    const char *advice;   /* what to change */
    ridge_evidence evidence[RIDGE_EVIDENCE];
    size_t evidence_count;
    ridge_where where[RIDGE_WHERES];
    size_t where_count;
    double speedup_bound[2]; /* time ratio between these two; NAN: not known */
    ridge_wall next_wall;    /* what limits after the change; UNKNOWN: not known */
} ridge_finding;

typedef struct ridge_not_now {
    const char *id;
    const char *reason;
} ridge_not_now;

typedef struct ridge_verdict {
    ridge_class cls;
    ridge_wall wall;
    double saturation_frac; /* of the binding unit; NAN: not known */
    bool at_limit;          /* nothing but less work helps */
    const char *sentence;
} ridge_verdict;

/* How far each gate came, in order; for --all. */
typedef enum ridge_gate_outcome {
    RIDGE_GATE_PASSED,    /* not the reason: on to the next */
    RIDGE_GATE_CLOSED,    /* decides the verdict */
    RIDGE_GATE_UNDECIDED, /* the report lacks the data */
    RIDGE_GATE_SKIPPED    /* an earlier gate closed */
} ridge_gate_outcome;

typedef struct ridge_gate_note {
    const char *name;     /* "saturated" */
    const char *question; /* "Is a unit saturated?" */
    ridge_gate_outcome outcome;
    const char *reasoning;
} ridge_gate_note;

/* One bar: how busy a unit was. */
typedef struct ridge_bar {
    const char *metric; /* constituent of the speed of light */
    const char *label;
    ridge_wall wall;
    double busy_frac;
} ridge_bar;

/* One step of the occupancy staircase worth saying. */
typedef struct ridge_diagnosis_step {
    int blocks_per_sm;
    int warps_per_sm;
    int largest_shared_bytes;
    int largest_registers_per_thread;
    bool is_current;
} ridge_diagnosis_step;

enum { RIDGE_BARS = 8, RIDGE_GATES = 6, RIDGE_STEPS = 8, RIDGE_STALLS_SHOWN = 4 };

typedef struct ridge_diagnosis {
    const char *name;           /* short */
    const char *demangled_name; /* NULL: none */
    const char *gpu;            /* NULL: not recorded */
    int cc_major, cc_minor;
    size_t launch_index;
    uint64_t grid[3], block[3];
    double duration_ns;          /* NAN: not recorded */
    double registers_per_thread; /* NAN: not recorded; likewise below */
    double shared_bytes_per_block;
    double occupancy_theoretical_frac, occupancy_achieved_frac, waves;
    ridge_verdict verdict;
    ridge_bar bars[RIDGE_BARS];
    size_t bar_count;
    struct {
        ridge_stall stall;
        double share_frac; /* of all reasons but selected and not_selected */
    } stalls[RIDGE_STALLS_SHOWN];
    size_t stall_count;
    bool stalls_from_samples; /* rebuilt from PC samples */
    ridge_gate_note gates[RIDGE_GATES];
    size_t gate_count;
    ridge_finding *findings; /* in order of rank */
    size_t finding_count;
    ridge_not_now *not_now;
    size_t not_now_count;
    bool clocks_locked; /* to base, by the profiler: times are longer than in a benchmark */
    const char **notes; /* what to know of the profile itself: clocks, few samples */
    size_t note_count;
    const char **missing; /* gates and questions that the report cannot decide */
    size_t missing_count;
    const char *collect; /* the command that would collect it; NULL: nothing missing */
    ridge_diagnosis_step steps[RIDGE_STEPS];
    size_t step_count;
    double model_bytes, model_flop; /* compulsory, as given; NAN: not given */
    double dram_bytes;              /* moved; NAN: not recorded */
} ridge_diagnosis;

typedef struct ridge_diagnose_options {
    double compulsory_bytes; /* 0: not given */
    double flop_count;       /* 0: not given */
} ridge_diagnose_options;

/* options may be NULL. */
ridge_status ridge_diagnose(const ridge_report *report, size_t kernel_index,
                            const ridge_diagnose_options *options, ridge_diagnosis **out,
                            ridge_error *err);
void ridge_diagnosis_free(ridge_diagnosis *diagnosis);

/* The name of an operation that ridge_workload_parse() takes; NULL beyond the last. */
const char *ridge_workload_operation(size_t index);

/* Compulsory bytes and FLOP of "OP:SHAPE:DTYPE", such as rms_norm:8192x4096:bf16,
 * add_rms_norm:8192x4096:bf16, silu_and_mul:8192x14336:bf16, copy:1048576:f32,
 * gemm:8192x6144x4096:bf16. RIDGE_ERR_INVALID_ARGUMENT says which operations there are. */
ridge_status ridge_workload_parse(const char *text, double *bytes, double *flop_count,
                                  ridge_error *err);

/* What a finding means, how it is decided and what to read. */
typedef struct ridge_topic {
    const char *id;
    const char *title; /* one line */
    const char *meaning;
    const char *decided;
    const char *change;
    const char *read; /* public documents to read on */
} ridge_topic;

size_t ridge_topic_count(void);
const ridge_topic *ridge_topic_at(size_t index);
const ridge_topic *ridge_topic_find(const char *id); /* NULL: unknown */

/* -- output ------------------------------------------------------------------------------------ */

/* One kernel on one screen; with all, every gate's reasoning and all findings. */
void ridge_diagnosis_write_text(const ridge_diagnosis *diagnosis, bool all, ridge_output *output);
void ridge_diagnosis_write_markdown(const ridge_diagnosis *diagnosis, bool all,
                                    ridge_output *output);
/* A verdict as an object under key. */
void ridge_verdict_write_json(ridge_json *json, const char *key, const ridge_verdict *verdict);
/* One element of "kernels" in schema ridge-diagnosis/1. */
void ridge_diagnosis_write_json(const ridge_diagnosis *diagnosis, ridge_json *json);

#ifdef __cplusplus
}
#endif
#endif
