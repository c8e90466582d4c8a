/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the diagnosis. facts_collect() turns a kernel's profile into numbers; the gates
 * (gates.c) ask them in a fixed order until one decides the verdict; every rule then looks at
 * facts and verdict and may put a finding on the list, at a weight, or on the list of what not to
 * chase. A rule is one function and one row of its topic's table. */
#ifndef RIDGE_DIAGNOSE_INTERNAL_H
#define RIDGE_DIAGNOSE_INTERNAL_H

#include "base/memory.h"
#include "base/text.h"
#include "ridge/diagnose.h"
#include "ridge/occupancy.h"

/* -- thresholds, each from docs/diagnosis.md --------------------------------------------------- */

#define SATURATED_PCT 80.0     /* a unit that busy is the wall */
#define NEAR_PCT 72.0          /* near enough to treat it as the wall */
#define NEAR_DRAM_PCT 60.0     /* the same for device memory */
#define BETWEEN_PCT 60.0       /* from here the busier side names class and wall */
#define TENSOR_TIE_PCT 10.0    /* a tensor pipe so close to the top is the wall */
#define USEFUL_TIE_PCT 5.0     /* an arithmetic pipe so close to the top is the wall */
#define TENSOR_KERNEL_PCT 30.0 /* the tensor pipe makes a kernel a matrix kernel from here */
#define WASTE_FRAC 0.20        /* of wavefronts or sectors: worth a finding */
#define SPILL_FRAC 0.05        /* of L1 sectors: local memory comes first */
#define NARROW_FRAC 0.30       /* of global accesses are 8 or 16 bits wide */
#define GRID_FRAC 0.90         /* of the SMs have a block: more cannot be what is missing */
#define LOW_OCCUPANCY_PCT 37.5
#define TAIL_FRAC 0.30
#define IMBALANCE_FRAC 0.60 /* average over busiest SM below this */
#define UNEVEN_FRAC 0.85    /* below this it shares in the loss */
#define EVEN_FRAC 0.90      /* from here on the last wave cost little, whatever its size */
#define SHORT_NS 5000.0     /* launch and ramp dominate below */
#define LAUNCH_NS 2000.0    /* nothing is shorter: 2.2 us measured for 1,024 elements on an H200 */
#define FEW_SAMPLES 100.0
#define DIVERGENT_THREADS 24.0
#define CONVERSION_FRAC 0.25   /* of issued instructions */
#define ATOMIC_FRAC 0.20       /* of global accesses */
#define STALL_FRAC 0.15        /* of the waiting: worth a finding */
#define ARITHMETIC_FRAC 0.60   /* of the instructions: what fills the issue slots is arithmetic */
#define LOCAL_ACCESS_FRAC 0.15 /* of the accesses: local memory comes first at an L1 wall */
#define MANY_WAVES 8.0         /* from here on blocks that end early are no tail */
#define INSTRUCTIONS_AN_ACCESS 5.0 /* itself, its address, its part of the loop */
#define IN_FLIGHT_FRAC 0.90        /* of the bytes needed under way are enough: an estimate */
#define DRAM_TARGET_PCT 92.0       /* what a good copy reaches on an H200 */
#define RESIDENT_FRAC 0.50         /* of the warps that fit: fewer mean that blocks end sooner */
#define IDLE_FRAC 0.50 /* a range whose SMs have work for less of the time waits for launches */
#define LATENCY_CYCLES ((RIDGE_LATENCY_CYCLES_LOW + RIDGE_LATENCY_CYCLES_HIGH) / 2)

/* -- facts ------------------------------------------------------------------------------------- */

struct constituent {
    const char *metric; /* name in the report */
    const char *label;
    ridge_wall wall;
    bool is_memory;  /* of the memory side, also when listed as compute */
    bool is_symptom; /* busy because of something else */
    double pct;
};

enum { CONSTITUENTS = 64, OPCODES = 96 };

struct opcode_total {
    const char *name; /* "LDS.U16" */
    ridge_sass_class cls;
    bool is_load, is_store;
    int width_bytes;
    uint64_t executed, samples;
    uint64_t wavefronts, wavefronts_ideal;
    uint64_t sectors, sectors_ideal;
};

/* What the instructions say; all zero without them. */
struct code_facts {
    uint64_t executed;        /* warp instructions */
    uint64_t global_accesses; /* by warps: loads, stores, cp.async; generic ones included */
    uint64_t narrow_accesses; /* of 8 or 16 bits a lane */
    uint64_t global_loads, narrow_loads;
    uint64_t global_atomics; /* ATOM, ATOMG, RED */
    uint64_t shared_accesses, shared_atomics;
    uint64_t local_accesses;
    uint64_t async_copies; /* LDGSTS */
    uint64_t bulk_copies;  /* TMA */
    uint64_t conversions, special, tensor, fp64, barriers, branches, integer;
    double bytes_in_flight_per_warp; /* independent loads, before the first wait; NAN: unknown */
    bool async_waits_at_once;        /* cp.async, wait for group 0 and a barrier in one loop */
    size_t async_wait_row;           /* where */
    struct opcode_total opcodes[OPCODES]; /* by executed count, largest first */
    size_t opcode_count;
};

struct facts {
    ridge_arena *arena; /* of the diagnosis: texts go there */
    bool out_of_memory;
    const ridge_report *report;
    const ridge_report_kernel *kernel;
    const ridge_report_kernel_info *info;
    ridge_profile *profile; /* owned */
    const ridge_arch *arch; /* NULL: unknown chip */
    const ridge_chip *chip; /* NULL: unknown */
    ridge_diagnose_options options;

    double value[RIDGE_MEANING_COUNT]; /* NAN: absent */
    const char *metric[RIDGE_MEANING_COUNT];
    struct constituent memory[CONSTITUENTS], compute[CONSTITUENTS]; /* largest first */
    size_t memory_count, compute_count;
    bool has_sol; /* the pair of speeds of light */
    bool has_breakdown;

    bool is_range;      /* several launches: a range, a command list, a graph */
    double active_frac; /* of the time an SM had a warp, average; NAN: unknown */
    bool has_stalls, stalls_from_samples;
    double stall_share[RIDGE_STALL_COUNT]; /* of all but selected and not_selected */
    ridge_stall top_stall;
    double sample_count; /* NAN: no sampling */

    double sm_count, grid_blocks, block_threads, warps_per_block;
    double shared_bytes; /* static + dynamic */
    ridge_launch launch;
    ridge_occupancy occupancy; /* ridge's own; blocks_per_sm 0: not computed */
    double theoretical_pct, achieved_pct;
    double waves, tail_frac; /* NAN: unknown */
    double busy_sm_frac;     /* average over busiest SM */

    bool has_shared_counters, has_sector_counters;
    double wavefronts, wavefronts_ideal; /* of shared memory, by instructions; NAN: unknown */
    double sectors, sectors_ideal;       /* L2, of global accesses; NAN: unknown */
    double shared_waste_frac;            /* of wavefronts, from instructions; NAN: unknown */
    double sector_waste_frac;            /* of L2 sectors; NAN: unknown */
    double local_frac;                   /* local part of global + local L1 sectors; NAN: unknown */
    double narrow_frac;                  /* of global accesses; NAN: unknown */
    double conversion_frac;              /* of instructions */
    double atomic_frac;                  /* of global accesses */
    double bytes_needed_per_sm, bytes_available_per_sm; /* in flight; NAN: unknown */
    double dram_bytes;                                  /* moved */
    struct code_facts code;
};

#define WALL_BIT(wall) (1u << (unsigned)(wall))
#define HAS(facts, meaning) (!isnan((facts)->value[RIDGE_MEANING_##meaning]))
#define VALUE(facts, meaning) ((facts)->value[RIDGE_MEANING_##meaning])

ridge_status facts_collect(struct facts *facts, const ridge_report *report, size_t kernel_index,
                           const ridge_diagnose_options *options, ridge_arena *arena,
                           ridge_error *err);
void facts_release(struct facts *facts);
void code_facts_collect(struct facts *facts);

/* The busiest constituent of one or both sides that is no symptom; NULL: none. */
const struct constituent *facts_top(const struct facts *facts, bool memory, bool compute);
/* The busiest constituent of a wall; 0 when there is none. */
double facts_wall_pct(const struct facts *facts, ridge_wall wall);
/* The next busiest unit when walls (bits WALL_BIT) are taken away, as a fraction, and which it is. */
double facts_next_wall(const struct facts *facts, unsigned without, ridge_wall *next);
/* How many times as fast until the busiest unit is full, and which it is; NAN: unknown. */
double facts_headroom(const struct facts *facts, ridge_wall *next);
/* Share of samples or of ratios of one stall. */
double facts_stall(const struct facts *facts, ridge_stall stall);
bool facts_is_matrix_kernel(const struct facts *facts);
/* Whether the bytes under way should hide the latency of device memory, by an estimate of a tenth. */
bool facts_has_bytes_in_flight(const struct facts *facts);

/* A text in the arena; "" when out of memory, which the facts remember. */
const char *facts_text(struct facts *facts, const char *format, ...) RIDGE_PRINTF(2, 3);

/* -- gates ------------------------------------------------------------------------------------- */

struct verdict {
    ridge_class cls;
    ridge_wall wall;
    double saturation_frac; /* NAN: unknown */
    bool near;              /* near the wall, not at it */
    bool saturated;
    bool between;                  /* gate 5 decided */
    int gate;                      /* that closed: 0..5; -1: none */
    const struct constituent *top; /* the unit; NULL: none */
};

/* Runs the gates, in order, and notes how far each came. */
void gates_run(struct facts *facts, struct verdict *verdict, ridge_gate_note notes[RIDGE_GATES]);

/* -- rules ------------------------------------------------------------------------------------- */

/* What a rule says. A weight of 0: nothing to say. The list is ordered by weight. */
struct judgement {
    double weight;
    ridge_finding finding;
    const char *not_now; /* the reason why not to chase it; NULL: it is a finding */
};

/* Weights: the finding that the verdict rests on is above PRIMARY, one that shares in it above
 * SHARED; those below MINOR are printed with --all only. */
enum { WEIGHT_PRIMARY = 80, WEIGHT_SHARED = 50, WEIGHT_MINOR = 20 };

typedef void rule_function(struct facts *facts, const struct verdict *verdict,
                           struct judgement *out);

struct rule {
    const char *id;
    rule_function *judge;
};

/* A topic's rules end with a row whose id is NULL. */
extern const struct rule memory_rules[], compute_rules[], latency_rules[], parallelism_rules[];

/* Helpers of rules. */
void finding_evidence(struct facts *facts, ridge_finding *finding, ridge_meaning meaning);
void finding_number(ridge_finding *finding, const char *metric, const char *label, double value,
                    const char *unit);
void finding_stall(struct facts *facts, ridge_finding *finding, ridge_stall stall);
void finding_bar(ridge_finding *finding, const struct constituent *constituent);
/* Sets the interval [0.6 bound, bound], not below 1, and the wall that comes next. */
void finding_bound(ridge_finding *finding, double bound, ridge_wall next);

/* Which counter of a row ranks places. */
enum place_kind {
    PLACE_SAMPLES,       /* stall samples of one reason */
    PLACE_SHARED_EXCESS, /* wavefronts above ideal */
    PLACE_SECTOR_EXCESS,
    PLACE_SHARED, /* wavefronts */
    PLACE_SECTORS,
    PLACE_LOCAL,
    PLACE_EXECUTED
};
typedef bool row_filter(const ridge_instruction *row);
/* Adds the hottest places, one a source line and opcode; filter may be NULL. */
void finding_places(struct facts *facts, ridge_finding *finding, enum place_kind kind,
                    ridge_stall stall, row_filter *filter, const char *of);

bool row_is_global(const ridge_instruction *row);
bool row_is_narrow(const ridge_instruction *row);
bool row_is_local(const ridge_instruction *row);
bool row_is_atomic(const ridge_instruction *row); /* of global memory */
bool row_is_shared_atomic(const ridge_instruction *row);
bool row_is_conversion(const ridge_instruction *row);

/* -- words ------------------------------------------------------------------------------------- */

/* "" for 1, else "s". */
const char *words_plural(double count);
/* "910.7 us on NVIDIA H200, 1024 blocks of 256 threads, 16 registers, 8.00 KiB shared" */
void words_launch(ridge_text *text, const ridge_diagnosis *diagnosis);
/* "1.6 to 2.7 times as fast; then device memory limits"; nothing without a bound. */
void words_bound(ridge_text *text, const ridge_diagnosis *diagnosis, const ridge_finding *finding);
/* "long_scoreboard 86 %, wait 6 %" */
void words_waiting(ridge_text *text, const ridge_diagnosis *diagnosis);
/* "100.0 % of the warps fit, 75.1 % were resident, 993 waves of blocks" */
void words_warps(ridge_text *text, const ridge_diagnosis *diagnosis);

/* -- what is missing, and the sentence --------------------------------------------------------- */

void missing_collect(struct facts *facts, const struct verdict *verdict, ridge_diagnosis *out);

#endif
