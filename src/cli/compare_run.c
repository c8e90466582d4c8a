/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge compare: is B faster than A? */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "compare_print.h"
#include "measure_cli.h"

static const char usage[] = "ridge compare [options] A B\n"
                            "ridge compare [options] --null A\n"
                            "A, B: rms_norm:VARIANT, ./libmine.so:NAME, kernel.json, build:ID";

static const char *const regimes[] = {"auto", "short", "both", NULL};

struct request {
    struct measure measure;
    const char *sweep, *delta, *without;
    uint64_t guards_off;
    bool hot, null_control, unsafe_separate;
    int mode, regime;
    double budget_s;
    size_t placements;
};

/* What a session's callbacks need: whose rows the results are. */
struct collector {
    struct compare_summary *summary;
    size_t *rows; /* of a second run: which rows its cases are; NULL: a first run */
    size_t row_count, done;
    bool failed;
};

static void on_comparison(void *context, const ridge_comparison *comparison)
{
    struct collector *const c = context;

    if (c->rows == NULL) {
        c->failed = c->failed || !compare_summary_add(c->summary, comparison);
        return;
    }
    if (c->done < c->row_count) {
        struct compare_row *const row = &c->summary->rows[c->rows[c->done++]];

        row->second = *comparison;
        row->has_second = !comparison->is_interrupted;
    }
}

static const char *guard_names[RIDGE_GUARD_COUNT + 1];

static const char *const *list_guards(void)
{
    int guard;

    for (guard = 0; guard < RIDGE_GUARD_COUNT; guard++)
        guard_names[guard] = ridge_guard_name((ridge_guard)guard);
    return guard_names;
}

enum {
    PLACEMENTS_DEFAULT = 24, /* ridge/bench.h */
    BUDGET_DEFAULT_S = 60,   /* the same */
    SECOND_SEED = 1000003    /* what a second run's seed is greater by */
};
/* Differences below are never claimed: sessions of identical code differ by as much. */
static const double LEAST_DELTA_FRAC = 0.001;

static int take_options(const struct request *request, ridge_bench_options *out)
{
    double delta = 0;

    if (request->delta != NULL && !measure_percent(request->delta, &delta))
        return cli_usage_error("--delta '%s', expected a percentage such as 1%%", request->delta);
    if (request->delta != NULL && delta < LEAST_DELTA_FRAC)
        return cli_usage_error("--delta '%s', expected at least %g%%: less is never told apart",
                               request->delta, 100 * LEAST_DELTA_FRAC);
    if (!isnan(request->budget_s) &&
        !(request->budget_s >= 0.1 && request->budget_s <= COMPARE_BUDGET_S))
        return cli_usage_error("--budget %g, expected 0.1 to %d seconds", request->budget_s,
                               COMPARE_BUDGET_S);
    if (request->placements != OPTION_UNSET &&
        (request->placements < 2 || request->placements > COMPARE_PLACEMENTS))
        return cli_usage_error("--placements %zu, expected 2 to %d", request->placements,
                               COMPARE_PLACEMENTS);
    *out = (ridge_bench_options){
        .delta = delta > 0 ? log1p(delta) : 0,
        .budget_s = isnan(request->budget_s) ? 0 : request->budget_s,
        .cache = request->hot ? RIDGE_CACHE_HOT : RIDGE_CACHE_COLD,
        .mode = (ridge_mode)request->mode,
        .regime = (ridge_regime)request->regime,
        .null_control = request->null_control,
        .without = request->guards_off,
        .measure_roofs = true,
    };
    if (request->placements != OPTION_UNSET) {
        out->most = (int)request->placements;
        out->pilot = request->placements < 6 ? (int)request->placements : 0;
    }
    return CLI_DONE;
}

/* Cases that claim a change, again in a fresh process with another seed. */
static ridge_status confirm(struct request *request, const ridge_session_request *first,
                            struct compare_summary *summary, int *exit_status)
{
    ridge_session_request session = *first;
    char(*texts)[RIDGE_CASE_TEXT] = calloc(summary->row_count, sizeof(*texts));
    const char **pointers = calloc(summary->row_count, sizeof(*pointers));
    const char **first_ids = calloc(summary->row_count, sizeof(*first_ids));
    struct collector collector = {summary, calloc(summary->row_count, sizeof(size_t)), 0, 0, false};
    const ridge_session_sink sink = {.comparison = on_comparison, .context = &collector};
    ridge_status status = RIDGE_OK;
    size_t i;

    if (texts == NULL || pointers == NULL || first_ids == NULL || collector.rows == NULL) {
        cli_message(NULL, "out of memory for the second runs");
        *exit_status = ridge_status_exit(status = RIDGE_ERR_OUT_OF_MEMORY);
    }
    for (i = 0; status == RIDGE_OK && i < summary->row_count; i++)
        if (compare_row_needs_second(&summary->rows[i])) {
            /* As it was asked for: a result names the type that arms of Python really have. */
            snprintf(texts[collector.row_count], RIDGE_CASE_TEXT, "%s,seed=%" PRIu64,
                     request->measure.cases[i], summary->rows[i].first.at.seed + SECOND_SEED);
            pointers[collector.row_count] = texts[collector.row_count];
            first_ids[collector.row_count] = summary->rows[i].first.record_id;
            collector.rows[collector.row_count++] = i;
        }
    if (status == RIDGE_OK && collector.row_count > 0) {
        session.case_texts = pointers;
        session.confirm_of = first_ids;
        session.case_count = collector.row_count;
        session.seed = first->seed + SECOND_SEED;
        request->measure.shown_done = summary->row_count;
        request->measure.shown_total = summary->row_count + collector.row_count;
        status = measure_run(&request->measure, &session, &sink, exit_status);
    }
    free(collector.rows);
    free(first_ids);
    free(pointers);
    free(texts);
    return status;
}

/* What only the whole sweep tells of a case goes to the row of its first run. */
static void file_sweep(struct measure *m, const struct compare_summary *summary)
{
    size_t cursor = 0, i;

    for (i = 0; i < summary->row_count; i++)
        if (!isnan(summary->rows[i].holm_p))
            measure_amend(m, &cursor, summary->rows[i].first.record_id, "holm_p",
                          summary->rows[i].holm_p);
}

static int run(struct request *request, struct compare_summary *summary,
               const struct cli_output *out)
{
    struct measure *const m = &request->measure;
    struct collector collector = {summary, NULL, 0, 0, false};
    const ridge_session_sink sink = {.comparison = on_comparison, .context = &collector};
    ridge_session_request session;
    ridge_output *output;
    int exit_status = CLI_DONE;
    int status;

    measure_request(m, RIDGE_SESSION_COMPARE, &session);
    status = take_options(request, &session.bench);
    if (status != CLI_DONE)
        return status;
    summary->wanted_count = m->case_count > 0 ? m->case_count : 1;
    m->keeps_comparisons = summary->wanted_count > 1;
    summary->placements_most = session.bench.most > 0 ? session.bench.most : PLACEMENTS_DEFAULT;
    summary->budget_s = session.bench.budget_s > 0 ? session.bench.budget_s : BUDGET_DEFAULT_S;
    progress_announce(&m->progress,
                      ridge_bench_estimate_s(&session.bench, true) * (double)summary->wanted_count);
    if (measure_run(m, &session, &sink, &exit_status) == RIDGE_OK && !measure_is_interrupted() &&
        summary->wanted_count > 1 && !collector.failed)
        confirm(request, &session, summary, &exit_status);
    if (collector.failed) {
        cli_message(NULL, "out of memory for %zu results", summary->wanted_count);
        exit_status = ridge_status_exit(RIDGE_ERR_OUT_OF_MEMORY);
    }
    summary->is_interrupted = measure_is_interrupted();
    /* A failure has its message; what was measured before it is printed. */
    if (exit_status != CLI_DONE && summary->row_count == 0)
        return exit_status;
    compare_summary_decide(summary);
    file_sweep(m, summary);
    output = cli_open(out);
    if (out->format == RIDGE_FORMAT_JSON)
        compare_write_json(output, summary);
    else
        compare_write_text(output, summary);
    return cli_close(output, exit_status != CLI_DONE ? exit_status : compare_summary_exit(summary));
}

int cmd_compare(int argc, char **argv)
{
    struct cli_output out = {0};
    struct request request = {
        .measure = MEASURE_DEFAULTS, .budget_s = NAN, .placements = OPTION_UNSET};
    struct compare_summary summary = {0};
    const struct option options[] = {
        OPT_ONCE('s', "sweep", &request.sweep, "NAME=VALUES,...",
                 "cases: m=1:8192:x2,n=5120,dtype=bf16; claims are confirmed in a second run"),
        OPT_ONCE('c', "case", &request.sweep, "NAME=VALUES,...", "the same as --sweep"),
        OPT_STRING(0, "delta", &request.delta, "PCT",
                   "the change that matters: 1% (2% when launch-bound)"),
        OPT_FLAG(0, "null", &request.null_control,
                 "compare A with itself, loaded a second time: what is seen is noise"),
        OPT_CHOICE(0, "regime", &request.regime, "auto|short|both", regimes,
                   "both: sustained slots of 1 s too, which a power limit sets apart"),
        OPT_FLAG(0, "hot", &request.hot, "inputs in the cache before each slot, instead of cold"),
        OPT_CHOICE(0, "mode", &request.mode, "auto|event|graph|batch", measure_modes,
                   "how launches are timed: one by one, in a graph, in batches"),
        OPT_NUMBER(0, "budget", &request.budget_s, "S", "most seconds for a case (60)"),
        OPT_COUNT(0, "placements", &request.placements, "N",
                  "most allocations of the buffers, the unit of replication (24)"),
        OPT_FLAG(0, "unsafe-separate", &request.unsafe_separate,
                 "buffers of its own for each arm, which biases the ratio: to see how much"),
        OPT_WORDS(0, "without", &request.without, "GUARD,...", list_guards(),
                  "switch guards off, for tests of them: the result is unsafe and says so"),
        OPT_FLAG(0, "require-decision", &summary.require_decision,
                 "exit with 1 when a case cannot be told"),
        OPT_FLAG(0, "require-change", &summary.require_change,
                 "exit with 1 when both arms are the same machine code"),
        OPT_MEASURE(&request.measure),
        OPT_JSON(&out),
        OPT_COMMON(&out),
        OPT_END,
    };
    const char *arms[2];
    int status;

    if (!options_parse(&argc, argv, usage, options, &status))
        return status;
    if (request.null_control ? argc != 2 && (argc != 3 || strcmp(argv[1], argv[2]) != 0)
                             : argc != 3)
        return request.null_control ? cli_usage_error("--null compares one kernel with itself")
                                    : cli_usage_error("expected two kernels, A and B");
    status = measure_names(request.without, list_guards(), "guard", &request.guards_off);
    if (status != CLI_DONE)
        return status;
    if (request.unsafe_separate)
        request.guards_off |= UINT64_C(1) << RIDGE_GUARD_SHARE_BUFFERS;
    summary.without = request.guards_off;
    arms[0] = argv[1];
    arms[1] = argc == 3 ? argv[2] : NULL;
    summary.is_null = request.null_control;
    status = measure_open(&request.measure, arms, request.sweep);
    if (status == CLI_DONE)
        status = run(&request, &summary, &out);
    compare_summary_release(&summary);
    return measure_close(&request.measure, status);
}
