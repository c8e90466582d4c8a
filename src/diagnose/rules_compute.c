/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules of the compute side: what fills the pipes and the issue slots. */
#include <math.h>
#include <string.h>

#include "diagnose/diagnose_internal.h"

static double share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

/* The pipes that instructions go through, and the slots that issue them. */
#define ISSUE_AND_PIPES                                                                            \
    (WALL_BIT(RIDGE_WALL_ISSUE) | WALL_BIT(RIDGE_WALL_ALU) | WALL_BIT(RIDGE_WALL_FMA) |            \
     WALL_BIT(RIDGE_WALL_FP64) | WALL_BIT(RIDGE_WALL_XU))

/* The time ratio bound when the wall moves fewer instructions by a fraction: what is left, or the
 * next unit that the change does not relieve (bits WALL_BIT) as well. */
static void bound_by_fraction(const struct facts *facts, const struct verdict *verdict,
                              ridge_finding *finding, double waste_frac, unsigned relieved)
{
    ridge_wall next;
    const double next_frac = facts_next_wall(facts, relieved | WALL_BIT(verdict->wall), &next);
    const double after = next_frac / verdict->saturation_frac;

    if (!(verdict->saturation_frac > 0) || waste_frac >= 1)
        return;
    if (1 - waste_frac > after)
        next = verdict->wall;
    finding_bound(finding, 1 / fmax(1 - waste_frac, after), next);
}

/* The busiest arithmetic pipe but the tensor pipe and the special functions; NULL: none. */
static const struct constituent *busiest_pipe(const struct facts *facts)
{
    size_t i;

    for (i = 0; i < facts->compute_count; i++)
        if (!facts->compute[i].is_symptom &&
            (facts->compute[i].wall == RIDGE_WALL_FMA || facts->compute[i].wall == RIDGE_WALL_ALU ||
             facts->compute[i].wall == RIDGE_WALL_FP64))
            return &facts->compute[i];
    return NULL;
}

/* Floating-point arithmetic among the instructions. */
static double arithmetic_frac(const struct facts *facts)
{
    uint64_t executed = 0;
    size_t i;

    for (i = 0; i < facts->code.opcode_count; i++)
        if (facts->code.opcodes[i].cls == RIDGE_SASS_FP32 ||
            facts->code.opcodes[i].cls == RIDGE_SASS_FP16 ||
            facts->code.opcodes[i].cls == RIDGE_SASS_FP64)
            executed += facts->code.opcodes[i].executed;
    return share(executed, facts->code.executed);
}

static void judge_compute_pipe(struct facts *facts, const struct verdict *verdict,
                               struct judgement *out)
{
    ridge_finding *const finding = &out->finding;
    const struct constituent *const pipe = busiest_pipe(facts);
    const bool is_wall = pipe != NULL && verdict->wall == pipe->wall;

    if (verdict->cls != RIDGE_CLASS_COMPUTE || pipe == NULL)
        return;
    /* Nearly as busy as the issue slots: less of this arithmetic shortens both. */
    if (!is_wall && !(verdict->wall == RIDGE_WALL_ISSUE && pipe->pct >= NEAR_PCT))
        return;
    out->weight = is_wall                                     ? WEIGHT_PRIMARY + 2
                  : arithmetic_frac(facts) >= ARITHMETIC_FRAC ? WEIGHT_PRIMARY + 1
                                                              : WEIGHT_SHARED + 18;
    finding->sentence = facts_text(facts, "Arithmetic: %s is busy %.1f %% of the time.",
                                   ridge_wall_words(pipe->wall), pipe->pct);
    finding->advice =
        pipe->wall == RIDGE_WALL_FP64
            ? "Fewer FP64 operations: single precision where the error allows, FP64 tensor cores "
              "for matrix work; look for double constants (1.0 instead of 1.0f)."
        : pipe->wall == RIDGE_WALL_ALU
            ? "Fewer integer and logic operations: hoist index arithmetic out of the loop, use "
              "shifts and multiply-add (IMAD runs on the FMA pipe), compare and select less."
            : "Fewer operations: fused multiply-add, packed half2/bf162 arithmetic, tensor cores "
              "for matrix work, cheaper formulas.";
    finding_bar(finding, pipe);
    finding_evidence(facts, finding, RIDGE_MEANING_ISSUE_PCT);
    finding_stall(facts, finding, RIDGE_STALL_MATH_PIPE_THROTTLE);
    /* Less of this arithmetic is fewer instructions, too. */
    bound_by_fraction(facts, verdict, finding, 0.5,
                      WALL_BIT(RIDGE_WALL_ISSUE) | WALL_BIT(pipe->wall));
    finding_places(facts, finding, PLACE_SAMPLES, RIDGE_STALL_COUNT, NULL, "samples");
}

/* "; most are FFMA 41 %, LDG.E.U16 12 %, IMAD 9 %", or nothing. */
static const char *most_executed(struct facts *facts)
{
    const struct code_facts *const code = &facts->code;
    const double all = (double)code->executed / 100;

    if (code->opcode_count < 3 || all <= 0)
        return "";
    return facts_text(facts, "; most are %s %.0f %%, %s %.0f %%, %s %.0f %%", code->opcodes[0].name,
                      (double)code->opcodes[0].executed / all, code->opcodes[1].name,
                      (double)code->opcodes[1].executed / all, code->opcodes[2].name,
                      (double)code->opcodes[2].executed / all);
}

static void judge_issue_bound(struct facts *facts, const struct verdict *verdict,
                              struct judgement *out)
{
    ridge_finding *const finding = &out->finding;
    const double issue_pct = facts_wall_pct(facts, RIDGE_WALL_ISSUE);

    if (verdict->cls != RIDGE_CLASS_COMPUTE || verdict->wall == RIDGE_WALL_TENSOR)
        return;
    if (verdict->wall == RIDGE_WALL_ISSUE)
        out->weight = WEIGHT_PRIMARY;
    else if (issue_pct >= NEAR_PCT)
        out->weight = WEIGHT_SHARED;
    else
        return;
    finding->sentence =
        facts_text(facts,
                   "The schedulers issue an instruction in %.1f %% of the cycles: the number of "
                   "instructions is the %s%s.",
                   issue_pct, verdict->between ? "nearest limit" : "limit", most_executed(facts));
    finding->advice = "Fewer instructions for the same work: wider loads and stores, packed "
                      "half2/bf162 arithmetic, hoisted index arithmetic, unrolled loops.";
    finding_evidence(facts, finding, RIDGE_MEANING_ISSUE_PCT);
    finding_evidence(facts, finding, RIDGE_MEANING_ALU_PCT);
    finding_evidence(facts, finding, RIDGE_MEANING_FMA_PCT);
    finding_evidence(facts, finding, RIDGE_MEANING_INSTRUCTIONS);
    bound_by_fraction(facts, verdict, finding, 0.5, 0);
    finding_places(facts, finding, PLACE_EXECUTED, RIDGE_STALL_COUNT, NULL, "instructions");
}

static void judge_special_function(struct facts *facts, const struct verdict *verdict,
                                   struct judgement *out)
{
    ridge_finding *const finding = &out->finding;

    if (verdict->wall != RIDGE_WALL_XU)
        return;
    out->weight = WEIGHT_PRIMARY + 4;
    finding->sentence = facts_text(
        facts,
        "The special function unit is busy %.1f %% of the time: exp, log, sin, rsqrt, "
        "reciprocals and some conversions run there at a quarter of the FMA rate or less.",
        facts_wall_pct(facts, RIDGE_WALL_XU));
    finding->advice =
        "Fewer special functions: share one exp or reciprocal among several results, use "
        "exp2 with a folded constant, a polynomial on the FMA pipe for part of the elements.";
    finding_evidence(facts, finding, RIDGE_MEANING_XU_PCT);
    if (facts->code.special > 0)
        finding_number(finding, "ridge:special_frac", "special functions of all instructions",
                       share(facts->code.special, facts->code.executed), "frac");
    finding_evidence(facts, finding, RIDGE_MEANING_ISSUE_PCT);
    bound_by_fraction(facts, verdict, finding, 0.5, 0);
    finding_places(facts, finding, PLACE_SAMPLES, RIDGE_STALL_COUNT, NULL, "samples");
}

static void judge_conversion(struct facts *facts, const struct verdict *verdict,
                             struct judgement *out)
{
    ridge_finding *const finding = &out->finding;

    if (verdict->cls != RIDGE_CLASS_COMPUTE || !(facts->conversion_frac >= CONVERSION_FRAC))
        return;
    out->weight = WEIGHT_PRIMARY + 6;
    finding->sentence =
        facts_text(facts, "%.0f %% of the instructions convert between number formats.",
                   facts->conversion_frac * 100);
    finding->advice = "Convert two values at once (packed F2FP), keep values in one format "
                      "between steps, convert when staging a tile and not in the inner loop.";
    finding_number(finding, "ridge:conversion_frac", "conversions of all instructions",
                   facts->conversion_frac, "frac");
    finding_bar(finding, verdict->top);
    finding_evidence(facts, finding, RIDGE_MEANING_ISSUE_PCT);
    bound_by_fraction(facts, verdict, finding, facts->conversion_frac, ISSUE_AND_PIPES);
    finding_places(facts, finding, PLACE_EXECUTED, RIDGE_STALL_COUNT, row_is_conversion,
                   "conversions");
}

static bool row_is_divergent(const ridge_instruction *row)
{
    return row->executed > 0 && row->threads < row->executed * (uint64_t)DIVERGENT_THREADS;
}

static void judge_divergence(struct facts *facts, const struct verdict *verdict,
                             struct judgement *out)
{
    ridge_finding *const finding = &out->finding;
    const double threads = VALUE(facts, THREADS_PER_INSTRUCTION);
    const double branching = facts_stall(facts, RIDGE_STALL_BRANCH_RESOLVING);

    if (!(threads < DIVERGENT_THREADS))
        return;
    /* Blocks of fewer threads than a warp are as few threads without any branch. */
    if (facts->block_threads < 32)
        return;
    if (verdict->cls == RIDGE_CLASS_COMPUTE)
        out->weight = WEIGHT_PRIMARY + 10;
    else if (verdict->cls == RIDGE_CLASS_LATENCY)
        out->weight =
            threads < 16 || branching >= STALL_FRAC ? WEIGHT_PRIMARY + 5 : WEIGHT_SHARED + 10;
    else
        out->weight = WEIGHT_MINOR + 15;
    finding->sentence =
        facts_text(facts,
                   "Only %.1f of 32 threads are active in an instruction: the lanes of a warp take "
                   "different paths.",
                   threads);
    finding->advice =
        "Let the lanes of a warp agree: sort or bin the work by path, give one path to a whole "
        "warp, replace branches by selects, or split the rare path into a kernel of its own.";
    finding_evidence(facts, finding, RIDGE_MEANING_THREADS_PER_INSTRUCTION);
    finding_evidence(facts, finding, RIDGE_MEANING_THREADS_ON_PER_INSTRUCTION);
    finding_stall(facts, finding, RIDGE_STALL_BRANCH_RESOLVING);
    if (verdict->cls == RIDGE_CLASS_COMPUTE)
        bound_by_fraction(facts, verdict, finding, 1 - threads / 32, ISSUE_AND_PIPES);
    finding_places(facts, finding, PLACE_EXECUTED, RIDGE_STALL_COUNT, row_is_divergent,
                   "instructions of partly active warps");
}

static bool executes(const struct facts *facts, const char *name)
{
    size_t i;

    for (i = 0; i < facts->code.opcode_count; i++)
        if (strncmp(facts->code.opcodes[i].name, name, strlen(name)) == 0)
            return true;
    return false;
}

static void judge_tensor_pipe(struct facts *facts, const struct verdict *verdict,
                              struct judgement *out)
{
    ridge_finding *const finding = &out->finding;
    const double tensor_pct = facts_wall_pct(facts, RIDGE_WALL_TENSOR);

    if (verdict->wall != RIDGE_WALL_TENSOR)
        return;
    out->weight = WEIGHT_PRIMARY + 8;
    finding->sentence =
        verdict->saturated
            ? facts_text(facts,
                         "The tensor pipe is busy %.1f %% of the time: the kernel is at the "
                         "limit of the matrix units.",
                         tensor_pct)
            : facts_text(facts, "A matrix kernel whose tensor pipe is fed %.1f %% of the time.",
                         tensor_pct);
    finding->advice =
        verdict->saturated
            ? executes(facts, "DMMA")
                  ? "Only less arithmetic helps: single precision where the error allows, skipped "
                    "tiles."
                  : "Only less arithmetic helps: a narrower type (FP8, INT8), skipped tiles "
                    "(causal masks, sparsity)."
            : "Feed the tensor pipe: more stages of cp.async or TMA, larger warp tiles, operands "
              "loaded one step ahead (software pipelining), wgmma on Hopper, producer and "
              "consumer warps.";
    finding_evidence(facts, finding, RIDGE_MEANING_TENSOR_PCT);
    finding_evidence(facts, finding, RIDGE_MEANING_L1_DATA_PIPE_PCT);
    if (facts->code.opcode_count > 0)
        finding_number(finding, "ridge:tensor_frac", "tensor instructions of all instructions",
                       share(facts->code.tensor, facts->code.executed), "frac");
    finding_stall(facts, finding, facts->top_stall);
    if (!isnan(tensor_pct) && tensor_pct > 0) {
        ridge_wall next;
        const double others_frac = facts_next_wall(facts, WALL_BIT(RIDGE_WALL_TENSOR), &next);

        if (others_frac * 100 < tensor_pct)
            next = RIDGE_WALL_TENSOR;
        finding_bound(finding, 1 / fmax(tensor_pct / 100, others_frac), next);
    }
    finding_places(facts, finding, PLACE_SAMPLES, RIDGE_STALL_COUNT, NULL, "samples");
}

const struct rule compute_rules[] = {
    {"tensor_pipe", judge_tensor_pipe},
    {"compute_pipe", judge_compute_pipe},
    {"issue_bound", judge_issue_bound},
    {"special_function", judge_special_function},
    {"conversion", judge_conversion},
    {"thread_divergence", judge_divergence},
    {NULL, NULL},
};
