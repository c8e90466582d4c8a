/* SPDX-License-Identifier: Apache-2.0
 *
 * A diagnosis as a whole: what is said of the profile itself and of missing data, and what holds for
 * any kernel, tried on many random ones. */
#include "diagnose_support.h"

#include <math.h>

#include "base/memory.h"

#define NO_STALLS                                                                                  \
    {STALL("long_scoreboard"), ABSENT}, {STALL("wait"), ABSENT}, {STALL("barrier"), ABSENT},       \
        {STALL("selected"), ABSENT},                                                               \
    {                                                                                              \
        STALL("not_selected"), ABSENT                                                              \
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
