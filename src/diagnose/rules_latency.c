/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules of the latency side: what the warps wait for, and why nothing hides it. On a saturated
 * kernel stalls are no finding: something has to wait for the wall. */
#include <math.h>
#include <string.h>

#include "diagnose/diagnose_internal.h"

/* The weight of a finding that rests on one stall. */
static double stall_weight(const struct facts *facts, const struct verdict *verdict,
                           ridge_stall stall)
{
    const double share = facts_stall(facts, stall);
    const bool is_top = facts->top_stall == stall;

    if (!facts->has_stalls || share < STALL_FRAC)
        return 0;
    if (verdict->saturated)
        return 0; /* something has to wait for the wall */
    if (verdict->gate == 4)
        return is_top ? WEIGHT_PRIMARY : WEIGHT_SHARED + 20 * share;
    if (verdict->gate == 5)
        return is_top ? WEIGHT_SHARED + 15 : WEIGHT_SHARED + 10 * share;
    if (verdict->cls == RIDGE_CLASS_LATENCY) /* gates 0, 2, 3: behind what closed them */
        return is_top ? WEIGHT_SHARED + 20 : WEIGHT_SHARED + 10 * share;
    return is_top ? WEIGHT_MINOR + 20 * share : WEIGHT_MINOR * share; /* near a wall */
}

static bool is_latency_bound(const struct verdict *verdict)
{
    return verdict->cls == RIDGE_CLASS_LATENCY || verdict->between;
}

static void set_headroom(const struct facts *facts, const struct verdict *verdict,
                         ridge_finding *finding)
{
    ridge_wall next;
    const double bound = facts_headroom(facts, &next);

    /* A kernel that is over before it fills the chip has no room to speak of. */
    if (is_latency_bound(verdict) && verdict->gate != 0 && !facts->is_range)
        finding_bound(finding, bound, next);
}

/* How many bytes an SM has under way against what would hide the latency; "" when unknown. */
static const char *under_way(struct facts *facts)
{
    const double available = facts->bytes_available_per_sm, needed = facts->bytes_needed_per_sm;

    if (isnan(available) || isnan(needed))
        return "";
    return facts_text(facts,
                      facts_has_bytes_in_flight(facts)
                          ? ", although an SM has about %s under way where %.1f KiB should "
                            "hide the latency of device memory"
                          : ": an SM has about %s under way where %.1f KiB would hide the "
                            "latency of device memory",
                      available < 100 ? "next to nothing"
                                      : facts_text(facts, "%.1f KiB", available / 1024),
                      needed / 1024);
}

static void judge_load_in_flight(struct facts *facts, const struct verdict *verdict,
                                 struct judgement *out)
{
    ridge_finding *const finding = &out->finding;
    const double in_flight = facts->code.bytes_in_flight_per_warp;
    const bool enough = facts_has_bytes_in_flight(facts);

    out->weight = stall_weight(facts, verdict, RIDGE_STALL_LONG_SCOREBOARD);
    if (out->weight == 0)
        return;
    finding->sentence =
        facts_text(facts, "%.0f %% of the waiting is for loads from global or local memory%s.",
                   facts_stall(facts, RIDGE_STALL_LONG_SCOREBOARD) * 100, under_way(facts));
    finding->advice =
        enough ? "The loads under way should do: look for what makes them slow (one load waits for "
                 "another, uncoalesced access, memory that is not on this GPU), or for phases "
                 "without any under way, such as around barriers."
               : "More loads under way before the first use: unroll so that several independent "
                 "loads are "
                 "issued together, load 16 bytes a lane, prefetch the next iteration into "
                 "registers or "
                 "shared memory (cp.async, TMA).";
    finding_stall(facts, finding, RIDGE_STALL_LONG_SCOREBOARD);
    finding_number(finding, "ridge:bytes_in_flight_per_warp", "bytes a warp loads before it waits",
                   in_flight, "byte");
    finding_evidence(facts, finding, RIDGE_MEANING_WARPS_ACTIVE);
    finding_evidence(facts, finding, RIDGE_MEANING_WARPS_ELIGIBLE);
    finding_evidence(facts, finding, RIDGE_MEANING_DRAM_PCT);
    finding_evidence(facts, finding, RIDGE_MEANING_L1_HIT_PCT);
    finding_evidence(facts, finding, RIDGE_MEANING_L2_HIT_PCT);
    if (!enough)
        set_headroom(facts, verdict, finding);
    finding_places(facts, finding, PLACE_SAMPLES, RIDGE_STALL_LONG_SCOREBOARD, NULL,
                   "samples waiting for loads");
}

static void judge_async_copy(struct facts *facts, const struct verdict *verdict,
                             struct judgement *out)
{
    ridge_finding *const finding = &out->finding;

    if (!facts->code.async_waits_at_once || !is_latency_bound(verdict) ||
        (facts_stall(facts, RIDGE_STALL_LONG_SCOREBOARD) < STALL_FRAC &&
         facts_stall(facts, RIDGE_STALL_BARRIER) < STALL_FRAC))
        return;
    out->weight = WEIGHT_PRIMARY + 9;
    finding->sentence = "cp.async is waited for in the iteration that issues it: the copy "
                        "overlaps with nothing.";
    finding->advice = "Keep one or more stages under way: issue the copy of the next tile before "
                      "working on this one, and wait with cp.async.wait_group 1 (or more).";
    finding_number(finding, "ridge:async_copies", "asynchronous copies (LDGSTS) of warps",
                   (double)facts->code.async_copies, "inst");
    finding_stall(facts, finding, RIDGE_STALL_LONG_SCOREBOARD);
    finding_stall(facts, finding, RIDGE_STALL_BARRIER);
    set_headroom(facts, verdict, finding);
    finding_places(facts, finding, PLACE_SAMPLES, RIDGE_STALL_COUNT, NULL, "samples");
}

static void judge_lg_throttle(struct facts *facts, const struct verdict *verdict,
                              struct judgement *out)
{
    ridge_finding *const finding = &out->finding;
    const double share = facts_stall(facts, RIDGE_STALL_LG_THROTTLE);

    out->weight = stall_weight(facts, verdict, RIDGE_STALL_LG_THROTTLE);
    /* A full queue of accesses in front of a busy L1 or L2 is what that wall looks like. */
    if (share >= 0.3 && verdict->cls == RIDGE_CLASS_MEMORY && verdict->wall != RIDGE_WALL_DRAM)
        out->weight = WEIGHT_PRIMARY - 6;
    if (out->weight == 0)
        return;
    finding->sentence = facts_text(
        facts,
        "%.0f %% of the waiting is for room in the queue of global and local accesses: too many "
        "small requests.",
        share * 100);
    finding->advice = "Fewer, wider accesses: 16 bytes a lane; combine neighbouring stores in "
                      "registers or shared memory first.";
    finding_stall(facts, finding, RIDGE_STALL_LG_THROTTLE);
    finding_number(finding, "ridge:narrow_frac", "global accesses of 8 or 16 bits",
                   facts->narrow_frac, "frac");
    finding_evidence(facts, finding, RIDGE_MEANING_GLOBAL_LOAD_REQUESTS);
    finding_evidence(facts, finding, RIDGE_MEANING_GLOBAL_STORE_REQUESTS);
    finding_evidence(facts, finding, RIDGE_MEANING_LSU_REQUEST_PCT);
    set_headroom(facts, verdict, finding);
    finding_places(facts, finding, PLACE_SAMPLES, RIDGE_STALL_LG_THROTTLE, NULL,
                   "samples waiting for the queue");
}

static void judge_shared_latency(struct facts *facts, const struct verdict *verdict,
                                 struct judgement *out)
{
    ridge_finding *const finding = &out->finding;
    const double share = facts_stall(facts, RIDGE_STALL_SHORT_SCOREBOARD) +
                         facts_stall(facts, RIDGE_STALL_MIO_THROTTLE);
    const ridge_stall stall = facts_stall(facts, RIDGE_STALL_MIO_THROTTLE) >
                                      facts_stall(facts, RIDGE_STALL_SHORT_SCOREBOARD)
                                  ? RIDGE_STALL_MIO_THROTTLE
                                  : RIDGE_STALL_SHORT_SCOREBOARD;
    const bool special = facts->code.special > facts->code.shared_accesses;
    const bool neither =
        facts->code.executed > 0 && facts->code.special == 0 && facts->code.shared_accesses == 0;

    out->weight = stall_weight(facts, verdict, stall);
    /* At the L1 wall the traffic itself is the finding. */
    if (out->weight == 0 || share < 0.2 || neither ||
        (verdict->cls == RIDGE_CLASS_MEMORY && verdict->wall == RIDGE_WALL_L1) ||
        facts->shared_waste_frac >= WASTE_FRAC) {
        out->weight = 0;
        return;
    }
    finding->sentence =
        special ? facts_text(facts, "%.0f %% of the waiting is for special functions (MUFU).",
                             share * 100)
                : facts_text(
                      facts,
                      "%.0f %% of the waiting is for shared memory, and its accesses are free of "
                      "conflicts.",
                      share * 100);
    finding->advice =
        special ? "Interleave independent special functions, or compute part of them on the FMA "
                  "pipe."
                : "Read shared values earlier and in wider pieces (8 or 16 bytes), keep what is "
                  "read twice in registers, use shuffles for exchanges within a warp.";
    finding_stall(facts, finding, RIDGE_STALL_SHORT_SCOREBOARD);
    finding_stall(facts, finding, RIDGE_STALL_MIO_THROTTLE);
    finding_evidence(facts, finding, RIDGE_MEANING_L1_DATA_PIPE_PCT);
    set_headroom(facts, verdict, finding);
    finding_places(facts, finding, PLACE_SAMPLES, stall, NULL, "samples waiting for it");
}

static void judge_barrier(struct facts *facts, const struct verdict *verdict, struct judgement *out)
{
    ridge_finding *const finding = &out->finding;

    out->weight = stall_weight(facts, verdict, RIDGE_STALL_BARRIER);
    if (out->weight == 0)
        return;
    finding->sentence = facts_text(
        facts, "%.0f %% of the waiting is at barriers, for the slowest warp of the block.",
        facts_stall(facts, RIDGE_STALL_BARRIER) * 100);
    finding->advice =
        "Give all warps the same work between barriers, use fewer of them (double-buffered "
        "shared memory needs one an iteration), smaller blocks, or barriers for the warps "
        "concerned only (__syncwarp, named barriers).";
    finding_stall(facts, finding, RIDGE_STALL_BARRIER);
    if (facts->code.barriers > 0)
        finding_number(finding, "ridge:barriers", "barrier instructions of warps",
                       (double)facts->code.barriers, "inst");
    finding_evidence(facts, finding, RIDGE_MEANING_BLOCK_THREADS);
    finding_evidence(facts, finding, RIDGE_MEANING_WARPS_ELIGIBLE);
    set_headroom(facts, verdict, finding);
    finding_places(facts, finding, PLACE_SAMPLES, RIDGE_STALL_BARRIER, NULL,
                   "samples waiting at barriers");
}

static void judge_dependency(struct facts *facts, const struct verdict *verdict,
                             struct judgement *out)
{
    ridge_finding *const finding = &out->finding;

    out->weight = stall_weight(facts, verdict, RIDGE_STALL_WAIT);
    /* Issue slots that are full are no gaps. */
    if (out->weight == 0 || VALUE(facts, ISSUE_ACTIVE_PCT) >= SATURATED_PCT) {
        out->weight = 0;
        return;
    }
    finding->sentence = facts_text(
        facts,
        "%.0f %% of the waiting is for the fixed latency of the instruction before: a chain of "
        "dependent instructions with too few warps to fill the gaps.",
        facts_stall(facts, RIDGE_STALL_WAIT) * 100);
    finding->advice = "Break the chain: several independent accumulators, unrolled loops that "
                      "interleave iterations; or more warps.";
    finding_stall(facts, finding, RIDGE_STALL_WAIT);
    finding_evidence(facts, finding, RIDGE_MEANING_WARPS_ACTIVE);
    finding_evidence(facts, finding, RIDGE_MEANING_ISSUE_ACTIVE_PCT);
    set_headroom(facts, verdict, finding);
    finding_places(facts, finding, PLACE_SAMPLES, RIDGE_STALL_WAIT, NULL,
                   "samples waiting for the instruction before");
}

/* Code so small stays in the instruction caches once it was fetched (L0 and L1 of an SM hold some
 * tens of KiB). */
static bool fits_caches(const struct facts *facts)
{
    return facts->profile->function != NULL && facts->profile->function->code_bytes < 16384;
}

static void judge_instruction_cache(struct facts *facts, const struct verdict *verdict,
                                    struct judgement *out)
{
    ridge_finding *const finding = &out->finding;
    const double share = facts_stall(facts, RIDGE_STALL_NO_INSTRUCTION);

    if (share < STALL_FRAC || verdict->saturated)
        return;
    out->weight = stall_weight(facts, verdict, RIDGE_STALL_NO_INSTRUCTION);
    if (verdict->wall == RIDGE_WALL_INSTRUCTION_FETCH)
        out->weight = WEIGHT_PRIMARY + 10;
    else if (verdict->cls == RIDGE_CLASS_LATENCY && verdict->gate != 0 && !fits_caches(facts))
        out->weight = WEIGHT_PRIMARY - 3; /* rare, and never how a kernel should wait */
    if (out->weight == 0)
        return;
    finding->sentence = facts_text(
        facts, "%.0f %% of the waiting is for the next instruction%s.", share * 100,
        fits_caches(facts) ? ": each SM fetches the code for the first time, as usual in a short "
                             "kernel"
        : facts->profile->function != NULL
            ? facts_text(facts, ": the code of %.0f KiB does not stay in the instruction caches",
                         (double)facts->profile->function->code_bytes / 1024)
            : "");
    finding->advice = "Less code in the hot loop: unroll less, keep rare paths out of line "
                      "(__noinline__), merge near-identical paths.";
    finding_stall(facts, finding, RIDGE_STALL_NO_INSTRUCTION);
    if (facts->profile->function != NULL)
        finding_number(finding, "ridge:code_bytes", "code of the function",
                       (double)facts->profile->function->code_bytes, "byte");
    set_headroom(facts, verdict, finding);
    finding_places(facts, finding, PLACE_SAMPLES, RIDGE_STALL_NO_INSTRUCTION, NULL,
                   "samples without an instruction");
}

/* The cache of indexed constants is busier than any unit that does the work: lanes read different
 * addresses, which it serves one after the other. */
static bool indexed_constants_lead(const struct facts *facts)
{
    const struct constituent *const top = facts_top(facts, true, true);
    size_t i;

    for (i = 0; i < facts->compute_count; i++)
        if (strncmp(facts->compute[i].metric, "idc__", 5) == 0)
            return facts->compute[i].pct >= 40 && (top == NULL || facts->compute[i].pct > top->pct);
    return false;
}

static void judge_indexed_constants(struct facts *facts, const struct verdict *verdict,
                                    struct judgement *out)
{
    ridge_finding *const finding = &out->finding;
    size_t i;

    (void)verdict;
    out->weight = WEIGHT_PRIMARY + 10;
    finding->sentence = "The cache of indexed constants is the busiest unit: lanes of a warp read "
                        "different constants, which it serves one address at a time.";
    finding->advice = "Keep constants that lanes index differently in shared memory, or in global "
                      "memory read through L1; constant memory is for what all lanes share.";
    for (i = 0; i < facts->compute_count; i++)
        if (strncmp(facts->compute[i].metric, "idc__", 5) == 0)
            finding_bar(finding, &facts->compute[i]);
    finding_evidence(facts, finding, RIDGE_MEANING_ADU_PCT);
    finding_stall(facts, finding, facts->top_stall);
    finding_places(facts, finding, PLACE_SAMPLES, facts->top_stall, NULL, "samples waiting");
}

static void judge_constant_cache(struct facts *facts, const struct verdict *verdict,
                                 struct judgement *out)
{
    ridge_finding *const finding = &out->finding;

    out->weight = stall_weight(facts, verdict, RIDGE_STALL_IMC_MISS);
    if (indexed_constants_lead(facts) && !verdict->saturated) {
        judge_indexed_constants(facts, verdict, out);
        return;
    }
    if (out->weight == 0)
        return;
    finding->sentence = facts_text(
        facts, "%.0f %% of the waiting is for the constant cache%s.",
        facts_stall(facts, RIDGE_STALL_IMC_MISS) * 100,
        VALUE(facts, DURATION_NS) < 4 * SHORT_NS
            ? " (parameters are read for the first time in each SM: usual in a short kernel)"
            : "");
    finding->advice = "Constants that lanes index differently belong in shared or global memory; "
                      "for kernel parameters, a longer kernel or a graph hides the first miss.";
    finding_stall(facts, finding, RIDGE_STALL_IMC_MISS);
    set_headroom(facts, verdict, finding);
    finding_places(facts, finding, PLACE_SAMPLES, RIDGE_STALL_IMC_MISS, NULL,
                   "samples waiting for constants");
}

static void judge_branching(struct facts *facts, const struct verdict *verdict,
                            struct judgement *out)
{
    ridge_finding *const finding = &out->finding;
    const double threads = VALUE(facts, THREADS_PER_INSTRUCTION);

    /* Few active threads have a rule of their own. */
    if (threads < DIVERGENT_THREADS)
        return;
    out->weight = stall_weight(facts, verdict, RIDGE_STALL_BRANCH_RESOLVING);
    if (out->weight == 0)
        return;
    finding->sentence = facts_text(facts, "%.0f %% of the waiting is for the target of a branch.",
                                   facts_stall(facts, RIDGE_STALL_BRANCH_RESOLVING) * 100);
    finding->advice = "Fewer branches: unroll short loops, use selects, drop indirect calls.";
    finding_stall(facts, finding, RIDGE_STALL_BRANCH_RESOLVING);
    finding_evidence(facts, finding, RIDGE_MEANING_THREADS_PER_INSTRUCTION);
    set_headroom(facts, verdict, finding);
    finding_places(facts, finding, PLACE_SAMPLES, RIDGE_STALL_BRANCH_RESOLVING, NULL,
                   "samples waiting for a branch");
}

/* Stalls that lead on a saturated kernel are a symptom of the wall. */
static void judge_stalls_at_wall(struct facts *facts, const struct verdict *verdict,
                                 struct judgement *out)
{
    if (!facts->has_stalls || !verdict->saturated || facts->stall_share[facts->top_stall] < 0.3)
        return;
    out->weight = 1;
    out->not_now =
        facts_text(facts, "%.0f %% of the waiting is %s: something has to wait while %s is full",
                   facts->stall_share[facts->top_stall] * 100, ridge_stall_name(facts->top_stall),
                   ridge_wall_words(verdict->wall));
}

const struct rule latency_rules[] = {
    {"load_in_flight", judge_load_in_flight},
    {"async_copy_not_overlapped", judge_async_copy},
    {"lg_throttle", judge_lg_throttle},
    {"shared_latency", judge_shared_latency},
    {"barrier", judge_barrier},
    {"dependency_chain", judge_dependency},
    {"instruction_cache", judge_instruction_cache},
    {"constant_cache", judge_constant_cache},
    {"branch_latency", judge_branching},
    {"stalls", judge_stalls_at_wall},
    {NULL, NULL},
};
