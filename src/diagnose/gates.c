/* SPDX-License-Identifier: Apache-2.0
 *
 * The gates, in order. A later one has no say before an earlier one has passed: that is what keeps
 * "low occupancy" from standing above a kernel that already saturates device memory.
 *
 * Each gate is a function and a row of gates[]. It looks at the facts, may fill the verdict, and
 * notes its reasoning. docs/diagnosis.md says where and why the rules differ from the first
 * specification. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/diagnose_internal.h"

static ridge_gate_outcome close_gate(struct verdict *verdict, ridge_class cls, ridge_wall wall,
                                     double saturation_frac)
{
    verdict->cls = cls;
    verdict->wall = wall;
    verdict->saturation_frac = saturation_frac;
    return RIDGE_GATE_CLOSED;
}

/* -- gate 0: can the profile be trusted, is the kernel long enough to have a wall? ------------- */

static ridge_gate_outcome gate_trust(struct facts *facts, struct verdict *verdict,
                                     const char **reasoning)
{
    char time[48];

    if (!HAS(facts, DURATION_NS)) {
        *reasoning = "the report holds no kernel time";
        return RIDGE_GATE_UNDECIDED;
    }
    if (VALUE(facts, DURATION_NS) < SHORT_NS) {
        *reasoning = facts_text(facts,
                                "the kernel takes %.2f us: below %.0f us launch, ramp-up and "
                                "cold caches dominate",
                                VALUE(facts, DURATION_NS) / 1e3, SHORT_NS / 1e3);
        return close_gate(verdict, RIDGE_CLASS_LATENCY, RIDGE_WALL_PARALLELISM, NAN);
    }
    *reasoning =
        facts_text(facts, "it takes %s, long enough to have a wall",
                   ridge_number_text(VALUE(facts, DURATION_NS), RIDGE_UNIT_NS, time, sizeof(time)));
    return RIDGE_GATE_PASSED;
}

/* -- gate 1: is a unit saturated? -------------------------------------------------------------- */

static double near_pct(const struct constituent *unit)
{
    return unit->wall == RIDGE_WALL_DRAM ? NEAR_DRAM_PCT : NEAR_PCT;
}

/* The busiest unit that is near its wall; NULL: none is. */
static const struct constituent *busiest_near(const struct constituent *list, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        if (!list[i].is_symptom && list[i].pct >= near_pct(&list[i]))
            return &list[i];
    return NULL;
}

/* The arithmetic unit that does the useful work, when it is as good as tied with the top: a
 * tensor pipe fed from shared memory, a pipe that fills all issue slots, a fused kernel whose
 * arithmetic ties with device memory. */
static const struct constituent *useful_instead(const struct facts *facts,
                                                const struct constituent *top)
{
    const struct constituent *tensor = NULL, *pipe = NULL;
    size_t i;

    for (i = 0; i < facts->compute_count; i++) {
        const struct constituent *const unit = &facts->compute[i];

        if (unit->is_symptom || unit->is_memory)
            continue;
        if (unit->wall == RIDGE_WALL_TENSOR && tensor == NULL)
            tensor = unit;
        else if (unit->wall != RIDGE_WALL_TENSOR && unit->wall != RIDGE_WALL_ISSUE && pipe == NULL)
            pipe = unit;
    }
    if (tensor != NULL && tensor->pct >= top->pct - TENSOR_TIE_PCT &&
        !(facts->shared_waste_frac >= WASTE_FRAC))
        return tensor;
    if (pipe != NULL && pipe->pct >= top->pct - USEFUL_TIE_PCT &&
        (top->wall == RIDGE_WALL_ISSUE || top->wall == RIDGE_WALL_DRAM))
        return pipe;
    return NULL;
}

static ridge_gate_outcome gate_saturated(struct facts *facts, struct verdict *verdict,
                                         const char **reasoning)
{
    const struct constituent *const memory = busiest_near(facts->memory, facts->memory_count);
    const struct constituent *const compute = busiest_near(facts->compute, facts->compute_count);
    const struct constituent *top = memory, *useful;

    if (facts->memory_count == 0 && facts->compute_count == 0) {
        *reasoning = "the report holds no speed of light (section SpeedOfLight)";
        return RIDGE_GATE_UNDECIDED;
    }
    if (top == NULL || (compute != NULL && compute->pct > top->pct))
        top = compute;
    if (top == NULL) {
        const struct constituent *const busiest = facts_top(facts, true, true);

        *reasoning = facts_text(facts,
                                "the busiest unit is %s at %.1f %%; near is %.0f %% (%.0f %% for "
                                "DRAM)",
                                busiest != NULL ? busiest->label : "none",
                                busiest != NULL ? busiest->pct : 0.0, NEAR_PCT, NEAR_DRAM_PCT);
        return RIDGE_GATE_PASSED;
    }
    useful = useful_instead(facts, top);
    *reasoning = useful != NULL
                     ? facts_text(facts, "%s is at %.1f %%, and %s at %.1f %% does the useful work",
                                  top->label, top->pct, useful->label, useful->pct)
                     : facts_text(facts, "%s is at %.1f %%", top->label, top->pct);
    if (useful != NULL)
        top = useful;
    verdict->top = top;
    verdict->saturated = top->pct >= SATURATED_PCT;
    verdict->near = !verdict->saturated;
    return close_gate(verdict, top->is_memory ? RIDGE_CLASS_MEMORY : RIDGE_CLASS_COMPUTE, top->wall,
                      top->pct / 100);
}

/* -- gate 2: is there enough parallel work? ---------------------------------------------------- */

static ridge_gate_outcome gate_parallelism(struct facts *facts, struct verdict *verdict,
                                           const char **reasoning)
{
    const struct constituent *const busiest = facts_top(facts, true, true);
    const double saturation_frac = busiest != NULL ? busiest->pct / 100 : NAN;

    if (facts->is_range && facts->active_frac < IDLE_FRAC) {
        *reasoning = facts_text(facts,
                                "the SMs have a warp for %.1f %% of the time; the rest is "
                                "between the launches",
                                facts->active_frac * 100);
        return close_gate(verdict, RIDGE_CLASS_LATENCY, RIDGE_WALL_PARALLELISM, saturation_frac);
    }
    if (facts->is_range) {
        *reasoning = isnan(facts->active_frac)
                         ? "how long the SMs had work is not recorded"
                         : facts_text(facts, "the SMs have a warp for %.1f %% of the time",
                                      facts->active_frac * 100);
        return isnan(facts->active_frac) ? RIDGE_GATE_UNDECIDED : RIDGE_GATE_PASSED;
    }
    if (isnan(facts->grid_blocks) || isnan(facts->sm_count)) {
        *reasoning = "the report does not say how many blocks and multiprocessors there are";
        return RIDGE_GATE_UNDECIDED;
    }
    if (facts->grid_blocks < GRID_FRAC * facts->sm_count) {
        *reasoning = facts_text(facts, "%.0f block%s for %.0f SMs leave %.0f without work",
                                facts->grid_blocks, words_plural(facts->grid_blocks),
                                facts->sm_count, facts->sm_count - facts->grid_blocks);
        return close_gate(verdict, RIDGE_CLASS_LATENCY, RIDGE_WALL_PARALLELISM, saturation_frac);
    }
    if (facts->waves < 0.5 && facts->achieved_pct < 0.6 * facts->theoretical_pct) {
        *reasoning = facts_text(facts,
                                "%.2f waves: an SM could hold %.1f times the warps that the grid "
                                "gives it",
                                facts->waves, 1 / facts->waves);
        return close_gate(verdict, RIDGE_CLASS_LATENCY, RIDGE_WALL_PARALLELISM, saturation_frac);
    }
    if (facts->busy_sm_frac < IMBALANCE_FRAC) {
        *reasoning =
            facts_text(facts, "SMs are active %.0f %% as long as the busiest one, on average",
                       facts->busy_sm_frac * 100);
        return close_gate(verdict, RIDGE_CLASS_LATENCY, RIDGE_WALL_PARALLELISM, saturation_frac);
    }
    if (facts->tail_frac >= TAIL_FRAC && !(facts->busy_sm_frac >= EVEN_FRAC)) {
        *reasoning =
            facts_text(facts, "%.2f waves: the last one leaves %.0f %% of the SM time unused",
                       facts->waves, facts->tail_frac * 100);
        return close_gate(verdict, RIDGE_CLASS_LATENCY, RIDGE_WALL_PARALLELISM, saturation_frac);
    }
    *reasoning =
        facts_text(facts, "%.0f block%s on %.0f SMs%s", facts->grid_blocks,
                   words_plural(facts->grid_blocks), facts->sm_count,
                   isnan(facts->waves)
                       ? ""
                       : facts_text(facts, facts->waves < 1000 ? ", %.4g wave%s" : ", %.0f wave%s",
                                    facts->waves, words_plural(facts->waves)));
    return RIDGE_GATE_PASSED;
}

/* -- gate 3: is occupancy the reason? ---------------------------------------------------------- */

static ridge_gate_outcome gate_occupancy(struct facts *facts, struct verdict *verdict,
                                         const char **reasoning)
{
    const struct constituent *const busiest = facts_top(facts, true, true);

    if (facts->is_range) {
        *reasoning = "does not apply to several launches";
        return RIDGE_GATE_PASSED;
    }
    if (isnan(facts->theoretical_pct)) {
        *reasoning = "the report holds no occupancy (sections Occupancy, LaunchStats)";
        return RIDGE_GATE_UNDECIDED;
    }
    if (facts->theoretical_pct > LOW_OCCUPANCY_PCT) {
        *reasoning =
            facts_text(facts, "%.1f %% of the warps fit, above %.1f %%%s", facts->theoretical_pct,
                       LOW_OCCUPANCY_PCT,
                       facts->achieved_pct < RESIDENT_FRAC * facts->theoretical_pct
                           ? facts_text(facts, "; only %.1f %% were resident", facts->achieved_pct)
                           : "");
        return RIDGE_GATE_PASSED;
    }
    if (facts_is_matrix_kernel(facts)) {
        *reasoning = facts_text(facts,
                                "only %.1f %% of the warps fit, but the tensor pipe is at %.1f %%: "
                                "such kernels live on instruction-level parallelism",
                                facts->theoretical_pct, VALUE(facts, TENSOR_PCT));
        return RIDGE_GATE_PASSED;
    }
    if (facts_has_bytes_in_flight(facts)) {
        *reasoning = facts_text(facts,
                                "only %.1f %% of the warps fit, but an SM has %.1f KiB of loads "
                                "under way and needs %.1f KiB",
                                facts->theoretical_pct, facts->bytes_available_per_sm / 1024,
                                facts->bytes_needed_per_sm / 1024);
        return RIDGE_GATE_PASSED;
    }
    if (busiest == NULL) {
        *reasoning = facts_text(facts,
                                "only %.1f %% of the warps fit; whether that is the reason cannot "
                                "be told without the speed of light",
                                facts->theoretical_pct);
        return RIDGE_GATE_UNDECIDED;
    }
    *reasoning = facts_text(facts, "only %.1f %% of the warps fit, and no unit is near its limit",
                            facts->theoretical_pct);
    return close_gate(verdict, RIDGE_CLASS_LATENCY, RIDGE_WALL_OCCUPANCY, busiest->pct / 100);
}

/* -- gate 4: which stall binds? ---------------------------------------------------------------- */

/* The unit that handles barriers, branches and address divergence is near its limit and warps
 * wait most at barriers: the barriers fill it, and no other unit is busier. */
static bool barriers_fill_adu(const struct facts *facts)
{
    return facts->top_stall == RIDGE_STALL_BARRIER && VALUE(facts, ADU_PCT) >= NEAR_PCT;
}

/* From BETWEEN_PCT on, the busier side names class and wall: gate 5. */
static bool is_between(const struct facts *facts)
{
    const struct constituent *const busiest = facts_top(facts, true, true);

    return busiest != NULL && busiest->pct >= BETWEEN_PCT && !barriers_fill_adu(facts);
}

/* Atomics are the wall when they are a fifth of the global accesses and their unit is among the
 * busiest of L2. */
static bool atomics_bind(const struct facts *facts)
{
    return facts->atomic_frac >= ATOMIC_FRAC &&
           facts_wall_pct(facts, RIDGE_WALL_ATOMICS) >= facts_wall_pct(facts, RIDGE_WALL_L2) - 10;
}

static ridge_gate_outcome gate_stall(struct facts *facts, struct verdict *verdict,
                                     const char **reasoning)
{
    static const struct {
        ridge_stall stall;
        ridge_wall wall;
    } walls[] = {
        {RIDGE_STALL_BARRIER, RIDGE_WALL_BARRIER},
        {RIDGE_STALL_NO_INSTRUCTION, RIDGE_WALL_INSTRUCTION_FETCH},
    };
    const struct constituent *const busiest = facts_top(facts, true, true);
    const double saturation_frac = busiest != NULL ? busiest->pct / 100 : NAN;
    ridge_wall wall = RIDGE_WALL_STALL;
    size_t i;

    if (!facts->has_stalls) {
        *reasoning = "the report holds no stall ratios (section WarpStateStats) and no samples";
        return RIDGE_GATE_UNDECIDED;
    }
    if (facts_is_matrix_kernel(facts) || is_between(facts)) {
        *reasoning = facts_text(facts, "%s leads with %.0f %%, but a unit is busy enough to name",
                                ridge_stall_name(facts->top_stall),
                                facts->stall_share[facts->top_stall] * 100);
        return RIDGE_GATE_PASSED;
    }
    *reasoning = facts_text(
        facts, "warps wait most for %s: %s, %.0f %%", ridge_stall_meaning(facts->top_stall),
        ridge_stall_name(facts->top_stall), facts->stall_share[facts->top_stall] * 100);
    if (atomics_bind(facts))
        return close_gate(verdict, RIDGE_CLASS_MEMORY, RIDGE_WALL_ATOMICS, saturation_frac);
    if (facts->top_stall == RIDGE_STALL_MATH_PIPE_THROTTLE) {
        const struct constituent *const pipe = facts_top(facts, false, true);

        if (pipe != NULL && !pipe->is_memory) {
            verdict->top = pipe;
            return close_gate(verdict, RIDGE_CLASS_COMPUTE, pipe->wall, pipe->pct / 100);
        }
    }
    for (i = 0; i < sizeof(walls) / sizeof(walls[0]); i++)
        if (facts->top_stall == walls[i].stall)
            wall = walls[i].wall;
    if (facts_stall(facts, RIDGE_STALL_NO_INSTRUCTION) >= STALL_FRAC &&
        facts->top_stall != RIDGE_STALL_LONG_SCOREBOARD)
        wall = RIDGE_WALL_INSTRUCTION_FETCH;
    return close_gate(verdict, RIDGE_CLASS_LATENCY, wall, saturation_frac);
}

/* -- gate 5: in between ------------------------------------------------------------------------ */

/* The tensor pipe among the units; NULL: the breakdown does not list it. */
static const struct constituent *tensor_pipe(const struct facts *facts)
{
    size_t i;

    for (i = 0; i < facts->compute_count; i++)
        if (!facts->compute[i].is_symptom && facts->compute[i].wall == RIDGE_WALL_TENSOR)
            return &facts->compute[i];
    return NULL;
}

static ridge_gate_outcome gate_between(struct facts *facts, struct verdict *verdict,
                                       const char **reasoning)
{
    const struct constituent *top = facts_top(facts, true, true);
    const struct constituent *useful;

    if (top == NULL) {
        *reasoning = "nothing to decide by";
        return RIDGE_GATE_UNDECIDED;
    }
    useful = useful_instead(facts, top);
    if (useful == NULL && facts_is_matrix_kernel(facts))
        useful = tensor_pipe(facts);
    if (top->pct < BETWEEN_PCT && !(useful != NULL && facts_is_matrix_kernel(facts))) {
        *reasoning = facts_text(facts,
                                "no unit is above %.0f %% (%s %.1f %%): latency, but the "
                                "report cannot say which",
                                BETWEEN_PCT, top->label, top->pct);
        verdict->top = top;
        return close_gate(verdict, RIDGE_CLASS_LATENCY, RIDGE_WALL_STALL, top->pct / 100);
    }
    *reasoning = facts_text(
        facts, "%s is the busiest at %.1f %%%s", top->label, top->pct,
        useful != NULL ? facts_text(facts, ", and %s does the useful work", useful->label) : "");
    if (useful != NULL)
        top = useful;
    verdict->top = top;
    verdict->between = true;
    return close_gate(verdict, top->is_memory ? RIDGE_CLASS_MEMORY : RIDGE_CLASS_COMPUTE, top->wall,
                      top->pct / 100);
}

/* -- the procedure ----------------------------------------------------------------------------- */

static const struct {
    const char *name, *question;
    ridge_gate_outcome (*ask)(struct facts *facts, struct verdict *verdict, const char **reasoning);
} gates[RIDGE_GATES] = {
    {"trust", "Is the kernel long enough to have a wall?", gate_trust},
    {"saturated", "Is a unit saturated?", gate_saturated},
    {"parallelism", "Is there enough parallel work?", gate_parallelism},
    {"occupancy", "Is occupancy the reason?", gate_occupancy},
    {"stall", "Which stall binds?", gate_stall},
    {"between", "Which wall is nearest?", gate_between},
};

void gates_run(struct facts *facts, struct verdict *verdict, ridge_gate_note notes[RIDGE_GATES])
{
    size_t i;

    memset(verdict, 0, sizeof(*verdict));
    verdict->cls = RIDGE_CLASS_UNKNOWN;
    verdict->wall = RIDGE_WALL_UNKNOWN;
    verdict->saturation_frac = NAN;
    verdict->gate = -1;
    for (i = 0; i < RIDGE_GATES; i++) {
        notes[i].name = gates[i].name;
        notes[i].question = gates[i].question;
        notes[i].outcome = RIDGE_GATE_SKIPPED;
        notes[i].reasoning = "an earlier gate closed";
        if (verdict->gate >= 0)
            continue;
        notes[i].outcome = gates[i].ask(facts, verdict, &notes[i].reasoning);
        if (notes[i].outcome == RIDGE_GATE_CLOSED)
            verdict->gate = (int)i;
        /* Without the speed of light nothing that follows can be told from a saturated kernel:
         * only what the launch itself shows is still asked. */
        if (i == 1 && notes[i].outcome == RIDGE_GATE_UNDECIDED) {
            size_t later;

            for (later = i + 1; later < RIDGE_GATES; later++) {
                notes[later].name = gates[later].name;
                notes[later].question = gates[later].question;
                notes[later].outcome = RIDGE_GATE_UNDECIDED;
                notes[later].reasoning = "cannot be decided before gate 1 is";
            }
            return;
        }
    }
}
