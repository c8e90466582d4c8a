/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of a transformer from its Hugging Face config.json, each with its least work.
 *
 * Life: ridge_model_open() or _read(), ridge_model_works(), ridge_model_free(). */
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
    int tensor_parallel;   /* GPUs over which heads and widths are split; 1: none */
    ridge_element element; /* of activations */
    ridge_element weights; /* of parameters */
    ridge_element cache;   /* of the KV cache */
} ridge_model_step;

/* One kind of kernel. */
typedef struct ridge_model_work {
    ridge_work work;      /* of one launch */
    int64_t launches;     /* of all layers together */
    const char *layer;    /* "attention layer", "dense layer", "MoE layer", "head"; borrowed */
    double between_bytes; /* of one launch: what it reads or writes only because the neighbour
                              kernel is a separate one; what fusing would save at most */
} ridge_model_work;

typedef struct ridge_model_facts {
    const char *architecture; /* "LlamaForCausalLM" */
    double parameter_count;
    double active_parameter_count; /* for one token: of MoE the routed and shared experts */
    double weight_bytes;           /* on one GPU */
    double cache_bytes_per_token;  /* on one GPU, all layers */
    int64_t layers;
} ridge_model_facts;

/* The kernels of a step in the order in which they run, and what they add up to. *works is
 * borrowed until the next call with this model or ridge_model_free(). RIDGE_ERR_INVALID_ARGUMENT
 * for a step the model cannot take (heads that do not divide by tensor_parallel). */
ridge_status ridge_model_works(ridge_model *model, const ridge_model_step *step,
                               const ridge_model_work **works, size_t *work_count,
                               ridge_model_facts *facts, ridge_error *err);

#ifdef __cplusplus
}
#endif
#endif
