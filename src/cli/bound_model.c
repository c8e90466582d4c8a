/* SPDX-License-Identifier: Apache-2.0
 *
 * ridge bound model: the kernels of a model from its config.json, each with the least time it can
 * take. */
#include "bound_model.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "bound_cli.h"

static const char usage[] = "ridge bound model [options] CONFIG.JSON";

/* As typed. */
struct model_request {
    struct gpu_choice gpu;
    struct bound_rates rates;
    const char *measured;
    bool decode, all_logits, fuse_add;
    size_t tokens, batch, sequences, context, tensor_parallel; /* OPTION_UNSET: not given */
    const char *element, *weights, *cache;
};

/* -- the step ---------------------------------------------------------------------------------- */

/* What tensors of a model are stored in. */
static bool is_stored(ridge_element element)
{
    return element != RIDGE_ELEMENT_F64 && element != RIDGE_ELEMENT_TF32 &&
           element != RIDGE_ELEMENT_INT32;
}

static int take_element(const char *name, const char *option, ridge_element *out)
{
    if (name == NULL || (ridge_element_find(name, out) && is_stored(*out)))
        return CLI_DONE;
    return cli_usage_error("--%s needs a type (bf16, f16, f32, fp8, int8, int4, fp4), not '%s'",
                           option, name);
}

/* Activations are computed with; integers of 4 bits are only stored. */
static int check_elements(const ridge_model_step *step)
{
    const ridge_element e = step->element;

    if (e != RIDGE_ELEMENT_F32 && e != RIDGE_ELEMENT_F16 && e != RIDGE_ELEMENT_BF16)
        return cli_usage_error("--dtype needs bf16, f16 or f32, not '%s'", ridge_element_name(e));
    return CLI_DONE;
}

static int take_elements(const struct model_request *request, ridge_model_step *step)
{
    const ridge_element published = step->element;
    int status = take_element(request->element, "dtype", &step->element);

    /* What is not quantised follows --dtype. */
    if (step->weights == published)
        step->weights = step->element;
    step->cache = step->element;
    if (status == CLI_DONE)
        status = take_element(request->weights, "weights", &step->weights);
    if (status == CLI_DONE)
        status = take_element(request->cache, "kv", &step->cache);
    return status == CLI_DONE ? check_elements(step) : status;
}

static int64_t given(size_t value, int64_t otherwise)
{
    if (value == OPTION_UNSET)
        return otherwise;
    return value > (size_t)INT64_MAX ? INT64_MAX : (int64_t)value;
}

static int check_sizes(const struct model_request *request)
{
    const struct {
        const char *option;
        size_t value;
    } sizes[] = {
        {"tokens", request->tokens},
        {"batch", request->batch},
        {"sequences", request->sequences},
        {"tp", request->tensor_parallel},
    };
    size_t i;

    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        if (sizes[i].value == 0)
            return cli_usage_error("--%s 0, expected 1 or more", sizes[i].option);
    if (request->batch != OPTION_UNSET && request->sequences != OPTION_UNSET)
        return cli_usage_error("--batch and --sequences are the same");
    if (request->decode && request->tokens != OPTION_UNSET)
        return cli_usage_error("--decode is one token a sequence: --batch says how many, not "
                               "--tokens");
    if (request->decode && request->context == OPTION_UNSET)
        return cli_usage_error("--decode needs --context N, the tokens that are in the cache");
    return CLI_DONE;
}

static int take_sizes(const struct model_request *request, ridge_model_step *step)
{
    const int64_t gpus = given(request->tensor_parallel, 1);
    const int status = check_sizes(request);

    if (status != CLI_DONE)
        return status;
    step->sequences = given(request->batch, given(request->sequences, 1));
    step->tokens = request->decode ? step->sequences : given(request->tokens, 8192);
    step->context = given(request->context, 0);
    step->logits = request->all_logits ? step->tokens : 0;
    step->fuses_add = request->fuse_add;
    step->tensor_parallel = gpus > INT_MAX ? INT_MAX : (int)gpus;
    return CLI_DONE;
}

/* -- the roofs --------------------------------------------------------------------------------- */

/* What was measured stands before what is known of the chip. */
static int take_measured(const char *path, struct model_answer *answer)
{
    const ridge_chip *chip;
    ridge_roofs roofs;
    ridge_error err;
    size_t i;

    if (ridge_roofs_read(path, &roofs, &err) != RIDGE_OK)
        return cli_fail(path, &err);
    chip = ridge_chip_find(roofs.name);
    if (answer->roofs.name[0] != '\0' && !bound_is_measured_on(&roofs, answer->roofs.name)) {
        cli_message(path, "was measured on %s, which is not the chip of --gpu", roofs.name);
        return CLI_USAGE;
    }
    if (answer->roofs.name[0] == '\0' && chip != NULL) {
        ridge_roofs_of_chip(chip, &answer->roofs);
        answer->dram_bytes = chip->dram_bytes;
    }
    if (roofs.name[0] != '\0' && answer->roofs.name[0] == '\0')
        memcpy(answer->roofs.name, roofs.name, sizeof(roofs.name));
    answer->is_nominal_bandwidth = isnan(roofs.dram_bytes_per_s);
    if (!answer->is_nominal_bandwidth)
        answer->roofs.dram_bytes_per_s = roofs.dram_bytes_per_s;
    for (i = 0; i < RIDGE_PEAK_COUNT; i++) {
        answer->is_nominal_peak[i] = isnan(roofs.flop_per_s[i]);
        if (!answer->is_nominal_peak[i])
            answer->roofs.flop_per_s[i] = roofs.flop_per_s[i];
    }
    answer->roofs.launch_s = roofs.launch_s;
    answer->roofs.is_measured = true;
    return CLI_DONE;
}

/* What is given stands before both. */
static int take_rates(const struct bound_rates *rates, ridge_element element,
                      struct model_answer *answer)
{
    const ridge_peak peak = ridge_peak_of_element(element);
    double bytes_per_s, flop_per_s;
    const int status = bound_read_rates(rates, &bytes_per_s, &flop_per_s);

    if (!isnan(bytes_per_s)) {
        answer->roofs.dram_bytes_per_s = bytes_per_s;
        answer->is_nominal_bandwidth = false;
    }
    if (!isnan(flop_per_s)) {
        answer->roofs.flop_per_s[peak] = flop_per_s;
        answer->is_nominal_peak[peak] = false;
    }
    return status;
}

static int take_roofs(struct model_request *request, ridge_element element,
                      struct model_answer *answer)
{
    int status = CLI_DONE;

    ridge_roofs_init(&answer->roofs);
    answer->dram_bytes = NAN;
    if (cli_has_chip(&request->gpu) ||
        (request->rates.bandwidth == NULL && request->measured == NULL)) {
        status = cli_find_chip(&request->gpu);
        if (status != CLI_DONE)
            return status;
        ridge_roofs_of_chip(request->gpu.chip, &answer->roofs);
        answer->dram_bytes = request->gpu.chip->dram_bytes;
    }
    if (request->measured != NULL)
        status = take_measured(request->measured, answer);
    return status == CLI_DONE ? take_rates(&request->rates, element, answer) : status;
}

/* Quantised weights are multiplied in their own type where the chip can; else widened first. */
static ridge_element operands_of(const ridge_model_step *step, const ridge_roofs *roofs)
{
    const bool is_multiplied = step->weights == RIDGE_ELEMENT_FP8 ||
                               step->weights == RIDGE_ELEMENT_INT8 ||
                               step->weights == RIDGE_ELEMENT_FP4;
    const double peak = roofs->flop_per_s[ridge_peak_of_element(step->weights)];

    return is_multiplied && !isnan(peak) ? step->weights : step->element;
}

/* -- the answer -------------------------------------------------------------------------------- */

/* Whether a kernel computes on the unit of the products. What another unit does costs no time once it
 * is fused with a product. */
static bool is_on_product_unit(const ridge_model_step *step, ridge_peak peak)
{
    return peak == ridge_peak_of_element(step->operands) ||
           peak == ridge_peak_of_element(step->element);
}

static void fill_row(const ridge_model_work *kind, const struct model_answer *answer,
                     struct model_row *row)
{
    const ridge_roofs *const roofs = &answer->roofs;
    ridge_work alone = kind->work;
    ridge_roofs unlaunched = *roofs; /* fused, it is no launch of its own */
    ridge_bound without;

    row->kind = kind;
    row->bytes = kind->work.read_bytes + kind->work.written_bytes;
    row->per_layer = kind->launches / kind->layers;
    ridge_bound_of(&kind->work, roofs, &row->bound);
    row->total_s = (double)kind->launches * row->bound.time_s;
    alone.read_bytes = fmax(0, row->bytes - kind->between_bytes);
    alone.written_bytes = 0;
    if (!is_on_product_unit(&answer->step, alone.peak))
        alone.flop_count = 0;
    unlaunched.launch_s = NAN;
    ridge_bound_of(&alone, &unlaunched, &without);
    /* What is left may be unknown; at most all of it is saved. */
    row->saves_s = row->bound.time_s - fmax(0, without.time_s);
}

static void fill_answer(const ridge_model_work *works, size_t count, struct model_answer *answer)
{
    size_t i;

    answer->row_count = count < MODEL_ROWS ? count : MODEL_ROWS;
    for (i = 0; i < answer->row_count; i++) {
        struct model_row *const row = &answer->rows[i];
        const double launches = (double)works[i].launches;

        fill_row(&works[i], answer, row);
        row->begins_layer = i == 0 || strcmp(works[i].layer, works[i - 1].layer) != 0;
        answer->time_s += row->total_s;
        answer->saves_s += launches * row->saves_s;
        answer->launches += works[i].launches;
        answer->bytes += launches * row->bytes;
        answer->flop_count += launches * works[i].work.flop_count;
        if (row->bound.by == RIDGE_BOUND_BY_COMPUTE)
            answer->compute_s += row->total_s;
        if (row->bound.by == RIDGE_BOUND_BY_LAUNCH)
            answer->launch_s += row->total_s;
    }
    for (i = 0; i < answer->row_count; i++)
        answer->rows[i].share_frac = answer->rows[i].total_s / answer->time_s;
    answer->tokens_per_s = (double)answer->step.tokens / answer->time_s;
}

/* The least power of two of GPUs that hold weights and cache; 0: none up to 1024. */
static int least_parallel(ridge_model *model, const struct model_answer *answer)
{
    ridge_model_step step = answer->step;
    const ridge_model_work *works;
    ridge_model_facts facts;
    size_t count;

    for (step.tensor_parallel = 1; step.tensor_parallel <= 1024; step.tensor_parallel *= 2)
        if (ridge_model_works(model, &step, &works, &count, &facts, NULL) == RIDGE_OK &&
            facts.weight_bytes + facts.cache_bytes <= answer->dram_bytes)
            return step.tensor_parallel;
    return 0;
}

static int print_answer(const struct model_answer *answer, const struct cli_output *out)
{
    ridge_output *const output = cli_open(out);

    if (out->format == RIDGE_FORMAT_JSON)
        bound_model_print_json(answer, output);
    else if (out->format == RIDGE_FORMAT_TEXT)
        bound_model_print_text(answer, output);
    else
        bound_model_print_table(answer, out->format, output);
    return cli_close(output, CLI_DONE);
}

static int answer_request(struct model_request *request, const ridge_model *config,
                          struct model_answer *answer)
{
    int status;

    ridge_model_step_init(config, &answer->step);
    status = take_elements(request, &answer->step);
    if (status == CLI_DONE)
        status = take_sizes(request, &answer->step);
    if (status == CLI_DONE)
        status = take_roofs(request, answer->step.element, answer);
    answer->step.operands = operands_of(&answer->step, &answer->roofs);
    return status;
}

static int run(struct model_request *request, const char *path, const struct cli_output *out)
{
    struct model_answer answer = {.path = path, .is_decode = request->decode};
    const ridge_model_work *works;
    ridge_model *model;
    ridge_error err;
    size_t count;
    int status;

    if (ridge_model_open(path, &model, &err) != RIDGE_OK)
        return cli_fail(path, &err);
    status = answer_request(request, model, &answer);
    if (status == CLI_DONE)
        answer.least_parallel = least_parallel(model, &answer);
    if (status == CLI_DONE &&
        ridge_model_works(model, &answer.step, &works, &count, &answer.facts, &err) != RIDGE_OK)
        status = cli_fail(path, &err);
    if (status == CLI_DONE) {
        fill_answer(works, count, &answer);
        status = print_answer(&answer, out);
    }
    cli_release_chip(&request->gpu);
    ridge_model_free(model);
    return status;
}

int bound_model(int argc, char **argv)
{
    static char name[] = "bound model";
    struct cli_output out = {0};
    struct model_request request = {
        .tokens = OPTION_UNSET,
        .batch = OPTION_UNSET,
        .sequences = OPTION_UNSET,
        .context = OPTION_UNSET,
        .tensor_parallel = OPTION_UNSET,
    };
    const struct option options[] = {
        OPT_COUNT('t', "tokens", &request.tokens, "N",
                  "new tokens of all sequences together (8192)"),
        OPT_FLAG('d', "decode", &request.decode, "one new token a sequence"),
        OPT_COUNT('b', "batch", &request.batch, "N", "sequences (1)"),
        OPT_COUNT(0, "sequences", &request.sequences, "N", "the same: sequences (1)"),
        OPT_COUNT('c', "context", &request.context, "N",
                  "tokens of each sequence already in the cache (0)"),
        OPT_FLAG(0, "all-logits", &request.all_logits,
                 "logits of every token, as in training; else of the last of each sequence"),
        OPT_FLAG(0, "fuse-add", &request.fuse_add,
                 "residual add and norm in one kernel, as most servers have it"),
        OPT_COUNT(0, "tp", &request.tensor_parallel, "N",
                  "GPUs over which heads and widths are split"),
        OPT_STRING(0, "dtype", &request.element, "TYPE",
                   "of activations and what is not quantised: bf16, f16, f32"),
        OPT_STRING(0, "weights", &request.weights, "TYPE",
                   "of the layers' matrices: bf16, fp8, int8, int4, fp4"),
        OPT_STRING(0, "kv", &request.cache, "TYPE", "of the KV cache: bf16, fp8"),
        OPT_GPU(&request.gpu),
        OPT_RATES(&request.rates),
        OPT_STRING(0, "measured", &request.measured, "FILE",
                   "roofs measured on the machine instead of the chip's (JSON)"),
        OPT_TABLE(&out),
        OPT_COMMON(&out),
        OPT_END,
    };
    int status;

    argv[0] = name;
    if (!options_parse(&argc, argv, usage, options, &status))
        return status;
    if (argc != 2)
        return cli_usage_error("expected one CONFIG.JSON, found %d", argc - 1);
    return run(&request, argv[1], &out);
}
