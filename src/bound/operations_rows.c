/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations that pass over their data once and compute in float: norms, rotary embedding, gated
 * activations, softmax, copies. Bytes and operations as docs/manual/bound.md lists them. */
#include <math.h>
#include <string.h>

#include "bound/bound_internal.h"

/* -- rms_norm, add_rms_norm -------------------------------------------------------------------- */

enum { ROWS, COLUMNS, WEIGHT, RSTD, RESIDUAL_BITS = RSTD };

static const ridge_parameter rms_norm_parameters[] = {
    [ROWS] = BOUND_SIZE("rows", "rows of x"),
    [COLUMNS] = BOUND_SIZE("columns", "elements of a row"),
    [WEIGHT] = BOUND_SWITCH("weight", "1: a weight for each column is read", 1),
    [RSTD] = BOUND_SWITCH("rstd", "1: 1/rms of each row is written, in float", 0),
};

static void rms_norm(struct bound_call *call)
{
    const double *const v = call->values;
    ridge_work *const work = bound_add(call, "rms_norm");

    work->weight_bytes = v[WEIGHT] * v[COLUMNS] * call->size;
    work->read_bytes = v[ROWS] * v[COLUMNS] * call->size + work->weight_bytes;
    work->written_bytes = v[ROWS] * v[COLUMNS] * call->size + 4 * v[RSTD] * v[ROWS];
    work->flop_count = 4 * v[ROWS] * v[COLUMNS];
    work->peak = bound_scalar_peak(call->element);
}

static const ridge_parameter add_rms_norm_parameters[] = {
    [ROWS] = BOUND_SIZE("rows", "rows of x"),
    [COLUMNS] = BOUND_SIZE("columns", "elements of a row"),
    [WEIGHT] = BOUND_SWITCH("weight", "1: a weight for each column is read", 1),
    [RESIDUAL_BITS] =
        BOUND_OPTIONAL("residual_bits", "bits of an element of the residual; 0: as x", 0),
};

static void add_rms_norm(struct bound_call *call)
{
    const double *const v = call->values;
    const double residual_size = bound_or(v[RESIDUAL_BITS] / 8, call->size);
    ridge_work *const work = bound_add(call, "add_rms_norm");

    work->weight_bytes = v[WEIGHT] * v[COLUMNS] * call->size;
    work->written_bytes = v[ROWS] * v[COLUMNS] * (call->size + residual_size);
    work->read_bytes = work->written_bytes + work->weight_bytes;
    work->flop_count = 5 * v[ROWS] * v[COLUMNS];
    work->peak = bound_scalar_peak(call->element);
}

/* -- rotary ------------------------------------------------------------------------------------ */

enum {
    ROTARY_TOKENS,
    ROTARY_HEADS,
    ROTARY_HEAD_DIM,
    ROTARY_KV_HEADS,
    ROTARY_DIM,
    ROTARY_IN_PLACE,
    ROTARY_POSITIONS,
    ROTARY_CACHE_BITS
};

static const ridge_parameter rotary_parameters[] = {
    [ROTARY_TOKENS] = BOUND_SIZE("tokens", "tokens of the batch"),
    [ROTARY_HEADS] = BOUND_SIZE("heads", "query heads"),
    [ROTARY_HEAD_DIM] = BOUND_SIZE("head_dim", "elements of a head"),
    [ROTARY_KV_HEADS] = BOUND_OPTIONAL("kv_heads", "key heads; 0: the query alone is rotated", 0),
    [ROTARY_DIM] =
        BOUND_OPTIONAL("rotary_dim", "elements of a head that are rotated, even; 0: all", 0),
    [ROTARY_IN_PLACE] = BOUND_SWITCH("in_place", "0: the whole head is copied to another place", 1),
    [ROTARY_POSITIONS] = BOUND_OPTIONAL(
        "positions", "distinct positions: their cos/sin rows and the ids are read; 0: not counted",
        0),
    [ROTARY_CACHE_BITS] =
        BOUND_OPTIONAL("cache_bits", "bits of an element of the cos/sin cache; 0: of dtype", 0),
};

static ridge_status check_rotary(const double *v, ridge_element element, ridge_error *err)
{
    (void)element;
    if (fmod(v[ROTARY_DIM], 2) != 0)
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "rotary_dim=%.0f is odd: elements are rotated in pairs", v[ROTARY_DIM]);
    if (v[ROTARY_DIM] > v[ROTARY_HEAD_DIM])
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "rotary_dim=%.0f is more than head_dim=%.0f", v[ROTARY_DIM],
                          v[ROTARY_HEAD_DIM]);
    return RIDGE_OK;
}

static void rotary(struct bound_call *call)
{
    const double *const v = call->values;
    const double vectors = v[ROTARY_TOKENS] * (v[ROTARY_HEADS] + v[ROTARY_KV_HEADS]);
    const double rotated = bound_or(v[ROTARY_DIM], v[ROTARY_HEAD_DIM]);
    const double moved = v[ROTARY_IN_PLACE] != 0 ? rotated : v[ROTARY_HEAD_DIM];
    const double cache_size = bound_or(v[ROTARY_CACHE_BITS] / 8, call->size);
    ridge_work *const work = bound_add(call, "rotary");

    work->written_bytes = vectors * moved * call->size;
    work->read_bytes = work->written_bytes;
    if (v[ROTARY_POSITIONS] > 0)
        work->read_bytes += v[ROTARY_POSITIONS] * rotated * cache_size + 8 * v[ROTARY_TOKENS];
    work->flop_count = 3 * vectors * rotated;
    work->peak = bound_scalar_peak(call->element);
}

/* -- silu_and_mul, softmax --------------------------------------------------------------------- */

enum { SILU_GELU = COLUMNS + 1 };

static const ridge_parameter silu_and_mul_parameters[] = {
    [ROWS] = BOUND_SIZE("rows", "rows of gate, up and the result"),
    [COLUMNS] = BOUND_SIZE("columns", "elements of a row of the result"),
    [SILU_GELU] = BOUND_SWITCH("gelu", "1: GELU instead of SiLU", 0),
};

static void silu_and_mul(struct bound_call *call)
{
    const double *const v = call->values;
    ridge_work *const work = bound_add(call, "silu_and_mul");

    work->written_bytes = v[ROWS] * v[COLUMNS] * call->size;
    work->read_bytes = 2 * work->written_bytes;
    work->flop_count = (v[SILU_GELU] != 0 ? 20 : 10) * v[ROWS] * v[COLUMNS];
    work->peak = bound_scalar_peak(call->element);
}

static const ridge_parameter matrix_parameters[] = {
    [ROWS] = BOUND_SIZE("rows", "rows of x"),
    [COLUMNS] = BOUND_SIZE("columns", "elements of a row"),
};

/* Maximum, difference, exponential, sum, quotient. */
static void softmax(struct bound_call *call)
{
    const double *const v = call->values;
    ridge_work *const work = bound_add(call, "softmax");

    work->read_bytes = work->written_bytes = v[ROWS] * v[COLUMNS] * call->size;
    work->flop_count = 5 * v[ROWS] * v[COLUMNS];
    work->peak = bound_scalar_peak(call->element);
}

/* -- copy, transpose, reduce ------------------------------------------------------------------- */

enum { ELEMENTS, RESULTS };

static void transpose(struct bound_call *call)
{
    ridge_work *const work = bound_add(call, "transpose");

    work->read_bytes = work->written_bytes =
        call->values[ROWS] * call->values[COLUMNS] * call->size;
}

static const ridge_parameter copy_parameters[] = {
    [ELEMENTS] = BOUND_SIZE("elements", "elements that are copied"),
};

static void copy(struct bound_call *call)
{
    ridge_work *const work = bound_add(call, "copy");

    work->read_bytes = work->written_bytes = call->values[ELEMENTS] * call->size;
}

static const ridge_parameter reduce_parameters[] = {
    [ELEMENTS] = BOUND_SIZE("elements", "elements that are read"),
    [RESULTS] = {"results", "elements that are written: the sums", 1, 1, BOUND_LARGEST_SIZE},
};

static ridge_status check_reduce(const double *v, ridge_element element, ridge_error *err)
{
    (void)element;
    if (v[RESULTS] > v[ELEMENTS])
        return ridge_fail(err, RIDGE_ERR_INVALID_ARGUMENT,
                          "results=%.0f is more than elements=%.0f", v[RESULTS], v[ELEMENTS]);
    return RIDGE_OK;
}

static void reduce(struct bound_call *call)
{
    const double *const v = call->values;
    ridge_work *const work = bound_add(call, "reduce");

    work->read_bytes = v[ELEMENTS] * call->size;
    work->written_bytes = v[RESULTS] * call->size;
    work->flop_count = v[ELEMENTS];
    work->peak = bound_scalar_peak(call->element);
}

static const struct bound_operation operations[] = {
    {{"rms_norm", "rows divided by their root mean square, times a weight",
      "read rows columns s + columns s, written rows columns s (+ 4 rows with rstd); 4 rows "
      "columns "
      "FLOP; s: bytes of dtype",
      BOUND_PARAMETERS(rms_norm_parameters)},
     NULL,
     rms_norm},
    {{"add_rms_norm", "x + residual, and its rms_norm, in one pass",
      "read rows columns (s + sr) + columns s, written rows columns (s + sr); 5 rows columns FLOP; "
      "s, "
      "sr: bytes of dtype and of the residual",
      BOUND_PARAMETERS(add_rms_norm_parameters)},
     NULL,
     add_rms_norm},
    {{"rotary", "rotary embedding of query and key heads",
      "read and written tokens (heads + kv_heads) rotary_dim s each (head_dim out of place), read "
      "also positions rotary_dim sc + 8 tokens; 3 tokens (heads + kv_heads) rotary_dim FLOP; s, "
      "sc: "
      "bytes of dtype and of the cache",
      BOUND_PARAMETERS(rotary_parameters)},
     check_rotary,
     rotary},
    {{"silu_and_mul", "silu(gate) times up: the gated activation",
      "read 2 rows columns s, written rows columns s; 10 rows columns FLOP, 20 with GELU; s: bytes "
      "of "
      "dtype",
      BOUND_PARAMETERS(silu_and_mul_parameters)},
     NULL,
     silu_and_mul},
    {{"softmax", "softmax of each row",
      "read and written rows columns s each; 5 rows columns FLOP; s: bytes of dtype",
      BOUND_PARAMETERS(matrix_parameters)},
     NULL,
     softmax},
    {{"transpose", "a matrix with rows and columns exchanged",
      "read and written rows columns s each; s: bytes of dtype",
      BOUND_PARAMETERS(matrix_parameters)},
     NULL,
     transpose},
    {{"copy", "elements copied from one place to another",
      "read and written elements s each; s: bytes of dtype", BOUND_PARAMETERS(copy_parameters)},
     NULL,
     copy},
    {{"reduce", "elements summed to one or several results",
      "read elements s, written results s; elements FLOP; s: bytes of dtype",
      BOUND_PARAMETERS(reduce_parameters)},
     check_reduce,
     reduce},
};

const struct bound_family bound_rows = {operations, sizeof(operations) / sizeof(operations[0])};
