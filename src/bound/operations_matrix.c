/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations made of matrix products: GEMM, GEMM with 4-bit weights, attention. */
#include <math.h>
#include <string.h>

#include "bound/bound_internal.h"

/* -- gemm -------------------------------------------------------------------------------------- */

enum { GEMM_M, GEMM_N, GEMM_K, GEMM_BATCH, GEMM_OUT_BITS, GEMM_C, GEMM_BIAS, GEMM_GATED };

static const ridge_parameter gemm_parameters[] = {
    [GEMM_M] = BOUND_SIZE("m", "rows of a and d"),
    [GEMM_N] = BOUND_SIZE("n", "columns of b"),
    [GEMM_K] = BOUND_SIZE("k", "columns of a, rows of b"),
    [GEMM_BATCH] = {"batch", "independent products", 1, 1, BOUND_LARGEST_SIZE},
    [GEMM_OUT_BITS] = BOUND_OPTIONAL("out_bits", "bits of an element of c and d; 0: of dtype", 0),
    [GEMM_C] = BOUND_SWITCH("c", "1: a matrix c is added (beta is not 0)", 0),
    [GEMM_BIAS] = BOUND_SWITCH("bias", "1: a bias for each column is added", 0),
    [GEMM_GATED] = BOUND_SWITCH("gated", "1: d is act(gate) up, half the columns of b", 0),
};

static ridge_status check_gemm(const double *v, ridge_element element, ridge_error *err)
{
    if (v[GEMM_GATED] != 0 && fmod(v[GEMM_N], 2) != 0)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "n=%.0f is odd: with gated=1 gate and up are halves of it", v[GEMM_N]);
    if (v[GEMM_GATED] != 0 && v[GEMM_C] != 0)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT, "gated=1 and c=1 exclude each other");
    return bound_check_product(element, err);
}

static void gemm(struct bound_call *call)
{
    const double *const v = call->values;
    const double out_size = bound_or(v[GEMM_OUT_BITS] / 8, call->size);
    const double columns = v[GEMM_GATED] != 0 ? v[GEMM_N] / 2 : v[GEMM_N];
    ridge_work *const work = bound_add(call, "gemm");

    work->weight_bytes =
        (v[GEMM_BATCH] * v[GEMM_K] * v[GEMM_N] + v[GEMM_BIAS] * v[GEMM_N]) * call->size;
    work->written_bytes = v[GEMM_BATCH] * v[GEMM_M] * columns * out_size;
    work->read_bytes = work->weight_bytes + v[GEMM_BATCH] * v[GEMM_M] * v[GEMM_K] * call->size +
                       v[GEMM_C] * work->written_bytes;
    work->flop_count = 2 * v[GEMM_BATCH] * v[GEMM_M] * v[GEMM_N] * v[GEMM_K];
    work->peak = ridge_peak_of_element(call->element);
}

/* -- int4_gemm --------------------------------------------------------------------------------- */

enum { INT4_M, INT4_N, INT4_K, INT4_GROUP, INT4_SCALE_BITS, INT4_ZERO_BITS, INT4_BIAS };

static const ridge_parameter int4_gemm_parameters[] = {
    [INT4_M] = BOUND_SIZE("m", "rows of x"),
    [INT4_N] = BOUND_SIZE("n", "columns of the weight"),
    [INT4_K] = BOUND_SIZE("k", "columns of x, rows of the weight"),
    [INT4_GROUP] = BOUND_OPTIONAL("group", "weights of a column that share a scale; 0: all", 128),
    [INT4_SCALE_BITS] = BOUND_OPTIONAL("scale_bits", "bits of a scale; 0: of dtype", 0),
    [INT4_ZERO_BITS] =
        BOUND_OPTIONAL("zero_bits", "bits of a zero point: 0 none, 4 integer, 16 or 32 float", 0),
    [INT4_BIAS] = BOUND_SWITCH("bias", "1: a bias for each column is added", 0),
};

static ridge_status check_int4_gemm(const double *v, ridge_element element, ridge_error *err)
{
    const double zero = v[INT4_ZERO_BITS];

    if (zero != 0 && zero != 4 && zero != 16 && zero != 32)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "zero_bits=%.0f, expected 0 (none), 4 (integer), 16 or 32 (float)", zero);
    return bound_check_product(element, err);
}

/* Weights are widened to x's type and multiplied there. */
static void int4_gemm(struct bound_call *call)
{
    const double *const v = call->values;
    const double scale_size = bound_or(v[INT4_SCALE_BITS] / 8, call->size);
    const double group_count = ceil(v[INT4_K] / bound_or(v[INT4_GROUP], v[INT4_K]));
    ridge_work *const work = bound_add(call, "int4_gemm");

    work->weight_bytes = v[INT4_N] * v[INT4_K] / 2 +
                         v[INT4_N] * group_count * (scale_size + v[INT4_ZERO_BITS] / 8) +
                         v[INT4_BIAS] * v[INT4_N] * call->size;
    work->read_bytes = work->weight_bytes + v[INT4_M] * v[INT4_K] * call->size;
    work->written_bytes = v[INT4_M] * v[INT4_N] * call->size;
    work->flop_count = 2 * v[INT4_M] * v[INT4_N] * v[INT4_K];
    work->peak = ridge_peak_of_element(call->element);
}

/* -- attention --------------------------------------------------------------------------------- */

enum {
    ATTENTION_QUERIES,
    ATTENTION_HEADS,
    ATTENTION_HEAD_DIM,
    ATTENTION_KEYS,
    ATTENTION_KV_HEADS,
    ATTENTION_V_DIM,
    ATTENTION_BATCH,
    ATTENTION_CAUSAL,
    ATTENTION_WINDOW,
    ATTENTION_LSE
};

static const ridge_parameter attention_parameters[] = {
    [ATTENTION_QUERIES] = BOUND_SIZE("queries", "new tokens of a sequence; 1: decode"),
    [ATTENTION_HEADS] = BOUND_SIZE("heads", "query heads"),
    [ATTENTION_HEAD_DIM] = BOUND_SIZE("head_dim", "elements of a query and of a key"),
    [ATTENTION_KEYS] = BOUND_OPTIONAL(
        "keys", "keys of a sequence, those of the queries included; 0: as many as queries", 0),
    [ATTENTION_KV_HEADS] =
        BOUND_OPTIONAL("kv_heads", "key and value heads; 0: as many as heads", 0),
    [ATTENTION_V_DIM] = BOUND_OPTIONAL("v_dim", "elements of a value; 0: head_dim", 0),
    [ATTENTION_BATCH] = {"batch", "sequences of the same length", 1, 1, BOUND_LARGEST_SIZE},
    [ATTENTION_CAUSAL] = BOUND_SWITCH("causal", "1: a query sees its own and earlier keys", 1),
    [ATTENTION_WINDOW] = BOUND_OPTIONAL(
        "window", "keys a query sees at most, its own and those just before it; 0: all", 0),
    [ATTENTION_LSE] = BOUND_SWITCH("lse", "1: log of the sum of each row is written, in float", 1),
};

static ridge_status check_attention(const double *v, ridge_element element, ridge_error *err)
{
    const double kv_heads = bound_or(v[ATTENTION_KV_HEADS], v[ATTENTION_HEADS]);

    if (fmod(v[ATTENTION_HEADS], kv_heads) != 0)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "heads=%.0f is no multiple of kv_heads=%.0f", v[ATTENTION_HEADS],
                          kv_heads);
    if (v[ATTENTION_WINDOW] != 0 && v[ATTENTION_CAUSAL] == 0)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "window=%.0f needs causal=1: it reaches back from the query",
                          v[ATTENTION_WINDOW]);
    return bound_check_product(element, err);
}

/* Pairs of a query and a key it sees, in one sequence. The last query stands at the last key; with
 * p keys before it a query sees p + 1, at most the window. */
static double visible_pairs(double queries, double keys, bool causal, double window)
{
    const double first = fmax(keys - queries, 0); /* position of the first query that sees a key */
    const double full = fmax(first, fmin(window - 1, keys)); /* from here the window is full */

    if (!causal)
        return queries * keys;
    /* first + 1, ..., full, then the window keys - full times */
    return (full - first) * (first + 1 + full) / 2 + (keys - full) * window;
}

static void attention(struct bound_call *call)
{
    const double *const v = call->values;
    const double queries = v[ATTENTION_QUERIES];
    const double keys = bound_or(v[ATTENTION_KEYS], queries);
    const double window = bound_or(v[ATTENTION_WINDOW], keys);
    const double kv_heads = bound_or(v[ATTENTION_KV_HEADS], v[ATTENTION_HEADS]);
    const double v_dim = bound_or(v[ATTENTION_V_DIM], v[ATTENTION_HEAD_DIM]);
    const double seen = fmin(keys, queries + window - 1); /* keys that any query sees */
    const double read_keys = v[ATTENTION_CAUSAL] != 0 ? seen : keys;
    const double heads = v[ATTENTION_BATCH] * v[ATTENTION_HEADS];
    const double widths = v[ATTENTION_HEAD_DIM] + v_dim;
    ridge_work *const work = bound_add(call, "attention");

    work->cache_bytes = v[ATTENTION_BATCH] * read_keys * kv_heads * widths * call->size;
    work->read_bytes = work->cache_bytes + heads * queries * v[ATTENTION_HEAD_DIM] * call->size;
    work->written_bytes = heads * queries * (v_dim * call->size + 4 * v[ATTENTION_LSE]);
    work->flop_count =
        2 * heads * widths * visible_pairs(queries, keys, v[ATTENTION_CAUSAL] != 0, window);
    work->peak = ridge_peak_of_element(call->element);
}

static const struct bound_operation operations[] = {
    {{"gemm", "d = a b, also batched, with bias, c or a gated activation",
      "read batch (m k + k n) s (+ n s with bias, + batch m n sd with c), written batch m n sd "
      "(half "
      "when gated); 2 batch m n k FLOP; s and sd: bytes of dtype and of out_bits",
      BOUND_PARAMETERS(gemm_parameters)},
     check_gemm,
     gemm},
    {{"int4_gemm", "x times a weight of 4 bits with a scale for each group",
      "read n k/2 + n ceil(k/group) (ss + sz) + m k s (+ n s with bias), written m n s; 2 m n k "
      "FLOP; "
      "s, ss, sz: bytes of dtype, a scale, a zero point",
      BOUND_PARAMETERS(int4_gemm_parameters)},
     check_int4_gemm,
     int4_gemm},
    {{"attention", "softmax(q k') v: prefill, decode, grouped heads, window",
      "read batch (queries heads head_dim + keys kv_heads (head_dim + v_dim)) s of the keys that "
      "any "
      "query sees, written batch queries heads (v_dim s + 4); 2 batch heads (head_dim + v_dim) P "
      "FLOP for P pairs of a query and a key it sees, queries (queries + 1)/2 when causal",
      BOUND_PARAMETERS(attention_parameters)},
     check_attention,
     attention},
};

const struct bound_family bound_matrix = {operations, sizeof(operations) / sizeof(operations[0])};
