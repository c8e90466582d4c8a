/* SPDX-License-Identifier: Apache-2.0 */
#include "report_builder.h"

#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

static ridge_report *open_blocks(const build_block *blocks, size_t count, file_bytes *file)
{
    *file = build_report(blocks, count);
    return build_open(file);
}

static void close_report(ridge_report *report, file_bytes *file)
{
    ridge_report_free(report);
    support_release(file);
}

static ridge_metric metric_of(const ridge_kernel *kernel, const char *name)
{
    ridge_metric metric;

    if (!ridge_kernel_metric(kernel, name, &metric))
        fail_msg("no metric %s", name);
    assert_string_equal(metric.name, name);
    return metric;
}

static double number_of(const ridge_kernel *kernel, const char *name)
{
    double number;

    if (!ridge_kernel_number(kernel, name, &number))
        fail_msg("no number %s", name);
    return number;
}

/* -- values ------------------------------------------------------------------------------------ */

static struct value_case {
    const char *name;
    build_value stored;
    bool is_number; /* ridge_kernel_number() gives one */
    double number;
} value_cases[] = {
    {"a double", V_NUMBER(0.1), true, 0.1},
    {"zero", V_NUMBER(0), true, 0},
    {"minus zero", V_NUMBER(-0.0), true, -0.0},
    {"not a number", V_NUMBER(NAN), true, NAN},
    {"infinity", V_NUMBER(INFINITY), true, INFINITY},
    {"the smallest double", V_NUMBER(4.9406564584124654e-324), true, 4.9406564584124654e-324},
    {"a float", V_FLOAT(0.5), true, 0.5},
    {"a count", V_COUNT(42), true, 42},
    {"a count of zero", V_COUNT(0), true, 0},
    {"a count of 32 bits", V_COUNT_32(0xffffffff), true, 4294967295.0},
    {"a count beyond 2^53", V_COUNT(UINT64_C(9007199254740993)), true, 9007199254740992.0},
    {"the largest count", V_COUNT(UINT64_MAX), true, 18446744073709551616.0},
    {"a text", V_TEXT("PolicySpread"), false, 0},
    {"an empty text", V_TEXT(""), false, 0},
    {"no aggregate", V_NONE, false, 0},
};

static void reads_values(void **state)
{
    const struct value_case *const test = *state;
    const build_metric metrics[] = {{.name = "other__metric", .value = V_NUMBER(1)},
                                    {.name = "some__metric", .value = test->stored}};
    const build_result result = {.name = "k", .metrics = metrics, .metric_count = 2};
    const build_block block = {.results = &result, .result_count = 1};
    file_bytes file;
    ridge_report *const report = open_blocks(&block, 1, &file);
    const ridge_kernel *const kernel = ridge_report_kernel(report, 0);
    const ridge_metric metric = metric_of(kernel, "some__metric");
    double number = 7;

    assert_int_equal(metric.value.kind, test->stored.kind);
    assert_int_equal(ridge_kernel_number(kernel, "some__metric", &number), test->is_number);
    if (test->is_number) {
        assert_memory_equal(&metric.value.number, &number, sizeof(number));
        if (isnan(test->number))
            assert_true(isnan(number));
        else
            assert_memory_equal(&number, &test->number, sizeof(number));
    } else {
        assert_true(number == 7);
    }
    if (test->stored.kind == RIDGE_VALUE_COUNT)
        assert_true(metric.value.count == test->stored.count);
    if (test->stored.kind == RIDGE_VALUE_TEXT) {
        assert_int_equal(metric.value.text_length, strlen(test->stored.text));
        assert_memory_equal(metric.value.text, test->stored.text, metric.value.text_length);
    }
    assert_int_equal(metric.instance_count, 0);
    close_report(report, &file);
}

static void absent_is_not_zero(void **state)
{
    const build_metric metrics[] = {{.name = "a", .value = V_NUMBER(0)}};
    const build_result result = {.name = "k", .metrics = metrics, .metric_count = 1};
    const build_block block = {.results = &result, .result_count = 1};
    file_bytes file;
    ridge_report *const report = open_blocks(&block, 1, &file);
    const ridge_kernel *const kernel = ridge_report_kernel(report, 0);
    const ridge_kernel_info *const info = ridge_kernel_get_info(kernel);
    ridge_metric metric;
    ridge_rule rule;
    double number;

    assert_false(ridge_kernel_metric(kernel, "b", &metric));
    assert_null(metric.name);
    assert_int_equal(metric.value.kind, RIDGE_VALUE_ABSENT);
    assert_false(ridge_kernel_number(kernel, "b", &number));
    assert_false(ridge_kernel_metric(kernel, "", &metric));
    assert_true(ridge_kernel_metric_at(kernel, 0, &metric));
    assert_false(ridge_kernel_metric_at(kernel, 1, &metric));
    assert_false(ridge_kernel_metric_at(kernel, SIZE_MAX, &metric));
    assert_false(ridge_kernel_rule_at(kernel, 0, &rule));
    assert_null(ridge_report_kernel(report, 1));
    assert_null(ridge_report_module(report, 0));
    assert_null(ridge_kernel_module(kernel));
    assert_null(ridge_report_warning(report, 0));
    assert_false(ridge_report_is_damaged(report));
    assert_null(info->demangled_name);
    assert_null(info->mangled_name);
    assert_null(info->gpu_name);
    assert_true(isnan(info->duration_ns));
    assert_int_equal(info->clocks_locked, -1);
    assert_int_equal(info->cc_major, 0);
    assert_int_equal(info->sm_count, 0);
    assert_int_equal(info->grid[0], 0);
    assert_null(ridge_report_session(report)->host_name);
    close_report(report, &file);
    (void)state;
}

/* -- instances --------------------------------------------------------------------------------- */

static void reads_instances(void **state)
{
    static const build_instance by_pc[] = {
        {V_COUNT(UINT64_C(0x7f80537a0000)), V_COUNT(8448)},
        {V_COUNT(UINT64_C(0x7f80537a0010)), V_NUMBER(0.5)},
        {V_COUNT(UINT64_MAX), V_COUNT(UINT64_MAX)},
    };
    static const build_instance by_text[] = {{V_TEXT("LDG.E.U16"), V_COUNT(3)},
                                             {V_TEXT(""), V_NUMBER(NAN)}};
    static const build_instance without_id[] = {
        {V_NONE, V_NUMBER(1)}, {V_NONE, V_NONE}, {V_NONE, V_TEXT("x")}};
    static const build_metric metrics[] = {
        {"inst_executed", V_NONE, by_pc, 3, 0},
        {"sass__inst_executed_per_opcode", V_NUMBER(3), by_text, 2, 0},
        {"series", V_NONE, without_id, 3, 0},
        {"none", V_NUMBER(3), NULL, 0, 0},
    };
    const build_result result = {.name = "k", .metrics = metrics, .metric_count = 4};
    const build_block block = {.results = &result, .result_count = 1};
    file_bytes file;
    ridge_report *const report = open_blocks(&block, 1, &file);
    const ridge_kernel *const kernel = ridge_report_kernel(report, 0);
    size_t m, i;

    for (m = 0; m < COUNT_OF(metrics); m++) {
        const ridge_metric metric = metric_of(kernel, metrics[m].name);
        ridge_instances instances = ridge_instances_of(&metric);
        ridge_instance got;

        assert_int_equal(metric.instance_count, metrics[m].instance_count);
        for (i = 0; i < metrics[m].instance_count; i++) {
            const build_instance *const want = &metrics[m].instances[i];

            assert_true(ridge_instances_next(&instances, &got));
            assert_int_equal(got.id.kind, want->id.kind);
            assert_true(got.id.count == want->id.count);
            assert_int_equal(got.value.kind, want->value.kind);
            assert_true(got.value.count == want->value.count);
            if (want->id.kind == RIDGE_VALUE_TEXT) {
                assert_int_equal(got.id.text_length, strlen(want->id.text));
                assert_memory_equal(got.id.text, want->id.text, got.id.text_length);
            }
        }
        assert_false(ridge_instances_next(&instances, &got));
        assert_false(ridge_instances_next(&instances, &got));
        assert_int_equal(got.value.kind, RIDGE_VALUE_ABSENT);
    }
    close_report(report, &file);
    (void)state;
}

/* -- names ------------------------------------------------------------------------------------- */

static void last_of_a_name_wins(void **state)
{
    static const build_instance instance = {V_COUNT(1), V_COUNT(2)};
    static const build_metric metrics[] = {{"a", V_NUMBER(1), &instance, 1, 0},
                                           {"b", V_NUMBER(2), NULL, 0, 0},
                                           {"a", V_NUMBER(3), NULL, 0, 0}};
    const build_result result = {.name = "k", .metrics = metrics, .metric_count = 3};
    const build_block block = {.results = &result, .result_count = 1};
    file_bytes file;
    ridge_report *const report = open_blocks(&block, 1, &file);
    const ridge_kernel *const kernel = ridge_report_kernel(report, 0);

    assert_int_equal(ridge_kernel_get_info(kernel)->metric_count, 2);
    assert_true(number_of(kernel, "a") == 3);
    assert_int_equal(metric_of(kernel, "a").instance_count, 0);
    assert_true(number_of(kernel, "b") == 2);
    close_report(report, &file);
    (void)state;
}

/* A table may repeat a name, in one block or over two: the id says which is meant, the name finds
 * whichever the kernel has. */
static void finds_repeated_names(void **state)
{
    static const char *const first[] = {"a", "b", "a"};
    static const char *const second[] = {"b", "c"};
    static const build_metric one[] = {{.value = V_NUMBER(1), .name_id = 2},
                                       {.value = V_NUMBER(2), .name_id = 3}};
    static const build_metric two[] = {{.value = V_NUMBER(3), .name_id = 0},
                                       {.value = V_NUMBER(4), .name_id = 2},
                                       {.value = V_NUMBER(5), .name_id = 4}};
    const build_result results[] = {{.name = "k", .metrics = one, .metric_count = 2},
                                    {.name = "l", .metrics = two, .metric_count = 3}};
    const build_block blocks[] = {
        {.strings = first, .string_count = 3, .results = &results[0], .result_count = 1},
        {.strings = second, .string_count = 2, .results = &results[1], .result_count = 1}};
    file_bytes file;
    ridge_report *const report = open_blocks(blocks, 2, &file);
    const ridge_kernel *kernel = ridge_report_kernel(report, 0);

    assert_true(number_of(kernel, "a") == 1);
    assert_true(number_of(kernel, "b") == 2);
    kernel = ridge_report_kernel(report, 1);
    assert_int_equal(ridge_kernel_get_info(kernel)->metric_count, 2);
    assert_true(number_of(kernel, "a") == 4); /* the last of a name wins */
    assert_true(number_of(kernel, "c") == 5);
    close_report(report, &file);
    (void)state;
}

static void appends_string_tables(void **state)
{
    static const char *const first[] = {"a", "b"};
    static const char *const second[] = {"c"};
    static const build_metric metrics[] = {{.name = "a", .value = V_NUMBER(1)},
                                           {.name = "c", .value = V_NUMBER(3)}};
    const build_result result = {.name = "k", .metrics = metrics, .metric_count = 2};
    /* The result stands before both tables. */
    const build_block blocks[] = {{.results = &result, .result_count = 1},
                                  {.strings = first, .string_count = 2},
                                  {.strings = second, .string_count = 1}};
    file_bytes file;
    ridge_report *const report = open_blocks(blocks, 3, &file);
    const ridge_kernel *const kernel = ridge_report_kernel(report, 0);

    assert_int_equal(ridge_report_warning_count(report), 0);
    assert_true(number_of(kernel, "a") == 1);
    assert_true(number_of(kernel, "c") == 3);
    close_report(report, &file);
    (void)state;
}

static void many_names(void **state)
{
    enum { MANY = 3000 };
    static char texts[MANY][16];
    static build_metric metrics[MANY];
    const build_result result = {.name = "k", .metrics = metrics, .metric_count = MANY};
    const build_block block = {.results = &result, .result_count = 1};
    file_bytes file;
    ridge_report *report;
    size_t i;

    for (i = 0; i < MANY; i++) {
        snprintf(texts[i], sizeof(texts[i]), "metric__%zu", i);
        metrics[i] = (build_metric){.name = texts[i], .value = V_COUNT(i)};
    }
    report = open_blocks(&block, 1, &file);
    for (i = 0; i < MANY; i++)
        assert_true(number_of(ridge_report_kernel(report, 0), texts[i]) == (double)i);
    close_report(report, &file);
    (void)state;
}

static void names_out_of_range(void **state)
{
    static const build_metric metrics[] = {{.name = "a", .value = V_NUMBER(1)},
                                           {.value = V_NUMBER(2), .name_id = 1},
                                           {.value = V_NUMBER(3), .name_id = UINT32_MAX},
                                           {.value = V_NUMBER(4), .name_id = UINT64_MAX},
                                           {.value = V_NUMBER(5), .name_id = UINT64_C(1) << 32}};
    const build_result result = {.name = "k", .metrics = metrics, .metric_count = 5};
    const build_block block = {.results = &result, .result_count = 1};
    file_bytes file;
    ridge_report *const report = open_blocks(&block, 1, &file);

    assert_int_equal(ridge_kernel_get_info(ridge_report_kernel(report, 0))->metric_count, 1);
    assert_true(number_of(ridge_report_kernel(report, 0), "a") == 1);
    assert_int_equal(ridge_report_warning_count(report), 1);
    assert_non_null(strstr(ridge_report_warning(report, 0),
                           "4 metrics refer to a name beyond the 1 in the string table"));
    assert_true(ridge_report_is_damaged(report));
    close_report(report, &file);
    (void)state;
}

/* -- session ----------------------------------------------------------------------------------- */

static void merges_the_session(void **state)
{
    static const build_session pieces[] = {
        {.created_s = 1700000000, .host_name = "first", .operating_system = "Linux"},
        {.version_name = "CUDA Version", .version = "13.0"},
        {.version_name = "Display Driver Version", .version = "580.1"},
        {.version_name = "Nsight Compute Target", .version = "2025.3.1.0"},
        {.version_name = "PerfWorks", .version = "1"},
        {.device_name = "NVIDIA H200", .device_sms = 132, .device_cc_major = 9},
        {.host_name = "second", .command_line = "ncu app"},
        {.version_name = "CUDA Version", .version = ""},
    };
    const build_result result = {.name = "k"};
    build_block blocks[COUNT_OF(pieces) + 1] = {{.results = &result, .result_count = 1}};
    const ridge_kernel_info *info;
    const ridge_session *session;
    file_bytes file;
    ridge_report *report;
    size_t i;

    for (i = 0; i < COUNT_OF(pieces); i++) {
        blocks[i + 1].session = &pieces[i];
        blocks[i + 1].process_name = "app";
        blocks[i + 1].host_name = "of the process";
    }
    report = open_blocks(blocks, COUNT_OF(blocks), &file);
    session = ridge_report_session(report);
    assert_true(session->created_s == 1700000000);
    assert_string_equal(session->cuda_version, "13.0");
    assert_string_equal(session->driver_version, "580.1");
    assert_string_equal(session->profiler_version, "2025.3.1.0");
    assert_string_equal(session->host_name, "second");
    assert_string_equal(session->operating_system, "Linux");
    assert_string_equal(session->command_line, "ncu app");
    assert_string_equal(session->process_name, "app");
    /* A result in front of the devices knows its device all the same. */
    info = ridge_kernel_get_info(ridge_report_kernel(report, 0));
    assert_string_equal(info->gpu_name, "NVIDIA H200");
    assert_int_equal(info->sm_count, 132);
    assert_int_equal(info->cc_major, 9);
    close_report(report, &file);
    (void)state;
}

/* -- kernels ----------------------------------------------------------------------------------- */

static void reads_a_kernel(void **state)
{
    static const build_metric metrics[] = {
        {.name = "gpu__time_duration.sum", .value = V_NUMBER(444992)},
        {.name = "device__attribute_display_name", .value = V_TEXT("NVIDIA A100")},
        {.name = "device__attribute_compute_capability_major", .value = V_COUNT(8)},
        {.name = "device__attribute_compute_capability_minor", .value = V_COUNT(6)},
        {.name = "device__attribute_multiprocessor_count", .value = V_COUNT(108)},
    };
    static const build_session session = {
        .device_name = "another", .device_sms = 2, .device_cc_major = 7};
    const build_result result = {.name = "copy",
                                 .mangled = "_Z4copyIfEvPT_",
                                 .demangled = "void copy<float>(float *)",
                                 .grid = {8192, 3, 4},
                                 .block = {128, 2, 1},
                                 .context_id = 1,
                                 .stream_id = UINT64_MAX,
                                 .clocks = 2,
                                 .metrics = metrics,
                                 .metric_count = COUNT_OF(metrics)};
    const build_block block = {.session = &session, .results = &result, .result_count = 1};
    file_bytes file;
    ridge_report *const report = open_blocks(&block, 1, &file);
    const ridge_kernel_info *const info = ridge_kernel_get_info(ridge_report_kernel(report, 0));

    assert_int_equal(info->kind, RIDGE_RESULT_KERNEL);
    assert_string_equal(info->name, "copy");
    assert_string_equal(info->mangled_name, "_Z4copyIfEvPT_");
    assert_string_equal(info->demangled_name, "void copy<float>(float *)");
    assert_int_equal(info->grid[0], 8192);
    assert_int_equal(info->grid[1], 3);
    assert_int_equal(info->grid[2], 4);
    assert_int_equal(info->block[0], 128);
    assert_int_equal(info->block[1], 2);
    assert_int_equal(info->block[2], 1);
    assert_true(info->context_id == 1);
    assert_true(info->stream_id == UINT64_MAX);
    assert_int_equal(info->clocks_locked, 0);
    assert_true(info->duration_ns == 444992);
    assert_string_equal(info->gpu_name, "NVIDIA A100"); /* its own before the session's */
    assert_int_equal(info->cc_major, 8);
    assert_int_equal(info->cc_minor, 6);
    assert_int_equal(info->sm_count, 108);
    assert_int_equal(info->metric_count, COUNT_OF(metrics));
    close_report(report, &file);
    (void)state;
}

static void names_of_a_kernel(void **state)
{
    static const build_result results[] = {
        {.name = NULL},
        {.name = "k", .demangled = "k()", .renamed = "renamed()", .clocks = 1},
    };
    const build_block block = {.results = results, .result_count = 2};
    file_bytes file;
    ridge_report *const report = open_blocks(&block, 1, &file);

    assert_string_equal(ridge_kernel_get_info(ridge_report_kernel(report, 0))->name, "?");
    assert_string_equal(ridge_kernel_get_info(ridge_report_kernel(report, 1))->demangled_name,
                        "renamed()");
    assert_int_equal(ridge_kernel_get_info(ridge_report_kernel(report, 1))->clocks_locked, 1);
    close_report(report, &file);
    (void)state;
}

static struct kind_case {
    const char *name; /* of the result */
    ridge_result_kind kind;
    bool has_parts; /* module, rules, clocks and context are known */
    bool has_stream;
} kind_cases[] = {
    {"range", RIDGE_RESULT_RANGE, true, false},
    {"command list", RIDGE_RESULT_COMMAND_LIST, false, false},
    {"graph", RIDGE_RESULT_GRAPH, true, true},
};

static void reads_other_results(void **state)
{
    const struct kind_case *const test = *state;
    static const build_source source = {.reference = 1, .binary = "x", .binary_bytes = 1};
    static const build_rule rule = {"Id", "Name", "Section", "Title", "Message", 1, 50, false};
    static const build_metric metrics[] = {
        {.name = "gpu__time_duration.sum", .value = V_NUMBER(10)},
        {.name = "launch__grid_size", .value = V_COUNT(7)}};
    const build_result results[] = {{.name = "k", .metrics = metrics, .metric_count = 1},
                                    {.kind = test->kind,
                                     .metrics = metrics,
                                     .metric_count = 2,
                                     .rules = &rule,
                                     .rule_count = 1,
                                     .module = 1,
                                     .context_id = 3,
                                     .stream_id = 5,
                                     .clocks = 1}};
    const build_block block = {
        .sources = &source, .source_count = 1, .results = results, .result_count = 2};
    file_bytes file;
    ridge_report *const report = open_blocks(&block, 1, &file);
    const ridge_kernel *kernel;
    const ridge_kernel_info *info;
    ridge_rule got;

    assert_int_equal(ridge_report_kernel_count(report), 2);
    assert_int_equal(ridge_report_warning_count(report), 0);
    kernel = ridge_report_kernel(report, 1);
    info = ridge_kernel_get_info(kernel);
    assert_int_equal(info->kind, test->kind);
    assert_string_equal(info->name, test->name);
    assert_int_equal(info->metric_count, 2);
    assert_true(info->duration_ns == 10);
    assert_true(number_of(kernel, "launch__grid_size") == 7);
    assert_int_equal(info->rule_count, test->has_parts);
    assert_int_equal(info->context_id, test->has_parts ? 3 : 0);
    assert_int_equal(info->stream_id, test->has_stream ? 5 : 0);
    assert_int_equal(info->clocks_locked, test->has_parts ? 1 : -1);
    assert_int_equal(ridge_kernel_module(kernel) != NULL, test->has_parts);
    if (test->has_parts) {
        assert_true(ridge_kernel_rule_at(kernel, 0, &got));
        assert_string_equal(got.id, "Id");
        assert_true(got.speedup_frac == 0.5);
    }
    close_report(report, &file);
}

static void reads_rules(void **state)
{
    static const build_rule rules[] = {
        {"SOLBottleneck", "Bottleneck", "SpeedOfLight", "High Throughput", "This workload", 1, 0,
         false},
        {"CPIStall", "Stalls", "WarpStateStats", NULL, "Warps wait", 2, 50.5, true},
        {"Global", "G", "S", "T", "M", 3, 25, false},
    };
    const build_result result = {.name = "k", .rules = rules, .rule_count = 3};
    const build_block block = {.results = &result, .result_count = 1};
    file_bytes file;
    ridge_report *const report = open_blocks(&block, 1, &file);
    const ridge_kernel *const kernel = ridge_report_kernel(report, 0);
    ridge_rule rule;

    assert_int_equal(ridge_kernel_get_info(kernel)->rule_count, 3);
    assert_true(ridge_kernel_rule_at(kernel, 0, &rule));
    assert_string_equal(rule.id, "SOLBottleneck");
    assert_string_equal(rule.name, "Bottleneck");
    assert_string_equal(rule.section, "SpeedOfLight");
    assert_string_equal(rule.title, "High Throughput");
    assert_string_equal(rule.message, "This workload");
    assert_int_equal(rule.type, 1);
    assert_true(isnan(rule.speedup_frac));
    assert_int_equal(rule.speedup_is_global, -1);
    assert_true(ridge_kernel_rule_at(kernel, 1, &rule));
    assert_null(rule.title);
    assert_int_equal(rule.type, 2);
    assert_true(rule.speedup_frac == 0.505);
    assert_int_equal(rule.speedup_is_global, 0);
    assert_true(ridge_kernel_rule_at(kernel, 2, &rule));
    assert_int_equal(rule.speedup_is_global, 1);
    assert_false(ridge_kernel_rule_at(kernel, 3, &rule));
    assert_null(rule.id);
    close_report(report, &file);
    (void)state;
}

/* -- modules ----------------------------------------------------------------------------------- */

static void reads_modules(void **state)
{
    static const build_source sources[] = {
        {.reference = 7,
         .binary = "cubin",
         .binary_bytes = 5,
         .cc_major = 9,
         .path = "a.cu",
         .text = "one\r\n\ntwo"},
        /* A second message of the same module brings only the relocation. */
        {.reference = 7, .function = "_Z1kv", .address = UINT64_C(0x7f0000001000)},
        {.reference = 8, .function = "_Z1kv", .address = 16, .path = "b.cu"},
    };
    static const build_result results[] = {{.name = "k", .mangled = "_Z1kv", .module = 7},
                                           {.name = "k", .mangled = "_Z1lv", .module = 7},
                                           {.name = "k", .mangled = "_Z1kv", .module = 8},
                                           {.name = "k", .mangled = "_Z1kv", .module = 9},
                                           {.name = "k", .module = 7}};
    const build_block block = {
        .sources = sources, .source_count = 3, .results = results, .result_count = 5};
    file_bytes file;
    ridge_report *const report = open_blocks(&block, 1, &file);
    const ridge_module *module = ridge_kernel_module(ridge_report_kernel(report, 0));
    const ridge_source_file *source;
    uint64_t address = 1;
    size_t length;

    assert_int_equal(ridge_report_module_count(report), 2);
    assert_true(module->reference == 7);
    assert_int_equal(module->cc_major, 9);
    assert_int_equal(module->binary_bytes, 5);
    assert_memory_equal(module->binary, "cubin", 5);
    assert_true(ridge_kernel_code_address(ridge_report_kernel(report, 0), &address));
    assert_true(address == UINT64_C(0x7f0000001000));
    assert_int_equal(ridge_kernel_get_info(ridge_report_kernel(report, 0))->cc_major, 9);
    assert_false(ridge_kernel_code_address(ridge_report_kernel(report, 1), &address));
    assert_true(ridge_kernel_code_address(ridge_report_kernel(report, 2), &address));
    assert_true(address == 16);
    assert_null(ridge_kernel_module(ridge_report_kernel(report, 2))->binary);
    assert_null(ridge_kernel_module(ridge_report_kernel(report, 3)));
    assert_false(ridge_kernel_code_address(ridge_report_kernel(report, 3), &address));
    assert_false(ridge_kernel_code_address(ridge_report_kernel(report, 4), &address));

    assert_int_equal(module->file_count, 1);
    assert_null(ridge_module_file(module, "b.cu"));
    source = ridge_module_file(module, "a.cu");
    assert_memory_equal(ridge_source_line(source, 1, &length), "one", 3);
    assert_int_equal(length, 3);
    assert_non_null(ridge_source_line(source, 2, &length));
    assert_int_equal(length, 0);
    assert_memory_equal(ridge_source_line(source, 3, &length), "two", 3);
    assert_int_equal(length, 3);
    assert_null(ridge_source_line(source, 4, &length));
    assert_null(ridge_source_line(source, UINT32_MAX, &length));
    assert_null(ridge_source_line(source, 0, &length));
    assert_int_equal(length, 0);
    source = ridge_module_file(ridge_kernel_module(ridge_report_kernel(report, 2)), "b.cu");
    assert_null(source->text);
    assert_null(ridge_source_line(source, 1, &length));
    close_report(report, &file);
    (void)state;
}

/* References are unique in a process only: the second one brings another cubin under the same. */
static void a_second_process_reuses_references(void **state)
{
    static const build_source first = {
        .reference = 1, .binary = "first", .binary_bytes = 5, .function = "_Z1kv", .address = 16};
    static const build_source again = {.reference = 1, .binary = "first", .binary_bytes = 5};
    static const build_source second = {
        .reference = 1, .binary = "other", .binary_bytes = 5, .function = "_Z1kv", .address = 32};
    static const build_result result = {.name = "k", .mangled = "_Z1kv", .module = 1};
    const build_block blocks[] = {
        {.sources = &first, .source_count = 1, .results = &result, .result_count = 1},
        {.sources = &again, .source_count = 1, .results = &result, .result_count = 1},
        {.sources = &second, .source_count = 1, .results = &result, .result_count = 1}};
    static const char *const binaries[] = {"first", "first", "other"};
    static const uint64_t addresses[] = {16, 16, 32};
    file_bytes file;
    ridge_report *const report = open_blocks(blocks, 3, &file);
    uint64_t address;
    size_t i;

    assert_int_equal(ridge_report_module_count(report), 2);
    for (i = 0; i < 3; i++) {
        const ridge_kernel *const kernel = ridge_report_kernel(report, i);

        assert_memory_equal(ridge_kernel_module(kernel)->binary, binaries[i], 5);
        assert_true(ridge_kernel_code_address(kernel, &address));
        assert_true(address == addresses[i]);
    }
    close_report(report, &file);
    (void)state;
}

static void a_module_may_come_late(void **state)
{
    static const build_source source = {.reference = 1, .binary = "x", .binary_bytes = 1};
    static const build_result result = {.name = "k", .module = 1};
    const build_block blocks[] = {{.results = &result, .result_count = 1},
                                  {.sources = &source, .source_count = 1}};
    file_bytes file;
    ridge_report *const report = open_blocks(blocks, 2, &file);

    assert_non_null(ridge_kernel_module(ridge_report_kernel(report, 0)));
    close_report(report, &file);
    (void)state;
}

/* -- damage ------------------------------------------------------------------------------------ */

/* What all cases of damage start from. */
static file_bytes sample_file(void)
{
    static const build_instance instances[] = {{V_COUNT(4096), V_COUNT(1)},
                                               {V_TEXT("LDG"), V_NUMBER(2)}};
    static const build_metric metrics[] = {{"a", V_NUMBER(1), NULL, 0, 0},
                                           {"inst_executed", V_NONE, instances, 2, 0},
                                           {"c", V_TEXT("text"), NULL, 0, 0}};
    static const build_rule rule = {"Id", "Name", "Section", "Title", "Message", 1, 50, false};
    static const build_session session = {
        .host_name = "host", .device_name = "GPU", .device_sms = 4, .command_line = "ncu"};
    static const build_source source = {.reference = 1,
                                        .binary = "\177ELF",
                                        .binary_bytes = 4,
                                        .cc_major = 9,
                                        .function = "_Z1kv",
                                        .address = 4096,
                                        .path = "a.cu",
                                        .text = "line"};
    static const build_result results[] = {{.name = "k",
                                            .mangled = "_Z1kv",
                                            .demangled = "k()",
                                            .grid = {1, 1, 1},
                                            .block = {32, 1, 1},
                                            .module = 1,
                                            .clocks = 1,
                                            .metrics = metrics,
                                            .metric_count = 3,
                                            .rules = &rule,
                                            .rule_count = 1},
                                           {.kind = RIDGE_RESULT_RANGE,
                                            .metrics = metrics,
                                            .metric_count = 3,
                                            .rules = &rule,
                                            .rule_count = 1}};
    const build_block blocks[] = {
        {.session = &session},
        {.process_name = "app",
         .host_name = "host",
         .sources = &source,
         .source_count = 1,
         .results = results,
         .result_count = 2},
        {.results = results, .result_count = 1},
    };

    return build_report(blocks, 3);
}

/* Reads all there is; a sanitizer watches. */
static size_t read_all(const ridge_report *report)
{
    size_t sum = 0, k, i;

    for (i = 0; i < ridge_report_warning_count(report); i++)
        sum += strlen(ridge_report_warning(report, i));
    for (i = 0; i < ridge_report_module_count(report); i++)
        sum += ridge_report_module(report, i)->file_count;
    for (k = 0; k < ridge_report_kernel_count(report); k++) {
        const ridge_kernel *const kernel = ridge_report_kernel(report, k);
        ridge_metric metric;
        ridge_rule rule;

        sum += strlen(ridge_kernel_get_info(kernel)->name);
        for (i = 0; ridge_kernel_metric_at(kernel, i, &metric); i++) {
            ridge_instances instances = ridge_instances_of(&metric);
            ridge_instance instance;
            size_t count = 0;

            assert_non_null(metric.unit);
            if (metric.value.kind == RIDGE_VALUE_TEXT && metric.value.text_length > 0)
                sum += (unsigned char)metric.value.text[metric.value.text_length - 1];
            while (ridge_instances_next(&instances, &instance))
                count++;
            assert_int_equal(count, metric.instance_count);
        }
        for (i = 0; ridge_kernel_rule_at(kernel, i, &rule); i++)
            sum += rule.id != NULL ? strlen(rule.id) : 0;
    }
    return sum;
}

/* Opens a copy of exactly size bytes. False when it does not open; then the error is in order. */
static bool opens(const uint8_t *data, size_t size, bool *is_damaged)
{
    file_bytes copy = {malloc(size > 0 ? size : 1), size};
    ridge_report *report = NULL;
    ridge_error err = {RIDGE_OK, ""};
    ridge_status status;

    assert_non_null(copy.data);
    memcpy(copy.data, data, size);
    status = ridge_report_read(copy.data, size, "test", &report, &err);
    if (status == RIDGE_OK) {
        assert_non_null(report);
        read_all(report);
        *is_damaged = ridge_report_is_damaged(report);
        assert_true(!*is_damaged || ridge_report_warning_count(report) > 0);
    } else {
        assert_int_equal(status, RIDGE_ERR_FORMAT);
        assert_int_equal(err.status, status);
        assert_null(report);
        assert_true(err.text[0] != '\0');
        assert_null(strchr(err.text, '\n'));
    }
    ridge_report_free(report);
    support_release(&copy);
    return status == RIDGE_OK;
}

/* A file that ends with a whole block is a shorter report, every other cut is told. */
static void cut_at_every_byte(void **state)
{
    file_bytes file = sample_file();
    size_t intact = 0, size;
    bool is_damaged;

    for (size = 0; size < file.size; size++)
        if (opens(file.data, size, &is_damaged) && !is_damaged)
            intact++;
    assert_int_equal(intact, 1); /* the first two of three blocks */
    assert_true(opens(file.data, file.size, &is_damaged));
    assert_false(is_damaged);
    support_release(&file);
    (void)state;
}

static void every_bit_flipped(void **state)
{
    file_bytes file = sample_file();
    bool is_damaged;
    size_t i;

    for (i = 0; i < 8 * file.size; i++) {
        file.data[i / 8] ^= (uint8_t)(1u << i % 8);
        opens(file.data, file.size, &is_damaged);
        file.data[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    support_release(&file);
    (void)state;
}

/* Every byte in turn becomes the largest, so that every length and count does. */
static void every_byte_largest(void **state)
{
    file_bytes file = sample_file();
    bool is_damaged;
    size_t i, k;

    for (i = 0; i + 4 <= file.size; i++) {
        uint8_t kept[4];

        memcpy(kept, file.data + i, sizeof(kept));
        for (k = 1; k <= 4; k += 3) {
            memset(file.data + i, 0xff, k);
            opens(file.data, file.size, &is_damaged);
            memcpy(file.data + i, kept, sizeof(kept));
        }
    }
    support_release(&file);
    (void)state;
}

static struct bad_file {
    const char *name;
    const char *bytes;
    size_t size;
    const char *message;
} bad_files[] = {
    {"an empty file", "", 0, "empty"},
    {"one byte", "N", 1, "not an Nsight Compute report"},
    {"another magic", "NVX\0\2\0\0\0\10\7", 10, "not an Nsight Compute report"},
    {"an executable", "\177ELF\2\1\1\0", 8, "not an Nsight Compute report"},
    {"text", "hello, world\n", 13, "not an Nsight Compute report"},
    {"the magic alone", "NVR\0", 4, "cut in the file header"},
    {"a cut header", "NVR\0\2\0\0\0\10", 9, "cut in the file header"},
    {"a header of 4 GiB", "NVR\0\377\377\377\377\10\7", 10,
     "cut in the file header: it announces 4294967295 bytes"},
    {"no block", "NVR\0\2\0\0\0\10\7", 10, "no kernel result"},
    {"an empty block", "NVR\0\2\0\0\0\10\7\0\0\0\0", 14, "no kernel result"},
    {"a cut length", "NVR\0\2\0\0\0\10\7\0\0\0", 13, "cut at byte 13"},
    {"a block header of 4 GiB", "NVR\0\2\0\0\0\10\7\377\377\377\377", 14, "cut at byte 14"},
    {"a payload of 4 GiB", "NVR\0\2\0\0\0\10\7\6\0\0\0\x28\377\377\377\377\17", 20,
     "announces 4294967295 bytes, 0 are left"},
    {"a payload of 16 EiB", "NVR\0\2\0\0\0\10\7\13\0\0\0\x28\377\377\377\377\377\377\377\377\377\1",
     25, "announces 18446744073709551615 bytes"},
    {"a varint without end", "NVR\0\2\0\0\0\10\7\2\0\0\0\x28\377", 16, "malformed block header"},
    {"2^64-1 results in no byte",
     "NVR\0\2\0\0\0\10\7\13\0\0\0\x10\377\377\377\377\377\377\377\377\377\1", 25,
     "announces 18446744073709551615 more messages"},
};

static void rejects(void **state)
{
    const struct bad_file *const bad = *state;
    ridge_report *report = NULL;
    ridge_error err;
    file_bytes copy = {malloc(bad->size > 0 ? bad->size : 1), bad->size};

    assert_non_null(copy.data);
    memcpy(copy.data, bad->bytes, bad->size);
    assert_int_equal(ridge_report_read(copy.data, copy.size, "test", &report, &err),
                     RIDGE_ERR_FORMAT);
    assert_null(report);
    if (strstr(err.text, bad->message) == NULL)
        fail_msg("%s", err.text);
    assert_int_equal(ridge_report_read(copy.data, copy.size, "test", &report, NULL),
                     RIDGE_ERR_FORMAT);
    support_release(&copy);
}

/* What follows a whole kernel in the same file: it is lost, the kernel is not. */
static struct lie_case {
    const char *name;
    const char *payload;
    size_t payload_bytes;
    uint64_t results;
    const char *message;
} lie_cases[] = {
    {"more results than bytes", "", 0, 3, "announces 3 more messages than its payload of 0 bytes"},
    {"a result of 4 GiB", "\377\377\377\377\0\0", 6, 1, "announces 1 more messages"},
    {"a result that is cut", "\12\0\0\0\62", 5, 1, "announces 1 more messages"},
    {"a field of 4 GiB", "\6\0\0\0\62\377\377\377\377\17", 10, 1,
     "the kernel result is malformed, left out"},
    {"a group", "\2\0\0\0\63\64", 6, 1, "the kernel result is malformed, left out"},
    {"a field of number 0", "\2\0\0\0\0\0", 6, 1, "the kernel result is malformed, left out"},
    {"a malformed metric", "\4\0\0\0\152\2\10\377", 8, 1, "1 malformed metrics, left out"},
};

static void keeps_what_is_intact(void **state)
{
    const struct lie_case *const test = *state;
    wire out = {NULL, 0, 0}, header = {NULL, 0, 0}, payload = {NULL, 0, 0}, name = {NULL, 0, 0};
    file_bytes file;
    ridge_report *report;

    wire_file_start(&out);
    wire_text(&name, 6, "intact");
    wire_prefixed(&payload, &name);
    wire_varint(&header, 2, 1);
    wire_block(&out, &header, &payload);
    wire_raw(&payload, test->payload, test->payload_bytes);
    wire_varint(&header, 2, test->results);
    wire_block(&out, &header, &payload);
    file = wire_finish(&out);
    report = build_open(&file);
    assert_string_equal(ridge_kernel_get_info(ridge_report_kernel(report, 0))->name, "intact");
    assert_int_equal(ridge_report_warning_count(report), 1);
    assert_true(ridge_report_is_damaged(report));
    if (strstr(ridge_report_warning(report, 0), test->message) == NULL)
        fail_msg("%s", ridge_report_warning(report, 0));
    read_all(report);
    close_report(report, &file);
}

/* Fields that no version has, and a payload with more bytes than messages, are passed over. */
static void passes_over_unknown_fields(void **state)
{
    wire out = {NULL, 0, 0}, header = {NULL, 0, 0}, payload = {NULL, 0, 0}, result = {NULL, 0, 0};
    file_bytes file;
    ridge_report *report;

    wire_file_start(&out);
    wire_text(&result, 6, "k");
    wire_varint(&result, 99, 1);
    wire_double(&result, 98, 1);
    wire_text(&result, 97, "future");
    wire_float(&result, 536870911, 1);
    wire_prefixed(&payload, &result);
    wire_raw(&payload, "more", 4);
    wire_varint(&header, 2, 1);
    wire_text(&header, 77, "future");
    wire_block(&out, &header, &payload);
    file = wire_finish(&out);
    report = build_open(&file);
    assert_int_equal(ridge_report_kernel_count(report), 1);
    assert_int_equal(ridge_report_warning_count(report), 0);
    close_report(report, &file);
    (void)state;
}

static void warnings_are_bounded(void **state)
{
    static const build_metric metrics[] = {{.name = "a", .value = V_NUMBER(1)},
                                           {.value = V_NUMBER(2), .name_id = 9}};
    static build_result results[100];
    const build_block block = {.results = results, .result_count = 100};
    file_bytes file;
    ridge_report *report;
    size_t i;

    for (i = 0; i < 100; i++)
        results[i] = (build_result){.name = "k", .metrics = metrics, .metric_count = 2};
    report = open_blocks(&block, 1, &file);
    assert_int_equal(ridge_report_warning_count(report), 100);
    for (i = 0; i < 100; i++)
        assert_non_null(ridge_report_warning(report, i));
    assert_null(ridge_report_warning(report, 100));
    close_report(report, &file);
    (void)state;
}

/* -- memory ------------------------------------------------------------------------------------ */

static void survives_failing_allocations(void **state)
{
    file_bytes file = sample_file();
    ridge_report *report = NULL;
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    ridge_error err;
    size_t nth;

    for (nth = 1; status != RIDGE_OK; nth++) {
        report = (ridge_report *)(void *)&report;
        ridge_memory_fail_at(nth);
        status = ridge_report_read(file.data, file.size, "test", &report, &err);
        ridge_memory_fail_at(0);
        if (status != RIDGE_OK) {
            assert_int_equal(status, RIDGE_ERR_OUT_OF_MEMORY);
            assert_int_equal(err.status, RIDGE_ERR_OUT_OF_MEMORY);
            assert_null(report);
        }
        assert_true(nth < 1000);
    }
    assert_true(nth > 3);
    assert_int_equal(ridge_report_kernel_count(report), 3);
    close_report(report, &file);
    (void)state;
}

/* Kernels are many, so what one costs beside the file counts: allocations of a report of 200
 * kernels with 50 metrics each stay below what one a metric would be. */
static void allocations_do_not_follow_metrics(void **state)
{
    enum { KERNELS = 200, METRICS = 50 };
    static char texts[METRICS][16];
    static build_metric metrics[METRICS];
    static build_result results[KERNELS];
    const build_block block = {.results = results, .result_count = KERNELS};
    file_bytes file;
    ridge_report *report;
    size_t i;

    for (i = 0; i < METRICS; i++) {
        snprintf(texts[i], sizeof(texts[i]), "m%zu", i);
        metrics[i] = (build_metric){.name = texts[i], .value = V_COUNT(i)};
    }
    for (i = 0; i < KERNELS; i++)
        results[i] = (build_result){.name = "k", .metrics = metrics, .metric_count = METRICS};
    file = build_report(&block, 1);
    ridge_memory_fail_at(0);
    report = build_open(&file);
    assert_true(ridge_memory_fail_at(0) < KERNELS);
    close_report(report, &file);
    (void)state;
}

/* -- files ------------------------------------------------------------------------------------- */

static void fails_to_open(const char *path, const char *message)
{
    ridge_report *report = NULL;
    ridge_error err;

    assert_int_equal(ridge_report_open(path, &report, &err), RIDGE_ERR_IO);
    assert_null(report);
    assert_true(err.text[0] != '\0');
    if (strstr(err.text, message) == NULL)
        fail_msg("%s", err.text);
}

static void temporary_name(char *path, size_t size, const char *name)
{
    const char *const folder = getenv("TMPDIR");

    snprintf(path, size, "%s/ridge_test_report_%ld_%s", folder != NULL ? folder : "/tmp",
             (long)getpid(), name);
}

static void write_file(const char *path, const file_bytes *file)
{
    FILE *const stream = fopen(path, "wb");

    assert_non_null(stream);
    assert_int_equal(fwrite(file->data, 1, file->size, stream), file->size);
    assert_int_equal(fclose(stream), 0);
}

static void opens_a_file(void **state)
{
    file_bytes file = sample_file();
    ridge_report *report = NULL;
    char path[1024];

    temporary_name(path, sizeof(path), "whole");
    write_file(path, &file);
    assert_int_equal(ridge_report_open(path, &report, NULL), RIDGE_OK);
    unlink(path);
    assert_int_equal(ridge_report_kernel_count(report), 3);
    read_all(report);
    close_report(report, &file);
    (void)state;
}

static void no_such_file(void **state)
{
    char path[1024];

    temporary_name(path, sizeof(path), "missing");
    fails_to_open(path, "No such file");
    fails_to_open("", "");
    (void)state;
}

static void a_directory(void **state)
{
    fails_to_open(RIDGE_SOURCE_DIR, "irectory");
    (void)state;
}

static void a_pipe(void **state)
{
    char path[1024];

    temporary_name(path, sizeof(path), "pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(10); /* opening a pipe that nobody writes to would wait for ever */
    fails_to_open(path, "");
    alarm(0);
    unlink(path);
    (void)state;
}

static void no_permission(void **state)
{
    file_bytes file = {(uint8_t *)(void *)malloc(1), 1};
    char path[1024];

    if (geteuid() == 0) {
        support_release(&file);
        skip(); /* root may read everything */
    }
    file.data[0] = 'N';
    temporary_name(path, sizeof(path), "secret");
    write_file(path, &file);
    chmod(path, 0);
    fails_to_open(path, "ermission");
    unlink(path);
    support_release(&file);
    (void)state;
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, reads_values, value_cases);
    cases_add(&list, "absent is not zero", absent_is_not_zero, NULL);
    cases_add(&list, "instances", reads_instances, NULL);
    cases_add(&list, "the last of a name wins", last_of_a_name_wins, NULL);
    cases_add(&list, "repeated names", finds_repeated_names, NULL);
    cases_add(&list, "string tables are appended", appends_string_tables, NULL);
    cases_add(&list, "many names", many_names, NULL);
    cases_add(&list, "names out of range", names_out_of_range, NULL);
    cases_add(&list, "the session is merged", merges_the_session, NULL);
    cases_add(&list, "a kernel", reads_a_kernel, NULL);
    cases_add(&list, "names of a kernel", names_of_a_kernel, NULL);
    CASES_ADD_ROWS(&list, reads_other_results, kind_cases);
    cases_add(&list, "rules", reads_rules, NULL);
    cases_add(&list, "modules", reads_modules, NULL);
    cases_add(&list, "a second process", a_second_process_reuses_references, NULL);
    cases_add(&list, "a late module", a_module_may_come_late, NULL);
    CASES_ADD_ROWS(&list, rejects, bad_files);
    CASES_ADD_ROWS(&list, keeps_what_is_intact, lie_cases);
    cases_add(&list, "cut at every byte", cut_at_every_byte, NULL);
    cases_add(&list, "every bit flipped", every_bit_flipped, NULL);
    cases_add(&list, "every byte the largest", every_byte_largest, NULL);
    cases_add(&list, "unknown fields", passes_over_unknown_fields, NULL);
    cases_add(&list, "many warnings", warnings_are_bounded, NULL);
    cases_add(&list, "failing allocations", survives_failing_allocations, NULL);
    cases_add(&list, "few allocations", allocations_do_not_follow_metrics, NULL);
    cases_add(&list, "a file", opens_a_file, NULL);
    cases_add(&list, "a missing file", no_such_file, NULL);
    cases_add(&list, "a directory", a_directory, NULL);
    cases_add(&list, "a pipe", a_pipe, NULL);
    cases_add(&list, "no permission", no_permission, NULL);
    return cases_run(&list, "report");
}
