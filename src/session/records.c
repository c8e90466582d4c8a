/* SPDX-License-Identifier: Apache-2.0
 *
 * A session as rows of ridge-bench/1 (docs/formats/ridge-bench.md). A row names the rows it belongs to
 * by their ids, which are hashes of content, so each is written behind those. What becomes known
 * later (the end of a session, the path of an arm) is not hashed: the row is written again with it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/record.h"
#include "session/session_internal.h"

/* -- rows -------------------------------------------------------------------------------------- */

static void send_line(session_records *records, const ridge_text *line)
{
    session_send(records->child, SESSION_FRAME_RECORD, line->data, line->length);
}

/* Ends a row and sends it. */
static void put(session_records *records, ridge_record *record, char *id)
{
    ridge_text line;
    ridge_status status;

    ridge_text_init(&line);
    status = ridge_record_end(record, &line, id, NULL);
    if (status == RIDGE_OK)
        send_line(records, &line);
    else if (records->status == RIDGE_OK)
        records->status = status;
    ridge_text_release(&line);
}

/* The same for a row that no other refers to. */
static void put_row(session_records *records, ridge_record *record)
{
    char id[RIDGE_HASH_TEXT];

    put(records, record, id);
}

/* The same for a row with members that are not hashed. */
static void put_as(session_records *records, ridge_record *record, const char *id)
{
    ridge_text line;
    ridge_status status;

    ridge_text_init(&line);
    status = ridge_record_end_as(record, id, &line, NULL);
    if (status == RIDGE_OK)
        send_line(records, &line);
    else if (records->status == RIDGE_OK)
        records->status = status;
    ridge_text_release(&line);
}

/* Only the id of a row, which is sent by put_as() later. */
static void take_id(session_records *records, ridge_record *record, char *id)
{
    const ridge_status status = ridge_record_end(record, NULL, id, NULL);

    if (status != RIDGE_OK && records->status == RIDGE_OK)
        records->status = status;
}

/* "" is not known. */
static void known_text(ridge_record *record, const char *key, const char *text)
{
    if (text != NULL && text[0] != '\0')
        ridge_record_text(record, key, text);
}

/* 0 is not known. */
static void known_integer(ridge_record *record, const char *key, int64_t value)
{
    if (value != 0)
        ridge_record_integer(record, key, value);
}

static void utc(char *out, size_t size)
{
    struct timespec now;
    struct tm parts;
    size_t used;

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    used = strftime(out, size, "%Y-%m-%dT%H:%M:%S", &parts);
    /* Two sessions of one second are two rows. */
    snprintf(out + used, size - used, ".%06ldZ", now.tv_nsec / 1000);
}

/* -- session ----------------------------------------------------------------------------------- */

static void put_header(session_records *records)
{
    ridge_record record;

    ridge_record_begin(&record, "header");
    ridge_record_text(&record, "schema", "ridge-bench/1");
    ridge_record_text(&record, "tool", "ridge");
    ridge_record_text(&record, "tool_version", ridge_version());
    put_row(records, &record);
}

static void put_device(session_records *records, const ridge_device_info *info)
{
    ridge_record record;
    struct utsname host;
    char runtime[32] = "";
    const bool is_gpu = info->kind == RIDGE_DEVICE_CUDA;

    ridge_record_begin(&record, "gpu");
    known_text(&record, "uuid", info->uuid);
    ridge_record_text(&record, "name", info->name);
    known_integer(&record, "sm", info->sm_version);
    known_integer(&record, "sm_count", info->sm_count);
    known_integer(&record, "l2_bytes", (int64_t)info->l2_bytes);
    known_integer(&record, "mem_bytes", (int64_t)info->memory_bytes);
    ridge_record_number(&record, "nominal_clock_hz", info->clock_hz);
    ridge_record_number(&record, "nominal_mem_bytes_per_s", info->memory_bytes_per_s);
    put(records, &record, records->gpu_id);

    if (info->cuda_driver_version > 0)
        snprintf(runtime, sizeof(runtime), "%d.%d", info->cuda_driver_version / 1000,
                 info->cuda_driver_version % 1000 / 10);
    ridge_record_begin(&record, "env");
    ridge_record_text(&record, "gpu_id", records->gpu_id);
    known_text(&record, "driver", info->driver);
    known_text(&record, "cuda_runtime", runtime);
    if (uname(&host) == 0) {
        ridge_record_text(&record, "host", host.nodename);
        ridge_record_text(&record, "kernel", host.release);
    }
    known_text(&record, "virt", info->virtualization);
    if (is_gpu) {
        ridge_record_bool(&record, "mig", info->is_mig);
        ridge_record_bool(&record, "ecc", info->is_ecc);
        ridge_record_number(&record, "power_limit_w", info->power_limit_w);
    }
    put(records, &record, records->env_id);
}

static void begin_session(session_records *records, ridge_record *record)
{
    ridge_record_begin(record, "session");
    ridge_record_text(record, "env_id", records->env_id);
    ridge_record_text(record, "tool_version", ridge_version());
    ridge_record_integer(record, "seed", (int64_t)records->seed);
    ridge_record_text(record, "started", records->started);
}

void session_records_open(session_records *records, session_child *child,
                          const ridge_device_info *info, uint64_t seed)
{
    ridge_record record;

    memset(records, 0, sizeof(*records));
    records->child = child;
    records->seed = seed;
    records->null_centre = records->null_half_width = NAN;
    records->shared_frac = NAN;
    utc(records->started, sizeof(records->started));
    put_header(records);
    put_device(records, info);
    begin_session(records, &record);
    put(records, &record, records->session_id);
}

void session_records_close(session_records *records)
{
    ridge_record record;
    char ended[40];

    utc(ended, sizeof(ended));
    begin_session(records, &record);
    ridge_record_text(&record, "ended", ended);
    ridge_record_bool(&record, "busy_flag", records->is_busy);
    ridge_record_number(&record, "null_centre", records->null_centre);
    ridge_record_number(&record, "null_halfwidth", records->null_half_width);
    put_as(records, &record, records->session_id);
}

void session_records_release(session_records *records)
{
    size_t i;

    for (i = 0; i < records->held_count; i++)
        ridge_free(records->held[i].samples_ns);
    ridge_free(records->held);
    records->held = NULL;
    records->held_count = records->held_capacity = 0;
}

void session_records_floors(session_records *records, const ridge_floors *floors)
{
    const struct {
        const char *kind;
        double value_ns;
    } rows[] = {
        {"event", floors->event_ns}, {"kernel", floors->kernel_ns}, {"graph", floors->graph_ns}};
    ridge_record record;
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (!isfinite(rows[i].value_ns))
            continue;
        ridge_record_begin(&record, "floor");
        ridge_record_text(&record, "session_id", records->session_id);
        ridge_record_text(&record, "kind", rows[i].kind);
        ridge_record_number(&record, "value_ns", rows[i].value_ns);
        put_row(records, &record);
    }
}

static void put_roof(session_records *records, const char *kind, const char *dtype, double value,
                     const char *unit)
{
    ridge_record record;

    if (!(value > 0))
        return;
    ridge_record_begin(&record, "roof");
    ridge_record_text(&record, "session_id", records->session_id);
    ridge_record_text(&record, "kind", kind);
    known_text(&record, "dtype", dtype);
    ridge_record_number(&record, "value", value);
    ridge_record_text(&record, "unit", unit);
    put_row(records, &record);
}

void session_records_roofs(session_records *records, const ridge_roofs *roofs)
{
    int peak;

    put_roof(records, "copy", "", roofs->dram_bytes_per_s, "byte/s");
    for (peak = RIDGE_PEAK_NONE + 1; peak < RIDGE_PEAK_COUNT; peak++)
        put_roof(records, peak == RIDGE_PEAK_FP64 || peak == RIDGE_PEAK_FP32 ? "fma" : "mma",
                 ridge_peak_name((ridge_peak)peak), roofs->flop_per_s[peak], "flop/s");
}

/* -- what is measured -------------------------------------------------------------------------- */

void session_records_build(session_records *records, const ridge_session_build *build)
{
    ridge_record record;

    ridge_record_begin(&record, "build");
    ridge_record_text(&record, "code_hash", build->code_hash);
    known_text(&record, "arch", build->code.arch);
    take_id(records, &record, records->build_ids[build->arm]);
    ridge_record_begin(&record, "build");
    ridge_record_text(&record, "code_hash", build->code_hash);
    known_text(&record, "arch", build->code.arch);
    known_text(&record, "kernel", build->kernel);
    put_as(records, &record, records->build_ids[build->arm]);
}

void session_records_case(session_records *records, const char *family, const ridge_case *at,
                          const ridge_kernel_work *work)
{
    ridge_text axes;
    ridge_record record;
    size_t i;

    ridge_text_init(&axes);
    ridge_text_add(&axes, "{");
    for (i = 0; i < at->axis_count; i++)
        ridge_text_format(&axes, "%s\"%s\":%" PRId64, i > 0 ? "," : "", at->axes[i].name,
                          at->axes[i].value);
    ridge_text_add(&axes, "}");
    ridge_record_begin(&record, "kase");
    ridge_record_text(&record, "family", family);
    ridge_record_text(&record, "axes_json", axes.data);
    ridge_record_text(&record, "dtype", ridge_dtype_name(at->dtype));
    ridge_record_text(&record, "layout", ridge_layout_name(at->layout));
    ridge_record_text(&record, "values_kind", ridge_values_name(at->values));
    ridge_record_number(&record, "flop_count", work->flop_count);
    ridge_record_number(&record, "bytes_read", work->read_bytes);
    ridge_record_number(&record, "bytes_written", work->written_bytes);
    ridge_record_number(&record, "footprint_bytes", work->footprint_bytes);
    put(records, &record, records->kase_id);
    ridge_text_release(&axes);
    records->blocks = records->launches = 0;
}

static void begin_arm(const session_records *records, ridge_record *record, int arm,
                      const char *role, const char *launcher)
{
    ridge_record_begin(record, "arm");
    ridge_record_text(record, "session_id", records->session_id);
    ridge_record_text(record, "kase_id", records->kase_id);
    known_text(record, "build_id", records->build_ids[arm]);
    ridge_record_text(record, "role", role);
    ridge_record_text(record, "launcher", launcher);
}

void session_records_arm(session_records *records, int arm, const char *role, const char *launcher,
                         const char *path)
{
    ridge_record record;

    begin_arm(records, &record, arm, role, launcher);
    if (path[0] == '\0') {
        put(records, &record, records->arm_ids[arm]);
        return;
    }
    ridge_record_text(&record, "path_json", path);
    put_as(records, &record, records->arm_ids[arm]);
}

/* -- slots ------------------------------------------------------------------------------------- */

static void put_samples(session_records *records, const session_held *held, const char *slot_id)
{
    const size_t count = held->slot.sample_count;
    unsigned char *bytes;
    ridge_record record;
    size_t i;

    if (held->samples_ns == NULL)
        return;
    bytes = ridge_calloc(count, 4);
    if (bytes == NULL) {
        records->status = RIDGE_ERR_OUT_OF_MEMORY;
        return;
    }
    for (i = 0; i < count; i++) {
        const int32_t ticks = (int32_t)fmin(fmax(rint(held->samples_ns[i]), 0), INT32_MAX);

        bytes[4 * i] = (unsigned char)(ticks & 0xff);
        bytes[4 * i + 1] = (unsigned char)(ticks >> 8 & 0xff);
        bytes[4 * i + 2] = (unsigned char)(ticks >> 16 & 0xff);
        bytes[4 * i + 3] = (unsigned char)(ticks >> 24 & 0xff);
    }
    ridge_record_begin(&record, "sample");
    ridge_record_text(&record, "slot_id", slot_id);
    ridge_record_text(&record, "codec", "i32");
    ridge_record_number(&record, "tick_ns", 1);
    ridge_record_bytes(&record, "blob", bytes, 4 * count);
    put_row(records, &record);
    ridge_free(bytes);
}

static void put_slot(session_records *records, const session_held *held, const char *placement_id)
{
    const ridge_slot *const slot = &held->slot;
    const bool is_batch = slot->sample_count == 0;
    char id[RIDGE_HASH_TEXT] = "";
    ridge_record record;

    ridge_record_begin(&record, "slot");
    known_text(&record, "placement_id", placement_id);
    ridge_record_text(&record, "arm_id", records->arm_ids[slot->arm != 0]);
    ridge_record_integer(&record, "block", slot->block);
    ridge_record_integer(&record, "pos", slot->position);
    ridge_record_number(&record, "t_start", slot->start_s);
    ridge_record_integer(&record, "k", slot->launches);
    ridge_record_number(&record, "median_ns", slot->median_ns);
    if (!is_batch) {
        ridge_record_number(&record, "p10_ns", slot->p10_ns);
        ridge_record_number(&record, "p90_ns", slot->p90_ns);
        ridge_record_number(&record, "min_ns", slot->least_ns);
    }
    ridge_record_number(&record, "clock_hz", slot->sm_hz);
    ridge_record_number(&record, "power_w", slot->power_w);
    ridge_record_number(&record, "temp_c", slot->temperature_c);
    ridge_record_integer(&record, "event_bits", slot->clock_reasons);
    if (is_batch)
        ridge_record_number(&record, "batch_ns", slot->median_ns * slot->launches);
    put(records, &record, id);
    put_samples(records, held, id);
}

static void release_held(session_records *records, const char *placement_id)
{
    size_t i;

    for (i = 0; i < records->held_count; i++) {
        put_slot(records, &records->held[i], placement_id);
        ridge_free(records->held[i].samples_ns);
    }
    records->held_count = 0;
}

void session_records_slot(session_records *records, const ridge_slot *slot)
{
    session_held held = {*slot, NULL};

    session_beat(records->child);
    held.slot.samples_ns = NULL;
    if (slot->samples_ns != NULL && slot->sample_count > 0) {
        held.samples_ns = ridge_calloc(slot->sample_count, sizeof(float));
        if (held.samples_ns == NULL)
            records->status = RIDGE_ERR_OUT_OF_MEMORY;
        else
            memcpy(held.samples_ns, slot->samples_ns, slot->sample_count * sizeof(float));
    } else {
        held.slot.sample_count = 0;
    }
    records->launches = slot->launches;
    if (slot->block >= records->blocks)
        records->blocks = slot->block + 1;
    /* Warm-up belongs to no placement, and the number of those that wait is bounded. */
    if (slot->placement < 0 || records->held_count == SESSION_SLOTS_HELD)
        release_held(records, "");
    if (records->held_count == records->held_capacity) {
        const size_t capacity = 2 * records->held_capacity + 16;
        void *const grown = ridge_realloc_array(records->held, capacity, sizeof(records->held[0]));

        if (grown == NULL) {
            records->status = RIDGE_ERR_OUT_OF_MEMORY;
            ridge_free(held.samples_ns);
            return;
        }
        records->held = grown;
        records->held_capacity = capacity;
    }
    records->held[records->held_count++] = held;
    if (slot->placement < 0)
        release_held(records, "");
}

static void begin_placement(const session_records *records, ridge_record *record, int placement,
                            uint64_t address_hash)
{
    char hash[20];

    snprintf(hash, sizeof(hash), "%016" PRIx64, address_hash);
    ridge_record_begin(record, "placement");
    ridge_record_text(record, "session_id", records->session_id);
    ridge_record_text(record, "kase_id", records->kase_id);
    ridge_record_integer(record, "seq", placement);
    ridge_record_text(record, "addr_hash", hash);
    ridge_record_number(record, "shared_frac", records->shared_frac);
}

void session_records_placement(session_records *records, int placement, uint64_t address_hash,
                               double value)
{
    char id[RIDGE_HASH_TEXT];
    ridge_record record;

    begin_placement(records, &record, placement, address_hash);
    take_id(records, &record, id);
    begin_placement(records, &record, placement, address_hash);
    ridge_record_number(&record, "value", value);
    put_as(records, &record, id);
    release_held(records, id);
}

void session_records_flush(session_records *records)
{
    release_held(records, "");
}

/* -- results ----------------------------------------------------------------------------------- */

static void put_policy(session_records *records, ridge_cache cache, ridge_mode mode, int rotation,
                       int placements, ridge_regime regime, double delta, char *id)
{
    static const char *const modes[] = {"event", "event", "graph", "batch"};
    ridge_record record;

    ridge_record_begin(&record, "policy");
    ridge_record_text(&record, "l2", cache == RIDGE_CACHE_HOT ? "hot" : "cold");
    ridge_record_integer(&record, "rotation", rotation);
    ridge_record_text(&record, "mode", modes[mode]);
    known_integer(&record, "k", records->launches);
    known_integer(&record, "m", records->blocks);
    ridge_record_integer(&record, "placements", placements);
    ridge_record_text(&record, "regime", regime == RIDGE_REGIME_BOTH ? "both" : "short");
    ridge_record_text(&record, "order_scheme", "abba");
    ridge_record_number(&record, "delta", delta);
    put(records, &record, id);
}

/* What was measured without its guards is no evidence, whatever it says. */
static void put_unsafe(ridge_record *record, uint64_t without)
{
    char cause[200] = "guards switched off:";
    size_t used = strlen(cause);
    int guard;

    for (guard = 0; guard < RIDGE_GUARD_COUNT && used < sizeof(cause); guard++)
        if ((without >> guard & 1) != 0)
            used += (size_t)snprintf(cause + used, sizeof(cause) - used, " %s",
                                     ridge_guard_name((ridge_guard)guard));
    ridge_record_text(record, "verdict", ridge_bench_verdict_name(RIDGE_VERDICT_INVALID));
    ridge_record_text(record, "invalid_guard", "without");
    ridge_record_text(record, "invalid_cause", cause);
}

void session_records_comparison(session_records *records, ridge_comparison *comparison,
                                const ridge_bench_options *options, const char *confirm_of)
{
    const ridge_interval *const interval =
        comparison->by_sustained ? &comparison->sustained : &comparison->interval;
    const ridge_arm_summary *const arms = comparison->arms;
    char policy_id[RIDGE_HASH_TEXT] = "", id[RIDGE_HASH_TEXT] = "";
    ridge_record record;
    int arm;

    records->is_busy = records->is_busy || comparison->is_busy;
    if (isfinite(comparison->null_centre)) {
        records->null_centre = comparison->null_centre;
        records->null_half_width = comparison->null_half_width;
    }
    for (arm = 0; arm < 2; arm++)
        if (comparison->path[arm][0] != '\0')
            session_records_arm(records, arm,
                                arm == 0                ? "self"
                                : options->null_control ? "null"
                                                        : "candidate",
                                arms[arm].name, comparison->path[arm]);
    put_policy(records, comparison->cache, comparison->mode, comparison->rotation,
               comparison->placements, options->regime, comparison->delta, policy_id);
    ridge_record_begin(&record, "comparison");
    ridge_record_text(&record, "session_id", records->session_id);
    ridge_record_text(&record, "kase_id", records->kase_id);
    ridge_record_text(&record, "arm_a", records->arm_ids[0]);
    ridge_record_text(&record, "arm_b", records->arm_ids[1]);
    ridge_record_text(&record, "policy_id", policy_id);
    ridge_record_number(&record, "ln_ratio", interval->centre);
    ridge_record_number(&record, "lo", interval->low);
    ridge_record_number(&record, "hi", interval->high);
    known_integer(&record, "dof", interval->pilot > 1 ? interval->pilot - 1 : 0);
    ridge_record_integer(&record, "placements", comparison->placements);
    ridge_record_number(&record, "s_pilot", interval->pilot_sd);
    ridge_record_number(&record, "mdc", interval->detectable);
    ridge_record_text(&record, "regime", comparison->by_sustained ? "sustained" : "short");
    ridge_record_number(&record, "sustained_ln_ratio", comparison->sustained.centre);
    if (isfinite(comparison->sustained.centre)) {
        ridge_record_number(&record, "sustained_lo", comparison->sustained.low);
        ridge_record_number(&record, "sustained_hi", comparison->sustained.high);
    }
    ridge_record_number(&record, "p", comparison->p);
    if (options->without != 0 && comparison->verdict != RIDGE_VERDICT_INVALID) {
        put_unsafe(&record, options->without);
    } else {
        ridge_record_text(&record, "verdict", ridge_bench_verdict_name(comparison->verdict));
        known_text(&record, "invalid_guard", comparison->invalid_guard);
        known_text(&record, "invalid_cause", comparison->invalid_cause);
    }
    ridge_record_number(&record, "a_ns", arms[0].median_ns);
    ridge_record_number(&record, "b_ns", arms[1].median_ns);
    ridge_record_number(&record, "a_p90_ns", arms[0].p90_ns);
    ridge_record_number(&record, "b_p90_ns", arms[1].p90_ns);
    ridge_record_number(&record, "a_roof_frac", arms[0].roof_frac);
    ridge_record_number(&record, "b_roof_frac", arms[1].roof_frac);
    ridge_record_number(&record, "a_clock_hz", arms[0].sm_hz);
    ridge_record_number(&record, "b_clock_hz", arms[1].sm_hz);
    ridge_record_integer(&record, "outputs_checked", comparison->outputs_checked);
    known_text(&record, "confirm_of", confirm_of);
    put(records, &record, id);
    snprintf(comparison->record_id, sizeof(comparison->record_id), "%s", id);
}

void session_records_measurement(session_records *records, const ridge_measurement *measurement,
                                 const ridge_bench_options *options)
{
    const ridge_arm_summary *const arm = &measurement->arm;
    char policy_id[RIDGE_HASH_TEXT] = "";
    ridge_record record;

    records->is_busy = records->is_busy || measurement->is_busy;
    if (measurement->path[0] != '\0')
        session_records_arm(records, 0, "candidate", arm->name, measurement->path);
    put_policy(records, measurement->cache, measurement->mode, measurement->rotation,
               measurement->placements, options->regime, NAN, policy_id);
    ridge_record_begin(&record, "measurement");
    ridge_record_text(&record, "arm_id", records->arm_ids[0]);
    ridge_record_text(&record, "policy_id", policy_id);
    ridge_record_number(&record, "median_ns", arm->median_ns);
    ridge_record_number(&record, "p10_ns", arm->p10_ns);
    ridge_record_number(&record, "p90_ns", arm->p90_ns);
    ridge_record_number(&record, "least_ns", arm->least_ns);
    ridge_record_number(&record, "spread_frac", measurement->spread_frac);
    ridge_record_number(&record, "bytes_per_s", arm->bytes_per_s);
    ridge_record_number(&record, "flop_per_s", arm->flop_per_s);
    ridge_record_number(&record, "roof_frac", arm->roof_frac);
    ridge_record_number(&record, "nominal_frac", arm->nominal_frac);
    ridge_record_number(&record, "bound_ns", arm->bound_ns);
    ridge_record_number(&record, "floor_frac", measurement->floor_frac);
    ridge_record_number(&record, "clock_hz", arm->sm_hz);
    ridge_record_number(&record, "power_w", arm->power_w);
    known_text(&record, "invalid_guard", measurement->invalid_guard);
    known_text(&record, "invalid_cause", measurement->invalid_cause);
    put_row(records, &record);
}

/* Whether a test passed; left out when it was not made. */
static void put_test(ridge_record *record, const char *key, const ridge_check_result *result,
                     ridge_test test)
{
    size_t i;

    for (i = 0; i < result->test_count; i++)
        if (result->tests[i].test == test && result->tests[i].outcome <= RIDGE_OUTCOME_FAIL)
            ridge_record_bool(record, key, result->tests[i].outcome != RIDGE_OUTCOME_FAIL);
}

static void put_regions(session_records *records, const ridge_mismatch *mismatch,
                        const char *check_run_id)
{
    ridge_record record;
    size_t i;

    for (i = 0; i < mismatch->region_count && i < RIDGE_MISMATCH_REGIONS; i++) {
        ridge_record_begin(&record, "check_region");
        ridge_record_text(&record, "check_run_id", check_run_id);
        ridge_record_integer(&record, "axis", mismatch->regions[i].axis);
        ridge_record_integer(&record, "lo", mismatch->regions[i].first);
        ridge_record_integer(&record, "hi", mismatch->regions[i].last);
        ridge_record_number(&record, "share", mismatch->regions[i].share_frac);
        known_text(&record, "explanation", mismatch->cause);
        put_row(records, &record);
    }
    if (mismatch->period.axis < 0)
        return;
    ridge_record_begin(&record, "check_region");
    ridge_record_text(&record, "check_run_id", check_run_id);
    ridge_record_integer(&record, "axis", mismatch->period.axis);
    ridge_record_integer(&record, "lo", mismatch->period.residue_first);
    ridge_record_integer(&record, "hi", mismatch->period.residue_last);
    ridge_record_integer(&record, "modulo", mismatch->period.modulus);
    ridge_record_number(&record, "share", mismatch->period.share_frac);
    known_text(&record, "explanation", mismatch->cause);
    put_row(records, &record);
}

void session_records_check(session_records *records, const ridge_check_result *result,
                           const char *launcher)
{
    static const char *const outcomes[] = {"pass", "suspicious", "fail", "refused", "skipped"};
    const ridge_mismatch *const mismatch = &result->mismatch;
    char id[RIDGE_HASH_TEXT] = "";
    ridge_record record;

    ridge_record_begin(&record, "check_run");
    known_text(&record, "build_id", records->build_ids[0]);
    ridge_record_text(&record, "kase_id", records->kase_id);
    ridge_record_text(&record, "session_id", records->session_id);
    ridge_record_text(&record, "launcher", launcher);
    ridge_record_integer(&record, "seed", (int64_t)result->at.seed);
    ridge_record_text(&record, "env_id", records->env_id);
    ridge_record_text(&record, "status", outcomes[result->outcome]);
    ridge_record_number(&record, "worst_scaled_err", result->worst_scaled_error);
    if (mismatch->match == RIDGE_MATCH_WRONG)
        ridge_record_integer(&record, "worst_index", mismatch->worst_index);
    ridge_record_integer(&record, "n_fail", mismatch->wrong_count);
    ridge_record_integer(&record, "n_suspicious", mismatch->suspicious_count);
    ridge_record_integer(&record, "nan_mismatch", mismatch->structure_count);
    put_test(&record, "exact_test", result, RIDGE_TEST_INTEGERS);
    put_test(&record, "repeat_bits", result, RIDGE_TEST_REPEAT);
    put_test(&record, "guard_ok", result, RIDGE_TEST_GUARDS);
    put_test(&record, "poison_ok", result, RIDGE_TEST_WRITTEN);
    put(records, &record, id);
    if (mismatch->match == RIDGE_MATCH_WRONG)
        put_regions(records, mismatch, id);
}
