/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the numbers of a page come from: one query a section, for the page and for JSON alike. %s
 * stands for the scope: the comparisons, the builds before or after, or the campaign. */
#include <stdio.h>
#include <string.h>

#include "evidence.h"

/* clang-format off */
/* What a kernel costs, of the builds before and of those after. */
#define BUILDS \
    "SELECT b.id AS build_id, b.kernel, b.arch, b.code_hash, b.regs, b.spill_bytes," \
    " coalesce((SELECT max(m.value) FROM metric m WHERE m.build_id = b.id AND" \
    "  m.name = 'ridge:shared_bytes_per_block'), b.smem_bytes) AS smem_bytes," \
    " b.code_bytes, b.compile_s, b.compiler, b.flags, b.source_rev," \
    " (SELECT max(m.value) FROM metric m WHERE m.build_id = b.id AND" \
    "  m.name = 'ridge:occupancy_theoretical') AS occupancy, b.archive_artefact_id" \
    " FROM build b WHERE b.id IN (%s) ORDER BY b.id"

const struct evidence_part evidence_parts[] = {
    {"cases",
     "SELECT c.text AS \"case\", v.gpu, v.a_ns, v.b_ns, exp(v.ln_ratio) AS ratio, exp(v.lo) AS ratio_low,"
     " exp(v.hi) AS ratio_high, v.verdict, " EVIDENCE_CACHE("v.rotation_l2", "v.rotation_l2") " AS l2, v.a_roof_frac, v.b_roof_frac, v.comparison_id,"
     " v.invalid_cause, exp(v.sustained_ln_ratio) AS sustained_ratio, exp(v.mdc) - 1 AS detectable,"
     " row_number() OVER (ORDER BY v.verdict = 'INVALID' DESC, v.ln_ratio DESC, c.text, v.comparison_id)"
     " AS rank, v.holm_p"
     " FROM v_comparison v LEFT JOIN v_case c ON c.kase_id = v.kase_id"
     " LEFT JOIN policy p ON p.id = v.policy_id WHERE v.comparison_id IN (%s) ORDER BY rank", 0},
    {"claim",
     "SELECT group_concat(DISTINCT v.a_name) AS baseline, group_concat(DISTINCT v.b_name) AS candidate,"
     " group_concat(DISTINCT v.gpu) AS gpus, count(*) AS case_count,"
     " exp(min(CASE WHEN v.verdict <> 'INVALID' THEN v.ln_ratio END)) AS ratio_least,"
     " exp(max(CASE WHEN v.verdict <> 'INVALID' THEN v.ln_ratio END)) AS ratio_most,"
     " sum(v.verdict = 'IMPROVED') AS improved, sum(v.verdict = 'REGRESSED') AS regressed,"
     " sum(v.verdict = 'SAME') AS same, sum(v.verdict = 'FASTER_SMALL') AS faster_small,"
     " sum(v.verdict = 'SLOWER_SMALL') AS slower_small, sum(v.verdict = 'CANNOT_TELL') AS cannot_tell,"
     " sum(v.verdict = 'INVALID') AS invalid, sum(v.verdict = 'IDENTICAL_CODE') AS identical_code,"
     " exp(avg(CASE WHEN v.verdict <> 'INVALID' THEN v.ln_ratio END)) AS geomean,"
     " sum(v.holm_p IS NOT NULL AND v.verdict IN ('IMPROVED', 'REGRESSED')) AS sweep_claims,"
     " max(CASE WHEN v.verdict IN ('IMPROVED', 'REGRESSED') THEN v.holm_p END) AS holm_p_most"
     " FROM v_comparison v WHERE v.comparison_id IN (%s)", 0},
    {"policies",
     "SELECT p.id AS policy_id, p.m, p.k,"
     " " EVIDENCE_CACHE("min(v.rotation_l2)", "max(v.rotation_l2)") " AS l2, p.rotation, p.mode, p.regime,"
     " p.order_scheme, p.delta, min(v.rotation_l2) AS rotation_l2_least,"
     " max(v.rotation_l2) AS rotation_l2_most"
     " FROM v_comparison v JOIN policy p ON p.id = v.policy_id WHERE v.comparison_id IN (%s)"
     " GROUP BY p.id ORDER BY p.id", 0},
    {"sessions",
     "SELECT DISTINCT s.id AS session_id, s.seed, s.started, s.busy_flag, s.null_centre,"
     " s.null_halfwidth, s.tool_version, g.name AS gpu, e.driver, e.cuda_runtime, e.power_limit_w,"
     " e.clock_lock, e.ecc, e.mig, e.virt,"
     " (SELECT min(x.a_clock_hz) FROM comparison x WHERE x.session_id = s.id) AS clock_least_hz,"
     " (SELECT max(max(x.a_clock_hz, x.b_clock_hz)) FROM comparison x WHERE x.session_id = s.id)"
     " AS clock_most_hz,"
     " (SELECT sum(x.outputs_checked) FROM comparison x WHERE x.session_id = s.id) AS outputs_checked,"
     " (SELECT CASE WHEN min(x.placements) = max(x.placements) THEN '' || min(x.placements)"
     "  ELSE min(x.placements) || ' to ' || max(x.placements) END FROM comparison x"
     "  WHERE x.session_id = s.id) AS placements, g.sm IS NOT NULL AS is_gpu"
     " FROM v_comparison v JOIN session s ON s.id = v.session_id LEFT JOIN env e ON e.id = s.env_id"
     " LEFT JOIN gpu g ON g.id = e.gpu_id WHERE v.comparison_id IN (%s) ORDER BY s.started, s.id", 0},
    {"checks",
     "SELECT count(*) AS run_count, count(DISTINCT r.kase_id) AS case_count,"
     " sum(r.status = 'pass') AS pass, sum(r.status = 'suspicious') AS suspicious,"
     " sum(r.status = 'fail') AS fail, sum(r.status = 'refused') AS refused,"
     " sum(r.status = 'skipped') AS skipped, max(r.worst_scaled_err) AS worst_scaled_err,"
     " sum(r.exact_test) AS exact, count(r.exact_test) AS exact_count, sum(r.repeat_bits) AS repeated,"
     " count(r.repeat_bits) AS repeat_count, sum(r.guard_ok) AS guards, count(r.guard_ok) AS guard_count,"
     " sum(r.poison_ok) AS written, count(r.poison_ok) AS written_count,"
     " group_concat(DISTINCT r.sanitizer) AS sanitizer,"
     " (SELECT w.id FROM check_run w WHERE w.build_id = r.build_id"
     "  ORDER BY w.worst_scaled_err DESC, w.id LIMIT 1) AS worst_id, r.build_id"
     " FROM check_run r WHERE r.build_id IN (%s) GROUP BY r.build_id", 2},
    {"failed_checks",
     "SELECT r.id AS check_run_id, r.status, c.text AS \"case\", r.n_fail, r.worst_scaled_err,"
     " (SELECT g.explanation FROM check_region g WHERE g.check_run_id = r.id ORDER BY g.id LIMIT 1) AS"
     " explanation FROM check_run r LEFT JOIN v_case c ON c.kase_id = r.kase_id"
     " WHERE r.status IN ('fail', 'suspicious') AND r.build_id IN (%s) ORDER BY r.status, c.text, r.id", 2},
    {"paths",
     "SELECT DISTINCT x.side, coalesce(a.launcher, 'n/a') AS name, a.path_json AS path, a.build_id,"
     " min(a.id) AS arm_id FROM"
     " (SELECT 'before' AS side, arm_a AS arm FROM comparison WHERE id IN (%1$s)"
     "  UNION ALL SELECT 'after', arm_b FROM comparison WHERE id IN (%1$s)) x JOIN arm a ON a.id = x.arm"
     " GROUP BY x.side, name, path, a.build_id ORDER BY x.side DESC, name, path", 0},
    {"builds_before", BUILDS, 1},
    {"builds_after", BUILDS, 2},
    {"profiles",
     "SELECT b.kernel, b.id AS build_id, d.gpu, d.duration_ns, d.metric_id,"
     " (SELECT m.text FROM metric m WHERE m.build_id = b.id AND m.name = 'ridge:verdict'"
     "  ORDER BY m.id LIMIT 1) AS verdict, (SELECT a.hash FROM metric m JOIN artefact a ON"
     "  a.id = m.artefact_id WHERE m.id = d.metric_id) AS report_hash"
     " FROM v_duration d JOIN build b ON b.id = d.build_id"
     " WHERE b.id IN (SELECT build_id FROM step WHERE campaign_id = '%s' AND state = 'kept')"
     " ORDER BY (SELECT min(seq) FROM step WHERE build_id = b.id), d.gpu", 3},
    {"steps",
     "SELECT seq, state, change, predicted_ratio, ratio, ratio_low, ratio_high, verdicts, measured_by,"
     " reason, step_id FROM v_step WHERE campaign_id = '%s' ORDER BY seq, created, step_id", 3},
    {"assistance",
     "SELECT assisted_by, group_concat(seq, ', ') AS steps FROM (SELECT assisted_by, seq FROM step"
     " WHERE campaign_id = '%s' AND assisted_by IS NOT NULL ORDER BY seq) GROUP BY assisted_by"
     " ORDER BY assisted_by", 3},
    {"unconfirmed",
     "SELECT seq, step_id, parent_build_id, build_id FROM v_unconfirmed WHERE campaign_id = '%s'"
     " ORDER BY seq", 3},
    {NULL, NULL, 0},
};
/* clang-format on */

static const char *scope_of(const struct evidence *evidence, int scope)
{
    const char *const scopes[] = {evidence->scope, evidence->before, evidence->after,
                                  evidence->campaign};

    return scopes[scope];
}

/* The query of a part with its scope in it. */
void evidence_text(const struct evidence *evidence, const struct evidence_part *part, char *sql,
                   size_t size)
{
    const char *const scope = scope_of(evidence, part->scope);
    const char *from = part->sql;
    size_t used = 0;

    while (*from != '\0' && used + 1 < size) {
        const size_t plain = strcspn(from, "%");
        const size_t mark = strncmp(from + plain, "%1$s", 4) == 0 ? 4 : from[plain] == '%' ? 2 : 0;

        used += (size_t)snprintf(sql + used, size - used, "%.*s%s", (int)plain, from,
                                 mark > 0 ? scope : "");
        from += plain + mark;
    }
}

bool evidence_open(struct evidence *evidence, struct cli_query *query, const char *key)
{
    char sql[EVIDENCE_SQL_BYTES];
    const struct evidence_part *part = evidence_parts;

    while (part->key != NULL && strcmp(part->key, key) != 0)
        part++;
    memset(query, 0, sizeof(*query));
    evidence_text(evidence, part, sql, sizeof(sql));
    cli_query_open(query, evidence->ledger, evidence->path, sql, NULL, 0);
    return query->status == RIDGE_OK;
}

void evidence_close(struct evidence *evidence, struct cli_query *query)
{
    const int status = evidence->status == CLI_DONE ? cli_query_close(query) : CLI_DONE;

    if (evidence->status != CLI_DONE)
        ridge_ledger_rows_free(query->rows);
    else
        evidence->status = status;
}
