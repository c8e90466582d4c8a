/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include <math.h>

#include "base/memory.h"

static struct quoted {
    const char *name;
    const char *text;
    size_t length;
    const char *json;
} quoted[] = {
    {"plain", "abc", 3, "\"abc\"\n"},
    {"empty", "", 0, "\"\"\n"},
    {"quote and backslash", "a\"b\\c", 5, "\"a\\\"b\\\\c\"\n"},
    {"line breaks", "a\nb\tc\rd", 7, "\"a\\nb\\tc\\rd\"\n"},
    {"control", "\x01\x1b\x7f", 3, "\"\\u0001\\u001b\\u007f\"\n"},
    {"embedded NUL", "a\0b", 3, "\"a\\u0000b\"\n"},
    {"C1 control", "\xc2\x9b", 2, "\"\\u009b\"\n"},
    {"UTF-8", "\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80", 9,
     "\"\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80\"\n"},
    {"lone continuation", "a\x80z", 3, "\"a\xef\xbf\xbdz\"\n"},
    {"cut sequence", "a\xe4\xb8", 3, "\"a\xef\xbf\xbd\xef\xbf\xbd\"\n"},
    {"overlong", "\xc0\xaf", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\"\n"},
    {"surrogate", "\xed\xa0\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"\n"},
    {"beyond Unicode", "\xf4\x90\x80\x80", 4,
     "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"\n"},
};

static void quotes(void **state)
{
    const struct quoted *const row = *state;
    caught in;
    ridge_json *json;

    caught_open(&in, 0, false);
    json = ridge_json_create(in.output);
    ridge_json_text_n(json, NULL, row->text, row->length);
    ridge_json_free(json);
    caught_is(&in, row->json);
}

static void write_document(ridge_output *output)
{
    ridge_json *const json = ridge_json_create(output);

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "text", "x");
    ridge_json_text(json, "no_text", NULL);
    ridge_json_number(json, "number", 0.1);
    ridge_json_number(json, "not_a_number", NAN);
    ridge_json_number(json, "infinite", -INFINITY);
    ridge_json_count(json, "count", UINT64_MAX);
    ridge_json_integer(json, "integer", INT64_MIN);
    ridge_json_bool(json, "yes", true);
    ridge_json_null(json, "nothing");
    ridge_json_begin_array(json, "empty");
    ridge_json_end_array(json);
    ridge_json_begin_object(json, "empty_too");
    ridge_json_end_object(json);
    ridge_json_begin_array(json, "nested");
    ridge_json_begin_array(json, NULL);
    ridge_json_count(json, NULL, 1);
    ridge_json_count(json, NULL, 2);
    ridge_json_end_array(json);
    ridge_json_begin_object(json, NULL);
    ridge_json_bool(json, "a\"b", false);
    ridge_json_end_object(json);
    ridge_json_end_array(json);
    ridge_json_end_object(json);
    ridge_json_free(json);
}

static const char document[] = "{\n"
                               "  \"text\": \"x\",\n"
                               "  \"no_text\": null,\n"
                               "  \"number\": 0.1,\n"
                               "  \"not_a_number\": null,\n"
                               "  \"infinite\": null,\n"
                               "  \"count\": 18446744073709551615,\n"
                               "  \"integer\": -9223372036854775808,\n"
                               "  \"yes\": true,\n"
                               "  \"nothing\": null,\n"
                               "  \"empty\": [],\n"
                               "  \"empty_too\": {},\n"
                               "  \"nested\": [\n"
                               "    [\n"
                               "      1,\n"
                               "      2\n"
                               "    ],\n"
                               "    {\n"
                               "      \"a\\\"b\": false\n"
                               "    }\n"
                               "  ]\n"
                               "}\n";

static void writes_a_document(void **state)
{
    caught in;

    (void)state;
    caught_open(&in, 0, false);
    write_document(in.output);
    caught_is(&in, document);
}

static void refuses_endless_nesting(void **state)
{
    caught in;
    ridge_json *json;
    ridge_error err;
    int i;

    (void)state;
    caught_open(&in, 0, false);
    json = ridge_json_create(in.output);
    for (i = 0; i < 100; i++)
        ridge_json_begin_array(json, NULL);
    ridge_json_free(json);
    assert_int_equal(caught_close(&in, &err), RIDGE_ERR_INTERNAL);
    free(in.text);
}

static void survives_every_failing_allocation(void **state)
{
    size_t nth;
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;

    (void)state;
    for (nth = 1; status == RIDGE_ERR_OUT_OF_MEMORY; nth++) {
        caught in;
        ridge_error err;

        ridge_memory_fail_at(nth);
        caught_open(&in, 0, false);
        write_document(in.output);
        status = caught_close(&in, &err);
        ridge_memory_fail_at(0);
        if (status == RIDGE_OK)
            assert_string_equal(in.text, document);
        free(in.text);
        assert_true(nth < 100);
    }
    assert_int_equal(status, RIDGE_OK);
    assert_true(nth > 3);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, quotes, quoted);
    cases_add(&list, "document", writes_a_document, NULL);
    cases_add(&list, "endless nesting", refuses_endless_nesting, NULL);
    cases_add(&list, "failing allocations", survives_every_failing_allocation, NULL);
    return cases_run(&list, "json");
}
