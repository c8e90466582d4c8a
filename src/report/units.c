/* SPDX-License-Identifier: Apache-2.0
 *
 * Metric name to unit. Names of hardware counters are sentences:
 *
 *     pmsampling:TPC.TriageCompute.sm__inst_executed_realtime.avg.per_cycle_active
 *     (scope)    (domain)          (counter)                 (roll-up)
 *
 * The words of the counter give its base unit ("inst"), the roll-up makes a rate or a percentage
 * of it ("inst/cycle"). Metrics that are no counters belong to families (launch__, device__, ...)
 * with a short list of names each.
 *
 * The rules were found by comparing with NVIDIA's reader 2025.3 (2,249 names of profiles of an
 * H200, tests/data/units.tsv) and reproduce its habits: requests to L1 have no unit, those to L2
 * have one; those to the instruction caches are cycles. */
#include "report/units.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* -- metrics that are no counters -------------------------------------------------------------- */

struct name_unit {
    const char *start; /* of what follows the family's prefix */
    const char *unit;
};

static const struct name_unit launch_units[] = {
    {"block_dim_", "block"},
    {"cluster_max_active", "cluster"},
    {"cluster_max_potential_size", "block"},
    {"occupancy_cluster_", "%"},
    {"occupancy_limit_", "block"},
    {"persisting_l2_cache_size", "byte"},
    {"registers_per_thread", "register/thread"},
    {"shared_mem_config_size", "byte"},
    {"shared_mem_per_block", "byte/block"},
    {"sm_count", "SM"},
    {"thread_count", "thread"},
};

static const struct name_unit profiler_units[] = {
    {"pmsampler_buffer_size_bytes", "byte"},
    {"pmsampler_interval_time", "ns"},
    {"pmsampler_interval_cycles", "cycle"},
    {"pmsampler_merged_samples", "sample"},
    {"pmsampler_dropped_samples", "sample"},
    {"replayer_bytes_", "byte"},
    {"replayer_passes", "pass"},
};

static const struct name_unit sampling_units[] = {
    {"aggregated_passes", "pass"},
    {"buffer_size_bytes", "byte"},
    {"dropped_bytes", "byte"},
    {"interval_cycles", "cycle"},
    {"warps_issue_stalled_branch", "branches"},
    {"warps_issue_stalled_no_inst", "inst"},
    {"warps_", "warp"},
};

static const struct name_unit derived_units[] = {
    {"_avg_thread_", "thread"},
    {"_derivative_avg_thread_", "thread"},
    {"_local_spilling_requests_pct", "%"},
    {"_lts__lts2xbar_bytes", "byte"},
    {"_memory_l2_", "sector"},
    {"_pct_occupancy_per_block_size", "%"},
    {"_pct_occupancy_per_register_count", "%/register"},
    {"_pct_occupancy_per_shared_mem_size", "%/byte"},
    {"_sm__sass_thread_inst_", "thread"},
    {"_smsp__sass_thread_inst_", "thread"},
    {"_smsp__inst_executed_op_branch_pct", "%"},
};

static const struct name_unit sass_units[] = {
    {"inst_executed_per_opcode", ""},
    {"thread_inst_executed_per_opcode", ""},
    {"thread_inst_executed_true_per_opcode", ""},
};

static const struct name_unit memory_units[] = {
    {"access_", ""},
    {"type", ""},
};

static const struct family {
    const char *prefix;
    const char *unit; /* of names not in the list */
    const struct name_unit *units;
    size_t unit_count;
} families[] = {
    {"c2clink__", "", NULL, 0},
    {"derived_", "", derived_units, COUNT(derived_units)},
    {"device__attribute_", "", NULL, 0},
    {"group:", "", NULL, 0},
    {"inst_executed", "inst", NULL, 0},
    {"launch__", "", launch_units, COUNT(launch_units)},
    {"memory_", "sectors", memory_units, COUNT(memory_units)},
    {"numa__", "", NULL, 0},
    {"nvlink__", "", NULL, 0},
    {"profiler__", "", profiler_units, COUNT(profiler_units)},
    {"sass__", "inst", sass_units, COUNT(sass_units)},
    {"smsp__pcsamp_", "", sampling_units, COUNT(sampling_units)},
    {"thread_inst_executed", "inst", NULL, 0},
};

/* What follows prefix in text; NULL when text does not start with it. */
static const char *after(const char *text, const char *prefix)
{
    while (*prefix != '\0')
        if (*text++ != *prefix++)
            return NULL;
    return text;
}

static const char *unit_in_family(const char *name)
{
    for (size_t i = 0; i < COUNT(families); i++) {
        const char *const rest = after(name, families[i].prefix);

        if (rest == NULL)
            continue;
        for (size_t k = 0; k < families[i].unit_count; k++)
            if (after(rest, families[i].units[k].start) != NULL)
                return families[i].units[k].unit;
        return families[i].unit;
    }
    return NULL;
}

/* -- counters ---------------------------------------------------------------------------------- */

/* Words that say something of the unit, in the order in which they decide. */
enum word {
    WORD_PLAIN = 1 << 0, /* counts of things without a unit */
    WORD_BYTE = 1 << 1,
    WORD_CYCLE = 1 << 2,
    WORD_SECTOR = 1 << 3,
    WORD_REQUEST = 1 << 4,
    WORD_WAVEFRONT = 1 << 5,
    WORD_BRANCH = 1 << 6,
    WORD_INST = 1 << 7,
    WORD_BLOCK = 1 << 8,
    WORD_WARP = 1 << 9,
    WORD_ACTIVE = 1 << 10, /* alone: cycles in which; of warps: warps in them, summed */
    WORD_THREAD = 1 << 11,
    WORD_TIME = 1 << 12,
    /* These qualify others. */
    WORD_PER = 1 << 13,
    WORD_LATENCY = 1 << 14,
    WORD_STALLED = 1 << 15,
    WORD_L1 = 1 << 16,
};

/* Sorted by length. */
static const struct known_word {
    const char *text;
    unsigned word;
} known_words[] = {
    {"ops", WORD_PLAIN},
    {"per", WORD_PER},
    {"ctas", WORD_BLOCK},
    {"cgas", WORD_PLAIN},
    {"inst", WORD_INST},
    {"rate", WORD_PLAIN},
    {"tags", WORD_PLAIN},
    {"time", WORD_TIME},
    {"warp", WORD_WARP},
    {"bytes", WORD_BYTE},
    {"l1tex", WORD_L1},
    {"reads", WORD_PLAIN},
    {"warps", WORD_WARP},
    {"active", WORD_ACTIVE},
    {"cycles", WORD_CYCLE},
    {"sector", WORD_SECTOR},
    {"thread", WORD_THREAD},
    {"writes", WORD_PLAIN},
    {"latency", WORD_LATENCY},
    {"sectors", WORD_SECTOR},
    {"stalled", WORD_STALLED},
    {"targets", WORD_BRANCH},
    {"threads", WORD_THREAD},
    {"workids", WORD_PLAIN},
    {"duration", WORD_TIME},
    {"eligible", WORD_ACTIVE},
    {"requests", WORD_REQUEST},
    {"xbar2gcc", WORD_PLAIN},
    {"conflicts", WORD_PLAIN},
    {"throughput", WORD_PLAIN},
    {"wavefronts", WORD_WAVEFRONT},
};

enum { LONGEST_WORD = 10 };

/* known_words of a length start here; one more entry ends the last. */
static const unsigned char first_of_length[LONGEST_WORD + 2] = {0,  0,  0,  0,  2,  9,
                                                                13, 18, 24, 28, 29, 31};

static unsigned word_of(const char *text, size_t length)
{
    if (length > LONGEST_WORD)
        return 0;
    for (size_t i = first_of_length[length]; i < first_of_length[length + 1]; i++)
        if (known_words[i].text[0] == text[0] && memcmp(known_words[i].text, text, length) == 0)
            return known_words[i].word;
    return 0;
}

/* What is counted, and what a rate of it is called. */
struct base_unit {
    const char *count, *per_second, *per_cycle;
};

static const struct base_unit plain = {"", "", ""};
static const struct base_unit unknown = {"?", "?", "?"};
static const struct base_unit byte = {"byte", "byte/s", "byte/cycle"};
static const struct base_unit cycle = {"cycle", "hz", ""};
static const struct base_unit sector = {"sector", "sector/s", "sector/cycle"};
static const struct base_unit request = {"request", "request/s", "request/cycle"};
static const struct base_unit branch = {"branches", "branches/s", "branches/cycle"};
static const struct base_unit inst = {"inst", "inst/s", "inst/cycle"};
static const struct base_unit block = {"block", "block/s", "block/cycle"};
static const struct base_unit warp = {"warp", "warp/s", "warp/cycle"};
static const struct base_unit warp_cycle = {"warp", "warp/s", "warp"}; /* per cycle: warps */
static const struct base_unit thread = {"thread", "thread/s", "thread/cycle"};
static const struct base_unit nanosecond = {"ns", "", "ns/cycle"};

static const struct base_unit *const base_units[] = {
    &plain, &byte,  &cycle, &sector, NULL,    &plain,      &branch,
    &inst,  &block, NULL,   &cycle,  &thread, &nanosecond,
};

struct counter {
    const char *unit; /* "lts" of lts__t_sectors: where it counts */
    unsigned words;   /* before "per" */
    unsigned per;     /* after it: smsp__average_data_bytes_per_sector */
    const char *end;  /* the roll-up, or the terminating NUL */
};

static struct counter read_counter(const char *name)
{
    struct counter counter = {.unit = name};
    const char *end = name;

    for (;;) {
        const char *const start = end;
        unsigned word;

        while (*end != '_' && *end != '.' && *end != '\\' && *end != '\0')
            end++;
        word = word_of(start, (size_t)(end - start));
        if ((counter.words & WORD_PER) != 0)
            counter.per |= word;
        else
            counter.words |= word;
        if (*end != '_')
            break;
        end++;
    }
    counter.end = end;
    return counter;
}

static const struct base_unit *base_of_requests(const struct counter *counter)
{
    if (counter->unit[0] == 's' && counter->unit[1] == 'm' && (counter->words & WORD_L1) == 0)
        return &cycle; /* sm__icc_requests, smsp__imc_requests */
    if (after(counter->unit, "lt") || after(counter->unit, "syslt") || after(counter->unit, "gcc"))
        return &request;
    return &plain;
}

static const struct base_unit *base_of(const struct counter *counter)
{
    for (size_t i = 0; i < COUNT(base_units); i++) {
        if ((counter->words & (1u << i)) == 0)
            continue;
        if (1u << i == WORD_REQUEST)
            return base_of_requests(counter);
        if (1u << i == WORD_WARP)
            return (counter->words & (WORD_ACTIVE | WORD_STALLED)) != 0 ? &warp_cycle : &warp;
        return base_units[i];
    }
    return &unknown;
}

/* A counter that is an average of one thing per another. */
static const char *unit_of_ratio(const struct counter *counter)
{
    static const struct {
        unsigned all, per;
        const char *unit;
    } ratios[] = {
        {WORD_LATENCY, WORD_INST, "cycle"},
        {WORD_LATENCY | WORD_STALLED, 0, "inst/warp"},
        {WORD_WARP | WORD_STALLED, WORD_ACTIVE, "inst"},
        {WORD_WARP | WORD_ACTIVE, WORD_INST, "cycle"},
        {WORD_BYTE, WORD_SECTOR, "byte/sector"},
        {WORD_INST, WORD_WARP, "inst/warp"},
    };

    for (size_t i = 0; i < COUNT(ratios); i++)
        if ((counter->words & ratios[i].all) == ratios[i].all &&
            (counter->per & ratios[i].per) == ratios[i].per)
            return ratios[i].unit;
    return "";
}

/* A counter without a roll-up: one value a program counter, or computed by the profiler. */
static const char *unit_of_plain_counter(const char *name, const struct counter *counter)
{
    const size_t length = (size_t)(counter->end - name);

    if (length > 4 && memcmp(counter->end - 4, "_pct", 4) == 0)
        return "%";
    if (length > 5 && memcmp(counter->end - 5, "_type", 5) == 0)
        return "";
    return base_of(counter)->count;
}

/* -- roll-ups ---------------------------------------------------------------------------------- */

enum rollup {
    ROLLUP_PERCENT = 1 << 0,
    ROLLUP_RATIO = 1 << 1,
    ROLLUP_PER_SECOND = 1 << 2,
    ROLLUP_PER_CYCLE = 1 << 3,
};

/* The parts of ".avg.peak_sustained_elapsed.per_second", as flags. */
static unsigned read_rollup(const char *text)
{
    unsigned rollup = 0;

    while (*text != '\0') {
        const char *const part = text;
        const char *rest;

        if (after(part, "pct") != NULL)
            rollup |= ROLLUP_PERCENT;
        else if (after(part, "ratio") != NULL || after(part, "max_rate") != NULL)
            rollup |= ROLLUP_RATIO;
        else if (after(part, "per_second") != NULL)
            rollup |= ROLLUP_PER_SECOND;
        else if (after(part, "per_cycle") != NULL)
            rollup |= ROLLUP_PER_CYCLE;
        else if (((rest = after(part, "peak_sustained")) != NULL ||
                  (rest = after(part, "peak_burst")) != NULL) &&
                 *rest != '_') /* peak_sustained_elapsed is a count: the peak times the cycles */
            rollup |= ROLLUP_PER_CYCLE;
        while (*text != '\0' && *text != '.')
            text++;
        while (*text == '.')
            text++;
    }
    return rollup;
}

/* Skips "pmsampling:", "breakdown:" and "regex:", and "TPC.TriageCompute." behind. */
static const char *without_scope(const char *name)
{
    const char *start = name, *at = name;

    for (; *at != '\0'; at++) {
        if (*at == ':' || *at == '.')
            start = at + 1;
        else if (*at == '_' && at[1] == '_')
            return start;
    }
    return NULL;
}

const char *ridge_metric_unit(const char *metric_name)
{
    const char *name = without_scope(metric_name);
    const char *unit;
    struct counter counter;
    unsigned rollup;

    unit = unit_in_family(metric_name);
    if (name == NULL)
        return unit == NULL ? "?" : unit;
    counter = read_counter(name);
    rollup = *counter.end == '\0' ? 0 : read_rollup(counter.end + 1);
    if ((rollup & ROLLUP_PERCENT) != 0)
        return "%";
    if (unit != NULL)
        return unit;
    if (*counter.end == '\0')
        return unit_of_plain_counter(name, &counter);
    if ((rollup & ROLLUP_RATIO) != 0)
        return unit_of_ratio(&counter);
    if ((rollup & ROLLUP_PER_SECOND) != 0)
        return base_of(&counter)->per_second;
    if ((rollup & ROLLUP_PER_CYCLE) != 0)
        return base_of(&counter)->per_cycle;
    return base_of(&counter)->count;
}
