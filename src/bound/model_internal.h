/* SPDX-License-Identifier: Apache-2.0
 *
 * A model as its config.json describes it, reduced to what decides its kernels. */
#ifndef RIDGE_MODEL_INTERNAL_H
#define RIDGE_MODEL_INTERNAL_H

#include "base/document.h"
#include "ridge/model.h"

enum model_attention {
    MODEL_ATTENTION,        /* grouped heads, every earlier token */
    MODEL_ATTENTION_WINDOW, /* the same, within the window */
    MODEL_MLA,              /* multi-head latent attention */
    MODEL_KDA,              /* Kimi delta attention: a state instead of a cache */
    MODEL_ATTENTIONS
};

enum model_mlp { MODEL_DENSE, MODEL_MOE, MODEL_MLPS };

enum { MODEL_NAME_BYTES = 64 };

typedef struct model_config {
    char architecture[MODEL_NAME_BYTES];
    char quantization[MODEL_NAME_BYTES]; /* "": none */
    bool is_quantization_known;
    ridge_element element; /* as published */
    ridge_element weights;

    int64_t hidden, layers, vocab;
    bool is_tied; /* embedding and head are one matrix */
    int norms;    /* RMSNorms over the hidden state in a layer: 2, or 4 with those behind */
    int64_t attention_layers[MODEL_ATTENTIONS];
    int64_t mlp_layers[MODEL_MLPS];

    int64_t heads, kv_heads, head_dim, window;
    bool has_qkv_bias, has_output_bias, has_qk_norm;

    int64_t q_rank, kv_rank; /* of MLA; q_rank 0: q is projected at once */
    int64_t nope_dim, rope_dim, value_dim;
    bool has_mla_rotary;

    int64_t kda_heads, kda_dim, conv_taps;

    int64_t intermediate;
    bool has_mlp_bias, is_gelu;
    int64_t experts, top_k, expert_intermediate;
    int64_t shared_intermediate; /* of all shared experts together; 0: none */
    bool has_shared_gate;        /* a sigmoid scales the shared expert's output */
    bool has_router_bias;        /* one number an expert, added for the choice only */
} model_config;

/* Reads what stands in a document. */
ridge_status model_config_read(const ridge_node *root, model_config *out, ridge_error *err);

struct ridge_model {
    model_config config;
    ridge_model_work works[64]; /* more than any model has; model_layers.c asserts */
    size_t work_count;
};

/* Fills works of a step that has been checked. */
ridge_status model_layers_works(ridge_model *model, const ridge_model_step *step, ridge_error *err);

/* Elements of the matrices of layers, which may be quantised, and of everything else. */
typedef struct model_parameters {
    double matrices;
    double others;
} model_parameters;

/* Bytes of an element of a quantised matrix with its share of the scales. */
double model_weight_bytes(ridge_element element);

/* What one of several GPUs has of heads or of a width that divides. */
static inline double model_share(int64_t whole, int64_t gpus)
{
    return (double)whole / (double)gpus;
}

/* KV heads of one GPU: at least one, so heads are held several times when there are more GPUs. */
int64_t model_local_kv_heads(const model_config *config, int64_t tensor_parallel);

#endif
