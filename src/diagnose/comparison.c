/* SPDX-License-Identifier: Apache-2.0
 *
 * The comparison of two reports. Both sides of a pair are diagnosed; what changed is told in terms
 * of the verdicts and of the metrics that findings rest on, not of all metrics that moved. */
#include "ridge/diff.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/diagnose_internal.h"

/* Clocks that differ by more make times incomparable. */
#define CLOCK_TOLERANCE 0.03

struct diff {
    ridge_diff shown;
    ridge_arena arena;
};

/* One side of a pair while it is compared. */
struct side {
    struct facts facts;
    ridge_diagnosis *diagnosis;
};

/* -- pairing ----------------------------------------------------------------------------------- */

/* A kernel that has no partner yet, by the name it is to be paired by. */
struct entry {
    const char *name;
    size_t name_length;
    size_t index; /* in its report */
};

/* partner[i]: the kernel of after that goes with kernel i of before; SIZE_MAX: none. */
struct pairing {
    size_t *partner;
    bool *taken; /* of after */
    size_t before_count, after_count;
    struct entry *before, *after; /* sorted */
};

static int compare_names(const struct entry *a, const struct entry *b)
{
    const size_t length = a->name_length < b->name_length ? a->name_length : b->name_length;
    const int order = memcmp(a->name, b->name, length);

    if (order != 0)
        return order;
    return (a->name_length > b->name_length) - (a->name_length < b->name_length);
}

static int compare_entries(const void *left, const void *right)
{
    const struct entry *const a = left;
    const struct entry *const b = right;
    const int order = compare_names(a, b);

    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

/* The kernels of a report without a partner, sorted by name and order. exact: by the mangled
 * name, else by the name in front of template arguments and parameters. */
static size_t list_entries(const ridge_report *report, const struct pairing *pairing,
                           bool is_before, bool exact, struct entry *entries)
{
    const size_t count = ridge_report_kernel_count(report);
    size_t listed = 0, i;

    for (i = 0; i < count; i++) {
        const ridge_report_kernel_info *const info =
            ridge_report_kernel_get_info(ridge_report_kernel_at(report, i));
        struct entry *const entry = &entries[listed];

        if (is_before ? pairing->partner[i] != SIZE_MAX : pairing->taken[i])
            continue;
        entry->name = exact && info->mangled_name != NULL ? info->mangled_name : info->name;
        entry->name_length = exact ? strlen(entry->name) : strcspn(entry->name, "<(");
        entry->index = i;
        listed++;
    }
    if (listed > 0)
        qsort(entries, listed, sizeof(entries[0]), compare_entries);
    return listed;
}

/* Pairs what has the same name, the first launch with the first. */
static void pair_by_name(struct pairing *pairing, const ridge_report *before,
                         const ridge_report *after, bool exact)
{
    const size_t before_count = list_entries(before, pairing, true, exact, pairing->before);
    const size_t after_count = list_entries(after, pairing, false, exact, pairing->after);
    size_t b = 0, a = 0;

    while (b < before_count && a < after_count) {
        const int order = compare_names(&pairing->before[b], &pairing->after[a]);

        if (order == 0) {
            pairing->partner[pairing->before[b].index] = pairing->after[a].index;
            pairing->taken[pairing->after[a].index] = true;
        }
        b += order <= 0;
        a += order >= 0;
    }
}

static void pair_kernels(struct pairing *pairing, const ridge_report *before,
                         const ridge_report *after)
{
    size_t i;

    for (i = 0; i < pairing->before_count; i++)
        pairing->partner[i] = SIZE_MAX;
    pair_by_name(pairing, before, after, true);
    pair_by_name(pairing, before, after, false);
    if (pairing->before_count == 1 && pairing->after_count == 1) {
        pairing->partner[0] = 0;
        pairing->taken[0] = true;
    }
}

/* -- one pair ---------------------------------------------------------------------------------- */

static bool has_finding(const ridge_diagnosis *diagnosis, const char *id)
{
    size_t i;

    for (i = 0; i < diagnosis->finding_count; i++)
        if (!diagnosis->findings[i].is_minor && strcmp(diagnosis->findings[i].id, id) == 0)
            return true;
    return false;
}

/* Whether a report cannot show what the other one can. */
static bool lacks_data(const struct side *side, const struct side *other)
{
    const unsigned own = (unsigned)side->facts.profile->columns;
    unsigned lacking = (unsigned)other->facts.profile->columns & ~own &
                       (RIDGE_PROFILE_EXECUTED | RIDGE_PROFILE_SHARED | RIDGE_PROFILE_SECTORS);

    /* A counter that is zero has no instances. */
    if (HAS(&side->facts, PROGRAM_WAVEFRONTS))
        lacking &= ~(unsigned)RIDGE_PROFILE_SHARED;
    if (HAS(&side->facts, PROGRAM_SECTORS))
        lacking &= ~(unsigned)RIDGE_PROFILE_SECTORS;
    return side->diagnosis->missing_count > other->diagnosis->missing_count ||
           (side->diagnosis->verdict.cls == RIDGE_CLASS_UNKNOWN &&
            other->diagnosis->verdict.cls != RIDGE_CLASS_UNKNOWN) ||
           lacking != 0;
}

static void compare_findings(const struct side *before, const struct side *after,
                             ridge_diff_pair *pair)
{
    const bool before_lacks = lacks_data(before, after), after_lacks = lacks_data(after, before);
    size_t i;

    for (i = 0; i < before->diagnosis->finding_count; i++) {
        const ridge_finding *const finding = &before->diagnosis->findings[i];

        if (finding->is_minor || pair->left_count + pair->gone_count >= RIDGE_DIFF_FINDINGS)
            continue;
        if (has_finding(after->diagnosis, finding->id))
            pair->left[pair->left_count++] = finding->id;
        else if (!after_lacks)
            pair->gone[pair->gone_count++] = finding->id;
    }
    for (i = 0; i < after->diagnosis->finding_count; i++) {
        const ridge_finding *const finding = &after->diagnosis->findings[i];

        if (!finding->is_minor && !before_lacks && !has_finding(before->diagnosis, finding->id) &&
            pair->added_count < RIDGE_DIFF_FINDINGS)
            pair->added[pair->added_count++] = finding->id;
    }
    if (before_lacks || after_lacks)
        pair->notes[pair->note_count++] =
            after_lacks
                ? "AFTER holds less data than BEFORE: what it does not show need not be gone."
                : "BEFORE holds less data than AFTER: what it does not show need not be new.";
}

/* How much a number changed, whichever the direction; a number that is zero or absent on one side
 * changed most. */
static double change_size(const ridge_change *change)
{
    if (isnan(change->before) || isnan(change->after))
        return -1;
    if (change->before == change->after)
        return 0;
    if (change->before <= 0 || change->after <= 0)
        return 1e3;
    return fabs(log(change->after / change->before));
}

static int compare_changes(const void *left, const void *right)
{
    const ridge_change *const a = left;
    const ridge_change *const b = right;
    const double a_size = change_size(a), b_size = change_size(b);

    if (a_size != b_size)
        return a_size < b_size ? 1 : -1;
    return strcmp(a->metric, b->metric);
}

/* The value of derived evidence on a side whose findings do not rest on it; NAN: not known. */
static double derived_value(const struct facts *facts, const char *metric)
{
    static const struct {
        const char *metric;
        size_t field;
    } fields[] = {
        {"ridge:shared_waste_frac", offsetof(struct facts, shared_waste_frac)},
        {"ridge:sector_waste_frac", offsetof(struct facts, sector_waste_frac)},
        {"ridge:local_frac", offsetof(struct facts, local_frac)},
        {"ridge:narrow_frac", offsetof(struct facts, narrow_frac)},
        {"ridge:conversion_frac", offsetof(struct facts, conversion_frac)},
        {"ridge:atomic_frac", offsetof(struct facts, atomic_frac)},
        {"ridge:tail_frac", offsetof(struct facts, tail_frac)},
        {"ridge:dram_bytes", offsetof(struct facts, dram_bytes)},
    };
    char stall[64];
    size_t i;

    for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (strcmp(fields[i].metric, metric) == 0) {
            double value;

            memcpy(&value, (const char *)facts + fields[i].field, sizeof(value));
            return value;
        }
    for (i = 0; facts->has_stalls && i < RIDGE_STALL_COUNT; i++) {
        snprintf(stall, sizeof(stall), "ridge:stall_%s_frac", ridge_stall_name((ridge_stall)i));
        if (strcmp(stall, metric) == 0)
            return facts->stall_share[i];
    }
    return NAN;
}

/* The value of a piece of evidence in a diagnosis that may not list it. */
static double evidence_value(const struct side *side, const char *metric)
{
    size_t f, e;
    double value;

    for (f = 0; f < side->diagnosis->finding_count; f++)
        for (e = 0; e < side->diagnosis->findings[f].evidence_count; e++)
            if (strcmp(side->diagnosis->findings[f].evidence[e].metric, metric) == 0)
                return side->diagnosis->findings[f].evidence[e].value;
    return ridge_report_kernel_number(side->facts.kernel, metric, &value)
               ? value
               : derived_value(&side->facts, metric);
}

enum { CANDIDATES = 128 };

static void add_candidates(const struct side *source, const struct side *before,
                           const struct side *after, struct facts *owner,
                           ridge_change candidates[CANDIDATES], size_t *count)
{
    size_t f, e, i;

    for (f = 0; f < source->diagnosis->finding_count; f++)
        for (e = 0; e < source->diagnosis->findings[f].evidence_count; e++) {
            const ridge_evidence *const evidence = &source->diagnosis->findings[f].evidence[e];

            for (i = 0; i < *count; i++)
                if (strcmp(candidates[i].metric, evidence->metric) == 0)
                    break;
            if (i < *count || *count == CANDIDATES)
                continue;
            candidates[i].metric = facts_text(owner, "%s", evidence->metric);
            candidates[i].label = facts_text(owner, "%s", evidence->label);
            candidates[i].unit = facts_text(owner, "%s", evidence->unit);
            candidates[i].before = evidence_value(before, evidence->metric);
            candidates[i].after = evidence_value(after, evidence->metric);
            ++*count;
        }
}

static void compare_metrics(struct side *before, struct side *after, ridge_diff_pair *pair)
{
    ridge_change candidates[CANDIDATES];
    size_t count = 0, i;

    add_candidates(before, before, after, &before->facts, candidates, &count);
    add_candidates(after, before, after, &before->facts, candidates, &count);
    qsort(candidates, count, sizeof(candidates[0]), compare_changes);
    for (i = 0; i < count && pair->metric_count < RIDGE_DIFF_METRICS; i++)
        if (change_size(&candidates[i]) > 0.01)
            pair->metrics[pair->metric_count++] = candidates[i];
}

static double executed_of(const struct code_facts *code, const char *opcode)
{
    size_t i;

    for (i = 0; i < code->opcode_count; i++)
        if (strcmp(code->opcodes[i].name, opcode) == 0)
            return (double)code->opcodes[i].executed;
    return 0;
}

static int compare_differences(const void *left, const void *right)
{
    const ridge_change *const a = left;
    const ridge_change *const b = right;
    const double a_size = fabs(a->after - a->before), b_size = fabs(b->after - b->before);

    if (a_size != b_size)
        return a_size < b_size ? 1 : -1;
    return strcmp(a->metric, b->metric);
}

/* The opcodes whose counts changed most, as numbers of warp instructions. */
static void compare_opcodes(struct side *before, struct side *after, ridge_diff_pair *pair)
{
    const struct code_facts *const codes[2] = {&before->facts.code, &after->facts.code};
    ridge_change changes[2 * OPCODES];
    size_t count = 0, s, i, k;

    if (codes[0]->opcode_count == 0 || codes[1]->opcode_count == 0)
        return; /* not recorded is not zero */
    for (s = 0; s < 2; s++)
        for (i = 0; i < codes[s]->opcode_count; i++) {
            const char *const name = codes[s]->opcodes[i].name;

            for (k = 0; k < count; k++)
                if (strcmp(changes[k].metric, name) == 0)
                    break;
            if (k < count)
                continue;
            changes[count].metric = facts_text(&before->facts, "%s", name);
            changes[count].label = changes[count].metric;
            changes[count].unit = "inst";
            changes[count].before = executed_of(codes[0], name);
            changes[count].after = executed_of(codes[1], name);
            count++;
        }
    qsort(changes, count, sizeof(changes[0]), compare_differences);
    for (i = 0; i < count && pair->opcode_count < RIDGE_DIFF_OPCODES; i++)
        if (fabs(changes[i].after - changes[i].before) >
            0.005 * (double)(codes[0]->executed + codes[1]->executed))
            pair->opcodes[pair->opcode_count++] = changes[i];
}

static void add_resource(ridge_diff_pair *pair, const char *metric, const char *label,
                         const char *unit, double before, double after)
{
    if ((isnan(before) && isnan(after)) || before == after)
        return;
    pair->resources[pair->resource_count].metric = metric;
    pair->resources[pair->resource_count].label = label;
    pair->resources[pair->resource_count].unit = unit;
    pair->resources[pair->resource_count].before = before;
    pair->resources[pair->resource_count++].after = after;
}

static double spill_bytes(const struct facts *facts)
{
    const ridge_function *const function = facts->profile->function;

    if (function == NULL || function->spill_store_bytes < 0)
        return NAN;
    return (double)function->spill_store_bytes + (double)function->spill_load_bytes;
}

static void compare_resources(const struct facts *before, const struct facts *after,
                              ridge_diff_pair *pair)
{
    add_resource(pair, "ridge:grid_blocks", "blocks", "block", before->grid_blocks,
                 after->grid_blocks);
    add_resource(pair, "ridge:block_threads", "threads a block", "thread", before->block_threads,
                 after->block_threads);
    add_resource(pair, "ridge:registers_per_thread", "registers a thread", "register",
                 VALUE(before, REGISTERS), VALUE(after, REGISTERS));
    add_resource(pair, "ridge:shared_bytes_per_block", "shared memory a block", "byte",
                 before->shared_bytes, after->shared_bytes);
    add_resource(pair, "ridge:spill_bytes", "spilled and refilled a thread", "byte",
                 spill_bytes(before), spill_bytes(after));
    add_resource(pair, "ridge:occupancy_theoretical_frac", "warps that fit", "frac",
                 before->theoretical_pct / 100, after->theoretical_pct / 100);
    add_resource(pair, "ridge:occupancy_achieved_frac", "warps resident", "frac",
                 before->achieved_pct / 100, after->achieved_pct / 100);
}

static bool is_same_code(const struct facts *before, const struct facts *after)
{
    const ridge_function *const a = before->profile->function;
    const ridge_function *const b = after->profile->function;

    return a != NULL && b != NULL && a->code_bytes > 0 && a->code_bytes == b->code_bytes &&
           memcmp(a->code, b->code, a->code_bytes) == 0;
}

static void add_notes(struct side *before, struct side *after, ridge_diff_pair *pair)
{
    const char *const latency = "smsp__average_warp_latency_per_inst_issued.ratio";
    double latency_before, latency_after;

    if (pair->clocks_differ)
        pair->notes[pair->note_count++] = facts_text(
            &before->facts,
            "The SM clocks differ (%.0f and %.0f MHz): the times are not comparable; by cycles "
            "it is %.2f times as fast.",
            pair->clock_before_hz / 1e6, pair->clock_after_hz / 1e6, pair->cycles_speedup);
    if (pair->same_code)
        pair->notes[pair->note_count++] =
            "Identical machine code on both sides: a stale build, or only the launch changed?";
    if (ridge_report_kernel_number(before->facts.kernel, latency, &latency_before) &&
        ridge_report_kernel_number(after->facts.kernel, latency, &latency_after) &&
        VALUE(&after->facts, INSTRUCTIONS) < 0.97 * VALUE(&before->facts, INSTRUCTIONS) &&
        latency_after > 1.03 * latency_before)
        pair->notes[pair->note_count++] = facts_text(
            &before->facts,
            "%.0f %% fewer instructions, each waiting longer (%.3g -> %.3g warp cycles): the same "
            "latency over fewer instructions, not a new problem.",
            100 * (1 - VALUE(&after->facts, INSTRUCTIONS) / VALUE(&before->facts, INSTRUCTIONS)),
            latency_before, latency_after);
}

static ridge_verdict own_verdict(struct facts *owner, const ridge_verdict *verdict)
{
    ridge_verdict own = *verdict;

    own.sentence = facts_text(owner, "%s", verdict->sentence);
    return own;
}

static void compare_sides(struct side *before, struct side *after, ridge_diff_pair *pair)
{
    const struct facts *const a = &before->facts;
    const struct facts *const b = &after->facts;

    pair->name_before = facts_text(&before->facts, "%s", a->info->name);
    pair->name_after = facts_text(&before->facts, "%s", b->info->name);
    pair->launch_before = a->info->index;
    pair->launch_after = b->info->index;
    pair->before_ns = VALUE(a, DURATION_NS);
    pair->after_ns = VALUE(b, DURATION_NS);
    pair->speedup = pair->after_ns > 0 ? pair->before_ns / pair->after_ns : (double)NAN;
    pair->clock_before_hz = VALUE(a, SM_CLOCK_HZ);
    pair->clock_after_hz = VALUE(b, SM_CLOCK_HZ);
    pair->clocks_differ = fabs(pair->clock_after_hz / pair->clock_before_hz - 1) > CLOCK_TOLERANCE;
    pair->cycles_speedup = VALUE(b, SM_CYCLES_ELAPSED) > 0
                               ? VALUE(a, SM_CYCLES_ELAPSED) / VALUE(b, SM_CYCLES_ELAPSED)
                               : (double)NAN;
    pair->verdict_before = own_verdict(&before->facts, &before->diagnosis->verdict);
    pair->verdict_after = own_verdict(&before->facts, &after->diagnosis->verdict);
    pair->wall_moved = pair->verdict_before.wall != pair->verdict_after.wall &&
                       pair->verdict_before.cls != RIDGE_CLASS_UNKNOWN &&
                       pair->verdict_after.cls != RIDGE_CLASS_UNKNOWN;
    pair->same_code = is_same_code(a, b);
    compare_findings(before, after, pair);
    compare_metrics(before, after, pair);
    compare_opcodes(before, after, pair);
    compare_resources(a, b, pair);
    add_notes(before, after, pair);
}

static ridge_status side_create(struct side *side, const ridge_report *report, size_t index,
                                ridge_arena *arena, ridge_error *err)
{
    const ridge_status status = facts_collect(&side->facts, report, index, NULL, arena, err);

    if (status != RIDGE_OK)
        return status;
    return ridge_diagnose(report, index, NULL, &side->diagnosis, err);
}

static ridge_status compare_pair(struct diff *diff, const ridge_report *before, size_t index,
                                 const ridge_report *after, size_t partner, ridge_error *err)
{
    struct side *const sides = ridge_calloc(2, sizeof(*sides));
    ridge_status status;

    if (sides == NULL)
        return ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    status = side_create(&sides[0], before, index, &diff->arena, err);
    if (status == RIDGE_OK)
        status = side_create(&sides[1], after, partner, &diff->arena, err);
    if (status == RIDGE_OK) {
        compare_sides(&sides[0], &sides[1], &diff->shown.pairs[diff->shown.pair_count++]);
        if (sides[0].facts.out_of_memory || sides[1].facts.out_of_memory)
            status = ridge_fail(err, RIDGE_ERR_OUT_OF_MEMORY, "out of memory");
    }
    ridge_diagnosis_free(sides[0].diagnosis);
    ridge_diagnosis_free(sides[1].diagnosis);
    facts_release(&sides[0].facts);
    facts_release(&sides[1].facts);
    ridge_free(sides);
    return status;
}

/* -- the whole --------------------------------------------------------------------------------- */

static int compare_pairs(const void *left, const void *right)
{
    const ridge_diff_pair *const a = left;
    const ridge_diff_pair *const b = right;
    const double a_ns = isnan(a->before_ns) ? -1 : a->before_ns;
    const double b_ns = isnan(b->before_ns) ? -1 : b->before_ns;

    if (a_ns != b_ns)
        return a_ns < b_ns ? 1 : -1;
    return a->launch_before < b->launch_before ? -1 : a->launch_before > b->launch_before;
}

static bool keep_name(struct diff *diff, const ridge_report *report, size_t index,
                      const char **names, size_t *count)
{
    const char *const name =
        ridge_report_kernel_get_info(ridge_report_kernel_at(report, index))->name;

    names[*count] = ridge_alloc_text(&diff->arena, name, strlen(name));
    return names[(*count)++] != NULL;
}

ridge_status ridge_diff_create(const ridge_report *before, const ridge_report *after,
                               ridge_diff **out, ridge_error *err)
{
    struct diff *const diff = ridge_calloc(1, sizeof(*diff));
    struct pairing pairing = {.before_count = ridge_report_kernel_count(before),
                              .after_count = ridge_report_kernel_count(after)};
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    size_t i;

    *out = NULL;
    if (diff == NULL)
        return ridge_fail(err, status, "out of memory");
    ridge_arena_init(&diff->arena);
    pairing.partner = ridge_alloc_array(&diff->arena, pairing.before_count, sizeof(size_t));
    pairing.taken = ridge_alloc_array(&diff->arena, pairing.after_count, sizeof(bool));
    pairing.before =
        ridge_alloc_array(&diff->arena, pairing.before_count, sizeof(pairing.before[0]));
    pairing.after = ridge_alloc_array(&diff->arena, pairing.after_count, sizeof(pairing.after[0]));
    diff->shown.pairs =
        ridge_alloc_array(&diff->arena, pairing.before_count, sizeof(diff->shown.pairs[0]));
    diff->shown.only_before =
        ridge_alloc_array(&diff->arena, pairing.before_count, sizeof(const char *));
    diff->shown.only_after =
        ridge_alloc_array(&diff->arena, pairing.after_count, sizeof(const char *));
    if (pairing.partner == NULL || pairing.taken == NULL || pairing.before == NULL ||
        pairing.after == NULL || diff->shown.pairs == NULL || diff->shown.only_before == NULL ||
        diff->shown.only_after == NULL)
        goto out;
    pair_kernels(&pairing, before, after);
    for (i = 0; i < pairing.before_count; i++) {
        if (pairing.partner[i] == SIZE_MAX) {
            if (!keep_name(diff, before, i, diff->shown.only_before,
                           &diff->shown.only_before_count))
                goto out;
            continue;
        }
        status = compare_pair(diff, before, i, after, pairing.partner[i], err);
        if (status != RIDGE_OK)
            goto out;
        status = RIDGE_ERR_OUT_OF_MEMORY;
    }
    for (i = 0; i < pairing.after_count; i++)
        if (!pairing.taken[i] &&
            !keep_name(diff, after, i, diff->shown.only_after, &diff->shown.only_after_count))
            goto out;
    qsort(diff->shown.pairs, diff->shown.pair_count, sizeof(diff->shown.pairs[0]), compare_pairs);
    status = RIDGE_OK;
    *out = &diff->shown;
out:
    if (status != RIDGE_OK) {
        if (status == RIDGE_ERR_OUT_OF_MEMORY)
            ridge_fail(err, status, "out of memory");
        ridge_diff_free(&diff->shown);
    }
    return status;
}

void ridge_diff_free(ridge_diff *shown)
{
    struct diff *const diff = (struct diff *)(void *)shown;

    if (diff == NULL)
        return;
    ridge_arena_release(&diff->arena);
    ridge_free(diff);
}
