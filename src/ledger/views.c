/* SPDX-License-Identifier: Apache-2.0
 *
 * What follows from the rows: which comparison counts for a step, its ratios, what stayed flat. Said
 * once, here, for the commands and for everybody with an SQLite shell. */
#include "ledger_internal.h"

/* clang-format off */
static const ridge_ledger_view views[] = {
    {"v_case", "a case in words: rms_norm m=4096,n=5120 bf16; sweep: as --case and --sweep take it",
     "SELECT id AS kase_id, family, trim(coalesce(family || ' ', '')"
     " || coalesce(replace(replace(replace(replace(axes_json, '{', ''), '}', ''), '\"', ''), ':', '='), '')"
     " || coalesce(' ' || dtype, '')"
     " || CASE WHEN layout IS NULL OR layout = 'contiguous' THEN '' ELSE ' ' || layout END"
     " || CASE WHEN values_kind IS NULL OR values_kind = 'normal' THEN '' ELSE ' ' || values_kind END)"
     " AS text, replace(replace(replace(replace(axes_json, '{', ''), '}', ''), '\"', ''), ':', '=')"
     " || coalesce(',dtype=' || dtype, '')"
     " || CASE WHEN coalesce(layout, 'contiguous') = 'contiguous' THEN '' ELSE ',layout=' || layout END"
     " || CASE WHEN coalesce(values_kind, 'normal') = 'normal' THEN '' ELSE ',values=' || values_kind END"
     " AS sweep FROM kase"},
    {"v_comparison", "comparisons with builds, case, delta and time in one row",
     "SELECT c.id AS comparison_id, c.session_id, s.started, s.seed, s.env_id, c.kase_id,"
     " a.build_id AS a_build_id, b.build_id AS b_build_id,"
     " coalesce(a.launcher, ba.kernel) AS a_name, coalesce(b.launcher, bb.kernel) AS b_name,"
     " a.role AS a_role, b.role AS b_role, c.arm_a, c.arm_b, c.policy_id,"
     " c.ln_ratio, c.lo, c.hi, c.mdc, c.verdict, c.p, c.holm_p, c.regime, c.confirm_of,"
     " c.invalid_guard, c.invalid_cause, c.placements, c.a_ns, c.b_ns, c.a_p90_ns, c.b_p90_ns,"
     " c.a_roof_frac, c.b_roof_frac, c.a_clock_hz, c.b_clock_hz, c.outputs_checked,"
     " c.sustained_ln_ratio, c.sustained_lo, c.sustained_hi,"
     " json_extract(c.extra, '$.rotation_l2') AS rotation_l2,"
     " coalesce(p.delta, 0.01) AS delta, g.name AS gpu"
     " FROM comparison c JOIN session s ON s.id = c.session_id"
     " LEFT JOIN arm a ON a.id = c.arm_a LEFT JOIN arm b ON b.id = c.arm_b"
     " LEFT JOIN build ba ON ba.id = a.build_id LEFT JOIN build bb ON bb.id = b.build_id"
     " LEFT JOIN policy p ON p.id = c.policy_id"
     " LEFT JOIN env e ON e.id = s.env_id LEFT JOIN gpu g ON g.id = e.gpu_id"},
    /* The latest that is not INVALID; a confirmation does not replace what it confirms. */
    {"v_latest", "of two builds on one case and GPU the comparison that counts",
     "SELECT v.* FROM (SELECT c.id, row_number() OVER (PARTITION BY a.build_id, b.build_id, c.kase_id,"
     " e.gpu_id ORDER BY c.verdict = 'INVALID', c.confirm_of IS NOT NULL, s.started DESC, c.id) AS nth"
     " FROM comparison c JOIN session s ON s.id = c.session_id JOIN arm a ON a.id = c.arm_a"
     " JOIN arm b ON b.id = c.arm_b LEFT JOIN env e ON e.id = s.env_id"
     " WHERE a.build_id IS NOT NULL AND b.build_id IS NOT NULL) r"
     " JOIN v_comparison v ON v.comparison_id = r.id WHERE r.nth = 1"},
    {"v_step_case", "step x case: the comparison of its build with its parent's",
     "SELECT st.id AS step_id, st.campaign_id, st.seq, l.* FROM step st"
     " JOIN step pa ON pa.id = st.parent_step_id"
     " JOIN v_latest l ON l.a_build_id = pa.build_id AND l.b_build_id = st.build_id"},
    {"v_duration", "time of a build by profiles, the least of its reports",
     "SELECT m.build_id, m.kase_id, g.name AS gpu, min(m.value) AS duration_ns, min(m.id) AS metric_id"
     " FROM metric m LEFT JOIN env e ON e.id = m.env_id LEFT JOIN gpu g ON g.id = e.gpu_id"
     " WHERE m.name = 'gpu__time_duration.sum' GROUP BY m.build_id, m.kase_id, g.name"},
    {"v_step_profile", "step: time of its build over that of its parent's, by profiles of one GPU and case",
     "SELECT st.id AS step_id, exp(avg(ln(d.duration_ns / pd.duration_ns))) AS ratio,"
     " min(d.metric_id) AS metric_id, min(pd.metric_id) AS parent_metric_id"
     " FROM step st JOIN step pa ON pa.id = st.parent_step_id"
     " JOIN v_duration d ON d.build_id = st.build_id"
     " JOIN v_duration pd ON pd.build_id = pa.build_id AND pd.kase_id IS d.kase_id AND pd.gpu IS d.gpu"
     " GROUP BY st.id"},
    {"v_step", "steps with their measured ratio; by comparison where there is one, else by profile",
     "WITH sc AS MATERIALIZED (SELECT step_id, verdict, ln_ratio, lo, hi, comparison_id"
     " FROM v_step_case)"
     " SELECT st.id AS step_id, st.campaign_id, st.seq, st.state, st.change, st.hypothesis,"
     " st.predicted_ratio, st.expected_metric, st.reason, st.basis, st.author, st.assisted_by,"
     " st.created, st.closed, st.build_id, st.parent_step_id, pa.seq AS parent_seq,"
     " pa.build_id AS parent_build_id,"
     " CASE WHEN c.valid > 0 THEN 'comparison' WHEN d.ratio IS NOT NULL THEN 'profile' END"
     "  AS measured_by,"
     " CASE WHEN c.valid > 0 THEN exp(c.ln_ratio) ELSE d.ratio END AS ratio,"
     " CASE WHEN c.valid > 0 THEN exp(c.ln_ratio - c.half) END AS ratio_low,"
     " CASE WHEN c.valid > 0 THEN exp(c.ln_ratio + c.half) END AS ratio_high,"
     " exp(c.best) AS ratio_best, exp(c.worst) AS ratio_worst, coalesce(c.cases, 0) AS case_count,"
     " coalesce(c.regressed, 0) AS regressed_count, w.verdicts, c.comparison_id, d.metric_id,"
     " d.parent_metric_id"
     " FROM step st LEFT JOIN step pa ON pa.id = st.parent_step_id"
     " LEFT JOIN (SELECT step_id, count(*) AS cases, sum(verdict <> 'INVALID') AS valid,"
     "  avg(CASE WHEN verdict <> 'INVALID' THEN ln_ratio END) AS ln_ratio,"
     "  sqrt(sum(CASE WHEN verdict <> 'INVALID' THEN (hi - lo) * (hi - lo) / 4 ELSE 0 END))"
     "   / max(1, sum(verdict <> 'INVALID')) AS half,"
     "  min(CASE WHEN verdict <> 'INVALID' THEN ln_ratio END) AS best,"
     "  max(CASE WHEN verdict <> 'INVALID' THEN ln_ratio END) AS worst,"
     "  sum(verdict = 'REGRESSED') AS regressed, min(comparison_id) AS comparison_id"
     "  FROM sc GROUP BY step_id) c ON c.step_id = st.id"
     " LEFT JOIN (SELECT step_id, CASE WHEN sum(n) = 1 THEN min(verdict)"
     "   ELSE group_concat(n || ' ' || verdict, ', ') END AS verdicts"
     "  FROM (SELECT step_id, verdict, count(*) AS n FROM sc GROUP BY step_id, verdict"
     "   ORDER BY step_id, verdict = 'REGRESSED' DESC, n DESC, verdict) GROUP BY step_id) w"
     "  ON w.step_id = st.id"
     " LEFT JOIN v_step_profile d ON d.step_id = st.id"},
    {"v_chain", "the kept steps of a campaign, from the first, with their ratios multiplied",
     "WITH RECURSIVE last AS (SELECT campaign_id, max(seq) AS seq FROM step WHERE state = 'kept'"
     "  GROUP BY campaign_id),"
     " back(campaign_id, step_id, depth) AS ("
     "  SELECT s.campaign_id, min(s.id), 0 FROM step s JOIN last l ON l.campaign_id = s.campaign_id"
     "   AND l.seq = s.seq AND s.state = 'kept' GROUP BY s.campaign_id"
     "  UNION ALL SELECT b.campaign_id, s.parent_step_id, b.depth + 1 FROM back b"
     "   JOIN step s ON s.id = b.step_id WHERE s.parent_step_id IS NOT NULL AND b.depth < 10000)"
     " SELECT v.*, b.depth, exp(sum(CASE WHEN v.parent_step_id IS NULL THEN 0 ELSE ln(v.ratio) END)"
     "  OVER (PARTITION BY b.campaign_id ORDER BY b.depth DESC)) AS product,"
     " sum(v.parent_step_id IS NOT NULL AND v.ratio IS NULL)"
     "  OVER (PARTITION BY b.campaign_id ORDER BY b.depth DESC) AS unknown_count,"
     " exp(-sqrt(sum(ln(v.ratio_high / v.ratio) * ln(v.ratio_high / v.ratio))"
     "  OVER (PARTITION BY b.campaign_id ORDER BY b.depth DESC))) AS product_low_factor"
     " FROM back b JOIN v_step v ON v.step_id = b.step_id"},
    {"v_end_to_end", "first against last build of the chain, where they were compared in one session",
     "SELECT f.campaign_id, f.build_id AS first_build_id, l.build_id AS last_build_id,"
     " f.seq AS first_seq, l.seq AS last_seq, c.comparison_id, c.kase_id, c.gpu, c.ln_ratio, c.lo, c.hi,"
     " c.verdict, c.delta, c.started, l.product, l.unknown_count"
     " FROM v_chain l JOIN v_chain f ON f.campaign_id = l.campaign_id AND f.parent_step_id IS NULL"
     " LEFT JOIN v_latest c ON c.a_build_id = f.build_id AND c.b_build_id = l.build_id"
     " WHERE l.depth = 0"},
    {"v_pareto", "case x build: the times of a campaign's builds",
     "SELECT st.campaign_id, st.seq, st.state, st.build_id, c.kase_id, c.gpu,"
     " CASE WHEN c.b_build_id = st.build_id THEN c.b_ns ELSE c.a_ns END AS ns, c.comparison_id, c.started"
     " FROM step st JOIN v_comparison c ON st.build_id IN (c.a_build_id, c.b_build_id)"
     " WHERE c.verdict <> 'INVALID'"
     " UNION ALL SELECT st.campaign_id, st.seq, st.state, st.build_id, d.kase_id, d.gpu, d.duration_ns,"
     " NULL, NULL FROM step st JOIN v_duration d ON d.build_id = st.build_id"},
    {"v_flat", "cases whose ratio never left +-delta in a campaign",
     "SELECT campaign_id, kase_id, gpu, count(*) AS step_count, exp(min(ln_ratio)) AS ratio_least,"
     " exp(max(ln_ratio)) AS ratio_most FROM v_step_case WHERE verdict <> 'INVALID'"
     " GROUP BY campaign_id, kase_id, gpu HAVING max(abs(ln_ratio) - delta) <= 0"},
    {"v_regressed", "cases of kept and open steps that got slower",
     "SELECT c.*, st.state, st.change FROM v_step_case c JOIN step st ON st.id = c.step_id"
     " WHERE c.verdict = 'REGRESSED' AND st.state IN ('kept', 'open')"},
    {"v_unconfirmed", "kept steps whose comparison no run with another seed has confirmed",
     "SELECT v.* FROM v_step v LEFT JOIN (SELECT a.build_id AS parent_id, b.build_id AS own_id,"
     " count(DISTINCT s.seed) AS seed_count FROM comparison c JOIN session s ON s.id = c.session_id"
     " JOIN arm a ON a.id = c.arm_a JOIN arm b ON b.id = c.arm_b WHERE c.verdict <> 'INVALID'"
     " GROUP BY a.build_id, b.build_id) t ON t.parent_id = v.parent_build_id AND t.own_id = v.build_id"
     " WHERE v.state = 'kept' AND v.parent_step_id IS NOT NULL AND v.measured_by = 'comparison'"
     " AND coalesce(t.seed_count, 0) < 2"},
};
/* clang-format on */

const ridge_ledger_view *ridge_ledger_view_at(size_t index)
{
    return index < sizeof(views) / sizeof(views[0]) ? &views[index] : NULL;
}
