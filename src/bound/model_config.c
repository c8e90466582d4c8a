/* SPDX-License-Identifier: Apache-2.0
 *
 * config.json of Hugging Face's transformers -> model_config. The families are a table: what a
 * config calls its experts, which layers are what, and the values that transformers gives to
 * members that published files leave out (configuration_<family>.py of transformers 4.57;
 * configuration_kimi.py of Kimi-Linear-48B-A3B). */
#include <stdio.h>
#include <string.h>

#include "bound/model_internal.h"

enum window_rule {
    WINDOW_NONE,
    WINDOW_ALL,    /* every layer, when sliding_window is a number */
    WINDOW_SWITCH, /* use_sliding_window, from layer max_window_layers on */
    WINDOW_SECOND, /* every other layer, the first one included */
    WINDOW_PATTERN /* all but every sliding_window_pattern-th */
};

enum moe_rule {
    MOE_NONE,
    MOE_ALL,   /* every layer */
    MOE_STEP,  /* every decoder_sparse_step-th but those of mlp_only_layers */
    MOE_BEHIND /* behind first_k_dense_replace layers, every moe_layer_freq-th */
};

enum family_flags {
    QKV_BIAS = 1 << 0,
    QK_NORM = 1 << 1,
    TIED = 1 << 2, /* unless the config says otherwise */
    FOUR_NORMS = 1 << 3,
    GELU = 1 << 4,
    MLA = 1 << 5,
    KDA = 1 << 6,
    SHARED_GATE = 1 << 7,
    ROUTER_BIAS = 1 << 8
};

/* 0 in a number: the config must say. */
struct family {
    const char *model_type;
    unsigned flags;
    enum window_rule window;
    enum moe_rule moe;
    const char *experts, *top_k, *shared_experts; /* names of members; NULL: none */
    int64_t hidden, intermediate, layers, vocab, heads, kv_heads, head_dim, window_default;
};

/* clang-format off */
static const struct family families[] = {
    {"llama", 0, WINDOW_NONE, MOE_NONE, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0},
    {"mistral", 0, WINDOW_ALL, MOE_NONE, NULL, NULL, NULL, 0, 0, 0, 0, 0, 8, 0, 4096},
    {"mixtral", 0, WINDOW_ALL, MOE_ALL, "num_local_experts", "num_experts_per_tok", NULL,
     0, 0, 0, 0, 0, 8, 0, 0},
    {"qwen2", QKV_BIAS, WINDOW_SWITCH, MOE_NONE, NULL, NULL, NULL, 0, 0, 0, 0, 0, 32, 0, 4096},
    {"qwen2_moe", QKV_BIAS | SHARED_GATE, WINDOW_SWITCH, MOE_STEP, "num_experts",
     "num_experts_per_tok", NULL, 0, 0, 0, 0, 0, 16, 0, 4096},
    {"qwen3", QK_NORM, WINDOW_SWITCH, MOE_NONE, NULL, NULL, NULL, 0, 0, 0, 0, 0, 32, 128, 4096},
    {"qwen3_moe", QK_NORM, WINDOW_SWITCH, MOE_STEP, "num_experts", "num_experts_per_tok", NULL,
     0, 0, 0, 0, 0, 4, 0, 4096},
    {"gemma", TIED | GELU, WINDOW_NONE, MOE_NONE, NULL, NULL, NULL, 0, 0, 0, 0, 0, 16, 256, 0},
    {"gemma2", TIED | GELU | FOUR_NORMS, WINDOW_SECOND, MOE_NONE, NULL, NULL, NULL,
     0, 0, 0, 0, 0, 4, 256, 4096},
    {"gemma3_text", TIED | GELU | FOUR_NORMS | QK_NORM, WINDOW_PATTERN, MOE_NONE, NULL, NULL, NULL,
     2304, 9216, 26, 262208, 8, 4, 256, 4096},
    {"deepseek_v2", MLA, WINDOW_NONE, MOE_BEHIND, "n_routed_experts", "num_experts_per_tok",
     "n_shared_experts", 0, 0, 0, 0, 0, 0, 0, 0},
    {"deepseek_v3", MLA | ROUTER_BIAS, WINDOW_NONE, MOE_BEHIND, "n_routed_experts",
     "num_experts_per_tok", "n_shared_experts", 0, 0, 0, 0, 0, 0, 0, 0},
    {"kimi_linear", MLA | KDA | ROUTER_BIAS, WINDOW_NONE, MOE_BEHIND, "num_experts",
     "num_experts_per_token", "num_shared_experts", 0, 0, 0, 0, 0, 0, 0, 0},
};
/* clang-format on */

/* Above what any model has, and low enough that no product of a few of them leaves the range of a
 * double that counts exactly or nearly so. */
enum {
    MOST_WIDTH = 1 << 20,
    MOST_LAYERS = 1 << 12,
    MOST_VOCAB = 1 << 26,
    MOST_INNER = 1 << 24,
    MOST_HEADS = 1 << 16,
    MOST_EXPERTS = 1 << 16,
    MOST_WINDOW = 1 << 30
};

/* -- members ----------------------------------------------------------------------------------- */

/* Remembers its first failure, so that members are read in a row and checked once. */
struct reader {
    const ridge_node *object;
    ridge_status status;
    ridge_error *err;
};

/* A member from lowest to highest. Absent or null: fallback, or an error when that is below
 * lowest. */
static int64_t read_size(struct reader *reader, const char *key, int64_t lowest, int64_t highest,
                         int64_t fallback)
{
    int64_t value = fallback;

    if (reader->status != RIDGE_OK)
        return lowest;
    reader->status =
        ridge_node_get_integer(reader->object, key, lowest, highest, &value, reader->err);
    if (reader->status == RIDGE_OK && value < lowest)
        reader->status = ridge_fail(reader->err, RIDGE_ERR_FORMAT,
                                    "%s is missing, expected a whole number from %lld to %lld", key,
                                    (long long)lowest, (long long)highest);
    return reader->status == RIDGE_OK ? value : lowest;
}

/* A member that may be absent: 0 then. */
static int64_t read_optional(struct reader *reader, const char *key, int64_t highest)
{
    return read_size(reader, key, 0, highest, 0);
}

static bool read_flag(struct reader *reader, const char *key, bool fallback)
{
    bool value = fallback;

    if (reader->status == RIDGE_OK)
        reader->status = ridge_node_get_bool(reader->object, key, &value, reader->err);
    return value;
}

static bool is_absent(const struct reader *reader, const char *key)
{
    return ridge_node_kind_of(ridge_node_member(reader->object, key)) == RIDGE_NODE_NULL;
}

static void refuse(struct reader *reader, ridge_status status, const char *text)
{
    if (reader->status == RIDGE_OK)
        reader->status = ridge_fail(reader->err, status, "%s", text);
}

static void copy_text(char *to, const char *text)
{
    size_t i;

    snprintf(to, MODEL_NAME_BYTES, "%s", text);
    for (i = 0; to[i] != '\0'; i++)
        if ((unsigned char)to[i] < ' ' || to[i] == 0x7f)
            to[i] = '?'; /* one line, whatever the file says */
}

/* -- which family ------------------------------------------------------------------------------ */

/* The language model of one that also sees, where its config does not say; and a model that is
 * built as another one. */
static const struct {
    const char *model_type, *family;
} same[] = {{"gemma3", "gemma3_text"}, {"kimi_k2", "deepseek_v3"}};

static const struct family *find_family(const char *model_type)
{
    size_t i;

    for (i = 0; i < sizeof(same) / sizeof(same[0]); i++)
        if (strcmp(same[i].model_type, model_type) == 0)
            model_type = same[i].family;
    for (i = 0; i < sizeof(families) / sizeof(families[0]); i++)
        if (strcmp(families[i].model_type, model_type) == 0)
            return &families[i];
    return NULL;
}

static ridge_status unknown_family(const char *model_type, ridge_error *err)
{
    char known[256] = "";
    size_t length = 0;
    size_t i;

    for (i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        const size_t left = sizeof(known) - length;
        const int written =
            snprintf(known + length, left, "%s%s", i > 0 ? ", " : "", families[i].model_type);

        length += written > 0 && (size_t)written < left ? (size_t)written : 0;
    }
    return ridge_fail(err, RIDGE_ERR_UNSUPPORTED, "model_type is \"%.60s\", known are %s",
                      model_type, known);
}

/* The object that describes the language model, and its family. A model that also sees or hears
 * keeps it in text_config. */
static ridge_status choose(const ridge_node *root, const ridge_node **object,
                           const struct family **family, ridge_error *err)
{
    const ridge_node *const nested = ridge_node_member(root, "text_config");
    const char *model_type = NULL;
    ridge_status status;

    *family = NULL;
    *object = ridge_node_kind_of(nested) == RIDGE_NODE_OBJECT ? nested : root;
    status = ridge_node_get_text(*object, "model_type", &model_type, err);
    if (status == RIDGE_OK && model_type == NULL)
        status = ridge_node_get_text(root, "model_type", &model_type, err);
    if (status != RIDGE_OK)
        return status;
    if (model_type == NULL)
        return ridge_fail(err, RIDGE_ERR_FORMAT,
                          "model_type is missing, expected the config.json of a model, as published"
                          " beside its weights");
    *family = find_family(model_type);
    return *family != NULL ? RIDGE_OK : unknown_family(model_type, err);
}

/* -- types ------------------------------------------------------------------------------------- */

/* bf16 where nothing is said or the name is not one of a type of activations. */
static ridge_element element_of(const ridge_node *object)
{
    const char *name = ridge_node_text(ridge_node_member(object, "dtype"));
    ridge_element element;

    if (name == NULL)
        name = ridge_node_text(ridge_node_member(object, "torch_dtype"));
    if (name == NULL || !ridge_element_find(name, &element))
        return RIDGE_ELEMENT_BF16;
    return element == RIDGE_ELEMENT_F32 || element == RIDGE_ELEMENT_F16 ? element
                                                                        : RIDGE_ELEMENT_BF16;
}

static bool element_of_bits(int64_t bits, bool is_float, ridge_element *out)
{
    if (bits == 4)
        *out = is_float ? RIDGE_ELEMENT_FP4 : RIDGE_ELEMENT_INT4;
    else if (bits == 8)
        *out = is_float ? RIDGE_ELEMENT_FP8 : RIDGE_ELEMENT_INT8;
    else
        return false;
    return true;
}

/* compressed-tensors: the weights of the first group. */
static bool element_of_group(const ridge_node *quantization, ridge_element *out)
{
    const ridge_node *const groups = ridge_node_member(quantization, "config_groups");
    const void *at = NULL;
    const char *key;
    const ridge_node *const group = ridge_node_next(groups, &at, &key);
    const ridge_node *const weights = ridge_node_member(group, "weights");
    const char *const type = ridge_node_text(ridge_node_member(weights, "type"));
    int64_t bits = 0;

    return ridge_node_integer(ridge_node_member(weights, "num_bits"), &bits) &&
           element_of_bits(bits, type != NULL && strcmp(type, "float") == 0, out);
}

static void read_quantization(const ridge_node *object, model_config *out)
{
    const char *const method = ridge_node_text(ridge_node_member(object, "quant_method"));
    int64_t bits = 0;

    out->weights = out->element;
    out->is_quantization_known = true;
    if (ridge_node_kind_of(object) != RIDGE_NODE_OBJECT)
        return;
    copy_text(out->quantization, method != NULL ? method : "unnamed");
    if (method != NULL && strcmp(method, "fp8") == 0)
        out->weights = RIDGE_ELEMENT_FP8;
    else if (method != NULL && (strcmp(method, "awq") == 0 || strcmp(method, "gptq") == 0))
        out->is_quantization_known = ridge_node_integer(ridge_node_member(object, "bits"), &bits) &&
                                     element_of_bits(bits, false, &out->weights);
    else
        out->is_quantization_known = element_of_group(object, &out->weights);
}

/* -- which layers are what --------------------------------------------------------------------- */

/* layer_types, which newer files spell out, decides before any rule. */
static void read_layer_types(struct reader *reader, model_config *out)
{
    const ridge_node *const types = ridge_node_member(reader->object, "layer_types");
    int64_t i;

    if (ridge_node_kind_of(types) != RIDGE_NODE_ARRAY ||
        ridge_node_count(types) != (size_t)out->layers) {
        refuse(reader, RIDGE_ERR_FORMAT,
               "layer_types is not an array of as many names as num_hidden_layers says");
        return;
    }
    for (i = 0; i < out->layers; i++) {
        const char *const type = ridge_node_text(ridge_node_at(types, (size_t)i));

        if (type != NULL && strcmp(type, "full_attention") == 0)
            out->attention_layers[MODEL_ATTENTION]++;
        else if (type != NULL && strcmp(type, "sliding_attention") == 0)
            out->attention_layers[MODEL_ATTENTION_WINDOW]++;
        else
            refuse(reader, RIDGE_ERR_UNSUPPORTED,
                   "layer_types has a kind that is not known, known are full_attention and "
                   "sliding_attention");
    }
}

static int64_t window_layers(struct reader *reader, const struct family *family,
                             const model_config *out)
{
    int64_t step;

    switch (family->window) {
    case WINDOW_NONE:
        return 0;
    case WINDOW_ALL:
        return out->layers;
    case WINDOW_SWITCH:
        if (!read_flag(reader, "use_sliding_window", false))
            return 0;
        step = read_size(reader, "max_window_layers", 0, MOST_LAYERS, 28);
        return step < out->layers ? out->layers - step : 0;
    case WINDOW_SECOND:
        return (out->layers + 1) / 2;
    case WINDOW_PATTERN:
        step = read_size(reader, "_sliding_window_pattern", 1, MOST_LAYERS, 6);
        step = read_size(reader, "sliding_window_pattern", 1, MOST_LAYERS, step);
        return out->layers - out->layers / step;
    }
    return 0;
}

static void read_windows(struct reader *reader, const struct family *family, model_config *out)
{
    /* null says that there is none; a member left out takes the default. */
    const bool says_none = is_absent(reader, "sliding_window") &&
                           ridge_node_member(reader->object, "sliding_window") != NULL;
    int64_t sliding;

    if (family->window != WINDOW_NONE && !says_none)
        out->window = read_size(reader, "sliding_window", 0, MOST_WINDOW, family->window_default);
    if (family->window != WINDOW_NONE && !is_absent(reader, "layer_types")) {
        read_layer_types(reader, out);
    } else {
        sliding = window_layers(reader, family, out);
        out->attention_layers[MODEL_ATTENTION_WINDOW] = sliding;
        out->attention_layers[MODEL_ATTENTION] = out->layers - sliding;
    }
    if (out->window == 0) { /* a window of nothing is none */
        out->attention_layers[MODEL_ATTENTION] += out->attention_layers[MODEL_ATTENTION_WINDOW];
        out->attention_layers[MODEL_ATTENTION_WINDOW] = 0;
    }
}

/* Layers that an array names, from first on; each once. */
static int64_t count_listed(struct reader *reader, const ridge_node *list, int64_t first,
                            int64_t layers, bool seen[MOST_LAYERS])
{
    const size_t count = ridge_node_count(list);
    size_t i;

    if (ridge_node_kind_of(list) != RIDGE_NODE_ARRAY) {
        refuse(reader, RIDGE_ERR_FORMAT, "a list of layers is missing or no array");
        return 0;
    }
    for (i = 0; i < count && reader->status == RIDGE_OK; i++) {
        int64_t layer = -1;

        if (!ridge_node_integer(ridge_node_at(list, i), &layer) || layer < first ||
            layer >= layers + first || seen[layer - first])
            refuse(reader, RIDGE_ERR_FORMAT,
                   "a list of layers names one that the model does not have, or one twice");
        else
            seen[layer - first] = true;
    }
    return (int64_t)count;
}

static void read_kda_layers(struct reader *reader, model_config *out)
{
    const ridge_node *const linear = ridge_node_member(reader->object, "linear_attn_config");
    struct reader inner = {linear, reader->status, reader->err};
    bool seen[MOST_LAYERS] = {false};

    if (ridge_node_kind_of(linear) != RIDGE_NODE_OBJECT) {
        refuse(reader, RIDGE_ERR_FORMAT,
               "linear_attn_config is missing, expected an object with kda_layers");
        return;
    }
    out->kda_heads = read_size(&inner, "num_heads", 1, MOST_HEADS, 0);
    out->kda_dim = read_size(&inner, "head_dim", 1, MOST_HEADS, 0);
    out->conv_taps = read_size(&inner, "short_conv_kernel_size", 1, 1024, 4);
    if (read_flag(&inner, "use_full_rank_gate", false))
        refuse(&inner, RIDGE_ERR_UNSUPPORTED,
               "linear_attn_config has use_full_rank_gate, which is not known");
    /* They count from 1. */
    out->attention_layers[MODEL_KDA] =
        count_listed(&inner, ridge_node_member(linear, "kda_layers"), 1, out->layers, seen);
    out->attention_layers[MODEL_MLA] =
        count_listed(&inner, ridge_node_member(linear, "full_attn_layers"), 1, out->layers, seen);
    if (out->attention_layers[MODEL_KDA] + out->attention_layers[MODEL_MLA] != out->layers)
        refuse(&inner, RIDGE_ERR_FORMAT,
               "kda_layers and full_attn_layers together do not name every layer once");
    reader->status = inner.status;
}

static int64_t moe_layers(struct reader *reader, const struct family *family, int64_t layers)
{
    const ridge_node *const dense = ridge_node_member(reader->object, "mlp_only_layers");
    bool is_dense[MOST_LAYERS] = {false};
    int64_t count = 0;
    int64_t first = 0;
    int64_t step = 1;
    int64_t i;

    if (family->moe == MOE_NONE)
        return 0;
    if (family->moe == MOE_STEP) {
        step = read_size(reader, "decoder_sparse_step", 1, MOST_LAYERS, 1);
        if (ridge_node_kind_of(dense) != RIDGE_NODE_NULL)
            count_listed(reader, dense, 0, layers, is_dense);
    }
    if (family->moe == MOE_BEHIND) {
        first = read_size(reader, "first_k_dense_replace", 0, MOST_LAYERS, 0);
        step = read_size(reader, "moe_layer_freq", 1, MOST_LAYERS, 1);
    }
    for (i = first; i < layers; i++)
        if (!is_dense[i] && (family->moe == MOE_STEP ? i + 1 : i) % step == 0)
            count++;
    return count;
}

/* -- the parts --------------------------------------------------------------------------------- */

static void read_attention(struct reader *reader, const struct family *family, model_config *out)
{
    const bool has_bias = read_flag(reader, "attention_bias", false);

    out->heads = read_size(reader, "num_attention_heads", 1, MOST_HEADS, family->heads);
    out->kv_heads = read_size(reader, "num_key_value_heads", 1, MOST_HEADS,
                              family->kv_heads > 0 ? family->kv_heads : out->heads);
    out->head_dim = read_size(reader, "head_dim", 1, MOST_HEADS,
                              family->head_dim > 0 ? family->head_dim : out->hidden / out->heads);
    if (out->heads % out->kv_heads != 0)
        refuse(reader, RIDGE_ERR_FORMAT,
               "num_attention_heads is no multiple of num_key_value_heads");
    out->has_qkv_bias = (family->flags & QKV_BIAS) != 0 || has_bias;
    out->has_output_bias = has_bias;
    out->has_qk_norm = (family->flags & QK_NORM) != 0;
    read_windows(reader, family, out);
}

static void read_mla(struct reader *reader, const struct family *family, model_config *out)
{
    out->heads = read_size(reader, "num_attention_heads", 1, MOST_HEADS, 0);
    out->kv_heads = out->heads;
    out->q_rank = read_optional(reader, "q_lora_rank", MOST_WIDTH);
    out->kv_rank = read_size(reader, "kv_lora_rank", 1, MOST_WIDTH, 0);
    out->nope_dim = read_size(reader, "qk_nope_head_dim", 1, MOST_HEADS, 0);
    out->rope_dim = read_size(reader, "qk_rope_head_dim", 1, MOST_HEADS, 0);
    out->value_dim = read_size(reader, "v_head_dim", 1, MOST_HEADS, 0);
    out->has_mla_rotary = !read_flag(reader, "mla_use_nope", false);
    if ((family->flags & KDA) != 0)
        read_kda_layers(reader, out);
    else
        out->attention_layers[MODEL_MLA] = out->layers;
    if (read_flag(reader, "mla_use_output_gate", false) ||
        !is_absent(reader, "attn_res_block_size") ||
        !is_absent(reader, "routed_expert_hidden_size"))
        refuse(reader, RIDGE_ERR_UNSUPPORTED,
               "the config has mla_use_output_gate, attn_res_block_size or "
               "routed_expert_hidden_size, which are not known");
}

static void read_mlp(struct reader *reader, const struct family *family, model_config *out)
{
    const int64_t moe = moe_layers(reader, family, out->layers);
    int64_t shared;

    out->intermediate = read_size(reader, "intermediate_size", 1, MOST_INNER, family->intermediate);
    out->has_mlp_bias = read_flag(reader, "mlp_bias", false);
    out->is_gelu = (family->flags & GELU) != 0;
    out->mlp_layers[MODEL_DENSE] = out->layers - moe;
    out->mlp_layers[MODEL_MOE] = moe;
    if (moe == 0)
        return;
    out->experts = read_size(reader, family->experts, 1, MOST_EXPERTS, 0);
    out->top_k = read_size(reader, family->top_k, 1, MOST_EXPERTS, 0);
    if (out->top_k > out->experts && reader->status == RIDGE_OK)
        reader->status = ridge_fail(
            reader->err, RIDGE_ERR_FORMAT, "%s is %lld, more than %s, which is %lld", family->top_k,
            (long long)out->top_k, family->experts, (long long)out->experts);
    out->expert_intermediate = family->moe == MOE_ALL
                                   ? out->intermediate
                                   : read_size(reader, "moe_intermediate_size", 1, MOST_INNER, 0);
    if ((family->flags & SHARED_GATE) != 0)
        out->shared_intermediate =
            read_size(reader, "shared_expert_intermediate_size", 0, MOST_INNER, 5632);
    if (family->shared_experts != NULL) {
        shared = read_optional(reader, family->shared_experts, MOST_EXPERTS);
        out->shared_intermediate = shared * out->expert_intermediate;
    }
    out->has_shared_gate = (family->flags & SHARED_GATE) != 0 && out->shared_intermediate > 0;
    out->has_router_bias = (family->flags & ROUTER_BIAS) != 0;
}

ridge_status model_config_read(const ridge_node *root, model_config *out, ridge_error *err)
{
    const ridge_node *object, *quantization;
    const struct family *family;
    const char *architecture =
        ridge_node_text(ridge_node_at(ridge_node_member(root, "architectures"), 0));
    struct reader reader;
    ridge_status status;

    memset(out, 0, sizeof(*out));
    status = choose(root, &object, &family, err);
    if (status != RIDGE_OK || family == NULL)
        return status;
    reader = (struct reader){object, RIDGE_OK, err};
    copy_text(out->architecture, architecture != NULL ? architecture : family->model_type);
    out->element = element_of(object != root && is_absent(&reader, "dtype") &&
                                      is_absent(&reader, "torch_dtype")
                                  ? root
                                  : object);
    quantization = ridge_node_member(object, "quantization_config");
    read_quantization(
        quantization != NULL ? quantization : ridge_node_member(root, "quantization_config"), out);
    out->hidden = read_size(&reader, "hidden_size", 1, MOST_WIDTH, family->hidden);
    out->layers = read_size(&reader, "num_hidden_layers", 1, MOST_LAYERS, family->layers);
    out->vocab = read_size(&reader, "vocab_size", 1, MOST_VOCAB, family->vocab);
    out->is_tied = read_flag(&reader, "tie_word_embeddings", (family->flags & TIED) != 0);
    out->norms = (family->flags & FOUR_NORMS) != 0 ? 4 : 2;
    if ((family->flags & MLA) != 0)
        read_mla(&reader, family, out);
    else
        read_attention(&reader, family, out);
    read_mlp(&reader, family, out);
    return reader.status;
}
