/* SPDX-License-Identifier: Apache-2.0 */
#include "report_builder.h"

#include <math.h>

static ridge_metric metric_of(const ridge_report_kernel *kernel, const char *name)
{
    ridge_metric metric;

    if (!ridge_report_kernel_metric(kernel, name, &metric))
        fail_msg("no metric %s", name);
    assert_string_equal(metric.name, name);
    return metric;
}

static double number_of(const ridge_report_kernel *kernel, const char *name)
{
    double number;

    if (!ridge_report_kernel_number(kernel, name, &number))
        fail_msg("no number %s", name);
    return number;
}

/* -- values ------------------------------------------------------------------------------------ */

static struct value_case {
    const char *name;
    build_value stored;
    bool is_number; /* ridge_report_kernel_number() gives one */
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
    ridge_report *const report = build_open_blocks(&block, 1, &file);
    const ridge_report_kernel *const kernel = ridge_report_kernel_at(report, 0);
    const ridge_metric metric = metric_of(kernel, "some__metric");
    double number = 7;

    assert_int_equal(metric.value.kind, test->stored.kind);
    assert_int_equal(ridge_report_kernel_number(kernel, "some__metric", &number), test->is_number);
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
    build_close(report, &file);
}

static void absent_is_not_zero(void **state)
{
    const build_metric metrics[] = {{.name = "a", .value = V_NUMBER(0)}};
    const build_result result = {.name = "k", .metrics = metrics, .metric_count = 1};
    const build_block block = {.results = &result, .result_count = 1};
    file_bytes file;
    ridge_report *const report = build_open_blocks(&block, 1, &file);
    const ridge_report_kernel *const kernel = ridge_report_kernel_at(report, 0);
    const ridge_report_kernel_info *const info = ridge_report_kernel_get_info(kernel);
    ridge_metric metric;
    ridge_rule rule;
    double number;

    assert_false(ridge_report_kernel_metric(kernel, "b", &metric));
    assert_null(metric.name);
    assert_int_equal(metric.value.kind, RIDGE_VALUE_ABSENT);
    assert_false(ridge_report_kernel_number(kernel, "b", &number));
    assert_false(ridge_report_kernel_metric(kernel, "", &metric));
    assert_true(ridge_report_kernel_metric_at(kernel, 0, &metric));
    assert_false(ridge_report_kernel_metric_at(kernel, 1, &metric));
    assert_false(ridge_report_kernel_metric_at(kernel, SIZE_MAX, &metric));
    assert_false(ridge_report_kernel_rule_at(kernel, 0, &rule));
    assert_null(ridge_report_kernel_at(report, 1));
    assert_null(ridge_report_module(report, 0));
    assert_null(ridge_report_kernel_module(kernel));
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
    build_close(report, &file);
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
    ridge_report *const report = build_open_blocks(&block, 1, &file);
    const ridge_report_kernel *const kernel = ridge_report_kernel_at(report, 0);
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
    build_close(report, &file);
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
    ridge_report *const report = build_open_blocks(&block, 1, &file);
    const ridge_report_kernel *const kernel = ridge_report_kernel_at(report, 0);

    assert_int_equal(ridge_report_kernel_get_info(kernel)->metric_count, 2);
    assert_true(number_of(kernel, "a") == 3);
    assert_int_equal(metric_of(kernel, "a").instance_count, 0);
    assert_true(number_of(kernel, "b") == 2);
    build_close(report, &file);
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
    ridge_report *const report = build_open_blocks(blocks, 2, &file);
    const ridge_report_kernel *kernel = ridge_report_kernel_at(report, 0);

    assert_true(number_of(kernel, "a") == 1);
    assert_true(number_of(kernel, "b") == 2);
    kernel = ridge_report_kernel_at(report, 1);
    assert_int_equal(ridge_report_kernel_get_info(kernel)->metric_count, 2);
    assert_true(number_of(kernel, "a") == 4); /* the last of a name wins */
    assert_true(number_of(kernel, "c") == 5);
    build_close(report, &file);
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
    ridge_report *const report = build_open_blocks(blocks, 3, &file);
    const ridge_report_kernel *const kernel = ridge_report_kernel_at(report, 0);

    assert_int_equal(ridge_report_warning_count(report), 0);
    assert_true(number_of(kernel, "a") == 1);
    assert_true(number_of(kernel, "c") == 3);
    build_close(report, &file);
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
    report = build_open_blocks(&block, 1, &file);
    for (i = 0; i < MANY; i++)
        assert_true(number_of(ridge_report_kernel_at(report, 0), texts[i]) == (double)i);
    build_close(report, &file);
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
    ridge_report *const report = build_open_blocks(&block, 1, &file);

    assert_int_equal(ridge_report_kernel_get_info(ridge_report_kernel_at(report, 0))->metric_count,
                     1);
    assert_true(number_of(ridge_report_kernel_at(report, 0), "a") == 1);
    assert_int_equal(ridge_report_warning_count(report), 1);
    assert_non_null(strstr(ridge_report_warning(report, 0),
                           "4 metrics refer to a name beyond the 1 in the string table"));
    assert_true(ridge_report_is_damaged(report));
    build_close(report, &file);
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
    const ridge_report_kernel_info *info;
    const ridge_session *session;
    file_bytes file;
    ridge_report *report;
    size_t i;

    for (i = 0; i < COUNT_OF(pieces); i++) {
        blocks[i + 1].session = &pieces[i];
        blocks[i + 1].process_name = "app";
        blocks[i + 1].host_name = "of the process";
    }
    report = build_open_blocks(blocks, COUNT_OF(blocks), &file);
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
    info = ridge_report_kernel_get_info(ridge_report_kernel_at(report, 0));
    assert_string_equal(info->gpu_name, "NVIDIA H200");
    assert_int_equal(info->sm_count, 132);
    assert_int_equal(info->cc_major, 9);
    build_close(report, &file);
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
    ridge_report *const report = build_open_blocks(&block, 1, &file);
    const ridge_report_kernel_info *const info =
        ridge_report_kernel_get_info(ridge_report_kernel_at(report, 0));

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
    build_close(report, &file);
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
    ridge_report *const report = build_open_blocks(&block, 1, &file);

    assert_string_equal(ridge_report_kernel_get_info(ridge_report_kernel_at(report, 0))->name, "?");
    assert_string_equal(
        ridge_report_kernel_get_info(ridge_report_kernel_at(report, 1))->demangled_name,
        "renamed()");
    assert_int_equal(ridge_report_kernel_get_info(ridge_report_kernel_at(report, 1))->clocks_locked,
                     1);
    build_close(report, &file);
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
    ridge_report *const report = build_open_blocks(&block, 1, &file);
    const ridge_report_kernel *kernel;
    const ridge_report_kernel_info *info;
    ridge_rule got;

    assert_int_equal(ridge_report_kernel_count(report), 2);
    assert_int_equal(ridge_report_warning_count(report), 0);
    kernel = ridge_report_kernel_at(report, 1);
    info = ridge_report_kernel_get_info(kernel);
    assert_int_equal(info->kind, test->kind);
    assert_string_equal(info->name, test->name);
    assert_int_equal(info->metric_count, 2);
    assert_true(info->duration_ns == 10);
    assert_true(number_of(kernel, "launch__grid_size") == 7);
    assert_int_equal(info->rule_count, test->has_parts);
    assert_int_equal(info->context_id, test->has_parts ? 3 : 0);
    assert_int_equal(info->stream_id, test->has_stream ? 5 : 0);
    assert_int_equal(info->clocks_locked, test->has_parts ? 1 : -1);
    assert_int_equal(ridge_report_kernel_module(kernel) != NULL, test->has_parts);
    if (test->has_parts) {
        assert_true(ridge_report_kernel_rule_at(kernel, 0, &got));
        assert_string_equal(got.id, "Id");
        assert_true(got.speedup_frac == 0.5);
    }
    build_close(report, &file);
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
    ridge_report *const report = build_open_blocks(&block, 1, &file);
    const ridge_report_kernel *const kernel = ridge_report_kernel_at(report, 0);
    ridge_rule rule;

    assert_int_equal(ridge_report_kernel_get_info(kernel)->rule_count, 3);
    assert_true(ridge_report_kernel_rule_at(kernel, 0, &rule));
    assert_string_equal(rule.id, "SOLBottleneck");
    assert_string_equal(rule.name, "Bottleneck");
    assert_string_equal(rule.section, "SpeedOfLight");
    assert_string_equal(rule.title, "High Throughput");
    assert_string_equal(rule.message, "This workload");
    assert_int_equal(rule.type, 1);
    assert_true(isnan(rule.speedup_frac));
    assert_int_equal(rule.speedup_is_global, -1);
    assert_true(ridge_report_kernel_rule_at(kernel, 1, &rule));
    assert_null(rule.title);
    assert_int_equal(rule.type, 2);
    assert_true(rule.speedup_frac == 0.505);
    assert_int_equal(rule.speedup_is_global, 0);
    assert_true(ridge_report_kernel_rule_at(kernel, 2, &rule));
    assert_int_equal(rule.speedup_is_global, 1);
    assert_false(ridge_report_kernel_rule_at(kernel, 3, &rule));
    assert_null(rule.id);
    build_close(report, &file);
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
    ridge_report *const report = build_open_blocks(&block, 1, &file);
    const ridge_module *module = ridge_report_kernel_module(ridge_report_kernel_at(report, 0));
    const ridge_source_file *source;
    uint64_t address = 1;
    size_t length;

    assert_int_equal(ridge_report_module_count(report), 2);
    assert_true(module->reference == 7);
    assert_int_equal(module->cc_major, 9);
    assert_int_equal(module->binary_bytes, 5);
    assert_memory_equal(module->binary, "cubin", 5);
    assert_true(ridge_report_kernel_code_address(ridge_report_kernel_at(report, 0), &address));
    assert_true(address == UINT64_C(0x7f0000001000));
    assert_int_equal(ridge_report_kernel_get_info(ridge_report_kernel_at(report, 0))->cc_major, 9);
    assert_false(ridge_report_kernel_code_address(ridge_report_kernel_at(report, 1), &address));
    assert_true(ridge_report_kernel_code_address(ridge_report_kernel_at(report, 2), &address));
    assert_true(address == 16);
    assert_null(ridge_report_kernel_module(ridge_report_kernel_at(report, 2))->binary);
    assert_null(ridge_report_kernel_module(ridge_report_kernel_at(report, 3)));
    assert_false(ridge_report_kernel_code_address(ridge_report_kernel_at(report, 3), &address));
    assert_false(ridge_report_kernel_code_address(ridge_report_kernel_at(report, 4), &address));

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
    source =
        ridge_module_file(ridge_report_kernel_module(ridge_report_kernel_at(report, 2)), "b.cu");
    assert_null(source->text);
    assert_null(ridge_source_line(source, 1, &length));
    build_close(report, &file);
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
    ridge_report *const report = build_open_blocks(blocks, 3, &file);
    uint64_t address;
    size_t i;

    assert_int_equal(ridge_report_module_count(report), 2);
    for (i = 0; i < 3; i++) {
        const ridge_report_kernel *const kernel = ridge_report_kernel_at(report, i);

        assert_memory_equal(ridge_report_kernel_module(kernel)->binary, binaries[i], 5);
        assert_true(ridge_report_kernel_code_address(kernel, &address));
        assert_true(address == addresses[i]);
    }
    build_close(report, &file);
    (void)state;
}

static void a_module_may_come_late(void **state)
{
    static const build_source source = {.reference = 1, .binary = "x", .binary_bytes = 1};
    static const build_result result = {.name = "k", .module = 1};
    const build_block blocks[] = {{.results = &result, .result_count = 1},
                                  {.sources = &source, .source_count = 1}};
    file_bytes file;
    ridge_report *const report = build_open_blocks(blocks, 2, &file);

    assert_non_null(ridge_report_kernel_module(ridge_report_kernel_at(report, 0)));
    build_close(report, &file);
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
    return cases_run(&list, "report");
}
