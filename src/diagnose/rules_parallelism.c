/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules of parallel work: launch, grid, tail, balance and residency. */
#include <limits.h>
#include <math.h>

#include "diagnose/diagnose_internal.h"

static void judge_launch_overhead(struct facts *facts, const struct verdict *verdict,
                                  struct judgement *out)
{
    ridge_finding *const finding = &out->finding;

    if (verdict->gate != 0)
        return;
    out->weight = WEIGHT_PRIMARY + 19;
    finding->sentence = facts_text(
        facts, "The kernel takes %.2f us: launch, ramp-up and cold caches take most of it.",
        VALUE(facts, DURATION_NS) / 1e3);
    finding->advice = "Fuse it with its neighbours, or put the sequence into a CUDA graph; inside "
                      "the kernel there is little to gain.";
    finding_evidence(facts, finding, RIDGE_MEANING_DURATION_NS);
    finding_evidence(facts, finding, RIDGE_MEANING_GRID_BLOCKS);
}

static void judge_idle(struct facts *facts, const struct verdict *verdict, struct judgement *out)
{
    ridge_finding *const finding = &out->finding;

    if (!facts->is_range || !(facts->active_frac < IDLE_FRAC) || verdict->gate != 2)
        return;
    out->weight = WEIGHT_PRIMARY + 18;
    finding->sentence = facts_text(
        facts, "The SMs have a warp for %.1f %% of the time; the rest lies between the launches.",
        facts->active_frac * 100);
    finding->advice = "Look between the kernels, not inside them: a CUDA graph, fewer and larger "
                      "kernels, no synchronisation or copy in the range.";
    finding_evidence(facts, finding, RIDGE_MEANING_SM_CYCLES_ACTIVE_AVG);
    finding_evidence(facts, finding, RIDGE_MEANING_SM_CYCLES_ELAPSED);
    finding_evidence(facts, finding, RIDGE_MEANING_DURATION_NS);
    if (facts->active_frac > 0)
        finding_bound(finding, 1 / facts->active_frac, RIDGE_WALL_UNKNOWN);
}

static void judge_grid(struct facts *facts, const struct verdict *verdict, struct judgement *out)
{
    ridge_finding *const finding = &out->finding;
    const bool fewer_than_sms = facts->grid_blocks < GRID_FRAC * facts->sm_count;
    const bool few = facts->waves < 0.5 && facts->achieved_pct < 0.6 * facts->theoretical_pct;

    if ((!fewer_than_sms && !few) || facts->is_range)
        return;
    if (verdict->gate == 2)
        out->weight = WEIGHT_PRIMARY + 15;
    else if (verdict->gate == 0)
        out->weight = WEIGHT_SHARED + 20;
    else if (verdict->saturated) {
        out->weight = 1;
        out->not_now =
            facts_text(facts, "a grid of %.0f leaves room on the SMs, but %s is full already",
                       facts->grid_blocks, ridge_wall_words(verdict->wall));
        return;
    } else
        out->weight = WEIGHT_SHARED;
    if (fewer_than_sms)
        finding->sentence = facts_text(
            facts, "The grid has %.0f block%s for %.0f SMs: %.0f SMs have nothing to do.",
            facts->grid_blocks, words_plural(facts->grid_blocks), facts->sm_count,
            facts->sm_count - facts->grid_blocks);
    else if (facts->arch != NULL)
        finding->sentence = facts_text(
            facts,
            "The grid fills %.0f %% of the places for blocks: an SM holds %.1f warps on average, "
            "%.0f would fit.",
            facts->waves * 100, facts->achieved_pct / 100 * facts->arch->warps_per_sm,
            facts->theoretical_pct / 100 * facts->arch->warps_per_sm);
    else
        finding->sentence = facts_text(facts, "The grid fills %.0f %% of the places for blocks.",
                                       facts->waves * 100);
    finding->advice = "More blocks: smaller tiles, split the reduction (split-K, split-V) over "
                      "blocks, let several problems share one launch.";
    finding_evidence(facts, finding, RIDGE_MEANING_GRID_BLOCKS);
    finding_number(finding, "ridge:sm_count", "SMs", facts->sm_count, "SM");
    finding_evidence(facts, finding, RIDGE_MEANING_WAVES);
    finding_evidence(facts, finding, RIDGE_MEANING_OCCUPANCY_ACHIEVED_PCT);
    if (verdict->gate == 2) {
        ridge_wall next;
        const double room = facts_headroom(facts, &next);
        double bound = fewer_than_sms ? facts->sm_count / facts->grid_blocks : 1;

        /* Places for blocks that stay empty hide latency as well. */
        if (facts->waves > 0 && facts->waves < 1)
            bound = fmax(bound, 1 / facts->waves);
        if (!isnan(room))
            bound = fmin(bound, room);
        finding_bound(finding, bound, next);
    }
}

/* The part of the SM time that the last wave leaves unused: by the waves, or less where SMs were
 * measured to be more evenly busy, since a half-filled SM can still issue at its full rate. */
static double tail_loss(const struct facts *facts)
{
    if (!(facts->waves >= 1) || facts->busy_sm_frac >= EVEN_FRAC)
        return 0;
    return facts->tail_frac;
}

/* The last wave explains that SMs are unevenly busy. */
static bool tail_explains(const struct facts *facts)
{
    const double loss = tail_loss(facts);

    if (loss >= TAIL_FRAC)
        return !(facts->busy_sm_frac < IMBALANCE_FRAC);
    return loss > 0.1 && fabs(1 - facts->busy_sm_frac - loss) < 0.05;
}

static void judge_imbalance(struct facts *facts, const struct verdict *verdict,
                            struct judgement *out)
{
    ridge_finding *const finding = &out->finding;
    ridge_wall next;
    double room;

    if (!(facts->busy_sm_frac < UNEVEN_FRAC) || !(facts->grid_blocks >= facts->sm_count) ||
        verdict->gate == 0 || (verdict->saturated && verdict->cls == RIDGE_CLASS_MEMORY) ||
        tail_explains(facts))
        return;
    if (verdict->gate == 2)
        out->weight = WEIGHT_PRIMARY + 16;
    else if (verdict->gate == 5)
        out->weight = WEIGHT_PRIMARY + 3;
    else
        out->weight = verdict->gate == 1 ? WEIGHT_PRIMARY - 1 : WEIGHT_SHARED + 5;
    finding->sentence = facts_text(
        facts,
        "An SM is active %.0f %% as long as the busiest one, on average: some blocks have more "
        "work than others.",
        facts->busy_sm_frac * 100);
    finding->advice = "Split the large blocks, hand out work in small pieces from a counter "
                      "(persistent blocks), or start the large ones first.";
    finding_evidence(facts, finding, RIDGE_MEANING_SM_CYCLES_ACTIVE_AVG);
    finding_evidence(facts, finding, RIDGE_MEANING_SM_CYCLES_ACTIVE_MAX);
    finding_evidence(facts, finding, RIDGE_MEANING_WAVES);
    room = facts_headroom(facts, &next);
    finding_bound(
        finding, isnan(room) ? 1 / facts->busy_sm_frac : fmin(1 / facts->busy_sm_frac, room), next);
}

static void judge_tail(struct facts *facts, const struct verdict *verdict, struct judgement *out)
{
    ridge_finding *const finding = &out->finding;
    const double loss = tail_loss(facts);
    ridge_wall next;
    double room;

    if (!(loss >= TAIL_FRAC || tail_explains(facts)) || verdict->gate == 0 ||
        facts->busy_sm_frac < IMBALANCE_FRAC)
        return;
    if (verdict->gate == 1 && verdict->saturated) {
        out->weight = 1;
        out->not_now =
            facts_text(facts, "%.2f waves leave a tail, but %s is full over the whole kernel",
                       facts->waves, ridge_wall_words(verdict->wall));
        return;
    }
    out->weight = verdict->gate == 2 ? WEIGHT_PRIMARY + 14 : WEIGHT_SHARED + 22;
    finding->sentence = facts_text(
        facts,
        "%.2f waves of blocks: the last one fills only a part of the SMs, up to %.0f %% of "
        "the SM time is lost%s.",
        facts->waves, loss * 100,
        isnan(facts->busy_sm_frac)
            ? ""
            : facts_text(facts, " (SMs were active %.0f %% as long as the busiest one)",
                         facts->busy_sm_frac * 100));
    finding->advice = "Choose the tile so that the grid is a whole number of waves, use smaller "
                      "blocks, or persistent blocks that share the work evenly (stream-K).";
    finding_evidence(facts, finding, RIDGE_MEANING_WAVES);
    finding_evidence(facts, finding, RIDGE_MEANING_GRID_BLOCKS);
    finding_number(finding, "ridge:tail_frac", "SM time lost in the last wave, at most", loss,
                   "frac");
    room = facts_headroom(facts, &next);
    finding_bound(finding, isnan(room) ? 1 / (1 - loss) : fmin(1 / (1 - loss), room), next);
}

/* Many blocks, evenly spread, and still few warps on an SM: they end sooner than new ones start. */
static void judge_short_blocks(struct facts *facts, const struct verdict *verdict,
                               struct judgement *out)
{
    ridge_finding *const finding = &out->finding;
    ridge_wall next;
    double room;

    if (verdict->cls != RIDGE_CLASS_LATENCY || verdict->gate == 0 ||
        !(facts->waves >= MANY_WAVES) ||
        !(facts->achieved_pct < RESIDENT_FRAC * facts->theoretical_pct) ||
        facts->busy_sm_frac < UNEVEN_FRAC)
        return;
    out->weight = verdict->gate == 4 ? WEIGHT_PRIMARY + 7 : WEIGHT_SHARED + 10;
    finding->sentence = facts_text(
        facts,
        "%.0f blocks of %.0f threads end sooner than new ones start: %.1f %% of the warps are "
        "resident where %.1f %% fit.",
        facts->grid_blocks, facts->block_threads, facts->achieved_pct, facts->theoretical_pct);
    finding->advice = "Fewer blocks with more work each: larger blocks, several elements a thread, "
                      "or a grid of a few waves that strides over the data.";
    finding_evidence(facts, finding, RIDGE_MEANING_OCCUPANCY_ACHIEVED_PCT);
    finding_evidence(facts, finding, RIDGE_MEANING_OCCUPANCY_THEORETICAL_PCT);
    finding_evidence(facts, finding, RIDGE_MEANING_GRID_BLOCKS);
    finding_evidence(facts, finding, RIDGE_MEANING_BLOCK_THREADS);
    finding_evidence(facts, finding, RIDGE_MEANING_WAVES);
    room = facts_headroom(facts, &next);
    finding_bound(finding, fmin(facts->theoretical_pct / facts->achieved_pct, room), next);
}

/* -- occupancy --------------------------------------------------------------------------------- */

static const struct limiter {
    const char *id;
    unsigned bit;
    ridge_meaning reported;
    const char *words;
} limiters[] = {
    {"occupancy_shared_memory", RIDGE_LIMIT_SHARED, RIDGE_MEANING_LIMIT_SHARED, "shared memory"},
    {"occupancy_registers", RIDGE_LIMIT_REGISTERS, RIDGE_MEANING_LIMIT_REGISTERS, "registers"},
    {"occupancy_blocks", RIDGE_LIMIT_BLOCKS, RIDGE_MEANING_LIMIT_BLOCKS,
     "the limit of blocks an SM"},
    {"occupancy_barriers", RIDGE_LIMIT_BARRIERS, RIDGE_MEANING_LIMIT_BARRIERS, "named barriers"},
};

/* Whether a resource is among those that tie for the minimum: by ridge's own occupancy when it
 * could be computed, else by what the report says. */
static bool limits(const struct facts *facts, const struct limiter *limiter)
{
    double least = INFINITY;
    size_t i;

    if (facts->occupancy.blocks_per_sm > 0)
        return (facts->occupancy.limiters & limiter->bit) != 0;
    for (i = 0; i < sizeof(limiters) / sizeof(limiters[0]); i++)
        if (facts->value[limiters[i].reported] < least)
            least = facts->value[limiters[i].reported];
    return facts->value[limiter->reported] <= least && !isinf(least);
}

/* How much must go for one more block an SM, and what the launch may use then. */
static const char *next_step(struct facts *facts, const struct limiter *limiter)
{
    const ridge_resource resource =
        limiter->bit == RIDGE_LIMIT_SHARED ? RIDGE_RESOURCE_SHARED : RIDGE_RESOURCE_REGISTERS;
    const int blocks = facts->occupancy.blocks_per_sm;
    ridge_occupancy_move move;
    size_t i;

    if (facts->arch == NULL || blocks <= 0)
        return "";
    if (ridge_occupancy_move_of(facts->arch, &facts->launch, resource, &move, NULL) != RIDGE_OK)
        return "";
    for (i = 0; i < sizeof(limiters) / sizeof(limiters[0]); i++)
        if ((facts->occupancy.limiters & ~limiter->bit & limiters[i].bit) != 0)
            return facts_text(facts,
                              " Alone it buys nothing: by %s %d block%s an SM is the limit too.",
                              limiters[i].words, blocks, words_plural(blocks));
    if (move.cut_blocks <= blocks)
        return "";
    if (limiter->bit == RIDGE_LIMIT_SHARED)
        return facts_text(
            facts, " Free %d bytes (%d -> %d) and %d blocks fit; %d less buys nothing.",
            move.used - move.cut, move.used, move.cut, move.cut_blocks, move.used - move.cut - 1);
    if (limiter->bit == RIDGE_LIMIT_REGISTERS)
        return facts_text(facts,
                          " At %d registers a thread (now %d) %d blocks fit; anything between "
                          "buys nothing.",
                          move.cut, move.used, move.cut_blocks);
    return "";
}

static double resident_warps_ratio(const struct facts *facts)
{
    return facts->theoretical_pct > 0 ? 100 / facts->theoretical_pct : NAN;
}

static void judge_occupancy(struct facts *facts, const struct verdict *verdict,
                            struct judgement *out, const struct limiter *limiter)
{
    ridge_finding *const finding = &out->finding;

    if (!(facts->theoretical_pct <= LOW_OCCUPANCY_PCT) || !limits(facts, limiter))
        return;
    if (verdict->gate == 1) {
        out->weight = 1;
        out->not_now =
            facts_text(facts,
                       "%.1f %% of the warps fit (limited by %s), but %s is busy %.0f %% with "
                       "them",
                       facts->theoretical_pct, limiter->words, ridge_wall_words(verdict->wall),
                       verdict->saturation_frac * 100);
        return;
    }
    if (facts_is_matrix_kernel(facts) || facts_has_bytes_in_flight(facts)) {
        out->weight = WEIGHT_MINOR + 5;
        finding->sentence = facts_text(
            facts,
            "%.1f %% of the warps fit, limited by %s: a choice of design here, since the "
            "warps have independent work under way.",
            facts->theoretical_pct, limiter->words);
    } else {
        out->weight = verdict->gate == 3 ? WEIGHT_PRIMARY + 15 : WEIGHT_SHARED + 12;
        finding->sentence =
            facts_text(facts, "%s limits residency to %d block%s an SM: %.1f %% of the warps fit.",
                       limiter->bit == RIDGE_LIMIT_SHARED      ? "Shared memory"
                       : limiter->bit == RIDGE_LIMIT_REGISTERS ? "The number of registers"
                       : limiter->bit == RIDGE_LIMIT_BLOCKS    ? "The number of blocks"
                                                               : "The number of barriers",
                       facts->occupancy.blocks_per_sm,
                       facts->occupancy.blocks_per_sm == 1 ? "" : "s", facts->theoretical_pct);
    }
    finding->advice = facts_text(
        facts, "%s%s",
        limiter->bit == RIDGE_LIMIT_SHARED
            ? "Less shared memory a block: narrower types, fewer stages, reuse of buffers, a "
              "smaller tile."
        : limiter->bit == RIDGE_LIMIT_REGISTERS
            ? "Fewer registers a thread: smaller register tiles, less unrolling, "
              "__launch_bounds__ with a minimum of blocks (watch for spills)."
        : limiter->bit == RIDGE_LIMIT_BLOCKS ? "Larger blocks: the SM holds no more of this size."
                                             : "A different block size.",
        next_step(facts, limiter));
    finding_evidence(facts, finding, RIDGE_MEANING_OCCUPANCY_THEORETICAL_PCT);
    finding_evidence(facts, finding, RIDGE_MEANING_OCCUPANCY_ACHIEVED_PCT);
    finding_evidence(facts, finding, limiter->reported);
    if (limiter->bit == RIDGE_LIMIT_SHARED)
        finding_number(finding, "ridge:shared_bytes_per_block", "shared memory a block",
                       facts->shared_bytes, "byte");
    else
        finding_evidence(facts, finding, RIDGE_MEANING_REGISTERS);
    finding_evidence(facts, finding, RIDGE_MEANING_WARPS_ELIGIBLE);
    finding_stall(facts, finding, facts->top_stall);
    if (verdict->gate == 3) {
        ridge_wall next;
        const double room = facts_headroom(facts, &next);

        finding_bound(finding, fmin(resident_warps_ratio(facts), room), next);
    }
}

static void judge_occupancy_shared(struct facts *facts, const struct verdict *verdict,
                                   struct judgement *out)
{
    judge_occupancy(facts, verdict, out, &limiters[0]);
}

static void judge_occupancy_registers(struct facts *facts, const struct verdict *verdict,
                                      struct judgement *out)
{
    judge_occupancy(facts, verdict, out, &limiters[1]);
}

static void judge_occupancy_blocks(struct facts *facts, const struct verdict *verdict,
                                   struct judgement *out)
{
    judge_occupancy(facts, verdict, out, &limiters[2]);
}

static void judge_occupancy_barriers(struct facts *facts, const struct verdict *verdict,
                                     struct judgement *out)
{
    judge_occupancy(facts, verdict, out, &limiters[3]);
}

const struct rule parallelism_rules[] = {
    {"launch_overhead", judge_launch_overhead},
    {"idle_between_kernels", judge_idle},
    {"grid_too_small", judge_grid},
    {"imbalance", judge_imbalance},
    {"tail_effect", judge_tail},
    {"short_blocks", judge_short_blocks},
    {"occupancy_shared_memory", judge_occupancy_shared},
    {"occupancy_registers", judge_occupancy_registers},
    {"occupancy_blocks", judge_occupancy_blocks},
    {"occupancy_barriers", judge_occupancy_barriers},
    {NULL, NULL},
};
