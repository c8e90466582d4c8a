/* SPDX-License-Identifier: Apache-2.0
 *
 * Sessions of a plug-in whose kernels misbehave, each in its own way (session_plugin.c). */
#include "cases.h"

#include <math.h>

#include "ridge/session.h"

/* What a session delivered. */
typedef struct seen {
    size_t checks, failed, shrunk, comparisons, measurements, records, output_lines;
    ridge_bench_verdict verdict;
    char code_hash[2][40], first_record[200];
    char words[200]; /* of the last check */
    char cause[160]; /* of the shrunk one */
} seen;

static void on_record(void *context, const char *line, size_t length)
{
    seen *const s = context;

    if (s->records++ == 0)
        snprintf(s->first_record, sizeof(s->first_record), "%.*s", (int)length, line);
}

static void on_base(void *context, const ridge_case *at, const char *code_hash, int arm)
{
    (void)at;
    snprintf(((seen *)context)->code_hash[arm], 40, "%s", code_hash);
}

static void on_check(void *context, const ridge_check_result *result)
{
    seen *const s = context;

    s->checks++;
    snprintf(s->words, sizeof(s->words), "%s", result->tests[0].text);
    s->failed += result->outcome == RIDGE_OUTCOME_FAIL;
}

static void on_shrunk(void *context, const ridge_check_result *result)
{
    seen *const s = context;

    s->shrunk += result->outcome == RIDGE_OUTCOME_FAIL;
    snprintf(s->cause, sizeof(s->cause), "%s", result->mismatch.cause);
}

static void on_measurement(void *context, const ridge_measurement *result)
{
    ((seen *)context)->measurements += result->arm.median_ns > 0;
}

static void on_comparison(void *context, const ridge_comparison *result)
{
    seen *const s = context;

    s->comparisons++;
    s->verdict = result->verdict;
}

static void on_output(void *context, const char *line, size_t length)
{
    static const char expected[] = "hello from a kernel";

    ((seen *)context)->output_lines +=
        length == sizeof(expected) - 1 && memcmp(line, expected, length) == 0;
}

static ridge_status run(ridge_session_kind kind, const char *a, const char *b, seen *s,
                        ridge_error *err)
{
    static const char *const texts[] = {"m=100", "m=7"};
    char arms[2][600];
    const ridge_session_request request = {
        .kind = kind,
        .device = "cpu",
        .arms = {arms[0], b != NULL ? arms[1] : NULL},
        .case_texts = texts,
        .case_count = kind == RIDGE_SESSION_COMPARE ? 1 : 2,
        .shrink = true,
        .seed = 1,
        .timeout_s =
            strcmp(a, "hang") == 0 ? 5 : 60, /* of others the machine's load is not asked */
    };
    const ridge_session_sink sink = {.record = on_record,
                                     .base_case = on_base,
                                     .check = on_check,
                                     .shrunk = on_shrunk,
                                     .measurement = on_measurement,
                                     .comparison = on_comparison,
                                     .output = on_output,
                                     .context = s};

    snprintf(arms[0], sizeof(arms[0]), "%s:%s", RIDGE_TEST_PLUGIN, a);
    snprintf(arms[1], sizeof(arms[1]), "%s:%s", RIDGE_TEST_PLUGIN, b != NULL ? b : "");
    err->text[0] = '\0';
    return ridge_session_run(&request, &sink, err);
}

static struct check_case {
    const char *name; /* of the kernel */
    ridge_status status;
    const char *message;
    size_t checks, failed, shrunk;
} check_cases[] = {
    {"good", RIDGE_OK, "", 2, 0, 0},
    {"print", RIDGE_OK, "", 2, 0, 0},
    {"allocate", RIDGE_OK, "", 2, 0, 0},
    {"early", RIDGE_OK, "", 2, 2, 1},
    {"short", RIDGE_OK, "", 2, 2, 1},
    /* Each case ends its child, and fails. */
    {"crash", RIDGE_OK, "crashed with SIG", 2, 2, 0},
    {"abort", RIDGE_OK, "crashed with SIGABRT", 2, 2, 0},
    {"exit", RIDGE_OK, "ended the process with exit(0) in launch() of ", 2, 2, 0},
    {"hang", RIDGE_OK, "in launch() of ", 2, 2, 0},
    {"no_status", RIDGE_OK, "launch() of no_status answers status 4711, expected one of", 2, 2, 0},
    {"no_word", RIDGE_OK, "launch() of no_word answers RIDGE_ERR_CUDA without a message", 2, 2, 0},
    {"no_end", RIDGE_OK, "launch() of no_end: xxx", 2, 2, 0},
    /* An error of memory ends the check, and names the case. */
    {"no_memory", RIDGE_ERR_OUT_OF_MEMORY, ", case m=7", 1, 0, 0},
    {"nothing", RIDGE_ERR_INVALID_ARGUMENT, "", 0, 0, 0},
};

static void checks(void **state)
{
    const struct check_case *const test = *state;
    seen s = {0};
    ridge_error err;
    const ridge_status status = run(RIDGE_SESSION_CHECK, test->name, NULL, &s, &err);

    if (status != test->status ||
        (strstr(err.text, test->message) == NULL && strstr(s.words, test->message) == NULL))
        fail_msg("%s: %s, %s", ridge_status_name(status), err.text, s.words);
    assert_int_equal(s.checks, test->checks);
    assert_int_equal(s.failed, test->failed);
    assert_int_equal(s.shrunk, test->shrunk);
    assert_int_equal(s.output_lines > 0, strcmp(test->name, "print") == 0);
    if (s.records > 0)
        assert_non_null(strstr(s.first_record, "\"schema\":\"ridge-bench/1\""));
}

/* Wrong in this layout and right in contiguous memory: that, and not where its elements lie. */
static void blames_the_layout(void **state)
{
    static const char *const texts[] = {"m=100,layout=sliced"};
    const ridge_session_request request = {.kind = RIDGE_SESSION_CHECK,
                                           .device = "cpu",
                                           .arms = {RIDGE_TEST_PLUGIN ":strides"},
                                           .case_texts = texts,
                                           .case_count = 1,
                                           .shrink = true,
                                           .seed = 1,
                                           .timeout_s = 60};
    seen s = {0};
    const ridge_session_sink sink = {.check = on_check, .shrunk = on_shrunk, .context = &s};
    ridge_error err;

    (void)state;
    assert_int_equal(ridge_session_run(&request, &sink, &err), RIDGE_OK);
    assert_int_equal(s.shrunk, 1);
    assert_string_equal(s.cause, "only with layout=sliced, the same in contiguous memory is right: "
                                 "the stride of rows is ignored");
}

/* A kernel that crashes in every case of a matrix does so three times. */
static void stops_after_crashes(void **state)
{
    const ridge_session_request request = {.kind = RIDGE_SESSION_CHECK,
                                           .device = "cpu",
                                           .arms = {RIDGE_TEST_PLUGIN ":crash"},
                                           .seed = 1,
                                           .timeout_s = 60};
    seen s = {0};
    const ridge_session_sink sink = {.check = on_check, .context = &s};
    ridge_error err;

    (void)state;
    assert_int_equal(ridge_session_run(&request, &sink, &err), RIDGE_ERR_CUDA);
    assert_non_null(strstr(err.text, "stopped after 3 cases that ended the process: crashed with"));
    assert_int_equal(s.failed, 3);
}

/* Two kernels of one library are two codes; one kernel is itself. */
static void tells_kernels_of_a_library_apart(void **state)
{
    seen s = {0};
    ridge_error err;

    assert_int_equal(run(RIDGE_SESSION_COMPARE, "good", "good", &s, &err), RIDGE_OK);
    assert_int_equal(s.comparisons, 1);
    assert_int_equal(s.verdict, RIDGE_VERDICT_IDENTICAL_CODE);
    assert_string_equal(s.code_hash[0], s.code_hash[1]);
    memset(&s, 0, sizeof(s));
    run(RIDGE_SESSION_COMPARE, "good", "crash", &s, &err);
    assert_string_not_equal(s.code_hash[0], s.code_hash[1]);
    assert_non_null(strstr(err.text, ":crash"));
    (void)state;
}

/* Rows name what has to be asked for again: the device, the family of an arm. */
static void on_asked(void *context, const char *line, size_t length)
{
    unsigned *const found = context;
    char text[4096];

    snprintf(text, sizeof(text), "%.*s", (int)length, line);
    if (strstr(text, "\"t\":\"session\"") != NULL && strstr(text, "\"device\":\"cpu\"") != NULL)
        *found |= 1;
    if (strstr(text, "\"t\":\"arm\"") != NULL && strstr(text, "\"family\":\"probe\"") != NULL)
        *found |= strstr(text, "\"call\"") == NULL ? 2 : 4;
}

static void records_what_was_asked_for(void **state)
{
    static const char *const texts[] = {"blocks=1"};
    const ridge_session_request request = {
        .kind = RIDGE_SESSION_COMPARE,
        .device = "cpu",
        .arms = {"probe:copy"},
        .arm_options = {{.family = "probe"}},
        .case_texts = texts,
        .case_count = 1,
        .seed = 1,
        .bench = {.null_control = true, .budget_s = 0.1, .most = 1}};
    unsigned found = 0;
    const ridge_session_sink sink = {.record = on_asked, .context = &found};
    ridge_error err;

    (void)state;
    if (ridge_session_run(&request, &sink, &err) != RIDGE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(found, 3);
}

static void describes(void **state)
{
    seen s = {0};
    ridge_error err;

    assert_int_equal(run(RIDGE_SESSION_DESCRIBE, "good", NULL, &s, &err), RIDGE_OK);
    assert_int_equal(strlen(s.code_hash[0]), 32);
    assert_int_equal(s.records, 0);
    (void)state;
}

int main(void)
{
    static cases list;

    CASES_ADD_ROWS(&list, checks, check_cases);
    cases_add(&list, "kernels of one library", tells_kernels_of_a_library_apart, NULL);
    cases_add(&list, "records what was asked for", records_what_was_asked_for, NULL);
    cases_add(&list, "describe", describes, NULL);
    cases_add(&list, "crashes of a matrix", stops_after_crashes, NULL);
    cases_add(&list, "blames the layout", blames_the_layout, NULL);
    return cases_run(&list, "session");
}
