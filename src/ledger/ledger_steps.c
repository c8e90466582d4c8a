/* SPDX-License-Identifier: Apache-2.0
 *
 * Campaigns and steps: a change is said and its effect predicted first, then it is built, measured,
 * and kept or rejected with a reason. */
#include "ledger_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TIME_TEXT = 21, CHANGE_SHOWN = 60 };

/* The step that is open in the campaign that was begun last. */
struct open_step {
    char id[RIDGE_HASH_TEXT], campaign[RIDGE_HASH_TEXT], parent[RIDGE_HASH_TEXT];
    char build[RIDGE_HASH_TEXT], change[CHANGE_SHOWN + 1], created[TIME_TEXT];
    int number;
    bool has_prediction;
};

static void copy_column(sqlite3_stmt *row, int column, char *out, size_t size)
{
    const char *const text = (const char *)sqlite3_column_text(row, column);

    snprintf(out, size, "%.*s", (int)size - 1, text != NULL ? text : "");
}

/* campaign: NULL for any. */
static ridge_status find_open(ridge_ledger *ledger, const char *campaign, struct open_step *out,
                              bool *found, ridge_error *err)
{
    static const char sql[] =
        "SELECT s.id, s.campaign_id, s.parent_step_id, s.build_id, s.change, s.created, s.seq, "
        "s.predicted_ratio IS NOT NULL FROM step s JOIN campaign c ON c.id = s.campaign_id "
        "WHERE s.state = 'open' AND (?1 IS NULL OR s.campaign_id = ?1) "
        "ORDER BY s.created DESC, s.seq DESC, s.id LIMIT 1";
    const char *const values[] = {campaign};
    sqlite3_stmt *row = NULL;
    ridge_status status = ledger_prepare_with(ledger, sql, values, 1, &row, err);
    int code;

    memset(out, 0, sizeof(*out));
    *found = false;
    if (status != RIDGE_OK)
        return status;
    code = sqlite3_step(row);
    if (code == SQLITE_ROW) {
        *found = true;
        copy_column(row, 0, out->id, sizeof(out->id));
        copy_column(row, 1, out->campaign, sizeof(out->campaign));
        copy_column(row, 2, out->parent, sizeof(out->parent));
        copy_column(row, 3, out->build, sizeof(out->build));
        copy_column(row, 4, out->change, sizeof(out->change));
        copy_column(row, 5, out->created, sizeof(out->created));
        out->number = sqlite3_column_int(row, 6);
        out->has_prediction = sqlite3_column_int(row, 7) != 0;
    } else if (code != SQLITE_DONE) {
        status = ledger_fail(ledger, "read the ledger", err);
    }
    sqlite3_finalize(row);
    return status;
}

static ridge_status need_open(ridge_ledger *ledger, struct open_step *out, ridge_error *err)
{
    bool found;
    const ridge_status status = find_open(ledger, NULL, out, &found, err);

    if (status == RIDGE_OK && !found)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "no step is open: ridge step start");
    return status;
}

/* -- starting ---------------------------------------------------------------------------------- */

static ridge_status find_campaign(ridge_ledger *ledger, const ridge_step_start *step,
                                  const char *now, char *id, ridge_error *err)
{
    static const char latest[] = "SELECT id FROM campaign ORDER BY created DESC, id LIMIT 1";
    static const char by_title[] = "SELECT id FROM campaign WHERE title = ?1 "
                                   "ORDER BY created DESC, id LIMIT 1";
    const char *const values[] = {step->campaign};
    bool found;
    const ridge_status status =
        ledger_text_of(ledger, step->campaign != NULL ? by_title : latest, values,
                       step->campaign != NULL, id, RIDGE_HASH_TEXT, &found, err);
    const ridge_ledger_member members[] = {
        {"title", step->campaign, NAN}, {"goal", step->goal, NAN}, {"created", now, NAN}};

    if (status != RIDGE_OK || found)
        return status;
    if (step->campaign == NULL)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "no campaign yet: --campaign TITLE begins one");
    return ridge_ledger_add(ledger, "campaign", members, sizeof(members) / sizeof(members[0]), id,
                            err);
}

/* A step of a campaign by number or id. */
static ridge_status find_step(ridge_ledger *ledger, const char *campaign, const char *name,
                              char *id, ridge_error *err)
{
    const char *const values[] = {campaign, name};
    bool found;
    ridge_status status;

    if (strlen(name) >= 4 && strspn(name, "0123456789") != strlen(name))
        return ridge_ledger_find(ledger, "step", name, id, err);
    status = ledger_text_of(ledger,
                            "SELECT id FROM step WHERE campaign_id = ?1 AND seq = ?2 "
                            "ORDER BY created, id LIMIT 1",
                            values, 2, id, RIDGE_HASH_TEXT, &found, err);
    if (status == RIDGE_OK && !found)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "no step %.20s in the campaign", name);
    return status;
}

static ridge_status find_parent(ridge_ledger *ledger, const char *campaign, const char *name,
                                char *id, ridge_error *err)
{
    const char *const values[] = {campaign};
    bool found;

    if (name != NULL)
        return find_step(ledger, campaign, name, id, err);
    return ledger_text_of(ledger,
                          "SELECT id FROM step WHERE campaign_id = ?1 AND state = 'kept' "
                          "ORDER BY seq DESC, id LIMIT 1",
                          values, 1, id, RIDGE_HASH_TEXT, &found, err);
}

static ridge_status start(ridge_ledger *ledger, const ridge_step_start *step, int *number, char *id,
                          ridge_error *err)
{
    char now[TIME_TEXT], campaign[RIDGE_HASH_TEXT], parent[RIDGE_HASH_TEXT] = "", next[24];
    const char *const values[] = {campaign};
    struct open_step open;
    ridge_status status;
    bool found;

    ridge_ledger_time_text(step->now_s, now);
    status = find_campaign(ledger, step, now, campaign, err);
    if (status == RIDGE_OK)
        status = find_open(ledger, campaign, &open, &found, err);
    if (status == RIDGE_OK && found)
        return ridge_fail(
            err, RIDGE_ERR_INVALID_ARGUMENT,
            "step %d (%s) is open: ridge step keep or ridge step reject closes it first",
            open.number, open.change);
    if (status == RIDGE_OK)
        status = find_parent(ledger, campaign, step->parent, parent, err);
    if (status == RIDGE_OK)
        status = ledger_text_of(ledger,
                                "SELECT coalesce(max(seq), 0) + 1 FROM step WHERE campaign_id = ?1",
                                values, 1, next, sizeof(next), &found, err);
    if (status != RIDGE_OK)
        return status;
    *number = (int)strtol(next, NULL, 10);
    {
        const ridge_ledger_member members[] = {
            {"campaign_id", campaign, NAN},
            {"seq", NULL, *number},
            {"parent_step_id", parent[0] != '\0' ? parent : NULL, NAN},
            {"change", step->change, NAN},
            {"hypothesis", step->hypothesis, NAN},
            {"predicted_ratio", NULL, step->predicted_ratio},
            {"expected_metric", step->expected_metric, NAN},
            {"author", step->author, NAN},
            {"assisted_by", step->assisted_by, NAN},
            {"created", now, NAN},
            {"state", "open", NAN},
        };

        return ridge_ledger_add(ledger, "step", members, sizeof(members) / sizeof(members[0]), id,
                                err);
    }
}

ridge_status ridge_ledger_step_start(ridge_ledger *ledger, const ridge_step_start *step,
                                     int *number, char *id, ridge_error *err)
{
    bool is_own;
    ridge_status status;

    *number = 0;
    id[0] = '\0';
    if (step->change == NULL || step->change[0] == '\0')
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "a step is one change: say which");
    if (step->predicted_ratio <= 0 || isinf(step->predicted_ratio))
        return ridge_fail(
            err, RIDGE_ERR_INVALID_ARGUMENT,
            "a predicted ratio is new time / old time, above 0: 0.5 is twice as fast");
    status = ledger_begin_own(ledger, &is_own, err);
    if (status == RIDGE_OK)
        status = ledger_end_own(ledger, is_own, start(ledger, step, number, id, err), err);
    if (status != RIDGE_OK) {
        *number = 0;
        id[0] = '\0';
    }
    return status;
}

/* -- building ---------------------------------------------------------------------------------- */

/* The same code as an earlier step of the campaign: nothing was changed, or not rebuilt. */
static ridge_status refuse_stale(ridge_ledger *ledger, const struct open_step *open,
                                 const char *build_id, ridge_error *err)
{
    const char *const values[] = {open->campaign, open->id, build_id};
    char number[24];
    bool found;
    const ridge_status status = ledger_text_of(
        ledger,
        "SELECT s.seq FROM step s JOIN build b ON b.id = s.build_id WHERE s.campaign_id = ?1 AND "
        "s.id <> ?2 AND b.code_hash = (SELECT code_hash FROM build WHERE id = ?3) "
        "ORDER BY s.seq DESC LIMIT 1",
        values, 3, number, sizeof(number), &found, err);

    if (status == RIDGE_OK && found)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "same code as step %s: was it rebuilt?",
                          number);
    return status;
}

/* A prediction made when the result was there is none. Times are compared to the second
 * ("2026-03-01T09:30:00", 19 bytes), which is what a step has; as texts 00.4Z came before 00Z, and
 * julianday() rounds. */
static ridge_status refuse_late(ridge_ledger *ledger, const struct open_step *open,
                                const char *build_id, ridge_error *err)
{
    const char *const values[] = {build_id, open->created};
    char count[24];
    bool found;
    const ridge_status status =
        ledger_text_of(ledger,
                       "SELECT nullif(count(*), 0) FROM comparison c JOIN arm a ON a.id = c.arm_b "
                       "JOIN session s ON s.id = c.session_id WHERE a.build_id = ?1 AND "
                       "substr(s.started, 1, 19) < substr(?2, 1, 19)",
                       values, 2, count, sizeof(count), &found, err);

    if (status == RIDGE_OK && found)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "this build was compared before step %d predicted its ratio: reject the "
                          "step and start it again without a prediction",
                          open->number);
    return status;
}

static ridge_status set_state(ridge_ledger *ledger, const struct open_step *open,
                              const char *const values[5], ridge_error *err)
{
    static const char sql[] = "UPDATE step SET closed = ?1, state = ?2, reason = ?3, basis = ?4, "
                              "build_id = ?5 WHERE id = ?6";
    const char *const all[] = {values[0], values[1], values[2], values[3], values[4], open->id};
    sqlite3_stmt *update = NULL;
    ridge_status status = ledger_prepare_with(ledger, sql, all, 6, &update, err);

    if (status == RIDGE_OK && sqlite3_step(update) != SQLITE_DONE)
        status = ledger_fail(ledger, "write to the ledger", err);
    sqlite3_finalize(update);
    return status;
}

ridge_status ridge_ledger_step_build(ridge_ledger *ledger, const char *build_id, ridge_error *err)
{
    const char *const values[5] = {NULL, "open", NULL, NULL, build_id};
    struct open_step open;
    bool is_own;
    ridge_status status = ledger_begin_own(ledger, &is_own, err);

    if (status != RIDGE_OK)
        return status;
    status = need_open(ledger, &open, err);
    if (status == RIDGE_OK)
        status = refuse_stale(ledger, &open, build_id, err);
    if (status == RIDGE_OK && open.has_prediction)
        status = refuse_late(ledger, &open, build_id, err);
    if (status == RIDGE_OK)
        status = set_state(ledger, &open, values, err);
    return ledger_end_own(ledger, is_own, status, err);
}

/* -- closing ----------------------------------------------------------------------------------- */

static void fail_no_build(const struct open_step *open, ridge_error *err)
{
    ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
               "step %d has no build: ridge step build KERNEL, ridge check KERNEL, or ridge ledger "
               "add-profile REPORT gives it one",
               open->number);
}

/* What a step may be kept on. "": nothing, and *err says what is missing. */
static ridge_status find_basis(ridge_ledger *ledger, const struct open_step *open, char *basis,
                               size_t size, ridge_error *err)
{
    const char *const values[] = {open->id};
    static const char cases[] =
        "SELECT CASE WHEN count(*) = 0 THEN NULL WHEN length(group_concat(sweep, ';')) < 100"
        " THEN '--sweep ''' || group_concat(sweep, ';') || ''' ' ELSE '' END"
        " FROM (SELECT DISTINCT k.sweep FROM v_step_case s JOIN v_case k ON k.kase_id = s.kase_id"
        " WHERE s.step_id = ?1 ORDER BY k.sweep)";
    char parent[RIDGE_HASH_TEXT], sweep[120];
    bool found;
    ridge_status status;

    if (open->parent[0] == '\0') {
        /* All later steps are compared with it: without a build that could never be repaired. */
        if (open->build[0] == '\0')
            fail_no_build(open, err);
        else
            snprintf(basis, size, "first");
        return RIDGE_OK;
    }
    status = ledger_text_of(ledger, "SELECT measured_by FROM v_step WHERE step_id = ?1", values, 1,
                            basis, size, &found, err);
    if (status != RIDGE_OK || found)
        return status;
    status = ledger_text_of(ledger, "SELECT parent_build_id FROM v_step WHERE step_id = ?1", values,
                            1, parent, sizeof(parent), &found, err);
    if (status == RIDGE_OK)
        status = ledger_text_of(ledger, cases, values, 1, sweep, sizeof(sweep), &found, err);
    if (status != RIDGE_OK)
        return status;
    if (open->build[0] == '\0')
        fail_no_build(open, err);
    else if (parent[0] == '\0')
        ridge_fail(
            err, RIDGE_ERR_INVALID_ARGUMENT,
            "the parent of step %d has no build to compare with; --force keeps it all the same",
            open->number);
    else if (found)
        ridge_fail(
            err, RIDGE_ERR_INVALID_ARGUMENT,
            "every comparison of step %d is INVALID; see ridge ledger log, then again: ridge "
            "compare %sbuild:%.8s build:%.8s",
            open->number, sweep, parent, open->build);
    else
        ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                   "step %d has not been measured: ridge compare build:%.8s build:%.8s",
                   open->number, parent, open->build);
    return RIDGE_OK;
}

static ridge_status close_step(ridge_ledger *ledger, bool is_kept, const char *reason, bool force,
                               int64_t now_s, int *number, ridge_error *err)
{
    char basis[16] = "", now[TIME_TEXT];
    struct open_step open;
    ridge_error missing = {RIDGE_OK, ""};
    ridge_status status = need_open(ledger, &open, err);
    const char *values[5] = {now, is_kept ? "kept" : "rejected", reason, NULL, NULL};

    if (status != RIDGE_OK)
        return status;
    *number = open.number;
    if (is_kept)
        status = find_basis(ledger, &open, basis, sizeof(basis), &missing);
    if (status != RIDGE_OK || (is_kept && basis[0] == '\0' && !force)) {
        if (err != NULL)
            *err = missing;
        return missing.status;
    }
    if (is_kept)
        values[3] = basis[0] != '\0' ? basis : "none";
    values[4] = open.build[0] != '\0' ? open.build : NULL;
    ridge_ledger_time_text(now_s, now);
    return set_state(ledger, &open, values, err);
}

ridge_status ridge_ledger_step_close(ridge_ledger *ledger, bool is_kept, const char *reason,
                                     bool force, int64_t now_s, int *number, ridge_error *err)
{
    bool is_own;
    ridge_status status = ledger_begin_own(ledger, &is_own, err);

    *number = 0;
    if (status == RIDGE_OK)
        status = ledger_end_own(
            ledger, is_own, close_step(ledger, is_kept, reason, force, now_s, number, err), err);
    if (status != RIDGE_OK)
        *number = 0;
    return status;
}
