/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge check for programs. */
#include <math.h>

#include "check_print.h"
#include "measure_cli.h"

static const char *outcome_word(ridge_outcome outcome)
{
    static const char *const words[] = {"pass", "suspicious", "fail", "refused", "skipped"};

    return words[outcome];
}

static void write_result(ridge_json *json, const char *key, const ridge_check_result *result)
{
    size_t i;

    ridge_json_begin_object(json, key);
    measure_write_case(json, &result->at);
    ridge_json_text(json, "outcome", outcome_word(result->outcome));
    ridge_json_bool(json, "is_verified", result->is_verified);
    ridge_json_number(json, "worst_scaled_error", result->worst_scaled_error);
    ridge_json_begin_array(json, "tests");
    for (i = 0; i < result->test_count; i++) {
        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "test", ridge_test_name(result->tests[i].test));
        ridge_json_text(json, "outcome", outcome_word(result->tests[i].outcome));
        ridge_json_text(json, "text",
                        result->tests[i].text[0] != '\0' ? result->tests[i].text : NULL);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
    ridge_json_text(json, "mismatch_test", ridge_test_name(result->mismatch_test));
    ridge_mismatch_write_json(json, "mismatch", &result->mismatch);
    ridge_json_end_object(json);
}

static void write_tests(ridge_json *json, const struct check_summary *summary)
{
    int test;

    ridge_json_begin_object(json, "tests");
    for (test = 0; test < RIDGE_TEST_COUNT; test++) {
        if (summary->tests_passed[test] + summary->tests_failed[test] == 0)
            continue;
        ridge_json_begin_object(json, ridge_test_name((ridge_test)test));
        ridge_json_count(json, "passed", summary->tests_passed[test]);
        ridge_json_count(json, "failed", summary->tests_failed[test]);
        ridge_json_end_object(json);
    }
    ridge_json_end_object(json);
}

static void write_lists(ridge_json *json, const struct check_summary *summary)
{
    size_t i;

    ridge_json_begin_array(json, "failures");
    for (i = 0; i < summary->failure_count; i++) {
        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "case", summary->failures[i].case_text);
        ridge_json_text(json, "outcome", outcome_word(summary->failures[i].outcome));
        ridge_json_text(json, "test", ridge_test_name(summary->failures[i].test));
        ridge_json_text(json, "text", summary->failures[i].text);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
    ridge_json_begin_array(json, "reasons");
    for (i = 0; i < summary->reason_count; i++) {
        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "outcome", outcome_word(summary->reasons[i].outcome));
        ridge_json_text(json, "test", ridge_test_name(summary->reasons[i].test));
        ridge_json_text(json, "text", summary->reasons[i].text);
        ridge_json_count(json, "cases", summary->reasons[i].count);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
}

void check_write_json(ridge_output *output, const struct check_summary *summary)
{
    ridge_json *const json = ridge_json_create(output);
    char cause[300];

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "schema", "ridge-check/1");
    ridge_json_text(json, "kernel", summary->kernel);
    ridge_json_bool(json, "is_right", check_summary_exit(summary) == CLI_DONE);
    ridge_json_bool(json, "is_interrupted", summary->is_interrupted);
    ridge_json_bool(json, "is_stopped", summary->stop_exit != CLI_DONE);
    ridge_json_count(json, "case_count", summary->case_count);
    ridge_json_count(json, "passed", summary->passed);
    ridge_json_count(json, "suspicious", summary->suspicious);
    ridge_json_count(json, "failed", summary->failed);
    ridge_json_count(json, "refused", summary->refused);
    ridge_json_count(json, "skipped", summary->skipped);
    ridge_json_count(json, "unverified", summary->unverified);
    ridge_json_number(json, "worst_scaled_error",
                      summary->has_bound ? summary->worst_scaled_error : NAN);
    ridge_json_number(json, "duration_s", summary->duration_s);
    ridge_json_text(json, "sanitizer", summary->sanitizer[0] != '\0' ? summary->sanitizer : NULL);
    ridge_json_text(json, "common_cause",
                    check_summary_cause(summary, cause, sizeof(cause)) == CHECK_CAUSE_NONE ? NULL
                                                                                           : cause);
    write_tests(json, summary);
    write_lists(json, summary);
    if (summary->has_first)
        write_result(json, "first", &summary->first);
    else
        ridge_json_null(json, "first");
    if (summary->has_shrunk)
        write_result(json, "shrunk", &summary->shrunk);
    else
        ridge_json_null(json, "shrunk");
    ridge_json_end_object(json);
    ridge_json_free(json);
}
