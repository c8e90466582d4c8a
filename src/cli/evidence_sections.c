/* SPDX-License-Identifier: Apache-2.0
 *
 * The sections of a page of evidence. Generated sentences hold numbers and record ids, and no
 * judgement; what only a person can say is a blank line. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "evidence.h"

enum { SHOWN_CASES = 12, WORST_CASES = 5 };
enum { SOURCE_REVISION = 11 }; /* column of the builds */

static void blank(struct evidence *evidence, const char *what)
{
    ridge_output_format(evidence->output, "%s ____________________\n", what);
}

static const char *ratio_of(struct cli_query *query, size_t column, char *buffer, size_t size)
{
    return cli_ratio_text(cli_query_number(query, column), buffer, size);
}

/* "n/a" for what the ledger does not know. */
static const char *known(struct cli_query *query, size_t column)
{
    const char *const text = cli_query_text(query, column);

    return text[0] != '\0' ? text : "n/a";
}

/* -- purpose and claim ------------------------------------------------------------------------- */

void evidence_purpose(struct evidence *evidence)
{
    blank(evidence, "Which model or workload needs this, and why now (for the author to fill in):");
}

/* Only profiles: said as such, never as a claim. */
static void claim_by_profile(struct evidence *evidence)
{
    char sql[256], text[32], factor[32];
    struct cli_query query;

    snprintf(sql, sizeof(sql),
             "SELECT product, measured_by, (SELECT count(*) FROM v_chain WHERE campaign_id = '%s')"
             " FROM v_chain WHERE campaign_id = '%s' AND depth = 0",
             evidence->campaign, evidence->campaign);
    ridge_output_text(evidence->output,
                      "**No claim yet: the first build has not been compared with the last in one "
                      "session.**\n");
    cli_query_open(&query, evidence->ledger, evidence->path, sql, NULL, 0);
    if (cli_query_next(&query) && cli_query_text(&query, 1)[0] != '\0')
        ridge_output_format(
            evidence->output,
            "The kept steps multiplied give %s of the first step's time (%s), by %s.\n",
            ratio_of(&query, 0, text, sizeof(text)),
            ridge_number_text(1 / cli_query_number(&query, 0), RIDGE_UNIT_RATIO, factor,
                              sizeof(factor)),
            cli_query_text(&query, 1));
    evidence_close(evidence, &query);
}

void evidence_claim(struct evidence *evidence)
{
    static const char *const words[] = {"IMPROVED",     "REGRESSED",   "SAME",    "FASTER_SMALL",
                                        "SLOWER_SMALL", "CANNOT_TELL", "INVALID", "IDENTICAL_CODE"};
    char least[32], most[32];
    struct cli_query query;
    size_t i;
    bool any = false;

    if (evidence->comparison_count == 0) {
        claim_by_profile(evidence);
        return;
    }
    if (evidence_open(evidence, &query, "claim") && cli_query_next(&query)) {
        const double cases = cli_query_number(&query, 3);

        ratio_of(&query, 4, least, sizeof(least));
        ratio_of(&query, 5, most, sizeof(most));
        ridge_output_format(
            evidence->output, "**`%s` against `%s` on %s, %.0f case%s: %s%s%s of the time; ",
            known(&query, 1), known(&query, 0), known(&query, 2), cases, cases == 1 ? "" : "s",
            least, strcmp(least, most) != 0 ? " to " : "", strcmp(least, most) != 0 ? most : "");
        for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
            if (cli_query_number(&query, 6 + i) > 0) {
                ridge_output_format(evidence->output, "%s%.0f %s", any ? ", " : "",
                                    cli_query_number(&query, 6 + i), words[i]);
                any = true;
            }
        ridge_output_text(evidence->output, ".**\n");
    }
    evidence_close(evidence, &query);
    if (evidence_open(evidence, &query, "cases") && cli_query_next(&query)) {
        ridge_output_format(evidence->output, "Worst case: %s, %s [%s, ", known(&query, 0),
                            ratio_of(&query, 4, least, sizeof(least)),
                            ratio_of(&query, 5, most, sizeof(most)));
        ridge_output_format(evidence->output, "%s], %s (%.8s).\n",
                            ratio_of(&query, 6, most, sizeof(most)), known(&query, 7),
                            cli_query_text(&query, 11));
    }
    evidence_close(evidence, &query);
}

/* -- results ----------------------------------------------------------------------------------- */

static void add_case(struct evidence *evidence, struct cli_query *query)
{
    char a[32], b[32], ratio[32], low[32], high[32], roof[2][32];

    ridge_output_format(
        evidence->output, "| %s | %s | %s | %s | %s | %s to %s | %s | %s | %s | %s | %.8s |\n",
        known(query, 0), known(query, 1),
        ridge_number_text(cli_query_number(query, 2), RIDGE_UNIT_NS, a, sizeof(a)),
        ridge_number_text(cli_query_number(query, 3), RIDGE_UNIT_NS, b, sizeof(b)),
        ratio_of(query, 4, ratio, sizeof(ratio)), ratio_of(query, 5, low, sizeof(low)),
        ratio_of(query, 6, high, sizeof(high)), known(query, 7), known(query, 8),
        ridge_number_text(cli_query_number(query, 9), RIDGE_UNIT_FRAC, roof[0], sizeof(roof[0])),
        ridge_number_text(cli_query_number(query, 10), RIDGE_UNIT_FRAC, roof[1], sizeof(roof[1])),
        cli_query_text(query, 11));
}

static void case_heading(struct evidence *evidence)
{
    ridge_output_text(
        evidence->output,
        "| case | device | before | after | ratio | 95 % | verdict | L2 | roof before | roof after "
        "| "
        "record |\n| --- | --- | ---: | ---: | ---: | --- | --- | --- | ---: | ---: | --- |\n");
}

/* Never behind a fold: the worst, and everything that is not a plain success. */
static bool is_shown(struct cli_query *query, double count)
{
    const char *const verdict = cli_query_text(query, 7);

    return count <= SHOWN_CASES || cli_query_number(query, 15) <= WORST_CASES ||
           (strcmp(verdict, "IMPROVED") != 0 && strcmp(verdict, "SAME") != 0 &&
            strcmp(verdict, "FASTER_SMALL") != 0);
}

static void write_cases(struct evidence *evidence, bool shown, double count)
{
    struct cli_query query;

    if (evidence_open(evidence, &query, "cases"))
        while (cli_query_next(&query))
            if (is_shown(&query, count) == shown)
                add_case(evidence, &query);
    evidence_close(evidence, &query);
}

/* The causes of INVALID comparisons, which have no number to show. */
static void write_invalid(struct evidence *evidence)
{
    struct cli_query query;

    if (evidence_open(evidence, &query, "cases"))
        while (cli_query_next(&query))
            if (strcmp(cli_query_text(&query, 7), "INVALID") == 0)
                ridge_output_format(evidence->output, "\nINVALID, %s: %s (%.8s).\n",
                                    known(&query, 0), known(&query, 12),
                                    cli_query_text(&query, 11));
    evidence_close(evidence, &query);
}

static void results_by_profile(struct evidence *evidence)
{
    char time[32];
    struct cli_query query;
    int count = 0;

    if (evidence_open(evidence, &query, "profiles"))
        while (cli_query_next(&query)) {
            if (count++ == 0)
                ridge_output_text(
                    evidence->output,
                    "Not compared. Times of single profiles, without an interval:\n\n"
                    "| kernel | device | time | verdict of the profile | build | record |\n"
                    "| --- | --- | ---: | --- | --- | --- |\n");
            ridge_output_format(
                evidence->output, "| `%s` | %s | %s | %s | %.8s | %.8s |\n", known(&query, 0),
                known(&query, 2),
                ridge_number_text(cli_query_number(&query, 3), RIDGE_UNIT_NS, time, sizeof(time)),
                known(&query, 5), cli_query_text(&query, 1), cli_query_text(&query, 4));
        }
    evidence_close(evidence, &query);
    if (count == 0)
        ridge_output_text(evidence->output, "Not measured.\n");
}

void evidence_results(struct evidence *evidence)
{
    double count = 0, geomean = NAN, claims = 0, holm_p_most = NAN;
    char text[32];
    struct cli_query query;

    if (evidence->comparison_count == 0) {
        results_by_profile(evidence);
        return;
    }
    if (evidence_open(evidence, &query, "claim") && cli_query_next(&query)) {
        count = cli_query_number(&query, 3);
        geomean = cli_query_number(&query, 14);
        claims = cli_query_number(&query, 15);
        holm_p_most = cli_query_number(&query, 16);
    }
    evidence_close(evidence, &query);
    ridge_output_text(evidence->output,
                      "Ratio: time after / time before, below 1 is faster. Worst first.\n\n");
    case_heading(evidence);
    write_cases(evidence, true, count);
    if (count > SHOWN_CASES) {
        ridge_output_text(
            evidence->output,
            "\n<details><summary>The other cases: IMPROVED, FASTER_SMALL or SAME</summary>\n\n");
        case_heading(evidence);
        write_cases(evidence, false, count);
        ridge_output_text(evidence->output, "\n</details>\n");
    }
    write_invalid(evidence);
    if (count > 1)
        ridge_output_format(evidence->output, "\nGeometric mean of the %.0f cases above: %s.\n",
                            count, cli_ratio_text(geomean, text, sizeof(text)));
    if (claims > 0)
        ridge_output_format(evidence->output,
                            "\nOf a sweep, measured again with another seed: %.0f claim%s, the "
                            "greatest p of both runs after Holm's correction is %.2g.\n",
                            claims, claims == 1 ? "" : "s", holm_p_most);
}

/* -- method ------------------------------------------------------------------------------------ */

/* " (1.0 to 2.1x L2)"; "" when the ledger does not know. */
static const char *rotation_text(struct cli_query *query, char *buffer, size_t size)
{
    const double least = cli_query_number(query, 9), most = cli_query_number(query, 10);

    if (isnan(least))
        buffer[0] = '\0';
    else if (most - least < 0.05)
        snprintf(buffer, size, " (%.2gx L2)", least);
    else
        snprintf(buffer, size, " (%.2g to %.2gx L2)", least, most);
    return buffer;
}

static void write_policies(struct evidence *evidence)
{
    char rotation[48];
    struct cli_query query;

    if (evidence_open(evidence, &query, "policies"))
        while (cli_query_next(&query))
            ridge_output_format(
                evidence->output,
                "- Blocks of four slots in the order %s, %s a placement, both arms "
                "in the same buffers; "
                "%s launches a slot, timed by %s; inputs %s, rotation of %s sets%s; "
                "regime %s; a change that "
                "matters is %.2g %% (%.8s).\n",
                known(&query, 7), known(&query, 1), known(&query, 2), known(&query, 5),
                known(&query, 3), known(&query, 4),
                rotation_text(&query, rotation, sizeof(rotation)), known(&query, 6),
                100 * cli_query_number(&query, 8), cli_query_text(&query, 0));
    evidence_close(evidence, &query);
}

static const char *yes_no(struct cli_query *query, size_t column)
{
    const double value = cli_query_number(query, column);

    return isnan(value) ? "n/a" : value != 0 ? "yes" : "no";
}

static void write_sessions(struct evidence *evidence)
{
    char least[32], most[32], null[32], half[32];
    struct cli_query query;

    if (evidence_open(evidence, &query, "sessions"))
        while (cli_query_next(&query)) {
            const bool is_gpu = cli_query_number(&query, 19) > 0;

            ridge_output_format(evidence->output, "- %.10s, %s: %s placements, seed %s; ",
                                known(&query, 2), known(&query, 7), known(&query, 18),
                                known(&query, 1));
            if (is_gpu)
                ridge_output_format(
                    evidence->output,
                    "SM clock %s to %s, locked: %s, power limit %s W; other processes on the GPU: "
                    "%s; ",
                    ridge_number_text(cli_query_number(&query, 15), RIDGE_UNIT_HZ, least,
                                      sizeof(least)),
                    ridge_number_text(cli_query_number(&query, 16), RIDGE_UNIT_HZ, most,
                                      sizeof(most)),
                    yes_no(&query, 11), known(&query, 10), yes_no(&query, 3));
            if (isnan(cli_query_number(&query, 4)))
                ridge_output_text(evidence->output, "no control of the kernel with itself; ");
            else
                ridge_output_format(evidence->output, "control of the kernel with itself %s +-%s; ",
                                    ridge_number_text(cli_query_number(&query, 4), RIDGE_UNIT_FRAC,
                                                      null, sizeof(null)),
                                    ridge_number_text(cli_query_number(&query, 5), RIDGE_UNIT_FRAC,
                                                      half, sizeof(half)));
            ridge_output_format(evidence->output, "%s outputs of timed launches checked (%.8s).\n",
                                known(&query, 17), cli_query_text(&query, 0));
            if (is_gpu)
                ridge_output_format(evidence->output, "- Driver %s, CUDA %s, ridge %s.",
                                    known(&query, 8), known(&query, 9), known(&query, 6));
            else
                ridge_output_format(evidence->output, "- ridge %s.", known(&query, 6));
        }
    evidence_close(evidence, &query);
}

static void write_hashes(struct evidence *evidence, const char *key, const char *word)
{
    struct cli_query query;

    if (evidence_open(evidence, &query, key))
        while (cli_query_next(&query))
            ridge_output_format(evidence->output, " Code %s: `%s` (%.8s).", word, known(&query, 3),
                                cli_query_text(&query, 0));
    evidence_close(evidence, &query);
}

void evidence_method(struct evidence *evidence)
{
    if (evidence->comparison_count == 0) {
        ridge_output_text(evidence->output, "- No comparison: nothing to describe.\n-");
    } else {
        write_policies(evidence);
        write_sessions(evidence);
    }
    write_hashes(evidence, "builds_before", "before");
    write_hashes(evidence, "builds_after", "after");
    ridge_output_text(evidence->output, "\n");
}

/* -- correctness ------------------------------------------------------------------------------- */

static void write_passed(struct evidence *evidence, struct cli_query *query, const char *what,
                         size_t column)
{
    if (cli_query_number(query, column + 1) > 0)
        ridge_output_format(evidence->output, "; %s in %.0f of %.0f", what,
                            cli_query_number(query, column), cli_query_number(query, column + 1));
    else
        ridge_output_format(evidence->output, "; %s not tested", what);
}

static const char *plural(struct cli_query *query, size_t column)
{
    return cli_query_number(query, column) == 1 ? "" : "s";
}

void evidence_correctness(struct evidence *evidence)
{
    static const char *const words[] = {"pass", "suspicious", "fail", "refused", "skipped"};
    char number[32];
    struct cli_query query;
    int count = 0;
    size_t i;

    if (evidence_open(evidence, &query, "checks"))
        while (cli_query_next(&query)) {
            count++;
            ridge_output_format(evidence->output, "%.0f run%s on %.0f case%s of build %.8s:",
                                cli_query_number(&query, 0), plural(&query, 0),
                                cli_query_number(&query, 1), plural(&query, 1),
                                cli_query_text(&query, 18));
            for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
                if (cli_query_number(&query, 2 + i) > 0)
                    ridge_output_format(evidence->output, " %.0f %s",
                                        cli_query_number(&query, 2 + i), words[i]);
            ridge_output_format(evidence->output, "; worst error %s of the rounding bound (%.8s)",
                                ridge_number_text(cli_query_number(&query, 7), RIDGE_UNIT_NONE,
                                                  number, sizeof(number)),
                                cli_query_text(&query, 17));
            write_passed(evidence, &query, "small integers exact", 8);
            write_passed(evidence, &query, "same bits when repeated", 10);
            write_passed(evidence, &query, "guards intact", 12);
            write_passed(evidence, &query, "everything written", 14);
            ridge_output_format(evidence->output, "; compute-sanitizer: %s.\n",
                                cli_query_text(&query, 16)[0] != '\0' ? cli_query_text(&query, 16)
                                                                      : "not run");
        }
    evidence_close(evidence, &query);
    if (count == 0)
        ridge_output_text(evidence->output,
                          "**Not checked: the ledger holds no check of the build after.**\n");
    if (evidence_open(evidence, &query, "failed_checks"))
        while (cli_query_next(&query))
            ridge_output_format(evidence->output, "- %s on %s: %s elements wrong; %s (%.8s)\n",
                                known(&query, 1), known(&query, 2), known(&query, 3),
                                known(&query, 5), cli_query_text(&query, 0));
    evidence_close(evidence, &query);
}

/* -- path and cost ----------------------------------------------------------------------------- */

void evidence_path(struct evidence *evidence)
{
    struct cli_query query;
    int count = 0;

    if (evidence_open(evidence, &query, "paths"))
        while (cli_query_next(&query)) {
            count++;
            ridge_output_format(evidence->output, "- %s, `%s`: %s (%.8s)\n",
                                cli_query_text(&query, 0), cli_query_text(&query, 1),
                                cli_query_text(&query, 2)[0] != '\0' ? cli_query_text(&query, 2)
                                                                     : "launches not recorded",
                                cli_query_text(&query, 4));
        }
    evidence_close(evidence, &query);
    if (count == 0)
        ridge_output_text(evidence->output, "Not recorded: no call was captured.\n");
}

static void add_cost(struct evidence *evidence, const char *key, const char *word)
{
    static const ridge_unit units[] = {RIDGE_UNIT_NONE, RIDGE_UNIT_BYTES, RIDGE_UNIT_BYTES,
                                       RIDGE_UNIT_BYTES, RIDGE_UNIT_NONE};
    char text[32];
    struct cli_query query;
    size_t i;
    int count = 0;

    if (evidence_open(evidence, &query, key))
        while (cli_query_next(&query)) {
            count++;
            ridge_output_format(evidence->output, "| %s | `%s` | %s |", word, known(&query, 1),
                                known(&query, 2));
            for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
                ridge_output_format(evidence->output, " %s |",
                                    ridge_number_text(cli_query_number(&query, 4 + i), units[i],
                                                      text, sizeof(text)));
            ridge_output_format(evidence->output, " %s | %.8s |\n",
                                ridge_number_text(cli_query_number(&query, 12), RIDGE_UNIT_FRAC,
                                                  text, sizeof(text)),
                                cli_query_text(&query, 0));
        }
    evidence_close(evidence, &query);
    if (count == 0)
        ridge_output_format(evidence->output, "| %s | not filed | | | | | | | | |\n", word);
}

/* The revisions that builds are of, as far as they are known. */
static void add_sources(struct evidence *evidence, const char *key, const char *word)
{
    struct cli_query query;

    if (evidence_open(evidence, &query, key))
        while (cli_query_next(&query))
            if (cli_query_text(&query, SOURCE_REVISION)[0] != '\0')
                ridge_output_format(evidence->output, "\nSources %s: `%s` (%.8s).\n", word,
                                    cli_query_text(&query, SOURCE_REVISION),
                                    cli_query_text(&query, 0));
    evidence_close(evidence, &query);
}

void evidence_cost(struct evidence *evidence)
{
    ridge_output_text(
        evidence->output,
        "| | kernel | architecture | registers | stack frame | shared | code | compile s | "
        "occupancy | build |\n| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | "
        "--- |\n");
    add_cost(evidence, "builds_before", "before");
    add_cost(evidence, "builds_after", "after");
    add_sources(evidence, "builds_before", "before");
    add_sources(evidence, "builds_after", "after");
    ridge_output_text(
        evidence->output,
        "\nArchitectures covered are those of this table; for a library: `ridge inspect "
        "--cover FILE`.\n");
}
