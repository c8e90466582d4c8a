/* SPDX-License-Identifier: Apache-2.0
 *
 * What ridge check prints, from literal results. */
#include "cases.h"

#include "check_print.h"
#include "options.h"

/* Of main.c, which options.c asks. */
const struct command commands[] = {{NULL}};
const struct command *command_find(const char *name)
{
    (void)name;
    return NULL;
}

static ridge_check_result refused(int64_t n, ridge_layout layout, const char *text)
{
    ridge_check_result out = {.outcome = RIDGE_OUTCOME_REFUSED, .test_count = 1};

    ridge_case_init(&out.at);
    ridge_case_set(&out.at, "n", n, NULL);
    out.at.layout = layout;
    out.tests[0].outcome = RIDGE_OUTCOME_REFUSED;
    snprintf(out.tests[0].text, sizeof(out.tests[0].text), "%s", text);
    return out;
}

/* Reasons that differ in numbers, or in the layout of the case, are one. */
static void groups_refusals(void **state)
{
    static struct check_summary summary;
    const ridge_check_result results[] = {
        refused(105, RIDGE_LAYOUT_CONTIGUOUS, "rows of 105 elements, 105 apart, are no vectors"),
        refused(1, RIDGE_LAYOUT_CONTIGUOUS, "rows of 1 elements, 9 apart, are no vectors"),
        refused(8, RIDGE_LAYOUT_PADDED, "layout pad8: no stride is told"),
        refused(8, RIDGE_LAYOUT_TRANSPOSED, "layout transposed: no stride is told"),
        refused(8, RIDGE_LAYOUT_CONTIGUOUS, "a tensor begins anywhere"),
    };
    caught out;
    size_t i;

    (void)state;
    summary = (struct check_summary){.kernel = "norm", .options = ""};
    for (i = 0; i < sizeof(results) / sizeof(results[0]); i++)
        check_summary_add(&summary, &results[i]);
    caught_open(&out, 100, false);
    check_write_text(out.output, &summary);
    caught_is(&out, "norm: not checked: refuses all 5 cases\n"
                    "  refused     2 cases: rows of 105 elements, 105 apart, are no vectors (the "
                    "first: n=105)\n"
                    "  refused     2 cases: layout pad8: no stride is told (the first: "
                    "n=8,layout=pad8)\n"
                    "  refused     1 case: a tensor begins anywhere\n");
}

int main(void)
{
    static cases list;

    cases_add(&list, "groups refusals", groups_refusals, NULL);
    return cases_run(&list, "check_print");
}
