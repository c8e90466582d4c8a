/* SPDX-License-Identifier: Apache-2.0
 *
 * A diagnosis as JSON: one element of "kernels" in schema ridge-diagnosis/1. Keys are the names of
 * the fields in include/ridge/diagnose.h; base units; what is not known is null. */
#include <math.h>

#include "ridge/diagnose.h"

static void write_extent(ridge_json *json, const char *key, const uint64_t extent[3])
{
    size_t i;

    ridge_json_begin_array(json, key);
    for (i = 0; i < 3; i++)
        ridge_json_count(json, NULL, extent[i]);
    ridge_json_end_array(json);
}

static void write_kernel(ridge_json *json, const ridge_diagnosis *diagnosis)
{
    ridge_json_text(json, "name", diagnosis->name);
    ridge_json_text(json, "demangled_name", diagnosis->demangled_name);
    ridge_json_count(json, "launch_index", diagnosis->launch_index);
    ridge_json_number(json, "duration_ns", diagnosis->duration_ns);
    ridge_json_text(json, "gpu", diagnosis->gpu);
    if (diagnosis->cc_major > 0) {
        char text[32];

        snprintf(text, sizeof(text), "%d.%d", diagnosis->cc_major, diagnosis->cc_minor);
        ridge_json_text(json, "compute_capability", text);
    } else {
        ridge_json_null(json, "compute_capability");
    }
    write_extent(json, "grid", diagnosis->grid);
    write_extent(json, "block", diagnosis->block);
    ridge_json_number(json, "registers_per_thread", diagnosis->registers_per_thread);
    ridge_json_number(json, "shared_bytes_per_block", diagnosis->shared_bytes_per_block);
    ridge_json_number(json, "occupancy_theoretical_frac", diagnosis->occupancy_theoretical_frac);
    ridge_json_number(json, "occupancy_achieved_frac", diagnosis->occupancy_achieved_frac);
    ridge_json_number(json, "waves", diagnosis->waves);
    ridge_json_bool(json, "clocks_locked", diagnosis->clocks_locked);
    ridge_json_number(json, "dram_bytes", diagnosis->dram_bytes);
    ridge_json_number(json, "model_bytes", diagnosis->model_bytes);
    ridge_json_number(json, "model_flop", diagnosis->model_flop);
}

void ridge_verdict_write_json(ridge_json *json, const char *key, const ridge_verdict *verdict)
{
    ridge_json_begin_object(json, key);
    ridge_json_text(json, "class", ridge_class_name(verdict->cls));
    ridge_json_text(json, "wall", ridge_wall_name(verdict->wall));
    ridge_json_number(json, "saturation", verdict->saturation_frac); /* as the schema says */
    ridge_json_bool(json, "at_limit", verdict->at_limit);
    ridge_json_text(json, "sentence", verdict->sentence);
    ridge_json_end_object(json);
}

static void write_where(ridge_json *json, const ridge_where *where)
{
    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "file", where->file);
    if (where->line > 0)
        ridge_json_count(json, "line", where->line);
    else
        ridge_json_null(json, "line");
    ridge_json_count(json, "offset", where->offset);
    ridge_json_text(json, "opcode", where->opcode);
    ridge_json_number(json, "share", where->share_frac);
    ridge_json_text(json, "of", where->of);
    ridge_json_text(json, "source", where->source);
    ridge_json_text(json, "caller_file", where->caller_file);
    if (where->caller_file != NULL)
        ridge_json_count(json, "caller_line", where->caller_line);
    else
        ridge_json_null(json, "caller_line");
    if (where->producer_opcode != NULL) {
        ridge_json_begin_object(json, "producer");
        ridge_json_text(json, "opcode", where->producer_opcode);
        ridge_json_text(json, "file", where->producer_file);
        if (where->producer_line > 0)
            ridge_json_count(json, "line", where->producer_line);
        else
            ridge_json_null(json, "line");
        ridge_json_count(json, "offset", where->producer_offset);
        ridge_json_end_object(json);
    } else {
        ridge_json_null(json, "producer");
    }
    ridge_json_end_object(json);
}

static void write_finding(ridge_json *json, const ridge_finding *finding)
{
    size_t i;

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "id", finding->id);
    ridge_json_integer(json, "rank", finding->rank);
    ridge_json_bool(json, "is_minor", finding->is_minor);
    ridge_json_text(json, "sentence", finding->sentence);
    ridge_json_begin_array(json, "evidence");
    for (i = 0; i < finding->evidence_count; i++) {
        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "metric", finding->evidence[i].metric);
        ridge_json_text(json, "label", finding->evidence[i].label);
        ridge_json_number(json, "value", finding->evidence[i].value);
        ridge_json_text(json, "unit", finding->evidence[i].unit);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
    ridge_json_begin_array(json, "where");
    for (i = 0; i < finding->where_count; i++)
        write_where(json, &finding->where[i]);
    ridge_json_end_array(json);
    ridge_json_text(json, "advice", finding->advice);
    if (isnan(finding->speedup_bound[1])) {
        ridge_json_null(json, "speedup_bound");
        ridge_json_null(json, "next_wall");
    } else {
        ridge_json_begin_array(json, "speedup_bound");
        ridge_json_number(json, NULL, finding->speedup_bound[0]);
        ridge_json_number(json, NULL, finding->speedup_bound[1]);
        ridge_json_end_array(json);
        ridge_json_text(json, "next_wall", ridge_wall_name(finding->next_wall));
    }
    ridge_json_end_object(json);
}

static void write_gates(ridge_json *json, const ridge_diagnosis *diagnosis)
{
    static const char *const outcomes[] = {"passed", "closed", "undecided", "skipped"};
    size_t i;

    ridge_json_begin_array(json, "gates");
    for (i = 0; i < diagnosis->gate_count; i++) {
        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "name", diagnosis->gates[i].name);
        ridge_json_text(json, "outcome", outcomes[diagnosis->gates[i].outcome]);
        ridge_json_text(json, "reasoning", diagnosis->gates[i].reasoning);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
}

static void write_measurements(ridge_json *json, const ridge_diagnosis *diagnosis)
{
    size_t i;

    ridge_json_begin_array(json, "bars");
    for (i = 0; i < diagnosis->bar_count; i++) {
        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "metric", diagnosis->bars[i].metric);
        ridge_json_text(json, "label", diagnosis->bars[i].label);
        ridge_json_text(json, "wall", ridge_wall_name(diagnosis->bars[i].wall));
        ridge_json_number(json, "busy_frac", diagnosis->bars[i].busy_frac);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
    ridge_json_begin_array(json, "stalls");
    for (i = 0; i < diagnosis->stall_count; i++) {
        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "stall", ridge_stall_name(diagnosis->stalls[i].stall));
        ridge_json_number(json, "share_frac", diagnosis->stalls[i].share_frac);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
    ridge_json_bool(json, "stalls_from_samples", diagnosis->stalls_from_samples);
    ridge_json_begin_array(json, "steps");
    for (i = 0; i < diagnosis->step_count; i++) {
        ridge_json_begin_object(json, NULL);
        ridge_json_integer(json, "blocks_per_sm", diagnosis->steps[i].blocks_per_sm);
        ridge_json_integer(json, "warps_per_sm", diagnosis->steps[i].warps_per_sm);
        ridge_json_integer(json, "largest_shared_bytes", diagnosis->steps[i].largest_shared_bytes);
        ridge_json_integer(json, "largest_registers_per_thread",
                           diagnosis->steps[i].largest_registers_per_thread);
        ridge_json_bool(json, "is_current", diagnosis->steps[i].is_current);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
}

static void write_texts(ridge_json *json, const char *key, const char *const *texts, size_t count)
{
    size_t i;

    ridge_json_begin_array(json, key);
    for (i = 0; i < count; i++)
        ridge_json_text(json, NULL, texts[i]);
    ridge_json_end_array(json);
}

void ridge_diagnosis_write_json(const ridge_diagnosis *diagnosis, ridge_json *json)
{
    size_t i;

    ridge_json_begin_object(json, NULL);
    write_kernel(json, diagnosis);
    ridge_verdict_write_json(json, "verdict", &diagnosis->verdict);
    ridge_json_begin_array(json, "findings");
    for (i = 0; i < diagnosis->finding_count; i++)
        write_finding(json, &diagnosis->findings[i]);
    ridge_json_end_array(json);
    ridge_json_begin_array(json, "not_now");
    for (i = 0; i < diagnosis->not_now_count; i++) {
        ridge_json_begin_object(json, NULL);
        ridge_json_text(json, "id", diagnosis->not_now[i].id);
        ridge_json_text(json, "reason", diagnosis->not_now[i].reason);
        ridge_json_end_object(json);
    }
    ridge_json_end_array(json);
    write_measurements(json, diagnosis);
    write_gates(json, diagnosis);
    write_texts(json, "notes", diagnosis->notes, diagnosis->note_count);
    write_texts(json, "missing", diagnosis->missing, diagnosis->missing_count);
    ridge_json_text(json, "collect", diagnosis->collect);
    ridge_json_end_object(json);
}
