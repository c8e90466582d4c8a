/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge check: is a kernel right? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_print.h"
#include "commands.h"
#include "measure_cli.h"
#include "sanitizer.h"

static const char usage[] =
    "ridge check [options] KERNEL\n"
    "KERNEL: rms_norm, rms_norm:VARIANT, ./libmine.so:NAME, kernel.json, build:ID";

struct request {
    struct measure measure;
    const char *cases, *only;
    bool full, no_shrink, sanitizer, in_process;
};

static const char *test_names[RIDGE_TEST_COUNT + 1];

static const char *const *list_tests(void)
{
    int test;

    for (test = 0; test < RIDGE_TEST_COUNT; test++)
        test_names[test] = ridge_test_name((ridge_test)test);
    return test_names;
}

/* Cases for compute-sanitizer, under which a kernel is 15 times slower and more: the least that have
 * something to do. */
enum { SMALL_CASES = 3, SMALL_ELEMENTS = 64 };
struct small_case {
    char text[RIDGE_CASE_TEXT];
    double size;
};

struct collector {
    struct check_summary *summary;
    struct small_case small[SMALL_CASES];
    size_t small_count;
};

static void add_small(struct collector *collector, const ridge_case *at)
{
    struct small_case *const small = collector->small;
    bool has_zero = false;
    double size = 1;
    size_t place, i;

    for (i = 0; i < at->axis_count; i++) {
        has_zero = has_zero || at->axes[i].value == 0;
        size *= at->axes[i].value > 0 ? (double)at->axes[i].value : 1;
    }
    if (has_zero || size < SMALL_ELEMENTS)
        size += 1e18; /* perhaps empty: only where there are no others */
    for (place = collector->small_count; place > 0 && small[place - 1].size > size; place--)
        if (place < SMALL_CASES)
            small[place] = small[place - 1];
    if (place == SMALL_CASES)
        return;
    ridge_case_text(at, small[place].text, sizeof(small[place].text));
    small[place].size = size;
    collector->small_count += collector->small_count < SMALL_CASES;
}

static void on_check(void *context, const ridge_check_result *result)
{
    struct collector *const collector = context;

    check_summary_add(collector->summary, result);
    if (result->outcome <= RIDGE_OUTCOME_FAIL)
        add_small(collector, &result->at);
}

static void on_shrunk(void *context, const ridge_check_result *result)
{
    check_summary_shrunk(((struct collector *)context)->summary, result);
}

static void run_sanitizer(const struct measure *m, const struct collector *collector)
{
    struct check_summary *const summary = collector->summary;
    char cases[SMALL_CASES * (RIDGE_CASE_TEXT + 1)] = "";
    size_t used = 0, i;

    for (i = 0; i < collector->small_count; i++)
        used += (size_t)snprintf(cases + used, sizeof(cases) - used, "%s%s", i > 0 ? ";" : "",
                                 collector->small[i].text);
    summary->sanitizer_failed =
        !sanitizer_run(m, cases, summary->sanitizer, sizeof(summary->sanitizer));
}

/* Why the cases that are drawn have one shape, should they. */
static const char *no_axes_text(const struct request *request, const char *kernel)
{
    ridge_arm_name name;

    if (request->cases != NULL)
        return NULL;
    if (request->measure.call == NULL && ridge_arm_name_parse(kernel, &name, NULL) == RIDGE_OK &&
        name.kind == RIDGE_ARM_PLUGIN)
        return "the plug-in names no axes";
    return "the kernel has no axes";
}

static int run(struct request *request, const char *kernel, const struct cli_output *out)
{
    static struct check_summary summary; /* too large for a stack */
    struct collector collector = {.summary = &summary};
    const ridge_session_sink sink = {.check = on_check, .shrunk = on_shrunk, .context = &collector};
    struct measure *const m = &request->measure;
    ridge_session_request session;
    char options[CLI_WORD_BYTES], word[CLI_WORD_BYTES];
    uint64_t tests;
    int status = measure_names(request->only, list_tests(), "test", &tests);
    int exit_status;
    ridge_output *output;

    if (status != CLI_DONE)
        return status;
    measure_request(m, RIDGE_SESSION_CHECK, &session);
    session.full_matrix = request->full;
    session.shrink = !request->no_shrink;
    session.in_process = request->in_process;
    session.check.tests = tests;
    summary = (struct check_summary){.kernel = kernel,
                                     .word = cli_quote_word(kernel, word, sizeof(word)),
                                     .options = measure_options_text(m, options, sizeof(options)),
                                     .no_axes = no_axes_text(request, kernel)};
    measure_run(m, &session, &sink, &exit_status);
    summary.is_interrupted = measure_is_interrupted();
    summary.stop_exit = exit_status;
    if (request->sanitizer && exit_status == CLI_DONE && !summary.is_interrupted &&
        collector.small_count > 0)
        run_sanitizer(m, &collector);
    /* A kernel that crashed is no kernel that is right: what was found before is printed all the
     * same, when there is any. */
    if (exit_status != CLI_DONE && summary.case_count == 0)
        return exit_status;
    output = cli_open(out);
    if (out->format == RIDGE_FORMAT_JSON)
        check_write_json(output, &summary);
    else
        check_write_text(output, &summary);
    return cli_close(output, check_summary_exit(&summary));
}

int cmd_check(int argc, char **argv)
{
    struct cli_output out = {0};
    struct request request = {.measure = MEASURE_DEFAULTS};
    const struct option options[] = {
        OPT_ONCE('c', "case", &request.cases, "NAME=VALUES,...",
                 "only these cases: m=3,n=769,dtype=bf16,layout=pad8,values=int"),
        OPT_FLAG(0, "full", &request.full, "more extents of each axis: minutes"),
        OPT_WORDS(0, "only", &request.only, "TEST,...", list_tests(),
                  "only these tests: values, integers, guards, ..."),
        OPT_FLAG(0, "no-shrink", &request.no_shrink, "do not look for the least case that fails"),
        OPT_FLAG(0, "sanitizer", &request.sanitizer,
                 "run small cases under compute-sanitizer too: memcheck, racecheck, synccheck, "
                 "initcheck"),
        OPT_FLAG(0, "in-process", &request.in_process,
                 "run the kernel in this process: for debuggers and sanitizers"),
        OPT_MEASURE(&request.measure),
        OPT_JSON(&out),
        OPT_COMMON(&out),
        OPT_END,
    };
    const char *arms[2] = {NULL, NULL};
    int status;

    if (!options_parse(&argc, argv, usage, options, &status))
        return status;
    if (argc != 2)
        return cli_usage_error("expected one KERNEL");
    if (request.full && request.cases != NULL)
        return cli_usage_error("--full is about the generated cases, --case names others");
    arms[0] = argv[1];
    status = measure_open(&request.measure, arms, request.cases);
    if (status == CLI_DONE)
        status = run(&request, argv[1], &out);
    return measure_close(&request.measure, status);
}
