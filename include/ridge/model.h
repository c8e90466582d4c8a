/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of a transformer from its Hugging Face config.json, each with its least work.
 *
 *     ridge_model_open() or _read() -> ridge_model_step_init() -> ridge_model_works() -> _free()
 *
 * Known are llama, mistral, mixtral, qwen2, qwen2_moe, qwen3, qwen3_moe, gemma, gemma2, gemma3,
 * deepseek_v2, deepseek_v3 and kimi_linear. Members that a published config.json leaves out take
 * the value that transformers gives them; members that are not known are ignored.
 *
 * What a step is made of: one kernel for each matrix product (q, k and v in one, gate and up in
 * one), for each norm, for rotary embedding, for the write to the KV cache, for attention, for the
 * activation and for each residual add. A norm is thus 2 passes over the hidden state and an add 3;
 * fused, as in most servers, they are 4 (fuses_add). Experts' products gather their rows themselves. Softcaps,
 * embedding scales, biases and the softmax are counted neither as bytes nor as operations.
 *
 * Routing is uniform: t tokens of which each takes k of E experts touch E (1 - (1 - k/E)^t) experts
 * in expectation; real routing is uneven and touches fewer. */
#ifndef RIDGE_MODEL_H
#define RIDGE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ridge/bound.h"
#include "ridge/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ridge_model ridge_model;

/* RIDGE_ERR_IO; RIDGE_ERR_FORMAT names the member that is missing or wrong; RIDGE_ERR_UNSUPPORTED
 * names an architecture that is not known and those that are. */
ridge_status ridge_model_open(const char *path, ridge_model **out, ridge_error *err);
ridge_status ridge_model_read(const void *json, size_t size_bytes, ridge_model **out,
                              ridge_error *err);
void ridge_model_free(ridge_model *model);

/* One step of a server or of training's forward. */
typedef struct ridge_model_step {
    int64_t tokens;        /* new tokens of all sequences together: 8192; batch in decode */
    int64_t sequences;     /* among which they are divided evenly */
    int64_t context;       /* tokens of each sequence already in the cache: 0 for a prefill */
    int64_t logits;        /* tokens of which logits are computed; 0: the last of each sequence */
    bool fuses_add;        /* residual add and the norm behind it in one kernel, add_rms_norm */
    int tensor_parallel;   /* GPUs over which heads and widths are split; 1: none */
    ridge_element element; /* of activations, norms, router, embedding and head */
    ridge_element weights; /* of the matrices of the layers */
    ridge_element cache;   /* of the KV cache; recurrent states are f32 */
    /* What the tensor cores multiply in the products with those matrices: fp8 with fp8 weights on
     * a chip that can, else element. */
    ridge_element operands;
} ridge_model_step;

/* One token of one sequence without context on one GPU, in the types in which the model is
 * published: dtype or torch_dtype, and quantization_config where it is known. */
void ridge_model_step_init(const ridge_model *model, ridge_model_step *out);

/* One kind of kernel. */
typedef struct ridge_model_work {
    ridge_work work;      /* of one launch, on one GPU */
    const char *layer;    /* "layer", "MLA", "MoE", "head", ...; borrowed */
    int64_t layers;       /* how many of these the model has */
    int64_t launches;     /* of all of them together: layers times launches of one */
    double between_bytes; /* of one launch: what it moves for its neighbours only, neither
                             parameters nor cache nor input or output of the step; the most that
                             fusing could save */
} ridge_model_work;

typedef struct ridge_model_facts {
    const char *architecture;        /* "LlamaForCausalLM"; borrowed until ridge_model_free() */
    const char *quantization;        /* quant_method of the config; NULL: none */
    bool is_quantization_known;      /* else ridge_model_step_init() took the type of activations */
    double parameter_count;          /* all, tied ones once; without multi-token prediction */
    double active_parameter_count;   /* of one token: of MoE the experts it takes and the shared */
    double weight_bytes;             /* on one GPU */
    double cache_bytes_per_token;    /* on one GPU, all layers, within every window */
    double state_bytes_per_sequence; /* recurrent states on one GPU, whatever the length */
    double cache_bytes;              /* on one GPU after the step: cache and states */
    int64_t layers;
    int64_t experts;             /* of a layer that has them; 0: none has */
    double touched_experts;      /* of those, in expectation, by all tokens of the step */
    int64_t kv_replicas;         /* GPUs that hold the same KV heads; 1: each is held once */
    int64_t all_reduces;         /* of the step; 0 on one GPU */
    double all_reduce_bytes;     /* the message of one */
    double all_reduce_bytes_gpu; /* what a GPU sends, and receives, in a ring: 2 (n-1)/n of it */
} ridge_model_facts;

/* The kernels of a step and what they add up to: by kind of layer, each in the order in which it
 * runs. *works is borrowed until the next call with this model or ridge_model_free().
 * RIDGE_ERR_INVALID_ARGUMENT for a step the model cannot take (heads that do not divide by
 * tensor_parallel, tokens that do not divide among the sequences). */
ridge_status ridge_model_works(ridge_model *model, const ridge_model_step *step,
                               const ridge_model_work **works, size_t *work_count,
                               ridge_model_facts *facts, ridge_error *err);

#ifdef __cplusplus
}
#endif
#endif
