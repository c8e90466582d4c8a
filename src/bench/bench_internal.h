/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of bench share.
 *
 *     statistics.c plan.c verdict.c      pure: numbers to a verdict
 *     arm_buffers.c rotation.c           which buffers, where they lie
 *     slots.c                            one slot: launches and events, nothing else
 *     outputs.c guards.c                 what is looked at around slots
 *     floors.c measured_roofs.c          what time is held against
 *     loop.c sustained.c summary.c       placements of blocks of slots, and their sum
 *     compare_arms.c measure_arm.c       the public calls */
#ifndef RIDGE_BENCH_INTERNAL_H
#define RIDGE_BENCH_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ridge/bench.h"

/* -- chance ------------------------------------------------------------------------------------ */

/* splitmix64 (Steele, Lea, Flood 2014): orders and samples are a function of the seed alone. */
typedef struct bench_chance {
    uint64_t state;
} bench_chance;

static inline uint64_t bench_chance_next(bench_chance *chance)
{
    uint64_t z = (chance->state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* 0 ... below - 1; the bias of the product is below 2^-32 for the small numbers used here. */
static inline unsigned bench_chance_below(bench_chance *chance, unsigned below)
{
    return (unsigned)(((bench_chance_next(chance) >> 32) * (uint64_t)below) >> 32);
}

/* -- numbers that grow ------------------------------------------------------------------------- */

typedef struct bench_series {
    double *values;
    size_t count, capacity;
} bench_series;

ridge_status bench_series_reserve(bench_series *series, size_t capacity, ridge_error *err);
ridge_status bench_series_add(bench_series *series, double value, ridge_error *err);
double bench_series_median(const bench_series *series);
void bench_series_release(bench_series *series);

/* Theil and Sen: the median of the slopes between all pairs; count at most 64, NAN below two. */
double bench_trend(const double *values, size_t count);

double bench_now_s(void); /* monotonic */

/* -- verdict ----------------------------------------------------------------------------------- */

/* What differs between sessions of identical code and no placement of one session shows: alignment
 * of code, where the driver put things. Centres of 39 sessions of a 16 MiB copy on an H200 spread by
 * 0.072 %, their placements promised 0.056 %; the rest, 0.045 %, is worth +-0.1 % of an interval
 * (bench/results/h200_harness.md). */
#define BENCH_LEAST_HALF_WIDTH 0.001
/* Adds that to an interval, as independent parts add: no interval is narrower. */
void bench_interval_widen(ridge_interval *interval);
/* ridge_plan_needed() of another run, whose pilot has so many placements even where time ended this
 * one's. */
int bench_plan_needed(const ridge_interval *interval, int pilot, double delta);

/* -- buffers ----------------------------------------------------------------------------------- */

enum { BENCH_SLABS = 2 * RIDGE_KERNEL_BUFFERS, BENCH_ARMS = 2, BENCH_SETS = 64 };

/* The memory of a buffer in every set; of both arms when they want the same. */
typedef struct bench_slab {
    ridge_buffer_desc desc;
    ridge_role role; /* INOUT too for an input whose memory an output shares */
    size_t span_bytes;
    int owner;          /* the arm whose fill() makes its contents: the first that has it */
    size_t owner_index; /* of that arm's buffers */
    unsigned arms;      /* bits 1 << arm */
} bench_slab;

typedef struct bench_arm_buffers {
    ridge_buffer_desc descs[RIDGE_KERNEL_BUFFERS];
    int slab[RIDGE_KERNEL_BUFFERS];
    size_t count;
} bench_arm_buffers;

typedef struct bench_buffers {
    bench_slab slabs[BENCH_SLABS];
    int slab_count;
    bench_arm_buffers arms[BENCH_ARMS];
    size_t set_bytes; /* of a set, with room for the random pads */
    size_t span_bytes, shared_bytes;
    bool has_inout;
} bench_buffers;

/* Describes the buffers of one or two arms; share: equal ones are one slab. */
ridge_status bench_buffers_describe(const ridge_kernel *const *kernels, int arm_count,
                                    const ridge_case *at, bool share, bench_buffers *out,
                                    ridge_error *err);

/* -- a run ------------------------------------------------------------------------------------- */

/* One allocation of all rotation sets. */
typedef struct bench_placement {
    void *arena;
    void **addresses;            /* sets x slabs: of element (0, 0, ...) */
    void **pointers[BENCH_ARMS]; /* sets x buffers of the arm, for views */
    void **states[BENCH_ARMS];   /* sets: of prepare */
    int prepared[BENCH_ARMS];    /* sets that were */
    uint64_t *seeds;             /* sets: of the contents */
    ridge_graph *graphs[BENCH_ARMS];
    uint64_t address_hash;
} bench_placement;

typedef struct bench_arm_state {
    const ridge_bench_arm *given;
    const ridge_kernel *kernel;
    const char *role; /* "baseline", "candidate"; "" when there is one arm */
    ridge_kernel_work work;
    double time_ns;       /* estimate of a launch */
    bench_series medians; /* of slots, amortised ones in graph and batch mode */
    bench_series singles; /* of slots of single launches in graph mode */
    bench_series p10, p90, iqr, clocks, powers, idles;
    bench_series skews;              /* of slots: mean over median */
    bench_series set_skews;          /* of placements: the same of the least times of each set */
    double set_least_ns[BENCH_SETS]; /* in the placement at hand; NAN: not launched on */
    int set_launches[BENCH_SETS];
    double least_ns, prepare_ns;
    int slots, launches;
    char path[240];
} bench_arm_state;

/* A copy of what a timed launch left in the outputs, set aside to be looked at afterwards. */
typedef struct bench_sample {
    int arm, set;
    int times;               /* launches on these buffers since they were filled: for INOUT */
    uint64_t seed, previous; /* of the inputs; before a refill, 0: there was none */
    bool is_scrambled;       /* of the warm-up: order and shared memory were disturbed */
    void *data;              /* outputs one behind the other, on the device */
} bench_sample;

enum { BENCH_SHELF = 12, BENCH_EVENTS = 257, BENCH_BATCHES = 8 };

/* Of each arm: place 0 is the scrambled one's, the others are a sample of all slots in which each
 * has the same chance. */
typedef struct bench_shelf {
    bench_sample samples[BENCH_ARMS][1 + BENCH_SHELF];
    bool is_taken[BENCH_ARMS][1 + BENCH_SHELF];
    int places;                   /* of an arm, 0: no memory for any */
    unsigned offered[BENCH_ARMS]; /* so far */
    double spent_s;               /* on refills and copies */
    bench_chance chance;          /* its own: what it draws depends on time */
    size_t sample_bytes;
    void *arena;
} bench_shelf;

enum { BENCH_PLACEMENTS = 64, BENCH_BLOCKS = 32 };

typedef struct bench_run {
    ridge_device *device;
    const ridge_device_info *info;
    bool is_gpu;
    const ridge_bench_sink *sink; /* never NULL */
    ridge_bench_options options;  /* nothing is 0 for a default any more */
    ridge_case at;
    int arm_count;
    bench_arm_state arms[BENCH_ARMS];
    bench_buffers buffers;
    ridge_stream *stream;
    ridge_event *events[BENCH_EVENTS];
    bench_chance chance;
    ridge_mode mode;
    int launches;       /* of a slot; of graphs in graph mode */
    int graph_launches; /* of a graph */
    int rotation;
    double footprint_bytes;
    bench_placement placement;
    bench_shelf shelf;
    ridge_floors floors;
    double idle_floor_ns; /* a synchronisation with nothing left to wait for */
    ridge_roofs roofs;
    bool has_roofs, roofs_bind; /* bind: nothing can be faster */
    double started_s, deadline_s;
    bench_series times; /* of the launches of a slot */
    float *samples;     /* the same, for the sink */
    size_t sample_capacity;
    double placements[BENCH_PLACEMENTS]; /* their values; comparison: ln ratios, else ns */
    int placement_count, block_count, slot_count;
    double placements_begin_s; /* when the first began: what one takes */
    double setup_s, each_s;    /* of the budget: before the first, for one; 0: none was measured */
    int outputs_checked;
    double reference_s; /* spent on references */
    unsigned clock_reasons;
    double power_most_frac; /* greatest mean power of an arm over the limit */
    bool is_interrupted, is_busy, is_invalid;
    char invalid_guard[16];
    char invalid_cause[240];
} bench_run;

/* loop.c. Arms are borrowed; b NULL: one arm. */
ridge_status bench_run_open(bench_run *run, ridge_device *device, const ridge_bench_arm *a,
                            const ridge_bench_arm *b, const ridge_case *at,
                            const ridge_bench_options *options, const ridge_bench_sink *sink,
                            ridge_error *err);
void bench_run_release(bench_run *run);
/* Check, floors, roofs, the first placement, mode and length of slots, warm-up. Returns early, with
 * run->is_invalid, when the check says no. */
ridge_status bench_run_start(bench_run *run, ridge_error *err);
/* Placements of blocks; a block of one arm is two slots. */
ridge_status bench_run_placements(bench_run *run, ridge_error *err);
bool bench_guarded(const bench_run *run, ridge_guard guard);
bool bench_should_stop(bench_run *run);
void bench_progress(bench_run *run, ridge_phase phase, int done, int total);
/* Name of an arm for messages: "candidate probe:copy". */
void bench_arm_title(const bench_run *run, int arm, char *out, size_t size);
/* The same failure with the arm named. */
ridge_status bench_arm_failed(const bench_run *run, int arm, const char *what, ridge_status status,
                              const ridge_error *cause, ridge_error *err);

/* rotation.c */
/* Sets so that they are more than three times the last-level cache, at most 64. */
int bench_rotation_sets(double footprint_bytes, double l2_bytes, size_t set_bytes,
                        size_t most_bytes);
/* Replaces run->placement: the new one is allocated before the old one is freed. */
ridge_status bench_placement_renew(bench_run *run, ridge_error *err);
void bench_placement_release(bench_run *run, bench_placement *placement);
/* Contents of a set anew. */
ridge_status bench_set_fill(bench_run *run, int set, uint64_t seed, ridge_error *err);
ridge_status bench_set_poison(bench_run *run, int arm, int set, ridge_error *err);
/* Undoes what launches did to INOUT buffers of every set. */
ridge_status bench_sets_restore(bench_run *run, ridge_error *err);
/* The message of a failure names the arm. */
ridge_status bench_launch(bench_run *run, int arm, int set, ridge_error *err);
/* Waits for the stream; a failure is the arm's. */
ridge_status bench_wait(bench_run *run, int arm, ridge_error *err);
/* The least address of a slab's memory. */
void *bench_slab_memory(const bench_run *run, int set, int slab);

/* slots.c */
/* Graphs of the placement at hand for the arms, in graph mode. */
ridge_status bench_graphs_capture(bench_run *run, ridge_error *err);
/* One launch captured: says what it is made of and whether it can be. */
bool bench_path_of(bench_run *run, int arm);
/* launches single launches from set start on, in mode; fills times and the statistics of *slot. */
ridge_status bench_slot_time(bench_run *run, int arm, ridge_mode mode, int launches, int start,
                             ridge_slot *slot, ridge_error *err);
/* The whole of a slot: before, in and after it. block -1: kept by nobody but the sink. */
ridge_status bench_slot(bench_run *run, int arm, int block, int position, int start,
                        ridge_slot *slot, ridge_error *err);

/* outputs.c */
ridge_status bench_shelf_open(bench_run *run, size_t most_bytes, ridge_error *err);
void bench_shelf_release(bench_run *run);
/* Chooses a set for this slot, refills and poisons it; set -1: none this time. */
ridge_status bench_sample_before(bench_run *run, int arm, int start, bench_sample *sample,
                                 ridge_error *err);
ridge_status bench_sample_after(bench_run *run, const bench_sample *sample, ridge_error *err);
/* One launch of the arm on a set out of turn, after was the last one, with shared memory full of
 * something else. */
ridge_status bench_sample_scrambled(bench_run *run, int arm, int after, ridge_error *err);
/* Hash of the first MiB of each output that a launch on a set left. */
ridge_status bench_outputs_hash(bench_run *run, int arm, int set, uint64_t *out, ridge_error *err);
/* Both arms once on the same inputs, unless each was held against a reference: INVALID when outputs
 * differ in one element by more than rounding. */
ridge_status bench_arms_agree(bench_run *run, ridge_error *err);
/* All kept samples against the right answer. */
ridge_status bench_samples_check(bench_run *run, ridge_error *err);

/* outputs_reference.c. Doubles in logical order, by the baseline's buffers. */
typedef struct bench_answers {
    bool is_there; /* false: no reference, or it would take too long */
    double *in[RIDGE_KERNEL_BUFFERS], *out[RIDGE_KERNEL_BUFFERS], *none[RIDGE_KERNEL_BUFFERS];
} bench_answers;
ridge_status bench_answers_make(bench_run *run, bench_answers *out, ridge_error *err);
void bench_answers_release(bench_answers *answers);

/* guards.c */
void bench_invalidate(bench_run *run, ridge_guard guard, const char *format, ...)
    RIDGE_PRINTF(3, 4);
ridge_status bench_guards_before(bench_run *run, ridge_error *err); /* before anything is timed */
ridge_status bench_guards_slot(bench_run *run, int arm, int set, ridge_error *err);
ridge_status bench_guards_after(bench_run *run, ridge_error *err);
/* Notes the times of a slot's single launches by set, and sums a placement up. */
void bench_sets_note(bench_run *run, int arm, int start);
ridge_status bench_sets_sum_up(bench_run *run, ridge_error *err);

/* sustained.c */
bool bench_wants_sustained(const bench_run *run);
ridge_status bench_sustained(bench_run *run, ridge_interval *out, ridge_error *err);

/* floors.c */
ridge_status bench_floors(bench_run *run, ridge_error *err);

/* summary.c */
/* False when the sets fit the cache, where launches find their data. */
bool bench_is_cold(const bench_run *run);
/* Less than three times what an empty kernel takes in the run's mode. */
bool bench_is_launch_bound(const bench_run *run, double time_ns);
/* The time that decides. */
double bench_arm_time_ns(const bench_run *run, int arm);
/* Least time by roofs: bytes where the case is cold, operations; NAN unknown. */
double bench_bound_ns(const bench_run *run, int arm);
/* The shares and what binds, of *out, where is_launch_bound is set. */
void bench_bounds_of(const ridge_kernel_work *work, const ridge_roofs *nominal,
                     const ridge_roofs *measured, bool is_cold_case, double time_ns,
                     ridge_arm_summary *out);
void bench_arm_sum_up(const bench_run *run, int arm, ridge_arm_summary *out);

#endif
