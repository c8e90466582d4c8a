/* SPDX-License-Identifier: Apache-2.0
 *
 * What rules put into a finding: evidence, the interval of the gain, and places in the code. */
#include <math.h>
#include <string.h>

#include "diagnose/diagnose_internal.h"

static const char *unit_of_meaning(struct facts *facts, ridge_meaning meaning)
{
    ridge_metric metric;

    if (facts->metric[meaning] != NULL &&
        ridge_report_kernel_metric(facts->kernel, facts->metric[meaning], &metric))
        return metric.unit; /* a static text */
    return "";
}

void finding_number(ridge_finding *finding, const char *metric, const char *label, double value,
                    const char *unit)
{
    ridge_evidence *const evidence = &finding->evidence[finding->evidence_count];

    if (isnan(value) || finding->evidence_count == RIDGE_EVIDENCE)
        return;
    evidence->metric = metric;
    evidence->label = label;
    evidence->value = value;
    evidence->unit = unit;
    finding->evidence_count++;
}

void finding_evidence(struct facts *facts, ridge_finding *finding, ridge_meaning meaning)
{
    if (facts->metric[meaning] != NULL)
        finding_number(finding, facts->metric[meaning], ridge_meaning_line(meaning),
                       facts->value[meaning], unit_of_meaning(facts, meaning));
}

void finding_stall(struct facts *facts, ridge_finding *finding, ridge_stall stall)
{
    if (facts->has_stalls && facts->stall_share[stall] >= 0.01)
        finding_number(finding, facts_text(facts, "ridge:stall_%s_frac", ridge_stall_name(stall)),
                       facts_text(facts, "waiting: %s", ridge_stall_name(stall)),
                       facts->stall_share[stall], "frac");
}

void finding_bar(ridge_finding *finding, const struct constituent *constituent)
{
    if (constituent != NULL)
        finding_number(finding, constituent->metric, constituent->label, constituent->pct, "%");
}

void finding_bound(ridge_finding *finding, double bound, ridge_wall next)
{
    if (isnan(bound))
        return;
    finding->speedup_bound[1] = fmax(1.0, bound);
    finding->speedup_bound[0] = fmax(1.0, 0.6 * bound);
    finding->next_wall = next;
}

/* -- places ------------------------------------------------------------------------------------ */

struct place {
    const ridge_instruction *hottest; /* the row of the largest value */
    double hottest_value;
    double value; /* sum over rows of one line and opcode */
};

enum { PLACES = 256 };

static double excess(uint64_t measured, uint64_t ideal)
{
    return measured > ideal ? (double)(measured - ideal) : 0;
}

static double row_value(const ridge_instruction *row, enum place_kind kind, ridge_stall stall)
{
    switch (kind) {
    case PLACE_SAMPLES:
        return stall == RIDGE_STALL_COUNT ? (double)row->samples : (double)row->stalls[stall];
    case PLACE_SHARED_EXCESS:
        return excess(row->wavefronts, row->wavefronts_ideal);
    case PLACE_SECTOR_EXCESS:
        return excess(row->sectors, row->sectors_ideal);
    case PLACE_SHARED:
        return (double)row->wavefronts;
    case PLACE_SECTORS:
        return (double)row->sectors;
    case PLACE_LOCAL:
    case PLACE_EXECUTED:
        return (double)row->executed;
    }
    return 0;
}

static bool same_place(const ridge_instruction *left, const ridge_instruction *right)
{
    if (left->line != NULL && right->line != NULL)
        return left->line->line == right->line->line &&
               strcmp(left->line->file, right->line->file) == 0 &&
               strcmp(left->sass.text, right->sass.text) == 0;
    return left == right;
}

static void add_row(struct place places[PLACES], size_t *count, const ridge_instruction *row,
                    double value)
{
    struct place *place;
    size_t i;

    for (i = 0; i < *count; i++)
        if (same_place(places[i].hottest, row))
            break;
    if (i == PLACES)
        return;
    place = &places[i];
    if (i == *count) {
        place->hottest = row;
        place->hottest_value = value;
        place->value = 0;
        ++*count;
    }
    place->value += value;
    if (value > place->hottest_value) {
        place->hottest = row;
        place->hottest_value = value;
    }
}

/* The text of a source line without the blanks in front; NULL: not imported. */
static const char *source_text(struct facts *facts, const char *path, uint32_t line)
{
    const ridge_module *const module = ridge_report_kernel_module(facts->kernel);
    const ridge_source_file *const file = module != NULL ? ridge_module_file(module, path) : NULL;
    size_t length = 0;
    const char *text = file != NULL ? ridge_source_line(file, line, &length) : NULL;

    if (text == NULL)
        return NULL;
    while (length > 0 && (*text == ' ' || *text == '\t')) {
        text++;
        length--;
    }
    return length == 0 ? NULL : facts_text(facts, "%.*s", (int)(length > 400 ? 400 : length), text);
}

/* The line of the caller's own code where an inlined function stands: what the reader wrote,
 * rather than a line of a header of the toolkit. */
static const ridge_line *own_line(const ridge_instruction *row)
{
    const ridge_line *line = row->line;
    size_t depth;

    for (depth = 0; line != NULL && line->inlined_at >= 0 && depth < 32; depth++) {
        if (strstr(line->file, "/include/") == NULL)
            break;
        line = (size_t)line->inlined_at < row->line_count ? &row->lines[line->inlined_at] : NULL;
    }
    return line;
}

static void fill_where(struct facts *facts, ridge_where *where, const struct place *place,
                       double total, const char *of)
{
    const ridge_instruction *const row = place->hottest;
    const ridge_line *const line = own_line(row);

    memset(where, 0, sizeof(*where));
    where->offset = row->offset;
    where->opcode = row->sass.name != NULL ? facts_text(facts, "%s", row->sass.text) : NULL;
    where->share_frac = total > 0 ? place->value / total : NAN;
    where->of = of;
    if (line != NULL && line->line > 0) {
        where->file = facts_text(facts, "%s", line->file);
        where->line = line->line;
        where->source = source_text(facts, line->file, line->line);
        if (line->inlined_at >= 0 && (size_t)line->inlined_at < row->line_count) {
            const ridge_line *const caller = &row->lines[line->inlined_at];

            where->caller_file = facts_text(facts, "%s", caller->file);
            where->caller_line = caller->line;
            /* What the kernel wrote says more than the body of a helper. */
            where->source = source_text(facts, caller->file, caller->line);
        }
    }
}

static void name_producer(struct facts *facts, ridge_where *where, const ridge_instruction *row)
{
    const ridge_line *const line = own_line(row);

    where->producer_opcode = facts_text(facts, "%s", row->sass.text);
    where->producer_offset = row->offset;
    if (line != NULL && line->line > 0) {
        where->producer_file = facts_text(facts, "%s", line->file);
        where->producer_line = line->line;
    }
}

static void fill_producer(struct facts *facts, ridge_where *where, const ridge_instruction *row)
{
    const ridge_profile *const profile = facts->profile;
    const size_t producer = ridge_profile_producer(profile, (size_t)(row - profile->rows));

    if (producer < profile->row_count)
        name_producer(facts, where, &profile->rows[producer]);
}

/* Samples stand on the instruction behind the barrier. */
static void fill_barrier(struct facts *facts, ridge_where *where, const ridge_instruction *row)
{
    const ridge_instruction *before = row;
    size_t distance;

    for (distance = 0; distance < 8 && before > facts->profile->rows; distance++) {
        before--;
        if (before->sass.name != NULL && strcmp(before->sass.name, "BAR") == 0) {
            name_producer(facts, where, before);
            return;
        }
    }
}

void finding_places(struct facts *facts, ridge_finding *finding, enum place_kind kind,
                    ridge_stall stall, row_filter *filter, const char *of)
{
    const ridge_profile *const profile = facts->profile;
    struct place places[PLACES];
    size_t count = 0, i;
    double total = 0;

    if (profile == NULL)
        return;
    for (i = 0; i < profile->row_count; i++)
        if (filter == NULL || filter(&profile->rows[i]))
            total += row_value(&profile->rows[i], kind, stall);
    for (i = 0; i < profile->row_count; i++) {
        const double value = row_value(&profile->rows[i], kind, stall);

        /* Spills are many rows of little each that a line brings together. */
        if (value > 0 && value >= total / 1000 && (filter == NULL || filter(&profile->rows[i])))
            add_row(places, &count, &profile->rows[i], value);
    }
    while (finding->where_count < 3) {
        struct place *best = NULL;

        for (i = 0; i < count; i++)
            if (places[i].value > 0 && (best == NULL || places[i].value > best->value))
                best = &places[i];
        if (best == NULL || best->value < 0.05 * total)
            break;
        fill_where(facts, &finding->where[finding->where_count], best, total, of);
        if (kind == PLACE_SAMPLES && stall == RIDGE_STALL_BARRIER)
            fill_barrier(facts, &finding->where[finding->where_count], best->hottest);
        /* Other reasons are not a wait for a register. */
        if (kind == PLACE_SAMPLES &&
            (stall == RIDGE_STALL_LONG_SCOREBOARD || stall == RIDGE_STALL_SHORT_SCOREBOARD))
            fill_producer(facts, &finding->where[finding->where_count], best->hottest);
        finding->where_count++;
        best->value = 0;
    }
}
