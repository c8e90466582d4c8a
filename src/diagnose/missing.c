/* SPDX-License-Identifier: Apache-2.0
 *
 * What the report cannot say, and the one command that would collect it: only the sections that
 * are missing, for the same kernel and launch. Absent is not zero. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "diagnose/diagnose_internal.h"

enum { MISSING = 12, COUNTED_LAUNCHES = 10000 };

/* A question, whether the report leaves it open, and the sections that answer it. */
struct gap {
    bool (*is_open)(const struct facts *facts);
    const char *question;
    const char *sections[3];
};

static bool no_speed_of_light(const struct facts *facts)
{
    return facts->memory_count == 0 || facts->compute_count == 0;
}

static bool no_launch(const struct facts *facts)
{
    return !facts->is_range && (isnan(facts->theoretical_pct) || isnan(facts->waves));
}

static bool no_balance(const struct facts *facts)
{
    return isnan(facts->busy_sm_frac);
}

static bool no_stalls(const struct facts *facts)
{
    return !facts->has_stalls;
}

static bool no_places(const struct facts *facts)
{
    /* Graphs are profiled with samples only. */
    return (facts->profile->columns & RIDGE_PROFILE_EXECUTED) == 0 &&
           facts->info->kind != RIDGE_RESULT_GRAPH;
}

static bool no_samples(const struct facts *facts)
{
    return (facts->profile->columns & RIDGE_PROFILE_EXECUTED) != 0 &&
           (facts->profile->columns & RIDGE_PROFILE_SAMPLES) == 0;
}

static bool no_memory_tables(const struct facts *facts)
{
    return isnan(facts->local_frac) && !HAS(facts, GLOBAL_LOAD_REQUESTS);
}

static const struct gap gaps[] = {
    {no_speed_of_light, "which unit is busy, and how busy (gates 1, 3 and 5)", {"SpeedOfLight"}},
    {no_launch,
     "occupancy, its limiters and the waves of blocks (gates 2 and 3)",
     {"LaunchStats", "Occupancy"}},
    {no_balance, "whether all SMs work equally long (gate 2)", {"WorkloadDistribution"}},
    {no_stalls, "which stall binds (gate 4)", {"WarpStateStats", "SchedulerStats"}},
    {no_places,
     "bank conflicts, coalescing, instruction mix and where in the code",
     {"SourceCounters"}},
    {no_samples, "where in the code warps wait", {"SourceCounters"}},
    {no_memory_tables,
     "spills, bytes moved and the traffic between the memories",
     {"MemoryWorkloadAnalysis", "MemoryWorkloadAnalysis_Tables"}},
};

/* How many launches of the same name come first: what --launch-skip counts when the name is
 * filtered. */
static size_t launches_before(const struct facts *facts)
{
    size_t count = 0, i;

    for (i = 0; i < facts->info->index; i++)
        if (strcmp(ridge_report_kernel_get_info(ridge_report_kernel_at(facts->report, i))->name,
                   facts->info->name) == 0)
            count++;
    return count;
}

/* Names of kernels are C identifiers, or templates and lambdas: what is no word character becomes
 * a dot of the regular expression. */
static void add_pattern(ridge_text *text, const char *name)
{
    const char *p;

    ridge_text_add(text, "regex:^");
    for (p = name; *p != '\0' && *p != '<' && *p != '('; p++) {
        const bool word = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                          (*p >= '0' && *p <= '9') || *p == '_';

        ridge_text_add_bytes(text, word ? p : ".", 1);
    }
    if (*p == '\0')
        ridge_text_add(text, "$");
}

static const char *collect_command(struct facts *facts, const char *const sections[], size_t count)
{
    ridge_text text;
    const char *command;
    size_t i;

    ridge_text_init(&text);
    ridge_text_add(&text, "ncu");
    for (i = 0; i < count; i++)
        ridge_text_format(&text, " --section %s", sections[i]);
    ridge_text_add(&text, " --import-source yes");
    switch (facts->info->kind) {
    case RIDGE_RESULT_KERNEL:
        /* Counting launches of the name in front of each of very many would take forever. */
        if (facts->info->index <= COUNTED_LAUNCHES) {
            ridge_text_add(&text, " --kernel-name '");
            add_pattern(&text, facts->info->name);
            ridge_text_format(&text, "' --launch-skip %zu", launches_before(facts));
        } else {
            ridge_text_format(&text, " --launch-skip %zu", facts->info->index);
        }
        ridge_text_add(&text, " --launch-count 1");
        break;
    case RIDGE_RESULT_GRAPH:
        ridge_text_add(&text, " --graph-profiling graph");
        break;
    case RIDGE_RESULT_RANGE:
    case RIDGE_RESULT_COMMAND_LIST:
        ridge_text_add(&text, " --replay-mode range");
        break;
    }
    if (facts->info->clocks_locked == 0)
        ridge_text_add(&text, " --clock-control none");
    ridge_text_add(&text, " -o more YOUR_PROGRAM");
    if (text.failed)
        facts->out_of_memory = true;
    command = facts_text(facts, "%s", text.data);
    ridge_text_release(&text);
    return command;
}

void missing_collect(struct facts *facts, const struct verdict *verdict, ridge_diagnosis *out)
{
    const char *sections[MISSING];
    size_t section_count = 0, i, s, k;

    (void)verdict;
    out->missing = ridge_alloc_array(facts->arena, MISSING, sizeof(out->missing[0]));
    if (out->missing == NULL) {
        facts->out_of_memory = true;
        return;
    }
    for (i = 0; i < sizeof(gaps) / sizeof(gaps[0]); i++) {
        if (!gaps[i].is_open(facts))
            continue;
        out->missing[out->missing_count++] = gaps[i].question;
        for (s = 0; s < 3 && gaps[i].sections[s] != NULL; s++) {
            for (k = 0; k < section_count; k++)
                if (strcmp(sections[k], gaps[i].sections[s]) == 0)
                    break;
            if (k == section_count)
                sections[section_count++] = gaps[i].sections[s];
        }
    }
    if (section_count > 0)
        out->collect = collect_command(facts, sections, section_count);
}
