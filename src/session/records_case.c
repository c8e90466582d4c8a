/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of a case: builds, arms, placements, and slots with their samples. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "session/records_rows.h"

/* -- what is measured -------------------------------------------------------------------------- */

void session_records_build(session_records *records, const ridge_session_build *build)
{
    ridge_record record;

    ridge_record_begin(&record, "build");
    ridge_record_text(&record, "code_hash", build->code_hash);
    records_known_text(&record, "arch", build->code.arch);
    records_take_id(records, &record, records->build_ids[build->arm]);
    ridge_record_begin(&record, "build");
    ridge_record_text(&record, "code_hash", build->code_hash);
    records_known_text(&record, "arch", build->code.arch);
    records_known_text(&record, "kernel", build->kernel);
    records_put_as(records, &record, records->build_ids[build->arm]);
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
    if (at->dtype < RIDGE_DTYPE_COUNT)
        ridge_record_text(&record, "dtype", ridge_dtype_name(at->dtype));
    ridge_record_text(&record, "layout", ridge_layout_name(at->layout));
    ridge_record_text(&record, "values_kind", ridge_values_name(at->values));
    ridge_record_number(&record, "flop_count", work->flop_count);
    ridge_record_number(&record, "bytes_read", work->read_bytes);
    ridge_record_number(&record, "bytes_written", work->written_bytes);
    ridge_record_number(&record, "footprint_bytes", work->footprint_bytes);
    records_put(records, &record, records->kase_id);
    ridge_text_release(&axes);
    records->blocks = records->launches = 0;
}

static void begin_arm(const session_records *records, ridge_record *record, int arm,
                      const char *role, const char *launcher)
{
    const ridge_session_request *const request = records->request;
    const ridge_arm_options *const options =
        &request->arm_options[request->arms[1] != NULL ? arm : 0];

    ridge_record_begin(record, "arm");
    ridge_record_text(record, "session_id", records->session_id);
    ridge_record_text(record, "kase_id", records->kase_id);
    records_known_text(record, "build_id", records->build_ids[arm]);
    ridge_record_text(record, "role", role);
    ridge_record_text(record, "launcher", launcher);
    records_known_text(record, "call", options->call); /* these two: extra, no columns */
    records_known_text(record, "family", options->family);
}

void session_records_arm(session_records *records, int arm, const char *role, const char *launcher,
                         const char *path)
{
    ridge_record record;

    begin_arm(records, &record, arm, role, launcher);
    if (path[0] == '\0') {
        records_put(records, &record, records->arm_ids[arm]);
        return;
    }
    ridge_record_text(&record, "path_json", path);
    records_put_as(records, &record, records->arm_ids[arm]);
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
    records_put_row(records, &record);
    ridge_free(bytes);
}

static void put_slot(session_records *records, const session_held *held, const char *placement_id)
{
    const ridge_slot *const slot = &held->slot;
    const bool is_batch = slot->sample_count == 0;
    char id[RIDGE_HASH_TEXT] = "";
    ridge_record record;

    ridge_record_begin(&record, "slot");
    records_known_text(&record, "placement_id", placement_id);
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
    records_put(records, &record, id);
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
    records_take_id(records, &record, id);
    begin_placement(records, &record, placement, address_hash);
    ridge_record_number(&record, "value", value);
    records_put_as(records, &record, id);
    release_held(records, id);
}

void session_records_flush(session_records *records)
{
    release_held(records, "");
}
