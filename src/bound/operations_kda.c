/* SPDX-License-Identifier: Apache-2.0
 *
 * Kimi Delta Attention, chunkwise: the forward as kernels F1 and F2, the backward as A, B1, B2, B0,
 * B3, in the order they run. A kernel is the tensors it reads and writes, each once, and the matrix
 * products it makes; the sizes of the tensors are those of the layouts of ridge's own kernels: 16
 * tokens a chunk, 16-bit operands (dtype), float gates, sums and partial gradients. */
#include <math.h>
#include <string.h>

#include "bound/bound_internal.h"

enum { CHUNK_TOKENS = 16 };

/* X(name, rows: of a token or a chunk; columns; bytes of an element, 0: of dtype)
 * Inputs, outputs and their gradients have a row for each token; what kernels hand on has whole
 * chunks, padding included. */
#define TENSOR_LIST(X)                                                                             \
    X(Q, TOKEN, KEY, 0)                                                                            \
    X(K, TOKEN, KEY, 0)                                                                            \
    X(V, TOKEN, VALUE, 0)                                                                          \
    X(G, TOKEN, KEY, 4) /* log of the decay */                                                     \
    X(BETA, TOKEN, ONE, 4)                                                                         \
    X(O, TOKEN, VALUE, 0)                                                                          \
    X(DO, TOKEN, VALUE, 0)                                                                         \
    X(DQ, TOKEN, KEY, 0)                                                                           \
    X(DK, TOKEN, KEY, 0)                                                                           \
    X(DV, TOKEN, VALUE, 0)                                                                         \
    X(DG, TOKEN, KEY, 4)                                                                           \
    X(DBETA, TOKEN, ONE, 4)                                                                        \
    X(GC, CHUNK_ROW, KEY, 4) /* the gate, cumulated within a chunk */                              \
    X(INV, CHUNK_ROW, CHUNK, 0)                                                                    \
    X(MQK, CHUNK_ROW, CHUNK, 0)                                                                    \
    X(MS, CHUNK_ROW, CHUNK, 0)                                                                     \
    X(DAKK, CHUNK_ROW, CHUNK, 0)                                                                   \
    X(D, CHUNK_ROW, ONE, 4)   /* diagonal of the gradient of mqk */                                \
    X(U, CHUNK_ROW, VALUE, 0) /* corrected values */                                               \
    X(DVCORR, CHUNK_ROW, VALUE, 0)                                                                 \
    X(DQD, CHUNK_ROW, KEY, 4)                                                                      \
    X(DKD, CHUNK_ROW, KEY, 4)                                                                      \
    X(DKR, CHUNK_ROW, KEY, 4)                                                                      \
    X(DGT, CHUNK_ONCE, KEY, 4)                                                                     \
    X(SIN, CHUNK_ONCE, STATE, 0) /* state that enters a chunk */                                   \
    X(DS, CHUNK_ONCE, STATE, 0)  /* gradient of the state that leaves it */

enum tensor {
#define TENSOR_ENUM(name, rows, columns, size) TENSOR_##name,
    TENSOR_LIST(TENSOR_ENUM)
#undef TENSOR_ENUM
        TENSOR_COUNT
};

enum rows { TOKEN, CHUNK_ROW, CHUNK_ONCE };
enum columns { ONE, CHUNK, KEY, VALUE, STATE };

static const struct {
    enum rows rows;
    enum columns columns;
    double size;
} tensors[TENSOR_COUNT] = {
#define TENSOR_ROW(name, rows, columns, size) [TENSOR_##name] = {rows, columns, size},
    TENSOR_LIST(TENSOR_ROW)
#undef TENSOR_ROW
};

#define T(name) (1u << TENSOR_##name)

/* Products of a chunk: chunk x key x value, chunk x chunk x key, chunk x chunk x value; passes over
 * the state, a multiply-add for each element. */
static const struct kernel {
    const char *name;
    unsigned reads, writes;
    double key_value_products, key_products, value_products, state_passes;
    enum { NO_STATE, FORWARD_STATE, BACKWARD_STATE } state;
} forward_kernels[] =
    {
        {"F1", T(Q) | T(K) | T(G) | T(BETA), T(GC) | T(INV) | T(MQK), 0, 2, 0, 0, NO_STATE},
        {"F2", T(Q) | T(K) | T(GC) | T(V) | T(INV) | T(MQK) | T(BETA), T(O) | T(U) | T(SIN), 3, 0,
         2, 1, FORWARD_STATE},
},
  backward_kernels[] = {
      {"A", T(Q) | T(K) | T(GC) | T(INV) | T(MQK) | T(DO) | T(BETA), T(DS), 3, 0, 2, 1,
       BACKWARD_STATE},
      {"B1", T(K) | T(GC) | T(INV) | T(MQK) | T(DO) | T(BETA) | T(U) | T(DS),
       T(DVCORR) | T(DKR) | T(DV), 2, 0, 2, 0, NO_STATE},
      {"B2", T(K) | T(GC) | T(V) | T(BETA) | T(DO) | T(DVCORR) | T(SIN) | T(DS),
       T(DQD) | T(DKD) | T(DGT) | T(DBETA), 3, 0, 0, 1, NO_STATE},
      {"B0", T(K) | T(GC) | T(BETA) | T(DO) | T(U) | T(DVCORR) | T(DBETA),
       T(MS) | T(D) | T(DAKK) | T(DBETA), 0, 1, 2, 0, NO_STATE},
      {"B3", T(Q) | T(K) | T(GC) | T(MS) | T(D) | T(DAKK) | T(DQD) | T(DKD) | T(DKR) | T(DGT),
       T(DQ) | T(DK) | T(DG), 0, 4, 0, 0, NO_STATE},
};

enum { KDA_TOKENS, KDA_HEADS, KDA_SEQUENCES, KDA_HEAD_DIM, KDA_V_DIM, KDA_STATES, KDA_TRAINING };

#define SHARED_PARAMETERS                                                                          \
    [KDA_TOKENS] = BOUND_SIZE("tokens", "tokens of a sequence"),                                   \
    [KDA_HEADS] = BOUND_SIZE("heads", "heads"),                                                    \
    [KDA_SEQUENCES] = {"sequences", "sequences of that length", 1, 1, BOUND_LARGEST_SIZE},         \
    [KDA_HEAD_DIM] = {"head_dim", "elements of a query and of a key", 128, 1, BOUND_LARGEST_SIZE}, \
    [KDA_V_DIM] = BOUND_OPTIONAL("v_dim", "elements of a value; 0: head_dim", 0),                  \
    [KDA_STATES] = BOUND_SWITCH("states", "1: first and last state are moved, in float", 0)

static const ridge_parameter forward_parameters[] = {
    SHARED_PARAMETERS,
    [KDA_TRAINING] = BOUND_SWITCH("training", "0: what the backward needs is not written", 1),
};

static const ridge_parameter backward_parameters[] = {SHARED_PARAMETERS};

struct extents {
    double tokens, chunks, heads, sequences; /* tokens and chunks of all sequences */
    double key, value;
    double size; /* bytes of an element of dtype */
};

static double bytes_of(unsigned list, const struct extents *e)
{
    const double rows[] = {
        [TOKEN] = e->tokens, [CHUNK_ROW] = e->chunks * CHUNK_TOKENS, [CHUNK_ONCE] = e->chunks};
    const double columns[] = {[ONE] = 1,
                              [CHUNK] = CHUNK_TOKENS,
                              [KEY] = e->key,
                              [VALUE] = e->value,
                              [STATE] = e->key * e->value};
    double bytes = 0;
    size_t i;

    for (i = 0; i < TENSOR_COUNT; i++)
        if ((list & (1u << i)) != 0)
            bytes += rows[tensors[i].rows] * columns[tensors[i].columns] *
                     bound_or(tensors[i].size, e->size);
    return bytes * e->heads;
}

static void add_kernel(struct bound_call *call, const struct kernel *kernel,
                       const struct extents *e, unsigned not_written)
{
    const double state = e->key * e->value;
    const double states = call->values[KDA_STATES] != 0 && kernel->state != NO_STATE
                              ? 4 * e->sequences * e->heads * state
                              : 0;
    const double chunk = CHUNK_TOKENS;
    ridge_work *const work = bound_add(call, kernel->name);

    work->read_bytes = bytes_of(kernel->reads, e) + states;
    work->written_bytes = bytes_of(kernel->writes & ~not_written, e) + states;
    work->cache_bytes = 2 * states;
    work->flop_count =
        2 * e->chunks * e->heads *
        (kernel->key_value_products * chunk * state +
         kernel->key_products * chunk * chunk * e->key +
         kernel->value_products * chunk * chunk * e->value + kernel->state_passes * state);
    work->peak = ridge_peak_of_element(call->element);
}

static struct extents extents_of(const struct bound_call *call)
{
    const double *const v = call->values;
    const struct extents extents = {
        .tokens = v[KDA_TOKENS] * v[KDA_SEQUENCES],
        .chunks = ceil(v[KDA_TOKENS] / CHUNK_TOKENS) * v[KDA_SEQUENCES],
        .heads = v[KDA_HEADS],
        .sequences = v[KDA_SEQUENCES],
        .key = v[KDA_HEAD_DIM],
        .value = bound_or(v[KDA_V_DIM], v[KDA_HEAD_DIM]),
        .size = call->size,
    };

    return extents;
}

static ridge_status check_kda(const double *v, ridge_element element, ridge_error *err)
{
    (void)v;
    return bound_check_product(element, err);
}

static void kda_forward(struct bound_call *call)
{
    const struct extents extents = extents_of(call);
    const unsigned not_written = call->values[KDA_TRAINING] != 0 ? 0 : T(U) | T(SIN);
    size_t i;

    for (i = 0; i < sizeof(forward_kernels) / sizeof(forward_kernels[0]); i++)
        add_kernel(call, &forward_kernels[i], &extents, not_written);
}

static void kda_backward(struct bound_call *call)
{
    const struct extents extents = extents_of(call);
    size_t i;

    for (i = 0; i < sizeof(backward_kernels) / sizeof(backward_kernels[0]); i++)
        add_kernel(call, &backward_kernels[i], &extents, 0);
}

/* -- one token a sequence ---------------------------------------------------------------------- */

enum { STEP_SEQUENCES, STEP_HEADS, STEP_HEAD_DIM, STEP_V_DIM };

static const ridge_parameter decode_parameters[] = {
    [STEP_SEQUENCES] = BOUND_SIZE("sequences", "sequences, each with one new token"),
    [STEP_HEADS] = BOUND_SIZE("heads", "heads"),
    [STEP_HEAD_DIM] = {"head_dim", "elements of a query and of a key", 128, 1, BOUND_LARGEST_SIZE},
    [STEP_V_DIM] = BOUND_OPTIONAL("v_dim", "elements of a value; 0: head_dim", 0),
};

/* Decay, prediction, write, read: 1 + 2 + 2 + 2 operations for each element of the state, which is
 * float and goes in and out once. */
static void kda_decode(struct bound_call *call)
{
    const double *const v = call->values;
    const double heads = v[STEP_SEQUENCES] * v[STEP_HEADS];
    const double key = v[STEP_HEAD_DIM];
    const double value = bound_or(v[STEP_V_DIM], key);
    ridge_work *const work = bound_add(call, "kda_decode");

    work->cache_bytes = 8 * heads * key * value;
    work->read_bytes =
        work->cache_bytes / 2 + heads * ((2 * key + value) * call->size + 4 * key + 4);
    work->written_bytes = work->cache_bytes / 2 + heads * value * call->size;
    work->flop_count = 7 * heads * key * value;
    work->peak = bound_scalar_peak(call->element);
}

static const struct bound_operation operations[] = {
    {{"kda_forward", "Kimi Delta Attention, chunkwise forward: kernels F1 and F2",
      "a chunk of 16 tokens and a head of 128: F1 25,664 bytes and 131,072 FLOP, F2 62,528 and "
      "1,736,704",
      BOUND_PARAMETERS(forward_parameters)},
     check_kda,
     kda_forward},
    {{"kda_backward", "Kimi Delta Attention, backward: kernels A, B1, B2, B0, B3",
      "a chunk of 16 tokens and a head of 128: A 54,336 bytes and 1,736,704 FLOP, B1 70,720 and "
      "1,179,648, B2 107,136 and 1,605,632, B0 25,856 and 196,608, B3 58,944 and 262,144",
      BOUND_PARAMETERS(backward_parameters)},
     check_kda,
     kda_backward},
    {{"kda_decode", "Kimi Delta Attention, one step of the state a token",
      "a head and sequence: read 4 K V + (2 K + V) s + 4 K + 4, written 4 K V + V s; 7 K V FLOP; "
      "K, V: "
      "head_dim and v_dim, s: bytes of dtype",
      BOUND_PARAMETERS(decode_parameters)},
     NULL,
     kda_decode},
};

const struct bound_family bound_kda = {operations, sizeof(operations) / sizeof(operations[0])};
