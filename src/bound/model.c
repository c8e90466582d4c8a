/* SPDX-License-Identifier: Apache-2.0
 *
 * A model as an object: its life, its parameters and what a step adds up to. The kernels are in
 * model_layers.c, the config in model_config.c. Counts are doubles: exact up to 2^53, and what a
 * config may say cannot leave their range. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "bound/bound_internal.h"
#include "bound/model_internal.h"

enum { MOST_GPUS = 1 << 16 };
#define MOST_TOKENS ((int64_t)1 << 31)
#define MOST_CACHED ((int64_t)1 << 40)

/* -- life -------------------------------------------------------------------------------------- */

static ridge_status model_create(ridge_document *document, ridge_model **out, ridge_error *err)
{
    ridge_model *model = ridge_calloc(1, sizeof(*model));
    ridge_status status = RIDGE_ERR_OUT_OF_MEMORY;

    if (model == NULL)
        ridge_fail(err, status, "out of memory for a model");
    else
        status = model_config_read(document->root, &model->config, err);
    ridge_document_release(document);
    if (status != RIDGE_OK) {
        ridge_free(model);
        return status;
    }
    *out = model;
    return RIDGE_OK;
}

ridge_status ridge_model_open(const char *path, ridge_model **out, ridge_error *err)
{
    ridge_document document;
    ridge_status status;

    *out = NULL;
    status = ridge_document_open(path, &document, err);
    return status == RIDGE_OK ? model_create(&document, out, err) : status;
}

ridge_status ridge_model_read(const void *json, size_t size_bytes, ridge_model **out,
                              ridge_error *err)
{
    ridge_document document;
    ridge_status status;

    *out = NULL;
    status = ridge_document_parse(json, size_bytes, &document, err);
    return status == RIDGE_OK ? model_create(&document, out, err) : status;
}

void ridge_model_free(ridge_model *model)
{
    ridge_free(model);
}

void ridge_model_step_init(const ridge_model *model, ridge_model_step *out)
{
    const model_config *const config = &model->config;
    const bool is_multiplied =
        config->weights == RIDGE_ELEMENT_FP8 || config->weights == RIDGE_ELEMENT_INT8;

    *out = (ridge_model_step){
        .tokens = 1,
        .sequences = 1,
        .tensor_parallel = 1,
        .element = config->element,
        .weights = config->weights,
        .cache = config->element,
        .operands = is_multiplied ? config->weights : config->element,
    };
}

/* -- parameters -------------------------------------------------------------------------------- */

int64_t model_local_kv_heads(const model_config *config, int64_t tensor_parallel)
{
    return config->kv_heads > tensor_parallel ? config->kv_heads / tensor_parallel : 1;
}

double model_weight_bytes(ridge_element element)
{
    /* A scale of 16 bit for 128 elements (AWQ, GPTQ), of 8 bit for 16 (NVFP4). Those of fp8 and
     * int8, for a channel or a block of 128 x 128, are nothing beside the elements. */
    const double scales = element == RIDGE_ELEMENT_INT4  ? 2.0 / 128
                          : element == RIDGE_ELEMENT_FP4 ? 1.0 / 16
                                                         : 0.0;

    return ridge_element_bytes(element) + scales;
}

static void add(model_parameters *sum, int64_t layers, double matrices, double others)
{
    sum->matrices += (double)layers * matrices;
    sum->others += (double)layers * others;
}

static void add_attention(const model_config *config, int64_t gpus, model_parameters *sum)
{
    const int64_t layers = config->attention_layers[MODEL_ATTENTION] +
                           config->attention_layers[MODEL_ATTENTION_WINDOW];
    const double hidden = (double)config->hidden;
    const double dim = (double)config->head_dim;
    const double q = model_share(config->heads, gpus) * dim;
    const double kv = (double)model_local_kv_heads(config, gpus) * dim;
    double others = 0;

    others += config->has_qkv_bias ? q + 2 * kv : 0;
    others += config->has_output_bias ? hidden : 0;
    others += config->has_qk_norm ? 2 * dim : 0;
    add(sum, layers, hidden * (q + 2 * kv) + q * hidden, others);
}

/* The matrices that make the latents are on every GPU, those behind them are split by heads. */
static void add_mla(const model_config *config, int64_t gpus, model_parameters *sum)
{
    const double hidden = (double)config->hidden;
    const double heads = model_share(config->heads, gpus);
    const double q_rank = (double)config->q_rank;
    const double kv_rank = (double)config->kv_rank;
    const double q_dim = (double)(config->nope_dim + config->rope_dim);
    const double value_dim = (double)config->value_dim;
    double matrices = hidden * (kv_rank + (double)config->rope_dim);

    matrices += q_rank > 0 ? q_rank * (hidden + heads * q_dim) : hidden * heads * q_dim;
    matrices += kv_rank * heads * ((double)config->nope_dim + value_dim);
    matrices += heads * value_dim * hidden;
    add(sum, config->attention_layers[MODEL_MLA], matrices, q_rank + kv_rank);
}

/* q, k, v; gate and output gate through a bottleneck as wide as a head; beta; output. */
static void add_kda(const model_config *config, int64_t gpus, model_parameters *sum)
{
    const double hidden = (double)config->hidden;
    const double heads = model_share(config->kda_heads, gpus);
    const double dim = (double)config->kda_dim;
    const double width = heads * dim;
    const double matrices =
        3 * hidden * width + 2 * dim * (hidden + width) + hidden * heads + width * hidden;
    const double others = 3 * width * (double)config->conv_taps + heads + width + dim;

    add(sum, config->attention_layers[MODEL_KDA], matrices, others);
}

static void add_mlp(const model_config *config, int64_t gpus, int64_t experts,
                    model_parameters *sum)
{
    const double hidden = (double)config->hidden;
    const double width = model_share(config->intermediate, gpus);
    const double expert_width = model_share(config->expert_intermediate, gpus);
    const double shared_width = model_share(config->shared_intermediate, gpus);
    const double all_experts = (double)config->experts;

    add(sum, config->mlp_layers[MODEL_DENSE], 3 * hidden * width,
        config->has_mlp_bias ? 2 * width + hidden : 0);
    add(sum, config->mlp_layers[MODEL_MOE],
        3 * hidden * ((double)experts * expert_width + shared_width),
        hidden * all_experts + (config->has_router_bias ? all_experts : 0) +
            (config->has_shared_gate ? hidden : 0));
}

/* Of one GPU of tensor_parallel; experts is how many of each MoE layer count. */
static model_parameters parameters_of(const model_config *config, int64_t tensor_parallel,
                                      int64_t experts)
{
    const double hidden = (double)config->hidden;
    const double vocab = ceil((double)config->vocab / (double)tensor_parallel);
    model_parameters sum = {0, 0};

    add_attention(config, tensor_parallel, &sum);
    add_mla(config, tensor_parallel, &sum);
    add_kda(config, tensor_parallel, &sum);
    add_mlp(config, tensor_parallel, experts, &sum);
    add(&sum, config->layers, 0, config->norms * hidden);
    add(&sum, 1, 0, hidden + vocab * hidden * (config->is_tied ? 1 : 2));
    return sum;
}

/* -- a step ------------------------------------------------------------------------------------ */

static ridge_status check_range(const char *name, int64_t value, int64_t lowest, int64_t highest,
                                ridge_error *err)
{
    if (value >= lowest && value <= highest)
        return RIDGE_OK;
    return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "%s is %lld, expected %lld to %lld", name,
                      (long long)value, (long long)lowest, (long long)highest);
}

static ridge_status check_split(const char *name, int64_t value, int64_t gpus, ridge_error *err)
{
    if (value % gpus == 0)
        return RIDGE_OK;
    return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                      "%s is %lld, which %lld GPUs cannot share evenly", name, (long long)value,
                      (long long)gpus);
}

static ridge_status check_tensor_parallel(const model_config *config, int64_t gpus,
                                          ridge_error *err)
{
    const struct {
        const char *name;
        int64_t value; /* 0: the model has none */
    } shared[] = {
        {"num_attention_heads", config->heads},
        {"linear_attn_config's num_heads", config->kda_heads},
        {"intermediate_size", config->mlp_layers[MODEL_DENSE] > 0 ? config->intermediate : 0},
        {"the experts' intermediate size", config->expert_intermediate},
        {"the shared experts' intermediate size", config->shared_intermediate},
    };
    ridge_status status = RIDGE_OK;
    size_t i;

    for (i = 0; i < sizeof(shared) / sizeof(shared[0]) && status == RIDGE_OK; i++)
        status = check_split(shared[i].name, shared[i].value, gpus, err);
    if (status == RIDGE_OK && config->kv_heads > gpus)
        status = check_split("num_key_value_heads", config->kv_heads, gpus, err);
    else if (status == RIDGE_OK && config->kv_heads > 0 && gpus % config->kv_heads != 0)
        status = ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                            "num_key_value_heads is %lld, of which %lld GPUs cannot hold equally "
                            "many copies",
                            (long long)config->kv_heads, (long long)gpus);
    return status;
}

static ridge_status check_step(const model_config *config, const ridge_model_step *step,
                               ridge_error *err)
{
    ridge_status status = check_range("tokens", step->tokens, 1, MOST_TOKENS, err);

    if (status == RIDGE_OK)
        status = check_range("sequences", step->sequences, 1, step->tokens, err);
    if (status == RIDGE_OK)
        status = check_range("context", step->context, 0, MOST_TOKENS, err);
    if (status == RIDGE_OK)
        status = check_range("logits", step->logits, 0, step->tokens, err);
    if (status == RIDGE_OK)
        status = check_range("tensor_parallel", step->tensor_parallel, 1, MOST_GPUS, err);
    if (status == RIDGE_OK && step->tokens % step->sequences != 0)
        status = ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                            "%lld tokens do not divide evenly among %lld sequences",
                            (long long)step->tokens, (long long)step->sequences);
    if (status == RIDGE_OK)
        status = check_range("tokens in the cache", step->tokens + step->context * step->sequences,
                             1, MOST_CACHED, err);
    if (status == RIDGE_OK)
        status = check_tensor_parallel(config, step->tensor_parallel, err);
    return status;
}

static double cache_elements_per_token(const model_config *config, int64_t gpus, int64_t layers)
{
    return (double)layers * 2.0 * (double)model_local_kv_heads(config, gpus) *
           (double)config->head_dim;
}

static void fill_cache(const model_config *config, const ridge_model_step *step,
                       ridge_model_facts *facts)
{
    const int64_t gpus = step->tensor_parallel;
    const double bytes = ridge_element_bytes(step->cache);
    const double length = (double)step->context + model_share(step->tokens, step->sequences);
    const double sequences = (double)step->sequences;
    const double whole =
        cache_elements_per_token(config, gpus, config->attention_layers[MODEL_ATTENTION]);
    const double windowed =
        cache_elements_per_token(config, gpus, config->attention_layers[MODEL_ATTENTION_WINDOW]);
    /* The latent of a token serves all heads, so every GPU holds it. */
    const double latent =
        (double)config->attention_layers[MODEL_MLA] * (double)(config->kv_rank + config->rope_dim);
    const double width = model_share(config->kda_heads, gpus) * (double)config->kda_dim;
    const double state =
        width * (double)config->kda_dim * 4.0 +
        3.0 * width * (double)(config->conv_taps - 1) * ridge_element_bytes(step->element);

    facts->cache_bytes_per_token = bytes * (whole + windowed + latent);
    facts->state_bytes_per_sequence = config->attention_layers[MODEL_KDA] > 0
                                          ? (double)config->attention_layers[MODEL_KDA] * state
                                          : 0;
    facts->cache_bytes =
        sequences *
        (facts->state_bytes_per_sequence +
         bytes * (length * (whole + latent) + fmin(length, (double)config->window) * windowed));
}

static void fill_facts(const model_config *config, const ridge_model_step *step,
                       ridge_model_facts *facts)
{
    const int64_t gpus = step->tensor_parallel;
    const model_parameters all = parameters_of(config, 1, config->experts);
    const model_parameters active = parameters_of(config, 1, config->top_k);
    const model_parameters local = parameters_of(config, gpus, config->experts);

    *facts = (ridge_model_facts){
        .architecture = config->architecture,
        .quantization = config->quantization[0] != '\0' ? config->quantization : NULL,
        .is_quantization_known = config->is_quantization_known,
        .parameter_count = all.matrices + all.others,
        .active_parameter_count = active.matrices + active.others,
        .weight_bytes = local.matrices * model_weight_bytes(step->weights) +
                        local.others * ridge_element_bytes(step->element),
        .layers = config->layers,
        .experts = config->experts,
        .kv_replicas = 1,
    };
    if (config->experts > 0)
        facts->touched_experts = bound_touched_experts(
            (double)step->tokens, (double)config->experts, (double)config->top_k);
    if (config->attention_layers[MODEL_MLA] > 0)
        facts->kv_replicas = gpus; /* the latent serves all heads */
    else if (gpus > config->kv_heads)
        facts->kv_replicas = gpus / config->kv_heads;
    fill_cache(config, step, facts);
    if (gpus > 1) {
        /* Behind attention and MLP of every layer, and the embedding, which is split by words. */
        facts->all_reduces = 2 * config->layers + 1;
        facts->all_reduce_bytes =
            (double)step->tokens * (double)config->hidden * ridge_element_bytes(step->element);
        facts->all_reduce_bytes_gpu =
            facts->all_reduce_bytes * 2.0 * (double)(gpus - 1) / (double)gpus;
    }
}

ridge_status ridge_model_works(ridge_model *model, const ridge_model_step *step,
                               const ridge_model_work **works, size_t *work_count,
                               ridge_model_facts *facts, ridge_error *err)
{
    ridge_status status;

    *works = NULL;
    *work_count = 0;
    memset(facts, 0, sizeof(*facts));
    status = check_step(&model->config, step, err);
    if (status == RIDGE_OK)
        status = model_layers_works(model, step, err);
    if (status != RIDGE_OK)
        return status;
    fill_facts(&model->config, step, facts);
    *works = model->works;
    *work_count = model->work_count;
    return RIDGE_OK;
}
