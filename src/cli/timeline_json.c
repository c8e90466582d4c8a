/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge timeline as JSON, schema ridge-timeline/1: keys are the names of the C fields, times whole
 * nanoseconds, what is not known null. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "timeline_cli.h"

enum { GAPS = 100 }; /* the largest, when --gaps asks for no other number */

static void write_name(ridge_json *json, const char *key, const ridge_trace *trace, uint32_t name)
{
    size_t length;
    const char *const text = ridge_trace_name(trace, name, &length);

    if (name == 0)
        ridge_json_null(json, key);
    else
        ridge_json_text_n(json, key, text, length);
}

static void write_info(const struct timeline_file *file, bool with_command, ridge_json *json)
{
    static const char *const modes[] = {NULL, "node", "graph"};
    const ridge_trace_info *const info = file->info;
    size_t i;

    ridge_json_begin_object(json, "trace");
    ridge_json_text(json, "format", ridge_trace_format_name(info->format));
    ridge_json_text(json, "producer", info->producer[0] != '\0' ? info->producer : NULL);
    ridge_json_text(json, "schema", info->schema[0] != '\0' ? info->schema : NULL);
    ridge_json_text(json, "graph_mode", modes[info->graph_mode]);
    ridge_json_integer(json, "base_ns", info->base_ns);
    ridge_json_integer(json, "resolution_ns", info->resolution_ns);
    if (info->rank >= 0)
        ridge_json_integer(json, "rank", info->rank);
    else
        ridge_json_null(json, "rank");
    if (info->world_size >= 0)
        ridge_json_integer(json, "world_size", info->world_size);
    else
        ridge_json_null(json, "world_size");
    ridge_json_bool(json, "has_api", info->has_api);
    ridge_json_bool(json, "has_stacks", info->has_stacks);
    ridge_json_bool(json, "has_shapes", info->has_shapes);
    ridge_json_bool(json, "skips_cheap_calls", info->skips_cheap_calls);
    ridge_json_bool(json, "is_delayed", info->is_delayed);
    ridge_json_bool(json, "is_partial", info->is_partial);
    ridge_json_text(json, "partial", info->is_partial ? info->partial : NULL);
    ridge_json_count(json, "event_count", info->event_count);
    ridge_json_count(json, "skipped_count", info->skipped_count);
    ridge_json_count(json, "inverted_count", info->inverted_count);
    ridge_json_count(json, "instant_count", info->instant_count);
    ridge_json_count(json, "repeated_count", info->repeated_count);
    if (with_command) {
        ridge_json_begin_array(json, "command");
        for (i = 0; i < info->command_count; i++)
            ridge_json_text(json, NULL, info->command[i]);
        ridge_json_end_array(json);
    }
    ridge_json_end_object(json);
}

void timeline_write_part(const struct timeline_file *file, ridge_json *json)
{
    const struct timeline_part *const part = &file->part;

    if (!file->window.is_set) {
        ridge_json_null(json, "window");
        return;
    }
    ridge_json_begin_object(json, "window");
    ridge_json_integer(json, "start_ns", file->window.start_ns);
    ridge_json_integer(json, "end_ns", file->window.end_ns);
    ridge_json_text(json, "unit", part->unit);
    if (part->unit != NULL) {
        ridge_json_count(json, "first", part->first);
        ridge_json_count(json, "last", part->last);
    } else {
        ridge_json_null(json, "first");
        ridge_json_null(json, "last");
    }
    ridge_json_bool(json, "is_cut", part->is_cut);
    ridge_json_end_object(json);
}

static void write_faults(const struct timeline_file *file, ridge_json *json)
{
    size_t count, device_count, i;
    const ridge_trace_fault *const faults = ridge_timeline_faults(file->timeline, &count);
    const ridge_trace_device *const devices = ridge_trace_devices(file->trace, &device_count);

    ridge_json_begin_array(json, "faults");
    for (i = 0; i < count; i++) {
        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "kind", ridge_trace_fault_name(faults[i].kind));
        ridge_json_bool(json, "is_unreliable", faults[i].is_unreliable);
        if (faults[i].device < device_count)
            ridge_json_integer(json, "device", devices[faults[i].device].id);
        else
            ridge_json_null(json, "device");
        ridge_json_text(json, "text", faults[i].text);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
}

/* -- an account -------------------------------------------------------------------------------- */

static void write_causes(const ridge_device_account *account, ridge_json *json)
{
    size_t i;

    ridge_json_begin_object(json, "causes");
    for (i = 0; i < RIDGE_IDLE_COUNT; i++) {
        const ridge_idle_sum *const sum = &account->causes[i];

        ridge_json_begin_object(json, ridge_idle_name((ridge_idle)i));
        ridge_json_integer(json, "total_ns", sum->total_ns);
        ridge_json_count(json, "gap_count", sum->gap_count);
        ridge_json_integer(json, "largest_ns", sum->largest_ns);
        ridge_json_integer(json, "stall_ns", sum->stall_ns);
        ridge_json_end_object(json);
    }
    ridge_json_end_object(json);
}

static void write_op(ridge_json *json, const char *key, const ridge_trace *trace, uint32_t op)
{
    size_t count;
    const ridge_trace_op *const ops = ridge_trace_ops(trace, &count);

    if (op < count)
        write_name(json, key, trace, ops[op].name);
    else
        ridge_json_null(json, key);
}

static void write_gap(const struct timeline_file *file, const ridge_device_account *account,
                      const ridge_idle_gap *gap, ridge_json *json)
{
    size_t range_count, api_count, i;
    const ridge_trace_range *const ranges = ridge_trace_ranges(file->trace, &range_count);
    const ridge_trace_api *const calls = ridge_trace_apis(file->trace, &api_count);

    ridge_json_begin_object(json, NULL);
    ridge_json_integer(json, "start_ns", gap->start_ns);
    ridge_json_integer(json, "end_ns", gap->end_ns);
    ridge_json_integer(json, "at_ns", timeline_at_ns(file, gap->start_ns));
    ridge_json_text(json, "cause", ridge_idle_name((ridge_idle)gap->cause));
    write_op(json, "before", file->trace, gap->before);
    write_op(json, "after", file->trace, gap->after);
    write_name(json, "range", file->trace, gap->range < range_count ? ranges[gap->range].name : 0);
    write_name(json, "host_range", file->trace,
               gap->host_range < range_count ? ranges[gap->host_range].name : 0);
    ridge_json_begin_array(json, "pieces");
    for (i = gap->first_piece; i < gap->first_piece + gap->piece_count; i++) {
        const ridge_idle_piece *const piece = &account->pieces[i];

        ridge_json_begin_object(json, NULL);
        ridge_json_integer(json, "start_ns", piece->start_ns);
        ridge_json_integer(json, "end_ns", piece->end_ns);
        ridge_json_text(json, "cause", ridge_idle_name((ridge_idle)piece->cause));
        write_name(json, "api", file->trace, piece->api < api_count ? calls[piece->api].name : 0);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
    ridge_json_end_object(json);
}

static void write_streams(const struct timeline_file *file, const ridge_device_account *account,
                          ridge_json *json)
{
    size_t count, process_count, i;
    const ridge_trace_stream *const streams = ridge_trace_streams(file->trace, &count);
    const ridge_trace_process *const processes = ridge_trace_processes(file->trace, &process_count);

    ridge_json_begin_array(json, "streams");
    for (i = 0; i < account->stream_count; i++) {
        const ridge_stream_account *const sum = &account->streams[i];
        const ridge_trace_stream *const stream = &streams[sum->stream];

        ridge_json_begin_object(json, NULL);
        ridge_json_integer(json, "id", stream->id);
        ridge_json_count(json, "context", stream->context);
        if (stream->process < process_count)
            ridge_json_integer(json, "process", processes[stream->process].id);
        ridge_json_bool(json, "is_null", stream->is_null);
        ridge_json_count(json, "op_count", sum->op_count);
        ridge_json_count(json, "kernel_count", sum->kernel_count);
        ridge_json_integer(json, "busy_ns", sum->busy_ns);
        ridge_json_integer(json, "sum_ns", sum->sum_ns);
        ridge_json_count(json, "overlap_count", sum->overlap_count);
        ridge_json_count(json, "queue_depth_most", sum->queue_depth_most);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
}

static void write_times(const ridge_device_account *account, ridge_json *json)
{
    const struct {
        const char *key;
        int64_t value;
    } times[] = {
        {"start_ns", account->start_ns},
        {"end_ns", account->end_ns},
        {"kernel_ns", account->kernel_ns},
        {"copy_only_ns", account->copy_only_ns},
        {"idle_ns", account->idle_ns},
        {"busy_ns", account->busy_ns},
        {"kernel_sum_ns", account->kernel_sum_ns},
        {"hardware_gap_ns", account->hardware_gap_ns},
        {"launch_latency_ns", account->launch_latency_ns},
        {"queue_full_ns", account->queue_full_ns},
        {"stall_ns", account->stall_ns},
        {"stall_most_ns", account->stall_most_ns},
        {"concurrent_ns", account->concurrent_ns},
        {"copy_ns", account->copy_ns},
        {"copy_hidden_ns", account->copy_hidden_ns},
        {"copy_busiest_ns", account->copy_busiest_ns},
        {"collective_ns", account->collective_ns},
        {"collective_hidden_ns", account->collective_hidden_ns},
    };
    const struct {
        const char *key;
        double value;
    } numbers[] = {
        {"median_kernel_ns", account->median_kernel_ns},
        {"median_launch_period_ns", account->median_launch_period_ns},
        {"median_graph_gap_ns", account->median_graph_gap_ns},
        {"median_hardware_gap_ns", account->median_hardware_gap_ns},
        {"queue_depth_median", account->queue_depth_median},
        {"queue_empty_frac", account->queue_empty_frac},
    };
    const struct {
        const char *key;
        size_t value;
    } counts[] = {
        {"op_count", account->op_count},
        {"kernel_count", account->kernel_count},
        {"copy_count", account->copy_count},
        {"graph_row_count", account->graph_row_count},
        {"launch_count", account->launch_count},
        {"graph_launch_count", account->graph_launch_count},
        {"graph_kernel_count", account->graph_kernel_count},
        {"queue_depth_most", account->queue_depth_most},
        {"overlap_count", account->overlap_count},
        {"concurrent_most", account->concurrent_most},
        {"serial_count", account->serial_count},
        {"gap_count", account->gap_count},
    };
    size_t i;

    for (i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        ridge_json_integer(json, times[i].key, times[i].value);
    for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        ridge_json_number(json, numbers[i].key, numbers[i].value);
    for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        ridge_json_count(json, counts[i].key, counts[i].value);
}

/* -- tables ------------------------------------------------------------------------------------ */

static void write_sum(const ridge_trace_sum *sum, ridge_json *json)
{
    ridge_json_text(json, "name", sum->name);
    ridge_json_count(json, "count", sum->count);
    ridge_json_integer(json, "total_ns", sum->total_ns);
    ridge_json_integer(json, "min_ns", sum->min_ns);
    ridge_json_integer(json, "max_ns", sum->max_ns);
    ridge_json_number(json, "average_ns", sum->average_ns);
    ridge_json_number(json, "median_ns", sum->median_ns);
    ridge_json_number(json, "deviation_ns", sum->deviation_ns);
    ridge_json_number(json, "share_frac", sum->share_frac);
}

static void write_sizes(const ridge_trace_sum *sum, ridge_json *json)
{
    size_t i;

    ridge_json_count(json, "size_count", sum->size_count);
    ridge_json_begin_array(json, "sizes");
    for (i = 0; i < sum->size_count && i < 2; i++) {
        ridge_json_begin_object(json, NULL);
        ridge_json_count(json, "count", sum->sizes[i].count);
        ridge_json_integer(json, "total_ns", sum->sizes[i].total_ns);
        ridge_json_number(json, "median_ns", sum->sizes[i].median_ns);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
}

static void write_kernels(const struct timeline_view *view, ridge_json *json)
{
    size_t i;

    ridge_json_begin_array(json, "kernels");
    for (i = 0; i < view->kernels.count; i++) {
        const ridge_trace_sum *const sum = &view->kernels.rows[i];
        const ridge_kernel_rank *const rank = timeline_rank_of(view, sum->name_id);

        ridge_json_begin_object(json, NULL);
        write_sum(sum, json);
        ridge_json_number(json, "bound_ns", rank != NULL ? rank->bound_ns : (double)NAN);
        ridge_json_number(json, "ratio", rank != NULL ? rank->ratio : (double)NAN);
        ridge_json_count(json, "bound_count", rank != NULL ? rank->bound_count : 0);
        ridge_json_bool(json, "is_tiny", rank != NULL && rank->is_tiny);
        ridge_json_text(json, "source",
                        rank != NULL && rank->source[0] != '\0' ? rank->source : NULL);
        write_sizes(sum, json);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
}

static void write_sums(const char *key, const ridge_trace_sums *sums, bool with_bytes,
                       ridge_json *json)
{
    size_t i;

    ridge_json_begin_array(json, key);
    for (i = 0; i < sums->count; i++) {
        ridge_json_begin_object(json, NULL);
        write_sum(&sums->rows[i], json);
        if (with_bytes && sums->rows[i].bytes == RIDGE_TRACE_BYTES_UNKNOWN)
            ridge_json_null(json, "bytes");
        else if (with_bytes)
            ridge_json_count(json, "bytes", sums->rows[i].bytes);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
}

static void write_ranges(const struct timeline_view *view, ridge_json *json)
{
    static const char *const kinds[] = {"nvtx", "op", "annotation", "python"};
    const ridge_range_sums *const sums = &view->ranges;
    const ridge_range_sums *const more = &view->idle_operations;
    size_t i;

    ridge_json_begin_array(json, "ranges");
    for (i = 0; i < sums->count + more->count; i++) {
        const ridge_range_sum *const sum =
            i < sums->count ? &sums->rows[i] : &more->rows[i - sums->count];

        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "name", sum->name);
        ridge_json_text(json, "kind", sum->kind < 4 ? kinds[sum->kind] : NULL);
        ridge_json_count(json, "count", sum->count);
        ridge_json_integer(json, "host_ns", sum->host_ns);
        ridge_json_integer(json, "host_union_ns", sum->host_union_ns);
        ridge_json_count(json, "launching_count", sum->launching_count);
        ridge_json_integer(json, "launching_ns", sum->launching_ns);
        ridge_json_integer(json, "projected_ns", sum->projected_ns);
        ridge_json_integer(json, "kernel_ns", sum->kernel_ns);
        ridge_json_count(json, "kernel_count", sum->kernel_count);
        ridge_json_count(json, "op_count", sum->op_count);
        ridge_json_integer(json, "idle_ns", sum->idle_ns);
        ridge_json_integer(json, "host_idle_ns", sum->host_idle_ns);
        ridge_json_count(json, "innermost_count", sum->innermost_count);
        ridge_json_integer(json, "innermost_ns", sum->innermost_ns);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
    ridge_json_count(json, "outside_count", sums->outside_count);
    ridge_json_integer(json, "outside_ns", sums->outside_ns);
}

static void write_next(const ridge_timeline_next *next, ridge_json *json)
{
    ridge_json_begin_object(json, "next");
    ridge_json_bool(json, "is_inside", next->is_inside);
    ridge_json_text(json, "fix", next->fix[0] != '\0' ? next->fix : NULL);
    ridge_json_text(json, "exposed", next->exposed[0] != '\0' ? next->exposed : NULL);
    ridge_json_text(json, "worst", next->worst != NULL ? next->worst->sum.name : NULL);
    ridge_json_text(json, "ncu", next->ncu != NULL && next->ncu[0] != '\0' ? next->ncu : NULL);
    ridge_json_number(json, "idle_gain", next->idle_gain);
    ridge_json_number(json, "sync_gain", next->sync_gain);
    ridge_json_number(json, "start_frac", next->start_frac);
    ridge_json_number(json, "steady_gain", next->steady_gain);
    ridge_json_number(json, "copy_gain", next->copy_gain);
    ridge_json_number(json, "collective_gain", next->collective_gain);
    ridge_json_number(json, "worst_gain", next->worst_gain);
    ridge_json_number(json, "worst_half_gain", next->worst_half_gain);
    ridge_json_number(json, "kernels_gain", next->kernels_gain);
    ridge_json_number(json, "bounded_frac", next->bounded_frac);
    ridge_json_number(json, "floor_ns", next->floor_ns);
    ridge_json_text(json, "richest", next->richest != NULL ? next->richest->sum.name : NULL);
    ridge_json_number(json, "richest_frac", next->richest_frac);
    ridge_json_text(json, "richest_ncu",
                    next->richest_ncu != NULL && next->richest_ncu[0] != '\0' ? next->richest_ncu
                                                                              : NULL);
    ridge_json_text(json, "note", next->note[0] != '\0' ? next->note : NULL);
    ridge_json_end_object(json);
}

static void write_device(const struct timeline_view *view, size_t gaps, ridge_json *json)
{
    const struct timeline_file *const file = view->file;
    const ridge_device_account *const account = view->account;
    const char *const name = timeline_device_name(file->trace, account);
    const char *const pace = ridge_pace_name(account->pace);
    size_t i;

    ridge_json_begin_object(json, NULL);
    ridge_json_integer(json, "device", timeline_device_id(file->trace, account));
    ridge_json_text(json, "name", name[0] != '\0' ? name : NULL);
    ridge_json_text(json, "verdict", ridge_timeline_verdict_name(account->verdict));
    ridge_json_text(json, "pace", pace[0] != '\0' ? pace : NULL);
    ridge_json_text(json, "reason", account->reason);
    write_times(account, json);
    write_causes(account, json);
    ridge_json_begin_array(json, "gaps");
    for (i = 0; i < account->gap_count && i < gaps; i++)
        write_gap(file, account, &account->gaps[account->gaps_by_size[i]], json);
    ridge_json_end_array(json);
    write_streams(file, account, json);
    write_kernels(view, json);
    write_sums("copies", &view->copies, true, json);
    write_next(&view->next, json);
    ridge_json_end_object(json);
}

ridge_status timeline_write_json(const struct timeline_file *file,
                                 const struct timeline_request *request, ridge_json *json,
                                 ridge_error *err)
{
    const size_t gaps = request->gaps == OPTION_UNSET ? GAPS : request->gaps;
    struct timeline_view view;
    ridge_status status = RIDGE_OK;
    size_t i;

    ridge_json_text(json, "file", file->path);
    write_info(file, request->show_command, json);
    if (file->device_count > 0)
        ridge_json_integer(json, "origin_ns", file->origin_ns);
    else
        ridge_json_null(json, "origin_ns");
    timeline_write_part(file, json);
    write_faults(file, json);
    if (file->main != NULL)
        ridge_json_integer(json, "main_device", timeline_device_id(file->trace, file->main));
    else
        ridge_json_null(json, "main_device");
    ridge_json_begin_array(json, "devices");
    for (i = 0; i < file->device_count && status == RIDGE_OK; i++) {
        status = timeline_view_make(file, &file->devices[i], request, &view, err);
        if (status != RIDGE_OK)
            break;
        write_device(&view, gaps, json);
        timeline_view_release(&view);
    }
    ridge_json_end_array(json);
    if (status == RIDGE_OK)
        status = timeline_view_make(file, file->main, request, &view, err);
    if (status == RIDGE_OK) {
        ridge_trace_sums repeats = {0};

        write_sums("api", &view.api, false, json);
        status = ridge_trace_sum_repeats(file->trace, &file->window, &repeats, err);
        write_sums("api_repeats", &repeats, false, json);
        ridge_trace_sums_free(&repeats);
        write_ranges(&view, json);
        timeline_view_release(&view);
    }
    return status;
}
