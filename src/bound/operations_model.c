/* SPDX-License-Identifier: Apache-2.0
 *
 * What else a transformer is made of: embedding, residual add, the KV cache, latent attention on
 * the cache itself, mixtures of experts, and what stands around Kimi Delta Attention. */
#include <math.h>
#include <string.h>

#include "bound/bound_internal.h"

enum { INDEX_BYTES = 4, ID_BYTES = 8, FLOAT_BYTES = 4 };

/* -- embedding, add, kv_cache_write ------------------------------------------------------------ */

enum { TOKENS, COLUMNS };

static const ridge_parameter embedding_parameters[] = {
    [TOKENS] = BOUND_SIZE("tokens", "tokens of the batch"),
    [COLUMNS] = BOUND_SIZE("columns", "elements of a row of the table"),
};

/* A row for each token: how many are the same word, nobody knows. */
static void embedding(struct bound_call *call)
{
    const double *const v = call->values;
    ridge_work *const work = bound_add(call, "embedding");

    work->weight_bytes = v[TOKENS] * v[COLUMNS] * call->size;
    work->read_bytes = work->weight_bytes + ID_BYTES * v[TOKENS];
    work->written_bytes = work->weight_bytes;
}

static const ridge_parameter add_parameters[] = {
    BOUND_SIZE("rows", "rows of x, of y and of the sum"),
    BOUND_SIZE("columns", "elements of a row"),
};

static void add(struct bound_call *call)
{
    const double count = call->values[0] * call->values[1];
    ridge_work *const work = bound_add(call, "add");

    work->read_bytes = 2 * count * call->size;
    work->written_bytes = count * call->size;
    work->flop_count = count;
    work->peak = bound_scalar_peak(call->element);
}

enum { CACHE_BITS = COLUMNS + 1 };

static const ridge_parameter cache_parameters[] = {
    [TOKENS] = BOUND_SIZE("tokens", "new tokens"),
    [COLUMNS] = BOUND_SIZE("columns", "elements of a token's key and value, or of its latent"),
    [CACHE_BITS] = BOUND_OPTIONAL("cache_bits", "bits of an element of the cache; 0: of dtype", 0),
};

static void kv_cache_write(struct bound_call *call)
{
    const double *const v = call->values;
    const double count = v[TOKENS] * v[COLUMNS];
    ridge_work *const work = bound_add(call, "kv_cache_write");

    work->read_bytes = count * call->size + ID_BYTES * v[TOKENS];
    work->written_bytes = count * bound_or(v[CACHE_BITS] / 8, call->size);
    work->cache_bytes = work->written_bytes;
}

/* -- mla_attention ----------------------------------------------------------------------------- */

enum { MLA_KEYS, MLA_HEADS, MLA_BATCH, MLA_QUERIES, MLA_RANK, MLA_ROPE };

static const ridge_parameter mla_parameters[] = {
    [MLA_KEYS] = BOUND_SIZE("keys", "tokens of a sequence in the cache, the new ones included"),
    [MLA_HEADS] = BOUND_SIZE("heads", "query heads, which share one latent"),
    [MLA_BATCH] = {"batch", "sequences of the same length", 1, 1, BOUND_LARGEST_SIZE},
    [MLA_QUERIES] = {"queries", "new tokens of a sequence", 1, 1, BOUND_LARGEST_SIZE},
    [MLA_RANK] = {"kv_rank", "elements of the latent: key and value", 512, 1, BOUND_LARGEST_SIZE},
    [MLA_ROPE] = BOUND_OPTIONAL("rope_dim", "elements of the key behind it", 64),
};

static ridge_status check_mla(const double *v, ridge_element element, ridge_error *err)
{
    if (v[MLA_QUERIES] > v[MLA_KEYS])
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "queries=%.0f is more than keys=%.0f",
                          v[MLA_QUERIES], v[MLA_KEYS]);
    return bound_check_product(element, err);
}

static void mla_attention(struct bound_call *call)
{
    const double *const v = call->values;
    const double key = v[MLA_RANK] + v[MLA_ROPE];
    const double queries = v[MLA_BATCH] * v[MLA_QUERIES] * v[MLA_HEADS];
    /* Causal, the last query at the last key. */
    const double keys_seen = v[MLA_KEYS] - (v[MLA_QUERIES] - 1) / 2;
    ridge_work *const work = bound_add(call, "mla_attention");

    work->cache_bytes = v[MLA_BATCH] * v[MLA_KEYS] * key * call->size;
    work->read_bytes = work->cache_bytes + queries * key * call->size;
    work->written_bytes = queries * v[MLA_RANK] * call->size;
    work->flop_count = 2 * queries * keys_seen * (key + v[MLA_RANK]);
    work->peak = ridge_peak_of_element(call->element);
}

/* -- mixture of experts ------------------------------------------------------------------------ */

enum { MOE_TOKENS, MOE_EXPERTS, MOE_TOP_K, MOE_N, MOE_K, MOE_GATHER };

#define MOE_PARAMETERS                                                                             \
    [MOE_TOKENS] = BOUND_SIZE("tokens", "tokens of the batch"),                                    \
    [MOE_EXPERTS] = BOUND_SIZE("experts", "experts of the layer"),                                 \
    [MOE_TOP_K] = BOUND_SIZE("top_k", "experts that a token takes")

static const ridge_parameter moe_topk_parameters[] = {MOE_PARAMETERS};

static const ridge_parameter moe_gemm_parameters[] = {
    MOE_PARAMETERS,
    [MOE_N] = BOUND_SIZE("n", "columns of an expert's matrix and of the result"),
    [MOE_K] = BOUND_SIZE("k", "rows of an expert's matrix, columns of a"),
    [MOE_GATHER] =
        BOUND_SWITCH("gather", "1: a has a row for each token; 0: for each token and expert", 1),
};

static ridge_status check_moe(const double *v, ridge_element element, ridge_error *err)
{
    (void)element;
    if (v[MOE_TOP_K] > v[MOE_EXPERTS])
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "top_k=%.0f is more than experts=%.0f",
                          v[MOE_TOP_K], v[MOE_EXPERTS]);
    return RIDGE_OK;
}

static ridge_status check_moe_gemm(const double *v, ridge_element element, ridge_error *err)
{
    const ridge_status status = check_moe(v, element, err);

    return status == RIDGE_OK ? bound_check_product(element, err) : status;
}

/* Logits in float; index and weight of each choice. Grouped or not, all logits are read. */
static void moe_topk(struct bound_call *call)
{
    const double *const v = call->values;
    ridge_work *const work = bound_add(call, "moe_topk");

    work->read_bytes = v[MOE_TOKENS] * v[MOE_EXPERTS] * FLOAT_BYTES;
    work->written_bytes = v[MOE_TOKENS] * v[MOE_TOP_K] * (INDEX_BYTES + FLOAT_BYTES);
}

/* An expert is passed over by one token with probability 1 - k/E. */
double bound_touched_experts(double tokens, double experts, double top_k)
{
    return experts * -expm1(tokens * log1p(-top_k / experts));
}

static void moe_gemm(struct bound_call *call)
{
    const double *const v = call->values;
    const double rows = v[MOE_TOKENS] * v[MOE_TOP_K];
    const double touched = bound_touched_experts(v[MOE_TOKENS], v[MOE_EXPERTS], v[MOE_TOP_K]);
    ridge_work *const work = bound_add(call, "moe_gemm");

    work->weight_bytes = touched * v[MOE_N] * v[MOE_K] * call->size;
    work->read_bytes = work->weight_bytes +
                       (v[MOE_GATHER] != 0 ? v[MOE_TOKENS] : rows) * v[MOE_K] * call->size +
                       rows * INDEX_BYTES;
    work->written_bytes = rows * v[MOE_N] * call->size;
    work->flop_count = 2 * rows * v[MOE_N] * v[MOE_K];
    work->peak = ridge_peak_of_element(call->element);
}

enum { ROWS_TOKENS, ROWS_TOP_K, ROWS_COLUMNS, ROWS_SHARED };

#define ROWS_PARAMETERS                                                                            \
    [ROWS_TOKENS] = BOUND_SIZE("tokens", "tokens of the batch"),                                   \
    [ROWS_TOP_K] = BOUND_SIZE("top_k", "experts that a token takes"),                              \
    [ROWS_COLUMNS] = BOUND_SIZE("columns", "elements of a row")

static const ridge_parameter moe_permute_parameters[] = {ROWS_PARAMETERS};

static const ridge_parameter moe_combine_parameters[] = {
    ROWS_PARAMETERS,
    [ROWS_SHARED] = BOUND_SWITCH("shared", "1: the shared expert's row is added", 0),
};

static void moe_permute(struct bound_call *call)
{
    const double *const v = call->values;
    ridge_work *const work = bound_add(call, "moe_permute");

    work->read_bytes = v[ROWS_TOKENS] * v[ROWS_COLUMNS] * call->size +
                       v[ROWS_TOKENS] * v[ROWS_TOP_K] * INDEX_BYTES;
    work->written_bytes = v[ROWS_TOKENS] * v[ROWS_TOP_K] * v[ROWS_COLUMNS] * call->size;
}

static void moe_combine(struct bound_call *call)
{
    const double *const v = call->values;
    const double rows = v[ROWS_TOKENS] * v[ROWS_TOP_K];
    ridge_work *const work = bound_add(call, "moe_combine");

    work->read_bytes = (rows + v[ROWS_SHARED] * v[ROWS_TOKENS]) * v[ROWS_COLUMNS] * call->size +
                       rows * (INDEX_BYTES + FLOAT_BYTES);
    work->written_bytes = v[ROWS_TOKENS] * v[ROWS_COLUMNS] * call->size;
    work->flop_count = (2 * rows + v[ROWS_SHARED] * v[ROWS_TOKENS]) * v[ROWS_COLUMNS];
    work->peak = bound_scalar_peak(call->element);
}

/* -- short_conv, gated_rms_norm ---------------------------------------------------------------- */

enum { CONV_TAPS = COLUMNS + 1, CONV_SEQUENCES };

static const ridge_parameter short_conv_parameters[] = {
    [TOKENS] = BOUND_SIZE("tokens", "tokens of all sequences"),
    [COLUMNS] = BOUND_SIZE("columns", "channels"),
    [CONV_TAPS] = {"taps", "tokens that a result looks at", 4, 1, 1024},
    [CONV_SEQUENCES] =
        BOUND_OPTIONAL("sequences", "whose last taps - 1 tokens are kept; 0: none", 0),
};

static void short_conv(struct bound_call *call)
{
    const double *const v = call->values;
    const double count = v[TOKENS] * v[COLUMNS];
    const double state = v[CONV_SEQUENCES] * (v[CONV_TAPS] - 1) * v[COLUMNS] * call->size;
    ridge_work *const work = bound_add(call, "short_conv");

    work->weight_bytes = v[CONV_TAPS] * v[COLUMNS] * call->size;
    work->cache_bytes = 2 * state;
    work->read_bytes = count * call->size + work->weight_bytes + state;
    work->written_bytes = count * call->size + state;
    work->flop_count = (2 * v[CONV_TAPS] + 9) * count;
    work->peak = bound_scalar_peak(call->element);
}

static const ridge_parameter gated_rms_norm_parameters[] = {
    BOUND_SIZE("rows", "rows of x and of the gate"),
    BOUND_SIZE("columns", "elements of a row"),
};

static void gated_rms_norm(struct bound_call *call)
{
    const double *const v = call->values;
    ridge_work *const work = bound_add(call, "gated_rms_norm");

    work->weight_bytes = v[1] * call->size;
    work->read_bytes = 2 * v[0] * v[1] * call->size + work->weight_bytes;
    work->written_bytes = v[0] * v[1] * call->size;
    work->flop_count = 14 * v[0] * v[1];
    work->peak = bound_scalar_peak(call->element);
}

static const struct bound_operation operations[] = {
    {{"embedding", "rows of a table, by the ids of tokens",
      "read T N s + 8 T, written T N s: a row for each token, words that repeat included",
      BOUND_PARAMETERS(embedding_parameters)},
     NULL,
     embedding},
    {{"add", "the sum of two: a residual connection", "read 2 R N s, written R N s; R N FLOP",
      BOUND_PARAMETERS(add_parameters)},
     NULL,
     add},
    {{"kv_cache_write", "keys and values of new tokens into a paged cache",
      "read T N s + 8 T, written T N sc", BOUND_PARAMETERS(cache_parameters)},
     NULL,
     kv_cache_write},
    {{"mla_attention", "latent attention, weights absorbed, on the cache: decode",
      "read B (Sk (r + p) + Sq H (r + p)) s, written B Sq H r s; 2 B H (2 r + p) P FLOP for P "
      "visible pairs",
      BOUND_PARAMETERS(mla_parameters)},
     check_mla,
     mla_attention},
    {{"moe_topk", "the choice of experts from the router's logits",
      "read 4 T E, written 8 T k: an index and a weight for each choice",
      BOUND_PARAMETERS(moe_topk_parameters)},
     check_moe,
     moe_topk},
    {{"moe_gemm", "rows times the matrices of their experts: grouped GEMM",
      "read D N K s + T K s (T k K s without gather) + 4 T k, written T k N s; 2 T k N K FLOP; "
      "D = E (1 - (1 - k/E)^T) experts are touched when all are equally likely",
      BOUND_PARAMETERS(moe_gemm_parameters)},
     check_moe_gemm,
     moe_gemm},
    {{"moe_permute", "a copy of each token's row for each of its experts",
      "read T N s + 4 T k, written T k N s", BOUND_PARAMETERS(moe_permute_parameters)},
     NULL,
     moe_permute},
    {{"moe_combine", "the weighted sum of what a token's experts gave",
      "read T k N s (+ T N s with shared) + 8 T k, written T N s; 2 T k N FLOP",
      BOUND_PARAMETERS(moe_combine_parameters)},
     NULL,
     moe_combine},
    {{"short_conv", "causal convolution over a few tokens by channel, and SiLU",
      "read T N s + taps N s, written T N s (+ (taps - 1) N s a sequence, both); (2 taps + 9) T N "
      "FLOP",
      BOUND_PARAMETERS(short_conv_parameters)},
     NULL,
     short_conv},
    {{"gated_rms_norm", "rms_norm of each row, times the sigmoid or SiLU of a gate",
      "read 2 R N s + N s, written R N s; 14 R N FLOP",
      BOUND_PARAMETERS(gated_rms_norm_parameters)},
     NULL,
     gated_rms_norm},
};

const struct bound_family bound_transformer = {operations,
                                               sizeof(operations) / sizeof(operations[0])};
