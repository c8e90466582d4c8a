/* SPDX-License-Identifier: Apache-2.0
 *
 * The sections of a page of evidence that are no tables: what is missing, how to repeat it, what was
 * tried, who helped, and what only a person can say. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "evidence.h"

/* -- what is missing --------------------------------------------------------------------------- */

/* X(query of one row that is true when something is missing, what). %s: comparisons; before; after. */
static const struct gap {
    const char *sql;
    int scope;
    const char *text;
} gaps[] = {
    {"SELECT count(DISTINCT g.id) > 0 AND sum(g.sm IS NOT NULL) = 0 FROM v_comparison v JOIN "
     "session s ON s.id = v.session_id JOIN env e ON e.id = s.env_id JOIN gpu g ON g.id = e.gpu_id "
     "WHERE v.comparison_id IN (%s)",
     0, "any GPU: all times are of code that runs on the host"},
    {"SELECT count(DISTINCT g.id) = 1 AND sum(g.sm IS NOT NULL) > 0 FROM v_comparison v JOIN "
     "session s ON s.id = v.session_id JOIN env e ON e.id = s.env_id JOIN gpu g ON g.id = e.gpu_id "
     "WHERE v.comparison_id IN (%s)",
     0, "other GPUs than the one above"},
    {"SELECT (SELECT count(*) FROM check_run WHERE build_id IN (SELECT a.build_id FROM comparison "
     "c "
     "JOIN arm a ON a.id = c.arm_b WHERE c.id IN (%1$s))) > 0 AND count(*) > 0 FROM comparison c "
     "JOIN arm a ON a.id = c.arm_b WHERE c.id IN (%1$s) AND NOT EXISTS (SELECT 1 FROM check_run r "
     "WHERE r.build_id = a.build_id AND r.kase_id = c.kase_id)",
     0, "correctness of some cases that were timed, beyond their outputs: ridge check, as below"},
    {"SELECT count(*) > 0 AND sum(source_rev IS NULL) > 0 FROM build WHERE id IN (%s)", 2,
     "which revision of the sources the build after is of"},
    {"SELECT sum(source_rev GLOB '*-dirty') > 0 FROM build WHERE id IN (%s)", 2,
     "the committed sources: some of what the build after was made of was not committed"},
    {"SELECT count(*) > 0 AND sum(sustained_ln_ratio IS NOT NULL) = 0 FROM v_comparison WHERE "
     "comparison_id IN (%s)",
     0, "the ratio under sustained load: ridge compare --regime both"},
    {"SELECT sum(b_roof_frac IS NULL) > 0 FROM v_comparison WHERE comparison_id IN (%s)", 0,
     "the share of a measured roof, for some cases"},
    {"SELECT count(*) > 0 AND sum(" EVIDENCE_CACHE(
         "v.rotation_l2", "v.rotation_l2") " <> 'cold') = 0 FROM v_comparison v JOIN policy p ON "
                                           "p.id = v.policy_id WHERE v.comparison_id IN (%s)",
     0, "a warm cache: all times are with cold inputs"},
    {"SELECT sum(instr(" EVIDENCE_CACHE(
         "v.rotation_l2", "v.rotation_l2") ", 'not cold')) > 0 FROM "
                                           "v_comparison v JOIN policy p ON p.id = v.policy_id "
                                           "WHERE v.comparison_id IN (%s)",
     0, "cold inputs of some cases: all sets of the rotation fit the L2, or nearly"},
    {"SELECT count(*) > 0 AND count(DISTINCT s.seed) = 1 FROM v_comparison v JOIN session s ON "
     "s.id = "
     "v.session_id WHERE v.comparison_id IN (%s)",
     0, "a confirmation of these numbers with another seed"},
    {"SELECT count(*) = 0 FROM check_run WHERE build_id IN (%s)", 2,
     "correctness: ridge check of the build after"},
    {"SELECT count(*) = 0 FROM check_run WHERE sanitizer IS NOT NULL AND build_id IN (%s)", 2,
     "compute-sanitizer: ridge check --sanitizer"},
    {"SELECT count(*) = 0 FROM metric WHERE build_id IN (%s)", 2,
     "a profile of the build after: ridge ledger add-profile"},
    {"SELECT count(*) = 0 FROM metric WHERE build_id IN (%s)", 1,
     "a profile of the build before: ridge ledger add-profile"},
    {"SELECT count(*) = 0 OR sum(compile_s IS NULL) > 0 FROM build WHERE id IN (%s)", 2,
     "the time to compile, and the size of what is shipped"},
};

void evidence_not_measured(struct evidence *evidence)
{
    char sql[EVIDENCE_SQL_BYTES], answer[8];
    size_t i;

    for (i = 0; i < sizeof(gaps) / sizeof(gaps[0]) && evidence->status == CLI_DONE; i++) {
        const struct evidence_part part = {"", gaps[i].sql, gaps[i].scope};

        evidence_text(evidence, &part, sql, sizeof(sql));
        evidence->status =
            cli_query_one(evidence->ledger, evidence->path, sql, NULL, 0, answer, sizeof(answer));
        if (evidence->status == CLI_DONE && strcmp(answer, "1") == 0)
            ridge_output_format(evidence->output, "- %s\n", gaps[i].text);
    }
    ridge_output_text(evidence->output, "- anything beyond this kernel: a model, end to end\n");
}

/* -- reproduce --------------------------------------------------------------------------------- */

/* "build:3f21a0c2" where the binary is archived, else the name it was launched by. */
static void arm_text(struct evidence *evidence, const char *side, char *out, size_t size)
{
    const bool is_before = strcmp(side, "before") == 0;
    struct cli_query query;

    out[0] = '\0';
    if (evidence_open(evidence, &query, is_before ? "builds_before" : "builds_after") &&
        cli_query_next(&query)) {
        if (cli_query_text(&query, 13)[0] != '\0' || cli_query_text(&query, 1)[0] == '\0')
            snprintf(out, size, "build:%.8s", cli_query_text(&query, 0));
        else
            cli_quote_word(cli_query_text(&query, 1), out, size);
    }
    evidence_close(evidence, &query);
    /* A kernel whose code is not known has no build. */
    if (out[0] != '\0')
        return;
    if (evidence_open(evidence, &query, "paths"))
        while (out[0] == '\0' && cli_query_next(&query))
            if (strcmp(cli_query_text(&query, 0), side) == 0)
                cli_quote_word(cli_query_text(&query, 1), out, size);
    evidence_close(evidence, &query);
}

/* The cases of the page, as --sweep and --case take them. */
static void case_text(struct evidence *evidence, char *out, size_t size)
{
    static const char sql[] =
        "SELECT group_concat(sweep, ';') FROM (SELECT DISTINCT k.sweep FROM comparison c"
        " JOIN v_case k ON k.kase_id = c.kase_id WHERE c.id IN (%s) ORDER BY k.sweep)";
    const struct evidence_part part = {"", sql, 0};
    char text[EVIDENCE_SQL_BYTES];

    evidence_text(evidence, &part, text, sizeof(text));
    out[0] = '\0';
    if (evidence->status == CLI_DONE)
        evidence->status =
            cli_query_one(evidence->ledger, evidence->path, text, NULL, 0, out, size);
}

void evidence_reproduce(struct evidence *evidence)
{
    char before[640], after[640], cases[4096], sweep[4200];
    struct cli_query query;
    struct cli_launch launch = {.seed = 1};
    char seed[24] = "1";

    arm_text(evidence, "before", before, sizeof(before));
    arm_text(evidence, "after", after, sizeof(after));
    case_text(evidence, cases, sizeof(cases));
    if (evidence_open(evidence, &query, "sessions") && cli_query_next(&query) &&
        cli_query_text(&query, 1)[0] != '\0')
        snprintf(seed, sizeof(seed), "%s", cli_query_text(&query, 1));
    evidence_close(evidence, &query);
    if (evidence->status == CLI_DONE && evidence->comparison_count > 0)
        evidence->status =
            cli_launch_of(evidence->ledger, evidence->path, evidence->scope, NULL, &launch);
    ridge_output_text(evidence->output,
                      "Attached: `evidence.jsonl`, every row of this page with the binaries "
                      "(`ridge ledger export --artefacts evidence.jsonl`).\n\n```\n"
                      "ridge ledger import --create --ledger evidence.ledger evidence.jsonl\n"
                      "export RIDGE_LEDGER=evidence.ledger\n");
    snprintf(sweep, sizeof(sweep), "%s%s%s", cases[0] != '\0' ? "'" : "", cases,
             cases[0] != '\0' ? "' " : "");
    if (after[0] != '\0')
        ridge_output_format(evidence->output, "ridge check%s %s%s%s\n", launch.options,
                            cases[0] != '\0' ? "--case " : "", sweep, after);
    if (before[0] != '\0' && after[0] != '\0' && strcmp(before, after) != 0)
        ridge_output_format(evidence->output, "ridge compare%s --seed %s %s%s%s %s\n",
                            launch.options, seed, cases[0] != '\0' ? "--sweep " : "", sweep, before,
                            after);
    if (evidence->campaign[0] != '\0')
        ridge_output_format(evidence->output, "ridge ledger log %.8s\nridge evidence %.8s\n",
                            evidence->campaign, evidence->campaign);
    ridge_output_text(evidence->output, "```\n");
}

/* -- rejected ---------------------------------------------------------------------------------- */

void evidence_rejected(struct evidence *evidence)
{
    char ratio[32];
    struct cli_query query;
    int count = 0;

    if (evidence_open(evidence, &query, "steps"))
        while (cli_query_next(&query)) {
            if (strcmp(cli_query_text(&query, 1), "rejected") != 0)
                continue;
            count++;
            ridge_output_format(evidence->output, "- step %s, %s: ", cli_query_text(&query, 0),
                                cli_query_text(&query, 2));
            if (isnan(cli_query_number(&query, 4)))
                ridge_output_text(evidence->output, "not measured");
            else
                ridge_output_format(
                    evidence->output, "%s of its parent's time, %s",
                    cli_ratio_text(cli_query_number(&query, 4), ratio, sizeof(ratio)),
                    cli_query_text(&query, 7)[0] != '\0' ? cli_query_text(&query, 7)
                                                         : "by profile");
            ridge_output_format(evidence->output, "; %s (%.8s)\n",
                                cli_query_text(&query, 9)[0] != '\0' ? cli_query_text(&query, 9)
                                                                     : "no reason given",
                                cli_query_text(&query, 10));
        }
    evidence_close(evidence, &query);
    if (count == 0)
        ridge_output_text(evidence->output,
                          evidence->campaign[0] != '\0'
                              ? "Nothing: no step of the campaign was rejected.\n"
                              : "Not recorded: this page is of comparisons, not of a "
                                "campaign.\n");
    if (evidence_open(evidence, &query, "unconfirmed"))
        while (cli_query_next(&query))
            ridge_output_format(evidence->output,
                                "- kept, and not confirmed with another seed: step %s (%.8s)\n",
                                cli_query_text(&query, 0), cli_query_text(&query, 1));
    evidence_close(evidence, &query);
}

/* -- people ------------------------------------------------------------------------------------ */

void evidence_assistance(struct evidence *evidence)
{
    struct cli_query query;
    int count = 0;

    if (evidence_open(evidence, &query, "assistance"))
        while (cli_query_next(&query)) {
            count++;
            ridge_output_format(evidence->output, "- Recorded with step %s: %s.\n",
                                cli_query_text(&query, 1), cli_query_text(&query, 0));
        }
    evidence_close(evidence, &query);
    if (count == 0)
        ridge_output_text(evidence->output, "- No step records any.\n");
    ridge_output_text(
        evidence->output,
        "- The tables and commands of this page were generated by ridge from recorded "
        "measurements.\n");
    ridge_output_text(evidence->output,
                      "- What tools wrote, and the person who has read and answers for every line:"
                      " ____________________\n");
}

void evidence_checklist(struct evidence *evidence)
{
    static const struct row {
        int house; /* HOUSE_NONE: every page */
        const char *text;
    } rows[] = {
        {HOUSE_NONE, "the purpose above is filled in"},
        {HOUSE_NONE, "searched for open and merged pull requests that do the same:"},
        {HOUSE_NONE, "a model, end to end, before and after, on two GPUs:"},
        {HOUSE_NONE, "accuracy of a model, with enough questions to tell from noise:"},
        {HOUSE_NONE, "the script of the benchmark is in the pull request:"},
        {HOUSE_NONE, "fallback on other architectures, dtypes and layouts:"},
        {HOUSE_VLLM, "benchmark below `benchmarks/kernels`, tests below `tests/kernels`"},
        {HOUSE_VLLM, "documentation and release notes updated, where users see a change"},
        {HOUSE_VLLM, "tool use stated, `Co-authored-by` given, `Signed-off-by` (DCO)"},
        {HOUSE_PYTORCH, "OpInfo and `torch.library.opcheck` for a new operator"},
        {HOUSE_PYTORCH, "`ciflow/*` labels asked for; draft until the author has reviewed it; CLA"},
        {HOUSE_FLASHINFER, "`pre-commit run --all-files` passes"},
        {HOUSE_FLASHINFER, "tests added or updated, `run-ci` asked for"},
        {HOUSE_SGLANG, "formatted as its contribution guide says, unit tests added"},
        {HOUSE_SGLANG, "`run-ci` asked for"},
    };
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].house == HOUSE_NONE || rows[i].house == evidence->house)
            ridge_output_format(
                evidence->output, "- [ ] %s%s\n", rows[i].text,
                rows[i].text[strlen(rows[i].text) - 1] == ':' ? " ____________________" : "");
}
