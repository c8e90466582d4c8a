/* SPDX-License-Identifier: Apache-2.0
 *
 * Findings one by one, each with the smallest kernel that has it. */
#include "diagnose_support.h"

#include <math.h>

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

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, finds, finding_cases);
    cases_add(&list, "places", names_places, NULL);
    cases_add(&list, "producers", names_producers, NULL);
    cases_add(&list, "the staircase", climbs_the_staircase, NULL);
    CASES_ADD_ROWS(&list, tells_spills_from_arrays, local_cases);
    return cases_run(&list, "findings");
}
