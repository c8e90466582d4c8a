/* SPDX-License-Identifier: Apache-2.0
 *
 * What ridge bound model prints: the answer first, then a row for each kind of kernel with the
 * values of one layer, so that rows of a layer add up to it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bound_cli.h"
#include "bound_model.h"

enum { TEXT = 40 };

static char *number(double value, ridge_unit unit, char *text)
{
    return ridge_number_text(value, unit, text, TEXT);
}

static char *seconds(double value, char *text)
{
    return number(value * 1e9, RIDGE_UNIT_NS, text);
}

static char *count(int64_t value, char *text)
{
    return number((double)value, RIDGE_UNIT_COUNT, text);
}

/* "8.030 B" */
static char *parameters(double value, char *text)
{
    char digits[TEXT];

    snprintf(text, TEXT, "%s B", number(value / 1e9, RIDGE_UNIT_NONE, digits));
    return text;
}

/* -- text -------------------------------------------------------------------------------------- */

static void print_model(const struct model_answer *answer, ridge_output *output)
{
    const ridge_model_facts *const facts = &answer->facts;
    const ridge_model_step *const step = &answer->step;
    char all[TEXT], active[TEXT];

    ridge_output_styled(output, RIDGE_STYLE_STRONG, facts->architecture);
    ridge_output_format(output, ": %s parameters", parameters(facts->parameter_count, all));
    if (facts->active_parameter_count < facts->parameter_count)
        ridge_output_format(output, ", %s active",
                            parameters(facts->active_parameter_count, active));
    ridge_output_format(output, ", %s", ridge_element_name(step->element));
    if (step->weights != step->element)
        ridge_output_format(output, ", weights %s", ridge_element_name(step->weights));
    if (step->cache != step->element)
        ridge_output_format(output, ", KV cache %s", ridge_element_name(step->cache));
    ridge_output_text(output, "\n");
}

/* "NVIDIA H200, each of 8: 4.800 TB/s, 989.4 TFLOP/s bf16 tensor" */
static void print_roofs(const struct model_answer *answer, ridge_output *output)
{
    const ridge_model_step *const step = &answer->step;
    const ridge_peak peak = ridge_peak_of_element(step->element);
    const ridge_peak product = ridge_peak_of_element(step->operands);
    char bandwidth[TEXT], rate[TEXT], gpus[TEXT], line[320];
    char each[2 * TEXT] = "", other[2 * TEXT] = "";

    if (step->tensor_parallel > 1)
        snprintf(each, sizeof(each), ", each of %s", count(step->tensor_parallel, gpus));
    if (product != peak)
        snprintf(other, sizeof(other), ", %s %s",
                 number(answer->roofs.flop_per_s[product], RIDGE_UNIT_FLOP_PER_S, rate),
                 ridge_peak_name(product));
    snprintf(line, sizeof(line), "%s%s%s: %s, %s %s%s",
             answer->roofs.name[0] != '\0' ? answer->roofs.name : "as given", each,
             answer->roofs.is_measured ? ", measured" : "",
             number(answer->roofs.dram_bytes_per_s, RIDGE_UNIT_BYTES_PER_S, bandwidth),
             number(answer->roofs.flop_per_s[peak], RIDGE_UNIT_FLOP_PER_S, rate),
             ridge_peak_name(peak), other);
    ridge_output_wrap(output, 2, "", line);
}

/* "Decode, 64 sequences with 8,192 tokens of context:" */
static char *step_text(const struct model_answer *answer, char *text, size_t size)
{
    const ridge_model_step *const step = &answer->step;
    char tokens[TEXT], sequences[TEXT], context[TEXT];

    count(step->sequences, sequences);
    count(step->context, context);
    if (answer->is_decode)
        snprintf(text, size, "Decode, %s sequence%s with %s tokens of context:", sequences,
                 step->sequences == 1 ? "" : "s", context);
    else
        snprintf(text, size, "%s token%s%s%s%s%s%s:", count(step->tokens, tokens),
                 step->tokens == 1 ? "" : "s", step->sequences > 1 ? " of " : "",
                 step->sequences > 1 ? sequences : "", step->sequences > 1 ? " sequences" : "",
                 step->context > 0 ? " behind " : "", step->context > 0 ? context : "");
    return text;
}

/* "compute binds 94.12 % of the time": what other than memory does. */
static char *binding_text(const struct model_answer *answer, char *text, size_t size)
{
    const ridge_peak product = ridge_peak_of_element(answer->step.operands);
    char compute[TEXT], launch[TEXT];

    number(answer->compute_s / answer->time_s, RIDGE_UNIT_FRAC, compute);
    number(answer->launch_s / answer->time_s, RIDGE_UNIT_FRAC, launch);
    if (isnan(answer->roofs.flop_per_s[product]))
        snprintf(text, size, "memory binds as far as is known");
    else if (answer->compute_s > 0 && answer->launch_s > 0)
        snprintf(text, size, "compute binds %s, launching %s of the time", compute, launch);
    else if (answer->compute_s > 0)
        snprintf(text, size, "compute binds %s of the time", compute);
    else if (answer->launch_s > 0)
        snprintf(text, size, "launching binds %s of the time", launch);
    else
        snprintf(text, size, "memory binds throughout");
    return text;
}

/* The kind of kernel that takes most of the step. */
static const struct model_row *largest_row(const struct model_answer *answer)
{
    const struct model_row *largest = &answer->rows[0];
    size_t i;

    for (i = 1; i < answer->row_count; i++)
        if (answer->rows[i].share_frac > largest->share_frac)
            largest = &answer->rows[i];
    return largest;
}

/* "At least" is of the kernels below; fused they take less. */
static void print_time(const struct model_answer *answer, ridge_output *output)
{
    const struct model_row *const largest = largest_row(answer);
    char time[TEXT], rate[TEXT], saves[TEXT], launches[TEXT], share[TEXT];
    char binding[120], line[320], step[240];

    ridge_output_text(output, step_text(answer, step, sizeof(step)));
    if (isnan(answer->time_s)) {
        ridge_output_text(output, " time n/a, a roof is not known\n");
        return;
    }
    snprintf(
        line, sizeof(line), "at least %s, at most %s tokens/s\n", seconds(answer->time_s, time),
        answer->tokens_per_s < 1e4 ? number(answer->tokens_per_s, RIDGE_UNIT_NONE, rate)
                                   : number(floor(answer->tokens_per_s), RIDGE_UNIT_COUNT, rate));
    ridge_output_text(
        output, strlen(step) + strlen(line) > (size_t)ridge_output_columns(output) ? "\n  " : " ");
    ridge_output_styled(output, RIDGE_STYLE_STRONG, line);
    snprintf(line, sizeof(line), "%s takes %s; %s", largest->kind->work.name,
             number(largest->share_frac, RIDGE_UNIT_FRAC, share),
             binding_text(answer, binding, sizeof(binding)));
    ridge_output_wrap(output, 2, "", line);
    snprintf(line, sizeof(line), "%s launches; fusing saves at most %s%s",
             count(answer->launches, launches), seconds(answer->saves_s, saves),
             isnan(answer->roofs.launch_s) ? " of traffic" : "");
    ridge_output_wrap(output, 2, "", line);
}

/* Weights and cache against the memory of a GPU. */
static void print_memory(const struct model_answer *answer, ridge_output *output)
{
    const ridge_model_facts *const facts = &answer->facts;
    const double needed = facts->weight_bytes + facts->cache_bytes;
    const double room = floor((answer->dram_bytes - facts->weight_bytes) /
                              (facts->cache_bytes / (double)answer->step.sequences));
    char weights[TEXT], cache[TEXT], token[TEXT], sum[TEXT], memory[TEXT], most[TEXT];
    char state[TEXT + 16] = "";
    char verdict[2 * TEXT] = "the chip's memory is not known";

    if (needed > answer->dram_bytes && answer->least_parallel > answer->step.tensor_parallel)
        snprintf(verdict, sizeof(verdict), "does not fit, --tp %d does", answer->least_parallel);
    else if (needed > answer->dram_bytes)
        snprintf(verdict, sizeof(verdict), "does not fit");
    else if (needed <= answer->dram_bytes)
        snprintf(verdict, sizeof(verdict), "fits, up to %s such sequence%s",
                 number(room, RIDGE_UNIT_COUNT, most), room == 1 ? "" : "s");
    if (facts->state_bytes_per_sequence > 0)
        snprintf(state, sizeof(state), ", %s a sequence",
                 number(facts->state_bytes_per_sequence, RIDGE_UNIT_BYTES, token));

    ridge_output_format(output, "Memory %s of %s: ", number(needed, RIDGE_UNIT_BYTES, sum),
                        number(answer->dram_bytes, RIDGE_UNIT_BYTES, memory));
    ridge_output_styled(output, needed > answer->dram_bytes ? RIDGE_STYLE_BAD : RIDGE_STYLE_PLAIN,
                        verdict);
    ridge_output_format(output, "\nWeights %s, KV cache %s: %s a token%s\n",
                        number(facts->weight_bytes, RIDGE_UNIT_BYTES, weights),
                        number(facts->cache_bytes, RIDGE_UNIT_BYTES, cache),
                        number(facts->cache_bytes_per_token, RIDGE_UNIT_BYTES, token), state);
}

static void print_parallel(const struct model_answer *answer, ridge_output *output)
{
    const ridge_model_facts *const facts = &answer->facts;
    char reduces[TEXT], message[TEXT], sent[TEXT], copies[TEXT];
    char held[2 * TEXT] = "";
    char line[400];

    if (facts->all_reduces == 0)
        return;
    if (facts->kv_replicas > 1)
        snprintf(held, sizeof(held), "; the KV cache is held %s times over",
                 count(facts->kv_replicas, copies));
    snprintf(line, sizeof(line),
             "Values are of one GPU of %d, without %s all-reduces of %s, %s sent and received in a "
             "ring, whose time is n/a: the link is not known%s",
             answer->step.tensor_parallel, count(facts->all_reduces, reduces),
             number(facts->all_reduce_bytes, RIDGE_UNIT_BYTES, message),
             number(facts->all_reduce_bytes_gpu, RIDGE_UNIT_BYTES, sent), held);
    ridge_output_wrap(output, 2, "", line);
}

/* Where the routing decides how many weights are read, what is "at least" hangs on it. One token
 * takes as many experts whatever the routing. */
static void print_experts(const struct model_answer *answer, ridge_output *output)
{
    const ridge_model_facts *const facts = &answer->facts;
    char touched[TEXT], experts[TEXT], line[200];

    if (answer->step.tokens <= 1 || !(facts->touched_experts < 0.995 * (double)facts->experts))
        return;
    snprintf(line, sizeof(line),
             "Even routing touches %s of %s experts a layer; uneven routing fewer, in less time",
             number(facts->touched_experts, RIDGE_UNIT_NONE, touched),
             count(facts->experts, experts));
    ridge_output_wrap(output, 2, "", line);
}

static void print_warnings(const struct model_answer *answer, ridge_output *output)
{
    const ridge_peak product = ridge_peak_of_element(answer->step.operands);
    char line[240];

    print_experts(answer, output);
    if (!answer->facts.is_quantization_known) {
        snprintf(line, sizeof(line),
                 "The config is quantised by '%s', which is not known: weights are counted as %s, "
                 "see --weights",
                 answer->facts.quantization, ridge_element_name(answer->step.weights));
        ridge_output_wrap(output, 2, "", line);
    }
    if (answer->is_nominal_bandwidth && !isnan(answer->roofs.dram_bytes_per_s))
        ridge_output_text(output, "Bandwidth was not measured: it is the nominal one\n");
    if (answer->is_nominal_peak[product] && !isnan(answer->roofs.flop_per_s[product]))
        ridge_output_format(output, "%s was not measured: it is the nominal peak\n",
                            ridge_peak_name(product));
    if (isnan(answer->roofs.flop_per_s[product]) && !isnan(answer->time_s))
        ridge_output_format(output,
                            "The %s peak is not known: products are held against memory alone\n",
                            ridge_peak_name(product));
}

/* -- the table --------------------------------------------------------------------------------- */

static const ridge_column text_columns[] = {
    {"layer", "Layer", RIDGE_UNIT_NONE, true, 0, 0},
    {"name", "Kernel", RIDGE_UNIT_NONE, true, 0, 0},
    {"bytes", "Bytes", RIDGE_UNIT_BYTES, false, 0, 2},
    {"flop_count", "FLOP", RIDGE_UNIT_FLOP, false, 0, 3},
    {"by", "Bound by", RIDGE_UNIT_NONE, true, 0, 1},
    {"time_s", "Time", RIDGE_UNIT_NS, false, 0, 0},
    {"share_frac", "Share", RIDGE_UNIT_FRAC, false, 0, 0},
    {"saves_s", "Fusing", RIDGE_UNIT_NS, false, 0, 4},
};

static const ridge_column csv_columns[] = {
    {"layer", "", RIDGE_UNIT_NONE, true, 8, 0},
    {"layers", "", RIDGE_UNIT_NONE, false, 0, 0},
    {"name", "", RIDGE_UNIT_NONE, true, 8, 0},
    {"launches", "", RIDGE_UNIT_NONE, false, 0, 0},
    {"read_bytes", "", RIDGE_UNIT_NONE, false, 0, 0},
    {"written_bytes", "", RIDGE_UNIT_NONE, false, 0, 0},
    {"weight_bytes", "", RIDGE_UNIT_NONE, false, 0, 0},
    {"cache_bytes", "", RIDGE_UNIT_NONE, false, 0, 0},
    {"between_bytes", "", RIDGE_UNIT_NONE, false, 0, 0},
    {"flop_count", "", RIDGE_UNIT_NONE, false, 0, 0},
    {"by", "", RIDGE_UNIT_NONE, true, 8, 0},
    {"time_s", "", RIDGE_UNIT_NONE, false, 0, 0},
    {"saves_s", "", RIDGE_UNIT_NONE, false, 0, 0},
    {"share_frac", "", RIDGE_UNIT_NONE, false, 0, 0},
};

static void add_text_row(ridge_table *table, const struct model_row *row, bool repeat)
{
    const double times = (double)row->per_layer;
    char text[96], layers[TEXT];

    if (row->kind->layers > 1)
        snprintf(text, sizeof(text), "%s x%s", row->kind->layer, count(row->kind->layers, layers));
    else
        snprintf(text, sizeof(text), "%s", row->kind->layer);
    ridge_table_text(table, row->begins_layer || repeat ? text : "");
    if (row->per_layer > 1)
        snprintf(text, sizeof(text), "%s x%s", row->kind->work.name, count(row->per_layer, layers));
    else
        snprintf(text, sizeof(text), "%s", row->kind->work.name);
    ridge_table_text(table, text);
    ridge_table_number(table, times * row->bytes);
    ridge_table_number(table, times * row->kind->work.flop_count);
    ridge_table_text(table, bound_by_text(&row->bound, &row->kind->work));
    ridge_table_number(table, times * row->bound.time_s * 1e9);
    ridge_table_number(table, row->share_frac);
    if (row->saves_s > 0)
        ridge_table_number(table, times * row->saves_s * 1e9);
    else
        ridge_table_text(table, isnan(row->saves_s) ? NULL : "-");
}

static void add_sum(ridge_table *table, const struct model_answer *answer)
{
    ridge_table_text(table, "all");
    ridge_table_text(table, "");
    ridge_table_number(table, answer->bytes);
    ridge_table_number(table, answer->flop_count);
    ridge_table_text(table, "");
    ridge_table_number(table, answer->time_s * 1e9);
    ridge_table_number(table, isnan(answer->time_s) ? (double)NAN : 1);
    ridge_table_number(table, answer->saves_s * 1e9);
}

static void add_csv_row(ridge_table *table, const struct model_row *row)
{
    const ridge_model_work *const kind = row->kind;

    ridge_table_text(table, kind->layer);
    ridge_table_count(table, (uint64_t)kind->layers);
    ridge_table_text(table, kind->work.name);
    ridge_table_count(table, (uint64_t)kind->launches);
    ridge_table_number(table, kind->work.read_bytes);
    ridge_table_number(table, kind->work.written_bytes);
    ridge_table_number(table, kind->work.weight_bytes);
    ridge_table_number(table, kind->work.cache_bytes);
    ridge_table_number(table, kind->between_bytes);
    ridge_table_number(table, kind->work.flop_count);
    ridge_table_text(table, bound_by_text(&row->bound, &row->kind->work));
    ridge_table_number(table, row->bound.time_s);
    ridge_table_number(table, row->saves_s);
    ridge_table_number(table, row->share_frac);
}

void bound_model_print_table(const struct model_answer *answer, ridge_format format,
                             ridge_output *output)
{
    const bool is_csv = format == RIDGE_FORMAT_CSV;
    ridge_table *const table =
        is_csv ? ridge_table_create(csv_columns, 14) : ridge_table_create(text_columns, 8);
    size_t i;

    for (i = 0; i < answer->row_count; i++) {
        if (is_csv)
            add_csv_row(table, &answer->rows[i]);
        else
            add_text_row(table, &answer->rows[i], format == RIDGE_FORMAT_MARKDOWN);
    }
    if (!is_csv)
        add_sum(table, answer);
    ridge_table_write(table, format, output, NULL, NULL);
    ridge_table_free(table);
}

void bound_model_print_text(const struct model_answer *answer, ridge_output *output)
{
    print_model(answer, output);
    print_roofs(answer, output);
    print_time(answer, output);
    print_memory(answer, output);
    print_parallel(answer, output);
    print_warnings(answer, output);
    ridge_output_text(output, "\n");
    bound_model_print_table(answer, RIDGE_FORMAT_TEXT, output);
}

/* -- JSON -------------------------------------------------------------------------------------- */

static void write_step(ridge_json *json, const struct model_answer *answer)
{
    const ridge_model_step *const step = &answer->step;

    ridge_json_begin_object(json, "step");
    ridge_json_integer(json, "tokens", step->tokens);
    ridge_json_integer(json, "sequences", step->sequences);
    ridge_json_integer(json, "context", step->context);
    ridge_json_integer(json, "logits", step->logits > 0 ? step->logits : step->sequences);
    ridge_json_bool(json, "fuses_add", step->fuses_add);
    ridge_json_integer(json, "tensor_parallel", step->tensor_parallel);
    ridge_json_text(json, "element", ridge_element_name(step->element));
    ridge_json_text(json, "weights", ridge_element_name(step->weights));
    ridge_json_text(json, "cache", ridge_element_name(step->cache));
    ridge_json_text(json, "operands", ridge_element_name(step->operands));
    ridge_json_end_object(json);
}

static void write_facts(ridge_json *json, const ridge_model_facts *facts)
{
    ridge_json_begin_object(json, "facts");
    ridge_json_text(json, "architecture", facts->architecture);
    ridge_json_text(json, "quantization", facts->quantization);
    ridge_json_bool(json, "is_quantization_known", facts->is_quantization_known);
    ridge_json_integer(json, "layers", facts->layers);
    ridge_json_integer(json, "experts", facts->experts);
    ridge_json_number(json, "touched_experts", facts->touched_experts);
    ridge_json_number(json, "parameter_count", facts->parameter_count);
    ridge_json_number(json, "active_parameter_count", facts->active_parameter_count);
    ridge_json_number(json, "weight_bytes", facts->weight_bytes);
    ridge_json_number(json, "cache_bytes_per_token", facts->cache_bytes_per_token);
    ridge_json_number(json, "state_bytes_per_sequence", facts->state_bytes_per_sequence);
    ridge_json_number(json, "cache_bytes", facts->cache_bytes);
    ridge_json_integer(json, "kv_replicas", facts->kv_replicas);
    ridge_json_integer(json, "all_reduces", facts->all_reduces);
    ridge_json_number(json, "all_reduce_bytes", facts->all_reduce_bytes);
    ridge_json_number(json, "all_reduce_bytes_gpu", facts->all_reduce_bytes_gpu);
    ridge_json_end_object(json);
}

static void write_peak(ridge_json *json, const ridge_roofs *roofs, ridge_peak peak)
{
    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "peak", ridge_peak_name(peak));
    ridge_json_number(json, "flop_per_s", roofs->flop_per_s[peak]);
    ridge_json_end_object(json);
}

static void write_roofs(ridge_json *json, const struct model_answer *answer)
{
    const ridge_peak peak = ridge_peak_of_element(answer->step.element);
    const ridge_peak product = ridge_peak_of_element(answer->step.operands);

    ridge_json_begin_object(json, "roofs");
    ridge_json_text(json, "name", answer->roofs.name[0] != '\0' ? answer->roofs.name : NULL);
    ridge_json_number(json, "dram_bytes", answer->dram_bytes);
    ridge_json_number(json, "dram_bytes_per_s", answer->roofs.dram_bytes_per_s);
    ridge_json_begin_array(json, "peaks");
    write_peak(json, &answer->roofs, peak);
    if (product != peak)
        write_peak(json, &answer->roofs, product);
    if (peak != RIDGE_PEAK_FP32)
        write_peak(json, &answer->roofs, RIDGE_PEAK_FP32);
    ridge_json_end_array(json);
    ridge_json_number(json, "launch_s", answer->roofs.launch_s);
    ridge_json_bool(json, "is_measured", answer->roofs.is_measured);
    ridge_json_end_object(json);
}

static void write_row(ridge_json *json, const struct model_row *row)
{
    const ridge_work *const work = &row->kind->work;

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "name", work->name);
    ridge_json_text(json, "layer", row->kind->layer);
    ridge_json_integer(json, "layers", row->kind->layers);
    ridge_json_integer(json, "launches", row->kind->launches);
    ridge_json_number(json, "read_bytes", work->read_bytes);
    ridge_json_number(json, "written_bytes", work->written_bytes);
    ridge_json_number(json, "weight_bytes", work->weight_bytes);
    ridge_json_number(json, "cache_bytes", work->cache_bytes);
    ridge_json_number(json, "between_bytes", row->kind->between_bytes);
    ridge_json_number(json, "flop_count", work->flop_count);
    ridge_json_text(json, "peak", ridge_peak_name(work->peak));
    ridge_json_text(json, "by", bound_by_word(&row->bound));
    ridge_json_number(json, "memory_s", row->bound.memory_s);
    ridge_json_number(json, "compute_s", row->bound.compute_s);
    ridge_json_number(json, "time_s", row->bound.time_s);
    ridge_json_number(json, "saves_s", row->saves_s);
    ridge_json_number(json, "total_s", row->total_s);
    ridge_json_number(json, "share_frac", row->share_frac);
    ridge_json_end_object(json);
}

void bound_model_print_json(const struct model_answer *answer, ridge_output *output)
{
    ridge_json *const json = ridge_json_create(output);
    size_t i;

    ridge_json_begin_object(json, NULL);
    ridge_json_text(json, "schema", "ridge-bound-model/1");
    ridge_json_text(json, "file", answer->path);
    write_step(json, answer);
    write_facts(json, &answer->facts);
    write_roofs(json, answer);
    ridge_json_number(json, "time_s", answer->time_s);
    ridge_json_number(json, "tokens_per_s", answer->tokens_per_s);
    ridge_json_number(json, "compute_s", answer->compute_s);
    ridge_json_number(json, "saves_s", answer->saves_s);
    ridge_json_integer(json, "launches", answer->launches);
    ridge_json_integer(json, "least_parallel", answer->least_parallel);
    ridge_json_number(json, "bytes", answer->bytes);
    ridge_json_number(json, "flop_count", answer->flop_count);
    ridge_json_begin_array(json, "kernels");
    for (i = 0; i < answer->row_count; i++)
        write_row(json, &answer->rows[i]);
    ridge_json_end_array(json);
    ridge_json_end_object(json);
    ridge_json_free(json);
}
