/* SPDX-License-Identifier: Apache-2.0
 *
 * A model's kernels: which operations with which sizes. Bytes and operations come from the
 * operations themselves, in the type of the activations; here parameters and cache are counted
 * anew in their own types.
 *
 * A group is what layers of one kind have in common. Groups that every layer has come first, as
 * "layer", so that a model of equal layers is one list; a second pass adds those of some layers. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bound/model_internal.h"

enum { MOST_PARAMETERS = 10 };

/* A kernel by what it computes. */
struct kernel {
    const char *name;
    const char *operation;
    struct {
        const char *name; /* NULL ends the list */
        double value;
    } sizes[MOST_PARAMETERS];
    bool is_matrix;         /* its parameters are a matrix of the layers, in the type of those */
    bool keeps_cache;       /* the operation's own count of cache bytes holds */
    double cache_elements;  /* of its reads, how many are of the KV cache */
    double shared_elements; /* reads that the operation counts again for heads that share them */
    double endpoint_bytes;  /* input or output of the step */
    int launches;           /* in one layer; 0: 1 */
};

struct builder {
    ridge_model *model;
    const model_config *config;
    const ridge_model_step *step;
    bool is_first_pass;
    const char *layer;
    int64_t layers;
    int64_t gpus;
    double tokens;
    double sequences;
    double new_tokens; /* of a sequence */
    double keys;       /* of a sequence: context and new */
    ridge_status status;
    ridge_error *err;
};

/* -- one kernel -------------------------------------------------------------------------------- */

static ridge_status work_of(const struct builder *b, const struct kernel *kernel,
                            ridge_work works[RIDGE_OPERATION_WORKS], size_t *count)
{
    const ridge_operation *const operation = ridge_operation_find(kernel->operation);
    double values[RIDGE_OPERATION_PARAMETERS];
    size_t index;
    size_t i;

    assert(operation != NULL);
    for (i = 0; i < RIDGE_OPERATION_PARAMETERS; i++)
        values[i] = NAN;
    for (i = 0; i < MOST_PARAMETERS && kernel->sizes[i].name != NULL; i++) {
        const bool is_known = ridge_operation_parameter(operation, kernel->sizes[i].name, &index);

        assert(is_known);
        if (is_known)
            values[index] = kernel->sizes[i].value;
    }
    return ridge_operation_work(operation, values, b->step->element, works, count, b->err);
}

/* Counts parameters and cache in their own types. */
static void count_anew(const struct builder *b, const struct kernel *kernel, ridge_work *work)
{
    const double size = ridge_element_bytes(b->step->element);
    const double cache_size = ridge_element_bytes(b->step->cache);

    if (kernel->is_matrix) {
        const double bytes = work->weight_bytes / size * model_weight_bytes(b->step->weights);

        work->read_bytes += bytes - work->weight_bytes;
        work->weight_bytes = bytes;
        work->peak = ridge_peak_of_element(b->step->operands);
    }
    work->read_bytes -= kernel->shared_elements * size;
    if (!kernel->keeps_cache) {
        work->cache_bytes = kernel->cache_elements * cache_size;
        work->read_bytes += kernel->cache_elements * (cache_size - size);
    }
}

static void emit(struct builder *b, struct kernel kernel)
{
    const int64_t launches = kernel.launches > 0 ? kernel.launches : 1;
    ridge_work works[RIDGE_OPERATION_WORKS];
    size_t count;
    size_t i;

    if (b->status != RIDGE_OK)
        return;
    b->status = work_of(b, &kernel, works, &count);
    if (b->status != RIDGE_OK)
        return;
    for (i = 0; i < count; i++) {
        ridge_model_work *const row = &b->model->works[b->model->work_count++];
        ridge_work *const work = &row->work;

        assert(b->model->work_count <= sizeof(b->model->works) / sizeof(b->model->works[0]));
        count_anew(b, &kernel, &works[i]);
        *work = works[i];
        if (count > 1) /* "KDA F1", "KDA F2" */
            snprintf(work->name, sizeof(work->name), "%s %.16s", kernel.name, works[i].name);
        else
            snprintf(work->name, sizeof(work->name), "%s", kernel.name);
        row->layer = b->layer;
        row->layers = b->layers;
        row->launches = b->layers * launches;
        row->between_bytes = fmax(0, work->read_bytes + work->written_bytes - work->weight_bytes -
                                         work->cache_bytes - kernel.endpoint_bytes);
    }
}

static void emit_product(struct builder *b, const char *name, double rows, double columns,
                         double inner)
{
    emit(b, (struct kernel){.name = name,
                            .operation = "gemm",
                            .sizes = {{"m", rows}, {"n", columns}, {"k", inner}},
                            .is_matrix = true});
}

static void emit_norm(struct builder *b, const char *name, double rows, int64_t columns,
                      int launches)
{
    emit(b, (struct kernel){.name = name,
                            .operation = "rms_norm",
                            .sizes = {{"rows", rows}, {"columns", (double)columns}},
                            .launches = launches});
}

static void emit_cache_write(struct builder *b, double columns)
{
    emit(b, (struct kernel){.name = "KV cache write",
                            .operation = "kv_cache_write",
                            .sizes = {{"tokens", b->tokens},
                                      {"columns", columns},
                                      {"cache_bits", 8 * ridge_element_bytes(b->step->cache)}},
                            .keeps_cache = true});
}

/* Begins a group of so many layers; false when it does not belong to this pass. */
static bool begin(struct builder *b, const char *layer, int64_t layers)
{
    const bool is_every = layers == b->config->layers;

    b->layer = is_every ? "layer" : layer;
    b->layers = layers;
    return layers > 0 && is_every == b->is_first_pass;
}

/* -- attention --------------------------------------------------------------------------------- */

static void emit_attention(struct builder *b, int64_t layers, const char *layer, int64_t window)
{
    const model_config *const config = b->config;
    const double kv_heads = (double)model_local_kv_heads(config, b->gpus);
    const double reach = window > 0 ? b->new_tokens + (double)window - 1 : b->keys;
    const double cached = fmin(b->keys, reach) - b->new_tokens; /* keys from the cache */

    if (!begin(b, layer, layers))
        return;
    emit(b, (struct kernel){
                .name = "attention",
                .operation = "attention",
                .sizes = {{"batch", b->sequences},
                          {"queries", b->new_tokens},
                          {"keys", b->keys},
                          {"heads", model_share(config->heads, b->gpus)},
                          {"kv_heads", kv_heads},
                          {"head_dim", (double)config->head_dim},
                          {"window", (double)window},
                          {"lse", 0}},
                .cache_elements = b->sequences * cached * kv_heads * 2.0 * (double)config->head_dim,
            });
}

static void add_attention(struct builder *b)
{
    const model_config *const config = b->config;
    const int64_t whole = config->attention_layers[MODEL_ATTENTION];
    const int64_t windowed = config->attention_layers[MODEL_ATTENTION_WINDOW];
    const double hidden = (double)config->hidden;
    const double dim = (double)config->head_dim;
    const double heads = model_share(config->heads, b->gpus);
    const double kv_heads = (double)model_local_kv_heads(config, b->gpus);

    if (begin(b, "attention", whole + windowed)) {
        emit_product(b, "QKV projection", b->tokens, (heads + 2 * kv_heads) * dim, hidden);
        if (config->has_qk_norm)
            emit_norm(b, "QK norm", b->tokens * (heads + kv_heads), config->head_dim, 1);
        emit(b, (struct kernel){.name = "rotary embedding",
                                .operation = "rotary",
                                .sizes = {{"tokens", b->tokens},
                                          {"heads", heads},
                                          {"kv_heads", kv_heads},
                                          {"head_dim", dim}}});
        emit_cache_write(b, 2 * kv_heads * dim);
    }
    emit_attention(b, whole, "global", 0);
    emit_attention(b, windowed, "sliding", config->window);
    if (begin(b, "attention", whole + windowed))
        emit_product(b, "O projection", b->tokens, hidden, heads * dim);
}

/* -- multi-head latent attention --------------------------------------------------------------- */

/* Keys and values of every token are expanded to heads, or the matrices that would expand them are
 * absorbed by query and output and attention works on the latents. Absorbed, a pair of query and
 * key costs 2 r + p instead of n + p + v multiply-adds a head; expanding costs r (n + v) for each
 * key, absorbing the same for each query. The cheaper one is taken: expanded for a prefill,
 * absorbed for decode. */
static bool is_absorbed(const struct builder *b)
{
    const model_config *const config = b->config;
    const double rank = (double)config->kv_rank;
    const double expansion = rank * (double)(config->nope_dim + config->value_dim);
    const double expanded_pair = (double)(config->nope_dim + config->rope_dim + config->value_dim);
    const double absorbed_pair = 2 * rank + (double)config->rope_dim;
    const double pairs = b->new_tokens * (b->keys - (b->new_tokens - 1) / 2);

    return pairs * absorbed_pair + b->new_tokens * expansion <
           pairs * expanded_pair + b->keys * expansion;
}

static void emit_latent_attention(struct builder *b)
{
    const model_config *const config = b->config;
    const double heads = model_share(config->heads, b->gpus);
    const double rank = (double)config->kv_rank;
    const double cached = b->sequences * (b->keys - b->new_tokens);
    const double latent = rank + (double)config->rope_dim;

    emit(b, (struct kernel){.name = "absorb K into Q",
                            .operation = "gemm",
                            .sizes = {{"batch", heads},
                                      {"m", b->tokens},
                                      {"n", rank},
                                      {"k", (double)config->nope_dim}},
                            .is_matrix = true});
    emit(b, (struct kernel){.name = "latent attention",
                            .operation = "mla_attention",
                            .sizes = {{"batch", b->sequences},
                                      {"queries", b->new_tokens},
                                      {"keys", b->keys},
                                      {"heads", heads},
                                      {"kv_rank", rank},
                                      {"rope_dim", (double)config->rope_dim}},
                            .cache_elements = cached * latent});
    emit(b, (struct kernel){.name = "expand V",
                            .operation = "gemm",
                            .sizes = {{"batch", heads},
                                      {"m", b->tokens},
                                      {"n", (double)config->value_dim},
                                      {"k", rank}},
                            .is_matrix = true});
}

static void emit_expanded_attention(struct builder *b)
{
    const model_config *const config = b->config;
    const double heads = model_share(config->heads, b->gpus);
    const double rank = (double)config->kv_rank;
    const double rope = (double)config->rope_dim;
    const double keys = b->sequences * b->keys;
    const double cached = b->sequences * (b->keys - b->new_tokens);

    /* The latents of the context come from the cache, and so does the rotary part of its keys, which
     * all heads share. */
    emit(b, (struct kernel){.name = "KV up",
                            .operation = "gemm",
                            .sizes = {{"m", keys},
                                      {"n", heads * (double)(config->nope_dim + config->value_dim)},
                                      {"k", rank}},
                            .is_matrix = true,
                            .cache_elements = cached * rank});
    emit(b, (struct kernel){.name = "attention",
                            .operation = "attention",
                            .sizes = {{"batch", b->sequences},
                                      {"queries", b->new_tokens},
                                      {"keys", b->keys},
                                      {"heads", heads},
                                      {"head_dim", (double)config->nope_dim + rope},
                                      {"v_dim", (double)config->value_dim},
                                      {"lse", 0}},
                            .shared_elements = (heads - 1) * keys * rope,
                            .cache_elements = cached * rope});
}

static void add_mla(struct builder *b)
{
    const model_config *const config = b->config;
    const double hidden = (double)config->hidden;
    const double heads = model_share(config->heads, b->gpus);
    const double q_rank = (double)config->q_rank;
    const double latent = (double)(config->kv_rank + config->rope_dim);
    const double q_width = heads * (double)(config->nope_dim + config->rope_dim);

    if (!begin(b, "MLA", config->attention_layers[MODEL_MLA]))
        return;
    if (config->q_rank > 0) {
        emit_product(b, "Q, KV down", b->tokens, q_rank + latent, hidden);
        emit_norm(b, "Q latent norm", b->tokens, config->q_rank, 1);
        emit_norm(b, "KV latent norm", b->tokens, config->kv_rank, 1);
        emit_product(b, "Q up", b->tokens, q_width, q_rank);
    } else {
        emit_product(b, "Q projection", b->tokens, q_width, hidden);
        emit_product(b, "KV down", b->tokens, latent, hidden);
        emit_norm(b, "KV latent norm", b->tokens, config->kv_rank, 1);
    }
    if (config->has_mla_rotary)
        emit(b, (struct kernel){.name = "rotary embedding",
                                .operation = "rotary",
                                .sizes = {{"tokens", b->tokens},
                                          {"heads", heads},
                                          {"kv_heads", 1},
                                          {"head_dim", (double)config->rope_dim}}});
    emit_cache_write(b, latent);
    if (is_absorbed(b))
        emit_latent_attention(b);
    else
        emit_expanded_attention(b);
    emit_product(b, "O projection", b->tokens, hidden, heads * (double)config->value_dim);
}

/* -- Kimi Delta Attention ---------------------------------------------------------------------- */

static void add_kda(struct builder *b)
{
    const model_config *const config = b->config;
    const double hidden = (double)config->hidden;
    const double dim = (double)config->kda_dim;
    const double heads = model_share(config->kda_heads, b->gpus);
    const double width = heads * dim;

    if (!begin(b, "KDA", config->attention_layers[MODEL_KDA]))
        return;
    emit_product(b, "QKV projection", b->tokens, 3 * width, hidden);
    emit_product(b, "gates down, beta", b->tokens, 2 * dim + heads, hidden);
    emit(b, (struct kernel){.name = "gates up",
                            .operation = "gemm",
                            .sizes = {{"m", b->tokens}, {"n", width}, {"k", dim}},
                            .is_matrix = true,
                            .launches = 2});
    emit(b, (struct kernel){.name = "short conv",
                            .operation = "short_conv",
                            .sizes = {{"tokens", b->tokens},
                                      {"columns", width},
                                      {"taps", (double)config->conv_taps},
                                      {"sequences", b->sequences}},
                            .keeps_cache = true,
                            .launches = 3});
    if (b->new_tokens > 1)
        emit(b, (struct kernel){.name = "KDA",
                                .operation = "kda_forward",
                                .sizes = {{"tokens", b->new_tokens},
                                          {"heads", heads},
                                          {"sequences", b->sequences},
                                          {"head_dim", dim},
                                          {"states", 1},
                                          {"training", 0}},
                                .keeps_cache = true});
    else
        emit(b, (struct kernel){
                    .name = "KDA step",
                    .operation = "kda_decode",
                    .sizes = {{"sequences", b->sequences}, {"heads", heads}, {"head_dim", dim}},
                    .keeps_cache = true});
    emit(b, (struct kernel){.name = "gated norm",
                            .operation = "gated_rms_norm",
                            .sizes = {{"rows", b->tokens * heads}, {"columns", dim}}});
    emit_product(b, "O projection", b->tokens, hidden, width);
}

/* -- MLP and experts --------------------------------------------------------------------------- */

static void emit_gated(struct builder *b, const char *const names[3], double rows, double width)
{
    const double hidden = (double)b->config->hidden;

    emit_product(b, names[0], rows, 2 * width, hidden);
    emit(b, (struct kernel){
                .name = names[1],
                .operation = "silu_and_mul",
                .sizes = {{"rows", rows}, {"columns", width}, {"gelu", b->config->is_gelu}}});
    emit_product(b, names[2], rows, hidden, width);
}

static void emit_experts(struct builder *b)
{
    const model_config *const config = b->config;
    const double hidden = (double)config->hidden;
    const double width = model_share(config->expert_intermediate, b->gpus);
    const double experts = (double)config->experts;
    const double top_k = (double)config->top_k;

    emit(b, (struct kernel){.name = "experts gate/up",
                            .operation = "moe_gemm",
                            .sizes = {{"tokens", b->tokens},
                                      {"experts", experts},
                                      {"top_k", top_k},
                                      {"n", 2 * width},
                                      {"k", hidden}},
                            .is_matrix = true});
    emit(b, (struct kernel){.name = "experts SiLU-mul",
                            .operation = "silu_and_mul",
                            .sizes = {{"rows", b->tokens * top_k}, {"columns", width}}});
    emit(b, (struct kernel){.name = "experts down",
                            .operation = "moe_gemm",
                            .sizes = {{"tokens", b->tokens},
                                      {"experts", experts},
                                      {"top_k", top_k},
                                      {"n", hidden},
                                      {"k", width},
                                      {"gather", 0}},
                            .is_matrix = true});
}

static void add_moe(struct builder *b)
{
    static const char *const shared[3] = {"shared gate/up", "shared SiLU-mul", "shared down"};
    const model_config *const config = b->config;
    const double hidden = (double)config->hidden;
    const double experts = (double)config->experts;
    const double top_k = (double)config->top_k;

    if (!begin(b, "MoE", config->mlp_layers[MODEL_MOE]))
        return;
    emit(b, (struct kernel){
                .name = "router",
                .operation = "gemm",
                .sizes = {{"m", b->tokens}, {"n", experts}, {"k", hidden}, {"out_bits", 32}}});
    emit(b,
         (struct kernel){.name = "top-k",
                         .operation = "moe_topk",
                         .sizes = {{"tokens", b->tokens}, {"experts", experts}, {"top_k", top_k}}});
    emit_experts(b);
    if (config->shared_intermediate > 0)
        emit_gated(b, shared, b->tokens, model_share(config->shared_intermediate, b->gpus));
    if (config->has_shared_gate)
        emit(b, (struct kernel){.name = "shared gate",
                                .operation = "gemm",
                                .sizes = {{"m", b->tokens}, {"n", 1}, {"k", hidden}}});
    emit(b, (struct kernel){.name = "combine",
                            .operation = "moe_combine",
                            .sizes = {{"tokens", b->tokens},
                                      {"top_k", top_k},
                                      {"columns", hidden},
                                      {"shared", config->shared_intermediate > 0}}});
}

static void add_mlp(struct builder *b)
{
    const char *const names[3] = {"gate/up projection",
                                  b->config->is_gelu ? "GELU-mul" : "SiLU-mul", "down projection"};

    if (begin(b, "MLP", b->config->mlp_layers[MODEL_DENSE]))
        emit_gated(b, names, b->tokens, model_share(b->config->intermediate, b->gpus));
}

/* -- the model --------------------------------------------------------------------------------- */

/* Two of a layer's norms follow a residual add; further ones stand before it. */
static void add_norms(struct builder *b)
{
    const double hidden = (double)b->config->hidden;
    const int alone = b->step->fuses_add ? b->config->norms - 2 : b->config->norms;

    if (!begin(b, "layer", b->config->layers))
        return;
    if (b->step->fuses_add)
        emit(b, (struct kernel){.name = "add + RMSNorm",
                                .operation = "add_rms_norm",
                                .sizes = {{"rows", b->tokens}, {"columns", hidden}},
                                .launches = 2});
    if (alone > 0)
        emit_norm(b, "RMSNorm", b->tokens, b->config->hidden, alone);
}

static void add_layers(struct builder *b)
{
    add_norms(b);
    add_attention(b);
    add_kda(b);
    add_mla(b);
    add_mlp(b);
    add_moe(b);
    if (!b->step->fuses_add && begin(b, "layer", b->config->layers))
        emit(b,
             (struct kernel){.name = "residual add",
                             .operation = "add",
                             .sizes = {{"rows", b->tokens}, {"columns", (double)b->config->hidden}},
                             .launches = 2});
}

static void add_head(struct builder *b)
{
    const double size = ridge_element_bytes(b->step->element);
    const double hidden = (double)b->config->hidden;
    const double vocab = ceil((double)b->config->vocab / (double)b->gpus);
    const double logits = b->step->logits > 0 ? (double)b->step->logits : b->sequences;

    b->layer = "head";
    b->layers = 1;
    emit(b, (struct kernel){.name = "embedding",
                            .operation = "embedding",
                            .sizes = {{"tokens", b->tokens}, {"columns", hidden}},
                            .endpoint_bytes = 8 * b->tokens});
    emit_norm(b, "final RMSNorm", b->tokens, b->config->hidden, 1);
    emit(b, (struct kernel){.name = "LM head",
                            .operation = "gemm",
                            .sizes = {{"m", logits}, {"n", vocab}, {"k", hidden}},
                            .endpoint_bytes = logits * vocab * size});
}

ridge_status model_layers_works(ridge_model *model, const ridge_model_step *step, ridge_error *err)
{
    struct builder b = {
        .model = model,
        .config = &model->config,
        .step = step,
        .is_first_pass = true,
        .gpus = step->tensor_parallel,
        .tokens = (double)step->tokens,
        .sequences = (double)step->sequences,
        .new_tokens = model_share(step->tokens, step->sequences),
        .keys = (double)step->context + model_share(step->tokens, step->sequences),
        .status = RIDGE_OK,
        .err = err,
    };

    model->work_count = 0;
    add_layers(&b);
    b.is_first_pass = false;
    add_layers(&b);
    add_head(&b);
    return b.status;
}
