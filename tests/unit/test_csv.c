/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include <math.h>

#include "base/memory.h"
#include "report/csv/csv_internal.h"
#include "ridge/report.h"

/* -- numbers and units ------------------------------------------------------------------------- */

static struct number_case {
    const char *name; /* what is read */
    char decimal;
    bool ok, is_count;
    double value;
} number_cases[] = {
    {"0", '.', true, true, 0},
    {"42", '.', true, true, 42},
    {"1,234,567", '.', true, true, 1234567},
    {"1,234.5", '.', true, false, 1234.5},
    {"10485760.000000", '.', true, false, 10485760},
    {"0.046982", '.', true, false, 0.046982},
    {"-12.25", '.', true, false, -12.25},
    {"1e3", '.', true, false, 1000},
    {"2.5E-07", '.', true, false, 2.5e-7},
    {"9999999999999999999", '.', true, true, 9999999999999999999.0},
    {"18446744073709551616", '.', true, false, 18446744073709551616.0},
    {"0.1000000000000000055511151231257827", '.', true, false, 0.1},
    {"123456789012345678901234567890", '.', true, false, 1.2345678901234567e29},
    {"1e-400", '.', true, false, 0},
    {"1e99999999999", '.', true, false, INFINITY},
    {"3 (1; 2)", '.', true, true, 3},
    {"1.234.567", ',', true, true, 1234567},
    {"1.234,5", ',', true, false, 1234.5},
    {"117.344", ',', true, true, 117344},
    {"", '.', false, false, 0},
    {"-", '.', false, false, 0},
    {",", '.', false, false, 0},
    {"1,", '.', false, false, 0},
    {"1,23", '.', false, false, 0},
    {"1234,567", '.', false, false, 0},
    {"1,234,56", '.', false, false, 0},
    {"1.", '.', false, false, 0},
    {".5", '.', false, false, 0},
    {"1.2.3", '.', false, false, 0},
    {"1e", '.', false, false, 0},
    {"1 234", '.', false, false, 0},
    {"0x10", '.', false, false, 0},
    {"3 (", '.', false, false, 0},
    {"n/a", '.', false, false, 0},
};

static void reads_numbers(void **state)
{
    const struct number_case *const test = *state;
    csv_number number;

    assert_int_equal(csv_read_number(test->name, strlen(test->name), test->decimal, &number),
                     test->ok);
    if (!test->ok)
        return;
    assert_int_equal(number.is_count, test->is_count);
    assert_true(csv_number_value(&number, 0) == test->value);
}

static void scales_round_once(void **state)
{
    csv_number number;

    assert_true(csv_read_number("444.992", 7, '.', &number));
    assert_true(csv_number_value(&number, 3) == 444992);
    assert_true(csv_read_number("301.655113", 10, '.', &number));
    assert_true(csv_number_value(&number, 9) == 301655113000.0);
    assert_true(csv_read_number("1.1", 3, '.', &number));
    assert_true(csv_number_value(&number, 1) == 11);
    assert_true(csv_number_value(&number, -300) == 1.1e-300);
    (void)state;
}

static struct unit_case {
    const char *name;
    int scale;
} unit_cases[] = {
    {"", 0},
    {"%", 0},
    {"byte", 0},
    {"Kbyte", 3},
    {"Mbyte", 6},
    {"Gbyte/s", 9},
    {"Tbyte/s", 12},
    {"Kbyte/block", 3},
    {"byte/block", 0},
    {"Ghz", 9},
    {"Mhz", 6},
    {"Khz", 3},
    {"hz", 0},
    {"ns", 0},
    {"us", 3},
    {"ms", 6},
    {"s", 9},
    {"sector/ns", 9},
    {"sector/us", 6},
    {"sector/ms", 3},
    {"sector/s", 0},
    {"%/Kbyte", 3},
    {"%/register", 0},
    {"inst/cycle", 0},
    {"SM", 0},
    {"sample", 0},
    {"usecond", 3},
    {"msecond", 6},
    {"second", 9},
    {"cycle/nsecond", 9},
    {"Gbyte/second", 9},
    {"byte/second", 0},
    {"/", 0},
    {"K", 0},
    {"/ns", 9},
};

static void reads_units(void **state)
{
    const struct unit_case *const test = *state;

    assert_int_equal(csv_unit_scale(test->name, strlen(test->name)), test->scale);
}

/* -- rows -------------------------------------------------------------------------------------- */

static struct rows_case {
    const char *name;
    const char *text;
    const char *expected; /* fields in [], rows by their lines; ! for a damaged row */
} rows_cases[] = {
    {"nothing", "", ""},
    {"one field", "a", "1[a]"},
    {"fields and rows", "a,b\nc,d\n", "1[a][b] 2[c][d]"},
    {"quotes", "\"a,b\",\"c\"\n", "1[a,b][c]"},
    {"doubled quotes stay", "\"a\"\"b\"\n", "1[a\"\"b]"},
    {"empty fields", ",\n\"\",\"\"\n", "1[][] 2[][]"},
    {"an empty line", "\na\n", "1[] 2[a]"},
    {"carriage returns", "a,b\r\n\"c\",\"d\"\r\n", "1[a][b] 2[c][d]"},
    {"a line in quotes", "\"a\nb\",c\nd\n", "1[a\nb][c] 3[d]"},
    {"the end in quotes", "\"a\"", "1[a]"},
    {"an open quote", "a\n\"b,c\nd,e\n", "1[a] 2! 3[d][e]"},
    {"open quotes", "\"a\n\"b\n\"c\"\n", "1! 2! 3[c]"},
    {"text behind a quote", "\"a\"b,c\nd\n", "1! 2[d]"},
    {"a quote alone", "\"", "1!"},
    {"three quotes", "\"\"\"", "1!"},
};

static void splits_rows(void **state)
{
    const struct rows_case *const test = *state;
    char got[256] = "";
    csv_rows rows;
    csv_result result;

    csv_rows_init(&rows, test->text, strlen(test->text));
    while ((result = csv_rows_next(&rows)) != CSV_END) {
        char *at = got + strlen(got);
        const size_t left = sizeof(got) - strlen(got);

        snprintf(at, left, "%s%zu%s", at == got ? "" : " ", rows.row_line,
                 result == CSV_DAMAGED ? "!" : "");
        for (size_t i = 0; result == CSV_ROW && i < rows.field_count; i++)
            snprintf(got + strlen(got), sizeof(got) - strlen(got), "[%.*s]",
                     (int)rows.fields[i].length, rows.fields[i].text);
    }
    csv_rows_release(&rows);
    assert_string_equal(got, test->expected);
}

/* -- reports ----------------------------------------------------------------------------------- */

#define HEADER                                                                                     \
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\","            \
    "\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\","
#define HEADER_UNITS "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\","
#define ROW(id, name)                                                                              \
    "\"" id "\",\"42\",\"app\",\"host\",\"" name "\",\"1\",\"7\",\"(128, 2, 1)\","                 \
    "\"(8192, 3, 4)\",\"0\",\"9.0\","

static ridge_report *open_text(const char *text)
{
    ridge_report *report;
    ridge_error err;

    if (ridge_report_read(text, strlen(text), "test", &report, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    return report;
}

static double number_in(const ridge_report *report, size_t kernel, const char *name)
{
    double number;

    if (!ridge_report_kernel_number(ridge_report_kernel_at(report, kernel), name, &number))
        fail_msg("no number %s", name);
    return number;
}

static const char raw_page[] =
    "hello from the program, \"quoted\n"
    "==PROF== Connected to process 42\n"
    "==WARNING== something\n" HEADER
    "\"dram__bytes_read.sum\",\"gpu__time_duration.sum\",\"sm__cycles_elapsed.avg.per_second\","
    "\"launch__block_size\",\"device__attribute_display_name\",\"sass__inst_executed_local_loads\","
    "\"l1tex__t_sector_hit_rate.pct\",\"thread "
    "Domain:Push/Pop_Range:PL_Type:PL_Value\"\n" HEADER_UNITS
    "\"Mbyte\",\"us\",\"Ghz\",\"\",\"\",\"inst\",\"%\",\"\"\n"
    "1 line of the program\n" ROW(
        "0", "void t::copy<float, (int)4>(float *, int)") "\"134.234112\",\"1,444.992\",\"1.98\","
                                                          "\"128\",\"NVIDIA \"\"H200\"\"\",\"no "
                                                          "data\",\"nan\",\"x\"\n"
                                                          "==PROF== noise\n" ROW(
                                                              "1",
                                                              "reduce(int)") "\"0\",\"5\",\"\",\"1,"
                                                                             "024\",\"\",\"7\",\"n/"
                                                                             "a\",\"\"\n"
                                                                             "\"quotes of the "
                                                                             "program\"\n";

static void reads_the_raw_page(void **state)
{
    ridge_report *const report = open_text(raw_page);
    const ridge_report_kernel *const copy = ridge_report_kernel_at(report, 0);
    const ridge_report_kernel_info *const info = ridge_report_kernel_get_info(copy);
    ridge_metric metric;
    double number;

    assert_int_equal(ridge_report_warning_count(report), 0);
    assert_int_equal(ridge_report_kernel_count(report), 2);
    assert_string_equal(info->name, "copy");
    assert_string_equal(info->demangled_name, "void t::copy<float, (int)4>(float *, int)");
    assert_null(info->mangled_name);
    assert_string_equal(info->gpu_name, "NVIDIA \"H200\"");
    assert_int_equal(info->cc_major, 9);
    assert_int_equal(info->cc_minor, 0);
    assert_int_equal(info->block[0], 128);
    assert_int_equal(info->block[1], 2);
    assert_int_equal(info->grid[0], 8192);
    assert_int_equal(info->grid[2], 4);
    assert_int_equal(info->context_id, 1);
    assert_int_equal(info->stream_id, 7);
    assert_true(info->duration_ns == 1444992);
    assert_int_equal(info->metric_count, 7);
    assert_string_equal(ridge_report_session(report)->process_name, "app");
    assert_string_equal(ridge_report_session(report)->host_name, "host");

    assert_true(number_in(report, 0, "dram__bytes_read.sum") == 134234112);
    assert_true(number_in(report, 0, "sm__cycles_elapsed.avg.per_second") == 1980000000);
    assert_true(ridge_report_kernel_metric(copy, "launch__block_size", &metric));
    assert_int_equal(metric.value.kind, RIDGE_VALUE_COUNT);
    assert_int_equal(metric.value.count, 128);
    assert_true(ridge_report_kernel_metric(copy, "dram__bytes_read.sum", &metric));
    assert_string_equal(metric.unit, "byte");
    assert_true(ridge_report_kernel_metric(copy, "sass__inst_executed_local_loads", &metric));
    assert_int_equal(metric.value.kind, RIDGE_VALUE_ABSENT);
    assert_true(isnan(number_in(report, 0, "l1tex__t_sector_hit_rate.pct")));

    assert_string_equal(ridge_report_kernel_get_info(ridge_report_kernel_at(report, 1))->name,
                        "reduce");
    assert_true(number_in(report, 1, "launch__block_size") == 1024);
    assert_true(isnan(number_in(report, 1, "l1tex__t_sector_hit_rate.pct")));
    assert_false(ridge_report_kernel_number(ridge_report_kernel_at(report, 1),
                                            "sm__cycles_elapsed.avg.per_second", &number));
    ridge_report_free(report);
    (void)state;
}

static void reads_base_units(void **state)
{
    ridge_report *const report =
        open_text(HEADER "\"dram__bytes_read.sum\",\"gpu__time_duration.sum\"\n" HEADER_UNITS
                         "\"byte\",\"ns\"\n" ROW("0", "k") "\"134,234,112\",\"444,992\"\n");

    assert_true(number_in(report, 0, "dram__bytes_read.sum") == 134234112);
    assert_true(ridge_report_kernel_get_info(ridge_report_kernel_at(report, 0))->duration_ns ==
                444992);
    ridge_report_free(report);
    (void)state;
}

static void reads_the_details_page(void **state)
{
    ridge_report *const report = open_text(
        HEADER
        "\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\",\"Rule "
        "Name\"\n" ROW(
            "0", "a") "\"Command line profiler "
                      "metrics\",\"gpu__time_duration.sum\",\"us\",\"5.50\","
                      "\"\"\n" ROW(
                          "0", "a") "\"Speed Of "
                                    "Light\",\"Duration\",\"us\","
                                    "\"5.50\",\"\"\n" ROW(
                                        "0",
                                        "a") "\"Speed Of Light\",\"\",\"\",\"\",\"a rule, with\na "
                                             "second line\"\n" ROW("0", "a") "\"Command line "
                                                                             "profiler "
                                                                             "metrics\",\"lts__t_"
                                                                             "sectors.sum.per_"
                                                                             "second\",\"sector/"
                                                                             "ns\",\"1.5\","
                                                                             "\"\"\n" ROW(
                                                                                 "1", "a") "\"Co"
                                                                                           "mman"
                                                                                           "d "
                                                                                           "line"
                                                                                           " pro"
                                                                                           "file"
                                                                                           "r "
                                                                                           "metr"
                                                                                           "ics"
                                                                                           "\","
                                                                                           "\"gp"
                                                                                           "u__"
                                                                                           "time"
                                                                                           "_dur"
                                                                                           "atio"
                                                                                           "n."
                                                                                           "sum"
                                                                                           "\","
                                                                                           "\"us"
                                                                                           "\","
                                                                                           "\"6."
                                                                                           "50\""
                                                                                           ",\""
                                                                                           "\""
                                                                                           "\n");

    assert_int_equal(ridge_report_kernel_count(report), 2);
    assert_true(ridge_report_kernel_get_info(ridge_report_kernel_at(report, 0))->duration_ns ==
                5500);
    assert_true(ridge_report_kernel_get_info(ridge_report_kernel_at(report, 1))->duration_ns ==
                6500);
    assert_true(number_in(report, 0, "lts__t_sectors.sum.per_second") == 1.5e9);
    assert_int_equal(ridge_report_kernel_get_info(ridge_report_kernel_at(report, 0))->metric_count,
                     2);
    assert_int_equal(ridge_report_warning_count(report), 1);
    assert_non_null(strstr(ridge_report_warning(report, 0), "1 values have a label"));
    ridge_report_free(report);
    (void)state;
}

static void reads_decimal_commas(void **state)
{
    ridge_report *const report = open_text(
        "\xEF\xBB\xBFID,Process ID,Kernel Name,CC,dram__bytes.sum,gpu__time_duration.sum,x__y.pct\n"
        ",,,,byte,ns,%\n"
        "0,1,k,8.9,27.595.520,117.344,\"12,5\"\n");

    assert_true(number_in(report, 0, "dram__bytes.sum") == 27595520);
    assert_true(number_in(report, 0, "gpu__time_duration.sum") == 117344);
    assert_true(number_in(report, 0, "x__y.pct") == 12.5);
    assert_int_equal(ridge_report_kernel_get_info(ridge_report_kernel_at(report, 0))->cc_minor, 9);
    ridge_report_free(report);
    (void)state;
}

static void reads_a_second_header(void **state)
{
    ridge_report *const report =
        open_text(HEADER "\"dram__bytes.sum\"\n" HEADER_UNITS "\"Kbyte\"\n" ROW(
            "0", "a") "\"1.5\"\n" HEADER "\"launch__grid_size\",\"dram__bytes.sum\"\n" HEADER_UNITS
                      "\"\",\"Mbyte\"\n" ROW("0", "b") "\"7\",\"2.5\"\n");

    assert_int_equal(ridge_report_kernel_count(report), 2);
    assert_true(number_in(report, 0, "dram__bytes.sum") == 1500);
    assert_true(number_in(report, 1, "dram__bytes.sum") == 2500000);
    assert_true(number_in(report, 1, "launch__grid_size") == 7);
    ridge_report_free(report);
    (void)state;
}

static struct name_case {
    const char *name; /* of the kernel */
    const char *base;
} name_cases[] = {
    {"copy", "copy"},
    {"copy(float *, int)", "copy"},
    {"void copy<4>(float *)", "copy"},
    {"void a::b::copy<c<int>, (bool)1>(void (*)(int))", "copy"},
    {"void (anonymous namespace)::copy<T>(T)", "copy"},
    {"_Z4copyPf", "_Z4copyPf"},
    {"copy<(a > b)>(int)", "copy"},
    {"lambda [](int)", "lambda [](int)"},
    {")", ")"},
    {">", ">"},
    {"copy)", "copy)"},
};

static void finds_base_names(void **state)
{
    const struct name_case *const test = *state;
    char text[512];
    ridge_report *report;

    snprintf(text, sizeof(text), HEADER "\"x__y\"\n\"0\",\"\",\"\",\"\",\"%s\",,,,,,,\"1\"\n",
             test->name);
    report = open_text(text);
    assert_string_equal(ridge_report_kernel_get_info(ridge_report_kernel_at(report, 0))->name,
                        test->base);
    ridge_report_free(report);
}

/* Values and units of NVIDIA's own reader for the same report. */
static void reads_a_recorded_page(void **state)
{
    ridge_report *report;
    ridge_metric metric;
    ridge_error err;

    if (ridge_report_open(RIDGE_SOURCE_DIR "/tests/data/raw_page_h200.csv", &report, &err) !=
        RIDGE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(ridge_report_warning_count(report), 0);
    assert_int_equal(ridge_report_kernel_count(report), 1);
    assert_true(number_in(report, 0, "gpu__time_duration.sum") == 2661312);
    assert_true(number_in(report, 0, "launch__occupancy_limit_warps") == 8);
    assert_true(number_in(report, 0, "launch__shared_mem_config_size") == 167936);
    assert_true(ridge_report_kernel_metric(ridge_report_kernel_at(report, 0),
                                           "launch__cluster_scheduling_policy", &metric));
    assert_int_equal(metric.value.kind, RIDGE_VALUE_TEXT);
    assert_int_equal(metric.value.text_length, strlen("PolicySpread"));
    assert_memory_equal(metric.value.text, "PolicySpread", metric.value.text_length);
    assert_string_equal(ridge_report_kernel_get_info(ridge_report_kernel_at(report, 0))->gpu_name,
                        "NVIDIA H200");
    ridge_report_free(report);
    (void)state;
}

/* -- damage ------------------------------------------------------------------------------------ */

static struct bad_text {
    const char *name;
    const char *text;
    const char *message;
} bad_texts[] = {
    {"a header only", HEADER "\"x__y\"\n", "holds no kernel result"},
    {"units only", HEADER "\"x__y\"\n" HEADER_UNITS "\"%\"\n", "holds no kernel result"},
    {"a cut header", "\"ID\",\"Proc", "line 1: a quoted field does not end"},
    {"a cut row", HEADER "\"x__y\"\n\"0\",\"42\",\"app\"\n",
     "line 2: 3 fields, expected the 12 of the header"},
    {"a row cut in a field", HEADER "\"x__y\"\n\"0\",\"42\",\"ap", "line 2: a quoted field"},
    {"rows of the program", HEADER "\"x__y\"\nname,1\n\"a\",\"b\"\n", "holds no kernel result"},
};

static void rejects(void **state)
{
    const struct bad_text *const bad = *state;
    ridge_report *report;
    ridge_error err;

    assert_int_equal(ridge_report_read(bad->text, strlen(bad->text), "test", &report, &err),
                     RIDGE_ERR_FORMAT);
    assert_null(report);
    if (strstr(err.text, bad->message) == NULL)
        fail_msg("%s", err.text);
}

static void keeps_what_is_intact(void **state)
{
    ridge_report *const report = open_text(HEADER "\"x__y\"\n" ROW("0", "a") "\"1\"\n" ROW(
        "1", "b") "\"2\",\"3\"\n" ROW("2", "c") "\"4\"\n" ROW("3", "d") "\"5");

    assert_int_equal(ridge_report_kernel_count(report), 2);
    assert_true(number_in(report, 1, "x__y") == 4);
    assert_int_equal(ridge_report_warning_count(report), 2);
    assert_string_equal(ridge_report_warning(report, 0),
                        "line 3: 13 fields, expected the 12 of the header");
    assert_string_equal(ridge_report_warning(report, 1), "line 5: a quoted field does not end");
    ridge_report_free(report);
    (void)state;
}

static void survives_failing_allocations(void **state)
{
    ridge_report *report = NULL;
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;

    for (size_t nth = 1; status != RIDGE_OK; nth++) {
        ridge_memory_fail_at(nth);
        status = ridge_report_read(raw_page, strlen(raw_page), "test", &report, NULL);
        ridge_memory_fail_at(0);
        if (status == RIDGE_OK)
            break;
        assert_int_equal(status, RIDGE_ERR_OUT_OF_MEMORY);
        assert_null(report);
        assert_true(nth < 1000);
    }
    ridge_report_free(report);
    (void)state;
}

static void bounds_the_fields(void **state)
{
    const size_t length = CSV_MOST_FIELDS + 2;
    char *const text = malloc(length);
    csv_rows rows;

    assert_non_null(text);
    memset(text, ',', length);
    text[length - 2] = '\n';
    text[length - 1] = 'a';
    csv_rows_init(&rows, text, length);
    assert_int_equal(csv_rows_next(&rows), CSV_DAMAGED);
    assert_non_null(strstr(rows.problem, "more fields"));
    assert_int_equal(csv_rows_next(&rows), CSV_ROW);
    assert_int_equal(rows.field_count, 1);
    assert_int_equal(csv_rows_next(&rows), CSV_END);
    csv_rows_release(&rows);
    free(text);
    (void)state;
}

/* What is no kernel is told by the name: kernels have brackets. */
static void tells_ranges(void **state)
{
    static const char text[] = HEADER
        "\"gpu__time_duration.sum\"\n" HEADER_UNITS "\"ns\"\n"
        "\"0\",\"42\",\"app\",\"host\",\"range\",\"1\",\"n/a\",\"\",\"\",\"0\",\"9.0\",\"1\"\n" ROW(
            "1", "graph") "\"2\"\n" ROW("2", "range") "\"3\"\n" ROW("3", "graph(int)") "\"4\"\n";
    static const ridge_result_kind kinds[] = {RIDGE_RESULT_RANGE, RIDGE_RESULT_GRAPH,
                                              RIDGE_RESULT_KERNEL, RIDGE_RESULT_KERNEL};
    ridge_report *const report = open_text(text);
    size_t i;

    assert_int_equal(ridge_report_kernel_count(report), 4);
    for (i = 0; i < 4; i++) {
        const ridge_report_kernel_info *const info =
            ridge_report_kernel_get_info(ridge_report_kernel_at(report, i));

        assert_int_equal(info->kind, kinds[i]);
        assert_int_equal(info->grid[0], kinds[i] == RIDGE_RESULT_KERNEL ? 8192 : 0);
    }
    ridge_report_free(report);
    (void)state;
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, reads_numbers, number_cases);
    cases_add(&list, "scales round once", scales_round_once, NULL);
    CASES_ADD_ROWS(&list, reads_units, unit_cases);
    CASES_ADD_ROWS(&list, splits_rows, rows_cases);
    cases_add(&list, "raw page", reads_the_raw_page, NULL);
    cases_add(&list, "ranges and graphs", tells_ranges, NULL);
    cases_add(&list, "base units", reads_base_units, NULL);
    cases_add(&list, "details page", reads_the_details_page, NULL);
    cases_add(&list, "decimal commas", reads_decimal_commas, NULL);
    cases_add(&list, "a second header", reads_a_second_header, NULL);
    CASES_ADD_ROWS(&list, finds_base_names, name_cases);
    cases_add(&list, "a recorded page", reads_a_recorded_page, NULL);
    CASES_ADD_ROWS(&list, rejects, bad_texts);
    cases_add(&list, "keeps what is intact", keeps_what_is_intact, NULL);
    cases_add(&list, "too many fields", bounds_the_fields, NULL);
    cases_add(&list, "failing allocations", survives_failing_allocations, NULL);
    return cases_run(&list, "csv");
}
