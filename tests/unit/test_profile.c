/* SPDX-License-Identifier: Apache-2.0 */
#include "report_builder.h"

#include <math.h>

#include "base/memory.h"
#include "ridge/profile.h"

#define ADDRESS UINT64_C(0x7f0000001000)
#define FAR_AWAY UINT64_C(0x7f0000009000)

enum { INSTRUCTION = 16, METRICS = 8, INSTANCES = 8 };

/* LDG R2; IADD3 R2, waits for it; STG; EXIT. */
static const uint64_t program[][2] = {
    {0x0000000402027981, 0x000ea2000c1e1900},
    {0x0000000607027c10, 0x004fc8000f91e002},
    {0x0000000c02007986, 0x000fe8000c101d04},
    {0x000000000000794d, 0x000fea0003800000},
};

static file_bytes cubin_of(const uint64_t words[][2], size_t count)
{
    static const sample_header header = {.sm = 90};
    uint8_t code[16 * INSTRUCTION];
    const sample_section text = {
        .name = ".text._Z1kv", .type = 1, .data = code, .size = count * INSTRUCTION};
    size_t i;

    for (i = 0; i < count; i++) {
        store_u64(code + i * INSTRUCTION, words[i][0]);
        store_u64(code + i * INSTRUCTION + 8, words[i][1]);
    }
    return sample_cubin(&header, &text, 1);
}

/* A report of one kernel, with the program above where a source is given, and its profile. */
typedef struct opened {
    file_bytes cubin, file;
    ridge_report *report;
    ridge_profile *profile;
} opened;

enum source { NO_CODE, CODE, CODE_WITHOUT_ADDRESS, DAMAGED_CODE };

static opened open_profile(const build_metric *metrics, size_t count, enum source kind)
{
    build_source source = {.reference = 1, .address = ADDRESS};
    const build_result result = {
        .name = "k", .mangled = "_Z1kv", .module = 1, .metrics = metrics, .metric_count = count};
    build_block block = {
        .sources = &source, .source_count = 1, .results = &result, .result_count = 1};
    opened it;
    ridge_error err;

    it.cubin = cubin_of(program, COUNT_OF(program));
    if (kind != NO_CODE) {
        source.binary = it.cubin.data;
        source.binary_bytes = kind == DAMAGED_CODE ? 40 : it.cubin.size;
    }
    source.function = kind == CODE || kind == DAMAGED_CODE ? "_Z1kv" : NULL;
    it.file = build_report(&block, 1);
    it.report = build_open(&it.file);
    if (ridge_profile_create(ridge_report_kernel_at(it.report, 0), &it.profile, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    return it;
}

static void close_profile(opened *it)
{
    ridge_profile_free(it->profile);
    ridge_report_free(it->report);
    support_release(&it->file);
    support_release(&it->cubin);
}

/* -- the join ---------------------------------------------------------------------------------- */

static const build_instance executed[] = {
    {V_COUNT(FAR_AWAY), V_COUNT(5)}, /* a device function that was not inlined */
    {V_COUNT(ADDRESS + 32), V_COUNT(30)},
    {V_COUNT(ADDRESS), V_COUNT(10)},
    {V_TEXT("LDG"), V_COUNT(99)}, /* no program counter */
    {V_NONE, V_COUNT(98)},
};
static const build_instance samples[] = {
    {V_COUNT(ADDRESS + 16), V_COUNT(7)},
    {V_COUNT(FAR_AWAY), V_COUNT(1)},
};
static const build_metric joined[] = {
    {"inst_executed", V_NONE, executed, COUNT_OF(executed), 0},
    {"smsp__pcsamp_sample_count", V_NONE, samples, COUNT_OF(samples), 0},
    {"sass__inst_executed_per_opcode", V_NONE, executed, COUNT_OF(executed), 0},
};

static void joins_by_address(void **state)
{
    opened it = open_profile(joined, COUNT_OF(joined), CODE);
    const ridge_profile *const profile = it.profile;
    const ridge_instruction *const rows = profile->rows;
    size_t i;

    assert_int_equal(profile->sm, 90);
    assert_string_equal(profile->function->name, "_Z1kv");
    assert_int_equal(profile->columns,
                     RIDGE_PROFILE_EXECUTED | RIDGE_PROFILE_SAMPLES | RIDGE_PROFILE_OPCODES);
    assert_int_equal(profile->row_count,
                     5); /* every instruction, counted or not, and the far one */
    for (i = 0; i < 4; i++) {
        assert_true(rows[i].pc == ADDRESS + i * INSTRUCTION);
        assert_int_equal(rows[i].offset, i * INSTRUCTION);
        assert_null(rows[i].line);
    }
    assert_string_equal(rows[0].sass.name, "LDG");
    assert_string_equal(rows[3].sass.name, "EXIT");
    assert_true(rows[0].executed == 10);
    assert_true(rows[1].executed == 0);
    assert_true(rows[2].executed == 30);
    assert_true(rows[1].samples == 7);
    assert_true(rows[4].pc == FAR_AWAY);
    assert_null(rows[4].sass.name);
    assert_true(rows[4].executed == 5);
    assert_true(profile->total.executed == 45);
    assert_true(profile->total.samples == 8);
    assert_int_equal(ridge_profile_producer(profile, 1), 0);
    assert_int_equal(ridge_profile_producer(profile, 0), 5);
    assert_int_equal(ridge_profile_producer(profile, 4), 5);
    assert_int_equal(ridge_profile_producer(profile, SIZE_MAX), 5);
    close_profile(&it);
    (void)state;
}

/* A function in front of the kernel's own shifts its rows. */
static void producer_behind_other_code(void **state)
{
    static const build_instance instances[] = {{V_COUNT(16), V_COUNT(1)},
                                               {V_COUNT(32), V_COUNT(1)}};
    static const build_metric metrics[] = {{"inst_executed", V_NONE, instances, 2, 0}};
    opened it = open_profile(metrics, 1, CODE);

    assert_int_equal(it.profile->row_count, 6);
    assert_int_equal(ridge_profile_producer(it.profile, 3), 2);
    assert_int_equal(ridge_profile_producer(it.profile, 0), 6);
    close_profile(&it);
    (void)state;
}

/* A device function that was not inlined, or another kernel of a range, is joined with its own
 * code when the module says where it was loaded. */
static void joins_other_functions(void **state)
{
    static const sample_header header = {.sm = 90};
    static const build_metric metrics[] = {
        {"inst_executed", V_NONE, executed, COUNT_OF(executed), 0}};
    static const build_result results[] = {
        {.name = "k", .mangled = "_Z1kv", .module = 1, .metrics = metrics, .metric_count = 1},
        {.kind = RIDGE_RESULT_RANGE, .module = 1, .metrics = metrics, .metric_count = 1}};
    uint8_t code[2 * INSTRUCTION];
    const sample_section texts[] = {
        {.name = ".text._Z1kv", .type = 1, .data = code, .size = sizeof(code)},
        {.name = ".text.helper", .type = 1, .data = code, .size = sizeof(code)}};
    build_source sources[] = {{.reference = 1, .function = "_Z1kv", .address = ADDRESS},
                              {.reference = 1, .function = "helper", .address = FAR_AWAY - 16}};
    const build_block block = {
        .sources = sources, .source_count = 2, .results = results, .result_count = 2};
    file_bytes cubin, file;
    ridge_report *report;
    ridge_profile *profile;
    size_t i;

    for (i = 0; i < 4; i++)
        store_u64(code + i * 8, program[2 + i / 2][i % 2]); /* STG, EXIT */
    cubin = sample_cubin(&header, texts, 2);
    sources[0].binary = cubin.data;
    sources[0].binary_bytes = cubin.size;
    file = build_report(&block, 1);
    report = build_open(&file);

    assert_int_equal(ridge_profile_create(ridge_report_kernel_at(report, 0), &profile, NULL),
                     RIDGE_OK);
    assert_int_equal(profile->row_count, 4); /* two of the kernel, one without code, the far one */
    assert_string_equal(profile->rows[0].function->name, "_Z1kv");
    assert_null(profile->rows[2].function);
    assert_string_equal(profile->rows[3].function->name, "helper");
    assert_int_equal(profile->rows[3].offset, 16);
    assert_string_equal(profile->rows[3].sass.name, "EXIT");
    ridge_profile_free(profile);

    /* A range has no function of its own: rows are what was counted. */
    assert_int_equal(ridge_profile_create(ridge_report_kernel_at(report, 1), &profile, NULL),
                     RIDGE_OK);
    assert_null(profile->function);
    assert_int_equal(profile->row_count, 3);
    assert_string_equal(profile->rows[0].sass.name, "STG");
    assert_string_equal(profile->rows[2].function->name, "helper");
    ridge_profile_free(profile);
    ridge_report_free(report);
    support_release(&file);
    support_release(&cubin);
    (void)state;
}

static struct bare_case {
    const char *name;
    enum source kind;
} bare_cases[] = {
    {"no cubin", NO_CODE},
    {"a cubin without an address", CODE_WITHOUT_ADDRESS},
    {"a damaged cubin", DAMAGED_CODE},
};

static void rows_without_code(void **state)
{
    const struct bare_case *const test = *state;
    opened it = open_profile(joined, COUNT_OF(joined), test->kind);
    const ridge_profile *const profile = it.profile;

    assert_null(profile->function);
    assert_int_equal(profile->columns, RIDGE_PROFILE_EXECUTED | RIDGE_PROFILE_SAMPLES);
    assert_int_equal(profile->row_count, 4);
    assert_true(profile->rows[0].pc == ADDRESS);
    assert_int_equal(profile->rows[0].offset, 0);
    assert_int_equal(profile->rows[2].offset, 32);
    assert_int_equal(profile->rows[3].offset, FAR_AWAY - ADDRESS);
    assert_null(profile->rows[0].sass.name);
    assert_true(profile->total.executed == 45);
    assert_int_equal(ridge_profile_producer(profile, 1), 4);
    close_profile(&it);
}

/* Before 2022.4 the address stands in a metric, the kernel's own function first. */
static void address_of_old_reports(void **state)
{
    static const build_instance functions[] = {{V_NONE, V_COUNT(ADDRESS)},
                                               {V_NONE, V_COUNT(FAR_AWAY)}};
    static const build_metric metrics[] = {
        {"launch__function_pcs", V_NONE, functions, 2, 0},
        {"inst_executed", V_NONE, executed, COUNT_OF(executed), 0},
    };
    opened it = open_profile(metrics, COUNT_OF(metrics), CODE_WITHOUT_ADDRESS);

    assert_non_null(it.profile->function);
    assert_string_equal(it.profile->rows[0].sass.name, "LDG");
    assert_true(it.profile->rows[2].executed == 30);
    close_profile(&it);
    (void)state;
}

static void nothing_counted(void **state)
{
    opened it = open_profile(NULL, 0, CODE);

    assert_int_equal(it.profile->row_count, 4);
    assert_int_equal(it.profile->columns, RIDGE_PROFILE_OPCODES);
    close_profile(&it);
    it = open_profile(NULL, 0, NO_CODE);
    assert_int_equal(it.profile->row_count, 0);
    assert_int_equal(it.profile->columns, 0);
    assert_int_equal(ridge_profile_producer(it.profile, 0), 0);
    close_profile(&it);
    ridge_profile_free(NULL);
    (void)state;
}

/* Program counters that no code explains: inside an instruction, at the ends of the address space. */
static void odd_program_counters(void **state)
{
    static const build_instance instances[] = {
        {V_COUNT(ADDRESS + 8), V_COUNT(1)},  {V_COUNT(0), V_COUNT(2)},
        {V_COUNT(UINT64_MAX), V_COUNT(3)},   {V_COUNT(ADDRESS + 64), V_COUNT(4)},
        {V_COUNT(ADDRESS - 16), V_COUNT(5)}, {V_COUNT(ADDRESS + 16), V_COUNT(6)},
    };
    static const build_metric metrics[] = {{"inst_executed", V_NONE, instances, 6, 0}};
    opened it = open_profile(metrics, 1, CODE);
    size_t i;

    assert_int_equal(it.profile->row_count, 4 + 5);
    for (i = 1; i < it.profile->row_count; i++)
        assert_true(it.profile->rows[i].pc > it.profile->rows[i - 1].pc);
    for (i = 0; i < it.profile->row_count; i++) {
        const ridge_instruction *const row = &it.profile->rows[i];

        assert_true((row->sass.name == NULL) == (row->function == NULL));
        assert_true(ridge_profile_producer(it.profile, i) <= it.profile->row_count);
    }
    assert_true(it.profile->total.executed == 21);
    close_profile(&it);
    (void)state;
}

/* Lines and inlining of a recorded cubin. */
static void joins_lines(void **state)
{
    static const build_instance instance = {V_COUNT(ADDRESS), V_COUNT(1)};
    static const build_metric metric = {"inst_executed", V_NONE, &instance, 1, 0};
    file_bytes cubin = support_data("sample_90.cubin.gz");
    const build_source source = {.reference = 1,
                                 .binary = cubin.data,
                                 .binary_bytes = cubin.size,
                                 .function = "block_sum",
                                 .address = ADDRESS};
    const build_result result = {
        .name = "k", .mangled = "block_sum", .module = 1, .metrics = &metric, .metric_count = 1};
    const build_block block = {
        .sources = &source, .source_count = 1, .results = &result, .result_count = 1};
    file_bytes file = build_report(&block, 1);
    ridge_report *const report = build_open(&file);
    ridge_profile *profile;
    size_t inlined = 0, i;

    assert_int_equal(ridge_profile_create(ridge_report_kernel_at(report, 0), &profile, NULL),
                     RIDGE_OK);
    assert_int_equal(profile->columns,
                     RIDGE_PROFILE_EXECUTED | RIDGE_PROFILE_OPCODES | RIDGE_PROFILE_LINES);
    assert_int_equal(profile->row_count, profile->function->code_bytes / INSTRUCTION);
    for (i = 0; i < profile->row_count; i++) {
        assert_non_null(profile->rows[i].line);
        assert_string_equal(profile->rows[i].line->file, "/sample/sample.cu");
        inlined += profile->rows[i].line->inlined_at >= 0;
    }
    assert_true(inlined > 0);
    ridge_profile_free(profile);
    ridge_report_free(report);
    support_release(&file);
    support_release(&cubin);
    (void)state;
}

/* -- counters ---------------------------------------------------------------------------------- */

static struct counter_case {
    const char *name; /* of the metric */
    size_t field;
    unsigned column;
} counter_cases[] = {
    {"inst_executed", offsetof(ridge_instruction, executed), RIDGE_PROFILE_EXECUTED},
    {"thread_inst_executed", offsetof(ridge_instruction, threads), RIDGE_PROFILE_THREADS},
    {"thread_inst_executed_true", offsetof(ridge_instruction, threads_on), RIDGE_PROFILE_THREADS},
    {"smsp__pcsamp_sample_count", offsetof(ridge_instruction, samples), RIDGE_PROFILE_SAMPLES},
    {"memory_l1_wavefronts_shared", offsetof(ridge_instruction, wavefronts), RIDGE_PROFILE_SHARED},
    {"memory_l1_sectors_shared", offsetof(ridge_instruction, wavefronts), RIDGE_PROFILE_SHARED},
    {"memory_shared_transactions", offsetof(ridge_instruction, wavefronts), RIDGE_PROFILE_SHARED},
    {"memory_l1_wavefronts_shared_ideal", offsetof(ridge_instruction, wavefronts_ideal),
     RIDGE_PROFILE_SHARED},
    {"memory_l1_sectors_shared_ideal", offsetof(ridge_instruction, wavefronts_ideal),
     RIDGE_PROFILE_SHARED},
    {"memory_ideal_shared_transactions", offsetof(ridge_instruction, wavefronts_ideal),
     RIDGE_PROFILE_SHARED},
    {"memory_l2_theoretical_sectors_global", offsetof(ridge_instruction, sectors),
     RIDGE_PROFILE_SECTORS},
    {"memory_l2_sectors_global", offsetof(ridge_instruction, sectors), RIDGE_PROFILE_SECTORS},
    {"memory_l2_transactions_global", offsetof(ridge_instruction, sectors), RIDGE_PROFILE_SECTORS},
    {"memory_l2_theoretical_sectors_global_ideal", offsetof(ridge_instruction, sectors_ideal),
     RIDGE_PROFILE_SECTORS},
    {"memory_l2_sectors_global_ideal", offsetof(ridge_instruction, sectors_ideal),
     RIDGE_PROFILE_SECTORS},
    {"memory_ideal_l2_transactions_global", offsetof(ridge_instruction, sectors_ideal),
     RIDGE_PROFILE_SECTORS},
    {"memory_l2_theoretical_sectors_local", offsetof(ridge_instruction, local_sectors), 0},
    {"memory_l2_sectors_local", offsetof(ridge_instruction, local_sectors), 0},
    {"memory_l2_transactions_local", offsetof(ridge_instruction, local_sectors), 0},
    {"memory_l1_tag_requests_global", offsetof(ridge_instruction, tag_requests), 0},
    {"memory_type", offsetof(ridge_instruction, memory_type), 0},
    {"memory_access_type", offsetof(ridge_instruction, access_type), 0},
    {"memory_access_size_type", offsetof(ridge_instruction, access_bits), 0},
};

static uint64_t field_of(const ridge_instruction *row, size_t field)
{
    uint64_t value;

    memcpy(&value, (const char *)row + field, sizeof(value));
    return value;
}

static void reads_counters(void **state)
{
    const struct counter_case *const test = *state;
    static const build_instance instances[] = {{V_COUNT(ADDRESS), V_COUNT(UINT64_C(1) << 40)},
                                               {V_COUNT(ADDRESS + 16), V_NUMBER(3)}};
    const build_metric metric = {test->name, V_NONE, instances, 2, 0};
    opened it = open_profile(&metric, 1, NO_CODE);
    size_t other = 0, i;

    assert_int_equal(it.profile->columns, test->column);
    assert_int_equal(it.profile->row_count, 2);
    assert_true(field_of(&it.profile->rows[0], test->field) == UINT64_C(1) << 40);
    assert_true(field_of(&it.profile->rows[1], test->field) == 3);
    for (i = 0; i < COUNT_OF(counter_cases); i++)
        if (counter_cases[i].field != test->field)
            other += field_of(&it.profile->rows[0], counter_cases[i].field) != 0;
    assert_int_equal(other, 0);
    close_profile(&it);
}

/* The newest name with instances counts, wherever it stands. */
static void newest_name_wins(void **state)
{
    static const build_instance old = {V_COUNT(ADDRESS), V_COUNT(1)};
    static const build_instance middle = {V_COUNT(ADDRESS), V_COUNT(2)};
    static const build_metric metrics[] = {
        {"memory_shared_transactions", V_NONE, &old, 1, 0},
        {"memory_l1_sectors_shared", V_NONE, &middle, 1, 0},
        {"memory_l1_wavefronts_shared", V_NUMBER(3), NULL, 0, 0}, /* an aggregate only */
    };
    opened it = open_profile(metrics, 3, NO_CODE);

    assert_true(it.profile->rows[0].wavefronts == 2);
    close_profile(&it);
    (void)state;
}

static struct count_case {
    const char *name;
    build_value stored;
    uint64_t count;
} count_cases[] = {
    {"a count beyond 2^53", V_COUNT(UINT64_C(9007199254740993)), UINT64_C(9007199254740993)},
    {"a number", V_NUMBER(2.9), 2},
    {"a negative number", V_NUMBER(-1), 0},
    {"not a number", V_NUMBER(NAN), 0},
    {"infinity", V_NUMBER(INFINITY), 0},
    {"a number beyond what fits", V_NUMBER(1e30), 0},
    {"a text", V_TEXT("12"), 0},
    {"no value", V_NONE, 0},
};

static void counts_values(void **state)
{
    const struct count_case *const test = *state;
    const build_instance instance = {V_COUNT(ADDRESS), test->stored};
    const build_metric metric = {"inst_executed", V_NONE, &instance, 1, 0};
    opened it = open_profile(&metric, 1, NO_CODE);

    assert_int_equal(it.profile->row_count, 1);
    assert_true(it.profile->rows[0].executed == test->count);
    close_profile(&it);
}

/* -- stalls ------------------------------------------------------------------------------------ */

#define SAMPLED(reason) "smsp__pcsamp_warps_issue_stalled_" reason

static struct stall_case {
    const char *name; /* of the metric */
    ridge_stall stall;
    bool not_issued;
} stall_cases[] = {
    {SAMPLED("long_scoreboard"), RIDGE_STALL_LONG_SCOREBOARD, false},
    {SAMPLED("long_scoreboard_not_issued"), RIDGE_STALL_LONG_SCOREBOARD, true},
    {SAMPLED("no_instruction"), RIDGE_STALL_NO_INSTRUCTION, false},
    {SAMPLED("no_instructions"), RIDGE_STALL_NO_INSTRUCTION, false},
    {SAMPLED("no_instructions_not_issued"), RIDGE_STALL_NO_INSTRUCTION, true},
    {SAMPLED("gmma"), RIDGE_STALL_GMMA, false},
    {SAMPLED("warpgroup_arrive"), RIDGE_STALL_GMMA, false},
    {SAMPLED("selected"), RIDGE_STALL_SELECTED, false},
    {SAMPLED("not_selected"), RIDGE_STALL_NOT_SELECTED, false},
    {SAMPLED("not_selected_not_issued"), RIDGE_STALL_NOT_SELECTED, true},
    {SAMPLED("misc"), RIDGE_STALL_MISC, false},
    {SAMPLED("a_reason_of_2030"), RIDGE_STALL_MISC, false},
    {SAMPLED("a_reason_of_2030_not_issued"), RIDGE_STALL_MISC, true},
};

static void reads_stalls(void **state)
{
    const struct stall_case *const test = *state;
    static const build_instance instance = {V_COUNT(ADDRESS), V_COUNT(9)};
    const build_metric metrics[] = {{"inst_executed", V_NONE, &instance, 1, 0},
                                    {test->name, V_NONE, &instance, 1, 0}};
    opened it = open_profile(metrics, 2, NO_CODE);
    const ridge_instruction *const row = &it.profile->rows[0];
    size_t i;

    for (i = 0; i < RIDGE_STALL_COUNT; i++) {
        const uint32_t expected = (ridge_stall)i == test->stall ? 9 : 0;

        assert_int_equal(row->stalls[i], test->not_issued ? 0 : expected);
        assert_int_equal(row->stalls_not_issued[i], test->not_issued ? expected : 0);
        assert_int_equal(it.profile->total.stalls[i], row->stalls[i]);
    }
    assert_true(row->samples_not_issued == (test->not_issued ? 9 : 0));
    assert_int_equal(it.profile->columns & RIDGE_PROFILE_STALLS, RIDGE_PROFILE_STALLS);
    close_profile(&it);
}

/* Two metrics of one reason add up: the alias of one version and the name of another. */
static void reasons_add_up(void **state)
{
    static const build_instance instance = {V_COUNT(ADDRESS), V_COUNT(4)};
    static const build_metric metrics[] = {
        {SAMPLED("selected"), V_NONE, &instance, 1, 0},
        {SAMPLED("future_one"), V_NONE, &instance, 1, 0},
        {SAMPLED("future_two"), V_NONE, &instance, 1, 0},
    };
    opened it = open_profile(metrics, 3, NO_CODE);

    assert_int_equal(it.profile->rows[0].stalls[RIDGE_STALL_MISC], 8);
    /* Before 2021.2 there was no total: the reasons add up to it. */
    assert_true(it.profile->rows[0].samples == 12);
    assert_int_equal(it.profile->columns, RIDGE_PROFILE_STALLS | RIDGE_PROFILE_SAMPLES);
    close_profile(&it);
    (void)state;
}

/* ncu --metrics can collect one reason alone. */
static void one_reason_alone(void **state)
{
    static const build_instance instances[] = {{V_COUNT(ADDRESS), V_COUNT(4)},
                                               {V_COUNT(ADDRESS + 16), V_COUNT(5)}};
    static const build_metric metric = {SAMPLED("barrier"), V_NONE, instances, 2, 0};
    opened it = open_profile(&metric, 1, NO_CODE);

    assert_int_equal(it.profile->row_count, 2);
    assert_true(it.profile->total.stalls[RIDGE_STALL_BARRIER] == 9);
    assert_true(it.profile->total.samples == 9);
    close_profile(&it);
    (void)state;
}

static void names_stalls(void **state)
{
    size_t i, k;

    for (i = 0; i < RIDGE_STALL_COUNT; i++) {
        assert_true(strlen(ridge_stall_name((ridge_stall)i)) > 0);
        assert_true(strlen(ridge_stall_meaning((ridge_stall)i)) > 0);
        for (k = 0; k < i; k++)
            assert_string_not_equal(ridge_stall_name((ridge_stall)i),
                                    ridge_stall_name((ridge_stall)k));
    }
    assert_string_equal(ridge_stall_name(RIDGE_STALL_COUNT), "?");
    assert_string_equal(ridge_stall_meaning(RIDGE_STALL_COUNT), "?");
    assert_string_equal(ridge_stall_name((ridge_stall)-1), "?");
    (void)state;
}

/* -- memory ------------------------------------------------------------------------------------ */

static void survives_failing_allocations(void **state)
{
    opened it = open_profile(joined, COUNT_OF(joined), CODE);
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    ridge_error err;
    size_t nth;

    for (nth = 1; status != RIDGE_OK; nth++) {
        ridge_profile *profile = it.profile; /* anything but NULL */

        ridge_memory_fail_at(nth);
        status = ridge_profile_create(ridge_report_kernel_at(it.report, 0), &profile, &err);
        ridge_memory_fail_at(0);
        if (status == RIDGE_OK) {
            assert_int_equal(profile->row_count, 5);
            ridge_profile_free(profile);
            break;
        }
        assert_int_equal(status, RIDGE_ERR_OUT_OF_MEMORY);
        assert_int_equal(err.status, RIDGE_ERR_OUT_OF_MEMORY);
        assert_null(profile);
        assert_true(nth < 1000);
    }
    assert_true(nth > 3);
    close_profile(&it);
    (void)state;
}

int main(void)
{
    static cases list;

    cases_add(&list, "joined by address", joins_by_address, NULL);
    cases_add(&list, "a producer behind other code", producer_behind_other_code, NULL);
    cases_add(&list, "code of other functions", joins_other_functions, NULL);
    CASES_ADD_ROWS(&list, rows_without_code, bare_cases);
    cases_add(&list, "the address in old reports", address_of_old_reports, NULL);
    cases_add(&list, "nothing counted", nothing_counted, NULL);
    cases_add(&list, "odd program counters", odd_program_counters, NULL);
    cases_add(&list, "lines", joins_lines, NULL);
    CASES_ADD_ROWS(&list, reads_counters, counter_cases);
    cases_add(&list, "the newest name wins", newest_name_wins, NULL);
    CASES_ADD_ROWS(&list, counts_values, count_cases);
    CASES_ADD_ROWS(&list, reads_stalls, stall_cases);
    cases_add(&list, "reasons add up", reasons_add_up, NULL);
    cases_add(&list, "one reason alone", one_reason_alone, NULL);
    cases_add(&list, "names of stalls", names_stalls, NULL);
    cases_add(&list, "failing allocations", survives_failing_allocations, NULL);
    return cases_run(&list, "profile");
}
