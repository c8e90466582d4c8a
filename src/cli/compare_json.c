/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge compare for programs. */
#include "compare_print.h"
#include "measure_cli.h"

void compare_write_json(ridge_output *output, const struct compare_summary *summary)
{
    ridge_json *const json = ridge_json_create(output);
    size_t i;
    int verdict, guard;

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "schema", "ridge-compare/1");
    ridge_json_bool(json, "is_interrupted", summary->is_interrupted);
    ridge_json_bool(json, "is_null", summary->is_null);
    ridge_json_begin_array(json, "without");
    for (guard = 0; guard < RIDGE_GUARD_COUNT; guard++)
        if ((summary->without >> guard & 1) != 0)
            ridge_json_text(json, NULL, ridge_guard_name((ridge_guard)guard));
    ridge_json_end_array(json);
    ridge_json_count(json, "case_count", summary->wanted_count);
    ridge_json_begin_object(json, "counts");
    for (verdict = 0; verdict < RIDGE_VERDICT_COUNT; verdict++)
        ridge_json_count(json, ridge_bench_verdict_name((ridge_bench_verdict)verdict),
                         summary->counts[verdict]);
    ridge_json_end_object(json);
    ridge_json_number(json, "geomean", summary->geomean);
    if (summary->row_count > 0)
        measure_write_device(json, &summary->rows[0].first.device);
    ridge_json_begin_array(json, "cases");
    for (i = 0; i < summary->row_count; i++) {
        const struct compare_row *const row = &summary->rows[i];

        ridge_json_begin_object(json, NULL);
        measure_write_case(json, &row->first.at);
        ridge_json_text(json, "verdict", ridge_bench_verdict_name(row->verdict));
        ridge_json_number(json, "p", row->p);
        ridge_json_number(json, "holm_p", row->holm_p);
        ridge_comparison_write_json(json, "first", &row->first);
        if (row->has_second)
            ridge_comparison_write_json(json, "second", &row->second);
        else
            ridge_json_null(json, "second");
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
    ridge_json_end_object(json);
    ridge_json_free(json);
}
