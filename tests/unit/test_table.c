/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include <math.h>

#include "base/memory.h"
#include "base/text.h"

static const ridge_column columns[] = {
    {"name", "Kernel", RIDGE_UNIT_NONE, true, 14, 0},
    {"duration_ns", "Time", RIDGE_UNIT_NS, false, 0, 0},
    {"launch_count", "Launches", RIDGE_UNIT_COUNT, false, 0, 1},
    {"note", "Note", RIDGE_UNIT_NONE, true, 14, 0},
};

static ridge_table *example(void)
{
    ridge_table *const table = ridge_table_create(columns, sizeof(columns) / sizeof(columns[0]));

    ridge_table_text(table, "gemm<float, 128>(float const*)");
    ridge_table_number(table, 93810.5);
    ridge_table_count(table, 12345);
    ridge_table_text(table, "a|b, \"q\"\n\x1b[31m");
    ridge_table_text(table, "__norm_x");
    ridge_table_number(table, NAN);
    ridge_table_count(table, 1);
    ridge_table_text(table, NULL);
    return table;
}

static struct written {
    const char *name;
    ridge_format format;
    int width;
    const char *text;
} written[] = {
    {"text", RIDGE_FORMAT_TEXT, 100,
     "Kernel                              Time  Launches  Note\n"
     "gemm<float, 128>(float const*)  93.81 us    12,345  a|b, \"q\"??[31m\n"
     "__norm_x                             n/a         1  n/a\n"},
    {"text: shortened to the width", RIDGE_FORMAT_TEXT, 50,
     "Kernel              Time  Launches  Note\n"
     "gemm<f...nst*)  93.81 us    12,345  a|b, \"q\"??[31m\n"
     "__norm_x             n/a         1  n/a\n"},
    {"text: a column left out", RIDGE_FORMAT_TEXT, 40,
     "Kernel              Time  Note\n"
     "gemm<f...nst*)  93.81 us  a|b, \"q\"??[31m\n"
     "__norm_x             n/a  n/a\n"},
    {"text: whole", RIDGE_FORMAT_TEXT, RIDGE_COLUMNS_WHOLE,
     "Kernel                              Time  Launches  Note\n"
     "gemm<float, 128>(float const*)  93.81 us    12,345  a|b, \"q\"??[31m\n"
     "__norm_x                             n/a         1  n/a\n"},
    {"Markdown", RIDGE_FORMAT_MARKDOWN, 40,
     "| Kernel | Time | Launches | Note |\n"
     "| :-- | --: | --: | :-- |\n"
     "| gemm\\<float, 128\\>(float const\\*) | 93.81 us | 12,345 | a\\|b, \"q\"??\\[31m |\n"
     "| \\_\\_norm_x | n/a | 1 | n/a |\n"},
    {"CSV", RIDGE_FORMAT_CSV, 40,
     "name,duration_ns,launch_count,note\n"
     "\"gemm<float, 128>(float const*)\",93810.5,12345,\"a|b, \"\"q\"\"\n?[31m\"\n"
     "__norm_x,,1,\n"},
    {"JSON", RIDGE_FORMAT_JSON, 40,
     "{\n"
     "  \"rows\": [\n"
     "    {\n"
     "      \"name\": \"gemm<float, 128>(float const*)\",\n"
     "      \"duration_ns\": 93810.5,\n"
     "      \"launch_count\": 12345,\n"
     "      \"note\": \"a|b, \\\"q\\\"\\n\\u001b[31m\"\n"
     "    },\n"
     "    {\n"
     "      \"name\": \"__norm_x\",\n"
     "      \"duration_ns\": null,\n"
     "      \"launch_count\": 1,\n"
     "      \"note\": null\n"
     "    }\n"
     "  ]\n"
     "}\n"},
};

static void write_example(ridge_output *output, ridge_format format)
{
    ridge_json *const json = format == RIDGE_FORMAT_JSON ? ridge_json_create(output) : NULL;
    ridge_table *const table = example();

    ridge_json_begin_object(json, NULL);
    ridge_table_write(table, format, output, json, "rows");
    ridge_json_end_object(json);
    ridge_json_free(json);
    ridge_table_free(table);
}

/* Shortened in the middle, the first two would look the same. */
static struct narrow_names {
    const char *name;
    const char *beside; /* in a second column, never shortened; NULL: there is none */
    const char *rows[3];
    const char *expected;
} narrow_names[] = {
    {"keeps what differs",
     NULL,
     {"cutlass3x_sm90_tensorop_s64x128x16gemm_f16_128x128_tn_stream_k",
      "cutlass3x_sm90_tensorop_s64x256x16gemm_f16_128x128_tn_stream_k",
      "another_kernel_with_a_name_that_is_as_long_as_the_two_above_it"},
     "Kernel\n"
     "cutlass...s64x128x1...28x128_tn_stream_k\n"
     "cutlass...s64x256x1...28x128_tn_stream_k\n"
     "another_kernel_with...s_the_two_above_it\n"},
    {"keeps what differs: narrow",
     "123456789012345678",
     {"nvjet_sm90_tst_128x8_64x12_2x1_v_bz_TNT", "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT",
      "nvjet_sm90_tst_64x8_64x16_2x1_v_bz_splitK_TNT"},
     "Kernel                Beside\n"
     "nvj...128x8_...z_TNT  123456789012345678\n"
     "nvj...64x8_6...z_TNT  123456789012345678\n"
     "nvjet_sm9...litK_TNT  123456789012345678\n"},
};

static void keeps_what_differs(void **state)
{
    static const ridge_column names[] = {{"name", "Kernel", RIDGE_UNIT_NONE, true, 8, 0},
                                         {"beside", "Beside", RIDGE_UNIT_NONE, true, 0, 0}};
    const struct narrow_names *const row = *state;
    char *text = NULL;
    size_t size;
    FILE *const stream = open_memstream(&text, &size);
    ridge_output *const output = ridge_output_create(stream, 40, false);
    ridge_table *const table = ridge_table_create(names, row->beside != NULL ? 2 : 1);
    ridge_error err;

    for (size_t i = 0; i < sizeof(row->rows) / sizeof(row->rows[0]); i++) {
        ridge_table_text(table, row->rows[i]);
        if (row->beside != NULL)
            ridge_table_text(table, row->beside);
    }
    ridge_table_write(table, RIDGE_FORMAT_TEXT, output, NULL, NULL);
    ridge_table_free(table);
    assert_int_equal(ridge_output_close(output, &err), RIDGE_OK);
    fclose(stream);
    assert_string_equal(text, row->expected);
    free(text);
}

static void writes_types_of_json(void **state)
{
    static const ridge_column types[] = {{"is_kernel", "", RIDGE_UNIT_NONE, false, 0, 0},
                                         {"cluster", "", RIDGE_UNIT_NONE, true, 0, 0}};
    char *text = NULL;
    size_t size;
    FILE *const stream = open_memstream(&text, &size);
    ridge_output *const output = ridge_output_create(stream, 100, false);
    ridge_json *const json = ridge_json_create(output);
    ridge_table *const table = ridge_table_create(types, 2);
    ridge_error err;

    (void)state;
    ridge_table_bool(table, true);
    ridge_table_extent(table, (const int[]){2, 1, 1}, "2");
    ridge_json_begin_object(json, NULL);
    ridge_table_write(table, RIDGE_FORMAT_JSON, output, json, "rows");
    ridge_json_end_object(json);
    ridge_json_free(json);
    ridge_table_write(table, RIDGE_FORMAT_CSV, output, NULL, NULL);
    ridge_table_free(table);
    assert_int_equal(ridge_output_close(output, &err), RIDGE_OK);
    fclose(stream);
    assert_non_null(strstr(text, "\"is_kernel\": true"));
    assert_non_null(strstr(text, "\"cluster\": [\n        2,\n        1,\n        1\n      ]"));
    assert_non_null(strstr(text, "is_kernel,cluster\n1,2\n"));
    free(text);
}

static void writes(void **state)
{
    const struct written *const row = *state;
    caught in;

    caught_open(&in, row->width, false);
    write_example(in.output, row->format);
    caught_is(&in, row->text);
}

/* No line is wider than asked for, whatever is in the cells. */
static void never_exceeds_the_width(void **state)
{
    int width;

    (void)state;
    for (width = 40; width <= 120; width++) {
        ridge_table *const table = ridge_table_create(columns, 4);
        const char *line;
        caught in;
        int i;

        for (i = 0; i < 3; i++) {
            ridge_table_text(table, "\xe4\xb8\xad\xe6\x96\x87\xe5\x86\x85\xe6\xa0\xb8_kernel_of_"
                                    "\xe4\xb8\xad\xe6\x96\x87_and_more_of_the_name");
            ridge_table_number(table, 1e300);
            ridge_table_count(table, UINT64_MAX);
            ridge_table_text(table, "\xff\xfe a note that is longer than forty columns, with "
                                    "\xf0\x9f\x98\x80\xf0\x9f\x98\x80");
        }
        caught_open(&in, width, false);
        ridge_table_write(table, RIDGE_FORMAT_TEXT, in.output, NULL, NULL);
        ridge_table_free(table);
        assert_int_equal(caught_close(&in, NULL), RIDGE_OK);
        for (line = in.text; *line != '\0'; line = strchr(line, '\n') + 1)
            assert_in_range(ridge_text_columns(line, strcspn(line, "\n")), 1, width);
        free(in.text);
    }
}

/* Whole cells may make lines longer; none is cut, and the others stay in their columns. */
static void whole_cells(void **state)
{
    static const char *const names[] = {"a", "b"};
    ridge_table *const table = ridge_table_create(columns, 4);
    char note[201] = "";
    caught in;
    size_t i;

    (void)state;
    memset(note, 'n', sizeof(note) - 1);
    for (i = 0; i < 2; i++) {
        ridge_table_text(table, names[i]);
        ridge_table_number(table, 1);
        ridge_table_count(table, i);
        ridge_table_text_n(table, note, i == 0 ? 200 : 3);
    }
    caught_open(&in, RIDGE_COLUMNS_WHOLE, false);
    ridge_table_write(table, RIDGE_FORMAT_TEXT, in.output, NULL, NULL);
    ridge_table_free(table);
    assert_int_equal(caught_close(&in, NULL), RIDGE_OK);
    assert_non_null(strstr(in.text, note));
    assert_non_null(strstr(in.text, "\nb       1.000 ns         1  nnn\n"));
    free(in.text);
}

static void without_rows(void **state)
{
    ridge_table *const table = ridge_table_create(columns, 2);
    caught in;

    (void)state;
    assert_int_equal(ridge_table_row_count(table), 0);
    caught_open(&in, 0, false);
    ridge_table_write(table, RIDGE_FORMAT_TEXT, in.output, NULL, NULL);
    ridge_table_free(table);
    caught_is(&in, "Kernel  Time\n");
}

static void accepts_null(void **state)
{
    caught in;
    ridge_error err;

    (void)state;
    ridge_table_text(NULL, "x");
    ridge_table_number(NULL, 1);
    ridge_table_count(NULL, 1);
    ridge_table_bool(NULL, true);
    ridge_table_free(NULL);
    assert_int_equal(ridge_table_row_count(NULL), 0);
    caught_open(&in, 0, false);
    ridge_table_write(NULL, RIDGE_FORMAT_TEXT, in.output, NULL, NULL);
    assert_int_equal(caught_close(&in, &err), RIDGE_ERR_OUT_OF_MEMORY);
    free(in.text);
}

static void survives_every_failing_allocation(void **state)
{
    const struct written *const row = *state;
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;
    size_t nth;

    for (nth = 1; status == RIDGE_ERR_OUT_OF_MEMORY; nth++) {
        caught in;

        ridge_memory_fail_at(nth);
        caught_open(&in, row->width, false);
        write_example(in.output, row->format);
        status = caught_close(&in, NULL);
        ridge_memory_fail_at(0);
        if (status == RIDGE_OK)
            assert_string_equal(in.text, row->text);
        free(in.text);
        assert_true(nth < 200);
    }
    assert_int_equal(status, RIDGE_OK);
    assert_true(nth > 4);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, writes, written);
    cases_add(&list, "never exceeds the width", never_exceeds_the_width, NULL);
    CASES_ADD_ROWS(&list, keeps_what_differs, narrow_names);
    cases_add(&list, "types of JSON", writes_types_of_json, NULL);
    cases_add(&list, "whole cells", whole_cells, NULL);
    cases_add(&list, "without rows", without_rows, NULL);
    cases_add(&list, "accepts NULL", accepts_null, NULL);
    cases_add(&list, "failing allocations: text", survives_every_failing_allocation, &written[0]);
    cases_add(&list, "failing allocations: Markdown", survives_every_failing_allocation,
              &written[2]);
    cases_add(&list, "failing allocations: CSV", survives_every_failing_allocation, &written[3]);
    cases_add(&list, "failing allocations: JSON", survives_every_failing_allocation, &written[4]);
    return cases_run(&list, "table");
}
