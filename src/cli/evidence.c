/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge evidence: the page that a reviewer of a kernel asks for, from the ledger. Every number stands
 * with the leading digits of the record it comes from; what is missing is said. */
#include "evidence.h"

#include <stdio.h>
#include <string.h>

#include "commands.h"

static const char usage[] = "ridge evidence [options] [CAMPAIGN]\n"
                            "       ridge evidence [options] COMPARISON...";

const char *const cli_evidence_houses[] = {"plain",      "vllm",   "pytorch",
                                           "flashinfer", "sglang", NULL};

/* -- the page ---------------------------------------------------------------------------------- */

struct section {
    const char *title;
    evidence_section *write;
};

enum {
    PURPOSE,
    CLAIM,
    RESULTS,
    METHOD,
    CORRECTNESS,
    PATH,
    COST,
    NOT_MEASURED,
    REPRODUCE,
    REJECTED,
    ASSISTANCE,
    CHECKLIST,
    END
};

static const struct section sections[] = {
    [PURPOSE] = {"Purpose", evidence_purpose},
    [CLAIM] = {"Claim", evidence_claim},
    [RESULTS] = {"Before and after", evidence_results},
    [METHOD] = {"How it was measured", evidence_method},
    [CORRECTNESS] = {"Correctness", evidence_correctness},
    [PATH] = {"The new path was taken", evidence_path},
    [COST] = {"Cost", evidence_cost},
    [NOT_MEASURED] = {"Not measured", evidence_not_measured},
    [REPRODUCE] = {"Reproduce", evidence_reproduce},
    [REJECTED] = {"Tried and rejected", evidence_rejected},
    [ASSISTANCE] = {"Assistance", evidence_assistance},
    [CHECKLIST] = {"Checklist", evidence_checklist},
};

/* The headings of a project's template, and what goes below each. A section that is the first of
 * its heading has none of its own. */
struct heading {
    const char *title; /* NULL ends the page */
    int sections[8];   /* ends with END */
};

enum { HEADINGS = 12 };

static const struct heading templates[][HEADINGS + 1] = {
    [HOUSE_NONE] = {{"Purpose", {PURPOSE, END}},
                    {"Claim", {CLAIM, END}},
                    {"Before and after", {RESULTS, END}},
                    {"How it was measured", {METHOD, END}},
                    {"Correctness", {CORRECTNESS, END}},
                    {"The new path was taken", {PATH, END}},
                    {"Cost", {COST, END}},
                    {"Not measured", {NOT_MEASURED, END}},
                    {"Reproduce", {REPRODUCE, END}},
                    {"Tried and rejected", {REJECTED, END}},
                    {"Assistance", {ASSISTANCE, END}},
                    {"Checklist", {CHECKLIST, END}}},
    [HOUSE_VLLM] = {{"Purpose", {PURPOSE, CLAIM, END}},
                    {"Test Plan", {REPRODUCE, METHOD, END}},
                    {"Test Result",
                     {RESULTS, CORRECTNESS, PATH, COST, NOT_MEASURED, REJECTED, END}},
                    {"AI assistance", {ASSISTANCE, END}},
                    {"Essential Elements of an Effective PR Description Checklist",
                     {CHECKLIST, END}}},
    [HOUSE_PYTORCH] = {{"Summary", {PURPOSE, CLAIM, RESULTS, COST, NOT_MEASURED, REJECTED, END}},
                       {"Test Plan", {REPRODUCE, METHOD, CORRECTNESS, PATH, END}},
                       {"AI assistance", {ASSISTANCE, END}},
                       {"Checklist", {CHECKLIST, END}}},
    [HOUSE_FLASHINFER] = {{"Description", {PURPOSE, CLAIM, RESULTS, METHOD, PATH, COST, END}},
                          {"Related Issues", {NOT_MEASURED, REJECTED, END}},
                          {"Tests", {CORRECTNESS, REPRODUCE, END}},
                          {"Pull Request Checklist", {CHECKLIST, END}},
                          {"Reviewer Notes", {ASSISTANCE, END}}},
    [HOUSE_SGLANG] = {{"Motivation", {PURPOSE, CLAIM, END}},
                      {"Modifications", {PATH, REJECTED, END}},
                      {"Accuracy Tests", {CORRECTNESS, END}},
                      {"Benchmarking and Profiling",
                       {RESULTS, METHOD, COST, NOT_MEASURED, REPRODUCE, END}},
                      {"Checklist", {CHECKLIST, ASSISTANCE, END}}},
};

static void write_page(struct evidence *evidence)
{
    const struct heading *heading;
    const int *section;

    for (heading = templates[evidence->house]; heading->title != NULL; heading++) {
        ridge_output_format(evidence->output, "%s## %s\n",
                            heading == templates[evidence->house] ? "" : "\n", heading->title);
        for (section = heading->sections; *section != END; section++) {
            if (section > heading->sections)
                ridge_output_format(evidence->output, "\n### %s\n", sections[*section].title);
            ridge_output_text(evidence->output, "\n");
            sections[*section].write(evidence);
        }
    }
}

static void write_json(struct evidence *evidence)
{
    const struct evidence_part *part;
    ridge_json *const json = ridge_json_create(evidence->output);
    char sql[EVIDENCE_SQL_BYTES];

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "schema", "ridge-evidence/1");
    ridge_json_text(json, "campaign", evidence->title[0] != '\0' ? evidence->title : NULL);
    for (part = evidence_parts; part->key != NULL && evidence->status == CLI_DONE; part++) {
        evidence_text(evidence, part, sql, sizeof(sql));
        evidence->status = cli_query_print(evidence->ledger, evidence->path, sql, NULL, 0,
                                           RIDGE_FORMAT_JSON, evidence->output, json, part->key);
    }
    ridge_json_end_object(json);
    ridge_json_free(json);
}

/* -- what it is about -------------------------------------------------------------------------- */

/* Appends an id to a list that begins with "VALUES "; false when it is full. */
static bool add_id(char *list, const char *id)
{
    const size_t used = strlen(list);

    if (used + LEDGER_ID_BYTES + 8 > EVIDENCE_SCOPE_BYTES)
        return false;
    snprintf(list + used, EVIDENCE_SCOPE_BYTES - used, "%s('%s')", list[used - 1] == ' ' ? "" : ",",
             id);
    return true;
}

/* The ids of a query's first column. A list is never empty: NULL is no id. */
static int list_ids(struct evidence *evidence, const char *sql, const char *const *values,
                    size_t count, char *list, size_t *id_count)
{
    struct cli_query query;
    bool fits = true;
    int status;

    *id_count = 0;
    snprintf(list, EVIDENCE_SCOPE_BYTES, "VALUES ");
    cli_query_open(&query, evidence->ledger, evidence->path, sql, values, count);
    while (fits && cli_query_next(&query))
        if (cli_query_text(&query, 0)[0] != '\0') {
            fits = add_id(list, cli_query_text(&query, 0));
            ++*id_count;
        }
    status = cli_query_close(&query);
    if (status == CLI_DONE && !fits)
        return cli_usage_error("more than %zu comparisons are too many for a page", *id_count - 1);
    if (*id_count == 0)
        snprintf(list, EVIDENCE_SCOPE_BYTES, "VALUES (NULL)");
    return status;
}

static int scope_of_ids(struct evidence *evidence, int count, char **ids)
{
    static const char before[] =
        "SELECT DISTINCT a.build_id FROM comparison c JOIN arm a ON a.id = "
        "c.arm_a WHERE c.id IN (%s)";
    static const char after[] = "SELECT DISTINCT a.build_id FROM comparison c JOIN arm a ON a.id = "
                                "c.arm_b WHERE c.id IN (%s)";
    char id[LEDGER_ID_BYTES], sql[EVIDENCE_SQL_BYTES];
    ridge_error err;
    size_t ignored;
    int i, status;

    snprintf(evidence->scope, sizeof(evidence->scope), "VALUES ");
    for (i = 0; i < count; i++) {
        if (ridge_ledger_find(evidence->ledger, "comparison", ids[i], id, &err) != RIDGE_OK)
            return cli_fail(evidence->path, &err);
        if (!add_id(evidence->scope, id))
            return cli_usage_error("%d comparisons are too many for a page", count);
    }
    evidence->comparison_count = (size_t)count;
    snprintf(sql, sizeof(sql), before, evidence->scope);
    status = list_ids(evidence, sql, NULL, 0, evidence->before, &ignored);
    snprintf(sql, sizeof(sql), after, evidence->scope);
    return status == CLI_DONE ? list_ids(evidence, sql, NULL, 0, evidence->after, &ignored)
                              : status;
}

/* First against last build of a campaign. */
static int scope_of_campaign(struct evidence *evidence, const char *name)
{
    static const char comparisons[] =
        "SELECT comparison_id FROM v_end_to_end WHERE campaign_id = ?1 AND first_seq <> last_seq";
    static const char before[] =
        "SELECT DISTINCT first_build_id FROM v_end_to_end WHERE campaign_id = ?1";
    static const char after[] =
        "SELECT DISTINCT last_build_id FROM v_end_to_end WHERE campaign_id = ?1";
    const char *const values[] = {evidence->campaign};
    size_t ignored;
    int status = cli_find_campaign(evidence->ledger, evidence->path, name, evidence->campaign,
                                   evidence->title, sizeof(evidence->title));

    if (status == CLI_DONE)
        status = list_ids(evidence, comparisons, values, 1, evidence->scope,
                          &evidence->comparison_count);
    if (status == CLI_DONE)
        status = list_ids(evidence, before, values, 1, evidence->before, &ignored);
    if (status == CLI_DONE)
        status = list_ids(evidence, after, values, 1, evidence->after, &ignored);
    return status;
}

/* A single argument may be a title or an id of either. */
static int find_scope(struct evidence *evidence, int count, char **names)
{
    char id[LEDGER_ID_BYTES];
    ridge_error err;

    if (count > 1 || (count == 1 && ridge_ledger_find(evidence->ledger, "comparison", names[0], id,
                                                      &err) == RIDGE_OK))
        return scope_of_ids(evidence, count, names);
    return scope_of_campaign(evidence, count == 1 ? names[0] : NULL);
}

int cmd_evidence(int argc, char **argv)
{
    struct cli_output out = {0};
    struct evidence evidence = {0};
    const char *ledger = NULL;
    const struct option options[] = {
        OPT_CHOICE(0, "for", &evidence.house, "plain|vllm|pytorch|flashinfer|sglang",
                   cli_evidence_houses, "the headings of that project's pull requests"),
        OPT_LEDGER(&ledger),
        OPT_JSON(&out),
        OPT_COMMON(&out),
        OPT_END,
    };
    int status;

    if (!options_parse(&argc, argv, usage, options, &status))
        return status;
    evidence.path = cli_ledger_path(ledger);
    status = cli_ledger_open(ledger, RIDGE_LEDGER_READ, &evidence.ledger);
    if (status == CLI_DONE)
        status = find_scope(&evidence, argc - 1, argv + 1);
    if (status == CLI_DONE) {
        evidence.output = cli_open(&out);
        if (out.format == RIDGE_FORMAT_JSON)
            write_json(&evidence);
        else
            write_page(&evidence);
        status = cli_close(evidence.output, evidence.status);
    }
    ridge_ledger_free(evidence.ledger);
    return status;
}
