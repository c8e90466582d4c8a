/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge step: one change at a time, predicted before it is measured, kept or rejected with a reason. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "ledger_views.h"
#include "measure_cli.h"

static const char usage[] = "ridge step start [options] CHANGE\n"
                            "       ridge step build [options] BUILD|KERNEL\n"
                            "       ridge step keep [options] [REASON]\n"
                            "       ridge step reject [options] REASON\n"
                            "       ridge step list [options]";

struct request {
    const char *ledger, *campaign, *goal, *predict, *why, *expect, *parent, *author, *assisted_by;
    const char *device, *call; /* of a kernel to be opened */
    bool force;
    struct cli_output out;
    ridge_ledger *opened;
    const char *path;
};

/* -- what was done ----------------------------------------------------------------------------- */

static const char step_query[] =
    "SELECT v.seq, v.state, v.change, v.predicted_ratio, v.ratio, v.ratio_low, v.ratio_high,"
    " v.verdicts, v.parent_seq, v.build_id, v.measured_by, v.reason, v.regressed_count, "
    "v.case_count,"
    " v.basis, v.step_id, v.parent_build_id, c.title AS campaign, b.kernel, b.arch, b.regs,"
    " b.spill_bytes, b.smem_bytes, b.code_bytes"
    " FROM v_step v JOIN campaign c ON c.id = v.campaign_id LEFT JOIN build b ON b.id = v.build_id"
    " WHERE v.step_id = ?1";
enum {
    SEQ,
    STATE,
    CHANGE,
    PREDICTED,
    RATIO,
    RATIO_LOW,
    RATIO_HIGH,
    VERDICTS,
    PARENT_SEQ,
    BUILD,
    MEASURED_BY,
    REASON,
    REGRESSED,
    CASES,
    KERNEL = CASES + 5,
    ARCH,
    REGISTERS,
    FRAME,
    SHARED,
    CODE
};

/* "613bb2ea  w05.json, sm_90, 28 registers, 15,232 B code" */
static void print_build(struct cli_query *query, ridge_output *output)
{
    static const struct {
        size_t column;
        const char *what;
    } numbers[] = {{REGISTERS, " registers"},
                   {FRAME, " B stack"},
                   {SHARED, " B static shared"},
                   {CODE, " B code"}};
    const char *const texts[] = {cli_arm_name(cli_query_text(query, KERNEL)),
                                 cli_query_text(query, ARCH)};
    char number[32];
    size_t i, shown = 0;

    ridge_output_format(output, "  build      %.8s", cli_query_text(query, BUILD));
    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (texts[i][0] != '\0')
            ridge_output_format(output, "%s%.100s", shown++ > 0 ? ", " : "  ", texts[i]);
    for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (cli_query_number(query, numbers[i].column) > 0)
            ridge_output_format(output, "%s%s%s", shown++ > 0 ? ", " : "  ",
                                ridge_number_text(cli_query_number(query, numbers[i].column),
                                                  RIDGE_UNIT_COUNT, number, sizeof(number)),
                                numbers[i].what);
    ridge_output_text(output, "\n");
}

static void print_ratios(struct cli_query *query, ridge_output *output)
{
    const double predicted = cli_query_number(query, PREDICTED);
    const double ratio = cli_query_number(query, RATIO), low = cli_query_number(query, RATIO_LOW);
    char first[32], second[32];

    if (!isnan(predicted))
        ridge_output_format(
            output, "  predicted  %s of the parent's time (%s)\n",
            cli_ratio_text(predicted, first, sizeof(first)),
            ridge_number_text(1 / predicted, RIDGE_UNIT_RATIO, second, sizeof(second)));
    if (isnan(ratio))
        return;
    ridge_output_format(output, "  measured   %s", cli_ratio_text(ratio, first, sizeof(first)));
    if (!isnan(low))
        ridge_output_format(
            output, " [%s, %s]", cli_ratio_text(low, first, sizeof(first)),
            cli_ratio_text(cli_query_number(query, RATIO_HIGH), second, sizeof(second)));
    ridge_output_format(output, " (%s), by %s",
                        ridge_number_text(1 / ratio, RIDGE_UNIT_RATIO, first, sizeof(first)),
                        cli_query_text(query, MEASURED_BY));
    if (cli_query_text(query, VERDICTS)[0] != '\0')
        ridge_output_format(output, ", %s", cli_query_text(query, VERDICTS));
    ridge_output_text(output, "\n");
}

static void print_text(struct cli_query *query, ridge_output *output)
{
    ridge_output_format(output, "step %.0f %s: %s\n", cli_query_number(query, SEQ),
                        cli_query_text(query, STATE), cli_query_text(query, CHANGE));
    if (!isnan(cli_query_number(query, PARENT_SEQ)))
        ridge_output_format(output, "  parent     step %.0f\n",
                            cli_query_number(query, PARENT_SEQ));
    if (cli_query_text(query, BUILD)[0] != '\0')
        print_build(query, output);
    print_ratios(query, output);
    if (cli_query_number(query, REGRESSED) > 0 && cli_query_number(query, CASES) > 1)
        ridge_output_format(output, "  slower     %.0f of %.0f cases, see ridge ledger regressed\n",
                            cli_query_number(query, REGRESSED), cli_query_number(query, CASES));
    cli_labelled(output, 13, "reason", cli_query_text(query, REASON));
}

/* The step of an id, as every subcommand shows it. */
static int print_step(const struct request *request, const char *id)
{
    const char *const values[] = {id};
    ridge_output *const output = cli_open(&request->out);
    struct cli_query query;
    int status;

    if (request->out.format == RIDGE_FORMAT_JSON) {
        ridge_json *const json = ridge_json_create(output);

        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "schema", "ridge-step/1");
        ridge_json_text(json, "ledger", request->path);
        status = cli_query_print(request->opened, request->path, step_query, values, 1,
                                 RIDGE_FORMAT_JSON, output, json, "steps");
        ridge_json_end_object(json);
        ridge_json_free(json);
        return cli_close(output, status);
    }
    cli_query_open(&query, request->opened, request->path, step_query, values, 1);
    if (cli_query_next(&query))
        print_text(&query, output);
    status = cli_query_close(&query);
    return cli_close(output, status);
}

/* Begins a transaction, so that no other process closes the step meanwhile or opens another: the step
 * that is open in it; "" when none is, which the library then says itself. */
static int hold_open_step(const struct request *request, char *id)
{
    ridge_error err;

    if (ridge_ledger_begin(request->opened, &err) != RIDGE_OK)
        return cli_fail(request->path, &err);
    return cli_query_one(request->opened, request->path,
                         "SELECT id FROM step WHERE state = 'open' "
                         "ORDER BY created DESC, seq DESC, id LIMIT 1",
                         NULL, 0, id, LEDGER_ID_BYTES);
}

/* Ends it: written when status is RIDGE_OK. */
static ridge_status release_step(const struct request *request, ridge_status status,
                                 ridge_error *err)
{
    if (status == RIDGE_OK)
        return ridge_ledger_commit(request->opened, err);
    ridge_ledger_rollback(request->opened);
    return status;
}

/* What a kept step still lacks, to standard error so that the result stays alone on standard output. */
static void advise_after_keep(const struct request *request, const char *id)
{
    static const char sql[] =
        "SELECT v.parent_build_id, v.build_id, f.build_id, v.campaign_id FROM v_unconfirmed v"
        " LEFT JOIN v_chain f ON f.campaign_id = v.campaign_id"
        " AND f.parent_step_id IS NULL WHERE v.step_id = ?1";
    const char *const values[] = {id};
    char command[CLI_COMMAND_BYTES];
    struct cli_query query;

    cli_query_open(&query, request->opened, request->path, sql, values, 1);
    if (cli_query_next(&query) && request->out.format == RIDGE_FORMAT_TEXT) {
        const char *const parent = cli_query_text(&query, 0), *const own =
                                                                  cli_query_text(&query, 1);
        const char *const first = cli_query_text(&query, 2);

        const struct cli_again again = {false, true, id, {parent, own}};
        const struct cli_again whole = {true, false, cli_query_text(&query, 3), {first, own}};

        if (cli_again_command(request->opened, request->path, &again, command) == CLI_DONE)
            cli_advise("confirm it with another seed", command);
        if (first[0] != '\0' && strcmp(first, parent) != 0 &&
            cli_again_command(request->opened, request->path, &whole, command) == CLI_DONE)
            cli_advise("the campaign's claim, end to end", command);
    }
    cli_query_close(&query);
}

/* -- subcommands ------------------------------------------------------------------------------- */

/* "0.125", or "8x": as many times as fast. */
static bool parse_prediction(const char *text, double *out)
{
    char *end;

    *out = strtod(text, &end);
    if (end == text || !(*out > 0) || isinf(*out))
        return false;
    if (strcmp(end, "x") == 0)
        *out = 1 / *out;
    else if (*end != '\0')
        return false;
    return true;
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\r\n")] == '\0';
}

static int start(struct request *request, int argc, char **argv)
{
    ridge_step_start step = {.campaign = request->campaign,
                             .goal = request->goal,
                             .hypothesis = request->why,
                             .expected_metric = request->expect,
                             .predicted_ratio = NAN,
                             .parent = request->parent,
                             .author = request->author,
                             .assisted_by = request->assisted_by,
                             .now_s = cli_ledger_now_s()};
    char id[LEDGER_ID_BYTES];
    ridge_error err;
    int status, number;

    if (argc != 3)
        return cli_usage_error("start expects one CHANGE in quotes, got %d", argc - 2);
    step.change = argv[2];
    if (is_blank(step.change)) /* before a ledger is made */
        return cli_usage_error("start expects one CHANGE in quotes, got an empty one");
    if (request->predict != NULL && !parse_prediction(request->predict, &step.predicted_ratio))
        return cli_usage_error("--predict '%s': expected new time / old time such as 0.5, or 2x",
                               request->predict);
    status = cli_ledger_open(request->ledger, RIDGE_LEDGER_CREATE, &request->opened);
    if (status != CLI_DONE)
        return status;
    if (ridge_ledger_step_start(request->opened, &step, &number, id, &err) != RIDGE_OK)
        return cli_fail(request->path, &err);
    return print_step(request, id);
}

static bool is_build(const char *text)
{
    return strncmp(text, "build:", 6) == 0 ||
           (strlen(text) >= 4 && strspn(text, "0123456789abcdef") == strlen(text));
}

/* Opens a kernel, in a process of its own, to file its machine code. */
static int file_kernel(const struct request *request, const char *kernel, char *id)
{
    const char *const arms[2] = {kernel, NULL};
    static const ridge_session_sink none;
    struct measure m = MEASURE_DEFAULTS;
    ridge_session_request opening;
    int status;

    m.device = request->device != NULL ? request->device : "cpu";
    m.call = request->call;
    m.ledger_path = request->path;
    m.is_for_step = true;
    status = measure_open(&m, arms, NULL);
    if (status == CLI_DONE) {
        measure_request(&m, RIDGE_SESSION_DESCRIBE, &opening);
        measure_run(&m, &opening, &none, &status);
    }
    memcpy(id, m.build_ids[0], LEDGER_ID_BYTES);
    if (status == CLI_DONE && id[0] == '\0' && m.ledger_status == RIDGE_OK) {
        cli_message(
            kernel,
            "its machine code is not known: expected a manifest, a library or a variant of a "
            "family that this ridge has the code of");
        status = CLI_USAGE;
    }
    return measure_close(&m, status);
}

static int build(struct request *request, int argc, char **argv)
{
    char id[LEDGER_ID_BYTES], step[LEDGER_ID_BYTES];
    ridge_error err;
    int status;

    if (argc != 3)
        return cli_usage_error("build expects one BUILD or KERNEL, got %d", argc - 2);
    status = cli_ledger_open(request->ledger, RIDGE_LEDGER_WRITE, &request->opened);
    if (status != CLI_DONE)
        return status;
    if (!is_build(argv[2])) {
        status = file_kernel(request, argv[2], id);
        if (status != CLI_DONE)
            return status;
    } else if (ridge_ledger_find_build(request->opened,
                                       strncmp(argv[2], "build:", 6) == 0 ? argv[2] + 6 : argv[2],
                                       id, &err) != RIDGE_OK) {
        return cli_fail(request->path, &err);
    }
    status = hold_open_step(request, step);
    if (status != CLI_DONE)
        return status;
    if (release_step(request, ridge_ledger_step_build(request->opened, id, &err), &err) != RIDGE_OK)
        return cli_fail(argv[2], &err);
    return print_step(request, step);
}

static int close_step(struct request *request, bool is_kept, int argc, char **argv)
{
    char id[LEDGER_ID_BYTES];
    ridge_error err;
    int status, number;

    if (argc > 3 || (!is_kept && argc != 3))
        return cli_usage_error("%s expects %s REASON in quotes, got %d", argv[1],
                               is_kept ? "at most one" : "one", argc - 2);
    if (!is_kept && is_blank(argv[2]))
        return cli_usage_error("reject expects one REASON in quotes, got an empty one");
    status = cli_ledger_open(request->ledger, RIDGE_LEDGER_WRITE, &request->opened);
    if (status != CLI_DONE)
        return status;
    status = hold_open_step(request, id);
    if (status != CLI_DONE)
        return status;
    if (release_step(request,
                     ridge_ledger_step_close(request->opened, is_kept, argc == 3 ? argv[2] : NULL,
                                             request->force, cli_ledger_now_s(), &number, &err),
                     &err) != RIDGE_OK)
        return cli_fail(request->path, &err);
    status = print_step(request, id);
    if (status == CLI_DONE && is_kept)
        advise_after_keep(request, id);
    return status;
}

static int list(struct request *request, int argc, char **argv)
{
    char id[LEDGER_ID_BYTES], title[200];
    int status;

    (void)argv;
    if (argc != 2)
        return cli_usage_error("list expects no argument, got %d", argc - 2);
    status = cli_ledger_open(request->ledger, RIDGE_LEDGER_READ, &request->opened);
    if (status == CLI_DONE)
        status = cli_find_campaign(request->opened, request->path, request->campaign, id, title,
                                   sizeof(title));
    return status == CLI_DONE ? cli_ledger_log(request->opened, request->path, id, &request->out)
                              : status;
}

int cmd_step(int argc, char **argv)
{
    struct request request = {0};
    const struct option options[] = {
        OPT_STRING('c', "campaign", &request.campaign, "TITLE",
                   "the campaign, made when it is new; else the one begun last"),
        OPT_STRING(0, "goal", &request.goal, "TEXT", "what a new campaign is to reach"),
        OPT_STRING('p', "predict", &request.predict, "RATIO",
                   "new time / old time that you expect: 0.5, or 2x"),
        OPT_STRING(0, "why", &request.why, "TEXT", "the hypothesis behind it"),
        OPT_STRING(0, "expect", &request.expect, "TEXT", "what else is to move, such as a metric"),
        OPT_STRING(0, "parent", &request.parent, "STEP",
                   "the step it starts from, else the one kept last"),
        OPT_STRING(0, "author", &request.author, "NAME", "who makes the change"),
        OPT_STRING(0, "assisted-by", &request.assisted_by, "TEXT",
                   "a tool or model that helped, for the page of evidence"),
        OPT_WORDS('d', "device", &request.device, "cpu|cuda[:N]", measure_devices,
                  "build: where a kernel is opened, the CPU by default, since nothing is run"),
        OPT_STRING(0, "call", &request.call, "SIGNATURE",
                   "build: the kernel is a plain function of a library"),
        OPT_FLAG('f', "force", &request.force, "keep without a measurement; the log says so"),
        OPT_LEDGER(&request.ledger),
        OPT_JSON(&request.out),
        OPT_COMMON(&request.out),
        OPT_END,
    };
    int status;

    if (!options_parse(&argc, argv, usage, options, &status))
        return status;
    request.path = cli_ledger_path(request.ledger);
    if (argc < 2)
        return cli_usage_error("expected start, build, keep, reject or list");
    if (strcmp(argv[1], "start") == 0)
        status = start(&request, argc, argv);
    else if (strcmp(argv[1], "build") == 0)
        status = build(&request, argc, argv);
    else if (strcmp(argv[1], "keep") == 0 || strcmp(argv[1], "reject") == 0)
        status = close_step(&request, argv[1][0] == 'k', argc, argv);
    else if (strcmp(argv[1], "list") == 0)
        status = list(&request, argc, argv);
    else
        status = cli_usage_error("'%s' is none of start, build, keep, reject and list", argv[1]);
    ridge_ledger_free(request.opened);
    return status;
}
