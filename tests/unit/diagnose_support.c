/* SPDX-License-Identifier: Apache-2.0 */
#include "diagnose_support.h"

#include <ctype.h>
#include <math.h>

enum { ROWS = COUNT_OF(((sample_kernel *)0)->code), INSTRUCTION = 16 };
enum { NUMBERS = COUNT_OF(((sample_kernel *)0)->numbers) };

#define CODE_ADDRESS UINT64_C(0x7f0000001000)

/* -- instructions ------------------------------------------------------------------------------ */

/* Words of sm_90, from tests/data/binary/sass.tsv.gz. The loads set scoreboard 2, IADD3 waits for
 * it; the shared loads set 0. */
static const struct word {
    const char *opcode;
    uint64_t low, high;
} words[] = {
    {"LDG", 0x0000000402027981, 0x000ea2000c1e1900},
    {"LDG.U16", 0x0000000402037981, 0x000ea2000c1e1500},
    {"LDG.128", 0x0000000402087981, 0x000ea2000c1e1d00},
    {"STG.U16", 0x0000000904007986, 0x000fe8000c101504},
    {"STG.128", 0x0000000c02007986, 0x000fe8000c101d04},
    {"LDS.U16", 0x0000000000037984, 0x000e280000000400},
    {"LDS", 0x0000000000037984, 0x000e280000000800},
    {"LDS.128", 0x0000000000047984, 0x000e280000000c00},
    {"STS", 0x0000000902007988, 0x0001e20008000804},
    {"LDSM", 0x000000000004783b, 0x000e280000000200},
    {"LDL", 0x0000000000037983, 0x000ea80000100800},
    {"STL", 0x0000400300007387, 0x000fe20000100800},
    {"REDG", 0x0000000b0200798e, 0x000fe8000c10e184},
    {"ATOMS", 0x0000000804ff798c, 0x000fe80008000004},
    {"LDGSTS", 0x0000000002057fae, 0x000fe8000b921c44},
    {"LDGDEPBAR", 0x00000000000079af, 0x000e220000000000},
    {"DEPBAR 0", 0x000080000000791a, 0x000fce0000000000},
    {"DEPBAR 1", 0x000080400000791a, 0x000fce0000000000},
    {"BAR", 0x0000000000007b1d, 0x000fec0000010000},
    {"HMMA", 0x000000060808723c, 0x000fde000004180c},
    {"MUFU", 0x0000000600067308, 0x000e700000000800},
    {"F2FP", 0x000000070807723e, 0x000fca00000000ff},
    {"FFMA", 0x3380000006077823, 0x000fe20000000006},
    {"IADD3", 0x0000000607027c10, 0x004fc8000f91e002},
    {"EXIT", 0x000000000000794d, 0x000fea0003800000},
};

static void store_instruction(uint8_t *at, const sample_row *row)
{
    size_t i;

    if (strcmp(row->opcode, "BRA") == 0) {
        const uint64_t distance = (uint64_t)(int64_t)(-(row->back + 1) * INSTRUCTION);

        /* The distance counts words of 4 bytes from the next instruction: bits 34 to 81. */
        store_u64(at, 0x7947 | ((distance >> 2) & 0xff) << 16 | (distance >> 10) << 34);
        store_u64(at + 8, 0x000fea000383ffff);
        return;
    }
    for (i = 0; i < COUNT_OF(words); i++)
        if (strcmp(words[i].opcode, row->opcode) == 0) {
            store_u64(at, words[i].low);
            store_u64(at + 8, words[i].high);
            return;
        }
    fail_msg("no words for %s", row->opcode);
}

static size_t row_count(const sample_kernel *kernel)
{
    size_t count = 0;

    while (count < ROWS && kernel->code[count].opcode != NULL)
        count++;
    return count;
}

static file_bytes code_of(const sample_kernel *kernel)
{
    static const sample_header header = {.sm = 90};
    uint8_t code[ROWS * INSTRUCTION];
    const size_t count = row_count(kernel);
    char name[64];
    size_t i;

    for (i = 0; i < count; i++)
        store_instruction(code + i * INSTRUCTION, &kernel->code[i]);
    snprintf(name, sizeof(name), ".text.%s", kernel->mangled != NULL ? kernel->mangled : "k");
    {
        const sample_section text = {
            .name = name, .type = 1, .data = code, .size = count * INSTRUCTION};

        return sample_cubin(&header, &text, 1);
    }
}

/* -- metrics ----------------------------------------------------------------------------------- */

/* Nothing is wrong with it: no unit is busy, many warps, ten even waves. */
static const sample_number healthy[] = {
    {DURATION, 100000},
    {CLOCK, 1.98e9},
    {ELAPSED, 198000},
    {ACTIVE_AVG, 196000},
    {ACTIVE_MAX, 197000},
    {"gpu__compute_memory_throughput" PCT, 30},
    {"sm__throughput" PCT, 30},
    {DRAM, 20},
    {L2, 21},
    {L1, 22},
    {ISSUE, 23},
    {ALU, 14},
    {FMA, 13},
    {WAVES, 10},
    {REGISTERS, 32},
    {SHARED, 0},
    {"launch__shared_mem_per_block_static", 0},
    {THEORETICAL, 100},
    {ACHIEVED, 90},
    {THREADS, 32},
    {SMS, 132},
    {"device__attribute_compute_capability_major", 9},
    {"device__attribute_compute_capability_minor", 0},
    {"smsp__pcsamp_sample_count", 10000},
    {GLOBAL_LOADS, 100000},
    {LOCAL_LOADS, 0},
    {STALL("long_scoreboard"), 1},
    {STALL("wait"), 0.9},
    {STALL("barrier"), 0.5},
    {STALL("selected"), 1},
    {STALL("not_selected"), 3},
};

/* The parts of one kernel's result, as long as the report is built. */
struct parts {
    build_metric metrics[128];
    size_t metric_count;
    build_instance instances[8][ROWS];
    char memory_breakdown[2048], compute_breakdown[2048];
    file_bytes cubin;
};

static build_metric *metric_of(struct parts *parts, const char *name)
{
    size_t i;

    for (i = 0; i < parts->metric_count; i++)
        if (strcmp(parts->metrics[i].name, name) == 0)
            return &parts->metrics[i];
    assert_true(parts->metric_count < COUNT_OF(parts->metrics));
    parts->metrics[parts->metric_count].name = name;
    return &parts->metrics[parts->metric_count++];
}

static void set_number(struct parts *parts, const char *name, double value)
{
    build_metric *const metric = metric_of(parts, name);

    if (value == ABSENT) {
        *metric = parts->metrics[--parts->metric_count];
        return;
    }
    metric->value = (build_value)V_NUMBER(value);
}

static void add_name(char *text, size_t size, const char *name)
{
    const size_t length = strlen(text);

    snprintf(text + length, size - length, "%s%s", length > 0 ? "," : "", name);
}

/* Lists the units as the profiler does. */
static void set_breakdowns(struct parts *parts)
{
    static const char *const memory[] = {"dram__", "lts__", "l1tex__"};
    static const char *const compute[] = {"sm__", "idc__"};
    size_t i, k;

    for (i = 0; i < parts->metric_count; i++) {
        const char *const name = parts->metrics[i].name;

        if (strstr(name, PCT) == NULL || strstr(name, "throughput") != NULL)
            continue;
        for (k = 0; k < COUNT_OF(memory); k++)
            if (strncmp(name, memory[k], strlen(memory[k])) == 0)
                add_name(parts->memory_breakdown, sizeof(parts->memory_breakdown), name);
        for (k = 0; k < COUNT_OF(compute); k++)
            if (strncmp(name, compute[k], strlen(compute[k])) == 0)
                add_name(parts->compute_breakdown, sizeof(parts->compute_breakdown), name);
    }
    if (parts->memory_breakdown[0] != '\0')
        metric_of(parts, "breakdown:gpu__compute_memory_throughput" PCT)->value =
            (build_value)V_TEXT(parts->memory_breakdown);
    if (parts->compute_breakdown[0] != '\0')
        metric_of(parts, "breakdown:sm__throughput" PCT)->value =
            (build_value)V_TEXT(parts->compute_breakdown);
}

static void set_instances(struct parts *parts, const sample_kernel *kernel)
{
    static const struct {
        const char *name;
        size_t field;
    } counters[] = {
        {"inst_executed", offsetof(sample_row, executed)},
        {"smsp__pcsamp_sample_count", offsetof(sample_row, samples)},
        {"smsp__pcsamp_warps_issue_stalled_long_scoreboard", offsetof(sample_row, samples)},
        {"memory_l1_wavefronts_shared", offsetof(sample_row, wavefronts)},
        {"memory_l1_wavefronts_shared_ideal", offsetof(sample_row, wavefronts_ideal)},
        {"memory_l2_theoretical_sectors_global", offsetof(sample_row, sectors)},
        {"memory_l2_theoretical_sectors_global_ideal", offsetof(sample_row, sectors_ideal)},
    };
    const size_t count = row_count(kernel);
    size_t c, i;

    for (c = 0; c < COUNT_OF(counters) && count > 0; c++) {
        build_metric *const metric = metric_of(parts, counters[c].name);

        for (i = 0; i < count; i++) {
            uint64_t value;

            memcpy(&value, (const char *)&kernel->code[i] + counters[c].field, sizeof(value));
            parts->instances[c][i].id = (build_value)V_COUNT(CODE_ADDRESS + i * INSTRUCTION);
            parts->instances[c][i].value = (build_value)V_COUNT(value);
        }
        metric->instances = parts->instances[c];
        metric->instance_count = count;
    }
}

static void fill_parts(struct parts *parts, const sample_kernel *kernel)
{
    size_t i;

    for (i = 0; !kernel->bare && i < COUNT_OF(healthy); i++)
        set_number(parts, healthy[i].name, healthy[i].value);
    if (!kernel->bare)
        metric_of(parts, "device__attribute_display_name")->value =
            (build_value)V_TEXT("NVIDIA H200");
    for (i = 0; i < NUMBERS && kernel->numbers[i].name != NULL; i++)
        set_number(parts, kernel->numbers[i].name, kernel->numbers[i].value);
    if (!kernel->no_breakdown)
        set_breakdowns(parts);
    set_instances(parts, kernel);
}

/* -- reports ----------------------------------------------------------------------------------- */

sample_report sample_report_of(const sample_kernel *kernels, size_t count)
{
    struct parts *const parts = calloc(count, sizeof(*parts));
    build_result *const results = calloc(count, sizeof(*results));
    build_source *const sources = calloc(count, sizeof(*sources));
    build_block block = {.sources = sources, .results = results, .result_count = count};
    sample_report sample;
    size_t i;

    assert_non_null(parts);
    assert_non_null(results);
    assert_non_null(sources);
    for (i = 0; i < count; i++) {
        const sample_kernel *const kernel = &kernels[i];
        const char *const mangled = kernel->mangled != NULL ? kernel->mangled : "k";

        fill_parts(&parts[i], kernel);
        results[i] = (build_result){
            .name = kernel->name != NULL ? kernel->name : "k",
            .mangled = mangled,
            .grid = {kernel->grid > 0 ? kernel->grid : 10560, 1, 1},
            .block = {kernel->threads > 0 ? kernel->threads : 256, 1, 1},
            .clocks = kernel->clocks,
            .metrics = parts[i].metrics,
            .metric_count = parts[i].metric_count,
        };
        if (row_count(kernel) == 0)
            continue;
        parts[i].cubin = code_of(kernel);
        results[i].module = i + 1;
        sources[block.source_count++] = (build_source){.reference = i + 1,
                                                       .binary = parts[i].cubin.data,
                                                       .binary_bytes = parts[i].cubin.size,
                                                       .cc_major = 9,
                                                       .function = mangled,
                                                       .address = CODE_ADDRESS};
    }
    sample.file = build_report(&block, 1);
    sample.report = build_open(&sample.file);
    assert_int_equal(ridge_report_warning_count(sample.report), 0);
    for (i = 0; i < count; i++)
        support_release(&parts[i].cubin);
    free(sources);
    free(results);
    free(parts);
    return sample;
}

void sample_report_release(sample_report *sample)
{
    ridge_report_free(sample->report);
    support_release(&sample->file);
    sample->report = NULL;
}

ridge_diagnosis *sample_diagnosis(const sample_report *sample,
                                  const ridge_diagnose_options *options)
{
    ridge_diagnosis *diagnosis;
    ridge_error err;

    if (ridge_diagnose(sample->report, 0, options, &diagnosis, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    assert_non_null(diagnosis);
    check_diagnosis(diagnosis);
    return diagnosis;
}

/* -- what always holds ------------------------------------------------------------------------- */

static bool is_one_of(const char *id, const char *const *ids, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        if (strcmp(ids[i], id) == 0)
            return true;
    return false;
}

/* Low residency and waiting warps are what a saturated memory kernel looks like. */
static bool is_symptom_of_memory(const char *id)
{
    static const char *const ids[] = {"load_in_flight", "dependency_chain", "barrier",
                                      "shared_latency", "branch_latency",   "constant_cache"};

    return strncmp(id, "occupancy_", 10) == 0 || is_one_of(id, ids, COUNT_OF(ids));
}

/* As a word of its own: "nanosleep" has no nan. */
static bool has_word(const char *text, const char *word)
{
    const size_t length = strlen(word);
    const char *at;

    for (at = strstr(text, word); at != NULL; at = strstr(at + 1, word))
        if ((at == text || !isalpha((unsigned char)at[-1])) && !isalpha((unsigned char)at[length]))
            return true;
    return false;
}

static void check_text(const char *text)
{
    assert_non_null(text);
    assert_true(text[0] != '\0');
    assert_null(strchr(text, '\n'));
    if (has_word(text, "nan") || has_word(text, "inf") || strstr(text, "(null)") != NULL)
        fail_msg("%s", text);
}

static void check_finding(const ridge_finding *finding, size_t index)
{
    size_t i;

    assert_int_equal(finding->rank, (int)index + 1);
    if (ridge_topic_find(finding->id) == NULL)
        fail_msg("no topic explains %s", finding->id);
    check_text(finding->sentence);
    check_text(finding->advice);
    assert_true(!isnan(finding->speedup_bound[0]) == !isnan(finding->speedup_bound[1]));
    if (!isnan(finding->speedup_bound[0])) {
        assert_true(finding->speedup_bound[0] >= 1);
        assert_true(finding->speedup_bound[1] >= finding->speedup_bound[0]);
    }
    assert_true(finding->evidence_count > 0);
    assert_true(finding->evidence_count <= RIDGE_EVIDENCE);
    for (i = 0; i < finding->evidence_count; i++) {
        check_text(finding->evidence[i].metric);
        check_text(finding->evidence[i].label);
        assert_non_null(finding->evidence[i].unit);
        assert_true(!isnan(finding->evidence[i].value));
    }
    assert_true(finding->where_count <= RIDGE_WHERES);
    for (i = 0; i < finding->where_count; i++)
        assert_true(finding->where[i].share_frac > 0 && finding->where[i].share_frac <= 1);
}

void check_diagnosis(const ridge_diagnosis *diagnosis)
{
    const ridge_verdict *const verdict = &diagnosis->verdict;
    size_t i, k;

    check_text(verdict->sentence);
    assert_true(isnan(verdict->saturation_frac) || verdict->saturation_frac >= 0);
    assert_int_equal(diagnosis->gate_count, RIDGE_GATES);
    for (i = 0; i < diagnosis->gate_count; i++)
        check_text(diagnosis->gates[i].reasoning);
    for (i = 0; i < diagnosis->finding_count; i++) {
        check_finding(&diagnosis->findings[i], i);
        for (k = 0; k < i; k++)
            assert_string_not_equal(diagnosis->findings[k].id, diagnosis->findings[i].id);
    }
    for (i = 0; i < diagnosis->not_now_count; i++) {
        check_text(diagnosis->not_now[i].id);
        check_text(diagnosis->not_now[i].reason);
    }
    if (verdict->cls == RIDGE_CLASS_MEMORY && verdict->saturation_frac >= 0.8 &&
        diagnosis->finding_count > 0 && is_symptom_of_memory(diagnosis->findings[0].id))
        fail_msg("%s stands first at a saturated memory wall", diagnosis->findings[0].id);
    assert_true(diagnosis->collect != NULL || diagnosis->missing_count == 0);
    for (i = 0; i < diagnosis->stall_count; i++)
        assert_true(diagnosis->stalls[i].share_frac > 0 && diagnosis->stalls[i].share_frac <= 1);
    for (i = 1; i < diagnosis->bar_count; i++)
        assert_true(diagnosis->bars[i].busy_frac <= diagnosis->bars[i - 1].busy_frac);
}

const ridge_finding *finding_of(const ridge_diagnosis *diagnosis, const char *id)
{
    size_t i;

    for (i = 0; i < diagnosis->finding_count; i++)
        if (strcmp(diagnosis->findings[i].id, id) == 0)
            return &diagnosis->findings[i];
    return NULL;
}

const ridge_not_now *not_now_of(const ridge_diagnosis *diagnosis, const char *id)
{
    size_t i;

    for (i = 0; i < diagnosis->not_now_count; i++)
        if (strcmp(diagnosis->not_now[i].id, id) == 0)
            return &diagnosis->not_now[i];
    return NULL;
}
