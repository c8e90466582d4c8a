/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger_support.h"

#include <math.h>
#include <string.h>

#include "base/record.h"

static void end(ridge_record *record, ridge_text *out, char id[RIDGE_HASH_TEXT])
{
    if (ridge_record_end(record, out, id, NULL) == RIDGE_OK)
        ridge_text_add(out, "\n");
}

static const char *const axes[LEDGER_CASES] = {"{\"m\":1,\"n\":5120}", "{\"m\":128,\"n\":5120}",
                                               "{\"m\":4096,\"n\":5120}"};
static const double rows_of[LEDGER_CASES] = {1, 128, 4096};

void ledger_support_common(ridge_text *out, ledger_ids *ids)
{
    static const char *const kernels[LEDGER_BUILDS] = {"rms_norm:plain", "rms_norm:vector",
                                                       "rms_norm:shared", "rms_norm:row_per_warp"};
    static const int registers[LEDGER_BUILDS] = {28, 40, 34, 62};
    char gpu[RIDGE_HASH_TEXT];
    ridge_record record;
    int i;

    ridge_text_add(out, "{\"schema\":\"ridge-bench/1\",\"t\":\"header\"}\n");
    ridge_record_begin(&record, "gpu");
    ridge_record_text(&record, "uuid", "GPU-00000000-0000-0000-0000-000000000000");
    ridge_record_text(&record, "name", "NVIDIA H200");
    ridge_record_integer(&record, "sm", 90);
    ridge_record_integer(&record, "sm_count", 132);
    end(&record, out, gpu);
    ridge_record_begin(&record, "env");
    ridge_record_text(&record, "gpu_id", gpu);
    ridge_record_text(&record, "driver", "580.159.04");
    ridge_record_text(&record, "cuda_runtime", "13.0");
    ridge_record_number(&record, "power_limit_w", 700);
    ridge_record_bool(&record, "clock_lock", false);
    end(&record, out, ids->env);
    for (i = 0; i < LEDGER_CASES; i++) {
        ridge_record_begin(&record, "kase");
        ridge_record_text(&record, "family", "rms_norm");
        ridge_record_text(&record, "axes_json", axes[i]);
        ridge_record_text(&record, "dtype", "bf16");
        ridge_record_text(&record, "layout", "contiguous");
        ridge_record_text(&record, "values_kind", "normal");
        ridge_record_number(&record, "bytes_read", rows_of[i] * 10240 + 10240);
        ridge_record_number(&record, "bytes_written", rows_of[i] * 10240);
        end(&record, out, ids->kase[i]);
    }
    ridge_record_begin(&record, "policy");
    ridge_record_text(&record, "l2", "cold");
    ridge_record_integer(&record, "rotation", 4);
    ridge_record_text(&record, "mode", "event");
    ridge_record_integer(&record, "k", 48);
    ridge_record_integer(&record, "m", 4);
    ridge_record_integer(&record, "placements", 24);
    ridge_record_text(&record, "regime", "short");
    ridge_record_text(&record, "order_scheme", "abba");
    ridge_record_number(&record, "delta", 0.01);
    end(&record, out, ids->policy);
    for (i = 0; i < LEDGER_BUILDS; i++) {
        char code[RIDGE_HASH_TEXT];

        /* Identity first, then the rest: what an export writes. */
        ridge_record_begin(&record, "build");
        ridge_record_text(&record, "code_hash",
                          ridge_hash_text(kernels[i], strlen(kernels[i]), code));
        ridge_record_text(&record, "arch", "sm_90");
        ridge_record_end(&record, NULL, ids->build[i], NULL);
        ridge_record_begin(&record, "build");
        ridge_record_text(&record, "code_hash", code);
        ridge_record_text(&record, "arch", "sm_90");
        ridge_record_text(&record, "kernel", kernels[i]);
        ridge_record_integer(&record, "regs", registers[i]);
        ridge_record_integer(&record, "spill_bytes", 0);
        ridge_record_integer(&record, "smem_bytes", i == 2 ? 20480 : 16);
        ridge_record_integer(&record, "code_bytes", 1024 + 512 * i);
        if (ridge_record_end_as(&record, ids->build[i], out, NULL) == RIDGE_OK)
            ridge_text_add(out, "\n");
    }
}

static void add_arm(ridge_text *out, const char *session, const char *kase, const char *build,
                    const char *role, const char *launcher, char id[RIDGE_HASH_TEXT])
{
    ridge_record record;
    int pass;

    for (pass = 0; pass < 2; pass++) {
        ridge_record_begin(&record, "arm");
        ridge_record_text(&record, "session_id", session);
        ridge_record_text(&record, "kase_id", kase);
        ridge_record_text(&record, "build_id", build);
        ridge_record_text(&record, "role", role);
        ridge_record_text(&record, "launcher", launcher);
        if (pass == 0) {
            end(&record, out, id);
            continue;
        }
        ridge_record_text(&record, "path_json", "rms_norm_kernel grid(132,1,1) x block(256,1,1)");
        if (ridge_record_end_as(&record, id, out, NULL) == RIDGE_OK)
            ridge_text_add(out, "\n");
    }
}

void ledger_support_comparison(ridge_text *out, const ledger_ids *ids,
                               const ledger_comparison *comparison)
{
    static const char *const kernels[LEDGER_BUILDS] = {"rms_norm:plain", "rms_norm:vector",
                                                       "rms_norm:shared", "rms_norm:row_per_warp"};
    static const double base_ns[LEDGER_CASES] = {4200, 6100, 61500};
    char session[RIDGE_HASH_TEXT], arms[2][RIDGE_HASH_TEXT], id[RIDGE_HASH_TEXT];
    ridge_record record;
    int i;

    ridge_record_begin(&record, "session");
    ridge_record_text(&record, "env_id", ids->env);
    ridge_record_text(&record, "tool_version", "0.1.0");
    ridge_record_integer(&record, "seed", comparison->seed);
    ridge_record_text(&record, "started", comparison->started);
    end(&record, out, session);
    /* The end of the session, under the same id. */
    ridge_record_begin(&record, "session");
    ridge_record_text(&record, "env_id", ids->env);
    ridge_record_text(&record, "tool_version", "0.1.0");
    ridge_record_integer(&record, "seed", comparison->seed);
    ridge_record_text(&record, "started", comparison->started);
    ridge_record_text(&record, "ended", comparison->started);
    ridge_record_bool(&record, "busy_flag", false);
    ridge_record_number(&record, "null_centre", 0.0004);
    ridge_record_number(&record, "null_halfwidth", 0.0015);
    if (ridge_record_end_as(&record, session, out, NULL) == RIDGE_OK)
        ridge_text_add(out, "\n");
    for (i = 0; i < LEDGER_CASES; i++) {
        const double ln_ratio = log(comparison->ratio[i]);

        if (comparison->verdict[i] == NULL)
            continue;
        add_arm(out, session, ids->kase[i], ids->build[comparison->a], "self",
                kernels[comparison->a], arms[0]);
        add_arm(out, session, ids->kase[i], ids->build[comparison->b], "candidate",
                kernels[comparison->b], arms[1]);
        ridge_record_begin(&record, "comparison");
        ridge_record_text(&record, "session_id", session);
        ridge_record_text(&record, "kase_id", ids->kase[i]);
        ridge_record_text(&record, "arm_a", arms[0]);
        ridge_record_text(&record, "arm_b", arms[1]);
        ridge_record_text(&record, "policy_id", ids->policy);
        ridge_record_number(&record, "ln_ratio", ln_ratio);
        ridge_record_number(&record, "lo", ln_ratio - comparison->half_width);
        ridge_record_number(&record, "hi", ln_ratio + comparison->half_width);
        ridge_record_integer(&record, "dof", 5);
        ridge_record_integer(&record, "placements", 6);
        ridge_record_number(&record, "mdc", 1.36 * comparison->half_width);
        ridge_record_text(&record, "regime", "short");
        ridge_record_text(&record, "verdict", comparison->verdict[i]);
        if (strcmp(comparison->verdict[i], "INVALID") == 0) {
            ridge_record_text(&record, "invalid_guard", "outputs");
            ridge_record_text(&record, "invalid_cause", comparison->cause);
        }
        ridge_record_number(&record, "a_ns", base_ns[i]);
        ridge_record_number(&record, "b_ns", base_ns[i] * comparison->ratio[i]);
        ridge_record_number(&record, "a_p90_ns", base_ns[i] * 1.02);
        ridge_record_number(&record, "b_p90_ns", base_ns[i] * comparison->ratio[i] * 1.02);
        ridge_record_number(&record, "a_roof_frac", 0.25);
        ridge_record_number(&record, "b_roof_frac", 0.25 / comparison->ratio[i]);
        ridge_record_number(&record, "a_clock_hz", 1.98e9);
        ridge_record_number(&record, "b_clock_hz", 1.98e9);
        ridge_record_integer(&record, "outputs_checked", 24);
        end(&record, out, id);
    }
}

static void add_step(ridge_text *out, const ledger_ids *ids, int number, const char *parent,
                     const char *change, double predicted, const char *state, const char *reason,
                     const char *build, char id[RIDGE_HASH_TEXT])
{
    static const char *const created[] = {"2026-03-01T09:00:00Z", "2026-03-01T10:00:00Z",
                                          "2026-03-01T11:00:00Z", "2026-03-01T12:00:00Z"};
    ridge_record record;
    int pass;

    for (pass = 0; pass < 2; pass++) {
        ridge_record_begin(&record, "step");
        ridge_record_text(&record, "campaign_id", ids->campaign);
        ridge_record_integer(&record, "seq", number);
        ridge_record_text(&record, "parent_step_id", parent);
        ridge_record_text(&record, "change", change);
        ridge_record_number(&record, "predicted_ratio", predicted);
        ridge_record_text(&record, "author", "A. Writer");
        ridge_record_text(&record, "assisted_by", number == 4 ? "a language model" : NULL);
        ridge_record_text(&record, "created", created[number - 1]);
        if (pass == 0) {
            ridge_record_end(&record, NULL, id, NULL);
            continue;
        }
        ridge_record_text(&record, "closed", created[number - 1]);
        ridge_record_text(&record, "state", state);
        ridge_record_text(&record, "reason", reason);
        ridge_record_text(&record, "basis",
                          strcmp(state, "kept") != 0 ? NULL
                          : number == 1              ? "first"
                                                     : "comparison");
        ridge_record_text(&record, "build_id", build);
        if (ridge_record_end_as(&record, id, out, NULL) == RIDGE_OK)
            ridge_text_add(out, "\n");
    }
}

static void add_check(ridge_text *out, const ledger_ids *ids, int build, int kase)
{
    char id[RIDGE_HASH_TEXT];
    ridge_record record;

    ridge_record_begin(&record, "check_run");
    ridge_record_text(&record, "build_id", ids->build[build]);
    ridge_record_text(&record, "kase_id", ids->kase[kase]);
    ridge_record_integer(&record, "seed", 7);
    ridge_record_text(&record, "env_id", ids->env);
    ridge_record_text(&record, "status", "pass");
    ridge_record_number(&record, "worst_scaled_err", 0.21 + 0.01 * kase);
    ridge_record_integer(&record, "n_fail", 0);
    ridge_record_bool(&record, "exact_test", true);
    ridge_record_bool(&record, "repeat_bits", true);
    ridge_record_bool(&record, "guard_ok", true);
    ridge_record_bool(&record, "poison_ok", true);
    end(&record, out, id);
}

void ledger_support_campaign(ridge_text *out, ledger_ids *ids)
{
    static const ledger_comparison comparisons[] = {
        {0,
         1,
         "2026-03-01T10:30:00Z",
         1,
         {1.002, 0.78, 0.31},
         0.004,
         {"SAME", "IMPROVED", "IMPROVED"},
         NULL},
        {1,
         2,
         "2026-03-01T11:30:00Z",
         2,
         {1.06, 1.031, 0.998},
         0.004,
         {"REGRESSED", "REGRESSED", "SAME"},
         NULL},
        {1,
         3,
         "2026-03-01T12:30:00Z",
         3,
         {1.003, 0.955, 0.92},
         0.003,
         {"SAME", "IMPROVED", "INVALID"},
         "outputs of 3 of 24 timed launches are wrong"},
        {1,
         3,
         "2026-03-01T12:40:00Z",
         4,
         {1.003, 0.957, 0.921},
         0.003,
         {"SAME", "IMPROVED", "IMPROVED"},
         NULL},
        {0,
         3,
         "2026-03-01T13:00:00Z",
         5,
         {1.004, 0.749, 0.288},
         0.003,
         {"SAME", "IMPROVED", "IMPROVED"},
         NULL},
    };
    char steps[4][RIDGE_HASH_TEXT];
    ridge_record record;
    size_t i;

    ledger_support_common(out, ids);
    ridge_record_begin(&record, "campaign");
    ridge_record_text(&record, "title", "rms_norm on the H200");
    ridge_record_text(&record, "goal", "reach the copy roof for 4,096 rows");
    ridge_record_text(&record, "created", "2026-03-01T09:00:00Z");
    end(&record, out, ids->campaign);
    add_step(out, ids, 1, NULL, "plain loops", NAN, "kept", "the baseline", ids->build[0],
             steps[0]);
    add_step(out, ids, 2, steps[0], "16-byte loads and stores", 0.3, "kept",
             "as predicted for many rows", ids->build[1], steps[1]);
    add_step(out, ids, 3, steps[1], "stage the row in shared memory", 0.9, "rejected",
             "the row is read once already; the barrier costs", ids->build[2], steps[2]);
    add_step(out, ids, 4, steps[1], "one row a warp, no barrier", 0.9, "kept", NULL, ids->build[3],
             steps[3]);
    for (i = 0; i < sizeof(comparisons) / sizeof(comparisons[0]); i++)
        ledger_support_comparison(out, ids, &comparisons[i]);
    for (i = 0; i < LEDGER_CASES; i++)
        add_check(out, ids, 3, (int)i);
}
