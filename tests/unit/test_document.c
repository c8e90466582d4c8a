/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include <math.h>

#include "base/document.h"

static ridge_document parsed(const char *text)
{
    ridge_document document;
    ridge_error err = {0};

    if (ridge_document_parse(text, strlen(text), &document, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    return document;
}

static struct bad_document {
    const char *name, *text, *message;
} bad_documents[] = {
    {"empty", "", "not a JSON document: line 1, column 0: '[' or '{' expected"},
    {"array", "[1]", "the JSON document is an array, expected an object"},
    {"cut", "{\"a\": 1", "not a JSON document: line 1, column 7"},
    {"a member twice", "{\"a\": 1,\n \"a\": 2}", "line 2, column"},
    {"something behind it", "{\"a\": 1} x", "not a JSON document: line 1"},
    {"invalid UTF-8", "{\"a\": \"\xff\"}", "not a JSON document: line 1"},
    {"no number", "{\"a\": NaN}", "not a JSON document: line 1"},
};

static void rejects(void **state)
{
    const struct bad_document *const bad = *state;
    ridge_document document;
    ridge_error err;

    assert_int_equal(ridge_document_parse(bad->text, strlen(bad->text), &document, &err),
                     RIDGE_ERR_FORMAT);
    assert_null(document.root);
    if (strstr(err.text, bad->message) == NULL)
        fail_msg("%s", err.text);
}

static void rejects_deep_nesting(void **state)
{
    enum { DEPTH = 100000 };
    static char text[DEPTH + 8] = "{\"a\":";
    ridge_document document;

    (void)state;
    memset(text + 5, '[', DEPTH);
    assert_int_equal(ridge_document_parse(text, DEPTH + 5, &document, NULL), RIDGE_ERR_FORMAT);
}

static void reads_values(void **state)
{
    ridge_document document = parsed("{\"i\": 7, \"whole\": 4096.0, \"r\": 0.5, \"t\": \"x\", "
                                     "\"b\": true, \"n\": null, \"a\": [1, 2]}");
    const ridge_node *const root = document.root;
    int64_t integer = -1;
    double number = -1;
    bool truth = false;
    const char *text = "default";

    (void)state;
    assert_int_equal(ridge_node_get_integer(root, "i", 0, 9, &integer, NULL), RIDGE_OK);
    assert_int_equal(integer, 7);
    assert_int_equal(ridge_node_get_integer(root, "whole", 0, 5000, &integer, NULL), RIDGE_OK);
    assert_int_equal(integer, 4096);
    assert_int_equal(ridge_node_get_integer(root, "n", 0, 9, &integer, NULL), RIDGE_OK);
    assert_int_equal(ridge_node_get_integer(root, "absent", 0, 9, &integer, NULL), RIDGE_OK);
    assert_int_equal(integer, 4096);
    assert_int_equal(ridge_node_get_number(root, "r", 0, 1, &number, NULL), RIDGE_OK);
    assert_true(number == 0.5);
    assert_int_equal(ridge_node_get_bool(root, "b", &truth, NULL), RIDGE_OK);
    assert_true(truth);
    assert_int_equal(ridge_node_get_text(root, "absent", &text, NULL), RIDGE_OK);
    assert_string_equal(text, "default");
    assert_int_equal(ridge_node_get_text(root, "t", &text, NULL), RIDGE_OK);
    assert_string_equal(text, "x");
    assert_int_equal(ridge_node_count(ridge_node_member(root, "a")), 2);
    assert_true(ridge_node_number(ridge_node_at(ridge_node_member(root, "a"), 1)) == 2);
    assert_true(isnan(ridge_node_number(NULL)));
    assert_int_equal(ridge_node_kind_of(NULL), RIDGE_NODE_NULL);
    ridge_document_release(&document);
}

static void walks_members_in_order(void **state)
{
    ridge_document document = parsed("{\"z\": 1, \"a\": 2, \"m\": 3}");
    const void *at = NULL;
    const char *key;
    char keys[8] = "";

    (void)state;
    while (ridge_node_next(document.root, &at, &key) != NULL)
        strcat(keys, key);
    assert_string_equal(keys, "zam");
    ridge_document_release(&document);
}

static void says_what_was_expected(void **state)
{
    ridge_document document =
        parsed("{\"hidden_size\": \"wide\", \"eps\": 3, \"b\": 1, \"t\": {\"deep\": "
               "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}}");
    int64_t integer = 5;
    double number = 5;
    bool truth;
    const char *text;
    ridge_error err;

    (void)state;
    assert_int_equal(
        ridge_node_get_integer(document.root, "hidden_size", 1, 1048576, &integer, &err),
        RIDGE_ERR_FORMAT);
    assert_string_equal(err.text,
                        "hidden_size is \"wide\", expected a whole number from 1 to 1048576");
    assert_int_equal(integer, 5);
    assert_int_equal(ridge_node_get_number(document.root, "eps", 0, 1, &number, &err),
                     RIDGE_ERR_FORMAT);
    assert_string_equal(err.text, "eps is 3, expected a number from 0 to 1");
    assert_int_equal(ridge_node_get_bool(document.root, "b", &truth, &err), RIDGE_ERR_FORMAT);
    assert_string_equal(err.text, "b is 1, expected true or false");
    assert_int_equal(ridge_node_get_text(document.root, "t", &text, &err), RIDGE_ERR_FORMAT);
    assert_string_equal(err.text, "t is {\"deep\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                                  "..., expected a text");
    ridge_document_release(&document);
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, rejects, bad_documents);
    cases_add(&list, "deep nesting", rejects_deep_nesting, NULL);
    cases_add(&list, "values", reads_values, NULL);
    cases_add(&list, "order of members", walks_members_in_order, NULL);
    cases_add(&list, "messages", says_what_was_expected, NULL);
    return cases_run(&list, "document");
}
