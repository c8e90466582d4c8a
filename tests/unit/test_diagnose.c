/* SPDX-License-Identifier: Apache-2.0
 *
 * Findings one by one, each with the smallest kernel that has it; what is said of the profile
 * itself and of missing data; and what holds for any kernel, tried on many random ones. */
#include "diagnose_support.h"

#include <math.h>

#include "base/memory.h"

#define NO_STALLS                                                                                  \
    {STALL("long_scoreboard"), ABSENT}, {STALL("wait"), ABSENT}, {STALL("barrier"), ABSENT},       \
        {STALL("selected"), ABSENT},                                                               \
    {                                                                                              \
        STALL("not_selected"), ABSENT                                                              \
    }

#define NARROW_CODE                                                                                \
    {                                                                                              \
        {"LDG.U16", 3000, 500}, {"LDG.128", 1000}, {"EXIT", 100},                                  \
    }
#define SCATTERED_CODE                                                                             \
    {                                                                                              \
        {"LDG", 1000, 0, 0, 0, 32000, 4000}, {"EXIT", 100},                                        \
    }
/* cp.async, the wait for it and a barrier in one loop. */
#define ASYNC_CODE(wait)                                                                           \
    {                                                                                              \
        {"LDGSTS", 1000}, {"LDGDEPBAR", 1000}, {wait, 1000, 500}, {"BAR", 1000, 100},              \
            {"LDS", 1000}, {"BRA", 1000, .back = 5}, {"EXIT", 10},                                 \
    }

static struct finding_case {
    const char *name;
    sample_kernel kernel;
    ridge_diagnose_options options;
    const char *id;
    int rank; /* 0: not a finding, -1: any */
    bool is_not_now;
    double bound;         /* the upper one; 0: not looked at */
    const char *evidence; /* a metric; NULL: not looked at */
    double value;
} finding_cases[] = {
    /* memory */
    {"twice the bytes that the work needs",
     {.numbers = {{DRAM, 85}, {"dram__bytes_read.sum", 150e6}, {"dram__bytes_write.sum", 50e6}}},
     {.compulsory_bytes = 100e6},
     "repeated_reads",
     1,
     false,
     2,
     "ridge:dram_bytes",
     200e6},
    {"1.25 times the bytes is fair",
     {.numbers = {{DRAM, 85}, {"dram__bytes_read.sum", 125e6}}},
     {.compulsory_bytes = 100e6},
     "repeated_reads",
     0,
     false,
     0,
     NULL,
     0},
    {"bytes not given",
     {.numbers = {{DRAM, 85}, {"dram__bytes_read.sum", 125e6}}},
     {0},
     "repeated_reads",
     0,
     false,
     0,
     NULL,
     0},
    {"local memory at the DRAM wall",
     {.numbers = {{DRAM, 85}, {LOCAL_LOADS, 10000}}},
     {0},
     "register_spill",
     1,
     false,
     0,
     "ridge:local_frac",
     10000.0 / 110000},
    {"a little local memory",
     {.numbers = {{DRAM, 85}, {LOCAL_LOADS, 5000}}},
     {0},
     "register_spill",
     0,
     false,
     0,
     NULL,
     0},
    {"no more than the bytes above those needed",
     {.numbers = {{DRAM, 85}, {"dram__bytes_read.sum", 150e6}}, .code = SCATTERED_CODE},
     {.compulsory_bytes = 100e6},
     "uncoalesced_access",
     1,
     false,
     1.5,
     NULL,
     0},
    {"spills that device memory moves",
     {.numbers = {{L2, 90}, {DRAM, 50}, {LOCAL_LOADS, 1e9}, {"dram__bytes_read.sum", 1e9}},
      .code = {{"LDL", 1000}, {"LDG", 10, 0, 0, 0, 40, 40}, {"EXIT", 100}}},
     {0},
     "register_spill",
     1,
     false,
     90.0 / 23,
     NULL,
     0},
    {"spills that the caches hold",
     {.numbers = {{L2, 90}, {DRAM, 50}, {LOCAL_LOADS, 1e9}, {"dram__bytes_read.sum", 1000}},
      .code = {{"LDL", 1000}, {"LDG", 10, 0, 0, 0, 40, 40}, {"EXIT", 100}}},
     {0},
     "register_spill",
     1,
     false,
     90.0 / 50,
     NULL,
     0},
    {"narrow reads, then what they leave",
     {.numbers = {{ISSUE, 90}, {ALU, 60}},
      .code = {{"LDG.U16", 1000}, {"IADD3", 1000}, {"FFMA", 2000}, {"EXIT", 1}}},
     {0},
     "narrow_access",
     1,
     false,
     1 / (1 - (1 - 2000.0 / 4001) * 7 / 8),
     NULL,
     0},
    {"scattered reads at the L2 wall",
     {.numbers = {{L2, 90}}, .code = SCATTERED_CODE},
     {0},
     "uncoalesced_access",
     1,
     false,
     90.0 / 23,
     "ridge:sector_waste_frac",
     0.875},
    {"scattered reads while computing",
     {.numbers = {{ISSUE, 90}}, .code = SCATTERED_CODE},
     {0},
     "uncoalesced_access",
     0,
     true,
     0,
     NULL,
     0},
    {"narrow reads that are waited for",
     {.numbers = {{STALL("long_scoreboard"), 9}}, .code = NARROW_CODE},
     {0},
     "narrow_access",
     1,
     false,
     0,
     "ridge:narrow_frac",
     0.75},
    {"narrow reads at a saturated DRAM",
     {.numbers = {{DRAM, 92}}, .code = NARROW_CODE},
     {0},
     "narrow_access",
     2,
     false,
     0,
     NULL,
     0},
    {"conflicts",
     {.numbers = {{L1, 97}}, .code = {{"LDS", 10000, 0, 40000, 10000}, {"EXIT", 100}}},
     {0},
     "shared_bank_conflict",
     1,
     false,
     4,
     "ridge:wavefronts_per_ideal",
     4},
    {"arbitration is no conflict",
     {.numbers = {{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", 20000}},
      .code = {{"LDS", 10000, 0, 10000, 10000}, {"EXIT", 100}}},
     {0},
     "shared_bank_conflict",
     0,
     true,
     0,
     NULL,
     0},
    {"shared atomics",
     {.numbers = {{L1, 85}}, .code = {{"ATOMS", 10000, 0, 10000, 10000}, {"LDG", 100}}},
     {0},
     "atomic_contention",
     1,
     false,
     0,
     NULL,
     0},
    {"memory of another device",
     {.numbers = {{"lts__t_sectors_srcunit_tex_aperture_sysmem_lookup_miss.sum", 1e5}}},
     {0},
     "remote_memory",
     1,
     false,
     0,
     NULL,
     0},
    {"a few sectors of another device",
     {.numbers = {{"lts__t_sectors_srcunit_tex_aperture_sysmem_lookup_miss.sum", 100}}},
     {0},
     "remote_memory",
     0,
     false,
     0,
     NULL,
     0},

    /* compute */
    {"conversions",
     {.numbers = {{ALU, 90}}, .code = {{"F2FP", 300}, {"FFMA", 700}}},
     {0},
     "conversion",
     1,
     false,
     0,
     "ridge:conversion_frac",
     0.3},
    {"divergence relieves all pipes",
     {.numbers = {{ISSUE, 90}, {FMA, 85}, {THREADS, 8}}},
     {0},
     "thread_divergence",
     1,
     false,
     85.0 / 22,
     NULL,
     0},
    {"few conversions",
     {.numbers = {{ALU, 90}}, .code = {{"F2FP", 200}, {"FFMA", 800}}},
     {0},
     "conversion",
     0,
     false,
     0,
     NULL,
     0},
    {"half-empty warps",
     {.numbers = {{ISSUE, 90}, {THREADS, 16}}},
     {0},
     "thread_divergence",
     1,
     false,
     2,
     THREADS,
     16},
    {"blocks smaller than a warp do not diverge",
     {.threads = 16, .numbers = {{ISSUE, 90}, {THREADS, 16}}},
     {0},
     "thread_divergence",
     0,
     false,
     0,
     NULL,
     0},
    {"special functions wait for each other",
     {.numbers = {{STALL("short_scoreboard"), 9}}, .code = {{"MUFU", 1000, 100}, {"LDS", 10}}},
     {0},
     "shared_latency",
     1,
     false,
     0,
     NULL,
     0},

    /* latency */
    {"a copy that overlaps with nothing",
     {.numbers = {{STALL("long_scoreboard"), 9}}, .code = ASYNC_CODE("DEPBAR 0")},
     {0},
     "async_copy_not_overlapped",
     1,
     false,
     0,
     "ridge:async_copies",
     1000},
    {"a copy that leaves a stage under way",
     {.numbers = {{STALL("long_scoreboard"), 9}}, .code = ASYNC_CODE("DEPBAR 1")},
     {0},
     "async_copy_not_overlapped",
     0,
     false,
     0,
     NULL,
     0},
    {"no shorter than a launch",
     {.numbers = {{DURATION, 6000}, {DRAM, 10}, {STALL("long_scoreboard"), 9}}},
     {0},
     "load_in_flight",
     1,
     false,
     3,
     NULL,
     0},
    {"full issue slots have no gaps",
     {.numbers = {{ISSUE, 65},
                  {"smsp__issue_active.avg.pct_of_peak_sustained_active", 90},
                  {STALL("wait"), 50}}},
     {0},
     "dependency_chain",
     0,
     false,
     0,
     NULL,
     0},
    {"issue slots with gaps",
     {.numbers = {{ISSUE, 65},
                  {"smsp__issue_active.avg.pct_of_peak_sustained_active", 70},
                  {STALL("wait"), 50}}},
     {0},
     "dependency_chain",
     -1,
     false,
     0,
     NULL,
     0},
    {"stalls of a saturated kernel",
     {.numbers = {{DRAM, 90}, {STALL("long_scoreboard"), 50}}},
     {0},
     "load_in_flight",
     0,
     false,
     0,
     NULL,
     0},

    /* parallelism */
    {"half of the SMs",
     {.grid = 66, .numbers = {{WAVES, 0.0625}, {ACHIEVED, 12}, {DRAM, 40}}},
     {0},
     "grid_too_small",
     1,
     false,
     92.0 / 40,
     NULL,
     0},
    {"a tail of 44 %",
     {.numbers = {{WAVES, 1.12}, {ACTIVE_AVG, 70}, {ACTIVE_MAX, 100}}},
     {0},
     "tail_effect",
     1,
     false,
     2 / 1.12,
     "ridge:tail_frac",
     0.44},
    {"blocks that are over at once",
     {.numbers = {{WAVES, 400}, {THEORETICAL, 50}, {ACHIEVED, 20}, {DRAM, 10}}},
     {0},
     "short_blocks",
     1,
     false,
     2.5,
     ACHIEVED,
     20},
    {"half of the warps that fit are enough",
     {.numbers = {{WAVES, 400}, {THEORETICAL, 50}, {ACHIEVED, 26}, {DRAM, 10}}},
     {0},
     "short_blocks",
     0,
     false,
     0,
     NULL,
     0},
    {"few waves are no short blocks",
     {.numbers = {{WAVES, 7}, {THEORETICAL, 50}, {ACHIEVED, 10}, {DRAM, 10}}},
     {0},
     "short_blocks",
     0,
     false,
     0,
     NULL,
     0},
    {"uneven SMs beside the wall",
     {.numbers = {{ISSUE, 75}, {ACTIVE_AVG, 70}, {ACTIVE_MAX, 100}}},
     {0},
     "imbalance",
     -1,
     false,
     100.0 / 75,
     NULL,
     0},
    {"occupancy, bounded by headroom",
     {.numbers = {{REGISTERS, 168}, {THEORETICAL, 12.5}, {ACHIEVED, 12}, {L2, 50}}},
     {0},
     "occupancy_registers",
     1,
     false,
     2,
     NULL,
     0},
    {"a tie of limiters, the one",
     {.numbers = {{REGISTERS, 168}, {SHARED, 122880}, {THEORETICAL, 12.5}, {ACHIEVED, 12}}},
     {0},
     "occupancy_registers",
     -1,
     false,
     0,
     NULL,
     0},
    {"a tie of limiters, the other",
     {.numbers = {{REGISTERS, 168}, {SHARED, 122880}, {THEORETICAL, 12.5}, {ACHIEVED, 12}}},
     {0},
     "occupancy_shared_memory",
     -1,
     false,
     0,
     "ridge:shared_bytes_per_block",
     122880},
    {"what does not limit",
     {.numbers = {{REGISTERS, 168}, {THEORETICAL, 12.5}, {ACHIEVED, 12}}},
     {0},
     "occupancy_shared_memory",
     0,
     false,
     0,
     NULL,
     0},
};

static bool has_evidence(const ridge_finding *finding, const char *metric, double value)
{
    size_t i;

    for (i = 0; i < finding->evidence_count; i++)
        if (strcmp(finding->evidence[i].metric, metric) == 0)
            return fabs(finding->evidence[i].value - value) <= 1e-9 * fabs(value);
    return false;
}

static void finds(void **state)
{
    const struct finding_case *const test = *state;
    sample_report sample = sample_report_of(&test->kernel, 1);
    ridge_diagnosis *const diagnosis = sample_diagnosis(&sample, &test->options);
    const ridge_finding *const finding = finding_of(diagnosis, test->id);

    assert_int_equal(finding != NULL, test->rank != 0);
    if (finding != NULL && test->rank > 0)
        assert_int_equal(finding->rank, test->rank);
    assert_int_equal(not_now_of(diagnosis, test->id) != NULL, test->is_not_now);
    if (test->bound > 0) {
        assert_float_equal(finding->speedup_bound[1], test->bound, 1e-4);
        assert_float_equal(finding->speedup_bound[0], fmax(1, 0.6 * test->bound), 1e-4);
    }
    if (test->evidence != NULL)
        assert_true(has_evidence(finding, test->evidence, test->value));
    ridge_diagnosis_free(diagnosis);
    sample_report_release(&sample);
}

/* -- places ------------------------------------------------------------------------------------ */

static void names_places(void **state)
{
    static const sample_kernel kernel = {.numbers = {{L1, 97}},
                                         .code = {{"LDG.128", 1000},
                                                  {"IADD3", 1000, 90},
                                                  {"LDS", 1000, 5, 8000, 1000},
                                                  {"LDS.128", 1000, 5, 5000, 4000},
                                                  {"EXIT", 100}}};
    sample_report sample = sample_report_of(&kernel, 1);
    ridge_diagnosis *const diagnosis = sample_diagnosis(&sample, NULL);
    const ridge_finding *const finding = finding_of(diagnosis, "shared_bank_conflict");

    assert_non_null(finding);
    assert_int_equal(finding->where_count, 2);
    assert_string_equal(finding->where[0].opcode, "LDS");
    assert_int_equal(finding->where[0].offset, 32);
    assert_float_equal(finding->where[0].share_frac, 0.875, 1e-6);
    assert_null(finding->where[0].file);
    assert_string_equal(finding->where[1].opcode, "LDS.128");
    ridge_diagnosis_free(diagnosis);
    sample_report_release(&sample);
    (void)state;
}

/* Samples stand on what waits; the load that it waits for is named beside it. */
static void names_producers(void **state)
{
    static const sample_kernel kernel = {
        .numbers = {{STALL("long_scoreboard"), 9}},
        .code = {{"LDG.128", 1000}, {"IADD3", 1000, 200}, {"EXIT", 1000}}};
    sample_report sample = sample_report_of(&kernel, 1);
    ridge_diagnosis *const diagnosis = sample_diagnosis(&sample, NULL);
    const ridge_finding *const finding = finding_of(diagnosis, "load_in_flight");

    assert_non_null(finding);
    assert_int_equal(finding->where_count, 1);
    assert_int_equal(finding->where[0].offset, 16);
    assert_string_equal(finding->where[0].producer_opcode, "LDG.128");
    assert_int_equal(finding->where[0].producer_offset, 0);
    ridge_diagnosis_free(diagnosis);
    sample_report_release(&sample);
    (void)state;
}

/* The staircase of an H200: half of 228 KiB, less the reserve of 1 KiB a block. */
static void climbs_the_staircase(void **state)
{
    static const sample_kernel kernel = {
        .numbers = {{SHARED, 122880}, {THEORETICAL, 12.5}, {ACHIEVED, 12}}};
    sample_report sample = sample_report_of(&kernel, 1);
    ridge_diagnosis *const diagnosis = sample_diagnosis(&sample, NULL);
    const ridge_finding *const finding = finding_of(diagnosis, "occupancy_shared_memory");

    assert_true(diagnosis->step_count >= 2);
    assert_true(diagnosis->steps[0].is_current);
    assert_false(diagnosis->steps[1].is_current);
    assert_int_equal(diagnosis->steps[1].blocks_per_sm, 2);
    assert_int_equal(diagnosis->steps[1].largest_shared_bytes, 115712);
    assert_non_null(finding);
    assert_non_null(strstr(finding->advice, "7168"));   /* to free */
    assert_non_null(strstr(finding->advice, "115712")); /* to reach */
    assert_non_null(strstr(finding->advice, "7167"));   /* in vain */
    ridge_diagnosis_free(diagnosis);
    sample_report_release(&sample);
    (void)state;
}

/* Spilled registers and an array that is indexed at run time are told apart by the cubin. */
static struct local_case {
    const char *name; /* of the function in the recorded cubin */
    const char *says, *says_not;
} local_cases[] = {
    {"spill", "spilled (", "indexed at run time"},
    {"local_array", "indexed at run time", "spilled ("},
};

static void tells_spills_from_arrays(void **state)
{
    const struct local_case *const test = *state;
    static const build_instance instance = {V_COUNT(4096), V_COUNT(1)};
    static const build_metric metrics[] = {{DURATION, V_NUMBER(1e5), NULL, 0, 0},
                                           {DRAM, V_NUMBER(85), NULL, 0, 0},
                                           {GLOBAL_LOADS, V_NUMBER(1000), NULL, 0, 0},
                                           {LOCAL_LOADS, V_NUMBER(1000), NULL, 0, 0},
                                           {"inst_executed", V_NONE, &instance, 1, 0}};
    file_bytes cubin = support_data("sample_90.cubin.gz");
    const build_source source = {.reference = 1,
                                 .binary = cubin.data,
                                 .binary_bytes = cubin.size,
                                 .function = test->name,
                                 .address = 4096};
    const build_result result = {.name = test->name,
                                 .mangled = test->name,
                                 .module = 1,
                                 .metrics = metrics,
                                 .metric_count = COUNT_OF(metrics)};
    const build_block block = {
        .sources = &source, .source_count = 1, .results = &result, .result_count = 1};
    sample_report sample;
    ridge_diagnosis *diagnosis;
    const ridge_finding *finding;

    sample.file = build_report(&block, 1);
    sample.report = build_open(&sample.file);
    diagnosis = sample_diagnosis(&sample, NULL);
    finding = finding_of(diagnosis, "register_spill");
    assert_non_null(finding);
    assert_int_equal(finding->rank, 1);
    assert_non_null(strstr(finding->sentence, test->says));
    assert_null(strstr(finding->sentence, test->says_not));
    ridge_diagnosis_free(diagnosis);
    sample_report_release(&sample);
    support_release(&cubin);
}

/* -- the profile itself ------------------------------------------------------------------------ */

static struct note_case {
    const char *name;
    sample_kernel kernel;
    ridge_diagnose_options options;
    const char *note; /* a part of it */
    bool is_there;
} note_cases[] = {
    {"clocks locked", {.clocks = 1}, {0}, "clock", true},
    {"clocks not locked", {.clocks = 2}, {0}, "clock", false},
    {"clocks not recorded", {.clocks = 0}, {0}, "clock", false},
    {"99 samples", {.numbers = {{"smsp__pcsamp_sample_count", 99}}}, {0}, "99", true},
    {"100 samples", {.numbers = {{"smsp__pcsamp_sample_count", 100}}}, {0}, "samples", false},
    {"samples not recorded",
     {.numbers = {{"smsp__pcsamp_sample_count", ABSENT}}},
     {0},
     "samples",
     false},
    {"stalls from samples",
     {.numbers = {NO_STALLS}, .code = {{"LDG", 1000}, {"IADD3", 1000, 500}}},
     {0},
     "rebuilt",
     true},
    {"stalls from too few samples",
     {.numbers = {NO_STALLS}, .code = {{"LDG", 1000}, {"IADD3", 1000, 50}}},
     {0},
     "rebuilt",
     false},
    {"bytes given",
     {.numbers = {{"dram__bytes_read.sum", 2 << 20}}},
     {.compulsory_bytes = 1 << 20},
     "2.00",
     true},
    {"work given", {.numbers = {{DURATION, 1e6}}}, {.flop_count = 5e9}, "5 TFLOP/s", true},
};

static void notes(void **state)
{
    const struct note_case *const test = *state;
    sample_report sample = sample_report_of(&test->kernel, 1);
    ridge_diagnosis *const diagnosis = sample_diagnosis(&sample, &test->options);
    bool found = false;
    size_t i;

    for (i = 0; i < diagnosis->note_count; i++)
        found = found || strstr(diagnosis->notes[i], test->note) != NULL;
    assert_int_equal(found, test->is_there);
    ridge_diagnosis_free(diagnosis);
    sample_report_release(&sample);
}

static void rebuilds_stalls(void **state)
{
    static const sample_kernel kernel = {.numbers = {NO_STALLS},
                                         .code = {{"LDG", 1000}, {"IADD3", 1000, 500}}};
    sample_report sample = sample_report_of(&kernel, 1);
    ridge_diagnosis *const diagnosis = sample_diagnosis(&sample, NULL);

    assert_true(diagnosis->stalls_from_samples);
    assert_int_equal(diagnosis->stall_count, 1);
    assert_int_equal(diagnosis->stalls[0].stall, RIDGE_STALL_LONG_SCOREBOARD);
    assert_true(diagnosis->stalls[0].share_frac == 1);
    ridge_diagnosis_free(diagnosis);
    sample_report_release(&sample);
    (void)state;
}

/* What --set basic collects. */
#define BASIC                                                                                      \
    {DURATION, 1e6}, {DRAM, 30}, {ISSUE, 50}, {WAVES, 10}, {THEORETICAL, 100}, {ACHIEVED, 90},     \
        {SMS, 132}, {ACTIVE_AVG, 98},                                                              \
    {                                                                                              \
        ACTIVE_MAX, 100                                                                            \
    }

static struct missing_case {
    const char *name;
    sample_kernel kernel;
    const char *says[6]; /* in the command */
    const char *says_not[4];
} missing_cases[] = {
    {"all but the launch",
     {.bare = true, .numbers = {{DURATION, 1e6}}},
     {"ncu ", "--section SpeedOfLight", "--section Occupancy", "--section WarpStateStats",
      "--section SourceCounters"},
     {"--clock-control"}},
    {"the basic set",
     {.bare = true, .numbers = {BASIC}},
     {"--section WarpStateStats", "--section SourceCounters", "--kernel-name 'regex:^k$'",
      "--launch-skip 0 --launch-count 1"},
     {"SpeedOfLight", "Occupancy", "--clock-control"}},
    {"clocks as the report had them",
     {.bare = true, .clocks = 2, .numbers = {BASIC}},
     {"--clock-control none"},
     {NULL}},
    {"clocks locked, which is the default",
     {.bare = true, .clocks = 1, .numbers = {BASIC}},
     {"ncu "},
     {"--clock-control"}},
    {"a name that a shell would run",
     {.name = "k';rm -rf $HOME`", .bare = true, .numbers = {BASIC}},
     {"regex:^k..rm..rf..HOME.$'"},
     {"rm -rf", "$HOME", "`"}},
    {"template arguments",
     {.name = "gemm<128, float>", .bare = true, .numbers = {BASIC}},
     {"'regex:^gemm'"},
     {"128"}},
};

static void collects(void **state)
{
    const struct missing_case *const test = *state;
    sample_report sample = sample_report_of(&test->kernel, 1);
    ridge_diagnosis *const diagnosis = sample_diagnosis(&sample, NULL);
    size_t i;

    assert_true(diagnosis->missing_count > 0);
    assert_non_null(diagnosis->collect);
    for (i = 0; i < COUNT_OF(test->says) && test->says[i] != NULL; i++)
        if (strstr(diagnosis->collect, test->says[i]) == NULL)
            fail_msg("'%s' is not in: %s", test->says[i], diagnosis->collect);
    for (i = 0; i < COUNT_OF(test->says_not) && test->says_not[i] != NULL; i++)
        if (strstr(diagnosis->collect, test->says_not[i]) != NULL)
            fail_msg("'%s' is in: %s", test->says_not[i], diagnosis->collect);
    ridge_diagnosis_free(diagnosis);
    sample_report_release(&sample);
}

static void nothing_is_missing(void **state)
{
    static const sample_kernel kernel = {
        .numbers = {{"memory_type", 0}},
        .code = {{"LDG", 1000, 50, 0, 0, 4000, 4000}, {"LDS", 1000, 50, 1000, 1000}}};
    sample_report sample = sample_report_of(&kernel, 1);
    ridge_diagnosis *const diagnosis = sample_diagnosis(&sample, NULL);

    assert_int_equal(diagnosis->missing_count, 0);
    assert_null(diagnosis->collect);
    ridge_diagnosis_free(diagnosis);
    sample_report_release(&sample);
    (void)state;
}

/* --launch-skip counts the launches that the filter of names lets through. */
static void counts_earlier_launches(void **state)
{
    static const sample_kernel kernels[] = {
        {.name = "a", .bare = true, .numbers = {BASIC}},
        {.name = "b", .bare = true, .numbers = {BASIC}},
        {.name = "a", .bare = true, .numbers = {BASIC}},
        {.name = "a", .bare = true, .numbers = {BASIC}},
    };
    static const char *const expected[] = {"--launch-skip 0 ", "--launch-skip 0 ",
                                           "--launch-skip 1 ", "--launch-skip 2 "};
    sample_report sample = sample_report_of(kernels, COUNT_OF(kernels));
    size_t i;

    for (i = 0; i < COUNT_OF(kernels); i++) {
        ridge_diagnosis *diagnosis;

        assert_int_equal(ridge_diagnose(sample.report, i, NULL, &diagnosis, NULL), RIDGE_OK);
        assert_int_equal(diagnosis->launch_index, i);
        assert_non_null(strstr(diagnosis->collect, expected[i]));
        ridge_diagnosis_free(diagnosis);
    }
    sample_report_release(&sample);
    (void)state;
}

static void gates_without_data(void **state)
{
    static const sample_kernel kernel = {.bare = true, .numbers = {{DURATION, 1e6}}};
    sample_report sample = sample_report_of(&kernel, 1);
    ridge_diagnosis *const diagnosis = sample_diagnosis(&sample, NULL);
    size_t i;

    assert_int_equal(diagnosis->gates[0].outcome, RIDGE_GATE_PASSED);
    for (i = 1; i < diagnosis->gate_count; i++)
        assert_int_equal(diagnosis->gates[i].outcome, RIDGE_GATE_UNDECIDED);
    assert_int_equal(diagnosis->finding_count, 0);
    assert_int_equal(diagnosis->bar_count, 0);
    assert_true(isnan(diagnosis->waves));
    assert_true(isnan(diagnosis->registers_per_thread));
    assert_true(isnan(diagnosis->occupancy_achieved_frac));
    assert_true(isnan(diagnosis->model_bytes));
    ridge_diagnosis_free(diagnosis);
    sample_report_release(&sample);
    (void)state;
}

/* -- life -------------------------------------------------------------------------------------- */

static const sample_kernel rich_kernel = {
    .clocks = 1,
    .numbers = {{L1, 97}, {REGISTERS, 168}, {THEORETICAL, 12.5}, {WAVES, 1.1}, {LOCAL_LOADS, 9e4}},
    .code = {{"LDG.U16", 3000, 90, 0, 0, 30000, 3000},
             {"IADD3", 1000, 500},
             {"LDS", 1000, 5, 8000, 1000},
             {"LDL", 1000},
             {"BAR", 1000, 50},
             {"REDG", 1000},
             {"EXIT", 100}}};

static void no_such_launch(void **state)
{
    sample_report sample = sample_report_of(&rich_kernel, 1);
    ridge_diagnosis *diagnosis = (ridge_diagnosis *)(void *)&sample;
    ridge_error err;

    assert_int_equal(ridge_diagnose(sample.report, 1, NULL, &diagnosis, &err),
                     RIDGE_ERR_INVALID_ARGUMENT);
    assert_null(diagnosis);
    assert_non_null(strstr(err.text, "no launch 1"));
    assert_int_equal(ridge_diagnose(sample.report, SIZE_MAX, NULL, &diagnosis, NULL),
                     RIDGE_ERR_INVALID_ARGUMENT);
    ridge_diagnosis_free(NULL);
    sample_report_release(&sample);
    (void)state;
}

/* Runs the writers as well: they touch every text. */
static char *written(const ridge_diagnosis *diagnosis, char kind, bool all)
{
    caught out;

    caught_open(&out, 100, false);
    if (kind == 't') {
        ridge_diagnosis_write_text(diagnosis, all, out.output);
    } else if (kind == 'm') {
        ridge_diagnosis_write_markdown(diagnosis, all, out.output);
    } else {
        ridge_json *const json = ridge_json_create(out.output);

        ridge_diagnosis_write_json(diagnosis, json);
        ridge_json_free(json);
    }
    assert_int_equal(caught_close(&out, NULL), RIDGE_OK);
    return out.text;
}

static size_t widest_line(const char *text)
{
    size_t widest = 0;

    while (*text != '\0') {
        const size_t bytes = strcspn(text, "\n");
        size_t width = 0, i;

        for (i = 0; i < bytes; i++)
            width += ((unsigned char)text[i] & 0xc0) != 0x80; /* characters of UTF-8 */
        widest = width > widest ? width : widest;
        text += bytes + (text[bytes] == '\n');
    }
    return widest;
}

static void check_written(const ridge_diagnosis *diagnosis)
{
    static const char kinds[] = "tmj";
    size_t i;
    int all;

    for (i = 0; kinds[i] != '\0'; i++)
        for (all = 0; all < 2; all++) {
            char *const text = written(diagnosis, kinds[i], all != 0);

            assert_true(strlen(text) > 0);
            assert_null(strchr(text, '\033'));
            assert_null(strstr(text, "(null)"));
            if (kinds[i] == 't')
                assert_true(widest_line(text) <= 100);
            free(text);
        }
}

static void outlives_the_report(void **state)
{
    sample_report sample = sample_report_of(&rich_kernel, 1);
    ridge_diagnosis *const diagnosis = sample_diagnosis(&sample, NULL);

    sample_report_release(&sample);
    check_diagnosis(diagnosis);
    check_written(diagnosis);
    ridge_diagnosis_free(diagnosis);
    (void)state;
}

static void hostile_names(void **state)
{
    static const sample_kernel kernel = {.name = "k\033[31m\n\r\t\001 \303\050 %s%n",
                                         .numbers = {{DRAM, 85}}};
    sample_report sample = sample_report_of(&kernel, 1);
    ridge_diagnosis *const diagnosis = sample_diagnosis(&sample, NULL);

    check_written(diagnosis);
    ridge_diagnosis_free(diagnosis);
    sample_report_release(&sample);
    (void)state;
}

static void survives_failing_allocations(void **state)
{
    sample_report sample = sample_report_of(&rich_kernel, 1);
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    ridge_error err;
    size_t nth;

    for (nth = 1; status != RIDGE_OK; nth++) {
        ridge_diagnosis *diagnosis = (ridge_diagnosis *)(void *)&sample;

        ridge_memory_fail_at(nth);
        status = ridge_diagnose(sample.report, 0, NULL, &diagnosis, &err);
        ridge_memory_fail_at(0);
        if (status == RIDGE_OK) {
            check_diagnosis(diagnosis);
            ridge_diagnosis_free(diagnosis);
            break;
        }
        assert_int_equal(status, RIDGE_ERR_OUT_OF_MEMORY);
        assert_int_equal(err.status, RIDGE_ERR_OUT_OF_MEMORY);
        assert_null(diagnosis);
        assert_true(nth < 1000);
    }
    assert_true(nth > 5);
    sample_report_release(&sample);
    (void)state;
}

/* -- any kernel -------------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13; /* xorshift64 */
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static double random_between(uint64_t *seed, double least, double most)
{
    return least + (most - least) * (double)(next_random(seed) >> 11) * 0x1p-53;
}

static const char *const random_opcodes[] = {
    "LDG", "LDG.U16", "LDG.128", "STG.U16", "STG.128", "LDS.U16", "LDS",    "LDS.128",
    "STS", "LDSM",    "LDL",     "STL",     "REDG",    "ATOMS",   "LDGSTS", "DEPBAR 0",
    "BAR", "HMMA",    "MUFU",    "F2FP",    "FFMA",    "IADD3"};

/* Numbers that a profile can hold, each at the ends as often as between. */
static const struct random_number {
    const char *name;
    double least, most;
} random_numbers[] = {
    {DRAM, 0, 100},
    {L2, 0, 100},
    {L1, 0, 100},
    {ISSUE, 0, 100},
    {TENSOR, 0, 100},
    {ALU, 0, 100},
    {ADU, 0, 100},
    {XU, 0, 100},
    {WAVES, 0.01, 4},
    {REGISTERS, 16, 255},
    {SHARED, 0, 232448},
    {THEORETICAL, 1, 100},
    {ACHIEVED, 0, 100},
    {THREADS, 1, 32},
    {DURATION, 1e3, 1e7},
    {ACTIVE_AVG, 1e4, 197000},
    {LOCAL_LOADS, 0, 1e5},
    {STALL("long_scoreboard"), 0, 20},
    {STALL("barrier"), 0, 20},
    {STALL("mio_throttle"), 0, 20},
    {STALL("no_instruction"), 0, 20},
    {STALL("imc_miss"), 0, 20},
    {"dram__bytes_read.sum", 0, 1e9},
};

static sample_kernel random_kernel(uint64_t *seed)
{
    sample_kernel kernel = {.name = "k"};
    size_t i;

    kernel.grid = 1 + next_random(seed) % 3000;
    kernel.threads = 32 * (1 + next_random(seed) % 32);
    kernel.clocks = (int)(next_random(seed) % 3);
    kernel.no_breakdown = next_random(seed) % 8 == 0;
    kernel.bare = next_random(seed) % 8 == 0;
    for (i = 0; i < COUNT_OF(kernel.numbers); i++) {
        const struct random_number *const number =
            &random_numbers[next_random(seed) % COUNT_OF(random_numbers)];
        const uint64_t end = next_random(seed) % 4;

        kernel.numbers[i].name = number->name;
        kernel.numbers[i].value = end == 0   ? number->least
                                  : end == 1 ? number->most
                                             : random_between(seed, number->least, number->most);
        if (!kernel.bare && next_random(seed) % 16 == 0)
            kernel.numbers[i] = (sample_number){number->name, NAN};
    }
    for (i = 0; next_random(seed) % 2 == 0 && i < COUNT_OF(kernel.code); i++) {
        sample_row *const row = &kernel.code[i];
        size_t k;

        for (k = 0; k <= i && next_random(seed) % 4 != 0; k++) { /* some are not counted at all */
            row->executed = next_random(seed) % 10000;
            row->samples = next_random(seed) % 1000;
        }
        row->opcode = random_opcodes[next_random(seed) % COUNT_OF(random_opcodes)];
        row->wavefronts = next_random(seed) % 3000;
        row->wavefronts_ideal = next_random(seed) % 3000;
        row->sectors = next_random(seed) % 3000;
        row->sectors_ideal = next_random(seed) % 3000;
        if (i > 2 && next_random(seed) % 8 == 0) {
            row->opcode = "BRA";
            row->back = (int)(next_random(seed) % i);
        }
    }
    return kernel;
}

static void any_kernel(void **state)
{
    enum { KERNELS = 1500 };
    uint64_t seed = 20260101;
    size_t i;

    for (i = 0; i < KERNELS; i++) {
        const sample_kernel kernel = random_kernel(&seed);
        const ridge_diagnose_options options = {.compulsory_bytes = i % 3 == 0 ? 1e6 : 0,
                                                .flop_count = i % 5 == 0 ? 1e9 : 0};
        sample_report sample = sample_report_of(&kernel, 1);
        ridge_diagnosis *const diagnosis = sample_diagnosis(&sample, &options);

        check_written(diagnosis);
        ridge_diagnosis_free(diagnosis);
        sample_report_release(&sample);
    }
    (void)state;
}

/* -- names and topics -------------------------------------------------------------------------- */

static void names(void **state)
{
    size_t i;

    for (i = 0; i < RIDGE_CLASS_COUNT; i++)
        assert_true(strlen(ridge_class_name((ridge_class)i)) > 2);
    for (i = 0; i < RIDGE_WALL_COUNT; i++) {
        assert_true(strlen(ridge_wall_name((ridge_wall)i)) > 1);
        assert_true(strlen(ridge_wall_words((ridge_wall)i)) > 2);
    }
    assert_string_equal(ridge_class_name(RIDGE_CLASS_COUNT), "?");
    assert_string_equal(ridge_wall_name(RIDGE_WALL_COUNT), "?");
    assert_string_equal(ridge_wall_words((ridge_wall)-1), "?");
    (void)state;
}

static void topics(void **state)
{
    size_t i, k;

    assert_true(ridge_topic_count() > 30);
    for (i = 0; i < ridge_topic_count(); i++) {
        const ridge_topic *const topic = ridge_topic_at(i);

        assert_ptr_equal(ridge_topic_find(topic->id), topic);
        for (k = 0; k < i; k++)
            assert_string_not_equal(ridge_topic_at(k)->id, topic->id);
        if (strlen(topic->title) == 0 || strlen(topic->meaning) == 0 ||
            strlen(topic->decided) == 0 || strlen(topic->change) == 0 || strlen(topic->read) == 0)
            fail_msg("%s is not explained", topic->id);
    }
    assert_null(ridge_topic_at(ridge_topic_count()));
    assert_null(ridge_topic_find("no_such_topic"));
    assert_null(ridge_topic_find(""));
    (void)state;
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, finds, finding_cases);
    cases_add(&list, "places", names_places, NULL);
    cases_add(&list, "producers", names_producers, NULL);
    cases_add(&list, "the staircase", climbs_the_staircase, NULL);
    CASES_ADD_ROWS(&list, tells_spills_from_arrays, local_cases);
    CASES_ADD_ROWS(&list, notes, note_cases);
    cases_add(&list, "stalls from samples", rebuilds_stalls, NULL);
    CASES_ADD_ROWS(&list, collects, missing_cases);
    cases_add(&list, "nothing is missing", nothing_is_missing, NULL);
    cases_add(&list, "earlier launches", counts_earlier_launches, NULL);
    cases_add(&list, "gates without data", gates_without_data, NULL);
    cases_add(&list, "no such launch", no_such_launch, NULL);
    cases_add(&list, "a diagnosis outlives its report", outlives_the_report, NULL);
    cases_add(&list, "hostile names", hostile_names, NULL);
    cases_add(&list, "failing allocations", survives_failing_allocations, NULL);
    cases_add(&list, "any kernel", any_kernel, NULL);
    cases_add(&list, "names", names, NULL);
    cases_add(&list, "topics", topics, NULL);
    return cases_run(&list, "diagnose");
}
