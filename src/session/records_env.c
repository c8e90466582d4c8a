/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of a session itself: tool, device, environment, floors and roofs. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "session/records_rows.h"

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

static void put_header(session_records *records)
{
    ridge_record record;

    ridge_record_begin(&record, "header");
    ridge_record_text(&record, "schema", "ridge-bench/1");
    ridge_record_text(&record, "tool", "ridge");
    ridge_record_text(&record, "tool_version", ridge_version());
    records_put_row(records, &record);
}

static void put_device(session_records *records, const ridge_device_info *info)
{
    ridge_record record;
    struct utsname host;
    char runtime[32] = "";
    const bool is_gpu = info->kind == RIDGE_DEVICE_CUDA;

    ridge_record_begin(&record, "gpu");
    records_known_text(&record, "uuid", info->uuid);
    ridge_record_text(&record, "name", info->name);
    records_known_integer(&record, "sm", info->sm_version);
    records_known_integer(&record, "sm_count", info->sm_count);
    records_known_integer(&record, "l2_bytes", (int64_t)info->l2_bytes);
    records_known_integer(&record, "mem_bytes", (int64_t)info->memory_bytes);
    ridge_record_number(&record, "nominal_clock_hz", info->clock_hz);
    ridge_record_number(&record, "nominal_mem_bytes_per_s", info->memory_bytes_per_s);
    records_put(records, &record, records->gpu_id);

    if (info->cuda_driver_version > 0)
        snprintf(runtime, sizeof(runtime), "%d.%d", info->cuda_driver_version / 1000,
                 info->cuda_driver_version % 1000 / 10);
    ridge_record_begin(&record, "env");
    ridge_record_text(&record, "gpu_id", records->gpu_id);
    records_known_text(&record, "driver", info->driver);
    records_known_text(&record, "cuda_runtime", runtime);
    if (uname(&host) == 0) {
        ridge_record_text(&record, "host", host.nodename);
        ridge_record_text(&record, "kernel", host.release);
    }
    records_known_text(&record, "virt", info->virtualization);
    if (is_gpu) {
        ridge_record_bool(&record, "mig", info->is_mig);
        ridge_record_bool(&record, "ecc", info->is_ecc);
        ridge_record_number(&record, "power_limit_w", info->power_limit_w);
    }
    records_put(records, &record, records->env_id);
}

static void begin_session(session_records *records, ridge_record *record)
{
    ridge_record_begin(record, "session");
    ridge_record_text(record, "env_id", records->env_id);
    ridge_record_text(record, "tool_version", ridge_version());
    ridge_record_integer(record, "seed", (int64_t)records->request->seed);
    /* As it was asked for, so that a printed command asks for the same; extra, no column. */
    records_known_text(record, "device", records->request->device);
    ridge_record_text(record, "started", records->started);
}

void session_records_open(session_records *records, session_child *child,
                          const ridge_device_info *info, const ridge_session_request *request)
{
    ridge_record record;

    memset(records, 0, sizeof(*records));
    records->child = child;
    records->request = request;
    records->null_centre = records->null_half_width = NAN;
    records->shared_frac = NAN;
    utc(records->started, sizeof(records->started));
    put_header(records);
    put_device(records, info);
    begin_session(records, &record);
    records_put(records, &record, records->session_id);
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
    records_put_as(records, &record, records->session_id);
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
        records_put_row(records, &record);
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
    records_known_text(&record, "dtype", dtype);
    ridge_record_number(&record, "value", value);
    ridge_record_text(&record, "unit", unit);
    records_put_row(records, &record);
}

void session_records_roofs(session_records *records, const ridge_roofs *roofs)
{
    int peak;

    put_roof(records, "copy", "", roofs->dram_bytes_per_s, "byte/s");
    for (peak = RIDGE_PEAK_NONE + 1; peak < RIDGE_PEAK_COUNT; peak++)
        put_roof(records, peak == RIDGE_PEAK_FP64 || peak == RIDGE_PEAK_FP32 ? "fma" : "mma",
                 ridge_peak_name((ridge_peak)peak), roofs->flop_per_s[peak], "flop/s");
}
