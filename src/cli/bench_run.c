/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge bench: how long does a kernel take, and how much of what it could do is that? */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_print.h"
#include "bench_roofs.h"
#include "commands.h"
#include "measure_cli.h"

static const char usage[] =
    "ridge bench [options] KERNEL\n"
    "ridge bench --roofs [--device cpu|cuda[:N]] [--save FILE]\n"
    "KERNEL: rms_norm, rms_norm:VARIANT, ./libmine.so:NAME, kernel.json, build:ID";

struct request {
    struct measure measure;
    const char *sweep, *save, *compare, *threshold;
    bool hot, go, force, roofs;
    int mode;
    double budget_s;
};

/* What callbacks fill. */
struct collector {
    struct bench_summary *summary;
    bool failed;
};

static void on_measurement(void *context, const ridge_measurement *measurement)
{
    struct collector *const c = context;

    c->failed = c->failed || !bench_summary_add(c->summary, measurement);
}

static void on_slot(void *context, size_t case_index, const ridge_slot *slot)
{
    struct collector *const c = context;

    c->failed = c->failed || !bench_summary_add_slot(c->summary, case_index, slot);
}

static void write_saved(ridge_output *output, const void *context)
{
    bench_write_json(output, context, "ridge-bench-save/1");
}

static int print(const struct request *request, const struct bench_summary *summary,
                 const struct cli_output *out, int status)
{
    ridge_output *const output =
        out->format == RIDGE_FORMAT_CSV ? cli_open_whole(out) : cli_open(out);

    if (out->format == RIDGE_FORMAT_JSON)
        bench_write_json(output, summary, "ridge-bench-result/1");
    else if (out->format == RIDGE_FORMAT_CSV)
        bench_write_csv(output, summary);
    else if (request->go)
        bench_write_go(output, summary);
    else
        bench_write_text(output, summary);
    return cli_close(output, status);
}

static int run(struct request *request, struct bench_summary *summary, const struct cli_output *out)
{
    struct measure *const m = &request->measure;
    struct collector collector = {summary, false};
    const ridge_session_sink sink = {
        .measurement = on_measurement, .slot = request->go ? on_slot : NULL, .context = &collector};
    ridge_session_request session;
    char word[CLI_WORD_BYTES], options[2 * CLI_WORD_BYTES] = "";
    int exit_status, status;

    cli_add_option(options, sizeof(options), "sweep", request->sweep);
    measure_options_text(m, options + strlen(options), sizeof(options) - strlen(options));
    summary->word = cli_quote_word(summary->kernel, word, sizeof(word));
    summary->options = options;
    measure_request(m, RIDGE_SESSION_BENCH, &session);
    session.bench = (ridge_bench_options){
        .budget_s = isnan(request->budget_s) ? 0 : request->budget_s,
        .cache = request->hot ? RIDGE_CACHE_HOT : RIDGE_CACHE_COLD,
        .mode = (ridge_mode)request->mode,
        .measure_roofs = true,
    };
    summary->wanted_count = m->case_count > 0 ? m->case_count : 1;
    progress_announce(&m->progress, ridge_bench_estimate_s(&session.bench, false) *
                                        (double)summary->wanted_count);
    measure_run(m, &session, &sink, &exit_status);
    if (collector.failed) {
        cli_message(NULL, "out of memory for the results");
        exit_status = ridge_status_exit(RIDGE_ERR_OUT_OF_MEMORY);
    }
    summary->is_interrupted = measure_is_interrupted();
    if (exit_status != CLI_DONE && summary->row_count == 0)
        return exit_status;
    status = print(request, summary, out,
                   exit_status != CLI_DONE ? exit_status : bench_summary_exit(summary));
    if (request->save != NULL && summary->row_count > 0) {
        const int saved = cli_write_output(request->save, write_saved, summary, request->force);

        status = saved != CLI_DONE ? saved : status;
    }
    return status;
}

/* Everything that can be wrong is said before anything is measured. */
static int take_options(struct request *request, ridge_saved *saved, struct bench_summary *summary)
{
    ridge_error err;
    int status = CLI_DONE;

    if (!isnan(request->budget_s) && !(request->budget_s >= 0.1 && request->budget_s <= 86400))
        return cli_usage_error("--budget %g, expected 0.1 to 86400 seconds", request->budget_s);
    if (request->threshold != NULL &&
        !measure_percent(request->threshold, &summary->threshold_frac))
        return cli_usage_error("--threshold '%s', expected a percentage such as 5%%",
                               request->threshold);
    if (request->threshold != NULL && request->compare == NULL)
        return cli_usage_error("--threshold is about --compare FILE");
    if (request->save != NULL)
        status = cli_check_target(request->save, NULL, request->force);
    if (status == CLI_DONE && request->compare != NULL) {
        if (ridge_saved_read(request->compare, saved, &err) != RIDGE_OK)
            return cli_fail(request->compare, &err);
        summary->saved = saved;
        summary->saved_path = request->compare;
    }
    return status;
}

int cmd_bench(int argc, char **argv)
{
    struct cli_output out = {0};
    struct request request = {.measure = MEASURE_DEFAULTS, .budget_s = NAN};
    struct bench_summary summary = {.threshold_frac = 0.05};
    ridge_saved saved = {0};
    const struct option options[] = {
        OPT_ONCE('s', "sweep", &request.sweep, "NAME=VALUES,...",
                 "cases: m=1:8192:x2,n=5120,dtype=bf16"),
        OPT_ONCE('c', "case", &request.sweep, "NAME=VALUES,...", "the same as --sweep"),
        OPT_FLAG(0, "hot", &request.hot, "inputs in the cache before each slot, instead of cold"),
        OPT_CHOICE(0, "mode", &request.mode, "auto|event|graph|batch", measure_modes,
                   "how launches are timed: one by one, in a graph, in batches"),
        OPT_NUMBER(0, "budget", &request.budget_s, "S", "most seconds for a case (60)"),
        OPT_STRING(0, "save", &request.save, "FILE", "write the times to FILE, for --compare"),
        OPT_FLAG(0, "roofs", &request.roofs,
                 "measure what this machine reaches; --save: for ridge bound --measured"),
        OPT_FLAG('f', "force", &request.force, "let --save replace a file"),
        OPT_STRING(0, "compare", &request.compare, "FILE",
                   "exit with 1 when a case is slower than in FILE"),
        OPT_STRING(0, "threshold", &request.threshold, "PCT",
                   "by how much slower, with --compare: 5%"),
        OPT_FLAG(0, "go", &request.go, "print Go benchmark text, a line a slot, for benchstat"),
        OPT_MEASURE(&request.measure),
        OPT_JSON(&out),
        OPT_CSV(&out),
        OPT_COMMON(&out),
        OPT_END,
    };
    const char *arms[2] = {NULL, NULL};
    int status;

    if (!options_parse(&argc, argv, usage, options, &status))
        return status;
    if (request.roofs && argc != 1)
        return cli_usage_error("--roofs measures the machine and takes no KERNEL, found '%s'",
                               argv[1]);
    if (request.roofs && (request.go || request.compare != NULL || request.sweep != NULL ||
                          out.format == RIDGE_FORMAT_CSV))
        return cli_usage_error("--roofs excludes --sweep, --compare, --go and --csv");
    if (request.roofs)
        return bench_roofs(request.measure.device, request.save, request.force, &out);
    if (argc != 2)
        return cli_usage_error("expected one KERNEL");
    if (request.go && out.format != RIDGE_FORMAT_TEXT)
        return cli_usage_error("--go and --json, --csv exclude each other");
    arms[0] = summary.kernel = argv[1];
    status = take_options(&request, &saved, &summary);
    if (status == CLI_DONE)
        status = measure_open(&request.measure, arms, request.sweep);
    if (status == CLI_DONE)
        status = run(&request, &summary, &out);
    bench_summary_release(&summary);
    ridge_saved_release(&saved);
    return measure_close(&request.measure, status);
}
