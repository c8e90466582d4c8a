/* SPDX-License-Identifier: Apache-2.0
 *
 * The diagnosis of one kernel: facts, gates, rules, and what comes of them put in order. */
#include "ridge/diagnose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/diagnose_internal.h"

static const char *const class_names[] = {
#define CLASS_NAME(name, text) text,
    RIDGE_CLASS_LIST(CLASS_NAME)
#undef CLASS_NAME
};

static const struct {
    const char *name, *words;
} wall_names[] = {
#define WALL_NAME(name, text, words) {text, words},
    RIDGE_WALL_LIST(WALL_NAME)
#undef WALL_NAME
};

const char *ridge_class_name(ridge_class cls)
{
    return (unsigned)cls < RIDGE_CLASS_COUNT ? class_names[cls] : "?";
}

const char *ridge_wall_name(ridge_wall wall)
{
    return (unsigned)wall < RIDGE_WALL_COUNT ? wall_names[wall].name : "?";
}

const char *ridge_wall_words(ridge_wall wall)
{
    return (unsigned)wall < RIDGE_WALL_COUNT ? wall_names[wall].words : "?";
}

/* The public diagnosis comes first, so that the two can be cast into each other. */
struct diagnosis {
    ridge_diagnosis shown;
    ridge_arena arena;
};

enum { JUDGEMENTS = 64, NOTES = 12 };

/* -- rules ------------------------------------------------------------------------------------- */

struct judgements {
    struct judgement list[JUDGEMENTS];
    size_t count;
};

static void run_rules(struct facts *facts, const struct verdict *verdict,
                      struct judgements *judgements)
{
    static const struct rule *const topics[] = {memory_rules, compute_rules, latency_rules,
                                                parallelism_rules};
    size_t t;

    for (t = 0; t < sizeof(topics) / sizeof(topics[0]); t++) {
        const struct rule *rule;

        for (rule = topics[t]; rule->id != NULL; rule++) {
            struct judgement *const judgement = &judgements->list[judgements->count];

            memset(judgement, 0, sizeof(*judgement));
            judgement->finding.id = rule->id;
            judgement->finding.speedup_bound[0] = judgement->finding.speedup_bound[1] = NAN;
            rule->judge(facts, verdict, judgement);
            /* Inside a kernel that is mostly launch there is little to gain. */
            if (verdict->gate == 0 && judgement->weight < WEIGHT_PRIMARY &&
                judgement->weight >= WEIGHT_MINOR && strcmp(rule->id, "grid_too_small") != 0)
                judgement->weight = WEIGHT_MINOR - 1;
            if (judgement->weight > 0 && judgements->count < JUDGEMENTS - 1)
                judgements->count++;
        }
    }
}

static int compare_judgements(const void *left, const void *right)
{
    const struct judgement *const a = left;
    const struct judgement *const b = right;

    if ((a->not_now != NULL) != (b->not_now != NULL))
        return a->not_now != NULL ? 1 : -1;
    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    return strcmp(a->finding.id, b->finding.id);
}

/* No change makes a kernel shorter than its launch. */
static void respect_launch(const struct facts *facts, ridge_finding *finding)
{
    const double most = VALUE(facts, DURATION_NS) / LAUNCH_NS;

    if (finding->speedup_bound[1] > most && !facts->is_range)
        finding_bound(finding, most, RIDGE_WALL_UNKNOWN);
}

/* Sorts what the rules said into findings and what not to chase. */
static bool keep_judgements(struct facts *facts, struct judgements *judgements,
                            ridge_diagnosis *out)
{
    size_t i;

    qsort(judgements->list, judgements->count, sizeof(judgements->list[0]), compare_judgements);
    out->findings = ridge_alloc_array(facts->arena, judgements->count, sizeof(out->findings[0]));
    out->not_now = ridge_alloc_array(facts->arena, judgements->count, sizeof(out->not_now[0]));
    if (out->findings == NULL || out->not_now == NULL)
        return false;
    for (i = 0; i < judgements->count; i++) {
        const struct judgement *const judgement = &judgements->list[i];

        if (judgement->not_now != NULL) {
            out->not_now[out->not_now_count].id = judgement->finding.id;
            out->not_now[out->not_now_count++].reason = judgement->not_now;
        } else {
            out->findings[out->finding_count] = judgement->finding;
            respect_launch(facts, &out->findings[out->finding_count]);
            out->findings[out->finding_count].rank = (int)out->finding_count + 1;
            out->findings[out->finding_count].is_minor = judgement->weight < WEIGHT_MINOR;
            out->finding_count++;
        }
    }
    return true;
}

/* -- the verdict ------------------------------------------------------------------------------- */

/* At the limit: saturated, and with useful work. */
static bool is_at_limit(const struct verdict *verdict, const ridge_diagnosis *out)
{
    static const char *const useful[] = {"memory_bandwidth", "tensor_pipe", "compute_pipe",
                                         "l2_bandwidth", "special_function"};
    size_t i;

    if (!verdict->saturated || out->finding_count == 0)
        return false;
    for (i = 0; i < sizeof(useful) / sizeof(useful[0]); i++)
        if (strcmp(out->findings[0].id, useful[i]) == 0)
            return true;
    return false;
}

/* "; the busiest unit, DRAM, is at 11.3 %", or nothing. Units that are busy because of something
 * else (ADU, constant cache) may be above it. */
static const char *busiest_unit(struct facts *facts)
{
    const struct constituent *const busiest = facts_top(facts, true, true);
    const bool is_busiest = busiest != NULL &&
                            !(facts->memory_count > 0 && facts->memory[0].pct > busiest->pct) &&
                            !(facts->compute_count > 0 && facts->compute[0].pct > busiest->pct);

    return busiest != NULL ? facts_text(facts, "; the busiest %s, %s, is at %.1f %%",
                                        is_busiest ? "unit" : "memory or arithmetic unit",
                                        busiest->label, busiest->pct)
                           : "";
}

/* The first finding in words; NULL: none, or what the wall says already. */
static const char *first_cause(const struct facts *facts, const ridge_diagnosis *out)
{
    const ridge_topic *const topic =
        out->finding_count > 0 ? ridge_topic_find(out->findings[0].id) : NULL;

    if (topic != NULL && strcmp(topic->id, "load_in_flight") == 0 &&
        facts_has_bytes_in_flight(facts))
        return "loads that take long";
    if (topic == NULL || strcmp(topic->title, ridge_wall_words(out->verdict.wall)) == 0)
        return NULL;
    return topic->title;
}

/* "Memory-bound: device memory is busy 74.7 %, near its limit: ...". */
static const char *busy_sentence(struct facts *facts, const struct verdict *verdict,
                                 const ridge_diagnosis *out)
{
    const char *const cause = first_cause(facts, out);
    const char *const unit =
        verdict->wall == RIDGE_WALL_L1 && verdict->top != NULL
            ? facts_text(facts, "%s (%s)", ridge_wall_words(verdict->wall), verdict->top->label)
            : ridge_wall_words(verdict->wall);
    const char *what = "";

    if (out->verdict.at_limit)
        what = ", with useful work: at the limit";
    else if (cause != NULL)
        what = facts_text(facts, ": %s", cause);
    else if (out->finding_count == 0)
        what = "; with what, the report cannot say";
    return facts_text(facts, "%s-bound: %s is busy %.1f %%%s%s.",
                      verdict->cls == RIDGE_CLASS_MEMORY ? "Memory" : "Compute", unit,
                      verdict->saturation_frac * 100,
                      verdict->near      ? ", near its limit"
                      : verdict->between ? ", the nearest wall"
                                         : "",
                      what);
}

static const char *verdict_sentence(struct facts *facts, const struct verdict *verdict,
                                    const ridge_diagnosis *out)
{
    const char *const cause = first_cause(facts, out);

    if (verdict->cls == RIDGE_CLASS_UNKNOWN)
        return "Not decided: the report lacks what the first gates ask for.";
    if (verdict->gate == 0)
        return "Latency-bound: the kernel is too short to have a wall.";
    if (verdict->wall == RIDGE_WALL_ATOMICS && !verdict->saturated)
        return facts_text(facts, "Memory-bound: atomic operations%s.", busiest_unit(facts));
    if (verdict->cls != RIDGE_CLASS_LATENCY)
        return busy_sentence(facts, verdict, out);
    return facts_text(facts, "Latency-bound: %s%s%s.", ridge_wall_words(verdict->wall),
                      cause != NULL ? facts_text(facts, " (%s)", cause) : "", busiest_unit(facts));
}

/* -- notes on the profile itself --------------------------------------------------------------- */

static void add_note(struct facts *facts, ridge_diagnosis *out, const char *note)
{
    (void)facts;
    if (out->note_count < NOTES)
        out->notes[out->note_count++] = note;
}

static void add_notes(struct facts *facts, ridge_diagnosis *out)
{
    if (facts->info->clocks_locked == 1)
        add_note(facts, out,
                 "The profiler locked the clocks to base (its default): times are longer than in "
                 "a benchmark; --clock-control none leaves them alone.");
    if (facts->sample_count < FEW_SAMPLES)
        add_note(facts, out,
                 facts_text(facts,
                            "Only %.0f warp-state samples: places and stall shares are rough.",
                            facts->sample_count));
    if (facts->stalls_from_samples)
        add_note(facts, out,
                 "Stall shares are rebuilt from program-counter samples: the report "
                 "holds no stall ratios.");
    if (facts->options.compulsory_bytes > 0 && !isnan(facts->dram_bytes))
        add_note(facts, out,
                 facts_text(facts,
                            "Device memory moved %.1f MiB; the work needs %.1f MiB (%.2f times)%s.",
                            facts->dram_bytes / 0x1p20, facts->options.compulsory_bytes / 0x1p20,
                            facts->dram_bytes / facts->options.compulsory_bytes,
                            facts->dram_bytes < 0.5 * facts->options.compulsory_bytes
                                ? ": is that the work of this launch, or was it in L2?"
                                : ""));
    if (facts->options.flop_count > 0 && HAS(facts, DURATION_NS))
        add_note(facts, out,
                 facts_text(facts, "%.4g FLOP in this time are %.4g TFLOP/s.",
                            facts->options.flop_count,
                            facts->options.flop_count / VALUE(facts, DURATION_NS) / 1e3));
    if (facts->info->kind != RIDGE_RESULT_KERNEL)
        add_note(facts, out,
                 "This result covers a range of work, not one kernel: launch and "
                 "occupancy do not apply.");
}

/* -- what is shown of the facts ---------------------------------------------------------------- */

static void fill_bars(const struct facts *facts, ridge_diagnosis *out)
{
    const size_t memory_count = facts->memory_count, compute_count = facts->compute_count;
    size_t m = 0, c = 0;

    while (out->bar_count < RIDGE_BARS && (m < memory_count || c < compute_count)) {
        const bool take_memory =
            c == compute_count ||
            (m < memory_count && facts->memory[m].pct >= facts->compute[c].pct);
        const struct constituent *const unit =
            take_memory ? &facts->memory[m++] : &facts->compute[c++];
        size_t i;

        if (unit->is_symptom && unit->wall != RIDGE_WALL_STALL)
            continue;
        for (i = 0; i < out->bar_count; i++) /* one bar a unit: its busiest constituent */
            if (strcmp(out->bars[i].label, unit->label) == 0 ||
                (out->bars[i].wall == unit->wall && unit->wall != RIDGE_WALL_L1 &&
                 unit->wall != RIDGE_WALL_STALL))
                break;
        if (i < out->bar_count)
            continue;
        out->bars[out->bar_count].metric = unit->metric;
        out->bars[out->bar_count].label = unit->label;
        out->bars[out->bar_count].wall = unit->wall;
        out->bars[out->bar_count++].busy_frac = unit->pct / 100;
    }
}

static void fill_stalls(const struct facts *facts, ridge_diagnosis *out)
{
    bool taken[RIDGE_STALL_COUNT] = {false};

    while (facts->has_stalls && out->stall_count < RIDGE_STALLS_SHOWN) {
        size_t best = RIDGE_STALL_COUNT, i;

        for (i = 0; i < RIDGE_STALL_COUNT; i++)
            if (!taken[i] && facts->stall_share[i] > 0.005 &&
                (best == RIDGE_STALL_COUNT || facts->stall_share[i] > facts->stall_share[best]))
                best = i;
        if (best == RIDGE_STALL_COUNT)
            break;
        taken[best] = true;
        out->stalls[out->stall_count].stall = (ridge_stall)best;
        out->stalls[out->stall_count++].share_frac = facts->stall_share[best];
    }
    out->stalls_from_samples = facts->stalls_from_samples;
}

static void fill_steps(const struct facts *facts, ridge_diagnosis *out)
{
    ridge_occupancy_step steps[RIDGE_STEPS];
    size_t count, i;

    if (facts->arch == NULL || facts->occupancy.blocks_per_sm <= 0)
        return;
    count = ridge_occupancy_staircase(facts->arch, &facts->launch, steps, RIDGE_STEPS);
    for (i = 0; i < count && i < RIDGE_STEPS; i++) {
        ridge_diagnosis_step *const step = &out->steps[out->step_count++];

        step->blocks_per_sm = steps[i].blocks_per_sm;
        step->warps_per_sm = steps[i].warps_per_sm;
        step->largest_shared_bytes = steps[i].largest_shared_bytes;
        step->largest_registers_per_thread = steps[i].largest_registers_per_thread;
        step->is_current = steps[i].blocks_per_sm == facts->occupancy.blocks_per_sm;
    }
}

static void fill_kernel(struct facts *facts, ridge_diagnosis *out)
{
    const ridge_report_kernel_info *const info = facts->info;

    out->name = facts_text(facts, "%s", info->name);
    if (info->demangled_name != NULL)
        out->demangled_name = facts_text(facts, "%s", info->demangled_name);
    if (info->gpu_name != NULL)
        out->gpu = facts_text(facts, "%s", info->gpu_name);
    out->cc_major = info->cc_major;
    out->cc_minor = info->cc_minor;
    out->launch_index = info->index;
    memcpy(out->grid, info->grid, sizeof(out->grid));
    memcpy(out->block, info->block, sizeof(out->block));
    out->duration_ns = VALUE(facts, DURATION_NS);
    out->registers_per_thread = VALUE(facts, REGISTERS);
    out->shared_bytes_per_block = facts->shared_bytes;
    out->occupancy_theoretical_frac = facts->theoretical_pct / 100;
    out->occupancy_achieved_frac = facts->achieved_pct / 100;
    out->waves = facts->waves;
    out->clocks_locked = info->clocks_locked == 1;
    out->dram_bytes = facts->dram_bytes;
    out->model_bytes =
        facts->options.compulsory_bytes > 0 ? facts->options.compulsory_bytes : (double)NAN;
    out->model_flop = facts->options.flop_count > 0 ? facts->options.flop_count : (double)NAN;
}

/* Names of metrics and files live in the report, which may be freed first. */
static void own_names(struct facts *facts, ridge_diagnosis *out)
{
    size_t f, e;

    for (f = 0; f < out->finding_count; f++)
        for (e = 0; e < out->findings[f].evidence_count; e++) {
            ridge_evidence *const evidence = &out->findings[f].evidence[e];

            evidence->metric = facts_text(facts, "%s", evidence->metric);
            evidence->unit = facts_text(facts, "%s", evidence->unit);
        }
}

ridge_status ridge_diagnose(const ridge_report *report, size_t kernel_index,
                            const ridge_diagnose_options *options, ridge_diagnosis **out,
                            ridge_error *err)
{
    struct diagnosis *const diagnosis = ridge_calloc(1, sizeof(*diagnosis));
    struct judgements *const judgements = ridge_calloc(1, sizeof(*judgements));
    struct facts *const facts = ridge_calloc(1, sizeof(*facts));
    struct verdict verdict;
    ridge_diagnosis *shown;
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;

    *out = NULL;
    if (diagnosis == NULL || judgements == NULL || facts == NULL)
        goto out;
    ridge_arena_init(&diagnosis->arena);
    shown = &diagnosis->shown;
    status = facts_collect(facts, report, kernel_index, options, &diagnosis->arena, err);
    if (status != RIDGE_OK)
        goto out;
    gates_run(facts, &verdict, shown->gates);
    shown->gate_count = RIDGE_GATES;
    run_rules(facts, &verdict, judgements);
    status = RIDGE_ERR_OUT_OF_MEMORY;
    shown->notes = ridge_alloc_array(&diagnosis->arena, NOTES, sizeof(shown->notes[0]));
    if (shown->notes == NULL || !keep_judgements(facts, judgements, shown))
        goto out;
    fill_kernel(facts, shown);
    shown->verdict.cls = verdict.cls;
    shown->verdict.wall = verdict.wall;
    shown->verdict.saturation_frac = verdict.saturation_frac;
    shown->verdict.at_limit = is_at_limit(&verdict, shown);
    shown->verdict.sentence = verdict_sentence(facts, &verdict, shown);
    fill_bars(facts, shown);
    fill_stalls(facts, shown);
    fill_steps(facts, shown);
    add_notes(facts, shown);
    missing_collect(facts, &verdict, shown);
    own_names(facts, shown);
    if (facts->out_of_memory)
        goto out;
    status = RIDGE_OK;
    *out = shown;
out:
    if (status == RIDGE_ERR_OUT_OF_MEMORY)
        ridge_fail(err, status, "out of memory");
    if (facts != NULL)
        facts_release(facts);
    ridge_free(facts);
    ridge_free(judgements);
    if (status != RIDGE_OK && diagnosis != NULL)
        ridge_diagnosis_free(&diagnosis->shown);
    return status;
}

void ridge_diagnosis_free(ridge_diagnosis *shown)
{
    struct diagnosis *const diagnosis = (struct diagnosis *)(void *)shown;

    if (diagnosis == NULL)
        return;
    ridge_arena_release(&diagnosis->arena);
    ridge_free(diagnosis);
}
