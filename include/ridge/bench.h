/* SPDX-License-Identifier: Apache-2.0
 *
 * Is a kernel faster? Statistics, plan and verdict are pure functions; the measuring loop runs on
 * any ridge_device.
 *
 * launch: one execution. slot: k launches of one arm, its value the median of their times (or of
 * the eighths of a batch). block: four slots in the order ABBA or BAAB; value d = (ln B1 + ln B2 - ln
 * A1 - ln A2) / 2, so linear drift cancels. placement: one allocation of the buffers that both
 * arms share; value: Hodges-Lehmann centre of its blocks; the unit of replication. session: one
 * process, one GPU, one run. */
#ifndef RIDGE_BENCH_H
#define RIDGE_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ridge/bound.h"
#include "ridge/device.h"
#include "ridge/family.h"
#include "ridge/status.h"
#include "ridge/table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -- statistics -------------------------------------------------------------------------------- */

/* Each is NAN when a value is. */
double ridge_stat_median(const double *values, size_t count);                /* NAN when empty */
double ridge_stat_quantile(const double *values, size_t count, double frac); /* linear between */
/* Median of the Walsh averages (i <= j): Hodges-Lehmann. NAN when empty or of more than 64. */
double ridge_stat_centre(const double *values, size_t count);
double ridge_stat_mean(const double *values, size_t count);
double ridge_stat_sd(const double *values, size_t count); /* n - 1; NAN below two */
/* Student's t: the t with P(T <= t) = probability (0.975 for a two-sided 95 %), and the tail. NAN
 * outside their domain. */
double ridge_stat_t_quantile(double probability, double degrees);
double ridge_stat_t_tail(double t, double degrees); /* P(T > t) */

/* Stein's two-stage plan: placements in all for a half-width, from the spread of the pilot's:
 * min(most, max(pilot, ceil((t s / w)^2))) with t of pilot - 1 degrees of freedom. */
int ridge_plan_placements(double pilot_sd, int pilot, double half_width, int most);

/* Mean +- t(pilot - 1) s_pilot / sqrt(count), of ln ratios. All but centre NAN below two values. */
typedef struct ridge_interval {
    double centre, low, high; /* of ln(candidate / baseline) */
    double half_width;
    double detectable; /* effect told from zero in 80 % of runs: 1.36 half-widths */
    int count, pilot;
    double pilot_sd;
} ridge_interval;
void ridge_interval_of(const double *placements, int count, int pilot, ridge_interval *out);
/* Placements that would decide where the verdict is CANNOT_TELL: with the centre as it is, until 0
 * is outside or all is within delta. 0: not known. */
int ridge_plan_needed(const ridge_interval *interval, double delta);
/* The budget that so many placements take, in seconds: setup_s is what comes before the first, each_s one
 * of those that were measured; and a quarter, since no two take the same time. NAN: not known. */
double ridge_plan_budget_s(double setup_s, double each_s, int placements);

/* clang-format off */
#define RIDGE_VERDICT_LIST(X)                                                                      \
    X(IMPROVED) X(REGRESSED) X(SAME) X(FASTER_SMALL) X(SLOWER_SMALL) X(CANNOT_TELL)                \
    X(IDENTICAL_CODE) X(INVALID)
/* clang-format on */
typedef enum ridge_bench_verdict {
#define RIDGE_VERDICT_ENUM(name) RIDGE_VERDICT_##name,
    RIDGE_VERDICT_LIST(RIDGE_VERDICT_ENUM)
#undef RIDGE_VERDICT_ENUM
        RIDGE_VERDICT_COUNT
} ridge_bench_verdict;
const char *ridge_bench_verdict_name(ridge_bench_verdict verdict); /* "CANNOT_TELL" */
/* delta: what matters, of ln ratio. A NAN interval: CANNOT_TELL. */
ridge_bench_verdict ridge_bench_verdict_of(const ridge_interval *interval, double delta);
/* One-sided p of being beyond +delta or -delta, whichever is nearer to the centre's sign. */
double ridge_bench_verdict_p(const ridge_interval *interval, double delta);
/* Of a case of a sweep that was measured again because its first p was at most 0.025, in another
 * process with another seed: max(first, second)^2, the chance of both under the null. */
double ridge_bench_confirmed_p(double first, double second);
/* Holm's adjusted values of p[0 ... count - 1], in place order; NAN where p is, not counted. */
void ridge_holm(const double *p, size_t count, double *out);

/* -- measuring --------------------------------------------------------------------------------- */

typedef enum ridge_cache { RIDGE_CACHE_COLD, RIDGE_CACHE_HOT } ridge_cache;
typedef enum ridge_mode {
    RIDGE_MODE_AUTO,
    RIDGE_MODE_EVENT, /* events around single launches behind the gate */
    RIDGE_MODE_GRAPH, /* amortised over a graph of launches */
    RIDGE_MODE_BATCH, /* amortised over launches between two events: CPU, host-paced */
} ridge_mode;
typedef enum ridge_regime { RIDGE_REGIME_AUTO, RIDGE_REGIME_SHORT, RIDGE_REGIME_BOTH } ridge_regime;

/* Guards against ways to look fast; each can be switched off in tests of the harness only. */
/* clang-format off */
#define RIDGE_GUARD_LIST(X)                                                                        \
    X(CHECK, "check")             /* the gate: the check's quick set before timing */              \
    X(REFILL, "refill")           /* contents of rotation sets rewritten between slots */          \
    X(OUTPUTS, "outputs")         /* outputs of timed launches checked afterwards */               \
    X(IDLE, "idle")               /* nothing is left running behind the end event */               \
    X(ROOF, "roof")               /* no faster than memory and arithmetic allow */                 \
    X(BIMODAL, "bimodal")         /* launches of a slot take one time, not two */                  \
    X(PERSISTING, "persisting")   /* persisting L2 limit is 0 before and after */                  \
    X(SHARED, "shared")           /* shared memory and order scrambled in the warm-up */           \
    X(IDENTITY, "identity")       /* the two arms are different machine code */                    \
    X(SHARE_BUFFERS, "placement") /* both arms use the same buffers */                             \
    X(NULL_CONTROL, "null")
/* clang-format on */
typedef enum ridge_guard {
#define RIDGE_GUARD_ENUM(name, text) RIDGE_GUARD_##name,
    RIDGE_GUARD_LIST(RIDGE_GUARD_ENUM)
#undef RIDGE_GUARD_ENUM
        RIDGE_GUARD_COUNT
} ridge_guard;
const char *ridge_guard_name(ridge_guard guard);

typedef struct ridge_floors {
    double event_ns;  /* two events with nothing between */
    double kernel_ns; /* an empty kernel between events, queued */
    double graph_ns;  /* an empty kernel of a graph */
} ridge_floors;

/* An arm as the loop sees it. */
typedef struct ridge_bench_arm {
    const ridge_kernel *kernel;
    const char *name;      /* as given: "rms_norm:row_per_warp" */
    const char *code_hash; /* of the machine code; "" unknown */
} ridge_bench_arm;

typedef struct ridge_slot {
    int placement, block, position; /* position 0 ... 3; block -1: warm-up or single arm */
    int arm;                        /* 0: A, baseline; 1: B, candidate */
    int launches;                   /* k */
    double start_s;                 /* since the session began */
    double median_ns, p10_ns, p90_ns, least_ns; /* of launches, graphs, or eighths of a batch */
    double sm_hz, power_w, temperature_c;
    unsigned clock_reasons;
    const float *samples_ns; /* borrowed during the callback; NULL in batch mode */
    size_t sample_count;
} ridge_slot;

typedef enum ridge_phase {
    RIDGE_PHASE_PREPARE,
    RIDGE_PHASE_CHECK,
    RIDGE_PHASE_FLOORS,
    RIDGE_PHASE_WARM_UP,
    RIDGE_PHASE_NULL,
    RIDGE_PHASE_PILOT,
    RIDGE_PHASE_MEASURE,
    RIDGE_PHASE_SUSTAINED,
    RIDGE_PHASE_AFTER
} ridge_phase;
const char *ridge_phase_name(ridge_phase phase); /* "warming up" */

/* Called from the loop, outside slots; any may be NULL. should_stop: true ends the run after the
 * slot at hand and keeps what was measured. */
typedef struct ridge_bench_sink {
    void (*slot)(void *context, const ridge_slot *slot);
    void (*placement)(void *context, int placement, uint64_t address_hash, double value);
    void (*floors)(void *context, const ridge_floors *floors);
    void (*roofs)(void *context, const ridge_roofs *roofs);
    /* done of total steps of this phase; remaining_s of the whole run, NAN unknown */
    void (*progress)(void *context, ridge_phase phase, int done, int total, double remaining_s);
    bool (*should_stop)(void *context);
    void *context;
    /* For arms whose buffers are not the loop's: called once, before anything is timed, when both
     * know their case. cause: why the comparison is INVALID; "". */
    ridge_status (*agree)(void *context, char *cause, size_t size, ridge_error *err);
    /* For such arms too: REFILL, OUTPUTS and SHARED are theirs. behind: after each slot of an arm,
     * untimed; without: bits of guards that are off. after: once, *guard and cause say why the result
     * is INVALID; cause stays "". */
    ridge_status (*behind)(void *context, int arm, uint64_t without, ridge_error *err);
    ridge_status (*after)(void *context, ridge_guard *guard, char *cause, size_t size,
                          ridge_error *err);
} ridge_bench_sink;

typedef struct ridge_bench_options {
    double delta;    /* ln ratio that matters; 0: 0.01, 0.02 when launch-bound */
    double budget_s; /* of a case; 0: 60 */
    int pilot, blocks,
        most; /* placements of the pilot, blocks each, placements at most: 0: 6, 4, 24 */
    ridge_cache cache;
    ridge_mode mode;
    ridge_regime regime;
    bool null_control; /* compare A with a second copy of itself: `b` is that copy */
    uint64_t seed;
    uint64_t without;         /* bits 1 << ridge_guard switched off: tests of the harness */
    const ridge_roofs *roofs; /* measured before on this machine; NULL: measure */
    bool measure_roofs;
} ridge_bench_options;

/* One arm, summed up. Times NAN when none was taken. */
typedef struct ridge_arm_summary {
    char name[1024]; /* "..." and the end of a longer one */
    char code_hash[40];
    double median_ns, p10_ns, p90_ns, least_ns, iqr_ns; /* median of slot medians; launches */
    double amortized_ns;                                /* graph or batch; NAN */
    int slots, launches;
    double sm_hz, power_w;
    double prepare_ns;              /* host time of prepare, 0: none */
    double bytes_per_s, flop_per_s; /* of the work model; NAN unknown */
    double roof_frac, nominal_frac; /* of the binding measured and nominal roof; NAN */
    double bound_ns;                /* least time by measured roofs, else nominal */
    bool is_launch_bound;
    /* The larger of what bytes and operations take at measured roofs, nominal where one was not
     * measured; LAUNCH when is_launch_bound; NOTHING: neither is known. Bytes count where the case
     * is cold: what comes from the L2 has no roof here. */
    ridge_bound_by bound_by;
    ridge_peak peak; /* the unit of its operations */
} ridge_arm_summary;

/* Plain data. */
typedef struct ridge_comparison {
    ridge_case at;
    ridge_device_info device;
    ridge_arm_summary arms[2];
    ridge_interval interval;  /* equal clock: short slots */
    ridge_interval sustained; /* NAN centre: not measured */
    double delta;
    ridge_bench_verdict verdict;
    double p;          /* ridge_bench_verdict_p */
    bool by_sustained; /* the verdict is about the sustained ratio */
    bool regimes_disagree;
    int placements_needed;  /* for CANNOT_TELL: placements that would decide; 0 */
    double budget_needed_s; /* the budget of those, ridge_plan_budget_s(); NAN */
    ridge_mode mode;
    ridge_cache cache;
    int rotation;       /* sets */
    double rotation_l2; /* their footprint over the L2 */
    double footprint_bytes, shared_frac;
    int placements, blocks, slots;
    int outputs_checked;
    ridge_floors floors;
    double floor_frac;                   /* kernel floor over the baseline's time */
    double null_centre, null_half_width; /* NAN: no control */
    double duration_s;
    bool is_interrupted, is_busy;
    unsigned clock_reasons;
    char invalid_guard[16];  /* ridge_guard_name(): which guard spoke; "" */
    char invalid_cause[240]; /* in words */
    char record_id[40];      /* of its row in the records; "" outside a session */
    char path[2][240];       /* kernels a launch makes: "name grid(..) x block(..)"; "" */
} ridge_comparison;

/* One arm alone, plain data. */
typedef struct ridge_measurement {
    ridge_case at;
    ridge_device_info device;
    ridge_arm_summary arm;
    ridge_mode mode;
    ridge_cache cache;
    int rotation;
    double rotation_l2, footprint_bytes;
    ridge_floors floors;
    double floor_frac;
    double spread_frac; /* between placements: range over median */
    int placements, outputs_checked;
    double duration_s;
    bool is_interrupted, is_busy, is_invalid;
    unsigned clock_reasons;
    char invalid_guard[16];
    char invalid_cause[240];
    char path[240];
} ridge_measurement;

/* Sets of less than this many L2 together leave inputs there. */
#define RIDGE_COLD_L2 2.5
/* "hot", "cold", "in L2, not cold", "partly in L2, not cold": what a rotation comes to. */
const char *ridge_bench_cache_text(ridge_cache cache, double rotation_l2);
const char *ridge_bench_bound_text(ridge_bound_by by); /* "memory"; "n/a" */

/* Seconds that a run takes as a rule, before it is started: kernels below 1 ms, a quiet machine. A case
 * may take its budget, and what check, floors and roofs take. */
double ridge_bench_estimate_s(const ridge_bench_options *options, bool is_comparison);

/* A verdict, INVALID too, is RIDGE_OK. sink may be NULL. */
ridge_status ridge_bench_compare(ridge_device *device, const ridge_bench_arm *a,
                                 const ridge_bench_arm *b, const ridge_case *at,
                                 const ridge_bench_options *options, const ridge_bench_sink *sink,
                                 ridge_comparison *out, ridge_error *err);
ridge_status ridge_bench_measure(ridge_device *device, const ridge_bench_arm *arm,
                                 const ridge_case *at, const ridge_bench_options *options,
                                 const ridge_bench_sink *sink, ridge_measurement *out,
                                 ridge_error *err);

/* -- results for programs ---------------------------------------------------------------------- */

/* Objects whose keys are the names of the C fields, with base units; what is not known is null.
 * What is a natural logarithm of a ratio of times has ln_ before its name: "ln_centre", "ln_delta".
 * The arms of a comparison are "a" and "b", its paths "a_path" and "b_path"; an interval has its
 * "ratio" too, and is null without a centre. */
const char *ridge_mode_name(ridge_mode mode); /* "event" */
void ridge_interval_write_json(ridge_json *json, const char *key, const ridge_interval *interval);
void ridge_arm_summary_write_json(ridge_json *json, const char *key, const ridge_arm_summary *arm);
void ridge_comparison_write_json(ridge_json *json, const char *key,
                                 const ridge_comparison *comparison);
void ridge_measurement_write_json(ridge_json *json, const char *key,
                                  const ridge_measurement *measurement);

/* -- the machine ------------------------------------------------------------------------------- */

/* Floors and roofs of a device, by the probes: copy and read bandwidth, FMA and tensor rates. */
ridge_status ridge_bench_floors(ridge_device *device, ridge_floors *out, ridge_error *err);
ridge_status ridge_bench_roofs(ridge_device *device, ridge_roofs *out, ridge_error *err);

#ifdef __cplusplus
}
#endif
#endif
